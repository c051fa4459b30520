"""Python's builtins on traced values: range, len, sum, max, enumerate, zip, float, isinstance, ...

What has a symbolic number of items is an `Iterated`: a size and the item at an index. A for statement or a
comprehension over it is read by `loops`; anything else that would run over it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from ..language.arrays import Array
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import bound, quotient
from ..language.indices import Index
from ..language.sizes import same_size
from . import elementwise as el
from . import reducing, table
from .dispatch import TABLES
from .values import Traced, lift, size_of, size_value


class Iterated:
    """What a loop runs over when it has a symbolic number of items: a size, the item at an index, and whether the
    item exists.

    A loop over it runs its body once, with an index letter (see `control`). `guard` is 0 for an index that belongs to
    no item, where the number of items depends on another loop.
    """

    def __init__(
        self, size: sp.Expr, item: Callable[[sp.Expr], Any], guard: Callable[[sp.Expr], sp.Expr] | None = None
    ) -> None:
        self.size, self.item, self.guard = size, item, guard

    def __len__(self) -> int:
        raise UnsupportedError(f"the number of items {self.size} is symbolic")

    def __iter__(self) -> Iterator[Any]:
        raise UnsupportedError(
            f"iteration over {self.size} items in a place that is not read; write a for statement or a "
            f"comprehension in a "
            "function whose source is at hand, or NumPy functions over the axis"
        )


def iterated(value: Any) -> Iterated | None:
    """A value as something with a symbolic number of items; None when it is ordinary."""
    if isinstance(value, Iterated):
        return value
    if isinstance(value, Traced) and value.ndim and not value.array.shape[0].is_Integer:
        return Iterated(value.array.shape[0], lambda i: value[Traced(Array((), i), "int")])
    return None


def whole(value: sp.Expr) -> Traced:
    """An index or a form in indices, for the user's code."""
    return Traced(Array((), value), "int")


def range_(*args: Any) -> Any:
    """range; symbolic where an end is."""
    given = [lift(a).body for a in args]
    if all(g.is_Integer for g in given):
        return range(*map(int, given))
    start, stop = (sp.S.Zero, given[0]) if len(given) == 1 else (given[0], given[1])
    step = given[2] if len(given) > 2 else sp.S.One
    if step == -1:  # the same items, backwards
        return Iterated(size_of(start - stop), lambda i: whole(start - i))
    if not step.is_Integer or step < 1:
        raise UnsupportedError(f"range with the step {step}; write a positive step")
    if any(isinstance(s, Index) for s in (stop - start).free_symbols):
        low, high = bound(start, False), bound(stop, True)
        if low is None or high is None or step != 1:
            raise UnsupportedError(
                f"range({start}, {stop}) inside another loop is not read; write np.where with a mask over the whole "
                f"axis"
            )
        return Iterated(sp.expand(high - low), lambda i: whole(low + i), lambda i: _between(low + i, start, stop))
    return Iterated(quotient(sp.expand(stop - start) + step - 1, step), lambda i: whole(start + step * i))


def _between(at: sp.Expr, start: sp.Expr, stop: sp.Expr) -> sp.Expr:
    return el.decided(">=", at, start, True) * el.decided("<", at, stop, True)


def enumerate_(values: Any, start: int = 0) -> Any:
    """enumerate."""
    found = iterated(values)
    if found is None:
        return enumerate(values, start)
    return Iterated(found.size, lambda i: (whole(start + i), found.item(i)), found.guard)


def zip_(*values: Any, strict: bool = False) -> Any:
    """zip; all must have the same symbolic number of items."""
    found = [iterated(v) for v in values]
    if all(f is None for f in found):
        return zip(*values, strict=strict)
    known = [f for f in found if f is not None]
    if (
        len(known) < len(found)
        or not all(same_size(f.size, known[0].size) for f in known)
        or any(f.guard for f in known)
    ):
        raise UnsupportedError("zip over different numbers of items; index with one loop letter instead")
    return Iterated(known[0].size, lambda i: tuple(f.item(i) for f in known))


def reversed_(values: Any) -> Any:
    """reversed."""
    found = iterated(values)
    return reversed(values) if found is None else Iterated(found.size, lambda i: found.item(found.size - 1 - i), None)


def len_(value: Any) -> Any:
    """len; symbolic for an axis of symbolic size."""
    if isinstance(value, Traced):
        if not value.ndim:
            raise TypeError("len() of unsized object")
        return size_value(value.array.shape[0])
    return len(value)


def float_(value: Any = 0.0) -> Any:
    """float; exact for what is read."""
    return table.cast(value, float) if isinstance(value, Traced) else float(value)


def int_(value: Any = 0, *rest: Any) -> Any:
    """int; of what is not an integer it would cut."""
    return table.cast(value, int) if isinstance(value, Traced) else int(value, *rest)


def bool_(value: Any = False) -> Any:
    """bool; a condition stays a condition."""
    return el.truth_values(value) if isinstance(value, Traced) and not value.ndim else bool(value)


for _stand_in, _type in ((float_, float), (int_, int), (bool_, bool)):
    _stand_in.dtype_read = _type  # type: ignore[attr-defined]  # astype(float)


def sum_(values: Any, start: Any = 0) -> Any:
    """sum; of an array over its first axis."""
    return reducing.sum_(values, 0) + start if isinstance(values, Traced) else sum(values, start)


def _extremum(
    one: Callable[[Any, Any], Any], all_: Callable[..., Any], plain: Callable[..., Any]
) -> Callable[..., Any]:
    def found(*values: Any, **options: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], Traced):
            return all_(values[0], 0)
        items = list(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(v, Traced) for v in items):
            return plain(*values, **options)
        result = items[0]
        for v in items[1:]:
            result = one(result, v)
        return result

    return found


def isinstance_(value: Any, kinds: Any) -> bool:
    """isinstance; a symbolic size is an int, a number a float, an array an ndarray."""
    if not isinstance(value, Traced):
        asked = [getattr(k, "dtype_read", k) for k in (kinds if isinstance(kinds, tuple) else (kinds,))]
        return isinstance(value, tuple(k for k in asked if isinstance(k, type)))
    asked = [getattr(k, "dtype_read", k) for k in (kinds if isinstance(kinds, tuple) else (kinds,))]
    if value.ndim:
        return Traced in asked
    return (int if value.kind == "int" else bool if value.kind == "bool" else float) in asked


def abs_(value: Any) -> Any:
    """abs."""
    return TABLES["absolute"](value) if isinstance(value, Traced) else abs(value)


def builtin_functions() -> dict[str, Any]:
    """The builtins that have another meaning on symbolic values."""
    return {
        "range": range_,
        "enumerate": enumerate_,
        "zip": zip_,
        "reversed": reversed_,
        "len": len_,
        "float": float_,
        "int": int_,
        "bool": bool_,
        "sum": sum_,
        "isinstance": isinstance_,
        "max": _extremum(el.maximum, reducing.max_, max),
        "min": _extremum(el.minimum, reducing.min_, min),
    }
