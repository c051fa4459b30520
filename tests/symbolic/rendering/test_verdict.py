"""Verdicts as text, Markdown and JSON data."""

import json

import numpy as np

from lemmata.symbolic.derivations.model import Counterexample, Evidence, Verdict
from lemmata.symbolic.rendering.verdict import verdict_data, verdict_markdown, verdict_text

REFUTED = Verdict(
    "refuted",
    (Evidence("canonical", False, "a|b differs", 0.01),),
    notes=("tie rule: first",),
    counterexample=Counterexample({"K": 3}, {"z": np.array([0.5, float("inf"), 2.0])}, (1,), "1/3", "1/2", "-1/6"),
    seconds=0.5,
)


def test_data_is_plain_json() -> None:
    data = verdict_data(REFUTED)
    assert {"verdict", "seconds", "evidence", "counterexample", "conditions", "notes"} <= set(data)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["counterexample"]["inputs"]["z"] == [0.5, "inf", 2.0]


def test_text_has_both_values_and_the_place() -> None:
    shown = verdict_text(REFUTED)
    for part in (
        "refuted",
        "✗ canonical",
        "K = 3",
        "1/3  at index (1,)",
        "1/2",
        "left − right = -1/6",
        "note: tie rule",
    ):
        assert part in shown


def test_conditions_and_reasons() -> None:
    assert "where γ ≠ 0" in verdict_text(Verdict("proved", conditions=("γ ≠ 0",)))
    assert "reason: no rule for sort" in verdict_text(Verdict("unsupported", reason="no rule for sort"))


def test_markdown_escapes_its_cells() -> None:
    shown = verdict_markdown(REFUTED)
    assert r"| canonical | no | a\|b differs |" in shown
    assert "K = 3" in shown


def test_stars_of_a_detail_are_no_marks_of_markdown() -> None:
    known = Verdict("proved", (Evidence("exact", True, "2 atoms (cos(k*w_0), sin(k*w_0))", 0.0),), notes=("a*b*c",))
    shown = verdict_markdown(known)
    assert r"2 atoms (cos(k\*w_0), sin(k\*w_0))" in shown
    assert r"- a\*b\*c" in shown
