"""The limits of the live page: time, memory, places in the queue, silent clients; and its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lemmata.serving import pool as pools
from lemmata.serving.pool import Busy, Closed, Pool
from lemmata.worker import TASKS, TimeOver, Worker, WorkerEnded

from .running import GRADIENT, Server, serving

# Read soon, proved not so soon.
SLOW = GRADIENT | {"formula": "*".join(f"(sum(z) + {n})" for n in range(60)), "given": ""}


def children(process: subprocess.Popen[str]) -> list[int]:
    """The ids of the worker processes, from the process table."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition: Callable[[], Any], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def tight() -> Iterator[Server]:
    """A server with little of everything."""
    with serving("--seconds", "1", "--waiting", "2", "--workers", "2", receiving=2) as running:
        assert until(lambda: len(children(running.process)) == 2)
        running.is_well()
        yield running


# ---------------------------------------------------------------------- time and places
def test_a_question_that_takes_too_long_is_ended_and_its_worker_replaced(tight: Server) -> None:
    before = set(children(tight.process))
    started = time.monotonic()
    answer = tight.ask(SLOW)
    assert time.monotonic() - started < 1 + 2 + 20  # the limit, the grace until the kill, a busy machine
    assert (answer.status, answer.error["kind"]) == (504, "time")
    assert "1 s" in answer.error["message"]
    assert tight.is_well()
    assert until(lambda: len(children(tight.process)) == 2)
    assert set(children(tight.process)) != before


def test_fifty_questions_at_once(tight: Server) -> None:
    with ThreadPoolExecutor(50) as clients:
        answers = list(clients.map(lambda _: tight.ask(GRADIENT), range(50)))
    counted = Counter(a.status for a in answers)
    assert set(counted) <= {200, 503, 504}, counted  # 504: a busy machine
    assert counted[200] + counted[504] >= 4  # two at work, two that wait
    assert all(a.json["verdict"] == "proved" for a in answers if a.status == 200)
    assert all(int(a.headers["retry-after"]) >= 1 for a in answers if a.status == 503)
    assert tight.is_well()


def test_a_full_queue_is_said(tight: Server) -> None:
    with ThreadPoolExecutor(4) as clients:
        waiting = [clients.submit(tight.ask, SLOW) for _ in range(4)]
        time.sleep(0.4)
        answer = tight.ask(GRADIENT)
        assert (answer.status, answer.error["kind"]) == (503, "busy")
        assert tight.send("GET", "/").status == 200  # the page itself waits for no worker
        assert {w.result().status for w in waiting} <= {503, 504}
    assert tight.is_well()


def test_a_worker_that_is_killed_is_answered_for_and_replaced(tight: Server) -> None:
    with ThreadPoolExecutor(1) as clients:
        waiting = clients.submit(tight.ask, SLOW)
        time.sleep(0.3)
        for pid in children(tight.process):
            os.kill(pid, signal.SIGKILL)
        answer = waiting.result()
    assert (answer.status, answer.error["kind"]) == (500, "ended"), answer.text
    assert until(tight.is_well)


# ---------------------------------------------------------------------- memory, and what a worker answers
def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("this platform has no limit of memory for a process")
    pool = Pool(1, seconds=60, memory=64 << 20)
    try:
        answer = pool.ask(GRADIENT | {"shapes": "z=900000 y=900000", "detail": "brief", "domain": ""})
        assert answer["error"]["kind"] == "memory"
        assert pool.ask(pools.WARM)["verdict"] == "proved"
    finally:
        pool.close()


def test_a_worker_with_a_limit_still_answers_without_one_it_would_not_be_stopped() -> None:
    """The limit is what stops it: with a larger one the same arrays are made."""
    for memory, made in ((64 << 20, False), (2 << 30, True)):
        code = ("from lemmata.worker import _limit_memory\n"
                f"_limit_memory({memory})\n"
                "try:\n    bytes(256 << 20)\n    print(True)\nexcept MemoryError:\n    print(False)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == str(made), done.stderr


def test_large_answers_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata.serving import answering

    assert "error" not in answering.answer_question(pools.WARM)
    monkeypatch.setattr(answering, "MAX_ANSWER", 1000)
    assert answering.answer_question(pools.WARM)["error"]["kind"] == "size"


def test_a_defect_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata.serving import answering

    def broken(question: Any) -> Any:
        raise ZeroDivisionError("by chance")

    monkeypatch.setitem(answering._ANSWERS, "mha", broken)
    error = answering.answer_question({"ask": "mha"})["error"]
    assert error["kind"] == "defect"
    assert "ZeroDivisionError: by chance" in error["message"]


# ---------------------------------------------------------------------- the pool, with other workers
class Other:
    """A worker that answers as it is told."""

    made: list[Other] = []  # noqa: RUF012

    def __init__(self, memory: int = 0) -> None:
        self.closed = False
        Other.made.append(self)

    def ask(self, task: Any, seconds: float) -> Any:
        match task["question"]["ask"]:
            case "over":
                raise TimeOver("over")
            case "ended":
                raise WorkerEnded("ended")
            case "sleep":
                time.sleep(0.5)
        return {"answered by": Other.made.index(self)}

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    Other.made = []
    monkeypatch.setattr(pools, "Worker", Other)


@pytest.mark.usefixtures("others")
def test_workers_are_replaced_after_a_failure_and_after_many_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_USES", 3)
    pool = Pool(1)
    for failure, error in (("over", TimeOver), ("ended", WorkerEnded)):
        with pytest.raises(error):
            pool.ask({"ask": failure})
    assert [o.closed for o in Other.made[:2]] == [True, True]
    assert [pool.ask({"ask": "other"})["answered by"] for _ in range(5)] == [2, 2, 2, 3, 3]
    pool.close()
    assert all(o.closed for o in Other.made)


@pytest.mark.usefixtures("others")
def test_places_are_bounded_and_given_back() -> None:
    pool = Pool(1, waiting=1)
    with ThreadPoolExecutor(6) as clients:
        asked = [clients.submit(pool.ask, {"ask": "sleep"}) for _ in range(6)]
        refused = [a for a in asked if isinstance(a.exception(), Busy)]
        assert len(refused) == 4
    assert pool.ask({"ask": "other"}) == {"answered by": 0}
    pool.close()


def test_a_closed_pool_answers_those_who_wait() -> None:
    pool = Pool(1, seconds=30)
    pool.ask(pools.WARM)
    with ThreadPoolExecutor(1) as clients:
        waiting = clients.submit(pool.ask, SLOW | {"domain": "", "detail": "normal"})
        time.sleep(0.5)
        pool.close()
        with pytest.raises(Closed):
            waiting.result(timeout=30)


def test_the_worker_says_what_it_may_be_asked() -> None:
    assert "question" in TASKS
    worker = Worker()
    worker.close()
    with pytest.raises(WorkerEnded):
        worker.ask({"kind": "question", "question": pools.WARM}, 1.0)


# ---------------------------------------------------------------------- connections
def test_silent_and_slow_clients_are_let_go(tight: Server) -> None:
    request = b"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % tight.port
    clients = [socket.create_connection((tight.host, tight.port)) for _ in range(30)]
    for n, client in enumerate(clients):
        client.sendall([b"", request, request + b"Content-Length: 1000\r\n\r\n{"][n % 3])
    started = time.monotonic()
    assert tight.is_well()
    dropped = 0
    while dropped < len(clients) and time.monotonic() - started < 2 + 6:
        time.sleep(0.5)
        dropped = 0
        for n, client in enumerate(clients):
            client.setblocking(False)
            try:
                if n % 3:
                    client.send(b"a")  # a byte now and then does not prolong it
                dropped += client.recv(1) == b""
            except BlockingIOError:
                pass
            except OSError:
                dropped += 1
    for client in clients:
        client.close()
    assert dropped == len(clients)
    assert tight.is_well()


def test_what_is_not_http_is_answered(tight: Server) -> None:
    for bytes_ in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n",
                   b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 5e9\r\n\r\n",
                   b"POST /api/answer HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"):
        with socket.create_connection((tight.host, tight.port), timeout=5) as client:
            client.sendall(bytes_)
            client.shutdown(socket.SHUT_WR)
            while client.recv(4096):
                pass
    assert tight.is_well()


# ---------------------------------------------------------------------- beginning and end
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_all_its_workers(number: signal.Signals) -> None:
    with serving("--workers", "2") as running, ThreadPoolExecutor(1) as clients:
        assert until(lambda: len(children(running.process)) == 2)
        assert running.is_well()
        workers = children(running.process)
        waiting = clients.submit(running.ask, SLOW)
        time.sleep(0.3)
        running.process.send_signal(number)
        assert running.process.wait(timeout=30) == 0
        assert until(lambda: not any(alive(pid) for pid in workers), 20)
        assert running.process.stderr is not None
        assert "Traceback" not in running.process.stderr.read()
        waiting.exception(timeout=30)


def test_workers_end_with_a_server_that_is_killed() -> None:
    with serving("--workers", "1") as running:
        assert running.is_well()
        workers = children(running.process)
        running.process.kill()
        running.process.wait()
        assert until(lambda: not any(alive(pid) for pid in workers), 30)


def test_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with serving("--host", "::1", "--workers", "1") as running:
        assert running.is_well()


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "localhost", "example.org", "192.168.0.1", "127.0.0.2"])
def test_other_addresses_are_refused(host: str) -> None:
    done = subprocess.run([sys.executable, "-m", "lemmata", "serve", "--host", host, "--port", "0"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "to this machine only" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_said(tight: Server) -> None:
    done = subprocess.run([sys.executable, "-m", "lemmata", "serve", "--port", str(tight.port)], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2
    assert f"cannot listen at 127.0.0.1:{tight.port}" in done.stderr


@pytest.mark.parametrize("missing", ["flask", "waitress"])
def test_what_is_not_installed_is_said(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None\nfrom lemmata.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "serve", "--port", "0"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2
    assert done.stderr == "error: the live page needs Flask and waitress: pip install 'lemmata[serve]'\n"
