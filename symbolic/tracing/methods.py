"""The methods of arrays, put on `Traced` from the functions of the same name; importing this fills the table."""

from __future__ import annotations

from typing import Any

from ..language.errors import UnsupportedError
from . import contracting, creation, indexing, operators, reducing, shaping
from .dispatch import TABLES
from .table import cast
from .values import Traced

ROOMS = (contracting, creation, indexing, operators, reducing, shaping)  # each fills `TABLES` when it is imported

_SAME = """
sum mean var std max min prod all any argmax argmin cumsum cumprod ptp clip dot trace diagonal repeat ravel swapaxes
squeeze take copy
"""


def _shape(args: tuple[Any, ...]) -> Any:
    return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


def _bytes(value: Traced) -> None:
    raise UnsupportedError("the bytes of an array are not mathematics; drop them")


METHODS: dict[str, Any] = {
    "reshape": lambda self, *shape, **options: shaping.reshape(self, tuple(_shape(shape)), **options),
    "transpose": lambda self, *axes: shaping.transpose(self, _shape(axes) or None),
    "flatten": lambda self, order="C": cast(shaping.ravel(self, order)),
    "astype": lambda self, dtype, **options: cast(self, dtype),
    "fill": lambda self, value: self.write(creation.full_like(self, value)),
    "conj": lambda self: self,
    "conjugate": lambda self: self,
    "mT": property(lambda self: shaping.swapaxes(self, -1, -2)),
    "flat": property(shaping.ravel),
    "nbytes": property(_bytes),
}


def _as_method(name: str) -> Any:
    return lambda self, *args, **kwargs: TABLES[name](self, *args, **kwargs)


for _name in _SAME.split():
    setattr(Traced, _name, _as_method(_name))
for _name, _method in METHODS.items():
    setattr(Traced, _name, _method)
