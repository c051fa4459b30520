r"""A trace in LaTeX: one formula, an array with a row an operation, for KaTeX and for amsmath; and a document of its
own.

In the formula the reasons are left out, which no display has room for; the document has them, one item an operation.
"""

from __future__ import annotations

import re

from ..rendering import latex as expression_latex
from ..rendering.names import written
from ..rendering.prose import escaped
from .notation import (
    cost_latex,
    formula_latex,
    number_latex,
    scalar_latex,
    shown_conditions,
    sizes_latex,
    symbols_latex,
)
from .trace import Line, Trace


def trace_latex(trace: Trace) -> str:
    r"""The trace as one formula: operations, einsums, sizes before and after, parameters, multiply-adds, totals."""
    rows = [
        r"\text{operation} & \text{formula} & \text{einsum} & \text{sizes} & \text{parameters} & \text{multiply-adds}",
        r"\hline",
    ]
    for line in trace.lines:
        costs = [cost_latex(trace, c) if c != 0 else "" for c in (line.parameters, line.multiply_adds)]
        rows.append(
            " & ".join(
                [_words(line.operation), _formula(trace, line), einsum_latex(line.einsum), _change(trace, line), *costs]
            )
        )
    totals = [cost_latex(trace, c) if c != 0 else "" for c in (trace.parameters, trace.multiply_adds)]
    rows += [r"\hline", rf"\text{{total}} & {_known(trace)} & & & {totals[0]} & {totals[1]}"]
    body = " \\\\\n".join(rows).replace("\\hline \\\\\n", "\\hline\n")
    return "\\begin{array}{llllll}\n" + body + "\n\\end{array}"


def _words(text: str) -> str:
    return rf"\text{{{text}}}"


def _formula(trace: Trace, line: Line) -> str:
    more = scalar_latex(trace, line)
    return formula_latex(line.formula) + (rf", \quad {more}" if more else "")


def einsum_latex(einsum: str) -> str:
    r"""An einsum in LaTeX: letters upright and one arrow."""
    inputs, arrow, output = einsum.partition("->")
    return rf"\mathrm{{{inputs}}} \to \mathrm{{{output}}}" if arrow else ""


def _change(trace: Trace, line: Line) -> str:
    before = r" \times ".join(sizes_latex(trace, o.axes) for o in line.inputs)
    after = sizes_latex(trace, line.result.axes)
    return rf"{before} \to {after}" if before else after


def _known(trace: Trace) -> str:
    """The conditions, and what is known of sizes."""
    found = [f"{expression_latex(k)} = {expression_latex(v)}" for k, v in trace.definitions.items()]
    return r",\ ".join(found)


def trace_tex(trace: Trace) -> str:
    """A document that compiles by itself with amsmath: one item an operation, with its reason."""
    lines = [
        r"\documentclass[11pt]{article}",
        r"\usepackage{amsmath}",
        r"\sloppy",
        r"\begin{document}",
        rf"\section*{{{_prose(trace.title)}}}",
    ]
    known = [f"${written(str(k)).latex} = {number_latex(v)}$" for k, v in trace.bindings.items()]
    if known:
        lines.append(f"Sizes: {', '.join(known)}.\n")
    if trace.conditions:
        lines.append(f"Condition: {_prose('; '.join(shown_conditions(trace)))}.\n")
    lines.append(r"\begin{enumerate}")
    for line in trace.lines:
        lines.append(rf"\item \textbf{{{_prose(line.operation)}}}: ${_formula(trace, line)}$")
        lines.append(
            rf"\[ {_change(trace, line)} \]"
            if not trace.is_concrete
            else rf"\[ {_change(trace, line)} \]" + rf"\[ {_symbolic(line)} \]"
        )
        facts = [
            rf"einsum ${einsum_latex(line.einsum)}$" if line.einsum else "",
            f"parameters ${cost_latex(trace, line.parameters)}$" if line.parameters != 0 else "",
            f"multiply-adds ${cost_latex(trace, line.multiply_adds)}$" if line.multiply_adds != 0 else "",
        ]
        told = [f for f in facts if f]
        if told:
            lines.append("; ".join(told) + ".")
        lines.append(_prose(line.why[:1].upper() + line.why[1:]) + ("." if not line.why.endswith((".", ")")) else ""))
        lines += [rf"\textbf{{Warning:}} {_prose(w)}" for w in line.warnings]
    lines.append(r"\end{enumerate}")
    if trace.parameters != 0:
        lines.append(f"Parameters: ${cost_latex(trace, trace.parameters)}$.\n")
    if trace.multiply_adds != 0:
        lines.append(f"Multiply-adds: ${cost_latex(trace, trace.multiply_adds)}$.\n")
    lines += [_prose(n[:1].upper() + n[1:]) + ".\n" for n in (*trace.warnings, *trace.notes)]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _symbolic(line: Line) -> str:
    before = r" \times ".join(symbols_latex(o.axes) for o in line.inputs)
    after = symbols_latex(line.result.axes)
    return rf"{before} \to {after}" if before else after


_NAME = re.compile(r"(?<!\w)[A-Za-z]_[a-z]{2,}(?!\w)")


def _prose(sentence: str) -> str:
    """A sentence for LaTeX's text mode, its names of sizes (d_model) as mathematics."""
    found, place = [], 0
    for match in _NAME.finditer(sentence):
        found += [escaped(sentence[place : match.start()]), f"${written(match[0]).latex}$"]
        place = match.end()
    return "".join([*found, escaped(sentence[place:])])
