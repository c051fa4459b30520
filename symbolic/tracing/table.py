"""How NumPy's functions are entered into the table that traced code calls, and what they share: casts, axes, whole
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language.errors import UnsupportedError
from . import elementwise as el
from .dispatch import TABLES
from .values import Traced, lift


def function(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table under NumPy's names."""

    def entered(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            TABLES[name] = f
        return f

    return entered


def plain(value: Any) -> Traced:
    """The value, which must be whole and without -inf."""
    given = lift(value)
    given._whole()
    given._finite()
    return given


def kind_named(dtype: Any, default: str = "float") -> str:
    """The kind that a dtype names."""
    if dtype is None:
        return default
    import numpy as np

    letter = np.dtype(getattr(dtype, "dtype_read", dtype)).kind  # `float` is replaced in traced code
    if letter == "c":
        raise UnsupportedError("complex arrays are not read; write real and imaginary parts")
    return {"b": "bool", "i": "int", "u": "int"}.get(letter, "float")


def axes_of(axis: Any) -> Any:
    """An axis or axes as Python integers."""
    return None if axis is None else tuple(int(a) for a in axis) if isinstance(axis, (tuple, list)) else int(axis)


def cast(value: Any, dtype: Any = None, **options: Any) -> Traced:
    """A copy under another dtype; floats are not cut to integers."""
    given = lift(value)
    given._whole()
    kind = kind_named(dtype, given.kind)
    if kind == "bool" and given.kind != "bool":
        return el.compare("!=")(given, 0)
    if kind == "int" and given.kind == "float" and not given.body.is_integer:
        raise UnsupportedError("astype(int) of floats cuts them; write np.floor or keep the floats")
    return Traced(given.array, kind, finite=given.finite, chosen=given.chosen)


def unwrapped(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.body if value.ndim == 0 else value.array
    return type(value)(unwrapped(v) for v in value) if isinstance(value, (tuple, list)) else value


def refuse(options: dict[str, Any]) -> None:
    for name in options:
        raise UnsupportedError(f"the argument {name}= is not read; write it with np.where and without the argument")


def into(out: Any, result: Traced) -> Traced:
    if out is None:
        return result
    lift(out).write(result)
    return lift(out)
