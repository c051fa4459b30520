"""Powers, exponentials and logarithms of polynomials.

A base with several terms is made primitive (numbers and common factors out) and factored into irreducibles, so that
related
denominators share their factors. Roots are taken only of what is known to be positive; the rest stays under the root.
`exp` of a sum becomes a product of powers of exp of monomials, `log` splits on known positive factors, and the two undo
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm

from flint import fmpq, fmpz

from ..language.errors import UnsupportedError
from . import algebra, factoring, indicators, signs, special
from .context import Context, Undefined
from .terms import (
    ONE,
    ONE_Q,
    POLY_ONE,
    ZERO,
    Atom,
    Exponent,
    Mono,
    Poly,
    add,
    merge,
    negative,
    number,
    of_atom,
    scale,
    simple,
    sort_mono,
    subtract,
)

MAX_EXPAND = 24
FACTORED = 10**30  # numbers up to here are factored, whatever their primes
TRIAL = 3000  # primes that are tried in larger ones


def power_of(ctx: Context, p: Poly, e: Exponent) -> Poly:
    """p to a rational power, in normal form."""
    e = simple(e)
    if e == 1:
        return p
    if e == 0:
        return POLY_ONE
    if not p.terms:
        if e < 0:
            raise Undefined("division by an expression that is identically 0")
        return ZERO
    if isinstance(e, int) and 0 < e <= MAX_EXPAND and len(p.terms) > 1:
        return algebra.power(ctx, p, e)
    key = (p, e)
    done = ctx.powers.get(key)
    if done is None:
        done = ctx.powers[key] = _power_of(ctx, p, e)
    return done


def _power_of(ctx: Context, p: Poly, e: Exponent) -> Poly:
    if len(p.terms) == 1:
        ((mono, c),) = p.terms.items()
        return _mono_power(ctx, mono, c, e)
    if e.denominator > 1 or e < 0:
        split = split_indicators(ctx, (p,), lambda q: power_of(ctx, q, e))
        if split is not None:
            return split
    content, primitive = split_content(ctx, p, roots=isinstance(e, Fraction))
    c = _number_content(primitive)
    if isinstance(e, int) and algebra.lead_of(primitive)[1] < 0:
        c = -c
    primitive = scale(primitive, 1 / c)
    result = _mono_power(ctx, content, c, e)
    known: list[tuple[Poly, int]] = []
    rest: list[tuple[Poly, int]] = []
    for factor, multiplicity in (
        [(primitive, 1)] if isinstance(e, Fraction) and primitive.complex else factoring.factor(ctx, primitive)
    ):
        if isinstance(e, int) or signs.is_positive(ctx, factor):
            known.append((factor, multiplicity))
        elif signs.is_positive(ctx, negative(factor)):
            known.append((negative(factor), multiplicity))
            rest += [(number(-1), 1)] * (multiplicity % 2)
        elif multiplicity % 2 == 0 and simple(e * multiplicity) % 2 == 0:
            known.append((factor, multiplicity))
        elif multiplicity % 2 == 0:  # (f²)^e = |f|^(2e)
            result = algebra.multiply(ctx, result, power_of(ctx, absolute(ctx, factor), simple(e * multiplicity)))
        else:
            rest.append((factor, multiplicity))
    for factor, multiplicity in known:
        result = algebra.multiply(ctx, result, base_power(ctx, factor, simple(e * multiplicity)))
    if rest:
        joined = POLY_ONE
        for factor, multiplicity in rest:
            joined = algebra.multiply(ctx, joined, algebra.power(ctx, factor, multiplicity))
        if joined.constant == 1:
            return result
        if joined.constant is not None or len(joined.terms) == 1:
            return algebra.multiply(ctx, result, power_of(ctx, joined, e))
        result = algebra.multiply(ctx, result, base_power(ctx, joined, e))
    return result


def base_power(ctx: Context, base: Poly, e: Exponent) -> Poly:
    """A primitive base to a power, as an atom where it has several terms."""
    if len(base.terms) == 1:
        return power_of(ctx, base, e)
    if isinstance(e, int) and e > 0:
        return algebra.power(ctx, base, e)
    return algebra.of_factors(ctx, ((ctx.atom("base", base), e),))


def absolute(ctx: Context, p: Poly) -> Poly:
    """|p| = p (2[p ≥ 0] - 1), which is right at 0 as well."""
    if signs.is_nonnegative(ctx, p):
        return p
    if signs.is_nonnegative(ctx, negative(p)):
        return negative(p)
    return algebra.multiply(ctx, p, subtract(scale(indicators.at_least_zero(ctx, p), fmpq(2)), POLY_ONE))


def _mono_power(ctx: Context, mono: Mono, c: fmpq, e: Exponent) -> Poly:
    """(c · mono)^e."""
    if isinstance(e, int):
        powered = tuple((a, simple(k * e)) for a, k in mono)
        return algebra.of_factors(ctx, powered, c**e)
    out: list[tuple[Atom, Exponent]] = []
    kept: list[tuple[Atom, Exponent]] = []
    result = POLY_ONE
    sign = 1
    for a, k in mono:
        known = signs.atom_sign(ctx, a)
        if known == "+" or (known == "0+" and k > 0) or a.kind in ("eq", "ge", "argmax"):
            out.append((a, simple(k * e)))
        elif known != "c" and k.denominator == 1 and k % 2 == 0:
            if (k * e).denominator == 1 and (k * e) % 2 == 0:
                out.append((a, simple(k * e)))
            else:
                magnitude = absolute(ctx, of_atom(a))
                if k * e < 0:  # |a|^(-1) = |a| / a²
                    out.append((a, simple(2 * (k * e).__floor__())))
                    result = algebra.multiply(
                        ctx, result, power_of(ctx, magnitude, simple(k * e - 2 * (k * e).__floor__()))
                    )
                else:
                    result = algebra.multiply(ctx, result, power_of(ctx, magnitude, simple(k * e)))
        elif known == "-":
            if k % 2:
                sign = -sign
            out_poly = power_of(ctx, negative(of_atom(a)), simple(k * e)) if len(mono) > 1 or c != -1 else None
            if out_poly is None:
                kept.append((a, k))
                sign = -sign if k % 2 else sign
            else:
                result = algebra.multiply(ctx, result, out_poly)
        else:
            kept.append((a, k))
    c = c * sign
    magnitude_c = abs(c)
    result = algebra.multiply(ctx, result, algebra.of_factors(ctx, sort_mono(out)))
    if kept:
        if len(kept) == 1 and c > 0 and kept[0][1] == 1:
            result = algebra.multiply(ctx, result, algebra.of_factors(ctx, ((kept[0][0], e),)))
        else:
            inside = Poly({sort_mono(kept): fmpq(1) if c > 0 else fmpq(-1)})
            result = algebra.multiply(ctx, result, algebra.of_factors(ctx, ((ctx.atom("base", inside), e),)))
    elif c < 0:
        inside = number(-1)
        if e.denominator % 2 == 0:
            raise Undefined("an even root of a negative number")
        result = algebra.multiply(ctx, result, of_atom(ctx.atom("base", inside), e))
    return algebra.multiply(ctx, result, number_power(ctx, magnitude_c, e))


def number_power(ctx: Context, c: fmpq, e: Exponent) -> Poly:
    """A positive rational to a rational power, by its primes."""
    factors: list[tuple[Atom, Exponent]] = []
    for part, sign in ((c.p, 1), (c.q, -1)):
        if part > 1:
            factors += [(ctx.atom("num", int(prime)), simple(sign * m * e)) for prime, m in _primes(part)]
    return algebra.of_factors(ctx, sort_mono(factors))


def _primes(n: fmpz) -> list[tuple[fmpz, int]]:
    """The prime factors of a number; an `UnsupportedError` where they would take too long to find.

    What is left after trial division has to be prime, or small: two numbers with an unknown factor in common would be
    taken for independent.
    """
    if n > FACTORED and any(p > FACTORED and not p.is_probable_prime() for p, _ in n.factor(trial_limit=TRIAL)):
        raise UnsupportedError(f"a number of {int(n).bit_length()} bits is not factored, so its roots and its "
                               "logarithm have no canonical form")
    found: list[tuple[fmpz, int]] = n.factor()
    return found


def _number_content(p: Poly) -> fmpq:
    """The positive number that makes the coefficients coprime integers."""
    top, bottom = fmpz(0), fmpz(1)
    for c in p.terms.values():
        top = top.gcd(c.p)
        bottom = bottom.lcm(c.q)
    return fmpq(top, bottom)


def split_content(ctx: Context, p: Poly, roots: bool = False) -> tuple[Mono, Poly]:
    """p = content · primitive, where content has what every monomial shares (least exponents).

    With `roots`, only factors whose sign is known, or even powers, are taken out, so that a root may be taken of each.
    """
    monos = [dict(m) for m in p.terms]
    common = {a for m in monos for a in m}
    content: list[tuple[Atom, Exponent]] = []
    for a in common:
        if a.kind in ("eq", "ge", "argmax"):
            continue
        least = min(m.get(a, 0) for m in monos)
        if a.kind == "I":
            continue
        known = signs.atom_sign(ctx, a) if roots and least else "+"
        if known == "c":
            continue  # no root is taken of a complex factor
        if known != "+":
            least = 2 * (Fraction(least) / 2).__floor__() if Fraction(least).denominator == 1 else 0
        if least:
            content.append((a, simple(Fraction(least)) if not isinstance(least, int) else least))
    if not content:
        return ONE, p
    mono = sort_mono(content)
    inverse = tuple((a, -e) for a, e in mono)
    if not any(a.kind == "base" for a, _ in mono):
        return mono, Poly({merge(m, inverse): c for m, c in p.terms.items()})
    # a denominator that is taken out multiplies the other terms, where it expands; what is left may share factors again
    rest = add(*(algebra.of_factors(ctx, merge(m, inverse), c) for m, c in p.terms.items()))
    if len(rest.terms) < 2:
        return mono, rest
    more, rest = split_content(ctx, rest, roots)
    return merge(mono, more), rest


def split_indicators(
    ctx: Context, arguments: Sequence[Poly], rebuild: Callable[..., Poly], whole: bool = False
) -> Poly | None:
    """f(a + b [c]) = [c] f(a + b) + (1 - [c]) f(a), for one 0/1 factor at the top level; None when there is none.

    Where only one branch is defined, its value is used (the statement is about where things are defined); with `whole`
    that is an error.
    """
    found = None
    for p in arguments:
        for m in p.terms:
            for a, _ in m:
                if a.kind in ("eq", "ge", "argmax") and (found is None or a.digest < found.digest):
                    found = a
    if found is None or sum(len(p.terms) for p in arguments) > 60:
        return None
    on, off = [], []
    for p in arguments:
        with_it = Poly(
            {tuple(f for f in m if f[0] is not found): c for m, c in p.terms.items() if any(f[0] is found for f in m)}
        )
        without = Poly({m: c for m, c in p.terms.items() if not any(f[0] is found for f in m)})
        on.append(add(with_it, without))
        off.append(without)
    indicator = of_atom(found)

    def guarded(values: list[Poly]) -> Poly | None:
        try:
            return rebuild(*values)
        except Undefined:
            return None

    yes, no = guarded(on), guarded(off)
    if yes is None and no is None:
        raise Undefined("neither branch of an indicator is defined")
    if whole and (yes is None or no is None):
        raise Undefined("one branch of an indicator is not defined")
    if yes is None or no is None:
        # defined on one branch only: the value there, and the statement holds where it is defined
        ctx.used.setdefault(f"branch:{found!r}")
        return yes if yes is not None else no
    return add(algebra.multiply(ctx, indicator, yes), algebra.multiply(ctx, subtract(POLY_ONE, indicator), no))


# ---------------------------------------------------------------------- exponentials and logarithms
def exponential(ctx: Context, p: Poly) -> Poly:
    """e^p as a product of powers of e^monomial."""
    if not p.terms:
        return POLY_ONE
    split = split_indicators(ctx, (p,), lambda q: exponential(ctx, q))
    if split is not None:
        return split
    result = POLY_ONE
    plain: list[tuple[Atom, Exponent]] = []
    for m, c in p.terms.items():
        e = simple(Fraction(int(c.p), int(c.q)))
        if len(m) == 1 and m[0][0].kind == "log" and m[0][1] == 1:
            result = algebra.multiply(ctx, result, power_of(ctx, m[0][0].data[0], e))
        elif len(m) == 2 and {a.kind for a, k in m if k == 1} == {"I", "pi"}:
            result = algebra.multiply(ctx, result, _root_of_unity(ctx, Fraction(e)))
        elif len(m) == 1 and m[0][1] == 1 and (known := special.exponential_of(ctx, m[0][0], e)) is not None:
            result = algebra.multiply(ctx, result, known)
        else:
            plain.append((ctx.atom("exp", m), e))
    return algebra.multiply(ctx, result, algebra.of_factors(ctx, sort_mono(plain)))


def symbolic_power(ctx: Context, base: Poly, exponent: Poly) -> Poly:
    """base^exponent = e^(exponent · log base) for an exponent with symbols; 0 to a positive exponent is 0."""
    c = exponent.constant
    if c is not None:
        return power_of(ctx, base, Fraction(int(c.p), int(c.q)))
    if not base.terms:
        if signs.is_positive(ctx, exponent):
            return ZERO
        raise Undefined("0 to a power that may be 0 or negative")
    if base.constant == 1:
        return POLY_ONE
    split = split_indicators(ctx, (base,), lambda q: symbolic_power(ctx, q, exponent), whole=True)
    if split is not None:
        return split
    return exponential(ctx, algebra.multiply(ctx, exponent, logarithm(ctx, base)))


def _root_of_unity(ctx: Context, r: Fraction) -> Poly:
    """e^{iπr}: exact for multiples of 1/12 by square roots, an atom otherwise."""
    r = r % 2
    i = ctx.atom("I")
    if r >= 1:
        return negative(_root_of_unity(ctx, r - 1))
    if r >= Fraction(1, 2):
        return algebra.multiply(ctx, of_atom(i), _root_of_unity(ctx, r - Fraction(1, 2)))
    half = fmpq(1, 2)
    root = lambda n: number_power(ctx, fmpq(n), Fraction(1, 2))  # noqa: E731
    table = {
        Fraction(0): (POLY_ONE, ZERO),
        Fraction(1, 6): (scale(root(3), half), number(half)),
        Fraction(1, 4): (scale(root(2), half), scale(root(2), half)),
        Fraction(1, 3): (number(half), scale(root(3), half)),
    }
    if r in table:
        cosine, sine = table[r]
        return add(cosine, algebra.multiply(ctx, of_atom(i), sine))
    return of_atom(ctx.atom("exp", sort_mono([(i, 1), (ctx.atom("pi"), 1)])), r)


def logarithm(ctx: Context, p: Poly) -> Poly:
    """log p, split on numbers, exponentials and known positive factors."""
    if not p.terms:
        raise Undefined("the logarithm of an expression that is identically 0")
    split = split_indicators(ctx, (p,), lambda q: logarithm(ctx, q))
    if split is not None:
        return split
    done = ctx.powers.get((p, "log"))
    if done is None:
        done = ctx.powers[(p, "log")] = _logarithm(ctx, p)
    return done


def _logarithm(ctx: Context, p: Poly) -> Poly:
    content, primitive = split_content(ctx, p, roots=True)
    if len(primitive.terms) == 1:
        ((mono, c),) = primitive.terms.items()
        content, primitive = merge(content, mono), number(c)
    c = _number_content(primitive)
    primitive = scale(primitive, 1 / c)
    parts = [_log_number(ctx, c)]
    rest: list[tuple[Poly, int]] = []
    kept: list[tuple[Atom, Exponent]] = []
    for a, e in content:
        known = signs.atom_sign(ctx, a)
        if a.kind == "exp" and known == "+":
            parts.append(scale(Poly({a.data[0]: ONE_Q}), fmpq(e.numerator, e.denominator)))
        elif a.kind == "num":
            parts.append(scale(_log_number(ctx, fmpq(a.data[0])), fmpq(e.numerator, e.denominator)))
        elif a.kind == "base" and known == "+":
            parts.append(scale(logarithm(ctx, a.data[0]), fmpq(e.numerator, e.denominator)))
        elif known == "+":
            log = special.logarithm_of(ctx, a) or of_atom(ctx.atom("log", of_atom(a)))
            parts.append(scale(log, fmpq(e.numerator, e.denominator)))
        elif known != "c" and e.denominator == 1 and e % 2 == 0:
            parts.append(scale(logarithm(ctx, absolute(ctx, of_atom(a))), fmpq(e.numerator)))
        else:
            kept.append((a, e))
    several = len(primitive.terms) > 1
    for factor, multiplicity in (
        ([(primitive, 1)] if primitive.complex else factoring.factor(ctx, primitive)) if several else []
    ):
        if signs.is_positive(ctx, factor):
            parts.append(scale(of_atom(ctx.atom("log", factor)), fmpq(multiplicity)))
        elif signs.is_positive(ctx, negative(factor)):
            parts.append(scale(of_atom(ctx.atom("log", negative(factor))), fmpq(multiplicity)))
            if multiplicity % 2:
                rest.append((number(-1), 1))
        else:
            rest.append((factor, multiplicity))
    if len(primitive.terms) == 1 and primitive.constant is not None and primitive.constant < 0:
        rest.append((number(-1), 1))
    joined = algebra.of_factors(ctx, sort_mono(kept))
    for factor, multiplicity in rest:
        joined = algebra.multiply(ctx, joined, algebra.power(ctx, factor, multiplicity))
    if joined.constant != 1:
        if joined.constant is not None:
            raise Undefined(f"the logarithm of the number {joined.constant}")
        if not rest and len(kept) == 1 and kept[0][1] != 1 and kept[0][1] < 0 and kept[0][1].denominator == 1:
            # log(a^-1) = -log a: defined for the same a
            parts.append(negative(of_atom(ctx.atom("log", Poly({((kept[0][0], -kept[0][1]),): ONE_Q})))))
        elif not rest and len(kept) == 1 and kept[0][1].denominator > 1:
            parts.append(
                scale(of_atom(ctx.atom("log", of_atom(kept[0][0]))), fmpq(kept[0][1].numerator, kept[0][1].denominator))
            )
        else:
            parts.append(of_atom(ctx.atom("log", joined)))
    return add(*parts)


def _log_number(ctx: Context, c: fmpq) -> Poly:
    if c <= 0:
        raise Undefined(f"the logarithm of the number {c}")
    parts = []
    for part, sign in ((c.p, 1), (c.q, -1)):
        if part > 1:
            parts += [
                scale(of_atom(ctx.atom("log", number(int(prime)))), fmpq(sign * int(m)))
                for prime, m in _primes(part)
            ]
    return add(*parts)


__all__ = ["exponential", "lcm", "logarithm", "power_of", "split_content", "split_indicators"]
