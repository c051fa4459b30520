"""The pictures of the documentation, drawn when it is built, each for a light and for a dark page.

``draw(folder)`` writes ``NAME-light.svg`` and ``NAME-dark.svg``; so does ``python -m pictures FOLDER``, run in
``docs/``. Every curve and every cell is computed by ``lemmata.numeric``. As a Sphinx extension the package draws before
pages are read, and gives them the directive ``{picture} NAME``: both variants with the words for those who cannot see
them, and the body as caption.

A new picture is a function, a row of ``PICTURES`` and an entry of ``words.toml``. Words inside a picture would have to
be translated, so there are symbols only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .table import PICTURES, Picture

__all__ = ["PICTURES", "Picture", "draw", "setup"]


def draw(folder: str | Path) -> list[Path]:
    """Both variants of every picture, written to the folder; the same bytes each time."""
    from .style import THEMES

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for picture in PICTURES:
        for theme in THEMES:
            path = target / f"{picture.name}-{theme.name}.svg"
            drawn = picture.draw(theme)
            # Sphinx reads a page again when a picture on it is newer.
            if not path.exists() or path.read_text(encoding="utf-8") != drawn:
                path.write_text(drawn, encoding="utf-8")
            written.append(path)
    return written


def setup(app: Any) -> dict[str, bool]:
    """For Sphinx: ``extensions = ["pictures"]`` with ``docs/`` on the path."""
    from .directive import register

    return register(app, draw)
