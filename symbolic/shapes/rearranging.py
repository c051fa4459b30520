"""Operations that move elements: split, merge, transpose, reshape, view, in whatever order.

Each has a proof of where elements go as index arithmetic (c = a·d_k + e), which the trace shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..language import rearrangement as moved
from ..language.arrays import Array, shape_text
from ..language.errors import ShapeError
from ..language.index_arithmetic import exact_quotient
from ..language.nodes import replace
from ..language.sizes import SizeLike, same_size, size
from .axes import MIXED, Atom, Axis, agree, axis, difference, joined, one, read_axes, split_atom
from .broadcasting import brackets
from .letters import einsum_text, unique
from .named import NamedArray, as_named, find_axis, kept
from .pointwise import operand
from .reshapes import WrongValueError, align, check_claim, meant_order
from .trace import Line, bindings_text, record, recorder, titled

_LETTERS = "aefg"


class NeedsCondition(Exception):
    """A size was divided by another that need not divide it: dividend = divisor · (a new size) must be assumed."""

    def __init__(self, dividend: sp.Expr, divisor: sp.Expr) -> None:
        super().__init__(f"{dividend} // {divisor}")
        self.dividend, self.divisor = dividend, divisor


def _bindings() -> dict[sp.Expr, sp.Expr]:
    to = recorder()
    return dict(to.bindings) if to else {}


def _arithmetic(whole: Axis, parts: Sequence[Axis | Atom]) -> str:
    """The index arithmetic of a product: ``index of (h d_k) = a·d_k + e, 0 ≤ a < h, 0 ≤ e < d_k``."""
    letters = _LETTERS[: len(parts)] if len(parts) <= len(_LETTERS) else [f"i{k}" for k in range(len(parts))]
    terms = []
    for k, letter in enumerate(letters):
        strides = [str(p) for p in parts[k + 1 :]]
        terms.append("·".join([letter, *strides]))
    ranges = ", ".join(f"0 ≤ {letter} < {part}" for letter, part in zip(letters, parts, strict=True))
    return f"index of {whole} = {' + '.join(terms)}, {ranges}"


def split(x: Any, which: int | str, into: Sequence[Atom | str], name: str = "", why: str = "") -> NamedArray:
    """One axis as several: index c of the axis is a·d_k + e at place (a, e).

    Raises ShapeError when the sizes do not multiply to the size of the axis.
    """
    x = as_named(x)
    at = find_axis(x, which, "split")
    whole = x.axes[at]
    atoms = [a if isinstance(a, Atom) else axis(a).atoms[0] for a in into]
    count = sp.Mul(*(a.size for a in atoms))
    if not same_size(count, whole.size):
        raise ShapeError(
            f"split: the axis {whole} of {x.label} {brackets(x.axes)} has size {whole.size}, the parts "
            f"({' '.join(map(str, atoms))}) have {sp.expand(count)}; needed: {whole.size} = {'·'.join(map(str, atoms))}"
            f"{bindings_text()}"
        )
    if len(whole.atoms) == 1:
        atoms = list(split_atom(whole.atoms[0], atoms))
    elif [a.name for a in whole.atoms] != [a.name for a in atoms]:
        raise ShapeError(
            f"split: the axis {whole} of {x.label} cannot be split into ({' '.join(map(str, atoms))}): it is the "
            "product of "
            f"{', '.join(map(str, whole.atoms))} in that order{bindings_text()}"
        )
    else:
        atoms = list(whole.atoms)
    axes = [*x.axes[:at], *(Axis((a,)) for a in atoms), *x.axes[at + 1 :]]
    label, formula = titled(name, f"split({x.label})")
    result = kept(x, moved.reshape(x.value, [a.size for a in axes]), axes, label)
    record(
        Line(
            "split",
            operand(result),
            (operand(x),),
            formula=formula,
            why=why or f"the axis {whole} is seen as {' × '.join(map(str, atoms))}; no element moves",
            proof=_arithmetic(whole, atoms),
        )
    )
    return result


def merge(x: Any, which: Sequence[int | str], name: str = "", why: str = "") -> NamedArray:
    """Neighbouring axes as one, in their order: place (a, e) becomes index a·d_k + e.

    Raises ShapeError, with the transpose that is missing, when the axes are not neighbours in that order.
    """
    x = as_named(x)
    at = [find_axis(x, w, "merge") for w in which]
    if at != list(range(at[0], at[0] + len(at))):
        chosen = " ".join(x.axes[a].name for a in at)
        rest = [n for n in range(x.ndim) if n not in at]
        start = sum(n < at[-1] for n in rest)
        order = [*rest[:start], *at, *rest[start:]]
        atoms = [a for k in order for a in x.axes[k].atoms]
        given = [a for k in x.axes for a in k.atoms]
        axes = (
            *(x.axes[k] for k in order[:start]),
            Axis(tuple(a for k in at for a in x.axes[k].atoms)),
            *(x.axes[k] for k in order[start + len(at) :]),
        )
        from .reshapes import compare_orders

        mismatch = compare_orders(given, atoms, axes)
        told = (
            f" A reshape without it has the right shape and the wrong value: {mismatch.example(_bindings()).sentence()}"
            if mismatch
            else ""
        )
        raise WrongValueError(
            f"merge: ({chosen}) are not neighbours in that order in {x.label} {brackets(x.axes)}; transpose by "
            f"{tuple(order)} first{bindings_text()}.{told}"
        )
    parts = [x.axes[a] for a in at]
    whole = joined([a for p in parts for a in p.atoms])
    axes = (*x.axes[: at[0]], whole, *x.axes[at[-1] + 1 :])
    label, formula = titled(name, f"merge({x.label})")
    result = kept(x, moved.reshape(x.value, [a.size for a in axes]), axes, label)
    record(
        Line(
            "merge",
            operand(result),
            (operand(x),),
            formula=formula,
            why=why or f"({' '.join(map(str, parts))}) are neighbours in this order, so no element moves",
            proof=_arithmetic(whole, parts),
        )
    )
    return result


def transpose(x: Any, order: Sequence[int | str], name: str = "", why: str = "") -> NamedArray:
    """The axes in another order, given by numbers or names."""
    x = as_named(x)
    at = [find_axis(x, w, "transpose") for w in order]
    if sorted(at) != list(range(x.ndim)):
        raise ShapeError(
            f"transpose: {x.label} {brackets(x.axes)} needs each of its {x.ndim} axes once, got "
            f"{tuple(order)}{bindings_text()}"
        )
    label, formula = titled(name, f"transpose({x.label}, {tuple(at)})")
    result = kept(x, x.value.transpose(at), [x.axes[a] for a in at], label)
    names = unique([a.name for a in x.axes])
    record(
        Line(
            "transpose",
            operand(result),
            (operand(x),),
            einsum_text([names], [names[a] for a in at]),
            formula,
            why=why or "the axes change places; each element keeps its indices",
        )
    )
    return result


def reshape(x: Any, shape: str | Sequence[Any], name: str = "", why: str = "") -> NamedArray:
    """NumPy's reshape: elements keep their row-major position.

    With sizes, the axes are found by index arithmetic, and an axis that would run across their order is reported in the
    trace as a wrong value. With a pattern ("B n (h d_k)") the claim is proved, or refuted by `WrongValueError`.
    """
    x = as_named(x)
    if isinstance(shape, str):
        claimed = read_axes(shape, {a.name: a.size for k in x.axes for a in k.atoms})
        mismatch = check_claim(x.axes, claimed)
        if mismatch is not None:
            raise WrongValueError(f"reshape: {x.label} '{x.pattern}' to '{shape}': {mismatch.sentence(_bindings())}")
        axes = claimed
        warnings: tuple[str, ...] = ()
        sizes = [a.size for a in claimed]
    else:
        sizes = _sizes(x, shape)
        axes, warnings = _found(x, sizes)
    value = moved.reshape(x.value, sizes)
    label, formula = titled(name, f"reshape({x.label})")
    result = kept(x, value, axes, label)
    proof = "; ".join(
        _arithmetic(a, a.atoms) for a in result.axes if len(a.atoms) > 1 and not a.is_mixed and a not in x.axes
    )
    record(
        Line(
            "reshape",
            operand(result),
            (operand(x),),
            formula=formula,
            warnings=warnings,
            proof=proof,
            why=why
            or f"row-major positions are kept: {x.pattern} → {result.pattern}"
            + (
                f"; {MIXED} marks an axis that runs across the order of ({' '.join(a.name for a in x.axes)})"
                if warnings
                else ""
            ),
        )
    )
    return result


def _sizes(x: NamedArray, shape: Sequence[Any]) -> list[sp.Expr]:
    """The sizes of a reshape: quotients written with // resolved, -1 filled in, the number of elements checked."""
    sizes = [_exact(n) for n in shape]
    total = sp.expand(sp.Mul(*x.shape))
    unknown = [k for k, n in enumerate(sizes) if n == -1]
    known = sp.expand(sp.Mul(*(n for n in sizes if n != -1)))
    if len(unknown) > 1:
        raise ShapeError(f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: only one size may be -1")
    if unknown:
        rest = exact_quotient(total, known)
        if rest is None:
            raise ShapeError(
                f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: its {total} elements are no multiple "
                f"of {known} "
                f"for every size, so that -1 has no value{_luck(total, known)}{bindings_text()}; use the sizes of the "
                "array itself"
            )
        sizes[unknown[0]] = rest
    elif not same_size(total, known):
        raise ShapeError(
            f"reshape: {x.label} {brackets(x.axes)} to {shape_text(sizes)}: {total} elements against {known}"
            f"{_remainder(x, sizes)}{bindings_text()}"
        )
    return sizes


def _remainder(x: NamedArray, sizes: Sequence[sp.Expr]) -> str:
    """Which axis is no multiple of which size, where one axis is left after all that agree."""
    left, new = list(x.axes), list(sizes)
    for a in x.axes:
        if a.size in new:
            left.remove(a)
            new.remove(a.size)
    if len(left) == 1 and len(new) == 2 and all(n.is_Integer for n in (left[0].size, *new)):
        whole, part = int(left[0].size), int(new[0])
        if whole % part:
            return (
                f"; {left[0]} = {whole} is not a multiple of {part} ({whole} = {part}·{whole // part} + {whole % part})"
            )
    return f"; needed: {' · '.join(map(str, left))} = {' · '.join(map(str, new))}" if left and new else ""


def _luck(total: sp.Expr, known: sp.Expr) -> str:
    """Whether the bound sizes would let it pass."""
    a, b = (v.xreplace(_bindings()) for v in (total, known))
    if a.is_Integer and b.is_Integer and total != a and int(a) % int(b) == 0:
        return f" (at these sizes {a} = {b}·{int(a) // int(b)}, which fits by luck)"
    return ""


def _exact(n: Any) -> sp.Expr:
    """A size with every floor(p/q) as the exact quotient; asks for the condition p = q·s where there is none."""
    value = size(n) if isinstance(n, str) else sp.sympify(n)
    for floor in sorted(value.atoms(sp.floor), key=str):
        numerator, denominator = sp.fraction(sp.together(floor.args[0]))
        quotient = exact_quotient(numerator, denominator)
        if quotient is None:
            raise NeedsCondition(numerator, denominator)
        value = value.xreplace({floor: quotient})
    if (value.is_Rational and not value.is_Integer) or value.is_Float:
        raise ShapeError(
            f"reshape: the size {n} is not an integer; write // only where the division is exact{bindings_text()}"
        )
    return sp.expand(value)


def _found(x: NamedArray, sizes: Sequence[sp.Expr]) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
    """The axes that a reshape to sizes gives, and what is wrong with them."""
    atoms = [a for k in x.axes for a in k.atoms]
    axes = align(atoms, sizes)
    if axes is not None:
        return axes, ()
    names = tuple(a.name or str(a.size) for a in atoms if a.size != 1)
    mismatch = meant_order(atoms, sizes)
    kept = _leading(atoms, sizes)
    mixed = tuple(
        kept[k] if k < len(kept) else one() if n == 1 else Axis((Atom(f"{MIXED}{k}", n, mixed=names),))
        for k, n in enumerate(sizes)
    )
    what = f"reshape of {x.label} '{x.pattern}' to {shape_text(list(sizes))}: "
    if mismatch is not None:
        return mixed, (what + mismatch.sentence(_bindings()),)
    return mixed, (
        what + f"no axis of the result is a product of axes in their order ({' '.join(names)}): "
        "elements of several axes are mixed",
    )


def _leading(atoms: Sequence[Atom], sizes: Sequence[sp.Expr]) -> list[Axis]:
    """The axes in front that a reshape leaves whole although later ones are mixed."""
    rest, found = [a for a in atoms if a.size != 1], []
    for n in sizes:
        if n == 1:
            found.append(one())
        elif rest and same_size(rest[0].size, n):
            found.append(Axis((rest.pop(0),)))
        else:
            break
    return found


def view(x: Any, places: str, name: str = "", why: str = "") -> NamedArray:
    """New axes of size 1: ``view(mask, "B 1 1 S")`` is mask[:, None, None, :]."""
    x = as_named(x)
    wanted = read_axes(places, {a.name: a.size for k in x.axes for a in k.atoms})
    if [a.name for a in wanted if not a.is_one] != [a.name for a in x.axes if not a.is_one]:
        raise ShapeError(
            f"view: {x.label} {brackets(x.axes)} has not the axes of '{places}' in that order{bindings_text()}"
        )
    rest = iter([i for i, a in zip(x.indices, x.axes, strict=True) if not a.is_one])
    ones = {i: sp.S.Zero for i, a in zip(x.indices, x.axes, strict=True) if a.is_one}
    from ..language.indices import index

    value = Array([index("i", 1) if a.is_one else next(rest) for a in wanted], replace(x.body, ones))
    keys = ", ".join("None" if a.is_one else ":" for a in wanted)
    label, formula = titled(name, f"{x.label}[{keys}]")
    result = kept(x, value, wanted, label)
    record(
        Line(
            "view",
            operand(result),
            (operand(x),),
            formula=formula,
            why=why
            or "axes of size 1 are put in, so that the named axes meet their own kind when the array is stretched",
        )
    )
    return result


def broadcast_to(x: Any, places: str, sizes: dict[str, SizeLike] | None = None, name: str = "") -> NamedArray:
    """The array stretched to named axes: its own must be among them, in order, aligned from the right."""
    x = as_named(x)
    wanted = read_axes(places, {a.name: a.size for k in x.axes for a in k.atoms} | dict(sizes or {}))
    for mine, other in zip(reversed(x.axes), reversed(wanted), strict=False):
        if not mine.is_one and not agree(mine, other):
            raise ShapeError(
                f"broadcast: {x.label} {brackets(x.axes)} does not stretch to {brackets(wanted)}: "
                f"{difference(mine, other)}"
                f"{bindings_text()}"
            )
    label, formula = titled(name, f"broadcast({x.label})")
    result = kept(x, moved.broadcast_to(x.value, [a.size for a in wanted]), wanted, label)
    record(
        Line(
            "broadcast",
            operand(result),
            (operand(x),),
            formula=formula,
            why="axes of size 1 and missing axes are repeated without a copy",
        )
    )
    return result
