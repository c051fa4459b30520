"""Servers for the tests that leave them as they were."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .running import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One whose time limit no question reaches, even while the machine is busy."""
    with serving("--seconds", "60", "--waiting", "8") as running:
        yield running


@pytest.fixture(scope="session")
def attacked() -> Iterator[Server]:
    """One whose time limit is soon reached."""
    with serving("--seconds", "1.5", "--waiting", "8") as running:
        yield running
