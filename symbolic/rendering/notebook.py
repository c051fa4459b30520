r"""What a notebook asks an object for, by IPython's protocol: LaTeX of arrays and expressions, HTML of verdicts.

The objects live in rooms that rendering stands on, so they ask through the hooks of `nodes`; IPython is never imported.
"""

from __future__ import annotations

from typing import Any, Protocol

import sympy as sp

from ..derivations.model import Verdict
from ..language.arrays import Array, tensor_of
from ..language.errors import ShapeError
from ..language.nodes import HOOKS, DefinedTensor
from .html import verdict_html
from .latex import write
from .layout import layout
from .letters import Letters
from .prose import escaped, space
from .verdict import verdict_text


class Pretty(Protocol):
    """IPython's printer for a terminal, as far as it is used."""

    def text(self, text: str) -> None:
        """Print a text."""


def array_latex(value: Array) -> str:
    r"""An array in LaTeX: a declared one with its space, a definition with its value, a computed one by its element.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.vocabulary import softmax
    >>> z = array("z", "K")
    >>> print(array_latex(z), array_latex(2 * z), array_latex(softmax(z)), sep="\n")
    z \in \mathbf{R}^{K}
    \left(2 z_{i}\right)_{i} \in \mathbf{R}^{K}
    p_{i} := \frac{e^{z_{i}}}{\sum_{j} e^{z_{j}}}, \quad p \in \mathbf{R}^{K}
    """
    letters = Letters([value.body], value.indices)
    try:
        tensor = tensor_of(value)
    except ShapeError:
        element = write(layout(value.body, letters))
        if not value.ndim:
            return element
        at = "".join(letters.letter(i).latex for i in value.indices)
        return rf"\left({element}\right)_{{{at}}} \in {_space(value)}"
    name = letters.name(tensor).latex
    if not isinstance(tensor, DefinedTensor):
        _, where, words = space(tensor.domain.name if tensor.domain.name != "real" else "")
        return rf"{name} \in {_space(value, where)}" + (rf" \quad \text{{({escaped(words)})}}" if words else "")
    meaning = tensor.at(*value.indices)
    inner = Letters([meaning], value.indices, [tensor])
    head, body = write(layout(value.body, inner)), write(layout(meaning, inner))
    return f"{head} := {body}" + (rf", \quad {inner.name(tensor).latex} \in {_space(value)}" if value.ndim else "")


def _space(value: Array, entries: str = r"\mathbf{R}") -> str:
    sizes = r" \times ".join(write(layout(n)) for n in value.shape)
    return f"{entries}^{{{sizes}}}" if sizes else entries


def displayed(latex: str) -> str:
    """LaTeX as `_repr_latex_` gives it: mathematics in a line, set as on a line of its own."""
    return rf"$\displaystyle {latex}$"


def pretty_verdict(verdict: Verdict, printer: Pretty, cycle: bool) -> None:
    """A verdict in a terminal."""
    printer.text(verdict_text(verdict))


def expression_of(value: Any) -> sp.Basic:
    """An expression as it is, of an array its element."""
    return value.body if isinstance(value, Array) else value


HOOKS["array_latex"] = lambda value: displayed(array_latex(value))
HOOKS["verdict_html"] = verdict_html
HOOKS["verdict_pretty"] = pretty_verdict
