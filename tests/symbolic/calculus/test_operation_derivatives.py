"""The derivative of every operation in the table, against differences of a primal in mpmath with 40 digits.

The loop runs over the table: an operation that is added without a primal here fails, so none goes untested.
"""

import mpmath
import pytest
import sympy as sp

from lemmata.symbolic.calculus import differentiate
from lemmata.symbolic.calculus.rules import RULES
from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta
from lemmata.symbolic.language.operations import OPERATIONS, digamma, trigamma
from lemmata.symbolic.language.special_operations import betainc, owens_t, polylog

mp = mpmath.mp
DIGITS = 40

# name: (primal, points away from kinks)
REAL = ("-3.7", "-1.25", "-0.3", "0.2", "0.9", "2.6")
POSITIVE = ("0.05", "0.7", "1.9", "12.5")
UNIT = ("-0.95", "-0.4", "0.1", "0.8")
PRIMALS = {
    "exp": (mp.exp, REAL), "log": (mp.log, POSITIVE),
    "sin": (mp.sin, REAL), "cos": (mp.cos, REAL), "tan": (mp.tan, REAL),
    "sinh": (mp.sinh, REAL), "cosh": (mp.cosh, REAL), "tanh": (mp.tanh, REAL), "arctan": (mp.atan, REAL),
    "arcsin": (mp.asin, UNIT), "arccos": (mp.acos, UNIT), "arcsinh": (mp.asinh, REAL),
    "arccosh": (mp.acosh, ("1.05", "2.5", "9")),
    "arctanh": (mp.atanh, UNIT), "erf": (mp.erf, REAL), "gammaln": (mp.loggamma, POSITIVE),
    "digamma": (lambda x: mp.psi(0, x), POSITIVE), "trigamma": (lambda x: mp.psi(1, x), POSITIVE),
    "abs": (abs, REAL), "sign": (mp.sign, REAL),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), REAL),
    "softplus": (lambda x: mp.log(1 + mp.exp(x)), REAL),
    "log_sigmoid": (lambda x: -mp.log(1 + mp.exp(-x)), REAL),
    "relu": (lambda x: max(x, mp.mpf(0)), REAL),
    "gelu": (lambda x: x * mp.ncdf(x), REAL),
    "gelu_tanh": (lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3))), REAL),
    "silu": (lambda x: x / (1 + mp.exp(-x)), REAL),
    "mish": (lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))), REAL),
    "elu": (lambda x: x if x > 0 else mp.exp(x) - 1, REAL),
    # of several arguments: the primal at the example values of those before the last
    "erfc": (mp.erfc, REAL), "erfi": (mp.erfi, REAL), "erfinv": (mp.erfinv, UNIT),
    "fresnels": (mp.fresnels, REAL), "fresnelc": (mp.fresnelc, REAL),
    "owens_t": (lambda a: mp.quad(lambda t: mp.exp(-(1 + t**2) / 8) / (1 + t**2), [0, a]) / (2 * mp.pi), REAL),
    "gamma": (mp.gamma, POSITIVE), "polygamma": (lambda x: mp.psi(3, x), POSITIVE),
    "lowergamma": (lambda x: mp.gammainc(mp.mpf(7) / 3, 0, x), POSITIVE),
    "uppergamma": (lambda x: mp.gammainc(mp.mpf(7) / 3, x), POSITIVE),
    "betainc": (lambda x: mp.betainc(mp.mpf(3) / 2, mp.mpf(7) / 3, 0, x, regularized=True), ("0.05", "0.4", "0.9")),
    "zeta": (lambda q: mp.zeta(mp.mpf(5) / 2, q), POSITIVE),
    "expi": (mp.ei, REAL), "expint": (lambda x: mp.expint(2, x), POSITIVE),
    "polylog": (lambda z: mp.polylog(2, z).real, ("-3.5", "-0.6", "0.3", "0.9")),
    "lambertw": (lambda x: mp.lambertw(x).real, ("-0.3", "0.2", "5.5")),
    "ellipk": (mp.ellipk, ("-2.5", "-0.3", "0.2", "0.9")), "ellipe": (mp.ellipe, ("-2.5", "-0.3", "0.2", "0.9")),
    "besselj": (lambda x: mp.besselj(2, x), REAL), "bessely": (lambda x: mp.bessely(2, x), POSITIVE),
    "besseli": (lambda x: mp.besseli(2, x), REAL), "besselk": (lambda x: mp.besselk(2, x), POSITIVE),
    "airyai": (mp.airyai, REAL), "airyaiprime": (lambda x: mp.airyai(x, derivative=1), REAL),
    "airybi": (mp.airybi, REAL), "airybiprime": (lambda x: mp.airybi(x, derivative=1), REAL),
    "arctan2": (lambda x: mp.atan2(mp.mpf(3) / 10, x), REAL),
    "sinint": (mp.si, REAL), "cosint": (mp.ci, POSITIVE), "sinhint": (mp.shi, REAL), "coshint": (mp.chi, POSITIVE),
    "floor": (mp.floor, REAL), "ceil": (mp.ceil, REAL),
}  # fmt: skip
DIFFERENTIABLE = [n for n, row in OPERATIONS.items() if row.derivative is not None or row.definition is not None]


def scalar(name: str) -> sp.Expr:
    domain = OPERATIONS[name].domain
    return array("x", "", domain).body


def value(expression: sp.Expr, x: sp.Expr, at: str) -> mpmath.mpf:
    """An expression in the scalar x at a point, by SymPy's evalf; polygamma stands for the names that SymPy lacks."""
    plain = expression.replace(digamma, lambda u: sp.polygamma(0, u)).replace(trigamma, lambda u: sp.polygamma(1, u))
    plain = plain.replace(owens_t, lambda h, a: owen(h, a)).replace(polylog, sp.polylog)
    plain = plain.replace(betainc, lambda a, b, u: sp.betainc_regularized(a, b, 0, u))
    plain = at_sizes(plain)
    found = sp.sympify(plain).subs({s: sp.Rational(at) for s in plain.free_symbols})
    return mpmath.mpf(str(found.evalf(DIGITS)))


def owen(h: sp.Expr, a: sp.Expr) -> sp.Expr:
    """Owen's T as the integral that defines it."""
    t = sp.Dummy("t")
    return sp.Integral(sp.exp(-(h**2) * (1 + t**2) / 2) / (1 + t**2), (t, 0, a)) / (2 * sp.pi)


def close(left, right, digits=18) -> bool:
    return abs(left - right) <= mpmath.mpf(10) ** -digits * (1 + abs(right))


def test_every_operation_has_a_primal_here():
    assert set(OPERATIONS) == set(PRIMALS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_function_and_definition_are_the_primal(name):
    row, (primal, points) = OPERATIONS[name], PRIMALS[name]
    x = scalar(name)
    with mpmath.workdps(DIGITS):
        for at in points:
            expected = primal(mpmath.mpf(at))
            assert close(value(row.example(x), x, at), expected)
            if row.definition is not None:
                assert close(value(row.definition(*row.example(x).args), x, at), expected)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivative_is_the_limit_of_differences(name):
    row, (primal, points) = OPERATIONS[name], PRIMALS[name]
    x = scalar(name)
    derivative = differentiate(row.example(x), x)
    with mpmath.workdps(DIGITS):
        for at in points:
            expected = mpmath.diff(primal, mpmath.mpf(at), h=mpmath.mpf(10) ** -12, relative=False)
            got = value(derivative, x, at)
            assert close(got, expected, 11), (at, got, expected)
            if expected:  # the check has teeth
                assert not close(-got, expected, 11)
                assert not close(got * mpmath.mpf("1.0009"), expected, 11)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_chain_rule_through_an_array(name):
    row = OPERATIONS[name]
    u = array("u", "K", row.domain)
    i, k = index("i", "K"), index("k", "K")
    whole = row.example(u.element(i))
    got = differentiate(whole, u.element(k))
    expected = row.derivative(*whole.args) if row.derivative else differentiate(row.definition(*whole.args),
                                                                                u.element(i))
    assert got == expected * Delta(i, k) or equal(got, expected * Delta(i, k)).equal


OURS = [n for n in DIFFERENTIABLE if OPERATIONS[n].function.__module__ == OPERATIONS["sigmoid"].function.__module__]


@pytest.mark.parametrize("name", OURS)
def test_sympys_diff_of_a_named_function(name):
    u, i, k = array("u", "K", OPERATIONS[name].domain), index("i", "K"), index("k", "K")
    named = OPERATIONS[name].example(u.element(i))
    assert equal(named.diff(u.element(k)), differentiate(named, u.element(k))).equal


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_derivative_is_a_rule(name):
    row = OPERATIONS[name]
    key = row.rule_name if row.derivative is not None else f"expand_{name}"
    assert key in RULES
    assert RULES[key].why
    assert row.source


def test_every_operation_is_differentiable_by_its_last_argument():
    assert set(DIFFERENTIABLE) == set(OPERATIONS)


ORDERS = [(name, n) for name, row in OPERATIONS.items() for n, rule in enumerate(row.derivatives) if rule is None
          and row.definition is None]


@pytest.mark.parametrize(("name", "position"), ORDERS)
def test_a_derivative_by_an_order_is_refused_and_never_zero(name, position):
    row = OPERATIONS[name]
    x, u = array("x", "", row.domain).body, array("u", "", row.domains[position]).body
    arguments = [p.example for p in row.parameters]
    arguments[position] = u
    with pytest.raises(UnsupportedError, match=f"{name} has no derivative rule by its argument {position + 1}"):
        differentiate(row.function(*arguments, x), u)


BY_PARAMETERS = [(name, n) for name, row in OPERATIONS.items() for n, p in enumerate(row.parameters)
                 if p.derivative is not None]


@pytest.mark.parametrize(("name", "position"), BY_PARAMETERS)
def test_derivative_by_an_argument_before_the_last(name, position):
    row = OPERATIONS[name]
    u, last = array("u", "", row.domains[position]).body, sp.Rational(7, 10)
    arguments = [p.example for p in row.parameters]
    arguments[position] = u
    whole = row.function(*arguments, last)
    derivative = differentiate(whole, u)
    step = mpmath.mpf(10) ** -10
    with mpmath.workdps(DIGITS):
        for at in ("0.21", "0.64"):
            ahead, behind = (value(whole, u, str(mpmath.mpf(at) + s)) for s in (step, -step))
            got, expected = value(derivative, u, at), (ahead - behind) / (2 * step)
            assert close(got, expected, 11)
            assert not close(-got, expected, 11)
            assert not close(got * mpmath.mpf("1.0009"), expected, 11)


@pytest.mark.parametrize("name", [n for n, row in OPERATIONS.items() if row.kinks])
def test_kinks_are_where_the_derivative_jumps_and_have_a_policy(name):
    row = OPERATIONS[name]
    x = sp.Symbol("x", real=True)
    assert row.kink_policy
    assert all(kink.subs(x, 0) == 0 for kink in row.kinks(x))
    primal = PRIMALS[name][0]
    left, right = (primal(mpmath.mpf(s) * 2) - primal(mpmath.mpf(s)) for s in ("-1e-9", "1e-9"))
    assert not close(-left, right, 15) or primal(mpmath.mpf("1e-9")) != primal(mpmath.mpf("-1e-9"))
