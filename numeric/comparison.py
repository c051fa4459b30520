"""Comparing two arrays: |a − b| <= atol + rtol · max(|a|, |b|) at every entry, and a report when it does not hold.

The two tolerances add up; it is never "absolute or relative, whichever is kinder". NaN never passes, not even beside
NaN. An infinity passes only beside the same infinity. Unequal shapes are an error and nothing is broadcast; so is an
empty array, since a comparison of nothing would pass whatever the formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .arguments import Array, ArrayLike


@dataclass(frozen=True)
class Comparison:
    """What a comparison found. ``bool(comparison)`` is whether all entries passed; ``str`` is a line to print.

    ``index`` is the worst entry (the largest error relative to what was allowed; a NaN before all others), ``actual``
    and ``expected`` its two values, ``absolute_error``, ``relative_error`` and ``allowed`` its numbers. ``failures``
    counts the entries that did not pass, ``size`` all of them. ``magnitude`` is the largest finite |expected|: where
    it is 0, agreement says little.
    """

    passed: bool
    shape: tuple[int, ...]
    index: tuple[int, ...]
    actual: complex
    expected: complex
    absolute_error: float
    relative_error: float
    allowed: float
    failures: int
    size: int
    magnitude: float
    reason: str

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        head = f"agree at all {self.size} entries" if self.passed else f"{self.failures} of {self.size} entries differ"
        return (
            f"{head} (shape {self.shape}); worst at index {self.index}: {self.actual!r} against {self.expected!r}, "
            f"absolute error {self.absolute_error:.3g}, relative error {self.relative_error:.3g}, "
            f"allowed {self.allowed:.3g}{'; ' + self.reason if self.reason else ''}"
        )


def compare(actual: ArrayLike, expected: ArrayLike, *, rtol: float = 1e-9, atol: float = 1e-12) -> Comparison:
    """Compare entry by entry; see the head of this module for the rule.

    Shapes: equal, any, not empty. Raises: ValueError for unequal shapes (both are named), an empty array, a tolerance
    that is negative or not finite; TypeError for entries that are not numbers.

    >>> bool(compare([1.0, 2.0], [1.0, 2.0 + 1e-12]))
    True
    >>> print(compare([1.0, 2.0], [1.0, 2.5]))
    1 of 2 entries differ (shape (2,)); worst at index (1,): 2.0 against 2.5, absolute error 0.5, relative error 0.2,
    allowed 2.5e-09
    >>> bool(compare(float("nan"), float("nan")))
    False
    """
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not (math.isfinite(tolerance) and tolerance >= 0):
            raise ValueError(f"compare: need {name} >= 0 and finite, got {tolerance}")
    left, right = _numbers("actual", actual), _numbers("expected", expected)
    if left.shape != right.shape:
        raise ValueError(f"compare: actual has shape {left.shape} but expected has shape {right.shape}")
    if left.size == 0:
        raise ValueError(f"compare: both have shape {left.shape}: there is nothing to compare")

    same = left == right
    finite = np.isfinite(left) & np.isfinite(right)
    safe_left, safe_right = np.where(finite, left, 0.0), np.where(finite, right, 0.0)
    with np.errstate(over="ignore"):
        error = np.where(finite, np.abs(safe_left - safe_right), np.where(same, 0.0, np.inf))
        larger = np.maximum(np.abs(safe_left), np.abs(safe_right))
        allowed = np.where(finite, atol + rtol * larger, 0.0)
    passed = same | (finite & (error <= allowed))

    worst = _worst(error, allowed, passed, np.isnan(left) | np.isnan(right))
    a, b = left[worst].item(), right[worst].item()
    size = float(larger[worst])
    reason = (
        "NaN never passes" if a != a or b != b else "" if finite[worst] or passed[worst] else "an infinity on one side"
    )
    return Comparison(
        passed=bool(np.all(passed)),
        shape=left.shape,
        index=worst,
        actual=a,
        expected=b,
        absolute_error=math.nan if a != a or b != b else float(error[worst]),
        relative_error=float(error[worst]) / size if size > 0 else (0.0 if passed[worst] else math.inf),
        allowed=float(allowed[worst]),
        failures=int(np.count_nonzero(~passed)),
        size=int(left.size),
        magnitude=float(np.max(np.abs(safe_right))),
        reason=reason,
    )


def assert_close(
    actual: ArrayLike, expected: ArrayLike, *, rtol: float = 1e-9, atol: float = 1e-12, what: str = "values"
) -> Comparison:
    """:func:`compare`, raising AssertionError with the report when it fails; gives the comparison back.

    >>> assert_close([1.0], [2.0], what="gradient of z")
    Traceback (most recent call last):
    ...
    AssertionError: gradient of z: 1 of 1 entries differ (shape (1,)); worst at index (0,): 1.0 against 2.0, absolute
    error 1, relative error 0.5, allowed 2e-09
    """
    result = compare(actual, expected, rtol=rtol, atol=atol)
    if not result:
        raise AssertionError(f"{what}: {result}")
    return result


def _numbers(name: str, value: ArrayLike) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"compare: {name} must be numeric, got dtype {array.dtype} of shape {array.shape}")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _worst(error: Array, allowed: Array, passed: Array, nan: Array) -> tuple[int, ...]:
    if np.any(nan):
        flat = int(np.argmax(nan))
    elif np.all(passed):
        # Among entries that pass, how close to the limit; an exact match is 0 even where nothing is allowed.
        flat = int(np.argmax(np.where(error == 0, 0.0, error / np.where(allowed > 0, allowed, 1.0))))
    else:
        excess = np.where(passed, -1.0, error / np.where(allowed > 0, allowed, np.finfo(np.float64).tiny))
        flat = int(np.argmax(excess))
    return tuple(int(i) for i in np.unravel_index(flat, error.shape))
