"""What objects show in a notebook and in IPython's terminal: typeset, escaped, and never greener than the verdict."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
import sympy as sp

import lemmata as lm
from lemmata.code_proof import CodeProof
from lemmata.result import Result
from lemmata.symbolic.derivations.model import Counterexample, Evidence, Verdict
from lemmata.typesetting import typeset

EVIL = r"""<img src=x onerror=alert(1)><script>alert(1)</script> "'&" $\href{javascript:alert(1)}{x}$ `<b>` **<i>**"""
GREEN = "#2e9e4f"
VOID = {"br", "img"}
OURS = {"div", "p", "strong", "code", "span", "table", "tr", "th", "td", "ul", "li", "details", "summary", "br"}


class Tags(HTMLParser):
    """Every tag with its attributes; that they nest is asserted while reading."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class Printer:
    """IPython's printer, as far as the protocol asks for it."""

    def __init__(self) -> None:
        self.said = ""

    def text(self, text: str) -> None:
        self.said += text


def gradient(title: str = "") -> Result:
    z, y = lm.array("z", "K"), lm.array("y", "K", domain="simplex")
    d = lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z)
    return Result(replace(d.derivation, title=title, name=title, notes=(title,) if title else (), source=title))


def formulas(html: str) -> list[str]:
    """The LaTeX that the notebook typesets: between dollar signs, where nothing says that it is text."""
    shown = re.sub(r'<span class="[^"]*mathjax_ignore">.*?</span>', "", html, flags=re.S)
    shown = re.sub(r"<code>.*?</code>", "", shown, flags=re.S)
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", shown, flags=re.S)
    return [unescape(a or b) for a, b in found]


# ---------------------------------------------------------------------- arrays and expressions
def test_arrays_show_their_space_their_definition_or_their_element() -> None:
    z, w = lm.array("z", "K"), lm.array("W", "M,N", domain="positive")
    assert z._repr_latex_() == r"$\displaystyle z \in \mathbf{R}^{K}$"
    assert w._repr_latex_() == r"$\displaystyle W \in \mathbf{R}^{M \times N} \quad \text{(positive)}$"
    assert (2 * w)._repr_latex_() == r"$\displaystyle \left(2 W_{in}\right)_{in} \in \mathbf{R}^{M \times N}$"
    assert lm.softmax(z)._repr_latex_().startswith(r"$\displaystyle p_{i} := \frac{e^{z_{i}}}{\sum_{j} e^{z_{j}}}, ")
    assert lm.sum(z)._repr_latex_() == r"$\displaystyle \sum_{j} z_{j}$"
    assert lm.array("t", "N", domain="index<K")._repr_latex_() == r"$\displaystyle t \in \{0, \ldots, K-1\}^{N}$"
    assert lm.latex(2 * z) == "2 z_{i}"
    for a in (z, w, 2 * w, lm.softmax(z), lm.sum(z), lm.define("S", w @ lm.array("x", "N"))):
        assert typeset(a._repr_latex_().strip("$"))


class Formatter(dict):
    def for_type(self, kind: type, function: Any) -> None:
        self[kind] = function


class Shell:
    """The part of IPython's shell that an extension is given."""

    def __init__(self) -> None:
        self.display_formatter = type("F", (), {"formatters": {"text/latex": Formatter(), "text/plain": Formatter()}})()


def test_the_extension_chooses_letters_for_the_whole_expression() -> None:
    shell = Shell()
    lm.load_ipython_extension(shell)
    latex = shell.display_formatter.formatters["text/latex"][sp.Basic]
    plain = shell.display_formatter.formatters["text/plain"][sp.Basic]
    j, z, y = lm.index("j", "K"), lm.array("z", "K"), lm.array("y", "K")
    product = (z[j] * lm.sum(y)).body
    assert isinstance(product, sp.Mul)
    assert r"\sum_{j}" in product._repr_latex_()  # SymPy's own: the letter of the free index
    assert latex(product) == r"$\displaystyle z_{j} \sum_{k} y_{k}$"
    printer = Printer()
    plain(product, printer, False)
    assert printer.said == "z_j Σ_k y_k"
    x = sp.Symbol("x")
    assert latex(x**2 + 1) == (x**2 + 1)._repr_latex_()
    assert latex(sp.Tuple(product, x)) == sp.Tuple(product, x)._repr_latex_()
    lm.unload_ipython_extension(shell)
    assert not shell.display_formatter.formatters["text/latex"]


def test_ipython_is_not_imported() -> None:
    code = ("import sys, lemmata as lm; z = lm.array('z', 'K'); z._repr_latex_(); "
            "lm.gradient(lm.sum(z), z)._repr_html_(); "
            "print([m for m in sys.modules if m.split('.')[0] in ('IPython', 'ipykernel', 'nbformat')])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---------------------------------------------------------------------- derivations
def test_a_derivation_folds_its_steps_and_shows_a_verdict_that_is_known() -> None:
    d = gradient()
    before = d._repr_html_()
    assert "proved" not in before
    head, folded = before.split("<details>")
    assert r"\nabla_{z} L = p - y" in head
    assert r"\delta_{jk}" in folded
    assert r"\delta_{jk}" not in head
    assert d.verdict.verdict == "proved"
    after = d._repr_html_()
    assert "✓ proved" in after
    assert GREEN in after
    assert Tags(after).tags <= OURS
    assert d._repr_latex_().startswith("$$")
    printer = Printer()
    d._repr_pretty_(printer, False)
    assert printer.said == d.text().rstrip()


@pytest.mark.parametrize("name", ["deriv_softmax", "vjp_attention", "positional_encoding_add", "vjp_layer_norm"])
def test_every_formula_of_the_html_typesets(name: str) -> None:
    html = lm.lookup_theorem(name)._repr_html_()
    assert Tags(html).tags <= OURS
    found = formulas(html)
    assert len(found) >= 3
    assert all(typeset(f) for f in found)


# ---------------------------------------------------------------------- verdicts
@pytest.mark.parametrize("verdict", ["refuted", "supported", "unsupported"])
def test_only_what_is_proved_is_green(verdict: Any) -> None:
    v = Verdict(verdict, (Evidence("balls", False, "apart"),), conditions=("x > 0",), reason="why")
    for html in (v._repr_html_(), CodeProof("claim", {"z": v}, "f", "g")._repr_html_()):
        assert GREEN not in html
        assert f" {verdict}</strong>" in html
        assert "✓" not in html
    assert GREEN in Verdict("proved")._repr_html_()


def test_the_worst_part_of_a_proof_is_shown_for_itself() -> None:
    found = Counterexample({"K": 2}, {"z": [1.0]}, (0,), "1", "2")
    bad = Verdict("refuted", counterexample=found)
    html = CodeProof("claim", {"x": Verdict("proved"), "w": bad}, "differences", "grad")._repr_html_()
    assert html.index("x: proved") < html.index("w: refuted by a counterexample")
    assert html.count(GREEN) == 1
    assert "dw[0], grad" in html
    assert Tags(html).tags <= OURS


def test_a_refuted_gradient_shows_its_counterexample() -> None:
    import numpy as np

    def loss(z: Any) -> Any:
        return np.sum(z**2)

    proof = lm.prove_gradient(loss, lambda z: z, wrt="z", shapes="z=K")
    html = proof._repr_html_()
    assert "✗ refuted" in html
    assert GREEN not in html
    assert "the claim lacks the factor 2" in html
    assert "K = 1" in html or "K = 2" in html
    assert Tags(html).tags <= OURS


# ---------------------------------------------------------------------- traces
def test_a_trace_is_a_table_with_warnings_in_front() -> None:
    html = lm.multi_head_attention((1, 10, 768), 12)._repr_html_()
    assert Tags(html).tags <= OURS
    assert "[1,10,768] → [1,10,12,64]" in html
    assert "total parameters: 4 d_model² + 4d_model = 2,362,368" in html
    assert "WARNING" not in html

    def heads(x: Any, h: int) -> Any:
        b, n, d = x.shape
        return x.reshape(b, n, h, d // h).transpose(0, 2, 1, 3).reshape(b, n, d)

    wrong = lm.trace_shapes(heads, x="B n d", h=2)._repr_html_()
    assert wrong.index("right shape, wrong value") < wrong.index("<table>")
    assert "4 ⚠" in wrong


# ---------------------------------------------------------------------- injection
def test_titles_names_and_values_are_text() -> None:
    c = Counterexample({EVIL: 2}, {EVIL: [EVIL]}, (0,), EVIL, EVIL, EVIL)
    verdict = Verdict("refuted", (Evidence(EVIL, False, EVIL),), (EVIL,), (EVIL,), c, EVIL)
    shown = gradient(EVIL)
    shown.__dict__["verdict"] = verdict
    proof = CodeProof(EVIL, {EVIL: verdict, "z": verdict}, EVIL, EVIL, (EVIL,), lambda: ((EVIL, EVIL),))
    trace = replace(lm.multi_head_attention((1, 2, 4), 2), title=EVIL, notes=(EVIL,))
    for html in (shown._repr_html_(), verdict._repr_html_(), proof._repr_html_(), trace._repr_html_()):
        seen = Tags(html)
        assert seen.tags <= OURS
        assert seen.attributes <= {"class", "style"}
        assert "&lt;script&gt;" in html
        assert not any("href" in f for f in formulas(html))


def test_a_name_cannot_smuggle_a_command_into_latex() -> None:
    x = lm.array(r"x}\href{javascript:alert(1)}{y", "K")
    assert r"\href" not in x._repr_latex_()
    assert typeset(x._repr_latex_().strip("$"))
    html = lm.gradient(lm.sum(x**2), wrt=x)._repr_html_()
    assert not any(r"\href" in f for f in formulas(html))


def test_the_check_of_tags_sees_an_injection(monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata.symbolic.rendering import html as module

    monkeypatch.setattr(module, "escaped", str)
    assert not Tags(gradient("<u>x</u>")._repr_html_()).tags <= OURS
