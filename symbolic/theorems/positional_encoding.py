"""Sinusoidal positional encodings: the table, its shift by a rotation free of the position, inner products.

The table has d = 2h columns in h pairs, one pair (sin, cos) a frequency ω_i; pair i, place a is column 2i + a of the
interleaved layout and column ah + i of the layout in halves. The frequencies are arbitrary reals in the theorems about
all pairs, so these hold for every frequency rule; those about one pair name theirs. `rotary` rotates queries and keys
instead of adding a table.
"""

from __future__ import annotations

from collections.abc import Callable

from ..derivations.tactics import partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, ArrayLike, array, define
from ..language.errors import LemmataError
from ..language.rearrangement import concatenate, reshape, stack
from ..language.sizes import SizeLike
from .shift_matrix import BLOCK_NOTE, shift_block, shift_matrix, transposed

_TOPIC = "positional encoding"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section 3.5"
_T2T = "tensor2tensor, layers/common_attention.py, get_timing_signal_1d"
_PAIRS = "d = 2h; row (i, a) is column 2i + a of the table: a = 0 the sine, a = 1 the cosine of frequency ω_i."
_EVERY_RULE = "Holds for every frequency rule: ω_i = 10000^(−2i/d) (the paper), 10000^(−i/(d/2 − 1)), or any other."
_HALVES = "d = 2h; row (a, i) is column ah + i: the sines (a = 0), then the cosines (a = 1) of frequencies ω_i."
_COSINE_FIRST = "d = 2h; row (i, a) is column 2i + a: a = 0 the cosine, a = 1 the sine of frequency ω_i."
_COUNTED = "Pairs are counted from i = 0, as in the paper."


# ---------------------------------------------------------------------- the table
def frequencies(pairs: SizeLike, rule: str = "paper") -> Array:
    """The frequencies ω_0 .. ω_{h−1}, d = 2h: ``"paper"`` 10000^(−2i/d), or ``"endpoint"`` 10000^(−i/(d/2 − 1)).

    The two rules give different tables. ``"endpoint"`` needs at least two pairs. An unknown rule is an error.

    >>> frequencies(4)[3].body, frequencies(4, "endpoint")[3].body
    (10000**(-6/d), 10000**(-3/(d/2 - 1)))
    """
    i = lm.arange(pairs)
    d = define("d", 2 * i.shape[0], domain="positive")
    if rule == "paper":
        return 1 / 10000 ** (2 * i / d)
    if rule == "endpoint":
        return 1 / 10000 ** (i / (d / 2 - 1))
    raise LemmataError(f"there is no frequency rule {rule!r}; the rules are 'paper' and 'endpoint'")


def positional_encoding(position: ArrayLike, omega: Array, layout: str = "interleaved") -> Array:
    """The encoding of one position: pairs (sin, cos) of shape (h, 2), or in ``"halves"`` the row of 2h columns.

    >>> positional_encoding(array("pos"), array("omega", "h")).shape
    (h, 2)
    """
    angle = position * omega
    if layout == "interleaved":
        return stack([lm.sin(angle), lm.cos(angle)], axis=-1)
    if layout == "halves":
        return concatenate([lm.sin(angle), lm.cos(angle)], axis=-1)
    raise LemmataError(f"there is no layout {layout!r}; the layouts are 'interleaved' and 'halves'")


def _column(matrix: Array, encoding: Array) -> Array:
    """A matrix times an encoding as a column."""
    return lm.einsum("iajb,jb->ia", matrix, encoding)


def _table(length: SizeLike, omega: Array) -> Array:
    """The encodings of positions 0 .. n − 1, one a row, in halves."""
    angle = lm.arange(length)[:, None] * omega
    return concatenate([lm.sin(angle), lm.cos(angle)], axis=-1)


# ---------------------------------------------------------------------- one pair
def _angle(position: Array) -> Array:
    """pos / 10000^(2i/d), with the number i of the pair and the width d as numbers."""
    i, d = array("i", domain="nonnegative"), array("d", domain="positive")
    return position / 10000 ** (2 * i / d)


@theorem(topic=_TOPIC, title="The sine column at a shifted position", source=_VASWANI)
def positional_encoding_add_sine() -> Claim:
    pos, k = array("pos"), array("k")
    x, y = _angle(pos), _angle(k)
    right = lm.cos(y) * lm.sin(x) + lm.sin(y) * lm.cos(x)
    return Claim(
        lm.sin(_angle(pos + k)),
        right,
        by=[to(lm.sin(x + y), "collect", "the angle is a sum"), to(right, "sin_add", "sine of a sum")],
        notes=[_COUNTED, "The old cosine is needed as well: the sine alone does not determine the shifted sine."],
        numpy=NumericCheck("written_out.positional_encoding_sine", arguments=(pos + k, "i", "d")),
    )


@theorem(topic=_TOPIC, title="The cosine column at a shifted position", source=_VASWANI)
def positional_encoding_add_cosine() -> Claim:
    pos, k = array("pos"), array("k")
    x, y = _angle(pos), _angle(k)
    right = lm.cos(y) * lm.cos(x) - lm.sin(y) * lm.sin(x)
    return Claim(
        lm.cos(_angle(pos + k)),
        right,
        by=[to(lm.cos(x + y), "collect", "the angle is a sum"), to(right, "cos_add", "cosine of a sum")],
        notes=[_COUNTED],
        numpy=NumericCheck("written_out.positional_encoding_cosine", arguments=(pos + k, "i", "d")),
    )


# ---------------------------------------------------------------------- all pairs: the shift is a rotation
def _shift(
    right: Callable[[Array, Array], Array],
    note: str,
    *,
    sign: int = 1,
    cosine_first: bool = False,
    halves: bool = False,
) -> Claim:
    """PE(pos ± k) = `right` of M and PE(pos), with the pairs in the order (sin, cos) or (cos, sin)."""

    def pair(sine: Array, cosine: Array) -> Array:
        return stack([cosine, sine] if cosine_first else [sine, cosine], axis=0 if halves else -1)

    pos, k, omega = array("pos"), array("k"), array("omega", "h")
    x, y, moved = pos * omega, k * omega, (pos + sign * k) * omega
    old = define("PE", pair(lm.sin(x), lm.cos(x)))
    shifted = define("PE'", pair(lm.sin(moved), lm.cos(moved)))
    m = define("M", shift_matrix(k, omega).transpose(1, 0, 3, 2) if halves else shift_matrix(k, omega))
    together = x + sign * y
    forward = (sign == 1) != cosine_first
    rotated = lm.einsum(
        "iab,bi->ai" if halves else "iab,ib->ia" if forward else "iba,ib->ia",
        shift_block(y),
        pair(lm.sin(x), lm.cos(x)),
    )
    return Claim(
        shifted,
        right(m, old),
        letters="ai" if halves else "ia",
        by=[
            unfold("PE'"),
            to(pair(lm.sin(together), lm.cos(together)), "collect", "the angle is a sum"),
            to(
                pair(
                    lm.cos(y) * lm.sin(x) + sign * lm.sin(y) * lm.cos(x),
                    lm.cos(y) * lm.cos(x) - sign * lm.sin(y) * lm.sin(x),
                ),
                "sin_add",
                "sine and cosine of a sum",
            ),
            to(rotated, "collect", "this is a matrix times a column"),
            to(right(m, old), "fold", "definition of M and of PE"),
        ],
        notes=[note, _COSINE_FIRST if cosine_first else _HALVES if halves else _PAIRS, BLOCK_NOTE, _EVERY_RULE],
        numpy=NumericCheck(
            f"position_pairs.encoding_{'halves' if halves else 'pairs'}",
            arguments=(pos + sign * k, "omega"),
            options={"cosine_first": True} if cosine_first else {},
        ),
    )


@theorem(topic=_TOPIC, title="A shift of the position is a rotation", source=_VASWANI)
def positional_encoding_add() -> Claim:
    return _shift(_column, "PE = PE(pos) and PE' = PE(pos + k) as columns: PE' = M PE.")


@theorem(topic=_TOPIC, title="A shift of the position, encodings as rows", source=_VASWANI)
def positional_encoding_add_row() -> Claim:
    return _shift(
        lambda m, old: lm.einsum("jb,jbia->ia", old, transposed(m)),
        "PE = PE(pos) and PE' = PE(pos + k) as rows: PE' = PE Mᵀ, with the M of columns.",
    )


@theorem(topic=_TOPIC, title="A shift of the position, cosine before sine", source=_VASWANI)
def positional_encoding_add_cosine_first() -> Claim:
    return _shift(
        lambda m, old: _column(transposed(m), old),
        "PE = PE(pos) and PE' = PE(pos + k) as columns, pairs (cos, sin): PE' = Mᵀ PE, with the M of pairs (sin, cos).",
        cosine_first=True,
    )


@theorem(topic=_TOPIC, title="A shift of the position, cosine before sine, encodings as rows", source=_VASWANI)
def positional_encoding_add_cosine_first_row() -> Claim:
    return _shift(
        lambda m, old: lm.einsum("jb,jbia->ia", old, m),
        "PE = PE(pos) and PE' = PE(pos + k) as rows, pairs (cos, sin): PE' = PE M; the two transposes cancel.",
        cosine_first=True,
    )


@theorem(topic=_TOPIC, title="A shift of the position backwards", source=_VASWANI)
def positional_encoding_sub() -> Claim:
    return _shift(
        lambda m, old: _column(transposed(m), old),
        "PE = PE(pos) and PE' = PE(pos − k) as columns: PE' = Mᵀ PE, with the M of the shift by +k.",
        sign=-1,
    )


@theorem(topic=_TOPIC, title="A shift of the position, sines before cosines", source=_VASWANI)
def positional_encoding_add_halves() -> Claim:
    return _shift(
        lambda m, old: lm.einsum("aibj,bj->ai", m, old),
        "PE = PE(pos) and PE' = PE(pos + k) as columns in halves: PE' = M PE with M = [[C, S], [−S, C]], "
        "C = diag(cos kω), S = diag(sin kω).",
        halves=True,
    )


@theorem(topic=_TOPIC, title="The two layouts are a permutation of each other", source=_T2T)
def positional_encoding_halves() -> Claim:
    pos, omega = array("pos"), array("omega", "h")
    return Claim(
        reshape(positional_encoding(pos, omega, "halves"), [2, omega.shape[0]]).T,
        positional_encoding(pos, omega),
        letters="ia",
        notes=[
            "Column ah + i of the halves is column 2i + a of the interleaved table, at every position.",
            "Both hold the same numbers, so inner products agree; ω_i stands for any frequency rule.",
        ],
        numpy=NumericCheck("position_pairs.encoding_pairs", arguments=("pos", "omega")),
    )


# ---------------------------------------------------------------------- inner products
@theorem(topic=_TOPIC, title="Inner product of two encodings", source=_VASWANI)
def inner_positional_encoding() -> Claim:
    p, q, omega = array("p"), array("q"), array("omega", "h")
    first, second = define("PE", positional_encoding(p, omega)), define("PE'", positional_encoding(q, omega))
    x, y = p * omega, q * omega
    return Claim(
        lm.sum(first * second),
        lm.sum(lm.cos((p - q) * omega)),
        by=[
            unfold(),
            to(lm.sum(lm.sin(x) * lm.sin(y) + lm.cos(x) * lm.cos(y)), "collect", "the sum over a pair has two terms"),
            to(lm.sum(lm.cos((p - q) * omega)), "cos_add", "cosine of a difference"),
        ],
        notes=["PE = PE(p) and PE' = PE(q); only the difference p − q is left.", _PAIRS, _EVERY_RULE],
        numpy=NumericCheck("position_pairs.encoding_product", arguments=("p", "q", "omega")),
    )


@theorem(topic=_TOPIC, title="Squared norm of an encoding", source=_VASWANI)
def norm_sq_positional_encoding() -> Claim:
    pos, omega = array("pos"), array("omega", "h")
    pe = define("PE", positional_encoding(pos, omega))
    x = pos * omega
    return Claim(
        lm.sum(pe**2),
        omega.shape[0],
        by=[
            unfold(),
            to(lm.sum(lm.sin(x) ** 2 + lm.cos(x) ** 2), "collect", "the sum over a pair has two terms"),
            to(omega.shape[0], "sin_sq_add_cos_sq", "every pair has length 1"),
        ],
        notes=["h = d/2, at every position.", _PAIRS, _EVERY_RULE],
        numpy=NumericCheck("position_pairs.encoding_product", arguments=("pos", "pos", "omega")),
    )


@theorem(topic=_TOPIC, title="Inner product of two encodings of odd width", source=_VASWANI)
def inner_positional_encoding_odd() -> Claim:
    p, q, omega, nu = array("p"), array("q"), array("omega", "h"), array("nu")
    first, second = define("PE", positional_encoding(p, omega)), define("PE'", positional_encoding(q, omega))
    pairs = lm.sum(lm.cos((p - q) * omega))
    lone = lm.sin(nu * p) * lm.sin(nu * q)
    right = pairs + (lm.cos(nu * (p - q)) - lm.cos(nu * (p + q))) / 2
    return Claim(
        lm.sum(first * second) + lone,
        right,
        by=[to(pairs + lone, "inner_positional_encoding", "the pairs"), to(right, "cos_add", "product of two sines")],
        notes=[
            "d = 2h + 1: h + 1 sines but h cosines; the last sine, of frequency ν, has no cosine beside it.",
            "So the product depends on p + q too, and no matrix shifts the last column; an even width has neither.",
            "PE = PE(p) and PE' = PE(q), without the last column.",
        ],
        numpy=NumericCheck("position_pairs.odd_encoding_product", arguments=("p", "q", "omega", "nu")),
    )


# ---------------------------------------------------------------------- added to the embeddings
@theorem(topic=_TOPIC, title="Gradient through the addition to the embeddings", source=_VASWANI)
def vjp_add_positional_encoding() -> Claim:
    x, g = array("X", "n,2*h"), array("g", "n,2*h")
    n = x.shape[0]
    table = define("PE", _table(n, frequencies("h")))
    return Claim(
        lm.einsum("nc,ncmd->md", g, partial(x + table, x)),
        g,
        letters="nc",
        notes=["The table has the shape of the embeddings, [n, d], and so has the sum; g is the cotangent of the sum."],
        numpy=NumericCheck(
            primal="positional_encoding.add_positional_encoding",
            arguments=("X",),
            variable="X",
            primal_options={"layout": "halves"},
        ),
    )
