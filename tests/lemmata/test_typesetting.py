"""LaTeX -> HTML with MathML: what a page is given, and the copy of KaTeX that is shipped."""

import hashlib
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lemmata import typesetting

NOTE = (typesetting.FOLDER / "README.md").read_text(encoding="utf-8")


def test_html_holds_mathml_and_the_source() -> None:
    html = typesetting.typeset(r"\frac{1}{2}", display=False)
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML">' in html
    assert '<annotation encoding="application/x-tex">\\frac{1}{2}</annotation>' in html
    assert 'aria-hidden="true"' in html  # a screen reader reads the MathML alone
    assert 'class="katex-display"' in typesetting.typeset("x")


def test_an_error_has_the_message_and_the_formula() -> None:
    with pytest.raises(typesetting.TypesettingError, match=r"(?s)control sequence: \\foo.*\nin the formula:\n"):
        typesetting.typeset(r"\foo + 1")


def test_nothing_can_be_linked_or_loaded() -> None:
    for latex in (r"\href{https://example.org}{x}", r"\includegraphics{x.png}", r"\url{x}"):
        with pytest.raises(typesetting.TypesettingError, match="not allowed"):
            typesetting.typeset(latex)


def test_a_forked_process_has_its_own_context() -> None:
    typesetting.typeset("x")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(typesetting.typeset, ["x"]).get(timeout=60) == typesetting.typeset("x")


def test_a_process_ends_that_has_typeset() -> None:
    """V8 is closed before the interpreter ends; what is registered earlier runs later, and sees it."""
    code = """
import atexit, os
from lemmata import typesetting
def see():
    try:
        context.eval("1")
    except AssertionError:
        print("closed")
atexit.register(see)
typesetting.typeset("x")
context = typesetting._context(os.getpid())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "closed\n", done.stderr


def test_the_shipped_files_are_those_written_down() -> None:
    written = re.search(r"^# KaTeX (\S+)$", NOTE, re.MULTILINE)
    assert written is not None
    assert written[1] == typesetting.version()
    sums = {name: total for total, name in re.findall(r"^    ([0-9a-f]{64})  (\S+)$", NOTE, re.MULTILINE)}
    files = [p for p in sorted(typesetting.FOLDER.rglob("*")) if p.is_file() and p.name != "README.md"]
    assert {p.relative_to(typesetting.FOLDER).as_posix(): _sha256(p) for p in files} == sums
    css = (typesetting.FOLDER / typesetting.STYLESHEET).read_text(encoding="utf-8")
    assert f'"{typesetting.version()}"' in css  # the stylesheet says of which version it is


def test_style_is_copied_with_every_font_it_reads(tmp_path: Path) -> None:
    css = typesetting.copy_style(tmp_path / "static")
    fonts = re.findall(r"url\((fonts/[^)]+\.woff2)\)", css.read_text(encoding="utf-8"))
    assert len(fonts) == 20
    assert all((css.parent / font).is_file() for font in fonts)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
