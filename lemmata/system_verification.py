"""Gradients in named adjoints against hand-written forward and backward passes, against finite differences, and against
automatic differentiation where JAX or PyTorch is installed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .autodiff_evidence import gradient_evidence, installed
from .generated import derivation_function, gradient_adjoints
from .numeric.comparison import compare
from .numeric.differences import richardson_jvp
from .numeric.sampling import generator
from .symbolic.codegen import compile_numpy
from .symbolic.derivations.model import Derivation, Evidence
from .symbolic.derivations.system import SystemCheck
from .symbolic.language.errors import LemmataError
from .witness import DRAWS, Inputs, call, compiled_arguments, draw_inputs, reference, sizes_text

RTOL_VALUES, ATOL_VALUES = 1e-8, 1e-10
RTOL_DIFFERENCES, ATOL_DIFFERENCES = 1e-6, 1e-7
STEP = 5e-4  # deep compositions are steep: smaller than the default, still far above rounding
Gradients = Callable[[Inputs], dict[str, np.ndarray]]
DIRECTIONS = 6  # differences along so many random directions an array, and along single entries where there are few


def system_evidence(d: Derivation, check: SystemCheck | None, *, seed: int) -> tuple[Evidence, ...]:
    """Evidence of kind "numpy" (hand-written backward) and "differences" (of the hand-written or the generated
    primal), and of kind "jax" and "torch" (gradients of the generated loss) where these are installed.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        try:
            points = [draw_inputs(d, seed=seed, number=n) for n in range(DRAWS)]
            gradients = generated_gradients(d)
            loss = _loss(d, check)
        except LemmataError as error:
            if check is None:
                raise
            return (Evidence("numpy", False, str(error)),)
        found = []
        if check is not None and check.backward:
            found.append(_against_backward(d, check, points, gradients, seed, began))
        found.append(_against_differences(d, check, points, gradients, loss, seed))
        found += [gradient_evidence(package, d, gradients(points[0][0]), *points[0], seed) for package in installed()]
        return tuple(found)


def generated_gradients(d: Derivation) -> Callable[[Inputs], dict[str, np.ndarray]]:
    """The gradients by name, from the generated NumPy that users get."""
    names, given = list(gradient_adjoints(d)), compiled_arguments(d)
    function = derivation_function(d, "gradient", given)

    def gradients(inputs: Inputs) -> dict[str, np.ndarray]:
        values = function(*(inputs[t.name] for t in given))
        return {n: np.asarray(v, dtype=float) for n, v in zip(names, values, strict=True)}

    return gradients


def _loss(d: Derivation, check: SystemCheck | None) -> Callable[[Inputs], float]:
    """The scalar that is differenced: Σ cotangent · hand-written primal, or the generated loss."""
    if check is None:
        function = compile_numpy("loss", d.left, (), compiled_arguments(d))
        return lambda x: float(call(function, d, x))

    def value(inputs: Inputs) -> float:
        out = reference(check.primal, inputs, check.arguments, check.options)
        return float(np.sum(out * inputs[check.cotangent])) if check.cotangent else float(out)

    return value


def _backward(check: SystemCheck, inputs: Inputs, names: Sequence[str]) -> dict[str, np.ndarray]:
    result = reference(check.backward, inputs, check.backward_arguments or check.arguments,
                       check.backward_options or check.options, raw=True)
    if isinstance(result, Mapping):
        return {n: np.asarray(result[n], dtype=float) for n in names if n in result}
    if len(names) == 1 and isinstance(result, np.ndarray):
        return {names[0]: result}
    return {n: np.asarray(g, dtype=float) for n, g in zip(names, result, strict=False) if g is not None}


def _against_backward(d: Derivation, check: SystemCheck, points: Sequence[tuple[Inputs, dict[str, int]]],
                      gradients: Gradients, seed: int, began: float) -> Evidence:
    worst, compared = 0.0, 0
    for inputs, sizes in points:
        found = gradients(inputs)
        expected = _backward(check, inputs, list(found))
        for name, actual in found.items():
            if name not in expected:
                return Evidence("numpy", False, f"numeric.{check.backward} gives no gradient for {name}",
                                time.perf_counter() - began)
            if actual.shape != expected[name].shape:
                return Evidence("numpy", False, f"d{name} has shape {actual.shape}, numeric.{check.backward} gives "
                                                f"{expected[name].shape}",
                                time.perf_counter() - began)
            result = compare(actual, expected[name], rtol=RTOL_VALUES, atol=ATOL_VALUES)
            if not result:
                return Evidence("numpy", False, f"d{name} against numeric.{check.backward} at {sizes_text(sizes)}, "
                                                f"seed {seed}: {result}",
                                time.perf_counter() - began)
            worst, compared = max(worst, result.absolute_error), compared + 1
    return Evidence("numpy", True,
                    f"{compared} gradients from generated NumPy agree with hand-written numeric.{check.backward} "
                    f"({'; '.join(sizes_text(s) for _, s in points)}), seed {seed}, largest error {worst:.1e}",
                    time.perf_counter() - began)


def _against_differences(d: Derivation, check: SystemCheck | None, points: Sequence[tuple[Inputs, dict[str, int]]],
                         gradients: Gradients, loss: Callable[[Inputs], float], seed: int) -> Evidence:
    began = time.perf_counter()
    what = f"hand-written numeric.{check.primal}" if check is not None else "the generated loss"
    worst = 0.0
    for number, (inputs, sizes) in enumerate(points):
        for name, actual in gradients(inputs).items():
            x = inputs[name]
            primal = lambda v, name=name, inputs=inputs: np.asarray(loss({**inputs, name: v}))  # noqa: E731
            rng = generator(seed, d.name, name, number)
            entries = [np.eye(1, x.size, n).reshape(x.shape) for n in range(x.size)] if x.size <= DIRECTIONS else [
                rng.normal(size=x.shape) for _ in range(DIRECTIONS if number == 0 else 2)]
            for direction in entries:
                direction = direction / np.linalg.norm(direction)
                estimate = richardson_jvp(primal, x, direction, step=STEP)
                slope, error, size = float(np.sum(actual
                                                  * direction)), float(estimate.error), float(np.linalg.norm(actual))
                gap = abs(slope - float(estimate.value))
                # Along a random direction terms cancel, so the allowance is relative to the whole gradient; an estimate
                # that is itself uncertain says nothing and does not pass.
                sure = error <= 1e-5 * size + ATOL_DIFFERENCES
                if not (sure and gap <= RTOL_DIFFERENCES * size + 10 * error + ATOL_DIFFERENCES):
                    return Evidence("differences", False,
                                    f"d{name} against differences of {what} at {sizes_text(sizes)}, seed {seed}: "
                                    f"{slope:.12g} against {float(estimate.value):.12g} (uncertain by {error:.1e})",
                                    time.perf_counter() - began)
                worst = max(worst, gap / max(size, 1.0))
    return Evidence("differences", True,
                    f"Richardson differences of {what} by {', '.join(gradient_adjoints(d))} along random directions "
                    f"agree, seed {seed}, largest relative error {worst:.1e}", time.perf_counter() - began)

