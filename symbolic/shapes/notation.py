"""How sizes, costs and formulas of a trace are written, in text and in LaTeX; the writers of each form share this."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy as sp

from ..rendering import latex as expression_latex
from ..rendering import text as expression_text
from ..rendering.names import written
from .axes import Axis
from .trace import Line, Trace


def number(value: sp.Expr) -> str:
    """A size or count as text; a long number with commas."""
    return f"{int(value):,}" if value.is_Integer else expression_text(value)


def number_latex(value: sp.Expr) -> str:
    """A size or count in LaTeX."""
    return f"{int(value):,}".replace(",", "{,}") if value.is_Integer else expression_latex(value)


def symbols(axes: Sequence[Axis]) -> str:
    """Symbolic sizes, a product in its order: ``[B,n,h·d_k]``."""
    return "[" + ",".join(_symbol(a, "·", lambda n: written(n).text) for a in axes) + "]"


def symbols_latex(axes: Sequence[Axis]) -> str:
    """Symbolic sizes in LaTeX."""
    return "[" + ",\\, ".join(_symbol(a, r" \cdot ", lambda n: written(n).latex) for a in axes) + "]"


def _symbol(axis: Axis, sign: str, name: object) -> str:
    latex = sign != "·"
    write = expression_latex if latex else expression_text
    parts = []
    for a in axis.atoms:
        known = a.base.isidentifier() and not a.mixed
        parts.append(name(a.base) if known else write(a.size))  # type: ignore[operator]
    return sign.join(parts) or "1"


def sizes(trace: Trace, axes: Sequence[Axis]) -> str:
    """The sizes as numbers where they are known, ``[1,12,10,64]``; without any known they are symbols."""
    if not trace.is_concrete:
        return symbols(axes)
    return "[" + ",".join(_known(trace, a, expression_text, "·", symbols) for a in axes) + "]"


def sizes_latex(trace: Trace, axes: Sequence[Axis]) -> str:
    """The sizes in LaTeX."""
    if not trace.is_concrete:
        return symbols_latex(axes)
    return "[" + ",\\, ".join(_known(trace, a, expression_latex, r" \cdot ", symbols_latex) for a in axes) + "]"


def _known(trace: Trace, axis: Axis, write: object, sign: str, symbolic: object) -> str:
    """One size with the bindings put in; where they say nothing, the product in its own order."""
    value = trace.size(axis.size)
    return symbolic([axis])[1:-1] if value == axis.size and not value.is_Integer else write(value)  # type: ignore[operator]


def cost(trace: Trace, value: sp.Expr) -> str:
    """A count, symbolic and as a number: ``d_model² + d_model = 590,592``."""
    symbolic = trace.cost(value)
    numeric = trace.size(value)
    first = number(symbolic)
    return (
        first
        if not trace.is_concrete or numeric == symbolic or number(numeric) == first
        else f"{first} = {number(numeric)}"
    )


def cost_latex(trace: Trace, value: sp.Expr) -> str:
    """A count in LaTeX, symbolic and as a number."""
    symbolic, numeric = trace.cost(value), trace.size(value)
    first = number_latex(symbolic)
    return first if not trace.is_concrete or number_latex(numeric) == first else f"{first} = {number_latex(numeric)}"


def scalar(trace: Trace, line: Line) -> str:
    """The number of a scaling: ``√d_k = √64 = 8``, ``√d_k = √48 ≈ 6.9282``; nothing where the formula says it all."""
    return _scalar(trace, line, expression_text, "√{}", "≈")


def scalar_latex(trace: Trace, line: Line) -> str:
    """The number of a scaling in LaTeX."""
    return _scalar(trace, line, expression_latex, r"\sqrt{{{}}}", r"\approx")


def _scalar(trace: Trace, line: Line, write: object, root: str, about: str) -> str:
    value = line.scalar
    if value is None:
        return ""
    known = trace.size(value)
    steps = [write(value)]  # type: ignore[operator]
    if known != value:
        under = trace.size(value**2) if value.is_Pow and value.exp == sp.Rational(1, 2) else None
        if under is not None and under.is_Integer:
            steps.append(root.format(under))
            if known.is_Integer:
                steps.append(str(known))
                return " = ".join(steps)
            return " = ".join(steps) + f" {about} {float(known):.5g}"
        steps.append(write(known))  # type: ignore[operator]
    return " = ".join(dict.fromkeys(steps)) if len(set(steps)) > 1 else ""


def shown_bindings(trace: Trace) -> list[str]:
    """What is known of each size: ``d_k = d_model/h = 64``."""
    found = []
    for name, value in {**dict.fromkeys(trace.definitions), **dict(trace.bindings)}.items():
        parts = [expression_text(name)]
        if name in trace.definitions:
            parts.append(expression_text(trace.definitions[name]))
        if value is not None:
            parts.append(number(value))
        found.append(" = ".join(parts))
    order = [expression_text(k) for k in (*trace.bindings, *(k for k in trace.definitions if k not in trace.bindings))]
    return sorted(found, key=lambda f: order.index(f.split(" = ")[0]))


def shown_conditions(trace: Trace) -> list[str]:
    """Each condition, with the numbers when they are known: ``d_model = h·d_k (768 = 12·64)``."""
    found = []
    for c in trace.conditions:
        factors = [trace.size(f) for f in _factors(c.right)]
        words = f"{expression_text(c.left)} = {'·'.join(expression_text(f) for f in _factors(c.right))}"
        left = trace.size(c.left)
        if left != c.left or (any(f.is_Integer for f in factors) and trace.is_concrete):
            words += f": {number(left)} = {'·'.join(number(f) for f in factors)}"
        found.append(f"{words} ({c.reason})")
    return found


def _factors(product: sp.Expr) -> list[sp.Expr]:
    """The factors of a condition's right side: the size that divides first, then the quotient, named after the field's
    d_k and r.
    """
    given = list(sp.Mul.make_args(product))
    return sorted(given, key=lambda f: (not f.is_Number, str(f) in ("d_k", "d_h", "r", "q"), str(f)))


_TOKENS = re.compile(
    r"(?P<call>softmax|transpose|split|merge|reshape|repeat|tile|concatenate|stack|where|pad|exp|log|sum|mean|max|min|var|einsum|sqrt"
    r"|tanh|gelu|relu|silu|sigmoid)(?=\()|(?P<log>log(?= ))|(?P<none>None)|(?P<name>[^\W\dᵀ][^\Wᵀ]*'*)|(?P<root>√)"
    r"|(?P<transposed>ᵀ)"
    r"|(?P<number>\d+)|(?P<space>\s+)|(?P<other>.)"
)
_SIGNS = {
    "·": r"\cdot ",
    "−": "-",
    "≤": r"\le ",
    "@": r"\,",
    "²": "^{2}",
    "/": "/",
    "[": "[",
    "]": "]",
    "⊙": r"\odot ",
    "#": r"\#",
    "&": r"\&",
    "%": r"\%",
    "{": r"\{",
    "}": r"\}",
    "^": r"\wedge ",
    "?": "?",
}


def formula_latex(formula: str) -> str:
    r"""A formula of a line in LaTeX.

    >>> print(formula_latex("S = Q_h K_hᵀ"), formula_latex("Z = S / √d_k"))
    S = Q_{h} K_{h}^{\top} Z = S / \sqrt{d_{k}}
    """
    found: list[str] = []
    root = False
    for match in _TOKENS.finditer(formula):
        kind, token = str(match.lastgroup), match[0]
        if kind in ("call", "log"):
            piece = rf"\operatorname{{{token}}}"
        elif kind == "none":
            piece = r"\text{None}"
        elif kind == "name":
            piece = written(token).latex
        elif kind == "root":
            root = True
            continue
        elif kind == "transposed":
            piece = r"^{\top}"
        elif kind == "space":
            piece = " "
        else:
            piece = _SIGNS.get(
                token,
                token if token.isascii() else rf"\text{{{ascii(token)[1:-1]}}}".replace("\\x", "x").replace("\\u", "u"),
            )
        if root and kind in ("name", "number"):
            piece, root = rf"\sqrt{{{piece}}}", False
        if kind == "transposed" and found and "^" in found[-1]:
            found[-1] = f"{{{found[-1]}}}"
        found.append(piece)
    return re.sub(r" +", " ", "".join(found)).strip()
