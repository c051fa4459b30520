"""Python's operators on `Traced`, and writing in place.

``x += v`` on an array writes to it, and to its base where it is a view; on a number it makes a new one. What is added
to elements that were selected by integer arrays is remembered until it is written back, so that ``p[i, t] -= 1`` is
read as p minus a delta.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language import selection
from .dispatch import TABLES
from .elementwise import add, compare, divide, divmod_, floor_divide, invert, mod, multiply, power, subtract
from .values import RANK, Traced, lift, read_key


def _install() -> None:
    """Put the operators on `Traced`."""

    def both(name: str, function: Callable[[Any, Any], Any]) -> None:
        setattr(Traced, f"__{name}__", lambda self, other: function(self, other))
        setattr(Traced, f"__r{name}__", lambda self, other: function(other, self))

    for name, function in (
        ("add", add),
        ("sub", subtract),
        ("mul", multiply),
        ("truediv", divide),
        ("pow", power),
        ("floordiv", floor_divide),
        ("mod", mod),
        ("divmod", divmod_),
        ("and", TABLES["bitwise_and"]),
        ("or", TABLES["bitwise_or"]),
        ("xor", TABLES["bitwise_xor"]),
    ):
        both(name, function)
    both("matmul", lambda a, b: TABLES["matmul"](a, b))
    for name, sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("eq", "=="), ("ne", "!=")):
        setattr(Traced, f"__{name}__", _method(compare(sign)))
    for name, plain in (
        ("neg", TABLES["negative"]),
        ("pos", TABLES["positive"]),
        ("abs", TABLES["absolute"]),
        ("invert", invert),
    ):
        setattr(Traced, f"__{name}__", lambda self, f=plain: f(self))
    for name, function in (
        ("iadd", add),
        ("isub", subtract),
        ("imul", multiply),
        ("itruediv", divide),
        ("ipow", power),
        ("ifloordiv", floor_divide),
        ("iand", TABLES["bitwise_and"]),
        ("ior", TABLES["bitwise_or"]),
    ):
        setattr(Traced, f"__{name}__", _in_place(function, {"iadd": 1, "isub": -1}.get(name, 0)))


def _method(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(self, other)


def _in_place(function: Callable[[Any, Any], Traced], sign: int) -> Callable[[Traced, Any], Traced]:
    """``x op= v``: arrays are written, numbers are new; what is added to a selected copy is remembered for the write
    back.
    """

    def changed(self: Traced, other: Any) -> Traced:
        result = function(self, other)
        step = None
        if sign:
            step = lift(other) if sign > 0 else -lift(other)
            step = step if self.increment is None else self.increment + step
        if not self.ndim or self.selected is not None or self.finite is not None or result.finite is not None:
            result.origin, result.increment = self.origin, step if self.origin is not None else None
            return result
        if sign and self._parent is not None and self.key is not None and RANK[result.kind] <= RANK[self.kind]:
            done = selection.increased(
                self._parent.array, read_key(self.key), (lift(other) if sign > 0 else -lift(other)).array
            )
            self._parent.store(done)
            return self
        self.write(result)
        self.increment = step
        return self

    return changed


_install()
