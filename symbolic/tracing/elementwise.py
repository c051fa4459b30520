"""Elementwise arithmetic on traced values: operators, comparisons and NumPy's elementwise functions, with NumPy's
kinds.

A comparison gives 0 and 1 of kind bool, so that masks, ``~`` and ``&`` work. Between integers, equality is a
Kronecker delta, and what holds for every size is decided at once. -inf is kept as a mark beside the value
(`Traced.finite`), as far as softmax with a mask needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from ..language.arrays import Array, elementwise
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import certainly_nonnegative, quotient, remainder
from ..language.nodes import Delta, IndexMax, IndexProduct, IndexSum, Indicator
from .dispatch import TABLES
from .values import RANK, Kind, Traced, lift

Scalar = Callable[..., sp.Expr]


def apply(function: Scalar, *values: Any, kind: Kind = "float", name: str = "operation") -> Traced:
    """A function of scalars on traced values, with broadcasting; picked elements stay picked."""
    given = [lift(v) for v in values]
    for g in given:
        g._finite()
    return _made(elementwise(function, *(g.array for g in given), name=name), kind, given)


def _made(value: Array, kind: Kind, given: list[Traced]) -> Traced:
    masks = [g for g in given if g.selected is not None]
    made = Traced(value, kind)
    made.contiguous = all(g.contiguous for g in given if g.ndim > 1)  # NumPy keeps the order in memory
    if masks:
        first = masks[0]
        others = [g for g in given if g.selected is None and g.ndim]
        if others or any(
            m.selected is not first.selected
            and (m.origin is None or first.origin is None or m.origin[1] is not first.origin[1])
            for m in masks
        ):
            raise UnsupportedError(
                "elements picked by a mask are combined with other arrays; write np.where(mask, ..., 0)"
            )
        made.selected, made.origin = first.selected, first.origin
    return made


def number_kind(*given: Traced) -> Kind:
    return max((g.kind for g in given), key=RANK.__getitem__)


def add(left: Any, right: Any) -> Traced:
    """Sum; of two booleans it is `or`."""
    a, b = lift(left), lift(right)
    kind = number_kind(a, b)
    if kind == "bool":
        return logical_or(a, b)
    return _with_marks(lambda x, y: x + y, a, b, kind, "+")


def subtract(left: Any, right: Any) -> Traced:
    """Difference."""
    a, b = lift(left), lift(right)
    kind = number_kind(a, b)
    if kind == "bool" and (a.ndim or b.ndim):
        raise UnsupportedError("NumPy does not subtract booleans; write ^ or make them floats")
    b._finite()
    return _with_marks(lambda x, y: x - y, a, b, kind, "-")


def _with_marks(function: Scalar, a: Traced, b: Traced, kind: Kind, name: str) -> Traced:
    value = elementwise(function, a.array, b.array, name=name)
    marks = [m.finite for m in (a, b) if m.finite is not None]
    if not marks:
        return _made(value, kind, [a, b])
    mark = marks[0] if len(marks) == 1 else elementwise(lambda x, y: x * y, *marks, name=name)
    whole = elementwise(lambda m, v: m + 0 * v, mark, value, name=name)
    return Traced(value, kind, finite=whole)


def multiply(left: Any, right: Any) -> Traced:
    """Product."""
    a, b = lift(left), lift(right)
    if a.finite is not None or b.finite is not None:
        return _scaled(a, b, lambda x, y: x * y, "*")
    return apply(lambda x, y: x * y, a, b, kind=number_kind(a, b), name="*")


def divide(left: Any, right: Any) -> Traced:
    """True division."""
    a, b = lift(left), lift(right)
    if a.finite is not None:
        return _scaled(a, b, lambda x, y: x / y, "/")
    return apply(_quotient, a, b, name="/")


def _quotient(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    if y.is_zero:
        raise UnsupportedError("division by 0; NumPy gives inf or nan here")
    return x / y


def _scaled(a: Traced, b: Traced, function: Scalar, name: str) -> Traced:
    marked, factor = (a, b) if a.finite is not None else (b, a)
    if factor.finite is not None or not factor.body.is_positive:
        raise UnsupportedError("-inf is multiplied by what may be 0 or negative; scale before the mask is put on")
    return Traced(elementwise(function, a.array, b.array, name=name), "float", finite=marked.finite)


def power(base: Any, exponent: Any) -> Traced:
    """Power."""
    a, b = lift(base), lift(exponent)
    return apply(_power, a, b, kind=number_kind(a, b), name="**")


def _power(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    if y.is_zero:
        return sp.S.One
    if x.is_zero:
        return sp.S.Zero if y.is_positive else sp.Pow(x, y, evaluate=False)
    return x**y


def floor_divide(left: Any, right: Any) -> Traced:
    """Quotient rounded down; of sizes it is exact where it can be."""
    a, b = lift(left), lift(right)
    return apply(lambda x, y: _whole(x, y)[0], a, b, kind=number_kind(a, b), name="//")


def mod(left: Any, right: Any) -> Traced:
    """x - y floor(x/y)."""
    a, b = lift(left), lift(right)
    return apply(lambda x, y: _whole(x, y)[1], a, b, kind=number_kind(a, b), name="%")


def divmod_(left: Any, right: Any) -> tuple[Traced, Traced]:
    """Quotient and remainder."""
    return floor_divide(left, right), mod(left, right)


def _whole(x: sp.Expr, y: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    if x.is_integer and y.is_integer and y.is_positive and certainly_nonnegative(x):
        return quotient(x, y), remainder(x, y)
    q = sp.floor(x / y)
    return q, x - y * q


def fmod(left: Any, right: Any) -> Traced:
    """x - y trunc(x/y)."""
    return apply(lambda x, y: x - y * _trunc(x / y), left, right, name="fmod")


def _trunc(x: sp.Expr) -> sp.Expr:
    return sp.sign(x) * sp.floor(sp.Abs(x))


# ---------------------------------------------------------------------- comparisons and logic
def compare(sign: str) -> Callable[[Any, Any], Traced]:
    """The comparison of a sign, as a function of two values."""

    def compared(left: Any, right: Any) -> Traced:
        a, b = lift(left), lift(right)
        if a.kind == b.kind == "bool" and sign in ("==", "!="):
            same = apply(lambda x, y: x * y + (1 - x) * (1 - y), a, b, kind="bool", name=sign)
            return same if sign == "==" else invert(same)
        whole = a.kind != "float" and b.kind != "float"
        chosen = a.chosen or b.chosen
        if chosen is not None and sign in ("==", "!="):
            other = b if a.chosen is not None else a
            same = apply(chosen.indicator, other, kind="bool", name=sign)
            return same if sign == "==" else invert(same)
        return apply(lambda x, y: decided(sign, x, y, whole), a, b, kind="bool", name=sign)

    return compared


_RELATIONS: dict[str, Any] = {">": sp.Gt, ">=": sp.Ge, "<": sp.Lt, "<=": sp.Le, "==": sp.Eq, "!=": sp.Ne}


def decided(sign: str, x: sp.Expr, y: sp.Expr, whole: bool) -> sp.Expr:
    if sign == "!=":
        return 1 - decided("==", x, y, whole)
    if sign in ("<", "<="):
        return decided({"<": ">", "<=": ">="}[sign], y, x, whole)
    difference = sp.expand(x - y) if whole else x - y
    if difference.is_number and difference.is_comparable:
        return sp.Integer(int(bool(_RELATIONS[sign](difference, 0))))
    if whole:
        above, below = certainly_nonnegative(difference - 1), certainly_nonnegative(-1 - difference)
        if sign == "==":
            return sp.S.Zero if above or below else Delta(x, y)
        if above or (sign == ">=" and certainly_nonnegative(difference)):
            return sp.S.One
        if below or (sign == ">" and certainly_nonnegative(-difference)):
            return sp.S.Zero
    # SymPy asks for the sign of the difference, which is slow under sums and says nothing there.
    evaluate = not difference.has(IndexSum, IndexMax, IndexProduct)
    return Indicator(_RELATIONS[sign](x, y, evaluate=evaluate))


def truth_values(value: Any) -> Traced:
    given = lift(value)
    return given if given.kind == "bool" else compare("!=")(given, 0)


def logical_and(left: Any, right: Any) -> Traced:
    """Both hold."""
    return apply(lambda x, y: x * y, truth_values(left), truth_values(right), kind="bool", name="and")


def logical_or(left: Any, right: Any) -> Traced:
    """One holds."""
    return apply(lambda x, y: x + y - x * y, truth_values(left), truth_values(right), kind="bool", name="or")


def logical_xor(left: Any, right: Any) -> Traced:
    """Exactly one holds."""
    return apply(lambda x, y: x + y - 2 * x * y, truth_values(left), truth_values(right), kind="bool", name="xor")


def invert(value: Any) -> Traced:
    """Not."""
    given = lift(value)
    if given.kind != "bool":
        raise UnsupportedError("~ of integers is not read; it works on booleans, as in ~mask")
    return apply(lambda x: 1 - x, given, kind="bool", name="not")


def bitwise(function: Callable[[Any, Any], Traced], sign: str) -> Callable[[Any, Any], Traced]:
    """A logical operation that is written with a bitwise sign."""

    def applied(left: Any, right: Any) -> Traced:
        a, b = lift(left), lift(right)
        if a.kind != "bool" or b.kind != "bool":
            raise UnsupportedError(f"{sign} is read between booleans only, got {a.kind} and {b.kind}")
        return function(a, b)

    return applied


def where(condition: Any, chosen: Any = None, other: Any = None) -> Traced:
    """`chosen` where the condition holds, else `other`; -inf may stand on one side."""
    if chosen is None or other is None:
        raise UnsupportedError(
            "np.where(condition) gives places whose number depends on the data; write np.where(condition, a, b)"
        )
    c, a, b = truth_values(condition), lift(chosen), lift(other)
    value = elementwise(lambda m, x, y: m * x + (1 - m) * y, c.array, a.array, b.array, name="where")
    kind = number_kind(a, b)
    if a.finite is None and b.finite is None:
        return _made(value, kind, [c, a, b])
    one = Array((), sp.S.One)
    mark = elementwise(
        lambda m, x, y, v: m * x + (1 - m) * y + 0 * v,
        c.array,
        one if a.finite is None else a.finite,
        one if b.finite is None else b.finite,
        value,
        name="where",
    )
    return Traced(value, kind, finite=mark)


def maximum(left: Any, right: Any) -> Traced:
    """The larger of two."""
    return _extremum(left, right, ">=", "maximum")


def minimum(left: Any, right: Any) -> Traced:
    """The smaller of two."""
    return _extremum(left, right, "<=", "minimum")


def _extremum(left: Any, right: Any, sign: str, name: str) -> Traced:
    a, b = lift(left), lift(right)
    whole = a.kind != "float" and b.kind != "float"

    def chosen(x: sp.Expr, y: sp.Expr) -> sp.Expr:
        c = decided(sign, x, y, whole)
        return c * x + (1 - c) * y

    return apply(chosen, a, b, kind=number_kind(a, b), name=name)


def clip(value: Any, low: Any = None, high: Any = None, **named: Any) -> Traced:
    """The value kept between two bounds: min(max(x, low), high)."""
    low, high = named.get("a_min", named.get("min", low)), named.get("a_max", named.get("max", high))
    result = lift(value)
    if low is not None:
        result = maximum(result, low)
    return result if high is None else minimum(result, high)


def exp(value: Any) -> Traced:
    """e^x; of -inf it is 0."""
    given = lift(value)
    if given.finite is not None:
        return Traced(elementwise(lambda m, x: m * sp.exp(x), given.finite, given.array, name="exp"))
    return apply(sp.exp, given, name="exp")


def guarded(condition: sp.Expr, value: Callable[[], sp.Expr], other: sp.Expr = sp.S.Zero) -> sp.Expr:
    """The value where a condition (an indicator) holds, else the other; the value is not made where it never does."""
    return other if condition == 0 else condition * value() + (1 - condition) * other


def xlogy(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return guarded(decided("!=", x, sp.S.Zero, False), lambda: x * sp.log(y))


def sinc(x: sp.Expr) -> sp.Expr:
    return guarded(decided("!=", x, sp.S.Zero, False), lambda: sp.sin(sp.pi * x) / (sp.pi * x), sp.S.One)


def _same_kind(function: Scalar, name: str) -> Callable[..., Traced]:
    return lambda *values: apply(function, *values, kind=number_kind(*map(lift, values)), name=name)


def _float(function: Scalar, name: str) -> Callable[..., Traced]:
    return lambda *values: apply(function, *values, name=name)


FLOAT_FUNCTIONS: dict[str, Scalar] = {
    "log": sp.log,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "arcsin": sp.asin,
    "arccos": sp.acos,
    "arctan": sp.atan,
    "arcsinh": sp.asinh,
    "arccosh": sp.acosh,
    "arctanh": sp.atanh,
    "arctan2": sp.atan2,
    "log1p": lambda x: sp.log(1 + x),
    "expm1": lambda x: sp.exp(x) - 1,
    "exp2": lambda x: 2**x,
    "log2": lambda x: sp.log(x) / sp.log(2),
    "log10": lambda x: sp.log(x) / sp.log(10),
    "cbrt": lambda x: sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3),
    "hypot": lambda x, y: sp.sqrt(x**2 + y**2),
    "logaddexp": lambda x, y: sp.log(sp.exp(x) + sp.exp(y)),
    "logaddexp2": lambda x, y: sp.log(2**x + 2**y) / sp.log(2),
    "degrees": lambda x: x * 180 / sp.pi,
    "radians": lambda x: x * sp.pi / 180,
    "copysign": lambda x, y: sp.Abs(x) * (2 * decided(">=", y, sp.S.Zero, False) - 1),
    "sinc": sinc,
    "heaviside": lambda x, h: decided(">", x, sp.S.Zero, False) + h * decided("==", x, sp.S.Zero, False),
    "xlogy": xlogy,
    "floor": sp.floor,
    "ceil": sp.ceiling,
    "trunc": _trunc,
    "reciprocal": lambda x: _quotient(sp.S.One, x),
    "float_power": _power,
}
SAME_KIND: dict[str, Scalar] = {
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "absolute": sp.Abs,
    "fabs": sp.Abs,
    "sign": sp.sign,
    "square": lambda x: x**2,
    "conjugate": lambda x: x,
    "real": lambda x: x,
}

TABLES.update({name: _float(f, name) for name, f in FLOAT_FUNCTIONS.items()})
TABLES.update({name: _same_kind(f, name) for name, f in SAME_KIND.items()})
TABLES.update(
    {
        "add": add,
        "subtract": subtract,
        "multiply": multiply,
        "divide": divide,
        "true_divide": divide,
        "power": power,
        "pow": power,
        "floor_divide": floor_divide,
        "mod": mod,
        "remainder": mod,
        "fmod": fmod,
        "divmod": divmod_,
        "exp": exp,
        "where": where,
        "maximum": maximum,
        "minimum": minimum,
        "fmax": maximum,
        "fmin": minimum,
        "clip": clip,
        "logical_and": logical_and,
        "logical_or": logical_or,
        "logical_xor": logical_xor,
        "logical_not": lambda x: invert(truth_values(x)),
        "invert": invert,
        "bitwise_not": invert,
        "bitwise_and": bitwise(logical_and, "&"),
        "bitwise_or": bitwise(logical_or, "|"),
        "bitwise_xor": bitwise(logical_xor, "^"),
        "greater": compare(">"),
        "greater_equal": compare(">="),
        "less": compare("<"),
        "less_equal": compare("<="),
        "equal": compare("=="),
        "not_equal": compare("!="),
        "signbit": lambda x: compare("<")(x, 0),
        "isfinite": lambda x: apply(lambda v: sp.S.One, x, kind="bool"),
        "isnan": lambda x: apply(lambda v: sp.S.Zero, x, kind="bool"),
        "isinf": lambda x: apply(lambda v: sp.S.Zero, x, kind="bool"),
    }
)
for _alias, _name in {
    "abs": "absolute",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "rad2deg": "degrees",
    "deg2rad": "radians",
    "fix": "trunc",
    "conj": "conjugate",
    "real_if_close": "real",
}.items():
    TABLES[_alias] = TABLES[_name]
