"""What `make docs` runs: Sphinx, every warning an error, then the site's check of itself.

    python docs/_ext/build_site.py docs build/site --jobs 2
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from site_check import problems


def main() -> int:
    """0 when the site was built and the check found nothing."""
    parser = argparse.ArgumentParser(description="Build the site and check it.")
    parser.add_argument("source", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    os.environ["JOBS"] = str(max(given.jobs, 1))
    start = time.perf_counter()
    code = built(given.source, given.output, given.jobs)
    if code:
        return code
    found = problems(given.output, given.jobs)
    for problem in found:
        print(f"site check: {problem}", file=sys.stderr)
    pages = len(list(given.output.rglob("*.html")))
    words = f"{len(found)} problems" if found else "links, sizes and evidence are in order"
    print(f"{pages} pages in {time.perf_counter() - start:.0f} s; {words}")
    return 1 if found else 0


def built(source: Path, output: Path, jobs: int) -> int:
    """Sphinx's exit code. What it keeps for the next build lies beside the output."""
    from sphinx.cmd.build import main as sphinx

    kept = output.parent / f"{output.name}-kept"
    options = ["-W", "--keep-going", "-q", "-j", str(max(jobs, 1)), "-d", str(kept / "doctrees")]
    return sphinx([*options, str(source), str(output)])


if __name__ == "__main__":
    sys.exit(main())
