"""The public functions: declare arrays, derive, prove, verify. `lemmata` itself gives these names when they are first
used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast, overload

from .assertions import assert_equal, assert_gradient
from .claims import read_claims
from .claims_running import prove_claims
from .code_proof import CodeProof, NotProved
from .proving import gradient_of, prove_equal, prove_gradient
from .result import Result
from .symbolic import calculus, codegen, rendering  # noqa: F401  (they register derivative, printers and code with the nodes)
from .symbolic.derivations import gradients
from .symbolic.derivations.model import Counterexample, Derivation, Evidence, Step, Verdict
from .symbolic.derivations.system import System, derive_system
from .symbolic.derivations.tactics import partial
from .symbolic.derivations.theorem import Claim, Theorem, theorem
from .symbolic.derivations.theorem import derive as derive_claim
from .symbolic.language.arrays import Array, ArrayLike, array, as_array, define
from .symbolic.language.conversion import at_sizes, from_sympy, to_sympy
from .symbolic.language.errors import LemmataError, ShapeError, UnsupportedError
from .symbolic.language.formulas import read_equation, read_formula, read_hypothesis, read_shapes
from .symbolic.language.hypotheses import Hypothesis, equal, nonzero, positive
from .symbolic.language.indices import index
from .symbolic.language.sizes import size
from .symbolic.language.vocabulary import sum as sum_of_all
from .symbolic.rendering import latex
from .symbolic.shapes import Trace, cross_attention, multi_head_attention, trace_shapes
from .symbolic.theorems import find_theorem, theorems
from .verification import verify_derivation, verify_theorem


def gradient(value: Array, wrt: Array | Sequence[Array], given: Sequence[Hypothesis] = ()) -> Result:
    """The gradient of a scalar by an array: derived step by step, to be proved when asked for its verdict.

    A sequence of arrays gives the gradients by all of them in named adjoints: each definition that the scalar is
    written with (`softmax`, `define`) has its adjoint dX = ∂value/∂X, and the NumPy function returns a tuple.

    >>> z, y = array("z", "K"), array("y", "K")
    >>> from lemmata.symbolic.language import vocabulary as np
    >>> gradient(-np.sum(y * np.log(np.softmax(z))), wrt=z, given=[equal(np.sum(y), 1)]).vector_form
    'p − y'
    >>> W, x = array("W", "M,N"), array("x", "N")
    >>> s = define("s", W @ x)
    >>> for part in gradient(np.sum(s**2) / 2, wrt=[W, x]).derivation.parts:
    ...     print(part.name, "=", Result(part).vector_form)
    ds = s
    dW = ds xᵀ
    dx = Wᵀ ds
    """
    if _several(wrt):
        return _in_named_adjoints(value, wrt, given)
    return Result(gradients.gradient(_array(value), cast(Array, wrt), given))


def _several(wrt: Array | Sequence[Array]) -> TypeGuard[Sequence[Array]]:
    return isinstance(wrt, Sequence) and not isinstance(wrt, str)


def _in_named_adjoints(value: Array, wrt: Sequence[Array], given: Sequence[Hypothesis]) -> Result:
    if not wrt:
        raise ShapeError("there is no array to differentiate by; give at least one, e.g. wrt=[z]")
    return Result(derive_system(System(_array(value), wrt, given=given)))


def _array(value: ArrayLike) -> Array:
    if isinstance(value, str):
        raise ShapeError(f"expected an array or a formula of arrays, got the text {value!r}; read it first with "
                         f"read_formula(text, {{'z': z}})")
    return as_array(value)


def jacobian(value: Array, wrt: Array, given: Sequence[Hypothesis] = ()) -> Result:
    """All partial derivatives, output indices first."""
    return Result(gradients.jacobian(_array(value), wrt, given))


def hessian(value: Array, wrt: Array, given: Sequence[Hypothesis] = ()) -> Result:
    """Second derivatives of a scalar."""
    return Result(gradients.hessian(_array(value), wrt, given))


def vjp(value: Array, wrt: Array | Sequence[Array], cotangent: Array | None = None,
        given: Sequence[Hypothesis] = ()) -> Result:
    """The vector-Jacobian product with a cotangent (`g` when none is given); by several arrays in named adjoints."""
    if _several(wrt):
        g = array("g", _array(value).shape) if cotangent is None else cotangent
        return _in_named_adjoints(sum_of_all(g * value), wrt, given)
    return Result(gradients.vjp(_array(value), cast(Array, wrt), cotangent, given))


def jvp(value: Array, wrt: Array, tangent: Array | None = None, given: Sequence[Hypothesis] = ()) -> Result:
    """The Jacobian-vector product with a tangent (`v` when none is given)."""
    return Result(gradients.jvp(_array(value), wrt, tangent, given))


def prove(left: ArrayLike, right: ArrayLike, given: Sequence[Hypothesis] = ()) -> Result:
    """The claim left = right for every size, as a result whose verdict says whether it is proved or refuted."""
    return Result(derive_claim(Claim(left, right, by=[_nothing], given=given)))


def _nothing(state: object) -> None:
    """A claim is proved as it stands: no steps between its sides."""


@overload
def derive(claim: str, name: str = "", title: str = "", source: str = "") -> Result: ...


@overload
def derive(claim: Claim | System, name: str = "", title: str = "", source: str = "") -> Derivation: ...


def derive(claim: str | Claim | System, name: str = "", title: str = "", source: str = "") -> Result | Derivation:
    """The derivation of a claim or of a system that you stated; for a theorem's name, what `lookup_theorem` gives.

    >>> z = array("z", "K")
    >>> from lemmata.symbolic.language import vocabulary as np
    >>> [step.rule for step in derive(Claim(np.sum(np.softmax(z)), 1)).steps]
    ['unfold', 'sum_mul_const']
    >>> derive("sum_softmax").verdict.verdict
    'proved'
    """
    if isinstance(claim, str):
        return lookup_theorem(claim)
    if isinstance(claim, System):
        return derive_system(claim, name, title, source)
    if isinstance(claim, Claim):
        return derive_claim(claim, name, title, source)
    raise LemmataError(f"derive takes a theorem's name, a Claim or a System, got {type(claim).__name__}; for a formula "
                       f"there are gradient, jacobian, hessian, vjp, jvp and prove")


def lookup_theorem(name: str) -> Result:
    """A registered theorem's derivation, with its verdict when asked for."""
    found = find_theorem(name)
    return Result(found.derivation(), found.claim().numpy)


@dataclass(frozen=True)
class Verified:
    """One line of `verify`: a theorem and its verdict."""

    name: str
    verdict: Verdict


def verify(names: Sequence[str] = (), *, seed: int = 0) -> list[Verified]:
    """Verify theorems (all of them without names), in the order of the registry."""
    chosen = [find_theorem(n) for n in names] if names else list(theorems().values())
    return [Verified(t.name, verify_theorem(t, seed=seed)) for t in chosen]


__all__ = [
    "Array", "Claim", "CodeProof", "Counterexample", "Derivation", "Evidence", "Hypothesis", "LemmataError",
    "NotProved", "Result", "ShapeError", "Step", "System", "Theorem", "Trace", "UnsupportedError", "Verdict", "array",
    "assert_equal", "assert_gradient", "at_sizes", "cross_attention", "define", "derive", "equal", "find_theorem",
    "from_sympy", "gradient", "gradient_of", "hessian", "index", "jacobian", "jvp", "latex", "lookup_theorem",
    "multi_head_attention", "nonzero", "partial", "positive", "prove", "prove_claims", "prove_equal",
    "prove_gradient", "read_claims", "read_equation", "read_formula", "read_hypothesis", "read_shapes", "size",
    "theorem", "theorems", "to_sympy", "trace_shapes", "verify", "verify_derivation", "verify_theorem", "vjp",
]
