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
        # the axis, and whether it stays
        ("def f(x): return np.sum(x, axis=-1)", r"f(x) = \operatorname{sum}_{-1}(x)"),
        ("def f(x): return x.mean(0, keepdims=True)", r"f(x) = \operatorname{mean}_{0}^{\mathrm{keep}}(x)"),
        (
            "def f(x, k): return np.max(x, axis=(0, 1), keepdims=k)",
            r"f(x, k) = \mathrm{max}(x, \mathrm{axis} = (0, 1), \mathrm{keepdims} = k)",
        ),
        ("def f(x): return np.sum(x)", r"f(x) = \operatorname{sum}(x)"),
        ("def f(x): return sum(x)", r"f(x) = \mathrm{sum}(x)"),
        # keywords, defaults, parameters that must be named
        (
            "def f(x, axis=-1, *, eps=1e-5, **more): return g(x, axis, eps=eps, **more)",
            r"f(x, \mathrm{axis} = -1; \varepsilon = 10^{-5}, {**}\mathrm{more}) = "
            r"g(x, \mathrm{axis}, \varepsilon = \varepsilon, {**}\mathrm{more})",
        ),
        (
            "def f(*rest): return g(*rest, mode='a_b', of=None, at=True)",
            r"f({*}\mathrm{rest}) = g({*}\mathrm{rest}, \mathrm{mode} = \texttt{"
            r'"a\_b"'
            r"}, "
            r"\mathrm{of} = \mathrm{None}, \mathrm{at} = \mathrm{True})",
        ),
        # transposes, methods, attributes, indices of NumPy
        ("def f(K): return K.T", r"f(K) = {K}^{\mathsf{T}}"),
        ("def f(q, k): return q @ np.swapaxes(k, -1, -2)", r"f(q, k) = q \, {k}^{\top}"),
        ("def f(x): return x.reshape(-1, x.shape[-1])", r"f(x) = x.\mathrm{reshape}(-1, x.\mathrm{shape}[-1])"),
        (
            "def f(x): return x[:, 1:, ::2, None, ..., np.newaxis]",
            r"f(x) = x[{:}, 1{:}, {:}{:}2, \mathrm{None}, \ldots, \mathrm{newaxis}]",
        ),
        ("def f(x): return x[-1]", r"f(x) = x[-1]"),
        # cases, extrema, conditions
        (
            "def f(x): return 2*np.where(x > 0, x, 0)",
            r"f(x) = 2 \left(\left\{ \begin{array}{ll} x, & \mathrm{if} \ x > 0 \\ 0, & \mathrm{otherwise} "
            r"\end{array} \right.\right)",
        ),
        ("def f(x): return np.maximum(x, 0)", r"f(x) = \max(x, 0)"),
        (
            "def f(x, n): return x % n if not n else x",
            r"f(x, n) = \left\{ \begin{array}{ll} x \bmod n, & \mathrm{if} "
            r"\ \lnot n \\ x, & \mathrm{otherwise} \end{array} \right.",
        ),
        # the imaginary unit
        ("def f(x): return np.exp(1j*x) + 2j", r"f(x) = \exp\left(\mathrm{i} x\right) + 2 \mathrm{i}"),
        # names of several words
        (
            "def f(label_smoothing, d_model, dx_hat): return label_smoothing*d_model*dx_hat",
            r"f(\mathrm{label\_smoothing}, d_{\text{model}}, \mathrm{d}\hat{x}) = "
            r"\mathrm{label\_smoothing} \, d_{\text{model}} \, \mathrm{d}\hat{x}",
        ),
        ("def f(x): return _soft_max(x)", r"f(x) = \mathrm{soft\_max}(x)"),
        ("def f(softmax): return _softmax(softmax)", r"f(\mathrm{softmax}) = \mathrm{\_softmax}(\mathrm{softmax})"),
    ],
)
def test_shown(source: str, shown: str) -> None:
    assert source_latex(source) == shown


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("def f(x):\n    for i in x:\n        y = i\n    return x", "line 2: the statement for"),
        ("def f(x):\n    while x:\n        x -= 1\n    return x", "line 2: the statement while"),
        ("def f(x):\n    x[0] = 1\n    return x", "line 2: an assignment to several targets or to an element"),
        ("def f(x):\n    x[0] += 1\n    return x", "line 2: the statement +"),
        ("def f(x):\n    y = z = x\n    return y*z", "an assignment to several targets"),
        ("def f(x):\n    np.add(x, 1, out=x)\n    return x", "line 2: the statement a call whose value is not used"),
        ("def f(x):\n    if x > 0:\n        y = 1\n        x = 2\n    return x", "line 2: the statement if"),
        ("def f(x):\n    with open(x) as g:\n        return g", "line 2: the statement with"),
        ("def f(x):\n    try:\n        return x\n    except E:\n        return 1", "line 2: the statement try"),
        ("def f(x):\n    return (y := x)", "the walrus"),
        ("def f(x):\n    return (lambda t: t)(x)", "a computed function"),
        ("def f(x):\n    return g(lambda t: t)", "line 2: a lambda"),
        ("def f(x):\n    return g({'a': x})", "line 2: a dictionary inside of an expression"),
        ("def f(x):\n    return {a: a for a in x}", "line 2: a comprehension"),
        ("def f(x):\n    return f'{x}'", "line 2: an f-string"),
        ("def f(x):\n    return sum(a*b for a, b in zip(x, x))", "sum over anything but range"),
        ("def f(x):\n    return sum(x[i] for i in range(0, 9, 2))", "sum over anything but range"),
        ("def f(x):\n    return sum(x[i] for i in range(9) if i > 1)", "sum over anything but range"),
        ("def f(x):\n    return x << 2", "the operator LShift"),
        ("def f(x):\n    return 1e999*x", "the constant inf"),
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
    assert source_latex(plain) == (
        r"\begin{array}{l} \displaystyle y = \frac{x}{n} \\[0.3em] "
        r"\displaystyle \mathrm{plain}(x, n) = y^{2} \end{array}"
    )


def test_an_error_names_the_file() -> None:
    def shifted(x: int) -> int:
        return x << 1

    with pytest.raises(SourceError, match=r"shifted: test_source.py, line \d+: the operator LShift"):
        source_latex(shifted)


def test_source_that_is_not_on_disk() -> None:
    made: dict[str, object] = {}
    exec("def g(x): return x", made)
    with pytest.raises(SourceError, match="g: its source is not on disk"):
        source_latex(made["g"])  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="not a lambda"):
        source_latex(lambda x: x)


# ---------------------------------------------------------------------- different code, different page
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("np.sum(x, axis=0)", "np.sum(x, axis=1)"),
        ("np.sum(x, axis=0)", "np.sum(x, axis=0, keepdims=True)"),
        ("np.sum(x)", "np.sum(x, axis=0)"),
        ("np.sum(x, axis=0)", "np.prod(x, axis=0)"),
        ("np.sum(x, axis=0)", "np.sum(x, axis=0, dtype=float)"),
        ("x.sum(axis=0)", "sum(x)"),
        ("x[-1]", "x[1]"),
        ("x[1:]", "x[:1]"),
        ("x[::2]", "x[:2]"),
        ("x[0]", "x[0:1]"),
        ("x[None]", "x[...]"),
        ("x.T", "x"),
        ("np.swapaxes(x, -1, -2)", "np.swapaxes(x, 0, 1)"),
        ("x.T", "np.swapaxes(x, -1, -2)"),
        ("x - (y - z)", "x - y - z"),
        ("x/(y*z)", "x/y*z"),
        ("(x*y) @ z", "x*(y @ z)"),
        ("x @ y", "x*y"),
        ("-x**2", "(-x)**2"),
        ("x.T**2", "(x**2).T"),
        ("(x*y)**2", "x*y**2"),
        ("x*(y % z)", "x*y % z"),
        ("x**(y/z)", "x**y/z"),
        ("not x and y", "not (x and y)"),
        ("(x & y) | z", "x & (y | z)"),
        ("x if y else z", "z if y else x"),
        ("np.where(x > 0, y, z)", "np.where(x >= 0, y, z)"),
        ("np.maximum(x, y)", "np.minimum(x, y)"),
        ("g(x, mode='a')", "g(x, mode='b')"),
        ("g(x, a=y)", "g(x, b=y)"),
        ("g(x, None)", "g(x, 0)"),
        ("g(x, 1)", "g(x, True)"),
        ("x.g(y)", "y.g(x)"),
        ("x.a", "x.b"),
        ("g(*x)", "g(x)"),
        ("(x, y)", "[x, y]"),
        ("'x'", "x"),
        ("g(x)", "_g(x)*g(x)"),
    ],
)
def test_what_differs_is_shown_to_differ(one: str, other: str) -> None:
    shown = [source_latex(f"def f(x, y, z):\n    a = np.exp(x)\n    return {code}") for code in (one, other)]
    assert shown[0] != shown[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x): return x", "def f(x=1): return x"),
        ("def f(x=1): return x", "def f(x=2): return x"),
        ("def f(x, y): return x", "def f(x, *, y): return x"),
        ("def f(*x): return x", "def f(x): return x"),
        ("def f(x):\n    y = 2*x\n    return y", "def f(x):\n    x = 2*x\n    return y"),
        ("def f(x):\n    if x > 0:\n        return 1\n    y = x\n    return y", "def f(x):\n    y = x\n    return y"),
        ("def f(x):\n    if x > 0:\n        x = 1\n    return x", "def f(x):\n    x = 1\n    return x"),
        ("def f(x):\n    x += 1\n    return x", "def f(x):\n    x -= 1\n    return x"),
        ("def f(x): return {'a': x, 'b': 1}", "def f(x): return {'a': 1, 'b': x}"),
        ("def f(x): return {**x, 'b': 1}", "def f(x): return {'x': x, 'b': 1}"),
        ("def f(x): return Pair(a=x, b=1)", "def f(x): return Both(a=x, b=1)"),
        ("def f(x): return [g(y) for y in x]", "def f(x): return [g(y) for y in x if y]"),
    ],
)
def test_functions_that_differ_are_shown_to_differ(one: str, other: str) -> None:
    assert source_latex(one) != source_latex(other)


# ---------------------------------------------------------------------- what only reads and checks
def test_checks_are_left_out() -> None:
    shown = source_latex(
        '''def f(x, mode="a"):
    """Words."""
    assert x
    if mode not in MODES:
        text = "bad"
        raise ValueError(text)
    for part in x:
        if part < 0:
            raise ValueError
    check("f", x)
    with np.errstate(all="ignore"):
        y: float = real("f", "x", x)
    return y + 1''',
        reads={"real": 2},
        checks={"check"},
    )
    assert shown == r"""f(x, \mathrm{mode} = \texttt{"a"}) = x + 1"""


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("a = real('x', x)\n    return a*a", r"f(x, y) = x x"),
        ("return -real('x', x)", r"f(x, y) = -x"),
        ("a, b = pair(x, y)\n    return a - b", "f(x, y) = x - y"),
        ("a, _ = pair(x, y)\n    return a", "f(x, y) = x"),
        # an argument that has no name, one that gets another value, a name that does
        ("a, b = pair(x, 2*y)\n    return a - b", r"(a, b) = \mathrm{pair}(x, 2 y)"),
        ("a = real('x', x)\n    x = y\n    return a - x", r"a = x"),
        ("a = real('x', x)\n    a = a + y\n    return a", r"a \leftarrow a + y"),
        # not what it says: too few arguments, another function, no result of it
        ("a = real(x)\n    return a", r"a = \mathrm{real}(x)"),
        ("a = unread('x', x)\n    return a", r'a = \mathrm{unread}(\texttt{"x"}, x)'),
        ("check(x)\n    a = 2*check(x)\n    return a", r"a = 2 \, \mathrm{check}(x)"),
    ],
)
def test_functions_that_give_back_an_argument(body: str, shown: str) -> None:
    found = source_latex(f"def f(x, y):\n    {body}", reads={"real": 1, "pair": (0, 1)}, checks={"check"})
    assert shown in found


def _both(name: str, x: float, y: float) -> tuple[float, float]:
    if x < 0:
        raise ValueError(name)
    return x, _alone(y)


def _alone(y: float) -> float:
    assert y
    return y


def _halved(y: float) -> float:
    return y / 2


def _once_more(y: float) -> float:
    return _once_more(y)


def _measured(a: float, b: float) -> float:
    p, q = _both("_measured", a, b)
    return p - _halved(q) * _once_more(_alone(b))


def test_a_helper_that_only_reads_is_found_out() -> None:
    assert source_latex(_measured) == (r"\mathrm{measured}(a, b) = a - \mathrm{halved}(b) \, \mathrm{once\_more}(b)")


def _chosen(function: str, x: float) -> float:
    return x / 2 if function else x


def _named(x: float) -> float:
    name = "_named"
    return _chosen(name, x) * _chosen("_named", x)


def test_what_is_for_messages_alone_is_left_out_where_it_is_said_to_be() -> None:
    assert source_latex(_named, messages=("function",)) == (
        r"\mathrm{named}(x) = \mathrm{chosen}(x) \, \mathrm{chosen}(x)")
    assert r'\mathrm{chosen}(\texttt{"\_named"}, x)' in source_latex(_named)


def _with_own(x: float, _alone: float) -> float:
    return _alone(x)  # type: ignore[operator]


def test_a_parameter_is_not_the_helper_of_its_name() -> None:
    assert source_latex(_with_own) == r"\mathrm{with\_own}(x, \mathrm{\_alone}) = \mathrm{\_alone}(x)"


@pytest.mark.parametrize(("code", "shown"), [
    ("np.asarray(x)", "x"), ("np.array(x, dtype=float)", "x"), ("np.asarray(x, dtype=np.float64)", "x"),
    ("np.asarray(x, dtype=int)", r"\mathrm{asarray}(x, \mathrm{dtype} = \mathrm{int})"),
    ("np.asarray(x, int)", r"\mathrm{asarray}(x, \mathrm{int})"), ("asarray(x)", r"\mathrm{asarray}(x)"),
    ("array(x)", r"\mathrm{array}(x)"),
])
def test_numpy_reads_an_array_where_its_values_stay(code: str, shown: str) -> None:
    assert source_latex(f"def f(x): return {code}") == f"f(x) = {shown}"
