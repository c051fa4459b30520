"""Generated code against the judge that loops (`brute`), at pairwise different sizes; its stability; its looks."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.codegen import compile_numpy, numpy_source
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import Array, array, define, tensor_of
from lemmata.symbolic.language.errors import ShapeError, UnsupportedError
from lemmata.symbolic.language.formulas import read_arrays, read_formula
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    Delta,
    Element,
    IndexMax,
    IndexSum,
    Indicator,
    PartialDerivative,
    element,
    unfold,
)
from lemmata.symbolic.language.operations import OPERATIONS, sigmoid
from lemmata.symbolic.language.sizes import size

_spec = importlib.util.spec_from_file_location("brute", Path(__file__).with_name("brute.py"))
brute = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brute)

SIZES = {"N": 4, "K": 3, "H": 5, "B": 2, "n": 6, "m": 7, "h": 2, "d": 3, "c": 5}
SEED = 20240611


def tensors_of(names):
    return [tensor_of(a) for a in names.values()]


def numbers(tensors, sizes, scale=1.0, seed=SEED):
    """One seeded array a tensor, in its domain."""
    random = np.random.default_rng(seed)
    found = {}
    for t in tensors:
        shape = tuple(int(n.subs({size(s): x for s, x in sizes.items()})) for n in t.shape)
        name = t.domain.name
        if match := re.fullmatch(r"index<(\w+)", name):
            found[t.name] = random.integers(0, sizes[match[1]], shape)
        elif name in ("positive", "simplex", "(0,1)"):
            x = random.uniform(0.1, 0.9, shape)
            found[t.name] = x / x.sum(axis=-1, keepdims=True) if name == "simplex" else x
        elif name in ("mask", "binary"):
            found[t.name] = random.integers(0, 2, shape).astype(float)
        else:
            found[t.name] = scale * random.standard_normal(shape)
    return found


def difference(expression, indices, tensors, sizes, scale=1.0, by=None):
    """Largest relative distance between the generated code and the judge; infinite when a shape or a nan differs."""
    values = numbers(tensors, sizes, scale)
    function = by or compile_numpy("f", expression, indices, tensors)
    with np.errstate(all="ignore"):
        got = np.asarray(function(*(values[t.name] for t in tensors)), dtype=float)
    digits = 40 if scale == 1.0 else 2000  # 1 - sigmoid(1000) is not 0
    want = brute.evaluate(expression, indices, values, sizes, digits)
    if got.shape != want.shape or not np.isfinite(got).all():
        return np.inf
    return float(np.max(np.abs(got - want) / (1 + np.abs(want)), initial=0.0))


# ---------------------------------------------------------------------------------------------- from formula strings
FORMULAS = [
    ("z=K", "", "softmax(z)"),
    ("z=N,K", "", "softmax(z, axis=0)"),
    ("z=B,N,K", "", "softmax(z, axis=1)"),
    ("z=K T=", "T=positive", "softmax(z/T)"),
    ("z=K", "", "diag(softmax(z)) - outer(softmax(z), softmax(z))"),
    ("z=K y=K", "y=simplex", "softmax(z) - y"),
    ("z=N,K y=N,K", "y=simplex", "(softmax(z) - y)/N"),
    ("z=N,K y=N,K", "y=simplex", "-sum(y*log(softmax(z)))/N"),
    ("z=N,K y=N,K", "y=simplex", "-mean(sum(y*log_softmax(z), axis=1))"),
    ("z=N,K", "", "logsumexp(z, axis=1)"),
    ("z=N,K", "", "logsumexp(z, axis=0)"),
    ("z=N,K", "", "logsumexp(z)"),
    ("z=N,K", "", "logsumexp(2*z + 1, axis=1, keepdims=True)"),
    ("z=N,K v=N,K", "", "softmax(z)*(v - sum(v*softmax(z), axis=1, keepdims=True))"),
    ("z=N,K y=N,K", "y=(0,1)", "-mean(y*log(sigmoid(z)) + (1 - y)*log(1 - sigmoid(z)))"),
    ("z=N y=N w=", "y=(0,1) w=positive", "-sum(w*y*log_sigmoid(z) + (1 - y)*log_sigmoid(-z))"),
    ("z=N", "", "maximum(z, 0) - z*z + log(1 + exp(-abs(z)))"),
    ("z=N", "", "1/(1 + exp(-z))"),
    ("p=K y=K", "p=(0,1) y=(0,1)", "-y/p + (1 - y)/(1 - p)"),
    ("x=N,d W=H,d b=H", "", "x @ W.T + b"),
    ("x=B,N,d W=d,H", "", "x @ W"),
    ("W=N,K x=K", "", "W @ x"),
    ("W=N,K x=N", "", "x @ W"),
    ("x=K", "", "x @ x"),
    ("x=N y=K", "", "outer(x, y)"),
    ("x=N y=K z=H", "", "einsum('n,k,h->hnk', x, y, z)"),
    ("A=N,K B=K,H C=H,d", "", "A @ B @ C"),
    ("A=N,K B=N,K", "", "einsum('nk,nk->n', A, B)"),
    ("A=N,K B=N,K", "", "einsum('nk,nk->', A, B)"),
    ("A=B,N,K C=N,K,B", "", "einsum('bnk,nkb->k', A, C)"),
    ("A=K,K", "", "trace(A)"),
    ("A=K,K", "", "diag(A)"),
    ("x=N,d g=d b=d eps=", "eps=positive", "(x - mean(x,1,True))/sqrt(var(x,1,True) + eps)*g + b"),
    ("Q=B,h,n,d K=B,h,m,d", "", "softmax(einsum('bhid,bhjd->bhij', Q, K)/sqrt(d))"),
    (
        "Q=B,h,n,d K=B,h,m,d V=B,h,m,c",
        "",
        "einsum('bhij,bhje->bhie', softmax(einsum('bhid,bhjd->bhij', Q, K)/sqrt(d)), V)",
    ),
    ("Q=B,n,h,d K=B,m,h,d V=B,m,h,c", "", "einsum('bhij,bjhe->bihe', softmax(einsum('bihd,bjhd->bhij', Q, K)), V)"),
    ("x=N y=N", "", "where(greater(x, y), exp(x), y**2)"),
    ("x=N", "", "relu(x) + abs(x) + sign(x)"),
    ("x=N", "", "gelu(x) + gelu_tanh(x) + silu(x) + mish(x) + elu(x) + softplus(x)"),
    ("x=N,K", "", "max(x, axis=0) - min(x, axis=1)[0]"),
    ("x=N,K", "", "prod(x, axis=1)"),
    ("z=N,K t=N", "t=index<K", "one_hot(t, K) - z"),
    ("z=K", "", "zeros(K) + 1"),
    ("z=N,K", "", "ones((K, N))/3"),
    ("z=N,K", "", "zeros((N, K)) + arange(N)[:, None]"),
    ("z=N,K", "", "eye(K)/N"),
    ("z=K", "", "3"),
    ("z=N,K", "", "sum(ones((N, K)) + z, axis=0)"),
    ("z=N,K", "", "z[0] + z[2] + z[0, 1]"),
    ("z=N,1", "", "z*ones((N, 1))"),
    ("z=N,K", "", "z[:, None, :] - z[None, :, :]"),
    ("z=N,K", "", "0.1*z + z/3 - 2*z**-2 + 1e-8 + pi*e"),
    ("z=K", "", "-(z + 1)*-2**z"),
    ("pos=n z=d", "", "sin(outer(pos, 10000**(-2*arange(d)/d)))"),
]


@pytest.mark.parametrize(("shapes", "domains", "formula"), FORMULAS, ids=lambda t: t)
def test_formula(shapes, domains, formula):
    names = read_arrays(shapes, domains)
    value = read_formula(formula, names)
    tensors = tensors_of(names)
    source = numpy_source("f", value.body, value.indices, tensors)
    assert "for " not in source
    assert difference(value.body, value.indices, tensors, SIZES) < 1e-12, source
    # with every definition inlined: softmax and the rest are recognised in the bare formula too
    inlined = unfold(value.body)
    assert difference(inlined, value.indices, tensors, SIZES) < 1e-12


# ---------------------------------------------------------------------------------------------- from nodes
def nodes_cases():
    i, j, k, n, m = index("i", "K"), index("j", "K"), index("k", "K"), index("n", "N"), index("m", "N")
    z, t = array("z", "N,K"), array("t", "N", "index<K")
    x, W = array("x", "K"), array("W", "K,K")
    Z, T, X, M = (tensor_of(a) for a in (z, t, x, W))
    p = v.softmax(z)
    P = p.body.tensor
    at = element
    yield "Jacobian of softmax, factored", at(P, n, i) * (Delta(i, j) - at(P, n, j)), (n, i, j), [Z]
    yield "the same, other order of axes", at(P, n, i) * (Delta(i, j) - at(P, n, j)), (j, n, i), [Z]
    yield "bare exponentials", _bare_jacobian(Z, n, i, j), (n, i, j), [Z]
    yield "hard label", -sp.log(at(P, n, at(T, n))), (n,), [Z, T]
    yield "gradient of a hard label", (at(P, n, i) - Delta(at(T, n), i)) / size("N"), (n, i), [Z, T]
    yield "sum with a label", IndexSum(Delta(at(T, n), k) * at(Z, n, k), k), (n,), [Z, T]
    yield "repeated ids", IndexSum(Delta(at(T, n), i) * at(Z, n, k), n), (i, k), [Z, T]
    yield "causal mask", at(M, i, j) * Indicator(sp.Le(j, i)), (i, j), [M]
    yield "masked sum", IndexSum(Indicator(sp.Le(k, i)) * at(X, k), k), (i,), [X]
    yield "masked exponentials", IndexSum(Indicator(sp.Lt(k, i)) * sp.exp(at(X, k)), k), (i,), [X]
    yield "not masked", (1 - Indicator(sp.Gt(at(X, i), 0))) * sp.exp(at(X, i)), (i,), [X]
    yield "two masks", Indicator(sp.Le(j, i)) + Indicator(sp.Le(i, j)), (i, j), [X]
    yield "minus a mask", -Indicator(sp.Le(j, i)), (i, j), [X]
    yield "mask of masks", Indicator(sp.And(sp.Le(j, i), sp.Gt(at(X, j), 0))), (i, j), [X]
    yield "product of masks", Indicator(sp.Le(j, i)) * Indicator(sp.Gt(at(X, j), 0)), (i, j), [X]
    yield "sum of a mask", IndexSum(Indicator(sp.Le(k, i)), k), (i,), [X]
    yield "delta alone", Delta(i, j), (i, j), [X]
    yield "delta times x", at(X, i) * Delta(i, j), (i, j), [X]
    yield "delta times x_j, reversed", at(X, j) * Delta(i, j), (j, i), [X]
    yield "two deltas", Delta(i, j) * Delta(n, m), (n, i, m, j), [Z]
    yield "delta against a number", Delta(i, 1) * at(X, i), (i,), [X]
    yield "contracted delta", IndexSum(Delta(i, k) * at(M, k, j), k), (i, j), [M]
    yield (
        "sum of sums",
        IndexSum(at(X, k), k) * IndexSum(at(X, k) ** 2, k) + IndexSum(IndexSum(at(M, i, j), i), j),
        (),
        [X, M],
    )
    yield "nested sums", IndexSum(at(X, k) * IndexSum(at(M, k, j) * at(X, j), j), k), (), [X, M]
    yield (
        "sum of a sum of contractions",
        IndexSum(at(M, i, k) * at(M, k, j) + at(M, k, i) * at(M, j, k), k),
        (i, j),
        [M],
    )
    yield "quadratic form", IndexSum(IndexSum(at(X, i) * at(M, i, j) * at(X, j), i), j), (), [X, M]
    yield "max over an axis", IndexMax(at(Z, n, k), k) + at(Z, n, 0), (n,), [Z]
    yield "argmax", ArgMaxIndicator(at(Z, n, k), k, i), (n, i), [Z]
    yield "constant", sp.Integer(1), (n, i), [Z]
    yield "missing axis", at(X, i), (n, i), [Z, X]
    yield "missing last axis", at(X, i), (i, n), [Z, X]
    yield "index as a number", n + at(X, i) * sp.sqrt(2), (i, n), [Z, X]
    yield "diagonal", at(M, i, i), (i,), [M]
    yield "diagonal of a batch", at(Z, n, at(T, n)) + at(M, 0, at(T, n)), (n,), [Z, T, M]
    yield "embedding", Element(M, at(T, n), j), (n, j), [T, M]
    yield "embedding on the right", Element(M, j, at(T, n)), (n, j), [T, M]
    yield "flip", at(X, size("K") - 1 - i), (i,), [X]
    yield "shift under a mask", Indicator(sp.Lt(i + 1, size("K"))) * Element(X, i + 1), (i,), [X]
    yield "shift back under a mask", Indicator(sp.Ge(i, 1)) * Element(X, i - 1), (i,), [X]
    yield "log of a defined sigmoid", sp.log(1 - _defined_sigmoid(x).element(i)), (i,), [X]
    yield (
        "x over the square of a sum",
        at(X, i) / IndexSum(sp.exp(at(X, k)), k) ** 2 * sp.exp(2 * at(X, j)),
        (i, j),
        [X],
    )
    yield (
        "expectation under softmax",
        (IndexSum(sp.exp(at(X, k)) * at(M, i, k), k) / IndexSum(sp.exp(at(X, k)), k)),
        (i,),
        [X, M],
    )


def _bare_jacobian(Z, n, i, j):
    total = IndexSum(sp.exp(element(Z, n, k := index("k", "K"))), k)
    pi, pj = sp.exp(element(Z, n, i)) / total, sp.exp(element(Z, n, j)) / total
    return pi * Delta(i, j) - pi * pj


def _defined_sigmoid(x: Array) -> Array:
    return define("s", v.sigmoid(x))


NODES = list(nodes_cases())


@pytest.mark.parametrize(("expression", "indices", "tensors"), [c[1:] for c in NODES], ids=[c[0] for c in NODES])
def test_nodes(expression, indices, tensors):
    source = numpy_source("f", expression, indices, tensors)
    assert "for " not in source
    assert difference(expression, indices, tensors, SIZES) < 1e-12, source
    ones = {**SIZES, "K": 3, "N": 1}  # a batch of one must not lose its axis
    assert difference(expression, indices, tensors, ones) < 1e-12, source


def test_split_and_merge_of_heads():
    x = tensor_of(array("x", "n,h*d"))
    n, a, b = index("n", "n"), index("a", "h"), index("b", "d")
    y = array("y", "h,d")
    split = Element(x, n, a * size("d") + b)
    assert difference(split * y.element(a, b), (n, a, b), [x, tensor_of(y)], SIZES) == 0
    assert difference(split * y.element(a, b), (a, n, b), [x, tensor_of(y)], SIZES) == 0


def test_composite_sizes_are_solved():
    x, y = tensor_of(array("x", "2*H")), tensor_of(array("y", "h*d,h"))
    i, a, b = index("i", 2 * size("H")), index("a", size("h") * size("d")), index("b", "h")
    body = element(x, i) / size("H") + element(y, a, b) / size("d")
    source = numpy_source("f", body, (i, a, b), [x, y])
    assert "H = x.shape[0] // 2" in source
    assert source.index("h = y.shape[1]") < source.index("d = y.shape[0] // h")
    assert difference(body, (i, a, b), [x, y], SIZES) < 1e-15


# ---------------------------------------------------------------------------------------------- stability
STABLE = [
    ("z=K", "", "softmax(z)"),
    ("z=N,K", "", "log_softmax(z)"),
    ("z=N,K", "", "logsumexp(z, axis=1)"),
    ("z=N,K", "", "logsumexp(z)"),
    ("z=N,K y=N,K", "y=simplex", "-sum(y*log(softmax(z)))/N"),
    ("z=N,K v=N,K", "v=(0,1)", "softmax(z)*(v - sum(v*softmax(z), axis=1, keepdims=True))"),
    ("z=N y=N", "y=(0,1)", "-sum(y*log(sigmoid(z)) + (1 - y)*log(1 - sigmoid(z)))"),
    ("z=N y=N", "y=(0,1)", "sum(softplus(z) - y*z)"),
    ("z=N", "", "sigmoid(z) + 1/(1 + exp(-z)) + 1/(1 + exp(z))"),
    ("z=N", "", "log(1 + exp(z)) + log_sigmoid(z)"),
    ("z=N", "", "elu(z) + silu(z) + mish(z)"),
    ("z=N", "", "where(greater(z, 0), z, exp(z) - 1)"),
]


@pytest.mark.parametrize(("shapes", "domains", "formula"), STABLE, ids=lambda t: t)
def test_stable_at_a_thousand(shapes, domains, formula):
    names = read_arrays(shapes, domains)
    value = read_formula(formula, names)
    for body in (value.body, unfold(value.body)):
        assert difference(body, value.indices, tensors_of(names), SIZES, scale=1000.0) < 1e-12


def test_bare_formula_would_overflow():
    """What the stability tests guard against: the formula as it is written gives nan."""
    with np.errstate(all="ignore"):
        z = np.array([1000.0, 0.0])
        assert np.isnan(np.exp(z) / np.exp(z).sum()).any()


# ---------------------------------------------------------------------------------------------- every operation
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_code(name):
    row = OPERATIONS[name]
    x = tensor_of(array("x", "N", "(0,1)"))
    i = index("i", "N")
    argument = element(x, i) + (1 if name == "arccosh" else 0)
    assert difference(row.example(argument), (i,), [x], SIZES) < 1e-12


# ---------------------------------------------------------------------------------------------- tampering is seen
def test_tampering_is_seen():
    names = read_arrays("z=N,K y=N,K", "y=simplex")
    value = read_formula("(softmax(z) - y)/N", names)
    tensors = tensors_of(names)
    good = compile_numpy("f", value.body, value.indices, tensors)
    assert difference(value.body, value.indices, tensors, SIZES, by=good) < 1e-12
    wrong = {
        "sign": lambda z, y: -good(z, y),
        "scale": lambda z, y: good(z, y) * (1 + 9e-4),
        "axis": lambda z, y: good(z.T, y.T).T,
        "transpose": lambda z, y: good(z, y).T,
        "missing 1/N": lambda z, y: good(z, y) * len(z),
        "shape": lambda z, y: good(z, y)[:1],
        "nan": lambda z, y: good(z, y) * np.where(z == z.max(), np.nan, 1),
    }
    for name, function in wrong.items():
        assert difference(value.body, value.indices, tensors, SIZES, by=function) > 1e-5, name


@pytest.mark.parametrize(
    ("old", "new"),
    [("axis=-1", "axis=0"), ("p[:, None]", "p[None, :]"), (" - ", " + "), ("diag", "outer(p, p) * np.diag")],
)
def test_tampering_with_the_source_is_seen(old, new):
    names = read_arrays("z=K")
    value = read_formula("diag(softmax(z)) - outer(softmax(z), softmax(z))*arange(K)[:, None]", names)
    tensors = tensors_of(names)
    source = numpy_source("f", value.body, value.indices, tensors)
    assert old in source
    namespace = {}
    exec(source.replace(old, new), namespace)
    changed = difference(value.body, value.indices, tensors, SIZES, by=namespace["f"])
    # with one axis, axis=-1 and axis=0 are the same; anything else must show
    assert (changed < 1e-12) if old == "axis=-1" else (changed > 1e-3)


# ---------------------------------------------------------------------------------------------- errors
def test_errors():
    x, y = tensor_of(array("x", "K")), tensor_of(array("y", "K"))
    i, n = index("i", "K"), index("n", "N")
    with pytest.raises(ShapeError, match="free indices i"):
        numpy_source("f", element(x, i), (), [x])
    with pytest.raises(ShapeError, match=r"size N cannot be read from the arguments \(x \(K,\)\)"):
        numpy_source("f", element(x, i), (n, i), [x])
    with pytest.raises(UnsupportedError, match="y occurs in the expression but is not among the arguments"):
        numpy_source("f", element(y, i), (i,), [x])
    with pytest.raises(UnsupportedError, match="not carried out"):
        numpy_source("f", PartialDerivative(sigmoid(element(x, i)), element(x, i)), (i,), [x])
    with pytest.raises(UnsupportedError, match="the symbol q"):
        numpy_source("f", sp.Symbol("q") * element(x, i), (i,), [x])
    with pytest.raises(UnsupportedError, match="dirichlet_eta"):
        numpy_source("f", sp.dirichlet_eta(element(x, i)), (i,), [x])


def test_names_do_not_collide():
    names = {n: array(n, "K") for n in ("e", "p", "np", "s", "lambda", "K", "sigmoid", "f")}
    z = names["e"]
    value = (
        v.softmax(z + names["np"]) * v.log(v.softmax(z))
        + names["lambda"] * names["K"] * v.sigmoid(names["sigmoid"])
        + names["f"] * names["p"]
        + names["s"] / v.ones("K")
    )
    assert difference(value.body / size("K"), value.indices, tensors_of(names), SIZES) < 1e-12


def test_source_is_attached_and_the_same_each_time():
    names = read_arrays("z=N,K y=N,K")
    value = read_formula("-sum(y*log(softmax(z)))/N", names)
    f = compile_numpy("loss", value.body, value.indices, tensors_of(names))
    assert f.__name__ == "loss"
    again = read_formula("-sum(y*log(softmax(z)))/N", names)
    assert f.__source__ == numpy_source("loss", again.body, again.indices, tensors_of(names))


# ---------------------------------------------------------------------------------------------- looks
def body_of(source):
    """The lines of the function below its docstring."""
    return [line.strip() for line in source.split('"""\n', 1)[1].strip().splitlines()]


def golden(shapes, formula, domains=""):
    names = read_arrays(shapes, domains)
    value = read_formula(formula, names)
    return numpy_source("f", value.body, value.indices, tensors_of(names))


def test_looks_of_softmax():
    assert body_of(golden("z=N,K", "softmax(z)")) == [
        "e = np.exp(z - z.max(axis=-1, keepdims=True))",
        "return e / e.sum(axis=-1, keepdims=True)",
    ]


def test_looks_of_a_whole_file():
    assert (
        golden("z=N,K y=N,K", "(sigmoid(z) - y)/N")
        == '''import numpy as np


def sigmoid(x):
    e = np.exp(-np.abs(x))  # at most 1: no overflow on either side
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def f(z, y):
    """z (N, K), y (N, K) -> (N, K)"""
    N = z.shape[0]
    return (sigmoid(z) - y) / N
'''
    )


def test_looks_of_cross_entropy():
    assert body_of(golden("z=N,K y=N,K", "-sum(y*log(softmax(z)))/N")) == [
        "N = z.shape[0]",
        "s = z - z.max(axis=-1, keepdims=True)",
        "log_p = s - np.log(np.exp(s).sum(axis=-1, keepdims=True))",
        "return -(y * log_p).sum() / N",
    ]


def test_looks_of_the_jacobian():
    assert body_of(golden("z=K", "diag(softmax(z)) - outer(softmax(z), softmax(z))")) == [
        "e = np.exp(z - z.max(axis=-1, keepdims=True))",
        "p = e / e.sum(axis=-1, keepdims=True)",
        "return np.diag(p) - p[:, None] * p",
    ]


def test_looks_of_attention():
    source = golden(
        "Q=B,h,n,d K=B,h,m,d V=B,h,m,c",
        "einsum('bhij,bhje->bhie', softmax(einsum('bhid,bhjd->bhij', Q, K)/sqrt(d)), V)",
    )
    assert body_of(source) == [
        "d = Q.shape[3]",
        "s = Q @ K.swapaxes(-1, -2) / np.sqrt(d)",
        "e = np.exp(s - s.max(axis=-1, keepdims=True))",
        "p = e / e.sum(axis=-1, keepdims=True)",
        "return p @ V",
    ]


def test_looks_of_means():
    assert body_of(golden("z=N,K", "mean(z**2, axis=0)")) == ["return (z**2).mean(axis=0)"]
    assert body_of(golden("z=N,K", "mean(z)")) == ["return z.mean()"]


def test_looks_of_masks_and_labels():
    i, j, n = index("i", "K"), index("j", "K"), index("n", "N")
    M, Z, T = tensor_of(array("M", "K,K")), tensor_of(array("z", "N,K")), tensor_of(array("t", "N", "index<K"))
    masked = numpy_source("f", element(M, i, j) * Indicator(sp.Ge(i, j)), (i, j), [M])
    assert body_of(masked)[-1] == "return (np.arange(K)[:, None] >= np.arange(K)) * M"
    label = numpy_source("f", -element(Z, n, element(T, n)), (n,), [Z, T])
    assert body_of(label)[-1] == "return -z[np.arange(N), t]"
