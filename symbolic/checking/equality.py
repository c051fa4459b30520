"""Whether two index expressions are equal at small sizes: the second path of a proof, and of every step of one.

Balls at drawn points come first: they refute a wrong claim in a millisecond. What they do not refute is then decided
exactly where that can be done. See `check_equal`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import sympy as sp

from ..language.errors import HypothesisError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Tensor, tensors
from .dependence import depends
from .exactly import Exactly, decide, elements
from .fields import Undecided
from .records import Checked, Counterexample, Evidence
from .residual import residual
from .samples import Sample, decimal, sample
from .sizes import Binding, bindings, sizes_text, with_size_one

_FEW = 4  # up to so many inputs, the first sizes are drawn seven times
_SECOND_DRAW = 80  # up to so many inputs, the first sizes are drawn twice


def check_equal(
    left: sp.Expr,
    right: sp.Expr,
    indices: Iterable[Index] = (),
    hypotheses: Iterable[Hypothesis] = (),
    *,
    variable: sp.Expr | None = None,
    seed: int = 0,
    budget_seconds: float = 2.0,
    sizes: Binding | None = None,
    thorough: bool = True,
) -> Checked:
    """Decide left = right for every value of the free `indices`, at small concrete sizes that are pairwise different.

    Without `thorough` (for a step between two lines of a derivation whose ends are looked at thoroughly) one binding of
    the sizes and one draw are used.

    Both sides are evaluated as they stand: sums are added up, definitions are entered, derivatives not yet carried
    out are taken with dual numbers. `hypotheses` hold at every point by construction. `variable` is what was
    differentiated by: it is then checked as well that the left side depends on it. `sizes` fixes some of the size
    symbols.

    The answer is False with a counterexample where two balls are disjoint; True where both sides are the same rational
    function of their atoms, or agree in every ball to 1e-25; None where that cannot be decided, with the reason.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.indices import index
    >>> from lemmata.symbolic.language.vocabulary import softmax, sum
    >>> p = softmax(array("z", "K"))
    >>> check_equal(sum(p).body, sum(p * 0 + 1).body / p.shape[0]).equal
    True
    >>> k = index("k", "K")
    >>> check_equal(p.element(k), 2 * p.element(k), [k]).counterexample.residual
    'the claim is the left side times 2'
    """
    left, right = sp.sympify(left), sp.sympify(right)
    indices, hypotheses = tuple(indices), tuple(hypotheses)
    started = time.perf_counter()
    expressions = [left, right, *indices, *(side for h in hypotheses for side in (h.left, h.right, *h.indices))]
    declared = tuple(t for t in tensors(expressions) if not isinstance(t, DefinedTensor))
    usual = [binding for binding, _ in zip(bindings([*expressions, *declared], sizes), range(2), strict=False)]
    ones = list(with_size_one([*expressions, *declared], usual[0], sizes))[:3] if thorough else []
    usual = usual if thorough else usual[:1]
    # Budgets are of processor time: a busy machine decides the same as an idle one.
    problem = _Problem(left, right, indices, hypotheses, declared, seed, time.thread_time() + budget_seconds)

    evidence: list[Evidence] = []
    try:
        inputs = elements(declared, usual[0])
        # A statement in few numbers is cheap and may change its branch at a kink: it is looked at in more places.
        more = 6 if inputs <= _FEW else 1 if inputs <= _SECOND_DRAW else 0
        samples, notes = problem.samples([*usual, *[usual[0]] * (more if thorough else 0)], ones)
    except (HypothesisError, Undecided) as reason:
        return Checked(
            None, (Evidence("balls", False, f"undecided: {reason}", time.perf_counter() - started),), None, str(reason)
        )
    wrong = next((s for s in samples if s.differs or (s.one_sided and s.sizes not in ones)), None)
    if wrong is not None:
        counterexample = problem.counterexample(wrong, samples)
        detail = (
            f"the sides are apart at {sizes_text(wrong.sizes)}, index {list(counterexample.index)}: "
            f"{counterexample.left} against {counterexample.right}"
        )
        evidence.append(Evidence("balls", False, detail, time.perf_counter() - started))
        return Checked(False, tuple(evidence), counterexample)
    if not any(s.compared for s in samples):
        return Checked(None, (), None, "neither side has a value at any drawn point")
    balls_seconds = time.perf_counter() - started

    exact = decide(left, right, indices, hypotheses, declared, usual, f"{seed}", problem.deadline)
    if exact.proved:
        evidence.append(Evidence("exact", True, exact.text(), exact.seconds))
    evidence.append(Evidence("balls", True, _agreement(samples, notes, exact, seed), balls_seconds))
    if variable is not None:
        evidence.append(depends(left, variable, indices, declared, hypotheses, usual[0], seed))
    return Checked(True, tuple(evidence))


class _Problem:
    """One question, asked at several points."""

    def __init__(
        self,
        left: sp.Expr,
        right: sp.Expr,
        indices: tuple[Index, ...],
        hypotheses: Sequence[Hypothesis],
        declared: tuple[Tensor, ...],
        seed: int,
        deadline: float,
    ) -> None:
        self.left, self.right = left, right
        self.indices, self.hypotheses, self.declared = indices, hypotheses, declared
        self.seed, self.deadline = seed, deadline

    def at(self, sizes: Binding, draw: int) -> Sample:
        return sample(self.left, self.right, self.indices, self.declared, self.hypotheses, sizes, f"{self.seed}.{draw}",
                      self.deadline)

    def samples(self, usual: list[Binding], ones: list[Binding]) -> tuple[list[Sample], list[str]]:
        """Samples at the usual bindings, then at those with a size 1 (which a hypothesis may rule out)."""
        found: list[Sample] = []
        notes: list[str] = []
        for draw, sizes in enumerate(usual):
            if found and time.thread_time() > self.deadline:
                notes.append("out of time after the first points")
                break
            found.append(self.at(sizes, draw))
            if found[-1].differs or found[-1].one_sided:
                return found, notes
        for sizes in ones:
            if time.thread_time() > self.deadline:
                break
            try:
                one = self.at(sizes, len(usual))
            except (HypothesisError, Undecided) as reason:
                notes.append(f"nothing at {sizes_text(sizes)}: {reason}")
                continue
            if one.one_sided:
                notes.append(f"at {sizes_text(sizes)} one side has no value ({next(iter(one.one_sided.values()))})")
            found.append(one)
        return found, notes

    def counterexample(self, wrong: Sample, samples: list[Sample]) -> Counterexample:
        """The first entry that differs, with what can be said of the difference from a few more points."""
        more = [wrong]
        for draw, sizes in enumerate(bindings([self.left, self.right, *self.indices, *self.declared]), 10):
            if len(more) == 3:
                break
            try:
                more.append(self.at({**sizes, **{s: n for s, n in wrong.sizes.items() if s not in sizes}}, draw))
            except (HypothesisError, Undecided):
                continue
        place = wrong.differs[0] if wrong.differs else next(iter(wrong.one_sided))
        a, b = wrong.pairs[place]
        why = wrong.one_sided.get(place, "")
        return Counterexample(
            {s.name: n for s, n in sorted(wrong.sizes.items(), key=lambda item: item[0].name)},
            wrong.inputs(),
            place,
            decimal(a, why),
            decimal(b, why),
            residual(self.left, self.right, self.indices, more) if wrong.differs else "one side has no value here",
        )


def _agreement(samples: list[Sample], notes: list[str], exact: Exactly, seed: int) -> str:
    where = "; ".join(dict.fromkeys(sizes_text(s.sizes) for s in samples))
    entries = sum(s.compared for s in samples)
    part = "" if all(len(s.pairs) == s.total for s in samples) else " (a sample of them)"
    text = (
        f"{entries} entries{part} agree to 1e-25 at {len(samples)} drawn points ({where}), "
        f"{max(s.bits for s in samples)} bits, seed {seed}"
    )
    if not exact.proved and exact.reason:
        notes = [*notes, f"not decided exactly: {exact.reason}"]
    return "; ".join([text, *notes])
