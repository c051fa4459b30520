"""Rearranging arrays: reshape, concatenate, stack, flip, roll, repeat, tile, pad, triangles, diagonals, running sums.

Each is NumPy's function of the same name, written as arithmetic on indices (see `index_arithmetic`): splitting an
axis gives an affine form, merging gives floor and mod, joining gives indicators. An element that stands beside an
indicator may have an index out of its range where the indicator is 0; it has no meaning there and is never evaluated.
What selects and writes by keys is in `selection`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from .arrays import Array, ArrayLike, aligned, as_array, normal_axis, shape_text
from .errors import ShapeError, UnsupportedError
from .index_arithmetic import certainly_nonnegative, exact_quotient, quotient, recombined, remainder
from .indices import Index, index
from .nodes import Delta, IndexProduct, IndexSum, Indicator, replace
from .ranges import simplified
from .sizes import same_size


def with_index(value: Array, axis: int, own: Index, at: sp.Expr) -> Array:
    """The array with another index on one axis: element `at` (a form in `own`) of the old axis."""
    indices = list(value.indices)
    old, indices[axis] = indices[axis], own
    return Array(indices, replace(value.body, {old: at}))


def fresh(value: Array) -> Array:
    """The same array over new indices."""
    own = [i.fresh() for i in value.indices]
    return Array(own, replace(value.body, dict(zip(value.indices, own, strict=True))))


def reshape(value: ArrayLike, shape: Sequence[Any]) -> Array:
    """The elements in row-major order under another shape; one size may be -1.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.sizes import size
    >>> x = array("x", "N,G*D")
    >>> split = reshape(x, [size("N"), size("G"), -1])
    >>> split.shape, reshape(split, x.shape).element(0, 1)
    ((N, G, D), x_{0,1})
    """
    value = as_array(value)
    new = _inferred(value, [_size(n) for n in shape])
    olds = [(n, i) for n, i in enumerate(value.indices) if i.size != 1]
    letters = [index("i", n) for n in new]
    news = [i for i in letters if i.size != 1]
    mapping: dict[Any, Any] = {i: sp.S.Zero for i in value.indices if i.size == 1}
    a = b = 0
    while a < len(olds) or b < len(news):
        group = _group([i.size for _, i in olds[a:]], [i.size for i in news[b:]])
        if group is None:
            raise UnsupportedError(
                f"reshape from {shape_text(value.shape)} to {shape_text(new)}: no axes of the one make axes of the "
                f"other for every size; name the sizes so that products agree, e.g. x=N,G*D for (N, G, D)"
            )
        old_group = [i for _, i in olds[a : a + group[0]]]
        mapping.update(_split(old_group, news[b : b + group[1]]))
        a, b = a + group[0], b + group[1]
    return Array(letters, simplified(replace(value.body, mapping)))  # a merge undoes a split


def _size(n: Any) -> sp.Expr:
    if isinstance(n, str):
        raise ShapeError(f"the shape holds {n!r}; give sizes, not texts")
    return sp.sympify(n)


def _inferred(value: Array, shape: list[sp.Expr]) -> list[sp.Expr]:
    unknown = [n for n, s in enumerate(shape) if s == -1]
    total = sp.expand(value.size)
    if len(unknown) > 1:
        raise ShapeError(f"reshape to {shape_text(shape)}: only one size may be -1")
    known = sp.Mul(*(s for s in shape if s != -1))
    if unknown:
        rest = exact_quotient(total, known)
        if rest is None:
            raise ShapeError(
                f"reshape from {shape_text(value.shape)} to {shape_text(shape)}: {total} is not a multiple of "
                f"{known} for every size; write the size of the axis as a product, e.g. x=N,G*D"
            )
        shape[unknown[0]] = rest
    elif not same_size(total, known):
        raise ShapeError(
            f"reshape from {shape_text(value.shape)} to {shape_text(shape)}: {total} elements against {known}"
        )
    return shape


def _group(old: list[sp.Expr], new: list[sp.Expr]) -> tuple[int, int] | None:
    """The fewest leading axes of both sides with the same number of elements."""
    for total in range(2, len(old) + len(new) + 1):
        for a in range(1, total):
            b = total - a
            if a <= len(old) and b <= len(new) and same_size(sp.Mul(*old[:a]), sp.Mul(*new[:b])):
                return a, b
    return None


def _split(old: list[Index], new: list[Index]) -> dict[Any, Any]:
    """The old indices of one group as forms in the new ones."""
    flat: sp.Expr = sp.S.Zero
    for i in new:
        flat = flat * i.size + i
    mapping = {}
    for i in reversed(old[1:]):
        mapping[i], flat = remainder(flat, i.size), quotient(flat, i.size)
    mapping[old[0]] = recombined(sp.expand(flat))
    return mapping


def broadcast_to(value: ArrayLike, shape: Sequence[Any]) -> Array:
    """The array stretched to a shape."""
    value = as_array(value)
    letters = [index("i", n) for n in shape]
    if value.ndim > len(letters) or not all(
        i.size == 1 or same_size(i.size, o.size) for i, o in zip(value.indices[::-1], letters[::-1], strict=False)
    ):
        raise ShapeError(
            f"the shape {shape_text(value.shape)} does not stretch to {shape_text([i.size for i in letters])}"
        )
    return Array(letters, aligned(value, letters))


def moveaxis(value: ArrayLike, source: Any, destination: Any) -> Array:
    """Axes moved to other places; the others keep their order."""
    value = as_array(value)
    pairs = [
        [normal_axis(a, value.ndim, value.shape) for a in (v if isinstance(v, (tuple, list)) else (v,))]
        for v in (source, destination)
    ]
    order = [a for a in range(value.ndim) if a not in pairs[0]]
    for to, axis in sorted(zip(pairs[1], pairs[0], strict=True)):
        order.insert(to, axis)
    return value.transpose(order)


def swapaxes(value: ArrayLike, first: int, second: int) -> Array:
    """Two axes exchanged."""
    value = as_array(value)
    order = list(range(value.ndim))
    a, b = (normal_axis(x, value.ndim, value.shape) for x in (first, second))
    order[a], order[b] = b, a
    return value.transpose(order)


def expand_dims(value: ArrayLike, axis: Any) -> Array:
    """New axes of size 1 at the given places of the result."""
    value = as_array(value)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = value.ndim + len(axes)
    places = {a % ndim for a in axes}
    rest = iter(value.indices)
    return Array([index("i", 1) if n in places else next(rest) for n in range(ndim)], value.body)


def squeeze(value: ArrayLike, axis: Any = None) -> Array:
    """The array without its axes of size 1 (all of them, or the ones named)."""
    value = as_array(value)
    axes = (
        None
        if axis is None
        else {normal_axis(a, value.ndim, value.shape) for a in (axis if isinstance(axis, tuple) else (axis,))}
    )
    gone = [i for n, i in enumerate(value.indices) if (i.size == 1 if axes is None else n in axes)]
    wrong = [i for i in gone if i.size != 1]
    if wrong:
        raise ShapeError(f"squeeze of {shape_text(value.shape)}: axis of size {wrong[0].size} is not 1")
    return Array([i for i in value.indices if i not in gone], replace(value.body, dict.fromkeys(gone, sp.S.Zero)))


def concatenate(values: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays joined along an axis: Σ_k [offset_k <= i < offset_k + n_k] a^k at i - offset_k."""
    arrays = [fresh(as_array(v)) for v in values]
    ndim = arrays[0].ndim
    if not ndim or any(a.ndim != ndim for a in arrays):
        raise ShapeError(
            "concatenate needs arrays with the same number of axes, got "
            + ", ".join(shape_text(a.shape) for a in arrays)
        )
    axis = normal_axis(axis, ndim, arrays[0].shape)
    for a in arrays[1:]:
        for n, (x, y) in enumerate(zip(a.shape, arrays[0].shape, strict=True)):
            if n != axis and not same_size(x, y):
                raise ShapeError(
                    f"concatenate along axis {axis}: {shape_text(arrays[0].shape)} and {shape_text(a.shape)} differ "
                    f"in axis {n}"
                )
    indices = list(arrays[0].indices)
    own = indices[axis] = index("i", sp.expand(sp.Add(*(a.shape[axis] for a in arrays))))
    body: sp.Expr = sp.S.Zero
    offset: sp.Expr = sp.S.Zero
    for number, a in enumerate(arrays):
        n = a.shape[axis]
        part = replace(
            a.body,
            dict(
                zip(
                    a.indices,
                    [*indices[:axis], sp.S.Zero if n == 1 else own - offset, *indices[axis + 1 :]],
                    strict=True,
                )
            ),
        )
        if n == 1 and len(arrays) > 1:
            guard: sp.Expr = Delta(own, offset)
        else:
            guard = sp.S.One if number == 0 else Indicator(sp.Ge(own, offset))
            guard *= sp.S.One if number == len(arrays) - 1 else Indicator(sp.Lt(own, offset + n))
        body += guard * part
        offset = sp.expand(offset + n)
    return Array(indices, body)


def stack(values: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis: Σ_k δ(i, k) a^k."""
    arrays = [as_array(v) for v in values]
    shape = arrays[0].shape
    for a in arrays[1:]:
        if a.ndim != len(shape) or not all(same_size(x, y) for x, y in zip(a.shape, shape, strict=True)):
            raise ShapeError(f"stack needs arrays of one shape, got {shape_text(shape)} and {shape_text(a.shape)}")
    rest = [index("i", n) for n in shape]
    own = index("i", len(arrays))
    bodies = [replace(a.body, dict(zip(a.indices, rest, strict=True))) for a in arrays]
    body = bodies[0] if len(bodies) == 1 else sp.Add(*(Delta(own, k) * b for k, b in enumerate(bodies)))
    place = axis % (len(shape) + 1)
    return Array([*rest[:place], own, *rest[place:]], body)


def flip(value: ArrayLike, axis: Any = None) -> Array:
    """Axes run backwards (all of them without `axis`)."""
    value = as_array(value)
    for a in range(value.ndim) if axis is None else (axis if isinstance(axis, (tuple, list)) else (axis,)):
        a = normal_axis(a, value.ndim, value.shape)
        own = value.indices[a].fresh()
        value = with_index(value, a, own, own.size - 1 - own)
    return value


def roll(value: ArrayLike, shift: Any, axis: Any = None) -> Array:
    """Axes shifted cyclically; without `axis` the flattened array is shifted."""
    value = as_array(value)
    if axis is None and value.ndim > 1:
        return reshape(roll(reshape(value, [-1]), shift, 0), value.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis or 0,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for a, s in zip(axes, shifts, strict=True):
        a = normal_axis(a, value.ndim, value.shape)
        own = value.indices[a].fresh()
        value = with_index(value, a, own, remainder(own - s, own.size))
    return value


def repeat(value: ArrayLike, times: Any, axis: int | None = None) -> Array:
    """Every element repeated in place along an axis; without `axis` of the flattened array."""
    value = as_array(value)
    if axis is None:
        value, axis = reshape(value, [-1]), 0
    axis = normal_axis(axis, value.ndim, value.shape)
    times = sp.sympify(times)
    own = index("i", sp.expand(value.shape[axis] * times))
    return with_index(value, axis, own, sp.S.Zero if value.shape[axis] == 1 else quotient(own, times))


def tile(value: ArrayLike, times: Any) -> Array:
    """The array laid side by side."""
    value = as_array(value)
    counts = list(times) if isinstance(times, (tuple, list)) else [times]
    while value.ndim < len(counts):
        value = expand_dims(value, 0)
    counts = [1] * (value.ndim - len(counts)) + counts
    for axis, t in enumerate(counts):
        n = value.shape[axis]
        if t != 1:
            own = index("i", sp.expand(n * sp.sympify(t)))
            value = with_index(value, axis, own, sp.S.Zero if n == 1 else remainder(own, n))
    return value


def pad(value: ArrayLike, widths: Any, constant: Any = 0) -> Array:
    """The array with a border of a constant: [l <= i < l + n] x at i - l."""
    value = as_array(value)
    pairs = _widths(widths, value.ndim)
    for axis, (before, after) in enumerate(pairs):
        if before == 0 and after == 0:
            continue
        n = value.shape[axis]
        own = index("i", sp.expand(n + before + after))
        inside = sp.S.One
        if before != 0:
            inside *= Indicator(sp.Ge(own, before))
        if after != 0:
            inside *= Indicator(sp.Lt(own, sp.expand(before + n)))
        moved = with_index(value, axis, own, own - before)
        value = Array(moved.indices, inside * moved.body + (1 - inside) * sp.sympify(constant))
    return value


def _widths(widths: Any, ndim: int) -> list[tuple[sp.Expr, sp.Expr]]:
    if not isinstance(widths, (tuple, list)):
        widths = (widths, widths)
    if not any(isinstance(w, (tuple, list)) for w in widths):
        widths = [tuple(widths) if len(widths) == 2 else (widths[0], widths[0])] * ndim
    elif len(widths) == 1:
        widths = list(widths) * ndim
    return [(sp.sympify(w[0]), sp.sympify(w[-1])) for w in widths]


def tril(value: ArrayLike, k: Any = 0) -> Array:
    """The lower triangle of the last two axes: [j <= i + k] x_ij."""
    return _triangle(as_array(value), lambda i, j: sp.Le(j, i + k))


def triu(value: ArrayLike, k: Any = 0) -> Array:
    """The upper triangle of the last two axes: [j >= i + k] x_ij."""
    return _triangle(as_array(value), lambda i, j: sp.Ge(j, i + k))


def _triangle(value: Array, inside: Any) -> Array:
    if value.ndim < 2:
        raise ShapeError(f"a triangle needs two axes, got the shape {shape_text(value.shape)}")
    i, j = (sp.S.Zero if own.size == 1 else own for own in value.indices[-2:])
    return Array(value.indices, Indicator(inside(i, j)) * value.body)


def eye(rows: Any, columns: Any = None, k: Any = 0) -> Array:
    """Ones on the k-th diagonal: δ(i + k, j)."""
    i, j = index("i", rows), index("j", rows if columns is None else columns)
    return Array((i, j), Delta(_letter(i) + k, _letter(j)))


def _letter(i: Index) -> sp.Expr:
    return sp.S.Zero if i.size == 1 else i


def diagonal(value: ArrayLike, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of two axes, as a last axis; its length must be known for every size."""
    value = moveaxis(as_array(value), (axis1, axis2), (-2, -1))
    i, j = value.indices[-2:]
    rows = i.size if offset >= 0 else sp.expand(i.size + offset)
    columns = j.size if offset <= 0 else sp.expand(j.size - offset)
    if certainly_nonnegative(columns - rows):
        length = rows
    elif certainly_nonnegative(rows - columns):
        length = columns
    else:
        raise UnsupportedError(
            f"the diagonal of {shape_text(value.shape)} has min({rows}, {columns}) elements; write the one size in "
            f"terms of the other, e.g. N and N+K"
        )
    own = index("i", length)
    at = _letter(own)
    return Array([*value.indices[:-2], own], replace(value.body, {i: at + max(-offset, 0), j: at + max(offset, 0)}))


def diag(value: ArrayLike, k: Any = 0) -> Array:
    """The matrix with a vector on its k-th diagonal, or the k-th diagonal of a matrix."""
    value = as_array(value)
    if value.ndim == 2:
        return diagonal(value, k)
    (own,) = fresh(value).indices
    n = sp.expand(own.size + abs(k))
    i, j = index("i", n), index("j", n)
    down, right = max(-k, 0), max(k, 0)
    inside = sp.S.One if k == 0 else Indicator(sp.Ge(i, down)) * Indicator(sp.Ge(j, right))
    return Array((i, j), inside * Delta(_letter(i) - down, _letter(j) - right) * value.element(_letter(i) - down))


def trace(value: ArrayLike, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of a diagonal of two axes, which need not have the same size: Σ_ij δ(i + k, j) x_ij."""
    value = fresh(moveaxis(as_array(value), (axis1, axis2), (-2, -1)))
    i, j = value.indices[-2:]
    if offset == 0 and same_size(i.size, j.size):
        return Array(value.indices[:-2], IndexSum(replace(value.body, {j: i}), i))
    return Array(value.indices[:-2], IndexSum(IndexSum(Delta(_letter(i) + offset, _letter(j)) * value.body, j), i))


def kron(left: ArrayLike, right: ArrayLike) -> Array:
    """Kronecker product: a at i // p times b at i mod p, on every axis."""
    a, b = as_array(left), as_array(right)
    while a.ndim < b.ndim:
        a = expand_dims(a, 0)
    while b.ndim < a.ndim:
        b = expand_dims(b, 0)
    indices = [index("i", sp.expand(x * y)) for x, y in zip(a.shape, b.shape, strict=True)]
    return Array(
        indices,
        a.element(*(quotient(i, n) for i, n in zip(indices, b.shape, strict=True)))
        * b.element(*(remainder(i, n) for i, n in zip(indices, b.shape, strict=True))),
    )


def cumsum(value: ArrayLike, axis: int | None = None) -> Array:
    """Running sums along an axis: Σ_j [j <= i] x_j."""
    return _running(as_array(value), axis, lambda inside, body, j: IndexSum(inside * body, j))


def cumprod(value: ArrayLike, axis: int | None = None) -> Array:
    """Running products along an axis: Π_j ([j <= i] x_j + [j > i])."""
    return _running(as_array(value), axis, lambda inside, body, j: IndexProduct(inside * body + (1 - inside), j))


def _running(value: Array, axis: int | None, joined: Any) -> Array:
    if axis is None:
        value, axis = reshape(value, [-1]), 0
    axis = normal_axis(axis, value.ndim, value.shape)
    own, j = value.indices[axis].fresh(), value.indices[axis].fresh("j")
    if own.size == 1:
        return value
    moved = with_index(value, axis, j, j)
    indices = list(moved.indices)
    indices[axis] = own
    return Array(indices, joined(Indicator(sp.Le(j, own)), moved.body, j))


def constant(values: Any) -> Array:
    """An array of numbers given as nested lists: Σ δ(i, a) δ(j, b) c_ab."""
    if not isinstance(values, (list, tuple)):
        return as_array(values)
    return stack([constant(v) for v in values])
