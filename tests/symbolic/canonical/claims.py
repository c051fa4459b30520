"""Directed traps: pairs of expressions with the answer that a mathematician gives.

`EQUAL` holds for all sizes, wherever both sides have a value. `DIFFERENT` is false at some small size. `UNDEFINED` has a value on one
side only at some point. The tests judge every row by brute force first, so that a wrong row cannot stand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from lemmata.symbolic.language import operations as op
from lemmata.symbolic.language.arrays import Array, array
from lemmata.symbolic.language.hypotheses import Hypothesis
from lemmata.symbolic.language.hypotheses import equal as assume_equal
from lemmata.symbolic.language.hypotheses import nonzero as assume_nonzero
from lemmata.symbolic.language.hypotheses import positive as assume_positive
from lemmata.symbolic.language.indices import Index, index
from lemmata.symbolic.language.nodes import (ArgMaxIndicator, DefinedTensor, Delta, IndexMax, IndexProduct, IndexSum, Indicator,
                                             PartialDerivative, Tensor, element)
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.language.vocabulary import softmax
from lemmata.symbolic.language.vocabulary import sum as array_sum

K, N, M = size("K"), size("N"), size("M")
i, j, k, l = (index(s, K) for s in "ijkl")  # noqa: E741
n, n2, m = index("n", N), index("q", N), index("m", M)
a = index("a", size("N*K"))
x, w, u, v, c = Tensor("x"), Tensor("w"), Tensor("u", (), "positive"), Tensor("v", (), "positive"), Tensor("c")
r = Tensor("r", (), "(0,1)")
tiny, small = Tensor("tiny", (), "(0,0.000000000001)"), sp.Rational(1, 10**13)
bit = Tensor("bit", (), "binary")
X, Y, U, Z = (Tensor(s, (K,), d) for s, d in (("X", "real"), ("Y", "real"), ("U", "positive"), ("Z", "real")))
W = Tensor("W", (N,))
B, S, A, P = (Tensor(s, z, d) for s, z, d in (("B", (K, K), "real"), ("S", (K, K), "symmetric"), ("A", (N, K), "real"),
                                              ("P", (K, K), "positive")))
J = Tensor("J", (size("N*K"),))
hot, simplex, mask = Tensor("hot", (K,), "onehot"), Tensor("sim", (K,), "simplex"), Tensor("mask", (K,), "binary")
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
    return op.relu(e)


def unevaluated_root(e: sp.Expr, exponent: sp.Expr = half) -> sp.Expr:
    """A power that SymPy is kept from simplifying."""
    return sp.Pow(e, exponent, evaluate=False)


def entry(t: Tensor, *at: sp.Expr) -> sp.Expr:
    return element(t, *at)


Xi, Xj, Xk, Yi, Yj, Yk, Ui, Uj, Uk = (entry(t, s) for t in (X, Y, U) for s in (i, j, k))
Bij, Bji, Bil, Blj = entry(B, i, j), entry(B, j, i), entry(B, i, l), entry(B, l, j)
image = DefinedTensor("d", (index("a", K),), sp.S.Zero)
_own = index("a", K)
image = DefinedTensor("d", (_own,), total(entry(B, _own, j) * Xj, j))
di, dk = entry(image, i), entry(image, k)
p = softmax(Array((i,), Xi))
causal = total(holds(sp.Le(j, i)) * sp.exp(Xj), j)

Row = tuple[str, sp.Expr, sp.Expr]

EQUAL: list[Row] = [
    # sums nested in powers in exponentials in sums; conditions inside denominators
    ("renamed bound indices", total(Yi / causal, i), total(Yk / total(holds(sp.Le(l, k)) * sp.exp(entry(X, l)), l), k)),
    ("causal softmax rows sum to one", total(holds(sp.Le(j, i)) * sp.exp(Bij), j) / total(holds(sp.Le(l, i)) * sp.exp(Bil), l), sp.S.One),
    ("causal softmax rows under a sum", total(Yi * holds(sp.Le(j, i)) * sp.exp(Bij) / total(holds(sp.Le(l, i)) * sp.exp(Bil), l), i, j), total(Yi, i)),
    ("square of a sum is a double sum", total(Xi, i) ** 2, total(Xi * Xj, i, j)),
    ("exp of a square of a sum", total(sp.exp(-total(Bij * Xj, j) ** 2), i), total(sp.exp(-total(entry(B, k, i) * Xi, i) ** 2), k)),
    ("order of nested sums", total(Bij * Xi * Yj, i, j), total(Bij * Xi * Yj, j, i)),
    ("sums in exps in sums in powers", 1 / (1 + total(sp.exp(total(Bij * Xj, j)), i)) ** 2, 1 / (1 + total(sp.exp(total(entry(B, l, i) * Xi, i)), l)) ** 2),
    ("definition at two indices", di - dk, total((Bij - entry(B, k, j)) * Xj, j)),
    ("square of a definition", di**2, total(Bij * Bil * Xj * entry(X, l), j, l)),
    # partial sums against reciprocals
    ("row sums", total(sp.exp(Bij) / total(sp.exp(Bil), l), i, j), K),
    ("column sums", total(sp.exp(Bij) / total(sp.exp(Blj), l), i, j), K),
    ("row sums with a weight of the row", total(Xi * sp.exp(Bij) / total(sp.exp(Bil), l), i, j), total(Xi, i)),
    ("softmax is shift invariant", sp.exp(Xi + c) / total(sp.exp(Xj + c), j), sp.exp(Xi) / total(sp.exp(Xj), j)),
    # roots
    ("root of a square", unevaluated_root(x**2), sp.Abs(x)),
    ("root of a product of squares", sp.sqrt(x**2 * w**2), sp.Abs(x) * sp.Abs(w)),
    ("root of a product of positive factors", unevaluated_root(u * v), sp.sqrt(u) * sp.sqrt(v)),
    ("fourth root of a square, squared", unevaluated_root(x**2, sp.Rational(1, 4)) ** 2, sp.Abs(x)),
    ("root of a fourth power", unevaluated_root(x**4), x**2),
    ("square of a root of a sum of squares", sp.sqrt(total(Xi**2, i)) ** 2, total(Xi**2, i)),
    ("power 3/2 opens", (1 - r**2) ** sp.Rational(3, 2), (1 - r**2) * sp.sqrt(1 - r**2)),
    ("root of an expanded square", sp.sqrt(x**2 + 2 * x * w + w**2), sp.Abs(x + w)),
    ("one over the root of a square", 1 / unevaluated_root(x**2), 1 / sp.Abs(x)),
    ("root of the square of a negative", unevaluated_root((-u) ** 2), u),
    ("root of a size squared", unevaluated_root(K**2), K),
    ("root of an indicator", sp.sqrt(holds(sp.Ge(x, 0))), holds(sp.Ge(x, 0))),
    ("root of independent sums", sp.sqrt(total(Xi**2, i) * total(Yi**2, i)), sp.sqrt(total(Xi**2, i)) * sp.sqrt(total(Yj**2, j))),
    # logarithms
    ("log of a square", sp.log(x**2), 2 * sp.log(sp.Abs(x))),
    ("log of squares", sp.log(x**2) + sp.log(w**2), sp.log(x**2 * w**2)),
    ("log of positive factors", sp.log(Ui * Uk / v), sp.log(Ui) + sp.log(Uk) - sp.log(v)),
    ("log of exp", sp.log(sp.exp(x, evaluate=False), evaluate=False), x),
    ("log of numbers", sp.log(12, evaluate=False), 2 * sp.log(2) + sp.log(3)),
    ("log softmax", sp.log(entry_p := p.element(i)), Xi - sp.log(total(sp.exp(Xj), j))),
    ("exp of log softmax", sp.exp(Xi - sp.log(total(sp.exp(Xj), j))), entry_p),
    # deltas with affine indices, sums over composite sizes
    ("delta with an affine index", total(Delta(a, n * K + k) * entry(J, a) * Yk, a, n, k), total(entry(J, n * K + k) * Yk, n, k)),
    ("sum over a product of sizes", total(entry(J, a), a), total(entry(J, n * K + k), n, k)),
    ("delta of split indices", Delta(n * K + k, n2 * K + i), Delta(n, n2) * Delta(k, i)),
    ("flip of a sum", total(entry(X, K - 1 - i), i), total(Xi, i)),
    ("flip moved to the other factor", total(entry(X, K - 1 - i) * Yi, i), total(Xi * entry(Y, K - 1 - i), i)),
    ("shift with its range", total(Delta(j, i + 1) * Xj, j), holds(sp.Le(i + 1, K - 1)) * entry(X, i + 1)),
    ("delta between two sizes", total(Delta(n, k), n), holds(sp.Le(k, N - 1))),
    ("twice the same delta", Delta(i, k) * Delta(i, k) * Xi, Delta(i, k) * Xk),
    ("chain of deltas", total(Delta(i, j) * Delta(j, k), j), Delta(i, k)),
    ("flipped delta", Delta(i, K - 1 - k) * Xi, Delta(i, K - 1 - k) * entry(X, K - 1 - k)),
    ("flipped delta with a count", Delta(i, K - 1 - k) * total(holds(sp.Le(j, k)), j) * 2, 2 * total(holds(sp.Le(j, k)), j) * Delta(k, K - 1 - i)),
    ("label one-hot sums to one", total(Delta(entry(labels, n), k), k), sp.S.One),
    ("label picks", total(Delta(entry(labels, n), k) * entry(A, n, k), k), entry(A, n, entry(labels, n))),
    # domains
    ("one-hot squares", entry(hot, k) ** 2, entry(hot, k)),
    ("one-hot sums to one", total(entry(hot, k), k), sp.S.One),
    ("one-hot entries exclude each other", entry(hot, i) * entry(hot, k), Delta(i, k) * entry(hot, i)),
    ("simplex sums to one", total(entry(simplex, k), k), sp.S.One),
    ("mask squares", total(entry(mask, k) ** 3 * Xk, k), total(entry(mask, k) * Xk, k)),
    # sizes
    ("size over itself", K / (K + N) + N / (K + N), sp.S.One),
    ("sizes commute", total(sp.S.One, n, k), K * N),
    ("sum of a constant", total(c, i), K * c),
    # maxima
    ("max plus constant", IndexMax(Xi + c, i), IndexMax(Xi, i) + c),
    ("max of a positive multiple", IndexMax(v * Xi, i), v * IndexMax(Xi, i)),
    ("max of a number", IndexMax(3 * Xi, i), 3 * IndexMax(Xj, j)),
    ("max of what does not depend", IndexMax(x * w, i), x * w),
    ("argmax sums to one", total(ArgMaxIndicator(Xj, j, i), i), sp.S.One),
    ("derivative of max sums to one", total(D(IndexMax(Xi, i), Xk), k), sp.S.One),
    # indicators
    ("meeting half lines", holds(sp.Ge(x, 0)) * holds(sp.Le(x, 0)), holds(sp.Eq(x, 0))),
    ("a condition and its negation", holds(sp.Ge(x, w)) + holds(sp.Lt(x, w)), sp.S.One),
    ("nested half lines", holds(sp.Ge(x, 0)) * holds(sp.Ge(x, 1)), holds(sp.Ge(x, 1))),
    ("exclusive half lines", holds(sp.Ge(x, 1)) * holds(sp.Le(x, 0)), sp.S.Zero),
    ("relu minus relu of the negative", relu(x) - relu(-x), x),
    ("relu times relu of the negative", relu(x) * relu(-x), sp.S.Zero),
    ("abs of a product", sp.Abs(x, evaluate=False) * sp.Abs(w), sp.Abs(x * w, evaluate=False)),
    ("square of abs", sp.Abs(x) ** 2, x**2),
    ("trichotomy on indices", holds(sp.Lt(j, i)) + Delta(i, j) + holds(sp.Gt(j, i)), sp.S.One),
    ("both ways on indices", holds(sp.Le(j, i)) * holds(sp.Le(i, j)), Delta(i, j)),
    ("doubled condition", holds(sp.Ge(2 * j, 2 * i + 1)), holds(sp.Gt(j, i))),
    ("count below", total(holds(sp.Le(j, i)), j), i + 1),
    ("sum over a triangle, either way", total(Xi * Yj * holds(sp.Le(j, i)), i, j), total(Xj * Yi * holds(sp.Ge(j, i)), i, j)),
    ("triangle and strict triangle", total(Bij * holds(sp.Le(j, i)), i, j) + total(Bij * holds(sp.Gt(j, i)), j, i), total(Bij, i, j)),
    ("weight outside of a triangle", sp.log(1 + total((1 + total(v * holds(sp.Le(j, k)), j)) * holds(sp.Le(k, i)), k)),
     sp.log(1 + total((1 + v * total(holds(sp.Le(j, k)), j)) * holds(sp.Le(k, i)), k))),
    # symmetric matrices
    ("symmetric entries", entry(S, i, k), entry(S, k, i)),
    ("symmetric form", total(entry(S, i, j) * Xi * Yj, i, j), total(entry(S, i, j) * Xj * Yi, i, j)),
    ("symmetric square", entry(S, i, k) * entry(S, k, i), entry(S, i, k) ** 2),
    # numbers
    ("root two squared", sp.sqrt(2) * unevaluated_root(sp.Integer(2)), sp.Integer(2)),
    ("root eight", unevaluated_root(sp.Integer(8)), 2 * sp.sqrt(2)),
    ("cube roots", sp.Mul(sp.cbrt(2), sp.Pow(4, sp.Rational(1, 3), evaluate=False), evaluate=False), sp.Integer(2)),
    ("root of a half", sp.Pow(half, half, evaluate=False), sp.sqrt(2) / 2),
    ("root of six", sp.sqrt(6), sp.sqrt(2) * sp.sqrt(3)),
    ("root of pi", sp.sqrt(sp.pi) ** 2, sp.pi),
    ("nested root of numbers", sp.sqrt(3 + 2 * sp.sqrt(2)), 1 + sp.sqrt(2)),
    # trigonometry
    ("pythagoras", sp.sin(x) ** 2 + sp.cos(x) ** 2, sp.S.One),
    ("sine of a sum", sp.sin(x + w), sp.sin(x) * sp.cos(w) + sp.cos(x) * sp.sin(w)),
    ("sine of three", sp.sin(3 * x), 3 * sp.sin(x) - 4 * sp.sin(x) ** 3),
    ("half angle", sp.cos(x / 2) ** 2, (1 + sp.cos(x)) / 2),
    ("shift by a third of pi", sp.sin(x + sp.pi / 3), sp.sin(x) / 2 + sp.sqrt(3) * sp.cos(x) / 2),
    ("shift by a quarter of pi", sp.cos(x + sp.pi / 4), (sp.cos(x) - sp.sin(x)) / sp.sqrt(2)),
    ("complement", sp.sin(sp.pi / 2 - x, evaluate=False), sp.cos(x)),
    ("shift by pi", sp.cos(x + sp.pi, evaluate=False), -sp.cos(x)),
    ("tangent of twice", sp.tan(2 * x), 2 * sp.tan(x) / (1 - sp.tan(x) ** 2)),
    ("root of one minus cosine squared", sp.sqrt(1 - sp.cos(x) ** 2), sp.Abs(sp.sin(x))),
    ("root of cosine squared", unevaluated_root(sp.cos(x) ** 2), sp.Abs(sp.cos(x))),
    ("rotation by an angle of the sum", sp.cos(x * K) * sp.cos(x) - sp.sin(x * K) * sp.sin(x), sp.cos(x * (K + 1))),
    # functions
    ("tanh by sigmoid", sp.tanh(x), 2 * op.sigmoid(2 * x) - 1),
    ("sigmoid of the negative", op.sigmoid(-x), 1 - op.sigmoid(x)),
    ("softplus difference", op.softplus(x) - op.softplus(-x), x),
    ("log sigmoid", sp.log(op.sigmoid(x)), -op.softplus(-x)),
    ("erf is odd", sp.erf(-x, evaluate=False), -sp.erf(x)),
    ("erf of a difference is odd", sp.erf(x - w), -sp.erf(w - x)),
    ("tanh of a sum", sp.tanh(x + w), (sp.tanh(x) + sp.tanh(w)) / (1 + sp.tanh(x) * sp.tanh(w))),
    ("log gamma recurrence", sp.loggamma(u + 1), sp.loggamma(u) + sp.log(u)),
    ("arcsinh by log", sp.asinh(x), sp.log(x + sp.sqrt(x**2 + 1))),
    ("arctanh by log", sp.atanh(r), (sp.log(1 + r) - sp.log(1 - r)) / 2),
    ("arcsine and arccosine", sp.asin(r) + sp.acos(r), sp.pi / 2),
    # products
    ("product by exp and log", IndexProduct(Ui, i), sp.exp(total(sp.log(Ui), i))),
    ("product of products", IndexProduct(Xi * Yi, i), IndexProduct(Xi, i) * IndexProduct(Yj, j)),
    ("product of squares", IndexProduct(Xi**2, i), IndexProduct(Xi, i) ** 2),
    ("product of a positive constant", IndexProduct(v, i), v**K),
    ("log of a product", sp.log(IndexProduct(Ui, i)), total(sp.log(Ui), i)),
    ("product of an indicator of no index", IndexProduct(holds(sp.Ge(x, 0)), i), holds(sp.Ge(x, 0))),
    ("abs of a product over an index", sp.Abs(IndexProduct(Xi, i)), IndexProduct(sp.Abs(Xi), i)),
    ("derivative of a product", D(IndexProduct(Ui, i), Uk), IndexProduct(Ui, i) / Uk),
    ("symbolic exponent", u**K, u * u ** (K - 1)),
    # related denominators
    ("two forms of sigmoid", 1 / (1 + sp.exp(-x)), sp.exp(x) / (1 + sp.exp(x))),
    ("partial fractions", 1 / (x * (1 - x)), 1 / x + 1 / (1 - x)),
    ("expanded square below", 1 / ((x**2) ** 2 + 2 * x**2 + 1), 1 / (1 + x**2) ** 2),
    ("partial fractions under a sum", total(1 / (Ui * (1 + Ui)), i), total(1 / Ui, i) - total(1 / (1 + Uj), j)),
    # derivatives
    ("softmax jacobian", D(p.element(i), Xk), p.element(i) * (Delta(i, k) - p.element(k))),
    ("derivative through a maximum", D(IndexMax(Xi, i) - IndexMax(Xj, j), Xk), sp.S.Zero),
    ("derivative of abs", D(sp.Abs(x), x), sp.sign(x)),
    ("derivative of a square of a mask weight", D(total(entry(mask, k) * Xk**2, k), Xi), 2 * entry(mask, i) * Xi),
    ("derivative of arctan", D(sp.atan(x * w), x), w / (1 + x**2 * w**2)),
    ("derivative of erf", D(sp.erf(x), x), 2 * sp.exp(-x**2) / sp.sqrt(sp.pi)),
    ("second derivative", D(D(sp.exp(x * w), x), w), (1 + x * w) * sp.exp(x * w)),
]

DIFFERENT: list[Row] = [
    ("condition collapsed in a denominator", total(Yi / causal, i), total(Yi / total(sp.exp(Xj), j), i)),
    ("square of a sum and sum of squares", total(Xi, i) ** 2, total(Xi**2, i)),
    ("letters collapsed inside exp", total(sp.exp(-total(Bij * Xj, j) ** 2), i), K * sp.exp(-total(entry(B, j, j) * Xj, j) ** 2)),
    ("inner index for outer", total(sp.exp(total(Bij * Xj, j)), i), total(sp.exp(total(Bij * Xi, j)), i)),
    ("definition at one index for two", di * dk, di**2),
    ("sum of squares of a definition", total(di**2, i), total(di, i) ** 2),
    ("row sums with a weight of the column", total(Xj * sp.exp(Bij) / total(sp.exp(Bil), l), i, j), total(Xi, i)),
    ("column sum by the row's denominator", total(sp.exp(Bij) / total(sp.exp(Bil), l), i), sp.S.One),
    ("bound index also elsewhere", total(sp.exp(Xi) * Yi / total(sp.exp(Xj), j), i), total(Yi, i) / K),
    ("bound index also in another denominator", total(sp.exp(Bij) / total(sp.exp(Bil), l) / (1 + Uj), j), total(1 / (1 + Uj), j)),
    ("sums of reciprocals", total(1 / Ui, i), K**2 / total(Ui, i)),
    ("ratio of sums", total(Xi * Ui, i) / total(Ui, i), total(Xi, i) / K),
    ("root of a square without abs", unevaluated_root(x**2), x),
    ("root of an expanded square without abs", sp.sqrt(x**2 + 2 * x * w + w**2), x + w),
    ("root of a sum", sp.sqrt(u + v), sp.sqrt(u) + sp.sqrt(v)),
    ("reciprocal root without abs", 1 / unevaluated_root(x**2), 1 / x),
    ("shift without its range", total(Delta(n, k), n), sp.S.One),
    ("delta contracted on the wrong size", total(Delta(n, k) * entry(W, n), n), entry(W, 0)),
    ("delta against half an index", total(Delta(i, k / 2), i), sp.S.One),
    ("delta against a real number", total(Delta(i, x), i), holds(sp.Ge(x, 0)) * holds(sp.Le(x, K - 1))),
    ("delta against a root of a size", total(Delta(i, sp.sqrt(K)), i), holds(sp.Le(sp.sqrt(K), K - 1))),
    ("transpose", entry(B, i, k), entry(B, k, i)),
    ("transposed form", total(Bij * Xi * Yj, i, j), total(Bij * Xj * Yi, i, j)),
    ("square and entry of a real", Xk**2, Xk),
    ("square and entry of a simplex", entry(simplex, k) ** 2, entry(simplex, k)),
    ("binary rows sum to one", total(entry(mask, k), k), sp.S.One),
    ("simplex squares sum to one", total(entry(simplex, k) ** 2, k), sp.S.One),
    ("one size for another", total(sp.S.One, n), K),
    ("size products", K * N, K**2),
    ("mean with the wrong size", total(entry(A, n, k), n, k) / (N * N), total(entry(A, n, k), n, k) / (K * N)),
    ("max of a real multiple", IndexMax(c * Xi, i), c * IndexMax(Xi, i)),
    ("max of the negative", IndexMax(-Xi, i), -IndexMax(Xi, i)),
    ("max of a sum", IndexMax(Xi + Yi, i), IndexMax(Xi, i) + IndexMax(Yi, i)),
    ("argmax over another size", total(ArgMaxIndicator(Xj, j, m), m), sp.S.One),
    ("strict and weak", holds(sp.Gt(x, 0)), holds(sp.Ge(x, 0))),
    ("strict and weak on indices", holds(sp.Gt(i, j)), holds(sp.Ge(i, j))),
    ("half lines that meet", holds(sp.Ge(x, 0)) * holds(sp.Le(x, 0)), sp.S.Zero),
    ("condition with half an index", holds(sp.Ge(j / 2, i)), 1 - holds(sp.Ge(i - j / 2 - 1, 0))),
    ("sign at zero", sp.sign(x), 2 * holds(sp.Ge(x, 0)) - 1),
    ("cosine of twice is not positive", sp.Abs(sp.cos(2 * x)), sp.cos(2 * x)),
    ("relu of a cosine", relu(sp.cos(2 * x)), sp.cos(2 * x)),
    ("root of a cosine squared", unevaluated_root(sp.cos(2 * x) ** 2), sp.cos(2 * x)),
    ("condition on a cosine", holds(sp.Ge(sp.cos(2 * x), 0)), sp.S.One),
    ("condition on a sine of four", holds(sp.Ge(sp.sin(4 * x) + 1 * sp.sin(2 * x), 0)), sp.S.One),
    ("root of one minus cosine squared without abs", sp.sqrt(1 - sp.cos(x) ** 2), sp.sin(x)),
    ("minus in pythagoras", sp.cos(x) ** 2 - sp.sin(x) ** 2, sp.S.One),
    ("sine of a sum, split", sp.sin(x + w), sp.sin(x) + sp.sin(w)),
    ("roots of numbers", sp.sqrt(2) + sp.sqrt(3), sp.sqrt(5)),
    ("tanh and sigmoid", sp.tanh(x), 2 * op.sigmoid(x) - 1),
    ("erf is not even", sp.erf(-x, evaluate=False), sp.erf(x)),
    ("silu is not odd", op.silu(-x), -op.silu(x)),
    ("log gamma of a product", sp.loggamma(u * v), sp.loggamma(u) + sp.loggamma(v)),
    ("log gamma doubling", sp.loggamma(2 * u), 2 * sp.loggamma(u)),
    ("product of a sum", IndexProduct(Xi + 1, i), IndexProduct(Xi, i) + 1),
    ("product of minus one", IndexProduct(sp.S.NegativeOne, i), sp.S.One),
    ("product of negatives", IndexProduct(-Xi, i), IndexProduct(Xi, i)),
    ("product of an indicator of no index is not one", IndexProduct(holds(sp.Ge(x, 0)), i), sp.S.One),
    ("size power of an indicator", holds(sp.Ge(x, 0)) ** K, sp.S.One),
    ("size power of relu", relu(x) ** 2 * relu(x) ** K, x**2 * relu(x) * IndexProduct(sp.Abs(x), i)),
    ("product of relu", IndexProduct(relu(x), i), IndexProduct(x, i)),
    ("abs of a product of a constant", sp.Abs(IndexProduct(x, i)), IndexProduct(x, i)),
    ("relu of a product of a constant", relu(IndexProduct(sp.log(v), i)), sp.Abs(IndexProduct(sp.log(v), i))),
    ("sign of a product of a constant", sp.sign(IndexProduct(c, i)), sp.sign(c) ** 2),
    ("small constants are not zero", relu(tiny - 5 * small) / small, (tiny - 5 * small) / small),
    ("softmax jacobian, swapped", D(p.element(i), Xk), p.element(i) * (Delta(i, k) - p.element(i))),
    ("sign flipped in a jacobian", D(p.element(i), Xk), p.element(i) * (Delta(i, k) + p.element(k))),
    ("derivative of a bit", D(bit**2 * x, bit), x),
    ("derivative of a one-hot square", D(total(entry(hot, k) ** 2, k), entry(hot, i)), sp.S.One),
    ("scaled by nine in ten thousand", D(p.element(i), Xk), (1 + sp.Rational(9, 10**4)) * p.element(i) * (Delta(i, k) - p.element(k))),
]

UNDEFINED: list[Row] = [
    ("root of a product", sp.sqrt(x * w), sp.sqrt(x) * sp.sqrt(w)),
    ("log of a square without abs", sp.log(x**2), 2 * sp.log(x)),
    ("log of a product", sp.log(x * w), sp.log(x) + sp.log(w)),
    ("shift without its range", total(Delta(j, i + 1) * Xj, j), entry(X, i + 1)),
    ("one over relu", 1 / relu(x), 1 / x),
]


@dataclass(frozen=True)
class Assumed:
    """A claim under hypotheses; `domains` make brute force draw values that satisfy them."""

    name: str
    left: sp.Expr
    right: sp.Expr
    hypotheses: Sequence[Hypothesis]
    domains: dict[str, str] = field(default_factory=dict)


rows = [assume_equal(array_sum(array("A", "N,K"), axis=1), 1)]
ones_ = [assume_equal(array_sum(array("Y", "K")), 1)]
Ank = entry(A, n, k)
IN_ROWS, IN_Y = {"A": "simplex"}, {"Y": "simplex"}

EQUAL_IF: list[Assumed] = [
    Assumed("row sum", total(Ank, k), sp.S.One, rows, IN_ROWS),
    Assumed("all sums", total(Ank, n, k), N, rows, IN_ROWS),
    Assumed("row sum with a weight of the row", total(Ank * entry(W, n), n, k), total(entry(W, n), n), rows, IN_ROWS),
    Assumed("row sum squared", total(Ank, k) ** 2, sp.S.One, rows, IN_ROWS),
    Assumed("row sum below", 1 / (1 + total(Ank, k)), half, rows, IN_ROWS),
    Assumed("row sum in an exponent", sp.exp(x * total(Ank, k)), sp.exp(x), rows, IN_ROWS),
    Assumed("row sum at a number", total(entry(A, 0, k), k), sp.S.One, rows, IN_ROWS),
    Assumed("cross-entropy", D(-total(Yj * sp.log(p.element(j)), j), Xk), p.element(k) - Yk, ones_, IN_Y),
    Assumed("two row sums", total(entry(A, n, k) * entry(A, n2, i), k, i), sp.S.One, rows, IN_ROWS),
    Assumed("x positive, root", unevaluated_root(x**2), x, [assume_positive(array("x", ""))], {"x": "positive"}),
    Assumed("x positive, abs of a product", sp.Abs(x * w, evaluate=False), x * sp.Abs(w), [assume_positive(array("x", ""))], {"x": "positive"}),
    Assumed("x not zero", holds(sp.Eq(x, 0)), sp.S.Zero, [assume_nonzero(array("x", ""))], {"x": "nonzero"}),
    Assumed("entries positive", sp.Abs(Xk), Xk, [assume_positive(array("X", "K"))], {"X": "positive"}),
    Assumed("scalar given", x**2 * w, 9 * w, [assume_equal(array("x", ""), 3)], {"x": "{3}"}),
]

DIFFERENT_IF: list[Assumed] = [
    Assumed("the other axis", total(Ank, n), sp.S.One, rows, IN_ROWS),
    Assumed("weight of the column", total(Ank * Xk, k), sp.S.One, rows, IN_ROWS),
    Assumed("weight of the column, all", total(Ank * Xk, n, k), total(Xk, k), rows, IN_ROWS),
    Assumed("squares", total(Ank**2, k), sp.S.One, rows, IN_ROWS),
    Assumed("index also in a denominator", total(Ank / (1 + Uk), k), total(1 / (1 + Uk), k) / K, rows, IN_ROWS),
    Assumed("index also in a condition", total(Ank * holds(sp.Le(k, i)), k), holds(sp.Le(k, i)), rows, IN_ROWS),
    Assumed("another tensor", total(Xk, k), sp.S.One, ones_, IN_Y),
    Assumed("diagonal", total(Yk * entry(B, k, k), k), total(entry(B, k, k), k) / K, ones_, IN_Y),
    Assumed("derivative of a given scalar is not zero", D(x**2, x), sp.S.Zero, [assume_equal(array("x", ""), 3)], {"x": "{3}"}),
    Assumed("derivative of a given sum is not zero", D(total(Yj, j), Yk), sp.S.Zero, ones_, IN_Y),
    Assumed("cross-entropy, sign", D(-total(Yj * sp.log(p.element(j)), j), Xk), p.element(k) + Yk, ones_, IN_Y),
    Assumed("x not zero is not x positive", sp.Abs(x), x, [assume_nonzero(array("x", ""))], {"x": "nonzero"}),
]
