"""Gradients in named adjoints: what ties the parts together is looked at, and every way to loosen it is refuted."""

from dataclasses import replace as changed

import pytest

from lemmata.symbolic.calculus.reverse import opaque
from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define
from lemmata.symbolic.language.hypotheses import equal as given_equal
from lemmata.symbolic.language.hypotheses import positive
from lemmata.symbolic.language.nodes import DefinedTensor, Tensor, replace
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json

Q, K, V, G = array("Q", "n,d"), array("K", "m,d"), array("V", "m,c"), array("G", "n,c")
S = define("S", Q @ K.T)
P = v.softmax(S, axis=1, name="P")
O = define("O", P @ V)


def attention(**forms) -> Derivation:
    return derive_system(System(v.sum(G * O), [Q, K, V], forms=forms), name="attention")


def flash(known):
    return P * (known["dP"] - v.sum(known["dO"] * O, axis=1, keepdims=True))


FLASH = attention(S=flash)
x, w, g = array("x", "K"), array("w", "K"), array("g", "K")
p = v.softmax(x, name="p")
# x is named by p and by c, and c names p: ∂c/∂x is taken with p held constant
TWICE = derive_system(System(v.sum(g * define("c", p * x * w)), [x, w]), name="twice")


def with_part(d: Derivation, which: str, **changes) -> Derivation:
    return changed(d, parts=tuple(changed(q, **changes) if q.name == which else q for q in d.parts))


def part(d: Derivation, name: str) -> Derivation:
    return next(q for q in d.parts if q.name == name)


def test_a_form_that_needs_other_adjoints_is_proved_with_them_known():
    """FlashAttention's dS = P ⊙ (dP − rowsum(dO ⊙ O)) is false for an arbitrary dP."""
    assert {t.name for t in part(FLASH, "dS").definitions} == {"P", "O", "dP"}
    assert replay(FLASH).verdict == "proved"


@pytest.mark.parametrize("wrong", [
    lambda known: P * known["dP"],
    lambda known: P * (known["dP"] + v.sum(known["dO"] * O, axis=1, keepdims=True)),
    lambda known: P * (known["dP"] - v.sum(known["dO"] * O * 1.0009, axis=1, keepdims=True)),
    lambda known: P * (known["dP"] - v.sum(known["dO"] * O)),
])
def test_a_wrong_form_is_refuted(wrong):
    verdict = replay(attention(S=wrong))
    assert verdict.verdict == "refuted"
    assert verdict.reason.startswith("dS:")
    assert verdict.counterexample is not None


def test_what_is_false_for_arbitrary_names_and_true_of_these_is_supported():
    shallow = part(attention(), "dS")
    end = opaque(part(FLASH, "dS").adjoint.at(*shallow.indices))
    step = changed(shallow.steps[0], before=shallow.left, after=end)
    loose = with_part(FLASH, "dS", left=shallow.left, right=end, indices=shallow.indices, steps=(step,), definitions=())
    verdict = replay(loose)
    assert verdict.verdict == "supported", verdict.reason
    assert "stand for themselves" in verdict.reason


def test_a_name_that_another_definition_uses_is_held_constant():
    assert replay(TWICE).verdict == "proved"
    assert {t.name for t in part(TWICE, "dx").definitions} == {"p"}


@pytest.mark.parametrize("d", [FLASH, TWICE], ids=["flash", "twice"])
def test_a_file_keeps_the_proof(d):
    assert replay(derivation_from_json(derivation_to_json(d))).verdict == "proved"


def refuted(d: Derivation, words: str) -> None:
    verdict = replay(d)
    assert verdict.verdict == "refuted", verdict
    assert words in verdict.reason


def test_another_body_of_a_definition_is_found():
    own = next(t for t in part(FLASH, "dS").definitions if t.name == "P")
    double = DefinedTensor("P", own.parameters, 2 * own.body, own.origin, own.domain)
    ends = {k: replace(getattr(part(FLASH, "dS"), k), {own: double}) for k in ("left", "right")}
    refuted(with_part(FLASH, "dS", **ends), "P")


def test_another_domain_of_a_name_is_found():
    plain = next(t for t in part(FLASH, "dV").tensors if t.name == "dO")
    d = part(FLASH, "dV")
    signed = {plain: Tensor("dO", plain.shape, "positive")}
    refuted(with_part(FLASH, "dV", left=replace(d.left, signed), right=replace(d.right, signed)), "dO")


def test_a_hypothesis_of_a_part_alone_is_found():
    refuted(with_part(FLASH, "dQ", hypotheses=(given_equal(v.sum(Q), 1),)), "hypotheses")
    refuted(with_part(FLASH, "dQ", hypotheses=(positive(Q),)), "hypotheses")


@pytest.mark.parametrize("name", ["dO", "dP", "dS"])
def test_an_adjoint_left_out_is_found(name):
    refuted(changed(FLASH, parts=tuple(q for q in FLASH.parts if q.name != name)), f"adjoint of {name[1:]} is missing")


def test_no_gradient_at_all_is_found():
    inner = tuple(q for q in FLASH.parts if q.name in ("dO", "dP", "dS"))
    refuted(changed(FLASH, parts=inner), "no part is the gradient")


def test_a_part_twice_or_under_another_name_is_found():
    refuted(changed(FLASH, parts=(*FLASH.parts, FLASH.parts[-1])), "dV")
    refuted(with_part(FLASH, "dV", name="dK"), "dK")


def test_a_free_index_that_is_not_stated_is_found():
    refuted(with_part(FLASH, "dV", indices=part(FLASH, "dK").indices), "dV")


def test_a_second_side_of_the_loss_is_found():
    refuted(changed(FLASH, right=2 * FLASH.left), "loss")


def test_an_adjoint_defined_otherwise_is_found():
    own = part(FLASH, "dV").adjoint
    refuted(with_part(FLASH, "dV", adjoint=DefinedTensor("dV", own.parameters, 2 * own.body)), "dV")


def test_a_derivative_through_a_definition_is_found():
    """With p defined, ∂/∂x_i (p_j w_j x_j) also counts what dp ∂p/∂x counts."""
    plain = part(TWICE, "dx")
    p_known = next(t for t in plain.definitions if t.name == "p")
    through = derive_system(System(v.sum(g * define("c", define("p", x * x) * x * w)), [x, w]))
    start = next(q for q in through.parts if q.name == "dx").left
    p_plain = next(t for t in start.free_symbols if getattr(t, "name", "") == "p")
    refuted(with_part(TWICE, "dx", left=replace(start, {p_plain: p_known}), steps=()), "differentiates through")
