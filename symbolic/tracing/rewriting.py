"""Python control flow made readable: loops, branches, conditional expressions, comprehensions and boolean operators.

The source of a function is rewritten so that what Python would decide on the spot is asked of `control` first: a loop
over a symbolic range runs its body once with an index letter, an `if` on a symbolic condition runs both sides. On
numbers the rewritten code does what the original does. Line numbers are kept.
"""

from __future__ import annotations

import ast
from typing import Any

CONTROL = "__reading__"


class Rewriter(ast.NodeTransformer):
    """Rewrites one module or function; the names it adds begin with two underscores."""

    def __init__(self) -> None:
        self.count = 0

    def name(self, wish: str) -> str:
        """A local name of its own."""
        self.count += 1
        return f"__{wish}_{self.count}"

    # ------------------------------------------------------------------ statements
    def visit_For(self, node: ast.For) -> Any:
        names = assigned(node.body) - targets(node.target)
        leaves = _has_jump(node.body) or bool(node.orelse)
        self.generic_visit(node)
        loop = self.name("loop")
        names_sorted = sorted(names)
        start = _parse(f"{loop} = {CONTROL}.loop(None, {leaves!r})", node)[0]
        start.value.args[0] = node.iter
        if leaves:
            node.iter = _name(loop)
            return [start, node]
        node.iter = _name(loop)
        node.body = [*self._enter(loop, names_sorted, node), *node.body, *self._leave(loop, names_sorted, node)]
        return [start, node, *self._after(loop, names_sorted, node)]

    def visit_If(self, node: ast.If) -> Any:
        names = sorted(assigned(node.body) | assigned(node.orelse))
        jumps = _has_jump(node.body) or _has_jump(node.orelse)
        self.generic_visit(node)
        if jumps:
            returned = _both_return(node)
            if returned is not None:
                value = _placed(self._choice(node.test, *returned), node)
                return _placed(ast.Return(value), node)
            return node
        branch, side = self.name("branch"), self.name("side")
        start = _parse(f"{branch} = {CONTROL}.branch(None)", node)[0]
        start.value.args[0] = node.test
        inner = _placed(ast.If(_name(side), node.body, node.orelse), node)
        loop = _placed(
            ast.For(
                _name(side, ast.Store()),
                _name(branch),
                [*self._enter(branch, names, node), inner, *self._leave(branch, names, node)],
                [],
            ),
            node,
        )
        return [start, loop, *self._after(branch, names, node)]

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        node.test = _placed(_call("asserted", [node.test]), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = []
        _join_early_returns(node.body)
        self.generic_visit(node)
        return node

    def _enter(self, loop: str, names: list[str], node: ast.AST) -> list[ast.stmt]:
        values = ", ".join(f"({n!r}, lambda: {n})" for n in names)
        bound = f"{', '.join(names)}, = " if names else ""
        return _parse(f"if {loop}.symbolic: {bound}{loop}.enter({values})", node)

    def _leave(self, loop: str, names: list[str], node: ast.AST) -> list[ast.stmt]:
        values = ", ".join(f"({n!r}, lambda: {n})" for n in names)
        return _parse(f"if {loop}.symbolic: {loop}.leave({values})", node)

    def _after(self, loop: str, names: list[str], node: ast.AST) -> list[ast.stmt]:
        return _parse(f"if {loop}.symbolic: {', '.join(names)}, = {loop}.results()", node) if names else []

    # ------------------------------------------------------------------ expressions
    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return _placed(self._choice(node.test, node.body, node.orelse), node)

    def _choice(self, test: ast.expr, body: ast.expr, other: ast.expr) -> ast.expr:
        return _call("choice", [test, _lambda(body), _lambda(other)])

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return _placed(_call(name, [_lambda(v) for v in node.values]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _placed(_call("negation", [node.operand]), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        parts: list[ast.expr] = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(_placed(ast.Compare(left, [operator], [right]), node))
            left = right
        return _placed(_call("both", [_lambda(p) for p in parts]), node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self.generic_visit(node)
        if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
            return node
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name):
            return node
        one = ast.Lambda(ast.arguments([], [ast.arg(generator.target.id)], None, [], [], None, []), node.elt)
        return _placed(_call("listed", [generator.iter, one]), node)

    visit_GeneratorExp = visit_ListComp


def assigned(body: list[ast.stmt]) -> set[str]:
    """Names that statements bind, write into, or hand to something that may write into them."""
    found: set[str] = set()

    class Finder(ast.NodeVisitor):
        def visit_Name(self, node: ast.Name) -> None:
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)

        def visit_Subscript(self, node: ast.Subscript) -> None:
            if isinstance(node.ctx, ast.Store):
                base: ast.expr = node.value
                while isinstance(base, ast.Subscript | ast.Attribute):
                    base = base.value
                if isinstance(base, ast.Name):
                    found.add(base.id)
            self.generic_visit(node)

        def visit_Call(self, node: ast.Call) -> None:
            function = node.func
            if isinstance(function, ast.Attribute):
                if function.attr in ("append", "fill") and isinstance(function.value, ast.Name):
                    found.add(function.value.id)
                if (
                    function.attr in ("at", "put_along_axis", "fill_diagonal")
                    and node.args
                    and isinstance(node.args[0], ast.Name)
                ):
                    found.add(node.args[0].id)
            for keyword in node.keywords:
                if keyword.arg == "out" and isinstance(keyword.value, ast.Name):
                    found.add(keyword.value.id)
            self.generic_visit(node)

        def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
            found.add(node.name)

        def visit_Lambda(self, node: ast.Lambda) -> None:
            return

        def visit_ListComp(self, node: ast.ListComp) -> None:
            return

        visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    for statement in body:
        Finder().visit(statement)
    return {n for n in found if not n.startswith("__")}


def targets(target: ast.expr) -> set[str]:
    """Names of a loop's target."""
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def _has_jump(body: list[ast.stmt]) -> bool:
    """Whether statements leave: return, raise, break or continue of this loop, or yield."""

    def leaves(node: ast.AST, inner: bool) -> bool:
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Raise):
            return True
        if isinstance(node, ast.Break | ast.Continue):
            return not inner
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return False
        inner = inner or isinstance(node, ast.For | ast.While)
        return any(leaves(c, inner) for c in ast.iter_child_nodes(node))

    return any(leaves(s, False) for s in body)


def _join_early_returns(body: list[ast.stmt]) -> None:
    """``if c: return a`` followed by ``return b`` becomes an if with both branches."""
    for n in range(len(body) - 2, -1, -1):
        statement, last = body[n], body[n + 1]
        if (
            n + 2 == len(body)
            and isinstance(statement, ast.If)
            and not statement.orelse
            and isinstance(last, ast.Return)
            and len(statement.body) == 1
            and isinstance(statement.body[0], ast.Return)
        ):
            statement.orelse = [last]
            del body[n + 1]


def _both_return(node: ast.If) -> tuple[ast.expr, ast.expr] | None:
    """The two values of ``if c: return a`` / ``else: return b``."""
    if len(node.body) == len(node.orelse) == 1:
        a, b = node.body[0], node.orelse[0]
        if isinstance(a, ast.Return) and isinstance(b, ast.Return) and a.value is not None and b.value is not None:
            return a.value, b.value
    return None


def _placed(new: Any, at: ast.AST) -> Any:
    """A new node at the place of an old one, on one line: Python puts the error of a longer call on its last line."""
    ast.copy_location(new, at)
    if isinstance(new, ast.expr | ast.stmt):
        new.end_lineno, new.end_col_offset = new.lineno, new.col_offset
    return new


def _name(name: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, ctx or ast.Load())


def _lambda(body: ast.expr) -> ast.Lambda:
    return _placed(ast.Lambda(ast.arguments([], [], None, [], [], None, []), body), body)


def _call(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(_name(CONTROL), name, ast.Load()), args, [])


def _parse(text: str, at: ast.AST) -> list[Any]:
    statements = ast.parse(text).body
    for statement in statements:
        for node in ast.walk(statement):
            _placed(node, at)
    return statements


def rewritten(tree: ast.Module) -> ast.Module:
    """The tree with its control flow asked of `control`."""
    return ast.fix_missing_locations(Rewriter().visit(tree))
