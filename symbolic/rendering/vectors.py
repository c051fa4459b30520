"""Vector notation: p − y, diag(p) − p pᵀ, p ⊙ (g − (gᵀp) 1), as a small tree of scalars, vectors and matrices.

`vector_form` makes it from index form and `vector_notation` writes it; here are its nodes. Each node has one meaning in
NumPy, so that a vector form can be evaluated and compared. A vector is a column; `ndim` is 0 for a scalar, 1 for a
vector, 2 for a matrix, and more only for what is elementwise throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Tensor


@dataclass(frozen=True)
class Whole:
    """A declared array, all of it."""

    tensor: Tensor

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.tensor.shape)


@dataclass(frozen=True)
class Scalar:
    """An expression that none of the axes touches, as it is in index form."""

    expression: sp.Expr
    ndim = 0


@dataclass(frozen=True)
class Ones:
    """The vector of ones."""

    size: sp.Expr
    ndim = 1


@dataclass(frozen=True)
class Identity:
    """The identity matrix."""

    size: sp.Expr
    ndim = 2


@dataclass(frozen=True)
class Plus:
    """A sum of terms of one ndim, each with its sign (True for minus)."""

    terms: tuple[tuple[bool, Vector], ...]

    @property
    def ndim(self) -> int:
        """As its terms."""
        return self.terms[0][1].ndim


@dataclass(frozen=True)
class Scaled:
    """Scalars times one array."""

    scalars: tuple[Vector, ...]
    array: Vector

    @property
    def ndim(self) -> int:
        """As the array."""
        return self.array.ndim


@dataclass(frozen=True)
class Elementwise:
    """The elementwise product ⊙ of arrays of one ndim."""

    factors: tuple[Vector, ...]

    @property
    def ndim(self) -> int:
        """As its factors."""
        return self.factors[0].ndim


@dataclass(frozen=True)
class Quotient:
    """The elementwise quotient ⊘ of arrays of one ndim; a fraction for scalars."""

    above: Vector
    below: Vector

    @property
    def ndim(self) -> int:
        """As the numerator."""
        return self.above.ndim


@dataclass(frozen=True)
class Applied:
    """A function of one argument, element by element."""

    function: type[sp.Function]
    argument: Vector

    @property
    def ndim(self) -> int:
        """As its argument."""
        return self.argument.ndim


@dataclass(frozen=True)
class Raised:
    """An elementwise power with a scalar exponent."""

    base: Vector
    exponent: sp.Expr

    @property
    def ndim(self) -> int:
        """As its base."""
        return self.base.ndim


@dataclass(frozen=True)
class Dot:
    """uᵀ v, a scalar."""

    left: Vector
    right: Vector
    ndim = 0


@dataclass(frozen=True)
class Outer:
    """u vᵀ, a matrix."""

    left: Vector
    right: Vector
    ndim = 2


@dataclass(frozen=True)
class Product:
    """A product of matrices, of which the last factor may be a vector."""

    factors: tuple[Vector, ...]

    @property
    def ndim(self) -> int:
        """As its last factor."""
        return self.factors[-1].ndim


@dataclass(frozen=True)
class Diagonal:
    """The diagonal matrix of a vector."""

    vector: Vector
    ndim = 2


@dataclass(frozen=True)
class Transpose:
    """The transpose of a matrix."""

    matrix: Vector
    ndim = 2


@dataclass(frozen=True)
class Repeated:
    """A vector repeated to a matrix: as each row (`axis` 0), or as each column (`axis` 1); `size` is how often.

    Beside a matrix it is written as the vector alone, as NumPy broadcasts it; it is used only where the two sizes
    differ or the vector is a statistic of rows or columns, so that the reader cannot take one axis for the other.
    """

    vector: Vector
    axis: int
    size: sp.Expr
    ndim = 2


@dataclass(frozen=True)
class RowMean:
    """The mean of each row of a matrix, a vector."""

    matrix: Vector
    ndim = 1


@dataclass(frozen=True)
class Mean:
    """The mean of all elements of an array, a scalar."""

    array: Vector
    ndim = 0


@dataclass(frozen=True)
class Inner:
    """⟨A, B⟩: the sum of all elementwise products of two arrays with two axes or more."""

    left: Vector
    right: Vector
    ndim = 0


@dataclass(frozen=True)
class Softmax:
    """Softmax of a vector, or of each row of a matrix."""

    argument: Vector

    @property
    def ndim(self) -> int:
        """As its argument."""
        return self.argument.ndim


@dataclass(frozen=True)
class Larger:
    """The larger of an array and a scalar, element by element; the smaller with `smaller`."""

    array: Vector
    bound: sp.Expr
    smaller: bool = False

    @property
    def ndim(self) -> int:
        """As the array."""
        return self.array.ndim


@dataclass(frozen=True)
class Holds:
    """1 where the array stands in a relation (">", ">=", "<", "<=") to a scalar, else 0, element by element."""

    array: Vector
    sign: str
    bound: sp.Expr

    @property
    def ndim(self) -> int:
        """As the array."""
        return self.array.ndim


@dataclass(frozen=True)
class Summed:
    """A sum over indices of the leading axes, whose arrays are `Slice`s at these indices."""

    indices: tuple[Index, ...]
    array: Vector

    @property
    def ndim(self) -> int:
        """As the array."""
        return self.array.ndim


class Slice(Tensor):
    """What is left of an array (`whole`) when its first axes are `fixed` at indices, and axes of size 1 at 0.

    It stands in an index expression as an array of fewer axes, by the name of the whole.
    """

    __slots__ = ("whole", "fixed", "axes")

    whole: Tensor
    fixed: tuple[Index, ...]
    axes: tuple[int, ...]  # the axes of the whole that are left

    def __new__(cls, whole: Tensor, fixed: tuple[Index, ...], axes: tuple[int, ...]) -> Slice:
        self = super().__new__(cls, whole.name, tuple(whole.shape[a] for a in axes), whole.domain)
        self.whole, self.fixed, self.axes = whole, fixed, axes
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[object, ...], dict[str, object]]:
        return ((self.whole, self.fixed, self.axes), {})

    def _hashable_content(self) -> tuple[object, ...]:
        # flat, because SymPy compares what is in a tuple with < and an index would answer with a relation
        return (self.name, self.whole, *self.fixed, str(self.axes))


@dataclass(frozen=True)
class Largest:
    """The largest element of an array, a scalar."""

    array: Vector
    ndim = 0


Vector: TypeAlias = (
    "Whole | Scalar | Ones | Identity | Plus | Scaled | Elementwise | Quotient | Applied | Raised | Dot | Outer | "
    "Product | Diagonal | Transpose | Largest | Repeated | RowMean | Mean | Inner | Softmax | Larger | Holds | Summed"
)


def transposed(matrix: Vector) -> Vector:
    """The transpose, as it is written with the fewest transposes: (A B)ᵀ is Bᵀ Aᵀ, and (P ⊙ Q)ᵀ stays."""
    match matrix:
        case Identity() | Diagonal():
            return matrix
        case Transpose(matrix=inner):
            return inner
        case Outer(left=left, right=right):
            return Outer(right, left)
        case Repeated(vector=vector, axis=axis, size=size):
            return Repeated(vector, 1 - axis, size)
        case Product(factors=factors):
            return Product(tuple(transposed(f) for f in reversed(factors)))
        case Applied(function=function, argument=argument):
            return Applied(function, transposed(argument))
        case Raised(base=base, exponent=exponent):
            return Raised(transposed(base), exponent)
    inside = _transposed_inside(matrix)
    return inside if transposes(inside) <= transposes(matrix) else Transpose(matrix)


def _transposed_inside(matrix: Vector) -> Vector:
    match matrix:
        case Elementwise(factors=factors):
            return Elementwise(tuple(map(transposed, factors)))
        case Plus(terms=terms):
            return Plus(tuple((negative, transposed(t)) for negative, t in terms))
        case Scaled(scalars=scalars, array=array):
            return Scaled(scalars, transposed(array))
        case Quotient(above=above, below=below):
            return Quotient(transposed(above), transposed(below))
        case Larger(array=array):
            return replace(matrix, array=transposed(array))
        case Holds(array=array):
            return replace(matrix, array=transposed(array))
    return Transpose(matrix)


def transposes(v: Vector) -> int:
    """How many transposes are written in a vector form."""
    return sum(isinstance(x, Transpose) for x in parts_of(v))


def parts_of(v: Any) -> Iterator[Vector]:
    """The vector form and everything inside it."""
    if isinstance(v, tuple):
        for x in v:
            yield from parts_of(x)
    elif is_dataclass(v):
        yield v  # type: ignore[misc]
        for f in fields(v):
            yield from parts_of(getattr(v, f.name))
