"""The oracle for values: index expressions evaluated by plain loops, and attention written by hand in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from lemmata.symbolic.language.nodes import DefinedTensor, Delta, Element, IndexMax, IndexSum, Indicator, Tensor


class Evaluator:
    """The number that an index expression has at given sizes and arrays; elements of definitions are computed once."""

    def __init__(self, arrays: dict[str, np.ndarray], sizes: dict[Any, int]) -> None:
        self.arrays, self.sizes = arrays, {k: sp.Integer(v) for k, v in sizes.items()}
        self.known: dict[Any, float] = {}

    def number(self, node: Any) -> float:
        if isinstance(node, Element):
            return self.element(node)
        if isinstance(node, (IndexSum, IndexMax)):
            values = [self.number(node.at(sp.Integer(k))) for k in range(self.integer(node.bound.size))]
            return sum(values) if isinstance(node, IndexSum) else max(values)
        if isinstance(node, Delta):
            return float(self.integer(node.args[0]) == self.integer(node.args[1]))
        if isinstance(node, Indicator):
            return float(bool(node.condition.xreplace(self.sizes)))
        if isinstance(node, sp.Mul):
            result = 1.0
            # indicators first: what stands beside a 0 may have an index out of its range
            for factor in sorted(node.args, key=lambda a: not isinstance(a, (Indicator, Delta))):
                result *= self.number(factor)
                if result == 0:
                    return 0.0
            return result
        if isinstance(node, sp.Add):
            return sum(self.number(a) for a in node.args)
        if isinstance(node, sp.Pow):
            return self.number(node.base) ** self.number(node.exp)
        if isinstance(node, sp.exp):
            return float(np.exp(self.number(node.args[0])))
        if isinstance(node, Tensor):
            return float(self.arrays[node.name])
        return float(node.xreplace(self.sizes))

    def integer(self, node: Any) -> int:
        value = node.xreplace(self.sizes)
        assert value.is_Integer, value
        return int(value)

    def element(self, node: Element) -> float:
        at = tuple(map(self.integer, node.indices))
        if not isinstance(node.tensor, DefinedTensor):
            assert all(0 <= k < n for k, n in zip(at, self.arrays[node.tensor.name].shape, strict=True)), (node, at)
            return float(self.arrays[node.tensor.name][at])
        key = (node.tensor, at)
        if key not in self.known:
            self.known[key] = self.number(node.tensor.at(*map(sp.Integer, at)))
        return self.known[key]


def attention(
    x: np.ndarray,
    memory: np.ndarray,
    w: dict[str, np.ndarray],
    heads: int,
    kv_heads: int,
    mask: np.ndarray | None = None,
    cache: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Multi-head attention, batch first, one loop for each example and head; `mask` is (B, queries, keys)."""
    out = np.zeros((*x.shape[:2], w["W_O"].shape[1]))
    size = w["W_Q"].shape[1] // heads
    for b in range(x.shape[0]):
        joined = []
        for a in range(heads):
            u = a // (heads // kv_heads)
            mine, theirs = slice(a * size, (a + 1) * size), slice(u * size, (u + 1) * size)
            q = x[b] @ w["W_Q"][:, mine] + w["b_Q"][mine]
            k = memory[b] @ w["W_K"][:, theirs] + w["b_K"][theirs]
            v = memory[b] @ w["W_V"][:, theirs] + w["b_V"][theirs]
            if cache is not None:
                k, v = np.vstack([cache[0][b, u], k]), np.vstack([cache[1][b, u], v])
            scores = q @ k.T / np.sqrt(size)
            if mask is not None:
                scores = np.where(mask[b] > 0, scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            joined.append(weights / weights.sum(-1, keepdims=True) @ v)
        out[b] = np.hstack(joined) @ w["W_O"] + w["b_O"]
    return out
