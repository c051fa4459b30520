"""A derivative that is zero because the variable does not occur is told apart from one that was proved."""

from __future__ import annotations

import lemmata.symbolic.language.vocabulary as v
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import PartialDerivative

z, y, k = array("z", "K"), array("y", "K"), index("k", "K")


def dependence(left, right, variable):
    checked = check_equal(left, right, [k], variable=variable)
    assert checked.equal is True
    return next(e for e in checked.evidence if e.kind == "dependence")


def test_what_does_not_occur_is_reported():
    found = dependence(PartialDerivative(v.logsumexp(y).body, z.element(k)), z.element(k) * 0, z.element(k))
    assert not found.passed
    assert "does not change with z" in found.detail


def test_what_cancels_is_reported():
    left = PartialDerivative((v.sum(v.softmax(z)) + v.sum(y)).body, z.element(k))
    assert not dependence(left, z.element(k) * 0, z.element(k)).passed


def test_what_occurs_through_definitions_passes():
    p = v.softmax(z)
    left = PartialDerivative((v.sum(p * y)).body, z.element(k))
    right = p.element(k) * (y.element(k) - v.sum(p * y).body)
    assert dependence(left, right, z.element(k)).passed


def test_a_defined_tensor_as_the_variable():
    p = v.softmax(z)
    assert dependence(PartialDerivative(v.sum(p * y).body, p.element(k)), y.element(k), p.element(k)).passed
    assert not dependence(PartialDerivative(v.sum(z * y).body, p.element(k)), y.element(k) * 0, p.element(k)).passed
