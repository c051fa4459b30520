"""What Lemmata takes: to make a derivation, and to prove it by the canonical form, by the second path, and by both.

Each function is one column of a table. All of them work on the derivation record, so a proof includes reading both
sides into the form of its path. A gradient in named adjoints is judged by its parts, as the replay does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lemmata as lm
from lemmata.symbolic.canonical import equal
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.derivations.theorem import Theorem, derive

from .timing import timed

COLUMNS = ("derive", "canonical", "second path", "proof of the statement", "proof of every step")


def make(theorem: Theorem) -> Derivation:
    """The derivation, made anew: nothing is taken from the registry's store."""
    claim = theorem.make()
    if isinstance(claim, System):
        return derive_system(claim, name=theorem.name, title=theorem.title, source=theorem.source)
    return derive(claim, name=theorem.name, title=theorem.title, source=theorem.source)


def statements(d: Derivation) -> tuple[Derivation, ...]:
    """What is to be proved: the derivation itself, or the local statements that a system consists of."""
    return d.parts or (d,)


def canonical(d: Derivation) -> bool:
    """Whether the canonical form alone proves the statement."""
    return all(equal(s.left, s.right, s.hypotheses).equal for s in statements(d))


def second_path(d: Derivation) -> bool | None:
    """What the second path alone says: of several statements, the first answer that is not True."""
    answers = (check_equal(s.left, s.right, s.indices, s.hypotheses, variable=s.variable).equal for s in statements(d))
    return next((answer for answer in answers if answer is not True), True)


def statement(d: Derivation) -> str:
    """The verdict on the statement: both paths, without the steps."""
    return replay(d, steps=False).verdict


def every_step(d: Derivation) -> str:
    """The verdict on the statement and on every step, both paths."""
    return replay(d).verdict


def measure_theorem(theorem: Theorem, runs: int = 7) -> dict[str, Any]:
    """All columns for one theorem, in milliseconds; each answer is verified before it is timed."""
    d = make(theorem)
    columns: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
        "derive": (lambda: make(theorem), lambda made: bool(made.steps) and replay(made).verdict == "proved"),
        "canonical": (lambda: canonical(d), lambda yes: yes is True),
        "second path": (lambda: second_path(d), lambda yes: yes is True),
        "proof of the statement": (lambda: statement(d), lambda verdict: verdict == "proved"),
        "proof of every step": (lambda: every_step(d), lambda verdict: verdict == "proved"),
    }
    times = {column: timed(function, check, runs) for column, (function, check) in columns.items()}
    return {
        "name": theorem.name,
        "steps": len(d.steps),
        "new": {c: t.new for c, t in times.items()},
        "again": {c: t.again for c, t in times.items()},
    }


def softmax_jacobian(size: int | str) -> Derivation:
    """The statement of `deriv_softmax` for an array of the given size, a number or a symbol."""
    z = lm.array("z", size)
    p = lm.softmax(z)
    return lm.prove(lm.partial(p, z), lm.diag(p) - lm.outer(p, p)).derivation


def measure_size(size: int | str, runs: int = 5) -> dict[str, Any]:
    """The softmax Jacobian at one size; the verdict is reported: a numeric size is another question than a symbol."""
    d = softmax_jacobian(size)
    verdict = statement(d)
    return {
        "size": str(size),
        "verdict": verdict,
        "canonical": timed(lambda: canonical(d), lambda _: True, runs).new,
        "proof of the statement": timed(lambda: statement(d), lambda v: v == verdict, runs).new,
    }
