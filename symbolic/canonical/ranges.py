"""Sums whose range can be said otherwise: counted, run backwards, or two digits run as one index.

Σ_t [t ≤ i] = i + 1; Σ_t x_{n-1-t} = Σ_t x_t; Σ_n Σ_k x_{nK+k} = Σ_a x_a. Each needs that the whole summand allows it.
"""

from __future__ import annotations

from flint import fmpq

from . import algebra, indicators, signs, sums
from .context import Context
from .terms import POLY_ONE, Atom, Mono, Poly, add, of_atom, scale, subtract


def simplified(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """The sum in a simpler range, or None."""
    if len(temporaries) == 1 and len(mono) == 1 and mono[0][0].kind == "ge" and mono[0][1] == 1:
        return _counted(ctx, temporaries[0], mono[0][0].data[0])
    if len(temporaries) == 1 and len(mono) == 1 and mono[0][0] is temporaries[0] and mono[0][1] in (1, 2, 3):
        return _sum_of_powers(ctx, temporaries[0], int(mono[0][1]))
    for t in temporaries:
        if _backwards(t, mono):
            flipped = subtract(subtract(t.data[1], POLY_ONE), of_atom(t))
            return sums.sum_over(ctx, temporaries, algebra.substitute_mono(ctx, mono, {t: flipped}))
    for high in temporaries:
        for low in temporaries:
            if high is not low and _digits(high, low, mono):
                return _joined(ctx, temporaries, mono, high, low)
    return None


def _sum_of_powers(ctx: Context, t: Atom, n: int) -> Poly:
    """0 + 1 + ... + (K-1) = K (K-1) / 2, and the like for squares and cubes."""
    size = t.data[1]
    triangle = scale(algebra.multiply(ctx, size, subtract(size, POLY_ONE)), fmpq(1, 2))
    if n == 1:
        return triangle
    if n == 2:
        return scale(algebra.multiply(ctx, triangle, subtract(scale(size, fmpq(2)), POLY_ONE)), fmpq(1, 3))
    return algebra.power(ctx, triangle, 2)


def _counted(ctx: Context, t: Atom, p: Poly) -> Poly | None:
    """How many t satisfy p ≥ 0, where that is known to lie between 0 and the size."""
    c = p.terms.get(((t, 1),))
    rest = Poly({m: v for m, v in p.terms.items() if m != ((t, 1),)})
    if c is None or abs(c) != 1 or t in rest.free or not indicators.is_integer_valued(p):
        return None
    size = t.data[1]
    # t ≤ rest: rest + 1 of them; t ≥ -rest: size + rest of them
    count = add(rest, POLY_ONE) if c < 0 else add(size, rest)
    if signs.is_nonnegative(ctx, count) and signs.is_nonnegative(ctx, subtract(size, count)):
        return count
    return None


def _index_polys(mono: Mono) -> list[Poly]:
    return [p for a, _ in mono for p in _inside(a)]


def _inside(a: Atom) -> list[Poly]:
    if a.kind == "el":
        return list(a.data[2])
    if a.kind in ("eq", "ge"):
        return [a.data[0]]
    found: list[Poly] = []
    for part in a.data:
        if isinstance(part, Poly):
            found += [p for m in part.terms for b, _ in m for p in _inside(b)]
        elif isinstance(part, tuple):
            found += [p for f in part if isinstance(f, tuple) and isinstance(f[0], Atom) for p in _inside(f[0])]
    return found


def _backwards(t: Atom, mono: Mono) -> bool:
    """Every index that names t counts it down."""
    elements = [p for a, _ in mono for p in _inside(a) if a.kind != "ge" and a.kind != "eq"]
    coefficients = [p.terms.get(((t, 1),)) for p in elements if t in p.free]
    return bool(coefficients) and all(c is not None and c < 0 for c in coefficients)


def _digits(high: Atom, low: Atom, mono: Mono) -> bool:
    """Some index is high · size(low) + low."""
    scaled = algebra.merge(((high, 1),), next(iter(low.data[1].terms), ())) if len(low.data[1].terms) == 1 else None
    if scaled is None or low.data[1].terms[next(iter(low.data[1].terms))] != 1:
        return False
    return any(p.terms.get(((low, 1),)) == 1 and p.terms.get(scaled) == 1 for p in _index_polys(mono))


def _joined(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono, high: Atom, low: Atom) -> Poly | None:
    whole = ctx.temporary(algebra.multiply(ctx, high.data[1], low.data[1]))
    value = subtract(of_atom(whole), algebra.multiply(ctx, of_atom(high), low.data[1]))
    body = algebra.substitute_mono(ctx, mono, {low: value})
    if high in body.free or low in body.free:
        return None
    rest = tuple(t for t in temporaries if t is not high and t is not low)
    return sums.sum_over(ctx, (*rest, whole), body)
