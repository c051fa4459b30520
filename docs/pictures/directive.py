"""The Sphinx directive ``{picture} NAME``: the light and the dark variant, alternative text, the body as caption."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .table import PICTURES

_NAMES = {p.name: p for p in PICTURES}
_FOLDER = "_pictures"


class PictureDirective(SphinxDirective):
    """Furo shows what has the class ``only-light`` or ``only-dark`` in that mode alone."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in _NAMES:
            raise self.error(f"no picture {name!r}; there are: {', '.join(_NAMES)}")
        # Pages in another language lie in a folder named by it, as zh/index.md.
        language = self.env.docname.split("/")[0]
        words = _NAMES[name].alternative(language)
        figure = nodes.figure(classes=["picture"])
        for theme in ("light", "dark"):
            uri = f"/{_FOLDER}/{name}-{theme}.svg"
            figure += nodes.image(uri=uri, alt=words, classes=[f"only-{theme}"])
        if self.content:
            figure += nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [figure]


def register(app: Any, draw: Callable[[str | Path], list[Path]]) -> dict[str, bool]:
    """Draws before pages are read, and adds the directive."""
    app.connect("builder-inited", lambda app: draw(Path(app.srcdir) / _FOLDER))
    app.add_directive("picture", PictureDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
