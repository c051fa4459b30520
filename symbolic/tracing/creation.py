"""NumPy's functions that make arrays, on symbolic sizes: zeros, ones, full, arange, linspace, eye, tri, meshgrid,
copies.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language import vocabulary as voc
from ..language.arrays import Array, elementwise
from ..language.errors import UnsupportedError
from ..language.indices import index
from . import elementwise as el
from .dispatch import TABLES
from .table import cast, function, kind_named, plain
from .values import Traced, lift, shape_of, size_of


@function("zeros", "empty")
def zeros(shape: Any, dtype: Any = None, order: Any = None) -> Traced:
    """Zeros; `empty` is read as zeros, since what it holds must be written before it is read."""
    return Traced(voc.full(shape_of(shape), 0), kind_named(dtype))


@function("ones")
def ones(shape: Any, dtype: Any = None, order: Any = None) -> Traced:
    """Ones."""
    return Traced(voc.full(shape_of(shape), 1), kind_named(dtype))


@function("full")
def full(shape: Any, value: Any, dtype: Any = None, order: Any = None) -> Traced:
    """A value stretched to a shape."""
    given = lift(value)
    stretched = re.broadcast_to(given.array, shape_of(shape))
    finite = None if given.finite is None else re.broadcast_to(given.finite, shape_of(shape))
    return Traced(re.fresh(stretched), kind_named(dtype, given.kind), finite=finite)


@function("zeros_like", "empty_like")
def zeros_like(value: Any, dtype: Any = None, shape: Any = None) -> Traced:
    """Zeros of the same shape and kind."""
    return full_like(value, 0, dtype, shape)


@function("ones_like")
def ones_like(value: Any, dtype: Any = None, shape: Any = None) -> Traced:
    """Ones of the same shape and kind."""
    return full_like(value, 1, dtype, shape)


@function("full_like")
def full_like(value: Any, fill: Any, dtype: Any = None, shape: Any = None) -> Traced:
    """A value in the shape and kind of another array."""
    like = lift(value)
    like._whole()
    made = full(list(like.shape) if shape is None else shape, fill)
    made.kind = kind_named(dtype, like.kind)
    if made.kind == "int" and lift(fill).kind == "float":
        raise UnsupportedError("a float fills an array of integers, where NumPy would cut it; give dtype=float")
    return made


@function("array", "copy", "asfarray")
def array(value: Any, dtype: Any = None, **options: Any) -> Traced:
    """A new array."""
    given = lift(value)
    return cast(given if isinstance(value, Traced) else Traced(given.array, given.kind), dtype)


@function("asarray", "ascontiguousarray", "asanyarray", "atleast_1d", "require")
def asarray(value: Any, dtype: Any = None, *rest: Any, **options: Any) -> Traced:
    """The array itself where it already is one of the dtype; else a new one."""
    if isinstance(value, Traced) and value.ndim and kind_named(dtype, value.kind) == value.kind:
        return value
    return array(value, dtype)


@function("arange")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Traced:
    """start, start + step, ... below stop."""
    low, high = (0, start) if stop is None else (start, stop)
    a, b, s = lift(low), lift(high), lift(step)
    if "float" in (a.kind, b.kind, s.kind) and not all(x.body.is_integer for x in (a, b, s)):
        raise UnsupportedError("arange with a step that is not an integer; write start + step*np.arange(n)")
    count = (
        sp.ceiling((b.body - a.body) / s.body)
        if (b.body - a.body).is_number
        else size_of(el.floor_divide(b - a + s - 1, s))
    )
    i = index("i", count)
    kind = "float" if "float" in (a.kind, b.kind, s.kind) else "int"
    return Traced(Array((i,), a.body + s.body * (sp.S.Zero if count == 1 else i)), kind_named(dtype, kind))


@function("linspace")
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None) -> Traced:
    """Evenly spaced numbers; with one of them it is the start."""
    count = size_of(num)
    i = index("i", count)
    parts = count - 1 if endpoint else count
    if count != 1 and not (parts.is_positive or parts.is_Integer):
        raise UnsupportedError(f"linspace with {count} numbers, which may be 1; give a size of at least 2, e.g. N+1")
    share = Array((i,), sp.S.Zero if count == 1 else i / parts)
    return Traced(
        elementwise(lambda a, b, t: a + (b - a) * t, plain(start).array, plain(stop).array, share, name="linspace")
    )


@function("eye", "identity")
def eye(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = None, **options: Any) -> Traced:
    """Ones on a diagonal."""
    return Traced(
        re.eye(size_of(rows), None if columns is None else size_of(columns), size_of_any(k)), kind_named(dtype)
    )


@function("tri")
def tri(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = None) -> Traced:
    """Ones on and below a diagonal."""
    return TABLES["tril"](ones((rows, rows if columns is None else columns)), k)


def size_of_any(k: Any) -> Any:
    """An offset: a number or a form in sizes."""
    return lift(k).body


@function("meshgrid")
def meshgrid(*values: Any, indexing: str = "xy", **options: Any) -> list[Traced]:
    """Coordinates of a grid."""
    given = [plain(v) for v in values]
    order = list(range(len(given)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = order[1], order[0]
    shape = [given[n].array.shape[0] for n in order]
    return [
        Traced(
            re.broadcast_to(
                re.fresh(
                    Array([g.array.indices[0] if order[a] == n else index("i", 1) for a in range(len(given))], g.body)
                ),
                shape,
            ),
            g.kind,
        )
        for n, g in enumerate(given)
    ]
