"""Elements with their indices: plain axes, fixed places, diagonals, and gathers through integer arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Element, free_indices
from .values import ATOM, Value, aligned, merged_axes

if TYPE_CHECKING:
    from .compiler import Compiler


def gathered(compiler: Compiler, name: str, e: Element) -> Value:
    """The code of one element: `name` indexed by what stands in `e`."""
    places = e.indices
    if not places:
        return Value(name)
    used = [a for p in places for a in free_indices(p)]
    plain = [isinstance(p, Index) and used.count(p) == 1 for p in places]
    if all(plain):
        return Value(name, tuple(places))
    fixed = [p.is_Integer for p in places]
    if all(a or b for a, b in zip(plain, fixed, strict=True)):
        key = ", ".join(":" if a else str(int(p)) for a, p in zip(plain, places, strict=True))
        return Value(f"{name}[{_short(key)}]", tuple(p for a, p in zip(plain, places, strict=True) if a))
    # NumPy puts the axes of integer arrays where these stand, if they stand side by side; else every axis is indexed.
    moving = [n for n, a in enumerate(plain) if not a]
    if moving != list(range(moving[0], moving[-1] + 1)):
        moving = list(range(len(places)))
    values = {n: _index_code(compiler, places[n], e.tensor.shape[n]) for n in moving}
    order = merged_axes(values.values(), compiler.rank)
    parts: list[str] = []
    axes: list[sp.Expr] = []
    for n, p in enumerate(places):
        if n in values:
            parts.append(aligned(values[n], order).code)
            axes += order if n == moving[0] else ()
        else:
            parts.append(":")
            axes.append(p)
    return Value(f"{name}[{_short(', '.join(parts))}]", tuple(axes))


def _short(key: str) -> str:
    while key.endswith(", :"):
        key = key[:-3]
    return key


def _index_code(compiler: Compiler, place: sp.Expr, size: sp.Expr) -> Value:
    value = compiler.value(place)
    if isinstance(place, Index | Element) or place.is_Integer or _in_range(place, size):
        return value
    # Out of range the element means nothing (an indicator beside it is 0 there); it must not stop the others.
    np = compiler.np
    return Value(f"{np}.clip({value.code}, 0, {compiler.value(size - 1).code})", value.axes, ATOM)


def _in_range(place: sp.Expr, size: sp.Expr) -> bool:
    """Whether an affine form of indices, its quotient or its remainder certainly stays inside 0, ..., size - 1."""
    if isinstance(place, sp.floor):
        numerator, denominator = sp.fraction(sp.together(place.args[0]))
        return bool(denominator.is_positive) and _in_range(numerator, size * denominator)
    if isinstance(place, sp.Mod):
        return bool(place.args[1].is_positive and sp.expand(size - place.args[1]).is_nonnegative)
    low: dict[Any, Any] = {}
    high: dict[Any, Any] = {}
    for i in free_indices(place):
        slope = sp.expand(place).coeff(i)
        if slope.has(Index) or not (slope.is_positive or slope.is_negative):
            return False
        first, last = (sp.S.Zero, i.size - 1) if slope.is_positive else (i.size - 1, sp.S.Zero)
        low[i], high[i] = first, last
    least, most = (sp.expand(place.xreplace(m)) for m in (low, high))
    return bool(least.is_nonnegative and sp.expand(size - 1 - most).is_nonnegative)
