"""Reading a Python function before it is shown: what would not be shown faithfully is refused by name and line.

The list is of what is allowed, so a construct that nobody thought of is refused too. `source` renders what passes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..language.errors import UnsupportedError
from .names import written

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
_MODULES = ("math", "np", "numpy")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class SourceError(UnsupportedError):
    """A function whose source cannot be shown faithfully; the message has its name, the line and the construct."""


class Reading:
    """Refuses what would be shown wrong, and finds out which names are scalars."""

    def __init__(self, tree: ast.FunctionDef, place: Callable[[ast.AST], str]) -> None:
        self.tree, self.place = tree, place
        self.scalars: set[str] = set()
        nodes = list(ast.walk(tree))
        self.arrays = any(isinstance(n, ast.MatMult) for n in nodes) or any(
            isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("np", "numpy")
            for n in nodes
        )

    def refuse(self, node: ast.AST, construct: str, instead: str = "") -> None:
        """Raise, naming the function, the line and the construct."""
        raise SourceError(
            f"{self.tree.name}: {self.place(node)}: {construct} is not shown faithfully"
            + (f"; {instead}" if instead else "")
        )

    def check(self) -> None:
        """The signature, then every statement."""
        tree, a = self.tree, self.tree.args
        if tree.decorator_list:
            self.refuse(tree.decorator_list[0], "a decorator")
        if a.kwonlyargs or a.vararg or a.kwarg or a.posonlyargs:
            self.refuse(tree, "a keyword-only, starred or positional-only parameter", "use plain parameters")
        if a.defaults:
            self.refuse(a.defaults[0], "a default value of a parameter", "leave the default out")
        self.scalars = {
            p.arg for p in a.args if isinstance(p.annotation, ast.Name) and p.annotation.id in ("float", "int")
        }
        assigned = {p.arg for p in a.args}
        spelled: dict[str, str] = {}
        for name in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | assigned):
            other = spelled.setdefault(written(name).latex, name)
            if other != name:
                self.refuse(
                    tree, f"the pair of names {other!r} and {name!r}, which would be written the same,", "rename one"
                )
        body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        tree.body = body
        for n, statement in enumerate(body):
            last = n == len(body) - 1
            if isinstance(statement, ast.Assign) and not last:
                target = statement.targets[0]
                if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                    self.refuse(statement, "an assignment to several names or to an element")
                elif target.id in assigned:
                    self.refuse(
                        statement,
                        f"the second assignment to {target.id!r} (it would read as an equation)",
                        "use a new name",
                    )
                else:
                    assigned.add(target.id)
                    self.expression(statement.value)
            elif isinstance(statement, ast.Return) and last and statement.value is not None:
                self.expression(statement.value)
            elif isinstance(statement, ast.If) and last:
                self.branch(statement)
            else:
                self.refuse(statement, f"the statement {_construct(statement)}")

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

    def expression(self, e: ast.expr) -> None:
        """One expression, to the bottom."""
        match e:
            case ast.Name():
                return
            case ast.Constant(value=value):
                if isinstance(value, bool) or not isinstance(value, (int, float)) or value - value != 0:
                    self.refuse(e, f"the constant {value!r}")
            case ast.BinOp(left=left, op=op, right=right):
                if not isinstance(op, _OPERATORS):
                    self.refuse(e, f"the operator {type(op).__name__}")
                self.expression(left)
                self.expression(right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self.expression(operand)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                for part in (test, body, orelse):
                    self.expression(part)
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not all(isinstance(op, _COMPARISONS) for op in ops):
                    self.refuse(e, "a comparison with `is` or `in`")
                for part in (left, *others):
                    self.expression(part)
            case ast.BoolOp(values=values):
                for part in values:
                    self.expression(part)
            case ast.Subscript():
                self.subscript(e)
            case ast.Call():
                self.call(e)
            case ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"), attr="pi"):
                return
            case ast.Attribute(attr=attr):
                self.refuse(
                    e, f"the attribute .{attr}", "write a transpose as an argument of its own, or show the expression"
                )
            case _:
                self.refuse(e, _construct(e))

    def subscript(self, e: ast.Subscript) -> None:
        """W[i, j] and W[i][j]; no slices, no negative numbers."""
        base, indices = indices_of(e)
        if not isinstance(base, ast.Name):
            self.refuse(e, "an element of something that is not a name")
        for i in indices:
            if isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and (i.value is None or i.value is Ellipsis)):
                self.refuse(e, "a slice")
            if isinstance(i, ast.UnaryOp):
                self.refuse(e, "a negative index (it counts from the end)")
            self.expression(i)

    def call(self, e: ast.Call) -> None:
        """A function of the list with plain arguments, a sum over range(...), or a function of the user by name."""
        name, module = called(e)
        if e.keywords:
            self.refuse(
                e,
                f"the keyword argument {e.keywords[0].arg}= of {name or 'a call'}",
                "show the expression with latex()",
            )
        if any(isinstance(x, ast.Starred) for x in e.args):
            self.refuse(e, f"a starred argument of {name}")
        if name is None:
            what = (
                f"the method call .{e.func.attr}()"
                if isinstance(e.func, ast.Attribute)
                else "a call of a computed function"
            )
            self.refuse(e, what, "call a function by name, with its operand as the argument")
            return
        if name in SUMS and module in ("", "math"):
            self.summation(e, name)
            return
        known = name in FUNCTIONS or name in WRAPPED
        if module and not known:
            self.refuse(e, f"{module}.{name}", "show the expression with latex()")
        if known and len(e.args) != 1:
            self.refuse(e, f"{name} with {len(e.args)} arguments")
        for x in e.args:
            self.expression(x)

    def summation(self, e: ast.Call, name: str) -> None:
        """sum(... for i in range(n))"""
        match e.args:
            case [ast.GeneratorExp(elt=elt, generators=generators)]:
                for g in generators:
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
                self.expression(elt)
            case _:
                self.refuse(
                    e,
                    f"{name} without an index (which axis it sums is not shown)",
                    f"write {name}(... for i in range(n))",
                )

    def is_scalar(self, e: ast.expr) -> bool:
        """Whether an operand is known to be a number, so that a product with it needs no ⊙."""
        match e:
            case ast.Constant() | ast.Subscript():
                return True
            case ast.Name(id=name):
                return not self.arrays or name in self.scalars
            case ast.Attribute():
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
                    or function in SUMS
                    or (bool(args) and all(map(self.is_scalar, args)))
                )
        return not self.arrays


def _construct(node: ast.AST) -> str:
    names = {
        "For": "for",
        "While": "while",
        "AugAssign": "+= (or a relative)",
        "AnnAssign": "a typed assignment",
        "Lambda": "a lambda",
        "NamedExpr": "the walrus :=",
        "Assert": "assert",
        "ListComp": "a list comprehension",
        "With": "with",
        "Try": "try",
        "If": "if that does not end the function",
        "Raise": "raise",
        "GeneratorExp": "a generator",
        "Tuple": "a tuple",
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


def indices_of(e: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """The name and all indices of W[i, j] or W[i][j]."""
    if not isinstance(e, ast.Subscript):
        return e, []
    base, before = indices_of(e.value)
    return base, [*before, *(e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice])]
