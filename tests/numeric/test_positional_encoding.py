"""Sinusoidal tables and rotary embeddings: layouts, frequency rules, odd widths, the shift, precision at large
positions."""

import numpy as np
import pytest

from lemmata.numeric import positional_encoding as pe
from lemmata.numeric import rotary, sampling
from lemmata.numeric.comparison import assert_close, compare

RULES = ("paper", "endpoint")


def test_table_by_its_definition() -> None:
    table = pe.positional_encoding(np.arange(7), 6)
    for pos in range(7):
        for i in range(3):
            angle = pos / 10000 ** (2 * i / 6)
            assert_close(table[pos, 2 * i : 2 * i + 2], [np.sin(angle), np.cos(angle)])


@pytest.mark.parametrize("d", [1, 5, 29, 127])
@pytest.mark.parametrize("layout", pe.LAYOUTS)
def test_odd_width_has_one_sine_more(d: int, layout: str) -> None:
    table = pe.positional_encoding([0, 3], d, layout=layout)
    assert table.shape == (2, d)
    assert np.count_nonzero(table[0] == 0.0) == (d + 1) // 2
    assert np.count_nonzero(table[0] == 1.0) == d // 2
    for refused in (pe.shift_matrix, pe.positional_inner_product):
        with pytest.raises(ValueError, match=f"need an even width, got d = {d}: the last sine"):
            refused(2, d)


@pytest.mark.parametrize(("d", "rule"), [(5, "paper"), (8, "paper"), (8, "endpoint")])
def test_layouts_differ_by_a_permutation(d: int, rule: str) -> None:
    interleaved = pe.positional_encoding(np.arange(7), d, rule=rule)
    halves = pe.positional_encoding(np.arange(7), d, rule=rule, layout="halves")
    assert_close(interleaved[:, pe.layout_permutation(d)], halves)
    assert not compare(interleaved, halves)
    assert_close(interleaved @ interleaved.T, halves @ halves.T)


def test_frequency_rules_are_two_tables() -> None:
    assert_close(pe.frequencies(8)[-1], 1e-3)
    assert_close(pe.frequencies(8, rule="endpoint")[-1], 1e-4)
    assert_close(pe.frequencies(2, rule="endpoint"), [1.0])
    with pytest.raises(ValueError, match="got d = 5: the endpoint rule divides by d/2 - 1"):
        pe.frequencies(5, rule="endpoint")
    with pytest.raises(ValueError, match="unknown rule 'halves'; choose one of 'paper', 'endpoint'"):
        pe.frequencies(8, rule="halves")


@pytest.mark.parametrize("layout", pe.LAYOUTS)
@pytest.mark.parametrize("rule", RULES)
def test_shift_is_a_rotation_that_does_not_depend_on_the_position(layout: str, rule: str) -> None:
    d, k, m = 10, 3, 4
    options = {"layout": layout, "rule": rule}
    shift = pe.shift_matrix(k, d, **options)
    for pos in (0, 5, 1000):
        here, there = (pe.positional_encoding(p, d, **options) for p in (pos, pos + k))
        assert_close(shift @ here, there, atol=1e-11)
        assert_close(here @ shift.T, there, atol=1e-11)
        assert not compare(shift.T @ here, there), "the transpose shifts the other way"
    assert_close(shift @ shift.T, np.eye(d))
    assert_close(pe.shift_matrix(m, d, **options) @ shift, pe.shift_matrix(k + m, d, **options))
    assert_close(pe.shift_matrix(-k, d, **options), shift.T)


def test_one_block_is_cos_sin_minus_sin_cos() -> None:
    k = 0.7
    assert_close(pe.shift_matrix(k, 2), [[np.cos(k), np.sin(k)], [-np.sin(k), np.cos(k)]])


def test_the_sine_alone_cannot_be_shifted() -> None:
    """Two positions with the same sine whose sines after a shift differ: no linear map of the sine alone does it."""
    first, second = 1.0, np.pi - 1.0
    assert_close(np.sin(first), np.sin(second))
    assert not compare(np.sin(first + 1), np.sin(second + 1))


def test_inner_product_depends_on_the_difference_only() -> None:
    for rule in RULES:
        table = pe.positional_encoding(np.arange(7), 10, rule=rule)
        offsets = np.subtract.outer(np.arange(7), np.arange(7))
        assert_close(table @ table.T, pe.positional_inner_product(offsets, 10, rule=rule))
        assert_close(np.sum(table**2, axis=-1), np.full(7, 5.0))
    odd = pe.positional_encoding(np.arange(7), 5)
    assert not compare((odd @ odd.T)[1, 2], (odd @ odd.T)[4, 5])


@pytest.mark.parametrize(("position", "least"), [(1e3, 1e-6), (1e5, 1e-4), (1e6, 1e-3), (1e7, 1e-2)])
def test_angles_are_formed_in_float64(position: float, least: float) -> None:
    """A float32 angle loses digits in proportion to the position; the table must not."""
    rates = pe.frequencies(512)
    exact = np.sin(np.longdouble(position) * rates.astype(np.longdouble)).astype(np.float64)
    table = pe.positional_encoding(np.float32(position), 512)[0::2]
    assert np.max(np.abs(table - exact)) < 1e-8
    single = np.sin((np.float32(position) * rates.astype(np.float32)).astype(np.float64))
    assert np.max(np.abs(single - exact)) > least


def test_addition_keeps_the_shape() -> None:
    x = sampling.draw("real", (2, 7, 5), sampling.generator(3))
    added = pe.add_positional_encoding(x)
    assert added.shape == x.shape
    assert_close(added[1] - x[1], pe.positional_encoding(np.arange(7), 5))
    with pytest.raises(ValueError, match=r"x has shape \(5,\); need \[..., n, d\]"):
        pe.add_positional_encoding(np.zeros(5))
    with pytest.raises(ValueError, match="need a width d >= 1, got 0"):
        pe.positional_encoding([0], 0)


def test_rotary_is_orthogonal_and_its_score_depends_on_the_difference() -> None:
    rng = sampling.generator(5)
    q, k = sampling.draw("real", (6,), rng), sampling.draw("real", (6,), rng)
    for pairing in rotary.PAIRINGS:
        matrix = rotary.rotary_matrix(3, 6, pairing=pairing)
        assert_close(matrix @ matrix.T, np.eye(6))
        assert_close(rotary.rotary(q[np.newaxis], [3], pairing=pairing)[0], matrix @ q)
        options = {"query_pairing": pairing, "key_pairing": pairing}
        score = rotary.rotary_score(q, k, 9, 4, **options)
        assert_close(score, rotary.rotary_score(q, k, 105, 100, **options))
        assert not compare(score, rotary.rotary_score(q, k, 4, 9, **options))


def test_rotary_with_the_transposed_rotation_swaps_m_and_n() -> None:
    rng = sampling.generator(6)
    q, k = sampling.draw("real", (1, 6), rng), sampling.draw("real", (1, 6), rng)
    clockwise = [rotary.rotary(x, [p], orientation="clockwise")[0] for x, p in ((q, 9), (k, 4))]
    assert_close(clockwise[0] @ clockwise[1], rotary.rotary_score(q[0], k[0], 4, 9))


def test_rotary_pairings_differ_by_a_permutation_and_must_not_be_mixed() -> None:
    x = sampling.draw("real", (2, 5, 6), sampling.generator(7))
    places = np.array([0, 1, 5, 2, 9])
    order = rotary.pairing_permutation(6)
    interleaved = rotary.rotary(x, places)
    assert_close(rotary.rotary(x[..., order], places, pairing="half_split"), interleaved[..., order])
    assert not compare(rotary.rotary(x, places, pairing="half_split"), interleaved)
    with pytest.raises(ValueError, match="queries are paired 'interleaved' but keys 'half_split'"):
        rotary.rotary_score(x[0, 0], x[0, 1], 1, 2, key_pairing="half_split")
    a, b = x[0, :2], x[0, 2:4]
    mixed = [np.sum(rotary.rotary(a, [p, p]) * rotary.rotary(b, [p + 1, p + 1], pairing="half_split")) for p in (0, 40)]
    assert not compare(*mixed), "mixed pairings depend on both positions"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotary.rotary(np.zeros((2, 5)), [0, 1]), r"x has shape \(2, 5\).*d = 5 must be even"),
        (lambda: rotary.rotary(np.zeros((2, 4)), [0, 1, 2]), r"positions have shape \(3,\).*needs \(2,\)"),
        (lambda: rotary.rotary(np.zeros(4), [0]), r"need \[..., n, d\]"),
        (lambda: rotary.rotary(np.zeros((1, 4)), [0], pairing="neox"), "unknown pairing 'neox'"),
        (lambda: rotary.rotary(np.zeros((1, 4)), [0], orientation="left"), "unknown orientation 'left'"),
        (lambda: rotary.pairing_permutation(5), "got d = 5"),
    ],
)
def test_rotary_errors(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
