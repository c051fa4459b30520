"""Blocks of `weaving` in a Markdown text: found where CommonMark sees a fence, filled, all else left byte for byte.

markdown-it-py reads the text, so a fence in a list, in a quote or in a longer fence is what it is for every other
reader of Markdown. Fences of colons (MyST) are read by the rule below, for our kinds only, because to CommonMark they
are a paragraph. A fence in a quotation of code, in an HTML comment or in an indented code block is text.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .symbolic.language.errors import LemmataError
from .weaving import KINDS, Block, BlockError, Display, plain_display, woven

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_INFO = re.compile(r"\{([\w:.-]+)\}[ \t]*(.*)")
_OPTION = re.compile(r":([A-Za-z][\w-]*):(?:[ \t]+(.*))?")
_FENCE = re.compile(r"(`{3,}|~{3,}|:{3,})")


@dataclass(frozen=True)
class Fence:
    """A block with the lines it takes up (`end` is past the last one), and what stands before it on its lines."""

    block: Block
    start: int
    end: int
    first: str  # on the line of the opening fence: `> - `
    rest: str  # on the lines below: `>   `


@dataclass(frozen=True)
class Filled:
    """A text with its blocks filled, how many there are, what went wrong in each, and what a reader should know."""

    text: str
    blocks: int
    errors: tuple[BlockError, ...]
    warnings: tuple[str, ...] = ()


def fill(text: str, folder: Path | str = ".", file: str = "", display: Display = plain_display) -> Filled:
    r"""Fill all blocks of a text; `file` is its name in messages. Where there is an error the text is not to be used.

    >>> print(fill("Before.\n\n```{prove}\n:shapes: z=K\n\nsum(softmax(z)) == 1\n```\nAfter.").text)
    Before.
    <BLANKLINE>
    $$
    \sum_{j} p_{j} = 1
    $$
    <BLANKLINE>
    where $p_{i} := \frac{e^{z_{i}}}{\sum_{j} e^{z_{j}}}$
    <BLANKLINE>
    Proved for every K.
    After.
    """
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines = _LINE.findall(text)
    out, place, count = [mark], 0, 0
    errors: list[BlockError] = []
    warnings: list[str] = []
    labels: dict[str, int] = {}
    for found in fences(text, lines, file):
        if isinstance(found, str):
            warnings.append(found)
            continue
        if isinstance(found, BlockError):
            errors.append(found)
            continue
        count += 1
        label = found.block.options.get("label", "")
        if label and labels.setdefault(label, found.block.line) != found.block.line:
            errors.append(BlockError(found.block, f"the label {label} is that of the block in line {labels[label]}"))
            continue
        try:
            markdown = woven(found.block, folder, display).markdown
        except BlockError as error:
            errors.append(error)
            continue
        end = re.search(r"[\r\n]*$", lines[found.start])
        newline = end[0] if end and end[0] else "\n"
        filled = [(found.rest + line).rstrip() if n else found.first + line
                  for n, line in enumerate(markdown.rstrip("\n").split("\n"))]
        last = newline if lines[found.end - 1].endswith(("\n", "\r")) else ""
        out += [*lines[place : found.start], newline.join(filled) + last]
        place = found.end
    return Filled("".join([*out, *lines[place:]]), count, tuple(errors), tuple(warnings))


def fences(text: str, lines: list[str], file: str = "") -> Iterator[Fence | BlockError | str]:
    """The blocks of a text in order; an error for one that cannot be read; a warning for a kind that looks mistyped."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    reader.block.ruler.before("fence", "colon_fence", _colon_fence, {"alt": ["paragraph", "blockquote", "list"]})
    for token in reader.parse(text):
        info = _INFO.fullmatch(token.info.strip()) if token.type == "fence" and token.map else None
        if info is None or token.map is None:
            continue
        start, end = token.map
        kind = info[1]
        if kind not in KINDS:
            close = difflib.get_close_matches(kind, KINDS, 1, 0.85)
            if close:
                at = f"{file}:{start + 1}: " if file else f"line {start + 1}: "
                yield f"{at}{{{kind}}} is left as it is; is {{{close[0]}}} meant?"
            continue
        yield _fence(token.content, Block(kind, info[2].strip(), {}, "", file, start + 1), start, end, lines)


def _fence(content: str, head: Block, start: int, end: int, lines: list[str]) -> Fence | BlockError:
    opening = _FENCE.search(lines[start])
    assert opening is not None
    first, mark = lines[start][: opening.start()], opening[1]
    if end - start < 2 or not re.fullmatch(rf"[ \t>]*{mark}{mark[0]}*[ \t]*[\r\n]*", lines[end - 1]):
        return BlockError(head, f"the block is not closed; end it with a line {mark}")
    options: dict[str, str] = {}
    body = content.split("\n")
    last = ""
    while body:
        option = _OPTION.fullmatch(body[0].rstrip())
        if option is not None:
            last = option[1]
            if last in options and last != "given":
                return BlockError(head, f"the option :{last}: stands there twice")
            value = (option[2] or "").strip()
            options[last] = f"{options[last]}; {value}" if last in options else value
        elif last and body[0][:1] in (" ", "\t") and body[0].strip():
            options[last] += " " + body[0].strip()  # a long value goes on, indented
        else:
            break
        del body[0]
    block = Block(head.kind, head.argument, options, "\n".join(body).strip(), head.file, head.line)
    return Fence(block, start, end, first, re.sub(r"[^>\s]", " ", first))


def _colon_fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A fence of colons with one of our kinds, as a block rule of markdown-it."""
    if state.is_code_block(start):
        return False
    line = _of(state, start)
    opening = re.match(r"(:{3,})[ \t]*(\{([\w:.-]+)\}.*)", line)
    if opening is None or opening[3] not in KINDS:
        return False
    if silent:
        return True
    colons = len(opening[1])
    closing = re.compile(rf":{{{colons},}}[ \t]*")
    stop, closed = start + 1, False
    while stop < end:
        inside = _of(state, stop)
        if inside.strip() and state.sCount[stop] < state.blkIndent:
            break  # the list item or quote ends here
        if closing.fullmatch(inside):
            closed = True
            break
        stop += 1
    token = state.push("fence", "code", 0)
    token.info = opening[2]
    token.content = state.getLines(start + 1, stop, state.sCount[start], True)
    state.line = stop + closed
    token.map = [start, state.line]
    return True


def _of(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def decoded(data: bytes) -> str:
    """UTF-8, or an error that says where it is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LemmataError(f"it is not UTF-8: byte {error.start} is {data[error.start]:#04x}") from None
