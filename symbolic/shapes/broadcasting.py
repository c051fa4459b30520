"""Broadcasting by name: NumPy's alignment from the right, with axes that must be the same axis and not only the same
size.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..language.errors import ShapeError
from .axes import Axes, Axis, agree, difference, one
from .named import NamedArray
from .trace import bindings_text


def brackets(axes: Sequence[Axis]) -> str:
    """Axes in brackets for a message: ``[B, h, n, n']``."""
    return "[" + ", ".join(a.name for a in axes) + "]"


def broadcast(operation: str, operands: Sequence[NamedArray]) -> Axes:
    """The axes of an elementwise result.

    Raises ShapeError with the operation, both arrays, both axes, the bindings, and the view that was probably meant.
    """
    ndim = max((o.ndim for o in operands), default=0)
    result: list[Axis] = []
    for place in range(-ndim, 0):
        chosen: Axis | None = None
        holder = operands[0]
        for o in operands:
            if o.ndim < -place or o.axes[place].is_one:
                continue
            axis = o.axes[place]
            if chosen is None:
                chosen, holder = axis, o
            elif not agree(chosen, axis):
                raise ShapeError(_message(operation, holder, o, place))
            elif chosen.is_mixed or not all(a.name for a in chosen.atoms):
                chosen = axis
        result.append(chosen or one())
    return tuple(result)


def _message(operation: str, a: NamedArray, b: NamedArray, place: int) -> str:
    first, second = a.label or "left", b.label or "right"
    text = (
        f"{operation}: {first} {brackets(a.axes)} and {second} {brackets(b.axes)} do not broadcast: in axis {place}, "
        f"{a.axes[place]} stands against {b.axes[place]}: {difference(a.axes[place], b.axes[place])}"
    )
    meant = _view(a, b) or _view(b, a)
    return f"{text}{bindings_text()}{meant}"


def _view(small: NamedArray, big: NamedArray) -> str:
    """The view of the smaller array whose named axes all stand in the bigger one, in order: (B, S) as (B, 1, 1, S)."""
    keys: list[str] = []
    shown: list[str] = []
    rest = [a for a in small.axes if not a.is_one]
    if small.ndim >= big.ndim or not rest:
        return ""
    # From the right, so that the axis of the keys is found before that of the queries.
    for axis in reversed(big.axes):
        if rest and agree(rest[-1], axis):
            rest.pop()
            keys.insert(0, ":")
            shown.insert(0, axis.name)
        else:
            keys.insert(0, "None")
            shown.insert(0, "1")
    if rest:
        return ""
    while keys and keys[0] == "None":
        keys.pop(0)
        shown.pop(0)
    return f". Write {small.label or 'array'}[{', '.join(keys)}], which has the axes [{', '.join(shown)}]"


def swapped(operands: Sequence[NamedArray]) -> tuple[str, ...]:
    """Whether two arrays with two uses of one axis (n and n') have them the other way round."""
    found = []
    for a, b in itertools.pairwise(operands):
        if a.ndim != b.ndim:
            continue
        pairs = {(x.name, y.name) for x, y in zip(a.axes, b.axes, strict=True) if x.name != y.name}
        found += [
            f"{a.label} {brackets(a.axes)} and {b.label} {brackets(b.axes)}: {x} and {y} are exchanged"
            for x, y in sorted(pairs)
            if (y, x) in pairs and x < y
        ]
    return tuple(found)
