"""Bessel functions: orders come down to {q, q+1} by the three-term recurrence, half orders to their closed forms.

The recurrence divides by x. For Y and K, which have values for x > 0 only, that is always right; for J and I it is
done where x ≠ 0 is known, or once more at the end, by continuity (`by_continuity`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import fmpq

from . import algebra, indicators, powers, signs
from .context import Context
from .shifts import HALF, MOST_STEPS, constant_part, function_atom, leads_negative, over, shifted
from .terms import ONE, Atom, Poly, add, negative, number, of_atom, scale

# F_(m±1) = far F_(m∓1) + near (2m/x) F_m: the sign of the far term, of the near one going up, and going down.
RECURRENCE = {"besselj": (-1, 1, 1), "bessely": (-1, 1, 1), "besseli": (1, -1, 1), "besselk": (1, 1, -1)}


def bessel(name: str) -> Callable[[Context, Poly, Poly], Poly]:
    return lambda ctx, order, x: _bessel_of(ctx, name, order, x)


def _bessel_of(ctx: Context, name: str, order: Poly, x: Poly) -> Poly:
    c = order.constant
    whole = int(c) if c is not None and c.q == 1 else None
    sign = 1
    if whole is not None and whole < 0:  # F_-n = (±1)^n F_n
        sign = (-1) ** abs(whole) if name in ("besselj", "bessely") else 1
        order = negative(order)
    elif (name == "besselk" or (name == "besseli" and indicators.is_integer_valued(order))) and leads_negative(order):
        order = negative(order)
    if whole is not None and name in ("besselj", "besseli") and leads_negative(x):  # F_n(-x) = (-1)^n F_n(x)
        sign, x = sign * (-1) ** abs(whole), negative(x)
    return scale(_by_recurrence(ctx, name, order, x), fmpq(sign))


def _by_recurrence(ctx: Context, name: str, order: Poly, x: Poly, nonzero: bool = False) -> Poly:
    steps = int(constant_part(order).floor())
    if abs(steps) > MOST_STEPS or (name in ("besselj", "besseli") and not (nonzero or signs.is_nonzero(ctx, x))):
        return function_atom(ctx, name, order, x)
    start = shifted(order, -steps)
    if start.constant == HALF and signs.is_positive(ctx, x):
        low, high = _half_orders(ctx, name, x)
        start, steps = number(-HALF), steps + 1
    elif steps in (0, 1):
        return function_atom(ctx, name, order, x)
    else:
        low, high = function_atom(ctx, name, start, x), function_atom(ctx, name, shifted(start, 1), x)
    far, up, down = RECURRENCE[name]
    over_x = powers.power_of(ctx, x, -1)
    for n in range(1, steps):
        middle = scale(algebra.product(ctx, shifted(start, n), over_x, high), fmpq(2 * up))
        low, high = high, add(middle, scale(low, fmpq(far)))
    for n in range(0, steps, -1):
        middle = scale(algebra.product(ctx, shifted(start, n), over_x, low), fmpq(2 * down))
        low, high = add(middle, scale(high, fmpq(far))), low
    return high if steps > 0 else low


def by_continuity(ctx: Context, p: Poly) -> Poly | None:
    """p with J_n(x) and I_n(x) of whole n ≥ 2 taken down to the orders 0 and 1, for x ≠ 0; None if none is there.

    If that vanishes, p vanishes for x ≠ 0, and so at x = 0 as well, because p is continuous: this is for an x that
    takes all values of an interval, and a p without indicators and roundings.
    """
    if not _is_continuous(p):
        return None
    parts, changed = [], False
    for m, c in p.terms.items():
        factors = [Poly({ONE: c})]
        for a, e in m:
            if a.kind == "fn" and a.data[0] in ("besselj", "besseli") and isinstance(e, int) and e > 0:
                _, order, x = a.data
                n = order.constant
                if n is not None and n.q == 1 and n > 1 and _takes_an_interval(x):
                    factors.append(algebra.power(ctx, _by_recurrence(ctx, a.data[0], order, x, nonzero=True), e))
                    changed = True
                    continue
            factors.append(of_atom(a, e))
        parts.append(algebra.product(ctx, *factors))
    return add(*parts) if changed else None


def _is_continuous(part: object) -> bool:
    if isinstance(part, Atom):
        if part.kind in ("eq", "ge", "argmax", "fdiv") or (
            part.kind == "fn" and part.data[0] in ("floor", "arctan2", "sign")
        ):
            return False
        return all(_is_continuous(d) for d in part.data)
    if isinstance(part, Poly):
        return all(_is_continuous(a) for m in part.terms for a, _ in m)
    return not isinstance(part, tuple) or all(_is_continuous(d) for d in part)


def _takes_an_interval(x: Poly) -> bool:
    """Whether x is a single input that ranges over intervals, or a multiple of one."""
    atoms = {a for m in x.terms for a, _ in m}
    return len(atoms) == 1 and all(a.kind == "el" and not a.data[1].values and not a.data[1].integer for a in atoms)


def _half_orders(ctx: Context, name: str, x: Poly) -> tuple[Poly, Poly]:
    """The functions of order -1/2 and 1/2, for x > 0."""
    from .reader import Reader

    r = Reader(ctx)
    root = powers.power_of(ctx, over(ctx, number(2), algebra.multiply(ctx, of_atom(r.pi), x)), Fraction(1, 2))
    if name == "besselk":
        value = algebra.multiply(
            ctx,
            powers.power_of(ctx, over(ctx, of_atom(r.pi), scale(x, fmpq(2))), Fraction(1, 2)),
            powers.exponential(ctx, negative(x)),
        )
        return value, value
    pair = {
        "besselj": lambda: (r.cosine(x), r.sine(x)),
        "bessely": lambda: (r.sine(x), negative(r.cosine(x))),
        "besseli": lambda: (r.hyperbolic(x, 1), r.hyperbolic(x, -1)),
    }[name]()
    return algebra.multiply(ctx, root, pair[0]), algebra.multiply(ctx, root, pair[1])
