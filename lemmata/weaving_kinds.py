"""What fills each kind of block: asked of the same functions as on the command line, written as Markdown."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import api
from .loading import is_reference, load_function, source_files
from .proving import gradient_of, prove_gradient
from .questions import derive_formula, hints, prove_equation
from .result import Result
from .symbolic.derivations.model import Derivation, Verdict
from .symbolic.rendering import latex, verdict_text
from .symbolic.rendering.derivation import derivation_parts
from .symbolic.rendering.prose import plain_markdown
from .symbolic.rendering.statement import (
    declared_markdown,
    domains_markdown,
    result_latex,
    vector_result_latex,
    where_markdown,
)
from .symbolic.rendering.wording import said
from .symbolic.shapes import cross_attention, multi_head_attention
from .symbolic.shapes.markdown import trace_markdown
from .terminal import headline, sizes_of
from .weaving import Block, BlockError, Display, Woven, accepted

Options = dict[str, Any]


def derivation(block: Block, options: Options, folder: Path, display: Display) -> Woven:
    """A theorem's derivation, or that of a formula in the body."""
    asked = [n for n in ("kind", "wrt", "shapes", "domain", "given", "cotangent", "tangent") if n in options]
    if block.argument:
        if asked or block.body.strip():
            what = f":{asked[0]}:" if asked else "a body"
            raise BlockError(block, f"a theorem's name and {what}; a theorem has its own formula, so give one of both")
        return _derived(block, options, api.lookup_theorem(block.argument), display, block.argument)
    formula = _body(block)
    kind = options.get("kind", "gradient")
    wrong = {"vjp": "tangent", "jvp": "cotangent"}.get(kind)
    for name in ("cotangent", "tangent") if wrong is None else (wrong,):
        if name in options:
            raise BlockError(block, f":{name}: is of the {'vjp' if name == 'cotangent' else 'jvp'}, not of the {kind}")
    if "wrt" not in options:
        raise BlockError(block, "what is differentiated by? Give it, e.g. :wrt: z")
    direction = {"vjp": "cotangent", "jvp": "tangent"}.get(kind, "")
    result = derive_formula(kind, formula, options["wrt"], **_declared(options),
                            direction=options.get(direction, {"vjp": "g", "jvp": "v"}.get(kind, "")))
    return _derived(block, options, result, display)


def theorem(block: Block, options: Options, folder: Path, display: Display) -> Woven:
    """A theorem's statement with its hypotheses, definitions, verdict and source."""
    if not block.argument or block.body.strip():
        raise BlockError(block, "it takes a theorem's name and no body, e.g. {theorem} deriv_softmax")
    result = api.lookup_theorem(block.argument)
    verdict = _judged(block, result)
    d = result.derivation
    parts = derivation_parts(d, "brief", 0)
    lines = [f"**{plain_markdown(said(d.title))}** (`{d.name}`)", "",
             *([said(f"Given {declared_markdown(d)}."), ""] if d.tensors else []),
             display(result_latex(d), options.get("label", "")), ""]
    lines += _where(d)
    vector = vector_result_latex(d)
    if vector is not None:
        lines += [said("In vector form:"), "", display(vector, ""), ""]
    lines += [f"- {said(_verdict_line(verdict, d))}", *parts.remarks]
    return _woven(lines, verdict, options, theorem=block.argument)


def gradient(block: Block, options: Options, folder: Path, display: Display) -> Woven:
    """The gradient of a function of the user's, derived; with `backward`, the hand-written one is proved."""
    if not is_reference(block.argument):
        raise BlockError(block, f"it takes a function, package.module:function or file.py:function, "
                                f"got {block.argument!r}")
    for name in ("wrt", "shapes"):
        if name not in options:
            raise BlockError(block, f"it needs :{name}:, e.g. " + {"wrt": ":wrt: z", "shapes": ":shapes: z=N,K"}[name])
    function = load_function(_reference(block.argument, folder))
    known = {"domains": options.get("domain"), "given": options.get("given", ()), "sizes": options.get("sizes"),
             "cotangent": options.get("cotangent")}
    wrt = [n.strip() for n in options["wrt"].split(",")]
    if "backward" not in options:
        if "avoid" in options or len(wrt) > 1:
            what = ":avoid:" if "avoid" in options else "several arrays in :wrt:"
            raise BlockError(block, f"{what} goes with :backward:, the hand-written gradient that is proved")
        result = gradient_of(function, wrt[0], options["shapes"], **known)
        return _derived(block, options, result, display, depends_on=source_files(function))
    backward = load_function(_reference(options["backward"], folder))
    proof = prove_gradient(function, backward, wrt, options["shapes"], avoid=options.get("avoid"), **known)
    verdict = proof.verdict
    accepted(block, verdict, proof.text(formulas=False))
    lines = []
    for n, name in enumerate(wrt):
        try:
            result = gradient_of(function, name, options["shapes"], **known)
        except api.UnsupportedError:
            continue  # what is read for the proof need not have a derivation that is worth showing
        if len(wrt) > 1:
            by = result.derivation.variable
            lines += [said(f"**By** ${latex(by.tensor)}$" if by is not None else f"**By** `{name}`"), ""]
        lines += _shown(block, options, result, display, label=options.get("label", "") if n == 0 else "")
    these = "these" if len(wrt) > 1 else "this"
    lines += [said(f"`{backward.__name__}` computes {these}: {said(headline(verdict, proof.sizes))}.")]
    lines += [f"- {plain_markdown(said(note))}" for note in verdict.notes]
    return _woven(lines, verdict, options, depends_on=source_files(function, backward))


def prove(block: Block, options: Options, folder: Path, display: Display) -> Woven:
    """An equation, typeset, with its verdict."""
    result = prove_equation(_body(block), **_declared(options))
    verdict = _judged(block, result)
    d = result.derivation
    lines = [display(result_latex(d), options.get("label", "")), "", *_where(d, domains=True)]
    if d.left == d.right:  # reading it has simplified it, as x/x to 1: what was asked is not what is shown
        lines += [said(f"This is `{_body(block)}`, whose sides are the same as soon as they are read."), ""]
    return _woven([*lines, said(f"{_verdict_line(verdict, d)}.")], verdict, options)


def shapes(block: Block, options: Options, folder: Path, display: Display) -> Woven:
    """Attention traced operation by operation. Nothing is claimed: sizes that do not fit are an error."""
    kinds = {"mha": ("x", "heads"), "cross-attention": ("q", "kv", "heads")}
    if block.argument not in kinds:
        raise BlockError(block, f"it traces mha or cross-attention, got {block.argument!r}")
    needed = kinds[block.argument]
    for name in needed:
        if name not in options:
            raise BlockError(block, f"it needs :{name}:, e.g. :{name}: {'8' if name == 'heads' else '1,10,768'}")
    foreign = ({"x", "cache"} if block.argument != "mha" else {"q", "kv"}) & set(options)
    if foreign:
        raise BlockError(block, f"{block.argument} has no :{min(foreign)}:")
    if block.body.strip():
        raise BlockError(block, "it takes options only, no body")
    words = {"kv_heads": options.get("kv-heads"), "head_size": options.get("head-size"),
             "mask": options.get("mask", ""), "length_first": options.get("length-first", False),
             "bias": not options.get("no-bias", False)}
    if block.argument == "mha":
        trace = multi_head_attention(options["x"], options["heads"], cache=options.get("cache"), **words)
    else:
        trace = cross_attention(options["q"], options["kv"], options["heads"], **words)
    form = options.get("form", "table")
    if "label" in options and form != "latex":
        raise BlockError(block, "a label numbers a formula, so it goes with :form: latex")
    text = {"table": lambda: trace_markdown(trace, heading=False), "svg": lambda: _raw(trace.svg()),
            "latex": lambda: display(trace.latex(), options.get("label", ""))}[form]()
    return _woven([text], None, options)


# ---------------------------------------------------------------------- pieces
def _derived(block: Block, options: Options, result: Result, display: Display, theorem: str = "",
             depends_on: tuple[Path, ...] = ()) -> Woven:
    verdict = _judged(block, result)
    lines = _shown(block, options, result, display, options.get("label", ""))
    if verdict.conditions or verdict.verdict != "proved":
        lines += ["", f"- {said(_verdict_line(verdict, result.derivation))}"]
    return _woven(lines, verdict, options, depends_on, theorem)


def _shown(block: Block, options: Options, result: Result, display: Display, label: str) -> list[str]:
    """A derivation in the form that is asked for; the label goes to the line with the result."""
    d, detail, form = result.derivation, options.get("detail", "normal"), options.get("form", "steps")
    if form == "display":
        domains = domains_markdown(d)  # the block has definitions and hypotheses, and no declarations
        return [display(result.latex(detail), label), "", *([domains, ""] if domains else [])]
    if form == "steps":
        parts = derivation_parts(d, detail, 0)
        chain, end = list(parts.chain), list(parts.result)
        numbered = end if d.parts else chain
        _number(numbered, display, label)
        return [*parts.given, *chain, *end, *parts.remarks, ""]
    found = result_latex(d) if form == "result" else vector_result_latex(d)
    if found is None:
        raise BlockError(block, "this result has no vector form; write :form: result")
    return [display(found, label), "", *_where(d, domains=True)]


def _number(lines: list[str], display: Display, label: str) -> None:
    """The last display among lines of Markdown, written anew with its label."""
    *_, start, end = (n for n, line in enumerate(lines) if line == "$$")
    lines[start : end + 1] = [display("\n".join(lines[start + 1 : end]), label)]


def _where(d: Derivation, domains: bool = False) -> list[str]:
    """Definitions and hypotheses; with `domains` also those of arrays that no line above has declared."""
    parts = [s for s in (where_markdown(d), domains_markdown(d) if domains else "") if s]
    return [said("; ").join(parts), ""] if parts else []


def _judged(block: Block, result: Result) -> Verdict:
    verdict = result.verdict
    found = hints(result, verdict) if verdict.verdict != "proved" else []
    found = [re.sub(r"--([a-z]+)", r":\1:", h) for h in found]  # options of a block, not of the command line
    notes = "".join(f"\n  note: {h}" for h in found)
    accepted(block, verdict, verdict_text(verdict) + notes)
    return verdict


def _verdict_line(verdict: Verdict, d: Derivation) -> str:
    line = headline(verdict, sizes_of(d))
    return line[0].upper() + line[1:]


def _declared(options: Options) -> dict[str, Any]:
    return {"shapes": options.get("shapes", ""), "domains": options.get("domain", ""),
            "given": options.get("given", ())}


def _body(block: Block) -> str:
    formula = " ".join(block.body.split())
    if not formula:
        raise BlockError(block, "the body holds the formula, and it is empty")
    return formula


def _reference(text: str, folder: Path) -> str:
    """A reference to a function with its file named from the document's folder."""
    module, colon, name = text.strip().rpartition(":")
    return f"{folder / module}{colon}{name}" if module.endswith(".py") else text.strip()


def _raw(svg: str) -> str:
    """An SVG as raw HTML in Markdown, which a blank line would end; its names are its own among several on a page."""
    own = f"-{zlib.crc32(svg.encode()):08x}"
    svg = re.sub(r'(\bid="|aria-labelledby="|url\(#)(\w+)', rf"\1\2{own}", svg)
    return "<div>\n" + "\n".join(line for line in svg.splitlines() if line.strip()) + "\n</div>"


def _woven(lines: Sequence[str], verdict: Verdict | None, options: Options, depends_on: tuple[Path, ...] = (),
           theorem: str = "") -> Woven:
    return Woven("\n".join(lines).rstrip() + "\n", verdict, depends_on, options.get("label", ""), theorem)
