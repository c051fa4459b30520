"""Small sizes for the symbols of an expression, pairwise different, so that two axes never agree by luck."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import sympy as sp

from ..language.indices import Index
from ..language.linear_algebra import MatrixTensor
from ..language.nodes import DefinedTensor, Tensor
from ..language.sizes import Size, size

Binding = dict[Any, int]


def shape_sizes(expressions: Iterable[Any]) -> tuple[list[sp.Expr], list[Any]]:
    """The sizes of all axes and indices (with repetition), and all size symbols, in order of first appearance."""
    axes: list[sp.Expr] = []
    symbols: dict[Any, None] = {}
    seen: set[Any] = set()
    stack = list(expressions)[::-1]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Size):
            symbols.setdefault(node)
        elif isinstance(node, Index):
            axes.append(node.size)
            stack.append(node.size)
        elif isinstance(node, Tensor):
            axes.extend(node.shape)
            stack.extend(node.shape[::-1])
            bound = index_bound(node)
            if bound is not None:
                stack.append(bound)
            if isinstance(node, (DefinedTensor, MatrixTensor)):
                stack.append(node.body)
        stack.extend(node.args[::-1])
    return axes, list(symbols)


def index_bound(tensor: Tensor) -> sp.Expr | None:
    """The size below which the entries of an integer tensor lie (``index<K``); None for other tensors."""
    _, mark, text = tensor.domain.name.partition("index<")
    return size(text) if mark else None


def value_at(expression: sp.Expr, binding: Binding) -> int | None:
    """A size expression at bound symbols; None where it is not an integer."""
    if isinstance(expression, Size):
        return binding[expression]
    if expression.is_Integer:
        return int(expression)
    value = expression.xreplace({s: sp.Integer(n) for s, n in binding.items()})
    return int(value) if value.is_Integer else None


def bindings(expressions: Iterable[Any], fixed: Binding | None = None) -> Iterator[Binding]:
    """Bindings with pairwise different sizes, small ones first; symbols that occur on more axes get the smaller sizes.

    Every binding differs from the ones before in every symbol that is not `fixed`, as far as four bindings go.
    """
    axes, symbols = shape_sizes(expressions)
    fixed = {s: n for s, n in (fixed or {}).items() if s in symbols}
    free = [s for s in symbols if s not in fixed]
    if not free:
        yield dict(fixed)
        return
    count = {s: sum(s in a.free_symbols for a in axes) for s in free}
    free.sort(key=lambda s: (-count[s], s.name))
    distinct = list(dict.fromkeys(axes))
    given: list[Binding] = []
    for start in (2, 3, 4, 2):
        found = next(_suitable(free, fixed, distinct, start, given), None)
        if found is not None:
            given.append(found)
            yield found


def _suitable(
    free: list[Any], fixed: Binding, axes: list[sp.Expr], start: int, given: list[Binding]
) -> Iterator[Binding]:
    m = len(free)
    taken = set(fixed.values()) | {int(a) for a in axes if a.is_Integer}
    lowest = [n for n in range(2, 2 + m + len(taken) + 3) if n not in taken]
    rotated = lowest[start - 2 : m + 1] + lowest[: start - 2] if m > 1 else lowest[start - 2 :]
    fallback: Binding | None = None
    for values in itertools.islice(itertools.permutations(rotated, m), 2000):
        binding = {**fixed, **dict(zip(free, values, strict=True))}
        if any(all(binding[s] == old[s] for s in free) for old in given):
            continue
        sizes = [value_at(a, binding) for a in axes]
        if any(n is None or n < 1 for n in sizes):
            continue
        if len(set(sizes)) == len(sizes):
            yield binding
            return
        fallback = fallback or binding
    if fallback is not None:
        yield fallback


def with_size_one(expressions: Iterable[Any], binding: Binding, fixed: Binding | None = None) -> Iterator[Binding]:
    """The binding with one symbol at a time set to 1, where every axis keeps at least one element."""
    axes, _ = shape_sizes(expressions)
    for symbol in binding:
        if fixed and symbol in fixed:
            continue
        changed = {**binding, symbol: 1}
        sizes = [value_at(a, changed) for a in axes]
        if all(n is not None and n >= 1 for n in sizes):
            yield changed


def sizes_text(binding: Binding) -> str:
    """A binding as text: ``N=2, K=3``."""
    return (
        ", ".join(f"{s.name}={n}" for s, n in sorted(binding.items(), key=lambda item: item[0].name))
        or "the given sizes"
    )
