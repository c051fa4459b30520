"""The hand-written NumPy of the theorems, typeset from its source: KaTeX takes every one, and few are refused."""

from __future__ import annotations

import pytest

from lemmata.reference import witness
from lemmata.symbolic.theorems import theorems

from . import katex

# What has loops, comprehensions with keys, or statements that write into an array.
REFUSED = {"lemmata.numeric.flat_attention.merged_again", "lemmata.numeric.flat_attention.cross_attention_vjp",
           "lemmata.numeric.flat_layers.gather_gradient", "lemmata.numeric.flat_transformer.language_model_gradients"}


def test_all_but_a_few_are_typeset() -> None:
    found = [w for w in map(witness, theorems()) if w is not None]
    assert {w["name"] for w in found if not w["latex"]} == REFUSED
    assert len(found) >= 99
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
    calls = {n: (witness(n) or {})["call"] for n in ("deriv_softmax_temperature", "deriv_huber", "vjp_attention_causal")}
    assert calls == {
        "deriv_softmax_temperature": "softmax_temperature_derivative(z, temperature=tau)",
        "deriv_huber": "huber_gradient(x, y, delta=delta, reduction='sum')",
        "vjp_attention_causal": "causal_attention_vjp(Q, K, V, G)",
    }
