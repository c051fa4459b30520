r"""LaTeX for ``\input``: part of a paper, with labels to refer to; several of them in one document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lemmata.api import lookup_theorem
from lemmata.questions import derive_formula
from tests.lemmata.running import run
from tests.rendering.pdflatex import compile_tex

NAMES = ["deriv_softmax", "deriv_cross_entropy_softmax", "vjp_attention", "vjp_layer_norm", "positional_encoding_add",
         "hessian_logsumexp", "rotary_score", "vjp_multi_head_attention", "deriv_softmax_focal_loss",
         "vjp_feed_forward"]  # fmt: skip
PAPER = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n%s\n\\end{document}\n"


def labels(tex: str) -> list[str]:
    return re.findall(r"\\label\{([^}]*)\}", tex)


def test_a_part_of_a_paper() -> None:
    tex = lookup_theorem("deriv_softmax").tex_input()
    assert labels(tex) == ["eq:deriv_softmax", "eq:deriv_softmax_vector"]
    assert r"= p_{i} \delta_{ik} - p_{i} p_{k} \label{eq:deriv_softmax}" in tex
    for word in ("documentclass", "usepackage{amsmath}\n", r"\section", r"\begin{document}"):
        assert word not in "\n".join(line for line in tex.splitlines() if not line.startswith("%"))
    assert r"\usepackage{amsmath}" in tex.splitlines()[1]
    assert r"%   \eqref{eq:deriv_softmax}" in tex


def test_a_system_has_a_label_for_each_gradient() -> None:
    assert labels(lookup_theorem("vjp_attention").tex_input()) == [
        "eq:vjp_attention_dQ", "eq:vjp_attention_dK", "eq:vjp_attention_dV"]  # fmt: skip


def test_the_detail_does_not_change_the_labels() -> None:
    for name in NAMES:
        result = lookup_theorem(name)
        found = {tuple(labels(result.tex_input(detail))) for detail in ("brief", "normal", "full")}
        assert len(found) == 1
        assert len(set(next(iter(found)))) == len(next(iter(found)))


def test_questions_have_labels_of_their_own() -> None:
    def label(formula: str, **more: object) -> str:
        return labels(derive_formula("gradient", formula, "z", shapes="z=K y=K", **more).tex_input())[0]  # type: ignore[arg-type]

    asked = [label("sum(y*z)"), label("-sum(y*z)"), label("sum(y*z**2)"), label("sum(y*z)", given=["sum(y) = 1"]),
             label("sum(y*z)", domains="y=positive")]  # fmt: skip
    assert len(set(asked)) == len(asked)
    assert label("sum(y*z)") == asked[0]
    assert re.fullmatch(r"eq:gradient_[0-9a-f]{8}", asked[0])


@pytest.mark.parametrize("detail", ["brief", "normal", "full"])
def test_ten_in_one_document(detail: str, tmp_path: Path) -> None:
    parts = []
    for name in NAMES:
        ran = run("derive", name, "--format", "tex-input", "--detail", detail, "-o", str(tmp_path / f"{name}.tex"))
        assert ran.code == 0
        found = labels((tmp_path / f"{name}.tex").read_text(encoding="utf-8"))
        said = ", ".join(rf"\eqref{{{x}}}" for x in found)
        parts += [rf"\section{{{name.replace('_', ' ')}}} By {said}:", rf"\input{{{name}}}"]
    compile_tex(PAPER % "\n".join(parts), tmp_path)
    log = compile_tex(PAPER % "\n".join(parts), tmp_path).log  # labels are known in the second run
    assert "multiply defined" not in log
    assert "undefined" not in log


def test_a_label_that_is_not_there_is_seen(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text(lookup_theorem("deriv_softmax").tex_input("brief"), encoding="utf-8")
    log = compile_tex(PAPER % r"\input{part}\eqref{eq:other}", tmp_path).log
    assert "Reference `eq:other' on page 1 undefined" in log
