"""A theorem's derivative against automatic differentiation by JAX and by PyTorch, where these are installed.

The same NumPy source that is generated for the primal runs with the package's arrays in place of NumPy's, and the
package differentiates it; the generated NumPy of the right side has to agree to nearly all digits. `verification` and
`system_verification` take derivatives of the same primals by finite differences: those know nothing of the code, but
only some six digits. Nothing is imported here before a package is asked for, and `installed` only looks for it.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import sympy as sp

from .numeric.comparison import compare
from .symbolic.codegen import numpy_source
from .symbolic.derivations.model import Derivation, Evidence, not_run
from .symbolic.language.errors import LemmataError
from .symbolic.language.indices import Index
from .symbolic.language.nodes import Tensor
from .witness import SIZES, Inputs, call, compiled_arguments, sizes_text

RTOL, ATOL = 1e-9, 1e-11
LeftSide = Callable[[Inputs, tuple[int, ...]], "np.ndarray | None"]
_PRIMAL = "primal"


class HoleMethod(Protocol):
    """How the array of all derivatives of an expression is computed: ∂ expression[out] / ∂ tensor[at], `order`
    times.
    """

    def __call__(self, d: Derivation, expression: sp.Expr, out: Sequence[Index], tensor: Tensor,
                 order: int) -> Callable[[Inputs], np.ndarray]: ...


@dataclass(frozen=True)
class Package:
    """A package that differentiates code: how it reads generated NumPy, and its Jacobians.

    `active` is the context in which both run (double precision on the processor, and the user's settings restored
    after it), `names` the names that generated code uses, `array` makes the package's array of NumPy's, and
    ``jacobian(function, positions, order)`` maps the package's arrays to the derivatives by those at the positions, as
    NumPy arrays of shape (*out, *x) or (*out, *x, *x).
    """

    name: str
    active: Callable[[], contextlib.AbstractContextManager[None]]
    names: Callable[[], dict[str, Any]]
    array: Callable[[np.ndarray], Any]
    jacobian: Callable[[Callable[..., Any], tuple[int, ...], int], Callable[..., list[np.ndarray]]]


class NotRun(LemmataError):
    """The package cannot run the primal, or cannot differentiate it; the reason is the package's own."""


def installed() -> tuple[Package, ...]:
    """The packages that are installed, none of them imported by the question."""
    return tuple(p for p in PACKAGES if importlib.util.find_spec(p.name) is not None)


# ---------------------------------------------------------------------- evidence
def derivative_evidence(package: Package, d: Derivation, left: Callable[[HoleMethod], LeftSide], inputs: Inputs,
                        sizes: Mapping[str, int], right: Callable[..., Any], seed: int) -> Evidence:
    """The left side, its derivatives taken by the package, against the generated NumPy of the right side at one
    draw.
    """
    began = time.perf_counter()
    actual = call(right, d, inputs)
    try:
        expected = left(by_package(package))(inputs, actual.shape)
    except LemmataError as error:
        return not_run(package.name, error, time.perf_counter() - began)
    assert expected is not None  # a left side with holes has a value for every shape
    return _compared(package, {"the right side": (actual, expected)}, sizes, seed, began)


def gradient_evidence(package: Package, d: Derivation, gradients: Mapping[str, np.ndarray], inputs: Inputs,
                      sizes: Mapping[str, int], seed: int) -> Evidence:
    """A system's gradients against the package's gradients of the generated loss, by every array at once, at one
    draw.
    """
    began = time.perf_counter()
    try:
        found = _derivatives(package, d, d.left, (), list(gradients), 1, inputs)
    except LemmataError as error:
        return not_run(package.name, error, time.perf_counter() - began)
    pairs = {f"d{name}": (value, expected)
             for (name, value), expected in zip(gradients.items(), found, strict=True)}
    return _compared(package, pairs, sizes, seed, began)


def by_package(package: Package) -> HoleMethod:
    """Derivatives by automatic differentiation of the generated primal."""

    def method(d: Derivation, expression: sp.Expr, out: Sequence[Index], tensor: Tensor,
               order: int) -> Callable[[Inputs], np.ndarray]:
        return lambda inputs: _derivatives(package, d, expression, out, [tensor.name], order, inputs)[0]

    return method


def _compared(package: Package, pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], sizes: Mapping[str, int],
              seed: int, began: float) -> Evidence:
    """Every pair (ours, the package's) entry by entry; an entry without a finite value on either side is left out."""
    worst, compared = 0.0, 0
    where = f"at {sizes_text(sizes)}, seed {seed}"
    for name, (actual, expected) in pairs.items():
        if actual.shape != expected.shape:
            return Evidence(package.name, False, f"{name} has shape {actual.shape}, the derivative by {package.name} "
                                                 f"{expected.shape}", time.perf_counter() - began)
        # A derivative that is not finite where ours is comes from a branch of the code that is not taken (0 · inf).
        if not np.all(np.isfinite(expected) | ~np.isfinite(actual)):
            return not_run(package.name, f"{package.name} gives derivatives for {name} that are not finite {where}",
                           time.perf_counter() - began)
        defined = np.isfinite(actual) | np.isfinite(expected)
        if not np.any(defined):
            continue
        result = compare(actual[defined], expected[defined], rtol=RTOL, atol=ATOL)
        if not result:
            return Evidence(package.name, False, f"{name} against {package.name} {where}: {result}",
                            time.perf_counter() - began)
        worst, compared = max(worst, result.absolute_error), compared + int(np.count_nonzero(defined))
    if not compared:
        return not_run(package.name, f"neither side has a finite value {where}", time.perf_counter() - began)
    return Evidence(package.name, True, f"{', '.join(pairs)}: {compared} entries agree with automatic differentiation "
                    f"of the generated primal {where}, largest error {worst:.1e}", time.perf_counter() - began)


# ---------------------------------------------------------------------- running
def _derivatives(package: Package, d: Derivation, expression: sp.Expr, out: Sequence[Index], names: Sequence[str],
                 order: int, inputs: Inputs) -> list[np.ndarray]:
    """The derivatives of an expression by some arrays; `NotRun` with the package's words where it cannot."""
    tensors = compiled_arguments(d)
    source = numpy_source(_PRIMAL, expression, out, tensors)
    places = tuple([t.name for t in tensors].index(n) for n in names)
    try:
        with package.active():
            # The array that only carries sizes stays as it is: it has a shape, but no memory of that size.
            values = [inputs[t.name] if t.name == SIZES else package.array(
                inputs[t.name].astype(float) if t.name in names else inputs[t.name]) for t in tensors]
            return package.jacobian(_function(source, package), places, order)(*values)
    except Exception as error:  # another package's errors can be of any kind
        lines = str(error).strip().splitlines()
        raise NotRun(f"{package.name}: {type(error).__name__}{': ' + lines[0] if lines else ''}") from error


def _function(source: str, package: Package) -> Callable[..., Any]:
    """The function of generated source, over the package's arrays."""
    tree = ast.fix_missing_locations(_Translation(package.name).visit(ast.parse(source)))
    names = package.names()
    namespace: dict[str, Any] = {"__name__": f"lemmata generated for {package.name}"}
    # Our own text, generated from expressions and never from input.
    exec(compile(tree, f"<lemmata for {package.name}>", "exec"), namespace)
    namespace.update(names)
    return namespace[_PRIMAL]


class _Translation(ast.NodeTransformer):
    """``np`` and ``float`` become names of ours; what NumPy's arrays have as methods becomes functions of ``np``;
    special
    functions come from the package.
    """

    METHODS = frozenset({"sum", "mean", "max", "min", "prod", "astype", "transpose", "swapaxes", "squeeze", "copy"})

    def __init__(self, package: str) -> None:
        self.special = {"jax": "jax.scipy.special", "torch": "torch.special"}[package]

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass() if any(a.asname == "np" for a in node.names) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module == "scipy.special":
            node.module = self.special
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        f = node.func
        if (isinstance(f, ast.Attribute) and f.attr in self.METHODS
                and not (isinstance(f.value, ast.Name) and f.value.id == "np")):
            called = ast.Attribute(ast.Name("np", ast.Load()), f.attr, ast.Load())
            return ast.Call(called, [f.value, *node.args], node.keywords)
        return node


class _Names:
    """A namespace: our own functions first, then the package's."""

    def __init__(self, package: Any, **own: Any) -> None:
        self._package = package
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._package, name)


# ---------------------------------------------------------------------- JAX
@contextlib.contextmanager
def _jax_active() -> Iterator[None]:
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        with jax.default_device(jax.devices("cpu")[0]):
            yield
    finally:
        jax.config.update("jax_enable_x64", before)


def _jax_names() -> dict[str, Any]:
    import jax.numpy as jnp
    from jax.scipy import special

    def number(x: Any) -> Any:
        return jnp.asarray(x, dtype=jnp.float64)

    def transpose(x: Any, *axes: int) -> Any:
        return jnp.transpose(x, axes or None)

    own = _Names(jnp, astype=lambda x, kind: number(x), transpose=transpose)
    return {"np": own, "float": number, "erf": special.erf, "erfc": special.erfc}


def _jax_array(x: np.ndarray) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(x)


def _jax_jacobian(function: Callable[..., Any], places: tuple[int, ...],
                  order: int) -> Callable[..., list[np.ndarray]]:
    import jax

    def by_places(*values: Any) -> list[np.ndarray]:
        def of(*moving: Any) -> Any:
            given = dict(zip(places, moving, strict=True))
            return function(*(given.get(n, v) for n, v in enumerate(values)))

        every = tuple(range(len(places)))
        first = jax.jacrev(of, every)
        if order == 1:
            found = first(*(values[n] for n in places))
        else:
            found = jax.jacfwd(lambda x: first(x)[0])(values[places[0]]),
        return [np.asarray(f, dtype=float) for f in found]

    return by_places


# ---------------------------------------------------------------------- PyTorch
@contextlib.contextmanager
def _torch_active() -> Iterator[None]:
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # int / int has the default type
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _torch_names() -> dict[str, Any]:
    import torch

    def number(x: Any) -> Any:
        return torch.as_tensor(x).to(torch.float64)

    def of_numbers(name: str) -> Callable[..., Any]:  # NumPy's functions take numbers, PyTorch's only tensors
        function = getattr(torch, name)
        return lambda *values: function(*(number(v) for v in values))

    def extreme(name: str) -> Callable[..., Any]:
        function = getattr(torch, name)
        return lambda x, axis=(), keepdims=False: function(x, axis, keepdim=keepdims)

    def einsum(pattern: str, *values: Any, optimize: bool = False) -> Any:
        return torch.einsum(pattern, *(number(v) for v in values))

    def transpose(x: Any, *axes: int) -> Any:
        return x.permute(*(axes or range(x.ndim)[::-1]))

    numbers = ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "maximum",
               "minimum", "logaddexp", "power")
    own = {name: of_numbers({"power": "pow"}.get(name, name)) for name in numbers}
    own |= {"abs": lambda x: torch.abs(torch.as_tensor(x)), "max": extreme("amax"), "min": extreme("amin"),
            "astype": lambda x, kind: number(x), "copy": torch.clone, "einsum": einsum, "transpose": transpose}
    return {"np": _Names(torch, **own), "float": number, "erf": of_numbers("erf"), "erfc": of_numbers("erfc")}


def _torch_array(x: np.ndarray) -> Any:
    import torch

    return torch.tensor(x)


def _torch_jacobian(function: Callable[..., Any], places: tuple[int, ...],
                    order: int) -> Callable[..., list[np.ndarray]]:
    from torch.autograd.functional import jacobian

    def by_places(*values: Any) -> list[np.ndarray]:
        def of(*moving: Any) -> Any:
            given = dict(zip(places, moving, strict=True))
            return function(*(given.get(n, v) for n, v in enumerate(values)))

        start = tuple(values[n] for n in places)
        if order == 1:
            found = jacobian(of, start)
        else:
            found = jacobian(lambda x: jacobian(of, x, create_graph=True), start[0]),
        return [f.detach().numpy().astype(float) for f in found]

    return by_places


PACKAGES = (Package("jax", _jax_active, _jax_names, _jax_array, _jax_jacobian),
            Package("torch", _torch_active, _torch_names, _torch_array, _torch_jacobian))
