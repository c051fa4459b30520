"""The site's check of itself, on the HTML as it lies on disk.

Every internal link and anchor resolves; every page says its language and title; nothing is loaded from elsewhere; every
theorem has a page that says "proved" and shows its evidence, and no page of a theorem is too heavy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PAGE = 150_000
# Evidence that every theorem has; each has one of VALUES too, and JAX and PyTorch count where they are installed.
ALWAYS = ("canonical", "numpy")
VALUES = ("exact", "balls")
PACKAGES = ("jax", "torch")  # that may be unable to differentiate a primal
_LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("audio", "src"), ("video", "src"),
           ("object", "data"), ("embed", "src"), ("image", "href"), ("use", "href")}
# Relations of <link> that name a page and load nothing.
_NOT_LOADED = ("canonical", "next", "prev", "index", "search")


@dataclass
class _Page(HTMLParser):
    """What the check needs of a page."""

    language: str = ""
    title: str = ""
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    repeated: set[str] = field(default_factory=set)
    formulas: int = 0
    drawn: int = 0
    _inside: list[str] = field(default_factory=list)
    _body: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        if tag == "html":
            self.language = given.get("lang", "")
        if "id" in given:
            (self.repeated if given["id"] in self.ids else self.ids).add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and "href" in given and given.get("rel") not in _NOT_LOADED:
            self.loaded.append(given["href"])
        self.loaded += [v for k, v in given.items() if (tag, k) in _LOADED]
        self._body |= tag == "body"
        classes = given.get("class", "").split()
        self.formulas += tag == "math"
        self.drawn += "katex-html" in classes
        if "verdict" in classes:
            self.verdicts.append("")
            self._inside.append("verdict")
        elif tag == "title" and not self._body:  # a picture on the page has a title too
            self._inside.append("title")
        elif tag == "tr":
            self.rows.append([])
        elif tag == "td" and self.rows:
            self.rows[-1].append("")
            self._inside.append("td")

    def handle_endtag(self, tag: str) -> None:
        ends = {"span": "verdict", "a": "verdict", "title": "title", "td": "td"}.get(tag)
        if self._inside and self._inside[-1] == ends:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        inside = self._inside[-1] if self._inside else ""
        if inside == "title":
            self.title += data
        elif inside == "verdict":
            self.verdicts[-1] += data
        elif "td" in self._inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def problems(site: Path, jobs: int = 1) -> list[str]:
    """All that is wrong, each with the page; empty for a site in order. Pages are read by so many processes."""
    paths = sorted(site.rglob("*.html"))
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as readers:
            read = list(readers.map(_read, paths, chunksize=8))
    else:
        read = [_read(path) for path in paths]
    pages = {path.relative_to(site).as_posix(): page for path, page in zip(paths, read, strict=True)}
    found = [f"{name}: {words}" for name, page in pages.items() for words in _page(name, page, pages, site)]
    return [*found, *_stylesheets(site), *_theorems(site, pages)]


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _page(name: str, page: _Page, pages: dict[str, _Page], site: Path) -> Iterator[str]:
    if not page.language:
        yield "the page does not say its language"
    if not page.title.strip():
        yield "the page has no title"
    if page.formulas != page.drawn:
        yield f"{page.drawn} formulas are drawn, {page.formulas} have MathML"
    yield from (f"the id {i!r} occurs twice" for i in sorted(page.repeated))
    for address in dict.fromkeys(page.loaded):
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"loads {address} from elsewhere"
        elif not (site / name).parent.joinpath(unquote(parts.path)).exists():
            yield f"loads {address}, which does not exist"
    for address in dict.fromkeys(page.links):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = name if not parts.path else _relative(site, name, unquote(parts.path))
        if target is None or not (site / target).exists():
            yield f"the link {address} leads nowhere"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"the link {address} names an anchor that is not there"


def _relative(site: Path, name: str, path: str) -> str | None:
    target = (site / name).parent.joinpath(path).resolve()
    if target.is_dir():
        target /= "index.html"
    return target.relative_to(site.resolve()).as_posix() if target.is_relative_to(site.resolve()) else None


def _stylesheets(site: Path) -> Iterator[str]:
    for css in sorted(site.rglob("*.css")):
        name = css.relative_to(site).as_posix()
        text = re.sub(r"/\*.*?\*/", "", css.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')]+)", text):
            if address.startswith("data:"):
                continue
            if re.match(r"(\w+:)?//", address):
                yield f"{name}: loads {address} from elsewhere"
            elif not (css.parent / urlsplit(address).path).exists():
                yield f"{name}: loads {address}, which does not exist"


def _theorems(site: Path, pages: dict[str, _Page]) -> Iterator[str]:
    """Of the theorems that the build proved (it writes their names and evidence beside the pages)."""
    folder = site / "theorems"
    proved = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    for theorem, expected in proved.items():
        name = f"theorems/{theorem}.html"
        page = pages.get(name)
        if page is None:
            yield f"{name}: there is no such page"
            continue
        if not page.verdicts or page.verdicts[0].strip() != "✓ proved":
            yield f"{name}: does not say proved, but {page.verdicts[:1]}"
        shown = {row[0]: row[1:] for row in page.rows if len(row) == 3 and row[1] in ("yes", "no", "not run")}
        missing = [kind for kind in ALWAYS if kind not in shown]
        missing += [kind for kind in expected if kind not in shown]
        if missing or not any(kind in shown for kind in VALUES):
            yield f"{name}: the evidence table is not complete: {', '.join(dict.fromkeys(missing)) or 'no values'}"
        yield from (f"{name}: {kind} did not pass" for kind, (passed, _) in shown.items()
                    if passed != "yes" and not (passed == "not run" and kind in PACKAGES))
    for path in sorted(folder.glob("*.html")):
        size = path.stat().st_size
        if size > PAGE:
            yield f"theorems/{path.name}: {size} bytes, more than {PAGE}"
