"""`lemmata weave`: blocks are filled, all else stays byte for byte; one that is not proved stops everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lemmata.markdown_blocks import fill
from tests.lemmata.running import run

PROVE = "```{prove}\n:shapes: z=K\nsum(softmax(z)) == 1\n```\n"
FILLED = ("$$\n\\sum_{j} p_{j} = 1\n$$\n\n"
          "where $p_{i} := \\frac{e^{z_{i}}}{\\sum_{j} e^{z_{j}}}$\n\nProved for every K.\n")
FALSE = "```{prove}\n:shapes: z=K\n\nsum(softmax(z)) == 2\n```\n"
BAD_OPTION = "```{derivation} deriv_softmax\n:detial: brief\n```\n"


@pytest.mark.parametrize("text", [
    "", "\n", "no end", "# Title\n\n```python\nx = 1\n```\n\n~~~\n{prove}\n~~~\n", "tab\t\r\nCRLF\r\n",
    "$$\nx\n$$ (eq)\n",
    "```{note}\nA note of somebody else.\n```\n", "Σ_j p_j = 1, 中文, naïve, \u2028 and \x0c\n", "\ufeffBOM\n",
    f"````\n{PROVE}````\n", f"~~~~{{note}}\n{PROVE}~~~~\n", "    " + PROVE.replace("\n", "\n    "),
    f"<!--\n{PROVE}-->\n", "`{prove}` and ``` {prove} ``` in a line\n", ":::{note}\ntext\n:::\n",
])
def test_without_blocks_every_byte_stays(text: str) -> None:
    filled = fill(text)
    assert (filled.text, filled.blocks, filled.errors) == (text, 0, ())


@pytest.mark.parametrize("text", [
    PROVE, PROVE.replace("```", "~~~"), PROVE.replace("```", ":::"), PROVE.replace("```", "``````"),
    PROVE.replace("```{", "``` {"), PROVE.replace("\n```\n", "\n`````\n"),
    "  " + PROVE.replace("\n", "\n  ").rstrip() + "\n",
])
def test_fences(text: str) -> None:
    filled = fill(f"Before.\n\n{text}\nAfter.\n")
    assert filled.errors == ()
    assert filled.text.replace("  ", "") == f"Before.\n\n{FILLED}\nAfter.\n"


@pytest.mark.parametrize(("before", "first", "rest"), [
    ("", "- ", "  "), ("", "> ", "> "), ("", "> 1. ", ">    "), ("- item\n\n", "  ", "  "),
    ("1. a\n   - b\n\n", "     ", "     "),
])
@pytest.mark.parametrize("mark", ["```", ":::"])
def test_in_lists_and_quotes(before: str, first: str, rest: str, mark: str) -> None:
    def at(text: str) -> str:
        return "".join(((rest if n else first) + line).rstrip() + "\n" for n, line in enumerate(text.splitlines()))

    filled = fill(f"{before}{at(PROVE.replace('```', mark))}\nAfter.\n")
    assert filled.errors == ()
    assert filled.text == f"{before}{at(FILLED)}\nAfter.\n"


def test_inside_of_a_colon_fence_of_another_kind() -> None:
    assert fill(f"::::{{note}}\n{PROVE}::::\n").text == f"::::{{note}}\n{FILLED}::::\n"


def test_line_ends_of_windows() -> None:
    text = ("# Σ\r\n\r\n" + PROVE + "end").replace("\r\n", "\n").replace("\n", "\r\n")
    filled = fill(text)
    assert filled.errors == ()
    assert filled.text == ("# Σ\n\n" + FILLED + "end").replace("\n", "\r\n")


def test_a_block_at_the_very_end_and_after_a_byte_order_mark() -> None:
    filled = fill("\ufeff" + PROVE.rstrip("\n"))
    assert filled.text == "\ufeff" + FILLED.rstrip("\n")


def test_a_long_option_goes_on_indented_and_hypotheses_may_be_repeated() -> None:
    text = ("```{derivation}\n:wrt: z\n:shapes: z=K,\n  y=K c=\n:given: sum(y) = 1\n:given: c > 0\n:form: result\n\n"
            "-c*sum(y*\n  log(softmax(z)))\n```\n")
    filled = fill(text)
    assert filled.errors == ()
    assert r"c > 0" in filled.text


@pytest.mark.parametrize(("text", "said"), [
    (BAD_OPTION, "notes.md:3: {derivation} deriv_softmax: there is no option :detial:"),
    ("```{derivation} deriv_softmax\n:form: result\n:form: vector\n```\n", "the option :form: stands there twice"),
    ("```{derivation} deriv_softmax\n", "the block is not closed; end it with a line ```"),
    (":::{derivation} deriv_softmax\n:form: result\n\ntext\n", "the block is not closed; end it with a line :::"),
    ("```{derivation} deriv_softmax\n:form: result\nlast ```", "the block is not closed"),
])
def test_what_cannot_be_read(text: str, said: str) -> None:
    filled = fill("\n\n" + text, file="notes.md")
    assert len(filled.errors) == 1
    assert said in str(filled.errors[0])


def test_a_label_stands_for_one_block() -> None:
    labelled = PROVE.replace(":shapes: z=K", ":shapes: z=K\n:label: eq-one")
    assert [str(e) for e in fill(labelled + "\n" + labelled.replace("eq-one", "eq-two")).errors] == []
    filled = fill(f"{labelled}\n{labelled}", file="n.md")
    assert filled.blocks == 2
    assert [str(e) for e in filled.errors] == ["n.md:7: {prove}: the label eq-one is that of the block in line 1"]


def test_what_reading_makes_the_same_is_told() -> None:
    """x/x is 1 as soon as it is read: the page then names what was asked."""
    text = fill("```{prove}\n:shapes: x=\n:domain: x=positive\n\nx/x == 1\n```\n").text
    assert "1 = 1" in text
    assert "This is `x/x == 1`, whose sides are the same as soon as they are read." in text
    assert "This is" not in FILLED


def test_a_kind_that_looks_mistyped_is_told() -> None:
    filled = fill("```{derivatoin} deriv_softmax\n```\n", file="notes.md")
    assert filled.warnings == ("notes.md:1: {derivatoin} is left as it is; is {derivation} meant?",)


# ---------------------------------------------------------------------- the command
def test_a_file(tmp_path: Path) -> None:
    notes, out = tmp_path / "notes.md", tmp_path / "new" / "out.md"
    notes.write_bytes(f"a\r\n\n{PROVE}".encode())
    ran = run("weave", str(notes), "-o", str(out))
    assert ran.code == 0
    assert out.read_bytes() == f"a\r\n\n{FILLED}".encode()
    assert ran.err == f"written: {out} (1 block)\n"
    assert run("weave", str(notes)).out.endswith(FILLED)


def test_several_files_and_what_is_wrong_in_all_of_them(tmp_path: Path) -> None:
    for name, text in {"a.md": PROVE + FALSE, "b.md": PROVE, "c.md": "\n" + FALSE + BAD_OPTION}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    a, b, c = (str(tmp_path / n) for n in ("a.md", "b.md", "c.md"))
    ran = run("weave", a, b, c, "-o", str(tmp_path / "out"))
    assert ran.code == 1
    assert not (tmp_path / "out").exists()
    assert f"error: {a}:5: {{prove}}: refuted" in ran.err
    assert f"error: {c}:2: {{prove}}: refuted" in ran.err
    assert f"error: {c}:7: {{derivation}} deriv_softmax: there is no option :detial:" in ran.err
    assert "nothing is written: 3 of 5 blocks failed" in ran.err
    (tmp_path / "a.md").write_text(PROVE, encoding="utf-8")
    assert run("weave", a, b, "-o", str(tmp_path / "out")).code == 0
    assert (tmp_path / "out" / "a.md").read_text(encoding="utf-8") == FILLED


def test_bad_syntax_alone_is_2(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(BAD_OPTION, encoding="utf-8")
    out = tmp_path / "out.md"
    ran = run("weave", str(tmp_path / "a.md"), "-o", str(out))
    assert ran.code == 2
    assert not out.exists()


def test_an_old_file_stays_when_a_block_fails(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(FALSE, encoding="utf-8")
    out = tmp_path / "out.md"
    out.write_text("old", encoding="utf-8")
    assert run("weave", str(tmp_path / "a.md"), "-o", str(out)).code == 1
    assert out.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("words", [
    ["missing.md"], ["latin.md"], ["a.md", "b.md"], ["a.md", "-o", "a.md"], ["a.md", "a.md", "-o", "d"],
    ["a.md", "sub/a.md", "-o", "d"], ["a.md", "b.md", "-o", "old.txt"]])
def test_words_that_do_not_fit(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.md", "b.md", "sub/a.md", "old.txt"):
        (tmp_path / name).write_text("text", encoding="utf-8")
    (tmp_path / "latin.md").write_bytes("naïve".encode("latin-1"))
    ran = run("weave", *words)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "text"


def test_standard_input() -> None:
    done = subprocess.run([sys.executable, "-m", "lemmata", "weave", "-"], input=f"Σ\r\n\n{PROVE}".encode(),
                          capture_output=True, check=True)
    assert done.stdout == f"Σ\r\n\n{FILLED}".encode()


@pytest.mark.parametrize(("labels", "shown"), [
    ("none", "$$\n\\sum"), ("myst", "\n$$ (eq-one)\n"), ("latex", "\\begin{equation}\\label{eq-one}\n")])
def test_labels(labels: str, shown: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("```{derivation} sum_softmax\n:label: eq-one\n:form: result\n```\n", encoding="utf-8")
    assert shown in run("weave", str(notes), "--labels", labels).out


def test_two_runs_give_the_same_bytes() -> None:
    text = "```{derivation} deriv_cross_entropy_softmax\n```\n```{shapes} mha\n:x: 1,4,8\n:heads: 2\n```\n"
    assert fill(text).text == fill(text).text
