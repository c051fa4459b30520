"""Vector forms are evaluated by NumPy and compared with the index form at pairwise different sizes; where there is
none, None.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.language import nodes
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import Array, array, tensor_of
from lemmata.symbolic.language.indices import Index, index
from lemmata.symbolic.language.nodes import DefinedTensor, Delta, Element, Indicator
from lemmata.symbolic.rendering import vectors as w
from lemmata.symbolic.rendering.batches import batched_form
from lemmata.symbolic.rendering.vector_form import softmax_form, vector_form, vector_text

SIZES = {"K": 4, "n": 3, "m": 5, "d": 2, "c": 7, "e": 6, "B": 8}
VALUES = {"N": 9.0, "a": 0.7}
COMPARE: dict[str, Any] = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}


def sizes(e: Any) -> int:
    return int(sp.sympify(e).subs({s: SIZES[s.name] for s in e.free_symbols}))


class Data:
    """Random positive arrays by name, seeded by the name's letters; definitions are evaluated."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}

    def __call__(self, tensor: nodes.Tensor) -> Any:
        if tensor not in self.known:
            shape = tuple(sizes(n) for n in tensor.shape)
            if isinstance(tensor, DefinedTensor):
                grid = np.empty(shape)
                for at in np.ndindex(*shape):
                    grid[at] = by_index(tensor.body, dict(zip(tensor.parameters, at, strict=True)), self)
                self.known[tensor] = grid
            else:
                seed = sum(ord(c) * 31**n for n, c in enumerate(tensor.name))
                self.known[tensor] = (
                    np.random.default_rng(seed).uniform(0.2, 1.5, shape) if shape else VALUES[tensor.name]
                )
        return self.known[tensor]


def by_index(e: Any, at: dict[Index, int], data: Data) -> float:
    """The value of an index expression, by loops."""
    if isinstance(e, Index):
        return at[e]
    if isinstance(e, nodes.Tensor):
        return float(slice_of(e, data, at))
    if isinstance(e, sp.Number):
        return float(e)
    if isinstance(e, sp.Symbol):
        return SIZES[e.name]
    if isinstance(e, Element):
        return float(data(e.tensor)[tuple(int(by_index(i, at, data)) for i in e.indices)])
    if isinstance(e, (nodes.IndexSum, nodes.IndexMax)):
        parts = [by_index(e.body, at | {e.bound: n}, data) for n in range(sizes(e.bound.size))]
        return math.fsum(parts) if isinstance(e, nodes.IndexSum) else max(parts)
    args = [by_index(a, at, data) for a in e.args]
    if isinstance(e, Delta):
        return float(args[0] == args[1])
    if isinstance(e, sp.core.relational.Relational):
        return float(COMPARE[e.rel_op](*args))
    if isinstance(e, Indicator):
        return args[0]
    if isinstance(e, sp.Add):
        return math.fsum(args)
    if isinstance(e, sp.Mul):
        return math.prod(args)
    if isinstance(e, sp.Pow):
        return args[0] ** args[1]
    return float(nodes.sp.N(e.func(*args)) if e.func in (sp.exp, sp.log) else 1 / (1 + math.exp(-args[0])))


def slice_of(t: nodes.Tensor, data: Data, at: dict[Index, int]) -> Any:
    """An array, or what is left of it at fixed indices."""
    if not isinstance(t, w.Slice):
        return data(t)
    kept = {a: slice(None) for a in t.axes}
    place = [at[i] for i in t.fixed]
    return data(t.whole)[tuple(kept.get(a, place[a] if a < len(place) else 0) for a in range(len(t.whole.shape)))]


def by_numpy(form: w.Vector, data: Data, at: dict[Index, int] | None = None) -> Any:
    """The value of a vector form; one line a node, each NumPy's own operation. `at` has the leading indices."""
    at = at or {}

    def value(x: w.Vector) -> Any:
        return by_numpy(x, data, at)

    functions: dict[str, Callable[[Any], Any]] = {
        "exp": np.exp,
        "log": np.log,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }
    match form:
        case w.Whole(tensor=t):
            return slice_of(t, data, at)
        case w.Scalar(expression=e):
            return by_index(e, at, data)
        case w.Ones(size=n):
            return np.ones(sizes(n))
        case w.Identity(size=n):
            return np.eye(sizes(n))
        case w.Plus(terms=terms):
            values = [(-1) ** negative * value(t) for negative, t in terms]
            assert len({np.shape(x) for x in values}) == 1, "terms of different shapes"
            return sum(values)
        case w.Scaled(scalars=scalars, array=a):
            assert all(np.ndim(value(s)) == 0 for s in scalars)
            return math.prod(value(s) for s in scalars) * value(a)
        case w.Elementwise(factors=factors):
            values = [value(f) for f in factors]
            assert len({np.shape(x) for x in values}) == 1, "factors of different shapes"
            return np.prod(np.array(values), axis=0)
        case w.Quotient(above=a, below=b):
            assert np.shape(value(a)) == np.shape(value(b))
            return value(a) / value(b)
        case w.Applied(function=f, argument=a):
            return functions[f.__name__](value(a))
        case w.Raised(base=b, exponent=e):
            return value(b) ** by_index(e, {}, data)
        case w.Dot(left=a, right=b):
            assert np.ndim(value(a)) == np.ndim(value(b)) == 1
            return value(a) @ value(b)
        case w.Outer(left=a, right=b):
            return np.outer(value(a), value(b))
        case w.Product(factors=factors):
            values = [value(f) for f in factors]
            assert all(x.ndim == 2 for x in values[:-1])
            result = values[0]
            for x in values[1:]:
                result = result @ x
            return result
        case w.Diagonal(vector=a):
            return np.diag(value(a))
        case w.Transpose(matrix=a):
            return value(a).T
        case w.Largest(array=a):
            return np.max(value(a))
        case w.Repeated(vector=a, axis=axis, size=n):
            return np.repeat(np.expand_dims(value(a), axis), sizes(n), axis=axis)
        case w.RowMean(matrix=a):
            return value(a).mean(axis=1)
        case w.Mean(array=a):
            return np.mean(value(a))
        case w.Inner(left=a, right=b):
            assert np.shape(value(a)) == np.shape(value(b))
            return np.vdot(value(a), value(b))
        case w.Softmax(argument=a):
            return np.exp(value(a)) / np.exp(value(a)).sum(axis=-1, keepdims=True)
        case w.Larger(array=a, bound=b, smaller=smaller):
            return (np.minimum if smaller else np.maximum)(value(a), by_index(b, {}, data))
        case w.Holds(array=a, sign=sign, bound=b):
            return COMPARE[sign](value(a), by_index(b, {}, data)).astype(float)
        case w.Summed(indices=indices, array=a):
            grid = np.ndindex(*(sizes(i.size) for i in indices))
            return sum(by_numpy(a, data, at | dict(zip(indices, place, strict=True))) for place in grid)
    raise AssertionError(form)


z, y, g = array("z", "K"), array("y", "K"), array("g", "K")
p = v.softmax(z)
P, dO, V = array("P", "n,m"), array("dO", "n,d"), array("V", "m,d")
X, W, dY, x, b, u = (
    array("X", "n,c"),
    array("W", "c,e"),
    array("dY", "n,e"),
    array("x", "c"),
    array("b", "e"),
    array("u", "n"),
)
M, a, N = array("M", "K,K"), array("a", ""), array("N", "")
dP = dO @ V.T
i, j = M.indices

CASES: dict[str, tuple[Array, str]] = {
    "ce gradient": (p - y, "p − y"),
    "ce gradient, any y": (p * v.sum(y) - y, "(1ᵀ y) p − y"),
    "ce": (-v.sum(y * v.log(p)), "−yᵀ log(p)"),
    "by probabilities": (-y / p, "−y ⊘ p"),
    "jacobian": (v.diag(p) - v.outer(p, p), "diag(p) − p pᵀ"),
    "jacobian, factored": (Array((i, j), p.element(i) * (Delta(i, j) - p.element(j))), "diag(p) − p pᵀ"),
    "vjp": (p * (g - v.sum(g * p)), "p ⊙ (g − (gᵀ p) 1)"),
    "matrix vector": (X @ x, "X x"),
    "quadratic": (v.sum(z * (M @ z)), "zᵀ M z"),
    "three matrices": (M @ M @ z, "M M z"),
    "weights": (X.T @ dY, "Xᵀ dY"),
    "bias": (v.sum(dY, axis=0), "colsum(dY)"),
    "affine": (X @ W + b, "X W + b"),
    "attention dP": (dP, "dO Vᵀ"),
    "attention dS": (P * (dP - v.sum(P * dP, axis=1, keepdims=True)), "P ⊙ (dO Vᵀ − rowsum(P ⊙ (dO Vᵀ)))"),
    "row sums by a cycle": (v.einsum("nm,md,nd->n", P, V, dO), "rowsum(dO ⊙ (P V))"),
    "chain": (v.einsum("nc,nd,md->cm", X, dO, V), "Xᵀ dO Vᵀ"),
    "weighted chain": (v.einsum("nc,nd,n->cd", X, dO, u), "Xᵀ diag(u) dO"),
    "bilinear": ((X @ x) @ u, "uᵀ X x"),
    "rows scaled": (X * u[:, None], "X ⊙ u"),
    "rows normalised": (X / v.sum(X, axis=1, keepdims=True), "X ⊘ rowsum(X)"),
    "column means": (v.mean(X, axis=0), "colmean(X)"),
    "norm": (v.sqrt(v.sum(z**2)), "√(zᵀ z)"),
    "frobenius": (v.sum(X * X), "⟨X, X⟩"),
    "softmax, written out": (v.exp(z) / v.sum(v.exp(z)), "exp(z)/(1ᵀ exp(z))"),
    "logsumexp": (v.logsumexp(z), "log(1ᵀ exp(z))"),
    "shifted": (z - v.max(z), "z − max(z) 1"),
    "identity": (v.eye("K"), "I"),
    "powers": (y * z**3 + 1, "1 + y ⊙ z^⊙3"),
    "scaled": ((p - y) / N, "(p − y)/N"),
    "sigmoid": (v.sigmoid(z) - y, "σ(z) − y"),
    "variance": (v.sum(p * (g - v.sum(p * g)) ** 2), "pᵀ ((g − (gᵀ p) 1) ⊙ (g − (gᵀ p) 1))"),
    "two sums": (v.sum(z) * v.sum(y) + 1, "1 + 1ᵀ y 1ᵀ z"),
    "three axes, elementwise": (array("T", "B,n,d") * 2 - array("S", "B,n,d"), "2T − S"),
    "a column repeated": (Array((i, j), M.body - p.element(j)), "M − 1 pᵀ"),
    "transpose of a function": (Array((i, j), sp.exp(Element(tensor_of(M), j, i))), "exp(Mᵀ)"),
}


CASES |= {
    "attention backward": (P * (dO @ V.T - v.sum(P * (dO @ V.T), axis=1, keepdims=True)), CASES["attention dS"][1]),
    "a statistic of a square matrix": (M - v.mean(M, axis=1, keepdims=True), "M − rowmean(M)"),
    "of its columns": (M - v.mean(M, axis=0), "M − colmean(M)"),
    "centred": (X - v.mean(X, axis=0), "X − colmean(X)"),
    "standardised": (X / v.sqrt(v.mean(X**2, axis=1, keepdims=True) + a), "X ⊘ √(rowmean(X^⊙2) + a)"),
    "two vectors beside a matrix": (X * x + u[:, None], "X ⊙ x + u"),
    "rows and columns": (X * u[:, None] * x, "diag(u) X diag(x)"),
    "vectors alone": (u[:, None] + x, "1 xᵀ + u 1ᵀ"),
    "one minus": (P * (1 - P), "P ⊙ (1 − P)"),
    "mean of a vector": (v.mean(z * y), "yᵀ z/K"),
    "mean of a matrix": (v.mean(X), "mean(X)"),
    "loss": (v.sum(X * (dY @ W.T)), "⟨X, dY Wᵀ⟩"),
    "squared error": (v.sum((dY - X @ W) ** 2) / 2, "(1/2) ⟨dY − X W, dY − X W⟩"),
    "scaled at the end": (X.T @ dY / v.sqrt(N), "Xᵀ dY/√N"),
    "relu": (v.maximum(X @ W + b - 1, 0), "max(X W + b − 1, 0)"),
    "relu of a matrix": (v.maximum(X - 1, 0), "max(X − 1, 0)"),
    "capped": (v.minimum(X, 1), "min(X, 1)"),
    "relu backward": (X * Array(X.indices, Indicator(X.body > 1)), "X ⊙ [X > 1]"),
    "under a transpose": (v.maximum(X - 1, 0).T @ dY, "max(X − 1, 0)ᵀ dY"),
    "weights under a transpose": ((X * u[:, None]).T @ dY, "Xᵀ diag(u) dY"),
    "centred, transposed": ((X - u[:, None]).T @ dY, "(X − u)ᵀ dY"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_vector_form_has_the_value_of_the_index_form(name: str) -> None:
    given, shown = CASES[name]
    form = vector_form(given.body, given.indices)
    assert form is not None
    data = Data()
    want = np.empty([sizes(n) for n in given.shape])
    for at in np.ndindex(*want.shape):
        want[at] = by_index(given.body, dict(zip(given.indices, at, strict=True)), data)
    got = by_numpy(form, data)
    assert np.shape(got) == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert vector_text(form) == shown


@pytest.mark.parametrize("name", ["ce gradient", "weights", "vjp", "chain", "attention dS"])
def test_a_wrong_vector_form_is_seen(name: str) -> None:
    """The check has teeth: scaled by 1 + 9e-4, or with the axes of a square matrix exchanged, the values differ."""
    given, _ = CASES[name]
    form = vector_form(given.body * (1 + sp.Rational(9, 10**4)), given.indices)
    right = vector_form(given.body, given.indices)
    assert form is not None
    assert right is not None
    data = Data()
    assert not np.allclose(by_numpy(form, data), by_numpy(right, data), rtol=1e-6)


def test_transposes_are_not_confused() -> None:
    product = M @ array("A", "K,K")
    form = vector_form(product.body, product.indices)
    turned = vector_form(product.body, product.indices[::-1])
    assert vector_text(form) == "M A"
    assert vector_text(turned) == "Aᵀ Mᵀ"


k, n, t = index("k", "K"), index("n", "n"), array("t", "n", "index<K")
T = array("T", "B,n,d")


@pytest.mark.parametrize(
    ("expression", "axes"),
    [
        (Element(tensor_of(M), k, k), (k,)),  # a diagonal
        (Indicator(sp.Ge(z.element(k), y.element(k))), (k,)),
        (Element(tensor_of(z), t.element(n)), (n,)),  # a gather
        (Element(tensor_of(z), k + 1), (k,)),  # a shift
        ((T @ V.T).body, (T @ V.T).indices),  # three axes that interact
        (v.einsum("ij,jk,ik,kl->il", M, M, M, M).body, v.einsum("ij,jk,ik,kl->il", M, M, M, M).indices),
        (z.element(k) ** k, (k,)),
        (nodes.PartialDerivative(p.element(k), z.element(k)), (k,)),
    ],
)
def test_what_cannot_be_said_is_none(expression: sp.Expr, axes: tuple[Index, ...]) -> None:
    form = vector_form(expression, axes)
    if form is not None:  # a form that is found must still be right
        data = Data()
        want = np.empty([sizes(a.size) for a in axes])
        for at in np.ndindex(*want.shape):
            want[at] = by_index(expression, dict(zip(axes, at, strict=True)), data)
        np.testing.assert_allclose(by_numpy(form, data), want, rtol=1e-12)
        assert "IndexSum" in str(type(expression)) or len(axes) == 2


# ---------------------------------------------------------------------- more than two axes
BQ, BK, BV, BP = array("Q", "B,e,n,d"), array("K", "B,e,m,d"), array("V", "B,e,m,c"), array("P", "B,e,n,m")
BX, BG, BW, BU = array("X", "B,n,c"), array("G", "B,n,c"), array("w", "c"), array("r", "B,n")
BM = array("mu", "B,n,1")

BATCHED: dict[str, tuple[Array, str]] = {
    "scores": (BQ @ BK.transpose(0, 1, 3, 2) / v.sqrt(N), "Q Kᵀ/√N for each 2"),
    "one head": (BX @ X.T, "X (X′)ᵀ for each 1"),  # two arrays called X
    "softmax backward": (BP * (BP - v.sum(BP * BP, axis=-1, keepdims=True)), "P ⊙ (P − rowsum(P^⊙2)) for each 2"),
    "values": (BP @ BV, "P V for each 2"),
    "over the heads": (v.einsum("benm,bemc->bnc", BP, BV), "Σ_j P_bj V_bj for each 1"),
    "elementwise": (BX * BG - 2 * BX, "G ⊙ X − 2X for each 0"),
    "scaled rows": (BX * BW, "X ⊙ w for each 1"),
    "scaled columns": (BU[:, :, None] * (BX - BU[:, :, None] * BG), "r ⊙ (X − G ⊙ r) for each 1"),
    "kept axis": (BX - BM, "X − μ for each 1"),
    "layer norm": (
        BU[:, :, None] * (BG - v.mean(BG, -1, True) - BX * v.mean(BG * BX, -1, True)),
        "r ⊙ (G − rowmean(G) − X ⊙ rowmean(G ⊙ X)) for each 1",
    ),
    "row means": (v.mean(BX, -1), "rowmean(X) for each 1"),
    "weight gradient": (v.einsum("bnc,bnd->cd", BX, array("Z", "B,n,d")), "Σ_b X_bᵀ Z_b for each 0"),
    "weight gradient, regularised": (
        v.einsum("bnc,bnd->cd", BX, array("Z", "B,n,d")) + 2 * array("W", "c,d"),
        "2W + Σ_b X_bᵀ Z_b for each 0",
    ),
    "bias gradient": (v.sum(BG, axis=(0, 1)), "Σ_bj G_bj for each 0"),
    "scale gradient": (v.sum(BG * BX, axis=(0, 1)) / N, "(Σ_bj (G_bj ⊙ X_bj))/N for each 0"),
    "scale gradient with a scalar a row": (v.sum(BG * BU[:, :, None], axis=(0, 1)), "Σ_b G_bᵀ r_b for each 0"),
    "pairing": (v.sum(BX * BG), "⟨G, X⟩ for each 0"),
    "relu": (v.maximum(BX - 1, 0), "max(X − 1, 0) for each 1"),
}


def shown_for(found: Any) -> str:
    return f"{vector_text(found.form)} for each {len(found.for_each)}"


@pytest.mark.parametrize("name", BATCHED)
def test_a_batched_form_has_the_value_of_the_index_form(name: str) -> None:
    given, shown = BATCHED[name]
    found = batched_form(given.body, given.indices)
    assert found is not None
    assert judged(found, given)
    assert shown_for(found) == shown


def judged(found: Any, given: Array) -> bool:
    """Whether the form has the values of the loops, for each value of its leading indices."""
    data = Data()
    lead = len(found.for_each)
    inner = [sizes(n) for n in given.shape[lead:]]
    for first in np.ndindex(*(sizes(n) for n in given.shape[:lead])):
        got = by_numpy(found.form, data, dict(zip(found.for_each, first, strict=True)))
        assert np.shape(got) == tuple(inner)
        for at in np.ndindex(*inner):
            want = by_index(given.body, dict(zip(given.indices, (*first, *at), strict=True)), data)
            if not math.isclose(got[at] if inner else got, want, rel_tol=1e-10, abs_tol=1e-12):
                return False
    return True


@pytest.mark.parametrize("name", ["softmax backward", "layer norm", "weight gradient", "scale gradient"])
def test_a_wrong_batched_form_is_seen(name: str) -> None:
    given, _ = BATCHED[name]
    for factor in (sp.Rational(10009, 10000), sp.Integer(-1)):
        wrong = batched_form(given.body * factor, given.indices)
        assert wrong is not None
        assert not judged(wrong, given)


def test_a_dropped_transpose_is_seen() -> None:
    square = array("Y", "B,n,n")
    right = square @ square.transpose(0, 2, 1)
    wrong = square @ square
    found = batched_form(wrong.body, wrong.indices)
    assert found is not None
    assert shown_for(found) == "Y Y for each 1"
    assert judged(found, wrong)
    assert not judged(found, right)


def test_leading_indices_elsewhere_have_no_form() -> None:
    b, c, d_ = index("b", "n"), index("c", "n"), index("d", "d")
    t3 = array("Y", "n,n,d")
    turned = t3.element(b, c, d_) + t3.element(c, b, d_)
    assert batched_form(turned, (b, c, d_)) is None  # Y and its turned self would both be called Y
    assert batched_form(t3.element(b, c, d_) + t3.element(c, c, d_), (b, c, d_)) is None
    assert batched_form(t3.element(b, c, d_) * Delta(b, c), (b, c, d_)) is None


def test_softmax_is_read_where_it_is_the_softmax() -> None:
    soft = v.softmax(M)
    body, axes = tensor_of(soft).at(i, j), (i, j)
    form = softmax_form(body, axes)
    assert form is not None
    assert vector_text(form) == "softmax(M)"
    data = Data()
    rows = np.exp(data(tensor_of(M)))
    np.testing.assert_allclose(by_numpy(form, data), rows / rows.sum(1, keepdims=True))
    assert softmax_form(body, (j, i)) is None  # of the columns
    assert softmax_form(body * 2, axes) is None
    assert softmax_form(sp.exp(M.body) / v.sum(v.exp(M)).body, axes) is None  # over both axes
