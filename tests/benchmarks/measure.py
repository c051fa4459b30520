"""All measurements in one process, one after the other; the tables go to the terminal and to build/bench/.

With `--quick` the depth benchmark ends at 4 blocks; all else is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lemmata as lm

from . import depth, sympy_explicit, sympy_indexed, twelve_claims
from .ours import measure_size, measure_theorem
from .processes import COMMANDS, measure_process
from .survey import survey
from .tables import report
from .tensorgrad_route import measure_tensorgrad
from .timing import OutOfTime, WrongAnswer, at_most, once

FOLDER = Path(__file__).resolve().parents[2] / "build" / "bench"
SIZES = (4, 8, 16, 32)
SECONDS = 60.0  # for one explicit SymPy measurement


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="tests/benchmarks/run.py", description="Measure, print, write.")
    parser.add_argument("--quick", action="store_true", help="depth of 1, 2 and 4 blocks only")
    depths = depth.QUICK if parser.parse_args(arguments).quick else depth.DEPTHS
    results: dict[str, Any] = {"machine": _machine(), "sizes": list(SIZES)}
    known = lm.theorems()
    _say("theorems")
    results["theorems"] = [measure_theorem(known[name]) for name in sympy_explicit.ROUTES]
    _say("plain SymPy, explicit components")
    results["explicit"] = {name: _explicit(name) for name in sympy_explicit.ROUTES}
    _say("SymPy's symbolic sizes")
    results["indexed"] = [*(sympy_indexed.ask(q) for q in sympy_indexed.QUESTIONS), sympy_indexed.matrix_symbol()]
    results["tensorgrad"] = measure_tensorgrad()
    _say("numeric sizes")
    results["flatness"] = [measure_size(k) for k in ("K", *SIZES)]
    _say("twelve textbook claims")
    results["twelve"] = twelve_claims.measure()
    _say(f"depth, {', '.join(map(str, depths))} blocks")
    blocks = [depth.measure_depth(d) for d in depths]
    results["depth"] = [asdict(b) for b in blocks]
    _say("all theorems")
    results["survey"] = survey(known)
    _say("cold starts")
    results["processes"] = {name: measure_process(words, expected) for name, (words, expected) in COMMANDS.items()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "bench.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    parts = [report(results), twelve_claims.report(results["twelve"]), "## Depth (s)", depth.report(blocks)]
    text = "\n\n".join(p.strip() for p in parts) + "\n"
    (FOLDER / "bench.md").write_text(text, encoding="utf-8")
    print(text)
    print(f"Written: {FOLDER / 'bench.md'} and bench.json")


def _say(what: str) -> None:
    print(f"measuring: {what} ...", file=sys.stderr, flush=True)


def _machine() -> dict[str, Any]:
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [
            line.partition(":")[2].strip()
            for line in information.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "processors": os.cpu_count(),
        "model": model,
        "python": platform.python_version(),
        "sympy": version("sympy"),
        "flint": version("python-flint"),
        "numpy": version("numpy"),
        "system": platform.system(),
    }


def _explicit(name: str) -> dict[str, float]:
    """Milliseconds by size; sizes from the first that takes too long on are left out."""
    route, entries = sympy_explicit.ROUTES[name]
    if route(SIZES[0], True) != -1:
        raise WrongAnswer(f"SymPy's route for {name} accepts a spoiled claim")
    found: dict[str, float] = {}
    for k in SIZES:
        try:
            with at_most(SECONDS):
                runs = [once(lambda k=k: route(k, False)) for _ in range(3 if k <= 8 else 1)]
        except OutOfTime:
            break
        if any(shown != entries(k) for shown, _ in runs):
            raise WrongAnswer(f"SymPy's route for {name} shows {runs[0][0]} of {entries(k)} entries at K = {k}")
        found[str(k)] = statistics.median(taken for _, taken in runs)
    return found
