"""`lemmata prove` and `lemmata gradient` on functions of files, and on files of claims."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .running import run

MODEL = """
import numpy as np
from helper import rows

def loss(z, y):
    return -np.mean(np.sum(y * (z - np.log(rows(np.exp(z)))), axis=1))

def loss_grad(z, y):
    return (np.exp(z) / rows(np.exp(z)) - y) / len(z)

def wrong(z, y):
    return np.exp(z) / rows(np.exp(z)) - y

def stable(z, y):
    z = z - z.max(axis=1, keepdims=True)
    return -np.sum(y * (z - np.log(rows(np.exp(z))))) / z.shape[0]

def scaled(x, w):
    return x * w

def scaled_grad(g, x, w):
    return g * w, (g * x).sum(axis=0)

def endless(z, y):
    while True:
        pass

def sorts(z, y):
    return np.sum(np.sort(z, axis=1) * 1.0) + 0 * np.sum(y)

def ones(z, y):
    return np.ones_like(z)

count = 3
"""
SHAPES = ["--shapes", "z=N,K", "y=N,K"]
ROWS = ["--given", "sum(y, axis=1)=1"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A file that imports another one beside it."""
    (tmp_path / "helper.py").write_text("def rows(e):\n    return e.sum(axis=1, keepdims=True)\n")
    (tmp_path / "model.py").write_text(MODEL)
    return str(tmp_path / "model.py")


# ---------------------------------------------------------------------- functions
def test_a_gradient_is_proved(model: str) -> None:
    ran = run("prove", f"{model}:loss", f"{model}:loss_grad", "--wrt", "z", *SHAPES, *ROWS)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("claim: loss_grad is the gradient of loss with respect to z\nproved for every K, N\n")
    assert "  loss = −(1/N) Σ_" in ran.out


def test_a_wrong_one_is_refuted(model: str) -> None:
    words = ["prove", f"{model}:loss", f"{model}:wrong", "--wrt", "z", *SHAPES, *ROWS]
    ran = run(*words)
    assert ran.code == 1
    assert "the claim lacks the factor 1/N" in ran.out
    data = run(*words, "--json").json
    assert data["verdict"] == "refuted"
    assert data["counterexample"]["sizes"] == {"K": 2, "N": 2}
    np.testing.assert_allclose(np.sum(data["counterexample"]["inputs"]["y"], axis=1), 1)
    assert set(data["formulas"]) == {"loss", "wrong[i, j]"}


def test_several_arrays_and_a_cotangent(model: str) -> None:
    words = [
        "prove",
        f"{model}:scaled",
        f"{model}:scaled_grad",
        "--wrt",
        "x,w",
        "--shapes",
        "x=N,D",
        "w=D",
        "--cotangent",
        "g=N,D",
    ]
    ran = run(*words, "--sizes", "N=1..3", "D=2", "--json")
    assert ran.code == 0
    assert {n: p["verdict"] for n, p in ran.json["parts"].items()} == {"x": "proved", "w": "proved"}


def test_a_rewrite_is_proved(model: str) -> None:
    assert run("prove", f"{model}:loss", f"{model}:stable", *SHAPES).code == 0
    assert run("prove", f"{model}:loss", f"{model}:sorts", *SHAPES).code == 1


def test_what_is_not_proved_has_its_own_exit_code(model: str) -> None:
    ran = run("prove", f"{model}:sorts", f"{model}:ones", "--wrt", "z", *SHAPES, "--domain", "z=distinct")
    assert ran.code == 3
    assert "supported: not proved" in ran.out
    assert "model.py:" in ran.out
    assert "np.sort is not read" in ran.out


def test_what_hangs_is_answered(model: str) -> None:
    ran = run("prove", f"{model}:endless", f"{model}:loss_grad", "--wrt", "z", *SHAPES, "--seconds", "0.5", "--json")
    assert ran.code == 2
    assert ran.json["verdict"] == "unsupported"
    assert "the time limit of 0.5 s" in ran.json["reason"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["prove", "{model}:los", "{model}:loss_grad", "--wrt", "z", *SHAPES], ["'los'", "loss"]),
        (["prove", "{model}:loss", "{model}:count", "--wrt", "z", *SHAPES], ["count", "not a function but int"]),
        (["prove", "{model}:loss", "no/such.py:f", "--wrt", "z", *SHAPES], ["no/such.py"]),
        (
            ["prove", "{model}:loss", "no_such_module:f", "--wrt", "z", *SHAPES],
            ["no_such_module", "ModuleNotFoundError"],
        ),
        (["prove", "{model}:loss", "--wrt", "z", *SHAPES], ["is one function", "second"]),
        (["prove", "{model}:loss", "{model}:loss_grad", "--wrt", "z", "--shapes", "z=N,K"], ["'y'", "y=N,K"]),
        (["prove", "a == b", "b == a"], ["2 words", "file.py:name"]),
        (["prove", "a == b", "--claims", "x.jsonl"], ["--claims"]),
        (["gradient", "{model}:nothing", "--wrt", "z", *SHAPES], ["'nothing'"]),
        (["gradient", "{model}:sorts", "--wrt", "z", *SHAPES], ["np.sort", "model.py:"]),
        (["gradient", "sum(z)", "--wrt", "z", "--shapes", "z=K", "--cotangent", "g=K"], ["lemmata vjp"]),
        (["prove", "--claims", "no/such.jsonl"], ["no/such.jsonl"]),
    ],
)
def test_errors_say_what_to_do(words: list[str], said: list[str], model: str) -> None:
    ran = run(*(w.replace("{model}", model) for w in words))
    assert ran.code == 2
    assert ran.out == ""
    assert [s for s in said if s not in ran.err] == [], ran.err
    assert "Traceback" not in ran.err


def test_an_error_while_importing_is_told_with_its_line(tmp_path: Path) -> None:
    for name, text, said in (
        ("broken", "import numpy\n\nvalue = 1/0\ndef f(z): return z\n", "broken.py:3: importing"),
        ("unfinished", "def f(z:\n    return z\n", "unfinished.py:1: "),
    ):
        (tmp_path / f"{name}.py").write_text(text)
        ran = run("gradient", f"{tmp_path}/{name}.py:f", "--wrt", "z", "--shapes", "z=K")
        assert ran.code == 2
        assert said in ran.err


def test_a_file_of_a_package_and_a_name_that_is_taken(tmp_path: Path) -> None:
    """Relative imports work, and a file called like a module of Python takes nothing from it."""
    package = tmp_path / "layers_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "squares.py").write_text("def square(x):\n    return x * x\n")
    (package / "losses.py").write_text("from .squares import square\n\ndef loss(x):\n    return square(x).sum()\n")
    (tmp_path / "random.py").write_text("def grad(x):\n    return 2 * x\n")
    ran = run("prove", f"{package}/losses.py:loss", f"{tmp_path}/random.py:grad", "--wrt", "x", "--shapes", "x=K")
    assert ran.code == 0, ran.err


def test_the_gradient_of_a_function(model: str) -> None:
    ran = run("gradient", f"{model}:loss", "--wrt", "z", *SHAPES, *ROWS)
    assert ran.code == 0
    assert ran.out.startswith("Gradient of loss with respect to z")
    assert "By hypothesis." in ran.out
    assert "proved for every K, N" in ran.out
    names: dict[str, object] = {}
    exec(run("gradient", f"{model}:loss", "--wrt", "z", *SHAPES, *ROWS, "--format", "numpy").out, names)
    rng = np.random.default_rng(3)
    z, y = rng.normal(size=(5, 3)), rng.dirichlet(np.ones(3), 5)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(names["gradient"](z, y), (p - y) / 5)  # type: ignore[operator]
    with_cotangent = run(
        "gradient", f"{model}:scaled", "--wrt", "w", "--shapes", "x=N,D", "w=D", "--cotangent", "g=N,D"
    )
    assert with_cotangent.code == 0


# ---------------------------------------------------------------------- claims
CLAIMS = Path(__file__).parents[1] / "claims"


def test_claims_are_one_object_a_line() -> None:
    """In the order of the files, with progress and the count on standard error; the exit code is that of the worst."""
    ran = run("prove", "--claims", str(CLAIMS), "--jobs", "2", "--json")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    asked = [json.loads(line) for file in sorted(CLAIMS.glob("*.jsonl")) for line in file.read_text().splitlines()]
    assert [r["id"] for r in rows] == [a["id"] for a in asked]
    assert [r["verdict"] for r in rows] == ["proved" if a["true"] else "refuted" for a in asked]
    assert all(
        {"id", "verdict", "seconds", "evidence", "counterexample", "conditions", "notes", "reason"} == set(r)
        for r in rows
    )
    assert ran.code == 1
    assert "20 claims: 13 proved, 7 refuted; seed 0" in ran.err
    right = run(
        "prove", "--claims", str(CLAIMS / "scalar.jsonl"), "--claims", str(CLAIMS / "tensor.jsonl"), "--jobs", "1"
    )
    assert right.code == 0
    assert "softmax.rows: proved (" in right.out


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text(
        '{"id": "a", "forward": "x", "wrt": "x", "claimed": "1", "params": ["x"], "domain": {"x": "real"}}\n{"id": \n'
    )
    ran = run("prove", "--claims", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert "line 2 is not JSON" in ran.err
    file.write_text('{"id": "a", "forward": "x"}\n')
    assert "line 1 has no claimed, wrt" in run("prove", "--claims", str(file)).err


def test_the_table_of_claims_counts_and_sees_a_wrong_verdict(tmp_path: Path) -> None:
    """Standard output of `make claims`; a false claim that is marked as right makes a wrong verdict, and exit code
    1.
    """
    table = [sys.executable, str(CLAIMS / "table.py")]
    done = subprocess.run([*table, str(CLAIMS)], capture_output=True, text=True, check=True)
    assert "wrong verdicts: 0" in done.stdout
    assert done.stdout.count("\nall ") == 2
    lines = (CLAIMS / "false.jsonl").read_text().splitlines()
    (tmp_path / "tampered.jsonl").write_text(lines[0].replace('"true": false', '"true": true') + "\n")
    wrong = subprocess.run([*table, str(tmp_path)], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "WRONG VERDICT: right claim false.gaussian: refuted" in wrong.stdout
