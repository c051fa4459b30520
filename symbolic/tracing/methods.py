"""The methods of arrays, put on `Traced` from the functions of the same name."""

from __future__ import annotations

from typing import Any


from ..language.errors import UnsupportedError
from .table import cast
from .shaping import ravel, reshape, swapaxes
from .values import TABLES, Traced


def _methods() -> None:
    names = (
        "sum mean var std max min prod all any argmax argmin cumsum cumprod ptp clip dot trace diagonal repeat "
        "ravel swapaxes squeeze take "
        "copy"
    ).split()
    for name in names:
        setattr(Traced, name, lambda self, *args, f=TABLES[name], **kwargs: f(self, *args, **kwargs))

    def as_shape(args: tuple[Any, ...]) -> Any:
        return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args

    Traced.reshape = lambda self, *shape, **kw: reshape(self, tuple(as_shape(shape)), **kw)  # type:
    ignore[attr-defined] Traced.transpose = lambda self, *axes: transpose(self, as_shape(axes) or None)  # type:
    ignore[attr-defined] Traced.flatten = lambda self, order="C": cast(ravel(self, order))  # type: ignore[attr-defined]
    Traced.astype = lambda self, dtype, **options: cast(self, dtype)  # type: ignore[attr-defined]
    Traced.fill = lambda self, value: self.write(full_like(self, value))  # type: ignore[attr-defined]
    Traced.conj = Traced.conjugate = lambda self: self  # type: ignore[attr-defined]
    Traced.mT = property(lambda self: swapaxes(self, -1, -2))  # type: ignore[attr-defined]
    Traced.flat = property(lambda self: ravel(self))  # type: ignore[attr-defined]
    Traced.nbytes = property(lambda self: _bytes())  # type: ignore[attr-defined]


def _bytes() -> None:
    raise UnsupportedError("the bytes of an array are not mathematics; drop them")


_methods()
