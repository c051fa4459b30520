"""The server: one loopback address, few threads, and an end that leaves no process behind."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

import waitress
from waitress.channel import HTTPChannel

from ..symbolic.language.errors import LemmataError
from .application import application
from .pool import Pool

HOSTS = ("127.0.0.1", "::1")
MAX_HEADERS = 16 * 1024
MAX_RECEIVED = 2 * 1024 * 1024  # bytes; up to here a body that is too large is answered, beyond it the server hangs up
RECEIVING = 10  # seconds that a client may take to send one request, or stay silent
CONNECTIONS = 100


class Channel(HTTPChannel):
    """A connection whose request must arrive within `RECEIVING` seconds: one byte now and then does not prolong it."""

    last_activity: float = 0.0

    def handle_read(self) -> None:
        """Read what has come."""
        begun, before = self.request is not None, self.last_activity
        super().handle_read()
        if begun and self.request is not None:
            self.last_activity = before


def serve(host: str, port: int, pool_of: Callable[[], Pool], ready: Callable[[str], None]) -> None:
    """Answer until Ctrl-C or SIGTERM; `ready` is told the address. Raises `LemmataError` where it cannot listen."""
    if host not in HOSTS:
        raise LemmataError(f"the live page is served to this machine only, at {' or '.join(HOSTS)}; got {host}")
    shown = f"[{host}]" if ":" in host else host
    server: Any = None
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # requests that wait for a thread are no news

    def called(environ: Any, start_response: Any) -> Any:
        return app(environ, start_response)

    pool = None
    try:
        pool = pool_of()
        try:
            server = waitress.create_server(
                called, host=host, port=port, ident=None, threads=pool.workers + pool.waiting + 4,
                connection_limit=CONNECTIONS, channel_timeout=RECEIVING, cleanup_interval=2,
                max_request_header_size=MAX_HEADERS, max_request_body_size=MAX_RECEIVED,
                clear_untrusted_proxy_headers=True)
        except OSError as error:
            raise LemmataError(f"cannot listen at {shown}:{port}: {error.strerror or error}; "
                               "--port 0 takes a free one") from None
        server.channel_class = Channel
        taken = server.effective_port
        app = application(pool, host_names(shown, taken))
        ready(f"http://{shown}:{taken}/")
        _run(server, pool)
    finally:
        if pool is not None:
            pool.close()
        if server is not None:
            server.close()


def host_names(shown: str, port: int) -> frozenset[str]:
    """What the header Host may be; a browser leaves the port out where it is HTTP's own.

    >>> sorted(host_names("127.0.0.1", 8000))
    ['127.0.0.1:8000', 'localhost:8000']
    """
    names = (shown, "localhost")
    return frozenset({f"{name}:{port}" for name in names} | (set(names) if port == 80 else set()))


def _run(server: Any, pool: Pool) -> None:
    def stop(*signal_and_frame: object) -> None:
        pool.close()  # first, so that threads which wait for an answer end
        raise SystemExit(0)

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
