"""NumPy's functions that rearrange arrays; where NumPy gives a view, so do these, and a write through it reaches the
base.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language.arrays import Array, normal_axis
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import exact_quotient
from ..language.nodes import Delta
from . import elementwise as el
from .dispatch import TABLES
from .table import function, plain, unwrapped
from .values import Traced, lift, shape_of, size_of


@function("reshape")
def reshape(value: Any, shape: Any = None, *more: Any, order: str = "C", **named: Any) -> Traced:
    """Another shape, row by row."""
    if order != "C":
        raise UnsupportedError(f"reshape with order={order!r}; transpose first, then reshape")
    given = plain(value)
    asked = named.get("newshape", shape)
    sizes = [lift(n).body for n in ([asked, *more] if more or not isinstance(asked, (tuple, list)) else asked)]
    back = (lambda old, new: re.reshape(new, old.shape)) if given.contiguous else None
    return given.view(lambda a: re.reshape(a, sizes), back, contiguous=True)


@function("ravel")
def ravel(value: Any, order: str = "C") -> Traced:
    """One axis with all elements."""
    return reshape(value, -1, order=order)


@function("transpose", "permute_dims")
def transpose(value: Any, axes: Any = None) -> Traced:
    """Axes in another order."""
    given = plain(value)
    order = list(range(given.ndim))[::-1] if axes is None else [int(a) % given.ndim for a in axes]
    back = [order.index(a) for a in range(given.ndim)] if sorted(order) == list(range(given.ndim)) else order
    return given.view(lambda a: a.transpose(order), lambda old, new: new.transpose(back))


@function("swapaxes")
def swapaxes(value: Any, first: int, second: int) -> Traced:
    """Two axes exchanged."""
    return plain(value).view(lambda a: re.swapaxes(a, first, second), lambda old, new: re.swapaxes(new, first, second))


@function("matrix_transpose")
def matrix_transpose(value: Any) -> Traced:
    """The last two axes exchanged."""
    return swapaxes(value, -1, -2)


@function("moveaxis")
def moveaxis(value: Any, source: Any, destination: Any) -> Traced:
    """Axes moved."""
    return plain(value).view(
        lambda a: re.moveaxis(a, source, destination), lambda old, new: re.moveaxis(new, destination, source)
    )


@function("rollaxis")
def rollaxis(value: Any, axis: int, start: int = 0) -> Traced:
    """One axis moved before another."""
    return moveaxis(value, axis, start - 1 if start > axis else start)


def _keeping(value: Any, get: Callable[[Array], Array]) -> Traced:
    """A view with more or fewer axes of size 1."""
    given = plain(value)
    return given.view(get, lambda old, new: re.reshape(new, old.shape), contiguous=given.contiguous)


@function("expand_dims")
def expand_dims(value: Any, axis: Any) -> Traced:
    """New axes of size 1."""
    return _keeping(value, lambda a: re.expand_dims(a, axis))


@function("squeeze")
def squeeze(value: Any, axis: Any = None) -> Traced:
    """Axes of size 1 dropped."""
    return _keeping(value, lambda a: re.squeeze(a, axis))


def _copying(f: Callable[..., Array]) -> Callable[..., Traced]:
    """A function of the language on one array, as NumPy's that gives a new array."""

    def called(value: Any, *args: Any, **kwargs: Any) -> Traced:
        given = plain(value)
        return Traced(
            re.fresh(f(given.array, *map(unwrapped, args), **{k: unwrapped(v) for k, v in kwargs.items()})), given.kind
        )

    return called


def _not_writable(old: Array, new: Array) -> Array:
    raise UnsupportedError("NumPy does not write to a diagonal or a stretched array; write .copy() first")


@function("broadcast_to")
def broadcast_to(value: Any, shape: Any, **options: Any) -> Traced:
    """Stretched to a shape: a view that is not writable."""
    sizes = shape_of(shape)
    return plain(value).view(lambda a: re.fresh(re.broadcast_to(a, sizes)), _not_writable)


@function("concatenate", "concat")
def concatenate(values: Any, axis: Any = 0, **options: Any) -> Traced:
    """Arrays joined along an axis."""
    if isinstance(values, Traced):
        merged = re.moveaxis(values.array, 0, (axis or 0) % max(values.ndim - 1, 1))
        shape = list(merged.shape)
        place = (axis or 0) % max(values.ndim - 1, 1)
        return Traced(
            re.reshape(merged, [*shape[:place], sp.expand(shape[place] * shape[place + 1]), *shape[place + 2 :]]),
            values.kind,
        )
    parts = [plain(v) for v in values]
    arrays = [p.array for p in parts]
    if axis is None:
        arrays, axis = [re.reshape(a, [-1]) for a in arrays], 0
    return Traced(re.concatenate(arrays, axis), el.number_kind(*parts))


@function("stack")
def stack(values: Any, axis: int = 0, **options: Any) -> Traced:
    """Arrays of one shape along a new axis."""
    if isinstance(values, Traced):
        return Traced(re.fresh(re.moveaxis(values.array, 0, axis)), values.kind)
    parts = [plain(v) for v in values]
    return Traced(re.stack([p.array for p in parts], axis), el.number_kind(*parts))


@function("vstack", "row_stack")
def vstack(values: Any, **options: Any) -> Traced:
    """Rows below each other."""
    return concatenate([reshape(v, 1, -1) if lift(v).ndim < 2 else v for v in values], 0)


@function("hstack")
def hstack(values: Any, **options: Any) -> Traced:
    """Arrays beside each other."""
    parts = [reshape(v, 1) if lift(v).ndim == 0 else lift(v) for v in values]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


@function("column_stack")
def column_stack(values: Any) -> Traced:
    """Vectors as columns."""
    return concatenate([reshape(v, -1, 1) if lift(v).ndim == 1 else v for v in values], 1)


@function("append")
def append(value: Any, more: Any, axis: Any = None) -> Traced:
    """Values put at the end."""
    return concatenate([value, more], axis)


@function("split", "array_split")
def split(value: Any, parts: Any, axis: int = 0) -> list[Traced]:
    """Views of equal parts, or of the parts between given places."""
    given = plain(value)
    axis = normal_axis(axis, given.ndim, given.array.shape)
    n = given.array.shape[axis]
    if isinstance(parts, (tuple, list)):
        ends = [0, *parts, None]
    else:
        step = exact_quotient(n, sp.Integer(int(parts)))
        if step is None:
            raise UnsupportedError(
                f"an axis of size {n} is split into {parts} parts; write its size as a product, e.g. {parts}*H"
            )
        ends = [k * step for k in range(int(parts))] + [None]
    lead = (slice(None),) * axis
    return [given[(*lead, slice(a, b))] for a, b in pairwise(ends)]


@function("hsplit")
def hsplit(value: Any, parts: Any) -> list[Traced]:
    """Split along the second axis."""
    return split(value, parts, 1 if lift(value).ndim > 1 else 0)


@function("vsplit")
def vsplit(value: Any, parts: Any) -> list[Traced]:
    """Split along the first axis."""
    return split(value, parts, 0)


@function("flip")
def flip(value: Any, axis: Any = None) -> Traced:
    """Axes run backwards (a view)."""
    return plain(value).view(lambda a: re.flip(a, axis), lambda old, new: re.flip(new, axis))


@function("fliplr")
def fliplr(value: Any) -> Traced:
    """The second axis run backwards."""
    return flip(value, 1)


@function("flipud")
def flipud(value: Any) -> Traced:
    """The first axis run backwards."""
    return flip(value, 0)


@function("repeat")
def repeat(value: Any, repeats: Any, axis: Any = None) -> Traced:
    """Elements repeated in place."""
    if lift(repeats).ndim:
        raise UnsupportedError("np.repeat with a count for every element; write one count for all")
    given = plain(value)
    return Traced(re.repeat(given.array, size_of(repeats), axis), given.kind)


@function("pad")
def pad(value: Any, widths: Any, mode: str = "constant", constant_values: Any = 0, **options: Any) -> Traced:
    """A border of a constant."""
    if mode != "constant":
        raise UnsupportedError(f"np.pad with mode={mode!r}; only constant borders are read")
    given = plain(value)
    return Traced(re.pad(given.array, unwrapped(widths), lift(constant_values).body), given.kind)


@function("tril")
def tril(value: Any, k: Any = 0) -> Traced:
    """The lower triangle."""
    return _triangle(value, k, re.tril)


@function("triu")
def triu(value: Any, k: Any = 0) -> Traced:
    """The upper triangle."""
    return _triangle(value, k, re.triu)


def _triangle(value: Any, k: Any, part: Callable[..., Array]) -> Traced:
    given = lift(value)
    given._whole()
    offset = lift(k).body
    made = Traced(part(given.array, offset), given.kind)
    if given.finite is not None:
        lost = part(Array(given.finite.indices, 1 - given.finite.body), offset)
        made.finite = Array(lost.indices, 1 - lost.body)
    return made


for _name, _f in {
    "roll": re.roll,
    "tile": re.tile,
    "trace": re.trace,
}.items():
    TABLES[_name] = _copying(_f)


@function("diagonal", "linalg.diagonal")
def diagonal(value: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Traced:
    """A diagonal of two axes: a view that is not writable."""
    k = lift(offset).body
    return plain(value).view(lambda a: re.diagonal(a, k, axis1, axis2), _not_writable)


@function("diag")
def diag(value: Any, k: Any = 0) -> Traced:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix."""
    given = plain(value)
    return diagonal(given, k) if given.ndim == 2 else Traced(re.diag(given.array, lift(k).body), given.kind)


TABLES["diagflat"] = lambda v, k=0: TABLES["diag"](ravel(v), k)


@function("fill_diagonal")
def fill_diagonal(value: Any, new: Any) -> None:
    """The diagonal written."""
    target = plain(value)
    i, j = target.array.indices[-2:]
    on = Delta(i, j)
    target.store(Array(target.array.indices, on * lift(new).body + (1 - on) * target.body))
