"""Derivation -> what is shown of it, as notation: statement, definitions, hypotheses, the chain of lines, the vector
form.

The three levels of detail are made here, and the letters of the whole derivation; `derivation` writes it in each
form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from ..derivations.model import Derivation, Detail, Step
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.nodes import Element, PartialDerivative, free_indices
from .arrays import arranged, by_places, small
from .batches import batched_form
from .layout import layout
from .letters import Letters
from .names import Name, written
from .text import write as as_text
from .tree import Fraction, Node, Partial, Relation
from .vector_notation import notation, repetition_note

PHASE_WORDS = {
    "state": "Statement",
    "unfold": "Substitute the definitions",
    "rewrite": "Rewrite",
    "differentiate": "Differentiate",
    "contract": "Contract the deltas",
    "collect": "Collect terms",
    "fold": "Write the definitions back",
    "hypothesis": "Use the hypotheses",
    "conclude": "Conclude",
}
# The name of a scalar that is differentiated and has none; the first that nothing else is called.
_SCALARS = ("L", "E", "J", "ell", "F")
_LONGEST_UNNAMED = 12


@dataclass(frozen=True)
class Line:
    """One `= expression` of the chain, with the rules that gave it and their sentences."""

    node: Node
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    phase: str = ""


@dataclass(frozen=True)
class Document:
    """Everything that is shown of a derivation, in order."""

    name: str
    title: str
    declared: tuple[tuple[Node, tuple[Node, ...], str], ...]  # array, sizes, domain ("" for real)
    definitions: tuple[Node, ...]
    hypotheses: tuple[tuple[Node, tuple[Node, ...]], ...]  # relation, and the letters for which it holds
    left: Node
    lines: tuple[Line, ...]
    vector: tuple[Node | None, Node] | None
    notes: tuple[str, ...]
    uses: tuple[str, ...]
    source: str
    for_each: tuple[Node, ...] = ()  # the letters for each of which the vector form holds


def document(d: Derivation, detail: Detail = "normal") -> Document:
    """What is shown of a derivation: `brief` (the result only), `normal` (a line a phase) or `full` (every step).

    Raises ValueError for another level of detail.
    """
    if detail not in ("brief", "normal", "full"):
        raise ValueError(f"the detail is 'brief', 'normal' or 'full', got {detail!r}")
    chain: list[sp.Basic] = [d.left, d.right, *(x for s in d.steps for x in (s.before, s.after))]
    beside: list[sp.Basic] = [*d.tensors, *d.definitions, *(t.body for t in d.definitions)]
    beside += [x for h in d.hypotheses for x in (h.left, h.right)]
    letters = Letters(chain, d.indices, beside)
    left, lines, places = _chain(d, detail, letters, chain)
    name = _scalar_name(d.left, letters)
    named: list[Node] = []
    if name is not None and isinstance(left, Partial):
        assert isinstance(d.left, PartialDerivative)
        named.append(Relation(name, ":=", left.inner))
        whole, left = left, Partial(name, left.variables)
        if detail != "brief":
            lines = [Line(whole, (), ("Insert the definition of " + name.text + ".",), "unfold"), *lines]
    definitions: list[Node] = []
    for t in d.definitions:
        fresh = tuple(p.fresh() for p in t.parameters)
        inner = letters.local(fresh)
        definitions.append(_definition(t.at(*fresh), t[fresh] if fresh else t, fresh, inner, places))
    # columns and matrices are a vector form already
    found = batched_form(d.right, d.indices) if d.indices and not places else None
    return Document(
        name=d.name,
        title=d.title or d.name.replace("_", " "),
        declared=declared_arrays(d, letters),
        definitions=(*definitions, *named),
        hypotheses=tuple(hypothesis_notation(h, letters) for h in d.hypotheses),
        left=left,
        lines=tuple(lines),
        vector=(_vector_left(d.left, d.indices, name, letters), notation(found.form, letters)) if found else None,
        notes=(*d.notes, *(repetition_note([found.form]) if found else ())),
        uses=d.uses,
        source=d.source,
        for_each=tuple(letters.letter(i) for i in found.for_each) if found else (),
    )


def _chain(d: Derivation, detail: Detail, letters: Letters, chain: Sequence[sp.Basic]) -> tuple[Node, list[Line], bool]:
    """The left side and the lines; as columns or matrices (True) where deltas say what stands at which place."""
    axes = small(d.indices)
    if any(by_places(e, axes) for e in chain):
        nodes = {e: arranged(e, axes, letters) for e in chain}
        forms = {e: node for e, node in nodes.items() if node is not None}
        if len(forms) == len(nodes):
            return forms[d.left], chain_lines(d, detail, letters, forms), True
    return layout(d.left, letters), chain_lines(d, detail, letters), False


def _definition(body: sp.Expr, head: sp.Expr, fresh: tuple[Index, ...], letters: Letters, places: bool) -> Relation:
    """A definition, as a column or matrix where the chain is one (`places`) or its own deltas say places."""
    axes = small(fresh)
    if axes and (places or by_places(body, axes)):
        left, right = arranged(head, axes, letters), arranged(body, axes, letters)
        if left is not None and right is not None:
            return Relation(left, ":=", right)
    return Relation(layout(head, letters), ":=", layout(body, letters))


def declared_arrays(d: Derivation, letters: Letters) -> tuple[tuple[Node, tuple[Node, ...], str], ...]:
    """Each declared array with its sizes and the name of its domain ("" for real)."""
    return tuple(
        (letters.name(t), tuple(layout(n, letters) for n in t.shape), "" if t.domain.name == "real" else t.domain.name)
        for t in d.tensors
    )


def hypothesis_notation(h: Hypothesis, letters: Letters) -> tuple[Node, tuple[Node, ...]]:
    """A hypothesis, and the letters for which it holds."""
    inner = letters.local(h.indices)
    sign = {"==": "="}.get(h.relation, h.relation)
    return (Relation(layout(h.left, inner), sign, layout(h.right, inner)), tuple(inner.letter(i) for i in h.indices))


def _scalar_name(left: sp.Expr, letters: Letters) -> Name | None:
    """A name for a scalar expression that is differentiated without having one."""
    inner = left
    while isinstance(inner, PartialDerivative):
        inner = inner.expression
    if inner is left or isinstance(inner, (Element, sp.Symbol)) or free_indices(inner):
        return None
    if len(as_text(layout(inner, letters))) <= _LONGEST_UNNAMED:
        return None
    return next((written(n) for n in _SCALARS if not letters.is_taken(written(n).text)), None)


# ---------------------------------------------------------------------- the chain
def merged(steps: Sequence[Step]) -> list[Step]:
    """Steps of one phase that follow each other as one step: first `before`, last `after`, all rules."""
    result: list[Step] = []
    for s in steps:
        rules = s.rules or (s.rule,)
        if result and result[-1].phase == s.phase:
            last = result[-1]
            why = "\n".join(w for w in (last.why, s.why) if w)
            result[-1] = Step(last.before, s.after, last.rule, why, s.phase, (*last.rules, *rules))
        else:
            result.append(Step(s.before, s.after, s.rule, s.why, s.phase, rules))
    return result


def chain_lines(
    d: Derivation, detail: Detail, letters: Letters, forms: Mapping[sp.Basic, Node] | None = None
) -> list[Line]:
    """The lines after the left side, by level of detail; `forms` has the notation of all of them if it is another."""

    def shown_as(e: sp.Basic) -> Node:
        return layout(e, letters) if forms is None else forms[e]

    if detail == "brief":
        return [Line(shown_as(d.right))]
    steps = merged(d.steps) if detail == "normal" else list(d.steps)
    shown = as_text(shown_as(d.left))
    lines: list[Line] = []
    for s in steps:
        before, after = shown_as(s.before), shown_as(s.after)
        if as_text(before) != shown:
            lines.append(Line(before, (), (), s.phase))
        rules = tuple(dict.fromkeys(s.rules or (s.rule,)))
        if detail == "normal" and as_text(after) == as_text(before) and lines:
            continue  # only the order of terms changed, which the page does not show
        lines.append(Line(after, rules, tuple(s.why.splitlines()), s.phase))
        shown = as_text(after)
    right = shown_as(d.right)
    if as_text(right) != shown or not lines:
        lines.append(Line(right))
    return lines


# ---------------------------------------------------------------------- the vector form
def _vector_left(left: sp.Expr, indices: tuple[Index, ...], name: Name | None, letters: Letters) -> Node | None:
    if isinstance(left, PartialDerivative):
        inner, by = left.expression, left.variable
        if not isinstance(by, Element):
            return None
        z = letters.name(by.tensor)
        if (
            isinstance(inner, PartialDerivative)
            and isinstance(inner.variable, Element)
            and inner.variable.tensor == by.tensor
        ):
            scalar = inner.expression
            named = name or (letters.name(scalar) if isinstance(scalar, sp.Symbol) else None)
            if {(*inner.variable.indices, *by.indices), (*by.indices, *inner.variable.indices)} & {indices} and named:
                return _gradient(named, z, order=2)  # the Hessian is symmetric
            return None
        if by.indices == indices and (name is not None or isinstance(inner, sp.Symbol)):
            return _gradient(name or letters.name(inner), z)
        if isinstance(inner, Element) and (*inner.indices, *by.indices) == indices:
            return Fraction(_prefixed("∂", r"\partial ", letters.name(inner.tensor)), _prefixed("∂", r"\partial ", z))
        return None
    found = batched_form(left, indices)
    return notation(found.form, letters) if found else None


def _gradient(scalar: Name, z: Name, order: int = 1) -> Name:
    latex, text = ("", "") if order == 1 else ("^{2}", "²")
    return Name(rf"\nabla_{{{z.latex}}}{latex} {scalar.latex}", f"∇{text}_{z.text} {scalar.text}")


def _prefixed(text: str, latex: str, name: Name) -> Name:
    return Name(latex + name.latex, text + name.text)
