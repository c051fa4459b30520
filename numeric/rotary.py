"""Rotary position embedding (RoPE): queries and keys rotated pair by pair by an angle proportional to their position.

Three conventions are named. The *pairing*: ``"interleaved"`` rotates columns (2i, 2i + 1), as in the paper;
``"half_split"`` rotates (i, d/2 + i), as many implementations do; they are equal up to a fixed permutation of the
columns, applied to queries and keys alike, and must not be mixed. The *orientation*: ``"counterclockwise"`` is the
paper's; ``"clockwise"`` is its transpose; scores depend on m − n with one and on n − m with the other. ``base`` sets
ω_i = base^(−2i/d).
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, number, option, real_array, same_shape

PAIRINGS = ("interleaved", "half_split")
ORIENTATIONS = ("counterclockwise", "clockwise")


def rotary(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    pairing: str = "interleaved",
    orientation: str = "counterclockwise",
    base: float = 10000.0,
) -> Array:
    """Each pair (a, b) at position m becomes (a cos mω_i − b sin mω_i, a sin mω_i + b cos mω_i); clockwise: −m for m.

    Shapes: x [..., n, d], positions [n] -> the shape of x. Domain: d even, positions finite.
    Raises: ValueError for odd d, positions of another length, NaN, an unknown option.
    Source: Su et al. (2021), "RoFormer", eq. (34).

    >>> rotary([[1.0, 0.0]], [np.pi / 2]).round(12) + 0.0
    array([[0., 1.]])
    """
    array, first, second = _pairs("rotary", x, pairing)
    place = _positions("rotary", array, positions)
    option("rotary", "orientation", orientation, ORIENTATIONS)
    d = array.shape[-1]
    sign = 1.0 if orientation == "counterclockwise" else -1.0
    frequency = number("rotary", "base", base, low=0.0, open_low=True) ** (-2.0 * np.arange(d // 2) / d)
    angles = sign * place[:, np.newaxis] * frequency
    cosine, sine = np.cos(angles), np.sin(angles)
    a, b = array[..., first], array[..., second]
    result = np.empty_like(array)
    result[..., first] = a * cosine - b * sine
    result[..., second] = a * sine + b * cosine
    return result


def rotary_vjp(
    cotangent: ArrayLike,
    positions: ArrayLike,
    *,
    pairing: str = "interleaved",
    orientation: str = "counterclockwise",
    base: float = 10000.0,
) -> Array:
    """By x: the cotangent rotated the other way, since the transpose of a rotation is its inverse.

    Shapes, domain, errors as :func:`rotary`.

    >>> rotary_vjp([[0.0, 1.0]], [np.pi / 2]).round(12) + 0.0
    array([[1., 0.]])
    """
    option("rotary_vjp", "orientation", orientation, ORIENTATIONS)
    other = ORIENTATIONS[1 - ORIENTATIONS.index(orientation)]
    return rotary(cotangent, positions, pairing=pairing, orientation=other, base=base)


def rotary_matrix(
    position: float,
    d: int,
    *,
    pairing: str = "interleaved",
    orientation: str = "counterclockwise",
    base: float = 10000.0,
) -> Array:
    """The orthogonal R_m with rotary(x)_m = R_m x_m, x_m as a column.

    Shapes: -> [d, d]. Domain, errors as :func:`rotary`. Source: Su et al. (2021), eq. (15).

    >>> rotary_matrix(0, 2)
    array([[1., 0.],
           [0., 1.]])
    """
    basis = np.eye(d)[:, np.newaxis, :]
    return rotary(basis, [position], pairing=pairing, orientation=orientation, base=base)[:, 0, :].T


def rotary_score(
    q: ArrayLike,
    k: ArrayLike,
    query_position: float,
    key_position: float,
    *,
    query_pairing: str = "interleaved",
    key_pairing: str = "interleaved",
    base: float = 10000.0,
) -> Array:
    """⟨R_m q, R_n k⟩ for one query and one key, a function of m − n.

    Shapes: q, k [d] -> scalar. Domain: d even. Raises: ValueError when the pairings differ (the score then depends on
    both positions), for unequal shapes, odd d, NaN.
    Source: Su et al. (2021), eq. (16).

    >>> round(float(rotary_score([1.0, 0.0], [1.0, 0.0], 5, 5)), 12)
    1.0
    """
    if query_pairing != key_pairing:
        raise ValueError(
            f"rotary_score: queries are paired {query_pairing!r} but keys {key_pairing!r}; mixed, the score depends on "
            "both positions and not on their difference only"
        )
    query, key = real_array("rotary_score", "q", q, analytic=True), real_array("rotary_score", "k", k, analytic=True)
    same_shape("rotary_score", "q", query, "k", key)
    rotated_query = rotary(query[np.newaxis], [query_position], pairing=query_pairing, base=base)
    rotated_key = rotary(key[np.newaxis], [key_position], pairing=key_pairing, base=base)
    return np.sum(rotated_query * rotated_key)


def pairing_permutation(d: int) -> Array:
    """The column order with ``rotary(x[..., p], half_split) == rotary(x, interleaved)[..., p]``.

    Shapes: -> [d] of integers. Domain: d even.

    >>> pairing_permutation(6)
    array([0, 2, 4, 1, 3, 5])
    """
    if d < 2 or d % 2:
        raise ValueError(f"pairing_permutation: need an even width >= 2, got d = {d}")
    return np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])


def _pairs(function: str, x: ArrayLike, pairing: str) -> tuple[Array, slice, slice]:
    option(function, "pairing", pairing, PAIRINGS)
    array = real_array(function, "x", x, analytic=True, finite=True)
    if array.ndim < 2:
        raise ValueError(f"{function}: x has shape {array.shape}; need [..., n, d]")
    d = array.shape[-1]
    if d < 2 or d % 2:
        raise ValueError(
            f"{function}: x has shape {array.shape}; its last axis is paired, so d = {d} must be even and >= 2"
        )
    if pairing == "interleaved":
        return array, slice(0, d, 2), slice(1, d, 2)
    return array, slice(0, d // 2), slice(d // 2, d)


def _positions(function: str, x: Array, positions: ArrayLike) -> Array:
    place = real_array(function, "positions", positions, finite=True)
    if place.shape != (x.shape[-2],):
        raise ValueError(
            f"{function}: positions have shape {place.shape}, but x of shape {x.shape} needs ({x.shape[-2]},)"
        )
    return place
