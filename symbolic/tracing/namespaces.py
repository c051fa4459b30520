"""What stands in for `np`, `scipy`, `math` and a few builtins while a function is read.

Attributes that are functions on arrays come from the tables of this package, constants are exact, dtypes are NumPy's
own; any other name is refused when it is called, so that code which only mentions it can still be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from ..language.arrays import Array
from ..language.errors import UnsupportedError
from . import creation, methods, reducing, table
from .dispatch import TABLES
from .special import SPECIAL
from .values import Traced, lift

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
        from .dispatch import ACCUMULATED, REDUCED

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
