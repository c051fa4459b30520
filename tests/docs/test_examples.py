"""Every Python and console example in README.md and docs/ runs and prints what the page shows.

``UPDATE_DOCS=1 pytest tests/docs`` writes the real output into the pages; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lemmata.symbolic.theorems import theorems

from .examples import Page, agrees, examples, rewritten

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "theorems"  # written when the site is built, a page a theorem
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").rglob("*.md")) if GENERATED not in p.parents)]
# Filled in when the site is built, where what is not proved fails the build. Here only the names are looked at.
FILLED = {"derivation", "theorem", "shapes", "gradient", "prove"}
PLACED = {"picture", "toctree", "eval-rst"}
# A longer fence shows the blocks in it as they are written.
_SHOWN = re.compile(r"^````.*?^````$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())


@every_page
def test_examples_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(rewritten(text, tmp_path), encoding="utf-8")
        return
    with Page(tmp_path) as state:
        for example in examples(text):
            output = state.run(example)
            assert agrees(example, output), (
                f"{page.name}:{example.line}\n{example.source}\nshows\n{example.shown}\nbut prints\n{output}"
            )


@every_page
def test_links_lead_to_files(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        file = (page.parent / target).resolve()
        if file.parent == GENERATED:
            assert file.stem in {"index", *theorems()}, f"{page.name} links to {target}: no such theorem"
        else:
            assert file.exists(), f"{page.name} links to {target}, which is not there"


@every_page
def test_blocks_name_theorems_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^```\{(?:derivation|theorem)\} (\S+)$", text, re.MULTILINE):
        assert name in theorems(), f"{page.name}: no theorem {name}"


@every_page
def test_no_block_is_missed(page: Path) -> None:
    """A block that looks like an example but is written so that it would not run."""
    text = _SHOWN.sub("", page.read_text(encoding="utf-8"))
    for block in re.findall(r"^```(.*?)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        kind, body = block
        if directive := re.match(r"\{([\w-]+)\}", kind):
            assert directive[1] in FILLED | PLACED, f"{page.name}: a block of kind {kind!r}"
            continue
        assert kind in {"python", "console", "text", "sh", "latex", "rst"}, f"{page.name}: a block of kind {kind!r}"
        assert kind == "python" or ">>>" not in body
        assert kind == "console" or not re.search(r"^\$ ", body, re.MULTILINE)


def test_readme_begins_with_the_make_lines() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert first is not None
    lines = [line.split("#")[0].strip() for line in first[1].splitlines()]
    assert lines == ["make reference", "make docs", "make test"]
    assert text.index("```sh") == text.index("```")


@pytest.mark.parametrize(("shown", "right"), [("p − y", True), ("p + y", False)])
def test_a_wrong_output_is_seen(shown: str, right: bool, tmp_path: Path) -> None:
    session, command = examples(
        f"```python\n>>> print('p − y')\n{shown}\n```\n\n```console\n$ echo 'p − y'\n{shown}\n```\n"
    )
    with Page(tmp_path) as page:
        assert agrees(session, page.run(session)) is right
        assert agrees(command, page.run(command)) is right


def test_a_program_that_fails_is_seen(tmp_path: Path) -> None:
    [program] = examples("```python\nassert 1 == 2\n```\n")
    with Page(tmp_path) as page:
        assert not agrees(program, page.run(program))


def test_outputs_are_rewritten(tmp_path: Path) -> None:
    session, commands = (
        "a\n```python\n>>> 1 + 1\n{}\n>>> print(1, 2, sep=2 * chr(10))\n{}```\n",
        "```console\n$ echo b; exit 3\n{}```\n",
    )
    text = session.format(3, "") + commands.format("c\n")
    right = session.format(2, "1\n\n2\n") + commands.format("b\n")
    assert rewritten(text, tmp_path) == right
    assert rewritten(right, tmp_path) == right
