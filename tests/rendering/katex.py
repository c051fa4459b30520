"""KaTeX, strict, inside Python: a formula that does not typeset in a browser fails here with KaTeX's own message.

The vendored script runs in one V8 context (mini-racer), made on first use and reused: the first call costs about
a tenth of a second, the others less than a millisecond.
"""

import functools
import json
from pathlib import Path

from py_mini_racer import MiniRacer

SCRIPT = Path(__file__).parent / "vendor" / "katex" / "katex.min.js"

# Returns KaTeX's message, or null. With strict: "error" alone, KaTeX still drops some things without a word (a line
# break outside of an environment), so what it finds not strict is collected too.
TYPESET = """
function typeset(latex, displayMode) {
  const notStrict = [];
  const strict = (code, message) => { notStrict.push(`${message} [${code}]`); return "error"; };
  try {
    katex.renderToString(latex, {displayMode, strict, throwOnError: true, trust: false});
    return notStrict.length ? notStrict.join("; ") : null;
  } catch (error) {
    return String(error.message || error);
  }
}
"""


class KatexError(AssertionError):
    """The formula is refused; the message is KaTeX's, followed by the formula."""


def check(latex: str, *, display: bool = True) -> None:
    """Raise :class:`KatexError` unless the formula (without dollar signs) typesets in strict mode.

    Letters outside of ASCII are refused as well: KaTeX takes a σ for ``\\sigma``, pdflatex with amsmath alone does not.
    """
    if latex.isascii():
        message = _context().call("typeset", latex, display)
    else:
        message = f"not ASCII: {''.join(sorted({letter for letter in latex if not letter.isascii()}))}"
    if message is not None:
        raise KatexError(f"{message}\nin the formula:\n{latex}")


def version() -> str:
    """The version the vendored script reports."""
    return str(json.loads(_context().eval("JSON.stringify(katex.version)")))


@functools.cache
def _context() -> MiniRacer:
    context = MiniRacer()
    context.eval(SCRIPT.read_text(encoding="utf-8"))
    context.eval(TYPESET)
    return context
