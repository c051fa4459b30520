"""Questions that mean harm, or more work than there is: each is answered soon and clearly, and the server lives on."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from lemmata.serving.answering import answer_question

from .running import GRADIENT, JSON, Server

BOUND = 1.5 + 25  # the time limit in conftest, a wait for a new worker, a busy machine
DEEP = "(" * 10_000 + "z" + ")" * 10_000

# What can be read and would do harm: nothing of it may be evaluated.
FORMULAS = [
    "__import__('os').system('true')",
    "__import__",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd')",
    "getattr(z, 'shape')",
    "globals()",
    "z.__class__",
    "z.T.__class__.__mro__",
    "().__class__.__mro__",
    "(z).body",
    "sum.__globals__",
    "z.__init__.__globals__['sys']",
    "f'{z}'",
    "f\"{__import__('os')}\"",
    "'a'.join(z)",
    "b'a'",
    "(w := z)",
    "lambda: z",
    "(lambda x: x)(z)",
    "[x for x in z]",
    "sum(x for x in z)",
    "{z: z}",
    "sum(*z)",
    "sum(**z)",
    "sum(z, axis=z)",
    "sum(z, out=z)",
    "sum(z, axis=10**9)",
    "z if z else z",
    "z and z",
    "not z",
    "z < z < z",
    "z[0:10**9]",
    "z[10**30]",
    "z[__import__('os')]",
    "await z",
    "yield z",
    "import os",
    "z; import os",
    "z\nimport os",
    "z # comment",
    "z\\\n+ z",
    "@z",
    "print(z)",
    "ｓum(z)",
    "sum（z）",
    "ѕum(z)",
    "z\u200b + z",
    "z\u202e + z",
    "z\x00 + z",
    "\ud800",
    "𝐳 + 𝐳",
    "True + False",
    "None",
    "...",
    "1j*z",
    "nan",
    "inf*z",
    "1/0",
    "log(0)",
    "sum(z)/(1-1)",
]
# What would take for ever, or all memory.
LARGE = [
    "2**10**10*sum(z)",
    "9**9**9**9",
    "1e999*sum(z)",
    "(9**9)**(9**9)",
    "sum(z)**(10**9)",
    "sum(z)**(10**9 + 0.5)",
    "(sum(z) + 1)**1000",
    "(sum(z) + sum(y) + 1)**100",
    "exp(9**9*log(9))",
    "log(6**1000*7 + 1)*sum(z)",
    "(10**60 + 1)**0.5*sum(z)",
    "K**1000*sum(z)",
    "1e308**1e308",
    "0.1**10000000",
    "9" * 19_000,
    "1" + "0" * 19_000 + "*sum(z)",
    "eye(10**12)[0,0]",
    "sum(arange(10**12))",
    "sum(ones((10**6, 10**6, 10**6)))",
    "einsum('" + ",".join(["i"] * 300) + "->', " + ",".join(["z"] * 300) + ")",
    "einsum('" + "i" * 5_000 + "->', z)",
    "einsum('i,i,i', z)",
    "einsum('->->->', z)",
    "factorial(10**9)",
    "gamma(10**9)",
    "prod(z)**prod(z)**prod(z)",
    "exp(" * 59 + "sum(z)" + ")" * 59,
    "exp(" * 500 + "z" + ")" * 500,
    "-" * 15_000 + "sum(z)",
    "**".join(["2"] * 5_000),
    "sum(z" + "[None]" * 3_000 + ")",
    "z" + ".T" * 9_000,
    "+".join(["sum(z)"] * 2_000),
    "*".join(["sum(z)"] * 900),
    "*".join(f"(sum(z) + {n})" for n in range(60)),
    "sum(softmax(z)*" * 20 + "z" + ")" * 20,
    DEEP,
    "z" * 20_001,
]


@pytest.mark.parametrize("formula", FORMULAS, ids=ascii)
def test_what_is_no_formula_is_refused(formula: str) -> None:
    """In this process, so that an evaluation would be seen here."""
    started = time.monotonic()
    question = {"domain": "", "detail": "normal"} | GRADIENT | {"formula": formula}
    for asked in (question, question | {"ask": "prove", "formula": f"{formula} == z"}):
        error = answer_question(asked)["error"]
        assert (error["kind"], error["field"]) == ("question", "formula"), error
    given = answer_question(question | {"formula": GRADIENT["formula"], "given": f"{formula} = 1"})["error"]
    assert (given["kind"], given["field"]) == ("question", "given"), given
    assert time.monotonic() - started < BOUND


def test_formulas_on_the_wire(attacked: Server) -> None:
    """The same by HTTP, where text is encoded: those that differ from plain text."""
    for formula in [f for f in FORMULAS if not (f.isascii() and f.isprintable())]:
        answer = attacked.ask(GRADIENT | {"formula": formula})
        assert answer.status == 422, answer.text[:300]
    assert attacked.is_well()


@pytest.mark.parametrize("formula", LARGE, ids=lambda f: f[:30] + ("" if len(f) < 30 else f"...{len(f)}"))
def test_large_questions_are_bounded(attacked: Server, formula: str) -> None:
    started = time.monotonic()
    answer = attacked.ask(GRADIENT | {"formula": formula, "given": ""})
    assert time.monotonic() - started < BOUND
    assert answer.status in (200, 400, 422, 504, 507), answer.text[:300]
    assert answer.status == 200 or answer.error["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"shapes": "z=1000000000000 y=1000000000000"},
        {"shapes": "z=99999999999999999999*K y=99999999999999999999*K"},
        {"shapes": "z=" + ",".join("ABCDEFGHJKLMN") + " y=" + ",".join("ABCDEFGHJKLMN")},
        {"shapes": "z=" + ",".join(["100"] * 6) + " y=" + ",".join(["100"] * 6)},
        {"shapes": "z=" + "+".join(["K"] * 90) + " y=K"},
        {"shapes": " ".join(f"a{n}=K" for n in range(600))},
        {"shapes": "z=K y=K " + "x=" * 1000},
        {"shapes": "z=" + "(" * 50 + "K" + ")" * 50},
        {"shapes": "z=9**9**9 y=K"},
        {"shapes": "__import__=K z=K y=K"},
        {"shapes": "z=__import__('os') y=K"},
        {"domain": "y=(0,9**9**9)"},
        {"domain": "y=index<10**12"},
        {"domain": "y=index<((9**8)**8)**8"},
        {"domain": "y={inf}"},
        {"domain": "y={nan,1e999}"},
        {"domain": "y=symmetric"},
        {"domain": "y=__import__('os')"},
        {"given": "sum(y)=9**9**9"},
        {"given": "=;=;=;="},
        {"wrt": "__import__('os')"},
        {"wrt": "z.__class__"},
    ],
    ids=lambda c: ascii(c)[:50],
)
def test_shapes_domains_and_hypotheses_are_bounded(attacked: Server, change: Any) -> None:
    started = time.monotonic()
    answer = attacked.ask(GRADIENT | change)
    assert time.monotonic() - started < BOUND
    assert answer.status in (200, 400, 422, 504, 507), answer.text[:300]
    # Arrays of these sizes cannot be drawn, so that a derivation may be shown, but is not called proved.
    assert answer.status != 200 or answer.json["verdict"] == "unsupported"


@pytest.mark.parametrize("name", ["np", "numpy", "e", "def", "class", "exec", "print", "gradient", "None", "p", "L",
                                  "z); import os; (", "z=1", "λ", "__builtins__", "out", "shape"])
def test_names_of_arrays_do_not_reach_into_the_code(server: Server, name: str) -> None:
    """Names stand in the code that is generated and run: what is accepted as a name gives code that is right."""
    answer = server.ask({"ask": "vjp", "formula": f"softmax({name})", "wrt": name, "shapes": f"{name}=K"})
    assert answer.status in (200, 422), answer.text[:300]
    assert answer.status == 422 or answer.json["verdict"] == "proved"
    answer = server.ask({"ask": "vjp", "formula": "softmax(z)", "wrt": "z", "shapes": "z=K", "cotangent": name})
    assert answer.status in (200, 422), answer.text[:300]
    assert answer.status == 422 or answer.json["verdict"] == "proved"


@pytest.mark.parametrize(
    ("x", "heads"),
    [("10**12,10,768", "12"), ("1,10,99999999999999999999999999999999", "3"), ("1,10,768", "9**9**9"),
     ("1,10,768", "__import__('os')"), ("1,10", "2"), (",,,,,", "1"), ("(" * 90, "1"), ("B,n,d\x00", "h"),
     ("1,10,768", "(" * 25 + "9" + "**8)" * 25), ("1,10,(a+b+c+d)**99", "1"),
     ("1,10,768", "0"), ("1,10,768", "-1"), ("1,10,768", "1.5")],
)
def test_shapes_of_attention_are_bounded(attacked: Server, x: str, heads: str) -> None:
    answer = attacked.ask({"ask": "mha", "x": x, "heads": heads}, timeout=BOUND)
    assert answer.status in (200, 422), answer.text[:300]
    assert answer.status == 200 or answer.error["kind"] == "question"


# ---------------------------------------------------------------------- bodies
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b"NaN", 400),
        (b"[" * 60_000, 400),
        (b'{"ask":' * 8_000, 400),
        (b'{"ask": "prove", "formula": "\xff\xfe"}', 400),
        (b"\x00" * 1000, 400),
        (b'{"ask": "prove", "formula": "a\\u0000b == 1"}', 422),
        (b'{"ask": "prove", "formula": "\\ud800 == 1"}', 422),
        (json.dumps({"ask": "prove", "formula": "z" * 60_000}).encode(), 400),
        (json.dumps({"ask": "prove", "formula": "z" * 1_000_000}).encode(), 413),
        (b"9" * 60_000, 400),
    ],
    ids=lambda b: ascii(b)[:30],
)
def test_bodies(attacked: Server, body: bytes, status: int) -> None:
    answer = attacked.send("POST", "/api/answer", body, JSON)
    assert answer.status == status, answer.text[:300]
    assert answer.error["message"]


def test_methods_and_paths(attacked: Server) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH", "TRACE"):
        assert attacked.send(method, "/api/answer").status == 405
    assert attacked.send("GET", "/" + "a" * 10_000).status == 404
    assert attacked.send("GET", "/", headers={f"X-{n}": "a" * 1000 for n in range(40)}).status == 431


def test_the_server_is_well_after_all_this(attacked: Server) -> None:
    assert attacked.is_well()
    assert attacked.process.poll() is None
