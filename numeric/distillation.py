"""Knowledge distillation: a student's softened distribution against a teacher's, at temperature τ.

The soft target is softmax(t/τ) of the teacher's logits t. With ``divergence="cross_entropy"`` the loss of a row is
−Σ softmax(t/τ) log softmax(z/τ); with ``"kl"`` it is that minus the teacher's entropy, which has the same gradient.
``scale="temperature_squared"`` multiplies by τ², so that gradients keep their size as τ grows; ``"none"`` does not.
The mean is over rows.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, class_axis, number, option, real_array, same_shape, zero_times
from .softmax import log_softmax, softmax
from .targets import REDUCTIONS

DIVERGENCES = ("cross_entropy", "kl")
SCALES = ("temperature_squared", "none")


def distillation_loss(
    z: ArrayLike,
    teacher: ArrayLike,
    temperature: float,
    axis: int = -1,
    *,
    divergence: str = "cross_entropy",
    scale: str = "temperature_squared",
    reduction: str = "mean",
) -> Array:
    """s · D(softmax(t/τ), softmax(z/τ)) per row, reduced; s = τ² or 1, D cross-entropy or KL.

    Shapes: z (student), teacher [..., K, ...], equal -> scalar, or [...] for ``reduction="none"``.
    Domain: logits in [−inf, inf), τ > 0. Raises: ValueError for unequal shapes, τ <= 0, an unknown option, NaN.
    Source: Hinton, Vinyals, Dean (2015), "Distilling the Knowledge in a Neural Network", eq. (1) and section 2.

    >>> round(float(distillation_loss([0.0, 0.0], [0.0, 0.0], 2.0) / np.log(2)), 12)
    4.0
    >>> float(distillation_loss([1.0, 3.0], [1.0, 3.0], 2.0, divergence="kl"))
    0.0
    """
    student, taught, axis = _arguments("distillation_loss", z, teacher, axis, divergence, scale, reduction)
    tau = number("distillation_loss", "temperature", temperature, low=0.0, open_low=True)
    weights = softmax(taught, axis, temperature=tau)
    distance = -log_softmax(student, axis, temperature=tau)
    if divergence == "kl":
        teacher_log = log_softmax(taught, axis, temperature=tau)
        distance = distance + np.where(weights == 0, 0.0, teacher_log)
    losses = np.sum(zero_times(weights, distance), axis=axis) * (tau**2 if scale == "temperature_squared" else 1.0)
    return losses if reduction == "none" else np.sum(losses) / (losses.size if reduction == "mean" else 1)


def distillation_gradient(
    z: ArrayLike,
    teacher: ArrayLike,
    temperature: float,
    axis: int = -1,
    *,
    divergence: str = "cross_entropy",
    scale: str = "temperature_squared",
    reduction: str = "mean",
) -> Array:
    """By the student's logits: (s/τ)(softmax(z/τ) − softmax(t/τ)), so τ(q − p) with s = τ²; over N rows for the mean.

    Shapes, domain, errors as ``distillation_loss`` -> the shape of z; the same for both divergences.
    Source: Hinton, Vinyals, Dean (2015), eq. (2).

    >>> distillation_gradient([0.0, 0.0], [0.0, -np.inf], 2.0)
    array([-1.,  1.])
    """
    student, taught, axis = _arguments("distillation_gradient", z, teacher, axis, divergence, scale, reduction)
    tau = number("distillation_gradient", "temperature", temperature, low=0.0, open_low=True)
    factor = tau if scale == "temperature_squared" else 1.0 / tau
    if reduction == "mean":
        factor /= student.size // student.shape[axis]
    return factor * (softmax(student, axis, temperature=tau) - softmax(taught, axis, temperature=tau))


def _arguments(
    function: str, z: ArrayLike, teacher: ArrayLike, axis: int, divergence: str, scale: str, reduction: str
) -> tuple[Array, Array, int]:
    option(function, "divergence", divergence, DIVERGENCES)
    option(function, "scale", scale, SCALES)
    option(function, "reduction", reduction, REDUCTIONS)
    student = real_array(function, "z", z, analytic=True, upper=False)
    taught = real_array(function, "teacher", teacher, upper=False)
    same_shape(function, "z", student, "teacher", taught)
    if student.size == 0 and reduction == "mean":
        raise ValueError(f"{function}: z has shape {student.shape}: there is no row to take the mean of")
    return student, taught, class_axis(function, "z", student, axis)
