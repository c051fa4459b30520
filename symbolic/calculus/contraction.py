"""Sums made simple: deltas contracted, constants taken out, sums of sums split where a delta asks for it.

Purely structural and local, so that each line of a derivation reads as a person would have written it; deciding
equality is `canonical`'s work.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, Delta, Element, IndexSum, Tensor, replace
from ..language.sizes import same_size, size

Rules = list[str]


def contract(expression: sp.Expr) -> tuple[sp.Expr, Rules]:
    """Contract deltas and take constants out of sums, everywhere; returns the rules used."""
    used: Rules = []

    def visit(node: Any) -> Any:
        if not node.args:
            return node
        if isinstance(node, IndexSum):
            fresh, body = node.opened()
            return simple_sum(visit(body), fresh, used)
        if isinstance(node, Binder):
            fresh, body = node.opened()
            return type(node)(visit(body), fresh, *(visit(a) for a in node.args[2:]))
        args = [visit(a) for a in node.args]
        return node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)

    return visit(expression), list(dict.fromkeys(used))


def simple_sum(body: sp.Expr, i: Index, used: Rules) -> sp.Expr:
    """Σ_i body, with the delta contracted, or the constants taken out."""
    if body == 0:
        return sp.S.Zero
    if i not in body.free_symbols:
        used.append("sum_const")
        return i.size * body
    constant, rest = _split(body, i)
    if constant != 1:
        used.append("sum_mul_const")
        return constant * simple_sum(rest, i, used)
    factors = sp.Mul.make_args(rest)
    for f in factors:
        value = _solved(f, i)
        if value is not None:
            used.append("sum_mul_delta")
            return replace(sp.Mul(*(g for g in factors if g is not f)), {i: value})
    if rest.has(Delta):
        expanded = sp.expand_mul(rest, deep=False) if not isinstance(rest, sp.Add) else rest
        if not isinstance(expanded, sp.Add):
            expanded = _expand_around_delta(rest)
        if isinstance(expanded, sp.Add):
            used.append("sum_add")
            return sp.Add(*(simple_sum(a, i, used) for a in expanded.args))
    return IndexSum(rest, i)


def _expand_around_delta(node: sp.Expr) -> sp.Expr:
    """Multiply out the factors that contain a delta; leave the others as they are."""
    if not isinstance(node, sp.Mul):
        return node
    touched = [a for a in node.args if isinstance(a, sp.Add) and a.has(Delta)]
    if not touched:
        return node
    rest = sp.Mul(*(a for a in node.args if a is not touched[0]))
    return sp.Add(*(rest * a for a in touched[0].args))


def _solved(factor: sp.Expr, i: Index) -> sp.Expr | None:
    """The value that a delta factor gives to the index, where both range over the same size."""
    if not isinstance(factor, Delta):
        return None
    left, right = factor.args
    for own, other in ((left, right), (right, left)):
        if own == i and i not in other.free_symbols and isinstance(other, Index) and same_size(other.size, i.size):
            return other
        if own == i and _label_below(other, i.size):
            return other
        if own == i and other.is_Integer and other >= 0 and (other == 0 or (i.size.is_Integer and other < i.size)):
            return other
    return None


def _label_below(label: sp.Expr, n: sp.Expr) -> bool:
    """Whether an integer tensor's entries are declared to lie in 0, ..., n - 1."""
    tensor = label.tensor if isinstance(label, Element) else label
    if not isinstance(tensor, Tensor) or not tensor.domain.label_size or tensor.domain.low < 0:
        return False
    return same_size(size(tensor.domain.label_size), n)


def _split(body: sp.Expr, i: Index) -> tuple[sp.Expr, sp.Expr]:
    """Factors that do not depend on the index, and the rest."""
    constant, rest = [], []
    for f in sp.Mul.make_args(body):
        if i not in f.free_symbols:
            constant.append(f)
        elif isinstance(f, sp.exp) and isinstance(f.args[0], sp.Add):
            outside = [a for a in f.args[0].args if i not in a.free_symbols]
            if outside:
                constant.append(sp.exp(sp.Add(*outside)))
                rest.append(sp.exp(sp.Add(*(a for a in f.args[0].args if i in a.free_symbols))))
            else:
                rest.append(f)
        else:
            rest.append(f)
    return sp.Mul(*constant), sp.Mul(*rest)
