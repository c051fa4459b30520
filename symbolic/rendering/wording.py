"""The words of a derivation in another language: each phrase is looked up in a catalogue, `languages/<name>.toml`.

Renderers write English and pass what they say through `said`; inside of ``with language("zh")`` it comes out in
Chinese. A key with ``{}`` stands for every phrase of that form, and what stands in its places is kept. A phrase that
the catalogue does not have stays English.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ..language.errors import LemmataError

_FOLDER = Path(__file__).parent / "languages"
ENGLISH = "en"


def languages() -> tuple[str, ...]:
    """English, and those with a catalogue."""
    return (ENGLISH, *sorted(p.stem for p in _FOLDER.glob("*.toml")))


class Catalogue:
    """Phrases and what they are in the language; `missing` collects those that were asked for in vain."""

    def __init__(self, phrases: dict[str, str]) -> None:
        self._exact = {k: v for k, v in phrases.items() if "{}" not in k}
        forms = [(k, v) for k, v in phrases.items() if "{}" in k]
        # The more a form says itself, the earlier it is tried.
        forms.sort(key=lambda item: (-len(item[0]), item[0]))
        self._forms = [(re.compile("(.+?)".join(map(re.escape, k.split("{}"))), re.DOTALL), v) for k, v in forms]
        self.missing: dict[str, None] = {}

    def __call__(self, text: str) -> str:
        """The phrase in the language, or as it is."""
        found = self._exact.get(text)
        if found is not None:
            return found
        for form, translation in self._forms:
            match = form.fullmatch(text)
            if match is not None:
                return translation.format(*match.groups())
        self.missing.setdefault(text)
        return text


@functools.cache
def catalogue(name: str) -> Catalogue:
    """The catalogue of a language; a `LemmataError` where there is none."""
    path = _FOLDER / f"{name}.toml"
    if name not in languages():
        raise LemmataError(f"there are no words in the language {name!r}; languages: {', '.join(languages())}")
    return Catalogue(tomllib.loads(path.read_text(encoding="utf-8"))["phrases"])


_CHOSEN: ContextVar[Catalogue | None] = ContextVar("language", default=None)


@contextmanager
def language(name: str) -> Iterator[None]:
    """What is said inside is said in this language.

    >>> with language("zh"):
    ...     said("product rule"), said("this is p again")
    ('乘积法则', '这正是 p')
    """
    token = _CHOSEN.set(None if name == ENGLISH else catalogue(name))
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def said(text: str) -> str:
    """An English phrase in the language that is chosen."""
    chosen = _CHOSEN.get()
    return text if chosen is None or not text else chosen(text)


def listed(parts: Iterable[str], between: str = "; ") -> str:
    """Phrases one after the other, each in the language, and so is what stands between them."""
    return said(between).join(map(said, parts))
