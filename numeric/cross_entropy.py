"""Cross-entropy by logits and by probabilities, entropy, and their derivatives.

The variable is part of the name: ``cross_entropy`` and ``cross_entropy_gradient`` are functions of the *logits*
(gradient p Σq − q), ``cross_entropy_of_probabilities`` and its gradient are functions of the *probabilities*
(gradient −q/p). All take the same options, read by ``targets.py`` into target weights q, so that a row's loss is −Σ_c
q_c log p_c:

* ``target``: hard labels (integers, no class axis) or soft labels (any real rows, need not sum to 1);
* ``label_smoothing`` ε with ``smoothing_variant`` ``"uniform"`` (ε/K on all classes) or ``"others"`` (ε/(K−1));
* ``class_weights`` w [K], with ``weight_normalization`` of the mean ``"sum_of_weights"`` or ``"count"``;
* ``ignore_index``: hard labels equal to it give loss 0 and gradient 0 and do not count in the mean;
* ``reduction``: ``"mean"`` over the rows that count, ``"sum"``, or ``"none"`` (one loss a row; a gradient with
  ``"none"`` is each row's own gradient).
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, class_axis, real_array, require, zero_times
from .softmax import log_softmax, logsumexp_hessian, softmax
from .targets import Rows, target_rows


def cross_entropy(
    z: ArrayLike,
    target: ArrayLike,
    axis: int = -1,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    smoothing_variant: str = "uniform",
    class_weights: ArrayLike | None = None,
    weight_normalization: str = "sum_of_weights",
    ignore_index: int | None = None,
) -> Array:
    """−Σ_c q_c log softmax(z)_c per row, reduced. For a hard label without options: logsumexp(z) − z_c.

    Shapes: z [..., K, ...], target [..., ...] or [..., K, ...] -> scalar, or [..., ...] for ``reduction="none"``.
    Domain: −inf <= z < inf; a logit of −inf with q = 0 adds nothing, with q > 0 the loss is inf.
    Raises: ValueError/TypeError for shapes that do not agree, labels out of range, NaN, a mean over nothing.
    Source: Goodfellow, Bengio, Courville (2016), "Deep Learning", eq. (6.30).

    >>> bool(cross_entropy([[0.0, 0.0]], [1]) == np.log(2))
    True
    >>> round(float(cross_entropy(np.log([0.95, 0.05]), 0, label_smoothing=0.1)), 6)
    0.198515
    """
    rows = _rows(
        "cross_entropy",
        z,
        target,
        axis,
        reduction,
        label_smoothing,
        smoothing_variant,
        class_weights,
        weight_normalization,
        ignore_index,
    )
    return rows.reduce(-np.sum(zero_times(rows.q, log_softmax(rows.scores)), axis=-1), reduction)


def cross_entropy_gradient(
    z: ArrayLike,
    target: ArrayLike,
    axis: int = -1,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    smoothing_variant: str = "uniform",
    class_weights: ArrayLike | None = None,
    weight_normalization: str = "sum_of_weights",
    ignore_index: int | None = None,
) -> Array:
    """By the logits: p_k Σ_c q_c − q_k, divided as the reduction says. With Σq = 1 this is p − q.

    Shapes, domain, errors as ``cross_entropy``; the answer has the shape of z.
    Source: Bishop (2006), "Pattern Recognition and Machine Learning", eq. (4.109), for Σq = 1.

    >>> cross_entropy_gradient([[0.0, 0.0]], [1])
    array([[ 0.5, -0.5]])
    >>> cross_entropy_gradient([[0.0, 0.0]], [[0.0, 0.0]])
    array([[0., 0.]])
    """
    rows = _rows(
        "cross_entropy_gradient",
        z,
        target,
        axis,
        reduction,
        label_smoothing,
        smoothing_variant,
        class_weights,
        weight_normalization,
        ignore_index,
    )
    total = np.sum(rows.q, axis=-1, keepdims=True)
    return rows.restore((softmax(rows.scores) * total - rows.q) / rows.factor(reduction))


def cross_entropy_hessian(
    z: ArrayLike,
    target: ArrayLike,
    axis: int = -1,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    smoothing_variant: str = "uniform",
    class_weights: ArrayLike | None = None,
    weight_normalization: str = "sum_of_weights",
    ignore_index: int | None = None,
) -> Array:
    """By the logits, one block a row: (Σq) (diag(p) − p pᵀ). Blocks between different rows are zero and left out.

    Shapes: as ``cross_entropy`` -> [..., K, K], the class axis moved to the end. Domain and errors as there.
    Source: Bishop (2006), eq. (4.110).

    >>> cross_entropy_hessian([0.0, 0.0], 1)
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    rows = _rows(
        "cross_entropy_hessian",
        z,
        target,
        axis,
        reduction,
        label_smoothing,
        smoothing_variant,
        class_weights,
        weight_normalization,
        ignore_index,
    )
    total = np.sum(rows.q, axis=-1)[:, np.newaxis, np.newaxis]
    blocks = total * logsumexp_hessian(rows.scores) / rows.factor(reduction)
    return blocks.reshape(*rows.batch, *blocks.shape[1:])


def cross_entropy_of_probabilities(
    p: ArrayLike,
    target: ArrayLike,
    axis: int = -1,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    smoothing_variant: str = "uniform",
    class_weights: ArrayLike | None = None,
    weight_normalization: str = "sum_of_weights",
    ignore_index: int | None = None,
) -> Array:
    """−Σ_c q_c log p_c per row, reduced, as a function of free entries p_c (rows need not sum to 1), with 0·log 0 = 0.

    Shapes and options as ``cross_entropy``. Domain: p >= 0; p = 0 with q > 0 gives inf.
    Raises: as ``cross_entropy``, and ValueError for a negative probability.

    >>> float(cross_entropy_of_probabilities([1.0, 0.0], 0)) + 0.0
    0.0
    """
    rows = _probability_rows(
        "cross_entropy_of_probabilities",
        p,
        target,
        axis,
        reduction,
        label_smoothing,
        smoothing_variant,
        class_weights,
        weight_normalization,
        ignore_index,
    )
    with np.errstate(divide="ignore"):
        logs = np.log(rows.scores)
    return rows.reduce(-np.sum(zero_times(rows.q, logs), axis=-1), reduction)


def cross_entropy_of_probabilities_gradient(
    p: ArrayLike,
    target: ArrayLike,
    axis: int = -1,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    smoothing_variant: str = "uniform",
    class_weights: ArrayLike | None = None,
    weight_normalization: str = "sum_of_weights",
    ignore_index: int | None = None,
) -> Array:
    """By the probabilities: −q_k/p_k, divided as the reduction says; 0 where q_k = 0, −inf where p_k = 0 < q_k.

    Shapes, domain, errors as ``cross_entropy_of_probabilities``; the answer has the shape of p.

    >>> cross_entropy_of_probabilities_gradient([0.5, 0.5], 0) + 0.0
    array([-2.,  0.])
    """
    rows = _probability_rows(
        "cross_entropy_of_probabilities_gradient",
        p,
        target,
        axis,
        reduction,
        label_smoothing,
        smoothing_variant,
        class_weights,
        weight_normalization,
        ignore_index,
    )
    with np.errstate(divide="ignore"):
        inverse = 1.0 / rows.scores
    return rows.restore(-zero_times(rows.q, inverse) / rows.factor(reduction))


def entropy(p: ArrayLike, axis: int = -1) -> Array:
    """H(p) = −Σ p_c log p_c along ``axis``, with 0·log 0 = 0.

    Shapes: p [..., K, ...] -> [...]. Domain: p >= 0. Raises: ValueError for negative p, NaN, an empty axis.
    Source: Shannon (1948), section 6.

    >>> bool(entropy([0.5, 0.5, 0.0]) == np.log(2))
    True
    """
    array = _probabilities("entropy", p)
    axis = class_axis("entropy", "p", array, axis)
    with np.errstate(divide="ignore"):
        return -np.sum(zero_times(array, np.log(array)), axis=axis)


def entropy_gradient(p: ArrayLike, axis: int = -1) -> Array:
    """By the probabilities as free entries: −log p_k − 1; inf where p_k = 0.

    Shapes: p [..., K, ...] -> the same. Domain and errors as ``entropy``.

    >>> entropy_gradient([1.0])
    array([-1.])
    """
    array = _probabilities("entropy_gradient", p)
    class_axis("entropy_gradient", "p", array, axis)
    with np.errstate(divide="ignore"):
        return -np.log(array) - 1.0


def entropy_of_logits_gradient(z: ArrayLike, axis: int = -1) -> Array:
    """By the logits, of H(softmax(z)): −p_k (log p_k + H(p)); 0 where z is −inf.

    Shapes: z [..., K, ...] -> the same. Domain and errors as ``softmax``.

    >>> entropy_of_logits_gradient([0.0, 0.0]) + 0.0
    array([0., 0.])
    """
    p, logs = softmax(z, axis), log_softmax(z, axis)
    weighted = zero_times(p, logs)
    return p * np.sum(weighted, axis=axis, keepdims=True) - weighted


def _rows(
    function: str,
    z: ArrayLike,
    target: ArrayLike,
    axis: int,
    reduction: str,
    label_smoothing: float,
    smoothing_variant: str,
    class_weights: ArrayLike | None,
    weight_normalization: str,
    ignore_index: int | None,
) -> Rows:
    logits = real_array(function, "z", z, analytic=True, upper=False)
    return target_rows(
        function,
        logits,
        target,
        axis,
        reduction=reduction,
        label_smoothing=label_smoothing,
        smoothing_variant=smoothing_variant,
        class_weights=class_weights,
        weight_normalization=weight_normalization,
        ignore_index=ignore_index,
    )


def _probability_rows(
    function: str,
    p: ArrayLike,
    target: ArrayLike,
    axis: int,
    reduction: str,
    label_smoothing: float,
    smoothing_variant: str,
    class_weights: ArrayLike | None,
    weight_normalization: str,
    ignore_index: int | None,
) -> Rows:
    return target_rows(
        function,
        _probabilities(function, p),
        target,
        axis,
        reduction=reduction,
        label_smoothing=label_smoothing,
        smoothing_variant=smoothing_variant,
        class_weights=class_weights,
        weight_normalization=weight_normalization,
        ignore_index=ignore_index,
    )


def _probabilities(function: str, p: ArrayLike) -> Array:
    array = real_array(function, "p", p, analytic=True, finite=True)
    require(function, "p", array, array.real >= 0, "p >= 0")
    return array
