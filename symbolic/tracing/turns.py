"""From one turn of a loop to all of them, when a turn takes a value p to a p + b, in index i.

    a = 1                old + Σ_i b_i                       an accumulation
    a in {0, 1}          old Π_i a_i + Σ_i b_i Π_{m>i} a_m   writes, of which a later one wins
    b = 0                old Π_i a_i                         a running product

All else is a recurrence, which has no index expression, and is refused.
"""

from __future__ import annotations

import itertools

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.index_arithmetic import certainly_less, certainly_nonnegative
from ..language.indices import Index
from ..language.nodes import Delta, Element, IndexProduct, IndexSum, Indicator, Tensor, replace
from .contexts import HOLD

_MOST_FLAGS = 8
EARLIER_TURNS = (
    "a turn of the loop uses what earlier turns have computed; that is a recurrence: write it with np.cumsum, "
    "np.cumprod or "
    "a closed formula, or give the size as a number to have the loop unrolled"
)


def after_all_turns(first: sp.Expr, a: sp.Expr, b: sp.Expr, letter: Index) -> sp.Expr:
    """The value after all turns, from the first value and what one turn does to it."""
    if a.has(Delta, Indicator):
        a = sp.expand(a)
    if a == 1:
        return first + summed(b, letter)
    if b == 0:
        return first * IndexProduct(a, letter)
    if not _binary(a):
        raise UnsupportedError(
            "a turn of the loop multiplies what earlier turns have computed and adds to it; that is a recurrence: "
            "write it with np.cumprod and np.cumsum or a closed formula, or give the size as a number"
        )
    target, b = sp.expand(1 - a), sp.expand(b)
    if _fixed_by_a_delta(target, b, letter):  # at most one turn writes to a place
        return first * (1 - summed(target, letter)) + summed(b, letter)
    later = letter.fresh("m")
    rest = IndexProduct(1 - Indicator(sp.Gt(later, letter)) * replace(target, {letter: later}), later)
    return first * IndexProduct(a, letter) + IndexSum(b * rest, letter)


def summed(body: sp.Expr, over: Index) -> sp.Expr:
    """Σ over an index, with deltas that fix the index contracted."""
    total: sp.Expr = sp.S.Zero
    rest: sp.Expr = sp.S.Zero
    for term in sp.Add.make_args(body):
        for factor in sp.Mul.make_args(term):
            at = _solved(factor, over)
            if at is not None:
                inside = sp.S.One
                if not certainly_nonnegative(at):
                    inside *= Indicator(sp.Ge(at, 0))
                if not certainly_less(at, over.size):
                    inside *= Indicator(sp.Lt(at, over.size))
                total += inside * replace(term / factor, {over: at})
                break
        else:
            rest += term
    if rest == 0:
        return total
    return total + (rest * over.size if not rest.has(over) else IndexSum(rest, over))


def _solved(factor: sp.Expr, over: Index) -> sp.Expr | None:
    """The value of an index at which a delta is 1, when the delta fixes it."""
    if not isinstance(factor, Delta) or not factor.has(over):
        return None
    difference = sp.expand(factor.args[0] - factor.args[1])
    slope = difference.coeff(over)
    rest = sp.expand(difference - slope * over)
    return sp.expand(-rest * slope) if slope in (1, -1) and not rest.has(over) else None


def _fixed_by_a_delta(target: sp.Expr, b: sp.Expr, letter: Index) -> bool:
    """Whether one delta that fixes the letter stands in every term of both."""
    terms = [set(sp.Mul.make_args(t)) for t in (*sp.Add.make_args(target), *sp.Add.make_args(b)) if t != 0]
    return any(all(f in t for t in terms) for f in terms[0] if _solved(f, letter) is not None)


def linear(body: sp.Expr, hole: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """a and b of a body that is a*hole + b."""
    if not body.has(hole):
        return sp.S.Zero, body
    if body == hole:
        return sp.S.One, sp.S.Zero
    if isinstance(body, sp.Add):
        parts = [linear(t, hole) for t in body.args]
        return sp.Add(*(p[0] for p in parts)), sp.Add(*(p[1] for p in parts))
    if isinstance(body, sp.Mul):
        inner = [f for f in body.args if f.has(hole)]
        if len(inner) == 1:
            a, b = linear(inner[0], hole)
            rest = sp.Mul(*(f for f in body.args if f is not inner[0]))
            return a * rest, b * rest
    raise UnsupportedError(
        "a turn of the loop puts what earlier turns have computed into a function; that is a recurrence: write it with "
        "np.max, np.cumsum or a closed formula, or give the size as a number"
    )


def _binary(a: sp.Expr) -> bool:
    """Whether a factor made of deltas and indicators is 0 or 1 whatever these are."""
    flags = sorted(a.atoms(Delta, Indicator), key=sp.default_sort_key)
    if len(flags) > _MOST_FLAGS:
        return False
    return all(
        a.xreplace(dict(zip(flags, map(sp.Integer, values), strict=True))) in (0, 1)
        for values in itertools.product((0, 1), repeat=len(flags))
    )


def placeholders(body: sp.Expr) -> list[Tensor]:
    found = {t for t in body.atoms(sp.Symbol) if isinstance(t, Tensor)} | {e.tensor for e in body.atoms(Element)}
    return sorted((t for t in found if t.name.startswith(HOLD)), key=lambda t: t.name)
