"""What cancels under a sum: partial sums against their reciprocals, hypotheses such as Σ_k y_k = 1, leading terms.

A sum, or the sum that a hypothesis is about, is found among the factors of a larger one by matching its bound indices.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from . import algebra, matrices, sums
from .context import Context, SumRule
from .terms import ONE, Atom, Mono, Poly, free_of, merge, of_atom, scale, simple, sort_mono, subtract


def cancel_inside(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """Partial sums against reciprocals (Σ_j e_ij · S_i⁻¹ = 1), hypotheses, and bases against their leading term."""
    for a, e in mono:
        if a.kind == "sum" and e < 0:
            match = match_sum(ctx, a, temporaries, mono)
            if match is not None:
                left_over, gone = match
                rest = merge(left_over, ((a, 1),))
                return sums.sum_over(ctx, tuple(t for t in temporaries if t not in gone), algebra.of_factors(ctx, rest))
    for rule in ctx.sum_rules:
        found = match_rule(ctx, rule, temporaries, mono)
        if found is not None:
            rest, gone, right = found
            body = algebra.multiply(ctx, algebra.of_factors(ctx, rest), right)
            return sums.sum_over(ctx, tuple(t for t in temporaries if t not in gone), body)
    changed = matrices.cancel(ctx, temporaries, mono)
    if changed is not None:
        return changed
    for a, e in mono:
        if a.kind == "argmax" and e == 1:
            value = a.data[2]
            single = next(iter(value.terms)) if len(value.terms) == 1 else ONE
            if (
                len(single) == 1
                and value.terms[single] == 1
                and single[0][0] in temporaries
                and single[0][0].data[1] == a.data[0][0]
            ):
                t = single[0][0]
                rest = tuple(f for f in mono if f[0] is not a)
                if t not in free_of(rest) and t not in a.data[1].free:
                    others = tuple(x for x in temporaries if x is not t)
                    return sums.sum_over(ctx, others, algebra.of_factors(ctx, rest))
    for a, e in mono:
        if a.kind == "base" and e < 0:
            changed = _cancel_lead_inside(ctx, temporaries, mono, a)
            if changed is not None:
                return changed
    return None


def _cancel_lead_inside(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono, base_atom: Atom) -> Poly | None:
    base: Poly = base_atom.data[0]
    lead, c = algebra.lead_of(base)
    if not lead or not any(a.kind == "sum" for a, _ in lead):
        return None  # plain leading terms were cancelled when the product was made
    current, gone = mono, frozenset()
    for a, k in lead:
        if isinstance(k, Fraction) or k < 0:
            return None
        for _ in range(k):
            exponents = dict(current)
            if a.kind == "sum" and a not in exponents:
                match = match_sum(ctx, a, tuple(t for t in temporaries if t not in gone), current)
                if match is None:
                    return None
                current, more = match
                gone = gone | more
            elif exponents.get(a, 0) >= 1:
                current = merge(current, ((a, -1),))
            else:
                return None
    rest = Poly({m: v for m, v in base.terms.items() if m != lead})
    raised = algebra.of_factors(ctx, merge(current, ((base_atom, 1),)))
    other = algebra.multiply(ctx, rest, algebra.of_factors(ctx, current))
    body = scale(subtract(raised, other), 1 / c)
    return sums.sum_over(ctx, tuple(t for t in temporaries if t not in gone), body)


def match_sum(
    ctx: Context, pattern: Atom, temporaries: tuple[Atom, ...], mono: Mono
) -> tuple[Mono, frozenset[Atom]] | None:
    """Find the body of a sum atom among the factors, its bound indices standing for temporaries that occur nowhere
    else.

    Returns the other factors (the pattern's own reciprocal included) and the temporaries that the match used up.
    """
    sizes = pattern.data[0]
    own = [ctx.index(("b", pattern.height, n), s) for n, s in enumerate(sizes)]
    candidates = [[t for t in temporaries if t.data[1] == s and t not in pattern.free] for s in sizes]
    for chosen in product(*candidates):
        if len(set(chosen)) != len(chosen):
            continue
        body = algebra.substitute_mono(ctx, pattern.data[1], {b: of_atom(t) for b, t in zip(own, chosen, strict=True)})
        if len(body.terms) != 1:
            continue
        ((wanted, c),) = body.terms.items()
        if c != 1:
            continue
        rest = _divide_exactly(mono, wanted)
        if rest is None or free_of(rest) & set(chosen):
            continue
        return rest, frozenset(chosen)
    return None


def _divide_exactly(mono: Mono, wanted: Mono) -> Mono | None:
    exponents = dict(mono)
    for a, e in wanted:
        have = exponents.get(a)
        if have is None:
            return None
        if (e > 0 and have < e) or (e < 0 and have > e):
            return None
        left = simple(have - e)
        if left:
            exponents[a] = left
        else:
            del exponents[a]
    return sort_mono(exponents.items())


def match_rule(
    ctx: Context, rule: SumRule, temporaries: tuple[Atom, ...], mono: Mono
) -> tuple[Mono, frozenset[Atom], Poly] | None:
    """Find Σ_t factors of a hypothesis inside a flat sum, for some value of the hypothesis' free indices."""
    for mapping in unify_factors(ctx, rule.factors, (*rule.bound, *rule.variables), mono):
        chosen = []
        for b in rule.bound:
            image = mapping.get(b)
            if image is None:
                break
            mono_image = next(iter(image.terms), ONE)
            if not (
                len(image.terms) == 1
                and len(mono_image) == 1
                and image.terms[mono_image] == 1
                and mono_image[0][0] in temporaries
                and mono_image[0][0].data[1] == b.data[1]
            ):
                break
            chosen.append(mono_image[0][0])
        else:
            if len(set(chosen)) != len(chosen) or any(
                image.free & set(chosen) for v, image in mapping.items() if v not in rule.bound
            ):
                continue
            wanted = algebra.substitute_mono(ctx, rule.factors, mapping)
            if len(wanted.terms) != 1 or next(iter(wanted.terms.values())) != 1:
                continue
            rest = _divide_exactly(mono, next(iter(wanted.terms)))
            if rest is None or free_of(rest) & set(chosen):
                continue
            ctx.used.setdefault(f"hypothesis:{rule.text}")
            return rest, frozenset(chosen), algebra.substitute(ctx, rule.right, mapping)
    return None


def unify_factors(ctx: Context, factors: Mono, variables: tuple[Atom, ...], mono: Mono) -> Iterator[dict[Atom, Poly]]:
    """Ways to match element factors of a pattern with factors of a monomial, index by index."""

    def extend(n: int, mapping: dict[Atom, Poly]) -> Iterator[dict[Atom, Poly]]:
        if n == len(factors):
            yield mapping
            return
        pattern, _ = factors[n]
        if pattern.kind != "el":
            if not (pattern.free & set(variables)):
                yield from extend(n + 1, mapping)
            return
        for a, _ in mono:
            if a.kind != "el" or a.data[0] != pattern.data[0]:
                continue
            trial = dict(mapping)
            for p, q in zip(pattern.data[2], a.data[2], strict=True):
                single = next(iter(p.terms), ONE)
                if len(p.terms) == 1 and len(single) == 1 and single[0][0] in variables and p.terms[single] == 1:
                    if trial.setdefault(single[0][0], q) != q:
                        break
                elif p != q:
                    break
            else:
                yield from extend(n + 1, trial)

    yield from extend(0, {})
