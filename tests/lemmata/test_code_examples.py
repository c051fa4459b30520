"""Three backward passes as people write them: the right one is proved, the wrong one gets a counterexample that
says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import lemmata as lm

from .examples import causal_attention, layernorm, linear


@dataclass(frozen=True)
class Example:
    """Functions with what is declared of them; `wrong` tells for each array whether its wrong gradient is refuted,
    and how.
    """

    forward: Callable[..., Any]
    right: Callable[..., Any]
    changed: Callable[..., Any]
    shapes: str
    cotangent: str
    wrong: dict[str, str | None]


EXAMPLES = [
    pytest.param(
        Example(
            layernorm.layernorm,
            layernorm.layernorm_backward,
            layernorm.layernorm_backward_wrong,
            "x=B,T,C w=C b=C",
            "dout=B,T,C",
            {"x": "the same all along axis 2 (of size C): a sum or a mean over it is missing", "w": None, "b": None},
        ),
        id="LayerNorm",
    ),
    pytest.param(
        Example(
            causal_attention.attention,
            causal_attention.attention_backward,
            causal_attention.attention_backward_wrong,
            "q=n,d k=n,d v=n,m",
            "g=n,m",
            {"q": "", "k": "", "v": ""},
        ),
        id="causal attention",
    ),
    pytest.param(
        Example(
            linear.linear,
            linear.linear_backward,
            linear.linear_backward_wrong,
            "x=N,D W=M,D b=M",
            "g=N,M",
            {"x": None, "W": None, "b": "lacks the sum over the axis N along which b was broadcast"},
        ),
        id="bias",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_right_backward_pass_is_proved(example: Example) -> None:
    proof = lm.prove_gradient(
        example.forward, example.right, list(example.wrong), example.shapes, cotangent=example.cotangent
    )
    assert {n: v.verdict for n, v in proof.verdicts.items()} == dict.fromkeys(example.wrong, "proved"), proof
    assert all(not v.conditions for v in proof.verdicts.values())


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_wrong_one_gets_a_counterexample(example: Example) -> None:
    proof = lm.prove_gradient(
        example.forward, example.changed, list(example.wrong), example.shapes, cotangent=example.cotangent
    )
    for name, said in example.wrong.items():
        verdict = proof.verdicts[name]
        assert verdict.verdict == ("proved" if said is None else "refuted")
        if said is not None:
            c = verdict.counterexample
            assert c is not None
            assert said in c.residual
            assert c.residual in proof.text()
            assert max(c.sizes.values()) <= 4
    with pytest.raises(AssertionError, match="counterexample"):
        proof.raise_if_not_proved("supported")


def test_the_counterexample_of_the_forgotten_mask_by_hand() -> None:
    """The first token sees itself alone, so its query does not matter: the derivative is 0."""
    e = causal_attention
    proof = lm.prove_gradient(
        e.attention,
        lambda g, q, k, v: e.attention_backward_wrong(g, q, k, v)["dq"],
        "q",
        "q=n,d k=n,d v=n,m",
        cotangent="g=n,m",
    )
    c = proof.counterexample
    assert c is not None
    assert c.index[0] == 0
    assert float(c.left) == pytest.approx(0, abs=1e-9)
    inputs = {n: np.asarray(v) for n, v in c.inputs.items()}
    assert float(c.right) == pytest.approx(e.attention_backward_wrong(**inputs)["dq"][c.index])
    assert abs(float(c.right)) > 1e-3
    np.testing.assert_allclose(e.attention_backward(**inputs)["dq"][0], 0, atol=1e-12)
