"""What the pages show of each theorem, computed in several processes and kept until the sources behind it change.

A theorem depends on all of Lemmata's sources but the other files of theorems; of these, on the ones that its own file
imports and on those of the theorems that it cites.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from page_weights import taken_weights

import lemmata
import lemmata.numeric
import lemmata.symbolic
from lemmata import parallel
from lemmata.api import lookup_theorem
from lemmata.reference import facts
from lemmata.sphinx import compaction
from lemmata.symbolic.rendering.derivation import derivation_parts
from lemmata.symbolic.theorems import find_theorem, theorems

Facts = dict[str, Any]
_LIBRARIES = ("numpy", "sympy", "python-flint", "latexify-py", "jax", "torch")
DETAILS = ("brief", "normal", "full")


def all_facts(names: Sequence[str], cache: Path, *, jobs: int, seed: int = 0) -> Iterator[tuple[Facts, bool]]:
    """The facts of each theorem in order, and whether they came from the cache."""
    common = _common_hash(seed)
    kept = {name: _kept(cache / f"{name}.json", common) for name in names}
    missing = [name for name in names if kept[name] is None]
    fresh = parallel.run(computed, missing, seed=seed, jobs=jobs) if missing else iter(())
    cache.mkdir(parents=True, exist_ok=True)
    for name in names:
        row = kept[name]
        if row is not None:
            yield row, True
            continue
        row = next(fresh)
        record = {"common": common, "files": _hashes(_files_of(row)), "facts": row}
        (cache / f"{name}.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        yield row, False


def computed(name: str, seed: int) -> Facts:
    """The facts of one theorem, with its derivation as Markdown at each level of detail, and weights of its pieces."""
    from theorem_pages import pages_of

    row = facts(name, seed)
    derivation = lookup_theorem(name).derivation
    cited = dict.fromkeys([*derivation.uses, *(u for part in derivation.parts for u in part.uses)])
    parts = {detail: derivation_parts(derivation, detail, level=2) for detail in DETAILS}
    brief = parts["brief"]
    row |= {
        "uses": [u for u in cited if u in theorems()],
        "notes_of_derivation": list(derivation.notes),
        "given": "\n".join(brief.given),
        "result": "\n".join(brief.result),
        "chains": {detail: "\n".join(parts[detail].chain) for detail in DETAILS},
        "remarks": "\n".join(line for line in brief.remarks if not line.startswith(("- Uses ", "- Source: "))),
    }
    # Made once here, in one process of several, only for the weights of its pieces: typesetting them takes long.
    pages_of(name, {name: row})
    return row | {"weights": taken_weights()}


# ---------------------------------------------------------------------- the cache
def _kept(path: Path, common: str) -> Facts | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["common"] == common and record["files"] == _hashes(record["files"]):
            return record["facts"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _folders() -> dict[str, Path]:
    return {m.__name__: Path(m.__file__ or "").parent for m in (lemmata, lemmata.symbolic, lemmata.numeric)}


def _common_hash(seed: int) -> str:
    """Of all that every theorem depends on: the sources, this file, the libraries, and Python."""
    total = hashlib.sha256(repr((seed, sys.version_info[:2])).encode())
    for library in _LIBRARIES:
        try:
            total.update(f"{library} {importlib.metadata.version(library)};".encode())
        except importlib.metadata.PackageNotFoundError:
            total.update(f"{library} none;".encode())
    files = [Path(__file__), Path(compaction.__file__)]
    for name, folder in _folders().items():
        own = folder.glob("*.py") if name == "lemmata" else folder.rglob("*.py")
        files += [f for f in sorted(own) if f.parent.name != "theorems" or f.name == "__init__.py"]
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _files_of(row: Facts) -> list[str]:
    """The modules of theorems that this one needs, by name."""
    found: dict[str, None] = {}

    def add(module: str) -> None:
        if module in found:
            return
        found[module] = None
        path = _module_path(module)
        if path is not None and path.parent.name == "theorems":
            for other in re.findall(r"^from \.(\w+) import", path.read_text(encoding="utf-8"), re.MULTILINE):
                add(f"{module.rpartition('.')[0]}.{other}")

    def add_theorem(name: str) -> None:
        theorem = find_theorem(name)
        add(theorem.make.__module__)
        for cited in theorem.derivation().uses:
            if cited in theorems():
                add_theorem(cited)

    for name in (row["name"], *row["uses"]):
        add_theorem(name)
    return list(found)


def _module_path(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file else None


def _hashes(modules: Any) -> dict[str, str]:
    theorems()
    hashes = {}
    for module in modules:
        path = _module_path(module)
        hashes[module] = hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
    return hashes
