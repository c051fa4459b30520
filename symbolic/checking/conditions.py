"""Conditions: comparisons joined by and, or, not; decided exactly between indices, by the field between reals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from flint import fmpq

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import Element, Tensor
from ..language.sizes import Size
from .indexing import Env, exact_code, union

_RELATION: dict[Any, str] = {
    sp.Ge: ">=",
    sp.Gt: ">",
    sp.Le: "<=",
    sp.Lt: "<",
    sp.Eq: "==",
    sp.Ne: "!=",
}


def truth(condition: Any, compiled: Callable[[Any], Any]) -> tuple[Callable[[Any, Env], bool], tuple[Any, ...]]:
    """The code of a condition, and its free indices; `compiled` gives the code of real expressions inside."""
    if condition in (sp.true, sp.false):
        value = bool(condition)
        return (lambda field, env: value), ()
    if isinstance(condition, (sp.And, sp.Or, sp.Not)):
        parts = [truth(a, compiled) for a in condition.args]
        free = union(*(f for _, f in parts))
        runs = [r for r, _ in parts]
        if isinstance(condition, sp.Not):
            return (lambda field, env: not runs[0](field, env)), free
        join = all if isinstance(condition, sp.And) else any
        return (lambda field, env: join(r(field, env) for r in runs)), free
    relation = _RELATION.get(condition.func)
    if relation is None:
        raise UnsupportedError(
            f"the condition {condition} is not a comparison; write >, >=, <, <=, ==, != joined by and, or, not"
        )
    left, right = condition.args
    if _is_index(left) and _is_index(right):
        (a, free_a), (b, free_b) = exact_code(left), exact_code(right)
        test = _TEST[relation]
        return (lambda field, env: test(a(field, env), b(field, env))), union(free_a, free_b)
    x, y = compiled(left), compiled(right)
    return (lambda field, env: field.compare(relation, x.run, y.run, env)), union(x.free, y.free)


_TEST: dict[str, Callable[[fmpq, fmpq], bool]] = {
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _is_index(node: Any) -> bool:
    if isinstance(node, Element):
        return node.tensor.domain.integer
    if isinstance(node, Tensor):
        return node.domain.integer and not node.shape
    return isinstance(node, (Index, Size, sp.Rational)) or (
        isinstance(node, (sp.Add, sp.Mul, sp.floor, sp.ceiling, sp.Mod)) and all(_is_index(a) for a in node.args)
    )
