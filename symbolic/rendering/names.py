r"""Names as the field writes them: `d_model` is d_{\text{model}}, `y_hat` is \hat{y}, `beta_1` is \beta_1, in LaTeX
and in Unicode.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Upsilon": "Υ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "ell": "ℓ",
}
LATEX_COMMAND = {"epsilon": r"\varepsilon"}
_SYNONYMS = {"eps": "epsilon", "lam": "lambda", "lamda": "lambda", "lambda_": "lambda"}
# suffix -> (LaTeX command, combining character)
_ACCENTS = {
    "hat": (r"\hat", "\u0302"),
    "bar": (r"\bar", "\u0304"),
    "tilde": (r"\tilde", "\u0303"),
    "dot": (r"\dot", "\u0307"),
    "vec": (r"\vec", "\u20d7"),
}
_MARKS = {"prime": ("'", "′"), "star": ("^{*}", "*")}
_ESCAPED = {"\\": r"\backslash{}", "^": r"\wedge{}", "~": r"\sim{}"}  # signs that a backslash makes into something else
_SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# Written last in a sum, whatever the other terms are: sigma^2 + eps.
TRAILING = frozenset({"eps", "epsilon"})


@dataclass(frozen=True)
class Name:
    """A name in both forms; one that is `subscripted` or `marked` cannot take a further sub- or superscript."""

    latex: str
    text: str
    subscripted: bool = False
    marked: bool = False
    long: bool = False  # several letters, so that it needs a space beside other factors

    @property
    def kind(self) -> str:
        """Its row in the precedence table."""
        return "accented" if self.marked else "atom"


def verbatim(name: str) -> Name:
    """The name as it is spelled; used where the field's writing of two names would coincide."""
    escaped = re.sub(r"[_%#&$\\{}^~]", lambda m: _ESCAPED.get(m[0], "\\" + m[0]), name)
    return Name(rf"\mathrm{{{escaped}}}", name, long=True)


@lru_cache(maxsize=4096)
def written(name: str) -> Name:
    r"""How a name is written.

    >>> written("d_model").latex, written("y_hat").text, written("beta_1").text, written("eps").latex
    ('d_{\\text{model}}', 'ŷ', 'β₁', '\\varepsilon')
    """
    if not re.fullmatch(r"[^\W\d_][^\W_]*_?(_[^\W_]+)*'*", name):
        return verbatim(name)
    bare = name.rstrip("'")
    primes = len(name) - len(bare)
    parts = [p for p in bare.split("_") if p]
    head, digits = _split_digits(parts[0])
    accents: list[str] = []
    while len(parts) > 1 and parts[1] in _ACCENTS:
        accents.append(parts.pop(1))
    marks: list[str] = ["prime"] * primes
    while len(parts) > 1 and parts[1] in _MARKS:
        marks.append(parts.pop(1))
    glued = re.fullmatch(r"([A-Za-z])(hat|bar|tilde)", head)
    if glued:
        head = glued[1]
        accents.append(glued[2])
    elif accents and re.fullmatch(r"d[A-Za-z]", head):  # dx_hat is the adjoint of x_hat
        return differential(name[1:])
    latex, text, long = _base(head)
    for accent in accents:
        command, combining = _ACCENTS[accent]
        latex = f"{command}{{{latex}}}"
        text = unicodedata.normalize("NFC", text + combining)
    for mark in marks:
        latex, text = latex + _MARKS[mark][0], text + _MARKS[mark][1]
    below = [*([digits] if digits else []), *parts[1:]]
    if below:
        latex += "_{" + ",".join(_below(p) for p in below) + "}"
        text += (
            below[0].translate(_SUBSCRIPT_DIGITS)
            if len(below) == 1 and below[0].isdigit()
            else "_" + "_".join(GREEK.get(_SYNONYMS.get(p, p), p) for p in below)
        )
    return Name(latex, text, bool(below), bool(marks), long)


def differential(name: str) -> Name:
    r"""How the adjoint of an array of this name is written: an upright d before the array's own name.

    >>> differential("xhat").latex, differential("W_Q").latex, differential("gamma").text
    ('\\mathrm{d}\\hat{x}', '\\mathrm{d}W_{Q}', 'dγ')
    """
    of = written(name)
    return Name(rf"\mathrm{{d}}{of.latex}", f"d{of.text}", of.subscripted, of.marked, long=True)


def _split_digits(part: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*?)(\d+)", part)
    return (match[1], match[2]) if match else (part, "")


def _base(head: str) -> tuple[str, str, bool]:
    plain = _SYNONYMS.get(head, head)
    if plain in GREEK:
        return LATEX_COMMAND.get(plain, rf"\{plain}"), GREEK[plain], False
    if len(head) == 1 and head.isascii():
        return head, head, False
    if len(head) == 1 and head in GREEK.values():
        plain = next(k for k, v in GREEK.items() if v == head)
        return LATEX_COMMAND.get(plain, rf"\{plain}"), head, False
    # an adjoint or differential: dX, dgamma
    glued = re.fullmatch(r"d[A-Za-z](hat|bar|tilde)", head)
    if head[0] == "d" and (len(head) == 2 or glued or _SYNONYMS.get(head[1:], head[1:]) in GREEK):
        shown = written(head[1:])
        return rf"\mathrm{{d}}{shown.latex}", "d" + shown.text, True
    return rf"\mathrm{{{head}}}", head, True


def _below(part: str) -> str:
    plain = _SYNONYMS.get(part, part)
    if plain in GREEK:
        return LATEX_COMMAND.get(plain, rf"\{plain}")
    return part if part.isdigit() or len(part) == 1 else rf"\text{{{part}}}"
