"""Questions asked in text: a formula, shapes, domains and hypotheses become a derivation with its result.

`formulas` reads each text; here they come together, the arrays keep the order in which they were declared, and the
derivation is named by the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from . import api
from .result import Result
from .symbolic.derivations.model import Derivation, Detail, Verdict
from .symbolic.language.arrays import Array, array, tensor_of
from .symbolic.language.declarations import check_name, read_arrays, read_shapes
from .symbolic.language.errors import FormulaError, LemmataError
from .symbolic.language.sizes import Size

Kind = Literal["gradient", "jacobian", "hessian", "vjp", "jvp"]
Format = Literal["text", "latex", "markdown", "json", "tex", "tex-input", "numpy"]

_TITLES: dict[Kind, str] = {
    "gradient": "Gradient of {0} with respect to {1}",
    "jacobian": "Jacobian of {0} with respect to {1}",
    "hessian": "Hessian of {0} with respect to {1}",
    "vjp": "Vector-Jacobian product of {0} with respect to {1}",
    "jvp": "Jacobian-vector product of {0} with respect to {1}",
}


def derive_formula(kind: Kind, formula: str, wrt: str, *, shapes: str, domains: str = "", given: Sequence[str] = (),
                   direction: str = "") -> Result:
    """A derivative of a formula by one of its arrays.

    `direction` is the cotangent of a VJP or the tangent of a JVP: a declared name, or a declaration such as ``g=N,K``.

    >>> derive_formula("gradient", "-sum(y*log(softmax(z)))", "z", shapes="z=K y=K", given=["sum(y)=1"]).vector_form
    'p − y'
    """
    names = _declared(shapes, domains)
    variable = names.get(wrt.strip())
    if variable is None:
        with _about("wrt"):
            raise FormulaError(f"the array to differentiate by, {wrt!r}, has no shape; declared: "
                               f"{', '.join(names) or 'nothing'}. Give it one, e.g. --shapes {wrt.strip() or 'z'}=K")
    with _about("formula"):
        value = api.read_formula(formula, names)
    hypotheses = _hypotheses(given, names)
    with _about("formula"):
        match kind:
            case "gradient":
                result = api.gradient(value, variable, hypotheses)
            case "jacobian":
                result = api.jacobian(value, variable, hypotheses)
            case "hessian":
                result = api.hessian(value, variable, hypotheses)
            case "vjp":
                result = api.vjp(value, variable, _direction(direction, names, value), hypotheses)
            case "jvp":
                result = api.jvp(value, variable, _direction(direction, names, variable), hypotheses)
    return _named(result.derivation, _TITLES[kind].format(" ".join(formula.split()), wrt.strip()), names)


def prove_equation(equation: str, *, shapes: str, domains: str = "", given: Sequence[str] = ()) -> Result:
    """The claim that two formulas are equal, for every size.

    >>> prove_equation("sum(softmax(z)) == 1", shapes="z=K").verdict.verdict
    'proved'
    """
    names = _declared(shapes, domains)
    with _about("formula"):
        left, right = api.read_equation(equation, names)
    result = api.prove(left, right, _hypotheses(given, names))
    return _named(result.derivation, " ".join(equation.split()), names)


@contextmanager
def _about(name: str, which: int = 0) -> Iterator[None]:
    """Errors in here are about this part of the question."""
    try:
        yield
    except LemmataError as error:
        error.part = error.part if error.part[0] else (name, which)
        raise


def _declared(shapes: str, domains: str) -> dict[str, Array]:
    with _about("shapes"):
        if not shapes.strip() and domains.strip():
            raise FormulaError(f"domains are given ({domains.strip()}), but no shapes; give them, e.g. --shapes z=N,K")
        if not shapes.strip():
            return {}
        read_shapes(shapes)
    with _about("domain"):
        return read_arrays(shapes, domains)


def _hypotheses(given: Sequence[str], names: dict[str, Array]) -> list[api.Hypothesis]:
    found = []
    for which, text in enumerate(given):
        with _about("given", which):
            found.append(api.read_hypothesis(text, names))
    return found


def _direction(text: str, names: dict[str, Array], like: Array) -> Array | None:
    name, equals, _ = text.strip().partition("=")
    if not name:
        return None
    with _about("direction"):
        if not equals:
            return names[name] if name in names else array(check_name(name.strip()), like.shape)
        if name in names:
            raise FormulaError(
                f"{name} is declared twice, in --shapes and as the direction; write its name only: {name}")
        return read_arrays(text)[name]


def _named(d: Derivation, title: str, names: dict[str, Array]) -> Result:
    declared = [tensor_of(a) for a in names.values()]
    found = list(d.tensors)
    # An array that cancelled is still an argument where a size is read from it: z - z is K zeros.
    sizes = {s for e in (d.left, d.right, *(i.size for i in d.indices)) for s in e.free_symbols if isinstance(s, Size)}
    for s in sorted(sizes, key=str):
        if not any(s in t.shape for t in found):
            found += [t for t in declared if s in t.shape][:1]
    order = {t: n for n, t in enumerate(declared)}
    found.sort(key=lambda t: order.get(t, len(order)))
    return Result(replace(d, name=title, title=title, tensors=tuple(found)))


def shown(result: Result, form: Format, detail: Detail, name: str = "") -> str:
    """A result in the output format that was asked for; `name` is that of the generated function."""
    match form:
        case "text":
            return result.text(detail)
        case "latex":
            return result.latex(detail)
        case "markdown":
            return result.markdown(detail)
        case "tex":
            return result.tex(detail)
        case "tex-input":
            return result.tex_input(detail)
        case "json":
            return result.to_json()
        case "numpy":
            return result.numpy_source(name)


def hints(result: Result, verdict: Verdict) -> list[str]:
    """What the reader of an answer should know of its assumptions, and the next step where it is not proved."""
    d = result.derivation
    real = [t.name for t in d.tensors if t.domain.name == "real"]
    found = []
    if not d.hypotheses and len(real) == len(d.tensors):
        found.append("no hypotheses were given (--given, --domain)")
    c = verdict.counterexample
    if c is not None and real and c.left.startswith("undefined") != c.right.startswith("undefined"):
        variable = getattr(d.variable, "tensor", d.variable)
        name = next((n for n in real if n == getattr(variable, "name", "")), real[0])
        found.append("one side has no value at these inputs; if they are not meant, say which are, e.g. "
                     f"--domain {name}=positive, or --given \"...\"")
    return found


def data(result: Result, kind: Kind) -> dict[str, object]:
    """A derived result as JSON data: the statement, the answer in its forms, and the code."""
    from .symbolic.rendering import latex, text

    d = result.derivation
    try:
        source: str | None = result.numpy_source(kind)
    except api.LemmataError:
        source = None
    return {"statement": f"{text(d.left)} = {text(d.right)}", "result": text(d.right), "latex": latex(d.right),
            "vector_form": result.vector_form, "numpy": source, "hypotheses": [str(h) for h in d.hypotheses]}
