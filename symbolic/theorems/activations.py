"""Sigmoid, softplus and their logarithms: reflections and derivatives, from the definitions.

The derivative rules that the calculus applies to these functions by name are proved here, so these derivations start from the
definition and never use the rule they prove. What is along an axis (softmax) is in `softmax`.
"""

from __future__ import annotations

from ..derivations.tactics import collect, differentiate, expand, partial, to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import array

_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 3.10"


@theorem(topic="activations", title="Reflection of the sigmoid", source=_GBC)
def sigmoid_neg() -> Claim:
    x = array("x", "")
    return Claim(lm.sigmoid(-x), 1 - lm.sigmoid(x), by=[expand("sigmoid")])


@theorem(topic="activations", title="Derivative of the sigmoid", source=_GBC)
def deriv_sigmoid() -> Claim:
    x = array("x", "")
    s = lm.sigmoid(x)
    return Claim(partial(s, x), s * (1 - s), by=[expand("sigmoid"), differentiate(), collect()],
                 numpy=NumericCheck("activations.sigmoid_derivative", primal="activations.sigmoid", arguments=("x",)))


@theorem(topic="activations", title="Derivative of softplus", source=_GBC)
def deriv_softplus() -> Claim:
    x = array("x", "")
    return Claim(partial(lm.softplus(x), x), lm.sigmoid(x), by=[expand("softplus"), differentiate()],
                 numpy=NumericCheck("activations.softplus_derivative", primal="activations.softplus", arguments=("x",)))


@theorem(topic="activations", title="Derivative of the log-sigmoid", source=_GBC)
def deriv_log_sigmoid() -> Claim:
    x = array("x", "")
    return Claim(partial(lm.log_sigmoid(x), x), 1 - lm.sigmoid(x),
                 by=[expand("log_sigmoid"), differentiate()],
                 numpy=NumericCheck("activations.log_sigmoid_derivative", primal="activations.log_sigmoid", arguments=("x",)))


__all__ = ["to"]
