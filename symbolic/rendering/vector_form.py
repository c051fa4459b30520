"""Index form -> vector form: recognise products of vectors and matrices in an index expression.

The free indices are the axes of the answer. A product under sums is read as a graph: indices are vertices, a factor
with one index is a weight, a factor with two is an edge (a Kronecker delta is the edge I). A bound index that hangs
on the graph is contracted (A x), the way from one axis to the other is a chain of matrices (A diag(w) B), separate
parts make an outer product (u vᵀ), and what lacks an axis is repeated with the vector of ones. What is not of this
kind (three axes that interact, masks, shifted indices) has no vector form, and the answer is None, never a form that
is not equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, Delta, Element, IndexMax, IndexSum, Indicator, PartialDerivative, free_indices
from .averages import with_means
from .clipping import Clipped, clipped_factors, clipped_terms
from .contraction import Graph, Unsayable, is_statistic, times
from .layout import SIGNS
from .letters import Letters
from .tree import Node
from .vector_notation import notation
from .vectors import (
    Applied,
    Diagonal,
    Holds,
    Identity,
    Inner,
    Larger,
    Largest,
    Ones,
    Outer,
    Plus,
    Quotient,
    Raised,
    Repeated,
    Scalar,
    Scaled,
    Softmax,
    Transpose,
    Vector,
    Whole,
    transposes,
)


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
        return read(expression, tuple(indices))
    except Unsayable:
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


def read(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """The array over `axes`; what lacks an axis is repeated along it. Raises `Unsayable` where there is no notation."""
    if not axes and not _has_binder(e):
        return Scalar(e)
    if not axes and isinstance(e, IndexSum) and isinstance(e.body, IndexSum):
        inner = _inner_product(e)
        if inner is not None:
            return inner
    if isinstance(e, sp.Add):
        return _plus(e, axes)
    if e.could_extract_minus_sign() and isinstance(e, sp.Mul):
        return Plus(((True, read(-e, axes)),))
    if len(axes) > 2:
        return _elementwise(e, axes)
    return _product(e, axes)


def _has_binder(e: sp.Basic) -> bool:
    return bool(e.has(Binder, PartialDerivative))


def _plus(e: sp.Add, axes: tuple[Index, ...]) -> Vector:
    args = clipped_terms(e.args)
    if len(args) == 1:
        return _factor(args[0], axes)
    signs = [bool(a.could_extract_minus_sign()) for a in args]
    return ordered_plus([(s, read(-a if s else a, axes)) for s, a in zip(signs, args, strict=True)])


def ordered_plus(terms: Sequence[tuple[bool, Vector]]) -> Vector:
    """Positive terms first; what is repeated with ones after what is not."""
    return Plus(
        tuple(
            sorted(
                terms,
                key=lambda t: (t[0], _is_repeated(t[1]), not isinstance(t[1], (Diagonal, Identity)), *_by_length(t[1])),
            )
        )
    )


def _by_length(v: Vector) -> tuple[int, str]:
    text = vector_text(v)
    return len(text), text


def _is_repeated(v: Vector) -> bool:
    if isinstance(v, Repeated):
        return not is_statistic(v.vector)
    if isinstance(v, Scaled):
        return isinstance(v.array, Ones) or _is_repeated(v.array)
    return isinstance(v, Outer) and (isinstance(v.left, Ones) or isinstance(v.right, Ones))


def _elementwise(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """Arrays of three and more axes: only what is elementwise throughout."""
    factors, scalars = [], []
    for f in clipped_factors(sp.Mul.make_args(e)):
        if not _indices_of(f, axes):
            scalars.append(read(f, ()))
        else:
            factors.append(_factor(f, axes))
    return _with_scalars(scalars, times(factors)) if factors else _fail("nothing has all axes")


def _inner_product(e: sp.Expr) -> Vector | None:
    """Σ A_ij B_ij as ⟨A, B⟩, of any number of axes; None where a factor does not have all axes."""
    bound: list[Index] = []
    while isinstance(e, IndexSum):
        fresh, e = e.opened("j")
        bound.append(fresh)
    try:
        if isinstance(e, sp.Pow) and e.exp == 2:
            squared = _factor(e.base, tuple(bound))
            return Inner(squared, squared)
        given = sp.Mul.make_args(e)
        scalars = [f for f in given if not _indices_of(f, bound)]
        factors = [_factor(f, tuple(bound)) for f in given if f not in scalars]
    except Unsayable:
        return None
    if len(factors) < 2:
        return None
    first, *rest = sorted(factors, key=_by_length)
    return _with_scalars([_scalar(f) for f in scalars], Inner(first, times(rest)))


def softmax_form(e: sp.Expr, axes: Sequence[Index]) -> Vector | None:
    """The softmax of a vector or of the rows of a matrix, if e = exp(a)/Σ exp(a) over the last axis is written out."""
    powers = [f for f in sp.Mul.make_args(e) if isinstance(f, sp.exp)]
    totals = [1 / f for f in sp.Mul.make_args(e) if isinstance(f, sp.Pow) and f.exp == -1]
    if not axes or len(powers) != 1 or len(totals) != 1 or e != powers[0] / totals[0]:
        return None
    if totals[0] != IndexSum(powers[0], axes[-1]):
        return None
    argument = vector_form(powers[0].args[0], axes)
    return Softmax(argument) if argument is not None and argument.ndim == len(axes) else None


def _fail(reason: str) -> Vector:
    raise Unsayable(reason)


def _factor(f: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """One factor that has exactly these axes (in this order), as an array over them."""
    if isinstance(f, Element):
        if set(f.indices) != set(axes) or len(f.indices) != len(axes):
            raise Unsayable(f"{f} does not have one letter an axis")
        if f.indices == axes:
            return Whole(f.tensor)
        return Transpose(Whole(f.tensor)) if len(axes) == 2 else _fail("axes in another order")
    if isinstance(f, sp.Add):
        return _plus(f, axes)
    if isinstance(f, sp.Pow):
        base, exponent = f.base, f.exp
        if _has_binder(exponent) or free_indices(exponent):
            raise Unsayable("an exponent that varies")
        if exponent.could_extract_minus_sign() and not exponent.is_Add:
            below = _factor(base, axes) if exponent == -1 else Raised(_factor(base, axes), -exponent)
            return Quotient(_one(axes), below)
        return Raised(_factor(base, axes), exponent)
    if isinstance(f, sp.Function) and len(f.args) == 1:
        return Applied(f.func, _factor(f.args[0], axes))
    if isinstance(f, Clipped):
        array, bound = f.args
        if free_indices(bound) or _has_binder(bound):
            raise Unsayable("a bound that varies")
        return Larger(_factor(array, axes), bound, f.which == "min")
    if isinstance(f, Indicator):
        condition = f.condition
        if type(condition) not in SIGNS or free_indices(condition.rhs) or _has_binder(condition.rhs):
            raise Unsayable("a condition of another kind")
        return Holds(_factor(condition.lhs, axes), SIGNS[type(condition)], condition.rhs)
    if isinstance(f, IndexSum) and len(axes) <= 2:
        return _product(f, axes)
    if isinstance(f, sp.Mul):
        return _product(f, axes) if len(axes) <= 2 else _elementwise(f, axes)
    if not axes and isinstance(f, (sp.Symbol, sp.Number, sp.NumberSymbol)):
        return Scalar(f)
    raise Unsayable(f"{type(f).__name__} has no vector notation")


def _one(axes: tuple[Index, ...]) -> Vector:
    match len(axes):
        case 0:
            return Scalar(sp.S.One)
        case 1:
            return Ones(axes[0].size)
        case 2:
            return Outer(Ones(axes[0].size), Ones(axes[1].size))
    raise Unsayable("a quotient of arrays with three axes")


def _with_scalars(scalars: Sequence[Vector], array: Vector) -> Vector:
    """Scalars times an array; those that are plain expressions become one, and a sum divided by its size a mean."""
    if isinstance(array, Scaled):
        scalars, array = [*scalars, *array.scalars], array.array
    plain: sp.Expr = sp.S.One
    kept: list[Vector] = []
    for s in [*scalars, *([array] if array.ndim == 0 else [])]:
        if isinstance(s, Scalar):
            plain *= s.expression
        elif isinstance(s, Quotient) and isinstance(s.above, Scalar) and isinstance(s.below, Scalar):
            plain *= s.above.expression / s.below.expression
        elif isinstance(s, Scaled):
            plain *= sp.Mul(*(x.expression for x in s.scalars if isinstance(x, Scalar)))
            kept += [*(x for x in s.scalars if not isinstance(x, Scalar)), s.array]
        else:
            kept.append(s)
    plain, found = with_means(plain, kept if array.ndim == 0 else [*kept, array])
    kept = found if array.ndim == 0 else found[:-1]
    if array.ndim:
        kept = [Scalar(plain), *kept] if plain != 1 else kept
        return Scaled(tuple(kept), found[-1]) if kept else found[-1]
    if not kept:
        return Scalar(plain)
    return times(kept) if plain == 1 else Scaled((Scalar(plain),), times(kept))


# ---------------------------------------------------------------------- a product under sums
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
    graph = Graph(axes, tuple(bound))
    for f in clipped_factors(sp.Mul.make_args(body)):
        _enter(graph, f)
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
    return ordered_plus(terms)


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


def _enter(graph: Graph, f: sp.Expr) -> None:
    """Enter one factor into the graph, by the indices that it has."""
    own = _indices_of(f, graph.scope)
    if not own:
        graph.scalars.append(_scalar(f))
    elif len(own) == 1:
        (i,) = own
        if isinstance(f, sp.Pow) and f.exp == 2 and i in graph.bound:
            graph.weigh(i, _factor(f.base, own))  # Σ x_i² is xᵀx
            graph.weigh(i, _factor(f.base, own))
        else:
            graph.weigh(i, _factor(f, own))
    elif len(own) == 2:
        if isinstance(f, Delta) and {*f.args} != {*own}:
            raise Unsayable("a delta between shifted indices")
        if isinstance(f, Delta):
            graph.connect(*own, Identity(own[0].size))
        else:
            first, second = own
            matrix, turned = _factor(f, (first, second)), _factor(f, (second, first))
            if transposes(turned) < transposes(matrix):
                graph.connect(second, first, turned)
            else:
                graph.connect(first, second, matrix)
    else:
        raise Unsayable("a factor with three indices")


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
        return Largest(read(body, (fresh,)))
    if isinstance(f, sp.Function) and len(f.args) == 1:
        return Applied(f.func, _scalar(f.args[0]))
    if isinstance(f, sp.Add):
        return _plus(f, ())
    return read(f, ()) if isinstance(f, (IndexSum, sp.Mul)) else _fail("a scalar of another kind")
