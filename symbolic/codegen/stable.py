"""Softmax, log-softmax and logsumexp in code: the largest logit is subtracted, so that nothing overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from ..language.indices import Index
from ..language.nodes import DefinedTensor, Element, Tensor
from . import patterns
from .contractions import axis_text
from .indicators import is_one
from .values import ATOM, SUM, Value, aligned, merged_axes

if TYPE_CHECKING:
    from .compiler import Compiler


def register_softmax(c: Compiler, tensor: DefinedTensor) -> tuple[Value, Index] | None:
    """The logits of a tensor that is a softmax, with its axes in the order of its parameters."""
    if tensor not in c.softmaxes:
        c.rank.update({p: n for n, p in enumerate(tensor.parameters)})
        found = patterns.softmax_of_parameter(tensor)
        if found is None:
            return None
        c.softmaxes[tensor] = (c.full(_logits(c, found), tensor.parameters), found.bound[0])
    return c.softmaxes[tensor]


def softmax_at(c: Compiler, e: patterns.Exponentials, u: sp.Expr) -> sp.Expr:
    """The element at k = u of a softmax that has no name of its own."""
    (k,) = e.bound
    if e not in c.folded:
        logits = c.full_over(_logits(c, e), [k])
        tensor = Tensor(f"softmax {len(c.folded)}", tuple(a.size for a in logits.axes), "nonnegative" if e.masks
                        else "positive")
        c.softmaxes[tensor] = (logits, k)
        c.folded[e] = (tensor, logits.axes)
    tensor, axes = c.folded[e]
    return Element(tensor, *(u if a == k else a for a in axes))


def _logits(c: Compiler, e: patterns.Exponentials) -> Value:
    """The exponents, -inf where a mask is 0: a masked score does not take part in the maximum, however large it is."""
    value = c.value(e.exponent).numbers()
    if not e.masks:
        return value
    chosen = [is_one(c, m) for m in e.masks]
    order = merged_axes([*chosen, value], c.rank)
    told = [aligned(v, order) for v in chosen]
    mask = told[0].code if len(told) == 1 else " & ".join(v.at(ATOM) for v in told)
    return Value(f"{c.np}.where({mask}, {aligned(value, order).code}, -{c.np}.inf)", order)


def softmax(c: Compiler, logits: Value, k: Index, name: str = "p") -> Value:
    axis = axis_text(logits, [k])
    if c.inline:
        return Value(f"{c.helper('stable_softmax')}({logits.code}, {axis})", logits.axes)
    x = logits if logits.code.isidentifier() else c.assign("s", logits)
    e = c.assign("e", Value(f"{c.np}.exp({x.code} - {x.code}.max(axis={axis}, keepdims=True))", x.axes))
    return c.assign(name, Value(f"{e.code} / {e.code}.sum(axis={axis}, keepdims=True)", x.axes))


def log_softmax(c: Compiler, tensor: Tensor) -> Tensor:
    """A tensor with the logarithms of a softmax, from the logits and not from the probabilities."""
    if tensor not in c.logs:
        logits, k = c.softmaxes[tensor]
        axis = axis_text(logits, [k])
        twin = Tensor(f"log {tensor.name}", tensor.shape)
        if c.inline:
            c.names[twin] = f"{c.helper('stable_log_softmax')}({logits.code}, {axis})"
        else:
            name = tensor.name if isinstance(tensor, DefinedTensor) else "p"
            x = logits if logits.code.isidentifier() else c.assign("s", logits)
            s = c.assign("s", Value(f"{x.code} - {x.code}.max(axis={axis}, keepdims=True)", logits.axes))
            norm = f"{c.np}.log({c.np}.exp({s.code}).sum(axis={axis}, keepdims=True))"
            c.names[twin] = c.assign(f"log_{name}", Value(f"{s.code} - {norm}", logits.axes)).code
        c.logs[tensor] = twin
    return c.logs[tensor]


def logsumexp(c: Compiler, e: patterns.Exponentials) -> Value:
    bound = list(e.bound)
    x = c.full_over(_logits(c, e), bound)
    places = axis_text(x, bound)
    kept = tuple(a for a in x.axes if a not in bound)
    if c.inline:
        return Value(f"{c.helper('stable_logsumexp')}({x.code}, {places})", kept)
    if not x.code.isidentifier():
        x = c.assign("s", x)
    finite = (lambda code: f"{c.np}.nan_to_num({code}, neginf=0.0)") if e.masks else str  # all masked: log 0 = -inf
    if not kept:
        m = c.assign("m", Value(finite(f"{x.code}.max()")))
        return Value(f"{m.code} + {c.np}.log({c.np}.exp({x.code} - {m.code}).sum())", (), SUM)
    m = c.assign("m", Value(finite(f"{x.code}.max(axis={places}, keepdims=True)")))
    total = f"{c.np}.log({c.np}.exp({x.code} - {m.code}).sum(axis={places}))"
    return c.assign("lse", Value(f"{m.code}.squeeze(axis={places}) + {total}", kept))
