"""Declarations from text: the shapes and domains of arrays, as the command line takes them.

`formulas` reads what is said about the arrays that are declared here.
"""

from __future__ import annotations

import re
from collections.abc import Container

from .arrays import Array, array
from .domains import Domain, domain
from .errors import FormulaError, LemmataError
from .limits import check_text, place
from .sizes import size
from .vocabulary import function_table

_NAME = re.compile(r"[^\W\d]\w*")


def read_shapes(text: str) -> dict[str, tuple[str, ...]]:
    """Read shapes, ``name=size,size,...``; an item without ``=`` is a further axis of the array before it.

    Arrays are separated by commas or spaces; ``c=`` is a scalar; a size is a name, an integer or arithmetic in them.

    >>> read_shapes("z=N,K,y=N,K c= W=h*d_k,2*H")
    {'z': ('N', 'K'), 'y': ('N', 'K'), 'c': (), 'W': ('h*d_k', '2*H')}
    """
    line = check_text(text, "list of shapes")
    shapes: dict[str, list[str]] = {}
    current: str | None = None
    for at, item in _items(re.sub(r" ?([*+]) ?", r"\1", line.replace(" =", "="))):
        name, equals, first = item.partition("=")
        if equals:
            current = _declared_name(name, shapes, line, at)
            shapes[current] = []
        elif current is None:
            raise FormulaError(
                f"the size {item!r} belongs to no array; write name=size,size, e.g. z=N,K\n{place(line, at)}"
            )
        value = first if equals else item
        if value:
            if "=" in value:
                raise FormulaError(f"cannot read {item!r}; write name=size,size, e.g. z=N,K\n{place(line, at)}")
            shapes[current].append(_size_text(value, line, at))
    return {name: tuple(sizes) for name, sizes in shapes.items()}


def read_domains(text: str) -> dict[str, Domain]:
    """Read declarations of domains: ``name=domain``, separated by spaces or commas.

    >>> {name: d.name for name, d in read_domains("y=simplex, eps=positive x=(0,1) t=index<K").items()}
    {'y': 'simplex', 'eps': 'positive', 'x': '(0,1)', 't': 'index<K'}
    """
    line = check_text(text, "list of domains")
    domains: dict[str, Domain] = {}
    for at, item in _items(line.replace(" =", "=").replace("= ", "=")):
        name, equals, value = item.partition("=")
        if not equals or not value:
            raise FormulaError(
                f"cannot read {item!r}; write name=domain, e.g. y=simplex eps=positive x=(0,1)\n{place(line, at)}"
            )
        domains[_declared_name(name, domains, line, at)] = domain(value)
    return domains


def read_arrays(shapes: str, domains: str = "") -> dict[str, Array]:
    """Declare arrays from two texts, shapes and domains (see `read_shapes` and `read_domains`).

    >>> list(read_arrays("z=K eps=", "eps=positive"))
    ['z', 'eps']
    """
    declared = read_shapes(shapes)
    known = read_domains(domains) if domains.strip() else {}
    for name in known:
        if name not in declared:
            given = ", ".join(declared) or "nothing"
            raise FormulaError(f"the domain of {name!r} is given, but no shape; declared: {given}")
    return {name: array(name, sizes, known.get(name, "real")) for name, sizes in declared.items()}


def _items(line: str) -> list[tuple[int, str]]:
    """The items of a list with their places: separated by commas or spaces outside brackets."""
    found, start, depth = [], 0, 0
    for at, c in enumerate(line + " "):
        depth += (c in "([{") - (c in ")]}")
        if c in ", " and depth <= 0:
            if line[start:at]:
                found.append((start, line[start:at]))
            start = at + 1
    if start <= len(line):
        raise FormulaError(f"a bracket is not closed\n{place(line, start)}")
    return found


def _declared_name(name: str, taken: Container[str], line: str, at: int) -> str:
    if not _NAME.fullmatch(name) or name.startswith("__") or name in ("True", "False", "None", "lambda", "inf", "nan"):
        raise FormulaError(
            f"{name!r} is not a name for an array; write letters, digits and _, e.g. z, d_model\n{place(line, at)}"
        )
    if name in function_table():
        raise FormulaError(f"{name!r} is a function of the vocabulary; give the array another name\n{place(line, at)}")
    if name in taken:
        raise FormulaError(f"{name!r} is declared twice\n{place(line, at)}")
    return name


def check_name(name: str) -> str:
    """The name, where an array may have it; else a `FormulaError`.

    Names stand in the code that is generated and run, so no other text may pass for one.
    """
    return _declared_name(name, (), name, 0)


def _size_text(text: str, line: str, at: int) -> str:
    try:
        size(text)
    except LemmataError as error:
        raise type(error)(f"{error}\n{place(line, at)}") from None
    return text
