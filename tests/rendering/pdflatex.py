"""Compile a standalone .tex with pdflatex, where it is installed; elsewhere the test that asks is skipped."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Compiled:
    """The PDF and the full log; ``overfull`` are the lines that stick out into the margin."""

    pdf: Path
    log: str

    @property
    def overfull(self) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith("Overfull \\hbox")]


def compile_tex(source: str, folder: Path) -> Compiled:
    """Compile ``source`` in ``folder`` (a fresh ``tmp_path``); an error raises AssertionError with TeX's own lines."""
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("pdflatex is not installed")
    (folder / "standalone.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "standalone.tex"],
        cwd=folder,
        # max_print_line: TeX would break the lines of its log at 79 characters, in the middle of words.
        env={**os.environ, "max_print_line": "1000", "SOURCE_DATE_EPOCH": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    log_file, pdf = folder / "standalone.log", folder / "standalone.pdf"
    log = log_file.read_text(encoding="utf-8", errors="replace") if log_file.exists() else ""
    assert done.returncode == 0, f"pdflatex refuses the file:\n{_error_lines(log)}"
    assert pdf.exists(), f"pdflatex wrote no page:\n{log[-500:]}"
    return Compiled(pdf, log)


def _error_lines(log: str) -> str:
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith("!")), max(len(lines) - 10, 0))
    return "\n".join(lines[first : first + 8])
