"""Random index expressions, changes that keep their value, and changes that most often do not.

Everything is driven by a `random.Random`, so that a failure is repeated by its seed. The expressions nest sums
in powers in exponentials in sums, bind the same sizes at several levels, put index conditions into
denominators, use one definition at several indices, and index by affine forms and labels.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import sympy as sp

from lemmata.symbolic.language import operations as op
from lemmata.symbolic.language.indices import Index, index
from lemmata.symbolic.language.nodes import (
    Binder,
    DefinedTensor,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    element,
    unfold,
)
from lemmata.symbolic.language.sizes import size

K, N, NK = size("K"), size("N"), size("N*K")
X, Y, B, S, A = (
    Tensor(n, s, d)
    for n, s, d in (
        ("x", (K,), "real"),
        ("y", (K,), "real"),
        ("B", (K, K), "real"),
        ("S", (K, K), "symmetric"),
        ("A", (K, N), "real"),
    )
)
W, U, M, T3, J = (
    Tensor(n, s, d)
    for n, s, d in (
        ("w", (N,), "real"),
        ("u", (K,), "positive"),
        ("m", (K,), "binary"),
        ("T", (K, N, K), "real"),
        ("J", (NK,), "real"),
    )
)
H, G, LABEL = Tensor("H", (N, K), "onehot"), Tensor("G", (K, K), "simplex"), Tensor("t", (N,), "index<K")
C, V, R = Tensor("c"), Tensor("v", (), "positive"), Tensor("r", (), "(0,1)")
FREE = (index("i", K), index("k", K), index("n", N))
TENSORS = (X, Y, B, S, A, W, U, M, T3, H, G)


class Generator:
    """Expressions of bounded depth over the tensors above; `FREE` are the free indices that they may use."""

    def __init__(self, rng: random.Random, smooth: bool = False, affine: bool = True) -> None:
        self.rng = rng
        self.affine = affine  # indices that are affine or elements, conditions on halves and over different sizes
        self.smooth = smooth  # no kinks, so that it has a derivative everywhere
        self.definitions: list[DefinedTensor] = []
        for n in range(rng.randint(0, 2)):
            own = [index("a", K)] if rng.random() < 0.7 else [index("a", K), index("b", K)]
            self.definitions.append(DefinedTensor(f"d{n}", tuple(own), self.real(2, list(own))))

    def expression(self, depth: int = 3) -> sp.Expr:
        """A real expression in some of the free indices."""
        return self.real(depth, list(FREE))

    def index_for(self, over: sp.Expr, scope: list[Index]) -> sp.Expr:
        fitting = [i for i in scope if i.size == over]
        if over == NK:
            return self.index_for(N, scope) * K + self.index_for(K, scope)
        if not fitting:
            return sp.S.Zero
        chosen = self.rng.choice(fitting)
        roll = self.rng.random()
        if over == K and roll > 0.95 and self.affine:
            return Element(LABEL, self.index_for(N, scope))
        return over - 1 - chosen if roll < 0.05 and self.affine else chosen

    def leaf(self, scope: list[Index]) -> sp.Expr:
        roll = self.rng.random()
        if roll < 0.1:
            return self.rng.choice((C, V, R, sp.Integer(2), sp.Rational(1, 2), K, sp.Integer(-1)))
        if roll < 0.2 and self.definitions:
            d = self.rng.choice(self.definitions)
            return Element(d, *(self.index_for(n, scope) for n in d.shape))
        if roll < 0.24:
            return Element(J, self.index_for(NK, scope))
        tensor = self.rng.choice(TENSORS)
        return element(tensor, *(self.index_for(n, scope) for n in tensor.shape))

    def bound(
        self, depth: int, scope: list[Index], body: Callable[[int, list[Index]], sp.Expr]
    ) -> tuple[sp.Expr, Index]:
        j = index("j", self.rng.choice((K, K, N)))
        return body(depth - 1, [*scope, j, j]), j

    def condition(self, scope: list[Index]) -> sp.Expr:
        left, right = self.index_for(K, scope), self.index_for(K, scope)
        roll = self.rng.random()
        if roll < 0.15 and self.affine:
            left = self.rng.choice(
                (2 * left, left + self.index_for(N, scope) * K, left / 2, left + self.index_for(K, scope))
            )
            right = self.rng.choice(
                (right + 1, 2 * right - 1, K - right, self.index_for(N, scope) * K + right, self.index_for(N, scope))
            )
            return self.rng.choice((Delta(left, right), Indicator(sp.Ge(left, right)), Indicator(sp.Lt(left, right))))
        if roll < 0.4:
            return Delta(left, right)
        if roll < 0.9 or self.smooth:
            return Indicator(self.rng.choice((sp.Ge, sp.Le, sp.Gt, sp.Lt))(left, right))
        return Indicator(self.rng.choice((sp.Ge, sp.Gt))(self.leaf(scope), self.leaf(scope)))

    def real(self, depth: int, scope: list[Index]) -> sp.Expr:
        rng = self.rng
        if depth <= 0:
            return self.leaf(scope)
        choice = rng.randrange(20)
        if choice < 3:
            return sp.Add(*(self.real(depth - 1, scope) for _ in range(rng.randint(2, 3))))
        if choice < 6:
            return sp.Mul(*(self.real(depth - 1, scope) for _ in range(2)))
        if choice < 9:
            return IndexSum(*self.bound(depth, scope, self.real))
        if choice == 9:
            return self.condition(scope) * self.real(depth - 1, scope)
        if choice == 10:
            return self.condition(scope)
        if choice == 11:
            return self.real(depth - 1, scope) ** rng.choice((2, 2, 3))
        if choice == 12:
            return self.real(depth - 1, scope) / self.positive(depth - 1, scope)
        if choice == 13:
            return sp.log(self.positive(depth - 1, scope))
        if choice == 14:
            return rng.choice((sp.sin, sp.cos, op.sigmoid, sp.tanh, sp.erf))(self.real(depth - 1, scope))
        if choice == 15 and not self.smooth:
            return rng.choice((op.relu, sp.Abs, sp.sign))(self.real(depth - 1, scope))
        if choice == 16 and not self.smooth:
            return IndexMax(*self.bound(depth, scope, self.real))
        if choice == 17 and rng.random() < 0.3:
            return IndexProduct(*self.bound(depth, scope, self.real))
        if choice == 18:
            return IndexSum(*self.bound(depth, scope, self.positive)) * self.real(depth - 1, scope)
        return self.positive(depth, scope)

    def positive(self, depth: int, scope: list[Index]) -> sp.Expr:
        rng = self.rng
        if depth <= 0:
            return rng.choice((V, R, element(U, self.index_for(K, scope)), sp.Integer(2), K))
        choice = rng.randrange(10)
        if choice < 3:
            return sp.exp(self.real(depth - 1, scope))
        if choice < 5:
            return IndexSum(*self.bound(depth, scope, self.positive))
        if choice == 5:
            return self.real(depth - 1, scope) ** 2 + rng.choice((1, V))
        if choice == 6:
            return sp.sqrt(self.positive(depth - 1, scope))
        if choice == 7:
            return 1 / self.positive(depth - 1, scope)
        if choice == 8:
            return self.positive(depth - 1, scope) * self.positive(depth - 1, scope)
        j = index("j", K)
        i = self.index_for(K, scope)
        return IndexSum(Indicator(sp.Le(j, i)) * self.positive(depth - 1, [*scope, j, j]), j) + 1

    def derivative(self, depth: int = 3) -> sp.Expr:
        """A derivative of a smooth expression by an entry of x or B."""
        i, k, _ = FREE
        return PartialDerivative(
            self.real(depth, [k, FREE[2]]), element(X, i) if self.rng.random() < 0.5 else element(B, i, k)
        )


# ---------------------------------------------------------------------- changes at one place
def places(expression: sp.Expr) -> int:
    """Number of places at which `changed` can act."""
    return 1 + sum(places(a) for n, a in enumerate(expression.args) if _entered(expression, n))


def _entered(node: sp.Expr, n: int) -> bool:
    if isinstance(node, (Element, Delta, Indicator, PartialDerivative)):
        return False
    return not (isinstance(node, Binder) and n == 1)


def changed(
    expression: sp.Expr, place: int, change: Callable[[sp.Expr, list[Index]], sp.Expr], scope: list[Index] | None = None
) -> sp.Expr:
    """The expression with `change(node, indices in scope)` at one place; binders are opened, so nothing is captured."""
    scope = list(FREE) if scope is None else scope
    if place == 0:
        return change(expression, scope)
    place -= 1
    if isinstance(expression, Binder):
        fresh, body = expression.opened("j")
        return type(expression)(changed(body, place, change, [*scope, fresh]), fresh, *expression.args[2:])
    args = list(expression.args)
    for n, a in enumerate(args):
        if not _entered(expression, n):
            continue
        count = places(a)
        if place < count:
            args[n] = changed(a, place, change, scope)
            return expression.func(*args)
        place -= count
    raise AssertionError("no such place")


def kept(rng: random.Random) -> Callable[[sp.Expr, list[Index]], sp.Expr]:
    """A change that keeps the value."""

    def change(e: sp.Expr, scope: list[Index]) -> sp.Expr:
        choice = rng.randrange(12)
        other = rng.choice((C, element(X, next(i for i in scope if i.size == K)), V * C + 1))
        if choice == 0:
            return sp.expand(e)
        if choice == 1:
            return sp.Add(sp.Add(e, other, evaluate=False), -other, evaluate=False)
        if choice == 2:
            return sp.Mul(e, (other**2 + 1), 1 / (other**2 + 1), evaluate=False)
        if choice == 3:
            return sp.log(sp.exp(e, evaluate=False), evaluate=False)
        if choice == 4:
            return unfold(e)
        if isinstance(e, IndexSum):
            fresh, body = e.opened("l")
            if body.is_Add:
                return sp.Add(*(IndexSum(a, fresh) for a in body.args))
            if isinstance(body, IndexSum):
                inner, core = body.opened("o")
                return IndexSum(IndexSum(core, fresh), inner)
            if body.is_Mul:
                outer = [a for a in body.args if fresh not in a.free_symbols]
                return sp.Mul(*outer, IndexSum(sp.Mul(*(a for a in body.args if fresh in a.free_symbols)), fresh))
            return IndexSum(body * other, fresh) + IndexSum(body * (1 - other), fresh)
        if isinstance(e, IndexMax):
            fresh, body = e.opened("l")
            return (IndexMax(3 * body * V + other, fresh) - other) / (3 * V)
        if isinstance(e, sp.exp):
            return sp.exp(e.args[0] - other) * sp.exp(other)
        if isinstance(e, sp.sin):
            return sp.sin(e.args[0] - other) * sp.cos(other) + sp.cos(e.args[0] - other) * sp.sin(other)
        if isinstance(e, sp.cos):
            return 1 - 2 * sp.sin(e.args[0] / 2) ** 2
        if isinstance(e, sp.tanh):
            return 2 * op.sigmoid(2 * e.args[0]) - 1
        if isinstance(e, op.sigmoid):
            return (1 + sp.tanh(e.args[0] / 2)) / 2
        if isinstance(e, sp.Abs):
            return e.args[0] * sp.sign(e.args[0])
        if isinstance(e, op.relu):
            return (e.args[0] + sp.Abs(e.args[0])) / 2
        if isinstance(e, (Delta, Indicator)):
            return e * e if choice < 9 else 1 - (1 - e) ** 2
        if isinstance(e, Element) and e.indices and isinstance(e.indices[-1], Index):
            fresh = e.indices[-1].fresh("q")
            return IndexSum(Delta(fresh, e.indices[-1]) * element(e.tensor, *e.indices[:-1], fresh), fresh)
        if e.is_Pow and e.exp == 2:
            return sp.Mul(e.base + other, e.base - other, evaluate=False) + other**2
        condition = Indicator(sp.Ge(other, 0))
        return e * condition + e * (1 - condition)

    return change


def broken(rng: random.Random) -> Callable[[sp.Expr, list[Index]], sp.Expr]:
    """A change that most often does not keep the value: the slips that a person makes."""

    def change(e: sp.Expr, scope: list[Index]) -> sp.Expr:
        choice = rng.randrange(8)
        some = [i for i in scope if i.size == K]
        if isinstance(e, Element) and choice < 6:
            n = rng.randrange(len(e.indices)) if e.indices else 0
            if e.indices and choice < 4:
                fitting = [i for i in scope if i.size == e.tensor.shape[n]]
                return Element(e.tensor, *e.indices[:n], rng.choice(fitting), *e.indices[n + 1 :]) if fitting else -e
            if e.tensor in (B, S):
                return Element(e.tensor, *e.indices[::-1])
            return rng.choice((-e, e + 1, e**2, sp.Abs(e), Element(Y, *e.indices) if e.tensor is X else 2 * e))
        if isinstance(e, Delta) and choice < 6:
            return rng.choice((sp.S.One, Delta(*rng.sample(some, 2)) if len(some) > 1 else sp.S.One))
        if isinstance(e, Indicator) and choice < 6:
            return rng.choice((sp.S.One, 1 - e, Indicator(sp.Gt(*rng.sample(some, 2))) if len(some) > 1 else sp.S.One))
        if isinstance(e, IndexSum) and choice < 6:
            fresh, body = e.opened("l")
            if choice < 2:
                return e.at(next((i for i in scope if i.size == e.bound.size), sp.S.Zero))
            if choice < 4 and body.is_Mul:
                out = rng.choice(body.args)
                place = next((i for i in scope if i.size == e.bound.size), sp.S.Zero)
                return out.xreplace({fresh: place}) * IndexSum(sp.Mul(*(a for a in body.args if a is not out)), fresh)
            if body.is_Pow:
                return IndexSum(body.base, fresh) ** body.exp
            return rng.choice(
                (IndexSum(body**2, fresh), e.bound.size * e, IndexMax(body, fresh), IndexSum(sp.Abs(body), fresh))
            )
        if isinstance(e, IndexMax) and choice < 6:
            fresh, body = e.opened("l")
            return rng.choice(
                (
                    -IndexMax(-body, fresh),
                    IndexSum(body, fresh),
                    e.at(rng.choice([i for i in scope if i.size == e.bound.size] or [0])),
                )
            )
        if e.is_Pow and choice < 6:
            return rng.choice((e.base ** (e.exp + 1), e.base**-e.exp, sp.Abs(e.base) ** e.exp))
        if e.is_Function and choice < 6:
            x = e.args[0]
            return rng.choice(
                (sp.sin(x), sp.cos(x), sp.tanh(x), op.sigmoid(x), op.relu(x), sp.Abs(x), x, e.func(-x), e.func(2 * x))
            )
        if e.is_Add and choice < 6:
            dropped = rng.randrange(len(e.args))
            return sp.Add(*(a if n != dropped else -a for n, a in enumerate(e.args)))
        if e.is_Mul and choice < 6:
            dropped = rng.randrange(len(e.args))
            return sp.Mul(*(a for n, a in enumerate(e.args) if n != dropped))
        return rng.choice((-e, 2 * e, e + 1, e * K, e**2, sp.Abs(e), sp.sqrt(sp.Abs(e)), sp.exp(e)))

    return change


def change_somewhere(
    rng: random.Random, expression: sp.Expr, change: Callable[[sp.Expr, list[Index]], sp.Expr]
) -> sp.Expr:
    """One change at a random place."""
    return changed(expression, rng.randrange(places(expression)), change)
