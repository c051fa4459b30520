"""A Python function traced on named arrays: each operation it calls is recorded with the axes before and after.

The function is written in the array vocabulary (`softmax`, `@`, `x.reshape(...)`, ...) or in NumPy's, whose functions
hand over to a named array by NumPy's own protocols. While it runs, the functions of the vocabulary are replaced by ones
that look for named arrays among their arguments; all others they leave alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import sympy as sp

from ..language import rearrangement as moved
from ..language import vocabulary
from ..language.arrays import Array, elementwise
from ..language.errors import LemmataError, ShapeError, UnsupportedError
from ..language.sizes import Size, size
from . import contracting, joining, pointwise
from .axes import Atom, Axis, axis_of_size, read_axes
from .broadcasting import broadcast
from .dependence import dependence
from .named import NamedArray, as_named, named
from .rearranging import NeedsCondition
from .trace import Condition, Line, Recorder, Trace, record, recording, titled

_REDUCTIONS = ("sum", "max", "min", "mean", "prod", "var")
_ELEMENTWISE = (
    "exp",
    "log",
    "tanh",
    "erf",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "sigmoid",
    "softplus",
    "log_sigmoid",
    "relu",
    "gelu",
    "gelu_tanh",
    "silu",
    "mish",
    "elu",
    "sign",
    "sqrt",
    "square",
    "log1p",
    "expm1",
    "abs",
)
_BINARY = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "power": "**"}
_MOST_CONDITIONS = 6
_NUMBERS_ONLY = ("loop of ufunc", "cannot be interpreted as an integer")  # NumPy and range() on a symbolic size
_lock = RLock()


def _binary(sign: str) -> Callable[..., Any]:
    return lambda a, b, **_: pointwise.arithmetic(sign, a, b)


def _reduction(kind: str) -> Callable[..., Any]:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False, **rest: Any) -> NamedArray:
        if any(v is not None for v in rest.values()):
            raise UnsupportedError(f"{kind}: the options {', '.join(rest)} are not traced; drop them")
        return pointwise.reduce(kind, x, axis, keepdims)

    return reduced


def _where(condition: Any, chosen: Any, other: Any) -> NamedArray:
    given = [as_named(v) for v in (condition, chosen, other)]
    axes = broadcast("where", given)
    value = elementwise(lambda c, a, b: c * a + (1 - c) * b, *(g.value for g in given), name="where")
    scores = next((g for g in given[1:] if g.summed is not None), given[1])
    label, formula = titled("", f"where({', '.join(g.label for g in given)})")
    result = NamedArray(value, axes, label, scores.factor, scores.summed)
    record(
        Line(
            "mask",
            pointwise.operand(result),
            tuple(pointwise.operand(g) for g in given if g.ndim),
            formula=formula,
            why=f"{given[1].label} where {given[0].label} holds, else {given[2].label}",
        )
    )
    return result


def _transposed(x: Any, axes: Any = None) -> NamedArray:
    return as_named(x).transpose(*(axes or ()))


def _expanded(x: Any, axis: Any) -> NamedArray:
    x = as_named(x)
    places = {a % (x.ndim + 1) for a in (axis if isinstance(axis, tuple) else (axis,))}
    rest = iter(range(x.ndim))
    return x[tuple(None if n in places else (next(rest), slice(None))[1] for n in range(x.ndim + len(places)))]


def _moved(x: Any, source: int, destination: int) -> NamedArray:
    x = as_named(x)
    order = [a for a in range(x.ndim) if a != source % x.ndim]
    order.insert(destination % x.ndim, source % x.ndim)
    return x.transpose(order)


_TABLE: dict[str, Callable[..., Any]] = {
    **{n: _reduction(n) for n in _REDUCTIONS},
    **{n: functools.partial(pointwise.apply, n) for n in _ELEMENTWISE},
    **{n: _binary(s) for n, s in _BINARY.items()},
    "absolute": functools.partial(pointwise.apply, "abs"),
    "negative": lambda x: -as_named(x),
    "softmax": lambda x, axis=-1, name="": pointwise.softmax(x, axis, name),
    "matmul": contracting.matmul,
    "dot": contracting.matmul,
    "einsum": contracting.einsum,
    "transpose": _transposed,
    "permute_dims": _transposed,
    "swapaxes": lambda x, a, b: as_named(x).swapaxes(a, b),
    "moveaxis": _moved,
    "reshape": lambda x, shape, **_: as_named(x).reshape(shape),
    "expand_dims": _expanded,
    "concatenate": lambda arrays, axis=0: joining.concatenate(arrays, axis),
    "stack": lambda arrays, axis=0: joining.stack(arrays, axis),
    "repeat": lambda x, repeats, axis: joining.repeat(x, axis, repeats),
    "where": _where,
}


def by_name(name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A function of the vocabulary, or of NumPy, on named arrays; one without a rule of its own keeps axes whose sizes
    it keeps.
    """
    if name in _TABLE:
        return _TABLE[name](*inputs, **options)
    function = vocabulary.function_table().get(name) or getattr(moved, name, None)
    if function is None:
        raise UnsupportedError(
            f"{name} has no rule on named arrays; write it in the array vocabulary: "
            f"{', '.join(sorted({*_TABLE, *vocabulary.function_table()}))}"
        )
    plain = [v.value if isinstance(v, NamedArray) else v for v in inputs]
    value = getattr(function, "original", function)(*plain, **options)
    arrays = [v for v in inputs if isinstance(v, NamedArray)]
    known = {a.size: a for x in arrays for a in x.axes}
    label, formula = titled("", f"{name}({', '.join(a.label for a in arrays)})")
    result = NamedArray(value, [known.get(n, axis_of_size(n)) for n in value.shape], label)
    record(
        Line(
            name,
            pointwise.operand(result),
            tuple(map(pointwise.operand, arrays)),
            formula=formula,
            why=f"the function {name}",
        )
    )
    return result


def _holds_named(value: Any) -> bool:
    return isinstance(value, NamedArray) or (
        isinstance(value, (tuple, list)) and any(isinstance(v, NamedArray) for v in value)
    )


def _listening(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def called(*inputs: Any, **options: Any) -> Any:
        return by_name(name, inputs, options) if any(map(_holds_named, inputs)) else original(*inputs, **options)

    called.original = original  # type: ignore[attr-defined]
    return called


@contextmanager
def _vocabulary_listens() -> Iterator[None]:
    with _lock:
        saved = {
            name: function
            for name in vocabulary.function_table()
            if (function := getattr(vocabulary, name, None)) is not None and not hasattr(function, "original")
        }
        try:
            for name, function in saved.items():
                setattr(vocabulary, name, _listening(name, function))
            yield
        finally:
            for name, function in saved.items():
                setattr(vocabulary, name, function)


def trace_shapes(function: Callable[..., Any], /, **arguments: Any) -> Trace:
    """Run a function of arrays on named arrays and record each operation with its sizes before and after.

    An argument is the axes of an array: a tuple of sizes (``("B", "n", "d_model")``), a pattern (``"B n d_model"``), or
    names with numbers (``{"B": 2, "n": 5}``); anything else is passed on as it is: a number of heads is ``h=12``, or
    for every h ``h=size("h")``, because the text ``"h"`` is an array with the axis h. A quotient ``d_model // 12`` that
    is not known to be exact becomes a condition, d_model = 12·d_k. A reshape with the right shape and the wrong value
    is a warning of the trace, with an example.

    >>> trace = trace_shapes(lambda x, W: x @ W, x=("B", "n", "d_model"), W=("d_model", "d_ff"))
    >>> trace.result.pattern, trace.lines[-1].einsum
    ('B n d_ff', 'bic,cd->bid')
    >>> def split(x, h):
    ...     B, n, d = x.shape
    ...     return x.reshape(B, n, h, d // h)
    >>> trace = trace_shapes(split, x="B n d", h=size("h"))
    >>> trace.result.pattern, [f"{c.left} = {c.right}" for c in trace.conditions]
    ('B n h d_k', ['d = d_k*h'])

    Raises ShapeError where the function would fail, or would go through only because two sizes are equal by luck.
    """
    refined: dict[sp.Expr, sp.Expr] = {}
    conditions: list[Condition] = []
    definitions: dict[sp.Expr, sp.Expr] = {}
    for _ in range(_MOST_CONDITIONS):
        to = Recorder(short_names=True)
        inputs, passed = _arguments(arguments, refined, to)
        try:
            with recording(to), _vocabulary_listens():
                for x in inputs.values():
                    record(Line("input", pointwise.operand(x), formula=x.label, why=f"given with the axes {x.pattern}"))
                result = _run(function, passed)
        except NeedsCondition as needed:
            new = _new_size(needed, inputs, refined)
            refined[needed.dividend] = needed.divisor * new
            definitions[new] = needed.dividend / needed.divisor
            conditions.append(
                Condition(needed.dividend, needed.divisor * new, f"{needed.divisor} must divide {needed.dividend}")
            )
            continue
        name = getattr(function, "__name__", "function")
        given = ", ".join(f"{k} = [{x.pattern}]" for k, x in inputs.items())
        title = f"{name if name != '<lambda>' else 'function'}({given})"
        trace = Trace(title, tuple(to.lines), result, to.bindings, definitions, tuple(conditions))
        return trace.with_notes(*_dependences(result, inputs))
    raise ShapeError(
        f"trace_shapes: more than {_MOST_CONDITIONS} divisions of sizes are not exact; declare sizes as products, "
        "e.g. 'h*d_k'"
    )


def _new_size(needed: NeedsCondition, inputs: Mapping[str, NamedArray], refined: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    if not isinstance(needed.dividend, Size) or needed.divisor.has(needed.dividend):
        raise ShapeError(
            f"reshape: {needed.dividend} // {needed.divisor} is not exact for every size; declare the axis as a "
            "product, "
            f"e.g. x=(..., 'h*d_k')"
        )
    taken = {s.name for x in inputs.values() for n in x.shape for s in n.free_symbols}
    taken |= {s.name for v in refined.values() for s in v.free_symbols}
    return Size(next(n for n in ("d_k", "d_h", *(f"q_{k}" for k in range(100))) if n not in taken))


def _run(function: Callable[..., Any], passed: Mapping[str, Any]) -> NamedArray:
    try:
        result = function(**passed)
    except (TypeError, sp.SympifyError) as error:
        if NamedArray.__name__ in str(error):
            raise UnsupportedError(_not_a_number(passed)) from error
        if "convert expression to float" not in str(error) and not any(s in str(error) for s in _NUMBERS_ONLY):
            raise
        raise UnsupportedError(
            f"a function of numbers met a symbolic size ({error}); write d_k**0.5 for its root, or give the sizes as "
            "numbers, "
            "e.g. x={'B': 2, 'n': 5, 'd_model': 12}"
        ) from error
    if isinstance(result, (tuple, list)) and result:
        result = result[0]
    if not isinstance(result, Array):
        raise UnsupportedError(f"the function returned {type(result).__name__}; it must return an array")
    return as_named(result)


def _not_a_number(passed: Mapping[str, Any]) -> str:
    """An array stands where a number must: the arguments with one axis are those that may have been meant as sizes."""
    meant = [f"{n}=lm.size({x.pattern!r})" for n, x in passed.items() if isinstance(x, NamedArray) and x.ndim == 1]
    hint = f"; if a size is meant and not an array with that axis, pass {' or '.join(meant)}" if meant else ""
    return f"an array stands where the function needs a size or a number{hint}"


def _arguments(
    arguments: Mapping[str, Any], refined: Mapping[sp.Expr, sp.Expr], to: Recorder
) -> tuple[dict[str, NamedArray], dict[str, Any]]:
    inputs: dict[str, NamedArray] = {}
    passed: dict[str, Any] = {}
    for name, given in arguments.items():
        axes = _axes(name, given, to)
        if axes is None:
            passed[name] = given
            continue
        for _ in refined:
            axes = tuple(Axis(tuple(Atom(a.name, a.size.xreplace(dict(refined))) for a in x.atoms)) for x in axes)
        passed[name] = inputs[name] = named(name, axes)
    return inputs, passed


def _axes(name: str, given: Any, to: Recorder) -> tuple[Axis, ...] | None:
    """The axes that an argument describes; None for an argument that is no description of an array."""
    if isinstance(given, Mapping):
        found = []
        for axis_name, n in given.items():
            value = size(n)
            found.append(Axis((Atom(str(axis_name), value),)))
            known = to.bindings.setdefault(Size(str(axis_name)), value)
            if known != value:
                raise ShapeError(
                    f"{name}: the axis {axis_name} has size {value}, and {known} in an array before it; axes of one "
                    "name have one size"
                )
        return tuple(found)
    if isinstance(given, str):
        return read_axes(given)
    if isinstance(given, tuple) and all(isinstance(n, (str, int, sp.Expr)) for n in given):
        return tuple(axis_of_size(n) for n in given)
    return None


def _dependences(result: NamedArray, inputs: Mapping[str, NamedArray]) -> list[str]:
    """Along which axes of each input the result keeps places apart, read off its indices."""
    found = []
    for label, x in inputs.items():
        try:
            read = dependence(result, x)
        except LemmataError:
            continue
        if read.kept and read.mixed:
            found.append(
                f"the result at one place of {', '.join(map(str, read.kept))} reads {label} at that place only; "
                f"along {', '.join(map(str, read.mixed))} it reads several (read off the indices)"
            )
    return found
