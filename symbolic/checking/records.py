"""What the second path reports: pieces of evidence, and the place where two sides differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: `kind` is canonical, exact, balls, dependence, numpy, differences, ...

    `passed` is None for a check that could not be run, with the reason in `detail`: it speaks neither for nor against.
    """

    kind: str
    passed: bool | None
    detail: str
    seconds: float = 0.0


def not_run(kind: str, reason: object, seconds: float = 0.0) -> Evidence:
    """Evidence of a check that could not be run."""
    return Evidence(kind, None, f"not run: {reason}", seconds)


@dataclass(frozen=True)
class Counterexample:
    """Sizes, inputs and the index where the two sides differ, with both values and a word on their difference."""

    sizes: dict[str, int]
    inputs: dict[str, Any]
    index: tuple[int, ...]
    left: str
    right: str
    residual: str = ""


@dataclass(frozen=True)
class Checked:
    """The answer of `check_equal`: True, False, or None where it could not be decided (then `reason` says why)."""

    equal: bool | None
    evidence: tuple[Evidence, ...] = ()
    counterexample: Counterexample | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.equal is True
