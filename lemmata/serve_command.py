"""The command `lemmata serve`: the live page, on this machine only."""

from __future__ import annotations

from typing import Annotated

import typer

from .terminal import fail

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="127.0.0.1 or ::1; no other is served.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")]
Workers = Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes that answer at the same time.")]
Waiting = Annotated[int, typer.Option("--waiting", min=0, max=64, help="Questions that may wait for a process.")]
Seconds = Annotated[float, typer.Option("--seconds", min=0.1, max=3600, help="Time limit of a question.")]
Memory = Annotated[int, typer.Option("--memory", min=64, metavar="MB", help="Memory limit of a question.")]


def serve(host: Host = "127.0.0.1", port: Port = 8000, workers: Workers = 2, waiting: Waiting = 16,
          seconds: Seconds = 10.0, memory: Memory = 1024) -> None:
    """Serve the live page to this machine: type a formula, see the derivation and its verdict.

    Ctrl-C ends it. Each question is answered in a process of its own, within limits of time and memory.

    \b
      lemmata serve
      lemmata serve --port 0 --seconds 30
    """
    try:
        from .serving.pool import Pool
        from .serving.server import serve as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("flask", "waitress", "werkzeug"):
            raise
        raise fail("the live page needs Flask and waitress: pip install 'lemmata[serve]'") from None
    run(host, port, lambda: Pool(workers, seconds, waiting, memory << 20),
        lambda address: typer.echo(f"Lemmata is at {address} on this machine; Ctrl-C ends it."))
