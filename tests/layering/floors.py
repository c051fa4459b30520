"""Who may import whom, as one table, and the checker that holds the sources to it.

Reads sources with ``ast`` and imports nothing: an import inside a function or under ``TYPE_CHECKING`` counts like any
other, since a lazy import is still a dependency. What is loaded at run time (the cold start) is tested in a process,
in ``test_cold_start``.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOF = "lemmata"
PILLARS = ("symbolic", "numeric")

# The floors inside symbolic/, lowest first: a room may import the rooms named in its row, and itself.
# Two rules are more than an order. canonical/ and checking/ are two independent ways to one answer, so neither sees the
# other. And codegen/ and rendering/ see the language only, rendering/ the records of a derivation besides: what they
# show never depends on how it was proved. A dotted name is one module of a room; it may stand in a room above only when
# what it imports itself stands below.
SYMBOLIC_MAY_IMPORT: dict[str, frozenset[str]] = {
    "language": frozenset(),
    "canonical": frozenset({"language"}),
    "checking": frozenset({"language"}),
    "codegen": frozenset({"language"}),
    "rendering": frozenset({"language", "derivations.model"}),
    "calculus": frozenset({"language", "canonical"}),
    "shapes": frozenset({"language", "canonical", "rendering"}),
    "tracing": frozenset({"language"}),
    "derivations": frozenset({"language", "canonical", "calculus", "checking"}),
    "theorems": frozenset(
        {"language", "canonical", "checking", "codegen", "rendering", "calculus", "shapes", "tracing", "derivations"}
    ),
}

# Libraries of arrays stay out of symbolic/, so that it can run where they are not installed. tracing/ reads NumPy code
# and needs NumPy; codegen/ makes a callable of the source it wrote, and imports NumPy only then, inside a function.
ARRAY_LIBRARIES = frozenset({"numpy", "scipy", "jax", "torch"})
ARRAY_LIBRARIES_ALLOWED = {"tracing": "anywhere", "codegen": "inside a function"}

# The witness must not lean on what it is a witness against.
COMPUTER_ALGEBRA = frozenset({"sympy", "flint", "mpmath", "latexify"})


@dataclass(frozen=True)
class Import:
    """One imported name, absolute, by the repository's folders: ``symbolic.language.nodes``, ``numpy``."""

    target: str
    line: int
    relative: bool
    in_function: bool


def violations(path: str, source: str) -> list[str]:
    """The broken rules of one file, each as ``path:line: what is wrong``; ``path`` is relative, with slashes."""
    parts = path.split("/")
    package = parts[:-1]
    found = []
    for item in _imports(ast.parse(source, path), package):
        complaint = _complaint(parts, item)
        if complaint:
            found.append(f"{path}:{item.line}: {complaint}")
    return found


def python_files() -> list[Path]:
    """Every Python file of the repository, in order; hidden folders and what was built left out."""
    skipped = {"build", "dist", "__pycache__"}
    return sorted(
        path
        for path in ROOT.rglob("*.py")
        if not any(part in skipped or part.startswith(".") for part in path.relative_to(ROOT).parts[:-1])
    )


def rooms_imported(path: Path) -> set[str]:
    """The rooms of symbolic/ that one file of it imports."""
    package = path.relative_to(ROOT).parts[:-1]
    found = _imports(ast.parse(path.read_text(encoding="utf-8"), str(path)), list(package))
    return {item.target.split(".")[1] for item in found if item.relative and item.target.startswith("symbolic.")}


def _complaint(parts: list[str], item: Import) -> str | None:
    top, *below = item.target.split(".")
    here = parts[0]
    if not item.relative:
        if top in PILLARS:
            return f"bare import of {item.target}; write {ROOF}.{item.target}, or a relative import inside the pillar"
        if here in PILLARS and top == ROOF:
            return f"absolute import of {item.target} inside {here}/; imports inside a pillar are relative"
    if here not in PILLARS:
        return None
    if item.relative and top != here:
        return f"{here}/ reaches out of its pillar to {item.target or 'the roof'}"
    if here == "numeric":
        return f"numeric/ imports {top}; the witness is plain NumPy" if top in COMPUTER_ALGEBRA else None
    # From here on: inside symbolic/. A module that stands in no room (symbolic/__init__.py) is above them all.
    room = _room(parts[1:])
    if top in ARRAY_LIBRARIES:
        allowed = ARRAY_LIBRARIES_ALLOWED.get(room or "")
        if allowed == "anywhere" or (allowed == "inside a function" and item.in_function):
            return None
        return f"symbolic/{room or ''} imports {top}" + (f", which is allowed {allowed} only" if allowed else "")
    if not item.relative or room is None:
        return None
    if room not in SYMBOLIC_MAY_IMPORT:
        return f"symbolic/{room} has no row in the table of floors"
    target = below[0] if below else None
    if target is None:
        return f"symbolic/{room} imports the whole pillar"
    module = ".".join(below[:2])
    if target != room and target not in SYMBOLIC_MAY_IMPORT[room] and module not in SYMBOLIC_MAY_IMPORT[room]:
        return f"symbolic/{room} may not import symbolic/{target}"
    return None


def _room(parts: list[str]) -> str | None:
    name = parts[0].removesuffix(".py")
    return None if name in ("__init__", "__main__") else name


def _imports(tree: ast.AST, package: list[str], in_function: bool = False) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        yield from _imports_of(node, package, in_function)
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(node, package, inside)


def _imports_of(node: ast.AST, package: list[str], in_function: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield Import(alias.name, node.lineno, False, in_function)
        case ast.ImportFrom(module=module, names=names, level=0):
            for alias in names:
                yield Import(f"{module}.{alias.name}", node.lineno, False, in_function)
        case ast.ImportFrom(module=module, names=names, level=level):
            # level 1 is this package; each level more is one package up. Above the top there is only the roof.
            base = package[: max(len(package) - (level - 1), 0)]
            for alias in names:
                target = ".".join([*base, *([module] if module else []), alias.name])
                yield Import(target, node.lineno, True, in_function)
        case ast.Call(
            func=ast.Name(id=function) | ast.Attribute(attr=function),
            args=[ast.Constant(value=str(name)), *_],
        ):
            if function in ("import_module", "__import__") and not name.startswith("."):
                yield Import(name, node.lineno, False, in_function)
