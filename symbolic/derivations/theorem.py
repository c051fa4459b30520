"""Theorems: a statement with its hypotheses, how to derive it, its source, and the NumPy that it is checked against.

A theorem is one decorated function; the registry, the command line, the tests and the pages follow from it.

    @theorem(topic="softmax", title="...", source="...")
    def sum_softmax() -> Claim:
        z = array("z", "K")
        return Claim(sum(softmax(z)), 1, by=[unfold(), contract()])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import sympy as sp

from ..language.arrays import Array, ArrayLike, aligned, as_array, broadcast_shapes
from ..language.errors import LemmataError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.naming import apart
from ..language.nodes import DefinedTensor, Element, PartialDerivative, Tensor, tensors
from .model import Derivation
from .system import System, derive_system
from .tactics import State, Tactic, automatic, collect, run_all


@dataclass(frozen=True)
class NumericCheck:
    """The hand-written NumPy behind a theorem, by name in the numeric pillar (``"softmax.softmax_jacobian"``).

    `reference` computes the right side; `primal` is the function whose differences give the left side when that is a
    derivative. `arguments` are what is passed, in order: arrays by name, expressions in them (the shifted position
    pos + k), or numbers; `options` are further keyword arguments; one that names an array of the theorem passes that
    array.
    """

    reference: str | None = None
    primal: str | None = None
    arguments: tuple[str | Array | float, ...] = ()
    primal_arguments: tuple[str, ...] | None = None
    variable: str | None = None
    options: dict[str, object] = field(default_factory=dict)
    primal_options: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """left = right, with how to get there; both are arrays of the same shape after broadcasting."""

    left: ArrayLike
    right: ArrayLike
    by: Sequence[Tactic] = ()
    given: Sequence[Hypothesis] = ()
    notes: Sequence[str] = ()
    numpy: NumericCheck | None = None
    letters: str = ""
    order: Sequence[Array] = ()  # arguments in the order of declaration


@dataclass(frozen=True)
class Theorem:
    """A registered theorem: what its declaration says, and the claim it makes."""

    name: str
    topic: str
    title: str
    source: str
    make: Callable[[], Claim | System]

    def claim(self) -> Claim | System:
        """The statement."""
        return _claim(self)

    def derivation(self) -> Derivation:
        """The derivation, made by running the claim's tactics."""
        return _derivation(self)


@lru_cache(maxsize=512)
def _claim(t: Theorem) -> Claim | System:
    return t.make()


@lru_cache(maxsize=512)
def _derivation(t: Theorem) -> Derivation:
    claim = t.claim()
    make = derive_system if isinstance(claim, System) else derive
    return make(claim, name=t.name, title=t.title, source=t.source)  # type: ignore[arg-type]


_LETTERS = "ikmn"


def derive(claim: Claim, name: str = "", title: str = "", source: str = "") -> Derivation:
    """Run the tactics of a claim and close the chain with its right side."""
    left, right = as_array(claim.left), as_array(claim.right)
    shape = broadcast_shapes([left.shape, right.shape], name or "claim")
    letters = claim.letters or _LETTERS
    indices = tuple(Index(letters[n] if n < len(letters) else "i", s, 10**9 + n) for n, s in enumerate(shape))
    _, [start, end], given = apart([aligned(left, indices), aligned(right, indices)], claim.given)
    state = State(start, indices, tuple(given),
                  [t for t in tensors([start, end]) if isinstance(t, DefinedTensor)])
    run_all(state, claim.by or [automatic()])
    state.step(end, "collect", "conclude", "the statement")
    made = make_derivation(state, start, name=name, title=title, source=source, notes=tuple(claim.notes))
    cancelled = [t for t in tensors([*left.divisors, *right.divisors]) if not isinstance(t, DefinedTensor)]
    return replace(made, needs=(left.divisors, right.divisors),
                   tensors=tuple(dict.fromkeys([*made.tensors, *cancelled])))


def make_derivation(state: State, start: sp.Expr, *, name: str = "", title: str = "", source: str = "",
                    notes: tuple[str, ...] = ()) -> Derivation:
    """The record of a finished state."""
    expressions = [start, state.current, *(s.after for s in state.steps), *(h.left for h in state.hypotheses)]
    found = tensors(expressions)
    variables = [n.variable for n in sp.preorder_traversal(start) if isinstance(n, PartialDerivative)]
    declared = tuple(t for t in found if not isinstance(t, DefinedTensor))
    return Derivation(name=name, left=start, right=state.current, indices=state.indices, steps=tuple(state.steps),
                      definitions=tuple(dict.fromkeys([*(t for t in found if isinstance(t, DefinedTensor)),
                                                       *state.definitions])),
                      hypotheses=state.hypotheses, tensors=declared, variable=variables[0] if variables else None,
                      title=title,
                      source=source, uses=tuple(dict.fromkeys(state.uses)), notes=notes)


# ---------------------------------------------------------------------- registry
_REGISTRY: dict[str, Theorem] = {}


def theorem(*, topic: str, title: str, source: str) -> Callable[[Callable[[], Claim | System]], Theorem]:
    """Register the decorated function as a theorem under its own name; a second one of that name is an error."""

    def register(make: Callable[[], Claim | System]) -> Theorem:
        name = make.__name__
        if name in _REGISTRY:
            raise LemmataError(f"the theorem {name} is declared twice")
        _REGISTRY[name] = Theorem(name, topic, title, source, make)
        return _REGISTRY[name]

    return register


def registered() -> dict[str, Theorem]:
    """The theorems registered so far, by name, in order of declaration."""
    return dict(_REGISTRY)


__all__ = ["Claim", "Element", "NumericCheck", "Tensor", "Theorem", "collect", "derive", "registered", "theorem"]
