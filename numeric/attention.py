"""Scaled dot-product attention for one head (or a batch of heads), forward and backward, and its merge from blocks.

Projections, splitting and merging of heads are in ``multi_head.py``; here q, k, v are given.

Conventions. A *mask* has True (1) where a query may attend to a key; it has the shape (n, m) or as many axes as the
scores, each equal to theirs or 1, so that a mask (B, m) meant as (B, 1, 1, m) is an error and not a matter of luck. A
*bias* (additive mask) follows the same rule and may hold −inf. ``causal_mask`` says where the diagonal lies when n !=
m. A query that may attend to nothing has no softmax: ``masked_rows`` is ``"error"``, or ``"zero"`` (weights and
output 0, gradient 0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import Array, ArrayLike, number, option, real_array, same_shape
from .softmax import softmax

ALIGNMENTS = ("start", "end")
ATTENTION_MASKED_ROWS = ("error", "zero")


class AttentionGradient(NamedTuple):
    """Cotangents of the inputs of attention; ``bias`` is None when none was given."""

    q: Array
    k: Array
    v: Array
    bias: Array | None


class AttentionBlock(NamedTuple):
    """Attention over a part of the keys: its output, and per query the largest score and Σ exp(score − largest)."""

    output: Array
    largest: Array
    total: Array


def causal_mask(n: int, m: int, *, align: str = "start") -> Array:
    """True where query i may see key j: j <= i for ``"start"``, j <= i + (m − n) for ``"end"``.

    ``"end"`` is decoding with a cache: the last query sees every key. The two agree for n = m.

    Shapes: -> [n, m] of booleans. Domain: n, m >= 1. Raises: ValueError for an unknown alignment or an empty size.

    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    >>> causal_mask(2, 3, align="end").astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    option("causal_mask", "align", align, ALIGNMENTS)
    if n < 1 or m < 1:
        raise ValueError(f"causal_mask: need n, m >= 1, got n = {n}, m = {m}")
    return np.arange(m) <= np.arange(n)[:, np.newaxis] + (m - n if align == "end" else 0)


def attention_weights(
    q: ArrayLike,
    k: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    masked_rows: str = "error",
) -> Array:
    """P = softmax(s q kᵀ + bias) over the keys, s = 1/√d_k unless ``scale`` is given; 0 where masked.

    Shapes: q [..., n, d_k], k [..., m, d_k] -> [..., n, m]. Domain: finite; bias in [−inf, inf).
    Raises: ValueError for shapes that do not agree (all are named), a mask of another shape, NaN, a fully masked row.
    Source: Vaswani et al. (2017), "Attention Is All You Need", eq. (1).

    >>> attention_weights([[0.0]], [[1.0], [2.0]], mask=[[True, False]])
    array([[1., 0.]])
    """
    query, key = _queries_and_keys("attention_weights", q, k)
    return _weights("attention_weights", query, key, mask, bias, scale, masked_rows)


def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    masked_rows: str = "error",
) -> Array:
    """O = softmax(s q kᵀ + bias) v.

    Shapes: q [..., n, d_k], k [..., m, d_k], v [..., m, d_v] -> [..., n, d_v]; leading axes equal.
    Domain, errors, source as :func:`attention_weights`.

    >>> scaled_dot_product_attention([[0.0]], [[1.0], [2.0]], [[4.0], [8.0]])
    array([[6.]])
    """
    name = "scaled_dot_product_attention"
    query, key, value = _inputs(name, q, k, v)
    return _weights(name, query, key, mask, bias, scale, masked_rows) @ value


def scaled_dot_product_attention_vjp(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    cotangent: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    masked_rows: str = "error",
) -> AttentionGradient:
    """dV = Pᵀ dO, dP = dO Vᵀ, dS = P ⊙ (dP − rowsum(P ⊙ dP)), dQ = s dS K, dK = s dSᵀ Q, dbias = dS.

    ``bias`` that was broadcast gets its cotangent summed back to its own shape.

    Shapes: as the forward; cotangent [..., n, d_v]. Domain and errors as there.
    Source: Dao et al. (2022), "FlashAttention", appendix B.

    >>> gradient = scaled_dot_product_attention_vjp([[0.0]], [[1.0], [2.0]], [[4.0], [8.0]], [[1.0]])
    >>> gradient.q, gradient.v.T
    (array([[1.]]), array([[0.5, 0.5]]))
    """
    name = "scaled_dot_product_attention_vjp"
    query, key, value = _inputs(name, q, k, v)
    p = _weights(name, query, key, mask, bias, scale, masked_rows)
    g = real_array(name, "cotangent", cotangent, analytic=True, finite=True)
    same_shape(name, "the output", p @ value, "cotangent", g)
    s = _scale(name, query, scale)
    d_p = g @ np.swapaxes(value, -1, -2)
    d_s = p * (d_p - np.sum(p * d_p, axis=-1, keepdims=True))
    return AttentionGradient(
        q=s * d_s @ key,
        k=s * np.swapaxes(d_s, -1, -2) @ query,
        v=np.swapaxes(p, -1, -2) @ g,
        bias=None if bias is None else sum_to_shape(d_s, np.shape(bias)),
    )


def attention_block(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
) -> AttentionBlock:
    """Attention over these keys only, with what is needed to merge it with attention over others.

    A query that sees no key in this block has output 0, largest score −inf and total 0.

    Shapes: as :func:`scaled_dot_product_attention`; ``largest`` and ``total`` [..., n].
    Source: Milakov, Gimelshein (2018), "Online normalizer calculation for softmax", algorithm 3.

    >>> attention_block([[0.0]], [[1.0], [2.0]], [[4.0], [8.0]]).total
    array([2.])
    """
    query, key, value = _inputs("attention_block", q, k, v)
    scores = _scores("attention_block", query, key, mask, bias, scale)
    largest = np.max(scores.real, axis=-1)
    shift = np.where(np.isneginf(largest), 0.0, largest)[..., np.newaxis]
    powers = np.exp(scores - shift)
    total = np.sum(powers, axis=-1)
    output = powers @ value / np.where(total == 0, 1.0, total)[..., np.newaxis]
    return AttentionBlock(output, largest, total)


def merge_attention_blocks(first: AttentionBlock, second: AttentionBlock) -> AttentionBlock:
    """Two blocks over different keys, same queries -> the block over all of them.

    With m = max(m₁, m₂) and weights w_i = l_i exp(m_i − m): total = w₁ + w₂ and output (w₁ O₁ + w₂ O₂)/total.

    Shapes: equal in both. Raises: ValueError for unequal shapes. Source: Dao et al. (2022), algorithm 1, lines 11 and
    12.

    >>> q, k, v = [[0.0]], [[1.0], [2.0]], [[4.0], [8.0]]
    >>> merge_attention_blocks(attention_block(q, k[:1], v[:1]), attention_block(q, k[1:], v[1:])).output
    array([[6.]])
    """
    same_shape("merge_attention_blocks", "the first output", first.output, "the second output", second.output)
    largest = np.maximum(first.largest, second.largest)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    w1, w2 = first.total * np.exp(first.largest - shift), second.total * np.exp(second.largest - shift)
    total = w1 + w2
    mixed = w1[..., np.newaxis] * first.output + w2[..., np.newaxis] * second.output
    return AttentionBlock(mixed / np.where(total == 0, 1.0, total)[..., np.newaxis], largest, total)


def sum_to_shape(gradient: Array, shape: tuple[int, ...]) -> Array:
    """The transpose of broadcasting: sum over the axes that ``shape`` lacks or has with size 1.

    >>> sum_to_shape(np.ones((2, 3, 4)), (3, 1)).tolist()
    [[8.0], [8.0], [8.0]]
    """
    extra = gradient.ndim - len(shape)
    kept = np.sum(gradient, axis=tuple(range(extra)))
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1 and kept.shape[axis] != 1)
    return np.sum(kept, axis=ones, keepdims=True)


def _queries_and_keys(function: str, q: ArrayLike, k: ArrayLike) -> tuple[Array, Array]:
    query = real_array(function, "q", q, analytic=True, finite=True)
    key = real_array(function, "k", k, analytic=True, finite=True)
    if query.ndim < 2 or key.ndim < 2 or query.shape[:-2] != key.shape[:-2] or query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"{function}: q has shape {query.shape} and k has shape {key.shape}; need [..., n, d_k] and [..., m, d_k] "
            "with equal leading axes and equal d_k"
        )
    if 0 in query.shape[-1:] + key.shape[-2:]:
        raise ValueError(f"{function}: q of shape {query.shape} and k of shape {key.shape} leave an empty axis")
    return query, key


def _inputs(function: str, q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
    query, key = _queries_and_keys(function, q, k)
    value = real_array(function, "v", v, analytic=True, finite=True)
    if value.ndim < 2 or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            f"{function}: v has shape {value.shape} but k has shape {key.shape}; need the same leading axes and number "
            "of keys"
        )
    return query, key, value


def _scale(function: str, query: Array, scale: float | None) -> float:
    return 1.0 / float(np.sqrt(query.shape[-1])) if scale is None else number(function, "scale", scale)


def _scores(
    function: str, query: Array, key: Array, mask: ArrayLike | None, bias: ArrayLike | None, scale: float | None
) -> Array:
    scores = _scale(function, query, scale) * (query @ np.swapaxes(key, -1, -2))
    if bias is not None:
        added = real_array(function, "bias", bias, analytic=True, upper=False)
        _fits(function, "bias", added.shape, scores.shape)
        scores = scores + added
    if mask is not None:
        allowed = real_array(function, "mask", mask)
        _fits(function, "mask", allowed.shape, scores.shape)
        if not np.all((allowed == 0) | (allowed == 1)):
            raise ValueError(
                f"{function}: the mask of shape {allowed.shape} must be boolean or 0/1; pass numbers as bias"
            )
        scores = np.where(allowed == 1, scores, -np.inf)
    return scores


def _weights(
    function: str,
    query: Array,
    key: Array,
    mask: ArrayLike | None,
    bias: ArrayLike | None,
    scale: float | None,
    masked_rows: str,
) -> Array:
    option(function, "masked_rows", masked_rows, ATTENTION_MASKED_ROWS)
    return softmax(_scores(function, query, key, mask, bias, scale), masked_rows=masked_rows)


def _fits(function: str, name: str, shape: tuple[int, ...], scores: tuple[int, ...]) -> None:
    same_axes = len(shape) == len(scores) and all(a in (1, b) for a, b in zip(shape, scores, strict=True))
    if shape != scores[-2:] and not same_axes:
        raise ValueError(
            f"{function}: the {name} has shape {shape}, but the scores have shape {scores}; need {scores[-2:]}, or "
            f"{len(scores)} axes each equal to theirs or 1"
        )
