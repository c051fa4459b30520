"""Whether the statements of a derivation hang together: step by step, and adjoint by adjoint.

Nothing is proved here: `replay` judges each equality, and this says that together they are the statement. A derivation
read from a file is looked at in the same way, so nothing in it is believed: not the names, not the bodies of its
definitions, not which adjoints are listed.
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from ..calculus.reverse import differentiates_through, local_adjoint, opaque
from ..language.errors import LemmataError
from ..language.indices import index
from ..language.nodes import DefinedTensor, Tensor, free_indices, tensors
from .model import Derivation, Step


class BrokenChain(LemmataError):
    """Steps that do not follow each other: a line was left out or tampered with."""


def check_chain(d: Derivation) -> None:
    """The first step starts at the left side, each step at the end of the one before, the last ends at the right
    side.
    """
    for line in (d.left, d.right, *(s.after for s in d.steps)):
        if unknown := [i for i in free_indices(line) if i not in d.indices]:
            letters = ", ".join(str(i) for i in unknown)
            raise BrokenChain(f"{line} has the free index {letters}, which the statement does not range over")
    current = d.left
    for n, step in enumerate(d.steps, 1):
        if step.before != current:
            raise BrokenChain(f"step {n} ({step.rule}) starts from {step.before}, but the line before it is {current}")
        current = step.after
    if current != d.right:
        raise BrokenChain(f"the last line is {current}, but the statement's right side is {d.right}")


def check_parts(d: Derivation) -> dict[str, sp.Expr]:
    """The local sums Σ_c dc ∂c/∂d by the name of the part, made from the definitions of the loss; `BrokenChain` where
    the parts are not the adjoints of this loss.
    """
    if d.left != d.right or d.steps:
        raise BrokenChain("a gradient in named adjoints states its loss alone; the file has a second side, or steps")
    adjoints = {p.name: p.adjoint for p in d.parts if p.adjoint is not None}
    known = _by_name([*tensors([d.left]), *tensors(d.definitions), *tensors(adjoints.values())])
    inside = dict.fromkeys(tensors([d.left]))
    through = [t for t in inside if isinstance(t, DefinedTensor)]
    expected = {}
    for part in d.parts:
        if part.adjoint is None or part.adjoint.name != part.name or part.name in expected:
            raise BrokenChain(f"the part {part.name} has no adjoint of its own")
        target = known.get(part.name.removeprefix("d"))
        if target is None or target not in inside:
            raise BrokenChain(f"the part {part.name} is the adjoint of no definition or array of the loss")
        expected[part.name] = local_adjoint(d.left, target, through, adjoints, part.indices)
        _check_names(part, known)
        if part.hypotheses != d.hypotheses:
            raise BrokenChain(f"the part {part.name} has hypotheses that the statement has not")
        if opaque(part.adjoint.at(*part.indices)) != opaque(part.right):
            raise BrokenChain(f"the adjoint {part.name} is defined as {part.adjoint.at(*part.indices)}, but its part "
                              f"ends at {part.right}")
    asked = [t for t in inside if not isinstance(t, DefinedTensor) and f"d{t.name}" in expected]
    if not asked:
        raise BrokenChain("no part is the gradient of an array of the loss")
    for t in through:
        if f"d{t.name}" not in expected and any(w in t.body.free_symbols for w in asked):
            raise BrokenChain(f"the adjoint of {t.name} is missing")
    return expected


def link(part: Derivation, expected: sp.Expr) -> Step | None:
    """The equality of the local sum and the part's first line, where they are not the same letter by letter.

    In both all names stand for themselves. In the part some are definitions, which says the same only while no
    derivative goes through them.
    """
    plain, written = opaque(expected), opaque(part.left)
    if plain == written:
        return None
    return Step(plain, written, "chain rule", "the local sum", "state")


def _by_name(found: Iterable[Tensor]) -> dict[str, Tensor]:
    known: dict[str, Tensor] = {}
    for t in found:
        if known.setdefault(t.name, t) != t:
            raise BrokenChain(f"two arrays are called {t.name}; give one of them another name")
    return known


def _check_names(part: Derivation, known: dict[str, Tensor]) -> None:
    """What a part calls P is the P of the statement, defined in the same way where it is defined at all."""
    lines = [part.left, part.right, *(x for s in part.steps for x in (s.before, s.after))]
    own = tensors([*lines, *part.definitions])
    for t in own:
        real = known.get(t.name)
        at = tuple(index("i", n) for n in t.shape)
        if real is None or real.shape != t.shape or real.domain != t.domain:
            raise BrokenChain(f"the part {part.name} names {t.name}, which is another array in the statement")
        if isinstance(t, DefinedTensor) and (
            not isinstance(real, DefinedTensor) or opaque(t.at(*at)) != opaque(real.at(*at))
        ):
            raise BrokenChain(f"the part {part.name} defines {t.name} in another way than the statement does")
    if differentiates_through(part.left, [t for t in own if isinstance(t, DefinedTensor)]):
        raise BrokenChain(f"the part {part.name} differentiates through a definition: {part.left}")
