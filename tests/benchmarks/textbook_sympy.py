"""Plain SymPy on the twelve textbook claims, at one small size each, entry by entry.

What a careful user writes: components, `diff`, and `cancel(together(...))` where SymPy has not already found 0. Each
route answers whether every entry of the difference is shown to be zero; `spoiled` scales the claim by 1 + 9e-4.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from . import sympy_explicit
from .sympy_explicit import _softmax, _symbols, _zeros

Route = Callable[[bool], bool]
_SPOILED = sp.Rational(10_009, 10_000)


def _shown(pairs: list[tuple[sp.Expr, sp.Expr]], spoiled: bool) -> bool:
    factor = _SPOILED if spoiled else sp.Integer(1)
    return _zeros(left - factor * right for left, right in pairs) == len(pairs)


def _explicit(name: str, size: int) -> Route:
    route, entries = sympy_explicit.ROUTES[name]
    return lambda spoiled: route(size, spoiled) == entries(size)


def _sigmoid(z: sp.Expr) -> sp.Expr:
    return 1 / (1 + sp.exp(-z))


def sigmoid_reflection(spoiled: bool) -> bool:
    """σ(−z) = 1 − σ(z), a scalar."""
    z = sp.Symbol("z", real=True)
    return _shown([(_sigmoid(-z), 1 - _sigmoid(z))], spoiled)


def bce_log_form(spoiled: bool) -> bool:
    """−y log σ(z) − (1 − y) log(1 − σ(z)) = log(1 + eᶻ) − y z, a scalar; logarithms by `simplify` and `expand_log`."""
    z, y = sp.symbols("z y", real=True)
    left = -y * sp.log(_sigmoid(z)) - (1 - y) * sp.log(1 - _sigmoid(z))
    right = (_SPOILED if spoiled else 1) * (sp.log(1 + sp.exp(z)) - y * z)
    difference = sp.expand_log(sp.simplify(left - right), force=True)
    return bool(sp.simplify(difference) == 0)


def softmax_shift(spoiled: bool) -> bool:
    """softmax(z + c) = softmax(z) at K = 3."""
    z, c = _symbols("z", 3), sp.Symbol("c", real=True)
    return _shown(list(zip(_softmax([a + c for a in z]), _softmax(z), strict=True)), spoiled)


def gelu_derivative(spoiled: bool) -> bool:
    """GELU'(x) = Φ(x) + x φ(x), a scalar."""
    x = sp.Symbol("x", real=True)
    cumulative = (1 + sp.erf(x / sp.sqrt(2))) / 2
    density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
    return _shown([(sp.diff(x * cumulative, x), cumulative + x * density)], spoiled)


def rms_norm(spoiled: bool) -> bool:
    """dx of RMSNorm at d = 3: r (ĝ − x̂ mean(ĝ ⊙ x̂)), with ĝ = g γ."""
    return _normalization(False, spoiled)


def layer_norm(spoiled: bool) -> bool:
    """dx of LayerNorm at d = 3: r (ĝ − mean ĝ − x̂ mean(ĝ ⊙ x̂)), with ĝ = g γ."""
    return _normalization(True, spoiled)


def _normalization(centred: bool, spoiled: bool) -> bool:
    d = 3
    x, gamma, g = _symbols("x", d), _symbols("a", d), _symbols("g", d)
    eps = sp.Symbol("eps", positive=True)

    def mean(values: list[sp.Expr]) -> sp.Expr:
        return sp.Add(*values) / d

    middle = mean(list(x)) if centred else sp.Integer(0)
    r = 1 / sp.sqrt(mean([(a - middle) ** 2 for a in x]) + eps)
    xhat = [(a - middle) * r for a in x]
    ghat = [a * b for a, b in zip(g, gamma, strict=True)]
    loss = sp.Add(*(a * b for a, b in zip(ghat, xhat, strict=True)))
    shared = mean([a * b for a, b in zip(ghat, xhat, strict=True)])
    lifted = mean(ghat) if centred else sp.Integer(0)
    return _shown([(sp.diff(loss, x[j]), r * (ghat[j] - lifted - xhat[j] * shared)) for j in range(d)], spoiled)


def attention_queries(spoiled: bool) -> bool:
    """dQ of attention at n = 1, m = 3, d_k = 4, d_v = 2: dS K/√d_k with dS = P ⊙ (dP − rowsum(P ⊙ dP))."""
    m, d_k, d_v = 3, 4, 2
    q, g = _symbols("q", d_k), _symbols("g", d_v)
    k, v = sp.Matrix(m, d_k, _symbols("k", m * d_k)), sp.Matrix(m, d_v, _symbols("v", m * d_v))
    p = _softmax([sp.Add(*(q[c] * k[j, c] for c in range(d_k))) / sp.sqrt(d_k) for j in range(m)])
    loss = sp.Add(*(g[c] * p[j] * v[j, c] for j in range(m) for c in range(d_v)))
    dp = [sp.Add(*(g[c] * v[j, c] for c in range(d_v))) for j in range(m)]
    total = sp.Add(*(a * b for a, b in zip(p, dp, strict=True)))
    ds = [a * (b - total) for a, b in zip(p, dp, strict=True)]
    claim = [sp.Add(*(ds[j] * k[j, c] for j in range(m))) / sp.sqrt(d_k) for c in range(d_k)]
    return _shown([(sp.diff(loss, q[c]), claim[c]) for c in range(d_k)], spoiled)


def cross_entropy_any_labels(spoiled: bool) -> bool:
    """The false claim at K = 3: p − y, the labels having any sum. To show is that it is false."""
    z, y = _symbols("z", 3), _symbols("y", 3)
    p = _softmax(z)
    loss = -sp.Add(*(a * sp.log(b) for a, b in zip(y, p, strict=True)))
    total = sp.Add(*y) if spoiled else sp.Integer(1)  # spoiled, the claim is right, and must not be called false
    return _zeros(sp.diff(loss, z[j]) - (total * p[j] - y[j]) for j in range(3)) == -1


# By the claim: the size in words, and the route.
ROUTES: dict[str, tuple[str, Route]] = {
    "softmax Jacobian": ("K=3", _explicit("deriv_softmax", 3)),
    "cross-entropy gradient": ("K=3", _explicit("deriv_cross_entropy_softmax", 3)),
    "BCE derivative": ("scalar", _explicit("deriv_bce_logits", 1)),
    "σ(−z) = 1 − σ(z)": ("scalar", sigmoid_reflection),
    "BCE, log form": ("scalar", bce_log_form),
    "softmax(z + c) = softmax(z)": ("K=3", softmax_shift),
    "KL gradient": ("K=3", _explicit("deriv_kl_divergence_softmax_second", 3)),
    "GELU′": ("scalar", gelu_derivative),
    "RMSNorm gradients": ("dx, d=3", rms_norm),
    "LayerNorm gradients": ("dx, d=3", layer_norm),
    "attention gradients": ("dQ, 1×4 by 3×4", attention_queries),
    "false: p − y for labels of any sum": ("K=3", cross_entropy_any_labels),
}
