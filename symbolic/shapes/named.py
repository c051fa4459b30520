"""Arrays with named axes: an `Array` of the language that also knows what each axis is.

The value is the language's index expression; only what axes mean, and the record of operations, is added here. Every
operation is a function of this room (`pointwise`, `contracting`, `rearranging`), and the operators and methods below
call them, so that formulas and NumPy-like code run on named arrays as they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import sympy as sp

from ..language.arrays import Array, array, as_array, shape_text
from ..language.domains import Domain
from ..language.errors import ShapeError
from ..language.nodes import DefinedTensor, Element, Tensor
from ..language.rearrangement import constant
from ..language.sizes import SizeLike, same_size
from .axes import Axes, Axis, axis_of_size, distinct, pattern, read_axes

_FEW_NUMBERS = 64


class NamedArray(Array):
    """An array whose axes have names.

    `label` is what the trace calls it. `factor` is the product of the scalars it has been multiplied by, and `summed`
    the size that the last contraction summed over: with these, the scaling of attention scores is checked.

    >>> x = named("x", "B n d_model")
    >>> x.shape, x.pattern
    ((B, n, d_model), 'B n d_model')
    """

    __slots__ = ("axes", "label", "factor", "summed")

    def __init__(
        self,
        value: Array,
        axes: Sequence[Axis],
        label: str = "",
        factor: sp.Expr = sp.S.One,
        summed: sp.Expr | None = None,
    ) -> None:
        super().__init__(value.indices, value.body)
        self.axes: Axes = distinct(axes)
        self.label = label
        self.factor = factor
        self.summed = summed
        if len(self.axes) != self.ndim or not all(
            same_size(a.size, n) for a, n in zip(self.axes, self.shape, strict=True)
        ):
            raise ShapeError(f"the axes '{pattern(self.axes)}' do not name the shape {shape_text(self.shape)}")

    @property
    def value(self) -> Array:
        """The index expression without names."""
        return Array(self.indices, self.body)

    @property
    def pattern(self) -> str:
        """The axes as a pattern, ``B n (h d_k)``."""
        return pattern(self.axes)

    def called(self, label: str) -> NamedArray:
        """The same array under another label."""
        return NamedArray(self.value, self.axes, label, self.factor, self.summed)

    # ------------------------------------------------------------------ operators
    def __add__(self, other: Any) -> Any:
        return _pointwise().arithmetic("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _pointwise().arithmetic("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _pointwise().arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _pointwise().arithmetic("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _pointwise().arithmetic("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _pointwise().arithmetic("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _pointwise().arithmetic("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _pointwise().arithmetic("/", other, self)

    def __pow__(self, other: Any) -> Any:
        return _pointwise().arithmetic("**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _pointwise().arithmetic("**", other, self)

    def __neg__(self) -> NamedArray:
        return NamedArray(-self.value, self.axes, f"-{self.label}", -self.factor, self.summed)

    def __pos__(self) -> NamedArray:
        return self

    def __matmul__(self, other: Any) -> Any:
        from .contracting import matmul

        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from .contracting import matmul

        return matmul(other, self)

    # ------------------------------------------------------------------ NumPy's methods
    @property
    def T(self) -> NamedArray:
        """The axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> NamedArray:
        """The axes in the given order (numbers or names), reversed without one."""
        from .rearranging import transpose

        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return transpose(self, order or tuple(reversed(range(self.ndim))))

    def swapaxes(self, first: int, second: int) -> NamedArray:
        """Two axes exchanged."""
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(order)

    def reshape(self, *shape: Any) -> NamedArray:
        """The elements in row-major order under another shape: sizes, or a pattern that is then proved."""
        from .rearranging import reshape

        return reshape(self, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list, str)) else shape)

    def astype(self, kind: Any, **options: Any) -> NamedArray:
        """The array itself: values are exact, whatever the type asked for."""
        return self

    def sum(self, axis: Any = None, keepdims: bool = False) -> NamedArray:
        """Sum over axes."""
        return _pointwise().reduce("sum", self, axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> NamedArray:
        """Mean over axes."""
        return _pointwise().reduce("mean", self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> NamedArray:
        """Largest element over axes."""
        return _pointwise().reduce("max", self, axis, keepdims)

    def var(self, axis: Any = None, keepdims: bool = False) -> NamedArray:
        """Variance over axes."""
        return _pointwise().reduce("var", self, axis, keepdims)

    def __getitem__(self, key: Any) -> NamedArray:
        from .joining import select

        return select(self, key)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # NumPy asks here when one of its ufuncs meets a named array; only the function's name is needed.
        from .functions import by_name

        return by_name(function.__name__, inputs, options) if method == "__call__" else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        from .functions import by_name

        return by_name(function.__name__, inputs, options)

    def __repr__(self) -> str:
        return f"NamedArray({self.label or 'array'}: {self.pattern})"


def _pointwise() -> Any:
    from . import pointwise

    return pointwise


def named(name: str, axes: str | Sequence[Axis | SizeLike], domain: str | Domain = "real") -> NamedArray:
    """Declare a named array: its axes as a pattern, or one axis or size each.

    >>> named("W", ["d_model", "h*d_k"]).pattern
    'd_model (h d_k)'
    """
    found = (
        read_axes(axes) if isinstance(axes, str) else tuple(a if isinstance(a, Axis) else axis_of_size(a) for a in axes)
    )
    return NamedArray(array(name, tuple(a.size for a in found), domain), found, name)


def as_named(value: Any) -> NamedArray:
    """A named array as it is; the axes of any other array are named like their sizes."""
    if isinstance(value, NamedArray):
        return value
    plain = _constant(value) if hasattr(value, "tolist") and value.shape else as_array(value)
    return NamedArray(plain, [axis_of_size(n) for n in plain.shape], _label(plain))


def _constant(value: Any) -> Array:
    """An array of numbers: written out when it is small, else declared, since only its shape is traced."""
    if prod(value.shape) <= _FEW_NUMBERS:
        return constant(value.tolist())
    return array("constant", tuple(value.shape))


def _label(value: Array) -> str:
    body = value.body
    if isinstance(body, Element) and body.indices == value.indices:
        return str(body.tensor.name)
    if isinstance(body, (Tensor, DefinedTensor)):
        return str(body.name)
    if not value.indices:
        from ..rendering import text

        return text(body)
    return "constant" if not body.free_symbols else "array"


def find_axis(x: NamedArray, which: int | str, operation: str) -> int:
    """The number of an axis given by number or by name."""
    from .trace import bindings_text

    if isinstance(which, str):
        names = [a.name for a in x.axes]
        if which not in names:
            raise ShapeError(
                f"{operation}: {x.label or 'the array'} has the axes '{x.pattern}', none is named "
                f"{which!r}{bindings_text()}"
            )
        return names.index(which)
    if not -x.ndim <= which < x.ndim:
        raise ShapeError(
            f"{operation}: axis {which} does not exist in '{x.pattern}' with {x.ndim} axes{bindings_text()}"
        )
    return which % x.ndim


def kept(x: NamedArray, value: Array, axes: Sequence[Axis], label: str) -> NamedArray:
    """A rearrangement of an array, with what is remembered of its scalars."""
    return NamedArray(value, axes, label, x.factor, x.summed)
