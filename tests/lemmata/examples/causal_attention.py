"""Causal attention of one head in plain NumPy, its backward pass, and one in which the mask was forgotten."""

import numpy as np


def softmax(s):
    """Over the last axis."""
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    """Token i sees the tokens j <= i."""
    n, d = q.shape
    s = q @ k.T / np.sqrt(d)
    s = np.where(np.tril(np.ones((n, n))) == 1, s, -np.inf)
    return softmax(s) @ v


def attention_backward(g, q, k, v):
    """Gradients by q, k and v."""
    n, d = q.shape
    s = q @ k.T / np.sqrt(d)
    s = np.where(np.tril(np.ones((n, n))) == 1, s, -np.inf)
    a = softmax(s)
    da = g @ v.T
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) / np.sqrt(d)
    return {"dq": ds @ k, "dk": ds.T @ q, "dv": a.T @ g}


def attention_backward_wrong(g, q, k, v):
    """The probabilities are computed again without the mask."""
    d = q.shape[1]
    a = softmax(q @ k.T / np.sqrt(d))
    da = g @ v.T
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) / np.sqrt(d)
    return {"dq": ds @ k, "dk": ds.T @ q, "dv": a.T @ g}
