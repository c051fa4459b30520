"""Problems that people had with softmax, cross-entropy, BCE, smoothing, focal loss and KL: each with its right answer.

The identifiers are those of the collected cases (A01, A02, ...). Each is proved for every size, and its numbers are
worked out exactly at p = (1, 2, 4)/7 or the sizes of the case. The wrong answers are in `test_published_mistakes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.derivations.replay import judge, replay
from lemmata.symbolic.derivations.tactics import partial
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as lm
from lemmata.symbolic.language.arrays import Array, ArrayLike, array, as_array, define
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.hypotheses import Hypothesis, equal, nonzero
from lemmata.symbolic.language.nodes import Tensor, replace, tensors, unfold
from lemmata.symbolic.language.operations import expand_named
from lemmata.symbolic.language.sizes import Size
from lemmata.symbolic.theorems import find_theorem

THIRD = [sp.Integer(0), sp.log(2), sp.log(4)]  # logits with softmax (1, 2, 4)/7
P = [sp.Rational(1, 7), sp.Rational(2, 7), sp.Rational(4, 7)]


def verdict(left: ArrayLike, right: ArrayLike, given: Sequence[Hypothesis] = ()) -> str:
    """The verdict on left = right, in one step."""
    return replay(derive(Claim(left, right, given=given, by=[lambda state: None]))).verdict


def theorem_verdict(name: str) -> str:
    return replay(find_theorem(name).derivation()).verdict


def value(expression: Array, **inputs: Any) -> Any:
    """The exact value at given inputs (nested lists); the sizes are read off the inputs."""
    sizes: dict[str, int] = {}
    numbers: dict[str, sp.Expr] = {}

    def read(name: str, entry: Any, shape: Sequence[sp.Expr]) -> None:
        if not shape:
            numbers[name] = sp.sympify(entry)
            return
        if isinstance(shape[0], Size):
            assert sizes.setdefault(shape[0].name, len(entry)) == len(entry)
        for n, part in enumerate(entry):
            read(f"{name}_{n}", part, shape[1:])

    for t in tensors([expression.body]):
        if t.name in inputs:
            read(t.name, inputs[t.name], t.shape)
    labels = {t: sp.sympify(inputs[t.name]) for t in tensors([expression.body]) if t.domain.integer}
    explicit = at_sizes(replace(expression.body, labels), expression.indices, **sizes)

    def evaluated(part: Any) -> Any:
        if isinstance(part, list):
            return [evaluated(p) for p in part]
        return sp.simplify(expand_named(part).subs({s: numbers[s.name] for s in part.free_symbols}))

    return evaluated(explicit)


def cross_entropy(y: Array, p: Array) -> Array:
    return -lm.sum(y * lm.log(p), axis=-1)


def row() -> tuple[Array, Array, Array]:
    z = array("z", "K")
    return z, array("y", "K"), lm.softmax(z)


def one(y: Array) -> Hypothesis:
    return equal(lm.sum(y, axis=-1), 1)


def rational(*entries: tuple[int, int]) -> list[sp.Rational]:
    return [sp.Rational(a, b) for a, b in entries]


# ---------------------------------------------------------------------- A01
def test_a01_chain_rule_goes_through_every_output() -> None:
    z, t, o = row()
    loss = cross_entropy(t, o)
    through_all = (-t / o) @ partial(o, z)  # Σ_i ∂E/∂o_i ∂o_i/∂z_j
    assert verdict(partial(loss, z), through_all) == "proved"
    assert verdict(through_all, o * lm.sum(t) - t) == "proved"
    assert verdict(through_all, o - t, [one(t)]) == "proved"
    assert verdict(through_all, t * (o - 1), [one(t)]) == "refuted"


def test_a01_values() -> None:
    z, t, o = row()
    given = {"z": THIRD, "y": [0, 1, 0]}
    right = rational((1, 7), (-5, 7), (4, 7))
    assert value(partial(cross_entropy(t, o), z), **given) == right
    assert value(o - t, **given) == right
    assert value(t * (o - 1), **given) == rational((0, 1), (-5, 7), (0, 1))  # right at the label, wrong elsewhere


# ---------------------------------------------------------------------- A02
def test_a02_jacobian_of_softmax() -> None:
    z, _, p = row()
    assert theorem_verdict("deriv_softmax") == "proved"
    assert verdict(partial(p, z) @ lm.ones("K"), lm.zeros("K")) == "proved"  # rows sum to 0
    assert verdict(lm.ones("K") @ partial(p, z), lm.zeros("K")) == "proved"  # columns too


def test_a02_rank_is_one_less_than_the_size() -> None:
    z, _, p = row()
    jacobian = sp.Matrix(value(partial(p, z), z=THIRD))
    assert jacobian == sp.diag(*P) - sp.Matrix(P) * sp.Matrix(P).T
    assert jacobian.rank() == 2
    assert jacobian.nullspace() == [sp.ones(3, 1)]


# ---------------------------------------------------------------------- A03
def test_a03_by_the_probabilities_and_by_the_logits() -> None:
    z, y, p = row()
    free = array("p", "K", "positive")
    assert verdict(partial(cross_entropy(y, free), free), -y / free) == "proved"
    assert verdict(partial(cross_entropy(y, p), z), p - y, [one(y)]) == "proved"
    assert value(partial(cross_entropy(y, free), free), p=P, y=[0, 1, 0]) == rational((0, 1), (-7, 2), (0, 1))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deriv_cross_entropy_of_probabilities", "By the probabilities"),
        ("deriv_cross_entropy_softmax", "by the logits z"),
    ],
)
def test_a03_the_variable_is_part_of_the_statement(name: str, words: str) -> None:
    assert any(words in note for note in find_theorem(name).derivation().notes)


# ---------------------------------------------------------------------- A04
def test_a04_labels_of_any_sum() -> None:
    z, y, p = row()
    gradient = partial(cross_entropy(y, p), z)
    assert verdict(gradient, p * lm.sum(y) - y) == "proved"
    assert verdict(gradient, p - y) == "refuted"


def test_a04_row_of_zeros_and_two_labels() -> None:
    z, y, p = row()
    gradient = partial(cross_entropy(y, p), z)
    assert value(gradient, z=THIRD, y=[0, 0, 0]) == [0, 0, 0]
    assert value(gradient, z=THIRD, y=[1, 1, 0]) == rational((-5, 7), (-3, 7), (8, 7))  # 2p - y


# ---------------------------------------------------------------------- A05
def smoothed(variant: str) -> tuple[Array, Array, Array]:
    """The labels y, ε, and the smoothed labels."""
    y, eps = array("y", "K"), array("eps", "", "(0,1)")
    k = y.shape[0]
    return y, eps, (1 - eps) * y + (eps / k if variant == "uniform" else eps / (k - 1) * (1 - y))


@pytest.mark.parametrize(
    ("variant", "target", "minimum"),
    [("uniform", ("0.95", "0.05"), "0.198515"), ("others", ("0.9", "0.1"), "0.325083")],
)
def test_a05_two_classes(variant: str, target: tuple[str, str], minimum: str) -> None:
    _, _, q = smoothed(variant)
    z = array("z", "K")
    p = lm.softmax(z)
    goal = [sp.Rational(t) for t in target]
    labels = {"y": [1, 0], "eps": sp.Rational(1, 10)}
    assert value(q, **labels) == goal
    at_optimum = {**labels, "z": [sp.log(t) for t in goal]}
    assert value(partial(cross_entropy(q, p), z), **at_optimum) == [0, 0]  # the optimum is p = q
    lowest = float(value(cross_entropy(q, p), **at_optimum))
    assert lowest == pytest.approx(-sum(float(t * sp.log(t)) for t in goal), rel=1e-12)  # the entropy of the target
    assert f"{lowest:.6f}" == minimum


@pytest.mark.parametrize("variant", ["uniform", "others"])
def test_a05_gradient_and_sum(variant: str) -> None:
    y, _, q = smoothed(variant)
    z = array("z", "K")
    p = lm.softmax(z)
    given = [one(y), *([nonzero(as_array(y.shape[0] - 1))] if variant == "others" else [])]
    assert verdict(partial(cross_entropy(q, p), z), p - q, given) == "proved"
    assert verdict(lm.sum(q), 1, given) == "proved"


def test_a05_one_variant_is_the_other_with_another_eps() -> None:
    y, eps, others = smoothed("others")
    k = y.shape[0]
    rescaled = eps * k / (k - 1)
    assert verdict(others, (1 - rescaled) * y + rescaled / k, [nonzero(as_array(k - 1))]) == "proved"


def test_a05_a_third_variant_does_not_sum_to_one() -> None:
    y, eps, _ = smoothed("uniform")
    k = y.shape[0]
    broken = (1 - eps - eps / k) * y + eps / k * (1 - y)
    assert verdict(lm.sum(broken), 1, [one(y)]) == "refuted"
    assert verdict(lm.sum(broken), 1 - 2 * eps / k, [one(y)]) == "proved"
    assert value(lm.sum(broken), y=[1, 0], eps=sp.Rational(1, 10)) == sp.Rational(9, 10)


# ---------------------------------------------------------------------- A07
def focal() -> tuple[Array, Array, Array, Array]:
    """The gradient by the logits not carried out, and as it should be; α and p − e_c."""
    z, c = array("z", "K"), array("c", "", "index<K")
    gamma, alpha = array("gamma", "", "nonnegative"), array("alpha", "", "positive")
    p = lm.softmax(z)
    p_c, hot = p[c.body], lm.one_hot(c, "K")
    right = alpha * (1 - p_c) ** (gamma - 1) * (gamma * p_c * lm.log(p_c) - (1 - p_c)) * (hot - p)
    return partial(-alpha * (1 - p_c) ** gamma * lm.log(p_c), z), right, alpha, p - hot


def test_a07_softmax_focal_loss_with_any_gamma() -> None:
    left, right, *_ = focal()
    assert verdict(left, right) == "proved"
    assert verdict(left, -right) == "refuted"


def test_a07_gamma_zero_is_weighted_cross_entropy() -> None:
    left, right, alpha, difference = focal()
    (gamma,) = (t for t in tensors([right.body]) if t.name == "gamma")
    no_focus = [Array(a.indices, replace(a.body, {gamma: sp.S.Zero})) for a in (left, right)]
    assert verdict(no_focus[0], alpha * difference) == "proved"
    assert verdict(no_focus[0], no_focus[1]) == "proved"


def test_a07_value_with_a_gamma_that_is_no_integer() -> None:
    left, right, *_ = focal()
    given = {"z": THIRD, "c": 1, "gamma": sp.Rational(3, 2), "alpha": sp.Rational(1, 4)}
    for a, b in zip(value(left, **given), value(right, **given), strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-12)
    p_c = 2 / 7
    slope = 0.25 * (1 - p_c) ** 0.5 * (1.5 * p_c * float(sp.log(p_c)) - (1 - p_c))
    assert float(value(right, **given)[0]) == pytest.approx(-slope / 7, rel=1e-12)


# ---------------------------------------------------------------------- A09
def kl(p: Array, q: Array) -> Array:
    return lm.sum(p * lm.log(p / q))


def test_a09_both_directions_of_kl_by_logits() -> None:
    z, p = array("z", "K"), array("p", "K", "positive")
    q = lm.softmax(z, name="q")
    assert verdict(partial(kl(p, q), z), q - p, [one(p)]) == "proved"
    assert verdict(partial(kl(q, p), z), q * (lm.log(q / p) - kl(q, p)), [one(p)]) == "proved"


def test_a09_the_directions_differ_but_for_their_common_zero() -> None:
    z, p = array("z", "K"), array("p", "K", "positive")
    q = lm.softmax(z, name="q")
    gradients = [partial(kl(p, q), z), partial(kl(q, p), z)]
    assert [value(g, z=THIRD, p=P) for g in gradients] == [[0, 0, 0], [0, 0, 0]]
    third = [sp.Rational(1, 3)] * 3
    first, second = (value(g, z=THIRD, p=third) for g in gradients)
    assert first == rational((-4, 21), (-1, 21), (5, 21))
    assert [float(a) for a in first] != pytest.approx([float(b) for b in second], abs=1e-3)


# ---------------------------------------------------------------------- A10
def bce(a: Array, y: Array) -> Array:
    return -(y * lm.log(a) + (1 - y) * lm.log(1 - a))


def bce_batch() -> tuple[Array, Array, Array, sp.Expr, sp.Expr]:
    z, y = array("Z", "m,K"), array("Y", "m,K")
    return z, y, define("A", lm.sigmoid(z), domain="(0,1)"), *z.shape


def test_a10_both_rules_are_one() -> None:
    z, y, a = array("z", ""), array("y", ""), array("a", "", "(0,1)")
    s = define("a", lm.sigmoid(z), domain="(0,1)")
    by_a = (a - y) / (a * (1 - a))
    assert verdict(partial(bce(a, y), a), by_a) == "proved"
    assert verdict(by_a * (a * (1 - a)), a - y) == "proved"  # dA times σ'(Z) is A - Y
    assert verdict(partial(bce(s, y), z), s - y) == "proved"
    assert value(partial(bce(s, y), z), z=sp.log(3), y=1) == sp.Rational(-1, 4)
    assert value(by_a, a=sp.Rational(3, 4), y=1) == sp.Rational(-4, 3)


def test_a10_the_reduction_is_part_of_the_loss() -> None:
    z, y, a, m, k = bce_batch()
    assert verdict(partial(lm.mean(bce(a, y)), z), (a - y) / (m * k)) == "proved"
    assert verdict(partial(lm.mean(lm.sum(bce(a, y), axis=1)), z), (a - y) / m) == "proved"


def test_a10_values_on_two_rows_of_three() -> None:
    z, y, a, _, _ = bce_batch()
    given = {"Z": [[sp.log(3)] * 3, [0] * 3], "Y": [[1, 0, 1], [0, 1, 1]]}  # a = 3/4 and 1/2
    whole = value(partial(lm.mean(bce(a, y)), z), **given)
    rows = value(partial(lm.mean(lm.sum(bce(a, y), axis=1)), z), **given)
    assert whole == [rational((-1, 24), (1, 8), (-1, 24)), rational((1, 12), (-1, 12), (-1, 12))]
    assert rows == [[3 * entry for entry in line] for line in whole]


# ---------------------------------------------------------------------- A12
def test_a12_hessian_is_the_covariance_of_the_class() -> None:
    z, y, p = row()
    hessian = partial(partial(cross_entropy(y, p), z), z)
    assert verdict(hessian, lm.diag(p) - lm.outer(p, p), [one(y)]) == "proved"
    assert theorem_verdict("hessian_cross_entropy_softmax") == "proved"


def test_a12_there_is_no_label_in_it() -> None:
    right = unfold(find_theorem("hessian_cross_entropy_softmax").derivation().right)
    assert {t.name for t in right.atoms(Tensor)} | {t.name for t in tensors([right])} == {"z"}


def test_a12_it_is_positive_semidefinite() -> None:
    z, y, p = row()
    v = array("v", "K")
    hessian = partial(partial(cross_entropy(y, p), z), z)
    assert verdict(v @ hessian @ v, lm.sum(p * (v - p @ v) ** 2), [one(y)]) == "proved"
    exact = sp.Matrix(value(hessian, z=THIRD, y=rational((1, 2), (1, 3), (1, 6))))
    assert exact == sp.diag(*P) - sp.Matrix(P) * sp.Matrix(P).T
    assert exact.is_positive_semidefinite
    assert not exact.is_positive_definite


# ---------------------------------------------------------------------- A13
def by_axis(axis: int) -> tuple[Array, Array, Array]:
    """Mean loss over the rows with the softmax along an axis, differentiated; (P − Y)/N; the labels."""
    z, y = array("Z", "N,K"), array("Y", "N,K")
    p = lm.softmax(z, axis=axis, name="P")
    return partial(lm.mean(cross_entropy(y, p)), z), (p - y) / z.shape[0], y


@pytest.mark.parametrize(("axis", "expected"), [(1, "proved"), (0, "refuted")])
def test_a13_only_the_class_axis_gives_p_minus_y(axis: int, expected: str) -> None:
    left, right, y = by_axis(axis)
    assert verdict(left, right, [one(y)]) == expected


@pytest.mark.parametrize(("axis", "expected"), [(1, True), (0, False)])
def test_a13_a_square_batch_does_not_hide_it(axis: int, expected: bool) -> None:
    left, right, y = by_axis(axis)
    d = derive(Claim(left, right, given=[one(y)], by=[lambda state: None]))
    found = check_equal(d.left, d.right, d.indices, d.hypotheses, sizes={Size("N"): 3, Size("K"): 3})
    assert found.equal is expected
    if not expected:
        assert found.counterexample is not None
        assert found.counterexample.sizes == {"K": 3, "N": 3}
        assert judge(d.steps, d.indices, d.hypotheses).verdict == "refuted"
