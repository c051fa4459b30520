"""The reference: every theorem verified, its derivation written as LaTeX and Markdown, with an index and the verdicts.

The files hold no times, dates or paths, so two runs write the same bytes. Pages show what the theorem's own declaration
and the engine give; nothing is typed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .parallel import Row, verified
from .terminal import write_text

if TYPE_CHECKING:
    from .symbolic.derivations.model import Derivation
    from .symbolic.derivations.system import SystemCheck
    from .symbolic.derivations.theorem import NumericCheck
    from .symbolic.language.arrays import Array

VERDICTS = "verdicts.json"
INDEX = "index.md"

# Of the numeric pillar: functions that give back the argument at this place, and those that can only raise. Helpers
# that are made of these are found out.
_NUMERIC_READS = {"real_array": 2, "number": 2, "class_axis": 3}
_NUMERIC_CHECKS = ("same_shape", "require", "option")
_NUMERIC_MESSAGES = ("function",)  # the parameter that names the caller in errors


def page(name: str, seed: int) -> Row:
    """A theorem's verdict as plain data, with its pages under `tex` and `markdown`."""
    from .api import lookup_theorem

    row = facts(name, seed)
    result = lookup_theorem(name)
    source = f"```python\n{row['numpy']}\n```" if row["numpy"] else f"No NumPy is generated: {row['numpy_missing']}"
    parts = [result.markdown().rstrip(), "### NumPy", source, *_hand_written(row), "### Verdict", verdict_table(row)]
    return row | {"tex": result.tex(), "markdown": "\n\n".join(parts) + "\n"}


def facts(name: str, seed: int) -> Row:
    """What a page says of a theorem beside its derivation, as plain data: the verdict with its evidence (`verified`),
    and of the NumPy the generated source (`numpy`, or why there is none) and the hand-written function (`witness`).
    """
    from .api import lookup_theorem
    from .symbolic.language.errors import LemmataError

    row = verified(name, seed)
    result = lookup_theorem(name)
    row |= {"source": result.derivation.source, "numpy": "", "numpy_missing": "", "witness": witness(name)}
    try:
        row["numpy"] = result.numpy_source().rstrip()
    except LemmataError as error:
        row["numpy_missing"] = str(error)
    return row


def witness(name: str) -> Row | None:
    """The hand-written NumPy function that a theorem is checked against: `name`, `source`, how it is called (`call`),
    and `latex` where the source can be shown faithfully.
    """
    import importlib
    import inspect

    from .symbolic.derivations.system import SystemCheck
    from .symbolic.rendering import READS, SourceError, source_latex
    from .symbolic.theorems import find_theorem

    theorem = find_theorem(name)
    check = theorem.claim().numpy
    written = check.backward if isinstance(check, SystemCheck) else check and check.reference
    if check is None or not written:
        return None
    module, _, function = written.rpartition(".")
    found = getattr(importlib.import_module(f"lemmata.numeric.{module}"), function)
    try:
        latex = source_latex(found, reads=READS | _NUMERIC_READS, checks=_NUMERIC_CHECKS,
                             messages=_NUMERIC_MESSAGES)
    except SourceError:
        latex = ""
    return {"name": f"lemmata.numeric.{written}", "source": inspect.getsource(found).rstrip(), "latex": latex,
            "call": f"{function}({', '.join(_passed(theorem.derivation(), check))})"}


def _passed(d: Derivation, check: NumericCheck | SystemCheck) -> list[str]:
    """What the hand-written function is called with."""
    from .symbolic.derivations.system import SystemCheck

    if isinstance(check, SystemCheck):
        arguments: Sequence[Any] = check.backward_arguments or check.arguments
        options = check.backward_options or check.options
    else:
        arguments, options = check.arguments, check.options
    shown = [a if isinstance(a, str) else f"{a:.6g}" if isinstance(a, (int, float)) else _as_code(a, d)
             for a in arguments]
    arrays = {t.name for t in d.tensors}
    return [*(a.lstrip("$") for a in shown), *(f"{k}={_shown_option(v, arrays)}" for k, v in sorted(options.items()))]


def _as_code(argument: Array, d: Derivation) -> str:
    """An expression of the theorem's arrays as NumPy, where that is one line; else one entry of it."""
    from .symbolic.codegen import numpy_source
    from .symbolic.rendering import text
    from .witness import compiled_arguments

    source = numpy_source("argument", argument.body, argument.indices, compiled_arguments(d))
    _, _, body = source.rpartition('"""')
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    returned = lines[-1].removeprefix("return ")
    return returned if len(lines) == 1 else text(argument.body).replace("−", "-")


def _shown_option(value: object, arrays: set[str]) -> str:
    """An array by its name, all else as Python writes it."""
    name = value.lstrip("$") if isinstance(value, str) else ""
    return name if name in arrays else repr(value)


def _hand_written(row: Mapping[str, Any]) -> list[str]:
    witness = row["witness"]
    if witness is None:
        return []
    name = f"Checked against `{witness['name']}`, called as `{witness['call']}`"
    return [f"{name}:", f"$$\n{witness['latex']}\n$$"] if witness["latex"] else [f"{name}."]


def verdict_table(row: Mapping[str, Any]) -> str:
    """The verdict with its conditions, evidence, reason and notes, as Markdown."""
    from .symbolic.rendering.prose import plain_markdown
    from .symbolic.rendering.verdict import WORDS, cell

    where = f", where {' and '.join(row['conditions'])}" if row["conditions"] else ""
    lines = [f"**{row['verdict']}**{where}", ""]
    if row["evidence"]:
        lines += ["| evidence | passed | detail |", "|---|---|---|"]
        lines += [f"| {e['kind']} | {WORDS[e['passed']]} | {cell(e['detail'])} |" for e in row["evidence"]]
    if row["reason"]:
        lines += ["", f"Reason: {plain_markdown(row['reason'])}"]
    lines += ["", *(f"- {plain_markdown(note)}" for note in row["notes"])] if row["notes"] else []
    return "\n".join(lines).rstrip()


def write(rows: Sequence[Mapping[str, Any]], output: Path, seed: int) -> list[Path]:
    """Write pages, index and verdicts; pages of theorems that a former run wrote and that are no more are removed."""
    output.mkdir(parents=True, exist_ok=True)
    for name in _written_before(output) - {r["name"] for r in rows}:
        for suffix in (".tex", ".md"):
            (output / f"{name}{suffix}").unlink(missing_ok=True)
    written = []
    for row in rows:
        for suffix, key in ((".tex", "tex"), (".md", "markdown")):
            written.append(output / f"{row['name']}{suffix}")
            write_text(written[-1], row[key])
    write_text(output / INDEX, _index(rows, seed))
    write_text(output / VERDICTS, json.dumps(_verdicts(rows, seed), ensure_ascii=False, indent=1) + "\n")
    return [*written, output / INDEX, output / VERDICTS]


def _written_before(output: Path) -> set[str]:
    try:
        data = json.loads((output / VERDICTS).read_text(encoding="utf-8"))
        names = {row["name"] for row in data["theorems"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {n for n in names if isinstance(n, str) and re.fullmatch(r"\w+", n)}


def _verdicts(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    """The verdicts without times."""
    left_out = ("seconds", "tex", "markdown", "source", "numpy", "numpy_missing", "witness")
    plain = []
    for row in rows:
        evidence = [{k: v for k, v in e.items() if k != "seconds"} for e in row["evidence"]]
        plain.append({k: v for k, v in row.items() if k not in left_out} | {"evidence": evidence})
    return {"seed": seed, "theorems": plain}


def _index(rows: Sequence[Mapping[str, Any]], seed: int) -> str:
    proved = sum(r["verdict"] == "proved" for r in rows)
    lines = ["# Theorems", "", f"{proved} of {len(rows)} proved; inputs drawn from seed {seed}."]
    for topic in dict.fromkeys(r["topic"] for r in rows):
        lines += ["", f"## {topic}", "", "| theorem | title | verdict | LaTeX |", "|---|---|---|---|"]
        for row in (r for r in rows if r["topic"] == topic):
            name, title = row["name"], row["title"].replace("|", r"\|")
            lines.append(f"| [{name}]({name}.md) | {title} | {row['verdict']} | [tex]({name}.tex) |")
    return "\n".join(lines) + "\n"
