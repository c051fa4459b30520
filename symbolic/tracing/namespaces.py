"""What stands in for `np`, `scipy`, `math` and a few builtins while a function is read.

Attributes that are functions on arrays come from the tables of this package, constants are exact, dtypes are NumPy's
own; any other name is refused when it is called, so that code which only mentions it can still be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from ..language.arrays import Array
from ..language.errors import UnsupportedError
from ..language.index_arithmetic import bound, quotient
from ..language.indices import Index
from ..language.sizes import same_size
from . import creation, methods, reducing, table
from . import elementwise as el
from .special import SPECIAL
from .values import TABLES, Traced, lift, size_of, size_value

_READ_FROM = methods.ROOMS  # importing them fills the table
CONSTANTS: dict[str, sp.Expr] = {"pi": sp.pi, "e": sp.E, "euler_gamma": sp.EulerGamma, "tau": 2 * sp.pi}


def number(value: sp.Expr) -> Traced:
    """An exact real number."""
    return Traced(Array((), value))


class Accumulator:
    """``np.add``: a function with ``at``, ``outer``, ``reduce`` and ``accumulate``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        where = kwargs.pop("where", True)
        kwargs.pop("dtype", None)
        if where is not True:
            raise UnsupportedError(f"np.{self._name} with where=; write np.where around it")
        result = TABLES[self._name](*args, **kwargs)
        if out is None:
            return result
        target = out[0] if isinstance(out, tuple) else out
        target.write(result)
        return target

    def __getattr__(self, attribute: str) -> Any:
        from .values import ACCUMULATED, REDUCED

        name = {"reduce": REDUCED.get(self._name), "accumulate": ACCUMULATED.get(self._name)}.get(
            attribute, f"{self._name}.{attribute}"
        )
        if name not in TABLES:
            raise UnsupportedError(f"np.{self._name}.{attribute} is not read")
        if attribute == "reduce":
            return lambda value, axis=0, **kwargs: TABLES[name](value, axis, **kwargs)
        return TABLES[name]


class Namespace:
    """Stands in for a module: functions from a table, constants, submodules; the rest as the module has it, or
    refused.
    """

    def __init__(self, label: str, module: Any, table: dict[str, Callable[..., Any]], inside: dict[str, Any]) -> None:
        self._label, self._module, self._table, self._inside = label, module, table, inside

    def __getattr__(self, name: str) -> Any:
        if name in self._inside:
            return self._inside[name]
        if name in CONSTANTS and hasattr(self._module, name):
            return number(CONSTANTS[name])
        if name in self._table:
            own = getattr(self._module, name, None)
            return (
                Accumulator(name)
                if isinstance(own, np.ufunc) and name in TABLES and self._table is TABLES
                else self._table[name]
            )
        own = getattr(self._module, name)
        if isinstance(own, type) and issubclass(own, np.generic):
            return Cast(own)
        if isinstance(own, type) and issubclass(own, np.ndarray):
            return Traced
        if isinstance(own, (float, int, str, type, np.dtype)) or own is None:
            return own
        if name == "random":
            return Refused(f"{self._label}.{name}", "draw the numbers outside and pass them as an argument")
        if callable(own) or hasattr(own, "__name__"):
            return Refused(
                f"{self._label}.{name}", "write it with functions that are read (sum, exp, where, einsum, ...)"
            )
        return own


class Refused:
    """A function that is not read: it may be mentioned, not called."""

    def __init__(self, label: str, advice: str) -> None:
        self._label, self._advice = label, advice

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"{self._label} is not read; {self._advice}")

    def __getattr__(self, name: str) -> Refused:
        if name.startswith("__"):
            raise AttributeError(name)
        return Refused(f"{self._label}.{name}", self._advice)


class Cast:
    """``np.float64``: a dtype that can be called."""

    def __init__(self, own: type) -> None:
        self.dtype = (
            np.dtype(float)
            if own.__name__ in ("floating", "number", "generic")
            else np.dtype(int if own.__name__ == "integer" else own)
        )
        self.dtype_read = self.dtype

    def __call__(self, value: Any = 0) -> Any:
        return table.cast(value, self.dtype)


class _Linalg(Namespace):
    def __getattr__(self, name: str) -> Any:
        if f"linalg.{name}" in TABLES:
            return TABLES[f"linalg.{name}"]
        if name == "LinAlgError":
            return np.linalg.LinAlgError
        return Refused(
            f"{self._label}.{name}", "a decomposition has no index expression; the claim can be checked by numbers"
        )


class _ErrState:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: Any) -> None:
        return None


def numpy_namespace() -> Namespace:
    """What stands in for `np`."""
    return Namespace(
        "np",
        np,
        TABLES,
        {
            "linalg": _Linalg("np.linalg", np.linalg, {}, {}),
            "newaxis": None,
            "inf": math.inf,
            "nan": math.nan,
            "ndarray": Traced,
            "errstate": lambda **options: _ErrState(),
            "seterr": lambda **options: None,
            "float": float,
            "vectorize": lambda f, **options: f,
            "shape": lambda a: lift(a).shape,
            "ndim": lambda a: lift(a).ndim,
            "size": lambda a, axis=None: lift(a).size if axis is None else lift(a).shape[axis],
            "isscalar": lambda a: not isinstance(a, Traced) or not a.ndim,
            "allclose": Refused("np.allclose", "comparisons with a tolerance are no part of a formula"),
        },
    )


def scipy_namespace() -> Namespace:
    """What stands in for `scipy`."""
    import scipy
    import scipy.special

    return Namespace(
        "scipy", scipy, {}, {"special": special_namespace(), "linalg": _Linalg("scipy.linalg", scipy, {}, {})}
    )


def special_namespace() -> Namespace:
    """What stands in for `scipy.special`."""
    import scipy.special

    return Namespace("scipy.special", scipy.special, SPECIAL, {})


_MATH = {
    "sqrt": "sqrt",
    "exp": "exp",
    "log": None,
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "expm1": "expm1",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "erf": "erf",
    "erfc": "erfc",
    "lgamma": "gammaln",
    "gamma": "gamma",
    "pow": "power",
    "fabs": "absolute",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "copysign": "copysign",
    "hypot": "hypot",
    "degrees": "degrees",
    "radians": "radians",
    "fmod": "fmod",
    "isfinite": "isfinite",
    "isnan": "isnan",
    "isinf": "isinf",
}


def _log(value: Any, base: Any = None) -> Traced:
    return TABLES["log"](value) if base is None else TABLES["log"](value) / TABLES["log"](base)


def math_namespace() -> Namespace:
    """What stands in for `math`."""
    table = {name: TABLES[other] for name, other in _MATH.items() if other}
    table["log"] = _log
    table["prod"] = lambda values, start=1: reducing.prod(creation.array(values)) * start
    table["fsum"] = lambda values: reducing.sum_(creation.array(values))
    return Namespace("math", math, table, {"inf": math.inf, "nan": math.nan})


# ---------------------------------------------------------------------- builtins
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


def known_float(value: float) -> Any:
    """A float constant of the user's module: exactly π or e where it is their nearest float."""
    return (
        number({math.pi: sp.pi, math.e: sp.E, math.tau: 2 * sp.pi}[value])
        if value in (math.pi, math.e, math.tau)
        else value
    )


def replaced(value: Any) -> Any:
    """What stands in for one global value of the user's module: modules, functions of NumPy, SciPy and math."""
    import types

    if isinstance(value, types.ModuleType):
        return {
            "numpy": numpy_namespace,
            "scipy": scipy_namespace,
            "scipy.special": special_namespace,
            "math": math_namespace,
            "numpy.linalg": lambda: numpy_namespace().linalg,
        }.get(value.__name__, lambda: value)()
    if isinstance(value, float) and not isinstance(value, np.generic):
        return known_float(value)
    if isinstance(value, (type, np.generic, np.ndarray)) or not callable(value):
        return Cast(value) if isinstance(value, type) and issubclass(value, np.generic) else value
    name = getattr(value, "__name__", "")
    if isinstance(value, np.ufunc):
        known = getattr(np, name, None) is value
        return getattr(numpy_namespace() if known else special_namespace(), name, value)
    module = getattr(value, "__module__", "") or ""
    if module.startswith("numpy"):
        return getattr(numpy_namespace().linalg if "linalg" in module else numpy_namespace(), name)
    if module.startswith("scipy.special") and name in SPECIAL:
        return SPECIAL[name]
    if module == "math":
        return getattr(math_namespace(), name)
    return value
