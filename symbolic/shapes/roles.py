"""The sizes of an attention layer: each role (batch, length, model size, heads) has a name, and what is known of it.

A size given as a name is that name; one given as a number keeps the customary name and is bound to the number, so that
every trace is symbolic inside and axes of equal size stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from ..language.errors import ShapeError
from ..language.index_arithmetic import exact_quotient
from ..language.sizes import Size, SizeLike, same_size, size
from .axes import Atom, Axis
from .trace import Condition

_LENGTH_NAMES = {"B", "b", "bs", "batch", "batch_size"}


@dataclass
class Roles:
    """Names and bindings, filled role by role in the order of the operation."""

    bindings: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    definitions: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def name(self, *candidates: str) -> str:
        """The first customary name that is free."""
        taken = {*self.names, *(s.name for v in self.bindings.values() for s in v.free_symbols)}
        found = next((c for c in candidates if c not in taken), candidates[0] + "_1")
        self.names.append(found)
        return found

    def axis(self, given: SizeLike, *candidates: str) -> Axis:
        """The axis of a role whose size is given."""
        value = size(given)
        if isinstance(value, Size):
            if value.name in self.names:
                raise ShapeError(f"two axes are named {value.name}; give each axis a name of its own, e.g. B,n,d_model")
            self.names.append(value.name)
            return Axis((Atom(value.name, value),))
        name = self.name(*candidates)
        self.bindings[Size(name)] = value
        return Axis((Atom(name, Size(name)),))

    def value(self, axis: Axis) -> sp.Expr:
        """What is known of a size: the number it is bound to, or itself."""
        return sp.expand(axis.size.xreplace(self.bindings))

    def factor(self, whole: Axis, part: Axis, operation: str, *candidates: str) -> Axis:
        """The axis with whole = part · (that axis): a number where both are, else with its condition.

        Raises ShapeError when the numbers do not divide, with the nearest that do.
        """
        a, b = self.value(whole), self.value(part)
        if a.is_Integer and b.is_Integer and int(a) % int(b):
            raise ShapeError(indivisible(operation, whole, part, int(a), int(b), candidates[0], self.bindings))
        quotient = exact_quotient(a, b)
        if isinstance(quotient, Size) and quotient.name not in self.names:
            self.names.append(quotient.name)
            return Axis((Atom(quotient.name, quotient),))
        name = self.name(*candidates)
        own = Axis((Atom(name, Size(name)),))
        if quotient is not None:
            self.bindings[Size(name)] = quotient
        self.conditions.append(Condition(Size(whole.name), Size(part.name) * Size(name), f"{part} must divide {whole}"))
        self.definitions[Size(name)] = Size(whole.name) / Size(part.name)
        return own


def indivisible(
    operation: str, whole: Axis, part: Axis, a: int, b: int, name: str, bindings: dict[sp.Expr, sp.Expr]
) -> str:
    """The message for a size that is no multiple: both numbers, the remainder, the bindings, and the nearest that
    would do.
    """
    below, above = a // b * b, (a // b + 1) * b
    divisors = [d for d in range(1, a + 1) if a % d == 0]
    near = sorted(sorted(divisors, key=lambda d: (abs(d - b), d))[:3])
    known = ", ".join(f"{k} = {v}" for k, v in bindings.items())
    multiples = " or ".join(str(m) for m in (below, above) if m)
    return (
        f"{operation}: {whole} = {a} is not a multiple of {part} = {b} ({a} = {b}·{a // b} + {a % b}), so {name} = "
        f"{whole}/{part} is "
        f"no integer; the condition {whole} = {part}·{name} fails; with {known}. "
        f"Near: {part} = {', '.join(map(str, near))} with {whole} = {a}, or {whole} = {multiples} with {part} = {b}"
    )


def same_axis(roles: Roles, given: SizeLike, axis: Axis, operation: str, what: str) -> Axis:
    """The axis of an earlier role, after checking that the size given again is the same."""
    value, known = size(given), roles.value(axis)
    if not same_size(value, known) and not same_size(value, axis.size):
        raise ShapeError(
            f"{operation}: {what}: {axis} = {known} against {value}; with "
            + (", ".join(f"{k} = {v}" for k, v in roles.bindings.items()) or "nothing bound")
            + f"; both must have the same {axis}"
        )
    return axis


def check_layout(shape: tuple[SizeLike, ...], length_first: bool) -> None:
    """Refuse an axis that is named like the batch in the place of the length, and the other way round."""
    names = [str(s).strip() for s in shape]
    batch = next((k for k, n in enumerate(names) if n in _LENGTH_NAMES), None)
    expected = 1 if length_first else 0
    if batch is not None and batch != expected:
        layout, order = (
            ("length-first", "length, batch, features") if length_first else ("batch-first", "batch, length, features")
        )
        raise ShapeError(
            f"input: axis {batch} is named {names[batch]}, a batch, but a {layout} layer reads ({order}): attention "
            "would run "
            f"over the batch, with the right shape. Give ({', '.join([names[1], names[0], names[2]])}), or "
            f"{'drop' if length_first else 'set'} length-first"
        )
