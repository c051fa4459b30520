"""Domains of a tensor's entries, by the names that users write (`real`, `positive`, `(0,1)`, `simplex`, `onehot`, ...).

A domain says what may be assumed of single entries (an interval, a finite set) and of whole rows (sum to one, one-hot,
symmetric). Both paths of a proof and the sampler of the numeric pillar use the same names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from .errors import HypothesisError, ShapeError
from .sizes import same_size, size


@dataclass(frozen=True)
class Domain:
    """What is known of the entries of a tensor.

    `intervals` are open unless the end is listed in `values`; `values` is a finite set or empty. `rows_sum_to_one`
    speaks of the last axis.
    """

    name: str
    intervals: tuple[tuple[float, float], ...] = ((-math.inf, math.inf),)
    closed_low: bool = False
    closed_high: bool = False
    holds_zero: bool = False  # an inner end that is closed stands at 0
    values: tuple[float, ...] = ()
    rows_sum_to_one: bool = False
    one_hot: bool = False
    symmetric: bool = False
    integer: bool = False
    label_size: str = ""  # entries are integers below this size
    axes: int = 0  # how many axes, the last ones, it speaks of: rows have one, matrices two
    square: bool = False  # and whether those two are equal

    def check_shape(self, name: str, shape: Sequence[sp.Expr]) -> None:
        """A `ShapeError` where an array of this shape cannot have the domain."""
        if len(shape) < self.axes or (self.square and not same_size(shape[-1], shape[-2])):
            needed = "an axis" if self.axes == 1 else "two equal last axes" if self.square else "two axes"
            got = ", ".join(map(str, shape))
            raise ShapeError(f"the domain {self.name} needs {needed}; {name} has shape ({got})")

    @property
    def low(self) -> float:
        """Greatest known lower bound of an entry."""
        return min(self.values) if self.values else self.intervals[0][0]

    @property
    def high(self) -> float:
        """Least known upper bound of an entry."""
        return max(self.values) if self.values else self.intervals[-1][1]

    @property
    def positive(self) -> bool:
        """Every entry is > 0."""
        return self.low > 0 or (self.low == 0 and not self.closed_low and not self.values)

    @property
    def nonnegative(self) -> bool:
        """Every entry is >= 0."""
        return self.low >= 0

    @property
    def negative(self) -> bool:
        """Every entry is < 0."""
        return self.high < 0 or (self.high == 0 and not self.closed_high and not self.values)

    @property
    def nonzero(self) -> bool:
        """No entry is 0."""
        if self.values:
            return 0 not in self.values
        return not self.holds_zero and not any(low < 0 < high or (low == 0 and self.closed_low)
                                               or (high == 0 and self.closed_high)
                       for low, high in self.intervals)


_NAMED = {
    "real": Domain("real"),
    "positive": Domain("positive", ((0.0, math.inf),)),
    "nonnegative": Domain("nonnegative", ((0.0, math.inf),), closed_low=True),
    "negative": Domain("negative", ((-math.inf, 0.0),)),
    "nonzero": Domain("nonzero", ((-math.inf, 0.0), (0.0, math.inf))),
    "simplex": Domain("simplex", ((0.0, 1.0),), closed_high=True, rows_sum_to_one=True, axes=1),
    "onehot": Domain("onehot", values=(0.0, 1.0), rows_sum_to_one=True, one_hot=True, axes=1),
    "binary": Domain("binary", values=(0.0, 1.0)),
    "mask": Domain("mask", values=(0.0, 1.0)),
    "pm1": Domain("pm1", values=(-1.0, 1.0)),
    "distinct": Domain("distinct"),
    "symmetric": Domain("symmetric", symmetric=True, axes=2, square=True),
    "spd": Domain("spd", symmetric=True, axes=2, square=True),
    "posdef_nonsym": Domain("posdef_nonsym", axes=2, square=True),
    "invertible": Domain("invertible", axes=2, square=True),
    "fullrank": Domain("fullrank", axes=2),
    "rank_one_less": Domain("rank_one_less", axes=2, square=True),
    "lower": Domain("lower", axes=2),
    "one_zero": Domain("one_zero", ((0.0, math.inf),), closed_low=True),
}


def domain(name: str | Domain) -> Domain:
    """Read a domain: a name, open intervals joined by ``|``, a finite set ``{-1,1}``, or ``index<K``.

    >>> domain("(0,1)").positive, domain("{-1,1}").nonzero, domain("real").positive
    (True, True, False)

    Raises `HypothesisError` for anything else, and the error of `size` for a K that is none.
    """
    if isinstance(name, Domain):
        return name
    text = name.strip()
    if text in _NAMED:
        return _NAMED[text]
    if re.fullmatch(r"(repeated_)?index<.+", text):
        below = text.partition("<")[2].replace("or -1", "").strip()
        size(below)
        return Domain(text, ((-1.0 if text.endswith("or -1") else 0.0, math.inf),), closed_low=True, integer=True,
                      label_size=below)
    try:
        if text.startswith("{") and text.endswith("}"):
            values = tuple(sorted(float(part) for part in text[1:-1].split(",")))
            if all(map(math.isfinite, values)):
                return Domain(text, values=values, integer=all(v == int(v) for v in values))
        elif text[:1] in "([":
            pieces = [piece.strip() for piece in text.split("|")]
            ends = [tuple(float(end) for end in piece[1:-1].split(",")) for piece in pieces]
            if all(len(pair) == 2 and pair[0] < pair[1] for pair in ends):
                at_zero = any((p[0] == "[" and e[0] == 0) or (p[-1] == "]" and e[1] == 0)
                              for p, e in zip(pieces, ends, strict=True))
                return Domain(text, tuple((a, b) for a, b in ends), pieces[0][0] == "[", pieces[-1][-1] == "]",
                              holds_zero=at_zero)
    except ValueError:
        pass
    raise HypothesisError(f"unknown domain {name!r}; write one of {', '.join(sorted(_NAMED))}, an interval such as "
                          f"'(0,1)', "
                          "several joined by '|', a finite set such as '{-1,1}', or 'index<K'")


def domain_names() -> tuple[str, ...]:
    """The domains that have a name of their own, in order."""
    return tuple(sorted(_NAMED))
