"""What is known of signs: of atoms by their domain, of polynomials by intervals and by the ends of index ranges.

Every answer is one-sided: True means it follows from domains, hypotheses and ranges; False means only "not known".
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import fmpq

from . import digits, matrices
from .context import Context
from .terms import ONE, ONE_Q, Atom, Exponent, Mono, Poly, add, merge, negative, of_atom, scale, subtract


def atom_sign(ctx: Context, a: Atom) -> str:
    """'+' positive, '-' negative, '0+' not negative, '!' not zero, 'c' complex, '?' unknown."""
    if a.complex:
        return "c"
    match a.kind:
        case "size" | "num" | "pi":
            return "+"
        case "exp":
            # a power with a symbolic exponent, e^(n log x), is positive only where x is
            return "?" if _unsure_log(ctx, a.data[0]) else "+"
        case "ix" | "eq" | "ge" | "argmax":
            return "0+"
        case "el" | "sym":
            d = a.data[1]
            if d.positive or a.data[0] in ctx.positive_names:
                return "+"
            if d.negative:
                return "-"
            if d.nonnegative:
                return "0+"
            return "!" if d.nonzero or a.data[0] in ctx.nonzero_names else "?"
        case "base":
            return poly_sign(ctx, a.data[0])
        case "sum":
            sign = mono_sign(ctx, a.data[1])
            if sign == "0+" and _some_term_is_positive(ctx, a):
                return "+"
            return sign if sign in "+-0+" else "?"
        case "prod":
            return "+" if poly_sign(ctx, a.data[1]) == "+" else "?"
        case "max":
            sign = poly_sign(ctx, a.data[1])
            return sign if sign in ("+", "-", "0+") else "?"
        case "log":
            return "+" if is_positive(ctx, subtract(a.data[0], Poly({ONE: ONE_Q}))) else "?"
        case "fn":
            return _function_sign(ctx, a)
        case "det":
            return matrices.sign(ctx, a)
        case "fdiv":
            return "0+" if is_nonnegative(ctx, a.data[0]) else "?"
    return "?"


def _some_term_is_positive(ctx: Context, a: Atom) -> bool:
    """A sum of terms ≥ 0 with one that is > 0: Σ_k [k ≤ i] e^{s_ik} has its term at k = i."""
    if len(a.data[0]) != 1 or sum(f.kind == "ge" for f, _ in a.data[1]) != 1:
        return False
    rest = tuple(f for f in a.data[1] if f[0].kind != "ge")
    condition = next(f for f, _ in a.data[1] if f.kind == "ge").data[0]
    if mono_sign(ctx, rest) != "+":
        return False
    size = a.data[0][0]
    own = ctx.index(("b", a.height, 0), size)
    places = [
        Poly({}),
        subtract(size, Poly({ONE: ONE_Q})),
        *(of_atom(i) for i in sorted(a.free, key=lambda i: i.digest) if i.data[1] == size),
    ]
    from . import algebra

    return any(is_nonnegative(ctx, algebra.substitute(ctx, condition, {own: at})) for at in places)


def _unsure_log(ctx: Context, part: object) -> bool:
    """Whether the logarithm of what may be negative stands anywhere in it: then e^(n log x) means x^n."""
    if isinstance(part, Atom):
        if part.kind == "log":
            return not is_positive(ctx, part.data[0])
        return (
            any(_unsure_log(ctx, d) for d in part.data)
            if part.kind in ("exp", "base", "sum", "prod", "max", "fn")
            else False
        )
    if isinstance(part, Poly):
        return any(_unsure_log(ctx, a) for m in part.terms for a, _ in m)
    return isinstance(part, tuple) and any(_unsure_log(ctx, d) for d in part)


def _function_sign(ctx: Context, a: Atom) -> str:
    name = a.data[0]
    if name in ("erf", "arctan", "arcsinh", "arctanh", "arcsin") and len(a.data) == 2:
        sign = poly_sign(ctx, a.data[1])
        return sign if sign in ("+", "-", "0+", "!") else "?"
    if name in ("gamma", "erfc", "erfcx") and (name != "gamma" or is_positive(ctx, a.data[1])):
        return "+"
    from . import special

    return special.sign(ctx, a)


MOST_DENOMINATORS = 8
_TURNED = {"+": "-", "-": "+", "0+": "0-", "0-": "0+"}


def _power_sign(sign: str, e: Exponent) -> str:
    if sign in "+c":
        return sign
    if isinstance(e, Fraction):
        return "0+" if e > 0 else "+"  # where it is defined at all
    if e % 2 == 0:
        return "+" if sign in "-!" else "0+" if e > 0 else "+"
    if sign == "0+" and e < 0:
        return "+"
    return sign


def mono_sign(ctx: Context, mono: Mono) -> str:
    """The sign of a monomial."""
    result = "+"
    for a, e in mono:
        sign = _power_sign(atom_sign(ctx, a), e)
        if sign in "?c":
            return sign
        result = _product_sign(result, sign)
        if result == "?":
            return "?"
    return result


def poly_sign(ctx: Context, p: Poly) -> str:
    """The sign of a polynomial: '+', '-', '0+', '0-', '!' or '?'."""
    if not p.terms:
        return "0+"
    kinds = set()
    for m, c in p.terms.items():
        s = mono_sign(ctx, m)
        if c < 0:
            s = _TURNED.get(s, s)
        kinds.add(s)
    if "c" in kinds:
        return "?"  # a real combination of complex terms, such as a cosine
    if kinds <= {"+", "0+"}:
        return "+" if "+" in kinds else "0+"
    if kinds <= {"-", "0-"}:
        return "-" if "-" in kinds else "0-"
    if any(p == q for q in ctx.positive_polys):
        return "+"
    if any(p == negative(q) for q in ctx.positive_polys):
        return "-"
    if any(p == q or p == negative(q) for q in ctx.nonzero_polys):
        return "!"
    if len(p.terms) == 1:
        return next(iter(kinds))
    low, low_open, high, high_open = _interval(ctx, p)
    if low > 0 or (low == 0 and low_open):
        return "+"
    if high < 0 or (high == 0 and high_open):
        return "-"
    if low >= 0:
        return "0+"
    if high <= 0:
        return "0-"
    if _nonnegative_at_ends(ctx, subtract(p, Poly({ONE: ONE_Q})), 0):
        return "+"
    if _nonnegative_at_ends(ctx, p, 0):
        return "0+"
    return _sign_over_common_denominator(ctx, p)


def _sign_over_common_denominator(ctx: Context, p: Poly) -> str:
    """1 - 1/(1 + e^x) is positive because (1 + e^x) - 1 is: times a positive denominator the sign is the same.

    An odd power of a negative denominator turns it: -1 - 1/(p - 1), which is p/(1 - p), is positive for 0 < p < 1.
    """
    found = _cleared(ctx, p)
    if found is None:
        return "?"
    cleared, turned = found
    sign = poly_sign(ctx, cleared)
    return _TURNED.get(sign, sign) if turned else sign


def _cleared(ctx: Context, p: Poly) -> tuple[Poly, bool] | None:
    """p times a power of a denominator whose sign is known, and whether that power is negative; None without one."""
    from . import algebra

    for m in p.terms:
        for a, e in m:
            sign = poly_sign(ctx, a.data[0]) if a.kind == "base" and e < 0 else "?"
            powers = [k for n in p.terms for b, k in n if b is a]
            if sign == "+" or (sign == "-" and all(k == int(k) for k in powers)):
                least = min(powers)
                cleared = add(*(algebra.of_factors(ctx, merge(n, ((a, -least),)), c) for n, c in p.terms.items()))
                return cleared, sign == "-" and int(least) % 2 == 1
    return None


def sign_by_factors(ctx: Context, p: Poly) -> str:
    """The sign of p, of which it may be the product and the quotient that is known: (1 - p) q/(p (1 - q)).

    Denominators of known sign are cleared, what is left is factored, and the signs are multiplied. It takes longer than
    `poly_sign`.
    """
    from . import factoring, powers

    turned = False
    for _ in range(MOST_DENOMINATORS):
        sign = poly_sign(ctx, p)
        found = _cleared(ctx, p) if sign == "?" else None
        if found is None:
            break
        p, turned = found[0], turned != found[1]
    if sign == "?":
        content, primitive = powers.split_content(ctx, p)
        sign = mono_sign(ctx, content)
        for factor, times in factoring.factor(ctx, primitive):
            sign = _product_sign(sign, _power_sign(poly_sign(ctx, factor), times))
    return _TURNED.get(sign, sign) if turned else sign


def _product_sign(a: str, b: str) -> str:
    if "?" in (a, b):
        return "?"
    if "!" in (a, b):
        return "!" if {a, b} <= {"+", "-", "!"} else "?"
    zero = "0" if "0" in a + b else ""
    return zero + ("+" if a[-1] == b[-1] else "-")


def is_positive(ctx: Context, p: Poly) -> bool:
    """p > 0 everywhere."""
    return poly_sign(ctx, p) == "+"


def is_nonnegative(ctx: Context, p: Poly) -> bool:
    """p ≥ 0 everywhere."""
    return poly_sign(ctx, p) in ("+", "0+")


def is_nonzero(ctx: Context, p: Poly) -> bool:
    """p ≠ 0 everywhere."""
    return poly_sign(ctx, p) in ("+", "-", "!")


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
    return _by_sign(atom_sign(ctx, a))


def _interval(ctx: Context, p: Poly) -> Interval:
    """An interval that holds p, by exact arithmetic on the ends; the flags say that an end is not reached."""
    low: Fraction | float = _ZERO
    high: Fraction | float = _ZERO
    low_open = high_open = False
    for m, c in p.terms.items():
        current: Interval = (_ONE, False, _ONE, False)
        for a, e in m:
            if isinstance(e, Fraction) or e < 0:
                b = _by_sign(_power_sign(atom_sign(ctx, a), e))
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


def _nonnegative_at_ends(ctx: Context, p: Poly, depth: int) -> bool:
    """p ≥ 0 for indices in their ranges: p is linear in each index, so its least value is at an end of the range."""
    from . import algebra

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
    s = poly_sign(ctx, slope)
    if s in ("+", "0+"):
        return _nonnegative_at_ends(ctx, low, depth + 1)
    if s in ("-", "0-"):
        return _nonnegative_at_ends(ctx, top, depth + 1)
    return _nonnegative_at_ends(ctx, low, depth + 1) and _nonnegative_at_ends(ctx, top, depth + 1)


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
    from . import algebra

    result = Poly({})
    for m, c in p.terms.items():
        part = Poly({ONE: c})
        for a, e in m:
            if isinstance(e, Fraction) or e < 0:
                return Poly({ONE: fmpq(-1)})
            part = algebra.multiply(ctx, part, algebra.power(ctx, add(of_atom(a), Poly({ONE: ONE_Q})), e))
        result = add(result, part)
    return result


__all__ = ["atom_sign", "is_nonnegative", "is_nonzero", "is_positive", "mono_sign", "poly_sign", "scale"]
