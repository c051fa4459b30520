"""A trace as Markdown: what is known, a table with one row an operation, the reasons, the totals."""

from __future__ import annotations

from ..rendering.wording import listed, said
from .axes import pattern
from .notation import cost, scalar, shown_bindings, shown_conditions, sizes, symbols
from .text import total_lines, warning_lines
from .trace import Line, Trace

_HEADS = (
    "",
    "operation",
    "formula",
    "einsum",
    "sizes before",
    "sizes after",
    "axes after",
    "parameters",
    "multiply-adds",
)


def trace_markdown(trace: Trace, heading: bool = True) -> str:
    """The trace as Markdown: a document of its own, or without a heading a part of another."""
    parts = [f"# {trace.title}", ""] if heading else []
    if shown_bindings(trace):
        parts += [said(f"Sizes: {', '.join(f'`{b}`' for b in shown_bindings(trace))}."), ""]
    if shown_conditions(trace):
        parts += [said(f"Condition: {listed(shown_conditions(trace))}."), ""]
    parts += ["| " + " | ".join(map(said, _HEADS)) + " |", "|" + "|".join(["---:", *["---"] * 6, "---:", "---:"]) + "|"]
    parts += [_row(trace, k, line) for k, line in enumerate(trace.lines, 1)]
    parts += ["", said("Why, line by line:"), ""]
    for k, line in enumerate(trace.lines, 1):
        more = "; ".join(s for s in (line.proof, scalar(trace, line)) if s)
        parts.append(
            f"{k}. **{said(line.operation)}** `{line.formula}`{said(': ')}{_plain(said(line.why))}"
            + (f"{said('. ')}`{more}`" if more else "")
            + "".join(said(f" **Warning:** {_plain(w)}") for w in line.warnings)
        )
    totals = total_lines(trace)
    parts += ["", *(f"- {said(t.strip())}" for t in totals)]
    parts += [f"- {said(w)}" for w in warning_lines(trace)]
    parts += [said(f"- note: {_plain(said(n))}") for n in trace.notes]
    return "\n".join(parts) + "\n"


def _row(trace: Trace, k: int, line: Line) -> str:
    def both(axes_of: object) -> str:
        axes = axes_of  # one array's axes
        known, named = sizes(trace, axes), symbols(axes)  # type: ignore[arg-type]
        return _code(known) if known == named else f"{_code(known)} {_code(named)}"

    before = "<br>".join(both(o.axes) for o in line.inputs)
    costs = [_code(cost(trace, c)) if c != 0 else "" for c in (line.parameters, line.multiply_adds)]
    cells = [
        str(k),
        said(line.operation),
        _code(line.formula),
        _code(line.einsum),
        before,
        both(line.result.axes),
        _code(pattern(line.result.axes)),
        *costs,
    ]
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def _plain(text: str) -> str:
    """Prose whose stars and underscores are not marks of Markdown."""
    return text.replace("*", r"\*").replace("_", r"\_").replace("<", r"\<")
