"""Every theorem of the registry, timed once it is proved: single statements, and gradients in named adjoints apart.

A gradient in named adjoints is a system of local statements, one an intermediate; its time is that of all of them, and
is not to be compared with that of one statement.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from lemmata.symbolic.derivations.theorem import Theorem

from .ours import canonical, every_step, make, second_path, statement
from .timing import WrongAnswer, once


def survey(known: Mapping[str, Theorem]) -> dict[str, Any]:
    """The rows of both kinds, slowest first, with the shares under the aims; what is not proved is named, not timed."""
    single: list[dict[str, Any]] = []
    systems: list[dict[str, Any]] = []
    unproved: list[str] = []
    for name, theorem in known.items():
        try:
            d = make(theorem)
        except Exception as error:  # one theorem that cannot be made is no reason to lose the other rows
            unproved.append(f"{name} ({type(error).__name__})")
            continue
        verdict = statement(d)
        if verdict != "proved":
            unproved.append(f"{name} ({verdict})")
            continue
        row = {
            "name": name,
            "canonical": _verified(lambda d=d: canonical(d), True),
            "proof": _verified(lambda d=d: statement(d), "proved"),
        }
        if d.parts:
            systems.append({**row, "statements": len(d.parts)})
        else:
            row["second path"] = _verified(lambda d=d: second_path(d), True)
            row["every step"] = _verified(lambda d=d: every_step(d), "proved")
            single.append(row)
    for rows in (single, systems):
        rows.sort(key=lambda r: (-r["proof"], r["name"]))
    return {"unproved": unproved, "single": single, "systems": systems, "shares": _shares(single)}


def _shares(rows: list[dict[str, Any]]) -> dict[str, float]:
    proofs, forms, steps = ([r[k] for r in rows] for k in ("proof", "canonical", "every step"))
    return {
        "proof under 50 ms": sum(t < 50 for t in proofs),
        "canonical under 10 ms": sum(t < 10 for t in forms),
        "median proof": statistics.median(proofs),
        "median canonical": statistics.median(forms),
        "median every step": statistics.median(steps),
        "slowest canonical": max(forms),
        "all steps seconds": sum(steps) / 1e3,
    }


def _verified(function: Callable[[], Any], expected: Any) -> float:
    """Milliseconds of a new question, the median of three (one run, if that takes over a second)."""
    times: list[float] = []
    while len(times) < 3 and max(times, default=0) < 1000:
        answer, taken = once(function)
        if answer != expected:
            raise WrongAnswer(f"{answer!r:.300} where {expected!r} was expected")
        times.append(taken)
    return statistics.median(times)
