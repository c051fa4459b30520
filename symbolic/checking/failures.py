"""Why an evaluation has no answer: the expression has no value, a ball is too wide to decide, or exact arithmetic
stops.
"""

from __future__ import annotations


class Undefined(ArithmeticError):
    """The expression has no value at this point: division by zero, logarithm of a number <= 0, ..."""


class Undecided(ArithmeticError):
    """A comparison that the precision at hand cannot decide; more bits or another point may."""


class Inexact(ArithmeticError):
    """Exact arithmetic stops here: too many terms, out of time, or a sign that is not known."""
