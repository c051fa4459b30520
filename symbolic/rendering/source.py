r"""The source of a Python or NumPy function as LaTeX, by latexify-py, for standing beside the derived formula.

latexify drops keyword arguments, method receivers, defaults and `.T` without a word, and some parentheses. So a
function is first read against the list of what is rendered faithfully; all else is refused with the function, the
line and the construct. What is rendered gets our names, our parentheses, ⊙ for elementwise products of arrays, and
W_{i,j} for both spellings of an element.

Expressions need no source: for those use `latex`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import sympy as sp

from .latex import write
from .names import written
from .numerals import numeral
from .source_reading import FUNCTIONS, SUMS, WRAPPED, Reading, SourceError, called, indices_of


def source_latex(function: Callable[..., Any] | str, signature: bool = True) -> str:
    r"""The LaTeX of a function's source; a function, or the text of one `def`.

    Raises `SourceError` for what would not be shown faithfully.

    >>> print(source_latex("def f(d_model, beta_1):\n    return math.log(d_model) * beta_1"))
    f(d_{\text{model}}, \beta_{1}) = \log\left(d_{\text{model}}\right) \beta_{1}
    """
    tree, place = _parsed(function)
    checker = Reading(tree, place)
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
            raise SourceError(
                f"{name}: the decorated function's source is not what runs; pass the function that it wraps"
            )
        try:
            text = inspect.getsource(function)
            first = inspect.getsourcelines(function)[1]
            file = inspect.getsourcefile(function) or ""
        except (OSError, TypeError):
            raise SourceError(
                f"{name}: its source is not on disk (made by exec, in a REPL or by lambdify); pass the text of "
                "the def, or show the expression with latex()"
            ) from None
    try:
        body = ast.parse(textwrap.dedent(text)).body
    except SyntaxError as error:
        raise SourceError(f"{name}: line {error.lineno}: not Python: {error.msg}") from None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise SourceError(f"{name}: line {first}: only a plain def is rendered, not a lambda, a class or an async def")
    where = f"{file.rsplit('/', 1)[-1]}, " if file else ""
    return body[0], lambda node: f"{where}line {first + getattr(node, 'lineno', 1) - 1}"


def _codegen(checker: Reading, signature: bool) -> Any:
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
            if name in SUMS and module in ("", "math"):
                return self._summation(SUMS[name], node.args[0])
            arguments = ", ".join(self.visit(a) for a in node.args)
            if name in WRAPPED:
                left, right = WRAPPED[name]
                return f"{left}{arguments}{right}"
            own = FUNCTIONS.get(name) or (rf"\{name}" if name in ("max", "min") else written(name).latex)
            return rf"{own}\left({arguments}\right)"

        def _summation(self, command: str, generator: ast.expr) -> str:
            assert isinstance(generator, ast.GeneratorExp)
            parts = []
            for g in generator.generators:
                assert isinstance(g.iter, ast.Call)
                low = self.visit(g.iter.args[0]) if len(g.iter.args) == 2 else "0"
                end = g.iter.args[-1]
                high = (
                    str(end.value - 1)
                    if isinstance(end, ast.Constant) and isinstance(end.value, int)
                    else (f"{self.visit(end)} - 1")
                )
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
                    power = (
                        f"{self._operand(b.left, 2)}/{self._operand(b.right, 3.5)}"
                        if isinstance(b, ast.BinOp) and isinstance(b.op, ast.Div)
                        else self.visit(b)
                    )
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
                case ast.Call() if called(e)[0] in SUMS:
                    return 2
                case ast.BinOp(op=ast.Mult(), left=left, right=right) if not (
                    checker.is_scalar(left) or checker.is_scalar(right)
                ):
                    return 2
                case ast.BinOp(op=ast.Mult() | ast.MatMult()):
                    return 2.5 if isinstance(e.op, ast.Mult) else 3
                case ast.BinOp(op=ast.Pow() | ast.Div()):
                    return 3.5
                case ast.Constant(value=float()):
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
