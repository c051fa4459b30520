"""Axes of two places as columns and matrices: the page, what typesets, and that every line has the same value."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.rendering.derivation import derivation_latex, derivation_tex_body, derivation_text
from lemmata.symbolic.rendering.document import document
from lemmata.symbolic.rendering.prose import escaped
from lemmata.symbolic.rendering.tree import (
    Big,
    Call,
    Factors,
    KroneckerDelta,
    Matrix,
    Minus,
    Node,
    Numeral,
    Relation,
    Subscripted,
    Terms,
    Transposed,
)
from lemmata.symbolic.theorems import find_theorem

from .katex import check

GOLDEN_TEXT = """\
A shift of the position is a rotation (positional_encoding_add)

  given     k ∈ ℝ, pos ∈ ℝ, ω ∈ ℝ^h
  where     PE′_{i,:} := [sin(ω_i (k + pos)); cos(ω_i (k + pos))]
            PE_{i,:} := [sin(pos ω_i); cos(pos ω_i)]
            J := [0, 1; −1, 0]
            M_{i,:,l,:} := δ_il [cos(k ω_i), sin(k ω_i); −sin(k ω_i), cos(k ω_i)]

  PE′_{i,:}
    = [sin(ω_i (k + pos)); cos(ω_i (k + pos))]
          [unfold] Definition of PE'.
    = [sin(k ω_i + pos ω_i); cos(k ω_i + pos ω_i)]
          [collect] The angle is a sum.
    = [cos(k ω_i) sin(pos ω_i) + cos(pos ω_i) sin(k ω_i);
        cos(k ω_i) cos(pos ω_i) − sin(k ω_i) sin(pos ω_i)]
          [sin_add] Sine and cosine of a sum.
    = [cos(k ω_i), sin(k ω_i); −sin(k ω_i), cos(k ω_i)] [sin(pos ω_i); cos(pos ω_i)]
          [collect] This is a matrix times a column.
    = Σ_j M_{i,:,j,:} PE_{j,:}
          [fold] Definition of M and of PE.

  note: PE = PE(pos) and PE' = PE(pos + k) as columns: PE' = M PE.
  note: d = 2h; row (i, a) is column 2i + a of the table: a = 0 the sine, a = 1 the cosine of
    frequency ω_i.
  note: J = [[0, 1], [−1, 0]], so block i of M is [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]]; no
    position occurs in M.
  note: Holds for every frequency rule: ω_i = 10000^(−2i/d) (the paper), 10000^(−i/(d/2 − 1)), or
    any other.
  source: Vaswani et al., Attention Is All You Need (2017), section 3.5
"""

GOLDEN_LATEX = r"""
\begin{aligned}
\mathrm{PE}'_{i,:} &:= \begin{pmatrix} \sin\left(\omega_{i} \left(k + \mathrm{pos}\right)\right) \\ \cos\left(\omega_{i} \left(k + \mathrm{pos}\right)\right) \end{pmatrix} \\
\mathrm{PE}_{i,:} &:= \begin{pmatrix} \sin\left(\mathrm{pos} \, \omega_{i}\right) \\ \cos\left(\mathrm{pos} \, \omega_{i}\right) \end{pmatrix} \\
J &:= \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix} \\
M_{i,:,l,:} &:= \delta_{il} \begin{pmatrix} \cos\left(k \omega_{i}\right) & \sin\left(k \omega_{i}\right) \\ -\sin\left(k \omega_{i}\right) & \cos\left(k \omega_{i}\right) \end{pmatrix} \\[1ex]
\mathrm{PE}'_{i,:} &= \begin{pmatrix} \sin\left(\omega_{i} \left(k + \mathrm{pos}\right)\right) \\ \cos\left(\omega_{i} \left(k + \mathrm{pos}\right)\right) \end{pmatrix} && \small\text{substitute the definitions} \\
&= \begin{pmatrix} \sin\left(k \omega_{i} + \mathrm{pos} \, \omega_{i}\right) \\ \cos\left(k \omega_{i} + \mathrm{pos} \, \omega_{i}\right) \end{pmatrix} && \small\text{collect terms} \\
&= \begin{pmatrix} \cos\left(k \omega_{i}\right) \sin\left(\mathrm{pos} \, \omega_{i}\right) + \cos\left(\mathrm{pos} \, \omega_{i}\right) \sin\left(k \omega_{i}\right) \\ \cos\left(k \omega_{i}\right) \cos\left(\mathrm{pos} \, \omega_{i}\right) - \sin\left(k \omega_{i}\right) \sin\left(\mathrm{pos} \, \omega_{i}\right) \end{pmatrix} && \small\text{rewrite} \\
&= \begin{pmatrix} \cos\left(k \omega_{i}\right) & \sin\left(k \omega_{i}\right) \\ -\sin\left(k \omega_{i}\right) & \cos\left(k \omega_{i}\right) \end{pmatrix} \begin{pmatrix} \sin\left(\mathrm{pos} \, \omega_{i}\right) \\ \cos\left(\mathrm{pos} \, \omega_{i}\right) \end{pmatrix} && \small\text{collect terms} \\
&= \sum_{j} M_{i,:,j,:} \, \mathrm{PE}_{j,:} && \small\text{rewrite}
\end{aligned}
"""  # noqa: E501

SHIFTS = [
    "positional_encoding_add",
    "positional_encoding_add_row",
    "positional_encoding_add_cosine_first",
    "positional_encoding_add_cosine_first_row",
    "positional_encoding_sub",
    "positional_encoding_add_halves",
]
PAIRS = 3


def derivation(name: str) -> Derivation:
    return find_theorem(name).derivation()


def test_golden_text() -> None:
    assert derivation_text(derivation("positional_encoding_add")) == GOLDEN_TEXT


def test_golden_latex() -> None:
    assert derivation_latex(derivation("positional_encoding_add")) == GOLDEN_LATEX.strip()


@pytest.mark.parametrize("name", [*SHIFTS, "quarter_turn_sq", "shift_matrix_mul"])
def test_typesets(name: str) -> None:
    for detail in ("brief", "normal", "full"):
        check(derivation_latex(derivation(name), detail))


def test_notes_are_mathematics() -> None:
    page = derivation_tex_body(derivation("positional_encoding_add"))
    assert "\nDefinition of PE'. (" in page
    assert r"$\omega_{i}$ = $10000^{-2i/d}$ (the paper), $10000^{-i/(d/2 - 1)}$" in page
    assert r"\cos k\omega_{i} & \sin k\omega_{i} \\ -\sin k\omega_{i} & \cos k\omega_{i}" in page
    assert escaped("sin_add of p_i") == r"sin\_add of $p_{i}$"


def test_an_axis_inside_index_arithmetic_stays_as_it_is() -> None:
    assert "δ_{0,a}" in derivation_text(derivation("positional_encoding_halves"))


# ---------------------------------------------------------------------- values
def value(node: Node, names: dict[str, object]) -> object:
    """The notation as NumPy computes it; a colon is a slice, and arrays side by side are multiplied as matrices."""
    match node:
        case Numeral(digits=digits):
            return float(digits)
        case Minus(inner=inner):
            return -value(inner, names)
        case Terms(terms=terms):
            return sum((-1 if negative else 1) * value(t, names) for negative, t in terms)
        case Factors(factors=factors):
            result: object = 1.0
            for f in factors:
                x = value(f, names)
                result = result @ x if np.ndim(result) and np.ndim(x) else result * x
            return result
        case Call(function=function, arguments=(argument,)):
            return getattr(np, function.text)(value(argument, names))
        case KroneckerDelta(left=left, right=right):
            return float(value(left, names) == value(right, names))
        case Matrix(rows=rows):
            entries = np.array([[value(x, names) for x in row] for row in rows])
            return entries[:, 0] if entries.shape[1] == 1 else entries
        case Transposed(inner=inner):
            return value(inner, names).T
        case Subscripted(name=name, indices=indices):
            return names[name.text][tuple(value(i, names) for i in indices)]
        case Big(operator="sum", letters=(letter,), body=body):
            return sum(value(body, {**names, letter.text: n}) for n in range(PAIRS))
    return slice(None) if node.text == ":" else names[node.text]


def defined(definition: Relation, names: dict[str, object]) -> np.ndarray:
    """A defined array from the block that defines it, for every value of its letters."""
    left = definition.left
    indices = left.indices if isinstance(left, Subscripted) else ()
    free = [i.text for i in indices if i.text != ":"]
    if not free:
        return value(definition.right, names)
    whole = np.zeros(tuple(2 if i.text == ":" else PAIRS for i in indices))
    for places in np.ndindex(*(PAIRS,) * len(free)):
        at = dict(zip(free, places, strict=True))
        whole[tuple(slice(None) if i.text == ":" else at[i.text] for i in indices)] = value(
            definition.right, {**names, **at}
        )
    return whole


def values(name: str, change: Callable[[Node], Node] = lambda node: node) -> list[np.ndarray]:
    """The left side and every line at random numbers (seed 7)."""
    rng = np.random.default_rng(7)
    shown = document(derivation(name))
    names: dict[str, object] = {"k": rng.normal(), "pos": rng.normal(), "ω": rng.normal(size=PAIRS), "i": 1}
    for d in shown.definitions:
        label = d.left.name.text if isinstance(d.left, Subscripted) else d.left.text
        names[label] = None
    for _ in names:  # a definition may come before one it uses
        for d in shown.definitions:
            label = d.left.name.text if isinstance(d.left, Subscripted) else d.left.text
            try:
                names[label] = defined(d, names)
            except TypeError:
                continue
    return [value(shown.left, names), *(value(change(line.node), names) for line in shown.lines)]


@pytest.mark.parametrize("name", SHIFTS)
def test_every_line_has_the_value_of_the_left_side(name: str) -> None:
    left, *lines = values(name)
    assert left.shape == (2,)
    assert len(lines) >= 5
    for line in lines:
        np.testing.assert_allclose(line, left, rtol=1e-12, atol=1e-12)


def _flipped(node: Node) -> Node:
    """The first entry of a matrix with the other sign."""
    if isinstance(node, Matrix):
        (first, *others), *rows = node.rows
        return Matrix(((Minus(first), *others), *rows))
    return replace(node, factors=tuple(map(_flipped, node.factors))) if isinstance(node, Factors) else node


def _untransposed(node: Node) -> Node:
    match node:
        case Transposed(inner=inner):
            return inner
        case Big(body=body):
            return replace(node, body=_untransposed(body))
        case Factors(factors=factors):
            return replace(node, factors=tuple(map(_untransposed, factors)))
    return node


def test_a_wrong_sign_or_a_missing_transpose_is_seen() -> None:
    left, first, *_ = values("positional_encoding_add", _flipped)
    assert not np.allclose(first, left, rtol=1e-3)
    left, *_, last = values("positional_encoding_sub", _untransposed)
    assert not np.allclose(last, left, rtol=1e-3)
