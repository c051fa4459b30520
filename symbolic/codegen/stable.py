"""Softmax, log-softmax and logsumexp in code: the largest logit is subtracted, so that nothing overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from ..language.indices import Index
from ..language.nodes import DefinedTensor, Element, Tensor
from . import patterns
from .contractions import axis_text
from .values import ATOM, SUM, Value

if TYPE_CHECKING:
    from .compiler import Compiler


def register_softmax(c: Compiler, tensor: DefinedTensor) -> tuple[Value, Index] | None:
    """The logits of a tensor that is a softmax, with its axes in the order of its parameters."""
    if tensor not in c.softmaxes:
        c.rank.update({p: n for n, p in enumerate(tensor.parameters)})
        found = patterns.softmax_of_parameter(tensor)
        if found is None:
            return None
        b, k = found
        c.softmaxes[tensor] = (c.full(c.value(b), tensor.parameters), k)
    return c.softmaxes[tensor]


def softmax_at(c: Compiler, b: sp.Expr, k: Index, u: sp.Expr) -> sp.Expr:
    """The element at k = u of a softmax that has no name of its own."""
    if (b, k) not in c.folded:
        logits = c.full_over(c.value(b).numbers(), [k])
        tensor = Tensor(f"softmax {len(c.folded)}", tuple(a.size for a in logits.axes), "positive")
        c.softmaxes[tensor] = (logits, k)
        c.folded[b, k] = (tensor, logits.axes)
    tensor, axes = c.folded[b, k]
    return Element(tensor, *(u if a == k else a for a in axes))


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
            m = f"{logits.at(ATOM)}.max(axis={axis}, keepdims=True)"
            s = c.assign("s", Value(f"{logits.at(SUM)} - {m}", logits.axes))
            norm = f"{c.np}.log({c.np}.exp({s.code}).sum(axis={axis}, keepdims=True))"
            c.names[twin] = c.assign(f"log_{name}", Value(f"{s.code} - {norm}", logits.axes)).code
        c.logs[tensor] = twin
    return c.logs[tensor]


def logsumexp(c: Compiler, bound: list[Index], exponent: sp.Expr) -> Value:
    x = c.full_over(c.value(exponent).numbers(), bound)
    places = axis_text(x, bound)
    kept = tuple(a for a in x.axes if a not in bound)
    if c.inline:
        return Value(f"{c.helper('stable_logsumexp')}({x.code}, {places})", kept)
    if not x.code.isidentifier():
        x = c.assign("s", x)
    if not kept:
        m = c.assign("m", Value(f"{x.code}.max()"))
        return Value(f"{m.code} + {c.np}.log({c.np}.exp({x.code} - {m.code}).sum())", (), SUM)
    m = c.assign("m", Value(f"{x.code}.max(axis={places}, keepdims=True)"))
    total = f"{c.np}.log({c.np}.exp({x.code} - {m.code}).sum(axis={places}))"
    return c.assign("lse", Value(f"{m.code}.squeeze(axis={places}) + {total}", kept))
