"""The context of one question: interned atoms, fresh temporary indices, and the rewriting rules from hypotheses."""

from __future__ import annotations

import time
from typing import Any

from .terms import Atom, Mono, Poly, Substitution


class TooLarge(Exception):
    """The canonical form outgrew its limits; the question stays open (never 'equal')."""


class Undefined(Exception):
    """A division by what is identically zero, or the logarithm of it."""


class Context:
    """Everything that canonical forms of one question share.

    `max_terms` and `seconds` bound the work: past them `TooLarge` is raised.
    """

    def __init__(self, max_terms: int = 20000, seconds: float | None = None) -> None:
        self.atoms: dict[tuple[str, tuple[Any, ...]], Atom] = {}
        self.counter = 0
        self.max_terms = max_terms
        self.deadline = None if seconds is None else time.thread_time() + seconds
        self.normal: dict[Mono, Poly] = {}  # memo of products that need rewriting
        self.powers: dict[tuple[Poly, Any], Poly] = {}
        self.substitutions: dict[tuple[Atom, tuple[tuple[Atom, Poly], ...]], Poly] = {}
        self.factored: dict[Poly, Any] = {}
        # hypotheses: a sum atom pattern (with universally quantified indices) -> polynomial
        self.sum_rules: list[SumRule] = []
        self.atom_rules: dict[Atom, Poly] = {}
        self.positive_polys: list[Poly] = []
        self.nonzero_polys: list[Poly] = []
        self.positive_names: set[str] = set()  # tensors all of whose entries are positive by hypothesis
        self.nonzero_names: set[str] = set()
        self.permutations: dict[str, Atom] = {}  # integer arrays that take every value once, with their markers
        self.row_names: set[str] = set()  # tensors whose domain has given its rule
        self.fixed_names: set[str] = set()  # tensors that an equality of a hypothesis speaks of
        self.label_sizes: dict[str, Poly] = {}  # integer tensors: the size that their entries stay below
        self.tensors: dict[str, Any] = {}  # the declared array behind each name
        self.kinks: set[bytes] = set()  # where a derivative that was taken has its jump
        self.used: dict[str, None] = {}  # what a proof leaned on: rounding, ties, ...

    def atom(self, kind: str, *data: Any) -> Atom:
        """The interned atom."""
        key = (kind, data)
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = Atom(kind, data)
        return found

    def index(self, name: tuple[Any, ...], size: Poly) -> Atom:
        """An index atom."""
        return self.atom("ix", name, size)

    def temporary(self, size: Poly) -> Atom:
        """A fresh index atom over a size."""
        self.counter += 1
        return self.atom("ix", ("t", self.counter), size)

    def check(self, terms: int) -> None:
        """Raise `TooLarge` when a limit is passed."""
        if terms > self.max_terms:
            raise TooLarge(f"more than {self.max_terms} terms")
        if self.deadline is not None and time.thread_time() > self.deadline:
            raise TooLarge("the time limit of the canonical form is used up")


class SumRule:
    """A hypothesis Σ_t factor = right, for every value of the indices in `variables`.

    `bound` are temporaries standing for the summed indices, `factors` the monomial under the sum.
    """

    __slots__ = ("bound", "factors", "variables", "right", "text")

    def __init__(
        self, bound: tuple[Atom, ...], factors: Mono, variables: tuple[Atom, ...], right: Poly, text: str
    ) -> None:
        self.bound = bound
        self.factors = factors
        self.variables = variables
        self.right = right
        self.text = text


__all__ = ["Context", "SumRule", "Substitution", "TooLarge", "Undefined"]
