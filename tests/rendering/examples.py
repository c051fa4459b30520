"""Expressions and derivations of many kinds, made by hand, for the tests of what is shown."""

import sympy as sp

from lemmata.symbolic.derivations.model import Derivation, Step
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define, tensor_of
from lemmata.symbolic.language.hypotheses import equal
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    Delta,
    Element,
    IndexSum,
    Indicator,
    PartialDerivative,
)
from lemmata.symbolic.language.operations import OPERATIONS


def expressions() -> dict[str, sp.Basic]:
    """Varied expressions by name."""
    z, y = array("z", "K"), array("y", "K")
    i, k, n, c = index("i", "K"), index("k", "K"), index("n", "N"), index("c", "M")
    zi, yi = z.element(i), y.element(i)
    p = v.softmax(z)
    x, w = array("X", "N,D"), array("W_Q", "D,M")
    zz, t = array("z", "N,K"), array("t", "N", "index<K")
    eps, gamma = array("eps", "", "positive").body, array("gamma", "").body
    pos, ii, d = sp.Symbol("pos"), sp.Symbol("i"), sp.Symbol("d")
    shifted = v.exp(z - v.max(z))
    found: dict[str, sp.Basic] = {
        "difference": p.element(k) - y.element(k),
        "sum last": p.element(k) * v.sum(y).body - y.element(k),
        "cross-entropy": (-v.sum(y * v.log(p))).body,
        "sum of a negative": v.sum(-z * v.log(z)).body,
        "positional": sp.sin(pos / 10000 ** (2 * ii / d)),
        "log of a sum times": v.logsumexp(z).body * yi,
        "softmax": tensor_of(p).at(k),
        "stable softmax": shifted.element(i) / v.sum(shifted).body,
        "delta": p.element(i) * (Delta(i, k) - p.element(k)),
        "partial of an element": PartialDerivative(p.element(i), z.element(k)),
        "partial of a sum": PartialDerivative((-v.sum(y * v.log(p))).body, z.element(k)),
        "partial over": yi * PartialDerivative(p.element(i), z.element(k)) / p.element(i),
        "matrix product": (x @ w).element(n, c),
        "mean": v.mean(-v.log(v.softmax(zz)) * zz).body,
        "minus a negative": sp.Add(5, sp.Mul(-1, -4, evaluate=False), evaluate=False),
        "numbers": sp.Mul(2, 3, evaluate=False),
        "rms": 1 / sp.sqrt(v.mean(z**2).body + eps),
        "hard label": Element(tensor_of(zz), n, t.element(n)),
        "one-hot": Delta(t.element(n), k),
        "affine index": Element(tensor_of(array("x", "M")), 3 * k + 1),
        "indicator": Indicator(sp.Le(k, i)),
        "conditions": Indicator(sp.And(sp.Ge(zi, 0), sp.Lt(k, i))),
        "variance": v.sum(p * (z - v.sum(p * z)) ** 2).body,
        "product of sums": (v.sum(z) * v.sum(y)).body,
        "square of a sum": (v.sum(z) ** 2).body,
        "double sum": v.sum(zz * zz).body,
        "product": v.prod(z).body * zi,
        "maximum": -v.max(-z).body,
        "argmax": ArgMaxIndicator(z.element(k), k, i),
        "accents": array("y_hat", "K").element(i) ** 2 + array("z_prime", "K").element(i) ** 2,
        "focal": (1 - gamma) ** 2 * sp.log(p.element(i)),
        "symbolic power": zi ** (gamma - 1),
        "gaussian": sp.exp(-(zi**2) / 2) / sp.sqrt(2 * sp.pi),
        "tanh squared": 1 - sp.tanh(zi) ** 2,
        "two logs": sp.log(zi) * sp.log(yi) * zi,
        "small": eps * sp.Rational(1, 10**8) + zi * sp.Float(1e-5),
        "nested exp": sp.exp(sp.exp(zi)),
        "powers": 2**zi * 3**yi,
        "tower": sp.Symbol("x") ** (sp.Symbol("y") ** 2),
        "max of two": sp.Max(zi, 0),
        "larger of two": v.maximum(z, y).element(i) * yi,
        "smaller of two": v.minimum(z, 2).element(i) ** 2,
        "absolute": sp.Abs(zi),
        "floor": sp.floor(ii / 2),
        "greek": array("beta_1", "").body * array("lambda", "").body / array("d_model", "").body,
        "user function": sp.Function("my_f")(zi),
        "infinity": sp.Max(zi, -sp.oo, evaluate=False),
        "relation": sp.Eq(v.sum(y).body, 1),
    }
    found |= {f"function {name}": 2 * row.example(zi) ** 2 * yi for name, row in OPERATIONS.items()}
    return found


def cross_entropy() -> Derivation:
    """The gradient of cross-entropy by the logits."""
    z, y = array("z", "K"), array("y", "K")
    p, k, i = v.softmax(z), index("k", "K"), index("i", "K")
    zk, pk, yk, yi = z.element(k), p.element(k), y.element(k), y.element(i)
    left = PartialDerivative((-v.sum(y * v.log(p))).body, zk)
    chain = [
        left,
        -IndexSum(yi * PartialDerivative(v.log(p).element(i), zk), i),
        -IndexSum(yi * PartialDerivative(p.element(i), zk) / p.element(i), i),
        -IndexSum(yi * (Delta(i, k) - pk), i),
        pk * v.sum(y).body - yk,
        pk - yk,
    ]
    rules = [
        ("deriv_sum", "The derivative of a sum is the sum of the derivatives.", "differentiate"),
        ("deriv_log", "Chain rule: the derivative of log x is 1/x.", "differentiate"),
        ("deriv_softmax", "∂p_i/∂z_k = p_i (δ_ik − p_k), proved before.", "differentiate"),
        ("contract_delta", "Only the term i = k is left of the sum over δ_ik.", "contract"),
        ("sum_y", "The targets sum to 1 (100% of the mass, y_k >= 0).", "hypothesis"),
    ]
    steps = tuple(Step(a, b, *r) for a, b, r in zip(chain[:-1], chain[1:], rules, strict=True))
    return Derivation(
        "deriv_cross_entropy_softmax",
        left,
        pk - yk,
        (k,),
        steps,
        (tensor_of(p),),
        (equal(v.sum(y), 1),),
        (tensor_of(z), tensor_of(y)),
        zk,
        "Gradient of cross-entropy by the logits",
        "Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2",
        ("deriv_softmax",),
        ("The gradient is by the logits z, not by the probabilities p.",),
    )


def softmax() -> Derivation:
    """The Jacobian of softmax."""
    z = array("z", "K")
    p, i, k = v.softmax(z), index("i", "K"), index("k", "K")
    total, ei, ek = v.sum(v.exp(z)).body, v.exp(z).element(i), v.exp(z).element(k)
    left = PartialDerivative(p.element(i), z.element(k))
    chain = [
        left,
        PartialDerivative(tensor_of(p).at(i), z.element(k)),
        ei * Delta(i, k) / total - ei * ek / total**2,
        p.element(i) * Delta(i, k) - p.element(i) * p.element(k),
        p.element(i) * (Delta(i, k) - p.element(k)),
    ]
    rules = [
        ("unfold", "Insert the definition of p.", "unfold"),
        ("deriv_quotient", "Quotient rule.", "differentiate"),
        ("fold", "Each quotient is p again.", "fold"),
        ("factor", "Take out p_i.", "collect"),
    ]
    steps = tuple(Step(a, b, *r) for a, b, r in zip(chain[:-1], chain[1:], rules, strict=True))
    return Derivation(
        "deriv_softmax",
        left,
        chain[-1],
        (i, k),
        steps,
        (tensor_of(p),),
        (),
        (tensor_of(z),),
        z.element(k),
        "Jacobian of softmax",
        "Bridle (1990)",
    )


def layer_norm() -> Derivation:
    """LayerNorm backward, with a made-up long line in the middle; its size is in two axes, a scalar is positive."""
    x, g, eps = array("x", "N,d"), array("g", "N,d"), array("eps", "", "positive")
    mu = define("mu", v.mean(x, axis=1))
    sigma = define("sigma", v.sqrt(v.mean((x - mu[:, None]) ** 2, axis=1) + eps), domain="positive")
    x_hat = define("x_hat", (x - mu[:, None]) / sigma[:, None])
    n, k = index("n", "N"), index("k", "d")
    left = PartialDerivative(v.sum(g * x_hat).body, x.element(n, k))
    right = (
        g.element(n, k) - v.mean(g, axis=1).element(n) - x_hat.element(n, k) * v.mean(g * x_hat, axis=1).element(n)
    ) / sigma.element(n)
    long = v.sum(x * g).body + v.sum(v.exp(x)).body - v.sum(v.log(1 + v.exp(g))).body + v.sum(x**3 * g).body
    long = right + x.element(n, k) * sp.Rational(1, 3) * (long - v.sum(x * g**4).body + sp.log(eps.body))
    steps = (
        Step(left, long, "long", "A line made to be broken.", "differentiate"),
        Step(long, right, "deriv_layer_norm", "By the chain rule through μ and σ.", "collect"),
    )
    return Derivation(
        "vjp_layer_norm",
        left,
        right,
        (n, k),
        steps,
        tuple(tensor_of(a) for a in (mu, sigma, x_hat)),
        (equal(v.sum(g, axis=1), 0),),
        (tensor_of(x), tensor_of(g), eps.body),
        x.element(n, k),
        "LayerNorm, backward",
        "Ba, Kiros, Hinton (2016)",
        (),
        ("ε > 0 keeps σ away from 0.",),
    )


DERIVATIONS = {"cross_entropy": cross_entropy, "softmax": softmax, "layer_norm": layer_norm}
