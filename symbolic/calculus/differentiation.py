"""Differentiation by waves: each wave applies one rule to every derivative that still stands in the expression.

Linearity (sums, constant factors) is applied as far as it goes in one wave, as a person does. A node without a rule
raises `UnsupportedError` and names it; there is no silent 0. What is 0 is so because the expression does not contain
the variable, which is looked up, definitions included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.linear_algebra import MatrixTensor
from ..language.nodes import (
    ArgMaxIndicator,
    Binder,
    DefinedTensor,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    replace,
    sizes_in,
)
from ..language.operations import BY_FUNCTION
from ..language.sizes import Size
from .contraction import contract

Rules = list[str]


def differentiate(expression: sp.Expr, variable: sp.Expr) -> sp.Expr:
    """The derivative of an expression by an element, carried out and with its deltas contracted.

    >>> from lemmata.symbolic.language import vocabulary as np
    >>> from lemmata.symbolic.language.arrays import array
    >>> x = array("x", "").body
    >>> differentiate(x**2, x)
    2*x
    """
    tensor = variable.tensor if isinstance(variable, Element) else variable
    if not isinstance(tensor, Tensor):
        if isinstance(variable, Size) and variable in sizes_in(expression):
            # SymPy itself asks this when it looks for signs: an answer that says nothing, never 0
            return sp.Derivative(expression, variable, evaluate=False)
        return sp.S.Zero if variable not in expression.free_symbols else _unsupported(expression, variable)
    if tensor.domain.integer:
        raise UnsupportedError(f"cannot differentiate by {variable}: {tensor.name} holds integers "
                               f"({tensor.domain.name})")
    current: sp.Expr = PartialDerivative(expression, variable)
    while current.has(PartialDerivative):
        current, _ = wave(current)
    return contract(current)[0]


def _unsupported(expression: sp.Expr, variable: sp.Expr) -> sp.Expr:
    raise UnsupportedError(f"cannot differentiate by {variable} ({type(variable).__name__}); differentiate by an "
                           f"element such as z[k]")


def wave(expression: sp.Expr) -> tuple[sp.Expr, Rules]:
    """Apply one rule to every derivative that is not inside another; returns the new expression and the rules used."""
    used: Rules = []

    def visit(node: Any) -> Any:
        if isinstance(node, PartialDerivative):
            if node.expression.has(PartialDerivative):
                return PartialDerivative(visit(node.expression), node.variable)
            return apply(node.expression, node.variable, used)
        if not node.args or not node.has(PartialDerivative):
            return node
        if isinstance(node, Binder):
            fresh, body = node.opened()
            return type(node)(visit(body), fresh, *node.args[2:])
        return node.func(*(visit(a) for a in node.args))

    return visit(expression), list(dict.fromkeys(used))


def depends(expression: sp.Expr, variable: sp.Expr) -> bool:
    """Whether the tensor of the variable occurs in the expression, in definitions too."""
    tensor = variable.tensor if isinstance(variable, Element) else variable
    return tensor in expression.free_symbols


def apply(node: sp.Expr, variable: sp.Expr, used: Rules) -> sp.Expr:
    """One rule for ∂node/∂variable; linear rules are followed down at once."""
    if not depends(node, variable):
        used.append("deriv_const")
        return sp.S.Zero
    for kind in type(node).__mro__:
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(node, variable, used)
    raise UnsupportedError(f"there is no derivative rule for {type(node).__name__}: {node}")


def _add(node: sp.Add, variable: sp.Expr, used: Rules) -> sp.Expr:
    used.append("deriv_add")
    return sp.Add(*(apply_linear(a, variable, used) for a in node.args))


def apply_linear(node: sp.Expr, variable: sp.Expr, used: Rules) -> sp.Expr:
    """Follow linearity down; what is not linear waits for the next wave as a derivative of its own."""
    if not depends(node, variable):
        used.append("deriv_const")
        return sp.S.Zero
    if isinstance(node, (sp.Add, IndexSum)) or (isinstance(node, sp.Mul)
                                                and _dependent_factors(node, variable)[1] is not None):
        return apply(node, variable, used)
    return PartialDerivative(node, variable)


def _dependent_factors(node: sp.Mul, variable: sp.Expr) -> tuple[list[sp.Expr], sp.Expr | None]:
    """Constant factors, and the one factor that depends on the variable (None when there are several)."""
    constant = [a for a in node.args if not depends(a, variable)]
    dependent = [a for a in node.args if depends(a, variable)]
    return constant, dependent[0] if len(dependent) == 1 else None


def _mul(node: sp.Mul, variable: sp.Expr, used: Rules) -> sp.Expr:
    constant, single = _dependent_factors(node, variable)
    if single is not None:
        used.append("deriv_const_mul")
        return sp.Mul(*constant, apply_linear(single, variable, used))
    used.append("deriv_mul")
    if constant:
        used.append("deriv_const_mul")
    dependent = [a for a in node.args if a not in constant]
    terms = [sp.Mul(*dependent[:n], PartialDerivative(a, variable), *dependent[n + 1:])
             for n, a in enumerate(dependent)]
    return sp.Mul(*constant, sp.Add(*terms))


def _sum(node: IndexSum, variable: sp.Expr, used: Rules) -> sp.Expr:
    used.append("deriv_sum")
    fresh, body = node.opened()
    return IndexSum(apply_linear(body, variable, used), fresh)


def _pow(node: sp.Pow, variable: sp.Expr, used: Rules) -> sp.Expr:
    base, exponent = node.base, node.exp
    if depends(exponent, variable):
        used.append("deriv_exp_pow")
        return node * (PartialDerivative(exponent, variable) * sp.log(base) + exponent
                       * PartialDerivative(base, variable) / base)
    used.append("deriv_inv" if exponent == -1 else "deriv_pow")
    return exponent * base ** (exponent - 1) * apply_linear(base, variable, used)


def _function(node: sp.Function, variable: sp.Expr, used: Rules) -> sp.Expr:
    row = BY_FUNCTION.get(node.func)
    if row is None or len(node.args) != row.arity:
        raise UnsupportedError(f"the function {type(node).__name__} has no derivative rule; declare it as an operation")
    if row.derivative is None and row.definition is not None:
        used.append(f"expand_{row.name}")
        return PartialDerivative(row.definition(*node.args), variable)
    terms = []
    for place, (derivative, inner) in enumerate(zip(row.derivatives, node.args, strict=True), start=1):
        if not depends(inner, variable):
            continue
        if derivative is None:
            which = f" by its argument {place}" if row.arity > 1 else ""
            raise UnsupportedError(f"the operation {row.name} has no derivative rule{which}, where {variable} occurs "
                                   f"in {inner}")
        terms.append(derivative(*node.args) * apply_linear(inner, variable, used))
    used.append(row.rule_name)
    return sp.Add(*terms)


def _element(node: Element, variable: sp.Expr, used: Rules) -> sp.Expr:
    if isinstance(variable, Element) and node.tensor == variable.tensor:
        used.append("deriv_element")
        return sp.Mul(*(Delta(a, b) for a, b in zip(node.indices, variable.indices, strict=True)))
    if isinstance(node.tensor, DefinedTensor):
        used.append("deriv_definition")
        return PartialDerivative(node.tensor.at(*node.indices), variable)
    if isinstance(node.tensor, MatrixTensor):
        return _matrix_function(node, node.tensor, variable, used)
    raise UnsupportedError(f"{variable} stands in an index of {node}: an index has no derivative")


def _tensor(node: Tensor, variable: sp.Expr, used: Rules) -> sp.Expr:
    if node == variable:
        used.append("deriv_element")
        return sp.S.One
    if isinstance(node, DefinedTensor):
        used.append("deriv_definition")
        return PartialDerivative(node.body, variable)
    if isinstance(node, MatrixTensor):
        return _matrix_function(node, node, variable, used)
    raise UnsupportedError(f"no derivative of {node} by {variable}")


def _matrix_function(node: sp.Expr, tensor: MatrixTensor, variable: sp.Expr, used: Rules) -> sp.Expr:
    """d A⁻¹ = -A⁻¹ dA A⁻¹ and d det A = det A · Σ_pq A⁻¹_qp dA_pq."""
    batch = node.indices[: len(tensor.parameters) - 2] if isinstance(node, Element) else ()
    p, q = tensor.parameters[-1].fresh("p"), tensor.parameters[-1].fresh("q")
    entry = replace(tensor.body, dict(zip(tensor.parameters, (*batch, p, q), strict=True)))
    inverse = MatrixTensor("inv", tensor.parameters, tensor.body)
    change = PartialDerivative(entry, variable)
    if tensor.kind == "det":
        used.append("deriv_det")
        return node * IndexSum(IndexSum(Element(inverse, *batch, q, p) * change, p), q)
    used.append("deriv_inv_matrix")
    i, j = node.indices[-2:]
    return -IndexSum(IndexSum(Element(inverse, *batch, i, p) * change * Element(inverse, *batch, q, j), p), q)


def _max(node: IndexMax, variable: sp.Expr, used: Rules) -> sp.Expr:
    used.append("deriv_max")
    fresh, body = node.opened()
    place = ArgMaxIndicator(node.body, node.bound, fresh)
    return IndexSum(place * PartialDerivative(body, variable), fresh)


def _prod(node: IndexProduct, variable: sp.Expr, used: Rules) -> sp.Expr:
    used.append("deriv_prod")
    fresh, body = node.opened()
    return node * IndexSum(PartialDerivative(body, variable) / body, fresh)


def _indicator(node: sp.Expr, variable: sp.Expr, used: Rules) -> sp.Expr:
    used.append("deriv_indicator")
    return sp.S.Zero


_HANDLERS: dict[type, Callable[[Any, sp.Expr, Rules], sp.Expr]] = {
    sp.Add: _add,
    sp.Mul: _mul,
    sp.Pow: _pow,
    sp.Function: _function,
    IndexSum: _sum,
    Element: _element,
    Tensor: _tensor,
    IndexMax: _max,
    IndexProduct: _prod,
    Indicator: _indicator,
    Delta: _indicator,
    ArgMaxIndicator: _indicator,
}

# What a step may not differentiate silently: an index is an integer.
assert Index not in _HANDLERS
