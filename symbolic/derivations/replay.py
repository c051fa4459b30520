"""Replaying a derivation: every step is judged by the canonical form and by the second path, and the verdict is
computed.

Nothing here knows how a derivation was made; a derivation read from a file is judged in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace as changed
from typing import Any

import sympy as sp

from ..calculus.reverse import carried_out
from ..canonical.conditions import conditions
from ..canonical.context import TooLarge, Undefined
from ..canonical.equality import context_for, equal
from ..checking import check_equal
from ..language.errors import HypothesisError, UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from .chains import BrokenChain, check_chain, check_parts, link
from .declarations import Doubt, doubt
from .model import Derivation, Evidence, Step, Verdict

MANY_PARTS = 10  # a system with more adjoints has each of them looked at by the second path at one binding of the sizes


def replay(d: Derivation, *, steps: bool = True, seed: int = 0, seconds: float = 20.0,
           thorough: bool = True) -> Verdict:
    """The verdict on a derivation: the chain, each step, and the ends, on both paths.

    Without `thorough` the second path looks at the ends at one binding of the sizes, as it does at the steps.
    """
    start = time.perf_counter()
    if d.parts:
        return _replay_parts(d, steps=steps, seed=seed, seconds=seconds)
    try:
        check_chain(d)
    except BrokenChain as error:
        return Verdict("refuted", reason=str(error), seconds=time.perf_counter() - start)
    ends = Step(d.left, d.right, "statement", "the statement", "state")
    chosen = [ends, *d.steps] if steps and len(d.steps) > 1 else [ends]
    return judge(chosen, d.indices, d.hypotheses, variable=d.variable, seed=seed, seconds=seconds, needs=d.needs,
                 thorough=thorough)


def _replay_parts(d: Derivation, *, steps: bool, seed: int, seconds: float) -> Verdict:
    """The verdict on a gradient in named adjoints: every part is judged, and the parts are tied by the chain rule.

    The adjoints must be those of the loss: each part's left side is made again from the loss and compared, so that a
    part cannot be left out or put in place of another.
    """
    start = time.perf_counter()
    try:
        expected = check_parts(d)
    except BrokenChain as error:
        return Verdict("refuted", reason=str(error), seconds=time.perf_counter() - start)
    evidence: dict[str, list[Evidence]] = {}
    worst = Verdict("proved")
    order = ("proved", "supported", "unsupported", "refuted")
    conditions_found: dict[str, None] = {}
    notes: dict[str, None] = {}
    thorough = len(d.parts) <= MANY_PARTS
    for part in d.parts:
        verdict = replay(part, steps=steps, seed=seed, seconds=seconds, thorough=thorough)
        links = link(part, expected[part.name])
        if verdict.verdict != "refuted" and links is not None:
            verdict = _linked(verdict, judge([links], part.indices, d.hypotheses, seed=seed, seconds=seconds,
                                             thorough=thorough))
        if verdict.verdict == "refuted":
            verdict = _unfolded(part, expected[part.name], verdict, d.hypotheses, seed)
        for e in verdict.evidence:
            evidence.setdefault(e.kind, []).append(changed(e, detail=f"{part.name}: {e.detail}"))
        conditions_found.update(dict.fromkeys(verdict.conditions))
        notes.update(dict.fromkeys(verdict.notes))
        if order.index(verdict.verdict) > order.index(worst.verdict):
            worst = changed(verdict, reason=f"{part.name}: {verdict.reason}")
    gathered = tuple(changed(_worst(found),
                             detail=f"{len(found)} adjoints, each a local statement; {_worst(found).detail}",
                             seconds=sum(e.seconds for e in found)) for found in evidence.values())
    chain = Evidence("chain rule", True, f"the {len(d.parts)} local statements are those of reverse mode through "
                                         f"{len(d.definitions)} definitions")
    verdict = Verdict(worst.verdict, (chain, *gathered), conditions=tuple(conditions_found), notes=tuple(notes),
                      counterexample=worst.counterexample, reason=worst.reason, seconds=time.perf_counter() - start)
    # In the parts names stand for themselves, with their domains; what these are worth is seen in the whole.
    return _doubted(verdict, doubt([d.left, *d.definitions, *(x for p in d.parts for x in p.definitions)],
                                   d.hypotheses, seed))


def _linked(part: Verdict, links: Verdict) -> Verdict:
    """The verdict on a part whose first line is not the local sum letter by letter: both equalities must hold."""
    if links.verdict == "proved":
        return changed(part, conditions=tuple(dict.fromkeys((*part.conditions, *links.conditions))))
    return changed(links, reason=f"its first line is not the local sum of reverse mode: "
                                 f"{links.reason or 'not shown for all sizes'}")


def _unfolded(part: Derivation, expected: sp.Expr, local: Verdict, hypotheses: Sequence[Hypothesis],
              seed: int) -> Verdict:
    """The verdict on an adjoint whose local statement is refuted: false for arrays that stand for themselves, it may
    still be true of what their names are defined as. Then the gradient is right, and not proved in this way.
    """
    assert part.adjoint is not None
    left, right = carried_out(expected), part.adjoint.at(*part.indices)
    try:
        found = check_equal(left, right, part.indices, hypotheses, seed=seed, thorough=False)
    except (UnsupportedError, HypothesisError) as error:
        return Verdict("unsupported", local.evidence, reason=str(error))
    if found.equal is False:
        return changed(local, counterexample=found.counterexample or local.counterexample)
    stated = "the statement is false where its names stand for themselves"
    if found.equal is None:
        return Verdict("unsupported", local.evidence, reason=f"{stated}, and with their definitions the second path "
                                                             f"could not decide it: {found.reason}")
    return Verdict("supported", found.evidence, reason=f"{stated}, but agrees with the definitions of all names put in")


def _worst(found: Sequence[Evidence]) -> Evidence:
    """What failed; else what could not be run; else the first."""
    return next((e for state in (False, None) for e in found if e.passed is state), found[0])


def judge(steps: Sequence[Step], indices: Sequence[Index], hypotheses: Sequence[Hypothesis], *,
          variable: sp.Expr | None = None,
          seed: int = 0, seconds: float = 20.0, needs: tuple[Sequence[sp.Expr], Sequence[sp.Expr]] = ((), ()),
          thorough: bool = True) -> Verdict:
    """The verdict on equalities with the same indices and hypotheses; the first is the statement, the others are its
    steps.
    """
    start = time.perf_counter()
    verdict = "proved"
    evidence: list[Evidence] = []
    used: dict[str, None] = {}
    try:
        # The second path looks at the statement first: what it refutes needs no long search for a proof.
        first = check_equal(steps[0].before, steps[0].after, indices, hypotheses, variable=variable, seed=seed,
                            thorough=thorough, budget_seconds=2.0 if thorough else 0.2)
        doubted = None if first.equal is False else doubt([steps[0].before, steps[0].after], hypotheses, seed)
        if doubted is not None and doubted.false:
            return Verdict("unsupported", reason=doubted.reason, seconds=time.perf_counter() - start)
        began = time.perf_counter()
        answers = [equal(s.before, s.after, hypotheses, 1.0 if first.equal is False else seconds)
                   for s in (steps[:1] if first.equal is False else steps)]
        failed = [n for n, a in enumerate(answers) if not a.equal]
        for a in answers:
            used.update(dict.fromkeys(a.used))
        evidence.append(Evidence("canonical", not failed, _canonical_text(steps, failed, answers),
                                 time.perf_counter() - began))
        if failed:
            verdict = "supported"
        second: dict[str, list[Evidence]] = {}
        for n, s in enumerate(steps):
            checked = first if n == 0 else check_equal(s.before, s.after, indices, hypotheses, seed=seed,
                                                       thorough=False, budget_seconds=0.2)
            for e in checked.evidence:
                second.setdefault(e.kind, []).append(e)
            if checked.equal is False:
                where = f"step {n} ({s.rule}): " if n else ""
                gathered = [*evidence, *(_merged(kind, found) for kind, found in second.items())]
                return Verdict("refuted", tuple(gathered), counterexample=checked.counterexample,
                               reason=f"{where}{s.before} is not equal to {s.after}",
                               seconds=time.perf_counter() - start)
            if checked.equal is None:
                return Verdict("unsupported", tuple(evidence),
                               reason=f"the second path could not decide step {n} ({s.rule}): {checked.reason}",
                               seconds=time.perf_counter() - start)
        evidence += [_merged(kind, found) for kind, found in second.items()]
        # A derivative that is 0 because its variable does not matter is proved like any other (at K = 1 the softmax is
        # constant); it is said, so that nobody takes it for an answer to another question.
        constant = [e for e in evidence if e.kind == "dependence" and e.passed is False]
        evidence = [changed(e, passed=True) if e in constant else e for e in evidence]
        conditions = _conditions(steps[0], hypotheses, needs)
    except (UnsupportedError, HypothesisError) as error:
        return Verdict("unsupported", tuple(evidence), reason=str(error), seconds=time.perf_counter() - start)
    notes = (*(_NOTES[u] for u in used if u in _NOTES), *(e.detail for e in constant))
    return _doubted(Verdict(verdict, tuple(evidence), conditions=conditions, notes=notes,  # type: ignore[arg-type]
                            seconds=time.perf_counter() - start), doubted)


def _doubted(verdict: Verdict, found: Doubt | None) -> Verdict:
    """The verdict, where a domain that was declared of a definition does not follow: then nothing is proved by it."""
    if found is None or verdict.verdict not in ("proved", "supported"):
        return verdict
    return changed(verdict, verdict="unsupported" if found.false else "supported", reason=found.reason)


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
    chosen = _worst(found)
    # For how many steps an exact decision was reached in time depends on the machine: it is not told, so that pages
    # stay the same.
    more = " (and steps)" if len(found) > 1 and chosen.passed else ""
    return changed(chosen, detail=chosen.detail + more, seconds=sum(e.seconds for e in found))


def definedness(left: sp.Expr, right: sp.Expr, hypotheses: Sequence[Hypothesis],
                needs: tuple[Sequence[sp.Expr], Sequence[sp.Expr]] = ((), ())) -> tuple[str, ...]:
    """Where left = right is stated: conditions that one side asks for and the other does not."""
    return _conditions(Step(left, right, "", "", "state"), hypotheses, needs)


def _conditions(statement: Step, hypotheses: Sequence[Hypothesis],
                needs: tuple[Sequence[sp.Expr], Sequence[sp.Expr]]) -> tuple[str, ...]:
    """What the right side asks for beyond the left side (or the other way round): where the equality is stated.

    `needs` are the divisors of either side that may have cancelled while it was written.
    """
    reader = context_for(hypotheses)
    try:
        left, right = conditions(reader, statement.before, needs[0]), conditions(reader, statement.after, needs[1])
    except (TooLarge, Undefined) as error:
        return (f"conditions not known: {error}",)
    return tuple(dict.fromkeys(text for side, other in ((right, left), (left, right))
                               for key, text in side.items() if key not in other))
