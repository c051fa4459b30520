"""What may be asked of the live page, and what is sent to a worker: texts of known names and bounded length.

Nothing of the mathematics is read here: that is done in the worker, under its limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Question = dict[str, str]

MAX_BODY = 64 * 1024  # bytes of a request
_FORMULA = 20_000  # characters, as the formula reader has it
_LIST = 4_000
_WORD = 200

_DECLARED = ("formula", "shapes", "domain", "given", "detail")
# Each kind of question and its parts; the first is the one that must be there.
KINDS: dict[str, tuple[str, ...]] = {
    "gradient": (*_DECLARED, "wrt"),
    "jacobian": (*_DECLARED, "wrt"),
    "hessian": (*_DECLARED, "wrt"),
    "vjp": (*_DECLARED, "wrt", "cotangent"),
    "jvp": (*_DECLARED, "wrt", "tangent"),
    "prove": _DECLARED,
    "theorem": ("name", "detail"),
    "mha": ("x", "heads", "kv_heads", "head_size", "mask", "cache"),
}
_LENGTHS = {"formula": _FORMULA, "given": _FORMULA, "shapes": _LIST, "domain": _LIST}
_CHOICES = {"detail": ("brief", "normal", "full"), "mask": ("", "causal", "padding")}


class RequestError(Exception):
    """A request that is no question; `field` is the part at fault."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def read_question(data: Any) -> Question:
    """The question in a request's JSON: ``ask`` and the parts of that kind, all texts, none missing.

    >>> read_question({"ask": "theorem", "name": "deriv_softmax"})
    {'ask': 'theorem', 'name': 'deriv_softmax', 'detail': 'normal'}
    """
    if not isinstance(data, Mapping):
        raise RequestError("a question is a JSON object, e.g. {\"ask\": \"theorem\", \"name\": \"deriv_softmax\"}")
    ask = data.get("ask")
    if not isinstance(ask, str) or ask not in KINDS:
        raise RequestError(f"what is asked ({_short(ask)}) is none of {', '.join(KINDS)}", "ask")
    parts = KINDS[ask]
    question = {"ask": ask} | dict.fromkeys(parts, "") | ({"detail": "normal"} if "detail" in parts else {})
    for key, value in data.items():
        if key == "ask":
            continue
        if key not in parts:
            raise RequestError(f"{_short(key)} is not a part of a question about {ask}; its parts: {', '.join(parts)}")
        question[key] = _text(key, value)
    if not question[parts[0]].strip():
        raise RequestError(f"the {parts[0]} is empty", parts[0])
    return question


def _text(part: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{part} is a text, got {_short(value)}", part)
    limit = _LENGTHS.get(part, _WORD)
    if len(value) > limit:
        raise RequestError(f"{part} has {len(value)} characters; the limit is {limit}", part)
    if part in _CHOICES and value not in _CHOICES[part]:
        raise RequestError(f"{part} is {' or '.join(c or 'empty' for c in _CHOICES[part])}, got {_short(value)}", part)
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
