"""Cold starts, each in processes of their own: importing Lemmata, its help, and the first answer."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

_PROGRAM = Path(sys.executable).with_name("lemmata")
_FIRST_USE = (
    'import lemmata as lm; z = lm.array("z", "K"); p = lm.softmax(z); print(lm.prove(lm.sum(p), 1).verdict.verdict)'
)

# What is measured: the words of the command, and what its output must contain.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "python -c pass": ([sys.executable, "-c", "pass"], ""),
    "import sympy": ([sys.executable, "-c", "import sympy"], ""),
    "import lemmata": ([sys.executable, "-c", "import lemmata; print(lemmata.__version__)"], "0."),
    "import lemmata.api (all that `import lemmata` puts off)": (
        [sys.executable, "-c", "import lemmata.api as a; print(len(a.__all__))"],
        "",
    ),
    "lemmata --help": ([str(_PROGRAM), "--help"], "Usage: lemmata"),
    "lemmata list": ([str(_PROGRAM), "list"], "deriv_softmax"),
    "lemmata derive deriv_softmax": ([str(_PROGRAM), "derive", "deriv_softmax"], "deriv_element"),
    "import, declare, prove that softmax sums to 1": ([sys.executable, "-c", _FIRST_USE], "proved"),
}


def measure_process(words: list[str], expected: str, runs: int = 5) -> dict[str, float]:
    """First and median milliseconds of a command whose output is checked in every run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        )
        times.append(1e3 * (time.perf_counter() - start))
        if expected not in done.stdout:
            raise AssertionError(f"{words} printed {done.stdout[:200]!r}, without {expected!r}")
    return {"first": times[0], "median": statistics.median(times)}
