"""Replaying derivations: tampering is refuted, wrong statements get a counterexample, and JSON keeps the proof."""

import json
from dataclasses import replace as changed

import pytest
import sympy as sp

from lemmata.symbolic.derivations import gradients
from lemmata.symbolic.derivations.chains import BrokenChain, check_chain
from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.tactics import partial, to
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.errors import FormulaError, LemmataError
from lemmata.symbolic.language.hypotheses import equal as given_equal
from lemmata.symbolic.language.hypotheses import positive
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json
from lemmata.symbolic.theorems import find_theorem

z, y = array("z", "K"), array("y", "K")
p = v.softmax(z)
LOSS = -v.sum(y * v.log(p))


def sound() -> Derivation:
    return gradients.gradient(LOSS, z, [given_equal(v.sum(y), 1)])


def with_step(d: Derivation, n: int, **changes) -> Derivation:
    return changed(d, steps=(*d.steps[:n], changed(d.steps[n], **changes), *d.steps[n + 1 :]))


SOUND = sound()
STEPS = range(len(SOUND.steps))


# ---------- the chain
def test_the_sound_derivation_is_proved():
    check_chain(SOUND)
    verdict = replay(SOUND)
    assert verdict.verdict == "proved"
    assert verdict.evidence[0].kind == "canonical"
    assert {"exact", "balls", "dependence"} <= {e.kind for e in verdict.evidence}
    assert f"statement and {len(SOUND.steps)} steps" in verdict.evidence[0].detail
    assert verdict.counterexample is None


@pytest.mark.parametrize("n", STEPS)
def test_a_dropped_step_is_found(n):
    broken = changed(SOUND, steps=SOUND.steps[:n] + SOUND.steps[n + 1 :])
    with pytest.raises(BrokenChain, match=r"starts from|the last line is"):
        check_chain(broken)
    verdict = replay(broken)
    assert verdict.verdict == "refuted"
    assert verdict.reason


@pytest.mark.parametrize("n", STEPS)
def test_a_changed_line_is_found(n):
    broken = with_step(SOUND, n, after=SOUND.steps[n].after + 1)
    with pytest.raises(BrokenChain):
        check_chain(broken)
    assert replay(broken).verdict == "refuted"


def test_steps_in_another_order_are_found():
    with pytest.raises(BrokenChain):
        check_chain(changed(SOUND, steps=SOUND.steps[::-1]))


def test_another_left_or_right_side_is_found():
    for broken in (changed(SOUND, left=2 * SOUND.left), changed(SOUND, right=-SOUND.right)):
        with pytest.raises(BrokenChain):
            check_chain(broken)
        assert replay(broken).verdict == "refuted"


# ---------- a consistent chain of wrong steps
FORGERIES = {
    "sign": lambda e: -e,
    "factor": lambda e: e * sp.Rational(10009, 10000),
    "constant": lambda e: e + sp.Rational(1, 1000),
    "term": lambda e: e + array("z", "K").element(*SOUND.indices),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_chain_that_fits_but_is_false_is_refuted_with_a_counterexample(forge):
    last = len(SOUND.steps) - 1
    wrong = forge(SOUND.right)
    forged = changed(with_step(SOUND, last, after=wrong), right=wrong)
    check_chain(forged)
    verdict = replay(forged)
    assert verdict.verdict == "refuted"
    found = verdict.counterexample
    assert found is not None
    assert found.sizes
    assert found.inputs
    assert found.left != found.right


@pytest.mark.parametrize("n", STEPS[:-1])
def test_two_wrong_steps_that_cancel_are_refuted(n):
    """The ends are equal; the line between is not: each step is judged, not only the statement."""
    wrong = -SOUND.steps[n].after + 1
    forged = with_step(with_step(SOUND, n, after=wrong), n + 1, before=wrong)
    check_chain(forged)
    verdict = replay(forged)
    assert verdict.verdict == "refuted"
    assert f"step {n + 1}" in verdict.reason
    assert replay(forged, steps=False).verdict == "proved"  # only the ends were looked at


def test_a_dropped_hypothesis_is_refuted():
    verdict = replay(changed(SOUND, hypotheses=()))
    assert verdict.verdict == "refuted"
    assert verdict.counterexample is not None


# ---------- wrong statements
i_of = array("z", "K").indices
WRONG = {
    "elementwise softmax derivative": (partial(p, z), v.diag(p * (1 - p))),
    "softmax derivative without the delta": (partial(p, z), v.outer(p, p)),
    "transposed log-softmax": (partial(v.log_softmax(z), z), v.eye("K") - p[:, None] + 0 * z),
    "cross-entropy gradient p + y": (partial(LOSS, z), p + y),
    "cross-entropy gradient without the sum": (partial(LOSS, z), p - y),
    "softmax is scale invariant": (p, v.softmax(2 * z, name="q")),
    "logsumexp is the maximum": (v.logsumexp(z), v.max(z)),
    "mean is the sum": (v.mean(z), v.sum(z)),
    "the sum of squares": (v.sum(z) ** 2, v.sum(z**2)),
    "sigmoid derivative": (partial(v.sigmoid(z), z), v.diag(v.sigmoid(z))),
    "right only at size 1": (v.sum(p * p), 1),
    "off by a thousandth": (v.sum(p), sp.Rational(1001, 1000)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_statements_are_refuted(name):
    left, right = WRONG[name]
    d = derive(Claim(left, right, by=[to(right, "collect", "claimed")]))
    verdict = replay(d)
    assert verdict.verdict == "refuted", verdict
    assert verdict.counterexample is not None
    assert verdict.counterexample.left != verdict.counterexample.right
    assert not any(e.passed for e in verdict.evidence if e.kind == "canonical")


def test_the_missing_term_is_named():
    left, right = WRONG["cross-entropy gradient without the sum"]
    found = replay(derive(Claim(left, right, by=[to(right)]))).counterexample
    assert found.residual


def test_a_positive_hypothesis_is_used():
    x = array("x", "K")
    claim = Claim(v.log(x * x), 2 * v.log(x), by=[to(2 * v.log(x))], given=[positive(x)])
    assert replay(derive(claim)).verdict == "proved"
    without = replay(derive(Claim(claim.left, claim.right, by=claim.by)))
    assert without.verdict != "proved" or without.conditions


def test_the_hypothesis_itself_is_proved():
    assert replay(derive(Claim(v.sum(y), 1, by=[to(1)], given=[given_equal(v.sum(y), 1)]))).verdict == "proved"


# ---------- JSON
THEOREMS = ["deriv_softmax", "softmax_eq_stable", "deriv_softmax_rows", "jacobian_softmax_mul_one"]


@pytest.mark.parametrize("make", [sound, *(lambda n=n: find_theorem(n).derivation() for n in THEOREMS)],
                         ids=["cross-entropy", *THEOREMS])  # fmt: skip
def test_json_keeps_the_derivation(make):
    d = make()
    text = derivation_to_json(d)
    again = derivation_from_json(text)
    assert derivation_to_json(again) == text
    assert [s.rule for s in again.steps] == [s.rule for s in d.steps]
    assert [t.name for t in again.definitions] == [t.name for t in d.definitions]
    check_chain(again)
    before, after = replay(d), replay(again)
    assert before.verdict == after.verdict == "proved"
    assert [(e.kind, e.passed) for e in before.evidence] == [(e.kind, e.passed) for e in after.evidence]


def _numbers(data, path=()):
    """The places of integers inside expressions, deepest last."""
    if isinstance(data, list):
        if data[:1] in (["element"], ["bound"], ["index"], ["tensor"]):
            return
        for n, item in enumerate(data):
            if isinstance(item, int) and not isinstance(item, bool):
                yield (*path, n)
            else:
                yield from _numbers(item, (*path, n))


@pytest.mark.parametrize("n", STEPS)
def test_a_tampered_file_is_refuted(n):
    data = json.loads(derivation_to_json(SOUND))
    places = list(_numbers(data["steps"][n]["after"]))
    target = data["steps"][n]["after"]
    if places:
        for key in places[0][:-1]:
            target = target[key]
        target[places[0][-1]] += 2
    else:
        data["steps"][n]["after"] = ["mul", -1, target]
    assert replay(derivation_from_json(json.dumps(data))).verdict == "refuted"


def test_a_tampered_definition_is_refuted():
    data = json.loads(derivation_to_json(SOUND))
    (row,) = [t for t in data["tensors"] if t["name"] == "p"]
    row["body"] = ["mul", 2, row["body"]]
    assert replay(derivation_from_json(data)).verdict == "refuted"


def test_a_tampered_hypothesis_is_refuted():
    data = json.loads(derivation_to_json(SOUND))
    data["hypotheses"][0]["right"] = 2
    assert replay(derivation_from_json(data)).verdict == "refuted"
    data["hypotheses"] = []
    assert replay(derivation_from_json(data)).verdict == "refuted"


def test_a_dropped_line_of_a_file_is_refuted():
    data = json.loads(derivation_to_json(SOUND))
    del data["steps"][1]
    assert replay(derivation_from_json(data)).verdict == "refuted"


@pytest.mark.parametrize("spoil", [
    lambda d: d.pop("steps"), lambda d: d.update(format="other/1"), lambda d: d.update(left=["eval", "1"]),
    lambda d: d.update(left="__import__('os')"), lambda d: d.update(right=["function", "system", 1]),
    lambda d: d.update(left=["element", 99]), lambda d: d["steps"][0].pop("rule"), lambda d: d.update(left=[]),
], ids=["no steps", "format", "node", "text", "function", "tensor", "no rule", "empty"])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(spoil):
    data = json.loads(derivation_to_json(SOUND))
    spoil(data)
    with pytest.raises(LemmataError):
        derivation_from_json(json.dumps(data))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(FormulaError, match="not a JSON file"):
        derivation_from_json("{")
    with pytest.raises(FormulaError, match="format"):
        derivation_from_json("[]")
