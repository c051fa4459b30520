"""Layers with plain arrays in and out, where the call of the hand-written function is not flat already.

Only the call differs: values and gradients are those of ``layers``, ``normalization`` and ``transformer``. Gradients
come as a dictionary by the array's name in the theorem. Channels of GroupNorm come as groups × members of a
group, for one sample.
"""

from __future__ import annotations

import numpy as np

from .activations import tanh, tanh_derivative
from .arguments import Array, ArrayLike, real_array, same_shape
from .layers import embedding_vjp, linear, linear_vjp
from .normalization import group_norm as _group_norm
from .normalization import group_norm_vjp
from .targets import one_hot
from .transformer import FeedForwardParameters, feed_forward_vjp
from .transformer import feed_forward as _feed_forward

Gradients = dict[str, Array]


def embedding_gradient(table: ArrayLike, ids: ArrayLike, cotangent: ArrayLike) -> Array:
    """By the table: the scattered sum of :func:`layers.embedding_vjp`. Shapes: [V, d], [...], [..., d] -> [V, d].

    >>> embedding_gradient(np.zeros((3, 1)), [2, 0, 2], [[1.0], [10.0], [100.0]]).ravel()
    array([ 10.,   0., 101.])
    """
    return embedding_vjp(ids, cotangent, len(np.asarray(table)))


def gather(x: ArrayLike, ids: ArrayLike) -> Array:
    """x[n, ids[n]]. Shapes: x [N, K], ids [N] of integers below K -> [N]. Raises: ValueError for other ids, naming K.

    >>> gather([[1.0, 2.0], [3.0, 4.0]], [1, 0])
    array([2., 3.])
    """
    array = real_array("gather", "x", x, analytic=True, finite=True)
    return np.sum(array * one_hot(ids, array.shape[1]), axis=1)


def gather_gradient(x: ArrayLike, ids: ArrayLike, cotangent: ArrayLike) -> Array:
    """By x: the cotangent put back at the places picked, 0 elsewhere. Shapes: as :func:`gather`, cotangent [N].

    >>> gather_gradient([[1.0, 2.0], [3.0, 4.0]], [1, 0], [5.0, 6.0])
    array([[0., 5.],
           [6., 0.]])
    """
    array = real_array("gather_gradient", "x", x)
    g = real_array("gather_gradient", "cotangent", cotangent, finite=True)
    gradient = np.zeros_like(array)
    np.put_along_axis(gradient, np.asarray(ids)[:, np.newaxis], g[:, np.newaxis], axis=1)
    return gradient


def residual(x: ArrayLike, weight: ArrayLike) -> Array:
    """x + tanh(x W). Shapes: x [..., d], weight [d, d] -> the shape of x.

    >>> residual([[1.0, 2.0]], np.zeros((2, 2)))
    array([[1., 2.]])
    """
    return np.asarray(x) + tanh(linear(x, weight))


def residual_gradients(x: ArrayLike, weight: ArrayLike, cotangent: ArrayLike) -> Gradients:
    """dx = g + the branch's part, dW of the branch alone. Shapes: as :func:`residual`.

    >>> residual_gradients([[1.0, 2.0]], np.zeros((2, 2)), [[3.0, 4.0]])["x"]
    array([[3., 4.]])
    """
    g = real_array("residual_gradients", "cotangent", cotangent, finite=True)
    branch = linear_vjp(x, weight, g * tanh_derivative(linear(x, weight)))
    return {"x": g + branch.x, "W": branch.weight}


def group_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, *, eps: float = 1e-5) -> Array:
    """:func:`normalization.group_norm` of one sample x [q, c, ...] with gamma, beta [q, c]: q groups of c channels.

    >>> group_norm([[1.0, 3.0], [5.0, 9.0]], np.ones((2, 2)), np.zeros((2, 2)), eps=0.0)
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    array, groups = _channels("group_norm", x)
    return _group_norm(array, np.ravel(gamma), np.ravel(beta), groups, eps=eps).reshape(np.shape(x))


def group_norm_gradients(x: ArrayLike, gamma: ArrayLike, cotangent: ArrayLike, *, eps: float = 1e-5) -> Gradients:
    """:func:`normalization.group_norm_vjp` in the shapes of :func:`group_norm`.

    >>> one = np.ones((2, 2))
    >>> group_norm_gradients([[1.0, 3.0], [5.0, 9.0]], one, one, eps=0.0)["gamma"]
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    array, groups = _channels("group_norm_gradients", x)
    g, _ = _channels("group_norm_gradients", cotangent)
    same_shape("group_norm_gradients", "x", array, "cotangent", g)
    found = group_norm_vjp(array, np.ravel(gamma), g, groups, eps=eps)
    return {
        "x": found.x.reshape(np.shape(x)),
        "gamma": found.gamma.reshape(np.shape(gamma)),
        "beta": found.beta.reshape(np.shape(gamma)),
    }


def feed_forward(x: ArrayLike, w_1: ArrayLike, b_1: ArrayLike, w_2: ArrayLike, b_2: ArrayLike) -> Array:
    """:func:`transformer.feed_forward` with the exact GELU.

    Shapes: x [..., d], w_1 [d, f], b_1 [f], w_2 [f, d], b_2 [d] -> the shape of x.

    >>> feed_forward([[0.0, 0.0]], np.eye(2), np.zeros(2), np.eye(2), [1.0, 2.0])
    array([[1., 2.]])
    """
    return _feed_forward(x, FeedForwardParameters(*map(np.asarray, (w_1, b_1, w_2, b_2))))


def feed_forward_gradients(
    x: ArrayLike, w_1: ArrayLike, b_1: ArrayLike, w_2: ArrayLike, b_2: ArrayLike, cotangent: ArrayLike
) -> Gradients:
    """:func:`transformer.feed_forward_vjp`, by name. Shapes: as :func:`feed_forward`, cotangent as x.

    >>> feed_forward_gradients([[0.0]], [[1.0]], [0.0], [[1.0]], [0.0], [[4.0]])["x"]
    array([[2.]])
    """
    found = feed_forward_vjp(x, FeedForwardParameters(*map(np.asarray, (w_1, b_1, w_2, b_2))), cotangent)
    p = found.parameters
    return {"x": found.x, "W_1": p.w_1, "b_1": p.b_1, "W_2": p.w_2, "b_2": p.b_2}


def _channels(function: str, x: ArrayLike) -> tuple[Array, int]:
    """[q, c, ...] as a batch of one, [1, q·c, ...], and q."""
    array = real_array(function, "x", x, analytic=True, finite=True)
    if array.ndim < 2:
        raise ValueError(f"{function}: x has shape {array.shape}; need [groups, channels of a group, ...]")
    groups, members, *places = array.shape
    return array.reshape(1, groups * members, *places), groups
