"""Small sites for the tests: written to a folder and built in a process of their own, as `make docs` builds one."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

EXTENSION = Path(__file__).parents[2] / "docs" / "_ext"

PROJECT = """
extensions = ["myst_parser", "lemmata.sphinx"]
myst_enable_extensions = ["dollarmath"]
html_theme = "furo"
"""
# A site with pages of theorems.
SITE = f"""
import sys
sys.path.insert(0, {str(EXTENSION)!r})
extensions = ["myst_parser", "lemmata.sphinx", "theorem_pages", "whole_site"]
myst_enable_extensions = ["dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Small"
lemmata_theorem_pages = "/theorems/{{name}}.md"
theorem_names = ["deriv_softmax", "sum_softmax", "vjp_softmax"]
theorem_jobs = 1
"""
INDEX = "# Small\n\n```{toctree}\ntheorems/index\n```\n"


@dataclass(frozen=True)
class Built:
    """How a build ended."""

    code: int
    words: str
    site: Path

    def page(self, name: str) -> str:
        return (self.site / name).read_text(encoding="utf-8")


def write(folder: Path, **files: str) -> Path:
    """Write files whose names are given with `_` for the dot (`conf_py`, `index_md`)."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return folder


def sphinx(source: Path, *options: str) -> Built:
    """An ordinary build of a project, without -W."""
    site = source.parent / "out"
    return _run(["-m", "sphinx", "-b", "html", *options, str(source), str(site)], site)


def make(source: Path) -> Built:
    """What `make docs` does."""
    site = source.parent / "site"
    return _run([str(EXTENSION / "build_site.py"), str(source), str(site), "--jobs", "1"], site)


def _run(words: list[str], site: Path) -> Built:
    done = subprocess.run(
        [sys.executable, *words], cwd=site.parent, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300
    )
    return Built(done.returncode, done.stdout + done.stderr, site)
