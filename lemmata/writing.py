"""How an answer of the command line is written: its format, and the terminal, a file or a PDF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .options import DetailName, EngineName, FormatName
from .terminal import emit, fail, working

if TYPE_CHECKING:
    from .result import Result


@dataclass(frozen=True)
class Writing:
    """What the options of a command ask for."""

    detail: DetailName
    form: FormatName
    output: Path | None
    engine: EngineName

    @property
    def for_reading(self) -> bool:
        """Whether it is text for the terminal."""
        return self.form is FormatName.text and self.output is None

    def write(self, result: Result, function: str = "") -> None:
        """Print a derivation, or write it to the file; `function` names generated code."""
        from .questions import shown

        if is_pdf(self.output):
            if self.form not in (FormatName.text, FormatName.tex):
                raise fail(f"{self.output} is a PDF, which --format {self.form.value} does not make; "
                           "leave one of the two out")
            write_pdf(result.tex(self.detail.value), self.output, self.engine)
        else:
            emit(shown(result, self.form.value, self.detail.value, function), self.output)


def is_pdf(output: Path | None) -> bool:
    """Whether a file's name asks for a PDF."""
    return output is not None and output.suffix.lower() == ".pdf"


def write_pdf(tex: str, output: Path | None, engine: EngineName) -> None:
    """Set a LaTeX document and write its PDF."""
    from .pdf import pdf

    assert output is not None
    with working("setting the page"):
        data = pdf(tex, engine.value)
    try:
        output.write_bytes(data)
    except OSError as error:
        raise fail(f"cannot write {output}: {error.strerror}") from None
    typer.echo(f"written: {output}", err=True)
