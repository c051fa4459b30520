r"""What a derivation establishes, without its steps: `left = right` as one display of LaTeX, its vector form, and the
words that must stand beside it.

For documents of other people that show a result inside a text of their own. A result is never shown without its
definitions, domains and hypotheses (`where_markdown`), because without them it is another statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..derivations.model import Derivation
from .document import document
from .latex import write as write_latex
from .pieces import LATEX_WIDTH, aligned_latex, assumptions, declared_latex, latex_lines
from .system_document import system_document, wanted
from .text import write as write_text
from .tree import Node, Relation
from .wording import listed, said

_LINE = LATEX_WIDTH + 22


def result_latex(d: Derivation) -> str:
    """The statement in index form, without dollar signs; a row for each gradient in named adjoints."""
    if d.parts:
        found = [s.result.index for s in wanted(system_document(d, "brief"))]
        return aligned_latex([row for r in found for row in _rows(r.left, r.right)])
    shown = document(d, "brief")
    return aligned_latex(_rows(shown.left, shown.lines[-1].node))


def vector_result_latex(d: Derivation) -> str | None:
    """The statement in vectors and matrices, or None where it cannot be said faithfully."""
    if d.parts:
        found = [s.result for s in wanted(system_document(d, "brief"))]
        if not found or any(s.vector is None for s in found):
            return None
        return aligned_latex([row for s in found if s.vector is not None
                              for row in _rows(s.vector.left, s.vector.right, s.for_each)])
    shown = document(d, "brief")
    if shown.vector is None:
        return None
    left, right = shown.vector
    return aligned_latex(_rows(left, right, shown.for_each))


def _rows(left: Node | None, right: Node, for_each: Sequence[Node] = ()) -> list[str]:
    """Aligned rows of `left = right`; a left side that leaves no room for the right one has rows of its own."""
    first, *rest = latex_lines(right)
    rest = [rf"&\qquad {r}" for r in rest]
    if left is None:
        rows = [f"&{first}", *rest]
    elif len(write_text(left)) + len(write_text(right)) <= _LINE or rest:
        rows = [f"{write_latex(left)} &= {first}", *rest]
    else:
        rows = [*(rf"&\phantom{{{{}}={{}}}} {x}" for x in latex_lines(left)), f"&= {first}", *rest]
    if for_each:
        rows[-1] += rf" \quad \text{{{said('for each ')}}} {', '.join(map(write_latex, for_each))}"
    return rows


def declared_markdown(d: Derivation) -> str:
    """The arrays with their shapes and domains, in one line of Markdown."""
    return declared_latex(system_document(d, "brief") if d.parts else document(d, "brief"))


def domains_markdown(d: Derivation) -> str:
    """The arrays that are not any real numbers, in one line of Markdown; empty where there are none.

    >>> from lemmata.symbolic.theorems import find_theorem
    >>> print(domains_markdown(find_theorem("vjp_layer_norm").derivation()))
    for $\\varepsilon \\in \\mathbf{R}$ (positive)
    """
    restricted = declared_latex(system_document(d, "brief") if d.parts else document(d, "brief"), restricted=True)
    return said(f"for {restricted}") if restricted else ""


def where_markdown(d: Derivation) -> str:
    """The definitions and hypotheses of the statement in one line of Markdown; empty where there are none.

    Domains are said by `domains_markdown`, for places that do not declare the arrays (`declared_markdown`).

    >>> from lemmata.symbolic.theorems import find_theorem
    >>> print(where_markdown(find_theorem("sum_softmax").derivation()))
    where $p_{i} := \\frac{e^{z_{i}}}{\\sum_{j} e^{z_{j}}}$
    """
    definitions: list[Node]
    if d.parts:
        system = system_document(d, "brief")
        definitions = [s.vector or Relation(s.index.left, ":=", s.index.right) for s in (*system.forward, system.loss)]
        assumed = assumptions(system)
    else:
        shown = document(d, "brief")
        definitions, assumed = list(shown.definitions), assumptions(shown)
    parts = ["where " + said(", ").join(f"${write_latex(r)}$" for r in definitions)] if definitions else []
    if assumed:
        parts.append(f"assuming {assumed}")
    return listed(parts)
