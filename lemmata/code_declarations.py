"""What is known of the arguments of a user's functions: shapes, domains, hypotheses and sizes, in words or as Python
data.

`code_questions` makes questions of them. The same words declare arrays of formulas in `symbolic.language.declarations`;
here a parameter without a shape may also be a whole number that is a size, or keep its default.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from .symbolic.codegen import compile_numpy
from .symbolic.language.arrays import Array, array, tensor_of
from .symbolic.language.declarations import read_domains, read_shapes
from .symbolic.language.domains import domain as read_domain
from .symbolic.language.errors import FormulaError, HypothesisError
from .symbolic.language.formulas import read_hypothesis
from .symbolic.language.hypotheses import Hypothesis
from .symbolic.language.nodes import Element, Tensor, tensors
from .symbolic.language.sizes import Size, size
from .witness import NotDrawn, satisfy

Shape = tuple[str, ...]
Shapes = str | Mapping[str, str | int | Sequence[str | int]]
Domains = str | Mapping[str, str] | None
Given = str | Sequence[str]
Sizes = str | Mapping[str, int | tuple[int, int]] | None
Avoid = str | Callable[[Mapping[str, Any]], Any] | None

_RANGE = re.compile(r"([^\W\d]\w*)=(\d+)(?:(?:\.\.|:|-)(\d+))?")
_NARROWED = {">": "positive", ">=": "nonnegative", "!=": "nonzero"}
_CLOSE = 1e-9


@dataclass(frozen=True)
class Declarations:
    """Shapes, domains, hypotheses (as texts), ranges of sizes, and what must not vanish."""

    shapes: Mapping[str, Shape]
    domains: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    avoid: Avoid = None

    def arrays(self) -> dict[str, Array]:
        """The declared arrays; a size whose range is one number is that number."""
        fixed = {Size(n): sp.Integer(low) for n, (low, high) in self.sizes.items() if low == high}
        return {name: array(name, tuple(size(s).xreplace(fixed) for s in shape), self.domains.get(name, "real"))
                for name, shape in self.shapes.items()}

    def hypotheses(self, arrays: Mapping[str, Array]) -> list[Hypothesis]:
        """The hypotheses about these arrays."""
        return [read_hypothesis(text, arrays) for text in self.given]

    def size_names(self) -> set[str]:
        """The names of the sizes that occur."""
        found = {s.name for shape in self.shapes.values() for text in shape for s in size(text).free_symbols}
        return found | set(self.sizes)

    def without(self, name: str) -> Declarations:
        """The same without one array."""
        return Declarations({n: s for n, s in self.shapes.items() if n != name},
                            {n: d for n, d in self.domains.items() if n != name}, self.given, self.sizes, self.avoid)


def declarations(shapes: Shapes, domains: Domains = None, given: Given = (), sizes: Sizes = None,
                 avoid: Avoid = None) -> Declarations:
    """Read declarations; hypotheses x > 0, x >= 0 and x != 0 narrow the domain of a real array.

    >>> declared = declarations({"z": "N,K", "eps": ""}, "eps=positive", "sum(z, axis=1) = 0", "N=2..5 K=3")
    >>> declared.shapes["z"], declared.domains, declared.sizes
    (('N', 'K'), {'eps': 'positive'}, {'N': (2, 5), 'K': (3, 3)})
    """
    known = _domains(domains)
    found = _shapes(shapes)
    for name, text in known.items():
        read_domain(text)
        if name not in found:
            raise FormulaError(f"the domain of {name!r} is given, but no shape; declared: "
                               f"{', '.join(found) or 'nothing'}")
    texts = (given,) if isinstance(given, str) else tuple(given)
    declared = Declarations(found, known, tuple(t for t in texts if t.strip()), _ranges(sizes), avoid)
    for h in declared.hypotheses(declared.arrays()):
        tensor = h.left.tensor if isinstance(h.left, Element) else h.left
        if isinstance(tensor, Tensor) and h.right == 0 and h.relation in _NARROWED and known.get(tensor.name,
                                                                                                 "real") == "real":
            known[tensor.name] = _NARROWED[h.relation]
    return declared


def _domains(domains: Domains) -> dict[str, str]:
    if isinstance(domains, str):
        return {n: d.name for n, d in read_domains(domains).items()} if domains.strip() else {}
    return dict(domains or {})


def _shapes(shapes: Shapes) -> dict[str, Shape]:
    if isinstance(shapes, str):
        return dict(read_shapes(shapes)) if shapes.strip() else {}
    found = {}
    for name, given in shapes.items():
        parts = given.split(",") if isinstance(given, str) else [given] if isinstance(given, int) else list(given)
        found[name] = tuple(str(p).strip() for p in parts if str(p).strip())
        for text in found[name]:
            size(text)  # an error here names the text
    return found


def _ranges(sizes: Sizes) -> dict[str, tuple[int, int]]:
    if isinstance(sizes, str):
        words: dict[str, int | tuple[int, int]] = {}
        for word in sizes.replace(",", " ").split():
            match = _RANGE.fullmatch(word)
            if match is None:
                raise FormulaError(f"cannot read the size {word!r}; write K=3 or K=2..5")
            words[match[1]] = (int(match[2]), int(match[3] or match[2]))
        sizes = words
    found = {n: (v, v) if isinstance(v, int) else (int(v[0]), int(v[1])) for n, v in (sizes or {}).items()}
    for name, (low, high) in found.items():
        if not 1 <= low <= high:
            raise FormulaError(f"the size {name} has the range {low} to {high}; it begins at 1 or more and ends no "
                               f"lower")
    return found


# ---------------------------------------------------------------------- parameters
def parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """The parameters of a function, each with whether it may be left out."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(function)
    if any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in signature.parameters.values()):
        raise FormulaError(f"{function.__name__}{signature} has parameters without names; wrap it in a function with "
                           f"names")
    return {n: p.default is not inspect.Parameter.empty for n, p in signature.parameters.items() if p.kind in kinds}


def arguments_of(function: Callable[..., Any], declared: Declarations) -> tuple[dict[str, Shape], tuple[str, ...]]:
    """The arrays that a function takes, in its order, and the parameters that are sizes.

    Raises `FormulaError` for a parameter of which nothing is known, and for a shape that belongs to no parameter.
    """
    known, name = parameters(function), function.__name__
    for other in declared.shapes:
        if other not in known:
            raise FormulaError(f"the shape of {other!r} is given, but {name} takes "
                               f"{', '.join(known) or 'no arguments'}")
    integers = []
    for parameter, optional in known.items():
        if parameter in declared.shapes:
            continue
        if parameter in declared.size_names():
            integers.append(parameter)
        elif not optional:
            raise FormulaError(f"{name} takes {parameter!r}, of which nothing is known; give its shape, e.g. "
                               f"{parameter}=N,K ({parameter}= for a number), or its range if it is a size, e.g. "
                               f"{parameter}=1..4 in sizes")
    return {p: declared.shapes[p] for p in known if p in declared.shapes}, tuple(integers)


# ---------------------------------------------------------------------- drawn inputs that satisfy the hypotheses
def preparation(declared: Declarations) -> Callable[[dict[str, Any], Mapping[str, int]], dict[str, Any] | None] | None:
    """A function that makes drawn arguments satisfy the hypotheses; it gives None where they still do not.

    Σ over axes = number is met by shifting (or scaling what is positive), ``a = formula`` by computing a.
    """
    if not declared.given:
        return None
    arrays = declared.arrays()
    hypotheses = declared.hypotheses(arrays)
    order = [tensor_of(a) for a in arrays.values()]
    changes = [_change(h, order) for h in hypotheses if h.relation == "=="]
    residuals = [(h.relation, compile_numpy("residual", h.left - h.right, h.indices, order)) for h in hypotheses]

    def prepare(arguments: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any] | None:
        inputs = {t.name: np.array(arguments[t.name], dtype=np.asarray(arguments[t.name]).dtype) for t in order}
        for change in changes:
            change(inputs, sizes)
        for relation, residual in residuals:
            values = np.asarray(residual(*(inputs[t.name] for t in order)))
            if not _holds(relation, values):
                return None
        return {**arguments, **{n: v if v.ndim else v.item() for n, v in inputs.items()}}

    return prepare


def _change(h: Hypothesis, order: Sequence[Tensor]) -> Callable[[dict[str, Any], Mapping[str, int]], None]:
    whole = isinstance(h.left,
                       Tensor) or (isinstance(h.left, Element) and len(set(h.left.indices)) == len(h.left.indices)
                                           and set(h.left.indices) == set(h.indices))
    target = h.left.tensor if isinstance(h.left, Element) else h.left
    if whole and target not in tensors([h.right]):
        at = h.left.indices if isinstance(h.left, Element) else ()
        value = compile_numpy("value", h.right, at, order)

        def assign(inputs: dict[str, Any], sizes: Mapping[str, int]) -> None:
            shape = inputs[target.name].shape
            inputs[target.name] = np.array(np.broadcast_to(value(*(inputs[t.name] for t in order)), shape))

        return assign

    def shift(inputs: dict[str, Any], sizes: Mapping[str, int]) -> None:
        try:
            satisfy(h, inputs, sizes)
        except NotDrawn as error:
            raise HypothesisError(f"{error}; what can be drawn: sums over axes equal to a number, and name = "
                                  f"formula") from None

    return shift


def _holds(relation: str, values: np.ndarray) -> bool:
    match relation:
        case "==":
            return bool(np.all(np.abs(values) <= _CLOSE))
        case ">":
            return bool(np.all(values > 0))
        case ">=":
            return bool(np.all(values >= 0))
    return bool(np.all(np.abs(values) > _CLOSE))
