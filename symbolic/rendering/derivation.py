r"""A derivation in each output form: text for the terminal, LaTeX for a page or a notebook, Markdown, a standalone
.tex file.

All forms show the same `Document`. LaTeX for browsers is one `aligned` block with short reasons; Markdown and the
standalone file have a sentence before each line, as a textbook does.
"""

from __future__ import annotations

import re
import textwrap
import zlib
from collections.abc import Sequence

from ..derivations.model import Derivation, Detail
from .document import PHASE_WORDS, Document, Line, document
from .latex import write as write_latex
from .lines import broken
from .pieces import (
    LATEX_WIDTH,
    TEXT_WIDTH,
    MarkdownParts,
    aligned,
    assumptions,
    block,
    declared_latex,
    declared_text,
    hypothesis_rows,
    hypothesis_text,
    latex_lines,
    markdown_heading,
    markdown_remarks,
    numbered,
    reason_markdown,
    reason_text,
)
from .prose import breakable, escaped, sentences
from .system_forms import system_latex, system_parts, system_tex_body, system_text
from .text import write as write_text
from .tree import Node, Relation
from .wording import said

_LONGEST_LEFT = 22


# ---------------------------------------------------------------------- text
def derivation_text(d: Derivation, detail: Detail = "normal") -> str:
    """A derivation as plain text, each line with its rules and reason."""
    if d.parts:
        return system_text(d, detail)
    shown = document(d, detail)
    out = [shown.title if shown.title == shown.name else f"{shown.title} ({shown.name})", ""] if shown.title else []
    rows = [
        ("given", declared_text(shown)),
        *(("where", write_text(r)) for r in shown.definitions),
        *(("assuming", hypothesis_text(*h)) for h in shown.hypotheses),
    ]
    previous = ""
    for label, content in rows:
        if content:
            out.append(f"  {label if label != previous else '':<9} {content}")
            previous = label
    out += ["", "  " + write_text(shown.left)]
    for line in shown.lines:
        first, *rest = broken(line.node, TEXT_WIDTH, write_text, "(", ")")
        out += [f"    = {first}", *(f"        {r}" for r in rest)]
        why = reason_text(line, detail)
        if why:
            out += [f"          {r}" for r in textwrap.wrap(why, TEXT_WIDTH, break_long_words=False)]
    if shown.vector is not None:
        out += ["", "  In vector form:", "  " + _vector(shown.vector, write_text) + _each_text(shown)]
    out += [""] if shown.notes or shown.uses or shown.source else []
    rows = [*(("note", n) for n in shown.notes), ("uses", ", ".join(shown.uses)), ("source", shown.source)]
    for label, content in rows:
        if content:
            out += textwrap.wrap(f"{label}: {content}", TEXT_WIDTH + 8, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(out) + "\n"


def _vector(vector: tuple[Node | None, Node], write: object) -> str:
    left, right = vector
    return write(right if left is None else Relation(left, "=", right))  # type: ignore[operator]


def _each_text(shown: Document) -> str:
    return f"   (for each {', '.join(map(write_text, shown.for_each))})" if shown.for_each else ""


def _each_latex(shown: Document) -> str:
    letters = ", ".join(map(write_latex, shown.for_each))
    return rf" \quad \text{{{said('for each ')}}} {letters}" if shown.for_each else ""


# ---------------------------------------------------------------------- LaTeX
def _chain_rows(shown: Document) -> list[tuple[list[str], Line | None]]:
    """The rows of the chain, each as its aligned lines and the step it shows; a long left side has a row of its own."""
    rows: list[tuple[list[str], Line | None]] = []
    left = write_latex(shown.left)
    if len(write_text(shown.left)) > _LONGEST_LEFT:
        rows.append(([r"&\phantom{{}={}} " + part for part in latex_lines(shown.left)], None))
        left = ""
    for line in shown.lines:
        first, *rest = latex_lines(line.node)
        rows.append(([f"{left} &= {first}".strip(), *(rf"&\qquad {r}" for r in rest)], line))
        left = ""
    return rows


def _definition_rows(shown: Document) -> list[str]:
    rows = []
    for definition in shown.definitions:
        assert isinstance(definition, Relation)
        first, *rest = latex_lines(definition.right)
        rows += [f"{write_latex(definition.left)} &:= {first}", *(rf"&\qquad {r}" for r in rest)]
    return rows


def derivation_latex(d: Derivation, detail: Detail = "normal") -> str:
    r"""A derivation as one `aligned` block (without dollar signs): definitions, the chain with reasons, vector form."""
    if d.parts:
        return system_latex(d, detail)
    shown = document(d, detail)
    rows = [*_definition_rows(shown), *hypothesis_rows(shown)]
    if rows:
        rows[-1] += r" \\[1ex]"
        rows[:-1] = [r + r" \\" for r in rows[:-1]]
    chain = []
    for lines, line in _chain_rows(shown):
        lines = list(lines)
        word = (
            ""
            if line is None or detail == "brief"
            else (
                ", ".join(line.rules)
                if detail == "full"
                else PHASE_WORDS.get(line.phase, "").lower()
                if line.rules
                else ""
            )
        )
        if word:
            lines[-1] += rf" && \small\text{{{escaped(word)}}}"
        chain += lines
    rows.append(" \\\\\n".join(chain))
    if shown.vector is not None:
        rows[-1] += r" \\[1ex]"
        left, right = shown.vector
        opening = f"{write_latex(left)} &= " if left is not None else "&"
        rows.append(opening + " ".join(latex_lines(right)) + _each_latex(shown))
    return "\\begin{aligned}\n" + "\n".join(rows) + "\n\\end{aligned}"


def repr_latex(d: Derivation, detail: Detail = "normal") -> str:
    """What a notebook shows: the `aligned` block between dollar signs."""
    return f"$$\n{derivation_latex(d, detail)}\n$$"


# ---------------------------------------------------------------------- Markdown
def derivation_markdown(d: Derivation, detail: Detail = "normal", level: int = 2) -> str:
    """A derivation as Markdown with `$$` mathematics; `level` is that of its heading."""
    return derivation_parts(d, detail, level).markdown()


def derivation_parts(d: Derivation, detail: Detail = "normal", level: int = 2) -> MarkdownParts:
    """The parts of that Markdown, for a page that puts them in places of its own."""
    if d.parts:
        return system_parts(d, detail, level)
    shown = document(d, detail)
    given: list[str] = []
    if shown.declared:
        given += [said(f"Given {declared_latex(shown)}."), ""]
    if shown.definitions:
        given += [*aligned(_definition_rows(shown)), ""]
    if shown.hypotheses:
        given += [said(f"Assume {assumptions(shown)}."), ""]
    result: list[str] = []
    if shown.vector is not None:
        result = [said("In vector form:"), "", *block(_vector(shown.vector, write_latex) + _each_latex(shown)), ""]
    return MarkdownParts(
        heading=markdown_heading(shown.title, shown.name, level),
        given=tuple(given),
        chain=tuple(_chain_markdown(shown, detail)),
        result=tuple(result),
        remarks=markdown_remarks(shown.notes, shown.uses, shown.source),
    )


def _chain_markdown(shown: Document, detail: Detail) -> list[str]:
    """The lines of the chain, a numbered sentence before each that has one."""
    out: list[str] = []
    left = write_latex(shown.left)
    for number, line in enumerate(shown.lines, 1):
        reason = reason_markdown(line, detail)
        if reason:
            out += [f"{number}. {reason}", ""]
        lines = latex_lines(line.node)
        if number == 1 and len(write_text(shown.left)) + len(write_text(line.node)) <= LATEX_WIDTH + _LONGEST_LEFT:
            out += [*aligned([f"{left} &= {lines[0]}", *(rf"&\qquad {r}" for r in lines[1:])]), ""]
        else:
            opening = [r"&\phantom{{}={}} " + x for x in latex_lines(shown.left)] if number == 1 else []
            out += [*aligned([*opening, f"&= {lines[0]}", *(rf"&\qquad {r}" for r in lines[1:])]), ""]
    return out


# ---------------------------------------------------------------------- a standalone file
PREAMBLE = r"""\documentclass{article}
\usepackage{amsmath}
\allowdisplaybreaks
\setlength{\oddsidemargin}{-10pt}
\setlength{\textwidth}{470pt}
\setlength{\topmargin}{-30pt}
\setlength{\textheight}{650pt}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\emergencystretch=3em
\begin{document}
"""


def derivation_tex_body(d: Derivation, detail: Detail = "normal", label: str = "") -> str:
    """A derivation for a LaTeX document with amsmath: a section with a sentence before each line.

    With a label it is a part of somebody's section: without a heading, its result and vector form numbered.
    """
    if d.parts:
        return system_tex_body(d, detail, label)
    shown = document(d, detail)
    out = [rf"\section*{{{escaped(shown.title)}}}"] if shown.title and not label else []
    if shown.title != shown.name and not label:
        out.append(rf"\texttt{{{breakable(shown.name)}}}")
    if shown.declared:
        out.append(f"\nGiven {declared_latex(shown)}.")
    if shown.definitions:
        out.append("\\begin{align*}\n" + " \\\\\n".join(_definition_rows(shown)) + "\n\\end{align*}")
    if shown.hypotheses:
        out.append(f"Assume {assumptions(shown)}.\n")
    chain: list[str] = []
    for lines, line in _chain_rows(shown):
        if line is not None and chain and detail != "brief" and (line.rules or line.reasons):
            why = escaped(sentences(line.reasons) or PHASE_WORDS.get(line.phase, ""))
            rules = ", ".join(rf"\texttt{{{breakable(r)}}}" for r in line.rules)
            chain.append(rf"\intertext{{{why}{f' ({rules})' if rules else ''}}}")
        chain += lines
    if label:
        chain = numbered(chain, label)
    chain = [x if x.startswith(r"\intertext") else x + r" \\" for x in chain]
    chain[-1] = chain[-1].removesuffix(r" \\")
    first = shown.lines[0]
    if detail != "brief" and len(write_text(shown.left)) <= _LONGEST_LEFT and (first.rules or first.reasons):
        rules = ", ".join(rf"\texttt{{{breakable(r)}}}" for r in first.rules)
        out.append(
            "\n"
            + escaped(sentences(first.reasons) or PHASE_WORDS.get(first.phase, ""))
            + (f" ({rules})" if rules else "")
        )
    kind = "align" if label else "align*"
    out.append(f"\\begin{{{kind}}}\n" + "\n".join(chain) + f"\n\\end{{{kind}}}")
    if shown.vector is not None:
        vector = _vector(shown.vector, write_latex) + _each_latex(shown)
        out.append("In vector form:")
        out.append(rf"\begin{{equation}} \label{{{label}_vector}} {vector} \end{{equation}}" if label
                   else rf"\[ {vector} \]")
    out += [f"\n{escaped(n)}" for n in shown.notes]
    if shown.uses:
        out.append("\nUses " + ", ".join(rf"\texttt{{{breakable(u)}}}" for u in shown.uses) + ".")
    if shown.source:
        out.append(f"\nSource: {escaped(shown.source)}")
    return "\n".join(out) + "\n"


def derivation_tex(derivations: Derivation | Sequence[Derivation], detail: Detail = "normal") -> str:
    """A standalone LaTeX file (amsmath only) of one derivation or several."""
    several = [derivations] if isinstance(derivations, Derivation) else list(derivations)
    return PREAMBLE + "\n".join(derivation_tex_body(d, detail) for d in several) + "\\end{document}\n"


def tex_label(d: Derivation) -> str:
    """What a derivation's labels begin with: ``eq:`` and the theorem's name.

    A question has no such name: its label is made of what is asked and of the statement, so that two questions of one
    document do not clash and the same one keeps its label.
    """
    if re.fullmatch(r"\w+", d.name, re.ASCII):
        return f"eq:{d.name}"
    word = re.match(r"[A-Za-z-]+", d.title)
    shapes = [f"{t.name}:{t.shape}:{t.domain.name}" for t in d.tensors]
    statement = [write_text(document(d, "brief").left), *shapes, *map(str, d.hypotheses), d.title]
    return f"eq:{word[0].lower() if word else 'statement'}_{zlib.crc32(repr(statement).encode()):08x}"


def derivation_tex_input(d: Derivation, detail: Detail = "normal") -> str:
    r"""A derivation that a LaTeX document takes with ``\input``: no preamble, its results numbered and labelled."""
    label = tex_label(d)
    body = derivation_tex_body(d, detail, label)
    labels = re.findall(r"\\label\{([^}]*)\}", body)
    head = [
        f"% {' '.join(d.title.split())}" + (f" ({d.name})" if d.name and d.name != d.title else "") + ", by Lemmata.",
        r"% Needs \usepackage{amsmath} in the preamble; take it with \input.",
        *(rf"%   \eqref{{{x}}}" for x in labels),
        r"\begingroup\allowdisplaybreaks\emergencystretch=3em",
    ]
    return "\n".join(head) + "\n" + body.lstrip("\n") + "\\par\\endgroup\n"
