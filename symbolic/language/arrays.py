"""Arrays over index expressions: a shape and one expression in one free index an axis.

This is the one vocabulary (NumPy's) in which definitions, theorems and users' formulas are written; `vocabulary` has
the functions. An `Array` is immutable. Broadcasting is NumPy's: axes are aligned from the right, and an axis of size 1
is stretched; sizes agree only when they are the same for every binding of their symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import sympy as sp

from .constants import exact_float
from .domains import Domain
from .errors import IndexError_, ShapeError
from .indices import Index, index
from .nodes import DefinedTensor, Element, Tensor, element, hook, replace
from .sizes import SizeLike, same_size, size

ArrayLike: TypeAlias = "Array | sp.Expr | int | float"


class Array:
    """An array with symbolic sizes: `indices`, one free index an axis, and `body`, the element at those indices.

    >>> z = array("z", "K")
    >>> z.shape, z.ndim
    ((K,), 1)
    >>> (z + 1).element(0)
    z_0 + 1
    """

    __slots__ = ("indices", "body", "divisors")
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, indices: Sequence[Index], body: sp.Expr, divisors: Sequence[sp.Expr] = ()) -> None:
        self.indices = tuple(indices)
        self.body = sp.sympify(body)
        # What was divided by on the way: SymPy cancels a/a at once, and a verdict must still know that a ≠ 0 was
        # needed.
        self.divisors = tuple(divisors)

    # ------------------------------------------------------------------ shape and elements
    @property
    def shape(self) -> tuple[sp.Expr, ...]:
        """One size an axis."""
        return tuple(i.size for i in self.indices)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.indices)

    @property
    def size(self) -> sp.Expr:
        """Number of elements."""
        return sp.Mul(*self.shape)

    def element(self, *at: Any) -> sp.Expr:
        """The element at given indices (letters, numbers or index expressions)."""
        if len(at) != self.ndim:
            raise IndexError_(f"an array of shape {shape_text(self.shape)} needs {self.ndim} indices, got {len(at)}")
        values = [sp.sympify(value) for value in at]
        for axis, value in enumerate(values):
            self._check_index(value, axis)
        return replace(self.body, dict(zip(self.indices, values, strict=True)))

    def _check_index(self, value: sp.Expr, axis: int) -> None:
        """Refuse a number outside an axis, and a letter that ranges over another size."""
        own, shape = self.indices[axis].size, shape_text(self.shape)
        if isinstance(value, Index) and not same_size(value.size, own):
            raise IndexError_(f"index {value.name} ranges over {value.size}, but axis {axis} of shape {shape} has size "
                              f"{own}")
        if value.is_Integer and (value < 0 or (own.is_Integer and value >= own)):
            raise IndexError_(f"index {value} does not fit axis {axis} of shape {shape}")

    def __len__(self) -> int:
        if not self.indices:
            raise ShapeError("a scalar has no length")
        if not self.indices[0].size.is_Integer:
            raise ShapeError(f"the length {self.indices[0].size} is symbolic; write x.shape[0]")
        return int(self.indices[0].size)

    def _repr_latex_(self) -> str:
        return hook("array_latex")(self)

    @property
    def T(self) -> Array:
        """The axes in reverse order."""
        return Array(self.indices[::-1], self.body, self.divisors)

    def transpose(self, *axes: Any) -> Array:
        """The axes in the given order, reversed without one."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        if not order:
            return self.T
        chosen = [normal_axis(a, self.ndim, self.shape) for a in order]
        if sorted(chosen) != list(range(self.ndim)):
            raise ShapeError(f"transpose of shape {shape_text(self.shape)} needs each of its {self.ndim} axes once, "
                             f"got {tuple(order)}")
        return Array([self.indices[a] for a in chosen], self.body, self.divisors)

    def __getitem__(self, key: Any) -> Array:
        """Basic indexing: integers, ``:``, ``None``, ``...`` and index letters; slices with bounds are read by
        `tracing`.
        """
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            place = next(n for n, k in enumerate(keys) if k is Ellipsis)
            missing = self.ndim - sum(k is not None and k is not Ellipsis for k in keys)
            keys[place:place + 1] = [slice(None)] * missing
        used = sum(k is not None for k in keys)
        if used > self.ndim:
            raise IndexError_(f"too many indices ({used}) for an array of shape {shape_text(self.shape)}")
        keys += [slice(None)] * (self.ndim - used)
        new: list[Index] = []
        mapping: dict[sp.Basic, sp.Basic] = {}
        axis = 0
        for k in keys:
            if k is None:
                new.append(index("i", 1))
                continue
            own = self.indices[axis]
            if isinstance(k, slice):
                if k != slice(None):
                    raise IndexError_(f"the slice {k} of axis {axis} (size {own.size}) is not read here; use ':' or an "
                                      f"index")
                new.append(own)
            else:
                value = sp.sympify(k)
                if (value.is_Integer and -own.size <= value < 0) or (value.is_negative and not own.size.is_Integer):
                    value = own.size + value
                self._check_index(value, axis)
                mapping[own] = value
            axis += 1
        return Array(new, replace(self.body, mapping), self.divisors)

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: ArrayLike) -> Array:
        return elementwise(lambda a, b: a + b, self, other, name="+")

    __radd__ = __add__

    def __sub__(self, other: ArrayLike) -> Array:
        return elementwise(lambda a, b: a - b, self, other, name="-")

    def __rsub__(self, other: ArrayLike) -> Array:
        return elementwise(lambda a, b: b - a, self, other, name="-")

    def __mul__(self, other: ArrayLike) -> Array:
        return elementwise(lambda a, b: a * b, self, other, name="*")

    __rmul__ = __mul__

    def __truediv__(self, other: ArrayLike) -> Array:
        return _quotient(self, other)

    def __rtruediv__(self, other: ArrayLike) -> Array:
        return _quotient(other, self)

    def __pow__(self, other: ArrayLike) -> Array:
        result = elementwise(lambda a, b: a**b, self, other, name="**")
        exponent = as_array(other).body
        if exponent.is_positive or self.body.is_nonzero:
            return result
        return Array(result.indices, result.body, (*result.divisors, self.body))

    def __rpow__(self, other: ArrayLike) -> Array:
        return elementwise(lambda a, b: b**a, self, other, name="**")

    def __neg__(self) -> Array:
        return Array(self.indices, -self.body, self.divisors)

    def __pos__(self) -> Array:
        return self

    def __matmul__(self, other: ArrayLike) -> Array:
        from .vocabulary import matmul

        return matmul(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Array:
        from .vocabulary import matmul

        return matmul(other, self)

    def __bool__(self) -> bool:
        raise TypeError("the truth of a symbolic array is not known; use where(condition, a, b)")

    def __repr__(self) -> str:
        return f"Array(shape={shape_text(self.shape)}, element={self.body})"


def shape_text(shape: Sequence[sp.Expr]) -> str:
    """A shape as text, e.g. ``(N, K)``."""
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def _quotient(a: ArrayLike, b: ArrayLike) -> Array:
    result = elementwise(_divide, a, b, name="/")
    divisor = as_array(b).body
    return result if divisor.is_nonzero else Array(result.indices, result.body, (*result.divisors, divisor))


def _divide(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    if b.is_zero:
        raise ZeroDivisionError(f"division of {a} by {b}")
    return a / b


def array(name: str, shape: str | Sequence[SizeLike] | SizeLike = (), domain: str | Domain = "real") -> Array:
    """Declare an array by name, shape and domain of its entries.

    The shape is a text of sizes separated by commas (``"N,K"``; ``""`` for a scalar) or a tuple.

    >>> array("x", "B,n,d_model").shape
    (B, n, d_model)
    >>> array("eps", "", domain="positive").shape
    ()
    """
    if isinstance(shape, str):
        sizes = [size(part) for part in shape.split(",")] if shape.strip() else []
    elif isinstance(shape, (tuple, list)):
        sizes = [size(part) for part in shape]
    else:
        sizes = [size(shape)]
    tensor = Tensor(name, tuple(sizes), domain)
    tensor.domain.check_shape(name, tensor.shape)
    return of_tensor(tensor)


def of_tensor(tensor: Tensor) -> Array:
    """The array whose elements are those of a tensor."""
    indices = [index("i", n) for n in tensor.shape]
    return Array(indices, element(tensor, *indices))


def tensor_of(value: Array) -> Tensor:
    """The tensor behind an array that is nothing but that tensor; an error for a computed array and what is none."""
    if not isinstance(value, Array):
        got = "a list of arrays; ask for one array at a time" if isinstance(value, list | tuple) else repr(value)
        raise ShapeError(f"expected a declared array such as array('z', 'K'), got {got}")
    body = value.body
    if isinstance(body, Tensor) and not value.indices:
        return body
    if isinstance(body, Element) and body.indices == value.indices:
        return body.tensor
    raise ShapeError(f"expected a declared array such as array('z', 'K'), got the computed array {value!r}")


def define(name: str, value: ArrayLike, origin: str = "", domain: str | Domain = "real") -> Array:
    """Name an intermediate: the array p with p := value, which stays named in results until it is unfolded.

    A domain is a claim about the value, which is proved with whatever uses it; most definitions need none.
    """
    value = as_array(value)
    tensor = DefinedTensor(name, value.indices, value.body, origin, domain)
    tensor.domain.check_shape(name, tensor.shape)
    return of_tensor(tensor)


def as_array(value: ArrayLike) -> Array:
    """An array as it is; a number or a SymPy scalar as an array without axes."""
    if isinstance(value, Array):
        return value
    return Array((), exact(value))


def exact(value: Any) -> sp.Expr:
    """A number as an exact SymPy number; a Python float as the number that it stands for (see `constants`)."""
    if isinstance(value, bool):
        return sp.Integer(int(value))
    if isinstance(value, float):
        if value != value:
            raise ValueError("nan stands in a formula; every value must be a number")
        if value in (float("inf"), float("-inf")):
            return sp.oo if value > 0 else -sp.oo
        return exact_float(value)
    result = sp.sympify(value)
    if result.has(sp.nan, sp.zoo):
        raise ValueError(f"{value} stands in a formula; every value must be a number")
    return result


def normal_axis(axis: int, ndim: int, shape: Sequence[sp.Expr]) -> int:
    """An axis number made non-negative; an error with the shape when there is no such axis."""
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} does not exist in the shape {shape_text(shape)} with {ndim} axes")
    return axis % ndim


def broadcast_shapes(shapes: Sequence[Sequence[sp.Expr]], operation: str) -> tuple[sp.Expr, ...]:
    """NumPy's broadcasting on symbolic sizes; a mismatch names the operation, both shapes and both sizes."""
    ndim = max((len(s) for s in shapes), default=0)
    result: list[sp.Expr] = []
    for axis in range(-ndim, 0):
        chosen: sp.Expr = sp.S.One
        for s in shapes:
            if len(s) < -axis or s[axis] == 1:
                continue
            if chosen == 1:
                chosen = s[axis]
            elif not same_size(chosen, s[axis]):
                raise ShapeError(f"{operation}: the shapes {' and '.join(shape_text(t) for t in shapes)} do not "
                                 f"broadcast: size {chosen} against {s[axis]} in axis {axis}; the sizes must be the "
                                 f"same, or one of them 1")
        result.append(chosen)
    return tuple(result)


def elementwise(function: Callable[..., sp.Expr], *values: ArrayLike, name: str = "operation") -> Array:
    """Apply a function of scalars element by element, with broadcasting."""
    given = [as_array(v) for v in values]
    shape = broadcast_shapes([a.shape for a in given], name)
    indices = [index("i", n) for n in shape]
    return Array(indices, function(*(aligned(a, indices) for a in given)), divisors_of(given))


def divisors_of(arrays: Sequence[Array]) -> tuple[sp.Expr, ...]:
    """The divisors that several arrays carry, each once."""
    return tuple(dict.fromkeys(d for a in arrays for d in a.divisors))


def aligned(value: Array, indices: Sequence[Index]) -> sp.Expr:
    """The element of an array under broadcasting to the given indices (the last axes are matched; size 1 is index
    0).
    """
    offset = len(indices) - value.ndim
    mapping = {own: (sp.S.Zero if own.size == 1 else indices[offset + n]) for n, own in enumerate(value.indices)}
    return replace(value.body, mapping)
