"""A forward and a backward pass as Python functions, and the questions they make: one for each array differentiated by.

How the two fit together is found by calling them once on drawn inputs: which value of several the forward pass returns,
what it hands on to the backward pass, and where each gradient stands in what the backward pass returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from .code_declarations import Avoid, Declarations, arguments_of, parameters, preparation
from .gradients_of_code import GradientQuestion, Point, Reading, dimension, drawn_points
from .symbolic.language.arrays import Array
from .symbolic.language.declarations import read_shapes
from .symbolic.language.errors import FormulaError, LemmataError, ShapeError, UnsupportedError
from .symbolic.tracing import trace

Function = Callable[..., Any]
Cotangent = str | Mapping[str, Any] | None
SKIPPED = "_"  # a place in `wrt` whose value is not looked at


def gradient_questions(forward: Function, backward: Function, wrt: str | Sequence[str], declared: Declarations,
                       cotangent: Cotangent = None, *, seed: int = 0) -> dict[str, GradientQuestion]:
    """A question for each array of `wrt`, in the order in which `backward` returns their gradients.

    The parameters of `backward` are met by name: the arguments of `forward`, the cotangent, and then, in order, what
    `forward` returns after its output (a cache). Raises `FormulaError` or `ShapeError` where they do not fit.
    """
    names = [n.strip() for n in (wrt.split(",") if isinstance(wrt, str) else wrt)]
    upstream, declared = _cotangent(cotangent, declared)
    base = value_question(forward, declared)
    for name in names:
        if name != SKIPPED and name not in base.shapes:
            raise FormulaError(f"the array to differentiate by, {name!r}, has no shape; declared: "
                               f"{', '.join(base.shapes) or 'nothing'}")
    point = probe(base, forward, seed)
    output = _output(forward, point)
    handed = _handed_on(output)
    forward_read, forward_run = (forward, forward) if handed is None else (_first(forward), _first(forward))
    shape = np.shape(output if handed is None else output[0])
    if upstream is None and shape:
        free = [n for n in parameters(backward) if n not in parameters(forward)]
        raise ShapeError(f"{forward.__name__} returns an array of shape {shape} at {point.sizes}, and no cotangent is "
                         f"named; give the parameter of {backward.__name__} that takes the gradient of the output, "
                         f"with its sizes, e.g. "
                         f"cotangent={free[0] if free else 'g'}={','.join('NKC'[: len(shape)]) or 'N'}")
    fit = _fit(forward, backward, tuple(parameters(forward)), upstream, handed)
    if upstream is not None:
        _check_cotangent(upstream, base, point, shape, forward)
    keys = _keys(backward, names, _result(fit, base, point, upstream, backward))
    return {name: GradientQuestion(
        f"{backward.__name__}.{name}", _on_copies(forward_run), _component(fit, key),
        _reading(forward_read, tuple(base.shapes) + base.integers),
        _backward_reading(backward, fit, key), name, base.shapes, base.domains, upstream, base.integers, base.sizes,
        avoid=base.avoid, hypotheses=base.hypotheses, prepare=base.prepare)
        for name, key in zip(names, keys, strict=True) if name != SKIPPED}


def value_question(function: Function, declared: Declarations) -> GradientQuestion:
    """The arguments of one function: what is needed to draw points for it. The gradient is not asked for."""
    shapes, integers = arguments_of(function, declared)
    given = declared.given
    return GradientQuestion(
        function.__name__, _on_copies(function), lambda given: None, _reading(function, tuple(shapes) + integers),
        _nothing,
        "", shapes, {n: d for n, d in declared.domains.items() if n in shapes}, None, integers, declared.sizes,
        avoid=_margin(declared.avoid),
        hypotheses=(lambda arrays: declared.hypotheses(arrays)) if given else None, prepare=preparation(declared))


def probe(q: GradientQuestion, function: Function, seed: int) -> Point:
    """The first drawn point; an error where inputs that satisfy what is declared cannot be drawn."""
    try:
        point = next(iter(drawn_points(q, seed)), None)
    except LemmataError:
        raise
    except ValueError as error:
        raise FormulaError(f"inputs of {function.__name__} cannot be drawn: {error}") from None
    if point is None:
        raise FormulaError(f"no inputs of {function.__name__} were found that satisfy all that is declared; check "
                           f"hypotheses and avoid")
    return point


# ---------------------------------------------------------------------- how forward and backward fit together
@dataclass(frozen=True)
class Fit:
    """How the backward pass is called: its named arguments, and the parameters that take what the forward pass hands
    on.
    """

    forward: Function
    backward: Function
    named: tuple[str, ...]
    extra: tuple[str, ...]
    arguments: tuple[str, ...]

    def __call__(self, given: Mapping[str, Any]) -> Any:
        """Run the backward pass on numbers."""
        named = {n: given[n] for n in self.named if n in given}
        if not self.extra:
            return self.backward(**named)
        out = self.forward(**{n: _copy(given[n]) for n in self.arguments if n in given})
        return self.backward(**named, **dict(zip(self.extra, out[1:], strict=True)))


def _fit(forward: Function, backward: Function, arguments: tuple[str, ...],
         upstream: tuple[str, tuple[str, ...]] | None,
         handed: int | None) -> Fit:
    takes = parameters(backward)
    if upstream is not None and upstream[0] not in takes:
        raise FormulaError(f"the cotangent is called {upstream[0]!r}, but {backward.__name__} takes "
                           f"{', '.join(takes) or 'no arguments'}")
    known = {*arguments, *([upstream[0]] if upstream is not None else [])}
    extra = tuple(n for n, optional in takes.items() if n not in known and not optional)
    if extra and len(extra) != (handed or 0):
        one = handed == 1 and len(extra) == 1
        also = "" if one else f"; {forward.__name__} returns {handed or 'nothing'} besides its output"
        named = "" if upstream else f", e.g. as the cotangent: cotangent={extra[0]}=N,K"
        raise FormulaError(f"{backward.__name__} takes {', '.join(map(repr, extra))}, no argument of "
                           f"{forward.__name__}{also}; say what it is{named}")
    return Fit(forward, backward, tuple(n for n in takes if n in known), extra, arguments)


def _handed_on(output: Any) -> int | None:
    """How many values follow the output; None where the output stands alone."""
    if isinstance(output, dict):
        raise FormulaError("the forward pass returns a dictionary; wrap it in a function that returns the output")
    return len(output) - 1 if isinstance(output, tuple) else None


def _keys(backward: Function, names: Sequence[str], value: Any) -> list[Any]:
    """Where each gradient stands in what the backward pass returned: an index, a key, or None for the value itself."""
    if isinstance(value, Mapping):
        return [_key(backward, n, list(value)) if n != SKIPPED else None for n in names]
    if isinstance(value, (tuple, list)):
        if len(value) != len(names):
            raise ShapeError(f"{backward.__name__} returns {len(value)} values, and {len(names)} arrays are named "
                             f"({', '.join(names)}); name what each is the gradient of, in order, with {SKIPPED} for "
                             f"one that is not looked at")
        return list(range(len(names)))
    if len(names) != 1:
        raise ShapeError(f"{backward.__name__} returns one value, and {len(names)} arrays are named: "
                         f"{', '.join(names)}")
    return [None]


def _key(backward: Function, name: str, keys: list[Any]) -> Any:
    wanted = (name, f"d{name}", f"grad_{name}", f"{name}_grad", f"d_{name}")
    found = [k for k in wanted if k in keys]
    if len(found) != 1:
        raise FormulaError(f"{backward.__name__} returns a dictionary with the keys {', '.join(map(str, keys))}; the "
                           f"gradient by {name} is looked for under {', '.join(wanted)}")
    return found[0]


# ---------------------------------------------------------------------- the cotangent
def _cotangent(given: Cotangent, declared: Declarations) -> tuple[tuple[str, tuple[str, ...]] | None, Declarations]:
    if given is None or given == "":
        return None, declared
    if isinstance(given, str):
        name, equals, _ = given.strip().partition("=")
        if not equals:
            if name not in declared.shapes:
                raise FormulaError(f"the cotangent {name} has no shape; write it so: cotangent={name}=N,K")
            return (name, declared.shapes[name]), declared.without(name)
        shape = read_shapes(given)[name]
    else:
        if len(given) != 1:
            raise FormulaError(f"one cotangent is named, here are {len(given)}: {', '.join(given)}")
        [(name, parts)] = given.items()
        parts = parts.split(",") if isinstance(parts, str) else [parts] if isinstance(parts, int) else parts
        shape = tuple(str(p).strip() for p in parts if str(p).strip())
    return (name, shape), declared.without(name)


def _check_cotangent(upstream: tuple[str, tuple[str, ...]], base: GradientQuestion, point: Point,
                     shape: tuple[int, ...],
                     forward: Function) -> None:
    try:
        declared = tuple(dimension(s, point.sizes) for s in upstream[1])
    except FormulaError:
        raise FormulaError(f"the cotangent {upstream[0]} has the sizes {', '.join(upstream[1])}, which are not all "
                           f"sizes of the arguments: {', '.join(point.sizes)}") from None
    if declared != shape:
        raise ShapeError(f"the cotangent {upstream[0]} has the shape ({', '.join(upstream[1])}), at {point.sizes} "
                         f"{declared}, but {forward.__name__} returns {shape}")


# ---------------------------------------------------------------------- calling
def _output(forward: Function, point: Point) -> Any:
    return _called(forward, lambda: forward(**{n: _copy(v) for n, v in point.arguments.items()}), point)


def _result(fit: Fit, base: GradientQuestion, point: Point, upstream: tuple[str, tuple[str, ...]] | None,
            backward: Function) -> Any:
    given = {n: _copy(v) for n, v in point.arguments.items()}
    if upstream is not None:
        given[upstream[0]] = np.ones(tuple(dimension(s, point.sizes) for s in upstream[1]))
    return _called(backward, lambda: fit(given), point)


def _called(function: Function, work: Callable[[], Any], point: Point) -> Any:
    """A call on drawn inputs; its failure is told with the place in the user's code and the inputs' shapes."""
    with np.errstate(all="ignore"):
        try:
            value = work()
        except Exception as error:
            place, trail = "", error.__traceback__
            while trail is not None:
                if trail.tb_frame.f_code.co_filename == function.__code__.co_filename:
                    place = f"{trail.tb_frame.f_code.co_filename}:{trail.tb_lineno}: "
                trail = trail.tb_next
            shapes = ", ".join(f"{n} {np.shape(v)}" if np.ndim(v) else f"{n} = {v:.4g}"
                               for n, v in point.arguments.items())
            raise UnsupportedError(f"{place}{function.__name__} failed on drawn inputs ({shapes}): "
                                   f"{type(error).__name__}: {error}") from error
    if value is None:
        raise UnsupportedError(f"{function.__name__} returns nothing")
    return value


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _on_copies(function: Function) -> Function:
    """The function on copies of its arguments: code that writes into them must not change the next call."""
    return lambda **given: function(**{n: _copy(v) for n, v in given.items()})


def _component(fit: Fit, key: Any) -> Callable[[Mapping[str, Any]], Any]:
    return lambda given: fit(given) if key is None else fit(given)[key]


# ---------------------------------------------------------------------- reading
def _first(function: Function) -> Function:
    def output(**given: Any) -> Any:
        return function(**given)[0]

    output.__name__ = function.__name__
    return output


def _reading(function: Function, names: tuple[str, ...]) -> Reading:
    def read(given: Mapping[str, Any], assumed: list[sp.Expr]) -> Array:
        return trace(function, {n: given[n] for n in names}, assumed)

    return read


def _backward_reading(backward: Function, fit: Fit, key: Any) -> Reading:
    forward, extra, named, arguments = fit.forward, fit.extra, fit.named, fit.arguments

    def component(**given: Any) -> Any:
        return backward(**given)[key]

    def composed(**given: Any) -> Any:
        out = forward(**{n: given[n] for n in arguments if n in given})
        value = backward(**{n: given[n] for n in named if n in given}, **dict(zip(extra, out[1:], strict=True)))
        return value if key is None else value[key]

    def read(given: Mapping[str, Any], assumed: list[sp.Expr]) -> Array:
        if extra:
            return trace(composed, dict(given), assumed)
        return trace(backward if key is None else component, {n: given[n] for n in named if n in given}, assumed)

    return read


def _nothing(given: Mapping[str, Any], assumed: list[sp.Expr]) -> Array:
    raise UnsupportedError("no gradient is asked for")


def _margin(avoid: Avoid) -> Callable[[Mapping[str, Any]], Any] | None:
    """What must not vanish, as a function; a text is a NumPy expression in the arguments, and is executed."""
    if not avoid:
        return None
    if callable(avoid):
        return avoid
    code = compile(avoid, "<avoid>", "eval")
    for name in re.findall(r"__\w+", avoid):
        raise FormulaError(f"{name} may not stand in avoid")
    return lambda given: eval(code, {"np": np}, dict(given))
