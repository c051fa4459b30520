"""Reading against running: a traced function, evaluated, must give what NumPy gives on the same inputs."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.tracing import trace

from .evaluate import value

SEED = 20240611
SIZES = ((2, 3, 4, 5, 6), (5, 2, 3, 6, 4))  # pairwise different, given to the size letters in order of appearance


def letters(shapes: dict[str, str]) -> list[str]:
    """The size letters of a table of shapes, in order."""
    return list(dict.fromkeys(re.findall(r"[A-Z]\w*", ",".join(shapes.values()))))


def dims(text: str) -> list[str]:
    return [t for t in text.split(",") if t]


def draw(text: str, domain: str, sizes: dict[str, int], rng: np.random.Generator) -> Any:
    """A random input for a shape and domain."""
    shape = tuple(int(eval(t, {}, dict(sizes))) for t in dims(text))
    if domain.startswith("index<"):
        return rng.integers(int(eval(domain[6:], {}, dict(sizes))), size=shape)
    drawn = rng.normal(size=shape)
    if domain == "positive":
        drawn = np.exp(0.5 * drawn)
    if domain == "binary":
        drawn = (drawn > 0).astype(float)
    if domain == "(0,1)":
        drawn = 1 / (1 + np.exp(-drawn))
    return drawn if shape else float(drawn)


def agree(
    function: Callable[..., Any],
    shapes: dict[str, str],
    integers: tuple[str, ...] = (),
    sizes: tuple[tuple[int, ...], ...] = SIZES,
    **domains: str,
) -> None:
    """Assert that reading and running a function agree at several sizes; `integers` are parameters that are sizes."""
    given: dict[str, Any] = {n: array(n, [size(t) for t in dims(s)], domains.get(n, "real")) for n, s in shapes.items()}
    given.update({n: size(n) for n in integers})
    read = trace(function, given)
    rng = np.random.default_rng(SEED)
    for numbers in sizes:
        bound = dict(zip(letters(shapes), numbers, strict=False))
        inputs = {n: draw(s, domains.get(n, "real"), bound, rng) for n, s in shapes.items()}
        copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in inputs.items()}
        wanted = np.asarray(function(**copies, **{n: bound[n] for n in integers}), dtype=float)
        got = value(read, inputs, bound)
        assert got.shape == wanted.shape, (function.__name__, bound, got.shape, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10, err_msg=f"{function.__name__} at {bound}")
