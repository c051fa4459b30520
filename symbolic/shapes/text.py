"""A trace for the terminal: one line an operation, with its einsum, its cost and the reason below it."""

from __future__ import annotations

import textwrap

import sympy as sp

from .axes import pattern
from .notation import cost, scalar, shown_bindings, shown_conditions, sizes
from .trace import Line, Trace

_WIDTH = 116
_INDENT = " " * 5


def trace_text(trace: Trace) -> str:
    """The whole trace as plain text."""
    lines = [
        trace.title,
        *_block("sizes", shown_bindings(trace), ", "),
        *_block("condition", shown_conditions(trace), "; "),
        "",
    ]
    rows = [(str(k), line.operation, line.formula, _change(trace, line)) for k, line in enumerate(trace.lines, 1)]
    widths = [max(len(r[c]) for r in rows) for c in range(3)]
    for row, line in zip(rows, trace.lines, strict=True):
        head = f"{row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}"
        lines.append(head.rstrip())
        lines += _details(trace, line)
    lines += ["", *total_lines(trace)]
    for sentence in (*warning_lines(trace), *(f"note: {n}" for n in trace.notes)):
        lines += textwrap.wrap(sentence, _WIDTH, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def _block(word: str, items: list[str], between: str) -> list[str]:
    return (
        textwrap.wrap(f"{word}: {between.join(items)}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
        if items
        else []
    )


def _change(trace: Trace, line: Line) -> str:
    """Sizes before and after, and the same as names."""
    before = " × ".join(sizes(trace, o.axes) for o in line.inputs)
    after = sizes(trace, line.result.axes)
    return f"{before} → {after}" if before else after


def _details(trace: Trace, line: Line) -> list[str]:
    names = ", ".join(pattern(o.axes) for o in line.inputs)
    facts = [f"axes {names} → {pattern(line.result.axes)}" if names else f"axes {pattern(line.result.axes)}"]
    if line.einsum:
        facts.append(f"einsum {line.einsum}")
    facts += [s for s in (line.proof, scalar(trace, line)) if s]
    given = [o for o in line.operands if o.parameter]
    costs = []
    if line.parameters != 0:
        arrays = ", ".join(f"{o.label} {sizes(trace, o.axes)}" for o in given)
        costs.append(f"parameters {cost(trace, line.parameters)}" + (f" ({arrays})" if arrays else ""))
    if line.multiply_adds != 0:
        costs.append(f"multiply-adds {cost(trace, line.multiply_adds)}")
    found: list[str] = []
    for part in (
        "; ".join(facts),
        "; ".join(costs),
        f"why: {line.why}" if line.why else "",
        *(f"WARNING: {w}" for w in line.warnings),
    ):
        if part:
            found += textwrap.wrap(
                part,
                _WIDTH,
                initial_indent=_INDENT,
                subsequent_indent=_INDENT + "  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return found


def total_lines(trace: Trace) -> list[str]:
    """The totals, and what part of them grows with the product of the lengths."""
    found = []
    if trace.parameters != 0:
        found.append(f"total parameters: {cost(trace, trace.parameters)}")
    if trace.multiply_adds != 0:
        found.append(f"total multiply-adds: {cost(trace, trace.multiply_adds)}")
        products = sp.Add(*(line.multiply_adds for line in trace.lines if line.operation == "batched matmul"))
        if products not in (0, trace.multiply_adds):
            found.append(f"  of these in scores and weighted sum: {cost(trace, products)}")
    return found


def warning_lines(trace: Trace) -> list[str]:
    """At the end, where the warnings stand: they are told in full at their lines."""
    at = [str(k) for k, line in enumerate(trace.lines, 1) if line.warnings]
    return [f"WARNING: the shapes fit, and something is wrong: see line {', '.join(at)}"] if at else []
