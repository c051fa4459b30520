"""The directives {derivation}, {theorem}, {shapes}, {gradient} and {prove}: blocks of a document, filled by `weaving`.

What fills a block is MyST Markdown, also where the document is .rst. A block that cannot be read, or whose claim is not
proved, is an error with file and line, and the build ends with a non-zero exit code: now and in each later build, until
it is mended. Documents with blocks are read again when Lemmata's sources change, or the user's files that a block
names.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils import new_document
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.parsers.mdit import create_md_parser
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from ..symbolic.rendering.wording import ENGLISH, language, said
from ..weaving import KINDS, Block, BlockError, myst_display, woven

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)
# Of each document with blocks: the hash of Lemmata's sources that it was read with, and the blocks that are wrong.
_READ, _WRONG = "lemmata_read", "lemmata_wrong"


class BlockDirective(SphinxDirective):
    """A block of the kind that the directive is called."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        env = self.env
        file, line = self.get_source_info()
        options = {name: "" if text is None else text for name, text in self.options.items()}
        argument = self.arguments[0] if self.arguments else ""
        block = Block(self.name, argument, options, "\n".join(self.content), _relative(file, env), line)
        _of(env, _READ)[env.docname] = sources_hash()
        try:
            filled = woven(block, Path(file).parent, myst_display)
        except BlockError as error:
            message = str(error).removeprefix(f"{block.file}:{block.line}: ")
            _of(env, _WRONG).setdefault(env.docname, []).append(f"{block.place}")
            logger.error("%s", message, location=(env.docname, line), type="lemmata", subtype=self.name)
            return [nodes.literal_block(message, message, classes=["lemmata-error"])]
        for path in filled.depends_on:
            env.note_dependency(str(path))
        markdown = filled.markdown
        pages = env.config.lemmata_theorem_pages
        if filled.theorem and pages:
            with language(options.get("language", ENGLISH)):
                words = said(f"The proof of `{filled.theorem}`")
            markdown += f"\n[{words}]({pages.format(name=filled.theorem)})\n"
        box = nodes.container(classes=["lemmata", f"lemmata-{self.name}"])
        box += self._parsed(markdown, file, line)
        self.set_source_info(box)
        return [box]

    def _parsed(self, markdown: str, file: str, line: int) -> Sequence[nodes.Node]:
        """The Markdown as nodes of this document, whatever its own syntax is."""
        settings = self.state.document.settings
        part = new_document(file, settings)
        part.reporter = self.state.document.reporter
        config = MdParserConfig(enable_extensions={"dollarmath"})
        parser = create_md_parser(config, SphinxRenderer)
        parser.options["document"] = part
        parser.render(markdown)
        found = list(part.children)
        for node in part.findall(nodes.Element):
            node.line = line  # the block's: what fills it has no lines of its own
            if node.get("names") or node.get("ids"):
                self.state.document.note_explicit_target(node, node)
        for node in found:
            part.remove(node)
        return found


def _relative(file: str, env: BuildEnvironment) -> str:
    path = Path(file)
    source = Path(env.srcdir)
    return path.relative_to(source).as_posix() if path.is_relative_to(source) else path.name


# ---------------------------------------------------------------------- what is read again
@functools.cache
def sources_hash() -> str:
    """Of all Lemmata's sources: another one makes every block be filled again."""
    from .. import numeric, symbolic

    total = hashlib.sha256()
    for module in (symbolic, numeric):
        folder = Path(str(module.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            total.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    own = Path(__file__).parent
    for file in (*sorted(own.parent.glob("*.py")), *sorted(own.glob("*.py"))):
        total.update(file.relative_to(own.parent).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _of(env: BuildEnvironment, name: str) -> dict[str, Any]:
    if not hasattr(env, name):
        setattr(env, name, {})
    kept: dict[str, Any] = getattr(env, name)
    return kept


def outdated(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Documents whose blocks were filled by other sources, and those with a block that is wrong."""
    old = [name for name, used in _of(env, _READ).items() if used != sources_hash()]
    return sorted({*old, *_of(env, _WRONG)} & env.found_docs)


def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a document that is read again or is no more."""
    for name in (_READ, _WRONG):
        _of(env, name).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: Sequence[str], other: BuildEnvironment) -> None:
    """Take over what another process read."""
    for name in (_READ, _WRONG):
        _of(env, name).update({d: kept for d, kept in _of(other, name).items() if d in docnames})


def fail(app: Sphinx, error: Exception | None) -> None:
    """The build's exit code is 1 where a block is wrong."""
    if error is None and _of(app.env, _WRONG):
        app.statuscode = 1


def register(app: Sphinx) -> None:
    """Add the directives, one for each kind of block."""
    app.add_config_value("lemmata_theorem_pages", "", "env", types=[str])
    for name, kind in KINDS.items():
        options = dict.fromkeys(kind.options, directives.unchanged)
        app.add_directive(name, type(f"{name.title()}Directive", (BlockDirective,), {"option_spec": options}))
    app.connect("env-get-outdated", outdated)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", fail)
