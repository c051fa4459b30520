"""What a trace is: one line an operation, with the axes before and after, and what it costs.

A line is symbolic. What is known of the sizes (n = 10, d_k = d_model/h) stands beside the lines as bindings, so that
one trace is read both ways: `Trace.sizes` gives an axis list as numbers where they are known, `Trace.cost` a count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import sympy as sp

from .axes import Axes, Axis

if TYPE_CHECKING:
    from ..rendering.notebook import Pretty
    from .named import NamedArray


@dataclass(frozen=True)
class Operand:
    """An array as a line shows it: its label and its axes."""

    label: str
    axes: Axes
    parameter: bool = False


@dataclass(frozen=True)
class Line:
    """One operation.

    `parameters` are the trained numbers that it brings in; `multiply_adds` counts multiplications that are each
    followed by an addition (a FLOP count is twice that). `proof` is the index arithmetic behind a split or a merge,
    `scalar` the number that a scaling divides or multiplies by.
    """

    operation: str
    result: Operand
    operands: tuple[Operand, ...] = ()
    einsum: str = ""
    formula: str = ""
    parameters: sp.Expr = sp.S.Zero
    multiply_adds: sp.Expr = sp.S.Zero
    why: str = ""
    proof: str = ""
    scalar: sp.Expr | None = None
    warnings: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The operands that are not parameters."""
        return tuple(o for o in self.operands if not o.parameter)


@dataclass(frozen=True)
class Condition:
    """An equation between sizes that the operations need: left = right."""

    left: sp.Expr
    right: sp.Expr
    reason: str


@dataclass
class Recorder:
    """Collects the lines of a trace; `bindings` are shown with every error.

    With `short_names` a result that has no name is called t1, t2, ..., so that formulas do not grow.
    """

    bindings: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    short_names: bool = False
    named: int = 0


_RECORDER: ContextVar[Recorder | None] = ContextVar("RECORDER", default=None)


def recorder() -> Recorder | None:
    """The recorder that is listening, if one is."""
    return _RECORDER.get()


@contextmanager
def recording(to: Recorder) -> Iterator[Recorder]:
    """Record the operations on named arrays in the body of a with statement."""
    token = _RECORDER.set(to)
    try:
        yield to
    finally:
        _RECORDER.reset(token)


def titled(name: str, expression: str) -> tuple[str, str]:
    """The label of a result and the formula of its line: ``("t1", "t1 = x @ W")``."""
    to = _RECORDER.get()
    if not name and to is not None and to.short_names:
        to.named += 1
        name = f"t{to.named}"
    return (name, f"{name} = {expression}") if name else (expression, expression)


def record(line: Line) -> None:
    """Add a line to the trace that is being recorded, if one is."""
    to = _RECORDER.get()
    if to is not None:
        to.lines.append(line)


def bindings_text() -> str:
    """The current bindings for an error message: ``; with n = 10, d_model = 770`` or nothing."""
    from ..rendering import text

    to = _RECORDER.get()
    if to is None or not to.bindings:
        return ""
    return "; with " + ", ".join(f"{text(k)} = {text(v)}" for k, v in to.bindings.items())


@dataclass(frozen=True)
class Trace:
    """The operations of a computation in order, with everything that is known of their sizes.

    `bindings` replaces sizes by numbers (n = 10), `definitions` sizes by other sizes (d_k = d_model/h); `conditions` is
    what must hold, `warnings` what is wrong though the shapes fit, `notes` what is worth knowing. `result` is the last
    array: its `body` is the index expression of the whole computation.
    """

    title: str
    lines: tuple[Line, ...]
    result: NamedArray
    bindings: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)
    definitions: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong though the shapes fit, in the order of the lines."""
        return tuple(dict.fromkeys(w for line in self.lines for w in line.warnings))

    @property
    def is_concrete(self) -> bool:
        """Whether some size is known as a number or as an expression of others."""
        return bool(self.bindings)

    def size(self, value: sp.Expr) -> sp.Expr:
        """A size with the bindings put in."""
        return sp.expand(value.xreplace(dict(self.bindings)))

    def sizes(self, axes: Sequence[Axis]) -> tuple[sp.Expr, ...]:
        """The sizes of axes with the bindings put in."""
        return tuple(self.size(a.size) for a in axes)

    def cost(self, value: sp.Expr) -> sp.Expr:
        """A count in the sizes of the input: definitions put in (d_k = d_model/h), numbers not."""
        for _ in self.definitions:
            value = value.xreplace(dict(self.definitions))
        return sp.expand(value)

    @property
    def parameters(self) -> sp.Expr:
        """All parameters, symbolic."""
        return sp.Add(*(line.parameters for line in self.lines))

    @property
    def multiply_adds(self) -> sp.Expr:
        """All multiply-adds, symbolic."""
        return sp.Add(*(line.multiply_adds for line in self.lines))

    def with_notes(self, *notes: str) -> Trace:
        """The trace with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    # One method a form; each is written in its own module.
    def text(self) -> str:
        """The trace for a terminal."""
        from .text import trace_text

        return trace_text(self)

    def markdown(self) -> str:
        """The trace as a Markdown table."""
        from .markdown import trace_markdown

        return trace_markdown(self)

    def latex(self) -> str:
        """The trace as one formula (an aligned environment) for KaTeX and for LaTeX with amsmath."""
        from .latex import trace_latex

        return trace_latex(self)

    def tex(self) -> str:
        """The trace as a LaTeX document of its own, with the reasons."""
        from .latex import trace_tex

        return trace_tex(self)

    def json(self) -> str:
        """The trace as JSON."""
        from .data import trace_json

        return trace_json(self)

    def svg(self) -> str:
        """The trace as a flow picture."""
        from .svg import trace_svg

        return trace_svg(self)

    def html(self) -> str:
        """The trace as a table for a notebook."""
        from .html import trace_html

        return trace_html(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        printer.text(self.text().rstrip())

    def _repr_markdown_(self) -> str:
        return self.markdown()
