"""Tables of the measurements, as Markdown that also reads well in a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any


def milliseconds(value: float | None) -> str:
    """Three digits are shown, two below 1 ms: more would be noise."""
    if value is None:
        return "—"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns padded; all but the first are set to the right."""
    cells = [list(head), *(list(r) for r in rows)]
    widths = [max(_width(r[n]) for r in cells) for n in range(len(head))]
    lines = [
        "| " + " | ".join(_padded(c, w, n > 0) for n, (c, w) in enumerate(zip(r, widths, strict=True))) + " |"
        for r in cells
    ]
    rule = "|" + "|".join(("-" * (w + 1) + ":") if n else "-" * (w + 2) for n, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 1 for c in text)


def _padded(text: str, width: int, right: bool) -> str:
    gap = " " * (width - _width(text))
    return gap + text if right else text + gap


def report(results: dict[str, Any]) -> str:
    """All tables, with the sentences that say what the columns are."""
    parts = [
        "# Measurements",
        _machine(results["machine"]),
        *_theorems(results),
        *_explicit(results),
        *_indexed(results),
        *_sizes(results),
        *_all(results),
        *_processes(results),
    ]
    return "\n\n".join(parts) + "\n"


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['processors']} processors ({machine['model']}), Python "
        f"{machine['python']}, SymPy {machine['sympy']}, "
        f"python-flint {machine['flint']}. Times are milliseconds of one processor "
        f"in one warm process, medians; the memo tables of SymPy and of "
        "Lemmata are emptied before each run, unless a row says *again*. Every answer was verified before it was timed."
    )


def _theorems(results: dict[str, Any]) -> list[str]:
    rows = []
    for t in results["theorems"]:
        for kind in ("new", "again"):
            name = f"{t['name']} ({t['steps']} steps)" if kind == "new" else "— again"
            rows.append([name, *(milliseconds(v) for v in t[kind].values())])
    return ["## Lemmata, for the symbol K (ms)", table(["theorem", *results["theorems"][0]["new"]], rows)]


def _explicit(results: dict[str, Any]) -> list[str]:
    sizes = [str(k) for k in results["sizes"]]
    ours = {t["name"]: t["new"] for t in results["theorems"]}
    rows = []
    for name, times in results["explicit"].items():
        whole = ours[name]["derive"] + ours[name]["proof of the statement"]
        last = times.get(sizes[-1])
        ratio = "—" if last is None else f"{last / whole:.0f}×"
        canonical = "—" if last is None else f"{last / ours[name]['canonical']:.0f}×"
        rows.append([name, *(milliseconds(times.get(k)) for k in sizes), milliseconds(whole), ratio, canonical])
    text = (
        "SymPy writes out K components, differentiates and shows every entry of the "
        "difference to be zero, for that K alone. Lemmata "
        "makes the derivation and proves the statement on both paths, for every K. "
        "The last columns divide SymPy's time at "
        f"K = {sizes[-1]} by that, and by the canonical form's time alone."
    )
    return [
        "## Beside plain SymPy with explicit components (ms)",
        text,
        table(
            ["statement", *(f"SymPy, K={k}" for k in sizes), "Lemmata, every K", "ratio", "ratio, canonical form"], rows
        ),
    ]


def _indexed(results: dict[str, Any]) -> list[str]:
    rows = [
        [
            r["question"],
            "right" if r["right"] else "WRONG",
            {True: "yes", False: "no", None: "out of time"}[r["proved"]],
            milliseconds(r["derivative"]),
            milliseconds(r["with proof"]),
        ]
        for r in results["indexed"]
    ]
    tensorgrad = results["tensorgrad"]
    said = (
        tensorgrad.get("skipped")
        or f"{milliseconds(tensorgrad['derivative and simplification'])} ms, value verified at K = 5"
    )
    return [
        "## Beside SymPy's own symbolic sizes (ms)",
        table(["question", "derivative", "simplify proved the claim", "derivative ms", "with the attempt ms"], rows),
        f"tensorgrad, softmax Jacobian: {said}.",
    ]


def _sizes(results: dict[str, Any]) -> list[str]:
    rows = [
        [
            f"K = {r['size']}" if r["size"] != "K" else "K, a symbol",
            r["verdict"],
            milliseconds(r["canonical"]),
            milliseconds(r["proof of the statement"]),
        ]
        for r in results["flatness"]
    ]
    return [
        "## The softmax Jacobian at numeric sizes (ms)",
        "For the symbol there is one time, whatever K will be. A numeric size is "
        "asked for here to see that it costs little more.",
        table(["size", "verdict", "canonical", "proof of the statement"], rows),
    ]


def _all(results: dict[str, Any]) -> list[str]:
    found = results["survey"]
    s, single, systems = found["shares"], found["single"], found["systems"]
    unproved = f" NOT PROVED, and not timed: {', '.join(found['unproved'])}." if found["unproved"] else ""
    text = (
        f"{len(single)} theorems are one statement each. Both paths: {s['proof under 50 ms']} of them under 50 ms, "
        f"median {milliseconds(s['median proof'])} ms. Canonical form alone: {s['canonical under 10 ms']} under 10 ms, "
        f"median {milliseconds(s['median canonical'])} ms, slowest {milliseconds(s['slowest canonical'])} ms. With "
        f"every step: median {milliseconds(s['median every step'])} ms, all of them "
        f"{s['all steps seconds']:.1f} s.{unproved}"
    )
    columns = ["canonical", "second path", "proof", "every step"]
    rows = [[r["name"], *(milliseconds(r[c]) for c in columns)] for r in single[:12]]
    more = [
        [r["name"], str(r["statements"]), milliseconds(r["canonical"]), milliseconds(r["proof"])] for r in systems[:12]
    ]
    return [
        "## All theorems: the slowest statements (ms)",
        text,
        table(["theorem", "canonical", "second path", "proof of the statement", "proof of every step"], rows),
        f"{len(systems)} theorems are gradients in named adjoints, each a system of local statements. The slowest:",
        table(["theorem", "statements", "canonical, all", "proof, all"], more),
    ]


def _processes(results: dict[str, Any]) -> list[str]:
    rows = [[name, milliseconds(t["first"]), milliseconds(t["median"])] for name, t in results["processes"].items()]
    return ["## Cold starts, whole processes (ms on the clock)", table(["command", "first", "median"], rows)]
