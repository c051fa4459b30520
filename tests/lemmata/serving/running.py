"""`lemmata serve` in a process of its own, and a client that speaks to it over loopback."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

GRADIENT = {"ask": "gradient", "formula": "-sum(y*log(softmax(z)))", "wrt": "z", "shapes": "z=K, y=K",
            "given": "sum(y)=1"}
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """A response: its status, its headers (names in lower case), its text."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> Any:
        return self.json["error"]


@dataclass(frozen=True)
class Server:
    """A running server."""

    process: subprocess.Popen[str]
    host: str
    port: int

    def send(self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] = JSON,
             timeout: float = 30.0) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            text = response.read().decode("utf-8")
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)
        finally:
            connection.close()

    def ask(self, question: Any, timeout: float = 30.0) -> Answer:
        """A question to the JSON endpoint."""
        return self.send("POST", "/api/answer", json.dumps(question), timeout=timeout)

    def is_well(self) -> bool:
        """Whether a normal question is answered; where the time limit is short, it is asked again."""
        for _ in range(20):
            answer = self.ask(GRADIENT, timeout=60)
            if answer.status == 200:
                return bool(answer.json["verdict"] == "proved")
            assert answer.status in (503, 504), answer.text  # a busy machine
        return False


@contextmanager
def serving(*options: str, receiving: int | None = None) -> Iterator[Server]:
    """A server at a free port, ended by SIGINT; `receiving` is the time of clients, where it is to be another."""
    set_time = "" if receiving is None else f"from lemmata.serving import server; server.RECEIVING = {receiving}; "
    code = set_time + "from lemmata.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, "serve", "--port", "0", *options], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        found = re.search(r"http://(\S+):(\d+)/", said)
        assert found is not None, said + (process.stderr.read() if process.stderr else "")
        yield Server(process, found[1].strip("[]"), int(found[2]))
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
