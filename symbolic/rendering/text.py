"""Notation tree -> one line of Unicode text for the terminal (p_k − y_k, Σ_j, δ_ik, ∂/∂z_k, ŷ)."""

from __future__ import annotations

from .names import Name
from .precedence import needs
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
)

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BIG = {"sum": "Σ", "prod": "Π", "max": "max"}
SIGNS = {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥", ":=": ":="}
_FENCES = {"abs": "||", "floor": "⌊⌋", "ceiling": "⌈⌉"}
_LOGIC = {"and": " and ", "or": " or "}


def write(node: Node, tight: bool = False) -> str:
    """The text of a notation tree; `tight` leaves out the spaces around signs, for indices and exponents."""
    gap = "" if tight else " "
    match node:
        case Name(text=text) | Numeral(digits=text):
            return text
        case Subscripted(name=name, indices=indices):
            base = f"({name.text})" if name.subscripted and indices else name.text
            return base + below(indices)
        case Minus(inner=inner):
            return "−" + _at(inner, "term", tight)
        case Terms(terms=terms):
            parts = []
            for n, (negative, term) in enumerate(terms):
                sign = ("−" if negative else "") if n == 0 else f"{gap}{'−' if negative else '+'}{gap}"
                parts.append(sign + _at(term, "term", tight))
            return "".join(parts)
        case Factors(factors=factors, join="times" | "over" as join):
            return (" ⊙ " if join == "times" else " ⊘ ").join(_at(f, "elementwise_factor", tight) for f in factors)
        case Factors(factors=factors):
            return _product(factors, tight)
        case Fraction(above=a, below=b):
            under = write(b, tight) if isinstance(b, Big) else _at(b, "denominator", tight)
            over = f"({write(a, tight)})" if ends_open(a) else _at(a, "numerator", tight)
            return f"{over}/{under}"
        case Power(base=base, exponent=exponent):
            low = _at(base, "base", tight)
            if isinstance(exponent, Numeral) and exponent.digits.isdigit():
                return low + exponent.digits.translate(_SUPERSCRIPTS)
            if isinstance(exponent, Minus) and isinstance(exponent.inner, Numeral) and exponent.inner.digits.isdigit():
                return low + "⁻" + exponent.inner.digits.translate(_SUPERSCRIPTS)
            return low + "^" + _wrapped(exponent)
        case Root(inner=inner):
            return "√" + (write(inner, tight) if inner.kind == "atom" else f"({write(inner, tight)})")
        case Exponential(inner=inner):
            return f"exp({write(inner)})"
        case Call(function=function, arguments=arguments, raised=raised):
            return f"{function.text}{raised.translate(_SUPERSCRIPTS)}({', '.join(write(a) for a in arguments)})"
        case Big(operator=operator, letters=letters, body=body):
            return f"{_BIG[operator]}{below(letters)} {_at(body, 'body', tight)}"
        case KroneckerDelta(left=left, right=right):
            return "δ" + below((left, right))
        case Bracket(condition=condition):
            return f"[{write(condition)}]"
        case Relation(left=left, sign=sign, right=right):
            return f"{_at(left, 'side', False)} {SIGNS[sign]} {_at(right, 'side', False)}"
        case Logic(operator="not", parts=(part,)):
            return f"not ({write(part)})"
        case Logic(operator=operator, parts=parts):
            return _LOGIC[operator].join(f"({write(p)})" if p.kind == "logic" else write(p) for p in parts)
        case Partial(inner=inner, variables=variables):
            order = "" if len(variables) == 1 else str(len(variables)).translate(_SUPERSCRIPTS)
            same = len(set(variables)) == 1 and order
            by = f"∂{write(variables[0])}{order}" if same else " ".join(f"∂{write(x)}" for x in variables)
            by = f"({by})" if " " in by else by
            if node.kind == "partial_atom":
                return f"∂{order}{write(inner)}/{by}"
            return f"∂{order}/{by} ({write(inner)})"
        case ArgMax(letter=letter, body=body):
            return f"argmax{below((letter,))} {_at(body, 'body', tight)}"
        case Fenced(fence=fence, inner=inner):
            return f"{_FENCES[fence][0]}{write(inner)}{_FENCES[fence][1]}"
        case Pairing(left=left, right=right):
            return f"⟨{write(left)}, {write(right)}⟩"
        case Transposed(inner=inner):
            return _at(inner, "base", tight) + "ᵀ"
        case Matrix(rows=rows):
            return "[" + "; ".join(", ".join(write(x) for x in row) for row in rows) + "]"
    raise TypeError(f"no text for {type(node).__name__}")


def below(indices: tuple[Node, ...]) -> str:
    """The indices of an element or a sum, e.g. ``_k``, ``_ij``, ``_{i+1}``, ``_{t_n,k}``."""
    if not indices:
        return ""
    written = [write(i, tight=True) for i in indices]
    if all(isinstance(i, Name) and w != ":" and len(w.rstrip("'")) == 1 for i, w in zip(indices, written, strict=True)):
        return "_" + "".join(written)
    if len(written) == 1 and (written[0].isdigit() or (isinstance(indices[0], Name) and not indices[0].subscripted)):
        return "_" + written[0]
    return "_{" + ",".join(written) + "}"


def _joins(node: Node) -> bool:
    """Whether a numeral may stand right before it: 2i, but 2 pos and 2·1."""
    return isinstance(node, Name) and not node.long and not node.text[0].isdigit()


def starts_with_numeral(node: Node) -> bool:
    """Whether a digit stands first, so that a factor before it needs a sign of multiplication."""
    match node:
        case Numeral():
            return True
        case Power(base=first) | Fraction(above=first) | Factors(factors=(first, *_)):
            return starts_with_numeral(first)
    return False


def _product(factors: tuple[Node, ...], tight: bool) -> str:
    parts = []
    for n, factor in enumerate(factors):
        last = n == len(factors) - 1
        if isinstance(factor, Fraction) and not last:
            parts.append(f"({write(factor, tight)})")
        else:
            parts.append(_at(factor, "last_factor" if last else "factor", tight))
    joined = parts[0]
    for n in range(1, len(parts)):
        if isinstance(factors[n - 1], Numeral) and _joins(factors[n]):
            joined += parts[n]
        else:
            joined += ("·" if tight or starts_with_numeral(factors[n]) else " ") + parts[n]
    return joined


def _wrapped(node: Node) -> str:
    text = write(node, tight=True)
    return text if isinstance(node, (Name, Numeral)) else f"({text})"


def _at(node: Node, position: str, tight: bool) -> str:
    text = write(node, tight)
    return f"({text})" if needs(node.kind, "text", position) else text
