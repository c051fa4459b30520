"""Plain SymPy with explicit components: the same five results at K = 4, 8, 16, 32, one symbol an entry.

A route builds the loss, differentiates it, and shows that every entry of the difference to the claim is zero. It
stands for what a careful user writes: `diff`, then `cancel(together(...))` where SymPy has not already found 0. The
claim can be spoiled, so that a test sees each route refuse it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sympy as sp

Route = Callable[[int, bool], int]


def _symbols(name: str, k: int, positive: bool = False) -> list[sp.Symbol]:
    return list(sp.symbols(f"{name}0:{k}", positive=True) if positive else sp.symbols(f"{name}0:{k}", real=True))


def _softmax(z: list[sp.Symbol]) -> list[sp.Expr]:
    total = sp.Add(*(sp.exp(a) for a in z))
    return [sp.exp(a) / total for a in z]


def _zeros(differences: Iterable[sp.Expr]) -> int:
    """How many differences are shown to be zero; -1 as soon as one is not."""
    count = 0
    for difference in differences:
        if difference != 0 and sp.cancel(sp.together(difference)) != 0:
            return -1
        count += 1
    return count


def _sign(spoiled: bool) -> int:
    return -1 if spoiled else 1


def softmax_jacobian(k: int, spoiled: bool = False) -> int:
    """∂p_i/∂z_k = δ_ik p_i − p_i p_k, entry by entry."""
    z = _symbols("z", k)
    p = _softmax(z)
    return _zeros(
        sp.diff(p[i], z[j]) - (sp.KroneckerDelta(i, j) * p[i] - _sign(spoiled) * p[i] * p[j])
        for i in range(k)
        for j in range(k)
    )


def cross_entropy_gradient(k: int, spoiled: bool = False) -> int:
    """∂(−Σ y log p)/∂z = p − y where Σ y = 1, the last label being 1 minus the others."""
    z, y = _symbols("z", k), _symbols("y", k)
    y[-1] = 1 - sp.Add(*y[:-1])
    p = _softmax(z)
    loss = -sp.Add(*(a * sp.log(b) for a, b in zip(y, p, strict=True)))
    return _zeros(sp.diff(loss, z[j]) - (p[j] - _sign(spoiled) * y[j]) for j in range(k))


def bce_logits_derivative(k: int, spoiled: bool = False) -> int:
    """The derivative of binary cross-entropy by the logit, σ(z) − y; there is one entry, whatever K."""
    z, y = sp.symbols("z y", real=True)
    p = 1 / (1 + sp.exp(-z))
    loss = -y * sp.log(p) - (1 - y) * sp.log(1 - p)
    return _zeros([sp.diff(loss, z) - (p - _sign(spoiled) * y)])


def logsumexp_hessian(k: int, spoiled: bool = False) -> int:
    """The Hessian of log Σ e^z, δ_ik p_i − p_i p_k, entry by entry."""
    z = _symbols("z", k)
    p = _softmax(z)
    value = sp.log(sp.Add(*(sp.exp(a) for a in z)))
    return _zeros(
        sp.diff(value, z[i], z[j]) - (sp.KroneckerDelta(i, j) * p[i] - _sign(spoiled) * p[i] * p[j])
        for i in range(k)
        for j in range(k)
    )


def kl_gradient(k: int, spoiled: bool = False) -> int:
    """∂KL(p‖softmax(z))/∂z = q − p where Σ p = 1, the last probability being 1 minus the others."""
    z, p = _symbols("z", k), _symbols("p", k, positive=True)
    p[-1] = 1 - sp.Add(*p[:-1])
    q = _softmax(z)
    loss = sp.Add(*(a * (sp.log(a) - sp.log(b)) for a, b in zip(p, q, strict=True)))
    return _zeros(sp.diff(loss, z[j]) - (q[j] - _sign(spoiled) * p[j]) for j in range(k))


# By the theorem with the same statement: the route, and the number of entries that it has to show at K.
ROUTES: dict[str, tuple[Route, Callable[[int], int]]] = {
    "deriv_softmax": (softmax_jacobian, lambda k: k * k),
    "deriv_cross_entropy_softmax": (cross_entropy_gradient, lambda k: k),
    "deriv_bce_logits": (bce_logits_derivative, lambda k: 1),
    "hessian_logsumexp": (logsumexp_hessian, lambda k: k * k),
    "deriv_kl_divergence_softmax_second": (kl_gradient, lambda k: k),
}
