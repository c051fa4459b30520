"""Where an expression is defined: what its divisions, logarithms and roots ask for and domains do not give.

An equality of canonical forms holds where both sides are defined. Comparing the conditions of the two sides shows
whether one
asks for more than the other (x/x asks x ≠ 0, the number 1 asks nothing); that is what a verdict reports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from ..language import nodes
from ..language.indices import Index
from ..language.operations import BY_FUNCTION
from . import factoring, powers, signs
from .context import Undefined
from .reader import Environment, Reader
from .terms import Poly, negative, of_atom, scale

Condition = tuple[str, Poly]


def conditions(reader: Reader, expression: sp.Expr, divisors: Sequence[sp.Expr] = ()) -> dict[Condition, str]:
    """The conditions that are not known to hold, each with its text; `divisors` are further expressions that must
    not be 0.
    """
    walker = _Walker(reader)
    walker.visit(sp.sympify(expression), {}, 0)
    for divisor in divisors:
        free = list(nodes.free_indices(divisor))
        closed = nodes.replace(
            divisor,
            {i: Index(f"_{n}", i.size, 0, 10**6 + n) for n, i in enumerate(free)},
        )
        env = {
            Index(f"_{n}", i.size, 0, 10**6 + n): of_atom(reader.ctx.index(("q", n), reader.size(i.size)))
            for n, i in enumerate(free)
        }
        walker.visit(closed, env, len(free))
        walker.need("!=", closed, env)
    return walker.found


# What the domain of a function asks of its argument.
_DOMAIN: dict[str, Callable[[sp.Expr], tuple[tuple[str, sp.Expr], ...]]] = {
    "positive": lambda x: ((">", x),),
    "nonzero": lambda x: (("!=", x),),
    "(-1,1)": lambda x: ((">=", 1 - x**2),),
    "(-inf,1)": lambda x: ((">", 1 - x),),
    "(0,1)": lambda x: ((">=", x), (">=", 1 - x)),
    "(1,inf)": lambda x: ((">=", x - 1),),
}


class _Walker:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.found: dict[Condition, str] = {}
        self.entered: set[nodes.DefinedTensor] = set()

    def visit(self, node: Any, env: Environment, depth: int) -> None:
        """Walk an expression; `depth` counts the indices that are already quantified."""
        if isinstance(node, nodes.Binder):
            size = self.reader.size(node.bound.size)
            self.visit(node.body, {**env, node.bound: of_atom(self.reader.ctx.index(("q", depth), size))}, depth + 1)
            return
        if isinstance(node, nodes.PartialDerivative):
            self.visit(node.expression, env, depth)
            return
        tensor = node.tensor if isinstance(node, nodes.Element) else node
        if isinstance(tensor, nodes.DefinedTensor):
            if tensor not in self.entered:
                self.entered.add(tensor)
                own = {
                    p: of_atom(self.reader.ctx.index(("q", depth + n), self.reader.size(p.size)))
                    for n, p in enumerate(tensor.parameters)
                }
                self.visit(tensor.body, own, depth + len(own))
            return
        if isinstance(node, sp.Pow) and node.exp.is_Rational:
            if node.exp < 0:
                self.need("!=", node.base, env)
            if node.exp.q % 2 == 0:
                self.need(">=", node.base, env)
        elif isinstance(node, sp.log):
            self.need(">", node.args[0], env)
        elif isinstance(node, sp.Function):
            row = BY_FUNCTION.get(node.func)
            for argument, domain in zip(node.args, row.domains if row is not None else (), strict=False):
                for relation, expression in _DOMAIN.get(domain, lambda x: ())(argument):
                    self.need(relation, expression, env)
        for a in node.args:
            self.visit(a, env, depth)

    def need(self, relation: str, expression: sp.Expr, env: Environment) -> None:
        if (
            expression.is_positive
            or (relation == "!=" and (expression.is_nonzero or expression.is_negative))
            or (relation == ">=" and expression.is_nonnegative)
        ):
            return
        ctx = self.reader.ctx
        try:
            p = self.reader._read(expression, env)
        except Undefined:
            self.found.setdefault((relation, Poly({})), f"{expression} {relation} 0")
            return
        if relation != "!=":
            if signs.sign_by_factors(ctx, p) in (("+",) if relation == ">" else ("+", "0+")):
                return
            p = scale(p, 1 / powers._number_content(p)) if p.terms else p
            self.found.setdefault((relation, p), f"{expression} {'>' if relation == '>' else '≥'} 0")
            return
        if signs.is_nonzero(ctx, p):
            return
        content, primitive = powers.split_content(ctx, p)
        for a, _ in content:
            if signs.atom_sign(ctx, a) not in ("+", "-", "!") and a.kind != "exp":
                self.found.setdefault(("!=", of_atom(a)), f"{expression} ≠ 0")
        if len(primitive.terms) > 1:
            for factor, _ in factoring.factor(ctx, primitive):
                if factor.constant is None and not signs.is_nonzero(ctx, factor):
                    if factor.sorted_terms()[0][1] < 0:
                        factor = negative(factor)
                    self.found.setdefault(("!=", factor), f"{expression} ≠ 0")
        elif not content and not p.terms:
            self.found.setdefault(("!=", p), f"{expression} ≠ 0")
