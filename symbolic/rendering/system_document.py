"""A gradient in named adjoints -> what is shown of it: the forward definitions, the loss, a section an adjoint.

`document` has the single chain; here each part of the derivation has its own, which begins with the chain rule over
what names the array, Σ dP ∂P/∂S, before the definitions are inserted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as changed

import sympy as sp

from ..derivations.model import Derivation, Detail
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Element, IndexSum, PartialDerivative, Tensor, element, replace, tensors
from .batches import Batched, batched_form
from .contraction import Unsayable
from .document import PHASE_WORDS, Line, chain_lines, declared_arrays, hypothesis_notation
from .layout import layout
from .letters import Letters
from .names import Name
from .text import write as as_text
from .tree import Node, Relation, Subscripted
from .vector_form import softmax_form
from .vector_notation import notation, repetition_note
from .vectors import Vector

_LOSSES = ("L", "E", "J", "ell", "loss")


@dataclass(frozen=True)
class Said:
    """A definition or a result in index form and, where there is one, in vector form (for each of some letters)."""

    index: Relation
    vector: Relation | None = None
    for_each: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Section:
    """One adjoint: `of` what, its chain of lines after `head`, and what it comes to."""

    name: Node
    of: Node
    head: Node
    lines: tuple[Line, ...]
    result: Said
    wanted: bool  # the gradient of an array that was asked for, not of an intermediate
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemDocument:
    """Everything that is shown of a gradient in named adjoints, in order."""

    name: str
    title: str
    declared: tuple[tuple[Node, tuple[Node, ...], str], ...]
    hypotheses: tuple[tuple[Node, tuple[Node, ...]], ...]
    forward: tuple[Said, ...]
    loss: Said
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    uses: tuple[str, ...]
    source: str


def system_document(d: Derivation, detail: Detail = "normal") -> SystemDocument:
    """What is shown of a derivation with parts; the levels of detail are those of `document`."""
    if detail not in ("brief", "normal", "full"):
        raise ValueError(f"the detail is 'brief', 'normal' or 'full', got {detail!r}")
    taken = {t.name for t in (*d.tensors, *d.definitions)}
    scalar = Tensor(next(n for n in _LOSSES if n not in taken))
    expressions = [d.left, *(x for p in d.parts for x in (p.left, p.right, *(s.after for s in p.steps)))]
    beside: list[sp.Basic] = [*d.tensors, *d.definitions, scalar, *(t.body for t in d.definitions)]
    beside += [p.adjoint for p in d.parts if p.adjoint is not None]
    beside += [x for h in d.hypotheses for x in (h.left, h.right)]
    letters = Letters([], (), [*expressions, *beside], by_name=True)
    letters.adjoints({p.name for p in d.parts})
    forward = [_definition(t, letters) for t in d.definitions]
    loss = _said(scalar, (), d.left, letters)
    sections = [_section(d, p, scalar, detail, letters) for p in d.parts]
    note = repetition_note([s.form for s in (*forward, *(r for _, r in sections)) if s.form is not None])
    return SystemDocument(
        name=d.name,
        title=d.title or d.name.replace("_", " "),
        declared=declared_arrays(changed(d, tensors=_asked_first(d)), letters),
        hypotheses=tuple(hypothesis_notation(h, letters) for h in d.hypotheses),
        forward=tuple(s.said for s in forward),
        loss=loss.said,
        sections=tuple(s for s, _ in sections),
        notes=(*d.notes, *note),
        uses=d.uses,
        source=d.source,
    )


def _asked_first(d: Derivation) -> tuple[Tensor, ...]:
    """The arrays whose gradients are asked for, in that order, then the others."""
    asked = {p.name[1:]: n for n, p in enumerate(d.parts)}
    return tuple(sorted(d.tensors, key=lambda t: asked.get(t.name, len(asked))))


@dataclass(frozen=True)
class _Found:
    said: Said
    form: Vector | None = None


def _said(tensor: Tensor, at: tuple[Index, ...], value: sp.Expr, inner: Letters, found: Batched | None = None,
          sign: str = "=") -> _Found:
    """A value in both forms, `at` having letters in `inner`."""
    name = inner.name(tensor)
    head = Subscripted(name, tuple(inner.letter(i) for i in at)) if at else name
    index = Relation(head, sign, layout(value, inner))
    found = found or batched_form(value, at)
    if found is None:
        return _Found(Said(index))
    vector = Relation(name, "=", notation(found.form, inner))
    if not at and as_text(vector) == as_text(Relation(name, "=", index.right)):
        return _Found(Said(index))
    return _Found(Said(index, vector, tuple(inner.letter(i) for i in found.for_each)), found.form)


def _definition(t: DefinedTensor, letters: Letters) -> _Found:
    fresh = tuple(p.fresh() for p in t.parameters)
    value = t.at(*fresh)
    soft = batched_form(value, fresh, _softmax) if t.origin == "softmax" else None
    return _said(t, fresh, value, letters.local(fresh), soft, ":=")


def _softmax(e: sp.Expr, axes: tuple[Index, ...]) -> Vector:
    """A softmax that is written out, and nothing else."""
    found = softmax_form(e, axes)
    if found is None:
        raise Unsayable("not the softmax along the last axis")
    return found


# ---------------------------------------------------------------------- one adjoint
def _section(d: Derivation, p: Derivation, scalar: Tensor, detail: Detail, letters: Letters) -> tuple[Section, _Found]:
    inner = letters.local(p.indices)
    adjoint = p.adjoint or Tensor(p.name, tuple(i.size for i in p.indices))
    result = _said(adjoint, p.indices, p.right, inner)
    lines: list[Line] = []
    if detail != "brief":
        chained = chain_rule(p.left, d, scalar)
        first = layout(chained, inner)
        lines.append(Line(first, (), ("chain rule",) if detail == "full" else (), "state"))
        if detail == "full":
            if chained != p.left:
                inserted = layout(p.left, inner)
                lines.append(Line(inserted, (), ("insert the definitions",), "unfold"))
            lines += [line for line in chain_lines(p, "full", inner) if as_text(line.node) != as_text(lines[-1].node)]
        elif as_text(result.said.index.right) != as_text(first):
            rules = tuple(dict.fromkeys(r for s in p.steps for r in (s.rules or (s.rule,))))
            words = tuple(dict.fromkeys(PHASE_WORDS.get(s.phase, "").lower() for s in p.steps))
            lines.append(Line(result.said.index.right, rules, tuple(w for w in words if w), "conclude"))
    of = Name(*_without_d(result.said.index.left))
    wanted = p.name[1:] in {t.name for t in d.tensors}
    return Section(inner.name(adjoint), of, result.said.index.left, tuple(lines), result.said, wanted, p.uses), result


def _without_d(head: Node) -> tuple[str, str]:
    name = head.name if isinstance(head, Subscripted) else head
    assert isinstance(name, Name)
    return name.latex.removeprefix(r"\mathrm{d}"), name.text.removeprefix("d")


def chain_rule(left: sp.Expr, d: Derivation, scalar: Tensor) -> sp.Expr:
    """The local sum with definitions by name again: Σ dP ∂P/∂S for Σ dP ∂(exp(S)/…)/∂S; what does not match stays."""
    terms = [_by_name(t, d, scalar) for t in sp.Add.make_args(left)]
    return sp.Add(*terms)


def _by_name(term: sp.Expr, d: Derivation, scalar: Tensor) -> sp.Expr:
    bound: list[Index] = []
    body = term
    while isinstance(body, IndexSum):
        fresh, body = body.opened("j")
        bound.append(fresh)
    derivative = next((f for f in sp.Mul.make_args(body) if isinstance(f, PartialDerivative)), None)
    if derivative is None:
        return term
    if derivative == body and not bound and derivative.expression == _plain(d.left):
        return PartialDerivative(scalar, derivative.variable)
    cotangent = body / derivative
    tensor = cotangent.tensor if isinstance(cotangent, Element) else cotangent
    consumer = next((c for c in d.definitions if isinstance(tensor, Tensor) and f"d{c.name}" == tensor.name), None)
    if consumer is None:
        return term
    at = cotangent.indices if isinstance(cotangent, Element) else ()
    if _plain(consumer.at(*at)) != derivative.expression:
        return term
    named = element(Tensor(consumer.name, consumer.shape, consumer.domain), *at)
    result: sp.Expr = cotangent * PartialDerivative(named, derivative.variable)
    for i in reversed(bound):
        result = IndexSum(result, i)
    return result


def _plain(e: sp.Expr) -> sp.Expr:
    """Definitions' names standing for themselves, as in the parts."""
    names = {
        t: Tensor(t.name, t.shape, t.domain)
        for t in tensors([e], through_definitions=False)
        if isinstance(t, DefinedTensor)
    }
    return replace(e, names)


def wanted(shown: SystemDocument) -> Sequence[Section]:
    """The gradients that were asked for."""
    return [s for s in shown.sections if s.wanted]
