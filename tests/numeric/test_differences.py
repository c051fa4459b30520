"""Differences and the complex step: precision, kinks, and what must be refused."""

import numpy as np
import pytest

from lemmata.numeric import complex_step as cs
from lemmata.numeric import differences as df
from lemmata.numeric import sampling
from lemmata.numeric.activations import relu, relu_derivative, sigmoid, softplus
from lemmata.numeric.comparison import assert_close, compare
from lemmata.numeric.cross_entropy import cross_entropy, cross_entropy_gradient
from lemmata.numeric.softmax import softmax, softmax_jacobian

Z = sampling.draw("logits", (10,), sampling.generator(7))
LABEL = 3


def _float32_cross_entropy(z: np.ndarray) -> np.ndarray:
    single = z.astype(np.float32)
    return np.log(np.sum(np.exp(single))) - single[LABEL]


def test_the_step_comes_from_the_precision_of_the_function() -> None:
    """In float32 a step fit for float64 gives noise; the step read off the output's dtype does not."""
    right = cross_entropy_gradient(Z, LABEL)
    automatic = df.difference_gradient(_float32_cross_entropy, Z, method="central")
    assert np.max(np.abs(automatic - right)) < 5e-4
    naive = df.difference_gradient(_float32_cross_entropy, Z, method="central", step=df.step_for(np.float64))
    assert np.max(np.abs(naive - right)) > 1e-2
    double = df.difference_gradient(lambda z: cross_entropy(z, LABEL), Z, method="central")
    assert np.max(np.abs(double - right)) < 1e-9


def test_richardson_and_complex_step_gain_digits() -> None:
    right = cross_entropy_gradient(Z, LABEL)
    errors = [
        np.max(np.abs(difference - right))
        for difference in (
            df.difference_gradient(lambda z: cross_entropy(z, LABEL), Z, method="central"),
            df.difference_gradient(lambda z: cross_entropy(z, LABEL), Z),
            cs.complex_step_gradient(lambda z: cross_entropy(z, LABEL), Z),
        )
    ]
    assert errors[0] < 1e-9
    assert errors[1] < 1e-12
    assert errors[2] < 1e-15


def test_error_estimate_covers_the_error() -> None:
    estimate = df.richardson_jvp(np.exp, [0.5, 2.0], [1.0, 1.0])
    assert np.all(np.abs(estimate.value - np.exp([0.5, 2.0])) <= estimate.error + 1e-13)
    assert np.all(estimate.error < 1e-8)


def test_vjp_jvp_and_jacobian_agree() -> None:
    z, g = Z[:5], sampling.draw("real", (5,), sampling.generator(8))
    jacobian = df.difference_jacobian(softmax, z)
    assert_close(jacobian, softmax_jacobian(z))
    assert_close(df.difference_jvp(softmax, z, g), jacobian @ g)
    assert_close(df.difference_vjp(softmax, z, g), g @ jacobian)
    assert_close(cs.complex_step_jvp(softmax, z, g), jacobian @ g)


def test_output_axes_come_first() -> None:
    weights = np.arange(6.0).reshape(2, 3)
    assert_close(df.difference_jacobian(lambda x: weights @ x, np.ones(3)), weights)
    assert_close(cs.complex_step_jacobian(lambda x: weights @ x, np.ones(3)), weights)
    assert df.difference_jacobian(lambda x: x @ weights, np.ones((4, 2))).shape == (4, 3, 4, 2)


def _total_relu(x: np.ndarray) -> np.ndarray:
    return np.sum(relu(x))


def test_relu_at_its_kink() -> None:
    """The difference at 0 is 1/2; the bracket is [0, 1] and holds every valid convention, and no invalid one."""
    assert_close(df.difference_gradient(_total_relu, [0.0], method="central"), [0.5])
    low, high = df.subgradient_bracket(_total_relu, [0.0, -2.0, 2.0])
    assert_close(low, [0.0, 0.0, 1.0])
    assert_close(high, [1.0, 0.0, 1.0])
    for convention in (0.0, 0.5, 1.0):
        derivative = relu_derivative([0.0, -2.0, 2.0], at_zero=convention)
        assert np.all((low - 1e-9 <= derivative) & (derivative <= high + 1e-9))
    with pytest.raises(ValueError, match=r"need at_zero <= 1\.0, got 1\.5"):
        relu_derivative([0.0], at_zero=1.5)


def test_kink_closer_than_the_step() -> None:
    """At −1e-6 the derivative is 0, but a step of 1e-5 crosses the kink and gives 0.45."""
    assert_close(df.difference_gradient(_total_relu, [-1e-6], method="central", step=1e-5), [0.45])
    assert_close(df.difference_gradient(_total_relu, [-1e-6], method="central", step=1e-7), [0.0])
    low, high = df.subgradient_bracket(_total_relu, [-1e-6])
    assert high - low > 0.9  # left and right disagree: a kink is within the step
    low, high = df.subgradient_bracket(_total_relu, [-1e-6], step=1e-7)
    assert_close(np.stack([low, high]), np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (np.abs, -2.0),
        (lambda x: x * np.conj(x), 3.0),
        (lambda x: np.maximum(x, 0.0), 0.0),
        (lambda x: np.real(x) ** 2, 3.0),
        (lambda x: x.real * x, 3.0),
        (lambda x: np.sqrt(x * np.conj(x)), -2.0),
        (relu, 1.0),
    ],
)
def test_complex_step_refuses_what_is_not_analytic(function: object, x: float) -> None:
    with pytest.raises(cs.NotAnalytic):
        cs.complex_step_jvp(function, x, 1.0)


@pytest.mark.parametrize(
    ("function", "derivative"),
    [
        (np.exp, np.exp),
        (np.log, lambda x: 1 / x),
        (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
        (sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
        (softplus, sigmoid),
    ],
)
def test_complex_step_is_exact(function: object, derivative: object) -> None:
    for x in (0.25, 1.5, 3.0):
        assert_close(cs.complex_step_jvp(function, x, 1.0), derivative(x), rtol=1e-14, atol=0)


def test_complex_step_through_a_shifted_softmax_at_large_logits() -> None:
    z = np.array([1000.0, 999.0, -1000.0])
    assert_close(cs.complex_step_jacobian(softmax, z), softmax_jacobian(z), rtol=1e-14, atol=1e-300)


def test_what_differences_refuse() -> None:
    with pytest.raises(ValueError, match="not finite at a point within the step"), np.errstate(invalid="ignore"):
        df.difference_gradient(lambda x: np.sum(np.log(x)), [1e-4])
    with pytest.raises(ValueError, match=r"f\(x\) has shape \(2,\), not \(\)"):
        df.difference_gradient(lambda x: x, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"x has shape \(2,\) but tangent has shape \(3,\)"):
        df.difference_jvp(np.exp, [1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"f\(x\) has shape \(2,\) but cotangent has shape \(1,\)"):
        df.difference_vjp(np.exp, [1.0, 2.0], [1.0])
    with pytest.raises(TypeError, match="must return real numbers, got dtype complex128"):
        df.difference_jvp(lambda x: 1j * x, [1.0], [1.0])
    with pytest.raises(ValueError, match="need step > 0"):
        df.difference_jvp(np.exp, [1.0], [1.0], step=0.0)
    with pytest.raises(ValueError, match="unknown method 'forward'"):
        df.difference_jvp(np.exp, [1.0], [1.0], method="forward")
    with pytest.raises(TypeError, match="need a floating dtype, got int64"):
        df.step_for(np.int64)


def test_a_function_cannot_change_the_point() -> None:
    def doubling(x: np.ndarray) -> np.ndarray:
        x *= 2
        return np.sum(x)

    point = np.ones(3)
    assert_close(df.difference_gradient(doubling, point), [2.0, 2.0, 2.0])
    assert point.tolist() == [1.0, 1.0, 1.0]


def test_zero_tangent_and_no_entries() -> None:
    assert df.difference_jvp(np.exp, [1.0, 2.0], [0.0, 0.0]).tolist() == [0.0, 0.0]
    assert df.difference_jacobian(np.exp, np.zeros(0)).shape == (0, 0)
    assert cs.complex_step_jvp(np.exp, [1.0, 2.0], [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_second_differences() -> None:
    hessian = df.difference_hessian(lambda z: cross_entropy(z, LABEL), Z[:4])
    assert compare(hessian, softmax_jacobian(Z[:4]), rtol=1e-8, atol=1e-8)


def test_complex_step_through_masked_logits_and_a_temperature() -> None:
    """−inf + 0i divided by a temperature as a complex number has a NaN in it; the zero probability must survive."""
    z = np.array([0.5, 0.0, -0.7])
    masked = lambda v: softmax(np.where([True, False, True], v, -np.inf), temperature=2.3)  # noqa: E731
    jacobian = cs.complex_step_jacobian(masked, z)
    assert_close(jacobian, df.difference_jacobian(masked, z))
    assert np.all(jacobian[1] == 0)
