r"""The LaTeX that `latex` and its neighbours write -> mathematics of Typst.

Typst sets a derivation as a PDF without a TeX installation. There is one writer of the notation tree, `latex`; it alone
decides on parentheses and line breaks, and names, operators and traces of shapes have their LaTeX from their own
tables. So this module reads that LaTeX (a small language: about ninety commands, below) instead of writing each node a
second time, and what stands on the two pages is the same. A command that is not in the tables is an error.
"""

from __future__ import annotations

import re

from ..language.errors import UnsupportedError

# A letter or sign of Unicode, which Typst sets as LaTeX does: lower-case Greek slanted, upper-case upright.
SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ",
    "partial": "∂", "nabla": "∇", "infty": "∞", "sum": "∑", "prod": "∏", "top": "⊤", "forall": "∀",
    "cdot": "⋅", "times": "×", "odot": "⊙", "oslash": "⊘", "circ": "∘", "pm": "±", "neg": "¬", "wedge": "∧",
    "vee": "∨", "in": "∈", "neq": "≠", "ne": "≠", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "approx": "≈",
    "sim": "∼", "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "Leftrightarrow": "⇔", "ldots": "…", "cdots": "⋯",
    "mid": "∣", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "surd": '"√"', "|": "‖",
}
# Functions that both know by one name, and spaces.
WORDS = {
    **{n: n for n in ("arg", "cos", "cosh", "det", "exp", "lim", "ln", "log", "max", "min", "sin", "sinh", "tan",
                      "tanh", "arctan", "arcsin", "arccos", "quad")},
    ",": "thin", ":": "med", ";": "thick", "qquad": "wide", "!": "#h(-0.1667em)", " ": "space",
}  # fmt: skip
# A command with one argument -> the call around it.
CALLS = {
    "sqrt": "sqrt(%s)", "hat": "hat(%s)", "bar": "macron(%s)", "tilde": "tilde(%s)", "dot": "dot(%s)",
    "vec": "arrow(%s)", "mathbf": "bold(upright(%s))", "boldsymbol": "bold(%s)", "mathcal": "cal(%s)",
    "mathbb": "bb(%s)", "phantom": "#hide($%s$)",
}  # fmt: skip
SIZES = {"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}
MATRICES = {
    "pmatrix": 'mat(delim: "(", %s)',
    "bmatrix": 'mat(delim: "[", %s)',
    "matrix": "mat(delim: #none, %s)",
    "smallmatrix": "script(mat(delim: #none, row-gap: #0.25em, column-gap: #0.5em, %s))",
}
_DELIMITERS = {"(", ")", "[", "]", "|", "{", "}", "langle", "rangle", "lfloor", "rfloor", "lceil", "rceil", "."}
_PLAIN = "+-=<>|*!"  # what means itself in Typst's mathematics; all other punctuation is escaped
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_GAP = re.compile(r"\[-?[\d.]+(?:ex|em|pt)\]")


def typst(latex: str) -> str:
    r"""A formula (without dollar signs) in Typst's language, without its dollar signs.

    Raises `UnsupportedError` for a command that is not in the tables.

    >>> typst(r"\frac{\partial p_{i}}{\partial z_{k}} = p_{i} \left(\delta_{ik} - p_{k}\right)")
    'frac(∂p_(i),∂z_(k))=p_(i)lr(\\(δ_(i k)-p_(k)\\))'
    """
    reader = Reader(latex)
    formula = reader.mathematics()
    if reader.token:
        raise reader.error(f"{reader.token} stands where no formula can end")
    return formula


class Reader:
    """LaTeX read token by token; `mathematics` reads a formula up to what ends it."""

    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(latex)
        self.place = 0

    # ------------------------------------------------------------------ tokens
    @property
    def token(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """The next token, read; with `expected` it must be that one."""
        token = self.token
        if not token or (expected and token != expected):
            raise self.error(f"expected {expected or 'more'}, found {token or 'the end'}")
        self.place += 1
        return token

    def blanks(self) -> None:
        """Read over blanks."""
        while self.token.isspace():
            self.place += 1

    def error(self, message: str) -> UnsupportedError:
        """An error with what stands around the place."""
        around = "".join(self.tokens[max(0, self.place - 12) : self.place + 6])
        return UnsupportedError(f"no Typst for this LaTeX: {message}, in {' '.join(around.split())}")

    def raw(self) -> str:
        """The text of an argument in braces, unread."""
        self.blanks()
        self.take("{")
        depth = 1
        found: list[str] = []
        while True:
            token = self.take()
            depth += (token == "{") - (token == "}")
            if not depth:
                return "".join(found)
            found.append(token)

    # ------------------------------------------------------------------ formulas
    def mathematics(self) -> str:
        """A formula, up to a closing brace, a cell's or row's end, or a token that closes what is around it."""
        parts: list[str] = []
        while True:
            self.blanks()
            token = self.token
            if token in ("", "}", "$", "&", "\\\\", "\\]", "\\right", "\\end", "\\intertext"):
                return joined(parts)
            if token in ("_", "^"):
                self.take()
                base = parts.pop() if parts else '""'
                parts.append(f"{base}{token}({self.argument()})")
            elif token == "'":
                self.take()
                parts.append((parts.pop() if parts else '""') + "'")
            else:
                parts.append(self.atom())

    def argument(self) -> str:
        """A group in braces, or one token."""
        self.blanks()
        if self.token != "{":
            return self.atom()
        self.take("{")
        inside = self.mathematics()
        self.take("}")
        return inside

    def atom(self) -> str:
        """One piece of a formula."""
        token = self.token
        if token == "{":
            inside = self.argument()
            # braces make an ordinary sign of it: the comma of 590{,}592 has no space after it
            return f'class("normal",{inside})' if re.fullmatch(r"\\[,;:]", inside) else inside or '""'
        if not token.startswith("\\"):
            return self.character(self.take())
        name = self.take()[1:]
        if name in SYMBOLS or name in WORDS:
            return SYMBOLS.get(name) or WORDS[name]
        if name in CALLS:
            return CALLS[name] % self.argument()
        if name in ("{", "}", "%", "#", "$", "_"):
            return f"\\{name}"
        match name:
            case "frac" | "tfrac" | "dfrac":
                above = self.argument()
                return f"frac({above},{self.argument()})"
            case "left":
                opening = self.delimiter()
                inside = self.mathematics()
                self.take("\\right")
                return f"lr({joined([opening, inside, self.delimiter()])})"
            case "text" | "mathrm" | "operatorname":
                return self.words(name)
            case "begin":
                return self.matrix(self.raw())
        sized = re.fullmatch(r"(big|Big|bigg|Bigg)[lr]", name)
        if sized:
            return f"lr({self.delimiter()}, size: #{SIZES[sized[1]]})"
        self.place -= 1
        raise self.error(f"\\{name} is not known")

    def character(self, token: str) -> str:
        """A letter, a number or a sign."""
        if token == ":" and self.token == "=":
            self.take()
            return ":="
        if token.isalnum() or token[0].isdigit() or token in _PLAIN:
            return token
        if token.isascii() and token not in "~%$#&":
            return f"\\{token}"
        raise self.error(f"{token!r} is not LaTeX's")

    def delimiter(self) -> str:
        """What follows \\left, \\right or \\big: as it is stretched."""
        self.blanks()
        token = self.take().removeprefix("\\")
        if token not in _DELIMITERS:
            raise self.error(f"{token} is not a delimiter")
        return "" if token == "." else SYMBOLS.get(token) or ("|" if token == "|" else f"\\{token}")

    def words(self, command: str) -> str:
        """Upright words; blanks at the ends of \\text are spaces."""
        raw = self.raw()
        text = re.sub(r"\\([_%&#$ ])", r"\1", raw).replace(r"\,", " ")
        if re.search(r"[\\{}$^]", text):
            raise self.error(f"\\{command}{{{raw}}} holds more than words")
        word = quoted(text.strip())
        if command == "operatorname":
            return f"op({word})"
        if command == "mathrm":
            return f"upright({word})"
        return joined(["space" if text[:1].isspace() else "", word, "space" if text[-1:].isspace() else ""])

    def rows(self, environment: str) -> list[list[str]]:
        """The cells of an environment whose ``\\begin{...}`` was read, row by row."""
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self.mathematics())
            token = self.take()
            if token == "&":
                continue
            if token == "\\\\":
                self.gap()
                rows.append([])
            elif token == "\\end" and self.raw() == environment:
                return [row for row in rows if any(row)]
            else:
                raise self.error(f"{token} inside of {environment}")

    def gap(self) -> None:
        """Read over the ``[1ex]`` after a row's end."""
        ahead = "".join(self.tokens[self.place : self.place + 6])
        found = _GAP.match(ahead)
        if found:
            end = 0
            while end < found.end():
                end += len(self.take())

    def matrix(self, environment: str) -> str:
        """A matrix, its rows separated by semicolons."""
        if environment not in MATRICES:
            raise self.error(f"{environment} is not known")
        return MATRICES[environment] % ";".join(",".join(row) for row in self.rows(environment))


def joined(parts: list[str]) -> str:
    """Pieces of a formula side by side; a blank only where two would become one word or one sign."""
    out = ""
    for part in (p for p in parts if p):
        before, after = out[-1:], part[0]
        words = (before.isalnum() or before in (".", "…")) and (after.isalnum() or after == "…")
        signs = before in _PLAIN + ":" and after in _PLAIN + ":"
        out += (" " if out and (words or signs) else "") + part
    return out


def quoted(text: str) -> str:
    r"""A text as a string of Typst's.

    >>> print(quoted('a "b" \\'))
    "a \"b\" \\"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
