"""Properties of the canonical form on random expressions, judged by brute force.

Reading keeps the value; changes that keep the value are proved; a claim that is proved is true; the form does
not depend on the order of terms, factors, or on letters; a derivative that is read agrees with differences.
"""

from __future__ import annotations

import itertools
import random

import pytest
import sympy as sp
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import lemmata.symbolic.calculus  # noqa: F401  (SymPy asks nodes for derivatives when it looks for signs)
from lemmata.symbolic.canonical import algebra, equal
from lemmata.symbolic.canonical.context import TooLarge, Undefined
from lemmata.symbolic.canonical.equality import context_for
from lemmata.symbolic.canonical.reader import Reader
from lemmata.symbolic.canonical.terms import Poly, add, of_atom, subtract
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.language.nodes import IndexSum, free_indices, replace, tensors

from . import brute_force as bf
from .canonical_value import poly_value
from .random_expressions import FREE, Generator, broken, change_somewhere, kept

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, depth: int = 3, affine: bool = True) -> tuple[random.Random, sp.Expr]:
    """An expression from a seed."""
    rng = random.Random(seed)
    try:
        made = Generator(rng, affine=affine).expression(depth)
    except (LemmataError, TypeError, RecursionError):
        assume(False)
        raise
    assume(not made.has(sp.nan, sp.zoo, sp.oo))
    note(f"seed {seed}: {made}")
    return rng, made


def altered(rng: random.Random, made: sp.Expr, *changes: object) -> sp.Expr:
    """The expression after changes at random places."""
    try:
        for change in changes:
            made = change_somewhere(rng, made, change(rng))  # type: ignore[operator]
    except (LemmataError, TypeError, RecursionError):
        assume(False)
    assume(not made.has(sp.nan, sp.zoo, sp.oo))
    note(f"changed: {made}")
    return made


def read(reader: Reader, expression: sp.Expr) -> Poly:
    """The canonical form; what is nowhere defined, or refused, is passed over."""
    try:
        return reader.read(expression)
    except (Undefined, TooLarge, LemmataError, TypeError, RecursionError):
        assume(False)
        raise


def proved(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether the canonical form says "equal"; what it refuses to read (a non-real argument, ...) is passed over."""
    try:
        return equal(left, right).equal
    except (LemmataError, TypeError, RecursionError):
        assume(False)
        raise


def agree(expression: sp.Expr, form: Poly, points: object = bf.POINTS) -> None:
    """The value of a form is the value of the expression that was read."""
    free = free_indices(expression)
    named = {t.name: t for t in tensors([expression])}
    for sizes, seed, special in points:  # type: ignore[attr-defined]
        point = bf.Point(sizes, seed, special)
        places = itertools.product(*(range(bf.integer(i.size, point)) for i in free))
        for at, value in zip(places, bf.values(expression, point, free), strict=True):
            if value is not None:
                names = {("f", i.name, i.serial): n for i, n in zip(free, at, strict=True)}
                assert bf.close(poly_value(form, point, names, named), value), (
                    f"{sizes}, seed {seed}, special {special}, at {at}"
                )


@settings(max_examples=60)
@given(SEEDS)
def test_reading_keeps_the_value(seed: int) -> None:
    _, made = drawn(seed)
    agree(made, read(context_for(), made))


@settings(max_examples=60)
@given(SEEDS)
def test_derivatives_that_are_read_agree_with_differences(seed: int) -> None:
    rng = random.Random(seed)
    try:
        made = Generator(rng, smooth=True).derivative(2)
    except (LemmataError, TypeError, RecursionError):
        assume(False)
    note(f"seed {seed}: {made}")
    agree(made, read(context_for(), made), [p for p in bf.POINTS if not p[2]])


@settings(max_examples=120)
@given(SEEDS)
def test_changes_that_keep_the_value_are_proved(seed: int) -> None:
    rng, made = drawn(seed)
    other = altered(rng, made, kept, kept)
    assert bf.difference(made, other) is None, "the change did not keep the value"
    assert proved(made, other)


@settings(max_examples=200)
@given(SEEDS)
def test_what_is_proved_of_a_mutated_pair_is_true(seed: int) -> None:
    rng, made = drawn(seed)
    other = altered(rng, made, broken, *([kept] if rng.random() < 0.5 else []))
    if proved(made, other):
        assert bf.difference(made, other) is None


@settings(max_examples=40)
@given(SEEDS)
def test_letters_do_not_matter(seed: int) -> None:
    _, made = drawn(seed, affine=False)
    i, k, _ = FREE
    fresh = {i: k, k: i}
    reader = context_for()
    swapped, back = read(reader, replace(made, fresh)), read(reader, replace(replace(made, fresh), fresh))
    assert back == read(reader, made)
    for over in (i, k):  # a sum over an index is the same by whatever letter
        letter = over.fresh("z")
        assert read(reader, IndexSum(made, over)) == read(reader, IndexSum(replace(made, {over: letter}), letter))
    atoms = {e: of_atom(reader.index_atom(e)) for e in (i, k)}
    mapping = {reader.index_atom(i): atoms[k], reader.index_atom(k): atoms[i]}
    assert algebra.substitute(reader.ctx, read(reader, made), mapping) == swapped


@settings(max_examples=40)
@given(SEEDS)
def test_order_of_products_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    reader = context_for()
    made = Generator(rng, affine=False)
    try:
        a, b, c = (read(reader, made.expression(2)) for _ in range(3))
    except (LemmataError, TypeError, RecursionError):
        assume(False)
    times = lambda p, q: algebra.multiply(reader.ctx, p, q)  # noqa: E731
    assert times(times(a, b), c) == times(a, times(b, c))
    assert times(a, b) == times(b, a)
    assert subtract(add(a, b), b) == a
    assert times(a, add(b, c)) == add(times(a, b), times(a, c))


@settings(max_examples=40)
@given(SEEDS)
def test_substitution_commutes_with_reading(seed: int) -> None:
    _, made = drawn(seed, affine=False)
    i, k, _ = FREE
    reader = context_for()
    direct = read(reader, replace(made, {i: k}))
    try:
        after = algebra.substitute(
            reader.ctx, read(reader, made), {reader.index_atom(i): of_atom(reader.index_atom(k))}
        )
    except Undefined:
        assume(False)
    assert direct == after


@pytest.mark.parametrize("seed", range(3))
def test_same_input_same_form(seed: int) -> None:
    made = Generator(random.Random(seed)).expression(4)
    assert repr(context_for().read(made)) == repr(context_for().read(made))


def test_signs_that_sympy_asks_for_are_answered() -> None:
    j = FREE[0].fresh("j")
    assert (IndexSum(sp.S.One, j) - 2).is_positive is None
