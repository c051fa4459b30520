"""Questions asked in text: a formula, shapes, domains and hypotheses become a derivation with its result.

`formulas` reads each text; here they come together, the arrays keep the order in which they were declared, and the derivation
is named by the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from . import api
from .result import Result
from .symbolic.derivations.model import Derivation, Detail
from .symbolic.language.arrays import Array, array, tensor_of
from .symbolic.language.declarations import read_arrays
from .symbolic.language.errors import FormulaError
from .symbolic.language.nodes import DefinedTensor
from .symbolic.rendering.vector_form import vector_form

Kind = Literal["gradient", "jacobian", "hessian", "vjp", "jvp"]
Format = Literal["text", "latex", "markdown", "json", "tex", "numpy"]

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
    names = read_arrays(shapes, domains)
    variable = names.get(wrt.strip())
    if variable is None:
        raise FormulaError(f"the array to differentiate by, {wrt!r}, has no shape; declared: {', '.join(names) or 'nothing'}. "
                           f"Give it one, e.g. --shapes {wrt.strip() or 'z'}=K")
    value = api.read_formula(formula, names)
    hypotheses = [api.read_hypothesis(h, names) for h in given]
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
    names = read_arrays(shapes, domains)
    left, right = api.read_equation(equation, names)
    result = api.prove(left, right, [api.read_hypothesis(h, names) for h in given])
    return _named(result.derivation, " ".join(equation.split()), names)


def _direction(text: str, names: dict[str, Array], like: Array) -> Array | None:
    name, equals, _ = text.strip().partition("=")
    if not name:
        return None
    if not equals:
        return names[name] if name in names else array(name, like.shape)
    if name in names:
        raise FormulaError(f"{name} is declared twice, in --shapes and as the direction; write its name only: {name}")
    return read_arrays(text)[name]


def _named(d: Derivation, title: str, names: dict[str, Array]) -> Result:
    order = {tensor_of(a): n for n, a in enumerate(names.values())}
    declared = tuple(sorted(d.tensors, key=lambda t: order.get(t, len(order))))
    return Result(replace(d, name=title, title=title, tensors=declared))


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
        case "json":
            return result.to_json()
        case "numpy":
            return result.numpy_source(name)


def hints(result: Result) -> list[str]:
    """What the reader of an answer should know of its assumptions."""
    d = result.derivation
    domains = [t for t in d.tensors if not isinstance(t, DefinedTensor) and t.domain.name != "real"]
    if not d.hypotheses and not domains:
        return ["no hypotheses were given (--given, --domain): this holds for every real input"]
    return []


def data(result: Result) -> dict[str, object]:
    """A derived result as JSON data: the statement, the answer in its forms, and the code."""
    from .symbolic.rendering import latex, text

    d = result.derivation
    try:
        source: str | None = result.numpy_source()
    except api.LemmataError:
        source = None
    return {"statement": f"{text(d.left)} = {text(d.right)}", "result": text(d.right), "latex": latex(d.right),
            "vector_form": result.vector_form if vector_form(d.right, d.indices) is not None else None, "numpy": source,
            "hypotheses": [str(h) for h in d.hypotheses]}
