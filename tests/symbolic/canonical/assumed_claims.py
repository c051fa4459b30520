"""Claims under hypotheses, true ones and false ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.hypotheses import Hypothesis
from lemmata.symbolic.language.hypotheses import equal as assume_equal
from lemmata.symbolic.language.hypotheses import nonzero as assume_nonzero
from lemmata.symbolic.language.hypotheses import positive as assume_positive
from lemmata.symbolic.language.vocabulary import sum as array_sum

from .symbols import (
    A,
    B,
    D,
    K,
    N,
    Uk,
    W,
    Xk,
    Yj,
    Yk,
    entry,
    half,
    holds,
    i,
    j,
    k,
    n,
    n2,
    p,
    total,
    unevaluated_root,
    w,
    x,
)


@dataclass(frozen=True)
class Assumed:
    """A claim under hypotheses; `domains` make brute force draw values that satisfy them."""

    name: str
    left: sp.Expr
    right: sp.Expr
    hypotheses: Sequence[Hypothesis]
    domains: dict[str, str] = field(default_factory=dict)


rows = [assume_equal(array_sum(array("A", "N,K"), axis=1), 1)]
ones_ = [assume_equal(array_sum(array("Y", "K")), 1)]
Ank = entry(A, n, k)
IN_ROWS, IN_Y = {"A": "simplex"}, {"Y": "simplex"}

EQUAL_IF: list[Assumed] = [
    Assumed("row sum", total(Ank, k), sp.S.One, rows, IN_ROWS),
    Assumed("all sums", total(Ank, n, k), N, rows, IN_ROWS),
    Assumed("row sum with a weight of the row", total(Ank * entry(W, n), n, k), total(entry(W, n), n), rows, IN_ROWS),
    Assumed("row sum squared", total(Ank, k) ** 2, sp.S.One, rows, IN_ROWS),
    Assumed("row sum below", 1 / (1 + total(Ank, k)), half, rows, IN_ROWS),
    Assumed("row sum in an exponent", sp.exp(x * total(Ank, k)), sp.exp(x), rows, IN_ROWS),
    Assumed("row sum at a number", total(entry(A, 0, k), k), sp.S.One, rows, IN_ROWS),
    Assumed("cross-entropy", D(-total(Yj * sp.log(p.element(j)), j), Xk), p.element(k) - Yk, ones_, IN_Y),
    Assumed("two row sums", total(entry(A, n, k) * entry(A, n2, i), k, i), sp.S.One, rows, IN_ROWS),
    Assumed("x positive, root", unevaluated_root(x**2), x, [assume_positive(array("x", ""))], {"x": "positive"}),
    Assumed(
        "x positive, abs of a product",
        sp.Abs(x * w, evaluate=False),
        x * sp.Abs(w),
        [assume_positive(array("x", ""))],
        {"x": "positive"},
    ),
    Assumed("x not zero", holds(sp.Eq(x, 0)), sp.S.Zero, [assume_nonzero(array("x", ""))], {"x": "nonzero"}),
    Assumed("entries positive", sp.Abs(Xk), Xk, [assume_positive(array("X", "K"))], {"X": "positive"}),
    Assumed("scalar given", x**2 * w, 9 * w, [assume_equal(array("x", ""), 3)], {"x": "{3}"}),
]

DIFFERENT_IF: list[Assumed] = [
    Assumed("the other axis", total(Ank, n), sp.S.One, rows, IN_ROWS),
    Assumed("weight of the column", total(Ank * Xk, k), sp.S.One, rows, IN_ROWS),
    Assumed("weight of the column, all", total(Ank * Xk, n, k), total(Xk, k), rows, IN_ROWS),
    Assumed("squares", total(Ank**2, k), sp.S.One, rows, IN_ROWS),
    Assumed("index also in a denominator", total(Ank / (1 + Uk), k), total(1 / (1 + Uk), k) / K, rows, IN_ROWS),
    Assumed("index also in a condition", total(Ank * holds(sp.Le(k, i)), k), holds(sp.Le(k, i)), rows, IN_ROWS),
    Assumed("another tensor", total(Xk, k), sp.S.One, ones_, IN_Y),
    Assumed("diagonal", total(Yk * entry(B, k, k), k), total(entry(B, k, k), k) / K, ones_, IN_Y),
    Assumed(
        "derivative of a given scalar is not zero",
        D(x**2, x),
        sp.S.Zero,
        [assume_equal(array("x", ""), 3)],
        {"x": "{3}"},
    ),
    Assumed("derivative of a given sum is not zero", D(total(Yj, j), Yk), sp.S.Zero, ones_, IN_Y),
    Assumed("cross-entropy, sign", D(-total(Yj * sp.log(p.element(j)), j), Xk), p.element(k) + Yk, ones_, IN_Y),
    Assumed("x not zero is not x positive", sp.Abs(x), x, [assume_nonzero(array("x", ""))], {"x": "nonzero"}),
]
