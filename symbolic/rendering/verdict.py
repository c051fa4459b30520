"""Verdicts and counterexamples: text, Markdown and JSON data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..derivations.model import Counterexample, Evidence, Verdict
from .prose import plain_markdown

_MEANING = {
    "proved": "proved for every size",
    "refuted": "refuted by a counterexample",
    "supported": "not proved, but no difference was found",
    "unsupported": "not decided: a construct is not supported",
}


def plain(value: Any) -> Any:
    """A value as plain JSON data: arrays become nested lists, exact numbers their text."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):  # JSON has no inf and nan
        return value if value - value == 0 else str(value)
    return str(value)


def counterexample_data(c: Counterexample) -> dict[str, Any]:
    """A counterexample as JSON data."""
    return {
        "sizes": plain(c.sizes),
        "inputs": plain(c.inputs),
        "index": list(c.index),
        "left": c.left,
        "right": c.right,
        "residual": c.residual,
    }


def verdict_data(v: Verdict) -> dict[str, Any]:
    """A verdict as JSON data: `verdict`, `seconds`, `evidence`, `counterexample`, `conditions`, `notes`, `reason`."""
    return {
        "verdict": v.verdict,
        "seconds": v.seconds,
        "evidence": [
            {"kind": e.kind, "passed": e.passed, "detail": e.detail, "seconds": e.seconds} for e in v.evidence
        ],
        "counterexample": None if v.counterexample is None else counterexample_data(v.counterexample),
        "conditions": list(v.conditions),
        "notes": list(v.notes),
        "reason": v.reason,
    }


def headline(v: Verdict) -> str:
    """What a verdict means, in a few words, with the conditions of a proof."""
    text = _MEANING[v.verdict]
    return f"{text}, where {' and '.join(v.conditions)}" if v.conditions and v.verdict == "proved" else text


def counterexample_text(c: Counterexample) -> str:
    """Sizes, inputs, and both values at the index where they differ."""
    lines = ["counterexample:"]
    if c.sizes:
        lines.append("  sizes   " + ", ".join(f"{k} = {v}" for k, v in c.sizes.items()))
    lines += [f"  {name:<7} {plain(value)}" for name, value in c.inputs.items()]
    place = f"  at index {c.index}" if c.index else ""
    lines += [f"  left    {c.left}{place}", f"  right   {c.right}"]
    if c.residual:
        lines.append(f"  left − right = {c.residual}")
    return "\n".join(lines)


# By whether a check passed, failed, or could not be run.
MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "–"}
WORDS: dict[bool | None, str] = {True: "yes", False: "no", None: "not run"}


def evidence_line(e: Evidence) -> str:
    """A piece of evidence as a line of text."""
    return f"{MARKS[e.passed]} {e.kind:<12} {e.detail}".rstrip()


def evidence_table(evidence: Iterable[Evidence]) -> list[str]:
    """Evidence as a table in Markdown."""
    rows = [f"| {cell(e.kind)} | {WORDS[e.passed]} | {cell(e.detail)} |" for e in evidence]
    return ["| evidence | passed | detail |", "|---|---|---|", *rows]


def verdict_text(v: Verdict) -> str:
    """A verdict for the terminal.

    >>> from lemmata.symbolic.derivations.model import Evidence
    >>> print(verdict_text(Verdict("proved", (Evidence("canonical", True, "equal canonical forms"),))))
    proved: proved for every size
      ✓ canonical    equal canonical forms
    """
    lines = [f"{v.verdict}: {headline(v)}"]
    lines += [f"  {evidence_line(e)}" for e in v.evidence]
    if v.reason:
        lines.append(f"  reason: {v.reason}")
    if v.counterexample is not None:
        lines += ["  " + line for line in counterexample_text(v.counterexample).splitlines()]
    lines += [f"  note: {n}" for n in v.notes]
    return "\n".join(lines)


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return plain_markdown(text).replace("|", r"\|").replace("\n", " ")


def verdict_markdown(v: Verdict) -> str:
    """A verdict with a table of its evidence."""
    lines = [f"**{v.verdict}**: {headline(v)}", ""]
    if v.evidence:
        lines += [*evidence_table(v.evidence), ""]
    if v.reason:
        lines += [f"Reason: {plain_markdown(v.reason)}", ""]
    if v.counterexample is not None:
        lines += ["```", counterexample_text(v.counterexample), "```", ""]
    lines += [f"- {plain_markdown(n)}" for n in v.notes]
    return "\n".join(lines).rstrip() + "\n"
