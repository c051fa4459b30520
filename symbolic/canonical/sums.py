"""Sums over bound indices, kept as connected sums of one monomial.

A sum distributes over terms; what does not depend on the index leaves it; deltas are contracted; sums inside are
merged into one flat sum; what cancels under it does (`cancellation`); factors that share no bound index are separate
sums.
Bound indices get canonical names: by a signature first, then by trying the few that remain tied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations as orders
from itertools import product

from . import algebra, cancellation, digits, indicators, permutations, powers, ranges, signs
from .context import Context
from .terms import (
    ONE,
    POLY_ONE,
    ZERO,
    Atom,
    Mono,
    Poly,
    add,
    free_of,
    merge,
    number,
    of_atom,
    of_mono,
    scale,
    simple,
    subtract,
)

MAX_TIED = 5040
MAX_WRITTEN_OUT = 8  # a sum over so few places is written out, so that it meets its terms


def opened(ctx: Context, a: Atom) -> tuple[Atom, Poly]:
    """The body of a maximum, its place or a product, with a fresh temporary in place of its bound index."""
    (size,) = a.data[0]
    fresh = ctx.temporary(size)
    return fresh, algebra.substitute(ctx, a.data[1], {ctx.index(("b", a.height, 0), size): of_atom(fresh)})


def open_sum(ctx: Context, a: Atom) -> tuple[tuple[Atom, ...], Poly]:
    """The body of a sum atom as a polynomial, with fresh temporaries."""
    sizes = a.data[0]
    fresh = tuple(ctx.temporary(s) for s in sizes)
    mapping = {ctx.index(("b", a.height, n), s): of_atom(t) for n, (s, t) in enumerate(zip(sizes, fresh, strict=True))}
    return fresh, algebra.substitute_mono(ctx, a.data[1], mapping)


def sum_over(ctx: Context, temporaries: Sequence[Atom], body: Poly | Mono) -> Poly:
    """Σ over temporaries of a polynomial."""
    if not temporaries:
        return body if isinstance(body, Poly) else algebra.of_factors(ctx, body)
    if not isinstance(body, Poly):
        body = algebra.of_factors(ctx, body)
    for t in temporaries:
        count = t.data[1].constant
        if count is not None and count <= MAX_WRITTEN_OUT and t in body.free:
            terms = (algebra.substitute(ctx, body, {t: number(v)}) for v in range(int(count.p)))
            return sum_over(ctx, tuple(x for x in temporaries if x is not t), add(*terms))
    parts = []
    for m, c in body.terms.items():
        parts.append(scale(sum_mono(ctx, tuple(temporaries), m), c))
    return add(*parts)


def sum_mono(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly:
    """Σ over temporaries of one monomial in normal form."""
    ctx.check(1)
    chosen = frozenset(temporaries)
    outside = tuple(f for f in mono if not (f[0].free & chosen))
    inside = tuple(f for f in mono if f[0].free & chosen)
    if outside:
        return algebra.multiply(ctx, algebra.of_factors(ctx, outside), sum_mono(ctx, temporaries, inside))
    used = free_of(inside)
    idle = [t for t in temporaries if t not in used]
    if idle:
        count = algebra.product(ctx, *(t.data[1] for t in idle))
        return algebra.multiply(ctx, count, sum_mono(ctx, tuple(t for t in temporaries if t in used), inside))
    if not inside:
        return POLY_ONE
    # deltas
    for a, e in inside:
        if a.kind == "eq" and e == 1:
            solved = algebra.solve_index(a.data[0], a.free & chosen, chosen)
            if solved is not None and indicators.is_integer_valued(solved[1]):
                return _contract(ctx, temporaries, inside, a, *solved)
    digitwise = digits.contract_digits(ctx, temporaries, inside)
    if digitwise is not None:
        return digitwise
    # sums inside become part of the flat sum
    for a, e in inside:
        if a.kind == "sum" and e >= 1:
            whole = int(e)
            rest = tuple(f for f in inside if f[0] is not a)
            if e != whole:
                rest = merge(rest, ((a, simple(e - whole)),))
            body = algebra.of_factors(ctx, rest)
            more: list[Atom] = []
            for _ in range(whole):
                fresh, inner = open_sum(ctx, a)
                more += fresh
                body = algebra.multiply(ctx, body, inner)
            return sum_over(ctx, (*temporaries, *more), body)
    changed = permutations.unpermuted(ctx, temporaries, inside) if ctx.permutations else None
    if changed is None:
        changed = cancellation.cancel_inside(ctx, temporaries, inside)
    if changed is None:
        changed = digits.split_sum(ctx, temporaries, inside)
    if changed is None:
        changed = ranges.simplified(ctx, temporaries, inside)
    if changed is not None:
        return changed
    groups = _components(temporaries, inside)
    if len(groups) > 1:
        return algebra.product(ctx, *(sum_mono(ctx, g, m) for g, m in groups))
    return make_sum(ctx, temporaries, inside)


def _contract(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono, delta: Atom, index: Atom, value: Poly) -> Poly:
    """Σ_i [i = e] f(i) = [0 ≤ e < n] f(e)."""
    rest = tuple(f for f in mono if f[0] is not delta)
    mapping = {index: value}
    body = algebra.substitute_mono(ctx, rest, mapping)
    single = next(iter(value.terms)) if len(value.terms) == 1 else None
    in_range = (
        single is not None
        and len(single) == 1
        and single[0][0].kind == "ix"
        and single[0][1] == 1
        and value.terms[single] == 1
        and single[0][0].data[1] == index.data[1]
    )
    if not in_range:
        body = algebra.multiply(ctx, body, _within(ctx, value, index.data[1]))
    return sum_over(ctx, tuple(t for t in temporaries if t is not index), body)


def _within(ctx: Context, value: Poly, size: Poly) -> Poly:
    """[0 ≤ value < size]; where value is e - size·n this says that n = ⌊e/size⌋."""
    if len(size.terms) == 1:
        whole = digits.quotient(ctx, value, size)
        if any(a.kind == "ix" for m in whole.terms for a, _ in m):
            return indicators.equals_zero(ctx, whole)
    top = subtract(subtract(size, number(1)), value)
    return algebra.multiply(ctx, indicators.at_least_zero(ctx, value), indicators.at_least_zero(ctx, top))


def _components(temporaries: tuple[Atom, ...], mono: Mono) -> list[tuple[tuple[Atom, ...], Mono]]:
    """Factors grouped by shared bound indices."""
    group = {t: t for t in temporaries}

    def find(t: Atom) -> Atom:
        while group[t] is not t:
            t = group[t]
        return t

    chosen = frozenset(temporaries)
    for a, _ in mono:
        touched = [t for t in temporaries if t in a.free]
        for t in touched[1:]:
            group[find(t)] = find(touched[0])
    roots: list[Atom] = []
    for t in temporaries:
        if find(t) not in roots:
            roots.append(find(t))
    return [
        (
            tuple(t for t in temporaries if find(t) is r),
            tuple(f for f in mono if find(next(iter(f[0].free & chosen))) is r),
        )
        for r in roots
    ]


# ---------------------------------------------------------------------- canonical names
def make_sum(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly:
    """A connected sum as an atom with canonical names for its bound indices; a hypothesis may give its value."""
    height = 1 + max(a.height for a, _ in mono)
    best: tuple[object, ...] | None = None
    for order in _orders(ctx, temporaries, mono):
        mapping = {t: of_atom(ctx.index(("b", height, n), t.data[1])) for n, t in enumerate(order)}
        named = algebra.substitute_mono(ctx, mono, mapping)
        sizes = tuple(t.data[1] for t in order)
        key = (tuple(s.digest for s in sizes), named.digest)
        if best is None or key < best[0]:
            best = (key, sizes, named)
    assert best is not None
    _, sizes, named = best
    parts = []
    for m, c in named.terms.items():  # one term, but for sign-normalised factors that flip
        atom = ctx.atom("sum", sizes, m)
        if atom.height != height or not all(
            ("b", height, n) in {i.data[0] for i in free_of(m)} for n in range(len(sizes))
        ):
            # a term lost an index or height when it was renamed: sum it again from fresh temporaries
            fresh = tuple(ctx.temporary(s) for s in sizes)
            back = {
                ctx.index(("b", height, n), s): of_atom(t) for n, (s, t) in enumerate(zip(sizes, fresh, strict=True))
            }
            parts.append(scale(sum_over(ctx, fresh, algebra.substitute_mono(ctx, m, back)), c))
            continue
        parts.append(scale(algebra.of_factors(ctx, ((atom, 1),)), c))
    return add(*parts)


def _orders(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Iterator[tuple[Atom, ...]]:
    """Orders of the bound indices to try: fixed by signature, permuted where it ties."""
    if len(temporaries) == 1:
        yield temporaries
        return
    signature = {t: _signature(ctx, t, temporaries, mono) for t in temporaries}
    classes: dict[tuple[object, ...], list[Atom]] = {}
    for t in temporaries:
        classes.setdefault(signature[t], []).append(t)
    ranked = [classes[s] for s in sorted(classes)]
    total = 1
    for group in ranked:
        for n in range(2, len(group) + 1):
            total *= n
    if total > MAX_TIED:
        yield tuple(t for group in ranked for t in group)
        return
    for choice in product(*(orders(group) for group in ranked)):
        yield tuple(t for group in choice for t in group)


def _signature(ctx: Context, t: Atom, temporaries: tuple[Atom, ...], mono: Mono) -> tuple[object, ...]:
    """What an index looks like from its place: size, and the factors it is in, with the other bound indices made
    alike.
    """
    mapping = {s: of_atom(ctx.index(("m", 1 if s is t else 0), s.data[1])) for s in temporaries}
    seen = sorted((algebra.substitute_atom(ctx, a, mapping).digest, str(e)) for a, e in mono if t in a.free)
    others = sorted((algebra.substitute_atom(ctx, a, mapping).digest, str(e)) for a, e in mono if t not in a.free)
    return (t.data[1].digest, tuple(seen), tuple(others))


# ---------------------------------------------------------------------- maximum, its place, products
def _named(ctx: Context, t: Atom, body: Poly) -> Poly:
    return algebra.substitute(ctx, body, {t: of_atom(ctx.index(("b", body.height + 1, 0), t.data[1]))})


def maximum_over(ctx: Context, t: Atom, body: Poly) -> Poly:
    """max_t of a polynomial: what does not depend on t leaves it."""
    count = t.data[1].constant
    if count is not None and count <= 3 and t in body.free:
        values = [algebra.substitute(ctx, body, {t: number(v)}) for v in range(int(count.p))]
        best = values[0]
        for value in values[1:]:
            first = indicators.at_least_zero(ctx, subtract(best, value))
            best = add(value, algebra.multiply(ctx, first, subtract(best, value)))
        return best
    outside = Poly({m: c for m, c in body.terms.items() if t not in free_of(m)})
    inside = Poly({m: c for m, c in body.terms.items() if t in free_of(m)})
    if not inside.terms:
        return outside
    c = powers._number_content(inside)
    content, primitive = powers.split_content(ctx, scale(inside, 1 / c), roots=True)
    positive = tuple((a, e) for a, e in content if t not in a.free and signs.atom_sign(ctx, a) == "+")
    if positive:
        primitive = algebra.multiply(
            ctx, scale(inside, 1 / c), Poly({tuple((a, -e) for a, e in positive): number(1).terms[ONE]})
        )
    else:
        primitive = scale(inside, 1 / c)
    named = _named(ctx, t, primitive)
    atom = ctx.atom("max", (t.data[1],), named)
    return add(outside, algebra.multiply(ctx, algebra.of_factors(ctx, positive, c), of_atom(atom)))


def argmax_over(ctx: Context, t: Atom, body: Poly, value: Poly) -> Poly:
    """1 at the place of the maximum; a term that does not depend on t, or a positive number in front, does not
    move it.
    """
    inside = Poly({m: c for m, c in body.terms.items() if t in free_of(m)})
    inside = scale(inside, 1 / powers._number_content(inside)) if inside.terms else inside
    named = _named(ctx, t, inside)
    return of_atom(ctx.atom("argmax", (t.data[1],), named, value))


def product_over(ctx: Context, t: Atom, body: Poly) -> Poly:
    """Π_t of a polynomial: products split into products of their factors; a constant becomes a power of the size."""
    if not body.terms:
        return ZERO
    size = t.data[1]
    if size.constant is not None and size.constant <= MAX_WRITTEN_OUT:
        return algebra.product(
            ctx, *(algebra.substitute(ctx, body, {t: number(v)}) for v in range(int(size.constant.p)))
        )
    if signs.is_positive(ctx, body):  # Π f = e^{Σ log f}
        return powers.exponential(ctx, sum_over(ctx, (t,), powers.logarithm(ctx, body)))
    if len(body.terms) == 1:
        ((mono, c),) = body.terms.items()
        result = POLY_ONE
        if c != 1:
            if size.constant is not None:
                result = number(c ** int(size.constant.p))
            elif c > 0:
                result = powers.exponential(ctx, algebra.multiply(ctx, size, powers.logarithm(ctx, number(c))))
            else:
                named = _named(ctx, t, number(-1))
                result = of_atom(ctx.atom("prod", (size,), named))
                result = algebra.multiply(ctx, result, product_over(ctx, t, number(-c)))
        for a, e in mono:
            if a.kind == "exp":
                result = algebra.multiply(
                    ctx,
                    result,
                    powers.exponential(
                        ctx, sum_over(ctx, (t,), scale(of_mono(a.data[0]), powers.fmpq(e.numerator, e.denominator)))
                    ),
                )
            elif t not in a.free:
                result = algebra.multiply(
                    ctx, result, powers.symbolic_power(ctx, algebra.of_factors(ctx, ((a, e),)), size)
                )
            else:
                named = _named(ctx, t, of_atom(a))
                result = algebra.multiply(
                    ctx, result, powers.power_of(ctx, of_atom(ctx.atom("prod", (size,), named)), e)
                )
        return result
    named = _named(ctx, t, body)
    return of_atom(ctx.atom("prod", (size,), named))
