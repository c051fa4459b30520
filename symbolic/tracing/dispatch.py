"""NumPy's functions by name, and NumPy's own protocols for calling them on traced values.

Code that is read reaches the functions through the stand-ins of `namespaces`; code that is not (a library's function)
calls NumPy itself, which hands the call over by `__array_ufunc__` and `__array_function__`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NoReturn

from ..language.errors import UnsupportedError

# By name, "linalg.inv" and "add.at" included; the rooms of `methods` fill it.
TABLES: dict[str, Callable[..., Any]] = {}

REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
    "logaddexp": "logsumexp",
}
ACCUMULATED = {"add": "cumsum", "multiply": "cumprod"}


class _Clock:
    """The loops and branches that the traced code stands in, by number; an array remembers those that it was made
    in.
    """

    active: tuple[int, ...] = ()


CLOCK = _Clock()


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """NumPy's function of a name on traced values."""
    if name not in TABLES:
        near = difflib.get_close_matches(name, TABLES, n=3)
        raise UnsupportedError(
            f"np.{name} is not read"
            + (f"; read are {', '.join(near)}" if near else "")
            + "; write it with functions that are (sum, exp, where, einsum, ...), or the claim can be run on numbers"
        )
    return TABLES[name](*args, **kwargs)


class Protocols:
    """What NumPy asks of an argument that is not an ndarray."""

    __slots__ = ()

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(
            "a symbolic array is turned into a NumPy array by a function that is not read; call the NumPy function "
            "as np.<name>"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        name = {
            "__call__": ufunc.__name__,
            "at": f"{ufunc.__name__}.at",
            "outer": f"{ufunc.__name__}.outer",
            "reduce": REDUCED.get(ufunc.__name__, "?"),
            "accumulate": ACCUMULATED.get(ufunc.__name__, "?"),
        }.get(method, "?")
        result = call(name, *inputs, **kwargs)
        if out is not None:
            (target,) = out
            target.write(result)
            return target
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        prefix = "linalg." if "linalg" in (function.__module__ or "") else ""
        return call(prefix + function.__name__, *args, **kwargs)
