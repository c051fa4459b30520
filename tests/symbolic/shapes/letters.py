"""The oracle of these tests: reshapes and transposes of letters by plain loops, with nothing of the package in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from string import ascii_lowercase


def transposed(letters: str, sizes: Sequence[int], order: Sequence[int]) -> str:
    """The letters of an array in row-major order after a transpose."""
    strides = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    places = product(*(range(sizes[a]) for a in order))
    return "".join(letters[sum(i * strides[a] for i, a in zip(at, order, strict=True))] for at in places)


def alphabet(count: int) -> str:
    """The first letters."""
    return ascii_lowercase[:count]
