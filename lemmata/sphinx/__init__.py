"""The Sphinx extension: ``extensions = ["lemmata.sphinx"]`` in a project's conf.py.

Mathematics is typeset while the project is built (no script, no network), in MyST Markdown and in .rst documents; the
directives {derivation}, {theorem}, {shapes}, {gradient} and {prove} show what was proved while it was built, and the
build fails where a claim is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    from .. import __version__
    from . import directives, mathematics

    app.add_html_math_renderer(
        mathematics.NAME,
        inline_renderers=(mathematics.visit_inline, None),
        block_renderers=(mathematics.visit_block, None),
    )
    for name in mathematics.STYLESHEETS:
        app.add_css_file(name)
    directives.register(app)
    app.connect("builder-inited", mathematics.copy_style)
    app.connect("html-page-context", mathematics.declare_styles)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
