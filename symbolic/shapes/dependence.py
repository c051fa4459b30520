"""Which places of an input a place of the result reads: kept apart along an axis, or mixed.

Read off the index expression, not off shapes: where the result reads x only at its own index of an axis, places along
that axis never meet. A layer that is given data in the wrong layout has the right shape and mixes the batch; here it
shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..language.arrays import Array, tensor_of
from ..language.indices import Index
from ..language.nodes import Element, unfold
from .axes import Axis
from .named import NamedArray


@dataclass(frozen=True)
class Dependence:
    """The axes of an input along which the result keeps places apart, and those along which it mixes them."""

    kept: tuple[Axis, ...]
    mixed: tuple[Axis, ...]


def dependence(result: Array, of: NamedArray) -> Dependence:
    """How the result depends on a declared input, axis by axis.

    >>> from .named import named
    >>> x = named("x", "B n d")
    >>> d = dependence(x.sum(axis="n"), x)
    >>> [str(a) for a in d.kept], [str(a) for a in d.mixed]
    (['B', 'd'], ['n'])
    """
    tensor = tensor_of(of.value)
    own = set(result.indices)
    reads: list[set[Any]] = [set() for _ in of.axes]
    for element in unfold(result.body).atoms(Element):
        if element.tensor == tensor:
            for places, i in zip(reads, element.indices, strict=True):
                places.add(i)
    kept: list[Axis] = []
    mixed: list[Axis] = []
    for a, places in zip(of.axes, reads, strict=True):
        (i,) = places if len(places) == 1 else (None,)
        (kept if a.is_one or (isinstance(i, Index) and i in own) else mixed).append(a)
    return Dependence(tuple(kept), tuple(mixed))
