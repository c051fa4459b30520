r"""HTML for a notebook: derivations, verdicts and tables, safe and without a script.

Everything from outside (titles, names, values) is escaped before a tag of ours is put around it. Formulas are LaTeX
between dollar signs, which the notebook typesets. Colours only mark an edge and the text keeps the notebook's own, so
that it is readable on a light and on a dark page; a verdict is always told in words too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from ..derivations.model import Counterexample, Derivation, Detail, Verdict
from .derivation import derivation_parts
from .verdict import headline, plain

_EDGES = {"proved": "#2e9e4f", "refuted": "#d64545", "supported": "#c08a00", "unsupported": "#8a63c9"}
_SAID = {True: "✓ passed", False: "✗ failed", None: "– not run"}
_MARKS = {"proved": "✓", "refuted": "✗", "supported": "≈", "unsupported": "?"}
_CELL = "text-align:left;vertical-align:top"
_NO_FORMULAS = "tex2jax_ignore mathjax_ignore"  # MathJax leaves this alone: version 2, and 3
_MARKS_OF_TEXT = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_FORMULAS = re.compile(r"(\$[^$]+\$)")
_WITH_FORMULAS = ("Given ", "Assume ", "**Adjoint of** ")


def escaped(value: object) -> str:
    """Text that no browser takes for a tag, and no typesetter of the page for a formula."""
    text = html.escape(str(value))
    return f'<span class="{_NO_FORMULAS}">{text}</span>' if re.search(r"[$\\]", text) else text


def block(*parts: str, edge: str = "") -> str:
    """One display; with an `edge` of that colour."""
    style = f' style="border-left:4px solid {edge};padding-left:0.8em;margin:0.6em 0"' if edge else ""
    return f'<div class="lemmata"{style}>' + "\n".join(p for p in parts if p) + "</div>"


def paragraph(value: str) -> str:
    """A paragraph of text, escaped."""
    return f"<p>{escaped(value)}</p>"


def folded(summary: str, body: str) -> str:
    """What unfolds on a click; `body` is HTML."""
    return f"<details><summary>{escaped(summary)}</summary>\n{body}\n</details>"


def bullets(items: Iterable[str]) -> str:
    """A list of texts; nothing for no items."""
    written = "".join(f"<li>{_inline(i)}</li>" for i in items)
    return f"<ul>{written}</ul>" if written else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], code: Sequence[int] = (),
          unbroken: Sequence[int] = ()) -> str:
    """A table of texts, escaped; the columns `code` are set as code, with their spaces where they have several lines,
    and the columns `unbroken` in one line. Without heads the first column heads the rows.
    """

    def cell(n: int, text: str, tag: str) -> str:
        inner = escaped(text).replace("\n", "<br>")
        if n in code and text:
            space = ' style="white-space:pre"' if "\n" in text else ""
            inner = f"<code{space}>{escaped(text)}</code>"
        return f'<{tag} style="{_CELL}{";white-space:nowrap" if n in unbroken else ""}">{inner}</{tag}>'

    top = "<tr>" + "".join(cell(-1, h, "th") for h in heads) + "</tr>\n" if heads else ""
    body = "\n".join("<tr>" + "".join(cell(n, c, "th" if not heads and n == 0 else "td") for n, c in enumerate(row))
                     + "</tr>" for row in rows)
    return f"<table>\n{top}{body}\n</table>" if top or body else ""


# ---------------------------------------------------------------------- verdicts
def verdict_html(v: Verdict, title: str = "", counterexample: Sequence[Sequence[str]] | None = None,
                 brief: bool = False) -> str:
    """A verdict in words, a table of its evidence, and the counterexample where there is one; `brief` folds evidence.

    >>> from lemmata.symbolic.derivations.model import Evidence
    >>> shown = verdict_html(Verdict("refuted", (Evidence("balls", False, "1 < 2"),)))
    >>> "✗ refuted" in shown, "1 &lt; 2" in shown, "#2e9e4f" in shown
    (True, True, False)
    """
    evidence = [(e.kind, _SAID[e.passed], e.detail) for e in v.evidence]
    if counterexample is None and v.counterexample is not None:
        counterexample = counterexample_rows(v.counterexample)
    told = table(("evidence", "", "detail"), evidence, unbroken=(0, 1)) if evidence else ""
    return block(
        f"<p><strong>{_MARKS[v.verdict]} {escaped(v.verdict)}</strong>: {escaped(title or headline(v))}</p>",
        paragraph(f"reason: {v.reason}") if v.reason else "",
        "<p>counterexample:</p>" + table((), counterexample, code=(1,)) if counterexample else "",
        folded("Evidence", told) if brief and told else told,
        bullets(v.notes),
        edge=_EDGES[v.verdict],
    )


def counterexample_rows(c: Counterexample) -> list[tuple[str, str]]:
    """What a counterexample says: sizes, inputs, both values at the index where they differ."""
    rows = [("sizes", ", ".join(f"{k} = {v}" for k, v in c.sizes.items()))] if c.sizes else []
    rows += [(str(name), str(plain(value))) for name, value in c.inputs.items()]
    rows += [("index", f"[{', '.join(map(str, c.index))}]")] if c.index else []
    rows += [("left", c.left), ("right", c.right)]
    return [*rows, ("left − right", c.residual)] if c.residual else rows


# ---------------------------------------------------------------------- derivations
def derivation_html(d: Derivation, verdict: Verdict | None = None) -> str:
    """A derivation: what is given, the result, the steps folded away, notes; and the verdict, if there is one."""
    brief, normal = (derivation_parts(d, detail) for detail in _DETAILS)
    name = f" <code>{escaped(d.name)}</code>" if d.name and d.name != d.title else ""
    head = f"<p><strong>{escaped(d.title)}</strong>{name}</p>" if d.title else name
    steps = "adjoint by adjoint" if d.parts else "step by step"
    return block(
        head,
        from_markdown(brief.given),
        from_markdown((*brief.chain, *brief.result)),
        folded(f"The derivation, {steps}", from_markdown(normal.chain)),
        from_markdown(brief.remarks),
        "" if verdict is None else verdict_html(verdict),
    )


_DETAILS: tuple[Detail, Detail] = ("brief", "normal")


def from_markdown(lines: Sequence[str]) -> str:
    """The Markdown of a derivation as HTML.

    Of the language it knows what is written there: headings, `$$` blocks, lists with a sentence an item, code, bold,
    and formulas in a few kinds of lines; all else is text.
    """
    out: list[str] = []
    rest = iter(lines)
    for line in rest:
        if line == "$$":
            formula = []
            for part in rest:
                if part == "$$":
                    break
                formula.append(part)
            out.append(f"<div>$$\n{html.escape(chr(10).join(formula))}\n$$</div>")
        elif line.startswith("#"):
            out.append(f"<p><strong>{_inline(line.lstrip('# '))}</strong></p>")
        elif line.startswith("- "):
            out.append(f"<ul><li>{_inline(line[2:])}</li></ul>")
        elif line.startswith(_WITH_FORMULAS):
            parts = _FORMULAS.split(line)
            out.append(f"<p>{''.join(html.escape(p) if n % 2 else _inline(p) for n, p in enumerate(parts))}</p>")
        elif line:
            out.append(f"<p>{_inline(line)}</p>")
    return "\n".join(out).replace("</ul>\n<ul>", "\n")


def _inline(text: str) -> str:
    """Code and bold of a line of Markdown, and everything escaped."""
    found, at = [], 0
    for m in _MARKS_OF_TEXT.finditer(text):
        code, bold = m.groups()
        found.append(escaped(text[at:m.start()]))
        found.append(f"<code>{escaped(code)}</code>" if code else f"<strong>{escaped(bold)}</strong>")
        at = m.end()
    return "".join(found) + escaped(text[at:])
