"""Examples in Markdown: found, run in order, and compared with what the page shows.

Three kinds of fenced blocks are run, all of one page in one namespace and one folder:

- ```python with ``>>>`` prompts: a session; what follows up to the next prompt is output, ``...`` being any text;
- ```python without prompts: a program; it must run, and prints nothing;
- ```console: lines that begin with ``$ `` are given to the shell, what follows is their output (both streams).

Other blocks (```text, ```sh) are not run. `rewritten` puts the real output in place of what is shown.
"""

from __future__ import annotations

import contextlib
import doctest
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(?P<kind>python|console)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.ELLIPSIS
_WIDTH = "100"
_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Example:
    """One example: the source, the output that the page shows, and where both stand in the page's text."""

    kind: str
    line: int
    source: str
    shown: str
    span: tuple[int, int]  # of the shown output in the text of the page


def examples(text: str) -> list[Example]:
    """The examples of a page, in order.

    >>> [(e.kind, e.source, e.shown) for e in examples("```console\\n$ echo a\\na\\n```\\n")]
    [('console', 'echo a', 'a\\n')]
    """
    found: list[Example] = []
    for block in _BLOCK.finditer(text):
        start = block.start("body")
        line = text.count("\n", 0, start) + 1
        body = block["body"]
        if block["kind"] == "console":
            found += _commands(body, start, line)
        elif ">>>" in body:
            found += _session(body, start, line)
        else:
            found.append(Example("program", line, body, "", (start, start)))
    return found


def _commands(body: str, start: int, line: int) -> Iterator[Example]:
    at = 0
    commands: list[tuple[int, int, str]] = []  # first line, end of the command's line, source
    for number, words in enumerate(body.splitlines(keepends=True)):
        if words.startswith("$ "):
            commands.append((number, at + len(words), words[2:].strip()))
        at += len(words)
    lines = body.splitlines(keepends=True)
    for n, (number, end, source) in enumerate(commands):
        stop = sum(map(len, lines[: commands[n + 1][0]])) if n + 1 < len(commands) else len(body)
        yield Example("console", line + number, source, body[end:stop], (start + end, start + stop))


def _session(body: str, start: int, line: int) -> Iterator[Example]:
    """All up to the next prompt is output, blank lines too (doctest would end it there)."""
    lines = body.splitlines(keepends=True)
    at = [start]
    for words in lines:
        at.append(at[-1] + len(words))
    prompts = [n for n, words in enumerate(lines) if words.startswith(">>> ")]
    for first, after in zip(prompts, [*prompts[1:], len(lines)], strict=True):
        end = first + 1
        while end < after and (lines[end].startswith("... ") or lines[end] == "...\n"):
            end += 1
        source = "".join(words[4:] or "\n" for words in lines[first:end])
        yield Example("session", line + first, source, "".join(lines[end:after]), (at[end], at[after]))


class Page(contextlib.AbstractContextManager["Page"]):
    """Where the examples of one page run: one Python process, a folder, an environment for commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = str(Path(sys.executable).parent)
        self.environment = {
            **os.environ,
            "PATH": programs + os.pathsep + os.environ.get("PATH", ""),
            "COLUMNS": _WIDTH,
            "NO_COLOR": "1",
            "PYTHONIOENCODING": "utf-8",
            "TERM": "dumb",
        }
        self.process = subprocess.Popen(
            [sys.executable, str(_WORKER)],
            cwd=folder,
            env=self.environment,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __exit__(self, *error: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def run(self, example: Example) -> str:
        """The output of an example."""
        if example.kind == "console":
            done = subprocess.run(
                ["bash", "-c", example.source],
                cwd=self.folder,
                env=self.environment,
                encoding="utf-8",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
            return done.stdout
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"kind": example.kind, "line": example.line, "source": example.source}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return str(json.loads(self.process.stdout.readline()))


def agrees(example: Example, output: str) -> bool:
    """Whether the output is what the page shows.

    >>> [e] = examples("```console\\n$ lemmata --version\\nlemmata ...\\n```\\n")
    >>> agrees(e, "lemmata 0.1.0\\n"), agrees(e, "another 0.1.0\\n")
    (True, False)
    """
    return doctest.OutputChecker().check_output(_trimmed(example.shown), _trimmed(output), _FLAGS)


def _trimmed(text: str) -> str:
    """Without blanks at the ends of lines, which editors remove, and with one newline at the end."""
    lines = "\n".join(words.rstrip() for words in text.splitlines()).strip("\n")
    return lines + "\n" if lines else ""


def rewritten(text: str, folder: Path) -> str:
    """The page with the real output wherever it is not what is shown."""
    parts, last = [], 0
    with Page(folder) as page:
        for example in examples(text):
            output = page.run(example)
            if example.kind != "program" and not agrees(example, output):
                parts += [text[last : example.span[0]], _trimmed(output)]
                last = example.span[1]
    return "".join([*parts, text[last:]])
