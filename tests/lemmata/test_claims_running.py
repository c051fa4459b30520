"""Many claims at once: every claim has one answer, in order, also where code hangs, a process dies, or a cluster
loses a worker.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lemmata as lm
from lemmata.worker import Worker, WorkerEnded

CLAIMS = Path(__file__).parents[1] / "claims"


def scalar(name: str, claimed: str = "np.cos(x)") -> dict[str, Any]:
    return {
        "id": name,
        "params": ["x"],
        "domain": {"x": "real"},
        "forward": "np.sin(x)",
        "wrt": "x",
        "claimed": claimed,
    }


def tensor(name: str, body: str, head: str = "") -> dict[str, Any]:
    return {
        "id": name,
        "shapes": {"x": ["K"]},
        "domain": {"x": "real"},
        "forward": f"{head}def forward(x):\n    {body}\n",
        "wrt": "x",
        "upstream": None,
        "claimed": "def backward(x):\n    return 2*x\n",
    }


HANGS = tensor("hangs", "while True: pass")
DIES = tensor("dies", "os._exit(7)", "import os\n")
PRINTS = tensor("prints", 'print(\'{"verdict": "proved"}\'); return (x**2).sum()')
READS = tensor("reads", "return (x**2).sum() if input() else 0")


def outcomes(rows: Any) -> list[tuple[str, str]]:
    return [(r["id"], r["verdict"]) for r in rows]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_hangs_or_dies_is_answered_and_nothing_else_is_lost(jobs: int) -> None:
    claims = [
        scalar("a"),
        HANGS,
        scalar("b", "-np.cos(x)"),
        DIES,
        PRINTS,
        READS,
        scalar("c"),
        {"id": "empty", "forward": "x"},
    ]
    rows = list(lm.prove_claims(claims, jobs=jobs, seconds=1.0))
    assert outcomes(rows) == [
        ("a", "proved"),
        ("hangs", "unsupported"),
        ("b", "refuted"),
        ("dies", "unsupported"),
        ("prints", "proved"),
        ("reads", "unsupported"),
        ("c", "proved"),
        ("empty", "unsupported"),
    ]
    reasons = {r["id"]: r["reason"] for r in rows}
    assert "the time limit of 1 s" in reasons["hangs"]
    assert "exit code 7" in reasons["dies"]
    assert "EOFError" in reasons["reads"]
    assert json.loads(json.dumps(rows)) == rows


def test_answers_are_the_same_however_many_processes() -> None:
    claims = [c for name in ("false", "scalar") for c in lm.read_claims(CLAIMS / f"{name}.jsonl")]

    def without_times(jobs: int) -> list[Any]:
        rows = list(lm.prove_claims(claims, jobs=jobs))
        return [dict(r, seconds=0, evidence=[dict(e, seconds=0) for e in r["evidence"]]) for r in rows]

    assert without_times(1) == without_times(2)


def test_leaving_early_stops_the_processes() -> None:
    before = threading.active_count()
    rows = lm.prove_claims([scalar("a"), HANGS, HANGS], jobs=2, seconds=60.0)
    assert next(rows)["id"] == "a"
    rows.close()  # type: ignore[attr-defined]
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.1)
    assert threading.active_count() <= before


def test_a_worker_that_was_killed_starts_again() -> None:
    worker = Worker()
    try:
        task = {"kind": "claim", "data": scalar("a")}
        assert worker.answer(task, 5.0)["verdict"] == "proved"
        os.kill(worker._process.pid, signal.SIGKILL)  # type: ignore[union-attr]
        assert worker.answer(task, 5.0)["verdict"] == "proved"
    finally:
        worker.stop()


def test_a_process_that_ended_before_it_read_the_task_costs_no_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was killed while idle, and nothing has noticed yet; one that ends at work does cost one."""
    worker = Worker()
    task = {"kind": "claim", "data": scalar("a")}
    try:
        assert worker.ask(task, 5.0)["verdict"] == "proved"
        process = worker._process
        assert process is not None
        monkeypatch.setattr(process, "poll", lambda: None)
        process.kill()
        process.wait()
        assert worker.ask(task, 5.0)["verdict"] == "proved"
        with pytest.raises(WorkerEnded, match="exit code 7"):
            worker.ask({"kind": "claim", "data": DIES}, 5.0)
    finally:
        worker.stop()


# ---------------------------------------------------------------------- executors
@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor(make: Callable[[int], Executor]) -> None:
    with make(2) as executor:
        rows = list(lm.prove_claims([scalar("a"), HANGS, scalar("b", "np.sin(x)")], executor=executor, seconds=1.0))
    assert outcomes(rows) == [("a", "proved"), ("hangs", "unsupported"), ("b", "refuted")]


class Unreliable(Executor):
    """Loses each claim `losses` times before it answers; then takes nothing any more, if `closes`."""

    def __init__(self, losses: int, closes: bool = False) -> None:
        self.losses, self.closes = losses, closes
        self.seen: dict[str, int] = {}

    def submit(self, work: Callable[..., Any], /, task: Any, seconds: float) -> Future[Any]:  # type: ignore[override]
        name = task["data"]["id"]
        self.seen[name] = self.seen.get(name, 0) + 1
        if self.closes and self.seen[name] > 1:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        if self.seen[name] <= self.losses:
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            future.set_result(work(task, seconds))
        return future


@pytest.mark.parametrize(("losses", "closes", "asked"), [(0, False, 1), (2, False, 3), (99, False, 5), (1, True, 2)])
def test_what_an_executor_loses_is_submitted_again_and_in_the_end_judged_here(
    losses: int, closes: bool, asked: int
) -> None:
    executor = Unreliable(losses, closes)
    rows = list(lm.prove_claims([scalar("a"), scalar("b", "np.sin(x)")], executor=executor))
    assert outcomes(rows) == [("a", "proved"), ("b", "refuted")]
    assert set(executor.seen.values()) == {asked}


class Silent(Executor):
    """Takes every claim and answers the first alone, as a pool does whose workers wait for a lock of a dead one."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, work: Callable[..., Any], /, task: Any, seconds: float) -> Future[Any]:  # type: ignore[override]
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_result(work(task, seconds))
        return self.futures[-1]


def test_an_executor_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lemmata.claims_running.PATIENCE", 0.5)
    executor, began = Silent(), time.perf_counter()
    rows = list(lm.prove_claims([scalar(f"claim {n}") for n in range(6)], executor=executor, seconds=2.0))
    assert outcomes(rows) == [(f"claim {n}", "proved") for n in range(6)]
    assert all(f.cancelled() for f in executor.futures[1:])
    assert time.perf_counter() - began < 12  # once, not for every claim


def test_a_process_pool_that_breaks_loses_no_claim() -> None:
    """One of its processes is killed in the middle: the pool is broken for good, and the claims are judged here."""
    claims = [scalar(f"claim {n}") for n in range(12)]
    executor = ProcessPoolExecutor(2)
    processes = executor._processes
    try:
        rows = lm.prove_claims(claims, executor=executor)
        found = [next(rows)]
        os.kill(next(iter(processes)), signal.SIGKILL)
        found += rows
    finally:
        # Not by leaving a `with`: the killed process may have held the lock that the other one waits for.
        for process in list(processes.values()):
            process.kill()
        executor.shutdown(wait=False, cancel_futures=True)
    assert outcomes(found) == [(c["id"], "proved") for c in claims]


def test_a_dask_cluster_that_loses_a_worker_loses_no_claim() -> None:
    distributed = pytest.importorskip("distributed")
    claims = [scalar(f"claim {n}", "np.cos(x)" if n % 2 else "-np.cos(x)") for n in range(24)]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        rows = lm.prove_claims(claims, executor=client.get_executor())
        found = [next(rows)]
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        found += rows
        # the scheduler may not have noticed yet, and would ask the dead one too
        assert next(iter(pids.values())) not in client.run(os.getpid, on_error="ignore").values()
    assert outcomes(found) == [(c["id"], "proved" if n % 2 else "refuted") for n, c in enumerate(claims)]
