"""A whole function: imports, helper functions, sizes, local lines, and the result with its axes in order."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from ..language.arrays import shape_text
from ..language.errors import ShapeError, UnsupportedError
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Tensor, tensors
from ..language.operations import OPERATIONS
from ..language.sizes import Size
from . import runtime
from .compiler import Compiler, identifier

_CALLS = {"silu": ("sigmoid",), "mish": ("softplus",), "gelu": ("erf",)}  # helpers that call another helper
_WIDTH = 100  # of a line of the docstring
_RESERVED = sorted({row.numpy.rpartition(".")[2] for row in OPERATIONS.values() if not row.numpy.startswith("np.")})


def numpy_source(name: str, expression: sp.Expr, indices: Sequence[Index], arguments: Sequence[Tensor]) -> str:
    """Readable NumPy source of ``def name(arguments)`` that returns the expression with one axis an index, in order.

    There are no loops over indices; sizes are read from the shapes of the arguments; softmax, logsumexp, sigmoid and
    their logarithms keep their stable forms; an axis that the expression does not depend on has its full length all the
    same. Special functions other than erf call SciPy.

    Raises `ShapeError` for a free index that is not in `indices` or a size that no argument has, and `UnsupportedError`
    for what has no NumPy code.

    >>> from lemmata.symbolic.language.arrays import array
    >>> x, W = array("x", "K"), array("W", "N,K")
    >>> y = W @ x
    >>> print(numpy_source("forward", y.body, y.indices, [W.element(0, 0).tensor, x.element(0).tensor]))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def forward(W, x):
        \"\"\"W (N, K), x (K,) -> (N,)\"\"\"
        return W @ x
    <BLANKLINE>
    """
    def written(compiler: Compiler) -> _Returned:
        whole = sp.sympify(expression)
        compiler.rank.update({i: n for n, i in enumerate(indices)})
        compiler.note_repeated(whole)
        # Definitions of definitions are written from the bottom, so that a deep network does not nest the writer.
        deep = [t for t in tensors([whole]) if isinstance(t, DefinedTensor)]
        if len(deep) > 40:
            for t in deep:
                compiler.named(t)
        result = compiler.full(compiler.value(whole), indices).code
        statements = compiler.statements
        if statements and statements[-1].startswith(f"{result} = "):  # no name for what is returned at once
            result = statements.pop().removeprefix(f"{result} = ")
        return _Returned(result, (shape_text([i.size for i in indices]),))

    return _function(name, arguments, written)


def numpy_source_of(
    name: str, wanted: Sequence[DefinedTensor], arguments: Sequence[Tensor], order: Sequence[DefinedTensor] = ()
) -> str:
    """NumPy source of one function that returns the `wanted` definitions as a tuple, each intermediate on a line of
    its own: those of `order` first and in that order, as far as they are needed.

    Raises what `numpy_source` raises.

    >>> from lemmata.symbolic.language.arrays import array, define, tensor_of
    >>> x = array("x", "K")
    >>> y = define("y", 2 * x)
    >>> print(numpy_source_of("both", [tensor_of(y), tensor_of(define("w", y**2))], [tensor_of(x)]))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def both(x):
        \"\"\"x (K,) -> y (K,), w (K,)\"\"\"
        y = 2 * x
        w = y**2
        return y, w
    <BLANKLINE>
    """

    def written(compiler: Compiler) -> _Returned:
        needed = [t for t in tensors(wanted) if isinstance(t, DefinedTensor)]
        for t in sorted(needed, key=lambda t: order.index(t) if t in order else len(order)):
            compiler.named(t)
        names = [compiler.named(t) for t in wanted]
        compiler.statements[:] = _used(compiler.statements, names)
        return _Returned(", ".join(names) if len(names) > 1 else f"({names[0]},)", _told(names, wanted))

    return _function(name, arguments, written)


@dataclass(frozen=True)
class _Returned:
    """The code after ``return``, and what the docstring says of it."""

    code: str
    told: tuple[str, ...]


def _function(name: str, arguments: Sequence[Tensor], written: Callable[[Compiler], _Returned]) -> str:
    """The source of a function whose local lines and result `written` makes."""
    sizes = _Sizes(arguments)
    helpers: dict[str, None] = {}
    imports: dict[str, None] = {}

    def helper(full: str) -> str:
        module, _, function = full.rpartition(".")
        if module:
            imports.setdefault(f"from {module} import {function}")
        elif not hasattr(runtime, function):
            raise UnsupportedError(f"the operation {function} has no NumPy function; write one in codegen/runtime.py")
        else:
            for inner in _CALLS.get(function, ()):
                helpers.setdefault(inner)
            helpers.setdefault(function)
        return function

    compiler = Compiler(arguments, {}, size_name=sizes.name, helper=helper, reserved=_RESERVED)
    sizes.arrays = compiler.names
    sizes.names = {s: compiler.new_name(s.name) for s in sizes.symbols()}
    result = written(compiler)
    names = [compiler.names[t] for t in arguments]
    lines = [
        f"def {identifier(name)}({', '.join(names)}):",
        *_docstring(_told(names, arguments), result.told),
        *(f"    {line}" for line in sizes.lines()),
        *(f"    {line}" for line in compiler.statements),
        f"    return {result.code}",
    ]
    blocks = [_helper_source(h, imports) for h in helpers]
    head = ["import numpy as np", *sorted(imports)]
    return "\n\n\n".join(["\n".join(head), *blocks, "\n".join(lines)]) + "\n"


def _told(names: Sequence[str], arrays: Sequence[Tensor]) -> tuple[str, ...]:
    return tuple(f"{n} {shape_text(t.shape) if t.shape else '()'}" for n, t in zip(names, arrays, strict=True))


def _docstring(arguments: Sequence[str], returned: Sequence[str]) -> list[str]:
    """The lines of the docstring: what goes in and what comes out, with their shapes; no array is torn apart."""
    sides = [", ".join(p.replace(" ", "\0") for p in side) for side in (arguments, returned)]
    lines = [line.replace("\0", " ") for line in textwrap.wrap(" ->\0".join(sides), _WIDTH, break_long_words=False,
                                                               break_on_hyphens=False)]
    quoted = [f'"""{lines[0]}"""'] if len(lines) == 1 else [f'"""{lines[0]}', *lines[1:], '"""']
    return [f"    {line}" for line in quoted]


def _used(statements: Sequence[str], results: Sequence[str]) -> list[str]:
    """The local lines without those whose name is not read: a softmax of which only the logarithm is used."""
    read, kept = set(results), []
    for line in reversed(statements):
        name, _, code = line.partition(" = ")
        if name in read:
            kept.append(line)
            read |= set(re.findall(r"\w+", code))
    return kept[::-1]


def compile_numpy(
    name: str, expression: sp.Expr, indices: Sequence[Index], arguments: Sequence[Tensor]
) -> Callable[..., Any]:
    """The function of `numpy_source` as a callable; its source is the attribute ``__source__``.

    >>> from lemmata.symbolic.language.arrays import array
    >>> x = array("x", "K")
    >>> y = 2 * x
    >>> f = compile_numpy("double", y.body, y.indices, [x.element(0).tensor])
    >>> print(f.__source__.splitlines()[-1].strip())
    return 2 * x
    """
    return compile_source(name, numpy_source(name, expression, indices, arguments))


def compile_source(name: str, source: str) -> Callable[..., Any]:
    """The function `name` of a source that was generated here, as a callable."""
    namespace: dict[str, Any] = {"__name__": f"lemmata generated {name}"}
    exec(compile(source, f"<lemmata {name}>", "exec"), namespace)  # our own text, from expressions and never from input
    function = namespace[identifier(name)]
    function.__source__ = source
    return function


class _Sizes:
    """Where the value of each named size can be read; only the sizes that are used get a line."""

    def __init__(self, arguments: Sequence[Tensor]) -> None:
        self.arguments = arguments
        self.arrays: dict[Tensor, str] = {}
        self.names: dict[Size, str] = {}
        self.used: dict[Size, str] = {}

    def symbols(self) -> list[Size]:
        """The named sizes, in order of appearance."""
        found = [s for t in self.arguments for n in t.shape for s in sorted(n.free_symbols, key=str)]
        return list(dict.fromkeys(found))

    def name(self, size: Size) -> str:
        if size not in self.names:
            shapes = ", ".join(f"{t.name} {shape_text(t.shape)}" for t in self.arguments) or "none"
            raise ShapeError(
                f"the size {size} cannot be read from the arguments ({shapes}); add an argument with an axis of "
                "that size"
            )
        if size not in self.used:
            self.used[size] = ""
            self.used[size] = size_code(size, self.arrays, self.name)
        return self.names[size]

    def lines(self) -> list[str]:
        """One line a size; a size that is computed from others comes after them."""
        done: list[str] = []
        pending = dict(self.used)
        while pending:
            before = len(pending)
            for size, code in list(pending.items()):
                waiting = [self.names[o] for o in pending if o != size]
                read = re.sub(r"\w+\.shape", "", code)
                if not any(re.search(rf"\b{re.escape(w)}\b", read) for w in waiting):
                    done.append(f"{self.names[size]} = {code}")
                    del pending[size]
            if len(pending) == before:
                together = " and ".join(self.names[s] for s in pending)
                raise ShapeError(f"the sizes {together} can be read from the arguments only through each other "
                                 f"({'; '.join(f'{self.names[s]} = {c}' for s, c in pending.items())}); add an "
                                 f"argument with an axis "
                                 "of one of these sizes")
        return done


def size_code(size: Size, arrays: Mapping[Tensor, str], other: Callable[[Size], str]) -> str:
    """Code that reads one named size off an argument's shape, solving c·s + r = length where the axis is composite."""
    composite = None
    for t, code in arrays.items():
        for axis, n in enumerate(t.shape):
            place = f"{code}.shape[{axis}]"
            if n == size:
                return place
            slope = sp.expand(n).coeff(size, 1)
            rest = sp.expand(n - slope * size)
            if slope != 0 and not slope.has(size) and not rest.has(size) and composite is None:
                composite = (place, slope, rest)
    if composite is None:
        raise ShapeError(f"the size {size} cannot be read from the arguments {', '.join(t.name for t in arrays)}")
    place, slope, rest = composite
    left = place if rest == 0 else f"({place} - ({_arithmetic(rest, other)}))"
    return (
        left
        if slope == 1
        else f"{left} // ({_arithmetic(slope, other)})"
        if slope.is_Add or slope.is_Mul
        else f"{left} // {_arithmetic(slope, other)}"
    )


def _arithmetic(e: sp.Expr, other: Callable[[Size], str]) -> str:
    """A size as Python text."""
    return str(e.xreplace({s: sp.Symbol(other(s)) for s in e.free_symbols}))


def _helper_source(name: str, imports: dict[str, None]) -> str:
    """The source of a helper function, with its imports moved to the top."""
    lines = []
    for line in inspect.getsource(getattr(runtime, name)).splitlines():
        text = line.strip()
        if text.startswith("from scipy") or text in ("import math", "import mpmath"):
            imports.setdefault(text)
        elif not text.startswith("import "):
            lines.append(re.sub(r": Any|( -> Any)", "", line))
    while len(lines) > 1 and not lines[1].strip():
        del lines[1]
    return "\n".join(lines)
