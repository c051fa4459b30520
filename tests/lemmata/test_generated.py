"""The NumPy of a gradient in named adjoints: one function, forward definitions and adjoints in order, all gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import lemmata as lm
from lemmata.numeric.attention import scaled_dot_product_attention_vjp
from lemmata.result import Result
from lemmata.symbolic.theorems import theorems
from lemmata.system_verification import system_evidence

from .running import run

SYSTEMS = [t.name for t in theorems().values() if t.derivation().parts]


def test_the_function_returns_the_gradients_and_not_the_loss() -> None:
    source = run("derive", "vjp_attention", "--format", "numpy").out
    assert "def vjp_attention(Q, K, V, G):" in source
    assert '"""Q (n, d_k), K (m, d_k), V (m, d_v), G (n, d_v) -> dQ (n, d_k), dK (m, d_k), dV (m, d_v)"""' in source
    assert source.rstrip().endswith("return dQ, dK, dV")
    lines = [line.split(" = ")[0].strip() for line in source.splitlines() if " = " in line]
    assert lines == ["d_k", "S", "e", "P", "dO", "dP", "dS", "dQ", "dK", "dV"]


def test_it_computes_what_the_hand_written_backward_pass_computes() -> None:
    rng = np.random.default_rng(0)
    q, k, v, g = (rng.normal(size=s) for s in [(3, 4), (5, 4), (5, 2), (3, 2)])
    found = lm.lookup_theorem("vjp_attention").numpy()(q, k, v, g)
    expected = scaled_dot_product_attention_vjp(q, k, v, g)
    assert isinstance(found, tuple)
    for a, b in zip(found, expected[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_one_function(name: str) -> None:
    result = lm.lookup_theorem(name)
    source = result.numpy_source()
    wanted = [p.name for p in result.derivation.parts if p.name[1:] in {t.name for t in result.derivation.tensors}]
    assert source.count("\ndef " + name) == 1
    told = ", ".join(wanted) if len(wanted) > 1 else f"({wanted[0]},)"
    assert source.rstrip().endswith(f"return {told}")
    assert all(len(line) <= 120 for line in source.split('"""')[1].splitlines())


def test_a_wrong_adjoint_does_not_pass_the_numbers() -> None:
    """Verification runs the very function that users get."""
    result = lm.lookup_theorem("vjp_linear")
    d = result.derivation
    last = d.parts[-1]
    assert last.adjoint is not None
    scaled = replace(last, adjoint=type(last.adjoint)(last.adjoint.name, last.adjoint.parameters,
                                                      last.adjoint.body * sp.Rational(10009, 10000), "adjoint"))
    tampered = replace(d, parts=(*d.parts[:-1], scaled))
    assert Result(tampered).numpy_source() != result.numpy_source()
    assert all(e.passed for e in system_evidence(d, None, seed=0))
    assert not all(e.passed for e in system_evidence(tampered, None, seed=0))




def test_an_intermediate_that_is_not_read_has_no_line() -> None:
    z, y = lm.array("z", "K"), lm.array("y", "K")
    p = lm.softmax(z, name="p")
    w = lm.define("w", lm.log(p) * y)
    d = lm.lookup_theorem("vjp_linear").derivation
    assert " y = " not in Result(d).numpy_source()  # the loss names y = x W + b; the gradients do not
    from lemmata.symbolic.codegen import numpy_source_of
    from lemmata.symbolic.language.arrays import tensor_of

    source = numpy_source_of("f", [tensor_of(w)], [tensor_of(z), tensor_of(y)])
    assert "log_p" in source
    assert "    p = " not in source
