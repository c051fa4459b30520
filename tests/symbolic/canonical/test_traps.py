"""Directed traps for the canonical form: it must prove what is true, and must never prove what is false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import sympy as sp

from lemmata.symbolic.canonical import equal
from lemmata.symbolic.language.errors import UnsupportedError

from . import assumed_claims as assumed
from . import brute_force as bf
from .false_claims import DIFFERENT, UNDEFINED
from .known_gaps import GAPS
from .symbols import Row
from .true_claims import EQUAL


def proved(left: sp.Expr, right: sp.Expr, hypotheses: Any = ()) -> bool:
    """Whether the canonical form says "equal"; a construct that it refuses is not proved."""
    try:
        return equal(left, right, hypotheses).equal
    except UnsupportedError:
        return False


def rows(table: Iterable[Any]) -> list[Any]:
    """Parameters, the ones that are known not to be proved yet marked with the reason."""
    found = []
    for row in table:
        name = row[0] if isinstance(row, tuple) else row.name
        marks = [pytest.mark.xfail(strict=True, reason=GAPS[name])] if name in GAPS else []
        found.append(pytest.param(row, id=name, marks=marks))
    return found


def test_names_are_unique() -> None:
    names = [r[0] for r in EQUAL] + [c.name for c in assumed.EQUAL_IF]
    assert len(set(names)) == len(names)
    assert set(GAPS) <= set(names), "a gap that no claim has"


def test_rows_are_true_by_brute_force() -> None:
    assert {name: d for name, a, b in EQUAL if (d := bf.difference(a, b, bf.MORE_POINTS))} == {}
    assert {
        c.name: d for c in assumed.EQUAL_IF if (d := bf.difference(c.left, c.right, bf.MORE_POINTS, assume=c.domains))
    } == {}


def test_rows_are_false_by_brute_force() -> None:
    assert [name for name, a, b in DIFFERENT if not bf.difference(a, b, bf.MORE_POINTS)] == []
    assert [name for name, a, b in UNDEFINED if not bf.difference(a, b, bf.MORE_POINTS, strict=True)] == []
    assert [
        c.name for c in assumed.DIFFERENT_IF if not bf.difference(c.left, c.right, bf.MORE_POINTS, assume=c.domains)
    ] == []


@pytest.mark.parametrize("row", rows(EQUAL))
def test_true_claims_are_proved(row: Row) -> None:
    _, left, right = row
    assert proved(left, right)
    assert proved(right, left)


@pytest.mark.parametrize("row", [pytest.param(r, id=r[0]) for r in EQUAL])
def test_true_claims_fail_when_tampered_with(row: Row) -> None:
    _, left, right = row
    if right != 0:
        assert not proved(left, right * (1 + sp.Rational(9, 10**4)))
        assert not proved(left, -right)
    assert not proved(left, right + 1)


@pytest.mark.parametrize("row", [pytest.param(r, id=r[0]) for r in (*DIFFERENT, *UNDEFINED)])
def test_false_claims_are_not_proved(row: Row) -> None:
    _, left, right = row
    assert not proved(left, right)
    assert not proved(right, left)


@pytest.mark.parametrize("claim", rows(assumed.EQUAL_IF))
def test_true_claims_under_hypotheses_are_proved(claim: assumed.Assumed) -> None:
    assert proved(claim.left, claim.right, claim.hypotheses)


@pytest.mark.parametrize("claim", [pytest.param(c, id=c.name) for c in assumed.EQUAL_IF])
def test_claims_under_hypotheses_need_them(claim: assumed.Assumed) -> None:
    assert not proved(claim.left, claim.right)
    assert not proved(claim.left, claim.right + 1, claim.hypotheses)


@pytest.mark.parametrize("claim", [pytest.param(c, id=c.name) for c in assumed.DIFFERENT_IF])
def test_false_claims_under_hypotheses_are_not_proved(claim: assumed.Assumed) -> None:
    assert not proved(claim.left, claim.right, claim.hypotheses)


def test_numbers_that_are_not_factored_are_refused() -> None:
    """A factor in common that nobody finds would make two logarithms independent; small primes are always found."""
    p, q = 2**89 - 1, 2**107 - 1
    assert not proved(sp.log(p * q, evaluate=False), sp.log(p) + sp.log(q))
    with pytest.raises(UnsupportedError, match="not factored"):
        equal(sp.log(p * q, evaluate=False), sp.Integer(0))
    assert proved(sp.log(p * 6**500, evaluate=False), sp.log(p) + 500 * sp.log(2) + 500 * sp.log(3))
