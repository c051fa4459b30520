"""Softmax, log-softmax and log-sum-exp: values, shifts, Jacobians, Hessian."""

from __future__ import annotations

from ..derivations.tactics import partial
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import array

_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2.3"


@theorem(topic="softmax", title="Softmax sums to one", source=_GBC)
def sum_softmax() -> Claim:
    z = array("z", "K")
    return Claim(lm.sum(lm.softmax(z)), 1)


@theorem(topic="softmax", title="Jacobian of softmax", source=_GBC)
def deriv_softmax() -> Claim:
    z = array("z", "K")
    p = lm.softmax(z)
    return Claim(partial(p, z), lm.diag(p) - lm.outer(p, p),
                 numpy=NumericCheck("softmax.softmax_jacobian", primal="softmax.softmax", arguments=("z",)))


@theorem(topic="softmax", title="softmax(z + c) = softmax(z)", source=_GBC)
def softmax_add_const() -> Claim:
    z, c = array("z", "K"), array("c", "")
    return Claim(lm.softmax(z + c), lm.softmax(z))


@theorem(topic="cross-entropy", title="CE", source=_GBC)
def deriv_cross_entropy_softmax() -> Claim:
    from ..language.hypotheses import equal
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(partial(-lm.sum(y*lm.log(p)), z), p-y, given=[equal(lm.sum(y), 1)])
