"""The example notebooks: kept without outputs, executed from the first cell to the last, and looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# The mime types that a cell must show, by a piece of its source; what its HTML or LaTeX must say.
SHOWN = {
    "1-first-derivation": {
        "lm.array(": ("text/latex", r"z \in \mathbf{R}^{K}"),
        "p = lm.softmax(z)": ("text/latex", r"p_{i} := \frac{e^{z_{i}}}{\sum_{j} e^{z_{j}}}"),
        "d = lm.gradient(": ("text/html", r"\nabla_{z} L = p - y"),
        "d.verdict": ("text/html", "✓ proved"),
        "wrt=z).result": ("text/latex", r"p_{k} \sum_{j} y_{j} - y_{k}"),
        "wrong = ": ("text/html", "✗ refuted"),
        ".round(4)": ("text/plain", "array([ 0.3982, -0.7585,  0.3603])"),
        'lm.derive("deriv_softmax")': ("text/html", "Jacobian of softmax"),
    },
    "2-prove-your-own-backward-pass": {
        "proof = ": ("text/html", "w: proved for every B, C, T"),
        "refuted = ": ("text/html", "x: refuted by a counterexample"),
        'lm.derive("vjp_layer_norm")': ("text/html", "Gradients of LayerNorm"),
    },
    "3-shapes-and-attention": {
        "lm.multi_head_attention((1, 10, 768), 12)": ("text/html", "[1,10,768] → [1,10,12,64]"),
        "back=False": ("text/html", "right shape, wrong value"),
        "attention = ": ("text/html", "✓ proved"),
        "shift.verdict": ("text/html", "✓ proved"),
        "left = lm.sin": ("text/html", "✓ proved"),
        'lm.derive("rotary_score")': ("text/html", "Rotary scores depend on the difference of positions"),
    },
}


def executed(path: Path, **changes: str) -> Any:
    """The notebook after its cells were run; `changes` replaces pieces of their source first."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        for old, new in changes.items():
            cell.source = cell.source.replace(old, new)
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    return book


def check(book: Any, wanted: dict[str, tuple[str, str]]) -> None:
    """Every output that is asked for is there, in its mime type, and no cell wrote an error or a warning."""
    code = [c for c in book.cells if c.cell_type == "code"]
    assert [o for c in code for o in c.outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
    for piece, (mime, said) in wanted.items():
        (cell,) = [c for c in code if piece in c.source]
        data = cell.outputs[-1].data
        assert said in data[mime], f"{piece}: {data[mime][:400]}"
        assert data["text/plain"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert text == json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    nbformat.validate(data)
    assert (data["nbformat"], data["nbformat_minor"]) == (4, 5)
    ids = [c["id"] for c in data["cells"]]
    assert len(ids) == len(set(ids))
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in data["cells"] if c["cell_type"] == "code")
    assert set(data["metadata"]) == {"kernelspec", "language_info"}
    assert f"({path.name})" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs_and_shows_what_it_says(path: Path) -> None:
    check(executed(path), SHOWN[path.stem])


def test_a_wrong_backward_pass_in_the_notebook_is_seen() -> None:
    path = FOLDER / "2-prove-your-own-backward-pass.ipynb"
    with pytest.raises(CellExecutionError, match="refuted by a counterexample"):  # the last cell asserts the gradient
        executed(path, **{"db = dout.sum((0, 1))": "db = dout.sum((0, 1)) * 1.0009"})


def test_the_check_sees_a_verdict_that_is_not_the_one() -> None:
    path = FOLDER / "1-first-derivation.ipynb"
    book = executed(path, **{"lm.partial(p, z), lm.diag(p)": "lm.partial(p, z), lm.diag(p) - lm.outer(p, p)"})
    with pytest.raises(AssertionError, match="wrong = "):
        check(book, SHOWN[path.stem])
