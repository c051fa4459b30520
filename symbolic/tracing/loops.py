"""A loop with a symbolic number of turns: its body runs once, with an index letter.

What the body writes is held as a placeholder p at the start of the turn; the value at its end must be a p + b with no
other use of p, and `turns` says what that is after all turns. A list that gets one item a turn is an array with one
more axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language.arrays import Array
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import assume_nonnegative
from ..language.indices import index
from ..language.nodes import Tensor, element, replace
from .builtin import Iterated
from .contexts import HOLD, NUMBERS, Context, Missing
from .turns import EARLIER_TURNS, after_all_turns, linear, placeholders
from .values import Traced, lift


class TracedList(Traced):
    """A list with a symbolic number of items of one shape; an array only once np.array or np.stack makes it one."""

    __slots__ = ()

    def _list(self, *args: Any) -> Any:
        raise UnsupportedError(
            "a list with a symbolic number of items is used in arithmetic; make it an array with np.array or np.stack"
        )

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __matmul__ = __neg__ = _list

    @property
    def ndim(self) -> int:
        """Number of axes, the items' one included."""
        return self.array.ndim


class Loop(Context):
    """A loop with a symbolic number of turns."""

    def __init__(self, items: Iterated) -> None:
        super().__init__()
        assume_nonnegative(items.size - 1)
        self.items = items
        self.letter = index("i", items.size)
        self.at: sp.Expr = sp.S.Zero if items.size == 1 else self.letter
        self.guard = sp.S.One if items.guard is None else items.guard(self.at)
        self.places: dict[str, Traced] = {}

    def __iter__(self) -> Iterator[Any]:
        yield self.items.item(self.at)

    def _start(self, name: str, value: Any) -> Any:
        if isinstance(value, Traced) and value.ndim:
            value._finite()
            self._hold(value.root)
            return value
        if isinstance(value, Traced) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            given = lift(value)
            self.places[name] = Traced(Array((), Tensor(f"{HOLD}{next(NUMBERS)}", ())), given.kind)
            return self.places[name]
        return list(value) if isinstance(value, list) else value

    def _hold(self, root: Traced) -> None:
        if id(root) in self.held:
            return
        old = root.array
        place = Tensor(f"{HOLD}{next(NUMBERS)}", old.shape)
        self.held[id(root)] = (root, old)
        own = re.fresh(old).indices
        root._array = Array(own, element(place, *own))
        root.version += 1

    def _finish(self, now: dict[str, Any]) -> None:
        for root, old in self.held.values():
            place = (
                next(t for t in placeholders(root.array.body) if t.shape == old.shape)
                if placeholders(root.array.body)
                else None
            )
            root._array = self._closed(root.array, place, old)
            root.version += 1
        for name, before in self.before.items():
            value = now[name]
            if name in self.places:
                self.after[name] = self._scalar(name, before, value)
            elif value is before or isinstance(value, Missing) or not isinstance(value, (Traced, list)):
                self.after[name] = value
            elif isinstance(value, list):
                self.after[name] = self._list(name, before, value)
            elif (
                isinstance(before, Traced)
                and before.ndim
                and any(self._is_place(t, before) for t in placeholders(value.body))
            ):
                root, old = self.held[id(before.root)]
                place = next(t for t in placeholders(value.body) if self._is_place(t, before))
                self.after[name] = Traced(self._closed(value.array, place, old), value.kind)
            else:
                self.after[name] = self._last(name, value)

    def _is_place(self, place: Tensor, before: Traced) -> bool:
        return before.root is before and place.shape == self.held[id(before.root)][1].shape

    def _scalar(self, name: str, before: Any, value: Any) -> Any:
        place = self.places[name]
        if value is place:
            return before
        if not isinstance(value, Traced):
            return value
        tensor = place.body
        if not value.body.has(tensor):
            return self._last(name, value)
        return Traced(self._closed(value.array, tensor, lift(before).array), value.kind)

    def _list(self, name: str, before: Any, value: list[Any]) -> Any:
        had = len(before) if isinstance(before, list) else 0
        if had or len(value) != 1:
            return Missing(
                f"the list {name} gets items in a symbolic loop beside others; use one list for the loop, one item "
                f"a turn"
            )
        return listing(self, value[0])

    def _last(self, name: str, value: Traced) -> Any:
        if placeholders(value.body) or self.guard != 1:
            return Missing(
                f"{name} is used after a symbolic loop that only sets it inside; give it its value after the loop"
            )
        body = replace(value.body, {self.letter: sp.expand(self.letter.size - 1)})
        return Traced(Array(value.array.indices, body), value.kind)

    def _closed(self, value: Array, place: Tensor | None, old: Array) -> Array:
        """The value after all turns, from the value after one turn that began with the placeholder."""
        own = value.indices
        if place is None:
            a: sp.Expr = sp.S.Zero
            b = value.body
        else:
            start = element(place, *own) if place.shape else place
            if value.body == start:
                return old
            hole = sp.Dummy("p", real=True)
            a, b = linear(replace(value.body, {start: hole}), hole)
        if placeholders(a) or placeholders(b):
            raise UnsupportedError(EARLIER_TURNS)
        first = replace(old.body, dict(zip(old.indices, own, strict=True)))
        if self.guard != 1:
            a, b = self.guard * a + (1 - self.guard), self.guard * b
        return Array(own, after_all_turns(first, a, b, self.letter))


def listing(loop: Loop, item: Any) -> Any:
    """The list of one item a turn."""
    given = lift(item)
    given._whole()
    given._finite()
    if placeholders(given.body):
        raise UnsupportedError("an item of a list uses what earlier turns have computed; that is a recurrence")
    if loop.guard != 1:
        raise UnsupportedError("a list whose length changes in another loop")
    return TracedList(Array((loop.letter, *given.array.indices), given.body), given.kind)
