r"""The source of a Python or NumPy function as LaTeX, by latexify-py, for standing beside the derived formula.

latexify drops keyword arguments, method receivers, defaults and `.T` without a word, and some parentheses. So a
function is first read against the list of what is rendered faithfully; all else is refused with the function, the
line and the construct. What is rendered gets our names, our parentheses, ⊙ for elementwise products of arrays, every
keyword, the axis below the name of what goes along it, and W_{i,j} for both spellings of an element.

Expressions need no source: for those use `latex`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .source_arguments import Places, returned_places, without_reading
from .source_codegen import codegen
from .source_reading import Reading, SourceError

# NumPy's functions that give their argument back as an array.
READS: dict[str, Places] = {"np.asarray": 0, "np.asanyarray": 0, "np.array": 0}


def source_latex(function: Callable[..., Any] | str, signature: bool = True, *,
                 reads: Mapping[str, Places] = READS, checks: Collection[str] = (),
                 messages: Collection[str] = ()) -> str:
    r"""The LaTeX of a function's source; a function, or the text of one `def`.

    What computes nothing is left out: the docstring, `assert`, an `if` that can only raise, calls of the functions
    named in `checks`, those of `reads`, which return the argument at the place given (or those at several places; of
    helpers in the function's module it is found out), and what helpers take under the names of `messages`.
    An axis stands below the name of what goes along it; `.T` is 𝖳, a swap of the last two axes ⊤; ← is a new value.

    Raises `SourceError` for what would not be shown faithfully.

    >>> print(source_latex("def f(d_model, beta_1):\n    return math.log(d_model) * beta_1"))
    f(d_{\text{model}}, \beta_{1}) = \log\left(d_{\text{model}}\right) \beta_{1}
    >>> print(source_latex("def f(p, *, eps=1e-5):\n    return p - np.sum(p*p, axis=-1, keepdims=True)/eps"))
    f(p; \varepsilon = 10^{-5}) = p - \frac{\operatorname{sum}_{-1}^{\mathrm{keep}}(p \odot p)}{\varepsilon}
    """
    tree, place = _parsed(function)
    silent: dict[str, list[int]] = {}
    if not isinstance(function, str):
        reads = {**_reading_helpers(function, tree, reads, checks, frozenset()), **reads}
        silent = {name: [n for n, p in enumerate(inspect.signature(helper).parameters) if p in messages]
                  for name, helper in _helpers(function, tree).items()}
    without_reading(tree, reads, checks, silent)
    checker = Reading(tree, place)
    checker.check()
    from latexify import exceptions

    try:
        return codegen(checker, signature).visit(tree)
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


def _helpers(function: Callable[..., Any], tree: ast.FunctionDef) -> dict[str, Callable[..., Any]]:
    """The functions of its module that a function calls by name; a name of its own is another thing."""
    known = getattr(function, "__globals__", {})
    own = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} | {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = dict.fromkeys(n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    return {n: known[n] for n in names
            if n not in own and inspect.isfunction(known.get(n)) and known[n].__name__ == n}


def _reading_helpers(function: Callable[..., Any], tree: ast.FunctionDef, reads: Mapping[str, Places],
                     checks: Collection[str], inside: frozenset[str]) -> dict[str, Places]:
    """The functions that are called and that return arguments of theirs, which they only read and check."""
    found: dict[str, Places] = {}
    for name, helper in _helpers(function, tree).items():
        if name in reads or name in inside:
            continue
        try:
            own, _ = _parsed(helper)
        except SourceError:
            continue
        without_reading(own, {**_reading_helpers(helper, own, reads, checks, inside | {name}), **reads}, checks)
        places = returned_places(own)
        if places is not None:
            found[name] = places
    return found


__all__ = ["READS", "SourceError", "source_latex"]
