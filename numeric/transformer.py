"""The Transformer: feed-forward, block (pre-LN and post-LN), and a stack with embeddings, tied head and cross-entropy.

Everything is composed by hand from the other files of this pillar, forward and backward; a backward function
recomputes what it needs from the inputs, so it can be read beside its forward line by line in reverse. A gradient
with respect to parameters is an object of the parameters' own class.

Pre-LN: h = x + MHA(LN₁(x)), y = h + FFN(LN₂(h)). Post-LN (the 2017 paper): h = LN₁(x + MHA(x)), y = LN₂(h + FFN(h)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from .activations import relu, relu_derivative, tanh, tanh_derivative
from .arguments import Array, ArrayLike, option, real_array, same_shape
from .attention import causal_mask
from .cross_entropy import cross_entropy, cross_entropy_gradient
from .gated_activations import gelu, gelu_derivative, gelu_tanh, gelu_tanh_derivative, silu, silu_derivative
from .layers import embedding, embedding_vjp, linear, linear_vjp
from .multi_head import MultiHeadParameters, multi_head_attention, multi_head_attention_vjp
from .normalization import layer_norm, layer_norm_vjp
from .positional_encoding import add_positional_encoding

ELEMENTWISE: dict[str, tuple[Callable[[ArrayLike], Array], Callable[[ArrayLike], Array]]] = {
    "relu": (relu, relu_derivative),
    "tanh": (tanh, tanh_derivative),
    "gelu": (gelu, gelu_derivative),
    "gelu_tanh": (gelu_tanh, gelu_tanh_derivative),
    "silu": (silu, silu_derivative),
}
ORDERS = ("pre", "post")


@dataclass(frozen=True)
class FeedForwardParameters:
    """``w_1`` [d, f], ``b_1`` [f], ``w_2`` [f, d], ``b_2`` [d]."""

    w_1: Array
    b_1: Array
    w_2: Array
    b_2: Array


@dataclass(frozen=True)
class BlockParameters:
    """One block: attention, feed-forward, and the scale and shift [d] of its two LayerNorms."""

    attention: MultiHeadParameters
    feed_forward: FeedForwardParameters
    gamma_1: Array
    beta_1: Array
    gamma_2: Array
    beta_2: Array


@dataclass(frozen=True)
class ModelParameters:
    """A stack: the embedding table [V, d] (used again, transposed, as head), the blocks, and the last LayerNorm [d]."""

    table: Array
    blocks: tuple[BlockParameters, ...]
    gamma: Array
    beta: Array


@dataclass(frozen=True)
class Architecture:
    """What is not a parameter: heads, order of the norms, the activation, ε, whether attention is causal."""

    heads: int
    kv_heads: int | None = None
    order: str = "pre"
    activation: str = "gelu"
    eps: float = 1e-5
    causal: bool = True


class FeedForwardGradient(NamedTuple):
    """Cotangents of x and of the parameters."""

    x: Array
    parameters: FeedForwardParameters


class BlockGradient(NamedTuple):
    """Cotangents of x and of the parameters."""

    x: Array
    parameters: BlockParameters


def feed_forward(x: ArrayLike, parameters: FeedForwardParameters, *, activation: str = "gelu") -> Array:
    """φ(x W₁ + b₁) W₂ + b₂ for every token. Shapes: x [..., d] -> the same.

    ``activation``: a name in ``ELEMENTWISE``. Raises: ValueError for shapes that do not agree, an unknown activation.
    Source: Vaswani et al. (2017), "Attention Is All You Need", eq. (2).

    >>> import numpy as np
    >>> parameters = FeedForwardParameters(np.eye(2), np.zeros(2), np.eye(2), np.ones(2))
    >>> feed_forward([[1.0, -1.0]], parameters, activation="relu")
    array([[2., 1.]])
    """
    option("feed_forward", "activation", activation, tuple(ELEMENTWISE))
    hidden = ELEMENTWISE[activation][0](linear(x, parameters.w_1, parameters.b_1))
    return linear(hidden, parameters.w_2, parameters.b_2)


def feed_forward_vjp(
    x: ArrayLike, parameters: FeedForwardParameters, cotangent: ArrayLike, *, activation: str = "gelu"
) -> FeedForwardGradient:
    """Backwards: the second map, ⊙ φ'(x W₁ + b₁), the first map. Shapes: cotangent as x. Errors as
    :func:`feed_forward`.

    >>> import numpy as np
    >>> eye, zero = np.eye(2), np.zeros(2)
    >>> feed_forward_vjp([[1.0, -1.0]], FeedForwardParameters(eye, zero, eye, zero), [[5.0, 5.0]], activation="relu").x
    array([[5., 0.]])
    """
    option("feed_forward_vjp", "activation", activation, tuple(ELEMENTWISE))
    function, derivative = ELEMENTWISE[activation]
    before = linear(x, parameters.w_1, parameters.b_1)
    second = linear_vjp(function(before), parameters.w_2, cotangent)
    first = linear_vjp(x, parameters.w_1, second.x * derivative(before))
    return FeedForwardGradient(
        first.x, FeedForwardParameters(w_1=first.weight, b_1=first.bias, w_2=second.weight, b_2=second.bias)
    )


def transformer_block(x: ArrayLike, parameters: BlockParameters, architecture: Architecture) -> Array:
    """One block of self-attention and feed-forward, in the order the architecture says.

    Shapes: x [..., n, d] -> the same. Raises: ValueError for shapes that do not agree, unknown options.
    Source: post-LN: Vaswani et al. (2017), section 3.1; pre-LN: Xiong et al. (2020), "On Layer Normalization in the
    Transformer Architecture", table 1.

    >>> import numpy as np
    >>> zero = np.zeros((2, 2))
    >>> none = MultiHeadParameters(zero, zero[0], zero, zero[0], zero, zero[0], zero, zero[0])
    >>> idle = BlockParameters(none, FeedForwardParameters(zero, zero[0], zero, zero[0]), *np.ones((4, 2)))
    >>> transformer_block([[1.0, 2.0]], idle, Architecture(heads=1))
    array([[1., 2.]])
    """
    array = _tokens("transformer_block", x, architecture)
    p, eps = parameters, architecture.eps
    if architecture.order == "pre":
        h = array + _attend(layer_norm(array, p.gamma_1, p.beta_1, eps=eps), p, architecture)
        normal = layer_norm(h, p.gamma_2, p.beta_2, eps=eps)
        return h + feed_forward(normal, p.feed_forward, activation=architecture.activation)
    h = layer_norm(array + _attend(array, p, architecture), p.gamma_1, p.beta_1, eps=eps)
    out = h + feed_forward(h, p.feed_forward, activation=architecture.activation)
    return layer_norm(out, p.gamma_2, p.beta_2, eps=eps)


def transformer_block_vjp(
    x: ArrayLike, parameters: BlockParameters, cotangent: ArrayLike, architecture: Architecture
) -> BlockGradient:
    """Backwards through :func:`transformer_block`; each residual adds the cotangent that went around its branch.

    Shapes: cotangent as x. Errors as there. Source: chain rule through the lines of the forward.

    >>> import numpy as np
    >>> zero = np.zeros((2, 2))
    >>> none = MultiHeadParameters(zero, zero[0], zero, zero[0], zero, zero[0], zero, zero[0])
    >>> idle = BlockParameters(none, FeedForwardParameters(zero, zero[0], zero, zero[0]), *np.ones((4, 2)))
    >>> transformer_block_vjp([[1.0, 2.0]], idle, [[3.0, 4.0]], Architecture(heads=1)).x
    array([[3., 4.]])
    """
    array = _tokens("transformer_block_vjp", x, architecture)
    g = real_array("transformer_block_vjp", "cotangent", cotangent, analytic=True, finite=True)
    same_shape("transformer_block_vjp", "x", array, "cotangent", g)
    return (_pre_vjp if architecture.order == "pre" else _post_vjp)(array, parameters, g, architecture)


def _pre_vjp(x: Array, p: BlockParameters, g: Array, architecture: Architecture) -> BlockGradient:
    eps, activation = architecture.eps, architecture.activation
    normal_1 = layer_norm(x, p.gamma_1, p.beta_1, eps=eps)
    h = x + _attend(normal_1, p, architecture)
    normal_2 = layer_norm(h, p.gamma_2, p.beta_2, eps=eps)

    d_feed = feed_forward_vjp(normal_2, p.feed_forward, g, activation=activation)
    d_norm_2 = layer_norm_vjp(h, p.gamma_2, d_feed.x, eps=eps)
    d_h = g + d_norm_2.x
    d_normal_1, d_attention = _attend_vjp(normal_1, p, d_h, architecture)
    d_norm_1 = layer_norm_vjp(x, p.gamma_1, d_normal_1, eps=eps)
    gradient = BlockParameters(
        d_attention, d_feed.parameters, d_norm_1.gamma, d_norm_1.beta, d_norm_2.gamma, d_norm_2.beta
    )
    return BlockGradient(d_h + d_norm_1.x, gradient)


def _post_vjp(x: Array, p: BlockParameters, g: Array, architecture: Architecture) -> BlockGradient:
    eps, activation = architecture.eps, architecture.activation
    sum_1 = x + _attend(x, p, architecture)
    h = layer_norm(sum_1, p.gamma_1, p.beta_1, eps=eps)
    sum_2 = h + feed_forward(h, p.feed_forward, activation=activation)

    d_norm_2 = layer_norm_vjp(sum_2, p.gamma_2, g, eps=eps)
    d_feed = feed_forward_vjp(h, p.feed_forward, d_norm_2.x, activation=activation)
    d_norm_1 = layer_norm_vjp(sum_1, p.gamma_1, d_norm_2.x + d_feed.x, eps=eps)
    d_x, d_attention = _attend_vjp(x, p, d_norm_1.x, architecture)
    gradient = BlockParameters(
        d_attention, d_feed.parameters, d_norm_1.gamma, d_norm_1.beta, d_norm_2.gamma, d_norm_2.beta
    )
    return BlockGradient(d_norm_1.x + d_x, gradient)


def language_model_loss(
    ids: ArrayLike,
    targets: ArrayLike,
    parameters: ModelParameters,
    architecture: Architecture,
    *,
    ignore_index: int | None = None,
) -> Array:
    """Mean cross-entropy of a stack: embed, add positions, the blocks, LayerNorm, logits by the transposed table.

    Shapes: ids, targets [..., n] of integers below V -> scalar. Raises: as its parts, naming the sizes.
    Source: Vaswani et al. (2017), sections 3.1 and 3.4 (without the factor √d on embeddings); Press, Wolf (2017) for
    the tied table.

    >>> import numpy as np
    >>> model = ModelParameters(np.zeros((4, 2)), (), np.ones(2), np.zeros(2))
    >>> bool(np.isclose(language_model_loss([1, 3], [3, 0], model, Architecture(heads=1)), np.log(4)))
    True
    """
    last = _states(ids, parameters, architecture)[-1]
    final = layer_norm(last, parameters.gamma, parameters.beta, eps=architecture.eps)
    return cross_entropy(linear(final, parameters.table.T), targets, ignore_index=ignore_index)


def language_model_gradient(
    ids: ArrayLike,
    targets: ArrayLike,
    parameters: ModelParameters,
    architecture: Architecture,
    *,
    ignore_index: int | None = None,
) -> ModelParameters:
    """Every parameter's gradient of :func:`language_model_loss`; the table's is the head's plus the embedding's.

    Shapes, errors as there. Source: chain rule, block by block from the last.

    >>> import numpy as np
    >>> model = ModelParameters(np.zeros((4, 2)), (), np.ones(2), np.zeros(2))
    >>> language_model_gradient([1, 3], [3, 0], model, Architecture(heads=1)).gamma
    array([0., 0.])
    """
    states = _states(ids, parameters, architecture)
    final = layer_norm(states[-1], parameters.gamma, parameters.beta, eps=architecture.eps)
    d_logits = cross_entropy_gradient(linear(final, parameters.table.T), targets, ignore_index=ignore_index)
    head = linear_vjp(final, parameters.table.T, d_logits)
    d_norm = layer_norm_vjp(states[-1], parameters.gamma, head.x, eps=architecture.eps)

    d_state, d_blocks = d_norm.x, []
    for state, block in zip(reversed(states[:-1]), reversed(parameters.blocks), strict=True):
        d_block = transformer_block_vjp(state, block, d_state, architecture)
        d_state = d_block.x
        d_blocks.append(d_block.parameters)
    d_table = head.weight.T + embedding_vjp(ids, d_state, len(parameters.table))
    return replace(parameters, table=d_table, blocks=tuple(reversed(d_blocks)), gamma=d_norm.gamma, beta=d_norm.beta)


def _states(ids: ArrayLike, parameters: ModelParameters, architecture: Architecture) -> list[Array]:
    """The input of each block, and the output of the last."""
    states = [add_positional_encoding(embedding(parameters.table, ids))]
    for block in parameters.blocks:
        states.append(transformer_block(states[-1], block, architecture))
    return states


def _tokens(function: str, x: ArrayLike, architecture: Architecture) -> Array:
    option(function, "order", architecture.order, ORDERS)
    array = real_array(function, "x", x, analytic=True, finite=True)
    if array.ndim < 2:
        raise ValueError(f"{function}: x has shape {array.shape}; need [..., n, d]")
    return array


def _mask(x: Array, architecture: Architecture) -> Array | None:
    return causal_mask(x.shape[-2], x.shape[-2]) if architecture.causal else None


def _attend(x: Array, p: BlockParameters, architecture: Architecture) -> Array:
    return multi_head_attention(
        x, x, p.attention, architecture.heads, kv_heads=architecture.kv_heads, mask=_mask(x, architecture)
    )


def _attend_vjp(
    x: Array, p: BlockParameters, g: Array, architecture: Architecture
) -> tuple[Array, MultiHeadParameters]:
    gradient = multi_head_attention_vjp(
        x, x, p.attention, g, architecture.heads, kv_heads=architecture.kv_heads, mask=_mask(x, architecture)
    )
    return gradient.x + gradient.context, gradient.parameters
