r"""The source of a Python or NumPy function as LaTeX, by latexify-py, for standing beside the derived formula.

latexify drops keyword arguments, method receivers, defaults and `.T` without a word, and some parentheses. So a function is first
read against the list of what is rendered faithfully; all else is refused with the function, the line and the construct. What is
rendered gets our names, our parentheses, ⊙ for elementwise products of arrays, and W_{i,j} for both spellings of an element.

Expressions need no source: for those use `latex`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import sympy as sp

from ..language.errors import UnsupportedError
from .latex import write
from .names import written
from .numerals import numeral

_FUNCTIONS = {
    "exp": r"\exp", "log": r"\log", "log2": r"\log_{2}", "log10": r"\log_{10}", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan",
    "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "arctan": r"\arctan", "arcsin": r"\arcsin", "arccos": r"\arccos",
    "atan": r"\arctan", "asin": r"\arcsin", "acos": r"\arccos", "erf": r"\operatorname{erf}",
}
_WRAPPED = {"sqrt": (r"\sqrt{", "}"), "abs": (r"\left|", r"\right|"), "fabs": (r"\left|", r"\right|"),
            "floor": (r"\left\lfloor ", r"\right\rfloor"), "ceil": (r"\left\lceil ", r"\right\rceil")}
_SUMS = {"sum": r"\sum", "fsum": r"\sum", "prod": r"\prod"}
_MODULES = ("math", "np", "numpy")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class SourceError(UnsupportedError):
    """A function whose source cannot be shown faithfully; the message has its name, the line and the construct."""


def source_latex(function: Callable[..., Any] | str, signature: bool = True) -> str:
    r"""The LaTeX of a function's source; a function, or the text of one `def`.

    Raises `SourceError` for what would not be shown faithfully.

    >>> print(source_latex("def f(d_model, beta_1):\n    return math.log(d_model) * beta_1"))
    f(d_{\text{model}}, \beta_{1}) = \log\left(d_{\text{model}}\right) \beta_{1}
    """
    tree, place = _parsed(function)
    checker = _Checker(tree, place)
    checker.check()
    from latexify import exceptions

    try:
        return _codegen(checker, signature).visit(tree)
    except exceptions.LatexifyError as error:
        raise SourceError(f"{tree.name}: latexify cannot render it: {error}") from None


def _parsed(function: Callable[..., Any] | str) -> tuple[ast.FunctionDef, Callable[[ast.AST], str]]:
    if isinstance(function, str):
        name, text, first, file = "the text", function, 1, ""
    else:
        name = getattr(function, "__name__", repr(function))
        if name == "<lambda>":
            raise SourceError(f"{name}: only a plain def is rendered, not a lambda")
        if hasattr(function, "__wrapped__"):
            raise SourceError(f"{name}: the decorated function's source is not what runs; pass the function that it wraps")
        try:
            text = inspect.getsource(function)
            first = inspect.getsourcelines(function)[1]
            file = inspect.getsourcefile(function) or ""
        except (OSError, TypeError):
            raise SourceError(f"{name}: its source is not on disk (made by exec, in a REPL or by lambdify); pass the text of "
                              "the def, or show the expression with latex()") from None
    try:
        body = ast.parse(textwrap.dedent(text)).body
    except SyntaxError as error:
        raise SourceError(f"{name}: line {error.lineno}: not Python: {error.msg}") from None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise SourceError(f"{name}: line {first}: only a plain def is rendered, not a lambda, a class or an async def")
    where = f"{file.rsplit('/', 1)[-1]}, " if file else ""
    return body[0], lambda node: f"{where}line {first + getattr(node, 'lineno', 1) - 1}"


class _Checker:
    """Refuses what would be shown wrong, and finds out which names are scalars."""

    def __init__(self, tree: ast.FunctionDef, place: Callable[[ast.AST], str]) -> None:
        self.tree, self.place = tree, place
        self.scalars: set[str] = set()
        nodes = list(ast.walk(tree))
        self.arrays = any(isinstance(n, ast.MatMult) for n in nodes) or any(
            isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("np", "numpy") for n in nodes)

    def refuse(self, node: ast.AST, construct: str, instead: str = "") -> None:
        """Raise, naming the function, the line and the construct."""
        raise SourceError(f"{self.tree.name}: {self.place(node)}: {construct} is not shown faithfully"
                          + (f"; {instead}" if instead else ""))

    def check(self) -> None:
        """The signature, then every statement."""
        tree, a = self.tree, self.tree.args
        if tree.decorator_list:
            self.refuse(tree.decorator_list[0], "a decorator")
        if a.kwonlyargs or a.vararg or a.kwarg or a.posonlyargs:
            self.refuse(tree, "a keyword-only, starred or positional-only parameter", "use plain parameters")
        if a.defaults:
            self.refuse(a.defaults[0], "a default value of a parameter", "leave the default out")
        self.scalars = {p.arg for p in a.args if isinstance(p.annotation, ast.Name) and p.annotation.id in ("float", "int")}
        assigned = {p.arg for p in a.args}
        spelled: dict[str, str] = {}
        for name in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | assigned):
            other = spelled.setdefault(written(name).latex, name)
            if other != name:
                self.refuse(tree, f"the pair of names {other!r} and {name!r}, which would be written the same,", "rename one")
        body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        tree.body = body
        for n, statement in enumerate(body):
            last = n == len(body) - 1
            if isinstance(statement, ast.Assign) and not last:
                target = statement.targets[0]
                if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                    self.refuse(statement, "an assignment to several names or to an element")
                elif target.id in assigned:
                    self.refuse(statement, f"the second assignment to {target.id!r} (it would read as an equation)",
                                "use a new name")
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
                self.refuse(e, f"the attribute .{attr}", "write a transpose as an argument of its own, or show the expression")
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
            self.refuse(e, f"the keyword argument {e.keywords[0].arg}= of {name or 'a call'}", "show the expression with latex()")
        if any(isinstance(x, ast.Starred) for x in e.args):
            self.refuse(e, f"a starred argument of {name}")
        if name is None:
            what = f"the method call .{e.func.attr}()" if isinstance(e.func, ast.Attribute) else "a call of a computed function"
            self.refuse(e, what, "call a function by name, with its operand as the argument")
            return
        if name in _SUMS and module in ("", "math"):
            self.summation(e, name)
            return
        known = name in _FUNCTIONS or name in _WRAPPED
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
                    plain = (isinstance(g.target, ast.Name) and isinstance(g.iter, ast.Call) and called(g.iter) == ("range", "")
                             and len(g.iter.args) in (1, 2) and not g.iter.keywords and not g.ifs)
                    if not plain or not isinstance(g.iter, ast.Call) or not isinstance(g.target, ast.Name):
                        self.refuse(e, f"{name} over anything but range(n) or range(a, b), without a condition")
                        return
                    for bound in g.iter.args:
                        self.expression(bound)
                    self.scalars.add(g.target.id)
                self.expression(elt)
            case _:
                self.refuse(e, f"{name} without an index (which axis it sums is not shown)",
                            f"write {name}(... for i in range(n))")

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
                name, module = called(e)
                return not self.arrays or module == "math" or name in _SUMS or (bool(args) and all(map(self.is_scalar, args)))
        return not self.arrays


def _construct(node: ast.AST) -> str:
    names = {"For": "for", "While": "while", "AugAssign": "+= (or a relative)", "AnnAssign": "a typed assignment", "Lambda": "a lambda",
             "NamedExpr": "the walrus :=", "Assert": "assert", "ListComp": "a list comprehension", "With": "with", "Try": "try",
             "If": "if that does not end the function", "Raise": "raise", "GeneratorExp": "a generator", "Tuple": "a tuple"}
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


def _codegen(checker: _Checker, signature: bool) -> Any:
    """latexify's code generator with our names, parentheses, sums and products."""
    from latexify.codegen import expression_codegen, function_codegen

    class Names:
        """In place of latexify's converter of identifiers."""

        def convert(self, name: str) -> tuple[str, bool]:
            """The LaTeX of a name, and whether it is a single letter."""
            own = written(name)
            return own.latex, not own.long

    class Expressions(expression_codegen.ExpressionCodegen):
        """Expressions; conditions and cases are latexify's."""

        def visit_Constant(self, node: ast.Constant) -> str:
            return write(numeral(sp.Integer(node.value) if isinstance(node.value, int) else sp.Float(repr(node.value))))

        def visit_Attribute(self, node: ast.Attribute) -> str:
            return r"\pi"

        def visit_Subscript(self, node: ast.Subscript) -> str:
            base, indices = indices_of(node)
            name = self.visit(base)
            name = rf"\left({name}\right)" if "_" in name else name
            return f"{name}_{{{','.join(self.visit(i) for i in indices)}}}"

        def visit_Call(self, node: ast.Call) -> str:
            name, module = called(node)
            assert name is not None
            if name in _SUMS and module in ("", "math"):
                return self._summation(_SUMS[name], node.args[0])
            arguments = ", ".join(self.visit(a) for a in node.args)
            if name in _WRAPPED:
                left, right = _WRAPPED[name]
                return f"{left}{arguments}{right}"
            own = _FUNCTIONS.get(name) or (rf"\{name}" if name in ("max", "min") else written(name).latex)
            return rf"{own}\left({arguments}\right)"

        def _summation(self, command: str, generator: ast.expr) -> str:
            assert isinstance(generator, ast.GeneratorExp)
            parts = []
            for g in generator.generators:
                assert isinstance(g.iter, ast.Call)
                low = self.visit(g.iter.args[0]) if len(g.iter.args) == 2 else "0"
                end = g.iter.args[-1]
                high = str(end.value - 1) if isinstance(end, ast.Constant) and isinstance(end.value, int) else (
                    f"{self.visit(end)} - 1")
                parts.append(f"{command}_{{{self.visit(g.target)} = {low}}}^{{{high}}}")
            return " ".join(parts) + " " + self._operand(generator.elt, 2)

        def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
            return ("-" if isinstance(node.op, ast.USub) else "") + self._operand(node.operand, 2)

        def visit_BinOp(self, node: ast.BinOp) -> str:
            a, b = node.left, node.right
            match node.op:
                case ast.Div():
                    return rf"\frac{{{self.visit(a)}}}{{{self.visit(b)}}}"
                case ast.FloorDiv():
                    return rf"\left\lfloor\frac{{{self.visit(a)}}}{{{self.visit(b)}}}\right\rfloor"
                case ast.Pow():
                    mark = "" if checker.is_scalar(a) else r"\odot "
                    power = f"{self._operand(b.left, 2)}/{self._operand(b.right, 3.5)}" if isinstance(b, ast.BinOp) and isinstance(
                        b.op, ast.Div) else self.visit(b)
                    return f"{self._operand(a, 4)}^{{{mark}{power}}}"
                case ast.Add():
                    return f"{self._operand(a, 1)} + {self._operand(b, 1.5)}"
                case ast.Sub():
                    return f"{self._operand(a, 1)} - {self._operand(b, 2)}"
                case ast.MatMult():
                    return f"{self._operand(a, 3)} {self._operand(b, 3)}"
            if not checker.is_scalar(a) and not checker.is_scalar(b):
                return rf"{self._operand(a, 3.5)} \odot {self._operand(b, 3.5)}"
            left, right = self._operand(a, 2.5), self._operand(b, 3)
            long = any(isinstance(x, ast.Name) and written(x.id).long for x in (a, b))
            sign = r" \cdot " if right[0].isdigit() else r" \, " if long else " "
            return left + sign + right

        def _operand(self, e: ast.expr, least: float) -> str:
            """An operand, in parentheses unless it binds at least this tightly."""
            text = self.visit(e)
            return text if self._binding(e) >= least else rf"\left({text}\right)"

        @staticmethod
        def _binding(e: ast.expr) -> float:
            match e:
                case ast.BinOp(op=ast.Add() | ast.Sub()):
                    return 1
                case ast.UnaryOp() | ast.IfExp() | ast.Compare() | ast.BoolOp():
                    return 1 if isinstance(e, ast.UnaryOp) else 0
                case ast.Call() if called(e)[0] in _SUMS:
                    return 2
                case ast.BinOp(op=ast.Mult(), left=left, right=right) if not (checker.is_scalar(left) or checker.is_scalar(right)):
                    return 2
                case ast.BinOp(op=ast.Mult() | ast.MatMult()):
                    return 2.5 if isinstance(e.op, ast.Mult) else 3
                case ast.BinOp(op=ast.Pow() | ast.Div()):
                    return 3.5
                case ast.Constant(value=value) if value < 0 or not isinstance(value, int):
                    return 3
            return 4

    class Functions(function_codegen.FunctionCodegen):
        """The signature, assignments and the final return."""

    result = Functions(use_signature=signature)
    result._identifier_converter = Names()
    result._expression_codegen = Expressions()
    result._expression_codegen._identifier_converter = Names()
    return result


__all__ = ["SourceError", "source_latex"]
