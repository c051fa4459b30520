"""LayerNorm, RMSNorm, BatchNorm (training) and GroupNorm: the backward pass in its compact form, with ε.

All but RMSNorm are one thing: over a set of axes, x̂ = (x − mean x)/√(var x + ε) with the biased variance, then
y = γ ⊙ x̂ + β. They differ in the axes. x̂ is one definition of x, so that the whole of dx is one local statement:
with ĝ the adjoint of x̂ and r = 1/√(var x + ε), dx = r ⊙ (ĝ − mean ĝ − x̂ ⊙ mean(ĝ ⊙ x̂)). The functions below are also
what `transformer` is built of. Weights and linear maps are in `layers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..derivations.system import System, SystemCheck
from ..derivations.theorem import theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define, tensor_of
from ..language.rearrangement import expand_dims

Axes = int | tuple[int, ...]
Form = Callable[[Mapping[str, Array]], Array]

_TOPIC = "normalization"
_EPS = "ε > 0 lies under the root, added to the biased variance (divided by the count)."
_ADJOINT = "ĝ of the compact form is the adjoint of x̂, that is γ ⊙ dy."


# ---------------------------------------------------------------------- the layer and its compact backward pass
def mean(value: Array, axes: Axes = -1) -> Array:
    """The mean over axes, which are kept with size 1."""
    return lm.mean(value, axes, keepdims=True)


def deviation(x: Array, eps: Array, axes: Axes = -1) -> Array:
    """√(var x + ε) over axes, which are kept with size 1; the variance is the biased one.

    >>> deviation(array("x", "n,d"), array("eps", "", "positive")).shape
    (n, 1)
    """
    return lm.sqrt(lm.var(x, axes, keepdims=True) + eps)


def normalized(x: Array, eps: Array, axes: Axes = -1, name: str = "xhat") -> Array:
    """x̂ = (x − mean x)/√(var x + ε) over axes, as a definition.

    Source: Ba, Kiros, Hinton (2016), "Layer Normalization", eq. (3) and (4), without scale and shift.

    >>> normalized(array("x", "n,d"), array("eps", "", "positive")).shape
    (n, d)
    """
    return define(name, (x - mean(x, axes)) / deviation(x, eps, axes))


def normalized_adjoint(x: Array, xhat: Array, eps: Array, axes: Axes = -1, name: str = "r") -> Form:
    """How the adjoint of x is written where only x̂ uses x: r ⊙ (ĝ − mean ĝ − x̂ ⊙ mean(ĝ ⊙ x̂)), r = 1/√(var x + ε)."""
    r = expand_dims(define(name, 1 / lm.sqrt(lm.var(x, axes) + eps)), axes)
    after = f"d{tensor_of(xhat).name}"

    def form(adjoints: Mapping[str, Array]) -> Array:
        g = adjoints[after]
        return r * (g - mean(g, axes) - xhat * mean(g * xhat, axes))

    return form


# ---------------------------------------------------------------------- theorems
@theorem(
    topic=_TOPIC,
    title="Gradients of LayerNorm",
    source="Ba, Kiros, Hinton, Layer Normalization (2016), eq. (3) and (4)",
)
def vjp_layer_norm() -> System:
    x, gamma, beta, eps = array("x", "B,n,d"), array("gamma", "d"), array("beta", "d"), array("eps", "", "positive")
    g = array("G", "B,n,d")
    xhat = normalized(x, eps)
    y = define("y", gamma * xhat + beta)
    return System(
        lm.sum(g * y),
        [x, gamma, beta],
        forms={"x": normalized_adjoint(x, xhat, eps)},
        notes=["Over the last axis; all places share γ and β, so their gradients sum over them.", _EPS, _ADJOINT],
        numpy=SystemCheck(
            "normalization.layer_norm",
            ("x", "gamma", "beta"),
            "normalization.layer_norm_vjp",
            ("x", "gamma", "G"),
            options={"eps": "eps"},
            cotangent="G",
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradients of RMSNorm",
    source="Zhang, Sennrich, Root Mean Square Layer Normalization (2019), eq. (4)",
)
def vjp_rms_norm() -> System:
    x, gamma, eps, g = array("x", "B,n,d"), array("gamma", "d"), array("eps", "", "positive"), array("G", "B,n,d")
    xhat = define("xhat", x / lm.sqrt(mean(x**2) + eps))
    r = define("r", 1 / lm.sqrt(lm.mean(x**2, -1) + eps))[..., None]
    y = define("y", gamma * xhat)

    def form(adjoints: Mapping[str, Array]) -> Array:
        dxhat = adjoints["dxhat"]
        return r * (dxhat - xhat * mean(dxhat * xhat))

    return System(
        lm.sum(g * y),
        [x, gamma],
        forms={"x": form},
        notes=["Over the last axis, not centred: x̂ = x/√(mean(x²) + ε).", "ε > 0 lies under the root."],
        numpy=SystemCheck(
            "normalization.rms_norm",
            ("x", "gamma"),
            "normalization.rms_norm_vjp",
            ("x", "gamma", "G"),
            options={"eps": "eps"},
            cotangent="G",
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradients of BatchNorm in training",
    source="Ioffe, Szegedy, Batch Normalization (2015), algorithm 1",
)
def vjp_batch_norm() -> System:
    x, eps, g = array("x", "N,C,s"), array("eps", "", "positive"), array("G", "N,C,s")
    gamma, beta = array("gamma", "C"), array("beta", "C")
    xhat = normalized(x, eps, (0, 2))
    y = define("y", gamma[:, None] * xhat + beta[:, None])
    return System(
        lm.sum(g * y),
        [x, gamma, beta],
        forms={"x": normalized_adjoint(x, xhat, eps, (0, 2))},
        notes=[
            "x is samples × channels × places; mean and variance are those of this batch, over samples and places.",
            _EPS,
            _ADJOINT,
        ],
        numpy=SystemCheck(
            "normalization.batch_norm",
            ("x", "gamma", "beta"),
            "normalization.batch_norm_vjp",
            ("x", "gamma", "G"),
            options={"eps": "eps"},
            cotangent="G",
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradients of GroupNorm",
    source="Wu, He, Group Normalization (2018), eq. (1), (2), (6) and (7)",
)
def vjp_group_norm() -> System:
    x, eps, g = array("x", "q,c,s"), array("eps", "", "positive"), array("G", "q,c,s")
    gamma, beta = array("gamma", "q,c"), array("beta", "q,c")
    xhat = normalized(x, eps, (1, 2))
    y = define("y", gamma[..., None] * xhat + beta[..., None])
    return System(
        lm.sum(g * y),
        [x, gamma, beta],
        forms={"x": normalized_adjoint(x, xhat, eps, (1, 2))},
        notes=[
            "One sample, groups × channels of a group × places: channel a·c + b is written (a, b). Mean and variance "
            "are those of a group, over its channels and all places; over a batch the gradients of γ and β add up.",
            _EPS,
            _ADJOINT,
        ],
        numpy=SystemCheck(
            "flat_layers.group_norm",
            ("x", "gamma", "beta"),
            "flat_layers.group_norm_gradients",
            ("x", "gamma", "G"),
            options={"eps": "eps"},
            cotangent="G",
        ),
    )
