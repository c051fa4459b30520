"""The nodes that carry or bind an index; all else in an index expression is SymPy's own.

The set is closed: `Tensor` and `DefinedTensor` name arrays, `Element` is a tensor with its indices, `IndexSum`,
`IndexMax` and `IndexProduct` bind an index, `Delta` and `Indicator` are 0 or 1, `PartialDerivative` is a derivative not
yet carried out. Binders replace the index they are given by a bound index of their own (see `indices`), so that
substitution and differentiation cannot capture, and equal sums with other letters are equal objects.

SymPy's `Sum`, `Indexed`, `KroneckerDelta` and `MatrixSymbol` are not used for this: they capture, keep ranges as
Piecewise and lose terms (sympy#21891, sympy#20127, sympy#25861, sympy#27406).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

import sympy as sp

from .domains import Domain, domain
from .errors import IndexError_, UnsupportedError
from .indices import Index, bound_index
from .sizes import Size, same_size

# `calculus` and `rendering` put their functions here when they are imported: SymPy asks the node itself for its
# derivative and its LaTeX, and a pillar's imports go down only.
HOOKS: dict[str, Callable[..., Any]] = {}


def hook(name: str) -> Callable[..., Any]:
    """A function that a room above has put here."""
    try:
        return HOOKS[name]
    except KeyError:
        raise UnsupportedError(f"{name} needs lemmata.symbolic to be imported as a whole: import lemmata") from None


class Tensor(sp.Symbol):
    """A named array of given shape and domain; with shape () it is a scalar and stands in expressions as it is.

    >>> from lemmata.symbolic.language.sizes import size
    >>> Tensor("z", (size("K"),)).shape
    (K,)
    """

    __slots__ = ("shape", "domain", "_content")

    shape: tuple[sp.Expr, ...]
    domain: Domain
    _content: tuple[Any, ...] | None

    def __new__(cls, name: str, shape: tuple[sp.Expr, ...] = (), entries: str | Domain = "real") -> Tensor:
        entries = domain(entries)
        facts: dict[str, bool] = {"real": True}
        if not shape:
            if entries.positive:
                facts["positive"] = True
            elif entries.nonnegative:
                facts["nonnegative"] = True
            elif entries.negative:
                facts["negative"] = True
            elif entries.nonzero:
                facts["nonzero"] = True
            if entries.integer:
                facts["integer"] = True
        self = sp.Symbol.__xnew__(cls, name, **facts)
        self.shape = tuple(shape)
        self.domain = entries
        self._content = None
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, object]]:
        return ((self.name, self.shape, self.domain), {})

    def _hashable_content(self) -> tuple[Any, ...]:
        # Kept, because every comparison of equal tensors that are two objects asks for it.
        if self._content is None:
            self._content = self._told_apart_by()
        return self._content

    def _told_apart_by(self) -> tuple[Any, ...]:
        return (self.name, sp.Tuple(*self.shape), self.domain.name)

    def sort_key(self, order: str | None = None) -> tuple[object, ...]:
        return self.class_key(), (2, (self.name, str(self.shape))), sp.S.One.sort_key(), sp.S.One

    # SymPy's printers look for methods by class name and have one for a `Tensor` of their own.
    def _sympystr(self, printer: Any) -> str:
        return self.name

    _sympyrepr = _numpycode = _pythoncode = _sympystr

    def _latex(self, printer: Any) -> str:
        return hook("latex")(self)

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        """A size that is given a value is given it in the shape as well."""
        if not any(old in n.free_symbols for n in self.shape):
            return None
        return Tensor(self.name, tuple(n.subs(old, new) for n in self.shape), self.domain)

    __iter__ = None  # `__getitem__` would make SymPy take a tensor for a sequence

    def __getitem__(self, indices: sp.Expr | tuple[sp.Expr, ...]) -> sp.Expr:
        return element(self, *(indices if isinstance(indices, tuple) else (indices,)))


_DEFINITIONS: WeakValueDictionary[tuple[Any, ...], DefinedTensor] = WeakValueDictionary()


class DefinedTensor(Tensor):
    """A named intermediate p := ...: a tensor that knows its definition, and stays named until it is unfolded.

    `parameters` are bound indices, one an axis, and `body` is the defining expression in them. `origin` is the text of
    the definition in the array vocabulary (``softmax(z)``), for display only.
    """

    __slots__ = ("parameters", "body", "origin", "_free", "_names", "__weakref__")

    parameters: tuple[Index, ...]
    body: sp.Expr
    origin: str
    _free: frozenset[sp.Basic]
    _names: frozenset[Tensor] | None

    def __new__(cls, name: str, indices: tuple[Index, ...], body: sp.Expr, origin: str = "",
                entries: str | Domain = "real") -> DefinedTensor:
        top = level(body)
        # Indices that already are parameters of the right levels are left alone, so that rebuilding is the identity.
        parameters = tuple(bound_index(i.size, top + 1 + n) for n, i in enumerate(indices))
        body = replace(body, dict(zip(indices, parameters, strict=True)))
        # Equal definitions are one object. To compare two would be to compare what they are defined by, and so on: in a
        # deep model with residual connections the number of paths doubles with every layer.
        key = (cls, name, domain(entries), parameters, body, origin)
        known = _DEFINITIONS.get(key)
        if known is not None:
            return known
        self = super().__new__(cls, name, tuple(i.size for i in indices), entries)
        self.parameters = parameters
        self.body = body
        self.origin = origin
        # Kept, because a definition of definitions would be walked again and again.
        self._free = frozenset({self}) | (self.body.free_symbols - set(parameters))
        self._names = None
        _DEFINITIONS[key] = self
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, object]]:
        return ((self.name, self.parameters, self.body, self.origin, self.domain), {})

    def _told_apart_by(self) -> tuple[Any, ...]:
        return (self.name, sp.Tuple(*self.shape), self.domain.name, sp.Tuple(*self.parameters), self.body)

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        if not isinstance(old, Size):
            return None
        fresh = tuple(p.fresh("i") for p in self.parameters)
        body = self.at(*fresh)._subs(old, new)
        return DefinedTensor(self.name, tuple(i._subs(old, new) for i in fresh), body, self.origin, self.domain)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        return set(self._free)

    @property
    def names(self) -> frozenset[Tensor]:
        """The tensors that the body names itself, not through another definition."""
        if self._names is None:
            self._names = frozenset(tensors([self.body], through_definitions=False))
        return self._names

    def at(self, *indices: sp.Expr) -> sp.Expr:
        """The defining expression with the parameters replaced by `indices`."""
        return replace(self.body, dict(zip(self.parameters, map(sp.sympify, indices), strict=True)))


class IndexNode(sp.Expr):
    """Base of the nodes that SymPy does not have; what they share is only what SymPy asks of an `Expr`."""

    __slots__ = ()
    is_commutative = True
    precedence = 1000  # for SymPy's printers: an atom, except the binders

    def _eval_derivative(self, variable: sp.Expr) -> sp.Expr:
        return hook("differentiate")(self, variable)

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        refuse_substitution(self, old, new)
        return None

    def _xreplace(self, rule: Mapping[sp.Basic, sp.Basic]) -> tuple[sp.Basic, bool]:
        for old, new in rule.items() if isinstance(rule, dict) else ():  # SymPy also passes functions in this place
            refuse_substitution(self, old, new)
        return super()._xreplace(rule)

    def _eval_is_polynomial(self, symbols: Any) -> bool:
        # A sum over K places depends on K though K is not among its args: SymPy must not take it for a constant in K.
        return not self.free_symbols & set(symbols)

    _eval_is_rational_function = _eval_is_polynomial

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = hook("latex")(self)
        return rf"\left({text}\right)^{{{exp}}}" if exp is not None else text

    def _sympystr(self, printer: Any) -> str:
        hook = HOOKS.get("text")
        return hook(self) if hook else f"{type(self).__name__}({', '.join(printer._print(a) for a in self.args)})"

    _sympyrepr = _sympystr

    def _numpycode(self, printer: Any) -> str:
        return hook("numpycode")(self, printer)

    _pythoncode = _numpycode


def refuse_substitution(node: sp.Expr, old: sp.Expr, new: sp.Expr) -> None:
    """Refuse to put an index out of its range."""
    if isinstance(old, Index) and new.is_Integer and old.size.is_Integer and not 0 <= new < old.size:
        raise IndexError_(f"the index {old.name} ranges over 0, ..., {old.size - 1}; {new} is not one of them")


def sizes_in(expression: sp.Basic) -> set[sp.Basic]:
    """The size symbols that indices and arrays of an expression own, as far as they are seen without definitions."""
    found: set[sp.Basic] = set()
    for node in sp.preorder_traversal(expression):
        if isinstance(node, Index):
            found |= node.size.free_symbols
        elif isinstance(node, Tensor):
            found |= {s for n in node.shape for s in n.free_symbols}
    return found


class Element(IndexNode):
    """A tensor with its indices, z_i; an index may be a letter, a number, an affine form or an element of an integer
    tensor.
    """

    __slots__ = ()
    _diff_wrt = True
    # SymPy would put a Dummy in place of the element before it differentiates, and lose δ_ij that way.
    is_symbol = True

    def __new__(cls, tensor: Tensor, *indices: sp.Expr) -> Any:
        if not isinstance(tensor, Tensor):
            return _everywhere(tensor)
        if len(indices) != len(tensor.shape):
            raise IndexError_(f"{tensor.name} has {len(tensor.shape)} axes {tensor.shape}, indexed with "
                              f"{len(indices)}: {indices}; give one index an axis")
        return sp.Expr.__new__(cls, tensor, *indices)

    @property
    def tensor(self) -> Tensor:
        return self.args[0]

    @property
    def indices(self) -> tuple[sp.Expr, ...]:
        return self.args[1:]

    @property
    def free_symbols(self) -> set[sp.Basic]:
        return self.tensor.free_symbols.union(*(i.free_symbols for i in self.indices))

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool | None:
        d = self.tensor.domain
        return True if d.positive else (False if d.high <= 0 else None)

    def _eval_is_nonnegative(self) -> bool | None:
        d = self.tensor.domain
        return True if d.nonnegative else (False if d.negative else None)

    def _eval_is_zero(self) -> bool | None:
        return False if self.tensor.domain.nonzero else None

    def _eval_is_integer(self) -> bool | None:
        return True if self.tensor.domain.integer else None


def _everywhere(value: sp.Expr) -> sp.Expr:
    """The element of an array that SymPy replaced by a scalar, as it does to find out whether an expression is
    constant.
    """
    array = next((t for t in value.atoms(Tensor) if t.shape), None)
    if array is not None:
        raise UnsupportedError(f"{value} stands in the place of an array; replace the elements, such as "
                               f"{array.name}_i, instead")
    return value


def element(tensor: Tensor, *indices: Any) -> sp.Expr:
    """The element of a tensor; a tensor without axes is its own element. Numbers are checked against numeric sizes."""
    given = tuple(sp.sympify(i) for i in indices)
    for axis, (i, n) in enumerate(zip(given, tensor.shape, strict=False)):
        if i.is_Integer and (i < 0 or (n.is_Integer and i >= n)):
            raise IndexError_(f"index {i} does not fit axis {axis} of {tensor.name} with size {n}")
        if isinstance(i, Index) and not same_size(i.size, n):
            raise IndexError_(f"index {i.name} ranges over {i.size}, but axis {axis} of {tensor.name}{tensor.shape} "
                              f"has size {n}")
    return tensor if not tensor.shape and not given else Element(tensor, *given)


_COUNTED = sp.Symbol("counted", positive=True)


class Binder(IndexNode):
    """A node that binds one index: args are (body, index). Given a free index it closes over it."""

    __slots__ = ()
    precedence = 40  # SymPy's number for a sum: parentheses in products and powers

    def __new__(cls, body: Any, bound: Index) -> Binder:
        body = sp.sympify(body)
        if not isinstance(bound, Index):
            raise IndexError_(f"{cls.__name__} binds an index, got {bound!r}; make one with index('i', size)")
        top = level(body)
        if bound.level != top + 1:
            own = bound_index(bound.size, top + 1)
            body = replace(body, {bound: own})
            bound = own
        return sp.Expr.__new__(cls, body, bound)

    @property
    def body(self) -> sp.Expr:
        return self.args[0]

    @property
    def bound(self) -> Index:
        return self.args[1]

    @property
    def free_symbols(self) -> set[sp.Basic]:
        found = (self.body.free_symbols - {self.bound}) | self.bound.size.free_symbols
        # Σ_i 1 depends on K, but not through its args: with one symbol alone SymPy would look for its sign as a
        # polynomial in K and find a constant. A second symbol keeps it from that.
        return found if any(isinstance(s, Tensor) for s in found) else found | {_COUNTED}

    def opened(self, letter: str = "i") -> tuple[Index, sp.Expr]:
        """The body with a fresh free index in place of the bound one."""
        fresh = self.bound.fresh(letter)
        return fresh, replace(self.body, {self.bound: fresh})

    def at(self, value: sp.Expr) -> sp.Expr:
        """The body at one value of the index."""
        return replace(self.body, {self.bound: sp.sympify(value)})

    def _eval_is_real(self) -> bool | None:
        return self.body.is_real

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        refuse_substitution(self, old, new)
        if old == self.bound:
            return self
        fresh, body = self.opened()
        return type(self)(body._subs(old, new), fresh._subs(old, new))


class IndexSum(Binder):
    """Sum of the body over a bound index."""

    __slots__ = ()

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class IndexProduct(Binder):
    """Product of the body over a bound index."""

    __slots__ = ()

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None


class IndexMax(Binder):
    """Largest value of the body over a bound index."""

    __slots__ = ()

    def _eval_is_positive(self) -> bool | None:
        return self.body.is_positive

    def _eval_is_nonnegative(self) -> bool | None:
        return self.body.is_nonnegative


class ArgMaxIndicator(Binder):
    """1 where `value` (an index) is the place of the largest body over the bound index, else 0; args (body, index,
    value).

    Ties share nothing: the convention puts the whole 1 on one place, so it is a subgradient choice at ties and the
    derivative of `IndexMax` elsewhere.
    """

    __slots__ = ()

    def __new__(cls, body: Any, bound: Index, value: sp.Expr) -> ArgMaxIndicator:
        base = IndexMax(body, bound)
        return sp.Expr.__new__(cls, base.body, base.bound, sp.sympify(value))

    @property
    def value(self) -> sp.Expr:
        return self.args[2]

    @property
    def free_symbols(self) -> set[sp.Basic]:
        return super().free_symbols | self.value.free_symbols

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr | None:
        refuse_substitution(self, old, new)
        if old == self.bound:
            return self
        fresh, body = self.opened()
        return ArgMaxIndicator(body._subs(old, new), fresh._subs(old, new), self.value._subs(old, new))


class Delta(IndexNode):
    """Kronecker delta: 1 where two index expressions agree, else 0."""

    __slots__ = ()
    is_nonnegative = True
    is_integer = True

    def __new__(cls, left: Any, right: Any) -> sp.Expr:
        left, right = sp.sympify(left), sp.sympify(right)
        difference = left - right
        if difference.is_Number:
            return sp.S.One if difference == 0 else sp.S.Zero
        if right.sort_key() < left.sort_key():
            left, right = right, left
        return sp.Expr.__new__(cls, left, right)


class Indicator(IndexNode):
    """1 where a relation holds, else 0; the relation is SymPy's own (`Ge`, `Gt`, `Eq`, `And`, ...)."""

    __slots__ = ()
    is_nonnegative = True
    is_integer = True

    def __new__(cls, condition: Any) -> sp.Expr:
        condition = sp.sympify(condition)
        if condition is sp.true:
            return sp.S.One
        if condition is sp.false:
            return sp.S.Zero
        return sp.Expr.__new__(cls, condition)

    @property
    def condition(self) -> Any:
        return self.args[0]


class PartialDerivative(IndexNode):
    """The derivative of an expression by an element, not yet carried out; args are (expression, element)."""

    __slots__ = ()
    is_real = True
    precedence = 40  # as a sum's: "∂f/∂x**2" would read as a derivative by x**2

    def __new__(cls, expression: Any, variable: sp.Expr) -> PartialDerivative:
        return sp.Expr.__new__(cls, sp.sympify(expression), variable)

    @property
    def expression(self) -> sp.Expr:
        return self.args[0]

    @property
    def variable(self) -> sp.Expr:
        return self.args[1]


def level(expression: sp.Basic) -> int:
    """The highest level that a binder inside the expression uses; 0 without binders. Definitions are not looked
    into.
    """
    best = 0
    stack = [expression]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, Binder):
            best = max(best, node.bound.level)
            if isinstance(node, ArgMaxIndicator):
                stack.append(node.value)
            continue  # levels inside are lower by construction
        if node.args and id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.args)
    return best


def replace(expression: sp.Basic, mapping: Mapping[sp.Basic, sp.Basic]) -> Any:
    """Replace free occurrences, all at once; an index bound by a node inside is left alone there.

    Shared subtrees are rewritten once. Definitions behind a `DefinedTensor` are closed and are not entered.
    """
    if not mapping:
        return expression
    return _replace(expression, dict(mapping), {})


def _replace(node: Any, mapping: dict[sp.Basic, sp.Basic], memo: dict[Any, Any]) -> Any:
    hit = mapping.get(node)
    if hit is not None:
        return hit
    if not node.args:
        return node
    done = memo.get(id(node))
    if done is not None:
        return done[1]
    if isinstance(node, Binder) and node.bound in mapping:
        inner = {old: new for old, new in mapping.items() if old != node.bound}
        args = [_replace(a, inner, {}) if n == 0 else _replace(a, mapping, memo) if n > 1 else a
                for n, a in enumerate(node.args)]
    else:
        args = [a if isinstance(a, Index) and isinstance(node, Binder) and n == 1 else _replace(a, mapping, memo)
                for n, a in enumerate(node.args)]
    result = node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)
    memo[id(node)] = (node, result)
    return result


def free_indices(expression: sp.Basic) -> tuple[Index, ...]:
    """The free indices of an expression, in order of first appearance (a walk from left to right, binders
    respected).
    """
    found: dict[Index, None] = {}

    def visit(node: Any, bound: frozenset[Index]) -> None:
        if isinstance(node, Index):
            if node not in bound:
                found.setdefault(node)
        elif isinstance(node, Binder):
            visit(node.args[0], bound | {node.bound})
            for extra in node.args[2:]:
                visit(extra, bound)
        else:
            for child in node.args:
                visit(child, bound)

    visit(expression, frozenset())
    return tuple(found)


def tensors(expressions: Iterable[sp.Basic], through_definitions: bool = True) -> tuple[Tensor, ...]:
    """The tensors that occur, definitions after what they are defined by, each once."""
    found: dict[Tensor, None] = {}

    def visit(node: Any) -> None:
        if isinstance(node, Tensor):
            if node in found:
                return
            if isinstance(node, DefinedTensor):
                if through_definitions:
                    visit(node.body)
            elif hasattr(node, "body"):  # a function of a whole matrix: no array of its own
                visit(node.body)
                return
            found.setdefault(node)
        else:
            for child in node.args:
                visit(child)

    for expression in expressions:
        visit(expression)
    return tuple(found)


def unfold(expression: sp.Expr, only: Iterable[DefinedTensor] | None = None) -> sp.Expr:
    """Replace defined tensors by their definitions, all of them or only the ones named, to the bottom."""
    chosen = None if only is None else set(only)

    def visit(node: Any) -> Any:
        tensor = node.tensor if isinstance(node, Element) else node
        if isinstance(tensor, DefinedTensor) and (chosen is None or tensor in chosen):
            indices = node.indices if isinstance(node, Element) else ()
            return visit(tensor.at(*indices))
        if not node.args:
            return node
        if isinstance(node, Binder):  # opened, because an unfolded definition may bind the same level
            fresh, body = node.opened()
            return type(node)(visit(body), fresh, *(visit(a) for a in node.args[2:]))
        args = [visit(a) for a in node.args]
        return node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)

    return visit(sp.sympify(expression))
