"""What a formula string may cost: limits on its text and on the expression that grows from it.

`formulas` reads text that may come from anyone, so everything that can make reading slow is bounded before the work is
done: length, characters, nesting, number of nodes, and the size of the numbers that SymPy would compute at once
(``9**9**9``, ``exp(9**9*log(9))``). Nothing here knows the vocabulary.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import sympy as sp

from .errors import FormulaError
from .indices import Index
from .nodes import DefinedTensor, Element

MAX_LENGTH = 20_000  # characters of a formula
MAX_DEPTH = 60  # nested brackets, calls and powers
MAX_NODES = 4_000  # nodes of the syntax tree
MAX_EXPONENT = 1_000  # of a number written as an exponent
MAX_BITS = 10_000  # of a number that is computed: about 3000 digits, what Python still prints
MAX_TERMS = 200_000  # nodes of the expression, shared parts counted as often as they occur

# Greek letters that no Latin letter can be mistaken for.
_GREEK = frozenset("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ")
_INSTEAD = {
    "−": "-",
    "–": "-",
    "—": "-",
    "·": "*",
    "×": "*",
    "⋅": "*",
    "÷": "/",
    "⊙": "*",
    "≠": "!=",
    "≥": ">=",
    "≤": "<=",
    "²": "**2",
    "³": "**3",
    "ᵀ": ".T",
    "ϵ": "ε",
    "ϕ": "φ",
}


def place(text: str, at: int) -> str:
    """Two lines: the text around a place (cut where it is long) and a caret under the place."""
    at = max(0, min(at, len(text)))
    low, high = max(0, at - 60), min(len(text), at + 40)
    head, tail = ("..." if low else ""), ("..." if high < len(text) else "")
    return f"  {head}{text[low:high]}{tail}\n  {' ' * (len(head) + at - low)}^"


def place_in(message: str, text: str) -> int | None:
    """Where in `text`, as it was typed, the caret of an error message stands (see `place`).

    None where the message has no caret, or where the place is not certain.

    >>> place_in("unknown name 'q'\\n" + place("z + q", 4), "z  +  q")
    6
    """
    *_, excerpt, caret = ["", "", *message.split("\n")]
    if caret.strip() != "^":
        return None
    excerpt, column = excerpt[2:], len(caret) - 3
    cut = column == 63 and excerpt.startswith("...")
    if len(excerpt) - column == 43 and excerpt.endswith("..."):
        excerpt = excerpt[:-3]
    if cut:
        excerpt, column = excerpt[3:], column - 3
    # Messages show the text with its blanks collapsed; so places are counted in what is not blank.
    seen, before = "".join(excerpt.split()), len("".join(excerpt[:column].split()))
    shown = [at for at, c in enumerate(text) if not c.isspace()]
    whole = "".join(text[at] for at in shown)
    starts = [m.start() for m in re.finditer(f"(?={re.escape(seen)})", whole)] if cut else [0]
    if len(starts) != 1 or not whole.startswith(seen, starts[0]):
        return None
    wanted = starts[0] + before
    return shown[wanted] if wanted < len(shown) else shown[-1] + 1 if shown else 0


def check_text(text: Any, what: str = "formula") -> str:
    """The text on one line; a `FormulaError` where it is empty, too long or holds a character that is refused."""
    if not isinstance(text, str):
        raise FormulaError(f"a {what} is a text, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"the {what} has {len(text)} characters, more than the {MAX_LENGTH} that are read; name "
            "intermediates in Python with lemmata.array and the functions of lemmata instead"
        )
    line = " ".join(text.split())
    if not line:
        raise FormulaError(f"the {what} is empty")
    depth = 0
    for at, c in enumerate(line):
        if not (c.isascii() and c.isprintable()) and c not in _GREEK:
            name = unicodedata.name(c, f"U+{ord(c):04X}")
            hint = f"; write {_INSTEAD[c]}" if _INSTEAD.get(c) else "; only ASCII and Greek letters are read"
            raise FormulaError(f"the character {c!r} ({name}) does not belong in a {what}{hint}\n{place(line, at)}")
        if c in "#\\;@`$?" and (c != "@" or what != "formula"):
            raise FormulaError(f"the character {c!r} does not belong in a {what}\n{place(line, at)}")
        depth += (c in "([{") - (c in ")]}")
        if depth > MAX_DEPTH:
            raise FormulaError(f"the {what} is nested more than {MAX_DEPTH} deep\n{place(line, at)}")
    return line


@dataclass(frozen=True)
class Measure:
    """What an expression would cost.

    `terms` counts shared parts as often as they occur; `bits` and `largest` are of its numbers; `logs`: it holds a
    logarithm; `finite`: it holds nothing infinite, undefined or imaginary; `letters`: an index stands in it as a
    number; `hot`: such an index stands in an exponent.
    """

    terms: int = 1
    bits: int = 0
    largest: float = 0.0
    logs: bool = False
    finite: bool = True
    letters: bool = False
    hot: bool = False


class Meter:
    """Measures expressions; what was measured once is not walked again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Measure]] = {}

    def measure(self, node: Any) -> Measure:
        """The `Measure` of one expression."""
        hit = self._known.get(id(node))
        if hit is not None:
            return hit[1]
        result = self._measure(node)
        self._known[id(node)] = (node, result)  # the node is kept, so its id is not used again
        return result

    def _measure(self, node: Any) -> Measure:
        if isinstance(node, sp.Rational):
            bits = max(int(node.p).bit_length(), int(node.q).bit_length())
            return Measure(bits=bits, largest=float(min(abs(node), 10**300)))
        if node in (sp.zoo, sp.nan, sp.oo, -sp.oo, sp.I):
            return Measure(finite=False)
        if isinstance(node, Index):
            return Measure(letters=True)
        children = list(node.args)
        if isinstance(node, Element):
            children = [node.tensor.body] if isinstance(node.tensor, DefinedTensor) else []
        parts = [self.measure(c) for c in children]
        letters = not isinstance(node, Element) and any(p.letters for p in parts)
        hot = any(p.hot for p in parts) and not isinstance(node, Element)
        if isinstance(node, sp.Pow | sp.exp):
            hot = hot or parts[-1].letters
        return Measure(
            1 + sum(p.terms for p in parts),
            max((p.bits for p in parts), default=0),
            max((p.largest for p in parts), default=0.0),
            isinstance(node, sp.log) or any(p.logs for p in parts),
            all(p.finite for p in parts),
            letters,
            hot,
        )

    def check(self, node: Any) -> None:
        """A `FormulaError` (without a place) where an expression passes a limit or is not a real number."""
        found = self.measure(node)
        if not found.finite:
            raise FormulaError("this is infinite, undefined or not real; every part of a formula must be a real number")
        if found.terms > MAX_TERMS:
            raise FormulaError(f"this expands to more than {MAX_TERMS} terms; name intermediates in Python instead")
        if found.bits > MAX_BITS:
            raise FormulaError(f"this needs a number of {found.bits} bits; the limit is {MAX_BITS}")

    def check_power(self, base: Any, exponent: Any) -> None:
        """Refuse a power before SymPy computes it."""
        if exponent.is_number:
            size = self.measure(exponent).largest
            if size > MAX_EXPONENT:
                raise FormulaError(f"the exponent is larger than {MAX_EXPONENT}")
            if size * self.measure(base).bits > 2 * MAX_BITS:
                raise FormulaError(f"the power needs a number of more than {MAX_BITS} bits")
        else:
            self.check_exp(exponent)  # b**(k*log(x)) is exp-like when b is e

    def check_exp(self, argument: Any) -> None:
        """Refuse e^(k log b) with a huge k, which SymPy computes as b^k."""
        found = self.measure(argument)
        if found.logs and found.largest * max(found.bits, 1) > 100 * MAX_BITS:
            raise FormulaError("the exponential of a logarithm times a number this large is not read")
