"""Rational functions over Q with factored denominators, on python-flint's multivariate polynomials.

A denominator is kept as powers of interned polynomials and never multiplied out, so that sums over one softmax
denominator cost no greatest common divisor. Limits on the number of terms and on time turn a blow-up into `Inexact`.
"""

from __future__ import annotations

import time
from typing import Any

from flint import fmpq, fmpq_mpoly_ctx

from .fields import Inexact, Undefined

Denominator = dict[int, int]
Key = tuple[Any, ...]
_MOST_TERMS = 3000
_MOST_PRODUCTS = 400_000


class Ring:
    """The polynomials in a fixed number of generators, and the table of interned factors."""

    def __init__(self, capacity: int, deadline: float) -> None:
        self.context = fmpq_mpoly_ctx.get([f"a{n}" for n in range(capacity)], "lex")
        self.generators = self.context.gens()
        self.capacity = capacity
        self.deadline = deadline
        self.factors: list[Any] = []
        self._numbers: dict[Key, int] = {}
        self._powers: dict[tuple[int, int], Any] = {}

    def constant(self, value: fmpq) -> Any:
        """A constant polynomial."""
        return self.context.constant(value)

    def intern(self, polynomial: Any) -> int:
        """The number of a factor."""
        key = polynomial_key(polynomial)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.factors)
            self.factors.append(polynomial)
        return number

    def power(self, number: int, exponent: int) -> Any:
        """A power of a factor, remembered."""
        if exponent == 1:
            return self.factors[number]
        found = self._powers.get((number, exponent))
        if found is None:
            found = self._powers[number, exponent] = self.raised(self.factors[number], exponent)
        return found

    def raised(self, polynomial: Any, exponent: int) -> Any:
        """polynomial ** exponent, within the limits."""
        terms = len(polynomial)
        if terms > 1 and exponent > 1 and terms ** min(exponent, 12) > _MOST_PRODUCTS * 40:
            raise Inexact(f"the power {exponent} of a polynomial of {terms} terms")
        return self.bounded(polynomial**exponent)

    def product(self, left: Any, right: Any) -> Any:
        """left * right, within the limits."""
        if len(left) * len(right) > _MOST_PRODUCTS:
            raise Inexact(f"a product of polynomials of {len(left)} and {len(right)} terms")
        return self.bounded(left * right)

    def bounded(self, polynomial: Any) -> Any:
        """The polynomial itself, unless it is too long or time is up."""
        if len(polynomial) > _MOST_TERMS:
            raise Inexact(f"a polynomial of {len(polynomial)} terms")
        if time.thread_time() > self.deadline:
            raise Inexact("out of time")
        return polynomial

    def expanded(self, denominator: Denominator) -> Any:
        """A denominator multiplied out."""
        result = self.constant(fmpq(1))
        for number, exponent in denominator.items():
            result = self.product(result, self.power(number, exponent))
        return result


class Quotient:
    """A polynomial over a product of powers of factors."""

    __slots__ = ("ring", "numerator", "denominator")

    def __init__(self, ring: Ring, numerator: Any, denominator: Denominator) -> None:
        self.ring = ring
        if denominator and numerator.is_zero():
            denominator = {}
        self.numerator = numerator
        self.denominator = denominator

    def __add__(self, other: Quotient) -> Quotient:
        ring = self.ring
        a, b = self.denominator, other.denominator
        if a == b:
            return _simplest(ring, ring.bounded(self.numerator + other.numerator), a)
        if self.numerator.is_zero():
            return other
        if other.numerator.is_zero():
            return self
        common = dict(a)
        for number, exponent in b.items():
            if common.get(number, 0) < exponent:
                common[number] = exponent
        total = _lifted(ring, self.numerator, a, common) + _lifted(ring, other.numerator, b, common)
        return _simplest(ring, ring.bounded(total), common)

    def __neg__(self) -> Quotient:
        return Quotient(self.ring, -self.numerator, self.denominator)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + (-other)

    def __mul__(self, other: Quotient) -> Quotient:
        numerator = self.ring.product(self.numerator, other.numerator)
        a, b = self.denominator, other.denominator
        if not a or not b:
            merged = a or b
        else:
            merged = dict(a)
            for number, exponent in b.items():
                merged[number] = merged.get(number, 0) + exponent
        return _simplest(self.ring, numerator, merged)

    def __pow__(self, exponent: int) -> Quotient:
        return Quotient(
            self.ring,
            self.ring.raised(self.numerator, exponent),
            {n: e * exponent for n, e in self.denominator.items()} if exponent else {},
        )

    def inverse(self) -> Quotient:
        """1 / self; monomial factors of the numerator become factors of their own."""
        ring, numerator = self.ring, self.numerator
        if numerator.is_zero():
            raise Undefined("division by zero")
        denominator: Denominator = {}
        if numerator.is_constant():
            scale = numerator.leading_coefficient()
        else:
            exponents = list(map(min, zip(*numerator.monoms(), strict=True)))
            if any(exponents):
                numerator = numerator / ring.context.from_dict({tuple(exponents): fmpq(1)})
                for g, e in enumerate(exponents):
                    if e:
                        denominator[ring.intern(ring.generators[g])] = int(e)
            scale = numerator.leading_coefficient()
            if not numerator.is_constant():
                number = ring.intern(numerator / scale)
                denominator[number] = denominator.get(number, 0) + 1
        upper = ring.constant(1 / scale)
        lower = dict(denominator)
        for number, exponent in self.denominator.items():
            shared = min(exponent, lower.get(number, 0))
            if shared:
                lower[number] -= shared
                if not lower[number]:
                    del lower[number]
            if exponent > shared:
                upper = ring.product(upper, ring.power(number, exponent - shared))
        return Quotient(ring, upper, lower)


def _lifted(ring: Ring, numerator: Any, own: Denominator, common: Denominator) -> Any:
    for number, exponent in common.items():
        missing = exponent - own.get(number, 0)
        if missing:
            numerator = ring.product(numerator, ring.power(number, missing))
    return numerator


def _simplest(ring: Ring, numerator: Any, denominator: Denominator) -> Quotient:
    # A numerator that has become one of the factors is cancelled: Σ_i e^{z_i} over itself is the common case.
    if denominator and len(numerator) > 0:
        for number, exponent in denominator.items():
            factor = ring.factors[number]
            if len(factor) == len(numerator) and not numerator.is_constant():
                scale = numerator.leading_coefficient()
                if numerator == factor * scale:
                    lower = {n: e for n, e in denominator.items() if n != number}
                    if exponent > 1:
                        lower[number] = exponent - 1
                    return Quotient(ring, ring.constant(scale), lower)
    return Quotient(ring, numerator, denominator)


def polynomial_key(polynomial: Any) -> Key:
    """What identifies a polynomial, as something that can be hashed."""
    return tuple((monomial_key(exponents), coefficient) for exponents, coefficient in polynomial.terms())


def monomial_key(exponents: Any) -> Key:
    """The generators of a monomial with their exponents."""
    return tuple((g, int(e)) for g, e in enumerate(exponents) if e)
