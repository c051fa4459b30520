"""Operations that move elements: split, merge, transpose, reshape, view, concatenate, stack, repeat, tile, slice, pad, gather.

Each has a proof of where elements go as index arithmetic (c = a·d_k + e), which the trace shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..language import rearrangement as moved
from ..language.arrays import Array, shape_text
from ..language.errors import ShapeError
from ..language.index_arithmetic import exact_quotient
from ..language.nodes import replace
from ..language.selection import select as select_value
from ..language.sizes import SizeLike, same_size, size
from .axes import MIXED, Atom, Axis, agree, axis, axis_of_size, difference, joined, one, pattern, read_axes, split_atom
from .broadcasting import brackets
from .letters import einsum_text, unique
from .named import NamedArray, as_named, find_axis
from .pointwise import operand
from .reshapes import WrongValueError, align, check_claim, meant_order
from .trace import Line, bindings_text, record, recorder, titled

_LETTERS = "aefg"


class NeedsCondition(Exception):
    """A size was divided by another that need not divide it: dividend = divisor · (a new size) must be assumed."""

    def __init__(self, dividend: sp.Expr, divisor: sp.Expr) -> None:
        super().__init__(f"{dividend} // {divisor}")
        self.dividend, self.divisor = dividend, divisor


def _bindings() -> dict[sp.Expr, sp.Expr]:
    to = recorder()
    return dict(to.bindings) if to else {}


def _kept(x: NamedArray, value: Array, axes: Sequence[Axis], label: str) -> NamedArray:
    return NamedArray(value, axes, label, x.factor, x.summed)


def _arithmetic(whole: Axis, parts: Sequence[Axis | Atom]) -> str:
    """The index arithmetic of a product: ``index of (h d_k) = a·d_k + e, 0 ≤ a < h, 0 ≤ e < d_k``."""
    letters = _LETTERS[:len(parts)] if len(parts) <= len(_LETTERS) else [f"i{k}" for k in range(len(parts))]
    terms = []
    for k, letter in enumerate(letters):
        strides = [str(p) for p in parts[k + 1:]]
        terms.append("·".join([letter, *strides]))
    ranges = ", ".join(f"0 ≤ {letter} < {part}" for letter, part in zip(letters, parts, strict=True))
    return f"index of {whole} = {' + '.join(terms)}, {ranges}"


def split(x: Any, which: int | str, into: Sequence[Atom | str], name: str = "", why: str = "") -> NamedArray:
    """One axis as several: index c of the axis is a·d_k + e at place (a, e).

    Raises ShapeError when the sizes do not multiply to the size of the axis.
    """
    x = as_named(x)
    at = find_axis(x, which, "split")
    whole = x.axes[at]
    atoms = [a if isinstance(a, Atom) else axis(a).atoms[0] for a in into]
    count = sp.Mul(*(a.size for a in atoms))
    if not same_size(count, whole.size):
        raise ShapeError(f"split: the axis {whole} of {x.label} {brackets(x.axes)} has size {whole.size}, the parts "
                         f"({' '.join(map(str, atoms))}) have {sp.expand(count)}; needed: {whole.size} = {'·'.join(map(str, atoms))}"
                         f"{bindings_text()}")
    if len(whole.atoms) == 1:
        atoms = list(split_atom(whole.atoms[0], atoms))
    elif [a.name for a in whole.atoms] != [a.name for a in atoms]:
        raise ShapeError(f"split: the axis {whole} of {x.label} cannot be split into ({' '.join(map(str, atoms))}): it is the product of "
                         f"{', '.join(map(str, whole.atoms))} in that order{bindings_text()}")
    else:
        atoms = list(whole.atoms)
    axes = [*x.axes[:at], *(Axis((a,)) for a in atoms), *x.axes[at + 1:]]
    label, formula = titled(name, f"split({x.label})")
    result = _kept(x, moved.reshape(x.value, [a.size for a in axes]), axes, label)
    record(Line("split", operand(result), (operand(x),), formula=formula,
                why=why or f"the axis {whole} is seen as {' × '.join(map(str, atoms))}; no element moves",
                proof=_arithmetic(whole, atoms)))
    return result


def merge(x: Any, which: Sequence[int | str], name: str = "", why: str = "") -> NamedArray:
    """Neighbouring axes as one, in their order: place (a, e) becomes index a·d_k + e.

    Raises ShapeError, with the transpose that is missing, when the axes are not neighbours in that order.
    """
    x = as_named(x)
    at = [find_axis(x, w, "merge") for w in which]
    if at != list(range(at[0], at[0] + len(at))):
        chosen = " ".join(x.axes[a].name for a in at)
        rest = [n for n in range(x.ndim) if n not in at]
        start = sum(n < at[-1] for n in rest)
        order = [*rest[:start], *at, *rest[start:]]
        atoms = [a for k in order for a in x.axes[k].atoms]
        given = [a for k in x.axes for a in k.atoms]
        axes = (*(x.axes[k] for k in order[:start]), Axis(tuple(a for k in at for a in x.axes[k].atoms)),
                *(x.axes[k] for k in order[start + len(at):]))
        from .reshapes import compare_orders

        mismatch = compare_orders(given, atoms, axes)
        told = f" A reshape without it has the right shape and the wrong value: {mismatch.example(_bindings()).sentence()}" if mismatch else ""
        raise WrongValueError(f"merge: ({chosen}) are not neighbours in that order in {x.label} {brackets(x.axes)}; transpose by "
                              f"{tuple(order)} first{bindings_text()}.{told}")
    parts = [x.axes[a] for a in at]
    whole = joined([a for p in parts for a in p.atoms])
    axes = (*x.axes[:at[0]], whole, *x.axes[at[-1] + 1:])
    label, formula = titled(name, f"merge({x.label})")
    result = _kept(x, moved.reshape(x.value, [a.size for a in axes]), axes, label)
    record(Line("merge", operand(result), (operand(x),), formula=formula,
                why=why or f"({' '.join(map(str, parts))}) are neighbours in this order, so no element moves",
                proof=_arithmetic(whole, parts)))
    return result


def transpose(x: Any, order: Sequence[int | str], name: str = "", why: str = "") -> NamedArray:
    """The axes in another order, given by numbers or names."""
    x = as_named(x)
    at = [find_axis(x, w, "transpose") for w in order]
    if sorted(at) != list(range(x.ndim)):
        raise ShapeError(f"transpose: {x.label} {brackets(x.axes)} needs each of its {x.ndim} axes once, got {tuple(order)}{bindings_text()}")
    label, formula = titled(name, f"transpose({x.label}, {tuple(at)})")
    result = _kept(x, x.value.transpose(at), [x.axes[a] for a in at], label)
    names = unique([a.name for a in x.axes])
    record(Line("transpose", operand(result), (operand(x),), einsum_text([names], [names[a] for a in at]),
                formula, why=why or "the axes change places; each element keeps its indices"))
    return result


def reshape(x: Any, shape: str | Sequence[Any], name: str = "", why: str = "") -> NamedArray:
    """NumPy's reshape: elements keep their row-major position.

    With sizes, the axes are found by index arithmetic, and an axis that would run across their order is reported in the
    trace as a wrong value. With a pattern ("B n (h d_k)") the claim is proved, or refuted by `WrongValueError`.
    """
    x = as_named(x)
    if isinstance(shape, str):
        claimed = read_axes(shape, {a.name: a.size for k in x.axes for a in k.atoms})
        mismatch = check_claim(x.axes, claimed)
        if mismatch is not None:
            raise WrongValueError(f"reshape: {x.label} '{x.pattern}' to '{shape}': {mismatch.sentence(_bindings())}")
        axes, warnings = claimed, ()
        sizes = [a.size for a in claimed]
    else:
        sizes = _sizes(x, shape)
        axes, warnings = _found(x, sizes)
    value = moved.reshape(x.value, sizes)
    label, formula = titled(name, f"reshape({x.label})")
    result = _kept(x, value, axes, label)
    proof = "; ".join(_arithmetic(a, a.atoms) for a in result.axes if len(a.atoms) > 1 and not a.is_mixed and a not in x.axes)
    record(Line("reshape", operand(result), (operand(x),), formula=formula, warnings=warnings, proof=proof,
                why=why or f"row-major positions are kept: {x.pattern} → {result.pattern}"
                + (f"; {MIXED} marks an axis that runs across the order of ({' '.join(a.name for a in x.axes)})" if warnings else "")))
    return result


def _sizes(x: NamedArray, shape: Sequence[Any]) -> list[sp.Expr]:
    """The sizes of a reshape: quotients written with // resolved, -1 filled in, the number of elements checked."""
    sizes = [_exact(n) for n in shape]
    total = sp.expand(sp.Mul(*x.shape))
    unknown = [k for k, n in enumerate(sizes) if n == -1]
    known = sp.expand(sp.Mul(*(n for n in sizes if n != -1)))
    if len(unknown) > 1:
        raise ShapeError(f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: only one size may be -1")
    if unknown:
        rest = exact_quotient(total, known)
        if rest is None:
            raise ShapeError(f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: its {total} elements are no multiple of {known} "
                             f"for every size, so that -1 has no value{_luck(total, known)}{bindings_text()}; use the sizes of the array itself")
        sizes[unknown[0]] = rest
    elif not same_size(total, known):
        raise ShapeError(f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: {total} elements against {known}"
                         f"{_remainder(x, sizes)}{bindings_text()}")
    return sizes


def _remainder(x: NamedArray, sizes: Sequence[sp.Expr]) -> str:
    """Which axis is no multiple of which size, where one axis is left after all that agree."""
    left, new = list(x.axes), list(sizes)
    for a in x.axes:
        if a.size in new:
            left.remove(a)
            new.remove(a.size)
    if len(left) == 1 and len(new) == 2 and all(n.is_Integer for n in (left[0].size, *new)):
        whole, part = int(left[0].size), int(new[0])
        if whole % part:
            return f"; {left[0]} = {whole} is not a multiple of {part} ({whole} = {part}·{whole // part} + {whole % part})"
    return f"; needed: {' · '.join(map(str, left))} = {' · '.join(map(str, new))}" if left and new else ""


def _luck(total: sp.Expr, known: sp.Expr) -> str:
    """Whether the bound sizes would let it pass."""
    a, b = (v.xreplace(_bindings()) for v in (total, known))
    if a.is_Integer and b.is_Integer and total != a and int(a) % int(b) == 0:
        return f" (at these sizes {a} = {b}·{int(a) // int(b)}, which fits by luck)"
    return ""


def _exact(n: Any) -> sp.Expr:
    """A size with every floor(p/q) replaced by the exact quotient; asks for the condition p = q·s where there is none."""
    value = size(n) if isinstance(n, str) else sp.sympify(n)
    for floor in sorted(value.atoms(sp.floor), key=str):
        numerator, denominator = sp.fraction(sp.together(floor.args[0]))
        quotient = exact_quotient(numerator, denominator)
        if quotient is None:
            raise NeedsCondition(numerator, denominator)
        value = value.xreplace({floor: quotient})
    if value.is_Rational and not value.is_Integer or value.is_Float:
        raise ShapeError(f"reshape: the size {n} is not an integer; write // only where the division is exact{bindings_text()}")
    return sp.expand(value)


def _found(x: NamedArray, sizes: Sequence[sp.Expr]) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
    """The axes that a reshape to sizes gives, and what is wrong with them."""
    atoms = [a for k in x.axes for a in k.atoms]
    axes = align(atoms, sizes)
    if axes is not None:
        return axes, ()
    names = tuple(a.name or str(a.size) for a in atoms if a.size != 1)
    mismatch = meant_order(atoms, sizes)
    kept = _leading(atoms, sizes)
    mixed = tuple(kept[k] if k < len(kept) else one() if n == 1 else Axis((Atom(f"{MIXED}{k}", n, mixed=names),)) for k, n in enumerate(sizes))
    what = f"reshape of {x.label} '{x.pattern}' to {shape_text(list(sizes))}: "
    if mismatch is not None:
        return mixed, (what + mismatch.sentence(_bindings()),)
    return mixed, (what + f"no axis of the result is a product of axes in their order ({' '.join(names)}): elements of several axes are mixed",)


def _leading(atoms: Sequence[Atom], sizes: Sequence[sp.Expr]) -> list[Axis]:
    """The axes in front that a reshape leaves whole although later ones are mixed."""
    rest, found = [a for a in atoms if a.size != 1], []
    for n in sizes:
        if n == 1:
            found.append(one())
        elif rest and same_size(rest[0].size, n):
            found.append(Axis((rest.pop(0),)))
        else:
            break
    return found


def view(x: Any, places: str, name: str = "", why: str = "") -> NamedArray:
    """New axes of size 1: ``view(mask, "B 1 1 S")`` is mask[:, None, None, :]."""
    x = as_named(x)
    wanted = read_axes(places, {a.name: a.size for k in x.axes for a in k.atoms})
    if [a.name for a in wanted if not a.is_one] != [a.name for a in x.axes if not a.is_one]:
        raise ShapeError(f"view: {x.label} {brackets(x.axes)} has not the axes of '{places}' in that order{bindings_text()}")
    rest = iter([i for i, a in zip(x.indices, x.axes, strict=True) if not a.is_one])
    ones = {i: sp.S.Zero for i, a in zip(x.indices, x.axes, strict=True) if a.is_one}
    from ..language.indices import index

    value = Array([index("i", 1) if a.is_one else next(rest) for a in wanted], replace(x.body, ones))
    keys = ", ".join("None" if a.is_one else ":" for a in wanted)
    label, formula = titled(name, f"{x.label}[{keys}]")
    result = _kept(x, value, wanted, label)
    record(Line("view", operand(result), (operand(x),), formula=formula,
                why=why or "axes of size 1 are put in, so that the named axes meet their own kind when the array is stretched"))
    return result


def broadcast_to(x: Any, places: str, sizes: dict[str, SizeLike] | None = None, name: str = "") -> NamedArray:
    """The array stretched to named axes: its own must be among them, in order, aligned from the right."""
    x = as_named(x)
    wanted = read_axes(places, {a.name: a.size for k in x.axes for a in k.atoms} | dict(sizes or {}))
    for mine, other in zip(reversed(x.axes), reversed(wanted), strict=False):
        if not mine.is_one and not agree(mine, other):
            raise ShapeError(f"broadcast: {x.label} {brackets(x.axes)} does not stretch to {brackets(wanted)}: {difference(mine, other)}"
                             f"{bindings_text()}")
    label, formula = titled(name, f"broadcast({x.label})")
    result = _kept(x, moved.broadcast_to(x.value, [a.size for a in wanted]), wanted, label)
    record(Line("broadcast", operand(result), (operand(x),), formula=formula,
                why="axes of size 1 and missing axes are repeated without a copy"))
    return result


def concatenate(arrays: Sequence[Any], which: int | str = 0, name: str = "", axis_name: str = "", why: str = "") -> NamedArray:
    """Arrays joined along an axis, whose size is the sum; all other axes must be the same axes."""
    xs = [as_named(a) for a in arrays]
    at = find_axis(xs[0], which, "concatenate")
    for x in xs[1:]:
        for k, (mine, other) in enumerate(zip(xs[0].axes, x.axes, strict=False)):
            if x.ndim != xs[0].ndim or (k != at and not agree(mine, other)):
                raise ShapeError(f"concatenate along {xs[0].axes[at]}: {xs[0].label} {brackets(xs[0].axes)} and {x.label} {brackets(x.axes)}: "
                                 f"{difference(mine, other)}{bindings_text()}")
    value = moved.concatenate([x.value for x in xs], at)
    together = value.shape[at]
    own = axis(axis_name, together) if axis_name else axis_of_size(together)
    axes = [*xs[0].axes[:at], own, *xs[0].axes[at + 1:]]
    label, formula = titled(name, f"concatenate({', '.join(x.label for x in xs)})")
    result = NamedArray(value, axes, label)
    sizes = " + ".join(x.axes[at].name for x in xs)
    record(Line("concatenate", operand(result), tuple(map(operand, xs)), formula=formula,
                why=why or f"one after the other along an axis of size {sizes}"))
    return result


def stack(arrays: Sequence[Any], at: int = 0, axis_name: str = "", name: str = "") -> NamedArray:
    """Arrays of the same axes side by side along a new axis."""
    xs = [as_named(a) for a in arrays]
    for x in xs[1:]:
        bad = next((p for p in zip(xs[0].axes, x.axes, strict=False) if not agree(*p)), None)
        if bad or x.ndim != xs[0].ndim:
            raise ShapeError(f"stack: {xs[0].label} {brackets(xs[0].axes)} and {x.label} {brackets(x.axes)} must have the same axes"
                             f"{': ' + difference(*bad) if bad else ''}{bindings_text()}")
    value = moved.stack([x.value for x in xs], at)
    place = at % (xs[0].ndim + 1)
    axes = [*xs[0].axes[:place], Axis((Atom(axis_name, sp.Integer(len(xs))),)), *xs[0].axes[place:]]
    label, formula = titled(name, f"stack({', '.join(x.label for x in xs)})")
    result = NamedArray(value, axes, label)
    record(Line("stack", operand(result), tuple(map(operand, xs)), formula=formula,
                why=f"a new axis of size {len(xs)}, one place an array"))
    return result


def repeat(x: Any, which: int | str, times: Atom | SizeLike, name: str = "", axis_name: str = "", why: str = "") -> NamedArray:
    """Every element `times` times in place: index c of the result is element c // times, so that the axis is (g r)."""
    return _copies(as_named(x), which, times, True, name, axis_name, why)


def tile(x: Any, which: int | str, times: Atom | SizeLike, name: str = "", axis_name: str = "", why: str = "") -> NamedArray:
    """The whole axis `times` times: index c of the result is element c mod g, so that the axis is (r g)."""
    return _copies(as_named(x), which, times, False, name, axis_name, why)


def _copies(x: NamedArray, which: int | str, times: Atom | SizeLike, inside: bool, name: str, axis_name: str, why: str) -> NamedArray:
    word = "repeat" if inside else "tile"
    at = find_axis(x, which, word)
    old = x.axes[at]
    r = times if isinstance(times, Atom) else axis_of_size(times).atoms[0]
    order = (*old.atoms, r) if inside else (r, *old.atoms)
    value = moved.repeat(x.value, r.size, at) if inside else moved.tile(x.value, [r.size if k == at else 1 for k in range(x.ndim)])
    new = Axis((Atom(axis_name, value.shape[at]),)) if axis_name else Axis(order)
    label, formula = titled(name, f"{word}({x.label}, {r})")
    result = _kept(x, value, [*x.axes[:at], new, *x.axes[at + 1:]], label)
    source = f"a // {r}" if inside else f"a mod {old}"
    record(Line(word, operand(result), (operand(x),), formula=formula,
                why=why or f"index a of the result is element {source} of {old}: the order is ({' '.join(map(str, order))}), which is not "
                           f"that of {'tile' if inside else 'repeat'}", proof=f"a ↦ {source}"))
    return result


def take(x: Any, which: int | str, start: SizeLike, stop: SizeLike, name: str = "") -> NamedArray:
    """The slice start:stop of an axis; place i of the result is place start + i."""
    x = as_named(x)
    at = find_axis(x, which, "slice")
    low, high = (sp.sympify(v) if not isinstance(v, str) else size(v) for v in (start, stop))
    return select(x, tuple(slice(low, high) if k == at else slice(None) for k in range(x.ndim)), name)


def select(x: NamedArray, key: Any, name: str = "") -> NamedArray:
    """NumPy's basic indexing: integers drop an axis, slices shorten it, None puts in an axis of size 1; integer arrays gather."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, Array) for k in keys):
        return gather(x, keys, name)
    if any(k is Ellipsis for k in keys):
        place = next(n for n, k in enumerate(keys) if k is Ellipsis)
        keys[place:place + 1] = [slice(None)] * (x.ndim - sum(k is not None and k is not Ellipsis for k in keys))
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
    result = _kept(x, value, axes, label)
    kind = "view" if all(k is None or k == slice(None) for k in keys) else "slice"
    record(Line(kind, operand(result), (operand(x),), formula=formula,
                why="axes of size 1 are put in" if kind == "view" else "place i of the result is place start + i·step of the axis"))
    return result


def _key_text(key: Any) -> str:
    if isinstance(key, slice):
        ends = ["" if v is None else str(v) for v in (key.start, key.stop)]
        return ":".join([*ends, *([str(key.step)] if key.step is not None else [])])
    return str(key)


def gather(x: Any, keys: Sequence[Any], name: str = "", why: str = "") -> NamedArray:
    """Places given by an integer array on the first axis: an embedding E[t] has the axes of t, then the rest of E."""
    x = as_named(x)
    if not isinstance(keys[0], Array) or any(k is not None and not (isinstance(k, slice) and k == slice(None)) for k in keys[1:]):
        raise ShapeError(f"gather: {x.label} {brackets(x.axes)}: give one integer array for the first axis, as in E[t]; "
                         "move the axis to the front before")
    ids = as_named(keys[0])
    value = Array([*ids.indices, *x.indices[1:]], replace(x.body, {x.indices[0]: ids.body}))
    label, formula = titled(name, f"{x.label}[{ids.label}]")
    result = NamedArray(value, [*ids.axes, *x.axes[1:]], label)
    record(Line("gather", operand(result), (operand(x), operand(ids)), formula=formula,
                why=why or f"row {ids.label} of {x.label} for every place of {brackets(ids.axes)}; no multiplication"))
    return result


def pad(x: Any, which: int | str, before: SizeLike, after: SizeLike, constant: Any = 0, name: str = "") -> NamedArray:
    """A border of a constant around an axis, which becomes before + n + after long."""
    x = as_named(x)
    at = find_axis(x, which, "pad")
    low, high = (sp.sympify(v) if not isinstance(v, str) else size(v) for v in (before, after))
    value = moved.pad(x.value, [(low, high) if k == at else (0, 0) for k in range(x.ndim)], constant)
    axes = [*x.axes[:at], axis_of_size(value.shape[at]), *x.axes[at + 1:]]
    label, formula = titled(name, f"pad({x.label})")
    result = _kept(x, value, axes, label)
    record(Line("pad", operand(result), (operand(x),), formula=formula,
                why=f"{low} places before and {high} after hold {constant}"))
    return result


__all__ = ["NeedsCondition", "broadcast_to", "concatenate", "gather", "merge", "pad", "pattern", "repeat", "reshape", "select", "split", "stack",
           "take", "tile", "transpose", "view"]
