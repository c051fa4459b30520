"""Pieces of NumPy code that know their axes, and how they are put beside each other.

A `Value` is the text of an expression together with the indices that its axes run over, in order. Two values are
combined by bringing both to one order of axes: a transpose where the order differs, ``None`` where an axis is missing.
This is always right; the nicer forms (``@``, ``np.diag``, gathers) are found by those who use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import sympy as sp

from ..language.indices import Index

# Python's precedence, as far as it is needed: a text of lower strength is put in parentheses under a stronger operator.
COMPARE, SUM, PRODUCT, UNARY, POWER, ATOM = range(6)


@dataclass(frozen=True)
class Value:
    """`code` evaluates to an array whose axes run over `axes`, each at full size; `boolean`: its dtype is bool.

    `mean`, for a sum: the number of elements that were summed, and the code of their mean.
    """

    code: str
    axes: tuple[Index, ...] = ()
    strength: int = ATOM
    boolean: bool = False
    mean: tuple[sp.Expr, str] | None = None

    def at(self, strength: int) -> str:
        """The code, in parentheses where it stands under a stronger operator."""
        return self.code if self.strength >= strength else f"({self.code})"

    def numbers(self) -> Value:
        """The same with 0.0 and 1.0 for False and True."""
        if not self.boolean:
            return self
        return Value(f"{self.at(ATOM)}.astype(float)" if self.axes else f"float({self.code})", self.axes)


def transposed(value: Value, order: Sequence[Index]) -> Value:
    """The value with its own axes in another order."""
    wanted = tuple(order)
    if wanted == value.axes:
        return value
    moves = [value.axes.index(a) for a in wanted]
    n = len(moves)
    if moves == list(range(n))[::-1]:
        code = f"{value.at(ATOM)}.T"
    elif moves == [*range(n - 2), n - 1, n - 2]:
        code = f"{value.at(ATOM)}.swapaxes(-1, -2)"
    else:
        code = f"{value.at(ATOM)}.transpose({', '.join(map(str, moves))})"
    return replace(value, code=code, axes=wanted, strength=ATOM, mean=None)


def aligned(value: Value, order: Sequence[Index]) -> Value:
    """The value made to broadcast against an array with axes `order`: its own axes are a part of them.

    Missing axes before the first own one need nothing, as NumPy aligns shapes from the right.
    """
    value = transposed(value, [a for a in order if a in value.axes])
    if not value.axes:
        return value
    first = next(n for n, a in enumerate(order) if a in value.axes)
    places = [":" if a in value.axes else "None" for a in order[first:]]
    if "None" not in places:
        return value
    tail = len(places) - max(n for n, p in enumerate(places) if p == ":") - 1
    body = places[: len(places) - tail]
    if "None" not in body and len(body) > 1:
        return replace(
            value, code=f"{value.at(ATOM)}[{', '.join(['...', *['None'] * tail])}]", strength=ATOM, mean=None
        )
    return replace(value, code=f"{value.at(ATOM)}[{', '.join(places)}]", strength=ATOM, mean=None)


def merged_axes(values: Iterable[Value], rank: Mapping[Index, int]) -> tuple[Index, ...]:
    """One order for the axes of several values, with as few transposes as the values allow.

    A topological sort of the orders that the values have, the ones with more axes first; ties by `rank` (the place in
    the result, outer sums before inner ones).
    """
    given = sorted((v.axes for v in values), key=lambda axes: -len(axes))
    before: dict[Index, set[Index]] = {a: set() for axes in given for a in axes}

    def reaches(start: Index, goal: Index) -> bool:
        stack, seen = [start], set()
        while stack:
            a = stack.pop()
            if a == goal:
                return True
            if a not in seen:
                seen.add(a)
                stack.extend(before[a])
        return False

    for axes in given:
        for a, b in pairwise(axes):
            if not reaches(a, b):  # else a larger value wants b before a, and this one is transposed
                before[b].add(a)
    order: list[Index] = []
    while len(order) < len(before):
        ready = [a for a in before if a not in order and before[a] <= set(order)]
        order.append(min(ready, key=lambda a: rank.get(a, 10**6 + a.serial - a.level)))
    return tuple(order)
