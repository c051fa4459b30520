"""From an index expression (SymPy with index nodes) to the canonical form.

One handler a node type. Bound indices become temporaries, definitions are read once and used at other indices by
substitution,
derivatives are carried out by `derivative`. A node without a handler is an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import fmpq

from ..language import nodes
from ..language.domains import Domain, domain
from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.linear_algebra import MatrixTensor
from ..language.operations import BY_FUNCTION
from ..language.sizes import size
from . import algebra, derivative, digits, indicators, matrices, powers, sums
from .context import Context, SumRule
from .terms import POLY_ONE, ZERO, Atom, Poly, add, negative, number, of_atom, scale, subtract

Environment = dict[Any, Poly]
FREE_REAL, FREE_POSITIVE = domain("real"), domain("positive")


class Reader:
    """Reads expressions into one context; memoises subtrees, definitions, and sizes."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.memo: dict[Any, Poly] = {}
        self.open_names: dict[Any, frozenset[Any]] = {}
        self.definitions: dict[nodes.DefinedTensor, tuple[tuple[Atom, ...], Poly]] = {}
        self.closed: dict[nodes.Tensor, Atom] = {}
        self.free_domains: dict[nodes.Tensor, Domain] = {}
        self.pi = ctx.atom("pi")
        self.i = ctx.atom("I")

    # ------------------------------------------------------------------ entry points
    def read(self, expression: sp.Expr) -> Poly:
        """The canonical form of an expression."""
        return self._read(sp.sympify(expression), {})

    def size(self, value: sp.Expr) -> Poly:
        """A size as a polynomial in size atoms."""
        return self._read(value, {})

    def index_atom(self, i: Index) -> Atom:
        """The atom of a free index."""
        return self.ctx.index(("f", i.name, i.serial), self.size(i.size))

    # ------------------------------------------------------------------ reading
    def _read(self, node: Any, env: Environment) -> Poly:
        if env:
            names = self._bound_names(node)
            env = {k: v for k, v in env.items() if k in names} if names else {}
        key = (node, tuple(env.items())) if env else node
        done = self.memo.get(key)
        if done is None:
            done = self.memo[key] = self._handler(node)(node, env)
        return done

    def _bound_names(self, node: Any) -> frozenset[Any]:
        """Bound indices that occur free in a subtree."""
        if isinstance(node, Index):
            return frozenset((node,)) if node.is_bound else frozenset()
        if not node.args:
            return frozenset()
        done = self.open_names.get(node)
        if done is None:
            done = frozenset().union(*(self._bound_names(a) for a in node.args))
            if isinstance(node, nodes.Binder):
                done = done - {node.bound}
            self.open_names[node] = done
        return done

    def _handler(self, node: Any) -> Callable[[Any, Environment], Poly]:
        for kind in type(node).__mro__:
            handler = HANDLERS.get(kind)
            if handler is not None:
                return getattr(self, handler)
        raise UnsupportedError(
            f"the canonical form has no reading for {type(node).__name__}: {node}; "
            "declare it as an operation, or rewrite it with the functions of the vocabulary"
        )

    def read_add(self, node: Any, env: Environment) -> Poly:
        return add(*(self._read(a, env) for a in node.args))

    def read_mul(self, node: Any, env: Environment) -> Poly:
        return algebra.product(self.ctx, *(self._read(a, env) for a in node.args))

    def read_pow(self, node: Any, env: Environment) -> Poly:
        exponent = node.exp
        base = self._read(node.base, env)
        if exponent.is_Rational:
            return powers.power_of(self.ctx, base, Fraction(int(exponent.p), int(exponent.q)))
        return powers.symbolic_power(self.ctx, base, self._read(exponent, env))

    def read_rational(self, node: Any, env: Environment) -> Poly:
        return number(fmpq(int(node.p), int(node.q)))

    def read_float(self, node: Any, env: Environment) -> Poly:
        self.ctx.used.setdefault("rounding")
        exact = Fraction(str(node))
        return number(exact)

    def read_number_symbol(self, node: Any, env: Environment) -> Poly:
        if node is sp.pi:
            return of_atom(self.pi)
        if node is sp.E:
            return powers.exponential(self.ctx, POLY_ONE)
        raise UnsupportedError(f"the number {node} has no canonical form")

    def read_imaginary(self, node: Any, env: Environment) -> Poly:
        return of_atom(self.i)

    def read_index(self, node: Index, env: Environment) -> Poly:
        if node.is_bound:
            try:
                return env[node]
            except KeyError:
                raise UnsupportedError(f"the bound index {node} stands outside of its sum") from None
        return of_atom(self.index_atom(node))

    def read_tensor(self, node: nodes.Tensor, env: Environment) -> Poly:
        if isinstance(node, MatrixTensor):
            return self._matrix_function(node, (), env)
        if isinstance(node, nodes.DefinedTensor):
            return self._defined(node, ())
        if node in self.closed:
            return algebra.element(self.ctx, node.name, self.free_domains[node], (), self.closed[node])
        self._only_one(node)
        return algebra.element(self.ctx, node.name, node.domain, ())

    def _matrix_function(self, tensor: MatrixTensor, indices: tuple[Poly, ...], env: Environment) -> Poly:
        """An element of an inverse, or a determinant; the leading parameters are a batch."""
        places = [self.ctx.temporary(self.size(p.size)) for p in tensor.parameters]
        body = self._read(
            tensor.body, {**env, **{p: of_atom(t) for p, t in zip(tensor.parameters, places, strict=True)}}
        )
        *batch, row, column = places
        body = algebra.substitute(self.ctx, body, dict(zip(batch, indices, strict=False)))
        if tensor.kind == "det":
            return matrices.determinant(self.ctx, (row, column, body))
        if tensor.kind != "inv":
            raise UnsupportedError(f"the matrix function {tensor.kind} has no canonical form")
        return matrices.inverse(self.ctx, (row, column, body), *indices[-2:])

    def read_element(self, node: nodes.Element, env: Environment) -> Poly:
        if isinstance(node.tensor, MatrixTensor):
            return self._matrix_function(node.tensor, tuple(self._read(i, env) for i in node.indices), env)
        indices = tuple(self._read(i, env) for i in node.indices)
        if isinstance(node.tensor, nodes.DefinedTensor):
            return self._defined(node.tensor, indices)
        if node.tensor in self.closed:
            return algebra.element(
                self.ctx, node.tensor.name, self.free_domains[node.tensor], indices, self.closed[node.tensor]
            )
        self._only_one(node.tensor)
        return algebra.element(self.ctx, node.tensor.name, node.tensor.domain, indices)

    def _only_one(self, tensor: nodes.Tensor) -> None:
        """Two different arrays of one name would become one atom: refuse them."""
        known = self.ctx.tensors.setdefault(tensor.name, tensor)
        if known is tensor:
            if tensor.domain.label_size and tensor.name not in self.ctx.label_sizes:
                self.ctx.label_sizes[tensor.name] = self.size(size(tensor.domain.label_size))
            if tensor.domain.rows_sum_to_one and tensor.name not in self.ctx.row_names and tensor.shape:
                self._rows_sum_to_one(tensor)
        elif known != tensor:
            raise UnsupportedError(
                f"two different arrays are named {tensor.name!r}, of shapes {known.shape} and {tensor.shape} and "
                f"domains {known.domain.name} and {tensor.domain.name}: give them different names"
            )

    def _rows_sum_to_one(self, tensor: nodes.Tensor) -> None:
        """The rule that a simplex or one-hot domain gives: Σ over the last axis = 1."""
        self.ctx.row_names.add(tensor.name)
        places = tuple(self.ctx.temporary(self.size(n)) for n in tensor.shape)
        atom = self.ctx.atom("el", tensor.name, tensor.domain, tuple(of_atom(t) for t in places))
        self.ctx.sum_rules.append(
            SumRule(places[-1:], ((atom, 1),), places[:-1], POLY_ONE, f"rows of {tensor.name} sum to 1")
        )

    def _relaxed(self, tensor: nodes.Tensor) -> bool:
        """Whether a tensor's entries obey relations that a derivative by one of them must not see."""
        d = tensor.domain
        return bool(d.symmetric or d.values or d.rows_sum_to_one or tensor.name in self.ctx.fixed_names)

    def _defined(self, tensor: nodes.DefinedTensor, indices: tuple[Poly, ...]) -> Poly:
        marker = self.closed.get(tensor)
        if marker is not None:
            return algebra.element(self.ctx, tensor.name, tensor.domain, indices, marker)
        parameters, body = self.definition(tensor)
        return algebra.substitute(self.ctx, body, dict(zip(parameters, indices, strict=True)))

    def definition(self, tensor: nodes.DefinedTensor) -> tuple[tuple[Atom, ...], Poly]:
        """The definition of a tensor: parameters and body."""
        done = self.definitions.get(tensor)
        if done is None:
            parameters = tuple(self.ctx.temporary(self.size(n)) for n in tensor.shape)
            env = {own: of_atom(t) for own, t in zip(tensor.parameters, parameters, strict=True)}
            done = self.definitions[tensor] = (parameters, self._read(tensor.body, env))
        return done

    def read_symbol(self, node: sp.Symbol, env: Environment) -> Poly:
        if node.is_integer and node.is_positive:
            return of_atom(self.ctx.atom("size", node.name))
        raise UnsupportedError(
            f"the symbol {node} is neither a size, an index nor a declared scalar; "
            f"declare it with array({node.name!r}, '')"
        )

    def _opened(self, node: nodes.Binder, env: Environment) -> tuple[Atom, Poly]:
        t = self.ctx.temporary(self.size(node.bound.size))
        return t, self._read(node.body, {**env, node.bound: of_atom(t)})

    def read_sum(self, node: nodes.IndexSum, env: Environment) -> Poly:
        t, body = self._opened(node, env)
        return sums.sum_over(self.ctx, (t,), body)

    def read_product(self, node: nodes.IndexProduct, env: Environment) -> Poly:
        t, body = self._opened(node, env)
        return sums.product_over(self.ctx, t, body)

    def read_max(self, node: nodes.IndexMax, env: Environment) -> Poly:
        t, body = self._opened(node, env)
        return sums.maximum_over(self.ctx, t, body)

    def read_argmax(self, node: nodes.ArgMaxIndicator, env: Environment) -> Poly:
        t, body = self._opened(node, env)
        return sums.argmax_over(self.ctx, t, body, self._read(node.value, env))

    def read_delta(self, node: nodes.Delta, env: Environment) -> Poly:
        return indicators.equals_zero(self.ctx, subtract(self._read(node.args[0], env), self._read(node.args[1], env)))

    def read_indicator(self, node: nodes.Indicator, env: Environment) -> Poly:
        return self._condition(node.condition, env)

    def _condition(self, c: Any, env: Environment) -> Poly:
        if c is sp.true:
            return POLY_ONE
        if c is sp.false:
            return ZERO
        if isinstance(c, sp.And):
            return algebra.product(self.ctx, *(self._condition(a, env) for a in c.args))
        if isinstance(c, sp.Or):
            return subtract(
                POLY_ONE, algebra.product(self.ctx, *(subtract(POLY_ONE, self._condition(a, env)) for a in c.args))
            )
        if isinstance(c, sp.Not):
            return subtract(POLY_ONE, self._condition(c.args[0], env))
        if isinstance(c, sp.core.relational.Relational):
            difference = subtract(self._read(c.lhs, env), self._read(c.rhs, env))
            match c.rel_op:
                case ">=":
                    return indicators.at_least_zero(self.ctx, difference)
                case "<=":
                    return indicators.at_least_zero(self.ctx, negative(difference))
                case ">":
                    return subtract(POLY_ONE, indicators.at_least_zero(self.ctx, negative(difference)))
                case "<":
                    return subtract(POLY_ONE, indicators.at_least_zero(self.ctx, difference))
                case "==":
                    return indicators.equals_zero(self.ctx, difference)
                case "!=":
                    return subtract(POLY_ONE, indicators.equals_zero(self.ctx, difference))
        raise UnsupportedError(f"the condition {c} has no reading; use comparisons joined by And, Or and Not")

    def read_derivative(self, node: nodes.PartialDerivative, env: Environment) -> Poly:
        variable = node.variable
        tensor = variable.tensor if isinstance(variable, nodes.Element) else variable
        indices = tuple(self._read(i, env) for i in (variable.indices if isinstance(variable, nodes.Element) else ()))
        if not isinstance(tensor, nodes.DefinedTensor) or tensor in self.closed:
            if tensor not in self.closed and self._relaxed(tensor):
                return self._by_free_entries(node, tensor, indices, env)
            at = algebra.element(
                self.ctx, tensor.name, tensor.domain, indices, *([self.closed[tensor]] if tensor in self.closed else [])
            )
            return derivative.derivative(self.ctx, self._read(node.expression, env), at)
        # by a named intermediate: it is a variable of its own where the expression names it
        parameters, body = self.definition(tensor)
        inner = Reader(self.ctx)
        marker = self.ctx.index(("named", tensor.name), POLY_ONE)
        inner.closed = {**self.closed, tensor: marker}
        at = algebra.element(self.ctx, tensor.name, tensor.domain, indices, marker)
        result = derivative.derivative(self.ctx, inner._read(node.expression, env), at)
        return algebra.substitute(self.ctx, result, {marker: (parameters, body)})  # type: ignore[dict-item]

    def _by_free_entries(
        self, node: nodes.PartialDerivative, tensor: nodes.Tensor, indices: tuple[Poly, ...], env: Environment
    ) -> Poly:
        """The derivative by an entry while the entries obey no relation; the relations hold again in the result."""
        self._only_one(tensor)
        marker = self.ctx.index(("free", tensor.name), POLY_ONE)
        domain = FREE_POSITIVE if tensor.domain.positive else FREE_REAL
        inner = Reader(self.ctx)
        inner.closed = {**self.closed, tensor: marker}
        inner.free_domains = {**self.free_domains, tensor: domain}
        at = algebra.element(self.ctx, tensor.name, domain, indices, marker)
        result = derivative.derivative(self.ctx, inner._read(node.expression, env), at)
        parameters = tuple(self.ctx.temporary(self.size(n)) for n in tensor.shape)
        body = algebra.element(self.ctx, tensor.name, tensor.domain, tuple(of_atom(t) for t in parameters))
        return algebra.substitute(self.ctx, result, {marker: (parameters, body)})  # type: ignore[dict-item]

    # ------------------------------------------------------------------ functions
    def read_function(self, node: Any, env: Environment) -> Poly:
        row = BY_FUNCTION.get(node.func)
        if row is not None and row.definition is not None:
            return self._read(row.definition(*node.args), env)
        name = row.name if row is not None else None
        arguments = [self._read(a, env) for a in node.args]
        special = FUNCTIONS.get(name or type(node).__name__)
        if special is not None:
            return special(self, *arguments)
        if row is None:
            raise UnsupportedError(f"the function {type(node).__name__} is not declared; declare it as an operation")
        if len(arguments) > row.arity:
            raise UnsupportedError(
                f"{type(node).__name__} with {len(arguments)} arguments is not declared; {row.name} has {row.arity}"
            )
        return algebra.function(self.ctx, row.name, *arguments)

    def read_floor(self, node: Any, env: Environment) -> Poly:
        whole = digits.floor_of(self.ctx, self._read(node.args[0], env))
        return self.read_function(node, env) if whole is None else whole

    def read_mod(self, node: Any, env: Environment) -> Poly:
        top, divisor = (self._read(a, env) for a in node.args)
        if len(divisor.terms) != 1 or not all(map(indicators.is_integer_valued, (top, divisor))):
            return self.read_function(node, env)
        return digits.remainder(self.ctx, top, divisor)

    def read_exp(self, node: Any, env: Environment) -> Poly:
        return powers.exponential(self.ctx, self._read(node.args[0], env))

    def read_log(self, node: Any, env: Environment) -> Poly:
        return powers.logarithm(self.ctx, self._read(node.args[0], env))

    def expi(self, p: Poly) -> Poly:
        """e^{i p}."""
        return powers.exponential(self.ctx, algebra.multiply(self.ctx, of_atom(self.i), p))

    def cosine(self, p: Poly) -> Poly:
        """cos p by exponentials."""
        return scale(add(self.expi(p), self.expi(negative(p))), fmpq(1, 2))

    def sine(self, p: Poly) -> Poly:
        """sin p by exponentials."""
        difference = subtract(self.expi(p), self.expi(negative(p)))
        return scale(algebra.multiply(self.ctx, difference, of_atom(self.i)), fmpq(-1, 2))

    def hyperbolic(self, p: Poly, sign: int) -> Poly:
        """(e^p ± e^-p)/2."""
        return scale(
            add(powers.exponential(self.ctx, p), scale(powers.exponential(self.ctx, negative(p)), fmpq(sign))),
            fmpq(1, 2),
        )

    def divide(self, a: Poly, b: Poly) -> Poly:
        """a / b."""
        return algebra.multiply(self.ctx, a, powers.power_of(self.ctx, b, -1))

    def root(self, p: Poly) -> Poly:
        """Square root."""
        return powers.power_of(self.ctx, p, Fraction(1, 2))


def _tanh(r: Reader, p: Poly) -> Poly:
    e = powers.exponential(r.ctx, scale(p, fmpq(2)))
    return r.divide(subtract(e, POLY_ONE), add(e, POLY_ONE))


def _arccosh(r: Reader, p: Poly) -> Poly:
    root = algebra.multiply(r.ctx, r.root(subtract(p, POLY_ONE)), r.root(add(p, POLY_ONE)))
    return powers.logarithm(r.ctx, add(p, root))


# Functions that have a form in exp, log and powers, for deciding equality only.
FUNCTIONS: dict[str, Callable[..., Poly]] = {
    "sin": lambda r, p: r.sine(p),
    "cos": lambda r, p: r.cosine(p),
    "tan": lambda r, p: r.divide(r.sine(p), r.cosine(p)),
    "sinh": lambda r, p: r.hyperbolic(p, -1),
    "cosh": lambda r, p: r.hyperbolic(p, 1),
    "tanh": _tanh,
    "arcsinh": lambda r, p: powers.logarithm(r.ctx, add(p, r.root(add(algebra.power(r.ctx, p, 2), POLY_ONE)))),
    "arccosh": _arccosh,
    "arctanh": lambda r, p: scale(
        subtract(powers.logarithm(r.ctx, add(POLY_ONE, p)), powers.logarithm(r.ctx, subtract(POLY_ONE, p))), fmpq(1, 2)
    ),
    "arccos": lambda r, p: subtract(scale(of_atom(r.pi), fmpq(1, 2)), algebra.function(r.ctx, "arcsin", p)),
}

HANDLERS: dict[type, str] = {
    sp.Add: "read_add",
    sp.Mul: "read_mul",
    sp.Pow: "read_pow",
    sp.Rational: "read_rational",
    sp.Float: "read_float",
    sp.core.numbers.NumberSymbol: "read_number_symbol",
    sp.core.numbers.ImaginaryUnit: "read_imaginary",
    sp.exp: "read_exp",
    sp.log: "read_log",
    sp.floor: "read_floor",
    sp.Mod: "read_mod",
    sp.Function: "read_function",
    Index: "read_index",
    nodes.Tensor: "read_tensor",
    nodes.Element: "read_element",
    nodes.IndexSum: "read_sum",
    nodes.IndexProduct: "read_product",
    nodes.IndexMax: "read_max",
    nodes.ArgMaxIndicator: "read_argmax",
    nodes.Delta: "read_delta",
    nodes.Indicator: "read_indicator",
    nodes.PartialDerivative: "read_derivative",
    sp.Symbol: "read_symbol",
}
