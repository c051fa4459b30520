"""Seeded draws by the name of a domain, extreme values by the same name, and sizes that never coincide.

A check at a random point only has force if the point lies where the statement holds (Σ y = 1, x > 0, W symmetric), away
from kinks and ties, and if no two sizes are equal by luck. Every draw is a function of (seed, labels) alone.

Domains: the names in ``DOMAINS``; an interval ``"(a,b)"``, ``"[a,b)"`` ... of finite numbers; a finite set
``"{-1,0,1}"``; and ``"index<K"`` for integers 0 .. K−1, with K a number or a name given in ``sizes``.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from .arguments import Array

Shape = tuple[int, ...]
Drawer = Callable[[np.random.Generator, Shape], Array]

# Away from kinks and ties by more than any step of the differences.
MARGIN = 0.1
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def generator(seed: int, *labels: str | int) -> np.random.Generator:
    """A generator that depends on the seed and the labels only (a checksum of their text, not ``hash``).

    >>> bool(generator(1, "softmax").random() == generator(1, "softmax").random())
    True
    >>> bool(generator(1, "softmax").random() == generator(1, "sigmoid").random())
    False
    """
    return np.random.default_rng([seed, *(zlib.crc32(str(label).encode()) for label in labels)])


def draw_sizes(
    names: Iterable[str], rng: np.random.Generator, *, smallest: int = 2, largest: int = 13
) -> dict[str, int]:
    """A different prime for each name, so that no size equals another size or a product of others.

    Raises: ValueError when there are more names than primes from ``smallest`` to ``largest``, naming both counts.

    >>> draw_sizes(["B", "n", "K"], generator(0))
    {'B': 7, 'n': 5, 'K': 13}
    """
    wanted = list(dict.fromkeys(names))
    primes = [p for p in PRIMES if smallest <= p <= largest]
    if len(wanted) > len(primes):
        raise ValueError(
            f"draw_sizes: {len(wanted)} sizes asked for, but only {len(primes)} primes from {smallest} to {largest}"
        )
    return dict(zip(wanted, (int(p) for p in rng.permutation(primes)[: len(wanted)]), strict=True))


def draw(domain: str, shape: Sequence[int], rng: np.random.Generator, sizes: Mapping[str, int] | None = None) -> Array:
    """An array of ``shape`` from ``domain``: float64, except ``"index<K"`` (int64).

    Raises: ValueError for an unknown domain (with the list), an empty interval, a size without a value, or a shape the
    domain cannot have (``spd`` needs two equal last axes).

    >>> draw("simplex", (2, 3), generator(0)).sum(axis=-1).round(12)
    array([1., 1.])
    >>> draw("index<K", (4,), generator(0), {"K": 3})
    array([2, 1, 1, 0])
    """
    size = tuple(int(n) for n in shape)
    name = domain.replace(" ", "")
    if name in DOMAINS:
        return DOMAINS[name][0](rng, size)
    if match := re.fullmatch(r"(repeated_)?index<(\w+?)(or-1)?", name):
        return _labels(rng, size, _size(domain, match[2], sizes), repeated=bool(match[1]), ignored=bool(match[3]))
    if (values := _finite_set(name)) is not None:
        return rng.choice(values, size)
    pieces = [_interval(piece) for piece in name.split("|")]
    if all(ends is not None for ends in pieces):
        chosen = rng.integers(0, len(pieces), size)
        draws = [_inside(rng, size, *ends) for ends in pieces if ends is not None]
        return np.choose(chosen, draws)
    known = ", ".join(DOMAINS)
    raise ValueError(
        f"draw: unknown domain {domain!r}; known: {known}, an interval '(a,b)' or several joined by '|', a set "
        f"'{{a,b}}', 'index<K'"
    )


def extreme_values(domain: str, shape: Sequence[int], sizes: Mapping[str, int] | None = None) -> dict[str, Array]:
    """Named arrays at the edges of a domain: zeros, ties, ±1000, −inf for logits, vertices of the simplex, both ends.

    Raises: as :func:`draw`.

    >>> list(extreme_values("logits", (2, 3)))
    ['zeros', 'ties', 'large', 'negative', 'alternating', 'one dominates', 'tiny', 'one is -inf']
    >>> extreme_values("simplex", (2,))["vertex"]
    array([1., 0.])
    """
    size = tuple(int(n) for n in shape)
    name = domain.replace(" ", "")
    if name in ("real", "logits"):
        return _extreme_logits(size, with_infinity=name == "logits")
    if name in ("simplex", "onehot"):
        vertex = np.zeros(size)
        vertex[..., 0] = 1.0
        if name == "onehot":
            return {"vertex": vertex, "last vertex": vertex[..., ::-1].copy()}
        count = size[-1]
        return {
            "vertex": vertex,
            "uniform": np.full(size, 1.0 / count),
            "near vertex": 0.999999 * vertex + 1e-6 / count,
        }
    if name in ("positive", "nonnegative"):
        edges = {"tiny": np.full(size, 1e-12), "ones": np.ones(size), "large": np.full(size, 1e12)}
        return edges if name == "positive" else {"zeros": np.zeros(size), **edges}
    if name == "negative":
        return {"tiny": np.full(size, -1e-12), "minus ones": -np.ones(size), "large": np.full(size, -1e12)}
    if name in ("binary", "mask"):
        edges = {"zeros": np.zeros(size), "ones": np.ones(size)}
        return edges if name == "binary" else {"ones": edges["ones"]}
    if match := re.fullmatch(r"index<(\w+)", name):
        last = _size(domain, match[1], sizes) - 1
        return {"first": np.zeros(size, dtype=np.int64), "last": np.full(size, last, dtype=np.int64)}
    if (values := _finite_set(name)) is not None:
        return {f"all {value:g}": np.full(size, value) for value in values}
    if (ends := _interval(name)) is not None:
        low, high, low_open, high_open = ends
        edge = 1e-9 * (high - low)
        return {
            "low end": np.full(size, low + edge if low_open else low),
            "high end": np.full(size, high - edge if high_open else high),
        }
    return {"a draw": draw(domain, size, generator(0, domain), sizes)}


def _extreme_logits(size: Shape, *, with_infinity: bool) -> dict[str, Array]:
    count = int(np.prod(size, dtype=np.int64))
    alternating = np.where(np.arange(count) % 2 == 0, 1000.0, -1000.0).reshape(size)
    first = np.zeros(size)
    if size:
        first[..., 0] = 1.0
    values = {
        "zeros": np.zeros(size),
        "ties": np.full(size, 3.5),
        "large": np.full(size, 1000.0) + first,
        "negative": np.full(size, -1000.0) + first,
        "alternating": alternating,
        "one dominates": 1000.0 * first,
        "tiny": np.full(size, 1e-300) * (1.0 - first),
    }
    if with_infinity and size and size[-1] > 1:
        values["one is -inf"] = np.where(first == 1.0, -np.inf, 0.0)
    return values


def _signed_away_from_zero(rng: np.random.Generator, shape: Shape) -> Array:
    return rng.choice([-1.0, 1.0], shape) * (MARGIN + rng.exponential(1.0, shape))


def _distinct(rng: np.random.Generator, shape: Shape) -> Array:
    """Entries on a grid of spacing 3·MARGIN, shuffled and moved by at most MARGIN: no two closer than MARGIN."""
    count = int(np.prod(shape, dtype=np.int64))
    grid = 3 * MARGIN * (rng.permutation(count) - (count - 1) / 2.0)
    return (grid + rng.uniform(-MARGIN, MARGIN, count)).reshape(shape)


def _simplex(rng: np.random.Generator, shape: Shape) -> Array:
    """Rows of positive entries with sum 1; the last axis is the class axis."""
    _last_axis("simplex", shape)
    weights = 0.2 + rng.exponential(1.0, shape)
    return weights / np.sum(weights, axis=-1, keepdims=True)


def _onehot(rng: np.random.Generator, shape: Shape) -> Array:
    return np.eye(_last_axis("onehot", shape))[rng.integers(0, shape[-1], shape[:-1])]


def _mask(rng: np.random.Generator, shape: Shape) -> Array:
    """0/1 entries with at least one 1 in every row."""
    keep = rng.integers(0, 2, shape).astype(np.float64)
    return np.maximum(keep, _onehot(rng, shape))


def _symmetric(rng: np.random.Generator, shape: Shape) -> Array:
    _square("symmetric", shape)
    matrix = rng.normal(0.0, 1.0, shape)
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2.0


def _positive_definite(rng: np.random.Generator, shape: Shape) -> Array:
    n = _square("spd", shape)
    matrix = rng.normal(0.0, 1.0, shape)
    return matrix @ np.swapaxes(matrix, -1, -2) / n + 0.5 * np.eye(n)


def _orthogonal(rng: np.random.Generator, shape: Shape) -> Array:
    _square("orthogonal", shape)
    return np.linalg.qr(rng.normal(0.0, 1.0, shape))[0]


def _invertible(rng: np.random.Generator, shape: Shape) -> Array:
    """U diag(s) V with singular values from 0.5 to 2: not symmetric, condition at most 4."""
    n = _square("invertible", shape)
    values = rng.uniform(0.5, 2.0, (*shape[:-2], 1, n))
    return _orthogonal(rng, shape) * values @ _orthogonal(rng, shape)


def _last_axis(domain: str, shape: Shape) -> int:
    if not shape or shape[-1] == 0:
        raise ValueError(f"draw: domain {domain!r} needs a last axis of size at least 1, got shape {shape}")
    return shape[-1]


def _square(domain: str, shape: Shape) -> int:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"draw: domain {domain!r} needs two equal last axes, got shape {shape}")
    return shape[-1]


def _size(domain: str, name: str, sizes: Mapping[str, int] | None) -> int:
    if name.isdigit():
        value = int(name)
    elif sizes is not None and name in sizes:
        value = int(sizes[name])
    else:
        raise ValueError(f"draw: domain {domain!r} needs the size {name}; sizes given: {dict(sizes or {})}")
    if value < 1:
        raise ValueError(f"draw: domain {domain!r} is empty: {name} = {value}")
    return value


def _labels(rng: np.random.Generator, shape: Shape, classes: int, *, repeated: bool, ignored: bool) -> Array:
    """Integer labels; with `repeated` the last equals the first, with `ignored` some are −1 but the first."""
    labels = rng.integers(0, classes, shape)
    if repeated and labels.size:
        labels[..., -1] = labels[..., 0]
    if ignored and labels.size > 1:
        out = rng.random(shape) < 0.4
        out.flat[0] = False
        labels = np.where(out, -1, labels)
    return labels


def _full_rank(rng: np.random.Generator, shape: Shape) -> Array:
    """Singular values between 0.6 and 1.6, all different."""
    k = min(shape)
    q, r = np.linalg.qr(rng.normal(size=(shape[0], k)))[0], np.linalg.qr(rng.normal(size=(shape[1], k)))[0]
    return (q * (0.6 + np.linspace(0.0, 1.0, k))) @ r.T


def _rank_one_less(rng: np.random.Generator, shape: Shape) -> Array:
    q, r = np.linalg.qr(rng.normal(size=shape))[0], np.linalg.qr(rng.normal(size=shape))[0]
    values = 0.6 + rng.random(shape[-1])
    values[-1] = 0.0
    return (q * values) @ r


def _lower(rng: np.random.Generator, shape: Shape) -> Array:
    a = np.tril(rng.normal(size=shape))
    np.fill_diagonal(a, 0.8 + rng.random(shape[0]))
    return a


def _one_zero(rng: np.random.Generator, shape: Shape) -> Array:
    a = 0.5 + rng.random(shape)
    a.flat[rng.integers(a.size)] = 0.0
    return a


def _definite_not_symmetric(rng: np.random.Generator, shape: Shape) -> Array:
    b = rng.normal(size=shape)
    return _positive_definite(rng, shape) + 0.4 * (b - np.swapaxes(b, -1, -2))


_NUMBER = r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?"
_END = rf"(?:{_NUMBER}|[-+]?inf)"


def _finite_set(name: str) -> list[float] | None:
    if not re.fullmatch(rf"\{{{_NUMBER}(?:,{_NUMBER})*\}}", name):
        return None
    return [float(value) for value in name[1:-1].split(",")]


def _interval(name: str) -> tuple[float, float, bool, bool] | None:
    match = re.fullmatch(rf"([(\[])({_END}),({_END})([)\]])", name)
    if not match:
        return None
    low, high = float(match[2]), float(match[3])
    if not low < high:
        raise ValueError(f"draw: the interval {name} is empty: {low:g} is not below {high:g}")
    return low, high, match[1] == "(", match[4] == ")"


def _inside(rng: np.random.Generator, shape: Shape, low: float, high: float, low_open: bool, high_open: bool) -> Array:
    """Inside by a twentieth of the width (by `MARGIN` of an unbounded one), so that a difference step does not leave
    it.
    """
    if math.isinf(low) and math.isinf(high):
        return rng.normal(0.0, 1.5, shape)
    if math.isinf(high):
        return low + MARGIN + rng.exponential(1.0, shape)
    if math.isinf(low):
        return high - MARGIN - rng.exponential(1.0, shape)
    edge = 0.05 * (high - low)
    return rng.uniform(low + edge, high - edge, shape)


DOMAINS: dict[str, tuple[Drawer, str]] = {
    "real": (lambda rng, shape: rng.normal(0.0, 1.5, shape), "any real number"),
    "logits": (lambda rng, shape: rng.normal(0.0, 2.0, shape), "real; -inf among the extreme values"),
    "positive": (lambda rng, shape: MARGIN + rng.exponential(1.0, shape), "x > 0"),
    "nonnegative": (lambda rng, shape: MARGIN + rng.exponential(1.0, shape), "x >= 0; 0 among the extreme values"),
    "negative": (lambda rng, shape: -MARGIN - rng.exponential(1.0, shape), "x < 0"),
    "nonzero": (_signed_away_from_zero, "|x| >= 0.1"),
    "distinct": (_distinct, "no two entries closer than 0.1"),
    "simplex": (_simplex, "rows with positive entries and sum 1"),
    "onehot": (_onehot, "rows with one 1, otherwise 0"),
    "binary": (lambda rng, shape: rng.integers(0, 2, shape).astype(np.float64), "0 or 1"),
    "pm1": (lambda rng, shape: rng.choice([-1.0, 1.0], shape), "-1 or 1"),
    "mask": (_mask, "0 or 1, at least one 1 in every row"),
    "symmetric": (_symmetric, "equal to its transpose"),
    "spd": (_positive_definite, "symmetric positive definite"),
    "orthogonal": (_orthogonal, "its transpose is its inverse"),
    "invertible": (_invertible, "condition number at most 4, not symmetric"),
    "fullrank": (_full_rank, "a matrix of full rank, not square in general"),
    "rank_one_less": (_rank_one_less, "a square matrix with one singular value 0"),
    "lower": (_lower, "lower triangular with a positive diagonal"),
    "one_zero": (_one_zero, "positive, but for one entry that is 0"),
    "posdef_nonsym": (_definite_not_symmetric, "positive definite symmetric part, not symmetric"),
}
