"""Elementwise functions: one declaration each, from which the language, the calculus, the code and the pages take their
part.

SymPy's own functions (`exp`, `log`, `tanh`, ...) are declared here with their derivative as well, so that the table of
derivative rules is this table. A function that the field names but SymPy does not have (`sigmoid`, `softplus`, ...) is
made from its declaration, and is kept by name in everything that is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from .errors import UnsupportedError
from .nodes import Indicator


@dataclass(frozen=True)
class Parameter:
    """An argument before the last: a value for examples, the derivative by it (None: there is no rule), its domain."""

    example: sp.Expr
    derivative: Callable[..., sp.Expr] | None = None
    domain: str = "real"


@dataclass(frozen=True)
class Operation:
    """One elementwise function; most have one argument, the others declare those before the last as `parameters`.

    `definition` rewrites it in simpler functions (None for the primitive ones); `derivative` is its derivative by the
    last argument, given all of them, None where it is taken through the definition; `kinks` gives the expressions whose
    zeros are kinks, with `kink_policy` the value given there. `domain` is that of the last argument.
    """

    name: str
    function: Any
    latex: str
    numpy: str
    derivative: Callable[..., sp.Expr] | None
    source: str
    definition: Callable[..., sp.Expr] | None = None
    domain: str = "real"
    kinks: Callable[[sp.Expr], tuple[sp.Expr, ...]] | None = None
    kink_policy: str = ""
    rule: str = field(default="")
    parameters: tuple[Parameter, ...] = ()

    @property
    def rule_name(self) -> str:
        """The name of its derivative rule."""
        return self.rule or f"deriv_{self.name}"

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.parameters) + 1

    @property
    def domains(self) -> tuple[str, ...]:
        """The domain of each argument."""
        return (*(p.domain for p in self.parameters), self.domain)

    @property
    def derivatives(self) -> tuple[Callable[..., sp.Expr] | None, ...]:
        """The derivative by each argument, as a function of all of them; None where there is no rule."""
        return (*(p.derivative for p in self.parameters), self.derivative)

    def example(self, x: sp.Expr) -> sp.Expr:
        """The function at x in its last argument, with example values before it."""
        return self.function(*(p.example for p in self.parameters), x)


OPERATIONS: dict[str, Operation] = {}
BY_FUNCTION: dict[Any, Operation] = {}


def named_function(name: str, arity: int = 1, module: str = __name__) -> Any:
    """A SymPy function class for a name of the field; its derivative and definition come from the table.

    `module` is where the class is bound to its name, so that expressions can be pickled.
    """

    def fdiff(self: Any, argindex: int = 1) -> sp.Expr:
        operation = OPERATIONS[name]
        derivative = operation.derivatives[argindex - 1]
        if derivative is not None:
            return derivative(*self.args)
        if operation.definition is None:
            raise UnsupportedError(f"{name} has neither a derivative rule nor a definition")
        x = sp.Dummy("x", real=True)
        return operation.definition(x).diff(x).subs(x, self.args[0])

    return type(name, (sp.Function,), {"nargs": arity, "fdiff": fdiff,
                                       "_eval_is_real": lambda self: True if all(a.is_real for a in self.args)
                                       else None,
                                       "__doc__": f"The elementwise function {name}; see its declaration.",
                                       "__module__": module})


def declare(operation: Operation) -> Operation:
    """Enter an operation into the table; a second one of the same name is an error."""
    if operation.name in OPERATIONS:
        raise ValueError(f"the operation {operation.name} is declared twice")
    OPERATIONS[operation.name] = operation
    BY_FUNCTION[operation.function] = operation
    return operation


sigmoid = named_function("sigmoid")
softplus = named_function("softplus")
log_sigmoid = named_function("log_sigmoid")
relu = named_function("relu")
gelu = named_function("gelu")
gelu_tanh = named_function("gelu_tanh")
silu = named_function("silu")
mish = named_function("mish")
elu = named_function("elu")
digamma = named_function("digamma")
trigamma = named_function("trigamma")

_x_positive = "positive"
_DLMF = "NIST Digital Library of Mathematical Functions"


def _ge(a: Any, b: Any) -> sp.Expr:
    return Indicator(sp.Ge(a, b))


def _gt(a: Any, b: Any) -> sp.Expr:
    return Indicator(sp.Gt(a, b))


# One row an operation: name, function, LaTeX, NumPy, derivative, source, ...
for _row in (
    Operation("exp", sp.exp, r"\exp", "np.exp", lambda x: sp.exp(x), f"{_DLMF}, 4.7"),
    Operation("log", sp.log, r"\log", "np.log", lambda x: 1 / x, f"{_DLMF}, 4.7", domain=_x_positive),
    Operation("sin", sp.sin, r"\sin", "np.sin", lambda x: sp.cos(x), f"{_DLMF}, 4.20"),
    Operation("cos", sp.cos, r"\cos", "np.cos", lambda x: -sp.sin(x), f"{_DLMF}, 4.20"),
    Operation("tan", sp.tan, r"\tan", "np.tan", lambda x: 1 + sp.tan(x) ** 2, f"{_DLMF}, 4.20"),
    Operation("sinh", sp.sinh, r"\sinh", "np.sinh", lambda x: sp.cosh(x), f"{_DLMF}, 4.34"),
    Operation("cosh", sp.cosh, r"\cosh", "np.cosh", lambda x: sp.sinh(x), f"{_DLMF}, 4.34"),
    Operation("tanh", sp.tanh, r"\tanh", "np.tanh", lambda x: 1 - sp.tanh(x) ** 2, f"{_DLMF}, 4.34"),
    Operation("arctan", sp.atan, r"\arctan", "np.arctan", lambda x: 1 / (1 + x**2), f"{_DLMF}, 4.24"),
    Operation("arcsin", sp.asin, r"\arcsin", "np.arcsin", lambda x: 1 / sp.sqrt(1 - x**2), f"{_DLMF}, 4.24",
              domain="(-1,1)"),
    Operation("arccos", sp.acos, r"\arccos", "np.arccos", lambda x: -1 / sp.sqrt(1 - x**2), f"{_DLMF}, 4.24",
              domain="(-1,1)"),
    Operation("arcsinh", sp.asinh, r"\operatorname{arsinh}", "np.arcsinh", lambda x: 1 / sp.sqrt(x**2 + 1),
              f"{_DLMF}, 4.38"),
    Operation("arccosh", sp.acosh, r"\operatorname{arcosh}", "np.arccosh",
              lambda x: 1 / (sp.sqrt(x - 1) * sp.sqrt(x + 1)),
              f"{_DLMF}, 4.38", domain="(1,inf)"),
    Operation("arctanh", sp.atanh, r"\operatorname{artanh}", "np.arctanh", lambda x: 1 / (1 - x**2), f"{_DLMF}, 4.38",
              domain="(-1,1)"),
    Operation("erf", sp.erf, r"\operatorname{erf}", "erf", lambda x: 2 * sp.exp(-(x**2)) / sp.sqrt(sp.pi),
              f"{_DLMF}, 7.2"),
    Operation("gammaln", sp.loggamma, r"\log\Gamma", "scipy.special.gammaln", lambda x: digamma(x), f"{_DLMF}, 5.2",
              domain=_x_positive),
    Operation("digamma", digamma, r"\psi", "scipy.special.digamma", lambda x: trigamma(x), f"{_DLMF}, 5.2",
              domain=_x_positive),
    Operation("trigamma", trigamma, r"\psi'", "trigamma", lambda x: sp.polygamma(2, x), f"{_DLMF}, 5.15",
              domain=_x_positive),
    Operation("abs", sp.Abs, r"\operatorname{abs}", "np.abs", lambda x: sp.sign(x), "elementary",
              definition=lambda x: x * _ge(x, 0) - x * (1 - _ge(x, 0)), kinks=lambda x: (x,),
              kink_policy="sign(0) = 0"),
    Operation("sign", sp.sign, r"\operatorname{sign}", "np.sign", lambda x: sp.S.Zero, "elementary",
              definition=lambda x: _gt(x, 0) - (1 - _ge(x, 0)), kinks=lambda x: (x,),
              kink_policy="derivative 0 away from the jump at 0"),
    Operation("sigmoid", sigmoid, r"\sigma", "sigmoid", lambda x: sigmoid(x) * (1 - sigmoid(x)),
              "Goodfellow, Bengio, Courville, Deep Learning (2016), section 3.10",
              definition=lambda x: 1 / (1 + sp.exp(-x))),
    Operation("softplus", softplus, r"\operatorname{softplus}", "softplus", lambda x: sigmoid(x),
              "Dugas et al., Incorporating second-order functional knowledge (2001)",
              definition=lambda x: sp.log(1 + sp.exp(x))),
    Operation("log_sigmoid", log_sigmoid, r"\log\sigma", "log_sigmoid", lambda x: 1 - sigmoid(x),
              "Goodfellow, Bengio, Courville, Deep Learning (2016), section 3.10",
              definition=lambda x: -sp.log(1 + sp.exp(-x))),
    Operation("relu", relu, r"\operatorname{relu}", "relu", lambda x: _gt(x, 0), "Glorot, Bordes, Bengio (2011)",
              definition=lambda x: x * _gt(x, 0), kinks=lambda x: (x,), kink_policy="derivative 0 at 0"),
    Operation("gelu", gelu, r"\operatorname{gelu}", "gelu",
              lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2 + x * sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi),
              "Hendrycks, Gimpel, Gaussian Error Linear Units (2016)",
              definition=lambda x: x * (1 + sp.erf(x / sp.sqrt(2))) / 2),
    Operation("gelu_tanh", gelu_tanh, r"\operatorname{gelu}_{\tanh}", "gelu_tanh", None,
              "Hendrycks, Gimpel, Gaussian Error Linear Units (2016), section 2",
              definition=lambda x: x * (1 + sp.tanh(sp.sqrt(2 / sp.pi) * (x + sp.Rational(44715, 10**6) * x**3))) / 2),
    Operation("silu", silu, r"\operatorname{silu}", "silu", lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))),
              "Ramachandran, Zoph, Le, Searching for activation functions (2017)", definition=lambda x: x * sigmoid(x)),
    Operation("mish", mish, r"\operatorname{mish}", "mish", None, "Misra, Mish (2019)",
              definition=lambda x: x * sp.tanh(softplus(x))),
    Operation("elu", elu, r"\operatorname{elu}", "elu", lambda x: _gt(x, 0) + (1 - _gt(x, 0)) * sp.exp(x),
              "Clevert, Unterthiner, Hochreiter, ELU (2015), with alpha = 1",
              definition=lambda x: x * _gt(x, 0) + (1 - _gt(x, 0)) * (sp.exp(x) - 1)),
):
    declare(_row)


def operation_of(function: Any) -> Operation | None:
    """The declaration behind a SymPy function class, if there is one."""
    return BY_FUNCTION.get(function)


def expand_named(expression: sp.Expr) -> sp.Expr:
    """Rewrite the field's names (sigmoid, softplus, ...) by their definitions, to the bottom."""

    def visit(node: Any) -> Any:
        if not node.args:
            return node
        args = [visit(a) for a in node.args]
        row = BY_FUNCTION.get(node.func)
        if row is not None and row.definition is not None:
            return visit(row.definition(*args))
        return node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)

    return visit(expression)


from . import special_operations as _special_operations  # noqa: E402  (its rows are a part of this table)

__all__ = ["BY_FUNCTION", "OPERATIONS", "Operation", "Parameter", "declare", "expand_named", "named_function",
           "operation_of"]
del _special_operations
