"""Attention weights of a small example, and the flow of shapes through multi-head attention."""

from __future__ import annotations

import re

import numpy as np
from matplotlib.figure import Figure

from lemmata.numeric.attention import attention_weights, causal_mask
from lemmata.numeric.positional_encoding import positional_encoding

from .style import Theme, cells

# Queries and keys of six tokens; those of token t are 2 PE(t), so that what is seen is the distance.
TOKENS = 2 * positional_encoding(np.arange(6), 8)


def weights(figure: Figure, theme: Theme) -> None:
    """Without a mask, and with the causal mask: masked places stay empty."""
    n = len(TOKENS)
    for axes, mask in zip(figure.subplots(1, 2), (np.full((n, n), True), causal_mask(n, n)), strict=True):
        p = attention_weights(TOKENS, TOKENS, mask=mask)
        shown = cells(axes, np.where(mask, p, np.nan), colours=theme.positive, low=0, high=1)
        for i, j in np.argwhere(mask):
            red, green, blue, _ = shown.cmap(p[i, j])
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            axes.text(j, i, f"{p[i, j]:.2f}", ha="center", va="center", fontsize=8, color="white" if dark else "black")
        axes.set(xlabel="$j$", ylabel="$i$", xticks=range(n), yticks=range(n))


# The flow picture is the product's own; only its colours are turned for a dark page. Every colour it uses must be here.
_DARK = {
    "#ffffff": "#131416",
    "#18181b": "#f4f4f5",
    "#52525b": "#a1a1aa",
    "#71717a": "#8b8b95",
    "#f4f4f5": "#27272a",
    "#e3effd": "#12304f",
    "#2563b0": "#56a0ee",
    "#fdeedd": "#47290a",
    "#b45309": "#f0a13c",
    "#e9f6e7": "#143a1a",
    "#2e7d32": "#63c46a",
    "#f6f1fb": "#2e2145",
    "#6b4ea0": "#b59ae6",
}


def shapes(theme: Theme) -> str:
    """The flow of `lemmata shapes mha --x 1,10,768 --heads 12 --format svg`."""
    from lemmata.symbolic.shapes import multi_head_attention

    picture = multi_head_attention((1, 10, 768), heads=12).svg()
    return picture if theme.name == "light" else re.sub(r"#[0-9a-f]{6}\b", lambda found: _DARK[found[0]], picture)
