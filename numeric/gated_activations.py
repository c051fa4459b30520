"""GELU (exact and tanh form), SiLU, Mish, ELU, and the gated units GLU and SwiGLU, with derivatives.

The plain ones (sigmoid, softplus, tanh, ReLU) are in ``activations.py``. The exact GELU goes through ``math.erfc``
and ELU is only once differentiable, so both refuse complex input; the others let it through.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .activations import sigmoid, sigmoid_derivative, softplus, tanh_derivative
from .arguments import Array, ArrayLike, number, real_array, same_shape, zero_times

_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_GELU_SLOPE = math.sqrt(2.0 / math.pi)
_GELU_CUBE = 0.044715


class GateGradient(NamedTuple):
    """Cotangents of the gate's input and of the value it multiplies."""

    gate: Array
    value: Array


def normal_cdf(x: ArrayLike) -> Array:
    """Φ(x) = erfc(−x/√2)/2, with full relative precision in the left tail.

    Shapes: x [...] -> the same. Domain: every real and ±inf. Raises: ValueError for NaN, TypeError for complex input.

    >>> float(normal_cdf(0.0))
    0.5
    """
    return 0.5 * _erfc(-real_array("normal_cdf", "x", x) / math.sqrt(2.0))


def gelu(x: ArrayLike) -> Array:
    """x Φ(x), Φ the normal distribution function. Shapes: x [...] -> the same.

    Domain: every real and ±inf (0 at −inf). Raises: ValueError for NaN, TypeError for complex input.
    Source: Hendrycks, Gimpel (2016), "Gaussian Error Linear Units", section 2.

    >>> gelu([-np.inf, 0.0, 1000.0])
    array([   0.,    0., 1000.])
    """
    return zero_times(normal_cdf(x), real_array("gelu", "x", x))


def gelu_derivative(x: ArrayLike) -> Array:
    """Φ(x) + x φ(x), φ the normal density. Shapes, domain, errors as :func:`gelu`.

    >>> float(gelu_derivative(0.0))
    0.5
    """
    array = real_array("gelu_derivative", "x", x)
    density = np.exp(-0.5 * array**2) / math.sqrt(2.0 * math.pi)
    return normal_cdf(array) + zero_times(density, array)


def gelu_tanh(x: ArrayLike) -> Array:
    """x (1 + tanh(√(2/π)(x + 0.044715 x³)))/2, another function than :func:`gelu`: up to 5e-4 apart.

    Written as x σ(2u), u the argument of tanh, which keeps the left tail. Shapes: x [...] -> the same. Domain: finite.
    Raises: ValueError for NaN or infinities. Source: Hendrycks, Gimpel (2016), section 2.

    >>> gelu_tanh([0.0, 1000.0])
    array([   0., 1000.])
    """
    array = real_array("gelu_tanh", "x", x, analytic=True, finite=True)
    return zero_times(sigmoid(2.0 * _gelu_argument(array)), array)


def gelu_tanh_derivative(x: ArrayLike) -> Array:
    """σ(2u) + 2 x u' σ'(2u) with u = √(2/π)(x + 0.044715 x³). Shapes, domain, errors as :func:`gelu_tanh`.

    >>> float(gelu_tanh_derivative(0.0))
    0.5
    """
    array = real_array("gelu_tanh_derivative", "x", x, analytic=True, finite=True)
    u = _gelu_argument(array)
    slope = _GELU_SLOPE * (1.0 + 3.0 * _GELU_CUBE * array**2)
    return sigmoid(2.0 * u) + zero_times(sigmoid_derivative(2.0 * u), 2.0 * array * slope)


def _gelu_argument(x: Array) -> Array:
    return _GELU_SLOPE * (x + _GELU_CUBE * x**3)


def silu(x: ArrayLike) -> Array:
    """x σ(x) (swish with β = 1). Shapes: x [...] -> the same.

    Domain: every real and ±inf (0 at −inf). Raises: ValueError for NaN.
    Source: Elfwing, Uchibe, Doya (2018); Ramachandran, Zoph, Le (2017).

    >>> silu([-np.inf, 0.0, 1000.0])
    array([   0.,    0., 1000.])
    """
    array = real_array("silu", "x", x, analytic=True)
    return zero_times(sigmoid(array), array)


def silu_derivative(x: ArrayLike) -> Array:
    """σ(x) + x σ(x) σ(−x) = σ(x)(1 + x(1 − σ(x))). Shapes, domain, errors as :func:`silu`.

    >>> float(silu_derivative(0.0))
    0.5
    """
    array = real_array("silu_derivative", "x", x, analytic=True)
    return sigmoid(array) + zero_times(sigmoid_derivative(array), array)


def mish(x: ArrayLike) -> Array:
    """x tanh(softplus(x)). Shapes: x [...] -> the same.

    Domain: every real and ±inf (0 at −inf). Raises: ValueError for NaN. Source: Misra (2019), "Mish".

    >>> mish([-np.inf, 0.0, 1000.0])
    array([   0.,    0., 1000.])
    """
    array = real_array("mish", "x", x, analytic=True)
    return zero_times(np.tanh(softplus(array)), array)


def mish_derivative(x: ArrayLike) -> Array:
    """tanh(s) + x tanh'(s) σ(x) with s = softplus(x). Shapes, domain, errors as :func:`mish`.

    >>> round(float(mish_derivative(0.0)), 12)
    0.6
    """
    array = real_array("mish_derivative", "x", x, analytic=True)
    s = softplus(array)
    return np.tanh(s) + zero_times(tanh_derivative(s) * sigmoid(array), array)


def elu(x: ArrayLike, *, alpha: float = 1.0) -> Array:
    """x for x > 0, α (e^x − 1) otherwise. Shapes: x [...] -> the same.

    Domain: every real and ±inf, α >= 0. Raises: ValueError for NaN or α < 0, TypeError for complex input.
    Source: Clevert, Unterthiner, Hochreiter (2015).

    >>> elu([-np.inf, 0.0, 2.0])
    array([-1.,  0.,  2.])
    """
    array = real_array("elu", "x", x)
    negative = number("elu", "alpha", alpha, low=0.0) * np.expm1(np.minimum(array, 0.0))
    return np.where(array > 0, array, negative)


def elu_derivative(x: ArrayLike, *, alpha: float = 1.0) -> Array:
    """1 for x > 0, α e^x otherwise; at 0 that is α, the left derivative (for α = 1 there is no kink).

    Shapes, domain, errors as :func:`elu`.

    >>> elu_derivative([0.0, 2.0], alpha=0.5)
    array([0.5, 1. ])
    """
    array = real_array("elu_derivative", "x", x)
    slope = number("elu_derivative", "alpha", alpha, low=0.0) * np.exp(np.minimum(array, 0.0))
    return np.where(array > 0, 1.0, slope)


def glu(gate: ArrayLike, value: ArrayLike) -> Array:
    """σ(gate) ⊙ value. Shapes: gate, value [...], equal -> the same.

    Raises: ValueError for unequal shapes or NaN. Source: Dauphin et al. (2017), "Gated Convolutional Networks", eq.
    (1).

    >>> glu([0.0], [4.0])
    array([2.])
    """
    g, v = _gate("glu", gate, value)
    return sigmoid(g) * v


def glu_vjp(gate: ArrayLike, value: ArrayLike, cotangent: ArrayLike) -> GateGradient:
    """dgate = g ⊙ value ⊙ σ'(gate), dvalue = g ⊙ σ(gate). Shapes: all [...], equal. Errors as :func:`glu`.

    >>> glu_vjp([0.0], [4.0], [1.0])
    GateGradient(gate=array([1.]), value=array([0.5]))
    """
    g, v = _gate("glu_vjp", gate, value)
    c = _cotangent("glu_vjp", cotangent, g)
    return GateGradient(gate=c * v * sigmoid_derivative(g), value=c * sigmoid(g))


def swiglu(gate: ArrayLike, value: ArrayLike) -> Array:
    """silu(gate) ⊙ value. Shapes: gate, value [...], equal -> the same.

    Raises: ValueError for unequal shapes or NaN. Source: Shazeer (2020), "GLU Variants Improve Transformer", eq. (5).

    >>> swiglu([0.0], [4.0])
    array([0.])
    """
    g, v = _gate("swiglu", gate, value)
    return silu(g) * v


def swiglu_vjp(gate: ArrayLike, value: ArrayLike, cotangent: ArrayLike) -> GateGradient:
    """dgate = g ⊙ value ⊙ silu'(gate), dvalue = g ⊙ silu(gate). Shapes: all [...], equal. Errors as :func:`swiglu`.

    >>> swiglu_vjp([0.0], [4.0], [1.0])
    GateGradient(gate=array([2.]), value=array([0.]))
    """
    g, v = _gate("swiglu_vjp", gate, value)
    c = _cotangent("swiglu_vjp", cotangent, g)
    return GateGradient(gate=c * v * silu_derivative(g), value=c * silu(g))


def _gate(function: str, gate: ArrayLike, value: ArrayLike) -> tuple[Array, Array]:
    g = real_array(function, "gate", gate, analytic=True, finite=True)
    v = real_array(function, "value", value, analytic=True, finite=True)
    same_shape(function, "gate", g, "value", v)
    return g, v


def _cotangent(function: str, cotangent: ArrayLike, like: Array) -> Array:
    c = real_array(function, "cotangent", cotangent, analytic=True, finite=True)
    same_shape(function, "gate", like, "cotangent", c)
    return c
