"""Right claims made wrong: mutations of the claimed gradient's syntax tree, and a referee that compares it with the
original.

The referee shares nothing with the judge but the drawing of inputs: it runs both gradients at many points and
compares them with
each other, where the judge compares one with differences of the forward pass.
"""

from __future__ import annotations

import ast
import copy
import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from lemmata.claims import Claim, question
from lemmata.gradients_of_code import GradientQuestion, Point, drawn_points

Data = Mapping[str, Any]
Change = Callable[[ast.expr], ast.expr]


def _name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _edits(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What may be done to one node: the kind of the mutation, and the new node."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield "dropped term", lambda n: n.left
            yield "dropped term", lambda n: n.right
            yield "sign", lambda n: ast.BinOp(n.left, ast.Sub() if isinstance(n.op, ast.Add) else ast.Add(), n.right)
        case ast.BinOp(op=ast.Div()):
            yield "factor", lambda n: n.left
            yield "factor", lambda n: ast.BinOp(n.left, ast.Mult(), n.right)
        case ast.BinOp(op=ast.Mult()):
            yield "dropped factor", lambda n: n.left
            yield "dropped factor", lambda n: n.right
        case ast.Attribute(attr="T"):
            yield "transposed", lambda n: n.value
        case ast.Call(func=function, keywords=keywords):
            if _name(function, "mean"):
                yield "missing mean", lambda n: _renamed(n, "sum")
            if _name(function, "sum"):
                yield "mean for sum", lambda n: _renamed(n, "mean")
            for k, word in enumerate(keywords):
                if word.arg == "axis":
                    yield "wrong axis", lambda n, k=k: _other_axis(n, k)  # type: ignore[misc]
        case ast.Constant(value=float() | int()) if not isinstance(node.value, bool) and node.value not in (0, 1):
            yield "constant", lambda n: ast.Constant(n.value + 1)


def _renamed(call: ast.Call, name: str) -> ast.Call:
    assert isinstance(call.func, ast.Attribute)
    return ast.Call(ast.Attribute(call.func.value, name, ast.Load()), call.args, call.keywords)


def _other_axis(call: ast.Call, k: int) -> ast.Call:
    axis = call.keywords[k].value
    try:
        value = ast.literal_eval(axis)
    except ValueError:
        value = 0
    other = {0: 1, 1: 0, -1: 0, 2: 1, -2: -1}.get(value, 0) if isinstance(value, int) else 0
    keywords = [ast.keyword(w.arg, ast.Constant(other)) if n == k else w for n, w in enumerate(call.keywords)]
    return ast.Call(call.func, call.args, keywords)


def _scaled(factor: float) -> Change:
    return lambda n: ast.BinOp(ast.Constant(factor), ast.Mult(), n)


_WHOLE: dict[str, Change] = {
    "sign": lambda n: ast.UnaryOp(ast.USub(), n),
    "factor": _scaled(2.0),
    "nearly": _scaled(1 + 9e-4),
    "nearly below": _scaled(1 - 9e-4),
}


def mutants(data: Data) -> list[dict[str, Any]]:
    """All mutants of a right claim, in the order of its source; their ids say what was done."""
    mode = "exec" if "shapes" in data else "eval"
    tree = ast.parse(data["claimed"], mode=mode)
    found: list[tuple[str, str]] = []
    results = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    for kind, change in _WHOLE.items():
        if isinstance(tree, ast.Expression):
            found.append((kind, ast.unparse(ast.Expression(change(tree.body)))))
        elif results:
            changed = copy.deepcopy(tree)
            last = [n for n in ast.walk(changed) if isinstance(n, ast.Return)][-1]
            last.value = change(last.value)  # type: ignore[arg-type]
            found.append((kind, ast.unparse(ast.fix_missing_locations(changed))))
    for place, node in enumerate(ast.walk(tree)):
        for number, (kind, _) in enumerate(_edits(node)):
            changed = copy.deepcopy(tree)
            target = next(itertools.islice(ast.walk(changed), place, None))
            _, change = next(itertools.islice(_edits(target), number, None))
            changed = _Replace(target, change(target)).visit(changed)  # type: ignore[arg-type]
            found.append((kind, ast.unparse(ast.fix_missing_locations(changed))))
    unique = {text: kind for kind, text in reversed(found) if text != ast.unparse(tree)}
    return [
        {**data, "id": f"{data['id']}: {kind} #{n}", "claimed": text + ("\n" if mode == "exec" else "")}
        for n, (text, kind) in enumerate(reversed(unique.items()))
    ]


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else super().generic_visit(node)


def drawn(claims: list[Data], count: int, seed: int) -> list[tuple[Data, dict[str, Any]]]:
    """`count` mutants that run, with their originals: every claim and every kind of mutation as often as can be,
    by a seed.
    """
    chooser = random.Random(seed)
    every = [(c, m) for c in claims if c.get("true", True) for m in mutants(c)]
    chooser.shuffle(every)
    chosen: list[tuple[Data, dict[str, Any]]] = []
    uses: dict[str, int] = {}
    while every and len(chosen) < count:
        # The claim and the kind that were used least; the order of the shuffle decides between equals.
        best = min(every, key=lambda p: uses.get(str(p[0]["id"]), 0) + uses.get(_kind(p[1]), 0) / 10)
        every.remove(best)
        if not runs(best[1]):  # shapes that do not fit are no wrong gradient but none
            continue
        for key in (str(best[0]["id"]), _kind(best[1])):
            uses[key] = uses.get(key, 0) + 1
        chosen.append(best)
    return chosen


def _kind(mutant: Data) -> str:
    return str(mutant["id"]).rpartition(": ")[2].partition(" #")[0]


def runs(mutant: Data) -> bool:
    """Whether a mutant gives a gradient at the first points that are drawn."""
    q = question(Claim("runs", mutant))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for point in itertools.islice(drawn_points(q, 0), 8):
            try:
                q.backward(_given(q, point))
            except (ArithmeticError, np.linalg.LinAlgError):
                continue
            except Exception:
                return False
    return True


def distance(original: Data, mutant: Data, seed: int = 101, rounds: int = 6) -> float | None:
    """The greatest relative difference of the two gradients at many points; None for a mutant that does not run.

    A gradient of another shape, and a value that is not finite where the other one is, count as 1.
    """
    right, wrong = question(Claim("right", original)), question(Claim("wrong", mutant))
    worst, compared = 0.0, 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for turn in range(rounds):
            for point in drawn_points(right, seed + turn):
                if point.special:  # a subgradient may be chosen either way
                    continue
                try:
                    a = np.asarray(right.backward(_given(right, point)), dtype=float)
                except (ArithmeticError, np.linalg.LinAlgError):
                    continue
                try:
                    b = np.asarray(wrong.backward(_given(right, point)), dtype=float)
                except Exception:
                    return None
                compared += 1
                if a.shape != b.shape:
                    return 1.0
                both = np.isfinite(a) & np.isfinite(b)
                if np.any(np.isfinite(a) != np.isfinite(b)):
                    return 1.0
                scale = max(float(np.max(np.abs(a[both]), initial=0.0)), 1e-2)
                worst = max(worst, float(np.max(np.abs(a[both] - b[both]), initial=0.0)) / scale)
    return worst if compared else None


def _given(q: GradientQuestion, point: Point) -> dict[str, Any]:
    given = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in point.arguments.items()}
    return given if q.cotangent is None else {**given, q.cotangent[0]: point.cotangent.copy()}  # type: ignore[union-attr]
