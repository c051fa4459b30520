"""The index expression of a traced layer has the values of attention written by hand, in every variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.language.nodes import tensors
from lemmata.symbolic.shapes import Trace, cross_attention, multi_head_attention

from .evaluation import Evaluator, attention

SEED = 20170612
B, N, M, P, H, G, D_K, D = 5, 4, 7, 9, 6, 3, 8, 10  # and r = H/G = 2: all differ


def drawn(trace: Trace) -> dict[str, np.ndarray]:
    """An array for each tensor of the result, at the trace's sizes."""
    random = np.random.default_rng(SEED)
    found = {}
    for t in tensors([trace.result.body], through_definitions=True):
        if not hasattr(t, "parameters"):
            shape = tuple(int(trace.size(n)) for n in t.shape)
            found[t.name] = random.standard_normal(shape) if t.name != "M" else mask_of(random, shape)
    return found


def mask_of(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    mask = random.integers(0, 2, shape)
    mask[:, 0] = 1  # no row is empty
    return mask


def compared(
    trace: Trace, expected: np.ndarray, arrays: dict[str, np.ndarray], places: list[tuple[int, int, int]]
) -> float:
    """The largest difference at some places of the result."""
    evaluate = Evaluator(arrays, {k: int(v) for k, v in trace.bindings.items()})
    return max(abs(evaluate.number(trace.result.element(*map(sp.Integer, at))) - expected[at]) for at in places)


PLACES = [(4, 1, 9), (2, 3, 5)]


@pytest.mark.parametrize("kv_heads", [H, G, 1])
@pytest.mark.parametrize("mask", ["", "causal", "padding"])
def test_self_attention(kv_heads: int, mask: Any) -> None:
    trace = multi_head_attention((B, N, D), H, head_size=D_K, kv_heads=kv_heads, mask=mask)
    arrays = drawn(trace)
    shown = {"": None, "causal": np.broadcast_to(np.tri(N), (B, N, N)),
             "padding": np.broadcast_to(arrays.get("M", np.ones((B, N)))[:, None, :], (B, N, N))}[mask]  # fmt: skip
    expected = attention(arrays["x"], arrays["x"], arrays, H, kv_heads, shown)
    assert compared(trace, expected, arrays, PLACES) < 1e-11
    # the check has teeth
    assert compared(trace, expected * (1 + 9e-4), arrays, PLACES) > 1e-6
    wrong = attention(arrays["x"], arrays["x"], arrays, H, kv_heads, np.broadcast_to(np.tri(N, k=1), (B, N, N)))
    assert compared(trace, wrong, arrays, PLACES) > 1e-6


def test_cross_attention_with_padding() -> None:
    trace = cross_attention((B, N, D), (B, M, D), H, head_size=D_K, kv_heads=G, mask="padding")
    arrays = drawn(trace)
    expected = attention(
        arrays["x_q"], arrays["x_kv"], arrays, H, G, np.broadcast_to(arrays["M"][:, None, :], (B, N, M))
    )
    assert compared(trace, expected, arrays, PLACES) < 1e-11


def test_decoding_with_a_cache() -> None:
    trace = multi_head_attention((B, N, D), H, head_size=D_K, kv_heads=G, cache=P, mask="causal")
    arrays = drawn(trace)
    mask = np.broadcast_to(np.tri(N, P + N, k=P), (B, N, P + N))
    expected = attention(arrays["x"], arrays["x"], arrays, H, G, mask, (arrays["K_cache"], arrays["V_cache"]))
    assert compared(trace, expected, arrays, PLACES) < 1e-11
    without_offset = np.broadcast_to(np.tri(N, P + N), (B, N, P + N))
    wrong = attention(arrays["x"], arrays["x"], arrays, H, G, without_offset, (arrays["K_cache"], arrays["V_cache"]))
    assert compared(trace, wrong, arrays, PLACES) > 1e-6


def test_length_first() -> None:
    trace = multi_head_attention((N, B, D), H, head_size=D_K, length_first=True)
    arrays = drawn(trace)
    x = arrays["x"].transpose(1, 0, 2)
    expected = attention(x, x, arrays, H, H).transpose(1, 0, 2)
    assert compared(trace, expected, arrays, [(0, 4, 0), (3, 2, 9)]) < 1e-11
    wrong = attention(arrays["x"], arrays["x"], arrays, H, H)  # attention over the batch
    assert compared(trace, wrong, arrays, [(0, 4, 0), (3, 2, 9)]) > 1e-6


def test_dropped_transpose_changes_the_value() -> None:
    """The merge without the transpose, at the end of the layer: the same shape, and other numbers."""
    trace = multi_head_attention((B, N, D), H, head_size=D_K)
    arrays = drawn(trace)
    heads = {**arrays, "W_O": np.eye(H * D_K), "b_O": np.zeros(H * D_K)}
    merged = attention(arrays["x"], arrays["x"], heads, H, H)  # (B, n, h d_k)
    dropped = merged.reshape(B, N, H, D_K).transpose(0, 2, 1, 3).reshape(B, N, H * D_K)
    assert compared(trace, merged @ arrays["W_O"] + arrays["b_O"], arrays, PLACES) < 1e-11
    assert compared(trace, dropped @ arrays["W_O"] + arrays["b_O"], arrays, PLACES) > 1e-3
