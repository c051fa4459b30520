"""Factoring of a primitive polynomial into irreducibles, by python-flint's multivariate `factor`.

Atoms become variables; fractional exponents become powers of a root of the atom. What is linear in some atom with a
constant
in front is irreducible and is not sent there.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from flint import Ordering, fmpq_mpoly_ctx

from .context import Context
from .terms import Atom, Mono, Poly, simple, sort_mono

MAX_FACTOR_TERMS = 120


def factor(ctx: Context, p: Poly) -> list[tuple[Poly, int]]:
    """Irreducible factors with multiplicities; the constant is kept in the first factor."""
    done = ctx.factored.get(p)
    if done is None:
        done = ctx.factored[p] = _factor(ctx, p)
    return done


def _factor(ctx: Context, p: Poly) -> list[tuple[Poly, int]]:
    if len(p.terms) <= 1 or len(p.terms) > MAX_FACTOR_TERMS or _plainly_irreducible(p):
        return [(p, 1)]
    atoms = sorted({a for m in p.terms for a, _ in m}, key=lambda a: a.digest)
    if any(a.kind == "I" for a in atoms):
        return [(p, 1)]
    units = {a: lcm(*(e.denominator for m in p.terms for b, e in m if b is a)) for a in atoms}
    if any(e < 0 for m in p.terms for _, e in m):
        return [(p, 1)]
    ring = fmpq_mpoly_ctx.get([f"x{n}" for n in range(len(atoms))], Ordering.lex)
    place = {a: n for n, a in enumerate(atoms)}
    terms = {}
    for m, c in p.terms.items():
        exponents = [0] * len(atoms)
        for a, e in m:
            exponents[place[a]] = int(e * units[a])
        terms[tuple(exponents)] = c
    constant, factors = ring.from_dict(terms).factor()
    if len(factors) == 1 and factors[0][1] == 1:
        return [(p, 1)]
    result: list[tuple[Poly, int]] = []
    for q, multiplicity in factors:
        back: dict[Mono, object] = {}
        for exponents, c in q.to_dict().items():
            mono = sort_mono(
                (atoms[n], simple(Fraction(int(e), units[atoms[n]]))) for n, e in enumerate(exponents) if e
            )
            back[mono] = c
        result.append((Poly(back), int(multiplicity)))  # type: ignore[arg-type]
    if constant != 1:
        # flint's factors are monic over Q: put the constant where it belongs
        first, multiplicity = result[0]
        if multiplicity == 1:
            result[0] = (Poly({m: c * constant for m, c in first.terms.items()}), 1)
        else:
            result.insert(0, (Poly({(): constant}), 1))
    result = _integral(result)
    return sorted(result, key=lambda item: item[0].digest)


def _integral(factors: list[tuple[Poly, int]]) -> list[tuple[Poly, int]]:
    """Factors with coprime integer coefficients; the number that is left stays as a factor of its own."""
    from . import powers

    left = None
    result = []
    for q, multiplicity in factors:
        if len(q.terms) == 1 and q.constant is not None:
            value = q.constant**multiplicity
        else:
            c = powers._number_content(q)
            value = c**multiplicity
            q = Poly({m: v / c for m, v in q.terms.items()})
            result.append((q, multiplicity))
        left = value if left is None else left * value
    if left is not None and left != 1:
        result.insert(0, (Poly({(): left}), 1))
    return result


def _plainly_irreducible(p: Poly) -> bool:
    counts: dict[Atom, int] = {}
    for m in p.terms:
        for a, _ in m:
            counts[a] = counts.get(a, 0) + 1
    return any(len(m) == 1 and m[0][1] == 1 and counts[m[0][0]] == 1 for m in p.terms)
