"""SymPy's own functions on expressions with our nodes: what they return has the same value, and nothing is captured."""

import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, tensor_of
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, IndexSum

z, y, t = array("z", "K"), array("y", "K"), array("t", "")
i, j, k = (index(c, "K") for c in "ijk")
p = v.softmax(z)
TOTAL = IndexSum(sp.exp(z.element(j)), j)
EXPRESSION = (p.element(i) * (Delta(i, k) - p.element(k)) + sp.log(sp.exp(z.element(i) + y.element(k)))
              + IndexSum(sp.exp(z.element(i)) * (y.element(i) + 1), i) / TOTAL)  # fmt: skip

KEEP = {
    "simplify": sp.simplify, "expand": sp.expand, "factor": sp.factor, "together": sp.together, "cancel": sp.cancel,
    "powsimp": sp.powsimp, "logcombine": sp.logcombine, "factor_terms": sp.factor_terms, "nsimplify": sp.nsimplify,
    "collect": lambda e: sp.collect(e, p.element(i)), "doit": lambda e: e.doit(), "radsimp": sp.radsimp,
    "sympify": sp.sympify,
    "cse": lambda e: (lambda parts, whole: whole[0].subs(parts[::-1]))(*sp.cse(e)), "as_dummy": lambda e: e.as_dummy(),
    "replace": lambda e: e.replace(sp.exp, lambda u: sp.exp(u)), "rebuild": lambda e: e.func(*e.args),
    "polynomial": lambda e: sp.Poly(e * t.body, t.body).as_expr() / t.body, "evalf": lambda e: e.evalf(),
}  # fmt: skip


@pytest.mark.parametrize("name", KEEP)
def test_value_is_kept(name):
    result = KEEP[name](EXPRESSION)
    assert {s for s in result.free_symbols if s in (i, j, k)} == {i, k}
    assert equal(result, EXPRESSION).equal
    assert not equal(result, -EXPRESSION).equal


def test_calculus_in_a_scalar():
    scaled = t.body**2 * TOTAL
    assert sp.diff(scaled, t.body) == 2 * t.body * TOTAL
    assert sp.integrate(2 * t.body * TOTAL, t.body) == scaled
    assert sp.limit(scaled, t.body, 0) == 0
    assert sp.series(sp.exp(t.body * TOTAL), t.body, 0, 2).removeO() == 1 + t.body * TOTAL


def test_signs_are_known():
    assert TOTAL.is_positive
    assert IndexSum(z.element(i) ** 2, i).is_nonnegative
    assert sp.sqrt(TOTAL**2) == TOTAL
    assert z.element(i).is_positive is None
    assert z.element(i).is_real
    assert array("q", "K", "positive").element(i).is_positive
    assert array("c", "", "positive").body.is_positive
    assert array("c", "", "negative").body.is_negative
    assert not TOTAL.is_number


def test_scalars_and_arrays_of_one_name_are_apart():
    assert array("c", "").body - array("c", "", "positive").body != 0
    assert array("c", "").body + array("c", "n").element(index("a", "n")) != 0


SAME_NAME = {
    "two shapes": lambda: z.element(i) + array("z", "n").element(index("a", "n")),
    "two definitions": lambda: p.element(i) + v.softmax(z - v.log(v.sum(v.exp(v.log_softmax(z))))).element(i),
}


@pytest.mark.parametrize("make", SAME_NAME.values(), ids=SAME_NAME)
def test_tensors_of_one_name_can_be_ordered(make):
    assert len(make().args) == 2
    assert tensor_of(z).compare(tensor_of(array("z", "n"))) != 0
