"""What rewritten control flow asks: symbolic loops, branches and conditions.

A loop with a symbolic number of turns runs its body once, with an index letter i. What the body writes is held as a
placeholder p at the start of the turn, and must come out as a_i p + b_i. Then, with no other use of p,

    a = 1                after the loop: old + Σ_i b_i                                  (accumulation)
    a in {0, 1}          old Π_i a_i + Σ_i b_i Π_{m>i} a_m                              (writes; a later one wins)
    b = 0                old Π_i a_i                                                   (a running product)

and everything else is a recurrence, which is refused. A branch on a symbolic condition runs both sides on the same
state and takes the one or the other with the condition as an indicator.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language.arrays import Array
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import assume_nonnegative, certainly_less, certainly_nonnegative
from ..language.indices import Index, index
from ..language.nodes import Delta, Element, IndexProduct, IndexSum, Indicator, Tensor, element, replace
from . import elementwise as el
from .namespaces import Iterated, iterated
from .values import CLOCK, ON_WRITE, Traced, lift, sizes_only, truth

_numbers = itertools.count(1)
Getter = tuple[str, Callable[[], Any]]
_MOST_FLAGS = 8
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


class Context:
    """A loop or a branch that is being read: what it holds while its body runs."""

    symbolic = True

    def __init__(self) -> None:
        self.number = next(_numbers)
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


# ---------------------------------------------------------------------- loops
class Plain:
    """A loop or branch on numbers: Python's own."""

    symbolic = False

    def __init__(self, items: Any) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


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
            self.places[name] = Traced(Array((), Tensor(f"{HOLD}{next(_numbers)}", ())), given.kind)
            return self.places[name]
        return list(value) if isinstance(value, list) else value

    def _hold(self, root: Traced) -> None:
        if id(root) in self.held:
            return
        old = root.array
        place = Tensor(f"{HOLD}{next(_numbers)}", old.shape)
        self.held[id(root)] = (root, old)
        own = re.fresh(old).indices
        root._array = Array(own, element(place, *own))
        root.version += 1

    def _finish(self, now: dict[str, Any]) -> None:
        for root, old in self.held.values():
            place = (
                next(t for t in _placeholders(root.array.body) if t.shape == old.shape)
                if _placeholders(root.array.body)
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
                and any(self._is_place(t, before) for t in _placeholders(value.body))
            ):
                root, old = self.held[id(before.root)]
                place = next(t for t in _placeholders(value.body) if self._is_place(t, before))
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
        if _placeholders(value.body) or self.guard != 1:
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
            a, b = _linear(replace(value.body, {start: hole}), hole)
        if _placeholders(a) or _placeholders(b):
            raise UnsupportedError(
                "a turn of the loop uses what earlier turns have computed; that is a recurrence: write it with "
                "np.cumsum, "
                "np.cumprod or a closed formula, or give the size as a number to have the loop unrolled"
            )
        first = replace(old.body, dict(zip(old.indices, own, strict=True)))
        if self.guard != 1:
            a, b = self.guard * a + (1 - self.guard), self.guard * b
        if a.has(Delta, Indicator):
            a = sp.expand(a)
        if a == 1:
            return Array(own, first + self._sum(b))
        if b == 0:
            return Array(own, first * IndexProduct(a, self.letter))
        if not _binary(a):
            raise UnsupportedError(
                "a turn of the loop multiplies what earlier turns have computed and adds to it; that is a recurrence: "
                "write it with np.cumprod and np.cumsum or a closed formula, or give the size as a number"
            )
        target, b = sp.expand(1 - a), sp.expand(b)
        if _fixed_by_a_delta(target, b, self.letter):  # at most one turn writes to a place
            return Array(own, first * (1 - self._sum(target)) + self._sum(b))
        later = self.letter.fresh("m")
        rest = IndexProduct(
            1 - Indicator(sp.Gt(later, self.letter)) * replace(target, {self.letter: later}), later
        )
        return Array(own, first * IndexProduct(a, self.letter) + IndexSum(b * rest, self.letter))

    def _sum(self, body: sp.Expr) -> sp.Expr:
        return summed(body, self.letter)


def summed(body: sp.Expr, over: Index) -> sp.Expr:
    """Σ over an index, with deltas that fix the index contracted."""
    total: sp.Expr = sp.S.Zero
    rest: sp.Expr = sp.S.Zero
    for term in sp.Add.make_args(body):
        for factor in sp.Mul.make_args(term):
            at = _solved(factor, over)
            if at is not None:
                inside = sp.S.One
                if not certainly_nonnegative(at):
                    inside *= Indicator(sp.Ge(at, 0))
                if not certainly_less(at, over.size):
                    inside *= Indicator(sp.Lt(at, over.size))
                total += inside * replace(term / factor, {over: at})
                break
        else:
            rest += term
    if rest == 0:
        return total
    return total + (rest * over.size if not rest.has(over) else IndexSum(rest, over))


def _solved(factor: sp.Expr, over: Index) -> sp.Expr | None:
    """The value of an index at which a delta is 1, when the delta fixes it."""
    if not isinstance(factor, Delta) or not factor.has(over):
        return None
    difference = sp.expand(factor.args[0] - factor.args[1])
    slope = difference.coeff(over)
    rest = sp.expand(difference - slope * over)
    return sp.expand(-rest * slope) if slope in (1, -1) and not rest.has(over) else None


def _fixed_by_a_delta(target: sp.Expr, b: sp.Expr, letter: Index) -> bool:
    """Whether one delta that fixes the letter stands in every term of both."""
    terms = [set(sp.Mul.make_args(t)) for t in (*sp.Add.make_args(target), *sp.Add.make_args(b)) if t != 0]
    return any(all(f in t for t in terms) for f in terms[0] if _solved(f, letter) is not None)


def _linear(body: sp.Expr, hole: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """a and b of a body that is a*hole + b."""
    if not body.has(hole):
        return sp.S.Zero, body
    if body == hole:
        return sp.S.One, sp.S.Zero
    if isinstance(body, sp.Add):
        parts = [_linear(t, hole) for t in body.args]
        return sp.Add(*(p[0] for p in parts)), sp.Add(*(p[1] for p in parts))
    if isinstance(body, sp.Mul):
        inner = [f for f in body.args if f.has(hole)]
        if len(inner) == 1:
            a, b = _linear(inner[0], hole)
            rest = sp.Mul(*(f for f in body.args if f is not inner[0]))
            return a * rest, b * rest
    raise UnsupportedError(
        "a turn of the loop puts what earlier turns have computed into a function; that is a recurrence: write it with "
        "np.max, np.cumsum or a closed formula, or give the size as a number"
    )


def _binary(a: sp.Expr) -> bool:
    """Whether a factor made of deltas and indicators is 0 or 1 whatever these are."""
    flags = sorted(a.atoms(Delta, Indicator), key=sp.default_sort_key)
    if len(flags) > _MOST_FLAGS:
        return False
    return all(
        a.xreplace(dict(zip(flags, map(sp.Integer, values), strict=True))) in (0, 1)
        for values in itertools.product((0, 1), repeat=len(flags))
    )


def _placeholders(body: sp.Expr) -> list[Tensor]:
    found = {t for t in body.atoms(sp.Symbol) if isinstance(t, Tensor)} | {e.tensor for e in body.atoms(Element)}
    return sorted((t for t in found if t.name.startswith(HOLD)), key=lambda t: t.name)


def listing(loop: Loop, item: Any) -> Any:
    """The list of one item a turn."""
    given = lift(item)
    given._whole()
    given._finite()
    if _placeholders(given.body):
        raise UnsupportedError("an item of a list uses what earlier turns have computed; that is a recurrence")
    if loop.guard != 1:
        raise UnsupportedError("a list whose length changes in another loop")
    return TracedList(Array((loop.letter, *given.array.indices), given.body), given.kind)


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
