"""Special functions in the second path: values and slopes against mpmath, domains, and wrong claims refuted."""

import mpmath
import pytest
import sympy as sp
from flint import arb

from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.checking.fields import BallField, Undecided, Undefined, working_precision
from lemmata.symbolic.checking.points import Point
from lemmata.symbolic.checking.special_functions import ARGUMENTS, BALL, DERIVATIVES, PRIMITIVE
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.nodes import PartialDerivative, Tensor
from lemmata.symbolic.language.operations import OPERATIONS

mp = mpmath.mp
DIGITS = 50

# name: (the function in mpmath, arguments at which it is compared)
REFERENCE = {
    "erfi": (mp.erfi, [("0.7",), ("-2.25",)]),
    "erfinv": (mp.erfinv, [("0.3",), ("-0.95",)]),
    "fresnels": (mp.fresnels, [("0.7",), ("-3.5",)]),
    "fresnelc": (mp.fresnelc, [("0.7",), ("-3.5",)]),
    "owens_t": (lambda h, a: mp.quad(lambda t: mp.exp(-(h**2) * (1 + t**2) / 2) / (1 + t**2), [0, a]) / (2 * mp.pi),
                [("0.7", "1.5"), ("-1.25", "-0.4")]),
    "gamma": (mp.gamma, [("0.7",), ("4.25",), ("-1.5",)]),
    "digamma": (lambda x: mp.psi(0, x), [("0.7",), ("-1.5",)]),
    "trigamma": (lambda x: mp.psi(1, x), [("0.7",), ("-1.5",)]),
    "polygamma": (lambda n, x: mp.psi(int(n), x), [("2", "0.7"), ("5", "3.25")]),
    "lowergamma": (lambda a, x: mp.gammainc(a, 0, x), [("0.7", "1.5"), ("3.25", "0.4")]),
    "uppergamma": (mp.gammainc, [("0.7", "1.5"), ("3.25", "0.4"), ("-0.5", "0.8")]),
    "betainc": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), [("0.7", "2.5", "0.3"), ("3", "0.4", "0.9")]),
    "zeta": (mp.zeta, [("2.5", "0.7"), ("3", "4.25")]),
    "expi": (mp.ei, [("0.7",), ("-1.5",)]),
    "expint": (mp.expint, [("1", "0.7"), ("3", "2.5"), ("0.5", "0.4")]),
    "sinint": (mp.si, [("0.7",), ("-1.5",)]),
    "cosint": (mp.ci, [("0.7",), ("5.5",)]),
    "sinhint": (mp.shi, [("0.7",), ("-1.5",)]),
    "coshint": (mp.chi, [("0.7",), ("2.5",)]),
    "polylog": (mp.polylog, [("2", "0.7"), ("2", "-3.5"), ("3", "0.4")]),
    "lambertw": (mp.lambertw, [("0.7",), ("-0.3",), ("12.5",)]),
    "ellipk": (mp.ellipk, [("0.7",), ("-1.5",)]),
    "ellipe": (mp.ellipe, [("0.7",), ("-1.5",)]),
    "besselj": (mp.besselj, [("0", "0.7"), ("2", "-3.5"), ("2.5", "1.25")]),
    "bessely": (mp.bessely, [("0", "0.7"), ("2", "3.5"), ("2.5", "1.25")]),
    "besseli": (mp.besseli, [("0", "0.7"), ("3", "-3.5"), ("2.5", "1.25")]),
    "besselk": (mp.besselk, [("0", "0.7"), ("2", "3.5"), ("2.5", "1.25")]),
    "airyai": (mp.airyai, [("0.7",), ("-3.5",)]),
    "airyaiprime": (lambda x: mp.airyai(x, derivative=1), [("0.7",), ("-3.5",)]),
    "airybi": (mp.airybi, [("0.7",), ("-3.5",)]),
    "airybiprime": (lambda x: mp.airybi(x, derivative=1), [("0.7",), ("-3.5",)]),
    "arctan2": (mp.atan2, [("0.7", "1.5"), ("0.7", "-1.5"), ("-0.7", "-1.5")]),
    "floor": (mp.floor, [("0.7",), ("-1.5",)]),
    "ceil": (mp.ceil, [("0.7",), ("-1.5",)]),
}  # fmt: skip
CASES = [(name, at) for name, (_, points) in REFERENCE.items() for at in points]


def field() -> BallField:
    return BallField(Point({}, {}))


def number(value: arb) -> mpmath.mpf:
    return mp.mpf(value.str(DIGITS + 10, radius=False))


def test_every_function_has_a_reference():
    assert set(REFERENCE) == set(BALL) >= set(PRIMITIVE.values())
    assert {name for name, (_, points) in REFERENCE.items() if len(points[0]) > 1} == set(ARGUMENTS)
    assert all(
        len(points[0]) == OPERATIONS[name].arity == ARGUMENTS.get(name, 1) for name, (_, points) in REFERENCE.items()
    )


@pytest.mark.parametrize(("name", "at"), CASES)
def test_value_is_that_of_mpmath(name, at):
    with mpmath.workdps(DIGITS), working_precision(220):
        expected = mp.re(REFERENCE[name][0](*map(mp.mpf, at)))
        got = number(field().function(name, *map(arb, at)))
        assert abs(got - expected) <= mp.mpf(10) ** (10 - DIGITS) * (1 + abs(expected))


@pytest.mark.parametrize(("name", "at"), [c for c in CASES if c[0] in DERIVATIVES])
def test_slopes_are_limits_of_differences(name, at):
    function = REFERENCE[name][0]
    with mpmath.workdps(DIGITS), working_precision(220):
        numbers = tuple(map(mp.mpf, at))
        f, arguments = field(), tuple(map(arb, at))
        value = f.function(name, *arguments)
        for n, rule in enumerate(DERIVATIVES[name]):
            if rule is None:
                continue
            step = mp.mpf(10) ** -15
            ahead, behind = (function(*(v + (k == n) * h for k, v in enumerate(numbers))) for h in (step, -step))
            expected, got = mp.re(ahead - behind) / (2 * step), number(rule(f, arguments, value))
            close = lambda slope: abs(slope - expected) <= mp.mpf(10) ** -20 * (1 + abs(expected))  # noqa: B023, E731
            assert close(got)
            assert not expected or (not close(-got) and not close(got * mp.mpf("1.0009")))


def test_the_two_tables_have_rules_for_the_same_arguments():
    """Written apart, but neither may know a derivative that the other refuses."""
    for name, rules in DERIVATIVES.items():
        assert [r is None for r in rules] == [d is None for d in OPERATIONS[name].derivatives], name


OUTSIDE = [
    ("erfinv", ("1.5",)),
    ("gamma", ("-2",)),
    ("digamma", ("0",)),
    ("polygamma", ("1.5", "2")),
    ("lowergamma", ("-1.5", "2")),
    ("uppergamma", ("1.5", "-2")),
    ("betainc", ("1.5", "2", "1.5")),
    ("zeta", ("1", "2")),
    ("expi", ("0",)),
    ("expint", ("1", "-1")),
    ("cosint", ("-1",)),
    ("polylog", ("2", "1.5")),
    ("lambertw", ("-0.5",)),
    ("ellipk", ("1.5",)),
    ("besselj", ("0.5", "-1")),
    ("bessely", ("1", "0")),
    ("besselk", ("1", "-1")),
]


@pytest.mark.parametrize(("name", "at"), OUTSIDE)
def test_outside_of_the_domain_there_is_no_value(name, at):
    with working_precision(128), pytest.raises(Undefined):
        field().function(name, *map(arb, at))


def test_a_ball_over_a_jump_is_undecided_and_a_jump_is_a_tie():
    with working_precision(128):
        f = field()
        with pytest.raises(Undecided):
            f.function("floor", arb(2, 1e-6))
        with pytest.raises(Undecided):
            f.function("arctan2", arb(0, 1e-6), arb(-1))
        assert not f.tie
        assert f.function("floor", arb(2)) == 2
        assert f.tie


x, p, n = Tensor("x"), Tensor("p", (), "positive"), Tensor("n", (), "(0.5,3)")
D = PartialDerivative
RIGHT = {
    "bessel": (D(sp.besselj(n, p), p), n / p * sp.besselj(n, p) - sp.besselj(n + 1, p)),
    "second derivative": (D(D(sp.airyai(x), x), x), x * sp.airyai(x)),
    "incomplete gamma": (D(sp.lowergamma(n, p) / sp.gamma(n), p), p ** (n - 1) * sp.exp(-p) / sp.gamma(n)),
    "lambert": (D(sp.LambertW(p), p), 1 / (p + sp.exp(sp.LambertW(p)))),
    "mod": (D(x - p * sp.floor(x / p), p), -sp.floor(x / p)),
    "atan2": (D(sp.atan2(x, p), x), p / (p**2 + x**2)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_and_wrong_claims(name):
    left, right = RIGHT[name]
    assert check_equal(left, right).equal is True
    assert check_equal(left, -right).equal is False
    assert check_equal(left, right * sp.Rational(10009, 10000)).equal is False
    assert check_equal(left, right + sp.Rational(1, 10**6)).equal is False


def test_derivative_by_an_order_is_refused():
    refused = ((sp.besselj(n, p), n), (sp.besselk(p, p), p), (sp.uppergamma(n, p), n), (sp.zeta(n + 2, p), n))
    for expression, variable in refused:
        with pytest.raises(UnsupportedError, match=r"no derivative of .* by its argument 1"):
            check_equal(D(expression, variable), sp.S.Zero)
