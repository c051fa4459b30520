"""The KaTeX check itself: a good formula passes, each kind of bad one fails with KaTeX's message."""

import pytest

from . import katex

GOOD = [
    r"\frac{\partial p_i}{\partial z_k} = p_i \left(\delta_{ik} - p_k\right)",
    r"\nabla_{z} L = \hat{y} - y, \qquad d_{\text{model}} = h\, d_k",
    r"\begin{aligned} L &= -\sum_{i=1}^{K} y_i \log p_i \\ &= \log \sum_{j=1}^{K} e^{z_j} - z_c \end{aligned}",
    r"\operatorname{diag}(p) - p p^{\top} \odot \mathbf{1}\left[j \le i\right]",
]


@pytest.mark.parametrize("latex", GOOD)
@pytest.mark.parametrize("display", [True, False], ids=["display", "inline"])
def test_a_good_formula_passes(latex: str, display: bool) -> None:
    katex.check(latex, display=display)


@pytest.mark.parametrize(
    ("latex", "message"),
    [
        (r"\frac{1}{2", "expected '}'"),
        (r"x^{a}^{b}", "Double superscript"),
        (r"\softmax(z)", r"Undefined control sequence: \\softmax"),
        (r"\left( x", r"Expected '\\right'"),
        (r"d_model & 1", "Expected 'EOF', got '&'"),
        (r"σ(z)", "not ASCII: σ"),
        (r"a % b", "commentAtEnd"),
        (r"a \\ b", "newLineInDisplayMode"),
    ],
)
def test_a_bad_formula_fails(latex: str, message: str) -> None:
    with pytest.raises(katex.KatexError, match=message) as caught:
        katex.check(latex)
    assert latex in str(caught.value)


def test_context_survives_a_bad_formula() -> None:
    with pytest.raises(katex.KatexError):
        katex.check("}")
    katex.check("x")
