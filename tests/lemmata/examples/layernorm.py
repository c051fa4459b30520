"""Layer normalisation in plain NumPy, its backward pass, and one in which the mean of the gradient was forgotten."""

import numpy as np

EPS = 1e-5


def layernorm(x, w, b):
    """Normalise the last axis; the cache is what the backward pass needs."""
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + EPS)
    norm = (x - mean) * rstd
    return norm * w + b, (norm, rstd, w)


def layernorm_backward(dout, cache):
    """Gradients by x, w and b."""
    norm, rstd, w = cache
    dnorm = dout * w
    dx = dnorm - dnorm.mean(axis=-1, keepdims=True) - norm * (dnorm * norm).mean(axis=-1, keepdims=True)
    return dx * rstd, (dout * norm).sum(axis=(0, 1)), dout.sum(axis=(0, 1))


def layernorm_backward_wrong(dout, cache):
    """The term that comes from the mean is missing in dx."""
    norm, rstd, w = cache
    dnorm = dout * w
    dx = dnorm - norm * (dnorm * norm).mean(axis=-1, keepdims=True)
    return dx * rstd, (dout * norm).sum(axis=(0, 1)), dout.sum(axis=(0, 1))
