"""The exact field: rational functions of atoms; an atom is an input, or e^m, log f, a root, π, sin m, erf(...) of such.

An expression that is rational in its exponentials, logarithms and roots has one value here, and a difference that is
the zero polynomial is zero for *every* input at that size (where both sides have a value). What is used of the
functions: e^(a+b) = e^a e^b; log of a product is the sum of the logs of its factors, log e^a = a; r^q = f for the
q-th root r of f; sin² + cos² = 1 and angle addition. Atoms that are related in another way only make the field miss
an equality; they never make it find a false one.
"""

from __future__ import annotations

import math
from typing import Any

from flint import fmpq, fmpz

from ..language.nodes import Tensor
from .fields import BallField, Closure, Field, Inexact, Place, Undecided, Undefined, at
from .points import CONSTANT_DOMAINS
from .quotients import Key, Quotient, Ring, monomial_key, polynomial_key


class Restart(Exception):
    """Begin again: more generators are needed, or an atom such as e^(z/2) must replace e^z."""


class Demands:
    """What restarts have taught: the number of generators, and by what fraction an atom must be fine (e^(m/2): 2)."""

    def __init__(self) -> None:
        self.capacity = 24
        self.units: dict[Key, int] = {}


class AtomField(Field):
    """Rational functions of atoms at one size.

    With `generic`, every input is a generator (except those of finite domains, which are drawn); otherwise the inputs
    are the rational numbers of the point. `reference` is the same point in balls: it decides comparisons, so that the
    answer then holds on the region of that point.
    """

    def __init__(self, reference: BallField, generic: bool, demands: Demands, deadline: float) -> None:
        super().__init__(reference.point)
        self.reference, self.generic, self.demands = reference, generic, demands
        self.ring = Ring(demands.capacity, deadline)
        self.one, self.zero = self.constant(fmpq(1)), self.constant(fmpq(0))
        self.names: list[str] = []
        self.compared = False
        self._atoms: dict[Key, int] = {}
        self._positive: set[int] = set()
        self._log_of: dict[int, Any] = {}  # generator -> f, where it stands for log|f|
        self._exponent_of: dict[int, Quotient] = {}  # generator -> m, where it stands for e^m
        self._root_of: dict[int, tuple[Any, int]] = {}  # generator -> (f, q), where it stands for |f|^(1/q)
        self._relations: dict[int, tuple[int, Any]] = {}  # generator -> (q, r): its q-th power is r
        self._signs: dict[Key, int] = {}  # signs of polynomials that follow from a logarithm or root being defined

    # ------------------------------------------------------------------ atoms
    def _atom(self, key: Key, name: str, positive: bool = False) -> int:
        number = self._atoms.get(key)
        if number is None:
            number = len(self._atoms)
            if number >= self.ring.capacity:
                if self.ring.capacity > 150:
                    raise Inexact(f"more than {self.ring.capacity} atoms")
                self.demands.capacity *= 2
                raise Restart
            self._atoms[key] = number
            self.names.append(name)
            if positive:
                self._positive.add(number)
        return number

    def _generator(self, number: int, exponent: int = 1) -> Quotient:
        generator = self.ring.generators[number]
        if exponent >= 0:
            return Quotient(self.ring, generator**exponent, {})
        return Quotient(self.ring, self.ring.constant(fmpq(1)), {self.ring.intern(generator): -exponent})

    def _unit(self, key: Key, coefficient: fmpq) -> int:
        unit = self.demands.units.get(key, 1)
        if unit % int(coefficient.q):
            self.demands.units[key] = unit = math.lcm(unit, int(coefficient.q))
            if key in self._atoms:
                raise Restart
        return unit

    # ------------------------------------------------------------------ the field
    def constant(self, value: fmpq) -> Quotient:
        return Quotient(self.ring, self.ring.constant(value), {})

    def named(self, name: str) -> Quotient:
        if name == "pi":
            return self._generator(self._atom(("pi",), "π", positive=True))
        if name == "e":
            return self.exp(self.one)
        raise Inexact("infinity in exact arithmetic")

    def leaf(self, tensor: Tensor, place: Place) -> Quotient:
        domain = tensor.domain
        if not self.generic or domain.values or domain.integer or domain.name in CONSTANT_DOMAINS:
            return self.constant(self.point.value(tensor, place))
        if domain.symmetric and len(place) > 1 and place[-2] > place[-1]:
            return self.element(tensor, (*place[:-2], place[-1], place[-2]))
        if domain.rows_sum_to_one:
            last = self.point.shape(tensor)[-1] - 1 if place else 0
            if not place or place[-1] == last:
                total = self.one
                for n in range(last):
                    total = total - self.element(tensor, (*place[:-1], n))
                return total
        name = f"{tensor.name}_{''.join(map(str, place))}" if place else tensor.name
        return self._generator(self._atom(("leaf", tensor, place), name, domain.positive))

    def invert(self, x: Quotient) -> Quotient:
        if self._relations:
            x = Quotient(self.ring, self._reduced(x.numerator), x.denominator)
        return x.inverse()

    def is_zero(self, x: Quotient) -> bool:
        return x.numerator.is_zero()

    def vanishes(self, x: Quotient) -> bool:
        return self._reduced(x.numerator).is_zero()

    def compare(self, relation: str, left: Closure, right: Closure, env: dict[Any, Any]) -> bool:
        self.compared = True
        try:
            return self.reference.compare(relation, left, right, env)
        except Undecided:
            if self.vanishes(left(self, env) - right(self, env)):
                return relation in ("==", ">=", "<=")
            raise

    def largest(self, body: Closure, bound: Any, count: int, env: dict[Any, Any]) -> int:
        self.compared = True
        try:
            return self.reference.largest(body, bound, count, env)
        except Undecided:
            # Overlapping balls: the first place is right if it is among the largest and the others there
            # are equal to it.
            values = [at(body, self.reference, env, bound, n) for n in range(count)]
            top = max(values, key=lambda v: v.mid())
            tied = [n for n in range(count) if values[n].overlaps(top)]
            first = at(body, self, env, bound, tied[0])
            if all(self.vanishes(at(body, self, env, bound, n) - first) for n in tied[1:]):
                return tied[0]
            raise

    # ------------------------------------------------------------------ normal forms of values
    def _reduced(self, polynomial: Any) -> Any:
        """Powers of roots and of sines replaced by what they are."""
        if not self._relations or polynomial.is_constant():
            return polynomial
        for number in reversed(self._relations):
            q, replacement = self._relations[number]
            if polynomial.degrees()[number] < q:
                continue
            parts: dict[int, dict[Any, fmpq]] = {}
            for exponents, coefficient in polynomial.terms():
                e = int(exponents[number])
                kept = (*exponents[:number], e % q, *exponents[number + 1 :])
                parts.setdefault(e // q, {})[kept] = coefficient
            polynomial = self.ring.constant(fmpq(0))
            for power, terms in sorted(parts.items()):
                part = self.ring.context.from_dict(terms)
                polynomial = polynomial + (
                    self.ring.product(part, self.ring.raised(replacement, power)) if power else part
                )
        return self.ring.bounded(polynomial)

    def _lowest_terms(self, x: Quotient) -> tuple[Any, Any]:
        numerator = self._reduced(x.numerator)
        if not x.denominator or numerator.is_zero():
            return numerator, self.ring.constant(fmpq(1))
        denominator = self._reduced(self.ring.expanded(x.denominator))
        if len(numerator) * len(denominator) > 20_000:
            raise Inexact("a quotient too long to be brought to lowest terms")
        common = numerator.gcd(denominator)
        if not common.is_constant():
            numerator, denominator = numerator / common, denominator / common
        scale = denominator.leading_coefficient()
        return numerator / scale, denominator / scale

    def _factors(self, x: Quotient) -> tuple[fmpq, list[tuple[Any, int]]]:
        """x as a constant times powers of irreducible polynomials with positive leading coefficients."""
        numerator, denominator = self._lowest_terms(x)
        constant, found = fmpq(1), []
        for part, direction in ((numerator, 1), (denominator, -1)):
            if part.is_constant():
                constant *= part.leading_coefficient() ** direction
                continue
            if len(part) > 600:
                raise Inexact(f"a polynomial of {len(part)} terms to factor")
            scale, factors = part.factor()
            constant *= fmpq(scale) ** direction
            for factor, exponent in factors:
                exponent = int(exponent)
                if factor.leading_coefficient() < 0:
                    factor = -factor
                    constant *= (-1) ** exponent
                found.append((factor, direction * exponent))
        self._learn_sign(constant, found)
        return constant, found

    def _learn_sign(self, constant: fmpq, factors: list[tuple[Any, int]]) -> None:
        # The argument of a logarithm or root is > 0 where it has a value: one factor of unknown sign gets its
        # sign from that.
        sign, unknown = (1 if constant > 0 else -1), []
        for factor, exponent in factors:
            if exponent % 2:
                known = self._sign(factor)
                if known is None:
                    unknown.append(factor)
                else:
                    sign *= known
        if len(unknown) == 1:
            self._signs[polynomial_key(unknown[0])] = sign

    def _sign(self, polynomial: Any) -> int | None:
        known = self._signs.get(polynomial_key(polynomial))
        if known is not None:
            return known
        evident = all(c > 0 for c in polynomial.coeffs()) and all(
            e % 2 == 0 or g in self._positive for exponents in polynomial.monoms() for g, e in monomial_key(exponents)
        )
        return 1 if evident else None

    # ------------------------------------------------------------------ functions
    def function(self, name: str, x: Quotient, *more: Quotient) -> Quotient:
        from .functions import FUNCTIONS

        known = FUNCTIONS.get(name)
        return self.opaque(name, x, *more, odd=False) if known is None else known(self, x)

    def exp(self, x: Quotient) -> Quotient:
        """e^x, one atom a monomial."""
        numerator, denominator = self._lowest_terms(x)
        lower = None if denominator.is_constant() else polynomial_key(denominator)
        result = self.one
        for exponents, coefficient in numerator.terms():
            monomial = monomial_key(exponents)
            if lower is None and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0] in self._log_of:
                result = result * self.absolute_power(self._log_of[monomial[0][0]], coefficient)
                continue
            key = ("exp", monomial, lower)
            unit = self._unit(key, coefficient)
            number = self._atom(key, f"exp({self._text(monomial, unit)}{'/…' if lower else ''})", positive=True)
            if number not in self._exponent_of:
                term = Quotient(self.ring, self.ring.context.from_dict({tuple(exponents): fmpq(1, unit)}), {})
                if lower is not None:
                    term = term * Quotient(self.ring, denominator, {}).inverse()
                self._exponent_of[number] = term
            result = result * self._generator(number, int((coefficient * unit).p))
        return result

    def log(self, x: Quotient) -> Quotient:
        """log x, as the sum over the irreducible factors of x."""
        if x.numerator.is_zero():
            raise Undefined("log at 0")
        constant, factors = self._factors(x)
        if not factors and constant < 0:
            raise Undefined(f"log at {constant}")
        total = self.zero
        for prime, exponent in _primes(constant):
            total = total + self._log_atom(self.ring.constant(fmpq(prime))) * self.constant(fmpq(exponent))
        for factor, exponent in factors:
            total = total + self._log_absolute(factor) * self.constant(fmpq(exponent))
        return total

    def _log_absolute(self, factor: Any) -> Quotient:
        number = self._as_generator(factor)
        if number in self._exponent_of:
            return self._exponent_of[number]
        if number in self._root_of:
            inner, q = self._root_of[number]
            return self._log_absolute(inner) * self.constant(fmpq(1, q))
        return self._log_atom(factor)

    def _log_atom(self, factor: Any) -> Quotient:
        number = self._atom(("log", polynomial_key(factor)), f"log({self._polynomial_text(factor)})")
        self._log_of.setdefault(number, factor)
        return self._generator(number)

    def root(self, x: Quotient, power: fmpq) -> Quotient:
        if x.numerator.is_zero():
            if power < 0:
                raise Undefined(f"0 to the power {power}")
            return self.zero
        constant, factors = self._factors(x)
        if not factors and constant < 0:
            raise Undefined(f"the power {power} of {constant}")
        result = self.one
        for prime, exponent in _primes(constant):
            result = result * self.absolute_power(self.ring.constant(fmpq(prime)), exponent * power)
        for factor, exponent in factors:
            result = result * self.absolute_power(factor, exponent * power)
        return result

    def absolute_power(self, factor: Any, power: fmpq) -> Quotient:
        """|f|^power for an irreducible polynomial f whose sign is known where it matters."""
        number = self._as_generator(factor)
        if number in self._exponent_of:
            return self.exp(self._exponent_of[number] * self.constant(power))
        if number in self._root_of:
            inner, q = self._root_of[number]
            return self.absolute_power(inner, power / q)
        whole = int(power.floor())
        rest = power - whole
        sign = 1
        if whole % 2 or rest:
            known = self._sign(factor)
            if known is None:
                raise Inexact(f"the sign of {self._polynomial_text(factor)} is not known")
            sign = known
        positive = Quotient(self.ring, factor * sign, {})
        result = positive**whole if whole >= 0 else positive.inverse() ** -whole
        if not rest:
            return result
        key = ("root", polynomial_key(factor))
        q = self._unit(key, rest)
        atom = self._atom(key, f"({self._polynomial_text(factor)})^(1/{q})", positive=True)
        self._root_of.setdefault(atom, (factor, q))
        self._relations.setdefault(atom, (q, factor * sign))
        return result * self._generator(atom, int((rest * q).p))

    def rotation(self, x: Quotient) -> tuple[Quotient, Quotient]:
        """cos x and sin x by angle addition, one pair of atoms a monomial."""
        numerator, denominator = self._lowest_terms(x)
        lower = None if denominator.is_constant() else polynomial_key(denominator)
        pair = (self.one, self.zero)
        for exponents, coefficient in numerator.terms():
            monomial = monomial_key(exponents)
            turns = 2 * coefficient
            if lower is None and monomial == ((self._atoms.get(("pi",)), 1),) and turns.q == 1:
                quarter = [(self.one, self.zero), (self.zero, self.one), (-self.one, self.zero), (self.zero, -self.one)]
                pair = _turned(pair, quarter[int(turns.p) % 4])
                continue
            key = ("cos", monomial, lower)
            unit = self._unit(key, coefficient)
            text = self._text(monomial, unit) + ("/…" if lower else "")
            cosine = self._atom(key, f"cos({text})")
            sine = self._atom(("sin", monomial, lower), f"sin({text})")
            if sine not in self._relations:
                self._relations[sine] = (2, 1 - self.ring.generators[cosine] ** 2)
            n = int((coefficient * unit).p)
            step = (self._generator(cosine), self._generator(sine) if n > 0 else -self._generator(sine))
            if abs(n) > 64:
                raise Inexact(f"the {abs(n)}-fold angle")
            for _ in range(abs(n)):
                pair = _turned(pair, step)
        return pair

    def opaque(self, name: str, x: Quotient, *more: Quotient, odd: bool) -> Quotient:
        """f(x, ...) as an atom of its own, with f(-x) = -f(x) for odd functions of one argument."""
        numerator, denominator = self._lowest_terms(x)
        if odd and numerator.is_zero():
            return self.zero
        negate = odd and numerator.leading_coefficient() < 0
        if negate:
            numerator = -numerator
        others = [self._lowest_terms(y) for y in more]
        key = (name, polynomial_key(numerator), polynomial_key(denominator),
               *(polynomial_key(p) for pair in others for p in pair))
        text = ", ".join(self._polynomial_text(p) + ("" if q.is_constant() else "/…")
                         for p, q in [(numerator, denominator), *others])
        value = self._generator(self._atom(key, f"{name}({text})"))
        return -value if negate else value

    # ------------------------------------------------------------------ small helpers
    def _as_generator(self, factor: Any) -> int:
        if len(factor) == 1 and factor.total_degree() == 1:
            return monomial_key(factor.monoms()[0])[0][0]
        return -1

    def _text(self, monomial: Key, unit: int = 1) -> str:
        text = "*".join(self.names[g] + (f"^{e}" if e > 1 else "") for g, e in monomial) or "1"
        return text if unit == 1 else f"{text}/{unit}"

    def _polynomial_text(self, polynomial: Any) -> str:
        terms = [f"{'' if c == 1 and m else c}{self._text(m) if m else ''}" for m, c in polynomial_key(polynomial)[:4]]
        return " + ".join(terms) + (" + …" if len(polynomial) > 4 else "")


def _turned(pair: tuple[Quotient, Quotient], step: tuple[Quotient, Quotient]) -> tuple[Quotient, Quotient]:
    (c, s), (a, b) = pair, step
    return c * a - s * b, s * a + c * b


def _primes(constant: fmpq) -> list[tuple[int, int]]:
    found = []
    for number, direction in ((abs(constant.p), 1), (constant.q, -1)):
        if number > 10**30:
            raise Inexact("a number too large to factor")
        found += [(int(p), direction * int(e)) for p, e in fmpz(number).factor()] if number > 1 else []
    return found
