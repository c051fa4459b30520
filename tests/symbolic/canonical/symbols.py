"""The sizes, indices, tensors and abbreviations that the directed claims are written with."""

from __future__ import annotations

import sympy as sp

from lemmata.symbolic.language import operations as op
from lemmata.symbolic.language.arrays import Array
from lemmata.symbolic.language.indices import Index, index
from lemmata.symbolic.language.nodes import DefinedTensor, IndexSum, Indicator, PartialDerivative, Tensor, element
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.language.vocabulary import softmax

K, N, M = size("K"), size("N"), size("M")
i, j, k, l = (index(s, K) for s in "ijkl")
n, n2, m, m2 = index("n", N), index("q", N), index("m", M), index("o", M)
a, b2, e2 = index("a", size("N*K")), index("b", 2), index("e", size("2*K"))
x, w, u, v, c = Tensor("x"), Tensor("w"), Tensor("u", (), "positive"), Tensor("v", (), "positive"), Tensor("c")
r = Tensor("r", (), "(0,1)")
tiny, small = Tensor("tiny", (), "(0,0.000000000001)"), sp.Rational(1, 10**13)
bit = Tensor("bit", (), "binary")
X, Y, U, Z = (Tensor(s, (K,), d) for s, d in (("X", "real"), ("Y", "real"), ("U", "positive"), ("Z", "real")))
W = Tensor("W", (N,))
B, S, A, P = (
    Tensor(s, z, d)
    for s, z, d in (("B", (K, K), "real"), ("S", (K, K), "symmetric"), ("A", (N, K), "real"), ("P", (K, K), "positive"))
)
J, E2 = Tensor("J", (size("N*K"),)), Tensor("E", (size("2*K"),))
hot, simplex, mask = Tensor("hot", (K,), "onehot"), Tensor("sim", (K,), "simplex"), Tensor("mask", (K,), "binary")
hots, hot_square = Tensor("hots", (N, K), "onehot"), Tensor("hotsq", (K, K), "onehot")
labels = Tensor("t", (N,), "index<K")
D = PartialDerivative
half = sp.Rational(1, 2)


def total(body: sp.Expr, *over: Index) -> sp.Expr:
    """Σ over indices, the last one innermost."""
    for o in reversed(over):
        body = IndexSum(body, o)
    return body


def holds(condition: object) -> sp.Expr:
    """The indicator of a condition."""
    return Indicator(condition)


def relu(e: sp.Expr) -> sp.Expr:
    """The positive part."""
    return op.relu(e)


def unevaluated_root(e: sp.Expr, exponent: sp.Expr = half) -> sp.Expr:
    """A power that SymPy is kept from simplifying."""
    return sp.Pow(e, exponent, evaluate=False)


def entry(t: Tensor, *at: sp.Expr) -> sp.Expr:
    """An element."""
    return element(t, *at)


Xi, Xj, Xk, Yi, Yj, Yk, Ui, Uj, Uk = (entry(t, s) for t in (X, Y, U) for s in (i, j, k))
Bij, Bji, Bil, Blj = entry(B, i, j), entry(B, j, i), entry(B, i, l), entry(B, l, j)
_own = index("a", K)
image = DefinedTensor("d", (_own,), total(entry(B, _own, j) * Xj, j))
di, dk = entry(image, i), entry(image, k)
p = softmax(Array((i,), Xi))
causal = total(holds(sp.Le(j, i)) * sp.exp(Xj), j)
pi_ = p.element(i)
pk = p.element(k)

Row = tuple[str, sp.Expr, sp.Expr]
