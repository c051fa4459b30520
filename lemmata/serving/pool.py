"""The workers of the live page: a bounded number of processes, and a bounded number of questions that wait for one.

A process that broke a limit, ended by itself or has answered many questions is replaced, so that no question pays for
another.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Any

from ..worker import START, TimeOver, Worker, WorkerEnded
from .asking import Question

Answer = dict[str, Any]

MEMORY = 1 << 30  # bytes that a worker may take beyond what it holds when it is ready
PATIENCE = 15.0  # seconds that a question waits for a worker at least: a new one may just be starting
_USES = 200  # questions until a process is replaced: caches grow


class Busy(Exception):
    """All workers are at work, and no more questions may wait."""


class Closed(Exception):
    """The server ends."""


class Pool:
    """Worker processes that answer questions, each within `seconds`; `waiting` more questions may wait for one."""

    def __init__(self, workers: int = 2, seconds: float = 10.0, waiting: int = 16, memory: int = MEMORY) -> None:
        self.workers, self.seconds, self.waiting, self.memory = workers, seconds, waiting, memory
        self._places = threading.BoundedSemaphore(workers + waiting)
        self._idle: queue.LifoQueue[tuple[Worker, int]] = queue.LifoQueue()  # the warmest first
        self._all: set[Worker] = set()
        self._lock = threading.Lock()
        self._closed = False
        for _ in range(workers):
            self._start()

    def ask(self, question: Question) -> Answer:
        """The answer; raises `Busy`, `TimeOver`, `WorkerEnded` or `Closed`."""
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            try:
                worker, uses = self._idle.get(timeout=max(self.seconds, PATIENCE))
            except queue.Empty:
                raise Busy from None
            return self._asked(worker, uses + 1, question)
        finally:
            self._places.release()

    def _asked(self, worker: Worker, uses: int, question: Question) -> Answer:
        keep = False
        try:
            answer = worker.ask({"kind": "question", "question": question}, self.seconds)
            keep = uses < _USES and answer.get("error", {}).get("kind") not in ("memory", "defect")
            return answer
        except WorkerEnded:
            if self._closed:
                raise Closed from None
            raise
        finally:
            if keep:
                self._idle.put((worker, uses))
            else:
                self._replace(worker)

    def _replace(self, worker: Worker) -> None:
        worker.close()
        with self._lock:
            self._all.discard(worker)
        self._start()

    def _start(self) -> None:
        """A new worker; it is idle, and may be asked, once its process is ready."""
        with self._lock:
            if self._closed:
                return
            worker = Worker(self.memory)
            self._all.add(worker)
        threading.Thread(target=self._warm, args=(worker,), daemon=True).start()

    def _warm(self, worker: Worker) -> None:
        # What the first question would load is loaded before it comes. A worker that cannot start says why when asked.
        with contextlib.suppress(TimeOver, WorkerEnded):
            worker.ask({"kind": "question", "question": WARM}, START)
        self._idle.put((worker, 0))

    def close(self) -> None:
        """End all processes; questions that wait are answered with `Closed`."""
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.close()


WARM: Question = {"ask": "gradient", "formula": "-sum(y*log(softmax(z)))", "wrt": "z", "shapes": "z=K,y=K",
                  "domain": "", "given": "sum(y)=1", "detail": "normal"}
