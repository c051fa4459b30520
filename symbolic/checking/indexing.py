"""Index expressions at a point: letters, numbers, sizes, affine forms and elements of integer tensors, exactly."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy as sp
from flint import fmpq

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import Element, Tensor
from ..language.sizes import Size
from .fields import Undefined, integer, rational

Env = dict[Any, Any]
Exact = Callable[[Any, Env], fmpq]


def union(*groups: tuple[Any, ...]) -> tuple[Any, ...]:
    """The names of several groups, each once, in order."""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(groups)))


@lru_cache(maxsize=20000)
def is_discrete(node: Any) -> bool:
    """Whether an expression is made of indices, sizes and numbers only."""
    if isinstance(node, (Index, Size, sp.Rational)):
        return True
    if isinstance(node, (sp.Add, sp.Mul, sp.floor, sp.ceiling, sp.Mod)):
        return all(is_discrete(a) for a in node.args)
    return isinstance(node, sp.Pow) and is_discrete(node.base) and bool(node.exp.is_Integer)


@lru_cache(maxsize=20000)
def exact_code(node: Any) -> tuple[Exact, tuple[Any, ...]]:
    """The code of an index expression (letters, sizes, numbers, elements of integer tensors), and its free indices."""
    if isinstance(node, Index):
        return (lambda field, env: fmpq(env[node])), (node,)
    if isinstance(node, Size):
        return (lambda field, env: fmpq(field.point.sizes[node])), ()
    if isinstance(node, sp.Rational):
        value = rational(node)
        return (lambda field, env: value), ()
    if isinstance(node, Tensor) and not node.shape:
        return (lambda field, env: field.point.value(node, ())), ()
    if isinstance(node, Element):
        places, free = places_code(node)
        return (lambda field, env: field.point.value(node.tensor, places(field, env))), free
    if isinstance(node, (sp.Add, sp.Mul, sp.Pow, sp.floor, sp.ceiling, sp.Mod)):
        parts = [exact_code(a) for a in node.args]
        free = union(*(f for _, f in parts))
        runs = [r for r, _ in parts]
        combine = next(c for kind, c in _EXACT if isinstance(node, kind))
        return (lambda field, env: combine([r(field, env) for r in runs])), free
    raise UnsupportedError(
        f"{node} stands as an index; an index is made of letters, numbers, sizes and integer tensors"
    )


def _total(values: list[fmpq]) -> fmpq:
    return sum(values, fmpq(0))


def _product(values: list[fmpq]) -> fmpq:
    result = fmpq(1)
    for v in values:
        result *= v
    return result


def _power(values: list[fmpq]) -> fmpq:
    base, exponent = values
    if base == 0 and exponent < 0:
        raise Undefined("division by zero")
    return base ** integer(exponent)


_EXACT: tuple[tuple[Any, Callable[[list[fmpq]], fmpq]], ...] = (
    (sp.Add, _total),
    (sp.Mul, _product),
    (sp.Pow, _power),
    (sp.floor, lambda v: fmpq(v[0].floor())),
    (sp.ceiling, lambda v: fmpq(v[0].ceil())),
    (sp.Mod, lambda v: v[0] - v[1] * (v[0] / v[1]).floor()),
)


def size_at(size: Any, field: Any) -> int:
    """A size at the sizes of the field's point."""
    return field.point.size(size)


def places_code(node: Any) -> tuple[Callable[[Any, Env], tuple[int, ...]], tuple[Any, ...]]:
    tensor, indices = node.tensor, node.indices
    if all(isinstance(i, Index) for i in indices) and all(
        i.size == n for i, n in zip(indices, tensor.shape, strict=True)
    ):
        return (lambda field, env: tuple([env[i] for i in indices])), union(indices)
    codes = [exact_code(i) for i in indices]

    def places(field: Any, env: Env) -> tuple[int, ...]:
        found = tuple([integer(run(field, env)) for run, _ in codes])
        for axis, (value, n) in enumerate(zip(found, tensor.shape, strict=True)):
            if not 0 <= value < size_at(n, field):
                raise Undefined(
                    f"index {value} does not fit axis {axis} of {tensor.name} with size {size_at(n, field)}"
                )
        return found

    return places, union(*(f for _, f in codes))
