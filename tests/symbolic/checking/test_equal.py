"""Identities that hold: the second path must say so, exactly where it can, and say what it did."""

from __future__ import annotations

import time

import pytest
import sympy as sp

import lemmata.symbolic.language.vocabulary as v
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.checking.exactly import decide
from lemmata.symbolic.checking.sizes import bindings
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.hypotheses import equal, positive
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    DefinedTensor,
    Delta,
    Element,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    tensors,
)
from lemmata.symbolic.language.sizes import size

z, y, w = array("z", "K"), array("y", "K"), array("w", "K")
c, u = array("c", ""), array("u", "")
t, eps = array("t", "", "(0,1)"), array("eps", "", "positive")
simplex = array("q", "K", "simplex")
i, j, k = index("i", "K"), index("j", "K"), index("k", "K")
p = v.softmax(z)


def kinds(checked):
    return [e.kind for e in checked.evidence]


def proved(left, right, indices=(), hypotheses=(), **options):
    """Equal, with exact evidence and balls."""
    checked = check_equal(left, right, indices, hypotheses, **options)
    assert checked.equal is True, checked
    assert kinds(checked)[:2] == ["exact", "balls"], checked
    assert all(e.passed for e in checked.evidence)
    return checked


def test_softmax_jacobian_says_what_was_done(softmax):
    checked = proved(softmax.jacobian, softmax.right, [softmax.i, softmax.k], variable=softmax.z.element(softmax.k))
    exact, balls, dependence = checked.evidence
    assert "exact at K=2" in exact.detail
    assert "exact at K=3" in exact.detail
    assert "rational functions of 4 atoms" in exact.detail
    assert "exp(z_0)" in exact.detail
    assert "K=1" in balls.detail
    assert "128 bits" in balls.detail
    assert "seed 0" in balls.detail
    assert dependence.passed
    assert "changes with z" in dependence.detail


def test_same_input_same_answer(softmax):
    def texts():
        checked = check_equal(softmax.jacobian, softmax.right, [softmax.i, softmax.k], seed=7)
        return [(e.kind, e.detail) for e in checked.evidence]

    assert texts() == texts()


def test_cross_entropy_gradient_for_any_labels(softmax):
    right = softmax.p.element(softmax.k) * v.sum(softmax.y).body - softmax.y.element(softmax.k)
    proved(softmax.gradient, right, [softmax.k], variable=softmax.z.element(softmax.k))


def test_cross_entropy_gradient_needs_its_hypothesis(softmax):
    right = softmax.p.element(softmax.k) - softmax.y.element(softmax.k)
    proved(softmax.gradient, right, [softmax.k], [equal(v.sum(softmax.y), 1)])
    assert check_equal(softmax.gradient, right, [softmax.k]).equal is False


def test_hessian_by_nested_duals(softmax):
    lse = v.logsumexp(softmax.z).body
    hessian = PartialDerivative(PartialDerivative(lse, softmax.z.element(softmax.i)), softmax.z.element(softmax.k))
    proved(hessian, softmax.right, [softmax.i, softmax.k])


def test_a_defined_tensor_as_the_variable_is_independent(softmax):
    by_probability = PartialDerivative(softmax.ce.body, softmax.p.element(softmax.k))
    proved(by_probability, (-softmax.y / softmax.p).element(softmax.k), [softmax.k], variable=by_probability.variable)


IDENTITIES = {
    "softmax sums to one": (v.sum(p).body, sp.S.One),
    "softmax of shifted logits": (v.softmax(z + c).element(i), p.element(i)),
    "softmax with the maximum subtracted": (
        p.element(i), (v.exp(z - v.max(z)) / v.sum(v.exp(z - v.max(z)))).element(i)),
    "logsumexp of shifted logits": (v.logsumexp(z + c).body, (v.logsumexp(z) + c).body),
    "log softmax": (v.log(p).element(i), v.log_softmax(z).element(i)),
    "cross-entropy as entropy and divergence": (
        (-v.sum(simplex * v.log(p))).body,
        (-v.sum(simplex * v.log(simplex)) + v.sum(simplex * v.log(simplex / p))).body),
    "divergence by logits": (
        v.sum(simplex * v.log(simplex / p)).body,
        (v.sum(simplex * v.log(simplex)) - v.sum(simplex * z) + v.logsumexp(z)).body),
    "sigmoid of the negative": (v.sigmoid(-u).body, (1 - v.sigmoid(u)).body),
    "derivative of sigmoid": (
        PartialDerivative(v.sigmoid(u).body, u.body), (v.sigmoid(u) * (1 - v.sigmoid(u))).body),
    "derivative of softplus": (PartialDerivative(v.softplus(u).body, u.body), v.sigmoid(u).body),
    "stable binary cross-entropy": (
        v.softplus(u).body, (v.maximum(u, 0) + v.log(1 + v.exp(-v.absolute(u)))).body),
    "abs by relu": (v.absolute(u).body, (v.relu(u) + v.relu(-u)).body),
    "derivative of gelu": (
        PartialDerivative(v.gelu(u).body, u.body),
        (1 + sp.erf(u.body / sp.sqrt(2))) / 2 + u.body * sp.exp(-u.body**2 / 2) / sp.sqrt(2 * sp.pi)),
    "derivative of mish": (
        PartialDerivative(v.mish(u).body, u.body),
        (v.tanh(v.softplus(u)) + u * (1 - v.tanh(v.softplus(u)) ** 2) * v.sigmoid(u)).body),
    "tanh by sigmoid": (v.tanh(u).body, (2 * v.sigmoid(2 * u) - 1).body),
    "sine a quarter turn on": (v.sin(u + sp.pi / 2).body, v.cos(u).body),
    "angle addition": (
        v.sin(u + 2 * c).body, (v.sin(u) * v.cos(2 * c) + v.cos(u) * v.sin(c) * v.cos(c) * 2).body),
    "half exponents": ((v.exp(u / 2) * v.exp(u)).body, (v.exp(u) ** sp.Rational(3, 2)).body),
    "power by logarithm": (eps.body ** u.body, v.exp(u * v.log(eps)).body),
    "root of a product": (v.sqrt(eps * v.exp(u)).body, (v.sqrt(eps) * v.exp(u / 2)).body),
    "numeric roots": (v.sqrt(8 * eps).body, (2 * sp.sqrt(2) * v.sqrt(eps)).body),
    "partial fractions": ((1 / (t * (1 - t))).body, (1 / t + 1 / (1 - t)).body),
    "inverse functions": (sp.atanh(t.body), v.log((1 + t) / (1 - t)).body / 2),
    "sum of a square": (
        (v.sum(z) ** 2).body, IndexSum(IndexSum(z.element(i) * z.element(j), i), j)),
    "product of exponentials": (IndexProduct(v.exp(z).element(i), i), v.exp(v.sum(z)).body),
    "delta under a sum": (IndexSum(Delta(i, k) * z.element(i) * w.element(k), i), z.element(k) * w.element(k)),
    "sum of indices": (IndexSum(i, i), size("K") * (size("K") - 1) / 2),
    "geometric sum": (IndexSum(t.body**i, i) * (1 - t.body), 1 - t.body ** size("K")),
    "mask below the diagonal": (
        IndexSum(Indicator(sp.Le(j, i)) * z.element(j), j) + IndexSum(Indicator(sp.Gt(j, i)) * z.element(j), j),
        v.sum(z).body),
    "derivative of the maximum": (
        PartialDerivative(v.max(z).body, z.element(k)), ArgMaxIndicator(z.element(i), i, k)),
    "derivative of a cumulative sum": (
        PartialDerivative(IndexSum(Indicator(sp.Le(j, i)) * z.element(j), j), z.element(k)), Indicator(sp.Le(k, i))),
}  # fmt: skip


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity(name):
    left, right = IDENTITIES[name]
    proved(left, right, [n for n in (i, k) if left.has(n) or right.has(n)])


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity_scaled_a_little_is_refuted(name):
    left, right = IDENTITIES[name]
    checked = check_equal(left, right * sp.Rational(10009, 10000), [n for n in (i, k) if left.has(n) or right.has(n)])
    assert checked.equal is False
    assert checked.counterexample.residual == "the claim is the left side times 10009/10000"


@pytest.mark.parametrize("name", IDENTITIES)
def test_the_exact_part_alone_sees_the_change(name):
    left, right = IDENTITIES[name]
    free = [n for n in (i, k) if left.has(n) or right.has(n)]
    declared = tuple(a for a in tensors([left, right]) if not isinstance(a, DefinedTensor))
    usual = [binding for binding, _ in zip(bindings([left, right, *free]), range(2), strict=False)]

    def proved_exactly(claim):
        return decide(left, claim, free, (), declared, usual, "0", time.thread_time() + 2).proved

    assert proved_exactly(right)
    assert not proved_exactly(right * sp.Rational(10009, 10000))
    assert not proved_exactly(-right)


def test_capture_of_letters_does_not_matter():
    # z_i times a sum over j of z_j, with every letter the other way round as well.
    left = IndexSum(z.element(j) * z.element(i), j)
    proved(left, z.element(i) * IndexSum(z.element(k), k), [i])
    assert check_equal(left, IndexSum(z.element(i) ** 2, i), [i]).equal is False
    assert check_equal(IndexSum(left, i), (v.sum(z) ** 2).body).equal is True


def test_hard_labels_are_drawn_and_said_so():
    labels, logits = array("l", "N", "index<K"), array("z", "N,K")
    n = index("n", "N")
    rows = v.softmax(logits, name="P")
    loss = -v.sum(v.one_hot(labels, "K") * v.log(rows)) / size("N")
    left = PartialDerivative(loss.body, logits.element(n, k))
    right = ((rows - v.one_hot(labels, "K")) / size("N")).element(n, k)
    assert "l drawn" in proved(left, right, [n, k]).evidence[0].detail
    picked = Element(tensors([logits.body])[0], n, labels.element(n))
    assert check_equal(picked, v.sum(v.one_hot(labels, "K") * logits, axis=1).element(n), [n]).equal is True


@pytest.mark.parametrize(("domain", "left", "right"), [
    ("onehot", lambda a: v.sum(a * a).body, lambda a: sp.S.One),
    ("simplex", lambda a: v.sum(a).body, lambda a: sp.S.One),
    ("binary", lambda a: v.sum(a**3 - a).body, lambda a: sp.S.Zero),
    ("pm1", lambda a: v.sum(a * a).body, lambda a: size("K")),
])  # fmt: skip
def test_domains_hold_by_construction(domain, left, right):
    a = array("a", "K", domain)
    assert check_equal(left(a), right(a)).equal is True
    assert check_equal(left(a), right(a) + 1).equal is False


def test_symmetric_matrix_and_its_transpose():
    x, n = array("x", "n"), index("n", "n")
    for domain, expected in (("symmetric", True), ("real", False)):
        m = array("W", "n,n", domain)
        left = PartialDerivative(v.matmul(x, v.matmul(m, x)).body, x.element(n))
        assert check_equal(left, (2 * v.matmul(m, x)).element(n), [n]).equal is expected


def test_hypothesis_with_a_condition():
    a, b = array("a", ""), array("b", "")
    left, right = v.absolute(a - b).body, (a - b).body
    assert check_equal(left, right, (), [positive(a - b)]).equal is True
    assert check_equal(left, right, (), [positive(b - a)]).equal is False


def test_a_hypothesis_that_cannot_hold_gives_no_answer():
    checked = check_equal(z.element(i), z.element(i), [i], [positive(-(z**2) - 1)])
    assert checked.equal is None
    assert "no point was found" in checked.reason


def test_layer_norm_backward_with_rows():
    x, upstream = array("x", "N,D"), array("w", "N,D")
    scale = 1 / v.sqrt(v.var(x, 1, True) + eps)
    normal = v.define("xh", (x - v.mean(x, 1, True)) * scale)
    n, d = index("n", "N"), index("d", "D")
    left = PartialDerivative(v.sum(upstream * normal).body, x.element(n, d))
    right = scale * (upstream - v.mean(upstream, 1, True) - normal * v.mean(upstream * normal, 1, True))
    proved(left, right.element(n, d), [n, d], variable=left.variable)
    assert check_equal(left, (scale * (upstream - v.mean(upstream, 1, True))).element(n, d), [n, d]).equal is False


def test_attention_falls_back_to_balls_and_says_so():
    q, keys, values, upstream = array("Q", "n,d_k"), array("K", "m,d_k"), array("V", "m,d_v"), array("G", "n,d_v")
    root = sp.sqrt(size("d_k"))
    a = v.softmax(v.matmul(q, keys.T) / root, name="A")
    n, d = index("n", "n"), index("d", "d_k")
    left = PartialDerivative(v.sum(upstream * v.matmul(a, values)).body, q.element(n, d))
    da = v.matmul(upstream, values.T)
    right = v.matmul(a * (da - v.sum(da * a, -1, True)), keys) / root
    checked = check_equal(left, right.element(n, d), [n, d], budget_seconds=0.3)
    assert checked.equal is True
    assert "exact" in kinds(checked) or "not decided exactly" in checked.evidence[0].detail
    wrong = check_equal(left, right.element(n, d) * root / sp.sqrt(size("d_v")), [n, d])
    assert wrong.equal is False
    assert wrong.counterexample.residual


def test_products_of_sizes():
    h, d = size("h"), size("d_k")
    x, a, b = array("x", "h*d_k"), index("a", "h"), index("b", "d_k")
    tensor = tensors([x.body])[0]
    split = IndexSum(IndexSum(Element(tensor, a * d + b), b), a)
    checked = check_equal(split, v.sum(x).body)
    assert checked.equal is True
    assert check_equal(split, v.sum(x).body * d / h).equal is False


def test_dead_branches_are_not_evaluated():
    logs = v.where(v.greater(u, 0), v.log(u), v.log(-u))
    assert check_equal(logs.body, v.log(v.absolute(u)).body).equal is True
