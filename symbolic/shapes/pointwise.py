"""Operations that keep the places of elements: arithmetic with broadcasting, scaling, masks, softmax, reductions."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import sympy as sp

from ..language import vocabulary
from ..language.arrays import Array, define, elementwise, exact
from ..language.errors import ShapeError
from ..language.nodes import Element, IndexNode
from ..language.vocabulary import Domain_01
from .axes import Axis, one
from .broadcasting import brackets, broadcast, swapped
from .letters import einsum_text, unique
from .named import NamedArray, as_named, find_axis
from .trace import Line, Operand, bindings_text, record, titled

_SYMBOLS = {"+": "+", "-": "−", "*": "·", "/": "/", "**": "^"}
_FUNCTIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
}
_WORDS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power"}


def operand(x: NamedArray) -> Operand:
    """An array as a line shows it."""
    return Operand(x.label, x.axes)


def arithmetic(
    sign: str, left: Any, right: Any, name: str = "", why: str = "", operation: str = "", formula: str = ""
) -> NamedArray:
    """`left` sign `right`, element by element; a scalar factor is remembered for the check of the scale of scores."""
    a, b = as_named(_halves(left)), as_named(_halves(right))
    axes = broadcast(operation or _WORDS[sign], [a, b])
    warnings = swapped([a, b])
    # Plain arrays: the operators of named ones would come back here.
    value = {"+": Array.__add__, "-": Array.__sub__, "*": Array.__mul__, "/": Array.__truediv__, "**": Array.__pow__}[
        sign
    ](a.value, b.value)
    label, own_formula = titled(name, _joined_label(a, sign, b))
    factor, summed = sp.S.One, None
    scalar = _scalar(b)
    if scalar is not None and sign in "*/":
        factor, summed = (a.factor * scalar if sign == "*" else a.factor / scalar), a.summed
    elif sign == "*" and _scalar(a) is not None:
        factor, summed = b.factor * a.body, b.summed
    elif sign in "+-":
        inherited = a if a.summed is not None else b
        factor, summed = inherited.factor, inherited.summed
    result = NamedArray(value, axes, label, factor, summed)
    word = operation or (
        "scale"
        if scalar is not None and sign in "*/"
        else "broadcast and "
        if a.pattern != b.pattern and b.ndim and a.ndim
        else ""
    ) + ("" if scalar is not None and sign in "*/" else _WORDS[sign])
    record(
        Line(
            word,
            operand(result),
            (operand(a), operand(b)) if b.ndim and a.ndim else (operand(a if a.ndim else b),),
            formula=formula or own_formula,
            warnings=warnings,
            scalar=scalar if sign in "*/" else None,
            why=why
            or (
                "every element is multiplied by one number"
                if scalar is not None and sign in "*/"
                else "element by element; axes of size 1 are stretched"
                if a.pattern != b.pattern
                else "element by element"
            ),
        )
    )
    return result


def _halves(value: Any) -> Any:
    """Floats that are roots of short fractions as what they are: d_k**0.5 is √d_k, 24**0.5 is 2√6."""
    if isinstance(value, float):
        return _root(value) if math.isfinite(value) else value
    if isinstance(value, sp.Expr) and value.has(sp.Float):
        return value.xreplace({f: _root(float(f)) for f in value.atoms(sp.Float)})
    return value


def _root(value: float) -> sp.Expr:
    """The float as a short fraction, or as the square or fourth root of one, where it is that to rounding; else its
    decimal.
    """
    for power in (1, 2, 4):
        short = Fraction(value**power).limit_denominator(10**5)
        if short and abs(float(short) - value**power) <= 4 * power * sys.float_info.epsilon * abs(value**power):
            return (
                (1 if value > 0 else -1) * sp.Rational(short.numerator, short.denominator) ** sp.Rational(1, power)
                if power > 1
                else sp.Rational(short.numerator, short.denominator)
            )
    return exact(value)


def _scalar(x: NamedArray) -> sp.Expr | None:
    """The value of an array without axes that holds sizes and numbers only."""
    return x.body if not x.ndim and not x.body.has(Element, IndexNode) else None


def _joined_label(a: NamedArray, sign: str, b: NamedArray) -> str:
    left, right = ((f"({x.label})" if " " in x.label and not x.label.startswith("(") else x.label) for x in (a, b))
    return f"{left} {_SYMBOLS[sign]} {right}" if sign != "**" else f"{left}^{right}"


def apply(function_name: str, x: Any, why: str = "") -> NamedArray:
    """An elementwise function of the vocabulary."""
    x = as_named(x)
    value = getattr(vocabulary, {"abs": "absolute"}.get(function_name, function_name))
    value = getattr(value, "original", value)(x.value)
    if not x.ndim:
        return NamedArray(value, x.axes, f"{function_name}({x.label})")
    label, formula = titled("", f"{function_name}({x.label})")
    result = NamedArray(value, x.axes, label)
    record(Line(function_name, operand(result), (operand(x),), formula=formula, why=why or "element by element"))
    return result


def scale(x: NamedArray, by: sp.Expr, name: str, why: str = "", formula: str = "") -> NamedArray:
    """`x` divided by a number made of sizes, such as √d_k."""
    return arithmetic("/", x, by, name, why, "scale", formula)


def softmax(
    x: Any,
    axis: int | str = -1,
    name: str = "",
    mask: NamedArray | None = None,
    why: str = "",
    formula: str = "",
    named_value: bool = True,
) -> NamedArray:
    """softmax along one axis: the other axes keep their places, and along this one the result sums to 1.

    With a mask of 0 and 1 only the places with 1 take part: M e^s / Σ M e^s, which is softmax(s + log M), −∞ where M =
    0. A row without any 1 has no value.
    """
    x = as_named(x)
    at = find_axis(x, axis, "softmax")
    warnings, said = scale_check(x)
    label, own_formula = titled(name, f"softmax({x.label})")
    powers = vocabulary.exp(x.value)
    if mask is not None:
        masked_axes = broadcast("mask", [x, mask])
        if [a.name for a in masked_axes] != [a.name for a in x.axes]:
            raise ShapeError(
                f"mask: {mask.label} {brackets(mask.axes)} has axes that {x.label} {brackets(x.axes)} "
                f"lacks{bindings_text()}"
            )
        powers = elementwise(lambda m, e: m * e, mask.value, powers, name="mask")
    value = powers / _plain_sum(powers, at)
    if named_value:
        value = define(
            name or "P",
            value,
            origin="" if mask is not None else "softmax",
            domain="[0,1]" if mask is not None else Domain_01,
        )
    result = NamedArray(value, x.axes, label)
    along = x.axes[at]
    record(
        Line(
            "softmax",
            operand(result),
            (operand(x), *([operand(mask)] if mask is not None else [])),
            formula=formula or own_formula,
            warnings=warnings,
            why=" ".join(
                [
                    why
                    or f"along the axis {along}: for every place of the other axes the {along} values become weights "
                    "that sum to 1",
                    *said,
                ]
            ),
        )
    )
    return result


def _plain_sum(value: Array, axis: int) -> Array:
    function = vocabulary.sum
    return getattr(function, "original", function)(value, axis, keepdims=True)


def scale_check(x: NamedArray) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whether the scalars on scores are 1/√(size summed over): a warning if they are another such factor, else what to
    say.
    """
    from ..rendering import text

    if x.summed is None or x.factor == 1 or not x.factor.is_positive:
        return (), ()
    off = sp.sqrt(sp.simplify(x.factor**2 * x.summed))
    if off == 1:
        return (), (
            f"(The scores are sums of {text(x.summed)} products and carry the factor 1/{text(sp.sqrt(x.summed))}: "
            "variance 1.)",
        )
    return (
        f"the scores are sums of {text(x.summed)} products, so their standard deviation is {text(sp.sqrt(x.summed))} "
        "for entries of "
        f"variance 1; they carry the factor {text(x.factor)} and not 1/{text(sp.sqrt(x.summed))}: off by the factor "
        f"{text(off)}",
    ), ()


def reduce(kind: str, x: Any, axis: Any = None, keepdims: bool = False, name: str = "", why: str = "") -> NamedArray:
    """Sum, mean, maximum, variance, ... over axes given by numbers or names; all of them without."""
    x = as_named(x)
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    at = [find_axis(x, a, kind) for a in given]
    function = getattr(vocabulary, kind)
    value = getattr(function, "original", function)(x.value, tuple(at), keepdims)
    axes: list[Axis] = [one() if k in at else a for k, a in enumerate(x.axes) if keepdims or k not in at]
    gone = ", ".join(x.axes[k].name for k in at)
    label, formula = titled(name, f"{kind}({x.label})")
    result = NamedArray(value, axes, label)
    names = unique([a.name for a in x.axes])
    record(
        Line(
            "reduce",
            operand(result),
            (operand(x),),
            formula=formula,
            einsum=einsum_text([names], [n for k, n in enumerate(names) if k not in at])
            if kind == "sum" and not keepdims
            else "",
            why=why or f"{kind} over {gone}" + ("; the axis stays, with size 1" if keepdims else ""),
        )
    )
    return result
