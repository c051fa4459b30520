"""Values that float64 does not hold say nothing about a derivation; values that it holds do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lemmata as lm
from lemmata import verification
from lemmata.api import verify_derivation
from lemmata.questions import derive_formula, prove_equation
from lemmata.symbolic.derivations.model import Verdict
from lemmata.symbolic.rendering.html import verdict_html
from lemmata.symbolic.rendering.verdict import verdict_data, verdict_markdown, verdict_text


def assert_not_run(verdict: Verdict, kind: str) -> str:
    """The evidence of that kind neither passed nor failed; its words."""
    found = next(e for e in verdict.evidence if e.kind == kind)
    assert found.passed is None
    assert found.detail.startswith("not run: ")
    return found.detail


@pytest.mark.parametrize("formula", ["exp(1000*exp(10))*sum(z)", "exp(1000*K)*sum(z)", "K**1000*sum(z)",
                                     "10**400*sum(z)"])
def test_a_gradient_outside_of_float64_is_not_refuted(formula: str) -> None:
    verdict = verify_derivation(derive_formula("gradient", formula, "z", shapes="z=K").derivation)
    assert verdict.verdict == "proved"
    assert_not_run(verdict, "numpy")


@pytest.mark.parametrize("equation", ["K**1000*sum(z) == sum(z)*K**999*K", "log(6**1000) == 1000*log(2) + 1000*log(3)"])
def test_an_equation_outside_of_float64_is_proved_without_it(equation: str) -> None:
    verdict = verify_derivation(prove_equation(equation, shapes="z=K").derivation)
    assert verdict.verdict == "proved"
    assert_not_run(verdict, "numpy")


def test_a_false_gradient_outside_of_float64_is_refuted() -> None:
    verdict = prove_equation("K**1000*sum(z) == sum(z)*K**999*(K + 1)", shapes="z=K").verdict
    assert verdict.verdict == "refuted"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_code_that_is_not_finite_where_the_primal_is_fails(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    """The generated gradient overflows, the function does not: that is the code's fault."""
    real = verification.compile_numpy

    def tampered(name: str, *rest: Any) -> Any:
        function = real(name, *rest)
        return (lambda *arrays: function(*arrays) * value) if name == "right" else function

    derivation = derive_formula("gradient", "sum(exp(z))", "z", shapes="z=K").derivation
    assert verify_derivation(derivation).verdict == "proved"
    monkeypatch.setattr(verification, "compile_numpy", tampered)
    verdict = verify_derivation(derivation)
    assert verdict.verdict == "refuted"
    assert "not finite" in verdict.reason


def test_inputs_that_cannot_be_drawn_are_said() -> None:
    derivation = derive_formula("gradient", "m*sum(z)", "z", shapes="m= z=K", domains="m=mask").derivation
    assert assert_not_run(verify_derivation(derivation), "numpy").startswith("not run: no inputs are drawn for m")


def test_by_several_arrays_too() -> None:
    z, w = lm.array("z", "K"), lm.array("w", "K")
    verdict = lm.gradient(lm.exp(1000 * lm.sum(z * z + w * w) + 1000), wrt=[z, w]).verdict
    assert verdict.verdict == "proved"
    assert_not_run(verdict, "numpy")


def test_differences_that_depend_on_their_step_say_nothing() -> None:
    verdict = verify_derivation(derive_formula("gradient", "(sum(z)+1)**1000", "z", shapes="z=K").derivation)
    assert verdict.verdict != "refuted"
    assert "depend on their step" in assert_not_run(verdict, "differences")


def test_differences_that_do_not_depend_on_it_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    real = verification.compile_numpy
    monkeypatch.setattr(verification, "compile_numpy", lambda name, *rest: (
        (lambda *arrays: 1.0009 * real(name, *rest)(*arrays)) if name == "right" else real(name, *rest)))
    verdict = verify_derivation(derive_formula("gradient", "sum(exp(z))", "z", shapes="z=K").derivation)
    assert verdict.verdict == "refuted"
    assert verdict.reason.startswith("differences: ")


def test_no_value_is_not_no_dependence() -> None:
    formula = "prod(z)**prod(z)**prod(z)"
    verdict = verify_derivation(derive_formula("gradient", formula, "z", shapes="z=K").derivation)
    assert_not_run(verdict, "dependence")
    assert not verdict.notes


def test_what_was_not_run_is_shown_as_neither_passed_nor_failed() -> None:
    result = derive_formula("gradient", "exp(1000*K)*sum(z)", "z", shapes="z=K")
    verdict = verify_derivation(result.derivation)
    assert "  – numpy        not run: " in verdict_text(verdict)
    assert "| numpy | not run | not run: " in verdict_markdown(verdict)
    assert "– not run" in verdict_html(verdict)
    assert next(e["passed"] for e in verdict_data(verdict)["evidence"] if e["kind"] == "numpy") is None
