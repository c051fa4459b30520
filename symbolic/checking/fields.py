"""Number fields in which an expression is evaluated: what every field shares, and the field of Arb's real balls.

A field knows how to make constants, how to read an element of a tensor at a point, how to apply a function, and how
to decide a comparison. Values carry their arithmetic (`+ - * /` and integer powers) themselves. The evaluator is
written once, over any field; `atoms` has the exact field, `duals` puts derivatives on top of either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flint
import sympy as sp
from flint import arb, fmpq, fmpz

from ..language.errors import UnsupportedError
from ..language.linear_algebra import MatrixTensor
from ..language.nodes import DefinedTensor, Tensor
from . import special_functions
from .failures import Inexact, Undecided, Undefined

if TYPE_CHECKING:
    from .points import Point

Closure = Callable[[Any, dict[Any, Any]], Any]
Place = tuple[int, ...]
_NEGLIGIBLE = arb(2) ** -83  # about 1e-25


def whole_power(x: Any, exponent: int, one: Any) -> Any:
    """x ** exponent by multiplication: arb's own power gives nan for a ball that holds 0."""
    if isinstance(x, arb):
        result, square = one, x
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result
    return x**exponent


class Field:
    """What every field shares: the point, memo tables, and the lookup of elements through definitions.

    `overrides` replaces elements of tensors (declared or defined) by given values; `reads` collects the elements of
    declared tensors that were looked at.
    """

    one: Any
    zero: Any

    def __init__(self, point: Point) -> None:
        self.point = point
        self.memo: dict[Any, Any] = {}
        self.elements: dict[tuple[Tensor, Place], Any] = {}
        self.overrides: dict[tuple[Tensor, Place], Any] = {}
        self.reads: dict[tuple[Tensor, Place], None] = {}
        self._derivatives: dict[Tensor, Field] = {}

    # ------------------------------------------------------------------ what a field must give
    def constant(self, value: fmpq) -> Any:
        """A rational number."""
        raise NotImplementedError

    def named(self, name: str) -> Any:
        """π, e, or an infinity."""
        raise NotImplementedError

    def leaf(self, tensor: Tensor, place: Place) -> Any:
        """The element of a declared tensor."""
        raise NotImplementedError

    def function(self, name: str, x: Any, *more: Any) -> Any:
        """A primitive elementwise function (see `evaluator.PRIMITIVE`) of one or more arguments."""
        raise NotImplementedError

    def root(self, x: Any, power: fmpq) -> Any:
        """x ** power for a rational power that is not an integer."""
        raise NotImplementedError

    def invert(self, x: Any) -> Any:
        """1 / x."""
        raise NotImplementedError

    def is_zero(self, x: Any) -> bool:
        """Whether the value is exactly 0 (False where this is not known)."""
        raise NotImplementedError

    def vanishes(self, x: Any) -> bool:
        """Whether the value is 0: exactly, or for balls that 0 lies in a ball of negligible radius."""
        raise NotImplementedError

    def compare(self, relation: str, left: Closure, right: Closure, env: dict[Any, Any]) -> bool:
        """Decide `left relation right`, or raise `Undecided`."""
        raise NotImplementedError

    def largest(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> int:
        """The place of the largest value of `body`; the first of exactly equal ones."""
        raise NotImplementedError

    def maximum(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> Any:
        """The largest value of `body`."""
        return at(body, self, env, bound, self.largest(body, bound, count, env))

    # ------------------------------------------------------------------ shared
    def element(self, tensor: Tensor, place: Place) -> Any:
        """The element of a tensor: given, read from the point, or evaluated from its definition (once)."""
        key = (tensor, place)
        value = self.elements.get(key)
        if value is None:
            if key in self.overrides:
                value = self.overrides[key]
            elif isinstance(tensor, DefinedTensor):
                from .evaluator import evaluate

                value = evaluate(tensor.body, self, dict(zip(tensor.parameters, place, strict=True)))
            elif isinstance(tensor, MatrixTensor):
                value = self._matrix_function(tensor, place)
            else:
                value = self.leaf(tensor, place)
            self.elements[key] = value
        if key not in self.reads and not isinstance(tensor, (DefinedTensor, MatrixTensor)):
            self.reads[key] = None
        return value

    def _matrix_function(self, tensor: MatrixTensor, place: Place) -> Any:
        """A determinant, or an element of an inverse, of the matrix at this point."""
        from .evaluator import evaluate
        from .indexing import size_at
        from .matrices import determinant, inverse_entry

        n = size_at(tensor.parameters[-1].size, self)
        batch = place[:-2] if tensor.kind == "inv" else place

        def entry(row: int, column: int) -> Any:
            return evaluate(tensor.body, self, dict(zip(tensor.parameters, (*batch, row, column), strict=True)))

        if tensor.kind == "det":
            return determinant(entry, n, self)
        return inverse_entry(entry, n, self, *place[-2:])

    def power(self, x: Any, exponent: int) -> Any:
        """x ** exponent for an integer exponent."""
        if exponent >= 0:
            return whole_power(x, exponent, self.one)
        return self.invert(whole_power(x, -exponent, self.one))

    def derivative(self, tensor: Tensor) -> Any:
        """The field of dual numbers over this one, with tangents along the elements of `tensor`."""
        found = self._derivatives.get(tensor)
        if found is None:
            from .duals import DualField

            found = self._derivatives[tensor] = DualField(self, tensor)
        return found

    def forget(self) -> None:
        """Drop every remembered value (after `overrides` changed)."""
        self.memo.clear()
        self.elements.clear()
        self._derivatives.clear()


def at(body: Closure, field: Any, env: dict[Any, Any], bound: Any, value: int) -> Any:
    """The value of `body` with an index bound to a number; the environment is left as it was."""
    missing = object()
    before = env.get(bound, missing)
    env[bound] = value
    try:
        return body(field, env)
    finally:
        if before is missing:
            del env[bound]
        else:
            env[bound] = before


_BALL: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "log": arb.log,
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "sinh": arb.sinh,
    "cosh": arb.cosh,
    "tanh": arb.tanh,
    "atan": arb.atan,
    "asin": arb.asin,
    "acos": arb.acos,
    "asinh": arb.asinh,
    "acosh": arb.acosh,
    "atanh": arb.atanh,
    "erf": arb.erf,
    "loggamma": arb.lgamma,
}
# Where a function is defined, as (low, high); None is no bound.
_BALL_DOMAIN: dict[str, tuple[int | None, int | None]] = {
    "log": (0, None),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "acosh": (1, None),
    "atanh": (-1, 1),
    "loggamma": (0, None),
}
_OPEN = frozenset({"log", "atanh", "loggamma"})


class BallField(Field):
    """Real balls: every value is a midpoint with a radius that holds the true value. Precision is flint's context's.

    Points are binary fractions, so that sums and products of inputs are exact and ties between them are seen as ties.
    """

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self.one, self.zero = arb(1), arb(0)
        self.tie = False  # whether a comparison or a maximum met an exact tie

    def constant(self, value: fmpq) -> arb:
        return arb(value)

    def named(self, name: str) -> arb:
        if name == "pi":
            return arb.pi()
        if name == "e":
            return arb(1).exp()
        return arb("inf") if name == "oo" else arb("-inf")

    def leaf(self, tensor: Tensor, place: Place) -> arb:
        return arb(self.point.value(tensor, place))

    def function(self, name: str, x: arb, *more: arb) -> arb:
        if name in special_functions.BALL:
            value = special_functions.BALL[name](x, *more)
            if not value.is_finite():
                if all(v.is_exact() for v in (x, *more)):
                    raise Undefined(f"{name} at {', '.join(map(_short, (x, *more)))}")
                raise Undecided(f"{name} at {', '.join(map(_short, (x, *more)))}")
            if name in ("floor", "ceil") and x.is_exact() and x.is_integer():
                self.tie = True
            return value
        ends = _BALL_DOMAIN.get(name)
        if ends is not None:
            low, high = ends
            for end, outside in ((low, lambda e: x < e), (high, lambda e: x > e)):
                if end is None:
                    continue
                if outside(end) or (name in _OPEN and x == end):
                    raise Undefined(f"{name} at {_short(x)}")
                if not outside(end) and x.overlaps(arb(end)) and not (x == end):
                    raise Undecided(f"{name} at {_short(x)}")
        value = _BALL[name](x)
        if value.is_nan():
            raise Undefined(f"{name} at {_short(x)}")
        return value

    def root(self, x: arb, power: fmpq) -> arb:
        if x == 0:
            if power < 0:
                raise Undefined(f"0 to the power {power}")
            return self.zero
        if x < 0:
            raise Undefined(f"the power {power} of the negative number {_short(x)}")
        if not x > 0:
            raise Undecided(f"the power {power} of {_short(x)}")
        if power.q == 2:
            value = x.sqrt() if abs(power.p) == 1 else x.sqrt() ** int(abs(power.p))
        else:
            value = x ** arb(abs(power))
        return value if power > 0 else 1 / value

    def invert(self, x: arb) -> arb:
        if x == 0:
            raise Undefined("division by zero")
        if x.contains(0):
            raise Undecided(f"division by {_short(x)}")
        return 1 / x

    def is_zero(self, x: arb) -> bool:
        return x.is_zero()

    def vanishes(self, x: arb) -> bool:
        return x.contains(0) and x.rad() < _NEGLIGIBLE

    def compare(self, relation: str, left: Closure, right: Closure, env: dict[Any, Any]) -> bool:
        a, b = left(self, env), right(self, env)
        if a < b:
            return relation in ("<", "<=", "!=")
        if a > b:
            return relation in (">", ">=", "!=")
        if a == b:  # both exact and the same
            self.tie = True
            return relation in ("==", "<=", ">=")
        raise Undecided(f"{_short(a)} {relation} {_short(b)}")

    def largest(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> int:
        values = [at(body, self, env, bound, n) for n in range(count)]
        best = max(range(count), key=lambda n: values[n].mid())
        for n in range(count):
            if n != best and not values[n] < values[best]:
                if not values[n] == values[best]:
                    raise Undecided(f"the largest of {', '.join(map(_short, values))}")
                self.tie = True
                best = min(best, n)
        return best

    def maximum(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> arb:
        # The value of a maximum needs no decision where two candidates overlap; only its derivative does.
        value = at(body, self, env, bound, 0)
        for n in range(1, count):
            value = value.max(at(body, self, env, bound, n))
        return value


def _short(x: arb) -> str:
    return x.str(8, radius=False)


def rational(value: Any) -> fmpq:
    """A SymPy number, a Python int or a float (read as the decimal it prints) as an exact rational."""
    if isinstance(value, int):
        return fmpq(value)
    if isinstance(value, float):
        value = sp.Rational(repr(value))
    if isinstance(value, sp.Float):
        value = sp.Rational(str(value))
    if not isinstance(value, sp.Rational):
        raise UnsupportedError(f"{value} is not a rational number")
    return fmpq(int(value.p), int(value.q))


def integer(value: fmpq) -> int:
    """A rational that is an integer, as int."""
    if value.q != 1:
        raise UnsupportedError(f"an index came out as {value}, which is not an integer")
    return int(fmpz(value.p))


def working_precision(bits: int) -> Any:
    """A context in which balls have this many bits."""
    return flint.ctx.workprec(bits)


__all__ = ["BallField", "Closure", "Field", "Inexact", "Place", "Undecided", "Undefined", "at", "integer", "rational",
           "working_precision"]
