"""Index form -> vector form: recognise products of vectors and matrices in an index expression.

The free indices are the axes of the answer. A product under sums is read as a graph: indices are vertices, a factor with
one index is a weight, a factor with two is an edge (a Kronecker delta is the edge I). A bound index that hangs on the
graph is contracted (A x), the way from one axis to the other is a chain of matrices (A diag(w) B), separate
parts make an outer product (u vᵀ), and what lacks an axis is repeated with the vector of ones. What is not of this kind (three
axes that interact, masks, shifted indices) has no vector form, and the answer is None, never a form that is not equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, Delta, Element, IndexMax, IndexSum, PartialDerivative, free_indices
from .letters import Letters
from .tree import Node
from .vectors import (
    Applied,
    Diagonal,
    Dot,
    Elementwise,
    Identity,
    Largest,
    Ones,
    Outer,
    Plus,
    Product,
    Quotient,
    Raised,
    Scalar,
    Scaled,
    Transpose,
    Vector,
    Whole,
    notation,
)


class _Unsayable(Exception):
    """The expression is not of the kind that vector notation says."""


def vector_form(expression: sp.Expr, indices: Sequence[Index] = ()) -> Vector | None:
    """The array whose element at `indices` is `expression`, in vector notation; None where there is none.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.indices import index
    >>> k = index("k", "K")
    >>> form = vector_form(array("p", "K").element(k) - array("y", "K").element(k), [k])
    >>> vector_text(form)
    'p − y'
    """
    try:
        return _read(expression, tuple(indices))
    except _Unsayable:
        return None


def vector_notation(form: Vector, letters: Letters | None = None) -> Node:
    """The notation tree of a vector form."""
    return notation(form, letters or Letters(()))


def vector_text(form: Vector, letters: Letters | None = None) -> str:
    """One line of text of a vector form."""
    from .text import write

    return write(vector_notation(form, letters))


def vector_latex(form: Vector, letters: Letters | None = None) -> str:
    """LaTeX of a vector form."""
    from .latex import write

    return write(vector_notation(form, letters))


def _indices_of(e: sp.Basic, among: Sequence[Index]) -> tuple[Index, ...]:
    """Those of `among` that occur, in the order of `among`."""
    found = set(free_indices(e))
    return tuple(i for i in among if i in found)


def _read(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """The array over `axes`; what lacks an axis is repeated along it."""
    if not axes and not _has_binder(e):
        return Scalar(e)
    if isinstance(e, sp.Add):
        return _plus(e, axes)
    if e.could_extract_minus_sign() and isinstance(e, sp.Mul):
        return Plus(((True, _read(-e, axes)),))
    if len(axes) > 2:
        return _elementwise(e, axes)
    return _product(e, axes)


def _has_binder(e: sp.Basic) -> bool:
    return bool(e.has(Binder, PartialDerivative))


def _plus(e: sp.Add, axes: tuple[Index, ...]) -> Vector:
    signs = [bool(a.could_extract_minus_sign()) for a in e.args]
    return _ordered_plus([(s, _read(-a if s else a, axes)) for s, a in zip(signs, e.args, strict=True)])


def _ordered_plus(terms: Sequence[tuple[bool, Vector]]) -> Vector:
    """Positive terms first; what is repeated with ones after what is not."""
    return Plus(tuple(sorted(terms, key=lambda t: (t[0], _is_repeated(t[1]), not isinstance(t[1], (Diagonal, Identity)),
                                                   vector_text(t[1])))))


def _is_repeated(v: Vector) -> bool:
    if isinstance(v, Scaled):
        return _is_repeated(v.array)
    return isinstance(v, Outer) and (isinstance(v.left, Ones) or isinstance(v.right, Ones))


def _rank(v: Vector) -> tuple[int, str]:
    """The order of factors: whole arrays, functions of them, products, sums."""
    order = (Ones, Whole, Transpose, (Applied, Raised, Diagonal), (Outer, Product, Dot, Quotient, Elementwise, Scaled), Plus)
    return next((n for n, kinds in enumerate(order) if isinstance(v, kinds)), len(order)), vector_text(v)


def _elementwise(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """Arrays of three and more axes: only what is elementwise throughout."""
    factors, scalars = [], []
    for f in sp.Mul.make_args(e):
        if not _indices_of(f, axes):
            scalars.append(_read(f, ()))
        else:
            factors.append(_factor(f, axes))
    return _with_scalars(scalars, _times(factors)) if factors else _fail("nothing has all axes")


def _fail(reason: str) -> Vector:
    raise _Unsayable(reason)


def _factor(f: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """One factor that has exactly these axes (in this order), as an array over them."""
    if isinstance(f, Element):
        if set(f.indices) != set(axes) or len(f.indices) != len(axes):
            raise _Unsayable(f"{f} does not have one letter an axis")
        if f.indices == axes:
            return Whole(f.tensor)
        return Transpose(Whole(f.tensor)) if len(axes) == 2 else _fail("axes in another order")
    if isinstance(f, sp.Add):
        return _plus(f, axes)
    if isinstance(f, sp.Pow):
        base, exponent = f.base, f.exp
        if _has_binder(exponent) or free_indices(exponent):
            raise _Unsayable("an exponent that varies")
        if exponent.could_extract_minus_sign() and not exponent.is_Add:
            below = _factor(base, axes) if exponent == -1 else Raised(_factor(base, axes), -exponent)
            return Quotient(_one(axes), below)
        return Raised(_factor(base, axes), exponent)
    if isinstance(f, sp.Function) and len(f.args) == 1:
        return Applied(f.func, _factor(f.args[0], axes))
    if isinstance(f, IndexSum) and len(axes) <= 2:
        return _product(f, axes)
    if isinstance(f, sp.Mul):
        return _product(f, axes) if len(axes) <= 2 else _elementwise(f, axes)
    if not axes and isinstance(f, (sp.Symbol, sp.Number, sp.NumberSymbol)):
        return Scalar(f)
    raise _Unsayable(f"{type(f).__name__} has no vector notation")


def _one(axes: tuple[Index, ...]) -> Vector:
    match len(axes):
        case 0:
            return Scalar(sp.S.One)
        case 1:
            return Ones(axes[0].size)
        case 2:
            return Outer(Ones(axes[0].size), Ones(axes[1].size))
    raise _Unsayable("a quotient of arrays with three axes")


def _times(factors: Sequence[Vector]) -> Vector:
    """The elementwise product; ones are dropped and quotients gathered into one."""
    above: list[Vector] = []
    below: list[Vector] = []
    for f in factors:
        if isinstance(f, Quotient):
            below.append(f.below)
            if not _is_ones(f.above):
                above.append(f.above)
        elif not _is_ones(f):
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


def _is_ones(v: Vector) -> bool:
    return isinstance(v, Ones) or (isinstance(v, Outer) and isinstance(v.left, Ones) and isinstance(v.right, Ones)) or (
        v == Scalar(sp.S.One))


def _with_scalars(scalars: Sequence[Vector], array: Vector) -> Vector:
    kept = [s for s in scalars if s != Scalar(sp.S.One)]
    if isinstance(array, Scaled):
        kept, array = [*kept, *array.scalars], array.array
    if array.ndim == 0:
        return _times([*kept, array])
    return Scaled(tuple(kept), array) if kept else array


# ---------------------------------------------------------------------- a product under sums, as a graph
def _product(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    bound: list[Index] = []
    body = e
    while isinstance(body, IndexSum):
        fresh, body = body.opened("j")
        bound.append(fresh)
    scope = (*axes, *bound)
    body = _distributed(body, scope)
    if isinstance(body, sp.Add) and (_is_mixed(body, scope) or not bound):
        return _sum_of_products(body, axes, bound)
    graph = _Graph(axes, tuple(bound))
    for f in sp.Mul.make_args(body):
        graph.add(f)
    array = graph.value()  # finds further scalars
    return _with_scalars(graph.scalars, array)


def _sum_of_products(body: sp.Add, axes: tuple[Index, ...], bound: Sequence[Index]) -> Vector:
    terms = []
    for a in body.args:
        negative = bool(a.could_extract_minus_sign())
        inner = -a if negative else a
        for i in reversed(bound):
            inner = IndexSum(inner, i)
        terms.append((negative, _product(inner, axes)))
    return _ordered_plus(terms)


def _is_mixed(a: sp.Expr, scope: tuple[Index, ...]) -> bool:
    """Whether a sum cannot be one factor: it holds a delta, or more than two indices."""
    return isinstance(a, sp.Add) and (a.has(Delta) or len(_indices_of(a, scope)) > 2)


def _distributed(body: sp.Expr, scope: tuple[Index, ...]) -> sp.Expr:
    """A product with a mixed sum is multiplied out, so that a delta becomes a diagonal matrix."""
    if isinstance(body, sp.Mul):
        chosen = next((a for a in body.args if _is_mixed(a, scope)), None)
        if chosen is not None:
            rest = sp.Mul(*[a for a in body.args if a is not chosen])
            return sp.Add(*[rest * a for a in chosen.args])
    return body


class _Graph:
    """Weights on indices and matrices between them; `value` eliminates the bound ones and gives an array over the axes."""

    def __init__(self, axes: tuple[Index, ...], bound: tuple[Index, ...]) -> None:
        self.axes, self.bound = axes, bound
        self.scope = (*axes, *bound)
        self.scalars: list[Vector] = []
        self.weights: dict[Index, list[Vector]] = {i: [] for i in self.scope}
        self.edges: dict[tuple[Index, Index], list[Vector]] = {}

    def add(self, f: sp.Expr) -> None:
        """Enter one factor by the indices that it has."""
        own = _indices_of(f, self.scope)
        if not own:
            self.scalars.append(_scalar(f))
        elif len(own) == 1:
            (i,) = own
            if isinstance(f, sp.Pow) and f.exp == 2 and i in self.bound:
                self.weights[i].extend([_factor(f.base, own)] * 2)  # Σ x_i² is xᵀx
            else:
                self.weights[i].append(_factor(f, own))
        elif len(own) == 2:
            if isinstance(f, Delta):
                if {*f.args} != {*own}:
                    raise _Unsayable("a delta between shifted indices")
                self._connect(*own, Identity(own[0].size))
            else:
                self._connect(*own, _factor(f, own))
        else:
            raise _Unsayable("a factor with three indices")

    def _connect(self, a: Index, b: Index, matrix: Vector) -> None:
        """Enter a matrix with rows a and columns b."""
        if self.scope.index(a) > self.scope.index(b):
            a, b, matrix = b, a, _transposed(matrix)
        self.edges.setdefault((a, b), []).append(matrix)

    def _between(self, a: Index, b: Index) -> Vector:
        """The matrix with rows a and columns b, taken out of the graph."""
        found = self.edges.pop((a, b), None)
        if found is not None:
            return _one_matrix(found)
        return _transposed(_one_matrix(self.edges.pop((b, a))))

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
            self.weights[around[0]].append(_applied(matrix, _times(weights) if weights else Ones(i.size)))
        elif len(around) == 2:
            a, b = around
            left, right = self._between(a, i), self._between(i, b)
            middle = [Diagonal(_times(weights))] if weights else []
            self._connect(a, b, _chain([left, *middle, right]))
        else:
            raise _Unsayable("an index shared by three matrices")

    def value(self) -> Vector:
        """The array over the axes; scalar parts are left in `scalars`."""
        rest = list(self.bound)
        while rest:
            chosen = min(reversed(rest), key=lambda i: len(self._neighbours(i)))
            rest.remove(chosen)
            self._eliminate(chosen)
        if not self.axes:
            return Scalar(sp.S.One)
        vectors = [_times(self.weights[i]) if self.weights[i] else None for i in self.axes]
        if len(self.axes) == 1:
            return vectors[0] or Ones(self.axes[0].size)
        (a, b), (left, right) = self.axes, vectors
        if not self.edges:
            return Outer(left or Ones(a.size), right or Ones(b.size))
        matrix = self._between(a, b)
        if isinstance(matrix, Identity):
            kept = [v for v in vectors if v is not None]
            return Diagonal(_times(kept)) if kept else matrix
        return _chain([*([Diagonal(left)] if left else []), matrix, *([Diagonal(right)] if right else [])])


def _one_matrix(found: list[Vector]) -> Vector:
    """The elementwise product of matrices between the same two indices."""
    if len(found) > 1 and any(isinstance(m, Identity) for m in found):
        if all(isinstance(m, Identity) for m in found):
            return found[0]
        raise _Unsayable("the diagonal of a matrix")
    return _times(found) if len(found) > 1 else found[0]


def _transposed(matrix: Vector) -> Vector:
    match matrix:
        case Identity() | Diagonal():
            return matrix
        case Transpose(matrix=inner):
            return inner
        case Outer(left=left, right=right):
            return Outer(right, left)
        case Product(factors=factors):
            return Product(tuple(_transposed(f) for f in reversed(factors)))
        case Elementwise(factors=factors):
            return _times([_transposed(f) for f in factors])
        case Applied(function=function, argument=argument):
            return Applied(function, _transposed(argument))
        case Raised(base=base, exponent=exponent):
            return Raised(_transposed(base), exponent)
    return Transpose(matrix)


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
    return Dot(weights[0], _times(weights[1:]))


def _applied(matrix: Vector, vector: Vector) -> Vector:
    return vector if isinstance(matrix, Identity) else _chain([matrix, vector])


def _scalar(f: sp.Expr) -> Vector:
    """A factor that no axis touches."""
    if not _has_binder(f):
        return Scalar(f)
    if isinstance(f, sp.Pow) and not _has_binder(f.exp):
        if f.exp.could_extract_minus_sign() and not f.exp.is_Add:
            return Quotient(Scalar(sp.S.One), _scalar(f.base) if f.exp == -1 else Raised(_scalar(f.base), -f.exp))
        return Raised(_scalar(f.base), f.exp)
    if type(f) is IndexMax:
        fresh, body = f.opened("j")
        return Largest(_read(body, (fresh,)))
    if isinstance(f, sp.Function) and len(f.args) == 1:
        return Applied(f.func, _scalar(f.args[0]))
    if isinstance(f, sp.Add):
        return _plus(f, ())
    return _product(f, ()) if isinstance(f, (IndexSum, sp.Mul)) else _fail("a scalar of another kind")

