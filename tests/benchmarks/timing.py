"""Processor times: the median of several runs in one warm process, with and without the memo tables of earlier runs.

Processor time, not time on the clock, so that other work on the machine does not count.

Nothing is timed that was not verified first: `timed` runs the function once, gives its answer to a check, and raises
`WrongAnswer` when the check refuses it.
"""

from __future__ import annotations

import gc
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from typing import Any, TypeVar

from sympy.core.cache import clear_cache

Answer = TypeVar("Answer")


class WrongAnswer(Exception):
    """A benchmark whose answer is not what it should be; it is not timed."""


class OutOfTime(Exception):
    """The limit of one measurement was reached."""


@dataclass(frozen=True)
class Times:
    """Milliseconds, medians of `runs`: `new`, the memo tables being empty, and `again`, after the same question."""

    new: float
    again: float
    runs: int


def forget() -> None:
    """Empty every memo table of SymPy and of Lemmata, so that a question is a new one. Modules stay imported."""
    clear_cache()
    for name, module in list(sys.modules.items()):
        if name.startswith("lemmata"):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):  # hasattr would ask a proxy, which may refuse
                    value.cache_clear()


def timed(function: Callable[[], Answer], check: Callable[[Answer], object], runs: int = 7) -> Times:
    """The times of a function, once its answer has passed the check."""
    answer = function()
    if not check(answer):
        raise WrongAnswer(f"{getattr(function, '__qualname__', function)} answered {answer!r:.500}")
    return Times(_median(function, runs, before=forget), _median(function, runs, before=_nothing), runs)


def once(function: Callable[[], Any]) -> tuple[Any, float]:
    """The answer of one run with empty memo tables, and its milliseconds."""
    forget()
    start = time.process_time()
    answer = function()
    return answer, 1e3 * (time.process_time() - start)


def _nothing() -> None:
    """Leave the memo tables as they are."""


def _median(function: Callable[[], Any], runs: int, before: Callable[[], None]) -> float:
    times = []
    for _ in range(runs):
        before()
        gc.collect()
        start = time.process_time()
        function()
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` when the block takes longer (main thread of a POSIX system; elsewhere there is no limit)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(signum: int, frame: object) -> None:
        raise OutOfTime(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
