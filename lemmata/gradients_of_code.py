"""Is a hand-written backward pass the gradient of a forward pass? Read, proved, run and judged.

A question holds two callables and what is known of their arguments. It is answered in this order: the code is run
against differences at drawn and at special points (a mismatch refutes it with a counterexample); it is read on symbolic
arrays and proved on both paths; what cannot be proved but agreed everywhere is supported, and said to be no more.
"""

from __future__ import annotations

import ast
import operator
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from .numeric.gradient_check import Mismatch, check_gradient
from .numeric.sampling import draw, generator
from .symbolic.canonical.equality import equal
from .symbolic.checking import check_equal
from .symbolic.derivations.model import Counterexample, Evidence, Verdict
from .symbolic.derivations.replay import definedness
from .symbolic.language.arrays import Array, aligned, array
from .symbolic.language.constants import ROUNDED
from .symbolic.language.domains import domain as read_domain
from .symbolic.language.errors import FormulaError, LemmataError, UnsupportedError
from .symbolic.language.hypotheses import Hypothesis
from .symbolic.language.indices import index
from .symbolic.language.nodes import Element, IndexSum, PartialDerivative, Tensor
from .symbolic.language.ranges import cases
from .symbolic.language.sizes import Size, size

Reading = Callable[[Mapping[str, Any], list[sp.Expr]], Array]


@dataclass(frozen=True)
class GradientQuestion:
    """A claimed gradient: the callables, how to read them, and what is known of their arguments.

    `shapes` gives sizes as texts for each array argument (`()` for a scalar); an argument that is an integer size is
    listed in `integers`. `cotangent` is (name, shape) or None for a scalar output. `avoid` gives what must not vanish
    (kinks); `where` a further condition on the arguments; `sizes` the range of each size symbol.
    """

    name: str
    forward: Callable[..., Any]
    backward: Callable[[Mapping[str, Any]], Any]
    read_forward: Reading
    read_backward: Reading
    variable: str
    shapes: Mapping[str, tuple[str, ...]]
    domains: Mapping[str, str]
    cotangent: tuple[str, tuple[str, ...]] | None = None
    integers: tuple[str, ...] = ()
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sizes_allowed: Callable[[Mapping[str, int]], bool] | None = None
    avoid: Callable[[Mapping[str, Any]], Any] | None = None
    where: Callable[[Mapping[str, Any]], Any] | None = None
    hypotheses: Callable[[Mapping[str, Array]], Sequence[Hypothesis]] | None = None
    # Drawn arguments made to satisfy the hypotheses (Σ y = 1); None where that fails and others are to be drawn.
    prepare: Callable[[dict[str, Any], Mapping[str, int]], dict[str, Any] | None] | None = None


@dataclass(frozen=True)
class Point:
    """Drawn arguments with their sizes; `special` says what was put there on purpose."""

    sizes: dict[str, int]
    arguments: dict[str, Any]
    cotangent: np.ndarray | None
    special: str = ""


def prove_question(q: GradientQuestion, *, seed: int = 0, seconds: float = 10.0) -> Verdict:
    """The verdict on a claimed gradient."""
    start = time.perf_counter()
    deadline = start + seconds
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found, compared, points = first_mismatch(q, seed, deadline)
        except Exception as error:  # the user's code failed on drawn inputs
            return Verdict("unsupported", reason=f"running the code failed: {type(error).__name__}: {error}",
                           seconds=time.perf_counter() - start)
    if found is not None:
        point, mismatch = found
        return refutation(q, point, mismatch, time.perf_counter() - start)
    agreed = Evidence("differences", compared > 0,
                      f"{compared} entries agree with Richardson differences at {points} points, seed {seed}",
                      time.perf_counter() - start)
    rounded: list[float] = []
    token = ROUNDED.set(rounded)
    try:
        verdict = _prove(q, seed, max(1.0, deadline - time.perf_counter()))
    except (LemmataError, RecursionError, TypeError, ValueError, KeyError, AttributeError, ZeroDivisionError) as error:
        verdict = Verdict("unsupported", reason=f"{type(error).__name__}: {error}")
    finally:
        ROUNDED.reset(token)
    if rounded and verdict.verdict == "proved":
        verdict = replace(verdict, notes=tuple(dict.fromkeys([*verdict.notes, "up to rounding of the constants"])))
    evidence = (*verdict.evidence, agreed)
    if verdict.verdict == "proved" and compared:
        return Verdict("proved", evidence, verdict.conditions, verdict.notes, seconds=time.perf_counter() - start)
    if compared:
        return Verdict("supported", evidence, verdict.conditions, verdict.notes, seconds=time.perf_counter() - start,
                       reason=verdict.reason or "not shown for all sizes")
    return Verdict("unsupported", evidence, reason=verdict.reason or "no point could be compared",
                   seconds=time.perf_counter() - start)


# ---------------------------------------------------------------------- the proof
def _prove(q: GradientQuestion, seed: int, seconds: float) -> Verdict:
    assumed: list[sp.Expr] = []
    arrays = symbolic_arguments(q)
    sizes = {n: size(n) for n in q.integers}
    forward = q.read_forward({**arrays, **sizes}, assumed)
    given = dict(arrays)
    loss: sp.Expr = forward.body
    if q.cotangent is not None:
        name, shape = q.cotangent
        cotangent = array(name, tuple(_fixed(q, s) for s in shape))
        given[name] = cotangent
        loss = aligned(cotangent, forward.indices) * forward.body
        for i in reversed(forward.indices):
            loss = IndexSum(loss, i)
    elif forward.ndim:
        raise UnsupportedError(f"the forward pass has shape {forward.shape} and no cotangent is named")
    claimed = q.read_backward({**given, **sizes}, assumed)
    tensor = _tensor(arrays[q.variable])
    out = tuple(index("k", n) for n in tensor.shape)
    left = PartialDerivative(loss, Element(tensor, *out) if out else tensor)
    right = aligned(claimed, out)
    hypotheses = list(q.hypotheses(arrays)) if q.hypotheses is not None else []
    evidence: list[Evidence] = []
    began = time.perf_counter()
    answer = equal(left, right, hypotheses, seconds / 2)
    if not answer.equal and (left.has(sp.floor, sp.Mod) or right.has(sp.floor, sp.Mod)):
        # the same equality with every merged axis told by its digits
        split = [equal(a, b, hypotheses, seconds / 2) for _, a, b in cases(out, left, right)]
        answer = next((a for a in split if not a.equal), split[0])
    evidence.append(Evidence("canonical", answer.equal, "for all sizes" if answer.equal else "not shown",
                             time.perf_counter() - began))
    if not answer.equal:
        return Verdict("supported", tuple(evidence),
                       reason=f"the canonical form does not show it: {answer.residual[:160]}")
    fixed = {Size(n): low for n, (low, high) in q.sizes.items() if low == high}
    checked = check_equal(left, right, out, hypotheses, seed=seed, budget_seconds=min(1.0, seconds), thorough=False,
                          sizes=fixed or None)
    evidence += checked.evidence
    if checked.equal is not True:
        return Verdict("supported", tuple(evidence), reason=checked.reason or "the second path does not agree")
    needs = (forward.divisors, (*forward.divisors, *claimed.divisors))
    conditions = definedness(loss, right, hypotheses, needs)
    conditions += tuple(f"{form} ≥ 0" for form in dict.fromkeys(assumed) if not _implied(form, q.sizes))
    notes = tuple({"rounding": "up to rounding of the constants", "away from kinks": "away from kinks",
                   "tie": "away from ties"}[u]
                  for u in answer.used if u in ("rounding", "away from kinks", "tie"))
    return Verdict("proved", tuple(evidence), conditions, notes)


def symbolic_arguments(q: GradientQuestion) -> dict[str, Array]:
    """The declared arrays of a question; a size whose range is one number is that number."""
    return {name: array(name, tuple(_fixed(q, s) for s in shape), _symbolic_domain(q.domains.get(name, "real")))
            for name, shape in q.shapes.items()}


def _symbolic_domain(name: str) -> str:
    return "distinct" if name == "distinct" else name


def _fixed(q: GradientQuestion, text: str) -> sp.Expr:
    value = size(text)
    fixed = {Size(n): sp.Integer(low) for n, (low, high) in q.sizes.items() if low == high and low > 0}
    return value.xreplace(fixed)


def _tensor(value: Array) -> Tensor:
    body = value.body
    return body.tensor if isinstance(body, Element) else body


def _implied(form: sp.Expr, sizes: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a form in sizes is at least 0 for the least sizes allowed, and grows with them."""
    least = {s: sp.Integer(sizes.get(s.name, (1, 4))[0]) for s in form.free_symbols}
    return bool(form.xreplace(least) >= 0) and all(form.diff(s).is_nonnegative for s in form.free_symbols)


# ---------------------------------------------------------------------- running it
def first_mismatch(q: GradientQuestion, seed: int, deadline: float) -> tuple[tuple[Point, Mismatch] | None, int, int]:
    compared = points = 0
    for point in drawn_points(q, seed):
        if time.perf_counter() > deadline - 0.3 and compared:
            break

        def backward(given: Mapping[str, Any], point: Point = point) -> Any:
            return q.backward(_with_cotangent(q, point, given))

        kind = read_domain(q.domains.get(q.variable, "real"))
        checked = check_gradient(q.forward, backward, point.arguments, q.variable, point.cotangent,
                                 room=_room(kind, np.asarray(point.arguments[q.variable], dtype=float)),
                                 margin=q.avoid, special=bool(point.special))
        if checked.mismatch is not None:
            return (point, checked.mismatch), compared, points
        compared += checked.compared
        points += bool(checked.compared)
    return None, compared, points


def _with_cotangent(q: GradientQuestion, point: Point, given: Mapping[str, Any]) -> dict[str, Any]:
    copied = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    if q.cotangent is not None:
        assert point.cotangent is not None
        copied[q.cotangent[0]] = point.cotangent.copy()
    return copied


def _room(kind: Any, x: np.ndarray) -> np.ndarray:
    room = np.full(x.shape, np.inf)
    for low, high in kind.intervals:
        inside = (x > low) & (x < high)
        room = np.where(inside, np.minimum(x - low, high - x), room)
    return room


def drawn_points(q: GradientQuestion, seed: int) -> Iterator[Point]:
    """Points at sizes that differ, at every small size, and with special data that the domains allow."""
    for number, sizes in enumerate(_sizes(q, seed)):
        rng = generator(seed, q.name, number)
        point = _point(q, sizes, rng)
        if point is None:
            continue
        yield point
        if number < 3:
            yield from _special(q, point, rng)


def _sizes(q: GradientQuestion, seed: int) -> Iterator[dict[str, int]]:
    symbols = sorted({n for shape in [*q.shapes.values(), q.cotangent[1] if q.cotangent else ()] for text in shape
                      for n in _size_names(text)} | set(q.integers))
    rng = generator(seed, q.name, "sizes")
    ranges = {s: q.sizes.get(s, (1, 4)) for s in symbols}
    tried: list[dict[str, int]] = []

    def allowed(binding: dict[str, int]) -> bool:
        return binding not in tried and (q.sizes_allowed is None or q.sizes_allowed(binding))

    fixed = [{s: max(low, high - n % 2) for n, (s, (low, high)) in enumerate(ranges.items())},
             {s: low for s, (low, _) in ranges.items()}, {s: high for s, (_, high) in ranges.items()}]
    count = 12 if not symbols else 7
    for binding in fixed:
        if allowed(binding):
            tried.append(binding)
            yield binding
    for _ in range(40):
        if len(tried) >= (1 if not symbols else 7):
            break
        binding = {s: int(rng.integers(low, high + 1)) for s, (low, high) in ranges.items()}
        if allowed(binding):
            tried.append(binding)
            yield binding
    for _ in range(count - len(tried)):
        yield dict(tried[int(rng.integers(len(tried)))]) if tried else {}


def _point(q: GradientQuestion, sizes: dict[str, int], rng: np.random.Generator) -> Point | None:
    for _ in range(60):
        arguments: dict[str, Any] = {}
        for name, shape in q.shapes.items():
            dims = tuple(dimension(text, sizes) for text in shape)
            value = draw(q.domains.get(name, "real"), dims, rng, sizes)
            arguments[name] = value if dims else value.item()
        arguments |= {n: sizes[n] for n in q.integers}
        if q.prepare is not None:
            prepared = q.prepare(arguments, sizes)
            if prepared is None:
                continue
            arguments = prepared
        if q.where is not None and not np.all(q.where(arguments)):
            continue
        if q.avoid is not None:
            margin = np.asarray(q.avoid(arguments))
            if margin.size and np.min(np.abs(margin)) < 0.02:
                continue
        cotangent = rng.normal(size=tuple(dimension(t, sizes) for t in q.cotangent[1])) if q.cotangent else None
        return Point(sizes, arguments, cotangent)
    return None


def dimension(text: str, sizes: Mapping[str, int]) -> int:
    """A dimension at concrete sizes; besides arithmetic it may choose (``M if M < N else N``)."""
    return _whole(ast.parse(text, mode="eval").body, sizes, text)


def _whole(node: ast.expr, sizes: Mapping[str, int], text: str) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_whole(a, sizes, text), _whole(b, sizes, text))
        case ast.IfExp(test=ast.Compare(left=a, ops=[op], comparators=[b]), body=yes,
                       orelse=no) if type(op) in _COMPARISONS:
            holds = _COMPARISONS[type(op)](_whole(a, sizes, text), _whole(b, sizes, text))
            return _whole(yes if holds else no, sizes, text)
    raise FormulaError(f"cannot read the size {text!r} at {dict(sizes)}")


_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
_COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
                ast.Eq: operator.eq}


def _size_names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


def _special(q: GradientQuestion, point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """The point with zeros, ties and repeated entries where the domain has them."""
    for name in q.shapes:
        kind = read_domain(q.domains.get(name, "real"))
        value = point.arguments[name]
        if kind.name not in ("real", "nonnegative"):
            continue
        flat = np.array(value, dtype=float)
        changes: list[tuple[str, np.ndarray]] = []
        if flat.size:
            one = flat.copy()
            one.flat[int(rng.integers(flat.size))] = 0.0
            changes.append(("one entry 0", one))
            changes.append(("all entries 0", np.zeros_like(flat)))
        if flat.size > 1:
            tie = flat.copy()
            tie.flat[-1] = tie.flat[0]
            changes.append(("a tie", tie))
        for what, changed in changes:
            arguments = {**point.arguments, name: changed if changed.ndim else float(changed)}
            if q.prepare is not None:
                prepared = q.prepare(arguments, point.sizes)
                if prepared is None:
                    continue
                arguments = prepared
            if q.where is not None and not np.all(q.where(arguments)):
                continue
            if q.avoid is not None:
                margin = np.asarray(q.avoid(arguments))
                if margin.size and np.min(np.abs(margin)) < 1e-3:
                    continue
            yield Point(point.sizes, arguments, point.cotangent, f"{name}: {what}")


# ---------------------------------------------------------------------- what is said
def refutation(q: GradientQuestion, point: Point, mismatch: Mismatch, seconds: float = 0.0) -> Verdict:
    """The verdict "refuted" by what was found at a point."""
    said = _mismatch_text(q, point, mismatch)
    return Verdict("refuted", (Evidence("differences", False, said),),
                   counterexample=_counterexample(q, point, mismatch), reason=said, seconds=seconds)


def _mismatch_text(q: GradientQuestion, point: Point, m: Mismatch) -> str:
    sizes = ", ".join(f"{k}={v}" for k, v in point.sizes.items()) or "scalar"
    where = f" with {point.special}" if point.special else ""
    if m.what:
        return f"at {sizes}{where}: {m.what}"
    at = "[" + ", ".join(map(str, m.index)) + "]" if m.index else ""
    return (f"at {sizes}{where} the claimed gradient d{q.variable}{at} is {m.claimed:.12g}, "
            f"differences of the forward pass give {m.difference:.12g}")


def _counterexample(q: GradientQuestion, point: Point, m: Mismatch) -> Counterexample:
    inputs = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in point.arguments.items()}
    if q.cotangent is not None and point.cotangent is not None:
        inputs[q.cotangent[0]] = point.cotangent.tolist()
    ratio = m.claimed / m.difference if m.difference and np.isfinite(m.claimed) else float("nan")
    residual = m.what or ("the claim is not finite there" if not np.isfinite(m.claimed) else
                          "the claim has the opposite sign" if abs(ratio + 1) < 1e-6
                          else _factor_text(ratio, point.sizes))
    return Counterexample(point.sizes, inputs, m.index, f"{m.difference:.12g}", f"{m.claimed:.12g}", residual)


def _factor_text(ratio: float, sizes: Mapping[str, int]) -> str:
    for name, value in sizes.items():
        if value > 1 and abs(ratio - value) < 1e-6 * value:
            return f"the claim lacks the factor 1/{name}"
        if value > 1 and abs(ratio * value - 1) < 1e-6:
            return f"the claim lacks the factor {name}"
    return f"the claim is {ratio:.9g} times the derivative there" if np.isfinite(ratio) else ""
