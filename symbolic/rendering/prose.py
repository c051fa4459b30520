r"""Sentences and names for LaTeX's text mode: reasons, notes and sources are plain Unicode text everywhere else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .names import GREEK, LATEX_COMMAND
from .wording import listed, said


def escaped(text: str) -> str:
    r"""Prose for LaTeX's text mode: special characters escaped, mathematics in it (p_i, σ, ∂) as inline mathematics.

    >>> print(escaped("100% of p_i > 0, by w_{t_n}"))
    100\% of $p_{i}$ $>$ 0, by $w_{t_{n}}$
    """
    pieces = []
    place = 0
    for match in _FORMULA.finditer(text):
        pieces.append(_plain(text[place : match.start()]))
        pieces.append(f"${_formula(match[0])}$")
        place = match.end()
    return "".join([*pieces, _plain(text[place:])])


# A single letter with a short index; rule names such as log_mul have more letters before the underscore.
_INDEX = r"(?:\{(?:[A-Za-z0-9]{1,2}|[a-z]_[a-z0-9])\}|[A-Za-z0-9]{1,2}(?!\w))"  # _i, _{ij}, _{t_n}
_SYMBOL = rf"[A-Za-zα-ωΔΩŷĝ]_{_INDEX}"
_PRODUCT = r"[a-z]?[α-ω](?:_[A-Za-z0-9])?(?!\w)"  # kω_i
_POWER = r"[A-Za-z0-9α-ω]+\^(?:\w+|\((?:[\w/ +−-]|\([\w/ +−-]*\))+\))"  # 10000^(−2i/d)
_ENTRIES = r"\[[\wα-ω −,]+\]"
_FORMULA = re.compile(
    rf"\[{_ENTRIES}(?:, {_ENTRIES})+\]"
    rf"|(?<!\w)(?:{_POWER}|(?:sin|cos) {_PRODUCT}|{_SYMBOL}|[a-z][α-ω]_[A-Za-z0-9](?!\w))"
)


def _formula(text: str) -> str:
    """A formula found in prose, in LaTeX; [[a, b], [c, d]] is a matrix."""
    if text.startswith("[["):
        rows = (r" & ".join(map(_formula, row.split(", "))) for row in text[2:-2].split("], ["))
        return r"\bigl(\begin{smallmatrix} " + r" \\ ".join(rows) + r" \end{smallmatrix}\bigr)"
    text = re.sub(r"\^(?:(\w+)|\((.*)\))", lambda m: f"^{{{m[1] or m[2]}}}", text)
    text = re.sub(r"_(?!\{)(\w{1,2})", r"_{\1}", text)
    text = re.sub(r"\b(sin|cos) ", r"\\\1 ", text)
    latex = "".join(c if c.isascii() else _letter_of(c).strip("$") + "\0" for c in text)
    # a space ends a command before a letter
    return re.sub(r"(?<=[a-z])\0(?=[A-Za-z0-9])", " ", latex).replace("\0", "")


def _plain(text: str) -> str:
    text = text.replace("\\", "/")
    text = re.sub(r"([#$%&_{}])", r"\\\1", text).replace("^", r"\^{}").replace("~", r"\~{}")
    text = re.sub(r"[<>|]", lambda m: f"${m[0]}$", text)
    # A mathematician's accents, whether the letter has a sign of its own with it (ŷ) or not (x̂).
    text = re.sub("([A-Za-z])([\u0302\u0304])", lambda m: rf"${_ACCENTS[m[2]]}{{{m[1]}}}$", text)
    return "".join(c if ord(c) < 127 else _letter_of(c) for c in text)


def _letter_of(c: str) -> str:
    """A letter outside of ASCII in LaTeX; where the table lacks it, without its accent or as its code point."""
    if c in _PROSE:
        return _PROSE[c]
    plain = unicodedata.normalize("NFKD", c)
    base, sign = plain[0], plain[1:2]
    if sign in _ACCENTS:
        return f"${_ACCENTS[sign]}{{{base}}}$"
    return base if base.isascii() else f"[U+{ord(c):04X}]"


_ACCENTS = {"\u0302": r"\hat", "\u0304": r"\bar"}
_PROSE = {
    "−": "$-$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": "...",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "Σ": r"$\sum$",
    "Π": r"$\prod$",
    "∂": r"$\partial$",
    "∇": r"$\nabla$",
    "√": r"$\surd$",
    "∈": r"$\in$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\neq$",
    "→": r"$\to$",
    "⊙": r"$\odot$",
    "⊘": r"$\oslash$",
    "∞": r"$\infty$",
    "ᵀ": r"$^{\top}$",
    "²": r"$^{2}$",
    "³": r"$^{3}$",
    "⁻": r"$^{-}$",
    "¹": r"$^{1}$",
    "′": "'",
    "é": r"\'e",
    "è": r"\`e",
    "ö": r"\"o",
    "ü": r"\"u",
    "ä": r"\"a",
    "ø": r"\o{}",
    "Ł": r"\L{}",
    "ł": r"\l{}",
    "ç": r"\c{c}",
    "ℝ": r"$\mathbf{R}$",
    "⇒": r"$\Rightarrow$",
    "⇔": r"$\Leftrightarrow$",
    "∀": r"$\forall$",
    "≈": r"$\approx$",
    "‖": r"$\|$",
}
for _name, _letter in GREEK.items():
    _PROSE[_letter] = f"${LATEX_COMMAND.get(_name, chr(92) + _name)}$"
for _digit, _letter in enumerate("₀₁₂₃₄₅₆₇₈₉"):
    _PROSE[_letter] = rf"$_{{{_digit}}}$"


def plain_markdown(text: str) -> str:
    r"""Prose for Markdown in which stars, outer underscores and < are no marks; code between backticks stays.

    >>> print(plain_markdown("cos(k*omega_0), sin(k*omega_0) and `a*b` < 1"))
    cos(k\*omega_0), sin(k\*omega_0) and `a*b` \< 1
    """
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = (re.sub(r"[*<]|(?<!\w)_|_(?!\w)", r"\\\g<0>", part) for part in parts[::2])
    return "".join(parts)


def breakable(name: str) -> str:
    """A rule's name in typewriter type that may be broken at its underscores."""
    return escaped(name).replace(r"\_", r"\_\allowbreak{}")


def sentences(reasons: Iterable[str]) -> str:
    """The reasons of a line as prose: whole sentences as they are, clauses as one sentence, each once.

    >>> sentences(["the derivative is linear; a constant leaves it", "the derivative is linear", "Divide by p."])
    'The derivative is linear; a constant leaves it. Divide by p.'
    """
    result: list[str] = []
    clauses: list[str] = []

    def close() -> None:
        if clauses:
            text = listed(dict.fromkeys(clauses))
            # a formula or a name at the beginning stays as it is
            result.append((text[0].upper() + text[1:] if re.match(r"[a-z]{2,}[ ,-]|a ", text) else text) + said("."))
            clauses.clear()

    for reason in reasons:
        if reason.endswith("."):
            close()
            result.append(said(reason))
        else:
            clauses.extend(reason.split("; "))
    close()
    return said(" ").join(dict.fromkeys(result))


def space(entries: str) -> tuple[str, str, str]:
    """Where entries lie, by the name of their domain: in text, in LaTeX, and in words where there is no short notation.

    >>> space("index<K")[0], space("(0,1)")[0], space("simplex")
    ('{0, …, K−1}', '(0,1)', ('ℝ', '\\\\mathbf{R}', 'simplex'))
    """
    match = re.fullmatch(r"(?:repeated_)?index<([A-Za-z])", entries)
    if match:
        return f"{{0, …, {match[1]}−1}}", rf"\{{0, \ldots, {match[1]}-1\}}", ""
    if re.fullmatch(r"[(\[]-?[\d.]+,-?[\d.]+[)\]]", entries):
        return entries, entries, ""
    return "ℝ", r"\mathbf{R}", entries
