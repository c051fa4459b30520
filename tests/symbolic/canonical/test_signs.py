"""Signs that follow from domains: quotients and products are known, and nothing is said that a point contradicts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import lemmata as lm
import lemmata.symbolic.calculus
from lemmata.symbolic.canonical import intervals, signs
from lemmata.symbolic.canonical.conditions import conditions
from lemmata.symbolic.canonical.context import Context, TooLarge, Undefined
from lemmata.symbolic.canonical.equality import context_for, holds
from lemmata.symbolic.canonical.terms import Poly, add
from lemmata.symbolic.language import vocabulary
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import IndexSum, Tensor

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


# ---------------------------------------------------------------------- sums against their terms, ends of intervals
K = lm.size("K")
SUMMANDS = {
    "exp(z_j)": (lambda j: sp.exp(ARRAYS["z"][j]), lambda at, j: math.exp(at["z"][j])),
    "u_j": (lambda j: ARRAYS["u"][j], lambda at, j: at["u"][j]),
    "u_j exp(z_j)": (lambda j: ARRAYS["u"][j] * sp.exp(ARRAYS["z"][j]),
                     lambda at, j: at["u"][j] * math.exp(at["z"][j])),
    "z_j": (lambda j: ARRAYS["z"][j], lambda at, j: at["z"][j]),
    "y_j": (lambda j: ARRAYS["y"][j], lambda at, j: at["y"][j]),
    "1": (lambda j: sp.Integer(1), lambda at, j: 1.0),
}
ARRAYS = {"z": Tensor("z", (K,)), "u": Tensor("u", (K,), "nonnegative"), "y": Tensor("y", (K,), "[0,1]"),
          "t": Tensor("t", (), "(-1,1)")}
I, J = index("i", K), index("j", K)
PLACES = [(I, lambda i, k: i), (K - 1 - I, lambda i, k: k - 1 - i), (sp.Integer(0), lambda i, k: 0)]


def bounded(rng: random.Random) -> tuple[sp.Expr, Callable[[dict, int, int], float]]:
    """Sums, single terms of them, and scalars between two ends, added up and divided."""
    terms = []
    usual = rng.choice(list(SUMMANDS.values()))
    for _ in range(rng.randrange(1, 6)):
        c = rng.choice([-2, -1, -1, 1, 1, 2])
        write, value = usual if rng.random() < 0.8 else rng.choice(list(SUMMANDS.values()))
        place, at_place = rng.choice(PLACES)
        kind = rng.choice(["sum", "term", "term", "affine"])
        if kind == "sum":
            terms.append((c * IndexSum(write(J), J), lambda at, i, k, c=c, value=value: c * sum(
                value(at, j) for j in range(k))))
        elif kind == "term":
            terms.append((c * write(place), lambda at, i, k, c=c, value=value, p=at_place: c * value(at, p(i, k))))
        else:
            y, t = ARRAYS["y"][I], ARRAYS["t"]
            terms.append((c * (1 + t * y), lambda at, i, k, c=c: c * (1 + at["t"] * at["y"][i])))
    expression, parts = sp.Add(*(e for e, _ in terms)), [f for _, f in terms]
    total = lambda at, i, k: sum(f(at, i, k) for f in parts)  # noqa: E731
    if rng.random() < 0.4:
        positive = IndexSum(sp.exp(ARRAYS["z"][J]), J)
        return expression / positive, lambda at, i, k: total(at, i, k) / sum(map(math.exp, at["z"]))
    return expression, total


@settings(max_examples=400)
@given(st.integers(0, 2**32 - 1))
def test_no_bound_is_claimed_that_a_point_contradicts(seed: int) -> None:
    rng = random.Random(seed)
    expression, value = bounded(rng)
    reader = context_for()
    claim = signs.sign_by_factors(reader.ctx, reader.read(expression))
    note(f"{expression}: {claim}")
    for _ in range(60):
        k = rng.randrange(1, 4)
        near = lambda: rng.choice([0.0, 0.0, 1.0, 1e-3, 0.5, rng.random()])  # noqa: E731
        at = {"z": [rng.choice([-9.0, 0.0, 5.0, rng.gauss(0, 2)]) for _ in range(k)],
              "u": [near() * rng.choice([1, 20]) for _ in range(k)], "y": [near() for _ in range(k)],
              "t": rng.choice([-0.999999, 0.999999, 0.0, rng.uniform(-1, 1)])}
        found = value(at, rng.randrange(k), k)
        if abs(found) > 1e-9:  # rounding: a value that is 0 may come out as 1e-17
            assert MEANS[claim](found), f"{expression} is said to be {claim}, and is {found} at {at}"


def test_bounds_that_are_known() -> None:
    z = IndexSum(sp.exp(ARRAYS["z"][J]), J)
    y, t = ARRAYS["y"][I], ARRAYS["t"]
    for expression, sign in [
        (1 - sp.exp(ARRAYS["z"][I]) / z, "0+"), (sp.exp(ARRAYS["z"][K - 1 - I]) / z - 1, "0-"),
        (1 + t * y, "+"), (t * y - 1, "-"), (1 - 2 * sp.exp(ARRAYS["z"][I]) / z, "?"), (1 + 2 * t * y, "?"),
        (IndexSum(ARRAYS["u"][J], J) - ARRAYS["u"][I], "0+"), (IndexSum(ARRAYS["z"][J], J) - ARRAYS["z"][I], "?"),
        (IndexSum(ARRAYS["u"][J], J) - ARRAYS["u"][I] - ARRAYS["u"][K - 1 - I], "?"),
    ]:
        reader = context_for()
        assert signs.sign_by_factors(reader.ctx, reader.read(expression)) == sign, expression


@pytest.mark.parametrize("shape", ["1", "N,1", "1,1"])
def test_what_is_equal_is_neither_above_nor_below(shape: str) -> None:
    """A softmax over one class is 1, and its bound is reached."""
    p = vocabulary.softmax(array("z", shape)).body
    assert [holds(p >= 1), holds(p <= 1)] == [True, True]
    assert [holds(p > 1), holds(p < 1), holds(sp.Ne(p, 1))] == [False, False, False]


def test_the_points_see_a_sum_that_pays_for_its_terms_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    right = intervals._without_terms_of_sums

    def wrong(ctx: Context, p: Poly) -> Poly:
        found = right(ctx, p)
        gone = {m: c for m, c in p.terms.items() if c > 0 and m not in found.terms}
        kept = {m: c for m, c in gone.items() if any(a.kind == "sum" for a, _ in m)}
        return wrong(ctx, add(found, Poly(kept))) if kept else found

    monkeypatch.setattr(intervals, "_without_terms_of_sums", wrong)
    with pytest.raises(AssertionError, match="is said to be"):
        test_no_bound_is_claimed_that_a_point_contradicts()


def test_the_points_see_one_end_that_stands_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    right = intervals._at_ends
    monkeypatch.setattr(intervals, "_at_ends", lambda p, a: (right(p, a) or [])[:1] * 2 or None)
    with pytest.raises(AssertionError, match="is said to be"):
        test_no_bound_is_claimed_that_a_point_contradicts()


def test_a_hypothesis_that_is_known_already_changes_nothing() -> None:
    z, y = lm.array("z", "K"), lm.array("y", "K", domain="simplex")
    for known in (lm.sum(y), lm.sum(lm.softmax(z))):
        found = lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(known, 1)])
        assert found.verdict.verdict == "proved"
    assert lm.gradient(lm.sum(y * z), wrt=z, given=[lm.equal(lm.sum(y), 2)]).verdict.verdict != "proved"
