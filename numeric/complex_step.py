"""Derivatives by the complex step: Im f(x + i h t)/h, exact to rounding because nothing is subtracted.

Only for functions that are analytic on the real axis. ``abs``, ``max`` at a tie, ``conj``, comparisons and anything
that takes a real part lose the derivative, some of them without a word; so every result here is checked at run time
and refused when the function dropped the imaginary part. The price is two more evaluations along each direction.
``differences.py`` needs real values only.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, real_array, same_shape
from .differences import Function, step_for

_STEP = 1e-30


class NotAnalytic(ValueError):
    """The function lost the imaginary part, so the complex step would give a wrong derivative."""


def complex_step_jvp(f: Function, x: ArrayLike, tangent: ArrayLike) -> Array:
    """The derivative of f at x along ``tangent``: Im f(x + i h t)/h with h = 1e-30.

    Three checks, each of which raises :class:`NotAnalytic`: f returns complex numbers; their real part is f(x); and
    the derivative agrees with a plain central difference to about four digits, which is what ``x * conj(x)`` and
    kinks fail.

    Shapes: x, tangent [...], equal; the answer has the shape of f(x).
    Raises: NotAnalytic; ValueError for unequal shapes, NaN or infinite input or values.
    Source: Squire, Trapp (1998), "Using complex variables to estimate derivatives of real functions".

    >>> float(complex_step_jvp(np.exp, 0.0, 1.0))
    1.0
    >>> complex_step_jvp(lambda x: x * np.conj(x), 3.0, 1.0)
    Traceback (most recent call last):
    ...
    lemmata.numeric.complex_step.NotAnalytic: complex step: gives 0.0 but a central difference gives 6.0 at
    output index (): f is not analytic there (conj, a real part, or a kink); use real differences
    """
    point = real_array("complex_step_jvp", "x", x, finite=True)
    direction = real_array("complex_step_jvp", "tangent", tangent, finite=True)
    same_shape("complex_step_jvp", "x", point, "tangent", direction)
    real = _real_value(f, point)
    try:
        shifted = np.asarray(f(point + 1j * _STEP * direction))
    except TypeError as error:
        raise NotAnalytic(f"complex step: f does not take complex input ({error}); use real differences") from error
    if shifted.dtype.kind != "c":
        raise NotAnalytic(
            f"complex step: f returned {shifted.dtype} for complex input, so it dropped the imaginary part "
            "(abs, a real part, a comparison); use real differences"
        )
    same_shape("complex_step_jvp", "f(x)", real, "f(x + ih)", shifted)
    if not np.all(np.abs(shifted.real - real) <= 1e-12 * (1.0 + np.abs(real))):
        raise NotAnalytic(
            "complex step: the real part of f(x + ih) is not f(x): f takes another branch on complex input"
        )
    derivative = shifted.imag / _STEP
    _agree_with_difference(f, point, direction, real, derivative)
    return derivative


def _agree_with_difference(f: Function, point: Array, direction: Array, real: Array, derivative: Array) -> None:
    largest = float(np.max(np.abs(direction), initial=0.0))
    if largest == 0.0:
        return
    h = step_for(np.float64) * max(1.0, float(np.max(np.abs(point), initial=0.0))) / largest
    plus, minus = _real_value(f, point + h * direction), _real_value(f, point - h * direction)
    coarse = (plus - minus) / (2.0 * h)
    rounding = 100.0 * np.finfo(np.float64).eps * np.maximum(np.abs(plus), np.abs(minus)) / h
    gap = np.abs(coarse - derivative)
    bad = ~(gap <= 1e-4 * np.maximum(np.abs(coarse), np.abs(derivative)) + rounding + 1e-8 * largest)
    if np.any(bad):
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise NotAnalytic(
            f"complex step: gives {derivative[index]} but a central difference gives {round(float(coarse[index]), 6)} "
            f"at output index {index}: f is not analytic there (conj, a real part, or a kink); use real differences"
        )


def complex_step_jacobian(f: Function, x: ArrayLike) -> Array:
    """All partial derivatives ∂f_o/∂x_i, output indices first.

    Shapes: f(x) [O...], x [I...] -> [O..., I...]. Errors as :func:`complex_step_jvp`.

    >>> complex_step_jacobian(lambda x: x**2, [1.0, 3.0])
    array([[2., 0.],
           [0., 6.]])
    """
    point = real_array("complex_step_jacobian", "x", x, finite=True)
    columns = []
    for index in np.ndindex(point.shape):
        tangent = np.zeros_like(point)
        tangent[index] = 1.0
        columns.append(complex_step_jvp(f, point, tangent))
    output = _real_value(f, point).shape
    if not columns:
        return np.zeros(output + point.shape)
    return np.stack(columns, axis=-1).reshape(output + point.shape)


def complex_step_gradient(f: Function, x: ArrayLike) -> Array:
    """The gradient of a scalar f, in the shape of x. Raises ValueError when f(x) is not a scalar, naming its shape.

    >>> complex_step_gradient(lambda x: np.sum(x**2), [1.0, 3.0])
    array([2., 6.])
    """
    point = real_array("complex_step_gradient", "x", x, finite=True)
    value = _real_value(f, point)
    if value.shape != ():
        raise ValueError(f"complex_step_gradient: f(x) has shape {value.shape}, not (); use complex_step_jacobian")
    return complex_step_jacobian(f, point)


def _real_value(f: Function, point: Array) -> Array:
    value = np.asarray(f(point.copy())).astype(np.float64)
    if not np.all(np.isfinite(value)):
        raise ValueError("complex step: f is not finite at x or close to it; choose a point inside the domain")
    return value
