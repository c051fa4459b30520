"""max(a, b) and min(a, b) as they come out of `maximum` and `minimum`: a·[a ≥ b] + b·(1 − [a ≥ b]), and a·[a > 0].

The language has the two as indicators, so that their derivatives need no rule of their own; on the page they are read
back, where the pattern is exact, for whatever shows the expression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import cast

import sympy as sp

from ..language.nodes import Indicator

_WHICH = {sp.Ge: "max", sp.Gt: "max", sp.Le: "min", sp.Lt: "min"}


class Clipped(sp.Expr):
    """max(a, b) or min(a, b) on the way to the page; never part of an expression that is kept."""

    is_commutative = True
    which = ""


class LargerOf(Clipped):
    """max(a, b)."""

    which = "max"


class SmallerOf(Clipped):
    """min(a, b)."""

    which = "min"


_MADE: dict[str, type[Clipped]] = {"max": LargerOf, "min": SmallerOf}


def clipped_terms(terms: Iterable[sp.Expr]) -> list[sp.Expr]:
    """The terms of a sum, in which a·[a ≥ b] + b·(1 − [a ≥ b]) is max(a, b); all else as it is.

    >>> a, b = sp.symbols("a b")
    >>> clipped_terms((a * Indicator(a >= b) + b * (1 - Indicator(a >= b)) + 1).args)
    [1, LargerOf(a, b)]
    """
    left = list(terms)
    for indicator in [i for t in left for i in sp.Mul.make_args(t) if isinstance(i, Indicator)]:
        condition = indicator.condition
        if type(condition) not in _WHICH:
            continue
        a, b = condition.lhs, condition.rhs
        if b == 0:
            continue  # a single product, `clipped_factors`
        # with a number for b, SymPy multiplies out the second product
        pattern = Counter(cast(Iterable[sp.Expr], sp.Add.make_args(a * indicator + b * (1 - indicator))))
        if not pattern - Counter(left):
            rest = Counter(left) - pattern
            left = [t for t in left if t in rest] + [_MADE[_WHICH[type(condition)]](a, b)]
    return left


def clipped_factors(factors: Iterable[sp.Expr]) -> list[sp.Expr]:
    """The factors of a product, in which a·[a > 0] or a·[a ≥ 0] is max(a, 0)."""
    left = list(factors)
    for indicator in [f for f in left if isinstance(f, Indicator)]:
        condition = indicator.condition
        if type(condition) in _WHICH and condition.rhs == 0 and condition.lhs in left:
            left.remove(indicator)
            left[left.index(condition.lhs)] = _MADE[_WHICH[type(condition)]](condition.lhs, sp.S.Zero)
    return left
