"""Softmax, log-softmax, log-sum-exp: extreme logits, −inf, K = 1, axes, and the errors."""

import numpy as np
import pytest

from lemmata.numeric import sampling
from lemmata.numeric import softmax as sm
from lemmata.numeric.comparison import assert_close

SHAPE = (3, 5)


@pytest.mark.parametrize("name", sampling.extreme_values("logits", SHAPE))
def test_extreme_logits(name: str) -> None:
    z = sampling.extreme_values("logits", SHAPE)[name]
    p = sm.softmax(z)
    assert_close(np.sum(p, axis=-1), np.ones(3))
    assert np.all(p[np.isneginf(z)] == 0)
    logs = sm.log_softmax(z)
    assert_close(np.exp(logs), p)
    assert_close(np.where(np.isneginf(z), -np.inf, z - sm.logsumexp(z, keepdims=True)), logs, atol=1e-9)
    assert_close(np.sum(sm.softmax_jacobian(z), axis=-1), np.zeros(SHAPE))
    assert np.all(np.isfinite(sm.logsumexp_hessian(z)))


def test_precision_beside_one() -> None:
    assert_close(sm.log_softmax([40.0, 0.0]), [-np.exp(-40.0), -40.0], atol=0, rtol=1e-14)
    assert_close(sm.logsumexp([0.0, -40.0]), np.exp(-40.0), atol=0, rtol=1e-14)
    miss = np.exp(-40.0)
    assert_close(sm.softmax_jacobian([40.0, 0.0])[0], [miss, -miss], atol=0, rtol=1e-14)


def test_softmax_of_one_class() -> None:
    assert sm.softmax([7.0]).tolist() == [1.0]
    assert sm.log_softmax([-1000.0]).tolist() == [0.0]
    assert sm.softmax_jacobian([7.0]).tolist() == [[0.0]]
    assert sm.logsumexp([7.0]) == 7.0


def test_row_without_any_finite_logit() -> None:
    z = np.array([[0.0, 1.0, 2.0], [-np.inf] * 3])
    assert sm.logsumexp(z)[1] == -np.inf
    for function in (sm.softmax, sm.log_softmax):
        with pytest.raises(ValueError, match=r"row \(1,\) of z \(shape \(2, 3\), axis 1\) is -inf throughout"):
            function(z)
        assert np.all(np.isnan(function(z, masked_rows="nan")[1]))
        assert np.all(np.isfinite(function(z, masked_rows="nan")[0]))
    assert sm.softmax(z, masked_rows="zero")[1].tolist() == [0.0, 0.0, 0.0]
    assert np.all(np.isneginf(sm.log_softmax(z, masked_rows="zero")[1]))
    with pytest.raises(ValueError, match="masked_rows 'ignore'; choose one of 'error', 'zero', 'nan'"):
        sm.softmax(z, masked_rows="ignore")


def test_every_axis_is_the_last_axis_moved() -> None:
    z = sampling.draw("logits", (2, 3, 5), sampling.generator(1))
    for axis in (-3, 0, 1, 2):
        moved = np.moveaxis(z, axis, -1)
        assert_close(np.moveaxis(sm.softmax(z, axis), axis, -1), sm.softmax(moved))
        assert_close(sm.logsumexp(z, axis), sm.logsumexp(moved))
        assert sm.logsumexp(z, axis, keepdims=True).shape[axis] == 1
        assert_close(sm.softmax_jacobian(z, axis), sm.softmax_jacobian(moved))


def test_jacobian_has_rank_one_less_and_is_not_elementwise() -> None:
    jacobian = sm.softmax_jacobian(sampling.draw("logits", (5,), sampling.generator(2)))
    assert np.linalg.matrix_rank(jacobian) == 4
    assert np.count_nonzero(jacobian) == 25
    assert_close(sm.softmax_jvp([1.0, 2.0, 4.0], np.ones(3)), np.zeros(3))


def test_quadratic_form_is_the_hessian_s() -> None:
    rng = sampling.generator(3)
    z, v = sampling.draw("logits", (5,), rng), sampling.draw("real", (5,), rng)
    form = sm.covariance_quadratic_form(sm.softmax(z), v)
    assert form > 0
    assert_close(form, v @ sm.logsumexp_hessian(z) @ v)
    with pytest.raises(ValueError, match="with sum 1"):
        sm.covariance_quadratic_form([0.5, 0.4], [1.0, 2.0])


@pytest.mark.parametrize(
    ("z", "options", "message"),
    [
        (np.zeros((3, 0)), {}, r"softmax: z has shape \(3, 0\), so axis 1 is empty"),
        (1.0, {}, "z is a scalar"),
        (np.zeros((3, 5)), {"axis": 2}, r"axis 2 does not exist in z of shape \(3, 5\)"),
        ([0.0, np.nan], {}, r"z has a NaN at index \(1,\) of shape \(2,\)"),
        ([0.0, np.inf], {}, r"z has \+inf .* at index \(1,\)"),
        ([0.0, 1.0], {"temperature": 0.0}, "need temperature > 0.0, got 0.0"),
        ([0.0, 1.0], {"temperature": float("nan")}, "need a finite temperature"),
    ],
)
def test_softmax_errors(z: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sm.softmax(z, **options)


def test_other_errors_name_the_shapes() -> None:
    with pytest.raises(ValueError, match=r"output has shape \(2, 3\) but cotangent has shape \(3, 2\)"):
        sm.softmax_vjp(np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(TypeError, match="must be numeric, got dtype object"):
        sm.softmax([None, 1.0])
    with pytest.raises(TypeError, match="must be numeric"):
        sm.logsumexp(["a"])


def test_float32_and_integers_become_float64() -> None:
    assert sm.softmax(np.zeros(3, dtype=np.float32)).dtype == np.float64
    assert sm.softmax([1, 2]).dtype == np.float64
