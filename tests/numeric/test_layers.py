"""Layers, norms, gated activations, regression losses and the block: values, edges, equalities and errors."""

import numpy as np
import pytest

from lemmata.numeric import gated_activations as ga
from lemmata.numeric import layers, sampling
from lemmata.numeric import normalization as nm
from lemmata.numeric import regression_losses as rl
from lemmata.numeric import transformer as tf
from lemmata.numeric.activations import sigmoid
from lemmata.numeric.comparison import assert_close, compare

from .transformer_claims import BLOCK, IDS, MODEL, TARGETS, X_BLOCK


def rng(stream: int) -> np.random.Generator:
    """A stream a draw, so that no test depends on which others ran."""
    return sampling.generator(83, stream)


X = sampling.draw("real", (3, 6, 5), rng(0))


def test_repeated_ids_accumulate() -> None:
    ids = np.array([[2, 0, 2], [2, 1, 1]])
    g = sampling.draw("real", (2, 3, 4), rng(1))
    gradient = layers.embedding_vjp(ids, g, 5)
    assert_close(gradient[2], g[0, 0] + g[0, 2] + g[1, 0])
    assert np.all(gradient[3:] == 0)
    overwritten = np.zeros((5, 4))
    overwritten[ids] = g
    assert not compare(overwritten, gradient)


def test_norms_have_mean_zero_and_variance_one() -> None:
    ones, zeros = np.ones(5), np.zeros(5)
    y = nm.layer_norm(X, ones, zeros, eps=0.0)
    assert_close(y.mean(-1), np.zeros((3, 6)))
    assert_close((y**2).mean(-1), np.ones((3, 6)))
    assert_close((nm.rms_norm(X, ones, eps=0.0) ** 2).mean(-1), np.ones((3, 6)))
    z = nm.batch_norm(X, np.ones(6), np.zeros(6), eps=0.0)
    assert_close(z.mean((0, 2)), np.zeros(6))
    assert_close((z**2).mean((0, 2)), np.ones(6))


def test_one_norm_in_terms_of_another() -> None:
    ones, zeros = np.ones(6), np.zeros(6)
    by_group = nm.group_norm(X, ones, zeros, 6, eps=0.01)
    assert_close(by_group, nm.layer_norm(X, np.ones(5), np.zeros(5), eps=0.01))
    whole = nm.group_norm(X, ones, zeros, 1, eps=0.01).reshape(3, 30)
    assert_close(whole, nm.layer_norm(X.reshape(3, 30), np.ones(30), np.zeros(30), eps=0.01))
    centred = X - X.mean(-1, keepdims=True)
    assert_close(nm.layer_norm(X, np.ones(5), np.zeros(5)), nm.rms_norm(centred, np.ones(5), eps=1e-5))


def test_layer_norm_gradient_is_orthogonal_to_shift_and_scale() -> None:
    """Adding a constant does not change the output, and with ε = 0 neither does scaling."""
    g = sampling.draw("real", X.shape, rng(2))
    dx = nm.layer_norm_vjp(X, np.ones(5), g, eps=0.0).x
    assert_close(dx.sum(-1), np.zeros((3, 6)), atol=1e-11)
    assert_close((dx * X).sum(-1), np.zeros((3, 6)), atol=1e-11)


def test_rows_without_spread() -> None:
    flat = np.full((2, 5), 3.0)
    assert np.all(nm.layer_norm(flat, np.ones(5), np.zeros(5)) == 0)
    with pytest.raises(ValueError, match="layer_norm: a row has no spread and eps = 0"):
        nm.layer_norm(flat, np.ones(5), np.zeros(5), eps=0.0)
    with pytest.raises(ValueError, match="rms_norm: a row has no spread"):
        nm.rms_norm(np.zeros((2, 5)), np.ones(5), eps=0.0)


def test_activations_at_the_edges() -> None:
    edge = np.array([-np.inf, -1000.0, 1000.0, np.inf])
    for function, derivative in (
        (ga.gelu, ga.gelu_derivative),
        (ga.silu, ga.silu_derivative),
        (ga.mish, ga.mish_derivative),
    ):
        assert function(edge).tolist() == [0.0, 0.0, 1000.0, np.inf]
        assert derivative(edge).tolist() == [0.0, 0.0, 1.0, 1.0]
    assert ga.gelu_tanh_derivative([-1000.0, 1000.0]).tolist() == [0.0, 1.0]
    assert ga.elu(edge).tolist() == [-1.0, -1.0, 1000.0, np.inf]
    # Φ(−20) is 3e-89: a form with 1 + erf has lost it.
    assert_close(ga.gelu(-20.0), -20.0 * 2.7536241186062337e-89, atol=0)


def test_two_gelus_are_two_functions() -> None:
    x = np.linspace(-4, 4, 81)
    gap = np.max(np.abs(ga.gelu(x) - ga.gelu_tanh(x)))
    assert 1e-4 < gap < 5e-4
    assert_close(ga.silu(x), x * sigmoid(x))


def test_gates_multiply_the_right_half() -> None:
    gate, value = sampling.draw("real", (3, 4), rng(3)), sampling.draw("real", (3, 4), rng(4))
    assert_close(ga.glu(gate, value), sigmoid(gate) * value)
    assert not compare(ga.glu(value, gate), ga.glu(gate, value))
    assert_close(ga.swiglu(gate, value), ga.silu(gate) * value)


def test_regression_losses() -> None:
    error = np.array([0.0, 0.5, -0.8, 0.8, 3.0])
    zero = np.zeros(5)
    huber = rl.huber(error, zero, delta=0.8, reduction="none")
    assert_close(huber, [0.0, 0.125, 0.32, 0.32, 0.8 * (3.0 - 0.4)])
    assert_close(rl.huber(error, zero, delta=100.0), 0.5 * rl.mse(error, zero))
    assert_close(rl.huber_gradient(error, zero, delta=0.8, reduction="sum"), np.clip(error, -0.8, 0.8))
    assert_close(rl.mse_gradient(error, zero), 2 * error / 5)


def test_directions() -> None:
    a, b = sampling.draw("real", (3, 5), rng(5)), sampling.draw("real", (3, 5), rng(6))
    assert_close(rl.cosine_similarity(a, b), np.sum(rl.l2_normalize(a) * rl.l2_normalize(b), -1))
    assert_close(rl.cosine_similarity(a, a), np.ones(3))
    assert_close(rl.cosine_similarity(1e200 * a, b), rl.cosine_similarity(a, b))
    assert_close(np.sum(a * rl.l2_normalize_vjp(a, b), -1), np.zeros(3))
    for function in (lambda: rl.l2_normalize(np.zeros((2, 3))), lambda: rl.cosine_similarity(a, 0 * b)):
        with pytest.raises(ValueError, match="vector of zeros along axis -1, which has no direction"):
            function()


def test_block_is_causal_and_each_order_is_another_function() -> None:
    pre, post = (tf.Architecture(heads=2, kv_heads=1, order=order) for order in ("pre", "post"))
    out = tf.transformer_block(X_BLOCK, BLOCK, pre)
    later = X_BLOCK.copy()
    later[:, 3:] += 1.0
    assert_close(tf.transformer_block(later, BLOCK, pre)[:, :3], out[:, :3])
    assert not compare(tf.transformer_block(later, BLOCK, pre)[:, 3], out[:, 3])
    assert not compare(tf.transformer_block(X_BLOCK, BLOCK, post), out)
    full = tf.Architecture(heads=2, kv_heads=1, causal=False)
    assert not compare(tf.transformer_block(X_BLOCK, BLOCK, full), out)


def test_tied_table_gets_both_gradients() -> None:
    architecture = tf.Architecture(heads=2, kv_heads=1)
    gradient = tf.language_model_gradient(IDS, TARGETS, MODEL, architecture, ignore_index=-1)
    assert gradient.table.shape == MODEL.table.shape
    # Every row gets a gradient from the head, also the rows that no input id names.
    assert np.all(np.any(gradient.table != 0, axis=1))
    assert len(gradient.blocks) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: layers.linear(np.zeros((2, 3)), np.zeros((4, 5))),
            ValueError,
            r"x has shape \(2, 3\) but weight.*\(4, 5\)",
        ),
        (lambda: layers.linear(np.zeros((2, 3)), np.zeros((3, 5)), np.zeros(3)), ValueError, r"bias has shape \(3,\)"),
        (
            lambda: layers.linear_vjp(np.zeros((2, 3)), np.zeros((3, 5)), np.zeros((2, 4))),
            ValueError,
            r"of shape \(2, 5\)",
        ),
        (lambda: layers.embedding(np.zeros((4, 2)), [4]), ValueError, r"0 <= id < V = 4, but ids\[0\] = 4"),
        (lambda: layers.embedding(np.zeros((4, 2)), [-1]), ValueError, r"ids\[0\] = -1"),
        (lambda: layers.embedding(np.zeros((4, 2)), [1.0]), TypeError, "ids must be integers, got dtype float64"),
        (lambda: layers.embedding_vjp([1, 2], np.zeros((3, 2)), 4), ValueError, r"ids have shape \(2,\) but cotangent"),
        (lambda: layers.dropout([1.0], [0.5], 0.5), ValueError, r"keep in \{0, 1\}"),
        (lambda: layers.dropout([1.0], [1], 1.0), ValueError, "need rate < 1, got 1.0"),
        (lambda: nm.layer_norm(X, np.ones(6), np.zeros(6)), ValueError, r"gamma has shape \(6,\).*needs \(5,\)"),
        (lambda: nm.group_norm(X, np.ones(6), np.zeros(6), 4), ValueError, "4 groups do not divide C = 6 channels"),
        (lambda: nm.batch_norm(X[0, 0], np.ones(5), np.zeros(5)), ValueError, "need axis 1"),
        (lambda: nm.layer_norm(X, np.ones(5), np.zeros(5), eps=-1.0), ValueError, "need eps >= 0.0, got -1.0"),
        (lambda: ga.gelu(np.array(1j)), TypeError, "gelu is not analytic|normal_cdf is not analytic"),
        (lambda: ga.glu(np.zeros(3), np.zeros(4)), ValueError, r"gate has shape \(3,\) but value has shape \(4,\)"),
        (lambda: rl.mse([], []), ValueError, "nothing to take the mean of"),
        (lambda: rl.huber([1.0], [0.0], delta=0.0), ValueError, "need delta > 0.0"),
        (lambda: tf.feed_forward(X, BLOCK.feed_forward, activation="swish"), ValueError, "unknown activation 'swish'"),
        (
            lambda: tf.transformer_block(X_BLOCK, BLOCK, tf.Architecture(heads=3, kv_heads=1)),
            ValueError,
            r"3 heads do not divide the width 4",
        ),
        (
            lambda: tf.transformer_block(X_BLOCK, BLOCK, tf.Architecture(heads=2, order="middle")),
            ValueError,
            "unknown order 'middle'; choose one of 'pre', 'post'",
        ),
    ],
)
def test_errors(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
