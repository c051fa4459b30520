"""Inverse and determinant at a concrete size, by cofactors: only sums, products and one division, in any field.

A matrix that may be singular at the drawn point gives no value (the division says so).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .fields import Undefined

LARGEST = 8  # minors are kept by their columns: 2^n of them


def determinant(entry: Callable[[int, int], Any], n: int, field: Any) -> Any:
    """The determinant of an n × n matrix of field values."""
    if n > LARGEST:
        raise Undefined(f"a determinant of size {n} is too large for cofactors")
    memo: dict[tuple[int, frozenset[int]], Any] = {}

    def minor(row: int, columns: frozenset[int]) -> Any:
        if not columns:
            return field.one
        key = (row, columns)
        if key not in memo:
            total = None
            for place, column in enumerate(sorted(columns)):
                term = entry(row, column) * minor(row + 1, columns - {column})
                term = -term if place % 2 else term
                total = term if total is None else total + term
            memo[key] = total
        return memo[key]

    return minor(0, frozenset(range(n)))


def inverse_entry(entry: Callable[[int, int], Any], n: int, field: Any, i: int, j: int) -> Any:
    """The element (i, j) of the inverse: the cofactor of (j, i) over the determinant."""
    rows = [r for r in range(n) if r != j]
    columns = [c for c in range(n) if c != i]
    cofactor = determinant(lambda r, c: entry(rows[r], columns[c]), n - 1, field)
    if (i + j) % 2:
        cofactor = -cofactor
    return cofactor * field.invert(determinant(entry, n, field))
