"""About how many bytes a piece of Markdown has as HTML, which is mostly its formulas; each piece is measured once."""

from __future__ import annotations

import hashlib
import re

from lemmata.sphinx.compaction import declared, shortened
from lemmata.typesetting import TypesettingError, typeset

_known: dict[str, int] = {}


def weight(markdown: str) -> int:
    """The weight of a piece: its formulas typeset, its code highlighted, the rest as it is."""
    key = hashlib.sha256(markdown.encode()).hexdigest()[:24]
    if key not in _known:
        _known[key] = _measured(markdown)
    return _known[key]


def know(weights: dict[str, int]) -> None:
    """Take over weights that were measured elsewhere."""
    _known.update(weights)


def taken_weights() -> dict[str, int]:
    """What was measured here since the last call."""
    weights = dict(_known)
    _known.clear()
    return weights


def _measured(markdown: str) -> int:
    code = sum(map(len, re.findall(r"```.*?```", markdown, re.DOTALL)))
    plain = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    formulas = re.findall(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", plain, re.DOTALL)
    html = "".join(_typeset(display or inline, bool(display)) for display, inline in formulas)
    body, rules = declared(html)
    # A formula has a box around it; highlighted code has an element around every word.
    return len((body + rules).encode()) + 110 * len(formulas) + 2 * len(markdown.encode()) + 6 * code


def _typeset(latex: str, display: bool) -> str:
    try:
        return shortened(typeset(latex.strip(), display=display))
    except TypesettingError:
        return latex  # the writer will complain, with the place
