"""The table of node types and their handlers, and the handlers of the leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..language import nodes
from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import Delta, Element, Indicator, Tensor
from ..language.sizes import Size
from . import arithmetic, functions, indicators, sums
from .gathers import gathered
from .values import Value

if TYPE_CHECKING:
    from .compiler import Compiler


def _index(c: Compiler, i: Index) -> Value:
    return Value(f"{c.np}.arange({c.size(i.size).code})", (i,))


def _size_symbol(c: Compiler, n: Size) -> Value:
    return Value(c.size_name(n))


def _tensor(c: Compiler, t: Tensor) -> Value:
    if t.shape:
        raise UnsupportedError(f"{t.name} of shape {t.shape} stands without indices in an expression")
    return Value(c.named(t))


def _symbol(c: Compiler, s: sp.Symbol) -> Value:
    raise UnsupportedError(f"the symbol {s} is no declared array, size or index; declare it with array({str(s)!r}, '')")


def _element(c: Compiler, e: Element) -> Value:
    return gathered(c, c.named(e.tensor), e)


def _refused(c: Compiler, e: sp.Expr) -> Value:
    raise UnsupportedError(f"a derivative that was not carried out has no NumPy code: {e}; differentiate first")


HANDLERS: dict[type, Callable[[Compiler, Any], Value]] = {
    sp.Number: arithmetic.number,
    sp.NumberSymbol: arithmetic.constant,
    Index: _index,
    Size: _size_symbol,
    Tensor: _tensor,
    sp.Symbol: _symbol,
    Element: _element,
    nodes.IndexSum: sums.index_sum,
    nodes.IndexMax: sums.index_max,
    nodes.IndexProduct: sums.index_product,
    nodes.ArgMaxIndicator: sums.argmax_indicator,
    Delta: indicators.delta,
    Indicator: indicators.indicator,
    nodes.PartialDerivative: _refused,
    sp.Add: arithmetic.add,
    sp.Mul: arithmetic.mul,
    sp.Pow: arithmetic.power,
    sp.log: functions.logarithm,
    sp.Max: functions.extremum,
    sp.Min: functions.extremum,
    sp.floor: arithmetic.whole_quotient,
    sp.Mod: arithmetic.remainder,
    sp.Function: functions.function,
}
