"""Float constants: a short decimal is meant as it is written, a long one is the rounding of a number that can be
recognised.

0.044715 is 44715/10⁶; 0.3333333333333333 is 1/3, 1.4142135623730951 is √2, 0.7978845608028654 is √(2/π). What was
recognised is noted, so that a proof can say "up to rounding of the constants".
"""

from __future__ import annotations

import math
from contextvars import ContextVar
from fractions import Fraction

import sympy as sp

LONG = 15  # significant digits from which a float is taken for a rounded number
ROUNDED: ContextVar[list[float] | None] = ContextVar("ROUNDED", default=None)  # collects what was recognised


def exact_float(value: float) -> sp.Expr:
    """The exact number that a float stands for.

    >>> exact_float(0.044715), exact_float(1 / 3), exact_float(2**0.5)
    (8943/200000, 1/3, sqrt(2))
    """
    digits = repr(abs(value)).split("e")[0].replace(".", "").strip("0")
    if len(digits) < LONG:
        return sp.Rational(repr(value))
    found = recognised(value)
    _note(value)
    return sp.Rational(repr(value)) if found is None else found


def _note(value: float) -> None:
    collected = ROUNDED.get()
    if collected is not None:
        collected.append(value)


def recognised(value: float) -> sp.Expr | None:
    """A simple number within rounding of the float: p/q, the root of p/q, either times or over π or its root, log of an
    integer.

    The denominators are small, so that a float which is not such a number is not taken for one by accident.
    """
    sign = 1 if value > 0 else -1
    x = abs(value)
    for factor, symbol in ((1.0, sp.S.One), (math.pi, sp.pi), (1 / math.pi, 1 / sp.pi)):
        ratio = _near(x / factor, 1000)
        if ratio is not None:
            return sign * sp.Rational(ratio.numerator, ratio.denominator) * symbol
        square = _near(x * x / factor, 64)
        if square is not None:
            return sign * sp.sqrt(sp.Rational(square.numerator, square.denominator) * symbol)
    for n in (2, 3, 5, 7, 10):
        for inverse in (False, True):
            ratio = _near(x * math.log(n) if inverse else x / math.log(n), 12)
            if ratio is not None:
                q = sp.Rational(ratio.numerator, ratio.denominator)
                return sign * (q / sp.log(n) if inverse else q * sp.log(n))
    shorter = float(f"{value:.14g}")
    if abs(shorter - value) <= 4 * math.ulp(value) and shorter != value:
        return sp.Rational(f"{value:.14g}")  # 0.21168000000000003 was computed from short decimals
    return None


def _near(x: float, largest: int) -> Fraction | None:
    ratio = Fraction(x).limit_denominator(largest)
    return ratio if ratio and abs(float(ratio) - x) <= 4 * math.ulp(x) else None
