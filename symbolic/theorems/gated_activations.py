"""Derivatives of GELU (exact and tanh form), SiLU, Mish, ELU and ReLU, and of the gated units GLU and SwiGLU.

The derivative rules that the calculus applies to these functions by name are proved here, so the derivations start from
the definitions and never use the rule that they prove. Sigmoid and softplus are in `activations`.
"""

from __future__ import annotations

import sympy as sp

from ..derivations.system import System, SystemCheck
from ..derivations.tactics import differentiate, expand, partial, to
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, as_array, define

_TOPIC = "gated activations"
_HENDRYCKS = "Hendrycks, Gimpel, Gaussian Error Linear Units (2016), section 2"
_CUBE = sp.Rational(44715, 10**6)


def _normal_cdf(x: Array) -> Array:
    return define("Phi", (1 + lm.erf(x / as_array(sp.sqrt(2)))) / 2, origin="normal distribution function")


def _normal_density(x: Array) -> Array:
    return define("phi", lm.exp(-(x**2) / 2) / as_array(sp.sqrt(2 * sp.pi)), origin="normal density")


def _derivative_check(name: str) -> NumericCheck:
    module = "activations" if name == "relu" else "gated_activations"
    return NumericCheck(f"{module}.{name}_derivative", primal=f"{module}.{name}", arguments=("x",))


# ---------------------------------------------------------------------- one argument
@theorem(topic=_TOPIC, title="Derivative of GELU", source=_HENDRYCKS)
def deriv_gelu() -> Claim:
    x = array("x", "")
    cdf, density = _normal_cdf(x), _normal_density(x)
    return Claim(
        partial(lm.gelu(x), x),
        cdf + x * density,
        by=[
            expand("gelu"),
            differentiate(),
            to(cdf + x * density, "fold", "distribution function and density of N(0, 1)"),
        ],
        notes=["The exact form x Φ(x), not the tanh form."],
        numpy=_derivative_check("gelu"),
    )


@theorem(topic=_TOPIC, title="Derivative of GELU in its tanh form", source=_HENDRYCKS)
def deriv_gelu_tanh() -> Claim:
    x = array("x", "")
    c = as_array(sp.sqrt(2 / sp.pi))
    u = define("u", c * (x + _CUBE * x**3))
    t = lm.tanh(u)
    value = (1 + t) / 2 + x * (1 - t**2) * c * (1 + 3 * _CUBE * x**2) / 2
    return Claim(
        partial(lm.gelu_tanh(x), x),
        value,
        by=[expand("gelu_tanh"), differentiate(), to(value, "fold", "this is u again")],
        notes=["gelu_tanh(x) = x (1 + tanh u)/2 is another function than x Φ(x): up to 5e-4 apart."],
        numpy=_derivative_check("gelu_tanh"),
    )


@theorem(topic=_TOPIC, title="Derivative of SiLU", source="Elfwing, Uchibe, Doya, Sigmoid-Weighted Linear Units (2018)")
def deriv_silu() -> Claim:
    x = array("x", "")
    s = lm.sigmoid(x)
    return Claim(
        partial(lm.silu(x), x),
        s * (1 + x * (1 - s)),
        by=[
            expand("silu"),
            differentiate(),
            to(s + x * s * (1 - s), "collect", "derivative of x is 1"),
            to(s * (1 + x * (1 - s)), "collect", "take out the sigmoid"),
        ],
        notes=["Also called swish, with β = 1."],
        numpy=_derivative_check("silu"),
    )


@theorem(topic=_TOPIC, title="Derivative of Mish", source="Misra, Mish (2019)")
def deriv_mish() -> Claim:
    x = array("x", "")
    t = define("t", lm.tanh(lm.softplus(x)))
    return Claim(
        partial(lm.mish(x), x),
        t + x * (1 - t**2) * lm.sigmoid(x),
        by=[
            expand("mish"),
            differentiate(),
            to(t + x * (1 - t**2) * lm.sigmoid(x), "fold", "this is t again"),
        ],
        numpy=_derivative_check("mish"),
    )


@theorem(
    topic=_TOPIC, title="Derivative of ReLU", source="Glorot, Bordes, Bengio, Deep Sparse Rectifier Networks (2011)"
)
def deriv_relu() -> Claim:
    x = array("x", "")
    return Claim(
        partial(lm.relu(x), x),
        lm.greater(x, 0),
        by=[expand("relu"), differentiate()],
        notes=["At the kink x = 0 the value 0 of the subdifferential [0, 1] is taken."],
        numpy=_derivative_check("relu"),
    )


@theorem(
    topic=_TOPIC, title="Derivative of ELU", source="Clevert, Unterthiner, Hochreiter, Exponential Linear Units (2015)"
)
def deriv_elu() -> Claim:
    x = array("x", "")
    return Claim(
        partial(lm.elu(x), x),
        lm.where(lm.greater(x, 0), 1, lm.exp(x)),
        by=[expand("elu"), differentiate()],
        notes=["With α = 1, so that there is no kink: 1 where x > 0, e^x elsewhere."],
        numpy=_derivative_check("elu"),
    )


# ---------------------------------------------------------------------- gate and value
def _gated(gate: Array, value: Array, u: Array, v: Array, name: str) -> System:
    g = array("G", "n,f")
    y = define("y", gate * value)
    return System(
        lm.sum(g * y),
        [u, v],
        notes=["u is the gate's input, v the value that it multiplies; both come from linear maps of the same x."],
        numpy=SystemCheck(
            f"gated_activations.{name}", ("u", "v"), f"gated_activations.{name}_vjp", ("u", "v", "G"), cotangent="G"
        ),
    )


@theorem(
    topic=_TOPIC,
    title="Gradients of the gated linear unit",
    source="Dauphin et al., Language Modeling with Gated Convolutional Networks (2017), eq. (1)",
)
def vjp_glu() -> System:
    u, v = array("u", "n,f"), array("v", "n,f")
    return _gated(define("s", lm.sigmoid(u)), v, u, v, "glu")


@theorem(
    topic=_TOPIC,
    title="Gradients of SwiGLU",
    source="Shazeer, GLU Variants Improve Transformer (2020), eq. (5)",
)
def vjp_swiglu() -> System:
    u, v = array("u", "n,f"), array("v", "n,f")
    return _gated(define("s", lm.silu(u)), v, u, v, "swiglu")
