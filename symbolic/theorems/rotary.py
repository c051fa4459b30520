"""Rotary position embedding (RoPE): queries and keys turned pair by pair, so that scores depend on the distance alone.

A vector of width d = 2h is h pairs; pair i at position m is turned by the angle mω_i. Two conventions are part of every
statement: the *pairing*, interleaved (columns 2i, 2i + 1) or half-split (columns i, h + i), and the *orientation*,
R_m = [[cos, −sin], [sin, cos]] as in the paper or its transpose. `positional_encoding` adds a table instead.
"""

from __future__ import annotations

from ..derivations.tactics import contract, differentiate, partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, ArrayLike, array, define
from ..language.errors import LemmataError
from ..language.rearrangement import reshape, swapaxes
from .shift_matrix import quarter_turn, shift_block

_TOPIC = "rotary position embedding"
_SU = "Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding (2021)"
_NEOX = "GPT-NeoX, rotary embeddings with rotate_half"
_BLOCKS = "Block i of R is [[cos mω_i, −sin mω_i], [sin mω_i, cos mω_i]], as in the paper; J = [[0, 1], [−1, 0]]."
_ANY = "The frequencies ω_i are arbitrary; the paper has ω_i = 10000^(−2i/d), d = 2h."
_INTERLEAVED = "Interleaved: pair i is columns 2i and 2i + 1."
_UNKNOWN = "there is no pairing {!r}; the pairings are 'interleaved' and 'half_split'"
_HALF_SPLIT = "Half-split: pair i is columns i and h + i."


# ---------------------------------------------------------------------- definitions
def pairs(x: Array, pairing: str = "interleaved") -> Array:
    """A vector of width 2h as pairs of shape (h, 2): columns (2i, 2i + 1), or (i, h + i) with ``"half_split"``.

    >>> pairs(array("x", "2*h")).element(1, 0), pairs(array("x", "2*h"), "half_split").element(1, 0)
    (x_2, x_1)
    """
    h = x.shape[-1] / 2
    if pairing == "interleaved":
        return reshape(x, [*x.shape[:-1], h, 2])
    if pairing == "half_split":
        return swapaxes(reshape(x, [*x.shape[:-1], 2, h]), -1, -2)
    raise LemmataError(_UNKNOWN.format(pairing))


def columns(x: Array, pairing: str = "interleaved") -> Array:
    """Pairs of shape (h, 2) as a vector of width 2h, the way back from :func:`pairs`.

    >>> columns(pairs(array("x", "2*h")), "half_split").shape
    (2*h,)
    """
    h, (i, a) = x.shape[0], (lm.arange(x.shape[0])[:, None], lm.arange(2))
    places = {"interleaved": 2 * i + a, "half_split": i + h * a}
    if pairing not in places:
        raise LemmataError(_UNKNOWN.format(pairing))
    return lm.einsum("iac,ia->c", lm.one_hot(places[pairing], 2 * h), x)


def rotary_blocks(position: ArrayLike, omega: Array) -> Array:
    """The blocks [[cos mω_i, −sin mω_i], [sin mω_i, cos mω_i]] of R_m, shape (h, 2, 2)."""
    return shift_block(-(position * omega))


def turned(blocks: Array, x: Array) -> Array:
    """R x, pair by pair."""
    return lm.einsum("iab,ib->ia", blocks, x)


def _named(name: str, position: Array, omega: Array) -> Array:
    return define(name, rotary_blocks(position, omega))


def _combined(first: Array, second: Array, matrix: Array) -> Array:
    """first_i I + second_i · matrix."""
    return first[:, None, None] * lm.eye(2) + second[:, None, None] * matrix


# ---------------------------------------------------------------------- the rotation
@theorem(topic=_TOPIC, title="The rotation by a position is orthogonal", source=f"{_SU}, section 3.2.2")
def rotary_mul_transpose() -> Claim:
    m, omega = array("m"), array("omega", "h")
    r, j = _named("R", m, omega), quarter_turn()
    c, s = lm.cos(m * omega), lm.sin(m * omega)
    one = lm.eye(2)
    return Claim(
        lm.einsum("iac,ibc->iab", r, r),
        lm.ones("h")[:, None, None] * one,
        letters="iab",
        by=[
            unfold("R"),
            to(_combined(c**2, s**2, lm.einsum("ac,bc->ab", j, j)), "collect", "multiply out"),
            to(_combined(c**2, s**2, one), "quarter_turn_mul_transpose", "J is orthogonal"),
            to(lm.ones("h")[:, None, None] * one, "sin_sq_add_cos_sq"),
        ],
        notes=[_BLOCKS, _ANY],
        numpy=NumericCheck("position_pairs.turns", arguments=(0.0, "omega")),
    )


@theorem(topic=_TOPIC, title="A rotation after the inverse of another", source=f"{_SU}, eq. (16)")
def rotary_transpose_mul() -> Claim:
    m, n, omega = array("m"), array("n"), array("omega", "h")
    r, s, t, j = _named("R", m, omega), _named("S", n, omega), _named("T", n - m, omega), quarter_turn()
    x, y = m * omega, n * omega
    cosine = lm.cos(x) * lm.cos(y) + lm.sin(x) * lm.sin(y)
    sine = lm.cos(x) * lm.sin(y) - lm.sin(x) * lm.cos(y)
    return Claim(
        lm.einsum("ica,icb->iab", r, s),
        t,
        letters="iab",
        by=[
            unfold("R", "S"),
            to(_combined(cosine, -sine, j), "collect", "multiply out; J is orthogonal and Jᵀ = −J"),
            to(_combined(lm.cos(y - x), -lm.sin(y - x), j), "cos_add", "cosine and sine of a difference"),
            to(t, "fold", "definition of T"),
        ],
        notes=["R, S and T are the rotations by m, by n and by n − m: RᵀS = T.", _BLOCKS, _ANY],
        numpy=NumericCheck("position_pairs.turns", arguments=(n - m, "omega")),
    )


@theorem(topic=_TOPIC, title="Rotary embedding keeps the norm", source=f"{_SU}, section 3.2.2")
def rotary_norm_sq() -> Claim:
    m, omega, q = array("m"), array("omega", "h"), array("q", "2*h")
    r, at = _named("R", m, omega), pairs(q)
    return Claim(
        lm.sum(turned(r, at) ** 2),
        lm.sum(at**2),
        by=[
            to(lm.einsum("iba,ibc,ia,ic->", r, r, at, at), "collect", "write the square as a product"),
            to(lm.einsum("ac,ia,ic->", lm.eye(2), at, at), "rotary_transpose_mul", "a rotation and its inverse"),
            contract(),
        ],
        notes=["The right side is the sum of q² over all columns.", _INTERLEAVED, _BLOCKS, _ANY],
        numpy=NumericCheck("position_pairs.rotary_product", arguments=("q", "q", "m", "m", "omega")),
    )


# ---------------------------------------------------------------------- scores
def _score(pairing: str, note: str, transposed: bool = False) -> Claim:
    """⟨R q, S k⟩, R and S the rotations by the positions m of the query and n of the key, or their transposes."""
    m, n, omega = array("m"), array("n"), array("omega", "h")
    query, key = pairs(array("q", "2*h"), pairing), pairs(array("k", "2*h"), pairing)
    r, s, t = _named("R", m, omega), _named("S", n, omega), _named("T", m - n if transposed else n - m, omega)
    first, second = (swapaxes(r, 1, 2), swapaxes(s, 1, 2)) if transposed else (r, s)
    return Claim(
        lm.sum(turned(first, query) * turned(second, key)),
        lm.einsum("ia,iab,ib->", query, t, key),
        by=[
            to(lm.einsum("ia,ica,icb,ib->", query, first, second, key), "collect", "the rotations side by side"),
            to(lm.einsum("ia,iab,ib->", query, t, key), "rotary_transpose_mul", "one rotation by the difference"),
        ],
        notes=[note, _HALF_SPLIT if pairing == "half_split" else _INTERLEAVED, _BLOCKS, _ANY],
        numpy=NumericCheck(
            "position_pairs.rotary_product",
            arguments=("q", "k", *((-m, -n) if transposed else (m, n)), "omega"),
            options={"half_split": pairing == "half_split"},
        ),
    )


_BY_DIFFERENCE = "R, S and T are the rotations by m, by n and by n − m: the score depends on m − n alone."


@theorem(topic=_TOPIC, title="Rotary scores depend on the difference of positions", source=f"{_SU}, eq. (16)")
def rotary_score() -> Claim:
    return _score("interleaved", _BY_DIFFERENCE)


@theorem(topic=_TOPIC, title="Rotary scores depend on the difference of positions, half-split", source=_NEOX)
def rotary_score_half_split() -> Claim:
    return _score("half_split", _BY_DIFFERENCE)


@theorem(topic=_TOPIC, title="Rotary scores with the transposed rotation", source=f"{_SU}, eq. (16)")
def rotary_score_transposed() -> Claim:
    return _score(
        "interleaved",
        "Queries and keys are turned by Rᵀ and Sᵀ, and T is the rotation by m − n: the score of the paper with m − n "
        "and n − m exchanged. Trained from scratch it is as good; with weights of the other orientation it is wrong.",
        transposed=True,
    )


# ---------------------------------------------------------------------- pairings
@theorem(topic=_TOPIC, title="Half-split and interleaved rotary embedding differ by a permutation", source=_NEOX)
def rotary_half_split_permuted() -> Claim:
    m, omega, x = array("m"), array("omega", "h"), array("x", "2*h")
    y = define("y", columns(pairs(x), "half_split"))
    r = _named("R", m, omega)
    return Claim(
        turned(r, pairs(y, "half_split")),
        turned(r, pairs(x)),
        letters="ia",
        by=[unfold("y"), to(turned(r, pairs(x)), "sum_mul_delta", "column jh + i of y is column 2i + j of x")],
        notes=[
            "Column ah + i of y is column 2i + a of x: one permutation for every position.",
            "On queries and keys alike it keeps every score; queries in one pairing with keys in the other do not.",
            _BLOCKS,
        ],
        numpy=NumericCheck("position_pairs.turned_columns", arguments=("x", "m", "omega")),
    )


# ---------------------------------------------------------------------- gradient
@theorem(topic=_TOPIC, title="Gradient through rotary embedding", source=_SU)
def vjp_rotary() -> Claim:
    x, g, pos, omega = array("x", "n,h,2"), array("g", "n,h,2"), array("pos", "n"), array("omega", "h")
    r = define("R", shift_block(-(pos[:, None] * omega)))
    return Claim(
        lm.einsum("nia,niamjb->mjb", g, partial(lm.einsum("niab,nib->nia", r, x), x)),
        lm.einsum("niba,nib->nia", r, g),
        letters="nia",
        by=[differentiate(), contract()],
        notes=[
            "The cotangent g is turned the other way: the transpose of a rotation is its inverse.",
            "x holds n vectors of h pairs, at the positions pos.",
            _ANY,
        ],
        numpy=NumericCheck(
            "position_pairs.turned_pairs",
            primal="position_pairs.turned_pairs",
            arguments=("g", -pos, "omega"),
            primal_arguments=("x", "pos", "omega"),
        ),
    )
