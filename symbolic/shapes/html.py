"""A trace for a notebook: what is known of the sizes, a table with one row an operation, totals, and the reasons."""

from __future__ import annotations

from ..rendering.html import block, bullets, escaped, folded, paragraph, table
from .axes import pattern
from .notation import cost, scalar, shown_bindings, shown_conditions, sizes
from .text import total_lines, warning_lines
from .trace import Line, Trace

_HEADS = ("", "operation", "formula", "sizes", "axes", "parameters", "multiply-adds")
_COSTS = 5  # the first column that may be empty in every row
_WRONG = "#d64545"


def trace_html(trace: Trace) -> str:
    """The trace as one table; reasons unfold, warnings do not need to be unfolded."""
    known, needed = ", ".join(shown_bindings(trace)), "; ".join(shown_conditions(trace))
    reasons = [(str(n), line.operation, _reason(trace, line)) for n, line in enumerate(trace.lines, 1)]
    warnings = [f"line {n}: {w}" for n, line in enumerate(trace.lines, 1) for w in line.warnings]
    return block(
        f"<p><strong>{escaped(trace.title)}</strong></p>",
        paragraph(f"sizes: {known}") if known else "",
        paragraph(f"condition: {needed}") if needed else "",
        block(*map(paragraph, (*warning_lines(trace), *warnings)), edge=_WRONG) if warnings else "",
        _operations(trace),
        bullets(t.strip() for t in total_lines(trace)),
        folded("Why, line by line", table((), reasons)),
        folded("Notes", "".join(map(paragraph, trace.notes))) if trace.notes else "",
    )


def _operations(trace: Trace) -> str:
    rows = [_row(trace, n, line) for n, line in enumerate(trace.lines, 1)]
    kept = [n for n in range(len(_HEADS)) if n < _COSTS or any(row[n] for row in rows)]
    return table([_HEADS[n] for n in kept], [[row[n] for n in kept] for row in rows], code=(2, 3, 4))


def _row(trace: Trace, number: int, line: Line) -> tuple[str, ...]:
    before = " × ".join(sizes(trace, o.axes) for o in line.inputs)
    after = sizes(trace, line.result.axes)
    costs = (cost(trace, c) if c != 0 else "" for c in (line.parameters, line.multiply_adds))
    return (f"{number}{' ⚠' if line.warnings else ''}", line.operation, line.formula,
            f"{before} → {after}" if before else after, pattern(line.result.axes), *costs)


def _reason(trace: Trace, line: Line) -> str:
    facts = [f"einsum {line.einsum}" if line.einsum else "", line.proof, scalar(trace, line)]
    return "\n".join(s for s in (line.why, "; ".join(f for f in facts if f)) if s)
