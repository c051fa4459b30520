"""Vector notation: p − y, diag(p) − p pᵀ, p ⊙ (g − (gᵀp) 1), as a small tree of scalars, vectors and matrices.

`vector_form` makes it from index form; here are its nodes and how they are written. Each node has one meaning in
NumPy, so that a vector form can be evaluated and compared. A vector is a column; `ndim` is 0 for a scalar, 1 for a
vector, 2 for a matrix, and more only for what is elementwise throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import sympy as sp

from ..language.nodes import Tensor
from .layout import call_name, layout, product
from .letters import Letters
from .names import Name
from .tree import Call, Exponential, Factors, Fraction, Minus, Node, Power, Root, Terms, Transposed


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
class Largest:
    """The largest element of an array, a scalar."""

    array: Vector
    ndim = 0


Vector: TypeAlias = (
    "Whole | Scalar | Ones | Identity | Plus | Scaled | Elementwise | Quotient | Applied | Raised | Dot | Outer | "
    "Product | Diagonal | Transpose | Largest"
)


def notation(v: Vector, letters: Letters) -> Node:
    """The notation tree of a vector form."""

    def show(v: Vector) -> Node:
        match v:
            case Whole(tensor=tensor):
                return letters.name(tensor)
            case Scalar(expression=expression):
                return layout(expression, letters)
            case Ones():
                return Name(r"\mathbf{1}", "1")
            case Identity():
                return Name(r"\mathbf{I}", "I")
            case Plus(terms=terms):
                shown = []
                for negative, term in terms:
                    node = show(term)
                    flip = isinstance(node, Minus)
                    shown.append((negative ^ flip, node.inner if isinstance(node, Minus) else node))
                if len(shown) == 1:
                    return Minus(shown[0][1]) if shown[0][0] else shown[0][1]
                return Terms(tuple(sorted(shown, key=lambda t: t[0])))
            case Scaled(scalars=scalars) if Scalar(sp.S.Zero) in scalars:
                return Name(r"\mathbf{0}", "0")
            case Scaled(scalars=scalars, array=array):
                over = [s.below for s in scalars if isinstance(s, Quotient) and s.above == Scalar(sp.S.One)]
                if over and isinstance(array, (Whole, Applied, Raised)):
                    rest = [show(s) for s in scalars if not (isinstance(s, Quotient) and s.above == Scalar(sp.S.One))]
                    fraction = Fraction(show(array), product([show(d) for d in over]))
                    return _scaled(rest, fraction) if rest else fraction
                return _scaled([show(s) for s in scalars], show(array))
            case Elementwise(factors=factors):
                parts = [show(f) for f in factors]
                return product(parts) if v.ndim == 0 else Factors(tuple(parts), "times")
            case Quotient(above=above, below=below):
                a, b = show(above), show(below)
                return Fraction(a, b) if v.ndim == 0 else Factors((a, b), "over")
            case Applied(function=function, argument=argument):
                # e^A of a matrix would be read as the matrix exponential
                if function is sp.exp:
                    return Exponential(show(argument), letter=v.ndim < 2 and not letters.is_taken("e"))
                name, bare = call_name(function, letters)
                return Call(name, (show(argument),), bare)
            case Raised(base=base, exponent=exponent):
                if exponent == sp.Rational(1, 2) and v.ndim < 2:
                    return Root(show(base))
                power = layout(exponent, letters)
                if v.ndim and not isinstance(power, Name):
                    from .latex import write as as_latex
                    from .text import write as as_text

                    power = Name(rf"\odot {as_latex(power, script=True)}", f"⊙{as_text(power, tight=True)}")
                return Power(show(base), power)
            case Dot(left=left, right=right):
                return Factors((Transposed(show(left)), *flat(right)))
            case Outer() | Product():
                return Factors(tuple(flat(v)))
            case Diagonal(vector=vector):
                return Call(Name(r"\operatorname{diag}", "diag"), (show(vector),))
            case Transpose(matrix=matrix):
                return Transposed(show(matrix))
            case Largest(array=array):
                return Call(Name(r"\max", "max"), (show(array),))
        raise TypeError(f"no notation for {type(v).__name__}")

    def flat(v: Vector) -> list[Node]:
        # the matrix product is associative, so a product inside a product needs no parentheses
        if isinstance(v, Product):
            return [part for f in v.factors for part in flat(f)]
        if isinstance(v, Outer):
            return [*flat(v.left), Transposed(show(v.right))]
        return [show(v)]

    return show(v)


def _scaled(scalars: list[Node], array: Node) -> Node:
    sign = False
    parts: list[Node] = []
    for s in scalars:
        if isinstance(s, Minus):
            sign, s = not sign, s.inner
        parts.append(s)
    if isinstance(array, Minus):
        sign, array = not sign, array.inner
    result: Node = Factors((*parts, array))
    return Minus(result) if sign else result
