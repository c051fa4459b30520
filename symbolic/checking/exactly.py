"""Equality decided exactly at small sizes: whether the difference of both sides is the zero polynomial in its atoms."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ..language.errors import HypothesisError
from ..language.hypotheses import Hypothesis
from ..language.nodes import Tensor
from .atoms import AtomField, Demands, Restart
from .evaluator import compiled
from .fields import Inexact, Undecided, Undefined, working_precision
from .hypotheses import drawn_field, environments, impose
from .samples import BITS
from .sizes import Binding, sizes_text, value_at

_MOST_ENTRIES = 120
_RESTARTS = 12
_MOST_ELEMENTS = 60


class Unequal(Inexact):
    """The difference is not formally zero: the sides differ, or the atoms are related in a way that is not built in."""


@dataclass
class AtSize:
    """What was decided at one binding of the sizes."""

    sizes: Binding
    generic: bool
    atoms: list[str]
    entries: int
    total: int
    region: bool
    drawn: list[str]


@dataclass
class Exactly:
    """The sizes at which the sides were shown equal; `reason` where it could not be decided."""

    at: list[AtSize] = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """Whether some size was decided."""
        return bool(self.at)

    def text(self) -> str:
        """What was done, in words."""
        return "; ".join(dict.fromkeys(map(_text, self.at))) + (f"; {self.reason}" if self.reason else "")


def _text(one: AtSize) -> str:
    count = (
        f"{one.entries} of {one.total} entries" if one.entries < one.total else "every entry" if one.total > 1 else ""
    )
    shown = ", ".join(one.atoms[:5]) + (", ..." if len(one.atoms) > 5 else "")
    atoms = f"{len(one.atoms)} atom{'' if len(one.atoms) == 1 else 's'}" + (f" ({shown})" if shown else "")
    if one.generic:
        how = f"equal as rational functions of {atoms}"
    else:
        how = f"equal at one drawn rational point, in {atoms}"
    extra = (", on the region of a drawn point" if one.region and one.generic else "") + (
        f", {', '.join(one.drawn)} drawn" if one.drawn and one.generic else ""
    )
    return f"exact at {sizes_text(one.sizes)}: {how}{extra}" + (f", {count}" if count else "")


def decide(
    left: sp.Expr,
    right: sp.Expr,
    indices: Sequence[Any],
    hypotheses: Sequence[Hypothesis],
    declared: tuple[Tensor, ...],
    usual: Sequence[Binding],
    seed: str,
    deadline: float,
) -> Exactly:
    """Decide equality exactly at each binding, with free inputs where feasible, else at one rational point."""
    started = time.perf_counter()
    answer = Exactly()
    finite = any(t.domain.values or t.domain.integer for t in declared)
    # Entries of a finite set are drawn, not free: one draw says little, so the first sizes get more.
    draws = [(sizes, n) for n, sizes in enumerate([*usual, *([usual[0]] * (2 if finite else 0))])]
    for sizes, number in draws:
        reason = ""
        for generic in (True, False):
            if generic and elements(declared, sizes) > _MOST_ELEMENTS:
                reason = f"more than {_MOST_ELEMENTS} inputs"
                continue
            now = time.thread_time()
            if now > deadline:
                reason = reason or "out of time"
                break
            try:
                answer.at.append(
                    _at(
                        left,
                        right,
                        indices,
                        hypotheses,
                        declared,
                        sizes,
                        f"{seed}.{number}",
                        generic,
                        now + (deadline - now) / 2,
                    )
                )
                reason = ""
                break
            except Unequal as why:
                # A drawn point could only agree by luck where free inputs do not; nothing is claimed at any size.
                return Exactly([], f"at {sizes_text(sizes)} {why}", time.perf_counter() - started)
            except (Inexact, Undecided, Undefined, HypothesisError) as why:
                reason = "; ".join(filter(None, (reason, f"{'free inputs' if generic else 'a rational point'}: {why}")))
        if reason and not answer.reason:
            answer.reason = f"not decided exactly at {sizes_text(sizes)}: {reason}"
    answer.seconds = time.perf_counter() - started
    return answer


def elements(declared: tuple[Tensor, ...], sizes: Binding) -> int:
    """Number of elements of the declared tensors."""
    return sum(math.prod(value_at(n, sizes) or 1 for n in t.shape) for t in declared)


def _at(
    left: sp.Expr,
    right: sp.Expr,
    indices: Sequence[Any],
    hypotheses: Sequence[Hypothesis],
    declared: tuple[Tensor, ...],
    sizes: Binding,
    seed: str,
    generic: bool,
    deadline: float,
) -> AtSize:
    demands = Demands()
    with working_precision(BITS[0]):
        reference = drawn_field(declared, hypotheses, sizes, f"{seed}/exact")
        for _ in range(_RESTARTS):
            exact = AtomField(reference, generic, demands, deadline)
            try:
                if not impose(exact, hypotheses) or set(exact.overrides) != set(reference.overrides):
                    raise Inexact("the hypotheses are not linear in an element")
                return _entries(left, right, indices, exact)
            except Restart:
                continue
    raise Inexact("fractional powers that keep refining")


def _entries(left: sp.Expr, right: sp.Expr, indices: Sequence[Any], exact: AtomField) -> AtSize:
    run_left, run_right = compiled(left).run, compiled(right).run
    entries = list(environments(indices, exact.point))
    total = len(entries)
    if total > _MOST_ENTRIES:
        entries = random.Random(total).sample(entries, _MOST_ENTRIES)
    for env in entries:
        if not exact.vanishes(run_left(exact, env) - run_right(exact, env)):
            raise Unequal("the difference does not vanish as a rational function of its atoms")
    drawn = [t.name for t in exact.point.values if t.domain.values or t.domain.integer]
    return AtSize(exact.point.sizes, exact.generic, exact.names, len(entries), total, exact.compared, drawn)
