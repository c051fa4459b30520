"""Two arrays of one name in one statement: they are written, derived, computed and judged as two."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import lemmata as lm
from lemmata.result import Result
from lemmata.symbolic.derivations.replay import replay as judged
from lemmata.symbolic.language.arrays import Array, tensor_of
from lemmata.symbolic.language.nodes import DefinedTensor
from lemmata.symbolic.language.nodes import replace as put


def cross_entropy() -> tuple[Array, Array, Array]:
    z, w = lm.array("z", "K"), lm.array("w", "K")
    return -lm.sum(lm.softmax(z) * lm.log(lm.softmax(w))), z, w


def test_two_softmaxes_have_two_letters() -> None:
    loss, _, w = cross_entropy()
    d = lm.gradient(loss, wrt=w)
    assert d.vector_form == "q − p"
    assert "p_i := exp(z_i)/Σ_j exp(z_j)" in d.text()
    assert "q_i := exp(w_i)/Σ_j exp(w_j)" in d.text()
    assert r"\nabla_{w} L &= q - p" in d.latex()
    assert "return q - p" in d.numpy_source()
    assert lm.latex(loss.body) == r"-\sum_{j} p_{j} \log q_{j}"
    assert d.verdict.verdict == "proved"


def test_in_named_adjoints_each_has_an_adjoint_of_its_own() -> None:
    loss, z, w = cross_entropy()
    d = lm.gradient(loss, wrt=[z, w])
    assert [p.name for p in d.derivation.parts] == ["dq", "dp", "dz", "dw"]
    assert d.verdict.verdict == "proved"
    a, b = np.array([0.3, -1.0, 0.5]), np.array([1.0, 0.0, 0.2])
    p, q = (np.exp(x) / np.exp(x).sum() for x in (a, b))
    np.testing.assert_allclose(d.numpy()(a, b)[1], q - p)


def test_one_name_for_two_arrays_is_not_proved() -> None:
    """The parts let names stand for arrays: with two softmaxes both called p, ∂L/∂p would be proved for neither."""
    loss, z, w = cross_entropy()
    d = lm.gradient(loss, wrt=[z, w]).derivation
    second = next(t for t in d.definitions if t.name == "q")
    same = DefinedTensor("p", second.parameters, second.body, second.origin, second.domain)
    body = put(d.left, {second: same})
    assert judged(d).verdict == "proved"
    tampered = replace(d, left=body, right=body, definitions=tuple({second: same}.get(t, t) for t in d.definitions))
    verdict = judged(tampered)
    assert verdict.verdict == "refuted"
    assert "two arrays are called p" in verdict.reason


def test_a_declared_array_keeps_its_name() -> None:
    z, p = lm.array("z", "K"), lm.array("p", "K", domain="(0,1]")
    d = lm.gradient(lm.sum(lm.softmax(z) * lm.log(p)), wrt=[z, p])
    assert [part.name for part in d.derivation.parts] == ["dq", "dz", "dp"]
    assert d.verdict.verdict == "proved"
    assert "dp = q ⊘ p" in d.text()


def test_where_q_is_taken_there_are_primes() -> None:
    z, w, q = lm.array("z", "K"), lm.array("w", "K"), lm.array("q", "K")
    d = lm.gradient(lm.sum(q * lm.softmax(z) * lm.softmax(w)), wrt=q)
    assert {t.name for t in d.derivation.definitions} == {"p", "p'"}
    assert "p′_i := " in d.text()
    assert d.verdict.verdict == "proved"


def test_the_same_softmax_twice_is_one_name() -> None:
    z = lm.array("z", "K")
    d = lm.gradient(lm.sum(lm.softmax(z) * lm.log(lm.softmax(z))), wrt=z)
    assert [t.name for t in d.derivation.definitions] == ["p"]


def test_a_definition_of_a_renamed_one_follows() -> None:
    z, w = lm.array("z", "K"), lm.array("w", "K")
    outer = lm.define("s", lm.softmax(w) ** 2)
    d = lm.gradient(lm.sum(lm.softmax(z) * outer), wrt=[w])
    names = {t.name: t for t in d.derivation.definitions}
    assert {"p", "q", "s"} == set(names)
    inside = {t.name for t in names["s"].body.free_symbols if isinstance(t, DefinedTensor)}
    assert len(inside) == 1
    assert Result(d.derivation).verdict.verdict == "proved"


def test_an_array_called_like_an_adjoint_is_refused() -> None:
    z, ds = lm.array("z", "K"), lm.array("ds", "K")
    s = lm.define("s", z**2)
    with pytest.raises(lm.LemmataError, match="the array ds is called like the adjoint of s; give it another name"):
        lm.gradient(lm.sum(s * ds), wrt=[z])
    form = {"p": lambda known: known["dp"]}
    with pytest.raises(lm.LemmataError, match="two different arrays are called p"):
        lm.derive(lm.System(cross_entropy()[0], list(cross_entropy()[1:]), forms=form))


def test_names_do_not_depend_on_the_seed_of_hashes() -> None:
    code = ("import lemmata as lm; z, w = lm.array('z', 'K'), lm.array('w', 'K'); "
            "print(lm.gradient(lm.sum(lm.softmax(z) * lm.softmax(w) * z), wrt=z).text())")
    said = {subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
                           ).stdout for seed in ("0", "1", "2")}
    assert len(said) == 1
    assert tensor_of(lm.array("z", "K")).name == "z"
