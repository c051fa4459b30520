r"""Notation tree -> LaTeX that typesets with amsmath alone and in KaTeX's strict mode."""

from __future__ import annotations

from .names import Name
from .precedence import needs
from .text import write as as_text
from .tree import (
    ArgMax,
    Big,
    Bracket,
    Call,
    Exponential,
    Factors,
    Fenced,
    Fraction,
    KroneckerDelta,
    Logic,
    Matrix,
    Minus,
    Node,
    Numeral,
    Pairing,
    Partial,
    Power,
    Relation,
    Root,
    Subscripted,
    Terms,
    Transposed,
    ends_open,
    tall,
)

_BIG = {"sum": r"\sum", "prod": r"\prod", "max": r"\max"}
SIGNS = {"=": "=", "!=": r"\neq", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", ":=": ":="}
_FENCES = {
    "abs": (r"\left|", r"\right|"),
    "floor": (r"\left\lfloor", r"\right\rfloor"),
    "ceiling": (r"\left\lceil", r"\right\rceil"),
}
# An exponent longer than this, as text, is written \exp(...).
_LONGEST_EXPONENT = 26


def write(node: Node, ranges: bool = False, script: bool = False) -> str:
    """The LaTeX of a notation tree; `ranges` shows what a sum runs over, `script` writes for an index or exponent."""
    return _Writer(ranges).write(node, script)


class _Writer:
    def __init__(self, ranges: bool) -> None:
        self.ranges = ranges

    def write(self, node: Node, script: bool = False) -> str:
        match node:
            case Name(latex=latex):
                return latex
            case Numeral(digits=digits):
                return digits
            case Subscripted(name=name, indices=indices):
                base = rf"\left({name.latex}\right)" if name.subscripted and indices else name.latex
                return base + self.below(indices)
            case Minus(inner=inner):
                return "-" + self._at(inner, "term", script)
            case Terms(terms=terms):
                parts = []
                for n, (negative, term) in enumerate(terms):
                    sign = ("-" if negative else "") if n == 0 else f" {'-' if negative else '+'} "
                    parts.append(sign + self._at(term, "term", script))
                return "".join(parts)
            case Factors(factors=factors, join="times" | "over" as join):
                sign = r" \odot " if join == "times" else r" \oslash "
                return sign.join(self._at(f, "elementwise_factor", script) for f in factors)
            case Factors(factors=factors):
                return self._product(factors, script)
            case Fraction(above=a, below=b):
                if script:
                    over = rf"\left({self.write(a, True)}\right)" if ends_open(a) else self._at(a, "numerator", True)
                    return f"{over}/{self._at(b, 'denominator', True)}"
                return rf"\frac{{{self.write(a)}}}{{{self.write(b)}}}"
            case Power(base=base, exponent=exponent):
                return f"{self._at(base, 'base', script)}^{{{self.write(exponent, True)}}}"
            case Root(inner=inner):
                return rf"\sqrt{{{self.write(inner, script)}}}"
            case Exponential(inner=inner, letter=letter):
                if letter and not self._long(node):
                    return f"e^{{{self.write(inner, True)}}}"
                return rf"\exp\left({self.write(inner)}\right)"
            case Call():
                return self._call(node, script)
            case Big(operator=operator, letters=letters, sizes=sizes, body=body):
                return self._limits(_BIG[operator], letters, sizes) + " " + self._at(body, "body", script)
            case KroneckerDelta(left=left, right=right):
                return r"\delta" + self.below((left, right))
            case Bracket(condition=condition):
                return rf"\left[{self.write(condition)}\right]"
            case Relation(left=left, sign=sign, right=right):
                return f"{self._at(left, 'side', script)} {SIGNS[sign]} {self._at(right, 'side', script)}"
            case Logic(operator="not", parts=(part,)):
                return rf"\neg \left({self.write(part)}\right)"
            case Logic(operator=operator, parts=parts):
                sign = r" \wedge " if operator == "and" else r" \vee "
                return sign.join(
                    rf"\left({self.write(p)}\right)" if p.kind == "logic" else self.write(p) for p in parts
                )
            case Partial(inner=inner, variables=variables):
                order = "" if len(variables) == 1 else f"^{{{len(variables)}}}"
                by = r" \, ".join(rf"\partial {self.write(x)}" for x in variables)
                if order and len(set(variables)) == 1:
                    first = variables[0]
                    power = f"{self._at(first, 'base', script)}{order}"
                    by = rf"\partial {power}"
                if node.kind == "partial_atom":
                    return rf"\frac{{\partial{order} {self.write(inner)}}}{{{by}}}"
                return rf"\frac{{\partial{order}}}{{{by}}}\left({self.write(inner)}\right)"
            case ArgMax(letter=letter, body=body):
                return rf"\arg\max_{{{letter.latex}}} {self._at(body, 'body', script)}"
            case Fenced(fence=fence, inner=inner):
                opening, closing = _FENCES[fence]
                return f"{opening} {self.write(inner)} {closing}"
            case Pairing(left=left, right=right):
                return rf"\left\langle {self.write(left)}, {self.write(right)} \right\rangle"
            case Transposed(inner=inner):
                return self._at(inner, "base", script) + r"^{\top}"
            case Matrix(rows=rows):
                inside = r" \\ ".join(" & ".join(self.write(x) for x in row) for row in rows)
                return rf"\begin{{pmatrix}} {inside} \end{{pmatrix}}"
        raise TypeError(f"no LaTeX for {type(node).__name__}")

    def below(self, indices: tuple[Node, ...]) -> str:
        """The indices of an element, e.g. ``_{k}``, ``_{ij}``, ``_{i+1}``, ``_{t_{n},k}``."""
        if not indices:
            return ""
        written = [self.write(i, True).replace(" + ", "+").replace(" - ", "-") for i in indices]
        plain = all(isinstance(i, Name) and not i.subscripted and not i.long and i.text != ":" for i in indices)
        if plain:  # a space ends a command, so that \alpha j is not \alphaj
            return (
                "_{"
                + "".join(w + (" " if w[-1].isalpha() and w.startswith("\\") else "") for w in written).strip()
                + "}"
            )
        return "_{" + ",".join(written) + "}"

    def _limits(self, command: str, letters: tuple[Name, ...], sizes: tuple[Node, ...]) -> str:
        if not self.ranges:
            return f"{command}_{{{','.join(x.latex for x in letters)}}}"
        if command == r"\max":
            return "_".join(
                [
                    command,
                    "{"
                    + r",\;".join(
                        rf"0 \le {x.latex} < {self.write(n, True)}" for x, n in zip(letters, sizes, strict=True)
                    )
                    + "}",
                ]
            )
        parts = []
        for x, n in zip(letters, sizes, strict=True):
            end = str(int(n.digits) - 1) if isinstance(n, Numeral) else f"{self.write(n, True)}-1"
            parts.append(f"{command}_{{{x.latex}=0}}^{{{end}}}")
        return " ".join(parts)

    def _product(self, factors: tuple[Node, ...], script: bool) -> str:
        result = ""
        for n, factor in enumerate(factors):
            part = self._at(factor, "last_factor" if n == len(factors) - 1 else "factor", script)
            if n:
                before = factors[n - 1]
                if part[0].isdigit() or (
                    script and isinstance(before, (Numeral, Fraction)) and isinstance(factor, Fraction)
                ):
                    result += r" \cdot "
                elif _is_long(before) or _is_long(factor):
                    result += r" \, "
                else:
                    result += " "
            result += part
        return result

    def _call(self, call: Call, script: bool) -> str:
        name = call.function.latex + (f"^{{{call.raised}}}" if call.raised else "")
        arguments = ", ".join(self.write(a) for a in call.arguments)
        if call.kind == "bare_call":
            return f"{name} {arguments}"
        return rf"{name}\left({arguments}\right)"

    def _at(self, node: Node, position: str, script: bool) -> str:
        text = self.write(node, script)
        if isinstance(node, Call) and node.kind == "bare_call" and needs(node.kind, "latex", position):
            # log(x) y rather than (log x) y
            return self._call(Call(node.function, node.arguments, False, node.raised), script)
        kind = node.kind
        if script and kind == "fraction":
            kind = "slash"
        if isinstance(node, Exponential) and self._long(node):
            kind = "call"
        return rf"\left({text}\right)" if needs(kind, "latex", position) else text

    @staticmethod
    def _long(node: Exponential) -> bool:
        return not node.letter or tall(node.inner) or len(as_text(node.inner)) > _LONGEST_EXPONENT


def _is_long(node: Node) -> bool:
    base = node.name if isinstance(node, Subscripted) else node
    return isinstance(base, Name) and base.long
