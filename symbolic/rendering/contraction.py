"""Products of vectors and matrices, and the graph by which a product under sums is contracted to one.

Indices are vertices; a factor with one index is a weight (a vector), one with two an edge (a matrix; a Kronecker delta
is I). A bound index is eliminated by what it touches: nothing (uᵀ v, a scalar), one index (A w, a weight), or two
(A diag(w) B, an edge). Edges between the same two indices are multiplied elementwise. An index that ties three others
together has no vector notation. `vector_form` reads expressions into this graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..language.indices import Index
from ..language.sizes import same_size
from .letters import Letters
from .text import write as as_text
from .vector_notation import notation
from .vectors import (
    Applied,
    Diagonal,
    Dot,
    Elementwise,
    Holds,
    Identity,
    Larger,
    Ones,
    Outer,
    Plus,
    Product,
    Quotient,
    Raised,
    Repeated,
    RowMean,
    Scalar,
    Scaled,
    Softmax,
    Transpose,
    Vector,
    Whole,
    parts_of,
    transposed,
)


class Unsayable(Exception):
    """The expression is not of the kind that vector notation says."""


def _rank(v: Vector) -> tuple[int, str]:
    """The order of factors: whole arrays, functions of them, products, sums."""
    order: tuple[Any, ...] = (
        Ones,
        Whole,
        Transpose,
        (Applied, Raised, Diagonal),
        (Outer, Product, Dot, Quotient, Elementwise, Scaled, Larger, Softmax, Holds),
        Repeated,
        Plus,
    )
    return next((n for n, kinds in enumerate(order) if isinstance(v, kinds)), len(order)), as_text(
        notation(v, Letters(()))
    )


def times(factors: Sequence[Vector]) -> Vector:
    """The elementwise product; ones are dropped and quotients gathered into one."""
    above: list[Vector] = []
    below: list[Vector] = []
    for f in factors:
        if isinstance(f, Quotient):
            below.append(f.below)
            if not is_ones(f.above):
                above.append(f.above)
        elif not is_ones(f):
            above.append(f)
    above.sort(key=_rank)
    below.sort(key=_rank)
    if not above and not below:
        return factors[0]
    ones = next((f.above for f in factors if isinstance(f, Quotient)), None)
    top = above[0] if len(above) == 1 else Elementwise(tuple(above)) if above else ones
    assert top is not None
    if not below:
        return top
    return Quotient(top, below[0] if len(below) == 1 else Elementwise(tuple(below)))


def is_ones(v: Vector) -> bool:
    return (
        isinstance(v, Ones)
        or (isinstance(v, Outer) and isinstance(v.left, Ones) and isinstance(v.right, Ones))
        or (v == Scalar(sp.S.One))
    )


class Graph:
    """Weights on indices and matrices between them; `value` eliminates the bound ones: an array over the axes."""

    def __init__(self, axes: tuple[Index, ...], bound: tuple[Index, ...]) -> None:
        self.axes, self.bound = axes, bound
        self.scope = (*axes, *bound)
        self.scalars: list[Vector] = []
        self.weights: dict[Index, list[Vector]] = {i: [] for i in self.scope}
        self.edges: dict[tuple[Index, Index], list[Vector]] = {}

    def weigh(self, i: Index, vector: Vector) -> None:
        """Enter a vector over i."""
        self.weights[i].append(vector)

    def connect(self, a: Index, b: Index, matrix: Vector) -> None:
        """Enter a matrix with rows a and columns b."""
        if self.scope.index(a) > self.scope.index(b):
            a, b, matrix = b, a, transposed(matrix)
        self.edges.setdefault((a, b), []).append(matrix)

    def _between(self, a: Index, b: Index) -> Vector:
        """The matrix with rows a and columns b, taken out of the graph."""
        found = self.edges.pop((a, b), None)
        if found is not None:
            return _one_matrix(found)
        return transposed(_one_matrix(self.edges.pop((b, a))))

    def _neighbours(self, i: Index) -> list[Index]:
        return [j for j in self.scope if (i, j) in self.edges or (j, i) in self.edges]

    def _eliminate(self, i: Index) -> None:
        """Sum over i: a scalar, a weight on its one neighbour, or a matrix between its two."""
        around = self._neighbours(i)
        weights = self.weights.pop(i)
        if not around:
            self.scalars.append(_closed(weights, i))
        elif len(around) == 1:
            matrix = self._between(around[0], i)
            self.weights[around[0]].append(_applied(matrix, times(weights) if weights else Ones(i.size)))
        elif len(around) == 2:
            a, b = around
            left, right = self._between(a, i), self._between(i, b)
            middle = [Diagonal(times(weights))] if weights else []
            self.connect(a, b, _chain([left, *middle, right]))
        else:
            raise Unsayable("an index shared by three matrices")

    def value(self) -> Vector:
        """The array over the axes; scalar parts are left in `scalars`."""
        rest = list(self.bound)
        while rest:
            chosen = min(reversed(rest), key=lambda i: len(self._neighbours(i)))
            rest.remove(chosen)
            self._eliminate(chosen)
        if not self.axes:
            return Scalar(sp.S.One)
        vectors = [times(self.weights[i]) if self.weights[i] else None for i in self.axes]
        if len(self.axes) == 1:
            return vectors[0] or Ones(self.axes[0].size)
        (a, b), (left, right) = self.axes, vectors
        if not self.edges:
            return _outer(left, right, a, b)
        matrix = self._between(a, b)
        if isinstance(matrix, Identity):
            kept = [v for v in vectors if v is not None]
            return Diagonal(times(kept)) if kept else matrix
        return _scaled_rows(left, matrix, right, a, b)


def is_statistic(v: Vector) -> bool:
    """Whether a vector is made of sums or means over the rows of a matrix."""
    return any(
        isinstance(x, RowMean) or (isinstance(x, Product) and isinstance(x.factors[-1], Ones)) for x in parts_of(v)
    )


def _outer(left: Vector | None, right: Vector | None, a: Index, b: Index) -> Vector:
    """u vᵀ; a vector with ones is repeated."""
    if left is not None and right is None and (is_statistic(left) or not same_size(a.size, b.size)):
        return Repeated(left, 1, b.size)
    if right is not None and left is None and (is_statistic(right) or not same_size(a.size, b.size)):
        return Repeated(right, 0, a.size)
    return Outer(left or Ones(a.size), right or Ones(b.size))


def _scaled_rows(left: Vector | None, matrix: Vector, right: Vector | None, a: Index, b: Index) -> Vector:
    """A matrix with weights on its rows and columns: u ⊙ X where the reader knows which axis u has, else diag(u) X."""
    beside: list[Vector] = []
    chain = [matrix]
    for weight, one in ((left, 1), (right, 0)):
        if weight is None:
            continue
        clear = not same_size(a.size, b.size) and not isinstance(matrix, Product)
        if is_statistic(weight) or (clear and (left is None or right is None)):
            size = b.size if one else a.size
            parts = (weight.above, weight.below) if isinstance(weight, Quotient) else (weight,)
            all_ones = Outer(Ones(a.size), Ones(b.size))
            spread = [all_ones if isinstance(v, Ones) else Repeated(v, one, size) for v in parts]
            beside.append(spread[0] if len(spread) == 1 else Quotient(*spread))
        else:
            chain = [Diagonal(weight), *chain] if one else [*chain, Diagonal(weight)]
    return times([_chain(chain), *beside]) if beside else _chain(chain)


def _one_matrix(found: list[Vector]) -> Vector:
    """The elementwise product of matrices between the same two indices."""
    if len(found) > 1 and any(isinstance(m, Identity) for m in found):
        if all(isinstance(m, Identity) for m in found):
            return found[0]
        raise Unsayable("the diagonal of a matrix")
    return times(found) if len(found) > 1 else found[0]


def _chain(factors: Sequence[Vector]) -> Vector:
    """A product of matrices; I is left out."""
    flat: list[Vector] = []
    for f in factors:
        flat.extend(f.factors if isinstance(f, Product) else [] if isinstance(f, Identity) else [f])
    return factors[0] if not flat else flat[0] if len(flat) == 1 else Product(tuple(flat))


def _closed(weights: list[Vector], i: Index) -> Vector:
    """The sum of a vector's elements: n, 1ᵀu or uᵀv."""
    if not weights:
        return Scalar(i.size)
    if len(weights) == 1:
        return Dot(Ones(i.size), weights[0])
    # the more involved one stands at the right: aᵀ (M b)
    weights = sorted(weights, key=_rank)
    return Dot(weights[0], times(weights[1:]))


def _applied(matrix: Vector, vector: Vector) -> Vector:
    return vector if isinstance(matrix, Identity) else _chain([matrix, vector])
