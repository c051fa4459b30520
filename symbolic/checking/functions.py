"""The primitive functions in the exact field: by exponentials and logarithms where they are such, else as atoms."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from .atoms import AtomField
from .quotients import Quotient

Function = Callable[[AtomField, Quotient], Quotient]


def _tan(f: AtomField, x: Quotient) -> Quotient:
    cosine, sine = f.rotation(x)
    return sine * f.invert(cosine)


def _hyperbolic(f: AtomField, x: Quotient, sign: int) -> Quotient:
    e = f.exp(x)
    return (e + f.constant(fmpq(sign)) * f.invert(e)) * f.constant(fmpq(1, 2))


def _tanh(f: AtomField, x: Quotient) -> Quotient:
    square = f.exp(x) ** 2
    return (square - f.one) * f.invert(square + f.one)


def _asinh(f: AtomField, x: Quotient) -> Quotient:
    return f.log(x + f.root(x * x + f.one, fmpq(1, 2)))


def _acosh(f: AtomField, x: Quotient) -> Quotient:
    return f.log(x + f.root(x * x - f.one, fmpq(1, 2)))


def _atanh(f: AtomField, x: Quotient) -> Quotient:
    return (f.log(f.one + x) - f.log(f.one - x)) * f.constant(fmpq(1, 2))


def _acos(f: AtomField, x: Quotient) -> Quotient:
    return f.named("pi") * f.constant(fmpq(1, 2)) - f.opaque("asin", x, odd=True)


FUNCTIONS: dict[str, Function] = {
    "exp": AtomField.exp,
    "log": AtomField.log,
    "sin": lambda f, x: f.rotation(x)[1],
    "cos": lambda f, x: f.rotation(x)[0],
    "tan": _tan,
    "sinh": lambda f, x: _hyperbolic(f, x, -1),
    "cosh": lambda f, x: _hyperbolic(f, x, 1),
    "tanh": _tanh,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "asin": lambda f, x: f.opaque("asin", x, odd=True),
    "acos": _acos,
    "atan": lambda f, x: f.opaque("atan", x, odd=True),
    "erf": lambda f, x: f.opaque("erf", x, odd=True),
    "loggamma": lambda f, x: f.opaque("loggamma", x, odd=False),
    "digamma": lambda f, x: f.opaque("digamma", x, odd=False),
    "trigamma": lambda f, x: f.opaque("trigamma", x, odd=False),
}
