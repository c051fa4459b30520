"""Evidence by automatic differentiation: right theorems agree with it, tampered ones do not, absent packages are left
alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lemmata import autodiff_evidence
from lemmata.autodiff_evidence import PACKAGES, Package, installed
from lemmata.symbolic.derivations.model import Derivation, Evidence
from lemmata.symbolic.theorems import find_theorem
from lemmata.verification import numeric_evidence

SCALE = 1 + 9e-4
# A Jacobian, a gradient, a second derivative, and one whose primal has a special function as a helper.
DERIVATIVES = ["deriv_softmax", "deriv_cross_entropy_softmax", "hessian_logsumexp", "deriv_gelu"]
SYSTEMS = ["vjp_attention"]


@pytest.fixture(params=PACKAGES, ids=lambda p: p.name)
def package(request: pytest.FixtureRequest) -> Package:
    pytest.importorskip(request.param.name)
    return request.param


@cache
def derivation(name: str) -> Derivation:
    return find_theorem(name).derivation()


def evidence(d: Derivation, kind: str, monkeypatch: pytest.MonkeyPatch) -> Evidence:
    """The evidence of one kind; the other package, if it is there, is left out."""
    monkeypatch.setattr(autodiff_evidence, "PACKAGES", tuple(p for p in PACKAGES if p.name == kind))
    (found,) = [e for e in numeric_evidence(d, seed=0) if e.kind == kind]
    return found


@pytest.mark.parametrize("name", [*DERIVATIVES, *SYSTEMS])
def test_a_theorem_agrees_to_nearly_all_digits(name: str, package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    found = evidence(derivation(name), package.name, monkeypatch)
    assert found.passed, found.detail
    assert "agree with automatic differentiation" in found.detail
    assert "seed 0" in found.detail


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("factor", [SCALE, -1, 1 + 1e-7])
def test_a_changed_right_side_fails(name: str, factor: float, package: Package,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    d = derivation(name)
    found = evidence(replace(d, right=d.right * factor, steps=()), package.name, monkeypatch)
    assert not found.passed
    assert "differ" in found.detail


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("factor", [SCALE, -1])
def test_a_changed_gradient_fails(name: str, factor: float, package: Package,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata import system_verification
    from lemmata.generated import gradient_adjoints

    d = derivation(name)
    made = system_verification.generated_gradients(d)
    for changed in gradient_adjoints(d):
        tampered = lambda inputs, name=changed: (found := made(inputs)) | {name: found[name] * factor}  # noqa: E731
        monkeypatch.setattr(system_verification, "generated_gradients", lambda d, tampered=tampered: tampered)
        found = evidence(d, package.name, monkeypatch)
        assert not found.passed
        assert found.detail.startswith(f"d{changed} against {package.name}")


def test_a_dropped_transpose_is_a_different_shape(package: Package) -> None:
    found = autodiff_evidence._compared(package, {"dW": (np.ones((2, 3)), np.ones((3, 2)))}, {"n": 2, "m": 3}, 0, 0.0)
    assert not found.passed
    assert "shape (2, 3)" in found.detail


def test_what_the_package_cannot_run_is_said_and_does_not_count(package: Package,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError("no rule for it\nand a long trace")

    refusing = replace(package, jacobian=refuse)
    monkeypatch.setattr(autodiff_evidence, "PACKAGES", (refusing,))
    for name in ("deriv_softmax", *SYSTEMS):
        (found,) = [e for e in numeric_evidence(derivation(name)) if e.kind == package.name]
        assert found.passed
        assert found.detail == f"not run: {package.name}: NotImplementedError: no rule for it"


def test_the_users_precision_is_put_back(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(package.name)
    state = {"jax": lambda: module.config.jax_enable_x64, "torch": lambda: module.get_default_dtype()}[package.name]
    before = state()
    assert evidence(derivation("deriv_softmax"), package.name, monkeypatch).passed
    assert state() == before


@pytest.mark.parametrize("name", ["deriv_softmax", *SYSTEMS])
def test_without_the_packages_nothing_is_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    asked = []

    def absent(module: str, *rest: str) -> object:
        asked.append(module)
        return None if module in {"jax", "torch"} else find(module, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", absent)
    for module in ("jax", "torch"):
        monkeypatch.setitem(sys.modules, module, None)  # an import would raise
    kinds = [e.kind for e in numeric_evidence(derivation(name)) if e.passed]
    assert "differences" in kinds
    assert not {"jax", "torch"} & set(kinds)
    assert {"jax", "torch"} <= set(asked)
    assert installed() == ()
