"""The bridge to SymPy's own printers, so that ``sympy.lambdify([z, y], result)`` works on expressions with our nodes.

SymPy asks each node for its code and shows it neither the whole expression nor the arguments. NumPy aligns shapes from
the right, so a node can still put its axes in the right places when every free index knows its axis *counted from the
right* and where its size can be read: that is `indices.Place`, set by `indices.placed` on the indices of a result. An
index without a place stands for the last axis, and it must then be the only free index of what is printed.

What a printer cannot know is refused or left to `numpy_source`: an expression that does not depend on an index at all
keeps no axis for it (SymPy prints ``1`` for a constant), and a named size that stands alone (the N of a mean) is a
symbol like any other and must be among the arguments of lambdify.
"""

from __future__ import annotations

from typing import Any

from ..language.errors import ShapeError, UnsupportedError
from ..language.indices import Index
from ..language.nodes import HOOKS, IndexNode, Tensor, free_indices, tensors
from ..language.operations import OPERATIONS
from ..language.sizes import Size
from . import runtime
from .compiler import Compiler
from .source import size_code
from .values import ATOM, Value, transposed


def numpycode(node: IndexNode, printer: Any) -> str:
    """NumPy code of one node with each free index in its own axis, counted from the right."""
    free = free_indices(node)
    axes = {i: _axis(i, printer) for i in free}
    arguments = [t for t in tensors([node]) if not hasattr(t, "body")]

    def size_name(size: Size) -> str:
        for i in free:
            if i.place is not None and i.place.array and i.size == size:
                return f"{i.place.array}.shape[{i.place.axis}]"
        try:
            return size_code(size, {t: t.name for t in arguments}, size_name)
        except ShapeError:
            return size.name  # a symbol among the arguments, or Python says that the name is not defined

    def helper(full: str) -> str:
        module, _, function = full.rpartition(".")
        printer.module_imports[module or runtime.__name__].add(function)
        return function

    compiler = Compiler(arguments, dict(axes), np="numpy", inline=True, size_name=size_name, helper=helper)
    value = compiler.value(node).numbers()
    order = sorted(value.axes, key=lambda i: axes[i])
    return _from_the_right(transposed(value, order), [axes[i] for i in order])


def _axis(i: Index, printer: Any) -> int:
    if i.place is not None:
        return i.place.from_right
    # The printer lives as long as one call of lambdify: a second index without a place shows there.
    known = printer.__dict__.setdefault("_lemmata_index", i)
    if known != i:
        raise UnsupportedError(
            f"the indices {known.name} and {i.name} do not say which axis each of them is; use "
            "numpy_source, or replace them by those of indices.placed before printing"
        )
    return -1


def _from_the_right(value: Value, places: list[int]) -> str:
    if not places or places == list(range(-len(places), 0)):
        return value.at(ATOM)
    key = [":" if p in places else "None" for p in range(places[0], 0)]
    return f"{value.at(ATOM)}[{', '.join(key)}]"


def install() -> None:
    """Give the nodes their code, and SymPy's lambdify the functions that only this vocabulary has."""
    HOOKS["numpycode"] = numpycode
    for row in OPERATIONS.values():
        implementation = getattr(runtime, row.numpy, None)
        # SymPy's own classes stay as they are
        if implementation is not None and not row.function.__module__.startswith("sympy."):
            row.function._imp_ = staticmethod(implementation)  # SymPy's way to attach an implementation


__all__ = ["Tensor", "install", "numpycode"]
