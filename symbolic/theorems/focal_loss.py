"""Focal loss −α_t (1 − p_t)^γ log p_t, where p_t is the probability given to the true label.

γ is any real number ≥ 0, not an integer. Binary labels by one logit (p = σ(z), each label on its own and both in one
formula), hard labels by a softmax, and a batch. With γ = 0 it is the weighted loss of `cross_entropy` or
`binary_cross_entropy`. All gradients come by the chain rule from one derivative, that by p_t.
"""

from __future__ import annotations

from ..derivations.tactics import contract, differentiate, partial, to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define

_LIN = "Lin et al., Focal Loss for Dense Object Detection (2017)"
_SIGMOID = ("focal_loss.sigmoid_focal_loss_gradient", "focal_loss.sigmoid_focal_loss")
_SOFTMAX = ("focal_loss.softmax_focal_loss_gradient", "focal_loss.softmax_focal_loss")
_BY_P = "deriv_focal_loss_of_probability"
_CHAIN = "chain rule through the probability of the label"


def _loss(p_t: Array, gamma: Array, alpha: Array) -> Array:
    return -alpha * (1 - p_t) ** gamma * lm.log(p_t)


def _by_probability(p_t: Array, gamma: Array, alpha: Array) -> Array:
    """The derivative of the loss by p_t."""
    return alpha * (1 - p_t) ** (gamma - 1) * (gamma * lm.log(p_t) - (1 - p_t) / p_t)


def _gamma() -> Array:
    return array("gamma", "", domain="nonnegative")


@theorem(topic="focal loss", title="Derivative of the focal loss by the probability", source=f"{_LIN}, eq. (5)")
def deriv_focal_loss_of_probability() -> Claim:
    p, gamma, alpha = array("p", "", domain="(0,1)"), _gamma(), array("alpha", "", domain="positive")
    return Claim(
        partial(_loss(p, gamma, alpha), p),
        _by_probability(p, gamma, alpha),
        by=[differentiate()],
        notes=["By the probability p of the true label; γ ≥ 0 is any real number."],
        numpy=NumericCheck(
            "focal_loss.focal_loss_of_probability_gradient",
            primal="focal_loss.focal_loss_of_probability",
            arguments=("p", "gamma", "alpha"),
        ),
    )


# ---------------------------------------------------------------------- binary, by one logit
def _binary() -> tuple[Array, Array, Array, Array]:
    z, alpha = array("z", ""), array("alpha", "", domain="(0,1)")
    return z, define("p", lm.sigmoid(z), origin="sigmoid", domain="(0,1)"), _gamma(), alpha


def _binary_check(label: int) -> NumericCheck:
    options: dict[str, object] = {"y": label, "gamma": "gamma", "alpha": "alpha"}
    return NumericCheck(_SIGMOID[0], primal=_SIGMOID[1], arguments=("z",), options=options, primal_options=options)


@theorem(topic="focal loss", title="Gradient of the binary focal loss for label 1", source=f"{_LIN}, appendix B")
def deriv_sigmoid_focal_loss_one() -> Claim:
    z, p, gamma, alpha = _binary()
    slope = _by_probability(p, gamma, alpha)
    return Claim(
        partial(_loss(p, gamma, alpha), z),
        alpha * (1 - p) ** gamma * (gamma * p * lm.log(p) - (1 - p)),
        by=[to(slope * partial(p, z), _BY_P, _CHAIN), to(slope * (p * (1 - p)), "deriv_sigmoid")],
        notes=["By the logit z, p = σ(z), label y = 1 with weight α."],
        numpy=_binary_check(1),
    )


@theorem(topic="focal loss", title="Gradient of the binary focal loss for label 0", source=f"{_LIN}, appendix B")
def deriv_sigmoid_focal_loss_zero() -> Claim:
    z, p, gamma, alpha = _binary()
    slope = _by_probability(1 - p, gamma, 1 - alpha)
    return Claim(
        partial(_loss(1 - p, gamma, 1 - alpha), z),
        (1 - alpha) * p**gamma * (p - gamma * (1 - p) * lm.log(1 - p)),
        by=[to(slope * partial(1 - p, z), _BY_P, _CHAIN), to(slope * (-p * (1 - p)), "deriv_sigmoid")],
        notes=["By the logit z, p = σ(z), label y = 0 with weight 1 − α."],
        numpy=_binary_check(0),
    )


@theorem(topic="focal loss", title="Gradient of the binary focal loss, both labels", source=f"{_LIN}, appendix B")
def deriv_sigmoid_focal_loss() -> Claim:
    z, y = array("z", ""), array("y", "", domain="binary")
    gamma, alpha = _gamma(), array("alpha", "", domain="(0,1)")
    sign = 2 * y - 1
    p_t = define("p_t", lm.sigmoid(sign * z), domain="(0,1)")
    alpha_t = define("alpha_t", y * alpha + (1 - y) * (1 - alpha), domain="(0,1)")
    slope = _by_probability(p_t, gamma, alpha_t)
    return Claim(
        partial(_loss(p_t, gamma, alpha_t), z),
        alpha_t * sign * (1 - p_t) ** gamma * (gamma * p_t * lm.log(p_t) - (1 - p_t)),
        by=[to(slope * partial(p_t, z), _BY_P, _CHAIN), to(slope * (sign * p_t * (1 - p_t)), "deriv_sigmoid")],
        notes=[
            "By the logit z; the label y is 0 or 1, p_t = σ((2y − 1) z) is the probability given to it, "
            "α_t is α for y = 1 and 1 − α for y = 0. A label in between has no p_t: use two terms."
        ],
        numpy=NumericCheck(
            _SIGMOID[0],
            primal=_SIGMOID[1],
            arguments=("z", "y", "gamma"),
            options={"alpha": "alpha"},
            primal_options={"alpha": "alpha"},
        ),
    )


# ---------------------------------------------------------------------- many classes, by logits
def _softmax_check(*arguments: str) -> NumericCheck:
    options: dict[str, object] = {"alpha": "alpha"}
    return NumericCheck(_SOFTMAX[0], primal=_SOFTMAX[1], arguments=arguments, options=options, primal_options=options)


@theorem(topic="focal loss", title="Gradient of the softmax focal loss", source=f"{_LIN}, eq. (5), with softmax")
def deriv_softmax_focal_loss() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    gamma, alpha = _gamma(), array("alpha", "", domain="positive")
    p = lm.softmax(z)
    p_c, hot = p[c.body], lm.one_hot(c, "K")
    slope = _by_probability(p_c, gamma, alpha)
    return Claim(
        partial(_loss(p_c, gamma, alpha), z),
        alpha * (1 - p_c) ** (gamma - 1) * (gamma * p_c * lm.log(p_c) - (1 - p_c)) * (hot - p),
        by=[
            to(slope * partial(p_c, z), _BY_P, _CHAIN),
            to(slope * (p_c * (hot - p)), "deriv_softmax", "row c of the Jacobian of softmax"),
        ],
        notes=[
            "By the logits z, p = softmax(z), for the integer label c; with γ = 0 it is α(p − e_c).",
            "The factor p_c(δ_ck − p_k) is the derivative of softmax: without it this is no gradient by z.",
        ],
        numpy=_softmax_check("z", "c", "gamma"),
    )


@theorem(topic="focal loss", title="Gradient of the mean softmax focal loss", source=f"{_LIN}, eq. (5), with softmax")
def deriv_softmax_focal_loss_mean() -> Claim:
    z, t = array("Z", "N,K"), array("t", "N", domain="index<K")
    gamma, alpha = _gamma(), array("alpha", "", domain="positive")
    p, n = lm.softmax(z, name="P"), z.shape[0]
    (row,) = t.indices
    p_t = Array((row,), p.element(row, t.body))
    slope = alpha * (1 - p_t) ** (gamma - 1) * (gamma * p_t * lm.log(p_t) - (1 - p_t))
    rows = slope[:, None] * (lm.one_hot(t, "K") - p)
    return Claim(
        partial(lm.mean(_loss(p_t, gamma, alpha)), z),
        rows / n,
        by=[
            to(
                lm.einsum("ni,nk->ik", lm.eye(n), rows) / n,
                "deriv_softmax_focal_loss",
                "the loss of row n depends on row n of Z alone",
            ),
            contract(),
        ],
        notes=["By the logits; t_n is the integer label of row n; mean over the N rows."],
        numpy=_softmax_check("Z", "t", "gamma"),
    )
