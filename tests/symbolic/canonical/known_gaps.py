"""True claims that the canonical form does not prove yet, with the reason; each is a strict expected failure."""

GAPS: dict[str, str] = {
    "delta with an affine index": "a sum over a product of sizes is not split",
    "sum over a product of sizes": "a sum over a product of sizes is not split",
    "delta of split indices": "n K + k = n' K + k' is not solved by the ranges of k and k'",
    "flip of a sum": "a bound index is not flipped",
    "flip moved to the other factor": "a bound index is not flipped",
    "one-hot sums to one": "rows of a domain that sum to one are not used",
    "one-hot entries exclude each other": "a product of two entries of a one-hot row is not contracted",
    "simplex sums to one": "rows of a domain that sum to one are not used",
    "abs of a product": "a condition on a product is not split by signs",
    "trichotomy on indices": "[p ≥ 0] - [p ≥ 1] = [p = 0] on integers is not used",
    "doubled condition": "an integer condition is not divided by the common factor of its indices",
    "count below": "a sum of conditions is not counted",
    "nested root of numbers": "nested roots are not denested",
    "root of one minus cosine squared": "a trigonometric polynomial under a root is not known to be real",
    "root of cosine squared": "a trigonometric polynomial under a root is not known to be real",
    "log gamma recurrence": "gammaln has no recurrence",
    "product by exp and log": "a product of positive entries is not exp of a sum of logs",
    "log of a product": "a product of positive entries is not exp of a sum of logs",
    "abs of a product over an index": "a product over an index has no sign",
    "x not zero": "a hypothesis ≠ 0 on a scalar is not used",
}
