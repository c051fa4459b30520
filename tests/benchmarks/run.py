"""`make bench`: measure, print the tables, and write them to build/bench/ as Markdown and JSON; `--quick`: depth to 4.

This file only makes the folder importable as the package `tests.benchmarks`; the work begins in `measure`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])

if __name__ == "__main__":
    from tests.benchmarks.measure import main

    main(sys.argv[1:])
