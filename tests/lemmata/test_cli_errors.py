"""What the command line says when it cannot answer: sizes, the place, the next step; exit code 2, no traceback."""

from __future__ import annotations

import pytest

from .running import GRADIENT, run

SHAPES = ["--shapes", "z=K,y=K"]


@pytest.mark.parametrize(("words", "said"), [
    pytest.param(["gradient", "sum(y*z)", "--wrt", "z", "--shapes", "z=K,y=N"], ["(N,)", "(K,)"], id="sizes differ"),
    pytest.param(["gradient", "sum(y*z)", "--wrt", "z", "--shapes", "z=5,y=7"], ["5", "7"], id="numbers differ"),
    pytest.param(["prove", "z == y", "--shapes", "z=N,K", "y=N,M"], ["K", "M"], id="sides differ"),
    pytest.param(["gradient", "sum(q*z)", "--wrt", "z", *SHAPES], ["'q'", "z (K,)", "\n      ^"], id="unknown name"),
    pytest.param(["gradient", "sum(softmx(z))", "--wrt", "z", *SHAPES], ["'softmx'", "softmax"], id="unknown function"),
    pytest.param(["gradient", "sum(y*z", "--wrt", "z", *SHAPES], ["sum(y*z", "\n     ^"], id="does not parse"),
    pytest.param(["prove", "a = = b", "--shapes", "a=K,b=K"], ["a = = b", "\n      ^"], id="two relations"),
    pytest.param(["prove", "a + b", "--shapes", "a=K,b=K"], ["a == b"], id="no relation"),
    pytest.param(["gradient", "sum(nan*z)", "--wrt", "z", *SHAPES], ["nan is not a number", "^"], id="nan"),
    pytest.param(["prove", "z + inf == inf", "--shapes", "z=K"], ["inf is not a number"], id="inf"),
    pytest.param([*GRADIENT, "--shapes", "z=0,y=0"], ["positive", "'0'", "at least 1"], id="empty axis"),
    pytest.param(["gradient", "softmax(z)", "--wrt", "z", *SHAPES], ["scalar", "(K,)", "Jacobian"], id="not a scalar"),
    pytest.param(["gradient", "sum(y)", "--wrt", "z", *SHAPES], ["z does not occur", "y"], id="no dependence"),
    pytest.param(["gradient", "sum(z)", "--wrt", "w", *SHAPES], ["'w'", "--shapes w=K"], id="no such array"),
    pytest.param(["gradient", "sum(z)", "--wrt", "z"], ["--shapes z=K"], id="no shapes"),
    pytest.param([*GRADIENT, *SHAPES, "--given", "sum(q)=1"], ["'q'", "sum(q)=1"], id="hypothesis on nothing"),
    pytest.param([*GRADIENT, *SHAPES, "--given", "sum(y)"], ["sum(y) = 1"], id="hypothesis without relation"),
    pytest.param([*GRADIENT, *SHAPES, "--domain", "y=simplx"], ["'simplx'", "simplex"], id="unknown domain"),
    pytest.param([*GRADIENT, *SHAPES, "--domain", "y={inf}"], ["'{inf}'", "a finite set"], id="infinite set"),
    pytest.param([*GRADIENT, *SHAPES, "--domain", "y=symmetric"], ["symmetric", "(K)"], id="domain without its axes"),
    pytest.param(["prove", "1 == 1", "--domain", "y=simplex"], ["y=simplex", "--shapes"], id="domain without shape"),
    pytest.param(["vjp", "A @ x", "--wrt", "x", "--shapes", "A=M,N x=N", "--cotangent", "g=N"], ["(N,)", "(M,)"],
                 id="cotangent of the wrong shape"),
    pytest.param(["derive", "deriv_softmx"], ["'deriv_softmx'", "deriv_softmax", "lemmata list"], id="unknown theorem"),
    pytest.param(["verify", "sum_softmax", "nosuch"], ["'nosuch'", "lemmata list"], id="unknown theorem among others"),
    pytest.param(["derive", "deriv_softmax", "-o", "no/such/folder/x"], ["no/such/folder/x"], id="cannot be written"),
    pytest.param(["derive", "deriv_softmax", "--format", "word"], ["word", "markdown"], id="unknown format"),
    pytest.param(["gradient", "sum(z)", "--wrtt", "z"], ["--wrtt", "--wrt"], id="unknown option"),
    pytest.param(["prove"], ["EQUATION"], id="nothing asked"),
    pytest.param(["quaternions"], ["quaternions"], id="unknown command"),
])
def test_error_says_what_was_asked_and_what_to_do(words: list[str], said: list[str]) -> None:
    failed = run(*words)
    assert failed.code == 2
    assert failed.out == ""
    assert [s for s in said if s not in failed.err] == [], failed.err
    assert "Traceback" not in failed.err


def test_a_formula_without_a_value_is_refuted_with_the_domain_to_give() -> None:
    """log(z) has no value at z < 0: the missing hypothesis is shown by a counterexample, and named."""
    refuted = run("gradient", "sum(y*log(z))", "--wrt", "z", *SHAPES)
    assert refuted.code == 1
    assert "undefined" in refuted.out
    assert "--domain z=positive" in refuted.out
    assert run("gradient", "sum(y*log(z))", "--wrt", "z", *SHAPES, "--domain", "z=positive").code == 0


def test_what_is_not_proved_is_said_beside_a_file_too() -> None:
    ran = run("gradient", "sum(y*log(z))", "--wrt", "z", *SHAPES, "--format", "latex")
    assert ran.code == 1
    assert ran.out.startswith("\\begin{aligned}")
    assert ran.err.startswith("warning: refuted")


@pytest.mark.parametrize("size", ["9999999*K", f"{10**20}*K"])
def test_sizes_that_cannot_be_drawn_are_not_decided(size: str) -> None:
    """The derivation is shown, but what the second path cannot look at is not called proved."""
    undecided = run(*GRADIENT, "--shapes", f"z={size},y={size}")
    assert undecided.code == 2
    assert "unsupported: not decided" in undecided.out
    assert "entries, too many to draw one by one; name a large size" in undecided.out
    assert "Traceback" not in undecided.err
