r"""Breaking long expressions into lines, at the terms of a sum: of the whole, or of the one long factor in parentheses.

A fraction whose numerator is too long is written 1/d (numerator) first, because nothing can be broken inside a bar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .names import Name
from .text import write as as_text
from .tree import Big, Factors, Fraction, Matrix, Minus, Node, Numeral, Terms

_HOLE = Name("\x00", "\x00")


def broken(node: Node, width: int, write: Callable[[Node], str], opening: str, closing: str) -> list[str]:
    """The lines of an expression; the width is counted in characters of its text, whatever the form."""
    if len(as_text(node)) <= width:
        return [write(node)]
    if isinstance(node, Matrix) and write is as_text:
        rows = [write(Matrix((row,)))[1:-1] for row in node.rows]
        return ["[" + rows[0] + ";", *(r + ";" for r in rows[1:-1]), rows[-1] + "]"]
    node = _opened(node, width)
    found = _longest_sum(node)
    if found is None:
        return [write(node)]
    inner, around = found
    before, after = write(around).split("\x00")
    if around is not _HOLE:
        before, after = _fixed(before, after)
        before, after = before + opening, closing + after
    room = max(width - len(as_text(around)), width // 2)
    lines = [before]
    length = 0
    for n, (negative, term) in enumerate(inner.terms):
        sign = ("-" if negative else "") if n == 0 else ("- " if negative else "+ ")
        sign = _signed(sign, write)
        parts = (
            broken(term, room, write, opening, closing) if not isinstance(term, Terms) else [write(Factors((term,)))]
        )
        size = len(as_text(term)) + 3
        if length and length + size > room:
            lines.append("")
            length = 0
        lines[-1] += ("" if not lines[-1] or n == 0 else " ") + sign + parts[0]
        lines.extend(parts[1:])
        length = size if len(parts) > 1 else length + size
    lines[-1] += after
    return lines


_STRETCHED = re.compile(r"\\(left|right)(?![a-z])")


def _fixed(before: str, after: str) -> tuple[str, str]:
    r"""Parentheses that are open at the break, of one size: \left and \right must stand in one line.

    >>> _fixed(r"\left(a\right) \left(b + ", r" + c\right)")
    ('\\left(a\\right) \\Bigl(b + ', ' + c\\Bigr)')
    """
    opened: list[int] = []
    for found in _STRETCHED.finditer(before):
        if found[1] == "left":
            opened.append(found.start())
        else:
            opened.pop()
    for at in reversed(opened):
        before = before[:at] + r"\Bigl" + before[at + len(r"\left") :]
    depth, closed = 0, []
    for found in _STRETCHED.finditer(after):
        depth += 1 if found[1] == "left" else -1
        if depth < 0:
            closed.append(found.start())
            depth = 0
    for at in reversed(closed):
        after = after[:at] + r"\Bigr" + after[at + len(r"\right") :]
    return before, after


def _signed(sign: str, write: Callable[[Node], str]) -> str:
    return sign if write(Name("", "text")) == "" else sign.replace("-", "−")


def _opened(node: Node, width: int) -> Node:
    """A fraction that is too long, as 1/d times its numerator."""
    match node:
        case Fraction(above=Terms() as above, below=below) if len(as_text(above)) > width:
            return Factors((Fraction(Numeral("1"), below), above))
        case Fraction(above=Factors(factors=factors, join="") as above, below=below) if len(as_text(above)) > width:
            return Factors((Fraction(Numeral("1"), below), *factors))
        case Minus(inner=Fraction() as inner):
            return Minus(_opened(inner, width))
    return node


def _longest_sum(node: Node) -> tuple[Terms, Node] | None:
    """The sum at which to break, and the notation around it with a hole in its place."""
    match node:
        case Terms():
            return node, _HOLE
        case Minus(inner=inner):
            found = _longest_sum(inner)
            return found and (found[0], Minus(found[1]))
        case Big(body=body):
            found = _longest_sum(body)
            return found and (found[0], replace(node, body=found[1]))
        case Factors(factors=factors) if node.factors:
            place = max(range(len(factors)), key=lambda n: len(as_text(factors[n])))
            found = _longest_sum(factors[place])
            return found and (found[0], Factors((*factors[:place], found[1], *factors[place + 1 :]), node.join))
    return None
