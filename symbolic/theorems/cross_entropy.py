"""Cross-entropy −Σ_k y_k log p_k: its derivatives by the probabilities and by the logits, and its equal forms.

Which variable is meant is part of every name: `..._of_probabilities` treats the p_k as free entries; `..._softmax`
puts p = softmax(z) and differentiates by the logits z. Soft labels y are any real vector unless Σ y = 1 is a
hypothesis; a hard label is an integer c (t_n in a batch), never a vector. Divergences between two distributions are in
`kl_divergence`, the weighting by (1 − p)^γ in `focal_loss`, two classes with one logit in `binary_cross_entropy`.
"""

from __future__ import annotations

from ..derivations.tactics import Tactic, contract, hypotheses, partial, split_logs, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, ArrayLike, array, as_array, define
from ..language.hypotheses import Hypothesis, equal, nonzero

_PRML = "Bishop, Pattern Recognition and Machine Learning (2006)"
_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016)"
_SZEGEDY = "Szegedy et al., Rethinking the Inception Architecture (2016), section 7"
_BOYD = "Boyd, Vandenberghe, Convex Optimization (2004), section 3.1.5"
_BY_LOGITS = "Derivative by the logits z, through p = softmax(z); by the probabilities it is −y/p."
_GRADIENT, _LOSS = "cross_entropy.cross_entropy_gradient", "cross_entropy.cross_entropy"


def _loss(y: Array, p: Array) -> Array:
    """−Σ_k y_k log p_k, along the last axis."""
    return -lm.sum(y * lm.log(p), axis=-1)


def _soft() -> tuple[Array, Array, Array]:
    """Logits z, soft labels y and p = softmax(z) of one row."""
    z = array("z", "K")
    return z, array("y", "K"), lm.softmax(z)


def _hard() -> tuple[Array, Array, Array]:
    """Logits z, the integer label c and p = softmax(z) of one row."""
    z = array("z", "K")
    return z, array("c", "", domain="index<K"), lm.softmax(z)


def _sums_to_one(y: Array) -> Hypothesis:
    return equal(lm.sum(y, axis=-1), 1)


def _gradient_check(*arguments: str, **options: object) -> NumericCheck:
    """The gradient by the logits in NumPy, and the loss whose differences it has; an option may name an array."""
    return NumericCheck(_GRADIENT, primal=_LOSS, arguments=arguments, options=options, primal_options=options)


def _at_label(values: Array, labels: Array) -> Array:
    """One entry a row: values[n, t_n]; values[t_n] of a vector of class weights; values[c] for a single label."""
    rows = labels.indices if values.ndim > 1 else ()
    return Array(labels.indices, values.element(*rows, labels.body))


# ---------------------------------------------------------------------- one row
@theorem(topic="cross-entropy", title="Gradient of cross-entropy by the probabilities", source=f"{_GBC}, section 3.13")
def deriv_cross_entropy_of_probabilities() -> Claim:
    p, y = array("p", "K", domain="positive"), array("y", "K")
    return Claim(
        partial(_loss(y, p), p),
        -y / p,
        notes=["By the probabilities as free entries (their sum is not kept at 1); by the logits it is p Σy − y."],
        numpy=NumericCheck(
            "cross_entropy.cross_entropy_of_probabilities_gradient",
            primal="cross_entropy.cross_entropy_of_probabilities",
            arguments=("p", "y"),
        ),
    )


@theorem(
    topic="cross-entropy", title="Gradient of cross-entropy for labels of any sum", source=f"{_PRML}, section 4.3.4"
)
def deriv_cross_entropy_softmax_unnormalized() -> Claim:
    z, y, p = _soft()
    return Claim(
        partial(_loss(y, p), z),
        p * lm.sum(y) - y,
        notes=[_BY_LOGITS, "The labels may have any sum: a row of zeros has gradient 0, not p."],
        numpy=_gradient_check("z", "y"),
    )


@theorem(topic="cross-entropy", title="Gradient of softmax cross-entropy", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_softmax() -> Claim:
    z, y, p = _soft()
    return Claim(
        partial(_loss(y, p), z),
        p - y,
        given=[_sums_to_one(y)],
        notes=[_BY_LOGITS, "Without Σy = 1 it is p Σy − y."],
        numpy=_gradient_check("z", "y"),
    )


@theorem(topic="cross-entropy", title="Cross-entropy of a hard label", source=f"{_PRML}, eq. (4.108)")
def cross_entropy_one_hot() -> Claim:
    _, c, p = _hard()
    return Claim(
        _loss(lm.one_hot(c, "K"), p), -lm.log(_at_label(p, c)), by=[contract()],
        numpy=NumericCheck("cross_entropy.cross_entropy", arguments=("z", "c")),
    )


@theorem(topic="cross-entropy", title="Cross-entropy of a hard label as logsumexp", source=f"{_GBC}, eq. (6.30)")
def cross_entropy_eq_logsumexp_sub() -> Claim:
    z, c, p = _hard()
    return Claim(
        -lm.log(_at_label(p, c)),
        lm.logsumexp(z) - _at_label(z, c),
        notes=["The hard label c is an integer, 0 ≤ c < K."],
        numpy=NumericCheck(_LOSS, arguments=("z", "c")),
    )


@theorem(topic="cross-entropy", title="Cross-entropy of soft labels as logsumexp", source=f"{_PRML}, eq. (4.108)")
def cross_entropy_softmax_eq_logsumexp_sub() -> Claim:
    z, y, p = _soft()
    return Claim(
        _loss(y, p),
        lm.logsumexp(z) - lm.sum(y * z),
        given=[_sums_to_one(y)],
        by=[unfold(), split_logs(), to(lm.sum(y) * lm.logsumexp(z) - lm.sum(y * z), "sum_add"), hypotheses()],
        numpy=NumericCheck(_LOSS, arguments=("z", "y")),
    )


@theorem(topic="cross-entropy", title="Gradient of cross-entropy for a hard label", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_hard_label() -> Claim:
    z, c, p = _hard()
    return Claim(
        partial(-lm.log(_at_label(p, c)), z),
        p - lm.one_hot(c, "K"),
        notes=[_BY_LOGITS, "δ_ci is entry i of row c of the identity: the one-hot vector e_c of the label."],
        numpy=_gradient_check("z", "c"),
    )


# ---------------------------------------------------------------------- a batch
@theorem(topic="cross-entropy", title="Gradient of mean cross-entropy over a batch", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_softmax_mean() -> Claim:
    z, y = array("Z", "N,K"), array("Y", "N,K")
    p, n = lm.softmax(z, name="P"), z.shape[0]
    return Claim(
        partial(lm.mean(_loss(y, p)), z),
        (p - y) / n,
        given=[_sums_to_one(y)],
        by=[
            _row_by_row(p * lm.sum(y, axis=1, keepdims=True) - y, "deriv_cross_entropy_softmax_unnormalized"),
            contract(),
            hypotheses(),
        ],
        notes=["By the logits; softmax along the classes (last axis), mean over the N rows: 1/N, not 1/(NK)."],
        numpy=_gradient_check("Z", "Y"),
    )


@theorem(topic="cross-entropy", title="Gradient of mean cross-entropy for hard labels", source=f"{_PRML}, eq. (4.109)")
def deriv_cross_entropy_hard_label_mean() -> Claim:
    z, t = array("Z", "N,K"), array("t", "N", domain="index<K")
    p, n = lm.softmax(z, name="P"), z.shape[0]
    return Claim(
        partial(lm.mean(-lm.log(_at_label(p, t))), z),
        (p - lm.one_hot(t, "K")) / n,
        by=[_row_by_row(p - lm.one_hot(t, "K"), "deriv_cross_entropy_hard_label"), contract()],
        notes=["By the logits; t_n is the integer label of row n; mean over the N rows."],
        numpy=_gradient_check("Z", "t"),
    )


def _row_by_row(gradient: Array, cited: str, count: ArrayLike | None = None) -> Tactic:
    """∂/∂Z of a mean over rows, where each row's gradient is known: Σ_n δ_ni gradient_nk, over the count (N)."""
    n = gradient.shape[0]
    mean = lm.einsum("ni,nk->ik", lm.eye(n), gradient) / (n if count is None else count)
    return to(mean, cited, "the loss of row n depends on row n of Z alone")


# ---------------------------------------------------------------------- label smoothing
_UNIFORM = "Smoothing variant ε/K: the share ε goes to all K classes, the labelled one too."
_OTHERS = "Smoothing variant ε/(K−1): the share ε goes to the other K − 1 classes only; it needs K ≥ 2."
_T2T = "Vaswani et al., Tensor2Tensor for Neural Machine Translation (2018), smoothing_cross_entropy"


def _smoothing() -> tuple[Array, Array, Array]:
    return array("z", "K"), array("y", "K"), array("eps", "", domain="(0,1)")


def _uniform(y: Array, eps: Array) -> Array:
    """Smoothed labels, each class given ε/K."""
    return define("q", (1 - eps) * y + eps / y.shape[-1])


def _others(y: Array, eps: Array) -> Array:
    """Smoothed labels, the classes that are not labelled given ε/(K−1) each."""
    return define("q", (1 - eps) * y + eps / (y.shape[-1] - 1) * (1 - y))


def _two_classes_or_more(y: Array) -> Hypothesis:
    return nonzero(as_array(y.shape[-1] - 1))


@theorem(topic="cross-entropy", title="Labels smoothed by ε/K sum to 1", source=_SZEGEDY)
def sum_smooth_labels() -> Claim:
    _, y, eps = _smoothing()
    return Claim(
        lm.sum(_uniform(y, eps)),
        1,
        given=[_sums_to_one(y)],
        notes=[_UNIFORM],
        by=[unfold(), to((1 - eps) * lm.sum(y) + eps, "sum_add"), hypotheses()],
    )


@theorem(topic="cross-entropy", title="Labels smoothed by ε/(K−1) sum to 1", source=_T2T)
def sum_smooth_labels_others() -> Claim:
    _, y, eps = _smoothing()
    k = y.shape[0]
    return Claim(
        lm.sum(_others(y, eps)),
        1,
        given=[_sums_to_one(y), _two_classes_or_more(y)],
        notes=[_OTHERS],
        by=[unfold(), to((1 - eps) * lm.sum(y) + eps / (k - 1) * (k - lm.sum(y)), "sum_add"), hypotheses()],
    )


@theorem(topic="cross-entropy", title="The two smoothing variants differ by a rescaled ε", source=_T2T)
def smooth_labels_others_eq_uniform() -> Claim:
    _, y, eps = _smoothing()
    k = y.shape[0]
    rescaled = eps * k / (k - 1)
    return Claim(
        (1 - eps) * y + eps / (k - 1) * (1 - y),
        (1 - rescaled) * y + rescaled / k,
        given=[_two_classes_or_more(y)],
        by=[to((1 - eps - eps / (k - 1)) * y + eps / (k - 1), "collect")],
        notes=["Variant ε/(K−1) with ε is variant ε/K with εK/(K−1): same family, other parameter."],
    )


@theorem(topic="cross-entropy", title="Gradient with labels smoothed by ε/K", source=_SZEGEDY)
def deriv_cross_entropy_smooth_labels() -> Claim:
    z, y, eps = _smoothing()
    p, q = lm.softmax(z), _uniform(y, eps)
    return Claim(
        partial(_loss(q, p), z),
        p - q,
        given=[_sums_to_one(y)],
        notes=[_UNIFORM, _BY_LOGITS],
        by=[
            to(p * lm.sum(q) - q, "deriv_cross_entropy_softmax_unnormalized", "the gradient for any labels, here q"),
            to(p - q, "sum_smooth_labels", "Σ_k q_k = 1"),
        ],
        numpy=_gradient_check("z", "y", label_smoothing="eps"),
    )


@theorem(topic="cross-entropy", title="Gradient with labels smoothed by ε/(K−1)", source=_T2T)
def deriv_cross_entropy_smooth_labels_others() -> Claim:
    z, y, eps = _smoothing()
    p, q = lm.softmax(z), _others(y, eps)
    return Claim(
        partial(_loss(q, p), z),
        p - q,
        given=[_sums_to_one(y), _two_classes_or_more(y)],
        notes=[_OTHERS, _BY_LOGITS],
        by=[
            to(p * lm.sum(q) - q, "deriv_cross_entropy_softmax_unnormalized", "the gradient for any labels, here q"),
            to(p - q, "sum_smooth_labels_others", "Σ_k q_k = 1"),
        ],
        numpy=_gradient_check("z", "y", label_smoothing="eps", smoothing_variant="others"),
    )


@theorem(topic="cross-entropy", title="Smoothing mixes the loss with that of uniform labels", source=_SZEGEDY)
def cross_entropy_smooth_labels() -> Claim:
    z, y, eps = _smoothing()
    p, k = lm.softmax(z), y.shape[0]
    uniform = -lm.sum(lm.log(p)) / k
    return Claim(
        _loss(_uniform(y, eps), p),
        (1 - eps) * _loss(y, p) + eps * uniform,
        given=[_sums_to_one(y)],
        notes=[_UNIFORM],
        by=[unfold("q")],
        numpy=NumericCheck(_LOSS, arguments=("z", "y"), options={"label_smoothing": "eps"}),
    )


# ---------------------------------------------------------------------- class weights
_WEIGHTS = "Class weights w > 0 multiply each class's term of the loss."
_KING = "King, Zeng, Logistic Regression in Rare Events Data (2001)"


@theorem(topic="cross-entropy", title="Gradient of weighted cross-entropy", source=_KING)
def deriv_cross_entropy_class_weights() -> Claim:
    (z, y, p), w = _soft(), array("w", "K", domain="positive")
    return Claim(
        partial(_loss(w * y, p), z),
        p * lm.sum(w * y) - w * y,
        notes=[_WEIGHTS, _BY_LOGITS],
        by=[to(p * lm.sum(w * y) - w * y, "deriv_cross_entropy_softmax_unnormalized", "the labels here are w_k y_k")],
        numpy=_gradient_check("z", "y", class_weights="w", reduction="sum"),
    )


@theorem(topic="cross-entropy", title="Gradient of weighted cross-entropy for a hard label", source=_KING)
def deriv_cross_entropy_class_weights_hard_label() -> Claim:
    (z, c, p), w = _hard(), array("w", "K", domain="positive")
    return Claim(
        partial(-_at_label(w, c) * lm.log(_at_label(p, c)), z),
        _at_label(w, c) * (p - lm.one_hot(c, "K")),
        by=[
            to(_at_label(w, c) * partial(-lm.log(_at_label(p, c)), z), "deriv_const_mul"),
            to(_at_label(w, c) * (p - lm.one_hot(c, "K")), "deriv_cross_entropy_hard_label", "the unweighted gradient"),
        ],
        notes=[_WEIGHTS, _BY_LOGITS],
        numpy=_gradient_check("z", "c", class_weights="w", reduction="sum"),
    )


@theorem(topic="cross-entropy", title="Gradient of the weighted mean over a batch", source=_KING)
def deriv_cross_entropy_class_weights_mean() -> Claim:
    z, t = array("Z", "N,K"), array("t", "N", domain="index<K")
    w = array("w", "K", domain="positive")
    p, w_t = lm.softmax(z, name="P"), _at_label(w, t)
    rows = w_t[:, None] * (p - lm.one_hot(t, "K"))
    return Claim(
        partial(-lm.sum(w_t * lm.log(_at_label(p, t))) / lm.sum(w_t), z),
        rows / lm.sum(w_t),
        by=[_row_by_row(rows, "deriv_cross_entropy_class_weights_hard_label", lm.sum(w_t)), contract()],
        notes=[_WEIGHTS, "The mean divides by the sum of the labels' weights Σ_n w_{t_n}, not by N."],
        numpy=_gradient_check("Z", "t", class_weights="w"),
    )


# ---------------------------------------------------------------------- second derivative
@theorem(topic="cross-entropy", title="Hessian of softmax cross-entropy", source=f"{_PRML}, eq. (4.110)")
def hessian_cross_entropy_softmax() -> Claim:
    z, y, p = _soft()
    return Claim(
        partial(partial(_loss(y, p), z), z),
        lm.diag(p) - lm.outer(p, p),
        given=[_sums_to_one(y)],
        by=[
            to(partial(p - y, z), "deriv_cross_entropy_softmax", "the gradient of the loss"),
            to(partial(p, z), "deriv_const", "y does not depend on z"),
            to(lm.diag(p) - lm.outer(p, p), "deriv_softmax", "the Jacobian of softmax"),
        ],
        notes=["By the logits. The labels do not occur in it: it is the covariance of the one-hot class under p."],
        numpy=NumericCheck("cross_entropy.cross_entropy_hessian", primal=_LOSS, arguments=("z", "y")),
    )


@theorem(topic="cross-entropy", title="The covariance form is a variance", source=f"{_GBC}, section 3.8")
def covariance_quadratic_form_eq_variance() -> Claim:
    p, v = array("p", "K", domain="positive"), array("v", "K")
    return Claim(
        v @ (lm.diag(p) - lm.outer(p, p)) @ v,
        lm.sum(p * (v - p @ v) ** 2),
        given=[_sums_to_one(p)],
        by=[
            contract(),
            to(lm.sum(p * v**2) - (p @ v) ** 2, "collect"),
            to(lm.sum(p * v**2) - 2 * (p @ v) ** 2 + lm.sum(p) * (p @ v) ** 2, "use_hypothesis", "Σ_k p_k = 1"),
        ],
        notes=["The right side is Var_p(v), a sum of terms ≥ 0; it is 0 only for constant v."],
        numpy=NumericCheck("softmax.covariance_quadratic_form", arguments=("p", "v")),
    )


@theorem(topic="cross-entropy", title="Softmax cross-entropy is convex in the logits", source=_BOYD)
def hessian_cross_entropy_softmax_quadratic_form() -> Claim:
    (z, y, p), v = _soft(), array("v", "K")
    hessian = partial(partial(_loss(y, p), z), z)
    return Claim(
        v @ hessian @ v,
        lm.sum(p * (v - p @ v) ** 2),
        given=[_sums_to_one(y)],
        by=[
            to(v @ (lm.diag(p) - lm.outer(p, p)) @ v, "hessian_cross_entropy_softmax", "the Hessian of the loss"),
            to(lm.sum(p * (v - p @ v) ** 2), "covariance_quadratic_form_eq_variance", "softmax rows sum to 1"),
        ],
        notes=[
            "Every term is ≥ 0, so vᵀHv ≥ 0 for all v: H is positive semidefinite and the loss is convex in z.",
            "It is 0 exactly for constant v: adding a constant to the logits changes nothing.",
        ],
        numpy=NumericCheck("softmax.covariance_quadratic_form", arguments=(p, v)),
    )


# ---------------------------------------------------------------------- entropy
@theorem(topic="cross-entropy", title="Cross-entropy is entropy plus KL divergence", source=f"{_GBC}, section 3.13")
def cross_entropy_eq_entropy_add_kl() -> Claim:
    p, q = array("p", "K", domain="positive"), array("q", "K", domain="positive")
    return Claim(
        _loss(p, q),
        -lm.sum(p * lm.log(p)) + lm.sum(p * lm.log(p / q)),
        by=[to(-lm.sum(p * (lm.log(p) - lm.log(p / q))), "log_div_of_pos", "log q = log p − log(p/q)")],
        notes=["H(p, q) = H(p) + KL(p‖q), p the labels, q the model: for fixed p both have the same gradient by q."],
        numpy=NumericCheck("cross_entropy.cross_entropy_of_probabilities", arguments=("q", "p")),
    )
