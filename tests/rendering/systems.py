"""Gradients in named adjoints, for the tests of what is shown: attention, LayerNorm and a feed-forward layer."""

from dataclasses import replace

from lemmata.symbolic.derivations.model import Derivation, Step
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import Array, array, define
from lemmata.symbolic.language.nodes import DefinedTensor


def attention(batch: str = "") -> Derivation:
    """Scaled dot-product attention; `batch` are leading axes, such as ``B,h,``."""
    q, k, value = array("Q", batch + "n,d"), array("K", batch + "m,d"), array("V", batch + "m,e")
    g = array("G", batch + "n,e")
    lead = range(q.ndim - 2)
    s = define("S", (q @ k.transpose(*lead, q.ndim - 1, q.ndim - 2)) / v.sqrt(Array((), q.shape[-1])))
    p = v.softmax(s, name="P")
    o = define("O", p @ value)
    return derive_system(System(v.sum(g * o), [q, k, value]), "vjp_attention", "Attention, backward")


def batched_attention() -> Derivation:
    """Attention with a batch axis and heads."""
    return attention("B,h,")


def layer_norm() -> Derivation:
    """LayerNorm over the last axis; the gradient by x is the paper's, so that its part here has no steps but one."""
    x, g, eps = array("X", "B,T,C"), array("G", "B,T,C"), array("eps", "", domain="positive")
    gamma, beta = array("gamma", "C"), array("beta", "C")
    mu = define("mu", v.mean(x, -1))
    r = define("r", 1 / v.sqrt(v.mean((x - mu[:, :, None]) ** 2, -1) + eps))
    xhat = define("xhat", (x - mu[:, :, None]) * r[:, :, None])
    y = define("Y", xhat * gamma + beta)
    d = derive_system(System(v.sum(g * y), [x, gamma, beta]), "vjp_layer_norm", "LayerNorm, backward")
    dxhat = next(p for p in d.parts if p.name == "dxhat").adjoint
    assert dxhat is not None
    parts = []
    for p in d.parts:
        if p.name in ("dmu", "dr"):
            continue
        if p.name == "dX":
            i, j, k = p.indices
            dx = Array((i, j, k), dxhat[i, j, k])
            form = r[:, :, None] * (dx - v.mean(dx, -1, True) - xhat * v.mean(dx * xhat, -1, True))
            value = form.element(i, j, k)
            step = Step(p.left, value, "deriv_layer_norm", "the mean and the scale are not constant.", "differentiate")
            p = replace(p, right=value, steps=(step,), adjoint=DefinedTensor("dX", p.indices, value, "adjoint of X"))
        parts.append(p)
    return replace(d, parts=tuple(parts))


def feed_forward() -> Derivation:
    """Two matrices with a ReLU between."""
    x, g = array("X", "B,T,C"), array("G", "B,T,C")
    w1, b1, w2 = array("W_1", "C,H"), array("b_1", "H"), array("W_2", "H,C")
    z = define("Z", x @ w1 + b1)
    a = define("A", v.maximum(z, 0))
    y = define("Y", a @ w2)
    return derive_system(System(v.sum(g * y), [x, w1, b1, w2]), "vjp_feed_forward", "Feed-forward layer, backward")


SYSTEMS = {
    "attention": attention,
    "batched attention": batched_attention,
    "layer norm": layer_norm,
    "feed forward": feed_forward,
}
