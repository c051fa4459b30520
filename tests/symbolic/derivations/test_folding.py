"""Giving names back to definitions, and using hypotheses as equations: what is replaced, and what must not be."""

import pytest
import sympy as sp

from lemmata.symbolic.calculus.folding import fold, use_equation
from lemmata.symbolic.canonical import equal
from lemmata.symbolic.derivations.combining import combine_exponentials
from lemmata.symbolic.derivations.tactics import (
    State,
    collect,
    contract,
    expand,
    hypotheses,
    simplest,
    split_logs,
    to,
    unfold,
)
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define, tensor_of
from lemmata.symbolic.language.hypotheses import equal as given_equal
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import IndexSum
from lemmata.symbolic.language.nodes import unfold as unfold_all

z, y = array("z", "K"), array("y", "K")
Z, Y = array("Z", "n,m"), array("Y", "n,m")
i, j, k = (index(c, "K") for c in "ijk")
a, b = index("a", "n"), index("b", "m")
p = v.softmax(z)
TOTAL = IndexSum(sp.exp(z.element(j)), j)


def el(x, *at):
    return x.element(*at)


# ---------- fold
FOLDED = {
    "the body itself": (sp.exp(el(z, i)) / TOTAL, el(p, i)),
    "with factors": (el(y, i) * sp.exp(el(z, i)) / TOTAL * 3, 3 * el(y, i) * el(p, i)),
    "negative": (-sp.exp(el(z, i)) / TOTAL, -el(p, i)),
    "twice": (sp.exp(el(z, i)) * sp.exp(el(z, k)) / TOTAL**2, el(p, i) * el(p, k)),
    "square": (sp.exp(2 * el(z, i)) / TOTAL**2, el(p, i) ** 2),
    "under a sum": (IndexSum(el(y, i) * sp.exp(el(z, i)) / TOTAL, i), v.sum(y * p).body),
    "inside a function": (sp.log(sp.exp(el(z, k)) / TOTAL), sp.log(el(p, k))),
}


@pytest.mark.parametrize("name", FOLDED)
def test_fold(name):
    before, after = FOLDED[name]
    got = fold(before, tensor_of(p))
    assert got == after
    assert equal(got, before).equal


UNTOUCHED = {
    "other array": sp.exp(el(y, i)) / IndexSum(sp.exp(el(y, j)), j),
    "other numerator": sp.exp(-el(z, i)) / TOTAL,
    "denominator alone": 1 / TOTAL,
    "numerator alone": sp.exp(el(z, i)),
    "sum above": sp.exp(el(z, i)) * TOTAL,
    "other size": sp.exp(array("z", "n").element(index("i", "n"))) / TOTAL,
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_is_not_the_definition_stays(name):
    assert fold(UNTOUCHED[name], tensor_of(p)) == UNTOUCHED[name]


def test_fold_of_rows_keeps_the_axes_apart():
    q = v.softmax(Z)  # along m
    row = sp.exp(el(Z, a, b)) / IndexSum(sp.exp(el(Z, a, index("c", "m"))).subs({}), index("c", "m"))
    assert row != el(q, a, b)  # a free letter is not the bound one: the sum above is Σ_c of a constant
    c = index("c", "m")
    assert fold(sp.exp(el(Z, a, b)) / IndexSum(sp.exp(el(Z, a, c)), c), tensor_of(q)) == el(q, a, b)
    d = index("d", "n")
    by_column = sp.exp(el(Z, a, b)) / IndexSum(sp.exp(el(Z, d, b)), d)
    assert fold(by_column, tensor_of(q)) == by_column


def test_fold_of_a_definition_that_is_no_product():
    m = define("s", v.logsumexp(z))
    assert fold(el(z, k) - v.logsumexp(z).body, tensor_of(m)) == el(z, k) - m.body
    h = define("h", v.tanh(Z @ array("w", "m")))
    assert fold(1 - unfold_all(el(h, a)) ** 2, tensor_of(h)) == 1 - el(h, a) ** 2


# ---------- equations
def test_an_equation_holds_for_every_value_of_its_indices():
    h = given_equal(v.sum(Y, axis=1), 1)
    c, d = index("c", "n"), index("d", "m")
    rows = IndexSum(el(Y, c, d), d)
    assert use_equation(rows * el(Z, a, b), h.left, h.right, h.indices) == el(Z, a, b)
    columns = IndexSum(el(Y, c, d), c)
    assert use_equation(columns, h.left, h.right, h.indices) == columns
    assert use_equation(v.sum(Y).body, h.left, h.right, h.indices) == IndexSum(sp.S.One, c)  # Σ_c (Σ_d Y_cd) = Σ_c 1


def test_an_equation_is_not_used_for_another_array():
    h = given_equal(v.sum(y), 1)
    assert use_equation(v.sum(y).body * el(p, k), h.left, h.right, h.indices) == el(p, k)
    assert use_equation(v.sum(z).body, h.left, h.right, h.indices) == v.sum(z).body
    assert use_equation(v.sum(y * z).body, h.left, h.right, h.indices) == v.sum(y * z).body


# ---------- tactics
def run(before, *tactics, given=()):
    state = State(before, tuple(q for q in (i, k) if q in before.free_symbols), tuple(given))
    for tactic in tactics:
        tactic(state)
    return state


def test_steps_follow_each_other_and_are_equalities():
    state = run(-v.sum(y * v.log(p)).body, unfold(), split_logs(), contract(), collect(), hypotheses(),
                given=[given_equal(v.sum(y), 1)])  # fmt: skip
    assert len(state.steps) >= 2
    for before, after in zip(state.steps, state.steps[1:], strict=False):
        assert before.after == after.before
    assert all(equal(s.before, s.after, [given_equal(v.sum(y), 1)]).equal for s in state.steps)


def test_a_tactic_that_changes_nothing_leaves_no_step():
    assert run(el(z, i), unfold(), contract(), collect(), split_logs()).steps == []


def test_logs_split_only_where_the_parts_are_positive():
    assert run(sp.log(sp.exp(el(z, i)) / TOTAL), split_logs()).current == el(z, i) - sp.log(TOTAL)
    mixed = sp.log(el(z, i) * el(y, i))
    assert run(mixed, split_logs()).current == mixed


def test_expanding_a_named_function():
    state = run(v.sum(v.sigmoid(z)).body, expand("sigmoid"))
    assert state.current == IndexSum(1 / (1 + sp.exp(-el(z, i))), i)
    assert state.steps[0].rule == "expand_sigmoid"


def test_a_cited_theorem_is_recorded():
    state = run(v.sum(p).body, to(1, "sum_softmax", "softmax sums to one"))
    assert state.uses == ["sum_softmax"]
    assert state.current == 1


@pytest.mark.parametrize(("before", "after"), [
    (sp.exp(el(z, i)) * sp.exp(-el(z, i) + el(y, i)), sp.exp(el(y, i))),
    (sp.exp(el(z, i)) * sp.exp(el(y, i)), sp.exp(el(z, i)) * sp.exp(el(y, i))),
])  # fmt: skip
def test_exponentials_are_put_together_where_they_cancel(before, after):
    assert equal(combine_exponentials(before), before).equal
    assert combine_exponentials(before) == combine_exponentials(after)


@pytest.mark.parametrize("expression", [
    (el(z, i) + 1) * el(z, i) - el(z, i), el(y, i) * el(p, k) - el(y, i) * el(p, i), 2 * el(z, i) + 2 * el(y, i),
    el(p, i) * (1 - el(p, i)), IndexSum(el(y, i) * (el(z, i) + 1), i),
], ids=str)  # fmt: skip
def test_the_simplest_form_has_the_same_value(expression):
    assert equal(simplest(expression), expression).equal
