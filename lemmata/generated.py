"""The NumPy of a derivation: its right side as a function, or the gradients of a system in named adjoints as one.

`codegen` knows expressions and definitions; what of a derivation is to be computed is decided here, once, for users,
pages and verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .symbolic.codegen import compile_source, numpy_source, numpy_source_of
from .symbolic.derivations.model import Derivation
from .symbolic.language.nodes import DefinedTensor, Tensor


def declared_arrays(d: Derivation) -> tuple[Tensor, ...]:
    """The declared arrays of a derivation, in the order of the generated function's arguments: as they were declared,
    and for a gradient in named adjoints the arrays that were asked for first.
    """
    asked = {p.name.removeprefix("d"): n for n, p in enumerate(d.parts)}
    return tuple(sorted((t for t in d.tensors if not isinstance(t, DefinedTensor)),
                        key=lambda t: asked.get(t.name, len(asked))))


def gradient_adjoints(d: Derivation) -> dict[str, DefinedTensor]:
    """The adjoints of the arrays asked for, by the array's name; empty for a derivation that is one chain."""
    declared = {t.name for t in declared_arrays(d)}
    return {p.name.removeprefix("d"): p.adjoint for p in d.parts
            if p.adjoint is not None and p.name.removeprefix("d") in declared}


def derivation_source(d: Derivation, name: str, arguments: Sequence[Tensor] | None = None) -> str:
    """The NumPy source of what a derivation computes.

    For one chain that is its right side. For a gradient in named adjoints the function writes the forward definitions
    and the adjoints line by line, and returns the gradients asked for as a tuple.
    """
    given = declared_arrays(d) if arguments is None else tuple(arguments)
    if not d.parts:
        return numpy_source(name, d.right, d.indices, given)
    order = [*d.definitions, *(p.adjoint for p in d.parts if p.adjoint is not None)]
    return numpy_source_of(name, list(gradient_adjoints(d).values()), given, order)


def derivation_function(d: Derivation, name: str, arguments: Sequence[Tensor] | None = None) -> Callable[..., Any]:
    """The function of `derivation_source` as a callable; its source is the attribute ``__source__``."""
    return compile_source(name, derivation_source(d, name, arguments))
