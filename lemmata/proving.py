"""Claims about the user's own functions: a gradient is right, a rewrite is equal; and the gradient derived from code.

Functions are run, and read by running them on symbolic arrays (`symbolic.tracing`). The words for shapes, domains and
hypotheses are those of formulas; see `code_declarations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .code_declarations import Avoid, Domains, Given, Shapes, Sizes, declarations
from .code_proof import CodeProof, Formula
from .code_questions import Cotangent, gradient_questions, probe, value_question
from .equalities_of_code import prove_equality, read_value
from .gradients_of_code import GradientQuestion, prove_question, symbolic_arguments
from .residuals import explain
from .result import Result
from .shrinking import shrunk
from .symbolic.derivations import gradients
from .symbolic.derivations.model import Verdict
from .symbolic.language.arrays import Array, array
from .symbolic.language.errors import FormulaError, LemmataError
from .symbolic.language.sizes import Size, size
from .symbolic.rendering import Letters, text

Function = Callable[..., Any]
SECONDS = 10.0
_SHAPE = re.compile(r"\([\d, ]*\)")


def prove_gradient(forward: Function, backward: Function, wrt: str | Sequence[str], shapes: Shapes, *,
                   domains: Domains = None,
                   given: Given = (), cotangent: Cotangent = None, sizes: Sizes = None, avoid: Avoid = None,
                   seconds: float = SECONDS, seed: int = 0) -> CodeProof:
    """Whether `backward` computes the gradient of `forward`: proved for every size, refuted by a counterexample, or
    supported.

    For an output that is an array, `cotangent` names the parameter of `backward` that takes the gradient by the output,
    with its
    sizes: ``"g=N,K"``. `backward` takes what it names: arguments of `forward`, the cotangent, and what `forward`
    returns after its output (a cache). With a list of names in `wrt` it returns a tuple in that order, or a dictionary.
    `given` holds hypotheses (``"sum(y, axis=1)=1"``), `sizes` ranges of sizes (``{"N": (2, 5), "K": 3}``; default 1 to
    4 when run, all sizes in the proof; one number means that size), `avoid` what must not vanish (kinks).

    `seconds` bounds the search for a proof and is looked at between its steps. The functions run in this process, so
    that one that never returns is not stopped; `lemmata prove file.py:forward file.py:backward` and `prove_claims` run
    them in processes that are killed when the time is over.

    >>> import numpy as np
    >>> def loss(z, y):
    ...     return np.sum(np.log(np.sum(np.exp(z), axis=1))) / len(z) - np.sum(y * z) / len(z)
    >>> def loss_grad(z, y):
    ...     e = np.exp(z)
    ...     return (e / e.sum(axis=1, keepdims=True) - y) / len(z)
    >>> prove_gradient(loss, loss_grad, wrt="z", shapes={"z": "N,K", "y": "N,K"}).verdict.verdict
    'proved'
    >>> proof = prove_gradient(loss, lambda z, y: loss_grad(z, y) * len(z), wrt="z", shapes="z=N,K y=N,K")
    >>> proof.verdict.verdict, proof.counterexample.residual
    ('refuted', 'the claim lacks the factor 1/N')

    Raises `FormulaError`, `ShapeError` or `UnsupportedError` where the functions and what is declared do not fit
    together.
    """
    declared = declarations(shapes, domains, given, sizes, avoid)
    questions = gradient_questions(forward, backward, wrt, declared, cotangent, seed=seed)
    verdicts = {}
    for name, q in questions.items():
        verdict = prove_question(q, seed=seed, seconds=seconds)
        verdicts[name] = _explained(q, verdict, seed) if verdict.verdict == "refuted" else verdict
    by = ", ".join(questions)
    first, f, b = next(iter(questions.values())), _name(forward), _name(backward)
    return CodeProof(f"{b} is the gradient of {f} with respect to {by}", verdicts, f"differences of {f}", b,
                     _sizes(first),
                     lambda: (_formula(f, first), *(_gradient_formula(b if len(questions) == 1 else f"{b}, d{n}", q)
                                                    for n, q in questions.items())))


def prove_equal(f: Function, g: Function, shapes: Shapes, *, domains: Domains = None, given: Given = (),
                sizes: Sizes = None,
                avoid: Avoid = None, seconds: float = SECONDS, seed: int = 0) -> CodeProof:
    """Whether two functions compute the same (a stable or a fused form of a formula): proved, refuted or supported.

    Both take the same arguments, by name. They are run at moderate values, where a naive form does not overflow.

    >>> import numpy as np
    >>> def naive(z): return np.log(np.sum(np.exp(z), axis=1))
    >>> def stable(z):
    ...     m = z.max(axis=1)
    ...     return m + np.log(np.sum(np.exp(z - m[:, None]), axis=1))
    >>> prove_equal(naive, stable, shapes="z=N,K").verdict.verdict
    'proved'
    >>> prove_equal(naive, lambda z: stable(z) * 1.0009, shapes="z=N,K").verdict.verdict
    'refuted'
    """
    declared = declarations(shapes, domains, given, sizes, avoid)
    left, right = value_question(f, declared), value_question(g, declared)
    probe(left, f, seed)
    verdict = prove_equality(left, right, seed=seed, seconds=seconds)
    names = _name(f), _name(g)
    return CodeProof(f"{names[0]} = {names[1]}", {"": verdict}, *names, _sizes(left),
                     lambda: (_formula(names[0], left), _formula(names[1], right)))


def gradient_of(function: Function, wrt: str, shapes: Shapes, *, domains: Domains = None, given: Given = (),
                cotangent: Cotangent = None, sizes: Sizes = None) -> Result:
    """The gradient of a function, derived from its code step by step; `numpy_source` of the result writes NumPy for it.

    With a cotangent (``"g=N,K"``) the function may return an array, and the result is the vector-Jacobian product.

    >>> import numpy as np
    >>> def ridge(X, w, t, c):
    ...     return np.mean((X @ w - t) ** 2) + c * np.sum(w ** 2)
    >>> gradient_of(ridge, "w", "X=N,D w=D t=N c=").vector_form
    '(2c) w + 2 Xᵀ (X w − t)/N'
    """
    declared = declarations(shapes, domains, given, sizes)
    upstream: Array | None = None
    if cotangent:
        if not isinstance(cotangent, str):
            [(name, parts)] = cotangent.items()
            cotangent = f"{name}={parts if isinstance(parts, str) else ','.join(map(str, parts))}"
        named = declarations(cotangent if "=" in cotangent else {cotangent: declared.shapes.get(cotangent, ())},
                             sizes=sizes).arrays()
        [upstream] = named.values()
        declared = declared.without(cotangent.partition("=")[0].strip())
    q = value_question(function, declared)
    if wrt not in q.shapes:
        raise FormulaError(f"the array to differentiate by, {wrt!r}, has no shape; declared: "
                           f"{', '.join(q.shapes) or 'nothing'}")
    value, arrays = read_value(q), symbolic_arguments(q)
    hypotheses = list(declared.hypotheses(arrays))
    title = f"Gradient of {_name(function)} with respect to {wrt}"
    d = (gradients.gradient(value, arrays[wrt], hypotheses) if upstream is None
         else gradients.vjp(value, arrays[wrt], upstream, hypotheses))
    return Result(replace(d, name=f"{_name(function)}_gradient", title=title))


# ---------------------------------------------------------------------- what is said
def _explained(q: GradientQuestion, verdict: Verdict, seed: int) -> Verdict:
    """The verdict with a small counterexample that says, where it can, what the claim lacks."""
    c = verdict.counterexample
    assert c is not None
    if "the gradient has shape" not in c.residual:  # sizes that differ tell which axis is wrong
        verdict = shrunk(q, verdict, seed=seed)
        c = verdict.counterexample or c
    said = explain(q, seed=seed)
    if "the gradient has shape" in c.residual:
        declared, got = ", ".join(q.shapes[q.variable]), _SHAPE.search(c.residual)
        c = replace(c, left=f"an array of shape ({declared}{',' * (len(q.shapes[q.variable]) == 1)})",
                    right=f"an array of shape {got[0] if got else 'another'}")
    return replace(verdict, counterexample=replace(c, residual=said or c.residual))


def _name(function: Function) -> str:
    return getattr(function, "__name__", str(function)).replace("<lambda>", "lambda")


def _sizes(q: GradientQuestion) -> tuple[str, ...]:
    """The names of the sizes that are not fixed."""
    found = {s.name for shape in q.shapes.values() for part in shape for s in size(part).free_symbols
             if isinstance(s, Size)}
    fixed = {n for n, (low, high) in q.sizes.items() if low == high}
    return tuple(sorted((found | set(q.integers)) - fixed))


def _formula(name: str, q: GradientQuestion) -> Formula:
    return _written(name, lambda: read_value(q))


def _gradient_formula(name: str, q: GradientQuestion) -> Formula:
    def read() -> Array:
        given: dict[str, Any] = {**symbolic_arguments(q), **{n: size(n) for n in q.integers}}
        if q.cotangent is not None:
            given[q.cotangent[0]] = array(*q.cotangent)
        return q.read_backward(given, [])

    return _written(name, read)


def _written(name: str, read: Callable[[], Array]) -> Formula:
    """A function's name with its free indices, and its formula as one line of text."""
    try:
        value = read()
    except LemmataError as error:
        return name, f"not read: {' '.join(str(error).split())}"
    letters = Letters([value.body], value.indices)
    written = text(value.body, letters)
    at = f"[{', '.join(letters.letter(i).text for i in value.indices)}]" if value.indices else ""
    return name + at, written
