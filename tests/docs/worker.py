"""The process in which a page's Python examples run: a line of JSON with an example in, a line with its output out.

A process of its own, because examples register theorems and operations, which other tests must not see.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import traceback
from typing import Any


def run(namespace: dict[str, Any], kind: str, line: int, source: str) -> str:
    """What an example prints; an exception is shown as doctest shows it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(
                compile(source, f"<line {line}>", "single" if kind == "session" else "exec", dont_inherit=True),
                namespace,
            )
        except Exception as error:
            text = "".join(traceback.format_exception_only(error))
            text = re.sub(r"^[\w.]+\.(?=\w+(:|$))", "", text)  # as in doctest, without the exception's module
            out.write(f"Traceback (most recent call last):\n    ...\n{text}")
    return out.getvalue()


if __name__ == "__main__":
    answers = sys.stdout
    names: dict[str, Any] = {"__name__": "__page__"}
    for request in sys.stdin:
        answers.write(json.dumps(run(names, **json.loads(request))) + "\n")
        answers.flush()
