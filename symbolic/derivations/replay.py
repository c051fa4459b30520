"""Replaying a derivation: every step is judged by the canonical form and by the second path, and the verdict is computed.

Nothing here knows how a derivation was made; a derivation read from a file is judged in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace as changed
from typing import Any

import sympy as sp

from ..canonical.conditions import conditions
from ..canonical.context import TooLarge, Undefined
from ..canonical.equality import context_for, equal
from ..checking import check_equal
from ..language.errors import HypothesisError, LemmataError, UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from .model import Derivation, Evidence, Step, Verdict


class BrokenChain(LemmataError):
    """Steps that do not follow each other: a line was left out or tampered with."""


def check_chain(d: Derivation) -> None:
    """The first step starts at the left side, each step at the end of the one before, the last ends at the right side."""
    current = d.left
    for n, step in enumerate(d.steps, 1):
        if step.before != current:
            raise BrokenChain(f"step {n} ({step.rule}) starts from {step.before}, but the line before it is {current}")
        current = step.after
    if current != d.right:
        raise BrokenChain(f"the last line is {current}, but the statement's right side is {d.right}")


def replay(d: Derivation, *, steps: bool = True, seed: int = 0, seconds: float = 20.0) -> Verdict:
    """The verdict on a derivation: the chain, each step, and the ends, on both paths."""
    start = time.perf_counter()
    try:
        check_chain(d)
    except BrokenChain as error:
        return Verdict("refuted", reason=str(error), seconds=time.perf_counter() - start)
    ends = Step(d.left, d.right, "statement", "the statement", "state")
    chosen = [ends, *d.steps] if steps and len(d.steps) > 1 else [ends]
    return judge(chosen, d.indices, d.hypotheses, variable=d.variable, seed=seed, seconds=seconds)


def judge(steps: Sequence[Step], indices: Sequence[Index], hypotheses: Sequence[Hypothesis], *, variable: sp.Expr | None = None,
          seed: int = 0, seconds: float = 20.0) -> Verdict:
    """The verdict on equalities with the same indices and hypotheses; the first is the statement, the others are its steps."""
    start = time.perf_counter()
    verdict = "proved"
    evidence: list[Evidence] = []
    used: dict[str, None] = {}
    try:
        began = time.perf_counter()
        answers = [equal(s.before, s.after, hypotheses, seconds) for s in steps]
        failed = [n for n, a in enumerate(answers) if not a.equal]
        for a in answers:
            used.update(dict.fromkeys(a.used))
        evidence.append(Evidence("canonical", not failed, _canonical_text(steps, failed, answers), time.perf_counter() - began))
        if failed:
            verdict = "supported"
        second: dict[str, list[Evidence]] = {}
        for n, s in enumerate(steps):
            checked = check_equal(s.before, s.after, indices, hypotheses, variable=variable if n == 0 else None, seed=seed)
            for e in checked.evidence:
                second.setdefault(e.kind, []).append(e)
            if checked.equal is False:
                where = f"step {n} ({s.rule}): " if n else ""
                gathered = [*evidence, *(_merged(kind, found) for kind, found in second.items())]
                return Verdict("refuted", tuple(gathered), counterexample=checked.counterexample,
                               reason=f"{where}{s.before} is not equal to {s.after}", seconds=time.perf_counter() - start)
            if checked.equal is None:
                return Verdict("unsupported", tuple(evidence), reason=f"the second path could not decide step {n} ({s.rule}): {checked.reason}",
                               seconds=time.perf_counter() - start)
        evidence += [_merged(kind, found) for kind, found in second.items()]
        if any(e.kind == "dependence" and not e.passed for e in evidence):
            verdict = "supported"
        where = _conditions(steps[0], hypotheses)
    except (UnsupportedError, HypothesisError) as error:
        return Verdict("unsupported", tuple(evidence), reason=str(error), seconds=time.perf_counter() - start)
    notes = tuple(_NOTES.get(u, "") for u in used if u in _NOTES)
    return Verdict(verdict, tuple(evidence), conditions=where, notes=notes,  # type: ignore[arg-type]
                   seconds=time.perf_counter() - start)


_NOTES = {
    "rounding": "up to rounding of the constants",
    "away from kinks": "the derivative is stated away from its kinks",
    "tie": "a maximum is differentiated away from ties",
}


def _canonical_text(steps: Sequence[Step], failed: Sequence[int], answers: Sequence[Any]) -> str:
    if not failed:
        return f"statement and {len(steps) - 1} steps, for all sizes" if len(steps) > 1 else "statement, for all sizes"
    n = failed[0]
    return f"not shown for {'the statement' if n == 0 else f'step {n} ({steps[n].rule})'}: {answers[n].residual}"


def _merged(kind: str, found: Sequence[Evidence]) -> Evidence:
    """The evidence of one kind over all steps: passed when all passed, with the words of the statement (the first)."""
    bad = [e for e in found if not e.passed]
    chosen = bad[0] if bad else found[0]
    more = f" (and {len(found) - 1} more steps)" if len(found) > 1 and not bad else ""
    return changed(chosen, detail=chosen.detail + more, seconds=sum(e.seconds for e in found))


def _conditions(statement: Step, hypotheses: Sequence[Hypothesis]) -> tuple[str, ...]:
    """What the right side asks for beyond the left side (or the other way round): where the equality is stated."""
    reader = context_for(hypotheses)
    try:
        left, right = conditions(reader, statement.before), conditions(reader, statement.after)
    except (TooLarge, Undefined) as error:
        return (f"conditions not known: {error}",)
    return tuple(dict.fromkeys(text for side, other in ((right, left), (left, right)) for key, text in side.items() if key not in other))
