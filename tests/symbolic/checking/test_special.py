"""Special points: what holds where all is well may break at zeros, ties and ends of the domain."""

from __future__ import annotations

import lemmata.symbolic.language.vocabulary as v
from lemmata.symbolic.checking import check_equal, special_points
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.hypotheses import nonzero
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import PartialDerivative

u, z, i, k = array("u", ""), array("z", "K"), index("i", "K"), index("k", "K")


def test_a_cancelled_zero():
    left, right = ((u**2 - u) / u).body, (u - 1).body
    assert check_equal(left, right).equal is True
    found = special_points(left, right)
    assert found.inputs == {"u": 0}
    assert found.left == "undefined (division by zero)"
    assert found.right.startswith("-1")
    assert special_points(left, right, hypotheses=[nonzero(u)]) is None


def test_the_domain_rules_a_point_out():
    for domain, breaks in (("real", True), ("nonnegative", True), ("positive", False), ("nonzero", False)):
        a = array("a", "", domain)
        assert (special_points(((a**2 - a) / a).body, (a - 1).body) is not None) is breaks


def test_one_zero_entry_is_enough():
    found = special_points(((z**2 - z) / z).element(i), (z - 1).element(i), [i])
    assert 0 in found.inputs["z"]


def test_logarithm_at_zero_under_a_weight():
    y = array("y", "K", "nonnegative")
    left = v.sum(y * v.log(y)).body
    assert special_points(left, left) is None
    assert special_points(left, left + v.sum(y * 0).body) is None
    found = special_points(left, v.sum(v.where(v.greater(y, 0), y * v.log(v.maximum(y, v.exp(-9)) * 1), 0)).body)
    assert found.left.startswith("undefined (log at 0")


def test_ties_of_a_maximum():
    stable = v.exp(z - v.max(z)) / v.sum(v.exp(z - v.max(z)))
    assert special_points(v.softmax(z).element(i), stable.element(i), [i]) is None
    second = v.sum(z * v.greater_equal(z, v.max(z)))  # the maximum, but counted twice at a tie
    assert check_equal(v.max(z).body, second.body).equal is True
    found = special_points(v.max(z).body, second.body)
    assert len(set(found.inputs["z"])) < len(found.inputs["z"])


def test_the_value_at_a_kink_is_left_to_its_convention():
    left = PartialDerivative(v.relu(u).body, u.body)
    assert special_points(left, v.greater_equal(u, 0).body) is None
    assert special_points(v.greater(u, 0).body, v.greater_equal(u, 0).body).inputs == {"u": 0}


def test_ends_of_the_domain():
    a = array("a", "", "[0,1]")
    assert special_points(((1 - a) / (1 - a**2)).body, (1 / (1 + a)).body).inputs == {"a": 1}
