"""Numbers, sums, products and powers with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from ..language import nodes
from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import Delta, Indicator
from . import patterns
from .functions import function
from .indicators import condition, is_not
from .stable import softmax_at
from .values import ATOM, POWER, PRODUCT, SUM, UNARY, Value, aligned, merged_axes

if TYPE_CHECKING:
    from .compiler import Compiler

_CONSTANTS = {sp.pi: "pi", sp.E: "e", sp.EulerGamma: "euler_gamma"}


def number(c: Compiler, e: sp.Number) -> Value:
    if e in (sp.oo, -sp.oo):
        return Value(f"{'-' if e < 0 else ''}{c.np}.inf", (), ATOM if e > 0 else UNARY)
    if isinstance(e, sp.Rational | sp.Float):
        text = rational(e) if isinstance(e, sp.Rational) else decimal(e)
        return Value(text, (), PRODUCT if "/" in text else ATOM if e >= 0 else UNARY)
    raise UnsupportedError(f"the number {e} has no NumPy code")


def decimal(e: sp.Expr) -> str:
    """The nearest float64 as text; a number that is outside of float64 has no NumPy code.

    >>> decimal(sp.Rational(1, 3))
    '0.3333333333333333'
    """
    value = float(e)
    if value - value != 0 or (value == 0 and e != 0):
        raise UnsupportedError(f"the number {sp.N(e, 3)} is outside of float64 and has no NumPy code")
    return repr(value)


def constant(c: Compiler, e: sp.Expr) -> Value:
    if e not in _CONSTANTS:
        return Value(decimal(e))
    return Value(f"{c.np}.{_CONSTANTS[e]}")


def add(c: Compiler, e: sp.Add, values: list[Value] | None = None) -> Value:
    terms: list[tuple[bool, Value]] = []
    for n, t in enumerate(e.args):
        negative = values is None and t.as_coeff_Mul()[0].is_negative is True
        v = values[n] if values else c.value(-t if negative else t)
        terms.append((negative, v.numbers()))
    terms.sort(key=lambda pair: pair[0])  # stable: what is added comes first
    order = merged_axes([v for _, v in terms], c.rank)
    code = ""
    for negative, v in terms:
        text = aligned(v, order).at(PRODUCT if negative else SUM)
        if not code:
            code = f"-{text}" if negative else text
        elif not negative and text.startswith("-") and v.strength >= PRODUCT:
            code += f" - {text[1:]}"
        else:
            code += f" {'-' if negative else '+'} {text}"
    return Value(code, order, SUM)


def mul(c: Compiler, e: sp.Mul) -> Value:
    folded = patterns.fold_softmax(e, partial(softmax_at, c))
    if folded != e:
        return c.value(folded)
    coefficient, factors = e.as_coeff_mul()
    factors = [patterns.as_sigmoid(f) for f in factors]
    for f in factors:
        if isinstance(f, Delta) and all(isinstance(a, Index) for a in f.args) and len(factors) > 1:
            return diagonal(c, f, coefficient, [g for g in factors if g is not f])
    masks = [f for f in factors if isinstance(f, Indicator) or is_not(f)]
    rest = [f for f in factors if f not in masks]
    if masks and any(f.has(sp.Function, sp.Pow, sp.exp) for f in rest):
        return masked(c, masks, sp.Mul(coefficient, *rest))
    above, below = split(factors)
    values = [c.value(f) for f in above]
    for n, v in enumerate(values):
        if v.mean is not None and below and (1 / v.mean[0]) * sp.Mul(*below) == 1:
            values[n], below = Value(v.mean[1], v.axes), []
    return multiplied(c, coefficient, values, [c.value(f) for f in below])


def masked(c: Compiler, masks: list[sp.Expr], rest: sp.Expr) -> Value:
    """np.where rather than a product, so that an infinite value under a 0 of the mask does not become nan."""
    value = c.value(rest)
    for m in masks:
        inverted = is_not(m)
        mask = condition(c, (1 - m if inverted else m).condition)
        order = merged_axes([mask, value], c.rank)
        a, b = aligned(mask, order).code, aligned(value, order).code
        pair = f"0.0, {b}" if inverted else f"{b}, 0.0"
        value = Value(f"{c.np}.where({a}, {pair})", order)
    return value


def diagonal(c: Compiler, d: Delta, coefficient: sp.Expr, factors: list[sp.Expr]) -> Value:
    """δ_ij x: the diagonal matrix of x_i, when x has no other axes."""
    i, j = sorted(d.args, key=lambda a: c.rank.get(a, 10**6))
    rest = nodes.replace(sp.Mul(*factors), {j: i})
    value = c.value(rest)
    if value.axes == (i,):
        return multiplied(c, coefficient, [Value(f"{c.np}.diag({value.numbers().code})", (i, j))], [])
    return multiplied(c, coefficient, [c.value(d), value], [])


def multiplied(c: Compiler, coefficient: sp.Expr, above: list[Value], below: list[Value]) -> Value:
    """coefficient · above / below, with broadcasting."""
    sign = "-" if coefficient.is_negative else ""
    size = abs(coefficient)
    if size.is_Rational and "/" in rational(size):
        top, bottom = size.as_numer_denom()
    else:
        top, bottom = size, sp.S.One
    if top != 1 or not above:
        above = [c.value(top), *above]
    if bottom != 1:
        below = [*below, c.value(bottom)]
    # Products with at least one number may keep a mask as it is; alone, it is made a number by who needs that.
    if all(v.boolean for v in above) and (sign or below or len(above) > 1):
        above = [above[0].numbers(), *above[1:]]
    below = [v.numbers() for v in below]
    order = merged_axes([*above, *below], c.rank)
    above = [aligned(v, order) for v in above]
    above.sort(key=lambda v: (bool(v.axes), not v.boolean))  # numbers, masks, arrays
    if sign and above[0].boolean:
        above[0] = above[0].numbers()  # NumPy has no minus for truth values
    if len(above) == 1 and not below:
        only = above[0]
        return Value(sign + only.at(UNARY), order, UNARY) if sign else only
    code = " * ".join([above[0].at(PRODUCT), *(v.at(PRODUCT + 1) for v in above[1:])])
    if below:
        under = " * ".join(aligned(v, order).at(PRODUCT + 1) for v in below)
        code += f" / ({under})" if len(below) > 1 else f" / {under}"
    return Value(sign + code, order, PRODUCT)


def power(c: Compiler, e: sp.Pow) -> Value:
    stable = patterns.as_sigmoid(e)
    if stable != e:
        return c.value(stable)
    base, exponent = e.args
    if exponent.is_number and exponent.is_negative:
        return multiplied(c, sp.S.One, [], [c.value(base**-exponent)])
    if exponent == sp.S.Half:
        return Value(f"{c.np}.sqrt({c.value(base).numbers().code})", c.value(base).axes)
    b, n = c.value(base).numbers(), c.value(exponent).numbers()
    if base.is_Integer:
        b = Value(decimal(base), (), ATOM if base >= 0 else UNARY)
    elif not exponent.is_Integer and isinstance(base, Index):
        b = Value(f"{b.code}.astype(float)", b.axes)
    order = merged_axes([b, n], c.rank)
    return Value(f"{aligned(b, order).at(ATOM)}**{aligned(n, order).at(ATOM)}", order, POWER)


def whole_quotient(c: Compiler, e: sp.floor) -> Value:
    """floor(a/n) of whole numbers as ``a // n``, which is a whole number too, as an index must be."""
    a, n = sp.fraction(sp.together(e.args[0]))
    if not (a.is_integer and n.is_integer):
        return function(c, e)
    return _divided(c, "//", a, n)


def remainder(c: Compiler, e: sp.Mod) -> Value:
    return _divided(c, "%", *e.args)  # the sign of the divisor, in SymPy as in NumPy


def _divided(c: Compiler, sign: str, a: sp.Expr, n: sp.Expr) -> Value:
    left, right = c.value(a).numbers(), c.value(n).numbers()
    order = merged_axes([left, right], c.rank)
    return Value(f"{aligned(left, order).at(PRODUCT)} {sign} {aligned(right, order).at(PRODUCT + 1)}", order, PRODUCT)


def split(factors: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Numerators, and the bases of the denominators."""
    above, below = [], []
    for f in factors:
        if f.is_Pow and f.exp.is_number and f.exp.is_negative and patterns.one_plus_exp(f.base) is None:
            below.append(f.base**-f.exp)
        else:
            above.append(f)
    return above, below


def rational(e: sp.Rational) -> str:
    """A rational as a short decimal where that is exact and reads well, else as a quotient."""
    if e.q == 1:
        return str(int(e.p)) if abs(e.p) < 2**53 else decimal(e)
    text = decimal(e)
    short = (e.q == 2 or e.q > 12) and len(text) <= 10 and sp.Rational(text) == e
    return text if short or max(abs(e.p), e.q) >= 2**53 else f"{int(e.p)} / {int(e.q)}"
