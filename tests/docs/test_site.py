"""The site: theorem pages of a small one, what fails it, and the check of itself, which is seen to fail."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .site import EXTENSION, INDEX, SITE, make, write

# A claim with a sign flipped, registered as theorems are.
TAMPERED = """
from lemmata.symbolic.derivations.theorem import Claim, theorem
from lemmata.api import array
from lemmata.symbolic.language.vocabulary import softmax

@theorem(topic="softmax", title="Wrong", source="nowhere")
def softmax_neg():
    z = array("z", "K")
    return Claim(softmax(-z), softmax(z))

theorem_names = ["sum_softmax", "softmax_neg"]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small site that was built without a complaint."""
    folder = tmp_path_factory.mktemp("small")
    built = make(write(folder / "docs", conf_py=SITE, index_md=INDEX))
    assert built.code == 0, built.words
    return folder


def test_a_page_shows_what_is_known_of_the_theorem(small: Path) -> None:
    page = (small / "site" / "theorems" / "vjp_softmax.html").read_text(encoding="utf-8")
    for words in ("✓ proved", "Statement", "Step by step", "vjp_softmax",
                  "lemmata.numeric.softmax.softmax_vjp", "canonical", "differences", "Source:"):
        assert words in page, words
    assert 'href="deriv_softmax.html"' in page
    assert 'href="vjp_softmax.html"' in (small / "site" / "theorems" / "deriv_softmax.html").read_text(encoding="utf-8")
    graph = (small / "site" / "theorems" / "graph.html").read_text(encoding="utf-8")
    assert re.search(r'<a href="vjp_softmax\.html" aria-label="[^"]+"><title>', graph)
    index = (small / "site" / "theorems" / "index.html").read_text(encoding="utf-8")
    assert "3 of 3 proved" in index
    jacobian = (small / "site" / "theorems" / "deriv_softmax.html").read_text(encoding="utf-8")
    assert jacobian.count("<details") == jacobian.count("</details>") == 2


def test_a_second_build_proves_nothing_again_and_writes_the_same_sources(small: Path) -> None:
    pages = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in (small / "docs" / "theorems").iterdir()}
    kept = {p.name: p.stat().st_mtime_ns for p in (small / "site-kept" / "theorems").iterdir()}
    assert make(small / "docs").code == 0
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in (small / "docs" / "theorems").iterdir()} == pages
    assert {p.name: p.stat().st_mtime_ns for p in (small / "site-kept" / "theorems").iterdir()} == kept


def test_a_guide_that_is_renamed_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not its page, and not its old name beside the pages that were not written again."""
    folder = tmp_path / "docs"
    guides = INDEX.replace("theorems/index", "first\nother\ntheorems/index")
    one = SITE.replace('["deriv_softmax", "sum_softmax", "vjp_softmax"]', '["sum_softmax"]')
    write(folder, conf_py=one, index_md=guides, first_md="# The first\n", other_md="# Other\n")
    assert make(folder).code == 0
    assert "The first" in (tmp_path / "site" / "other.html").read_text(encoding="utf-8")
    (folder / "first.md").unlink()
    write(folder, second_md="# The second\n", index_md=guides.replace("first", "second"))
    built = make(folder)
    assert built.code == 0, built.words
    beside = (tmp_path / "site" / "other.html").read_text(encoding="utf-8")
    assert "The second" in beside
    assert "The first" not in beside
    assert not (tmp_path / "site" / "first.html").exists()


def test_a_tampered_theorem_fails_the_build(tmp_path: Path) -> None:
    built = make(write(tmp_path / "docs", conf_py=SITE + TAMPERED, index_md=INDEX))
    assert built.code != 0
    assert "theorem softmax_neg: refuted" in built.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("[away](nowhere.md)", "nowhere"),
        ("[away](theorems/deriv_softmax.md#nowhere)", "nowhere"),
        ('<a href="nowhere.html">away</a>', "the link nowhere.html leads nowhere"),
        ('<img src="https://example.org/x.png" alt="">', "loads https://example.org/x.png from elsewhere"),
    ],
)
def test_a_broken_link_fails_the_build(tmp_path: Path, words: str, message: str) -> None:
    config = SITE + 'theorem_names = ["sum_softmax"]\n'
    built = make(write(tmp_path / "docs", conf_py=config, index_md=f"{INDEX}\n{words}\n"))
    assert built.code != 0
    assert message in built.words


# ---------------------------------------------------------------------- the check of itself
@pytest.fixture(scope="module")
def problems() -> Iterator[object]:
    sys.path.insert(0, str(EXTENSION))
    try:
        from site_check import problems

        yield problems
    finally:
        sys.path.remove(str(EXTENSION))


def test_a_site_in_order_has_no_problems(small: Path, problems) -> None:  # type: ignore[no-untyped-def]
    assert problems(small / "site") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<html class="no-js" lang="en"', '<html class="no-js"', "does not say its language"),
        (r"<title>.*?</title>", "", "has no title"),
        ("✓ proved</", "supported</", "does not say proved"),
        (r"<td><p>numpy</p></td>", "<td></td>", "evidence table is not complete: numpy"),
        (r"<td><p>yes</p></td>", "<td><p>no</p></td>", "canonical did not pass"),
        (r"<math ", "<span ", "formulas are drawn"),
        ('id="statement"', 'id="other"', "#statement names an anchor that is not there"),
        ("</body>", '<script src="https://example.org/x.js"></script></body>', "from elsewhere"),
        ("</body>", '<p id="evidence"></p></body>', "the id 'evidence' occurs twice"),
        ("</body>", "x" * 150_000 + "</body>", "bytes, more than 150000"),
    ],
)
def test_the_check_sees_what_is_wrong(small: Path, problems, old: str, new: str, message: str) -> None:  # type: ignore[no-untyped-def]
    path = small / "site" / "theorems" / "deriv_softmax.html"
    right = path.read_text(encoding="utf-8")
    wrong, changed = re.subn(old, new, right, count=1, flags=re.DOTALL)
    assert changed
    path.write_text(wrong, encoding="utf-8")
    try:
        assert any(message in problem for problem in problems(small / "site"))
    finally:
        path.write_text(right, encoding="utf-8")


def test_the_check_sees_a_page_that_is_missing_and_a_font_from_elsewhere(small: Path, problems) -> None:  # type: ignore[no-untyped-def]
    listed = small / "site" / "theorems" / "verdicts.json"
    right = listed.read_text(encoding="utf-8")
    css = small / "site" / "_static" / "other.css"
    css.write_text("@font-face { src: url(https://example.org/f.woff2); }", encoding="utf-8")
    listed.write_text(json.dumps(json.loads(right) | {"gone": []}), encoding="utf-8")
    try:
        found = "\n".join(problems(small / "site"))
        assert "theorems/gone.html: there is no such page" in found
        assert "_static/other.css: loads https://example.org/f.woff2 from elsewhere" in found
    finally:
        listed.write_text(right, encoding="utf-8")
        css.unlink()
