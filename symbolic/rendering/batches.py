"""Vector forms of arrays with more than two axes: matrices (or vectors) for each of the leading indices.

Leading axes that all arrays share are fixed: the form is said for the last two axes, or the last one, and holds for
each value of the others. Leading axes that are summed are written as a sum over such matrices, Σ_b X_bᵀ dY_b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Binder, Element, IndexSum, Tensor, element, free_indices
from .contraction import Unsayable
from .vector_form import ordered_plus, read
from .vectors import Scalar, Scaled, Slice, Summed, Vector

Reader = Callable[[sp.Expr, tuple[Index, ...]], Vector]


@dataclass(frozen=True)
class Batched:
    """A vector form that holds `for_each` value of some leading indices; none where it is of the whole array."""

    form: Vector
    for_each: tuple[Index, ...] = ()


def batched_form(expression: sp.Expr, indices: Sequence[Index] = (), reader: Reader = read) -> Batched | None:
    """The vector form of an array of any number of axes; None where there is none.

    `reader` reads what is left when the leading axes are fixed.
    """
    indices = tuple(indices)
    for lead in dict.fromkeys(n for n in (0, len(indices) - 2, len(indices) - 1) if 0 <= n < max(len(indices), 1)):
        own = indices[lead:]
        try:
            inner = sliced(expression, indices[:lead])
            _check_names(inner, indices[:lead])
            form = _with_sums(inner, own, reader)
        except Unsayable:
            continue
        if form.ndim == len(own):
            return Batched(form, indices[:lead])
    return None


def sliced(e: sp.Expr, fixed: Sequence[Index]) -> sp.Expr:
    """The expression with every array that has `fixed` indices as its first ones replaced by its slice there.

    Raises `Unsayable` where such an index stands in another place.
    """
    chosen = set(fixed)

    def visit(node: sp.Basic) -> sp.Basic:
        if isinstance(node, Element):
            return _slice(node, chosen)
        if isinstance(node, Binder):
            return node.func(visit(node.args[0]), *node.args[1:])
        return node.func(*map(visit, node.args)) if node.args else node

    result = visit(e)
    if chosen & set(free_indices(result)):
        raise Unsayable("an index of the leading axes stands elsewhere")
    return result


def _check_names(e: sp.Expr, fixed: Sequence[Index]) -> None:
    """Slices are written by the name of the array alone, so that each array may be cut in one way only."""
    found: dict[Tensor, Slice] = {}
    for t in e.atoms(Slice):
        if [i for i in fixed if i in t.fixed] != list(t.fixed) or found.setdefault(t.whole, t) != t:
            raise Unsayable("two slices of one array would have one name")


def _slice(e: Element, fixed: set[Index]) -> sp.Expr:
    lead = 0
    while lead < len(e.indices) and e.indices[lead] in fixed:
        lead += 1
    kept = [a for a in range(lead, len(e.indices)) if not (e.indices[a] == 0 and e.tensor.shape[a] == 1)]
    if fixed & {i for a in kept for i in e.indices[a].free_symbols}:
        raise Unsayable("an index of the leading axes stands behind another")
    if len(kept) == len(e.indices):
        return e
    outer = e.tensor
    left = tuple(kept)
    before: tuple[Index, ...] = tuple(e.indices[:lead])
    if isinstance(outer, Slice):
        outer, left, before = outer.whole, tuple(outer.axes[a] for a in kept), (*outer.fixed, *before)
    return element(Slice(outer, before, left), *(e.indices[a] for a in kept))


def _with_sums(e: sp.Expr, axes: tuple[Index, ...], reader: Reader) -> Vector:
    """As it can be read, or else as a sum over leading indices, or a sum of such sums."""
    try:
        return reader(e, axes)
    except Unsayable as error:
        reason = error
    if isinstance(e, sp.Add):
        signs = [bool(a.could_extract_minus_sign()) for a in e.args]
        return ordered_plus([(s, _with_sums(-a if s else a, axes, reader)) for s, a in zip(signs, e.args, strict=True)])
    sums = [f for f in sp.Mul.make_args(e) if isinstance(f, IndexSum)]
    if len(sums) != 1:
        raise reason
    rest = e / sums[0]
    if free_indices(rest) or rest.has(Binder):
        raise reason
    bound, body = _opened(sums[0])
    for summed in _leading(body, bound, len(axes)):
        inner = sliced(body, summed)
        for i in reversed([i for i in bound if i not in summed]):
            inner = IndexSum(inner, i)
        try:
            found: Vector = Summed(tuple(summed), reader(inner, axes))
        except Unsayable:
            continue
        return found if rest == 1 else Scaled((Scalar(rest),), found)
    raise reason


def _opened(e: sp.Expr) -> tuple[list[Index], sp.Expr]:
    bound: list[Index] = []
    while isinstance(e, IndexSum):
        fresh, e = e.opened("b")
        bound.append(fresh)
    return bound, e


def _leading(body: sp.Expr, bound: Sequence[Index], ndim: int) -> Iterator[list[Index]]:
    """The bound indices to sum over outside: those before the last axis, for a vector; before the last two axes."""
    elements = body.atoms(Element)
    for left in (1, 2) if ndim == 1 else (2,):
        chosen = [
            i
            for i in bound
            if all(i not in e.indices[max(len(e.indices) - left, 0) :] for e in elements if len(e.indices) > left)
            and any(i in e.indices for e in elements if len(e.indices) > left)
        ]
        if chosen:
            yield chosen
