"""Sigmoid, softplus and their logarithms: reflections, equal forms and derivatives, from the definitions.

The derivative rules that the calculus applies to these functions by name are proved here, so these derivations start
from the definition and never use the rule that they prove. What works along an axis (softmax) is in `softmax`.
"""

from __future__ import annotations

from ..derivations.tactics import differentiate, expand, partial, split_logs, to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import array

_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 3.10"
_DEFINITION = "definition of sigmoid"


# ---------------------------------------------------------------------- equal forms
@theorem(topic="activations", title="Reflection of the sigmoid", source=f"{_GBC}, eq. (3.35)")
def sigmoid_neg() -> Claim:
    x = array("x", "")
    return Claim(
        lm.sigmoid(-x),
        1 - lm.sigmoid(x),
        by=[
            expand("sigmoid"),
            to(1 - 1 / (1 + lm.exp(-x)), "collect", "multiply above and below by the exponential of -x"),
            to(1 - lm.sigmoid(x), "fold", _DEFINITION),
        ],
        numpy=NumericCheck("activations.sigmoid", arguments=(-x,)),
    )


@theorem(topic="activations", title="Reflection of softplus", source=f"{_GBC}, eq. (3.41)")
def softplus_neg() -> Claim:
    x = array("x", "")
    return Claim(
        lm.softplus(-x),
        lm.softplus(x) - x,
        by=[
            expand("softplus"),
            to(lm.log((1 + lm.exp(x)) * lm.exp(-x)), "collect", "factor out the exponential of -x"),
            split_logs(),
            to(lm.softplus(x) - x, "fold", "definition of softplus"),
        ],
        numpy=NumericCheck("activations.softplus", arguments=(-x,)),
    )


@theorem(topic="activations", title="Softplus without overflow", source=_GBC)
def softplus_eq_stable() -> Claim:
    x = array("x", "")
    m = lm.relu(x)
    stable = m + lm.log(1 + lm.exp(-lm.absolute(x)))
    return Claim(
        lm.softplus(x),
        stable,
        by=[
            expand("softplus"),
            to(m + lm.log(lm.exp(-m) + lm.exp(x - m)), "log_mul_of_pos", "take out the exponential of relu(x)"),
            to(stable, "collect", "one of the two exponents is 0, the other is -|x|"),
        ],
        notes=["relu(x) = max(x, 0). No exponential exceeds 1: this is the form that code computes."],
        numpy=NumericCheck("activations.softplus", arguments=("x",)),
    )


@theorem(topic="activations", title="Log-sigmoid by softplus", source=f"{_GBC}, eq. (3.36)")
def log_sigmoid_eq_neg_softplus_neg() -> Claim:
    x = array("x", "")
    return Claim(
        lm.log(lm.sigmoid(x)),
        -lm.softplus(-x),
        by=[expand("sigmoid"), split_logs(), to(-lm.softplus(-x), "fold", "definition of softplus")],
        numpy=NumericCheck("activations.log_sigmoid", arguments=("x",)),
    )


@theorem(topic="activations", title="Logarithm of the opposite probability", source=_GBC)
def log_one_sub_sigmoid() -> Claim:
    x = array("x", "")
    return Claim(
        lm.log(1 - lm.sigmoid(x)),
        -lm.softplus(x),
        by=[
            to(lm.log(lm.sigmoid(-x)), "sigmoid_neg", "reflection of the sigmoid"),
            to(-lm.softplus(x), "log_sigmoid_eq_neg_softplus_neg", "log-sigmoid by softplus"),
        ],
        numpy=NumericCheck("activations.log_sigmoid", arguments=(-x,)),
    )


# ---------------------------------------------------------------------- derivatives
@theorem(topic="activations", title="Derivative of the sigmoid", source=f"{_GBC}, eq. (3.34)")
def deriv_sigmoid() -> Claim:
    x = array("x", "")
    s = lm.sigmoid(x)
    fraction = 1 / (1 + lm.exp(-x))
    return Claim(
        partial(s, x),
        s * (1 - s),
        by=[
            expand("sigmoid"),
            differentiate(),
            to(fraction * (1 - fraction), "collect", "split off one factor"),
            to(s * (1 - s), "fold", _DEFINITION),
        ],
        numpy=NumericCheck("activations.sigmoid_derivative", primal="activations.sigmoid", arguments=("x",)),
    )


@theorem(topic="activations", title="Second derivative of the sigmoid", source=_GBC)
def second_deriv_sigmoid() -> Claim:
    x = array("x", "")
    s = lm.sigmoid(x)
    return Claim(
        partial(partial(s, x), x),
        s * (1 - s) * (1 - 2 * s),
        by=[to(partial(s * (1 - s), x), "deriv_sigmoid", "derivative of the sigmoid"), differentiate()],
        numpy=NumericCheck("activations.sigmoid_second_derivative", arguments=("x",)),
    )


@theorem(topic="activations", title="Derivative of softplus", source=f"{_GBC}, eq. (3.37)")
def deriv_softplus() -> Claim:
    x = array("x", "")
    return Claim(
        partial(lm.softplus(x), x),
        lm.sigmoid(x),
        by=[
            expand("softplus"),
            differentiate(),
            to(1 / (1 + lm.exp(-x)), "collect", "divide above and below by the numerator"),
            to(lm.sigmoid(x), "fold", _DEFINITION),
        ],
        numpy=NumericCheck("activations.softplus_derivative", primal="activations.softplus", arguments=("x",)),
    )


@theorem(topic="activations", title="Derivative of the log-sigmoid", source=_GBC)
def deriv_log_sigmoid() -> Claim:
    x = array("x", "")
    return Claim(
        partial(lm.log_sigmoid(x), x),
        1 - lm.sigmoid(x),
        by=[
            expand("log_sigmoid"),
            differentiate(),
            to(1 - 1 / (1 + lm.exp(-x)), "collect", "add and subtract 1 in the numerator"),
            to(1 - lm.sigmoid(x), "fold", _DEFINITION),
        ],
        numpy=NumericCheck("activations.log_sigmoid_derivative", primal="activations.log_sigmoid", arguments=("x",)),
    )
