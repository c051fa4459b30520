"""A process that judges one task after another and may be killed: ``python -m lemmata.worker``, and its handle.

Code under judgement can loop for ever or take the process down. So it runs in a process of its own, one line of JSON
in, one line out. What takes longer than its time is killed and answered; nothing hangs, and no other task is lost.
`claims_running` spreads claims over several workers, `serving.pool` the questions of the live page.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

Task = Mapping[str, Any]
Answer = dict[str, Any]

START = 60.0  # seconds until a new process must be ready: SymPy is imported, perhaps on a busy machine
GRACE = 1.0  # seconds between the time limit that a worker keeps itself and the kill
ATTEMPTS = 2  # a process that ends by itself (out of memory?) is given the claim once more


class TimeOver(Exception):
    """A task took longer than its time; its process was killed."""


class WorkerEnded(Exception):
    """The process of a task ended by itself, or was closed."""


class _NotRead(Exception):
    """The process ended before it read the task."""


class Worker:
    """One worker process; it starts with the first task, and again after it was killed.

    `memory` is how many bytes it may take beyond what it holds when it is ready (0: no limit); where the platform has
    no such limit, none is kept.
    """

    def __init__(self, memory: int = 0) -> None:
        self._memory = memory
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._closed = False

    def answer(self, task: Task, seconds: float) -> Answer:
        """The answer to a task; "unsupported", with the reason, where the time ran out or the process ended."""
        try:
            return self.ask(task, seconds, ATTEMPTS)
        except TimeOver as error:
            return _unanswered(f"{error}; give more (seconds), or simplify the code", seconds)
        except WorkerEnded as error:
            return _unanswered(str(error), 0.0)

    def ask(self, task: Task, seconds: float, attempts: int = 1) -> Answer:
        """The answer to a task; raises `TimeOver`, or `WorkerEnded` where the process ended at every attempt.

        A process that had ended before it read the task (it was killed while idle) costs no attempt, once.
        """
        lost, code, left = False, None, attempts
        while left:
            try:
                found = self._ask(task, seconds)
            except _NotRead:
                left += not lost
                lost, found = True, None
            except OSError:
                found = None
            if found is not None:
                return found
            left -= 1
            code = self.stop()
            if self._closed:
                raise WorkerEnded("the worker was closed")
        times = f", {attempts} times" if attempts > 1 else ""
        raise WorkerEnded(f"the process that judged it ended with exit code {code}{times}")

    def _ask(self, task: Task, seconds: float) -> Answer | None:
        process = self.started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps({"task": dict(task), "seconds": seconds}) + "\n")
            process.stdin.flush()
        except OSError:
            raise _NotRead from None
        try:
            if self._lines.get(timeout=seconds + GRACE) is None:
                raise _NotRead
            line = self._lines.get(timeout=seconds + GRACE)
        except queue.Empty:
            self.stop()
            raise TimeOver(f"the time limit of {seconds:g} s is over") from None
        return None if line is None else json.loads(line)

    def started(self) -> subprocess.Popen[str]:
        """The process, ready for a task; an `OSError` where it cannot be started."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        # -P: nothing of the current folder can be taken for a library. A user's own files are found by their paths.
        command = [sys.executable, "-P", "-m", "lemmata.worker", str(self._memory)]
        # A group of its own: Ctrl-C in a terminal ends the parent, which closes its workers.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                   process_group=0)
        if self._closed:
            process.kill()
        self._process, self._lines = process, queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=_forward, args=(process.stdout, self._lines), daemon=True).start()
        try:
            if self._lines.get(timeout=START) is None:
                raise OSError("the worker did not start")
        except queue.Empty:
            raise OSError(f"the worker was not ready after {START:g} s") from None
        return process

    def close(self) -> None:
        """Kill the process, and start no other."""
        self._closed = True
        self.stop()

    def stop(self) -> int | None:
        """Kill the process, if there is one; its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return code


def _forward(stream: TextIO, lines: queue.Queue[str | None]) -> None:
    with contextlib.suppress(ValueError, OSError):  # closed by stop
        for line in stream:
            lines.put(line)
    lines.put(None)


def _unanswered(reason: str, seconds: float) -> Answer:
    return {"verdict": "unsupported", "seconds": seconds, "evidence": [], "counterexample": None, "conditions": [],
            "notes": [],
            "reason": reason}


_LOCAL = threading.local()


def answer_in_worker(task: Task, seconds: float) -> Answer:
    """The answer of this thread's own worker, which is kept for the next task."""
    if getattr(_LOCAL, "worker", None) is None:
        _LOCAL.worker = Worker()
        atexit.register(_LOCAL.worker.close)
    return _LOCAL.worker.answer(task, seconds)


# ---------------------------------------------------------------------- inside the process
def _claim(task: Task, seconds: float) -> Answer:
    from .claims import judge_claim

    return judge_claim(task["data"], seconds=seconds, seed=task.get("seed", 0))


def _functions(task: Task, seconds: float) -> Answer:
    from .loading import load_function
    from .proving import prove_equal, prove_gradient
    from .symbolic.language.errors import LemmataError

    common = {k: task[k] for k in ("domains", "given", "sizes", "avoid", "seed") if k in task}
    try:
        first, second = (load_function(r) for r in task["functions"])
        if task.get("wrt"):
            proof = prove_gradient(first, second, task["wrt"], task["shapes"], cotangent=task.get("cotangent"),
                                   seconds=seconds, **common)
        else:
            proof = prove_equal(first, second, task["shapes"], seconds=seconds, **common)
    except LemmataError as error:
        return {"error": str(error)}
    return {**proof.data(), "text": proof.text()}


def _question(task: Task, seconds: float) -> Answer:
    from .serving.answering import answer_question

    return answer_question(task["question"])


TASKS: dict[str, Callable[[Task, float], Answer]] = {"claim": _claim, "functions": _functions, "question": _question}


def _limit_memory(memory: int) -> None:
    """Let this process take so many bytes more; nothing where the platform has no such limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as numbers:
            held = int(numbers.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, hard))


def main() -> None:
    """Read tasks from standard input until it ends; what the code under judgement prints, hundreds of times, goes
    nowhere.
    """
    answers, tasks = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    from . import claims, proving  # noqa: F401  (imported before the clock of the first task starts)

    memory = int(sys.argv[1]) if sys.argv[1:] else 0
    if memory:
        _limit_memory(memory)
    with open(os.devnull, "w") as silent:
        print("ready", file=answers, flush=True)
        for line in tasks:
            print("read", file=answers, flush=True)
            asked = json.loads(line)
            # Should the parent be gone, nobody kills a claim that hangs: the process ends itself.
            faulthandler.dump_traceback_later(asked["seconds"] + 5 * GRACE, exit=True, file=silent)
            answer = _answered(asked["task"], asked["seconds"])
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(answer), file=answers, flush=True)


def _answered(task: Task, seconds: float) -> Answer:
    try:
        return TASKS[task["kind"]](task, seconds)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return _unanswered(f"{type(error).__name__}: {error}", 0.0)


if __name__ == "__main__":
    main()
