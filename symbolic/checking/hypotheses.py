"""Hypotheses at a point: equalities are solved for one element each, conditions are redrawn until they hold.

The same few lines serve balls and exact fields: an equality that is linear in an element e is solved from its values
at e = 0, 1 and 2, so nothing is assumed of how it is written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from flint import arb, fmpq

from ..language.errors import HypothesisError
from ..language.hypotheses import Hypothesis
from ..language.nodes import Tensor
from .evaluator import compiled, evaluate
from .fields import BallField, Field, Undefined
from .points import Point, draw
from .sizes import Binding

_DRAWS = 60


def environments(indices: Sequence[Any], point: Point) -> Iterator[dict[Any, int]]:
    """Every assignment of values to the indices."""
    for values in itertools.product(*(range(point.size(i.size)) for i in indices)):
        yield dict(zip(indices, values, strict=True))


def impose(field: Field, hypotheses: Sequence[Hypothesis]) -> bool:
    """Make the equalities hold in a field by overriding one element for each; False where one cannot be solved here."""
    for hypothesis in hypotheses:
        if hypothesis.relation != "==":
            continue
        for env in environments(hypothesis.indices, field.point):
            if not _solve(field, hypothesis, env):
                return False
    for hypothesis in hypotheses:  # a later equality must not undo an earlier one
        if hypothesis.relation == "==":
            for env in environments(hypothesis.indices, field.point):
                if not field.vanishes(_residual(field, hypothesis, env)):
                    return False
    return True


def _residual(field: Field, hypothesis: Hypothesis, env: dict[Any, int]) -> Any:
    return evaluate(hypothesis.left, field, env) - evaluate(hypothesis.right, field, env)


def _solve(field: Field, hypothesis: Hypothesis, env: dict[Any, int]) -> bool:
    field.reads.clear()
    field.forget()
    if field.vanishes(_residual(field, hypothesis, env)):
        return True
    candidates = [
        key
        for key in reversed(field.reads)
        if key not in field.overrides
        and not key[0].domain.values
        and not key[0].domain.integer
        and not key[0].domain.symmetric
        and not key[0].domain.rows_sum_to_one
    ]
    for key in candidates:
        values = []
        for trial in range(3):
            field.overrides[key] = field.constant(fmpq(trial))
            field.forget()
            try:
                values.append(_residual(field, hypothesis, env))
            except Undefined:
                break
        if len(values) == 3:
            slope = values[1] - values[0]
            if field.vanishes(values[2] - values[1] - slope) and not field.vanishes(slope):
                field.overrides[key] = -values[0] * field.invert(slope)
                field.forget()
                return True
        del field.overrides[key]
        field.forget()
    return False


def drawn_field(tensors: tuple[Tensor, ...], hypotheses: Sequence[Hypothesis], sizes: Binding, seed: str) -> BallField:
    """A field of balls at a drawn point where every hypothesis holds.

    Raises `HypothesisError` where no draw satisfied them.
    """
    for attempt in range(_DRAWS):
        field = BallField(draw(tensors, sizes, f"{seed}/{attempt}", 1 << (attempt // 6)))
        if not hypotheses:
            return field
        try:
            if (
                impose(field, hypotheses)
                and all(map(_in_domain, field.overrides, field.overrides.values()))
                and all(
                    field.compare(h.relation, compiled(h.left).run, compiled(h.right).run, env)
                    for h in hypotheses
                    if h.relation != "=="
                    for env in environments(h.indices, field.point)
                )
            ):
                field.forget()
                return field
        except ArithmeticError:
            continue
    raise HypothesisError(
        f"no point was found in {_DRAWS} draws that satisfies {'; '.join(map(str, hypotheses))}; the second path "
        "solves equalities that are linear in an element, and draws for the others"
    )


def _in_domain(key: tuple[Tensor, Any], value: arb) -> bool:
    domain = key[0].domain
    inside = any(
        (low == float("-inf") or value > arb(low)) and (high == float("inf") or value < arb(high))
        for low, high in domain.intervals
    )
    return bool(
        inside or (domain.closed_low and value == arb(domain.low)) or (domain.closed_high and value == arb(domain.high))
    )
