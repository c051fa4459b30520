"""The pictures of the documentation: both variants, the same bytes each time, small, and told in words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
LIMIT = 150_000

pytest.importorskip("matplotlib")


def drawn(folder: Path, seed: str) -> dict[str, bytes]:
    subprocess.run(
        [sys.executable, "-m", "pictures", str(folder)],
        cwd=DOCS,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return drawn(tmp_path_factory.mktemp("pictures"), "1")


def test_two_draws_give_the_same_bytes(files: dict[str, bytes], tmp_path: Path) -> None:
    assert drawn(tmp_path, "2") == files


def test_each_has_a_light_and_a_dark_variant(files: dict[str, bytes]) -> None:
    names = {name.removesuffix("-light.svg") for name in files if name.endswith("-light.svg")}
    assert len(names) >= 6
    assert set(files) == {f"{name}-{theme}.svg" for name in names for theme in ("light", "dark")}
    for name in names:
        assert files[f"{name}-light.svg"] != files[f"{name}-dark.svg"]


def test_they_are_small_and_need_nothing_from_elsewhere(files: dict[str, bytes]) -> None:
    for name, data in files.items():
        assert len(data) < LIMIT, name
        text = data.decode("utf-8")
        assert "<script" not in text
        for target in re.findall(r'href="([^"]*)"', text):
            assert target.startswith(("#", "data:image/png;")), f"{name}: {target[:60]}"


def test_each_is_told_in_words_in_both_languages(files: dict[str, bytes]) -> None:
    program = (
        "import json, pictures\n"
        "print(json.dumps([[p.alternative(x) for x in ('en', 'zh')] for p in pictures.PICTURES]))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=DOCS, check=True, capture_output=True, encoding="utf-8")
    words = json.loads(done.stdout)
    assert len(words) == len(files) // 2
    for english, chinese in words:
        assert len(english) > 80
        assert re.search("[一-鿿]{4}", chinese)
        assert "\n" not in english + chinese


def test_pages_name_pictures_that_exist(files: dict[str, bytes]) -> None:
    for page in DOCS.rglob("*.md"):
        used = re.findall(r"^```\{picture\} (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert {f"{name}-light.svg" for name in used} <= set(files), page.name
