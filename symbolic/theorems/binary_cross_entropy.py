"""Binary cross-entropy by probability and by logit: equal forms, derivatives, positive weight, reductions.

The loss of one entry is -(y log p + (1 - y) log(1 - p)). By probability its variable is p in (0, 1); by logit it is z, with p = σ(z).
Labels y are any reals (the loss is linear in them). The cross-entropy over K classes that exclude each other is in
`cross_entropy`; here K outputs are K separate yes-or-no questions.
"""

from __future__ import annotations

from ..derivations.tactics import collect, contract, differentiate, fold, partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define

_BISHOP = "Bishop, Pattern Recognition and Machine Learning (2006)"
_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2.2"
_KING = "King, Zeng, Logistic regression in rare events data (2001), section 4.2, in the form that logit losses use"
_BY_P = "by the probability p, not by the logit"
_BY_Z = "by the logit z, with p = σ(z)"


def bce(p: Array, y: Array) -> Array:
    """-(y log p + (1 - y) log(1 - p)), entry by entry."""
    return -(y * lm.log(p) + (1 - y) * lm.log(1 - p))


# ---------------------------------------------------------------------- by probability
@theorem(topic="binary_cross_entropy", title="Derivative of binary cross-entropy by the probability", source=f"{_BISHOP}, eq. (4.90)")
def deriv_bce() -> Claim:
    p, y = array("p", "", "(0,1)"), array("y", "")
    return Claim(partial(bce(p, y), p), (p - y) / (p * (1 - p)), notes=[_BY_P],
                 numpy=NumericCheck("binary_cross_entropy.bce_gradient", primal="binary_cross_entropy.bce", arguments=("p", "y"),
                                    options={"reduction": "none"}, primal_options={"reduction": "none"}))


# ---------------------------------------------------------------------- by logit
@theorem(topic="binary_cross_entropy", title="Binary cross-entropy by the logit: softplus form", source=_GBC)
def bce_logits_eq_softplus() -> Claim:
    z, y = array("z", ""), array("y", "")
    return Claim(bce(lm.sigmoid(z), y), lm.softplus(z) - y * z, notes=[_BY_Z],
                 numpy=NumericCheck("binary_cross_entropy.bce_with_logits", arguments=("z", "y"), options={"reduction": "none"}))


@theorem(topic="binary_cross_entropy", title="Binary cross-entropy by the logit: stable form", source=_GBC)
def bce_logits_eq_stable() -> Claim:
    z, y = array("z", ""), array("y", "")
    stable = lm.maximum(z, 0) - z * y + lm.log(1 + lm.exp(-lm.absolute(z)))
    return Claim(bce(lm.sigmoid(z), y), stable, notes=[_BY_Z],
                 numpy=NumericCheck("binary_cross_entropy.bce_with_logits", arguments=("z", "y"), options={"reduction": "none"}))


@theorem(topic="binary_cross_entropy", title="Derivative of binary cross-entropy by the logit", source=f"{_BISHOP}, eq. (4.91)")
def deriv_bce_logits() -> Claim:
    z, y = array("z", ""), array("y", "")
    return Claim(partial(bce(lm.sigmoid(z), y), z), lm.sigmoid(z) - y, notes=[_BY_Z],
                 numpy=NumericCheck("binary_cross_entropy.bce_with_logits_gradient", primal="binary_cross_entropy.bce_with_logits",
                                    arguments=("z", "y"), variable="z", options={"reduction": "none"},
                                    primal_options={"reduction": "none"}))


__all__ = ["collect", "contract", "define", "differentiate", "fold", "to", "unfold"]
