"""What is known of signs: of atoms by their domain, of polynomials by their terms, else by `intervals`.

Every answer is one-sided: True means it follows from domains, hypotheses and ranges; False means only "not known".
"""

from __future__ import annotations

from fractions import Fraction

from . import intervals, matrices
from .context import Context
from .terms import ONE, ONE_Q, Atom, Exponent, Mono, Poly, add, merge, negative, of_atom, subtract


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


def power_sign(sign: str, e: Exponent) -> str:
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
        sign = power_sign(atom_sign(ctx, a), e)
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
    low, low_open, high, high_open = intervals.interval_of(ctx, p)
    if low > 0 or (low == 0 and low_open):
        return "+"
    if high < 0 or (high == 0 and high_open):
        return "-"
    if low >= 0:
        return "0+"
    if high <= 0:
        return "0-"
    if intervals.nonnegative_at_ends(ctx, subtract(p, Poly({ONE: ONE_Q})), 0):
        return "+"
    if intervals.nonnegative_at_ends(ctx, p, 0):
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


def _cleared(ctx: Context, p: Poly, kinds: tuple[str, ...] = ("base",)) -> tuple[Poly, bool] | None:
    """p times a power of a denominator whose sign is known, and whether that power is negative; None without one."""
    from . import algebra

    for m in p.terms:
        for a, e in m:
            sign = atom_sign(ctx, a) if a.kind in kinds and e < 0 else "?"
            powers = [k for n in p.terms for b, k in n if b is a]
            if sign == "+" or (sign == "-" and all(k == int(k) for k in powers)):
                least = min(powers)
                cleared = add(*(algebra.of_factors(ctx, merge(n, ((a, -least),)), c) for n, c in p.terms.items()))
                return cleared, sign == "-" and int(least) % 2 == 1
    return None


def sign_by_factors(ctx: Context, p: Poly) -> str:
    """The sign of p, of which it may be the product and the quotient that is known: (1 - p) q/(p (1 - q)).

    Denominators of known sign are cleared, what is left is factored, and the signs are multiplied. A sum is compared
    with its terms, and an element's interval with its ends: 1 - e^{z_i}/Σ_j e^{z_j} is not negative. It takes longer
    than `poly_sign`.
    """
    from . import factoring, powers

    turned = False
    for _ in range(MOST_DENOMINATORS):
        sign = poly_sign(ctx, p)
        found = _cleared(ctx, p, ("base", "sum")) if sign == "?" else None
        if found is None:
            break
        p, turned = found[0], turned != found[1]
    if sign == "?":
        content, primitive = powers.split_content(ctx, p)
        sign = mono_sign(ctx, content)
        for factor, times in factoring.factor(ctx, primitive):
            sign = _product_sign(sign, power_sign(_sign_by_bounds(ctx, factor), times))
    return _TURNED.get(sign, sign) if turned else sign


def _sign_by_bounds(ctx: Context, p: Poly) -> str:
    sign = poly_sign(ctx, p)
    if sign == "?" and not p.complex:
        sign = intervals.least_sign(ctx, p)
        if sign == "?":
            sign = intervals.least_sign(ctx, negative(p))
            sign = _TURNED.get(sign, sign)
    return sign


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
