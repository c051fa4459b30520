"""Indicators [p = 0] and [p ≥ 0] in one form: decided where signs decide them, split, primitive, one for p and -p."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from flint import fmpq

from . import algebra, powers, signs
from .context import Context
from .terms import ONE, POLY_ONE, ZERO, Mono, Poly, add, negative, number, of_atom, of_mono, scale, sort_mono, subtract


def equals_zero(ctx: Context, p: Poly) -> Poly:
    """The indicator [p = 0]; a Kronecker delta where p is a difference of indices."""
    c = p.constant
    if c is not None:
        return ZERO if c else POLY_ONE
    compared = _compared_by_logs(ctx, p)
    if compared is not None:
        return equals_zero(ctx, compared)
    split = powers.split_indicators(ctx, (p,), lambda q: equals_zero(ctx, q))
    if split is not None:
        return split
    if not _same_range(p):
        if signs.is_nonzero(ctx, p):
            return ZERO
        p = _primitive_condition(ctx, p)
        digits = _split_digits(ctx, p)
        if digits is not None:
            return algebra.multiply(ctx, equals_zero(ctx, digits[0]), equals_zero(ctx, digits[1]))
    if next(value for m, value in p.sorted_terms() if m) < 0:
        p = negative(p)
    return of_atom(ctx.atom("eq", p))


def _split_digits(ctx: Context, p: Poly) -> tuple[Poly, Poly] | None:
    """n·S + k = 0 with |k| < S means n = 0 and k = 0: the digits of a composite index agree one by one."""
    if not is_integer_valued(p):
        return None
    by_size: dict[Mono, list[tuple[Mono, fmpq]]] = {}
    for m, c in p.terms.items():
        by_size.setdefault(tuple(f for f in m if f[0].kind == "size"), []).append((m, c))
    for size in sorted((s for s in by_size if s), key=lambda s: (-len(s), [a.digest for a, _ in s])):
        high = Poly({tuple(f for f in m if f not in size): c for m, c in by_size[size]})
        low = Poly({m: c for m, c in p.terms.items() if tuple(f for f in m if f[0].kind == "size") != size})
        room = subtract(of_mono(size), POLY_ONE)
        if low.terms and signs.is_nonnegative(ctx, subtract(room, low)) and signs.is_nonnegative(ctx, add(room, low)):
            return high, low
    return None


def _same_range(p: Poly) -> bool:
    """Whether p is i - j for two indices over the same size: the common case, where no sign can be known."""
    if len(p.terms) != 2 or sum(p.terms.values()) != 0:
        return False
    factors = [m[0] for m in p.terms if len(m) == 1 and m[0][0].kind == "ix" and m[0][1] == 1]
    return (
        len(factors) == 2 and factors[0][0].data[1] == factors[1][0].data[1] and abs(next(iter(p.terms.values()))) == 1
    )


def at_least_zero(ctx: Context, p: Poly) -> Poly:
    """The indicator [p ≥ 0], with one representative for p and -p: [-p ≥ 0] = 1 - [p ≥ 0] + [p = 0]."""
    if signs.is_nonnegative(ctx, p):
        return POLY_ONE
    below = signs.poly_sign(ctx, negative(p))
    if below == "+":
        return ZERO
    if below == "0+":
        return equals_zero(ctx, p)
    compared = _compared_by_logs(ctx, p)
    if compared is not None:
        return at_least_zero(ctx, compared)
    split = powers.split_indicators(ctx, (p,), lambda q: at_least_zero(ctx, q))
    if split is not None:
        return split
    p = _primitive_condition(ctx, p)
    if is_integer_valued(p):
        p = _coarse(p)
        # On integers [p ≥ 0] = 1 - [-p - 1 ≥ 0]. Of the two, one has a constant term ≥ 0: that one is kept, whatever
        # the
        # indices are called.
        if p.terms.get(ONE, 0) < 0:
            return subtract(POLY_ONE, of_atom(ctx.atom("ge", subtract(negative(p), POLY_ONE))))
        return of_atom(ctx.atom("ge", p))
    factors = _sign_factors(ctx, p)
    if factors is not None:
        return factors
    if (
        min(
            (item for item in p.terms.items() if item[0]),
            key=lambda item: (sorted(a.blind for a, _ in item[0]), [a.digest for a, _ in item[0]]),
        )[1]
        < 0
    ):
        q = negative(p)
        if signs.is_nonnegative(ctx, q):
            return equals_zero(ctx, q)
        return add(subtract(POLY_ONE, of_atom(ctx.atom("ge", q))), equals_zero(ctx, q))
    return of_atom(ctx.atom("ge", p))


def _compared_by_logs(ctx: Context, p: Poly) -> Poly | None:
    """a ≥ b for positive a and b with an exponential among them is log a ≥ log b: e^x ≥ 1 is x ≥ 0."""
    if len(p.terms) != 2 or not any(a.kind == "exp" for m in p.terms for a, _ in m):
        return None
    (m1, c1), (m2, c2) = p.terms.items()
    if (c1 > 0) == (c2 > 0) or signs.mono_sign(ctx, m1) != "+" or signs.mono_sign(ctx, m2) != "+":
        return None
    more, less = ((m1, c1), (m2, -c2)) if c1 > 0 else ((m2, c2), (m1, -c1))
    return subtract(powers.logarithm(ctx, of_mono(*more)), powers.logarithm(ctx, of_mono(*less)))


def _coarse(p: Poly) -> Poly:
    """g·q + c ≥ 0 on integers is q + ⌊c/g⌋ ≥ 0."""
    g = 0
    for m, c in p.terms.items():
        if m:
            g = gcd(g, int(c.p))
    if g <= 1:
        return p
    constant = int(p.terms.get(ONE, fmpq(0)).p) // g
    terms = {m: c / g for m, c in p.terms.items() if m}
    return add(Poly(terms), number(constant))


def _sign_factors(ctx: Context, p: Poly) -> Poly | None:
    """[a b ≥ 0] by the signs of a and b: 1 - [a < 0][b > 0] - [a > 0][b < 0]."""
    if len(p.terms) != 1:
        return None
    ((mono, c),) = p.terms.items()
    if (len(mono) == 1 and mono[0][1] == 1) or len(mono) > 3 or any(isinstance(e, Fraction) for _, e in mono):
        return None
    if p.complex:
        return None
    positive_part, negative_part = (POLY_ONE, ZERO) if c > 0 else (ZERO, POLY_ONE)
    for a, e in mono:
        below = subtract(POLY_ONE, at_least_zero(ctx, of_atom(a)))
        above = subtract(POLY_ONE, at_least_zero(ctx, negative(of_atom(a))))
        if e % 2 == 0:
            below, above = ZERO, add(below, above)
        positive_part, negative_part = (
            add(algebra.multiply(ctx, positive_part, above), algebra.multiply(ctx, negative_part, below)),
            add(algebra.multiply(ctx, positive_part, below), algebra.multiply(ctx, negative_part, above)),
        )
    return subtract(POLY_ONE, negative_part)


def is_integer_valued(p: Poly) -> bool:
    """Whether a polynomial takes integer values only: integer coefficients, indices, sizes and integer tensors."""
    return all(c.q == 1 for c in p.terms.values()) and all(
        (a.kind in ("ix", "size", "fdiv") or (a.kind == "el" and a.data[1].integer))
        and not isinstance(e, Fraction)
        and e > 0
        for m in p.terms
        for a, e in m
    )


def _primitive_condition(ctx: Context, p: Poly) -> Poly:
    """A condition p ? 0 with positive factors divided out and the coefficients made coprime integers."""
    content, primitive = powers.split_content(ctx, p)
    keep = sort_mono(
        (a, e)
        for a, e in content
        if not (signs.atom_sign(ctx, a) == "+" or (e % 2 == 0 and signs.atom_sign(ctx, a) == "!"))
    )
    if keep:
        primitive = algebra.multiply(ctx, algebra.of_factors(ctx, keep), primitive)
    return scale(primitive, 1 / powers._number_content(primitive)) if primitive.terms else primitive
