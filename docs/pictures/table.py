"""The pictures by name: how each is drawn, and what a reader who cannot see it is told (`words.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from . import attention, losses, positions
from .style import Theme, figure_svg


@dataclass(frozen=True)
class Picture:
    """``draw`` gives the SVG for a theme."""

    name: str
    draw: Callable[[Theme], str]

    def alternative(self, language: str) -> str:
        """The words for it in a language of the site, else in English."""
        words = _WORDS[self.name]
        if language == "zh":
            return words["zh"].replace("\n", "")  # Chinese has no blanks between words
        return " ".join(words["en"].split())


_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def _painted(name: str, width: float, height: float, paint: Callable[[Figure, Theme], None]) -> Picture:
    return Picture(name, lambda theme: figure_svg(theme, name, (width, height), paint))


PICTURES = (
    _painted("softmax-temperature", 7.2, 3.6, losses.temperature),
    _painted("loss-by-logit", 8.4, 3.6, losses.by_logit),
    _painted("simplex-gradient", 8.4, 3.9, losses.simplex),
    _painted("positional-encoding", 7.2, 3.9, positions.table),
    _painted("positional-inner-products", 7.2, 3.4, positions.inner_products),
    _painted("shift-matrix", 8.4, 3.9, positions.shift),
    _painted("attention-weights", 8.4, 4.0, attention.weights),
    Picture("mha-shapes", attention.shapes),
)
