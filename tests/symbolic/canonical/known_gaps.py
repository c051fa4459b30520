"""True claims that the canonical form does not prove yet, with the reason; each is a strict expected failure."""

GAPS: dict[str, str] = {
    "flip moved to the other factor": "a bound index is not flipped",
    "nested root of numbers": "nested roots are not denested",
    "root of one minus cosine squared": "a trigonometric polynomial under a root is not known to be real",
    "root of cosine squared": "a trigonometric polynomial under a root is not known to be real",
    "abs of a product over an index": "a product over an index has no sign",
    "sum over pairs": "a sum over 2 K is not split into even and odd places",
    "abs of a tangent": "the rewriting of [tan = 0] goes round in a circle",
}
