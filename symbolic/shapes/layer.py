"""The steps of one attention layer on named arrays, from the projections to the output; `attention` says which layer.

The steps are those of Vaswani et al. (2017), section 3.2.2; each has the sentence that its line of the trace shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ..language.arrays import Array
from ..language.indices import index
from ..language.nodes import Indicator
from .axes import Atom, Axis
from .contracting import contract, linear
from .dependence import dependence
from .joining import concatenate, repeat
from .named import NamedArray, named
from .notation import number
from .pointwise import operand, scale, softmax
from .rearranging import merge, split, transpose, view
from .trace import Line, Trace, record

SOURCE = "Vaswani et al., Attention Is All You Need (2017), section 3.2"


@dataclass(frozen=True)
class Layer:
    """The axes of one layer and its options."""

    x: tuple[Axis, Axis, Axis]  # batch, queries, model
    kv: tuple[Axis, Axis, Axis]  # batch, keys, model
    heads: Axis
    kv_heads: Axis
    group: Axis | None
    head_size: Axis
    past: Axis | None
    mask: str
    bias: bool
    length_first: bool
    cross: bool
    intermediates: bool


def steps(layer: Layer) -> tuple[NamedArray, dict[str, NamedArray]]:
    b, n, d_model = layer.x
    m = layer.kv[1]
    queries = named("x_q" if layer.cross else "x", _ordered(layer, b, n, d_model))
    memory = named("x_kv", _ordered(layer, b, m, layer.kv[2])) if layer.cross else queries
    inputs = {"q": queries, "kv": memory} if layer.cross else {"x": queries}
    for array in inputs.values():
        record(Line("input", operand(array), formula=array.label, why=_input_words(layer, array)))
    q = _heads(
        layer,
        queries,
        "Q",
        layer.heads,
        n,
        f"each token's {d_model} features become {layer.heads}·{layer.head_size} query features; W_Q holds all heads "
        "side by side",
    )
    source = "the other sequence" if layer.cross else "the same tokens"
    k = _heads(layer, memory, "K", layer.kv_heads, m, f"keys, from {source}: what a query is compared with")
    v = _heads(layer, memory, "V", layer.kv_heads, m, f"values, from {source}: what is averaged")
    k, v, together = _with_cache(layer, k, v, m)
    if layer.group is not None:
        r, g, h = layer.group, layer.kv_heads, layer.heads
        why = (
            f"query head a uses KV head a // {r}: each of the {g} KV heads serves {r} neighbouring query heads "
            f"(repeat, order ({g} {r})); "
            f"tile would pair query head a with KV head a mod {g}"
        )
        k = repeat(k, g.name, r.atoms[0], "K_r", h.name, why)
        v = repeat(
            v, g.name, r.atoms[0], "V_r", h.name, "as for the keys; no parameters, and no copy is needed in memory"
        )
    return _output(layer, _attend(layer, q, k, v, together)), inputs


def _ordered(layer: Layer, batch: Axis, length: Axis, features: Axis) -> list[Axis]:
    return [length, batch, features] if layer.length_first else [batch, length, features]


def _input_words(layer: Layer, array: NamedArray) -> str:
    a, b, c = array.axes
    batch, length = (b, a) if layer.length_first else (a, b)
    first = "length" if layer.length_first else "batch"
    words = f"{batch} is the batch, {length} the length ({first} first), {c} the features of a token"
    return words + (f"; only the {length} new tokens, {layer.past} are in the cache" if layer.past is not None else "")


def _heads(layer: Layer, x: NamedArray, name: str, heads: Axis, length: Axis, why: str) -> NamedArray:
    """Projection, split into heads, and heads in front of the length."""
    both = Axis((*heads.atoms, *layer.head_size.atoms))
    projected = linear(x, f"W_{name}", both, name, f"b_{name}" if layer.bias else "", why, layer.intermediates)
    first = name == "Q"
    parted = split(
        projected,
        both.name,
        [*heads.atoms, *layer.head_size.atoms],
        f"{name}_s",
        f"feature c = a·{layer.head_size} + e is feature e of head a; the elements stay where they are"
        if first
        else "as for Q",
    )
    batch = layer.x[0].name
    order = [batch, _own(parted, heads), length.name, layer.head_size.name]
    return transpose(
        parted,
        order,
        f"{name}_h",
        f"heads go in front of the length, so that each head is a matrix of its own ({length} × "
        f"{layer.head_size}); without it the split shape would mix tokens into heads"
        if first
        else "as for Q",
    )


def _own(x: NamedArray, heads: Axis) -> str:
    return next(a.name for a in x.axes if a.atoms == heads.atoms)


def _with_cache(layer: Layer, k: NamedArray, v: NamedArray, m: Axis) -> tuple[NamedArray, NamedArray, Axis]:
    """Keys and values of earlier tokens put in front."""
    if layer.past is None:
        return k, v, m
    p = layer.past
    places = [layer.x[0], layer.kv_heads, p, layer.head_size]
    found = []
    for name, new in (("K", k), ("V", v)):
        cached = named(f"{name}_cache", places)
        why = (
            f"{p} old tokens, then {m} new: their {'keys' if name == 'K' else 'values'} do not depend on later "
            "tokens, so they were kept "
            "instead of computed again"
        )
        found.append(concatenate([cached, new], 2, f"{name}_all", f"{p}+{m}", why))
    return found[0], found[1], found[0].axes[2]


def _attend(layer: Layer, q: NamedArray, k: NamedArray, v: NamedArray, keys: Axis) -> NamedArray:
    """Scores, scale, mask, softmax, weighted sum: one matrix product for each example and head."""
    b, n, _ = layer.x
    h, d = layer.heads, layer.head_size
    other = Axis(tuple(Atom(a.name + "'", a.size) for a in keys.atoms)) if keys.name == n.name else keys
    k, v = (NamedArray(x.value, x.axes, x.label) if other is keys else _renamed(x, keys, other) for x in (k, v))
    lead = [b.name, h.name]
    s = contract(
        q,
        k,
        [d.name],
        [*lead, n.name, other.name],
        "S",
        "batched matmul",
        f"S = {q.label} {k.label}ᵀ",
        f"entry (i, j) of head a is the product of query i with key j, summed over {d}",
        layer.intermediates,
    )
    root = sp.sqrt(d.size)
    scaled = scale(
        s,
        root,
        "Z",
        f"a sum of {d} products of independent entries of variance 1 has variance {d}; divided by √{d} (not by "
        f"√{layer.x[2]}) it has variance 1 again",
        f"Z = S / √{d}",
    )
    mask = _mask(layer, scaled, keys, other)
    weights = softmax(
        scaled,
        -1,
        "P",
        mask,
        f"over the last axis, {other}: each query has weights over the keys that sum to 1",
        named_value=layer.intermediates,
        formula="P = softmax(Z + log M)" if mask is not None else "",
    )
    return contract(
        weights,
        v,
        [other.name],
        [*lead, n.name, d.name],
        "O",
        "batched matmul",
        f"O = P {v.label}",
        "each query receives the average of the values with its weights",
        layer.intermediates,
    )


def _renamed(x: NamedArray, old: Axis, new: Axis) -> NamedArray:
    """The array with another name on one axis: keys and queries of one sequence are told apart."""
    result = NamedArray(x.value, x.axes, x.label, x.factor, x.summed)
    result.axes = tuple(new if a.name == old.name else a for a in x.axes)
    return result


def _mask(layer: Layer, scores: NamedArray, keys: Axis, other: Axis) -> NamedArray | None:
    """The mask as an array of 0 and 1 that broadcasts to the scores by name."""
    if not layer.mask:
        return None
    n = layer.x[1]
    if layer.mask == "padding":
        given = named("M", [layer.x[0], keys], "binary")
        result = _renamed(given, keys, other)
        record(
            Line(
                "input",
                operand(result),
                formula="M",
                why=f"1 for a real token, 0 for padding: one row of {other} keys an example",
            )
        )
        return view(
            result,
            f"{layer.x[0]} 1 1 {other}" if len(other.name.split()) == 1 else "",
            "M_v",
            f"[{layer.x[0]}, {other}] alone would be stretched over heads and queries from the right, {layer.x[0]} "
            f"against {n}",
        )
    i, j = index("i", n.size), index("j", keys.size)
    offset = layer.past.size if layer.past is not None else sp.S.Zero
    value = Array((i, j), Indicator(sp.Le(j, i + offset)))
    result = NamedArray(value, [n, keys], "M")
    result.axes = (n, other)
    place = f"i + {layer.past}" if layer.past is not None else "i"
    record(
        Line(
            "mask",
            operand(result),
            formula=f"M_ij = [j ≤ {place}]",
            why=f"query {place} sees the keys j ≤ {place}: its own and earlier "
            "ones; the mask has no batch and no head, and is stretched over both",
        )
    )
    return result


def _output(layer: Layer, o: NamedArray) -> NamedArray:
    """Heads back behind the length, merged, and mapped by the output projection."""
    b, n, d_model = layer.x
    order = _ordered(layer, b, n, layer.heads)
    back = transpose(
        o,
        [*(a.name for a in order), layer.head_size.name],
        "O_t",
        f"heads go back next to their features; a merge without this has the right shape and, unless {layer.heads} = "
        "1 or "
        f"{n} = 1, the wrong values",
    )
    joined_heads = merge(
        back,
        [layer.heads.name, layer.head_size.name],
        "C",
        f"the heads of a token stand side by side again: c = a·{layer.head_size} + e, the inverse of the split",
    )
    return linear(
        joined_heads,
        "W_O",
        d_model,
        "Y",
        "b_O" if layer.bias else "",
        "mixes the heads: Y = Σ_a head_a W_O^a, with the rows of W_O that belong to head a",
        layer.intermediates,
    )


def notes(trace: Trace, layer: Layer, inputs: dict[str, NamedArray]) -> list[str]:
    """What the trace proves beside shapes, and what it costs in memory."""
    found = []
    b, n, _ = layer.x
    for array in inputs.values():
        read = dependence(trace.result, array)
        if any(a.name == b.name for a in read.kept):
            found.append(
                f"Y at one place of {b} reads {array.label} at that place only: the examples of a batch do not meet "
                "(read off the indices)"
            )
    scores = (
        sp.Mul(b.size, layer.heads.size, n.size, *(a.size for a in layer.kv[1].atoms)) if layer.past is None else None
    )
    if scores is not None:
        found.append(
            f"the scores have {_count(trace, scores, 'entries')}"
            + ": memory grows with the product of the lengths"
        )
    if layer.past is not None:
        kept = sp.expand(2 * b.size * layer.kv_heads.size * (layer.past.size + n.size) * layer.head_size.size)
        found.append(f"the cache holds {_count(trace, kept, 'numbers')} after this step")
    found.append("one multiply-add is a multiplication and the addition after it; a FLOP count is about twice that")
    found.append(f"source: {SOURCE}")
    return found


def _count(trace: Trace, value: sp.Expr, unit: str) -> str:
    """``B h n² entries = 1,200``: in the sizes of the input, and as a number where it is known."""
    known = trace.size(value)
    return f"{number(trace.cost(value))} {unit}" + (f" = {number(known)}" if known != value else "")
