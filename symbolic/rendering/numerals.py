"""Numbers as they are written: integers, short decimals where they are shorter than the fraction, fractions, floats."""

from __future__ import annotations

import re

import sympy as sp

from .tree import Factors, Fraction, Minus, Node, Numeral, Power


def numeral(value: sp.Number) -> Node:
    """The notation of a rational or float; a negative one is a `Minus`.

    >>> numeral(sp.Rational(8943, 200000)).digits, numeral(sp.Integer(-4)).inner.digits
    ('0.044715', '4')
    """
    if value.is_negative:
        return Minus(numeral(-value))
    if value.is_Rational:
        if value.q == 1:
            return Numeral(str(value.p))
        return _decimal(value) or Fraction(Numeral(str(value.p)), Numeral(str(value.q)))
    digits = str(sp.Float(value).n(15)) if value.is_Float else str(value)
    digits = re.sub(r"(\.\d*?)0+(?=$|e)", r"\1", digits).replace(".e", "e").removesuffix(".")
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return Numeral(digits)
    return _scientific(mantissa, int(exponent))


def is_decimal(value: sp.Number) -> bool:
    """Whether a rational is written with a decimal point or a power of ten, so not as a fraction."""
    return bool(value.is_Rational and value.q != 1 and _decimal(abs(value)))


def _scientific(mantissa: str, exponent: int) -> Node:
    power = Power(Numeral("10"), Minus(Numeral(str(-exponent))) if exponent < 0 else Numeral(str(exponent)))
    return power if mantissa == "1" else Factors((Numeral(mantissa), power))


def _decimal(value: sp.Rational) -> Node | None:
    """A decimal where the denominator divides a power of ten and is at least 10; halves and fifths stay fractions."""
    q, places = int(value.q), 0
    for prime in (2, 5):
        count = 0
        while q % prime == 0:
            q //= prime
            count += 1
        places = max(places, count)
    if q != 1 or value.q < 10 or places > 12:
        return None
    digits = str(value.p * 10**places // value.q)
    if places > 4 and len(digits) <= 2:
        exponent = -places + len(digits) - 1
        mantissa = digits[0] + (f".{digits[1:]}" if digits[1:] else "")
        return _scientific(mantissa, exponent)
    padded = digits.rjust(places + 1, "0")
    text = f"{padded[:-places]}.{padded[-places:]}"
    return Numeral(text) if len(text) <= len(f"{value.p}/{value.q}") + 1 else None
