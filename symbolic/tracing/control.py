"""What rewritten control flow asks: whether a loop or a branch is symbolic, and what conditions come to.

A branch on a symbolic condition runs both sides on the same state and takes the one or the other with the condition
as an indicator; on sizes alone it is refused, since a formula for every size has no cases of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..language.arrays import Array
from ..language.errors import UnsupportedError
from . import elementwise as el
from .builtin import iterated
from .contexts import Context, Missing
from .loops import Loop, listing
from .values import Traced, lift, sizes_only, truth


class Plain:
    """A loop or branch on numbers: Python's own."""

    symbolic = False

    def __init__(self, items: Any) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


# ---------------------------------------------------------------------- branches
class Branch(Context):
    """An `if` on a symbolic condition: both sides run on the same state."""

    def __init__(self, condition: Traced) -> None:
        super().__init__()
        self.condition = condition
        self.sides: list[tuple[dict[str, Any], dict[int, Array]]] = []

    def __iter__(self) -> Iterator[bool]:
        yield True
        yield False

    def _start(self, name: str, value: Any) -> Any:
        if isinstance(value, Traced) and value.ndim:
            root = value.root
            self.held.setdefault(id(root), (root, root.array))
        return list(value) if isinstance(value, list) else value

    def _finish(self, now: dict[str, Any]) -> None:
        self.sides.append((now, {key: root.array for key, (root, _) in self.held.items()}))
        for root, old in self.held.values():
            if root.array is not old:
                root._array = old
                root.version += 1
        if len(self.sides) < 2:
            return
        (yes, arrays_yes), (no, arrays_no) = self.sides
        for key, (root, old) in self.held.items():
            if arrays_yes[key] is not old or arrays_no[key] is not old:
                root.store(el.where(self.condition, arrays_yes[key], arrays_no[key]).array)
        for name in self.before:
            a, b = yes[name], no[name]
            if a is b:
                self.after[name] = a
            elif isinstance(a, Missing) or isinstance(b, Missing):
                self.after[name] = a if isinstance(a, Missing) else b
            else:
                self.after[name] = _either_value(self.condition, a, b)


def _either_value(condition: Traced, a: Any, b: Any) -> Any:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(_either_value(condition, x, y) for x, y in zip(a, b, strict=True))
    if a is None or b is None:
        return a if a is b else Missing("a value is None on one side of a symbolic condition")
    x, y = lift(a), lift(b)
    if [str(n) for n in x.array.shape] != [str(n) for n in y.array.shape]:
        raise UnsupportedError(
            f"the sides of a symbolic condition give different shapes {x.array.shape} and {y.array.shape}"
        )
    return el.where(condition, x, y)


# ---------------------------------------------------------------------- what rewritten code calls
class Reading:
    """The object that rewritten code asks."""

    @staticmethod
    def loop(items: Any, leaves: bool) -> Any:
        """A for statement's items."""
        found = iterated(items)
        if found is None:
            return Plain(items)
        if leaves:
            raise UnsupportedError(
                f"a loop over {found.size} items (symbolic) is left by break, continue, return or raise; write it "
                f"with np.where "
                "and a mask"
            )
        return Loop(found)

    @staticmethod
    def branch(condition: Any) -> Any:
        """An if statement's condition."""
        known = _decided(condition)
        return Plain((known,)) if known is not None else Branch(condition)

    @staticmethod
    def choice(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """A conditional expression."""
        known = _decided(condition)
        if known is not None:
            return yes() if known else no()
        return _either_value(condition, yes(), no())

    @staticmethod
    def both(*parts: Callable[[], Any]) -> Any:
        """`and`."""
        return _joined(parts, stop=False, join=el.logical_and)

    @staticmethod
    def either(*parts: Callable[[], Any]) -> Any:
        """`or`."""
        return _joined(parts, stop=True, join=el.logical_or)

    @staticmethod
    def negation(value: Any) -> Any:
        """`not`."""
        known = _decided(value, ask=False)
        return el.invert(el.truth_values(value)) if known is None else not known

    @staticmethod
    def asserted(value: Any) -> bool:
        """An assertion: what cannot be decided is what the code takes for granted."""
        known = _decided(value, ask=False)
        return True if known is None else known

    @staticmethod
    def listed(items: Any, one: Callable[[Any], Any]) -> Any:
        """A list comprehension."""
        found = iterated(items)
        if found is None:
            return [one(item) for item in items]
        loop = Loop(found)
        loop.enter()
        try:
            (item,) = loop
            value = one(item)
        finally:
            loop.leave()
        return listing(loop, value)


def _decided(condition: Any, ask: bool = True) -> bool | None:
    """The truth of a condition; None when it is a symbolic scalar on data or letters."""
    if not isinstance(condition, Traced):
        return bool(condition)
    known = truth(condition)
    if known is None and (condition.ndim or (ask and sizes_only(condition))):
        bool(condition)
    return known


def _joined(parts: tuple[Callable[[], Any], ...], stop: bool, join: Callable[[Any, Any], Traced]) -> Any:
    result: Any = None
    for part in parts:
        value = part()
        known = _decided(value, ask=False)
        if known is stop and result is None:
            return value
        if known is not None and known is not stop:
            if result is None:
                last = value
            continue
        if known is stop:
            return stop
        result = value if result is None else join(result, value)
    return last if result is None else result
