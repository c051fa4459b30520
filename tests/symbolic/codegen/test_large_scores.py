"""Generated code at scores of ±10⁴, where e^score overflows: masked softmax, its logarithm, and whole quotients."""

from __future__ import annotations

import numpy as np
import pytest

import lemmata as lm
from lemmata.numeric.attention import causal_mask, scaled_dot_product_attention_vjp
from lemmata.symbolic.codegen import compile_numpy
from lemmata.symbolic.language import rearrangement
from lemmata.symbolic.language.arrays import Array, tensor_of
from lemmata.symbolic.language.errors import UnsupportedError

RNG = np.random.default_rng(0)
SCORES = 1e4 * RNG.normal(size=(5, 7))
MASK = (RNG.random((5, 7)) < 0.6).astype(float)
MASK[:, 2] = 1.0
SCORES[:, 3], MASK[:, 3] = 9e4, 0.0  # the largest score of every row is masked
CAUSAL = np.tril(np.ones((5, 7)))


def compiled(value: Array, *arguments: Array):  # type: ignore[no-untyped-def]
    return compile_numpy("f", value.body, value.indices, [tensor_of(a) for a in arguments])


def weights(kind: str) -> tuple[Array, tuple[Array, ...], np.ndarray]:
    s, m = lm.array("S", "n,m"), lm.array("M", "n,m", domain="binary")
    seen = lm.greater_equal(lm.arange("n")[:, None], lm.arange("m")[None, :])
    return {
        "binary array": (m * lm.exp(s), (s, m), MASK),
        "indicator": (seen * lm.exp(s), (s, m), CAUSAL),
        "opposite": ((1 - lm.less(lm.arange("n")[:, None], lm.arange("m")[None, :])) * lm.exp(s), (s, m), CAUSAL),
        "both": (seen * m * lm.exp(s), (s, m), CAUSAL * MASK),
        "where": (lm.where(seen, lm.exp(s), 0), (s, m), CAUSAL),
    }[kind]


def expected(mask: np.ndarray) -> np.ndarray:
    logits = np.where(mask != 0, SCORES, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


KINDS = ["binary array", "indicator", "opposite", "both", "where"]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", KINDS)
def test_masked_softmax_subtracts_the_largest_score_that_is_not_masked(kind: str) -> None:
    w, arguments, mask = weights(kind)
    p = w / lm.sum(w, axis=1, keepdims=True)
    found = compiled(p, *arguments)(SCORES, MASK)
    np.testing.assert_allclose(found, expected(mask), rtol=1e-12)
    named = lm.define("P", p)
    twice = compiled(named * named, *arguments)(SCORES, MASK)
    np.testing.assert_allclose(twice, expected(mask) ** 2, rtol=1e-12)
    square = compiled(p * p, *arguments)(SCORES, MASK)
    np.testing.assert_allclose(square, expected(mask) ** 2, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("kind", KINDS)
def test_logarithms_of_masked_sums(kind: str) -> None:
    w, arguments, mask = weights(kind)
    logits = np.where(mask != 0, SCORES, -np.inf)
    top = np.where((mask != 0).any(axis=1, keepdims=True), logits.max(axis=1, keepdims=True), 0.0)
    lse = (top + np.log(np.exp(logits - top).sum(axis=1, keepdims=True)))[:, 0]
    found = compiled(lm.log(lm.sum(w, axis=1)), *arguments)(SCORES, MASK)
    np.testing.assert_allclose(found, lse, rtol=1e-12)
    named = lm.define("P", w / lm.sum(w, axis=1, keepdims=True))
    picked = lm.sum(lm.where(lm.greater(named, 0), lm.log(named), 0), axis=1)
    assert compiled(picked, *arguments)(SCORES, MASK).shape == (5,)
    found = compiled(lm.log(named), *arguments)(SCORES, MASK)
    np.testing.assert_allclose(found, logits - lse[:, None], rtol=1e-12)


def test_an_empty_row_has_the_logarithm_of_zero() -> None:
    w, arguments, _ = weights("binary array")
    with np.errstate(divide="ignore"):
        assert compiled(lm.log(lm.sum(w, axis=1)), *arguments)(SCORES, 0 * MASK).tolist() == [-np.inf] * 5


def test_weights_that_are_no_mask_are_left_alone() -> None:
    s, c = lm.array("S", "n,m"), lm.array("c", "n,m", domain="positive")
    p = c * lm.exp(s) / lm.sum(c * lm.exp(s), axis=1, keepdims=True)
    scores, factor = SCORES / 1e4, np.exp(RNG.normal(size=(5, 7)))
    direct = factor * np.exp(scores)
    np.testing.assert_allclose(compiled(p, s, c)(scores, factor), direct / direct.sum(axis=1, keepdims=True))


def test_a_mask_that_stands_below_only_is_kept_apart() -> None:
    """e^s / Σ m e^s is no probability where m is 0."""
    s, m = lm.array("S", "n,m"), lm.array("M", "n,m", domain="binary")
    value = lm.exp(s) / lm.sum(m * lm.exp(s), axis=1, keepdims=True)
    scores = SCORES / 1e4
    np.testing.assert_allclose(compiled(value, s, m)(scores, MASK),
                               np.exp(scores) / (MASK * np.exp(scores)).sum(axis=1, keepdims=True))


def test_causal_attention_at_large_scores() -> None:
    q, k, v, g = (RNG.normal(size=s) for s in [(5, 4), (5, 4), (5, 2), (5, 2)])
    q, k = 1e2 * q, 1e2 * k  # scores of 10⁴
    found = lm.lookup_theorem("vjp_attention_causal").numpy()(q, k, v, g)
    assert np.abs(q @ k.T).max() > 1e4
    for a, b in zip(found, scaled_dot_product_attention_vjp(q, k, v, g, mask=causal_mask(5, 5))[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_minus_infinity_in_a_sum_is_refused_and_not_computed_as_nan() -> None:
    s = lm.array("S", "n,m")
    seen = lm.greater_equal(lm.arange("n")[:, None], lm.arange("m")[None, :])
    with pytest.raises(UnsupportedError, match="write a masked softmax as"):
        compiled(lm.softmax(lm.where(seen, s, -float("inf"))), s)


def test_repeat_and_tile_index_with_whole_numbers() -> None:
    k, q = lm.array("K", "B,g,m"), lm.array("Q", "B,g*r,m")
    keys = RNG.normal(size=(2, 3, 4))
    by_three = compiled(rearrangement.repeat(k, 3, axis=1), k)
    np.testing.assert_array_equal(by_three(keys), np.repeat(keys, 3, axis=1))
    assert "K[:, np.arange(3 * g) // 3]" in by_three.__source__
    heads = compiled(rearrangement.repeat(k, lm.size("r"), axis=1) * q, k, q)
    np.testing.assert_array_equal(heads(keys, np.ones((2, 6, 4))), np.repeat(keys, 2, axis=1))
    np.testing.assert_array_equal(compiled(rearrangement.tile(k, (1, 2, 3)), k)(keys), np.tile(keys, (1, 2, 3)))
