"""How a hand-written derivative is judged: by the primal alone, with proof that a wrong one would have been seen.

A ``Claim`` is a primal and a claimed derivative at one point. ``Judge`` compares a derivative with Richardson
differences and with the complex step; ``tampered`` gives versions that are wrong by a sign, by a factor 1 + 9e-4, by
one entry, and with the last two axes swapped.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lemmata.numeric.comparison import Comparison, compare
from lemmata.numeric.complex_step import complex_step_jacobian
from lemmata.numeric.differences import difference_jacobian

RTOL_DIFFERENCES, ATOL_DIFFERENCES = 1e-9, 1e-11
RTOL_COMPLEX, ATOL_COMPLEX = 1e-12, 1e-14


class Claim(NamedTuple):
    """``derivative`` is claimed to be ∂primal/∂x at ``x``, output axes first (a gradient when the primal is a scalar).

    ``step`` is for the differences, where a pole is close to x (1/p at p = 0.05).
    """

    primal: Callable[[np.ndarray], np.ndarray]
    x: np.ndarray
    derivative: np.ndarray
    analytic: bool = True
    step: float | None = None


class Judge:
    """Differences and (where the primal is analytic) the complex step of one claim, computed once."""

    def __init__(self, claim: Claim) -> None:
        differences = difference_jacobian(claim.primal, claim.x, step=claim.step)
        self.references = [(differences, RTOL_DIFFERENCES, ATOL_DIFFERENCES)]
        if claim.analytic:
            self.references.append((complex_step_jacobian(claim.primal, claim.x), RTOL_COMPLEX, ATOL_COMPLEX))

    def __call__(self, derivative: np.ndarray) -> list[Comparison]:
        # Rounding of sums is as large as eps times their largest terms, so the absolute part grows with the derivative.
        return [
            compare(derivative, reference, rtol=rtol, atol=atol * max(1.0, float(np.max(np.abs(reference)))))
            for reference, rtol, atol in self.references
        ]


def tampered(derivative: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Wrong versions of a derivative, each with its name. A symmetric last pair of axes has no wrong transpose."""
    yield "sign flipped", -derivative
    yield "scaled by 1 + 9e-4", derivative * (1 + 9e-4)
    one = np.array(derivative)
    largest = np.unravel_index(np.argmax(np.abs(one)), one.shape)
    one[largest] *= 1 + 9e-4
    yield "one entry scaled by 1 + 9e-4", one
    if derivative.ndim >= 2 and derivative.shape[-1] == derivative.shape[-2]:
        swapped = np.swapaxes(derivative, -1, -2)
        if not np.allclose(swapped, derivative, rtol=1e-6):
            yield "transpose dropped", swapped


def contracted(
    function: Callable[[np.ndarray], np.ndarray], cotangent: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """x -> ⟨cotangent, function(x)⟩: the scalar whose gradient is the VJP."""
    return lambda x: np.sum(cotangent * function(x))
