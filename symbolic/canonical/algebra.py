"""Products of polynomials, and the rewriting that a product can trigger.

Each rewriting replaces a monomial by an equal polynomial in normal form: roots of numbers, I² = -1, idempotent 0/1
factors, deltas that unify indices, powers of a sum above 1 that expand, the leading term of a base against its negative
power, and hypotheses. `substitute` rebuilds an atom with index atoms replaced, through the same constructors that made
it.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

from . import digits, indicators, matrices, powers, signs, special, sums
from .context import Context, Undefined
from .terms import (
    ONE,
    ONE_Q,
    POLY_ONE,
    ZERO,
    Atom,
    Exponent,
    Mono,
    Poly,
    Substitution,
    add,
    free_of,
    merge,
    negative,
    number,
    of_atom,
    of_mono,
    scale,
    simple,
    subtract,
)


def multiply(ctx: Context, a: Poly, b: Poly) -> Poly:
    """The product in normal form."""
    if not a.terms or not b.terms:
        return ZERO
    if len(a.terms) > len(b.terms):
        a, b = b, a
    if len(a.terms) == 1 and ONE in a.terms:
        return scale(b, a.terms[ONE])
    ctx.check(len(a.terms) * len(b.terms))
    plain: dict[Mono, fmpq] = {}
    rewritten: list[Poly] = []
    for m1, c1 in a.terms.items():
        for m2, c2 in b.terms.items():
            m = merge(m1, m2)
            if needs_rewriting(ctx, m):
                rewritten.append(scale(normal(ctx, m), c1 * c2))
            else:
                total = plain.get(m)
                total = c1 * c2 if total is None else total + c1 * c2
                if total:
                    plain[m] = total
                else:
                    del plain[m]
    return add(Poly(plain), *rewritten) if rewritten else Poly(plain)


def product(ctx: Context, *polys: Poly) -> Poly:
    """The product of several polynomials."""
    result = POLY_ONE
    for p in polys:
        result = multiply(ctx, result, p)
    return result


def power(ctx: Context, p: Poly, n: int) -> Poly:
    """A non-negative integer power."""
    result, square = POLY_ONE, p
    while n:
        if n & 1:
            result = multiply(ctx, result, square)
        n >>= 1
        if n:
            square = multiply(ctx, square, square)
    return result


def needs_rewriting(ctx: Context, mono: Mono) -> bool:
    """Whether a merged monomial may not be in normal form."""
    return any(a.active or a in ctx.atom_rules for a, _ in mono)


def normal(ctx: Context, mono: Mono) -> Poly:
    """The normal form of a product of atoms."""
    done = ctx.normal.get(mono)
    if done is None:
        done = _normal(ctx, mono)
        ctx.normal[mono] = done
    return done


def of_factors(ctx: Context, mono: Mono, coefficient: fmpq = ONE_Q) -> Poly:
    """A product of atoms as a polynomial in normal form."""
    if needs_rewriting(ctx, mono):
        return scale(normal(ctx, mono), coefficient)
    return of_mono(mono, coefficient)


def _exclusive(ctx: Context, mono: Mono) -> Poly | None:
    """Entries of a one-hot row exclude each other: y_j y_k = [j = k] y_j."""
    hot = [a for a, _ in mono if a.kind == "el" and a.active and a.data[1].one_hot]
    for n, a in enumerate(hot):
        for b in hot[n + 1 :]:
            if a.data[0] == b.data[0] and a.data[2][:-1] == b.data[2][:-1]:
                same = indicators.equals_zero(ctx, subtract(a.data[2][-1], b.data[2][-1]))
                return multiply(ctx, same, of_factors(ctx, _without(mono, b)))
    return None


def _without(mono: Mono, atom: Atom) -> Mono:
    return tuple(f for f in mono if f[0] is not atom)


def _normal(ctx: Context, mono: Mono) -> Poly:
    ctx.check(1)
    for atom, e in mono:
        kind = atom.kind
        if kind == "num" and not 0 < e < 1:
            whole = e.numerator // e.denominator if isinstance(e, Fraction) else e
            rest = merge(_without(mono, atom), ((atom, simple(e - whole)),)) if e != whole else _without(mono, atom)
            return of_factors(ctx, rest, fmpq(atom.data[0]) ** whole)
        if kind == "I" and e != 1:
            if isinstance(e, Fraction):
                continue
            sign = ONE_Q if e % 4 in (0, 1) else -ONE_Q
            rest = _without(mono, atom)
            return of_factors(ctx, merge(rest, ((atom, 1),)) if e % 2 else rest, sign)
        if e != 1 and (kind in ("eq", "ge", "argmax") or (kind == "el" and atom.active)):
            if e > 0:
                return of_factors(ctx, merge(_without(mono, atom), ((atom, 1),)))
            if kind != "el":
                raise Undefined(f"division by the indicator {atom!r}, which can be 0")
        if kind == "base" and e >= 1:
            whole = int(e)
            base = atom.data[0]
            rest = _without(mono, atom)
            if e != whole:
                rest = merge(rest, ((atom, simple(e - whole)),))
            return multiply(ctx, power(ctx, base, whole), of_factors(ctx, rest))
        rule = ctx.atom_rules.get(atom)
        if rule is not None and e > 0 and not isinstance(e, Fraction):
            return multiply(ctx, power(ctx, rule, e), of_factors(ctx, _without(mono, atom)))
    hot = _exclusive(ctx, mono)
    if hot is not None:
        return hot
    for atom, _e in mono:
        if atom.kind == "eq":
            result = _unify(ctx, mono, atom)
            if result is not None:
                return result
            result = _vanish(ctx, mono, atom)
            if result is not None:
                return result
    conditions = [a for a, _ in mono if a.kind in ("eq", "ge")]
    if len(conditions) > 1:
        result = _related_indicators(ctx, mono, conditions)
        if result is not None:
            return result
    for atom, e in mono:
        if atom.kind == "base" and e < 0:
            result = _cancel_lead(ctx, mono, atom, e)
            if result is not None:
                return result
    return of_mono(mono)


def _unify(ctx: Context, mono: Mono, delta: Atom) -> Poly | None:
    """[i = e] f(i) -> [i = e] f(e), where i is the index chosen to be replaced."""
    solved = solve_index(delta.data[0], delta.free)
    if solved is None:
        return None
    index, value = solved
    rest = _without(mono, delta)
    if index not in free_of(rest):
        return None
    replaced = substitute_mono(ctx, rest, {index: value})
    return multiply(ctx, of_atom(delta), replaced)


def solve_index(
    equation: Poly, candidates: frozenset[Atom], prefer: frozenset[Atom] = frozenset()
) -> tuple[Atom, Poly] | None:
    """Solve equation = 0 for an index with coefficient ±1 that occurs nowhere else in it.

    Indices in `prefer` first; else the one with the largest digest, so that the choice does not depend on order.
    """
    best: tuple[Atom, Poly] | None = None
    for index in sorted(candidates, key=lambda a: (a not in prefer, a.data[0][0] == "f", a.digest), reverse=False):
        mono = ((index, 1),)
        c = equation.terms.get(mono)
        if c is None or abs(c) != 1:
            continue
        if any(index in free_of(m) for m in equation.terms if m != mono):
            continue
        rest = Poly({m: v for m, v in equation.terms.items() if m != mono})
        best = (index, scale(rest, -ONE_Q / c))
        break
    return best


def _vanish(ctx: Context, mono: Mono, indicator: Atom) -> Poly | None:
    """On the support of [p = 0] the leading term of p equals minus the rest: [x = 0] x = 0."""
    p: Poly = indicator.data[0]
    if solve_index(p, indicator.free) is not None:
        return None  # `_unify` has put the solution in
    lead, c = lead_of(p)
    exponents = dict(mono)
    if not lead or any(k < 0 or exponents.get(a, 0) < k for a, k in lead):
        return None
    quotient = merge(mono, tuple((a, -k) for a, k in lead))
    rest = Poly({m: v for m, v in p.terms.items() if m != lead})
    return multiply(ctx, scale(rest, -1 / c), of_factors(ctx, quotient)) if rest.terms else ZERO


def _related_indicators(ctx: Context, mono: Mono, found: list[Atom]) -> Poly | None:
    """[p ≥ 0][p = 0] = [p = 0]; nested, exclusive and meeting half lines."""
    for n, a in enumerate(found):
        for b in found[n + 1 :]:
            if not any(m and m in b.data[0].terms for m in a.data[0].terms):
                continue  # nothing in common: neither decides the other
            for left, right in ((a, b), (b, a)):
                p, q = left.data[0], right.data[0]
                if left.kind == "eq":
                    # on the support of [p = 0], decide q when it is a constant multiple of p plus a constant
                    for sign in (ONE_Q, -ONE_Q):
                        left_over = subtract(q, scale(p, sign))
                        if signs.is_positive(ctx, negative(left_over)) or (
                            right.kind == "eq" and signs.is_positive(ctx, left_over)
                        ):
                            return ZERO
                        if not left_over.terms or (right.kind == "ge" and signs.is_nonnegative(ctx, left_over)):
                            return of_factors(ctx, _without(mono, right))
                elif right.kind == "ge":
                    gap = subtract(p, q)
                    if signs.is_nonnegative(ctx, gap):  # q ≥ 0 implies p ≥ 0
                        return of_factors(ctx, _without(mono, left))
                    total = add(p, q)
                    if signs.is_positive(ctx, negative(total)):  # both cannot be: their sum is negative
                        return ZERO
                    if not total.terms:
                        rest = _without(_without(mono, left), right)
                        return multiply(ctx, indicators.equals_zero(ctx, p), of_factors(ctx, rest))
    return None


def lead_of(base: Poly) -> tuple[Mono, fmpq]:
    """The leading term of a base: highest degree first, then by a digest that does not see which index stands there."""

    def rank(item: tuple[Mono, fmpq]) -> tuple[object, ...]:
        mono = item[0]
        return (sum(e for _, e in mono), sorted((a.blind for a, _ in mono), reverse=True), [a.digest for a, _ in mono])

    return max(base.terms.items(), key=rank)


def _cancel_lead(ctx: Context, mono: Mono, atom: Atom, e: Exponent) -> Poly | None:
    """lead · D^e with e < 0 becomes (D^(e+1) - rest · D^e) / coefficient."""
    base: Poly = atom.data[0]
    lead, c = lead_of(base)
    if not lead:
        return None
    exponents = dict(mono)
    for a, k in lead:
        have = exponents.get(a)
        if have is None or have < k:
            return None
    quotient = merge(mono, tuple((a, -k) for a, k in lead))
    raised = merge(quotient, ((atom, 1),))
    rest = Poly({m: v for m, v in base.terms.items() if m != lead})
    return scale(subtract(of_factors(ctx, raised), multiply(ctx, rest, of_factors(ctx, quotient))), 1 / c)


# ---------------------------------------------------------------------- substitution
def substitute(ctx: Context, p: Poly, mapping: Substitution) -> Poly:
    """Replace index atoms by polynomials, everywhere, with renormalisation."""
    if not mapping or not (p.free & mapping.keys()):
        return p
    parts = []
    plain: dict[Mono, fmpq] = {}
    for m, c in p.terms.items():
        if free_of(m) & mapping.keys():
            parts.append(scale(substitute_mono(ctx, m, mapping), c))
        else:
            plain[m] = c
    return add(Poly(plain), *parts)


def substitute_mono(ctx: Context, mono: Mono, mapping: Substitution) -> Poly:
    """Replace index atoms in a monomial."""
    result = POLY_ONE
    kept: list[tuple[Atom, Exponent]] = []
    for a, e in mono:
        if a.free & mapping.keys():
            result = multiply(ctx, result, powers.power_of(ctx, substitute_atom(ctx, a, mapping), e))
        else:
            kept.append((a, e))
    return multiply(ctx, of_factors(ctx, tuple(kept)), result) if kept else result


def substitute_atom(ctx: Context, a: Atom, mapping: Substitution) -> Poly:
    """Replace index atoms in one atom and rebuild it."""
    relevant = a.free & mapping.keys()
    if not relevant:
        return of_factors(ctx, ((a, 1),))
    key = (a, tuple(sorted(((i, mapping[i]) for i in relevant), key=lambda item: item[0].digest)))
    done = ctx.substitutions.get(key)
    if done is None:
        done = _substitute_atom(ctx, a, {i: mapping[i] for i in relevant})
        ctx.substitutions[key] = done
    return done


def _substitute_atom(ctx: Context, a: Atom, mapping: dict[Atom, Poly]) -> Poly:
    data = a.data
    match a.kind:
        case "ix":
            return mapping[a]
        case "el" if len(data) == 4 and data[3] in mapping:
            definition = mapping[data[3]]
            if isinstance(definition, tuple) and definition[0] == "choose":
                definition = (*definition[:4], data[1])
            return _unfolded(ctx, definition, tuple(substitute(ctx, i, mapping) for i in data[2]))
        case "el":
            return element(ctx, data[0], data[1], tuple(substitute(ctx, i, mapping) for i in data[2]), *data[3:])
        case "exp":
            return powers.exponential(ctx, substitute_mono(ctx, data[0], mapping))
        case "log":
            return powers.logarithm(ctx, substitute(ctx, data[0], mapping))
        case "base":
            return substitute(ctx, data[0], mapping)
        case "eq":
            return indicators.equals_zero(ctx, substitute(ctx, data[0], mapping))
        case "ge":
            return indicators.at_least_zero(ctx, substitute(ctx, data[0], mapping))
        case "fn":
            return function(ctx, data[0], *(substitute(ctx, p, mapping) for p in data[1:]))
        case "sum":
            temporaries, body = sums.open_sum(ctx, a)
            return sums.sum_over(ctx, temporaries, substitute(ctx, body, mapping))
        case "max":
            t, body = sums.opened(ctx, a)
            return sums.maximum_over(ctx, t, substitute(ctx, body, mapping))
        case "argmax":
            t, body = sums.opened(ctx, a)
            return sums.argmax_over(ctx, t, substitute(ctx, body, mapping), substitute(ctx, data[2], mapping))
        case "prod":
            t, body = sums.opened(ctx, a)
            return sums.product_over(ctx, t, substitute(ctx, body, mapping))
        case "fdiv":
            return digits.quotient(ctx, substitute(ctx, data[0], mapping), data[1])
        case "inv" | "det":
            return matrices.rebuilt(ctx, a, mapping)
    raise AssertionError(f"no substitution for atoms of kind {a.kind}")


def _unfolded(ctx: Context, definition: object, indices: tuple[Poly, ...]) -> Poly:
    """The definition of a tensor that was kept closed, at given indices."""
    if definition[0] == "choose":  # type: ignore[index]
        _, place, value, name, domain = definition  # type: ignore[misc]
        return of_atom(value) if indices == (of_atom(place),) else element(ctx, name, domain, indices)
    parameters, body = definition  # type: ignore[misc]
    return substitute(ctx, body, dict(zip(parameters, indices, strict=True)))


def element(ctx: Context, name: str, domain: object, indices: tuple[Poly, ...], *marker: Atom) -> Poly:
    """The element of a tensor; symmetric matrices have their indices in one order.

    A tensor whose definition is kept closed carries a `marker`, for which `substitute` can put the definition.
    """
    if not marker and name in ctx.permutations:
        marker = (ctx.permutations[name],)
    if getattr(domain, "symmetric", False) and len(indices) == 2 and indices[1].digest < indices[0].digest:
        indices = (indices[1], indices[0])
    return of_factors(ctx, ((ctx.atom("el", name, domain, indices, *marker), 1),))


ODD_FUNCTIONS = frozenset(
    {"erf", "arctan", "arcsin", "arcsinh", "arctanh", "erfi", "erfinv", "fresnels", "fresnelc", "sinint", "sinhint"}
)


def function(ctx: Context, name: str, *arguments: Poly) -> Poly:
    """A function left alone, after the split on indicators inside, its normal form and the sign of an odd
    function's argument.
    """
    split = powers.split_indicators(ctx, arguments, lambda *a: function(ctx, name, *a))
    if split is not None:
        return split
    known = special.normal(ctx, name, arguments)
    if known is not None:
        return known
    if len(arguments) == 1:
        (p,) = arguments
        if name in ODD_FUNCTIONS:
            if not p:
                return ZERO
            if min(c for _, c in p.sorted_terms()[:1]) < 0:
                return negative(of_atom(ctx.atom("fn", name, negative(p))))
    return of_atom(ctx.atom("fn", name, *arguments))


__all__ = ["Exponent", "multiply", "number", "substitute"]
