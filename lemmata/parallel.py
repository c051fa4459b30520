"""Theorems verified one after the other or in several processes: the results are plain data, in the order asked for.

A process is given a name and gives back plain data: expressions stay where they were made. So the results are the same,
byte for byte, however many processes there are (but for `seconds`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from .symbolic.derivations.theorem import Theorem
from .symbolic.language.errors import LemmataError
from .symbolic.theorems import find_theorem, theorems

Row = dict[str, Any]
Work = Callable[[str, int], Row]


def chosen_theorems(names: Sequence[str]) -> list[Theorem]:
    """Theorems by name (each once), all of them without names; an unknown name is an error before anything runs."""
    return [find_theorem(n) for n in dict.fromkeys(names)] if names else list(theorems().values())


def verified(name: str, seed: int) -> Row:
    """A theorem's verdict as plain data: `name`, `topic`, `title`, and what `verdict_data` gives.

    An error inside must not take the other theorems with it: the verdict is "unsupported" and says what happened.
    """
    from .api import verify_theorem
    from .symbolic.derivations.model import Verdict
    from .symbolic.rendering.verdict import verdict_data

    found = find_theorem(name)
    try:
        verdict = verify_theorem(found, seed=seed)
    except LemmataError as error:
        verdict = Verdict("unsupported", reason=str(error))
    except Exception as error:
        verdict = Verdict("unsupported", reason=f"internal error: {type(error).__name__}: {error}")
    return {"name": name, "topic": found.topic, "title": found.title} | verdict_data(verdict)


def run(work: Work, names: Sequence[str], *, seed: int, jobs: int | None = None) -> Iterator[Row]:
    """`work(name, seed)` for each name, in order, in `jobs` processes (without a number: one for each processor)."""
    workers = min(jobs or os.cpu_count() or 1, len(names))
    if workers <= 1:
        return (work(name, seed) for name in names)
    pool = ProcessPoolExecutor(workers)
    # Started here and not at the first result: a progress bar has a thread, and none should run when processes fork.
    return _collected(pool, pool.map(work, names, [seed] * len(names)))


def _collected(pool: ProcessPoolExecutor, results: Iterator[Row]) -> Iterator[Row]:
    try:
        yield from results
    except BrokenProcessPool:
        raise LemmataError("a process ended before its theorem was verified (out of memory?); try --jobs 1") from None
    finally:
        pool.shutdown(cancel_futures=True)
