"""Derivations of gradients, Jacobians, Hessians and vector products for any formula in the array vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..language.arrays import Array, aligned, array, shape_text, tensor_of
from ..language.errors import ShapeError, UnsupportedError
from ..language.hypotheses import Hypothesis
from ..language.indices import Index, placed
from ..language.naming import apart
from ..language.nodes import DefinedTensor, Element, IndexSum, PartialDerivative, Tensor, replace, tensors
from ..language.operations import BY_FUNCTION
from ..language.sizes import same_size
from .model import Derivation
from .tactics import State, Tactic, automatic, run_all
from .theorem import make_derivation

_SERIAL = 2 * 10**9  # output indices of a result: same serials in every run, so same bytes out


def gradient(value: Array, wrt: Array, given: Sequence[Hypothesis] = (), by: Sequence[Tactic] = ()) -> Derivation:
    """The gradient of a scalar by an array, as a derivation.

    Raises `ShapeError` when the value is not a scalar, `UnsupportedError` when it does not depend on the array.
    """
    if value.ndim:
        raise ShapeError(f"a gradient is of a scalar; this has shape {shape_text(value.shape)}. Sum it (sum(...)), or "
                         f"ask for the Jacobian or for a vector-Jacobian product")
    return jacobian(value, wrt, given, by)


def jacobian(value: Array, wrt: Array, given: Sequence[Hypothesis] = (), by: Sequence[Tactic] = ()) -> Derivation:
    """All derivatives ∂value/∂wrt: the indices of the value first, then those of the array."""
    tensor = _variable(value, wrt)
    out = _output_indices([*value.shape, *wrt.shape])
    body = aligned(value, out[: value.ndim])
    return _derive(PartialDerivative(body, _element(tensor, out[value.ndim:])), out, given, by)


def hessian(value: Array, wrt: Array, given: Sequence[Hypothesis] = (), by: Sequence[Tactic] = ()) -> Derivation:
    """Second derivatives of a scalar by an array."""
    if value.ndim:
        raise ShapeError(f"a Hessian is of a scalar; this has shape {shape_text(value.shape)}")
    tensor = _variable(value, wrt)
    out = _output_indices([*wrt.shape, *wrt.shape])
    first = PartialDerivative(value.body, _element(tensor, out[: wrt.ndim]))
    return _derive(PartialDerivative(first, _element(tensor, out[wrt.ndim:])), out, given, by)


def vjp(value: Array, wrt: Array, cotangent: Array | None = None, given: Sequence[Hypothesis] = (),
        by: Sequence[Tactic] = ()) -> Derivation:
    """The vector-Jacobian product Σ_i g_i ∂value_i/∂wrt, for a cotangent g of the value's shape (`g` when none is
    given).
    """
    cotangent = array("g", value.shape) if cotangent is None else cotangent
    _agree(value, cotangent, "cotangent")
    tensor = _variable(value, wrt)
    total: sp.Expr = cotangent.element(*value.indices) * value.body
    for i in reversed(value.indices):
        total = IndexSum(total, i)
    out = _output_indices(wrt.shape)
    return _derive(PartialDerivative(total, _element(tensor, out)), out, given, by)


def jvp(value: Array, wrt: Array, tangent: Array | None = None, given: Sequence[Hypothesis] = (),
        by: Sequence[Tactic] = ()) -> Derivation:
    """The Jacobian-vector product Σ_k ∂value/∂wrt_k v_k, for a tangent v of the array's shape (`v` when none is
    given).
    """
    tangent = array("v", wrt.shape) if tangent is None else tangent
    _agree(wrt, tangent, "tangent")
    tensor = _variable(value, wrt)
    out = _output_indices(value.shape)
    inner = tuple(i.fresh("k") for i in wrt.indices)
    total: sp.Expr = PartialDerivative(aligned(value, out), _element(tensor, inner)) * tangent.element(*inner)
    for i in reversed(inner):
        total = IndexSum(total, i)
    return _derive(total, out, given, by)


def _derive(start: sp.Expr, out: tuple[Index, ...], given: Sequence[Hypothesis], by: Sequence[Tactic]) -> Derivation:
    _, [start], given = apart([start], given)
    out, start = _placed(out, start)
    state = State(start, out, tuple(given), [t for t in tensors([start]) if isinstance(t, DefinedTensor)])
    run_all(state, by or [automatic()])
    return make_derivation(state, start, notes=_kink_notes(start))


def _placed(out: tuple[Index, ...], start: sp.Expr) -> tuple[tuple[Index, ...], sp.Expr]:
    """Output indices that know their axis in the result, so that `sympy.lambdify` can place every array."""
    declared = [t for t in tensors([start]) if not isinstance(t, DefinedTensor)]
    chosen = placed(out, declared)
    return tuple(chosen), replace(start, dict(zip(out, chosen, strict=True)))


def _kink_notes(expression: sp.Expr) -> tuple[str, ...]:
    """The written policy of every function with a kink that occurs."""
    notes = []
    for node in sp.preorder_traversal(expression):
        row = BY_FUNCTION.get(getattr(node, "func", None))
        if row is not None and row.kink_policy:
            notes.append(f"{row.name}: {row.kink_policy}")
    return tuple(dict.fromkeys(notes))


def _variable(value: Array, wrt: Array) -> Tensor:
    tensor = tensor_of(wrt)
    if tensor not in value.body.free_symbols:
        known = ", ".join(t.name for t in tensors([value.body]))
        raise UnsupportedError(f"{tensor.name} does not occur in the expression (it has {known or 'no arrays'}), so "
                               f"its gradient is 0 everywhere; check the name")
    return tensor


def _element(tensor: Tensor, indices: Sequence[Index]) -> sp.Expr:
    return Element(tensor, *indices) if indices else tensor


def _output_indices(shape: Sequence[sp.Expr]) -> tuple[Index, ...]:
    letters = ["k"] if len(shape) == 1 else ["i", "k", "l", "m"]
    return tuple(Index(letters[n] if n < len(letters) else "i", s, _SERIAL + n) for n, s in enumerate(shape))


def _agree(value: Array, other: Array, what: str) -> None:
    if len(value.shape) != len(other.shape) or not all(same_size(a, b)
                                                       for a, b in zip(value.shape, other.shape, strict=True)):
        raise ShapeError(f"the {what} has shape {shape_text(other.shape)}, but the shape {shape_text(value.shape)} is "
                         f"needed")
