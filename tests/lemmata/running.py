"""`lemmata ...` run in this process, as the console script runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from lemmata.cli import app

GRADIENT = ["gradient", "-sum(y*log(softmax(z)))", "--wrt", "z"]


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON; nothing else may stand there."""
        return json.loads(self.out)


def run(*words: str) -> Ran:
    """Run a command; an exception that is not an exit is the test's failure."""
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)
