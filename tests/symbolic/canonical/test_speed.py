"""Typical proofs with symbolic sizes: each is proved, and the times are printed (``pytest -s``), not asserted."""

from __future__ import annotations

import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language import vocabulary as np
from lemmata.symbolic.language.arrays import Array, array
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta
from lemmata.symbolic.language.nodes import PartialDerivative as D


def typical() -> dict[str, tuple[sp.Expr, sp.Expr]]:
    """Name: left and right."""
    z, y = array("z", "K"), array("y", "K")
    i, k = index("i", "K"), index("k", "K")
    p = np.softmax(z)
    jacobian = p.element(i) * (Delta(i, k) - p.element(k))
    x, g = array("x", "B,T,C"), array("g", "B,T,C")
    w, b, eps = array("w", "C"), array("b", "C"), array("eps", "", domain="positive")
    at = (index("b", "B"), index("t", "T"), index("c", "C"))

    def normalised(a: Array) -> tuple[Array, Array]:
        centred = a - np.mean(a, axis=-1, keepdims=True)
        root = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + eps)
        return centred / root, 1 / root

    hat, r = normalised(x)
    gh = g * w
    back = r * (gh - np.mean(gh, -1, True) - hat * np.mean(gh * hat, -1, True))
    q, kk, v, d_out = array("Q", "n,d"), array("K", "m,d"), array("V", "m,e"), array("dO", "n,e")
    scale = np.sqrt(Array((), q.shape[1]))
    weights = np.softmax(q @ kk.T / scale)
    d_p = d_out @ v.T
    d_s = weights * (d_p - np.sum(weights * d_p, -1, True))
    row, column, memory = index("i", "n"), index("j", "d"), index("l", "m")
    loss = np.sum(d_out * (weights @ v)).body
    ce = -np.sum(y * np.log(p)).body
    s = array("s", "")
    return {
        "softmax sums to one": (np.sum(p).body, sp.S.One),
        "softmax shift": (np.softmax(z + s).element(i), p.element(i)),
        "softmax minus max": (np.softmax(z - np.max(z)).element(i), p.element(i)),
        "softmax jacobian": (D(p.element(i), z.element(k)), jacobian),
        "cross-entropy gradient": (D(ce, z.element(k)), p.element(k) * np.sum(y).body - y.element(k)),
        "hessian of logsumexp": (D(D(np.logsumexp(z).body, z.element(i)), z.element(k)), jacobian),
        "layer norm backward": (D(np.sum(g * (hat * w + b)).body, x.element(*at)), back.element(*at)),
        "attention dQ": (D(loss, q.element(row, column)), (d_s @ kk / scale).element(row, column)),
        "attention dK": (D(loss, kk.element(memory, column)), (d_s.T @ q / scale).element(memory, column)),
        "gelu derivative": (
            D(np.gelu(s).body, s.body),
            ((1 + sp.erf(s.body / sp.sqrt(2))) / 2 + s.body * sp.exp(-(s.body**2) / 2) / sp.sqrt(2 * sp.pi)),
        ),
    }


def test_typical_proofs() -> None:
    for name, (left, right) in typical().items():
        answer = equal(left, right)
        print(f"{name:24s} {answer.seconds * 1e3:7.1f} ms")
        assert answer.equal, f"{name}: {answer.residual}"
        assert not equal(left, right * (1 + sp.Rational(9, 10**4))).equal, name
        assert not equal(left, -right).equal, name
