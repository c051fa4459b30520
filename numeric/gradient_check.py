"""A hand-written gradient against differences of its forward pass, at one point: agreement, a mismatch, or no answer.

Differences can mislead at a kink, at the edge of a domain, or where a function is steep. A mismatch is reported only
when the estimate's own error is far below it and a second step size says the same; a point where one-sided slopes do
not meet is a kink and gives no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arguments import Array
from .differences import richardson_jvp

Arguments = Mapping[str, Any]
FLOOR = 1e-2  # errors are relative to the largest entry, but not below this
TOLERANCE = 2e-6  # relative mismatch from which a gradient is called wrong
LIMIT = 30  # arrays with more entries are differenced along random directions


@dataclass(frozen=True)
class Mismatch:
    """Where a gradient is wrong: the index (empty with a direction), the claimed and the true value."""

    index: tuple[int, ...]
    claimed: float
    difference: float
    what: str = ""


@dataclass(frozen=True)
class Checked:
    """What one point said: `compared` entries agreed, `mismatch` where one did not, `skipped` with the reason."""

    compared: int
    mismatch: Mismatch | None = None
    skipped: str = ""


def check_gradient(forward: Callable[..., Any], backward: Callable[[Arguments], Any], arguments: Arguments,
                   variable: str,
                   cotangent: Array | None, *, room: Array | None = None,
                   margin: Callable[[Arguments], float] | None = None,
                   special: bool = False) -> Checked:
    """Compare a claimed gradient at one point with differences of Σ cotangent · forward.

    `room` is the distance of each entry of the variable from the edge of its domain; `margin` is the least |value| of
    what must not vanish (kinks), evaluated at both ends of a step as well. With `special` the point was chosen to lie
    at a zero or a tie, and one-sided slopes are compared before anything is concluded.

    >>> square = lambda x: np.sum(x**2)
    >>> check_gradient(square, lambda given: 2 * given["x"], {"x": np.array([1.0, 2.0])}, "x", None).compared
    2
    >>> check_gradient(square, lambda given: given["x"], {"x": np.array([1.0, 2.0])}, "x", None).mismatch.index
    (0,)
    """
    x = np.asarray(arguments[variable], dtype=float)

    def loss(value: Array) -> float:
        given = {**arguments, variable: float(value) if value.ndim == 0 else value}
        out = np.asarray(forward(**given), dtype=float)
        return float(np.sum(out * cotangent)) if cotangent is not None else float(out)

    if not np.isfinite(loss(x)):
        return Checked(0, skipped="the forward pass is not finite there")
    try:
        claimed = np.asarray(backward(dict(arguments)), dtype=float)
    except (ZeroDivisionError, FloatingPointError):
        claimed = np.full(x.shape, np.nan)
    except np.linalg.LinAlgError:
        claimed = np.full(x.shape, np.nan)
    if claimed.shape != x.shape:
        return Checked(0, Mismatch((), float("nan"), float("nan"),
                                   f"the gradient has shape {claimed.shape}, {variable} has {x.shape}"))
    scale = max(float(np.max(np.abs(claimed[np.isfinite(claimed)]), initial=0.0)), FLOOR)
    compared = 0
    for index in np.ndindex(x.shape):
        if compared >= LIMIT:
            break
        tangent = np.zeros_like(x)
        tangent[index] = 1.0
        limit = 6e-3 * max(1.0, abs(float(x[index])))
        h = limit if room is None else min(limit, 0.2 * float(room[index]))
        if margin is not None and not _keeps_away(margin, arguments, variable, x, tangent, h):
            h = h / 64
            if not _keeps_away(margin, arguments, variable, x, tangent, h):
                continue
        found = _slope(loss, x, tangent, h)
        if found is None:
            continue
        value, error = found
        scale = max(scale, abs(value))
        got = float(claimed[index])
        wrong = not np.isfinite(got) or abs(got - value) > TOLERANCE * scale + 50 * error
        if wrong:
            again = _slope(loss, x, tangent, h / 7)
            if again is None or abs(again[0] - value) > 0.05 * (abs(got - value) if np.isfinite(got) else scale):
                continue
            if special and not _smooth(loss, x, tangent, h / 7):
                continue
            return Checked(compared, Mismatch(index, got, value))
        compared += 1
    return Checked(compared)


def _keeps_away(margin: Callable[[Arguments], float], arguments: Arguments, variable: str, x: Array, tangent: Array,
                h: float) -> bool:
    values = []
    for s in (-h, 0.0, h):
        moved = x + s * tangent
        values.append(np.atleast_1d(np.asarray(margin({**arguments,
                                                       variable: float(moved) if moved.ndim == 0 else moved}))))
    same = all(np.all(np.sign(v) == np.sign(values[0])) for v in values)
    return bool(same and min(float(np.min(np.abs(v), initial=np.inf)) for v in values) > 0)


def _slope(loss: Callable[[Array], float], x: Array, tangent: Array, h: float) -> tuple[float, float] | None:
    """The derivative along a tangent and its error; None where the forward pass fails or the estimate does not
    converge.
    """
    step = h / max(1.0, float(np.max(np.abs(x * (tangent != 0)))))
    try:
        estimate = richardson_jvp(lambda v: np.asarray(loss(v)), x, tangent, step=step)
    except (ValueError, ZeroDivisionError, np.linalg.LinAlgError):
        return None
    value, error = float(estimate.value), float(estimate.error)
    noise = 1e-13 * abs(loss(x)) / h
    if not np.isfinite(value) or error > 1e-4 * max(abs(value), FLOOR):
        return None
    return value, error + noise


def _smooth(loss: Callable[[Array], float], x: Array, tangent: Array, h: float) -> bool:
    """Whether the slopes from the left and from the right meet as the step shrinks."""
    middle = loss(x)

    def gap(s: float) -> float:
        right, left = (loss(x + s * tangent) - middle) / s, (middle - loss(x - s * tangent)) / s
        return abs(right - left)

    wide, narrow = gap(h), gap(h / 8)
    return bool(narrow <= 0.3 * wide + 1e-6)
