"""Ranges taken apart, so that floor and mod leave an index expression.

Merging axes (a reshape, a Kronecker product, a repeat) puts floor(c/D) and c mod D into indices. Where c is summed
over G*D places, it is replaced by g*D + d, summed over g and d, and both are gone; a free index is replaced in the
same way, which asks the same question in other letters. A cyclic shift (c + s) mod n is undone by shifting c.
`without_merges` does this for one expression and `cases` for both sides of an equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from .index_arithmetic import certainly_nonnegative, exact_quotient, quotient, recombined, remainder
from .indices import Index, index
from .nodes import (
    Binder,
    Delta,
    Element,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    element,
    free_indices,
    replace,
)

_EXPLICIT = 4  # a range of at most so many numbers is written out


def without_merges(expression: sp.Expr) -> sp.Expr:
    """The expression with every bound index over merged axes split.

    >>> from lemmata.symbolic.language import rearrangement, vocabulary
    >>> from lemmata.symbolic.language.arrays import array
    >>> merged = rearrangement.reshape(array("x", "G,D"), [-1])
    >>> without_merges(vocabulary.sum(merged * array("g", "D*G")).body).has(sp.floor, sp.Mod)
    False
    """
    return _visit(expression)


def cases(indices: Sequence[Index], left: sp.Expr, right: sp.Expr) -> list[tuple[tuple[Index, ...], sp.Expr, sp.Expr]]:
    """The equality left = right in free indices as equalities without floor and mod, as far as that goes.

    All of them hold for every value of their indices when, and only when, the given one does.
    """
    a, b = _visit(left), _visit(right)
    for own in indices:
        step = _joined_at(sp.Tuple(a, b), own) or _split(sp.Tuple(a, b), own)
        if step is None:
            continue
        values, new = step
        rest = tuple(i for i in indices if i != own)
        return [
            case
            for value in values
            for case in cases((*rest, *(i for i in new if value.has(i))), *(_again(e, own, value) for e in (a, b)))
        ]
    return [(tuple(indices), _opaque(a), _opaque(b))]


def _opaque(node: Any) -> Any:
    """The expression with every floor and mod that is left as an element of an integer tensor.

    What holds for any integer tensor holds for these.
    """
    if not node.args or not node.has(sp.floor, sp.Mod):
        return node
    if isinstance(node, Binder):
        own, body = node.opened()
        return type(node)(_opaque(body), own, *(_opaque(a) for a in node.args[2:]))
    if isinstance(node, (sp.floor, sp.Mod)) and node.is_integer and not node.has(Element):
        free = free_indices(node)
        if free:
            letters = {i: sp.Symbol(f"i{n}") for n, i in enumerate(free)}
            name = f"{node.func.__name__}({', '.join(str(a.xreplace(letters)) for a in node.args)})"
            return element(Tensor(name, tuple(i.size for i in free), "index<n"), *free)
    return node.func(*(_opaque(a) for a in node.args))


def _again(expression: sp.Expr, own: Index, value: sp.Expr) -> sp.Expr:
    return simplified(replace(expression, {own: value}))


def _visit(node: Any) -> Any:
    if not node.args or not node.has(sp.floor, sp.Mod):
        return node
    if isinstance(node, PartialDerivative):
        at = node.variable
        whole = node.expression if not isinstance(at, Element) else _shifted(node.expression, at.tensor)
        return PartialDerivative(_visit(whole), simplified(at))
    if isinstance(node, Binder):
        own, body = node.opened()
        body = _visit(body)
        extra = [_visit(a) for a in node.args[2:]]
        step = _split(body, own) if not extra else None
        if step is None:
            return type(node)(body, own, *extra)
        values, new = step
        parts = []
        for value in values:
            part = _again(body, own, value)
            for i in reversed([i for i in new if value.has(i)]):
                part = type(node)(part, i)
            parts.append(_visit(part))
        if len(parts) == 1:
            return parts[0]
        return (
            sp.Add(*parts)
            if isinstance(node, IndexSum)
            else sp.Mul(*parts)
            if isinstance(node, IndexProduct)
            else type(node)(body, own)
        )
    return simplified(node, _visit)


def simplified(node: Any, inner: Any = None) -> Any:
    """Every floor and mod built anew, so that what has become known drops out."""
    inner = inner or simplified
    if not node.args or not node.has(sp.floor, sp.Mod, Delta, Indicator):
        return node
    if isinstance(node, Binder):
        own, body = node.opened()
        return type(node)(inner(body), own, *(inner(a) for a in node.args[2:]))
    if isinstance(node, Indicator):
        return _known(node, inner)
    args = [inner(a) for a in node.args]
    if isinstance(node, Delta):
        difference = sp.expand(args[0] - args[1])
        return (
            sp.S.Zero
            if certainly_nonnegative(difference - 1) or certainly_nonnegative(-1 - difference)
            else Delta(*args)
        )
    if isinstance(node, sp.floor):
        numerator, denominator = sp.fraction(sp.together(args[0]))
        return quotient(numerator, denominator) if numerator.is_integer else sp.floor(args[0])
    if isinstance(node, sp.Mod):
        return remainder(*args)
    made = node.func(*args)
    return (
        recombined(sp.expand(made))
        if isinstance(made, sp.Add) and made.is_integer and made.has(sp.Mod) and made.has(sp.floor)
        else made
    )


def _known(node: Indicator, inner: Any) -> sp.Expr:
    """An indicator between indices, decided where it is the same for all of them."""
    condition = node.condition
    if not isinstance(condition, sp.Ge | sp.Gt | sp.Le | sp.Lt):
        return node
    left, right = (inner(a) for a in condition.args)
    if not (left.is_integer and right.is_integer):
        return Indicator(condition.func(left, right, evaluate=False))
    low = sp.expand(left - right) if isinstance(condition, sp.Ge | sp.Gt) else sp.expand(right - left)
    low -= 0 if isinstance(condition, sp.Ge | sp.Le) else 1
    if certainly_nonnegative(low):
        return sp.S.One
    return sp.S.Zero if certainly_nonnegative(-1 - low) else Indicator(condition.func(left, right))


def _joined_at(body: sp.Expr, own: Index) -> tuple[list[sp.Expr], tuple[Index, ...]] | None:
    """An index over joined axes, cut at the first place that an indicator or a delta compares it with."""
    places = []
    for node in sorted(body.atoms(Indicator, Delta), key=sp.default_sort_key):
        sides: tuple[sp.Basic, ...] = node.args if isinstance(node, Delta) else getattr(node.condition, "args", ())
        if len(sides) != 2 or not all(s.is_integer for s in sides):
            continue
        difference = sp.expand(sides[0] - sides[1])
        slope = difference.coeff(own)
        rest = sp.expand(difference - slope * own)
        if slope not in (1, -1) or any(isinstance(s, Index) for s in rest.free_symbols) or rest.has(Element):
            continue
        at = sp.expand(-rest * slope)
        for cut in (at, at + 1):
            cut = sp.expand(cut)
            if (
                cut != 0
                and cut != own.size
                and certainly_nonnegative(cut - 1)
                and certainly_nonnegative(own.size - 1 - cut)
            ):
                places.append(cut)
    if not places:
        return None
    cut = min(places, key=lambda c: (len(sp.Add.make_args(c)), str(c)))
    low: Any = sp.S.Zero if cut == 1 else index("i", cut)
    high_size = sp.expand(own.size - cut)
    high: Any = sp.S.Zero if high_size == 1 else index("i", high_size)
    return [low, cut + high], tuple(i for i in (low, high) if isinstance(i, Index))


def _split(body: sp.Expr, own: Index) -> tuple[list[sp.Expr], tuple[Index, ...]] | None:
    """The forms to put in place of an index (one a case) and the new indices in them; None where nothing is to be
    split.
    """
    found: list[sp.Expr] = []
    for node in sorted(body.atoms(sp.floor, sp.Mod), key=sp.default_sort_key):
        top, by = node.args if isinstance(node, sp.Mod) else sp.fraction(sp.together(node.args[0]))
        if top == own and exact_quotient(own.size, by) is not None and by not in found:
            found.append(by)
    if found:
        by = next(
            d for d in found if all(exact_quotient(d, e) is not None or exact_quotient(e, d) is None for e in found)
        )
        count = exact_quotient(own.size, by)
        assert count is not None
        q: Any = sp.S.Zero if count == 1 else index("q", count)
        new = (q,) if count != 1 else ()
        if by.is_Integer and by <= _EXPLICIT:
            return [q * by + n for n in range(int(by))], new
        r = index("r", by)
        return [q * by + r], (*new, r)
    return None


def _shifted(node: Any, tensor: Any) -> Any:
    """Sums over an index whose cyclic shift stands at a tensor, run over the shifted index instead."""
    if not node.args or not node.has(sp.Mod):
        return node
    if not isinstance(node, Binder):
        return node.func(*(_shifted(a, tensor) for a in node.args))
    own, body = node.opened()
    body = _shifted(body, tensor)
    extra = [_shifted(a, tensor) for a in node.args[2:]]
    for e in sorted(body.atoms(Element), key=sp.default_sort_key):
        for place in e.indices if e.tensor == tensor else ():
            if isinstance(place, sp.Mod) and place.args[1] == own.size:
                offset = sp.expand(place.args[0] - own)
                if not any(isinstance(s, Index) for s in offset.free_symbols):
                    fresh = own.fresh()
                    return type(node)(
                        simplified(replace(body, {own: sp.Mod(fresh - offset, own.size)})), fresh, *extra
                    )
    return type(node)(body, own, *extra)
