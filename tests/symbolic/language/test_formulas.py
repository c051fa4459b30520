"""Formula strings: what is read, what each refusal says, and what hostile text costs."""

import re
import sys
import time

import pytest
import sympy as sp

from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, as_array
from lemmata.symbolic.language.errors import FormulaError, HypothesisError, IndexError_, ShapeError
from lemmata.symbolic.language.formulas import (
    read_arrays,
    read_domains,
    read_equation,
    read_formula,
    read_hypothesis,
    read_shapes,
)
from lemmata.symbolic.language.limits import MAX_LENGTH
from lemmata.symbolic.language.nodes import replace

NAMES = read_arrays("z=N,K y=N,K W=K,H v=K c= x= eps=", "y=simplex x=positive eps=positive")


def same(left, right) -> bool:
    """Equal shapes, and equal elements once both stand in the same letters (bound ones are equal by construction)."""
    left, right = as_array(left), as_array(right)
    if left.shape != right.shape:
        return False
    return left.body == replace(right.body, dict(zip(right.indices, left.indices, strict=True)))


# ---------------------------------------------------------------------------------------------- declarations
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("z=K", {"z": ("K",)}),
        ("z=N,K,y=N,K", {"z": ("N", "K"), "y": ("N", "K")}),
        ("z=N,K y=N,K", {"z": ("N", "K"), "y": ("N", "K")}),
        ("z=N K y=N K", {"z": ("N", "K"), "y": ("N", "K")}),
        ("z = N, K ,  y = N , K", {"z": ("N", "K"), "y": ("N", "K")}),
        ("z=K,c=", {"z": ("K",), "c": ()}),
        ("c= z=K", {"c": (), "z": ("K",)}),
        ("x=1,10,768 W=h*d_k,2*H", {"x": ("1", "10", "768"), "W": ("h*d_k", "2*H")}),
        ("x=h * d_k, 2*(G + 1)", {"x": ("h*d_k", "2*(G+1)")}),
        ("ε= ω_1=d", {"ε": (), "ω_1": ("d",)}),
    ],
)
def test_shapes(text, shapes):
    found = read_shapes(text)
    assert found == shapes
    assert list(found) == list(shapes)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("K", FormulaError, "belongs to no array; write name=size"),
        ("z=K z=N", FormulaError, "'z' is declared twice"),
        ("sum=K", FormulaError, "function of the vocabulary"),
        ("__x__=K", FormulaError, "not a name"),
        ("1z=K", FormulaError, "not a name"),
        ("z=0", ShapeError, "positive integer"),
        ("z=K/2", FormulaError, "only names, integers"),
        ("z=f(K)", FormulaError, "only names, integers"),
        ("z=(K", FormulaError, "bracket is not closed"),
        ("z=" + "(" * 40 + "9" + "**8)" * 40, FormulaError, "too long"),
        ("z=((9**8)**8)**8", FormulaError, "power above 8"),
        ("z=K**9", FormulaError, "power above 8"),
        ("z==K", FormulaError, "write name=size"),
        ("", FormulaError, "empty"),
        ("z=а", FormulaError, "CYRILLIC SMALL LETTER A"),
    ],
)
def test_shapes_refused(text, error, message):
    with pytest.raises(error, match=re.escape(message)):
        read_shapes(text)


def test_domains():
    found = read_domains("y=simplex eps=positive, x=(0,1) s={-1,1} u=(-1,0)|(0,1) t=index<K w=(0, 2)")
    assert {n: d.name for n, d in found.items()} == {
        "y": "simplex",
        "eps": "positive",
        "x": "(0,1)",
        "s": "{-1,1}",
        "u": "(-1,0)|(0,1)",
        "t": "index<K",
        "w": "(0, 2)",
    }
    assert found["x"].positive
    assert not found["s"].positive
    with pytest.raises(HypothesisError, match="unknown domain 'simplx'"):
        read_domains("y=simplx")
    with pytest.raises(FormulaError, match="domain of 'y' is given, but no shape"):
        read_arrays("z=K", "y=simplex")


@pytest.mark.parametrize("domain", ["{inf}", "{-inf,1}", "{nan}", "{1e999}", "(nan,1)", "(inf,inf)", "index<0",
                                    "index<((9**8)**8)**8", "index<f(K)"])
def test_domains_refused(domain):
    with pytest.raises((HypothesisError, FormulaError, ShapeError)):
        read_domains(f"y={domain}")


@pytest.mark.parametrize(("shapes", "domain", "needs"), [
    ("y=", "simplex", "an axis"), ("y=", "onehot", "an axis"), ("y=K", "symmetric", "two equal last axes"),
    ("y=N,K", "spd", "two equal last axes"), ("y=K", "fullrank", "two axes"), ("y=B,N,K", "invertible", "two equal"),
])
def test_domains_need_their_axes(shapes, domain, needs):
    with pytest.raises(ShapeError, match=f"the domain {domain} needs {needs}.*; y has shape"):
        read_arrays(shapes, f"y={domain}")
    assert read_arrays("y=B,h*d,d*h", f"y={domain}")["y"].ndim == 3


# ---------------------------------------------------------------------------------------------- formulas
Z, Y, W, V, C, X, EPS = (NAMES[n] for n in ("z", "y", "W", "v", "c", "x", "eps"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-sum(y*log(softmax(z)))", lambda: -v.sum(Y * v.log(v.softmax(Z)))),
        ("-sum(y*log(softmax(z)))/N", lambda: -v.sum(Y * v.log(v.softmax(Z))) / as_array(Z.shape[0])),
        ("softmax(z, axis=0)", lambda: v.softmax(Z, axis=0)),
        ("softmax(z, 0)", lambda: v.softmax(Z, axis=0)),
        ("sum(z, axis=(0, 1), keepdims=True)", lambda: v.sum(Z, (0, 1), True)),
        ("mean(z, axis=-1)", lambda: v.mean(Z, -1)),
        ("var(z, axis=1, ddof=1)", lambda: v.var(Z, 1, ddof=1)),
        ("z @ W", lambda: Z @ W),
        ("(z @ W).T", lambda: (Z @ W).T),
        ('einsum("nk,kh->nh", z, W)', lambda: v.einsum("nk,kh->nh", Z, W)),
        ("transpose(z, (1, 0)) @ y", lambda: Z.T @ Y),
        ("z[0]", lambda: Z[0]),
        ("z[:, -1]", lambda: Z[:, -1]),
        ("v[None, :] + z", lambda: V[None, :] + Z),
        ("z[..., 0] + z[:, 1]", lambda: Z[..., 0] + Z[:, 1]),
        ("where(greater(z, 0), z, 0)", lambda: v.where(v.greater(Z, 0), Z, 0)),
        ("one_hot(c, K)", lambda: v.one_hot(C, "K")),
        ("zeros((3, K)) + 1", lambda: v.zeros((3, "K")) + 1),
        ("eye(K) - outer(v, v)", lambda: v.eye("K") - v.outer(V, V)),
        ("-x**2", lambda: -(X**2)),
        ("2**-1 * x - -x", lambda: X / 2 - (-X)),
        ("pi*e**x", lambda: as_array(sp.pi) * v.exp(X)),
        ("log(\n  x\n)", lambda: v.log(X)),
        ("1_000*x", lambda: 1000 * X),
    ],
)
def test_read(text, wanted):
    assert same(read_formula(text, NAMES), wanted())


def test_comparison_of_arrays_sees_a_difference():
    assert not same(read_formula("z @ W", NAMES), 2 * (Z @ W))
    assert not same(read_formula("softmax(z, axis=0)", NAMES), v.softmax(Z))
    assert not same(read_formula("transpose(z, (1, 0))", NAMES), Z)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", sp.Rational(1, 10)),
        ("0.044715000000000000001", sp.Rational("0.044715000000000000001")),  # a float would lose the last digit
        ("1e-8", sp.Rational(1, 10**8)),
        ("2.5E+2", sp.Integer(250)),
        (".5", sp.Rational(1, 2)),
        ("7.", sp.Integer(7)),
        ("1e400", sp.Integer(10) ** 400),  # a float would be infinite
    ],
)
def test_decimals_are_exact(text, value):
    assert read_formula(text, NAMES).body == value


def test_a_declared_name_goes_before_a_constant():
    names = {"e": array("e", "K"), "pi": array("pi")}
    assert same(read_formula("e*pi", names), names["e"] * names["pi"])


def test_long_sums_are_not_deep():
    assert read_formula("+".join(["x"] * 700), NAMES).body == 700 * X.body


# ---------------------------------------------------------------------------------------------- equations, hypotheses
@pytest.mark.parametrize("text", ["softmax(z + c) == softmax(z)", "softmax(z + c) = softmax(z)"])
def test_equation(text):
    left, right = read_equation(text, NAMES)
    assert same(left, v.softmax(Z + C))
    assert same(right, v.softmax(Z))


@pytest.mark.parametrize(
    ("text", "relation", "left", "right", "ndim"),
    [
        ("sum(v)=1", "==", lambda: v.sum(V), 1, 0),
        ("sum(y, axis=1) == 1", "==", lambda: v.sum(Y, 1), 1, 1),
        ("sum(y,axis=1,keepdims=True)=1", "==", lambda: v.sum(Y, 1, True), 1, 2),
        ("eps > 0", ">", lambda: EPS, 0, 0),
        ("0 < v", ">", lambda: V, 0, 1),
        ("v >= 0", ">=", lambda: V, 0, 1),
        ("0 <= v", ">=", lambda: V, 0, 1),
        ("x != 0", "!=", lambda: X, 0, 0),
    ],
)
def test_hypothesis(text, relation, left, right, ndim):
    found = read_hypothesis(text, NAMES)
    wanted = left()
    assert found.relation == relation
    assert found.right == right
    assert len(found.indices) == ndim == wanted.ndim
    assert replace(found.left, dict(zip(found.indices, wanted.indices, strict=True))) == wanted.body


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_equation, "z + 1", "an equation has two sides; write a == b\n  z + 1\n       ^"),
        (read_equation, "x > 0", "'>' does not make an equation; write a == b\n  x > 0\n    ^"),
        (read_equation, "x == c == 1", "one relation is read, here is a second, '=='\n  x == c == 1\n         ^"),
        (read_equation, "x == ", "a side is empty"),
        (read_equation, "x == zz", "unknown name 'zz'"),
        (read_hypothesis, "sum(y)", "a hypothesis relates two sides"),
        (read_hypothesis, "x ~ 0", "cannot read|relates two sides"),
    ],
)
def test_sides_refused(reader, text, message):
    with pytest.raises(FormulaError) as caught:
        reader(text, NAMES)
    assert any(part in str(caught.value) for part in message.split("|"))


def test_places_are_places_in_the_whole_line():
    with pytest.raises(FormulaError) as caught:
        read_equation("x ==  c + zz", NAMES)
    assert str(caught.value).endswith("\n  x == c + zz\n           ^")


def test_a_hypothesis_about_numbers_only():
    with pytest.raises(HypothesisError, match="speaks of no array"):
        read_hypothesis("1 == 1", NAMES)


# ---------------------------------------------------------------------------------------------- messages
def test_unknown_name_gives_near_names_and_shapes():
    with pytest.raises(FormulaError) as caught:
        read_formula("softmax(z) - yy", {"z": Z, "y": Y, "c": C})
    assert str(caught.value) == (
        "unknown name 'yy'; did you mean y? Declared: z (N, K), y (N, K), c (scalar)\n"
        "  softmax(z) - yy\n               ^"
    )


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("log_softmx(z)", FormulaError, "unknown function 'log_softmx'; did you mean log_softmax"),
        ("z @ v + z", ShapeError, "size N against K in axis -1"),
        ("sum(z, axis=2)", ShapeError, "axis 2 does not exist in the shape (N, K)"),
        ("sum(c, axis=0)", ShapeError, "axis 0 does not exist in the shape ()"),
        ("softmax(c)", ShapeError, "softmax needs an axis"),
        ("z[0, 0, 0]", IndexError_, "too many indices (3)"),
        ("1/(x - x)", FormulaError, "division of 1 by 0"),
        ("0**-1", FormulaError, "infinite, undefined or not real"),
        ("log(0)", FormulaError, "infinite, undefined or not real"),
        ("sqrt(-1)", FormulaError, "infinite, undefined or not real"),
        ("inf", FormulaError, "inf is not a number"),
        ("nan", FormulaError, "nan is not a number"),
        ("2^3", FormulaError, "operator ^ is not read; write ** for a power\n  2^3\n   ^"),
        ("x // 2", FormulaError, "operator // is not read"),
        ("z > 0", FormulaError, "a comparison is not read in a formula; write greater(a, b)"),
        ("x and c", FormulaError, "and/or is not read"),
        ("not x", FormulaError, "only + and -"),
        ("x if c else 1", FormulaError, "if/else is not read in a formula; write where"),
        ("z[1:2]", FormulaError, "slices with bounds are not read"),
        ("z[v]", FormulaError, "a subscript is a number"),
        ("z.sum()", FormulaError, "only functions of the vocabulary"),
        ("z.shape", FormulaError, ".shape is not read, only .T"),
        ("exp", FormulaError, "exp is a function; write exp(...)"),
        ("z(1)", FormulaError, "z is an array, not a function"),
        ("sum()", FormulaError, "missing a required argument"),
        ("exp(x, c)", FormulaError, "exp takes at most 1 arguments"),
        ("sum(z, where=1)", FormulaError, "sum has no argument where; it takes axis, keepdims"),
        ("sum(z, keepdims=1)", FormulaError, "keepdims is True or False"),
        ("sum(z, axis=x)", FormulaError, "axis is a small integer"),
        ("sum(z, axis=True)", FormulaError, "axis is a small integer"),
        ("softmax(z, -1, v)", FormulaError, "softmax takes no further argument"),
        ("softmax(z, name='q')", FormulaError, "softmax has no argument name"),
        ("zeros(v)", FormulaError, "a number or a size is expected"),
        ("sum(*z)", FormulaError, "*arguments are not read"),
        ("sum(**z)", FormulaError, "has no argument **"),
        ("max(", FormulaError, "was never closed"),
        ("x−1", FormulaError, "(MINUS SIGN) does not belong in a formula; write -\n  x−1\n   ^"),
        ("x # 1", FormulaError, "the character '#'"),
    ],
)
def test_refused(text, error, message):
    with pytest.raises(error) as caught:
        read_formula(text, NAMES)
    assert message in str(caught.value)
    assert str(caught.value).splitlines()[-1].strip() == "^"


# ---------------------------------------------------------------------------------------------- attacks
ATTACKS = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "z.__class__",
    "z.body",
    "sum.__globals__",
    "__builtins__",
    "eval('1')",
    "exec('1')",
    "open('x')",
    "getattr(z, 'T')",
    "(lambda: 1)()",
    "lambda x: x",
    "[q for q in z]",
    "{q for q in z}",
    "{1: z}",
    "sum(q for q in z)",
    "(a := 1)",
    "f'{z}'",
    "f'{z.__class__}'",
    "'a' * 9",
    "b'a'",
    "einsum('__import__', z)",
    "einsum(f'{z}', z)",
    "1j",
    "...",
    "None",
    "True",
    "x; x",
    "import os",
    "x\x00",
    "ｓum(z)",  # full-width s: Python would read it as sum
    "ѕum(z)",  # Cyrillic dze
    "𝐱 + 1",  # mathematical bold x: Python would read it as x
    "ⅹ",  # Roman numeral ten
    "x\u202e+1",  # right-to-left override
    "9**9**9",
    "9**9**9**9",
    "9**-9**9",
    "x**1000000",
    "x**1e300",
    "(9**999)**999",
    "((2*x)**1000)**1000",
    "((x*99)**999*x)**999",
    "9**(9**9*ones(3))",
    "(9**arange(K))[999999]",
    "exp(arange(K)**9*log(9))[7]",
    "exp(9**9*log(9))",
    "expm1(9**9*log(9))",
    "softmax(v + 9**9*log(9*x))",
    "e**(9**9*log(9))",
    "10**(9**9*x*log(9)/log(10))",
    "1e999999999",
    "9" * 5000,
    "maximum(" * 40 + "x" + ", 1)" * 40,
    "(" * 5000 + "x" + ")" * 5000,
    "exp(" * 3000 + "x" + ")" * 3000,
    "-" * 15000 + "x",
    "not " * 4000 + "x",
    "x**" * 6000 + "x",
    "x+" * 9000 + "x",
    "z" + "[0]" * 5000,
    "z" + ".T" * 9000,
    "z" + "()" * 5000,
    "x" * 1_000_000,
    "+" * 1_000_000,
]


@pytest.mark.parametrize("text", ATTACKS, ids=lambda t: ascii(t[:24]))
def test_attack_is_refused_quickly(text):
    start = time.process_time()  # not the clock on the wall: other processes must not count
    with pytest.raises((FormulaError, ShapeError, IndexError_)) as caught:
        read_formula(text, NAMES)
    assert time.process_time() - start < 5  # seconds; each takes a fraction of one
    assert len(str(caught.value)) < 2000


def test_length_is_checked_before_anything_else():
    with pytest.raises(FormulaError, match=f"{MAX_LENGTH + 1} characters, more than the {MAX_LENGTH}"):
        read_formula("x" * (MAX_LENGTH + 1), NAMES)


def test_reading_imports_and_evaluates_nothing(monkeypatch):
    def only_numbers(value, *_args, _original=sp.sympify, **_keywords):
        assert not isinstance(value, str), "text reached sympify"
        return _original(value)

    monkeypatch.setattr(sp, "sympify", only_numbers)
    before = set(sys.modules)
    read_formula("-sum(y*log(softmax(z)))/N + 0.25*e**x", NAMES)
    assert set(sys.modules) == before
