"""Exponentials put together where they cancel: e^{-c} e^{c + z} = e^z."""

from __future__ import annotations

from typing import Any

import sympy as sp


def combine_exponentials(expression: sp.Expr) -> sp.Expr:
    """Merge the exponentials of a product where their exponents cancel; leave e^{a} e^{b} as it is otherwise."""

    def merge(node: Any) -> Any:
        powers = [f for f in node.args if isinstance(f, sp.exp)]
        if len(powers) < 2:
            return node
        total = sp.Add(*(f.args[0] for f in powers))
        if len(sp.Add.make_args(total)) < sum(len(sp.Add.make_args(f.args[0])) for f in powers):
            return sp.Mul(sp.exp(total), *(f for f in node.args if not isinstance(f, sp.exp)))
        return node

    return expression.replace(lambda n: isinstance(n, sp.Mul), merge) if expression.has(sp.exp) else expression
