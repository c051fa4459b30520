"""The softmax Jacobian by tensorgrad, where it is installed: its value is verified before it is timed."""

from __future__ import annotations

import importlib.util
from typing import Any

from .timing import timed


def measure_tensorgrad() -> dict[str, Any]:
    """The times, or the reason why there are none."""
    if importlib.util.find_spec("tensorgrad") is None or importlib.util.find_spec("torch") is None:
        return {"skipped": "tensorgrad is not installed"}
    import sympy as sp
    import torch
    from tensorgrad import Derivative, Variable  # type: ignore[import-not-found]
    from tensorgrad.extras.evaluate import evaluate  # type: ignore[import-not-found]
    from tensorgrad.functions import softmax  # type: ignore[import-not-found]

    size = sp.Symbol("i")
    z = Variable("z", i=size)

    def jacobian() -> Any:
        return Derivative(softmax(z, dim="i"), z, {"i": "k"}).full_simplify()

    def right(tensor: Any) -> bool:
        value = torch.tensor([0.3, -1.1, 0.8, 0.1, 2.0], dtype=torch.float64, names=("i",))
        p = torch.softmax(value.rename(None), 0)
        found = evaluate(tensor, {z: value}, {size: 5}).align_to("i", "k").rename(None)
        return bool(torch.allclose(found, torch.diag(p) - torch.outer(p, p)))

    try:
        times = timed(jacobian, right, runs=5)
    except Exception as error:  # another version's names: said, and no reason to lose the other tables
        return {"skipped": f"this version of tensorgrad could not be used: {type(error).__name__}: {error}"}
    return {"derivative and simplification": times.new}
