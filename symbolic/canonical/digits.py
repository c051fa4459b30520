"""Integer division of indices: q = ⌊e/n⌋ as an atom, the remainder as e - n q.

A merged axis of size N·K is told by its digits: ⌊c/K⌋ and c mod K. What is a multiple of n leaves the floor, what is
known to lie
in 0, ..., n-1 vanishes; a sum over a merged index becomes a sum over its digits, and a delta against n·a + k gives
both.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpz

from . import algebra, indicators, signs, sums
from .context import Context
from .terms import (
    ONE,
    ONE_Q,
    POLY_ONE,
    ZERO,
    Atom,
    Mono,
    Poly,
    add,
    free_of,
    merge,
    of_atom,
    of_mono,
    scale,
    simple,
    sort_mono,
    subtract,
)


def floor_of(ctx: Context, p: Poly) -> Poly | None:
    """⌊p⌋ where p is an integer expression over a size or a number; None for anything else."""
    bottom: dict[Atom, int] = {}
    number = fmpz(1)
    for m, c in p.terms.items():
        number = number * c.q // number.gcd(c.q)
        for a, e in m:
            if isinstance(e, Fraction):
                return None
            if e < 0:
                if a.kind != "size":
                    return None
                bottom[a] = max(bottom.get(a, 0), -e)
    divisor = of_mono(sort_mono(bottom.items()), fmpq(number))
    top = algebra.multiply(ctx, p, divisor)
    return quotient(ctx, top, divisor) if indicators.is_integer_valued(top) else None


def quotient(ctx: Context, top: Poly, divisor: Poly) -> Poly:
    """⌊top / divisor⌋ for an integer expression and a divisor that is one term (a number times sizes)."""
    ((d, dc),) = divisor.terms.items()
    if not d and dc == 1:
        return top
    whole, rest = {}, {}
    for m, c in top.terms.items():
        exponents = dict(m)
        if all(exponents.get(a, 0) >= e for a, e in d) and (c / dc).q == 1:
            whole[merge(m, tuple((a, -e) for a, e in d))] = c / dc
        else:
            rest[m] = c
    remainder = Poly(rest)
    outside = Poly(whole)
    if not remainder.terms:
        return outside
    room = subtract(subtract(divisor, POLY_ONE), remainder)
    if signs.is_nonnegative(ctx, remainder) and signs.is_nonnegative(ctx, room):
        return outside
    if signs.is_nonnegative(ctx, add(remainder, divisor)) and signs.is_positive(ctx, scale(remainder, -ONE_Q)):
        return subtract(outside, POLY_ONE)
    return add(outside, of_atom(ctx.atom("fdiv", remainder, divisor)))


def remainder(ctx: Context, top: Poly, divisor: Poly) -> Poly:
    """top mod divisor, in 0, ..., divisor - 1."""
    return subtract(top, algebra.multiply(ctx, divisor, quotient(ctx, top, divisor)))


def upper(ctx: Context, a: Atom) -> Poly | None:
    """One more than the largest value of ⌊i/n⌋ for an index i over n·S: S."""
    top, divisor = a.data
    mono = next(iter(top.terms)) if len(top.terms) == 1 else ONE
    if len(mono) != 1 or mono[0][1] != 1 or mono[0][0].kind != "ix" or top.terms[mono] != 1:
        return None
    return over(mono[0][0].data[1], divisor)


def over(size: Poly, divisor: Poly) -> Poly | None:
    """size / divisor where it divides."""
    ((d, dc),) = divisor.terms.items()
    result: dict[Mono, fmpq] = {}
    for m, c in size.terms.items():
        exponents = dict(m)
        if not all(exponents.get(a, 0) >= e for a, e in d) or (c / dc).q != 1:
            return None
        result[sort_mono((a, simple(e - dict(d).get(a, 0))) for a, e in m if e != dict(d).get(a, 0))] = c / dc
    return Poly(result)


def split_sum(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """Σ_c f(⌊c/n⌋, c mod n) = Σ_a Σ_k f(a, k) for c over n·S."""
    for a in _inner_atoms(mono):
        mono_top = next(iter(a.data[0].terms)) if len(a.data[0].terms) == 1 else ONE
        if (
            len(mono_top) != 1
            or mono_top[0][0] not in temporaries
            or a.data[0].terms[mono_top] != 1
            or mono_top[0][1] != 1
        ):
            continue
        c = mono_top[0][0]
        high_size = over(c.data[1], a.data[1])
        if high_size is None:
            continue
        high, low = ctx.temporary(high_size), ctx.temporary(a.data[1])
        value = add(algebra.multiply(ctx, a.data[1], of_atom(high)), of_atom(low))
        body = algebra.substitute_mono(ctx, mono, {c: value})
        return sums.sum_over(ctx, (*(t for t in temporaries if t is not c), high, low), body)
    return None


def _inner_atoms(part: object) -> list[Atom]:
    """Every quotient atom inside, in order."""
    if isinstance(part, Atom):
        own = [part] if part.kind == "fdiv" else []
        return own + [a for d in part.data for a in _inner_atoms(d)]
    if isinstance(part, Poly):
        return [a for m, _ in part.sorted_terms() for a in _inner_atoms(m)]
    if isinstance(part, tuple):
        return [a for p in part for a in _inner_atoms(p)]
    return []


def contract_digits(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """Σ_a Σ_k [i = n a + k] f(a, k) = f(⌊i/n⌋, i mod n) for k over n and n a + k over the range of i."""
    for delta, e in mono:
        if delta.kind != "eq" or e != 1 or not indicators.is_integer_valued(delta.data[0]):
            continue
        equation: Poly = delta.data[0]
        turned = _rolled(ctx, equation, temporaries)
        if turned is not None:
            t, value = turned
            body = algebra.substitute_mono(ctx, tuple(f for f in mono if f[0] is not delta), {t: value})
            return sums.sum_over(ctx, tuple(x for x in temporaries if x is not t), body)
        for low in temporaries:
            c = equation.terms.get(((low, 1),))
            if c is None or abs(c) != 1:
                continue
            for high in temporaries:
                step = next(((m, v) for m, v in equation.terms.items() if high in free_of(m)), None)
                if high is low or step is None or sum(high in free_of(m) for m in equation.terms) != 1:
                    continue
                divisor = Poly({tuple(f for f in step[0] if f[0] is not high): step[1] / c})
                if divisor != low.data[1]:
                    continue
                rest = Poly(
                    {m: v for m, v in equation.terms.items() if high not in free_of(m) and low not in free_of(m)}
                )
                value = scale(rest, -ONE_Q / c)  # = n·high + low
                if not indicators.is_integer_valued(value):
                    continue
                top = subtract(subtract(algebra.multiply(ctx, high.data[1], divisor), POLY_ONE), value)
                q = quotient(ctx, value, divisor)
                mapping = {high: q, low: remainder(ctx, value, divisor)}
                body = algebra.substitute_mono(ctx, tuple(f for f in mono if f[0] is not delta), mapping)
                inside = (indicators.at_least_zero(ctx, value), indicators.at_least_zero(ctx, top))
                body = algebra.product(ctx, body, *inside)
                return sums.sum_over(ctx, tuple(t for t in temporaries if t not in (high, low)), body)
    return None


def _rolled(ctx: Context, equation: Poly, temporaries: tuple[Atom, ...]) -> tuple[Atom, Poly] | None:
    """(t + c) mod n = r for t over n and 0 ≤ r < n has one solution, t = (r - c) mod n."""
    for m in equation.terms:
        inner = [a for a, e in m if a.kind == "fdiv" and e == 1]
        if len(inner) != 1:
            continue
        top, n = inner[0].data
        for t in temporaries:
            c = equation.terms.get(((t, 1),))
            if c is None or abs(c) != 1 or top.terms.get(((t, 1),)) != 1 or t.data[1] != n:
                continue
            shift = Poly({k: w for k, w in top.terms.items() if k != ((t, 1),)})
            if t in shift.free:
                continue
            cycle = subtract(top, algebra.multiply(ctx, n, of_atom(inner[0])))  # (t + c) mod n
            r = subtract(cycle, scale(equation, ONE_Q / c))
            if t in r.free or not signs.is_nonnegative(ctx, r):
                continue
            if not signs.is_nonnegative(ctx, subtract(subtract(n, POLY_ONE), r)):
                continue
            return t, remainder(ctx, subtract(r, shift), n)
    return None


__all__ = ["ZERO", "contract_digits", "floor_of", "quotient", "remainder", "split_sum", "upper"]
