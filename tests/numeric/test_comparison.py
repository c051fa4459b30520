"""The comparison must fail when it should: NaN, infinities, shapes, small relative errors, nothing to compare."""

import math

import numpy as np
import pytest

from lemmata.numeric.comparison import assert_close, compare


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (math.nan, math.nan),
        (math.nan, 1.0),
        (1.0, math.nan),
        (math.inf, 1e308),
        (math.inf, -math.inf),
        (1.0, math.inf),
        (complex(1, math.nan), complex(1, math.nan)),
    ],
)
def test_never_passes(actual: complex, expected: complex) -> None:
    result = compare([1.0, actual], [1.0, expected], rtol=1e6, atol=1e300)
    assert not result
    assert result.index == (1,)
    assert result.failures == 1


def test_equal_infinities_pass() -> None:
    assert compare([math.inf, -math.inf], [math.inf, -math.inf])


def test_tolerances_add_up_entry_by_entry() -> None:
    assert compare([1.0 + 1.5e-3], [1.0], rtol=1e-3, atol=1e-3)
    assert not compare([1.0 + 2.5e-3], [1.0], rtol=1e-3, atol=1e-3)
    # A large entry does not lend its tolerance to a small one.
    assert not compare([1e6, 1e-3], [1e6, 2e-3], rtol=1e-6)
    assert not compare([1e-8], [0.0])
    assert compare([1e-13], [0.0])


def test_scale_and_sign_are_seen() -> None:
    x = np.array([1.0, -2.0, 1e-6])
    assert not compare(x * (1 + 9e-4), x)
    assert not compare(-x, x)
    assert compare(x, x)


def test_worst_entry_is_the_one_that_exceeds_its_own_limit_most() -> None:
    result = compare([[1.0, 5.0], [3.0, 1000.1]], [[1.0, 5.0], [3.1, 1000.0]])
    assert result.index == (1, 0)
    assert (result.actual, result.expected) == (3.0, 3.1)
    assert result.failures == 2
    assert result.size == 4
    assert result.absolute_error == pytest.approx(0.1)
    assert result.relative_error == pytest.approx(0.1 / 3.1)
    assert result.magnitude == 1000.0
    assert "2 of 4 entries differ" in str(result)


def test_nan_is_reported_before_other_errors() -> None:
    result = compare([5.0, math.nan], [1.0, 2.0])
    assert result.index == (1,)
    assert "NaN never passes" in str(result)
    assert "an infinity on one side" in str(compare([math.inf], [1.0]))


def test_scalars_and_booleans_and_integers() -> None:
    assert compare(1, 1.0).index == ()
    assert compare([True, False], [1, 0])


@pytest.mark.parametrize(
    ("actual", "expected", "options", "error", "message"),
    [
        (
            np.zeros((2, 3)),
            np.zeros((3, 2)),
            {},
            ValueError,
            r"actual has shape \(2, 3\) but expected has shape \(3, 2\)",
        ),
        (np.zeros((2, 1)), np.zeros(2), {}, ValueError, r"\(2, 1\) but expected has shape \(2,\)"),
        (1.0, [1.0], {}, ValueError, r"actual has shape \(\)"),
        ([], [], {}, ValueError, "nothing to compare"),
        ([1.0], [1.0], {"rtol": -1.0}, ValueError, "need rtol >= 0"),
        ([1.0], [1.0], {"atol": math.nan}, ValueError, "need atol >= 0 and finite"),
        (["a"], ["a"], {}, TypeError, "actual must be numeric"),
        ([None], [1.0], {}, TypeError, "dtype object"),
    ],
)
def test_errors(actual: object, expected: object, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        compare(actual, expected, **options)


def test_assert_close_raises_with_the_name() -> None:
    with pytest.raises(AssertionError, match="gradient of W: 1 of 2 entries differ"):
        assert_close([1.0, 2.0], [1.0, 2.1], what="gradient of W")
