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


def gelu(x: Any) -> Any:
    import numpy as np
    from scipy.special import erf

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
