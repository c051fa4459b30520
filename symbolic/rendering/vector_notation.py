r"""Vector form -> notation tree: how `vectors` are written.

Where a vector stands beside a matrix it is written alone, X W + b, and what is summed along rows or columns as
rowsum(X) or colsum(X), instead of with the vector of ones; elsewhere A B 1 and u 1ᵀ are written out. A divisor stands
at the end, dS K/√d.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from ..language.indices import Index
from ..language.nodes import Element
from .layout import call_name, layout, product
from .letters import Letters
from .names import Name, written
from .tree import (
    Big,
    Bracket,
    Call,
    Exponential,
    Factors,
    Fraction,
    Minus,
    Node,
    Numeral,
    Pairing,
    Power,
    Relation,
    Root,
    Subscripted,
    Terms,
    Transposed,
)
from .vectors import (
    Applied,
    Diagonal,
    Dot,
    Elementwise,
    Holds,
    Identity,
    Inner,
    Larger,
    Largest,
    Mean,
    Ones,
    Outer,
    Plus,
    Product,
    Quotient,
    Raised,
    Repeated,
    RowMean,
    Scalar,
    Scaled,
    Slice,
    Softmax,
    Summed,
    Transpose,
    Vector,
    Whole,
    parts_of,
    transposed,
    transposes,
)


def notation(v: Vector, letters: Letters) -> Node:
    """The notation tree of a vector form."""
    return _Notation(letters, {}).show(v)


def repetition_note(forms: Iterable[Vector]) -> tuple[str, ...]:
    """A sentence that says what is repeated along an axis without being written so; none where nothing is."""
    found: dict[str, None] = {}
    for form in forms:
        for x in parts_of(form):
            if isinstance(x, (Plus, Elementwise, Quotient)) and _has_full(x):
                found.update(dict.fromkeys(_kind(y) for y in parts_of(x) if isinstance(y, Repeated)))
    if not found:
        return ()
    *first, last = sorted(found)
    words = f"{', '.join(first)} and {last} are" if first else f"{last} is"
    return (f"Beside a matrix, {words} repeated along the missing axis, as NumPy broadcasts.",)


def _kind(v: Repeated) -> str:
    for x in parts_of(v.vector):
        if isinstance(x, RowMean):
            return "rowmean" if v.axis else "colmean"
        if isinstance(x, Product) and isinstance(x.factors[-1], Ones):
            return "rowsum" if v.axis else "colsum"
    return "a vector"


def _is_repeated(v: Vector) -> bool:
    """Whether a matrix has equal rows or equal columns by its making."""
    match v:
        case Repeated():
            return True
        case Outer(left=left, right=right):
            return isinstance(left, Ones) or isinstance(right, Ones)
        case Scaled(array=array):
            return _is_repeated(array)
        case Raised(base=inner) | Applied(argument=inner):
            return _is_repeated(inner)
        case Elementwise(factors=parts):
            return all(map(_is_repeated, parts))
        case Plus(terms=terms):
            return all(_is_repeated(t) for _, t in terms)
        case Quotient(above=above, below=below):
            return _is_repeated(above) and _is_repeated(below)
    return False


def _has_full(v: Plus | Elementwise | Quotient) -> bool:
    """Whether a part has all elements of its own, so that the parts beside it may be repeated."""
    return v.ndim == 2 and not _is_repeated(v)


class _Notation:
    def __init__(self, letters: Letters, shown: dict[Index, Name]) -> None:
        self.letters = letters
        self.shown = shown  # letters of the indices summed over, for the slices

    def show(self, v: Vector, beside: bool = False, axis: int | None = None) -> Node:
        """`beside` a matrix, what is repeated is a vector; along an `axis`, M 1 is rowsum(M) or colsum(M)."""
        match v:
            case Whole(tensor=tensor):
                return self._whole(tensor)
            case Scalar(expression=expression):
                return layout(self._subscripted(expression), self.letters)
            case Ones():
                return Numeral("1") if axis is not None else Name(r"\mathbf{1}", "1")
            case Identity():
                return Name(r"\mathbf{I}", "I")
            case Plus(terms=terms):
                return self._plus(terms, beside or _has_full(v), axis)
            case Scaled(scalars=scalars) if Scalar(sp.S.Zero) in scalars:
                return Name(r"\mathbf{0}", "0")
            case Scaled():
                return self._scaled(v, beside, axis)
            case Elementwise(factors=factors):
                parts = [self.show(f, beside or _has_full(v), axis) for f in factors]
                return product(parts) if v.ndim == 0 else Factors(tuple(parts), "times")
            case Quotient(above=above, below=below):
                near = beside or _has_full(v)
                a, b = self.show(above, near, axis), self.show(below, near, axis)
                return Fraction(a, b) if v.ndim == 0 else Factors((a, b), "over")
            case Applied(function=function, argument=argument):
                inner = self.show(argument, beside, axis)
                # e^A of a matrix would be read as the matrix exponential
                if function is sp.exp:
                    return Exponential(inner, letter=v.ndim < 2 and not self.letters.is_taken("e"))
                name, bare = call_name(function, self.letters)
                return Call(name, (inner,), bare)
            case Raised(base=base, exponent=exponent):
                return self._raised(v.ndim, self.show(base, beside, axis), exponent)
            case Dot(left=left, right=right):
                return Factors((Transposed(self.show(left)), *self._flat(right)))
            case Outer(left=Ones(), right=Ones()) if beside:
                return Numeral("1")
            case Repeated(vector=vector, axis=own, size=size):
                if beside:
                    return self.show(vector, axis=own)
                ones = Ones(size)
                return self.show(Outer(vector, ones) if own else Outer(ones, vector))
            case Product(factors=(*matrices, Ones())) if axis is not None or len(matrices) == 1:
                matrix = matrices[0] if len(matrices) == 1 else Product(tuple(matrices))
                return self._statistic("sum", matrix, axis)
            case Outer() | Product():
                return Factors(tuple(self._flat(v)))
            case RowMean(matrix=matrix):
                return self._statistic("mean", matrix, axis)
            case Mean(array=array):
                return _call("mean", self.show(array))
            case Inner(left=left, right=right):
                return Pairing(self.show(left), self.show(right))
            case Softmax(argument=argument):
                return _call("softmax", self.show(argument))
            case Larger(array=array, bound=bound, smaller=smaller):
                which = "min" if smaller else "max"
                return Call(Name(rf"\{which}", which), (self.show(array), layout(bound, self.letters)))
            case Holds(array=array, sign=sign, bound=bound):
                return Bracket(Relation(self.show(array), sign, layout(bound, self.letters)))
            case Diagonal(vector=vector):
                return _call("diag", self.show(vector))
            case Transpose(matrix=matrix):
                return Transposed(self.show(matrix))
            case Largest(array=array):
                return Call(Name(r"\max", "max"), (self.show(array),))
            case Summed(indices=indices, array=array):
                return self._summed(indices, array)
        raise TypeError(f"no notation for {type(v).__name__}")

    # ------------------------------------------------------------------ slices and sums over them
    def _whole(self, tensor: sp.Symbol) -> Node:
        name = self.letters.name(tensor)
        if isinstance(tensor, Slice) and any(i in self.shown for i in tensor.fixed):
            return Subscripted(name, tuple(self.shown.get(i) or self.letters.letter(i) for i in tensor.fixed))
        return name

    def _subscripted(self, expression: sp.Expr) -> sp.Expr:
        """Elements at the indices that are summed over, written with them; the others by name."""
        return expression.xreplace(
            {
                t: Element(t.whole, *t.fixed) if len(t.fixed) == len(t.whole.shape) else t
                for t in expression.atoms(Slice)
                if any(i in self.shown for i in t.fixed)
            }
        )

    def _summed(self, indices: tuple[Index, ...], array: Vector) -> Node:
        shown = dict(self.shown)
        for i in indices:
            shown[i] = written(self.letters.bound(i, [n.text for n in shown.values()]))
        body = _Notation(self.letters, shown).show(array)
        sizes = tuple(layout(i.size, self.letters) for i in indices)
        return Big("sum", tuple(shown[i] for i in indices), sizes, body)

    # ------------------------------------------------------------------ products and sums
    def _plus(self, terms: Iterable[tuple[bool, Vector]], beside: bool, axis: int | None) -> Node:
        shown = []
        for negative, term in terms:
            node = self.show(term, beside, axis)
            flip = isinstance(node, Minus)
            shown.append((negative ^ flip, node.inner if isinstance(node, Minus) else node))
        if len(shown) == 1:
            return Minus(shown[0][1]) if shown[0][0] else shown[0][1]
        return Terms(tuple(sorted(shown, key=lambda t: t[0])))

    def _scaled(self, v: Scaled, beside: bool, axis: int | None) -> Node:
        """Scalars before the array and divisors under it: 2 (p − y)/N."""
        above: list[Node] = []
        below: list[Node] = []
        for s in v.scalars:
            if isinstance(s, Quotient):
                below.append(self.show(s.below))
                s = s.above
            if isinstance(s, Scalar):
                over, under = s.expression.as_numer_denom()
                if under.free_symbols:
                    below.append(layout(self._subscripted(under), self.letters))
                    s = Scalar(over)
            if s != Scalar(sp.S.One):
                above.append(self.show(s))
        ones = isinstance(v.array, Outer) and isinstance(v.array.left, Ones) and isinstance(v.array.right, Ones)
        if (beside and ones) or (axis is not None and isinstance(v.array, Ones)):
            array: Node = product(above) if above else Numeral("1")
            above = []
        else:
            array = self.show(v.array, beside, axis)
        result = _signed_product(above, array)
        if not below:
            return result
        under_bar = product(below)
        if isinstance(result, Minus):
            return Minus(Fraction(result.inner, under_bar))
        return Fraction(result, under_bar)

    def _raised(self, ndim: int, base: Node, exponent: sp.Expr) -> Node:
        if exponent == sp.Rational(1, 2) and ndim < 2:
            return Root(base)
        power = layout(exponent, self.letters)
        if ndim and not isinstance(power, Name):
            from .latex import write as as_latex
            from .text import write as as_text

            power = Name(rf"\odot {as_latex(power, script=True)}", f"⊙{as_text(power, tight=True)}")
        return Power(base, power)

    def _statistic(self, kind: str, matrix: Vector, axis: int | None) -> Node:
        """rowsum(M), and colsum(N) where M is the transpose of N; along no axis, whichever needs fewer transposes."""
        turned = transposed(matrix)
        if axis is None:
            axis = 0 if transposes(turned) < transposes(matrix) else 1
        return _call(f"row{kind}", self.show(matrix)) if axis else _call(f"col{kind}", self.show(turned))

    def _flat(self, v: Vector) -> list[Node]:
        # the matrix product is associative, so a product inside a product needs no parentheses
        if isinstance(v, Product):
            return [part for f in v.factors for part in self._flat(f)]
        if isinstance(v, Outer):
            return [*self._flat(v.left), Transposed(self.show(v.right))]
        return [self.show(v)]


def _call(name: str, argument: Node) -> Call:
    return Call(Name(rf"\operatorname{{{name}}}", name), (argument,))


def _signed_product(scalars: list[Node], array: Node) -> Node:
    sign = False
    parts: list[Node] = []
    for s in scalars:
        if isinstance(s, Minus):
            sign, s = not sign, s.inner
        parts.append(s)
    if isinstance(array, Minus):
        sign, array = not sign, array.inner
    result: Node = Factors((*parts, array)) if parts else array
    return Minus(result) if sign else result
