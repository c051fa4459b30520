"""`lemmata check`: a saved derivation is proved again, and a line that was tampered with is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .running import Ran, run

Data = dict[str, Any]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("saved") / "derivation.json"
    assert run("derive", "deriv_cross_entropy_softmax", "--format", "json", "-o", str(file)).code == 0
    return file.read_text(encoding="utf-8")


def check(text: str, folder: Path, *words: str) -> Ran:
    file = folder / "derivation.json"
    file.write_text(text, encoding="utf-8")
    return run("check", str(file), *words)


def test_as_saved_it_is_proved_and_its_hypotheses_are_shown(saved: str, tmp_path: Path) -> None:
    shown = check(saved, tmp_path)
    assert shown.code == 0
    assert "hypotheses: Σ_j y_j == 1" in shown.out
    assert "proved for every K" in shown.out
    data = check(saved, tmp_path, "--json").json
    assert data["verdict"] == "proved"
    assert data["hypotheses"] == ["Σ_j y_j == 1"]


def test_a_gradient_of_ones_own_is_checked_too(tmp_path: Path) -> None:
    text = run("gradient", "sum(z*z)", "--wrt", "z", "--shapes", "z=K", "--format", "json").out
    assert check(text, tmp_path).code == 0


def flip_the_last_line(data: Data) -> None:
    last = data["steps"][-1]
    last["after"] = data["right"] = ["add", ["element", *element(data, "y")], ["element", *element(data, "p")]]


def element(data: Data, name: str) -> list[Any]:
    number = next(n for n, t in enumerate(data["tensors"]) if t["name"] == name)
    return [number, ["index", data["free"][0][1]]]


def scale_a_middle_line(data: Data) -> None:
    n = len(data["steps"]) // 2
    changed = ["mul", ["rational", 10009, 10000], data["steps"][n]["after"]]
    data["steps"][n]["after"] = data["steps"][n + 1]["before"] = changed


def change_one_side_of_a_join(data: Data) -> None:
    data["steps"][2]["before"] = ["mul", -1, data["steps"][2]["before"]]


def leave_a_line_out(data: Data) -> None:
    del data["steps"][1]


def change_the_statement(data: Data) -> None:
    data["right"] = ["mul", 2, data["right"]]


def drop_the_hypothesis(data: Data) -> None:
    data["hypotheses"] = []


@pytest.mark.parametrize(("tamper", "named"), [
    (flip_the_last_line, "p"), (scale_a_middle_line, "step 5"), (change_one_side_of_a_join, "step 3"),
    (leave_a_line_out, "step 2"), (change_the_statement, "the statement's right side"), (drop_the_hypothesis, "p"),
])
def test_a_line_that_was_tampered_with(tamper: Callable[[Data], None], named: str, saved: str, tmp_path: Path) -> None:
    data = json.loads(saved)
    tamper(data)
    shown = check(json.dumps(data), tmp_path)
    assert shown.code == 1
    assert "refuted" in shown.out
    assert named in shown.out.partition("reason: ")[2], shown.out


@pytest.mark.parametrize(("text", "said"), [
    ("{", "not a JSON file"), ("[]", "format"), ('{"format": "other"}', "format"),
    ('{"format": "lemmata.derivation/1"}', "lacks the key"),
    ('{"format": "lemmata.derivation/1", "indices": null}', "not a derivation file"),
    ('{"format": "lemmata.derivation/1", "indices": [], "tensors": 5}', "not a derivation file"),
    ('{"format": "lemmata.derivation/1", "name": "", "indices": [], "tensors": [], "left": ["element", 9]}', "element"),
    ('{"format": "lemmata.derivation/1", "name": "", "indices": [], "tensors": [], "left": ["exec", ""]}', "exec"),
    ("[" * 100_000, "not a"),
])
def test_a_file_that_is_no_derivation(text: str, said: str, tmp_path: Path) -> None:
    failed = check(text, tmp_path)
    assert failed.code == 2
    assert failed.out == ""
    assert "derivation.json: " in failed.err
    assert said in failed.err
    assert "Traceback" not in failed.err


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    missing = run("check", str(tmp_path / "none.json"))
    assert missing.code == 2
    assert "No such file" in missing.err
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert run("check", str(tmp_path / "binary")).code == 2
