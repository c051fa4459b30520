"""Files of gradient claims: one JSON object a line, a forward pass and a claimed gradient as NumPy source.

The sources are executed, as importing a module would: a file of claims is code. The format: scalar claims have
`params`, `domain`, `forward`, `wrt`, `claimed` (expressions); tensor claims have `shapes`, `domain`, `forward`, `wrt`,
`upstream`, `claimed` (functions `forward` and `backward`); both may have `avoid`, `where`, `dims`, `dim_where`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from .gradients_of_code import GradientQuestion, prove_question
from .symbolic.derivations.model import Verdict
from .symbolic.language.errors import FormulaError
from .symbolic.language.hypotheses import Hypothesis
from .symbolic.rendering.verdict import verdict_data
from .symbolic.tracing import trace_expression, trace_source


@dataclass(frozen=True)
class Claim:
    """One line of a file of claims."""

    id: str
    data: Mapping[str, Any]

    @property
    def is_tensor(self) -> bool:
        """Whether arrays are involved."""
        return "shapes" in self.data


def read_claims(path: str | Path) -> Iterator[Claim]:
    """The claims of a file; a malformed line is an error with its number."""
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except json.JSONDecodeError as error:
            raise FormulaError(f"{path}, line {number} is not JSON: {error.msg} at column {error.colno}") from None
        missing = {"forward", "wrt", "claimed"} - set(data)
        if missing:
            raise FormulaError(f"{path}, line {number} has no {', '.join(sorted(missing))}; a claim needs forward, wrt "
                               f"and claimed")
        yield Claim(str(data.get("id", f"line {number}")), data)


def question(claim: Claim) -> GradientQuestion:
    """A claim as a question: its sources compiled, its arguments described."""
    return _tensor_question(claim) if claim.is_tensor else _scalar_question(claim)


def judge_claim(data: Mapping[str, Any], seconds: float = 10.0, seed: int = 0) -> dict[str, Any]:
    """The verdict on one claim as JSON data with `id`, `verdict`, `seconds`, evidence and counterexample."""
    claim = Claim(str(data.get("id", "claim")), data)
    try:
        verdict = prove_question(question(claim), seconds=seconds, seed=seed)
    except Exception as error:  # a claim that cannot even be set up is answered, not lost
        verdict = Verdict("unsupported", reason=f"{type(error).__name__}: {error}")
    return {"id": claim.id, **verdict_data(verdict)}


def _environment() -> dict[str, Any]:
    space: dict[str, Any] = {"np": np}
    try:
        import scipy
        import scipy.special

        space["scipy"] = scipy
    except ImportError:  # claims that need it fail with their own error
        pass
    return space


def _scalar_question(claim: Claim) -> GradientQuestion:
    e = claim.data
    space = _environment()
    params = list(e["params"])
    forward, backward = (compile(e[k], f"<{claim.id}:{k}>", "eval") for k in ("forward", "claimed"))
    avoid = [compile(a, f"<{claim.id}:avoid>", "eval") for a in e.get("avoid", [])]
    where = compile(e["where"], f"<{claim.id}:where>", "eval") if "where" in e else None
    return GradientQuestion(
        claim.id, lambda **given: eval(forward, dict(space), given),
        lambda given: eval(backward, dict(space), dict(given)),
        lambda given, assumed: trace_expression(e["forward"], given, assumed),
        lambda given, assumed: trace_expression(e["claimed"], given, assumed),
        e["wrt"], dict.fromkeys(params, ()), {p: e["domain"][p] for p in params},
        avoid=(lambda given: np.array([float(eval(a, dict(space), dict(given))) for a in avoid])) if avoid else None,
        where=(lambda given: eval(where, dict(space), dict(given))) if where is not None else None,
        hypotheses=(lambda arrays: conditions_of(trace_expression(e["where"], arrays).body)) if where is not None
        else None)


def conditions_of(body: Any) -> list[Hypothesis]:
    """A traced condition as hypotheses: the strict and non-strict comparisons that all must hold.

    Only a product of comparisons is read; another condition (an `or`) gives none, and is used for drawing points only.
    """
    found = []
    for factor in sp.Mul.make_args(body):
        relation = getattr(factor, "condition", None)
        if isinstance(relation, (sp.Gt, sp.Ge)):
            found.append(Hypothesis(">" if isinstance(relation, sp.Gt) else ">=", relation.lhs - relation.rhs,
                                    sp.S.Zero))
        elif isinstance(relation, (sp.Lt, sp.Le)):
            found.append(Hypothesis(">" if isinstance(relation, sp.Lt) else ">=", relation.rhs - relation.lhs,
                                    sp.S.Zero))
    return found


def _tensor_question(claim: Claim) -> GradientQuestion:
    e = claim.data
    spaces = []
    for key in ("forward", "claimed"):
        space = _environment()
        exec(compile(e[key], f"<{claim.id}:{key}>", "exec"), space)
        spaces.append(space)
    forward, backward = spaces[0]["forward"], spaces[1]["backward"]
    names = forward.__code__.co_varnames[: forward.__code__.co_argcount]
    wanted = backward.__code__.co_varnames[: backward.__code__.co_argcount]
    shapes = {n: tuple(str(s) for s in e["shapes"][n]) for n in names if n in e["shapes"]}
    up = e["upstream"]
    sizes = {k: (int(v[0]), int(v[1])) for k, v in e.get("dims", {}).items()}
    allowed = e.get("dim_where")
    avoid = compile(e["avoid"], f"<{claim.id}:avoid>", "eval") if "avoid" in e else None
    return GradientQuestion(
        claim.id, forward, lambda given: backward(**{n: given[n] for n in wanted}),
        lambda given, assumed: trace_source(e["forward"], "forward", {n: given[n] for n in names}, assumed,
                                            f"<{claim.id}:forward>"),
        lambda given, assumed: trace_source(e["claimed"], "backward", {n: given[n] for n in wanted}, assumed,
                                            f"<{claim.id}:claimed>"),
        e["wrt"], shapes, {n: d for n, d in e["domain"].items() if n in shapes},
        cotangent=None if up is None else (up["name"], tuple(str(s) for s in up["shape"])),
        integers=tuple(n for n in names if n not in e["shapes"]), sizes=sizes,
        sizes_allowed=(lambda dims: bool(eval(allowed, {}, dict(dims)))) if allowed else None,
        avoid=(lambda given: eval(avoid, _environment(), {n: given[n] for n in names})) if avoid is not None else None)
