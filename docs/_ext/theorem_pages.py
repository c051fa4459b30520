"""A page for every theorem, and their index by topic, written as Markdown before Sphinx reads the sources.

The pages are generated from the registry (they lie in `theorems/` of the sources and are not committed); a page whose
text has not changed is not touched, so that Sphinx does not read it again. A theorem that is not proved fails the
build.

A page may weigh PAGE bytes as HTML: the statement stands on it, and each further level of detail where it fits; what
does not fit goes to pages of its own, of the same weight.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page_weights import know, weight
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.display import status_iterator
from theorem_facts import Facts, all_facts
from theorem_graph import graph_page

from lemmata.parallel import chosen_theorems
from lemmata.reference import verdict_table

logger = logging.getLogger(__name__)
PAGE = 150_000
# The theme's part of a page (15 kB), and a reserve for what the estimate of a formula's size misses.
ROOM = PAGE - 25_000
# A display that is heavier is written as several, so that it can stand on two pages.
DISPLAY = 40_000
LEVELS = {"normal": ("steps", "Step by step"), "full": ("every-step", "Every step, with its rule")}
VERDICTS = {"proved": "✓ proved", "supported": "supported", "refuted": "✗ refuted", "unsupported": "unsupported"}


@dataclass(frozen=True)
class Page:
    """A file of `theorems/`."""

    name: str
    text: str


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_config_value("theorem_names", [], "env", types=[list])
    app.add_config_value("theorem_jobs", 2, "", types=[int])
    app.add_config_value("theorem_cache", "", "", types=[str])
    app.connect("builder-inited", generate, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def generate(app: Sphinx) -> None:
    """Verify the theorems and write their pages."""
    names = [t.name for t in chosen_theorems(app.config.theorem_names)]
    cache = Path(app.config.theorem_cache or Path(app.doctreedir).parent / "theorems")
    found = all_facts(names, cache, jobs=app.config.theorem_jobs)
    rows: dict[str, Facts] = {}
    kept = 0
    for row, cached in status_iterator(found, "proving theorems ... ", length=len(names), stringify_func=_name_of):
        rows[row["name"]] = row
        know(row["weights"])
        kept += cached
        if row["verdict"] != "proved":
            logger.error("theorem %s: %s: %s", row["name"], row["verdict"], _why(row), type="lemmata")
            app.statuscode = 1
    logger.info("%d of %d theorems from the cache", kept, len(rows))
    pages = [page for name in rows for page in pages_of(name, rows)]
    pages += [index_page(rows), graph_page(rows)]
    write(Path(app.srcdir) / "theorems", pages)
    evidence = {name: [e["kind"] for e in row["evidence"]] for name, row in rows.items()}
    verdicts = Path(app.outdir) / "theorems" / "verdicts.json"
    verdicts.parent.mkdir(parents=True, exist_ok=True)
    verdicts.write_text(json.dumps(evidence, indent=1) + "\n", encoding="utf-8")


def _name_of(item: tuple[Facts, bool]) -> str:
    return str(item[0]["name"])


def _why(row: Facts) -> str:
    failed = next((e for e in row["evidence"] if e["passed"] is False), None)
    return row["reason"] or (f"{failed['kind']}: {failed['detail']}" if failed else "")


def write(folder: Path, pages: Sequence[Page]) -> None:
    """Write what has changed; remove pages that are no more."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        if old.stem not in {page.name for page in pages}:
            old.unlink()
    for page in pages:
        path = folder / f"{page.name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != page.text:
            path.write_text(page.text, encoding="utf-8")


# ---------------------------------------------------------------------- the pages of one theorem
def pages_of(name: str, rows: Mapping[str, Facts]) -> list[Page]:
    """The theorem's page, and those of the levels of detail that do not fit on it."""
    row = rows[name]
    after = [*_evidence(row), *_relations(row, rows)]
    code = "\n".join(_numpy(row))
    apart = _series(row, "numpy", "NumPy", [code] if weight(code) > ROOM // 3 else [], rows)
    shown = f"The [NumPy code]({apart[0].name}.md) has a page of its own." if apart else code
    after = ["## NumPy", "", shown, "", *after]
    statement = [row["given"], row["chains"]["brief"], row["result"]]
    budget = ROOM - weight("\n\n".join(after))
    first, *more = _packed(_blocks("\n\n".join(statement)), budget)
    budget -= weight(first)
    out = [f"# {row['title']}", "", _byline(row), "", "## Statement", "", _linked(first, rows)]
    others = _series(row, "statement", "Statement, continued", more, rows)
    if others:
        out += ["", f"The statement [continues here]({others[0].name}.md)."]
    others += apart
    out += ["", _linked(row["remarks"], rows), "", f"Source: {row['source']}" if row["source"] else ""]
    out += ["", "## Derivation", ""]
    before = row["chains"]["brief"]
    links = []
    for level, (suffix, title) in LEVELS.items():
        chain = _without_headings(row["chains"][level])
        if chain in (before, _without_headings(row["chains"]["brief"])):
            continue
        before = chain
        size = weight(chain)
        if size <= budget:
            budget -= size
            out += [f'<details class="derivation">\n<summary>{title}</summary>', "", _linked(chain, rows), "",
                    "</details>", ""]
        else:
            series = _series(row, suffix, title, _packed(_blocks(chain), ROOM), rows)
            others += series
            number = f" ({len(series)} pages)" if len(series) > 1 else ""
            links.append(f"- [{title}]({series[0].name}.md){number}")
    if out[-2:] == ["## Derivation", ""] and not links:
        out += ["The statement holds by one step: both sides have the same canonical form."]
    out += [*links, "", *(_linked(line, rows) for line in after)]
    out += ["", *_neighbours(row["name"], list(rows), rows)]
    return [Page(name, _clean("\n".join(out))), *others]


def _byline(row: Facts) -> str:
    verdict = f"[{VERDICTS[row['verdict']]}](#evidence){{.verdict .{row['verdict']}}}"
    return f"{{.byline}}\n{verdict} · `{row['name']}` · [{row['topic']}](index.md#{slug(row['topic'])})"


def _numpy(row: Facts) -> list[str]:
    out = []
    if row["numpy"]:
        out += ["Generated from the right side:", "", f"```python\n{row['numpy']}\n```", ""]
    else:
        out += [f"No NumPy is generated: {row['numpy_missing']}", ""]
    witness = row["witness"]
    if witness is None:
        return out
    out += [f"Written by hand (`{witness['name']}`); the generated code is checked against `{witness['call']}`:", "",
            f"```python\n{witness['source']}\n```", ""]
    if witness["latex"]:
        out += ["The same, typeset from its source; what only reads and checks arguments is left out:", "",
                f"$$\n{witness['latex']}\n$$", ""]
    return out


def _evidence(row: Facts) -> list[str]:
    return ["## Evidence", "", verdict_table(row), ""]


def _relations(row: Facts, rows: Mapping[str, Facts]) -> list[str]:
    used_by = [other for other, facts in rows.items() if row["name"] in facts["uses"]]
    out = []
    for direction, names in (("Uses", row["uses"]), ("Used by", used_by)):
        if names:
            titles = [f"- {rows[n]['title']} (`{n}`)" if n in rows else f"- `{n}`" for n in names]
            out += [f"**{direction}**", "", *titles, ""]
    if out:
        return ["## Uses and used by", "", *out, "See the [graph of theorems](graph.md).", ""]
    return []


def _neighbours(name: str, names: Sequence[str], rows: Mapping[str, Facts]) -> list[str]:
    at = names.index(name)
    links = []
    if at:
        links.append(f"[← {rows[names[at - 1]]['title']}]({names[at - 1]}.md)")
    if at + 1 < len(names):
        links.append(f"[{rows[names[at + 1]]['title']} →]({names[at + 1]}.md)")
    return ["{.neighbours}", " ".join(links)] if links else []


def _series(row: Facts, suffix: str, title: str, parts: Sequence[str], rows: Mapping[str, Facts]) -> list[Page]:
    """Pages that follow each other, each with the way back to the theorem."""
    names = [f"{row['name']}-{suffix}" + (f"-{n}" if n > 1 else "") for n in range(1, len(parts) + 1)]
    pages = []
    for n, part in enumerate(parts):
        number = f" ({n + 1} of {len(parts)})" if len(parts) > 1 else ""
        links = [f"[← part {n}]({names[n - 1]}.md)"] if n else []
        links += [f"[part {n + 2} →]({names[n + 1]}.md)"] if n + 1 < len(parts) else []
        text = [f"# {row['title']}: {title[0].lower() + title[1:]}{number}", "",
                f"Of the theorem [`{row['name']}`]({row['name']}.md).", "", _linked(part, rows), ""]
        text += ["{.neighbours}", " ".join(links), ""] if links else []
        pages.append(Page(names[n], _clean("\n".join(text))))
    return pages


def _clean(text: str) -> str:
    return "---\norphan: true\n---\n" + re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _linked(text: str, rows: Mapping[str, Facts]) -> str:
    """Names of theorems as links to their pages."""
    return re.sub(r"(?<!\[)`(\w+)`(?!\])", lambda m: f"[`{m[1]}`]({m[1]}.md)" if m[1] in rows else m[0], text)


def _without_headings(chain: str) -> str:
    return re.sub(r"^#+ .*$", "", chain, flags=re.MULTILINE).strip()


# ---------------------------------------------------------------------- what stands on which page
def _blocks(markdown: str) -> list[str]:
    return [b for b in re.split(r"\n\s*\n", markdown) if b.strip()]


def _packed(blocks: Sequence[str], room: int) -> list[str]:
    """Blocks put together on pages, the first of them of `room` bytes; a heading or a numbered sentence stays with what
    follows it.
    """
    units: list[list[str]] = []
    for part in (part for block in blocks for part in _fitting(block)):
        if units and not units[-1][-1].startswith("$$"):
            units[-1].append(part)
        else:
            units.append([part])
    pages: list[list[str]] = [[]]
    used = 0
    for unit in units:
        size = weight("\n\n".join(unit))
        if pages[-1] and used + size > (room if len(pages) == 1 else ROOM):
            pages.append([])
            used = 0
        pages[-1] += unit
        used += size
    return ["\n\n".join(page) for page in pages]


def _fitting(block: str) -> list[str]:
    """The block, or an `aligned` one that is too heavy as several."""
    rows = re.fullmatch(r"\$\$\n\\begin\{aligned\}\n(.*)\n\\end\{aligned\}\n\$\$", block, re.DOTALL)
    if rows is None or weight(block) <= DISPLAY:
        return [block]
    lines = re.split(r" \\\\(?:\[1ex\])?\n", rows[1])
    if len(lines) == 1:
        return [block]
    halves = (lines[: len(lines) // 2], lines[len(lines) // 2 :])
    joined = (" \\\\\n".join(half) for half in halves)
    return [part for half in joined for part in _fitting(f"$$\n\\begin{{aligned}}\n{half}\n\\end{{aligned}}\n$$")]


# ---------------------------------------------------------------------- the index
def slug(topic: str) -> str:
    """The anchor of a topic's heading."""
    return re.sub(r"[^a-z0-9]+", "-", topic.lower()).strip("-")


def index_page(rows: Mapping[str, Facts]) -> Page:
    """All theorems by topic, with their verdicts."""
    proved = sum(r["verdict"] == "proved" for r in rows.values())
    topics = dict.fromkeys(r["topic"] for r in rows.values())
    out = ["# Theorems", "", f"{proved} of {len(rows)} proved, each when this page was built; "
           "the [graph](graph.md) shows which uses which.", "",
           " · ".join(f"[{topic}](#{slug(topic)})" for topic in topics), ""]
    for topic in topics:
        out += [f"## {topic[0].upper() + topic[1:]}", "", "{.theorem-table}",
                "| theorem | name | verdict |", "|---|---|---|"]
        for row in (r for r in rows.values() if r["topic"] == topic):
            title = row["title"].replace("|", r"\|")
            out.append(f"| [{title}]({row['name']}.md) | `{row['name']}` | {VERDICTS[row['verdict']]} |")
        out.append("")
    out += ["```{toctree}", ":hidden:", "", "graph", "```", ""]
    return Page("index", "\n".join(out))
