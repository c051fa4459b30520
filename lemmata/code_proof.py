"""What is known of a user's functions after a proof was tried: the verdicts, the formulas read, the counterexample, as
a report.

The counterpart of `result` for code: there a derivation is shown, here a claim about two functions is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .symbolic.derivations.model import Counterexample, Verdict
from .symbolic.language.errors import LemmataError
from .symbolic.rendering.html import block, escaped, folded, table, verdict_html
from .symbolic.rendering.notebook import Pretty
from .symbolic.rendering.verdict import cell, evidence_line, evidence_table, verdict_data
from .terminal import exit_code, headline

Level = Literal["proved", "supported"]
Formula = tuple[str, str]  # a function's name, and what it computes

_WORST = ("refuted", "unsupported", "supported", "proved")
_ENTRIES = 60  # of an array, shown in text; the data hold all


class NotProved(LemmataError, AssertionError):
    """A claim about code was refuted or is not proved; `proof` is the `CodeProof`."""

    def __init__(self, proof: CodeProof, message: str) -> None:
        super().__init__(message)
        self.proof = proof


@dataclass(frozen=True)
class CodeProof:
    """The verdicts on a claim about two functions: one for each array differentiated by, or one on their equality.

    `left` and `right` name what a counterexample compares: differences of the forward pass and the claimed gradient, or
    the two functions.
    """

    title: str
    verdicts: Mapping[str, Verdict]
    left: str
    right: str
    sizes: tuple[str, ...] = ()
    read: Callable[[], tuple[Formula, ...]] = field(default=tuple, repr=False, compare=False)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole claim: the worst of all, with the evidence for each array."""
        if len(self.verdicts) == 1:
            return next(iter(self.verdicts.values()))
        worst = next(v for name in _WORST for v in self.verdicts.values() if v.verdict == name)
        evidence = tuple(replace(e, detail=f"{n}: {e.detail}") for n, v in self.verdicts.items() for e in v.evidence)
        return replace(worst, evidence=evidence,
                       conditions=tuple(dict.fromkeys(c for v in self.verdicts.values() for c in v.conditions)),
                       notes=tuple(dict.fromkeys(n for v in self.verdicts.values() for n in v.notes)),
                       seconds=sum(v.seconds for v in self.verdicts.values()))

    @property
    def counterexample(self) -> Counterexample | None:
        """Sizes, inputs, index and both values where the claim is wrong; None where it was not refuted."""
        return self.verdict.counterexample

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """What each function was read as, in plain text; a function that cannot be read is shown with the reason."""
        return self.read()

    def holds(self, level: Level = "proved") -> bool:
        """Whether the claim is proved (or, at the level "supported", at least not refuted and compared with
        numbers).
        """
        return self.verdict.verdict in (("proved",) if level == "proved" else ("proved", "supported"))

    def raise_if_not_proved(self, level: Level = "proved") -> CodeProof:
        """This proof, or `NotProved` with the counterexample or the reason."""
        __tracebackhide__ = True
        if not self.holds(level):
            raise NotProved(self, self.text(formulas=False))
        return self

    @property
    def exit_code(self) -> int:
        """0 proved, 1 refuted, 2 unsupported, 3 supported."""
        return exit_code([self.verdict.verdict])

    # ------------------------------------------------------------------ shown
    def text(self, formulas: bool = True) -> str:
        """The report for a terminal: the verdict with its evidence, the counterexample, and the functions as
        formulas.
        """
        lines = [f"claim: {self.title}"]
        for name, verdict in self.verdicts.items():
            prefix = f"{name}: " if len(self.verdicts) > 1 else ""
            lines.append(f"{prefix}{headline(verdict, self.sizes)}")
            lines += [f"  {evidence_line(e)}" for e in verdict.evidence]
            if verdict.counterexample is not None:
                lines += [f"  {line}" for line in self.counterexample_lines(name, verdict.counterexample)]
            elif verdict.reason:
                lines.append(f"  reason: {verdict.reason}")
            lines += [f"  note: {n}" for n in verdict.notes]
        if formulas and self.formulas:
            lines += ["read as:", *self.formula_lines()]
        return "\n".join(lines)

    def formula_lines(self) -> list[str]:
        """The functions as formulas, a line each."""
        return [f"  {name} = {value}" for name, value in self.formulas]

    def counterexample_lines(self, name: str, c: Counterexample) -> list[str]:
        """Sizes, inputs, and both values at the index where they differ, and what is wrong."""
        lines = ["counterexample:"]
        if c.sizes:
            lines.append("  sizes   " + ", ".join(f"{k} = {v}" for k, v in c.sizes.items()))
        for key, value in c.inputs.items():
            lines += _array_lines(key, value)
        place = f"[{', '.join(map(str, c.index))}]" if c.index else ""
        what = f"d{name}{place}" if name else f"value{place}"
        width = max(len(self.left), len(self.right))
        lines += [f"  {what}  {self.left:<{width}}  {c.left}", f"  {' ' * len(what)}  {self.right:<{width}}  {c.right}"]
        if c.residual:
            lines.append(f"  {c.residual}")
        return lines

    def markdown(self) -> str:
        """The report as Markdown."""
        lines = [f"**Claim: {self.title}**", ""]
        for name, verdict in self.verdicts.items():
            prefix = f"`{name}`: " if len(self.verdicts) > 1 else ""
            lines += [f"{prefix}**{verdict.verdict}**: {headline(verdict, self.sizes)}", ""]
            if verdict.evidence:
                lines += [*evidence_table(verdict.evidence), ""]
            if verdict.counterexample is not None:
                lines += ["```", *self.counterexample_lines(name, verdict.counterexample), "```", ""]
            elif verdict.reason:
                lines += [f"Reason: {cell(verdict.reason)}", ""]
            lines += [f"- {n}" for n in verdict.notes]
        if self.formulas:
            lines += ["```", *self.formula_lines(), "```"]
        return "\n".join(lines).rstrip() + "\n"

    def data(self) -> dict[str, Any]:
        """The report as JSON data: `name`, what `verdict_data` gives for the whole, `parts` for each array,
        `formulas`.
        """
        parts = {n: verdict_data(v) for n, v in self.verdicts.items()} if len(self.verdicts) > 1 else {}
        return {"name": self.title, **verdict_data(self.verdict), "sizes": list(self.sizes), "parts": parts,
                "formulas": dict(self.formulas)}

    def html(self) -> str:
        """The report for a notebook: a table of evidence and the counterexample for each array."""
        shown = []
        for name, verdict in self.verdicts.items():
            c = verdict.counterexample
            prefix = f"{name}: " if len(self.verdicts) > 1 else ""
            shown.append(verdict_html(verdict, prefix + headline(verdict, self.sizes),
                                      None if c is None else self._counterexample_rows(name, c),
                                      brief=bool(prefix) and verdict.verdict == "proved"))
        read = folded("What was read from the code", table((), self.formulas, code=(0, 1))) if self.formulas else ""
        return block(f"<p><strong>{escaped(self.title)}</strong></p>", *shown, read)

    def _counterexample_rows(self, name: str, c: Counterexample) -> list[tuple[str, str]]:
        rows = [("sizes", ", ".join(f"{k} = {v}" for k, v in c.sizes.items()))] if c.sizes else []
        rows += [(key, _array_text(value)) for key, value in c.inputs.items()]
        at = f"[{', '.join(map(str, c.index))}]" if c.index else ""
        what = f"d{name}{at}" if name else f"value{at}"
        rows += [(f"{what}, {self.left}", c.left), (f"{what}, {self.right}", c.right)]
        return [*rows, ("so", c.residual)] if c.residual else rows

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        printer.text(self.text())

    def _repr_markdown_(self) -> str:
        return self.markdown()


def _array_text(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=5, suppress_small=True, max_line_width=100, threshold=_ENTRIES)


def _array_lines(name: str, value: Any) -> list[str]:
    first, *rest = _array_text(value).splitlines()
    return [f"  {name:<7} {first}", *(f"  {'':<7} {line}" for line in rest)]
