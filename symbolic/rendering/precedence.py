"""The one precedence table: how tightly each kind of notation binds, for every output form.

A writer asks `needs(kind, form, position)` and never decides about parentheses itself, so that LaTeX, text and the
vector form agree on what is unambiguous. The two columns differ only where the forms do: a fraction in LaTeX is
closed by its bar, in a line of text it is an operator; functions in a line of text always have their parentheses.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

Form = Literal["latex", "text"]


class Binding(IntEnum):
    """From loose to tight."""

    RELATION = 10  # a = b
    SUM = 20  # a + b
    SIGN = 30  # -a
    ELEMENTWISE = 35  # a ⊙ b beside a matrix product always has parentheses
    BIG = 40  # Σ_j a_j: swallows the product to its right
    SLASH = 45  # a/b in a line: closed on neither side
    PRODUCT = 50  # a b
    PREFIX = 60  # log x without parentheses: swallows what follows
    POWER = 70  # a^b
    CALL = 80  # f(x)
    ATOM = 90  # x, z_i, [c], and all that is closed by a bracket or a bar


# kind -> (LaTeX, text)
BINDING: dict[str, tuple[Binding, Binding]] = {
    "relation": (Binding.RELATION, Binding.RELATION),
    "logic": (Binding.RELATION, Binding.RELATION),
    "terms": (Binding.SUM, Binding.SUM),
    "minus": (Binding.SIGN, Binding.SIGN),
    "big": (Binding.BIG, Binding.BIG),
    "argmax": (Binding.BIG, Binding.BIG),
    "factors": (Binding.PRODUCT, Binding.PRODUCT),
    "fraction": (Binding.POWER, Binding.SLASH),
    "elementwise": (Binding.ELEMENTWISE, Binding.ELEMENTWISE),
    "slash": (Binding.SLASH, Binding.SLASH),
    "partial": (Binding.PREFIX, Binding.PREFIX),
    "partial_atom": (Binding.POWER, Binding.SLASH),
    "bare_call": (Binding.PREFIX, Binding.CALL),
    "call": (Binding.CALL, Binding.CALL),
    "raised_call": (Binding.POWER, Binding.POWER),
    "exponential": (Binding.POWER, Binding.CALL),
    "power": (Binding.POWER, Binding.POWER),
    "transposed": (Binding.POWER, Binding.POWER),
    "root": (Binding.ATOM, Binding.CALL),
    "accented": (Binding.POWER, Binding.POWER),  # z': a further superscript needs parentheses
    "atom": (Binding.ATOM, Binding.ATOM),
}

# position -> the loosest binding that may stand there without parentheses
POSITION: dict[str, Binding] = {
    "whole": Binding.RELATION,
    "side": Binding.SUM,  # of a relation
    "term": Binding.ELEMENTWISE,  # of a sum, after its sign; so 5 - (-4)
    "body": Binding.BIG,  # of a big operator
    "factor": Binding.POWER,  # followed by further factors
    "last_factor": Binding.BIG,
    "numerator": Binding.PRODUCT,  # of a fraction in a line
    "denominator": Binding.POWER,
    "base": Binding.CALL,
    "bare_argument": Binding.ATOM,
    "elementwise_factor": Binding.POWER,
}


def binding(kind: str, form: Form) -> Binding:
    """How tightly a kind of notation binds in a form."""
    return BINDING[kind][0 if form == "latex" else 1]


def needs(kind: str, form: Form, position: str) -> bool:
    """Whether notation of this kind needs parentheses at a position.

    >>> needs("terms", "latex", "factor"), needs("terms", "latex", "whole"), needs("fraction", "latex", "factor")
    (True, False, False)
    """
    return binding(kind, form) < POSITION[position]
