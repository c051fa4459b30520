"""The reference: a page and a file for each theorem, verdicts, an index; the same bytes in two runs, no times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lemmata import parallel
from lemmata.symbolic.theorems import find_theorem

from .running import Ran, run

NAMES = ["deriv_softmax", "sigmoid_neg", "deriv_cross_entropy_softmax"]


@pytest.fixture(autouse=True)
def _few_theorems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three theorems stand for all; `make reference` runs every one."""
    monkeypatch.setattr(parallel, "chosen_theorems", lambda names: [find_theorem(n) for n in names or NAMES])


def reference(folder: Path, *words: str) -> tuple[Ran, dict[str, bytes]]:
    ran = run("reference", "--output", str(folder), *words)
    return ran, {f.name: f.read_bytes() for f in sorted(folder.iterdir())}


def test_pages_are_written_and_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    ran, one = reference(tmp_path / "one" / "deep", "--jobs", "1")
    _, two = reference(tmp_path / "two", "--jobs", "2")
    assert ran.code == 0
    assert "3 theorems: 3 proved; seed 0" in ran.out
    assert set(one) == {f"{n}{s}" for n in NAMES for s in (".tex", ".md")} | {"index.md", "verdicts.json"}
    assert one == two
    page = one["deriv_cross_entropy_softmax.md"].decode()
    assert "**proved**" in page
    assert "def deriv_cross_entropy_softmax(" in page
    assert one["deriv_softmax.tex"].startswith(b"\\documentclass")
    assert all(f"({n}.md)" in one["index.md"].decode() for n in NAMES)


def test_verdicts_hold_the_evidence_without_times(tmp_path: Path) -> None:
    _, files = reference(tmp_path, "--jobs", "1", "--seed", "5")
    data = json.loads(files["verdicts.json"])
    assert data["seed"] == 5
    assert [t["name"] for t in data["theorems"]] == NAMES
    assert all(t["verdict"] == "proved" and t["evidence"] for t in data["theorems"])
    assert b"seconds" not in files["verdicts.json"]
    assert b"seed 5" in files["verdicts.json"]


def test_pages_of_a_theorem_that_is_gone_are_removed_and_other_files_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference(tmp_path, "--jobs", "1")
    (tmp_path / "mine.md").write_text("notes")
    monkeypatch.setattr(parallel, "chosen_theorems", lambda names: [find_theorem("sigmoid_neg")])
    _, files = reference(tmp_path, "--jobs", "1")
    assert set(files) == {"sigmoid_neg.tex", "sigmoid_neg.md", "index.md", "verdicts.json", "mine.md"}


def test_one_that_is_not_proved_is_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata import api
    from lemmata.symbolic.derivations.model import Verdict

    monkeypatch.setattr(api, "verify_theorem", lambda theorem, *, seed: Verdict("refuted", reason="made to fail"))
    ran, files = reference(tmp_path, "--jobs", "1")
    assert ran.code == 1
    assert "made to fail" in ran.out
    assert b"**refuted**" in files["sigmoid_neg.md"]
    assert b"0 of 3 proved" in files["index.md"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = run("reference", "--output", str(tmp_path / "file" / "below"), "--jobs", "1")
    assert failed.code == 2
    assert "cannot write to" in failed.err
