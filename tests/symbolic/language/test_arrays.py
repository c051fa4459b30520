"""Arrays and NumPy's vocabulary on them: values against NumPy at different sizes, and errors that name the sizes."""

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import Array, array, as_array, define, exact, tensor_of
from lemmata.symbolic.language.conversion import at_sizes
from lemmata.symbolic.language.errors import FormulaError, IndexError_, ShapeError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.sizes import Size, size

SIZES = {"n": 2, "m": 3, "l": 4}
A, B, x = array("A", "n,m"), array("B", "m,l"), array("x", "m")
RANDOM = np.random.default_rng(7)
VALUES = {"A": RANDOM.standard_normal((2, 3)), "B": RANDOM.standard_normal((3, 4)), "x": RANDOM.standard_normal(3),
          "c": np.array(1.75), "T": RANDOM.standard_normal((2, 3, 4))}  # fmt: skip
a, b, w, c, T = VALUES["A"], VALUES["B"], VALUES["x"], 1.75, VALUES["T"]
cs, Ts = array("c", ""), array("T", "n,m,l")


def value(result: Array) -> np.ndarray:
    """The numbers of an array, by writing out its components in plain SymPy."""
    explicit = np.array(at_sizes(result.body, result.indices, **SIZES), dtype=object)
    numbers = {f"{name}_{'_'.join(map(str, at))}" if at else name: entry
               for name, array_ in VALUES.items() for at, entry in np.ndenumerate(array_)}  # fmt: skip
    flat = [
        float(sp.sympify(e).subs({s: numbers[s.name] for s in sp.sympify(e).free_symbols})) for e in explicit.ravel()
    ]
    return np.array(flat).reshape(explicit.shape)


def _softmax(u: np.ndarray, axis: int) -> np.ndarray:
    return np.exp(u) / np.exp(u).sum(axis=axis, keepdims=True)


PAIRS = {
    # arithmetic and broadcasting
    "matrix and row": (A + x, a + w),
    "row and matrix": (x - A, w - a),
    "column and matrix": (A[:, 0][:, None] * A, a[:, :1] * a),
    "scalar": (cs * A / 2 - 1, c * a / 2 - 1),
    "number on the left": (1 - A, 1 - a),
    "division by a matrix": (1 / (A**2 + 1), 1 / (a**2 + 1)),
    "power of a number": (2**A, 2.0**a),
    "outer by axes": (x[:, None] * x[None, :], np.outer(w, w)),
    "size 1 is stretched": (v.sum(A, axis=1, keepdims=True) + A, a.sum(axis=1, keepdims=True) + a),
    "three axes and a row": (Ts * B, T * b),
    "unary": (-(+A), -a),
    # reductions
    "sum": (v.sum(A), a.sum()),
    "sum, axis 0": (v.sum(A, axis=0), a.sum(axis=0)),
    "sum, axis -1": (v.sum(A, axis=-1), a.sum(axis=-1)),
    "sum, two axes": (v.sum(Ts, axis=(0, 2)), T.sum(axis=(0, 2))),
    "sum, two axes by negative numbers": (v.sum(Ts, axis=(-1, -2)), T.sum(axis=(-1, -2))),
    "sum, axes kept": (v.sum(Ts, axis=(0, -1), keepdims=True), T.sum(axis=(0, -1), keepdims=True)),
    "sum over no axis": (v.sum(A, axis=()), a.sum(axis=())),
    "sum of a sum of exponentials": (v.sum(v.log(v.sum(v.exp(A), axis=1))), np.log(np.exp(a).sum(axis=1)).sum()),
    "max": (v.max(A, axis=0), a.max(axis=0)),
    "max, kept": (v.max(A, axis=1, keepdims=True), a.max(axis=1, keepdims=True)),
    "min": (v.min(A, axis=-1), a.min(axis=-1)),
    "prod": (v.prod(A, axis=1), a.prod(axis=1)),
    "mean": (v.mean(A), a.mean()),
    "mean, axis": (v.mean(Ts, axis=(0, 1)), T.mean(axis=(0, 1))),
    "var": (v.var(A, axis=1), a.var(axis=1)),
    "var, ddof, kept": (v.var(A, axis=-1, keepdims=True, ddof=1), a.var(axis=-1, keepdims=True, ddof=1)),
    "var of all": (v.var(A), a.var()),
    # contractions
    "matrix, matrix": (A @ B, a @ b),
    "matrix, vector": (A @ x, a @ w),
    "vector, matrix": (x @ B, w @ b),
    "vector, vector": (x @ x, w @ w),
    "batch": (Ts @ B.T, T @ b.T),
    "batch of two": (Ts @ Ts.transpose(0, 2, 1), T @ T.transpose(0, 2, 1)),
    "dot": (v.dot(A, B), a.dot(b)),
    "einsum": (v.einsum("ij,jk->ki", A, B), np.einsum("ij,jk->ki", a, b)),
    "einsum, implicit output": (v.einsum("ij,jk", A, B), np.einsum("ij,jk", a, b)),
    "einsum, three": (v.einsum("nm, m, ml -> l", A, x, B), np.einsum("nm,m,ml->l", a, w, b)),
    "einsum, a diagonal": (v.einsum("ii->i", v.outer(x, x)), w * w),
    "einsum, all summed": (v.einsum("nml->", Ts), T.sum()),
    "outer": (v.outer(x, A[0]), np.outer(w, a[0])),
    "trace": (v.trace(v.outer(x, x)), w @ w),
    "diag of a vector": (v.diag(x), np.diag(w)),
    "diag of a matrix": (v.diag(v.outer(x, x)), w * w),
    # shapes and indexing
    "transpose": (A.T, a.T),
    "transpose of axes": (Ts.transpose(2, 0, 1), T.transpose(2, 0, 1)),
    "transpose of negative axes": (v.transpose(Ts, (-1, 0, 1)), T.transpose(-1, 0, 1)),
    "one row": (A[1], a[1]),
    "last row": (A[-1], a[1]),
    "one entry": (A[1, 2], a[1, 2]),
    "ellipsis": (Ts[..., 1], T[..., 1]),
    "new axes": (x[None, :, None], w[None, :, None]),
    # constants
    "eye": (v.eye("m"), np.eye(3)),
    "ones": (v.ones(("n", "m")), np.ones((2, 3))),
    "zeros": (v.zeros("m"), np.zeros(3)),
    "full": (v.full(("n",), 2.5), np.full(2, 2.5)),
    "arange": (v.arange("m") * x, np.arange(3) * w),
    "one_hot": (v.one_hot(2, "m"), np.eye(3)[2]),
    # elementwise
    "where": (v.where(v.greater(A, 0), A, 0), np.where(a > 0, a, 0)),
    "comparisons": (v.less(A, x) + 2 * v.less_equal(A, x) - v.greater_equal(A, x),
                    (a < w) + 2 * (a <= w) - 1.0 * (a >= w)),
    "maximum": (v.maximum(A, x), np.maximum(a, w)),
    "minimum": (v.minimum(A, 0), np.minimum(a, 0)),
    "functions": (v.tanh(A) + v.expm1(A) + v.log1p(A**2) + v.sqrt(A**2) + v.square(A) + v.absolute(A) + v.sign(A),
                  np.tanh(a) + np.expm1(a) + np.log1p(a**2) + 2 * np.abs(a) + a**2 + np.sign(a)),
    "softmax": (v.softmax(A), _softmax(a, -1)),
    "softmax, axis 0": (v.softmax(A, axis=0), _softmax(a, 0)),
    "softmax, axis -2 of three": (v.softmax(Ts, axis=-2), _softmax(T, 1)),
    "log_softmax": (v.log_softmax(A, axis=0), np.log(_softmax(a, 0))),
    "logsumexp": (v.logsumexp(A, axis=1, keepdims=True), np.log(np.exp(a).sum(axis=1, keepdims=True))),
    "logsumexp of all": (v.logsumexp(A), np.log(np.exp(a).sum())),
    "definition": (define("h", A @ B) * 2, 2 * a @ b),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_value_and_shape_are_numpys(name):
    ours, theirs = PAIRS[name]
    assert tuple(int(n.subs({Size(s): k for s, k in SIZES.items()})) for n in map(sp.sympify, ours.shape)) == np.shape(
        theirs
    )
    np.testing.assert_allclose(value(ours), theirs, rtol=1e-12, atol=1e-13)


# ---------- sizes that are numbers, and size 1
def test_numeric_sizes():
    z = array("z", "3")
    assert at_sizes(v.sum(z).body) == sum(sp.symbols("z_:3", real=True))
    assert len(z) == 3
    assert (z + array("y", (3,))).shape == (3,)
    with pytest.raises(ShapeError, match="size 3 against 4"):
        z + array("y", "4")


def test_one_class():
    z = array("z", "1")
    only = sp.Symbol("z_0", real=True)
    assert (
        at_sizes(v.sum(z).body)
        == at_sizes(v.max(z).body)
        == at_sizes(v.prod(z).body)
        == at_sizes(v.mean(z).body)
        == only
    )
    p = v.softmax(z)
    assert at_sizes(p.element(0)) == 1
    assert at_sizes(v.softmax(array("z", "K")).element(0), K=1) == 1
    assert at_sizes(v.var(z).body) == 0
    with pytest.raises(ZeroDivisionError):
        v.var(z, ddof=1)


def test_size_1_broadcasts_and_symbolic_sizes_do_not():
    assert (array("u", "1,m") + array("w", "n,1")).shape == (Size("n"), Size("m"))
    with pytest.raises(ShapeError):
        array("u", "K") + array("w", "n")


@pytest.mark.parametrize("empty", ["0", 0, (0,), "K-K", "n,0", "1-2"])
def test_an_empty_axis_is_refused(empty):
    with pytest.raises(ShapeError, match="an empty axis has no elements"):
        array("z", empty)


@pytest.mark.parametrize("text", ["K/2", "f(K)", "K;", "2**K", "K**9", "1.5", "True", "-1", ""])
def test_other_sizes_are_refused(text):
    with pytest.raises((FormulaError, ShapeError)):
        size(text)


# ---------- errors
ERRORS = {
    "sum": (lambda: v.sum(A, axis=2), ShapeError, r"axis 2 does not exist in the shape \(n, m\)"),
    "negative axis": (lambda: v.sum(A, axis=-3), ShapeError, r"axis -3 .*\(n, m\) with 2 axes"),
    "axis twice": (lambda: v.sum(A, axis=(1, -1)), ShapeError, r"named twice in \(1, -1\)"),
    "axis of a scalar": (lambda: v.sum(cs, axis=0), ShapeError, r"axis 0 .*\(\)"),
    "mean": (lambda: v.mean(A, axis=5), ShapeError, r"axis 5"),
    "+": (lambda: A + array("u", "n"), ShapeError, r"\+: the shapes \(n, m\) and \(n,\).*size m against n in axis -1"),
    "where": (lambda: v.where(v.greater(A, 0), B, 0), ShapeError, r"where: the shapes \(n, m\) and \(m, l\)"),
    "@": (lambda: A @ A, ShapeError, r"\(n, m\) @ \(n, m\) contracts sizes m and n"),
    "@ vector": (lambda: A @ array("u", "n"), ShapeError, r"\(n, m\) @ \(n,\) contracts sizes m and n"),
    "@ scalar": (lambda: A @ cs, ShapeError, r"at least one axis.*use \*"),
    "@ number": (lambda: 2 @ A, ShapeError, r"at least one axis"),
    "@ batch": (lambda: array("P", "a,n,m") @ array("Q", "b,m,l"), ShapeError, r"size a against b"),
    "einsum sizes": (lambda: v.einsum("ij,jk->ik", A, A), ShapeError, r"'j' is bound to size m.*\(n, m\) has n"),
    "einsum axes": (lambda: v.einsum("ijk->i", A), ShapeError, r"'ijk' names 3 axes of an array of shape \(n, m\)"),
    "einsum operands": (lambda: v.einsum("ij,jk->ik", A), ShapeError, r"names 2 operands, got 1"),
    "einsum output": (lambda: v.einsum("ij->ik", A), ShapeError, r"output \['k'\]"),
    "trace": (lambda: v.trace(A), ShapeError, r"'i' is bound to size n"),
    "transpose": (lambda: A.transpose(0, 0), ShapeError, r"each of its 2 axes once, got \(0, 0\)"),
    "too many indices": (lambda: A[0, 0, 0], IndexError_, r"too many indices \(3\)"),
    "index out of range": (lambda: array("q", "3")[3], IndexError_, r"index 3 does not fit axis 0 of shape \(3,\)"),
    "negative out of range": (lambda: array("q", "3")[-4], IndexError_, r"index -4"),
    "slice": (lambda: A[0:1], IndexError_, r"slice.*axis 0 \(size n\)"),
    "element": (lambda: A.element(0), IndexError_, r"\(n, m\) needs 2 indices, got 1"),
    "negative element": (lambda: A.element(0, -1), IndexError_, r"index -1 does not fit axis 1"),
    "length": (lambda: len(A), ShapeError, r"length n is symbolic"),
    "length of a scalar": (lambda: len(cs), ShapeError, r"no length"),
    "truth": (lambda: bool(v.greater(A, 0)), TypeError, r"use where"),
    "softmax of a scalar": (lambda: v.softmax(cs), ShapeError, r"needs an axis"),
    "softmax axis": (lambda: v.softmax(A, axis=2), ShapeError, r"axis 2"),
    "logsumexp of a scalar": (lambda: v.logsumexp(cs), ShapeError, r"needs an axis"),
    "tensor of a computed array": (lambda: tensor_of(A * 2), ShapeError, r"declared array"),
    "tensor of a transpose": (lambda: tensor_of(A.T), ShapeError, r"declared array"),
    "division by zero": (lambda: A / 0, ZeroDivisionError, r"division of"),
    "nan": (lambda: A * float("nan"), ValueError, r"nan"),
    "nan of numpy": (lambda: A + np.float64("nan"), ValueError, r"nan"),
    "unknown function": (lambda: v.lookup("softmx"), FormulaError, r"did you mean softmax"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_sizes(name):
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        call()


def test_floats_are_read_as_the_decimals_they_print():
    assert exact(0.1) == sp.Rational(1, 10)
    assert exact(1e-05) == sp.Rational(1, 100000)
    assert exact(True) == 1
    assert exact(float("-inf")) == -sp.oo
    assert as_array(2).shape == ()


def test_sizes_known_to_be_the_same_may_be_written_differently():
    assert (array("p", "n*(m+1)") + array("q", "n*m+n")).ndim == 1


def test_nan_of_sympy_is_refused():
    with pytest.raises(ValueError, match="nan"):
        A * sp.nan


def test_element_at_a_sympy_integer_past_the_end():
    with pytest.raises(IndexError_):
        array("q", "3").element(sp.Integer(7))


@pytest.mark.parametrize("take", [lambda q, i: q.element(i), lambda q, i: q[i]], ids=["element", "brackets"])
def test_element_at_an_index_of_another_size(take):
    with pytest.raises(IndexError_):
        take(array("q", "K"), index("i", "n"))


def test_two_ellipses_are_refused():
    with pytest.raises((IndexError_, sp.SympifyError)):
        Ts[..., ...]
