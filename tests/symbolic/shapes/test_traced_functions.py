"""Functions traced on named arrays, in our vocabulary and in NumPy's: right ones and the mistakes of the field."""

import numpy as np
import pytest

import lemmata as lm
from lemmata.symbolic.language import vocabulary
from lemmata.symbolic.language.errors import ShapeError, UnsupportedError
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.shapes import trace_shapes

SIZES = {"B": 2, "n": 5, "d_model": 12}


def attention(x, w, h=3, back=True, root=None):
    b, n, d = x.shape
    q = (x @ w).reshape(b, n, h, d // h).transpose(0, 2, 1, 3)
    scores = q @ q.swapaxes(-1, -2) / (root or (d // h) ** 0.5)
    heads = lm.softmax(scores) @ q
    return (heads.transpose(0, 2, 1, 3) if back else heads).reshape(b, n, d) + x


def test_right_function_has_no_warning() -> None:
    trace = trace_shapes(attention, x=("B", "n", "d_model"), w=("d_model", "d_model"))
    assert not trace.warnings
    assert trace.result.pattern == "B n d_model"
    (condition,) = trace.conditions
    assert (condition.left, condition.right) == (size("d_model"), 3 * size("d_k"))
    assert [line.operation for line in trace.lines if line.inputs] == [
        "linear map",
        "reshape",
        "transpose",
        "transpose",
        "batched matmul",
        "scale",
        "softmax",
        "batched matmul",
        "transpose",
        "reshape",
        "add",
    ]
    assert trace.lines[4].result.axes[1].name == "3"


def test_dropped_transpose_is_a_wrong_value_c01() -> None:
    for x, w in ((("B", "n", "d_model"), ("d_model", "d_model")), (SIZES, {"d_model": 12, "d_out": 12})):
        trace = trace_shapes(attention, x=x, w=w, back=False)
        (warning,) = trace.warnings
        assert "right shape, wrong value" in warning
        assert "by (0, 2, 1, 3)" in warning
        assert "only when n = 1" in warning
        assert "a,b,e,f" in warning
        assert "something is wrong: see line 11" in trace.text()
        assert "right shape, wrong value" in trace.svg()


def test_split_by_one_reshape_c02() -> None:
    def heads(x, h=3):
        b, _, d = x.shape
        return x.reshape(b * h, -1, d // h)

    trace = trace_shapes(heads, x={"B": 1, "n": 4, "d_model": 6})
    (warning,) = trace.warnings
    assert "a,b,g,h,m,n,s,t" in warning
    assert "gives a,b,c,d,e,f,g,h" in warning
    assert trace_shapes(heads, x=("B", "n", "d_model")).warnings


def test_keys_shaped_with_the_query_length_c07() -> None:
    def keys(q, k):
        return k.reshape(k.shape[0], q.shape[1], -1, 12)

    with pytest.raises(ShapeError, match=r"B\*L_k\*d elements are no multiple of 12\*B\*L_q for every size"):
        trace_shapes(keys, q=("B", "L_q", "d"), k=("B", "L_k", "d"))


def test_batch_first_data_in_a_length_first_layer_c06() -> None:
    def length_first(x):  # reads (length, batch, features)
        y = x.transpose(1, 0, 2)
        return (lm.softmax(y @ y.swapaxes(-1, -2)) @ y).transpose(1, 0, 2)

    right = trace_shapes(length_first, x=("n", "B", "d"))
    wrong = trace_shapes(length_first, x=("B", "n", "d"))
    assert any("at one place of B reads x at that place only" in note for note in right.notes)
    assert any("along B, d it reads several" in note for note in wrong.notes)
    assert not any("at one place of B" in note for note in wrong.notes)


@pytest.mark.parametrize("mode", ["scores", "queries", "both"])
def test_equal_ways_to_scale_are_no_alarm_c09(mode: str) -> None:
    def scores(q, k):
        d = q.shape[-1]
        if mode == "queries":
            return lm.softmax((q / d**0.5) @ k.swapaxes(-1, -2))
        if mode == "both":
            return lm.softmax((q * d**-0.25) @ (k * d**-0.25).swapaxes(-1, -2))
        return lm.softmax(q @ k.swapaxes(-1, -2) / d**0.5)

    for n, m, d in (("n", "m", "d_k"), (5, 7, 48)):
        trace = trace_shapes(scores, q=("B", "h", n, d), k=("B", "h", m, d))
        assert not trace.warnings
        assert any("variance 1" in line.why for line in trace.lines)


@pytest.mark.parametrize(
    ("factor", "off"),
    [
        pytest.param(lambda d: (12 * d) ** -0.5, "off by the factor √3/6", id="root of d_model with 12 heads"),
        pytest.param(lambda d: d**0.5, "off by the factor d_k", id="divided by d^-1/2"),
        pytest.param(lambda d: 1 / d, "off by the factor 1/√d_k", id="divided by d_k"),
    ],
)
def test_wrong_scale_is_named_with_its_factor_c09(factor, off: str) -> None:
    trace = trace_shapes(
        lambda q, k: lm.softmax(q @ k.swapaxes(-1, -2) * factor(q.shape[-1])), q="B h n d_k", k="B h m d_k"
    )
    (warning,) = trace.warnings
    assert off in warning


def test_scale_off_by_a_small_factor_is_seen() -> None:
    trace = trace_shapes(lambda q, k: lm.softmax(q @ k.T / (8 * (1 + 9e-4))), q={"n": 5, "d": 64}, k={"m": 7, "d": 64})
    assert trace.warnings


def test_numpy_functions_run_as_they_stand() -> None:
    def f(x, w):
        z = np.matmul(x, w)
        e = np.exp(z - np.max(z, axis=-1, keepdims=True))
        return np.sum(np.transpose(e / np.sum(e, axis=-1, keepdims=True), (0, 2, 1)), axis=0)

    trace = trace_shapes(f, x=("B", "n", "d"), w=("d", "K"))
    assert trace.result.pattern == "K n"
    assert [line.operation for line in trace.lines[2:]] == [
        "linear map",
        "reduce",
        "broadcast and subtract",
        "exp",
        "reduce",
        "broadcast and divide",
        "transpose",
        "reduce",
    ]


def test_arrays_of_numbers_take_part() -> None:
    small = trace_shapes(lambda x: np.ones((3, 4)) @ x.astype(float), x={"n": 4, "d": 5})
    large = trace_shapes(lambda x: np.ones((17, 4)) @ x, x={"n": 4, "d": 5})
    assert [t.sizes(t.result.axes) for t in (small, large)] == [(3, 5), (17, 5)]
    with pytest.raises(ShapeError, match="sums 3 against n: size 3 against 4"):
        trace_shapes(lambda x: np.ones((4, 3)) @ x, x={"n": 4, "d": 5})


def test_numbers_with_names_are_plain_integers() -> None:
    import math

    trace = trace_shapes(lambda x: x / math.sqrt(x.shape[-1]), x=SIZES)
    assert trace.sizes(trace.result.axes) == (2, 5, 12)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (
            lambda x, y: x + y,
            {"x": {"B": 2, "n": 5}, "y": {"B": 2, "m": 5}},
            "equal only by luck; with B = 2, n = 5, m = 5",
        ),
        (lambda x: x.reshape(1, 10, 12, 64), {"x": {"B": 1, "n": 10, "d": 770}}, r"770 = 12·64 \+ 2"),
        (lambda x, y: x @ y, {"x": "n d", "y": "n f"}, "sums d against n: size d against n"),
        (lambda x: x.reshape(7, -1), {"x": "n d"}, "no multiple of 7"),
        (lambda x, y: x, {"x": {"n": 5}, "y": {"n": 7}}, "the axis n has size 7, and 5 in an array before it"),
    ],
)
def test_errors(function, arguments, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        trace_shapes(function, **arguments)


def test_what_is_not_an_array_is_said() -> None:
    with pytest.raises(UnsupportedError, match="returned int"):
        trace_shapes(lambda x: 3, x="n")
    with pytest.raises(UnsupportedError, match=r"write d_k\*\*0.5"):
        trace_shapes(lambda x: x / np.sqrt(float(x.shape[0])), x="n")
    with pytest.raises(UnsupportedError, match="has no rule on named arrays"):
        trace_shapes(lambda x: np.linalg.inv(x), x=("n", "n"))


def test_vocabulary_is_as_before_afterwards() -> None:
    before = dict(vars(vocabulary))
    trace_shapes(lambda x: lm.softmax(x), x="n d")
    with pytest.raises(ShapeError):
        trace_shapes(lambda x: x @ x, x="n d")
    assert vars(vocabulary) == before


def test_value_of_a_trace_is_the_function() -> None:
    from lemmata.symbolic.canonical.equality import equal

    trace = trace_shapes(lambda x, w: lm.tanh(x @ w).sum(axis=-1), x="n d", w="d f")
    x, w = lm.array("x", "n,d"), lm.array("w", "d,f")
    expected = lm.sum(lm.tanh(x @ w), axis=-1)
    assert equal(trace.result.body, expected.element(*trace.result.indices)).equal
    assert not equal(trace.result.body, 2 * expected.element(*trace.result.indices)).equal


def split_heads(x, h):
    b, n, d = x.shape
    return x.reshape(b, n, h, d // h)


def test_a_symbolic_number_of_heads_is_a_size_and_not_a_text() -> None:
    trace = trace_shapes(split_heads, x="B n d_model", h=size("h"))
    assert trace.result.pattern == "B n h d_k"
    (condition,) = trace.conditions
    assert (condition.left, condition.right) == (size("d_model"), size("h") * size("d_k"))


@pytest.mark.parametrize("function", [split_heads, lambda x, h: x.reshape(2, h, -1),
                                      lambda x, h: next(x for _ in range(h))])
def test_a_text_where_a_size_is_meant_is_a_clear_error(function) -> None:
    with pytest.raises(UnsupportedError, match=r"needs a size or a number; .* pass h=lm.size\('h'\)"):
        trace_shapes(function, x="B n d", h="h")
    with pytest.raises(UnsupportedError, match="a function of numbers met a symbolic size"):
        trace_shapes(lambda x, h: next(x for _ in range(h)), x="B n d", h=size("h"))
