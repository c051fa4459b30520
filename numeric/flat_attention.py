"""Attention with arrays in and arrays (or a dictionary of gradients by name) out, around the functions of ``attention``
and ``multi_head``.

There the parameters are one object and the heads lie side by side in d_model-wide matrices; here each parameter is an
argument, and heads are an axis of their own: W_Q [d, h, d_k], b_Q [h, d_k], W_O [h, d_v, d_out]. Entry [c, a, b] of
such a weight is entry [c, a·d_k + b] of the wide matrix. Grouped queries have two axes of heads, q [..., g, r, n, d_k]:
query head a·r + s uses key/value head a.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike
from .attention import (
    AttentionGradient,
    attention_block,
    causal_mask,
    merge_attention_blocks,
    scaled_dot_product_attention,
    scaled_dot_product_attention_vjp,
)
from .multi_head import (
    MultiHeadParameters,
    merge_heads,
    multi_head_attention,
    multi_head_attention_vjp,
    repeat_kv_heads,
    split_heads,
    sum_kv_heads,
)

NAMES = ("W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O")


def causal_attention(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> Array:
    """Attention where query i sees the keys j <= i.

    Shapes: q [n, d_k], k [m, d_k], v [m, d_v] -> [n, d_v]. Domain and errors: as ``scaled_dot_product_attention``.

    >>> causal_attention([[0.0], [0.0]], [[1.0], [2.0]], [[4.0], [8.0]]).ravel()
    array([4., 6.])
    """
    return scaled_dot_product_attention(q, k, v, mask=causal_mask(len(np.asarray(q)), len(np.asarray(k))))


def causal_attention_vjp(q: ArrayLike, k: ArrayLike, v: ArrayLike, cotangent: ArrayLike) -> AttentionGradient:
    """The cotangents of q, k, v in :func:`causal_attention`.

    >>> causal_attention_vjp([[0.0], [0.0]], [[1.0], [2.0]], [[4.0], [8.0]], [[1.0], [1.0]]).v.ravel()
    array([1.5, 0.5])
    """
    mask = causal_mask(len(np.asarray(q)), len(np.asarray(k)))
    return scaled_dot_product_attention_vjp(q, k, v, cotangent, mask=mask)


def merged_attention(s1: ArrayLike, s2: ArrayLike, v1: ArrayLike, v2: ArrayLike) -> Array:
    """Attention over two blocks of keys with given scores, each block on its own and then merged.

    Shapes: s1 [n, m1], s2 [n, m2], v1 [m1, d_v], v2 [m2, d_v] -> [n, d_v].

    >>> merged_attention([[0.0]], [[0.0, 0.0]], [[3.0]], [[6.0], [9.0]])
    array([[6.]])
    """
    blocks = [attention_block(s, np.eye(len(np.asarray(v))), v, scale=1.0) for s, v in ((s1, v1), (s2, v2))]
    return merge_attention_blocks(*blocks).output


def probability_sums(p: ArrayLike, v: ArrayLike, cotangent: ArrayLike) -> Array:
    """Row sums of P ⊙ dP with dP = dO Vᵀ, the D of FlashAttention's backward pass.

    Shapes: p [n, m], v [m, d_v], cotangent of the output [n, d_v] -> [n]. Source: Dao et al. (2022), appendix B.

    >>> probability_sums([[1.0, 0.0]], [[2.0], [3.0]], [[5.0]])
    array([10.])
    """
    d_p = np.asarray(cotangent) @ np.swapaxes(np.asarray(v), -1, -2)
    return np.sum(np.asarray(p) * d_p, axis=-1)


def merged_total(s1: ArrayLike, s2: ArrayLike) -> Array:
    """Each row's sum of exponentials below the largest score of two blocks, the blocks put side by side.

    Shapes: s1 [n, m1], s2 [n, m2] -> [n].

    >>> merged_total([[0.0]], [[0.0, 0.0]])
    array([3.])
    """
    scores = np.concatenate([np.asarray(s1), np.asarray(s2)], axis=-1)
    return np.sum(np.exp(scores - np.max(scores, axis=-1, keepdims=True)), axis=-1)


def merged_again(x: ArrayLike) -> Array:
    """x split into heads and merged, once for every number of heads that divides its width.

    Shapes: [..., n, width] -> the same.

    >>> merged_again([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    array = np.asarray(x, dtype=float)
    width = array.shape[-1]
    for heads in range(1, width + 1):
        if width % heads == 0:
            array = merge_heads(split_heads(array, heads))
    return array


def split_again(x: ArrayLike) -> Array:
    """Heads merged and split. Shapes: [..., h, n, d] -> the same.

    >>> split_again([[[1.0, 2.0]], [[3.0, 4.0]]]).tolist()
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    """
    return split_heads(merge_heads(x), np.shape(x)[-3])


def projected_heads(x: ArrayLike, weight: ArrayLike) -> Array:
    """x times the wide matrix, then split. Shapes: x [..., n, d], weight [d, h, d_k] -> [..., h, n, d_k].

    >>> projected_heads([[1.0]], [[[2.0], [3.0]]]).ravel()
    array([2., 3.])
    """
    wide = np.reshape(weight, (np.shape(weight)[0], -1))
    return split_heads(np.asarray(x) @ wide, np.shape(weight)[1])


def projected_merge(heads: ArrayLike, weight: ArrayLike) -> Array:
    """Heads merged, then projected. Shapes: heads [..., h, n, d_v], weight [h·d_v, d] -> [..., n, d].

    >>> projected_merge([[[1.0]], [[10.0]]], [[2.0], [3.0]])
    array([[32.]])
    """
    return merge_heads(heads) @ np.asarray(weight)


def grouped_scores(q: ArrayLike, k: ArrayLike) -> Array:
    """Products of queries with keys whose heads are repeated, by group.

    Shapes: q [g·r, n, d_k], k [g, m, d_k] -> [g, r, n, m].

    >>> grouped_scores([[[1.0]], [[2.0]]], [[[3.0]]]).ravel()
    array([3., 6.])
    """
    heads, groups = np.shape(q)[0], np.shape(k)[0]
    scores = np.asarray(q) @ np.swapaxes(repeat_kv_heads(k, heads), -1, -2)
    return scores.reshape(groups, heads // groups, *scores.shape[1:])


def cross_attention(x: ArrayLike, context: ArrayLike, *parameters: ArrayLike) -> Array:
    """Multi-head attention of x to a context; the parameters in the order of ``NAMES``.

    Shapes: x [..., n, d], context [..., m, c], W_Q [d, h, d_k], b_Q [h, d_k], W_K [c, h, d_k], b_K [h, d_k],
    W_V [c, h, d_v], b_V [h, d_v], W_O [h, d_v, d_out], b_O [d_out] -> [..., n, d_out].

    >>> one, zero = np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> cross_attention([[0.0]], [[1.0], [3.0]], one, zero, one, zero, one, zero, one, [5.0])
    array([[7.]])
    """
    given = [np.asarray(p, dtype=float) for p in parameters]
    return multi_head_attention(x, context, _wide(given), len(given[1]))


def cross_attention_vjp(x: ArrayLike, context: ArrayLike, *rest: ArrayLike) -> dict[str, Array]:
    """The gradients in :func:`cross_attention`: ``X``, ``C`` and the parameters; ``rest`` ends with the cotangent.

    >>> one, zero = np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> cross_attention_vjp([[0.0]], [[1.0], [3.0]], one, zero, one, zero, one, zero, one, [5.0], [[2.0]])["C"].ravel()
    array([1., 1.])
    """
    given = [np.asarray(p, dtype=float) for p in rest[:-1]]
    found = multi_head_attention_vjp(x, context, _wide(given), rest[-1], len(given[1]))
    p = found.parameters
    wide = (p.w_q, p.b_q, p.w_k, p.b_k, p.w_v, p.b_v, p.w_o, p.b_o)
    gradients = {name: g.reshape(own.shape) for name, g, own in zip(NAMES, wide, given, strict=True)}
    return {"X": found.x, "C": found.context, **gradients}


def self_attention(x: ArrayLike, *parameters: ArrayLike) -> Array:
    """:func:`cross_attention` of x to itself.

    >>> one, zero = np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> self_attention([[1.0], [1.0]], one, zero, one, zero, one, zero, one, [5.0]).ravel()
    array([6., 6.])
    """
    return cross_attention(x, x, *parameters)


def self_attention_without_biases(
    x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike, w_o: ArrayLike
) -> Array:
    """:func:`self_attention` with biases of 0. Shapes: x [..., n, d], w_q [d, h, d_k], ..., w_o [h, d_v, d].

    >>> one = np.ones((1, 1, 1))
    >>> self_attention_without_biases([[1.0], [1.0]], one, one, one, one).ravel()
    array([1., 1.])
    """
    b_q, b_k, b_v, b_o = [np.zeros(np.shape(w)[1:]) for w in (w_q, w_k, w_v, np.asarray(w_o)[0])]
    return self_attention(x, w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o)


def self_attention_vjp(x: ArrayLike, *rest: ArrayLike) -> dict[str, Array]:
    """The gradients in :func:`self_attention`; that of x is the sum of those of its two roles.

    >>> one, zero = np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> self_attention_vjp([[1.0], [1.0]], one, zero, one, zero, one, zero, one, [5.0], [[2.0], [2.0]])["b_O"]
    array([4.])
    """
    found = cross_attention_vjp(x, x, *rest)
    return {**found, "X": found["X"] + found.pop("C")}


def grouped_query_attention(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> Array:
    """Attention where each of g key/value heads serves r query heads.

    Shapes: q [..., g, r, n, d_k], k [..., g, m, d_k], v [..., g, m, d_v] -> [..., g, r, n, d_v].

    >>> grouped_query_attention([[[[0.0]], [[0.0]]]], [[[1.0], [2.0]]], [[[4.0], [8.0]]]).ravel()
    array([6., 6.])
    """
    query = np.asarray(q, dtype=float)
    many_k, many_v = _repeated(query, k, v)
    output = scaled_dot_product_attention(_one_axis(query), many_k, many_v)
    return output.reshape(*query.shape[:-1], output.shape[-1])


def grouped_query_attention_vjp(q: ArrayLike, k: ArrayLike, v: ArrayLike, cotangent: ArrayLike) -> dict[str, Array]:
    """The gradients ``Q``, ``K``, ``V`` in :func:`grouped_query_attention`; a key head's are summed over its queries.

    >>> one = [[[1.0], [2.0]]]
    >>> grouped_query_attention_vjp([[[[0.0]], [[0.0]]]], one, one, [[[[1.0]], [[3.0]]]])["V"].ravel()
    array([2., 2.])
    """
    query = np.asarray(q, dtype=float)
    many_k, many_v = _repeated(query, k, v)
    g = _one_axis(np.asarray(cotangent, dtype=float))
    found = scaled_dot_product_attention_vjp(_one_axis(query), many_k, many_v, g)
    groups = query.shape[-4]
    return {"Q": found.q.reshape(query.shape), "K": sum_kv_heads(found.k, groups), "V": sum_kv_heads(found.v, groups)}


def _one_axis(x: Array) -> Array:
    """The two axes of heads as one, [..., g, r, n, d] -> [..., g·r, n, d]."""
    return x.reshape(*x.shape[:-4], x.shape[-4] * x.shape[-3], *x.shape[-2:])


def _repeated(query: Array, k: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    heads = query.shape[-4] * query.shape[-3]
    return repeat_kv_heads(k, heads), repeat_kv_heads(v, heads)


def _wide(parameters: list[Array]) -> MultiHeadParameters:
    """Axes of heads merged: those of the columns in W_Q, W_K, W_V and the biases, those of the rows in W_O."""
    *projections, w_o, b_o = parameters
    w_q, b_q, w_k, b_k, w_v, b_v = (
        p.reshape(p.shape[0], -1) if n % 2 == 0 else p.reshape(-1) for n, p in enumerate(projections)
    )
    return MultiHeadParameters(w_q, b_q, w_k, b_k, w_v, b_v, w_o.reshape(-1, w_o.shape[-1]), b_o)
