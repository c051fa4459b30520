"""What the command line prints: verdicts, tables, progress, errors, and the exit code that each verdict has.

Nothing here computes. Rich is imported where it is used, and SymPy never: `lemmata --help` passes through this module.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from .symbolic.derivations.model import Derivation, Verdict

EXIT_CODES = {"proved": 0, "refuted": 1, "unsupported": 2, "supported": 3}
USAGE = 2
# What counts as worse when several theorems are verified: a wrong one, then an unread one, then an unproved one.
_WORST = ("refuted", "unsupported", "supported", "proved")
_COLOURS = {"proved": "green", "refuted": "red", "supported": "yellow", "unsupported": "magenta"}
# The order in which evidence is shown; a kind that is not here comes after these.
_KINDS = ("canonical", "exact", "balls", "special", "dependence", "numpy", "extreme", "differences")
_MARKS_WIDTH = 110
_PLAIN_WIDTH = 240
EVERY = 5.0  # seconds between two lines of progress where there is no terminal


def exit_code(verdicts: Iterable[str]) -> int:
    """The exit code for several verdicts: that of the worst.

    >>> exit_code(["proved", "supported", "proved"]), exit_code(["supported", "unsupported"]), exit_code([])
    (3, 2, 0)
    """
    found = set(verdicts)
    return next((EXIT_CODES[v] for v in _WORST if v in found), 0)


def fail(message: str) -> typer.Exit:
    """Print an error on standard error; raise what is returned."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(message, err=True)
    return typer.Exit(USAGE)


def emit(text: str, output: Path | None = None) -> None:
    """Print a text, or write it to a file and say so on standard error."""
    if output is None:
        typer.echo(text.rstrip("\n"))
        return
    try:
        write_text(output, text.rstrip("\n") + "\n")
    except OSError as error:
        raise fail(f"cannot write {output}: {error.strerror}") from None
    typer.echo(f"written: {output}", err=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with plain line ends, the same bytes on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def emit_json(data: Any) -> None:
    """Print data as JSON."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=1))


# ---------------------------------------------------------------------- verdicts
def sizes_of(d: Derivation) -> list[str]:
    """The names of the symbolic sizes that a statement speaks of, in alphabetical order."""
    from .symbolic.language.sizes import Size

    shapes = [n for t in d.tensors for n in t.shape] + [i.size for i in d.indices]
    return sorted({s.name for n in shapes for s in n.free_symbols if isinstance(s, Size)})


def headline(verdict: Verdict, sizes: Sequence[str]) -> str:
    """One line: the verdict, for which sizes and under which conditions."""
    match verdict.verdict:
        case "proved":
            every = f" for every {', '.join(sizes)}" if sizes else ""
            where = f", where {' and '.join(verdict.conditions)}" if verdict.conditions else ""
            return f"proved{every}{where}"
        case "refuted":
            return "refuted by a counterexample" if verdict.counterexample is not None else "refuted"
        case "supported":
            return "supported: not proved, but no difference was found"
    return "unsupported: not decided"


def show_verdict(verdict: Verdict, d: Derivation, hints: Sequence[str] = ()) -> None:
    """The verdict with its evidence, the counterexample where there is one, and hints for the reader."""
    from .symbolic.rendering.verdict import verdict_text

    typer.secho(headline(verdict, sizes_of(d)), fg=_COLOURS[verdict.verdict], bold=True)
    _, *rest = verdict_text(verdict).splitlines()
    for line in [*rest, *(f"  note: {h}" for h in hints)]:
        typer.echo(line)


def verdict_table(rows: Sequence[Mapping[str, Any]], seed: int) -> None:
    """A table of verified theorems, and a line that counts them."""
    found = {e["kind"] for r in rows for e in r["evidence"]}
    kinds = [k for k in _KINDS if k in found] + sorted(found.difference(_KINDS))
    heads, cells = ["theorem", "verdict", *kinds, "seconds"], [[*_marks(r, kinds)] for r in rows]
    # One column for each kind of evidence where there is room, else one for all of them.
    wide = max((len(r["name"]) for r in rows), default=0) + _MARKS_WIDTH
    if _console(sys.stdout).width < wide:
        heads, cells = ["theorem", "verdict", "evidence", "seconds"], [["".join(c)] for c in cells]
        typer.echo(f"evidence: {', '.join(kinds)}; ✓ passed, ✗ failed, – not run, · not asked for")
    table = [[r["name"], (r["verdict"], _COLOURS[r["verdict"]]), *c, f"{r['seconds']:.2f}"]
             for r, c in zip(rows, cells, strict=True)]
    show_table(heads, table, right=("seconds",), middle=kinds)
    for row in rows:
        if row["verdict"] != "proved":
            typer.echo(f"{row['name']}: {row['verdict']}: {row['reason'] or _failed(row)}")
        elif row["conditions"]:
            typer.echo(f"{row['name']}: proved where {' and '.join(row['conditions'])}")
    counts = [(v, sum(r["verdict"] == v for r in rows)) for v in EXIT_CODES]
    counted = ", ".join(f"{n} {v}" for v, n in counts if n)
    typer.echo(f"{len(rows)} {'theorem' if len(rows) == 1 else 'theorems'}: {counted or 'none'}; seed {seed}")


def _marks(row: Mapping[str, Any], kinds: Sequence[str]) -> Iterator[str]:
    for kind in kinds:
        passed = [e["passed"] for e in row["evidence"] if e["kind"] == kind]
        yield "·" if not passed else "✗" if False in passed else "–" if None in passed else "✓"


def _failed(row: Mapping[str, Any]) -> str:
    failed = [f"{e['kind']}: {e['detail']}" for e in row["evidence"] if e["passed"] is False]
    return "; ".join(failed) or "no reason is known"


# ---------------------------------------------------------------------- tables and progress
def _console(stream: TextIO) -> Console:
    from rich.console import Console

    # Rich takes 80 columns where there is no terminal; a table in a file or a pipe need not be so narrow.
    return Console(file=stream, width=None if stream.isatty() else _PLAIN_WIDTH, highlight=False)


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str | tuple[str, str]]], *, right: Sequence[str] = (),
               middle: Sequence[str] = (), wrapped: Sequence[str] = ()) -> None:
    """A table on standard output; a cell is a text, or a text and its colour."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "center" if head in middle else "left",
                         overflow="fold", no_wrap=head not in wrapped)
    for row in rows:
        table.add_row(*(Text(c) if isinstance(c, str) else Text(c[0], style=c[1]) for c in row))
    console = _console(sys.stdout)
    with console.capture() as captured:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().rstrip().splitlines()))


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on standard error while one thing is computed; nothing where that is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with _console(sys.stderr).status(what):
        yield


def with_progress(what: str, results: Iterator[Mapping[str, Any]], total: int) -> list[Mapping[str, Any]]:
    """Collect results under a progress bar on standard error; without a bar where that is not a terminal."""
    if not sys.stderr.isatty() or not total:
        return list(results)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    found = []
    current = TextColumn("{task.description}")
    columns = (TextColumn(what), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), current)
    with Progress(*columns, console=_console(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=total)
        for result in results:
            found.append(result)
            bar.update(task, advance=1, description=result["name"])
    return found


class Progress:
    """A count on standard error while results are printed on standard output: one line that is written over in a
    terminal, else a line now and then.
    """

    def __init__(self, what: str, total: int, *, stream: TextIO | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self.both = self.live and sys.stdout.isatty()
        self.began = self.told = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._erase()

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """While this lasts the terminal's line belongs to standard output."""
        if self.both:
            self._erase()
        yield

    def advance(self, name: str) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if self.live:
            self.stream.write(f"\r\x1b[K{self.done}/{self.total} {self.what}, {now - self.began:.0f} s: {name[:50]}")
            self.stream.flush()
        elif now - self.told >= EVERY:
            self.told = now
            self.stream.write(f"{self.done}/{self.total} {self.what}, {now - self.began:.0f} s\n")
            self.stream.flush()

    def _erase(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def verdict_line(row: Mapping[str, Any]) -> str:
    """A claim's verdict in one line, with the reason where it is not proved.

    >>> verdict_line({"id": "sine", "verdict": "proved", "seconds": 0.0123, "reason": "", "conditions": ["x ≠ 0"]})
    'sine: proved where x ≠ 0 (0.01 s)'
    """
    where = f" where {' and '.join(row['conditions'])}" if row.get("conditions") and row["verdict"] == "proved" else ""
    reason = " ".join(str(row.get("reason", "")).split())
    said = f": {reason}" if row["verdict"] != "proved" and reason else ""
    return f"{row['id']}: {row['verdict']}{where}{said} ({row['seconds']:.2f} s)"
