"""LaTeX of ours -> Typst: every node and every theorem compiles, and what is not known is an error."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
import typst as engine

from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.rendering import latex as write
from lemmata.symbolic.rendering import tree
from lemmata.symbolic.rendering.derivation import derivation_tex
from lemmata.symbolic.rendering.latex import SIGNS
from lemmata.symbolic.rendering.latex import write as write_node
from lemmata.symbolic.rendering.names import GREEK, Name, written
from lemmata.symbolic.rendering.prose import escaped
from lemmata.symbolic.rendering.tree import (
    ArgMax,
    Big,
    Bracket,
    Call,
    Exponential,
    Factors,
    Fenced,
    Fraction,
    KroneckerDelta,
    Logic,
    Matrix,
    Minus,
    Node,
    Numeral,
    Pairing,
    Partial,
    Power,
    Relation,
    Root,
    Subscripted,
    Terms,
    Transposed,
)
from lemmata.symbolic.rendering.typst import SYMBOLS, typst
from lemmata.symbolic.rendering.typst_document import PREAMBLE, typst_document
from lemmata.symbolic.theorems import theorems

from .examples import DERIVATIONS, expressions
from .systems import SYSTEMS

A, B, TWO = written("a"), written("b"), Numeral("2")
NODES: list[Node] = [
    A, TWO, Subscripted(A, (written("i"), TWO)), Minus(A), Terms(((False, A), (True, B))), Factors((A, B)),
    Factors((A, B), "times"), Factors((A, B), "over"), Fraction(A, B), Power(A, TWO), Power(Fraction(A, B), Minus(TWO)),
    Root(A), Exponential(Minus(A)), Exponential(A, letter=False), Call(Name(r"\log", "log"), (A,), bare=True),
    Call(Name(r"\sin", "sin"), (A,), raised="2"), Call(Name(r"\operatorname{gelu}", "gelu"), (A, B)),
    Big("sum", (written("i"),), (B,), A), Big("prod", (written("i"),), (B,), A), Big("max", (written("i"),), (B,), A),
    KroneckerDelta(A, B), Bracket(Relation(A, "<=", B)), *(Relation(A, sign, B) for sign in SIGNS),
    Logic("and", (A, B)), Logic("or", (A, B)), Logic("not", (A,)), Partial(A, (B,)),
    Partial(Terms(((False, A), (False, B))), (A, B)),
    ArgMax(written("i"), A), Fenced("abs", A), Fenced("floor", A), Fenced("ceiling", A), Pairing(A, B), Transposed(A),
    Matrix(((A, B), (Minus(A), Terms(((False, A), (True, B)))))), Subscripted(written("x_1"), (A,)),
]  # fmt: skip


def compiled(*formulas: str) -> None:
    """All formulas in one document, each as a display and in a line."""
    shown = "\n".join(f"$ {f} $\n${f}$\n" for f in formulas)
    engine.compile((PREAMBLE % '"test"' + shown).encode(), format="pdf", ignore_system_fonts=True)


def test_what_is_written() -> None:
    assert typst(r"\left[j \le i\right] e^{-z_{i}'}") == r"lr(\[j≤i\])e^(-z_(i)')"
    assert typst(r"\mathrm{d}\hat{x}_{bij}") == 'upright("d")hat(x)_(b i j)'
    assert typst(r"a/b, (c]; 10000^{2}") == r"a\/b\,\(c\]\;10000^(2)"
    assert typst(r"590{,}592") == r'590 class("normal",\,)592'
    assert typst(r"\begin{pmatrix} 1 & -a \\ 0 & b \end{pmatrix}") == 'mat(delim: "(", 1,-a;0,b)'
    assert typst(r"x \quad \text{for each } b") == 'x quad"for each"space b'
    assert typst(r"p := \sum_{j} q") == "p:=∑_(j)q"


def test_every_node_of_the_tree() -> None:
    declared = {k for k in vars(tree).values() if isinstance(k, type) and k.__module__ == tree.__name__}
    assert declared <= {type(n) for n in NODES}
    compiled(*(typst(write_node(n, ranges)) for n in NODES for ranges in (False, True)))


def test_every_operation() -> None:
    compiled(*(typst(write(e)) for e in expressions().values()))


def test_every_name() -> None:
    names = [*GREEK, "y_hat", "x_bar", "z_tilde", "q_dot", "v_vec", "z_prime", "z_star", "d_model", "beta_1", "dgamma",
             "loss", "W_Q", "odd name!", "x_1_2", "eps"]  # fmt: skip
    compiled(*(typst(written(n).latex) for n in names))


def test_prose() -> None:
    text = ("100% of p_i > 0 & #1, w_{t_n} {x} ~ ^ x̂ ȳ ‖x‖ Łukasz, Poincaré; \"quoted\" 'so' – — … 10000^(−2i/d) "
            "[[a, b], [c, d]] $5 * _x_ `code` = - + / @ref <label> // no comment [[a], \\ ∂ ∑ Φ ω₁ C:\\n")
    source = typst_document(rf"\begin{{document}}{escaped(text)}\end{{document}}")
    engine.compile(source.encode(), format="pdf", ignore_system_fonts=True)


@pytest.mark.parametrize("detail", ["brief", "normal", "full"])
def test_derivations_and_systems(detail: str) -> None:
    for make in (*DERIVATIONS.values(), *SYSTEMS.values()):
        source = typst_document(derivation_tex(make(), detail))  # type: ignore[arg-type]
        engine.compile(source.encode(), format="pdf", ignore_system_fonts=True)


SPREAD = [[t for t in theorems().values() if t.topic == topic][-1].name
          for topic in dict.fromkeys(t.topic for t in theorems().values())]  # fmt: skip


@pytest.mark.parametrize("names", [SPREAD, pytest.param(list(theorems()), marks=pytest.mark.slow)],
                         ids=["one a topic", "all"])  # fmt: skip
def test_theorems_compile(names: list[str]) -> None:
    """In one document, and none of them with a letter that LaTeX has no sign for."""
    tex = {n: derivation_tex(theorems()[n].derivation()) for n in names}
    assert [n for n, t in tex.items() if "[U+" in t] == []
    bodies = []
    for text in tex.values():
        source = typst_document(text)
        bodies.append(source[source.index("#heading") :])
    data = engine.compile((PREAMBLE % '"all"' + "\n#pagebreak()\n".join(bodies)).encode(), format="pdf",
                          ignore_system_fonts=True)
    assert bytes(data).startswith(b"%PDF-")


@pytest.mark.parametrize(("broken", "said"), [
    (r"\softmx{z}", r"\softmx is not known"),
    (r"\frac{1}", "expected more, found the end"),
    (r"\left(a \\ b\right)", r"expected \right"),
    (r"\left(a", r"expected \right, found the end"),
    (r"a} b", "} stands where no formula can end"),
    (r"\begin{array}{ll} a \end{array}", "array is not known"),
    (r"\text{for $x$}", "more than words"),
    (r"a \right)", r"\right stands where"),
    ("p % q", "'%' is not LaTeX's"),
    ("Σ_i − x", "'−' is not LaTeX's"),
])
def test_what_is_not_known_is_an_error(broken: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match="no Typst for this LaTeX") as caught:
        typst(broken)
    assert said in str(caught.value)


@pytest.mark.parametrize("broken", [
    r"\begin{document}$x$", r"\begin{document}\chapter{x}\end{document}", r"\begin{document}a & b\end{document}",
    r"\begin{document}\begin{table}\end{table}\end{document}", r"\begin{document}$x\end{document}",
    r"\begin{document}\begin{align*} a \end{document}", r"\begin{document}x} y\end{document}",
])
def test_a_document_that_is_not_ours(broken: str) -> None:
    with pytest.raises(UnsupportedError, match="no Typst for this LaTeX"):
        typst_document(broken)


def test_a_writer_that_breaks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("lemmata.symbolic.rendering.latex")  # a function of that name hides it
    monkeypatch.setitem(module._BIG, "sum", r"\summ")
    with pytest.raises(UnsupportedError, match=re.escape(r"\summ is not known")):
        typst_document(derivation_tex(DERIVATIONS["softmax"]()))


def test_a_symbol_that_typst_does_not_know_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYMBOLS, "partial", "nosuchsymbol")
    with pytest.raises(engine.TypstError, match="unknown variable"):
        compiled(typst(r"\partial x"))
