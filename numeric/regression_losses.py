"""Mean squared error and Huber loss, cosine similarity and L2 normalisation, with gradients.

The classification losses are in ``cross_entropy.py`` and its neighbours. MSE has no factor 1/2 here; its gradient has
the 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import Array, ArrayLike, class_axis, number, option, real_array, same_shape
from .targets import REDUCTIONS


class PairGradient(NamedTuple):
    """Cotangents of the two arguments of a similarity."""

    a: Array
    b: Array


def mse(prediction: ArrayLike, target: ArrayLike, *, reduction: str = "mean") -> Array:
    """(prediction − target)², reduced over all entries.

    Shapes: equal, [...] -> scalar, or [...] for ``reduction="none"``. Raises: ValueError for unequal shapes, NaN, a
    mean over nothing. Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. (1.2), without its
    factor 1/2.

    >>> float(mse([1.0, 4.0], [0.0, 2.0]))
    2.5
    """
    error = _error("mse", prediction, target, reduction, analytic=True)
    return _reduce(error**2, reduction)


def mse_gradient(prediction: ArrayLike, target: ArrayLike, *, reduction: str = "mean") -> Array:
    """By the prediction: 2 (prediction − target), over the number of entries for the mean. Errors as :func:`mse`.

    >>> mse_gradient([1.0, 4.0], [0.0, 2.0])
    array([1., 2.])
    """
    error = _error("mse_gradient", prediction, target, reduction, analytic=True)
    return 2.0 * error / (error.size if reduction == "mean" else 1)


def huber(prediction: ArrayLike, target: ArrayLike, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    """e²/2 for |e| <= δ and δ (|e| − δ/2) beyond, e = prediction − target; once differentiable everywhere.

    Shapes and errors as :func:`mse`. Domain: δ > 0. Source: Huber (1964), "Robust Estimation of a Location Parameter".

    >>> huber([0.5, 3.0], [0.0, 0.0], reduction="none")
    array([0.125, 2.5  ])
    """
    error = _error("huber", prediction, target, reduction)
    bound = number("huber", "delta", delta, low=0.0, open_low=True)
    inside = np.minimum(np.abs(error), bound)
    return _reduce(0.5 * inside**2 + bound * (np.abs(error) - inside), reduction)


def huber_gradient(prediction: ArrayLike, target: ArrayLike, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    """By the prediction: e clipped to [−δ, δ], over the number of entries for the mean. Errors as :func:`huber`.

    >>> huber_gradient([0.5, 3.0], [0.0, 0.0], reduction="sum")
    array([0.5, 1. ])
    """
    error = _error("huber_gradient", prediction, target, reduction)
    bound = number("huber_gradient", "delta", delta, low=0.0, open_low=True)
    return np.clip(error, -bound, bound) / (error.size if reduction == "mean" else 1)


def l2_normalize(x: ArrayLike, axis: int = -1) -> Array:
    """x/‖x‖ along ``axis``. Shapes: x [..., d, ...] -> the same. Domain: no vector of zeros.

    Raises: ValueError for a vector of zeros, NaN, an empty or missing axis.

    >>> l2_normalize([3.0, 4.0])
    array([0.6, 0.8])
    """
    array = real_array("l2_normalize", "x", x, analytic=True, finite=True)
    return array / _norm("l2_normalize", "x", array, axis)


def l2_normalize_vjp(x: ArrayLike, cotangent: ArrayLike, axis: int = -1) -> Array:
    """(g − x̂ (x̂ · g))/‖x‖: the cotangent without its part along x. Shapes, domain, errors as :func:`l2_normalize`.

    >>> l2_normalize_vjp([3.0, 4.0], [3.0, 4.0]).round(12)
    array([0., 0.])
    """
    array = real_array("l2_normalize_vjp", "x", x, analytic=True, finite=True)
    g = real_array("l2_normalize_vjp", "cotangent", cotangent, analytic=True, finite=True)
    same_shape("l2_normalize_vjp", "x", array, "cotangent", g)
    norm = _norm("l2_normalize_vjp", "x", array, axis)
    unit = array / norm
    return (g - unit * np.sum(unit * g, axis=axis, keepdims=True)) / norm


def cosine_similarity(a: ArrayLike, b: ArrayLike, axis: int = -1) -> Array:
    """a · b/(‖a‖ ‖b‖) along ``axis``.

    Shapes: a, b [..., d, ...], equal -> [...]. Domain: no vector of zeros. Raises: as :func:`l2_normalize`; unequal
    shapes.

    >>> float(cosine_similarity([2.0, 0.0], [3.0, 4.0]))
    0.6
    """
    first, second = _pair("cosine_similarity", a, b)
    lengths = _norm("cosine_similarity", "a", first, axis) * _norm("cosine_similarity", "b", second, axis)
    return np.sum(first * second / lengths, axis=axis)


def cosine_similarity_vjp(a: ArrayLike, b: ArrayLike, cotangent: ArrayLike, axis: int = -1) -> PairGradient:
    """da = g (b̂ − c â)/‖a‖ and db = g (â − c b̂)/‖b‖ with c the similarity.

    Shapes: a, b [..., d, ...], cotangent [...]. Domain and errors as :func:`cosine_similarity`.

    >>> cosine_similarity_vjp([1.0, 0.0], [0.0, 1.0], 1.0).a
    array([0., 1.])
    """
    name = "cosine_similarity_vjp"
    first, second = _pair(name, a, b)
    norm_a, norm_b = _norm(name, "a", first, axis), _norm(name, "b", second, axis)
    unit_a, unit_b = first / norm_a, second / norm_b
    cosine = np.sum(unit_a * unit_b, axis=axis, keepdims=True)
    g = real_array(name, "cotangent", cotangent, analytic=True, finite=True)
    same_shape(name, "the similarity", np.squeeze(cosine, axis=axis), "cotangent", g)
    c = np.expand_dims(g, axis % first.ndim)
    return PairGradient(a=c * (unit_b - cosine * unit_a) / norm_a, b=c * (unit_a - cosine * unit_b) / norm_b)


def _error(function: str, prediction: ArrayLike, target: ArrayLike, reduction: str, *, analytic: bool = False) -> Array:
    option(function, "reduction", reduction, REDUCTIONS)
    guess = real_array(function, "prediction", prediction, analytic=analytic, finite=True)
    truth = real_array(function, "target", target, finite=True)
    same_shape(function, "prediction", guess, "target", truth)
    if reduction == "mean" and guess.size == 0:
        raise ValueError(f"{function}: the input has shape {guess.shape}: there is nothing to take the mean of")
    return guess - truth


def _reduce(losses: Array, reduction: str) -> Array:
    return losses if reduction == "none" else np.sum(losses) / (losses.size if reduction == "mean" else 1)


def _norm(function: str, name: str, x: Array, axis: int) -> Array:
    class_axis(function, name, x, axis)
    # The sum of squares, not of |x|², so that the complex step passes.
    largest = np.max(np.abs(x.real), axis=axis, keepdims=True)
    if np.any(largest == 0):
        raise ValueError(
            f"{function}: {name} of shape {x.shape} has a vector of zeros along axis {axis}, which has no direction"
        )
    return largest * np.sqrt(np.sum((x / largest) ** 2, axis=axis, keepdims=True))


def _pair(function: str, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    first = real_array(function, "a", a, analytic=True, finite=True)
    second = real_array(function, "b", b, analytic=True, finite=True)
    same_shape(function, "a", first, "b", second)
    return first, second
