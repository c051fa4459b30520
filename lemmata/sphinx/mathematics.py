"""The mathematics of a Sphinx project, typeset while it is built: inline, displayed, and equations with numbers.

The page holds HTML that is drawn with KaTeX's stylesheet and fonts, and MathML that a screen reader reads; no script.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from shutil import copyfile, copytree
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging

from ..typesetting import FOLDER, TypesettingError, typeset
from .compaction import declared, short_stylesheet, shortened

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
NAME = "lemmata"
STYLESHEETS = ("lemmata/katex.css", "lemmata/lemmata.css")
# Environments that KaTeX would number by itself, beside the number that Sphinx gives.
_NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather)\}")


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Mathematics in a line of text."""
    self.body.append(f'<span class="math">{_typeset(node, node.astext(), display=False)}</span>')
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Displayed mathematics, in a box that scrolls by itself where it is too wide; beside it the number, if any."""
    latex = node.astext()
    latex = _NUMBERED.sub(r"\\\1{\2*}", latex) if _no_wrap(node) else displayed(latex)
    # A box that may scroll must be reachable by keyboard.
    box = f'<div class="math-box" tabindex="0">{_typeset(node, latex, display=True)}</div>'
    number = ""
    if node.get("number"):
        link = ""
        if node.get("ids"):
            link = f'<a class="headerlink" href="#{node["ids"][0]}" title="Link to this equation">¶</a>'
        number = f'<span class="eqno">({node["number"]}){link}</span>'
    # Furo puts a box of its own around it, which already has the id.
    ids = [] if node.get("ids") and node.parent.get("ids") == node["ids"] else node.get("ids", [])
    self.body.append(self.starttag(nodes.container(classes=node["classes"], ids=ids), "div", CLASS="math"))
    self.body.append(box + number + "</div>\n")
    raise nodes.SkipNode


def displayed(latex: str) -> str:
    r"""What Sphinx lets an author write in a display, as KaTeX takes it: a blank line or `\\` begins a new line.

    >>> displayed(r"a &= b \\ &= c")
    '\\begin{aligned}a &= b \\\\ &= c\\end{aligned}'
    >>> displayed("a = b")
    'a = b'
    """
    parts = [part.strip() for part in re.split(r"\n\s*\n", latex) if part.strip()]
    parts = [rf"\begin{{aligned}}{p}\end{{aligned}}" if _has_lines(p) else p for p in parts]
    return parts[0] if len(parts) == 1 else r"\begin{gathered}" + r" \\ ".join(parts) + r"\end{gathered}"


def _has_lines(latex: str) -> bool:
    """Whether there is a line break, or a column, outside of every environment."""
    depth = 0
    for token in re.findall(r"\\begin\{|\\end\{|\\\\|\\.|&", latex, re.DOTALL):
        depth += {r"\begin{": 1, r"\end{": -1}.get(token, 0)
        if depth == 0 and token in (r"\\", "&"):
            return True
    return False


def _no_wrap(node: nodes.math_block) -> bool:
    return bool(node.get("no-wrap", node.get("nowrap", False)))


def _typeset(node: nodes.Element, latex: str, *, display: bool) -> str:
    try:
        return shortened(typeset(latex, display=display))
    except TypesettingError as error:
        logger.error("%s", error, location=node, type="lemmata", subtype="katex")
        return f"<code>{html.escape(latex)}</code>"


def copy_style(app: Sphinx) -> None:
    """Put stylesheets and fonts where the pages look for them."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "lemmata"
    folder.mkdir(parents=True, exist_ok=True)
    copytree(FOLDER / "fonts", folder / "fonts", dirs_exist_ok=True)
    copyfile(FOLDER / "LICENSE", folder / "LICENSE-KaTeX")
    copyfile(Path(__file__).parent / "static" / "lemmata.css", folder / "lemmata.css")
    (folder / "katex.css").write_text(short_stylesheet(), encoding="utf-8")


def declare_styles(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Declare the styles that the formulas of a page repeat once, in its head."""
    if "body" in context:
        context["body"], rules = declared(context["body"])
        if rules:
            context["metatags"] = context.get("metatags", "") + f"\n<style>{rules}</style>"
