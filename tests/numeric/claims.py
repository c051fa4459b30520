"""Every hand-written derivative of softmax, the losses and the elementwise functions, as a claim at a generic point.

A new backward function gets a row here; the tests in ``test_derivatives.py`` then judge it and tamper with it. Sizes
are pairwise different: 3 rows, 5 classes, and 2 more where a third axis is needed.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from lemmata.numeric import activations as act
from lemmata.numeric import binary_cross_entropy as binary
from lemmata.numeric import cross_entropy as ce
from lemmata.numeric import distillation, focal_loss, sampling
from lemmata.numeric import kl_divergence as kl
from lemmata.numeric import softmax as sm

from .judging import Claim, contracted

SEED = 20170612
N, K, B = 3, 5, 2
rng = sampling.generator(SEED, "claims")
Z = sampling.draw("logits", (N, K), rng)
ROW = sampling.draw("logits", (K,), rng)
Z3 = sampling.draw("logits", (B, K, N), rng)
G = sampling.draw("real", (N, K), rng)
G3 = sampling.draw("real", (B, K, N), rng)
GN = sampling.draw("real", (N,), rng)
Y = sampling.draw("real", (N, K), rng)
SIMPLEX = sampling.draw("simplex", (N, K), rng)
OTHER = sampling.draw("simplex", (N, K), rng)
P = sampling.draw("(0,1)", (N, K), rng)
BITS = sampling.draw("binary", (N, K), rng)
HARD = np.array([4, 0, 2])
HARD3 = np.array([[4, 0, 2], [1, 1, 3]])
WEIGHTS = sampling.draw("positive", (K,), rng)
TAU = 2.3


def elementwise(function: Callable, derivative: Callable, x: np.ndarray, *, analytic: bool = True) -> Claim:
    """The gradient of ⟨g, f(x)⟩ is g ⊙ f'(x) for a function of one number."""
    weights = sampling.draw("nonzero", x.shape, sampling.generator(SEED, "weights"))
    return Claim(contracted(function, weights), x, weights * derivative(x), analytic)


def loss(function: Callable, gradient: Callable, x: np.ndarray, *arguments: object, **options: object) -> Claim:
    """A loss with its options fixed, beside its gradient with the same options."""
    return Claim(lambda v: function(v, *arguments, **options), x, gradient(x, *arguments, **options))


def near_a_pole(function: Callable, gradient: Callable, x: np.ndarray, *arguments: object, **options: object) -> Claim:
    return loss(function, gradient, x, *arguments, **options)._replace(step=1e-3)


cross_entropy = partial(loss, ce.cross_entropy, ce.cross_entropy_gradient)
by_probabilities = partial(near_a_pole, ce.cross_entropy_of_probabilities, ce.cross_entropy_of_probabilities_gradient)
with_logits = partial(loss, binary.bce_with_logits, binary.bce_with_logits_gradient)
bce = partial(near_a_pole, binary.bce, binary.bce_gradient)
focal = partial(loss, focal_loss.sigmoid_focal_loss, focal_loss.sigmoid_focal_loss_gradient)
softmax_focal = partial(loss, focal_loss.softmax_focal_loss, focal_loss.softmax_focal_loss_gradient)
distilled = partial(loss, distillation.distillation_loss, distillation.distillation_gradient)

CLAIMS: dict[str, Callable[[], Claim]] = {
    "softmax_jacobian": lambda: Claim(sm.softmax, ROW, sm.softmax_jacobian(ROW)),
    "softmax_jacobian, temperature": lambda: Claim(
        partial(sm.softmax, temperature=TAU), ROW, sm.softmax_jacobian(ROW, temperature=TAU)
    ),
    "softmax_vjp, axis 1 of 3": lambda: Claim(
        contracted(partial(sm.softmax, axis=1, temperature=TAU), G3), Z3, sm.softmax_vjp(Z3, G3, 1, temperature=TAU)
    ),
    "softmax_jvp": lambda: Claim(
        lambda s: sm.softmax(Z + s * G, temperature=TAU), np.array(0.0), sm.softmax_jvp(Z, G, temperature=TAU)
    ),
    "softmax_temperature_derivative": lambda: Claim(
        lambda t: sm.softmax(Z / t), np.array(TAU), sm.softmax_temperature_derivative(Z, temperature=TAU)
    ),
    "log_softmax_jacobian": lambda: Claim(
        partial(sm.log_softmax, temperature=TAU), ROW, sm.log_softmax_jacobian(ROW, temperature=TAU)
    ),
    "log_softmax_vjp, axis 1 of 3": lambda: Claim(
        contracted(partial(sm.log_softmax, axis=1), G3), Z3, sm.log_softmax_vjp(Z3, G3, 1)
    ),
    "log_softmax_jvp": lambda: Claim(lambda s: sm.log_softmax(Z + s * G), np.array(0.0), sm.log_softmax_jvp(Z, G)),
    "logsumexp_gradient": lambda: Claim(sm.logsumexp, ROW, sm.logsumexp_gradient(ROW)),
    "logsumexp_vjp": lambda: Claim(contracted(sm.logsumexp, GN), Z, sm.logsumexp_vjp(Z, GN)),
    "logsumexp_hessian": lambda: Claim(sm.logsumexp_gradient, ROW, sm.logsumexp_hessian(ROW)),
    "sigmoid_derivative": lambda: elementwise(act.sigmoid, act.sigmoid_derivative, Z),
    "sigmoid_second_derivative": lambda: elementwise(act.sigmoid_derivative, act.sigmoid_second_derivative, Z),
    "softplus_derivative": lambda: elementwise(act.softplus, act.softplus_derivative, Z),
    "log_sigmoid_derivative": lambda: elementwise(act.log_sigmoid, act.log_sigmoid_derivative, Z),
    "tanh_derivative": lambda: elementwise(act.tanh, act.tanh_derivative, Z),
    "relu_derivative": lambda: elementwise(
        act.relu,
        act.relu_derivative,
        sampling.draw("nonzero", (N, K), sampling.generator(SEED, "relu")),
        analytic=False,
    ),
    "cross_entropy_gradient, hard": lambda: cross_entropy(Z, HARD),
    "cross_entropy_gradient, hard, sum": lambda: cross_entropy(Z, HARD, reduction="sum"),
    "cross_entropy_gradient, any soft y": lambda: cross_entropy(Z, Y),
    "cross_entropy_gradient, axis 1 of 3": lambda: cross_entropy(Z3, HARD3, 1, class_weights=WEIGHTS),
    "cross_entropy_gradient, uniform smoothing": lambda: cross_entropy(Z, HARD, label_smoothing=0.1),
    "cross_entropy_gradient, smoothing of the others": lambda: cross_entropy(
        Z, HARD, label_smoothing=0.1, smoothing_variant="others"
    ),
    "cross_entropy_gradient, weights by their sum": lambda: cross_entropy(Z, HARD, class_weights=WEIGHTS),
    "cross_entropy_gradient, weights by count": lambda: cross_entropy(
        Z, HARD, class_weights=WEIGHTS, weight_normalization="count", label_smoothing=0.2
    ),
    "cross_entropy_gradient, ignored row": lambda: cross_entropy(Z, np.array([4, -100, 2]), ignore_index=-100),
    "cross_entropy_hessian": lambda: Claim(
        lambda z: ce.cross_entropy_gradient(z, Y[0]), ROW, ce.cross_entropy_hessian(ROW, Y[0])
    ),
    "cross_entropy_of_probabilities_gradient": lambda: by_probabilities(P, Y),
    "cross_entropy_of_probabilities_gradient, options": lambda: by_probabilities(
        P, HARD, label_smoothing=0.1, class_weights=WEIGHTS
    ),
    "entropy_gradient": lambda: Claim(ce.entropy, P[0], ce.entropy_gradient(P[0])),
    "entropy_of_logits_gradient": lambda: Claim(
        lambda z: ce.entropy(sm.softmax(z)), ROW, ce.entropy_of_logits_gradient(ROW)
    ),
    "distillation_gradient": lambda: distilled(Z, Y, TAU),
    "distillation_gradient, KL without scale, axis 0": lambda: distilled(
        Z, Y, TAU, 0, divergence="kl", scale="none", reduction="mean"
    ),
    "kl_divergence_gradient_first": lambda: Claim(
        lambda p: np.sum(kl.kl_divergence(p, OTHER)),
        SIMPLEX,
        kl.kl_divergence_gradient_first(SIMPLEX, OTHER),
        step=1e-3,
    ),
    "kl_divergence_gradient_second": lambda: Claim(
        lambda q: np.sum(kl.kl_divergence(SIMPLEX, q)),
        OTHER,
        kl.kl_divergence_gradient_second(SIMPLEX, OTHER),
        step=1e-3,
    ),
    "kl_divergence_by_logits_gradient, second": lambda: Claim(
        lambda z: np.sum(kl.kl_divergence_by_logits(P, z)), Z, kl.kl_divergence_by_logits_gradient(P, Z)
    ),
    "kl_divergence_by_logits_gradient, first": lambda: Claim(
        lambda z: np.sum(kl.kl_divergence_by_logits(SIMPLEX, z, logits="first")),
        Z,
        kl.kl_divergence_by_logits_gradient(SIMPLEX, Z, logits="first"),
    ),
    "sigmoid_focal_loss_gradient": lambda: focal(Z, BITS, 1.7, alpha=0.25),
    "sigmoid_focal_loss_gradient, gamma below 1": lambda: focal(Z, BITS, 0.6, reduction="sum"),
    "softmax_focal_loss_gradient": lambda: softmax_focal(Z, HARD, 1.7, alpha=WEIGHTS),
    "softmax_focal_loss_gradient, gamma below 1, axis 1 of 3": lambda: softmax_focal(Z3, HARD3, 0.6, 1, alpha=0.25),
    "bce_gradient": lambda: bce(P, Y),
    "bce_gradient, mean over rows": lambda: bce(P, Y, reduction="mean_over_rows"),
    "bce_with_logits_gradient": lambda: with_logits(Z, Y),
    "bce_with_logits_gradient, mean over rows": lambda: with_logits(Z, Y, reduction="mean_over_rows"),
    "bce_with_logits_gradient, pos_weight": lambda: with_logits(Z, Y, pos_weight=WEIGHTS, reduction="sum"),
    "bce_with_logits_second_derivative": lambda: Claim(
        lambda z: np.sum(binary.bce_with_logits_gradient(z, P, pos_weight=WEIGHTS)),
        Z,
        binary.bce_with_logits_second_derivative(Z, P, pos_weight=WEIGHTS),
    ),
}
