"""Lines that all forms of a derivation share: what is given, what is assumed, reasons, and blocks of LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..derivations.model import Detail
from .document import PHASE_WORDS, Line
from .latex import SIGNS as LATEX_SIGNS
from .latex import write as write_latex
from .lines import broken
from .prose import escaped, plain_markdown, sentences, space
from .text import write as write_text
from .tree import Node, Relation
from .wording import said

TEXT_WIDTH = 92
LATEX_WIDTH = 62


class Given(Protocol):
    """What a document says before its chain."""

    @property
    def declared(self) -> tuple[tuple[Node, tuple[Node, ...], str], ...]: ...

    @property
    def hypotheses(self) -> tuple[tuple[Node, tuple[Node, ...]], ...]: ...


def declared_text(shown: Given) -> str:
    parts = []
    for name, sizes, entries in shown.declared:
        shape = " × ".join(write_text(n) for n in sizes)
        power = "" if not sizes else f"^{shape}" if len(shape) == 1 else f"^({shape})"
        where, _, words = space(entries)
        parts.append(f"{write_text(name)} ∈ {where}{power}" + (f" [{words}]" if words else ""))
    return ", ".join(parts)


def hypothesis_text(relation: Node, letters: Sequence[Node]) -> str:
    return write_text(relation) + (f"   for all {', '.join(write_text(x) for x in letters)}" if letters else "")


def reason_text(line: Line, detail: Detail) -> str:
    if detail == "brief" or not (line.rules or line.reasons):
        return ""
    why = sentences(line.reasons) or PHASE_WORDS.get(line.phase, "")
    return f"[{', '.join(line.rules)}] {why}".strip() if line.rules else why


def latex_lines(node: Node) -> list[str]:
    return broken(node, LATEX_WIDTH, write_latex, r"\Bigl(", r"\Bigr)")


def hypothesis_rows(shown: Given) -> list[str]:
    """Each hypothesis with an alignment mark at its sign."""
    rows = []
    for relation, letters in shown.hypotheses:
        assert isinstance(relation, Relation)
        row = f"{write_latex(relation.left)} &{LATEX_SIGNS[relation.sign]} {write_latex(relation.right)}"
        rows.append(
            row + (rf" \quad \text{{{said('for all ')}}} {', '.join(map(write_latex, letters))}" if letters else "")
        )
    return rows


def assumptions(shown: Given) -> str:
    return said(", ").join(f"${row.replace('&', '')}$" for row in hypothesis_rows(shown))


def reason_markdown(line: Line, detail: Detail) -> str:
    if detail == "brief" or not (line.rules or line.reasons):
        return ""
    why = sentences(line.reasons) or said(PHASE_WORDS.get(line.phase, ""))
    return why + (said(f" ({', '.join(f'`{r}`' for r in line.rules)})") if line.rules else "")


def block(latex: str) -> list[str]:
    return ["$$", latex, "$$"]


def aligned(rows: Sequence[str]) -> list[str]:
    return block(aligned_latex(rows))


def aligned_latex(rows: Sequence[str]) -> str:
    if len(rows) == 1:
        return rows[0].replace("&", "", 1)
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def numbered(rows: Sequence[str], label: str) -> list[str]:
    """Rows of ``align`` of which the last alone has a number, with its label."""
    said = [row if row.startswith(r"\intertext") else row + r" \notag" for row in rows]
    return [*said[:-1], rf"{rows[-1]} \label{{{label}}}"]


def declared_latex(shown: Given, restricted: bool = False) -> str:
    """The declared arrays; with `restricted` only those that are not any real numbers."""
    parts = []
    for name, sizes, entries in shown.declared:
        if restricted and not entries:
            continue
        power = "^{" + r" \times ".join(write_latex(n) for n in sizes) + "}" if sizes else ""
        _, where, words = space(entries)
        told = escaped(words) if said(words) == words else said(words)  # TeX escapes are for English
        parts.append(rf"${write_latex(name)} \in {where}{power}$" + (said(f" ({told})") if told else ""))
    return said(", ").join(parts)


@dataclass(frozen=True)
class MarkdownParts:
    """A derivation as lines of Markdown, in the order in which a page has them."""

    heading: tuple[str, ...]
    given: tuple[str, ...]  # arrays, definitions, hypotheses
    chain: tuple[str, ...]
    result: tuple[str, ...]  # the vector form, or the gradients that were asked for
    remarks: tuple[str, ...]  # notes, theorems used, source

    def markdown(self) -> str:
        lines = (*self.heading, *self.given, *self.chain, *self.result, *self.remarks)
        return "\n".join(lines).rstrip() + "\n"


def markdown_heading(title: str, name: str, level: int) -> tuple[str, ...]:
    """The title as a heading of the level, and the name where it is another."""
    heading = (f"{'#' * level} {plain_markdown(said(title))}", "") if title else ()
    return heading + ((f"`{name}`", "") if title != name else ())


def subheading(level: int, title: str) -> tuple[str, ...]:
    """A heading below one of the level; bold words below level 0, in somebody else's section."""
    return (f"{'#' * (level + 1)} {title}" if level else f"**{title}**", "")


def markdown_remarks(notes: Sequence[str], uses: Sequence[str], source: str) -> tuple[str, ...]:
    """A list of notes, theorems used, and the source."""
    out = [f"- {plain_markdown(said(n))}" for n in notes]
    if uses:
        out.append(said("- Uses " + said(", ").join(f"`{u}`" for u in uses) + "."))
    if source:
        out.append(said(f"- Source: {plain_markdown(source)}"))
    return tuple(out)
