"""What recurrences need: the constant part of an order, an order moved by an integer, a function's atom, a quotient."""

from __future__ import annotations

from flint import fmpq

from . import algebra, powers
from .context import Context
from .terms import ONE, Poly, add, number, of_atom

MOST_STEPS = 30  # an order or argument farther away than this is left where it is
HALF = fmpq(1, 2)


def function_atom(ctx: Context, name: str, *arguments: Poly) -> Poly:
    """A function left alone."""
    return of_atom(ctx.atom("fn", name, *arguments))


def constant_part(p: Poly) -> fmpq:
    """The constant term."""
    return p.terms.get(ONE, fmpq(0))


def shifted(p: Poly, n: int) -> Poly:
    """p + n."""
    return add(p, number(n))


def over(ctx: Context, a: Poly, b: Poly) -> Poly:
    """a / b."""
    return algebra.multiply(ctx, a, powers.power_of(ctx, b, -1))


def leads_negative(p: Poly) -> bool:
    """Whether the first term that is not a number has a negative coefficient: which of p and -p is written."""
    return next((c < 0 for m, c in p.sorted_terms() if m), constant_part(p) < 0)
