"""Tactics: what an author writes to say how a derivation goes. Each turns the current expression into steps.

A tactic only rewrites; that its steps are right is judged afterwards, by the canonical form and by the second path. The
engine that differentiates is `calculus`; these give its waves and contractions their names and sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ..calculus.contraction import contract as contract_sums
from ..calculus.differentiation import wave
from ..calculus.folding import fold as fold_definition
from ..calculus.folding import use_equation
from ..calculus.rules import RULES
from ..language.arrays import Array, ArrayLike, aligned, as_array, tensor_of
from ..language.hypotheses import Hypothesis
from ..language.indices import Index, index
from ..language.nodes import Binder, DefinedTensor, Element, IndexSum, Indicator, PartialDerivative, tensors
from ..language.nodes import unfold as unfold_definitions
from ..language.operations import BY_FUNCTION, OPERATIONS
from .combining import combine_exponentials
from .model import Step

Tactic = Callable[["State"], None]


@dataclass
class State:
    """A derivation under way: the current expression, the steps so far, and what may be used."""

    current: sp.Expr
    indices: tuple[Index, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    definitions: list[DefinedTensor] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)

    def step(self, after: sp.Expr, rules: str | Sequence[str], phase: str, why: str = "") -> None:
        """Append a step unless nothing changed."""
        after = combine_exponentials(after)
        if after == self.current:
            return
        names = [rules] if isinstance(rules, str) else list(dict.fromkeys(rules))
        sentence = why or "; ".join(RULES[n].why for n in names if n in RULES) or names[0]
        self.steps.append(Step(self.current, after, names[0] if len(names) == 1 else ", ".join(names), sentence, phase,
                               tuple(names)))
        self.current = after


def unfold(*names: str) -> Tactic:
    """Put definitions in place of names: all of them, or those given, one step each."""

    def run(state: State) -> None:
        variables = {n.variable.tensor if isinstance(n.variable, Element) else n.variable
                     for n in sp.preorder_traversal(state.current) if isinstance(n, PartialDerivative)}
        found = [t for t in tensors([state.current]) if isinstance(t, DefinedTensor) and t not in variables]
        for t in reversed(found):
            if names and t.name not in names:
                continue
            if t not in state.definitions:
                state.definitions.append(t)
            origin = f" = {t.origin}" if t.origin else ""
            state.step(unfold_definitions(state.current, [t]), "unfold", "unfold", f"definition of {t.name}{origin}")

    return run


def expand(*names: str) -> Tactic:
    """Write named functions (sigmoid, softplus, ...) by their definitions."""

    def run(state: State) -> None:
        for name in names:
            row = OPERATIONS[name]

            def visit(node: Any, row: Any = row) -> Any:
                if not node.args:
                    return node
                if isinstance(node, Binder):
                    fresh, body = node.opened()
                    return type(node)(visit(body), fresh, *(visit(a) for a in node.args[2:]))
                args = [visit(a) for a in node.args]
                if node.func is row.function and row.definition is not None:
                    return row.definition(args[0])
                return node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)

            state.step(visit(state.current), f"expand_{name}", "unfold", f"definition of {name}")

    return run


def split_logs() -> Tactic:
    """Logarithms of products, quotients and powers of positive numbers split; log e^x = x."""

    def run(state: State) -> None:
        used: list[str] = []
        state.step(_split_logs(state.current, used), used or ["log_mul_of_pos"], "rewrite")

    return run


def _split_logs(node: Any, used: list[str]) -> Any:
    if not node.args:
        return node
    if isinstance(node, Binder):
        fresh, body = node.opened()
        return type(node)(_split_logs(body, used), fresh, *(_split_logs(a, used) for a in node.args[2:]))
    args = [_split_logs(a, used) for a in node.args]
    node = node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)
    if not isinstance(node, sp.log):
        return node
    inner = node.args[0]
    parts = sp.Mul.make_args(inner)
    if not all(p.is_positive for p in parts) or isinstance(inner, Element):
        return node
    terms = []
    for part in parts:
        base, e = part.as_base_exp()
        if isinstance(part, sp.exp):
            used.append("log_exp")
            terms.append(part.args[0])
        elif e.is_number and e != 1 and base.is_positive:
            used.append("log_div_of_pos" if e < 0 else "log_pow_of_pos")
            terms.append(e * sp.log(base))
        else:
            if len(parts) > 1:
                used.append("log_mul_of_pos")
            terms.append(sp.log(part))
    return sp.Add(*terms)


def differentiate() -> Tactic:
    """Carry out the derivatives, one wave of rules a step."""

    def run(state: State) -> None:
        while state.current.has(PartialDerivative):
            after, rules = wave(state.current)
            state.step(after, rules, "differentiate")

    return run


def contract() -> Tactic:
    """Contract deltas, take constants out of sums."""

    def run(state: State) -> None:
        after, rules = contract_sums(state.current)
        state.step(after, rules or ["sum_mul_delta"], "contract")

    return run


def collect() -> Tactic:
    """Multiply out and collect: the shortest of the usual forms."""

    def run(state: State) -> None:
        state.step(simplest(state.current), "collect", "collect")

    return run


def cost(expression: sp.Expr) -> int:
    """How long an expression is to read: its nodes, sums counted double."""
    total = 0
    for node in sp.preorder_traversal(expression):
        total += 2 if isinstance(node, (Binder, sp.Add)) else 1
    return total


def simplest(expression: sp.Expr) -> sp.Expr:
    """The shortest among the expression as it is, multiplied out, and with common factors taken out."""
    expanded = _expand(expression)
    candidates = [expression, expanded, sp.factor_terms(expanded, sign=False), _common_factor(expanded)]
    best = min(range(len(candidates)), key=lambda n: (cost(candidates[n]), n))
    return candidates[best]


def _expand(node: Any) -> Any:
    """Multiply out at the top level; sums inside are contracted again afterwards."""
    return contract_sums(sp.expand_mul(node))[0]


def _common_factor(node: sp.Expr) -> sp.Expr:
    """a·b + a·c as a·(b + c), by the factors that all terms share."""
    if not isinstance(node, sp.Add):
        return node
    dicts = [dict(t.as_powers_dict()) for t in node.args]
    shared = {b: min((d[b] for d in dicts), key=lambda e: abs(e)) for b in dicts[0]
              if not b.is_Number and all(b in d and d[b].is_number and d[b] > 0 for d in dicts)}
    if not shared:
        return node
    factor = sp.Mul(*(b**e for b, e in shared.items()))
    return factor * sp.Add(*(t / factor for t in node.args))


def fold(*names: str) -> Tactic:
    """Give names back to definitions, the last defined first."""

    def run(state: State) -> None:
        for t in reversed(state.definitions):
            if not names or t.name in names:
                state.step(fold_definition(state.current, t), "fold", "fold", f"this is {t.name} again")

    return run


def hypotheses() -> Tactic:
    """Use the hypotheses, left to right."""

    def run(state: State) -> None:
        for h in state.hypotheses:
            if h.relation == "==":
                state.step(use_equation(state.current, h.left, h.right, h.indices), "use_hypothesis", "hypothesis",
                           "by hypothesis")
        for t in tensors([state.current], through_definitions=False):
            if t.domain.rows_sum_to_one and t.shape:
                *rows, last = (index("n", n) for n in t.shape)
                row = IndexSum(Element(t, *rows, last), last)
                state.step(use_equation(state.current, row, sp.S.One, tuple(rows)), "use_hypothesis", "hypothesis",
                           f"rows of {t.name} sum to 1 ({t.domain.name})")

    return run


def to(value: ArrayLike, rule: str = "collect", why: str = "") -> Tactic:
    """The next line, written by the author; `rule` is a rule's or a theorem's name. Judged like every step."""

    def run(state: State) -> None:
        after = aligned(as_array(value), state.indices)
        if rule not in RULES:
            state.uses.append(rule)
        state.step(after, rule, "rewrite" if rule != "collect" else "collect", why)

    return run


def automatic() -> Tactic:
    """What a person does without being told: unfold, differentiate, contract, collect, fold, use the hypotheses."""

    def run(state: State) -> None:
        derivative = state.current.has(PartialDerivative)
        for tactic in (unfold(), split_logs(), contract(), differentiate(), contract(),
                       *( [collect()] if derivative else []),
                       fold(), contract(), collect(), fold(), hypotheses(), contract(), collect()):
            tactic(state)

    return run


def run_all(state: State, by: Iterable[Tactic]) -> State:
    """Run tactics in order."""
    for tactic in by:
        tactic(state)
    return state


def partial(value: Array, variable: Array) -> Array:
    """The derivatives ∂value/∂variable, not carried out: output indices first, then those of the variable."""
    tensor = tensor_of(variable)
    fresh = [i.fresh() for i in variable.indices]
    at = Element(tensor, *fresh) if fresh else tensor
    return Array([*value.indices, *fresh], PartialDerivative(value.body, at))


__all__ = ["BY_FUNCTION", "Indicator", "State", "Tactic"]
