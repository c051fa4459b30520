"""Whether an expression depends on the variable: a derivative that is 0 because nothing was there proves nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import sympy as sp
from flint import fmpq

from ..language.errors import HypothesisError
from ..language.hypotheses import Hypothesis
from ..language.nodes import DefinedTensor, Element, PartialDerivative, Tensor
from .evaluator import compiled
from .fields import Undecided, working_precision
from .hypotheses import drawn_field, environments
from .points import draw, places
from .records import Evidence, not_run
from .samples import BITS, value_or_reason
from .sizes import Binding, sizes_text

_POINTS = 3
_MOST_ENTRIES = 64


def depends(
    left: sp.Expr,
    variable: sp.Expr,
    indices: Sequence[Any],
    declared: tuple[Tensor, ...],
    hypotheses: Sequence[Hypothesis],
    sizes: Binding,
    seed: int,
) -> Evidence:
    """Evidence that what is differentiated on the left changes with the variable's tensor.

    Where the left side holds derivatives by that tensor, the differentiated expressions are looked at; otherwise the
    left side itself. The tensor's entries are drawn anew, all else is kept, and some ball must move.
    """
    started = time.perf_counter()
    tensor = variable.tensor if isinstance(variable, Element) else variable
    primals = differentiated(left, tensor) or [left]
    evaluated = False
    reason: object = ""
    for attempt in range(_POINTS):
        with working_precision(BITS[0]):
            try:
                found = _moves(primals, tensor, indices, declared, hypotheses, sizes, f"{seed}.{attempt}")
            except (HypothesisError, Undecided) as why:
                reason = why
                continue
        evaluated = True
        if found:
            return Evidence(
                "dependence",
                True,
                f"what is differentiated changes with {tensor.name} at {sizes_text(sizes)}",
                time.perf_counter() - started,
            )
    if not evaluated:
        return not_run("dependence", reason, time.perf_counter() - started)
    return Evidence(
        "dependence",
        False,
        f"what is differentiated does not change with {tensor.name} at {_POINTS} drawn points, "
        f"{sizes_text(sizes)}: its derivative is 0 because {tensor.name} does not occur in it",
        time.perf_counter() - started,
    )


def differentiated(expression: sp.Basic, tensor: Tensor) -> list[sp.Expr]:
    """The expressions under derivatives by elements of a tensor, also inside definitions."""
    found: dict[sp.Expr, None] = {}
    seen: set[Any] = set()
    stack = [expression]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, PartialDerivative):
            variable = node.variable
            if (variable.tensor if isinstance(variable, Element) else variable) == tensor:
                found.setdefault(node.expression)
        if isinstance(node, DefinedTensor) and node != tensor:
            stack.append(node.body)
        stack.extend(node.args)
    return list(found)


def _moves(
    primals: list[sp.Expr],
    tensor: Tensor,
    indices: Sequence[Any],
    declared: tuple[Tensor, ...],
    hypotheses: Sequence[Hypothesis],
    sizes: Binding,
    seed: str,
) -> bool:
    before = drawn_field(declared, hypotheses, sizes, seed)
    after = drawn_field(declared, hypotheses, sizes, seed)
    other = draw((tensor,), sizes, f"{seed}/moved") if not isinstance(tensor, DefinedTensor) else None
    for place in places(before.point.shape(tensor)):
        if other is not None:
            after.overrides[(tensor, place)] = after.constant(other.value(tensor, place))
        else:
            after.overrides[(tensor, place)] = before.element(tensor, place) * before.constant(
                fmpq(9 + 2 * sum(place), 8)
            )
    after.forget()
    free = list(dict.fromkeys([*indices, *(i for primal in primals for i in compiled(primal).free)]))
    compared = False
    for primal in primals:
        run = compiled(primal).run
        own = [i for i in free if i in compiled(primal).free]
        for count, env in enumerate(environments(own, before.point)):
            if count >= _MOST_ENTRIES:
                break
            a, _ = value_or_reason(run, before, env)
            b, _ = value_or_reason(run, after, env)
            if a is None or b is None:
                continue
            compared = True
            if not (a - b).contains(0):
                return True
    if not compared:
        raise Undecided("what is differentiated has no value at the points drawn")
    return False
