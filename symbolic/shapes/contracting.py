"""Contractions: linear map, batched matrix product, and the general einsum over named axes.

Two axes are contracted when they are the same axis; that they have the same size is not enough. The number of
multiply-adds is the product of the sizes of all letters of the einsum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from ..language.arrays import Array, define
from ..language.errors import ShapeError
from ..language.index_arithmetic import quotient, remainder
from ..language.indices import Index, index
from ..language.nodes import IndexSum, replace
from .axes import Axis, agree, difference
from .broadcasting import brackets, broadcast
from .letters import einsum_text, unique
from .named import NamedArray, as_named, named
from .pointwise import operand
from .trace import Line, Operand, bindings_text, record, titled


def _sum_of_products(
    a: NamedArray, b: NamedArray, left: Sequence[str], right: Sequence[str], output: Sequence[str]
) -> Array:
    """Σ over the keys that the output lacks of a·b; equal keys are one index, an axis of size 1 against a longer one
    is stretched.
    """
    found: dict[str, Any] = {}
    for x, keys in ((a, left), (b, right)):
        for key, size in zip(keys, x.shape, strict=True):
            if key not in found or found[key].size == 1:
                found[key] = index(key.strip("'()") if key.isidentifier() else "i", size)
    bodies = [
        replace(
            x.body, {own: sp.S.Zero if own.size == 1 else found[key] for own, key in zip(x.indices, keys, strict=True)}
        )
        for x, keys in ((a, left), (b, right))
    ]
    body = bodies[0] * bodies[1]
    axes = {key: own for x, keys in ((a, left), (b, right)) for key, own in zip(keys, x.axes, strict=True)}
    for key, i in found.items():
        if key not in output and i.size != 1:
            body = _summed(body, i, axes[key])
    return Array([found[k] for k in output], body)


def _summed(body: sp.Expr, i: Index, over: Axis) -> sp.Expr:
    """The sum over an axis: over one index an atom, so that what a merge wrote with floor and mod is affine again."""
    atoms = [p for x in over.atoms for p in (x.parts or (x,))]
    if len(atoms) < 2:
        return IndexSum(body, i)
    letters_of = [index("a", x.size) for x in atoms]
    place: sp.Expr = sp.S.Zero
    for letter in letters_of:
        place = place * letter.size + letter
    body = settled(replace(body, {i: sp.expand(place)}))
    for letter in reversed(letters_of):
        body = IndexSum(body, letter)
    return body


def settled(body: sp.Expr) -> sp.Expr:
    """An expression with the floors and remainders in its indices worked out, as far as ranges allow."""
    while True:
        known = {f: _divided(f) for f in body.atoms(sp.floor, sp.Mod)}
        known = {f: value for f, value in known.items() if value != f}
        if not known:
            return body
        body = replace(body, known)


def _divided(f: sp.Expr) -> sp.Expr:
    value, by = sp.fraction(sp.together(f.args[0])) if isinstance(f, sp.floor) else f.args
    return quotient(value, by) if isinstance(f, sp.floor) else remainder(value, by)


def _count(axes: Sequence[Axis]) -> sp.Expr:
    return sp.expand(sp.Mul(*(a.size for a in axes)))


def linear(
    x: NamedArray, weight: str, out: Axis, name: str, bias: str = "", why: str = "", named_value: bool = True
) -> NamedArray:
    """x W + b along the last axis: W has the axes (last axis of x, out), b the axis out.

    >>> from .axes import axis
    >>> y = linear(named("x", "B n d_model"), "W", axis("d_ff"), "y", bias="b")
    >>> y.pattern
    'B n d_ff'
    """
    into = x.axes[-1]
    w = named(weight, [into, out])
    keys = [a.name for a in x.axes]
    value = _sum_of_products(x, w, keys, [keys[-1], "out"], [*keys[:-1], "out"])
    parameters = [Operand(weight, (into, out), True)]
    formula = f"{name} = {x.label} {weight}"
    count = _count([into, out])
    if bias:
        value = value + named(bias, [out]).value
        parameters.append(Operand(bias, (out,), True))
        formula += f" + {bias}"
        count += out.size
    result = NamedArray(define(name, value) if named_value else value, [*x.axes[:-1], out], name, summed=into.size)
    text = einsum_text(
        [keys, [keys[-1], f"{out.name}" if out.name != keys[-1] else out.name + "'"]],
        [*keys[:-1], out.name if out.name != keys[-1] else out.name + "'"],
    )
    record(
        Line(
            "linear map",
            operand(result),
            (operand(x), *parameters),
            text,
            formula,
            sp.expand(count),
            _count([*x.axes, out]),
            why or f"the axis {into} is mapped to {out}; every other axis is carried along",
        )
    )
    return result


def contract(
    a: Any,
    b: Any,
    over: Sequence[str],
    output: Sequence[str],
    name: str,
    operation: str = "contraction",
    formula: str = "",
    why: str = "",
    named_value: bool = True,
) -> NamedArray:
    """The einsum of two arrays by axis names: sum over the axes `over`, keep those of `output` in that order.

    >>> q, k = named("q", "B h n d_k"), named("k", "B h m d_k")
    >>> contract(q, k, ["d_k"], ["B", "h", "n", "m"], "S").pattern
    'B h n m'
    """
    a, b = as_named(a), as_named(b)
    left, right = [x.name for x in a.axes], [x.name for x in b.axes]
    _check_shared(operation, a, b, over)
    keys = dict((*zip(right, b.axes, strict=True), *zip(left, a.axes, strict=True)))
    missing = [n for n in (*output, *over) if n not in keys]
    if missing:
        raise ShapeError(
            f"{operation}: {a.label} {brackets(a.axes)} and {b.label} {brackets(b.axes)} have no axis "
            f"{', '.join(missing)}{bindings_text()}"
        )
    lost = [n for n in dict.fromkeys((*left, *right)) if n not in output and n not in over]
    if lost:
        raise ShapeError(f"{operation}: the axis {lost[0]} is neither kept nor summed over{bindings_text()}")
    return _recorded(operation, a, b, left, right, list(output), name, formula, why, named_value)


def _check_shared(operation: str, a: NamedArray, b: NamedArray, over: Sequence[str]) -> None:
    for n in over:
        mine = [x for x in a.axes if x.name == n]
        theirs = [x for x in b.axes if x.name == n]
        if not mine or not theirs:
            lacking = a if not mine else b
            raise ShapeError(
                f"{operation}: {lacking.label} {brackets(lacking.axes)} has no axis {n} to sum over{bindings_text()}"
            )
        if not agree(mine[0], theirs[0]):
            raise ShapeError(
                f"{operation}: {a.label} {brackets(a.axes)} and {b.label} {brackets(b.axes)} are summed over {n}: "
                f"{difference(mine[0], theirs[0])}{bindings_text()}"
            )


def _recorded(
    operation: str,
    a: NamedArray,
    b: NamedArray,
    left: Sequence[str],
    right: Sequence[str],
    output: Sequence[str],
    name: str,
    formula: str,
    why: str,
    named_value: bool,
) -> NamedArray:
    """The contraction over keys (one key, one letter), computed and recorded."""
    value = _sum_of_products(a, b, left, right, output)
    keys: dict[str, Axis] = {}
    for x, own in ((a, left), (b, right)):
        for key, one_axis in zip(own, x.axes, strict=True):
            if key not in keys or keys[key].is_one:
                keys[key] = one_axis
    summed = [k for k in keys if k not in output]
    size = _count([keys[k] for k in summed])
    label, own_formula = titled(name, f"{a.label} @ {b.label}")
    result = NamedArray(
        define(name, value) if named_value and name else value,
        [keys[k] for k in output],
        label,
        a.factor * b.factor,
        size,
    )
    over = ", ".join(keys[k].name for k in summed) or "nothing"
    record(
        Line(
            operation,
            operand(result),
            (operand(a), operand(b)),
            einsum_text([left, right], output),
            formula or own_formula,
            multiply_adds=_count(list(keys.values())),
            why=why or f"products summed over {over}",
        )
    )
    return result


def matmul(a: Any, b: Any, name: str = "", why: str = "") -> NamedArray:
    """NumPy's @: the last axis of the left against the last but one of the right, the others in front are carried
    along.
    """
    a, b = as_named(a), as_named(b)
    if not a.ndim or not b.ndim:
        raise ShapeError(
            f"matmul: {a.label} {brackets(a.axes)} @ {b.label} {brackets(b.axes)}: a scalar has no axis to sum over; "
            "use *"
        )
    inner_b = b.axes[-2 if b.ndim > 1 else -1]
    if not agree(a.axes[-1], inner_b):
        raise ShapeError(
            f"matmul: {a.label} {brackets(a.axes)} @ {b.label} {brackets(b.axes)} sums {a.axes[-1]} against {inner_b}: "
            f"{difference(a.axes[-1], inner_b)}{bindings_text()}{_transposed(a, b)}"
        )
    lead = broadcast("matmul", [_lead(a), _lead(b)])
    names = unique([x.name for x in lead])
    inner = "sum#"
    row = ["row#"] if a.ndim > 1 else []
    column = ["column#"] if b.ndim > 1 else []
    left = [*names[len(names) - max(a.ndim - 2, 0) :], *row, inner]
    right = [*names[len(names) - max(b.ndim - 2, 0) :], inner, *column]
    result_name = {
        "row#": a.axes[-2].name if row else "",
        "column#": b.axes[-1].name if column else "",
        inner: a.axes[-1].name,
    }
    shown = _distinct_keys(result_name, [*names, *row, *column])

    def rename(keys: Sequence[str]) -> list[str]:
        return [shown.get(k, k) for k in keys]

    kind = "batched matmul" if names and b.ndim > 2 else "linear map" if a.ndim > 1 else "contraction"
    return _recorded(kind, a, b, rename(left), rename(right), rename([*names, *row, *column]), name, "", why, False)


def _distinct_keys(wanted: dict[str, str], output: Sequence[str]) -> dict[str, str]:
    """Names for the keys of a product, each once: a second n is n'."""
    used = {k for k in output if k not in wanted}
    found = {}
    for key in ("row#", "column#", "sum#"):
        name = wanted[key]
        if not name:
            continue
        while name in used:
            name += "'"
        used.add(name)
        found[key] = name
    return found


def _lead(x: NamedArray) -> NamedArray:
    """The axes in front of the matrix as an array of their own, to be broadcast."""
    return NamedArray(Array(x.indices[:-2], sp.S.One), x.axes[:-2], x.label)


def _transposed(a: NamedArray, b: NamedArray) -> str:
    """The hint when the other axis of the right would fit."""
    fits = b.ndim > 1 and agree(a.axes[-1], b.axes[-1])
    return f". The last axis of {b.label} fits: transpose its last two axes" if fits else ""


def einsum(subscripts: str, *operands: Any) -> NamedArray:
    """NumPy's einsum with an explicit output, of one or two named arrays; a letter stands for one axis."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms, given = inputs.split(","), [as_named(o) for o in operands]
    if not arrow or len(terms) != len(given) or len(given) not in (1, 2):
        raise ShapeError(
            f"einsum {subscripts!r}: write an explicit output and one term for each of one or two operands"
        )
    bound: dict[str, tuple[Axis, NamedArray]] = {}
    for term, x in zip(terms, given, strict=True):
        if len(term) != x.ndim:
            raise ShapeError(
                f"einsum {subscripts!r}: {term!r} names {len(term)} axes of {x.label} "
                f"{brackets(x.axes)}{bindings_text()}"
            )
        for letter, own in zip(term, x.axes, strict=True):
            if letter in bound and not agree(bound[letter][0], own):
                other = bound[letter][1]
                raise ShapeError(
                    f"einsum {subscripts!r}: the letter {letter} is {bound[letter][0]} of {other.label} "
                    f"{brackets(other.axes)} "
                    f"and {own} of {x.label} {brackets(x.axes)}: {difference(bound[letter][0], own)}{bindings_text()}"
                )
            bound.setdefault(letter, (own, x))
    if len(given) == 1:
        given.append(NamedArray(Array((), sp.S.One), (), ""))
        terms.append("")
    value = _sum_of_products(given[0], given[1], list(terms[0]), list(terms[1]), list(output))
    summed = [c for c in bound if c not in output]
    size = _count([bound[c][0] for c in summed])
    label, formula = titled("", f"einsum({', '.join(x.label for x in given if x.label)})")
    result = NamedArray(value, [bound[c][0] for c in output], label, given[0].factor * given[1].factor, size)
    pure = not summed and not terms[1]
    record(
        Line(
            "transpose" if pure else "contraction",
            operand(result),
            tuple(operand(x) for x in given if x.label),
            subscripts.replace(" ", ""),
            formula,
            multiply_adds=sp.S.Zero if not terms[1] else _count([a for a, _ in bound.values()]),
            why=f"products summed over {', '.join(bound[c][0].name for c in summed)}"
            if summed
            else "no sum: axes are rearranged",
        )
    )
    return result


__all__ = ["contract", "einsum", "linear", "matmul"]
