"""Forward-mode derivatives: dual numbers over any field, with a sparse tangent along every element of one tensor.

A derivative is never written down as an expression here; it is the tangent of an evaluation. Second derivatives are
dual numbers over dual numbers. The derivatives of the primitive functions are this file's own short table: the second
path does not read the table from which derivations are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq

from ..language.nodes import Tensor
from .fields import Closure, Field, Place, whole_power
from .special_functions import slope_of

Tangent = dict[Place, Any]


class Dual:
    """A value and its derivatives along the elements of one tensor; a missing place is a zero derivative."""

    __slots__ = ("primal", "tangent")

    def __init__(self, primal: Any, tangent: Tangent) -> None:
        self.primal = primal
        self.tangent = tangent

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.primal + other.primal, _sum(self.tangent, other.tangent))

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.primal - other.primal, _sum(self.tangent, {k: -t for k, t in other.tangent.items()}))

    def __neg__(self) -> Dual:
        return Dual(-self.primal, {k: -t for k, t in self.tangent.items()})

    def __mul__(self, other: Dual) -> Dual:
        a, b = self.primal, other.primal
        if not other.tangent:
            return Dual(a * b, {k: t * b for k, t in self.tangent.items()})
        if not self.tangent:
            return Dual(a * b, {k: a * t for k, t in other.tangent.items()})
        return Dual(
            a * b, _sum({k: t * b for k, t in self.tangent.items()}, {k: a * t for k, t in other.tangent.items()})
        )

    def __pow__(self, exponent: int) -> Dual:
        """Non-negative integer powers; `Field.power` inverts for the negative ones."""
        if exponent == 0:
            return Dual(self.primal**0, {})
        if exponent == 1 or not self.tangent:
            return Dual(self.primal if exponent == 1 else _power(self.primal, exponent), self.tangent)
        lower = _power(self.primal, exponent - 1)
        slope = _times(lower, exponent)
        return Dual(lower * self.primal, {k: slope * t for k, t in self.tangent.items()})


def _power(value: Any, n: int) -> Any:
    return value if n == 1 else whole_power(value, n, value**0)


def _times(value: Any, n: int) -> Any:
    """n * value by doubling, for fields whose values do not mix with integers."""
    total = None
    while n:
        if n & 1:
            total = value if total is None else total + value
        n >>= 1
        if n:
            value = value + value
    return total


def _sum(left: Tangent, right: Tangent) -> Tangent:
    if not left:
        return right
    if not right:
        return left
    total = dict(left)
    for place, t in right.items():
        total[place] = total[place] + t if place in total else t
    return total


def _sech2(field: Field, x: Any, fx: Any) -> Any:
    return field.one - fx * fx


def _over_root(field: Field, radicand: Any) -> Any:
    return field.root(radicand, fmpq(-1, 2))


# f'(x) from the field, x and f(x).
_DERIVATIVE: dict[str, Callable[[Field, Any, Any], Any]] = {
    "exp": lambda f, x, fx: fx,
    "log": lambda f, x, fx: f.invert(x),
    "sin": lambda f, x, fx: f.function("cos", x),
    "cos": lambda f, x, fx: -f.function("sin", x),
    "tan": lambda f, x, fx: f.one + fx * fx,
    "sinh": lambda f, x, fx: f.function("cosh", x),
    "cosh": lambda f, x, fx: f.function("sinh", x),
    "tanh": _sech2,
    "atan": lambda f, x, fx: f.invert(f.one + x * x),
    "asin": lambda f, x, fx: _over_root(f, f.one - x * x),
    "acos": lambda f, x, fx: -_over_root(f, f.one - x * x),
    "asinh": lambda f, x, fx: _over_root(f, f.one + x * x),
    "acosh": lambda f, x, fx: _over_root(f, x * x - f.one),
    "atanh": lambda f, x, fx: f.invert(f.one - x * x),
    "erf": lambda f, x, fx: f.constant(fmpq(2)) * f.root(f.named("pi"), fmpq(-1, 2)) * f.function("exp", -(x * x)),
    "loggamma": lambda f, x, fx: f.function("digamma", x),
    "digamma": lambda f, x, fx: f.function("trigamma", x),
}


class DualField(Field):
    """Dual numbers over `base`, with the elements of `tensor` as the independent variables.

    A defined tensor as the variable is independent where the expression names it; definitions that stand on the
    variable are differentiated through.
    """

    def __init__(self, base: Field, tensor: Tensor) -> None:
        super().__init__(base.point)
        self.base = base
        self.tensor = tensor
        self.overrides = base.overrides
        self.one, self.zero = Dual(base.one, {}), Dual(base.zero, {})

    def element(self, tensor: Tensor, place: Place) -> Dual:
        if tensor == self.tensor:
            return Dual(self.base.element(tensor, place), {place: self.base.one})
        if (tensor, place) in self.overrides:
            return Dual(self.base.element(tensor, place), {})
        return super().element(tensor, place)

    def leaf(self, tensor: Tensor, place: Place) -> Dual:
        return Dual(self.base.element(tensor, place), {})

    def constant(self, value: fmpq) -> Dual:
        return Dual(self.base.constant(value), {})

    def named(self, name: str) -> Dual:
        return Dual(self.base.named(name), {})

    def function(self, name: str, x: Dual, *more: Dual) -> Dual:
        given = (x, *more)
        primals = tuple(d.primal for d in given)
        value = self.base.function(name, *primals)
        rule = _DERIVATIVE.get(name)
        total: Tangent = {}
        for n, argument in enumerate(given):
            if not argument.tangent:
                continue
            slope = rule(self.base, x.primal, value) if rule is not None else slope_of(name, n)(self.base, primals,
                                                                                                value)
            total = _sum(total, {k: slope * t for k, t in argument.tangent.items()})
        return Dual(value, total)

    def root(self, x: Dual, power: fmpq) -> Dual:
        value = self.base.root(x.primal, power)
        if not x.tangent:
            return Dual(value, {})
        if power > 1 and self.base.is_zero(x.primal):
            slope = self.base.zero
        else:
            slope = self.base.constant(power) * value * self.base.invert(x.primal)
        return Dual(value, {k: slope * t for k, t in x.tangent.items()})

    def invert(self, x: Dual) -> Dual:
        value = self.base.invert(x.primal)
        if not x.tangent:
            return Dual(value, {})
        slope = -(value * value)
        return Dual(value, {k: slope * t for k, t in x.tangent.items()})

    def is_zero(self, x: Dual) -> bool:
        return not x.tangent and self.base.is_zero(x.primal)

    def vanishes(self, x: Dual) -> bool:
        return self.base.vanishes(x.primal) and all(self.base.vanishes(t) for t in x.tangent.values())

    def compare(self, relation: str, left: Closure, right: Closure, env: dict[Any, Any]) -> bool:
        return self.base.compare(relation, left, right, env)

    def largest(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> int:
        return self.base.largest(body, bound, count, env)
