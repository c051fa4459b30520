"""Hypotheses: what a statement assumes beyond the domains of its arrays (Σ_k y_k = 1, ε > 0, a ≠ b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sympy as sp

from .arrays import Array, ArrayLike, aligned, as_array, broadcast_shapes
from .errors import HypothesisError
from .indices import Index, index

Relation = Literal["==", ">", ">=", "!="]


@dataclass(frozen=True)
class Hypothesis:
    """`left relation right` for every value of `indices` (the free indices on both sides)."""

    relation: Relation
    left: sp.Expr
    right: sp.Expr
    indices: tuple[Index, ...] = ()

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


def _hypothesis(relation: Relation, left: ArrayLike, right: ArrayLike) -> Hypothesis:
    a, b = as_array(left), as_array(right)
    shape = broadcast_shapes([a.shape, b.shape], f"the hypothesis with {relation}")
    indices = tuple(index("n", n) for n in shape)
    left_body, right_body = aligned(a, indices), aligned(b, indices)
    if left_body.is_number and right_body.is_number:
        raise HypothesisError(f"the hypothesis {left_body} {relation} {right_body} speaks of no array; write e.g. "
                              f"sum(y)=1")
    return Hypothesis(relation, left_body, right_body, indices)


def equal(left: ArrayLike, right: ArrayLike) -> Hypothesis:
    """The hypothesis left = right, element by element.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.vocabulary import sum
    >>> equal(sum(array("y", "N,K"), axis=1), 1).right
    1
    """
    return _hypothesis("==", left, right)


def positive(value: Array) -> Hypothesis:
    """The hypothesis value > 0, element by element."""
    return _hypothesis(">", value, 0)


def nonzero(value: Array) -> Hypothesis:
    """The hypothesis value != 0, element by element."""
    return _hypothesis("!=", value, 0)
