"""The errors of the language: every one names what was asked, the sizes, and what to write instead."""

from __future__ import annotations


class LemmataError(Exception):
    """Base of every error that Lemmata raises on purpose.

    `part` is what the error is about where a question was asked in several texts: the text's name, and which of them
    where there are several (hypotheses).
    """

    part: tuple[str, int] = ("", 0)


class ShapeError(LemmataError, ValueError):
    """Sizes that do not agree; the message holds both shapes and the operation."""


class IndexError_(LemmataError, IndexError):
    """An index that does not fit its axis, or a wrong number of indices."""


class UnsupportedError(LemmataError, NotImplementedError):
    """A construct without a rule: named, never answered with 0."""


class HypothesisError(LemmataError, ValueError):
    """A hypothesis that is missing, malformed or contradictory."""


class FormulaError(LemmataError, ValueError):
    """A formula string that does not parse, with the place where reading stopped."""
