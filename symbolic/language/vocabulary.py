"""NumPy's vocabulary on symbolic arrays: reductions, contractions, elementwise functions, softmax and its relatives.

Each function has the meaning of the NumPy (or SciPy) function of the same name; what NumPy does not have (`softmax`,
`cross_entropy`, ...) is defined by the formula of its docstring. Functions that name an intermediate (softmax gives p)
return an array that stays named in results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from . import operations as op
from .arrays import (
    Array,
    ArrayLike,
    aligned,
    as_array,
    broadcast_shapes,
    define,
    divisors_of,
    elementwise,
    exact,
    normal_axis,
    shape_text,
)
from .errors import FormulaError, ShapeError
from .indices import Index, index
from .nodes import Delta, IndexMax, IndexProduct, IndexSum, Indicator, replace
from .sizes import SizeLike, same_size

Axis = "int | tuple[int, ...] | None"


def _reduced(value: Array, axis: Any, keepdims: bool, binder: Callable[[sp.Expr, Index], sp.Expr]) -> Array:
    axes = range(value.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    chosen = [normal_axis(a, value.ndim, value.shape) for a in axes]
    if len(set(chosen)) != len(chosen):
        raise ShapeError(f"an axis is named twice in {tuple(axes)} for the shape {shape_text(value.shape)}")
    body = value.body
    for a in reversed(chosen):
        body = binder(body, value.indices[a])
    kept = [index("i", 1) if n in chosen else i for n, i in enumerate(value.indices) if keepdims or n not in chosen]
    return Array(kept, body, value.divisors)


def sum(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Sum over axes (all of them without `axis`)."""
    return _reduced(as_array(value), axis, keepdims, IndexSum)


def max(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Largest element over axes; at ties the derivative is put on one of the places (a subgradient)."""
    return _reduced(as_array(value), axis, keepdims, IndexMax)


def min(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Smallest element over axes."""
    return -max(-as_array(value), axis, keepdims)


def prod(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Product over axes."""
    return _reduced(as_array(value), axis, keepdims, IndexProduct)


def mean(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """Mean over axes: the sum divided by the number of elements summed."""
    value = as_array(value)
    axes = range(value.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    count = sp.Mul(*(value.shape[normal_axis(a, value.ndim, value.shape)] for a in axes))
    return sum(value, axis, keepdims) / count


def var(value: ArrayLike, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Array:
    """Variance over axes, divided by the count minus `ddof`."""
    value = as_array(value)
    axes = range(value.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    count = sp.Mul(*(value.shape[normal_axis(a, value.ndim, value.shape)] for a in axes))
    return sum((value - mean(value, axis, True)) ** 2, axis, keepdims) / (count - ddof)


def matmul(left: ArrayLike, right: ArrayLike) -> Array:
    """Matrix product with NumPy's rules: the last axis of the left against the last but one of the right."""
    a, b = as_array(left), as_array(right)
    if not a.ndim or not b.ndim:
        raise ShapeError(f"@ needs at least one axis on both sides, got {shape_text(a.shape)} @ {shape_text(b.shape)}; "
                         f"use *")
    inner_a, inner_b = a.indices[-1], b.indices[-2 if b.ndim > 1 else -1]
    if not same_size(inner_a.size, inner_b.size):
        raise ShapeError(f"@: {shape_text(a.shape)} @ {shape_text(b.shape)} contracts sizes {inner_a.size} and "
                         f"{inner_b.size}, which are not the same")
    batch = broadcast_shapes([a.shape[:-2], b.shape[:-2]], "@")
    lead = [index("i", n) for n in batch]
    k = index("k", inner_a.size)
    row = [index("i", a.shape[-2])] if a.ndim > 1 else []
    column = [index("j", b.shape[-1])] if b.ndim > 1 else []
    left_body = aligned(a, [*lead, *row, k]) if a.ndim > 1 else replace(a.body, {inner_a: k})
    right_body = aligned(b, [*lead, k, *column]) if b.ndim > 1 else replace(b.body, {inner_b: k})
    # an axis of size 1 that is not stretched keeps index 0 through `aligned`, which is right
    return Array([*lead, *row, *column], IndexSum(left_body * right_body, k), divisors_of([a, b]))


dot = matmul


def einsum(pattern: str, *operands: ArrayLike) -> Array:
    """Einstein summation with an explicit output, e.g. ``einsum("bhid,bhjd->bhij", q, k)``."""
    text = pattern.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    given = [as_array(o) for o in operands]
    if len(terms) != len(given):
        raise ShapeError(f"einsum {pattern!r} names {len(terms)} operands, got {len(given)}")
    if not arrow:
        letters_in = "".join(terms)
        output = "".join(sorted(c for c in set(letters_in) if letters_in.count(c) == 1))
    letters: dict[str, Index] = {}
    body: sp.Expr = sp.S.One
    for term, value in zip(terms, given, strict=True):
        if len(term) != value.ndim:
            raise ShapeError(f"einsum {pattern!r}: {term!r} names {len(term)} axes of an array of shape "
                             f"{shape_text(value.shape)}")
        for letter, n in zip(term, value.shape, strict=True):
            if letter in letters and not same_size(letters[letter].size, n):
                raise ShapeError(f"einsum {pattern!r}: {letter!r} is bound to size {letters[letter].size}, but the "
                                 f"operand of shape {shape_text(value.shape)} has {n} there")
            letters.setdefault(letter, index(letter, n))
        body *= value.element(*(letters[c] for c in term))
    for letter, i in letters.items():
        if letter not in output:
            body = IndexSum(body, i)
    unknown = [c for c in output if c not in letters]
    if unknown:
        raise ShapeError(f"einsum {pattern!r}: output {unknown} do not occur in the operands")
    return Array([letters[c] for c in output], body, divisors_of(given))


def outer(left: ArrayLike, right: ArrayLike) -> Array:
    """Outer product a_i b_j of two vectors."""
    return einsum("i,j->ij", left, right)


def trace(value: ArrayLike) -> Array:
    """Sum of the diagonal of a square matrix."""
    return einsum("ii->", value)


def diag(value: ArrayLike) -> Array:
    """The diagonal matrix of a vector, or the diagonal of a square matrix."""
    value = as_array(value)
    if value.ndim == 2:
        return einsum("ii->i", value)
    (i,) = value.indices
    j = index("j", i.size)
    return Array((i, j), value.body * Delta(i, j))


def eye(n: SizeLike) -> Array:
    """The identity matrix."""
    i, j = index("i", n), index("j", n)
    return Array((i, j), Delta(i, j))


def one_hot(labels: ArrayLike, classes: SizeLike) -> Array:
    """One more axis, with 1 at the label: δ(t_n, k)."""
    labels = as_array(labels)
    k = index("k", classes)
    return Array([*labels.indices, k], Delta(labels.body, k))


def zeros(shape: SizeLike | Sequence[SizeLike]) -> Array:
    """Zeros of a shape."""
    return full(shape, 0)


def ones(shape: SizeLike | Sequence[SizeLike]) -> Array:
    """Ones of a shape."""
    return full(shape, 1)


def full(shape: Any, value: Any) -> Array:
    """A constant of a shape."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return Array([index("i", n) for n in sizes], exact(value))


def arange(n: SizeLike) -> Array:
    """0, 1, ..., n - 1."""
    i = index("i", n)
    return Array((i,), i)


def transpose(value: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The axes in the given order, reversed without one."""
    return as_array(value).transpose(*(axes or ()))


def where(condition: Array, chosen: ArrayLike, other: ArrayLike) -> Array:
    """`chosen` where the condition (an array of 0 and 1) holds, else `other`."""
    return elementwise(lambda c, a, b: c * a + (1 - c) * b, condition, chosen, other, name="where")


def _relation(relation: Callable[[Any, Any], Any]) -> Callable[[ArrayLike, ArrayLike], Array]:
    def compare(left: ArrayLike, right: ArrayLike) -> Array:
        return elementwise(lambda a, b: Indicator(relation(a, b)), left, right, name="comparison")

    return compare


greater, greater_equal = _relation(sp.Gt), _relation(sp.Ge)
less, less_equal = _relation(sp.Lt), _relation(sp.Le)


def maximum(left: ArrayLike, right: ArrayLike) -> Array:
    """The larger of two, element by element; at a tie the derivative follows the first."""
    return elementwise(lambda a, b: a * Indicator(sp.Ge(a, b)) + b * (1 - Indicator(sp.Ge(a, b))), left, right,
                       name="maximum")


def minimum(left: ArrayLike, right: ArrayLike) -> Array:
    """The smaller of two, element by element; at a tie the derivative follows the first."""
    return elementwise(lambda a, b: a * Indicator(sp.Le(a, b)) + b * (1 - Indicator(sp.Le(a, b))), left, right,
                       name="minimum")


def _elementwise(name: str) -> Callable[[ArrayLike], Array]:
    function = op.OPERATIONS[name].function

    def apply(value: ArrayLike) -> Array:
        value = as_array(value)
        return Array(value.indices, function(value.body), value.divisors)

    apply.__name__ = name
    apply.__doc__ = f"The elementwise function {name}."
    return apply


exp, log, tanh, erf = (_elementwise(n) for n in ("exp", "log", "tanh", "erf"))
sin, cos, tan, sinh, cosh = (_elementwise(n) for n in ("sin", "cos", "tan", "sinh", "cosh"))
sigmoid, softplus, log_sigmoid, relu = (_elementwise(n) for n in ("sigmoid", "softplus", "log_sigmoid", "relu"))
gelu, gelu_tanh, silu, mish, elu = (_elementwise(n) for n in ("gelu", "gelu_tanh", "silu", "mish", "elu"))
absolute, sign = _elementwise("abs"), _elementwise("sign")


def sqrt(value: ArrayLike) -> Array:
    """Square root, element by element."""
    value = as_array(value)
    return Array(value.indices, sp.sqrt(value.body), value.divisors)


def square(value: ArrayLike) -> Array:
    """Square, element by element."""
    return as_array(value) ** 2


def log1p(value: ArrayLike) -> Array:
    """log(1 + x)."""
    return log(1 + as_array(value))


def expm1(value: ArrayLike) -> Array:
    """e^x - 1."""
    return exp(value) - 1


def _one_axis(value: Array, axis: int, name: str) -> None:
    if not value.ndim:
        raise ShapeError(f"{name} needs an axis to sum over, got a scalar; declare the array with a size, e.g. z=K")
    normal_axis(axis, value.ndim, value.shape)


def softmax(value: ArrayLike, axis: int = -1, name: str = "p") -> Array:
    """softmax(z)_i = e^{z_i} / Σ_j e^{z_j} along an axis; the result stays named (p) in what is derived from it."""
    value = as_array(value)
    _one_axis(value, axis, "softmax")
    powers = exp(value)
    return define(name, powers / sum(powers, axis, keepdims=True), origin="softmax", domain=Domain_01)


def log_softmax(value: ArrayLike, axis: int = -1) -> Array:
    """log softmax(z)_i = z_i - log Σ_j e^{z_j} along an axis."""
    value = as_array(value)
    _one_axis(value, axis, "log_softmax")
    return value - log(sum(exp(value), axis, keepdims=True))


def logsumexp(value: ArrayLike, axis: Any = None, keepdims: bool = False) -> Array:
    """log Σ_j e^{z_j} over axes."""
    value = as_array(value)
    if not value.ndim:
        raise ShapeError("logsumexp needs an axis to sum over, got a scalar")
    return log(sum(exp(value), axis, keepdims))


Domain_01 = "(0,1]"


def function_table() -> dict[str, Callable[..., Any]]:
    """The functions that a formula string may name, by name."""
    words = ("sum max min prod mean var matmul dot einsum outer trace diag eye one_hot zeros ones full arange "
             "transpose where greater greater_equal less less_equal maximum minimum exp log tanh erf sin cos tan sinh "
             "cosh sigmoid softplus log_sigmoid relu gelu gelu_tanh silu mish elu sign sqrt square log1p expm1 softmax "
             "log_softmax logsumexp")
    table = {name: globals()[name] for name in words.split()}
    table["abs"] = absolute
    return table


def lookup(name: str) -> Callable[..., Any]:
    """One function of the vocabulary; an unknown name is an error that lists near ones."""
    table = function_table()
    if name in table:
        return table[name]
    import difflib

    near = difflib.get_close_matches(name, table, n=3)
    raise FormulaError(f"unknown function {name!r}" + (f"; did you mean {', '.join(near)}?" if near else "")
                       + f" Known: {', '.join(sorted(table))}")
