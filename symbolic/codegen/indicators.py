"""What is 0 or 1: Kronecker deltas and indicators, as identity matrices and as arrays of truth values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.relational import Relational

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import Delta, Indicator
from ..language.sizes import same_size
from .values import ATOM, COMPARE, SUM, UNARY, Value, aligned, merged_axes

if TYPE_CHECKING:
    from .compiler import Compiler


_RELATIONS = {sp.Ge: ">=", sp.Gt: ">", sp.Le: "<=", sp.Lt: "<", sp.Eq: "==", sp.Ne: "!="}


def compared(c: Compiler, sign: str, left: Value, right: Value) -> Value:
    order = merged_axes([left, right], c.rank)
    return Value(f"{aligned(left, order).at(SUM)} {sign} {aligned(right, order).at(SUM)}", order, COMPARE, True)


def delta(c: Compiler, e: Delta) -> Value:
    i, j = e.args
    if isinstance(i, Index) and isinstance(j, Index) and same_size(i.size, j.size):
        axes = tuple(sorted((i, j), key=lambda a: c.rank.get(a, 10**6)))
        return Value(f"{c.np}.eye({c.size(i.size).code})", axes)
    return compared(c, "==", c.value(i), c.value(j))


def indicator(c: Compiler, e: Indicator) -> Value:
    return condition(c, e.condition)


def condition(c: Compiler, relation: Any) -> Value:
    """A relation, or a combination of relations, as truth values."""
    if isinstance(relation, Relational) and type(relation) in _RELATIONS:
        left, right = c.value(relation.lhs).numbers(), c.value(relation.rhs).numbers()
        return compared(c, _RELATIONS[type(relation)], left, right)
    if isinstance(relation, sp.And | sp.Or):
        parts = [condition(c, a) for a in sorted(relation.args, key=sp.default_sort_key)]
        order = merged_axes(parts, c.rank)
        sign = " & " if isinstance(relation, sp.And) else " | "
        return Value(sign.join(aligned(p, order).at(ATOM) for p in parts), order, COMPARE, True)
    if isinstance(relation, sp.Not):
        inner = condition(c, relation.args[0])
        return Value(f"~{inner.at(ATOM)}", inner.axes, UNARY, True)
    raise UnsupportedError(f"the condition {relation} has no NumPy code")


def is_one(c: Compiler, mask: sp.Expr) -> Value:
    """A factor that is 0 or 1, an indicator, its opposite or an entry of a binary array, as truth values."""
    if is_not(mask):
        inner = condition(c, (1 - mask).condition)
        return Value(f"~{inner.at(ATOM)}", inner.axes, UNARY, True)
    if isinstance(mask, Indicator):
        return condition(c, mask.condition)
    return compared(c, "!=", c.value(mask), Value("0"))


def is_not(f: sp.Expr) -> bool:
    """Whether a factor is 1 - [condition]."""
    return f.is_Add and isinstance(1 - f, Indicator)
