"""Functions of a whole matrix (inverse, determinant) as tensors that know the matrix they are made of.

`MatrixTensor` is a named array like any other, so its elements stand in index expressions as usual; it is closed: its
matrix is given by a body in bound parameters (as a definition is), of which the last two are row and column. An inverse
and a determinant are not opened into cofactors: what holds of them for every size is a relation (Σ_j X⁻¹_ij X_jk =
δ_ik) or a derivative (d X⁻¹ = −X⁻¹ dX X⁻¹, d det X = det X tr(X⁻¹ dX)).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from .arrays import Array, ArrayLike, as_array, shape_text
from .errors import ShapeError, UnsupportedError
from .indices import Index, bound_index, index
from .nodes import Element, Tensor, element, free_indices, level, replace
from .rearrangement import eye, fresh, swapaxes
from .sizes import same_size
from .vocabulary import matmul


class MatrixTensor(Tensor):
    """The inverse (`kind` "inv") or determinant ("det") of a square matrix; leading parameters are a batch.

    `parameters` are bound indices, one an axis of the matrix array, and `body` its element in them. The inverse has the
    shape of the matrix, the determinant the shape of the batch.
    """

    __slots__ = ("body", "kind", "parameters")

    kind: str
    parameters: tuple[Index, ...]
    body: sp.Expr

    def __new__(cls, kind: str, indices: tuple[Index, ...], body: sp.Expr) -> MatrixTensor:
        top = level(body)
        parameters = tuple(bound_index(i.size, top + 1 + n) for n, i in enumerate(indices))
        closed = replace(body, dict(zip(indices, parameters, strict=True)))
        shape = tuple(i.size for i in indices)
        self = super().__new__(cls, f"{kind}({_name(closed, parameters)})", shape if kind == "inv" else shape[:-2])
        self.kind, self.parameters, self.body = kind, parameters, closed
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, object]]:
        return ((self.kind, self.parameters, self.body), {})

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.kind, self.shape, self.parameters, self.body)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        return {self} | (self.body.free_symbols - set(self.parameters))

    def matrix(self) -> Array:
        """The matrix array that this is a function of, over new indices."""
        own = tuple(i.fresh() for i in self.parameters)
        return Array(own, replace(self.body, dict(zip(self.parameters, own, strict=True))))


def _name(body: sp.Expr, parameters: tuple[Index, ...]) -> str:
    if isinstance(body, Element) and body.indices == parameters:
        return body.tensor.name
    if isinstance(body, Element) and body.indices == (*parameters[:-2], parameters[-1], parameters[-2]):
        return f"{body.tensor.name}.T"
    return str(body)


def _square(value: ArrayLike, name: str) -> Array:
    value = as_array(value)
    if value.ndim < 2 or not same_size(*value.shape[-2:]):
        raise ShapeError(f"{name} needs a square matrix, got the shape {shape_text(value.shape)}")
    return value


def _oriented(value: Array) -> tuple[Array, bool]:
    """The matrix or its transpose, always the same one of the two, and whether it is the transpose."""
    turned = swapaxes(value, -1, -2)
    one, other = (MatrixTensor("inv", a.indices, a.body).body for a in (value, turned))
    return (value, False) if one.sort_key() <= other.sort_key() else (turned, True)


def _closed(value: Array) -> tuple[Array, tuple[Index, ...]]:
    """The array with the letters that it holds besides its own (of a loop) as leading axes."""
    extra = tuple(i for i in free_indices(value.body) if i not in value.indices)
    return Array((*extra, *value.indices), value.body), extra


def inv(value: ArrayLike) -> Array:
    """The inverse of a square matrix, or of a batch of them.

    >>> from lemmata.symbolic.language.arrays import array
    >>> inv(array("A", "N,N")).element(0, 1)
    inv(A)_{0,1}
    """
    value = fresh(_square(value, "inv"))
    inner = value.body.tensor if isinstance(value.body, Element) else None
    if isinstance(inner, MatrixTensor) and inner.kind == "inv" and value.body.indices == value.indices:
        return inner.matrix()
    oriented, turned = _oriented(value)
    whole, extra = _closed(oriented)
    tensor = MatrixTensor("inv", whole.indices, whole.body)
    own = oriented.indices
    result = Array(own, element(tensor, *extra, *own))
    return swapaxes(result, -1, -2) if turned else result


def det(value: ArrayLike) -> Array:
    """The determinant of a square matrix, or of a batch of them."""
    value = fresh(_square(value, "det"))
    oriented, _ = _oriented(value)
    whole, extra = _closed(oriented)
    tensor = MatrixTensor("det", whole.indices, whole.body)
    lead = oriented.indices[:-2]
    return Array(lead, element(tensor, *extra, *lead))


def slogdet(value: ArrayLike) -> tuple[Array, Array]:
    """The sign of the determinant and the logarithm of its absolute value."""
    d = det(value)
    return Array(d.indices, sp.sign(d.body)), Array(d.indices, sp.log(sp.Abs(d.body)))


def solve(matrix: ArrayLike, right: ArrayLike) -> Array:
    """X with matrix X = right, as the inverse times the right side."""
    return matmul(inv(matrix), right)


def matrix_power(value: ArrayLike, n: int) -> Array:
    """The n-th power of a square matrix, n a number."""
    value = _square(value, "matrix_power")
    if not isinstance(n, int):
        raise UnsupportedError(f"matrix_power with the exponent {n}; the exponent must be a number")
    base = inv(value) if n < 0 else value
    if n == 0:
        unit = eye(value.shape[-1])
        return Array((*value.indices[:-2], *unit.indices), unit.body)
    result = base
    for _ in range(abs(n) - 1):
        result = matmul(result, base)
    return result


def norm(value: ArrayLike, order: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Vector norms of any order, and of matrices the Frobenius norm and the largest sum of a row or column."""
    from . import vocabulary as np

    value = as_array(value)
    axes = tuple(range(value.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if order is None or (order == "fro" and len(axes) == 2) or (order == 2 and len(axes) == 1):
        return np.sqrt(np.sum(value * value, axes, keepdims))
    if len(axes) == 1:
        if order in (float("inf"), sp.oo):
            return np.max(np.absolute(value), axes, keepdims)
        if order in (float("-inf"), -sp.oo):
            return np.min(np.absolute(value), axes, keepdims)
        if order == 1:
            return np.sum(np.absolute(value), axes, keepdims)
        if order != 0:
            return np.sum(np.absolute(value) ** order, axes, keepdims) ** (1 / as_array(order))
    elif order in (1, float("inf")) and not keepdims:
        rows, columns = axes if order == 1 else axes[::-1]
        summed = np.sum(np.absolute(value), rows, True)
        return np.max(summed, (rows, columns))
    raise UnsupportedError(
        f"norm of order {order!r} over the axes {tuple(axes)} is not read; write it with sum, max and abs"
    )


__all__ = ["MatrixTensor", "det", "index", "inv", "matrix_power", "norm", "slogdet", "solve"]
