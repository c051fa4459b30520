"""Intervals that hold a polynomial, from the domains of its atoms, and its least value at the ends of index ranges, at
the ends of an element's interval, and where a sum is not below its terms.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import fmpq

from . import algebra, digits, indicators, signs
from .context import Context
from .terms import ONE, ONE_Q, Atom, Mono, Poly, add, free_of, number, of_atom, scale, subtract

Interval = tuple["Fraction | float", bool, "Fraction | float", bool]  # low, open there, high, open there
_ZERO, _ONE, _INF = Fraction(0), Fraction(1), math.inf


def _end(value: float) -> Fraction | float:
    """An end as the exact number that its decimal says."""
    return value if math.isinf(value) else Fraction(repr(value))


def _by_sign(sign: str) -> Interval:
    return {"+": (_ZERO, True, _INF, True), "-": (-_INF, True, _ZERO, True), "0+": (_ZERO, False, _INF, True)}.get(
        sign, (-_INF, True, _INF, True)
    )


def _atom_interval(ctx: Context, a: Atom) -> Interval:
    if a.kind == "el":
        d = a.data[1]
        if a.data[0] in ctx.positive_names and d.low < 0:
            return _ZERO, True, _end(d.high), not (d.closed_high or d.values)
        return _end(d.low), not (d.closed_low or d.values), _end(d.high), not (d.closed_high or d.values)
    if a.kind == "size":
        return _ONE, False, _INF, True
    if a.kind == "num":
        return Fraction(a.data[0]), False, Fraction(a.data[0]), False
    if a.kind == "pi":
        return Fraction(314, 100), True, Fraction(315, 100), True
    if a.kind in ("eq", "ge", "argmax"):
        return _ZERO, False, _ONE, False
    if a.kind == "fn" and a.data[0] == "erf":
        return -_ONE, True, _ONE, True
    return _by_sign(signs.atom_sign(ctx, a))


def interval_of(ctx: Context, p: Poly) -> Interval:
    """An interval that holds p, by exact arithmetic on the ends; the flags say that an end is not reached."""
    low: Fraction | float = _ZERO
    high: Fraction | float = _ZERO
    low_open = high_open = False
    for m, c in p.terms.items():
        current: Interval = (_ONE, False, _ONE, False)
        for a, e in m:
            if isinstance(e, Fraction) or e < 0:
                b = _by_sign(signs.power_sign(signs.atom_sign(ctx, a), e))
            else:
                b = _interval_power(_atom_interval(ctx, a), e)
            current = _interval_product(current, b)
        a_low, a_lo, a_high, a_ho = current
        f = Fraction(int(c.p), int(c.q))
        if f < 0:
            a_low, a_lo, a_high, a_ho = a_high, a_ho, a_low, a_lo
        low, low_open = low + f * a_low, low_open or a_lo
        high, high_open = high + f * a_high, high_open or a_ho
    if low != low:
        low = -_INF
    if high != high:
        high = _INF
    return low, low_open, high, high_open


def _interval_power(b: Interval, e: int) -> Interval:
    low, lo, high, ho = b
    if low >= 0:
        return low**e, lo, high**e, ho
    if high <= 0:
        r = ((-high) ** e, ho, (-low) ** e, lo)
        return r if e % 2 == 0 else (-r[2], r[3], -r[0], r[1])
    if e % 2 == 0:
        top = max(-low, high)
        return _ZERO, False, top**e, (lo if -low > high else ho)
    return -((-low) ** e), lo, high**e, ho


def _interval_product(a: Interval, b: Interval) -> Interval:
    ends = []
    for x, xo in ((a[0], a[1]), (a[2], a[3])):
        for y, yo in ((b[0], b[1]), (b[2], b[3])):
            v = _ZERO if x == 0 or y == 0 else x * y
            # an end that is 0 by a reached zero is reached, whatever the other end
            reached_zero = (x == 0 and not xo) or (y == 0 and not yo)
            ends.append((v, False if v == 0 and reached_zero else (xo or yo)))
    low = min(ends, key=lambda t: (t[0], t[1]))
    high = max(ends, key=lambda t: (t[0], not t[1]))
    return low[0], low[1], high[0], high[1]


def nonnegative_at_ends(ctx: Context, p: Poly, depth: int) -> bool:
    """p ≥ 0 for indices in their ranges: p is linear in each index, so its least value is at an end of the range."""
    if depth > 6:
        return False
    atoms = sorted({a for m in p.terms for a, _ in m if a.kind != "size"}, key=lambda a: a.digest)
    bounds = {a: _range_of(ctx, a) for a in atoms}
    if any(b is None for b in bounds.values()):
        return False
    linear = [
        a for a in atoms if all(b is a or not (b.free & a.free) or b.kind == "size" for m in p.terms for b, _ in m)
    ]
    if not linear:
        # sizes are at least 1: write n = 1 + m and look at the coefficients
        if atoms:
            return False
        shifted = _shift_sizes(ctx, p)
        return all(c >= 0 for c in shifted.terms.values())
    i = linear[-1]
    constant, slope = Poly({}), Poly({})
    for m, c in p.terms.items():
        own = [e for a, e in m if a is i]
        if not own:
            constant = add(constant, Poly({m: c}))
        elif own == [1]:
            slope = add(slope, Poly({tuple(f for f in m if f[0] is not i): c}))
        else:
            return False
    least, size = bounds[i]  # type: ignore[misc]
    low = add(constant, scale(slope, fmpq(least)))
    top = add(constant, algebra.multiply(ctx, slope, subtract(size, Poly({ONE: ONE_Q}))))
    s = signs.poly_sign(ctx, slope)
    if s in ("+", "0+"):
        return nonnegative_at_ends(ctx, low, depth + 1)
    if s in ("-", "0-"):
        return nonnegative_at_ends(ctx, top, depth + 1)
    return nonnegative_at_ends(ctx, low, depth + 1) and nonnegative_at_ends(ctx, top, depth + 1)


MOST_ENDS = 3  # elements that are put at the ends of their intervals, all together


def least_sign(ctx: Context, p: Poly, depth: int = MOST_ENDS) -> str:
    """'+' or '0+' where that follows from the bounds of what is in a real p; else '?'."""
    p = _without_terms_of_sums(ctx, p)
    sign = signs.poly_sign(ctx, p)
    if sign in ("+", "0+") or not depth:
        return sign if sign in ("+", "0+") else "?"
    best = "?"
    for a in sorted({a for m in p.terms for a, _ in m if a.kind == "el"}, key=lambda a: a.digest):
        ends = _at_ends(p, a)
        if ends is None:
            continue
        found = {least_sign(ctx, end, depth - 1) for end in ends}
        if found == {"+"}:
            return "+"  # p is affine in a: between two ends where it is positive it is positive
        if "?" not in found:
            best = "0+"
    return best


def _at_ends(p: Poly, a: Atom) -> tuple[Poly, Poly] | None:
    """p with an element at the two ends of its interval; None where p is not affine in it or there is no end."""
    low, high = _end(a.data[1].low), _end(a.data[1].high)
    if isinstance(low, float) or isinstance(high, float):
        return None
    constant, slope = Poly({}), Poly({})
    for m, c in p.terms.items():
        rest = tuple(f for f in m if f[0] is not a)
        if any(_occurs(a, b) for b, _ in rest):
            return None
        if len(rest) == len(m):
            constant = add(constant, Poly({m: c}))
        elif (a, 1) in m:
            slope = add(slope, Poly({rest: c}))
        else:
            return None
    return add(constant, scale(slope, number(low).constant)), add(constant, scale(slope, number(high).constant))


def _occurs(a: Atom, part: object) -> bool:
    """Whether an element, at whatever place, stands anywhere inside."""
    if isinstance(part, Atom):
        return (part.kind == "el" and part.data[0] == a.data[0]) or any(_occurs(a, d) for d in part.data)
    if isinstance(part, Poly):
        return any(_occurs(a, b) for m in part.terms for b, _ in m)
    return isinstance(part, tuple) and any(_occurs(a, d) for d in part)


def _without_terms_of_sums(ctx: Context, p: Poly) -> Poly:
    """A polynomial that is not above p: of f ≥ 0, f(v) is not above Σ_j f(j) for a place v in the range of j."""
    for m, c in sorted(p.terms.items(), key=lambda item: [a.digest for a, _ in item[0]]):
        if c >= 0:
            continue
        for n, d in p.terms.items():
            for a, e in n:
                if a.kind != "sum" or e != 1 or len(a.data[0]) != 1 or d < -c:
                    continue
                rest = tuple(f for f in n if f[0] is not a)
                if not {signs.mono_sign(ctx, rest), signs.mono_sign(ctx, a.data[1])} <= {"+", "0+"}:
                    continue
                if any(_term_at(ctx, a, place, rest) == Poly({m: ONE_Q}) for place in _places(ctx, m, a.data[0][0])):
                    return _without_terms_of_sums(ctx, add(p, Poly({m: -c}), Poly({n: c})))
    return p


def _term_at(ctx: Context, a: Atom, place: Poly, factor: Mono) -> Poly:
    own = ctx.index(("b", a.height, 0), a.data[0][0])
    return algebra.multiply(ctx, algebra.substitute_mono(ctx, a.data[1], {own: place}), Poly({factor: ONE_Q}))


def _places(ctx: Context, mono: Mono, size: Poly) -> list[Poly]:
    """What stands as an index in a monomial, and is inside 0, ..., size - 1."""
    free = free_of(mono)
    found: dict[Poly, None] = {of_atom(i): None for i in sorted(free, key=lambda i: i.digest) if i.data[1] == size}
    _indices_in(mono, found)
    return [v for v in found if v.free <= free and (_is_index(v, size) or (
        indicators.is_integer_valued(v) and signs.is_nonnegative(ctx, v)
        and signs.is_nonnegative(ctx, subtract(subtract(size, v), Poly({ONE: ONE_Q})))))]


def _is_index(v: Poly, size: Poly) -> bool:
    ((mono, c), *more) = v.terms.items() if v.terms else (((), 0),)
    return not more and c == 1 and len(mono) == 1 and mono[0][1] == 1 and mono[0][0].kind == "ix" and (
        mono[0][0].data[1] == size)


def _indices_in(part: object, found: dict[Poly, None]) -> None:
    if isinstance(part, Atom):
        if part.kind == "el":
            found.update(dict.fromkeys(part.data[2]))
        for d in part.data:
            _indices_in(d, found)
    elif isinstance(part, Poly):
        for m, _ in part.sorted_terms():
            _indices_in(m, found)
    elif isinstance(part, tuple):
        for d in part:
            _indices_in(d, found)


def _range_of(ctx: Context, a: Atom) -> tuple[int, Poly] | None:
    """The least value of an index-like atom, and one more than its largest."""
    if a.kind == "ix":
        return 0, a.data[1]
    if a.kind == "el" and a.data[0] in ctx.label_sizes:
        return (0 if a.data[1].low >= 0 else -1), ctx.label_sizes[a.data[0]]
    if a.kind == "fdiv":
        size = digits.upper(ctx, a)
        return None if size is None else (0, size)
    return None


def _shift_sizes(ctx: Context, p: Poly) -> Poly:
    result = Poly({})
    for m, c in p.terms.items():
        part = Poly({ONE: c})
        for a, e in m:
            if isinstance(e, Fraction) or e < 0:
                return Poly({ONE: fmpq(-1)})
            part = algebra.multiply(ctx, part, algebra.power(ctx, add(of_atom(a), Poly({ONE: ONE_Q})), e))
        result = add(result, part)
    return result
