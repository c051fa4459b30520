"""The measurements of docs/comparison.md that need other packages: gradcheck, JAX, tensorgrad.

``python tests/benchmarks/comparison.py`` prints the tables of that page; a test compares them, where the packages are
installed. The same hand-written backward passes are given to ``torch.autograd.gradcheck`` (its defaults) and to
``lemmata.prove_gradient``.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

EPSILON = 1e-5


def cross_entropy(z: Any, y: Any) -> Any:
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - np.sum(y * z, axis=1))


def cross_entropy_gradient(z: Any, y: Any) -> Any:
    e = np.exp(z)
    return e / np.sum(e, axis=1, keepdims=True) - y


def mean_cross_entropy(z: Any, y: Any) -> Any:
    return cross_entropy(z, y) / z.shape[0]


def divided_by_classes(z: Any, y: Any) -> Any:
    return cross_entropy_gradient(z, y) / z.shape[1]


def scaled(z: Any, y: Any) -> Any:
    return 1.0009 * cross_entropy_gradient(z, y)


def normalized(z: Any, y: Any) -> Any:
    centred = z - np.mean(z, axis=1, keepdims=True)
    return np.sum(y * centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + EPSILON))


def without_epsilon(z: Any, y: Any) -> Any:
    """The backward pass of LayerNorm with ε forgotten in one of its two places."""
    centred = z - np.mean(z, axis=1, keepdims=True)
    variance = np.mean(centred**2, axis=1, keepdims=True)
    rstd = 1 / np.sqrt(variance + EPSILON)
    unit = centred / np.sqrt(variance)
    return rstd * (y - np.mean(y, axis=1, keepdims=True) - unit * np.mean(y * unit, axis=1, keepdims=True))


@dataclass(frozen=True)
class Case:
    """A loss, a claimed gradient by z, what is wrong with it, and the size and scale of the inputs."""

    words: str
    loss: Callable[[Any, Any], Any]
    gradient: Callable[[Any, Any], Any]
    shape: tuple[int, int] = (3, 5)
    scale: float = 1.0
    dtype: str = "float64"


CASES = (
    Case("cross-entropy, right gradient", cross_entropy, cross_entropy_gradient),
    Case("the same in float32", cross_entropy, cross_entropy_gradient, dtype="float32"),
    Case("times 1.0009", cross_entropy, scaled),
    Case("mean over rows, divided by K instead of N", mean_cross_entropy, divided_by_classes, shape=(4, 4)),
    Case("mean over rows, divided by K instead of N", mean_cross_entropy, divided_by_classes),
    Case("LayerNorm, ε forgotten in one place", normalized, without_epsilon),
    Case("LayerNorm, ε forgotten, inputs of size 0.01", normalized, without_epsilon, scale=0.01),
)


def gradcheck(case: Case) -> str:
    """Whether torch.autograd.gradcheck, with its default tolerances, accepts the gradient."""
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, z: Any, y: Any) -> Any:
            ctx.save_for_backward(z, y)
            return torch.as_tensor(case.loss(z.numpy(), y.numpy()))

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            z, y = ctx.saved_tensors
            return g * torch.as_tensor(case.gradient(z.numpy(), y.numpy())), None

    draw = np.random.default_rng(0)
    z, y = (torch.as_tensor(draw.normal(size=case.shape).astype(case.dtype)) for _ in "zy")
    z = (case.scale * z).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of float32, which is a case here
        found = torch.autograd.gradcheck(Function.apply, (z, y), raise_exception=False)
    return "passes" if found else "fails"


def proved(case: Case) -> str:
    """What Lemmata says of it, for every size."""
    import lemmata as lm

    return lm.prove_gradient(case.loss, case.gradient, wrt="z", shapes="z=N,K y=N,K").verdict.verdict


def gradients() -> list[str]:
    """The table of gradcheck beside Lemmata."""
    rows = ["| gradient | size | gradcheck | Lemmata |", "|---|---|---|---|"]
    for case in CASES:
        size = f"{case.shape[0]} × {case.shape[1]}" + ("" if case.dtype == "float64" else f", {case.dtype}")
        rows.append(f"| {case.words} | {size} | {gradcheck(case)} | {proved(case)} |")
    return rows


def automatic() -> list[str]:
    """JAX: gradients as numbers, at the sizes of the input."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def by_probabilities(z: Any) -> Any:
        return -jnp.log(jax.nn.softmax(z)[1])

    def by_logits(z: Any) -> Any:
        return -jax.nn.log_softmax(z)[1]

    def merged(o: Any) -> Any:  # heads merged by a reshape alone
        return jnp.sum(o.reshape(o.shape[0], o.shape[2], -1) ** 2)

    far = jnp.array([1000.0, 0.0])
    shape = jax.grad(merged)(jnp.ones((2, 3, 4, 5))).shape
    return [
        "| question | answer of jax.grad |",
        "|---|---|",
        f"| −log(softmax(z))₁ at z = (1000, 0) | {jax.grad(by_probabilities)(far).tolist()} |",
        f"| −log_softmax(z)₁ at z = (1000, 0) | {jax.grad(by_logits)(far).tolist()} |",
        f"| heads merged by a reshape without a transpose | an array of shape {shape}, no warning |",
    ]


def networks() -> list[str]:
    """tensorgrad: a derivative for a symbolic size, and its value by tensorgrad's own evaluation where that runs."""
    import sympy as sp
    import torch
    from tensorgrad import Derivative, Variable
    from tensorgrad import functions as F
    from tensorgrad.extras.evaluate import evaluate

    z = Variable("z", i=sp.Symbol("i"))
    jacobian = Derivative(F.softmax(z, dim="i"), z, {"i": "k"}).full_simplify()
    try:
        value = torch.tensor([0.3, -1.1, 0.8], dtype=torch.float64, names=("i",))
        p = torch.softmax(value.rename(None), 0)
        found = evaluate(jacobian, {z: value}, {sp.Symbol("i"): 3}).align_to("i", "k").rename(None)
        evaluated = "right" if torch.allclose(found, torch.diag(p) - torch.outer(p, p)) else "wrong"
    except TypeError:
        evaluated = "could not be run: it needs named tensors, which this PyTorch has not"
    return [
        "| question | answer | its value |",
        "|---|---|---|",
        f"| ∂softmax(z)/∂z, size a symbol | a sum of {len(jacobian.terms)} terms | {evaluated} |",
    ]


TABLES = {"gradcheck": ("torch", gradients), "jax": ("jax", automatic), "tensorgrad": ("tensorgrad", networks)}


def missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


if __name__ == "__main__":
    for package, table in TABLES.values():
        print("\n".join([f"{package} is not installed"] if missing(package) else table()), end="\n\n")
