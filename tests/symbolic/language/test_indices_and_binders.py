"""Identity of indices, renaming of bound ones, capture: what makes two expressions one object, and what must not.

Equality for all sizes up to algebra is tested with the canonical form; here equal means the same object to SymPy.
"""

import copy
import pickle
from itertools import permutations

import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import Array, array, define, of_tensor, tensor_of
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.errors import IndexError_, UnsupportedError
from lemmata.symbolic.language.indices import Index, bound_index, index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    DefinedTensor,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    free_indices,
    level,
    replace,
    tensors,
    unfold,
)
from lemmata.symbolic.language.operations import OPERATIONS
from lemmata.symbolic.language.sizes import Size, size

z, y, A = array("z", "K"), array("y", "K"), array("A", "n,m")
i, j, k, l = (index(c, "K") for c in "ijkl")
a, b = index("a", "n"), index("b", "m")
BINDERS = [IndexSum, IndexProduct, IndexMax]


# ---------- identity
def test_the_letter_is_not_the_identity():
    first, second = index("i", "K"), index("i", "K")
    assert first != second
    assert first - second != 0
    assert Delta(first, second) != 1
    assert Delta(first, first) == 1
    assert z.element(first) != z.element(second)


def test_an_index_owns_its_size():
    assert index("i", "h*d_k").size == Size("h") * Size("d_k")
    assert index("i", 4).size == 4
    assert i.fresh() != i
    assert i.fresh("q").name == "q"
    assert i.fresh().size == i.size


def test_a_size_is_its_name():
    assert Size("K") == size("K") == size(" K ")
    assert hash(Size("K")) == hash(size("K"))
    assert Size("K") != Size("k")
    assert size("h*d_k") == size("d_k*h")


def test_tensors_with_other_shape_or_domain_are_other_tensors():
    assert tensor_of(array("z", "K")) == tensor_of(array("z", "K"))
    assert tensor_of(array("z", "K")) != tensor_of(array("z", "n"))
    assert tensor_of(array("z", "K")) != tensor_of(array("z", "K", "positive"))


# ---------- renaming
@pytest.mark.parametrize("binder", BINDERS)
def test_bound_letters_do_not_matter(binder):
    one, two = (binder(sp.exp(z.element(c)) * y.element(c), c) for c in (i, k))
    assert one == two
    assert hash(one) == hash(two)
    assert one - two == 0
    assert len({one, two}) == 1
    assert binder(z.element(i), i) != binder(y.element(i), i)


def test_nested_sums_are_equal_with_any_letters():
    bodies = set()
    for outer, inner in permutations([i, j, k, l], 2):
        bodies.add(IndexSum(z.element(outer) / IndexSum(sp.exp(z.element(outer) - z.element(inner)), inner), outer))
    assert len(bodies) == 1


def test_the_same_letter_at_two_levels():
    inner = IndexSum(sp.exp(z.element(i)), i)
    assert IndexSum(z.element(i) * inner, i) == IndexSum(z.element(j) * IndexSum(sp.exp(z.element(k)), k), j)


def test_sums_in_other_order_are_equal_by_the_canonical_form():
    one, two = IndexSum(IndexSum(A.element(a, b), b), a), IndexSum(IndexSum(A.element(a, b), a), b)
    assert equal(one, two).equal


def test_levels_of_siblings_and_of_nested_binders():
    single = IndexSum(z.element(i), i)
    assert level(single) == level(single**2 + IndexSum(y.element(j), j)) == 1
    assert level(IndexSum(single * z.element(k), k)) == 2
    assert level(z.element(i)) == 0
    assert bound_index(Size("K"), 2).is_bound
    assert not i.is_bound


def test_free_indices_respect_binders():
    expression = z.element(j) * IndexSum(z.element(i) * y.element(k), i)
    assert set(free_indices(expression)) == {j, k}
    assert {s for s in expression.free_symbols if isinstance(s, Index)} == {j, k}
    place = ArgMaxIndicator(z.element(i), i, k)
    assert free_indices(place) == (k,)


# ---------- capture
@pytest.mark.parametrize("binder", BINDERS)
def test_replacing_under_a_binder_does_not_capture(binder):
    expression = binder(z.element(i) * y.element(j), i)  # y_j is free in it
    for new in (i, k, expression.bound.fresh()):
        assert expression.subs(j, new) == replace(expression, {j: new}) == expression.xreplace({j: new}) \
            == binder(z.element(l) * y.element(new), l)  # fmt: skip


def test_replacing_by_an_expression_that_binds_raises_the_levels():
    inner = IndexSum(sp.exp(z.element(i)), i)
    t = array("t", "").body
    expression = IndexSum(t * z.element(j), j)
    for result in (expression.subs(t, inner), replace(expression, {t: inner}), expression.xreplace({t: inner})):
        assert result == IndexSum(inner * z.element(j), j)
        assert equal(result, inner * IndexSum(z.element(j), j)).equal
    twice = replace(replace(IndexSum(t * z.element(j), j), {t: t * inner}), {t: expression})
    assert at_sizes(twice, K=2).has(sp.Symbol("z_1", real=True))


def test_a_bound_index_is_not_reached_from_outside():
    expression = IndexSum(z.element(i), i)
    assert expression.subs(expression.bound, 0) == expression
    assert replace(expression, {expression.bound: sp.Integer(0)}) == expression


def test_replacement_is_simultaneous():
    assert replace(z.element(i) * y.element(j), {i: j, j: i}) == z.element(j) * y.element(i)


def test_shared_subtrees_are_replaced_everywhere():
    shared = sp.exp(z.element(i))
    assert replace(shared * y.element(j) + shared, {i: k}) == sp.exp(z.element(k)) * y.element(j) + sp.exp(z.element(k))


def test_a_size_is_replaced_everywhere_or_not_at_all():
    mean = v.mean(z).body
    try:
        result = mean.subs(Size("K"), 3)
    except (UnsupportedError, ValueError):
        return
    assert Size("K") not in result.free_symbols


# ---------- definitions
def test_unfolding_inside_a_sum_does_not_capture():
    p = v.softmax(z)
    total = IndexSum(sp.exp(z.element(k)), k)
    for letter in (i, k, IndexSum(z.element(i), i).bound.fresh()):
        assert unfold(IndexSum(p.element(letter) * z.element(j), letter)) \
            == IndexSum(sp.exp(z.element(letter)) / total * z.element(j), letter)  # fmt: skip
    assert equal(v.sum(p * p).body, unfold(v.sum(p * p).body)).equal


def test_definitions_of_definitions_unfold_to_the_bottom():
    p = v.softmax(z)
    q = define("q", p * v.sum(p * y))
    bottom = unfold(q.element(i))
    assert tensor_of(q) not in tensors([bottom])
    assert all(not isinstance(t, DefinedTensor) for t in tensors([bottom]))
    only = unfold(q.element(i), [tensor_of(q)])
    assert tensor_of(p) in tensors([only])
    assert tensor_of(q) not in tensors([only])
    names = [t.name for t in tensors([q.element(i)])]  # what a definition uses comes before it
    assert names.index("z") < names.index("p") < names.index("q") == 3


def test_a_definition_knows_what_it_depends_on():
    p = v.softmax(z)
    assert tensor_of(z) in p.element(i).free_symbols
    assert tensor_of(p).at(i) == sp.exp(z.element(i)) / IndexSum(sp.exp(z.element(j)), j)


def test_equal_definitions_are_equal_objects():
    assert v.softmax(z).element(i) == v.softmax(z).element(i)
    assert v.softmax(z).element(i) != v.softmax(y).element(i)
    assert v.softmax(z, name="q").element(i) != v.softmax(z).element(i)


def test_rows_of_a_definition():
    p = v.softmax(A)  # along m
    q = v.softmax(A, axis=0, name="q")
    assert at_sizes(p.element(0, 1), n=2, m=3) != at_sizes(q.element(0, 1), n=2, m=3)
    e = [[sp.exp(sp.Symbol(f"A_{r}_{c}", real=True)) for c in range(3)] for r in range(2)]
    assert at_sizes(p.element(0, 1), n=2, m=3) == e[0][1] / (e[0][0] + e[0][1] + e[0][2])
    assert at_sizes(q.element(0, 1), n=2, m=3) == e[0][1] / (e[0][1] + e[1][1])


# ---------- refusals of the nodes
def test_wrong_indices_are_refused():
    with pytest.raises(IndexError_, match="A has 2 axes"):
        Element(tensor_of(A), a)
    with pytest.raises(IndexError_, match="ranges over m, but axis 0 of A"):
        tensor_of(A)[b, b]
    with pytest.raises(IndexError_, match="index 7 does not fit axis 0 of x with size 3"):
        tensor_of(array("x", "3"))[7]
    with pytest.raises(IndexError_, match="binds an index"):
        IndexSum(z.element(i), sp.Symbol("i"))


def test_indicators_and_deltas_of_numbers_are_numbers():
    assert Indicator(sp.Ge(3, 2)) == 1
    assert Indicator(sp.Ge(1, 2)) == 0
    assert Delta(2, 2) == 1
    assert Delta(i + 1, i) == 0
    assert Delta(i, j) == Delta(j, i)
    assert Delta(i, j).is_nonnegative


# ---------- pickling (verification runs in processes)
P = v.softmax(z)
PICKLED = {
    "size": Size("K") * Size("h"),
    "index": i,
    "bound": bound_index(Size("K"), 3),
    "tensor": Tensor("x", (Size("K"),), "positive"),
    "scalar": Tensor("eps", (), "positive"),
    "element": z.element(i),
    "sum": v.sum(z * y).body,
    "nested": IndexSum(z.element(i) / IndexSum(sp.exp(z.element(i) - z.element(j)), j), i),
    "product": v.prod(z).body,
    "max": v.max(z).body,
    "argmax": ArgMaxIndicator(z.element(i), i, k),
    "delta": Delta(i, j),
    "indicator": Indicator(sp.Le(i, j)) + v.maximum(z, 0).element(k),
    "derivative": PartialDerivative(v.sum(z * z).body, z.element(k)),
    "definition": P.element(k),
    "definition of a definition": define("q", P * v.sum(P)).element(k),
    **{name: row.example(z.element(i)) for name, row in OPERATIONS.items()},
}


@pytest.mark.parametrize("expression", PICKLED.values(), ids=PICKLED)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickling_gives_an_equal_object(expression, protocol):
    again = pickle.loads(pickle.dumps(expression, protocol))
    assert again == expression
    assert hash(again) == hash(expression)
    assert str(again) == str(expression)
    assert again.free_symbols == expression.free_symbols
    assert type(again) is type(expression)
    assert pickle.loads(pickle.dumps(again, protocol)) - expression == 0
    assert copy.deepcopy(expression) == expression


def test_pickling_keeps_what_equality_does_not_see():
    again = pickle.loads(pickle.dumps(tensor_of(P)))
    assert again.origin == "softmax"
    assert again.domain == tensor_of(P).domain
    assert again.shape == tensor_of(P).shape
    assert again.parameters == tensor_of(P).parameters
    assert pickle.loads(pickle.dumps(tensor_of(array("x", "n,K", "simplex")))).domain.rows_sum_to_one


def test_arrays_pickle():
    again = pickle.loads(pickle.dumps(v.softmax(z) - y))
    assert isinstance(again, Array)
    assert again.shape == z.shape
    assert of_tensor(tensor_of(z)).shape == z.shape
