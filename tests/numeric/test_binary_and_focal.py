"""Binary cross-entropy and focal loss: one formula in several forms, reductions, extreme logits, published mistakes."""

import numpy as np
import pytest

from lemmata.numeric import binary_cross_entropy as binary
from lemmata.numeric import sampling
from lemmata.numeric.activations import sigmoid, softplus
from lemmata.numeric.comparison import assert_close, compare
from lemmata.numeric.cross_entropy import cross_entropy, cross_entropy_gradient
from lemmata.numeric.differences import difference_gradient
from lemmata.numeric.focal_loss import (
    sigmoid_focal_loss,
    sigmoid_focal_loss_gradient,
    softmax_focal_loss,
    softmax_focal_loss_gradient,
)

RNG = sampling.generator(43)
M, K = 4, 7
Z = sampling.draw("logits", (M, K), RNG)
Y = sampling.draw("(0,1)", (M, K), RNG)
BITS = sampling.draw("binary", (M, K), RNG)


def test_log_softplus_and_stable_forms_are_equal() -> None:
    losses = binary.bce_with_logits(Z, Y, reduction="none")
    assert_close(losses, binary.bce(sigmoid(Z), Y, reduction="none"))
    assert_close(losses, np.maximum(Z, 0) - Z * Y + np.log1p(np.exp(-np.abs(Z))))
    assert_close(losses, softplus(Z) - Z * Y)


def test_two_rules_are_one_chain_rule_and_the_reduction_decides_the_factor() -> None:
    """By a: (a − y)/(a(1 − a)), by z: a − y; over all 1/(mK), over rows 1/m."""
    a = sigmoid(Z)
    assert_close(binary.bce_gradient(a, Y, reduction="sum"), (a - Y) / (a * (1 - a)))
    assert_close(binary.bce_with_logits_gradient(Z, Y, reduction="none"), a - Y)
    assert_close(binary.bce_gradient(a, Y) * a * (1 - a), binary.bce_with_logits_gradient(Z, Y))
    assert_close(binary.bce_with_logits_gradient(Z, Y), (a - Y) / (M * K))
    assert_close(binary.bce_with_logits_gradient(Z, Y, reduction="mean_over_rows"), (a - Y) / M)
    assert_close(
        binary.bce_with_logits(Z, Y, reduction="mean_over_rows"), K * binary.bce_with_logits(Z, Y, reduction="mean")
    )
    assert not compare((a - Y) / M, difference_gradient(lambda z: binary.bce_with_logits(z, Y), Z), rtol=1e-3)


def test_saturated_logits() -> None:
    """By the logit the gradient is p − y up to ±1000; by a clamped probability it would be 0."""
    z, y = np.array([100.0, -50.0, 1000.0, -1000.0]), np.array([1.0, 1.0, 0.0, 0.0])
    assert_close(binary.bce_with_logits_gradient(z, y, reduction="sum"), [-np.exp(-100.0), -1.0, 1.0, 0.0], atol=0)
    losses = binary.bce_with_logits(z, y, reduction="none")
    assert_close(losses, [np.exp(-100.0), 50.0, 1000.0, 0.0], atol=0)
    p = np.clip(sigmoid(-50.0), 1e-7, 1 - 1e-7)
    clamped = difference_gradient(lambda v: binary.bce(np.clip(sigmoid(v), 1e-7, 1 - 1e-7), np.array(1.0)), -50.0)
    assert clamped == 0
    assert p == 1e-7


def test_certain_probabilities() -> None:
    assert binary.bce([0.0, 1.0], [0.0, 1.0]) == 0
    assert binary.bce(0.0, 1.0) == np.inf
    assert binary.bce_gradient([0.0, 1.0], [0.0, 1.0], reduction="sum").tolist() == [1.0, -1.0]
    assert binary.bce_gradient([0.0, 1.0], [1.0, 0.0], reduction="sum").tolist() == [-np.inf, np.inf]
    infinite = np.array([-np.inf, np.inf])
    assert binary.bce_with_logits(infinite, [0.0, 1.0]) == 0
    assert binary.bce_with_logits(infinite, [1.0, 1.0]) == np.inf
    assert binary.bce_with_logits_gradient(infinite, [1.0, 0.0], reduction="sum").tolist() == [-1.0, 1.0]


def test_bce_is_two_class_cross_entropy() -> None:
    pair = np.stack([np.zeros_like(Z), Z], axis=-1)
    soft = np.stack([1 - Y, Y], axis=-1)
    assert_close(binary.bce_with_logits(Z, Y), cross_entropy(pair, soft))
    assert_close(binary.bce_with_logits_gradient(Z, Y), cross_entropy_gradient(pair, soft)[..., 1])


def test_pos_weight_multiplies_the_positive_term_only() -> None:
    weighted = binary.bce_with_logits(Z, BITS, pos_weight=3.0, reduction="none")
    assert_close(weighted, np.where(BITS == 1, 3.0, 1.0) * binary.bce_with_logits(Z, BITS, reduction="none"))
    with pytest.raises(
        ValueError, match=r"pos_weight has shape \(4,\), which does not broadcast to z of shape \(4, 7\)"
    ):
        binary.bce_with_logits(Z, BITS, pos_weight=np.ones(4))


@pytest.mark.parametrize("gamma", [0.0, 0.6, 1.0, 1.7, 2.0])
def test_binary_focal_is_softmax_focal_of_a_pair(gamma: float) -> None:
    pair = np.stack([np.zeros_like(Z), Z], axis=-1)
    labels = BITS.astype(int)
    options = {"alpha": 0.25, "reduction": "sum"}
    pair_options = {"alpha": [0.75, 0.25], "reduction": "sum"}
    assert_close(sigmoid_focal_loss(Z, BITS, gamma, **options), softmax_focal_loss(pair, labels, gamma, **pair_options))
    assert_close(
        sigmoid_focal_loss_gradient(Z, BITS, gamma, **options),
        softmax_focal_loss_gradient(pair, labels, gamma, **pair_options)[..., 1],
    )


def test_focal_without_gamma_is_cross_entropy() -> None:
    labels = np.array([6, 0, 3, 2])
    assert_close(softmax_focal_loss(Z, labels, 0.0), cross_entropy(Z, labels))
    assert_close(softmax_focal_loss_gradient(Z, labels, 0.0), cross_entropy_gradient(Z, labels))
    assert_close(sigmoid_focal_loss(Z, BITS, 0.0), binary.bce_with_logits(Z, BITS))
    assert_close(sigmoid_focal_loss_gradient(Z, BITS, 0.0), binary.bce_with_logits_gradient(Z, BITS))


def test_focal_mistakes_are_refuted() -> None:
    """The sign flipped, and the factor dp_t/dz = p_t(1 − p_t) forgotten."""
    z, gamma = np.array([0.3, -1.2, 2.0]), 1.7
    y = np.array([1.0, 1.0, 0.0])
    right = difference_gradient(lambda v: sigmoid_focal_loss(v, y, gamma, reduction="sum"), z)
    assert_close(sigmoid_focal_loss_gradient(z, y, gamma, reduction="sum"), right)
    p_t = sigmoid((2 * y - 1) * z)
    forgotten = gamma * (1 - p_t) ** (gamma - 1) * np.log(p_t) - (1 - p_t) ** gamma / p_t
    assert not compare(forgotten * (2 * y - 1), right, rtol=1e-2)
    assert not compare(-right, right, rtol=1e-2)


def test_focal_at_extreme_logits() -> None:
    z = np.array([1000.0, -1000.0, np.inf])
    assert sigmoid_focal_loss(z, [1, 1, 1], 2.0, reduction="none").tolist() == [0.0, 1000.0, 0.0]
    assert sigmoid_focal_loss_gradient(z, [1, 1, 1], 0.5, reduction="none").tolist() == [0.0, -1.0, 0.0]
    pair = np.array([[1000.0, -1000.0], [0.0, -np.inf]])
    for gamma in (0.0, 0.5, 2.0):
        assert softmax_focal_loss(pair, [1, 0], gamma, reduction="none").tolist() == [2000.0, 0.0]
        assert_close(softmax_focal_loss_gradient(pair, [1, 0], gamma, reduction="sum"), [[1.0, -1.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binary.bce([0.5], [[0.5]]), r"p has shape \(1,\) but y has shape \(1, 1\)"),
        (lambda: binary.bce([0.5, 1.5], [0, 1]), r"need 0 <= p <= 1, but p\[1\] = 1.5"),
        (lambda: binary.bce([], []), "nothing to take the mean of"),
        (lambda: binary.bce_with_logits(0.0, 1.0, reduction="mean_over_rows"), "needs a first axis"),
        (lambda: binary.bce_with_logits([np.nan], [1.0]), "z has a NaN"),
        (lambda: binary.bce_with_logits([0.0], [1.0], pos_weight=-1.0), "need pos_weight >= 0"),
        (lambda: binary.bce_with_logits([0.0], [1.0], reduction="batchmean"), "unknown reduction 'batchmean'"),
        (lambda: sigmoid_focal_loss([0.0], [0.5], 2.0), r"need y in \{0, 1\}, but y\[0\] = 0.5"),
        (lambda: sigmoid_focal_loss([0.0], [1], -1.0), "need gamma >= 0.0, got -1.0"),
        (lambda: sigmoid_focal_loss([0.0], [1], 1.0, alpha=2.0), "need alpha <= 1.0"),
        (lambda: softmax_focal_loss([[0.0, 1.0]], [2], 1.0), "need 0 <= label < K = 2"),
        (lambda: softmax_focal_loss([[0.0, 1.0]], [[1]], 1.0), r"target has shape \(1, 1\)"),
        (lambda: softmax_focal_loss([[0.0, 1.0]], [1], 1.0, alpha=[1, 1, 1]), r"alpha has shape \(3,\).*K = 2"),
    ],
)
def test_errors(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
