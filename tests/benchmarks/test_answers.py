"""A benchmark that does not check its answer measures nothing: here each check is seen to refuse a wrong answer."""

from __future__ import annotations

import time

import pytest

import lemmata as lm

from . import sympy_explicit, sympy_indexed
from .ours import canonical, every_step, second_path, softmax_jacobian, statement
from .tables import milliseconds, table
from .timing import OutOfTime, WrongAnswer, at_most, forget, timed


@pytest.mark.parametrize("name", sympy_explicit.ROUTES)
def test_explicit_routes_show_the_claim_and_refuse_a_spoiled_one(name: str) -> None:
    route, entries = sympy_explicit.ROUTES[name]
    assert name in lm.theorems()
    assert route(3, False) == entries(3)
    assert route(3, True) == -1


def test_a_derivative_by_a_bound_letter_is_seen_to_be_wrong() -> None:
    fresh, captured = sympy_indexed.QUESTIONS[:2]
    assert sympy_indexed._right(fresh, fresh.derivative())
    assert sympy_indexed._right(captured, captured.claim())
    assert not sympy_indexed._right(captured, captured.derivative())


def test_our_columns_refuse_a_wrong_claim() -> None:
    z = lm.array("z", "K")
    p = lm.softmax(z)
    wrong = lm.prove(lm.partial(p, z), lm.diag(p) + lm.outer(p, p)).derivation
    right = softmax_jacobian("K")
    assert canonical(right)
    assert second_path(right)
    assert statement(right) == every_step(right) == "proved"
    assert not canonical(wrong)
    assert second_path(wrong) is False
    assert statement(wrong) == every_step(wrong) == "refuted"


def test_a_wrong_answer_is_not_timed() -> None:
    assert timed(lambda: 2, lambda answer: answer == 2, runs=3).runs == 3
    with pytest.raises(WrongAnswer):
        timed(lambda: 3, lambda answer: answer == 2, runs=3)


def test_a_new_question_finds_empty_memo_tables() -> None:
    from lemmata.symbolic.language.sizes import _parse

    lm.array("z", "K*M")
    assert _parse.cache_info().currsize > 0
    forget()
    assert _parse.cache_info().currsize == 0


def test_the_limit_stops() -> None:
    with pytest.raises(OutOfTime), at_most(0.05):
        time.sleep(2)


def test_table() -> None:
    assert [milliseconds(t) for t in (0.123, 1.23, 123.4, None)] == ["0.12", "1.2", "123", "—"]
    assert table(["a", "b"], [["σ", "1.0"]]) == "| a |   b |\n|---|----:|\n| σ | 1.0 |"
