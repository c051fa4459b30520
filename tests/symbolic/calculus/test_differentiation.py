"""Differentiation of index expressions: rules and their names, contraction, named intermediates, and what is refused.

Answers are compared with the same derivative of written-out components by plain SymPy, at sizes that differ.
"""

from contextlib import suppress
from itertools import product

import pytest
import sympy as sp

from lemmata.symbolic.calculus import differentiate
from lemmata.symbolic.calculus.contraction import contract
from lemmata.symbolic.calculus.differentiation import depends, wave
from lemmata.symbolic.calculus.rules import RULES, rule
from lemmata.symbolic.canonical import equal
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define, tensor_of
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    DefinedTensor,
    Delta,
    IndexSum,
    Indicator,
    PartialDerivative,
    free_indices,
    tensors,
    unfold,
)
from lemmata.symbolic.language.sizes import Size

SIZES = {"K": 3, "n": 2, "m": 4}
z, y, A, t = array("z", "K"), array("y", "K"), array("A", "n,m"), array("t", "")
x = array("x", "m")
i, j, k = (index(c, "K") for c in "ijk")
r, c = index("r", "n"), index("c", "m")
p = v.softmax(z)


# ---------- against written-out components
CASES = {
    "softmax": (p.element(i), z, (k,)),
    "log of softmax": (sp.log(p.element(i)), z, (k,)),
    "cross-entropy": (-v.sum(y * v.log(p)).body, z, (k,)),
    "square of a sum": ((v.sum(z) ** 2).body, z, (k,)),
    "product of sums": ((v.sum(z * y) * v.sum(z**2)).body, z, (k,)),
    "norm": (v.sqrt(v.sum(A * A) + 1).body, A, (r, c)),
    "matrix times vector": (v.tanh(A @ x).element(index("s", "n")), A, (r, c)),
    "by the vector": (v.sum(v.sigmoid(A @ x)).body, x, (c,)),
    "quadratic form": ((x @ (A.T @ (A @ x))).body, x, (c,)),
    "product": (v.prod(z**2 + 1).body, z, (k,)),
    "rows of softmax": (v.softmax(A).element(r, index("s", "m")), A, (r, c)),
    "variance": (v.var(z).body, z, (k,)),
    "variable exponent": (((t**2 + 1) ** v.sum(t * z)).body, t, ()),
    "sum under a sum": (v.sum(v.log(v.sum(v.exp(A), axis=1))).body, A, (r, c)),
    "constant": (v.sum(y).body, z, (k,)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_derivative_of_components(name):
    expression, variable, at = CASES[name]
    element = variable.element(*at)
    derivative = differentiate(expression, element)
    assert not derivative.has(PartialDerivative)
    free = tuple(dict.fromkeys([*free_indices(expression), *at]))
    shape = [int(q.size.subs({Size(s): n for s, n in SIZES.items()})) for q in free]
    for place in list(product(*map(range, shape)))[:8]:
        here = dict(zip(free, map(sp.Integer, place), strict=True))
        ours = at_sizes(derivative.xreplace(here), **SIZES)
        primal = at_sizes(expression.xreplace(here), **SIZES)
        by = at_sizes(element.xreplace(here), **SIZES)
        symbols = sorted((ours - primal - by).free_symbols | primal.free_symbols, key=str)
        point = {s: sp.Rational(3 * q - 4, 5) for q, s in enumerate(symbols, 1)}
        assert float((ours - sp.diff(primal, by)).subs(point)) == pytest.approx(0, abs=1e-12)
    assert equal(derivative, PartialDerivative(expression, element)).equal


@pytest.mark.parametrize("name", ["softmax", "cross-entropy", "norm", "quadratic form", "product"])
def test_a_wrong_derivative_is_seen(name):
    expression, variable, at = CASES[name]
    element = variable.element(*at)
    right, free = differentiate(expression, element), tuple(dict.fromkeys([*free_indices(expression), *at]))
    assert check_equal(PartialDerivative(expression, element), right, free).equal
    for wrong in (-right, right * sp.Rational(10009, 10000), right + variable.element(*at)):
        assert not equal(PartialDerivative(expression, element), wrong).equal
        assert check_equal(PartialDerivative(expression, element), wrong, free).equal is False


def test_a_dropped_transpose_is_seen():
    square = array("S", "n,n")
    a, b = index("a", "n"), index("b", "n")
    value = v.sum(v.tanh(square @ array("w", "n"))).body
    right = differentiate(value, square.element(a, b))
    swapped = right.xreplace({a: b, b: a})
    assert equal(PartialDerivative(value, square.element(a, b)), right).equal
    assert check_equal(PartialDerivative(value, square.element(a, b)), swapped, (a, b)).equal is False


# ---------- named intermediates
def test_by_a_named_intermediate():
    loss = -v.sum(y * v.log(p)).body
    assert differentiate(loss, p.element(k)) == -y.element(k) / p.element(k)
    h = define("h", A @ x)
    assert differentiate(v.sum(h * h).body, h.element(r)) == 2 * h.element(r)
    chain = IndexSum(2 * h.element(r) * differentiate(h.element(r), x.element(c)), r)
    assert equal(differentiate(v.sum(h * h).body, x.element(c)), chain).equal


def test_the_chain_through_an_intermediate_is_the_whole_sum():
    """Not through o_j alone: Σ_i ∂L/∂p_i ∂p_i/∂z_k, which gives p_k Σ y - y_k and not y_k (p_k - 1)."""
    loss = -v.sum(y * v.log(p)).body
    chain = IndexSum(differentiate(loss, p.element(i)) * differentiate(p.element(i), z.element(k)), i)
    assert equal(chain, p.element(k) * v.sum(y).body - y.element(k)).equal
    only_own = differentiate(loss, p.element(k)) * differentiate(p.element(k), z.element(k))
    assert equal(only_own, y.element(k) * (p.element(k) - 1)).equal
    assert not equal(only_own, chain).equal


def test_intermediates_stay_named_where_they_are_not_differentiated():
    w = v.softmax(y, name="w")
    derivative = differentiate(v.sum(w * z**2).body, z.element(k))
    assert tensor_of(w) in tensors([derivative])
    assert depends(w.element(i), y.element(k))
    assert not depends(w.element(i), z.element(k))
    through = differentiate(v.sum(w).body, y.element(k))
    assert all(not isinstance(q, DefinedTensor) or q == tensor_of(w) for q in tensors([unfold(through), through]))
    assert equal(through, 0).equal


# ---------- masks, maxima, indices that are labels
def test_indicators_are_constant_away_from_their_jump():
    assert differentiate(v.maximum(z, 0).element(i), z.element(k)) == Indicator(sp.Ge(z.element(i), 0)) * Delta(i, k)
    assert differentiate(Indicator(sp.Ge(z.element(i), 0)), z.element(k)) == 0


def test_a_maximum_moves_with_its_place():
    derivative = differentiate(v.max(z).body, z.element(k))
    assert derivative == ArgMaxIndicator(z.element(j), j, k)


def test_hard_labels():
    label = array("c", "n", "index<K")
    rows = array("Z", "n,K")
    a, b = index("a", "n"), index("b", "n")
    derivative = differentiate(rows.element(a, label.element(a)), rows.element(b, k))
    assert derivative == Delta(a, b) * Delta(label.element(a), k)
    with pytest.raises(UnsupportedError, match="c_b: c holds integers"):
        differentiate(rows.element(a, label.element(a)), label.element(b))


# ---------- refusals: named, and never 0
f = sp.Function("f")
s = t.body
REFUSED = {
    "undeclared function": (f(z.element(k)), z.element(k), "function f "),
    "undeclared function inside a sum": (IndexSum(f(z.element(i)), i), z.element(k), "function f "),
    "undeclared function in a product": (s * f(s), s, "function f "),
    "an undeclared function of SymPy": (sp.dirichlet_eta(s), s, "function dirichlet_eta "),
    "Max": (sp.Max(s, 0), s, "Max"),
    "Piecewise": (sp.Piecewise((s, s > 0), (0, True)), s, "Piecewise"),
    "two arguments": (f(s, s), s, "function f "),
    "a branch of Lambert's W": (sp.LambertW(s, -1), s, "function LambertW "),
    "by an order": (sp.besselj(s, 2), s, "besselj has no derivative rule by its argument 1"),
    "by an order as well": (sp.besselk(s, s), s, "besselk has no derivative rule by its argument 1"),
    "by a parameter": (sp.uppergamma(s, z.element(k)), s, "uppergamma has no derivative rule by its argument 1"),
    "by an index": (IndexSum(z.element(i) * i, i) * j, j, "differentiate by j"),
    "by an index, in an element": (z.element(j), j, "differentiate by j"),
    "by a symbol": (sp.Symbol("q") ** 2, sp.Symbol("q"), "differentiate by q"),
    "by a size": (Size("K") * s, Size("K"), "differentiate by K"),
    "by a whole tensor": (v.sum(z).body, tensor_of(z), "z"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_named(name):
    expression, variable, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        differentiate(expression, variable)


def test_what_does_not_hold_the_variable_has_derivative_zero():
    for constant in (f(y.element(i)), sp.floor(y.element(i)), sp.Integer(3), v.sum(y).body, j):
        assert differentiate(sp.sympify(constant), z.element(k)) == 0
    assert differentiate(sp.floor(y.element(i)) * z.element(j), z.element(k)) == sp.floor(y.element(i)) * Delta(j, k)


def test_sympys_own_diff_is_never_silently_zero():
    for expression in (f(z.element(i)), sp.floor(z.element(i)), v.sum(z).body * f(z.element(i))):
        with suppress(UnsupportedError):
            assert expression.diff(z.element(i)) != 0


@pytest.mark.parametrize("take", [differentiate, sp.diff])
def test_the_derivative_by_the_size_of_a_sum_is_refused_or_left_standing(take):
    # SymPy asks for it when it looks for signs, so it may not always raise; what it may not be is a number.
    try:
        derivative = take(v.sum(z).body, Size("K"))
    except UnsupportedError:
        return
    assert derivative == sp.Derivative(v.sum(z).body, Size("K"), evaluate=False)


def test_the_derivative_of_a_delta_by_its_label_is_refused():
    label = array("c", "n", "index<K")
    a = index("a", "n")
    with pytest.raises(UnsupportedError):
        differentiate(Delta(label.element(a), k), label.element(a))


# ---------- waves and contraction
def test_each_wave_names_rules_that_exist():
    current = PartialDerivative(-v.sum(y * v.log(p)).body, z.element(k))
    names, waves = [], 0
    while current.has(PartialDerivative):
        before = current
        current, used = wave(current)
        assert equal(before, current).equal
        names += used
        waves += 1
    assert 3 <= waves <= 8
    assert {"deriv_log", "deriv_exp", "deriv_inv", "deriv_element", "deriv_sum"} <= set(names)
    assert all(n in RULES for n in names)


CONTRACTED = {
    "delta": (IndexSum(Delta(i, k) * z.element(i), i), z.element(k), "sum_mul_delta"),
    "delta with a factor": (
        IndexSum(y.element(j) * Delta(i, k) * z.element(i), i),
        y.element(j) * z.element(k),
        "sum_mul_delta",
    ),
    "constant": (IndexSum(y.element(j), i), Size("K") * y.element(j), "sum_const"),
    "constant factor": (IndexSum(y.element(j) * z.element(i), i), y.element(j) * v.sum(z).body, "sum_mul_const"),
    "sum of two": (IndexSum((Delta(i, k) + 1) * z.element(i), i), z.element(k) + v.sum(z).body, "sum_add"),
    "exponent": (
        IndexSum(sp.exp(z.element(i) + y.element(j)), i),
        sp.exp(y.element(j)) * v.sum(v.exp(z)).body,
        "sum_mul_const",
    ),
    "two deltas": (IndexSum(IndexSum(Delta(i, k) * Delta(i, j) * z.element(i), i), j), z.element(k), "sum_mul_delta"),
}


@pytest.mark.parametrize("name", CONTRACTED)
def test_contraction(name):
    before, after, used = CONTRACTED[name]
    got, rules = contract(before)
    assert got == after
    assert used in rules
    assert equal(before, after).equal


def test_deltas_of_other_sizes_are_left_alone():
    a = index("a", "n")
    before = IndexSum(Delta(i, a) * z.element(i), i)
    assert contract(before)[0] == before  # a may lie outside 0..K-1
    past = array("w", "3")
    own = index("q", 3)
    assert contract(IndexSum(Delta(own, 2) * past.element(own), own))[0] == past.element(2)


# ---------- the table
@pytest.mark.parametrize("name", RULES)
def test_the_instance_of_a_rule_holds(name):
    left, right = RULES[name].instance()
    free = tuple(dict.fromkeys([*free_indices(left), *free_indices(right)]))
    assert equal(left, right).equal
    assert check_equal(left, right, free).equal
    if right != 0:
        assert not equal(left, right * sp.Rational(10009, 10000)).equal


def test_unknown_rules_are_named():
    with pytest.raises(UnsupportedError, match=r"no rule 'deriv_exq' \(deriv_exp"):
        rule("deriv_exq")
