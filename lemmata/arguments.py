"""How the words of a command line are read where formulas stand among them: before options are looked for.

A formula may begin with a minus sign (``lemmata gradient "-sum(y*log(p))"``) and is no option; a list of shapes may go
on after a space (``--shapes z=N,K y=N,K``). Errors raised on purpose become one message and exit code 2, without a
traceback.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .terminal import fail

LISTS = ("--shapes", "--domain", "--sizes")
# name=, name=K, name=N,2*H, name=simplex, name=(0,1): what may go on a list of shapes or domains; `a == b` may not.
_LIST_ITEM = re.compile(r"[^\W\d]\w*=(?!=)[^=]*,?")


class Commands(TyperGroup):
    """The group of all commands; errors of Lemmata end in a message, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from .symbolic.language.errors import LemmataError

            if not isinstance(error, LemmataError):
                raise
            raise fail(str(error)) from None


class FormulaCommand(TyperCommand):
    """A command whose arguments are formulas."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words, formulas set apart from options."""
        flags, valued = set(), set()
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "option":
                names = {*parameter.opts, *parameter.secondary_opts}
                if getattr(parameter, "is_flag", False):
                    flags |= names
                else:
                    valued |= names
        return super().parse_args(ctx, set_apart(args, flags, valued))


def set_apart(words: Sequence[str], flags: set[str], valued: set[str]) -> list[str]:
    """Options first, then ``--``, then the formulas, so that ``-sum(z)`` is not taken for an option.

    >>> set_apart(["-sum(z)", "--wrt", "z", "--shapes", "z=N,K", "y=N"], {"--json"}, {"--wrt", "--shapes"})
    ['--wrt', 'z', '--shapes', 'z=N,K y=N', '--', '-sum(z)']
    """
    options: list[str] = []
    formulas: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            formulas += rest
            break
        if word in valued:
            options += [word, *rest[:1]]
            del rest[:1]
        elif word in flags or word.startswith("--"):  # an unknown --option is left for the parser to name
            options.append(word)
            if not equals or name not in LISTS:
                continue
            options[-1:] = [name, value]
        else:
            formulas.append(word)
            continue
        if options[-2:-1] and options[-2] in LISTS:
            while rest and _LIST_ITEM.fullmatch(rest[0]):
                options[-1] += " " + rest.pop(0)
    return [*options, "--", *formulas] if formulas else options


def known_topic(asked: str, topics: Sequence[str]) -> str:
    """The topic that is meant: case, hyphens and spaces do not matter, and a part is enough where it is clear."""
    plain = {re.sub(r"[\s_-]+", " ", t.lower()): t for t in topics}
    wanted = re.sub(r"[\s_-]+", " ", asked.strip().lower())
    found = [plain[wanted]] if wanted in plain else [t for p, t in plain.items() if wanted and wanted in p]
    if len(found) == 1:
        return found[0]
    what = f"{asked!r} may mean {', '.join(found)}" if found else f"there is no topic {asked!r}"
    raise typer.BadParameter(f"{what}; topics: {', '.join(topics)}", param_hint="--topic")
