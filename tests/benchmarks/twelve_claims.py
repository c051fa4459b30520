"""Twelve textbook claims: eleven true ones proved for every size, a false one refuted, each beside its peers.

A claim is the theorem of the registry. Before it is timed, the canonical form (for all sizes) and the second path have
each to prove it alone, and a claim scaled by 1 + 9e-4 must not be proved. The time is that of making the derivation
and proving its statements on both paths. `python -m tests.benchmarks.twelve_claims` from the repository root.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import sympy as sp

import lemmata as lm
from lemmata.symbolic.derivations.model import Derivation

from .ours import canonical, make, second_path, statement
from .tables import milliseconds, table
from .tensorgrad_route import measure_tensorgrad
from .textbook_sympy import ROUTES
from .timing import OutOfTime, WrongAnswer, at_most, once, timed

THEOREMS = {
    "softmax Jacobian": "deriv_softmax",
    "cross-entropy gradient": "deriv_cross_entropy_softmax",
    "BCE derivative": "deriv_bce_logits",
    "σ(−z) = 1 − σ(z)": "sigmoid_neg",
    "BCE, log form": "bce_logits_eq_softplus",
    "softmax(z + c) = softmax(z)": "softmax_add_const",
    "KL gradient": "deriv_kl_divergence_softmax_second",
    "GELU′": "deriv_gelu",
    "RMSNorm gradients": "vjp_rms_norm",
    "LayerNorm gradients": "vjp_layer_norm",
    "attention gradients": "vjp_attention",
}
FALSE = "false: p − y for labels of any sum"
AIM = 1000.0  # milliseconds a claim
SECONDS = 30.0  # for one attempt of SymPy
RUNS = 5
_SPOILED = sp.Rational(10_009, 10_000)


@dataclass(frozen=True)
class Claim:
    """One row, in milliseconds: to derive, to prove, and SymPy's time at the size named, or why there is none."""

    name: str
    theorem: str
    verdict: str
    statements: int
    derive: float
    prove: float
    sympy_size: str
    sympy: float | None
    sympy_said: str

    @property
    def both(self) -> float:
        """Milliseconds from the theorem's name to its verdict."""
        return self.derive + self.prove


def spoiled(d: Derivation, number: int = 0) -> Derivation:
    """The derivation with the right side of its statement, or of one of its statements, scaled by 1 + 9e-4."""
    if not d.parts:
        return replace(d, right=d.right * _SPOILED)
    parts = list(d.parts)
    parts[number] = replace(parts[number], right=parts[number].right * _SPOILED)
    return replace(d, parts=tuple(parts))


def verify(d: Derivation) -> None:
    """Raise `WrongAnswer` unless each path alone proves the claim, and no spoiled statement of it is proved."""
    if not canonical(d) or second_path(d) is not True:
        raise WrongAnswer(f"{d.name}: canonical form {canonical(d)}, second path {second_path(d)}")
    for number in range(max(1, len(d.parts))):
        wrong = spoiled(d, number)
        if statement(wrong) == "proved" or canonical(wrong) or second_path(wrong):
            raise WrongAnswer(f"{d.name}: statement {number} is proved after it was scaled by 1 + 9e-4")


def false_claim(hypothesis: bool = False) -> Derivation:
    """∂(−Σ y log softmax(z))/∂z = p − y without Σy = 1: false. With the hypothesis it is the theorem."""
    z, y = lm.array("z", "K"), lm.array("y", "K")
    p = lm.softmax(z)
    loss = -lm.sum(y * lm.log(p))
    given = [lm.equal(lm.sum(y), 1)] if hypothesis else []
    return lm.prove(lm.partial(loss, z), p - y, given=given).derivation


def measure_claims() -> list[Claim]:
    """All twelve, in order."""
    known = lm.theorems()
    found = []
    for name, theorem in THEOREMS.items():
        d = make(known[theorem])
        verify(d)
        derive = timed(lambda t=known[theorem]: make(t), lambda made: statement(made) == "proved", RUNS)
        prove = timed(lambda d=d: statement(d), lambda verdict: verdict == "proved", RUNS)
        found.append(Claim(name, theorem, "proved", max(1, len(d.parts)), derive.new, prove.new, *_peer(name)))
    return [*found, _measure_false()]


def _measure_false() -> Claim:
    if statement(false_claim(hypothesis=True)) != "proved":
        raise WrongAnswer("the cross-entropy gradient with Σy = 1 is not proved")
    d = false_claim()
    # Declaring the question proves or refutes it too: what is timed here is the judgement alone.
    refute = timed(lambda: statement(d), lambda verdict: verdict == "refuted", RUNS)
    return Claim(FALSE, "—", "refuted", 1, 0.0, refute.new, *_peer(FALSE))


def _peer(name: str) -> tuple[str, float | None, str]:
    """SymPy's size, milliseconds and answer; it is not timed when it shows a spoiled claim."""
    size, route = ROUTES[name]
    try:
        with at_most(SECONDS):
            shown, taken = once(lambda: route(False))
        if not shown:
            return size, None, "not shown"
        with at_most(SECONDS):
            if route(True):
                raise WrongAnswer(f"SymPy's route for {name} accepts a spoiled claim")
    except OutOfTime:
        return size, None, f"over {SECONDS:g} s"
    return size, taken, "shown"


def measure() -> dict[str, Any]:
    """The rows and tensorgrad's answer, as they are written to bench.json."""
    return {"claims": [asdict(c) | {"both": c.both} for c in measure_claims()], "tensorgrad": measure_tensorgrad()}


def report(found: dict[str, Any]) -> str:
    """The table, with how many are settled and how many within the aim."""
    rows = [
        [
            c["name"],
            c["theorem"],
            c["verdict"],
            str(c["statements"]),
            milliseconds(c["derive"]) if c["derive"] else "—",
            milliseconds(c["prove"]),
            milliseconds(c["both"]),
            c["sympy_said"] if c["sympy"] is None else milliseconds(c["sympy"]),
            c["sympy_size"],
        ]
        for c in found["claims"]
    ]
    within = sum(c["both"] < AIM for c in found["claims"])
    tensorgrad = found["tensorgrad"]
    said = tensorgrad.get("skipped") or f"{milliseconds(tensorgrad['derivative and simplification'])} ms"
    return "\n\n".join(
        [
            "## Twelve textbook claims (ms)",
            f"{len(rows)} of {len(rows)} settled, for every size; {within} of them within {AIM / 1000:g} s. SymPy is "
            "asked at one small size, entry by entry.",
            table(
                ["claim", "theorem", "verdict", "statements", "derive", "prove", "both", "SymPy", "SymPy at"],
                rows,
            ),
            f"tensorgrad, softmax Jacobian: {said}.",
        ]
    )


if __name__ == "__main__":
    print(report(measure()))
