"""What is recognised before code is written, so that the stable form is kept: softmax, logsumexp, sigmoid, softplus.

Everything here reads expressions and returns expressions; `compiler` writes the code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Element, IndexSum, Indicator, replace
from ..language.operations import log_sigmoid, sigmoid, softplus
from ..language.sizes import same_size
from .indicators import is_not


@dataclass(frozen=True)
class Exponentials:
    """Σ_k m_1 m_2 … e^b over `bound`, with factors m that are 0 or 1: the `masks`."""

    bound: tuple[Index, ...]
    exponent: sp.Expr
    masks: tuple[sp.Expr, ...] = ()


# Given Σ_k m e^b over one index k, and u: the element at k = u of the softmax tensor of b where m is 1 (0 elsewhere).
SoftmaxAt = Callable[[Exponentials, sp.Expr], sp.Expr]


def sum_of_exponentials(e: sp.Expr) -> Exponentials | None:
    """Σ e^b over one index or several, some terms of which may be masked."""
    bound: list[Index] = []
    while isinstance(e, IndexSum):
        bound.append(e.bound)
        e = e.body
    factors = sp.Mul.make_args(e)
    powers = [f for f in factors if isinstance(f, sp.exp)]
    masks = tuple(f for f in factors if not isinstance(f, sp.exp))
    if not bound or len(powers) != 1 or not all(map(is_mask, masks)):
        return None
    if powers[0].has(sp.oo, -sp.oo):
        raise UnsupportedError("an infinite value stands under an exponential, and 0 times it has no value; write a "
                               "masked softmax as w / sum(w, axis=-1, keepdims=True) with w = mask * exp(scores)")
    return Exponentials(tuple(bound), powers[0].args[0], masks)


def is_mask(f: sp.Expr) -> bool:
    """Whether a factor is 0 or 1 everywhere: an indicator, its opposite, or an entry of a binary array."""
    if isinstance(f, Element):
        return f.tensor.domain.values == (0.0, 1.0)
    return isinstance(f, Indicator) or is_not(f)


def softmax_of_parameter(tensor: DefinedTensor) -> Exponentials | None:
    """The logits b and their masks, over the index k, when the definition is m e^b / Σ_k m e^b along an axis of its
    own.
    """
    hits: list[tuple[Exponentials, sp.Expr]] = []

    def found(e: Exponentials, u: sp.Expr) -> sp.Expr:
        hits.append((e, u))
        return sp.S.One

    if fold_softmax(tensor.body, found) == 1 and len(hits) == 1:
        e, u = hits[0]
        if isinstance(u, Index) and u in tensor.parameters:
            at = {e.bound[0]: u}
            return Exponentials((u,), replace(e.exponent, at), tuple(replace(m, at) for m in e.masks))
    return None


def fold_softmax(e: sp.Expr, at: SoftmaxAt) -> sp.Expr:
    """Write m(u) e^{b(u)} / Σ_k m(k) e^{b(k)} in a product as the softmax of b at u, as often as it stands there."""
    factors = [f.base if f.is_Pow and f.exp.is_Integer and f.exp > 0 and is_mask(f.base) else f
               for f in sp.Mul.make_args(e)]
    for place, f in enumerate(factors):
        if not (f.is_Pow and f.exp.is_Integer and f.exp < 0 and isinstance(f.base, IndexSum)):
            continue
        found = sum_of_exponentials(f.base)
        if found is None or len(found.bound) != 1:
            continue
        (k,), b = found.bound, found.exponent
        if not b.has(k):
            continue  # K e^b, not a softmax
        exponent = sp.Add(*(g.args[0] for g in factors if isinstance(g, sp.exp)))
        if exponent == 0:
            folded = _fold_inside(factors, place, at)
            if folded is not None:
                return folded
            continue
        folds: list[sp.Expr] = []
        masked: list[sp.Expr] = []
        for _ in range(int(-f.exp)):
            hit = _one_power(exponent, b, k)
            if hit is None:
                break
            u, left_over = hit
            masks = [replace(m, {k: u}) for m in found.masks]
            if not all(m in factors for m in masks):
                break
            masked += masks  # the softmax is 0 where they are, so that they need not stand beside it
            exponent = left_over
            folds.append(at(found, u))
        if folds:
            rest = [g for n, g in enumerate(factors) if n != place and not isinstance(g, sp.exp) and g not in masked]
            left = f.base ** (f.exp + len(folds))
            return fold_softmax(sp.Mul(*rest, *folds, left, sp.exp(exponent)), at)
        folded = _fold_inside(factors, place, at)
        if folded is not None:
            return folded
    return e


def _fold_inside(factors: list[sp.Expr], place: int, at: SoftmaxAt) -> sp.Expr | None:
    """(Σ_j e^{b(j)} w_j) / Σ_k e^{b(k)}: the denominator goes inside the sum, where it folds."""
    denominator = factors[place]
    for n, g in enumerate(factors):
        if n != place and isinstance(g, IndexSum):
            fresh, body = g.opened()
            inside = sp.Mul(body, 1 / denominator.base)
            folded = fold_softmax(inside, at)
            if folded != inside:
                rest = [h for m, h in enumerate(factors) if m not in (n, place)]
                whole = sp.Mul(*rest, denominator * denominator.base, IndexSum(folded, fresh))
                return fold_softmax(whole, at)
    return None


def _one_power(exponent: sp.Expr, b: sp.Expr, k: Index) -> tuple[sp.Expr, sp.Expr] | None:
    """A value u of k for which b(u) is a part of the exponent, and what is left of the exponent."""
    elements = sorted(exponent.atoms(Element), key=sp.default_sort_key)
    # a value of k is what stands in an axis of k's size: a 2 or a label from another axis may be out of k's range
    places = [i for x in elements for i, n in zip(x.indices, x.tensor.shape, strict=True) if same_size(n, k.size)]
    for u in dict.fromkeys(places):
        left = sp.expand(exponent - replace(b, {k: u}))
        if _weight(left) < _weight(sp.expand(exponent)):
            return u, left
    return None


def _weight(e: sp.Expr) -> sp.Expr:
    return sp.Add(*(abs(term.as_coeff_Mul()[0]) for term in sp.Add.make_args(e))) if e != 0 else sp.S.Zero


def one_plus_exp(e: sp.Expr) -> sp.Expr | None:
    """x when the expression is 1 + e^x."""
    if e.is_Add and len(e.args) == 2 and sp.S.One in e.args:
        other = e.args[1] if e.args[0] == 1 else e.args[0]
        if isinstance(other, sp.exp):
            return other.args[0]
    return None


def see_through(e: sp.Expr) -> sp.Expr:
    """The definition of a defined element when it is a sigmoid, else the expression itself."""
    if isinstance(e, Element) and isinstance(e.tensor, DefinedTensor):
        inside = e.tensor.at(*e.indices)
    elif isinstance(e, DefinedTensor) and not e.shape:
        inside = e.body
    else:
        return e
    return inside if isinstance(as_sigmoid(inside), sigmoid) else e


def as_sigmoid(e: sp.Expr) -> sp.Expr:
    """sigmoid(x) for 1/(1 + e^(-x)), with its powers; anything else as it is."""
    if e.is_Pow and e.exp.is_number and e.exp.is_negative:
        x = one_plus_exp(e.base)
        if x is not None:
            return sigmoid(-x) ** (-e.exp)
    return e


def stable_log(argument: sp.Expr) -> sp.Expr | None:
    """log of the argument as softplus or log_sigmoid, where it is one."""
    x = one_plus_exp(argument)
    if x is not None:
        return softplus(x)
    inner = as_sigmoid(see_through(argument))
    if isinstance(inner, sigmoid):
        return log_sigmoid(inner.args[0])
    if argument.is_Add and len(argument.args) == 2 and sp.S.One in argument.args:
        other = argument.args[1] if argument.args[0] == 1 else argument.args[0]
        inner = as_sigmoid(see_through(-other))
        if isinstance(inner, sigmoid):
            return log_sigmoid(-inner.args[0])
    return None
