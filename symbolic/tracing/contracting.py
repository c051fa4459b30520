"""Products that contract axes (matmul, dot, einsum, tensordot, ...) and functions of whole matrices."""

from __future__ import annotations

from functools import reduce
from typing import Any

import sympy as sp

from ..language import linear_algebra as la
from ..language import rearrangement as re
from ..language import vocabulary as voc
from ..language.arrays import Array, shape_text
from ..language.errors import ShapeError, UnsupportedError
from ..language.nodes import IndexSum, replace
from ..language.sizes import same_size
from . import elementwise as el
from .dispatch import TABLES
from .reducing import sum_
from .shaping import ravel, reshape
from .table import axes_of, function, into, plain, unwrapped
from .values import Traced, lift


def _float_or_int(*given: Traced) -> str:
    kind = el.number_kind(*given)
    return "int" if kind == "bool" else kind


@function("matmul")
def matmul(left: Any, right: Any, out: Any = None) -> Traced:
    """Matrix product."""
    a, b = plain(left), plain(right)
    return into(out, Traced(voc.matmul(re.fresh(a.array), re.fresh(b.array)), _float_or_int(a, b)))


@function("dot")
def dot(left: Any, right: Any) -> Traced:
    """NumPy's dot: over the last axis of the left and the last but one of the right, with no broadcasting."""
    a, b = plain(left), plain(right)
    if not a.ndim or not b.ndim:
        return el.multiply(a, b)
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


@function("vdot")
def vdot(left: Any, right: Any) -> Traced:
    """Dot of the flattened arrays."""
    return dot(ravel(left), ravel(right))


@function("inner")
def inner(left: Any, right: Any) -> Traced:
    """Over the last axes of both."""
    a, b = plain(left), plain(right)
    return el.multiply(a, b) if not a.ndim or not b.ndim else tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


@function("vecdot", "linalg.vecdot")
def vecdot(left: Any, right: Any, axis: int = -1) -> Traced:
    """Dot along an axis, with broadcasting."""
    return sum_(el.multiply(left, right), axis)


@function("outer", "multiply.outer")
def outer(left: Any, right: Any) -> Traced:
    """Outer product of the flattened arrays."""
    return el.multiply(reshape(left, -1, 1), reshape(right, 1, -1))


TABLES["add.outer"] = lambda a, b: el.add(reshape(a, -1, 1), reshape(b, 1, -1))
TABLES["subtract.outer"] = lambda a, b: el.subtract(reshape(a, -1, 1), reshape(b, 1, -1))


@function("tensordot")
def tensordot(left: Any, right: Any, axes: Any = 2) -> Traced:
    """Contraction of pairs of axes."""
    a, b = plain(left), plain(right)
    if isinstance(axes, int):
        pairs = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    else:
        pairs = tuple(
            [x % g.ndim for x in (p if isinstance(p, (tuple, list)) else [p])]
            for p, g in zip(axes, (a, b), strict=True)
        )
    x, y = re.fresh(a.array), re.fresh(b.array)
    mapping: dict[Any, Any] = {}
    for m, n in zip(*pairs, strict=True):
        if not same_size(x.shape[m], y.shape[n]):
            raise ShapeError(f"tensordot: axis {m} of {shape_text(x.shape)} against axis {n} of {shape_text(y.shape)}")
        mapping[y.indices[n]] = x.indices[m]
    body = x.body * replace(y.body, mapping)
    for m in pairs[0]:
        body = IndexSum(body, x.indices[m])
    return Traced(
        Array(
            [i for n, i in enumerate(x.indices) if n not in pairs[0]]
            + [i for n, i in enumerate(y.indices) if n not in pairs[1]],
            body,
        ),
        _float_or_int(a, b),
    )


@function("einsum")
def einsum(pattern: Any, *operands: Any, **options: Any) -> Traced:
    """Einstein summation; ``...`` stands for leading axes that are stretched against each other."""
    if not isinstance(pattern, str):
        raise UnsupportedError("einsum with lists of axes; write the pattern as a text")
    given = [plain(o) for o in operands]
    text = pattern.replace(" ", "")
    if "..." in text:
        text, given = _with_ellipsis(text, given)
    return Traced(voc.einsum(text, *(re.fresh(g.array) for g in given)), _float_or_int(*given))


def _with_ellipsis(text: str, given: list[Traced]) -> tuple[str, list[Traced]]:
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in text]
    counts = [g.ndim - len(t.replace("...", "")) if "..." in t else 0 for t, g in zip(terms, given, strict=True)]
    most = max(counts)
    dots = "".join(free[:most])
    sizes: dict[str, Any] = {}
    for t, g, n in zip(terms, given, counts, strict=True):
        at = t.find("...")
        for c, s in zip(dots[most - n :], g.array.shape[at : at + n], strict=True) if n else ():
            if s != 1:
                sizes.setdefault(c, s)
    new_terms, arrays = [], []
    for t, g, n in zip(terms, given, counts, strict=True):
        at = t.find("...")
        if at >= 0:
            shape = [*g.array.shape[:at], *(sizes.get(c, sp.S.One) for c in dots[most - n :]), *g.array.shape[at + n :]]
            g = Traced(re.broadcast_to(g.array, shape), g.kind)
        new_terms.append(t.replace("...", dots[most - n :] if n else ""))
        arrays.append(g)
    if not arrow:
        letters = "".join(terms).replace("...", "")
        output = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join(new_terms)}->{output.replace('...', dots)}", arrays


@function("kron")
def kron(left: Any, right: Any) -> Traced:
    """Kronecker product."""
    a, b = plain(left), plain(right)
    return Traced(re.kron(a.array, b.array), _float_or_int(a, b))


@function("cross")
def cross(left: Any, right: Any) -> Traced:
    """Cross product of vectors of three elements."""
    a, b = plain(left), plain(right)
    parts = [a[..., (n + 1) % 3] * b[..., (n + 2) % 3] - a[..., (n + 2) % 3] * b[..., (n + 1) % 3] for n in range(3)]
    return TABLES["stack"](parts, -1)


for _name, _f in {"inv": la.inv, "det": la.det, "matrix_power": la.matrix_power}.items():
    TABLES[f"linalg.{_name}"] = lambda value, *args, f=_f: Traced(f(plain(value).array, *map(unwrapped, args)))
TABLES["linalg.slogdet"] = lambda value: tuple(Traced(p) for p in la.slogdet(plain(value).array))
TABLES["linalg.multi_dot"] = lambda values: reduce(dot, values)
for _name in ("matmul", "outer", "tensordot", "cross"):
    TABLES[f"linalg.{_name}"] = TABLES[_name]
TABLES["linalg.trace"] = TABLES["trace"]


@function("linalg.solve")
def solve(matrix: Any, right: Any) -> Traced:
    """The solution of a linear system, as the inverse times the right side."""
    return Traced(la.solve(plain(matrix).array, plain(right).array))


@function("linalg.norm", "linalg.vector_norm", "linalg.matrix_norm")
def norm(value: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Traced:
    """Norms of vectors and matrices."""
    order = lift(ord).body if isinstance(ord, Traced) else ord
    return Traced(la.norm(plain(value).array, order, axes_of(axis), keepdims))
