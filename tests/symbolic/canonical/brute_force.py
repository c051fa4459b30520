"""The value of an index expression at concrete sizes, by definition: loops over the values of indices, nothing clever.

It shares no code with the canonical form (or with the library's own second path), and is what both are judged
by in these tests. Numbers are mpmath's, with 50 digits; a derivative is a central difference, so that no
derivative rule is used. A value that does not exist (a division by 0, the logarithm of 0 or of a negative
number, an element outside of its array) raises `NoValue`. A factor that is an index condition with value 0
makes an element outside of its array harmless: [j ≥ 1] x_{j-1}.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import sympy as sp

from lemmata.symbolic.language import nodes, operations
from lemmata.symbolic.language.domains import domain
from lemmata.symbolic.language.indices import Index

CONTEXT = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.mp
CONTEXT.dps = 50
STEP = CONTEXT.mpf(10) ** -15


class NoValue(Exception):
    """The expression has no value at this point."""


class OutOfRange(NoValue):
    """An element outside of its array."""


class Point:
    """Sizes by name, and values of tensors, drawn on first use from the tensor's domain.

    `special` draws from few small values (0, ±1, ties), where false equalities like to show. `assume` gives tensors
    another domain than their declared one, by name: values that satisfy a hypothesis.
    """

    def __init__(
        self, sizes: Mapping[str, int], seed: int, special: bool = False, assume: Mapping[str, str] | None = None
    ) -> None:
        self.assume = {name: domain(d) for name, d in (assume or {}).items()}
        self.sizes = dict(sizes)
        self.seed = seed
        self.special = special
        self.values: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.moved: dict[tuple[str, tuple[int, ...]], Any] = {}

    def value(self, tensor: nodes.Tensor, at: tuple[int, ...]) -> Any:
        """The value of one entry."""
        if tensor.domain.symmetric:
            at = tuple(sorted(at))
        key = (tensor.name, at)
        if key not in self.values:
            rng = random.Random(f"{self.seed} {tensor.name} {at}")
            self.values[key] = CONTEXT.mpf(_drawn(tensor, at, rng, self))
        return self.values[key]


def _drawn(tensor: nodes.Tensor, at: tuple[int, ...], rng: random.Random, point: Point) -> float:
    d = point.assume.get(tensor.name, tensor.domain)
    if d.one_hot:
        last = integer(tensor.shape[-1], point)
        chosen = random.Random(f"{point.seed} {tensor.name} row {at[:-1]}").randrange(last)
        return float(at[-1] == chosen)
    if d.values:
        return rng.choice(d.values)
    if d.integer:
        return float(rng.randrange(min(point.sizes.values())))
    if d.rows_sum_to_one:
        last = integer(tensor.shape[-1], point)
        row = [random.Random(f"{point.seed} {tensor.name} {(*at[:-1], k)}").uniform(0.1, 1) for k in range(last)]
        return row[at[-1]] / sum(row)
    low, high = max(d.low, -2.0), min(d.high, 2.0)
    if point.special:
        fitting = [v for v in (0.0, 1.0, -1.0, 0.5) if low < v < high and (v or not d.nonzero)]
        return rng.choice(fitting or [(low + high) / 2])
    value = rng.uniform(low, high)
    return value if value or not d.nonzero else 0.5


def integer(expression: sp.Expr, point: Point) -> int:
    """The value of a size."""
    return int(expression.subs({s: size_of(s.name, point) for s in expression.free_symbols}))


def size_of(name: str, point: Point) -> int:
    """The value of a named size; one that the point does not name gets 2, 3 or 4."""
    return point.sizes.get(name) or 2 + sum(map(ord, name)) % 3


def evaluate(expression: sp.Expr, point: Point, indices: Mapping[Index, int] | None = None) -> Any:
    """The value of an expression, given the values of its free indices."""
    return _value(sp.sympify(expression), point, dict(indices or {}))


def _value(node: Any, point: Point, env: dict[Any, int]) -> Any:
    for kind in type(node).__mro__:
        handler = HANDLERS.get(kind)
        if handler is not None:
            return handler(node, point, env)
    raise NotImplementedError(f"brute force has no meaning for {type(node).__name__}: {node}")


def _number(node: Any, point: Point, env: dict[Any, int]) -> Any:
    if node.is_Rational:
        return CONTEXT.mpf(int(node.p)) / int(node.q)
    if node is sp.I:
        return CONTEXT.mpc(0, 1)
    return CONTEXT.mpf(str(sp.N(node, 55)))


def _index(node: Index, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.mpf(env[node])


def _symbol(node: sp.Symbol, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.mpf(size_of(node.name, point))


def _add(node: Any, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.fsum([_value(a, point, env) for a in node.args])


def _mul(node: Any, point: Point, env: dict[Any, int]) -> Any:
    result, outside, zero = CONTEXT.mpf(1), None, False
    for a in node.args:
        try:
            factor = _value(a, point, env)
        except OutOfRange as error:
            outside = error
            continue
        result *= factor
        zero = zero or (factor == 0 and isinstance(a, (nodes.Delta, nodes.Indicator)))
    if outside is not None and not zero:
        raise outside
    return result


def _pow(node: Any, point: Point, env: dict[Any, int]) -> Any:
    base, exponent = _value(node.base, point, env), _value(node.exp, point, env)
    return power(base, exponent)


def power(base: Any, exponent: Any) -> Any:
    """base ** exponent in the reals."""
    whole = exponent == CONTEXT.nint(exponent)
    if (base == 0 and exponent < 0) or (base < 0 and not whole):
        raise NoValue(f"{base} ** {exponent}")
    return base ** (int(exponent) if whole else exponent)


def _tensor(node: nodes.Tensor, point: Point, env: dict[Any, int]) -> Any:
    return _entry(node, (), point)


def _element(node: nodes.Element, point: Point, env: dict[Any, int]) -> Any:
    at = tuple(_value(i, point, env) for i in node.indices)
    if any(i != CONTEXT.nint(i) for i in at):
        raise OutOfRange(f"{node} at {at}")
    return _entry(node.tensor, tuple(int(i) for i in at), point)


def _entry(tensor: nodes.Tensor, at: tuple[int, ...], point: Point) -> Any:
    for i, n in zip(at, tensor.shape, strict=True):
        if not 0 <= i < integer(n, point):
            raise OutOfRange(f"{tensor.name} at {at}")
    if isinstance(tensor, nodes.DefinedTensor):
        value = _value(tensor.body, point, dict(zip(tensor.parameters, at, strict=True)))
    else:
        value = point.value(tensor, at)
    return value + point.moved.get((tensor, at), 0)


def _terms(node: nodes.Binder, point: Point, env: dict[Any, int]) -> list[Any]:
    return [_value(node.body, point, {**env, node.bound: n}) for n in range(integer(node.bound.size, point))]


def _sum(node: nodes.IndexSum, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.fsum(_terms(node, point, env))


def _max(node: nodes.IndexMax, point: Point, env: dict[Any, int]) -> Any:
    return max(_terms(node, point, env))


def _product(node: nodes.IndexProduct, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.fprod(_terms(node, point, env))


def _argmax(node: nodes.ArgMaxIndicator, point: Point, env: dict[Any, int]) -> Any:
    terms = _terms(node, point, env)
    return CONTEXT.mpf(int(terms.index(max(terms)) == _value(node.value, point, env)))


def _delta(node: nodes.Delta, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.mpf(int(_value(node.args[0], point, env) == _value(node.args[1], point, env)))


def _indicator(node: nodes.Indicator, point: Point, env: dict[Any, int]) -> Any:
    return CONTEXT.mpf(int(_holds(node.condition, point, env)))


def _holds(condition: Any, point: Point, env: dict[Any, int]) -> bool:
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.And):
        return all(_holds(a, point, env) for a in condition.args)
    if isinstance(condition, sp.Or):
        return any(_holds(a, point, env) for a in condition.args)
    if isinstance(condition, sp.Not):
        return not _holds(condition.args[0], point, env)
    gap = settled(_value(condition.lhs, point, env) - _value(condition.rhs, point, env))
    return {">=": gap >= 0, ">": gap > 0, "<=": gap <= 0, "<": gap < 0, "==": gap == 0, "!=": gap != 0}[
        condition.rel_op
    ]


def settled(value: Any) -> Any:
    """A value that is about to be compared with 0, with the rounding of 50 digits taken off: log e^x - x is 0."""
    return CONTEXT.mpf(0) if abs(value) < CONTEXT.mpf(10) ** -35 else value


def _derivative(node: nodes.PartialDerivative, point: Point, env: dict[Any, int]) -> Any:
    variable = node.variable
    tensor, at = (variable.tensor, variable.indices) if isinstance(variable, nodes.Element) else (variable, ())
    place = (tensor, tuple(int(_value(i, point, env)) for i in at))
    ends = []
    for step in (STEP, -STEP):
        before = point.moved.get(place, 0)
        point.moved[place] = before + step
        try:
            ends.append(_value(node.expression, point, env))
        finally:
            point.moved[place] = before
    return (ends[0] - ends[1]) / (2 * STEP)


def _log(x: Any) -> Any:
    if x <= 0:
        raise NoValue(f"log {x}")
    return CONTEXT.log(x)


def _inside(function: Callable[[Any], Any], low: float, high: float) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        if not low <= x <= high:
            raise NoValue(f"argument {x}")
        return function(x)

    return apply


def _step(x: Any) -> int:
    return 1 if x > 0 else 0


def _root(x: Any) -> Any:
    return CONTEXT.sqrt(x)


# Written out again here on purpose: a wrong definition in the table of operations shall show.
FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    sp.exp: CONTEXT.exp,
    sp.log: _log,
    sp.sin: CONTEXT.sin,
    sp.cos: CONTEXT.cos,
    sp.tan: CONTEXT.tan,
    sp.sinh: CONTEXT.sinh,
    sp.cosh: CONTEXT.cosh,
    sp.tanh: CONTEXT.tanh,
    sp.atan: CONTEXT.atan,
    sp.asinh: CONTEXT.asinh,
    sp.erf: CONTEXT.erf,
    sp.asin: _inside(CONTEXT.asin, -1, 1),
    sp.acos: _inside(CONTEXT.acos, -1, 1),
    sp.acosh: _inside(CONTEXT.acosh, 1, float("inf")),
    sp.atanh: _inside(CONTEXT.atanh, -0.999999, 0.999999),
    sp.loggamma: _inside(CONTEXT.loggamma, 1e-9, float("inf")),
    sp.Abs: abs,
    sp.sign: lambda x: CONTEXT.sign(settled(x)),
    operations.sigmoid: lambda x: 1 / (1 + CONTEXT.exp(-x)),
    operations.softplus: lambda x: CONTEXT.log(1 + CONTEXT.exp(x)),
    operations.log_sigmoid: lambda x: -CONTEXT.log(1 + CONTEXT.exp(-x)),
    operations.relu: lambda x: x * _step(x),
    operations.gelu: lambda x: x * (1 + CONTEXT.erf(x / _root(2))) / 2,
    operations.gelu_tanh: lambda x: (
        x * (1 + CONTEXT.tanh(_root(2 / CONTEXT.pi) * (x + CONTEXT.mpf(44715) / 10**6 * x**3))) / 2
    ),
    operations.silu: lambda x: x / (1 + CONTEXT.exp(-x)),
    operations.mish: lambda x: x * CONTEXT.tanh(CONTEXT.log(1 + CONTEXT.exp(x))),
    operations.elu: lambda x: x if x > 0 else CONTEXT.exp(x) - 1,
}


def _function(node: Any, point: Point, env: dict[Any, int]) -> Any:
    return FUNCTIONS[node.func](_value(node.args[0], point, env))


HANDLERS: dict[type, Callable[[Any, Point, dict[Any, int]], Any]] = {
    sp.Number: _number,
    sp.core.numbers.NumberSymbol: _number,
    sp.core.numbers.ImaginaryUnit: _number,
    sp.Add: _add,
    sp.Mul: _mul,
    sp.Pow: _pow,
    sp.Function: _function,
    sp.exp: _function,
    Index: _index,
    sp.Symbol: _symbol,
    nodes.Tensor: _tensor,
    nodes.Element: _element,
    nodes.IndexSum: _sum,
    nodes.IndexMax: _max,
    nodes.IndexProduct: _product,
    nodes.ArgMaxIndicator: _argmax,
    nodes.Delta: _delta,
    nodes.Indicator: _indicator,
    nodes.PartialDerivative: _derivative,
}


# ---------------------------------------------------------------------- comparison
POINTS = (
    ({"K": 3, "N": 2, "M": 4}, 1, False),
    ({"K": 2, "N": 3, "M": 1}, 2, False),
    ({"K": 2, "N": 3, "M": 4}, 3, True),
    ({"K": 1, "N": 2, "M": 3}, 4, False),
    ({"K": 3, "N": 1, "M": 2}, 5, True),
)
# many small points, half of them special: for claims that fail at single values
MORE_POINTS = POINTS + tuple(({"K": 2, "N": 1, "M": 3}, seed, seed % 2 == 0) for seed in range(6, 24))


def values(expression: sp.Expr, point: Point, free: Sequence[Index]) -> list[Any]:
    """Values for every combination of the free indices; None where there is no value."""
    found = []
    for at in itertools.product(*(range(integer(i.size, point)) for i in free)):
        try:
            found.append(evaluate(expression, point, dict(zip(free, at, strict=True))))
        except NoValue:
            found.append(None)
    return found


def close(a: Any, b: Any, digits: int = 12) -> bool:
    """Equality up to the accuracy of differences."""
    return bool(abs(a - b) <= CONTEXT.mpf(10) ** -digits * (1 + abs(a) + abs(b)))


def difference(
    left: sp.Expr,
    right: sp.Expr,
    points: Sequence[tuple[Mapping[str, int], int, bool]] = POINTS,
    strict: bool = False,
    assume: Mapping[str, str] | None = None,
) -> str | None:
    """Where two expressions differ, as text, or None; points where one has no value count only if `strict`."""
    free = nodes.free_indices(sp.Tuple(left, right))
    for sizes, seed, special in points:
        for n, (a, b) in enumerate(
            zip(*(values(side, Point(sizes, seed, special, assume), free) for side in (left, right)), strict=True)
        ):
            if a is None or b is None:
                if strict and (a is None) != (b is None):
                    return f"sizes {dict(sizes)}, seed {seed}, special {special}, place {n}: {a} against {b}"
                continue
            if not close(a, b):
                return (
                    f"sizes {dict(sizes)}, seed {seed}, special {special}, place {n} of {[str(i) for i in free]}: "
                    f"{CONTEXT.nstr(a, 15)} against {CONTEXT.nstr(b, 15)}"
                )
    return None
