"""Arithmetic, comparisons and elementwise functions are read as NumPy computes them."""

import math
from math import sqrt

import numpy as np
import pytest
import scipy.special
import sympy as sp
from numpy import exp
from scipy.special import expit, logsumexp

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.tracing import trace, trace_expression

from .comparing import agree
from .evaluate import value

SLOPE = 0.3
HALF_PI = math.pi / 2


def arithmetic(x, y):
    return (x - 2 * y) ** 2 / (1 + x * x) + 3.5 - x + 0.1 * (-y) ** 3


def scalars_left(x, y):
    return 1 / (2 + x**2) - 2.0**x + (3 - y) * abs(x)


def leaky(x, y):
    return np.where(x > 0, x, SLOPE * x) + (y <= x) * 2.0


def masks(x, y):
    inside = (x > -0.5) & (y < 0.5) | ~(x >= y)
    return inside.astype(float) - 0.5 * (x != y) + (inside ^ (x > 1))


def clipped(x, y):
    return np.clip(x, -0.5, y * y) + np.maximum(x, y) - np.minimum(0, x) + np.sign(x) * np.abs(y)


def gelu(x, y):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) * y


def from_names(x, y):
    return exp(x) * sqrt(2) + expit(y) + HALF_PI * math.exp(1) + math.pi


def special(x, y):
    return scipy.special.erf(x) + scipy.special.log_ndtr(y) - scipy.special.xlogy(x * x, 1 + y * y)


def log_sums(x, y):
    return (
        logsumexp(x, axis=1, keepdims=True) + scipy.special.softmax(y, axis=-1) - scipy.special.log_softmax(x, axis=1)
    )


def moduli(x, y):
    return np.mod(x, 1.7) + np.fmod(y, 0.9) + np.floor(x) - np.trunc(y) + x // 0.8 + x % 0.6


def logarithms(x, y):
    return np.log1p(x * x) + np.expm1(y) + np.logaddexp(x, y) + np.log2(3 + x * x) + np.hypot(x, y) + np.arctan2(x, y)


def booleans_add_as_or(x, y):
    return ((x > 0) + (y > 0)).astype(float) + (x > 0) * (y > 0)


def ufunc_methods(x, y):
    return (
        np.add.reduce(x, axis=0)
        + np.add.outer(np.arange(3), np.arange(2)).sum()
        + np.multiply.reduce(np.ones(3))
        + y.sum(0)
    )


def in_place(x, y):
    z = x.copy()
    z += y
    z *= 2
    z /= 1 + y**2
    z -= x
    np.multiply(z, 3, out=z)
    return z


FUNCTIONS = [
    arithmetic, scalars_left, leaky, masks, clipped, gelu, from_names, special, log_sums, moduli, logarithms,
    booleans_add_as_or, ufunc_methods, in_place,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_elementwise_is_read_as_numpy_computes(function):
    agree(function, {"x": "N,K", "y": "N,K"})


@pytest.mark.parametrize("function", [arithmetic, clipped, masks], ids=lambda f: f.__name__)
def test_broadcasting_is_numpys(function):
    agree(function, {"x": "N,1,K", "y": "M,K"})


def test_constants_are_exact():
    read = trace(lambda x: x * np.sqrt(2 / np.pi) + 0.1, {"x": array("x", "N")})
    assert not read.body.atoms(sp.Float)
    assert read.body.has(sp.pi)
    assert read.body.has(sp.Rational(1, 10))


def _stable(s):
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_where(s, m):
    return np.exp(np.where(m > 0, s, -np.inf))


def masked_stable(s, m):
    return _stable(np.where(m > 0, s, -np.inf) / np.sqrt(s.shape[1]))


def masked_causal(s, m):
    t = s.shape[0]
    return _stable(s @ m.T + np.triu(np.full((t, t), -np.inf), k=1))


@pytest.mark.parametrize("function", [masked_where, masked_causal], ids=lambda f: f.__name__)
def test_masks_of_minus_infinity(function):
    agree(function, {"s": "N,K", "m": "N,K"})


def test_stable_softmax_under_a_mask():
    shapes = {"s": array("s", "N,K"), "m": array("m", "N,K", "binary")}
    read = trace(masked_stable, shapes)
    m = np.array([[1.0, 0, 1], [0, 1, 0]])
    s = np.array([[0.3, 9.0, -1.0], [2.0, -0.5, 4.0]])
    np.testing.assert_allclose(value(read, {"s": s, "m": m}, {"N": 2, "K": 3}), masked_stable(s, m))


SCALARS = {
    "np.log(1 + np.exp(-y*x))": {},
    "np.where((x > -1) & (x < 1), x**3, np.abs(x))": {},
    "scipy.special.jv(2, np.abs(x)) + scipy.special.gammaln(y*y + 1)": {},
    "np.sinc(x) + np.copysign(y, x) + np.degrees(x)": {},
    "scipy.special.airye(np.abs(x))[0] + scipy.special.polygamma(2, 1 + y*y)": {},
    "1.0 if x > y else x if x > 0 else y": {},
    "x if 0 < x < 1 else y": {},
    "math.erf(x) - math.log(2 + y*y, 3)": {},
}


@pytest.mark.parametrize("text", SCALARS)
def test_expressions_in_scalars(text):
    read = trace_expression(text, {"x": array("x", ""), "y": array("y", "")})
    rng = np.random.default_rng(7)
    for _ in range(8):
        x, y = (float(v) for v in rng.normal(size=2))
        wanted = eval(text, {"np": np, "scipy": scipy, "math": math}, {"x": x, "y": y})
        np.testing.assert_allclose(value(read, {"x": x, "y": y}, {}), wanted, rtol=1e-9)


def test_sizes_are_numbers_in_formulas():
    def scaled(x):
        n, k = x.shape
        return x.sum() / x.size + len(x) / k - (2 * n) // 2 + max(n, 1) + x.ndim

    agree(scaled, {"x": "N,K"})
    assert trace(lambda n: n * n, {"n": size("N")}).shape == ()
