"""From an index expression to its value in a field: compiled once to closures, evaluated with memory, never rewritten.

`compiled` turns a SymPy tree into a closure over (field, environment); the environment holds the values of the
indices. A subtree is one closure wherever it occurs, and remembers its values by the indices that are free in it.
Nothing here knows rules of algebra: sums are added up, deltas compared, derivatives taken by dual numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import (
    ArgMaxIndicator,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
)
from ..language.operations import BY_FUNCTION, digamma, trigamma
from ..language.sizes import Size
from . import special_functions
from .conditions import truth
from .fields import Closure, Undefined, at, rational
from .indexing import exact_code, is_discrete, places_code, size_at, union

Env = dict[Any, Any]


class Code(NamedTuple):
    """A compiled subtree: `run`, the names free in it, and whether its value is a cheap 0 or 1."""

    run: Closure
    free: tuple[Any, ...]
    binary: bool = False


# SymPy's function classes that every field evaluates itself; all others go through their declared definition.
PRIMITIVE: dict[Any, str] = {
    sp.exp: "exp",
    sp.log: "log",
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tan: "tan",
    sp.sinh: "sinh",
    sp.cosh: "cosh",
    sp.tanh: "tanh",
    sp.atan: "atan",
    sp.asin: "asin",
    sp.acos: "acos",
    sp.asinh: "asinh",
    sp.acosh: "acosh",
    sp.atanh: "atanh",
    sp.erf: "erf",
    sp.loggamma: "loggamma",
    digamma: "digamma",
    trigamma: "trigamma",
    **special_functions.PRIMITIVE,
}
_CONSTANT: dict[Any, str] = {sp.pi: "pi", sp.E: "e", sp.oo: "oo", sp.S.NegativeInfinity: "-oo"}
_serial = itertools.count()


class _Place(sp.Symbol):
    """The argument of a declared definition, bound to a closure when the definition is entered."""

    __slots__ = ()


def evaluate(expression: sp.Expr, field: Any, env: Env) -> Any:
    """The value of an expression in a field, with the indices bound by `env`."""
    return compiled(expression).run(field, env)


@lru_cache(maxsize=20000)
def compiled(node: Any) -> Code:
    """The code of a subtree (kept: steps of one derivation share most of their subtrees)."""
    if node.is_Number or node in _CONSTANT:
        return _number(node)
    if isinstance(node, Tensor):
        return Code(lambda field, env: field.element(node, ()), ())
    if isinstance(node, _Place):
        return Code(lambda field, env: _entered(node, field, env), (node,))
    for kind, handler in _HANDLERS:
        if isinstance(node, kind):
            return handler(node)
    if is_discrete(node):
        return _discrete_number(node)
    if isinstance(node, (sp.Max, sp.Min)):
        return _extremum(node)
    if node.func in PRIMITIVE:
        return _function(node)
    row = BY_FUNCTION.get(node.func)
    if row is not None and row.definition is not None:
        return _defined_function(node)
    raise UnsupportedError(
        f"the second path cannot evaluate {node.func.__name__} in {node}; write it in the vocabulary, or "
        "declare an operation with a definition"
    )


def _remembered(run: Closure, free: tuple[Any, ...]) -> Code:
    """Code that keeps its values, by the values of its free indices."""
    serial = next(_serial)
    if any(isinstance(name, _Place) for name in free):
        return Code(run, free)
    if not free:

        def keyed(field: Any, env: Env) -> Any:
            memo = field.memo
            value = memo.get(serial)
            if value is None:
                value = memo[serial] = run(field, env)
            return value
    elif len(free) == 1:
        (only,) = free

        def keyed(field: Any, env: Env) -> Any:
            memo = field.memo
            key = (serial, env[only])
            value = memo.get(key)
            if value is None:
                value = memo[key] = run(field, env)
            return value
    else:

        def keyed(field: Any, env: Env) -> Any:
            memo = field.memo
            key = (serial, *[env[name] for name in free])
            value = memo.get(key)
            if value is None:
                value = memo[key] = run(field, env)
            return value

    return Code(keyed, free)


# ---------------------------------------------------------------------- numbers and indices
def _number(node: Any) -> Code:
    name = _CONSTANT.get(node)
    if name is not None:
        return Code(lambda field, env: field.named(name), ())
    if node in (sp.nan, sp.zoo):
        raise UnsupportedError(f"{node} stands in the expression; every value must be a number")
    value = rational(node)
    return Code(lambda field, env: field.constant(value), (), node in (0, 1))


def _discrete_number(node: Any) -> Code:
    run, free = exact_code(node)
    return Code(lambda field, env: field.constant(run(field, env)), free)


# ---------------------------------------------------------------------- arithmetic
def _add(node: Any) -> Code:
    codes = [compiled(a) for a in node.args]
    runs = [c.run for c in codes]
    first, rest = runs[0], runs[1:]

    def run(field: Any, env: Env) -> Any:
        total = first(field, env)
        for r in rest:
            total = total + r(field, env)
        return total

    binary = (
        len(codes) == 2
        and any(c.binary for c in codes)
        and all(c.binary or (a.is_Mul and a.args[0] == -1) for c, a in zip(codes, node.args, strict=True))
    )
    return _remembered(run, union(*(c.free for c in codes)))._replace(binary=binary)


def _mul(node: Any) -> Code:
    codes = [compiled(a) for a in node.args]
    # Cheap factors that may be 0 come first: what they multiply is then not evaluated, and need not be defined there.
    # Conditions on indices alone come before those that look at elements, which may be out of range where the index is
    # not meant.
    cheapest = [bool(c.binary and not a.has(Element)) for c, a in zip(codes, node.args, strict=True)]
    runs = ([c.run for c, first in zip(codes, cheapest, strict=True) if first]
            + [c.run for c, first in zip(codes, cheapest, strict=True) if c.binary and not first]
            + [c.run for c in codes if not c.binary])
    cheap = sum(c.binary for c in codes)
    negated = node.args[0] == -1 and len(runs) > 1
    if negated:
        runs.remove(codes[0].run)

    def run(field: Any, env: Env) -> Any:
        total = runs[0](field, env)
        if cheap and field.is_zero(total):
            return field.zero
        for n, r in enumerate(runs[1:], 1):
            value = r(field, env)
            if n < cheap and field.is_zero(value):
                return field.zero
            total = total * value
        return -total if negated else total

    return _remembered(run, union(*(c.free for c in codes)))


def _pow(node: Any) -> Code:
    base, exponent = node.args
    code = compiled(base)
    run_base = code.run
    if exponent.is_Integer:
        n = int(exponent)
        return _remembered(lambda field, env: field.power(run_base(field, env), n), code.free)._replace(
            binary=code.binary and n > 0
        )
    if is_discrete(exponent):
        read, free = exact_code(exponent)

        def run(field: Any, env: Env) -> Any:
            q = read(field, env)
            x = run_base(field, env)
            return field.power(x, int(q.p)) if q.q == 1 else field.root(x, q)

        return _remembered(run, union(code.free, free))
    power = compiled(exponent)
    run_exponent = power.run
    if base == sp.E:
        return _remembered(lambda field, env: field.function("exp", run_exponent(field, env)), power.free)

    def general(field: Any, env: Env) -> Any:
        return field.function("exp", run_exponent(field, env) * field.function("log", run_base(field, env)))

    return _remembered(general, union(code.free, power.free))


def _function(node: Any) -> Code:
    name = PRIMITIVE[node.func]
    codes = [compiled(a) for a in node.args]
    if len(codes) > special_functions.ARGUMENTS.get(name, 1):
        raise UnsupportedError(f"the second path cannot evaluate {node.func.__name__} with {len(codes)} arguments in "
                               f"{node}")
    if len(codes) == 1:
        argument = codes[0].run
        return _remembered(lambda field, env: field.function(name, argument(field, env)), codes[0].free)
    runs = [c.run for c in codes]
    return _remembered(lambda field, env: field.function(name, *[r(field, env) for r in runs]),
                       union(*(c.free for c in codes)))


@lru_cache(maxsize=256)
def _definition(function: Any) -> tuple[_Place, Code]:
    place = _Place(f"argument_of_{function.__name__}", real=True)
    return place, compiled(BY_FUNCTION[function].definition(place))  # type: ignore[misc]


def _defined_function(node: Any) -> Code:
    place, body = _definition(node.func)
    argument = compiled(node.args[0])

    def run(field: Any, env: Env) -> Any:
        return body.run(field, {place: (argument.run, env)})

    return _remembered(run, argument.free)


def _entered(place: _Place, field: Any, env: Env) -> Any:
    # Bound to code and not to a value: a comparison inside may be decided in another field than the value is wanted in.
    argument, outer = env[place]
    return argument(field, outer)


def _extremum(node: Any) -> Code:
    codes = [compiled(a) for a in node.args]
    relation = ">=" if isinstance(node, sp.Max) else "<="

    def run(field: Any, env: Env) -> Any:
        best = codes[0].run
        for c in codes[1:]:
            if not field.compare(relation, best, c.run, env):
                best = c.run
        return best(field, env)

    return _remembered(run, union(*(c.free for c in codes)))


# ---------------------------------------------------------------------- nodes of the language
def _element(node: Element) -> Code:
    tensor = node.tensor
    places, free = places_code(node)
    binary = tensor.domain.values == (0.0, 1.0)
    return Code(lambda field, env: field.element(tensor, places(field, env)), free, binary)


def _without(free: tuple[Any, ...], bound: Index) -> tuple[Any, ...]:
    return tuple(name for name in free if name != bound)


def _sum(node: IndexSum) -> Code:
    body, bound = compiled(node.body), node.bound
    size, run_body = bound.size, body.run

    def run(field: Any, env: Env) -> Any:
        total = at(run_body, field, env, bound, 0)
        for n in range(1, size_at(size, field)):
            total = total + at(run_body, field, env, bound, n)
        return total

    return _remembered(run, _without(body.free, bound))


def _index_product(node: IndexProduct) -> Code:
    body, bound = compiled(node.body), node.bound
    size, run_body = bound.size, body.run

    def run(field: Any, env: Env) -> Any:
        total = at(run_body, field, env, bound, 0)
        for n in range(1, size_at(size, field)):
            total = total * at(run_body, field, env, bound, n)
        return total

    return _remembered(run, _without(body.free, bound))


def _max(node: IndexMax) -> Code:
    body, bound = compiled(node.body), node.bound
    size = bound.size
    return _remembered(
        lambda field, env: field.maximum(body.run, bound, size_at(size, field), env), _without(body.free, bound)
    )


def _argmax(node: ArgMaxIndicator) -> Code:
    body, bound = compiled(node.body), node.bound
    size = bound.size
    value, free = exact_code(node.value)

    def run(field: Any, env: Env) -> Any:
        place = field.largest(body.run, bound, size_at(size, field), env)
        return field.one if value(field, env) == place else field.zero

    return _remembered(run, union(_without(body.free, bound), free))._replace(binary=True)


def _delta(node: Delta) -> Code:
    (left, free_left), (right, free_right) = exact_code(node.args[0]), exact_code(node.args[1])
    return Code(
        lambda field, env: field.one if left(field, env) == right(field, env) else field.zero,
        union(free_left, free_right),
        True,
    )


def _indicator(node: Indicator) -> Code:
    holds, free = truth(node.condition, compiled)
    return _remembered(lambda field, env: field.one if holds(field, env) else field.zero, free)._replace(binary=True)


def _partial(node: PartialDerivative) -> Code:
    variable = node.variable
    body = compiled(node.expression)
    if isinstance(variable, Element):
        tensor = variable.tensor
        places, free = places_code(variable)
    elif isinstance(variable, Tensor) and not variable.shape:
        tensor, places, free = variable, (lambda field, env: ()), ()
    else:
        raise UnsupportedError(
            f"the derivative by {variable}; the variable must be an element of an array, such as z_k"
        )

    def run(field: Any, env: Env) -> Any:
        dual = body.run(field.derivative(tensor), env)
        return dual.tangent.get(places(field, env), field.zero)

    return _remembered(run, union(body.free, free))


def _piecewise(node: Any) -> Code:
    branches = [(compiled(value), truth(condition, compiled)) for value, condition in node.args]

    def run(field: Any, env: Env) -> Any:
        for value, (holds, _) in branches:
            if holds(field, env):
                return value.run(field, env)
        raise Undefined("no branch of a case distinction holds")

    return _remembered(run, union(*(v.free for v, _ in branches), *(f for _, (_, f) in branches)))


_HANDLERS: tuple[tuple[Any, Callable[[Any], Code]], ...] = (
    (Element, _element),
    (IndexSum, _sum),
    (ArgMaxIndicator, _argmax),
    (IndexMax, _max),
    (IndexProduct, _index_product),
    (Delta, _delta),
    (Indicator, _indicator),
    (PartialDerivative, _partial),
    (sp.Piecewise, _piecewise),
    ((Index, Size, sp.Mod), _discrete_number),
    (sp.Add, _add),
    (sp.Mul, _mul),
    (sp.Pow, _pow),
)
