"""Two definitions of one name in one statement: softmax(z) and softmax(w), both p by default, are told apart.

An array's identity is not its name, but a derivation in named adjoints, a page and NumPy code let names stand for
arrays. So what is derived has one name for one array.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed

import sympy as sp

from .hypotheses import Hypothesis
from .nodes import DefinedTensor, Tensor, replace, tensors

_SECOND = {"p": "q"}  # a second distribution, as the field calls it


def alternatives(name: str) -> Iterator[str]:
    """Names to try in place of one that is taken: q for p, then p', p'', ..."""
    if name in _SECOND:
        yield _SECOND[name]
    yield from (name + "'" * n for n in itertools.count(1))


def apart(expressions: Sequence[sp.Expr], given: Iterable[Hypothesis] = ()) -> tuple[dict[Tensor, Tensor],
                                                                                      list[sp.Expr], list[Hypothesis]]:
    """The definitions that are renamed or rest on a renamed one, and the expressions and hypotheses with new names.

    The first definition of a name keeps it, and so does every declared array.
    """
    hypotheses = list(given)
    found = tensors([*expressions, *(x for h in hypotheses for x in (h.left, h.right))])
    names: dict[str, Tensor] = {t.name: t for t in reversed(found) if not isinstance(t, DefinedTensor)}
    renamed: dict[Tensor, Tensor] = {}
    wished = {t.name for t in found}
    for t in found:
        if not isinstance(t, DefinedTensor):
            continue
        name = t.name
        if names.get(name, t) != t:
            name = next(n for n in alternatives(name) if n not in names and n not in wished)
        names[name] = t
        body = replace(t.body, renamed)
        if name != t.name or body is not t.body:
            renamed[t] = DefinedTensor(name, t.parameters, body, t.origin, t.domain)
    return renamed, [replace(e, renamed) for e in expressions], [
        changed(h, left=replace(h.left, renamed), right=replace(h.right, renamed)) for h in hypotheses]
