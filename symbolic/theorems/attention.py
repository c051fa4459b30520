"""Scaled dot-product attention, softmax(Q Kᵀ/√d_k) V: scale, order of tokens, gradients, masks, keys in two blocks.

Queries, keys and values are given here; projections and heads are in `multi_head_attention`. There are n queries and
m keys, never the same number by luck. A VJP is the gradient of Σ G ⊙ O, so that G is the cotangent of the output O.
"""

from __future__ import annotations

from ..derivations.system import System, SystemCheck
from ..derivations.tactics import partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define
from ..language.hypotheses import equal
from ..language.rearrangement import flip
from ..language.selection import select

_VASWANI = "Vaswani et al., Attention Is All You Need (2017)"
_DAO = "Dao et al., FlashAttention (2022)"
_MILAKOV = "Milakov, Gimelshein, Online normalizer calculation for softmax (2018)"
_ROWS = "Softmax along the last axis, one row a query."


def _number(size: object) -> Array:
    """A size as a number in a formula."""
    return Array((), size)  # type: ignore[arg-type]


def _scores(q: Array, k: Array) -> Array:
    """Q Kᵀ/√d_k."""
    return q @ k.T / lm.sqrt(_number(q.shape[-1]))


def _attention(q: Array, k: Array, v: Array, name: str = "P") -> Array:
    """softmax(Q Kᵀ/√d_k) V."""
    return lm.softmax(_scores(q, k), name=name) @ v


def _written_out(q: Array, k: Array, v: Array) -> Array:
    """exp(Q Kᵀ/√d_k) V, each row divided by the row's sum of exponentials."""
    weights = lm.exp(_scores(q, k))
    return weights @ v / lm.sum(weights, axis=1, keepdims=True)


def _inputs(keys: str = "m") -> tuple[Array, Array, Array]:
    return array("Q", "n,d_k"), array("K", f"{keys},d_k"), array("V", f"{keys},d_v")


_FORWARD = NumericCheck("attention.scaled_dot_product_attention", arguments=("Q", "K", "V"))


# ---------------------------------------------------------------------- the scale
@theorem(topic="attention", title="Scaling the queries or the scores is the same", source=f"{_VASWANI}, section 3.2.1")
def attention_scale_queries() -> Claim:
    q, k, v = _inputs()
    scaled = q / lm.sqrt(_number(q.shape[1]))
    return Claim(
        lm.softmax(scaled @ k.T, name="R") @ v,
        _attention(q, k, v),
        by=[to(_attention(q, k, v), "sum_mul_const", "1/√d_k leaves the sum over the features")],
        letters="ik",
        notes=["Dividing by √d_k, the width of a head, not by √d_model; multiplying by d_k^(−1/2) is the same again."],
        numpy=_FORWARD,
    )


@theorem(
    topic="attention",
    title="Scaling queries and keys by the fourth root is scaling the scores",
    source=f"{_VASWANI}, section 3.2.1",
)
def attention_scale_fourth_root() -> Claim:
    q, k, v = _inputs()
    root = lm.sqrt(lm.sqrt(_number(q.shape[1])))
    return Claim(
        lm.softmax((q / root) @ (k / root).T, name="R") @ v,
        _attention(q, k, v),
        by=[to(_attention(q, k, v), "sum_mul_const", "both factors d_k^(−1/4) leave the sum over the features")],
        letters="ik",
        notes=["Queries and keys are both divided by d_k^(1/4), as is done in half precision."],
        numpy=_FORWARD,
    )


# ---------------------------------------------------------------------- the order of tokens
@theorem(topic="attention", title="Each query is answered on its own", source=_VASWANI)
def attention_gather_queries() -> Claim:
    q, k, v = _inputs()
    pi = array("pi", "r", "index<n")
    picked = select(_attention(q, k, v), (pi,))
    return Claim(
        _attention(select(q, (pi,)), k, v, "R"),
        picked,
        by=[unfold(), to(picked, "fold", "this is row π_i of P")],
        letters="ik",
        notes=["π picks r queries, in any order and repeated or not; the answers are picked in the same way."],
        numpy=NumericCheck("attention.scaled_dot_product_attention", arguments=(select(q, (pi,)), "K", "V")),
    )


@theorem(topic="attention", title="The order of the keys does not matter: reversal", source=_VASWANI)
def attention_flip_keys() -> Claim:
    q, k, v = _inputs()
    return Claim(
        _attention(q, flip(k, 0), flip(v, 0), "R"),
        _attention(q, k, v),
        by=[
            unfold(),
            to(_written_out(q, k, v), "collect", "a sum over the keys run backwards is the same sum"),
            to(_attention(q, k, v), "fold", "this is P again"),
        ],
        letters="ik",
        notes=["Keys and values are reversed together; nothing in attention knows their places."],
        numpy=_FORWARD,
    )


@theorem(topic="attention", title="Self-attention without positions commutes with every permutation", source=_VASWANI)
def attention_permute_tokens() -> Claim:
    q, k, v = _inputs("n")
    pi = array("pi", "n", "index<n")
    moved = select(_attention(q, k, v), (pi,))
    return Claim(
        _attention(select(q, (pi,)), select(k, (pi,)), select(v, (pi,)), "R"),
        moved,
        by=[
            unfold(),
            to(select(_written_out(q, k, v), (pi,)), "collect", "a sum over permuted keys is the sum over the keys"),
            to(moved, "fold", "this is row π_i of P V"),
        ],
        given=[equal(lm.sum(lm.one_hot(pi, pi.shape[0]), axis=0), 1)],
        letters="ik",
        notes=["π is a permutation: it takes every value once. With positional encodings the statement does not hold."],
        numpy=NumericCheck(
            "attention.scaled_dot_product_attention", arguments=tuple(select(x, (pi,)) for x in (q, k, v))
        ),
    )


@theorem(topic="attention", title="Self-attention without positions commutes with reversal", source=_VASWANI)
def attention_flip_tokens() -> Claim:
    q, k, v = _inputs("n")
    return Claim(
        _attention(flip(q, 0), flip(k, 0), flip(v, 0), "R"),
        flip(_attention(q, k, v), 0),
        by=[
            unfold(),
            to(flip(_written_out(q, k, v), 0), "collect", "a sum over the keys run backwards is the same sum"),
            to(flip(_attention(q, k, v), 0), "fold", "this is the reversed row of P"),
        ],
        letters="ik",
        notes=["Reversed tokens give the reversed output, so word order must come from a positional encoding."],
        numpy=NumericCheck("attention.scaled_dot_product_attention", arguments=tuple(flip(x, 0) for x in (q, k, v))),
    )


# ---------------------------------------------------------------------- gradients
@theorem(topic="attention", title="Row sums of P ⊙ dP are those of dO ⊙ O", source=f"{_DAO}, appendix B")
def sum_probabilities_mul_cotangent() -> Claim:
    p, v, g = array("P", "n,m"), array("V", "m,d_v"), array("G", "n,d_v")
    o = define("O", p @ v)
    return Claim(
        lm.sum(p * (g @ v.T), axis=1),
        lm.sum(g * o, axis=1),
        letters="i",
        by=[
            to(lm.sum(g * (p @ v), axis=1), "collect", "the sum over the keys goes inside"),
            to(lm.sum(g * o, axis=1), "fold", "this is O again"),
        ],
        notes=["G is the cotangent of O = P V, and dP = G Vᵀ; P may be any matrix."],
        numpy=NumericCheck("flat_attention.probability_sums", arguments=("P", "V", "G")),
    )


@theorem(topic="attention", title="Cotangent of the scores from output and cotangent", source=f"{_DAO}, appendix B")
def vjp_softmax_attention() -> Claim:
    s, v, g = array("S", "n,m"), array("V", "m,d_v"), array("G", "n,d_v")
    p = lm.softmax(s, name="P")
    o, d_p = define("O", p @ v), define("dP", g @ v.T)
    return Claim(
        lm.einsum("ni,nimk->mk", d_p, partial(p, s)),
        p * (d_p - lm.sum(g * o, axis=1, keepdims=True)),
        letters="nk",
        by=[
            to(
                p * (d_p - lm.sum(p * d_p, axis=1, keepdims=True)),
                "vjp_softmax_rows",
                "vector-Jacobian product of softmax, row by row",
            ),
            to(
                p * (d_p - lm.sum(g * o, axis=1, keepdims=True)),
                "sum_probabilities_mul_cotangent",
                "row sums of P ⊙ dP are those of G ⊙ O",
            ),
        ],
        notes=["G is the cotangent of O = P V, and dP = G Vᵀ.", _ROWS],
        numpy=NumericCheck("softmax.softmax_vjp", arguments=("S", g @ v.T)),
    )


def _vjp(q: Array, k: Array, v: Array, p: Array, check: SystemCheck, notes: list[str], *more: Array) -> System:
    """The gradient of Σ G ⊙ (P V)."""
    g = array("G", (q.shape[0], v.shape[1]))
    return System(lm.sum(g * define("O", p @ v)), [q, k, v, *more], notes=[*notes, _ROWS], numpy=check)


def _check(primal: str, *more: str, **options: object) -> SystemCheck:
    names = ("Q", "K", "V", *more)
    return SystemCheck(
        primal, names, f"{primal}_vjp", (*names, "G"), options=options, backward_options=options, cotangent="G"
    )


@theorem(topic="attention", title="Gradient of attention", source=f"{_DAO}, appendix B")
def vjp_attention() -> System:
    q, k, v = _inputs()
    p = lm.softmax(define("S", _scores(q, k)), name="P")
    return _vjp(q, k, v, p, _check("attention.scaled_dot_product_attention"), ["The cotangent of the output O is G."])


@theorem(topic="attention", title="Gradient of causal attention", source=f"{_DAO}, appendix B")
def vjp_attention_causal() -> System:
    q, k, v = _inputs()
    seen = lm.less_equal(lm.arange("m")[None, :], lm.arange("n")[:, None])
    weights = seen * lm.exp(define("S", _scores(q, k)))
    p = define("P", weights / lm.sum(weights, axis=1, keepdims=True), origin="masked softmax", domain="[0,1]")
    notes = [
        "Query i sees the keys j ≤ i (the diagonal starts at the first key); every query sees one, so no row is empty.",
        "The mask needs no line of its own in the backward pass: P is 0 where it masks, and dS has the factor P.",
    ]
    return _vjp(q, k, v, p, _check("flat_attention.causal_attention"), notes)


@theorem(topic="attention", title="Gradient of attention with an additive mask", source=f"{_DAO}, appendix B")
def vjp_attention_bias() -> System:
    q, k, v = _inputs()
    m = array("M", "n,m")
    p = lm.softmax(define("S", _scores(q, k) + m), name="P")
    notes = ["M is added to the scaled scores: a mask of large negative numbers, or a bias that is learnt."]
    return _vjp(q, k, v, p, _check("attention.scaled_dot_product_attention", bias="$M"), notes, m)


# ---------------------------------------------------------------------- keys in two blocks
def _blocks() -> tuple[Array, Array, Array, Array]:
    return array("S1", "n,m1"), array("S2", "n,m2"), array("V1", "m1,d_v"), array("V2", "m2,d_v")


_BLOCKS = [
    "S₁ and S₂ are the scores of the same queries against two blocks of keys, of m₁ and m₂ keys.",
    "m is the larger of the blocks' largest scores, so no exponential exceeds 1.",
]


def _block(s: Array, number: int) -> tuple[Array, Array]:
    """The largest score of each row and the sum of exponentials below it."""
    largest = define(f"mu{number}", lm.max(s, axis=1), origin="largest score of a row")
    total = lm.sum(lm.exp(s - largest[:, None]), axis=1)
    return largest, define(f"l{number}", total, origin="sum of exponentials", domain="positive")


@theorem(topic="attention", title="Running maximum and sum over two blocks", source=f"{_MILAKOV}, algorithm 3")
def online_normalizer_add() -> Claim:
    s1, s2, _, _ = _blocks()
    (mu1, l1), (mu2, l2) = _block(s1, 1), _block(s2, 2)
    mu = define("mu", lm.maximum(mu1, mu2), origin="larger of the two")
    both = lm.sum(lm.exp(s1 - mu[:, None]), axis=1) + lm.sum(lm.exp(s2 - mu[:, None]), axis=1)
    return Claim(
        lm.exp(mu1 - mu) * l1 + lm.exp(mu2 - mu) * l2,
        both,
        letters="i",
        by=[
            unfold("l1", "l2"),
            to(both, "collect", "e^(μ₁ − μ) e^(S₁ − μ₁) = e^(S₁ − μ), and so for the second block"),
        ],
        notes=_BLOCKS,
        numpy=NumericCheck("flat_attention.merged_total", arguments=("S1", "S2")),
    )


@theorem(topic="attention", title="Attention over two blocks of keys, merged", source=f"{_DAO}, algorithm 1")
def online_softmax_merge() -> Claim:
    s1, s2, v1, v2 = _blocks()
    (mu1, l1), (mu2, l2) = _block(s1, 1), _block(s2, 2)
    mu = define("mu", lm.maximum(mu1, mu2), origin="larger of the two")
    w1 = define("w1", lm.exp(mu1 - mu) * l1, origin="rescaled sum", domain="positive")
    w2 = define("w2", lm.exp(mu2 - mu) * l2, origin="rescaled sum", domain="positive")
    o1 = define("O1", lm.softmax(s1, name="P1") @ v1, origin="attention over the first block")
    o2 = define("O2", lm.softmax(s2, name="P2") @ v2, origin="attention over the second block")
    merged = (w1[:, None] * o1 + w2[:, None] * o2) / (w1 + w2)[:, None]

    def over_both(e1: Array, e2: Array) -> Array:
        return (e1 @ v1 + e2 @ v2) / (lm.sum(e1, axis=1) + lm.sum(e2, axis=1))[:, None]

    shifted = over_both(lm.exp(s1 - mu[:, None]), lm.exp(s2 - mu[:, None]))
    return Claim(
        over_both(lm.exp(s1), lm.exp(s2)),
        merged,
        letters="ik",
        by=[
            to(shifted, "collect", "multiply above and below by e^(−μ)"),
            to(merged, "fold", "Σ e^(S₁ − μ) = w₁ and Σ e^(S₁ − μ) V₁ = w₁ O₁, and so for the second block"),
        ],
        notes=_BLOCKS,
        numpy=NumericCheck("flat_attention.merged_attention", arguments=("S1", "S2", "V1", "V2")),
    )
