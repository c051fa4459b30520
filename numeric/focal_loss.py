"""Focal loss −α_t (1 − p_t)^γ log p_t, binary (by a sigmoid) and multi-class (by a softmax), with gradients by the
logit.

γ need not be an integer; γ = 0 is (weighted) cross-entropy. p_t is the probability given to the true label; 1 − p_t is
never formed by subtraction, so that nothing is lost when p_t is close to 1. For labels in between see
``binary_cross_entropy.py``: here a binary label is exactly 0 or 1.
"""

from __future__ import annotations

import numpy as np

from .activations import log_sigmoid, sigmoid
from .arguments import Array, ArrayLike, class_axis, number, option, real_array, require, same_shape, zero_times
from .softmax import log_softmax, softmax
from .targets import REDUCTIONS, one_hot


def sigmoid_focal_loss(
    z: ArrayLike, y: ArrayLike, gamma: float, *, alpha: float | None = None, reduction: str = "mean"
) -> Array:
    """−α_t (1 − p_t)^γ log p_t with p_t = σ((2y − 1) z): σ(z) for y = 1 and σ(−z) for y = 0.

    α_t is ``alpha`` for y = 1 and 1 − ``alpha`` for y = 0; without ``alpha`` it is 1.

    Shapes: z, y [...], equal -> scalar, or [...] for ``reduction="none"``. Domain: y in {0, 1}, γ >= 0, 0 <= α <= 1.
    Raises: ValueError for unequal shapes, other labels, γ < 0, α outside [0, 1], NaN.
    Source: Lin et al. (2017), "Focal Loss for Dense Object Detection", eq. (5).

    >>> bool(sigmoid_focal_loss(0.0, 1, 2.0) == np.log(2) / 4)
    True
    """
    signed, _, weight = _signed("sigmoid_focal_loss", z, y, gamma, alpha, reduction)
    losses = -zero_times(weight * sigmoid(-signed) ** gamma, log_sigmoid(signed))
    return _reduce("sigmoid_focal_loss", losses, reduction)


def sigmoid_focal_loss_gradient(
    z: ArrayLike, y: ArrayLike, gamma: float, *, alpha: float | None = None, reduction: str = "mean"
) -> Array:
    """By the logit: α_t (2y − 1) (1 − p_t)^γ (γ p_t log p_t + p_t − 1).

    Shapes, domain, errors as ``sigmoid_focal_loss`` -> the shape of z.
    Source: Lin et al. (2017), appendix B.

    >>> sigmoid_focal_loss_gradient([0.0, 0.0], [1, 0], 0.0, reduction="sum")
    array([-0.5,  0.5])
    """
    signed, sign, weight = _signed("sigmoid_focal_loss_gradient", z, y, gamma, alpha, reduction)
    p_t, miss = sigmoid(signed), sigmoid(-signed)
    gradient = weight * sign * miss**gamma * (gamma * zero_times(p_t, log_sigmoid(signed)) - miss)
    return gradient / gradient.size if reduction == "mean" else gradient


def softmax_focal_loss(
    z: ArrayLike,
    target: ArrayLike,
    gamma: float,
    axis: int = -1,
    *,
    alpha: float | ArrayLike = 1.0,
    reduction: str = "mean",
) -> Array:
    """−α_t (1 − p_t)^γ log p_t with p_t = softmax(z)_t for the hard label t.

    Shapes: z [..., K, ...], target [...] of integers -> scalar, or [...]. ``alpha``: one number, or one per class [K].
    Domain: −inf <= z < inf, 0 <= t < K, γ >= 0, α >= 0.
    Raises: ValueError/TypeError for labels out of range or not integers, shapes that do not agree, γ < 0, NaN.
    Source: Lin et al. (2017), eq. (5), with softmax for the sigmoid.

    >>> bool(softmax_focal_loss([0.0, 0.0], 1, 2.0) == np.log(2) / 4)
    True
    """
    _, log_p, miss, _, weight = _target_class("softmax_focal_loss", z, target, gamma, axis, alpha, reduction)
    return _reduce("softmax_focal_loss", -zero_times(weight * miss**gamma, log_p), reduction)


def softmax_focal_loss_gradient(
    z: ArrayLike,
    target: ArrayLike,
    gamma: float,
    axis: int = -1,
    *,
    alpha: float | ArrayLike = 1.0,
    reduction: str = "mean",
) -> Array:
    """By the logits: α_t (1 − p_t)^(γ−1) [γ p_t log p_t − (1 − p_t)] (δ_tj − p_j).

    Written as α_t (1 − p_t)^γ [γ p_t r − 1] (δ_tj − p_j) with r = log p_t/(1 − p_t), which tends to −1 as p_t -> 1.
    Shapes, domain, errors as ``softmax_focal_loss`` -> the shape of z.
    Source: Lin et al. (2017), appendix B, by the chain rule ∂p_t/∂z_j = p_t (δ_tj − p_j).

    >>> softmax_focal_loss_gradient([[0.0, 0.0]], [1], 0.0)
    array([[ 0.5, -0.5]])
    """
    name = "softmax_focal_loss_gradient"
    p, log_p, miss, labels, weight = _target_class(name, z, target, gamma, axis, alpha, reduction)
    p_t = np.exp(log_p)
    certain = miss == 0
    ratio = np.where(certain, -1.0, zero_times(p_t, log_p) / np.where(certain, 1.0, miss))
    slope = weight * miss**gamma * (gamma * ratio - 1.0)
    if reduction == "mean":
        slope = slope / slope.size
    hot = one_hot(labels, p.shape[axis], axis)
    return np.expand_dims(slope, axis) * np.where(hot == 1, np.expand_dims(miss, axis), -p)


def focal_loss_of_probability(p: ArrayLike, gamma: float, alpha: float) -> Array:
    """−α (1 − p)^γ log p by the probability of the true label. Shapes: p [...] -> the same. Domain: 0 < p < 1, γ >= 0.

    >>> bool(focal_loss_of_probability(0.5, 2.0, 1.0) == np.log(2) / 4)
    True
    """
    array = real_array("focal_loss_of_probability", "p", p, analytic=True)
    require("focal_loss_of_probability", "p", array, (array.real > 0) & (array.real < 1), "0 < p < 1")
    return -alpha * (1.0 - array) ** gamma * np.log(array)


def focal_loss_of_probability_gradient(p: ArrayLike, gamma: float, alpha: float) -> Array:
    """α (γ (1 − p)^(γ−1) log p − (1 − p)^γ/p). Shapes and domain as :func:`focal_loss_of_probability`.

    >>> float(focal_loss_of_probability_gradient(0.5, 0.0, 1.0))
    -2.0
    """
    array = real_array("focal_loss_of_probability_gradient", "p", p, analytic=True)
    require("focal_loss_of_probability_gradient", "p", array, (array.real > 0) & (array.real < 1), "0 < p < 1")
    modulation = gamma * (1.0 - array) ** (gamma - 1.0) * np.log(array)
    return alpha * (modulation - (1.0 - array) ** gamma / array)


def _signed(
    function: str, z: ArrayLike, y: ArrayLike, gamma: float, alpha: float | None, reduction: str
) -> tuple[Array, Array, Array]:
    """(2y − 1) z, the sign 2y − 1, and α_t."""
    option(function, "reduction", reduction, REDUCTIONS)
    number(function, "gamma", gamma, low=0.0)
    logits = real_array(function, "z", z, analytic=True)
    labels = real_array(function, "y", y)
    same_shape(function, "z", logits, "y", labels)
    require(function, "y", labels, (labels == 0) | (labels == 1), "y in {0, 1}")
    sign = 2.0 * labels - 1.0
    if alpha is None:
        return sign * logits, sign, np.ones_like(labels)
    share = number(function, "alpha", alpha, low=0.0, high=1.0)
    return sign * logits, sign, np.where(labels == 1, share, 1.0 - share)


def _target_class(
    function: str, z: ArrayLike, target: ArrayLike, gamma: float, axis: int, alpha: float | ArrayLike, reduction: str
) -> tuple[Array, Array, Array, Array, Array]:
    """p, and per row log p_t, 1 − p_t (as the sum of the other probabilities), the labels and α_t."""
    option(function, "reduction", reduction, REDUCTIONS)
    number(function, "gamma", gamma, low=0.0)
    logits = real_array(function, "z", z, analytic=True, upper=False)
    axis = class_axis(function, "z", logits, axis)
    classes = logits.shape[axis]
    labels = np.asarray(target)
    rows = logits.shape[:axis] + logits.shape[axis + 1 :]
    if labels.shape != rows:
        raise ValueError(f"{function}: target has shape {labels.shape}, but z of shape {logits.shape} needs {rows}")
    hot = one_hot(labels, classes, axis)
    p = softmax(logits, axis)
    log_p = np.sum(zero_times(hot, log_softmax(logits, axis)), axis=axis)
    miss = np.sum((1.0 - hot) * p, axis=axis)
    weights = real_array(function, "alpha", alpha, finite=True)
    require(function, "alpha", weights, weights >= 0, "alpha >= 0")
    if weights.shape not in ((), (classes,)):
        raise ValueError(f"{function}: alpha has shape {weights.shape}; need one number or K = {classes} of them")
    return p, log_p, miss, labels, np.broadcast_to(weights, (classes,))[labels]


def _reduce(function: str, losses: Array, reduction: str) -> Array:
    if reduction == "none":
        return losses
    if reduction == "mean" and losses.size == 0:
        raise ValueError(f"{function}: the losses have shape {losses.shape}: there is nothing to take the mean of")
    return np.sum(losses) / (losses.size if reduction == "mean" else 1)
