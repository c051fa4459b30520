"""True claims that the canonical form does not prove yet, with the reason; each is a strict expected failure."""

GAPS: dict[str, str] = {}
