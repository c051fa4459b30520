"""The oracle itself: brute force against values worked out by hand, and against slips that it must see."""

from __future__ import annotations

import pytest
import sympy as sp

from lemmata.symbolic.language import operations as op
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    DefinedTensor,
    Delta,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    element,
)
from lemmata.symbolic.language.sizes import size

from . import brute_force as bf

K = size("K")
X, B = Tensor("X", (K,)), Tensor("B", (K, K))
i, j, k = (index(s, K) for s in "ijk")


@pytest.fixture
def point() -> bf.Point:
    """K = 3, X = (1, 3, 2), B[r, s] = 10 r + s."""
    made = bf.Point({"K": 3}, seed=0)
    made.values = {("X", (n,)): bf.CONTEXT.mpf(v) for n, v in enumerate((1, 3, 2))}
    made.values |= {("B", (r, s)): bf.CONTEXT.mpf(10 * r + s) for r in range(3) for s in range(3)}
    return made


BY_HAND = [
    (IndexSum(element(X, j), j), 6),
    (IndexSum(element(X, j), j) ** 2, 36),
    (IndexSum(element(X, j) ** 2, j), 14),
    (IndexMax(element(X, j), j), 3),
    (IndexProduct(element(X, j), j), 6),
    (IndexSum(IndexSum(element(B, i, j) * element(X, j), j), i), 6 * 30 + 3 * 7),
    (IndexSum(Delta(j, 1) * element(X, j), j), 3),
    (IndexSum(Indicator(sp.Le(j, 1)) * element(X, j), j), 4),
    (IndexSum(ArgMaxIndicator(element(X, j), j, i) * element(X, i), i), 3),
    (IndexSum(Indicator(sp.Ge(j, 1)) * element(X, j - 1), j), 4),
    (op.relu(element(X, 0) - element(X, 1)), 0),
    (sp.sqrt(element(X, 1) + 1), 2),
    (K * element(X, 2), 6),
    (PartialDerivative(IndexSum(element(X, j) ** 3, j), element(X, 1)), 27),
    (PartialDerivative(PartialDerivative(element(X, 0) ** 2 * element(X, 1), element(X, 0)), element(X, 1)), 2),
    (element(DefinedTensor("d", (k,), IndexSum(element(B, k, j), j)), 2), 63),
]


@pytest.mark.parametrize(("expression", "value"), BY_HAND)
def test_values_worked_out_by_hand(expression: sp.Expr, value: int, point: bf.Point) -> None:
    assert bf.close(bf.evaluate(expression, point), value)


def test_derivative_by_a_definition_is_by_its_entry(point: bf.Point) -> None:
    d = DefinedTensor("d", (k,), element(X, k) ** 2)
    loss = IndexSum(element(d, j) ** 2 + element(X, j), j)
    assert bf.close(bf.evaluate(PartialDerivative(loss, element(d, 1)), point), 18)


@pytest.mark.parametrize(
    "expression",
    [1 / (element(X, 0) - 1), sp.log(element(X, 0) - 3), sp.sqrt(element(X, 0) - 3), element(X, K - 1 + k)],
)
def test_what_has_no_value_says_so(expression: sp.Expr, point: bf.Point) -> None:
    with pytest.raises(bf.NoValue):
        bf.evaluate(expression, point, {k: 2})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda e: -e,
        lambda e: e * (1 + sp.Rational(9, 10**4)),
        lambda e: e.xreplace({i: k, k: i}),
        lambda e: e + Delta(i, k) / 10**6,
    ],
)
def test_slips_are_seen(wrong: object) -> None:
    right = IndexSum(element(B, i, j) * element(B, j, k), j)
    assert bf.difference(right, right) is None
    assert bf.difference(right, wrong(right)) is not None  # type: ignore[operator]
