"""A derivation or a trace as PDF: its LaTeX document, set by Typst (extra `pdf`), or by pdflatex where it is installed.

Typst is a library with its fonts in it (New Computer Modern), so it needs neither TeX nor fonts of the machine. Both
engines give the same bytes for the same document.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from .symbolic.language.errors import LemmataError, UnsupportedError

Engine = Literal["typst", "pdflatex"]
SECONDS = 120
# Without these pdfTeX writes the time, its version and a name made of the folder into the file.
_FIXED = r"\pdfinfoomitdate=1 \pdfsuppressptexinfo=-1 \pdftrailerid{}" + "\n"


class PdfError(LemmataError):
    """No PDF: the engine is not installed, or refuses the document."""


def pdf(tex: str, engine: Engine = "typst") -> bytes:
    """The PDF of a standalone LaTeX document that `Result.tex` or `Trace.tex` wrote.

    Raises `PdfError` with what to install, or with the line of the engine's log that says what is wrong.
    """
    return _by_typst(tex) if engine == "typst" else _by_pdflatex(tex)


def _by_typst(tex: str) -> bytes:
    try:
        import typst
    except ImportError:
        raise PdfError("a PDF needs the library typst: pip install 'lemmata[pdf]'") from None
    from .symbolic.rendering.typst_document import typst_document

    try:
        source = typst_document(tex)
        return bytes(typst.compile(source.encode(), format="pdf", ignore_system_fonts=True))
    except UnsupportedError as error:
        raise PdfError(f"{error}; write it with --pdf-engine pdflatex") from None
    except typst.TypstError as error:
        raise PdfError(f"typst refuses the document: {str(error).strip().splitlines()[0]}") from None


def _by_pdflatex(tex: str) -> bytes:
    program = shutil.which("pdflatex")
    if program is None:
        raise PdfError("pdflatex is not installed; without --pdf-engine, typst makes the PDF: "
                       "pip install 'lemmata[pdf]'")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "document.tex").write_text(_FIXED + tex, encoding="utf-8", newline="\n")
        try:
            done = subprocess.run(
                [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"], cwd=folder,
                env={**os.environ, "max_print_line": "1000", "SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise PdfError(f"pdflatex did not end within {SECONDS} s") from None
        log, made = folder / "document.log", folder / "document.pdf"
        if done.returncode or not made.exists():
            said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            raise PdfError(f"pdflatex refuses the document: {_log_line(said)}")
        return made.read_bytes()


def _log_line(log: str) -> str:
    """TeX's error and the line of the document, from its log.

    >>> _log_line("...\\n! Undefined control sequence.\\nl.5 \\\\softmx\\n           (z)\\n")
    'Undefined control sequence. (l.5 \\\\softmx)'
    """
    lines = log.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith("!")), None)
    if first is None:
        return lines[-1] if lines else "it wrote no log"
    place = next((line.strip() for line in lines[first + 1 :] if re.match(r"l\.\d+ ", line)), "")
    return lines[first].removeprefix("! ") + (f" ({place})" if place else "")
