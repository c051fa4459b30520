"""Every theorem and every rule, from the registries: proved on both paths, well formed, refused when tampered with.

A new theorem or rule is tested here without touching this file. What one theorem says in particular (its published
wrong versions, its numbers) is tested beside its topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from inspect import signature

import pytest
import sympy as sp

from lemmata.symbolic.calculus.rules import RULES, rule
from lemmata.symbolic.canonical import equal
from lemmata.symbolic.checking import check_equal
from lemmata.symbolic.derivations.chains import BrokenChain, check_chain, check_parts, link
from lemmata.symbolic.derivations.model import Derivation, Step, Verdict
from lemmata.symbolic.derivations.replay import judge, replay
from lemmata.symbolic.derivations.system import SystemCheck
from lemmata.symbolic.derivations.theorem import theorem
from lemmata.symbolic.language.errors import LemmataError, UnsupportedError
from lemmata.symbolic.language.hypotheses import Hypothesis
from lemmata.symbolic.language.nodes import PartialDerivative, free_indices
from lemmata.symbolic.language.operations import OPERATIONS
from lemmata.symbolic.theorems import find_theorem, theorems

SEED = 0
SCALE = 1 + sp.Rational(9, 10**4)
NAMES = list(theorems())
SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# A statement about a derivative says so in its name.
DERIVATIVE_WORDS = {"deriv", "jacobian", "vjp", "jvp", "hessian"}

MANY = 10  # a system with more adjoints is replayed by its statements alone here; `lemmata verify` replays every step
SYSTEMS = [name for name in NAMES if theorems()[name].derivation().parts]


def pieces() -> list[str]:
    """Every single derivation: a theorem, or "theorem/adjoint" for the parts of a system (of a large one, a few
    spread over it).
    """
    found = [name for name in NAMES if name not in SYSTEMS]
    for name in SYSTEMS:
        parts = theorems()[name].derivation().parts
        chosen = parts if len(parts) <= MANY else parts[:: max(1, len(parts) // 4)]
        found += [f"{name}/{part.name}" for part in chosen]
    return found


PIECES = pieces()
every_theorem = pytest.mark.parametrize("name", NAMES)
every_system = pytest.mark.parametrize("name", SYSTEMS)
every_piece = pytest.mark.parametrize("name", PIECES)
every_rule = pytest.mark.parametrize("name", list(RULES))


@cache
def derivation(name: str) -> Derivation:
    whole, _, part = name.partition("/")
    d = theorems()[whole].derivation()
    return d if not part else next(p for p in d.parts if p.name == part)


@cache
def verdict(name: str) -> Verdict:
    d = derivation(name)
    return replay(d, seed=SEED, steps=len(d.parts) <= MANY)


def tampered(value: sp.Expr, hypotheses: Sequence[Hypothesis] = ()) -> Iterable[tuple[str, sp.Expr]]:
    """Wrong versions of a value that a careless check would let pass; a 0 has no scale and no sign and is moved."""
    if equal(value, sp.S.Zero, hypotheses).equal:
        yield "moved", value + SCALE - 1
    else:
        yield "scaled", value * SCALE
        yield "sign flipped", -value


# ---------------------------------------------------------------------- theorems: what they are
def test_there_are_theorems_of_every_topic_file() -> None:
    topics = {theorems()[name].make.__module__.rpartition(".")[2] for name in NAMES}
    assert {"activations", "binary_cross_entropy", "softmax"} <= topics


@every_theorem
def test_name_is_snake_case_and_names_a_derivative_as_such(name: str) -> None:
    assert SNAKE_CASE.fullmatch(name)
    if derivation(name).left.has(PartialDerivative):
        assert DERIVATIVE_WORDS & set(name.split("_"))


@every_theorem
def test_title_source_and_notes_are_written(name: str) -> None:
    t = theorems()[name]
    assert t.topic
    assert t.title == t.title.strip() != ""
    assert not t.title.endswith(".")
    assert t.source.strip()
    assert all(note.strip() for note in t.claim().notes)


def test_titles_are_different() -> None:
    titles = [theorems()[name].title for name in NAMES]
    assert sorted(titles) == sorted(set(titles))


@every_piece
def test_every_step_has_a_known_rule_and_a_reason(name: str) -> None:
    d = derivation(name)
    assert d.steps
    for step in d.steps:
        assert step.why.strip()
        assert step.before != step.after
        for used in step.rules:
            known = used in RULES or used in d.uses or used.removeprefix("expand_") in OPERATIONS
            assert known, f"{name}: the step {step.before} = {step.after} names {used!r}"


@every_theorem
def test_derivation_is_the_same_when_it_is_made_again(name: str) -> None:
    t = theorems()[name]
    again = type(t)(t.name, t.topic, t.title, t.source, t.make).derivation()
    assert [s.rule for s in again.steps] == [s.rule for s in derivation(name).steps]
    assert [(p.name, [s.rule for s in p.steps]) for p in again.parts] == [
        (p.name, [s.rule for s in p.steps]) for p in derivation(name).parts]


@every_theorem
def test_numpy_check_names_functions_that_take_these_arguments(name: str) -> None:
    check = theorems()[name].claim().numpy
    if check is None or isinstance(check, SystemCheck):
        return
    declared = {t.name for t in derivation(name).tensors}
    assert check.reference or check.primal
    for function, arguments, options in (
        (check.reference, check.arguments, check.options),
        (
            check.primal,
            check.arguments if check.primal_arguments is None else check.primal_arguments,
            check.primal_options,
        ),
    ):
        if function is None:
            continue
        module, _, attribute = function.partition(".")
        found = getattr(import_module(f"lemmata.numeric.{module}"), attribute)
        signature(found).bind(*arguments, **options)
        assert {a for a in arguments if isinstance(a, str)} <= declared


@every_system
def test_check_of_a_system_names_functions_that_take_these_arguments(name: str) -> None:
    check = theorems()[name].claim().numpy
    assert isinstance(check, SystemCheck), f"{name}: a gradient needs a hand-written primal"
    declared = {t.name for t in derivation(name).tensors}
    for function, arguments, options in ((check.primal, check.arguments, check.options),
                                         (check.backward, check.backward_arguments or check.arguments,
                                          check.backward_options or check.options)):
        module, _, attribute = function.partition(".")
        found = getattr(import_module(f"lemmata.numeric.{module}"), attribute)
        signature(found).bind(*arguments, **options)
        assert {a for a in arguments if isinstance(a, str)} <= declared


# ---------------------------------------------------------------------- theorems: proved
@every_theorem
def test_theorem_is_proved_on_both_paths(name: str) -> None:
    found = verdict(name)
    assert found.verdict == "proved", found.reason or [e for e in found.evidence if not e.passed]
    kinds = {e.kind for e in found.evidence if e.passed}
    assert "canonical" in kinds
    assert kinds & {"exact", "balls"}
    if derivation(name).left.has(PartialDerivative):
        assert "dependence" in kinds
    if derivation(name).parts:
        assert "chain rule" in kinds


# ---------------------------------------------------------------------- theorems: the chain
@every_piece
def test_chain_is_continuous_and_a_gap_is_seen(name: str) -> None:
    d = derivation(name)
    check_chain(d)
    for n in range(len(d.steps)):
        gap = replace(d, steps=d.steps[:n] + d.steps[n + 1 :])
        with pytest.raises(BrokenChain):
            check_chain(gap)
    assert replay(replace(d, steps=d.steps[1:])).verdict == "refuted"


# ---------------------------------------------------------------------- theorems: tampered with
@every_piece
def test_tampered_statement_is_refused_on_each_path(name: str) -> None:
    d = derivation(name)
    for what, wrong in tampered(d.right, d.hypotheses):
        assert not equal(d.left, wrong, d.hypotheses).equal, f"{name}, {what}: the canonical form lets it pass"
        checked = check_equal(d.left, wrong, d.indices, d.hypotheses, variable=d.variable, seed=SEED)
        assert checked.equal is False, f"{name}, {what}: the second path lets it pass (seed {SEED})"
        assert checked.counterexample is not None
        found = judge([Step(d.left, wrong, "statement", "", "state")], d.indices, d.hypotheses, seed=SEED)
        assert found.verdict == "refuted"
        assert found.counterexample is not None


@every_piece
def test_tampered_step_is_refused(name: str) -> None:
    d = derivation(name)
    spread = d.steps if len(d.steps) <= 3 else (d.steps[0], d.steps[len(d.steps) // 2], d.steps[-1])
    for n, step in enumerate(spread):
        for what, wrong in tampered(step.after, d.hypotheses):
            assert not equal(step.before, wrong, d.hypotheses).equal, f"{name}, step {n + 1}, {what}"
            bad = judge([replace(step, after=wrong)], d.indices, d.hypotheses, seed=SEED, thorough=False)
            assert bad.verdict == "refuted", f"{name}, step {n + 1}, {what}: {bad.verdict}"


@every_piece
def test_two_wrongs_that_cancel_do_not_make_a_proof(name: str) -> None:
    """A wrong line in the middle leaves the statement true and the chain continuous; the steps around it are judged."""
    d = derivation(name)
    if len(d.steps) < 2:
        return
    n = len(d.steps) // 2 - 1
    (_, wrong), *_ = tampered(d.steps[n].after, d.hypotheses)
    steps = [*d.steps[:n], replace(d.steps[n], after=wrong), replace(d.steps[n + 1], before=wrong), *d.steps[n + 2 :]]
    changed = replace(d, steps=tuple(steps))
    check_chain(changed)
    assert replay(changed, seed=SEED).verdict == "refuted"


# ---------------------------------------------------------------------- systems: the chain rule
@every_system
def test_a_part_left_out_or_changed_is_seen(name: str) -> None:
    d = derivation(name)
    check_parts(d)
    inner = [n for n, p in enumerate(d.parts) if p.name.removeprefix("d") in {t.name for t in d.definitions}]
    if inner:
        with pytest.raises(BrokenChain):
            check_parts(replace(d, parts=d.parts[: inner[0]] + d.parts[inner[0] + 1:]))
    last = d.parts[-1]
    twice = replace(last, left=2 * last.left)
    step = link(twice, check_parts(replace(d, parts=(*d.parts[:-1], twice)))[last.name])
    assert step is not None  # it is judged, and has a counterexample
    assert judge([step], last.indices, d.hypotheses).verdict == "refuted"
    with pytest.raises(BrokenChain):
        check_parts(replace(d, parts=(*d.parts[:-1], replace(last, right=-last.right))))


# ---------------------------------------------------------------------- theorems: citations
def citation_order(citations: Mapping[str, Iterable[str]]) -> list[str]:
    """Theorems, each after those it cites; `CycleError` where that is not possible."""
    return list(TopologicalSorter({name: set(cited) for name, cited in citations.items()}).static_order())


def test_citations_exist_and_form_no_cycle() -> None:
    # A derivative rule of the calculus that is itself a theorem (deriv_sigmoid) counts as a citation of that theorem.
    citations = {
        name: {*derivation(name).uses, *(r for s in derivation(name).steps for r in s.rules if r in theorems())}
        for name in NAMES
    }
    unknown = {cited for found in citations.values() for cited in found} - set(NAMES)
    assert not unknown
    order = citation_order(citations)
    assert all(order.index(cited) < order.index(name) for name, found in citations.items() for cited in found)
    assert any(citations.values())


def test_a_cycle_of_citations_is_seen() -> None:
    with pytest.raises(CycleError):
        citation_order({"first": ["second"], "second": ["third"], "third": ["first"]})
    with pytest.raises(CycleError):
        citation_order({"itself": ["itself"]})


# ---------------------------------------------------------------------- the registry itself
def test_a_second_theorem_of_a_name_is_an_error() -> None:
    with pytest.raises(LemmataError, match="sum_softmax is declared twice"):
        theorem(topic="softmax", title="Again", source="nowhere")(theorems()["sum_softmax"].make)


def test_an_unknown_name_is_an_error_that_lists_near_ones() -> None:
    with pytest.raises(LemmataError, match="did you mean deriv_softmax"):
        find_theorem("deriv_sofmax")
    with pytest.raises(UnsupportedError, match="deriv_exp"):
        rule("deriv_exq")


# ---------------------------------------------------------------------- rules
@every_rule
def test_rule_instance_is_proved_on_both_paths(name: str) -> None:
    left, right = RULES[name].instance()
    indices = free_indices(sp.Tuple(left, right))
    assert equal(left, right).equal
    assert check_equal(left, right, indices, seed=SEED).equal is True


@every_rule
def test_tampered_rule_instance_is_refused_on_both_paths(name: str) -> None:
    left, right = RULES[name].instance()
    for what, wrong in tampered(right):
        indices = free_indices(sp.Tuple(left, wrong))
        assert not equal(left, wrong).equal, f"{name}, {what}: the canonical form lets it pass"
        assert check_equal(left, wrong, indices, seed=SEED).equal is False, f"{name}, {what} (seed {SEED})"


@every_rule
def test_rule_is_written(name: str) -> None:
    row = RULES[name]
    assert row.name == name
    assert SNAKE_CASE.fullmatch(name)
    assert row.statement.strip()
    assert row.why.strip()
    assert row.source.strip()
