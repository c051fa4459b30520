"""Everything that is emitted typesets: in KaTeX's strict mode, and in pdflatex with amsmath alone, without overfull
lines.
"""

import re
from pathlib import Path

import pytest

from lemmata.questions import derive_formula
from lemmata.symbolic.rendering import latex, layout, source_latex, text
from lemmata.symbolic.rendering.derivation import derivation_latex, derivation_markdown, derivation_tex
from lemmata.symbolic.rendering.prose import escaped
from lemmata.symbolic.rendering.vector_form import vector_form, vector_latex

from . import katex
from .examples import DERIVATIONS, expressions
from .pdflatex import compile_tex

EXPRESSIONS = expressions()
DETAILS = ("brief", "normal", "full")


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_typesets(name: str) -> None:
    katex.check(latex(EXPRESSIONS[name]))
    katex.check(latex(EXPRESSIONS[name], ranges=True))
    assert "\n" not in text(EXPRESSIONS[name])


@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_derivation_typesets(name: str, detail: str) -> None:
    derivation = DERIVATIONS[name]()
    katex.check(derivation_latex(derivation, detail))
    page = derivation_markdown(derivation, detail)
    blocks = page.split("$$")[1::2]
    assert blocks
    for block in blocks:
        katex.check(block.strip())
    inline = [m for part in page.split("$$")[::2] for m in re.findall(r"\$([^$]+)\$", part)]
    assert inline
    for formula in inline:
        katex.check(formula, display=False)


def test_a_line_that_breaks_inside_of_parentheses_typesets() -> None:
    """The long factor stands under a sum which stands in parentheses: they are open at the end of the line."""
    derivation = derive_formula("vjp", "(x - mean(x, axis=-1, keepdims=True))/sqrt(var(x, axis=-1, keepdims=True) + e)",
                                "x", shapes="x=N,C e=", domains="e=positive").derivation
    for detail in DETAILS:
        katex.check(derivation_latex(derivation, detail))
    assert r"\Bigl(\sum_{j}" in derivation_latex(derivation)


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_vector_form_typesets(name: str) -> None:
    derivation = DERIVATIONS[name]()
    form = vector_form(derivation.right, derivation.indices)
    assert form is not None
    katex.check(vector_latex(form))


def test_source_typesets() -> None:
    katex.check(
        source_latex("def f(z, y, n):\n    eps = 1e-8\n    return -sum(y[i]*math.log(z[i]+eps) for i in range(n))")
    )
    katex.check(source_latex("def f(x):\n    if x > 0:\n        return x\n    else:\n        return 0.5*x"))


@pytest.mark.parametrize("detail", DETAILS)
def test_a_standalone_file_compiles_and_nothing_sticks_out(detail: str, tmp_path: Path) -> None:
    compiled = compile_tex(derivation_tex([make() for make in DERIVATIONS.values()], detail), tmp_path)
    assert compiled.overfull == []


def test_prose_of_any_kind_compiles(tmp_path: Path) -> None:
    hard = r"100% of p_i > 0 & x_{ik} < 1 | $5 #1 {a}^b ~ back\slash log_mul_of_pos ŷ σ − ⊙ ᵀ ∇ é Ł 文 δ_ik, ∂p_i/∂z_k"
    shown = escaped(hard)
    assert shown.isascii()
    derivation = DERIVATIONS["softmax"]()
    compile_tex(derivation_tex(derivation).replace("Quotient rule.", shown), tmp_path)


def test_all_expressions_compile(tmp_path: Path) -> None:
    body = "\n".join(rf"\[ {latex(e)} \]" for e in EXPRESSIONS.values())
    compile_tex(
        f"\\documentclass{{article}}\\usepackage{{amsmath}}\\begin{{document}}{body}\\end{{document}}", tmp_path
    )


def test_the_layout_is_the_same_each_time() -> None:
    again = expressions()
    assert [layout(e) for e in EXPRESSIONS.values()] == [layout(e) for e in again.values()]
