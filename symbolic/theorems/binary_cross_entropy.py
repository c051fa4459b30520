"""Binary cross-entropy by probability and by logit: equal forms, derivatives, positive weight, reductions.

The loss of one entry is −(y log p + (1 − y) log(1 − p)). By probability its variable is p in (0, 1); by logit it is z,
with p = σ(z). Labels y are any reals: the loss is linear in them. The cross-entropy over K classes of which one holds
is in `cross_entropy`; here the K columns of an N × K array are K separate yes-or-no questions.
"""

from __future__ import annotations

from ..derivations.tactics import Tactic, collect, contract, differentiate, fold, partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define
from ..language.hypotheses import equal

_PRML = "Bishop, Pattern Recognition and Machine Learning (2006)"
_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2.2"
_TORCH = "Paszke et al., PyTorch (2019), documentation of BCEWithLogitsLoss"
_BY_P = "By the probability p as a free entry; by the logit it is p − y."
_BY_Z = "By the logit z, through p = σ(z); by the probability it is (p − y)/(p(1 − p))."
_FILE = "binary_cross_entropy"
_EACH: dict[str, object] = {"reduction": "none"}


def _loss(p: Array, y: Array) -> Array:
    """-(y log p + (1 - y) log(1 - p)), entry by entry."""
    return -(y * lm.log(p) + (1 - y) * lm.log(1 - p))


def _probability(z: Array) -> Array:
    """p := σ(z), which keeps its name in what is derived."""
    return define("p", lm.sigmoid(z), origin="sigmoid", domain="(0,1)")


# ---------------------------------------------------------------------- by probability
@theorem(
    topic="binary cross-entropy",
    title="Derivative of binary cross-entropy by the probability",
    source=f"{_PRML}, for the loss of eq. (4.90)",
)
def deriv_bce() -> Claim:
    p, y = array("p", "", "(0,1)"), array("y", "")
    return Claim(
        partial(_loss(p, y), p),
        (p - y) / (p * (1 - p)),
        notes=[_BY_P],
        by=[differentiate(), to((p - y) / (p * (1 - p)), "collect", "over a common denominator")],
        numpy=NumericCheck(
            f"{_FILE}.bce_gradient",
            primal=f"{_FILE}.bce",
            arguments=("p", "y"),
            variable="p",
            options=_EACH,
            primal_options=_EACH,
        ),
    )


# ---------------------------------------------------------------------- by logit: equal forms
@theorem(topic="binary cross-entropy", title="Binary cross-entropy by the logit: softplus form", source=_GBC)
def bce_logits_eq_softplus() -> Claim:
    z, y = array("z", ""), array("y", "")
    p = _probability(z)
    return Claim(
        _loss(p, y),
        lm.softplus(z) - y * z,
        notes=["By the logit z, with p = σ(z)."],
        by=[
            *_logarithms(y, z),
            to((1 - y) * lm.softplus(z) + y * (lm.softplus(z) - z), "softplus_neg", "reflection of softplus"),
        ],
        numpy=NumericCheck(f"{_FILE}.bce_with_logits", arguments=("z", "y"), options=_EACH),
    )


def _logarithms(y: Array, z: Array, weight: Array | int = 1) -> list[Tactic]:
    """The two lines that write log p and log(1 − p) by softplus."""
    p = _probability(z)
    first = -(1 - y) * lm.log(1 - p) + weight * y * lm.softplus(-z)
    second = (1 - y) * lm.softplus(z) + weight * y * lm.softplus(-z)
    return [
        to(first, "log_sigmoid_eq_neg_softplus_neg", "log-sigmoid by softplus"),
        to(second, "log_one_sub_sigmoid", "logarithm of the opposite probability"),
    ]


@theorem(topic="binary cross-entropy", title="Binary cross-entropy by the logit: stable form", source=_GBC)
def bce_logits_eq_stable() -> Claim:
    z, y = array("z", ""), array("y", "")
    p = _probability(z)
    return Claim(
        _loss(p, y),
        lm.relu(z) - z * y + lm.log(1 + lm.exp(-lm.absolute(z))),
        by=[
            to(lm.softplus(z) - y * z, "bce_logits_eq_softplus", "softplus form"),
            to(
                lm.relu(z) + lm.log(1 + lm.exp(-lm.absolute(z))) - y * z,
                "softplus_eq_stable",
                "softplus without overflow",
            ),
        ],
        notes=[
            "By the logit z, with p = σ(z); relu(z) = max(z, 0).",
            "No exponential exceeds 1: this is the form that code computes.",
        ],
        numpy=NumericCheck(f"{_FILE}.bce_with_logits", arguments=("z", "y"), options=_EACH),
    )


@theorem(topic="binary cross-entropy", title="Binary cross-entropy is two-class cross-entropy", source=_GBC)
def cross_entropy_two_eq_bce() -> Claim:
    z, y = array("z", "2"), array("y", "2")
    p, positive = lm.softmax(z), lm.sigmoid(z[1] - z[0])
    return Claim(
        -lm.sum(y * lm.log(p)),
        _loss(positive, y[1]),
        given=[equal(lm.sum(y), 1)],
        by=[
            to(-(y[1] * lm.log(p[1]) + y[0] * lm.log(p[0])), "collect", "the sum has two terms"),
            to(-(y[1] * lm.log(p[1]) + (1 - y[1]) * lm.log(p[0])), "use_hypothesis", "the labels sum to one"),
            to(_loss(p[1], y[1]), "sum_softmax", "softmax sums to one"),
            to(_loss(positive, y[1]), "softmax_two_eq_sigmoid", "two-class softmax is a sigmoid"),
        ],
        notes=["Class 1 is the positive one, and the logit is the difference of its logit and that of class 0."],
        numpy=NumericCheck("cross_entropy.cross_entropy", arguments=("z", "y")),
    )


# ---------------------------------------------------------------------- by logit: derivatives
@theorem(
    topic="binary cross-entropy", title="Derivative of binary cross-entropy by the logit", source=f"{_PRML}, eq. (4.91)"
)
def deriv_bce_logits() -> Claim:
    z, y = array("z", ""), array("y", "")
    p = _probability(z)
    return Claim(
        partial(_loss(p, y), z),
        p - y,
        notes=[_BY_Z],
        by=[unfold(), differentiate(), fold(), collect()],
        numpy=NumericCheck(
            f"{_FILE}.bce_with_logits_gradient",
            primal=f"{_FILE}.bce_with_logits",
            arguments=("z", "y"),
            variable="z",
            options=_EACH,
            primal_options=_EACH,
        ),
    )


@theorem(
    topic="binary cross-entropy",
    title="Second derivative of binary cross-entropy by the logit",
    source=f"{_PRML}, eq. (4.97)",
)
def second_deriv_bce_logits() -> Claim:
    z, y = array("z", ""), array("y", "")
    p = _probability(z)
    return Claim(
        partial(partial(_loss(p, y), z), z),
        p * (1 - p),
        by=[
            to(partial(p - y, z), "deriv_bce_logits", "derivative of binary cross-entropy by the logit"),
            unfold(),
            differentiate(),
            fold(),
        ],
        notes=["By the logit z, with p = σ(z). It does not depend on y and is positive, so the loss is convex in z."],
        numpy=NumericCheck(f"{_FILE}.bce_with_logits_second_derivative", arguments=("z", "y"), options=_EACH),
    )


# ---------------------------------------------------------------------- weight of the positive term
def _weighted(p: Array, y: Array, w: Array) -> Array:
    """-(w y log p + (1 - y) log(1 - p)), entry by entry."""
    return -(w * y * lm.log(p) + (1 - y) * lm.log(1 - p))


@theorem(topic="binary cross-entropy", title="Weighted binary cross-entropy: softplus form", source=_TORCH)
def bce_logits_pos_weight_eq_softplus() -> Claim:
    z, y, w = array("z", ""), array("y", ""), array("w", "", "positive")
    p = _probability(z)
    return Claim(
        _weighted(p, y, w),
        (1 - y) * z + (1 + (w - 1) * y) * lm.softplus(-z),
        by=[
            *_logarithms(y, z, w),
            to((1 - y) * (lm.softplus(-z) + z) + w * y * lm.softplus(-z), "softplus_neg", "reflection of softplus"),
        ],
        notes=["w (pos_weight) multiplies the term of the positive label."],
        numpy=NumericCheck(
            f"{_FILE}.bce_with_logits", arguments=("z", "y"), options={"reduction": "none", "pos_weight": "w"}
        ),
    )


@theorem(topic="binary cross-entropy", title="Derivative of weighted binary cross-entropy by the logit", source=_TORCH)
def deriv_bce_logits_pos_weight() -> Claim:
    z, y, w = array("z", ""), array("y", ""), array("w", "", "positive")
    p = _probability(z)
    options: dict[str, object] = {"reduction": "none", "pos_weight": "w"}
    return Claim(
        partial(_weighted(p, y, w), z),
        (1 - y) * p - w * y * (1 - p),
        by=[unfold(), differentiate(), fold()],
        notes=[
            "By the logit z, through p = σ(z).",
            "w (pos_weight) multiplies the term of the positive label; w = 1 gives p − y.",
        ],
        numpy=NumericCheck(
            f"{_FILE}.bce_with_logits_gradient",
            primal=f"{_FILE}.bce_with_logits",
            arguments=("z", "y"),
            variable="z",
            options=options,
            primal_options=options,
        ),
    )


# ---------------------------------------------------------------------- reductions over N rows of K outputs
@theorem(topic="binary cross-entropy", title="Mean over all entries, by the logits", source=f"{_PRML}, eq. (4.91)")
def deriv_mean_bce_logits() -> Claim:
    z, y = array("z", "N,K"), array("y", "N,K")
    p = _probability(z)
    n, k = z.shape
    return Claim(
        partial(lm.mean(_loss(p, y)), z),
        (p - y) / (n * k),
        letters="nk",
        by=[unfold(), differentiate(), contract(), fold(), collect()],
        notes=[_BY_Z, "The mean is over all N·K entries."],
        numpy=_reduced("mean", "bce_with_logits", "z"),
    )


@theorem(topic="binary cross-entropy", title="Mean over rows, by the logits", source=f"{_PRML}, eq. (4.91)")
def deriv_mean_rows_bce_logits() -> Claim:
    z, y = array("z", "N,K"), array("y", "N,K")
    p = _probability(z)
    return Claim(
        partial(lm.mean(lm.sum(_loss(p, y), axis=1)), z),
        (p - y) / z.shape[0],
        letters="nk",
        by=[unfold(), differentiate(), contract(), fold(), collect()],
        notes=[_BY_Z, "The K outputs of a row are summed, and the mean is over the N rows."],
        numpy=_reduced("mean_over_rows", "bce_with_logits", "z"),
    )


@theorem(
    topic="binary cross-entropy",
    title="Mean over all entries, by the probabilities",
    source=f"{_PRML}, for the loss of eq. (4.90)",
)
def deriv_mean_bce() -> Claim:
    p, y = array("p", "N,K", "(0,1)"), array("y", "N,K")
    n, k = p.shape
    return Claim(
        partial(lm.mean(_loss(p, y)), p),
        (p - y) / (n * k * p * (1 - p)),
        letters="nk",
        by=[differentiate(), contract()],
        notes=[_BY_P, "The mean is over all N·K entries."],
        numpy=_reduced("mean", "bce", "p"),
    )


@theorem(
    topic="binary cross-entropy",
    title="Mean over rows, by the probabilities",
    source=f"{_PRML}, for the loss of eq. (4.90)",
)
def deriv_mean_rows_bce() -> Claim:
    p, y = array("p", "N,K", "(0,1)"), array("y", "N,K")
    return Claim(
        partial(lm.mean(lm.sum(_loss(p, y), axis=1)), p),
        (p - y) / (p.shape[0] * p * (1 - p)),
        letters="nk",
        by=[differentiate(), contract()],
        notes=[_BY_P, "The K outputs of a row are summed, and the mean is over the N rows."],
        numpy=_reduced("mean_over_rows", "bce", "p"),
    )


def _reduced(reduction: str, loss: str, variable: str) -> NumericCheck:
    options: dict[str, object] = {"reduction": reduction}
    return NumericCheck(
        f"{_FILE}.{loss}_gradient",
        primal=f"{_FILE}.{loss}",
        arguments=(variable, "y"),
        variable=variable,
        options=options,
        primal_options=options,
    )


@theorem(topic="binary cross-entropy", title="Mean over rows is K times the mean over all entries", source="elementary")
def mean_rows_bce_logits_eq_mul_mean() -> Claim:
    z, y = array("z", "N,K"), array("y", "N,K")
    losses = _loss(_probability(z), y)
    overall = define("A", lm.mean(losses), origin="mean over all entries")
    return Claim(
        lm.mean(lm.sum(losses, axis=1)),
        z.shape[1] * overall,
        by=[to(z.shape[1] * overall, "fold", "A is this sum divided by K N")],
        notes=[
            "By the logits z, with p = σ(z). Both means have the same minimum; their gradients differ by the factor K."
        ],
        numpy=NumericCheck(f"{_FILE}.bce_with_logits", arguments=("z", "y"), options={"reduction": "mean_over_rows"}),
    )
