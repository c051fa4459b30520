"""`prove_gradient` and `assert_gradient`: functions proved, refuted with a reason in words, supported, or refused
with advice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lemmata as lm

SHAPES = {"z": "N,K", "y": "N,K"}
ROWS = "sum(y, axis=1)=1"


def loss(z, y):
    shifted = z - z.max(axis=1, keepdims=True)
    return -np.mean(np.sum(y * (shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))), axis=1))


def loss_grad(z, y):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True) - y) / len(z)


def scale(x, w):
    return x * w


def scale_backward(g, x, w):
    return {"x": g * w, "grad_w": (g * x).sum(axis=0)}


# ---------------------------------------------------------------------- proved
def test_a_hypothesis_holds_where_inputs_are_drawn_too() -> None:
    """Without Σy = 1 the same gradient is wrong: then it is (Σy) p − y."""
    with_rows = lm.prove_gradient(loss, loss_grad, "z", SHAPES, given=ROWS)
    assert with_rows.verdict.verdict == "proved"
    assert {e.kind for e in with_rows.verdict.evidence} >= {"canonical", "balls", "differences"}
    assert all(e.passed for e in with_rows.verdict.evidence)
    assert with_rows.raise_if_not_proved() is with_rows
    assert with_rows.counterexample is None
    without = lm.prove_gradient(loss, loss_grad, "z", SHAPES)
    assert without.verdict.verdict == "refuted"
    assert not np.allclose(np.sum(without.counterexample.inputs["y"], axis=1), 1)  # type: ignore[union-attr]


@pytest.mark.parametrize("known", [{"domains": "y=simplex"}, {"domains": {"y": "onehot"}}, {"given": [ROWS, "y >= 0"]}])
def test_other_words_for_the_same(known: dict[str, Any]) -> None:
    assert lm.prove_gradient(loss, loss_grad, wrt=["z"], shapes="z=N,K y=N,K", **known).holds()


def test_hypotheses_of_other_kinds_are_drawn() -> None:
    """One array in terms of another: the inputs satisfy it, and the counterexample with them."""

    def forward(a, b, c):
        return np.sum(a * b) / c

    given = ["b = 2*a", "c > 0"]
    assert lm.prove_gradient(forward, lambda b, c: b / c, "a", "a=K b=K c=", given=given).holds("supported")
    assert lm.prove_gradient(forward, lambda a, c: 2 * a / c, "a", "a=K b=K c=", given=given).holds("supported")
    refuted = lm.prove_gradient(forward, lambda a, c: a / c, "a", "a=K b=K c=", given=given)
    inputs = refuted.counterexample.inputs  # type: ignore[union-attr]
    np.testing.assert_allclose(inputs["b"], 2 * np.asarray(inputs["a"]))
    assert inputs["c"] > 0
    assert refuted.counterexample.residual == "the claim lacks the factor 2"  # type: ignore[union-attr]


def test_a_hypothesis_is_used_after_differentiating() -> None:
    """With c = 2d the partial derivative of c d by c is d, not 4d/2 of the curve c = 2d, nor c."""
    given = "c = 2*d"
    assert lm.prove_gradient(lambda c, d: c * d, lambda d: d, "c", "c= d=", given=given).holds("supported")
    assert lm.prove_gradient(lambda c, d: c * d, lambda c: c / 2, "c", "c= d=", given=given).holds("supported")
    assert lm.prove_gradient(lambda c, d: c * d, lambda c: c, "c", "c= d=", given=given).verdict.verdict == "refuted"


def test_several_gradients_in_a_dictionary_or_a_tuple() -> None:
    shapes = "x=N,D w=D"
    proof = lm.prove_gradient(scale, scale_backward, ["x", "w"], shapes, cotangent="g=N,D")
    assert {n: v.verdict for n, v in proof.verdicts.items()} == {"x": "proved", "w": "proved"}
    as_tuple = lm.prove_gradient(
        scale, lambda g, x, w: (g * w, (g * x).sum(axis=0)), "x,w", shapes, cotangent={"g": "N,D"}
    )
    assert as_tuple.holds()
    swapped = lm.prove_gradient(
        scale, lambda g, x, w: ((g * x).sum(axis=0), g * w), ["x", "w"], shapes, cotangent="g=N,D"
    )
    assert {v.verdict for v in swapped.verdicts.values()} == {"refuted"}
    looked_past = lm.prove_gradient(scale, lambda g, x, w: (g * w, None), ["x", "_"], shapes, cotangent="g=N,D")
    assert list(looked_past.verdicts) == ["x"]
    assert looked_past.holds()


def test_what_the_forward_pass_hands_on() -> None:
    def forward(x, w):
        return x @ w, x, w

    def backward(dout, kept_x, kept_w):
        return dout @ kept_w.T, kept_x.T @ dout

    assert lm.prove_gradient(forward, backward, ["x", "w"], "x=N,D w=D,M", cotangent="dout=N,M").holds()
    wrong = lm.prove_gradient(
        forward, lambda dout, a, b: (dout @ b.T, dout.T @ a), ["x", "w"], "x=N,D w=D,M", cotangent="dout=N,M"
    )
    assert [v.verdict for v in wrong.verdicts.values()] == ["proved", "refuted"]


def test_a_size_may_be_a_number_or_an_argument() -> None:
    def windows(x, m):
        return np.sum(x.reshape(-1, m) ** 2)

    fixed = lm.prove_gradient(
        lambda x: np.sum(x[:3] ** 2), lambda x: 2 * x * np.array([1.0, 1.0, 1.0, 0.0]), "x", {"x": "K"}, sizes={"K": 4}
    )
    assert fixed.holds()
    assert fixed.counterexample is None
    assert fixed.sizes == ()
    argument = lm.prove_gradient(windows, lambda x, m: 2 * x, "x", {"x": "n*m"}, sizes="n=1..3 m=1..3")
    assert argument.holds("supported")


def test_functions_are_not_changed_by_each_other() -> None:
    """Code that writes into its arguments is run on copies."""

    def forward(x):
        x *= 2
        return np.sum(x**2)

    assert lm.prove_gradient(forward, lambda x: 8 * x, "x", {"x": "K"}).holds("supported")
    assert lm.prove_gradient(forward, lambda x: 4 * x, "x", {"x": "K"}).verdict.verdict == "refuted"


# ---------------------------------------------------------------------- refuted, in words
def _mean(x, w):
    return np.mean((x @ w) ** 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(lambda x, w: 2 * x.T @ (x @ w), "the claim lacks the factor 1/N", id="mean"),
        pytest.param(lambda x, w: x.T @ (x @ w) / len(x), "the claim lacks the factor 2", id="two"),
        pytest.param(lambda x, w: -2 * x.T @ (x @ w) / len(x), "the claim has the opposite sign", id="sign"),
        pytest.param(
            lambda x, w: 2 * x.T @ (x @ w) / len(x) * 1.0009, "the claim is 1.0009 times the derivative", id="nearly"
        ),
        pytest.param(lambda x, w: 2 * x.T @ (x @ w) / len(w), "the claim lacks the factor D/N", id="wrong size"),
        pytest.param(lambda x, w: 2 * x.T * (x @ w) / len(x), "the claim lacks the sum over the axis N", id="no sum"),
        pytest.param(
            lambda x, w: (2 * x.T @ (x @ w) / len(x))[:, None], "the values are right, the shape is not", id="shape"
        ),
        pytest.param(lambda x, w: 0 * w, "the claim is 0", id="zero"),
    ],
)
def test_what_is_wrong_is_said(wrong: Callable[..., Any], said: str) -> None:
    proof = lm.prove_gradient(_mean, wrong, "w", "x=N,D w=D")
    c = proof.counterexample
    assert proof.verdict.verdict == "refuted"
    assert c is not None
    assert c.residual.startswith(said)
    # The counterexample is one: the derivative there, by hand, is the left value and not the right one.
    if not c.left.startswith("an array"):
        x, w = np.asarray(c.inputs["x"]), np.asarray(c.inputs["w"])
        truth = (2 * x.T @ (x @ w) / len(x))[c.index]
        assert float(c.left) == pytest.approx(truth, rel=1e-8)
        assert float(c.right) == pytest.approx(wrong(x, w)[c.index])
        assert float(c.right) != pytest.approx(truth, rel=1e-4)
    assert said in proof.text()
    assert said in proof.markdown()


def test_a_transposed_gradient_and_a_lost_row() -> None:
    def quadratic(x, A):
        return x @ A @ x

    assert lm.prove_gradient(quadratic, lambda x: np.outer(x, x), "A", "x=n A=n,n").holds()

    def bilinear(x, y, A):
        return x @ A @ y

    transposed = lm.prove_gradient(bilinear, lambda x, y: np.outer(y, x), "A", "x=n y=n A=n,n")
    assert transposed.counterexample.residual == "the claim is the transpose of the derivative"  # type: ignore[union-attr]

    def first_lost(x):
        out = 2 * x
        out[0] = 0
        return out

    lost = lm.prove_gradient(lambda x: np.sum(x**2), first_lost, "x", {"x": "N,K"})
    assert lost.counterexample.residual == "only entries at index 0 of axis 0 are wrong"  # type: ignore[union-attr]


def test_a_special_point_refutes() -> None:
    """x/|x| is right but at 0, where the claim has no value."""
    proof = lm.prove_gradient(lambda x: np.sum(x**2 / 2), lambda x: x * x / x, "x", {"x": "K"})
    assert proof.verdict.verdict == "refuted"
    assert 0 in np.asarray(proof.counterexample.inputs["x"])  # type: ignore[union-attr]
    assert lm.prove_gradient(
        lambda x: np.sum(x**2 / 2), lambda x: x * x / x, "x", {"x": "K"}, domains="x=nonzero"
    ).holds()


# ---------------------------------------------------------------------- supported, unsupported
def test_what_cannot_be_read_is_supported_by_numbers_alone() -> None:
    def forward(x):
        return np.sum(np.sort(x) ** 2)

    proof = lm.prove_gradient(forward, lambda x: 2 * x, "x", {"x": "K"}, domains={"x": "distinct"})
    assert proof.verdict.verdict == "supported"
    assert "np.sort" in proof.verdict.reason
    assert "test_prove_gradient.py:" in proof.verdict.reason
    assert proof.holds("supported")
    assert not proof.holds("proved")
    with pytest.raises(lm.NotProved, match=r"np\.sort"):
        proof.raise_if_not_proved()
    assert lm.assert_gradient(forward, lambda x: 2 * x, "x", {"x": "K"}, domains={"x": "distinct"}, level="supported")
    with pytest.raises(AssertionError, match="refuted by a counterexample"):
        lm.assert_gradient(forward, lambda x: 2.002 * x, "x", {"x": "K"}, domains={"x": "distinct"}, level="supported")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", {"z": "N,K"}), ["'y'", "y=N,K", "loss"], id="no shape"
        ),
        pytest.param(lambda: lm.prove_gradient(loss, loss_grad, "q", SHAPES), ["'q'", "z, y"], id="no such array"),
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", {**SHAPES, "t": "N"}),
            ["'t'", "loss takes z, y"],
            id="extra shape",
        ),
        pytest.param(
            lambda: lm.prove_gradient(scale, scale_backward, "x", "x=N,D w=D"),
            ["no cotangent", "(3, 4)", "cotangent=g="],
            id="no cotangent",
        ),
        pytest.param(
            lambda: lm.prove_gradient(scale, scale_backward, "x", "x=N,D w=D", cotangent="g=D,N"),
            ["g has the shape (D, N)", "scale returns"],
            id="cotangent of another shape",
        ),
        pytest.param(
            lambda: lm.prove_gradient(scale, scale_backward, "x", "x=N,D w=D", cotangent="dy=N,D"),
            ["'dy'", "scale_backward takes g, x, w"],
            id="cotangent of another name",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, lambda z, cache: z, "z", SHAPES), ["'cache'", "loss"], id="no cache"
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, lambda z, y: (z, y, z), ["z", "y"], SHAPES),
            ["returns 3 values", "z, y"],
            id="too many",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, lambda z, y: {"dq": z}, "z", SHAPES), ["dq", "dz", "z_grad"], id="no key"
        ),
        pytest.param(
            lambda: lm.prove_gradient(lambda z: z[100], lambda z: z, "z", {"z": "K"}),
            ["IndexError", "test_prove_gradient.py:", "z (4,)"],
            id="does not run",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", SHAPES, given="sum(y*y)=1"),
            ["no inputs are drawn", "sums over axes"],
            id="cannot be drawn",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", SHAPES, given="sum(q)=1"),
            ["'q'"],
            id="unknown in hypothesis",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", SHAPES, domains={"y": "simplx"}),
            ["simplx", "simplex"],
            id="domain",
        ),
        pytest.param(
            lambda: lm.prove_gradient(loss, loss_grad, "z", SHAPES, sizes="N=5..2"), ["N", "5 to 2"], id="empty range"
        ),
    ],
)
def test_what_does_not_fit_is_said(ask: Callable[[], Any], said: list[str]) -> None:
    with pytest.raises(lm.LemmataError) as caught:
        ask()
    assert [s for s in said if s not in str(caught.value)] == [], str(caught.value)


# ---------------------------------------------------------------------- shown
def test_the_report_holds_formulas_and_both_values() -> None:
    proof = lm.prove_gradient(loss, lambda z, y: loss_grad(z, y) * len(z), "z", SHAPES, given=ROWS)
    text = proof.text()
    assert text.startswith("claim: lambda is the gradient of loss with respect to z\nrefuted by a counterexample\n")
    assert "differences of loss" in text
    assert "sizes   K = 2, N = 2" in text
    assert "the claim lacks the factor 1/N" in text
    names = dict(proof.formulas)
    assert names["loss"].startswith("−(1/N) Σ_")
    assert "exp(z_" in names["lambda[i, j]"]
    data = json.loads(json.dumps(proof.data()))
    assert data["verdict"] == "refuted"
    assert np.shape(data["counterexample"]["inputs"]["z"]) == (2, 2)
    assert proof.markdown().startswith("**Claim: lambda is the gradient of loss")


def test_the_same_question_has_the_same_answer() -> None:
    first, again = (lm.prove_gradient(loss, lambda z, y: z, "z", SHAPES, given=ROWS).text() for _ in range(2))
    assert first == again


# ---------------------------------------------------------------------- derived
def test_the_gradient_of_code() -> None:
    d = lm.gradient_of(loss, "z", SHAPES, given=ROWS)
    assert d.verdict.verdict == "proved"
    rng = np.random.default_rng(5)
    z, y = rng.normal(size=(5, 3)), rng.dirichlet(np.ones(3), 5)
    np.testing.assert_allclose(d.numpy()(z, y), loss_grad(z, y), rtol=1e-12)
    assert d.numpy_source().splitlines()[3].startswith("def loss_gradient(z, y):")
    assert len(d.derivation.steps) > 3


def test_the_vjp_of_code() -> None:
    d = lm.gradient_of(scale, "w", "x=N,D w=D", cotangent="g=N,D")
    rng = np.random.default_rng(6)
    x, w, g = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(5, 3))
    arguments = {"x": x, "w": w, "g": g}
    np.testing.assert_allclose(d.numpy()(*(arguments[t.name] for t in d.arguments)), (g * x).sum(axis=0), rtol=1e-12)
    with pytest.raises(lm.ShapeError, match="scalar"):
        lm.gradient_of(scale, "w", "x=N,D w=D")
