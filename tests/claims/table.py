"""Judge files of claims and print how they came out: by file, by source, the wrong verdicts, and the time.

    python tests/claims/table.py FOLDER [--jobs N] [--seconds S] [--unproved]

A verdict is wrong when a right claim is refuted, or a wrong one proved or supported; then the exit code is 1.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata.claims import read_claims
from lemmata.claims_running import prove_claims
from lemmata.terminal import Progress, show_table, verdict_line

VERDICTS = ("proved", "supported", "refuted", "unsupported")
Judged = tuple[str, Mapping[str, Any], Mapping[str, Any]]  # the file, the claim's data, the answer


def main(words: Sequence[str] | None = None) -> int:
    """Run all claims of a folder; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit for a claim")
    parser.add_argument(
        "--unproved", action="store_true", help="name every right claim that is not proved, with the reason"
    )
    asked = parser.parse_args(words)
    files = sorted(asked.folder.glob("*.jsonl"))
    if not files:
        parser.error(f"there are no .jsonl files in {asked.folder}")
    began = time.perf_counter()
    judged = judge(files, asked.jobs, asked.seconds)
    show(judged, time.perf_counter() - began, asked.jobs)
    if asked.unproved:
        for _, claim, answer in judged:
            if claim.get("true", True) and answer["verdict"] != "proved":
                print(verdict_line(answer)[:300])
    return 1 if wrong_verdicts(judged) else 0


def judge(files: Iterable[Path], jobs: int, seconds: float) -> list[Judged]:
    """Every claim with its answer."""
    claims = [(file.stem, claim) for file in files for claim in read_claims(file)]
    judged: list[Judged] = []
    with Progress("claims", len(claims)) as progress:
        answers = prove_claims([c for _, c in claims], jobs=jobs, seconds=seconds)
        for (file, claim), answer in zip(claims, answers, strict=True):
            judged.append((file, claim.data, answer))
            progress.advance(claim.id)
    return judged


def wrong_verdicts(judged: Iterable[Judged]) -> list[Judged]:
    """Right claims that were refuted, wrong claims that were proved or supported."""
    return [
        j for j in judged if j[2]["verdict"] in (("refuted",) if j[1].get("true", True) else ("proved", "supported"))
    ]


def source(claim: Mapping[str, Any]) -> str:
    """The project (owner/name) that a claim comes from, or the beginning of its source."""
    text = str(claim.get("source", "")).removeprefix("mutation of").lstrip(": ")
    project = re.search(r"(?<![\w/])[\w.-]+/[\w.-]+(?![\w/])", text)
    return project[0] if project else re.split(r"[,:;(]", text)[0].strip() or "not named"


def show(judged: Sequence[Judged], seconds: float, jobs: int) -> None:
    """Two tables, the wrong verdicts by name, and the times."""
    for head, key in (("file", lambda j: j[0]), ("source", lambda j: source(j[1]))):
        names = (
            list(dict.fromkeys(sorted(key(j) for j in judged)))
            if head == "source"
            else list(dict.fromkeys(key(j) for j in judged))
        )
        rows = [_row(name, [j for j in judged if key(j) == name]) for name in names]
        if head == "source":  # the largest first
            rows.sort(key=lambda r: (-int(r[1]), r[0]))
        show_table(
            [head, "claims", *VERDICTS, "proved where", "wrong verdicts"],
            [*rows, _row("all", judged)],
            right=("claims", *VERDICTS, "proved where", "wrong verdicts"),
        )
        print()
    wrong = wrong_verdicts(judged)
    for _, claim, answer in wrong:
        print(f"WRONG VERDICT: {'right' if claim.get('true', True) else 'false'} claim {verdict_line(answer)}")
    times = sorted(a["seconds"] for _, _, a in judged)
    proofs = sorted(a["seconds"] for _, _, a in judged if a["verdict"] == "proved")
    print(f"wrong verdicts: {len(wrong)}")
    print(
        f"time: {seconds:.1f} s in {jobs} processes; median claim {1000 * statistics.median(times):.0f} ms, "
        f"median proof with its runs {1000 * statistics.median(proofs or [0]):.0f} ms, slowest {times[-1]:.2f} s"
    )
    alone = sorted(_proof_seconds(a) for _, _, a in judged if a["verdict"] == "proved")
    print(f"      median proof on both paths, without the runs {1000 * statistics.median(alone or [0]):.0f} ms")


def _proof_seconds(answer: Mapping[str, Any]) -> float:
    return sum(e["seconds"] for e in answer["evidence"] if e["kind"] != "differences")


def _row(name: str, judged: Sequence[Judged]) -> list[str]:
    counts = Counter(a["verdict"] for _, _, a in judged)
    where = sum(a["verdict"] == "proved" and bool(a["conditions"]) for _, _, a in judged)
    return [name, str(len(judged)), *(str(counts[v]) for v in VERDICTS), str(where), str(len(wrong_verdicts(judged)))]


if __name__ == "__main__":
    sys.exit(main())
