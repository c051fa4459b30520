"""Where the pillars meet: a derivation against hand-written NumPy, against finite differences, and against automatic
differentiation where JAX or PyTorch is installed.

Everything is drawn from a seed that is printed with the evidence, at sizes that are different primes. The symbolic side
enters only as the NumPy source generated from it; the numeric side only as functions of the numeric pillar.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from .autodiff_evidence import HoleMethod, LeftSide, derivative_evidence, installed
from .numeric.comparison import compare
from .numeric.differences import NotFiniteError, difference_hessian, difference_jacobian, step_for
from .numeric.sampling import extreme_values
from .symbolic.codegen import compile_numpy
from .symbolic.derivations.model import Derivation, Evidence, Verdict, not_run
from .symbolic.derivations.replay import replay
from .symbolic.derivations.system import SystemCheck
from .symbolic.derivations.theorem import NumericCheck, Theorem
from .symbolic.language.errors import LemmataError
from .symbolic.language.indices import Index
from .symbolic.language.nodes import Binder, DefinedTensor, Element, PartialDerivative, Tensor, free_indices
from .system_verification import system_evidence
from .witness import (
    DRAWS,
    Inputs,
    NotDrawn,
    arguments,
    call,
    compiled_arguments,
    draw_inputs,
    hand_written,
    numeric_function,
    sizes_text,
)

RTOL_VALUES, ATOL_VALUES = 1e-9, 1e-11
RTOL_DIFFERENCES, ATOL_DIFFERENCES = 1e-6, 1e-8
HESSIAN_STEP = 0.02
_FINER = 0.25  # of the step, to see whether differences can be relied on

def verify_theorem(theorem: Theorem, *, seed: int = 0, steps: bool = True) -> Verdict:
    """The verdict on a theorem with all its evidence: both paths of the proof, then NumPy and differences.

    A proof whose numbers disagree is not called proved: the verdict becomes "refuted", with the reason.
    """
    return verify_derivation(theorem.derivation(), theorem.claim().numpy, seed=seed, steps=steps)


def verify_derivation(d: Derivation, check: NumericCheck | SystemCheck | None = None, *, seed: int = 0,
                      steps: bool = True) -> Verdict:
    """The verdict on a derivation, with numeric evidence added to that of the replay."""
    start = time.perf_counter()
    verdict = replay(d, steps=steps, seed=seed)
    if verdict.verdict not in ("proved", "supported"):
        return verdict
    numbers = numeric_evidence(d, check, seed=seed)
    failed = [e for e in numbers if e.passed is False]
    return replace(verdict, verdict="refuted" if failed else verdict.verdict, evidence=(*verdict.evidence, *numbers),
                   reason=f"{failed[0].kind}: {failed[0].detail}" if failed else verdict.reason,
                   seconds=time.perf_counter() - start)


def numeric_evidence(d: Derivation, check: NumericCheck | SystemCheck | None = None, *,
                     seed: int = 0) -> tuple[Evidence, ...]:
    """Evidence of kind "numpy" and "differences" for a derivation, and "jax" and "torch" where these are installed."""
    try:
        return _numeric_evidence(d, check, seed)
    except (LemmataError, NotFiniteError, OverflowError) as error:
        if check is not None:
            raise
        what = "" if isinstance(error, LemmataError) else "a value is outside of float64: "
        return (not_run("numpy", f"{what}{error}"),)


def _numeric_evidence(d: Derivation, check: NumericCheck | SystemCheck | None, seed: int) -> tuple[Evidence, ...]:
    if d.parts:
        return system_evidence(d, check if isinstance(check, SystemCheck) else None, seed=seed)
    assert not isinstance(check, SystemCheck), f"{d.name}: a SystemCheck belongs to a system"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            points = [draw_inputs(d, seed=seed, number=n) for n in range(DRAWS)]
        except NotDrawn as error:
            return (not_run("numpy", error) if check is None else Evidence("numpy", False, str(error)),)
        try:
            right = compile_numpy("right", d.right, d.indices, compiled_arguments(d))
        except LemmataError as error:
            return (not_run("numpy", error) if check is None else Evidence("numpy", False, str(error)),)
        evidence = [_values(d, check, points, right, seed)]
        if check is not None and check.reference is not None and arguments(d):  # what has no arrays has no extremes
            evidence.append(_extremes(d, check, right))
        if d.left.has(PartialDerivative):
            evidence.append(_differences(d, check, points, right, seed))
            left = partial(_left_with_holes, d)
            evidence += [derivative_evidence(p, d, left, *points[0], right, seed) for p in installed()]
        return tuple(evidence)


# ---------------------------------------------------------------------- values
def _values(d: Derivation, check: NumericCheck | None, points: Sequence[tuple[Inputs, dict[str, int]]],
            right: Callable[..., Any],
            seed: int) -> Evidence:
    """Generated NumPy of the right side against the hand-written reference, or against generated NumPy of the left
    side.
    """
    began = time.perf_counter()
    if check is not None and check.reference is not None:
        what = f"hand-written numeric.{check.reference}"
        other: Callable[[Inputs], np.ndarray] = hand_written(d, check.reference, check.arguments, check.options)
    elif not d.left.has(PartialDerivative):
        left = compile_numpy("left", d.left, d.indices, compiled_arguments(d))
        what = "generated NumPy of the left side"
        other = lambda x: call(left, d, x)  # noqa: E731
    else:
        for inputs, sizes in points:
            value = call(right, d, inputs)
            if np.all(np.isfinite(value)):
                continue
            if check is None and not _left_is_finite(d, inputs, value.shape):
                return not_run("numpy", f"neither side has a finite value in float64 at {sizes_text(sizes)}",
                               time.perf_counter() - began)
            return Evidence("numpy", False, "the generated NumPy gives values that are not finite",
                            time.perf_counter() - began)
        return Evidence("numpy", True, f"generated NumPy runs and is finite at {len(points)} draws, seed {seed}",
                        time.perf_counter() - began)
    worst = 0.0
    for inputs, sizes in points:
        expected, actual = other(inputs), call(right, d, inputs)
        if expected.shape != actual.shape:
            return Evidence("numpy", False, f"{what} has shape {expected.shape}, the generated NumPy {actual.shape}",
                            time.perf_counter() - began)
        undefined = ~np.isfinite(expected) & ~np.isfinite(actual)
        if np.all(undefined):
            return not_run("numpy", f"neither side has a finite value at {sizes_text(sizes)}",
                           time.perf_counter() - began)
        result = compare(actual[~undefined], expected[~undefined], rtol=RTOL_VALUES, atol=ATOL_VALUES)
        if not result:
            return Evidence("numpy", False, f"against {what} at sizes {sizes_text(sizes)}, seed {seed}: {result}",
                            time.perf_counter() - began)
        worst = max(worst, result.absolute_error)
    return Evidence("numpy", True, f"generated NumPy agrees with {what} at {len(points)} draws "
                    f"({'; '.join(sizes_text(s) for _, s in points)}), seed {seed}, largest error {worst:.1e}",
                    time.perf_counter() - began)


def _extremes(d: Derivation, check: NumericCheck, right: Callable[..., Any]) -> Evidence:
    """Generated against hand-written NumPy at the edges of each array's domain."""
    began = time.perf_counter()
    inputs, sizes = draw_inputs(d, seed=0, number=0)
    written = hand_written(d, str(check.reference), check.arguments, check.options)
    tried = 0
    for t in arguments(d):
        if any(h.left.has(t) for h in d.hypotheses):
            continue
        for name, value in extreme_values(t.domain.name, inputs[t.name].shape, sizes).items():
            point = {**inputs, t.name: value}
            try:
                expected = written(point)
            except (ValueError, ArithmeticError):
                continue  # the reference refuses this input
            if not np.all(np.isfinite(expected)):
                continue
            actual = call(right, d, point)
            if actual.shape != expected.shape:
                return Evidence("extreme", False, f"numeric.{check.reference} has shape {expected.shape}, the "
                                f"generated NumPy {actual.shape}", time.perf_counter() - began)
            result = compare(actual, expected, rtol=1e-7, atol=1e-9)
            tried += 1
            if not result:
                return Evidence("extreme", False, f"{t.name} at extreme values ({name}): {result}",
                                time.perf_counter() - began)
    if not tried:
        return not_run("extreme", f"numeric.{check.reference} has no finite value at extreme inputs",
                       time.perf_counter() - began)
    return Evidence("extreme", True, f"generated and hand-written NumPy agree at {tried} extreme inputs",
                    time.perf_counter() - began)


# ---------------------------------------------------------------------- differences
def _differences(d: Derivation, check: NumericCheck | None, points: Sequence[tuple[Inputs, dict[str, int]]],
                 right: Callable[..., Any],
                 seed: int) -> Evidence:
    """The left side, its derivatives taken by Richardson differences, against the generated NumPy of the right side."""
    began = time.perf_counter()
    worst = 0.0
    try:
        what, left = _left_by_differences(d, check)
    except NotDrawn as error:
        return not_run("differences", error, time.perf_counter() - began)
    second = 100 if d.left.count(PartialDerivative) > 1 else 1
    for inputs, sizes in points:
        actual = call(right, d, inputs)
        try:
            difference = left(inputs, actual.shape)
        except NotFiniteError:
            if check is not None:
                raise
            return not_run("differences", f"{what} is not finite in float64 near the inputs drawn at "
                           f"{sizes_text(sizes)}", time.perf_counter() - began)
        if difference is None:
            return Evidence("differences", False, f"{what} does not fit the right side of shape {actual.shape}",
                            time.perf_counter() - began)
        result = compare(actual, difference, rtol=RTOL_DIFFERENCES * second, atol=ATOL_DIFFERENCES * second)
        if not result and check is None:
            # A primal that anyone may write can be too steep for the step. Whether differences can be relied on is
            # asked of differences with a smaller step, not of the derivative that they are to judge.
            finer = _left_with_holes(d, partial(_by_differences, scale=_FINER))(inputs, actual.shape)
            rtol, atol = RTOL_DIFFERENCES * second, ATOL_DIFFERENCES * second
            if finer is None or not compare(finer, difference, rtol=rtol, atol=atol):
                return not_run("differences", f"{what} is too steep at {sizes_text(sizes)}: differences depend on "
                               "their step", time.perf_counter() - began)
        if not result:
            return Evidence("differences", False, f"of {what} at sizes {sizes_text(sizes)}, seed {seed}: {result}",
                            time.perf_counter() - began)
        worst = max(worst, result.absolute_error)
    return Evidence("differences", True, f"Richardson differences of {what} agree at {len(points)} draws, seed {seed}, "
                    f"largest error {worst:.1e}", time.perf_counter() - began)


def _left_is_finite(d: Derivation, inputs: Inputs, shape: tuple[int, ...]) -> bool:
    """Whether the left side has a finite value there by differences; where none are taken, it is expected to."""
    try:
        found = _left_by_differences(d, None)[1](inputs, shape)
    except NotDrawn:
        return True
    except (NotFiniteError, OverflowError):
        return False
    return found is None or bool(np.all(np.isfinite(found)))


def _left_by_differences(d: Derivation, check: NumericCheck | None) -> tuple[str, LeftSide]:
    """How the left side is computed: from the hand-written primal where the theorem names one, else from generated
    primals.
    """
    if check is not None and check.primal is not None:
        derivatives = [n for n in sp.preorder_traversal(d.left) if isinstance(n, PartialDerivative)]
        variable = derivatives[-1].variable
        name = check.variable or (variable.tensor.name if isinstance(variable, Element) else variable.name)
        names = check.primal_arguments if check.primal_arguments is not None else check.arguments
        options = check.primal_options or (check.options if _accepts(check.primal, check.options) else {})
        function_name = check.primal
        primal = hand_written(d, function_name, names, options)
        return (f"hand-written numeric.{function_name} by {name}",
                lambda x, shape: _difference_of(primal, name, x, shape))
    return "the generated primal", _left_with_holes(d, _by_differences)


def _left_with_holes(d: Derivation, method: HoleMethod) -> LeftSide:
    """The left side as generated NumPy, but for its derivatives, which the method computes."""
    holes: list[tuple[Tensor, Callable[[Inputs], np.ndarray]]] = []
    body = _with_holes(d.left, d, holes, method)
    left = compile_numpy("left", body, d.indices, [*compiled_arguments(d), *(t for t, _ in holes)])

    def evaluate(inputs: Inputs, shape: tuple[int, ...]) -> np.ndarray:
        values = [inputs[t.name] for t in compiled_arguments(d)] + [hole(inputs) for _, hole in holes]
        return np.asarray(left(*values), dtype=float)

    return evaluate


def _by_differences(d: Derivation, expression: sp.Expr, out: Sequence[Index], tensor: Tensor, order: int,
                    scale: float = 1.0) -> Callable[[Inputs], np.ndarray]:
    """Derivatives by Richardson differences of the generated primal."""
    if order == 2 and out:
        raise NotDrawn("second derivatives by differences are for scalars")
    function = compile_numpy("primal", expression, out, compiled_arguments(d))

    def value(inputs: Inputs) -> np.ndarray:
        x = inputs[tensor.name]
        primal = lambda v: call(function, d, {**inputs, tensor.name: v})  # noqa: E731
        if order == 2:
            return difference_hessian(primal, x, step=HESSIAN_STEP * scale)
        return difference_jacobian(primal, x, step=_step(x) * scale)

    return value


def _with_holes(node: Any, d: Derivation, holes: list[tuple[Tensor, Callable[[Inputs], np.ndarray]]],
                method: HoleMethod) -> Any:
    """The expression with an array in place of each derivative; the array is computed by the method."""
    if isinstance(node, PartialDerivative):
        variable, inner = node.variable, node.expression
        tensor = variable.tensor if isinstance(variable, Element) else variable
        if isinstance(tensor, DefinedTensor):
            raise NotDrawn(f"the derivative is by the named intermediate {tensor.name}")
        at = variable.indices if isinstance(variable, Element) else ()
        order = 1
        while isinstance(inner, PartialDerivative):
            again = inner.variable
            if order > 1 or (again.tensor if isinstance(again, Element) else again) != tensor:
                raise NotDrawn("a mixed or third derivative is not taken by numbers")
            at = (*(again.indices if isinstance(again, Element) else ()), *at)
            inner, order = inner.expression, order + 1
        out = free_indices(inner)
        hole = Tensor(f"derivative_{len(holes)}", (*(i.size for i in out), *(tensor.shape * order)))
        holes.append((hole, method(d, inner, out, tensor, order)))
        return Element(hole, *out, *at) if hole.shape else hole
    if isinstance(node, Binder):
        fresh, body = node.opened()
        return type(node)(_with_holes(body, d, holes, method), fresh, *node.args[2:])
    if not node.args:
        return node
    return node.func(*(_with_holes(a, d, holes, method) for a in node.args))


def _accepts(name: str, options: Mapping[str, Any]) -> bool:
    return set(options) <= set(inspect.signature(numeric_function(name)).parameters)


def _difference_of(function: Callable[[Inputs], np.ndarray], variable: str, inputs: Inputs,
                   shape: tuple[int, ...]) -> np.ndarray | None:
    """The Jacobian by differences, contracted with a cotangent `g` or a tangent `v`, or the Hessian: whichever has the
    shape.
    """
    x = inputs[variable]
    primal = lambda value: function({**inputs, variable: value})  # noqa: E731
    out = primal(x).shape
    step = _step(x)
    if out + x.shape == shape:
        return difference_jacobian(primal, x, step=step)
    if out == () and x.shape + x.shape == shape:
        return difference_hessian(primal, x)
    if out == shape and x.shape == shape and "v" not in inputs and "g" not in inputs:  # elementwise: the diagonal
        ones = np.ones_like(x)
        from .numeric.differences import difference_jvp

        return difference_jvp(primal, x, ones, step=step)
    if x.shape == shape and "g" in inputs and inputs["g"].shape == out:
        return np.tensordot(inputs["g"], difference_jacobian(primal, x, step=step), axes=len(out))
    if out == shape and "v" in inputs and inputs["v"].shape == x.shape:
        return np.tensordot(difference_jacobian(primal, x, step=step), inputs["v"], axes=x.ndim)
    if shape == () and out == () and "v" in inputs and inputs["v"].shape == x.shape:
        hessian = difference_hessian(primal, x)
        v = inputs["v"]
        return np.tensordot(np.tensordot(v, hessian, axes=v.ndim), v, axes=v.ndim)
    return None


def _step(x: np.ndarray) -> float:
    """The step of differences; smaller where an entry is so near 0 that it would be crossed, or digits lost at a pole.
    """
    nearest = float(np.min(np.abs(x))) if x.size else 1.0
    return min(6e-3, 0.02 * nearest) if nearest < 0.3 else step_for(method="richardson")
