"""Sizes: positive integers, symbolic or not (`K`, `12`, `h*d_k`).

A size is a plain SymPy expression in positive-integer symbols, so that products and sums of sizes are SymPy's own
arithmetic. Two sizes are *the same* when their expanded forms coincide; different symbols are never equal by luck.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TypeAlias

import sympy as sp

from .errors import FormulaError, ShapeError

SizeLike: TypeAlias = "int | str | sp.Expr"

MAX_LENGTH = 200  # characters of a size, which SymPy computes at once
MAX_POWER = 8  # of exponents, those of nested powers multiplied


class Size(sp.Symbol):
    """A named size: a SymPy symbol that is a positive integer.

    >>> Size("K").is_positive, Size("K") == Size("K")
    (True, True)
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Size:
        return super().__new__(cls, name, integer=True, positive=True)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return ((self.name,), {})


def size(value: SizeLike) -> sp.Expr:
    """Read a size: an integer, a name, or an arithmetic expression in names such as ``"h*d_k"``.

    >>> size("K"), size(12), size("h*d_k")
    (K, 12, d_k*h)

    Raises `ShapeError` for a size below 1 and `FormulaError` for text that is not size arithmetic.
    """
    if isinstance(value, str):
        result = _parse(value.strip())
    else:
        result = sp.sympify(value)
    if result.is_Number and not (result.is_Integer and result >= 1):
        raise ShapeError(f"a size is a positive integer, got {value!r}; an empty axis has no elements to sum or to "
                         f"take a maximum of: give the axis a size of at least 1")
    return result


@lru_cache(maxsize=4096)
def _parse(text: str) -> sp.Expr:
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the size {text[:40] + '...'!r} is too long to read; at most {MAX_LENGTH} characters are")
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise FormulaError(f"cannot read the size {text!r}: {error.msg}; write a name, an integer or e.g. "
                           f"'h*d_k'") from None
    return _walk(tree, text)


def _walk(node: ast.expr, text: str, power: int = MAX_POWER) -> sp.Expr:
    match node:
        case ast.Name(id=name):
            return Size(name)
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return sp.Integer(number)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _walk(left, text, power) + _walk(right, text, power)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _walk(left, text, power) - _walk(right, text, power)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _walk(left, text, power) * _walk(right, text, power)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as n)) if n > 0:
            if n > power:
                raise FormulaError(f"the size {text!r} has a power above {MAX_POWER}; name it, e.g. K")
            return _walk(left, text, power // n) ** n
    raise FormulaError(f"cannot read the size {text!r}: only names, integers, +, - and * may stand in a size")


def same_size(a: sp.Expr, b: sp.Expr) -> bool:
    """Whether two sizes are the same for every binding of their symbols (compared as expanded polynomials)."""
    return a == b or sp.expand(a - b) == 0
