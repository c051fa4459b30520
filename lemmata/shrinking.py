"""A small counterexample to a refuted gradient: sizes from 2 on, the smallest first, so that a person can check it.

What `gradients_of_code` finds first lies at sizes that differ from each other, where mistakes show; it is often larger
than need be. A size 1 is left to it: a mean over one entry says little to a reader.
"""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .gradients_of_code import GradientQuestion, first_mismatch, refutation
from .symbolic.derivations.model import Verdict

_LEAST, _LARGEST = 2, 3  # sizes that are tried
_BINDINGS = 60


def shrunk(q: GradientQuestion, refuted: Verdict, *, seed: int = 0, seconds: float = 1.0) -> Verdict:
    """The refutation at the smallest sizes, in the product of all, at which a mismatch is seen; else the one given."""
    found = refuted.counterexample
    if found is None or not found.sizes:
        return refuted
    deadline = time.perf_counter() + seconds
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for binding in _bindings(q, found.sizes):
            if time.perf_counter() > deadline:
                break
            fixed = replace(q, sizes={**q.sizes, **{n: (v, v) for n, v in binding.items()}})
            try:
                mismatch, _, _ = first_mismatch(fixed, seed, 0.0)
            except Exception:  # code that does not run at these sizes
                continue
            if mismatch is not None:
                return replace(refutation(q, *mismatch), seconds=refuted.seconds)
    return refuted


def _bindings(q: GradientQuestion, sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Smaller sizes within their ranges, smallest product first; in a product the greatest size as small as can be."""
    names = sorted(sizes)
    ranges = [q.sizes.get(n, (1, _LARGEST)) for n in names]
    choices = [range(max(low, min(_LEAST, high)), max(low, min(_LARGEST, high)) + 1) for low, high in ranges]
    every = sorted(itertools.islice(itertools.product(*choices), 5000), key=lambda v: (math.prod(v), max(v), v))
    for values in every[:_BINDINGS]:
        binding = dict(zip(names, values, strict=True))
        if math.prod(values) >= math.prod(sizes.values()):
            return
        if q.sizes_allowed is None or q.sizes_allowed(binding):
            yield binding
