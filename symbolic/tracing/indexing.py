"""NumPy's functions that select and write by places: take, take_along_axis, put_along_axis, add.at."""

from __future__ import annotations

from typing import Any

from ..language import selection
from ..language.arrays import normal_axis
from ..language.errors import UnsupportedError
from .creation import arange
from .shaping import ravel, reshape
from .table import function, plain
from .values import Traced, read_key


@function("take")
def take(value: Any, places: Any, axis: Any = None, **options: Any) -> Traced:
    """Elements at places along an axis."""
    given = ravel(value) if axis is None else plain(value)
    lead = (slice(None),) * normal_axis(axis or 0, given.ndim, given.array.shape)
    return given[(*lead, places)]


def _along(value: Traced, places: Traced, axis: int) -> tuple[Any, ...]:
    axis = normal_axis(axis, value.ndim, value.array.shape)
    key: list[Any] = []
    for n in range(value.ndim):
        if n == axis:
            key.append(places)
        else:
            size = places.array.shape[n] if places.array.shape[n] != 1 else value.array.shape[n]
            key.append(reshape(arange(size), *(-1 if m == n else 1 for m in range(value.ndim))))
    return tuple(key)


@function("take_along_axis")
def take_along_axis(value: Any, places: Any, axis: Any = -1) -> Traced:
    """Elements at places, one place an entry."""
    given = plain(value)
    return given[_along(given, plain(places), axis)]


@function("put_along_axis")
def put_along_axis(value: Any, places: Any, new: Any, axis: Any) -> None:
    """Elements at places written."""
    target = plain(value)
    target[_along(target, plain(places), axis)] = new


@function("add.at")
def add_at(value: Any, key: Any, increment: Any = None) -> None:
    """Added at places; a place that is named twice counts twice."""
    if not isinstance(value, Traced):
        raise UnsupportedError("np.add.at on something that is not an array of this function")
    value.store(selection.added(value.array, read_key(key), plain(increment).array))


@function("subtract.at")
def subtract_at(value: Any, key: Any, decrement: Any) -> None:
    """Subtracted at places."""
    add_at(value, key, -plain(decrement))


@function("bincount")
def bincount(places: Any, weights: Any = None, minlength: Any = 0) -> Traced:
    """How often, or with which weight, each integer occurs."""
    raise UnsupportedError(
        "np.bincount gives a number of entries that depends on the data; write out = np.zeros(K); np.add.at(out, i, w)"
    )
