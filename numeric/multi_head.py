"""Multi-head attention with all projections, forward and backward: self- and cross-attention, grouped queries (GQA,
MQA).

Attention of given q, k, v is in ``attention.py``. Weights act from the right, x W + b. Heads are the slow part of the
projected axis: column a of head h is h·d_k + a, so splitting is a reshape *then* a transpose, and merging is a
transpose *then* a reshape; the plain reshape has the right shape and the wrong values. With G key/value heads for H
query heads, query head h uses key/value head h // (H/G).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .arguments import Array, ArrayLike, real_array, same_shape
from .attention import scaled_dot_product_attention, scaled_dot_product_attention_vjp
from .layers import linear, linear_vjp


@dataclass(frozen=True)
class MultiHeadParameters:
    """The four projections. With H query heads and G key/value heads of widths d_k and d_v:

    ``w_q`` [d, H·d_k], ``w_k`` [d_kv, G·d_k], ``w_v`` [d_kv, G·d_v], ``w_o`` [H·d_v, d_out]; each bias as wide as its
    weight's output. A gradient is an object of this class too.
    """

    w_q: Array
    b_q: Array
    w_k: Array
    b_k: Array
    w_v: Array
    b_v: Array
    w_o: Array
    b_o: Array


class MultiHeadGradient(NamedTuple):
    """Cotangents of the queries' source, of the keys' and values' source, and of the parameters.

    For self-attention, where the two sources are one array, its cotangent is ``x + context``.
    """

    x: Array
    context: Array
    parameters: MultiHeadParameters


def split_heads(x: ArrayLike, heads: int) -> Array:
    """[..., n, h·d] -> [..., h, n, d], with out[h, t, a] = x[t, h·d + a].

    Raises: ValueError naming both numbers when ``heads`` does not divide the last axis.
    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.

    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2).astype(int).tolist()
    [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    """
    array = real_array("split_heads", "x", x, analytic=True)
    if array.ndim < 2:
        raise ValueError(f"split_heads: x has shape {array.shape}; need [..., n, d_model]")
    width = array.shape[-1]
    if heads < 1 or width % heads:
        raise ValueError(f"split_heads: {heads} heads do not divide the width {width} of x with shape {array.shape}")
    return np.swapaxes(array.reshape(*array.shape[:-1], heads, width // heads), -2, -3)


def merge_heads(x: ArrayLike) -> Array:
    """[..., h, n, d] -> [..., n, h·d], the inverse of :func:`split_heads`.

    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]).astype(int).tolist()
    [[1, 2, 3, 4], [5, 6, 7, 8]]
    """
    array = real_array("merge_heads", "x", x, analytic=True)
    if array.ndim < 3:
        raise ValueError(f"merge_heads: x has shape {array.shape}; need [..., h, n, d]")
    together = np.swapaxes(array, -2, -3)
    return together.reshape(*together.shape[:-2], together.shape[-2] * together.shape[-1])


def repeat_kv_heads(x: ArrayLike, heads: int) -> Array:
    """[..., G, m, d] -> [..., H, m, d] with each key/value head repeated H/G times in a row (not tiled).

    Raises: ValueError naming both numbers when G does not divide H. Source: Ainslie et al. (2023), "GQA", section 2.2.

    >>> repeat_kv_heads([[[1.0]], [[2.0]]], 4).ravel()
    array([1., 1., 2., 2.])
    """
    array = real_array("repeat_kv_heads", "x", x, analytic=True)
    groups = array.shape[-3] if array.ndim >= 3 else 0
    if groups < 1 or heads % groups:
        raise ValueError(f"repeat_kv_heads: {groups} key/value heads do not divide {heads} query heads")
    return np.repeat(array, heads // groups, axis=-3)


def sum_kv_heads(cotangent: ArrayLike, groups: int) -> Array:
    """The transpose of :func:`repeat_kv_heads`: [..., H, m, d] -> [..., G, m, d], summed over the query heads of a
    group.

    >>> sum_kv_heads([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], 2).ravel()
    array([3., 7.])
    """
    g = real_array("sum_kv_heads", "cotangent", cotangent, analytic=True)
    heads = g.shape[-3] if g.ndim >= 3 else 0
    if groups < 1 or heads < 1 or heads % groups:
        raise ValueError(f"sum_kv_heads: {groups} key/value heads do not divide {heads} query heads")
    return np.sum(g.reshape(*g.shape[:-3], groups, heads // groups, *g.shape[-2:]), axis=-3)


def multi_head_attention(
    x: ArrayLike,
    context: ArrayLike,
    parameters: MultiHeadParameters,
    heads: int,
    *,
    kv_heads: int | None = None,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    masked_rows: str = "error",
) -> Array:
    """Project, split, attend, merge, project: merge(attention(split(x W_Q), split(c W_K), split(c W_V))) W_O.

    ``context`` is x itself for self-attention. ``kv_heads`` G < H is grouped-query, G = 1 multi-query attention.

    Shapes: x [..., n, d], context [..., m, d_kv] -> [..., n, d_out]; mask and bias as in ``attention.py`` against
    scores [..., H, n, m]. Raises: ValueError naming the sizes that do not agree, heads that do not divide, a fully
    masked row.
    Source: Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023).

    >>> one, zero = np.eye(2), np.zeros(2)
    >>> identity = MultiHeadParameters(one, zero, one, zero, one, zero, one, zero)
    >>> multi_head_attention([[0.0, 0.0]], [[1.0, 2.0], [3.0, 6.0]], identity, 2)
    array([[2., 4.]])
    """
    q, k, v = _project("multi_head_attention", x, context, parameters, heads, kv_heads)
    attended = scaled_dot_product_attention(
        q, repeat_kv_heads(k, heads), repeat_kv_heads(v, heads), mask=mask, bias=bias, masked_rows=masked_rows
    )
    return linear(merge_heads(attended), parameters.w_o, parameters.b_o)


def multi_head_attention_vjp(
    x: ArrayLike,
    context: ArrayLike,
    parameters: MultiHeadParameters,
    cotangent: ArrayLike,
    heads: int,
    *,
    kv_heads: int | None = None,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    masked_rows: str = "error",
) -> MultiHeadGradient:
    """Backwards through each step: output projection, merge, attention, the groups, split, the three projections.

    Shapes: as the forward; cotangent [..., n, d_out]. Domain and errors as there.
    Source: chain rule through the steps of :func:`multi_head_attention`.

    >>> one, zero = np.eye(2), np.zeros(2)
    >>> identity = MultiHeadParameters(one, zero, one, zero, one, zero, one, zero)
    >>> multi_head_attention_vjp([[0.0, 0.0]], [[1.0, 2.0], [3.0, 6.0]], identity, [[1.0, 1.0]], 2).context
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    name = "multi_head_attention_vjp"
    q, k, v = _project(name, x, context, parameters, heads, kv_heads)
    many_k, many_v = repeat_kv_heads(k, heads), repeat_kv_heads(v, heads)
    attended = scaled_dot_product_attention(q, many_k, many_v, mask=mask, bias=bias, masked_rows=masked_rows)
    merged = merge_heads(attended)
    g = real_array(name, "cotangent", cotangent, analytic=True, finite=True)
    same_shape(name, "the output", linear(merged, parameters.w_o), "cotangent", g)

    output = linear_vjp(merged, parameters.w_o, g)
    inner = scaled_dot_product_attention_vjp(
        q, many_k, many_v, split_heads(output.x, heads), mask=mask, bias=bias, masked_rows=masked_rows
    )
    groups = k.shape[-3]
    query = linear_vjp(x, parameters.w_q, merge_heads(inner.q))
    key = linear_vjp(context, parameters.w_k, merge_heads(sum_kv_heads(inner.k, groups)))
    value = linear_vjp(context, parameters.w_v, merge_heads(sum_kv_heads(inner.v, groups)))
    return MultiHeadGradient(
        x=query.x,
        context=key.x + value.x,
        parameters=MultiHeadParameters(
            w_q=query.weight,
            b_q=query.bias,
            w_k=key.weight,
            b_k=key.bias,
            w_v=value.weight,
            b_v=value.bias,
            w_o=output.weight,
            b_o=output.bias,
        ),
    )


def _project(
    function: str, x: ArrayLike, context: ArrayLike, parameters: MultiHeadParameters, heads: int, kv_heads: int | None
) -> tuple[Array, Array, Array]:
    groups = heads if kv_heads is None else kv_heads
    if heads < 1 or groups < 1 or heads % groups:
        raise ValueError(f"{function}: {groups} key/value heads do not divide {heads} query heads")
    q = split_heads(linear(x, parameters.w_q, parameters.b_q), heads)
    k = split_heads(linear(context, parameters.w_k, parameters.b_k), groups)
    v = split_heads(linear(context, parameters.w_v, parameters.b_v), groups)
    if q.shape[:-3] != k.shape[:-3] or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"{function}: queries split to {q.shape} and keys to {k.shape} ([..., heads, tokens, d_k]); the leading "
            "axes and d_k must be equal"
        )
    return q, k, v
