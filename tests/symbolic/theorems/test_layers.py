"""Layers, losses and the Transformer: what each theorem says in particular, its numbers, and its wrong versions.

That every theorem is proved, and refused when tampered with, is tested over the registry; here the adjoints are the
ones of the textbooks, a wrong layer is refuted, and a part that is changed or left out is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

from lemmata.numeric import flat_layers, flat_transformer, normalization
from lemmata.numeric.comparison import compare
from lemmata.numeric.differences import difference_jvp
from lemmata.numeric.sampling import generator
from lemmata.symbolic.derivations.model import Derivation, Step, Verdict
from lemmata.symbolic.derivations.replay import judge, replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.derivations.tactics import partial
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as lm
from lemmata.symbolic.language.arrays import Array, array, define
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.theorems import find_theorem
from lemmata.symbolic.theorems.normalization import deviation, mean, normalized, normalized_adjoint
from lemmata.symbolic.theorems.transformer import SHAPES, language_model, transformer_block
from lemmata.verification import verify_theorem

SEED = 0
SCALE = 1 + sp.Rational(9, 10**4)
SYSTEMS = [
    "vjp_linear",
    "vjp_embedding",
    "vjp_gather",
    "vjp_residual",
    "vjp_dropout",
    "vjp_feed_forward",
    "vjp_layer_norm",
    "vjp_rms_norm",
    "vjp_batch_norm",
    "vjp_group_norm",
    "vjp_glu",
    "vjp_swiglu",
    "vjp_l2_normalize",
    "vjp_cosine_similarity",
]
CLAIMS = [
    "deriv_gelu",
    "deriv_gelu_tanh",
    "deriv_silu",
    "deriv_mish",
    "deriv_relu",
    "deriv_elu",
    "deriv_mse",
    "deriv_huber",
    "deriv_cosine_similarity",
]


@cache
def derivation(name: str) -> Derivation:
    return find_theorem(name).derivation()


def part(d: Derivation, name: str) -> Derivation:
    return next(p for p in d.parts if p.name == name)


def statement(p: Derivation, right: sp.Expr) -> Verdict:
    """The verdict on an adjoint's local statement with this right side."""
    return judge([Step(p.left, right, "statement", "", "state")], p.indices, p.hypotheses, seed=SEED)


def with_part(d: Derivation, name: str, right: sp.Expr) -> Derivation:
    """The system with one adjoint's right side put in place of the true one."""
    changed = replace(part(d, name), right=right, steps=())
    return replace(d, parts=tuple(changed if p.name == name else p for p in d.parts))


# ---------------------------------------------------------------------- proved, with numbers; wrong versions refused
@pytest.mark.parametrize("name", [*SYSTEMS, *CLAIMS])
def test_theorem_is_proved_with_numeric_evidence(name: str) -> None:
    verdict = verify_theorem(find_theorem(name), seed=SEED, steps=False)
    assert verdict.verdict == "proved", verdict.reason
    kinds = {e.kind for e in verdict.evidence if e.passed}
    assert {"canonical", "numpy", "differences"} <= kinds
    assert kinds & {"exact", "balls"}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_changed_adjoint_is_refused(name: str) -> None:
    d = derivation(name)
    for p in d.parts:
        for wrong in (p.right * SCALE, -p.right):
            found = statement(p, wrong)
            assert found.verdict == "refuted", f"{name}, {p.name}, seed {SEED}"
            assert found.counterexample is not None
        assert replay(with_part(d, p.name, p.right * SCALE), seed=SEED).verdict == "refuted"


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_missing_adjoint_is_seen(name: str) -> None:
    d = derivation(name)
    if len(d.definitions) > 1:
        assert replay(replace(d, parts=d.parts[1:]), steps=False).verdict == "refuted"


# ---------------------------------------------------------------------- normalisation
def layer_norm_with(form: object) -> Derivation:
    x, g, eps = array("x", "n,d"), array("G", "n,d"), array("eps", "", "positive")
    xhat = normalized(x, eps)
    return derive_system(System(lm.sum(g * xhat), [x], forms={"x": form(x, xhat, eps)}))  # type: ignore[operator]


def test_layer_norm_backward_is_the_compact_form() -> None:
    assert replay(layer_norm_with(normalized_adjoint)).verdict == "proved"


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda x, h, eps, g: g / deviation(x, eps), id="statistics held constant"),
        pytest.param(lambda x, h, eps, g: (g - mean(g)) / deviation(x, eps), id="variance held constant"),
        pytest.param(
            lambda x, h, eps, g: (g - mean(g) + h * mean(g * h)) / deviation(x, eps), id="sign of the second mean"
        ),
        pytest.param(
            lambda x, h, eps, g: (g - mean(g) - h * mean(g * h)) / lm.sqrt(lm.var(x, -1, keepdims=True)), id="no ε"
        ),
        pytest.param(
            lambda x, h, eps, g: (g - mean(g, 0) - h * mean(g * h, 0)) / deviation(x, eps), id="means over the places"
        ),
    ],
)
def test_a_wrong_layer_norm_backward_is_refuted(wrong: object) -> None:
    def form(x: Array, xhat: Array, eps: Array) -> object:
        return lambda a: wrong(x, xhat, eps, a["dxhat"])  # type: ignore[operator]

    assert replay(layer_norm_with(form), seed=SEED).verdict == "refuted"


def test_normalised_rows_are_orthogonal_to_the_gradient() -> None:
    """Shifting a row, and at ε = 0 scaling it, changes nothing: the gradient has no part along 1."""
    rng = generator(SEED, "orthogonal")
    x, g = rng.normal(size=(3, 7)), rng.normal(size=(3, 7))
    gradient = normalization.layer_norm_vjp(x, np.ones(7), g, eps=0.0).x
    assert np.allclose(gradient.sum(axis=-1), 0)
    assert np.allclose((gradient * x).sum(axis=-1), 0)


# ---------------------------------------------------------------------- layers
def test_repeated_ids_accumulate() -> None:
    found = flat_layers.embedding_gradient(np.zeros((4, 2)), [1, 3, 1], [[1.0, 2.0], [5.0, 6.0], [10.0, 20.0]])
    assert found.tolist() == [[0, 0], [11, 22], [0, 0], [5, 6]]


def test_a_weight_gradient_with_a_dropped_transpose_or_batch_is_refused() -> None:
    x, w, g = array("x", "B,n,d"), array("W", "d,d"), array("G", "B,n,d")
    y = define("y", x @ w)

    def verdict(form: object) -> str:
        return replay(derive_system(System(lm.sum(g * y), [w], forms={"W": form})), seed=SEED).verdict  # type: ignore[dict-item]

    assert verdict(lambda a: lm.einsum("bni,bno->io", x, a["dy"])) == "proved"
    assert verdict(lambda a: lm.einsum("bni,bno->oi", x, a["dy"])) == "refuted"
    assert verdict(lambda a: lm.mean(lm.einsum("bni,bno->bio", x, a["dy"]), 0)) == "refuted"


# ---------------------------------------------------------------------- activations and losses
@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (lm.gelu, lambda x: (1 + lm.erf(x / lm.sqrt(Array((), sp.Integer(2))))) / 2),  # the term x φ(x) is lost
        (lm.silu, lambda x: lm.sigmoid(x) * (1 - lm.sigmoid(x))),
        (lm.silu, lambda x: lm.sigmoid(x) * (1 + x * lm.sigmoid(x))),
        (lm.mish, lambda x: lm.tanh(lm.softplus(x)) + x * (1 - lm.tanh(lm.softplus(x)) ** 2)),
        (lm.elu, lambda x: lm.where(lm.greater(x, 0), 1, lm.exp(x) - 1)),
        (lm.relu, lambda x: lm.greater(-x, 0)),
    ],
)
def test_a_wrong_derivative_is_refuted(function: object, wrong: object) -> None:
    x = array("x", "K")
    claim = Claim(partial(lm.sum(function(x)), x), wrong(x))  # type: ignore[operator]
    assert replay(derive(claim), seed=SEED).verdict == "refuted"


def test_gelu_and_its_tanh_form_are_two_functions() -> None:
    x = array("x", "")
    assert replay(derive(Claim(lm.gelu(x), lm.gelu_tanh(x))), seed=SEED).verdict == "refuted"


# ---------------------------------------------------------------------- the Transformer block
@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("causal", [False, True])
def test_block_has_an_adjoint_for_every_parameter(order: str, causal: bool) -> None:
    x, g, eps = array("x", "n,d"), array("G", "n,d"), array("eps", "", "positive")
    block = transformer_block(x, eps=eps, order=order, causal=causal)
    d = derive_system(System(lm.sum(g * block.output), [x, *block.parameters.values()], forms=block.forms))
    assert {f"d{name}" for name in SHAPES} | {"dx", "dQ", "dK", "dV", "dS", "dP"} <= {p.name for p in d.parts}
    assert all(len(str(p.right)) < 260 for p in d.parts)


@pytest.mark.parametrize(
    "name",
    ["vjp_transformer_block", "vjp_transformer_block_causal", "vjp_transformer_block_post", "vjp_language_model"],
)
def test_block_and_model_are_proved(name: str) -> None:
    verdict = verify_theorem(find_theorem(name), seed=SEED, steps=False)
    assert verdict.verdict == "proved", verdict.reason
    assert {"canonical", "numpy", "differences"} <= {e.kind for e in verdict.evidence if e.passed}


@pytest.mark.parametrize("name", ["dh", "dS", "dK", "dz", "dx", "dW_O", "dgamma_1"])
def test_a_changed_adjoint_of_the_block_is_refused(name: str) -> None:
    p = part(derivation("vjp_transformer_block"), name)
    for wrong in (p.right * SCALE, -p.right):
        assert statement(p, wrong).verdict == "refuted"


def test_a_residual_without_its_own_cotangent_is_refuted() -> None:
    x, g, eps = array("x", "n,d"), array("G", "n,d"), array("eps", "", "positive")
    block = transformer_block(x, eps=eps)

    def lost(adjoints: Mapping[str, Array]) -> Array:
        return block.forms["x"](adjoints) - adjoints["dh"]

    d = derive_system(System(lm.sum(g * block.output), [x], forms={**block.forms, "x": lost}))
    assert replay(part(d, "dx"), seed=SEED).verdict == "refuted"


def test_an_unknown_order_and_an_empty_stack_are_errors() -> None:
    x, eps = array("x", "n,d"), array("eps", "", "positive")
    with pytest.raises(LemmataError, match="'pre' and 'post'"):
        transformer_block(x, eps=eps, order="sandwich")
    with pytest.raises(LemmataError, match="at least one block"):
        language_model(0)


# ---------------------------------------------------------------------- the hand-written block
WIDTHS = {"d": 6, "h": 2, "d_k": 4, "d_v": 5, "f": 7}


def block_inputs(names: list[str]) -> dict[str, np.ndarray]:
    rng = generator(SEED, "block")
    shapes = {n: tuple(WIDTHS[s] for s in SHAPES[n].split(",")) for n in names}
    return {n: rng.normal(size=shape) / np.sqrt(shape[0]) for n, shape in shapes.items()}


@pytest.mark.parametrize("order", ["pre", "post"])
def test_flat_block_gradients_agree_with_differences(order: str) -> None:
    p = block_inputs(list(SHAPES))
    rng = generator(SEED, "x", order)
    x, g, eps = rng.normal(size=(3, 6)), rng.normal(size=(3, 6)), 1e-3
    found = flat_transformer.block_gradients(x, *p.values(), eps, g, order=order, causal=True)
    for name in ("x", *SHAPES):
        start = x if name == "x" else p[name]
        direction = rng.normal(size=start.shape)

        def loss(v: np.ndarray, name: str = name) -> np.ndarray:
            given = {**p, name: v} if name != "x" else p
            tokens = v if name == "x" else x
            return np.sum(g * flat_transformer.block(tokens, *given.values(), eps, order=order, causal=True))

        expected = difference_jvp(loss, start, direction)
        assert compare(np.sum(found[name] * direction), expected, rtol=1e-7, atol=1e-8), name
        assert not compare(np.sum(found[name] * direction) * (1 + 9e-4) + 1e-6, expected, rtol=1e-7, atol=1e-8), name


def test_flat_functions_refuse_arrays_without_heads() -> None:
    p = block_inputs(list(SHAPES))
    with pytest.raises(ValueError, match="head axis"):
        flat_transformer.block(np.ones((3, 6)), *{**p, "W_Q": np.ones((6, 8))}.values(), 1e-3)
    with pytest.raises(ValueError, match="got 3 arrays"):
        flat_transformer.block(np.ones((3, 6)), *list(p.values())[:3])
    with pytest.raises(ValueError, match="arrays a block"):
        flat_transformer.language_model([0], [0], np.ones((2, 6)), np.ones((1, 6)), *list(p.values())[:5])
