"""The pdflatex harness itself: a good file gives a PDF, a bad one fails with TeX's message."""

from pathlib import Path

import pytest

from .pdflatex import compile_tex

PAGE = r"""\documentclass{article}
\usepackage{amsmath}
\begin{document}
%s
\end{document}
"""


def test_a_good_file_compiles(tmp_path: Path) -> None:
    compiled = compile_tex(PAGE % r"\[ \nabla_z L = p - y \]", tmp_path)
    assert compiled.pdf.read_bytes().startswith(b"%PDF-")
    assert compiled.overfull == []


def test_a_bad_file_fails_with_the_message(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        compile_tex(PAGE % r"\[ \softmax(z) \]", tmp_path)


def test_a_formula_in_the_margin_is_seen(tmp_path: Path) -> None:
    assert len(compile_tex(PAGE % rf"\[ {'+'.join(['xyz'] * 60)} \]", tmp_path).overfull) == 1
