"""Mean squared error, Huber loss, L2 normalisation and cosine similarity: gradients.

MSE has no factor 1/2 here; its gradient has the 2. Classification losses are in `cross_entropy` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..derivations.system import System, SystemCheck
from ..derivations.tactics import contract, differentiate, partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define

_TOPIC = "regression losses"
_NO_ZEROS = "Where no row is 0: a vector of zeros has no direction."


def _norm(x: Array) -> Array:
    return lm.sqrt(lm.sum(x**2, axis=-1, keepdims=True))


@theorem(
    topic=_TOPIC,
    title="Gradient of the mean squared error",
    source="Bishop, Pattern Recognition and Machine Learning (2006), section 1.1",
)
def deriv_mse() -> Claim:
    x, y = array("x", "N,d"), array("y", "N,d")
    return Claim(
        partial(lm.mean((x - y) ** 2), x),
        2 * (x - y) / x.size,
        letters="nk",
        notes=["x is the prediction, y the target; the mean is over all N·d entries, without a factor 1/2."],
        numpy=NumericCheck(
            "regression_losses.mse_gradient", primal="regression_losses.mse", arguments=("x", "y"), variable="x"
        ),
    )


@theorem(
    topic=_TOPIC, title="Gradient of the Huber loss", source="Huber, Robust Estimation of a Location Parameter (1964)"
)
def deriv_huber() -> Claim:
    x, y, delta = array("x", "N"), array("y", "N"), array("delta", "", "positive")
    e = define("e", x - y)
    inside = lm.less_equal(lm.absolute(e), delta)
    loss = lm.where(inside, e**2 / 2, delta * (lm.absolute(e) - delta / 2))
    clipped = lm.where(inside, e, delta * lm.sign(e))
    return Claim(
        partial(lm.sum(loss), x),
        clipped,
        by=[unfold(), differentiate(), contract(), to(clipped, "fold", "this is e again")],
        notes=[
            "e = x − y; e²/2 where |e| ≤ δ, δ(|e| − δ/2) beyond; summed over the N entries.",
            "The gradient is e clipped to [−δ, δ]; the loss is once differentiable everywhere.",
        ],
        numpy=NumericCheck(
            "regression_losses.huber_gradient",
            primal="regression_losses.huber",
            arguments=("x", "y"),
            variable="x",
            options={"delta": "delta", "reduction": "sum"},
            primal_options={"delta": "delta", "reduction": "sum"},
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradient of L2 normalisation",
    source="Petersen, Pedersen, The Matrix Cookbook (2012), section 2.6",
)
def vjp_l2_normalize() -> System:
    x, g = array("x", "N,d"), array("G", "N,d")
    u = define("u", x / _norm(x))

    def form(adjoints: Mapping[str, Array]) -> Array:
        du = adjoints["du"]
        return (du - u * lm.sum(u * du, axis=-1, keepdims=True)) / _norm(x)

    return System(
        lm.sum(g * u),
        [x],
        forms={"x": form},
        notes=["u = x/‖x‖, row by row: the cotangent without its part along u, over the length.", _NO_ZEROS],
        numpy=SystemCheck(
            "regression_losses.l2_normalize", ("x",), "regression_losses.l2_normalize_vjp", ("x", "G"), cotangent="G"
        ),
    )


@theorem(topic=_TOPIC, title="Gradient of the cosine of two vectors", source="Luo et al., Cosine Normalization (2018)")
def deriv_cosine_similarity() -> Claim:
    a, b = array("a", "d"), array("b", "d")
    length_a, length_b = define("alpha", lm.sqrt(a @ a)), define("beta", lm.sqrt(b @ b))
    c = define("c", a @ b / (length_a * length_b))
    value = (b / length_b - c * a / length_a) / length_a
    return Claim(
        partial(a @ b / (lm.sqrt(a @ a) * lm.sqrt(b @ b)), a),
        value,
        by=[differentiate(), contract(), to(value, "fold", "with the lengths and the cosine named")],
        notes=["α = ‖a‖, β = ‖b‖, c the cosine: the direction of b without its part along a, over α.", _NO_ZEROS],
    )


@theorem(topic=_TOPIC, title="Gradients of cosine similarity", source="Luo et al., Cosine Normalization (2018)")
def vjp_cosine_similarity() -> System:
    a, b, g = array("a", "N,d"), array("b", "N,d"), array("G", "N")
    u, v = define("u", a / _norm(a)), define("v", b / _norm(b))
    c = define("c", lm.sum(u * v, axis=-1))

    return System(
        lm.sum(g * c),
        [a, b],
        notes=["c = u · v with u = a/‖a‖, v = b/‖b‖, row by row.", _NO_ZEROS],
        numpy=SystemCheck(
            "regression_losses.cosine_similarity",
            ("a", "b"),
            "regression_losses.cosine_similarity_vjp",
            ("a", "b", "G"),
            cotangent="G",
        ),
    )
