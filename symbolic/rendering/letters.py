"""Letters are chosen when printing: an index has an identity, not a letter, until it is shown.

A `Letters` speaks for everything shown together (one expression, or one whole derivation): a free index has one
letter throughout, and no bound letter is ever that of a free index, of a size, of a named array, or of a binder
around it. Names whose writing would coincide (`eps` and `epsilon`) are told apart the same way. All choices depend on
the input alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import sympy as sp

from ..language.indices import Index
from ..language.naming import alternatives
from ..language.nodes import Binder, DefinedTensor, Tensor, free_indices
from .names import Name, differential, verbatim, written

_BOUND = "jklmniabcqrstuvw"
_PARAMETERS = "ijklmnabcqrstuvw"
# The letters that the field uses for an index over these sizes.
_BY_SIZE = {"N": "n", "B": "b", "T": "t", "H": "h"}


class Letters:
    """The letters of the free indices and the writing of the names of `expressions`.

    Different arrays of one name are written apart, p and q, unless they are one `by_name`: a definition and what stands
    for it in a derivation in named adjoints. `indices` are served first. Of `beside` only the names count, not the
    indices: definitions, whose parameters get letters of their own.
    """

    def __init__(
        self, expressions: Iterable[sp.Basic], indices: Sequence[Index] = (), beside: Iterable[sp.Basic] = (),
        by_name: bool = False,
    ) -> None:
        expressions = list(expressions)
        self._by_name = by_name
        self._symbols: dict[sp.Basic, Name] = {}
        self._indices: dict[Index, str] = {}
        symbols: dict[sp.Basic, None] = {}
        for expression in [*expressions, *beside, *(i.size for i in indices)]:
            _collect(expression, symbols, set())
        for symbol in sorted(symbols, key=_first_served):
            self._enter(symbol)
        for i in [*indices, *itertools.chain.from_iterable(free_indices(e) for e in expressions)]:
            self.letter(i)

    def _enter(self, symbol: sp.Symbol) -> Name:
        name = written(symbol.name)
        taken = {n.text for n in self._symbols.values()}
        # A size and an array of one name are the same word for the reader and for the user who chose both.
        if name.text in taken and not any(s.name == symbol.name for s in self._symbols):
            name = verbatim(symbol.name)
        if not self._by_name and isinstance(symbol, Tensor) and any(
                isinstance(s, Tensor) and s.name == symbol.name for s in self._symbols):
            name = next(n for n in map(written, alternatives(symbol.name)) if n.text not in taken)
        self._symbols[symbol] = name
        return name

    def adjoints(self, names: Iterable[str]) -> None:
        """Write these adjoints, dX for an array X, as a d before the array's own name, whoever is called so."""
        for symbol in self._symbols:
            if symbol.name in names:
                self._symbols[symbol] = differential(symbol.name[1:])

    def name(self, symbol: sp.Symbol) -> Name:
        """The writing of an array's, a size's or another symbol's name."""
        return self._symbols.get(symbol) or self._enter(symbol)

    def is_taken(self, text: str) -> bool:
        """Whether a name or a free letter is written like this."""
        return text in self._indices.values() or any(n.text == text for n in self._symbols.values())

    def letter(self, i: Index) -> Name:
        """The letter of a free index: the wished one if nothing else is written like it."""
        if i not in self._indices:
            wish = i.name if not i.is_bound else ""
            self._indices[i] = next(
                c for c in self._candidates(wish, i, _PARAMETERS) if not self.is_taken(written(c).text)
            )
        return written(self._indices[i])

    def bound(self, i: Index, around: Iterable[str]) -> str:
        """A letter for a bound index inside binders that already use the letters `around`."""
        used = set(around)
        return next(c for c in self._candidates("", i, _BOUND) if c not in used and not self.is_taken(written(c).text))

    def parameters(self, indices: Sequence[Index], around: Iterable[str] = ()) -> list[str]:
        """Letters for the parameters of a definition: i, j, ...; free letters of the derivation may come again."""
        names = {n.text for n in self._symbols.values()}
        used = set(around)
        chosen: list[str] = []
        for i in indices:
            letter = next(
                c for c in self._candidates("", i, _PARAMETERS) if c not in used and written(c).text not in names
            )
            used.add(letter)
            chosen.append(letter)
        return chosen

    def local(self, indices: Sequence[Index]) -> Letters:
        """Letters for a statement of its own, such as p_i := ...: the same names, other letters for `indices`."""
        inner = Letters((), by_name=self._by_name)
        inner._symbols = dict(self._symbols)
        inner._indices = dict(zip(indices, self.parameters(indices), strict=True))
        return inner

    def inside(self, indices: Sequence[Index]) -> Letters:
        """Letters inside a sum over `indices`, which have letters of bound ones; all others as here."""
        inner = Letters((), by_name=self._by_name)
        inner._symbols, inner._indices = dict(self._symbols), dict(self._indices)
        for i in indices:
            inner._indices[i] = inner.bound(i, ())
        return inner

    @staticmethod
    def _candidates(wish: str, i: Index, order: str) -> Iterator[str]:
        if wish:
            yield wish
        preferred = _BY_SIZE.get(str(i.size))
        if preferred:
            yield preferred
        yield from order
        for mark in itertools.count(1):
            yield from (c + "'" * mark for c in order)


def _first_served(symbol: sp.Symbol) -> tuple[str, bool, bool, str]:
    """Of one name: a size, then a declared array, then definitions."""
    shape = str(getattr(symbol, "shape", ""))
    return symbol.name, isinstance(symbol, Tensor), isinstance(symbol, DefinedTensor), shape


def _collect(node: sp.Basic, found: dict[sp.Basic, None], seen: set[int]) -> None:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, Index):
        _collect(node.size, found, seen)
    elif isinstance(node, sp.Symbol):
        found.setdefault(node)
        for size in getattr(node, "shape", ()):
            _collect(size, found, seen)
    else:
        for child in node.args:
            _collect(child, found, seen)
        if isinstance(node, Binder):
            _collect(node.bound.size, found, seen)
