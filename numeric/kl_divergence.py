"""Kullback-Leibler divergence KL(p‖q) = Σ p log(p/q), and its gradients by either argument and by logits.

"Forward" and "reverse" are used both ways round in the literature, so the names here say which argument is meant: the
*first* (the weights, p) or the *second* (the reference, q). By logits, ``logits="second"`` is KL(p‖softmax(z)) with
gradient q − p, and ``logits="first"`` is KL(softmax(z)‖p) with gradient q ⊙ (log(q/p) − KL(q‖p)), q = softmax(z).
Always 0·log 0 = 0; p > 0 = q gives inf. One value per row; reduce outside.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, class_axis, option, real_array, require, same_shape, zero_times
from .softmax import log_softmax, softmax

LOGITS = ("first", "second")


def kl_divergence(p: ArrayLike, q: ArrayLike, axis: int = -1) -> Array:
    """Σ_c p_c log(p_c/q_c) along ``axis``.

    Shapes: p, q [..., K, ...], equal -> [...]. Domain: p, q >= 0.
    Raises: ValueError for unequal shapes, negative entries, NaN, an empty axis.
    Source: Kullback, Leibler (1951); Cover, Thomas (2006), eq. (2.26).

    >>> bool(kl_divergence([1.0, 0.0], [0.5, 0.5]) == np.log(2))
    True
    >>> float(kl_divergence([0.5, 0.5], [1.0, 0.0]))
    inf
    """
    first, second, axis = _pair("kl_divergence", p, q, axis)
    return np.sum(zero_times(first, _log_ratio(first, second)), axis=axis)


def kl_divergence_gradient_first(p: ArrayLike, q: ArrayLike, axis: int = -1) -> Array:
    """By the first argument, entries free: log(p_k/q_k) + 1.

    Shapes, errors as ``kl_divergence`` -> the shape of p. Domain: p, q > 0 (at p = 0 the derivative is −inf).

    >>> kl_divergence_gradient_first([0.5, 0.5], [0.5, 0.5])
    array([1., 1.])
    """
    first, second, _ = _pair("kl_divergence_gradient_first", p, q, axis)
    require("kl_divergence_gradient_first", "q", second, second.real > 0, "q > 0")
    return _log_ratio(first, second) + 1.0


def kl_divergence_gradient_second(p: ArrayLike, q: ArrayLike, axis: int = -1) -> Array:
    """By the second argument, entries free: −p_k/q_k; 0 where p_k = 0.

    Shapes, domain, errors as ``kl_divergence`` -> the shape of q.

    >>> kl_divergence_gradient_second([0.5, 0.5], [0.5, 0.25])
    array([-1., -2.])
    """
    first, second, _ = _pair("kl_divergence_gradient_second", p, q, axis)
    with np.errstate(divide="ignore"):
        return -zero_times(first, 1.0 / second)


def kl_divergence_by_logits(p: ArrayLike, z: ArrayLike, axis: int = -1, *, logits: str = "second") -> Array:
    """KL(p‖softmax(z)) for ``logits="second"``, KL(softmax(z)‖p) for ``logits="first"``; stable at logits of ±1000.

    Shapes: p, z [..., K, ...], equal -> [...]. Domain: p >= 0; −inf <= z < inf.
    Raises: ValueError for unequal shapes, negative p, an unknown ``logits``, a row of −inf only.

    >>> bool(kl_divergence_by_logits([1.0, 0.0], [0.0, 0.0]) == np.log(2))
    True
    >>> float(kl_divergence_by_logits([1.0, 0.0], [0.0, 0.0], logits="first"))
    inf
    """
    weights, scores, axis = _probabilities_and_logits("kl_divergence_by_logits", p, z, axis, logits)
    log_q = log_softmax(scores, axis)
    with np.errstate(divide="ignore"):
        log_p = np.log(weights)
    if logits == "second":
        return np.sum(zero_times(weights, np.where(weights == 0, 0.0, log_p) - log_q), axis=axis)
    q = softmax(scores, axis)
    return np.sum(zero_times(q, np.where(q == 0, 0.0, log_q) - log_p), axis=axis)


def kl_divergence_by_logits_gradient(p: ArrayLike, z: ArrayLike, axis: int = -1, *, logits: str = "second") -> Array:
    """By z: q Σp − p for ``logits="second"`` (q − p when Σp = 1), q ⊙ (log(q/p) − KL(q‖p)) for ``logits="first"``.

    Shapes, domain, errors as ``kl_divergence_by_logits`` -> the shape of z. For ``"first"``, p = 0 < q has no finite
    gradient and is refused.
    Source: chain rule through the softmax Jacobian diag(q) − q qᵀ.

    >>> kl_divergence_by_logits_gradient([1.0, 0.0], [0.0, 0.0])
    array([-0.5,  0.5])
    >>> kl_divergence_by_logits_gradient([0.5, 0.5], [0.0, 0.0], logits="first")
    array([0., 0.])
    """
    name = "kl_divergence_by_logits_gradient"
    weights, scores, axis = _probabilities_and_logits(name, p, z, axis, logits)
    q = softmax(scores, axis)
    if logits == "second":
        return q * np.sum(weights, axis=axis, keepdims=True) - weights
    require(name, "p", weights, (weights.real > 0) | (q == 0), "p > 0 wherever softmax(z) > 0")
    safe = np.where(q == 0, 1.0, weights)
    ratio = np.where(q == 0, 0.0, log_softmax(scores, axis)) - np.log(safe)
    return q * (ratio - np.sum(q * ratio, axis=axis, keepdims=True))


def _log_ratio(p: Array, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(p) - np.log(q)


def _pair(function: str, p: ArrayLike, q: ArrayLike, axis: int) -> tuple[Array, Array, int]:
    first = real_array(function, "p", p, analytic=True, finite=True)
    second = real_array(function, "q", q, analytic=True, finite=True)
    same_shape(function, "p", first, "q", second)
    require(function, "p", first, first.real >= 0, "p >= 0")
    require(function, "q", second, second.real >= 0, "q >= 0")
    return first, second, class_axis(function, "p", first, axis)


def _probabilities_and_logits(
    function: str, p: ArrayLike, z: ArrayLike, axis: int, logits: str
) -> tuple[Array, Array, int]:
    option(function, "logits", logits, LOGITS)
    weights = real_array(function, "p", p, analytic=True, finite=True)
    scores = real_array(function, "z", z, analytic=True, upper=False)
    same_shape(function, "p", weights, "z", scores)
    require(function, "p", weights, weights.real >= 0, "p >= 0")
    return weights, scores, class_axis(function, "z", scores, axis)
