"""SymPy's own lambdify on expressions with our nodes: 0 to 3 free indices, stable, and refused where it must be."""

import inspect
import pickle

import numpy as np
import pytest
import sympy as sp

import lemmata.symbolic.codegen  # noqa: F401  (installs the printer's hook)
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, tensor_of
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.indices import index, placed
from lemmata.symbolic.language.nodes import Delta, IndexSum, Indicator, element, replace, unfold

N, K = 4, 3
RANDOM = np.random.default_rng(20240612)
ZV, YV = RANDOM.standard_normal(K), RANDOM.dirichlet(np.ones(K))
BATCH = RANDOM.standard_normal((N, K))
z, y, Z = array("z", "K"), array("y", "K"), array("Z", "N,K")
TZ, TY, TB = tensor_of(z), tensor_of(y), tensor_of(Z)


def with_places(value, *arrays):
    """The element of an array at indices that know their axes."""
    indices = placed(value.indices, arrays)
    return replace(value.body, dict(zip(value.indices, indices, strict=True)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_scalar_result():
    loss = -v.sum(y * v.log(v.softmax(z)))
    f = sp.lambdify([TZ, TY], loss.body)
    assert f(ZV, YV) == pytest.approx(-(YV * np.log(softmax(ZV))).sum(), rel=1e-14)
    assert np.isfinite(f(1000 * ZV, YV))


def test_one_index_needs_no_place():
    gradient = v.softmax(z) - y
    f = sp.lambdify([TZ, TY], gradient.body)
    np.testing.assert_allclose(f(ZV, YV), softmax(ZV) - YV, rtol=1e-14)
    np.testing.assert_allclose(f(1000 * ZV, YV), softmax(1000 * ZV) - YV, rtol=1e-14)


def jacobian():
    p, i, j = v.softmax(z), index("i", "K"), index("j", "K")
    body = p.element(i) * (Delta(i, j) - p.element(j))
    i2, j2 = placed([i, j], [TZ])
    return replace(body, {i: i2, j: j2}), replace(body, {i: j2, j: i2})


def test_two_indices():
    p = softmax(ZV)
    for body in jacobian():
        np.testing.assert_allclose(sp.lambdify([TZ], body)(ZV), np.diag(p) - np.outer(p, p), rtol=1e-13, atol=1e-16)
        inlined = unfold(body)
        np.testing.assert_allclose(sp.lambdify([TZ], inlined)(ZV), np.diag(p) - np.outer(p, p), rtol=1e-13, atol=1e-16)


def test_order_of_axes_is_that_of_the_places():
    i, j = placed([index("i", "K"), index("j", "K")], [TZ])
    body = element(TZ, i) * element(TY, j) + IndexSum(element(TZ, i) + element(TY, j), index("k", "K"))
    want = np.outer(ZV, YV) + K * (ZV[:, None] + YV)
    np.testing.assert_allclose(sp.lambdify([TZ, TY], body)(ZV, YV), want, rtol=1e-14)
    assert not np.allclose(want, want.T)  # a lost transpose would show


def test_batch_and_three_indices():
    value = v.softmax(Z) - Z
    np.testing.assert_allclose(sp.lambdify([TB], with_places(value, TB))(BATCH), softmax(BATCH) - BATCH, rtol=1e-13)
    columns = v.softmax(Z, axis=0)
    np.testing.assert_allclose(sp.lambdify([TB], with_places(columns, TB))(BATCH), softmax(BATCH.T).T, rtol=1e-13)
    p, (n, i, j) = v.softmax(Z), placed([index("n", "N"), index("i", "K"), index("j", "K")], [TB])
    body = p.element(n, i) * (Delta(i, j) - p.element(n, j))
    P = softmax(BATCH)
    want = P[:, :, None] * (np.eye(K) - P[:, None, :])
    np.testing.assert_allclose(sp.lambdify([TB], body)(BATCH), want, rtol=1e-13, atol=1e-16)


def test_functions_of_the_vocabulary():
    body = (v.sigmoid(z) + v.relu(z) + v.gelu(z) - v.softplus(z)).body
    want = 1 / (1 + np.exp(-ZV)) + np.maximum(ZV, 0) + v_gelu(ZV) - np.log(1 + np.exp(ZV))
    np.testing.assert_allclose(sp.lambdify([TZ], body)(ZV), want, rtol=1e-13)


def v_gelu(x):
    from math import erf

    return np.array([t * (1 + erf(t / 2**0.5)) / 2 for t in x])


def test_masks():
    i, j = placed([index("i", "K"), index("j", "K")], [TZ])
    body = element(TZ, i) * Indicator(sp.Le(j, i)) - Indicator(sp.Gt(element(TZ, j), 0))
    want = ZV[:, None] * np.tril(np.ones((K, K))) - (ZV > 0)
    np.testing.assert_allclose(sp.lambdify([TZ], body)(ZV), want, rtol=1e-14)


def test_named_sizes_are_arguments_like_any_symbol():
    value = v.mean(Z, axis=0)
    f = sp.lambdify([TB, *value.body.free_symbols & {Z.shape[0]}], value.body)
    np.testing.assert_allclose(f(BATCH, N), BATCH.mean(axis=0), rtol=1e-14)


def test_two_indices_without_places_are_refused():
    i, j = index("i", "K"), index("j", "K")
    with pytest.raises(UnsupportedError, match="do not say which axis"):
        sp.lambdify([TZ], element(TZ, i) * element(TZ, j))


def test_no_loop_is_generated():
    source = inspect.getsource(sp.lambdify([TZ], jacobian()[0]))
    assert "for " not in source
    assert "stable_softmax" in source


def test_places_do_not_change_identity():
    i = index("i", "K")
    (p,) = placed([i], [TZ])
    assert p != i
    copy = pickle.loads(pickle.dumps(p))
    assert copy == p
    assert copy.place == p.place
