"""The command `lemmata shapes`: attention traced operation by operation, with sizes, costs and reasons.

Exit codes: 0 traced, 2 sizes that do not fit or words that are not understood.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import Commands
from .options import Engine, EngineName
from .terminal import emit, fail
from .writing import is_pdf, write_pdf

if TYPE_CHECKING:
    from .symbolic.shapes import Trace

shapes = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Trace the shapes of attention: each operation with sizes, einsum, cost and reason.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class FormName(StrEnum):
    """Output formats of a trace."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    tex = "tex"
    json = "json"
    svg = "svg"


class MaskName(StrEnum):
    """Masks on the scores."""

    causal = "causal"
    padding = "padding"


Heads = Annotated[str, typer.Option("--heads", metavar="H", help="Number of heads: a number or a name.")]
KvHeads = Annotated[
    str, typer.Option("--kv-heads", metavar="G", help="Number of KV heads (grouped; 1 is multi-query).")
]
HeadSize = Annotated[str, typer.Option("--head-size", metavar="SIZE", help="d_k, where it is not d_model/h.")]
Mask = Annotated[MaskName | None, typer.Option("--mask", help="A mask on the scores.")]
LengthFirst = Annotated[bool, typer.Option("--length-first", help="Arrays are (length, batch, features).")]
NoBias = Annotated[bool, typer.Option("--no-bias", help="Projections without biases.")]
Form = Annotated[FormName, typer.Option("--format", help="How it is written; svg is a flow picture, tex a document.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", dir_okay=False, help=(
        "Write to a file instead of the terminal; FILE.pdf is set as a page.")),
]


@shapes.command("mha")
def mha(
    x: Annotated[str, typer.Option("--x", metavar="SIZES", help="Shape of the input, e.g. 1,10,768 or B,n,d_model.")],
    heads: Heads,
    kv_heads: KvHeads = "",
    head_size: HeadSize = "",
    mask: Mask = None,
    cache: Annotated[
        str, typer.Option("--cache", metavar="SIZE", help="Decoding: tokens already in the KV cache.")
    ] = "",
    length_first: LengthFirst = False,
    no_bias: NoBias = False,
    form: Form = FormName.text,
    output: Output = None,
    engine: Engine = EngineName.typst,
) -> None:
    """Trace multi-head self-attention from the input to the output projection.

    \b
      lemmata shapes mha --x 1,10,768 --heads 12
      lemmata shapes mha --x B,n,d_model --heads h
      lemmata shapes mha --x 3,1,768 --heads 12 --kv-heads 4 --cache 37 --format svg -o step.svg
    """
    from .symbolic.shapes import multi_head_attention

    _show(
        multi_head_attention(
            _sizes(x),
            heads,
            kv_heads=kv_heads or None,
            mask=mask.value if mask else "",
            cache=cache or None,
            length_first=length_first,
            bias=not no_bias,
            head_size=head_size or None,
        ),
        form,
        output,
        engine,
    )


@shapes.command("cross-attention")
def cross(
    q: Annotated[str, typer.Option("--q", metavar="SIZES", help="Shape of the queries' input, e.g. 2,4,512.")],
    kv: Annotated[
        str, typer.Option("--kv", metavar="SIZES", help="Shape of the keys' and values' input, e.g. 2,7,512.")
    ],
    heads: Heads,
    kv_heads: KvHeads = "",
    head_size: HeadSize = "",
    mask: Mask = None,
    length_first: LengthFirst = False,
    no_bias: NoBias = False,
    form: Form = FormName.text,
    output: Output = None,
    engine: Engine = EngineName.typst,
) -> None:
    """Trace attention of one sequence to another, whose length is its own.

    \b
      lemmata shapes cross-attention --q 2,4,512 --kv 2,7,512 --heads 8 --kv-heads 2 --format latex
    """
    from .symbolic.shapes import cross_attention

    _show(
        cross_attention(
            _sizes(q),
            _sizes(kv),
            heads,
            kv_heads=kv_heads or None,
            mask=mask.value if mask else "",
            length_first=length_first,
            bias=not no_bias,
            head_size=head_size or None,
        ),
        form,
        output,
        engine,
    )


def _sizes(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _show(trace: Trace, form: FormName, output: Path | None, engine: EngineName) -> None:
    if is_pdf(output):
        if form not in (FormName.text, FormName.tex):
            raise fail(f"{output} is a PDF, which --format {form.value} does not make; leave one of the two out")
        write_pdf(trace.tex(), output, engine)
        return
    written = {
        FormName.text: trace.text,
        FormName.markdown: trace.markdown,
        FormName.latex: trace.latex,
        FormName.tex: trace.tex,
        FormName.json: trace.json,
        FormName.svg: trace.svg,
    }[form]
    emit(written(), output)
