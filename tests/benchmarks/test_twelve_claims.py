"""The checks before the twelve claims are timed, seen to refuse wrong answers."""

from __future__ import annotations

import pytest

import lemmata as lm

from .ours import canonical, make, statement
from .textbook_sympy import ROUTES
from .timing import WrongAnswer
from .twelve_claims import FALSE, THEOREMS, false_claim, spoiled, verify


def test_every_claim_has_a_theorem_and_a_route() -> None:
    assert [*THEOREMS, FALSE] == list(ROUTES)
    assert len(ROUTES) == 12
    assert set(THEOREMS.values()) <= set(lm.theorems())


@pytest.mark.parametrize("name", ROUTES)
def test_sympy_shows_the_claim_and_refuses_a_spoiled_one(name: str) -> None:
    _, route = ROUTES[name]
    assert route(False)
    assert not route(True)


@pytest.mark.parametrize("theorem", ["deriv_gelu", "vjp_rms_norm", "vjp_attention"])
def test_a_spoiled_claim_is_not_timed(theorem: str) -> None:
    d = make(lm.theorems()[theorem])
    verify(d)
    for number in range(max(1, len(d.parts))):
        with pytest.raises(WrongAnswer):
            verify(spoiled(d, number))


def test_the_false_claim_needs_its_hypothesis() -> None:
    assert statement(false_claim()) == "refuted"
    assert not canonical(false_claim())
    assert statement(false_claim(hypothesis=True)) == "proved"
