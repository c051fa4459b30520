r"""The standalone LaTeX documents of `derivation` and of the traces of shapes -> documents of Typst.

The same sections, sentences and displays as pdflatex would set, in the fonts that lie inside of the Typst library (New
Computer Modern), so that nothing of the machine gets into the file. Displays stand at the left, as their lines are
broken by sentences; one that is wider than the page is made smaller.
"""

from __future__ import annotations

import re
import unicodedata

from .typst import Reader, joined, quoted

PREAMBLE = """\
#set document(title: %s, date: none)
#set page(paper: "a4", margin: (x: 2.3cm, y: 2.4cm), numbering: "1")
#set text(font: "New Computer Modern", size: 10.5pt, lang: "en", hyphenate: true)
#show raw: set text(font: "DejaVu Sans Mono", size: 8.5pt)
#show math.equation: set text(font: "New Computer Modern Math")
#set par(justify: true, leading: 0.6em, spacing: 0.9em)
#show heading: set block(above: 1.4em, below: 0.8em)
#show math.equation.where(block: true): set align(left)
#show math.equation.where(block: true): set block(breakable: true)
#show math.equation.where(block: true): it => layout(size => {
  let room = size.width - 1.5em.to-absolute()
  let width = measure(it).width
  pad(left: 1.5em, if width <= room { it } else { scale(room / width * 100%%, reflow: true, origin: left + top, it) })
})
"""
_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "c": "\u0327"}
_LETTERS = {"o": "ø", "O": "Ø", "l": "ł", "L": "Ł"}
_BREAK = '#"\u200b"'


def typst_document(tex: str) -> str:
    r"""A standalone LaTeX document of ours in Typst's language.

    Raises `UnsupportedError` for what the tables of `typst` do not know.

    >>> print(typst_document(r"\begin{document}100\% of $p_{i}$\end{document}").splitlines()[-1])
    #"100% of "$p_(i)$
    """
    _, _, body = tex.partition(r"\begin{document}")
    content, closed, _ = body.partition(r"\end{document}")
    reader = _Document(content)
    text = reader.text("")
    if not closed or reader.token:
        raise reader.error(f"the document does not end at {reader.token or 'its end'}")
    text = re.sub(r'(^|\n\n|\[)#" +', r'\1#"', text.strip())  # a paragraph does not begin with a blank
    return PREAMBLE % quoted(reader.title) + re.sub(r' +"(?=\n\n|\])', '"', text) + "\n"


class _Document(Reader):
    title = ""

    def text(self, stop: str) -> str:
        """Prose with what stands in it, up to a token (which stays) or the end."""
        out: list[str] = []
        words = ""
        while self.token and self.token != stop and not (stop == r"\item" and self.token == r"\end"):
            token = self.token
            if token.isspace():
                self.take()
                words += "\n\n" if token.count("\n") > 1 else " "
            elif token == "-":
                dashes = 0
                while self.token == "-":
                    self.take()
                    dashes += 1
                words += {1: "-", 2: "–", 3: "—"}.get(dashes, "-" * dashes)
            elif token in ("`", "'"):
                self.take()
                double = self.token == token
                if double:
                    self.take()
                words += {"`": "‘“", "'": "’”"}[token][double]
            elif token[0] not in "\\${}^_&~#%":
                words += self.take()
            else:
                letter = self.letter()
                if letter is None:
                    out += [_words(words), self.markup()]
                    words = ""
                else:
                    words += letter
        return "".join([*out, _words(words)])

    def letter(self) -> str | None:
        """An escaped letter or one with an accent, or None."""
        token = self.token
        if not token.startswith("\\") or len(token) != 2:
            return None
        name = token[1]
        if name in "_%&#${} ":
            self.take()
            return name
        if name in "^~" and "".join(self.tokens[self.place + 1 : self.place + 3]) == "{}":
            self.place += 3
            return name
        if name in _ACCENTS:
            self.take()
            letter = self.raw() if self.token == "{" else self.take()
            return unicodedata.normalize("NFC", letter[0] + _ACCENTS[name]) + letter[1:]
        if name in _LETTERS:
            self.take()
            if self.token == "{":
                self.raw()
            return _LETTERS[name]
        return None

    def markup(self) -> str:
        """A formula, or a command of text."""
        token = self.take()
        match token:
            case "$":
                formula = self.mathematics()
                self.take("$")
                return f"${formula}$"
            case r"\[":
                return self.display()
            case r"\allowbreak":
                return self.group() or _BREAK
            case "{":
                inside = self.text("}")
                self.take("}")
                return inside
            case r"\section*":
                inside = self.group()
                self.title = self.title or _plain(inside)
                return f"\n\n#heading(level: 1)[{inside}]\n\n"
            case r"\paragraph":
                return f"\n\n#strong[{self.group()}] "
            case r"\textbf":
                return f"#strong[{self.group()}]"
            case r"\emph" | r"\textit":
                return f"#emph[{self.group()}]"
            case r"\texttt":
                inside = self.group()
                return re.sub(r'#("(?:[^"\\]|\\.)*")', lambda m: m[0] if m[0] == _BREAK else f"#raw({m[1]})", inside)
            case r"\begin":
                return self.environment(self.raw())
        self.place -= 1
        raise self.error(f"{token} is not known in text")

    def group(self) -> str:
        """An argument of text in braces."""
        self.blanks()
        self.take("{")
        inside = self.text("}")
        self.take("}")
        return inside

    def environment(self, name: str) -> str:
        """An environment whose ``\\begin{...}`` was read."""
        if name == "align*":
            return self.chain()
        if name in ("enumerate", "itemize"):
            items = []
            self.blanks()
            while self.token == r"\item":
                self.take()
                items.append(f"[{self.text(chr(92) + 'item').strip()}]")
            self.take(r"\end")
            if self.raw() != name:
                raise self.error(f"{name} is not closed")
            return f"\n\n#{'enum' if name == 'enumerate' else 'list'}(tight: false, {', '.join(items)})\n\n"
        raise self.error(f"{name} is not known in text")

    # ------------------------------------------------------------------ displays
    def display(self) -> str:
        r"""``\[ ... \]``, with one ``aligned`` in it or a plain formula."""
        self.blanks()
        if "".join(self.tokens[self.place : self.place + 10]) == r"\begin{aligned}":
            self.take()
            formula = _aligned(self.rows(self.raw()))
            self.blanks()
        else:
            formula = self.mathematics()
        self.take(r"\]")
        return _display(formula)

    def chain(self) -> str:
        r"""``align*``: its rows, with a sentence between some of them (``\intertext``).

        Typst has no sentences inside of an alignment, so rows after one are a display of their own; that their signs
        stand below the others', an invisible left side is put before them.
        """
        pieces: list[list[list[str]] | str] = [[]]
        row: list[str] = []
        while True:
            cell = self.mathematics()
            token = self.take()
            row.append(cell)
            if token == "&":
                continue
            if any(row):
                rows = pieces[-1]
                assert isinstance(rows, list)
                rows.append(row)
            row = []
            if token == "\\\\":
                self.gap()
            elif token == r"\intertext":
                pieces += [self.group(), []]
            elif token == r"\end" and self.raw() == "align*":
                break
            else:
                raise self.error(f"{token} inside of align*")
        left = next((r[0] for piece in pieces if isinstance(piece, list) for r in piece if len(r) > 1 and r[0]), "")
        out = []
        for n, piece in enumerate(pieces):
            if isinstance(piece, str):
                out.append(f"\n\n{piece}\n\n")
            elif piece:
                if n and left and not any(r[0] for r in piece):
                    piece[0][0] = f"#box(height: 0pt, hide($display({left})$))"
                out.append(_display(_aligned(piece)))
        return "".join(out)


def _aligned(rows: list[list[str]]) -> str:
    return " \\\n".join(" & ".join(row) for row in rows)


def _display(formula: str) -> str:
    return f"\n\n$ {formula} $\n\n"


def _words(text: str) -> str:
    """Prose as strings of Typst's, whose signs then mean nothing else; paragraphs stay apart."""
    parts = re.split(r"\s*\n\n\s*", text)
    return "\n\n".join(f"#{quoted(p)}" if p else "" for p in parts)


def _plain(content: str) -> str:
    """The words of a title, for the document's properties: formulas as their letters."""
    return joined([" ".join(re.sub(r'[#$"\\()]|op|upright|bold', "", content).split())])
