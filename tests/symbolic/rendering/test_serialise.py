"""JSON of single expressions: the same tree comes back, without evaluation, or the file is refused."""

import json
import random

import pytest
import sympy as sp

from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.errors import FormulaError, UnsupportedError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import ArgMaxIndicator, Delta, Indicator, PartialDerivative
from lemmata.symbolic.language.operations import OPERATIONS
from lemmata.symbolic.rendering.serialise import expression_from_json, expression_to_json

Z, Y = array("z", "K"), array("y", "K", "simplex")
I, K = index("i", "K"), index("k", "K")
ZI = Z.element(I)

EXPRESSIONS = [
    ZI - Y.element(K),
    v.sum(v.softmax(Z) * v.log(v.softmax(Z))).body,
    sp.Mul(2, 3, evaluate=False) + ZI,
    sp.Add(5, sp.Mul(-1, -4, evaluate=False), evaluate=False),
    sp.log(sp.exp(ZI, evaluate=False), evaluate=False),
    ArgMaxIndicator(Z.element(K), K, I) * Delta(I, K),
    Indicator(sp.And(sp.Ge(ZI, 0), sp.Or(sp.Lt(I, K), sp.Ne(I, 0)))),
    PartialDerivative(v.max(Z).body, ZI),
    sp.Float("0.1", 30) * sp.Rational(1, 3) * sp.pi * sp.E + sp.Symbol("x", positive=True),
    v.prod(Z).body ** array("a", "").body,
    array("x", "h*d_k").element(I * 2 + 1),
    sp.Max(ZI, 0) + sp.floor(ZI),
    *(row.example(ZI) for row in OPERATIONS.values()),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_round_trip(expression: sp.Basic) -> None:
    data = json.loads(json.dumps(expression_to_json(expression)))
    free = [i for i in (I, K) if i in expression.free_symbols]
    again = expression_from_json(data, indices=free)
    assert again == expression
    assert str(again) == str(expression)
    assert again.args == expression.args or isinstance(expression, sp.And)
    assert expression_to_json(again) == json.loads(json.dumps(expression_to_json(expression)))


def test_fresh_indices_are_new_but_keep_their_order() -> None:
    expression = Z.element(K) + 2 * ZI
    again = expression_from_json(expression_to_json(expression))
    assert again != expression
    assert expression_to_json(again) == expression_to_json(expression)


def test_bytes_do_not_depend_on_the_age_of_indices() -> None:
    def write() -> str:
        i, k = index("i", "K"), index("k", "K")
        return json.dumps(expression_to_json(Z.element(i) * Y.element(k) - Delta(i, k)))

    first = write()
    for _ in range(random.Random(5).randint(3, 9)):
        index("i", "K")
    assert write() == first


def test_what_has_no_name_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Sum is not written"):
        expression_to_json(sp.Sum(sp.Symbol("i"), (sp.Symbol("i"), 0, 3)))
    with pytest.raises(UnsupportedError, match="dummy"):
        expression_to_json(sp.Dummy("t") + 1)


def test_a_wrong_number_of_indices() -> None:
    with pytest.raises(FormulaError, match="1 free indices, given 2"):
        expression_from_json(expression_to_json(ZI), indices=[I, K])
