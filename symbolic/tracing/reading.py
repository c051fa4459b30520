"""Reading NumPy code: a user's function is run on symbolic arrays, in globals of its own.

The function gets a new copy with new globals, in which `np`, `scipy`, `math` and some builtins are replaced (see
`namespaces`), and with its control flow rewritten (see `rewriting`), where its source is at hand; the functions that
it calls are copied in the same way. Neither the function nor its module is changed. Importing a module, or
`trace_source`, runs code as Python does: neither is for text that is not trusted.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language.arrays import Array
from ..language.errors import LemmataError, UnsupportedError
from ..language.index_arithmetic import ASSUMED
from ..language.nodes import free_indices
from . import namespaces
from .builtin import builtin_functions
from .contexts import ACTIVE, Missing
from .control import Reading
from .dispatch import CLOCK
from .rewriting import CONTROL, rewritten
from .turns import placeholders
from .values import Traced, lift

Argument = Any  # an Array, a size expression, or a Python value that is passed on as it is


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Argument], assumed: list[sp.Expr] | None = None
) -> Array:
    """The array that a function returns, as an index expression in its arguments.

    `arguments` are arrays of the language, size expressions (for parameters that are integers), or Python values. What
    holds only for large enough sizes (x[1:] needs n >= 2) is put into `assumed`, as forms that must be >= 0.

    >>> import numpy as np
    >>> from lemmata.symbolic.language.arrays import array
    >>> def mean_square(x):
    ...     return (x**2).sum(axis=1) / x.shape[1]
    >>> trace(mean_square, {"x": array("x", "N,K")}).shape
    (N,)

    Raises `UnsupportedError`, with file, line and what to write instead, for what cannot be read faithfully.
    """
    return _run(_Copies().function(function), arguments, assumed)


def trace_source(
    source: str,
    name: str,
    arguments: Mapping[str, Argument],
    assumed: list[sp.Expr] | None = None,
    filename: str = "<source>",
) -> Array:
    """Like `trace`, for a function defined in a text, with `np`, `scipy` and `math` at hand. The text is executed."""
    space = _space(
        {
            "np": __import__("numpy"),
            "numpy": __import__("numpy"),
            "scipy": __import__("scipy"),
            "math": __import__("math"),
        }
    )
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(rewritten(ast.parse(source, filename)), filename, "exec"), space)
    if not callable(space.get(name)):
        raise UnsupportedError(f"{filename} defines no function {name!r}")
    return _run(space[name], arguments, assumed, {filename})


def trace_expression(text: str, arguments: Mapping[str, Argument], assumed: list[sp.Expr] | None = None) -> Array:
    """Like `trace`, for an expression in the names of its arguments. The text is executed."""
    names = ", ".join(arguments)
    return trace_source(f"def expression({names}): return ({text})", "expression", arguments, assumed, "<expression>")


def argument(value: Argument) -> Any:
    """An argument as the user's code sees it."""
    if isinstance(value, Array):
        return Traced(re.fresh(value), lift(value).kind)
    if isinstance(value, sp.Expr):
        return int(value) if value.is_Integer else Traced(Array((), value), "int" if value.is_integer else "float")
    return value


def _run(
    function: Callable[..., Any],
    arguments: Mapping[str, Argument],
    assumed: list[sp.Expr] | None,
    files: set[str] | None = None,
) -> Array:
    given = {name: argument(value) for name, value in arguments.items()}
    before = CLOCK.active, list(ACTIVE)
    collected: list[sp.Expr] = [] if assumed is None else assumed
    token = ASSUMED.set(collected)
    try:
        return result_array(function(**given))
    except Exception as error:
        raise _located(error, files or FILES, function) from error
    finally:
        ASSUMED.reset(token)
        CLOCK.active = before[0]
        ACTIVE[:] = before[1]


def result_array(value: Any) -> Array:
    """What the function returned, as an array; it must not hold anything of a loop that has ended."""
    if value is None:
        raise UnsupportedError("the function returns nothing")
    if isinstance(value, Missing):
        value._refuse()
    given = lift(value)
    given._whole()
    given._finite()
    result = re.fresh(given.array)
    loose = [i for i in free_indices(result.body) if i not in result.indices]
    if loose or placeholders(result.body):
        raise UnsupportedError("the result holds a value from inside of a symbolic loop; compute it after the loop")
    return result


# ---------------------------------------------------------------------- where it went wrong
FILES: set[str] = set()


def _located(error: Exception, files: set[str], function: Callable[..., Any]) -> Exception:
    """The error with the file, the line and its text."""
    place = ""
    trail = error.__traceback__
    while trail is not None:
        name = trail.tb_frame.f_code.co_filename
        if name in files:
            line = linecache.getline(name, trail.tb_lineno).strip()
            place = f"{name}:{trail.tb_lineno}: {line}\n  " if line else f"{name}:{trail.tb_lineno}: "
        trail = trail.tb_next
    if not place:
        place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}: in {function.__name__}\n  "
    if isinstance(error, LemmataError):
        return type(error)(f"{place}{error}")
    return UnsupportedError(f"{place}{type(error).__name__}: {error}")


# ---------------------------------------------------------------------- copies of functions
def _space(module: Mapping[str, Any]) -> dict[str, Any]:
    """Globals for copied code: replaced builtins under the module's own names."""
    space: dict[str, Any] = {"__builtins__": builtins, CONTROL: Reading, "__name__": "read"}
    space.update({name: f for name, f in builtin_functions().items() if name not in module})
    space.update({name: namespaces.replaced(value) for name, value in module.items()})
    return space


class _Copies:
    """Copies of the functions of one call of `trace`, each made once."""

    def __init__(self) -> None:
        self.spaces: dict[int, dict[str, Any]] = {}
        self.done: dict[int, Any] = {}

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The copy of a function; what is not a plain Python function stays."""
        function = inspect.unwrap(function)
        if not isinstance(function, types.FunctionType):
            raise UnsupportedError(f"{function!r} is not a Python function that can be read; wrap it in one")
        if id(function) in self.done:
            return self.done[id(function)]
        space = self._space(function)
        code = _rewritten_code(function)
        cells = (
            None
            if function.__closure__ is None
            else tuple(types.CellType(self._value(c.cell_contents)) for c in function.__closure__)
        )
        if function.__closure__ is not None and code.co_freevars != function.__code__.co_freevars:
            code, _ = function.__code__, None
        made = types.FunctionType(code, space, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        self.done[id(function)] = made
        for name in _names(function.__code__):
            if name in function.__globals__ and name not in space:
                space[name] = self._value(function.__globals__[name])
        return made

    def _space(self, function: types.FunctionType) -> dict[str, Any]:
        key = id(function.__globals__)
        if key not in self.spaces:
            own = function.__globals__
            space: dict[str, Any] = {
                "__builtins__": builtins,
                CONTROL: Reading,
                "__name__": own.get("__name__", "read"),
            }
            space.update({name: f for name, f in builtin_functions().items() if name not in own})
            self.spaces[key] = space
        return self.spaces[key]

    def _value(self, value: Any) -> Any:
        if (
            isinstance(value, types.FunctionType)
            and not (value.__module__ or "").startswith(("numpy", "scipy"))
            and not _is_library(value)
        ):
            return self.function(value)
        return namespaces.replaced(value)


def _is_library(function: types.FunctionType) -> bool:
    import sysconfig

    return function.__code__.co_filename.startswith(sysconfig.get_paths()["stdlib"])


def _names(code: types.CodeType) -> set[str]:
    """The global names that a function and the functions inside of it use."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _rewritten_code(function: types.FunctionType) -> types.CodeType:
    """The code of a function with its control flow rewritten; the code as it is, where the source cannot be had."""
    original = function.__code__
    FILES.add(original.co_filename)
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)), original.co_filename)
    except (OSError, SyntaxError, TypeError):
        return original
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return original
    ast.increment_lineno(tree, first - 1)
    if original.co_freevars:  # an enclosing function makes the same names free again
        outer = ast.parse(f"def __enclosing__({', '.join(original.co_freevars)}): pass").body[0]
        outer.body = tree.body  # type: ignore[attr-defined]
        tree.body = [outer]
    code = compile(rewritten(tree), original.co_filename, "exec")
    return _inner_code(code, function.__name__) or original


def _inner_code(code: types.CodeType, name: str) -> types.CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name:
                return constant
            found = _inner_code(constant, name)
            if found is not None:
                return found
    return None
