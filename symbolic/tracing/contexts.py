"""What a loop and a branch have in common: a body that runs on held state, between `enter` and `leave`.

Arrays from outside may be written inside only under names that the context holds; a write under another name is
refused, since it would escape the reading of the body.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..language.arrays import Array
from ..language.errors import UnsupportedError
from .dispatch import CLOCK
from .values import ON_WRITE, Traced

NUMBERS = itertools.count(1)
Getter = tuple[str, Callable[[], Any]]
HOLD = "held@"  # begins the names of placeholders; no user's array is named so


class Missing:
    """A name that has no value here; any use says so."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(self._text)

    __getattr__ = __call__ = __getitem__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = (
        __truediv__
    ) = _refuse
    __neg__ = __iter__ = __bool__ = __len__ = __matmul__ = __pow__ = __rtruediv__ = _refuse


class Context:
    """A loop or a branch that is being read: what it holds while its body runs."""

    symbolic = True

    def __init__(self) -> None:
        self.number = next(NUMBERS)
        self.held: dict[int, tuple[Traced, Array]] = {}
        self.before: dict[str, Any] = {}
        self.after: dict[str, Any] = {}

    def enter(self, *getters: Getter) -> tuple[Any, ...]:
        """The values of the names at the start of the body; arrays are held."""
        CLOCK.active = (*CLOCK.active, self.number)
        ACTIVE.append(self)
        if not self.before:  # the second side of a branch starts where the first did
            self.before = {name: _value(name, get) for name, get in getters}
        return tuple(self._start(name, value) for name, value in self.before.items())

    def leave(self, *getters: Getter) -> None:
        """The end of the body."""
        CLOCK.active = tuple(n for n in CLOCK.active if n != self.number)
        if self in ACTIVE:
            ACTIVE.remove(self)
        self._finish({name: _value(name, get) for name, get in getters})

    def results(self) -> tuple[Any, ...]:
        """The values of the names after all turns or sides."""
        return tuple(self.after[name] for name in self.before)

    def _start(self, name: str, value: Any) -> Any:
        raise NotImplementedError

    def _finish(self, now: dict[str, Any]) -> None:
        raise NotImplementedError


ACTIVE: list[Context] = []


def _value(name: str, get: Callable[[], Any]) -> Any:
    try:
        return get()
    except NameError:
        return Missing(f"{name} has a value only inside of the loop or on one side of the branch; give it one before")


def _check_write(target: Traced) -> None:
    for context in ACTIVE:
        if context.number not in target.made_in and id(target) not in context.held:
            raise UnsupportedError(
                "an array from outside is written in a symbolic loop or branch under another name (through a "
                "function or an "
                "alias); write to it by its own name"
            )


ON_WRITE.append(_check_write)
