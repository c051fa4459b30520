"""What a derivation is: steps between expressions, each with its rule, and the statement they prove.

These are plain records. `engine` makes them, `replay` proves them, `rendering` shows them; none of them may change one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import sympy as sp

from ..checking.records import Counterexample, Evidence, not_run
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Tensor, hook

# The order in which a person writes a derivation; a step belongs to one phase. "normal" detail merges the steps of one
# phase that follow each other.
PHASES = ("state", "unfold", "rewrite", "differentiate", "contract", "collect", "fold", "hypothesis", "conclude")
Detail = Literal["brief", "normal", "full"]
VerdictName = Literal["proved", "refuted", "supported", "unsupported"]


@dataclass(frozen=True)
class Step:
    """`before` = `after` by `rule`; `why` is a sentence for the reader."""

    before: sp.Expr
    after: sp.Expr
    rule: str
    why: str
    phase: str
    rules: tuple[str, ...] = ()  # where several steps were merged: all their rules, in order


@dataclass(frozen=True)
class Verdict:
    """What was established, and how. Computed by `verdicts`, never typed."""

    verdict: VerdictName
    evidence: tuple[Evidence, ...] = ()
    conditions: tuple[str, ...] = ()  # "proved where ...": what the proof had to assume beyond domains and hypotheses
    notes: tuple[str, ...] = ()  # rounding allowance, kink policy
    counterexample: Counterexample | None = None
    reason: str = ""  # for unsupported: the construct and what to write instead
    seconds: float = 0.0

    def _repr_html_(self) -> str:
        return hook("verdict_html")(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        hook("verdict_pretty")(self, printer, cycle)


@dataclass(frozen=True)
class Derivation:
    """The proof of `left` = `right` for every value of the free `indices`: a chain of steps from the left to the right.

    `definitions` are the named intermediates in order of use; `variable` is what was differentiated by, if anything.
    """

    name: str
    left: sp.Expr
    right: sp.Expr
    indices: tuple[Index, ...]
    steps: tuple[Step, ...]
    definitions: tuple[DefinedTensor, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    tensors: tuple[Tensor, ...] = ()  # the declared arrays, in order of declaration
    variable: sp.Expr | None = None
    title: str = ""
    source: str = ""
    uses: tuple[str, ...] = ()  # theorems cited
    notes: tuple[str, ...] = ()  # conventions and kink policy that belong to the answer
    # A gradient in named adjoints is several statements: each part is a derivation of one adjoint, in which the names
    # of the definitions stand for themselves. `adjoint` is what a part defines.
    parts: tuple[Derivation, ...] = ()
    adjoint: DefinedTensor | None = None
    # Divisors of the left and of the right side as they were written: SymPy may have cancelled them since.
    needs: tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]] = ((), ())
    extra: dict[str, Any] = field(default_factory=dict, compare=False)


__all__ = ["PHASES", "Counterexample", "Derivation", "Detail", "Evidence", "Step", "Verdict", "VerdictName", "not_run"]
