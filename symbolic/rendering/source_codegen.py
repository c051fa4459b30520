"""latexify's code generators with our notation: names, parentheses, sums, products, calls, axes, rows."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import sympy as sp

from .latex import write
from .names import verbatim, written
from .numerals import numeral
from .source_reading import (
    ALONG,
    CONSTANTS,
    EXTREMA,
    FUNCTIONS,
    SUMS,
    WRAPPED,
    Reading,
    called,
    in_brackets,
    indices_of,
    is_sum,
    several,
)

_LONGEST_ROW = 64
_TALL = re.compile(r"\\frac|\\begin|\\sum|\\prod")
_ROMAN = r"\mathrm{"


def _length(latex: str) -> int:
    """About how many signs a reader sees."""
    return len(re.sub(r"\\(?:[A-Za-z]+ ?|.)|[{}^_]", "", latex))


def _around(opening: str, inside: str, closing: str) -> str:
    """Brackets, as tall as what is tall in them."""
    return rf"\left{opening}{inside}\right{closing}" if _TALL.search(inside) else f"{opening}{inside}{closing}"


def _name(name: str) -> str:
    """A name as the field writes it; one of several words, as label_smoothing, has no part below the line."""
    own = written(name)
    several_words = own.long and "_" in name and re.match(r"[A-Za-z]{3,}_", name) and "\\mathrm{d}" not in own.latex
    return (verbatim(name) if several_words else own).latex


def codegen(checker: Reading, signature: bool) -> Any:
    """latexify's code generator with our names, parentheses, sums, products and calls."""
    from latexify.codegen import expression_codegen, function_codegen

    class Names:
        """In place of latexify's converter of identifiers."""

        def convert(self, name: str) -> tuple[str, bool]:
            """The LaTeX of a name, and whether it is a single letter."""
            return _name(name), not written(name).long

    class Expressions(expression_codegen.ExpressionCodegen):
        """Expressions; conditions and cases are latexify's."""

        def visit_Constant(self, node: ast.Constant) -> str:
            value = node.value
            if isinstance(value, str):
                return rf'\texttt{{"{verbatim(value).latex.removeprefix(_ROMAN)[:-1]}"}}'
            if value is None or isinstance(value, bool):
                return rf"\mathrm{{{value}}}"
            if value is Ellipsis:
                return r"\ldots"
            if isinstance(value, complex):  # a literal has no real part
                return (write(numeral(sp.Float(repr(value.imag)))) + " " if value.imag != 1 else "") + r"\mathrm{i}"
            return write(numeral(sp.Integer(value) if isinstance(value, int) else sp.Float(repr(value))))

        def visit_Attribute(self, node: ast.Attribute) -> str:
            if isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy"):
                return CONSTANTS.get(node.attr) or verbatim(node.attr).latex
            of = self._operand(node.value, 4)
            if node.attr in ("T", "mT"):
                return rf"{{{of}}}^{{\mathsf{{T}}}}" if node.attr == "T" else rf"{{{of}}}^{{\top}}"
            return f"{of}.{_name(node.attr)}"

        def visit_Subscript(self, node: ast.Subscript) -> str:
            base, indices = indices_of(node)
            name = self._operand(base, 4)
            shown = [self.visit(i) for i in indices]
            if in_brackets(node):
                return name + _around("[", ", ".join(shown), "]")
            name = rf"\left({name}\right)" if "_" in name else name
            return f"{name}_{{{','.join(shown)}}}"

        def visit_Slice(self, node: ast.Slice) -> str:
            low, high = (self.visit(x) if x is not None else "" for x in (node.lower, node.upper))
            return f"{low}{{:}}{high}" + (f"{{:}}{self.visit(node.step)}" if node.step is not None else "")

        def visit_Starred(self, node: ast.Starred) -> str:
            return "{*}" + self._operand(node.value, 4)

        def visit_Tuple(self, node: ast.Tuple) -> str:
            return _around("(", ", ".join(map(self.visit, node.elts)), ")")

        def visit_List(self, node: ast.List) -> str:
            return _around("[", ", ".join(map(self.visit, node.elts)), "]")

        def visit_Call(self, node: ast.Call) -> str:
            name, module = called(node)
            if is_sum(node):
                return self._summation(SUMS[str(name)], node.args[0])
            special = self._special(name, module, node)
            if special is not None:
                return special
            if name is not None:
                return checker.called_name(name) + self._arguments(node.args, node.keywords)
            assert isinstance(node.func, ast.Attribute)
            return (f"{self._operand(node.func.value, 4)}.{checker.called_name(node.func.attr)}"
                    + self._arguments(node.args, node.keywords))

        def _special(self, name: str | None, module: str, node: ast.Call) -> str | None:
            """What has a notation of its own; None where the name and all arguments are to be written."""
            args = node.args
            if any(isinstance(a, ast.Starred) for a in args):
                return None
            if name is None and isinstance(node.func, ast.Attribute) and node.func.attr in ALONG:
                return self._along(node.func.attr, [node.func.value, *args], node.keywords)
            if name is None:
                return None
            if module in ("np", "numpy") and name in ALONG and args:
                return self._along(name, args, node.keywords)
            if node.keywords:
                return None
            if name in WRAPPED and len(args) == 1:
                left, right = WRAPPED[name]
                return f"{left}{self.visit(args[0])}{right}"
            if name in FUNCTIONS and len(args) == 1:
                return f"{FUNCTIONS[name]}{self._arguments(args, [], plain=False)}"
            if (name in EXTREMA and module) or (name in ("max", "min") and not module and len(args) > 1):
                return EXTREMA.get(name, rf"\{name}") + self._arguments(args, [])
            if name == "where" and module and len(args) == 3:
                return self.visit(ast.IfExp(*args))
            if name == "swapaxes" and module and {ast.unparse(a) for a in args[1:]} == {"-1", "-2"}:
                return rf"{{{self._operand(args[0], 4)}}}^{{\top}}"
            return None

        def _along(self, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> str | None:
            """The axis below the name; `keep` above it where the axis stays, of size 1."""
            given = {k.arg: k.value for k in keywords}
            axis = args[1] if len(args) == 2 else given.get("axis")
            keep = given.get("keepdims")
            rest = [k for k in keywords if k.arg not in ("axis", "keepdims")]
            if len(args) > 2 or (len(args) == 2 and "axis" in given) or not (
                keep is None or (isinstance(keep, ast.Constant) and isinstance(keep.value, bool))):
                return None
            mark = r"^{\mathrm{keep}}" if keep is not None and keep.value else ""
            below = "" if axis is None else f"_{{{self.visit(axis)}}}"
            operator = verbatim(name).latex.removeprefix(_ROMAN)[:-1]
            return rf"\operatorname{{{operator}}}{below}{mark}" + self._arguments(args[:1], rest)

        def _arguments(self, args: list[ast.expr], keywords: list[ast.keyword], plain: bool = True) -> str:
            shown = [self.visit(a) for a in args]
            shown += [f"{_name(k.arg)} = {self.visit(k.value)}" if k.arg else f"{{**}}{self.visit(k.value)}"
                      for k in keywords]
            inside = ", ".join(shown)
            return _around("(", inside, ")") if plain else rf"\left({inside}\right)"

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
            signs = {ast.USub: "-", ast.UAdd: "", ast.Not: r"\lnot ", ast.Invert: r"\lnot "}
            return signs[type(node.op)] + self._operand(node.operand, 2)

        def visit_BinOp(self, node: ast.BinOp) -> str:
            a, b = node.left, node.right
            match node.op:
                case ast.Div():
                    return rf"\frac{{{self.visit(a)}}}{{{self.visit(b)}}}"
                case ast.FloorDiv():
                    return rf"\left\lfloor\frac{{{self.visit(a)}}}{{{self.visit(b)}}}\right\rfloor"
                case ast.Mod():
                    return rf"{self._operand(a, 3)} \bmod {self._operand(b, 3)}"
                case ast.BitAnd() | ast.BitOr():
                    sign = r"\land" if isinstance(node.op, ast.BitAnd) else r"\lor"
                    return rf"{self._operand(a, 4)} {sign} {self._operand(b, 4)}"
                case ast.Pow():
                    mark = "" if checker.is_scalar(a) else r"\odot "
                    power = (
                        f"{self._operand(b.left, 2)}/{self._operand(b.right, 3.5)}"
                        if isinstance(b, ast.BinOp) and isinstance(b.op, ast.Div)
                        else self.visit(b)
                    )
                    return f"{self._power_base(a)}^{{{mark}{power}}}"
                case ast.Add():
                    return f"{self._operand(a, 1)} + {self._operand(b, 1.5)}"
                case ast.Sub():
                    return f"{self._operand(a, 1)} - {self._operand(b, 2)}"
                case ast.MatMult():
                    return rf"{self._operand(a, 3)} \, {self._operand(b, 3)}" if self._is_long(a, b) else (
                        f"{self._operand(a, 3)} {self._operand(b, 3)}")
            if not checker.is_scalar(a) and not checker.is_scalar(b):
                return rf"{self._operand(a, 2 if self._is_elementwise(a) else 3.5)} \odot {self._operand(b, 3.5)}"
            left, right = self._operand(a, 2.5), self._operand(b, 3)
            sign = r" \cdot " if right[0].isdigit() else r" \, " if self._is_long(a, b) else " "
            return left + sign + right

        @staticmethod
        def _is_elementwise(e: ast.expr) -> bool:
            """a ⊙ b, which needs no parentheses on the left of another ⊙."""
            return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult) and not (
                checker.is_scalar(e.left) or checker.is_scalar(e.right))

        def _is_long(self, left: ast.expr, right: ast.expr) -> bool:
            """Whether a name of several letters stands where two factors meet."""
            while isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Mult, ast.MatMult)):
                left = left.right
            while isinstance(right, ast.BinOp) and isinstance(right.op, (ast.Mult, ast.MatMult)):
                right = right.left
            called_long = isinstance(right, ast.Call) and not is_sum(right) and not (
                called(right)[0] in FUNCTIONS or called(right)[0] in WRAPPED or self._binding(right) == 0)
            return called_long or any(isinstance(x, ast.Attribute) or (isinstance(x, ast.Name) and written(x.id).long)
                                      for x in (left, right))

        def _power_base(self, e: ast.expr) -> str:
            """In parentheses, too, where it has something above it already."""
            shown = self._operand(e, 4)
            transposed = isinstance(e, ast.Attribute) or (isinstance(e, ast.Call) and shown.endswith(r"^{\top}"))
            return rf"\left({shown}\right)" if transposed and "^" in shown else shown

        def _operand(self, e: ast.expr, least: float) -> str:
            """An operand, in parentheses unless it binds at least this tightly."""
            text = self.visit(e)
            return text if self._binding(e) >= least else rf"\left({text}\right)"

        @staticmethod
        def _binding(e: ast.expr) -> float:
            match e:
                case ast.BinOp(op=ast.Add() | ast.Sub()):
                    return 1
                case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.Mod()):
                    return 0
                case ast.UnaryOp() | ast.IfExp() | ast.Compare() | ast.BoolOp():
                    return 1 if isinstance(e, ast.UnaryOp) else 0
                case ast.Call() if is_sum(e):
                    return 2
                case ast.Call() if called(e)[0] == "where" and called(e)[1] and len(e.args) == 3:
                    return 0
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
        """The signature, assignments and the final return, in rows that are not too long."""

        def visit_FunctionDef(self, node: ast.FunctionDef) -> str:
            rows = [row for statement in node.body[:-1] for row in (
                self._early(node.name, statement) if isinstance(statement, ast.If) else self._assigned(statement))]
            otherwise = r" \quad \text{otherwise}" if any(isinstance(s, ast.If) for s in node.body[:-1]) else ""
            last = node.body[-1]
            value = last.value if isinstance(last, ast.Return) else None
            parts = several(value) if value is not None else []
            shown = [] if parts else [self.visit(last) + otherwise]
            heads = _rows(_parameters(node, self._expression_codegen.visit),
                          f"{checker.called_name(node.name)}(", ")") if signature else []
            if heads and shown and len(heads) == 1 and _length(heads[0]) + _length(shown[0]) <= _LONGEST_ROW + 10:
                rows.append(f"{heads[0]} = {shown[0]}")
            elif heads:
                rows += [*heads[:-1], f"{heads[-1]} =", *(rf"\quad {s}" for s in shown)]
            else:
                rows += shown
            if parts:
                rows += self._several(value, parts, bool(heads))
            if len(rows) == 1:
                return rows[0]
            joined = r" \\[0.3em] ".join(rf"\displaystyle {row}" for row in rows)
            return rf"\begin{{array}}{{l}} {joined} \end{{array}}"

        def _early(self, name: str, node: ast.If) -> list[str]:
            value, condition = self.visit(node.body[0]), self._expression_codegen.visit(node.test)
            return [rf"{checker.called_name(name)}(\ldots) = {value} \quad \text{{if }} {condition}"]

        def _assigned(self, node: ast.stmt) -> list[str]:
            assert isinstance(node, ast.Assign)
            sign = r"\leftarrow" if node in checker.again else "="
            target = self._expression_codegen.visit(node.targets[0])
            value = node.value
            if isinstance(value, ast.Call) and _length(self._expression_codegen.visit(value)) > _LONGEST_ROW and (
                called(value)[0] not in (None, "where")):
                shown = [self._expression_codegen.visit(a) for a in value.args]
                shown += [f"{_name(k.arg)} = {self._expression_codegen.visit(k.value)}"
                          for k in value.keywords if k.arg]
                if all(k.arg for k in value.keywords) and max(map(_length, shown), default=0) <= _LONGEST_ROW:
                    return _rows(shown, f"{target} {sign} {checker.called_name(str(called(value)[0]))}(", ")")
            return [f"{target} {sign} {self._expression_codegen.visit(value)}"]

        def _several(self, value: ast.expr | None, parts: list[tuple[str, ast.expr]], indented: bool) -> list[str]:
            kind = checker.called_name(str(called(value)[0])) if isinstance(value, ast.Call) else ""
            opening, closing = ("(", ")") if kind else (r"\{", r"\}")
            indent = r"\quad " if indented else ""
            rows = [f"{indent}{kind}{opening}"]
            for n, (name, part) in enumerate(parts):
                key = _name(name) + (" = " if kind else r" \colon ") if name else "{**}"
                comma = "," if n < len(parts) - 1 else closing
                rows.append(rf"{indent}\quad {key}{self._expression_codegen.visit(part)}{comma}")
            return rows

    result = Functions(use_signature=signature)
    result._identifier_converter = Names()
    result._expression_codegen = Expressions()
    result._expression_codegen._identifier_converter = Names()
    return result


def _parameters(node: ast.FunctionDef, visit: Callable[[ast.expr], str]) -> list[str]:
    """Parameters with their defaults; those that must be named come after a semicolon."""
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(a.defaults)), *a.defaults]

    def shown(p: ast.arg, default: ast.expr | None) -> str:
        return _name(p.arg) + ("" if default is None else f" = {visit(default)}")

    first = [shown(p, d) for p, d in zip(plain, defaults, strict=True)]
    first += ["{*}" + _name(a.vararg.arg)] if a.vararg else []
    named = [shown(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    named += ["{**}" + _name(a.kwarg.arg)] if a.kwarg else []
    if first and named:
        return [*first[:-1], f"{first[-1]}; {named[0]}", *named[1:]]
    return [*first, *named]


def _rows(parts: list[str], opening: str, closing: str) -> list[str]:
    """A list in parentheses, on as many rows as it needs."""
    rows = [opening]
    for n, part in enumerate(parts):
        piece = part + (", " if n < len(parts) - 1 else "")
        if _length(rows[-1]) + _length(piece) > _LONGEST_ROW and n:
            rows[-1] = rows[-1].rstrip()
            rows.append(r"\qquad ")
        rows[-1] += piece
    rows[-1] += closing
    return rows
