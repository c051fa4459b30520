"""How pictures look: the colours of both themes, and a figure written as the same bytes each time.

Lines are told apart by colour *and* by dash. The line colours are those of Okabe and Ito (2008), which readers with any
common colour-vision deficiency can tell apart; the dark theme takes the lighter ones among them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_PIXELS = 12
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))


@dataclass(frozen=True)
class Theme:
    """Background, text, a faint colour for grids, four line colours, colour maps for signed and positive numbers."""

    name: str
    background: str
    text: str
    faint: str
    lines: tuple[str, str, str, str]
    signed: str
    positive: str


THEMES = (
    Theme("light", "#ffffff", "#18181b", "#d4d4d8", ("#0072b2", "#b34e00", "#00794f", "#a0457a"), "RdBu_r", "Blues"),
    Theme("dark", "#131416", "#e4e4e7", "#3f3f46", ("#56b4e9", "#e69f00", "#3fcf9f", "#e79fc7"), "berlin", "cividis"),
)


def cells(axes: Axes, values: np.ndarray, *, colours: str, low: float, high: float) -> Any:
    """A square for each entry, of many pixels each, so that viewers that smooth blur their rims only."""
    rows, columns = values.shape
    raster = np.kron(values, np.ones((_PIXELS, _PIXELS)))
    axes.grid(visible=False)
    return axes.imshow(
        raster,
        cmap=colours,
        vmin=low,
        vmax=high,
        interpolation="none",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )


def figure_svg(theme: Theme, name: str, size: tuple[float, float], paint: Callable[[Figure, Theme], None]) -> str:
    """The figure as SVG. Letters are outlines, so that it looks the same with whatever fonts a reader has."""
    settings = {
        "svg.hashsalt": name,  # names of clip paths and markers: without it they are random
        "svg.fonttype": "path",
        "path.simplify": True,
        "font.family": "DejaVu Sans",
        "mathtext.fontset": "dejavusans",
        "font.size": 11,
        "text.color": theme.text,
        "axes.labelcolor": theme.text,
        "axes.edgecolor": theme.text,
        "axes.facecolor": theme.background,
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": theme.faint,
        "grid.linewidth": 0.6,
        "xtick.color": theme.text,
        "ytick.color": theme.text,
        "figure.facecolor": theme.background,
        "figure.edgecolor": theme.background,
        "lines.linewidth": 2.0,
        "legend.frameon": False,
    }
    with mpl.rc_context({**mpl.rcParamsDefault, **settings}):
        figure = Figure(figsize=size, layout="constrained")
        paint(figure, theme)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    # Sizes in pixels, as the flow picture has them: points would be drawn a third larger.
    return re.sub(r'\b(width|height)="([\d.]+)pt"', r'\1="\2"', out.getvalue(), count=2)
