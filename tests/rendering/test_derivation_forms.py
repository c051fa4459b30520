"""A derivation in text, Markdown and JSON: three levels of detail, one letter an index, a faithful round trip."""

import json
from dataclasses import replace

import pytest

from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.language.errors import FormulaError
from lemmata.symbolic.language.nodes import free_indices
from lemmata.symbolic.rendering.derivation import derivation_latex, derivation_markdown, derivation_text
from lemmata.symbolic.rendering.document import document, merged
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json

from .examples import DERIVATIONS, cross_entropy, layer_norm, softmax

GOLDEN_NORMAL = """\
Gradient of cross-entropy by the logits (deriv_cross_entropy_softmax)

  given     z ∈ ℝ^K, y ∈ ℝ^K
  where     p_i := exp(z_i)/Σ_j exp(z_j)
            L := −Σ_j y_j log(p_j)
  assuming  Σ_j y_j = 1

  ∂L/∂z_k
    = ∂/∂z_k (−Σ_j y_j log(p_j))
          Insert the definition of L.
    = −Σ_j y_j (δ_jk − p_k)
          [deriv_sum, deriv_log, deriv_softmax] The derivative of a sum is the sum of the derivatives.
          Chain rule: the derivative of log x is 1/x. ∂p_i/∂z_k = p_i (δ_ik − p_k), proved before.
    = p_k Σ_j y_j − y_k
          [contract_delta] Only the term i = k is left of the sum over δ_ik.
    = p_k − y_k
          [sum_y] The targets sum to 1 (100% of the mass, y_k >= 0).

  In vector form:
  ∇_z L = p − y

  note: The gradient is by the logits z, not by the probabilities p.
  uses: deriv_softmax
  source: Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2
"""


def test_golden_text() -> None:
    assert derivation_text(cross_entropy()) == GOLDEN_NORMAL


def test_brief_has_the_result_only() -> None:
    shown = derivation_text(cross_entropy(), "brief")
    assert "= p_k − y_k" in shown
    assert "contract_delta" not in shown
    assert "∇_z L = p − y" in shown


def test_full_has_every_step_and_rule() -> None:
    shown = derivation_text(cross_entropy(), "full")
    for step in cross_entropy().steps:
        assert f"[{step.rule}] {step.why}" in shown


def test_normal_merges_the_steps_of_a_phase() -> None:
    steps = merged(cross_entropy().steps)
    assert [s.phase for s in steps] == ["differentiate", "contract", "hypothesis"]
    assert steps[0].rules == ("deriv_sum", "deriv_log", "deriv_softmax")


def test_a_detail_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="'brief', 'normal' or 'full', got 'long'"):
        document(cross_entropy(), "long")  # type: ignore[arg-type]


def test_a_jump_in_the_chain_is_shown() -> None:
    d = cross_entropy()
    jump = replace(d, steps=(d.steps[0], *d.steps[2:]))
    assert "∂p_j/∂z_k" in derivation_text(jump, "full")


def test_vector_sides() -> None:
    assert "∂p/∂z = diag(p) − p pᵀ" in derivation_text(softmax())
    assert r"\nabla_{z} L = p - y" in derivation_markdown(cross_entropy())


def test_hypotheses_over_an_axis() -> None:
    assert "assuming  Σ_j g_nj = 0   for all n" in derivation_text(layer_norm())
    assert r"\text{for all } n" in derivation_latex(layer_norm())


def test_no_text_line_is_too_long() -> None:
    for make in DERIVATIONS.values():
        assert max(map(len, derivation_text(make(), "full").splitlines())) <= 112


@pytest.mark.parametrize("make", DERIVATIONS.values(), ids=DERIVATIONS)
def test_json_round_trip(make: object) -> None:
    d: Derivation = make()  # type: ignore[operator]
    data = derivation_to_json(d)
    again = derivation_from_json(data)
    assert derivation_to_json(again) == data
    assert derivation_text(again, "full") == derivation_text(d, "full")
    hypothesis = {i for h in d.hypotheses for i in h.indices}
    everything = (
        {i for s in d.steps for e in (s.before, s.after) for i in free_indices(e)} | set(d.indices) | hypothesis
    )
    same = derivation_from_json(data, sorted(everything, key=lambda i: i.serial))
    assert same == d  # the very trees, given the indices
    assert derivation_to_json(make()) == data  # type: ignore[operator]


def test_json_shows_a_change() -> None:
    d = softmax()
    assert derivation_to_json(replace(d, right=-d.right)) != derivation_to_json(d)
    data = json.loads(derivation_to_json(d))
    data["right"] = ["mul", -1, data["right"]]
    assert derivation_from_json(data).right != derivation_from_json(derivation_to_json(d)).right


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "the key 'format'"),
        ({"left": ["system", "rm"]}, "unknown node 'system'"),
        ({"left": "x"}, "not an expression"),
        ({"left": ["function", "eval", 1]}, "unknown function 'eval'"),
        ({"left": ["element", 99, 1]}, "cannot read the node"),
    ],
)
def test_a_bad_file_is_refused(change: dict[str, object], message: str) -> None:
    data = json.loads(derivation_to_json(softmax())) | change
    with pytest.raises(FormulaError, match=message):
        derivation_from_json(data)


def test_a_file_without_a_key() -> None:
    data = json.loads(derivation_to_json(softmax()))
    del data["steps"]
    with pytest.raises(FormulaError, match="lacks the key 'steps'"):
        derivation_from_json(data)
    with pytest.raises(FormulaError, match="not a JSON file"):
        derivation_from_json("{")
