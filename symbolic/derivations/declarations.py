"""What is declared of a definition's entries (p ∈ (0,1)) is a claim about its body, and is looked at as one.

Both paths use the domain of a name where the name stands for itself, so a false one would prove false things. Each has
to follow for all sizes; where it only agrees at points, the statement is not proved, and where points refute it the
statement is unsupported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from ..calculus.reverse import opaque
from ..canonical.equality import equal, holds
from ..checking import check_equal
from ..language.hypotheses import Hypothesis
from ..language.indices import Index, index
from ..language.nodes import DefinedTensor, IndexSum, Indicator, tensors

_SECONDS = 0.2


@dataclass(frozen=True)
class Doubt:
    """What is wrong with a declared domain: it is `false` (or cannot be checked at all), or merely not proved."""

    false: bool
    reason: str


def doubt(expressions: Sequence[sp.Expr], hypotheses: Sequence[Hypothesis], seed: int = 0) -> Doubt | None:
    """The worst that is to be said of the domains of the definitions in the expressions; None where all are proved."""
    found = [d for t in tensors(expressions) if isinstance(t, DefinedTensor) and t.domain.name != "real"
             for d in [_doubt(t, tuple(hypotheses), seed)] if d is not None]
    return next((d for d in found if d.false), found[0] if found else None)


# A definition stands in many steps and adjoints, and equal ones are one object.
@lru_cache(maxsize=4096)
def _doubt(t: DefinedTensor, hypotheses: tuple[Hypothesis, ...], seed: int) -> Doubt | None:
    at = tuple(index("i", n) for n in t.shape)
    claims = _claims(t, at)
    declared = f"the definition {t.name} is declared {t.domain.name!r}"
    if claims is None:
        return Doubt(True, f"{declared}, which cannot be checked; declare it real")
    proved = True
    for claim in claims:
        # First with the names in it standing for themselves; others may have to be known for it, as in rows of
        # softmax(z) sum to one.
        if _shown(claim.names_alone(), hypotheses) or _shown(claim, hypotheses):
            continue
        proved = False
        left, right = claim.sides()
        found = check_equal(left, right, at, hypotheses, seed=seed, budget_seconds=_SECONDS)
        if found.equal is False:
            sizes = ", ".join(f"{k}={v}" for k, v in found.counterexample.sizes.items())  # type: ignore[union-attr]
            return Doubt(True, f"{declared}, and is not so at {sizes or 'some inputs'}; declare it real, or what it is "
                               "made of in another way")
    return None if proved else Doubt(False, f"{declared}, which was compared at points without a difference, but is "
                                            "not proved; declare it real")


@dataclass(frozen=True)
class _Claim:
    """A condition, or an equality of two sides."""

    left: sp.Basic
    right: sp.Expr | None = None

    def sides(self) -> tuple[sp.Expr, sp.Expr]:
        """As an equality, which points may refute."""
        return (Indicator(self.left), sp.Integer(1)) if self.right is None else (self.left, self.right)

    def names_alone(self) -> _Claim:
        """The same of definitions that stand for themselves."""
        if self.right is None:
            return _Claim(self.left.func(*map(opaque, self.left.args)))
        return _Claim(opaque(self.left), opaque(self.right))


def _shown(claim: _Claim, hypotheses: Sequence[Hypothesis]) -> bool:
    if claim.right is None:
        return holds(claim.left, hypotheses)
    return equal(claim.left, claim.right, hypotheses).equal


def _claims(t: DefinedTensor, at: tuple[Index, ...]) -> list[_Claim] | None:
    """The domain of a definition as claims about its body; None where it says what none of ours can."""
    d, body = t.domain, t.at(*at)
    if d.label_size or d.one_hot or len(at) < d.axes or not (d.intervals or d.values):
        return None
    claims = []
    if d.values:
        claims.append(_Claim(sp.Mul(*(body - sp.nsimplify(v) for v in d.values)), sp.Integer(0)))
    elif len(d.intervals) > 1:
        # no drawn point is a zero, so here the canonical form must know it
        return [] if d.name == "nonzero" and holds(sp.Ne(body, 0)) else None
    elif d.low == -math.inf and d.high == math.inf and not (d.rows_sum_to_one or d.symmetric):
        return None  # a name that says more than an interval does, such as "invertible"
    else:
        claims += map(_Claim, _bounds(body, t))
    if d.rows_sum_to_one:
        claims.append(_Claim(IndexSum(body, at[-1]), sp.Integer(1)))
    if d.symmetric:
        if d.name != "symmetric" or len(at) != 2:
            return None
        claims.append(_Claim(body, t.at(at[1], at[0])))
    return claims


def _bounds(body: sp.Expr, t: DefinedTensor) -> Iterable[sp.Basic]:
    low, high = sp.nsimplify(t.domain.low), sp.nsimplify(t.domain.high)
    if low != -sp.oo:
        yield sp.Ge(body, low) if t.domain.closed_low else sp.Gt(body, low)
    if high != sp.oo:
        yield sp.Le(body, high) if t.domain.closed_high else sp.Lt(body, high)
