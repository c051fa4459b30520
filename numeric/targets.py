"""Targets of a classification loss, and how the losses of rows become one number.

Here labels (hard or soft, smoothed, weighted, ignored) become one matrix q of target weights, so that every
cross-entropy is −Σ q log p whatever its options; ``cross_entropy.py`` only has to differentiate that.

A target is *hard* when it lacks the class axis (integers 0 .. K−1) and *soft* when it has the shape of the scores. A
soft row is any real row: it need not sum to 1, and all zeros is a row without a target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arguments import Array, ArrayLike, class_axis, number, option, real_array, require

REDUCTIONS = ("mean", "sum", "none")
SMOOTHING_VARIANTS = ("uniform", "others")
WEIGHT_NORMALIZATIONS = ("sum_of_weights", "count")


def one_hot(labels: ArrayLike, classes: int, axis: int = -1) -> Array:
    """Rows that are 1 at the label and 0 elsewhere, the class axis put at ``axis``.

    Shapes: labels [...] of integers -> [..., K, ...]. Domain: 0 <= label < K.
    Raises: TypeError for labels that are not integers, ValueError for a label out of range, naming K.

    >>> one_hot([2, 0], 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    array = _labels("one_hot", labels)
    require("one_hot", "labels", array, (array >= 0) & (array < classes), f"0 <= label < K = {classes}")
    return np.moveaxis(np.eye(classes)[array], -1, axis)


def _labels(function: str, labels: ArrayLike) -> Array:
    array = np.asarray(labels)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{function}: hard labels must be integers, got dtype {array.dtype} of shape {array.shape}")
    return array.astype(np.int64)


def smooth_labels(y: ArrayLike, smoothing: float, axis: int = -1, *, variant: str = "uniform") -> Array:
    """Labels with the share ε moved away from the target class.

    ``"uniform"``: (1−ε) y + (ε/K) Σy: every class gets ε/K, the target class too (Szegedy et al. and PyTorch).
    ``"others"``: (1−ε) y + (ε/(K−1)) (Σy − y): only the other classes share ε.
    Both are linear in y and keep Σy, so a row of zeros stays zero; for Σy = 1 they are the usual formulas.

    Shapes: y [..., K, ...] -> the same. Domain: 0 <= ε <= 1; K >= 2 for ``"others"`` with ε > 0.
    Raises: ValueError for ε outside [0, 1], an unknown variant, or K = 1 where ε/(K−1) is asked for.
    Source: Szegedy et al. (2016), "Rethinking the Inception Architecture", section 7.

    >>> smooth_labels([1.0, 0.0], 0.1)
    array([0.95, 0.05])
    >>> smooth_labels([1.0, 0.0], 0.1, variant="others")
    array([0.9, 0.1])
    """
    array = real_array("smooth_labels", "y", y, finite=True)
    axis = class_axis("smooth_labels", "y", array, axis)
    epsilon = number("smooth_labels", "smoothing", smoothing, low=0.0, high=1.0)
    option("smooth_labels", "variant", variant, SMOOTHING_VARIANTS)
    classes = array.shape[axis]
    total = np.sum(array, axis=axis, keepdims=True)
    if epsilon == 0.0:
        return array
    if variant == "uniform":
        return (1.0 - epsilon) * array + epsilon / classes * total
    if classes == 1:
        raise ValueError("smooth_labels: variant 'others' shares smoothing/(K-1) among the other classes, but K = 1")
    return (1.0 - epsilon) * array + epsilon / (classes - 1) * (total - array)


@dataclass(frozen=True)
class Rows:
    """A loss −Σ q log p laid out as N rows of K classes.

    ``scores`` [N, K] (ignored rows replaced by zeros), ``q`` [N, K] (zero in ignored rows), ``divisor`` of the mean,
    ``batch`` the shape without the class axis, and ``axis`` where the class axis was.
    """

    scores: Array
    q: Array
    divisor: float
    batch: tuple[int, ...]
    axis: int

    def reduce(self, losses: Array, reduction: str) -> Array:
        """One loss per row -> the loss, by ``reduction``."""
        return losses.reshape(self.batch) if reduction == "none" else np.sum(losses) / self.factor(reduction)

    def factor(self, reduction: str) -> float:
        """What the rows' sum is divided by: the divisor for ``"mean"``, 1 otherwise."""
        return self.divisor if reduction == "mean" else 1.0

    def restore(self, rows: Array) -> Array:
        """[N, K] -> the shape of the scores that were given."""
        return np.moveaxis(rows.reshape(*self.batch, rows.shape[-1]), -1, self.axis)


def target_rows(
    function: str,
    scores: Array,
    target: ArrayLike,
    axis: int,
    *,
    reduction: str,
    label_smoothing: float,
    smoothing_variant: str,
    class_weights: ArrayLike | None,
    weight_normalization: str,
    ignore_index: int | None,
) -> Rows:
    """Check everything that comes with the scores and lay it out as :class:`Rows`.

    With weights w the target weights are q_c = w_c ŷ_c (ŷ the smoothed labels). The divisor of the mean is the number
    of rows that are not ignored; with class weights and ``"sum_of_weights"`` it is Σ_n Σ_c w_c y_nc, with y before
    smoothing.

    >>> rows = target_rows("demo", np.zeros((2, 3)), [2, -100], -1, reduction="mean", label_smoothing=0.0,
    ...                    smoothing_variant="uniform", class_weights=None, weight_normalization="count",
    ...                    ignore_index=-100)
    >>> rows.q, rows.divisor
    (array([[0., 0., 1.],
           [0., 0., 0.]]), 1.0)
    """
    option(function, "reduction", reduction, REDUCTIONS)
    option(function, "weight_normalization", weight_normalization, WEIGHT_NORMALIZATIONS)
    axis = class_axis(function, "the scores", scores, axis)
    classes = scores.shape[axis]
    batch = scores.shape[:axis] + scores.shape[axis + 1 :]
    y, kept = _label_rows(function, target, scores, axis, classes, batch, ignore_index)

    q = smooth_labels(y, label_smoothing, variant=smoothing_variant)
    divisor = float(np.count_nonzero(kept))
    if class_weights is not None:
        weights = real_array(function, "class_weights", class_weights, finite=True)
        if weights.shape != (classes,):
            raise ValueError(
                f"{function}: class_weights has shape {weights.shape}, but there are K = {classes} classes"
            )
        require(function, "class_weights", weights, weights >= 0, "weights >= 0")
        q = q * weights
        if weight_normalization == "sum_of_weights":
            divisor = float(np.sum(y @ weights))
    if reduction == "mean" and not divisor > 0:
        raise ValueError(
            f"{function}: the mean divides by {divisor}: of {kept.size} rows {np.count_nonzero(kept)} are not ignored; "
            "use reduction='sum', or weights and labels with a positive total"
        )
    flat = np.moveaxis(scores, axis, -1).reshape(-1, classes)
    return Rows(np.where(kept[:, np.newaxis], flat, 0.0), q, divisor, batch, axis)


def _label_rows(
    function: str,
    target: ArrayLike,
    scores: Array,
    axis: int,
    classes: int,
    batch: tuple[int, ...],
    ignore_index: int | None,
) -> tuple[Array, Array]:
    """The labels as rows [N, K] and which rows count [N]."""
    given = np.asarray(target)
    if given.shape == scores.shape:
        if ignore_index is not None:
            raise ValueError(f"{function}: ignore_index needs hard labels; give a soft row of zeros instead")
        soft = np.moveaxis(real_array(function, "target", target, finite=True), axis, -1).reshape(-1, classes)
        return soft, np.ones(len(soft), dtype=bool)
    if given.shape != batch:
        raise ValueError(
            f"{function}: the target has shape {given.shape}; scores of shape {scores.shape} with classes on axis "
            f"{axis} need hard labels of shape {batch} or soft labels of shape {scores.shape}"
        )
    labels = _labels(function, target)
    ignored = np.zeros(batch, dtype=bool) if ignore_index is None else labels == ignore_index
    require(function, "target", labels, ignored | ((labels >= 0) & (labels < classes)), f"0 <= label < K = {classes}")
    kept = ~ignored.reshape(-1)
    return np.where(kept[:, np.newaxis], one_hot(np.where(ignored, 0, labels).reshape(-1), classes), 0.0), kept
