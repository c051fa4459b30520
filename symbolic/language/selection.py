"""Selecting and writing by keys: integers, slices with bounds and steps, new axes, integer arrays and masks, as in
NumPy.

`select` is ``x[key]``. `written` is the array after ``x[key] = v``, and `added` after ``np.add.at(x, key, v)``; both
solve the key for the place that is written to: out_c = [c is written] v + [c is not] old. Where a key may name one
place more than once, a later write wins in `written` and all count in `added`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from .arrays import Array, ArrayLike, aligned, as_array, broadcast_shapes, shape_text
from .errors import IndexError_, UnsupportedError
from .index_arithmetic import assume_nonnegative, certainly_less, certainly_nonnegative, quotient, remainder
from .indices import Index, index
from .nodes import Delta, IndexProduct, IndexSum, Indicator, replace


@dataclass(frozen=True)
class Mask:
    """A boolean array as a key: 1 where it selects."""

    array: Array


@dataclass(frozen=True)
class Chosen:
    """A place given by indicators instead of a number (argmax): `indicator(i)` is 1 at the one place, for a size."""

    indicator: Callable[[sp.Expr], sp.Expr]
    indices: tuple[Index, ...] = ()


@dataclass
class _Axis:
    """What the key says of one axis of the array: its source index as a form in the letters of the result."""

    own: Index
    kind: str  # at, slice, array, chosen
    form: sp.Expr = sp.S.Zero
    letter: Index | None = None
    start: sp.Expr = sp.S.Zero
    step: int = 1
    chosen: Chosen | None = None


@dataclass
class _Plan:
    """A key read against a shape: the axes of the array, the axes of the result, those of broadcast integer arrays."""

    axes: list[_Axis] = field(default_factory=list)
    result: list[Index] = field(default_factory=list)
    gathered: list[Index] = field(default_factory=list)


def select(value: Array, key: Any) -> Array:
    """``value[key]``; masks select a number of elements that depends on data and are refused here."""
    plan = _plan(value, key)
    body = value.body
    mapping: dict[Any, sp.Expr] = {}
    for a in plan.axes:
        if a.kind == "chosen" and a.chosen is not None:
            k = a.own.fresh("k")
            body = IndexSum(a.chosen.indicator(k) * replace(body, {a.own: k}), k)
        else:
            mapping[a.own] = a.form
    owns = list(mapping)
    return Array(
        plan.result, by_cases(list(mapping.values()), lambda forms: replace(body, dict(zip(owns, forms, strict=True))))
    )


def by_cases(forms: Sequence[sp.Expr], result: Callable[[list[sp.Expr]], sp.Expr]) -> sp.Expr:
    """What `result` makes of index forms; a form that holds an indicator (from `where`) is taken at both of its
    values.
    """
    found = sorted({c for f in forms if f.has(Indicator) for c in f.atoms(Indicator)}, key=sp.default_sort_key)
    if not found:
        return result(list(forms))
    c = found[0]
    yes = by_cases([_under(f.xreplace({c: sp.S.One}), c.condition) for f in forms], result)
    no = by_cases([f.xreplace({c: sp.S.Zero}) for f in forms], result)
    return c * yes + (1 - c) * no


def _under(form: sp.Expr, condition: Any) -> sp.Expr:
    """A form where a condition holds: wrapping round an index that the condition keeps above 0 is not needed."""
    if (
        isinstance(form, sp.Mod)
        and isinstance(condition, sp.Ge | sp.Gt)
        and condition.lhs == form.args[0]
        and condition.rhs == 0
    ):
        return form.args[0]
    return form


def written(value: Array, key: Any, new: ArrayLike) -> Array:
    """The array after ``value[key] = new``."""
    return _store(value, key, as_array(new), accumulate=False)


def added(value: Array, key: Any, increment: ArrayLike) -> Array:
    """The array after ``np.add.at(value, key, increment)``: every mention of a place counts."""
    return _store(value, key, as_array(increment), accumulate=True)


def increased(value: Array, key: Any, increment: ArrayLike) -> Array:
    """The array after ``value[key] += increment``: of several mentions of a place only the last counts, as in NumPy."""
    plan = _plan(value, key)
    target, solution, left = _solved(plan)
    term = target * replace(aligned(as_array(increment), plan.result), solution)
    if left:
        term = _last_of(term, target, left)
    return Array(value.indices, value.body + term)


def _last_of(term: sp.Expr, target: sp.Expr, left: list[Index]) -> sp.Expr:
    """The term for the last value of a letter at which the target is hit."""
    if len(left) > 1:
        raise UnsupportedError(
            "a write through integer arrays with several axes may name one place more than once; write np.add.at to "
            "add up, or use one axis"
        )
    (b,) = left
    later = b.fresh("m")
    return IndexSum(term * IndexProduct(1 - Indicator(sp.Gt(later, b)) * replace(target, {b: later}), later), b)


def _store(value: Array, key: Any, new: Array, accumulate: bool) -> Array:
    plan = _plan(value, key)
    stretched = broadcast_shapes([new.shape, tuple(i.size for i in plan.result)], "the assignment")
    if len(stretched) > len(plan.result):
        raise IndexError_(
            f"a value of shape {shape_text(new.shape)} does not fit a place of shape "
            f"{shape_text([i.size for i in plan.result])}"
        )
    target, solution, left = _solved(plan)
    body = replace(aligned(new, plan.result), solution)
    if accumulate:
        term = target * body
        for b in left:
            term = IndexSum(term, b)
        return Array(value.indices, value.body + term)
    if not left:
        return Array(value.indices, target * body + (1 - target) * value.body)
    hit = _last_of(target * body, target, left)
    return Array(value.indices, hit + IndexProduct(1 - target, left[0]) * value.body)


def _solved(plan: _Plan) -> tuple[sp.Expr, dict[Any, sp.Expr], list[Index]]:
    """Whether a place (in the array's own indices) is written, the result's letters there, and the letters left
    unsolved.
    """
    target: sp.Expr = sp.S.One
    solution: dict[Any, sp.Expr] = {}
    rest: list[_Axis] = []
    for a in plan.axes:
        if a.kind == "slice" and a.letter is not None:
            c = a.own
            if a.step == 1:
                at = sp.expand(c - a.start)
            elif a.step == -1:
                at = sp.expand(a.start - c)
            else:
                if a.step < 0:
                    raise UnsupportedError(f"a write through a slice with step {a.step}; write it with a positive step")
                at = quotient(c - a.start, a.step)
                target *= Delta(remainder(c - a.start, a.step), 0)
            solution[a.letter] = sp.S.Zero if a.letter.size == 1 else at
            target *= _within(at, a.letter.size)
        elif a.kind == "chosen" and a.chosen is not None:
            target *= a.chosen.indicator(a.own)
        else:
            rest.append(a)
    for b in plan.gathered:
        for a in rest:
            if not a.form.has(b) or any(a.form.has(o) for o in plan.gathered if o != b):
                continue
            slope = a.form.coeff(b)
            offset = sp.expand(a.form - slope * b)
            if slope in (1, -1) and not offset.has(b):
                at = sp.expand((a.own - offset) * slope)
                solution[b] = at
                target *= _within(at, b.size)
                rest.remove(a)
                break
    left = [b for b in plan.gathered if b not in solution and b.size != 1]
    solution.update({b: sp.S.Zero for b in plan.gathered if b.size == 1})
    for a in rest:
        target *= by_cases([a.own, replace(a.form, solution)], lambda forms: Delta(*forms))
    return target, solution, left


def _within(at: sp.Expr, size: sp.Expr) -> sp.Expr:
    """[0 <= at < size], without the parts that always hold."""
    inside: sp.Expr = sp.S.One
    if not certainly_nonnegative(at):
        inside *= Indicator(sp.Ge(at, 0))
    if not certainly_less(at, size):
        inside *= Indicator(sp.Lt(at, size))
    return inside


# ---------------------------------------------------------------------- reading a key
def _plan(value: Array, key: Any) -> _Plan:
    keys = _expanded(list(key) if isinstance(key, tuple) else [key], value)
    plan = _Plan()
    arrays = [k for k in keys if isinstance(k, Array) and k.ndim]
    lead = (
        [index("i", n) for n in broadcast_shapes([a.shape for a in arrays], "integer arrays as indices")]
        if arrays
        else []
    )
    plan.gathered = lead
    advanced = [n for n, k in enumerate(keys) if isinstance(k, Array | Chosen)] if arrays else []
    together = bool(advanced) and advanced == list(range(advanced[0], advanced[-1] + 1))
    if arrays and not together:
        plan.result += lead
    axis = 0
    for n, k in enumerate(keys):
        if together and n == advanced[0]:
            plan.result += lead
        if k is None:
            plan.result.append(index("i", 1))
            continue
        own = value.indices[axis]
        axis += 1
        if isinstance(k, slice):
            plan.axes.append(_sliced(own, k, plan))
        elif isinstance(k, Chosen):
            plan.axes.append(_Axis(own, "chosen", chosen=k))
        else:
            form = aligned(k, lead) if k.ndim else k.body
            plan.axes.append(_Axis(own, "array" if k.ndim else "at", _wrapped(form, own)))
    return plan


def _expanded(keys: list[Any], value: Array) -> list[Any]:
    """The key with one entry an axis: ``...`` written out, numbers as arrays without axes."""
    for k in keys:
        if isinstance(k, Mask):
            raise UnsupportedError(
                "a mask selects a number of elements that depends on the data; write np.where(mask, x, 0), or sum "
                "over it"
            )
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > value.ndim:
        raise IndexError_(f"too many indices ({used}) for an array of shape {shape_text(value.shape)}")
    dots = [n for n, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError_("an index holds '...' more than once")
    at = dots[0] if dots else len(keys)
    keys[at : at + len(dots)] = [slice(None)] * (value.ndim - used)
    return [k if k is None or isinstance(k, slice | Array | Chosen) else as_array(k) for k in keys]


def _wrapped(form: sp.Expr, own: Index) -> sp.Expr:
    """An index that may be negative counts from the end."""
    form = sp.expand(form)
    if own.size == 1 and (form == 0 or form == -1):
        return sp.S.Zero
    if form.is_Integer:
        wrapped = form if form >= 0 else sp.expand(own.size + form)
        if wrapped.is_Integer and (wrapped < 0 or (own.size.is_Integer and wrapped >= own.size)):
            raise IndexError_(f"index {form} does not fit an axis of size {own.size}")
        return wrapped
    if form.has(Indicator) or certainly_nonnegative(form):
        return form
    if certainly_nonnegative(-1 - form):
        return sp.expand(own.size + form)
    return remainder(form, own.size)


def _sliced(own: Index, key: slice, plan: _Plan) -> _Axis:
    step = 1 if key.step is None else int(key.step)
    if key.start is None and key.stop is None and step in (1, -1):
        start, length = (sp.S.Zero if step == 1 else own.size - 1), own.size
    elif step > 0:
        start, stop = _end(key.start, own.size, sp.S.Zero), _end(key.stop, own.size, own.size)
        length = sp.expand(stop - start)
        if step > 1:
            length = quotient(length + step - 1, step)
    else:
        start = _end(key.start, own.size, sp.expand(own.size - 1), top=1)
        stop = sp.Integer(-1) if key.stop is None else _end(key.stop, own.size, sp.S.Zero)
        length = quotient(sp.expand(start - stop) - step - 1, -step)
    if length.is_nonpositive:
        raise IndexError_(f"the slice {_text(key)} of an axis of size {own.size} is empty")
    if any(isinstance(s, Index) for s in length.free_symbols):
        raise UnsupportedError(
            f"the slice {_text(key)} has a length that changes in the loop ({length}); write a mask instead, e.g. "
            "np.where(np.arange(n) <= i, x, 0)"
        )
    assume_nonnegative(length - 1)
    letter = index("i", length)
    plan.result.append(letter)
    at = sp.expand(start + step * (sp.S.Zero if length == 1 else letter))
    return _Axis(own, "slice", at, letter, start, step)


def _text(key: slice) -> str:
    return ":".join(
        "" if part is None else str(part)
        for part in ((key.start, key.stop) if key.step is None else (key.start, key.stop, key.step))
    )


def _end(end: Any, size: sp.Expr, default: sp.Expr, top: int = 0) -> sp.Expr:
    """One end of a slice, counted from the front; an error where it may lie outside of the axis."""
    if end is None:
        return default
    end = sp.expand(sp.sympify(end))
    if end.is_negative or (end.is_nonnegative is None and certainly_nonnegative(-1 - end)):
        end = sp.expand(size + end)
        return sp.Max(end, 0) if end.is_Integer else end
    if end.is_Integer and size.is_Integer:
        return sp.Min(end, size - top)
    if certainly_nonnegative(end - size + top):
        return sp.expand(size - top)
    if certainly_nonnegative(size - top - end):
        return end
    if end.is_Integer or (size - end).is_Integer:
        assume_nonnegative(size - top - end)
        return end
    raise UnsupportedError(
        f"whether the end {end} of a slice lies within the axis of size {size} is not known for every size; write the "
        "size of the axis with it, e.g. x=N,H+K for x[:, :H]"
    )


def placed_at(forms: Sequence[sp.Expr], value: Array) -> sp.Expr:
    """The element of an array at index forms."""
    return replace(value.body, dict(zip(value.indices, forms, strict=True)))
