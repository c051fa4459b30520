"""latexify beside the formula: shown with our names and parentheses, or refused with the function, the line and the
construct.
"""

import pytest

from lemmata.symbolic.rendering.source import SourceError, source_latex


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        # names
        (
            "def f(d_model, y_hat, beta_1): return d_model*y_hat*beta_1",
            r"f(d_{\text{model}}, \hat{y}, \beta_{1}) = d_{\text{model}} \hat{y} \beta_{1}",
        ),
        # parentheses
        (
            "def f(z, y, n): return math.log(sum(math.exp(z[j]) for j in range(n)))*y",
            r"f(z, y, n) = \log\left(\sum_{j = 0}^{n - 1} \exp\left(z_{j}\right)\right) y",
        ),
        ("def f(x, y): return x - (-y)", r"f(x, y) = x - \left(-y\right)"),
        ("def f(x, y): return x*(-y)", r"f(x, y) = x \left(-y\right)"),
        ("def f(x, c): return math.log((x/c)**2)", r"f(x, c) = \log\left(\left(\frac{x}{c}\right)^{2}\right)"),
        (
            "def f(y, z, n): return sum(z[j] for j in range(n))*y",
            r"f(y, z, n) = \left(\sum_{j = 0}^{n - 1} z_{j}\right) y",
        ),
        (
            "def f(z, n): return sum(z[j] + 1 for j in range(1, n))",
            r"f(z, n) = \sum_{j = 1}^{n - 1} \left(z_{j} + 1\right)",
        ),
        ("def f(a, b, c): return a - (b - c)", r"f(a, b, c) = a - \left(b - c\right)"),
        # elementwise and matrix products
        ("def f(A, B): return A*B @ A", r"f(A, B) = \left(A \odot B\right) A"),
        ("def f(A, B): return A @ B", "f(A, B) = A B"),
        ("def f(p: float, x): return p*np.exp(x)", r"f(p, x) = p \exp\left(x\right)"),
        # elements
        ("def f(W, i, j): return W[i, j]", "f(W, i, j) = W_{i,j}"),
        ("def f(W, i, j): return W[i][j]", "f(W, i, j) = W_{i,j}"),
        # numbers
        ("def f(x): return 2*x + 1e-8", r"f(x) = 2 x + 10^{-8}"),
        (
            "def f(pos, i, d): return math.sin(pos/10000**(2*i/d))",
            r"f(\mathrm{pos}, i, d) = \sin\left(\frac{\mathrm{pos}}{10000^{2 i/d}}\right)",
        ),
    ],
)
def test_shown(source: str, shown: str) -> None:
    assert source_latex(source) == shown


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("def f(x):\n    return np.sum(x, axis=-1)", "line 2: the keyword argument axis= of sum"),
        ("def f(x):\n    return np.exp(x).sum()", r"line 2: the method call .sum\(\)"),
        ("def f(K):\n    return K.T", "line 2: the attribute .T"),
        ("def f(x):\n    return np.maximum(x, 0)", "line 2: np.maximum"),
        ("def f(x):\n    return x[:, 0]", "line 2: a slice"),
        ("def f(x):\n    return x[-1]", "a negative index"),
        ("def f(x):\n    for i in x:\n        pass\n    return x", "line 2: the statement for"),
        ("def f(x):\n    y = x\n    y += 1\n    return y", "line 3: the statement +"),
        ("def f(x):\n    y: int = x\n    return y", "a typed assignment"),
        ("def f(x):\n    x = x + 1\n    return x", "second assignment to 'x'"),
        ("def f(x):\n    if x > 0:\n        x = 1\n    return x", "line 2: the statement if"),
        ("def f(x, axis=-1):\n    return x", "a default value"),
        ("def f(x, *, axis):\n    return x", "keyword-only"),
        ("def f(x):\n    assert x\n    return x", "line 2: the statement assert"),
        ("def f(x):\n    return (y := x)", "the walrus"),
        ("def f(x):\n    return (lambda t: t)(x)", "a computed function"),
        ("def f(x):\n    return sum(a*b for a, b in zip(x, x))", "sum over anything but range"),
        ("def f(x):\n    return sum(x[i] for i in range(0, 9, 2))", "sum over anything but range"),
        ("def f(x):\n    return sum(x[i] for i in range(9) if i > 1)", "sum over anything but range"),
        ("def f(x):\n    return np.sum(x)", "np.sum"),
        ("def f(x):\n    return sum(x)", "without an index"),
        ("def f(x):\n    return math.log(x, 2)", "log with 2 arguments"),
        ("def f(x):\n    return x % 2", "the operator Mod"),
        ("def f(x):\n    return float('inf')", "the constant 'inf'"),
        ("def f(x):\n    return True", "the constant True"),
        ("@dec\ndef f(x):\n    return x", "a decorator"),
        ("def f(eps, epsilon):\n    return eps + epsilon", "written the same"),
        ("f = lambda x: x", "only a plain def"),
        ("def f(:", "not Python"),
    ],
)
def test_refused_with_the_line_and_the_construct(source: str, construct: str) -> None:
    with pytest.raises(SourceError, match=construct.replace("+", r"\+")):
        source_latex(source)


def plain(x: float, n: int) -> float:
    """Its own docstring is not part of the formula."""
    y = x / n
    return y**2


def test_a_function_of_a_file() -> None:
    assert source_latex(plain) == r"\begin{array}{l} y = \frac{x}{n} \\ \mathrm{plain}(x, n) = y^{2} \end{array}"


def test_an_error_names_the_file() -> None:
    def shifted(x: list[float]) -> float:
        return x[-1]

    with pytest.raises(SourceError, match=r"shifted: test_source.py, line \d+: a negative index"):
        source_latex(shifted)


def test_source_that_is_not_on_disk() -> None:
    made: dict[str, object] = {}
    exec("def g(x): return x", made)
    with pytest.raises(SourceError, match="g: its source is not on disk"):
        source_latex(made["g"])  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="not a lambda"):
        source_latex(lambda x: x)
