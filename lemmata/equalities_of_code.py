"""Do two functions compute the same? A rewrite (a stable form, a fused form) is run against the original, read and
proved.

The order is that of `gradients_of_code`: run at drawn and special points (a difference refutes), read both on symbolic
arrays, prove on both paths; what agrees everywhere without a proof is supported.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from .gradients_of_code import GradientQuestion, Point, drawn_points, symbolic_arguments
from .symbolic.derivations.model import Counterexample, Evidence, Step, Verdict
from .symbolic.derivations.replay import judge
from .symbolic.language.arrays import Array, aligned, shape_text
from .symbolic.language.constants import ROUNDED
from .symbolic.language.errors import LemmataError
from .symbolic.language.indices import index
from .symbolic.language.sizes import size
from .symbolic.rendering.verdict import plain

_TOLERANCE = 1e-10
_NUDGE = 4e-16  # relative change of inputs, by which each function's own rounding is measured


def prove_equality(q: GradientQuestion, other: GradientQuestion, *, seed: int = 0, seconds: float = 10.0) -> Verdict:
    """The verdict on q.forward = other.forward at the arguments that `q` describes."""
    start = time.perf_counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found, points = _run(q, other.forward, seed, start + seconds)
        except Exception as error:  # the user's code failed on drawn inputs
            return Verdict("unsupported", reason=f"running the code failed: {type(error).__name__}: {error}",
                           seconds=time.perf_counter() - start)
    if found is not None:
        return Verdict("refuted", (Evidence("numpy", False, found.residual),), counterexample=found,
                       reason=found.residual,
                       seconds=time.perf_counter() - start)
    agreed = Evidence("numpy", points > 0, f"both functions agree at {points} points, seed {seed}",
                      time.perf_counter() - start)
    rounded: list[float] = []
    token = ROUNDED.set(rounded)
    try:
        verdict = _prove(q, other, seed, max(1.0, start + seconds - time.perf_counter()))
    except (LemmataError, RecursionError, ArithmeticError, TypeError, ValueError, KeyError, AttributeError) as error:
        verdict = Verdict("unsupported", reason=f"{type(error).__name__}: {error}")
    finally:
        ROUNDED.reset(token)
    if rounded and verdict.verdict == "proved":
        verdict = replace(verdict, notes=tuple(dict.fromkeys([*verdict.notes, "up to rounding of the constants"])))
    verdict = replace(verdict, evidence=(*verdict.evidence, agreed), seconds=time.perf_counter() - start)
    if verdict.verdict == "refuted":
        return verdict
    if not points:
        return replace(verdict, verdict="unsupported", reason=verdict.reason or "no point could be compared")
    return verdict if verdict.verdict == "proved" else replace(verdict, verdict="supported",
                                                               reason=verdict.reason or "not shown for all sizes")


def _prove(q: GradientQuestion, other: GradientQuestion, seed: int, seconds: float) -> Verdict:
    assumed: list[sp.Expr] = []
    arrays = symbolic_arguments(q)
    given: dict[str, Any] = {**arrays, **{n: size(n) for n in q.integers}}
    left, right = q.read_forward(given, assumed), other.read_forward(given, assumed)
    if left.ndim != right.ndim:
        raise LemmataError(f"the functions return shapes {shape_text(left.shape)} and {shape_text(right.shape)}")
    out = tuple(index("i", n) for n in left.shape)
    hypotheses = list(q.hypotheses(arrays)) if q.hypotheses is not None else []
    statement = Step(aligned(left, out), aligned(right, out), "statement", "the statement", "state")
    verdict = judge([statement], out, hypotheses, seed=seed, seconds=seconds, needs=(left.divisors, right.divisors))
    if verdict.verdict == "refuted":
        return _confirmed(verdict, q, other)
    if verdict.verdict != "proved":
        return verdict
    least = {s: q.sizes.get(s.name, (1, 4))[0] for form in assumed for s in form.free_symbols}
    beyond = tuple(f"{f} ≥ 0" for f in dict.fromkeys(assumed)
                   if not (f.xreplace(least) >= 0 and all(f.diff(s).is_nonnegative for s in f.free_symbols)))
    return replace(verdict, conditions=(*verdict.conditions, *beyond))


def _confirmed(verdict: Verdict, q: GradientQuestion, other: GradientQuestion) -> Verdict:
    """A difference between the formulas counts where the functions themselves show it, at allowed inputs."""
    c = verdict.counterexample
    if c is not None and all(low <= c.sizes.get(n, low) <= high for n, (low, high) in q.sizes.items()):
        try:
            inputs = {n: np.asarray(v, dtype=float) for n, v in c.inputs.items() if n in q.shapes}
            given = {n: v if v.ndim else float(v) for n, v in inputs.items()} | {n: c.sizes[n] for n in q.integers}
            if q.avoid is None and q.where is None:
                found = _compared(q, other.forward, Point(c.sizes, given, None))
                if found is not None:
                    return replace(verdict, counterexample=found, reason=found.residual)
        except (TypeError, ValueError, KeyError):
            pass
    return replace(verdict, verdict="supported", counterexample=None,
                   reason="the formulas differ on the second path, but running the functions shows no difference")


# ---------------------------------------------------------------------- running both
def _run(q: GradientQuestion, other: Callable[..., Any], seed: int, deadline: float) -> tuple[Counterexample | None,
                                                                                              int]:
    points = 0
    for point in drawn_points(q, seed):
        if time.perf_counter() > deadline - 0.3 and points:
            break
        found = _compared(q, other, point)
        if found is not None:
            return found, points
        points += 1
    return None, points


def _compared(q: GradientQuestion, other: Callable[..., Any], point: Point) -> Counterexample | None:
    """The place where the functions differ at one point by more than their own rounding, if there is one."""
    left, right = (_value(f, point.arguments) for f in (q.forward, other))
    if left.shape != right.shape:
        return _different(point, (), f"an array of shape {left.shape}", f"an array of shape {right.shape}",
                          "the functions return different shapes")
    room = _TOLERANCE * max(1.0, float(np.max(np.abs(left[np.isfinite(left)]), initial=0.0))) + 100 * (
        _rounding(q.forward, left, point) + _rounding(other, right, point))
    apart = ~((np.isnan(left) & np.isnan(right)) | (left == right) | (np.abs(left - right) <= room))
    if not np.any(apart):
        return None
    at = tuple(int(i) for i in np.argwhere(apart)[0])
    where = f", {point.special}" if point.special else ""
    return _different(point, at, f"{left[at]:.12g}", f"{right[at]:.12g}",
                      f"the functions differ by {right[at] - left[at]:.3g}{where}")


def _value(function: Callable[..., Any], arguments: Mapping[str, Any]) -> np.ndarray:
    try:
        return np.asarray(function(**arguments), dtype=float)
    except (ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
        return np.asarray(np.nan)


def _rounding(function: Callable[..., Any], value: np.ndarray, point: Point) -> np.ndarray | float:
    """How far the value moves when the inputs move by a few units in the last place."""
    rng = np.random.default_rng(1)
    moved = {n: np.asarray(v * (1 + _NUDGE * rng.choice([-1, 1], np.shape(v)))) if np.asarray(v).dtype.kind == "f"
             else v
             for n, v in point.arguments.items()}
    again = _value(function,
                   {n: v if np.ndim(v) or not isinstance(v, np.ndarray) else float(v) for n, v in moved.items()})
    return np.nan_to_num(np.abs(again - value), nan=0.0, posinf=0.0) if again.shape == value.shape else 0.0


def _different(point: Point, at: tuple[int, ...], left: str, right: str, what: str) -> Counterexample:
    return Counterexample(point.sizes, {n: plain(v) for n, v in point.arguments.items()}, at, left, right, what)


def read_value(q: GradientQuestion) -> Array:
    """What a question's forward pass computes, as an index expression."""
    return q.read_forward({**symbolic_arguments(q), **{n: size(n) for n in q.integers}}, [])
