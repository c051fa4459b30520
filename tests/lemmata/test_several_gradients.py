"""Gradients by several arrays in one call, and `derive` of a theorem's name."""

from __future__ import annotations

import numpy as np
import pytest

import lemmata as lm
from lemmata.numeric.attention import scaled_dot_product_attention_vjp
from lemmata.symbolic.language.arrays import Array


def attention() -> tuple[Array, list[Array]]:
    q, k, v = lm.array("Q", "n,d"), lm.array("K", "m,d"), lm.array("V", "m,e")
    return lm.softmax(q @ k.T / lm.sqrt(lm.size("d"))) @ v, [q, k, v]


def test_a_list_gives_named_adjoints_that_are_proved() -> None:
    output, wrt = attention()
    found = lm.vjp(output, wrt=wrt, cotangent=lm.array("G", "n,e"))
    assert [p.name for p in found.derivation.parts] == ["dp", "dQ", "dK", "dV"]
    assert found.verdict.verdict == "proved"
    rng = np.random.default_rng(0)
    q, k, v, g = (rng.normal(size=s) for s in [(3, 4), (5, 4), (5, 2), (3, 2)])
    for a, b in zip(found.numpy()(q, k, v, g), scaled_dot_product_attention_vjp(q, k, v, g)[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_the_gradient_of_a_scalar_by_a_tuple() -> None:
    w, x = lm.array("W", "M,N"), lm.array("x", "N")
    found = lm.gradient(lm.sum((w @ x) ** 2) / 2, wrt=(w, x))
    assert found.verdict.verdict == "proved"
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 3)), rng.normal(size=3)
    np.testing.assert_allclose(found.numpy()(a, b)[0], np.outer(a @ b, b))
    np.testing.assert_allclose(found.numpy()(a, b)[1], a.T @ (a @ b))


def test_derive_takes_a_name_a_claim_or_a_system() -> None:
    z = lm.array("z", "K")
    assert lm.derive("vjp_attention").numpy_source() == lm.lookup_theorem("vjp_attention").numpy_source()
    assert lm.verify_derivation(lm.derive(lm.Claim(lm.sum(lm.softmax(z)), 1))).verdict == "proved"
    assert [p.name for p in lm.derive(lm.System(lm.sum(z**2), [z])).parts] == ["dz"]


@pytest.mark.parametrize(("ask", "said"), [
    (lambda z: lm.derive("vjp_atention"), "did you mean vjp_attention"),
    (lambda z: lm.derive(z), "a theorem's name, a Claim or a System, got Array"),
    (lambda z: lm.gradient("sum(z)", wrt=z), "got the text 'sum(z)'; read it first with read_formula"),
    (lambda z: lm.gradient(lm.sum(z), wrt="z"), "expected a declared array such as array('z', 'K'), got 'z'"),
    (lambda z: lm.gradient(lm.sum(z), wrt=["z"]), "got 'z'"),
    (lambda z: lm.gradient(lm.sum(z), wrt=[]), "no array to differentiate by"),
    (lambda z: lm.gradient(z, wrt=[z]), "the loss of a system is a scalar"),
    (lambda z: lm.jacobian(z, wrt=[z]), "a list of arrays; ask for one array at a time"),
    (lambda z: lm.hessian(lm.sum(z), wrt=[z]), "a list of arrays; ask for one array at a time"),
])
def test_what_cannot_be_asked_is_one_clear_error(ask, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(lm.LemmataError, match=said.replace("(", r"\(").replace(")", r"\)")):
        ask(lm.array("z", "K"))
