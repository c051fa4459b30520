"""Softmax, log-softmax and log-sum-exp: values, shifts, Jacobians, products with the Jacobian, temperature.

The elementwise relatives (sigmoid, softplus) are in `activations`, the losses on top in `cross_entropy` and
`binary_cross_entropy`. A Jacobian has its output indices first: row i, column k is ∂p_i/∂z_k. The theorems about rows
put softmax along the last axis of an N × K array.
"""

from __future__ import annotations

from ..derivations.tactics import contract, differentiate, fold, partial, to, unfold
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array, define

_GBC = "Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2.3"
_BRIDLE = (
    "Bridle, Training stochastic model recognition algorithms as networks can lead to maximum mutual information (1990)"
)
_BHH = "Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions (2021)"
_BOYD = "Boyd, Vandenberghe, Convex Optimization (2004), section 3.1.5"
_HINTON = "Hinton, Vinyals, Dean, Distilling the knowledge in a neural network (2015), eq. (1)"
_LARGEST = "m is the largest logit, so no exponential exceeds 1: this is the form that code computes."


def _covariance(p: Array) -> Array:
    """diag(p) - p pᵀ, the Jacobian of softmax."""
    return lm.diag(p) - lm.outer(p, p)


def _row_covariance(p: Array) -> Array:
    """δ_nm (δ_ik p_ni - p_ni p_nk) with axes n, i, m, k: one covariance a row, and nothing between rows."""
    n, k = p.shape
    same_row, same_class = lm.eye(n)[:, None, :, None], lm.eye(k)[None, :, None, :]
    output, column = p[:, :, None, None], p[:, None, None, :]
    return same_row * (same_class * output - output * column)


# ---------------------------------------------------------------------- values
@theorem(topic="softmax", title="Softmax sums to one", source=f"{_GBC}, eq. (6.29)")
def sum_softmax() -> Claim:
    z = array("z", "K")
    return Claim(lm.sum(lm.softmax(z)), 1)


@theorem(topic="softmax", title="Softmax of every row sums to one", source=f"{_GBC}, eq. (6.29)")
def sum_softmax_rows() -> Claim:
    z = array("z", "N,K")
    return Claim(lm.sum(lm.softmax(z), axis=1), lm.ones("N"), letters="n", notes=["Softmax along the last axis."])


@theorem(topic="softmax", title="Softmax ignores a constant added to every logit", source=_GBC)
def softmax_add_const() -> Claim:
    z, c = array("z", "K"), array("c", "")
    return Claim(lm.softmax(z + c, name="q"), lm.softmax(z), numpy=NumericCheck("softmax.softmax", arguments=("z",)))


@theorem(topic="softmax", title="Softmax ignores a constant added to a row", source=_GBC)
def softmax_add_const_rows() -> Claim:
    z, c = array("z", "N,K"), array("c", "N")
    return Claim(
        lm.softmax(z + c[:, None], name="q"),
        lm.softmax(z),
        letters="nk",
        notes=["Softmax along the last axis; each row has a constant of its own."],
        numpy=NumericCheck("softmax.softmax", arguments=("z",)),
    )


@theorem(topic="softmax", title="Softmax with the largest logit subtracted", source=_BHH)
def softmax_eq_stable() -> Claim:
    z = array("z", "K")
    m = define("m", lm.max(z), origin="max")
    powers = lm.exp(z - m)
    return Claim(
        lm.softmax(z),
        powers / lm.sum(powers),
        by=[to(lm.softmax(z - m, name="q"), "softmax_add_const", "softmax ignores the shift by -m"), unfold("q")],
        notes=[_LARGEST],
        numpy=NumericCheck("softmax.softmax", arguments=("z",)),
    )


@theorem(topic="softmax", title="The logarithm of softmax", source=f"{_GBC}, eq. (6.30)")
def log_softmax_eq_sub_logsumexp() -> Claim:
    z = array("z", "K")
    return Claim(
        lm.log(lm.softmax(z)), z - lm.logsumexp(z), numpy=NumericCheck("softmax.log_softmax", arguments=("z",))
    )


@theorem(topic="softmax", title="Two-class softmax is a sigmoid", source=_GBC)
def softmax_two_eq_sigmoid() -> Claim:
    z = array("z", "2")
    e = lm.exp(z)
    return Claim(
        lm.softmax(z)[1],
        lm.sigmoid(z[1] - z[0]),
        by=[
            unfold(),
            to(e[1] / (e[0] + e[1]), "collect", "the sum has two terms"),
            to(1 / (1 + lm.exp(-(z[1] - z[0]))), "collect", "divide above and below by the numerator"),
            to(lm.sigmoid(z[1] - z[0]), "fold", "definition of sigmoid"),
        ],
        notes=["Classes are counted from 0; class 1 is the positive one."],
        numpy=NumericCheck("activations.sigmoid", arguments=(z[1] - z[0],)),
    )


# ---------------------------------------------------------------------- Jacobian
@theorem(topic="softmax", title="Jacobian of softmax", source=_BRIDLE)
def deriv_softmax() -> Claim:
    z = array("z", "K")
    p = lm.softmax(z)
    return Claim(
        partial(p, z),
        _covariance(p),
        by=[unfold(), differentiate(), contract(), fold()],
        notes=["The matrix diag(p) − p pᵀ is symmetric, so it is its own transpose."],
        numpy=NumericCheck("softmax.softmax_jacobian", primal="softmax.softmax", arguments=("z",)),
    )


@theorem(topic="softmax", title="Jacobian of softmax, row by row", source=_BRIDLE)
def deriv_softmax_rows() -> Claim:
    z = array("z", "N,K")
    p = lm.softmax(z)
    return Claim(
        partial(p, z),
        _row_covariance(p),
        by=[unfold(), differentiate(), contract(), fold()],
        letters="nimk",
        notes=["Softmax along the last axis, so rows do not mix: the factor δ_nm."],
        numpy=NumericCheck("softmax.softmax_rows_jacobian", primal="softmax.softmax", arguments=("z",)),
    )


@theorem(topic="softmax", title="Rows of the softmax Jacobian sum to zero", source=_BRIDLE)
def jacobian_softmax_mul_one() -> Claim:
    z = array("z", "K")
    p = lm.softmax(z)
    return Claim(
        partial(p, z) @ lm.ones("K"),
        lm.zeros("K"),
        by=[
            to(_covariance(p) @ lm.ones("K"), "deriv_softmax", "Jacobian of softmax"),
            contract(),
            to(lm.zeros("K"), "sum_softmax", "softmax sums to one"),
        ],
        notes=["A shift of all logits changes nothing, so the vector of ones is in the null space."],
    )


@theorem(topic="softmax", title="Vector-Jacobian product of softmax", source=_BRIDLE)
def vjp_softmax() -> Claim:
    z, g = array("z", "K"), array("g", "K")
    p = lm.softmax(z)
    return Claim(
        g @ partial(p, z),
        p * (g - lm.sum(p * g)),
        by=[to(g @ _covariance(p), "deriv_softmax", "Jacobian of softmax"), contract()],
        notes=["g is the cotangent, ∂L/∂p."],
        numpy=NumericCheck("softmax.softmax_vjp", arguments=("z", "g")),
    )


@theorem(topic="softmax", title="Vector-Jacobian product of softmax, row by row", source=_BRIDLE)
def vjp_softmax_rows() -> Claim:
    z, g = array("z", "N,K"), array("g", "N,K")
    p = lm.softmax(z)
    return Claim(
        lm.einsum("ni,nimk->mk", g, partial(p, z)),
        p * (g - lm.sum(p * g, axis=1, keepdims=True)),
        letters="nk",
        by=[
            to(
                lm.einsum("ni,nimk->mk", g, _row_covariance(p)), "deriv_softmax_rows", "Jacobian of softmax, row by row"
            ),
            contract(),
        ],
        notes=["Softmax along the last axis; g is the cotangent, ∂L/∂p."],
        numpy=NumericCheck("softmax.softmax_vjp", arguments=("z", "g")),
    )


@theorem(topic="softmax", title="Jacobian-vector product of softmax", source=_BRIDLE)
def jvp_softmax() -> Claim:
    z, t = array("z", "K"), array("t", "K")
    p = lm.softmax(z)
    return Claim(
        partial(p, z) @ t,
        p * (t - lm.sum(p * t)),
        by=[to(_covariance(p) @ t, "deriv_softmax", "Jacobian of softmax"), contract()],
        notes=["t is the tangent of z; the Jacobian is symmetric, so this has the form of the VJP."],
        numpy=NumericCheck("softmax.softmax_jvp", arguments=("z", "t")),
    )


@theorem(topic="softmax", title="Jacobian-vector product of softmax, row by row", source=_BRIDLE)
def jvp_softmax_rows() -> Claim:
    z, t = array("z", "N,K"), array("t", "N,K")
    p = lm.softmax(z)
    return Claim(
        lm.einsum("nimk,mk->ni", partial(p, z), t),
        p * (t - lm.sum(p * t, axis=1, keepdims=True)),
        letters="nk",
        by=[
            to(
                lm.einsum("nimk,mk->ni", _row_covariance(p), t), "deriv_softmax_rows", "Jacobian of softmax, row by row"
            ),
            contract(),
        ],
        notes=["Softmax along the last axis; t is the tangent of z."],
        numpy=NumericCheck("softmax.softmax_jvp", arguments=("z", "t")),
    )


# ---------------------------------------------------------------------- temperature
@theorem(topic="softmax", title="Jacobian of softmax with temperature", source=_HINTON)
def deriv_softmax_div_temperature() -> Claim:
    z, tau = array("z", "K"), array("tau", "", "positive")
    p = lm.softmax(z / tau)
    return Claim(
        partial(p, z),
        _covariance(p) / tau,
        by=[unfold(), differentiate(), contract(), fold()],
        notes=["By the logits z, at temperature τ."],
        numpy=NumericCheck(
            "softmax.softmax_jacobian",
            primal="softmax.softmax",
            arguments=("z",),
            variable="z",
            options={"temperature": "tau"},
            primal_options={"temperature": "tau"},
        ),
    )


@theorem(topic="softmax", title="Derivative of softmax by the temperature", source=_HINTON)
def deriv_softmax_temperature() -> Claim:
    z, tau = array("z", "K"), array("tau", "", "positive")
    p = lm.softmax(z / tau)
    return Claim(
        partial(p, tau),
        -p * (z - lm.sum(p * z)) / tau**2,
        by=[unfold(), differentiate(), contract(), to(-p * (z - lm.sum(p * z)) / tau**2, "fold", "this is p again")],
        notes=["By the temperature τ itself, not by its inverse."],
        numpy=NumericCheck(
            "softmax.softmax_temperature_derivative",
            primal="softmax.softmax",
            arguments=("z",),
            variable="tau",
            options={"temperature": "tau"},
            primal_options={"temperature": "tau"},
        ),
    )


# ---------------------------------------------------------------------- log-softmax and log-sum-exp
@theorem(topic="softmax", title="Jacobian of log-softmax", source=_GBC)
def deriv_log_softmax() -> Claim:
    z = array("z", "K")
    return Claim(
        partial(lm.log_softmax(z), z),
        lm.eye("K") - lm.softmax(z),
        notes=["Row i, column k is δ_ik − p_k: the column's probability, so this matrix is not symmetric."],
        numpy=NumericCheck("softmax.log_softmax_jacobian", primal="softmax.log_softmax", arguments=("z",)),
    )


@theorem(topic="softmax", title="Log-sum-exp of shifted logits", source=_BHH)
def logsumexp_add_const() -> Claim:
    z, c = array("z", "K"), array("c", "")
    return Claim(
        lm.logsumexp(z + c), lm.logsumexp(z) + c, by=[contract(), to(lm.logsumexp(z) + c, "log_mul_of_pos")],
        numpy=NumericCheck("softmax.logsumexp", arguments=(z + c,)),
    )


@theorem(topic="softmax", title="Log-sum-exp with the largest logit subtracted", source=_BHH)
def logsumexp_eq_stable() -> Claim:
    z = array("z", "K")
    m = define("m", lm.max(z), origin="max")
    return Claim(
        lm.logsumexp(z),
        m + lm.log(lm.sum(lm.exp(z - m))),
        by=[to(lm.logsumexp(z - m) + m, "logsumexp_add_const", "shift the logits by -m")],
        notes=[_LARGEST],
        numpy=NumericCheck("softmax.logsumexp", arguments=("z",)),
    )


@theorem(topic="softmax", title="Gradient of log-sum-exp", source=_BOYD)
def deriv_logsumexp() -> Claim:
    z = array("z", "K")
    return Claim(
        partial(lm.logsumexp(z), z),
        lm.softmax(z),
        numpy=NumericCheck("softmax.logsumexp_gradient", primal="softmax.logsumexp", arguments=("z",)),
    )


@theorem(topic="softmax", title="Derivative of log-sum-exp, row by row", source=_BOYD)
def deriv_logsumexp_rows() -> Claim:
    z = array("z", "N,K")
    return Claim(
        partial(lm.logsumexp(z, axis=1), z),
        lm.eye("N")[:, :, None] * lm.softmax(z)[:, None, :],
        letters="nmk",
        notes=["Log-sum-exp along the last axis, so rows do not mix: the factor δ_nm."],
        numpy=NumericCheck("softmax.logsumexp_rows_gradient", primal="softmax.logsumexp", arguments=("z",)),
    )


@theorem(topic="softmax", title="Hessian of log-sum-exp", source=_BOYD)
def hessian_logsumexp() -> Claim:
    z = array("z", "K")
    p = lm.softmax(z)
    return Claim(
        partial(partial(lm.logsumexp(z), z), z),
        _covariance(p),
        by=[
            to(partial(p, z), "deriv_logsumexp", "the gradient of log-sum-exp is softmax"),
            to(_covariance(p), "deriv_softmax", "Jacobian of softmax"),
        ],
        numpy=NumericCheck("softmax.logsumexp_hessian", primal="softmax.logsumexp", arguments=("z",)),
    )
