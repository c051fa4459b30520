r"""A gradient in named adjoints in each output form: text, LaTeX for a page or a notebook, Markdown, a LaTeX section.

All forms show the same `SystemDocument` in the same order: what is given, the forward definitions, the loss, the
adjoints from the loss back, and the gradients that were asked for, collected at the end.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from ..derivations.model import Derivation, Detail
from .latex import write as write_latex
from .lines import broken
from .pieces import (
    TEXT_WIDTH,
    MarkdownParts,
    aligned,
    assumptions,
    declared_latex,
    declared_text,
    hypothesis_rows,
    hypothesis_text,
    latex_lines,
    markdown_heading,
    markdown_remarks,
    numbered,
    subheading,
)
from .prose import breakable, escaped, sentences
from .system_document import Said, Section, system_document, wanted
from .text import write as write_text
from .tree import Node, Relation
from .wording import said

# Both forms of the definitions stand side by side up to this width, counted in characters of the text.
_ONE_ROW = 58
# And up to this many, because such a block stands on one page.
_ONE_PAGE = 16


def _best(form: Said) -> Relation:
    return form.vector or form.index


# ---------------------------------------------------------------------- text
def system_text(d: Derivation, detail: Detail = "normal") -> str:
    """A gradient in named adjoints as plain text."""
    shown = system_document(d, detail)
    out = [shown.title if shown.title == shown.name else f"{shown.title} ({shown.name})", ""] if shown.title else []
    rows = [("given", declared_text(shown)), *(("assuming", hypothesis_text(*h)) for h in shown.hypotheses)]
    rows += [("forward", line) for line in _columns([*shown.forward])]
    rows += [("loss", line) for line in _columns([shown.loss])]
    if detail == "brief":
        rows += [("backward", _line(s.result)) for s in shown.sections if not s.wanted]
    previous = ""
    for label, content in rows:
        out += [f"  {label if label != previous else '':<10} {content}"]
        previous = label
    if detail != "brief":
        for s in shown.sections:
            out += ["", *_section_text(s, detail)]
        out.append("")
    for n, s in enumerate(wanted(shown)):
        out.append(f"  {'gradients' if n == 0 else '':<10} {_line(s.result)}")
    ends = [*(("note", n) for n in shown.notes), ("uses", ", ".join(shown.uses)), ("source", shown.source)]
    out += [""] if any(content for _, content in ends) else []
    for label, content in ends:
        if content:
            out += textwrap.wrap(f"{label}: {content}", TEXT_WIDTH + 8, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(out) + "\n"


def _line(form: Said) -> str:
    return write_text(_best(form)) + _each_text(form)


def _each_text(form: Said) -> str:
    return f"   (for each {', '.join(map(write_text, form.for_each))})" if form.vector and form.for_each else ""


def _columns(given: Sequence[Said]) -> list[str]:
    """Index form, and beside it the vector form."""
    shown = [(write_text(s.index), write_text(s.vector) + _each_text(s) if s.vector else "") for s in given]
    width = max((_columns_of(a) for a, b in shown if b and len(a) <= _ONE_ROW), default=0)
    rows = []
    for a, b in shown:
        if _columns_of(a) > width or not b:
            rows.append(a)
            if b:
                rows.append(" " * (width + 4) + b)
        else:
            rows.append(a + " " * (width - _columns_of(a) + 4) + b)
    return rows


def _columns_of(text: str) -> int:
    """How wide it stands on the screen: a combining accent has no width."""
    return sum(not unicodedata.combining(c) for c in text)


def _section_text(s: Section, detail: Detail) -> list[str]:
    head = write_text(s.head)
    indent = " " * (_columns_of(head) + 2)
    out: list[str] = []
    for n, line in enumerate(s.lines):
        first, *rest = broken(line.node, TEXT_WIDTH, write_text, "(", ")")
        out += [f"  {head if n == 0 else indent[2:]} = {first}", *(f"{indent}     {r}" for r in rest)]
        note = _reason(line.rules, line.reasons, detail)
        out += [f"{indent}     {r}" for r in textwrap.wrap(note, TEXT_WIDTH, break_long_words=False)]
    if s.result.vector is not None:
        out.append(f"  {write_text(s.result.vector)}{_each_text(s.result)}")
    if s.uses:
        out.append(f"  by {', '.join(s.uses)}")
    return out


def _reason(rules: Sequence[str], reasons: Sequence[str], detail: Detail) -> str:
    words = sentences(reasons) if detail == "full" else ""
    return f"[{', '.join(rules)}] {words}".strip() if rules else words


# ---------------------------------------------------------------------- LaTeX
def _rows(left: Node, right: Node, sign: str = "=") -> list[str]:
    first, *rest = latex_lines(right)
    return [f"{write_latex(left)} &{sign} {first}", *(rf"&\qquad {r}" for r in rest)]


def _each_latex(form: Said) -> str:
    letters = ", ".join(map(write_latex, form.for_each))
    return rf" \quad \text{{{said('for each ')}}} {letters}" if form.vector and form.for_each else ""


def _relation_rows(form: Said, relation: Relation) -> list[str]:
    rows = _rows(relation.left, relation.right, relation.sign)
    if relation is form.vector:
        rows[-1] += _each_latex(form)
    return rows


def _both_rows(given: Sequence[Said]) -> list[str]:
    """Index form, and beside all of them the vector forms, or below each where they are too long for a line."""
    own = [_relation_rows(s, s.index) for s in given]
    beside = [_relation_rows(s, s.vector) if s.vector else [] for s in given]
    widths = [(len(write_text(s.index)), len(write_text(s.vector) + _each_text(s)) if s.vector else 0) for s in given]
    fits = max(a for a, _ in widths) + max(b for _, b in widths) <= _ONE_ROW and len(given) <= _ONE_PAGE
    if fits and all(len(rows) <= 1 for rows in (*own, *beside)):
        return [a if not b else rf"{a} & \qquad {b[0]}" for (a,), b in zip(own, beside, strict=True)]
    return [row for rows in zip(own, beside, strict=True) for part in rows for row in part]


def _best_rows(sections: Sequence[Section]) -> list[str]:
    return [row for s in sections for row in _relation_rows(s.result, _best(s.result))]


def _section_rows(s: Section, short_rules: bool) -> list[str]:
    """The chain of one adjoint, then its vector form."""
    rows: list[str] = []
    for n, line in enumerate(s.lines):
        first, *rest = latex_lines(line.node)
        rows += [f"{write_latex(s.head) if n == 0 else ''} &= {first}".strip(), *(rf"&\qquad {r}" for r in rest)]
        if line.rules and short_rules:
            rows[-1] += rf" && \small\text{{{escaped(', '.join(line.rules))}}}"
    if s.result.vector is not None:
        rows += _relation_rows(s.result, s.result.vector)
    return rows


def system_latex(d: Derivation, detail: Detail = "normal") -> str:
    """A gradient in named adjoints as one `aligned` block, without dollar signs."""
    shown = system_document(d, detail)
    groups = [_both_rows([*shown.forward, shown.loss]), hypothesis_rows(shown)]
    if detail == "brief":
        groups.append(_best_rows([s for s in shown.sections if not s.wanted]))
    else:
        groups += [_section_rows(s, detail == "full") for s in shown.sections]
    groups.append(_best_rows(wanted(shown)))
    blocks = [" \\\\\n".join(g) for g in groups if g]
    return "\\begin{aligned}\n" + " \\\\[1ex]\n".join(blocks) + "\n\\end{aligned}"


# ---------------------------------------------------------------------- Markdown
def system_parts(d: Derivation, detail: Detail = "normal", level: int = 2) -> MarkdownParts:
    """The parts of a gradient in named adjoints as Markdown with `$$` mathematics."""
    shown = system_document(d, detail)
    forward, backward, gradients = (subheading(level, said(t)) for t in ("Forward", "Backward", "Gradients"))
    given = [said(f"Given {declared_latex(shown)}."), ""]
    if shown.hypotheses:
        given += [said(f"Assume {assumptions(shown)}."), ""]
    given += [*forward, *aligned(_both_rows([*shown.forward, shown.loss])), ""]
    chain = [*backward]
    middle = [s for s in shown.sections if not s.wanted]
    if detail == "brief" and middle:
        chain += [*aligned(_best_rows(middle)), ""]
    if detail != "brief":
        for s in shown.sections:
            chain += [said(f"**Adjoint of** ${write_latex(s.of)}$"), "", *aligned(_section_rows(s, False)), ""]
            chain += _rules_markdown(s, detail)
            chain += [said(f"By {', '.join(f'`{u}`' for u in s.uses)}."), ""] if s.uses else []
    return MarkdownParts(
        heading=markdown_heading(shown.title, shown.name, level),
        given=tuple(given),
        chain=tuple(chain),
        result=(*gradients, *aligned(_best_rows(wanted(shown))), ""),
        remarks=markdown_remarks(shown.notes, shown.uses, shown.source),
    )


def _rules_markdown(s: Section, detail: Detail) -> list[str]:
    """The rules of a section: one sentence, or a list with a line for each line of the chain."""
    lines = [line for line in s.lines if line.rules]
    if not lines:
        return []
    shown = [", ".join(f"`{r}`" for r in line.rules) for line in lines]
    if detail == "normal":
        return [said(f"Rules: {shown[0]}."), ""]
    why = [sentences(line.reasons) for line in lines]
    told = [w + said(f" ({rules})") if w else rules for rules, w in zip(shown, why, strict=True)]
    return [*(f"{n}. {t}" for n, t in enumerate(told, 1)), ""]


# ---------------------------------------------------------------------- a section of a LaTeX document
def system_tex_body(d: Derivation, detail: Detail = "normal", label: str = "") -> str:
    """A gradient in named adjoints for a LaTeX document with amsmath; with a label, its gradients are numbered."""
    shown = system_document(d, detail)
    out = [rf"\section*{{{escaped(shown.title)}}}"] if shown.title and not label else []
    if shown.title != shown.name and not label:
        out.append(rf"\texttt{{{breakable(shown.name)}}}")
    out.append(f"\nGiven {declared_latex(shown)}.")
    if shown.hypotheses:
        out.append(f"Assume {assumptions(shown)}.\n")
    forward = _both_rows([*shown.forward, shown.loss])
    out += ["\nForward:", *_display(forward, any(r" & \qquad " in row for row in forward))]
    middle = [s for s in shown.sections if not s.wanted]
    if detail == "brief" and middle:
        out += ["Backward, from the loss:", *_display(_best_rows(middle))]
    if detail != "brief":
        for s in shown.sections:
            out.append(rf"\paragraph{{Adjoint of $\boldsymbol{{{write_latex(s.of)}}}$.}}")
            rules = [
                rf"\texttt{{{breakable(r)}}}"
                for r in dict.fromkeys(r for line in s.lines for r in line.rules)
            ]
            if detail == "normal":
                out.append("By the chain rule" + (f", with {', '.join(rules)}" if rules else "") + ",")
                out += _display(_section_rows(s, False))
            else:
                out += _display(_told_rows(s))
            if s.uses:
                out.append("By " + ", ".join(rf"\texttt{{{breakable(u)}}}" for u in s.uses) + ".")
    out.append(r"\paragraph{Gradients.}" if detail != "brief" else "Gradients:")
    if label:
        asked = [p.name for p in d.parts if p.name[1:] in {t.name for t in d.tensors}]
        rows = [r for name, s in zip(asked, wanted(shown), strict=True)
                for r in numbered(_best_rows([s]), f"{label}_{name}")]
        out += _display(rows, kind="align")
    else:
        out += _display(_best_rows(wanted(shown)))
    out += [f"\n{escaped(n)}" for n in shown.notes]
    if shown.uses:
        out.append("\nUses " + ", ".join(rf"\texttt{{{breakable(u)}}}" for u in shown.uses) + ".")
    if shown.source:
        out.append(f"\nSource: {escaped(shown.source)}")
    return "\n".join(out) + "\n"


def _told_rows(s: Section) -> list[str]:
    """The chain with a sentence before each line."""
    rows: list[str] = []
    for n, line in enumerate(s.lines):
        first, *rest = latex_lines(line.node)
        rules = ", ".join(rf"\texttt{{{breakable(r)}}}" for r in line.rules)
        words = escaped(sentences(line.reasons))
        told = f"{words} ({rules})" if words and rules else words or rules
        if n and told:
            rows.append(rf"\intertext{{{told}}}")
        rows += [f"{write_latex(s.head) if n == 0 else ''} &= {first}".strip(), *(rf"&\qquad {r}" for r in rest)]
    if s.result.vector is not None:
        rows += [r"\intertext{In vector form:}", *_relation_rows(s.result, s.result.vector)]
    return rows


def _display(rows: Sequence[str], together: bool = False, kind: str = "align*") -> list[str]:
    """A display that may break between pages, or one whose columns stand `together`."""
    kind = "aligned" if together else kind
    body: list[str] = []
    for n, row in enumerate(rows):
        end = n == len(rows) - 1 or row.startswith(r"\intertext") or rows[n + 1].startswith(r"\intertext")
        body.append(row if end else row + r" \\")
    inside = [rf"\begin{{{kind}}}", *body, rf"\end{{{kind}}}"]
    return [r"\[", *inside, r"\]"] if together else inside
