"""What is declared of a definition's entries (p ∈ (0,1)) is a claim about its body, and is looked at as one.

Both paths use the domain of a name where the name stands for itself, so a false one would prove false things. The
second path tries each at small sizes; what it refutes makes the statement unsupported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import sympy as sp

from ..calculus.reverse import opaque
from ..canonical.equality import equal
from ..checking import check_equal
from ..language.hypotheses import Hypothesis
from ..language.indices import Index, index
from ..language.nodes import DefinedTensor, IndexSum, Indicator, tensors

_SECONDS = 0.2


def false_declaration(expressions: Sequence[sp.Expr], hypotheses: Sequence[Hypothesis], seed: int = 0) -> str:
    """Why the domain of a definition in the expressions cannot be relied on; an empty string where nothing is wrong."""
    for t in tensors(expressions):
        if not isinstance(t, DefinedTensor) or t.domain.name == "real":
            continue
        at = tuple(index("i", n) for n in t.shape)
        claims = _claims(t, at)
        if claims is None:
            return f"the definition {t.name} is declared {t.domain.name!r}, which cannot be checked; declare it real"
        for left, right in claims:
            found = check_equal(opaque(left), opaque(right), at, hypotheses, seed=seed, budget_seconds=_SECONDS)
            if found.equal is False:  # other names may have to be known for it, as in rows of softmax(z) sum to one
                found = check_equal(left, right, at, hypotheses, seed=seed, budget_seconds=_SECONDS)
            if found.equal is False:
                sizes = ", ".join(f"{k}={v}" for k, v in found.counterexample.sizes.items())  # type: ignore[union-attr]
                return (f"the definition {t.name} is declared {t.domain.name!r}, and is not so at "
                        f"{sizes or 'some inputs'}; declare it real, or what it is made of in another way")
    return ""


def _claims(t: DefinedTensor, at: tuple[Index, ...]) -> list[tuple[sp.Expr, sp.Expr]] | None:
    """The domain of a definition as equalities of its body; None where there are none that points can refute."""
    d, body = t.domain, t.at(*at)
    if d.label_size or d.one_hot or not (d.intervals or d.values):
        return None
    claims = []
    if d.values:
        claims.append((sp.Mul(*(body - sp.nsimplify(v) for v in d.values)), sp.Integer(0)))
    elif len(d.intervals) > 1:
        # no drawn point is a zero, so here the canonical form must know it
        return [] if equal(Indicator(sp.Ne(body, 0)), sp.Integer(1)).equal and d.name == "nonzero" else None
    elif d.low == -math.inf and d.high == math.inf and not (d.rows_sum_to_one or d.symmetric):
        return None  # a name that says more than an interval does, such as "invertible"
    else:
        claims += [(Indicator(c), sp.Integer(1)) for c in _bounds(body, t) if c not in (True, sp.true)]
    if d.rows_sum_to_one:
        claims.append((IndexSum(body, at[-1]), sp.Integer(1)))
    if d.symmetric:
        if d.name != "symmetric" or len(at) != 2:
            return None
        claims.append((body, t.at(at[1], at[0])))
    return claims


def _bounds(body: sp.Expr, t: DefinedTensor) -> Iterable[sp.Basic]:
    low, high = sp.nsimplify(t.domain.low), sp.nsimplify(t.domain.high)
    if low != -sp.oo:
        yield sp.Ge(body, low) if t.domain.closed_low else sp.Gt(body, low)
    if high != sp.oo:
        yield sp.Le(body, high) if t.domain.closed_high else sp.Lt(body, high)
