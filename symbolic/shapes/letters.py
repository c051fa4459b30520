"""Letters for einsum: one letter an axis, the customary one where it is free."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

_CUSTOMARY = {
    "B": "b",
    "batch": "b",
    "N": "n",
    "n": "i",
    "L": "i",
    "T": "i",
    "S": "j",
    "L_q": "i",
    "L_k": "j",
    "L_kv": "j",
    "n'": "j",
    "L'": "j",
    "T'": "j",
    "h": "h",
    "H": "h",
    "g": "g",
    "d_k": "d",
    "d_v": "d",
    "d_model": "c",
    "C": "c",
    "D": "c",
    "(h d_k)": "e",
    "(g d_k)": "e",
}


def letters(names: Sequence[str]) -> dict[str, str]:
    """A letter for each name, no letter twice.

    >>> letters(["B", "h", "n", "n'", "d_k"])
    {'B': 'b', 'h': 'h', 'n': 'i', "n'": 'j', 'd_k': 'd'}
    """
    found: dict[str, str] = {}
    wanted = {n: _CUSTOMARY[n] for n in dict.fromkeys(names) if n in _CUSTOMARY}
    for n in dict.fromkeys(names):
        own = [wanted[n]] if n in wanted else [c for c in n.lower() if c in ascii_lowercase]
        reserved = {c for m, c in wanted.items() if m != n}
        free = [c for c in (*own, *ascii_lowercase) if c not in found.values()]
        found[n] = next((c for c in free if c not in reserved or (c in own[:1] and n in wanted)), free[0])
    return found


def unique(names: Sequence[str]) -> list[str]:
    """The names with a number put to those that occur again; axes of size 1 and axes without a name are all alike.

    >>> unique(["n", "1", "1"])
    ['n', '1', '1#2']
    """
    return [n if n not in names[:k] else f"{n}#{k}" for k, n in enumerate(names)]


def einsum_text(inputs: Sequence[Sequence[str]], output: Sequence[str]) -> str:
    """The einsum of operands whose axes have names: equal names are one letter.

    >>> einsum_text([["B", "h", "n", "d_k"], ["B", "h", "n'", "d_k"]], ["B", "h", "n", "n'"])
    'bhid,bhjd->bhij'
    """
    table = letters([n for term in (*inputs, output) for n in term])
    return ",".join("".join(table[n] for n in term) for term in inputs) + "->" + "".join(table[n] for n in output)
