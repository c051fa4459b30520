"""The tables of docs/comparison.md are what tests/benchmarks/comparison.py prints, where the packages are installed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.benchmarks.comparison import TABLES, missing

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"


@pytest.mark.parametrize("name", TABLES)
def test_table_is_what_is_measured(name: str) -> None:
    package, table = TABLES[name]
    if missing(package):
        pytest.skip(f"{package} is not installed")
    text = PAGE.read_text(encoding="utf-8")
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    written = place.sub(lambda found: f"{found[1]}\n" + "\n".join(table()) + f"\n\n{found[2]}", text)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(written, encoding="utf-8")
    else:
        assert written == text
