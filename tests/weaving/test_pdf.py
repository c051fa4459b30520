"""PDF: by Typst always, by pdflatex where it is installed; nothing of the machine in it, nothing off the page."""

from __future__ import annotations

import builtins
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lemmata import pdf as pdf_module
from lemmata.api import lookup_theorem
from lemmata.pdf import PdfError, pdf
from lemmata.symbolic.shapes import multi_head_attention
from tests.lemmata.running import run
from tests.rendering.pdflatex import compile_tex

TEN = ["deriv_softmax", "deriv_cross_entropy_softmax", "hessian_logsumexp", "positional_encoding_add", "rotary_score",
       "vjp_layer_norm", "vjp_attention", "vjp_multi_head_attention", "deriv_softmax_focal_loss", "vjp_feed_forward"]
needs_pdflatex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler) is not installed")


def words(data: bytes, folder: Path) -> str:
    """The text of a PDF with the place of each word."""
    file = folder / "page.pdf"
    file.write_bytes(data)
    done = subprocess.run(["pdftotext", "-bbox", str(file), "-"], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("name", TEN)
def test_ten_by_typst(name: str, tmp_path: Path) -> None:
    data = pdf(lookup_theorem(name).tex())
    assert data.startswith(b"%PDF-")
    assert data == pdf(lookup_theorem(name).tex())
    fonts = set(re.findall(rb"/FontName/[A-Z]{6}\+([\w-]+)", data))
    assert fonts
    assert all(f.startswith((b"NewCM", b"DejaVuSansMono")) for f in fonts), fonts


@needs_pdflatex
@pytest.mark.parametrize("name", TEN)
def test_ten_by_pdflatex(name: str) -> None:
    data = pdf(lookup_theorem(name).tex(), "pdflatex")
    assert data.startswith(b"%PDF-")


@pytest.mark.parametrize("name", [*TEN, "vjp_transformer_block", "online_softmax_merge"])
def test_pdflatex_keeps_to_the_page(name: str, tmp_path: Path) -> None:
    """A display that cannot break would lose its rows below the page's end; a line that is too long, its end."""
    log = compile_tex(lookup_theorem(name).tex(), tmp_path).log
    assert [line for line in log.splitlines() if line.startswith("Overfull")] == []


@needs_pdflatex
def test_pdflatex_gives_the_same_bytes() -> None:
    tex = lookup_theorem("deriv_softmax").tex()
    first = pdf(tex, "pdflatex")
    assert first == pdf(tex, "pdflatex")
    assert b"CreationDate" not in first


@needs_poppler
@pytest.mark.parametrize("name", [*TEN, "mha"])
def test_nothing_runs_off_the_page(name: str, tmp_path: Path) -> None:
    tex = multi_head_attention((1, 10, 768), 12).tex() if name == "mha" else lookup_theorem(name).tex("full")
    shown = words(pdf(tex), tmp_path)
    sizes = re.findall(r'<page width="([\d.]+)" height="([\d.]+)"', shown)
    places = re.findall(r'<word xMin="(-?[\d.]+)" yMin="(-?[\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)"', shown)
    assert places
    width, height = map(float, sizes[0])
    margin = 60
    for left, _, right, bottom in (map(float, p) for p in places):
        assert margin < left, left
        assert right < width - margin, right
        assert bottom < height, bottom


@needs_poppler
def test_a_formula_that_is_too_wide_is_made_smaller(tmp_path: Path) -> None:
    wide = r"\begin{document}\[ " + " + ".join(f"x_{{{n}}}" for n in range(80)) + r" \]\end{document}"
    shown = words(pdf(wide), tmp_path)
    right = max(float(x) for x in re.findall(r'xMax="([\d.]+)"', shown))
    assert right < 595 - 60


@needs_poppler
def test_the_page_says_what_the_derivation_says(tmp_path: Path) -> None:
    file = tmp_path / "page.pdf"
    file.write_bytes(pdf(lookup_theorem("deriv_cross_entropy_softmax").tex()))
    text = subprocess.run(["pdftotext", str(file), "-"], capture_output=True, check=True).stdout.decode()
    for said in ("Gradient of softmax cross-entropy", "Given", "Assume", "By hypothesis", "use_hypothesis",
                 "In vector form", "Source: Bishop"):  # fmt: skip
        assert said in text


# ---------------------------------------------------------------------- errors
def test_without_typst(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "typst":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    out = tmp_path / "x.pdf"
    ran = run("derive", "deriv_softmax", "-o", str(out))
    assert ran.code == 2
    assert ran.err == "error: a PDF needs the library typst: pip install 'lemmata[pdf]'\n"
    assert not out.exists()


def test_without_pdflatex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module.shutil, "which", lambda name: None)
    with pytest.raises(PdfError, match="pdflatex is not installed"):
        pdf("", "pdflatex")


@needs_pdflatex
def test_pdflatex_refuses() -> None:
    bad = "\\documentclass{article}\n\\begin{document}\n$\\softmx(z)$\n\\end{document}\n"
    with pytest.raises(PdfError, match=re.escape(r"pdflatex refuses the document: Undefined control sequence. (l.4 ")):
        pdf(bad, "pdflatex")


def test_typst_refuses() -> None:
    with pytest.raises(PdfError, match=re.escape(r"\softmx is not known")):
        pdf(r"\begin{document}$\softmx(z)$\end{document}")


# ---------------------------------------------------------------------- the command line
@pytest.mark.parametrize("command", [
    ["derive", "deriv_softmax"], ["gradient", "sum(z**2)", "--wrt", "z", "--shapes", "z=K"],
    ["jacobian", "softmax(z)", "--wrt", "z", "--shapes", "z=K"],
    ["hessian", "logsumexp(z)", "--wrt", "z", "--shapes", "z=K"],
    ["vjp", "softmax(z)", "--wrt", "z", "--shapes", "z=K"], ["jvp", "softmax(z)", "--wrt", "z", "--shapes", "z=K"],
    ["shapes", "mha", "--x", "1,10,768", "--heads", "12"],
    ["shapes", "cross-attention", "--q", "2,4,8", "--kv", "2,7,8", "--heads", "2"],
])  # fmt: skip
def test_every_command_that_writes_a_page(command: list[str], tmp_path: Path) -> None:
    out = tmp_path / "page.pdf"
    ran = run(*command, "-o", str(out))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"written: {out}\n"
    assert out.read_bytes().startswith(b"%PDF-")
    refused = run(*command, "-o", str(out), "--format", "json")
    assert refused.code == 2
    assert "is a PDF, which --format json does not make" in refused.err


@needs_pdflatex
def test_the_engine_is_chosen(tmp_path: Path) -> None:
    out = tmp_path / "page.pdf"
    assert run("derive", "deriv_softmax", "-o", str(out), "--pdf-engine", "pdflatex").code == 0
    assert out.read_bytes() == pdf(lookup_theorem("deriv_softmax").tex(), "pdflatex")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    ran = run("derive", "deriv_softmax", "-o", str(tmp_path / "no" / "page.pdf"))
    assert ran.code == 2
    assert ran.err.startswith("error: cannot write ")
