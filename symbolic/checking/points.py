"""Points: values for every element of the declared tensors, drawn from their domains as exact binary fractions.

Binary fractions are exact as balls, so a tie or a zero among inputs is seen as one. Entries of a tensor are pairwise
different in size, so that nothing cancels by luck. What the domain says of whole rows or matrices (sum to one, one-
hot, symmetric, ...) holds by construction.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from typing import Any

from flint import fmpq

from ..language.errors import UnsupportedError
from ..language.nodes import Tensor
from .fields import Place
from .sizes import Binding, index_bound, value_at

Values = dict[Place, fmpq]
MOST_PLACES = 10**6  # entries of an array that are drawn one by one


class Point:
    """Sizes and the value of every element of the declared tensors."""

    def __init__(self, sizes: Binding, values: dict[Tensor, Values]) -> None:
        self.sizes = sizes
        self.values = values
        self._sizes: dict[Any, int] = {}

    def size(self, expression: Any) -> int:
        """A size expression at this point's sizes."""
        found = self._sizes.get(expression)
        if found is None:
            value = value_at(expression, self.sizes)
            if value is None:
                raise UnsupportedError(f"the size {expression} is not an integer at {self.sizes}")
            found = self._sizes[expression] = value
        return found

    def value(self, tensor: Tensor, place: Place) -> fmpq:
        """The drawn value of an element."""
        try:
            return self.values[tensor][place]
        except KeyError:
            raise UnsupportedError(f"no value was drawn for {tensor.name}{list(place)}") from None

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """The shape of a tensor at this point's sizes."""
        return tuple(self.size(n) for n in tensor.shape)

    def as_inputs(self, changed: Mapping[tuple[Tensor, Place], float] | None = None) -> dict[str, Any]:
        """The inputs by name, as numbers and nested lists; `changed` holds the elements that hypotheses decided."""
        changed = changed or {}
        return {
            tensor.name: _nested({p: changed.get((tensor, p), v) for p, v in values.items()}, self.shape(tensor))
            for tensor, values in self.values.items()
        }


def _nested(values: Mapping[Place, Any], shape: tuple[int, ...], prefix: Place = ()) -> Any:
    if len(prefix) == len(shape):
        return _plain(values[prefix])
    return [_nested(values, shape, (*prefix, n)) for n in range(shape[len(prefix)])]


def _plain(value: fmpq | float) -> int | float | str:
    if isinstance(value, float):
        return int(value) if value == int(value) else value
    if value.q == 1:
        return int(value.p)
    as_float = int(value.p) / int(value.q)
    return as_float if fmpq(*as_float.as_integer_ratio()) == value else f"{value.p}/{value.q}"


def places(shape: tuple[int, ...]) -> list[Place]:
    """All index tuples of a shape; an `UnsupportedError` for more than can be drawn."""
    entries = math.prod(shape)
    if entries > MOST_PLACES:
        raise UnsupportedError(f"an array of shape {shape} has {entries} entries, too many to draw one by one; "
                               "name a large size, e.g. K, or give the array fewer axes")
    return list(itertools.product(*(range(n) for n in shape)))


def draw(tensors: tuple[Tensor, ...], sizes: Binding, seed: str, shrink: int = 1) -> Point:
    """A point of the domains, from a seed; `shrink` divides the entries of free real and positive tensors."""
    point = Point(sizes, {})
    for tensor in tensors:
        rng = random.Random(f"{seed}/{tensor.name}/{point.shape(tensor)}")
        point.values[tensor] = _entries(tensor, point, rng, shrink)
    return point


def _entries(tensor: Tensor, point: Point, rng: random.Random, shrink: int) -> Values:
    shape, domain = point.shape(tensor), tensor.domain
    where = places(shape)
    bound = index_bound(tensor)
    if bound is not None:
        return _indices(tensor, where, point.size(bound), rng)
    if domain.one_hot:
        return _rows(shape, lambda n: _one_hot(n, rng))
    if domain.rows_sum_to_one:
        return _rows(shape, lambda n: _simplex(n, rng))
    if domain.values:
        drawn = {p: fmpq(*float(rng.choice(domain.values)).as_integer_ratio()) for p in where}
        return _both_values(drawn, domain.values, where)
    build = _MATRICES.get(domain.name)
    if build is not None:
        return build(shape, rng)
    numbers = _numbers(domain, len(where), rng, shrink)
    values = dict(zip(where, numbers, strict=True))
    if domain.name == "one_zero" and where:
        values[rng.choice(where)] = fmpq(0)
    if domain.symmetric:
        values = {(*p[:-2], *sorted(p[-2:])): v for p, v in values.items() if p[-2] <= p[-1]}
        values = {p: values[(*p[:-2], *sorted(p[-2:]))] for p in where}
    return values


def _both_values(drawn: Values, options: tuple[float, ...], where: list[Place]) -> Values:
    # A mask of only ones tests nothing: where there is room, no value is left out.
    if len(where) >= len(options):
        for n, option in enumerate(options):
            exact = fmpq(*float(option).as_integer_ratio())
            if exact not in drawn.values():
                drawn[where[n]] = exact
    return drawn


def _indices(tensor: Tensor, where: list[Place], count: int, rng: random.Random) -> Values:
    if tensor.domain.name.startswith("repeated_"):
        repeated = rng.randrange(count)
        return {p: fmpq(repeated if n < 2 else rng.randrange(count)) for n, p in enumerate(where)}
    return {p: fmpq(rng.randrange(count)) for p in where}


def _rows(shape: tuple[int, ...], row: Any) -> Values:
    values: Values = {}
    for lead in places(shape[:-1]):
        for n, v in enumerate(row(shape[-1] if shape else 1)):
            values[(*lead, n) if shape else ()] = v
    return values


def _one_hot(n: int, rng: random.Random) -> list[fmpq]:
    hot = rng.randrange(n)
    return [fmpq(int(k == hot)) for k in range(n)]


def _simplex(n: int, rng: random.Random) -> list[fmpq]:
    grid = 64
    while grid < 8 * n:
        grid *= 2
    cuts = sorted(rng.sample(range(1, grid), n - 1))
    return [fmpq(b - a, grid) for a, b in itertools.pairwise([0, *cuts, grid])]


def _grid(count: int) -> int:
    grid = 16
    while 3 * grid < 2 * count:
        grid *= 2
    return grid


def _numbers(domain: Any, count: int, rng: random.Random, shrink: int) -> list[fmpq]:
    grid = _grid(count)
    steps = rng.sample(range(1, 3 * grid), count)
    if domain.name in ("nonzero", "real") or (
        len(domain.intervals) == 1 and domain.intervals[0] == (-math.inf, math.inf)
    ):
        return [fmpq(k if rng.random() < 0.5 else -k, grid * shrink) for k in steps]
    numbers: list[fmpq] = []
    for k in steps:
        low, high = rng.choice(domain.intervals)
        if math.isinf(low) and math.isinf(high):
            numbers.append(fmpq(k if rng.random() < 0.5 else -k, grid * shrink))
        elif math.isinf(high):
            numbers.append(_exact(low) + fmpq(k, grid * shrink))
        elif math.isinf(low):
            numbers.append(_exact(high) - fmpq(k, grid * shrink))
        else:
            numbers.append(_exact(low) + (_exact(high) - _exact(low)) * fmpq(k, 4 * grid))
    return numbers


def _exact(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


# ---------------------------------------------------------------------- matrices of a kind, on the last two axes
def _real(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    rows, columns = shape
    steps = rng.sample(range(1, 3 * _grid(rows * columns)), rows * columns)
    return [[fmpq(steps[i * columns + j] * rng.choice((-1, 1)), 16) for j in range(columns)] for i in range(rows)]


def _spd(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    n = shape[-1]
    a = _real((n, n), rng)
    return [[sum((a[i][k] * a[j][k] for k in range(n)), fmpq(int(i == j))) for j in range(n)] for i in range(n)]


def _posdef_nonsym(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    m, a = _spd(shape, rng), _real(shape, rng)
    n = shape[-1]
    return [
        [m[i][j] + a[min(i, j)][max(i, j)] * (1 if i < j else -1 if i > j else 0) for j in range(n)] for i in range(n)
    ]


def _dominant(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    m = _real(shape, rng)
    for i in range(min(shape)):
        m[i][i] = sum((abs(v) for v in m[i]), fmpq(1)) * rng.choice((-1, 1))
    return m


def _lower(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    m = _real(shape, rng)
    return [[v if j < i else abs(v) if i == j else fmpq(0) for j, v in enumerate(row)] for i, row in enumerate(m)]


def _rank_one_less(shape: tuple[int, ...], rng: random.Random) -> list[list[fmpq]]:
    m = _real(shape, rng)
    m[-1] = [sum((row[j] for row in m[:-1]), fmpq(0)) for j in range(shape[-1])]
    return m


def _stacked(build: Any) -> Any:
    def make(shape: tuple[int, ...], rng: random.Random) -> Values:
        if len(shape) < 2:
            raise UnsupportedError(f"a matrix domain on an array with {len(shape)} axes; it needs two")
        values: Values = {}
        for lead in places(shape[:-2]):
            for i, row in enumerate(build(shape[-2:], rng)):
                for j, v in enumerate(row):
                    values[(*lead, i, j)] = v
        return values

    return make


_MATRICES: dict[str, Any] = {
    "spd": _stacked(_spd),
    "posdef_nonsym": _stacked(_posdef_nonsym),
    "invertible": _stacked(_dominant),
    "fullrank": _stacked(_dominant),
    "lower": _stacked(_lower),
    "rank_one_less": _stacked(_rank_one_less),
}

# Domains whose entries are related in ways that the exact field does not build in: there the drawn numbers are used.
CONSTANT_DOMAINS = frozenset({*_MATRICES, "one_zero"})
