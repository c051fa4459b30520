"""Linear map, embedding, dropout with a given mask: forward and backward.

Weights act from the right, y = x W + b with W [inputs, outputs]; x may have any leading axes, and the gradients of W
and b sum over all of them. Normalisation layers are in ``normalization.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import Array, ArrayLike, number, real_array, require, same_shape


class LinearGradient(NamedTuple):
    """Cotangents of x, W and b."""

    x: Array
    weight: Array
    bias: Array


def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None) -> Array:
    """x W + b over the last axis.

    Shapes: x [..., i], weight [i, o], bias [o] -> [..., o]. Raises: ValueError naming the shapes that do not agree;
    NaN.

    >>> linear([[1.0, 2.0]], [[1.0], [10.0]], [100.0])
    array([[121.]])
    """
    array, matrix = _linear_inputs("linear", x, weight)
    if bias is None:
        return array @ matrix
    offset = real_array("linear", "bias", bias, analytic=True, finite=True)
    if offset.shape != matrix.shape[1:]:
        raise ValueError(
            f"linear: bias has shape {offset.shape} but weight has shape {matrix.shape}; need [i, o] and [o]"
        )
    return array @ matrix + offset


def linear_vjp(x: ArrayLike, weight: ArrayLike, cotangent: ArrayLike) -> LinearGradient:
    """dx = g Wᵀ, dW = xᵀ g, db = Σ g, the last two summed over every leading axis.

    Shapes: x [..., i], weight [i, o], cotangent [..., o]. Raises: as :func:`linear`.
    Source: Goodfellow, Bengio, Courville (2016), "Deep Learning", section 6.5.6.

    >>> linear_vjp([[1.0, 2.0]], [[1.0], [10.0]], [[3.0]]).weight
    array([[3.],
           [6.]])
    """
    array, matrix = _linear_inputs("linear_vjp", x, weight)
    g = real_array("linear_vjp", "cotangent", cotangent, analytic=True, finite=True)
    if g.shape != (*array.shape[:-1], matrix.shape[1]):
        raise ValueError(
            f"linear_vjp: cotangent has shape {g.shape}, but x of shape {array.shape} and weight {matrix.shape} "
            f"give an output of shape {(*array.shape[:-1], matrix.shape[1])}"
        )
    rows, flat = array.reshape(-1, array.shape[-1]), g.reshape(-1, g.shape[-1])
    return LinearGradient(x=g @ matrix.T, weight=rows.T @ flat, bias=np.sum(flat, axis=0))


def embedding(table: ArrayLike, ids: ArrayLike) -> Array:
    """The rows of ``table`` that ``ids`` name.

    Shapes: table [V, d], ids [...] of integers -> [..., d]. Domain: 0 <= id < V.
    Raises: TypeError for ids that are not integers, ValueError for an id out of range (negative too), naming V.

    >>> embedding([[1.0], [2.0], [3.0]], [2, 0, 2]).ravel()
    array([3., 1., 3.])
    """
    rows = real_array("embedding", "table", table, analytic=True, finite=True)
    if rows.ndim != 2:
        raise ValueError(f"embedding: table has shape {rows.shape}; need [V, d]")
    return rows[_ids("embedding", ids, rows.shape[0])]


def embedding_vjp(ids: ArrayLike, cotangent: ArrayLike, vocabulary: int) -> Array:
    """By the table: row v is the sum of the cotangents of every place that holds id v; repeated ids accumulate.

    Shapes: ids [...], cotangent [..., d] -> [V, d]. Domain and errors as :func:`embedding`.

    >>> embedding_vjp([2, 0, 2], [[1.0], [10.0], [100.0]], 3).ravel()
    array([ 10.,   0., 101.])
    """
    index = _ids("embedding_vjp", ids, vocabulary)
    g = real_array("embedding_vjp", "cotangent", cotangent, analytic=True, finite=True)
    if g.shape[:-1] != index.shape or g.ndim == 0:
        raise ValueError(
            f"embedding_vjp: ids have shape {index.shape} but cotangent has shape {g.shape}; need [..., d]"
        )
    gradient = np.zeros((vocabulary, g.shape[-1]), dtype=g.dtype)
    np.add.at(gradient, index, g)
    return gradient


def dropout(x: ArrayLike, keep: ArrayLike, rate: float) -> Array:
    """x ⊙ keep/(1 − rate) for a given 0/1 mask ``keep``. It is linear in x, so the VJP is ``dropout(cotangent, ...)``.

    Shapes: x, keep [...], equal -> the same. Domain: keep in {0, 1}, 0 <= rate < 1.
    Raises: ValueError for unequal shapes, other masks, a rate of 1 or more.
    Source: Srivastava et al. (2014), "Dropout", section 10 (scaling while training).

    >>> dropout([1.0, 2.0], [1, 0], 0.5)
    array([2., 0.])
    """
    array = real_array("dropout", "x", x, analytic=True, finite=True)
    mask = real_array("dropout", "keep", keep)
    same_shape("dropout", "x", array, "keep", mask)
    require("dropout", "keep", mask, (mask == 0) | (mask == 1), "keep in {0, 1}")
    share = number("dropout", "rate", rate, low=0.0)
    if share >= 1.0:
        raise ValueError(f"dropout: need rate < 1, got {share}")
    return array * mask / (1.0 - share)


def _linear_inputs(function: str, x: ArrayLike, weight: ArrayLike) -> tuple[Array, Array]:
    array = real_array(function, "x", x, analytic=True, finite=True)
    matrix = real_array(function, "weight", weight, analytic=True, finite=True)
    if matrix.ndim != 2 or array.ndim < 1 or array.shape[-1] != matrix.shape[0]:
        raise ValueError(
            f"{function}: x has shape {array.shape} but weight has shape {matrix.shape}; need [..., i] and [i, o]"
        )
    return array, matrix


def _ids(function: str, ids: ArrayLike, vocabulary: int) -> Array:
    index = np.asarray(ids)
    if index.dtype.kind not in "iu":
        raise TypeError(f"{function}: ids must be integers, got dtype {index.dtype} of shape {index.shape}")
    require(function, "ids", index, (index >= 0) & (index < vocabulary), f"0 <= id < V = {vocabulary}")
    return index
