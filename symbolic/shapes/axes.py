"""Axes with names: an axis is an ordered product of atoms, so that (b h) is not (h b) although b·h = h·b.

A size says how many elements an axis has; its name says which. Sizes that are equal by luck are therefore told apart,
and two axes agree only when they hold the same elements in the same order. The order inside a product is row-major: the
last atom runs fastest, c = a·d_k + e for (h d_k).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import sympy as sp

from ..language.errors import FormulaError, ShapeError
from ..language.sizes import Size, SizeLike, same_size, size

MIXED = "?"  # before the number of an axis that a reshape has torn out of order


@dataclass(frozen=True)
class Atom:
    """One named factor of an axis. A piece of a split atom knows what it is a piece of, and which one.

    `mixed` names what an axis runs over that a reshape has torn out of order; such an axis is called by its place, ?1.
    `parts` is what an atom with a name of its own is a product of (the query heads h are g groups of r).
    """

    name: str
    size: sp.Expr
    parent: Atom | None = None
    piece: int = 0
    pieces: int = 1
    mixed: tuple[str, ...] = ()
    parts: tuple[Atom, ...] = ()

    @property
    def base(self) -> str:
        """The name without the primes that tell two uses of one axis apart (queries n and keys n')."""
        return self.name.rstrip("'")

    def __str__(self) -> str:
        return self.name or str(self.size)


@dataclass(frozen=True)
class Axis:
    """An ordered product of atoms; without atoms it is an axis of size 1.

    >>> b, h = Atom("b", size("b")), Atom("h", size("h"))
    >>> Axis((b, h)).size == Axis((h, b)).size, Axis((b, h)) == Axis((h, b)), str(Axis((b, h)))
    (True, False, '(b h)')
    """

    atoms: tuple[Atom, ...] = ()

    @property
    def size(self) -> sp.Expr:
        """The number of elements along the axis."""
        return sp.expand(sp.Mul(*(a.size for a in self.atoms)))

    @property
    def name(self) -> str:
        """As in a pattern: ``h``, ``(h d_k)``, ``1``."""
        if len(self.atoms) == 1:
            return str(self.atoms[0])
        return "(" + " ".join(map(str, self.atoms)) + ")" if self.atoms else "1"

    def __str__(self) -> str:
        return self.name

    @property
    def is_mixed(self) -> bool:
        """Whether a reshape has torn apart what this axis runs over."""
        return any(a.mixed for a in self.atoms)

    @property
    def is_one(self) -> bool:
        """Whether the axis has one element and is stretched by broadcasting."""
        return self.size == 1

    def primed(self, taken: Iterable[str]) -> Axis:
        """The axis with primes added to its names until none is taken."""
        used = set(taken)
        atoms = []
        for a in self.atoms:
            name = a.name
            while name and name in used:
                name += "'"
            used.add(name)
            atoms.append(a if name == a.name else replace(a, name=name))
        return Axis(tuple(atoms))


Axes: TypeAlias = "tuple[Axis, ...]"


def one() -> Axis:
    """An axis of size 1."""
    return Axis(())


def axis(name: str, of_size: SizeLike | None = None) -> Axis:
    """An axis of one atom; its size is named like it unless another is given."""
    return Axis((Atom(name, size(name if of_size is None else of_size)),))


def axis_of_size(value: SizeLike) -> Axis:
    """An axis from a size alone: a product in the order it is written, ``"h*d_k"``; a number has no name.

    >>> str(axis_of_size("h*d_k")), str(axis_of_size("d_k*h")), str(axis_of_size("n+1")), str(axis_of_size(12))
    ('(h d_k)', '(d_k h)', 'n + 1', '12')
    """
    from ..rendering import text

    if isinstance(value, str) and re.fullmatch(r"\s*\w+(\s*\*\s*\w+)+\s*", value):
        return Axis(tuple(axis_of_size(part.strip()).atoms[0] for part in value.split("*")))
    n = size(value)
    if n == 1:
        return one()
    if n.is_Mul:
        return Axis(tuple(Atom(str(f) if isinstance(f, Size) else "", f) for f in n.args))
    return Axis((Atom("" if n.is_Number else n.name if isinstance(n, Size) else text(n), n),))


def read_axes(pattern: str, sizes: Mapping[str, SizeLike] | None = None) -> Axes:
    """Read axes from a pattern: names, ``1``, and products in parentheses; `sizes` gives sizes that are not named
    alike.

    >>> [str(a) for a in read_axes("B n (h d_k)")], read_axes("B n (h d_k)")[2].size
    (['B', 'n', '(h d_k)'], d_k*h)
    """
    given = {k: size(v) for k, v in (sizes or {}).items()}
    text = pattern.strip()
    words = re.findall(r"\(([^()]*)\)|([^\s()]+)", text)
    if re.sub(r"\([^()]*\)|[^\s()]+", "", text).strip():
        raise FormulaError(f"cannot read the axes {pattern!r}: a parenthesis is not closed; write e.g. 'B n (h d_k)'")
    found = []
    for product, single in words:
        names = product.split() if product else [single]
        if names == ["1"]:
            found.append(one())
            continue
        wrong = [n for n in names if not re.fullmatch(r"[^\W\d]\w*'*", n)]
        if wrong:
            raise FormulaError(
                f"cannot read the axis {wrong[0]!r} in {pattern!r}; write names, 1, and products such as (h d_k)"
            )
        found.append(Axis(tuple(Atom(n, given.get(n, Size(n.rstrip("'")))) for n in names)))
    return tuple(found)


def pattern(axes: Sequence[Axis]) -> str:
    """Axes as a pattern, the way `read_axes` reads them."""
    return " ".join(a.name for a in axes)


def agree(a: Axis, b: Axis) -> bool:
    """Whether two axes hold the same elements in the same order; an atom without a name agrees with any of its size."""
    if len(a.atoms) != len(b.atoms):
        unnamed = any(not x.name for x in (*a.atoms, *b.atoms))
        return unnamed and same_size(a.size, b.size)
    return all(
        same_size(x.size, y.size) and (x.base == y.base or not x.name or not y.name or bool(x.mixed or y.mixed))
        for x, y in zip(a.atoms, b.atoms, strict=True)
    )


def difference(a: Axis, b: Axis) -> str:
    """Why two axes do not agree, in words."""
    from ..rendering import text

    if not same_size(a.size, b.size):
        return f"size {text(a.size)} against {text(b.size)}"
    if sorted(x.base for x in a.atoms) == sorted(x.base for x in b.atoms):
        return f"both have {text(a.size)} elements, but in another order: {a} against {b}"
    return f"both have size {text(a.size)}, but the one is {a} and the other {b}: equal only by luck"


def joined(atoms: Sequence[Atom]) -> Axis:
    """The product of atoms; pieces of one atom that stand in their order again are that atom."""
    found = list(atoms)
    changed = True
    while changed:
        changed = False
        for n, a in enumerate(found):
            run = found[n : n + a.pieces]
            if (
                a.parent is not None
                and len(run) == a.pieces
                and all(x.parent == a.parent and x.piece == k for k, x in enumerate(run))
            ):
                found[n : n + a.pieces] = [a.parent]
                changed = True
                break
    return Axis(tuple(found))


def split_atom(atom: Atom, into: Sequence[Atom]) -> tuple[Atom, ...]:
    """The pieces of an atom, which remember it."""
    return tuple(Atom(p.name, p.size, atom, n, len(into)) for n, p in enumerate(into))


def distinct(axes: Sequence[Axis]) -> Axes:
    """The axes of one array with every name once: a second n becomes n', and a prime that tells nothing apart goes."""
    found: list[Axis] = []
    used: set[str] = set()
    for a in axes:
        new = a.primed(used)
        found.append(new)
        used |= {x.name for x in new.atoms if x.name}

    def plain(x: Atom) -> Atom:
        return x if x.name == x.base or x.base in used else replace(x, name=x.base)

    return tuple(Axis(tuple(map(plain, a.atoms))) for a in found)


def check_names(axes: Sequence[Axis], of: str) -> None:
    """Refuse one name for two axes of an input."""
    names = [x.name for a in axes for x in a.atoms if x.name]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ShapeError(
            f"{of} [{', '.join(map(str, axes))}] has two axes named {twice[0]}; give each axis a name of its own"
        )
