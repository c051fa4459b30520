"""Draws lie in their domain, are the same again for the same seed, and sizes never coincide."""

import numpy as np
import pytest

from lemmata.numeric import sampling
from lemmata.numeric.sampling import DOMAINS, draw, draw_sizes, extreme_values, generator

SQUARE = {"symmetric", "spd", "orthogonal", "invertible"}
MATRIX = {"fullrank", "rank_one_less", "lower", "posdef_nonsym"}  # one matrix, no leading axes
INSIDE = {
    "real": np.isfinite,
    "logits": np.isfinite,
    "positive": lambda x: x >= 0.1,
    "nonnegative": lambda x: x >= 0,
    "negative": lambda x: x <= -0.1,
    "nonzero": lambda x: np.abs(x) >= 0.1,
    "distinct": lambda x: np.min(np.diff(np.sort(x.ravel()))) >= 0.1 - 1e-12,
    "simplex": lambda x: (x > 0) & (np.abs(x.sum(-1, keepdims=True) - 1) < 1e-12),
    "onehot": lambda x: np.isin(x, [0, 1]) & (x.sum(-1, keepdims=True) == 1),
    "binary": lambda x: np.isin(x, [0, 1]),
    "pm1": lambda x: np.abs(x) == 1,
    "mask": lambda x: np.isin(x, [0, 1]) & (x.sum(-1, keepdims=True) >= 1),
    "symmetric": lambda x: x == np.swapaxes(x, -1, -2),
    "spd": lambda x: (np.linalg.eigvalsh(x) > 0.4) & np.all(np.isclose(x, np.swapaxes(x, -1, -2))),
    "orthogonal": lambda x: np.isclose(x @ np.swapaxes(x, -1, -2), np.eye(x.shape[-1])),
    "invertible": lambda x: np.linalg.cond(x) < 4.001,
    "fullrank": lambda x: np.linalg.svd(x, compute_uv=False) > 0.5,
    "rank_one_less": lambda x: np.linalg.matrix_rank(x) == x.shape[-1] - 1,
    "lower": lambda x: (x == np.tril(x)) & (np.diagonal(x) > 0.5),
    "one_zero": lambda x: (x >= 0) & (np.count_nonzero(x == 0) == 1),
    "posdef_nonsym": lambda x: (np.linalg.eigvalsh(x + x.T) > 0) & bool(np.any(x != x.T)),
}


def test_every_domain_has_a_test() -> None:
    assert set(INSIDE) == set(DOMAINS)


@pytest.mark.parametrize("name", DOMAINS)
def test_domain(name: str) -> None:
    shape = (7, 4, 4) if name in SQUARE else (4, 4) if name in MATRIX else (7, 4)
    value = draw(name, shape, generator(0, name))
    assert value.shape == shape
    assert value.dtype == np.float64
    assert np.all(INSIDE[name](value))
    assert np.array_equal(value, draw(name, shape, generator(0, name)))
    for what, extreme in extreme_values(name, shape).items():
        assert extreme.shape == shape, what
        assert not np.any(np.isnan(extreme))


@pytest.mark.parametrize(("domain", "low", "high"), [("(0,1)", 0, 1), ("[-2.5, 3e1]", -2.5, 30), ("(-1,0]", -1, 0)])
def test_interval(domain: str, low: float, high: float) -> None:
    value = draw(domain, (50,), generator(1))
    assert np.all((low < value) & (value < high))
    edges = extreme_values(domain, (2,))
    assert np.all((edges["low end"] > low) if domain[0] == "(" else (edges["low end"] == low))
    assert np.all((edges["high end"] < high) if domain[-1] == ")" else (edges["high end"] == high))


def test_finite_set_and_index() -> None:
    assert set(draw("{-1, 0, 2.5}", (50,), generator(2))) == {-1.0, 0.0, 2.5}
    index = draw("index<K", (50,), generator(3), {"K": 3})
    assert index.dtype == np.int64
    assert set(index) == {0, 1, 2}
    assert set(draw("index<4", (60,), generator(4))) == {0, 1, 2, 3}
    assert extreme_values("index<K", (2,), {"K": 3})["last"].tolist() == [2, 2]


def test_a_matrix_that_is_invertible_is_not_symmetric() -> None:
    value = draw("invertible", (4, 4), generator(5))
    assert not np.allclose(value, value.T)


def test_sizes_are_different_primes() -> None:
    for seed in range(20):
        sizes = draw_sizes(["B", "h", "n", "m", "d_k"], generator(seed))
        values = sorted(sizes.values())
        assert len(set(values)) == 5
        assert set(values) <= set(sampling.PRIMES)
    with pytest.raises(ValueError, match="7 sizes asked for, but only 6 primes from 2 to 13"):
        draw_sizes("abcdefg", generator(0))


def test_generator_depends_on_every_label() -> None:
    first = {generator(*labels).random() for labels in ((0,), (1,), (0, "a"), (0, "b"), (0, "a", 1), (0, "a", 2))}
    assert len(first) == 6


@pytest.mark.parametrize(
    ("domain", "shape", "message"),
    [
        ("reel", (2,), "unknown domain 'reel'; known: real, "),
        ("(1,0)", (2,), "is empty: 1 is not below 0"),
        ("index<K", (2,), "needs the size K; sizes given: {}"),
        ("index<0", (2,), "is empty: 0 = 0"),
        ("spd", (2, 3), r"'spd' needs two equal last axes, got shape \(2, 3\)"),
        ("simplex", (2, 0), r"'simplex' needs a last axis of size at least 1, got shape \(2, 0\)"),
    ],
)
def test_errors(domain: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(domain, shape, generator(0))
