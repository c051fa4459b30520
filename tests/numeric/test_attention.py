"""Attention and multi-head attention: masks, blocks, heads, groups, and the published shape mistakes."""

from dataclasses import replace

import numpy as np
import pytest

from lemmata.numeric import attention as at
from lemmata.numeric import multi_head as mh
from lemmata.numeric import sampling
from lemmata.numeric.comparison import assert_close, compare
from lemmata.numeric.differences import difference_gradient

from .transformer_claims import CAUSAL, CONTEXT, G_HEADS, HEAD_OPTIONS, HEADS, KEYS, Q, V, X


def rng(stream: int) -> np.random.Generator:
    """A stream a draw, so that no test depends on which others ran."""
    return sampling.generator(71, stream)


def test_attention_by_its_definition() -> None:
    scores = np.einsum("bid,bjd->bij", Q, KEYS) / np.sqrt(3)
    powers = np.exp(scores)
    weights = powers / powers.sum(-1, keepdims=True)
    assert_close(at.attention_weights(Q, KEYS), weights)
    assert_close(at.scaled_dot_product_attention(Q, KEYS, V), np.einsum("bij,bjc->bic", weights, V))


def test_scale_is_the_root_of_d_k() -> None:
    """√d_model for √d_k is another function; scaling q alone, or both sides by d_k^(−1/4), is the same one."""
    right = at.scaled_dot_product_attention(Q, KEYS, V)
    assert not compare(at.scaled_dot_product_attention(Q, KEYS, V, scale=1 / np.sqrt(12)), right)
    assert_close(at.scaled_dot_product_attention(Q / np.sqrt(3), KEYS, V, scale=1.0), right)
    assert_close(at.scaled_dot_product_attention(Q / 3**0.25, KEYS / 3**0.25, V, scale=1.0), right)


def test_causal_queries_do_not_see_later_keys() -> None:
    out = at.scaled_dot_product_attention(Q, KEYS, V, mask=CAUSAL)
    later_k, later_v = KEYS.copy(), V.copy()
    later_k[:, 4:] += 1.0
    later_v[:, 4:] -= 1.0
    changed = at.scaled_dot_product_attention(Q, later_k, later_v, mask=CAUSAL)
    assert_close(changed[:, :2], out[:, :2])  # aligned at the end: query i sees keys up to i + 2
    assert not compare(changed[:, 2], out[:, 2])
    assert at.causal_mask(5, 7)[0].tolist() == [True] + [False] * 6
    assert np.array_equal(at.causal_mask(4, 4), at.causal_mask(4, 4, align="end"))


def test_mask_and_infinite_bias_are_the_same() -> None:
    bias = np.where(CAUSAL, 0.0, -np.inf)
    assert_close(
        at.scaled_dot_product_attention(Q, KEYS, V, mask=CAUSAL), at.scaled_dot_product_attention(Q, KEYS, V, bias=bias)
    )


def test_fully_masked_row() -> None:
    mask = CAUSAL.copy()
    mask[2] = False
    with pytest.raises(ValueError, match=r"row \(0, 2\) of z \(shape \(2, 5, 7\), axis 2\) is -inf throughout"):
        at.scaled_dot_product_attention(Q, KEYS, V, mask=mask)
    out = at.scaled_dot_product_attention(Q, KEYS, V, mask=mask, masked_rows="zero")
    assert np.all(out[:, 2] == 0)
    assert_close(out[:, 3], at.scaled_dot_product_attention(Q, KEYS, V, mask=CAUSAL)[:, 3])
    # A large negative number instead of −inf gives the mean of the values, without a word.
    uniform = at.scaled_dot_product_attention(Q, KEYS, V, bias=np.where(mask, 0.0, -1e30))
    assert_close(uniform[:, 2], V.mean(axis=1))


def test_extreme_scores() -> None:
    q, k = np.array([[1000.0], [-1000.0]]), np.array([[1.0], [0.0], [-1.0]])
    v = np.array([[1.0], [2.0], [4.0]])
    assert at.scaled_dot_product_attention(q, k, v).tolist() == [[1.0], [4.0]]
    gradient = at.scaled_dot_product_attention_vjp(q, k, v, np.ones((2, 1)))
    assert all(np.all(np.isfinite(part)) for part in gradient[:3])


def test_rowsum_of_p_dp_is_rowsum_of_do_o() -> None:
    p = at.attention_weights(Q, KEYS)
    d_o = sampling.draw("real", (2, 5, 4), rng(1))
    d_p = d_o @ np.swapaxes(V, -1, -2)
    assert_close(np.sum(p * d_p, axis=-1), np.sum(d_o * (p @ V), axis=-1))


@pytest.mark.parametrize("cut", [0, 1, 3, 6])
def test_merging_blocks_is_softmax_over_both(cut: int) -> None:
    mask = np.broadcast_to(CAUSAL, (2, 5, 7)).copy()
    mask[:, 1, :cut] = False
    whole = at.attention_block(Q, KEYS, V, mask=mask)
    assert_close(whole.output, at.scaled_dot_product_attention(Q, KEYS, V, mask=mask, masked_rows="zero"))
    if cut == 0:
        return
    parts = [
        at.attention_block(Q, KEYS[:, part], V[:, part], mask=mask[..., part])
        for part in (slice(cut), slice(cut, None))
    ]
    for merged in (at.merge_attention_blocks(*parts), at.merge_attention_blocks(*reversed(parts))):
        assert_close(merged.output, whole.output)
        assert_close(merged.largest, whole.largest)
        assert_close(merged.total, whole.total)
    mean = (parts[0].output + parts[1].output) / 2
    assert not compare(mean, whole.output), "without the rescaling it is wrong"


def test_merging_is_stable_far_apart() -> None:
    first = at.attention_block([[1000.0]], [[1.0]], [[3.0]])
    second = at.attention_block([[1000.0]], [[-1.0]], [[5.0]])
    assert at.merge_attention_blocks(first, second).output.tolist() == [[3.0]]


def test_split_and_merge_are_inverse_and_a_plain_reshape_is_not() -> None:
    x = np.arange(2 * 5 * 6.0).reshape(2, 5, 6)
    heads = mh.split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 2)
    assert_close(mh.merge_heads(heads), x)
    assert_close(heads[0, 0], x[0, :, :2])
    assert not compare(x.reshape(2, 3, 5, 2), heads)
    letters = np.arange(8.0).reshape(1, 2, 2, 2)
    assert mh.merge_heads(letters)[0, 0].tolist() == [0, 1, 4, 5]
    assert letters.reshape(1, 2, 4)[0, 0].tolist() == [0, 1, 2, 3]


def test_reference_trace_of_shapes() -> None:
    x = sampling.draw("real", (1, 10, 768), rng(2))
    heads = mh.split_heads(x, 12)
    assert heads.shape == (1, 12, 10, 64)
    assert at.attention_weights(heads, heads).shape == (1, 12, 10, 10)
    assert mh.merge_heads(at.scaled_dot_product_attention(heads, heads, heads)).shape == (1, 10, 768)


def test_multi_head_is_the_sum_over_heads_of_its_part_of_the_output_projection() -> None:
    out = mh.multi_head_attention(X, CONTEXT, HEADS, **HEAD_OPTIONS)
    total = np.broadcast_to(HEADS.b_o, out.shape).copy()
    for h in range(4):
        g = h // 2
        q = X @ HEADS.w_q[:, 3 * h : 3 * h + 3] + HEADS.b_q[3 * h : 3 * h + 3]
        k = CONTEXT @ HEADS.w_k[:, 3 * g : 3 * g + 3] + HEADS.b_k[3 * g : 3 * g + 3]
        v = CONTEXT @ HEADS.w_v[:, 2 * g : 2 * g + 2] + HEADS.b_v[2 * g : 2 * g + 2]
        total += at.scaled_dot_product_attention(q, k, v, mask=CAUSAL) @ HEADS.w_o[2 * h : 2 * h + 2]
    assert_close(out, total)


def test_grouped_heads_are_repeated_not_tiled() -> None:
    kv = sampling.draw("real", (2, 3, 7, 5), rng(3))
    many = mh.repeat_kv_heads(kv, 6)
    for h in range(6):
        assert_close(many[:, h], kv[:, h // 2])
    assert not compare(np.tile(kv, (1, 2, 1, 1)), many)
    g = sampling.draw("real", (2, 6, 7, 5), rng(4))
    assert_close(np.sum(mh.sum_kv_heads(g, 3) * kv), np.sum(g * many))


def test_a_bias_on_the_keys_has_no_gradient() -> None:
    """It adds the same number to all scores of a query, and softmax does not see that."""

    def output(b_k: np.ndarray) -> np.ndarray:
        parameters = replace(HEADS, b_k=b_k)
        return np.sum(G_HEADS * mh.multi_head_attention(X, CONTEXT, parameters, **HEAD_OPTIONS))

    gradient = mh.multi_head_attention_vjp(X, CONTEXT, HEADS, G_HEADS, **HEAD_OPTIONS).parameters.b_k
    assert_close(gradient, np.zeros(6), atol=1e-10)
    assert_close(difference_gradient(output, HEADS.b_k), np.zeros(6), atol=1e-9)


def test_samples_do_not_see_each_other() -> None:
    out = mh.multi_head_attention(X, CONTEXT, HEADS, **HEAD_OPTIONS)
    other = X.copy()
    other[1] += 1.0
    assert_close(mh.multi_head_attention(other, CONTEXT, HEADS, **HEAD_OPTIONS)[0], out[0])


def test_permuting_tokens_permutes_the_output() -> None:
    square = replace(HEADS, w_k=sampling.draw("real", (6, 6), rng(5)), w_v=sampling.draw("real", (6, 4), rng(6)))
    order = np.array([3, 0, 4, 1, 2])
    out = mh.multi_head_attention(X, X, square, 4, kv_heads=2)
    assert_close(mh.multi_head_attention(X[:, order], X[:, order], square, 4, kv_heads=2), out[:, order])


def test_self_attention_gradient_adds_both_sources() -> None:
    square = replace(HEADS, w_k=sampling.draw("real", (6, 6), rng(7)), w_v=sampling.draw("real", (6, 4), rng(8)))
    gradient = mh.multi_head_attention_vjp(X, X, square, G_HEADS, 4, kv_heads=2)
    right = difference_gradient(lambda x: np.sum(G_HEADS * mh.multi_head_attention(x, x, square, 4, kv_heads=2)), X)
    assert_close(gradient.x + gradient.context, right, rtol=1e-7, atol=1e-7)
    assert not compare(gradient.x, right, rtol=1e-2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mh.split_heads(np.zeros((4, 512)), 6),
            r"6 heads do not divide the width 512 of x with shape \(4, 512\)",
        ),
        (lambda: mh.split_heads(np.zeros(4), 2), r"need \[..., n, d_model\]"),
        (lambda: mh.merge_heads(np.zeros((4, 2))), r"need \[..., h, n, d\]"),
        (lambda: mh.repeat_kv_heads(np.zeros((3, 7, 5)), 8), "3 key/value heads do not divide 8 query heads"),
        (lambda: mh.sum_kv_heads(np.zeros((8, 7, 5)), 3), "3 key/value heads do not divide 8 query heads"),
        (lambda: mh.multi_head_attention(X, CONTEXT, HEADS, 4, kv_heads=3), "3 key/value heads do not divide 4"),
        (lambda: mh.multi_head_attention(X, CONTEXT, HEADS, 4, kv_heads=1), "the leading axes and d_k must be equal"),
        (
            lambda: mh.multi_head_attention(CONTEXT, CONTEXT, HEADS, 4),
            r"x has shape \(2, 7, 4\) but weight has shape \(6, 12\)",
        ),
        (lambda: at.attention_weights(Q, V), r"q has shape \(2, 5, 3\) and k has shape \(2, 7, 4\)"),
        (
            lambda: at.scaled_dot_product_attention(Q, KEYS, V[:, :5]),
            r"v has shape \(2, 5, 4\) but k has shape \(2, 7, 3\)",
        ),
        (
            lambda: at.attention_weights(Q, KEYS, mask=np.ones((2, 7))),
            r"the mask has shape \(2, 7\), but the scores have shape \(2, 5, 7\); need \(5, 7\), or 3 axes",
        ),
        (
            lambda: at.attention_weights(Q, KEYS, mask=np.full((5, 7), -1e9)),
            "must be boolean or 0/1; pass numbers as bias",
        ),
        (lambda: at.attention_weights(Q, KEYS, bias=np.full((5, 7), np.inf)), r"bias has \+inf"),
        (lambda: at.scaled_dot_product_attention_vjp(Q, KEYS, V, Q), r"output has shape \(2, 5, 4\) but cotangent"),
        (lambda: at.causal_mask(0, 3), "got n = 0, m = 3"),
        (lambda: at.attention_weights(np.zeros((2, 0)), np.zeros((3, 0))), "leave an empty axis"),
    ],
)
def test_errors(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
