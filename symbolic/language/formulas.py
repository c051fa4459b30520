"""Formula strings: the array vocabulary read from text, with Python's grammar and none of its power.

The text is parsed with `ast` and walked by a closed list of node kinds: declared names, numbers, arithmetic, the
functions of `vocabulary`, subscripts and ``.T``. Nothing is evaluated or imported, and `limits` bounds what reading may
cost. Every error is a `FormulaError` (or the error of the array operation) with a caret under the place.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from .arrays import Array, as_array, shape_text
from .declarations import read_arrays, read_domains, read_shapes
from .errors import FormulaError, LemmataError
from .hypotheses import Hypothesis, Relation, _hypothesis
from .limits import MAX_DEPTH, MAX_NODES, Meter, check_text, place
from .sizes import Size
from .vocabulary import function_table, lookup

__all__ = ["read_arrays", "read_domains", "read_equation", "read_formula", "read_hypothesis", "read_shapes"]

_CONSTANTS: dict[str, sp.Expr] = {"pi": sp.pi, "e": sp.E}
_DECIMAL = re.compile(r"(\d[\d_]*)?\.?(\d[\d_]*)?(?:[eE]([+-]?\d{1,3}))?")
_PATTERN = re.compile(r"[A-Za-z, >-]+")
_RELATION = re.compile(r"==|!=|>=|<=|=|>|<")
_BINARY: dict[type[ast.operator], Callable[[Array, Array], Array]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
    ast.MatMult: lambda a, b: a @ b,
}
# Functions that apply e^x to what they are given.
_EXPONENTIALS = frozenset({"exp", "expm1", "softmax", "log_softmax", "logsumexp", "sinh", "cosh", "tanh"})
# What is refused, in words, and what to write instead.
_REFUSED: dict[type[ast.AST], str] = {
    ast.Compare: "a comparison; write greater(a, b), where(c, a, b), or a == b at the top of an equation",
    ast.BoolOp: "and/or; multiply conditions instead",
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment",
    ast.IfExp: "if/else; write where(condition, a, b)",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.JoinedStr: "an f-string",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.List: "a list",
    ast.Tuple: "a tuple",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.Starred: "*arguments",
    ast.Slice: "a slice",
}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.BitXor: "^; write ** for a power",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&; multiply conditions",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


def read_formula(text: str, names: Mapping[str, Array]) -> Array:
    """Read one formula over declared arrays.

    Sizes that stand in the shapes of `names` may be used as numbers; decimals are read exactly; ``pi`` and ``e`` are
    the constants unless declared. Raises `FormulaError`, or the error of the operation (`ShapeError`, ...), with the
    place.

    >>> names = read_arrays("z=K y=K")
    >>> read_formula("sum(y*z)/K + 0.1", names).shape
    ()
    """
    return _Reader(check_text(text), names).read()


def read_equation(text: str, names: Mapping[str, Array]) -> tuple[Array, Array]:
    """Read both sides of ``a == b`` (or ``a = b``).

    >>> left, right = read_equation("softmax(z + c) == softmax(z)", read_arrays("z=K c="))
    >>> left.shape, right.shape
    ((K,), (K,))
    """
    line = check_text(text)
    relation, left, right = _sides(line, names, "an equation has two sides; write a == b")
    if relation not in ("==", "="):
        raise FormulaError(f"{relation!r} does not make an equation; write a == b\n{place(line, line.find(relation))}")
    return left, right


def read_hypothesis(text: str, names: Mapping[str, Array]) -> Hypothesis:
    """Read a hypothesis: two sides and one of ``= == != > >= < <=``.

    >>> read_hypothesis("sum(y, axis=1) = 1", read_arrays("y=N,K")).relation
    '=='
    """
    line = check_text(text)
    missing = "a hypothesis relates two sides; write e.g. sum(y) = 1, eps > 0 or x != 0"
    relation, left, right = _sides(line, names, missing)
    if relation in ("<", "<="):
        relation, left, right = relation.replace("<", ">"), right, left
    kinds: dict[str, Relation] = {"=": "==", "==": "==", "!=": "!=", ">": ">", ">=": ">="}
    return _hypothesis(kinds[relation], left, right)


def _sides(line: str, names: Mapping[str, Array], missing: str) -> tuple[str, Array, Array]:
    depth, at, found = 0, 0, []
    while at < len(line):
        depth += (line[at] in "([{") - (line[at] in ")]}")
        match = _RELATION.match(line, at) if depth == 0 else None
        if match:
            found.append(match)
        at = match.end() if match else at + 1
    if not found:
        raise FormulaError(f"{missing}\n{place(line, len(line))}")
    if len(found) > 1:
        raise FormulaError(f"one relation is read, here is a second, {found[1][0]!r}\n{place(line, found[1].start())}")
    relation = found[0]
    left = _Reader(line, names, 0, relation.start()).read()
    right = _Reader(line, names, relation.end(), len(line)).read()
    return relation[0], left, right


class _Reader:
    """Reads `line[start:stop]`; places in errors are places in the whole line."""

    def __init__(self, line: str, names: Mapping[str, Array], start: int = 0, stop: int | None = None) -> None:
        self.line, self.names, self.meter = line, names, Meter()
        part = line[start:stop]
        self.start = start + len(part) - len(part.lstrip())
        self.text = part.strip()
        self.bytes = self.text.encode()  # ast counts columns in bytes
        self.sizes = {s.name: s for a in names.values() for n in a.shape for s in n.free_symbols if isinstance(s, Size)}

    def read(self) -> Array:
        if not self.text:
            raise FormulaError(f"a side is empty\n{place(self.line, self.start)}")
        try:
            tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise FormulaError(
                f"cannot read the formula: {error.msg}\n{place(self.line, self.start + (error.offset or 1) - 1)}"
            ) from None
        except (RecursionError, MemoryError, ValueError):
            raise FormulaError(f"the formula is nested too deeply\n{place(self.line, self.start)}") from None
        for count, _ in enumerate(ast.walk(tree), 1):
            if count > MAX_NODES:
                raise FormulaError(f"the formula has more than {MAX_NODES} parts; name intermediates in Python instead")
        return self.value(tree, 0)

    # ------------------------------------------------------------------ errors
    def fail(self, node: ast.AST, message: str) -> FormulaError:
        return FormulaError(f"{message}\n{place(self.line, self.place_of(node))}")

    def place_of(self, node: ast.AST) -> int:
        return self.start + len(self.bytes[: getattr(node, "col_offset", 0)].decode())

    def end_of(self, node: ast.expr) -> int:
        after = self.start + len(self.bytes[: node.end_col_offset].decode())
        return after + len(self.line[after:]) - len(self.line[after:].lstrip(" )"))

    def guarded(self, node: ast.AST, work: Callable[[], Any]) -> Array:
        """Do one operation; its error is given the place, its result is measured."""
        try:
            result = as_array(work())
            self.meter.check(result.body)
        except LemmataError as error:
            raise type(error)(f"{error}\n{place(self.line, self.place_of(node))}") from None
        except (ZeroDivisionError, TypeError, ValueError, OverflowError) as error:
            raise self.fail(node, f"this cannot be computed: {error}") from None
        return result

    # ------------------------------------------------------------------ values
    def value(self, node: ast.expr, depth: int) -> Array:
        if depth > MAX_DEPTH:
            raise self.fail(node, f"the formula is nested more than {MAX_DEPTH} deep")
        match node:
            case ast.Constant(value=v):
                return as_array(self.number(node, v))
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
                inner = self.value(operand, depth + 1)
                return -inner if isinstance(node.op, ast.USub) else inner
            case ast.BinOp():
                return self.chain(node, depth)
            case ast.Call():
                return self.call(node, depth)
            case ast.Attribute(value=inner, attr="T"):
                return self.value(inner, depth + 1).T
            case ast.Attribute(attr=name):
                raise self.fail(node, f"the attribute .{name} is not read, only .T; write e.g. sum(x, axis=0)")
            case ast.Subscript(value=inner, slice=key):
                return self.subscript(node, self.value(inner, depth + 1), key)
        if isinstance(node, ast.UnaryOp):
            raise self.fail(node, "only + and - may stand before a value")
        what, _, instead = _REFUSED.get(type(node), type(node).__name__).partition("; ")
        raise self.fail(node, f"{what} is not read in a formula" + (f"; {instead}" if instead else ""))

    def chain(self, node: ast.BinOp, depth: int) -> Array:
        # a + b + c + ... leans to the left: the spine is a loop, so that a long sum is not deep.
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        result = self.value(spine[-1].left, depth + 1)
        for step in reversed(spine):
            operation = _BINARY.get(type(step.op))
            if operation is None:
                what, _, instead = _OPERATORS.get(type(step.op), "").partition("; ")
                raise FormulaError(
                    f"the operator {what} is not read"
                    + (f"; {instead}" if instead else "")
                    + f"\n{place(self.line, self.end_of(step.left))}"
                )
            result = self.binary(step, operation, result, self.value(step.right, depth + 1))
        return result

    def binary(self, step: ast.BinOp, operation: Callable[[Array, Array], Array], left: Array, right: Array) -> Array:
        def work() -> Array:
            if isinstance(step.op, ast.Pow):
                self.meter.check_power(left.body, right.body)
            return operation(left, right)

        return self.guarded(step.right, work)

    def number(self, node: ast.expr, value: Any) -> sp.Expr:
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = {str: "a string", bytes: "a string", complex: "an imaginary number"}.get(type(value), repr(value))
            raise self.fail(node, f"{kind} is not read in a formula")
        if isinstance(value, int):
            if value.bit_length() > 4000:
                raise self.fail(node, "this number is too long")
            return sp.Integer(value)
        # From the text, not from the float: 0.1 is one tenth.
        text = self.bytes[node.col_offset : node.end_col_offset].decode()
        match = _DECIMAL.fullmatch(text)
        if not match or len(text) > 1000:
            raise self.fail(node, f"the number {text[:30]} is out of range")
        whole, fraction, power = ((g or "").replace("_", "") for g in match.groups())
        return sp.Rational(int(whole + fraction)) * sp.Integer(10) ** (int(power or 0) - len(fraction))

    def name(self, node: ast.expr, name: str) -> Array:
        if name in self.names:
            return self.names[name]
        if name in self.sizes:
            return as_array(self.sizes[name])
        if name in _CONSTANTS:
            return as_array(_CONSTANTS[name])
        if name in ("inf", "nan", "oo"):
            raise self.fail(node, f"{name} is not a number; every part of a formula must be a real number")
        if name in function_table():
            raise self.fail(node, f"{name} is a function; write {name}(...)")
        near = difflib.get_close_matches(name, [*self.names, *self.sizes], n=3, cutoff=0.5)
        declared = ", ".join(f"{n} {shape_text(a.shape)}" if a.ndim else f"{n} (scalar)" for n, a in self.names.items())
        raise self.fail(
            node,
            f"unknown name {name!r}"
            + (f"; did you mean {' or '.join(near)}?" if near else ".")
            + f" Declared: {declared or 'nothing; give shapes, e.g. z=K'}",
        )

    # ------------------------------------------------------------------ calls
    def call(self, node: ast.Call, depth: int) -> Array:
        if not isinstance(node.func, ast.Name):
            raise self.fail(node.func, "only functions of the vocabulary are called, by their plain name, e.g. sum(x)")
        name = node.func.id
        if name in self.names:
            raise self.fail(node, f"{name} is an array, not a function; write {name}[...] or {name} * (...)")
        try:
            function = lookup(name)
        except FormulaError as error:
            raise self.fail(node, str(error)) from None
        parameters = list(inspect.signature(function).parameters.values())
        positional: list[Any] = []
        for n, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                raise self.fail(argument, "*arguments are not read in a formula")
            variadic = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
            if n >= len(parameters) and not variadic:
                raise self.fail(argument, f"{name} takes at most {len(parameters)} arguments")
            parameter = parameters[min(n, len(parameters) - 1)].name
            positional.append(self.argument(name, parameter, argument, depth))
        keywords: dict[str, Any] = {}
        known = [p.name for p in parameters if p.name in ("axis", "keepdims", "ddof", "axes")]
        for keyword in node.keywords:
            if keyword.arg not in known:
                takes = ", ".join(known) or "no keywords"
                raise self.fail(keyword.value, f"{name} has no argument {keyword.arg or '**'}; it takes {takes}")
            keywords[keyword.arg] = self.argument(name, keyword.arg, keyword.value, depth)

        def work() -> Any:
            if name in _EXPONENTIALS and positional:
                self.meter.check_exp(positional[0].body)
            try:
                inspect.signature(function).bind(*positional, **keywords)
            except TypeError as error:
                raise FormulaError(f"{name}: {error}") from None
            return function(*positional, **keywords)

        return self.guarded(node, work)

    def argument(self, function: str, parameter: str, node: ast.expr, depth: int) -> Any:
        """One argument, read by what its parameter means: an axis, a flag, a size, a pattern, or an array."""
        if parameter in ("axis", "axes"):
            if isinstance(node, ast.Tuple):
                return tuple(self.integer(item, parameter) for item in node.elts)
            return None if isinstance(node, ast.Constant) and node.value is None else self.integer(node, parameter)
        if parameter == "ddof":
            return self.integer(node, parameter)
        if parameter == "keepdims":
            if isinstance(node, ast.Constant) and isinstance(node.value, bool):
                return node.value
            raise self.fail(node, "keepdims is True or False")
        if parameter == "pattern":
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _PATTERN.fullmatch(node.value):
                return node.value
            raise self.fail(node, f'the first argument of {function} is a pattern such as "ij,jk->ik"')
        if parameter in ("shape", "n", "classes"):
            items = node.elts if isinstance(node, ast.Tuple) and parameter == "shape" else [node]
            sizes = [self.scalar(item, depth) for item in items]
            return sizes if isinstance(node, ast.Tuple) else sizes[0]
        if parameter == "name":
            raise self.fail(node, f"{function} takes no further argument here")
        return self.scalar(node, depth) if function == "full" else self.value(node, depth + 1)

    def scalar(self, node: ast.expr, depth: int) -> sp.Expr:
        value = self.value(node, depth + 1)
        if value.ndim:
            raise self.fail(node, f"a number or a size is expected here, got shape {shape_text(value.shape)}")
        return value.body

    def integer(self, node: ast.expr, what: str) -> int:
        value = _integer(node)
        if value is None or abs(value) > MAX_DEPTH:
            raise self.fail(node, f"{what} is a small integer")
        return value

    def subscript(self, node: ast.Subscript, value: Array, key: ast.expr) -> Array:
        items = key.elts if isinstance(key, ast.Tuple) else [key]
        keys = [self.key(item) for item in items]
        if any(isinstance(k, int) for k in keys) and self.meter.measure(value.body).hot:
            raise self.fail(node, "an element of an array with an index in an exponent is not read; write its value")
        return self.guarded(node, lambda: value[tuple(keys)])

    def key(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=None, upper=None, step=None):
                return slice(None)
            case ast.Constant(value=v) if v is None or v is ...:
                return v
        value = _integer(node)
        if value is None or abs(value) >= 10**6:
            raise self.fail(node, "a subscript is a number, ':', None or '...'; slices with bounds are not read")
        return value


def _integer(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as v) if not isinstance(v, bool):
            return v
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as v)) if not isinstance(v, bool):
            return -v
    return None
