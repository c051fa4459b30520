"""Binary cross-entropy by probability and by logit, with derivatives.

``bce`` is a function of the probability p (derivative (p − y)/(p(1 − p))), ``bce_with_logits`` of the logit z
(derivative σ(z) − y). Labels y are any finite reals: the loss is linear in them; usually 0 <= y <= 1.

The reduction is part of the loss, and each has its own gradient:

* ``"mean"``: over all entries, 1/(N·K) for [N, K];
* ``"mean_over_rows"``: over the first axis only, the rest is summed, 1/N for [N, K];
* ``"sum"``; ``"none"`` (one loss an entry).
"""

from __future__ import annotations

import numpy as np

from .activations import sigmoid, sigmoid_derivative, softplus
from .arguments import Array, ArrayLike, option, real_array, require, same_shape, zero_times

BCE_REDUCTIONS = ("mean", "mean_over_rows", "sum", "none")


def bce(p: ArrayLike, y: ArrayLike, *, reduction: str = "mean") -> Array:
    """−y log p − (1 − y) log(1 − p), with 0·log 0 = 0.

    Shapes: p, y [...], equal -> scalar, or [...] for ``reduction="none"``. Domain: 0 <= p <= 1, y finite.
    Raises: ValueError for unequal shapes, p outside [0, 1], NaN, a mean over nothing.
    Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. (4.90).

    >>> bool(bce([1.0, 0.5], [1.0, 0.0]) == np.log(2) / 2)
    True
    """
    probability, label = _probability("bce", p, y, reduction)
    with np.errstate(divide="ignore"):
        losses = -zero_times(label, np.log(probability)) - zero_times(1.0 - label, np.log1p(-probability))
    return _reduce("bce", losses, reduction)


def bce_gradient(p: ArrayLike, y: ArrayLike, *, reduction: str = "mean") -> Array:
    """By the probability: −y/p + (1 − y)/(1 − p) = (p − y)/(p(1 − p)); the first form has the right limit at p = y = 0.

    Shapes, domain, errors as ``bce`` -> the shape of p; ±inf where p contradicts a label for certain.

    >>> bce_gradient([0.5, 0.0], [1.0, 0.0], reduction="sum")
    array([-2.,  1.])
    """
    probability, label = _probability("bce_gradient", p, y, reduction)
    with np.errstate(divide="ignore"):
        gradient = zero_times(1.0 - label, 1.0 / (1.0 - probability)) - zero_times(label, 1.0 / probability)
    return gradient / _divisor("bce_gradient", probability.shape, reduction)


def bce_with_logits(
    z: ArrayLike, y: ArrayLike, *, pos_weight: ArrayLike | None = None, reduction: str = "mean"
) -> Array:
    """w y softplus(−z) + (1 − y) softplus(z); for w = 1 this is max(z, 0) − z y + log1p(e^(−|z|)).

    ``pos_weight`` w >= 0 multiplies the positive term: one number, or an array that broadcasts against z.

    Shapes: z, y [...], equal -> scalar, or [...] for ``reduction="none"``. Domain: every real z and ±inf, y finite.
    Raises: ValueError for unequal shapes, w < 0 or of a shape that does not fit, NaN, a mean over nothing.
    Source: log form of Bishop (2006), eq. (4.90), with −log σ(z) = softplus(−z).

    >>> bce_with_logits([1000.0, -1000.0, -np.inf], [1.0, 1.0, 0.0], reduction="none")
    array([   0., 1000.,    0.])
    >>> bool(bce_with_logits(0.0, 1.0, pos_weight=3.0) == 3 * np.log(2))
    True
    """
    logits, label, weight = _logit("bce_with_logits", z, y, pos_weight, reduction)
    losses = zero_times(weight * label, softplus(-logits)) + zero_times(1.0 - label, softplus(logits))
    return _reduce("bce_with_logits", losses, reduction)


def bce_with_logits_gradient(
    z: ArrayLike, y: ArrayLike, *, pos_weight: ArrayLike | None = None, reduction: str = "mean"
) -> Array:
    """By the logit: (1 − y) σ(z) − w y σ(−z), which is σ(z) − y for w = 1.

    Shapes, domain, errors as ``bce_with_logits`` -> the shape of z.
    Source: Bishop (2006), eq. (4.91), for w = 1.

    >>> bce_with_logits_gradient([0.0, -50.0], [0.0, 1.0], reduction="sum")
    array([ 0.5, -1. ])
    """
    logits, label, weight = _logit("bce_with_logits_gradient", z, y, pos_weight, reduction)
    gradient = (1.0 - label) * sigmoid(logits) - weight * label * sigmoid(-logits)
    return gradient / _divisor("bce_with_logits_gradient", logits.shape, reduction)


def bce_with_logits_second_derivative(
    z: ArrayLike, y: ArrayLike, *, pos_weight: ArrayLike | None = None, reduction: str = "mean"
) -> Array:
    """By the logit, twice: (1 − y + w y) σ(z) σ(−z): the diagonal of a Hessian that is zero elsewhere.

    Shapes, domain, errors as ``bce_with_logits`` -> the shape of z.
    Source: Bishop (2006), eq. (4.97), for w = 1.

    >>> float(bce_with_logits_second_derivative(0.0, 1.0))
    0.25
    """
    logits, label, weight = _logit("bce_with_logits_second_derivative", z, y, pos_weight, reduction)
    curvature = (1.0 - label + weight * label) * sigmoid_derivative(logits)
    return curvature / _divisor("bce_with_logits_second_derivative", logits.shape, reduction)


def _probability(function: str, p: ArrayLike, y: ArrayLike, reduction: str) -> tuple[Array, Array]:
    option(function, "reduction", reduction, BCE_REDUCTIONS)
    probability = real_array(function, "p", p, analytic=True)
    label = real_array(function, "y", y, finite=True)
    same_shape(function, "p", probability, "y", label)
    require(function, "p", probability, (probability.real >= 0) & (probability.real <= 1), "0 <= p <= 1")
    return probability, label


def _logit(
    function: str, z: ArrayLike, y: ArrayLike, pos_weight: ArrayLike | None, reduction: str
) -> tuple[Array, Array, Array]:
    option(function, "reduction", reduction, BCE_REDUCTIONS)
    logits = real_array(function, "z", z, analytic=True)
    label = real_array(function, "y", y, finite=True)
    same_shape(function, "z", logits, "y", label)
    weight = real_array(function, "pos_weight", 1.0 if pos_weight is None else pos_weight, finite=True)
    require(function, "pos_weight", weight, weight >= 0, "pos_weight >= 0")
    try:
        return logits, label, np.broadcast_to(weight, logits.shape)
    except ValueError:
        raise ValueError(
            f"{function}: pos_weight has shape {weight.shape}, which does not broadcast to z of shape {logits.shape}"
        ) from None


def _divisor(function: str, shape: tuple[int, ...], reduction: str) -> float:
    if reduction in ("sum", "none"):
        return 1.0
    if reduction == "mean_over_rows" and not shape:
        raise ValueError(f"{function}: reduction 'mean_over_rows' needs a first axis, but the input is a scalar")
    count = shape[0] if reduction == "mean_over_rows" else int(np.prod(shape, dtype=np.int64))
    if count == 0:
        raise ValueError(f"{function}: the input has shape {shape}: there is nothing to take the mean of")
    return float(count)


def _reduce(function: str, losses: Array, reduction: str) -> Array:
    return losses if reduction == "none" else np.sum(losses) / _divisor(function, losses.shape, reduction)
