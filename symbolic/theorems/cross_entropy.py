"""Cross-entropy −Σ_k y_k log p_k: its derivatives by the probabilities and by the logits, and its equal forms.

Which variable is meant is part of every name: `..._of_probabilities` treats the p_k as free entries; `..._softmax` puts
p = softmax(z) and differentiates by the logits z. Soft labels y are any real vector unless Σ y = 1 is a hypothesis; a hard
label is an integer c (t_n in a batch), never a vector. Divergences between two distributions are in `kl_divergence`, the
weighting by (1 − p)^γ in `focal_loss`, two classes with one logit in `binary_cross_entropy`.
"""

from __future__ import annotations

from ..derivations.tactics import automatic, collect, contract, fold, hypotheses, partial, split_logs, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, as_array, define
from ..language.hypotheses import Hypothesis, equal, nonzero

_PRML = "Bishop, Pattern Recognition and Machine Learning (2006)"
_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016)"
_SZEGEDY = "Szegedy et al., Rethinking the Inception Architecture (2016), section 7"
_BY_LOGITS = "Derivative by the logits z, through p = softmax(z); by the probabilities it is −y/p."
_GRADIENT, _LOSS = "cross_entropy.cross_entropy_gradient", "cross_entropy.cross_entropy"


def _loss(y: Array, p: Array) -> Array:
    """−Σ_k y_k log p_k, along the last axis."""
    return -lm.sum(y * lm.log(p), axis=-1)


def _at_label(values: Array, labels: Array) -> Array:
    """One entry a row: values[n, t_n]; values[t_n] of a vector of class weights; values[c] for a single label."""
    rows = labels.indices if values.ndim > 1 else ()
    return Array(labels.indices, values.element(*rows, labels.body))


# ---------------------------------------------------------------------- one row
@theorem(topic="cross-entropy", title="Derivative of cross-entropy by the probabilities", source=f"{_GBC}, section 3.13")
def deriv_cross_entropy_of_probabilities() -> Claim:
    p, y = array("p", "K", domain="positive"), array("y", "K")
    return Claim(partial(_loss(y, p), p), -y / p,
                 notes=["By the probabilities as free entries (their sum is not kept at 1); by the logits it is p Σy − y."],
                 numpy=NumericCheck("cross_entropy.cross_entropy_of_probabilities_gradient",
                                    primal="cross_entropy.cross_entropy_of_probabilities", arguments=("p", "y")))


@theorem(topic="cross-entropy", title="Gradient of softmax cross-entropy for any labels", source=f"{_PRML}, section 4.3.4")
def deriv_cross_entropy_softmax_unnormalized() -> Claim:
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(partial(_loss(y, p), z), p * lm.sum(y) - y,
                 notes=[_BY_LOGITS, "The labels may have any sum: a row of zeros has gradient 0, not p."],
                 numpy=NumericCheck(_GRADIENT, primal=_LOSS, arguments=("z", "y")))


@theorem(topic="cross-entropy", title="Gradient of softmax cross-entropy", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_softmax() -> Claim:
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(partial(_loss(y, p), z), p - y, given=[_sums_to_one(y)],
                 notes=[_BY_LOGITS, "Without Σy = 1 it is p Σy − y."],
                 numpy=NumericCheck(_GRADIENT, primal=_LOSS, arguments=("z", "y")))


def _sums_to_one(y: Array) -> Hypothesis:
    return equal(lm.sum(y, axis=-1), 1)


@theorem(topic="cross-entropy", title="Cross-entropy of a hard label as logsumexp", source=f"{_GBC}, eq. (6.30)")
def cross_entropy_eq_logsumexp_sub() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    p = lm.softmax(z)
    return Claim(-lm.log(_at_label(p, c)), lm.logsumexp(z) - _at_label(z, c),
                 notes=["The hard label c is an integer, 0 ≤ c < K."], numpy=NumericCheck(_LOSS, arguments=("z", "c")))


@theorem(topic="cross-entropy", title="Cross-entropy of soft labels as logsumexp", source=f"{_PRML}, eq. (4.108)")
def cross_entropy_softmax_eq_logsumexp_sub() -> Claim:
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(_loss(y, p), lm.logsumexp(z) - lm.sum(y * z), given=[_sums_to_one(y)],
                 by=[unfold(), split_logs(), to(lm.sum(y) * lm.logsumexp(z) - lm.sum(y * z), "sum_add"), hypotheses()],
                 numpy=NumericCheck(_LOSS, arguments=("z", "y")))


@theorem(topic="cross-entropy", title="Gradient of cross-entropy for a hard label", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_hard_label() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    p = lm.softmax(z)
    return Claim(partial(-lm.log(_at_label(p, c)), z), p - lm.one_hot(c, "K"),
                 notes=[_BY_LOGITS, "δ_ck is row c of the identity: the one-hot vector e_c of the label."],
                 numpy=NumericCheck(_GRADIENT, primal=_LOSS, arguments=("z", "c")))


# ---------------------------------------------------------------------- a batch
@theorem(topic="cross-entropy", title="Gradient of mean cross-entropy over a batch", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_softmax_mean() -> Claim:
    z, y = array("Z", "N,K"), array("Y", "N,K")
    p, n = lm.softmax(z, name="P"), z.shape[0]
    return Claim(partial(lm.mean(_loss(y, p)), z), (p - y) / n, given=[_sums_to_one(y)],
                 by=[_row_by_row(p * lm.sum(y, axis=1, keepdims=True) - y, "deriv_cross_entropy_softmax_unnormalized"),
                     contract(), hypotheses()],
                 notes=["By the logits; softmax along the classes (last axis), mean over the N rows: the factor is 1/N, not 1/(NK)."],
                 numpy=NumericCheck(_GRADIENT, primal=_LOSS, arguments=("Z", "Y")))


@theorem(topic="cross-entropy", title="Gradient of mean cross-entropy for hard labels", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_hard_label_mean() -> Claim:
    z, t = array("Z", "N,K"), array("t", "N", domain="index<K")
    p, n = lm.softmax(z, name="P"), z.shape[0]
    return Claim(partial(lm.mean(-lm.log(_at_label(p, t))), z), (p - lm.one_hot(t, "K")) / n,
                 by=[_row_by_row(p - lm.one_hot(t, "K"), "deriv_cross_entropy_hard_label"), contract()],
                 notes=["By the logits; t_n is the integer label of row n; mean over the N rows."],
                 numpy=NumericCheck(_GRADIENT, primal=_LOSS, arguments=("Z", "t")))


def _row_by_row(gradient: Array, cited: str):  # type: ignore[no-untyped-def]
    """∂/∂Z of the mean of losses of rows, where each row's gradient is known: (1/N) Σ_n δ_ni gradient_nk."""
    n = gradient.shape[0]
    return to(lm.einsum("ni,nk->ik", lm.eye(n), gradient) / n, cited, "row by row: the loss of row n depends on row n of Z alone")


# ---------------------------------------------------------------------- label smoothing
def _smoothed(y: Array, eps: Array, variant: str) -> Array:
    """The smoothed labels q: the share ε goes to all K classes ("uniform") or to the K − 1 others ("others")."""
    k = y.shape[-1]
    value = (1 - eps) * y + eps / k if variant == "uniform" else (1 - eps) * y + eps / (k - 1) * (1 - y)
    return define("q", value, origin="smooth_labels")


_UNIFORM = "Smoothing variant ε/K: the share ε goes to all K classes, the labelled one too."
_OTHERS = "Smoothing variant ε/(K−1): the share ε goes to the other K − 1 classes only; it needs K ≥ 2."


def _two_classes_or_more(y: Array) -> Hypothesis:
    return nonzero(as_array(y.shape[-1] - 1))


def _smooth_arrays() -> tuple[Array, Array, Array]:
    return array("z", "K"), array("y", "K"), array("eps", "", domain="(0,1)")


@theorem(topic="cross-entropy", title="Smoothed labels sum to one (ε/K)", source=_SZEGEDY)
def sum_smooth_labels() -> Claim:
    _, y, eps = _smooth_arrays()
    return Claim(lm.sum(_smoothed(y, eps, "uniform")), 1, given=[_sums_to_one(y)], notes=[_UNIFORM])


@theorem(topic="cross-entropy", title="Smoothed labels sum to one (ε/(K−1))", source="Vaswani et al., tensor2tensor (2018)")
def sum_smooth_labels_others() -> Claim:
    _, y, eps = _smooth_arrays()
    return Claim(lm.sum(_smoothed(y, eps, "others")), 1, given=[_sums_to_one(y), _two_classes_or_more(y)], notes=[_OTHERS])
