"""The data of the canonical form: atoms, monomials and polynomials, plain Python with no SymPy inside.

A polynomial maps monomials to rational coefficients; a monomial is a tuple of (atom, exponent), sorted; exponents are
rational. An atom is an element, a size, an index read as a number, e to a monomial, a power base with several terms, a
connected sum over bound indices, an indicator, or a function left alone. Atoms are interned in a `Context`, so that
within one context equal atoms are one object.

Bound indices are named by height (one more than any bound inside) and a number, so names never collide between nesting
levels. Order is by a digest of the structure, never by memory address: it is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import blake2b
from typing import Any, TypeAlias

from flint import fmpq

Exponent: TypeAlias = "int | Fraction"
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"

# Kinds whose presence in a product can trigger a rewriting; products of other atoms only merge exponents.
ACTIVE_KINDS = frozenset({"num", "I", "eq", "ge", "argmax", "base"})
COMPLEX_KINDS = frozenset({"exp", "base", "sum", "prod", "log", "fn"})
ONE: Mono = ()
ZERO_Q, ONE_Q = fmpq(0), fmpq(1)


class Atom:
    """An interned factor. `free` holds its free index atoms, `height` the highest bound level inside."""

    __slots__ = ("kind", "data", "digest", "free", "height", "active", "complex", "_blind")

    def __init__(self, kind: str, data: tuple[Any, ...]) -> None:
        self.kind = kind
        self.data = data
        self.digest = blake2b(_bytes(kind) + b"(" + b",".join(map(_bytes, data)) + b")", digest_size=8).digest()
        self._blind: bytes | None = None
        self.active = kind in ACTIVE_KINDS
        # Whether the atom alone may be a complex number; indicators, maxima and elements are real whatever is in them.
        self.complex = kind == "I" or (kind in COMPLEX_KINDS and _has_complex(data))
        if kind == "ix":
            self.free: frozenset[Atom] = frozenset((self,))
            self.height = 0
            return
        free: set[Atom] = set()
        height = 0
        for part in data:
            part_free, part_height = _facts(part)
            free |= part_free
            height = max(height, part_height)
        if kind in ("sum", "max", "argmax", "prod", "inv", "det"):
            height += 1
            free = {i for i in free if i.data[0][:2] != ("b", height)}
        self.free = frozenset(free)
        self.height = height
        if kind == "el" and data[1].values == (0.0, 1.0):
            self.active = True

    @property
    def blind(self) -> bytes:
        """A digest that sees the sizes of free indices but not which index they are."""
        if self._blind is None:
            if self.kind == "ix":
                name = b"" if self.data[0][0] != "b" else _bytes(self.data[0])
                self._blind = blake2b(b"ix" + name + _bytes(self.data[1]), digest_size=8).digest()
            else:
                self._blind = blake2b(
                    _bytes(self.kind) + b"(" + b",".join(map(_blind, self.data)) + b")", digest_size=8
                ).digest()
        return self._blind

    def __repr__(self) -> str:
        match self.kind:
            case "el":
                return f"{self.data[0]}[{','.join(map(repr, self.data[2]))}]" if self.data[2] else self.data[0]
            case "ix":
                return "".join(map(str, self.data[0]))
            case "size" | "num":
                return str(self.data[0])
            case "sum":
                return f"Sum{[repr(b) for b in bound_atoms(self)]}({mono_text(self.data[1])})"
            case "exp":
                return f"exp({mono_text(self.data[0])})"
        return f"{self.kind}({', '.join(map(repr, self.data))})"


class Poly:
    """A polynomial: never changed after it is made."""

    __slots__ = ("terms", "_hash", "_digest", "_free", "_height")

    def __init__(self, terms: dict[Mono, fmpq]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._digest: bytes | None = None
        self._free: frozenset[Atom] | None = None
        self._height = -1

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset((m, (int(c.p), int(c.q))) for m, c in self.terms.items()))
        return self._hash

    @property
    def digest(self) -> bytes:
        """A digest of the structure, independent of the order of terms."""
        if self._digest is None:
            parts = sorted(_bytes(m) + b"*" + str(c).encode() for m, c in self.terms.items())
            self._digest = blake2b(b"+".join(parts), digest_size=8).digest()
        return self._digest

    @property
    def free(self) -> frozenset[Atom]:
        """Free index atoms."""
        if self._free is None:
            self._free = frozenset().union(*(a.free for m in self.terms for a, _ in m))
        return self._free

    @property
    def height(self) -> int:
        """The highest bound level inside."""
        if self._height < 0:
            self._height = max((a.height for m in self.terms for a, _ in m), default=0)
        return self._height

    @property
    def complex(self) -> bool:
        """Whether complex atoms occur at the top level; the polynomial itself may still be real, as a cosine is."""
        return any(a.complex for m in self.terms for a, _ in m)

    @property
    def constant(self) -> fmpq | None:
        """The value of a polynomial without atoms, else None."""
        if not self.terms:
            return ZERO_Q
        if len(self.terms) == 1 and ONE in self.terms:
            return self.terms[ONE]
        return None

    def sorted_terms(self) -> list[tuple[Mono, fmpq]]:
        """Terms by digest."""
        return sorted(self.terms.items(), key=lambda item: _bytes(item[0]))

    def __repr__(self) -> str:
        return " + ".join(f"{c}*{mono_text(m)}" if m else str(c) for m, c in self.sorted_terms()) or "0"


def mono_text(mono: Mono) -> str:
    """A monomial as text, for error messages and debugging."""
    return "*".join(repr(a) if e == 1 else f"{a!r}^{e}" for a, e in mono) or "1"


def _bytes(part: Any) -> bytes:
    if isinstance(part, (Atom, Poly)):
        return part.digest
    if isinstance(part, tuple):
        return b"(" + b",".join(map(_bytes, part)) + b")"
    if isinstance(part, str):
        return part.encode()
    return str(getattr(part, "name", part)).encode()


def _blind(part: Any) -> bytes:
    if isinstance(part, Atom):
        return part.blind
    if isinstance(part, Poly):
        return b"+".join(sorted(_blind(m) + str(c).encode() for m, c in part.terms.items()))
    if isinstance(part, tuple):
        if part and isinstance(part[0], tuple) and len(part[0]) == 2 and isinstance(part[0][0], Atom):
            return b"(" + b",".join(sorted(_blind(p) for p in part)) + b")"  # a monomial: its order sees names
        return b"(" + b",".join(map(_blind, part)) + b")"
    return _bytes(part)


def skeleton(part: Any) -> bytes:
    """What an expression is, whatever its indices are: x_i and x_{i-D} have one skeleton, and so have p and -p."""
    if isinstance(part, Atom):
        if part.kind == "ix":
            return b"ix"
        if part.kind == "el":
            return b"el:" + str(part.data[0]).encode()
        return part.kind.encode() + b"(" + b",".join(skeleton(d) for d in part.data) + b")"
    if isinstance(part, Poly):
        items = sorted((skeleton(m), c) for m, c in part.terms.items())
        # up to one sign for all terms, so that a kink at x - 1 is not taken for one at x + 1; where several terms
        # look alike
        # (x_i - x_j) nothing says which is first, and the signs are left out
        alike = len({s for s, _ in items}) < len(items)
        sign = 1 if alike or items[0][1] > 0 else -1
        return b"+".join(s + str(abs(c) if alike else sign * c).encode() for s, c in items)
    if isinstance(part, tuple):
        return b"(" + b",".join(sorted(skeleton(p) for p in part)) + b")"
    return _bytes(part)


def _facts(part: Any) -> tuple[frozenset[Atom] | set[Atom], int]:
    if isinstance(part, (Atom, Poly)):
        return part.free, part.height
    if isinstance(part, tuple):
        free: set[Atom] = set()
        height = 0
        for p in part:
            f, h = _facts(p)
            free |= f
            height = max(height, h)
        return free, height
    return frozenset(), 0


def _has_complex(part: Any) -> bool:
    if isinstance(part, Atom):
        return part.complex
    if isinstance(part, Poly):
        return any(a.complex for m in part.terms for a, _ in m)
    return isinstance(part, tuple) and any(_has_complex(p) for p in part)


def bound_atoms(atom: Atom) -> list[Atom]:
    """The index atoms that a sum binds, in order."""
    found = {i for part in atom.data[1:] for i in _facts(part)[0] if i.data[0][:2] == ("b", atom.height)}
    return sorted(found, key=lambda i: i.data[0])


def free_of(mono: Mono) -> frozenset[Atom]:
    """Free index atoms of a monomial."""
    return frozenset().union(*(a.free for a, _ in mono)) if mono else frozenset()


def add(*polys: Poly) -> Poly:
    """The sum of polynomials."""
    terms: dict[Mono, fmpq] = {}
    for p in polys:
        for m, c in p.terms.items():
            total = terms.get(m)
            if total is None:
                terms[m] = c
            else:
                total = total + c
                if total:
                    terms[m] = total
                else:
                    del terms[m]
    return Poly(terms)


def scale(p: Poly, c: fmpq) -> Poly:
    """A polynomial times a number."""
    if c == 1:
        return p
    return Poly({m: v * c for m, v in p.terms.items()}) if c else ZERO


def negative(p: Poly) -> Poly:
    """The polynomial times -1."""
    return Poly({m: -v for m, v in p.terms.items()})


def subtract(a: Poly, b: Poly) -> Poly:
    """a - b."""
    return add(a, negative(b))


def number(value: Any) -> Poly:
    """A constant polynomial."""
    q = (
        value
        if isinstance(value, fmpq)
        else fmpq(value.numerator, value.denominator)
        if isinstance(value, Fraction)
        else fmpq(value)
    )
    return Poly({ONE: q}) if q else ZERO


def of_atom(atom: Atom, exponent: Exponent = 1) -> Poly:
    """The polynomial that is one atom; only for atoms that need no rewriting at this exponent."""
    return Poly({((atom, exponent),): ONE_Q})


def of_mono(mono: Mono, coefficient: fmpq = ONE_Q) -> Poly:
    """The polynomial that is one monomial in normal form."""
    return Poly({mono: coefficient})


def merge(m1: Mono, m2: Mono) -> Mono:
    """The product of two monomials by exponents alone, sorted, before any rewriting."""
    if not m1:
        return m2
    if not m2:
        return m1
    exponents: dict[Atom, Exponent] = dict(m1)
    for a, e in m2:
        total = exponents.get(a, 0) + e
        if total:
            exponents[a] = simple(total)
        else:
            del exponents[a]
    return sort_mono(exponents.items())


def sort_mono(items: Iterable[tuple[Atom, Exponent]]) -> Mono:
    """Factors in the order of monomials."""
    return tuple(sorted(items, key=_by_digest))


def _by_digest(item: tuple[Atom, Exponent]) -> bytes:
    return item[0].digest


def simple(e: Exponent) -> Exponent:
    """An exponent as an int where it is one."""
    if type(e) is Fraction and e.denominator == 1:
        return e.numerator
    return e


ZERO = Poly({})
POLY_ONE = Poly({ONE: ONE_Q})
Substitution: TypeAlias = "Mapping[Atom, Poly]"
