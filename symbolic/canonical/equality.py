"""Deciding equality for all sizes: the difference of two canonical forms is zero, if need be over a common denominator.

The answer is one-sided. `True` means that the two expressions are equal for every size, wherever both are defined;
`False`
means only that the canonical form did not show it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from itertools import permutations as orders
from math import ceil

import sympy as sp

from ..language.errors import HypothesisError
from ..language.hypotheses import Hypothesis
from ..language.nodes import free_indices, replace
from . import algebra, bessel, indicators, permutations, signs, sums
from .context import Context, SumRule, TooLarge, Undefined
from .reader import Reader
from .terms import ONE, ONE_Q, Atom, Mono, Poly, add, merge, of_atom, of_mono, scale, skeleton, sort_mono, subtract


@dataclass(frozen=True)
class Equality:
    """The answer of the canonical form: `equal`, the seconds it took, what it used, and the residual's text when
    it is not.
    """

    equal: bool
    seconds: float
    used: tuple[str, ...] = ()
    residual: str = ""


def context_for(hypotheses: Sequence[Hypothesis] = (), seconds: float | None = 20.0) -> Reader:
    """A reader in a fresh context with the rules that hypotheses give."""
    reader = Reader(Context(seconds=seconds))
    for h in hypotheses:
        add_hypothesis(reader, h)
    reader.memo.clear()  # what was read before a rule was known is read again
    return reader


def equal(
    left: sp.Expr, right: sp.Expr, hypotheses: Sequence[Hypothesis] = (), seconds: float | None = 20.0
) -> Equality:
    """Whether two index expressions with the same free indices are equal for all sizes, under hypotheses.

    >>> from lemmata.symbolic.language import vocabulary as np
    >>> from lemmata.symbolic.language.arrays import array
    >>> z = array("z", "K")
    >>> equal(np.sum(np.softmax(z)).body, 1).equal
    True
    """
    start = time.perf_counter()
    reader = context_for(hypotheses, seconds)
    yes, residual = True, ""
    try:
        for a, b in _small_cases(sp.sympify(left), sp.sympify(right)):
            difference = subtract(reader.read(a), reader.read(b))
            if not is_zero(reader.ctx, difference):
                # Its terms are in letters of our own, which tell a reader nothing.
                terms = len(difference.terms)
                yes, residual = False, f"the canonical forms differ, by {terms} term{'' if terms == 1 else 's'}"
                break
    except (TooLarge, Undefined) as error:
        yes, residual = False, str(error)
    except RecursionError:
        yes, residual = False, "the expression is nested too deeply for the canonical form"
    return Equality(yes, time.perf_counter() - start, tuple(reader.ctx.used), residual)


def holds(condition: sp.Basic, hypotheses: Sequence[Hypothesis] = (), seconds: float | None = 20.0) -> bool:
    """Whether a condition on real expressions follows, for all sizes, from domains and hypotheses.

    >>> from lemmata.symbolic.language import vocabulary as np
    >>> from lemmata.symbolic.language.arrays import array
    >>> p = np.softmax(array("z", "K")).body
    >>> holds(p <= 1), holds(p < 1)
    (True, False)
    """
    if not isinstance(condition, sp.Rel):
        return condition is sp.true  # SymPy has decided it
    try:
        reader = context_for(hypotheses, seconds)
        return all(_stands_so(reader.ctx, condition.rel_op, subtract(reader.read(a), reader.read(b)))
                   for a, b in _small_cases(condition.lhs, condition.rhs))
    except (TooLarge, Undefined, RecursionError):
        return False


_WANTED = {">": ("+",), ">=": ("+", "0+"), "<": ("-",), "<=": ("-", "0-"), "!=": ("+", "-", "!")}


def _stands_so(ctx: Context, relation: str, difference: Poly) -> bool:
    if not difference.terms:  # no sign word says zero alone
        return relation in (">=", "<=")
    return signs.sign_by_factors(ctx, difference) in _WANTED.get(relation, ())


def _small_cases(left: sp.Expr, right: sp.Expr) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Free indices over a few numbered places are tried one by one; a symbolic size stays as it is."""
    free = dict.fromkeys([*free_indices(left), *free_indices(right)])
    small = [i for i in free if i.size.is_Integer and i.size <= sums.MAX_WRITTEN_OUT]
    if not small or sp.Mul(*(i.size for i in small)) > 64:
        yield left, right
        return
    for values in product(*(range(int(i.size)) for i in small)):
        mapping = {i: sp.Integer(v) for i, v in zip(small, values, strict=True)}
        yield replace(left, mapping), replace(right, mapping)


def add_hypothesis(reader: Reader, h: Hypothesis) -> None:
    """Turn a hypothesis into a rewriting rule or a known sign."""
    ctx = reader.ctx
    left, right = reader.read(h.left), reader.read(h.right)
    difference = subtract(left, right)
    if h.relation == "==" and not difference.terms:
        return  # it is known already: Σ y = 1 of a row of a simplex, or of a softmax
    whole = _whole_array(difference)
    if h.relation in (">", "!="):
        if whole is not None:
            (ctx.positive_names if h.relation == ">" else ctx.nonzero_names).add(whole)
        (ctx.positive_polys if h.relation == ">" else ctx.nonzero_polys).append(difference)
        return
    if h.relation == ">=":
        return  # a sign that may be 0 is given by an array's domain; as a hypothesis it is for the second path
    ctx.fixed_names.update(a.data[0] for a in _elements_in(difference))
    variables = tuple(reader.index_atom(i) for i in h.indices)
    sum_terms = [(m, c) for m, c in difference.terms.items() if len(m) == 1 and m[0][0].kind == "sum" and m[0][1] == 1]
    if sum_terms:
        (mono, c) = max(sum_terms, key=lambda item: item[0][0][0].digest)
        atom: Atom = mono[0][0]
        rest = scale(Poly({m: v for m, v in difference.terms.items() if m != mono}), -ONE_Q / c)
        fresh, body = sums.open_sum(ctx, atom)
        if c == 1 and permutations.recognise(ctx, body, fresh, variables, rest):
            return
        if len(body.terms) == 1 and next(iter(body.terms.values())) == 1:
            if not variables:
                ctx.atom_rules[atom] = rest
            ctx.sum_rules.append(SumRule(fresh, next(iter(body.terms)), variables, rest, str(h)))
            return
    elements = [
        (m, c)
        for m, c in difference.terms.items()
        if len(m) == 1 and m[0][1] == 1 and m[0][0].kind == "el" and not m[0][0].free
    ]
    if elements:
        mono, c = elements[0]
        ctx.atom_rules[mono[0][0]] = scale(Poly({m: v for m, v in difference.terms.items() if m != mono}), -ONE_Q / c)
        return
    raise HypothesisError(
        f"the hypothesis {h} gives no rule: a rule needs a sum over one monomial (sum(y) = 1) or a scalar on its "
        "left side"
    )


def _whole_array(p: Poly) -> str | None:
    """The array whose element, at indices that stand for any, is all of p."""
    if len(p.terms) != 1:
        return None
    ((mono, c),) = p.terms.items()
    if c != 1 or len(mono) != 1 or mono[0][1] != 1 or mono[0][0].kind != "el":
        return None
    indices = [next(iter(i.terms)) for i in mono[0][0].data[2]]
    if all(len(i) == 1 and i[0][0].kind == "ix" and i[0][1] == 1 for i in indices) and len(set(indices)) == len(
        indices
    ):
        return str(mono[0][0].data[0])
    return None


def _elements_in(part: object) -> list[Atom]:
    """Every element atom inside a polynomial, at any depth."""
    if isinstance(part, Poly):
        return [e for m in part.terms for a, _ in m for e in _elements_in(a)]
    if isinstance(part, Atom):
        own = [part] if part.kind == "el" else []
        return own + [e for d in part.data for e in _elements_in(d)]
    if isinstance(part, tuple):
        return [e for d in part for e in _elements_in(d)]
    return []


# ---------------------------------------------------------------------- zero
def is_zero(ctx: Context, p: Poly, depth: int = 0) -> bool:
    """Whether a polynomial vanishes identically: as it is, over a common denominator, or sum by sum."""
    if not p.terms:
        return True
    p = away_from_kinks(ctx, p)
    p = clear_denominators(ctx, p)
    if not p.terms:
        return True
    p = integer_equalities(ctx, p)
    if not p.terms:
        return True
    if depth >= 3:
        return False
    if depth == 0:
        p = oriented(ctx, p)
        if not p.terms:
            return True
    continued = bessel.by_continuity(ctx, p)
    if continued is not None and is_zero(ctx, continued, depth + 1):
        return True
    merged = merge_sums(ctx, p, depth)
    return merged is not None and not merged.terms


def away_from_kinks(ctx: Context, p: Poly) -> Poly:
    """A derivative is stated away from its kinks: what is there only at the jump itself is left out, and that is
    noted.
    """
    kept = {
        m: c
        for m, c in p.terms.items()
        if not any(
            a.kind == "eq" and skeleton(a.data[0]) in ctx.kinks and not indicators.is_integer_valued(a.data[0])
            for a, _ in m
        )
    }
    if len(kept) == len(p.terms):
        return p
    ctx.used.setdefault("away from kinks")
    return Poly(kept)


def integer_equalities(ctx: Context, p: Poly) -> Poly:
    """[q = 0] as [q ≥ 0] - [q - 1 ≥ 0] for integer q, so that it meets other conditions on the same integers."""
    if not any(a.kind == "ge" for m in p.terms for a, _ in m):
        return p
    parts = []
    for m, c in p.terms.items():
        part = Poly({ONE: c})
        for a, e in m:
            factor = of_atom(a, e)
            if a.kind == "eq" and indicators.is_integer_valued(a.data[0]):
                q = a.data[0]
                factor = subtract(
                    indicators.at_least_zero(ctx, q), indicators.at_least_zero(ctx, subtract(q, Poly({ONE: ONE_Q})))
                )
            part = algebra.multiply(ctx, part, factor)
        parts.append(part)
    return add(*parts)


def oriented(ctx: Context, p: Poly) -> Poly:
    """[i ≥ j] and [j ≥ i] told by one of them and a delta, at the top and inside sums: the bound index counts up."""
    parts = []
    for m, c in p.terms.items():
        part = Poly({ONE: c})
        for a, e in m:
            if a.kind == "ge":
                factor = _one_way(ctx, a, ())
            elif a.kind == "sum" and e == 1 and any(b.kind == "ge" for b, _ in a.data[1]):
                temporaries, body = sums.open_sum(ctx, a)
                factor = sums.sum_over(
                    ctx,
                    temporaries,
                    add(
                        *(
                            scale(
                                algebra.product(
                                    ctx,
                                    *(_one_way(ctx, b, temporaries) if b.kind == "ge" else of_atom(b, k) for b, k in n),
                                ),
                                v,
                            )
                            for n, v in body.terms.items()
                        )
                    ),
                )
            else:
                factor = of_atom(a, e)
            part = algebra.multiply(ctx, part, factor)
        parts.append(part)
    return add(*parts)


def _one_way(ctx: Context, a: Atom, temporaries: Sequence[Atom]) -> Poly:
    p: Poly = a.data[0]
    if not indicators.is_integer_valued(p) or p.terms.get(ONE):
        return of_atom(a)
    leading = [p.terms[((t, 1),)] for t in temporaries if ((t, 1),) in p.terms] or [c for m, c in p.sorted_terms() if m]
    if leading[0] > 0:
        return of_atom(a)
    q = scale(p, -ONE_Q)
    return add(subtract(Poly({ONE: ONE_Q}), of_atom(ctx.atom("ge", q))), indicators.equals_zero(ctx, q))


def clear_denominators(ctx: Context, p: Poly) -> Poly:
    """The polynomial times powers of its denominators, so that no negative exponent is left at the top level."""
    for _ in range(4):
        least: dict[Atom, object] = {}
        for m in p.terms:
            for a, e in m:
                if e < 0:
                    least[a] = min(least.get(a, 0), e)  # type: ignore[call-overload]
        if not least:
            return p
        for a in sorted(least, key=lambda a: a.digest):
            e = least[a]
            up = ceil(-e) if a.kind == "base" else -Fraction(e)  # type: ignore[arg-type, operator]
            up = int(up) if Fraction(up).denominator == 1 else up
            p = _times(ctx, p, a, up)
    return p


def _times(ctx: Context, p: Poly, a: Atom, e: int | Fraction) -> Poly:
    return add(*(algebra.of_factors(ctx, merge(m, ((a, e),)), c) for m, c in p.terms.items()))


def merge_sums(ctx: Context, p: Poly, depth: int) -> Poly | None:
    """Terms with one sum each are put under one sum, bound indices lined up, and vanish when the summand does."""
    groups: dict[tuple[tuple[Poly, ...], Mono], list[tuple[Atom, Mono, object]]] = {}
    loose: dict[Mono, object] = {}
    for m, c in p.terms.items():
        own = [a for a, e in m if a.kind == "sum" and e == 1]
        if not own:
            loose[m] = c
            continue
        # the sum with the most structure is the one to open; the others stay as factors
        chosen = max(own, key=lambda a: (len(a.data[0]), len(a.data[1]), a.digest))
        rest = tuple(f for f in m if f[0] is not chosen)
        others = tuple(f for f in rest if f[0].kind == "sum")
        groups.setdefault((chosen.data[0], others), []).append(
            (chosen, tuple(f for f in rest if f[0].kind != "sum"), c)
        )
    left: list[Poly] = [Poly(dict(loose))] if loose else []  # type: ignore[arg-type]
    changed = False
    for (sizes, others), members in groups.items():
        if len(members) > 1 and _vanishes(ctx, sizes, members, depth):
            changed = True
            continue
        for atom, rest, c in members:
            left.append(of_mono(sort_mono([*rest, *others, (atom, 1)]), c))  # type: ignore[arg-type]
    return add(*left) if changed else None


def _vanishes(ctx: Context, sizes: tuple[Poly, ...], members: list[tuple[Atom, Mono, object]], depth: int) -> bool:
    fresh = [ctx.temporary(s) for s in sizes]
    bodies: list[list[Poly]] = []
    for atom, rest, c in members:
        options = []
        for order in orders(range(len(sizes))):
            if any(sizes[n] != sizes[k] for n, k in enumerate(order)):
                continue
            mapping = {ctx.index(("b", atom.height, n), s): of_atom(fresh[order[n]]) for n, s in enumerate(sizes)}
            body = algebra.substitute_mono(ctx, atom.data[1], mapping)
            options.append(scale(algebra.multiply(ctx, algebra.of_factors(ctx, rest), body), c))  # type: ignore[arg-type]
        bodies.append(options)
    for choice in islice(product(bodies[0][:1], *bodies[1:]), 64):
        summand = add(*choice)
        if is_zero(ctx, summand, depth + 1):
            return True
    return False


__all__ = ["ONE", "Equality", "context_for", "equal", "is_zero"]
