"""Indices: an index is an object that owns its size; its identity is never the letter it is printed with.

There are two kinds. A *free* index has a serial number, so that two indices with the same letter and size are
different objects. A *bound* index carries a *level*: one more than the highest level bound anywhere below its
binder. Levels make the outer binder's index differ from every index bound inside it, which rules out capture, and make
expressions that differ only in bound letters structurally identical.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import sympy as sp

from .sizes import SizeLike, size

_serials = itertools.count(1)


class Place(NamedTuple):
    """Where an index of a result stands.

    Its axis counted from the right (-1 is the last), and an axis of a declared array that has its size. Printers that
    see one node at a time need it; identity and equality do not.
    """

    from_right: int
    array: str = ""
    axis: int = 0


class Index(sp.Symbol):
    """An index that ranges over 0, ..., size - 1.

    Make free ones with `index`; bound ones are made by the binders (sums, maxima, definitions).

    >>> i, j = index("i", "K"), index("i", "K")
    >>> i == j, i.size
    (False, K)
    """

    __slots__ = ("level", "place", "serial", "size")

    size: sp.Expr
    serial: int
    level: int
    place: Place | None

    def __new__(cls, letter: str, size: sp.Expr, serial: int = 0, level: int = 0, place: Place | None = None) -> Index:
        self = sp.Symbol.__xnew__(cls, letter, integer=True, nonnegative=True)
        self.size = size
        self.serial = serial
        self.level = level
        self.place = place
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[object, ...], dict[str, object]]:
        return ((self.name, self.size, self.serial, self.level, self.place), {})

    def _hashable_content(self) -> tuple[object, ...]:
        return (self.name, self.size, self.serial, self.level)

    def sort_key(self, order: str | None = None) -> tuple[object, ...]:
        return self.class_key(), (3, (str(self.level), f"{self.serial:012d}", self.name)), sp.S.One.sort_key(), sp.S.One

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        """A size that is given a value is given it in the index as well."""
        if old not in self.size.free_symbols:
            return None
        return Index(self.name, self.size.subs(old, new), self.serial, self.level)

    @property
    def is_bound(self) -> bool:
        """Whether this index belongs to a binder."""
        return self.level > 0

    def fresh(self, letter: str | None = None) -> Index:
        """A new free index over the same size."""
        return Index(letter or (self.name if not self.level else "i"), self.size, next(_serials))


def index(letter: str, over: SizeLike) -> Index:
    """A new free index over a size; `letter` is only a wish for the printer.

    >>> index("i", "K").size
    K
    """
    return Index(letter, size(over), next(_serials))


def placed(indices: Sequence[Index], arrays: Sequence[Any] = ()) -> tuple[Index, ...]:
    """The indices of a result, in the order of its axes, as new ones that know their place (see `Place`).

    `arrays` are the declared tensors that the result depends on; they tell where each size can be read.

    >>> i, j = placed([index("i", "N"), index("j", "K")])
    >>> i.place.from_right, j.place.from_right
    (-2, -1)
    """
    found = []
    for n, i in enumerate(indices):
        at = next(((t.name, axis) for t in arrays for axis, length in enumerate(t.shape) if length == i.size), ("", 0))
        found.append(Index(i.name, i.size, next(_serials), 0, Place(n - len(indices), *at)))
    return tuple(found)


def bound_index(over: sp.Expr, level: int) -> Index:
    """The index of a binder at `level` (see the module's text); used by the nodes only."""
    return Index(f"_{level}", over, 0, level)
