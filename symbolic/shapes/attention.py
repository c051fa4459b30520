"""Multi-head attention as a trace: Vaswani et al., Attention Is All You Need (2017), section 3.2, from the input to the output projection.

One function writes all variants with the same steps: self and cross attention, causal and padding masks, grouped and single
KV heads, decoding with a cache, both layouts. It runs on named arrays, so the result of the trace is also the index expression of
the whole computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from ..language.errors import ShapeError
from ..language.indices import index
from ..language.nodes import Indicator
from ..language.arrays import Array
from ..language.sizes import Size, SizeLike, size
from ..rendering import text
from .axes import Atom, Axis
from .contracting import contract, linear
from .dependence import dependence
from .named import NamedArray, named
from .pointwise import operand, scale, softmax
from .rearranging import concatenate, merge, repeat, split, transpose, view
from .roles import Roles, check_layout, indivisible, same_axis
from .trace import Line, Recorder, Trace, record, recording

Shape = Sequence[SizeLike]
_SOURCE = "Vaswani et al., Attention Is All You Need (2017), section 3.2"


@dataclass(frozen=True)
class _Layer:
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


def multi_head_attention(x: Shape, heads: SizeLike, *, kv_heads: SizeLike | None = None, mask: Literal["", "causal", "padding"] = "",
                         cache: SizeLike | None = None, length_first: bool = False, bias: bool = True, head_size: SizeLike | None = None,
                         intermediates: bool = True) -> Trace:
    """Trace multi-head self-attention on an input of shape (batch, length, features), or (length, batch, features) if `length_first`.

    Sizes are names, numbers or arithmetic. `kv_heads` groups query heads over fewer KV heads (1: multi-query); `cache` is the
    number of tokens whose keys and values are kept from earlier steps; `head_size` frees d_k from d_model/h. With
    `intermediates` Q, K, V, ... stay named in the result's expression; without, it is written out.

    >>> trace = multi_head_attention((1, 10, 768), heads=12)
    >>> trace.sizes(trace.result.axes), trace.cost(trace.parameters)
    ((1, 10, 768), 4*d_model**2 + 4*d_model)

    Raises ShapeError for sizes that do not fit, with both sizes, the bindings and the condition.
    """
    shape = _three(x, "x")
    check_layout(shape, length_first)
    roles = Roles()
    ordered = (shape[1], shape[0], shape[2]) if length_first else shape
    axes = (roles.axis(ordered[0], "B"), roles.axis(ordered[1], "n", "L"), roles.axis(ordered[2], "d_model", "d"))
    return _traced(roles, axes, axes, heads, kv_heads, head_size, cache, mask, bias, length_first, False, intermediates)


def cross_attention(q: Shape, kv: Shape, heads: SizeLike, *, kv_heads: SizeLike | None = None, mask: Literal["", "causal", "padding"] = "",
                    cache: SizeLike | None = None, length_first: bool = False, bias: bool = True, head_size: SizeLike | None = None,
                    intermediates: bool = True) -> Trace:
    """Trace attention of a sequence to another one: queries from `q`, keys and values from `kv`, whose length is its own.

    >>> trace = cross_attention((2, 4, 512), (2, 7, 512), heads=8, kv_heads=2)
    >>> next(trace.sizes(line.result.axes) for line in trace.lines if line.result.label == "S")
    (2, 8, 4, 7)
    """
    first, second = _three(q, "q"), _three(kv, "kv")
    if mask == "causal":
        raise ShapeError("mask: a causal mask compares positions of one sequence, and queries and keys are of two; use the mask 'padding'")
    if cache is not None:
        raise ShapeError("cache: the keys of cross-attention come from the other sequence, which does not grow; drop the cache")
    check_layout(first, length_first)
    check_layout(second, length_first)
    if length_first:
        first, second = (first[1], first[0], first[2]), (second[1], second[0], second[2])
    roles = Roles()
    batch, length, model = roles.axis(first[0], "B"), roles.axis(first[1], "L_q"), roles.axis(first[2], "d_model", "d")
    same_axis(roles, second[0], batch, "cross-attention", "the batch of q and of kv")
    keys = Axis((Atom(f"{length}_kv", Size(f"{length}_kv")),)) if size(second[1]) == length.size else roles.axis(second[1], "L_kv")
    if keys.name == f"{length}_kv":
        roles.names.append(keys.name)
        roles.bindings[keys.size] = length.size
    same_width = size(second[2]) in (roles.value(model), model.size)
    width = model if same_width else roles.axis(second[2], "d_kv", "d_enc")
    return _traced(roles, (batch, length, model), (batch, keys, width), heads, kv_heads, head_size, None, mask, bias, length_first, True,
                   intermediates)


def _three(shape: Shape, name: str) -> tuple[SizeLike, SizeLike, SizeLike]:
    sizes = tuple(shape.split(",")) if isinstance(shape, str) else tuple(shape)
    if len(sizes) != 3:
        raise ShapeError(f"input: {name} has the axes batch, length and features; got {len(sizes)} sizes ({', '.join(map(str, sizes))}), "
                         f"give three, e.g. 1,10,768 or B,n,d_model")
    return sizes  # type: ignore[return-value]


def _traced(roles: Roles, x: tuple[Axis, Axis, Axis], kv: tuple[Axis, Axis, Axis], heads: SizeLike, kv_heads: SizeLike | None,
            head_size: SizeLike | None, cache: SizeLike | None, mask: str, bias: bool, length_first: bool, cross: bool,
            intermediates: bool) -> Trace:
    if mask not in ("", "causal", "padding"):
        raise ShapeError(f"mask: {mask!r} is none of 'causal' and 'padding'")
    h, g, r = _head_axes(roles, heads, kv_heads)
    d = roles.factor(x[2], h, "split heads", "d_k", "d_h") if head_size is None else roles.axis(head_size, "d_k", "d_h")
    past = roles.axis(cache, "p", "past") if cache is not None else None
    layer = _Layer(x, kv, h, g, r, d, past, mask, bias, length_first, cross, intermediates)
    to = Recorder(bindings=roles.bindings)
    with recording(to):
        result, inputs = _steps(layer)
    names = [f"{label} = [{', '.join(text(roles.value(a)) for a in array.axes)}]" for label, array in inputs.items()]
    grouped = f", {text(roles.value(g))} KV head{'s' * (roles.value(g) != 1)}" if r is not None else ""
    title = f"{'Multi-head cross-attention' if cross else 'Multi-head attention'}: {', '.join(names)}, {text(roles.value(h))} heads{grouped}"
    trace = Trace(title, tuple(to.lines), result, roles.bindings, roles.definitions, tuple(roles.conditions))
    return trace.with_notes(*_notes(trace, layer, inputs))


def _head_axes(roles: Roles, heads: SizeLike, kv_heads: SizeLike | None) -> tuple[Axis, Axis, Axis | None]:
    """Query heads, KV heads, and the query heads of one KV head; with groups the query heads are h = g·r."""
    if kv_heads is None or size(kv_heads) == size(heads):
        h = roles.axis(heads, "h", "H")
        return h, h, None
    value, groups = size(heads), size(kv_heads)
    if value.is_Integer and groups.is_Integer and int(value) % int(groups):
        raise ShapeError(indivisible("group heads", Axis((Atom("h", Size("h")),)), Axis((Atom("g", Size("g")),)), int(value), int(groups), "r",
                                     {**roles.bindings, Size("h"): value, Size("g"): groups}))
    h = roles.axis(heads, "h", "H")
    g = roles.axis(kv_heads, "g", "G")
    r = roles.factor(h, g, "group heads", "r", "q")
    # The elements of the repeated axis are those of (g r), so that is its size; its name stays h.
    return Axis((Atom(h.name, g.size * r.size),)), g, r


def _steps(layer: _Layer) -> tuple[NamedArray, dict[str, NamedArray]]:
    b, n, d_model = layer.x
    m = layer.kv[1]
    queries = named("x_q" if layer.cross else "x", _ordered(layer, b, n, d_model))
    memory = named("x_kv", _ordered(layer, b, m, layer.kv[2])) if layer.cross else queries
    inputs = {"q": queries, "kv": memory} if layer.cross else {"x": queries}
    for array in inputs.values():
        record(Line("input", operand(array), formula=array.label, why=_input_words(layer, array)))
    q = _heads(layer, queries, "Q", layer.heads, n,
               f"each token's {d_model} features become {layer.heads}·{layer.head_size} query features; W_Q holds all heads side by side")
    source = "the other sequence" if layer.cross else "the same tokens"
    k = _heads(layer, memory, "K", layer.kv_heads, m, f"keys, from {source}: what a query is compared with")
    v = _heads(layer, memory, "V", layer.kv_heads, m, f"values, from {source}: what is averaged")
    k, v, together = _with_cache(layer, k, v, m)
    if layer.group is not None:
        r, g, h = layer.group, layer.kv_heads, layer.heads
        why = (f"query head a uses KV head a // {r}: each of the {g} KV heads serves {r} neighbouring query heads (repeat, order ({g} {r})); "
               f"tile would pair query head a with KV head a mod {g}")
        k = repeat(k, g.name, r.atoms[0], "K_r", h.name, why)
        v = repeat(v, g.name, r.atoms[0], "V_r", h.name, "as for the keys; no parameters, and no copy is needed in memory")
    return _output(layer, _attend(layer, q, k, v, together)), inputs


def _ordered(layer: _Layer, batch: Axis, length: Axis, features: Axis) -> list[Axis]:
    return [length, batch, features] if layer.length_first else [batch, length, features]


def _input_words(layer: _Layer, array: NamedArray) -> str:
    a, b, c = array.axes
    batch, length = (b, a) if layer.length_first else (a, b)
    words = f"{batch} is the batch, {length} the length ({'length' if layer.length_first else 'batch'} first), {c} the features of a token"
    return words + (f"; only the {length} new tokens, {layer.past} are in the cache" if layer.past is not None else "")


def _heads(layer: _Layer, x: NamedArray, name: str, heads: Axis, length: Axis, why: str) -> NamedArray:
    """Projection, split into heads, and heads in front of the length."""
    both = Axis((*heads.atoms, *layer.head_size.atoms))
    projected = linear(x, f"W_{name}", both, name, f"b_{name}" if layer.bias else "", why, layer.intermediates)
    first = name == "Q"
    parted = split(projected, both.name, [*heads.atoms, *layer.head_size.atoms], f"{name}_s",
                   f"feature c = a·{layer.head_size} + e is feature e of head a; the elements stay where they are" if first else "as for Q")
    batch = layer.x[0].name
    order = [batch, _own(parted, heads), length.name, layer.head_size.name]
    return transpose(parted, order, f"{name}_h", f"heads go in front of the length, so that each head is a matrix of its own ({length} × "
                     f"{layer.head_size}); without it the split shape would mix tokens into heads" if first else "as for Q")


def _own(x: NamedArray, heads: Axis) -> str:
    return next(a.name for a in x.axes if a.atoms == heads.atoms)


def _with_cache(layer: _Layer, k: NamedArray, v: NamedArray, m: Axis) -> tuple[NamedArray, NamedArray, Axis]:
    """Keys and values of earlier tokens put in front."""
    if layer.past is None:
        return k, v, m
    p = layer.past
    places = [layer.x[0], layer.kv_heads, p, layer.head_size]
    found = []
    for name, new in (("K", k), ("V", v)):
        cached = named(f"{name}_cache", places)
        why = (f"{p} old tokens, then {m} new: their {'keys' if name == 'K' else 'values'} do not depend on later tokens, so they were kept "
               "instead of computed again")
        found.append(concatenate([cached, new], 2, f"{name}_all", f"{p}+{m}", why))
    return found[0], found[1], found[0].axes[2]


def _attend(layer: _Layer, q: NamedArray, k: NamedArray, v: NamedArray, keys: Axis) -> NamedArray:
    """Scores, scale, mask, softmax, weighted sum: one matrix product for each example and head."""
    b, n, _ = layer.x
    h, d = layer.heads, layer.head_size
    other = Axis(tuple(Atom(a.name + "'", a.size) for a in keys.atoms)) if keys.name == n.name else keys
    k, v = (NamedArray(x.value, x.axes, x.label) if other is keys else _renamed(x, keys, other) for x in (k, v))
    lead = [b.name, h.name]
    s = contract(q, k, [d.name], [*lead, n.name, other.name], "S", "batched matmul", f"S = {q.label} {k.label}ᵀ",
                 f"entry (i, j) of head a is the product of query i with key j, summed over {d}", layer.intermediates)
    root = sp.sqrt(d.size)
    scaled = scale(s, root, "Z", f"a sum of {d} products of independent entries of variance 1 has variance {d}; divided by √{d} (not by "
                   f"√{layer.x[2]}) it has variance 1 again", f"Z = S / √{d}")
    mask = _mask(layer, scaled, keys, other)
    weights = softmax(scaled, -1, "P", mask, f"over the last axis, {other}: each query has weights over the keys that sum to 1",
                      named_value=layer.intermediates, formula="P = softmax(Z + log M)" if mask is not None else "")
    return contract(weights, v, [other.name], [*lead, n.name, d.name], "O", "batched matmul", f"O = P {v.label}",
                    "each query receives the average of the values with its weights", layer.intermediates)


def _renamed(x: NamedArray, old: Axis, new: Axis) -> NamedArray:
    """The array with another name on one axis: keys and queries of one sequence are told apart."""
    result = NamedArray(x.value, x.axes, x.label, x.factor, x.summed)
    result.axes = tuple(new if a.name == old.name else a for a in x.axes)
    return result


def _mask(layer: _Layer, scores: NamedArray, keys: Axis, other: Axis) -> NamedArray | None:
    """The mask as an array of 0 and 1 that broadcasts to the scores by name."""
    if not layer.mask:
        return None
    n = layer.x[1]
    if layer.mask == "padding":
        given = named("M", [layer.x[0], keys], "binary")
        result = _renamed(given, keys, other)
        record(Line("input", operand(result), formula="M", why=f"1 for a real token, 0 for padding: one row of {other} keys an example"))
        return view(result, f"{layer.x[0]} 1 1 {other}" if len(other.name.split()) == 1 else "", "M_v",
                    f"[{layer.x[0]}, {other}] alone would be stretched over heads and queries from the right, {layer.x[0]} against {n}")
    i, j = index("i", n.size), index("j", keys.size)
    offset = layer.past.size if layer.past is not None else sp.S.Zero
    value = Array((i, j), Indicator(sp.Le(j, i + offset)))
    result = NamedArray(value, [n, keys], "M")
    result.axes = (n, other)
    place = f"i + {layer.past}" if layer.past is not None else "i"
    record(Line("mask", operand(result), formula=f"M_ij = [j ≤ {place}]", why=f"query {place} sees the keys j ≤ {place}: its own and earlier "
                "ones; the mask has no batch and no head, and is stretched over both"))
    return result


def _output(layer: _Layer, o: NamedArray) -> NamedArray:
    """Heads back behind the length, merged, and mapped by the output projection."""
    b, n, d_model = layer.x
    order = _ordered(layer, b, n, layer.heads)
    back = transpose(o, [*(a.name for a in order), layer.head_size.name], "O_t",
                     f"heads go back next to their features; a merge without this has the right shape and, unless {layer.heads} = 1 or "
                     f"{n} = 1, the wrong values")
    joined_heads = merge(back, [layer.heads.name, layer.head_size.name], "C", "the heads of a token stand side by side again: c = "
                         f"a·{layer.head_size} + e, the inverse of the split")
    return linear(joined_heads, "W_O", d_model, "Y", "b_O" if layer.bias else "",
                  "mixes the heads: Y = Σ_a head_a W_O^a, with the rows of W_O that belong to head a", layer.intermediates)


def _notes(trace: Trace, layer: _Layer, inputs: dict[str, NamedArray]) -> list[str]:
    """What the trace proves beside shapes, and what it costs in memory."""
    found = []
    b, n, _ = layer.x
    for array in inputs.values():
        read = dependence(trace.result, array)
        if any(a.name == b.name for a in read.kept):
            found.append(f"Y at one place of {b} reads {array.label} at that place only: the examples of a batch do not meet "
                         "(read off the indices)")
    scores = sp.Mul(b.size, layer.heads.size, n.size, *(a.size for a in layer.kv[1].atoms)) if layer.past is None else None
    if scores is not None:
        found.append(f"the scores have {text(trace.cost(scores))} entries" + (f" = {text(trace.size(scores))}" if trace.size(scores) != scores else "")
                     + ": memory grows with the product of the lengths")
    if layer.past is not None:
        kept = sp.expand(2 * b.size * layer.kv_heads.size * (layer.past.size + n.size) * layer.head_size.size)
        number = trace.size(kept)
        found.append(f"the cache holds {text(trace.cost(kept))} numbers" + (f" = {text(number)}" if number != kept else "") + " after this step")
    found.append("one multiply-add is a multiplication and the addition after it; a FLOP count is about twice that")
    found.append(f"source: {_SOURCE}")
    return found
