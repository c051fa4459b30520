"""Both sides at one drawn point, at every value of the free indices: rigorous balls, refined until they decide."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import arb

from ..language.hypotheses import Hypothesis
from ..language.nodes import Tensor
from .evaluator import compiled
from .fields import BallField, Place, Undecided, Undefined, working_precision
from .hypotheses import drawn_field, environments
from .sizes import Binding

BITS = (128, 256, 768)
_MOST_ENTRIES = 200
_FEWEST = 3
_AGREE = arb(10) ** -25
_DRAWS = 6

Pair = tuple[arb | None, arb | None]


@dataclass
class Sample:
    """The values of both sides at one point; None is "undefined there". `differs` has the entries rigorously apart."""

    sizes: Binding
    field: BallField
    bits: int
    pairs: dict[Place, Pair] = dataclasses.field(default_factory=dict)
    differs: list[Place] = dataclasses.field(default_factory=list)
    one_sided: dict[Place, str] = dataclasses.field(default_factory=dict)
    total: int = 0

    @property
    def compared(self) -> int:
        """Number of entries at which both sides are defined."""
        return sum(a is not None and b is not None for a, b in self.pairs.values())

    def inputs(self) -> dict[str, Any]:
        """The inputs as nested lists."""
        return self.field.point.as_inputs({key: float(value) for key, value in self.field.overrides.items()})


def sample(
    left: sp.Expr,
    right: sp.Expr,
    indices: Sequence[Any],
    declared: tuple[Tensor, ...],
    hypotheses: Sequence[Hypothesis],
    sizes: Binding,
    seed: str,
    deadline: float = float("inf"),
) -> Sample:
    """Draw a point and compare both sides there; undecided comparisons get more bits, then another point.

    Raises `Undecided` where neither helps.
    """
    last = ""
    for redraw in range(_DRAWS):
        for bits in BITS:
            with working_precision(bits):
                try:
                    field = drawn_field(declared, hypotheses, sizes, f"{seed}.{redraw}")
                    found = compare(left, right, indices, field, bits, deadline)
                except Undecided as reason:
                    last = str(reason)
                    continue
                if found is not None:
                    return found
                last = "the balls stayed too wide"
    raise Undecided(last)


def compare(left: sp.Expr, right: sp.Expr, indices: Sequence[Any], field: BallField, bits: int,
            deadline: float = float("inf")) -> Sample | None:
    """Compare both sides in a field; None where some entry is neither apart nor close enough at this precision.

    Past the deadline no further entries are looked at, once a few have been.
    """
    run_left, run_right = compiled(left).run, compiled(right).run
    found = Sample(field.point.sizes, field, bits)
    entries = list(environments(indices, field.point))
    found.total = len(entries)
    if len(entries) > _MOST_ENTRIES:
        entries = random.Random(len(entries)).sample(entries, _MOST_ENTRIES)
    if deadline < float("inf"):
        # not the first corner only, if time is short
        entries = random.Random(len(entries)).sample(entries, len(entries))
    for env in entries:
        if len(found.pairs) >= _FEWEST and time.thread_time() > deadline:
            break
        place = tuple(env.values())
        a, why_a = value_or_reason(run_left, field, env)
        b, why_b = value_or_reason(run_right, field, env)
        found.pairs[place] = (a, b)
        if a is None or b is None:
            if (a is None) != (b is None):
                found.one_sided[place] = why_a or why_b
            continue
        if not a.is_finite() or not b.is_finite():
            if str(a) != str(b):
                found.differs.append(place)
            continue
        gap = a - b
        if not gap.contains(0):
            found.differs.append(place)
        elif not gap.rad() < _AGREE * (1 + abs(a).mid()):
            return None
    return found


def value_or_reason(run: Callable[[Any, Any], Any], field: Any, env: dict[Any, int]) -> tuple[Any, str]:
    """The value, or None with the reason why there is none."""
    try:
        return run(field, env), ""
    except Undefined as reason:
        return None, str(reason)


def decimal(value: arb | None, reason: str = "") -> str:
    """A value as a decimal string."""
    if value is None:
        return f"undefined ({reason})" if reason else "undefined"
    if value.is_zero() or not value.is_finite():
        return "0" if value.is_zero() else str(value)
    if value.contains(0):
        return "0"
    return value.str(18, radius=False)
