"""Reverse mode through named definitions: one named adjoint a definition, so cost grows with their number, not with
inlined size.

For a scalar L built from definitions c, d, ... the adjoint of d is dd = Σ_c Σ dc ∂c/∂d over the definitions c that name
d directly, plus ∂L/∂d. Each such sum is a local statement: the names in it stand for themselves. It is made here and
proved elsewhere, one definition at a time; that the adjoints together are the gradient is the chain rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.indices import Index, index
from ..language.nodes import DefinedTensor, Element, IndexSum, PartialDerivative, Tensor, element, replace, tensors
from .contraction import contract
from .differentiation import wave
from .folding import fold


@dataclass(frozen=True)
class Adjoint:
    """The adjoint of one tensor: `indices` of the tensor, the local sum as it stands (`start`), and what it comes to
    (`value`).

    `named` is the adjoint as a definition (dP := ...), which later adjoints use.
    """

    of: Tensor
    indices: tuple[Index, ...]
    start: sp.Expr
    value: sp.Expr
    named: DefinedTensor
    kept: tuple[DefinedTensor, ...] = ()  # definitions that the value was folded back into


def opaque(expression: sp.Expr, keep: Sequence[DefinedTensor] = ()) -> sp.Expr:
    """The expression with every definition's name standing for itself: a plain array of that name, shape and domain.

    The definitions in `keep` stay definitions, of arrays that stand for themselves.
    """
    names: dict[Tensor, Tensor] = {}
    for t in tensors([expression, *(k.body for k in keep)], through_definitions=False):
        if isinstance(t, DefinedTensor) and t not in keep:
            names[t] = Tensor(t.name, t.shape, t.domain)
    for t in keep:
        names[t] = DefinedTensor(t.name, t.parameters, _renamed(t.body, names), t.origin, t.domain)
    return _renamed(expression, names)


def held_constant(start: sp.Expr, keep: Sequence[DefinedTensor]) -> sp.Expr:
    """The local sum with those terms carried out whose derivatives would change their meaning with `keep` defined.

    In Σ dc ∂c/∂x the names in c are constants. Where one of them is kept, and depends on x, a reader would
    differentiate through it, and count twice what the adjoint of that name counts already.
    """
    return sp.Add(*(contract(carried_out(term))[0] if differentiates_through(term, keep) else term
                    for term in sp.Add.make_args(start)))


def differentiates_through(expression: sp.Expr, keep: Sequence[DefinedTensor]) -> bool:
    """Whether a derivative in it is of, or by, something that a definition in `keep` makes depend on the variable."""
    for node in expression.atoms(PartialDerivative):
        by = node.variable.tensor if isinstance(node.variable, Element) else node.variable
        inside = node.expression.free_symbols
        if any(t == by or (t in inside and by in t.body.free_symbols) for t in keep):
            return True
    return False


def _renamed(expression: sp.Expr, names: Mapping[Tensor, Tensor]) -> sp.Expr:
    if not names:
        return expression
    return replace(expression, names)


def adjoints(loss: sp.Expr, wrt: Sequence[Tensor],
             write: Callable[[Tensor, tuple[Index, ...], sp.Expr], sp.Expr] | None = None,
             remember: Callable[[Adjoint], None] | None = None) -> list[Adjoint]:
    """The adjoints of all definitions between the loss and the arrays of `wrt`, then of those arrays, in order of
    computation.

    `write` may put an adjoint in another form (to be proved), `remember` is told of each. Raises `UnsupportedError` for
    an array that the loss does not depend on.
    """
    order = [t for t in tensors([loss]) if isinstance(t, DefinedTensor)]  # definitions after what they are defined by
    needed = [t for t in order if any(w in t.body.free_symbols for w in wrt)]
    found: dict[Tensor, Adjoint] = {}
    result: list[Adjoint] = []

    for target in [*reversed(needed), *wrt]:
        at = tuple(index("ikmnbl"[n] if n < 6 else "i", s) for n, s in enumerate(target.shape))
        consumers = [c for c in reversed(needed) if c is not target and target in c.names]
        terms = _local_terms(loss, target, consumers, {c: found[c].named for c in consumers}, at)
        if not terms:
            if target in wrt:
                raise UnsupportedError(f"the loss does not depend on {target.name}: its gradient is 0 everywhere; "
                                       f"check the name")
            continue
        start = sp.Add(*terms)
        value = contract(carried_out(start))[0]
        kept = []
        for consumer in consumers:
            folded = fold(value, consumer)
            if folded != value:
                kept.append(consumer)
                value = contract(folded)[0]
        value = write(target, at, value) if write is not None else value
        named = DefinedTensor(f"d{target.name}", at, value, f"adjoint of {target.name}")
        found[target] = Adjoint(target, at, start, value, named, tuple(kept))
        result.append(found[target])
        if remember is not None:
            remember(found[target])
    return result


def _local_terms(loss: sp.Expr, target: Tensor, consumers: Sequence[DefinedTensor], adjoint_of: Mapping[Tensor, Tensor],
                 at: tuple[Index, ...]) -> list[sp.Expr]:
    """∂L/∂target where L names it, and Σ dc ∂c/∂target for each definition c that names it; nothing carried out."""
    variable = Element(target, *at) if at else target
    terms: list[sp.Expr] = []
    if target in tensors([loss], through_definitions=False):
        terms.append(PartialDerivative(loss, variable))
    for consumer in consumers:
        own = tuple(index("jlqr"[n] if n < 4 else "j", s) for n, s in enumerate(consumer.shape))
        total: sp.Expr = element(adjoint_of[consumer], *own) * PartialDerivative(consumer.at(*own), variable)
        for i in reversed(own):
            total = IndexSum(total, i)
        terms.append(total)
    return terms


def local_adjoint(loss: sp.Expr, target: Tensor, definitions: Sequence[DefinedTensor], adjoint_of: Mapping[str, Tensor],
                  at: tuple[Index, ...]) -> sp.Expr:
    """The local sum of one adjoint, made from the definitions alone; `adjoint_of` gives the adjoints by name ("dP")."""
    consumers = [c for c in reversed(definitions)
                 if c is not target and f"d{c.name}" in adjoint_of and target in c.names]
    return sp.Add(*_local_terms(loss, target, consumers, {c: adjoint_of[f"d{c.name}"] for c in consumers}, at))


def carried_out(expression: sp.Expr) -> sp.Expr:
    """All derivatives carried out, definitions other than the variable being constants."""
    names = {t: Tensor(t.name, t.shape, t.domain) for t in tensors([expression], through_definitions=False)
             if isinstance(t, DefinedTensor)}
    back = {plain: t for t, plain in names.items()}
    current = _renamed(expression, names)
    while current.has(PartialDerivative):
        current, _ = wave(current)
    return _renamed(current, back)
