"""Derivatives by real differences of a function's values: central, Richardson-extrapolated, and one-sided.

This is what judges every hand-written backward function here, so it only ever sees the primal. The arithmetic is
float64; the step comes from the precision the *function* computes in (read off the dtype it returns), because a
float32 function under a float64 step gives noise. For the complex step, which has no cancellation but asks more of
the function, see ``complex_step.py``.

Differences say nothing at a kink: the central one at relu's 0 is 1/2, and near 0 it still is, with no sign of trouble
in the error estimate. There, :func:`one_sided_derivatives` and :func:`subgradient_bracket` give the interval in which
any valid answer lies; left and right that disagree are how a kink within the step is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .arguments import Array, ArrayLike, option, real_array, same_shape

Function = Callable[[Array], ArrayLike]
METHODS = ("central", "richardson", "one_sided")

# The step that balances truncation h^q against rounding eps/h is eps^(1/(q+1)); q is the order of the scheme.
_ORDERS = {"central": 2, "richardson": 6, "one_sided": 4}
_LEVELS = {"central": 1, "richardson": 3, "one_sided": 4}


class NotFiniteError(ValueError):
    """The function is not finite at a point where a difference needs it: undefined there, or outside of float64."""


class Estimate(NamedTuple):
    """A derivative by differences and an estimate of its own error, elementwise."""

    value: Array
    error: Array


def step_for(dtype: npt.DTypeLike = np.float64, *, method: str = "central") -> float:
    """The step for x of size about 1 and a function computed in ``dtype``: eps^(1/3) central, eps^(1/7) Richardson.

    Raises: TypeError for a dtype that is not floating, ValueError for an unknown method.
    Source: Press et al. (2007), "Numerical Recipes", section 5.7.

    >>> round(step_for(np.float64), 9), round(step_for(np.float32), 4)
    (6.055e-06, 0.0049)
    """
    option("step_for", "method", method, METHODS)
    kind = np.dtype(dtype)
    if kind.kind not in "fc":
        raise TypeError(f"step_for: need a floating dtype, got {kind}")
    return float(np.finfo(kind).eps) ** (1.0 / (_ORDERS[method] + 1))


def richardson_jvp(
    f: Function,
    x: ArrayLike,
    tangent: ArrayLike,
    *,
    step: float | None = None,
    dtype: npt.DTypeLike | None = None,
    levels: int = 3,
) -> Estimate:
    """d/ds f(x + s t) at s = 0 from central differences at h, h/2, ..., extrapolated to h -> 0, with an error estimate.

    Shapes: x, tangent [...], equal; f maps that shape to any shape, which is the answer's. ``step`` is relative to
    max(1, |x|) where the tangent is not 0; ``dtype`` overrides the precision read off f's output.
    Raises: ValueError where f is not finite at a point that is needed, TypeError where f is not real.
    Source: Ridders (1982); Press et al. (2007), section 5.7.

    >>> estimate = richardson_jvp(np.exp, [0.0, 1.0], [1.0, 0.0])
    >>> bool(np.all(np.abs(estimate.value - [1.0, 0.0]) < 1e-12))
    True
    """
    point, direction = _point_and_tangent("richardson_jvp", x, tangent)
    h = _scaled_step(f, point, direction, step, dtype, "richardson")
    if h is None:
        zero = np.zeros_like(_value(f, point)[0])
        return Estimate(zero, zero)

    def central(s: float) -> Array:
        return (_value(f, point + s * direction)[0] - _value(f, point - s * direction)[0]) / (2.0 * s)

    return _extrapolate(central, h, levels, 4.0)


def _extrapolate(difference: Callable[[float], Array], h: float, levels: int, base: float) -> Estimate:
    """Neville's table for errors in powers of ``base``: 4 for central differences (h², h⁴, ...), 2 for one-sided
    ones."""
    row = [difference(h)]
    if levels == 1:
        return Estimate(row[0], np.full_like(row[0], np.inf))
    error = np.full_like(row[0], np.inf)
    for level in range(1, levels):
        next_row = [difference(h / 2.0**level)]
        for order in range(1, level + 1):
            weight = base**order
            next_row.append((weight * next_row[order - 1] - row[order - 1]) / (weight - 1.0))
        # Both neighbours must agree with the entry, else the table has not converged (a kink, or a step too large).
        error = np.maximum(np.abs(next_row[-1] - next_row[-2]), np.abs(next_row[-1] - row[-1]))
        row = next_row
    return Estimate(row[-1], error)


def difference_jvp(
    f: Function,
    x: ArrayLike,
    tangent: ArrayLike,
    *,
    method: str = "richardson",
    step: float | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """The derivative of f at x along ``tangent``, by ``"central"`` or ``"richardson"`` differences.

    Shapes, arguments, errors as :func:`richardson_jvp`.

    >>> round(float(difference_jvp(lambda x: np.sum(x**2), [1.0, 2.0], [1.0, 1.0], method="central")), 6)
    6.0
    """
    option("difference_jvp", "method", method, ("central", "richardson"))
    point, direction = _point_and_tangent("difference_jvp", x, tangent)
    if step is None:
        precision = _value(f, point)[1] if dtype is None else np.dtype(dtype)
        step = step_for(precision, method=method)
    return richardson_jvp(f, point, direction, step=step, levels=_LEVELS[method]).value


def difference_jacobian(
    f: Function,
    x: ArrayLike,
    *,
    method: str = "richardson",
    step: float | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """All partial derivatives ∂f_o/∂x_i, output indices first; one pair of evaluations (Richardson: three) per entry
    of x.

    Shapes: f(x) [O...], x [I...] -> [O..., I...]. Errors as :func:`richardson_jvp`.

    >>> np.round(difference_jacobian(lambda x: x**2, [1.0, 3.0]), 9) + 0.0
    array([[2., 0.],
           [0., 6.]])
    """
    point = real_array("difference_jacobian", "x", x, finite=True)
    value, precision = _value(f, point)
    columns = []
    for index in np.ndindex(point.shape):
        tangent = np.zeros_like(point)
        tangent[index] = 1.0
        used = precision if dtype is None else dtype
        columns.append(difference_jvp(f, point, tangent, method=method, step=step, dtype=used))
    if not columns:
        return np.zeros(value.shape + point.shape)
    return np.stack(columns, axis=-1).reshape(value.shape + point.shape)


def difference_gradient(
    f: Function,
    x: ArrayLike,
    *,
    method: str = "richardson",
    step: float | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """The gradient of a scalar f, in the shape of x. Raises ValueError when f(x) is not a scalar, naming its shape.

    >>> np.round(difference_gradient(lambda x: np.sum(x**2), [1.0, 3.0]), 9)
    array([2., 6.])
    """
    point = real_array("difference_gradient", "x", x, finite=True)
    value = _value(f, point)[0]
    if value.shape != ():
        raise ValueError(f"difference_gradient: f(x) has shape {value.shape}, not (); use difference_jacobian or _vjp")
    return difference_jacobian(f, point, method=method, step=step, dtype=dtype)


def difference_vjp(
    f: Function,
    x: ArrayLike,
    cotangent: ArrayLike,
    *,
    method: str = "richardson",
    step: float | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Σ_o g_o ∂f_o/∂x_i, in the shape of x: the gradient of ⟨g, f(x)⟩ by differences.

    Shapes: cotangent as f(x). Errors as :func:`richardson_jvp`, and ValueError for a cotangent of another shape.

    >>> np.round(difference_vjp(lambda x: x**2, [1.0, 3.0], [1.0, 10.0]), 9)
    array([ 2., 60.])
    """
    point = real_array("difference_vjp", "x", x, finite=True)
    g = real_array("difference_vjp", "cotangent", cotangent, finite=True)
    value, precision = _value(f, point)
    same_shape("difference_vjp", "f(x)", value, "cotangent", g)
    used = precision if dtype is None else dtype
    return difference_jacobian(lambda v: np.sum(g * _value(f, v)[0]), point, method=method, step=step, dtype=used)


def difference_hessian(f: Function, x: ArrayLike, *, step: float = 0.02) -> Array:
    """∂²f/∂x_i∂x_j of a scalar f: Richardson differences of Richardson differences, about 1e-9 for a smooth f.

    Shapes: x [I...] -> [I..., I...]. The outer step is large because the inner gradient has only about 13 digits.

    >>> np.round(difference_hessian(lambda x: x[0] ** 2 * x[1], [1.0, 3.0]), 7)
    array([[6., 2.],
           [2., 0.]])
    """
    return difference_jacobian(lambda v: difference_gradient(f, v), x, step=step) + 0.0


def one_sided_derivatives(
    f: Function, x: ArrayLike, tangent: ArrayLike, *, step: float | None = None, dtype: npt.DTypeLike | None = None
) -> tuple[Array, Array]:
    """The derivatives of f along ``tangent`` from the left and from the right, each extrapolated on its own side.

    A kink *at* x is told apart exactly; one closer than the step (6e-4) on either side is not, so shrink ``step``
    there. Shapes, errors as :func:`richardson_jvp`.

    >>> left, right = one_sided_derivatives(np.abs, [0.0], [1.0])
    >>> float(left[0]), float(right[0])
    (-1.0, 1.0)
    """
    point, direction = _point_and_tangent("one_sided_derivatives", x, tangent)
    h = _scaled_step(f, point, direction, step, dtype, "one_sided")
    here = _value(f, point)[0]
    if h is None:
        return np.zeros_like(here), np.zeros_like(here)

    def side(sign: float) -> Array:
        return _extrapolate(
            lambda s: sign * (_value(f, point + sign * s * direction)[0] - here) / s, h, _LEVELS["one_sided"], 2.0
        ).value

    return side(-1.0), side(1.0)


def subgradient_bracket(f: Function, x: ArrayLike, *, step: float | None = None) -> tuple[Array, Array]:
    """Per entry of x, the least and the greatest of the two one-sided partial derivatives of a scalar f.

    At a kink of a convex (or concave) f every valid choice of derivative lies between them; where f is smooth the two
    agree. Shapes: x [...] -> two arrays of that shape. Errors as :func:`richardson_jvp`.

    >>> low, high = subgradient_bracket(lambda x: np.sum(np.maximum(x, 0.0)), [0.0, -1.0])
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0], [1.0, 0.0])
    """
    point = real_array("subgradient_bracket", "x", x, finite=True)
    low, high = np.zeros_like(point), np.zeros_like(point)
    for index in np.ndindex(point.shape):
        tangent = np.zeros_like(point)
        tangent[index] = 1.0
        left, right = one_sided_derivatives(f, point, tangent, step=step)
        if left.shape != ():
            raise ValueError(f"subgradient_bracket: f(x) has shape {left.shape}, not ()")
        low[index], high[index] = min(left, right), max(left, right)
    return low, high


def _point_and_tangent(function: str, x: ArrayLike, tangent: ArrayLike) -> tuple[Array, Array]:
    point = real_array(function, "x", x, finite=True)
    direction = real_array(function, "tangent", tangent, finite=True)
    same_shape(function, "x", point, "tangent", direction)
    return point, direction


def _scaled_step(
    f: Function, point: Array, direction: Array, step: float | None, dtype: npt.DTypeLike | None, method: str
) -> float | None:
    """s such that the largest move |s t| is ``step`` times max(1, |x|) over the entries that move; None if none
    does."""
    moving = direction != 0
    if not np.any(moving):
        return None
    if step is None:
        step = step_for(_value(f, point)[1] if dtype is None else dtype, method=method)
    if not step > 0:
        raise ValueError(f"differences: need step > 0, got {step}")
    size = max(1.0, float(np.max(np.abs(point[moving]))))
    return step * size / float(np.max(np.abs(direction)))


def _value(f: Function, point: Array) -> tuple[Array, np.dtype[np.generic]]:
    """f(point) as finite float64, and the dtype that f itself returned."""
    value = np.asarray(f(point.copy()))
    if value.dtype.kind not in "biuf":
        raise TypeError(f"differences: f must return real numbers, got dtype {value.dtype} of shape {value.shape}")
    precision = value.dtype if value.dtype.kind == "f" else np.dtype(np.float64)
    result = value.astype(np.float64)
    if not np.all(np.isfinite(result)):
        raise NotFiniteError(
            "differences: f is not finite at a point within the step of x; move x away from the edge of the domain or "
            f"give a smaller step (f's value there has shape {result.shape}, "
            f"{int(np.count_nonzero(~np.isfinite(result)))} of {result.size} entries not finite)"
        )
    return result, precision
