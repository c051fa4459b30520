"""Reading arguments: the one place where inputs become arrays, or an error that names the sizes.

Every function of this pillar starts here, so that a NaN, an empty class axis, a complex number in a function that is
not analytic, or two shapes that do not agree is reported in the same words everywhere. Nothing in here computes.

Real input becomes float64. A function that is analytic also lets complex128 through (``analytic=True``), for the
complex step; its branches then look at the real part only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike


def real_array(
    function: str, name: str, value: ArrayLike, *, analytic: bool = False, finite: bool = False, upper: bool = True
) -> Array:
    """``value`` as a float64 array (complex128 where ``analytic`` allows it), without NaN.

    ``finite`` refuses both infinities; ``upper=False`` refuses +inf only (logits may be −inf, never +inf).

    Raises:
        TypeError: not numeric, or complex where the function is not analytic.
        ValueError: a NaN or a forbidden infinity, with its index.

    >>> real_array("softmax", "z", [1, 2])
    array([1., 2.])
    >>> real_array("softmax", "z", [0.0, float("nan")])
    Traceback (most recent call last):
    ...
    ValueError: softmax: z has a NaN at index (1,) of shape (2,)
    """
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{function}: {name} must be numeric, got dtype {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "c":
        if not analytic:
            raise TypeError(
                f"{function}: {name} is complex, but {function} is not analytic; use real input "
                "(real differences instead of a complex step)"
            )
        array = array.astype(np.complex128)  # a copy, as below: callers may write to it
    else:
        array = array.astype(np.float64)
    _refuse(function, name, np.isnan(array), "a NaN")
    if finite:
        _refuse(function, name, np.isinf(array), "an infinite entry")
    elif not upper:
        _refuse(function, name, np.isposinf(array.real), "+inf (logits lie in [-inf, inf))")
    return array


def _refuse(function: str, name: str, bad: Array, what: str) -> None:
    if np.any(bad):
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        where = f" at index {index} of shape {bad.shape}" if bad.ndim else ""
        raise ValueError(f"{function}: {name} has {what}{where}")


def require(function: str, name: str, array: Array, allowed: Array, domain: str) -> None:
    """Raise ValueError with the first entry of ``array`` where ``allowed`` is False; ``domain`` says what was asked.

    >>> require("log", "x", np.array([1.0, -2.0]), np.array([True, False]), "x > 0")
    Traceback (most recent call last):
    ...
    ValueError: log: need x > 0, but x[1] = -2.0
    """
    bad = ~np.asarray(allowed)
    if np.any(bad):
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        entry = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise ValueError(f"{function}: need {domain}, but {entry} = {array[index]}")


def same_shape(function: str, first: str, a: Array, second: str, b: Array) -> None:
    """Raise ValueError naming both shapes unless they are equal (no broadcasting: sizes equal by luck are not a
    reason).

    >>> same_shape("bce", "z", np.zeros(3), "y", np.zeros((3, 1)))
    Traceback (most recent call last):
    ...
    ValueError: bce: z has shape (3,) but y has shape (3, 1); they must be equal
    """
    if a.shape != b.shape:
        raise ValueError(
            f"{function}: {first} has shape {a.shape} but {second} has shape {b.shape}; they must be equal"
        )


def class_axis(function: str, name: str, array: Array, axis: int) -> int:
    """``axis`` counted from the front, after checking that it exists and has size at least 1.

    >>> class_axis("softmax", "z", np.zeros((3, 5)), -1)
    1
    >>> class_axis("softmax", "z", np.zeros((3, 0)), -1)
    Traceback (most recent call last):
    ...
    ValueError: softmax: z has shape (3, 0), so axis 1 is empty; need a size of at least 1
    """
    if array.ndim == 0:
        raise ValueError(f"{function}: {name} is a scalar; need an axis to work along")
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"{function}: axis {axis} does not exist in {name} of shape {array.shape}")
    axis %= array.ndim
    if array.shape[axis] == 0:
        raise ValueError(
            f"{function}: {name} has shape {array.shape}, so axis {axis} is empty; need a size of at least 1"
        )
    return axis


def number(
    function: str, name: str, value: float, *, low: float = -math.inf, high: float = math.inf, open_low: bool = False
) -> float:
    """``value`` as a finite float inside [low, high] (or (low, high] with ``open_low``), else ValueError.

    >>> number("softmax", "temperature", 0.0, low=0.0, open_low=True)
    Traceback (most recent call last):
    ...
    ValueError: softmax: need temperature > 0.0, got 0.0
    """
    result = float(value)
    if not math.isfinite(result):
        raise ValueError(f"{function}: need a finite {name}, got {result}")
    if result < low or (open_low and result == low):
        raise ValueError(f"{function}: need {name} {'>' if open_low else '>='} {low}, got {result}")
    if result > high:
        raise ValueError(f"{function}: need {name} <= {high}, got {result}")
    return result


def option(function: str, name: str, value: str, allowed: Sequence[str]) -> str:
    """``value`` if it is one of ``allowed``, else ValueError with the list.

    >>> option("bce", "reduction", "avg", ("mean", "sum"))
    Traceback (most recent call last):
    ...
    ValueError: bce: unknown reduction 'avg'; choose one of 'mean', 'sum'
    """
    if value not in allowed:
        raise ValueError(f"{function}: unknown {name} {value!r}; choose one of {', '.join(map(repr, allowed))}")
    return value


def zero_times(a: Array, b: Array) -> Array:
    """The product ``a * b`` with 0 times anything equal to 0: the limit that entropy and cross-entropy mean by 0·log 0.

    >>> zero_times(np.array([0.0, 2.0]), np.array([-np.inf, 3.0]))
    array([0., 6.])
    """
    a, b = np.broadcast_arrays(a, b)
    return np.where(a == 0, 0.0, a * np.where(a == 0, 0.0, b))
