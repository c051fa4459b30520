"""The Transformer block and language model with one array an argument, and gradients by the arrays' names.

Only the call differs from ``transformer``: heads are an axis of the weights (W_Q [d, h, d_k] is the usual [d, h·d_k]
with its columns split, W_O [h, d_v, d] the usual [h·d_v, d]), and the language model has learned positions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .arguments import Array, ArrayLike, real_array
from .cross_entropy import cross_entropy, cross_entropy_gradient
from .layers import embedding, embedding_vjp, linear, linear_vjp
from .multi_head import MultiHeadParameters
from .normalization import layer_norm, layer_norm_vjp
from .transformer import (
    Architecture,
    BlockParameters,
    FeedForwardParameters,
    transformer_block,
    transformer_block_vjp,
)

Gradients = dict[str, Array]

# The parameters of one block, in the order of the arguments.
ATTENTION = ("W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O")
NAMES = (*ATTENTION, "W_1", "b_1", "W_2", "b_2", "gamma_1", "beta_1", "gamma_2", "beta_2")


def block(x: ArrayLike, *parameters: ArrayLike, order: str = "pre", causal: bool = False) -> Array:
    """:func:`transformer.transformer_block` with the parameters of ``NAMES``, then ε, each an argument.

    Shapes: x [..., n, d]; W_Q, W_K [d, h, d_k], W_V [d, h, d_v], W_O [h, d_v, d], biases alike -> the shape of x.
    Raises: ValueError for another number of arguments or shapes that do not agree.

    >>> zero, one = np.zeros((2, 1, 2)), np.zeros((1, 2))
    >>> attention = [zero, one, zero, one, zero, one, np.zeros((1, 2, 2)), np.zeros(2)]
    >>> rest = [np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2)), np.zeros(2), *np.ones((4, 2)), 1e-5]
    >>> block([[1.0, 2.0]], *attention, *rest)
    array([[1., 2.]])
    """
    given, heads, eps = _block_arguments("block", parameters)
    return transformer_block(x, given, _architecture(heads, eps, order, causal))


def block_gradients(x: ArrayLike, *parameters: ArrayLike, order: str = "pre", causal: bool = False) -> Gradients:
    """:func:`transformer.transformer_block_vjp`: the arguments of :func:`block`, then the cotangent; by name, x too.

    >>> zero, one = np.zeros((2, 1, 2)), np.zeros((1, 2))
    >>> attention = [zero, one, zero, one, zero, one, np.zeros((1, 2, 2)), np.zeros(2)]
    >>> rest = [np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2)), np.zeros(2), *np.ones((4, 2)), 1e-5]
    >>> block_gradients([[1.0, 2.0]], *attention, *rest, [[3.0, 4.0]])["x"]
    array([[3., 4.]])
    """
    given, heads, eps = _block_arguments("block_gradients", parameters[:-1])
    found = transformer_block_vjp(x, given, parameters[-1], _architecture(heads, eps, order, causal))
    return {"x": found.x, **_by_name(found.parameters, heads)}


def language_model(
    ids: ArrayLike, targets: ArrayLike, table: ArrayLike, positions: ArrayLike, *rest: ArrayLike
) -> Array:
    """Mean cross-entropy of causal pre-LN blocks over embeddings plus learned positions, with the table as head.

    ``rest``: the parameters of ``NAMES`` for each block in turn, then γ, β of the last LayerNorm, then ε.
    Shapes: ids, targets [n] of integers below V, table [V, d], positions [n, d] -> scalar. Raises: as its parts.

    >>> uniform = language_model([1, 3], [3, 0], np.zeros((4, 2)), np.zeros((2, 2)), np.ones(2), np.zeros(2), 1e-5)
    >>> bool(np.isclose(uniform, np.log(4)))
    True
    """
    blocks, heads, gamma, beta, eps = _model_arguments("language_model", rest)
    last = _states(ids, table, positions, blocks, heads, eps)[-1]
    logits = linear(layer_norm(last, gamma, beta, eps=eps), np.transpose(table))
    return cross_entropy(logits, targets)


def language_model_gradients(
    ids: ArrayLike, targets: ArrayLike, table: ArrayLike, positions: ArrayLike, *rest: ArrayLike
) -> Gradients:
    """By name: E (the head's part plus the embedding's), R the positions, ``W_Q_1`` ... of block 1 and on, gamma, beta.

    Shapes, errors as :func:`language_model`. Source: chain rule, block by block from the last.

    >>> zero, one = np.zeros(2), np.ones(2)
    >>> language_model_gradients([1, 3], [3, 0], np.zeros((4, 2)), np.zeros((2, 2)), one, zero, 1e-5)["gamma"]
    array([0., 0.])
    """
    blocks, heads, gamma, beta, eps = _model_arguments("language_model_gradients", rest)
    states = _states(ids, table, positions, blocks, heads, eps)
    head = np.transpose(real_array("language_model_gradients", "table", table, finite=True))
    final = layer_norm(states[-1], gamma, beta, eps=eps)
    d_head = linear_vjp(final, head, cross_entropy_gradient(linear(final, head), targets))
    d_norm = layer_norm_vjp(states[-1], gamma, d_head.x, eps=eps)

    found: Gradients = {"gamma": d_norm.gamma, "beta": d_norm.beta}
    d_state = d_norm.x
    for number in range(len(blocks), 0, -1):
        d_block = transformer_block_vjp(
            states[number - 1], blocks[number - 1], d_state, _architecture(heads, eps, "pre", True)
        )
        d_state = d_block.x
        found |= {f"{name}_{number}": value for name, value in _by_name(d_block.parameters, heads).items()}
    return found | {"E": d_head.weight.T + embedding_vjp(ids, d_state, head.shape[1]), "R": d_state}


def _states(
    ids: ArrayLike, table: ArrayLike, positions: ArrayLike, blocks: list[BlockParameters], heads: int, eps: float
) -> list[Array]:
    """The input of each block, and the output of the last."""
    states = [embedding(table, ids) + np.asarray(positions)]
    for given in blocks:
        states.append(transformer_block(states[-1], given, _architecture(heads, eps, "pre", True)))
    return states


def _architecture(heads: int, eps: float, order: str, causal: bool) -> Architecture:
    return Architecture(heads=heads, order=order, activation="gelu", eps=eps, causal=causal)


def _block_arguments(function: str, parameters: tuple[ArrayLike, ...]) -> tuple[BlockParameters, int, float]:
    if len(parameters) != len(NAMES) + 1:
        raise ValueError(f"{function}: need x, then {', '.join(NAMES)}, eps; got {len(parameters)} arrays after x")
    given, heads = _parameters(dict(zip(NAMES, map(np.asarray, parameters), strict=False)))
    return given, heads, float(np.asarray(parameters[-1]))


def _model_arguments(
    function: str, rest: tuple[ArrayLike, ...]
) -> tuple[list[BlockParameters], int, Array, Array, float]:
    arrays = [np.asarray(a, dtype=float) for a in rest]
    count, left = divmod(len(arrays) - 3, len(NAMES))
    if count < 0 or left:
        raise ValueError(f"{function}: need {len(NAMES)} arrays a block, then gamma, beta, eps; got {len(arrays)}")
    each = [arrays[n * len(NAMES) : (n + 1) * len(NAMES)] for n in range(count)]
    read = [_parameters(dict(zip(NAMES, a, strict=True))) for a in each]
    heads = read[0][1] if read else 1
    return [given for given, _ in read], heads, arrays[-3], arrays[-2], float(arrays[-1])


def _parameters(p: Mapping[str, Array]) -> tuple[BlockParameters, int]:
    """The nested parameters, with heads merged into columns (of W_O: rows), and the number of heads."""
    if p["W_Q"].ndim != 3 or p["W_O"].ndim != 3:
        raise ValueError(f"W_Q {p['W_Q'].shape} and W_O {p['W_O'].shape} need a head axis: [d, h, d_k] and [h, d_v, d]")
    width, heads = p["W_Q"].shape[:2]
    merged: dict[str, Array] = {n: p[n].reshape(width, -1) for n in ("W_Q", "W_K", "W_V")}
    merged |= {n: p[n].ravel() for n in ("b_Q", "b_K", "b_V")}
    attention = MultiHeadParameters(
        **{n.lower(): value for n, value in merged.items()}, w_o=p["W_O"].reshape(-1, p["W_O"].shape[-1]), b_o=p["b_O"]
    )
    feed = FeedForwardParameters(p["W_1"], p["b_1"], p["W_2"], p["b_2"])
    return BlockParameters(attention, feed, p["gamma_1"], p["beta_1"], p["gamma_2"], p["beta_2"]), heads


def _by_name(g: BlockParameters, heads: int) -> Gradients:
    """A gradient's arrays under ``NAMES``, heads split off again."""
    a, f = g.attention, g.feed_forward
    columns = {"W_Q": a.w_q, "W_K": a.w_k, "W_V": a.w_v}
    biases = {"b_Q": a.b_q, "b_K": a.b_k, "b_V": a.b_v}
    return {
        **{name: value.reshape(len(value), heads, -1) for name, value in columns.items()},
        **{name: value.reshape(heads, -1) for name, value in biases.items()},
        "W_O": a.w_o.reshape(heads, -1, a.w_o.shape[-1]),
        "b_O": a.b_o,
        "W_1": f.w_1,
        "b_1": f.b_1,
        "W_2": f.w_2,
        "b_2": f.b_2,
        "gamma_1": g.gamma_1,
        "beta_1": g.beta_1,
        "gamma_2": g.gamma_2,
        "beta_2": g.beta_2,
    }
