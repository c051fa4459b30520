"""The central definitions once more, entry by entry, in plain Python with ``math``: to be read and typeset, not to be
fast.

Each is one ``return`` with sums written out over an index, the way a textbook prints it, so that a tool that renders
source as LaTeX shows the definition itself. Nothing is shifted for stability; the array functions beside this file are,
and the tests hold the two equal where both are finite. Indices count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, exp, log, sin, sqrt


def softmax_entry(z: Sequence[float], i: int, n: int) -> float:
    """exp(z_i)/Σ_j exp(z_j) with j from 0 to n − 1.

    Shapes: z [n]. Domain: 0 <= i < n. Source: Goodfellow, Bengio, Courville (2016), eq. (6.29).

    >>> softmax_entry([0.0, 0.0], 1, 2)
    0.5
    """
    return exp(z[i]) / sum(exp(z[j]) for j in range(n))


def logsumexp(z: Sequence[float], n: int) -> float:
    """log Σ_j exp(z_j). Shapes: z [n]. Domain: n >= 1.

    >>> logsumexp([0.0], 1)
    0.0
    """
    return log(sum(exp(z[j]) for j in range(n)))


def cross_entropy(y: Sequence[float], p: Sequence[float], n: int) -> float:
    """−Σ_i y_i log p_i. Shapes: y, p [n]. Domain: p > 0.

    >>> cross_entropy([1.0, 0.0], [1.0, 1.0], 2) + 0.0
    0.0
    """
    return -sum(y[i] * log(p[i]) for i in range(n))


def cross_entropy_of_logits(y: Sequence[float], z: Sequence[float], n: int) -> float:
    """Σ_i y_i (log Σ_j exp(z_j) − z_i). Shapes: y, z [n].

    >>> cross_entropy_of_logits([1.0, 0.0], [0.0, 0.0], 2) == log(2)
    True
    """
    return sum(y[i] * (log(sum(exp(z[j]) for j in range(n))) - z[i]) for i in range(n))


def entropy(p: Sequence[float], n: int) -> float:
    """−Σ_i p_i log p_i. Shapes: p [n]. Domain: p > 0.

    >>> entropy([1.0], 1) + 0.0
    0.0
    """
    return -sum(p[i] * log(p[i]) for i in range(n))


def kl_divergence(p: Sequence[float], q: Sequence[float], n: int) -> float:
    """Σ_i p_i log(p_i/q_i). Shapes: p, q [n]. Domain: p, q > 0.

    >>> kl_divergence([0.5, 0.5], [0.5, 0.5], 2)
    0.0
    """
    return sum(p[i] * log(p[i] / q[i]) for i in range(n))


def binary_cross_entropy(y: float, p: float) -> float:
    """−(y log p + (1 − y) log(1 − p)). Domain: 0 < p < 1.

    >>> binary_cross_entropy(1.0, 0.5) == log(2)
    True
    """
    return -(y * log(p) + (1 - y) * log(1 - p))


def binary_cross_entropy_of_logit(y: float, z: float) -> float:
    """max(z, 0) − z y + log(1 + exp(−|z|)).

    >>> binary_cross_entropy_of_logit(1.0, 0.0) == log(2)
    True
    """
    return max(z, 0) - z * y + log(1 + exp(-abs(z)))


def sigmoid(z: float) -> float:
    """1/(1 + exp(−z)).

    >>> sigmoid(0.0)
    0.5
    """
    return 1 / (1 + exp(-z))


def softplus(z: float) -> float:
    """log(1 + exp(z)).

    >>> softplus(0.0) == log(2)
    True
    """
    return log(1 + exp(z))


def positional_encoding_sine(pos: int, i: int, d: int) -> float:
    """The entry in column 2i of the sinusoidal table of width d: sin(pos/10000^(2i/d)).

    Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.5.

    >>> positional_encoding_sine(0, 0, 4)
    0.0
    """
    return sin(pos / 10000 ** (2 * i / d))


def positional_encoding_cosine(pos: int, i: int, d: int) -> float:
    """The entry in column 2i + 1 of the sinusoidal table of width d: cos(pos/10000^(2i/d)).

    Source: Vaswani et al. (2017), section 3.5.

    >>> positional_encoding_cosine(0, 0, 4)
    1.0
    """
    return cos(pos / 10000 ** (2 * i / d))


def attention_score(q: Sequence[float], k: Sequence[float], d: int) -> float:
    """Σ_a q_a k_a/√d for one query and one key. Source: Vaswani et al. (2017), eq. (1).

    >>> attention_score([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 4)
    2.0
    """
    return sum(q[a] * k[a] for a in range(d)) / sqrt(d)
