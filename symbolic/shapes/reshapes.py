"""Reshape decided by index arithmetic: which element stands where, not only how many there are.

A row-major reshape keeps the position of every element, p = Σ index·stride. So two orders of the same atoms are the
same reshape exactly when their positions agree for every index; the difference is linear in the indices, and it
vanishes everywhere if and only if each index either has coefficient 0 or takes one value only. That gives the condition
("only when h = 1 or n = 1"), and any other sizes give an example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from math import prod
from string import ascii_lowercase

import sympy as sp

from ..language.errors import ShapeError
from ..language.index_arithmetic import exact_quotient
from ..language.indices import Index, index
from ..language.sizes import Size, same_size
from .axes import Atom, Axes, Axis, joined, pattern, split_atom

_MOST_ATOMS = 6
_MOST_LETTERS = len(ascii_lowercase)


class WrongValueError(ShapeError):
    """A reshape with the right shape and the wrong value; the message says when it would be right, and shows an
    example.
    """


@lru_cache(maxsize=4096)
def divided(value: sp.Expr, by: sp.Expr) -> sp.Expr | None:
    """The quotient of two sizes when it is a size for every binding, else None."""
    return sp.S.One if same_size(value, by) else exact_quotient(value, by)


def align(atoms: Sequence[Atom], sizes: Sequence[sp.Expr]) -> Axes | None:
    """The axes that a reshape to `sizes` gives where every one is a product of atoms in their order, or of their
    pieces.

    None when some axis would run across the order of the atoms.
    """
    rest = [a for a in atoms if a.size != 1]
    found: list[Axis] = []
    for n in sizes:
        taken: list[Atom] = []
        missing = sp.sympify(n)
        while missing != 1:
            if not rest:
                return None
            first = rest[0]
            whole = divided(missing, first.size)
            if whole is not None:
                taken.append(rest.pop(0))
                missing = whole
                continue
            inner = divided(first.size, missing)
            if inner is None:
                return None
            head, tail = split_atom(first, [_piece(missing), _piece(inner)])
            taken.append(head)
            rest[0], missing = tail, sp.S.One
        found.append(joined(taken))
    return tuple(found) if not rest else None


def _piece(n: sp.Expr) -> Atom:
    """A piece of an atom, named like its size; a numeric size is a name too: 12 of the 768."""
    return Atom(n.name if isinstance(n, Size) else str(n), n)


@dataclass(frozen=True)
class Mismatch:
    """Why a reshape does not give the axes that are meant: the same atoms in two orders."""

    given: tuple[Atom, ...]
    meant: tuple[Atom, ...]
    axes: Axes
    clauses: tuple[tuple[str, ...], ...]

    @property
    def equal_when(self) -> str:
        """The condition under which both orders give the same array, e.g. ``h = 1 or n = 1``; empty where there is
        none.
        """
        several = len(self.clauses) > 1
        return " and ".join(f"({' or '.join(c)})" if several and len(c) > 1 else " or ".join(c) for c in self.clauses)

    @property
    def transposition(self) -> tuple[int, ...]:
        """The order of the atoms that the transpose before the reshape must give."""
        return tuple(self.given.index(a) for a in self.meant)

    def example(self, bindings: Mapping[sp.Expr, sp.Expr] | None = None) -> Example:
        """The reshape on letters: at the bound sizes if they are few enough letters and differ, else at small ones."""
        sizes = [a.size.xreplace(dict(bindings or {})) for a in self.given]
        if not all(n.is_Integer for n in sizes) or prod(map(int, sizes)) > _MOST_LETTERS:
            sizes = self._small()
        return Example(self, tuple(map(int, sizes)))

    def _small(self) -> list[sp.Integer]:
        """2 for every atom that has moved, 1 for those before the first that has."""
        moved = next((n for n, (a, b) in enumerate(zip(self.given, self.meant, strict=True)) if a != b), 0)
        last = next(n for n in range(len(self.given), 0, -1) if self.given[n - 1] != self.meant[n - 1])
        few = len(self.given) - moved > 4
        return [sp.Integer(1 if n < moved or (few and n >= last) else 2) for n in range(len(self.given))]

    def sentence(self, bindings: Mapping[sp.Expr, sp.Expr] | None = None) -> str:
        """The whole story: what stands there, when it would be right, what to do, and letters."""
        given = " ".join(map(str, self.given))
        order = ", ".join(map(str, self.transposition))
        return (
            f"right shape, wrong value: the elements stand in the order ({given}), so this reshape is not "
            f"'{pattern(self.axes)}'; "
            f"{f'the two agree only when {self.equal_when}' if self.clauses else 'the two differ'}. Transpose "
            f"({given}) by ({order}) to "
            f"({' '.join(map(str, self.meant))}) before the reshape. {self.example(bindings).sentence()}"
        )


@dataclass(frozen=True)
class Example:
    """A mismatch at given sizes of its atoms, on the letters a, b, c, ... in row-major order."""

    mismatch: Mismatch
    sizes: tuple[int, ...]

    def _letters(self, order: Sequence[Atom]) -> list[str]:
        """The letters of the input in the order of the output's positions."""
        given = self.mismatch.given
        of = dict(zip(given, self.sizes, strict=True))
        strides = {a: prod(self.sizes[n + 1 :]) for n, a in enumerate(given)}
        places = (
            sum(i * strides[a] for a, i in zip(order, at, strict=True))
            for at in product(*(range(of[a]) for a in order))
        )
        return [ascii_lowercase[p] for p in places]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        of = dict(zip(self.mismatch.given, self.sizes, strict=True))
        return tuple(prod(of[a] for a in _flat(x, of)) for x in self.mismatch.axes)

    def block(self, right: bool) -> tuple[str, ...]:
        """The letters of the first block of the result (its first axis that is longer than 1, at index 0)."""
        letters = self._letters(self.mismatch.meant if right else self.mismatch.given)
        first = next((n for n in self.shape if n > 1), 1)
        return tuple(letters[: len(letters) // first])

    def sentence(self) -> str:
        """One sentence with both results."""
        axis_number = next((k for k, n in enumerate(self.shape) if n > 1), 0)
        name = self.mismatch.axes[axis_number]
        names = " ".join(map(str, self.mismatch.given))
        sizes = ",".join(map(str, self.sizes))
        letters = ascii_lowercase[: prod(self.sizes)]
        return (
            f"Example: the letters {letters[0]} to {letters[-1]} as ({names}) of sizes ({sizes}): {name} = 0 must "
            f"hold {','.join(self.block(True))}; "
            f"the reshape alone gives {','.join(self.block(False))}."
        )


def _flat(axis: Axis, known: Mapping[Atom, int]) -> list[Atom]:
    """The atoms of an axis as the example knows them: a joined atom is opened into its pieces again."""
    found: list[Atom] = []
    for a in axis.atoms:
        found += [a] if a in known else [x for x in known if x.parent == a]
    return found


def compare_orders(given: Sequence[Atom], meant: Sequence[Atom], axes: Axes) -> Mismatch | None:
    """Whether a row-major reshape takes one order of atoms for another: None if the positions agree for every index.

    >>> from .axes import read_axes
    >>> b, h, n, d = (a.atoms[0] for a in read_axes("B h n d_k"))
    >>> compare_orders([b, h, n, d], [b, n, h, d], read_axes("B n (h d_k)")).equal_when
    'h = 1 or n = 1'
    """
    # A numeric size stands under its axis's name, so that the condition reads h = 1 and not 2 = 1.
    own = {a: Size(a.name) if a.size.is_Integer and a.name.isidentifier() and a.size != 1 else a.size for a in given}
    letters = {a: index("i", own[a]) for a in given}
    off = sp.expand(_position(given, letters, own) - _position(meant, letters, own))
    clauses: list[frozenset[str]] = []
    for a, i in letters.items():
        slope = off.coeff(i)
        if slope != 0 and a.size != 1:
            clauses.append(frozenset({*_zeros(slope), *_zeros(own[a] - 1)}))
    if not clauses:
        return None
    kept = [c for c in dict.fromkeys(clauses) if not any(other < c for other in clauses)]
    return Mismatch(tuple(given), tuple(meant), axes, tuple(tuple(sorted(c)) for c in kept) if all(kept) else ())


def _position(order: Sequence[Atom], letters: Mapping[Atom, Index], sizes: Mapping[Atom, sp.Expr]) -> sp.Expr:
    place: sp.Expr = sp.S.Zero
    for a in order:
        place = place * sizes[a] + letters[a]
    return sp.expand(place)


def _zeros(value: sp.Expr) -> list[str]:
    """When a polynomial in sizes is 0, as equations; none for one that never is."""
    found = []
    for factor, _ in sp.factor_list(value)[1]:
        if len(sp.Add.make_args(factor)) == 1:
            continue  # a product of sizes is at least 1
        positive = sp.Add(*(t for t in sp.Add.make_args(factor) if not t.could_extract_minus_sign()))
        negative = positive - factor
        a, b = sorted((positive, negative), key=lambda t: (t.is_Number, str(t)))
        found.append(f"{a} = {b}".replace("*", "·"))
    return found


def meant_order(atoms: Sequence[Atom], sizes: Sequence[sp.Expr]) -> Mismatch | None:
    """The transpose that was probably forgotten: another order of the atoms (or of their pieces) that gives the sizes.

    The order with the fewest exchanges is taken; None if there is none.
    """
    start = tuple(a for a in atoms if a.size != 1)
    best: tuple[tuple[int, int], Mismatch] | None = None
    for given in (start, *_with_a_split(start, sizes)):
        if len(given) > _MOST_ATOMS:
            continue
        for order in permutations(range(len(given))):
            exchanges = sum(x > y for k, x in enumerate(order) for y in order[k + 1 :])
            rank = (exchanges, len(given))
            if not exchanges or (best is not None and rank >= best[0]):
                continue
            meant = [given[k] for k in order]
            axes = align(meant, sizes)
            if axes is not None and all(a in meant or a.parent in meant for x in axes for a in _flat_any(x, meant)):
                mismatch = compare_orders(given, meant, axes)
                if mismatch is not None:
                    best = (rank, mismatch)
    return best[1] if best else None


def _flat_any(axis: Axis, known: Sequence[Atom]) -> list[Atom]:
    return [
        x
        for a in axis.atoms
        for x in ([a] if a in known else [y for y in known if y.parent == a] or [Atom("", a.size)])
    ]


def _with_a_split(atoms: tuple[Atom, ...], sizes: Sequence[sp.Expr]) -> list[tuple[Atom, ...]]:
    """The atoms with one of them in two pieces, the second of a size that is asked for."""
    found = []
    for n, a in enumerate(atoms):
        for t in dict.fromkeys(sizes):
            outer = divided(a.size, t) if t != 1 else None
            if outer is not None and outer != 1:
                found.append((*atoms[:n], *split_atom(a, [_piece(outer), _piece(t)]), *atoms[n + 1 :]))
    return found


def check_claim(axes: Axes, claimed: Axes) -> Mismatch | None:
    """Whether a plain reshape of `axes` gives the axes that are claimed; None if it does, for every index.

    Raises ShapeError when the claimed axes are not made of the same atoms.
    """
    given = [x for a in axes for x in a.atoms if x.size != 1]
    meant = [x for a in claimed for x in a.atoms if x.size != 1]
    by_name = {a.name: a for a in given}
    missing = [x.name for x in meant if x.name not in by_name]
    unused = [x.name for x in given if x.name not in {m.name for m in meant}]
    wrong = [x.name for x in meant if x.name in by_name and not same_size(by_name[x.name].size, x.size)]
    if missing or unused or wrong or len(meant) != len(given):
        what = [
            f"{', '.join(missing)} is not there" if missing else "",
            f"{', '.join(unused)} is left out" if unused else "",
            f"{', '.join(wrong)} has another size" if wrong else "",
            "" if missing or unused or wrong else "an axis is named twice",
        ]
        raise ShapeError(
            f"reshape of '{pattern(axes)}' to '{pattern(claimed)}': {'; '.join(w for w in what if w)}; a reshape "
            "keeps every "
            "element: name each atom once, and split axes first"
        )
    return compare_orders(given, [by_name[x.name] for x in meant], claimed)
