"""Problems that people had with positional encodings and RoPE: each with its right answer, and the wrong one refused.

The identifiers are those of the collected cases (B01, B03, ...); B07 is about floating point and is tested beside the
NumPy functions. Statements are proved for every width; their NumPy is compared with the hand-written one at width 10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

from lemmata.numeric import positional_encoding as numeric_table
from lemmata.numeric import rotary as numeric_rotary
from lemmata.symbolic.codegen import compile_numpy
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.theorem import Claim, derive
from lemmata.symbolic.language import vocabulary as lm
from lemmata.symbolic.language.arrays import Array, ArrayLike, array, tensor_of
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.language.rearrangement import concatenate, stack
from lemmata.symbolic.theorems import find_theorem, theorems
from lemmata.symbolic.theorems.positional_encoding import frequencies, positional_encoding
from lemmata.symbolic.theorems.rotary import columns, pairs, rotary_blocks, turned
from lemmata.symbolic.theorems.shift_matrix import identity, shift_matrix, times, transposed
from lemmata.verification import verify_theorem

TOPICS = ("positional encoding", "rotary position embedding")
NAMES = [name for name, t in theorems().items() if t.topic in TOPICS]
SEED = 20
WIDTH = 10
POS, K, L, P, Q, W = (array(name) for name in ("pos", "k", "l", "p", "q", "w"))
OMEGA = array("omega", "h")


def verdict(left: ArrayLike, right: ArrayLike) -> str:
    """The verdict on left = right, in one step."""
    return replay(derive(Claim(left, right, by=[lambda state: None]))).verdict


def column(matrix: Array, encoding: Array) -> Array:
    return lm.einsum("iajb,jb->ia", matrix, encoding)


def row(encoding: Array, matrix: Array) -> Array:
    return lm.einsum("jb,jbia->ia", encoding, matrix)


def run(value: Array, arguments: dict[str, Array], given: dict[str, object]) -> np.ndarray:
    """The generated NumPy of an array at given inputs."""
    function = compile_numpy("value", value.body, value.indices, [tensor_of(a) for a in arguments.values()])
    return np.asarray(function(*(np.asarray(given[name], dtype=float) for name in arguments)), dtype=float)


def test_both_topics_are_there() -> None:
    assert {theorems()[name].topic for name in NAMES} == set(TOPICS)


@pytest.mark.parametrize("name", NAMES)
def test_theorem_is_proved_with_all_its_evidence(name: str) -> None:
    found = verify_theorem(find_theorem(name), seed=SEED)
    assert found.verdict == "proved", found.reason
    assert all(e.passed for e in found.evidence)
    assert found.conditions == ()


# ---------------------------------------------------------------------- B04: which matrix shifts an encoding
def two_by_two(rows: list[list[Array]]) -> Array:
    return stack([stack(r) for r in rows])


def explicit(angle: Array) -> Array:
    """[[cos, sin], [−sin, cos]] written out."""
    return two_by_two([[lm.cos(angle), lm.sin(angle)], [-lm.sin(angle), lm.cos(angle)]])


def sine_first(angle: Array) -> Array:
    return stack([lm.sin(angle), lm.cos(angle)])


def cosine_first(angle: Array) -> Array:
    return stack([lm.cos(angle), lm.sin(angle)])


# the encoding at another position, in terms of the matrix of (sin, cos) columns and the encoding at pos
SHIFTS: dict[str, tuple[Array, Callable[[Array], Array]]] = {
    "sine first, column": (sine_first((POS + K) * W), lambda m: m @ sine_first(POS * W)),
    "sine first, row": (sine_first((POS + K) * W), lambda m: sine_first(POS * W) @ m.T),
    "cosine first, column": (cosine_first((POS + K) * W), lambda m: m.T @ cosine_first(POS * W)),
    "cosine first, row": (cosine_first((POS + K) * W), lambda m: cosine_first(POS * W) @ m),
    "sine first, column, backwards": (sine_first((POS - K) * W), lambda m: m.T @ sine_first(POS * W)),
}


@pytest.mark.parametrize("name", list(SHIFTS))
def test_b04_one_pair_and_its_transposes(name: str) -> None:
    shifted, by = SHIFTS[name]
    matrix = explicit(K * W)
    assert verdict(shifted, by(matrix)) == "proved"
    assert verdict(shifted, by(matrix.T)) == "refuted"


@pytest.mark.parametrize("rule", ["paper", "endpoint"])
def test_b04_all_pairs_with_the_frequencies_of_a_rule(rule: str) -> None:
    omega = frequencies("h+1", rule)
    old, new = (positional_encoding(p, omega) for p in (POS, POS + K))
    assert verdict(new, column(shift_matrix(K, omega), old)) == "proved"
    assert verdict(new, column(transposed(shift_matrix(K, omega)), old)) == "refuted"


@pytest.mark.parametrize("rule", ["paper", "endpoint"])
def test_b04_frequencies_of_another_rule_do_not_shift(rule: str) -> None:
    other = {"paper": "endpoint", "endpoint": "paper"}[rule]
    old, new = (positional_encoding(p, frequencies("h+1", rule)) for p in (POS, POS + K))
    assert verdict(new, column(shift_matrix(K, frequencies("h+1", other)), old)) == "refuted"


def test_b04_matrix_of_one_pair_is_a_block() -> None:
    blocks = lm.einsum("iaib->iab", shift_matrix(K, OMEGA))
    angle = K * OMEGA
    entries = [[lm.cos(angle), lm.sin(angle)], [-lm.sin(angle), lm.cos(angle)]]
    assert verdict(blocks, stack([stack(r, axis=1) for r in entries], axis=1)) == "proved"


@pytest.mark.parametrize("name", ["positional_encoding_add", "positional_encoding_sub"])
def test_b04_matrix_does_not_depend_on_the_position(name: str) -> None:
    (matrix,) = [t for t in find_theorem(name).derivation().definitions if t.name == "M"]
    assert {t.name for t in matrix.body.free_symbols} >= {"k", "omega"}
    assert tensor_of(POS) not in matrix.body.free_symbols


def test_b04_sine_alone_does_not_determine_the_shifted_sine() -> None:
    # whatever the factor c: at pos = 0 the sine is 0 and the shifted one is sin kω
    factor = array("c")
    assert verdict(lm.sin((POS + K) * W), factor * lm.sin(POS * W)) == "refuted"
    assert verdict(lm.sin((POS + K) * W), lm.cos(K * W) * lm.sin(POS * W)) == "refuted"
    assert verdict(lm.sin((0 * POS + K) * W), lm.sin(K * W)) == "proved"


def test_b04_first_frequency_is_number_zero() -> None:
    assert frequencies("h")[0].body == 1
    note = "Pairs are counted from i = 0, as in the paper."
    assert note in find_theorem("positional_encoding_add_sine").claim().notes


# ---------------------------------------------------------------------- the rotation
def test_shifts_form_a_group() -> None:
    m, n, back = (shift_matrix(k, OMEGA) for k in (K, L, -K))
    one = identity("h")
    assert verdict(times(m, transposed(m)), one) == "proved"
    assert verdict(times(transposed(m), m), one) == "proved"
    assert verdict(times(m, n), shift_matrix(K + L, OMEGA)) == "proved"
    assert verdict(times(m, n), times(n, m)) == "proved"
    assert verdict(back, transposed(m)) == "proved"


def test_wrong_group_laws_are_refuted() -> None:
    m, n = shift_matrix(K, OMEGA), shift_matrix(L, OMEGA)
    assert verdict(times(m, m), identity("h")) == "refuted"
    assert verdict(times(m, n), shift_matrix(K - L, OMEGA)) == "refuted"
    assert verdict(shift_matrix(-K, OMEGA), m) == "refuted"
    assert verdict(times(m, n), (1 + sp.Rational(9, 10**4)) * shift_matrix(K + L, OMEGA)) == "refuted"


def test_inner_product_depends_on_the_difference_alone() -> None:
    def inner(p: Array, q: Array) -> Array:
        return lm.sum(positional_encoding(p, OMEGA) * positional_encoding(q, OMEGA))

    assert verdict(inner(P, Q), lm.sum(lm.cos((P - Q) * OMEGA))) == "proved"
    assert verdict(inner(P + K, Q + K), inner(P, Q)) == "proved"
    assert verdict(inner(P, Q), lm.sum(lm.cos((P + Q) * OMEGA))) == "refuted"
    assert verdict(inner(P, P), OMEGA.shape[0]) == "proved"
    assert verdict(inner(P, P), 2 * OMEGA.shape[0]) == "refuted"


# ---------------------------------------------------------------------- B03: layouts and frequency rules
def test_b03_layouts_are_one_fixed_permutation() -> None:
    assert replay(find_theorem("positional_encoding_halves").derivation()).verdict == "proved"
    tables = [positional_encoding(POS, frequencies(4), layout) for layout in ("interleaved", "halves")]
    interleaved = [e for i in range(4) for e in (tables[0].element(i, 0), tables[0].element(i, 1))]
    halves = [tables[1].element(c) for c in range(8)]
    order = numeric_table.layout_permutation(8)
    for a, c in zip(halves, order, strict=True):
        assert verdict(Array((), a), Array((), interleaved[c])) == "proved"
    assert verdict(Array((), halves[1]), Array((), interleaved[1])) == "refuted"


def test_b03_layouts_have_the_same_inner_products() -> None:
    def inner(layout: str) -> Array:
        return lm.sum(positional_encoding(P, frequencies(4), layout) * positional_encoding(Q, frequencies(4), layout))

    assert verdict(inner("interleaved"), inner("halves")) == "proved"


def test_b03_the_rules_are_different_tables() -> None:
    paper, endpoint = frequencies(4), frequencies(4, "endpoint")
    assert verdict(paper[3], sp.Rational(1, 10**3)) == "proved"
    assert verdict(endpoint[3], sp.Rational(1, 10**4)) == "proved"
    assert verdict(positional_encoding(POS, paper), positional_encoding(POS, endpoint)) == "refuted"


def test_unknown_options_are_errors_that_list_the_known_ones() -> None:
    with pytest.raises(LemmataError, match="no frequency rule 'log'; the rules are 'paper' and 'endpoint'"):
        frequencies(4, "log")
    with pytest.raises(LemmataError, match="no layout 'columns'; the layouts are 'interleaved' and 'halves'"):
        positional_encoding(POS, OMEGA, "columns")
    with pytest.raises(LemmataError, match="no pairing 'mixed'; the pairings are 'interleaved' and 'half_split'"):
        pairs(array("x", "2*h"), "mixed")


# ---------------------------------------------------------------------- B01: odd widths
@pytest.mark.parametrize("d", [5, 29, 127])
def test_b01_one_more_sine_than_cosines(d: int) -> None:
    sines, cosines = lm.sin(POS * array("s", str((d + 1) // 2))), lm.cos(POS * array("c", str(d // 2)))
    table = concatenate([sines, cosines])
    assert table.shape == (d,)
    assert numeric_table.positional_encoding([2.0], d).shape == (1, d)
    assert numeric_table.frequencies(d).shape == sines.shape == ((d + 1) // 2,)


def test_b01_the_lone_sine_has_no_shift_and_no_difference_rule() -> None:
    nu = array("nu")
    assert replay(find_theorem("inner_positional_encoding_odd").derivation()).verdict == "proved"
    assert verdict(lm.sin(nu * P) * lm.sin(nu * Q), lm.cos(nu * (P - Q))) == "refuted"
    assert verdict(lm.sin(nu * (P + K)) * lm.sin(nu * (Q + K)), lm.sin(nu * P) * lm.sin(nu * Q)) == "refuted"
    assert verdict(lm.sin(nu * (POS + K)), lm.cos(nu * K) * lm.sin(nu * POS)) == "refuted"
    with pytest.raises(ValueError, match="even width, got d = 5"):
        numeric_table.shift_matrix(1, 5)


# ---------------------------------------------------------------------- added to the embeddings
def test_addition_keeps_the_shape() -> None:
    x = array("x", "n,2*h")
    angle = lm.arange("n")[:, None] * frequencies("h")
    assert (x + concatenate([lm.sin(angle), lm.cos(angle)], axis=1)).shape == x.shape
    with pytest.raises(LemmataError, match="h"):  # the sines alone do not fit
        x + lm.sin(angle)


# ---------------------------------------------------------------------- RoPE
M, N, S = array("m"), array("n"), array("s")


def score(
    m: Array, n: Array, query: str = "interleaved", key: str = "interleaved", sign: int = 1, width: str = "2*h"
) -> Array:
    """⟨R_m q, R_n k⟩ column by column, with the pairings of query and key; sign −1 for the transposed rotation."""
    q, k = array("q", width), array("k", width)
    omega = array("omega", q.shape[0] / 2)
    first, second = rotary_blocks(sign * m, omega), rotary_blocks(sign * n, omega)
    rotated, other = turned(first, pairs(q, query)), turned(second, pairs(k, key))
    if query == key:  # the columns are paired alike, so that they are multiplied pair by pair
        return lm.sum(rotated * other)
    return columns(rotated, query) @ columns(other, key)


@pytest.mark.parametrize("pairing", ["interleaved", "half_split"])
@pytest.mark.parametrize("sign", [1, -1])
def test_b05_scores_depend_on_the_difference_alone(pairing: str, sign: int) -> None:
    both = {"query": pairing, "key": pairing, "sign": sign}
    assert verdict(score(M + S, N + S, **both), score(M, N, **both)) == "proved"
    assert verdict(score(M + S, N - S, **both), score(M, N, **both)) == "refuted"


def test_b05_the_transpose_exchanges_m_and_n() -> None:
    assert verdict(score(M, N, sign=-1), score(-M, -N)) == "proved"
    assert verdict(score(M, N, sign=-1), score(N, M)) == "proved"  # not a bug when trained from scratch
    assert verdict(score(M, N, sign=-1), score(M, N)) == "refuted"  # wrong for weights trained with the other one


def test_b05_the_orientation_is_part_of_the_statement() -> None:
    assert any("as in the paper" in note for note in find_theorem("rotary_score").claim().notes)
    assert any("m − n and n − m exchanged" in note for note in find_theorem("rotary_score_transposed").claim().notes)


def test_mixed_pairings_are_refuted_with_a_counterexample() -> None:
    mixed = {"query": "interleaved", "key": "half_split"}
    claim = Claim(score(M + S, N + S, **mixed), score(M, N, **mixed), by=[lambda state: None])
    found = replay(derive(claim))
    assert found.verdict == "refuted"
    assert found.counterexample is not None
    with pytest.raises(ValueError, match="paired 'interleaved' but keys 'half_split'"):
        numeric_rotary.rotary_score(np.ones(4), np.ones(4), 1, 2, key_pairing="half_split")
    # with one pair the two pairings are the same, so width 2 does not see the mistake
    assert verdict(score(M + S, N + S, width="2", **mixed), score(M, N, width="2", **mixed)) == "proved"


@pytest.mark.parametrize("pairing", ["interleaved", "half_split"])
def test_columns_and_pairs_have_the_same_inner_product(pairing: str) -> None:
    x, y = array("x", "5,2"), array("y", "5,2")
    assert verdict(columns(x, pairing) @ columns(y, pairing), lm.sum(x * y)) == "proved"
    other = {"interleaved": "half_split", "half_split": "interleaved"}[pairing]
    assert verdict(columns(x, pairing) @ columns(y, other), lm.sum(x * y)) == "refuted"


def test_one_permutation_takes_one_pairing_to_the_other() -> None:
    x, omega = array("x", "2*h"), OMEGA
    r = rotary_blocks(M, omega)
    assert verdict(turned(r, pairs(columns(pairs(x), "half_split"), "half_split")), turned(r, pairs(x))) == "proved"
    assert verdict(turned(r, pairs(x, "half_split")), turned(r, pairs(x))) == "refuted"


def test_rotation_keeps_norms() -> None:
    x = pairs(array("x", "2*h"))
    rotated = turned(rotary_blocks(M, OMEGA), x)
    assert verdict(lm.sum(rotated**2), lm.sum(x**2)) == "proved"
    assert verdict(rotated, turned(rotary_blocks(-M, OMEGA), x)) == "refuted"


# ---------------------------------------------------------------------- the hand-written NumPy
ARGUMENTS = {"pos": POS, "omega": OMEGA}
INPUTS = {"pos": 3.7, "omega": numeric_table.frequencies(WIDTH)}


@pytest.mark.parametrize("rule", ["paper", "endpoint"])
def test_table_and_rotation_against_hand_written_numpy(rule: str) -> None:
    given = {"pos": 3.7, "omega": numeric_table.frequencies(WIDTH, rule=rule)}
    table = run(positional_encoding(POS, OMEGA), ARGUMENTS, given)
    matrix = run(shift_matrix(POS, OMEGA), ARGUMENTS, given)
    halves = run(positional_encoding(POS, OMEGA).T, ARGUMENTS, given)
    assert np.allclose(table.reshape(WIDTH), numeric_table.positional_encoding(3.7, WIDTH, rule=rule), rtol=1e-13)
    assert np.allclose(
        halves.reshape(WIDTH), numeric_table.positional_encoding(3.7, WIDTH, layout="halves", rule=rule), rtol=1e-13
    )
    assert np.allclose(matrix.reshape(WIDTH, WIDTH), numeric_table.shift_matrix(3.7, WIDTH, rule=rule), rtol=1e-13)
    assert not np.allclose(matrix.reshape(WIDTH, WIDTH).T, numeric_table.shift_matrix(3.7, WIDTH, rule=rule))


def test_inner_product_against_hand_written_numpy() -> None:
    claim = find_theorem("inner_positional_encoding").claim()
    assert isinstance(claim.right, Array)
    given = {"p": 2.5, "q": -4.25, "omega": numeric_table.frequencies(WIDTH)}
    actual = run(claim.right, {"p": P, "q": Q, "omega": OMEGA}, given)
    assert np.allclose(actual, numeric_table.positional_inner_product(2.5 + 4.25, WIDTH), rtol=1e-13)


@pytest.mark.parametrize("pairing", ["interleaved", "half_split"])
@pytest.mark.parametrize(("sign", "orientation"), [(1, "counterclockwise"), (-1, "clockwise")])
def test_rotary_against_hand_written_numpy(pairing: str, sign: int, orientation: str) -> None:
    x = array("x", "2*h")
    value = np.random.default_rng(SEED).normal(size=WIDTH)
    rotated = turned(rotary_blocks(sign * POS, OMEGA), pairs(x, pairing))
    actual = run(rotated, {**ARGUMENTS, "x": x}, {**INPUTS, "x": value})
    in_columns = actual.reshape(WIDTH) if pairing == "interleaved" else actual.T.reshape(WIDTH)
    expected = numeric_rotary.rotary(value[None], [3.7], pairing=pairing, orientation=orientation)[0]
    assert np.allclose(in_columns, expected, rtol=1e-13)
    permuted = run(columns(pairs(x), "half_split"), {"x": x}, {"x": value})
    assert np.array_equal(permuted, value[numeric_rotary.pairing_permutation(WIDTH)])
