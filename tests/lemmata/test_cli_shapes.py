"""`lemmata shapes`: attention traced from the command line, in every form, with its errors and exit codes."""

import json
from pathlib import Path

import pytest

from .running import run

MHA = ["shapes", "mha", "--x", "1,10,768", "--heads", "12"]
CROSS = ["shapes", "cross-attention", "--q", "2,4,512", "--kv", "2,7,512", "--heads", "8", "--kv-heads", "2"]


def test_mha_to_the_end() -> None:
    ran = run(*MHA)
    assert ran.code == 0
    places = [
        ran.out.index(s)
        for s in (
            "[1,10,768] → [1,10,12,64]",
            "[1,10,12,64] → [1,12,10,64]",
            "→ [1,12,10,10]",
            "√d_k = √64 = 8",
            "softmax(Z)",
            "O = P V_h",
            "[1,12,10,64] → [1,10,12,64]",
            "[1,10,12,64] → [1,10,768]",
            "Y = C W_O + b_O",
            "total parameters: 4 d_model² + 4d_model = 2,362,368",
        )
    ]
    assert places == sorted(places)


def test_symbolic() -> None:
    ran = run("shapes", "mha", "--x", "B,n,d_model", "--heads", "h")
    assert ran.code == 0
    assert "condition: d_model = h·d_k" in ran.out
    assert "[B,h,n,d_k]" in ran.out


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "tex", "json", "svg"])
def test_forms_and_files(form: str, tmp_path: Path) -> None:
    shown = run(*CROSS, "--format", form)
    assert shown.code == 0
    file = tmp_path / f"trace.{form}"
    written = run(*CROSS, "--format", form, "-o", str(file))
    assert (written.code, written.out) == (0, "")
    assert file.read_text(encoding="utf-8").rstrip("\n") == shown.out.rstrip("\n")


def test_options_reach_the_trace() -> None:
    data = json.loads(
        run(
            "shapes",
            "mha",
            "--x",
            "1,3,768",
            "--heads",
            "12",
            "--kv-heads",
            "4",
            "--cache",
            "37",
            "--mask",
            "causal",
            "--length-first",
            "--no-bias",
            "--format",
            "json",
        ).out
    )
    by_name = {line["result"]["name"]: line["result"]["sizes"] for line in data["lines"]}
    assert by_name["K_all"] == [3, 4, 38, 64]
    assert by_name["M"] == [1, 38]
    assert by_name["Y"] == [1, 3, 768]
    assert data["parameters"]["value"] == 2 * 768 * 768 + 2 * 768 * 256


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["mha", "--x", "1,10,770", "--heads", "12"],
            ["d_model = 770", "h = 12", "770 = 12·64 + 2", "d_model = h·d_k"],
        ),
        (["mha", "--x", "1,10", "--heads", "12"], ["got 2 sizes", "1,10,768"]),
        (["mha", "--x", "1,10,76 8", "--heads", "12"], ["cannot read the size"]),
        (["mha", "--x", "B,n,d", "--heads", "h", "--length-first"], ["length-first layer", "(n, B, d)"]),
        (["cross-attention", "--q", "2,4,12", "--kv", "3,7,12", "--heads", "3"], ["B = 2 against 3"]),
        (["mha", "--x", "1,10,768"], ["--heads"]),
        (["mha", "--x", "1,10,768", "--heads", "12", "--mask", "banded"], ["causal", "padding"]),
        (["mlp"], ["mlp"]),
    ],
)
def test_errors_have_exit_code_2(words: list[str], said: list[str]) -> None:
    ran = run("shapes", *words)
    assert ran.code == 2
    assert ran.out == ""
    for part in said:
        assert part in ran.err


def test_help_names_both_commands() -> None:
    ran = run("shapes", "--help")
    assert "mha" in ran.out
    assert "cross-attention" in ran.out
