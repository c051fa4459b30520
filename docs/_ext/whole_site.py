"""What Sphinx leaves as it was when only some pages are built again: the lists of pages beside all others.

A guide that is added, renamed or taken away changes the sidebar of every page, and leaves its old page behind.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_GENERATED = ("genindex", "search", "py-modindex")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("env-updated", beside_all)
    app.connect("build-finished", remove_old)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def beside_all(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Every page, when the lists of pages are not those of the last build."""
    listed = repr(sorted((page, [(name, env.titles[name].astext()) for name in names if name in env.titles])
                         for page, names in env.toctree_includes.items()))
    kept = Path(app.doctreedir) / "listed.txt"
    before = kept.read_text(encoding="utf-8") if kept.exists() else ""
    kept.write_text(listed, encoding="utf-8")
    return [] if listed == before else sorted(env.found_docs)


def remove_old(app: Sphinx, error: Exception | None) -> None:
    """Pages whose document is no more."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for page in sorted(folder.rglob("*.html")):
        name = page.relative_to(folder).with_suffix("").as_posix()
        if name not in app.env.found_docs and name not in _GENERATED and not name.startswith("_"):
            page.unlink()
