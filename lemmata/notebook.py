"""`%load_ext lemmata`: SymPy expressions over our arrays are displayed in our notation.

Arrays, derivations, verdicts and traces display themselves. An expression such as p_i − y_i is SymPy's own `Add`, which
SymPy prints piece by piece: two sums side by side may then use one letter for different indices. This extension gives
such expressions to our printer, which chooses letters for the whole; all others stay SymPy's. IPython calls it with
itself, and is never imported.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from .symbolic.language.errors import LemmataError
from .symbolic.language.indices import Index
from .symbolic.language.nodes import tensors
from .symbolic.rendering import latex, text
from .symbolic.rendering.notebook import displayed


def load(ipython: Any) -> None:
    """Put our printers before SymPy's, for LaTeX and for plain text."""
    formatters = ipython.display_formatter.formatters
    formatters["text/latex"].for_type(sp.Basic, expression_latex)
    formatters["text/plain"].for_type(sp.Basic, expression_pretty)


def unload(ipython: Any) -> None:
    """Give SymPy its printers back."""
    for kind in ("text/latex", "text/plain"):
        ipython.display_formatter.formatters[kind].pop(sp.Basic, None)


def expression_latex(expression: sp.Basic) -> str | None:
    """LaTeX of an expression in our notation where it speaks of arrays or indices, in SymPy's otherwise."""
    if _is_ours(expression):
        try:
            return displayed(latex(expression))
        except (LemmataError, TypeError, AttributeError):  # a tuple, a matrix, ...: SymPy prints what we do not
            pass
    return expression._repr_latex_()


def expression_pretty(expression: sp.Basic, printer: Any, cycle: bool) -> None:
    """One line of text for an expression, in a terminal."""
    if _is_ours(expression):
        try:
            printer.text(text(expression))
            return
        except (LemmataError, TypeError, AttributeError):
            pass
    printer.text(repr(expression))


def _is_ours(expression: sp.Basic) -> bool:
    return bool(tensors([expression]) or expression.atoms(Index))
