"""What the user holds after `gradient`, `jacobian`, ... or a theorem: the derivation with its result, pages, code and
verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import sympy as sp

from .generated import declared_arrays, derivation_function, derivation_source
from .symbolic.derivations.model import Derivation, Detail, Verdict
from .symbolic.derivations.system import SystemCheck
from .symbolic.derivations.theorem import NumericCheck
from .symbolic.language.nodes import Tensor
from .symbolic.rendering import derivation as pages
from .symbolic.rendering.html import derivation_html
from .symbolic.rendering.notebook import Pretty
from .symbolic.rendering.serialise import derivation_to_json
from .symbolic.rendering.vector_form import vector_form, vector_text


class Result:
    """A derivation in the user's hands.

    `result` is the right side as a SymPy expression, `vector_form` the same in vectors and matrices, `verdict` what was
    established and how. In a notebook it shows as typeset mathematics, with the verdict once that was asked for, in a
    terminal as text.
    """

    def __init__(self, derivation: Derivation, check: NumericCheck | SystemCheck | None = None) -> None:
        self.derivation = derivation
        self._check = check

    @property
    def name(self) -> str:
        """The theorem's name, or an empty string."""
        return self.derivation.name

    @property
    def result(self) -> sp.Expr:
        """The right side, a SymPy expression with named intermediates."""
        return self.derivation.right

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        """The declared arrays, in the order of the generated function's arguments."""
        return declared_arrays(self.derivation)

    @property
    def vector_form(self) -> str | None:
        """The result in vectors and matrices as text (``p − y``), or None where that cannot be said faithfully."""
        form = vector_form(self.result, self.derivation.indices)
        return None if form is None else vector_text(form)

    @cached_property
    def verdict(self) -> Verdict:
        """Computed on first use: canonical form, exact sizes, balls, NumPy, differences."""
        from .verification import verify_derivation

        return verify_derivation(self.derivation, self._check)

    def text(self, detail: Detail = "normal") -> str:
        """The derivation as text for a terminal."""
        return pages.derivation_text(self.derivation, detail)

    def latex(self, detail: Detail = "normal") -> str:
        """The derivation as LaTeX for amsmath."""
        return pages.derivation_latex(self.derivation, detail)

    def markdown(self, detail: Detail = "normal") -> str:
        """The derivation as Markdown with TeX mathematics."""
        return pages.derivation_markdown(self.derivation, detail)

    def tex(self, detail: Detail = "normal") -> str:
        """A standalone LaTeX file."""
        return pages.derivation_tex(self.derivation, detail)

    def tex_input(self, detail: Detail = "normal") -> str:
        r"""LaTeX that a document takes with ``\input``: without a preamble, the results numbered and labelled.

        >>> from lemmata.api import lookup_theorem
        >>> print(lookup_theorem("deriv_softmax").tex_input("brief").splitlines()[2])
        %   \eqref{eq:deriv_softmax}
        """
        return pages.derivation_tex_input(self.derivation, detail)

    def to_json(self) -> str:
        """The derivation as JSON; `lemmata check` replays it."""
        return derivation_to_json(self.derivation)

    def numpy_source(self, name: str = "") -> str:
        """Readable NumPy source of a function that computes the result from the arrays.

        For a gradient in named adjoints it returns all gradients that were asked for, as a tuple.
        """
        return derivation_source(self.derivation, name or self._function_name)

    def numpy(self, name: str = "") -> Callable[..., Any]:
        """The same function as a callable."""
        return derivation_function(self.derivation, name or self._function_name)

    @property
    def _function_name(self) -> str:
        derivative = self.derivation.variable is not None or self.derivation.parts
        return self.name or ("gradient" if derivative else "value")

    def __repr__(self) -> str:
        return self.text()

    def html(self) -> str:
        """The derivation for a notebook: the result, the steps folded away, and the verdict where it is known."""
        return derivation_html(self.derivation, self.__dict__.get("verdict"))

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        printer.text(self.text().rstrip())

    def _repr_latex_(self) -> str:
        return pages.repr_latex(self.derivation)

    def _repr_markdown_(self) -> str:
        return self.markdown()
