"""Index expressions to `Value`s: one named handler a node type.

The general way is always open: every subexpression becomes an array with one axis a free index, a sum becomes ``.sum`` of
that. The handlers take a nicer way where they see one. `statements` collects local lines (named intermediates, stable
softmax and logsumexp); in `inline` mode, for printers that need a single expression, helper functions are called instead.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from ..language import nodes
from ..language.errors import ShapeError, UnsupportedError
from ..language.indices import Index
from ..language.nodes import DefinedTensor, Delta, Element, Indicator, Tensor
from ..language.operations import operation_of
from ..language.sizes import Size, same_size
from . import patterns
from .contractions import axis_text, contract, reduce_axes
from .gathers import gathered
from .values import ATOM, COMPARE, POWER, PRODUCT, SUM, UNARY, Value, aligned, merged_axes, transposed

# Sums, maxima and products that stand in an expression more than once get a local line of this name.
_REDUCTION_NAMES: dict[type, str] = {nodes.IndexSum: "total", nodes.IndexMax: "top", nodes.IndexProduct: "prod"}
_RELATIONS = {sp.Ge: ">=", sp.Gt: ">", sp.Le: "<=", sp.Lt: "<", sp.Eq: "==", sp.Ne: "!="}
_CONSTANTS = {sp.pi: "pi", sp.E: "e", sp.EulerGamma: "euler_gamma"}


class Compiler:
    """Compiles expressions over `arguments`; `rank` orders axes where nothing else does (the place in the result)."""

    def __init__(
        self,
        arguments: Sequence[Tensor],
        rank: dict[Index, int],
        *,
        np: str = "np",
        inline: bool = False,
        size_name: Callable[[Size], str],
        helper: Callable[[str], str],
        reserved: Iterable[str] = (),
    ) -> None:
        self.rank, self.np, self.inline = rank, np, inline
        self.size_name, self.helper = size_name, helper
        self.statements: list[str] = []
        self.taken = {"np", "numpy", "float", *reserved}
        self.names: dict[Tensor, str] = {}
        self.softmaxes: dict[Tensor, tuple[Value, Index]] = {}
        self.repeated: set[sp.Expr] = set()
        self._values: dict[sp.Expr, Value] = {}
        self._logs: dict[Tensor, Tensor] = {}
        self._folded: dict[tuple[sp.Expr, Index], tuple[Tensor, tuple[Index, ...]]] = {}
        for t in arguments:
            self.names[t] = self.new_name(t.name) if not inline else identifier(t.name)

    # ------------------------------------------------------------------ names and local lines
    def new_name(self, wish: str) -> str:
        """A Python name that is not taken yet, near to the wish."""
        base = identifier(wish)
        name, n = base, 2
        while name in self.taken:
            name, n = f"{base}_{n}", n + 1
        self.taken.add(name)
        return name

    def assign(self, wish: str, value: Value) -> Value:
        """A local line; in inline mode the value itself."""
        if self.inline:
            return Value(value.at(ATOM), value.axes)
        name = self.new_name(wish)
        self.statements.append(f"{name} = {value.code}")
        return Value(name, value.axes)

    def named(self, tensor: Tensor) -> str:
        """The name of a tensor; a definition is written as a local line when it is first used."""
        if tensor not in self.names:
            if tensor in self.softmaxes:
                self.names[tensor] = self.softmax(*self.softmaxes[tensor]).code
            elif isinstance(tensor, DefinedTensor):
                self.names[tensor] = self.define(tensor)
            else:
                raise UnsupportedError(
                    f"{tensor.name} occurs in the expression but is not among the arguments; "
                    f"declared: {', '.join(self.names.values()) or 'none'}"
                )
        return self.names[tensor]

    def note_repeated(self, e: sp.Expr) -> None:
        """Mark the sums that stand in an expression more than once: each of them gets a local line."""
        seen: set[sp.Expr] = set()

        def visit(node: Any) -> None:
            if type(node) in _REDUCTION_NAMES:
                if node in seen:
                    self.repeated.add(node)
                    return
                seen.add(node)
            for a in node.args:
                visit(a)

        visit(e)

    def define(self, tensor: DefinedTensor) -> str:
        self.rank.update({p: n for n, p in enumerate(tensor.parameters)})
        logits = self.register_softmax(tensor)
        if logits is not None:
            return self.softmax(*logits, name=tensor.name).code
        self.note_repeated(tensor.body)
        value = self.full(self.value(tensor.body), tensor.parameters)
        return self.assign(tensor.name, value).code

    # ------------------------------------------------------------------ softmax and logsumexp
    def register_softmax(self, tensor: DefinedTensor) -> tuple[Value, Index] | None:
        """The logits of a tensor that is a softmax, with its axes in the order of its parameters."""
        if tensor not in self.softmaxes:
            self.rank.update({p: n for n, p in enumerate(tensor.parameters)})
            found = patterns.softmax_of_parameter(tensor)
            if found is None:
                return None
            b, k = found
            self.softmaxes[tensor] = (self.full(self.value(b), tensor.parameters), k)
        return self.softmaxes[tensor]

    def softmax_at(self, b: sp.Expr, k: Index, u: sp.Expr) -> sp.Expr:
        """The element at k = u of a softmax that has no name of its own."""
        if (b, k) not in self._folded:
            logits = self.full_over(self.value(b).numbers(), [k])
            tensor = Tensor(f"softmax {len(self._folded)}", tuple(a.size for a in logits.axes), "positive")
            self.softmaxes[tensor] = (logits, k)
            self._folded[b, k] = (tensor, logits.axes)
        tensor, axes = self._folded[b, k]
        return Element(tensor, *(u if a == k else a for a in axes))

    def softmax(self, logits: Value, k: Index, name: str = "p") -> Value:
        axis = axis_text(logits, [k])
        if self.inline:
            return Value(f"{self.helper('stable_softmax')}({logits.code}, {axis})", logits.axes)
        x = logits if logits.code.isidentifier() else self.assign("s", logits)
        e = self.assign("e", Value(f"{self.np}.exp({x.code} - {x.code}.max(axis={axis}, keepdims=True))", x.axes))
        return self.assign(name, Value(f"{e.code} / {e.code}.sum(axis={axis}, keepdims=True)", x.axes))

    def log_softmax(self, tensor: Tensor) -> Tensor:
        """A tensor with the logarithms of a softmax, from the logits and not from the probabilities."""
        if tensor not in self._logs:
            logits, k = self.softmaxes[tensor]
            axis = axis_text(logits, [k])
            twin = Tensor(f"log {tensor.name}", tensor.shape)
            if self.inline:
                self.names[twin] = f"{self.helper('stable_log_softmax')}({logits.code}, {axis})"
            else:
                name = tensor.name if isinstance(tensor, DefinedTensor) else "p"
                m = f"{logits.at(ATOM)}.max(axis={axis}, keepdims=True)"
                s = self.assign("s", Value(f"{logits.at(SUM)} - {m}", logits.axes))
                norm = f"{self.np}.log({self.np}.exp({s.code}).sum(axis={axis}, keepdims=True))"
                self.names[twin] = self.assign(f"log_{name}", Value(f"{s.code} - {norm}", logits.axes)).code
            self._logs[tensor] = twin
        return self._logs[tensor]

    def logsumexp(self, bound: list[Index], exponent: sp.Expr) -> Value:
        x = self.full_over(self.value(exponent).numbers(), bound)
        places = axis_text(x, bound)
        kept = tuple(a for a in x.axes if a not in bound)
        if self.inline:
            return Value(f"{self.helper('stable_logsumexp')}({x.code}, {places})", kept)
        if not x.code.isidentifier():
            x = self.assign("s", x)
        if not kept:
            m = self.assign("m", Value(f"{x.code}.max()"))
            return Value(f"{m.code} + {self.np}.log({self.np}.exp({x.code} - {m.code}).sum())", (), SUM)
        m = self.assign("m", Value(f"{x.code}.max(axis={places}, keepdims=True)"))
        total = f"{self.np}.log({self.np}.exp({x.code} - {m.code}).sum(axis={places}))"
        return self.assign("lse", Value(f"{m.code}.squeeze(axis={places}) + {total}", kept))

    # ------------------------------------------------------------------ shapes
    def size(self, n: sp.Expr) -> Value:
        """The code of a size."""
        return self.value(n)

    def shape_code(self, axes: Iterable[Index]) -> str:
        sizes = [self.size(a.size).code for a in axes]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def full_over(self, value: Value, bound: Sequence[Index]) -> Value:
        """The value with the bound axes present, stretched where it does not depend on them."""
        missing = [b for b in bound if b not in value.axes]
        return self.full(value, [*value.axes, *missing]) if missing else value

    def full(self, value: Value, axes: Sequence[Index]) -> Value:
        """The value with exactly these axes, in order and at full size; constants are stretched to the shape."""
        extra = [a for a in value.axes if a not in axes]
        if extra:
            raise ShapeError(
                f"the expression has the free indices {', '.join(a.name for a in extra)} (sizes "
                f"{', '.join(str(a.size) for a in extra)}) that are not among the axes of the result"
            )
        value = value.numbers()
        if tuple(axes) == value.axes:
            return value
        missing = [a for a in axes if a not in value.axes]
        if not missing:
            return transposed(value, axes)
        if not value.axes:
            fill = {"0": "zeros", "1": "ones", "0.0": "zeros", "1.0": "ones"}.get(value.code)
            shape = self.shape_code(axes)
            code = f"{self.np}.{fill}({shape})" if fill else f"{self.np}.full({shape}, {self.as_float(value.code)})"
            return Value(code, tuple(axes))
        if all(a.size == 1 for a in missing):
            inner = transposed(value, [a for a in axes if a not in missing])
            key = ", ".join("None" if a in missing else ":" for a in axes)
            return Value(f"{inner.at(ATOM)}[{key}]", tuple(axes))
        return Value(
            f"{self.np}.broadcast_to({aligned(value, axes).code}, {self.shape_code(axes)}).copy()", tuple(axes)
        )

    @staticmethod
    def as_float(code: str) -> str:
        return f"{code}.0" if re.fullmatch(r"-?\d+", code) else code

    # ------------------------------------------------------------------ dispatch
    def value(self, e: Any) -> Value:
        """The code of one expression."""
        hit = self._values.get(e)
        if hit is None:
            for kind in type(e).__mro__:
                handler = _HANDLERS.get(kind)
                if handler is not None:
                    hit = handler(self, e)
                    break
            else:
                raise UnsupportedError(f"{type(e).__name__} has no NumPy code: {e}")
            if e in self.repeated and not self.inline and not hit.code.isidentifier():
                hit = self.assign(_REDUCTION_NAMES[type(e)], hit)
            self._values[e] = hit
        return hit

    # ------------------------------------------------------------------ leaves
    def number(self, e: sp.Number) -> Value:
        if e in (sp.oo, -sp.oo):
            return Value(f"{'-' if e < 0 else ''}{self.np}.inf", (), ATOM if e > 0 else UNARY)
        if isinstance(e, sp.Rational | sp.Float):
            text = _rational(e) if isinstance(e, sp.Rational) else repr(float(e))
            return Value(text, (), PRODUCT if "/" in text else ATOM if e >= 0 else UNARY)
        raise UnsupportedError(f"the number {e} has no NumPy code")

    def constant(self, e: sp.Expr) -> Value:
        if e not in _CONSTANTS:
            return Value(repr(float(e)))
        return Value(f"{self.np}.{_CONSTANTS[e]}")

    def index(self, i: Index) -> Value:
        return Value(f"{self.np}.arange({self.size(i.size).code})", (i,))

    def size_symbol(self, n: Size) -> Value:
        return Value(self.size_name(n))

    def tensor(self, t: Tensor) -> Value:
        if t.shape:
            raise UnsupportedError(f"{t.name} of shape {t.shape} stands without indices in an expression")
        return Value(self.named(t))

    def symbol(self, s: sp.Symbol) -> Value:
        raise UnsupportedError(
            f"the symbol {s} is no declared array, size or index; declare it with array({str(s)!r}, '')"
        )

    def element(self, e: Element) -> Value:
        return gathered(self, self.named(e.tensor), e)

    # ------------------------------------------------------------------ binders
    def index_sum(self, e: nodes.IndexSum) -> Value:
        bound: list[Index] = []
        body: sp.Expr = e
        while isinstance(body, nodes.IndexSum):
            bound.append(body.bound)
            body = body.body
        for n, b in enumerate(bound):  # outer sums first where nothing else orders the axes
            self.rank.setdefault(b, 1000 + 10 * len(self.rank) + n)
        return self.summed(bound, body)

    def summed(self, bound: list[Index], body: sp.Expr) -> Value:
        """Σ over `bound` of the body."""
        body = patterns.fold_softmax(body, self.softmax_at)
        if body.is_Add:
            whole = self.value(body)
            widest = max(len(self.value(f).axes) for t in body.args for f in sp.Mul.make_args(t))
            if len(whole.axes) > widest:  # term by term, rather than an array larger than all that goes in
                return self.add(sp.Add(*body.args, evaluate=False), [self.summed(bound, t) for t in body.args])
        coefficient, factors = body.as_coeff_mul()
        factors = list(factors)
        for f in factors:
            reduced = self.contracted_delta(f, bound)
            if reduced is not None:
                b, place = reduced
                rest = sp.Mul(coefficient, *(g for g in factors if g is not f))
                rest = nodes.replace(rest, {b: place})
                left = [c for c in bound if c != b]
                return self.summed(left, rest) if left else self.value(rest)
        inside = [f for f in factors if set(self.value(f).axes) & set(bound)]
        outside = [f for f in factors if f not in inside]
        idle = [b for b in bound if not any(b in self.value(f).axes for f in inside)]
        outside += [b.size for b in idle]
        active = [b for b in bound if b not in idle]
        if not active:
            return self.multiplied(coefficient, [self.value(f) for f in outside], [])
        if any(isinstance(f, Indicator) or _is_not(f) for f in inside) and len(inside) > 1:
            masked = self.value(sp.Mul(*inside))
            core = reduce_axes(self.full_over(masked, active), active, "sum")
        else:
            core = contract(self.fractions(inside), active, self.rank, self.np)
        above, below = _split(outside)
        return self.multiplied(coefficient, [core, *map(self.value, above)], [self.value(f) for f in below])

    def contracted_delta(self, f: sp.Expr, bound: list[Index]) -> tuple[Index, sp.Expr] | None:
        """The bound index that a delta fixes, and its value, when that value is certainly in range."""
        if not isinstance(f, Delta):
            return None
        for b, place in ((f.args[0], f.args[1]), (f.args[1], f.args[0])):
            if b in bound and not place.has(b):
                if isinstance(place, Index) and same_size(place.size, b.size):
                    return b, place
                if isinstance(place, Element) and place.tensor.domain.name.endswith(f"index<{b.size}"):
                    return b, place
                if place.is_Integer and b.size.is_Integer and 0 <= place < b.size:
                    return b, place
        return None

    def fractions(self, factors: list[sp.Expr]) -> list[Value]:
        """Values of the factors of a product; a denominator goes under a factor that has all of its axes."""
        above, below = _split(factors)
        values = [self.value(f) for f in above]
        for d in (self.value(f) for f in below):
            for n, v in enumerate(values):
                if set(d.axes) <= set(v.axes):
                    values[n] = Value(f"{v.at(PRODUCT)} / {aligned(d, v.axes).at(POWER)}", v.axes, PRODUCT)
                    break
            else:
                values.append(Value(f"1 / {d.at(POWER)}", d.axes, PRODUCT))
        return values

    def reduced(self, e: nodes.Binder, method: str) -> Value:
        self.rank.setdefault(e.bound, 1000 + 10 * len(self.rank))
        body = self.value(e.body)
        if method == "max" and e.bound not in body.axes:
            return body
        return reduce_axes(self.full_over(body.numbers(), [e.bound]), [e.bound], method)

    def index_max(self, e: nodes.IndexMax) -> Value:
        return self.reduced(e, "max")

    def index_product(self, e: nodes.IndexProduct) -> Value:
        return self.reduced(e, "prod")

    def argmax_indicator(self, e: nodes.ArgMaxIndicator) -> Value:
        self.rank.setdefault(e.bound, 1000 + 10 * len(self.rank))
        best = reduce_axes(self.full_over(self.value(e.body).numbers(), [e.bound]), [e.bound], "argmax")
        return self.compared("==", best, self.value(e.value))

    # ------------------------------------------------------------------ 0 and 1
    def compared(self, sign: str, left: Value, right: Value) -> Value:
        order = merged_axes([left, right], self.rank)
        return Value(f"{aligned(left, order).at(SUM)} {sign} {aligned(right, order).at(SUM)}", order, COMPARE, True)

    def delta(self, e: Delta) -> Value:
        i, j = e.args
        if isinstance(i, Index) and isinstance(j, Index) and same_size(i.size, j.size):
            axes = tuple(sorted((i, j), key=lambda a: self.rank.get(a, 10**6)))
            return Value(f"{self.np}.eye({self.size(i.size).code})", axes)
        return self.compared("==", self.value(i), self.value(j))

    def indicator(self, e: Indicator) -> Value:
        return self.condition(e.condition)

    def condition(self, c: Any) -> Value:
        if isinstance(c, Relational) and type(c) in _RELATIONS:
            return self.compared(_RELATIONS[type(c)], self.value(c.lhs).numbers(), self.value(c.rhs).numbers())
        if isinstance(c, sp.And | sp.Or):
            parts = [self.condition(a) for a in sorted(c.args, key=sp.default_sort_key)]
            order = merged_axes(parts, self.rank)
            sign = " & " if isinstance(c, sp.And) else " | "
            return Value(sign.join(aligned(p, order).at(ATOM) for p in parts), order, COMPARE, True)
        if isinstance(c, sp.Not):
            inner = self.condition(c.args[0])
            return Value(f"~{inner.at(ATOM)}", inner.axes, UNARY, True)
        raise UnsupportedError(f"the condition {c} has no NumPy code")

    # ------------------------------------------------------------------ arithmetic
    def add(self, e: sp.Add, values: list[Value] | None = None) -> Value:
        terms: list[tuple[bool, Value]] = []
        for n, t in enumerate(e.args):
            negative = values is None and t.as_coeff_Mul()[0].is_negative is True
            v = values[n] if values else self.value(-t if negative else t)
            terms.append((negative, v.numbers()))
        terms.sort(key=lambda pair: pair[0])  # stable: what is added comes first
        order = merged_axes([v for _, v in terms], self.rank)
        code = ""
        for negative, v in terms:
            text = aligned(v, order).at(PRODUCT if negative else SUM)
            if not code:
                code = f"-{text}" if negative else text
            elif not negative and text.startswith("-") and v.strength >= PRODUCT:
                code += f" - {text[1:]}"
            else:
                code += f" {'-' if negative else '+'} {text}"
        return Value(code, order, SUM)

    def mul(self, e: sp.Mul) -> Value:
        folded = patterns.fold_softmax(e, self.softmax_at)
        if folded != e:
            return self.value(folded)
        coefficient, factors = e.as_coeff_mul()
        factors = [patterns.as_sigmoid(f) for f in factors]
        for f in factors:
            if isinstance(f, Delta) and all(isinstance(a, Index) for a in f.args) and len(factors) > 1:
                return self.diagonal(f, coefficient, [g for g in factors if g is not f])
        masks = [f for f in factors if isinstance(f, Indicator) or _is_not(f)]
        rest = [f for f in factors if f not in masks]
        if masks and any(f.has(sp.Function, sp.Pow, sp.exp) for f in rest):
            return self.masked(masks, sp.Mul(coefficient, *rest))
        above, below = _split(factors)
        values = [self.value(f) for f in above]
        for n, v in enumerate(values):
            if v.mean is not None and below and (1 / v.mean[0]) * sp.Mul(*below) == 1:
                values[n], below = Value(v.mean[1], v.axes), []
        return self.multiplied(coefficient, values, [self.value(f) for f in below])

    def masked(self, masks: list[sp.Expr], rest: sp.Expr) -> Value:
        """np.where rather than a product, so that an infinite value under a 0 of the mask does not become nan."""
        value = self.value(rest)
        for m in masks:
            inverted = _is_not(m)
            mask = self.condition((1 - m if inverted else m).condition)
            order = merged_axes([mask, value], self.rank)
            a, b = aligned(mask, order).code, aligned(value, order).code
            pair = f"0.0, {b}" if inverted else f"{b}, 0.0"
            value = Value(f"{self.np}.where({a}, {pair})", order)
        return value

    def diagonal(self, d: Delta, coefficient: sp.Expr, factors: list[sp.Expr]) -> Value:
        """δ_ij x: the diagonal matrix of x_i, when x has no other axes."""
        i, j = sorted(d.args, key=lambda a: self.rank.get(a, 10**6))
        rest = nodes.replace(sp.Mul(*factors), {j: i})
        value = self.value(rest)
        if value.axes == (i,):
            return self.multiplied(coefficient, [Value(f"{self.np}.diag({value.numbers().code})", (i, j))], [])
        return self.multiplied(coefficient, [self.value(d), value], [])

    def multiplied(self, coefficient: sp.Expr, above: list[Value], below: list[Value]) -> Value:
        """coefficient · above / below, with broadcasting."""
        sign = "-" if coefficient.is_negative else ""
        size = abs(coefficient)
        if size.is_Rational and "/" in _rational(size):
            top, bottom = size.as_numer_denom()
        else:
            top, bottom = size, sp.S.One
        if top != 1 or not above:
            above = [self.value(top), *above]
        if bottom != 1:
            below = [*below, self.value(bottom)]
        # Products with at least one number may keep a mask as it is; alone, it is made a number by who needs that.
        if all(v.boolean for v in above) and (sign or below or len(above) > 1):
            above = [above[0].numbers(), *above[1:]]
        below = [v.numbers() for v in below]
        order = merged_axes([*above, *below], self.rank)
        above = sorted(
            (aligned(v, order) for v in above), key=lambda v: (bool(v.axes), not v.boolean)
        )  # numbers, masks, arrays
        if sign and above[0].boolean:
            above[0] = above[0].numbers()  # NumPy has no minus for truth values
        if len(above) == 1 and not below:
            only = above[0]
            return (
                Value(sign + only.at(UNARY), order, UNARY)
                if sign
                else Value(only.code, order, only.strength, only.boolean)
            )
        code = " * ".join([above[0].at(PRODUCT), *(v.at(PRODUCT + 1) for v in above[1:])])
        if below:
            under = " * ".join(aligned(v, order).at(PRODUCT + 1) for v in below)
            code += f" / ({under})" if len(below) > 1 else f" / {under}"
        return Value(sign + code, order, PRODUCT)

    def power(self, e: sp.Pow) -> Value:
        stable = patterns.as_sigmoid(e)
        if stable != e:
            return self.value(stable)
        base, exponent = e.args
        if exponent.is_number and exponent.is_negative:
            return self.multiplied(sp.S.One, [], [self.value(base**-exponent)])
        if exponent == sp.S.Half:
            return Value(f"{self.np}.sqrt({self.value(base).numbers().code})", self.value(base).axes)
        b, n = self.value(base).numbers(), self.value(exponent).numbers()
        if base.is_Integer:
            b = Value(repr(float(base)), (), ATOM if base >= 0 else UNARY)
        elif not exponent.is_Integer and isinstance(base, Index):
            b = Value(f"{b.code}.astype(float)", b.axes)
        order = merged_axes([b, n], self.rank)
        return Value(f"{aligned(b, order).at(ATOM)}**{aligned(n, order).at(ATOM)}", order, POWER)

    # ------------------------------------------------------------------ functions
    def function(self, e: sp.Function) -> Value:
        row = operation_of(e.func)
        if row is None or len(e.args) != 1:
            raise UnsupportedError(
                f"the function {e.func.__name__} has no NumPy code; operations are declared in language/operations.py"
            )
        inner = self.value(e.args[0]).numbers()
        if row.numpy.startswith("np."):
            name = self.np + row.numpy[2:]
        else:
            name = self.helper(row.numpy)
        return Value(f"{name}({inner.code})", inner.axes)

    def logarithm(self, e: sp.log) -> Value:
        argument = e.args[0]
        found = patterns.sum_of_exponentials(argument)
        if found is not None:
            return self.logsumexp(*found)
        stable = patterns.stable_log(argument)
        if stable is not None:
            return self.value(stable)
        argument = patterns.fold_softmax(argument, self.softmax_at)
        if isinstance(argument, Element):
            if isinstance(argument.tensor, DefinedTensor):
                self.register_softmax(argument.tensor)
            if argument.tensor in self.softmaxes:
                return self.value(Element(self.log_softmax(argument.tensor), *argument.indices))
        if argument.is_Add and sp.S.One in argument.args:
            inner = self.value(argument - 1).numbers()
            return Value(f"{self.np}.log1p({inner.code})", inner.axes)
        inner = self.value(argument).numbers()
        return Value(f"{self.np}.log({inner.code})", inner.axes)

    def extremum(self, e: sp.Expr) -> Value:
        name = "maximum" if isinstance(e, sp.Max) else "minimum"
        values = [self.value(a).numbers() for a in sorted(e.args, key=sp.default_sort_key)]
        order = merged_axes(values, self.rank)
        code = aligned(values[0], order).code
        for v in values[1:]:
            code = f"{self.np}.{name}({code}, {aligned(v, order).code})"
        return Value(code, order)

    def refused(self, e: sp.Expr) -> Value:
        raise UnsupportedError(f"a derivative that was not carried out has no NumPy code: {e}; differentiate first")


_HANDLERS: dict[type, Callable[[Compiler, Any], Value]] = {
    sp.Number: Compiler.number,
    sp.NumberSymbol: Compiler.constant,
    Index: Compiler.index,
    Size: Compiler.size_symbol,
    Tensor: Compiler.tensor,
    sp.Symbol: Compiler.symbol,
    Element: Compiler.element,
    nodes.IndexSum: Compiler.index_sum,
    nodes.IndexMax: Compiler.index_max,
    nodes.IndexProduct: Compiler.index_product,
    nodes.ArgMaxIndicator: Compiler.argmax_indicator,
    Delta: Compiler.delta,
    Indicator: Compiler.indicator,
    nodes.PartialDerivative: Compiler.refused,
    sp.Add: Compiler.add,
    sp.Mul: Compiler.mul,
    sp.Pow: Compiler.power,
    sp.log: Compiler.logarithm,
    sp.Max: Compiler.extremum,
    sp.Min: Compiler.extremum,
    sp.Function: Compiler.function,
}


def identifier(name: str) -> str:
    """A Python identifier near to a name."""
    text = re.sub(r"\W", "_", name)
    if not text or text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) else text


def _is_not(f: sp.Expr) -> bool:
    """Whether a factor is 1 - [condition]."""
    return f.is_Add and isinstance(1 - f, Indicator)


def _split(factors: Sequence[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Numerators, and the bases of the denominators."""
    above, below = [], []
    for f in factors:
        if f.is_Pow and f.exp.is_number and f.exp.is_negative and patterns.one_plus_exp(f.base) is None:
            below.append(f.base**-f.exp)
        else:
            above.append(f)
    return above, below


def _rational(e: sp.Rational) -> str:
    """A rational as a short decimal where that is exact and reads well, else as a quotient."""
    if e.q == 1:
        return str(int(e.p)) if abs(e.p) < 2**53 else repr(float(e))
    text = repr(float(e))
    short = (e.q == 2 or e.q > 12) and len(text) <= 10 and sp.Rational(text) == e
    return text if short or max(abs(e.p), e.q) >= 2**53 else f"{int(e.p)} / {int(e.q)}"
