"""How a function is copied: its module unchanged, helpers and closures followed, NumPy's protocols as a fallback."""

import math

import numpy as np
import numpy.linalg as npl
import pytest
import scipy.special as special
import sympy as sp

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.language.nodes import Indicator
from lemmata.symbolic.language.ranges import cases, without_merges
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.tracing import trace, trace_source
from lemmata.symbolic.tracing.values import Traced

from .comparing import agree
from .evaluate import value

TEMPERATURE = 0.7


def _normalised(e, axis=-1):
    total = np.sum(e, axis=axis, keepdims=True)
    return e / total


def softmax(z, *, axis=-1, temperature=TEMPERATURE):
    return _normalised(np.exp(z / temperature), axis)


def calls_helpers(x):
    return softmax(x, axis=0) + softmax(x) + special.expit(x) + npl.norm(x) + math.sqrt(x.shape[0])


def test_helpers_are_followed_and_the_module_stays_as_it_was():
    before = dict(globals())
    agree(calls_helpers, {"x": "N,K"})
    assert {k: v for k, v in globals().items() if k in before} == before
    assert isinstance(_normalised(np.ones((2, 3))), np.ndarray)


def test_closures_defaults_and_inner_functions():
    scale, shift = 2.5, np.array([1.0, -1.0])

    def inner(x, power=2):
        act = lambda u: np.tanh(u) * scale  # noqa: E731

        def squared(u):
            return act(u) ** power

        return squared(x)[:, None] + shift

    agree(inner, {"x": "N"})


def test_the_callers_arrays_are_not_changed():
    def changed(x):
        x += 1
        return x

    given = array("x", "N")
    body = given.body
    assert trace(changed, {"x": given}).body.is_Add
    assert given.body == body


def test_numpys_protocols_serve_functions_that_are_not_copied():
    x = Traced(array("x", "N,K"))
    read = np.exp(x).sum(axis=1) + np.linalg.norm(x, axis=1) + np.einsum("nk,nk->n", x, x) + special.erf(x)[:, 0]
    given = np.arange(6.0).reshape(2, 3)
    wanted = np.exp(given).sum(axis=1) + np.linalg.norm(given, axis=1) + (given**2).sum(1) + special.erf(given)[:, 0]
    np.testing.assert_allclose(value(read.array, {"x": given}, {"N": 2, "K": 3}), wanted)


def test_a_source_with_branches_on_options():
    source = """
def loss(z, y, reduction="mean", eps=1e-3):
    assert z.shape == y.shape
    if isinstance(z, list):
        raise TypeError("no lists")
    if reduction == "mean" and eps is not None:
        return ((z - y)**2).mean() + eps
    elif reduction == "sum":
        return ((z - y)**2).sum()
    return (z - y)**2
"""
    z, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    shapes = {"z": array("z", "N,K"), "y": array("y", "N,K")}
    for reduction, wanted in (
        ("mean", ((z - y) ** 2).mean() + 1e-3),
        ("sum", ((z - y) ** 2).sum()),
        ("none", (z - y) ** 2),
    ):
        read = trace_source(source, "loss", {**shapes, "reduction": reduction})
        np.testing.assert_allclose(value(read, {"z": z, "y": y}, {"N": 2, "K": 3}), wanted)


def test_arguments_may_be_sizes_numbers_and_texts():
    def pooled(x, k, mode, shift=0.0):
        y = x.reshape(x.shape[0], -1, k)
        return (y.mean(axis=2) if mode == "mean" else y.max(axis=2)) + shift

    read = trace(pooled, {"x": array("x", "N,P*k"), "k": size("k"), "mode": "max", "shift": 1.5})
    given = np.arange(12.0).reshape(2, 6) * np.array([1, -1, 2, 1, -3, 1])
    np.testing.assert_allclose(value(read, {"x": given}, {"N": 2, "P": 3, "k": 2}), pooled(given, 2, "max", 1.5))


@pytest.mark.parametrize("sizes", [{"G": 2, "D": 3}, {"G": 4, "D": 2}])
def test_merged_axes_are_taken_apart_without_a_change_of_value(sizes):
    def merged(x, w):
        return (np.exp(x.reshape(-1)) * w + np.tile(x[0], len(x))).sum()

    read = trace(merged, {"x": array("x", "G,D"), "w": array("w", "G*D")})
    rng = np.random.default_rng(3)
    given = {"x": rng.normal(size=(sizes["G"], sizes["D"])), "w": rng.normal(size=sizes["G"] * sizes["D"])}
    apart = type(read)(read.indices, without_merges(read.body))
    assert not apart.body.has(sp.floor, sp.Mod)
    np.testing.assert_allclose(value(apart, given, sizes), merged(**given))


def test_cases_of_a_joined_and_of_an_interleaved_axis():
    x = array("x", "N,2*H")

    def swapped(x):
        h = x.shape[1] // 2
        return np.concatenate([x[:, h:], x[:, :h]], axis=1)

    def interleaved(x):
        out = np.zeros_like(x)
        out[:, 0::2], out[:, 1::2] = x[:, 1::2], x[:, 0::2]
        return out

    for function, count in ((swapped, 2), (interleaved, 2)):
        read = trace(function, {"x": x})
        found = cases(read.indices, read.body, read.body)
        assert len(found) == count
        assert not any(left.has(Indicator, sp.Mod, sp.floor) for _, left, _ in found)


def shared_memory(x):
    y = np.asarray(x)
    y[0] = 1.0
    z = x.copy()
    z[1] = 2.0
    row = z.reshape(-1)[1:]
    row += 1
    return x + z + np.diag(x @ x.T).sum()


def test_what_shares_memory_in_numpy_shares_it_here():
    agree(shared_memory, {"x": "N,K"})


def written_after_a_transpose(x):
    y = x.T.reshape(-1)
    y[0] = 1
    return x


def used_after_its_base(x):
    y = x.T.ravel()
    x += 1
    return y


def written_diagonal(x):
    d = np.diagonal(x)
    d += 1
    return x


@pytest.mark.parametrize(
    "function", [written_after_a_transpose, used_after_its_base, written_diagonal], ids=lambda f: f.__name__
)
def test_what_depends_on_the_place_in_memory_is_refused(function):
    with pytest.raises(LemmataError, match=r"\.copy\(\)"):
        trace(function, {"x": array("x", "N,N")})
