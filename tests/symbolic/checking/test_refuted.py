"""Wrong claims: each is refuted with a readable counterexample, and with what it lacks where that can be said."""

from __future__ import annotations

import json

import pytest
import sympy as sp

import lemmata.symbolic.language.vocabulary as v
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.hypotheses import equal
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, PartialDerivative
from lemmata.symbolic.language.sizes import size


def refuted(left, right, indices=(), hypotheses=(), **options):
    checked = check_equal(left, right, indices, hypotheses, **options)
    assert checked.equal is False, checked
    assert not checked
    assert checked.evidence[0].kind == "balls"
    assert not checked.evidence[0].passed
    return checked.counterexample


def test_elementwise_softmax_derivative(softmax):
    pi = softmax.p.element(softmax.i)
    found = refuted(softmax.jacobian, pi * (1 - pi), [softmax.i, softmax.k])
    assert found.residual == "the sides differ where i != k, and agree where i = k"
    assert found.index[0] != found.index[1]
    assert found.sizes == {"K": 2}
    assert float(found.left) == pytest.approx(-float(found.right))


def test_counterexample_is_plain_data_and_can_be_recomputed(softmax):
    found = refuted(softmax.gradient, softmax.p.element(softmax.k) + softmax.y.element(softmax.k), [softmax.k])
    inputs = json.loads(json.dumps(found.inputs))
    z, y = inputs["z"], inputs["y"]
    (k,) = found.index
    total = sum(sp.exp(sp.Rational(n)) for n in z)
    probability = sp.exp(sp.Rational(z[k])) / total
    assert float(found.left) == pytest.approx(float(probability * sum(y) - y[k]), rel=1e-15)
    assert float(found.right) == pytest.approx(float(probability + y[k]), rel=1e-15)


def test_missing_outer_product(softmax):
    right = softmax.p.element(softmax.i) * Delta(softmax.i, softmax.k)
    assert refuted(softmax.jacobian, right, [softmax.i, softmax.k]).residual == "the claim lacks the term -p_i*p_k"


@pytest.mark.parametrize(("right", "residual"), [
    (lambda s: s.p + s.y, "the claim has the opposite sign in the term"),
    (lambda s: s.y - s.p, "the claim has the opposite sign"),
    (lambda s: 2 * (s.p - s.y), "the claim is the left side times 2"),
    (lambda s: s.p * sp.Rational(3, 2) - s.y, "the term "),
    (lambda s: s.p, "the claim lacks the term -y_k"),
    (lambda s: s.p - s.y + 1, "the claim has the term 1 too much"),
    (lambda s: s.p * 0, "the claim is 0"),
])  # fmt: skip
def test_cross_entropy_gradient(softmax, right, residual):
    claim, given = right(softmax).element(softmax.k), [equal(v.sum(softmax.y), 1)]
    assert refuted(softmax.gradient, claim, [softmax.k], given).residual.startswith(residual)


def test_without_the_hypothesis_the_lacking_sum_is_named(softmax):
    found = refuted(softmax.gradient, softmax.p.element(softmax.k) - softmax.y.element(softmax.k), [softmax.k])
    assert found.residual.startswith("the claim lacks the factor sum(y) in the term")


@pytest.mark.parametrize(("scale", "residual"), [
    (size("N"), "the claim lacks the factor 1/N"),
    (1 / size("N"), "the claim has the factor 1/N too much"),
    (size("N") / size("K"), "the claim has the factor N/K too much"),
    (-1 / sp.sqrt(size("K")), "the claim has the factor 1/sqrt(K) too much and has the opposite sign"),
])  # fmt: skip
def test_factors_of_sizes(scale, residual):
    z, y = array("z", "N,K"), array("y", "N,K", "simplex")
    p, n, k = v.softmax(z), index("n", "N"), index("k", "K")
    loss = -v.sum(y * v.log(p)) / size("N")
    left = PartialDerivative(loss.body, z.element(n, k))
    found = refuted(left, (p - y).element(n, k) / size("N") * scale, [n, k])
    assert found.residual == residual
    assert len(set(found.sizes.values())) == 2


def test_swapped_divergence(softmax):
    q = array("q", "K", "simplex")
    left = PartialDerivative(v.sum(q * v.log(q / softmax.p)).body, softmax.z.element(softmax.k))
    ratio = v.log(softmax.p / q)
    swapped = softmax.p * (ratio - v.sum(softmax.p * ratio))
    refuted(left, swapped.element(softmax.k), [softmax.k])
    other = PartialDerivative(v.sum(softmax.p * ratio).body, softmax.z.element(softmax.k))
    assert check_equal(other, swapped.element(softmax.k), [softmax.k]).equal is True


def test_transposed():
    m, i, k = array("M", "n,n"), index("i", "n"), index("k", "n")
    found = refuted(m.element(i, k), m.element(k, i), [i, k])
    assert found.residual == "the claim is the transpose: i and k are exchanged"


def test_softmax_over_the_wrong_axis():
    z, n, k = array("z", "N,K"), index("n", "N"), index("k", "K")
    refuted(v.softmax(z, axis=1).element(n, k), v.softmax(z, axis=0).element(n, k), [n, k])


def test_strict_mask_against_a_mask_with_the_diagonal():
    from lemmata.symbolic.language.nodes import IndexSum, Indicator

    z, i, j = array("z", "K"), index("i", "K"), index("j", "K")
    left = IndexSum(Indicator(sp.Le(j, i)) * z.element(j), j)
    strict = IndexSum(Indicator(sp.Lt(j, i)) * z.element(j), j)
    assert refuted(left, strict, [i]).residual == "the claim lacks the term z_i"


def test_a_value_on_one_side_only():
    u = array("u", "", "(-inf,0)")
    found = refuted(u.body, v.log(u).body)
    assert found.right.startswith("undefined (log at")
    assert found.residual == "one side has no value here"


def test_a_difference_far_below_float64_is_seen():
    u = array("u", "")
    refuted(u.body, u.body + sp.Rational(1, 10**24))


def test_fixed_sizes_are_kept():
    z, k = array("z", "3"), index("k", 3)
    assert refuted(v.mean(z).body + z.element(k) * 0, v.sum(z).body / 2).sizes == {}
    a, n = array("a", "n"), size("n")
    assert refuted(v.sum(a).body, v.mean(a).body, sizes={n: 7}).sizes == {"n": 7}
