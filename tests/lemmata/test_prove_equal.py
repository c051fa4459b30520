"""`prove_equal`: rewrites of a function are proved, and a changed one is refuted by running both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lemmata as lm


def sigmoid_naive(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_stable(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def entropy_naive(z, y):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return -np.sum(y * np.log(p))


def entropy_stable(z, y):
    m = z.max(axis=1, keepdims=True)
    return np.sum(y * (m + np.log(np.exp(z - m).sum(axis=1, keepdims=True)) - z))


def variance(x):
    return np.mean((x - np.mean(x)) ** 2)


def variance_fused(x):
    return np.mean(x * x) - np.mean(x) ** 2


PAIRS = [
    pytest.param(sigmoid_naive, sigmoid_stable, "x=N,K", id="sigmoid"),
    pytest.param(entropy_naive, entropy_stable, "z=N,K y=N,K", id="cross-entropy"),
    pytest.param(variance, variance_fused, "x=n", id="variance"),
    pytest.param(lambda A, B: A @ B, lambda A, B: np.einsum("ij,jk->ik", A, B), "A=n,m B=m,k", id="einsum"),
]


@pytest.mark.parametrize(("f", "g", "shapes"), PAIRS)
def test_a_rewrite_is_proved_and_a_changed_one_refuted(
    f: Callable[..., Any], g: Callable[..., Any], shapes: str
) -> None:
    proof = lm.prove_equal(f, g, shapes)
    assert proof.verdict.verdict == "proved", proof
    assert "for every" in proof.text()
    for changed in (
        lambda **given: -g(**given),
        lambda **given: g(**given) * (1 + 9e-4),
        lambda **given: g(**given) + 1e-6,
    ):
        # A wrapper with the same names, as the parameters are met by name.
        names = ", ".join(w.partition("=")[0] for w in shapes.split())
        again = eval(
            f"lambda {names}: changed({', '.join(f'{n}={n}' for n in names.split(', '))})", {"changed": changed}
        )
        refuted = lm.prove_equal(f, again, shapes)
        assert refuted.verdict.verdict == "refuted"
        c = refuted.counterexample
        assert c is not None
        inputs = {n: np.asarray(v) for n, v in c.inputs.items()}
        assert f(**inputs)[c.index] == pytest.approx(float(c.left))
        assert again(**inputs)[c.index] == pytest.approx(float(c.right))


def test_hypotheses_and_domains_count() -> None:
    def direct(y, z):
        return np.sum(y * (z - np.log(np.sum(np.exp(z)))))

    def without(y, z):
        return np.sum(y * z) - np.log(np.sum(np.exp(z)))

    assert lm.prove_equal(direct, without, "y=K z=K", given="sum(y)=1").holds()
    assert lm.prove_equal(direct, without, "y=K z=K").verdict.verdict == "refuted"
    assert lm.prove_equal(lambda x: np.log(x**2), lambda x: 2 * np.log(x), "x=K", domains="x=positive").holds()
    undefined = lm.prove_equal(lambda x: np.log(x**2), lambda x: 2 * np.log(x), "x=K")
    assert undefined.verdict.verdict == "refuted"
    assert undefined.counterexample.right == "nan"  # type: ignore[union-attr]


def test_what_cancels_is_refuted_where_it_vanishes() -> None:
    proof = lm.prove_equal(lambda x: x, lambda x: x * x / x, "x=K")
    assert proof.verdict.verdict == "refuted"
    assert 0 in proof.counterexample.inputs["x"]  # type: ignore[union-attr]


def test_rounding_is_no_difference() -> None:
    """(1 − cos x)/x² loses digits near 0; the functions are the same."""
    proof = lm.prove_equal(
        lambda x: (1 - np.cos(x)) / x**2, lambda x: 2 * np.sin(x / 2) ** 2 / x**2, "x=K", domains="x=nonzero"
    )
    assert proof.verdict.verdict in ("proved", "supported"), proof


def test_other_shapes_and_other_arguments() -> None:
    proof = lm.prove_equal(lambda x: x.sum(axis=0), lambda x: x.sum(axis=0, keepdims=True), "x=N,K")
    assert proof.verdict.verdict == "refuted"
    assert "different shapes" in proof.text()
    with pytest.raises(lm.LemmataError, match="'w'"):
        lm.prove_equal(lambda x: x, lambda x, w: x, "x=K")


def test_assert_equal() -> None:
    assert lm.assert_equal(variance, variance_fused, {"x": "n"}).holds()
    with pytest.raises(AssertionError, match="the functions differ"):
        lm.assert_equal(variance, lambda x: np.sum((x - np.mean(x)) ** 2) / (len(x) - 0.5), {"x": "n"})
