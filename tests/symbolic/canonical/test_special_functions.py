"""Special functions in the canonical form: derivatives, recurrences and reflections are shown, wrong variants never."""

import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.nodes import Indicator, PartialDerivative, Tensor
from lemmata.symbolic.language.operations import digamma, trigamma
from lemmata.symbolic.language.special_operations import betainc, owens_t, polylog

D = PartialDerivative
x, y = Tensor("x"), Tensor("y")
p, a, b, q = (Tensor(name, (), "positive") for name in "pabq")
z = Tensor("z", (), "nonzero")
u = Tensor("u", (), "(0,1)")
n = Tensor("n")
m = Tensor("m", (), "{0,1,2,3}")
s = Tensor("s", (), "(1.5,4)")
PI = sp.pi

EQUALITIES = {
    # Bessel functions
    "J0'": (D(sp.besselj(0, x), x), -sp.besselj(1, x)),
    "J1' everywhere": (D(sp.besselj(1, x), x), (sp.besselj(0, x) - sp.besselj(2, x)) / 2),
    "J1' away from 0": (D(sp.besselj(1, z), z), sp.besselj(0, z) - sp.besselj(1, z) / z),
    "x J1 at 0 as well": (D(x * sp.besselj(1, x), x), x * sp.besselj(0, x)),
    "x² I2 at 0 as well": (D(x**2 * sp.besseli(2, x), x), x**2 * sp.besseli(1, x)),
    "J of a symbolic order": (D(sp.besselj(n, p), p), n / p * sp.besselj(n, p) - sp.besselj(n + 1, p)),
    "J of an order below": (sp.besselj(n - 2, p), 2 * (n - 1) / p * sp.besselj(n - 1, p) - sp.besselj(n, p)),
    "Y of a symbolic order": (D(sp.bessely(n, p), p), sp.bessely(n - 1, p) - n / p * sp.bessely(n, p)),
    "I of a symbolic order": (D(sp.besseli(m, z), z), sp.besseli(m + 1, z) + m / z * sp.besseli(m, z)),
    "K of a symbolic order": (D(sp.besselk(n, p), p), -sp.besselk(n - 1, p) - n / p * sp.besselk(n, p)),
    "K is even in its order": (sp.besselk(1 - n, p), sp.besselk(n - 1, p)),
    "J of high order": (D(sp.besselj(7, z), z), sp.besselj(6, z) - 7 / z * sp.besselj(7, z)),
    "J at -x": (sp.besselj(3, -x), -sp.besselj(3, x)),
    "J of half order": (sp.besselj(sp.Rational(3, 2), p), sp.sqrt(2 / (PI * p)) * (sp.sin(p) / p - sp.cos(p))),
    "J of minus three halves": (
        sp.besselj(sp.Rational(-3, 2), p),
        -sp.sqrt(2 / (PI * p)) * (sp.cos(p) / p + sp.sin(p)),
    ),
    "Y of half order": (sp.bessely(sp.Rational(1, 2), p), -sp.sqrt(2 / (PI * p)) * sp.cos(p)),
    "I of half order": (sp.besseli(sp.Rational(1, 2), p), sp.sqrt(2 / (PI * p)) * sp.sinh(p)),
    "K of half order": (sp.besselk(sp.Rational(5, 2), p), sp.sqrt(PI / (2 * p)) * sp.exp(-p) * (1 + 3 / p + 3 / p**2)),
    "scaled I": (D(sp.exp(-p) * sp.besseli(0, p), p), sp.exp(-p) * (sp.besseli(1, p) - sp.besseli(0, p))),
    "Bessel's equation": (
        p**2 * D(D(sp.besselj(n, p), p), p) + p * D(sp.besselj(n, p), p) + (p**2 - n**2) * sp.besselj(n, p),
        sp.S.Zero,
    ),
    # Airy
    "Ai''": (D(D(sp.airyai(x), x), x), x * sp.airyai(x)),
    "Bi'''": (D(D(D(sp.airybi(x), x), x), x), sp.airybi(x) + x * sp.airybiprime(x)),
    # error functions
    "erfi'": (D(sp.erfi(x), x), 2 / sp.sqrt(PI) * sp.exp(x**2)),
    "erfinv'": (D(sp.erfinv(u), u), sp.sqrt(PI) / 2 * sp.exp(sp.erfinv(u) ** 2)),
    "erf of erfinv": (sp.erf(sp.erfinv(1 - 2 * u)), 1 - 2 * u),
    "erfinv of erf": (sp.erfinv(sp.erf(-x)), -x),
    "Dawson": (D(sp.exp(-(x**2)) * sp.erfi(x), x), 2 / sp.sqrt(PI) - 2 * x * sp.exp(-(x**2)) * sp.erfi(x)),
    "Fresnel": (D(sp.fresnelc(x) + sp.fresnels(x), x), sp.cos(PI * x**2 / 2) + sp.sin(PI * x**2 / 2)),
    "Owen by a": (D(owens_t(x, y), y), sp.exp(-(x**2) * (1 + y**2) / 2) / (2 * PI * (1 + y**2))),
    "Owen by h": (D(owens_t(x, y), x), -sp.exp(-(x**2) / 2) * sp.erf(x * y / sp.sqrt(2)) / (2 * sp.sqrt(2 * PI))),
    "Owen's symmetries": (owens_t(-x, -y), -owens_t(x, y)),
    # gamma
    "gamma recurrence": (sp.gamma(a + 2), a * (a + 1) * sp.gamma(a)),
    "gamma by loggamma": (sp.gamma(a), sp.exp(sp.loggamma(a))),
    "gamma'": (D(sp.gamma(a), a), digamma(a) * sp.gamma(a)),
    "gamma' of any sign": (D(sp.gamma(x), x), digamma(x) * sp.gamma(x)),
    "digamma recurrence": (digamma(a + 1), digamma(a) + 1 / a),
    "trigamma recurrence": (trigamma(a + 1), trigamma(a) - 1 / a**2),
    "polygamma recurrence": (sp.polygamma(2, a + 1), sp.polygamma(2, a) + 2 / a**3),
    "polygamma of low orders": (sp.polygamma(0, a) + sp.polygamma(1, a), digamma(a) + trigamma(a)),
    "polygamma'": (D(sp.polygamma(m, a), a), sp.polygamma(m + 1, a)),
    "digamma''": (D(D(digamma(a), a), a), sp.polygamma(2, a)),
    "shift from above an interval": (digamma(s), digamma(s - 1) + 1 / (s - 1)),
    "half": (sp.loggamma(sp.Rational(5, 2)), sp.log(3 * sp.sqrt(PI) / 4)),
    "lower and upper": (sp.lowergamma(a, p) + sp.uppergamma(a, p), sp.gamma(a)),
    "upper recurrence": (sp.uppergamma(a + 1, p), a * sp.uppergamma(a, p) + p**a * sp.exp(-p)),
    "regularized lower'": (D(sp.lowergamma(a, p) / sp.gamma(a), p), sp.exp((a - 1) * sp.log(p) - p - sp.loggamma(a))),
    "incomplete gamma of half": (
        sp.uppergamma(a, p).subs(a, sp.Rational(1, 2)),
        sp.sqrt(PI) * (1 - sp.erf(sp.sqrt(p))),
    ),
    "incomplete beta'": (
        D(betainc(a, b, u), u),
        u ** (a - 1) * (1 - u) ** (b - 1) * sp.exp(sp.loggamma(a + b) - sp.loggamma(a) - sp.loggamma(b)),
    ),
    "incomplete beta symmetry": (betainc(a, b, u), 1 - betainc(b, a, 1 - u)),
    "incomplete beta at a half": (betainc(a, a, u) + betainc(a, a, 1 - u), sp.S.One),
    "zeta by q": (D(sp.zeta(s, q), q), -s * sp.zeta(s + 1, q)),
    "zeta recurrence": (sp.zeta(s, q + 1), sp.zeta(s, q) - q**-s),
    # exponential integrals, polylogarithm, W, elliptic integrals
    "Ei'": (D(sp.Ei(z), z), sp.exp(z) / z),
    "Ei and E1": (sp.Ei(-p), -sp.expint(1, p)),
    "E_n'": (D(sp.expint(n, p), p), -sp.expint(n - 1, p)),
    "E_n recurrence": (n * sp.expint(n + 1, p).subs(n, a) / n * a, n * (sp.exp(-p) - p * sp.expint(a, p)) / n),
    "E_3": (2 * sp.expint(3, p), sp.exp(-p) - p * sp.expint(2, p)),
    "Si' Ci'": (D(sp.Si(z) + sp.Ci(p), p) + D(sp.Si(z), z), sp.cos(p) / p + sp.sin(z) / z),
    "dilogarithm'": (D(polylog(2, u), u), -sp.log(1 - u) / u),
    "trilogarithm'": (D(polylog(3, u), u), polylog(2, u) / u),
    "SymPy's polylog": (sp.polylog(2, u), polylog(2, u)),
    "W'": (D(sp.LambertW(p), p), 1 / (p + sp.exp(sp.LambertW(p)))),
    "W' by division": (D(sp.LambertW(z), z), sp.LambertW(z) / (z * (1 + sp.LambertW(z)))),
    "W e^W": (sp.LambertW(x) * sp.exp(sp.LambertW(p)) / sp.LambertW(x), p / sp.LambertW(p)),
    "log W": (sp.log(sp.LambertW(p)), sp.log(p) - sp.LambertW(p)),
    "K'": (D(sp.elliptic_k(u), u), (sp.elliptic_e(u) / (1 - u) - sp.elliptic_k(u)) / (2 * u)),
    "E'": (D(sp.elliptic_e(u), u), (sp.elliptic_e(u) - sp.elliptic_k(u)) / (2 * u)),
    # angles and rounding
    "atan2 by y": (D(sp.atan2(y, x), y), x / (x**2 + y**2)),
    "atan2 by x": (D(sp.atan2(y, x), x), -y / (x**2 + y**2)),
    "atan2 to the right": (sp.atan2(y, p), sp.atan(y / p)),
    "mod by y": (D(x - z * sp.floor(x / z), z), -sp.floor(x / z)),
    "mod by x": (D(x - z * sp.floor(x / z), x), sp.S.One),
    "fmod by y": (D(x - z * sp.sign(x / z) * sp.floor(sp.Abs(x / z)), z), -sp.sign(x / z) * sp.floor(sp.Abs(x / z))),
    "ceiling": (sp.ceiling(x), -sp.floor(-x)),
    "floor of a shift": (sp.floor(x + m + 2), sp.floor(x) + m + 2),
    "floor inside one step": (sp.floor(u), sp.S.Zero),
}


@pytest.mark.parametrize("name", EQUALITIES)
def test_equality_is_shown(name):
    left, right = EQUALITIES[name]
    answer = equal(left, right)
    assert answer.equal, answer.residual


@pytest.mark.parametrize("name", EQUALITIES)
def test_tampered_equality_is_not_shown(name):
    left, right = EQUALITIES[name]
    if right != 0:
        assert not equal(left, -right).equal
        assert not equal(left, right * sp.Rational(10009, 10000)).equal
    assert not equal(left, right + sp.Rational(1, 10**6)).equal
    assert not equal(left, right + x / 10**6).equal


WRONG = {
    "sign of the second Bessel term": (D(sp.besselj(1, x), x), (sp.besselj(0, x) + sp.besselj(2, x)) / 2),
    "J for I": (D(sp.besseli(1, x), x), (sp.besseli(0, x) - sp.besseli(2, x)) / 2),
    "I for K": (D(sp.besselk(1, p), p), (sp.besselk(0, p) + sp.besselk(2, p)) / 2),
    "orders swapped": (D(sp.besselj(n, p), p), (sp.besselj(n + 1, p) - sp.besselj(n - 1, p)) / 2),
    "missing 1/x": (D(sp.besselj(1, z), z), sp.besselj(0, z) - sp.besselj(1, z)),
    "order of the wrong neighbour": (D(sp.bessely(n, p), p), sp.bessely(n + 1, p) - n / p * sp.bessely(n, p)),
    "K odd in its order": (sp.besselk(-n, p), -sp.besselk(n, p)),
    "J even in its order": (sp.besselj(-n, p), sp.besselj(n, p)),
    "I of any order even in it": (sp.besseli(-n, p), sp.besseli(n, p)),
    "J of even order at -x": (sp.besselj(2, -x), -sp.besselj(2, x)),
    "at 0 only": (Indicator(sp.Eq(x, 0)) * sp.besselj(2, x), Indicator(sp.Eq(x, 0)) * sp.besselj(0, x)),
    "gamma without the factor": (sp.gamma(a + 1), sp.gamma(a)),
    "digamma without 1/x": (digamma(a + 1), digamma(a)),
    "trigamma with the sign of digamma": (trigamma(a + 1), trigamma(a) + 1 / a**2),
    "gamma by loggamma for any sign": (sp.gamma(x), sp.exp(sp.loggamma(x))),
    "lower for upper": (D(sp.uppergamma(a, p), p), p ** (a - 1) * sp.exp(-p)),
    "beta with a and b swapped": (betainc(a, b, u), betainc(b, a, u)),
    "beta without reflection": (betainc(a, b, u), 1 - betainc(a, b, 1 - u)),
    "zeta with the old exponent": (D(sp.zeta(s, q), q), -s * sp.zeta(s, q)),
    "Ei'": (D(sp.Ei(z), z), sp.exp(z)),
    "E_n' up": (D(sp.expint(n, p), p), -sp.expint(n + 1, p)),
    "W'": (D(sp.LambertW(p), p), sp.LambertW(p) / (1 + sp.LambertW(p))),
    "log W of any sign": (sp.log(sp.LambertW(x)), sp.log(x) + sp.LambertW(x)),
    "Ai''": (D(D(sp.airyai(x), x), x), sp.airyai(x)),
    "Fresnel swapped": (D(sp.fresnelc(x), x), sp.sin(PI * x**2 / 2)),
    "K and E swapped": (D(sp.elliptic_e(u), u), (sp.elliptic_k(u) - sp.elliptic_e(u)) / (2 * u)),
    "atan2 swapped": (D(sp.atan2(y, x), y), -y / (x**2 + y**2)),
    "atan2 to the left": (sp.atan2(y, -p), sp.atan(-y / p)),
    "floor of any shift": (sp.floor(x + y), sp.floor(x) + y),
    "ceiling for floor": (sp.ceiling(x), sp.floor(x) + 1),
    "mod by y": (D(x - z * sp.floor(x / z), z), sp.floor(x / z)),
    "inverse of another": (sp.erf(sp.erfi(x)), x),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_variant_is_not_shown(name):
    assert not equal(*WRONG[name]).equal


BY_ORDER = [
    (sp.besselj(n, p), n),
    (sp.besselk(n + p, p), p),
    (sp.uppergamma(a, p), a),
    (betainc(a, b, u), b),
    (sp.zeta(s, q), s),
    (sp.expint(n, p), n),
    (sp.polygamma(n, p), n),
    (polylog(n, u), n),
]


@pytest.mark.parametrize(("expression", "variable"), BY_ORDER)
def test_derivative_by_an_order_is_refused(expression, variable):
    with pytest.raises(UnsupportedError, match="no derivative rule by its argument"):
        equal(D(expression, variable), sp.S.Zero)


def test_jumps_are_noted():
    assert "away from kinks" in equal(D(x * sp.floor(x), x), sp.floor(x)).used
    assert "away from kinks" in equal(D(sp.atan2(y, x), y), x / (x**2 + y**2)).used
    assert "away from kinks" not in equal(D(sp.atan2(z, x), x), -z / (x**2 + z**2)).used


def test_a_recurrence_needs_its_condition():
    """x = 0 is in the domain: J_2(x) is not divided by x there, and an integer input is not passed to the limit."""
    whole = Tensor("w", (), "{0,1,2}")
    assert not equal(whole * sp.besselj(2, whole), 2 * sp.besselj(1, whole) - whole * sp.besselj(0, whole)).equal
    assert equal(x * sp.besselj(2, x), 2 * sp.besselj(1, x) - x * sp.besselj(0, x)).equal
