"""Positional encodings: the table, its inner products by distance, and the matrix of a shift."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from lemmata.numeric.positional_encoding import positional_encoding, positional_inner_product, shift_matrix

from .style import DASHES, Theme, cells


def table(figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    shown = cells(axes, positional_encoding(np.arange(64), 64), colours=theme.signed, low=-1, high=1)
    axes.set(aspect="auto", xlabel="$j$", ylabel="pos")
    figure.colorbar(shown, ax=axes, label="$\\mathrm{PE}(\\mathrm{pos})_j$")


def inner_products(figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    offset = np.arange(-100, 101)
    for n, d in enumerate((16, 64, 512)):
        value = positional_inner_product(offset, d) / (d / 2)
        axes.plot(offset, value, color=theme.lines[n], linestyle=DASHES[n], label=f"$d = {d}$")
    axes.set(
        xlabel="$k$", ylabel="$\\langle \\mathrm{PE}(t),\\, \\mathrm{PE}(t+k)\\rangle\\,/\\,(d/2)$", ylim=(-0.1, 1.05)
    )
    axes.legend()


def shift(figure: Figure, theme: Theme) -> None:
    """M_k for both layouts: blocks on the diagonal, or four diagonals."""
    shown = None
    for axes, layout, title in zip(
        figure.subplots(1, 2),
        ("interleaved", "halves"),
        ("sin, cos, sin, cos, …", "sin, sin, …, cos, cos, …"),
        strict=True,
    ):
        shown = cells(axes, shift_matrix(8, 16, layout=layout), colours=theme.signed, low=-1, high=1)
        axes.set(title=title, xticks=range(0, 16, 4), yticks=range(0, 16, 4))
        axes.title.set_fontsize(11)
    figure.colorbar(shown, ax=figure.axes, shrink=0.8, label="$(M_8)_{ij}$")
