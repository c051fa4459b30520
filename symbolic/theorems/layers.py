"""Linear map, embedding, gather, residual, dropout with a given mask, and the feed-forward block: every gradient.

Weights act from the right, y = x W + b with W [inputs, outputs]; x has leading axes (batch B, places n), and the
gradients of what all places share sum over them. Normalisation is in `normalization`, the elementwise functions are in
`gated_activations`, attention and what is stacked of these in `attention` and `transformer`.
"""

from __future__ import annotations

from ..derivations.system import System, SystemCheck
from ..derivations.theorem import theorem
from ..language import vocabulary as lm
from ..language.arrays import array, define
from ..language.selection import select

_TOPIC = "layers"
_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016)"
_SHARED = "W and b are shared by all places, so their gradients sum over batch and places."
_VASWANI = "Vaswani et al., Attention Is All You Need (2017)"


@theorem(topic=_TOPIC, title="Gradients of a linear layer", source=f"{_GBC}, section 6.5.6")
def vjp_linear() -> System:
    x, w, b, g = array("x", "B,n,d_in"), array("W", "d_in,d_out"), array("b", "d_out"), array("G", "B,n,d_out")
    y = define("y", x @ w + b)
    return System(
        lm.sum(g * y),
        [x, w, b],
        notes=["Weights act from the right: y = x W + b, W is inputs × outputs.", _SHARED],
        numpy=SystemCheck("layers.linear", ("x", "W", "b"), "layers.linear_vjp", ("x", "W", "G"), cotangent="G"),
    )


@theorem(topic=_TOPIC, title="Gradient of an embedding table", source="Press, Wolf, Using the Output Embedding (2017)")
def vjp_embedding() -> System:
    table, ids, g = array("E", "V,d"), array("t", "B,n", "index<V"), array("G", "B,n,d")
    y = define("y", select(table, (ids,)))
    return System(
        lm.sum(g * y),
        [table],
        notes=["Row v collects the cotangent of every place that holds the id v: repeated ids accumulate."],
        numpy=SystemCheck(
            "layers.embedding", ("E", "t"), "flat_layers.embedding_gradient", ("E", "t", "G"), cotangent="G"
        ),
    )


@theorem(topic=_TOPIC, title="Gradient of picking one entry of each row", source="NumPy, take_along_axis")
def vjp_gather() -> System:
    x, ids, g = array("x", "N,K"), array("t", "N", "index<K"), array("G", "N")
    y = define("y", select(x, (lm.arange("N"), ids)))
    return System(
        lm.sum(g * y),
        [x],
        notes=["y_n is x at row n and column t_n; no two picks fall on one entry, so nothing accumulates."],
        numpy=SystemCheck(
            "flat_layers.gather", ("x", "t"), "flat_layers.gather_gradient", ("x", "t", "G"), cotangent="G"
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradients through a residual connection",
    source="He et al., Identity Mappings in Deep Residual Networks (2016), eq. (5)",
)
def vjp_residual() -> System:
    x, w, g = array("x", "n,d"), array("W", "d,d"), array("G", "n,d")
    u = define("u", x @ w)
    y = define("y", x + lm.tanh(u))
    return System(
        lm.sum(g * y),
        [x, w],
        notes=["The branch is tanh(x W); the cotangent passes unchanged beside it: dx = dy + what the branch gives."],
        numpy=SystemCheck(
            "flat_layers.residual", ("x", "W"), "flat_layers.residual_gradients", ("x", "W", "G"), cotangent="G"
        ),
    )


@theorem(
    topic=_TOPIC, title="Gradient of dropout with a given mask", source="Srivastava et al., Dropout (2014), section 10"
)
def vjp_dropout() -> System:
    x, keep, rate, g = array("x", "n,d"), array("m", "n,d", "binary"), array("rho", "", "(0,1)"), array("G", "n,d")
    y = define("y", x * keep / (1 - rate))
    return System(
        lm.sum(g * y),
        [x],
        notes=["m is the 0/1 mask of what is kept, ρ the rate; scaled while training, so inference needs no factor."],
        numpy=SystemCheck(
            "layers.dropout",
            ("x", "m"),
            "layers.dropout",
            ("G", "m"),
            options={"rate": "rho"},
            cotangent="G",
        ),
    )


@theorem(topic=_TOPIC, title="Gradients of the feed-forward block", source=f"{_VASWANI}, eq. (2), with GELU for ReLU")
def vjp_feed_forward() -> System:
    x, g = array("x", "n,d"), array("G", "n,d")
    w_1, b_1, w_2, b_2 = array("W_1", "d,f"), array("b_1", "f"), array("W_2", "f,d"), array("b_2", "d")
    u = define("u", x @ w_1 + b_1)
    a = define("a", lm.gelu(u))
    y = define("y", a @ w_2 + b_2)
    parameters = ("W_1", "b_1", "W_2", "b_2")
    return System(
        lm.sum(g * y),
        [x, w_1, b_1, w_2, b_2],
        notes=["y = gelu(x W₁ + b₁) W₂ + b₂ for every place, with the exact GELU."],
        numpy=SystemCheck(
            "flat_layers.feed_forward",
            ("x", *parameters),
            "flat_layers.feed_forward_gradients",
            ("x", *parameters, "G"),
            cotangent="G",
        ),
    )
