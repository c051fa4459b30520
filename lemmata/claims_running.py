"""Many claims at once: in worker processes of this machine, or in any `concurrent.futures.Executor` (a cluster's too).

Every claim gets one answer, in the order of the claims, whatever happens to the process that judges it: what was lost
with a worker is submitted again. `parallel` does the same for theorems, which need no time limit.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from .worker import Answer, Task, Worker, answer_in_worker

Row = dict[str, Any]
ATTEMPTS = 4  # how often a claim is submitted to an executor whose workers die
SECONDS = 10.0
PATIENCE = 120.0  # seconds without an answer, beside a claim's own, after which an executor is given up


def prove_claims(claims: Iterable[Any], *, executor: Executor | None = None, jobs: int | None = None,
                 seconds: float = SECONDS,
                 seed: int = 0) -> Iterator[Row]:
    """The answer to each claim, in order: `id`, `verdict`, `seconds`, evidence, counterexample, reason, as JSON data.

    A claim is a `claims.Claim` or its data. `jobs` is the number of processes (all processors without it); with an
    `executor` the claims are submitted there instead: a `ProcessPoolExecutor`, `client.get_executor()` of Dask, Ray's,
    ...; what it does not answer is judged here. A claim that takes longer than `seconds` is "unsupported: the time
    limit of ... is over".

    >>> sine = {"id": "sine", "params": ["x"], "domain": {"x": "real"},
    ...         "forward": "np.sin(x)", "wrt": "x", "claimed": "np.cos(x)"}
    >>> wrong = {**sine, "id": "wrong", "claimed": "-np.cos(x)"}
    >>> [(row["id"], row["verdict"]) for row in prove_claims([sine, wrong], jobs=1)]
    [('sine', 'proved'), ('wrong', 'refuted')]
    """
    tasks = [_task(c, seed) for c in claims]
    if not tasks:
        return iter(())
    if executor is not None:
        return _in_executor(tasks, executor, seconds)
    return _in_processes(tasks, min(jobs or os.cpu_count() or 1, len(tasks)), seconds)


def _task(claim: Any, seed: int) -> Task:
    data = dict(claim if isinstance(claim, Mapping) else claim.data)
    data.setdefault("id", getattr(claim, "id", "claim"))
    return {"kind": "claim", "data": data, "seed": seed}


def _row(task: Task, answer: Answer) -> Row:
    return {"id": str(task["data"]["id"]), **{k: v for k, v in answer.items() if k != "id"}}


def answered(task: Task, seconds: float) -> Row:
    """The answer to one task in a worker of this thread: what an executor is given, so importable by name."""
    return _row(task, answer_in_worker(task, seconds))


# ---------------------------------------------------------------------- processes of this machine
def _in_processes(tasks: list[Task], jobs: int, seconds: float) -> Iterator[Row]:
    """A thread for each worker process takes the next claim; answers wait for their turn."""
    todo = deque(enumerate(tasks))
    done: dict[int, Row] = {}
    ready = threading.Condition()
    workers = [Worker() for _ in range(jobs)]
    stopped = threading.Event()

    def serve(worker: Worker) -> None:
        while not stopped.is_set():
            with ready:
                if not todo:
                    break
                number, task = todo.popleft()
            try:
                row = _row(task, worker.answer(task, seconds))
            except Exception as error:  # an answer that says so, rather than a thread that ends in silence
                row = _row(task, {"verdict": "unsupported", "seconds": 0.0, "evidence": [], "counterexample": None,
                                  "conditions": [],
                                  "notes": [], "reason": f"internal error: {type(error).__name__}: {error}"})
            with ready:
                done[number] = row
                ready.notify_all()
        worker.close()

    threads = [threading.Thread(target=serve, args=(w,), daemon=True) for w in workers]
    for thread in threads:
        thread.start()
    try:
        for number in range(len(tasks)):
            with ready:
                ready.wait_for(lambda number=number: number in done)  # type: ignore[misc]
                row = done.pop(number)
            yield row
    finally:
        stopped.set()
        with ready:
            todo.clear()
        for worker in workers:
            worker.close()


# ---------------------------------------------------------------------- any executor
def _in_executor(tasks: list[Task], executor: Executor, seconds: float) -> Iterator[Row]:
    futures = [_submitted(executor, task, seconds) for task in tasks]
    patience = PATIENCE + seconds
    for task, future in zip(tasks, futures, strict=True):
        row = _result(executor, task, future, seconds, patience)
        if row is None:  # nothing comes any more: a worker that was killed may have held a lock of the others
            patience = 0.0
        yield answered(task, seconds) if row is None else row


def _result(executor: Executor, task: Task, future: Future[Row] | None, seconds: float, patience: float) -> Row | None:
    """The answer from the executor, or None where it gives none, however often or long it is asked."""
    for _ in range(ATTEMPTS):
        if future is None:
            break
        try:
            return future.result(patience)
        except (Exception, CancelledError):
            if not future.done():  # it was waited for in vain
                future.cancel()
                return None
            future = _submitted(executor, task, seconds)  # the worker died, or the executor gave the claim up
    return answered(task, seconds)


def _submitted(executor: Executor, task: Task, seconds: float) -> Future[Row] | None:
    """The claim's future, or None from an executor that takes nothing any more."""
    try:
        return executor.submit(answered, task, seconds)
    except (BrokenExecutor, RuntimeError):
        return None
