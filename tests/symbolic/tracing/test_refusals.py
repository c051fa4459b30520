"""What cannot be read faithfully is refused with the file, the line, the construct and what to write instead."""

import re

import numpy as np
import pytest

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.errors import LemmataError, ShapeError, UnsupportedError
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.tracing import trace, trace_source

X = {"x": array("x", "N,K")}


def recurrence(x):
    s = 0.0
    for i in range(len(x)):
        s = s * x[i, 0] + x[i, 1]
    return s


def recurrence_through_an_array(x):
    h = np.zeros(len(x))
    for i in range(1, len(x)):
        h[i] = np.tanh(h[i - 1] + x[i, 0])
    return h


def running_maximum(x):
    m = x[0, 0]
    for i in range(len(x)):
        m = np.maximum(m, x[i, 0])
    return m


def case_of_sizes(x):
    if x.shape[0] == 1:
        return x
    return x - x.mean(axis=0)


def left_early(x):
    for i in range(len(x)):
        if x[i, 0] > 0:
            return x[i]
    return x[0]


def while_loop(x):
    s = x.sum()
    while s > 1:
        s = s / 2
    return s


def truth_of_an_array(x):
    return x if (x > 0).all() and x else -x


def picked(x):
    return x[x > 0]


def sorted_(x):
    return np.sort(x, axis=1)


def decomposed(x):
    return np.linalg.svd(x)[1]


def complex_numbers(x):
    return np.abs(x + 1j)


def random_noise(x):
    return x + np.random.normal(size=x.shape)  # noqa: NPY002


def past_the_end(x):
    return x[:, : x.shape[0]]


def too_many_indices(x):
    return x[0, 0, 0]


def odd_reshape(x):
    return x.reshape(-1, 7)


def cut_to_integers(x):
    out = np.zeros(3, dtype=int)
    out[0] = x[0, 0] + 0.5
    return out


def under_another_name(x):
    out = np.zeros(len(x))
    other = [out]
    for i in range(len(x)):
        other[0][i] = x[i, 0]
    return out


def inside_value(x):
    for i in range(len(x)):
        t = x[i] * 2
        x[i] = t + 1
        s = x.sum()
    return s


def nothing(x):
    x + 1


REFUSED = [
    (recurrence, "s = s * x[i, 0] + x[i, 1]|for i in range", "recurrence.*np.cumprod"),
    (recurrence_through_an_array, "for i in range|h[i] =", "recurrence"),
    (running_maximum, "for i in range", "recurrence.*np.max"),
    (case_of_sizes, "if x.shape[0] == 1", "truth of .*.*each case of the sizes"),
    (left_early, "for i in range", "break, continue, return.*np.where"),
    (while_loop, "while s > 1", "truth of .*np.where"),
    (truth_of_an_array, "return x if", "truth of"),
    (picked, "in picked", "np.where(mask, x, 0)"),
    (sorted_, "np.sort", "np.sort is not read"),
    (decomposed, "np.linalg.svd", "decomposition"),
    (complex_numbers, "1j", "real and imaginary"),
    (random_noise, "np.random", "pass them as an argument"),
    (past_the_end, "x[:, : x.shape[0]]", "end N of a slice.*axis of size K"),
    (too_many_indices, "x[0, 0, 0]", "too many indices (3)"),
    (odd_reshape, "x.reshape(-1, 7)", "not a multiple of 7"),
    (cut_to_integers, "out[0] =", "dtype=float"),
    (under_another_name, "other[0][i]", "by its own name"),
    (inside_value, "for i in range|x[i] = t", "recurrence"),
    (nothing, "", "returns nothing"),
]


@pytest.mark.parametrize(("function", "line", "text"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refused_with_file_line_and_advice(function, line, text):
    with pytest.raises(LemmataError) as error:
        trace(function, X)
    message = str(error.value)
    pattern = re.escape(text).replace(r"\.\*", ".*").replace(r"\.", ".")
    assert re.search(pattern, message, re.S), message
    if line:
        assert re.search(r"test_refusals\.py:\d+: ", message), message
        assert any(part in message for part in line.split("|")), message


def test_sizes_that_do_not_agree_keep_their_error():
    with pytest.raises(ShapeError, match="contracts sizes K and N"):
        trace(lambda x: x @ x, X)


def test_a_source_is_named_in_its_errors():
    source = "def f(x):\n    y = np.exp(x)\n    return np.sort(y)\n"
    with pytest.raises(UnsupportedError, match=r"loss\.py:3: return np\.sort\(y\)"):
        trace_source(source, "f", X, filename="loss.py")
    with pytest.raises(UnsupportedError, match="defines no function 'g'"):
        trace_source(source, "g", X)


def test_a_size_below_the_range_of_a_slice_is_not_guessed():
    with pytest.raises(UnsupportedError, match="write the size of the axis with it"):
        trace(lambda x, h: x[:, :h], {**X, "h": size("H")})
