"""Inputs that satisfy a statement, and functions of the numeric pillar by name: what every numeric check starts
from.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .numeric.sampling import draw, draw_sizes, generator
from .symbolic.codegen import compile_numpy
from .symbolic.derivations.model import Derivation
from .symbolic.language.arrays import Array
from .symbolic.language.errors import LemmataError
from .symbolic.language.hypotheses import Hypothesis
from .symbolic.language.nodes import DefinedTensor, Delta, Element, IndexSum, Tensor
from .symbolic.language.sizes import Size

DRAWS = 3
SIZES = "sizes_"  # the name of the argument that only carries sizes
Inputs = dict[str, np.ndarray]


class NotDrawn(LemmataError):
    """Inputs that satisfy the hypotheses could not be drawn."""


def arguments(d: Derivation) -> list[Tensor]:
    """The declared arrays of a derivation."""
    return [t for t in d.tensors if not isinstance(t, DefinedTensor)]


def size_names(d: Derivation) -> list[str]:
    """The size symbols of a derivation, in order."""
    found = {s.name for t in arguments(d) for n in t.shape for s in n.free_symbols}
    return sorted(found | {s.name for i in d.indices for s in i.size.free_symbols})


def compiled_arguments(d: Derivation) -> list[Tensor]:
    """The declared arrays, and one that holds nothing but the sizes: some can be read from no array alone (h and
    d_k of h·d_k).
    """
    names = size_names(d)
    return [*arguments(d), *([Tensor(SIZES, tuple(Size(s) for s in names))] if names else [])]


def draw_inputs(d: Derivation, *, seed: int, number: int) -> tuple[Inputs, dict[str, int]]:
    """Seeded inputs for the declared arrays, in their domains and satisfying the hypotheses; and the sizes."""
    rng = generator(seed, d.name, number)
    symbols = size_names(d)
    if len(symbols) <= 4:
        sizes = draw_sizes(symbols, rng, largest=7)
    else:  # many sizes: small numbers that all differ, so that arrays stay small
        sizes = dict(zip(symbols, (int(n) for n in rng.permutation(np.arange(2, 2 + len(symbols)))), strict=True))
    inputs: Inputs = {SIZES: np.broadcast_to(0.0, tuple(sizes[s] for s in symbols))}
    for t in arguments(d):
        shape = tuple(int(n.subs({s: sizes[s.name] for s in n.free_symbols})) for n in t.shape)
        try:
            inputs[t.name] = draw(_drawn_domain(t, d.hypotheses), shape, rng, sizes)
        except ValueError as error:
            raise NotDrawn(f"no inputs are drawn for {t.name}: {error}") from None
    for h in d.hypotheses:
        if h.relation == "==":
            satisfy(h, inputs, sizes)
    return inputs, sizes


def _drawn_domain(t: Tensor, hypotheses: Sequence[Hypothesis]) -> str:
    """The domain to draw from: a hypothesis x > 0 narrows a real array."""
    for h in hypotheses:
        whole = (isinstance(h.left, Element) and h.left.tensor == t) or h.left == t
        if whole and h.right == 0 and t.domain.name == "real":
            return {">": "positive", ">=": "positive", "!=": "nonzero"}.get(h.relation, "real")
    return t.domain.name


def satisfy(h: Hypothesis, inputs: Inputs, sizes: Mapping[str, int]) -> None:
    """Make a drawn array satisfy Σ over some axes = number, by shifting it evenly along those axes."""
    body, bound = h.left, []
    while isinstance(body, IndexSum):
        i, body = body.opened()
        bound.append(i)
    label = next((a for a in body.args if isinstance(a, Element)), None) if isinstance(body, Delta) else None
    permutes = label is not None and len(bound) == 1 and label.indices == (bound[0],) and h.right == 1
    if label is not None and permutes and label.tensor.domain.label_size:
        # Σ_j [π_j = k] = 1 for every k: a permutation, here the order of random numbers
        value = inputs[label.tensor.name]
        inputs[label.tensor.name] = np.argsort(generator(0, label.tensor.name, *value.tolist()).random(value.size))
        return
    if not bound or not isinstance(body, Element) or body.tensor.name not in inputs or not h.right.is_number:
        raise NotDrawn(f"no inputs are drawn for the hypothesis {h}")
    axes = tuple(n for n, i in enumerate(body.indices) if i in bound)
    value = inputs[body.tensor.name]
    if body.tensor.domain.rows_sum_to_one and h.right == 1 and axes == (value.ndim - 1,):
        return
    total = value.sum(axis=axes, keepdims=True)
    count = int(np.prod([value.shape[a] for a in axes]))
    inputs[body.tensor.name] = value / total if body.tensor.domain.positive else value + (float(h.right)
                                                                                          - total) / count



def numeric_function(name: str) -> Callable[..., Any]:
    """A function of the numeric pillar by "module.function"."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"lemmata.numeric.{module}"), function)


def reference(name: str, inputs: Inputs, names: Sequence[str], options: Mapping[str, Any], *, raw: bool = False) -> Any:
    """Call a function of the numeric pillar on drawn arrays; an option that names an array passes that array."""
    given = {k: (inputs[v.lstrip("$")] if isinstance(v, str) and v.lstrip("$") in inputs else v)
             for k, v in options.items()}
    result = numeric_function(name)(*(inputs[a] for a in names), **given)
    return result if raw else np.asarray(result, dtype=float)


def hand_written(d: Derivation, name: str, arguments: Sequence[str | Array | float],
                 options: Mapping[str, Any]) -> Callable[[Inputs], np.ndarray]:
    """The value of a function of the numeric pillar, by the inputs; an expression among its arguments is computed by
    generated NumPy.
    """
    tensors = compiled_arguments(d)

    def passed(argument: str | Array | float) -> Callable[[Inputs], Any]:
        if isinstance(argument, Array):
            compiled = compile_numpy("argument", argument.body, argument.indices, tensors)
            return lambda inputs: call(compiled, d, inputs)
        if isinstance(argument, str):
            return lambda inputs: inputs[argument]
        return lambda inputs: argument

    given = [passed(a) for a in arguments]
    keys = [str(n) for n in range(len(given))]

    def value(inputs: Inputs) -> np.ndarray:
        here = {k: f(inputs) for k, f in zip(keys, given, strict=True)}
        return np.asarray(reference(name, {**inputs, **here}, keys, options), dtype=float)

    return value


def call(function: Callable[..., Any], d: Derivation, inputs: Inputs) -> np.ndarray:
    """Call generated NumPy on the declared arrays."""
    return np.asarray(function(*(inputs[t.name] for t in compiled_arguments(d))), dtype=float)


def sizes_text(sizes: Mapping[str, int]) -> str:
    """Sizes as text."""
    return ", ".join(f"{k}={v}" for k, v in sizes.items()) or "scalar"
