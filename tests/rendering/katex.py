"""A formula that does not typeset in a browser fails here with KaTeX's own message (`lemmata.typesetting`)."""

from lemmata.typesetting import TypesettingError, typeset


class KatexError(AssertionError):
    """The formula is refused; the message is KaTeX's, followed by the formula."""


def check(latex: str, *, display: bool = True) -> None:
    """Raise :class:`KatexError` unless the formula (without dollar signs) typesets in strict mode.

    Letters outside of ASCII are refused as well: KaTeX takes a σ for ``\\sigma``, pdflatex with amsmath alone does not.
    """
    if not latex.isascii():
        foreign = "".join(sorted({letter for letter in latex if not letter.isascii()}))
        raise KatexError(f"not ASCII: {foreign}\nin the formula:\n{latex}")
    try:
        typeset(latex, display=display)
    except TypesettingError as error:
        raise KatexError(str(error)) from None
