"""Multi-head attention as a trace: Vaswani et al., Attention Is All You Need (2017), section 3.2, from the input to the
output projection.

One function writes all variants with the same steps: self and cross attention, causal and padding masks, grouped and
single KV heads, decoding with a cache, both layouts. It runs on named arrays, so the result of the trace is also the
index expression of the whole computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..language.errors import ShapeError
from ..language.sizes import Size, SizeLike, size
from ..rendering import text
from .axes import Atom, Axis
from .layer import Layer, notes, steps
from .roles import Roles, check_layout, indivisible, same_axis
from .trace import Recorder, Trace, recording

Shape = Sequence[SizeLike]


def multi_head_attention(
    x: Shape,
    heads: SizeLike,
    *,
    kv_heads: SizeLike | None = None,
    mask: Literal["", "causal", "padding"] = "",
    cache: SizeLike | None = None,
    length_first: bool = False,
    bias: bool = True,
    head_size: SizeLike | None = None,
    intermediates: bool = True,
) -> Trace:
    """Trace multi-head self-attention on an input of shape (batch, length, features), or (length, batch, features) if
    `length_first`.

    Sizes are names, numbers or arithmetic. `kv_heads` groups query heads over fewer KV heads (1: multi-query); `cache`
    is the number of tokens whose keys and values are kept from earlier steps; `head_size` frees d_k from d_model/h.
    With `intermediates` Q, K, V, ... stay named in the result's expression; without, it is written out.

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


def cross_attention(
    q: Shape,
    kv: Shape,
    heads: SizeLike,
    *,
    kv_heads: SizeLike | None = None,
    mask: Literal["", "causal", "padding"] = "",
    cache: SizeLike | None = None,
    length_first: bool = False,
    bias: bool = True,
    head_size: SizeLike | None = None,
    intermediates: bool = True,
) -> Trace:
    """Trace attention of a sequence to another one: queries from `q`, keys and values from `kv`, whose length is its
    own.

    >>> trace = cross_attention((2, 4, 512), (2, 7, 512), heads=8, kv_heads=2)
    >>> next(trace.sizes(line.result.axes) for line in trace.lines if line.result.label == "S")
    (2, 8, 4, 7)
    """
    first, second = _three(q, "q"), _three(kv, "kv")
    if mask == "causal":
        raise ShapeError(
            "mask: a causal mask compares positions of one sequence, and queries and keys are of two; use the mask "
            "'padding'"
        )
    if cache is not None:
        raise ShapeError(
            "cache: the keys of cross-attention come from the other sequence, which does not grow; drop the cache"
        )
    check_layout(first, length_first)
    check_layout(second, length_first)
    if length_first:
        first, second = (first[1], first[0], first[2]), (second[1], second[0], second[2])
    roles = Roles()
    batch, length, model = roles.axis(first[0], "B"), roles.axis(first[1], "L_q"), roles.axis(first[2], "d_model", "d")
    same_axis(roles, second[0], batch, "cross-attention", "the batch of q and of kv")
    keys = (
        Axis((Atom(f"{length}_kv", Size(f"{length}_kv")),))
        if size(second[1]) == length.size
        else roles.axis(second[1], "L_kv")
    )
    if keys.name == f"{length}_kv":
        roles.names.append(keys.name)
        roles.bindings[keys.size] = length.size
    same_width = size(second[2]) in (roles.value(model), model.size)
    width = model if same_width else roles.axis(second[2], "d_kv", "d_enc")
    return _traced(
        roles,
        (batch, length, model),
        (batch, keys, width),
        heads,
        kv_heads,
        head_size,
        None,
        mask,
        bias,
        length_first,
        True,
        intermediates,
    )


def _three(shape: Shape, name: str) -> tuple[SizeLike, SizeLike, SizeLike]:
    sizes = tuple(shape.split(",")) if isinstance(shape, str) else tuple(shape)
    if len(sizes) != 3:
        raise ShapeError(
            f"input: {name} has the axes batch, length and features; got {len(sizes)} sizes "
            f"({', '.join(map(str, sizes))}), "
            f"give three, e.g. 1,10,768 or B,n,d_model"
        )
    a, b, c = sizes
    return a, b, c


def _traced(
    roles: Roles,
    x: tuple[Axis, Axis, Axis],
    kv: tuple[Axis, Axis, Axis],
    heads: SizeLike,
    kv_heads: SizeLike | None,
    head_size: SizeLike | None,
    cache: SizeLike | None,
    mask: str,
    bias: bool,
    length_first: bool,
    cross: bool,
    intermediates: bool,
) -> Trace:
    if mask not in ("", "causal", "padding"):
        raise ShapeError(f"mask: {mask!r} is none of 'causal' and 'padding'")
    h, g, r = _head_axes(roles, heads, kv_heads)
    d = roles.factor(x[2], h, "split heads", "d_k", "d_h") if head_size is None else roles.axis(head_size, "d_k", "d_h")
    past = roles.axis(cache, "p", "past") if cache is not None else None
    layer = Layer(x, kv, h, g, r, d, past, mask, bias, length_first, cross, intermediates)
    to = Recorder(bindings=roles.bindings)
    with recording(to):
        result, inputs = steps(layer)
    names = [f"{label} = [{','.join(text(roles.value(a)) for a in array.axes)}]" for label, array in inputs.items()]
    grouped = f", {text(roles.value(g))} KV head{'s' * (roles.value(g) != 1)}" if r is not None else ""
    kind = "Multi-head cross-attention" if cross else "Multi-head attention"
    title = f"{kind}: {', '.join(names)}, {text(roles.value(h))} heads{grouped}"
    trace = Trace(title, tuple(to.lines), result, roles.bindings, roles.definitions, tuple(roles.conditions))
    return trace.with_notes(*notes(trace, layer, inputs))


def _head_axes(roles: Roles, heads: SizeLike, kv_heads: SizeLike | None) -> tuple[Axis, Axis, Axis | None]:
    """Query heads, KV heads, and the query heads of one KV head; with groups the query heads are h = g·r."""
    if kv_heads is None or size(kv_heads) == size(heads):
        h = roles.axis(heads, "h", "H")
        return h, h, None
    value, groups = size(heads), size(kv_heads)
    if value.is_Integer and groups.is_Integer and int(value) % int(groups):
        raise ShapeError(
            indivisible(
                "group heads",
                Axis((Atom("h", Size("h")),)),
                Axis((Atom("g", Size("g")),)),
                int(value),
                int(groups),
                "r",
                {**roles.bindings, Size("h"): value, Size("g"): groups},
            )
        )
    h = roles.axis(heads, "h", "H")
    g = roles.axis(kv_heads, "g", "G")
    r = roles.factor(h, g, "group heads", "r", "q")
    # The elements of the repeated axis are those of (g r), so that is its size; its name stays h.
    return Axis((Atom(h.name, g.size * r.size, parts=(*g.atoms, *r.atoms)),)), g, r
