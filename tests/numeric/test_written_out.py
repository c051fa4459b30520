"""The definitions written out entry by entry equal the array functions."""

import inspect

import numpy as np
import pytest

from lemmata.numeric import activations, binary_cross_entropy, cross_entropy, kl_divergence, sampling, softmax
from lemmata.numeric import written_out as wo
from lemmata.numeric.comparison import assert_close

N = 5
RNG = sampling.generator(61)
Z = sampling.draw("logits", (N,), RNG)
Y = sampling.draw("simplex", (N,), RNG)
P = sampling.draw("simplex", (N,), RNG)


def test_along_an_axis() -> None:
    assert_close([wo.softmax_entry(Z, i, N) for i in range(N)], softmax.softmax(Z))
    assert_close(wo.logsumexp(Z, N), softmax.logsumexp(Z))
    assert_close(wo.cross_entropy(Y, P, N), cross_entropy.cross_entropy_of_probabilities(P, Y))
    assert_close(wo.cross_entropy_of_logits(Y, Z, N), cross_entropy.cross_entropy(Z, Y))
    assert_close(wo.entropy(P, N), cross_entropy.entropy(P))
    assert_close(wo.kl_divergence(P, Y, N), kl_divergence.kl_divergence(P, Y))


@pytest.mark.parametrize("z", Z)
def test_elementwise(z: float) -> None:
    y = 0.3
    assert_close(wo.sigmoid(z), activations.sigmoid(z))
    assert_close(wo.softplus(z), activations.softplus(z))
    assert_close(wo.binary_cross_entropy_of_logit(y, z), binary_cross_entropy.bce_with_logits(z, y))
    assert_close(wo.binary_cross_entropy(y, wo.sigmoid(z)), binary_cross_entropy.bce_with_logits(z, y))


def test_positional_entries_and_score() -> None:
    assert_close(wo.positional_encoding_sine(3, 1, 4), np.sin(0.03))
    assert_close(wo.positional_encoding_cosine(3, 1, 4), np.cos(0.03))
    assert_close(wo.attention_score(Z, Y, N), Z @ Y / np.sqrt(N))


def test_each_is_one_return() -> None:
    functions = [f for _, f in inspect.getmembers(wo, inspect.isfunction) if f.__module__ == wo.__name__]
    assert len(functions) >= 12
    for function in functions:
        body = inspect.getsource(function).split('"""')[2].strip()
        assert body.startswith("return "), function.__name__
        assert "\n" not in body, function.__name__
