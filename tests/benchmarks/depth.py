"""Depth: the gradient with respect to the first weight of 1, 2, 4, 8, 12 Transformer blocks, derived and proved.

Each block is attention, residual, LayerNorm and MLP with symbolic sizes, from the builder that the theorems use. The
answer is verified before it is timed: the generated NumPy of the gradient against differences of the hand-written
forward pass, and a spoiled answer must be seen. `python -m tests.benchmarks.depth [--profile | --quick]` from the
repository root.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import lemmata as lm
from lemmata.numeric import flat_transformer
from lemmata.numeric.comparison import compare
from lemmata.numeric.differences import difference_jvp
from lemmata.numeric.sampling import generator
from lemmata.symbolic.codegen import compile_numpy
from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import DefinedTensor, element
from lemmata.symbolic.rendering.vector_form import vector_form, vector_text
from lemmata.symbolic.theorems.transformer import SHAPES, transformer_block

from .tables import table
from .timing import WrongAnswer, once

DEPTHS = (1, 2, 4, 8, 12)
QUICK = DEPTHS[:3]
SIZES = {"n": 3, "d": 5, "h": 2, "d_k": 4, "d_v": 6, "f": 7}
SEED = 0
SPOILED = 1 + 9e-4


@dataclass(frozen=True)
class Depth:
    """What one depth took, in milliseconds; `longest` is the number of letters of the longest LayerNorm adjoint."""

    blocks: int
    adjoints: int
    derive: float
    prove: float
    longest: int


def stack(depth: int) -> System:
    """The loss Σ G ⊙ y over `depth` blocks, with W_Q of the first block asked for."""
    x, g, eps = lm.array("x", "n,d"), lm.array("G", "n,d"), lm.array("eps", "", "positive")
    y, first, forms = x, None, {}
    for number in range(1, depth + 1):
        block = transformer_block(y, f"_{number}", eps=eps)
        y = block.output
        forms.update(block.forms)
        first = block.parameters["W_Q_1"] if first is None else first
    return System(lm.sum(g * y), [first], forms=forms)


def derive(depth: int) -> Derivation:
    """The derivation, made anew."""
    return derive_system(stack(depth), name=f"{depth} blocks")


def verify(d: Derivation, depth: int) -> None:
    """Raise `WrongAnswer` unless the generated gradient agrees with differences of the hand-written forward pass."""
    adjoint = next(p.adjoint for p in d.parts if p.name == "dW_Q_1")
    inputs = _inputs(d)
    gradient = _gradient(d, adjoint, inputs)

    def loss(first: np.ndarray) -> np.ndarray:
        y = inputs["x"]
        for number in range(1, depth + 1):
            given = {name: inputs[f"{name}_{number}"] for name in SHAPES} | ({"W_Q": first} if number == 1 else {})
            y = flat_transformer.block(y, *given.values(), inputs["eps"])
        return np.sum(y * inputs["G"])

    rng = generator(SEED, "directions", depth)
    for _ in range(3):
        direction = rng.normal(size=gradient.shape)
        expected = difference_jvp(loss, inputs["W_Q_1"], direction)
        if not (result := compare(np.sum(gradient * direction), expected, rtol=1e-6, atol=1e-8)):
            raise WrongAnswer(f"the gradient of {depth} blocks, seed {SEED}: {result}")
        if compare(np.sum(gradient * SPOILED * direction), expected, rtol=1e-6, atol=1e-8):
            raise WrongAnswer(f"the check of {depth} blocks lets a gradient pass that is wrong by 9e-4, seed {SEED}")


def _inputs(d: Derivation) -> dict[str, np.ndarray]:
    """Moderate draws, weights over the root of their inputs, so that the softmax of a deep stack does not saturate."""
    rng = generator(SEED, d.name)
    drawn = {}
    for t in d.tensors:
        shape = tuple(int(n.subs({s: SIZES[s.name] for s in n.free_symbols})) for n in t.shape)
        scale = 1 / np.sqrt(shape[0]) if t.name.startswith("W") else 1.0
        drawn[t.name] = np.array(1e-3) if t.name == "eps" else scale * rng.normal(size=shape)
    return drawn


def _gradient(d: Derivation, adjoint: DefinedTensor, inputs: dict[str, np.ndarray]) -> np.ndarray:
    at = [index("i", n) for n in adjoint.shape]
    arguments = [t for t in d.tensors if not isinstance(t, DefinedTensor)]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)  # the generated code is written by recursion through all definitions
    try:
        function = compile_numpy("gradient", element(adjoint, *at), at, arguments)
    finally:
        sys.setrecursionlimit(limit)
    return np.asarray(function(*(inputs[t.name] for t in arguments)), dtype=float)


def tampered(d: Derivation) -> Derivation:
    """The derivation with the last adjoint's right side scaled: it must not be proved."""
    last = d.parts[-1]
    return replace(d, parts=(*d.parts[:-1], replace(last, right=last.right * 2)))


def measure_depth(depth: int) -> Depth:
    """Times of deriving and of proving every adjoint; the answer is verified first."""
    d, derived = once(lambda: derive(depth))
    verify(d, depth)
    verdict, proved = once(lambda: replay(d, steps=False))
    if verdict.verdict != "proved":
        raise WrongAnswer(f"{depth} blocks: {verdict.verdict}, {verdict.reason}")
    if replay(tampered(d), steps=False).verdict == "proved":
        raise WrongAnswer(f"{depth} blocks: a tampered adjoint is proved")
    return Depth(depth, len(d.parts), derived, proved, _longest(d))


def _longest(d: Derivation) -> int:
    """The longest right side that names a normalised array, as it is shown."""
    shown = [p for p in d.parts if any("hat" in t.name for t in p.definitions)]
    texts = [vector_text(form) for p in shown if (form := vector_form(p.right, p.indices)) is not None]
    return max((len(t) for t in texts), default=0)


def report(found: list[Depth]) -> str:
    """A table of the depths, and what a block adds."""
    head = ["blocks", "adjoints", "derive (s)", "prove (s)", "both, a block (s)", "longest LayerNorm adjoint"]
    rows = []
    for f in found:
        seconds = (f.derive / 1e3, f.prove / 1e3, (f.derive + f.prove) / f.blocks / 1e3)
        rows.append([str(f.blocks), str(f.adjoints), *(f"{s:.2f}" for s in seconds), str(f.longest)])
    return table(head, rows)


def profile(depth: int, rows: int = 25) -> None:
    """Where the time of one depth goes, by cumulative and by own time."""
    for what, work in (("derive", lambda: derive(depth)), ("prove", lambda: replay(derive(depth), steps=False))):
        profiler = cProfile.Profile()
        profiler.runcall(work)
        print(f"--- {what}, {depth} blocks")
        statistics = pstats.Stats(profiler)
        for order in ("cumulative", "tottime"):
            statistics.sort_stats(order).print_stats(rows)


def main(arguments: list[str]) -> None:
    """Measure the depths, or profile one."""
    if "--profile" in arguments:
        profile(4)
        return
    found: list[Any] = []
    for depth in QUICK if "--quick" in arguments else DEPTHS:
        found.append(measure_depth(depth))
        print(report(found[-1:]), flush=True)
    print(report(found))


if __name__ == "__main__":
    main(sys.argv[1:])
