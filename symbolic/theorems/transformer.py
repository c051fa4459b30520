"""The Transformer block, pre-LN and post-LN, and a language model of several blocks: every parameter's gradient.

`transformer_block` writes one block over an array of tokens; it is used for the theorems of one block, for the stack,
and wherever a stack of another depth is wanted. Its definitions hold one operation each, so that each adjoint is a
short local statement. Heads are an axis of their own: W_Q is d × h × d_k, which is the split of the columns h·d_k.

Pre-LN: h = x + MHA(LN₁(x)), y = h + FFN(LN₂(h)). Post-LN (2017): h = LN₁(x + MHA(x)), y = LN₂(h + FFN(h)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..derivations.system import System, SystemCheck
from ..derivations.theorem import theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define, tensor_of
from ..language.errors import LemmataError
from ..language.selection import select
from .normalization import Form, normalized, normalized_adjoint

_TOPIC = "transformer"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017)"
_XIONG = "Xiong et al., On Layer Normalization in the Transformer Architecture (2020), table 1"
_HEADS = "Heads are an axis: column a·d_k + b of the usual W_Q is W_Q at (a, b); likewise W_K, W_V and the rows of W_O."
_ONE = "x is one sequence, n × d; over a batch the gradients of the parameters add up."
_EPS = "ε > 0 is under the root of both LayerNorms; gelu is the exact one."

# Of one block, in the order of the arguments of its hand-written NumPy.
SHAPES = {
    "W_Q": "d,h,d_k",
    "b_Q": "h,d_k",
    "W_K": "d,h,d_k",
    "b_K": "h,d_k",
    "W_V": "d,h,d_v",
    "b_V": "h,d_v",
    "W_O": "h,d_v,d",
    "b_O": "d",
    "W_1": "d,f",
    "b_1": "f",
    "W_2": "f,d",
    "b_2": "d",
    "gamma_1": "d",
    "beta_1": "d",
    "gamma_2": "d",
    "beta_2": "d",
}


@dataclass(frozen=True)
class Block:
    """A block written out: its output, its parameters by name, and how LayerNorm's adjoints are to be written."""

    output: Array
    parameters: Mapping[str, Array]
    forms: Mapping[str, Form]


# ---------------------------------------------------------------------- the parts
def multi_head(x: Array, p: Mapping[str, Array], label: str = "", causal: bool = False) -> Array:
    """Σ_h softmax(Q_h K_hᵀ/√d_k) V_h W_O,h + b_O over the tokens of x, n × d; `causal` keeps j ≤ i only.

    Source: Vaswani et al. (2017), section 3.2.2, with biases. The parameters are named as in `SHAPES`.
    """
    q, k, v = (
        define(f"{name}{label}", lm.einsum("nd,dhk->hnk", x, p[f"W_{name}"]) + p[f"b_{name}"][:, None, :])
        for name in "QKV"
    )
    scores = define(f"S{label}", lm.einsum("hik,hjk->hij", q, k) / lm.sqrt(Array((), q.shape[-1])))
    if causal:
        places = lm.arange(x.shape[0])
        kept = lm.exp(scores) * lm.less_equal(places[None, :], places[:, None])
        weights = define(f"P{label}", kept / lm.sum(kept, axis=-1, keepdims=True))
    else:
        weights = lm.softmax(scores, name=f"P{label}")
    heads = define(f"A{label}", weights @ v)
    return lm.einsum("hnv,hvd->nd", heads, p["W_O"]) + p["b_O"]


def feed_forward(x: Array, p: Mapping[str, Array], label: str = "") -> Array:
    """gelu(x W₁ + b₁) W₂ + b₂. Source: Vaswani et al. (2017), eq. (2), with GELU for ReLU."""
    u = define(f"u{label}", x @ p["W_1"] + p["b_1"])
    a = define(f"a{label}", lm.gelu(u))
    return a @ p["W_2"] + p["b_2"]


def transformer_block(x: Array, label: str = "", *, eps: Array, order: str = "pre", causal: bool = False) -> Block:
    """One block over the tokens x (n × d, declared or defined); all its names end in `label`.

    `order` is "pre" or "post". Raises `LemmataError` for another order.
    Source: post-LN: Vaswani et al. (2017), section 3.1; pre-LN: Xiong et al. (2020), table 1.

    >>> block = transformer_block(array("x", "n,d"), eps=array("eps", "", "positive"))
    >>> block.output.shape, list(block.forms)
    ((n, d), ['h', 'x'])
    """
    p = {name: array(name + label, shape) for name, shape in SHAPES.items()}
    write = {"pre": _pre, "post": _post}.get(order)
    if write is None:
        raise LemmataError(f"there is no order {order!r} of a block; the orders are 'pre' and 'post'")
    y, forms = write(x, p, label, eps, causal)
    return Block(y, {name + label: value for name, value in p.items()}, forms)


def _pre(x: Array, p: Mapping[str, Array], label: str, eps: Array, causal: bool) -> tuple[Array, dict[str, Form]]:
    xhat = normalized(x, eps, name=f"xhat{label}")
    z = define(f"z{label}", p["gamma_1"] * xhat + p["beta_1"])
    h = define(f"h{label}", x + multi_head(z, p, label, causal))
    hhat = normalized(h, eps, name=f"hhat{label}")
    w = define(f"w{label}", p["gamma_2"] * hhat + p["beta_2"])
    y = define(f"y{label}", h + feed_forward(w, p, label))
    forms = {
        f"h{label}": _beside(y, normalized_adjoint(h, hhat, eps, name=f"r_2{label}")),
        tensor_of(x).name: _beside(h, normalized_adjoint(x, xhat, eps, name=f"r_1{label}")),
    }
    return y, forms


def _post(x: Array, p: Mapping[str, Array], label: str, eps: Array, causal: bool) -> tuple[Array, dict[str, Form]]:
    s = define(f"s{label}", x + multi_head(x, p, label, causal))
    shat = normalized(s, eps, name=f"shat{label}")
    h = define(f"h{label}", p["gamma_1"] * shat + p["beta_1"])
    t = define(f"t{label}", h + feed_forward(h, p, label))
    that = normalized(t, eps, name=f"that{label}")
    y = define(f"y{label}", p["gamma_2"] * that + p["beta_2"])
    forms = {
        f"t{label}": normalized_adjoint(t, that, eps, name=f"r_2{label}"),
        f"s{label}": normalized_adjoint(s, shat, eps, name=f"r_1{label}"),
    }
    return y, forms


def _beside(after: Array, branch: Form) -> Form:
    """The adjoint before a residual: that of the sum after it, and what comes through the branch."""
    name = f"d{tensor_of(after).name}"
    return lambda adjoints: adjoints[name] + branch(adjoints)


# ---------------------------------------------------------------------- one block
def _block(order: str, causal: bool, notes: list[str]) -> System:
    x, eps, g = array("x", "n,d"), array("eps", "", "positive"), array("G", "n,d")
    block = transformer_block(x, eps=eps, order=order, causal=causal)
    names = ("x", *block.parameters, "eps")
    return System(
        lm.sum(g * block.output),
        [x, *block.parameters.values()],
        forms=block.forms,
        notes=[*notes, _ONE, _HEADS, _EPS],
        numpy=SystemCheck(
            "flat_transformer.block",
            names,
            "flat_transformer.block_gradients",
            (*names, "G"),
            options={"order": order, "causal": causal},
            cotangent="G",
        ),
    )


@theorem(topic=_TOPIC, title="Gradients of the Transformer block, pre-LN", source=_XIONG)
def vjp_transformer_block() -> System:
    return _block(
        "pre", False, ["Pre-LN: h = x + MHA(LN₁(x)), y = h + FFN(LN₂(h)); every place attends to every place."]
    )


@theorem(topic=_TOPIC, title="Gradients of the causal Transformer block, pre-LN", source=_XIONG)
def vjp_transformer_block_causal() -> System:
    return _block("pre", True, ["Pre-LN, causal: place i attends to the places j ≤ i."])


@theorem(topic=_TOPIC, title="Gradients of the Transformer block, post-LN", source=f"{_VASWANI}, section 3.1")
def vjp_transformer_block_post() -> System:
    return _block("post", False, ["Post-LN, as in the 2017 paper: h = LN₁(x + MHA(x)), y = LN₂(h + FFN(h))."])


# ---------------------------------------------------------------------- a language model
def language_model(depth: int, causal: bool = True) -> System:
    """Embedding with learned positions, `depth` pre-LN blocks, LayerNorm, tied head, mean cross-entropy: all gradients.

    Raises `LemmataError` for a depth below 1. Source: Radford et al. (2019); the tied table: Press, Wolf (2017).

    >>> [w.shape for w in language_model(1).wrt[:2]]
    [(V, d), (n, d)]
    """
    if depth < 1:
        raise LemmataError(f"a stack needs at least one block, got depth {depth}")
    table, positions, eps = array("E", "V,d"), array("R", "n,d"), array("eps", "", "positive")
    ids, targets = array("t", "n", "index<V"), array("q", "n", "index<V")
    x = define("x", select(table, (ids,)) + positions)
    parameters: dict[str, Array] = {}
    forms: dict[str, Form] = {}
    for number in range(1, depth + 1):
        block = transformer_block(x, f"_{number}", eps=eps, causal=causal)
        x = block.output
        parameters.update(block.parameters)
        forms.update(block.forms)
    gamma, beta = array("gamma", "d"), array("beta", "d")
    yhat = normalized(x, eps, name="yhat")
    final = define("v", gamma * yhat + beta)
    logits = define("Z", final @ table.T)
    loss = lm.mean(lm.logsumexp(logits, axis=-1) - select(logits, (lm.arange("n"), targets)))
    forms[tensor_of(x).name] = normalized_adjoint(x, yhat, eps)
    forms["Z"] = _softmax_minus_target(logits, targets)
    names = ("t", "q", "E", "R", *parameters, "gamma", "beta", "eps")
    return System(
        loss,
        [table, positions, *parameters.values(), gamma, beta],
        forms=forms,
        notes=[
            f"{depth} pre-LN blocks, {'causal' if causal else 'not causal'}; x is the table at the ids t plus learned "
            "positions R; the logits are v Eᵀ with the same table, whose gradient has two parts, head and embedding.",
            "The loss is the mean of the cross-entropies of P = softmax(Z) with the targets q.",
            _HEADS,
            _EPS,
        ],
        numpy=SystemCheck("flat_transformer.language_model", names, "flat_transformer.language_model_gradients", names),
    )


def _softmax_minus_target(logits: Array, targets: Array) -> Callable[[Mapping[str, Array]], Array]:
    count, classes = logits.shape
    p = lm.softmax(logits, name="P")
    return lambda adjoints: (p - lm.one_hot(targets, classes)) / Array((), count)


@theorem(
    topic=_TOPIC,
    title="Gradients of a language model of two blocks",
    source="Radford et al., Language Models are Unsupervised Multitask Learners (2019)",
)
def vjp_language_model() -> System:
    return language_model(2)
