"""Derivatives of canonical forms, atom by atom.

This is not the engine that writes derivations (`calculus`): it is how the canonical form reads a derivative that
stands in an
expression, so that a derivation's steps are judged by other code than the one that made them.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp
from flint import fmpq

from ..language.errors import UnsupportedError
from ..language.operations import OPERATIONS
from . import algebra, indicators, matrices, powers, special, sums
from .context import Context
from .terms import POLY_ONE, ZERO, Atom, Mono, Poly, add, merge, of_atom, of_mono, scale, simple, skeleton, subtract


def derivative(ctx: Context, p: Poly, variable: Poly) -> Poly:
    """The derivative of a polynomial by an element (a polynomial that is one element atom)."""
    mono = next(iter(variable.terms))
    if len(variable.terms) != 1 or len(mono) != 1 or mono[0][0].kind != "el":
        raise UnsupportedError("a derivative is by an element that nothing has replaced")
    atom = mono[0][0]
    return _Derivative(ctx, atom).of_poly(p)


class _Derivative:
    def __init__(self, ctx: Context, variable: Atom) -> None:
        self.ctx = ctx
        self.variable = variable
        self.memo: dict[Atom, Poly] = {}

    def of_poly(self, p: Poly) -> Poly:
        return add(*(scale(self.of_mono(m), c) for m, c in p.terms.items()))

    def of_mono(self, mono: Mono) -> Poly:
        parts = []
        for a, e in mono:
            inner = self.of_atom(a)
            if inner.terms:
                lowered = algebra.of_factors(self.ctx, merge(mono, ((a, -1),)), fmpq(e.numerator, e.denominator))
                parts.append(algebra.multiply(self.ctx, lowered, inner))
        return add(*parts)

    def of_atom(self, a: Atom) -> Poly:
        done = self.memo.get(a)
        if done is None:
            done = self.memo[a] = self._of_atom(a)
        return done

    def _of_atom(self, a: Atom) -> Poly:
        ctx = self.ctx
        match a.kind:
            case "size" | "num" | "pi" | "I" | "ix" | "fdiv":
                return ZERO
            case "el":
                own = self.variable.data
                if a.data[:2] != own[:2] or a.data[3:] != own[3:]:
                    return ZERO
                return algebra.product(
                    ctx, *(indicators.equals_zero(ctx, subtract(p, q)) for p, q in zip(a.data[2], own[2], strict=True))
                )
            case "exp":
                return algebra.multiply(ctx, of_atom(a), self.of_mono(a.data[0]))
            case "log":
                return algebra.multiply(ctx, powers.power_of(ctx, a.data[0], -1), self.of_poly(a.data[0]))
            case "base":
                return self.of_poly(a.data[0])
            case "sum":
                temporaries, body = sums.open_sum(ctx, a)
                return sums.sum_over(ctx, temporaries, self.of_poly(body))
            case "eq" | "ge":
                if self.of_poly(a.data[0]).terms:
                    ctx.kinks.add(skeleton(a.data[0]))
                return ZERO
            case "argmax":
                if self.of_poly(a.data[1]).terms:
                    ctx.used.setdefault("tie")
                return ZERO
            case "max":
                t, body = sums.opened(ctx, a)
                inner = self.of_poly(body)
                if not inner.terms:
                    return ZERO
                ctx.used.setdefault("tie")
                other, again = sums.opened(ctx, a)
                place = sums.argmax_over(ctx, other, again, of_atom(t))
                return sums.sum_over(ctx, (t,), algebra.multiply(ctx, place, inner))
            case "prod":
                t, body = sums.opened(ctx, a)
                inner = self.of_poly(body)
                if not inner.terms:
                    return ZERO
                quotient = algebra.multiply(ctx, inner, powers.power_of(ctx, body, -1))
                return algebra.multiply(ctx, of_atom(a), sums.sum_over(ctx, (t,), quotient))
            case "inv" | "det":
                return matrices.derivative(ctx, a, self.of_poly)
            case "fn":
                return self._of_function(a)
        raise UnsupportedError(f"no derivative for an atom of kind {a.kind}")

    def _of_function(self, a: Atom) -> Poly:
        name, *arguments = a.data
        inner = [self.of_poly(p) for p in arguments]
        if not any(p.terms for p in inner):
            return ZERO
        row = OPERATIONS.get(name)
        if row is None or row.arity != len(arguments):
            raise UnsupportedError(
                f"the function {name} has no derivative rule; declare one in the table of operations"
            )
        from .reader import Reader

        special.note_singular_places(self.ctx, name, arguments)
        places = [sp.Dummy("x", real=True) for _ in arguments]
        reader = Reader(self.ctx)
        reader.memo.update(zip(places, arguments, strict=True))
        parts = []
        for n, (rule, slope) in enumerate(zip(row.derivatives, inner, strict=True)):
            if not slope.terms:
                continue
            if rule is None:
                which = f" by its argument {n + 1} (an order or parameter)" if row.arity > 1 else ""
                raise UnsupportedError(
                    f"the function {name} has no derivative rule{which}; declare one in the table of operations"
                )
            parts.append(algebra.multiply(self.ctx, reader.read(rule(*places)), slope))
        return add(*parts)


__all__ = ["Fraction", "POLY_ONE", "derivative", "of_mono", "simple"]
