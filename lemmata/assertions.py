"""Assertions for anybody's tests: a gradient is right, a rewrite is equal.

Light to import: what proves is imported with the first assertion. `pytest_plugin` sets the level for a whole run and
shows the functions of a failed proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .code_proof import CodeProof, Level

# What an assertion without a level of its own asks for; the option --lemmata-level of pytest sets it.
LEVEL: ContextVar[Level] = ContextVar("LEVEL", default="proved")


def assert_gradient(forward: Callable[..., Any], backward: Callable[..., Any], wrt: str | Sequence[str], shapes: Any, *,
                    level: Level | None = None, **known: Any) -> CodeProof:
    """Assert that `backward` computes the gradient of `forward`; arguments as for `prove_gradient`.

    `level` "proved" asks for a proof for every size; "supported" is content when no difference is found at many points.
    Without it the level is that of the pytest option --lemmata-level, "proved" by default.

    >>> import numpy as np
    >>> proof = assert_gradient(lambda x: np.sum(x**3), lambda x: 3 * x**2, wrt="x", shapes={"x": "K"})
    >>> proof.verdict.verdict
    'proved'

    Raises `NotProved`, an AssertionError, with the counterexample or the reason.
    """
    __tracebackhide__ = True
    from .proving import prove_gradient

    return prove_gradient(forward, backward, wrt, shapes, **known).raise_if_not_proved(level or LEVEL.get())


def assert_equal(f: Callable[..., Any], g: Callable[..., Any], shapes: Any, *, level: Level | None = None,
                 **known: Any) -> CodeProof:
    """Assert that two functions compute the same; arguments as for `prove_equal`, the level as for `assert_gradient`.

    >>> import numpy as np
    >>> proof = assert_equal(lambda x: np.log(1 + np.exp(-x)), lambda x: np.log(1 + np.exp(x)) - x, shapes={"x": "K"})
    >>> proof.verdict.verdict
    'proved'
    """
    __tracebackhide__ = True
    from .proving import prove_equal

    return prove_equal(f, g, shapes, **known).raise_if_not_proved(level or LEVEL.get())
