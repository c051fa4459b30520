"""Sinusoidal positional encodings: the table, its shift by a rotation, and its inner products.

Two options are often mixed up and are separate here. The *layout*: ``"interleaved"`` alternates sin, cos (the paper);
``"halves"`` has all sines, then all cosines; one is a fixed permutation of the other. The *frequency rule*:
``"paper"`` has ω_i = base^(−2i/d); ``"endpoint"`` has ω_i = base^(−i/(d/2 − 1)), whose last frequency is exactly
1/base; it is another table.

An odd width has ceil(d/2) sines and floor(d/2) cosines; the last sine has no partner, so the shift identity and the
inner product rule fail for it and are refused. Angles are formed in float64. ``rotary.py`` rotates queries and keys
instead of adding a table.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, number, option, real_array

LAYOUTS = ("interleaved", "halves")
FREQUENCY_RULES = ("paper", "endpoint")


def frequencies(d: int, *, rule: str = "paper", base: float = 10000.0) -> Array:
    """The angular frequencies ω_0 .. of a table of width d: one a sine, so ceil(d/2) of them.

    Shapes: -> [ceil(d/2)]. Domain: d >= 1, base > 0; for ``"endpoint"`` d even (with d = 2 the one frequency is 1).
    Raises: ValueError for d < 1, an unknown rule, odd d with ``"endpoint"``.
    Source: ``"paper"``: Vaswani et al. (2017), "Attention Is All You Need", section 3.5; ``"endpoint"``: the
    tensor2tensor implementation of the same paper.

    >>> frequencies(8).round(12)
    array([1.   , 0.1  , 0.01 , 0.001])
    >>> frequencies(8, rule="endpoint")[-1].round(12)
    np.float64(0.0001)
    """
    _width("frequencies", d)
    option("frequencies", "rule", rule, FREQUENCY_RULES)
    number("frequencies", "base", base, low=0.0, open_low=True)
    if rule == "paper":
        return base ** (-2.0 * np.arange((d + 1) // 2) / d)
    _even("frequencies", d, "the endpoint rule divides by d/2 - 1")
    return base ** (-np.arange(d // 2) / max(d // 2 - 1, 1))


def positional_encoding(
    positions: ArrayLike, d: int, *, layout: str = "interleaved", rule: str = "paper", base: float = 10000.0
) -> Array:
    """sin(pos ω_i) and cos(pos ω_i) for every position: columns 2i and 2i + 1, or the two halves.

    Shapes: positions [...] (any finite reals, usually 0 .. n−1) -> [..., d]. Domain and errors as :func:`frequencies`.
    Source: Vaswani et al. (2017), section 3.5.

    >>> positional_encoding([0, 1], 3).round(4)
    array([[0.    , 1.    , 0.    ],
           [0.8415, 0.5403, 0.0022]])
    >>> positional_encoding([0], 4, layout="halves")
    array([[0., 0., 1., 1.]])
    """
    option("positional_encoding", "layout", layout, LAYOUTS)
    place = real_array("positional_encoding", "positions", positions, analytic=True, finite=True)
    angles = place[..., np.newaxis] * frequencies(d, rule=rule, base=base)
    sines, cosines = np.sin(angles), np.cos(angles[..., : d // 2])
    if layout == "halves":
        return np.concatenate([sines, cosines], axis=-1)
    table = np.empty((*place.shape, d), dtype=angles.dtype)
    table[..., 0::2] = sines
    table[..., 1::2] = cosines
    return table


def add_positional_encoding(
    x: ArrayLike, *, layout: str = "interleaved", rule: str = "paper", base: float = 10000.0
) -> Array:
    """Embeddings plus the table of their positions 0 .. n−1; the shape stays. The derivative by x is the identity.

    Shapes: x [..., n, d] -> the same. Raises: ValueError for fewer than two axes, NaN, and as :func:`frequencies`.
    Source: Vaswani et al. (2017), section 3.5.

    >>> add_positional_encoding(np.zeros((2, 1, 4)))[1]
    array([[0., 1., 0., 1.]])
    """
    array = real_array("add_positional_encoding", "x", x, analytic=True, finite=True)
    if array.ndim < 2:
        raise ValueError(f"add_positional_encoding: x has shape {array.shape}; need [..., n, d]")
    n, d = array.shape[-2:]
    return array + positional_encoding(np.arange(n), d, layout=layout, rule=rule, base=base)


def layout_permutation(d: int) -> Array:
    """The column order that takes the interleaved table to halves: ``halves = interleaved[...,
    layout_permutation(d)]``.

    Shapes: -> [d] of integers. Domain: d >= 1, odd too.

    >>> layout_permutation(5)
    array([0, 2, 4, 1, 3])
    """
    _width("layout_permutation", d)
    return np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])


def shift_matrix(k: float, d: int, *, layout: str = "interleaved", rule: str = "paper", base: float = 10000.0) -> Array:
    """The rotation M_k with PE(pos + k) = M_k PE(pos) for every pos, PE as a column.

    Block i is [[cos kω_i, sin kω_i], [−sin kω_i, cos kω_i]] for the pair (sin, cos). For PE as a row, for the pair
    (cos, sin), and for a shift by −k it is the transpose.

    Shapes: -> [d, d]. Domain: d even, any real k. Raises: ValueError for odd d, whose last sine has no cosine beside
    it.
    Source: Vaswani et al. (2017), section 3.5 (the claim); angle addition.

    >>> shift_matrix(0, 4).tolist() == np.eye(4).tolist()
    True
    >>> bool(np.allclose(shift_matrix(2, 4) @ positional_encoding(3, 4), positional_encoding(5, 4)))
    True
    """
    option("shift_matrix", "layout", layout, LAYOUTS)
    _even("shift_matrix", d, "the last sine has no cosine of its frequency beside it, so no matrix shifts it")
    angles = number("shift_matrix", "k", k) * frequencies(d, rule=rule, base=base)
    pairs = np.arange(d // 2)
    sine, cosine = (2 * pairs, 2 * pairs + 1) if layout == "interleaved" else (pairs, d // 2 + pairs)
    matrix = np.zeros((d, d))
    matrix[sine, sine] = matrix[cosine, cosine] = np.cos(angles)
    matrix[sine, cosine] = np.sin(angles)
    matrix[cosine, sine] = -np.sin(angles)
    return matrix


def positional_inner_product(offset: ArrayLike, d: int, *, rule: str = "paper", base: float = 10000.0) -> Array:
    """⟨PE(p), PE(q)⟩ = Σ_i cos(ω_i (p − q)) as a function of the offset p − q alone; d/2 at offset 0.

    Shapes: offset [...] -> [...]. Domain: d even. Raises: ValueError for odd d, where the product depends on p and q.

    >>> float(positional_inner_product(0, 6))
    3.0
    """
    _even("positional_inner_product", d, "the last sine adds sin(pω)·sin(qω), which depends on more than p - q")
    distance = real_array("positional_inner_product", "offset", offset, analytic=True, finite=True)
    return np.sum(np.cos(distance[..., np.newaxis] * frequencies(d, rule=rule, base=base)), axis=-1)


def _width(function: str, d: int) -> None:
    if d < 1:
        raise ValueError(f"{function}: need a width d >= 1, got {d}")


def _even(function: str, d: int, why: str) -> None:
    _width(function, d)
    if d % 2:
        raise ValueError(f"{function}: need an even width, got d = {d}: {why}")
