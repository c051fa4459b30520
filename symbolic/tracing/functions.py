"""NumPy's functions on traced values: creation, shapes, reductions, contractions, indexing; and the methods of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from ..language import linear_algebra as la
from ..language import rearrangement as re
from ..language import selection
from ..language import vocabulary as voc
from ..language.arrays import Array, elementwise, normal_axis, shape_text
from ..language.errors import ShapeError, UnsupportedError
from ..language.indices import index
from ..language.nodes import ArgMaxIndicator, Delta, IndexSum, replace
from ..language.selection import Chosen
from ..language.sizes import same_size
from . import elementwise as el
from .values import TABLES, Traced, lift, read_key, shape_of, size_of


def function(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table under NumPy's names."""

    def entered(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            TABLES[name] = f
        return f

    return entered


def plain(value: Any) -> Traced:
    """The value, which must be whole and without -inf."""
    given = lift(value)
    given._whole()
    given._finite()
    return given


def kind_named(dtype: Any, default: str = "float") -> str:
    """The kind that a dtype names."""
    if dtype is None:
        return default
    import numpy as np

    letter = np.dtype(getattr(dtype, "dtype_read", dtype)).kind  # `float` is replaced in traced code
    if letter == "c":
        raise UnsupportedError("complex arrays are not read; write real and imaginary parts")
    return {"b": "bool", "i": "int", "u": "int"}.get(letter, "float")


def axes_of(axis: Any) -> Any:
    """An axis or axes as Python integers."""
    return None if axis is None else tuple(int(a) for a in axis) if isinstance(axis, (tuple, list)) else int(axis)


# ---------------------------------------------------------------------- creation
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


@function("array", "asarray", "ascontiguousarray", "asanyarray", "copy", "atleast_1d", "asfarray", "require")
def array(value: Any, dtype: Any = None, copy: bool = True, **options: Any) -> Traced:
    """A new array (a copy, also where NumPy would share memory: a write to it is then refused nowhere but by a loop)."""
    if isinstance(value, Traced) and value.selected is None:
        return cast(value, dtype)
    return cast(Traced(lift(value).array, lift(value).kind), dtype)


def cast(value: Any, dtype: Any = None, **options: Any) -> Traced:
    """A copy under another dtype; floats are not cut to integers."""
    given = lift(value)
    given._whole()
    kind = kind_named(dtype, given.kind)
    if kind == "bool" and given.kind != "bool":
        return el.compare("!=")(given, 0)
    if kind == "int" and given.kind == "float":
        if not given.body.is_integer:
            raise UnsupportedError("astype(int) of floats cuts them; write np.floor or keep the floats")
    return Traced(given.array, kind, finite=given.finite, chosen=given.chosen)


@function("arange")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Traced:
    """start, start + step, ... below stop."""
    low, high = (0, start) if stop is None else (start, stop)
    a, b, s = lift(low), lift(high), lift(step)
    if "float" in (a.kind, b.kind, s.kind) and not all(x.body.is_integer for x in (a, b, s)):
        raise UnsupportedError("arange with a step that is not an integer; write start + step*np.arange(n)")
    count = sp.ceiling((b.body - a.body) / s.body) if (b.body - a.body).is_number else size_of(el.floor_divide(b - a + s - 1, s))
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
    return Traced(elementwise(lambda a, b, t: a + (b - a) * t, plain(start).array, plain(stop).array, share, name="linspace"))


@function("eye", "identity")
def eye(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = None, **options: Any) -> Traced:
    """Ones on a diagonal."""
    return Traced(re.eye(size_of(rows), None if columns is None else size_of(columns), size_of_any(k)), kind_named(dtype))


@function("tri")
def tri(rows: Any, columns: Any = None, k: Any = 0, dtype: Any = None) -> Traced:
    """Ones on and below a diagonal."""
    return tril(ones((rows, rows if columns is None else columns)), k)


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
    return [Traced(re.broadcast_to(re.fresh(Array([g.array.indices[0] if order[a] == n else index("i", 1) for a in range(len(given))], g.body)),
                                   shape), g.kind) for n, g in enumerate(given)]


@function("indices_grid")
def _unused(*_: Any) -> None:  # pragma: no cover
    raise UnsupportedError("np.indices is not read; write np.arange with new axes")


# ---------------------------------------------------------------------- shapes (views where NumPy gives views)
@function("reshape")
def reshape(value: Any, shape: Any = None, *more: Any, order: str = "C", **named: Any) -> Traced:
    """Another shape, row by row."""
    if order != "C":
        raise UnsupportedError(f"reshape with order={order!r}; transpose first, then reshape")
    given = plain(value)
    asked = named.get("newshape", shape)
    sizes = [lift(n).body for n in ([asked, *more] if more or not isinstance(asked, (tuple, list)) else asked)]
    return given.view(lambda a: re.reshape(a, sizes), lambda old, new: re.reshape(new, old.shape))


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
    return plain(value).view(lambda a: re.moveaxis(a, source, destination), lambda old, new: re.moveaxis(new, destination, source))


@function("rollaxis")
def rollaxis(value: Any, axis: int, start: int = 0) -> Traced:
    """One axis moved before another."""
    return moveaxis(value, axis, start - 1 if start > axis else start)


@function("expand_dims")
def expand_dims(value: Any, axis: Any) -> Traced:
    """New axes of size 1."""
    return plain(value).view(lambda a: re.expand_dims(a, axis), lambda old, new: re.reshape(new, old.shape))


@function("squeeze")
def squeeze(value: Any, axis: Any = None) -> Traced:
    """Axes of size 1 dropped."""
    return plain(value).view(lambda a: re.squeeze(a, axis), lambda old, new: re.reshape(new, old.shape))


def _copying(f: Callable[..., Array]) -> Callable[..., Traced]:
    """A function of the language on one array, as NumPy's that gives a new array."""

    def called(value: Any, *args: Any, **kwargs: Any) -> Traced:
        given = plain(value)
        return Traced(re.fresh(f(given.array, *map(_unwrapped, args), **{k: _unwrapped(v) for k, v in kwargs.items()})), given.kind)

    return called


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.body if value.ndim == 0 else value.array
    return type(value)(_unwrapped(v) for v in value) if isinstance(value, (tuple, list)) else value


@function("broadcast_to")
def broadcast_to(value: Any, shape: Any, **options: Any) -> Traced:
    """Stretched to a shape; NumPy's is not writable, so a copy is the same."""
    given = plain(value)
    return Traced(re.fresh(re.broadcast_to(given.array, shape_of(shape))), given.kind)


@function("concatenate", "concat")
def concatenate(values: Any, axis: Any = 0, **options: Any) -> Traced:
    """Arrays joined along an axis."""
    if isinstance(values, Traced):
        merged = re.moveaxis(values.array, 0, (axis or 0) % max(values.ndim - 1, 1))
        shape = list(merged.shape)
        place = (axis or 0) % max(values.ndim - 1, 1)
        return Traced(re.reshape(merged, [*shape[:place], sp.expand(shape[place] * shape[place + 1]), *shape[place + 2:]]), values.kind)
    parts = [plain(v) for v in values]
    arrays = [p.array for p in parts]
    if axis is None:
        arrays, axis = [re.reshape(a, [-1]) for a in arrays], 0
    return Traced(re.concatenate(arrays, axis), el._number_kind(*parts))


@function("stack")
def stack(values: Any, axis: int = 0, **options: Any) -> Traced:
    """Arrays of one shape along a new axis."""
    if isinstance(values, Traced):
        return Traced(re.fresh(re.moveaxis(values.array, 0, axis)), values.kind)
    parts = [plain(v) for v in values]
    return Traced(re.stack([p.array for p in parts], axis), el._number_kind(*parts))


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
        step = re.exact_quotient(n, sp.Integer(int(parts)))
        if step is None:
            raise UnsupportedError(f"an axis of size {n} is split into {parts} parts; write its size as a product, e.g. {parts}*H")
        ends = [k * step for k in range(int(parts))] + [None]
    lead = (slice(None),) * axis
    return [given[(*lead, slice(a, b))] for a, b in zip(ends, ends[1:], strict=False)]


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
    return Traced(re.pad(given.array, _unwrapped(widths), lift(constant_values).body), given.kind)


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


for _name, _f in {"roll": re.roll, "tile": re.tile, "diag": re.diag, "diagonal": re.diagonal, "trace": re.trace}.items():
    TABLES[_name] = _copying(_f)
TABLES["diagflat"] = lambda v, k=0: TABLES["diag"](ravel(v), k)


@function("fill_diagonal")
def fill_diagonal(value: Any, new: Any) -> None:
    """The diagonal written."""
    target = plain(value)
    i, j = target.array.indices[-2:]
    on = Delta(i, j)
    target.store(Array(target.array.indices, on * lift(new).body + (1 - on) * target.body))


# ---------------------------------------------------------------------- reductions
def _marked(value: Any) -> Traced:
    """A value to sum: picked elements are put back among zeros."""
    given = lift(value)
    given._finite()
    if given.selected is not None:
        return el.where(Traced(given.selected, "bool"), Traced(given.array, given.kind), 0)
    return given


@function("sum", "nansum", "add.reduce")
def sum_(value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Sum over axes."""
    _refuse(options)
    given = _marked(value)
    return _into(out, Traced(voc.sum(given.array, axes_of(axis), keepdims), "int" if given.kind == "bool" else given.kind))


def _refuse(options: dict[str, Any]) -> None:
    for name in options:
        raise UnsupportedError(f"the argument {name}= is not read; write it with np.where and without the argument")


def _into(out: Any, result: Traced) -> Traced:
    if out is None:
        return result
    lift(out).write(result)
    return lift(out)


@function("mean", "nanmean")
def mean(value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Mean over axes."""
    _refuse(options)
    given = lift(value)
    if given.selected is not None:
        return el.divide(sum_(given), sum_(Traced(given.selected, "bool")))
    return _into(out, Traced(voc.mean(plain(given).array, axes_of(axis), keepdims)))


@function("var", "nanvar")
def var(value: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, correction: Any = None) -> Traced:
    """Variance over axes."""
    return Traced(voc.var(plain(value).array, axes_of(axis), keepdims, lift(ddof if correction is None else correction).body))


@function("std", "nanstd")
def std(value: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, correction: Any = None) -> Traced:
    """Standard deviation over axes."""
    return TABLES["sqrt"](var(value, axis, ddof=ddof, keepdims=keepdims, correction=correction))


@function("average")
def average(value: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Traced:
    """Weighted mean."""
    if weights is None:
        return mean(value, axis, keepdims=keepdims)
    a, w = plain(value), plain(weights)
    if w.ndim != a.ndim:
        w = w[(None,) * 0 + tuple(slice(None) if n == normal_axis(axis, a.ndim, a.array.shape) else None for n in range(a.ndim))]
    whole = a * 0 + w
    return el.divide(sum_(a * w, axis, keepdims=keepdims), sum_(whole, axis, keepdims=keepdims))


@function("max", "amax", "nanmax")
def max_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Largest element over axes; of what is masked with -inf, the largest that is not."""
    _refuse(options)
    given = lift(value)
    given._whole()
    if given.finite is not None:
        lowest = voc.min(given.array, axes_of(axis), True)
        raised = elementwise(lambda m, v, low: m * v + (1 - m) * low, given.finite, given.array, lowest, name="max")
        return Traced(voc.max(raised, axes_of(axis), keepdims))
    if given.kind == "bool":
        return any_(given, axis, keepdims=keepdims)
    return Traced(voc.max(given.array, axes_of(axis), keepdims), given.kind)


@function("min", "amin", "nanmin")
def min_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Smallest element over axes."""
    _refuse(options)
    given = plain(value)
    return Traced(voc.min(given.array, axes_of(axis), keepdims), given.kind)


@function("ptp")
def ptp(value: Any, axis: Any = None, keepdims: bool = False) -> Traced:
    """Largest minus smallest."""
    return max_(value, axis, keepdims=keepdims) - min_(value, axis, keepdims=keepdims)


@function("prod", "nanprod")
def prod(value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Product over axes."""
    _refuse(options)
    given = plain(value)
    return Traced(voc.prod(given.array, axes_of(axis), keepdims), "int" if given.kind == "bool" else given.kind)


@function("all")
def all_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """Whether all hold."""
    return Traced(voc.prod(el._truth_values(plain(value)).array, axes_of(axis), keepdims), "bool")


@function("any")
def any_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """Whether one holds."""
    return el.invert(all_(el.invert(el._truth_values(plain(value))), axis, keepdims=keepdims))


@function("count_nonzero")
def count_nonzero(value: Any, axis: Any = None, keepdims: bool = False) -> Traced:
    """How many are not 0."""
    return sum_(el._truth_values(plain(value)), axis, keepdims=keepdims)


@function("argmax")
def argmax(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """The place of the largest element, as an indicator of the place."""
    given = plain(value)
    source = re.reshape(given.array, [-1]) if axis is None else given.array
    place = source.indices[normal_axis(axis or 0, source.ndim, source.shape)]
    rest = [i for i in source.indices if i != place]
    if rest or keepdims:
        k = place.fresh("k")
        body = IndexSum(k * ArgMaxIndicator(source.body, place, k), k)
        return Traced(Array(rest if not keepdims else [index("i", 1) if i == place else i for i in source.indices], body), "int")

    def indicator(at: sp.Expr) -> sp.Expr:
        return ArgMaxIndicator(source.body, place, at)

    k = place.fresh("k")
    return Traced(Array((), IndexSum(k * indicator(k), k)), "int", chosen=Chosen(indicator))


@function("argmin")
def argmin(value: Any, axis: Any = None, **options: Any) -> Traced:
    """The place of the smallest element."""
    return argmax(-plain(value), axis, **options)


@function("cumsum", "nancumsum")
def cumsum(value: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Traced:
    """Running sums."""
    given = plain(value)
    return Traced(re.cumsum(given.array, axis), "int" if given.kind == "bool" else given.kind)


@function("cumprod")
def cumprod(value: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Traced:
    """Running products."""
    given = plain(value)
    return Traced(re.cumprod(given.array, axis), given.kind)


@function("diff")
def diff(value: Any, n: int = 1, axis: int = -1) -> Traced:
    """Differences of neighbours."""
    given = plain(value)
    lead = (slice(None),) * normal_axis(axis, given.ndim, given.array.shape)
    for _ in range(n):
        given = given[(*lead, slice(1, None))] - given[(*lead, slice(None, -1))]
    return given


# ---------------------------------------------------------------------- contractions
def _float_or_int(*given: Traced) -> str:
    kind = el._number_kind(*given)
    return "int" if kind == "bool" else kind


@function("matmul")
def matmul(left: Any, right: Any, out: Any = None) -> Traced:
    """Matrix product."""
    a, b = plain(left), plain(right)
    return _into(out, Traced(voc.matmul(re.fresh(a.array), re.fresh(b.array)), _float_or_int(a, b)))


@function("dot")
def dot(left: Any, right: Any) -> Traced:
    """NumPy's dot: over the last axis of the left and the last but one of the right, with no broadcasting."""
    a, b = plain(left), plain(right)
    if not a.ndim or not b.ndim:
        return el.multiply(a, b)
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


@function("vdot")
def vdot(left: Any, right: Any) -> Traced:
    """Dot of the flattened arrays."""
    return dot(ravel(left), ravel(right))


@function("inner")
def inner(left: Any, right: Any) -> Traced:
    """Over the last axes of both."""
    a, b = plain(left), plain(right)
    return el.multiply(a, b) if not a.ndim or not b.ndim else tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


@function("vecdot", "linalg.vecdot")
def vecdot(left: Any, right: Any, axis: int = -1) -> Traced:
    """Dot along an axis, with broadcasting."""
    return sum_(el.multiply(left, right), axis)


@function("outer", "multiply.outer")
def outer(left: Any, right: Any) -> Traced:
    """Outer product of the flattened arrays."""
    return el.multiply(reshape(left, -1, 1), reshape(right, 1, -1))


TABLES["add.outer"] = lambda a, b: el.add(reshape(a, -1, 1), reshape(b, 1, -1))
TABLES["subtract.outer"] = lambda a, b: el.subtract(reshape(a, -1, 1), reshape(b, 1, -1))


@function("tensordot")
def tensordot(left: Any, right: Any, axes: Any = 2) -> Traced:
    """Contraction of pairs of axes."""
    a, b = plain(left), plain(right)
    if isinstance(axes, int):
        pairs = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    else:
        pairs = tuple([x % g.ndim for x in (p if isinstance(p, (tuple, list)) else [p])] for p, g in zip(axes, (a, b), strict=True))
    x, y = re.fresh(a.array), re.fresh(b.array)
    mapping: dict[Any, Any] = {}
    for m, n in zip(*pairs, strict=True):
        if not same_size(x.shape[m], y.shape[n]):
            raise ShapeError(f"tensordot: axis {m} of {shape_text(x.shape)} against axis {n} of {shape_text(y.shape)}")
        mapping[y.indices[n]] = x.indices[m]
    body = x.body * replace(y.body, mapping)
    for m in pairs[0]:
        body = IndexSum(body, x.indices[m])
    return Traced(Array([i for n, i in enumerate(x.indices) if n not in pairs[0]] + [i for n, i in enumerate(y.indices) if n not in pairs[1]], body),
                  _float_or_int(a, b))


@function("einsum")
def einsum(pattern: Any, *operands: Any, **options: Any) -> Traced:
    """Einstein summation; ``...`` stands for leading axes that are stretched against each other."""
    if not isinstance(pattern, str):
        raise UnsupportedError("einsum with lists of axes; write the pattern as a text")
    given = [plain(o) for o in operands]
    text = pattern.replace(" ", "")
    if "..." in text:
        text, given = _with_ellipsis(text, given)
    return Traced(voc.einsum(text, *(re.fresh(g.array) for g in given)), _float_or_int(*given))


def _with_ellipsis(text: str, given: list[Traced]) -> tuple[str, list[Traced]]:
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text]
    counts = [g.ndim - len(t.replace("...", "")) if "..." in t else 0 for t, g in zip(terms, given, strict=True)]
    most = max(counts)
    dots = "".join(free[:most])
    sizes: dict[str, Any] = {}
    for t, g, n in zip(terms, given, counts, strict=True):
        at = t.find("...")
        for c, s in zip(dots[most - n:], g.array.shape[at:at + n], strict=True) if n else ():
            if s != 1:
                sizes.setdefault(c, s)
    new_terms, arrays = [], []
    for t, g, n in zip(terms, given, counts, strict=True):
        at = t.find("...")
        if at >= 0:
            shape = [*g.array.shape[:at], *(sizes.get(c, sp.S.One) for c in dots[most - n:]), *g.array.shape[at + n:]]
            g = Traced(re.broadcast_to(g.array, shape), g.kind)
        new_terms.append(t.replace("...", dots[most - n:] if n else ""))
        arrays.append(g)
    if not arrow:
        letters = "".join(terms).replace("...", "")
        output = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join(new_terms)}->{output.replace('...', dots)}", arrays


@function("kron")
def kron(left: Any, right: Any) -> Traced:
    """Kronecker product."""
    a, b = plain(left), plain(right)
    return Traced(re.kron(a.array, b.array), _float_or_int(a, b))


@function("cross")
def cross(left: Any, right: Any) -> Traced:
    """Cross product of vectors of three elements."""
    a, b = plain(left), plain(right)
    parts = [a[..., (n + 1) % 3] * b[..., (n + 2) % 3] - a[..., (n + 2) % 3] * b[..., (n + 1) % 3] for n in range(3)]
    return stack(parts, -1)


# ---------------------------------------------------------------------- indexing
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
    raise UnsupportedError("np.bincount gives a number of entries that depends on the data; write out = np.zeros(K); np.add.at(out, i, w)")


# ---------------------------------------------------------------------- linear algebra
for _name, _f in {"inv": la.inv, "det": la.det, "matrix_power": la.matrix_power}.items():
    TABLES[f"linalg.{_name}"] = lambda value, *args, f=_f: Traced(f(plain(value).array, *map(_unwrapped, args)))
TABLES["linalg.slogdet"] = lambda value: tuple(Traced(p) for p in la.slogdet(plain(value).array))
TABLES["linalg.multi_dot"] = lambda values: __import__("functools").reduce(dot, values)
for _name in ("matmul", "outer", "tensordot", "cross"):
    TABLES[f"linalg.{_name}"] = TABLES[_name]
TABLES["linalg.trace"], TABLES["linalg.diagonal"] = TABLES["trace"], TABLES["diagonal"]


@function("linalg.solve")
def solve(matrix: Any, right: Any) -> Traced:
    """The solution of a linear system, as the inverse times the right side."""
    return Traced(la.solve(plain(matrix).array, plain(right).array))


@function("linalg.norm", "linalg.vector_norm", "linalg.matrix_norm")
def norm(value: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Traced:
    """Norms of vectors and matrices."""
    order = lift(ord).body if isinstance(ord, Traced) else ord
    return Traced(la.norm(plain(value).array, order, axes_of(axis), keepdims))


# ---------------------------------------------------------------------- methods
def _methods() -> None:
    names = ("sum mean var std max min prod all any argmax argmin cumsum cumprod ptp clip dot trace diagonal repeat ravel swapaxes squeeze take "
             "copy").split()
    for name in names:
        setattr(Traced, name, lambda self, *args, f=TABLES[name], **kwargs: f(self, *args, **kwargs))

    def as_shape(args: tuple[Any, ...]) -> Any:
        return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args

    Traced.reshape = lambda self, *shape, **kw: reshape(self, tuple(as_shape(shape)), **kw)  # type: ignore[attr-defined]
    Traced.transpose = lambda self, *axes: transpose(self, as_shape(axes) or None)  # type: ignore[attr-defined]
    Traced.flatten = lambda self, order="C": cast(ravel(self, order))  # type: ignore[attr-defined]
    Traced.astype = lambda self, dtype, **options: cast(self, dtype)  # type: ignore[attr-defined]
    Traced.fill = lambda self, value: self.write(full_like(self, value))  # type: ignore[attr-defined]
    Traced.conj = Traced.conjugate = lambda self: self  # type: ignore[attr-defined]
    Traced.mT = property(lambda self: swapaxes(self, -1, -2))  # type: ignore[attr-defined]
    Traced.flat = property(lambda self: ravel(self))  # type: ignore[attr-defined]
    Traced.nbytes = property(lambda self: _bytes())  # type: ignore[attr-defined]


def _bytes() -> None:
    raise UnsupportedError("the bytes of an array are not mathematics; drop them")


_methods()
