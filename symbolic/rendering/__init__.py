"""What is proved, shown: LaTeX, text, Markdown and JSON, from one precedence table and one index printer.

`layout` turns an expression into a notation tree, and each output form is a writer of that tree. Rendering reads
expressions and the records of a derivation; it decides nothing about mathematics.
"""

from __future__ import annotations

import sympy as sp

from ..language import nodes as _nodes
from ..language.arrays import Array
from .batches import Batched, batched_form
from .derivation import derivation_latex, derivation_markdown, derivation_tex, derivation_text, repr_latex
from .latex import write as _write_latex
from .layout import layout
from .letters import Letters
from .notebook import expression_of
from .serialise import derivation_from_json, derivation_to_json
from .source import READS, SourceError, source_latex
from .text import write as _write_text
from .vector_form import vector_form, vector_latex, vector_text
from .verdict import verdict_data, verdict_markdown, verdict_text


def latex(expression: sp.Basic | Array, letters: Letters | None = None, ranges: bool = False) -> str:
    r"""LaTeX of an expression, for KaTeX's strict mode and for pdflatex with amsmath.

    Of an array, of its element. `letters` fixes the letters of what is shown together; `ranges` writes what each sum
    runs over.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.vocabulary import exp, log, sum
    >>> print(latex(log(sum(exp(array("z", "K")))).body))
    \log\left(\sum_{j} e^{z_{j}}\right)
    """
    return _write_latex(layout(expression_of(expression), letters), ranges)


def text(expression: sp.Basic | Array, letters: Letters | None = None) -> str:
    """One line of Unicode text for an expression.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.vocabulary import log, sum
    >>> text(sum(array("y_hat", "K") * log(array("beta_1", ""))).body)
    'Σ_j ŷ_j log(β₁)'
    """
    return _write_text(layout(expression_of(expression), letters))


_nodes.HOOKS["latex"] = latex
_nodes.HOOKS["text"] = text

__all__ = [
    "Batched",
    "Letters",
    "SourceError",
    "batched_form",
    "derivation_from_json",
    "derivation_latex",
    "derivation_markdown",
    "derivation_tex",
    "derivation_text",
    "derivation_to_json",
    "latex",
    "layout",
    "repr_latex",
    "READS",
    "source_latex",
    "text",
    "vector_form",
    "vector_latex",
    "vector_text",
    "verdict_data",
    "verdict_markdown",
    "verdict_text",
]
