"""The commands: what they print, in which form, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lemmata.api import theorems
from lemmata.arguments import set_apart
from lemmata.symbolic.calculus.rules import RULES
from lemmata.terminal import exit_code

from .running import GRADIENT, run

COMMANDS = ("list", "rules", "derive", "gradient", "jacobian", "hessian", "vjp", "jvp", "prove", "verify", "check",
            "reference")
VERDICT_KEYS = {"name", "verdict", "seconds", "evidence", "counterexample", "conditions", "notes", "reason"}
EVIDENCE_KEYS = {"kind", "passed", "detail", "seconds"}


# ---------------------------------------------------------------------- help and version
def test_help_is_fast_and_imports_neither_sympy_nor_numpy() -> None:
    """In a process of its own: imports are counted there. The time is the processor's, the shortest of several
    starts.
    """
    code = ("import sys; sys.argv = ['lemmata', '--help']\n"
            "from lemmata.cli import main\n"
            "try: main()\n"
            "except SystemExit as exit: assert not exit.code\n"
            "print(*sorted({'sympy', 'numpy', 'flint', 'mpmath', 'rich'} & set(sys.modules)), file=sys.stderr)")
    times = []
    for _ in range(3):
        began = os.times()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        ended = os.times()
        times.append(ended.children_user + ended.children_system - began.children_user - began.children_system)
        assert done.stderr.strip() == ""
    assert "Usage: lemmata" in done.stdout
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert min(times) < 0.25, f"lemmata --help took {min(times):.2f} s"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(command: str) -> None:
    """The docstring teaches: a sentence, and an example that begins with the command."""
    help_text = run(command, "--help")
    assert help_text.code == 0
    assert f"    lemmata {command}" in help_text.out


def test_module_runs_and_version_is_the_package_version() -> None:
    import lemmata

    done = subprocess.run([sys.executable, "-m", "lemmata", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lemmata {lemmata.__version__}\n"


# ---------------------------------------------------------------------- list, rules, derive
def test_list_holds_every_theorem() -> None:
    table, rows = run("list"), run("list", "--json").json
    assert table.code == 0
    assert {r["name"] for r in rows} == set(theorems())
    assert all(set(r) == {"name", "topic", "title", "source"} for r in rows)
    assert all(f"  {name} " in table.out for name in theorems())


def test_list_of_a_topic() -> None:
    rows = run("list", "--topic", "Softmax", "--json").json
    assert rows
    assert {r["topic"].lower() for r in rows} == {"softmax"}
    unknown = run("list", "--topic", "quaternions")
    assert unknown.code == 2
    assert "quaternions" in unknown.err
    assert "softmax" in unknown.err


def test_rules() -> None:
    assert [r["name"] for r in run("rules", "--json").json] == list(RULES)
    assert "sum_mul_delta" in run("rules").out


def test_derive_ends_in_the_vector_form() -> None:
    shown = run("derive", "deriv_cross_entropy_softmax")
    assert shown.code == 0
    assert "∇_z L = p − y" in shown.out
    assert "[sum_mul_delta" in shown.out


@pytest.mark.parametrize(("form", "begins"), [("latex", "\\begin{aligned}"), ("markdown", "## "), ("json", "{"),
                                              ("tex", "\\documentclass"), ("numpy", "import numpy as np")])
def test_formats(form: str, begins: str, tmp_path: Path) -> None:
    printed = run("derive", "deriv_softmax", "--format", form)
    assert printed.code == 0
    assert printed.out.startswith(begins)
    file = tmp_path / "out"
    written = run("derive", "deriv_softmax", "--format", form, "-o", str(file))
    assert written.code == 0
    assert written.out == ""
    assert file.read_text(encoding="utf-8") == printed.out


def test_detail_adds_lines() -> None:
    brief, normal, full = (run("derive", "deriv_softmax", "--detail", d).out for d in ("brief", "normal", "full"))
    assert len(brief) < len(normal) < len(full)


# ---------------------------------------------------------------------- gradient and its kin
def test_gradient_with_the_hypothesis_is_p_minus_y() -> None:
    shown = run(*GRADIENT, "--shapes", "z=K,y=K", "--given", "sum(y)=1")
    assert shown.code == 0
    assert "∇_z L = p − y\n" in shown.out
    assert "proved for every K" in shown.out
    assert "no hypotheses" not in shown.out


def test_gradient_without_the_hypothesis_keeps_the_sum_and_says_so() -> None:
    """Shapes separated by a space, as two words of the command line."""
    shown = run(*GRADIENT, "--shapes", "z=K", "y=K")
    assert shown.code == 0
    assert "= p_k Σ_j y_j − y_k" in shown.out
    assert "no hypotheses were given" in shown.out


def test_gradient_by_a_domain() -> None:
    shown = run(*GRADIENT, "--shapes", "z=N,K y=N,K", "--domain", "y=simplex")
    assert shown.code == 0
    assert "[simplex]" in shown.out
    assert "proved for every K, N" in shown.out
    assert "no hypotheses" not in shown.out


def test_gradient_as_json() -> None:
    answer = run(*GRADIENT, "--shapes", "z=K,y=K", "--given", "sum(y)=1", "--json").json
    assert VERDICT_KEYS.issubset(answer)
    assert answer["verdict"] == "proved"
    assert answer["vector_form"] == "p − y"
    assert "def gradient(z, y):" in answer["numpy"]


def test_numpy_of_a_gradient_runs() -> None:
    import numpy as np

    source = run("gradient", "mean((X @ w - t)**2)", "--wrt", "w", "--shapes", "X=N,D w=D t=N", "--format", "numpy").out
    names: dict[str, object] = {}
    exec(source, names)
    rng = np.random.default_rng(3)
    x, w, t = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=5)
    np.testing.assert_allclose(names["gradient"](x, w, t), 2 * x.T @ (x @ w - t) / 5)  # type: ignore[operator]


@pytest.mark.parametrize(("words", "form"), [
    (["jacobian", "softmax(z)", "--wrt", "z", "--shapes", "z=K"], "diag(p) − p pᵀ"),
    (["hessian", "sum(z**4)", "--wrt", "z", "--shapes", "z=K"], "12"),
    (["vjp", "X @ W", "--wrt", "W", "--shapes", "X=N,D", "W=D,M", "--cotangent", "G=N,M"], "Xᵀ G"),
    (["vjp", "X @ W", "--wrt", "W", "--shapes", "X=N,D W=D,M G=N,M", "--cotangent", "G"], "Xᵀ G"),
    (["jvp", "A @ x", "--wrt", "x", "--shapes", "A=M,N x=N"], "A v"),
])
def test_other_derivatives(words: list[str], form: str) -> None:
    shown = run(*words)
    assert shown.code == 0
    assert form in shown.out
    assert "proved for every" in shown.out


def test_one_class_is_a_size_like_another() -> None:
    """K = 1: a softmax over one entry is 1, so the sum over N rows is N."""
    assert run("prove", "sum(softmax(z)) == 1", "--shapes", "z=1").code == 0
    assert run("prove", "sum(softmax(z)) == N", "--shapes", "z=N,1").code == 0


# ---------------------------------------------------------------------- prove
def test_prove() -> None:
    proved = run("prove", "softmax(z + c) == softmax(z)", "--shapes", "z=K,c=")
    assert proved.code == 0
    assert proved.out.startswith("proved for every K\n")


@pytest.mark.parametrize("right", ["-softmax(z)", "softmax(z)*(1 + 9e-4)", "softmax(-z)"])
def test_a_changed_claim_is_refuted(right: str) -> None:
    refuted = run("prove", f"softmax(z + c) == {right}", "--shapes", "z=K,c=")
    assert refuted.code == 1
    assert "counterexample" in refuted.out
    assert "sizes   K = " in refuted.out


def test_prove_as_json() -> None:
    claim = "sum(p*log(p/q)) == sum(q*log(q/p))"
    refuted = run("prove", claim, "--shapes", "p=K,q=K", "--domain", "p=simplex q=simplex", "--json")
    assert refuted.code == 1
    data = refuted.json
    assert set(data) == VERDICT_KEYS
    assert (data["name"], data["verdict"]) == (claim, "refuted")
    assert set(data["counterexample"]) == {"sizes", "inputs", "index", "left", "right", "residual"}
    assert len(data["counterexample"]["inputs"]["p"]) == data["counterexample"]["sizes"]["K"]
    assert data["counterexample"]["left"] != data["counterexample"]["right"]
    proved = run("prove", "sum(2*p) == 2", "--shapes", "p=K", "--given", "sum(p) = 1", "--json").json
    assert (proved["verdict"], proved["counterexample"]) == ("proved", None)


def test_a_formula_may_begin_with_a_minus_sign() -> None:
    assert run("prove", "-a == b - (a + b)", "--shapes", "a=K", "b=K").code == 0
    assert run("prove", "--shapes", "z=K", "--json", "-z == -1*z").code == 0
    assert set_apart(["-o", "f", "-o*x", "--json"], {"--json"}, {"-o"}) == ["-o", "f", "--json", "--", "-o*x"]
    assert set_apart(["--shapes=z=K", "y=K", "z == y"], set(), {"--shapes"}) == ["--shapes", "z=K y=K", "--", "z == y"]


# ---------------------------------------------------------------------- verify
def test_verify_is_a_list_in_the_order_asked_for_whatever_the_jobs() -> None:
    names = ["deriv_softmax", "sigmoid_neg", "sum_softmax"]
    alone, together = (run("verify", *names, "--json", "--jobs", jobs) for jobs in ("1", "2"))
    assert alone.code == together.code == 0
    rows = alone.json
    assert [r["name"] for r in rows] == names
    assert all(set(r) == VERDICT_KEYS | {"topic", "title"} for r in rows)
    assert all(set(e) == EVIDENCE_KEYS for r in rows for e in r["evidence"])
    assert all(r["verdict"] == "proved" and all(e["passed"] for e in r["evidence"]) for r in rows)
    assert without_times(rows) == without_times(together.json)
    table = run("verify", *names[1:])
    assert "sigmoid_neg" in table.out
    assert "2 theorems: 2 proved; seed 0" in table.out


def without_times(data: list[dict[str, Any]]) -> str:
    rows = [dict(row, seconds=0, evidence=[dict(e, seconds=0) for e in row["evidence"]]) for row in data]
    return json.dumps(rows)


def test_verify_says_when_something_inside_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """One theorem that stops with an error is unsupported; the other is still verified."""
    from lemmata import api

    real = api.verify_theorem

    def broken(theorem: object, *, seed: int) -> object:
        if theorem.name == "sum_softmax":  # type: ignore[attr-defined]
            raise ZeroDivisionError("seven by zero")
        return real(theorem, seed=seed)  # type: ignore[arg-type]

    monkeypatch.setattr(api, "verify_theorem", broken)
    ran = run("verify", "sum_softmax", "sigmoid_neg", "--json", "--jobs", "1")
    assert ran.code == 2
    assert [r["verdict"] for r in ran.json] == ["unsupported", "proved"]
    assert "ZeroDivisionError: seven by zero" in ran.json[0]["reason"]


def test_the_worst_verdict_decides() -> None:
    assert exit_code(["proved", "supported"]) == 3
    assert exit_code(["supported", "unsupported", "proved"]) == 2
    assert exit_code(["unsupported", "refuted", "supported"]) == 1
    assert exit_code(["proved"]) == 0
