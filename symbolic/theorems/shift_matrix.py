"""The rotation M_k that shifts sinusoidal encodings: a block [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]] a frequency.

M_k is d × d with d = 2h; its rows are counted by pairs (i, a) and its columns by (j, b), so no layout is chosen here.
`positional_encoding` says what it shifts; the rotation R_m of `rotary` is its transpose.
"""

from __future__ import annotations

import math

from ..derivations.tactics import to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, ArrayLike, array, define
from ..language.rearrangement import stack
from ..language.sizes import SizeLike

_TOPIC = "positional encoding"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section 3.5"
BLOCK_NOTE = (
    "J = [[0, 1], [−1, 0]], so block i of M is [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]]; no position occurs in M."
)


# ---------------------------------------------------------------------- definitions
def quarter_turn() -> Array:
    """J = [[0, 1], [−1, 0]]: the shift of a pair (sin, cos) by a quarter of a turn; J Jᵀ = I, Jᵀ = −J."""
    zero, one = lm.zeros(()), lm.ones(())
    return define("J", stack([stack([zero, one]), stack([-one, zero])]))


def shift_block(angle: Array) -> Array:
    """The block [[cos, sin], [−sin, cos]] of each angle, as cos · I + sin · J; two more axes of size 2."""
    angle = angle[..., None, None]
    return lm.cos(angle) * lm.eye(2) + lm.sin(angle) * quarter_turn()


def shift_matrix(offset: ArrayLike, omega: Array) -> Array:
    """The d × d matrix M_k with PE(pos + k) = M_k PE(pos), its rows (i, a) and columns (j, b): δ_ij times block i.

    >>> shift_matrix(array("k"), array("omega", "h")).shape
    (h, 2, h, 2)
    """
    same = lm.eye(omega.shape[0])[:, None, :, None]
    return same * shift_block(offset * omega)[:, :, None, :]


def times(left: Array, right: Array) -> Array:
    """The product of two matrices with rows (i, a) and columns (j, b)."""
    return lm.einsum("iakc,kcjb->iajb", left, right)


def transposed(matrix: Array) -> Array:
    """The transpose of a matrix with rows (i, a) and columns (j, b)."""
    return matrix.transpose(2, 3, 0, 1)


def identity(pairs: SizeLike) -> Array:
    """The identity with rows (i, a) and columns (j, b)."""
    return lm.eye(pairs)[:, None, :, None] * lm.eye(2)[None, :, None, :]


# ---------------------------------------------------------------------- the rotation
def _rotation(name: str, offset: Array, omega: Array) -> Array:
    return define(name, shift_matrix(offset, omega))


def _blocks(coefficient: Array, other: Array, matrix: Array) -> Array:
    """δ_ij (coefficient_i I + other_i · matrix), the shape of every matrix here."""
    n = coefficient.shape[0]
    block = coefficient[:, None, None] * lm.eye(2) + other[:, None, None] * matrix
    return lm.eye(n)[:, None, :, None] * block[:, :, None, :]


@theorem(topic=_TOPIC, title="A quarter turn of a pair, transposed", source=_VASWANI)
def quarter_turn_transpose() -> Claim:
    j = quarter_turn()
    return Claim(
        j.T, -j, letters="ab", by=[unfold(), to(-j, "fold", "this is −J")], notes=["J = [[0, 1], [−1, 0]]."],
        numpy=NumericCheck("position_pairs.turn", arguments=(math.pi / 2,)),
    )


@theorem(topic=_TOPIC, title="Two quarter turns of a pair", source=_VASWANI)
def quarter_turn_sq() -> Claim:
    j = quarter_turn()
    first, second = lm.one_hot(0, 2), lm.one_hot(1, 2)
    written_out = -lm.outer(first, first) - lm.outer(second, second)
    return Claim(
        j @ j,
        -lm.eye(2),
        letters="ab",
        by=[
            unfold(),
            to(written_out, "sum_mul_delta", "multiply out"),
            to(-lm.eye(2), "collect", "the two places of the diagonal"),
        ],
        notes=["J = [[0, 1], [−1, 0]]."],
        numpy=NumericCheck("position_pairs.turn", arguments=(math.pi,)),
    )


@theorem(topic=_TOPIC, title="A quarter turn of a pair is orthogonal", source=_VASWANI)
def quarter_turn_mul_transpose() -> Claim:
    j = quarter_turn()
    return Claim(
        lm.einsum("ac,bc->ab", j, j),
        lm.eye(2),
        letters="ab",
        by=[
            to(-(j @ j), "quarter_turn_transpose", "transpose of J"),
            to(lm.eye(2), "quarter_turn_sq", "square of J"),
        ],
        notes=["J = [[0, 1], [−1, 0]]."],
        numpy=NumericCheck("position_pairs.turn", arguments=(0.0,)),
    )


@theorem(topic=_TOPIC, title="The shift is orthogonal", source=_VASWANI)
def shift_matrix_mul_transpose() -> Claim:
    k, omega = array("k"), array("omega", "h")
    m, j = _rotation("M", k, omega), quarter_turn()
    c, s, one = lm.cos(k * omega), lm.sin(k * omega), identity("h")
    return Claim(
        times(m, transposed(m)),
        one,
        letters="iajb",
        by=[
            unfold("M"),
            to(times(_blocks(c, s, j), _blocks(c, -s, j)), "quarter_turn_transpose", "transpose of J"),
            to(_blocks(c**2, -(s**2), j @ j), "collect", "multiply out"),
            to(_blocks(c**2, s**2, lm.eye(2)), "quarter_turn_sq", "square of J"),
            to(one, "sin_sq_add_cos_sq"),
        ],
        notes=[BLOCK_NOTE],
        numpy=NumericCheck("position_pairs.shift_of_pairs", arguments=(0.0, "omega")),
    )


@theorem(topic=_TOPIC, title="Two shifts make one", source=_VASWANI)
def shift_matrix_mul() -> Claim:
    k, l, omega = array("k"), array("l"), array("omega", "h")
    m, n, both, j = _rotation("M", k, omega), _rotation("N", l, omega), _rotation("R", k + l, omega), quarter_turn()
    x, y = k * omega, l * omega
    c = lm.cos(x) * lm.cos(y) - lm.sin(x) * lm.sin(y)
    s = lm.sin(x) * lm.cos(y) + lm.cos(x) * lm.sin(y)
    squares = (lm.sin(x) * lm.sin(y))[:, None, None] * (j @ j)
    multiplied = _blocks(lm.cos(x) * lm.cos(y), s, j) + lm.eye("h")[:, None, :, None] * squares[:, :, None, :]
    return Claim(
        times(m, n),
        both,
        letters="iajb",
        by=[
            unfold("M", "N"),
            to(multiplied, "collect", "multiply out"),
            to(_blocks(c, s, j), "quarter_turn_sq", "square of J"),
            to(_blocks(lm.cos(x + y), lm.sin(x + y), j), "cos_add", "cosine and sine of a sum"),
            to(both, "fold", "definition of R"),
        ],
        notes=["M, N and R are the shifts by k, by l and by k + l; so shifts commute.", BLOCK_NOTE],
        numpy=NumericCheck("position_pairs.shift_of_pairs", arguments=(k + l, "omega")),
    )


@theorem(topic=_TOPIC, title="The shift backwards is the transpose", source=_VASWANI)
def shift_matrix_neg() -> Claim:
    k, omega = array("k"), array("omega", "h")
    m, back, j = _rotation("M", k, omega), _rotation("M'", -k, omega), quarter_turn()
    c, s = lm.cos(k * omega), lm.sin(k * omega)
    return Claim(
        back,
        transposed(m),
        letters="iajb",
        by=[
            unfold("M'"),
            to(_blocks(c, s, j.T), "quarter_turn_transpose", "transpose of J"),
            to(transposed(m), "fold", "definition of M"),
        ],
        notes=["M and M' are the shifts by k and by −k.", BLOCK_NOTE],
        numpy=NumericCheck("position_pairs.shift_of_pairs", arguments=(-k, "omega")),
    )
