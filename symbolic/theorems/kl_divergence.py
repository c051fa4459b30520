"""KL divergence KL(p‖q) = Σ_k p_k log(p_k/q_k): derivatives by either argument and by logits; distillation.

The direction is part of every name: `first` is the argument that weighs the sum, `second` the one it is compared
with, and the one that is named is the softmax of the logits. "Forward" and "reverse" are used both ways round in the
literature and are not used here. Cross-entropy, which differs from KL(y‖p) by the entropy of the labels, is in
`cross_entropy`.
"""

from __future__ import annotations

from ..derivations.tactics import contract, hypotheses, partial, to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array
from ..language.hypotheses import Hypothesis, equal

_COVER = "Cover, Thomas, Elements of Information Theory (2006)"
_HINTON = "Hinton, Vinyals, Dean, Distilling the Knowledge in a Neural Network (2015)"
_SECOND: dict[str, object] = {"logits": "second"}
_FIRST: dict[str, object] = {"logits": "first"}
_GRADIENT, _VALUE = "kl_divergence.kl_divergence_by_logits_gradient", "kl_divergence.kl_divergence_by_logits"


def _kl(p: Array, q: Array) -> Array:
    """KL(p‖q) along the last axis."""
    return lm.sum(p * lm.log(p / q), axis=-1)


def _sums_to_one(p: Array) -> Hypothesis:
    return equal(lm.sum(p, axis=-1), 1)


@theorem(topic="KL divergence", title="KL divergence is cross-entropy minus entropy", source=f"{_COVER}, eq. (2.26)")
def kl_divergence_eq_cross_entropy_sub_entropy() -> Claim:
    p, q = array("p", "K", domain="positive"), array("q", "K", domain="positive")
    return Claim(
        _kl(p, q),
        -lm.sum(p * lm.log(q)) + lm.sum(p * lm.log(p)),
        by=[to(lm.sum(p * (lm.log(p) - lm.log(q))), "log_div_of_pos")],
        notes=["KL(p‖q) = H(p, q) − H(p), where H(p) = −Σ p log p."],
        numpy=NumericCheck("kl_divergence.kl_divergence", arguments=("p", "q")),
    )


@theorem(topic="KL divergence", title="Derivative of KL by its first argument", source=f"{_COVER}, eq. (2.26)")
def deriv_kl_divergence_first() -> Claim:
    p, q = array("p", "K", domain="positive"), array("q", "K", domain="positive")
    return Claim(
        partial(_kl(p, q), p),
        lm.log(p / q) + 1,
        notes=["By the first argument p of KL(p‖q), its entries free (their sum is not kept at 1)."],
        numpy=NumericCheck(
            "kl_divergence.kl_divergence_gradient_first", primal="kl_divergence.kl_divergence", arguments=("p", "q")
        ),
    )


@theorem(topic="KL divergence", title="Derivative of KL by its second argument", source=f"{_COVER}, eq. (2.26)")
def deriv_kl_divergence_second() -> Claim:
    p, q = array("p", "K", domain="positive"), array("q", "K", domain="positive")
    return Claim(
        partial(_kl(p, q), q),
        -p / q,
        notes=["By the second argument q of KL(p‖q), its entries free; the same as for cross-entropy."],
        numpy=NumericCheck(
            "kl_divergence.kl_divergence_gradient_second", primal="kl_divergence.kl_divergence", arguments=("p", "q")
        ),
    )


@theorem(topic="KL divergence", title="Gradient of KL(p‖softmax(z)) by the logits", source=f"{_COVER}, eq. (2.26)")
def deriv_kl_divergence_softmax_second() -> Claim:
    z, p = array("z", "K"), array("p", "K", domain="positive")
    q = lm.softmax(z, name="q")
    entropy = lm.sum(p * lm.log(p))
    return Claim(
        partial(_kl(p, q), z),
        q - p,
        given=[_sums_to_one(p)],
        by=[
            to(
                partial(-lm.sum(p * lm.log(q)) + entropy, z),
                "kl_divergence_eq_cross_entropy_sub_entropy",
                "KL(p‖q) = H(p, q) − H(p)",
            ),
            to(partial(-lm.sum(p * lm.log(q)), z), "deriv_const", "the entropy of p does not depend on z"),
            to(q * lm.sum(p) - p, "deriv_cross_entropy_softmax_unnormalized", "the gradient of softmax cross-entropy"),
            hypotheses(),
        ],
        notes=["By the logits of the second argument: KL(p‖q) with q = softmax(z)."],
        numpy=NumericCheck(_GRADIENT, primal=_VALUE, arguments=("p", "z"), options=_SECOND, primal_options=_SECOND),
    )


@theorem(topic="KL divergence", title="Gradient of KL(softmax(z)‖p) by the logits", source=f"{_COVER}, eq. (2.26)")
def deriv_kl_divergence_softmax_first() -> Claim:
    z, p = array("z", "K"), array("p", "K", domain="positive")
    q = lm.softmax(z, name="q")
    outside = lm.log(q / p) + 1
    return Claim(
        partial(_kl(q, p), z),
        q * (lm.log(q / p) - _kl(q, p)),
        by=[
            to(outside @ partial(q, z), "deriv_kl_divergence_first", "chain rule through q"),
            to(outside @ (lm.diag(q) - lm.outer(q, q)), "deriv_softmax", "the Jacobian of softmax"),
            to(q * outside - q * lm.sum(q * outside), "sum_mul_delta"),
            to(q * (lm.log(q / p) - _kl(q, p)), "sum_softmax", "Σ_k q_k = 1, so the ones cancel"),
        ],
        notes=["By the logits of the first argument: KL(q‖p) with q = softmax(z). The entries of p may have any sum."],
        numpy=NumericCheck(_GRADIENT, primal=_VALUE, arguments=("p", "z"), options=_FIRST, primal_options=_FIRST),
    )


@theorem(topic="KL divergence", title="Gradient of the mean KL over a batch", source=f"{_COVER}, eq. (2.26)")
def deriv_kl_divergence_softmax_second_mean() -> Claim:
    z, p = array("Z", "N,K"), array("P", "N,K", domain="positive")
    q, n = lm.softmax(z, name="Q"), z.shape[0]
    return Claim(
        partial(lm.mean(_kl(p, q)), z),
        (q - p) / n,
        given=[_sums_to_one(p)],
        by=[
            to(
                lm.einsum("ni,nk->ik", lm.eye(n), q - p) / n,
                "deriv_kl_divergence_softmax_second",
                "the divergence of row n depends on row n of Z alone",
            ),
            contract(),
        ],
        notes=['Mean over the N rows ("batchmean"); a mean over all N K terms would give 1/(NK).'],
    )


# ---------------------------------------------------------------------- distillation
def _student_and_teacher() -> tuple[Array, Array, Array, Array]:
    """z, τ, and q = softmax(z/τ) of the student, p = softmax(t/τ) of the teacher."""
    z, t, tau = array("z", "K"), array("t", "K"), array("tau", "", domain="positive")
    return z, tau, lm.softmax(z / tau, name="q"), lm.softmax(t / tau, name="p")


def _distillation(divergence: str) -> NumericCheck:
    options: dict[str, object] = {"divergence": divergence}
    return NumericCheck(
        "distillation.distillation_gradient",
        primal="distillation.distillation_loss",
        arguments=("z", "t", "tau"),
        options=options,
        primal_options=options,
    )


@theorem(topic="KL divergence", title="Gradient of distillation with cross-entropy", source=f"{_HINTON}, eq. (2)")
def deriv_distillation_cross_entropy() -> Claim:
    z, tau, q, p = _student_and_teacher()
    return Claim(
        partial(-(tau**2) * lm.sum(p * lm.log(q)), z),
        tau * (q - p),
        by=[
            to(
                tau * (q * lm.sum(p) - p),
                "deriv_cross_entropy_softmax_unnormalized",
                "softmax cross-entropy at the logits z/τ, and ∂(z/τ)/∂z = 1/τ",
            ),
            to(tau * (q - p), "sum_softmax", "Σ_k p_k = 1"),
        ],
        notes=["By the student's logits z. The loss is scaled by τ²; without it the gradient is (q − p)/τ."],
        numpy=_distillation("cross_entropy"),
    )


@theorem(topic="KL divergence", title="Gradient of distillation with KL", source=f"{_HINTON}, eq. (2)")
def deriv_distillation_kl() -> Claim:
    z, tau, q, p = _student_and_teacher()
    entropy = lm.sum(p * lm.log(p))
    return Claim(
        partial(tau**2 * _kl(p, q), z),
        tau * (q - p),
        by=[
            to(
                partial(tau**2 * (-lm.sum(p * lm.log(q)) + entropy), z),
                "kl_divergence_eq_cross_entropy_sub_entropy",
                "KL(p‖q) = H(p, q) − H(p)",
            ),
            to(
                partial(-(tau**2) * lm.sum(p * lm.log(q)), z),
                "deriv_const",
                "the entropy of the teacher does not depend on z",
            ),
            to(tau * (q - p), "deriv_distillation_cross_entropy", "as for cross-entropy"),
        ],
        notes=["By the student's logits z, KL(teacher‖student) scaled by τ²: the same gradient as with cross-entropy."],
        numpy=_distillation("kl"),
    )
