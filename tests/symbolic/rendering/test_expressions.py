"""Golden LaTeX and text of expressions, letters that never coincide, and parentheses that keep the meaning."""

import math
import random
import re

import pytest
import sympy as sp

from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, tensor_of
from lemmata.symbolic.language.errors import UnsupportedError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, Element, IndexSum, Indicator, PartialDerivative
from lemmata.symbolic.language.operations import sigmoid
from lemmata.symbolic.rendering import Letters, latex, text
from lemmata.symbolic.rendering.names import written
from lemmata.symbolic.rendering.precedence import POSITION, binding, needs

Z, Y = array("z", "K"), array("y", "K")
I, K = index("i", "K"), index("k", "K")
P = v.softmax(Z)
POS, II, D = sp.Symbol("pos"), sp.Symbol("i"), sp.Symbol("d")

GOLDEN = {
    "ce gradient": (P.element(K) - Y.element(K), r"p_{k} - y_{k}", "p_k − y_k"),
    "ce gradient, any y": (
        P.element(K) * v.sum(Y).body - Y.element(K),
        r"p_{k} \sum_{j} y_{j} - y_{k}",
        "p_k Σ_j y_j − y_k",
    ),
    "ce": ((-v.sum(Y * v.log(P))).body, r"-\sum_{j} y_{j} \log p_{j}", "−Σ_j y_j log(p_j)"),
    "a sum of a negative": (
        v.sum(-Z * v.log(Z)).body,
        r"\sum_{j} \left(-z_{j} \log z_{j}\right)",
        "Σ_j (−z_j log(z_j))",
    ),
    "no negative powers": (
        sp.sin(POS / 10000 ** (2 * II / D)),
        r"\sin\left(\frac{\mathrm{pos}}{10000^{2 i/d}}\right)",
        "sin(pos/10000^(2i/d))",
    ),
    "minus a negative": (sp.Add(5, sp.Mul(-1, -4, evaluate=False), evaluate=False), r"5 - \left(-4\right)", "5 − (−4)"),
    "log of a sum, times": (
        v.logsumexp(Z).body * Y.element(I),
        r"y_{i} \log\left(\sum_{j} e^{z_{j}}\right)",
        "y_i log(Σ_j exp(z_j))",
    ),
    "softmax": (tensor_of(P).at(I), r"\frac{e^{z_{i}}}{\sum_{j} e^{z_{j}}}", "exp(z_i)/Σ_j exp(z_j)"),
    "jacobian": (
        P.element(I) * (Delta(I, K) - P.element(K)),
        r"p_{i} \left(\delta_{ik} - p_{k}\right)",
        "p_i (δ_ik − p_k)",
    ),
    "partial": (PartialDerivative(P.element(I), Z.element(K)), r"\frac{\partial p_{i}}{\partial z_{k}}", "∂p_i/∂z_k"),
    "partial of a sum": (
        PartialDerivative(v.sum(Z).body, Z.element(K)),
        r"\frac{\partial}{\partial z_{k}}\left(\sum_{j} z_{j}\right)",
        "∂/∂z_k (Σ_j z_j)",
    ),
    "indicator": (Indicator(sp.Le(K, I)), r"\left[k \le i\right]", "[k ≤ i]"),
    "variance": (
        v.sum(P * (Z - v.sum(P * Z)) ** 2).body,
        r"\sum_{j} p_{j} \left(z_{j} - \sum_{k} p_{k} z_{k}\right)^{2}",
        "Σ_j p_j (z_j − Σ_k p_k z_k)²",
    ),
    "sigmoid": (
        sigmoid(Z.element(I)) * (1 - sigmoid(Z.element(I))),
        r"\sigma\left(z_{i}\right) \left(1 - \sigma\left(z_{i}\right)\right)",
        "σ(z_i) (1 − σ(z_i))",
    ),
    "sum of products": (
        v.sum(Z).body * v.sum(Y).body,
        r"\left(\sum_{j} y_{j}\right) \sum_{j} z_{j}",
        "(Σ_j y_j) Σ_j z_j",
    ),
    "two logs": (
        sp.log(Z.element(I)) * sp.log(Y.element(I)),
        r"\log\left(y_{i}\right) \log z_{i}",
        "log(y_i) log(z_i)",
    ),
    "rms": (
        1 / sp.sqrt(v.mean(Z**2).body + array("eps", "", "positive").body),
        r"\frac{1}{\sqrt{\frac{1}{K} \sum_{j} z_{j}^{2} + \varepsilon}}",
        "1/√((1/K) Σ_j z_j² + ε)",
    ),
    "decimals": (sp.Rational(44715, 10**6) * Z.element(I) ** 3, r"0.044715 z_{i}^{3}", "0.044715 z_i³"),
    "affine index": (Element(tensor_of(array("x", "M")), 3 * K + 1), r"x_{3 k+1}", "x_{3k+1}"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str) -> None:
    expression, as_latex, as_text = GOLDEN[name]
    assert (latex(expression), text(expression)) == (as_latex, as_text)


@pytest.mark.parametrize(
    ("name", "as_latex", "as_text"),
    [
        ("d_model", r"d_{\text{model}}", "d_model"),
        ("y_hat", r"\hat{y}", "ŷ"),
        ("beta_1", r"\beta_{1}", "β₁"),
        ("lambda", r"\lambda", "λ"),
        ("eps", r"\varepsilon", "ε"),
        ("z_prime", "z'", "z′"),
        ("W_Q", "W_{Q}", "W_Q"),
        ("dX", r"\mathrm{d}X", "dX"),
        ("dgamma", r"\mathrm{d}\gamma", "dγ"),
        ("pos", r"\mathrm{pos}", "pos"),
        ("x_bar_1", r"\bar{x}_{1}", "x̄₁"),
        ("h12", "h_{12}", "h₁₂"),
        ("sigma_max", r"\sigma_{\text{max}}", "σ_max"),
        ("__odd__", r"\mathrm{\_\_odd\_\_}", "__odd__"),
    ],
)
def test_names(name: str, as_latex: str, as_text: str) -> None:
    assert (written(name).latex, written(name).text) == (as_latex, as_text)


def test_element_of_a_name_with_a_subscript_or_a_mark() -> None:
    assert latex(array("W_Q", "K").element(K)) == r"\left(W_{Q}\right)_{k}"
    assert latex(array("z_prime", "K").element(K) ** 2) == r"\left(z'_{k}\right)^{2}"


def test_a_hard_label_and_an_embedding() -> None:
    t, b, s, c = array("t", "B,S", "index<V"), index("b", "B"), index("s", "S"), index("c", "D")
    assert latex(Element(tensor_of(array("W", "V,D")), t.element(b, s), c)) == "W_{t_{bs},c}"


# ---------------------------------------------------------------------- letters
def test_bound_letters_avoid_free_letters_sizes_and_names() -> None:
    j, k = index("j", "m"), array("k", "m")
    expression = v.sum(array("x", "m") * k).body * array("l", "m").element(j)
    assert text(expression) == "l_j Σ_n k_n x_n"  # j is free, k and l are arrays, m is a size


def test_a_nested_sum_has_letters_of_its_own() -> None:
    inner = v.sum(P * Z).body
    assert text(IndexSum(Z.element(I) * inner, I)) == "Σ_j z_j Σ_k p_k z_k"


def test_two_free_indices_with_one_wish() -> None:
    a, b = index("i", "K"), index("i", "K")
    shown = Letters([Z.element(a) * Y.element(b)], (a, b))
    assert text(Z.element(a) * Y.element(b), shown) == "y_j z_i"
    assert text(Y.element(b), shown) == "y_j"


def test_a_free_letter_that_is_a_name() -> None:
    n = index("n", "n")
    assert text(array("x", "n").element(n)) == "x_i"


def test_names_that_would_be_written_the_same() -> None:
    eps, epsilon = array("eps", "").body, array("epsilon", "").body
    assert text(eps * epsilon) == "epsilon ε"
    sigma, delta, e = array("sigma", "").body, array("delta", "").body, array("e", "").body
    assert text(sigma * sigmoid(Z.element(I))) == "σ sigmoid(z_i)"
    assert text(delta * Delta(I, K)) == "δ [i = k]"
    assert latex(e * sp.exp(Z.element(I))) == r"e \exp\left(z_{i}\right)"


def test_ranges() -> None:
    assert latex(v.sum(Z).body, ranges=True) == r"\sum_{j=0}^{K-1} z_{j}"
    assert latex(v.sum(array("x", "3")).body, ranges=True) == r"\sum_{j=0}^{2} x_{j}"


def test_the_order_of_terms_does_not_matter() -> None:
    terms = [Z.element(I) ** 2, -Y.element(I), sp.Integer(3), P.element(I) * Y.element(K), v.sum(Z).body]
    assert len({text(sp.Add(*terms[n:], *terms[:n])) for n in range(5)}) == 1


# ---------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    "expression",
    [
        sp.Sum(II, (II, 0, 3)),
        sp.Piecewise((II, II > 0), (0, True)),
        sp.MatrixSymbol("A", 2, 2),
        sp.Integral(II, II),
    ],
)
def test_what_is_not_of_the_language_is_refused_by_name(expression: sp.Basic) -> None:
    with pytest.raises(UnsupportedError, match=type(expression).__name__):
        latex(expression)


@pytest.mark.parametrize("expression", [sp.nan, sp.zoo, sp.zoo + II])
def test_what_is_no_number_is_refused(expression: sp.Basic) -> None:
    with pytest.raises(UnsupportedError):
        text(expression)


def test_sympy_prints_our_nodes() -> None:
    assert sp.latex(P.element(K) - Y.element(K)) == "p_{k} - y_{k}"
    assert str(v.sum(Z).body) == "Σ_j z_j"


# ---------------------------------------------------------------------- meaning
_VALUES = {"a": 1.3, "b": 0.7, "c": 2.1}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def _evaluated(shown: str) -> float:
    """Evaluate a line in scalar symbols where a product has no sign, as a reader would."""
    tokens = re.findall(r"\d+\.?\d*|[a-z]+|\*\*|[-+*/()]", shown)
    out: list[str] = []
    for token in tokens:
        closed = bool(out) and (out[-1] == ")" or out[-1][0].isalnum()) and out[-1] not in ("sqrt", "log", "exp")
        if closed and (token == "(" or token[0].isalnum()):
            out.append("*")
        out.append(token)
    line = re.sub(r"(sqrt|log) ([a-z]|\d+)(?= |$)", r"\1(\2)", " ".join(out))
    return float(eval(line, {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, **_VALUES}))


def _text_value(shown: str) -> float:
    shown = re.sub(
        "[⁰¹²³⁴-⁹]+", lambda m: "**" + m[0].translate(_SUPERSCRIPTS), shown.replace("−", "-").replace("^", "**")
    )
    return _evaluated(shown.replace("√", " sqrt "))


def _latex_value(shown: str) -> float:
    def group(start: int) -> int:
        depth = 0
        for n in range(start, len(shown)):
            depth += {"{": 1, "}": -1}.get(shown[n], 0)
            if not depth:
                return n
        raise AssertionError(shown)

    shown = shown.replace(r"\left", "").replace(r"\right", "").replace(r"\cdot", "*")
    while r"\frac" in shown:
        at = shown.rindex(r"\frac")
        middle = group(at + 5)
        end = group(middle + 1)
        shown = f"{shown[:at]}(({shown[at + 6 : middle]})/({shown[middle + 2 : end]})){shown[end + 1 :]}"
    shown = re.sub(r"\be\^\{", r"exp{", shown.replace("\\", " "))
    return _evaluated(shown.replace("^", "**").replace("{", "(").replace("}", ")"))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_shown_reads_back_as_the_same_value(seed: int) -> None:
    """Random expressions: what the page says, read by its own conventions, has the value of the expression."""
    rng = random.Random(seed)
    names = sp.symbols("a b c", positive=True)

    def make(depth: int) -> sp.Expr:
        if depth == 0:
            return rng.choice(
                [*names, sp.Integer(rng.randint(1, 4)), sp.Rational(rng.randint(1, 5), rng.randint(2, 3))]
            )
        left, right = make(depth - 1), make(depth - 1)
        return rng.choice(
            [
                left + right,
                left - right,
                left * right,
                left / (right**2 + 1),
                sp.sqrt(left**2 + 1),
                -left,
                left**2,
                sp.log(left**2 + 1),
                sp.exp(-(left**2)),
                (left**2 + 1) ** -names[0],
            ]
        )

    expression = make(3)
    want = float(expression.subs({n: _VALUES[n.name] for n in names}))
    assert _text_value(text(expression)) == pytest.approx(want, rel=1e-9, abs=1e-12), f"seed {seed}: {text(expression)}"
    assert _latex_value(latex(expression)) == pytest.approx(want, rel=1e-9, abs=1e-12), (
        f"seed {seed}: {latex(expression)}"
    )


def test_the_table_puts_parentheses_where_they_are_needed() -> None:
    for form in ("latex", "text"):
        assert needs("terms", form, "factor")
        assert needs("big", form, "factor")
        assert not needs("big", form, "last_factor")
        assert needs("minus", form, "term")
        assert needs("elementwise", form, "last_factor")
        assert needs("power", form, "base")
        assert needs("fraction", form, "base")
        assert all(not needs("atom", form, position) for position in POSITION)
    assert binding("fraction", "latex") > binding("fraction", "text")
