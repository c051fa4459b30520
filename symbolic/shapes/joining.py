"""Operations that join, copy, cut and pick elements: concatenate, stack, repeat against tile, slice, pad, gather.

They change how many elements there are, or which; what only moves the elements of one array is in `rearranging`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..language import rearrangement as moved
from ..language.arrays import Array
from ..language.errors import ShapeError
from ..language.nodes import replace
from ..language.selection import select as select_value
from ..language.sizes import SizeLike, size
from .axes import Atom, Axis, agree, axis, axis_of_size, difference, one
from .broadcasting import brackets
from .named import NamedArray, as_named, find_axis, kept
from .pointwise import operand
from .trace import Line, bindings_text, record, titled


def concatenate(
    arrays: Sequence[Any], which: int | str = 0, name: str = "", axis_name: str = "", why: str = ""
) -> NamedArray:
    """Arrays joined along an axis, whose size is the sum; all other axes must be the same axes."""
    xs = [as_named(a) for a in arrays]
    at = find_axis(xs[0], which, "concatenate")
    for x in xs[1:]:
        for k, (mine, other) in enumerate(zip(xs[0].axes, x.axes, strict=False)):
            if x.ndim != xs[0].ndim or (k != at and not agree(mine, other)):
                raise ShapeError(
                    f"concatenate along {xs[0].axes[at]}: {xs[0].label} {brackets(xs[0].axes)} and {x.label} "
                    f"{brackets(x.axes)}: "
                    f"{difference(mine, other)}{bindings_text()}"
                )
    value = moved.concatenate([x.value for x in xs], at)
    together = value.shape[at]
    own = axis(axis_name, together) if axis_name else axis_of_size(together)
    axes = [*xs[0].axes[:at], own, *xs[0].axes[at + 1 :]]
    label, formula = titled(name, f"concatenate({', '.join(x.label for x in xs)})")
    result = NamedArray(value, axes, label)
    sizes = " + ".join(x.axes[at].name for x in xs)
    record(
        Line(
            "concatenate",
            operand(result),
            tuple(map(operand, xs)),
            formula=formula,
            why=why or f"one after the other along an axis of size {sizes}",
        )
    )
    return result


def stack(arrays: Sequence[Any], at: int = 0, axis_name: str = "", name: str = "") -> NamedArray:
    """Arrays of the same axes side by side along a new axis."""
    xs = [as_named(a) for a in arrays]
    for x in xs[1:]:
        bad = next((p for p in zip(xs[0].axes, x.axes, strict=False) if not agree(*p)), None)
        if bad or x.ndim != xs[0].ndim:
            raise ShapeError(
                f"stack: {xs[0].label} {brackets(xs[0].axes)} and {x.label} {brackets(x.axes)} must have the same axes"
                f"{': ' + difference(*bad) if bad else ''}{bindings_text()}"
            )
    value = moved.stack([x.value for x in xs], at)
    place = at % (xs[0].ndim + 1)
    axes = [*xs[0].axes[:place], Axis((Atom(axis_name, sp.Integer(len(xs))),)), *xs[0].axes[place:]]
    label, formula = titled(name, f"stack({', '.join(x.label for x in xs)})")
    result = NamedArray(value, axes, label)
    record(
        Line(
            "stack",
            operand(result),
            tuple(map(operand, xs)),
            formula=formula,
            why=f"a new axis of size {len(xs)}, one place an array",
        )
    )
    return result


def repeat(
    x: Any, which: int | str, times: Atom | SizeLike, name: str = "", axis_name: str = "", why: str = ""
) -> NamedArray:
    """Every element `times` times in place: index c of the result is element c // times, so that the axis is (g r)."""
    return _copies(as_named(x), which, times, True, name, axis_name, why)


def tile(
    x: Any, which: int | str, times: Atom | SizeLike, name: str = "", axis_name: str = "", why: str = ""
) -> NamedArray:
    """The whole axis `times` times: index c of the result is element c mod g, so that the axis is (r g)."""
    return _copies(as_named(x), which, times, False, name, axis_name, why)


def _copies(
    x: NamedArray, which: int | str, times: Atom | SizeLike, inside: bool, name: str, axis_name: str, why: str
) -> NamedArray:
    word = "repeat" if inside else "tile"
    at = find_axis(x, which, word)
    old = x.axes[at]
    r = times if isinstance(times, Atom) else axis_of_size(times).atoms[0]
    order = (*old.atoms, r) if inside else (r, *old.atoms)
    value = (
        moved.repeat(x.value, r.size, at)
        if inside
        else moved.tile(x.value, [r.size if k == at else 1 for k in range(x.ndim)])
    )
    new = Axis((Atom(axis_name, value.shape[at], parts=order),)) if axis_name else Axis(order)
    label, formula = titled(name, f"{word}({x.label}, {r})")
    result = kept(x, value, [*x.axes[:at], new, *x.axes[at + 1 :]], label)
    source = f"a // {r}" if inside else f"a mod {old}"
    record(
        Line(
            word,
            operand(result),
            (operand(x),),
            formula=formula,
            why=why
            or f"index a of the result is element {source} of {old}: the order is ({' '.join(map(str, order))}), "
            f"which is not that of {'tile' if inside else 'repeat'}",
            proof=f"a ↦ {source}",
        )
    )
    return result


def take(x: Any, which: int | str, start: SizeLike, stop: SizeLike, name: str = "") -> NamedArray:
    """The slice start:stop of an axis; place i of the result is place start + i."""
    x = as_named(x)
    at = find_axis(x, which, "slice")
    low, high = (sp.sympify(v) if not isinstance(v, str) else size(v) for v in (start, stop))
    return select(x, tuple(slice(low, high) if k == at else slice(None) for k in range(x.ndim)), name)


def select(x: NamedArray, key: Any, name: str = "") -> NamedArray:
    """NumPy's basic indexing: integers drop an axis, slices shorten it, None puts in an axis of size 1; integer arrays
    gather.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Array) for k in keys):
        return gather(x, keys, name)
    if any(k is Ellipsis for k in keys):
        place = next(n for n, k in enumerate(keys) if k is Ellipsis)
        keys[place : place + 1] = [slice(None)] * (x.ndim - sum(k is not None and k is not Ellipsis for k in keys))
    keys += [slice(None)] * (x.ndim - sum(k is not None for k in keys))
    value = select_value(x.value, tuple(keys))
    axes: list[Axis] = []
    rest = iter(x.axes)
    for k in keys:
        if k is None:
            axes.append(one())
            continue
        own = next(rest)
        if isinstance(k, slice):
            n = value.shape[len(axes)]
            axes.append(own if k == slice(None) else axis_of_size(n))
    label, formula = titled(name, f"{x.label}[{', '.join(map(_key_text, keys))}]")
    result = kept(x, value, axes, label)
    kind = "view" if all(k is None or k == slice(None) for k in keys) else "slice"
    record(
        Line(
            kind,
            operand(result),
            (operand(x),),
            formula=formula,
            why="axes of size 1 are put in"
            if kind == "view"
            else "place i of the result is place start + i·step of the axis",
        )
    )
    return result


def _key_text(key: Any) -> str:
    if isinstance(key, slice):
        ends = ["" if v is None else str(v) for v in (key.start, key.stop)]
        return ":".join([*ends, *([str(key.step)] if key.step is not None else [])])
    return str(key)


def gather(x: Any, keys: Sequence[Any], name: str = "", why: str = "") -> NamedArray:
    """Places given by an integer array on the first axis: an embedding E[t] has the axes of t, then the rest of E."""
    x = as_named(x)
    if not isinstance(keys[0], Array) or any(
        k is not None and not (isinstance(k, slice) and k == slice(None)) for k in keys[1:]
    ):
        raise ShapeError(
            f"gather: {x.label} {brackets(x.axes)}: give one integer array for the first axis, as in E[t]; "
            "move the axis to the front before"
        )
    ids = as_named(keys[0])
    value = Array([*ids.indices, *x.indices[1:]], replace(x.body, {x.indices[0]: ids.body}))
    label, formula = titled(name, f"{x.label}[{ids.label}]")
    result = NamedArray(value, [*ids.axes, *x.axes[1:]], label)
    record(
        Line(
            "gather",
            operand(result),
            (operand(x), operand(ids)),
            formula=formula,
            why=why or f"row {ids.label} of {x.label} for every place of {brackets(ids.axes)}; no multiplication",
        )
    )
    return result


def pad(x: Any, which: int | str, before: SizeLike, after: SizeLike, constant: Any = 0, name: str = "") -> NamedArray:
    """A border of a constant around an axis, which becomes before + n + after long."""
    x = as_named(x)
    at = find_axis(x, which, "pad")
    low, high = (sp.sympify(v) if not isinstance(v, str) else size(v) for v in (before, after))
    value = moved.pad(x.value, [(low, high) if k == at else (0, 0) for k in range(x.ndim)], constant)
    axes = [*x.axes[:at], axis_of_size(value.shape[at]), *x.axes[at + 1 :]]
    label, formula = titled(name, f"pad({x.label})")
    result = kept(x, value, axes, label)
    record(
        Line(
            "pad",
            operand(result),
            (operand(x),),
            formula=formula,
            why=f"{low} places before and {high} after hold {constant}",
        )
    )
    return result
