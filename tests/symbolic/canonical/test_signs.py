"""Signs that follow from domains: quotients and products are known, and nothing is said that a point contradicts."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import lemmata as lm
import lemmata.symbolic.calculus
from lemmata.symbolic.canonical import signs
from lemmata.symbolic.canonical.conditions import conditions
from lemmata.symbolic.canonical.context import TooLarge, Undefined
from lemmata.symbolic.canonical.equality import context_for
from lemmata.symbolic.language.nodes import Tensor

P, Q = Tensor("p", (), "(0,1)"), Tensor("q", (), "(0,1)")
X, T, U, R = Tensor("x", (), "positive"), Tensor("t", (), "(-1,1)"), Tensor("u", (), "nonnegative"), Tensor("r", ())
Value = Callable[[dict[sp.Expr, Fraction]], Fraction]
MEANS = {"+": lambda v: v > 0, "-": lambda v: v < 0, "0+": lambda v: v >= 0, "0-": lambda v: v <= 0,
         "!": lambda v: v != 0, "?": lambda v: True}

KNOWN = [
    (P / (1 - P), "+"), ((1 - P) / P, "+"), ((P - 1) / P, "-"), (P / (P - 1), "-"), (P * (1 - P), "+"),
    (P * Q / ((1 - P) * (1 - Q)), "+"), ((1 - P) * Q / (P * (1 - Q)), "+"), (P / (1 - P) ** 2, "+"),
    (P / (P - 1) ** 3, "-"), ((1 + T) / (1 - T), "+"), (1 / (1 - P) - 1, "+"), (U * (1 - P) / Q, "0+"),
    (U / (P - 1), "0-"), (P / (1 - 2 * P), "?"), (P / (1 - P) - 1, "?"), (R / (1 - P), "?"), (R**2 / (1 - P), "0+"),
]


@pytest.mark.parametrize(("expression", "sign"), KNOWN)
def test_the_sign_of_a_quotient_follows_from_the_domains(expression: sp.Expr, sign: str) -> None:
    reader = context_for()
    assert signs.sign_by_factors(reader.ctx, reader.read(expression)) == sign


@pytest.mark.parametrize(("expression", "sign"), KNOWN)
def test_a_logarithm_asks_for_what_does_not_follow(expression: sp.Expr, sign: str) -> None:
    assert bool(conditions(context_for(), sp.log(expression))) == (sign != "+")


def test_the_verdict_says_no_condition_that_the_domain_gives() -> None:
    p = lm.array("p", "", domain="(0,1)")
    verdict = lm.prove(lm.log(p / (1 - p)), lm.log(p) - lm.log(1 - p)).verdict
    assert (verdict.verdict, verdict.conditions) == ("proved", ())
    wide = lm.array("p", "", domain="(0,2)")
    derived = lm.gradient(lm.log(wide / (1 - wide)), wrt=wide).verdict
    assert derived.conditions or derived.verdict != "proved"


def linear(rng: random.Random) -> tuple[sp.Expr, Value]:
    """a + b·s, or a product of two such, for symbols of every domain."""
    s, a, b = rng.choice([P, Q, X, T, U, R]), rng.choice([-2, -1, 0, 1, 1, 2]), rng.choice([-2, -1, 1, 1])
    return a + b * s, lambda at: a + b * at[s]


def rational(rng: random.Random, depth: int) -> tuple[sp.Expr, Value]:
    if depth == 0:
        return linear(rng)
    (e, f), (g, h) = rational(rng, depth - 1), rational(rng, rng.randrange(depth))
    match rng.choice(["*", "/", "/", "+", "-", "**"]):
        case "*":
            return e * g, lambda at: f(at) * h(at)
        case "/":
            return e / g, lambda at: f(at) / h(at)
        case "+":
            return e + g, lambda at: f(at) + h(at)
        case "-":
            return e - g, lambda at: f(at) - h(at)
    n = rng.choice([-2, 2, 3])
    return e**n, lambda at: f(at) ** n


def point(rng: random.Random) -> dict[sp.Expr, Fraction]:
    unit = lambda: Fraction(rng.choice([1, 10**6 - 1, 10**5, 5 * 10**5, rng.randrange(1, 10**6)]), 10**6)  # noqa: E731
    return {P: unit(), Q: unit(), X: unit() * rng.choice([1, 10, 10**6]), T: 2 * unit() - 1,
            U: rng.choice([Fraction(0), unit(), 100 * unit()]), R: rng.choice([-1, 1, 50, 0]) * unit()}


@settings(max_examples=400)
@given(st.integers(0, 2**32 - 1))
def test_no_sign_is_claimed_that_a_point_contradicts(seed: int) -> None:
    rng = random.Random(seed)
    try:
        expression, value = rational(rng, 3)
        assume(not expression.has(sp.zoo, sp.nan, sp.oo))
        reader = context_for()
        p = reader.read(expression)
        claims = signs.poly_sign(reader.ctx, p), signs.sign_by_factors(reader.ctx, p)
    except (Undefined, TooLarge, ZeroDivisionError):
        assume(False)
        raise
    note(f"{expression}: {claims}")
    for _ in range(40):
        at = point(rng)
        try:
            found = value(at)
        except ZeroDivisionError:
            continue
        for claim in claims:
            assert MEANS[claim](found), f"{expression} is said to be {claim}, and is {found} at {at}"


def test_the_points_see_a_denominator_that_is_not_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs, "_TURNED", {})
    with pytest.raises(AssertionError, match="is said to be"):
        test_no_sign_is_claimed_that_a_point_contradicts()


def test_a_hypothesis_that_is_known_already_changes_nothing() -> None:
    z, y = lm.array("z", "K"), lm.array("y", "K", domain="simplex")
    for known in (lm.sum(y), lm.sum(lm.softmax(z))):
        found = lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(known, 1)])
        assert found.verdict.verdict == "proved"
    assert lm.gradient(lm.sum(y * z), wrt=z, given=[lm.equal(lm.sum(y), 2)]).verdict.verdict != "proved"
