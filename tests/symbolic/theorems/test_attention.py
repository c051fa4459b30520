"""Attention and its heads: what each theorem says in particular, problems that people had with it, wrong versions.

The identifiers C01, C02, ... are those of the collected cases. That every theorem is proved step by step is tested over
the registry; here the ends are, with hand-written NumPy and differences beside them. Sizes are never equal by luck.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

from lemmata.numeric import flat_attention
from lemmata.numeric.attention import scaled_dot_product_attention
from lemmata.numeric.multi_head import MultiHeadParameters, multi_head_attention
from lemmata.numeric.sampling import generator
from lemmata.symbolic.derivations.model import Derivation, Step
from lemmata.symbolic.derivations.replay import judge, replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as lm
from lemmata.symbolic.language.arrays import Array, ArrayLike, array, define
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.rearrangement import flip, reshape, swapaxes
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.rendering.vector_form import vector_form, vector_text
from lemmata.symbolic.theorems import find_theorem, theorems
from lemmata.symbolic.theorems.multi_head_attention import attend, merge_heads, places, split_heads
from lemmata.verification import verify_theorem

SEED = 0
SCALE = 1 + sp.Rational(9, 10**4)
TOPICS = ("attention", "multi-head attention")
NAMES = [name for name, t in theorems().items() if t.topic in TOPICS]
ONE_HEAD = ["vjp_attention", "vjp_attention_causal", "vjp_attention_bias"]
SYSTEMS = [name for name in NAMES if isinstance(theorems()[name].claim(), System)]
B, N, H, D_K, G, R = (size(s) for s in ("B", "n", "h", "d_k", "g", "r"))
Adjoints = Mapping[str, Array]
Form = Callable[[Adjoints], ArrayLike]


@cache
def derivation(name: str) -> Derivation:
    return find_theorem(name).derivation()


def verdict(left: ArrayLike, right: ArrayLike) -> str:
    """The verdict on left = right, in one step."""
    return replay(derive(Claim(left, right, by=[lambda state: None])), seed=SEED).verdict


def root(s: sp.Expr) -> Array:
    return lm.sqrt(Array((), s))


def attention(q: Array, k: Array, v: Array, *, axis: int = -1, width: sp.Expr = D_K, name: str = "P") -> Array:
    return lm.softmax(q @ swapaxes(k, -1, -2) / root(width), axis=axis, name=name) @ v


def one_head(keys: str = "m") -> tuple[Array, Array, Array]:
    return array("Q", "n,d_k"), array("K", f"{keys},d_k"), array("V", f"{keys},d_v")


# ---------------------------------------------------------------------- proved, with numbers
def test_both_topics_are_there() -> None:
    assert {theorems()[name].topic for name in NAMES} == set(TOPICS)
    assert set(ONE_HEAD) < set(SYSTEMS)


@pytest.mark.parametrize("name", NAMES)
def test_theorem_is_proved_with_numeric_evidence(name: str) -> None:
    found = verify_theorem(find_theorem(name), seed=SEED, steps=False)
    assert found.verdict == "proved", found.reason
    kinds = {e.kind for e in found.evidence if e.passed}
    assert {"canonical", "numpy"} <= kinds
    assert kinds & {"exact", "balls"}
    if name in SYSTEMS:
        assert {"chain rule", "differences"} <= kinds


@pytest.mark.parametrize("name", ONE_HEAD)
def test_adjoints_are_those_of_the_paper(name: str) -> None:
    written = {p.name: vector_text(vector_form(p.right, p.indices)) for p in derivation(name).parts}
    expected = {
        "dO": "G",
        "dV": "Pᵀ dO",
        "dP": "dO Vᵀ",
        "dS": "P ⊙ (dP − rowsum(P ⊙ dP))",
        "dQ": "dS K/√d_k",
        "dK": "dSᵀ Q/√d_k",
    }
    assert written == expected | ({"dM": "dS"} if name == "vjp_attention_bias" else {})


@pytest.mark.parametrize(
    ("name", "gradients"),
    [
        ("vjp_multi_head_attention", ["X", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O"]),
        ("vjp_cross_attention", ["X", "C", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O"]),
        ("vjp_grouped_query_attention", ["Q", "K", "V"]),
    ],
)
def test_every_parameter_has_a_gradient_of_its_shape(name: str, gradients: list[str]) -> None:
    d = derivation(name)
    shapes = {t.name: t.shape for t in d.tensors}
    adjoints = {p.name: p.adjoint.shape for p in d.parts if p.adjoint is not None}
    assert {f"d{g}" for g in gradients} <= set(adjoints)
    assert all(adjoints[f"d{g}"] == shapes[g] for g in gradients)


# ---------------------------------------------------------------------- tampered with
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_changed_adjoint_is_refused(name: str) -> None:
    d = derivation(name)
    for p in d.parts:
        for wrong in (p.right * SCALE, -p.right)[: 2 if name in ONE_HEAD else 1]:
            stated = Step(p.left, wrong, "statement", "", "state")
            found = judge([stated], p.indices, p.hypotheses, seed=SEED, thorough=False)
            assert found.verdict == "refuted", f"{name}, {p.name}, seed {SEED}"
            assert found.counterexample is not None


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_missing_adjoint_is_seen(name: str) -> None:
    d = derivation(name)
    assert replay(replace(d, parts=d.parts[1:]), steps=False).verdict == "refuted"


# ---------------------------------------------------------------------- backward passes that were written wrongly
def system(forms: Mapping[str, Callable[[Array, Array, Array, Adjoints], ArrayLike]], *, causal: bool = False) -> str:
    """The verdict on the gradient of attention over as many keys as queries, so that a lost transpose has a shape."""
    q, k, v = array("Q", "n,d_k"), array("K", "n,d_k"), array("V", "n,d_k")
    weights = lm.exp(define("S", q @ k.T / root(D_K)))
    if causal:
        weights = lm.less_equal(lm.arange("n")[None, :], lm.arange("n")[:, None]) * weights
    p = define("P", weights / lm.sum(weights, axis=1, keepdims=True), domain="[0,1]")

    def bound(form: Callable[[Array, Array, Array, Adjoints], ArrayLike]) -> Form:
        return lambda a: form(q, k, p, a)

    loss = lm.sum(array("G", "n,d_k") * define("O", p @ v))
    claim = System(loss, [q, k, v], forms={name: bound(form) for name, form in forms.items()})
    return replay(derive_system(claim), steps=False, seed=SEED).verdict


def row_sum(x: Array) -> Array:
    return lm.sum(x, axis=1, keepdims=True)


def unmasked(a: Adjoints) -> Array:
    """The probabilities that a backward pass recomputes when it forgets the mask."""
    q, k = array("Q", "n,d_k"), array("K", "n,d_k")
    return lm.softmax(define("S", q @ k.T / root(D_K)), name="R")


@pytest.mark.parametrize("causal", [False, True])
def test_the_right_backward_pass_is_proved(causal: bool) -> None:
    right = {
        "V": lambda q, k, p, a: p.T @ a["dO"],
        "S": lambda q, k, p, a: p * (a["dP"] - row_sum(p * a["dP"])),
        "Q": lambda q, k, p, a: a["dS"] @ k / root(D_K),
        "K": lambda q, k, p, a: a["dS"].T @ q / root(D_K),
    }
    assert system(right, causal=causal) == "proved"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param("K", lambda q, k, p, a: a["dS"] @ q / root(D_K), id="dK without the transpose"),
        pytest.param("V", lambda q, k, p, a: p @ a["dO"], id="dV without the transpose"),
        pytest.param("Q", lambda q, k, p, a: a["dS"].T @ k / root(D_K), id="dQ with a transpose"),
        pytest.param("Q", lambda q, k, p, a: a["dS"] @ k, id="scale forgotten"),
        pytest.param("Q", lambda q, k, p, a: a["dS"] @ k / root(H * D_K), id="√d_model for √d_k"),
        pytest.param("S", lambda q, k, p, a: p * a["dP"], id="row sum forgotten"),
        pytest.param("S", lambda q, k, p, a: p * (1 - p) * a["dP"], id="softmax taken elementwise"),
        pytest.param("S", lambda q, k, p, a: p * (a["dP"] - lm.sum(p * a["dP"], 0, True)), id="sum over the queries"),
    ],
)
def test_a_wrong_backward_pass_is_refuted(name: str, wrong: Callable[..., ArrayLike]) -> None:
    assert system({name: wrong}) == "refuted"


def test_a_mask_forgotten_in_the_backward_pass_is_refuted() -> None:
    def wrong(q: Array, k: Array, p: Array, a: Adjoints) -> Array:
        r = unmasked(a)
        return r * (a["dP"] - row_sum(r * a["dP"]))

    assert system({"S": wrong}, causal=True) == "refuted"
    assert system({"S": wrong}, causal=False) == "proved"  # without a mask it is the right one


# ---------------------------------------------------------------------- C01, C02: splitting and merging
def without_transpose(heads: Array) -> Array:
    """(B, h, n, d) to (B, n, h·d) by a reshape alone."""
    b, h, n, d = heads.shape
    return reshape(heads, [b, n, h * d])


def test_c01_merging_without_the_transpose_has_the_shape_and_not_the_value() -> None:
    heads = array("X", "B,h,n,d_k")
    assert [str(s) for s in without_transpose(heads).shape] == [str(s) for s in merge_heads(heads).shape]
    assert verdict(without_transpose(heads), merge_heads(heads)) == "refuted"
    back = split_heads(array("X", "B,n,h*d_k"), H, D_K)
    assert verdict(without_transpose(back), array("X", "B,n,h*d_k")) == "refuted"


def test_c01_it_is_equal_for_one_head_or_one_token() -> None:
    for shape in ("B,1,n,d_k", "B,h,1,d_k"):
        heads = array("X", shape)
        assert verdict(without_transpose(heads), merge_heads(heads)) == "proved"


def test_c01_letters() -> None:
    """Heads (1, 2, 2, 2) with letters a to h: token 0 is a, b, e, f; the plain reshape gives a, b, c, d."""
    heads = array("x", "1,2,2,2")
    letters = dict(zip(np.ndindex(1, 2, 2, 2), "abcdefgh", strict=True))

    def token(merged: Array) -> str:
        found = [at_sizes(merged.element(0, 0, c), ()) for c in range(4)]
        return "".join(letters[tuple(int(n) for n in str(f).split("_")[1:])] for f in found)

    assert token(merge_heads(heads)) == "abef"
    assert token(without_transpose(heads)) == "abcd"


def test_c02_splitting_by_one_reshape_mixes_tokens() -> None:
    x = array("X", "B,n,h*d_k")
    assert verdict(reshape(x, [B, H, N, D_K]), split_heads(x, H, D_K)) == "refuted"


def test_head_a_holds_the_columns_from_a_times_its_width() -> None:
    x = array("X", "n,h*d_k")
    column = lm.einsum("cha,nc->nha", places(H, D_K), x)
    assert verdict(column, reshape(x, [N, H, D_K])) == "proved"
    assert verdict(column, swapaxes(reshape(x, [N, D_K, H]), 1, 2)) == "refuted"  # b·h + a for a·d_k + b


# ---------------------------------------------------------------------- C07, C09: lengths, scale, axis
def test_c07_scores_have_the_lengths_of_queries_and_keys() -> None:
    q, k, v = array("Q", "2,3,4,5"), array("K", "2,3,7,5"), array("V", "2,3,7,6")
    assert (q @ swapaxes(k, -1, -2)).shape == (2, 3, 4, 7)
    assert attend(q, k, v).shape == (2, 3, 4, 6)
    # one head of 8 keys shaped with the query length 4: two heads of 4 keys, without a word
    assert reshape(array("K", "2,8,5"), [2, -1, 4, 5]).shape == (2, 2, 4, 5)


def test_c09_the_scale_is_that_of_a_head() -> None:
    q, k, v = one_head()
    right = attention(q, k, v)
    assert verdict(attention(q, k, v, width=H * D_K, name="R"), right) == "refuted"
    assert verdict(q @ k.T / root(H * D_K) * root(H), q @ k.T / root(D_K)) == "proved"  # off by √h
    assert verdict(lm.softmax(q @ k.T * root(D_K), name="R") @ v, right) == "refuted"  # divided by d_k^(-1/2)


def test_c09_false_alarms_are_equal() -> None:
    q, k, v = one_head()
    right = attention(q, k, v)
    quarter = root(D_K) ** sp.Rational(1, 2)
    scaled = [(q / root(D_K)) @ k.T, q @ (k / root(D_K)).T, (q / quarter) @ (k / quarter).T, q @ k.T * root(D_K) / D_K]
    for scores in scaled:
        assert verdict(lm.softmax(scores, name="R") @ v, right) == "proved"
    assert verdict(lm.softmax((q / quarter) @ k.T, name="R") @ v, right) == "refuted"  # on one side only


def test_softmax_over_the_queries_is_refuted() -> None:
    q, k, v = one_head()
    assert verdict(attention(q, k, v, axis=0, name="R"), attention(q, k, v)) == "refuted"


# ---------------------------------------------------------------------- blocks of keys
def blocks(weight: Callable[[Array, Array], Array]) -> str:
    """The verdict on merging two blocks by weights made of their largest scores and sums of exponentials."""
    s = [array("S1", "n,m1"), array("S2", "n,m2")]
    v = [array("V1", "m1,d_v"), array("V2", "m2,d_v")]
    outputs = [lm.softmax(x, name=f"P{n}") @ y for n, (x, y) in enumerate(zip(s, v, strict=True), 1)]
    largest = [lm.max(x, axis=1) for x in s]
    w1, w2 = (weight(m, lm.sum(lm.exp(x - m[:, None]), axis=1)) for x, m in zip(s, largest, strict=True))
    merged = (w1[:, None] * outputs[0] + w2[:, None] * outputs[1]) / (w1 + w2)[:, None]
    e = [lm.exp(x) for x in s]
    both = (e[0] @ v[0] + e[1] @ v[1]) / (lm.sum(e[0], axis=1) + lm.sum(e[1], axis=1))[:, None]
    return verdict(merged, both)


def test_blocks_merge_by_their_rescaled_sums() -> None:
    assert blocks(lambda largest, total: lm.exp(largest) * total) == "proved"


@pytest.mark.parametrize(
    "weight",
    [
        pytest.param(lambda largest, total: total, id="not rescaled"),
        pytest.param(lambda largest, total: lm.exp(largest), id="sums forgotten"),
        pytest.param(lambda largest, total: lm.exp(-largest) * total, id="rescaled the wrong way"),
        pytest.param(lambda largest, total: total * 0 + 1, id="plain mean of the outputs"),
    ],
)
def test_blocks_merged_wrongly_are_refuted(weight: Callable[[Array, Array], Array]) -> None:
    assert blocks(weight) == "refuted"


def test_keys_without_their_values_reversed_are_refuted() -> None:
    q, k, v = one_head()
    assert verdict(attention(q, flip(k, 0), v, name="R"), attention(q, k, v)) == "refuted"


# ---------------------------------------------------------------------- grouped queries
def test_grouped_queries_with_tiled_key_heads_are_refuted() -> None:
    """Query head h uses key head h // r; h mod g is another assignment."""
    q, k = array("Q", "g*r,n,d_k"), array("K", "g,m,d_k")
    right = lm.einsum("grna,gma->grnm", reshape(q, [G, R, *q.shape[1:]]), k)
    repeated = lm.einsum("hgr,gma->hma", places(G, R), k)
    tiled = lm.einsum("hrg,gma->hma", places(R, G), k)

    def scores(keys: Array) -> Array:
        return reshape(lm.einsum("hna,hma->hnm", q, keys), right.shape)

    assert verdict(scores(repeated), right) == "proved"
    assert verdict(scores(reshape(tiled, repeated.shape)), right) == "refuted"


def test_a_key_head_gathers_the_gradients_of_its_queries() -> None:
    q, k, v = array("Q", "g,r,n,d_k"), array("K", "g,m,d_k"), array("V", "g,m,d_v")
    p = lm.softmax(define("S", lm.einsum("grna,gma->grnm", q, k)), name="P")
    loss = lm.sum(array("G", "g,r,n,d_v") * define("O", lm.einsum("grnm,gma->grna", p, v)))

    def of_values(reduce: Callable[..., Array]) -> str:
        form: Form = lambda a: reduce(swapaxes(p, 2, 3) @ a["dO"], axis=1)  # noqa: E731
        return replay(derive_system(System(loss, [v], forms={"V": form})), steps=False, seed=SEED).verdict

    assert of_values(lm.sum) == "proved"
    assert of_values(lm.mean) == "refuted"


# ---------------------------------------------------------------------- the flat NumPy functions
def parameters(rng: np.random.Generator, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    return [rng.normal(size=s) for s in shapes]


def test_weights_with_an_axis_of_heads_are_columns_of_the_wide_ones() -> None:
    """Entry (c, a, b) is entry (c, a·d_k + b), written out entry by entry."""
    rng = generator(SEED, "flat layout")
    d, c, h, d_k, d_v, out = 5, 6, 3, 2, 4, 7
    shapes = [(d, h, d_k), (h, d_k), (c, h, d_k), (h, d_k), (c, h, d_v), (h, d_v), (h, d_v, out), (out,)]
    given = parameters(rng, shapes)
    wide = []
    for n, p in enumerate(given[:6]):
        width = p.shape[-1]
        columns = [p[..., j // width, j % width] for j in range(h * width)]
        wide.append(np.stack(columns, axis=-1) if n % 2 == 0 else np.array(columns))
    wide += [np.stack([given[6][j // d_v, j % d_v] for j in range(h * d_v)]), given[7]]
    x, context = rng.normal(size=(2, 8, d)), rng.normal(size=(2, 9, c))
    expected = multi_head_attention(x, context, MultiHeadParameters(*wide), h)
    assert np.allclose(flat_attention.cross_attention(x, context, *given), expected, rtol=1e-12)


def test_query_head_uses_the_key_head_of_its_group() -> None:
    rng = generator(SEED, "groups")
    q, k, v = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 6, 5)), rng.normal(size=(2, 6, 7))
    found = flat_attention.grouped_query_attention(q, k, v)
    for group in range(2):
        for r in range(3):
            expected = scaled_dot_product_attention(q[group, r], k[group], v[group])
            assert np.allclose(found[group, r], expected, rtol=1e-12)


def test_causal_queries_do_not_see_later_keys() -> None:
    rng = generator(SEED, "causal")
    q, k, v = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    before = flat_attention.causal_attention(q, k, v)
    k[3], v[3] = rng.normal(size=3), rng.normal(size=2)
    after = flat_attention.causal_attention(q, k, v)
    assert np.array_equal(before[:3], after[:3])
    assert not np.allclose(before[3], after[3])
