"""A sum divided by its size is a mean: 1/n 1ᵀ u is mean(u), 1/n X 1 is rowmean(X)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from .vectors import Dot, Elementwise, Mean, Ones, Outer, Product, Quotient, Repeated, RowMean, Vector


def with_means(plain: sp.Expr, factors: Sequence[Vector]) -> tuple[sp.Expr, list[Vector]]:
    """A plain scalar times factors: the sums whose size divides the scalar as means, and the scalar that is left."""
    result: list[Vector] = []
    for f in factors:
        plain, f = _averaged(plain, f)
        result.append(f)
    return plain, result


def _averaged(plain: sp.Expr, v: Vector) -> tuple[sp.Expr, Vector]:
    """Inside of what is linear only; the first sum that fits."""
    match v:
        case Dot(left=Ones(size=n), right=Product(factors=(*matrices, Ones(size=m)))):
            rest = _divided(plain, n * m)
            return (plain, v) if rest is None else (rest, Mean(_product(matrices)))
        case Dot(left=Ones(size=n), right=right):
            rest = _divided(plain, n)
            return (plain, v) if rest is None else (rest, Mean(right))
        case Product(factors=(*matrices, Ones(size=n))):
            rest = _divided(plain, n)
            return (plain, v) if rest is None else (rest, RowMean(_product(matrices)))
        case Repeated(vector=vector):
            rest, vector = _averaged(plain, vector)
            return rest, replace(v, vector=vector)
        case Outer(left=left, right=right):
            plain, left = _averaged(plain, left)
            plain, right = _averaged(plain, right)
            return plain, Outer(left, right)
        case Quotient(above=above, below=below):
            rest, above = _averaged(plain, above)
            return rest, Quotient(above, below)
        case Elementwise(factors=factors):
            plain, found = with_means(plain, factors)
            return plain, Elementwise(tuple(found))
    return plain, v


def _product(matrices: Sequence[Vector]) -> Vector:
    return matrices[0] if len(matrices) == 1 else Product(tuple(matrices))


def _divided(plain: sp.Expr, size: sp.Expr) -> sp.Expr | None:
    """plain · size, if the size divides it away; None if it does not."""
    rest = sp.Mul(plain, size)
    return rest if size.free_symbols and not rest.free_symbols & size.free_symbols else None
