"""The hand-written NumPy of the theorems, typeset from its source: KaTeX takes every one, and few are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lemmata.reference import witness
from lemmata.symbolic.derivations.theorem import NumericCheck
from lemmata.symbolic.theorems import find_theorem, theorems
from lemmata.verification import numeric_evidence
from tests.rendering import katex

# What has loops, comprehensions with keys, or statements that write into an array.
REFUSED = {"lemmata.numeric.flat_attention.merged_again", "lemmata.numeric.flat_attention.cross_attention_vjp",
           "lemmata.numeric.flat_layers.gather_gradient", "lemmata.numeric.flat_transformer.language_model_gradients"}


def test_all_but_a_few_are_typeset() -> None:
    found = [w for w in map(witness, theorems()) if w is not None]
    assert {w["name"] for w in found if not w["latex"]} == REFUSED
    assert len(found) >= 147
    for latex in dict.fromkeys(w["latex"] for w in found if w["latex"]):
        katex.check(latex)


@pytest.mark.parametrize(("name", "shown"), [
    ("vjp_softmax", r"\operatorname{sum}_{\mathrm{axis}}^{\mathrm{keep}}(p \odot \mathrm{cotangent})"),
    ("vjp_attention", r"d_{p} = \mathrm{cotangent} \, {v}^{\top}"),
    ("deriv_sigmoid", r"\mathrm{sigmoid}(z) \odot \mathrm{sigmoid}(-z)"),
])
def test_shown(name: str, shown: str) -> None:
    assert shown in (witness(name) or {})["latex"]


def test_how_it_is_called() -> None:
    calls = {
        "deriv_softmax_temperature": "softmax_temperature_derivative(z, temperature=tau)",
        "deriv_huber": "huber_gradient(x, y, delta=delta, reduction='sum')",
        "vjp_attention_causal": "causal_attention_vjp(Q, K, V, G)",
        "positional_encoding_add": "encoding_pairs(k + pos, omega)",
        "rotary_transpose_mul": "turns(n - m, omega)",
    }
    assert {n: (witness(n) or {})["call"] for n in calls} == calls


@pytest.mark.parametrize(("name", "changed"), [
    ("sigmoid_neg", lambda c: replace(c, arguments=("x",))),
    ("positional_encoding_add", lambda c: replace(c, arguments=("pos", "omega"))),
    ("quarter_turn_transpose", lambda c: replace(c, arguments=(-c.arguments[0],))),
    ("rotary_score", lambda c: replace(c, options={"half_split": True})),
    ("logsumexp_add_const", lambda c: replace(c, arguments=("z",))),
    ("attention_gather_queries", lambda c: replace(c, arguments=("Q", *c.arguments[1:]))),
])
def test_another_argument_is_refuted(name: str, changed: Callable[[NumericCheck], NumericCheck]) -> None:
    """The hand-written function at the wrong place does not agree, so the verdict is not proved."""
    theorem = find_theorem(name)
    check = theorem.claim().numpy
    assert isinstance(check, NumericCheck)
    d = theorem.derivation()
    assert all(e.passed is not False for e in numeric_evidence(d, check))
    assert any(e.passed is False for e in numeric_evidence(d, changed(check)))
