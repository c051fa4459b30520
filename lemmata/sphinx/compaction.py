"""KaTeX's markup with fewer letters: the same elements and the same style, at about two thirds of the size.

KaTeX writes each place of a formula as a `<span>` with long class names and its own `style`. Here classes get names of
one or two letters (`short_stylesheet` has the same names), and those that no rule of the stylesheet reads are left out;
a `style` that occurs several times on a page becomes a class that the page declares once.
"""

from __future__ import annotations

import functools
import itertools
import re
import string
from collections import Counter
from collections.abc import Iterator

from ..typesetting import FOLDER, STYLESHEET

_CLASS = re.compile(r"\.([A-Za-z][\w-]*)")
_SPAN = re.compile(r'<span class="([^"]*)"')
_STYLED = re.compile(r'<span(?: class=(?:"([^"]*)"|(\w+)))? style="([^"]*)">')
_END = "<!--/katex-->"
_DRAWN = re.compile(rf'<span class="katex-html".*?{_END}', re.DOTALL)
# The outermost elements keep their names: rules of a page's own stylesheet may mean them.
_KEPT = frozenset({"katex", "katex-display", "katex-html", "katex-mathml", "katex-version", "fleqn", "leqno"})


@functools.cache
def _stylesheet() -> tuple[str, str]:
    """The fonts, and the rules."""
    css = (FOLDER / STYLESHEET).read_text(encoding="utf-8")
    end = css.index("}", css.rindex("@font-face")) + 1
    return css[:end], css[end:]


@functools.cache
def short_names() -> dict[str, str]:
    """A short name, of small letters, for each class that the stylesheet's rules read."""
    selectors = re.sub(r"\{[^}]*\}", " ", _stylesheet()[1])
    classes = sorted(set(_CLASS.findall(selectors)) - _KEPT)
    return dict(zip(classes, _names(string.ascii_lowercase), strict=False))


def short_stylesheet() -> str:
    """KaTeX's stylesheet with the short names; of each font only the form that is shipped (woff2)."""
    fonts, rules = _stylesheet()
    names = short_names()
    fonts = re.sub(r",url\([^)]*\) format\(\"(?:woff|truetype)\"\)", "", fonts)
    return fonts + re.sub(
        r"[^{}]+(?=\{)", lambda selector: _CLASS.sub(lambda c: "." + names.get(c[1], c[1]), selector[0]), rules
    )


def shortened(formula: str) -> str:
    """A typeset formula with the short names, for a page that has the short stylesheet."""
    names = short_names()

    def written(m: re.Match[str]) -> str:
        kept = [names.get(c, c) for c in m[1].split() if c in names or c in _KEPT]
        value = " ".join(kept)
        return "<span" + (f' class="{value}"' if " " in value or "-" in value else f" class={value}" if value else "")

    return _SPAN.sub(written, formula) + _END


def declared(page: str) -> tuple[str, str]:
    """A page with the styles that its formulas repeat as classes, and the CSS that declares these."""
    styles = Counter(m[3] for formula in _DRAWN.findall(page) for m in _STYLED.finditer(formula))
    ordered = sorted((s for s, n in styles.items() if n > 1), key=lambda s: (-styles[s], s))
    # With a capital: not one of the short names.
    classes = dict(zip(ordered, _names(string.ascii_uppercase), strict=False))

    def written(m: re.Match[str]) -> str:
        own, style = m[1] or m[2] or "", m[3]
        if style not in classes:
            return m[0]
        return f'<span class="{own} {classes[style]}">' if own else f"<span class={classes[style]}>"

    body = _DRAWN.sub(lambda m: _STYLED.sub(written, m[0]).removesuffix(_END), page)
    return body, "".join(f".katex .{name}{{{style.rstrip(';')}}}" for style, name in classes.items())


def _names(letters: str) -> Iterator[str]:
    for length in itertools.count(1):
        for word in itertools.product(letters, repeat=length):
            yield "".join(word)
