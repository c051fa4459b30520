"""Inverse and determinant of a whole matrix, as atoms with their relations.

An atom holds its matrix as a polynomial in two bound indices. What is used: (AB)⁻¹ = B⁻¹A⁻¹ and det AB = det A det B
for square
factors, (A⁻¹)⁻¹ = A, (Aᵀ)⁻¹ = (A⁻¹)ᵀ, Σ_j A⁻¹_ij A_jk = δ_ik under sums, and the derivatives.
"""

from __future__ import annotations

from fractions import Fraction

from . import algebra, cancellation, indicators, powers, signs, sums
from .context import Context
from .terms import ONE, ONE_Q, POLY_ONE, Atom, Mono, Poly, free_of, merge, negative, of_atom, scale, subtract

Matrix = tuple[Atom, Atom, Poly]  # temporaries for row and column, and the element


def opened(ctx: Context, a: Atom) -> Matrix:
    """The matrix of an atom with fresh temporaries."""
    (size,) = a.data[0]
    row, column = ctx.temporary(size), ctx.temporary(size)
    mapping = {ctx.index(("b", a.height, 0), size): of_atom(row), ctx.index(("b", a.height, 1), size): of_atom(column)}
    return row, column, algebra.substitute(ctx, a.data[1], mapping)


def _named(ctx: Context, m: Matrix) -> Poly:
    row, column, body = m
    height = body.height + 1
    return algebra.substitute(
        ctx,
        body,
        {
            row: of_atom(ctx.index(("b", height, 0), row.data[1])),
            column: of_atom(ctx.index(("b", height, 1), column.data[1])),
        },
    )


def _content(ctx: Context, m: Matrix) -> tuple[Poly, Matrix]:
    """Positive numbers and factors without row and column, taken out of a matrix with one term."""
    row, column, body = m
    if len(body.terms) != 1:
        return POLY_ONE, m
    ((mono, c),) = body.terms.items()
    outside = tuple((a, e) for a, e in mono if not (a.free & {row, column}) and signs.atom_sign(ctx, a) == "+")
    inside = tuple(f for f in mono if f not in outside)
    if (not outside and abs(c) == 1) or not inside:
        return POLY_ONE, m
    return algebra.of_factors(ctx, outside, abs(c)), (row, column, Poly({inside: ONE_Q if c > 0 else -ONE_Q}))


def _factors(ctx: Context, m: Matrix) -> tuple[Matrix, Matrix] | None:
    """A matrix that is a product of two square ones: Σ_k A_ik B_kj."""
    row, column, body = m
    if len(body.terms) != 1:
        return None
    ((mono, c),) = body.terms.items()
    if c != 1 or len(mono) != 1 or mono[0][0].kind != "sum" or mono[0][1] != 1:
        return None
    temporaries, inner = sums.open_sum(ctx, mono[0][0])
    if len(inner.terms) != 1 or next(iter(inner.terms.values())) != 1:
        return None
    ((flat, _),) = inner.terms.items()
    left = tuple(f for f in flat if row in f[0].free)
    right = tuple(f for f in flat if row not in f[0].free)
    shared = [t for t in temporaries if t in free_of(left) and t in free_of(right)]
    if len(shared) != 1 or column in free_of(left) or column not in free_of(right) or shared[0].data[1] != row.data[1]:
        return None
    k = shared[0]
    only_left = tuple(t for t in temporaries if t in free_of(left) and t is not k)
    only_right = tuple(t for t in temporaries if t in free_of(right) and t is not k)
    return (row, k, sums.sum_over(ctx, only_left, left)), (k, column, sums.sum_over(ctx, only_right, right))


def _single(m: Matrix, kind: str) -> Atom | None:
    """The atom when the matrix is one atom of a kind."""
    body = m[2]
    mono = next(iter(body.terms)) if len(body.terms) == 1 else ONE
    if len(mono) == 1 and mono[0][1] == 1 and body.terms[mono] == 1 and mono[0][0].kind == kind:
        return mono[0][0]
    return None


def inverse(ctx: Context, m: Matrix, i: Poly, j: Poly) -> Poly:
    """The element (i, j) of the inverse."""
    row, column, body = m
    if body == indicators.equals_zero(ctx, subtract(of_atom(row), of_atom(column))):
        return indicators.equals_zero(ctx, subtract(i, j))
    content, m = _content(ctx, m)
    if content is not POLY_ONE:
        return algebra.multiply(ctx, powers.power_of(ctx, content, -1), inverse(ctx, m, i, j))
    again = _single(m, "inv")
    if again is not None and {again.data[2], again.data[3]} == {of_atom(row), of_atom(column)}:
        r, c, inner = opened(ctx, again)
        swapped = again.data[2] == of_atom(column)
        return algebra.substitute(ctx, inner, {r: j, c: i} if swapped else {r: i, c: j})
    split = _factors(ctx, m)
    if split is not None:
        left, right = split
        k = ctx.temporary(row.data[1])
        return sums.sum_over(
            ctx, (k,), algebra.multiply(ctx, inverse(ctx, right, i, of_atom(k)), inverse(ctx, left, of_atom(k), j))
        )
    named, turned = _named(ctx, m), _named(ctx, (column, row, m[2]))
    if turned == named:  # a symmetric matrix has a symmetric inverse
        if j.digest < i.digest:
            i, j = j, i
    elif turned.digest < named.digest:
        named, i, j = turned, j, i
    return of_atom(ctx.atom("inv", (row.data[1],), named, i, j))


def determinant(ctx: Context, m: Matrix) -> Poly:
    """The determinant."""
    row, column, body = m
    if body == indicators.equals_zero(ctx, subtract(of_atom(row), of_atom(column))):
        return POLY_ONE
    content, m = _content(ctx, m)
    if content is not POLY_ONE:
        return algebra.multiply(ctx, powers.symbolic_power(ctx, content, row.data[1]), determinant(ctx, m))
    again = _single(m, "inv")
    if again is not None and {again.data[2], again.data[3]} == {of_atom(row), of_atom(column)}:
        return powers.power_of(ctx, determinant(ctx, opened(ctx, again)), -1)
    split = _factors(ctx, m)
    if split is not None:
        return algebra.multiply(ctx, determinant(ctx, split[0]), determinant(ctx, split[1]))
    named, turned = _named(ctx, m), _named(ctx, (column, row, m[2]))
    return of_atom(ctx.atom("det", (row.data[1],), min(named, turned, key=lambda p: p.digest)))


def rebuilt(ctx: Context, a: Atom, mapping: dict[Atom, Poly]) -> Poly:
    """The atom with indices replaced."""
    row, column, body = opened(ctx, a)
    m = (row, column, algebra.substitute(ctx, body, mapping))
    if a.kind == "det":
        return determinant(ctx, m)
    return inverse(ctx, m, algebra.substitute(ctx, a.data[2], mapping), algebra.substitute(ctx, a.data[3], mapping))


def derivative(ctx: Context, a: Atom, of_poly: object) -> Poly:
    """d A⁻¹_ij = -Σ A⁻¹_ip dA_pq A⁻¹_qj and d det A = det A Σ A⁻¹_qp dA_pq."""
    row, column, body = opened(ctx, a)
    inner: Poly = of_poly(body)  # type: ignore[operator]
    if not inner.terms:
        return inner
    m = opened(ctx, a)
    if a.kind == "det":
        total = sums.sum_over(
            ctx, (row, column), algebra.multiply(ctx, inner, inverse(ctx, m, of_atom(column), of_atom(row)))
        )
        return algebra.multiply(ctx, of_atom(a), total)
    left, right = inverse(ctx, m, a.data[2], of_atom(row)), inverse(ctx, m, of_atom(column), a.data[3])
    return negative(sums.sum_over(ctx, (row, column), algebra.product(ctx, left, inner, right)))


def sign(ctx: Context, a: Atom) -> str:
    """The sign of a determinant by the domain of its matrix."""
    if a.kind != "det":
        return "?"
    m = opened(ctx, a)
    atom = _single(m, "el")
    if atom is not None:
        name = atom.data[1].name
        if name in ("spd", "posdef_nonsym"):
            return "+"
        if name in ("invertible", "lower"):
            return "+" if name == "lower" else "!"
    return "?"


def cancel(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """Σ_t A⁻¹_it A_tk = δ_ik and Σ_t A_kt A⁻¹_tj = δ_kj inside a flat sum; a sum A by its leading term."""
    for a, e in mono:
        if a.kind != "inv" or e != 1:
            continue
        rest = tuple(f for f in mono if f[0] is not a)
        for place, other in ((3, 2), (2, 3)):
            t = _lone(a.data[place], temporaries)
            if t is None or t in a.data[other].free:
                continue
            found = _matched(ctx, a, place, t, temporaries, rest)
            if found is not None:
                return found
    return None


def _lone(p: Poly, temporaries: tuple[Atom, ...]) -> Atom | None:
    mono = next(iter(p.terms)) if len(p.terms) == 1 else ONE
    return (
        mono[0][0] if len(mono) == 1 and p.terms[mono] == 1 and mono[0][0] in temporaries and mono[0][1] == 1 else None
    )


def _matched(ctx: Context, a: Atom, place: int, t: Atom, temporaries: tuple[Atom, ...], rest: Mono) -> Poly | None:
    size = a.data[0][0]
    candidates = sorted((i for i in free_of(rest) if i is not t and i.data[1] == size), key=lambda i: i.digest)
    for k in candidates:
        row, column, body = opened(ctx, a)
        # the inverse's column meets the matrix's row, its row meets the matrix's column
        at = {row: of_atom(t), column: of_atom(k)} if place == 3 else {row: of_atom(k), column: of_atom(t)}
        matrix = algebra.substitute(ctx, body, at)
        if not matrix.terms:
            continue
        lead, c = algebra.lead_of(matrix)
        current, gone = rest, frozenset()
        for b, power in lead:
            if isinstance(power, Fraction) or power < 0:
                return None
            for _ in range(power):
                if dict(current).get(b, 0) >= 1:
                    current = merge(current, ((b, -1),))
                    continue
                left = tuple(x for x in temporaries if x not in gone and x is not t)
                match = cancellation.match_sum(ctx, b, left, current) if b.kind == "sum" else None
                if match is None:
                    break
                current, more = match
                gone |= more
            else:
                continue
            break
        else:
            if t in free_of(current) or free_of(current) & gone:
                continue
            others = tuple(x for x in temporaries if x not in gone)
            end = a.data[2] if place == 3 else a.data[3]
            delta = algebra.multiply(
                ctx, indicators.equals_zero(ctx, subtract(end, of_atom(k))), algebra.of_factors(ctx, current)
            )
            result = sums.sum_over(ctx, tuple(x for x in others if x is not t), delta)
            left_over = Poly({m: v for m, v in matrix.terms.items() if m != lead})
            if left_over.terms:
                body_rest = algebra.product(ctx, of_atom(a), left_over, algebra.of_factors(ctx, current))
                result = subtract(result, sums.sum_over(ctx, others, body_rest))
            return scale(result, 1 / c)
    return None
