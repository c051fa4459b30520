"""Multi-head attention: heads split and merged, projections, cross-attention and grouped queries, with all gradients.

Attention of given queries, keys and values is in `attention`. Heads are an axis of their own: W_Q has the shape
(d, h, d_k), W_O the shape (h, d_v, d_o). Column a·d_k + b of the wide matrix is entry (a, b) of the two axes; that the
two layouts say the same is proved here. Axes of activations: batch, head, token, feature.
"""

from __future__ import annotations

from ..derivations.system import System, SystemCheck
from ..derivations.tactics import to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define
from ..language.indices import index
from ..language.nodes import Delta
from ..language.rearrangement import reshape, swapaxes
from ..language.sizes import size

_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section 3.2.2"
_AINSLIE = "Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models (2023), section 2.2"
_LAYOUT = "Head a holds the columns a·d_k, ..., a·d_k + d_k − 1 of the wide matrix."
_ONE_PLACE = "a·d + b = a′·d + b′ only for a = a′ and b = b′: a column holds one entry of one head"
_AXES = "Heads are an axis of the weights; entry (c, a, b) is entry (c, a·d_k + b) of the wide matrix."


def places(heads: object, width: object) -> Array:
    """T[c, a, b] = 1 where column c = a·d + b, and 0 elsewhere: which head and which of its features a column holds."""
    c, a, b = index("c", heads * width), index("a", heads), index("b", width)  # type: ignore[operator]
    return Array([c, a, b], Delta(c, a * b.size + b))


def split_heads(value: Array, heads: object, width: object) -> Array:
    """(B, n, h·d) to (B, h, n, d)."""
    return swapaxes(reshape(value, [*value.shape[:2], heads, width]), 1, 2)


def merge_heads(value: Array) -> Array:
    """(B, h, n, d) to (B, n, h·d): column a·d + b holds entry b of head a."""
    _, h, _, d = value.shape
    return lm.einsum("cha,bhna->bnc", places(h, d), value)


def attend(q: Array, k: Array, v: Array) -> Array:
    """softmax(Q Kᵀ/√d_k) V over the last two axes, with names for each step."""
    scores = define("S", q @ swapaxes(k, -1, -2) / lm.sqrt(Array((), q.shape[-1])))
    return define("O", lm.softmax(scores, name="P") @ v)


# ---------------------------------------------------------------------- heads
@theorem(topic="multi-head attention", title="Splitting merged heads gives the heads back", source=_VASWANI)
def split_merge_heads() -> Claim:
    x = array("X", "B,h,n,d_k")
    _, h, _, d = x.shape
    return Claim(
        split_heads(merge_heads(x), h, d),
        x,
        by=[to(x, "sum_mul_delta", _ONE_PLACE)],
        letters="blia",
        notes=[_LAYOUT],
        numpy=NumericCheck("flat_attention.split_again", arguments=("X",)),
    )


@theorem(topic="multi-head attention", title="Merging split heads gives the columns back", source=_VASWANI)
def merge_split_heads() -> Claim:
    x = array("X", "B,n,h*d_k")
    return Claim(
        merge_heads(split_heads(x, size("h"), size("d_k"))),
        x,
        by=[to(x, "sum_mul_delta", "every column c is a·d_k + b for one a and one b")],
        letters="bic",
        notes=[_LAYOUT, "Merging transposes first; a plain reshape has the right shape and other values."],
        numpy=NumericCheck("flat_attention.merged_again", arguments=("X",)),
    )


@theorem(topic="multi-head attention", title="Projecting and splitting is projecting to each head", source=_VASWANI)
def split_heads_project() -> Claim:
    x, w = array("X", "B,n,d"), array("W", "d,h,d_k")
    _, h, d_k = w.shape
    wide = lm.einsum("cha,dha->dc", places(h, d_k), w)
    by_head = lm.einsum("bnc,cha->bhna", x, w)
    return Claim(
        split_heads(x @ wide, h, d_k),
        by_head,
        by=[to(by_head, "sum_mul_delta", _ONE_PLACE)],
        letters="blia",
        notes=[_LAYOUT],
        numpy=NumericCheck("flat_attention.projected_heads", arguments=("X", "W")),
    )


@theorem(topic="multi-head attention", title="Merged heads times W_O are a sum over heads", source=_VASWANI)
def merge_heads_project() -> Claim:
    heads, w = array("H", "B,h,n,d_v"), array("W_O", "h*d_v,d")
    _, h, _, d_v = heads.shape
    by_head = lm.einsum("bhna,hac->bnc", heads, reshape(w, [h, d_v, w.shape[1]]))
    return Claim(
        merge_heads(heads) @ w,
        by_head,
        by=[to(by_head, "sum_mul_delta", "each column of the merged heads is one column of one head")],
        letters="bic",
        notes=["Concat(head_0, ...) W_O = Σ_a head_a W_O^a, where W_O^a are the d_v rows of W_O for head a.", _LAYOUT],
        numpy=NumericCheck("flat_attention.projected_merge", arguments=("H", "W_O")),
    )


@theorem(topic="multi-head attention", title="One head is plain attention", source=_VASWANI)
def multi_head_one() -> Claim:
    x = array("X", "B,n,d")
    w_q, w_k, w_v = array("W_Q", "d,1,d_k"), array("W_K", "d,1,d_k"), array("W_V", "d,1,d_v")
    w_o = array("W_O", "1,d_v,d")
    q, k, v = (lm.einsum("bnc,cha->bhna", x, w) for w in (w_q, w_k, w_v))
    heads = lm.softmax(q @ swapaxes(k, 2, 3) / lm.sqrt(Array((), q.shape[-1])), name="R") @ v
    q, k, v = (x @ w[:, 0, :] for w in (w_q, w_k, w_v))
    plain = lm.softmax(q @ swapaxes(k, 1, 2) / lm.sqrt(Array((), q.shape[-1])), name="P") @ v
    return Claim(
        lm.einsum("bhna,hac->bnc", heads, w_o),
        plain @ w_o[0],
        by=[
            to(heads[:, 0] @ w_o[0], "sum_const", "the sum over heads has one term"),
            to(plain @ w_o[0], "fold", "with one head its probabilities are P, and its values X W_V"),
        ],
        letters="bic",
        notes=["Without biases; the axis of heads has size 1."],
        numpy=NumericCheck("flat_attention.self_attention_without_biases", arguments=("X", "W_Q", "W_K", "W_V", "W_O")),
    )


@theorem(topic="multi-head attention", title="Repeating key heads is grouping query heads", source=_AINSLIE)
def scores_repeat_key_heads() -> Claim:
    q, k = array("Q", "g*r,n,d_k"), array("K", "g,m,d_k")
    g, r = k.shape[0], size("r")
    repeated = lm.einsum("hgr,gma->hma", places(g, r), k)
    by_group = lm.einsum("grna,gma->grnm", reshape(q, [g, r, *q.shape[1:]]), k)
    return Claim(
        reshape(lm.einsum("hna,hma->hnm", q, repeated), by_group.shape),
        by_group,
        by=[to(by_group, "sum_mul_delta", "query head a·r + s is number s of group a, and of no other")],
        letters="alij",
        notes=["Each of the g key heads is repeated r times in a row: query head h uses key head h // r."],
        numpy=NumericCheck("flat_attention.grouped_scores", arguments=("Q", "K")),
    )


# ---------------------------------------------------------------------- gradients with all projections
def _weights(context: str) -> list[Array]:
    """W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O; keys and values are made from features of the size given."""
    shapes = {"W_Q": "d,h,d_k", "b_Q": "h,d_k", "W_K": f"{context},h,d_k", "b_K": "h,d_k"}
    shapes |= {"W_V": f"{context},h,d_v", "b_V": "h,d_v", "W_O": "h,d_v,d", "b_O": "d"}
    return [array(name, shape) for name, shape in shapes.items()]


def _project(name: str, x: Array, w: Array, b: Array) -> Array:
    """(..., n, c) to (..., h, n, d): x W + b for each head."""
    return define(name, x[..., None, :, :] @ swapaxes(w, 0, 1) + b[:, None, :])


def _multi_head(x: Array, context: Array, weights: list[Array]) -> Array:
    w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o = weights
    heads = attend(_project("Q", x, w_q, b_q), _project("K", context, w_k, b_k), _project("V", context, w_v, b_v))
    return define("Y", lm.sum(heads @ w_o, axis=-3) + b_o)


def _system(output: Array, wrt: list[Array], name: str, notes: list[str]) -> System:
    g = array("G", output.shape)
    names = tuple(w.body.tensor.name for w in wrt)
    check = SystemCheck(f"flat_attention.{name}", names, f"flat_attention.{name}_vjp", (*names, "G"), cotangent="G")
    return System(lm.sum(g * output), wrt, notes=["The cotangent of the output Y is G.", *notes], numpy=check)


@theorem(topic="multi-head attention", title="Gradient of multi-head self-attention", source=_VASWANI)
def vjp_multi_head_attention() -> System:
    x, weights = array("X", "B,n,d"), _weights("d")
    notes = ["X is used three times, so dX has three terms.", _AXES]
    return _system(_multi_head(x, x, weights), [x, *weights], "self_attention", notes)


@theorem(topic="multi-head attention", title="Gradient of multi-head cross-attention", source=_VASWANI)
def vjp_cross_attention() -> System:
    x, context, weights = array("X", "n,d"), array("C", "m,c"), _weights("c")
    notes = ["The n queries come from X, the m keys and values from the context C, of another length and width.", _AXES]
    return _system(_multi_head(x, context, weights), [x, context, *weights], "cross_attention", notes)


@theorem(topic="multi-head attention", title="Gradient of grouped-query attention", source=_AINSLIE)
def vjp_grouped_query_attention() -> System:
    q, k, v = array("Q", "g,r,n,d_k"), array("K", "g,m,d_k"), array("V", "g,m,d_v")
    scores = define("S", lm.einsum("grna,gma->grnm", q, k) / lm.sqrt(Array((), q.shape[-1])))
    output = define("O", lm.einsum("grnm,gma->grna", lm.softmax(scores, name="P"), v))
    g = array("G", output.shape)
    return System(
        lm.sum(g * output),
        [q, k, v],
        notes=[
            "There are g key heads for g·r query heads; query head a uses key head a // r.",
            "The gradients of a key head and a value head are summed over the r query heads that use it.",
        ],
        numpy=SystemCheck(
            "flat_attention.grouped_query_attention",
            ("Q", "K", "V"),
            "flat_attention.grouped_query_attention_vjp",
            ("Q", "K", "V", "G"),
            cotangent="G",
        ),
    )
