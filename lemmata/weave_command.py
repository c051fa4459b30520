"""The command `lemmata weave`: the blocks in Markdown files filled with derivations, each proved.

Exit codes: 0 written, 1 a block is not proved, 2 a block cannot be read. Unless all is well, nothing is written.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .terminal import USAGE, fail

if TYPE_CHECKING:
    from .markdown_blocks import Filled


class LabelName(StrEnum):
    """Dialects in which an equation has its label."""

    none = "none"
    myst = "myst"
    latex = "latex"


Files = Annotated[list[Path], typer.Argument(metavar="FILE", allow_dash=True, show_default=False, help=(
    "Markdown files; - is standard input."))]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE|FOLDER", show_default=False, help=(
    "Where it goes; a folder for several files. Without it, the terminal."))]
Labels = Annotated[LabelName, typer.Option("--labels", help=(
    "How :label: is written: not at all, as MyST's $$...$$ (label), or as LaTeX's equation with \\label."))]


def weave(files: Files, output: Output = None, labels: Labels = LabelName.none) -> None:
    r"""Fill the blocks of Markdown files with derivations.

    A block is a fence with {derivation}, {theorem}, {shapes}, {gradient} or {prove}; all else stays byte for byte. A
    block whose claim is not proved is an error, and then nothing is written. Functions that blocks name are imported,
    so their code runs.

    \b
      lemmata weave notes.md -o notes.out.md
      lemmata weave chapters/*.md -o build/ --labels myst
      lemmata weave - < notes.md
    """
    targets = _targets(files, output)
    filled = {file: _filled(file, labels) for file in files}
    warnings = [w for f in filled.values() for w in f.warnings]
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    errors = [e for f in filled.values() for e in f.errors]
    if errors:
        from .weaving import BlockNotProved

        for error in errors:
            fail(str(error))
        typer.echo(f"nothing is written: {len(errors)} of {sum(f.blocks for f in filled.values())} blocks failed"
                   if len(errors) > 1 else "nothing is written", err=True)
        raise typer.Exit(1 if any(isinstance(e, BlockNotProved) for e in errors) else USAGE)
    for file, target in targets.items():
        data = filled[file].text.encode()
        if target is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except OSError as error:
            raise fail(f"cannot write {target}: {error.strerror}") from None
        count = filled[file].blocks
        typer.echo(f"written: {target} ({count} {'block' if count == 1 else 'blocks'})", err=True)


def _targets(files: list[Path], output: Path | None) -> dict[Path, Path | None]:
    """Where each file goes; None is the terminal."""
    if len(set(files)) < len(files):
        raise typer.BadParameter("a file is named twice", param_hint="FILE")
    if output is None:
        if len(files) > 1:
            raise typer.BadParameter("several files need a folder to go to", param_hint="-o")
        return {files[0]: None}
    into_folder = len(files) > 1 or output.is_dir()
    if into_folder and Path("-") in files:
        raise typer.BadParameter("standard input has no name, so it goes to a file alone", param_hint="-o")
    if into_folder and output.is_file():
        raise typer.BadParameter(f"several files need a folder to go to, and {output} is a file", param_hint="-o")
    targets: dict[Path, Path | None] = {f: output / f.name if into_folder else output for f in files}
    if len(set(targets.values())) < len(files):
        raise typer.BadParameter("two of the files have the same name", param_hint="FILE")
    sources = {f.resolve() for f in files}
    for target in targets.values():
        if target is not None and target.resolve() in sources:
            raise typer.BadParameter(f"{target} is an input, whose blocks would be lost", param_hint="-o")
    return targets


def _filled(file: Path, labels: LabelName) -> Filled:
    from .markdown_blocks import decoded, fill
    from .symbolic.language.errors import LemmataError
    from .weaving import latex_display, myst_display, plain_display

    display = {LabelName.none: plain_display, LabelName.myst: myst_display, LabelName.latex: latex_display}[labels]
    standard_input = str(file) == "-"
    try:
        data = sys.stdin.buffer.read() if standard_input else file.read_bytes()
        return fill(decoded(data), "." if standard_input else file.parent, str(file), display)
    except OSError as error:
        raise fail(f"cannot read {file}: {error.strerror}") from None
    except LemmataError as error:
        raise fail(f"cannot read {file}: {error}") from None
