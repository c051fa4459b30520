"""Right claims made wrong, by a seed: each mutant is refuted, or an independent comparison shows that it is equal
after all.

LEMMATA_CLAIMS names a folder of claims from which 500 are made instead of 60 from those of this repository.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from lemmata.claims import read_claims
from lemmata.claims_running import prove_claims

from .mutants import distance, drawn, mutants

OWN = Path(__file__).parents[1] / "claims"
FOLDER = Path(os.environ.get("LEMMATA_CLAIMS", OWN))
COUNT = 500 if "LEMMATA_CLAIMS" in os.environ else 60
SEED = 20
SAME = 1e-9


def right_claims(folder: Path) -> list[dict[str, object]]:
    claims = [dict(c.data) for file in sorted(folder.glob("*.jsonl")) for c in read_claims(file)]
    return [c for c in claims if c.get("true", True)]


def test_every_mutant_is_refuted_or_equal() -> None:
    pairs = drawn(right_claims(FOLDER), COUNT, SEED)
    assert len(pairs) == COUNT
    rows = list(prove_claims([m for _, m in pairs], jobs=2))
    assert [r["id"] for r in rows] == [m["id"] for _, m in pairs]
    kept = [(o, m, r) for (o, m), r in zip(pairs, rows, strict=True) if r["verdict"] != "refuted"]
    wrong = [
        f"{r['id']}: {r['verdict']} {r['reason']}\n{m['claimed']}"
        for o, m, r in kept
        if not (distance(o, m) or 0.0) < SAME
    ]
    assert not wrong, f"seed {SEED}\n" + "\n".join(wrong)
    assert len(kept) <= COUNT // 20
    # And a refutation is right: the referee sees the difference too (seldom a special point alone shows it).
    refuted = [(o, m) for (o, m), r in zip(pairs, rows, strict=True) if r["verdict"] == "refuted"]
    unseen = [m["id"] for o, m in refuted[:: max(1, len(refuted) // 60)] if (distance(o, m, rounds=1) or 0.0) < SAME]
    assert len(unseen) <= len(refuted) // 50, unseen


def test_all_kinds_of_mutation_occur() -> None:
    kinds = Counter(str(m["id"]).rpartition(": ")[2].partition(" #")[0] for c in right_claims(OWN) for m in mutants(c))
    assert {
        "sign",
        "factor",
        "nearly",
        "dropped term",
        "dropped factor",
        "transposed",
        "wrong axis",
        "missing mean",
        "mean for sum",
        "constant",
    } <= set(kinds)


def test_the_referee_has_teeth() -> None:
    """It sees 0.09 %, and does not see a rewrite that changes nothing."""
    claim = next(c for c in right_claims(OWN) if c["id"] == "softmax.rows")
    assert distance(claim, claim) == 0
    apart = {str(m["id"]).rpartition(": ")[2].partition(" #")[0]: distance(claim, m) for m in mutants(claim)[:4]}
    assert apart.keys() == {"sign", "factor", "nearly", "nearly below"}
    assert all(d is not None and d > 8e-4 for d in apart.values())
    shifted = {**claim, "claimed": str(claim["claimed"]).replace("z - z.max(axis=1, keepdims=True)", "z")}
    assert shifted != claim
    assert (distance(claim, shifted) or 0.0) < SAME
