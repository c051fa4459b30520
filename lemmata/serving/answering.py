"""A question becomes an answer: JSON data, made inside a worker process under its limits of time and memory."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

from ..api import LemmataError, lookup_theorem, multi_head_attention, theorems, verify_derivation
from ..questions import Kind, derive_formula, hints, prove_equation
from ..result import Result
from ..symbolic.derivations.model import Detail, Verdict
from ..symbolic.language.limits import check_text, place_in
from ..symbolic.language.sizes import size
from ..symbolic.rendering.derivation import derivation_parts
from ..symbolic.rendering.verdict import verdict_data
from ..terminal import headline, sizes_of
from .asking import Question

Answer = dict[str, Any]

MAX_ANSWER = 2_000_000  # bytes of JSON
_DIRECTIONS = {"vjp": "cotangent", "jvp": "tangent"}
_FUNCTIONS = {"theorem": "", "prove": "value"}  # names of the generated functions, where it is not the kind's
_DISPLAYED = re.compile(r"^\$\$\n.*?\n\$\$$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"(?<!\S)--(?=[a-z])|(?<=\()--(?=[a-z])")  # messages name the options of the command line
_CARET = re.compile(r"\n  .*\n *\^\Z")


def answer_question(question: Question) -> Answer:
    """The answer to a question (see `asking`), or ``{"error": ...}`` with the part at fault and the place in it."""
    try:
        answer = _ANSWERS.get(question["ask"], _formula)(question)
    except LemmataError as error:
        return {"error": _unread(error, question)}
    except (MemoryError, OverflowError):  # sizes are checked at arrays of these sizes; a size may have twenty digits
        return failure("memory", "this needs more memory than a question may take; ask for smaller sizes, or for names "
                                 "(z=K), which stand for every size")
    except Exception as error:
        return failure("defect", f"Lemmata could not answer this ({type(error).__name__}: {str(error)[:200]}); this is "
                                 "a defect in Lemmata, not in the question")
    if len(json.dumps(answer)) > MAX_ANSWER:
        return failure("size", f"the answer has more than {MAX_ANSWER} bytes; ask for less detail")
    return answer


def failure(kind: str, message: str, field: str = "", position: int | None = None) -> Answer:
    """An answer that is an error. `position` counts characters of the field as it was typed."""
    return {"error": {"kind": kind, "message": message, "field": field, "position": position}}


def _unread(error: LemmataError, question: Question) -> dict[str, Any]:
    name, which = error.part
    message = _OPTION.sub("", str(error))
    field = _DIRECTIONS.get(question["ask"], name) if name == "direction" else name
    position = None
    if field in question:
        text, before = question[field], 0
        if field == "given":
            before, text = _hypotheses(text)[which]
        position = place_in(message, text)
        if position is not None:
            position, message = position + before, _CARET.sub("", message)
    found: dict[str, Any] = failure("question", message, field, position)["error"]
    return found


def _hypotheses(given: str) -> list[tuple[int, str]]:
    """The hypotheses of a text, separated by ``;`` or line ends, each with its place."""
    return [(m.start(), m[0]) for m in re.finditer(r"[^;\n]+", given) if m[0].strip()]


# ---------------------------------------------------------------------- answers
def _formula(question: Question) -> Answer:
    kind = question["ask"]
    given = [text for _, text in _hypotheses(question["given"])]
    shapes, domain = question["shapes"], question["domain"]
    if kind == "prove":
        result = prove_equation(question["formula"], shapes=shapes, domains=domain, given=given)
    else:
        chosen: Kind = kind  # type: ignore[assignment]
        result = derive_formula(chosen, question["formula"], question["wrt"], shapes=shapes, domains=domain,
                                given=given, direction=question.get(_DIRECTIONS.get(kind, ""), ""))
    verdict = verify_derivation(result.derivation)
    return _derivation(question, result, verdict, hints(result, verdict) if kind != "prove" or
                       verdict.verdict != "proved" else [])


def _theorem(question: Question) -> Answer:
    try:
        result = lookup_theorem(question["name"].strip())
    except LemmataError as error:
        error.part = ("name", 0)
        raise
    return _derivation(question, result, result.verdict, [])


def _derivation(question: Question, result: Result, verdict: Verdict, said: list[str]) -> Answer:
    detail: Detail = question["detail"]  # type: ignore[assignment]
    source = None
    if question["ask"] != "prove" or verdict.verdict == "proved":
        with contextlib.suppress(LemmataError):
            source = result.numpy_source(_FUNCTIONS.get(question["ask"], question["ask"]))
    return {"ask": question["ask"], "headline": headline(verdict, sizes_of(result.derivation)),
            "hints": [_OPTION.sub("", text) for text in said],
            "result": "" if question["ask"] == "prove" else _result(result),
            "markdown": result.markdown(detail), "latex": result.latex(detail), "numpy": source} | verdict_data(verdict)


def _result(result: Result) -> str:
    """What was found, without the way to it: the vector form, or the statement, as Markdown."""
    parts = derivation_parts(result.derivation, "brief")
    return "\n".join(_DISPLAYED.findall("\n".join(parts.result or parts.chain)))


def _attention(question: Question) -> Answer:
    def optional(part: str) -> Any:
        return _size(question, part) if question[part].strip() else None

    x = [_size(question, "x", text) for text in question["x"].split(",")]
    mask: Any = question["mask"]
    trace = multi_head_attention(x, _size(question, "heads"), kv_heads=optional("kv_heads"), mask=mask,
                                 cache=optional("cache"), head_size=optional("head_size"))
    return {"ask": "mha", "headline": "shapes traced", "markdown": trace.markdown(), "latex": trace.latex(),
            "svg": trace.svg()}


def _size(question: Question, part: str, text: str | None = None) -> Any:
    try:
        return size(check_text(question[part] if text is None else text, "size"))
    except LemmataError as error:
        error.part = (part, 0)
        raise


def _theorems(question: Question) -> Answer:
    return {"theorems": [{"name": t.name, "title": t.title, "topic": t.topic} for t in theorems().values()]}


_ANSWERS: dict[str, Callable[[Question], Answer]] = {"theorem": _theorem, "mha": _attention, "theorems": _theorems}
