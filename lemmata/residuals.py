"""What is wrong with a refuted gradient, in words: a factor, a sign, a transposition, a sum that was left out.

The claimed gradient is compared with differences of the forward pass as a whole array, at sizes that differ from each
other, so that a factor N is told from a factor K. What is said holds for every entry there; otherwise nothing is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .gradients_of_code import GradientQuestion, Point, drawn_points
from .numeric.differences import difference_jacobian

_TOLERANCE = 1e-6
_LARGEST = 200  # entries that are differenced
_LOOKED_AT = 4  # points; two have to say the same
_SIZES = (3, 5, 2, 4, 7, 6)


def explain(q: GradientQuestion, *, seed: int = 0) -> str:
    """A sentence about the difference between a wrong gradient and the derivative, or an empty text.

    `q` is a question that was refuted.
    """
    found: list[str] = []
    with np.errstate(all="ignore"):
        for point in itertools.islice(_points(q, seed), _LOOKED_AT):
            try:
                truth, claimed = _derivative(q, point), _claimed(q, point)
            except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                continue
            if truth is None or not np.all(np.isfinite(truth)) or not np.any(np.abs(truth) > _TOLERANCE):
                continue
            if _close(claimed, truth):
                continue
            if claimed.shape != truth.shape:
                return _shape_said(q, truth, claimed, point)
            said = _said(q, truth, claimed, point)
            # A ratio may look like a factor by luck, at one place; what is said holds at two.
            if said in found:
                return said
            found += [said] * bool(said)
    return ""


def _points(q: GradientQuestion, seed: int) -> Iterator[Point]:
    """Points at sizes that differ from each other, each time other sizes; then as they are drawn."""
    names = sorted(next((p.sizes for p in drawn_points(q, seed)), {}))
    free = [n for n in names if n not in q.sizes]
    for turn in range(_LOOKED_AT - 1 if free else 0):
        values = itertools.islice(itertools.cycle((*_SIZES[turn:], *_SIZES[:turn])), len(free))
        # A fixed range would be read as a number by the proof; here only points are drawn.
        fixed = replace(q, sizes={**q.sizes, **{n: (v, v) for n, v in zip(free, values, strict=True)}})
        yield from itertools.islice(drawn_points(fixed, seed + turn), 1)
    yield from (p for p in drawn_points(q, seed) if not p.special)


def _claimed(q: GradientQuestion, point: Point) -> np.ndarray:
    given = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in point.arguments.items()}
    if q.cotangent is not None:
        given[q.cotangent[0]] = point.cotangent
    return np.asarray(q.backward(given), dtype=float)


def _derivative(q: GradientQuestion, point: Point) -> np.ndarray | None:
    x = np.asarray(point.arguments[q.variable], dtype=float)
    if x.size > _LARGEST:
        return None

    def value(v: np.ndarray) -> Any:
        out = np.asarray(q.forward(**{**point.arguments, q.variable: float(v) if v.ndim == 0 else v}), dtype=float)
        return np.sum(out * point.cotangent) if point.cotangent is not None else out

    return np.asarray(difference_jacobian(value, x))


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    scale = max(float(np.max(np.abs(b), initial=0.0)), 1e-9)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= _TOLERANCE * scale))


# ---------------------------------------------------------------------- same shape
def _said(q: GradientQuestion, truth: np.ndarray, claimed: np.ndarray, point: Point) -> str:
    if not np.all(np.isfinite(claimed)):
        return "the claim is not finite"
    if not np.any(claimed):
        return "the claim is 0"
    chosen = np.abs(truth) > 1e-3 * np.max(np.abs(truth))
    ratio = float(np.median(claimed[chosen] / truth[chosen]))
    if _close(claimed, ratio * truth):
        return _factor(ratio, point.sizes)
    if truth.ndim == 2 and truth.shape[0] == truth.shape[1] and _close(claimed, truth.T):
        return "the claim is the transpose of the derivative"
    wrong = np.abs(claimed - truth) > _TOLERANCE * np.max(np.abs(truth))
    lacking = truth - claimed
    for axis in range(truth.ndim):
        if truth.shape[axis] > 1 and _close(lacking,
                                            np.broadcast_to(lacking.mean(axis=axis, keepdims=True), lacking.shape)):
            return (f"the claim differs by a term that is the same all along {_axis_text(q, axis)}: "
                    "a sum or a mean over it is missing, or too much")
    return _where(wrong)


def _where(wrong: np.ndarray) -> str:
    """Where the wrong entries lie, if that is one place of an axis, or a triangle."""
    places = np.argwhere(wrong)
    for axis in range(wrong.ndim):
        values = set(places[:, axis].tolist())
        if len(values) == 1 and wrong.shape[axis] > 1:
            return f"only entries at index {values.pop()} of axis {axis} are wrong"
    if wrong.ndim >= 2:
        i, j = places[:, -2], places[:, -1]
        for what, holds in (("above", i < j), ("below", i > j), ("on", i == j)):
            if np.all(holds):
                return f"only entries {what} the diagonal are wrong"
    return ""


def _factor(ratio: float, sizes: Mapping[str, int]) -> str:
    """A constant ratio claimed/derivative in words.

    >>> _factor(5.0, {"N": 5, "K": 3}), _factor(-1.0, {}), _factor(0.5, {"N": 5})
    ('the claim lacks the factor 1/N', 'the claim has the opposite sign', 'the claim lacks the factor 2')
    """
    if abs(ratio + 1) < _TOLERANCE:
        return "the claim has the opposite sign"
    sign = "-" if ratio < 0 else ""
    missing = 1 / abs(ratio)
    known = [(n, v) for n, v in sizes.items() if v > 1]
    for number in (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(4), Fraction(1, 4), Fraction(3), Fraction(1, 3)):
        for count in range(min(len(known), 3) + 1):
            for chosen in itertools.combinations(known, count):
                for powers in itertools.product((1, -1), repeat=count):
                    value = float(number) * float(np.prod([float(v) ** p
                                                           for (_, v), p in zip(chosen, powers, strict=True)]))
                    if (number != 1 or count) and abs(value - missing) <= _TOLERANCE * missing:
                        return f"the claim lacks the factor {sign}{_product(number, [n for n, _ in chosen], powers)}"
    return f"the claim is {ratio:.9g} times the derivative, at every entry"


def _product(number: Fraction, names: Sequence[str], powers: Sequence[int]) -> str:
    over = [str(number.numerator)] * (number.numerator != 1) + [n for n, p in zip(names, powers, strict=True) if p > 0]
    under = [str(number.denominator)] * (number.denominator != 1) + [n for n, p in zip(names, powers, strict=True)
                                                                     if p < 0]
    top = "·".join(over) or "1"
    if not under:
        return top
    return f"{top}/{under[0]}" if len(under) == 1 else f"{top}/({'·'.join(under)})"


# ---------------------------------------------------------------------- another shape
def _shape_said(q: GradientQuestion, truth: np.ndarray, claimed: np.ndarray, point: Point) -> str:
    """What turns a gradient of the wrong shape into the right one."""
    declared = "(" + ", ".join(q.shapes[q.variable]) + ")"
    if claimed.size == truth.size and _close(claimed.reshape(truth.shape), truth):
        return f"the values are right, the shape is not: {claimed.shape} for {declared}"
    if claimed.ndim > truth.ndim:
        for count in range(1, claimed.ndim + 1):
            for axes in itertools.combinations(range(claimed.ndim), count):
                if _close(claimed.sum(axis=axes), truth):
                    names = [next((n for n, v in point.sizes.items() if v == claimed.shape[a]), str(claimed.shape[a]))
                             for a in axes]
                    many = "axes" if count > 1 else "axis"
                    return (f"the claim lacks the sum over the {many} {', '.join(names)} along which {q.variable} was "
                            f"broadcast (sum over axis {axes if count > 1 else axes[0]} gives the derivative, of shape "
                            f"{declared})")
    if claimed.ndim == 2 and _close(claimed.T, truth):
        return "the claim is the transpose of the derivative"
    return ""


def _axis_text(q: GradientQuestion, axis: int) -> str:
    return f"axis {axis} (of size {q.shapes[q.variable][axis]})"
