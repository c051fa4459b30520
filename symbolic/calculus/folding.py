"""Giving names back: occurrences of a definition's body become the name again.

A body that is a product is found inside larger products, factor by factor (e^{z_k} S⁻¹ r becomes p_k r); any other body
is found as a whole subexpression. Which indices stand for the parameters is found by trying those that occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, DefinedTensor, IndexSum, element, free_indices
from ..language.sizes import same_size
from .contraction import simple_sum


def fold(expression: sp.Expr, tensor: DefinedTensor) -> sp.Expr:
    """The expression with the name of a definition in place of its body, wherever the body stands."""

    def visit(node: Any) -> Any:
        if not node.args:
            return node
        if isinstance(node, Binder):
            fresh, body = node.opened()
            node = type(node)(visit(body), fresh, *(visit(a) for a in node.args[2:]))
        else:
            args = [visit(a) for a in node.args]
            node = node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)
        return _fold_here(node, tensor)

    return visit(expression)


def _fold_here(node: sp.Expr, tensor: DefinedTensor) -> sp.Expr:
    if not isinstance(node, sp.Expr) or not node.args:
        return node
    product_body = isinstance(tensor.body, sp.Mul)
    if product_body and not isinstance(node, (sp.Mul, sp.Pow, sp.exp)):
        return node
    if not product_body and type(node) is not type(tensor.body):
        return node
    for _ in range(8):
        for at in _candidates(node, tensor):
            name, body = element(tensor, *at), tensor.at(*at)
            if node == body:
                return name
            if node == -body:
                return -name
            if product_body:
                quotient = _divide(node, body)
                if quotient is not None:
                    node = quotient * name
                    break
        else:
            return _fold_under_sums(node, tensor) if product_body else node
        if not isinstance(node, (sp.Mul, sp.Pow)):
            return node
    return node


def _fold_under_sums(node: sp.Expr, tensor: DefinedTensor) -> sp.Expr:
    """S⁻¹ Σ_j a_j e^{z_j} = Σ_j a_j p_j: a factor beside a sum may belong to a definition under it."""
    if not isinstance(node, sp.Mul):
        return node
    for factor in node.args:
        if isinstance(factor, IndexSum):
            fresh, body = factor.opened()
            inner = body * sp.Mul(*(f for f in node.args if f is not factor))
            folded = _fold_here(inner, tensor) if isinstance(inner, sp.Mul) else inner
            if folded != inner:
                return simple_sum(folded, fresh, [])
    return node


def _candidates(node: sp.Expr, tensor: DefinedTensor) -> Iterator[tuple[sp.Expr, ...]]:
    indices = [i for i in free_indices(node) if not i.is_bound]
    options: list[list[sp.Expr]] = []
    for n in tensor.shape:
        fitting: list[sp.Expr] = [i for i in indices if same_size(i.size, n)]
        if n.is_Integer:
            fitting += [sp.Integer(v) for v in range(min(int(n), 4))]
        options.append(fitting)
    return product(*options)


def _powers(node: sp.Expr) -> tuple[dict[sp.Expr, sp.Expr], list[sp.Expr]]:
    """Factors as base -> exponent, and the terms of the exponent of e."""
    bases: dict[sp.Expr, sp.Expr] = {}
    exponent: list[sp.Expr] = []
    for f in sp.Mul.make_args(node):
        if isinstance(f, sp.exp):
            exponent += sp.Add.make_args(f.args[0])
        else:
            base, e = f.as_base_exp()
            if isinstance(base, sp.exp):
                exponent += sp.Add.make_args(sp.expand_mul(base.args[0] * e))
            else:
                bases[base] = bases.get(base, sp.S.Zero) + e
    return bases, exponent


def _divide(node: sp.Expr, body: sp.Expr) -> sp.Expr | None:
    """node / body when the body's factors are all there."""
    have, have_exponent = _powers(node)
    want, want_exponent = _powers(body)
    for base, e in want.items():
        if base.is_Number:
            continue
        present = have.get(base)
        if present is None or not (present.is_number and e.is_number):
            return None
        if (present > 0) != (e > 0) or abs(present) < abs(e):
            return None
    coefficients = {t.as_coeff_Mul()[1]: t.as_coeff_Mul()[0] for t in have_exponent}
    for term in want_exponent:
        c, rest = term.as_coeff_Mul()
        present = coefficients.get(rest)
        if present is None or (present > 0) != (c > 0) or abs(present) < abs(c):
            return None
    return node / body


def use_equation(expression: sp.Expr, left: sp.Expr, right: sp.Expr, universal: tuple[Index, ...]) -> sp.Expr:
    """Replace instances of `left` (for any values of the universal indices) by `right`."""
    if isinstance(left, sp.Add) or left.is_number:
        return expression

    def visit(node: Any) -> Any:
        if not node.args:
            return right if node == left else node
        if isinstance(node, Binder):
            fresh, body = node.opened()
            node = type(node)(visit(body), fresh, *(visit(a) for a in node.args[2:]))
        else:
            args = [visit(a) for a in node.args]
            node = node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)
        if type(node) is not type(left):
            return node
        if not universal:
            return right if node == left else node
        inside = [i for i in free_indices(node) if not i.is_bound]
        for at in product(*([i for i in inside if same_size(i.size, u.size)] for u in universal)):
            mapping = dict(zip(universal, at, strict=True))
            if node == left.xreplace(mapping):
                return right.xreplace(mapping)
        return node

    return visit(expression)


__all__ = ["IndexSum", "fold", "use_equation"]
