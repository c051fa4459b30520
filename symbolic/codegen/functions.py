"""Elementwise functions by their declarations, and logarithms of what has a stable form of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.nodes import DefinedTensor, Element
from ..language.operations import operation_of
from . import patterns
from .stable import log_softmax, logsumexp, register_softmax, softmax_at
from .values import Value, aligned, merged_axes

if TYPE_CHECKING:
    from .compiler import Compiler


def function(c: Compiler, e: sp.Function) -> Value:
    row = operation_of(e.func)
    if row is None or len(e.args) > row.arity:
        raise UnsupportedError(
            f"the function {e.func.__name__} has no NumPy code; operations are declared in language/operations.py"
        )
    values = [c.value(a).numbers() for a in e.args]
    if row.numpy.startswith("np."):
        name = c.np + row.numpy[2:]
    else:
        name = c.helper(row.numpy)
    if len(values) == 1:
        return Value(f"{name}({values[0].code})", values[0].axes)
    order = merged_axes(values, c.rank)
    return Value(f"{name}({', '.join(aligned(v, order).code for v in values)})", order)


def logarithm(c: Compiler, e: sp.log) -> Value:
    argument = e.args[0]
    found = patterns.sum_of_exponentials(argument)
    if found is not None:
        return logsumexp(c, found)
    stable = patterns.stable_log(argument)
    if stable is not None:
        return c.value(stable)
    argument = patterns.fold_softmax(argument, partial(softmax_at, c))
    if isinstance(argument, Element):
        if isinstance(argument.tensor, DefinedTensor):
            register_softmax(c, argument.tensor)
        if argument.tensor in c.softmaxes:
            return c.value(Element(log_softmax(c, argument.tensor), *argument.indices))
    if argument.is_Mul and all(f.is_positive for f in argument.args):
        powers = [f.as_base_exp() for f in argument.args]
        for base, _ in powers:
            if isinstance(base, Element) and isinstance(base.tensor, DefinedTensor):
                register_softmax(c, base.tensor)
        if any(isinstance(base, Element) and base.tensor in c.softmaxes for base, _ in powers):
            # a probability may underflow to 0, its logarithm may not: log(q / p) = log q - log p
            return c.value(sp.Add(*(exponent * sp.log(base) for base, exponent in powers)))
    if argument.is_Add and sp.S.One in argument.args:
        inner = c.value(argument - 1).numbers()
        return Value(f"{c.np}.log1p({inner.code})", inner.axes)
    inner = c.value(argument).numbers()
    return Value(f"{c.np}.log({inner.code})", inner.axes)


def extremum(c: Compiler, e: sp.Expr) -> Value:
    name = "maximum" if isinstance(e, sp.Max) else "minimum"
    values = [c.value(a).numbers() for a in sorted(e.args, key=sp.default_sort_key)]
    order = merged_axes(values, c.rank)
    code = aligned(values[0], order).code
    for v in values[1:]:
        code = f"{c.np}.{name}({code}, {aligned(v, order).code})"
    return Value(code, order)
