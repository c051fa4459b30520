"""Replaying a derivation: every step is judged by the canonical form and by the second path, and the verdict is
computed.

Nothing here knows how a derivation was made; a derivation read from a file is judged in the same way.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace as changed
from typing import Any

import sympy as sp

from ..calculus.reverse import local_adjoint, opaque
from ..canonical.conditions import conditions
from ..canonical.context import TooLarge, Undefined
from ..canonical.equality import context_for, equal
from ..checking import check_equal
from ..language.errors import HypothesisError, LemmataError, UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.nodes import tensors
from .model import Derivation, Evidence, Step, Verdict

MANY_PARTS = 10  # a system with more adjoints has each of them looked at by the second path at one binding of the sizes


class BrokenChain(LemmataError):
    """Steps that do not follow each other: a line was left out or tampered with."""


def check_chain(d: Derivation) -> None:
    """The first step starts at the left side, each step at the end of the one before, the last ends at the right
    side.
    """
    current = d.left
    for n, step in enumerate(d.steps, 1):
        if step.before != current:
            raise BrokenChain(f"step {n} ({step.rule}) starts from {step.before}, but the line before it is {current}")
        current = step.after
    if current != d.right:
        raise BrokenChain(f"the last line is {current}, but the statement's right side is {d.right}")


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
        check_parts(d)
    except BrokenChain as error:
        return Verdict("refuted", reason=str(error), seconds=time.perf_counter() - start)
    evidence: dict[str, list[Evidence]] = {}
    worst = Verdict("proved")
    order = ("proved", "supported", "unsupported", "refuted")
    conditions_found: dict[str, None] = {}
    notes: dict[str, None] = {}
    for part in d.parts:
        verdict = replay(part, steps=steps, seed=seed, seconds=seconds, thorough=len(d.parts) <= MANY_PARTS)
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
    return Verdict(worst.verdict, (chain, *gathered), conditions=tuple(conditions_found), notes=tuple(notes),
                   counterexample=worst.counterexample, reason=worst.reason, seconds=time.perf_counter() - start)


def _worst(found: Sequence[Evidence]) -> Evidence:
    return next((e for e in found if not e.passed), found[0])


def check_parts(d: Derivation) -> None:
    """Each part states Σ_c dc ∂c/∂d over the definitions c that name d, made again here from the definitions
    themselves.
    """
    known = {p.adjoint.name: p.adjoint for p in d.parts if p.adjoint is not None}
    everything = dict.fromkeys([*tensors([d.left]), *d.definitions, *d.tensors, *known.values()])
    for name, times in Counter(t.name for t in everything).items():
        if times > 1:  # names stand for arrays in the parts: two arrays of one name would be taken for one
            raise BrokenChain(f"{times} arrays are called {name}; in named adjoints each name stands for one array")
    targets = {p.name.removeprefix("d"): p for p in d.parts}
    by_name = {t.name: t for t in [*d.definitions, *d.tensors]}
    for name, part in targets.items():
        target = by_name.get(name)
        if target is None or part.adjoint is None:
            raise BrokenChain(f"the part {part.name} is the adjoint of no definition or array of the statement")
        expected = local_adjoint(d.left, target, d.definitions, known, part.indices)
        if opaque(expected) != opaque(part.left):
            raise BrokenChain(f"the part {part.name} starts from {part.left}, but reverse mode gives "
                              f"{opaque(expected)}")
        if opaque(part.adjoint.at(*part.indices)) != opaque(part.right):
            raise BrokenChain(f"the adjoint {part.name} is defined as {part.adjoint.at(*part.indices)}, but its part "
                              f"ends at {part.right}")
    for t in d.definitions:
        depends = any(w.name in {x.name for x in t.free_symbols} for w in (by_name[n] for n in targets if n in by_name))
        if depends and t.name not in targets and any(t in tensors([c.body], False) for c in d.definitions
                                                     if c.name in targets):
            raise BrokenChain(f"the adjoint of {t.name} is missing")


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
        constant = [e for e in evidence if e.kind == "dependence" and not e.passed]
        evidence = [changed(e, passed=True) if e in constant else e for e in evidence]
        conditions = _conditions(steps[0], hypotheses, needs)
    except (UnsupportedError, HypothesisError) as error:
        return Verdict("unsupported", tuple(evidence), reason=str(error), seconds=time.perf_counter() - start)
    notes = (*(_NOTES[u] for u in used if u in _NOTES), *(e.detail for e in constant))
    return Verdict(verdict, tuple(evidence), conditions=conditions, notes=notes,  # type: ignore[arg-type]
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
    # For how many steps an exact decision was reached in time depends on the machine: it is not told, so that pages
    # stay the same.
    more = " (and steps)" if len(found) > 1 and not bad else ""
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
