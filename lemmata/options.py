"""The options that several commands share: one declaration each, with its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class DetailName(StrEnum):
    """How much of a derivation is shown."""

    brief = "brief"
    normal = "normal"
    full = "full"


class EngineName(StrEnum):
    """What sets a PDF."""

    typst = "typst"
    pdflatex = "pdflatex"


class FormatName(StrEnum):
    """Output formats of a derivation."""

    text = "text"
    latex = "latex"
    markdown = "markdown"
    json = "json"
    tex = "tex"
    tex_input = "tex-input"
    numpy = "numpy"


Formula = Annotated[str, typer.Argument(metavar="FORMULA", help="A formula in NumPy's vocabulary, in quotes.")]
FormulaOrFunction = Annotated[str, typer.Argument(metavar="FORMULA|FUNCTION", help=(
    "A formula in NumPy's vocabulary, in quotes; or a function of a file, file.py:name."))]
Wrt = Annotated[str, typer.Option("--wrt", metavar="NAME", help="The array to differentiate by.")]
Shapes = Annotated[str, typer.Option("--shapes", metavar="SHAPES", help="Shapes: z=N,K y=N,K c= (c is a scalar).")]
Domain = Annotated[str, typer.Option("--domain", metavar="DOMAINS", help="Domains: y=simplex eps=positive p=(0,1).")]
Given = Annotated[list[str], typer.Option("--given", metavar="HYPOTHESIS",
                                          help="A hypothesis, e.g. 'sum(y)=1'. May be repeated.")]
Detail = Annotated[DetailName, typer.Option("--detail", help="How many steps are shown.")]
Format = Annotated[FormatName, typer.Option("--format", help=(
    "How it is written; json is what 'lemmata check' reads, tex-input what a paper takes with \\input."))]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", dir_okay=False, help=(
    "Write to a file instead of the terminal; FILE.pdf is set as a page."))]
Engine = Annotated[EngineName, typer.Option("--pdf-engine", help=(
    "What sets -o FILE.pdf: typst (extra pdf), or pdflatex where it is installed."))]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the inputs that are drawn.")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, show_default="all processors",
                                          help="Number of processes.")]
