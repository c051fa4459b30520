"""Cross-entropy: published mistakes with their right answers, conventions, extreme logits, errors."""

import numpy as np
import pytest

from lemmata.numeric import cross_entropy as ce
from lemmata.numeric import sampling
from lemmata.numeric.comparison import assert_close, compare
from lemmata.numeric.differences import difference_gradient, difference_hessian
from lemmata.numeric.distillation import distillation_gradient, distillation_loss
from lemmata.numeric.kl_divergence import kl_divergence, kl_divergence_by_logits, kl_divergence_by_logits_gradient
from lemmata.numeric.softmax import log_softmax, logsumexp, softmax, softmax_vjp
from lemmata.numeric.targets import one_hot, smooth_labels

RNG = sampling.generator(41)
N, K = 3, 5
Z = sampling.draw("logits", (N, K), RNG)
Y = sampling.draw("simplex", (N, K), RNG)
HARD = np.array([4, 0, 2])


def test_gradient_depends_on_the_variable() -> None:
    """By the logits p − y, by the probabilities −y/p; the softmax VJP takes one to the other."""
    p = softmax(Z)
    by_logits = ce.cross_entropy_gradient(Z, Y, reduction="sum")
    by_probabilities = ce.cross_entropy_of_probabilities_gradient(p, Y, reduction="sum")
    assert_close(by_logits, p - Y)
    assert_close(by_probabilities, -Y / p)
    assert_close(softmax_vjp(Z, by_probabilities), by_logits)
    assert not compare(by_logits, by_probabilities)


def test_elementwise_softmax_derivative_is_refuted() -> None:
    """Taking softmax' for p(1 − p) gives −y(1 − p), which is not the gradient."""
    p = softmax(Z)
    wrong = ce.cross_entropy_of_probabilities_gradient(p, Y, reduction="sum") * p * (1 - p)
    right = difference_gradient(lambda z: ce.cross_entropy(z, Y, reduction="sum"), Z)
    assert not compare(wrong, right, rtol=1e-3)


def test_targets_that_do_not_sum_to_one() -> None:
    y = np.array([[0.0] * K, [1.0, 0.0, 1.0, 0.0, 0.0], Y[0]])
    gradient = ce.cross_entropy_gradient(Z, y, reduction="none")
    assert np.all(gradient[0] == 0)
    assert_close(gradient[1], 2 * softmax(Z)[1] - y[1])
    assert not compare(gradient[1], softmax(Z)[1] - y[1])
    assert np.all(ce.cross_entropy_gradient(Z, smooth_labels(y, 0.1), reduction="none")[0] == 0)


@pytest.mark.parametrize(("variant", "optimum"), [("uniform", [0.95, 0.05]), ("others", [0.9, 0.1])])
def test_label_smoothing_variants(variant: str, optimum: list[float]) -> None:
    options = {"label_smoothing": 0.1, "smoothing_variant": variant}
    assert_close(smooth_labels([1.0, 0.0], 0.1, variant=variant), optimum)
    best = np.log(optimum)
    assert_close(ce.cross_entropy_gradient(best, 0, **options), [0.0, 0.0])
    assert_close(ce.cross_entropy(best, 0, **options), ce.entropy(optimum))
    if variant == "uniform":
        assert round(float(ce.cross_entropy(best, 0, **options)), 6) == 0.198515


def test_hessian_has_no_y_in_it_and_is_positive_semidefinite() -> None:
    hessian = ce.cross_entropy_hessian(Z[0], Y[0])
    assert_close(hessian, difference_hessian(lambda z: ce.cross_entropy(z, Y[0]), Z[0]), rtol=1e-7, atol=1e-8)
    assert_close(hessian, ce.cross_entropy_hessian(Z[0], Y[1]))
    assert np.all(np.linalg.eigvalsh(hessian) > -1e-14)
    # Twice the last axis of a batch: one block a row, and the mean divides it.
    assert_close(ce.cross_entropy_hessian(Z, Y)[0], hessian / N)


def test_softmax_over_the_wrong_axis_is_seen_in_a_square_batch() -> None:
    z = sampling.draw("logits", (3, 3), sampling.generator(5))
    y = one_hot([2, 0, 1], 3)
    right = ce.cross_entropy_gradient(z, y, axis=1, reduction="sum")
    assert_close(right, softmax(z, 1) - y)
    assert not compare(softmax(z, 0) - y, right)
    assert_close(ce.cross_entropy_gradient(z.T, y.T, axis=0, reduction="sum").T, right)


def test_hard_label_is_minus_log_p_and_logsumexp_minus_logit() -> None:
    rows = np.arange(N)
    losses = ce.cross_entropy(Z, HARD, reduction="none")
    assert_close(losses, -log_softmax(Z)[rows, HARD])
    assert_close(losses, logsumexp(Z) - Z[rows, HARD])
    assert_close(losses, ce.cross_entropy(Z, one_hot(HARD, K), reduction="none"))
    assert_close(ce.cross_entropy(Z, HARD), np.mean(losses))
    assert_close(ce.cross_entropy(Z, HARD, reduction="sum"), np.sum(losses))


def test_missing_batch_size_is_seen() -> None:
    assert_close(ce.cross_entropy_gradient(Z, HARD), (softmax(Z) - one_hot(HARD, K)) / N)
    assert not compare(ce.cross_entropy_gradient(Z, HARD), softmax(Z) - one_hot(HARD, K))


def test_cross_entropy_is_entropy_plus_kl() -> None:
    total = ce.entropy(Y) + kl_divergence(Y, softmax(Z))
    assert_close(ce.cross_entropy(Z, Y, reduction="none"), total)


def test_class_weights_and_their_normalizations() -> None:
    weights = np.array([0.5, 1.0, 2.0, 3.0, 5.0])
    losses = ce.cross_entropy(Z, HARD, reduction="none") * weights[HARD]
    assert_close(ce.cross_entropy(Z, HARD, reduction="none", class_weights=weights), losses)
    assert_close(ce.cross_entropy(Z, HARD, class_weights=weights), np.sum(losses) / np.sum(weights[HARD]))
    by_count = ce.cross_entropy(Z, HARD, class_weights=weights, weight_normalization="count")
    assert_close(by_count, np.mean(losses))
    assert_close(ce.cross_entropy(Z, one_hot(HARD, K), class_weights=weights), np.sum(losses) / np.sum(weights[HARD]))


def test_ignored_rows() -> None:
    labels = np.array([4, -100, 2])
    z = Z.copy()
    z[1] = -np.inf
    assert_close(ce.cross_entropy(z, labels, ignore_index=-100), ce.cross_entropy(Z[[0, 2]], labels[[0, 2]]))
    gradient = ce.cross_entropy_gradient(z, labels, ignore_index=-100)
    assert_close(gradient[[0, 2]], ce.cross_entropy_gradient(Z[[0, 2]], labels[[0, 2]]))
    assert np.all(gradient[1] == 0)
    assert ce.cross_entropy(z, labels, ignore_index=-100, reduction="none")[1] == 0
    with pytest.raises(ValueError, match="of 3 rows 0 are not ignored"):
        ce.cross_entropy(Z, [-100] * 3, ignore_index=-100)
    assert ce.cross_entropy(Z, [-100] * 3, ignore_index=-100, reduction="sum") == 0


def test_extreme_logits() -> None:
    z = np.array([[1000.0, -1000.0], [1000.0, -1000.0], [0.0, -np.inf]])
    assert ce.cross_entropy(z, [0, 1, 0], reduction="none").tolist() == [0.0, 2000.0, 0.0]
    assert ce.cross_entropy(z[2], 1) == np.inf
    assert_close(ce.cross_entropy_gradient(z, [0, 1, 0], reduction="none"), [[0, 0], [1, -1], [0, 0]])
    assert_close(ce.cross_entropy([40.0, 0.0], 0), np.exp(-40.0), atol=0)


def test_cross_entropy_of_one_class() -> None:
    assert ce.cross_entropy([[3.0]], [0]) == 0
    assert ce.cross_entropy_gradient([[3.0]], [0]).tolist() == [[0.0]]
    assert ce.cross_entropy([[3.0]], [0], label_smoothing=0.5) == 0
    with pytest.raises(ValueError, match="but K = 1"):
        ce.cross_entropy([[3.0]], [0], label_smoothing=0.5, smoothing_variant="others")


def test_zero_probabilities() -> None:
    assert ce.cross_entropy_of_probabilities([0.0, 1.0], 1) == 0
    assert ce.cross_entropy_of_probabilities([0.0, 1.0], 0) == np.inf
    assert ce.cross_entropy_of_probabilities_gradient([0.0, 1.0], 0).tolist() == [-np.inf, 0.0]
    assert ce.entropy([0.0, 1.0]) == 0
    assert ce.entropy_of_logits_gradient([0.0, -np.inf]).tolist() == [0.0, 0.0]


def test_kl_by_logits_in_both_directions() -> None:
    """d/dz KL(p‖q) = q − p and d/dz KL(q‖p) = q (log(q/p) − KL(q‖p)); swapped they fail."""
    p, q = Y, softmax(Z)
    second = kl_divergence_by_logits_gradient(p, Z)
    first = kl_divergence_by_logits_gradient(p, Z, logits="first")
    assert_close(second, q - p)
    assert_close(first, q * (np.log(q / p) - kl_divergence(q, p)[:, np.newaxis]))
    assert_close(difference_gradient(lambda z: np.sum(kl_divergence(softmax(z), p)), Z), first)
    assert_close(difference_gradient(lambda z: np.sum(kl_divergence(p, softmax(z))), Z), second)
    assert not compare(first, second)
    assert_close(kl_divergence_by_logits(p, Z), kl_divergence(p, q))
    assert_close(kl_divergence_by_logits(p, Z, logits="first"), kl_divergence(q, p))


def test_kl_at_the_edges() -> None:
    assert kl_divergence([0.0, 1.0], [0.0, 1.0]) == 0
    assert kl_divergence([0.5, 0.5], [0.0, 1.0]) == np.inf
    assert kl_divergence_by_logits([1.0, 0.0], [0.0, -np.inf]) == 0
    assert kl_divergence_by_logits([0.0, 1.0], [1000.0, -1000.0]) == 2000
    assert kl_divergence_by_logits([1.0, 0.0], [0.0, -np.inf], logits="first") == 0
    with pytest.raises(ValueError, match=r"need p > 0 wherever softmax\(z\) > 0, but p\[1\] = 0"):
        kl_divergence_by_logits_gradient([1.0, 0.0], [0.0, 0.0], logits="first")
    with pytest.raises(ValueError, match="unknown logits 'reverse'"):
        kl_divergence_by_logits([1.0], [0.0], logits="reverse")
    with pytest.raises(ValueError, match=r"need q >= 0, but q\[0\] = -0.5"):
        kl_divergence([0.5, 0.5], [-0.5, 1.5])


def test_distillation() -> None:
    teacher, tau = np.log(Y), 2.3
    kl = distillation_loss(Z, teacher, tau, divergence="kl", reduction="none")
    entropy_part = tau**2 * ce.entropy(softmax(teacher, temperature=tau))
    assert_close(distillation_loss(Z, teacher, tau, reduction="none"), kl + entropy_part)
    assert_close(
        distillation_gradient(Z, teacher, tau, reduction="sum"),
        tau * (softmax(Z, temperature=tau) - softmax(teacher, temperature=tau)),
    )
    assert_close(distillation_gradient(Z, teacher, 1.0, scale="none"), ce.cross_entropy_gradient(Z, Y))
    with pytest.raises(ValueError, match=r"z has shape \(3, 5\) but teacher has shape \(5, 3\)"):
        distillation_loss(Z, teacher.T, tau)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ([4, 0, 5], {}, r"need 0 <= label < K = 5, but target\[2\] = 5"),
        ([4, 0, -1], {}, r"need 0 <= label < K = 5, but target\[2\] = -1"),
        ([4, 0], {}, r"target has shape \(2,\); scores of shape \(3, 5\).*hard labels of shape \(3,\)"),
        (np.zeros((5, 3)), {}, r"target has shape \(5, 3\)"),
        (np.full((3, 5), np.nan), {}, "target has a NaN"),
        ([4, 0, 2], {"class_weights": [1.0, 2.0]}, r"class_weights has shape \(2,\), but there are K = 5"),
        ([4, 0, 2], {"class_weights": [1, 1, 1, 1, -1]}, r"need weights >= 0, but class_weights\[4\]"),
        ([4, 0, 2], {"label_smoothing": 1.5}, "need smoothing <= 1.0, got 1.5"),
        ([4, 0, 2], {"smoothing_variant": "torch"}, "unknown variant 'torch'"),
        ([4, 0, 2], {"reduction": "avg"}, "unknown reduction 'avg'; choose one of 'mean', 'sum', 'none'"),
        (Y, {"ignore_index": -100}, "ignore_index needs hard labels"),
        ([4, 0, 2], {"axis": 7}, "axis 7 does not exist"),
    ],
)
def test_cross_entropy_errors(target: object, options: dict, message: str) -> None:
    for function in (ce.cross_entropy, ce.cross_entropy_gradient):
        with pytest.raises(ValueError, match=message):
            function(Z, target, **options)


def test_labels_must_be_integers() -> None:
    with pytest.raises(TypeError, match="hard labels must be integers, got dtype float64"):
        ce.cross_entropy(Z, [4.0, 0.0, 2.0])
