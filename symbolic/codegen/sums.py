"""Sums, maxima and products over an index: what does not depend on it goes out, deltas are contracted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from ..language import nodes
from ..language.indices import Index
from ..language.nodes import Delta, Element, Indicator
from ..language.sizes import same_size
from . import patterns
from .arithmetic import add, multiplied, split
from .contractions import contract, reduce_axes
from .indicators import compared, is_not
from .stable import softmax_at
from .values import POWER, PRODUCT, Value, aligned

if TYPE_CHECKING:
    from .compiler import Compiler


def index_sum(c: Compiler, e: nodes.IndexSum) -> Value:
    bound: list[Index] = []
    body: sp.Expr = e
    while isinstance(body, nodes.IndexSum):
        bound.append(body.bound)
        body = body.body
    for n, b in enumerate(bound):  # outer sums first where nothing else orders the axes
        c.rank.setdefault(b, 1000 + 10 * len(c.rank) + n)
    return summed(c, bound, body)


def summed(c: Compiler, bound: list[Index], body: sp.Expr) -> Value:
    """Σ over `bound` of the body."""
    body = patterns.fold_softmax(body, partial(softmax_at, c))
    if body.is_Add:
        whole = c.value(body)
        widest = max(len(c.value(f).axes) for t in body.args for f in sp.Mul.make_args(t))
        if len(whole.axes) > widest:  # term by term, rather than an array larger than all that goes in
            return add(c, sp.Add(*body.args, evaluate=False), [summed(c, bound, t) for t in body.args])
    coefficient, factors = body.as_coeff_mul()
    factors = list(factors)
    for f in factors:
        reduced = contracted_delta(c, f, bound)
        if reduced is not None:
            b, place = reduced
            rest = sp.Mul(coefficient, *(g for g in factors if g is not f))
            rest = nodes.replace(rest, {b: place})
            left = [a for a in bound if a != b]
            return summed(c, left, rest) if left else c.value(rest)
    inside = [f for f in factors if set(c.value(f).axes) & set(bound)]
    outside = [f for f in factors if f not in inside]
    idle = [b for b in bound if not any(b in c.value(f).axes for f in inside)]
    outside += [b.size for b in idle]
    active = [b for b in bound if b not in idle]
    if not active:
        return multiplied(c, coefficient, [c.value(f) for f in outside], [])
    if any(isinstance(f, Indicator) or is_not(f) for f in inside) and len(inside) > 1:
        masked = c.value(sp.Mul(*inside))
        core = reduce_axes(c.full_over(masked, active), active, "sum")
    else:
        core = contract(fractions(c, inside), active, c.rank, c.np)
    above, below = split(outside)
    return multiplied(c, coefficient, [core, *map(c.value, above)], [c.value(f) for f in below])


def contracted_delta(c: Compiler, f: sp.Expr, bound: list[Index]) -> tuple[Index, sp.Expr] | None:
    """The bound index that a delta fixes, and its value, when that value is certainly in range."""
    if not isinstance(f, Delta):
        return None
    for b, place in ((f.args[0], f.args[1]), (f.args[1], f.args[0])):
        if b in bound and not place.has(b):
            if isinstance(place, Index) and same_size(place.size, b.size):
                return b, place
            if isinstance(place, Element) and place.tensor.domain.name.endswith(f"index<{b.size}"):
                return b, place
            if place.is_Integer and b.size.is_Integer and 0 <= place < b.size:
                return b, place
    return None


def fractions(c: Compiler, factors: list[sp.Expr]) -> list[Value]:
    """Values of the factors of a product; a denominator goes under a factor that has all of its axes."""
    above, below = split(factors)
    values = [c.value(f) for f in above]
    for d in (c.value(f) for f in below):
        for n, v in enumerate(values):
            if set(d.axes) <= set(v.axes):
                values[n] = Value(f"{v.at(PRODUCT)} / {aligned(d, v.axes).at(POWER)}", v.axes, PRODUCT)
                break
        else:
            values.append(Value(f"1 / {d.at(POWER)}", d.axes, PRODUCT))
    return values


def reduced(c: Compiler, e: nodes.Binder, method: str) -> Value:
    c.rank.setdefault(e.bound, 1000 + 10 * len(c.rank))
    body = c.value(e.body)
    if method == "max" and e.bound not in body.axes:
        return body
    return reduce_axes(c.full_over(body.numbers(), [e.bound]), [e.bound], method)


def index_max(c: Compiler, e: nodes.IndexMax) -> Value:
    return reduced(c, e, "max")


def index_product(c: Compiler, e: nodes.IndexProduct) -> Value:
    return reduced(c, e, "prod")


def argmax_indicator(c: Compiler, e: nodes.ArgMaxIndicator) -> Value:
    c.rank.setdefault(e.bound, 1000 + 10 * len(c.rank))
    best = reduce_axes(c.full_over(c.value(e.body).numbers(), [e.bound]), [e.bound], "argmax")
    return compared(c, "==", best, c.value(e.value))
