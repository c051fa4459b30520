"""Blocks in somebody's document: a block's kind, argument, options and body -> the Markdown that fills it.

    ```{derivation} deriv_softmax          ```{prove}
    :form: result                          :shapes: z=K, c=
    :label: eq-softmax                     softmax(z + c) == softmax(z)
    ```                                    ```

`woven` fills one block, and refuses one whose claim is not proved. `lemmata weave` replaces blocks in Markdown files
with it, `lemmata.sphinx` makes directives of it; it knows neither, and reads no files but the user's code that a block
names. `KINDS` is the one table of the kinds with their options; an option has one parser for all kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .symbolic.derivations.model import Counterexample, Verdict
from .symbolic.language.errors import LemmataError
from .symbolic.rendering.wording import ENGLISH, language, languages

# LaTeX of a display and its label ("" for none) -> the display in a dialect of Markdown.
Display = Callable[[str, str], str]


@dataclass(frozen=True)
class Block:
    """A block as it stands in a document: ``{kind} argument``, its options as text, its body; and where."""

    kind: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """``notes.md:12: {derivation} deriv_softmax``, for messages."""
        at = f"{self.file}:{self.line}: " if self.file else ""
        return f"{at}{{{self.kind}}} {self.argument}".rstrip()


@dataclass(frozen=True)
class Woven:
    """What fills a block.

    `verdict` is None where nothing is claimed (a trace of shapes). `depends_on` are the files of the user whose change
    asks for a new build; `theorem` is the registered theorem that is shown, "" for a question.
    """

    markdown: str
    verdict: Verdict | None = None
    depends_on: tuple[Path, ...] = ()
    label: str = ""
    theorem: str = ""


class BlockError(LemmataError, ValueError):
    """A block that cannot be read: an unknown kind, option or value, a formula that does not parse."""

    def __init__(self, block: Block, message: str) -> None:
        super().__init__(f"{block.place}: {message}")
        self.block = block


class BlockNotProved(BlockError):
    """A block whose claim was refuted or is not proved."""

    def __init__(self, block: Block, verdict: Verdict, report: str) -> None:
        super().__init__(block, report)
        self.verdict = verdict

    @property
    def reason(self) -> str:
        """Why it is not proved."""
        return self.verdict.reason

    @property
    def counterexample(self) -> Counterexample | None:
        """Sizes, inputs and both values where the claim is wrong, if it was refuted."""
        return self.verdict.counterexample


def plain_display(latex: str, label: str = "") -> str:
    """A display between dollar signs; plain Markdown has no numbers, so the label is dropped."""
    return f"$$\n{latex}\n$$"


def myst_display(latex: str, label: str = "") -> str:
    """A display of MyST, numbered where it has a label: ``$$ ... $$ (label)``."""
    return plain_display(latex) + (f" ({label})" if label else "")


def latex_display(latex: str, label: str = "") -> str:
    r"""A display for Markdown that becomes LaTeX: an ``equation`` with ``\label``, numbered where it has one."""
    if not label:
        return plain_display(latex)
    return f"\\begin{{equation}}\\label{{{label}}}\n{latex}\n\\end{{equation}}"


def woven(block: Block, folder: Path | str = ".", display: Display = plain_display) -> Woven:
    """Fill a block. `folder` is the document's, from which files of code are named; `display` writes an equation.

    Raises `BlockError` where the block cannot be read, and `BlockNotProved` where its claim is not proved; ``:allow:
    supported`` lets pass what is not proved but was compared without a difference (the text then says so).

    >>> print(woven(Block("derivation", "sum_softmax", {"form": "result"})).markdown)
    $$
    \\sum_{j} p_{j} = 1
    $$
    <BLANKLINE>
    where $p_{i} := \\frac{e^{z_{i}}}{\\sum_{j} e^{z_{j}}}$
    <BLANKLINE>
    """
    from . import weaving_kinds

    if block.kind not in KINDS:
        raise BlockError(block, f"there is no block {{{block.kind}}}; blocks: {', '.join(KINDS)}")
    options = _read_options(block)
    try:
        with language(options.get("language", ENGLISH)):
            filled: Woven = getattr(weaving_kinds, block.kind)(block, options, Path(folder), display)
    except BlockError:
        raise
    except LemmataError as error:
        raise BlockError(block, " ".join(str(error).split("\n", 1)[0].split())
                         + "".join("\n" + line for line in str(error).split("\n")[1:])) from error
    return filled


def accepted(block: Block, verdict: Verdict, report: str) -> None:
    """Refuse a verdict other than proved, or supported where the block allows that."""
    allowed = ("proved", "supported") if block.options.get("allow", "").strip() == "supported" else ("proved",)
    if verdict.verdict not in allowed:
        raise BlockNotProved(block, verdict, report)


# ---------------------------------------------------------------------- options
Parser = Callable[[str], Any]


def _one_of(*allowed: str) -> Parser:
    def parse(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"is one of {', '.join(allowed)}, got {text!r}")
        return text

    return parse


def _text(text: str) -> str:
    if not text:
        raise ValueError("needs a value")
    return text


def _hypotheses(text: str) -> list[str]:
    found = [h.strip() for h in re.split(r"[;\n]", text) if h.strip()]
    if not found:
        raise ValueError("needs a value")
    return found


def _sizes(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _text(text).split(","))


def _flag(text: str) -> bool:
    if text not in ("", "true", "false"):
        raise ValueError(f"is a flag, without a value, got {text!r}")
    return text != "false"


def _label(text: str) -> str:
    if not re.fullmatch(r"[\w:.-]+", text, re.ASCII):
        raise ValueError(f"has letters, digits and - _ : . only, got {text!r}")
    return text


_DETAIL = _one_of("brief", "normal", "full")
_FORMS = _one_of("steps", "display", "result", "vector")
_COMMON: dict[str, Parser] = {"label": _label, "allow": _one_of("supported"), "language": _one_of(*languages())}
_DECLARED: dict[str, Parser] = {"shapes": _text, "domain": _text, "given": _hypotheses}
_CODE: dict[str, Parser] = {"cotangent": _text, "sizes": _text, "avoid": _text}


@dataclass(frozen=True)
class BlockKind:
    """A kind of block: its options, and what its argument is ("" for none); `weaving_kinds` has a function of its
    name.
    """

    options: Mapping[str, Parser]
    argument: str


KINDS: Mapping[str, BlockKind] = {
    "derivation": BlockKind(
        {"detail": _DETAIL, "form": _FORMS, "wrt": _text, "cotangent": _text, "tangent": _text,
         "kind": _one_of("gradient", "jacobian", "hessian", "vjp", "jvp"), **_DECLARED, **_COMMON},
        "a theorem's name"),
    "theorem": BlockKind({**_COMMON}, "a theorem's name"),
    "shapes": BlockKind(
        {"x": _sizes, "q": _sizes, "kv": _sizes, "heads": _text, "kv-heads": _text, "head-size": _text, "cache": _text,
         "mask": _one_of("causal", "padding"), "length-first": _flag, "no-bias": _flag,
         "form": _one_of("table", "svg", "latex"), "label": _label, "language": _COMMON["language"]},
        "mha or cross-attention"),
    "gradient": BlockKind(
        {"wrt": _text, "backward": _text, "detail": _DETAIL, "form": _FORMS, **_DECLARED, **_CODE, **_COMMON},
        "a function, package.module:function or file.py:function"),
    "prove": BlockKind({**_DECLARED, **_COMMON}, ""),
}


def _read_options(block: Block) -> dict[str, Any]:
    kind = KINDS[block.kind]
    found = {}
    for name, text in block.options.items():
        if name not in kind.options:
            raise BlockError(block, f"there is no option :{name}:; options: {', '.join(kind.options)}")
        try:
            found[name] = kind.options[name](text.strip())
        except ValueError as error:
            raise BlockError(block, f":{name}: {error}") from None
    if block.argument and not kind.argument:
        raise BlockError(block, f"it takes no argument, got {block.argument!r}; the body is the formula")
    return found
