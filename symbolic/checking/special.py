"""Special points: zeros, ties, repeated entries and ends of domains, where what holds elsewhere may break.

A value on one side where the other has none counts as a difference. Where a comparison meets a tie inside a
derivative, only that counts: the value of a derivative at a kink is a convention, and is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sympy as sp
from flint import fmpq

from ..language.errors import UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index
from ..language.nodes import DefinedTensor, PartialDerivative, Tensor, tensors
from .evaluator import compiled, evaluate
from .fields import BallField, working_precision
from .hypotheses import environments
from .points import CONSTANT_DOMAINS, Point, Values, draw
from .records import Counterexample
from .samples import BITS, compare, decimal
from .sizes import Binding, bindings

_MOST_POINTS = 160


def special_points(
    left: sp.Expr,
    right: sp.Expr,
    indices: Iterable[Index] = (),
    hypotheses: Iterable[Hypothesis] = (),
    *,
    seed: int = 0,
    sizes: Binding | None = None,
) -> Counterexample | None:
    """A special point of the domains at which the sides differ, or None where they agree at all that were tried.

    Each declared array in turn (and all together) gets zeros, one zero, equal entries, two equal entries, whole
    numbers, and the ends of its domain, as far as the domain allows; points that break a hypothesis are left out.

    >>> from lemmata.symbolic.language.arrays import array
    >>> x = array("x").body
    >>> special_points((x**2 - x) / x, x - 1).left
    'undefined (division by zero)'
    """
    left, right = sp.sympify(left), sp.sympify(right)
    indices, hypotheses = tuple(indices), tuple(hypotheses)
    expressions = [left, right, *indices, *(side for h in hypotheses for side in (h.left, h.right, *h.indices))]
    declared = tuple(t for t in tensors(expressions) if not isinstance(t, DefinedTensor))
    binding = next(bindings([*expressions, *declared], sizes))
    kinks = left.has(PartialDerivative) or right.has(PartialDerivative)
    with working_precision(BITS[0]):
        for count, point in enumerate(_points(declared, binding, str(seed))):
            if count >= _MOST_POINTS:
                break
            found = _at(left, right, indices, hypotheses, point, kinks)
            if found is not None:
                return found
    return None


def _at(
    left: sp.Expr, right: sp.Expr, indices: Sequence[Index], hypotheses: Sequence[Hypothesis], point: Point, kinks: bool
) -> Counterexample | None:
    field = BallField(point)
    try:
        if not _satisfied(field, hypotheses):
            return None
        field.tie = False
        sample = compare(left, right, indices, field, BITS[0])
    except (ArithmeticError, UnsupportedError):
        return None
    if sample is None:
        return None
    places = list(sample.one_sided) or ([] if field.tie and kinks else sample.differs)
    if not places:
        return None
    a, b = sample.pairs[places[0]]
    why = sample.one_sided.get(places[0], "")
    residual = "one side has no value at this special point" if why else "the sides differ at this special point"
    return Counterexample(
        {s.name: n for s, n in sorted(point.sizes.items(), key=lambda item: item[0].name)},
        point.as_inputs(),
        places[0],
        decimal(a, why),
        decimal(b, why),
        residual,
    )


def _satisfied(field: BallField, hypotheses: Sequence[Hypothesis]) -> bool:
    for h in hypotheses:
        for env in environments(h.indices, field.point):
            if h.relation == "==":
                if not field.vanishes(evaluate(h.left, field, env) - evaluate(h.right, field, env)):
                    return False
            elif not field.compare(h.relation, compiled(h.left).run, compiled(h.right).run, env):
                return False
    return True


def _points(declared: tuple[Tensor, ...], sizes: Binding, seed: str) -> Iterator[Point]:
    base = draw(declared, sizes, f"{seed}/special")
    together: dict[str, dict[Tensor, Values]] = {}
    for tensor in declared:
        for kind, values in _variants(tensor, base):
            together.setdefault(kind, {})[tensor] = values
            yield Point(sizes, {**base.values, tensor: values})
    for several in together.values():
        if len(several) > 1:
            yield Point(sizes, {**base.values, **several})


def _variants(tensor: Tensor, base: Point) -> Iterator[tuple[str, Values]]:
    values, domain = base.values[tensor], tensor.domain
    places = list(values)
    if domain.integer and not domain.values:
        for index in sorted(set(map(int, values.values())) | {0}):
            yield f"index {index}", dict.fromkeys(places, fmpq(index))
        return
    if domain.one_hot or domain.name in CONSTANT_DOMAINS:
        return
    if domain.rows_sum_to_one:
        n = base.shape(tensor)[-1] if tensor.shape else 1
        if n & (n - 1) == 0:  # only then are equal entries binary fractions
            yield "equal", dict.fromkeys(places, fmpq(1, n))
        return
    if domain.values:
        for number in domain.values:
            yield f"all {number}", dict.fromkeys(places, _exact(number))
        return
    ends = ([domain.low] if domain.closed_low else []) + ([domain.high] if domain.closed_high else [])
    wanted = [("zero", fmpq(0)), ("one", fmpq(1)), ("minus one", fmpq(-1)), *((f"end {e}", _exact(e)) for e in ends)]
    allowed = [(kind, value) for kind, value in wanted if _inside(domain, value)]
    for kind, value in allowed:
        yield f"all {kind}", dict.fromkeys(places, value)
    if domain.name == "distinct" or len(places) < 2:
        return
    if not domain.symmetric:
        for kind, value in allowed:
            for place in (places[0], places[-1]):
                yield f"{kind} at {place}", {**values, place: value}
        yield "repeated", {**values, places[-1]: values[places[0]]}
    yield "equal", dict.fromkeys(places, values[places[0]])


def _inside(domain: Any, value: fmpq) -> bool:
    x = int(value.p) / int(value.q)
    return (
        any(low < x < high for low, high in domain.intervals)
        or (domain.closed_low and x == domain.low)
        or (domain.closed_high and x == domain.high)
    )


def _exact(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())
