"""Index expressions to `Value`s: one named handler a node type.

The general way is always open: every subexpression becomes an array with one axis a free index, and a sum becomes
``.sum`` of that. The handlers (`sums`, `arithmetic`, `functions`, `indicators`) take a nicer way where they see one.
`statements` collects local lines (named intermediates, stable softmax and logsumexp); in `inline` mode, for printers
that need a single expression, helper functions are called instead.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy as sp

from ..language import nodes
from ..language.errors import ShapeError, UnsupportedError
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Tensor
from ..language.sizes import Size
from .handlers import HANDLERS
from .patterns import Exponentials
from .stable import register_softmax, softmax
from .values import ATOM, Value, aligned, transposed

# Sums, maxima and products that stand in an expression more than once get a local line of this name.
_REDUCTION_NAMES: dict[type, str] = {nodes.IndexSum: "total", nodes.IndexMax: "top", nodes.IndexProduct: "prod"}


class Compiler:
    """Compiles expressions over `arguments`; `rank` orders axes where nothing else does (the place in the result)."""

    def __init__(
        self,
        arguments: Sequence[Tensor],
        rank: dict[Index, int],
        *,
        np: str = "np",
        inline: bool = False,
        size_name: Callable[[Size], str],
        helper: Callable[[str], str],
        reserved: Iterable[str] = (),
    ) -> None:
        self.rank, self.np, self.inline = rank, np, inline
        self.size_name, self.helper = size_name, helper
        self.statements: list[str] = []
        self.taken = {"np", "numpy", "float", *reserved}
        self.names: dict[Tensor, str] = {}
        self.softmaxes: dict[Tensor, tuple[Value, Index]] = {}
        self.repeated: set[sp.Expr] = set()
        self._values: dict[sp.Expr, Value] = {}
        self.logs: dict[Tensor, Tensor] = {}
        self.folded: dict[Exponentials, tuple[Tensor, tuple[Index, ...]]] = {}
        for t in arguments:
            self.names[t] = self.new_name(t.name) if not inline else identifier(t.name)

    # ------------------------------------------------------------------ names and local lines
    def new_name(self, wish: str) -> str:
        """A Python name that is not taken yet, near to the wish."""
        base = identifier(wish)
        name, n = base, 2
        while name in self.taken:
            name, n = f"{base}_{n}", n + 1
        self.taken.add(name)
        return name

    def assign(self, wish: str, value: Value) -> Value:
        """A local line; in inline mode the value itself."""
        if self.inline:
            return Value(value.at(ATOM), value.axes)
        name = self.new_name(wish)
        self.statements.append(f"{name} = {value.code}")
        return Value(name, value.axes)

    def named(self, tensor: Tensor) -> str:
        """The name of a tensor; a definition is written as a local line when it is first used."""
        if tensor not in self.names:
            if tensor in self.softmaxes:
                self.names[tensor] = softmax(self, *self.softmaxes[tensor]).code
            elif isinstance(tensor, DefinedTensor):
                self.names[tensor] = self.define(tensor)
            else:
                raise UnsupportedError(
                    f"{tensor.name} occurs in the expression but is not among the arguments; "
                    f"declared: {', '.join(self.names.values()) or 'none'}"
                )
        return self.names[tensor]

    def note_repeated(self, e: sp.Expr) -> None:
        """Mark the sums that stand in an expression more than once: each of them gets a local line."""
        seen: set[sp.Expr] = set()

        def visit(node: Any) -> None:
            if type(node) in _REDUCTION_NAMES:
                if node in seen:
                    self.repeated.add(node)
                    return
                seen.add(node)
            for a in node.args:
                visit(a)

        visit(e)

    def define(self, tensor: DefinedTensor) -> str:
        self.rank.update({p: n for n, p in enumerate(tensor.parameters)})
        logits = register_softmax(self, tensor)
        if logits is not None:
            return softmax(self, *logits, name=tensor.name).code
        self.note_repeated(tensor.body)
        value = self.full(self.value(tensor.body), tensor.parameters)
        return self.assign(tensor.name, value).code

    # ------------------------------------------------------------------ shapes
    def size(self, n: sp.Expr) -> Value:
        """The code of a size."""
        return self.value(n)

    def shape_code(self, axes: Iterable[Index]) -> str:
        sizes = [self.size(a.size).code for a in axes]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def full_over(self, value: Value, bound: Sequence[Index]) -> Value:
        """The value with the bound axes present, stretched where it does not depend on them."""
        missing = [b for b in bound if b not in value.axes]
        return self.full(value, [*value.axes, *missing]) if missing else value

    def full(self, value: Value, axes: Sequence[Index]) -> Value:
        """The value with exactly these axes, in order and at full size; constants are stretched to the shape."""
        extra = [a for a in value.axes if a not in axes]
        if extra:
            raise ShapeError(
                f"the expression has the free indices {', '.join(a.name for a in extra)} (sizes "
                f"{', '.join(str(a.size) for a in extra)}) that are not among the axes of the result"
            )
        value = value.numbers()
        if tuple(axes) == value.axes:
            return value
        missing = [a for a in axes if a not in value.axes]
        if not missing:
            return transposed(value, axes)
        if not value.axes:
            fill = {"0": "zeros", "1": "ones", "0.0": "zeros", "1.0": "ones"}.get(value.code)
            shape = self.shape_code(axes)
            code = f"{self.np}.{fill}({shape})" if fill else f"{self.np}.full({shape}, {self.as_float(value.code)})"
            return Value(code, tuple(axes))
        if all(a.size == 1 for a in missing):
            inner = transposed(value, [a for a in axes if a not in missing])
            key = ", ".join("None" if a in missing else ":" for a in axes)
            return Value(f"{inner.at(ATOM)}[{key}]", tuple(axes))
        return Value(
            f"{self.np}.broadcast_to({aligned(value, axes).code}, {self.shape_code(axes)}).copy()", tuple(axes)
        )

    @staticmethod
    def as_float(code: str) -> str:
        return f"{code}.0" if re.fullmatch(r"-?\d+", code) else code

    # ------------------------------------------------------------------ dispatch
    def value(self, e: Any) -> Value:
        """The code of one expression."""
        hit = self._values.get(e)
        if hit is None:
            for kind in type(e).__mro__:
                handler = HANDLERS.get(kind)
                if handler is not None:
                    hit = handler(self, e)
                    break
            else:
                raise UnsupportedError(f"{type(e).__name__} has no NumPy code: {e}")
            if e in self.repeated and not self.inline and not hit.code.isidentifier():
                hit = self.assign(_REDUCTION_NAMES[type(e)], hit)
            self._values[e] = hit
        return hit


def identifier(name: str) -> str:
    """A Python identifier near to a name."""
    text = re.sub(r"\W", "_", name)
    if not text or text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) else text
