"""One server for all tests of the live page that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .running import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving("--seconds", "2", "--waiting", "8") as running:
        yield running
