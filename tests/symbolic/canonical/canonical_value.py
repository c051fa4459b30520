"""The value of a canonical form at concrete sizes, so that a reading is judged by itself: value(read(e)) = value(e).

It knows what each kind of atom means, and nothing of the rules that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lemmata.symbolic.canonical.terms import Atom, Mono, Poly
from lemmata.symbolic.language import operations
from lemmata.symbolic.language.nodes import Tensor

from .brute_force import CONTEXT, FUNCTIONS, NoValue, OutOfRange, Point, power, settled, size_of

Names = Mapping[Any, int]
HARMLESS = ("eq", "ge")


def poly_value(p: Poly, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    """The value of a polynomial, given the values of its free indices by name."""
    return CONTEXT.fsum(
        [CONTEXT.mpf(int(c.p)) / int(c.q) * mono_value(m, point, names, tensors) for m, c in p.terms.items()]
    )


def mono_value(mono: Mono, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    """The value of a monomial; where an indicator is 0, the other factors need not have a value."""
    result, missing, zero = CONTEXT.mpf(1), None, False
    for a, e in mono:
        try:
            factor = _power(a, e, point, names, tensors)
        except NoValue as error:
            missing = error
            continue
        zero = zero or (a.kind in HARMLESS and factor == 0)
        result *= factor
    if zero:
        return CONTEXT.mpf(0)
    if missing is not None:
        raise missing
    return result


def _power(a: Atom, e: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    value = atom_value(a, point, names, tensors)
    exponent = CONTEXT.mpf(e.numerator) / e.denominator
    if a.kind == "exp" and isinstance(value, CONTEXT.mpc):  # e^{iθ} to a power is e^{iθ·power}, by construction
        return CONTEXT.exp(mono_value(a.data[0], point, names, tensors) * exponent)
    if isinstance(value, CONTEXT.mpc):
        if abs(value.imag) > CONTEXT.mpf(10) ** -40:
            return value**exponent
        value = value.real
    return power(value, exponent)


def atom_value(a: Atom, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    """The value of one atom."""
    return ATOMS[a.kind](a, lambda p, n=names: poly_value(p, point, n, tensors), point, names, tensors)


def _index(a: Atom, poly: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    return CONTEXT.mpf(names[a.data[0]])


def _element(a: Atom, poly: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    tensor = tensors[a.data[0]]
    at = tuple(poly(i) for i in a.data[2])
    sizes = [_size(n, point) for n in tensor.shape]
    if any(i != CONTEXT.nint(i) or not 0 <= i < n for i, n in zip(at, sizes, strict=True)):
        raise OutOfRange(f"{a!r} at {at}")
    return point.value(tensor, tuple(int(i) for i in at)) + point.moved.get((tensor, tuple(int(i) for i in at)), 0)


def _size(n: Any, point: Point) -> int:
    return int(n.subs({s: size_of(s.name, point) for s in n.free_symbols}))


def _bodies(
    a: Atom, point: Point, names: Names, tensors: Mapping[str, Tensor], value: Callable[[Any], Any]
) -> list[Any]:
    ranges = [range(int(poly_value(s, point, names, tensors))) for s in a.data[0]]
    found: list[Any] = []

    def loop(n: int, chosen: dict[Any, int]) -> None:
        if n == len(ranges):
            found.append(value({**names, **chosen}))
            return
        for k in ranges[n]:
            loop(n + 1, {**chosen, ("b", a.height, n): k})

    loop(0, {})
    return found


def _sum(a: Atom, poly: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    return CONTEXT.fsum(_bodies(a, point, names, tensors, lambda n: mono_value(a.data[1], point, n, tensors)))


def _terms(a: Atom, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> list[Any]:
    return [real(v) for v in _bodies(a, point, names, tensors, lambda n: poly_value(a.data[1], point, n, tensors))]


def real(value: Any) -> Any:
    """A value that has to be real, however it was computed."""
    if isinstance(value, CONTEXT.mpc):
        if abs(value.imag) > CONTEXT.mpf(10) ** -35 * (1 + abs(value)):
            raise ValueError(f"complex value {value} where only a real one has a meaning")
        return value.real
    return value


def _log(value: Any) -> Any:
    value = settled(real(value))
    if value <= 0:
        raise NoValue(f"log {value}")
    return CONTEXT.log(value)


def _exponential(a: Atom, poly: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    """e^mono; e^(n log b) with a whole n is b^n, which has a value for every b."""
    logs = [f for f, e in a.data[0] if f.kind == "log" and e == 1]
    if len(logs) == 1:
        exponent = mono_value(tuple(f for f in a.data[0] if f[0] is not logs[0]), point, names, tensors)
        base = settled(real(poly_value(logs[0].data[0], point, names, tensors)))
        if not isinstance(exponent, CONTEXT.mpc):
            return power(base, exponent)
    return CONTEXT.exp(mono_value(a.data[0], point, names, tensors))


def _function(a: Atom, poly: Any, *rest: Any) -> Any:
    function = FUNCTIONS[operations.OPERATIONS[a.data[0]].function]
    return function(*(real(poly(p)) for p in a.data[1:]))


def _argmax(a: Atom, poly: Any, point: Point, names: Names, tensors: Mapping[str, Tensor]) -> Any:
    terms = _terms(a, point, names, tensors)
    return CONTEXT.mpf(int(terms.index(max(terms)) == poly(a.data[2])))


ATOMS: dict[str, Callable[..., Any]] = {
    "ix": _index,
    "el": _element,
    "size": lambda a, poly, point, *rest: CONTEXT.mpf(size_of(a.data[0], point)),
    "num": lambda a, *rest: CONTEXT.mpf(a.data[0]),
    "pi": lambda *rest: +CONTEXT.pi,
    "I": lambda *rest: CONTEXT.mpc(0, 1),
    "exp": _exponential,
    "log": lambda a, poly, *rest: _log(poly(a.data[0])),
    "base": lambda a, poly, *rest: poly(a.data[0]),
    "eq": lambda a, poly, *rest: CONTEXT.mpf(int(settled(real(poly(a.data[0]))) == 0)),
    "ge": lambda a, poly, *rest: CONTEXT.mpf(int(settled(real(poly(a.data[0]))) >= 0)),
    "fn": _function,
    "sum": _sum,
    "max": lambda a, poly, point, names, tensors: max(_terms(a, point, names, tensors)),
    "argmax": _argmax,
    "prod": lambda a, poly, point, names, tensors: CONTEXT.fprod(_terms(a, point, names, tensors)),
}
