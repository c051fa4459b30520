"""The theorems, one file a topic; each is one decorated function. Listing, tests, docs and command line follow
from these.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from ..derivations.theorem import Theorem, registered
from ..language.errors import LemmataError


def theorems() -> dict[str, Theorem]:
    """All theorems by name, in the order of topics' files and of declaration."""
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return registered()


def find_theorem(name: str) -> Theorem:
    """A theorem by name; unknown names are an error that lists near ones."""
    known = theorems()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3)
    raise LemmataError(f"there is no theorem {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ".")
                       + " The list: lemmata list")
