"""Sums of products: ``*`` and ``.sum`` where factors share their axes, ``@`` for matrix products, else ``einsum``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters

import sympy as sp

from ..language.indices import Index
from .values import ATOM, PRODUCT, Value, aligned, merged_axes, transposed


def axis_text(value: Value, bound: Sequence[Index]) -> str:
    """The axes of some indices as the argument ``axis``; the last axis is -1, as everybody writes it."""
    places = [value.axes.index(b) for b in bound]
    names = [str(p if p < len(value.axes) - 1 else -1) for p in places]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def reduce_axes(value: Value, bound: Sequence[Index], method: str, keepdims: bool = False) -> Value:
    """``value.method(axis=...)`` over the axes of some indices."""
    kept = tuple(a for a in value.axes if a not in bound)
    call = ""
    if kept or keepdims:
        call = f"axis={axis_text(value, bound)}{', keepdims=True' if keepdims else ''}"
    mean = (sp.Mul(*(b.size for b in bound)), f"{value.at(ATOM)}.mean({call})") if method == "sum" else None
    return Value(f"{value.at(ATOM)}.{method}({call})", value.axes if keepdims else kept, mean=mean)


def product(values: Sequence[Value], rank: Mapping[Index, int]) -> Value:
    """Elementwise product with broadcasting."""
    if len(values) == 1:
        return values[0]
    order = merged_axes(values, rank)
    first, *others = (aligned(v, order) for v in values)
    code = " * ".join([first.at(PRODUCT), *(v.at(PRODUCT + 1) for v in others)])  # a * (b @ c)
    return Value(code, order, PRODUCT, all(v.boolean for v in values))


def contract(values: Sequence[Value], bound: Sequence[Index], rank: Mapping[Index, int], np: str) -> Value:
    """Σ over `bound` of the product of the values; each index occurs in at least one of them."""
    groups: dict[frozenset[Index], list[Value]] = {}
    for v in values:
        groups.setdefault(frozenset(v.axes), []).append(v)
    operands = [product(g, rank) for g in groups.values()]
    if len(operands) == 1:
        (only,) = operands
        if len(values) == 2 and len(only.axes) == 1 and not any(v.boolean for v in values):
            return Value(f"{values[0].at(PRODUCT)} @ {_right(values[1])}", (), PRODUCT)
        return reduce_axes(only, bound, "sum")
    operands = [v.numbers() for v in operands]
    if len(operands) == 2 and len(bound) == 1:
        found = _matmul(operands[0], operands[1], bound[0], rank)
        if found is not None:
            return found
    return _einsum(operands, bound, rank, np)


def _right(value: Value) -> str:
    return value.at(PRODUCT + 1)


def _matmul(a: Value, b: Value, k: Index, rank: Mapping[Index, int]) -> Value | None:
    """a @ b, where the axes allow it with transposes of the last two axes only."""
    if k not in a.axes or k not in b.axes:
        return None
    shared = [x for x in a.axes if x in b.axes and x != k]
    own_a = [x for x in a.axes if x not in shared and x != k]
    own_b = [x for x in b.axes if x not in shared and x != k]
    if len(own_b) == 1 and not shared and (not own_a or (len(own_a) == 1 and _before(own_b[0], own_a[0], rank))):
        a, b, own_a, own_b = b, a, own_b, own_a  # the order of the result, and A @ v rather than v @ A.T
    if shared:
        if len(own_a) != 1 or len(own_b) != 1 or list(a.axes[:-2]) != shared or list(b.axes[:-2]) != shared:
            return None
        if _before(own_b[0], own_a[0], rank):
            a, b, own_a, own_b = b, a, own_b, own_a
    elif len(own_a) > 1 and len(own_b) > 1:
        return None
    elif len(own_a) > 1 or len(own_b) > 1:
        if len(own_b) > 1:
            a, b, own_a, own_b = b, a, own_b, own_a
        if a.axes[-1] != k:
            return None
    if not shared and len(own_a) == 1 and not own_b and a.axes == (k, own_a[0]):
        return Value(f"{b.at(PRODUCT)} @ {_right(a)}", (own_a[0],), PRODUCT)  # v @ A rather than A.T @ v
    left = transposed(a, [*shared, *own_a, k])
    right = transposed(b, [*shared, k, *own_b])
    return Value(f"{left.at(PRODUCT)} @ {_right(right)}", (*shared, *own_a, *own_b), PRODUCT)


def _before(a: Index, b: Index, rank: Mapping[Index, int]) -> bool:
    return rank.get(a, 10**6) < rank.get(b, 10**6)


def _einsum(operands: Sequence[Value], bound: Sequence[Index], rank: Mapping[Index, int], np: str) -> Value:
    axes = [a for v in operands for a in v.axes]
    letters: dict[Index, str] = {}
    for a in dict.fromkeys(axes):
        wish = a.name[0] if a.name[0] in ascii_letters else ""
        free = [c for c in "ijklmn" + ascii_letters if c not in letters.values()]
        letters[a] = wish if wish and wish not in letters.values() else free[0]
    kept = [a for a in merged_axes(operands, rank) if a not in bound]
    kept.sort(key=lambda a: rank.get(a, 10**6))
    terms = ",".join("".join(letters[a] for a in v.axes) for v in operands)
    pattern = f"{terms}->{''.join(letters[a] for a in kept)}"
    best = ", optimize=True" if len(operands) > 2 else ""
    return Value(f'{np}.einsum("{pattern}", {", ".join(v.code for v in operands)}{best})', tuple(kept))
