"""LaTeX -> HTML and MathML, by KaTeX in strict mode, while a page is built: the page needs no script and no network.

KaTeX's script, stylesheet and fonts are one version and lie beside this module, in `katex/` (`FOLDER`); a page links
`STYLESHEET`, which reads the fonts beside it. The script runs in one V8 context (mini-racer, extra `docs`), made on
first use: the first formula costs about a tenth of a second, the others about a millisecond.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from .symbolic.language.errors import LemmataError

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

FOLDER = Path(__file__).parent / "katex"
STYLESHEET = "katex.min.css"

# With strict: "error" alone, KaTeX still drops some things without a word (a line break outside of an environment), so
# what it finds not strict is collected too; so is a command that links or loads something, which it would show in red.
_TYPESET = """
function typeset(latex, displayMode) {
  const notStrict = [];
  const strict = (code, message) => { notStrict.push(`${message} [${code}]`); return "error"; };
  const trust = (context) => { notStrict.push(`${context.command} is not allowed in a formula`); return false; };
  try {
    const options = {displayMode, strict, throwOnError: true, trust, output: "htmlAndMathml"};
    const html = katex.renderToString(latex, options);
    return notStrict.length ? {error: notStrict.join("; ")} : {html};
  } catch (error) {
    return {error: String(error.message || error)};
  }
}
"""


class TypesettingError(LemmataError, ValueError):
    """A formula that KaTeX refuses; the message is KaTeX's, followed by the formula."""


def typeset(latex: str, *, display: bool = True) -> str:
    """The formula (without dollar signs) as HTML with MathML inside, which screen readers read.

    Raises :class:`TypesettingError` where KaTeX refuses the formula in strict mode, and :class:`LemmataError` where
    mini-racer is not installed.

    >>> html = typeset(r"\\frac{1}{2}", display=False)
    >>> html[:20], "<math" in html
    ('<span class="katex">', True)
    >>> typeset(r"\\frac{1}")
    Traceback (most recent call last):
    ...
    lemmata.typesetting.TypesettingError: KaTeX parse error: Unexpected end of input ...
    in the formula:
    \\frac{1}
    """
    answer = _context(os.getpid()).call("typeset", latex, display)
    if "error" in answer:
        raise TypesettingError(f"{answer['error']}\nin the formula:\n{latex}")
    return str(answer["html"])


def version() -> str:
    """The version that the script reports."""
    return str(json.loads(str(_context(os.getpid()).eval("JSON.stringify(katex.version)"))))


def copy_style(folder: Path) -> Path:
    """Copy the stylesheet and its fonts into the folder; gives the stylesheet's path there."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(FOLDER / "fonts", folder / "fonts", dirs_exist_ok=True)
    return Path(shutil.copy(FOLDER / STYLESHEET, folder / STYLESHEET))


# By process: a context does not survive a fork.
@functools.cache
def _context(process: int) -> MiniRacer:
    try:
        from py_mini_racer import MiniRacer
    except ImportError:
        raise LemmataError("typesetting needs mini-racer: pip install 'lemmata[docs]'") from None
    context = MiniRacer()
    # Left to the interpreter's end, V8 is sometimes taken down while its own threads still run, and the process hangs.
    atexit.register(lambda: context.close() if os.getpid() == process else None)
    context.eval((FOLDER / "katex.min.js").read_text(encoding="utf-8"))
    context.eval(_TYPESET)
    return context
