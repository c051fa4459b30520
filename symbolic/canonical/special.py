"""Normal forms of special functions: shifts of an order or argument by integers, reflections, inverses, known signs.

A recurrence is used only where it holds on the whole domain that is known, such as Γ(x+1) = x Γ(x) for x > 0. What is
not known to hold is left alone, so that an equality may be missed but none is made up. Gamma arguments come down to
the least one known to be positive; Bessel functions are in `bessel`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial

from flint import fmpq

from . import algebra, bessel, indicators, powers, signs
from .context import Context, Undefined
from .shifts import HALF, MOST_STEPS, constant_part, function_atom, leads_negative, over, shifted
from .terms import POLY_ONE, ZERO, Atom, Poly, add, negative, number, of_atom, scale, skeleton, subtract


def normal(ctx: Context, name: str, arguments: tuple[Poly, ...]) -> Poly | None:
    """The normal form of a special function, or None where it has none here."""
    rule = _NORMAL.get(name)
    return None if rule is None else rule(ctx, *arguments)


# ---------------------------------------------------------------------- the gamma function and its relatives
def _lowered(ctx: Context, p: Poly) -> tuple[Poly, int]:
    """The least p - j, j = 0, 1, ..., that is known to be positive, and j."""
    if not signs.is_positive(ctx, p) or signs.is_positive(ctx, shifted(p, -MOST_STEPS)):
        return p, 0
    steps = 0
    while signs.is_positive(ctx, shifted(p, -1)):
        p, steps = shifted(p, -1), steps + 1
    return p, steps


def _gammaln(ctx: Context, p: Poly) -> Poly:
    base, steps = _lowered(ctx, p)
    parts = [powers.logarithm(ctx, shifted(base, n)) for n in range(steps)]
    if base.constant == HALF:
        parts.append(scale(powers.logarithm(ctx, of_atom(ctx.atom("pi"))), HALF))
    elif base.constant != 1:
        parts.append(function_atom(ctx, "gammaln", base))
    return add(*parts)


def _gamma(ctx: Context, p: Poly) -> Poly:
    """Γ(x) = e^(log Γ(x)) for x > 0."""
    if signs.is_positive(ctx, p):
        return powers.exponential(ctx, _gammaln(ctx, p))
    c = p.constant
    if c is not None and c.q == 1:
        raise Undefined(f"the gamma function at {c}")
    return function_atom(ctx, "gamma", p)


def _polygamma(ctx: Context, order: Poly, p: Poly) -> Poly:
    """ψ_n(x+1) = ψ_n(x) + (-1)^n n! x^(-n-1) for x > 0."""
    n = order.constant
    if n is None or n.q != 1 or n < 0:
        return function_atom(ctx, "polygamma", order, p)
    k = int(n)
    base, steps = _lowered(ctx, p)
    step = fmpq((-1) ** k * factorial(k))
    parts = [scale(powers.power_of(ctx, shifted(base, j), -k - 1), step) for j in range(steps)]
    own = (
        function_atom(ctx, ("digamma", "trigamma")[k], base) if k < 2 else function_atom(ctx, "polygamma", order, base)
    )
    return add(own, *parts)


def _zeta(ctx: Context, s: Poly, q: Poly = POLY_ONE) -> Poly:
    """ζ(s, q+1) = ζ(s, q) - q^-s for q > 0."""
    base, steps = _lowered(ctx, q)
    parts = [negative(powers.symbolic_power(ctx, shifted(base, j), negative(s))) for j in range(steps)]
    return add(function_atom(ctx, "zeta", s, base), *parts)


def _uppergamma(ctx: Context, a: Poly, x: Poly) -> Poly:
    """Γ(a+1, x) = a Γ(a, x) + x^a e^-x for x > 0."""
    if not signs.is_positive(ctx, x):
        return function_atom(ctx, "uppergamma", a, x)
    base, steps = _lowered(ctx, a)
    decay = powers.exponential(ctx, negative(x))
    if base.constant == 1:
        result = decay
    elif base.constant == HALF:
        erf = algebra.function(ctx, "erf", powers.power_of(ctx, x, Fraction(1, 2)))
        result = algebra.multiply(
            ctx, powers.power_of(ctx, of_atom(ctx.atom("pi")), Fraction(1, 2)), subtract(POLY_ONE, erf)
        )
    else:
        result = function_atom(ctx, "uppergamma", base, x)
    for n in range(steps):
        order = shifted(base, n)
        result = add(
            algebra.multiply(ctx, order, result), algebra.multiply(ctx, powers.symbolic_power(ctx, x, order), decay)
        )
    return result


def _lowergamma(ctx: Context, a: Poly, x: Poly) -> Poly:
    """γ(a, x) = Γ(a) - Γ(a, x) for a > 0, x > 0."""
    if signs.is_positive(ctx, a) and signs.is_positive(ctx, x):
        return subtract(_gamma(ctx, a), _uppergamma(ctx, a, x))
    return function_atom(ctx, "lowergamma", a, x)


def _betainc(ctx: Context, a: Poly, b: Poly, x: Poly) -> Poly:
    """I_x(a, b) = 1 - I_(1-x)(b, a)."""
    if not x.terms or x.constant == 1:
        return x
    if b.digest < a.digest or (a == b and leads_negative(x)):
        return subtract(POLY_ONE, function_atom(ctx, "betainc", b, a, subtract(POLY_ONE, x)))
    return function_atom(ctx, "betainc", a, b, x)


# ---------------------------------------------------------------------- exponential integrals, polylogarithms
def _expint(ctx: Context, order: Poly, x: Poly) -> Poly:
    """n E_(n+1)(x) = e^-x - x E_n(x), x > 0: numbers come down to (0, 1], other orders to a constant part in [0, 1)."""
    if not signs.is_positive(ctx, x):
        return function_atom(ctx, "expint", order, x)
    decay = powers.exponential(ctx, negative(x))
    if not order.terms:
        return over(ctx, decay, x)
    c = constant_part(order)
    steps = int(c.ceil()) - 1 if order.constant is not None else int(c.floor())
    if abs(steps) > MOST_STEPS:
        return function_atom(ctx, "expint", order, x)
    if steps < 0:
        above = _expint(ctx, shifted(order, 1), x)
        return over(ctx, subtract(decay, algebra.multiply(ctx, order, above)), x)
    below = shifted(order, -1)
    if steps > 0 and signs.is_nonzero(ctx, below):
        return over(ctx, subtract(decay, algebra.multiply(ctx, x, _expint(ctx, below, x))), below)
    return function_atom(ctx, "expint", order, x)


def _expi(ctx: Context, x: Poly) -> Poly:
    """Ei(-x) = -E_1(x) for x > 0."""
    if signs.is_positive(ctx, negative(x)):
        return negative(_expint(ctx, POLY_ONE, negative(x)))
    return function_atom(ctx, "expi", x)


def _polylog(ctx: Context, s: Poly, z: Poly) -> Poly:
    """Li_1(z) = -log(1-z), Li_0(z) = z/(1-z)."""
    if not z.terms:
        return ZERO
    rest = subtract(POLY_ONE, z)
    if s.constant == 1:
        return negative(powers.logarithm(ctx, rest))
    if s.constant == 0:
        return over(ctx, z, rest)
    return function_atom(ctx, "polylog", s, z)


# ---------------------------------------------------------------------- inverses
def _inverse_pair(name: str, other: str) -> Callable[[Context, Poly], Poly | None]:
    """f(f⁻¹(x)) = x, for a pair of odd functions."""

    def rule(ctx: Context, p: Poly) -> Poly | None:
        if len(p.terms) == 1:
            ((mono, c),) = p.terms.items()
            if (
                abs(c) == 1
                and len(mono) == 1
                and mono[0][1] == 1
                and mono[0][0].kind == "fn"
                and mono[0][0].data[0] == other
            ):
                return scale(mono[0][0].data[1], c)
        return None

    return rule


def _lambertw(ctx: Context, p: Poly) -> Poly:
    return function_atom(ctx, "lambertw", p) if p.terms else ZERO


def exponential_of(ctx: Context, a: Atom, e: int | Fraction) -> Poly | None:
    """e^(e W(x)) = (x / W(x))^e, where x is not 0 (for a fraction e: where x > 0)."""
    if a.kind != "fn" or a.data[0] != "lambertw":
        return None
    x = a.data[1]
    if signs.is_positive(ctx, x) or (isinstance(e, int) and signs.is_nonzero(ctx, x)):
        return algebra.multiply(ctx, powers.power_of(ctx, x, e), powers.power_of(ctx, of_atom(a), -e))
    return None


def logarithm_of(ctx: Context, a: Atom) -> Poly | None:
    """log W(x) = log x - W(x) for x > 0."""
    if a.kind == "fn" and a.data[0] == "lambertw" and signs.is_positive(ctx, a.data[1]):
        return subtract(powers.logarithm(ctx, a.data[1]), of_atom(a))
    return None


# ---------------------------------------------------------------------- two-argument arctangent, Owen's T, rounding
def _arctan2(ctx: Context, y: Poly, x: Poly) -> Poly:
    """atan2(y, x) = arctan(y/x) for x > 0."""
    if signs.is_positive(ctx, x):
        return algebra.function(ctx, "arctan", over(ctx, y, x))
    return function_atom(ctx, "arctan2", y, x)


def _owens_t(ctx: Context, h: Poly, a: Poly) -> Poly:
    """T(h, a) is even in h and odd in a."""
    if not a.terms:
        return ZERO
    h = negative(h) if leads_negative(h) else h
    return (
        negative(function_atom(ctx, "owens_t", h, negative(a)))
        if leads_negative(a)
        else function_atom(ctx, "owens_t", h, a)
    )


def _floor(ctx: Context, p: Poly) -> Poly:
    """⌊n + x⌋ = n + ⌊x⌋ for whole n."""
    whole = {m: c for m, c in p.terms.items() if m and c.q == 1 and all(_is_whole(a, e) for a, e in m)}
    rest = Poly({m: c for m, c in p.terms.items() if m not in whole})
    n = int(constant_part(rest).floor())
    rest = shifted(rest, -n)
    outside = add(Poly(whole), number(n))
    if signs.is_nonnegative(ctx, rest) and signs.is_positive(ctx, subtract(POLY_ONE, rest)):
        return outside
    return add(outside, function_atom(ctx, "floor", rest))


def _is_whole(a: Atom, e: int | Fraction) -> bool:
    own = (
        a.kind in ("ix", "size", "eq", "ge", "argmax")
        or (a.kind == "el" and a.data[1].integer)
        or (a.kind == "fn" and a.data[0] == "floor")
    )
    return own and isinstance(e, int) and e > 0


def _ceil(ctx: Context, p: Poly) -> Poly:
    return negative(_floor(ctx, negative(p)))


_NORMAL: dict[str, Callable[..., Poly | None]] = {
    "gammaln": _gammaln,
    "gamma": _gamma,
    "digamma": lambda ctx, p: _polygamma(ctx, ZERO, p),
    "trigamma": lambda ctx, p: _polygamma(ctx, POLY_ONE, p),
    "polygamma": _polygamma,
    "zeta": _zeta,
    "uppergamma": _uppergamma,
    "lowergamma": _lowergamma,
    "betainc": _betainc,
    "expint": _expint,
    "expi": _expi,
    "polylog": _polylog,
    "erf": _inverse_pair("erf", "erfinv"),
    "erfinv": _inverse_pair("erfinv", "erf"),
    "lambertw": _lambertw,
    **{name: bessel.bessel(name) for name in bessel.RECURRENCE},
    "arctan2": _arctan2,
    "owens_t": _owens_t,
    "floor": _floor,
    "ceil": _ceil,
}


# ---------------------------------------------------------------------- signs, and where a derivative does not hold
def sign(ctx: Context, a: Atom) -> str:
    """The sign of a special function's atom, as `signs.atom_sign` writes it."""
    name, *arguments = a.data
    if name in ("erfi", "erfinv", "fresnels", "fresnelc", "lambertw"):
        found = signs.poly_sign(ctx, arguments[0])
        if name in ("fresnels", "fresnelc") and found == "!":
            return "!"
        return found if found in ("+", "-", "0+", "!") else "?"
    if name == "zeta":
        return (
            "+" if signs.is_positive(ctx, shifted(arguments[0], -1)) and signs.is_positive(ctx, arguments[-1]) else "?"
        )
    if name in ("besselk", "uppergamma", "expint", "trigamma"):
        return "+" if signs.is_positive(ctx, arguments[-1]) else "?"
    if name in ("ellipk", "ellipe"):
        return "+"
    return "?"


def note_singular_places(ctx: Context, name: str, arguments: list[Poly]) -> None:
    """Note where the derivative rule of a function does not hold although the function has a value there."""
    last = arguments[-1]
    if name in ("polylog", "ellipk", "ellipe", "sinint", "sinhint") and not signs.is_nonzero(ctx, last):
        ctx.kinks.update(
            skeleton(a.data[0]) for m in indicators.equals_zero(ctx, last).terms for a, _ in m if a.kind == "eq"
        )
    if name == "floor":
        ctx.used.setdefault("away from kinks")
    if name == "arctan2" and not (signs.is_nonzero(ctx, arguments[0]) or signs.is_positive(ctx, last)):
        ctx.used.setdefault("away from kinks")


__all__ = ["exponential_of", "logarithm_of", "normal", "note_singular_places", "sign"]
