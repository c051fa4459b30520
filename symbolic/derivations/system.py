"""Gradients in named adjoints: one derivation an intermediate, tied together by the chain rule.

A `System` states a scalar loss over named definitions and the arrays whose gradients are wanted. Its derivation has one
part an
adjoint: the local sum Σ_c dc ∂c/∂d carried out, contracted, and folded back into names. Each part is proved with all
names standing for themselves; that the parts together are the gradient is the chain rule, and the ends are compared
besides (second path at small sizes, finite differences of the hand-written primal).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from ..calculus.reverse import Adjoint, adjoints, held_constant, opaque
from ..canonical.equality import equal
from ..language.arrays import Array, ArrayLike, aligned, as_array, shape_text, tensor_of
from ..language.errors import LemmataError, ShapeError
from ..language.hypotheses import Hypothesis
from ..language.naming import apart
from ..language.nodes import DefinedTensor, Tensor, element, tensors
from ..language.sizes import same_size
from .model import Derivation
from .tactics import State, Tactic, collect, contract, differentiate, fold, run_all, simplest


@dataclass(frozen=True)
class SystemCheck:
    """The hand-written NumPy of a system: `primal` computes the output, `backward` the gradients, in the order of
    `wrt`.

    `arguments` are array names in the order of the primal's parameters; `backward_arguments` those of the backward
    function.
    """

    primal: str
    arguments: tuple[str, ...]
    backward: str = ""
    backward_arguments: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    backward_options: Mapping[str, object] = field(default_factory=dict)
    cotangent: str | None = None  # the loss is Σ cotangent · primal


@dataclass(frozen=True)
class System:
    """A scalar `loss` over named definitions, the arrays `wrt`, and optionally how some adjoints are to be written.

    `forms` maps the name of an intermediate to a function of the adjoints so far (by name) that gives its adjoint as
    the author writes it; it is proved like everything else.
    """

    loss: ArrayLike
    wrt: Sequence[Array]
    forms: Mapping[str, Callable[[Mapping[str, Array]], ArrayLike]] = field(default_factory=dict)
    given: Sequence[Hypothesis] = ()
    notes: Sequence[str] = ()
    numpy: SystemCheck | None = None


def derive_system(claim: System, name: str = "", title: str = "", source: str = "") -> Derivation:
    """The derivation of a system, one part an adjoint."""
    loss = as_array(claim.loss)
    if loss.ndim:
        raise ShapeError(f"the loss of a system is a scalar; this has shape {shape_text(loss.shape)}")
    renamed, [body], given = apart([loss.body], claim.given)
    if renamed and claim.forms:
        raise LemmataError(f"two different arrays are called {next(iter(renamed)).name}; in named adjoints each name "
                           f"stands for one, so give one of them another name")
    wrt = [renamed.get(t, t) for t in map(tensor_of, claim.wrt)]
    definitions = [t for t in tensors([body]) if isinstance(t, DefinedTensor)]
    known: dict[str, Array] = {}

    def written(target: Tensor, at: tuple[sp.Basic, ...], value: sp.Expr) -> sp.Expr:
        form = claim.forms.get(target.name)
        return simplest(value) if form is None else aligned(as_array(form(known)), at)

    def remember(a: Adjoint) -> None:
        known[a.named.name] = Array(a.indices, element(a.named, *a.indices))

    found = adjoints(body, wrt, written, remember)
    adjoint_names = {a.named for a in found}
    # what an author's form names beside the loss's own definitions is defined too
    written_in = [t for a in found for t in tensors([a.value], through_definitions=False)]
    definitions += [t for t in dict.fromkeys(written_in) if isinstance(t, DefinedTensor) and t not in definitions
                    and t not in adjoint_names]
    in_order = (*definitions, *(a.named for a in found))  # each after what it is defined by
    parts = tuple(_part(a, definitions, in_order, a.of.name in claim.forms, given) for a in found)
    declared = tuple(t for t in tensors([body]) if not isinstance(t, DefinedTensor))
    for t in (*declared, *definitions):
        if t.name in {a.named.name for a in found}:
            raise LemmataError(f"the array {t.name} is called like the adjoint of {t.name[1:]}; give it another name")
    return Derivation(name=name, left=body, right=body, indices=(), steps=(), definitions=tuple(definitions),
                      hypotheses=tuple(given), tensors=declared, title=title, source=source,
                      notes=tuple(claim.notes), parts=parts)


def _part(a: Adjoint, definitions: Sequence[DefinedTensor], known: Sequence[DefinedTensor], by_author: bool,
          given: Sequence[Hypothesis]) -> Derivation:
    """The derivation of one adjoint: its local sum to its value (a form `by_author`, or our own), names standing for
    themselves.
    """
    hypotheses = tuple(given)
    kept = _needed(a, definitions)
    start, end = _statement(a, kept)
    if by_author and not equal(start, end, hypotheses).equal:
        start, end = _deepened(a, kept, known, hypotheses) or (start, end)
    names = [t for t in tensors([start, end]) if isinstance(t, DefinedTensor)]
    state = State(start, a.indices, (), names)
    tactics: list[Tactic] = [differentiate(), contract(), *([fold(), contract()] if names else []), collect()]
    run_all(state, tactics)
    state.step(end, "collect", "conclude", "written with named intermediates")
    declared = tuple(t for t in tensors([start, end]) if not isinstance(t, DefinedTensor))
    return Derivation(name=a.named.name, left=start, right=end, indices=a.indices, steps=tuple(state.steps),
                      definitions=tuple(names), hypotheses=hypotheses, tensors=declared,
                      title=f"adjoint of {a.of.name}", adjoint=a.named)


def _statement(a: Adjoint, kept: Sequence[DefinedTensor]) -> tuple[sp.Expr, sp.Expr]:
    """Both sides of the local statement, with the definitions in `kept` (in order) known and all other names
    arbitrary.
    """
    return opaque(held_constant(a.start, kept), kept), opaque(a.value, kept)


def _deepened(a: Adjoint, kept: Sequence[DefinedTensor], known: Sequence[DefinedTensor],
              hypotheses: Sequence[Hypothesis]) -> tuple[sp.Expr, sp.Expr] | None:
    """The statement of an author's form with as few definitions known as make it true; None if none do.

    FlashAttention writes rowsum(dO ⊙ O) for rowsum(P ⊙ dP): true because dP = dO Vᵀ and O = P V, for no other reason.
    What is differentiated by stays arbitrary as long as that is enough.
    """

    def stated(chosen: Collection[DefinedTensor]) -> tuple[sp.Expr, sp.Expr]:
        return _statement(a, [t for t in known if t in chosen])

    def true_with(chosen: Collection[DefinedTensor]) -> bool:
        return equal(*stated(chosen), hypotheses).equal

    for candidates in (set(known) - {a.of}, set(known)):
        chosen = set(kept)
        while more := _named([a.start, a.value, *(t.body for t in chosen)], candidates - chosen):
            chosen |= more
            if true_with(chosen):
                for t in sorted(chosen - set(kept), key=lambda t: t.name):
                    if true_with(chosen - {t}):
                        chosen.remove(t)
                return stated(chosen)
    return None


def _named(expressions: Sequence[sp.Expr], among: Collection[DefinedTensor]) -> set[DefinedTensor]:
    named = tensors(expressions, through_definitions=False)
    return {t for t in named if isinstance(t, DefinedTensor) and t in among}


def _needed(a: Adjoint, definitions: Sequence[DefinedTensor]) -> tuple[DefinedTensor, ...]:
    """The definitions that must be known for the local statement: those that the author's form names beside what the
    sum names.
    """
    inside = set(tensors([a.start], through_definitions=False))
    written = [t for t in tensors([a.value], through_definitions=False) if isinstance(t, DefinedTensor)
               and t in definitions]
    return tuple(t for t in definitions if t in a.kept or (t in written and t not in inside))


def same_shape(a: Array, b: Array) -> bool:
    """Whether two arrays have the same shape for every binding."""
    return a.ndim == b.ndim and all(same_size(m, n) for m, n in zip(a.shape, b.shape, strict=True))
