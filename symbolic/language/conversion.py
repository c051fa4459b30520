"""To and from plain SymPy: `from_sympy` (Sum, Indexed, KroneckerDelta), `to_sympy`, and `at_sizes` (explicit
components).

SymPy's `Sum` binds a letter; on the way in every sum gets an index of its own, so that nothing is captured. On the way
out the bound letters are made distinct.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, product
from typing import Any

import sympy as sp
from sympy.functions.special.tensor_functions import KroneckerDelta

from .errors import ShapeError, UnsupportedError
from .indices import Index, index
from .nodes import (
    ArgMaxIndicator,
    Binder,
    DefinedTensor,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    PartialDerivative,
    Tensor,
    element,
    free_indices,
    replace,
    unfold,
)
from .operations import expand_named
from .sizes import Size


def from_sympy(expression: sp.Expr) -> sp.Expr:
    """Read plain SymPy with `Sum`, `Product`, `Indexed` and `KroneckerDelta` as an index expression.

    A range must start at 0 or 1; from 1 on, indices are shifted to start at 0. Free `Idx` letters with a range become
    free indices; a range of a delta is dropped, since an index owns its size.

    >>> z, n, i = sp.IndexedBase("z"), sp.Symbol("n", integer=True, positive=True), sp.Symbol("i", integer=True)
    >>> from_sympy(sp.Sum(z[i], (i, 0, n - 1))).bound.size
    n
    """
    expression = sp.sympify(expression)
    starts = {low for node in expression.atoms(sp.Sum, sp.Product) for _, low, _ in node.limits}
    if not starts <= {sp.S.Zero} and not starts <= {sp.S.One}:
        raise UnsupportedError(f"ranges start at {sorted(starts, key=str)}; let all of them start at 0, or all of them "
                               f"at 1")
    return _From(max(starts, default=sp.S.Zero)).read(expression, {})


class _From:
    def __init__(self, start: sp.Expr) -> None:
        self.start = start  # where arrays begin to count: 0, or 1 when all ranges start there
        self.tensors: dict[str, Tensor] = {}
        self.free: dict[sp.Basic, Index] = {}

    def read(self, node: Any, env: dict[sp.Basic, sp.Expr]) -> Any:
        if node in env:
            return env[node]
        if isinstance(node, (sp.Sum, sp.Product)):
            return self._bound(node, env)
        if isinstance(node, sp.Indexed):
            return self._indexed(node, env)
        if isinstance(node, sp.Idx):
            return self._free(node)
        if isinstance(node, KroneckerDelta):
            return Delta(self.read(node.args[0], env), self.read(node.args[1], env))
        if isinstance(node, sp.Piecewise):
            return self._piecewise(node, env)
        if isinstance(node, (sp.Max, sp.Min)):
            return self._extreme(node, env)
        if isinstance(node, (sp.MatrixSymbol, sp.Integral, sp.Derivative)):
            raise UnsupportedError(f"{type(node).__name__} is not read: {node}; write it with Sum and Indexed, or with "
                                   f"array(...)")
        if isinstance(node, sp.Symbol) and not isinstance(node, (Size, Tensor, Index)):
            if node.is_integer and node.is_positive:
                return Size(node.name)
            return self.tensors.setdefault(node.name, Tensor(node.name, (), "positive" if node.is_positive else "real"))
        if not node.args:
            return node
        return node.func(*(self.read(a, env) for a in node.args))

    def _piecewise(self, node: sp.Piecewise, env: dict[sp.Basic, sp.Expr]) -> sp.Expr:
        *cases, (result, otherwise) = node.args
        if otherwise is not sp.true:
            raise UnsupportedError(f"{node} has no value where none of its conditions holds; end it with (value, True)")
        result = self.read(result, env)
        for value, condition in reversed(cases):
            holds = Indicator(self.read(condition, env))
            result = holds * self.read(value, env) + (1 - holds) * result
        return result

    def _extreme(self, node: sp.Max | sp.Min, env: dict[sp.Basic, sp.Expr]) -> sp.Expr:
        relation = sp.Ge if isinstance(node, sp.Max) else sp.Le
        first, *others = (self.read(a, env) for a in sorted(node.args, key=sp.default_sort_key))
        for other in others:
            holds = Indicator(relation(first, other))
            first = holds * first + (1 - holds) * other
        return first

    def _bound(self, node: Any, env: dict[sp.Basic, sp.Expr]) -> sp.Expr:
        bound: list[Index] = []
        inner = dict(env)
        for letter, low, high in reversed(node.limits):  # the outermost limit comes last
            length = self.read(sp.expand(high - low + 1), inner)
            own = index(str(letter), length)
            inner[letter] = own + low
            bound.append(own)
        body = self.read(node.function, inner)
        binder = IndexSum if isinstance(node, sp.Sum) else IndexProduct
        for own in reversed(bound):
            body = binder(body, own)
        return body

    def _indexed(self, node: sp.Indexed, env: dict[sp.Basic, sp.Expr]) -> sp.Expr:
        indices = [self.read(i, env) for i in node.indices]
        name = str(node.base.label)
        if name not in self.tensors:
            shape = []
            for own, given in zip(indices, node.indices, strict=True):
                i = next((s for s in own.free_symbols if isinstance(s, Index)), None)
                if i is None:
                    if node.base.shape is None:
                        raise UnsupportedError(f"the size of {node} cannot be read: {given} has no range; use "
                                               f"Idx({given!s}, n)")
                    shape = [self.read(n, env) for n in node.base.shape]
                    break
                shape.append(i.size)
            self.tensors[name] = Tensor(name, tuple(shape))
        shifted = [i - self.start for i in indices]
        return element(self.tensors[name], *shifted)

    def _free(self, node: sp.Idx) -> Index:
        if node not in self.free:
            if node.lower not in (0, None) or node.upper is None:
                raise UnsupportedError(f"the free index {node} needs a range from 0: Idx({node.label}, n)")
            self.free[node] = index(str(node.label), self.read(node.upper + 1, {}))
        return self.free[node]


def to_sympy(expression: sp.Expr) -> sp.Expr:
    """The expression in plain SymPy: `Sum` and `Indexed`, with bound letters distinct from all others."""
    expression = unfold(sp.sympify(expression))
    taken = {str(s) for s in expression.free_symbols}
    names = (f"{letter}{n or ''}" for n in count() for letter in "jklmnqr")
    letters: dict[Index, sp.Symbol] = {}

    def fresh() -> sp.Symbol:
        name = next(n for n in names if n not in taken)
        taken.add(name)
        return sp.Symbol(name, integer=True, nonnegative=True)

    def visit(node: Any) -> Any:
        if isinstance(node, Index):
            if node not in letters:
                twice = any(s.name == node.name for s in letters.values())  # two free indices may share a letter
                letters[node] = fresh() if twice else sp.Symbol(node.name, integer=True, nonnegative=True)
            return letters[node]
        if isinstance(node, (IndexSum, IndexProduct)):
            own, body = node.opened()
            letters[own] = fresh()
            binder = sp.Sum if isinstance(node, IndexSum) else sp.Product
            return binder(visit(body), (letters[own], 0, visit(own.size) - 1))
        if isinstance(node, Element):
            return sp.IndexedBase(node.tensor.name, shape=tuple(visit(n) for n in node.tensor.shape), real=True)[
                tuple(visit(i) for i in node.indices)]
        if isinstance(node, Delta):
            return KroneckerDelta(*(visit(a) for a in node.args))
        if isinstance(node, Indicator):
            return sp.Piecewise((1, visit(node.condition)), (0, True))
        if isinstance(node, (Binder, PartialDerivative)):
            raise UnsupportedError(f"plain SymPy has no {type(node).__name__}; use at_sizes for explicit components")
        return node if not node.args else node.func(*(visit(a) for a in node.args))

    return visit(expand_named(expression))


def at_sizes(expression: sp.Expr, indices: Sequence[Index] = (), **sizes: int) -> Any:
    """Plain explicit SymPy at concrete sizes: elements become symbols z_0, z_1, ...; free indices give a nested list.

    >>> from lemmata.symbolic.language.arrays import array
    >>> from lemmata.symbolic.language.vocabulary import sum
    >>> at_sizes(sum(array("z", "K")).body, K=3)
    z_0 + z_1 + z_2

    Raises `ShapeError` when a size is missing or below 1.
    """
    expression = sp.sympify(expression)
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ShapeError(f"the size {name}={value} is not a positive integer")
    binding = {Size(name): sp.Integer(value) for name, value in sizes.items()}
    free = tuple(indices) or free_indices(expression)

    def number(n: sp.Expr) -> int:
        value = n.xreplace(binding)
        if not value.is_Integer:
            missing = ", ".join(sorted(str(s) for s in value.free_symbols))
            raise ShapeError(f"the size {n} needs a value for {missing}: at_sizes(..., {missing.split(', ')[0]}=3); "
                             f"bound: {sizes}")
        return int(value)

    def visit(node: Any) -> Any:
        if isinstance(node, Binder):
            values = [visit(node.at(sp.Integer(v))) for v in range(number(node.bound.size))]
            if isinstance(node, ArgMaxIndicator):
                raise UnsupportedError("the place of a maximum has no plain SymPy form")
            return {IndexSum: sp.Add, IndexProduct: sp.Mul, IndexMax: sp.Max}[type(node)](*values)
        if isinstance(node, PartialDerivative):
            at = visit(node.variable)
            return sp.diff(visit(node.expression), at)
        if isinstance(node, Element):
            at = [visit(i) for i in node.indices]
            if isinstance(node.tensor, DefinedTensor):
                return visit(node.tensor.at(*at))
            for axis, (i, n) in enumerate(zip(at, node.tensor.shape, strict=True)):
                if i.is_Integer and not 0 <= i < number(n):
                    raise ShapeError(f"index {i} does not fit axis {axis} of {node.tensor.name} with size {number(n)}")
            return sp.Symbol("_".join([node.tensor.name, *map(str, at)]), real=True,
                             positive=node.tensor.domain.positive or None)
        if isinstance(node, DefinedTensor):
            return visit(node.body)
        if isinstance(node, Tensor):
            return sp.Symbol(node.name, real=True, positive=node.domain.positive or None)
        if isinstance(node, Delta):
            left, right = (visit(a) for a in node.args)
            return KroneckerDelta(left, right)
        if isinstance(node, Indicator):
            condition = visit(node.condition)
            return sp.Piecewise((1, condition), (0, True))
        if node in binding:
            return binding[node]
        return node if not node.args else node.func(*(visit(a) for a in node.args))

    body = expand_named(expression)

    def nested(fixed: list[int]) -> Any:
        if len(fixed) == len(free):
            return visit(replace(body, {i: sp.Integer(v) for i, v in zip(free, fixed, strict=True)}))
        return [nested([*fixed, v]) for v in range(number(free[len(fixed)].size))]

    return nested([])


__all__ = ["at_sizes", "from_sympy", "product", "to_sympy"]
