"""Permutations: an integer array that takes every value once, by hypothesis Σ_j [π_j = k] = 1 for every k.

Then a sum over j in which j occurs only as π_j is a sum over the values: Σ_j f(π_j) = Σ_k f(k).
"""

from __future__ import annotations

from . import algebra, sums
from .context import Context
from .terms import POLY_ONE, Atom, Mono, Poly, of_atom, subtract


def recognise(ctx: Context, body: Poly, bound: tuple[Atom, ...], variables: tuple[Atom, ...], right: Poly) -> bool:
    """Enter π as a permutation when Σ_bound body = right says so."""
    if len(bound) != 1 or len(variables) != 1 or right != POLY_ONE or len(body.terms) != 1:
        return False
    ((mono, c),) = body.terms.items()
    if c != 1 or len(mono) != 1 or mono[0][0].kind != "eq" or bound[0].data[1] != variables[0].data[1]:
        return False
    labels = [a for m in mono[0][0].data[0].terms for a, _ in m if a.kind == "el"]
    if len(labels) != 1 or labels[0].data[2] != (of_atom(bound[0]),):
        return False
    difference = subtract(of_atom(labels[0]), of_atom(variables[0]))
    if mono[0][0].data[0] not in (difference, subtract(of_atom(variables[0]), of_atom(labels[0]))):
        return False
    if ctx.label_sizes.get(labels[0].data[0]) != bound[0].data[1]:
        return False
    ctx.permutations[labels[0].data[0]] = ctx.index(("permutation", labels[0].data[0]), POLY_ONE)
    return True


def unpermuted(ctx: Context, temporaries: tuple[Atom, ...], mono: Mono) -> Poly | None:
    """Σ_t f(π_t) = Σ_w f(w) where t occurs only as π_t."""
    for name in sorted(ctx.permutations):
        marker = ctx.permutations[name]
        if not any(marker in a.free for a, _ in mono):
            continue
        for t in temporaries:
            value = ctx.temporary(t.data[1])
            body = algebra.substitute_mono(ctx, mono, {marker: ("choose", t, value, name, marker)})  # type: ignore[dict-item]
            if t not in body.free and value in body.free:
                return sums.sum_over(ctx, (*(x for x in temporaries if x is not t), value), body)
    return None
