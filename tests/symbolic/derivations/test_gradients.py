"""Gradient, Jacobian, VJP, JVP and Hessian of the same functions agree; a missing hypothesis shows in the answer."""

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.derivations import gradients
from lemmata.symbolic.derivations.replay import check_chain, replay
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.errors import ShapeError, UnsupportedError
from lemmata.symbolic.language.hypotheses import equal as given_equal
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, IndexSum, PartialDerivative, replace

z, y, x, A = array("z", "K"), array("y", "K"), array("x", "m"), array("A", "n,m")
p = v.softmax(z)
VECTORS = {
    "softmax": (p, z),
    "log_softmax": (v.log_softmax(z), z),
    "matrix times vector": (v.tanh(A @ x), x),
    "elementwise": (v.sigmoid(z) * y, z),
    "rows": (v.softmax(A, axis=1), A),
}
SCALARS = {
    "cross-entropy": (-v.sum(y * v.log(p)), z),
    "logsumexp": (v.logsumexp(z), z),
    "quadratic": (v.sum((A @ x) ** 2), x),
    "of a matrix": (v.sum(v.exp(A @ x)), A),
}


def same(left, right) -> bool:
    return equal(left, right).equal


def at(derivation, *indices):
    """The result at given indices."""
    return replace(derivation.right, dict(zip(derivation.indices, indices, strict=True)))


def letters(array_):
    return tuple(i.fresh("q") for i in array_.indices)


def summed(body, indices):
    for i in reversed(indices):
        body = IndexSum(body, i)
    return body


# ---------- products with the Jacobian
@pytest.mark.parametrize("name", VECTORS)
def test_vjp_and_jvp_are_products_with_the_jacobian(name):
    value, wrt = VECTORS[name]
    jacobian = gradients.jacobian(value, wrt)
    assert len(jacobian.indices) == value.ndim + wrt.ndim
    out, inp = letters(value), letters(wrt)
    g, t = array("g", value.shape), array("v", wrt.shape)
    assert same(at(gradients.vjp(value, wrt), *inp), summed(g.element(*out) * at(jacobian, *out, *inp), out))
    assert same(at(gradients.jvp(value, wrt), *out), summed(t.element(*inp) * at(jacobian, *out, *inp), inp))
    wrong = summed(t.element(*inp) * at(jacobian, *out, *inp) * sp.Rational(10009, 10000), inp)
    assert not same(at(gradients.jvp(value, wrt), *out), wrong)


@pytest.mark.parametrize("name", SCALARS)
def test_hessian_is_the_jacobian_of_the_gradient(name):
    value, wrt = SCALARS[name]
    gradient, hessian = gradients.gradient(value, wrt), gradients.hessian(value, wrt)
    one, two = letters(wrt), letters(wrt)
    second = PartialDerivative(at(gradient, *one), wrt.element(*two))
    assert same(at(hessian, *one, *two), second)
    assert same(at(hessian, *one, *two), at(hessian, *two, *one))  # symmetric
    assert not same(-at(hessian, *one, *two), second)


@pytest.mark.parametrize("name", [*VECTORS, *SCALARS])
def test_every_kind_is_proved_and_its_chain_holds(name):
    kinds = (gradients.jacobian, gradients.vjp, gradients.jvp) if name in VECTORS else (gradients.gradient,)
    value, wrt = (VECTORS | SCALARS)[name]
    for kind in kinds:
        d = kind(value, wrt)
        check_chain(d)
        verdict = replay(d)
        assert verdict.verdict == "proved", (kind.__name__, verdict.reason, verdict.evidence)
        assert {"canonical", "balls"} <= {e.kind for e in verdict.evidence}
        assert not d.right.has(PartialDerivative)


def test_own_cotangents_and_tangents():
    own = array("w", "K")
    assert "w" in str(gradients.vjp(p, z, own).right)
    assert same(at(gradients.vjp(p, z, v.ones("K") + 0 * z), *z.indices), 0)  # p sums to one
    with pytest.raises(ShapeError, match=r"cotangent has shape \(n,\), but the shape \(K,\)"):
        gradients.vjp(p, z, array("g", "n"))
    with pytest.raises(ShapeError, match=r"tangent has shape \(n,\)"):
        gradients.jvp(p, z, array("g", "n"))


def test_output_indices_come_first():
    jacobian = gradients.jacobian(v.log_softmax(z), z)  # δ_ik - p_k is not symmetric
    i, k = index("i", "K"), index("k", "K")
    assert same(at(jacobian, i, k), Delta(i, k) - p.element(k))
    assert not same(at(jacobian, i, k), Delta(i, k) - p.element(i))


# ---------- hypotheses
LOSS = -v.sum(y * v.log(p))
K_ = index("k", "K")


def test_without_the_hypothesis_the_sum_of_the_targets_stays():
    d = gradients.gradient(LOSS, z)
    assert same(at(d, K_), p.element(K_) * v.sum(y).body - y.element(K_))
    assert not same(at(d, K_), p.element(K_) - y.element(K_))
    assert replay(d).verdict == "proved"


def test_with_the_hypothesis_it_is_p_minus_y():
    d = gradients.gradient(LOSS, z, [given_equal(v.sum(y), 1)])
    assert at(d, K_) == p.element(K_) - y.element(K_)
    assert "use_hypothesis" in [s.rule for s in d.steps]
    assert replay(d).verdict == "proved"


def test_a_zero_row_of_targets_gives_zero():
    d = gradients.gradient(LOSS, z)
    explicit = at_sizes(d.right, d.indices, K=3)
    zero = {sp.Symbol(f"y_{c}", real=True): 0 for c in range(3)}
    assert [e.subs(zero) for e in explicit] == [0, 0, 0]


def test_a_hypothesis_is_used_along_its_own_axis_only():
    Z, Y = array("Z", "n,K"), array("Y", "n,K")
    batch = -v.mean(v.sum(Y * v.log(v.softmax(Z)), axis=1))
    q, n = v.softmax(Z), Z.shape[0]
    rows = gradients.gradient(batch, Z, [given_equal(v.sum(Y, axis=1), 1)])
    a, b = letters(Z)
    assert same(at(rows, a, b), (q.element(a, b) - Y.element(a, b)) / n)
    columns = gradients.gradient(batch, Z, [given_equal(v.sum(Y, axis=0), 1)])
    assert same(at(columns, a, b), (q.element(a, b) * v.sum(Y, axis=1).element(a) - Y.element(a, b)) / n)
    assert not any(s.rule == "use_hypothesis" for s in columns.steps)
    assert replay(rows).verdict == replay(columns).verdict == "proved"


def test_a_square_batch_does_not_hide_the_axis():
    Z, Y = array("Z", "n,n"), array("Y", "n,n")
    batch = -v.sum(Y * v.log(v.softmax(Z, axis=1)))
    wrong_axis = gradients.gradient(batch, Z, [given_equal(v.sum(Y, axis=0), 1)])
    a, b = letters(Z)
    q = v.softmax(Z, axis=1)
    assert same(at(wrong_axis, a, b), q.element(a, b) * v.sum(Y, axis=1).element(a) - Y.element(a, b))
    assert not same(at(wrong_axis, a, b), q.element(a, b) - Y.element(a, b))


# ---------- named intermediates, kinks, refusals
HIDDEN = define("h", A @ x)
BY_NAME = {"probabilities": (LOSS, p, -y / p), "hidden layer": (v.sum(HIDDEN * HIDDEN), HIDDEN, 2 * HIDDEN)}


@pytest.mark.parametrize("name", BY_NAME)
def test_gradient_by_a_named_intermediate(name):
    value, wrt, expected = BY_NAME[name]
    d = gradients.gradient(value, wrt)
    own = letters(wrt)
    assert same(at(d, *own), expected.element(*own))


def test_kinks_are_noted():
    assert gradients.gradient(v.sum(v.relu(z)), z).notes == ("relu: derivative 0 at 0",)
    assert gradients.gradient(v.sum(v.absolute(z) * y), z).notes == ("abs: sign(0) = 0",)
    assert gradients.gradient(v.sum(v.tanh(z)), z).notes == ()


@pytest.mark.parametrize("function", [v.relu, v.absolute, v.elu], ids=["relu", "abs", "elu"])
def test_a_summed_function_with_a_kink_is_proved(function):
    assert replay(gradients.gradient(v.sum(function(z)), z)).verdict == "proved"


@pytest.mark.parametrize(("call", "kind", "message"), [
    (lambda: gradients.gradient(p, z), ShapeError, r"this has shape \(K,\)"),
    (lambda: gradients.hessian(p, z), ShapeError, r"Hessian is of a scalar"),
    (lambda: gradients.gradient(LOSS, array("w", "K")), UnsupportedError, r"w does not occur.*y, z"),
    (lambda: gradients.gradient(LOSS, array("z", "n")), UnsupportedError, r"z does not occur"),
    (lambda: gradients.gradient(LOSS, z * 2), ShapeError, r"expected a declared array"),
])  # fmt: skip
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_one_class():
    one, target = array("z", "1"), array("y", "1")
    d = gradients.gradient(-v.sum(target * v.log(v.softmax(one))), one)
    assert sp.simplify(at_sizes(d.right, d.indices)[0]) == 0


def test_numeric_sizes():
    three = array("z", "3")
    d3 = gradients.gradient(v.logsumexp(three), three)
    values = at_sizes(d3.right, d3.indices)
    numbers = {s: q for q, s in enumerate(sorted({s for e in values for s in e.free_symbols}, key=str))}
    expected = np.exp([0.0, 1, 2]) / np.exp([0.0, 1, 2]).sum()
    np.testing.assert_allclose([float(e.subs(numbers)) for e in values], expected, rtol=1e-14)
