"""Elementwise functions of one real number, with their derivatives: sigmoid and its logarithm, softplus, tanh, ReLU.

Softmax and log-sum-exp, which work along an axis, are in ``softmax.py``. The gated and smooth relatives (GELU, SiLU,
Mish, GLU ...) are in ``gated_activations.py``. Smooth functions let complex input through, for the complex step; ReLU
refuses it. Inputs may be ±inf where the limit exists.

A derivative at a kink is one number out of an interval; which one is part of the contract and is an argument here
(``at_zero``), never an accident.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, number, real_array


def sigmoid(z: ArrayLike) -> Array:
    """σ(z) = 1/(1 + e^(−z)), written with e^(−|z|) so that nothing overflows and small values keep their precision.

    Shapes: z [...] -> the same. Domain: every real and ±inf. Raises: ValueError for NaN.
    Source: Goodfellow, Bengio, Courville (2016), "Deep Learning", eq. (3.30).

    >>> sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    array = real_array("sigmoid", "z", z, analytic=True)
    positive = array.real >= 0
    small = np.exp(np.where(positive, -array, array))
    return np.where(positive, 1.0, small) / (1.0 + small)


def softplus(z: ArrayLike) -> Array:
    """log(1 + e^z) = max(z, 0) + log1p(e^(−|z|)).

    Shapes: z [...] -> the same. Domain: every real and ±inf. Raises: ValueError for NaN.
    Source: Goodfellow, Bengio, Courville (2016), eq. (3.31).

    >>> softplus([-1000.0, 1000.0])
    array([   0., 1000.])
    """
    array = real_array("softplus", "z", z, analytic=True)
    positive = array.real >= 0
    return np.where(positive, array, 0.0) + np.log1p(np.exp(np.where(positive, -array, array)))


def log_sigmoid(z: ArrayLike) -> Array:
    """log σ(z) = −softplus(−z).

    Shapes: z [...] -> the same. Domain: every real and ±inf (−inf at −inf). Raises: ValueError for NaN.
    Source: Goodfellow, Bengio, Courville (2016), eq. (3.36).

    >>> log_sigmoid([-1000.0, 0.0]) + 0.0
    array([-1.00000000e+03, -6.93147181e-01])
    """
    array = real_array("log_sigmoid", "z", z, analytic=True)
    return -softplus(-array)


def tanh(z: ArrayLike) -> Array:
    """tanh(z) = 2σ(2z) − 1, by NumPy's own tanh.

    Shapes: z [...] -> the same. Domain: every real and ±inf. Raises: ValueError for NaN.

    >>> tanh([0.0, np.inf])
    array([0., 1.])
    """
    return np.tanh(real_array("tanh", "z", z, analytic=True))


def relu(z: ArrayLike) -> Array:
    """max(z, 0). Not analytic: complex input is refused.

    Shapes: z [...] -> the same. Domain: every real and ±inf. Raises: ValueError for NaN, TypeError for complex input.
    Source: Goodfellow, Bengio, Courville (2016), section 6.3.1.

    >>> relu([-2.0, 3.0])
    array([0., 3.])
    """
    return np.maximum(real_array("relu", "z", z), 0.0)


def sigmoid_derivative(z: ArrayLike) -> Array:
    """σ'(z) = σ(z) σ(−z); the second factor is not formed as 1 − σ(z), which is 0 from z = 37 on.

    Shapes: z [...] -> the same. Domain and errors as ``sigmoid``.
    Source: Goodfellow, Bengio, Courville (2016), eq. (3.34).

    >>> float(sigmoid_derivative(0.0))
    0.25
    """
    array = real_array("sigmoid_derivative", "z", z, analytic=True)
    return sigmoid(array) * sigmoid(-array)


def sigmoid_second_derivative(z: ArrayLike) -> Array:
    """σ''(z) = σ(z) σ(−z) (1 − 2σ(z)), the last factor as σ(−z) − σ(z).

    Shapes: z [...] -> the same. Domain and errors as ``sigmoid``.

    >>> float(sigmoid_second_derivative(0.0))
    0.0
    """
    array = real_array("sigmoid_second_derivative", "z", z, analytic=True)
    above, below = sigmoid(array), sigmoid(-array)
    return above * below * (below - above)


def softplus_derivative(z: ArrayLike) -> Array:
    """d/dz log(1 + e^z) = σ(z).

    Shapes: z [...] -> the same. Domain and errors as ``sigmoid``.
    Source: Goodfellow, Bengio, Courville (2016), eq. (3.37).

    >>> float(softplus_derivative(0.0))
    0.5
    """
    return sigmoid(z)


def log_sigmoid_derivative(z: ArrayLike) -> Array:
    """d/dz log σ(z) = σ(−z).

    Shapes: z [...] -> the same. Domain and errors as ``sigmoid``.

    >>> log_sigmoid_derivative([-1000.0, 0.0])
    array([1. , 0.5])
    """
    return sigmoid(-real_array("log_sigmoid_derivative", "z", z, analytic=True))


def tanh_derivative(z: ArrayLike) -> Array:
    """tanh'(z) = 1 − tanh²(z) = 4 σ(2z) σ(−2z), the second form because 1 − tanh² is 0 from |z| = 19 on.

    Shapes: z [...] -> the same. Domain and errors as ``tanh``.

    >>> float(tanh_derivative(0.0))
    1.0
    """
    array = real_array("tanh_derivative", "z", z, analytic=True)
    return 4.0 * sigmoid_derivative(2.0 * array)


def relu_derivative(z: ArrayLike, *, at_zero: float = 0.0) -> Array:
    """[z > 0], and ``at_zero`` where z is exactly 0: any number in the subdifferential [0, 1].

    Shapes: z [...] -> the same. Domain and errors as ``relu``; ValueError for ``at_zero`` outside [0, 1].

    >>> relu_derivative([-1.0, 0.0, 1.0], at_zero=0.5)
    array([0. , 0.5, 1. ])
    """
    array = real_array("relu_derivative", "z", z)
    return np.where(array == 0, number("relu_derivative", "at_zero", at_zero, low=0.0, high=1.0), array > 0)
