"""Axes of 2 to 4 places written out: δ_{0,a} x + δ_{1,a} y as the column (x; y), a sum over such an axis as a product.

An expression with one such free index is a column, with two a matrix. An array whose axis is shown this way has a
colon in its place, PE_{i,:}. Everything is found by giving the indices their values, so the form is equal to the
expression; where a part has no such form there is none for the whole. `vector_form` is about axes of unknown size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, DefinedTensor, Delta, Element, IndexSum, Indicator, PartialDerivative, replace
from .layout import layout, product
from .letters import Letters
from .names import Name
from .text import write as as_text
from .tree import Big, Matrix, Minus, Node, Subscripted, Terms, Transposed

_LARGEST = 4
_COLON = Name(":", ":")


def small(indices: Iterable[Index]) -> tuple[Index, ...]:
    """The indices over 2 to 4 places."""
    return tuple(i for i in indices if isinstance(i.size, sp.Integer) and 2 <= i.size <= _LARGEST)


def by_places(expression: sp.Basic, indices: Sequence[Index]) -> bool:
    """Whether the expression says by deltas what stands at which place of one of the indices."""
    return any(
        any(i in d.args for i in indices) and any(isinstance(a, sp.Integer) for a in d.args)
        for d in expression.atoms(Delta)
    )


def arranged(expression: sp.Expr, indices: Sequence[Index], letters: Letters) -> Node | None:
    """The column (one index) or matrix (two: rows, columns) over small indices; None where there is no such form."""
    if not 1 <= len(indices) <= 2 or expression.has(PartialDerivative):
        return None
    try:
        return _array(expression, tuple(indices), letters)
    except _NoForm:
        return None


class _NoForm(Exception):
    """A part is not a column or a matrix."""


def _array(e: sp.Expr, axes: tuple[Index, ...], letters: Letters) -> Node:
    if not set(axes) <= e.free_symbols:
        raise _NoForm
    if isinstance(e, Element):
        return _element(e, axes, letters)
    if isinstance(e, sp.Add) and not any(set(d.args) & set(axes) for t in e.args for d in _deltas(t)):
        terms = []
        for term in e.args:
            negative = bool(term.as_coeff_Mul()[0].is_negative)
            terms.append((negative, _array(-term if negative else term, axes, letters)))
        return Terms(tuple(sorted(terms, key=lambda t: (t[0], as_text(t[1])))))
    if isinstance(e, sp.Mul):
        inside = [f for f in e.args if f.free_symbols & set(axes)]
        if e.as_coeff_Mul()[0].is_negative and len(inside) == 1:
            return Minus(_array(-e, axes, letters))
        if len(inside) == 1:
            scalar = sp.Mul(*(f for f in e.args if f is not inside[0]))
            return product([layout(scalar, letters), _array(inside[0], axes, letters)])
    if isinstance(e, IndexSum):
        return _sum(e, axes, letters)
    return _entries(e, axes, letters)


def _deltas(term: sp.Expr) -> list[Delta]:
    """The deltas of a term outside of its sums."""
    if isinstance(term, Binder):
        return []
    return [term] if isinstance(term, Delta) else [d for a in term.args for d in _deltas(a)]


def _element(e: Element, axes: tuple[Index, ...], letters: Letters) -> Node:
    places = [i for i in e.indices if i in axes]
    if sorted(places, key=axes.index) != list(axes) or any(
        i not in axes and i.free_symbols & set(axes) for i in e.indices
    ):
        raise _NoForm
    written = tuple(_COLON if i in axes else layout(i, letters) for i in e.indices)
    name = letters.name(e.tensor)
    node: Node = name if len(places) == len(written) else Subscripted(name, written)
    return node if places == list(axes) else Transposed(node)


def _sum(e: IndexSum, axes: tuple[Index, ...], letters: Letters) -> Node:
    """Σ over places of a matrix times a column or a matrix; other sums stay in front."""
    bound: list[Index] = []
    body: sp.Expr = e
    while isinstance(body, IndexSum):
        one, body = body.opened()
        bound.append(one)
    inner_axes = small(bound)
    outer = [i for i in bound if i not in inner_axes]
    inner = letters.inside(outer)
    if not inner_axes:
        node = _array(body, axes, inner)
    elif len(inner_axes) == 1:
        (middle,) = inner_axes
        scalar, left, right = [], [], []
        for f in sp.Mul.make_args(body):
            has = f.free_symbols & {*axes, middle}
            if not has:
                scalar.append(f)
            elif has == {axes[0], middle}:
                left.append(f)
            elif has == {middle, *axes[1:]}:
                right.append(f)
            else:
                raise _NoForm
        node = product(
            [
                *([layout(sp.Mul(*scalar), inner)] if scalar else []),
                _array(sp.Mul(*left), (axes[0], middle), inner),
                _array(sp.Mul(*right), (middle, *axes[1:]), inner),
            ]
        )
    else:
        raise _NoForm
    if not outer:
        return node
    return Big("sum", tuple(inner.letter(i) for i in outer), tuple(layout(i.size, letters) for i in outer), node)


def _entries(e: sp.Expr, axes: tuple[Index, ...], letters: Letters) -> Node:
    """The expression at every place."""
    if any(small([b.bound]) for b in e.atoms(Binder)):
        raise _NoForm
    for part in e.atoms(Element, Delta, Indicator):
        inside = [part.condition] if isinstance(part, Indicator) else part.args
        if any(x.free_symbols & set(axes) for x in inside if x not in axes and not isinstance(x, sp.Symbol)):
            raise _NoForm  # the axis is counted with, as in a reshaped array: its places are no cases of their own

    def entry(*places: int) -> Node:
        values = dict(zip(axes, map(sp.Integer, places), strict=True))
        return layout(_constants(replace(e, values)), letters)

    columns = [range(int(c.size)) for c in axes[1:]]
    return Matrix(tuple(tuple(entry(n, *v) for v in itertools.product(*columns)) for n in range(int(axes[0].size))))


def _constants(e: sp.Expr) -> sp.Expr:
    """Elements at given places whose definition is a number there, as the number."""
    values = {}
    for x in e.atoms(Element):
        if isinstance(x.tensor, DefinedTensor) and all(i.is_Integer for i in x.indices):
            value = x.tensor.at(*x.indices)
            if value.is_Number:
                values[x] = value
    return replace(e, values) if values else e
