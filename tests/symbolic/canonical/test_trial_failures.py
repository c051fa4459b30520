"""The claims on which an earlier trial of the canonical form was wrong, or which it could not prove; one test each."""

from __future__ import annotations

import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language import operations as op
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, IndexSum, Indicator, PartialDerivative, Tensor, element
from lemmata.symbolic.language.sizes import size

from . import brute_force as bf

K, N = size("K"), size("N")
x, w, r = Tensor("x"), Tensor("w"), Tensor("r", (), "(0,1)")
u = Tensor("u", (), "positive")
X, Y, W = Tensor("X", (K,)), Tensor("Y", (K,)), Tensor("W", (N,))
i, j, k, n = index("i", K), index("j", K), index("k", K), index("n", N)
Xi, Xj = element(X, i), element(X, j)
D = PartialDerivative


def check(left: sp.Expr, right: sp.Expr) -> None:
    """True by brute force, proved, and no longer proved after a small change."""
    assert bf.difference(left, right, bf.MORE_POINTS) is None
    answer = equal(left, right)
    assert answer.equal, answer.residual
    assert not equal(left, right * (1 + sp.Rational(9, 10**4)) + sp.Rational(1, 10**4)).equal


# ---------------------------------------------------------------------- soundness
@pytest.mark.parametrize("depth", range(4))
def test_a_condition_in_a_denominator_never_meets_its_own_index(depth: int) -> None:
    """[j ≤ i] in a denominator must not become [i ≤ i], however many sums, powers and exponentials lie around it."""
    inner = IndexSum(Indicator(sp.Le(j, i)) * sp.exp(Xj), j)
    collapsed = IndexSum(sp.exp(Xj), j)
    left, right = 1 / inner, 1 / collapsed
    for _ in range(depth):
        a = i.fresh("a")
        left, right = (sp.exp(-(IndexSum(element(Y, a) * e.xreplace({i: a}), a) ** 2)) + Xi * e for e in (left, right))
    over = i.fresh("o")
    closed = [IndexSum(e.xreplace({i: over}), over) for e in (left, right)]
    assert not equal(*closed).equal
    assert bf.difference(*closed) is not None
    assert equal(closed[0], IndexSum(left, i)).equal


# ---------------------------------------------------------------------- definedness
CANCELLED = [
    ("a scale that cancels", lambda: (w * x / w, x)),
    ("a difference that cancels", lambda: ((x**2 - w**2) / (x - w), x + w)),
    ("exp of a log of an unknown sign", lambda: (sp.exp(2 * sp.log(x)), x**2)),
    ("root of a square of a root", lambda: (sp.sqrt(x) ** 2 * w, x * w)),
]


@pytest.mark.xfail(strict=True, reason="SymPy or the canonical form cancels without recording the condition")
@pytest.mark.parametrize("name", [c[0] for c in CANCELLED])
def test_a_cancellation_records_its_condition(name: str) -> None:
    left, right = dict(CANCELLED)[name]()
    answer = equal(left, right)
    assert answer.equal
    assert answer.used, "the proof holds only where what was cancelled is not 0, and must say so"


# ---------------------------------------------------------------------- related denominators
def test_two_forms_of_the_sigmoid() -> None:
    check(1 / (1 + sp.exp(-x)), sp.exp(x) / (1 + sp.exp(x)))


def test_partial_fractions() -> None:
    check(1 / (x * (1 - x)), 1 / x + 1 / (1 - x))


def test_expanded_and_factored_denominator() -> None:
    check(x / (sp.Pow(x**2, 2, evaluate=False) + 2 * x**2 + 1), x / (1 + x**2) ** 2)


def test_common_denominator_under_a_sum() -> None:
    check(IndexSum(1 / (1 + sp.exp(-Xi)) * element(Y, i), i), IndexSum(element(Y, j) * (1 - 1 / (1 + sp.exp(Xj))), j))


def test_primitive_base_with_a_sum_inside() -> None:
    total = IndexSum(sp.exp(Xj), j)
    check(1 / (sp.exp(-Xi) * total + 1), sp.exp(Xi) / (total + sp.exp(Xi)))


# ---------------------------------------------------------------------- exp and log, roots
def test_exp_of_log_softmax() -> None:
    check(sp.exp(Xi - sp.log(IndexSum(sp.exp(Xj), j))), sp.exp(Xi) / IndexSum(sp.exp(Xj), j))


def test_root_of_independent_sums() -> None:
    a, b = IndexSum(Xi**2, i), IndexSum(element(W, n) ** 2, n)
    check(sp.sqrt(IndexSum(IndexSum(Xi**2 * element(W, n) ** 2, n), i)), sp.sqrt(a) * sp.sqrt(b))


def test_square_of_a_norm() -> None:
    check(sp.sqrt(IndexSum(Xi**2, i)) ** 2, IndexSum(Xj**2, j))


def test_power_three_halves() -> None:
    check((1 - r**2) ** sp.Rational(3, 2), (1 - r**2) * sp.sqrt(1 - r**2))


# ---------------------------------------------------------------------- domains
def test_mask_is_idempotent() -> None:
    m = Tensor("m", (K,), "mask")
    check(IndexSum(element(m, i) ** 2 * Xi, i), IndexSum(element(m, i) * Xi, i))


def test_symmetric_weight() -> None:
    s = Tensor("S", (K, K), "symmetric")
    check(IndexSum(element(s, i, j) * Xj, j), IndexSum(element(s, j, i) * Xj, j))


@pytest.mark.parametrize("entries", ["onehot", "simplex"])
def test_rows_of_a_domain_sum_to_one(entries: str) -> None:
    y = Tensor("y", (N, K), entries)
    check(IndexSum(element(y, n, k), k), sp.S.One)
    assert not equal(IndexSum(element(y, n, k), n), sp.S.One).equal


# ---------------------------------------------------------------------- exponents, numbers, trigonometry
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (u**K, u * u ** (K - 1)),
        (u ** (2 * K), (u**K) ** 2),
        (x**K * x, x ** (K + 1)),
        (u**w * u**x, u ** (w + x)),
        (D(u**K, u), K * u ** (K - 1)),
    ],
)
def test_symbolic_exponents(left: sp.Expr, right: sp.Expr) -> None:
    check(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.sqrt(2) * x * sp.sqrt(2), 2 * x),
        (x / sp.sqrt(2), sp.sqrt(2) * x / 2),
        (sp.sqrt(2 * sp.pi) * x, sp.sqrt(2) * sp.sqrt(sp.pi) * x),
        (x / sp.sqrt(2 * sp.pi) * sp.sqrt(sp.pi), x / sp.sqrt(2)),
    ],
)
def test_roots_of_numbers(left: sp.Expr, right: sp.Expr) -> None:
    check(left, right)


def test_complement_of_an_angle() -> None:
    check(sp.sin(sp.pi / 2 - x, evaluate=False), sp.cos(x))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.asinh(x), sp.log(x + sp.sqrt(1 + x**2))),
        (sp.atanh(r), sp.log((1 + r) / (1 - r)) / 2),
        (D(sp.atan(x), x), 1 / (1 + x**2)),
        (D(sp.asin(r), r), 1 / sp.sqrt(1 - r**2)),
        (D(sp.acos(r), r), -1 / sp.sqrt(1 - r**2)),
        (D(sp.asinh(x), x), 1 / sp.sqrt(1 + x**2)),
        (D(sp.atanh(r), r), 1 / (1 - r**2)),
        (D(sp.acosh(1 + u), u), 1 / sp.sqrt(u * (u + 2))),
        (sp.acosh(1 + u), sp.log(1 + u + sp.sqrt(u) * sp.sqrt(u + 2))),
    ],
)
def test_inverse_functions(left: sp.Expr, right: sp.Expr) -> None:
    check(left, right)


def test_log_gamma_recurrence() -> None:
    check(sp.loggamma(u + 2), sp.loggamma(u) + sp.log(u) + sp.log(u + 1))


# ---------------------------------------------------------------------- composite sizes
def test_sum_over_merged_axes() -> None:
    z, a = Tensor("z", (size("N*K"),)), index("a", size("N*K"))
    check(IndexSum(element(z, a), a), IndexSum(IndexSum(element(z, n * K + k), k), n))


@pytest.mark.xfail(strict=True, reason="a sum over a sum of sizes is not split at a condition")
def test_sum_over_a_concatenation() -> None:
    a = index("a", size("N+K"))
    joined = Indicator(sp.Lt(a, N)) * element(W, a) + Indicator(sp.Ge(a, N)) * element(X, a - N)
    check(IndexSum(joined, a), IndexSum(element(W, n), n) + IndexSum(Xi, i))


def test_an_interleaved_axis_of_even_size_is_picked_by_a_delta() -> None:
    z, a = Tensor("z", (size("2*K"),)), index("a", size("2*K"))
    check(IndexSum(Delta(a, 2 * i + 1) * element(z, a), a), element(z, 2 * i + 1))


# ---------------------------------------------------------------------- kinks
def test_a_derivative_at_a_kink_says_so() -> None:
    answer = equal(D(op.relu(x), x), Indicator(sp.Gt(x, 0)))
    assert answer.equal
    assert answer.used, "the derivative of relu is stated away from 0"
