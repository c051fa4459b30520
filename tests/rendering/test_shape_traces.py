"""Traces of shapes in LaTeX: the formula typesets in KaTeX and in pdflatex, the document compiles without sticking
out.
"""

from pathlib import Path

import pytest

from lemmata.symbolic.shapes import cross_attention, multi_head_attention, trace_shapes

from . import katex
from .pdflatex import compile_tex

TRACES = {
    "concrete": lambda: multi_head_attention((1, 10, 768), 12),
    "symbolic": lambda: multi_head_attention(("B", "n", "d_model"), "h"),
    "cross": lambda: cross_attention((2, 4, 512), (2, 7, 512), 8, kv_heads=2, mask="padding"),
    "cache": lambda: multi_head_attention((3, 1, 576), 12, cache=37, mask="causal"),
    "length first": lambda: multi_head_attention(("n", "B", "d_model"), "h", kv_heads="g", length_first=True),
    "function": lambda: trace_shapes(
        lambda x, w: ((x @ w) / x.shape[-1] ** 0.5 - 1).transpose(0, 2, 1).reshape(2, 5, 21),
        x={"B": 2, "n": 5, "d": 3},
        w={"d": 3, "f": 21},
    ),
}
PAGE = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n\\[ %s \\]\n\\end{document}\n"


@pytest.mark.parametrize("name", TRACES)
def test_formula_typesets(name: str, tmp_path: Path) -> None:
    latex = TRACES[name]().latex()
    katex.check(latex)
    compile_tex(PAGE % latex, tmp_path)


@pytest.mark.parametrize("name", TRACES)
def test_document_compiles(name: str, tmp_path: Path) -> None:
    compiled = compile_tex(TRACES[name]().tex(), tmp_path)
    assert compiled.overfull == []


def test_an_unreadable_formula_is_seen() -> None:
    with pytest.raises(katex.KatexError):
        katex.check(TRACES["concrete"]().latex().replace("\\end{array}", ""))
