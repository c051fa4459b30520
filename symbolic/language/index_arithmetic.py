"""Arithmetic of indices: bounds of affine forms, and quotient and remainder of an index form by a size.

Splitting an axis of size G*D writes c = g*D + d, which is affine; merging two axes needs the way back, g = floor(c/D)
and d = c mod D. Both are simplified here as far as the ranges of the indices allow, so that a split after a merge
leaves no trace.
"""

from __future__ import annotations

from contextvars import ContextVar
from itertools import combinations
from typing import Any

import sympy as sp

from .indices import Index, index
from .nodes import Element

# What reading had to take for >= 0 (x[:-1] of an axis of size n needs n - 2 >= 0); whoever reads sets a list to
# collect it.
ASSUMED: ContextVar[list[sp.Expr] | None] = ContextVar("ASSUMED", default=None)


def assume_nonnegative(value: sp.Expr) -> None:
    """Note that what is read holds only where a form in sizes is >= 0, unless that is certain."""
    value = sp.expand(value)
    collected = ASSUMED.get()
    if collected is not None and not certainly_nonnegative(value) and value not in collected:
        collected.append(value)


def certainly_nonnegative(value: sp.Expr) -> bool:
    """Whether a form in sizes and indices is >= 0 for every size and every value of its indices (False: not known)."""
    value = sp.expand(value)
    if value.is_nonnegative:
        return True
    low = bound(value, False)
    return low is not None and (low.is_nonnegative is True or _shifted(low).is_nonnegative is True)


def _shifted(value: sp.Expr) -> sp.Expr:
    """The form with every size n written as 1 + m, m >= 0: then L*K - K is L'*(K' + 1)."""
    sizes = [s for s in value.free_symbols if s.is_integer and s.is_positive]
    return sp.expand(
        value.xreplace({s: 1 + sp.Symbol(f"{s.name}_less_1", integer=True, nonnegative=True) for s in sizes})
    )


def certainly_less(value: sp.Expr, size: sp.Expr) -> bool:
    """Whether a form is always below a size."""
    return certainly_nonnegative(size - 1 - value)


def bound(value: sp.Expr, upper: bool) -> sp.Expr | None:
    """The largest (or smallest) value of a form that is linear in its indices; None where that is not known."""
    value = _linear(sp.expand(value))
    for _ in range(20):
        letters = sorted((s for s in value.free_symbols if isinstance(s, Index)), key=lambda s: s.sort_key())
        if not letters:
            return None if value.has(Element) else value
        # an index whose range depends on another goes first, so that the other one is still there
        i = next((a for a in letters if not any(a in b.size.free_symbols for b in letters)), letters[0])
        slope = value.coeff(i)
        rest = sp.expand(value - slope * i)
        if i in rest.free_symbols or i in slope.free_symbols:
            return None
        if not (slope.is_nonnegative or slope.is_nonpositive):
            return None
        value = sp.expand(rest + (slope * (i.size - 1) if bool(slope.is_nonnegative) == upper else 0))
    return None


def _linear(value: sp.Expr) -> sp.Expr:
    """The form with an index of its own for every floor and mod whose range is known."""
    mapping: dict[Any, Any] = {}
    for node in sorted(value.atoms(sp.Mod, sp.floor), key=sp.default_sort_key):
        if isinstance(node, sp.Mod):
            mapping[node] = index("r", node.args[1])
            continue
        numerator, denominator = sp.fraction(sp.together(node.args[0]))
        top = bound(numerator, True)
        count = None if top is None else exact_quotient(top + 1, denominator)
        if count is not None and count.is_positive and certainly_nonnegative(numerator):
            mapping[node] = index("q", count)
    return sp.expand(value.xreplace(mapping)) if mapping else value


def recombined(value: sp.Expr) -> sp.Expr:
    """The form with n*floor(e/n) + (e mod n) written as e."""
    for node in sorted(value.atoms(sp.Mod), key=sp.default_sort_key):
        e, n = node.args
        share = value.coeff(node)
        if share == 0 or share.has(sp.Mod):
            continue
        whole = sp.expand(share * n * sp.floor(e / n))
        left = sp.expand(value - whole - share * node)
        if not (left.has(node) or any(left.has(f) for f in whole.atoms(sp.floor))):
            return recombined(sp.expand(left + share * e))
    return value


def quotient(value: Any, size: Any) -> sp.Expr:
    """floor(value / size) for a form >= 0, simplified: what is a multiple of the size comes out.

    >>> from lemmata.symbolic.language.indices import index
    >>> from lemmata.symbolic.language.sizes import size
    >>> a, b, D = index("a", "H"), index("b", "D"), size("D")
    >>> quotient(a*D + b, D), remainder(a*D + b, D)
    (a, b)
    """
    value, size = recombined(sp.expand(sp.sympify(value))), sp.sympify(size)
    if size == 1:
        return value
    whole, rest = _divided(value, size)
    if certainly_nonnegative(rest) and certainly_less(rest, size):
        return whole
    finer = _finer(rest, size)
    return whole + (sp.floor(rest / size) if finer is None else quotient(finer[0], sp.cancel(size / finer[2])))


def remainder(value: Any, size: Any) -> sp.Expr:
    """value mod size, simplified: what is a multiple of the size drops out."""
    value, size = recombined(sp.expand(sp.sympify(value))), sp.sympify(size)
    if size == 1:
        return sp.S.Zero
    _, rest = _divided(value, size)
    if certainly_nonnegative(rest) and certainly_less(rest, size):
        return rest
    finer = _finer(rest, size)
    return (
        sp.Mod(rest, size)
        if finer is None
        else sp.expand(finer[2] * remainder(finer[0], sp.cancel(size / finer[2])) + finer[1])
    )


def _finer(value: sp.Expr, size: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr] | None:
    """value = u*f + v with a proper factor f of the size and 0 <= v < f: then value // (d*f) is u // d."""
    factors = [f for f in sp.Mul.make_args(size) if f != 1]
    for count in range(1, len(factors)):
        for chosen in combinations(factors, count):
            f = sp.Mul(*chosen)
            u, v = _divided(value, f)
            if u != 0 and certainly_nonnegative(v) and certainly_less(v, f):
                return u, v, f
    return None


def _divided(value: sp.Expr, size: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """value = whole*size + rest, term by term; numbers are divided with remainder."""
    whole, rest = sp.S.Zero, sp.S.Zero
    for term in sp.Add.make_args(value):
        if term.is_Integer and size.is_Integer:
            q, r = divmod(int(term), int(size))
            whole, rest = whole + q, rest + r
            continue
        ratio = sp.cancel(term / size)
        if _is_integral(ratio):
            whole += ratio
        else:
            rest += term
    return whole, sp.expand(rest)


def _is_integral(ratio: sp.Expr) -> bool:
    numerator, denominator = sp.fraction(sp.together(ratio))
    return denominator == 1 and bool(numerator.is_integer)


def exact_quotient(value: sp.Expr, by: sp.Expr) -> sp.Expr | None:
    """value / by when that is a polynomial with integer coefficients in the sizes, else None."""
    ratio = sp.cancel(sp.expand(value) / sp.expand(by))
    numerator, denominator = sp.fraction(sp.together(ratio))
    if denominator != 1:
        return None
    symbols = sorted(numerator.free_symbols, key=lambda s: s.name)
    if symbols and not all(c.is_Integer for c in sp.Poly(numerator, *symbols).coeffs()):
        return None
    return sp.expand(numerator)
