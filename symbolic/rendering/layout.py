"""Expression -> notation tree: the order of terms and factors, fractions for negative powers, and letters for bound
indices.

The order is a reader's: positive terms first, numbers first beside functions and last in index arithmetic, sums after
other factors. It depends on what is written only, never on SymPy's own order, so the same input gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp
from sympy.logic.boolalg import And, Boolean, Not, Or

from ..language.errors import UnsupportedError
from ..language.indices import Index
from ..language.nodes import (
    ArgMaxIndicator,
    Binder,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
)
from ..language.operations import operation_of
from ..language.sizes import Size
from .clipping import Clipped, clipped_factors, clipped_terms
from .letters import Letters
from .names import TRAILING, Name, written
from .numerals import is_decimal, numeral
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
    Minus,
    Node,
    Numeral,
    Partial,
    Power,
    Relation,
    Root,
    Subscripted,
    Terms,
    children,
    ends_open,
)

_BARE = frozenset({"log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsin", "arccos"})
# The integer power of these is written at the name, sin²(x); log² is not, it is read in two ways.
_RAISED = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh"})
_TEXT_NAMES = {"sigmoid": "σ", "log_sigmoid": "log σ", "gammaln": "log Γ"}
SIGNS = {sp.Eq: "=", sp.Ne: "!=", sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">="}
_BINDERS = {IndexSum: "sum", IndexProduct: "prod", IndexMax: "max"}
_FENCES = {sp.Abs: "abs", sp.floor: "floor", sp.ceiling: "ceiling"}


def layout(expression: sp.Basic, letters: Letters | None = None) -> Node:
    """The notation tree of an expression, a relation or a condition.

    Raises `UnsupportedError` for a SymPy construct that is not of the language, such as `Sum` or `Piecewise`.
    """
    return _Layout(letters or Letters([expression])).node(expression, {})


class _Layout:
    def __init__(self, letters: Letters) -> None:
        self.letters = letters

    # ------------------------------------------------------------------ one node
    def node(self, e: sp.Basic, scope: dict[Index, str]) -> Node:
        if isinstance(e, Index):
            return written(scope[e]) if e in scope else self.letters.letter(e)
        if isinstance(e, sp.Symbol):
            return self.letters.name(e)
        if isinstance(e, sp.Number):
            return self._number(e)
        if isinstance(e, sp.NumberSymbol):
            return self._constant(e)
        if isinstance(e, Element):
            return Subscripted(self.letters.name(e.tensor), tuple(self.node(i, scope) for i in e.indices))
        if isinstance(e, Clipped):
            return Call(Name(rf"\{e.which}", e.which), tuple(self.node(a, scope) for a in e.args))
        if isinstance(e, sp.Add):
            return self._sum(e.args, scope)
        if isinstance(e, (sp.Mul, sp.Pow)):
            return self._product(e, scope)
        if isinstance(e, (ArgMaxIndicator, Binder)):
            return self._binder(e, scope)
        if isinstance(e, Delta):
            left, right = self._pair(e.args, scope)
            if self.letters.is_taken("δ"):
                return Bracket(Relation(left, "=", right))
            return KroneckerDelta(left, right)
        if isinstance(e, Indicator):
            return Bracket(self.node(e.condition, scope))
        if isinstance(e, PartialDerivative):
            variables, inner = [e.variable], e.expression
            while isinstance(inner, PartialDerivative):
                variables.append(inner.variable)
                inner = inner.expression
            return Partial(self.node(inner, scope), tuple(self.node(x, scope) for x in variables))
        if isinstance(e, (sp.Function, sp.Max, sp.Min)) and not isinstance(e, sp.Piecewise):
            return self._call(e, scope)
        if isinstance(e, sp.core.relational.Relational) and type(e) in SIGNS:
            return Relation(self.node(e.lhs, scope), SIGNS[type(e)], self.node(e.rhs, scope))
        if isinstance(e, (And, Or)):
            parts = sorted((self.node(a, scope) for a in e.args), key=as_text)
            return Logic("and" if isinstance(e, And) else "or", tuple(parts))
        if isinstance(e, Not):
            return Logic("not", (self.node(e.args[0], scope),))
        if isinstance(e, Boolean) and e in (sp.true, sp.false):
            return Name(rf"\text{{{str(e).lower()}}}", str(e).lower())
        raise UnsupportedError(
            f"{type(e).__name__} cannot be written: it is not a node of the language; read it with from_sympy "
            "or state it with sums, indicators and elements"
        )

    def _number(self, e: sp.Number) -> Node:
        if e in (sp.oo, -sp.oo):
            infinity = Name(r"\infty", "∞")
            return infinity if e is sp.oo else Minus(infinity)
        if not e.is_finite:
            raise UnsupportedError(f"{e} stands in an expression and is not a number; look for a division by zero")
        return numeral(e)

    def _constant(self, e: sp.NumberSymbol) -> Node:
        if e is sp.E:
            return Exponential(Numeral("1"), letter=False) if self.letters.is_taken("e") else Name("e", "e")
        if e is sp.pi:
            if self.letters.is_taken("π"):
                raise UnsupportedError(
                    "an array named pi stands beside the number pi, and both would be written the same; rename it"
                )
            return Name(r"\pi", "π")
        raise UnsupportedError(f"the constant {e} has no notation here")

    def _pair(self, pair: Sequence[sp.Expr], scope: dict[Index, str]) -> tuple[Node, Node]:
        """Two sides of a symmetric relation: single letters by alphabet, the more involved side last."""
        a, b = sorted((self.node(x, scope) for x in pair), key=lambda n: (len(as_text(n)), as_text(n)))
        # an element of an integer array (a label) reads first: δ_{t_n,k}
        return (b, a) if isinstance(b, Subscripted) and isinstance(a, Name) else (a, b)

    # ------------------------------------------------------------------ sums
    def _sum(self, args: Iterable[sp.Expr], scope: dict[Index, str]) -> Node:
        args = clipped_terms(args)
        if len(args) == 1:
            return self.node(args[0], scope)
        arithmetic = all(isinstance(s, (Index, Size)) for a in args for s in a.free_symbols)
        rows = []
        for a in args:
            node = self.node(a, scope)
            negative, magnitude = (True, node.inner) if isinstance(node, Minus) else (False, node)
            if a.is_Number:
                rank = 3 if arithmetic or negative else 0
            elif isinstance(a, sp.Symbol) and a.name in TRAILING:
                rank = 4
            else:
                rank = 2 if ends_open(magnitude) else 1
            text = as_text(magnitude)
            rows.append(((negative, rank, -len(text) if arithmetic else len(text), text), negative, magnitude))
        rows.sort(key=lambda row: row[0])
        return Terms(tuple((negative, node) for _, negative, node in rows))

    # ------------------------------------------------------------------ products
    def _product(self, e: sp.Expr, scope: dict[Index, str]) -> Node:
        sign, above, below, coefficient = False, [], [], sp.S.One
        for factor in clipped_factors(e.args) if isinstance(e, sp.Mul) else (e,):
            if factor.is_Rational and isinstance(factor, sp.Number):
                if coefficient != 1 or (len(e.args) > 1 and factor.is_negative and factor is not e.args[0]):
                    above.append(self.node(factor, scope))  # written apart on purpose, as in 2 * (-4)
                    continue
                sign ^= bool(factor.is_negative)
                coefficient = abs(factor)
                continue
            base, exponent = factor.as_base_exp() if isinstance(factor, sp.Pow) else (factor, sp.S.One)
            if isinstance(factor, sp.Pow) and exponent.could_extract_minus_sign() and not _is_difference(exponent):
                below.append(self._power(base, -exponent, scope))
            elif isinstance(factor, sp.Pow):
                above.append(self._power(base, exponent, scope))
            else:
                node = self.node(factor, scope)
                if isinstance(node, Minus) and factor.is_Number:
                    sign, node = not sign, node.inner
                above.append(node)
        result = self._fraction(coefficient, _ordered(above), _ordered(below))
        return Minus(result) if sign else result

    def _power(self, base: sp.Expr, exponent: sp.Expr, scope: dict[Index, str]) -> Node:
        if exponent == 1:
            return self.node(base, scope)
        if exponent == sp.Rational(1, 2):
            return Root(self.node(base, scope))
        node, power = self.node(base, scope), self.node(exponent, scope)
        if isinstance(node, Call) and not node.raised and isinstance(power, Numeral) and node.function.text in _RAISED:
            return Call(node.function, node.arguments, node.bare, power.digits)
        if isinstance(node, Exponential) and node.inner == Numeral("1"):
            return Exponential(power, node.letter)
        return Power(node, power)

    def _fraction(self, coefficient: sp.Rational, above: list[Node], below: list[Node]) -> Node:
        if is_decimal(coefficient):
            above, coefficient = [numeral(coefficient), *above], sp.S.One
        over: list[Node] = [Numeral(str(coefficient.p))] if coefficient.p != 1 else []
        under: list[Node] = [Numeral(str(coefficient.q))] if coefficient.q != 1 else []
        partials = [a for a in above if isinstance(a, Partial)]
        if partials and (under or below):  # a derivative stands after the fraction, not small inside it
            rest: list[Node] = [a for a in above if not isinstance(a, Partial)]
            return product([self._fraction(coefficient, rest, below), *partials])
        if not under and not below:
            return product([*over, *above]) if over or above else Numeral("1")
        # Before a sum the constant part stands as a fraction of its own: 1/N Σ_n ...
        constant = [b for b in below if not _has_subscripts(b)]
        if (
            above
            and (ends_open(above[-1]) or (isinstance(above[-1], Terms) and not over and len(above) == 1))
            and (under or constant)
            and len(constant) == len(below)
        ):
            prefix = Fraction(product(over) if over else Numeral("1"), product([*under, *constant]))
            if isinstance(above[-1], Terms) and len(as_text(above[-1])) <= 24:
                return Fraction(product([*over, *above]), product([*under, *below]))
            return Factors((prefix, *above))
        top = [*over, *above]
        return Fraction(product(top) if top else Numeral("1"), product([*under, *below]))

    # ------------------------------------------------------------------ binders and functions
    def _binder(self, e: Binder, scope: dict[Index, str]) -> Node:
        kind, letters, sizes, inner = type(e), [], [], dict(scope)
        body: sp.Basic = e
        while type(body) is kind and isinstance(body, Binder):
            letter = self.letters.bound(body.bound, inner.values())
            inner[body.bound] = letter
            letters.append(written(letter))
            sizes.append(self.node(body.bound.size, scope))
            body = body.body
            if kind is ArgMaxIndicator:
                break
        if isinstance(e, ArgMaxIndicator):
            return Bracket(Relation(self.node(e.value, scope), "=", ArgMax(letters[0], self.node(body, inner))))
        return Big(_BINDERS[kind], tuple(letters), tuple(sizes), self.node(body, inner))  # type: ignore[arg-type]

    def _call(self, e: sp.Expr, scope: dict[Index, str]) -> Node:
        arguments = tuple(self.node(a, scope) for a in e.args)
        if isinstance(e, sp.exp):
            return Exponential(arguments[0], letter=not self.letters.is_taken("e"))
        if e.func in _FENCES:
            return Fenced(_FENCES[e.func], arguments[0])  # type: ignore[arg-type]
        if isinstance(e, (sp.Max, sp.Min)):
            which = "max" if isinstance(e, sp.Max) else "min"
            return Call(Name(rf"\{which}", which), tuple(sorted(arguments, key=as_text)))
        if isinstance(e, sp.Mod):
            return Call(Name(r"\operatorname{mod}", "mod"), arguments)
        name, bare = call_name(e.func, self.letters)
        return Call(name, arguments, bare)


def call_name(function: type[sp.Function], letters: Letters) -> tuple[Name, bool]:
    """How a function's name is written, and whether it stands before a single letter without parentheses."""
    row = operation_of(function)
    shown = _TEXT_NAMES.get(row.name, row.name) if row else function.__name__
    if row is None or ("σ" in shown and letters.is_taken("σ")):
        plain = row.name if row else shown
        return Name(rf"\operatorname{{{plain}}}".replace("_", r"\_"), plain), False
    return Name(row.latex, shown), row.name in _BARE


def _is_difference(exponent: sp.Expr) -> bool:
    """x^(n-1) keeps its exponent as it is, though SymPy would call it extractable either way."""
    return bool(exponent.is_Add)


def _has_subscripts(node: Node) -> bool:
    return isinstance(node, (Subscripted, Big)) or any(_has_subscripts(c) for c in children(node))


def _factor_rank(node: Node) -> int:
    """Where a factor stands: numbers, names, elements, deltas, calls, sums in parentheses, then what swallows."""
    match node:
        case Numeral() | Minus():
            return 0
        case Power(base=Numeral()) | Root(inner=Numeral()):
            return 1
        case Name():
            return 2
        case Power(base=base) | Root(inner=base):
            return 5 if isinstance(base, Terms) else 8 if isinstance(base, Big) else _factor_rank(base)
        case Subscripted():
            return 3
        case Exponential():
            return 4
        case KroneckerDelta() | Bracket():
            return 4
        case Call() | Fenced():  # log(1 - p) would seem to swallow a factor in parentheses after it
            return 7 if isinstance(node, Call) and node.bare else 5
        case Terms():
            return 6
        case Partial():
            return 8
        case _:
            return 9


def _ordered(factors: list[Node]) -> list[Node]:
    ranked = sorted(factors, key=lambda f: (_factor_rank(f), as_text(f)))
    elements = [f for f in ranked if _factor_rank(f) == 3]
    place = ranked.index(elements[0]) if elements else 0
    return [*ranked[:place], *_chained(elements), *ranked[place + len(elements) :]]


def _chained(elements: list[Node]) -> list[Node]:
    """Elements in the order of a matrix product, X_nj W_jc, where their indices make a chain."""

    def ends(node: Node) -> tuple[str, str]:
        indices = node.indices if isinstance(node, Subscripted) else ()
        shown = [as_text(i) for i in indices[-2:]] or [""]
        return shown[0], shown[-1]

    def follows(f: Node, g: Node) -> bool:
        first, last = ends(g)
        return f is not g and first != last == ends(f)[0]

    rest, result = list(elements), []
    while rest:
        heads = [f for f in rest if ends(f)[0] and not any(follows(f, g) for g in rest)]
        chosen: Node | None = (heads or rest)[0]
        while chosen is not None:
            end = ends(chosen)[1]
            result.append(chosen)
            rest = [f for f in rest if f is not chosen]
            chosen = next((f for f in rest if end and ends(f)[0] == end), None)
    return result


def product(factors: list[Node]) -> Node:
    """The product of factors in the order given; products among them are opened."""
    flat: list[Node] = []
    for f in factors:
        flat.extend(f.factors if isinstance(f, Factors) and not f.join else [f])
    return flat[0] if len(flat) == 1 else Factors(tuple(flat))
