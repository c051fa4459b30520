"""The hand-written backward functions of attention, layers and the Transformer, as claims at a generic point.

Sizes differ: batch 2, heads 4 in 2 groups of width 3 (so width 12 against 6), 5 queries, 7 keys, and so on. A parameter
inside a parameter object is varied by ``replaced``. Where a claim has hundreds of entries it is made along one generic
direction: ``along`` is then a function of one number.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lemmata.numeric import attention as at
from lemmata.numeric import gated_activations as ga
from lemmata.numeric import layers, multi_head, normalization, rotary, sampling, transformer
from lemmata.numeric import regression_losses as rl

from .claims import elementwise, loss
from .judging import Claim, contracted

SEED = 20170612


def real(*shape: int, label: str = "") -> np.ndarray:
    return 0.7 * sampling.draw("real", shape, sampling.generator(SEED, label, *shape))


# Attention of given q, k, v: 2 samples, 5 queries, 7 keys, d_k = 3, d_v = 4.
Q, KEYS, V = real(2, 5, 3, label="q"), real(2, 7, 3, label="k"), real(2, 7, 4, label="v")
G = real(2, 5, 4, label="g")
BIAS = real(1, 5, 7, label="bias")
CAUSAL = at.causal_mask(5, 7, align="end")
HOLES = sampling.draw("mask", (2, 1, 7), sampling.generator(SEED, "holes"))
EMPTY_ROW = CAUSAL.copy()
EMPTY_ROW[2] = False


def attention(which: str, **options: Any) -> Claim:
    """One input of attention varied, the others fixed."""
    inputs = {"q": Q, "k": KEYS, "v": V} | ({"bias": BIAS} if "bias" in options else {})
    rest = {name: value for name, value in options.items() if name != "bias"}

    def output(value: np.ndarray) -> np.ndarray:
        return at.scaled_dot_product_attention(**(inputs | {which: value}), **rest)

    gradient = at.scaled_dot_product_attention_vjp(**inputs, cotangent=G, **rest)
    return Claim(contracted(output, G), inputs[which], getattr(gradient, which))


# Multi-head: x [2, 5, 6], context [2, 7, 4], 4 query and 2 key/value heads of d_k = 3 and d_v = 2, output width 11.
X, CONTEXT, G_HEADS = real(2, 5, 6, label="x"), real(2, 7, 4, label="context"), real(2, 5, 11, label="gh")
HEADS = multi_head.MultiHeadParameters(
    w_q=real(6, 12),
    b_q=real(12),
    w_k=real(4, 6),
    b_k=real(6, label="bk"),
    w_v=real(4, 4),
    b_v=real(4),
    w_o=real(8, 11),
    b_o=real(11),
)
HEAD_OPTIONS = {"heads": 4, "kv_heads": 2, "mask": CAUSAL}


def replaced(parameters: Any, path: str, value: np.ndarray) -> Any:
    """A copy of nested parameters with the array at ``path`` ("attention.w_q") replaced."""
    name, _, rest = path.partition(".")
    if isinstance(parameters, tuple):
        index = int(name)
        return (*parameters[:index], replaced(parameters[index], rest, value), *parameters[index + 1 :])
    return replace(parameters, **{name: replaced(getattr(parameters, name), rest, value) if rest else value})


def at_path(parameters: Any, path: str) -> np.ndarray:
    for name in path.split("."):
        parameters = parameters[int(name)] if isinstance(parameters, tuple) else getattr(parameters, name)
    return parameters


def paths(parameters: Any) -> list[str]:
    """Every array in nested parameters."""
    if isinstance(parameters, tuple):
        return [f"{i}.{path}" for i, part in enumerate(parameters) for path in paths(part)]
    found = []
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        nested = is_dataclass(value) or isinstance(value, tuple)
        found += [f"{field.name}.{path}" for path in paths(value)] if nested else [field.name]
    return found


def heads(path: str) -> Claim:
    gradient = multi_head.multi_head_attention_vjp(X, CONTEXT, HEADS, G_HEADS, **HEAD_OPTIONS)

    def output(x: np.ndarray, context: np.ndarray, parameters: multi_head.MultiHeadParameters) -> np.ndarray:
        return multi_head.multi_head_attention(x, context, parameters, **HEAD_OPTIONS)

    if path == "x":
        return Claim(contracted(lambda v: output(v, CONTEXT, HEADS), G_HEADS), X, gradient.x)
    if path == "context":
        return Claim(contracted(lambda v: output(X, v, HEADS), G_HEADS), CONTEXT, gradient.context)
    varied = contracted(lambda v: output(X, CONTEXT, replaced(HEADS, path, v)), G_HEADS)
    return Claim(varied, getattr(HEADS, path), getattr(gradient.parameters, path))


def block_parameters(d: int, hidden: int, label: str) -> transformer.BlockParameters:
    draw = partial(real, label=label)
    return transformer.BlockParameters(
        attention=multi_head.MultiHeadParameters(
            w_q=draw(d, d),
            b_q=draw(d),
            w_k=draw(d, d // 2),
            b_k=draw(d // 2),
            w_v=draw(d, d // 2) * 1.1,
            b_v=draw(d // 2) * 1.1,
            w_o=draw(d, d) * 0.9,
            b_o=draw(d) * 0.9,
        ),
        feed_forward=transformer.FeedForwardParameters(draw(d, hidden), draw(hidden), draw(hidden, d), draw(d) * 0.8),
        gamma_1=1 + draw(d) * 0.3,
        beta_1=draw(d) * 0.7,
        gamma_2=1 - draw(d) * 0.2,
        beta_2=draw(d) * 0.6,
    )


def along(primal: Callable[[np.ndarray], np.ndarray], x: np.ndarray, gradient: np.ndarray, **options: Any) -> Claim:
    """The claim along one direction with no small entries: d/ds primal(x + s t) = ⟨gradient, t⟩."""
    t = sampling.draw("nonzero", x.shape, sampling.generator(SEED, "direction"))
    return Claim(lambda s: primal(x + s * t), np.array(0.0), np.sum(gradient * t), **options, step=2e-3)


BLOCK = block_parameters(4, 7, "block")
X_BLOCK, G_BLOCK = real(3, 5, 4, label="xb"), real(3, 5, 4, label="gb")


def block(path: str, *, whole: bool = False, **options: Any) -> Claim:
    architecture = transformer.Architecture(heads=2, kv_heads=1, **options)
    gradient = transformer.transformer_block_vjp(X_BLOCK, BLOCK, G_BLOCK, architecture)
    if path == "x":
        primal = contracted(lambda v: transformer.transformer_block(v, BLOCK, architecture), G_BLOCK)
        point, derivative = X_BLOCK, gradient.x
    else:
        primal = contracted(
            lambda v: transformer.transformer_block(X_BLOCK, replaced(BLOCK, path, v), architecture), G_BLOCK
        )
        point, derivative = at_path(BLOCK, path), at_path(gradient.parameters, path)
    analytic = architecture.activation not in ("gelu", "relu")
    return Claim(primal, point, derivative, analytic) if whole else along(primal, point, derivative, analytic=analytic)


MODEL = transformer.ModelParameters(
    table=real(9, 4, label="table"),
    blocks=(block_parameters(4, 7, "first"), block_parameters(4, 5, "second")),
    gamma=1 + real(4, label="gamma"),
    beta=real(4, label="beta"),
)
IDS = np.array([[3, 8, 3, 0, 5], [1, 1, 7, 3, 2], [0, 4, 6, 8, 8]])
TARGETS = np.array([[8, 3, 0, 5, -1], [1, 7, 3, 2, -1], [4, 6, 8, 8, -1]])


def model(path: str, order: str) -> Claim:
    architecture = transformer.Architecture(heads=2, kv_heads=1, order=order, activation="silu")
    gradient = transformer.language_model_gradient(IDS, TARGETS, MODEL, architecture, ignore_index=-1)

    def primal(value: np.ndarray) -> np.ndarray:
        return transformer.language_model_loss(
            IDS, TARGETS, replaced(MODEL, path, value), architecture, ignore_index=-1
        )

    return along(primal, at_path(MODEL, path), at_path(gradient, path))


X_LINEAR, W, B = real(2, 5, 3, label="xl"), real(3, 4), real(4, label="bl")
X_NORM, GAMMA, BETA = real(3, 5, 4, label="xn"), 1 + real(4, label="gn"), real(4, label="bn")
G_NORM = real(3, 5, 4, label="ggn")
X_CHANNELS, GAMMA_C, BETA_C = real(3, 6, 5, label="xc"), 1 + real(6, label="gc"), real(6, label="bc")
G_CHANNELS = real(3, 6, 5, label="gcc")
IDS_SMALL = np.array([[2, 0, 2], [4, 4, 4]])
PLACES = np.array([0.0, 3.0, 4.0, 100.0, 7.0])


def norm(function: Callable, backward: Callable, which: str, x: np.ndarray, *rest: np.ndarray, **options: Any) -> Claim:
    """A norm's cotangent of x, gamma or beta. ``rest`` is (gamma, beta, g) or (gamma, g), ``options`` go to both."""
    *parameters, g = rest
    inputs = [x, *parameters]
    index = ("x", "gamma", "beta").index(which)

    def output(value: np.ndarray) -> np.ndarray:
        return function(*inputs[:index], value, *inputs[index + 1 :], **options)

    gradient = getattr(backward(x, parameters[0], g, **options), which)
    return Claim(contracted(output, g), inputs[index], gradient)


layer = partial(norm, normalization.layer_norm, normalization.layer_norm_vjp)
rms = partial(norm, normalization.rms_norm, normalization.rms_norm_vjp)
batch = partial(norm, normalization.batch_norm, normalization.batch_norm_vjp)
group = partial(norm, normalization.group_norm, normalization.group_norm_vjp)


def linear(which: str) -> Claim:
    g = real(2, 5, 4, label="glin")
    inputs = {"x": X_LINEAR, "weight": W, "bias": B}
    gradient = layers.linear_vjp(X_LINEAR, W, g)
    primal = contracted(lambda v: layers.linear(**(inputs | {which: v})), g)
    return Claim(primal, inputs[which], getattr(gradient, which))


def gate(function: Callable, backward: Callable, which: str) -> Claim:
    inputs = {"gate": X_NORM, "value": G_NORM}
    g = real(3, 5, 4, label="gate")
    gradient = backward(X_NORM, G_NORM, g)
    return Claim(contracted(lambda v: function(**(inputs | {which: v})), g), inputs[which], getattr(gradient, which))


def cosine(which: str) -> Claim:
    inputs = {"a": X_LINEAR, "b": Q}
    g = real(2, 5, label="cosine")
    gradient = rl.cosine_similarity_vjp(X_LINEAR, Q, g)
    primal = contracted(lambda v: rl.cosine_similarity(**(inputs | {which: v})), g)
    return Claim(primal, inputs[which], getattr(gradient, which))


def rotated(**options: str) -> Claim:
    x, g = real(2, 5, 6, label="xr"), real(2, 5, 6, label="gr")
    return Claim(
        contracted(lambda v: rotary.rotary(v, PLACES, **options), g), x, rotary.rotary_vjp(g, PLACES, **options)
    )


TRANSFORMER_CLAIMS: dict[str, Callable[[], Claim]] = {
    **{f"attention, {which}": partial(attention, which) for which in "qkv"},
    **{f"attention, causal, {which}": partial(attention, which, mask=CAUSAL) for which in "qkv"},
    **{
        f"attention, bias, mask and scale, {which}": partial(attention, which, mask=HOLES, bias=True, scale=0.3)
        for which in ("q", "k", "v", "bias")
    },
    **{
        f"attention, a fully masked row, {which}": partial(attention, which, mask=EMPTY_ROW, masked_rows="zero")
        for which in "qkv"
    },
    **{f"multi-head, {path}": partial(heads, path) for path in ("x", "context", *paths(HEADS)) if path != "b_k"},
    **{f"pre-LN block, {path}": partial(block, path, order="pre", activation="silu", whole=True) for path in ("x",)},
    **{
        f"{order}-LN block, {activation}, {path}": partial(
            block, path, order=order, activation=activation, causal=causal
        )
        for order, activation, causal in (("pre", "gelu_tanh", True), ("post", "silu", False), ("post", "gelu", True))
        for path in ("x", *paths(BLOCK))
        if path != "attention.b_k"
    },
    **{
        f"language model, {order}-LN, {path}": partial(model, path, order)
        for order in ("pre", "post")
        for path in paths(MODEL)
        if not path.endswith("attention.b_k")
    },
    **{f"linear, {which}": partial(linear, which) for which in ("x", "weight", "bias")},
    "embedding": lambda: Claim(
        contracted(lambda t: layers.embedding(t, IDS_SMALL), real(2, 3, 7)),
        real(5, 7),
        layers.embedding_vjp(IDS_SMALL, real(2, 3, 7), 5),
    ),
    "dropout": lambda: Claim(
        contracted(lambda x: layers.dropout(x, HOLES[:, 0], 0.3), real(2, 7)),
        real(2, 7, label="x"),
        layers.dropout(real(2, 7), HOLES[:, 0], 0.3),
    ),
    **{f"layer_norm, {w}": partial(layer, w, X_NORM, GAMMA, BETA, G_NORM, eps=0.01) for w in ("x", "gamma", "beta")},
    **{f"rms_norm, {w}": partial(rms, w, X_NORM, GAMMA, G_NORM, eps=0.01) for w in ("x", "gamma")},
    **{
        f"batch_norm, {w}": partial(batch, w, X_CHANNELS, GAMMA_C, BETA_C, G_CHANNELS, eps=0.01)
        for w in ("x", "gamma", "beta")
    },
    **{
        f"batch_norm, channels last, {w}": partial(batch, w, X_NORM, GAMMA, BETA, G_NORM, axis=-1)
        for w in ("x", "gamma", "beta")
    },
    **{
        f"group_norm, {w}": partial(group, w, X_CHANNELS, GAMMA_C, BETA_C, G_CHANNELS, groups=2, eps=0.01)
        for w in ("x", "gamma", "beta")
    },
    "gelu": lambda: elementwise(ga.gelu, ga.gelu_derivative, X_NORM, analytic=False),
    "gelu_tanh": lambda: elementwise(ga.gelu_tanh, ga.gelu_tanh_derivative, X_NORM),
    "silu": lambda: elementwise(ga.silu, ga.silu_derivative, X_NORM),
    "mish": lambda: elementwise(ga.mish, ga.mish_derivative, X_NORM),
    "elu": lambda: elementwise(
        partial(ga.elu, alpha=0.7),
        partial(ga.elu_derivative, alpha=0.7),
        np.array([-2.0, -0.3, 0.4, 1.5]),
        analytic=False,
    ),
    **{f"glu, {which}": partial(gate, ga.glu, ga.glu_vjp, which) for which in ("gate", "value")},
    **{f"swiglu, {which}": partial(gate, ga.swiglu, ga.swiglu_vjp, which) for which in ("gate", "value")},
    "mse": lambda: loss(rl.mse, rl.mse_gradient, X_NORM, G_NORM),
    "mse, sum": lambda: loss(rl.mse, rl.mse_gradient, X_NORM, G_NORM, reduction="sum"),
    "huber": lambda: loss(
        rl.huber, rl.huber_gradient, np.array([0.3, -2.0, 5.0]), np.array([0.1, 0.4, 0.2]), delta=0.8
    )._replace(analytic=False),
    **{f"cosine_similarity, {which}": partial(cosine, which) for which in "ab"},
    "l2_normalize": lambda: Claim(
        contracted(partial(rl.l2_normalize, axis=1), G_NORM), X_NORM, rl.l2_normalize_vjp(X_NORM, G_NORM, 1)
    ),
    "rotary, interleaved": partial(rotated, pairing="interleaved"),
    "rotary, half-split, clockwise": partial(rotated, pairing="half_split", orientation="clockwise"),
}
