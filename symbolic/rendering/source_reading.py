"""Reading a Python function before it is shown: what would not be shown faithfully is refused by name and line.

The list is of what is allowed, so a construct that nobody thought of is refused too. `source` renders what passes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..language.errors import UnsupportedError
from .names import verbatim, written

FUNCTIONS = {
    "exp": r"\exp",
    "log": r"\log",
    "log2": r"\log_{2}",
    "log10": r"\log_{10}",
    "sin": r"\sin",
    "cos": r"\cos",
    "tan": r"\tan",
    "sinh": r"\sinh",
    "cosh": r"\cosh",
    "tanh": r"\tanh",
    "arctan": r"\arctan",
    "arcsin": r"\arcsin",
    "arccos": r"\arccos",
    "atan": r"\arctan",
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "erf": r"\operatorname{erf}",
}
WRAPPED = {
    "sqrt": (r"\sqrt{", "}"),
    "abs": (r"\left|", r"\right|"),
    "fabs": (r"\left|", r"\right|"),
    "floor": (r"\left\lfloor ", r"\right\rfloor"),
    "ceil": (r"\left\lceil ", r"\right\rceil"),
}
SUMS = {"sum": r"\sum", "fsum": r"\sum", "prod": r"\prod"}
# Functions along an axis, which stands below the name; also as methods, x.sum(axis=0).
ALONG = frozenset({"sum", "prod", "mean", "max", "min", "amax", "amin", "var", "std", "argmax", "argmin", "all", "any",
                   "cumsum", "squeeze", "expand_dims"})
EXTREMA = {"maximum": r"\max", "minimum": r"\min"}
CONSTANTS = {"pi": r"\pi", "e": r"\mathrm{e}", "inf": r"\infty"}
_MODULES = ("math", "np", "numpy")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)
_NUMBERS = frozenset({"len", "int", "float", "bool"})


class SourceError(UnsupportedError):
    """A function whose source cannot be shown faithfully; the message has its name, the line and the construct."""


class Reading:
    """Refuses what would be shown wrong, and finds out which names are scalars."""

    def __init__(self, tree: ast.FunctionDef, place: Callable[[ast.AST], str]) -> None:
        self.tree, self.place = tree, place
        self.scalars: set[str] = set()
        self.names: set[str] = set()
        self.own: set[str] = set()  # parameters and what is assigned
        self.again: set[ast.Assign] = set()  # assignments to a name that has a value already
        nodes = list(ast.walk(tree))
        self.arrays = any(isinstance(n, ast.MatMult) for n in nodes) or any(
            isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("np", "numpy")
            for n in nodes
        ) or any(isinstance(n, ast.arg) and n.annotation is not None and "array" in ast.unparse(n.annotation).lower()
                 for n in nodes)

    def refuse(self, node: ast.AST, construct: str, instead: str = "") -> None:
        """Raise, naming the function, the line and the construct."""
        raise SourceError(
            f"{self.tree.name}: {self.place(node)}: {construct} is not shown faithfully"
            + (f"; {instead}" if instead else "")
        )

    # ------------------------------------------------------------------ statements
    def check(self) -> None:
        """The signature, then every statement."""
        tree, a = self.tree, self.tree.args
        if tree.decorator_list:
            self.refuse(tree.decorator_list[0], "a decorator")
        for default in (*a.defaults, *(d for d in a.kw_defaults if d is not None)):
            self.expression(default)
        parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs]
        self.scalars = {
            p.arg for p in parameters if isinstance(p.annotation, ast.Name) and p.annotation.id in ("float", "int")
        }
        assigned = {p.arg for p in (*parameters, a.vararg, a.kwarg) if p is not None}
        self._names_are_told_apart(assigned)
        for n, statement in enumerate(tree.body):
            last = n == len(tree.body) - 1
            if isinstance(statement, ast.Assign) and not last:
                self._assignment(statement, assigned)
            elif isinstance(statement, ast.Return) and last and statement.value is not None:
                self._returned(statement.value)
            elif isinstance(statement, ast.If) and last:
                self.branch(statement)
            elif returns_early(statement):
                self.expression(statement.test)  # type: ignore[attr-defined]
                self.expression(statement.body[0].value)  # type: ignore[attr-defined]
            else:
                self.refuse(statement, f"the statement {_construct(statement)}")

    def _names_are_told_apart(self, parameters: set[str]) -> None:
        spelled: dict[str, str] = {}
        self.own = parameters | {n.id for n in ast.walk(self.tree)
                                 if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.names = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)} | parameters
        for name in sorted(self.names):
            other = spelled.setdefault(written(name).latex, name)
            if other != name:
                self.refuse(self.tree,
                            f"the pair of names {other!r} and {name!r}, which would be written the same,", "rename one")

    def _assignment(self, statement: ast.Assign, assigned: set[str]) -> None:
        target = statement.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        if len(statement.targets) != 1 or not all(isinstance(n, ast.Name) for n in names):
            self.refuse(statement, "an assignment to several targets or to an element")
        self.expression(statement.value)
        own = {n.id for n in names if isinstance(n, ast.Name)}
        if own & assigned:
            self.again.add(statement)
            self.scalars -= own
        assigned |= own

    def _returned(self, value: ast.expr) -> None:
        for part in [part for _, part in several(value)] or [value]:
            self.expression(part)

    def branch(self, statement: ast.If) -> None:
        """A final `if` whose branches return."""
        self.expression(statement.test)
        for body in (statement.body, statement.orelse):
            if len(body) != 1:
                self.refuse(statement, "an if whose branches are not one return each")
            elif isinstance(body[0], ast.If):
                self.branch(body[0])
            elif isinstance(body[0], ast.Return) and body[0].value is not None:
                self.expression(body[0].value)
            else:
                self.refuse(body[0], f"the statement {_construct(body[0])} in an if")

    def called_name(self, name: str) -> str:
        """A function's name as one word, softmax_vjp; _softmax loses its mark unless softmax is something else here."""
        bare = name.strip("_") or name
        shown = name if bare != name and (bare in self.names or name in self.own) else bare
        return (verbatim(shown) if "_" in shown else written(shown)).latex

    # ------------------------------------------------------------------ expressions
    def expression(self, e: ast.expr) -> None:
        """One expression, to the bottom."""
        match e:
            case ast.Name():
                return
            case ast.Constant(value=value):
                if isinstance(value, bytes) or (isinstance(value, (float, complex)) and value - value != 0):
                    self.refuse(e, f"the constant {value!r}")
            case ast.BinOp(left=left, op=op, right=right):
                if not isinstance(op, _OPERATORS):
                    self.refuse(e, f"the operator {type(op).__name__}")
                self.expression(left)
                self.expression(right)
            case ast.UnaryOp(operand=operand):
                self.expression(operand)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                for part in (test, body, orelse):
                    self.expression(part)
            case ast.Compare(left=left, comparators=others):
                for part in (left, *others):
                    self.expression(part)
            case ast.BoolOp(values=values):
                for part in values:
                    self.expression(part)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.expression(part)
            case ast.Subscript():
                self.subscript(e)
            case ast.Call():
                self.call(e)
            case ast.Attribute(value=ast.Name(id=module)) if module in _MODULES:
                return
            case ast.Attribute(value=value) | ast.Starred(value=value):
                self.expression(value)
            case ast.ListComp(elt=elt, generators=generators):
                for part in (elt, *(x for g in generators for x in (g.iter, *g.ifs))):
                    self.expression(part)
            case _:
                self.refuse(e, _construct(e))

    def subscript(self, e: ast.Subscript) -> None:
        """W[i, j], W[i][j], and with brackets what has slices or counts from the end."""
        base, indices = indices_of(e)
        self.expression(base)
        for i in indices:
            for part in (i.lower, i.upper, i.step) if isinstance(i, ast.Slice) else (i,):
                if part is not None:
                    self.expression(part)

    def call(self, e: ast.Call) -> None:
        """A function by name or a method, with all of its arguments; a sum over range(...)."""
        name, _ = called(e)
        if name is None and not isinstance(e.func, ast.Attribute):
            self.refuse(e, "a call of a computed function", "call a function by name")
        if is_sum(e):
            self.summation(e, str(name))
            return
        if name is None and isinstance(e.func, ast.Attribute):
            self.expression(e.func.value)
        for x in (*e.args, *(k.value for k in e.keywords)):
            self.expression(x)

    def summation(self, e: ast.Call, name: str) -> None:
        """sum(... for i in range(n))"""
        generator = e.args[0]
        assert isinstance(generator, ast.GeneratorExp)
        for g in generator.generators:
            plain = (
                isinstance(g.target, ast.Name)
                and isinstance(g.iter, ast.Call)
                and called(g.iter) == ("range", "")
                and len(g.iter.args) in (1, 2)
                and not g.iter.keywords
                and not g.ifs
            )
            if not plain or not isinstance(g.iter, ast.Call) or not isinstance(g.target, ast.Name):
                self.refuse(e, f"{name} over anything but range(n) or range(a, b), without a condition")
                return
            for bound in g.iter.args:
                self.expression(bound)
            self.scalars.add(g.target.id)
        self.expression(generator.elt)

    def is_scalar(self, e: ast.expr) -> bool:
        """Whether an operand is known to be a number, so that a product with it needs no ⊙."""
        match e:
            case ast.Constant():
                return True
            case ast.Subscript():
                return not in_brackets(e)
            case ast.Name(id=name):
                return not self.arrays or name in self.scalars
            case ast.Attribute(value=ast.Name(id=module)) if module in _MODULES:
                return True
            case ast.UnaryOp(operand=operand):
                return self.is_scalar(operand)
            case ast.BinOp(op=ast.MatMult()):
                return False
            case ast.BinOp(left=left, right=right):
                return self.is_scalar(left) and self.is_scalar(right)
            case ast.Call(args=args):
                function, module = called(e)
                return (
                    not self.arrays
                    or module == "math"
                    or is_sum(e)
                    or (function in _NUMBERS and not module)
                    or ((function in FUNCTIONS or function in WRAPPED) and all(map(self.is_scalar, args)))
                )
        return not self.arrays


# ---------------------------------------------------------------------- questions about the tree
def returns_early(s: ast.stmt) -> bool:
    """Whether a statement is ``if c: return value``."""
    return (isinstance(s, ast.If) and not s.orelse and len(s.body) == 1 and isinstance(s.body[0], ast.Return)
            and s.body[0].value is not None)


def _construct(node: ast.AST) -> str:
    names = {
        "For": "for",
        "While": "while",
        "AugAssign": "+= (or a relative)",
        "AnnAssign": "a typed assignment",
        "Lambda": "a lambda",
        "NamedExpr": "the walrus :=",
        "DictComp": "a comprehension",
        "SetComp": "a comprehension",
        "Dict": "a dictionary inside of an expression",
        "With": "with",
        "Try": "try",
        "If": "if that does not end the function",
        "Raise": "raise",
        "Expr": "a call whose value is not used",
        "GeneratorExp": "a generator",
        "JoinedStr": "an f-string",
    }
    return names.get(type(node).__name__, type(node).__name__)


def called(e: ast.Call) -> tuple[str | None, str]:
    """The name of a called function and its module; None for methods and computed functions."""
    match e.func:
        case ast.Name(id=name):
            return name, ""
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
            return name, module
    return None, ""


def is_sum(e: ast.Call) -> bool:
    """Whether a call is sum(... for ...)."""
    name, module = called(e)
    return name in SUMS and module in ("", "math") and len(e.args) == 1 and not e.keywords and isinstance(
        e.args[0], ast.GeneratorExp)


def several(value: ast.expr) -> list[tuple[str, ast.expr]]:
    """The named parts of what a function returns: of a dictionary, or of a class that is called with keywords. A part
    without a name is a dictionary that is taken in.
    """
    match value:
        case ast.Dict(keys=keys, values=values) if all(
            k is None or (isinstance(k, ast.Constant) and isinstance(k.value, str)) for k in keys):
            return [(str(k.value) if isinstance(k, ast.Constant) else "", v)
                    for k, v in zip(keys, values, strict=True)]
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords) if name.lstrip("_")[:1].isupper():
            return [(k.arg or "", k.value) for k in keywords]
    return []


def indices_of(e: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """The name and all indices of W[i, j] or W[i][j]."""
    if not isinstance(e, ast.Subscript):
        return e, []
    base, before = indices_of(e.value)
    return base, [*before, *(e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice])]


def in_brackets(e: ast.Subscript) -> bool:
    """Whether an index is NumPy's rather than a place: a slice, a count from the end, a new axis, a text."""
    base, indices = indices_of(e)
    return not isinstance(base, ast.Name) or any(
        isinstance(i, (ast.Slice, ast.UnaryOp, ast.Attribute))
        or (isinstance(i, ast.Constant) and not isinstance(i.value, int)) for i in indices)
