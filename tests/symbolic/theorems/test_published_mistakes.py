"""Wrong formulas that were published or shipped for softmax, cross-entropy, BCE, KL and focal loss, each refuted.

A row is a left side, the wrong right side and the right one. The wrong one must be refuted with a concrete
counterexample, which is then confirmed with plain SymPy at those numbers (no code of either path); the right one must
be proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import sympy as sp

from lemmata.symbolic.derivations.model import Counterexample, Derivation, Verdict
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.tactics import partial
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as lm
from lemmata.symbolic.language.arrays import Array, ArrayLike, array, as_array, define
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.hypotheses import Hypothesis, equal, nonzero
from lemmata.symbolic.language.nodes import replace


@dataclass(frozen=True)
class Published:
    """One mistake: what is claimed to be equal to `left`, what is, and a word that the refutation must contain."""

    left: Array
    wrong: ArrayLike
    right: ArrayLike
    given: Sequence[Hypothesis] = ()
    says: str = ""


MISTAKES: dict[str, Callable[[], Published]] = {}


def mistake(make: Callable[[], Published]) -> Callable[[], Published]:
    MISTAKES[make.__name__] = make
    return make


def cross_entropy(y: Array, p: Array) -> Array:
    return -lm.sum(y * lm.log(p), axis=-1)


def kl(p: Array, q: Array) -> Array:
    return lm.sum(p * lm.log(p / q), axis=-1)


def bce(p: Array, y: Array) -> Array:
    return -(y * lm.log(p) + (1 - y) * lm.log(1 - p))


def row() -> tuple[Array, Array, Array, list[Hypothesis]]:
    z, y = array("z", "K"), array("y", "K")
    return z, y, lm.softmax(z), [equal(lm.sum(y), 1)]


def batch() -> tuple[Array, Array, Array, list[Hypothesis], sp.Expr, sp.Expr]:
    z, y = array("Z", "N,K"), array("Y", "N,K")
    return z, y, lm.softmax(z, name="P"), [equal(lm.sum(y, axis=1), 1)], *z.shape


# ---------------------------------------------------------------------- softmax and its relatives
@mistake
def softmax_derivative_elementwise() -> Published:
    z, _, p, _ = row()
    return Published(partial(p, z), lm.diag(p * (1 - p)), lm.diag(p) - lm.outer(p, p))


@mistake
def softmax_derivative_without_the_outer_product() -> Published:
    z, _, p, _ = row()
    return Published(partial(p, z), lm.diag(p), lm.diag(p) - lm.outer(p, p))


@mistake
def softmax_backward_elementwise() -> Published:
    z, g, p, _ = row()
    return Published(g @ partial(p, z), g * p * (1 - p), p * (g - lm.sum(g * p)))


@mistake
def log_softmax_derivative_without_the_sum() -> Published:
    z, _, p, _ = row()
    return Published(partial(lm.log(p), z), lm.diag(1 - p), lm.eye("K") - p)


@mistake
def log_softmax_backward_without_the_sum() -> Published:
    z, g, p, _ = row()
    return Published(partial(lm.sum(g * lm.log_softmax(z)), z), g - p, g - p * lm.sum(g))


@mistake
def sigmoid_derivative_of_its_input() -> Published:
    z = array("z", "")
    return Published(partial(lm.sigmoid(z), z), z * (1 - z), lm.sigmoid(z) * (1 - lm.sigmoid(z)))


# ---------------------------------------------------------------------- cross-entropy
@mistake
def cross_entropy_gradient_p_plus_y() -> Published:
    z, y, p, given = row()
    return Published(partial(cross_entropy(y, p), z), p + y, p - y, given)


@mistake
def chain_rule_through_one_output_only() -> Published:
    z, y, p, given = row()
    return Published(partial(cross_entropy(y, p), z), y * (p - 1), p - y, given)


@mistake
def p_minus_y_for_labels_of_any_sum() -> Published:
    z, y, p, _ = row()
    return Published(partial(cross_entropy(y, p), z), p - y, p * lm.sum(y) - y)


@mistake
def output_minus_label_by_the_probabilities() -> Published:
    p, y = array("p", "K", "positive"), array("y", "K")
    return Published(partial(cross_entropy(y, p), p), p - y, -y / p, [equal(lm.sum(y), 1)])


@mistake
def batch_mean_without_one_over_n() -> Published:
    z, y, p, given, n, _ = batch()
    return Published(partial(lm.mean(cross_entropy(y, p)), z), p - y, (p - y) / n, given, "lacks the factor 1/N")


@mistake
def batch_mean_over_classes_too() -> Published:
    z, y, p, given, n, k = batch()
    return Published(partial(lm.mean(cross_entropy(y, p)), z), (p - y) / (n * k), (p - y) / n, given)


@mistake
def softmax_over_the_batch_axis() -> Published:
    z, y, _, given, n, _ = batch()
    p = lm.softmax(z, axis=0, name="P")
    return Published(partial(lm.mean(cross_entropy(y, p)), z), (p - y) / n, (p * lm.sum(y, axis=0) - y) / n, given)


@mistake
def temperature_forgotten_in_the_chain_rule() -> Published:
    z, y, _, given = row()
    tau = array("tau", "", "positive")
    p = lm.softmax(z / tau)
    return Published(partial(cross_entropy(y, p), z), p - y, (p - y) / tau, given)


@mistake
def weighted_mean_divided_by_the_number_of_rows() -> Published:
    z, y, p, given, n, _ = batch()
    w = array("w", "N", "positive")
    rows = w[:, None] * (p - y)
    return Published(partial(lm.sum(w * cross_entropy(y, p)) / lm.sum(w), z), rows / n, rows / lm.sum(w), given)


@mistake
def hessian_with_the_labels_in_it() -> Published:
    z, y, p, given = row()
    hessian = partial(partial(cross_entropy(y, p), z), z)
    return Published(hessian, lm.diag(p) - lm.outer(p, y), lm.diag(p) - lm.outer(p, p), given)


# ---------------------------------------------------------------------- label smoothing
def smoothing() -> tuple[Array, Array, Array, list[Hypothesis], sp.Expr, Array]:
    z, y, p, given = row()
    k = y.shape[0]
    return z, y, p, [*given, nonzero(as_array(k - 1))], k, array("eps", "", "(0,1)")


@mistake
def smoothed_target_one_minus_eps_minus_eps_over_k() -> Published:
    _, y, _, given, k, eps = smoothing()
    q = (1 - eps - eps / k) * y + eps / k * (1 - y)
    return Published(lm.sum(q), 1, 1 - 2 * eps / k, given)


@mistake
def smoothing_over_all_classes_taken_for_the_other_classes() -> Published:
    z, y, p, given, k, eps = smoothing()
    uniform = (1 - eps) * y + eps / k
    others = (1 - eps) * y + eps / (k - 1) * (1 - y)
    return Published(partial(cross_entropy(uniform, p), z), p - others, p - uniform, given)


@mistake
def smoothing_over_the_other_classes_taken_for_all_classes() -> Published:
    z, y, p, given, k, eps = smoothing()
    uniform = (1 - eps) * y + eps / k
    others = (1 - eps) * y + eps / (k - 1) * (1 - y)
    return Published(partial(cross_entropy(others, p), z), p - uniform, p - others, given)


# ---------------------------------------------------------------------- KL divergence
def by_logits() -> tuple[Array, Array, Array, list[Hypothesis]]:
    z, p = array("z", "K"), array("p", "K", "positive")
    return z, p, lm.softmax(z, name="q"), [equal(lm.sum(p), 1)]


@mistake
def kl_swapped_second_for_first() -> Published:
    z, p, q, given = by_logits()
    return Published(partial(kl(q, p), z), q - p, q * (lm.log(q / p) - kl(q, p)), given)


@mistake
def kl_swapped_first_for_second() -> Published:
    z, p, q, given = by_logits()
    return Published(partial(kl(p, q), z), q * (lm.log(q / p) - kl(q, p)), q - p, given)


@mistake
def kl_is_symmetric() -> Published:
    p, q = array("p", "K", "positive"), array("q", "K", "positive")
    given = [equal(lm.sum(p), 1), equal(lm.sum(q), 1)]
    return Published(kl(p, q), kl(q, p), cross_entropy(p, q) + lm.sum(p * lm.log(p)), given)


@mistake
def kl_by_its_first_argument_without_the_one() -> Published:
    p, q = array("p", "K", "positive"), array("q", "K", "positive")
    return Published(partial(kl(p, q), p), lm.log(p / q), lm.log(p / q) + 1)


# ---------------------------------------------------------------------- binary cross-entropy
@mistake
def bce_by_logit_given_the_formula_by_probability() -> Published:
    z, y = array("z", ""), array("y", "")
    a = define("a", lm.sigmoid(z), domain="(0,1)")
    return Published(partial(bce(a, y), z), (a - y) / (a * (1 - a)), a - y)


@mistake
def bce_by_probability_given_the_formula_by_logit() -> Published:
    a, y = array("a", "", "(0,1)"), array("y", "")
    return Published(partial(bce(a, y), a), a - y, (a - y) / (a * (1 - a)))


def bce_batch() -> tuple[Array, Array, Array, sp.Expr, sp.Expr]:
    z, y = array("Z", "m,K"), array("Y", "m,K")
    return z, y, define("A", lm.sigmoid(z), domain="(0,1)"), *z.shape


@mistake
def bce_mean_over_rows_divided_by_all_entries() -> Published:
    z, y, a, m, k = bce_batch()
    return Published(partial(lm.mean(lm.sum(bce(a, y), axis=1)), z), (a - y) / (m * k), (a - y) / m)


@mistake
def bce_mean_over_all_entries_divided_by_rows() -> Published:
    z, y, a, m, k = bce_batch()
    return Published(partial(lm.mean(bce(a, y)), z), (a - y) / m, (a - y) / (m * k), says="lacks the factor 1/K")


# ---------------------------------------------------------------------- focal loss
@mistake
def focal_factor_merged_over_both_labels() -> Published:
    p, y, gamma = array("p", "", "(0,1)"), array("y", "", "binary"), array("gamma", "", "positive")
    one, zero = -((1 - p) ** gamma) * lm.log(p), -(p**gamma) * lm.log(1 - p)
    by_one = (1 - p) ** (gamma - 1) * (gamma * lm.log(p) - (1 - p) / p)
    by_zero = -(p ** (gamma - 1)) * (gamma * lm.log(1 - p) - p / (1 - p))
    merged = (1 - p) ** gamma * (p - y) / (p * (1 - p)) - gamma * (1 - p) ** (gamma - 1) * bce(p, y)
    return Published(partial(y * one + (1 - y) * zero, p), merged, y * by_one + (1 - y) * by_zero)


def softmax_focal() -> tuple[Array, Array, Array, Array, Array]:
    """Left side, slope times p_c, one-hot label, p, and the slope by p_c."""
    z, c = array("z", "K"), array("c", "", "index<K")
    gamma, alpha = array("gamma", "", "positive"), array("alpha", "", "positive")
    p = lm.softmax(z)
    p_c = p[c.body]
    slope = alpha * (1 - p_c) ** (gamma - 1) * (gamma * lm.log(p_c) - (1 - p_c) / p_c)
    return partial(-alpha * (1 - p_c) ** gamma * lm.log(p_c), z), slope * p_c, lm.one_hot(c, "K"), p, slope


@mistake
def focal_softmax_factor_forgotten() -> Published:
    left, scaled, hot, p, slope = softmax_focal()
    return Published(left, slope * hot, scaled * (hot - p))


@mistake
def focal_sign_of_the_softmax_factor() -> Published:
    left, scaled, hot, p, _ = softmax_focal()
    return Published(left, scaled * (p - hot), scaled * (hot - p), says="sign")


# ---------------------------------------------------------------------- the tests
def derived(left: Array, right: ArrayLike, given: Sequence[Hypothesis]) -> Derivation:
    return derive(Claim(left, right, given=given, by=[lambda state: None]))


def judged(left: Array, right: ArrayLike, given: Sequence[Hypothesis]) -> Verdict:
    return replay(derived(left, right, given))


def at(expression: sp.Expr, d: Derivation, found: Counterexample) -> float:
    """The value at a counterexample, by plain SymPy: explicit components, its own derivative, evaluated in floats."""
    labels: dict[sp.Basic, sp.Basic] = {t: sp.Integer(found.inputs[t.name]) for t in d.tensors if t.domain.integer}
    values = at_sizes(replace(expression, labels), d.indices, **found.sizes)
    for place in found.index:
        values = values[place]
    numbers = dict(components(found.inputs))
    return float(values.subs({s: numbers[s.name] for s in values.free_symbols}).evalf(30))


def components(inputs: Mapping[str, Any]) -> list[tuple[str, sp.Expr]]:
    """z = [[1, 2]] as z_0_0 = 1, z_0_1 = 2."""
    flat: list[tuple[str, sp.Expr]] = []
    for name, value in inputs.items():
        if isinstance(value, list):
            flat += components({f"{name}_{n}": v for n, v in enumerate(value)})
        else:
            flat.append((name, sp.Rational(str(value))))
    return flat


every_mistake = pytest.mark.parametrize("name", list(MISTAKES))


@every_mistake
def test_wrong_version_is_refuted(name: str) -> None:
    case = MISTAKES[name]()
    d = derived(case.left, case.wrong, case.given)
    verdict = replay(d)
    assert verdict.verdict == "refuted", verdict
    found = verdict.counterexample
    assert found is not None
    assert case.says in found.residual
    left, claimed = at(d.left, d, found), at(d.right, d, found)
    assert left == pytest.approx(float(found.left), rel=1e-12, abs=1e-15)
    assert claimed == pytest.approx(float(found.right), rel=1e-12, abs=1e-15)
    assert abs(left - claimed) > 1e-6


@every_mistake
def test_right_version_is_proved(name: str) -> None:
    case = MISTAKES[name]()
    verdict = judged(case.left, case.right, case.given)
    assert verdict.verdict == "proved", verdict


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 12


def test_sizes_of_counterexamples_differ() -> None:
    case = batch_mean_without_one_over_n()
    found = judged(case.left, case.wrong, case.given).counterexample
    assert found is not None
    assert len(set(found.sizes.values())) == len(found.sizes) == 2
