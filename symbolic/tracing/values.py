"""`Traced`: what a user's NumPy code computes with while it is read. It behaves as an ndarray with symbolic sizes.

A `Traced` is an object, as an ndarray is: in-place writes change it, and a view (a slice, a transpose, a reshape) is
tied to its base by two functions, one that reads the view from the base and one that puts a changed view back. So
writes through views are read as NumPy does them. The value at any moment is an immutable `Array` of the language. A
size or a loop's index is a `Traced` without axes; its truth is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import sympy as sp

from ..language import rearrangement as re
from ..language import selection
from ..language.arrays import Array, aligned, elementwise, exact, shape_text
from ..language.errors import UnsupportedError
from ..language.indices import Index, index
from ..language.nodes import Delta, Element, Indicator, Tensor
from ..language.selection import Chosen, Mask
from .dispatch import CLOCK, Protocols

Kind = str  # "bool", "int" or "float", as in NumPy's dtypes; what decides how masks, indices and divisions are read
RANK = {"bool": 0, "int": 1, "float": 2}
ON_WRITE: list[
    Callable[[Traced], None]
] = []  # asked before every write; `control` refuses what a loop cannot keep apart


class Traced(Protocols):
    """An array, a size or a number inside traced code; see the module's text."""

    __slots__ = (
        "_array",
        "_get",
        "_parent",
        "_put",
        "_seen",
        "chosen",
        "contiguous",
        "finite",
        "increment",
        "key",
        "kind",
        "made_in",
        "origin",
        "selected",
        "version",
        "__weakref__",
    )
    __array_priority__ = 10_000
    __hash__ = object.__hash__

    def __init__(
        self, value: Array, kind: Kind = "float", *, finite: Array | None = None, chosen: Chosen | None = None
    ) -> None:
        self._array = value
        self.kind = kind
        self.finite = finite  # where 0, the value is -inf
        self.chosen = chosen  # a place known by indicators (argmax)
        self.version = 0
        self._parent: Traced | None = None
        self._get: Any = None
        self._put: Any = None
        self._seen = 0
        self.key: Any = None
        self.origin: tuple[Traced, Any, int] | None = None  # where a copy was selected from
        self.increment: Traced | None = None  # what was added to that copy since
        self.selected: Array | None = None  # elements picked by a mask: the whole array is the value
        self.contiguous = True  # in memory as NumPy would have it: a reshape is then a view, else a copy
        self.made_in = CLOCK.active

    # ------------------------------------------------------------------ value, views and writes
    @property
    def array(self) -> Array:
        """The value now; a view reads its base again when that was written."""
        if self._parent is not None and self._seen != self.root.version:
            if self._put is None:
                raise UnsupportedError(
                    "an array is used after the one that it was reshaped from was written; whether NumPy made a "
                    "view or a "
                    "copy depends on the memory: write .copy() after the reshape"
                )
            self._array = self._get(self._parent.array)
            self._seen = self.root.version
        return self._array

    @property
    def root(self) -> Traced:
        """The array that owns the memory."""
        return self if self._parent is None else self._parent.root

    @property
    def body(self) -> sp.Expr:
        """The element of the value."""
        return self.array.body

    def view(
        self,
        get: Callable[[Array], Array],
        put: Callable[[Array, Array], Array] | None,
        key: Any = None,
        contiguous: bool = False,
    ) -> Traced:
        """A view of this array; one without `put` may be a copy, and only what is the same for both is read."""
        made = Traced(get(self.array), self.kind)
        made._parent, made._get, made._put, made._seen, made.key = self, get, put, self.root.version, key
        made.contiguous = contiguous
        return made

    def write(self, new: Traced) -> None:
        """Replace the value, in this object and all views of its memory."""
        if RANK[new.kind] > RANK[self.kind]:
            raise UnsupportedError(
                f"a {new.kind} value is written into an array of {self.kind}s, where NumPy would cut it; make the "
                f"array with "
                "dtype=float"
            )
        if new.finite is not None:
            raise UnsupportedError("-inf is written into an array; write np.where(condition, x, -np.inf) instead")
        self.store(re.broadcast_to(new.array, self.array.shape) if new.array.shape != self.array.shape else new.array)

    def store(self, new: Array) -> None:
        """Put a value of the same shape in place."""
        if self._parent is not None:
            if self._put is None:
                raise UnsupportedError(
                    "an array is written that may be a view or a copy of another, by its place in memory; write "
                    ".copy() first"
                )
            self._parent.store(self._put(self._parent.array, new))
            return
        for check in ON_WRITE:
            check(self)
        self._array = new
        self.version += 1

    # ------------------------------------------------------------------ shape
    @property
    def shape(self) -> tuple[Any, ...]:
        """One size an axis, numbers as ints."""
        self._whole()
        return tuple(size_value(n) for n in self.array.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def size(self) -> Any:
        """Number of elements."""
        self._whole()
        return size_value(sp.expand(self.array.size))

    @property
    def dtype(self) -> Any:
        """NumPy's type of the elements."""
        return np.dtype(self.kind)

    @property
    def T(self) -> Traced:
        """A view with the axes in reverse order."""
        return self.view(lambda a: a.T, lambda old, new: new.T)

    @property
    def real(self) -> Traced:
        """The array itself: values are real."""
        return self

    def __len__(self) -> int:
        n = self.shape[0] if self.ndim else None
        if not isinstance(n, int):
            raise UnsupportedError(
                f"len() of an axis of size {n} outside of traced code; write x.shape[0]"
                if n
                else "a scalar has no length"
            )
        return n

    def __iter__(self) -> Iterator[Traced]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        n = self.array.shape[0]
        if not n.is_Integer:
            raise UnsupportedError(
                f"iteration over an axis of size {n}; write `for i in range({n})` and index with i, or a NumPy "
                f"function over the axis"
            )
        return iter([self[k] for k in range(int(n))])

    # ------------------------------------------------------------------ keys
    def __getitem__(self, key: Any) -> Traced:
        self._finite()
        self._whole()
        read = read_key(key)
        if any(isinstance(k, Mask) for k in read):
            if len(read) > 1:
                raise UnsupportedError("a mask among other indices; write np.where(mask, x, 0) or multiply by the mask")
            return self._masked(read[0].array)
        picked = selection.select(self.array, read)
        basic = all(
            k is None or k is Ellipsis or isinstance(k, slice) or (isinstance(k, Array) and not k.ndim) for k in read
        )
        if basic and picked.ndim:
            return self.view(
                lambda a: selection.select(a, read), lambda old, new: selection.written(old, read, new), key
            )
        made = Traced(picked, self.kind)
        made.origin = (self, key, self.root.version)
        return made

    def _masked(self, mask: Array) -> Traced:
        if mask.ndim != self.ndim:
            raise UnsupportedError("a mask with fewer axes than the array; write np.where(mask[..., None], x, 0)")
        made = Traced(self.array, self.kind)
        made.selected = mask
        made.origin = (self, mask, self.root.version)
        return made

    def __setitem__(self, key: Any, new: Any) -> None:
        given = lift(new)
        if given._parent is self and given.key is key and given.key is not None:
            return  # x[k] += v on a view has written already
        if RANK[given.kind] > RANK[self.kind]:
            raise UnsupportedError(
                f"a {given.kind} value is written into an array of {self.kind}s, where NumPy would cut it; make the "
                f"array "
                "with dtype=float"
            )
        read = read_key(key)
        if any(isinstance(k, Mask) for k in read):
            self._write_masked(read, given)
            return
        given._whole()
        given._finite()
        if (
            given.increment is not None
            and given.origin is not None
            and given.origin[0] is self
            and given.origin[1] is key
            and given.origin[2] == self.root.version
        ):
            self.store(selection.increased(self.array, read, given.increment.array))
            return
        self.store(selection.written(self.array, read, given.array))

    def _write_masked(self, read: tuple[Any, ...], given: Traced) -> None:
        if len(read) > 1:
            raise UnsupportedError("a write through a mask among other indices; write x = np.where(mask, new, x)")
        mask = read[0].array
        if given.selected is not None and given.selected is not mask:
            same = given.selected.ndim == mask.ndim and aligned(given.selected, mask.indices) == mask.body
            if not same:
                raise UnsupportedError("values picked by one mask are written through another; write np.where")
        elif given.selected is None and given.ndim:
            raise UnsupportedError("an array is written through a mask; write x = np.where(mask, new, x)")
        if mask.ndim < self.ndim:
            mask = Array((*mask.indices, *(index("i", 1) for _ in range(self.ndim - mask.ndim))), mask.body)
        self.store(
            elementwise(
                lambda m, n, o: m * n + (1 - m) * o, mask, given.array, self.array, name="the write through a mask"
            )
        )

    # ------------------------------------------------------------------ truth and numbers
    def __bool__(self) -> bool:
        known = truth(self)
        if known is None:
            raise UnsupportedError(
                f"the truth of {describe(self)} is not known; write np.where(condition, a, b) with both branches"
                + (", or read the code once for each case of the sizes" if sizes_only(self) else "")
            )
        return known

    def _number(self) -> sp.Expr:
        if self.ndim == 0 and self.body.is_number:
            return self.body
        raise UnsupportedError(f"{describe(self)} is asked for as a Python number; it is symbolic here")

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __index__(self) -> int:
        number = self._number()
        if not number.is_Integer:
            raise TypeError(f"{number} is not an integer")
        return int(number)

    def __complex__(self) -> NoReturn:
        raise UnsupportedError("complex numbers are not read; write real and imaginary parts")

    def item(self, *at: Any) -> Any:
        """The one element, or the element at a place."""
        return self[at[0] if len(at) == 1 else at] if at else self.reshape(())

    def tolist(self) -> NoReturn:
        """Refused: the elements are not known."""
        raise UnsupportedError("tolist() of a symbolic array; keep it an array")

    def _whole(self) -> None:
        if self.selected is not None:
            raise UnsupportedError(
                "elements picked by a mask have a number that depends on the data; sum them, or write "
                "np.where(mask, x, 0)"
            )

    def _finite(self) -> None:
        if self.finite is not None:
            raise UnsupportedError(
                "-inf is read only under exp, max, softmax, + and -; write the mask as a factor after exp instead"
            )

    def __repr__(self) -> str:
        return f"Traced({self.kind}, shape={shape_text(self.array.shape)}, element={self.body})"

    __str__ = __repr__


# ---------------------------------------------------------------------- making and describing
def size_value(n: sp.Expr) -> Any:
    """A size for the user's code: an int, or a symbolic integer."""
    return int(n) if n.is_Integer else Traced(Array((), n), "int")


def lift(value: Any) -> Traced:
    """Anything the user's code computes with, as a `Traced`."""
    if isinstance(value, Traced):
        return value
    if isinstance(value, Array):
        return Traced(value, kind_of(value))
    if isinstance(value, (bool, np.bool_)):
        return Traced(Array((), sp.Integer(int(value))), "bool")
    if isinstance(value, (int, np.integer)):
        return Traced(Array((), sp.Integer(int(value))), "int")
    if isinstance(value, (float, np.floating)):
        if value == float("-inf"):
            return Traced(Array((), sp.S.Zero), "float", finite=Array((), sp.S.Zero))
        return Traced(Array((), exact(float(value))))
    if isinstance(value, (complex, np.complexfloating)):
        raise UnsupportedError("complex numbers are not read; write real and imaginary parts")
    if isinstance(value, np.ndarray):
        if value.size > 64:
            raise UnsupportedError(
                f"a constant array with {value.size} elements stands in the code; pass it as an argument"
            )
        return lift(value.tolist()) if value.ndim else lift(value.item())
    if isinstance(value, (list, tuple)):
        if not value:
            raise UnsupportedError("an empty list becomes an array; give it a size of at least 1")
        items = [lift(v) for v in value]
        for item in items:
            item._finite()
        return Traced(re.stack([i.array for i in items]), max((i.kind for i in items), key=RANK.__getitem__))
    if isinstance(value, sp.Expr):
        return Traced(Array((), value), "int" if value.is_integer else "float")
    raise UnsupportedError(f"a {type(value).__name__} stands where an array or a number is expected: {value!r:.60}")


def kind_of(value: Array) -> Kind:
    """The NumPy kind of a declared array: integers for index domains, sizes and letters, else floats."""
    body = value.body
    if isinstance(body, Element):
        return "int" if body.tensor.domain.integer and body.tensor.domain.name.find("index<") >= 0 else "float"
    if isinstance(body, Tensor):
        return "float"
    return "int" if body.is_integer and not body.has(Delta, Indicator, Element) else "float"


def describe(value: Traced) -> str:
    """A short text for messages."""
    text = str(value.body)
    return (
        (text if len(text) < 60 else f"a computed value of shape {shape_text(value.array.shape)}")
        if not value.ndim
        else f"an array of shape {shape_text(value.array.shape)}"
    )


def sizes_only(value: Traced) -> bool:
    """Whether a value is made of sizes and numbers."""
    return not value.body.has(Element) and not any(isinstance(s, (Tensor, Index)) for s in value.body.free_symbols)


def truth(value: Traced) -> bool | None:
    """The truth of a scalar, when it is the same for every size and input."""
    if value.ndim or value.selected is not None:
        return None
    body = value.body
    if body.is_number:
        return bool(body != 0)
    if value.kind != "bool" and body.is_nonzero:
        return True
    return None


def _leading(read: tuple[Any, ...]) -> bool:
    """Whether a key takes one block of memory: numbers, then at most one slice with step 1, then whole axes."""
    rest = list(read)
    while rest and isinstance(rest[0], Array):
        rest.pop(0)
    if rest and isinstance(rest[0], slice) and rest[0].step in (None, 1):
        rest.pop(0)
    return all(k is None or k is Ellipsis or k == slice(None) for k in rest)


def read_key(key: Any) -> tuple[Any, ...]:
    """A Python key with arrays, sizes and letters as the language's, boolean arrays as masks."""
    return tuple(_read_one(k) for k in (key if isinstance(key, tuple) else (key,)))


def _read_one(k: Any) -> Any:
    if k is None or k is Ellipsis:
        return k
    if isinstance(k, slice):
        return slice(
            *(None if e is None else _scalar(e) for e in (k.start, k.stop)), None if k.step is None else int(k.step)
        )
    given = lift(k)
    if given.chosen is not None:
        return given.chosen
    given._whole()
    if given.kind == "bool":
        return Mask(given.array)
    if given.kind == "float":
        raise UnsupportedError(
            f"{describe(given)} is used as an index but holds floats; indices are integers (declare it index<K)"
        )
    return given.array


def _scalar(value: Any) -> sp.Expr:
    given = lift(value)
    if given.ndim:
        raise UnsupportedError("an array stands as the end of a slice")
    return given.body


def size_of(value: Any) -> sp.Expr:
    """A size given in the user's code."""
    body = _scalar(value)
    if body.has(Element) or any(isinstance(s, Tensor) for s in body.free_symbols):
        raise UnsupportedError(f"a size that depends on data: {body}; give it as an argument and declare it")
    if any(isinstance(s, Index) for s in body.free_symbols):
        raise UnsupportedError(f"a size that changes in a loop: {body}; write the whole size and a mask")
    return sp.expand(body)


def shape_of(value: Any) -> list[sp.Expr]:
    """A shape given in the user's code: a size or a sequence of sizes."""
    return [size_of(n) for n in value] if isinstance(value, (tuple, list)) else [size_of(value)]
