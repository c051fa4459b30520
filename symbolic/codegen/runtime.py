"""The helper functions that generated code calls, in forms that neither overflow nor cancel.

Their own source is what `source` writes above a generated function, so a printed file and `sympy.lambdify` run the same
code. NumPy is imported inside, because this pillar can be loaded without it.
"""

from __future__ import annotations

from typing import Any


def sigmoid(x: Any) -> Any:
    import numpy as np

    e = np.exp(-np.abs(x))  # at most 1: no overflow on either side
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def softplus(x: Any) -> Any:
    import numpy as np

    return np.logaddexp(0.0, x)


def log_sigmoid(x: Any) -> Any:
    import numpy as np

    return -np.logaddexp(0.0, -x)


def relu(x: Any) -> Any:
    import numpy as np

    return np.maximum(x, 0.0)


def erf(x: Any) -> Any:
    import math

    import numpy as np

    return np.vectorize(math.erf, otypes=[float])(x)


def erfc(x: Any) -> Any:
    import math

    import numpy as np

    return np.vectorize(math.erfc, otypes=[float])(x)


def gelu(x: Any) -> Any:
    import numpy as np

    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def gelu_tanh(x: Any) -> Any:
    import numpy as np

    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))


def silu(x: Any) -> Any:
    return x * sigmoid(x)


def mish(x: Any) -> Any:
    import numpy as np

    return x * np.tanh(softplus(x))


def elu(x: Any) -> Any:
    import numpy as np

    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def trigamma(x: Any) -> Any:
    from scipy.special import polygamma

    return polygamma(1, x)


def fresnel_s(x: Any) -> Any:
    from scipy.special import fresnel

    return fresnel(x)[0]


def sine_integral(x: Any) -> Any:
    from scipy.special import sici

    return sici(x)[0]


def cosine_integral(x: Any) -> Any:
    from scipy.special import sici

    return sici(x)[1]


def hyperbolic_sine_integral(x: Any) -> Any:
    from scipy.special import shichi

    return shichi(x)[0]


def hyperbolic_cosine_integral(x: Any) -> Any:
    from scipy.special import shichi

    return shichi(x)[1]


def fresnel_c(x: Any) -> Any:
    from scipy.special import fresnel

    return fresnel(x)[1]


def gamma_lower(a: Any, x: Any) -> Any:
    from scipy.special import gamma, gammainc

    return gammainc(a, x) * gamma(a)


def gamma_upper(a: Any, x: Any) -> Any:
    from scipy.special import gamma, gammaincc

    return gammaincc(a, x) * gamma(a)


def expint(n: Any, x: Any) -> Any:
    import mpmath
    import numpy as np

    return np.vectorize(lambda order, at: float(mpmath.expint(order, at)), otypes=[float])(n, x)


def polylog(s: Any, z: Any) -> Any:
    import mpmath
    import numpy as np

    return np.vectorize(lambda order, at: float(mpmath.polylog(order, at)), otypes=[float])(s, z)


def lambert_w(x: Any) -> Any:
    from scipy.special import lambertw

    return lambertw(x).real


def airy_ai(x: Any) -> Any:
    from scipy.special import airy

    return airy(x)[0]


def airy_ai_prime(x: Any) -> Any:
    from scipy.special import airy

    return airy(x)[1]


def airy_bi(x: Any) -> Any:
    from scipy.special import airy

    return airy(x)[2]


def airy_bi_prime(x: Any) -> Any:
    from scipy.special import airy

    return airy(x)[3]


def stable_softmax(x: Any, axis: int) -> Any:
    import numpy as np

    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def stable_log_softmax(x: Any, axis: int) -> Any:
    import numpy as np

    s = x - x.max(axis=axis, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=axis, keepdims=True))


def stable_logsumexp(x: Any, axis: int) -> Any:
    import numpy as np

    m = x.max(axis=axis, keepdims=True)
    return m.squeeze(axis) + np.log(np.exp(x - m).sum(axis=axis))
