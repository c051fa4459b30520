"""What a function does before it computes, left out of its picture: reading arguments, checking them, silencing
warnings. Statements are made plainer on the way, with the same meaning.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from .source_reading import called, returns_early, several

Places = int | tuple[int, ...]
_KEEPING = ("float", "np.float64", "numpy.float64")


def without_reading(tree: ast.FunctionDef, reads: Mapping[str, Places], checks: Collection[str],
                    messages: Mapping[str, Collection[int]] | None = None) -> None:
    """Leave out, in place, the docstring, what can only raise, functions that return an argument of theirs, and what
    is passed on for messages alone: of which functions (`messages`) at which places.

    ``x = real_array("f", "z", z)`` with ``reads={"real_array": 2}`` lets z stand wherever x does.
    """
    body = [p for s in tree.body for p in _plain(s) if not _only_checks(p, checks)]
    own = [n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    substitute = _Substitute(reads, messages or {})
    kept: list[ast.stmt] = []
    for statement in body:
        plain: ast.stmt | None = substitute.visit(statement)
        if isinstance(plain, ast.Assign) and len(plain.targets) == 1:
            plain = _read(plain, own, substitute)
        if plain is not None:
            kept.append(plain)
    used = {n.id for s in kept for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    kept = [s for s in kept if not _is_unused_text(s, used)]
    while len(kept) > 1 and isinstance(kept[-1], (ast.Return, ast.If)) and returns_early(kept[-2]) and not (
        isinstance(kept[-1], ast.Return) and kept[-1].value is not None and several(kept[-1].value)):
        last = kept.pop()
        kept[-1].orelse = [last]  # type: ignore[union-attr]
    tree.body = kept


def returned_places(tree: ast.FunctionDef) -> Places | None:
    """Which of its parameters a function gives back, where it does nothing else (`without_reading` has gone before)."""
    names = [p.arg for p in (*tree.args.posonlyargs, *tree.args.args)]
    match tree.body:
        case [ast.Return(value=ast.Name(id=name))] if name in names:
            return names.index(name)
        case [ast.Return(value=ast.Tuple(elts=parts))] if all(isinstance(e, ast.Name) and e.id in names for e in parts):
            return tuple(names.index(e.id) for e in parts if isinstance(e, ast.Name))
    return None


def _plain(s: ast.stmt) -> list[ast.stmt]:
    """A statement in plainer ones: without a type, without what only silences warnings, a choice of one value."""
    match s:
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            return [ast.copy_location(ast.Assign([target], value), s)]
        case ast.With(items=items, body=body) if all(
            isinstance(i.context_expr, ast.Call) and called(i.context_expr)[0] == "errstate" for i in items):
            return [p for inner in body for p in _plain(inner)]
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            before = ast.copy_location(ast.Name(name, ast.Load()), s)
            return [ast.copy_location(ast.Assign([target], ast.copy_location(ast.BinOp(before, op, value), s)), s)]
        case ast.If() if any(isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name)
                             for inner in (*s.body, *s.orelse)):
            s.body = [p for inner in s.body for p in _plain(inner)]
            s.orelse = [p for inner in s.orelse for p in _plain(inner)]
            return _plain(s)
        case ast.If(test=test, body=[ast.Assign(targets=[ast.Name() as target], value=value)], orelse=orelse):
            match orelse:
                case []:
                    other: ast.expr = ast.copy_location(ast.Name(target.id, ast.Load()), s)
                case [ast.Assign(targets=[ast.Name(id=same)], value=found)] if same == target.id:
                    other = found
                case _:
                    return [s]
            chosen = ast.copy_location(ast.IfExp(test, value, other), s)
            return [ast.copy_location(ast.Assign([target], chosen), s)]
    return [s]


def _only_checks(s: ast.stmt, checks: Collection[str]) -> bool:
    match s:
        case ast.Expr(value=ast.Constant()) | ast.Assert():
            return True
        case ast.Expr(value=ast.Call() as call):
            return called(call)[0] in checks
        case ast.If(body=body, orelse=[]):
            # an assignment before it is one that only the error can use
            return isinstance(body[-1], ast.Raise) and all(isinstance(inner, ast.Assign) or _only_checks(inner, checks)
                                                           for inner in body[:-1])
        case ast.For(body=body, orelse=[]):
            return all(_only_checks(inner, checks) for inner in body)
    return False


def _is_unused_text(s: ast.stmt, used: set[str]) -> bool:
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str())):
            return name not in used
    return False


def _read(s: ast.Assign, own: list[str], substitute: _Substitute) -> ast.stmt | None:
    """None where every target stands for an argument that has a name; the assignment as it is otherwise."""
    target, value = s.targets[0], s.value
    pairs: list[tuple[ast.expr, ast.expr]]
    if isinstance(target, ast.Name):
        pairs = [(target, value)] if substitute.has_read is value else []
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
        pairs = list(zip(target.elts, substitute.several(value), strict=False))
        pairs = pairs if len(pairs) == len(target.elts) else []
    else:
        pairs = []
    names = [(t.id, v.id) for t, v in pairs if isinstance(t, ast.Name) and isinstance(v, ast.Name)]
    if not pairs or len(names) < len(pairs):
        return s
    if any(left != right and (own.count(left) != 1 or own.count(right)) for left, right in names if left != "_"):
        return s  # either has another value somewhere
    substitute.names.update({left: right for left, right in names if left != right})
    return None


class _Substitute(ast.NodeTransformer):
    """Names and reading calls give way to the arguments that they stand for."""

    def __init__(self, reads: Mapping[str, Places], messages: Mapping[str, Collection[int]]) -> None:
        self.reads, self.messages = reads, messages
        self.names: dict[str, str] = {}
        self.has_read: ast.expr | None = None  # the argument that the last call gave way to

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            return ast.copy_location(ast.Name(self.names[node.id], ast.Load()), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        place = self._places(node)
        if isinstance(place, int) and place < len(node.args):
            self.has_read = node.args[place]
            return node.args[place]
        if not isinstance(place, tuple):
            silent = self.messages.get(called(node)[0] or "", ())
            node.args = [a for n, a in enumerate(node.args) if n not in silent]
        return node

    def _places(self, call: ast.Call) -> Places | None:
        """NumPy's own are only meant where they keep the values: as dtype=int they do not."""
        name, module = called(call)
        if module in ("np", "numpy"):
            keeps = len(call.args) == 1 and all(k.arg == "dtype" and ast.unparse(k.value) in _KEEPING
                                                for k in call.keywords)
            return self.reads.get(f"np.{name}") if keeps else None
        return self.reads.get(name or "")

    def several(self, call: ast.Call) -> list[ast.expr]:
        """The arguments that a call with several results gives back, or none."""
        places = self._places(call)
        if not isinstance(places, tuple) or any(p >= len(call.args) for p in places):
            return []
        return [call.args[p] for p in places]
