"""The JSON endpoint: answers, errors with their place, examples, and what a browser is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lemmata as lm
from lemmata.serving.application import PAGE
from lemmata.serving.asking import KINDS, RequestError, read_question
from lemmata.symbolic.language.limits import check_text, place, place_in

from .running import GRADIENT, JSON, Server

EXAMPLES = json.loads((PAGE / "examples.json").read_text(encoding="utf-8"))


def test_a_gradient_is_derived_and_proved(server: Server) -> None:
    answer = server.ask(GRADIENT)
    assert answer.status == 200
    assert answer.json["verdict"] == "proved"
    assert answer.json["headline"] == "proved for every K"
    assert r"\nabla_{z} L = p - y" in answer.json["markdown"]
    assert "return p - y" in answer.json["numpy"]
    assert {"canonical", "exact", "numpy"} <= {e["kind"] for e in answer.json["evidence"]}


def test_the_answer_is_that_of_the_library(server: Server) -> None:
    z, y = lm.array("z", "K"), lm.array("y", "K")
    known = lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(lm.sum(y), 1)])
    for detail in ("brief", "normal", "full"):
        answer = server.ask(GRADIENT | {"detail": detail})
        assert answer.json["latex"] == known.latex(detail)  # type: ignore[arg-type]


def test_a_false_identity_is_refuted(server: Server) -> None:
    answer = server.ask({"ask": "prove", "formula": "softmax(2*z) == softmax(z)", "shapes": "z=K"})
    assert answer.status == 200
    assert answer.json["verdict"] == "refuted"
    found = answer.json["counterexample"]
    assert found["left"] != found["right"]
    assert "z" in found["inputs"]
    assert answer.json["numpy"] is None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e["title"])
def test_examples(server: Server, example: Any) -> None:
    question = example["question"]
    answer = server.ask(question)
    assert answer.status == 200, answer.text
    asked = "refuted" if example["title"] == "Is KL symmetric?" else "proved"
    assert answer.json.get("verdict", "proved") == asked
    assert ("svg" in answer.json) == (question["ask"] == "mha")


def test_theorems_are_listed(server: Server) -> None:
    answer = server.send("GET", "/api/theorems")
    assert answer.json["theorems"][0].keys() == {"name", "title", "topic"}
    assert [t["name"] for t in answer.json["theorems"]] == list(lm.theorems())


@pytest.mark.parametrize(
    ("change", "field", "at"),
    [
        ({"formula": "-sum(y*log(softmx(z)))"}, "formula", 11),
        ({"formula": "  -sum(y *   lag(z))"}, "formula", 13),
        ({"formula": "-sum(y*log(softmax(z))"}, "formula", 4),
        ({"formula": "z +* y"}, "formula", 3),
        ({"formula": "sum(z) + ζ٣"}, "formula", 10),
        ({"formula": "+".join(["sum(z*y)"] * 40) + " + sum(w)"}, "formula", 9 * 40 + 6),
        ({"shapes": "z=K,, y=K w=!"}, "shapes", 10),
        ({"shapes": "z=K y=9**9"}, "shapes", 4),
        ({"domain": "y=simplex q=positive"}, "domain", None),
        ({"domain": "y simplex"}, "domain", 0),
        ({"given": "sum(y)=1; sum(y)"}, "given", 16),
        ({"given": "sum(y)=1; sum(q)=1"}, "given", 14),
        ({"wrt": "w"}, "wrt", None),
        ({"ask": "vjp", "formula": "softmax(z)", "cotangent": "g):\n import os"}, "cotangent", None),
        ({"ask": "vjp", "formula": "softmax(z)", "cotangent": "1x"}, "cotangent", 0),
        ({"ask": "jvp", "formula": "softmax(z)", "tangent": "z=K"}, "tangent", None),
        ({"formula": "softmax(z)"}, "formula", None),
    ],
)
def test_an_error_names_its_field_and_place(server: Server, change: Any, field: str, at: int | None) -> None:
    answer = server.ask(GRADIENT | change)
    assert answer.status == 422
    error = answer.error
    assert (error["kind"], error["field"]) == ("question", field)
    assert error["position"] == at
    assert error["message"]
    assert at is None or "^" not in error["message"]  # the page marks the place itself


def test_theorem_and_shapes_errors_name_their_field(server: Server) -> None:
    assert server.ask({"ask": "theorem", "name": "no_such_theorem"}).error["field"] == "name"
    assert server.ask({"ask": "mha", "x": "1,10,768", "heads": "12+"}).error["field"] == "heads"
    assert server.ask({"ask": "mha", "x": "1,10,768", "heads": "5"}).status == 422


def test_messages_do_not_speak_of_options(server: Server) -> None:
    for change in ({"wrt": "w"}, {"shapes": "", "domain": "y=simplex"}):
        assert "--" not in server.ask(GRADIENT | change).error["message"]
    assert "--" not in "".join(server.ask({"ask": "jacobian", "formula": "exp(z)", "wrt": "z",
                                           "shapes": "z=K"}).json["hints"])


def test_the_place_of_an_error_is_never_guessed() -> None:
    line = check_text("a b " * 100)
    assert place_in(f"wrong\n{place(line, 4)}", line) == 4
    assert place_in(f"wrong\n{place(line, 204)}", line) is None  # the same text stands around many places
    assert place_in("wrong", line) is None
    assert place_in(f"wrong\n{place('another text', 5)}", line) is None
    assert place_in(f"wrong\n{place('z', 1)}", " z ") == 2


# ---------------------------------------------------------------------- what is no question
@pytest.mark.parametrize(
    "data",
    [None, [], "gradient", {}, {"ask": 1}, {"ask": "eval"}, {"ask": ["gradient"]}, {"ask": "prove", "formula": 3},
     {"ask": "prove", "formula": ""}, {"ask": "prove", "formula": "a == b", "wrt": "z"},
     {"ask": "theorem", "name": "x" * 300}, {"ask": "prove", "formula": "a == b", "detail": "all"}],
)
def test_what_is_no_question_is_refused(data: Any) -> None:
    with pytest.raises(RequestError):
        read_question(data)


def test_every_kind_is_on_the_page() -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    for ask, parts in KINDS.items():
        assert f'<option value="{ask}">' in page
        for part in parts:
            assert f'id="{part}"' in page
            assert f'<label for="{part}"' in page


# ---------------------------------------------------------------------- what the browser is told
def test_headers(server: Server) -> None:
    page, answer = server.send("GET", "/"), server.ask(GRADIENT)
    for response in (page, answer, server.send("GET", "/nothing")):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "access-control-allow-origin" not in response.headers
        assert "server" not in response.headers
        assert response.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert page.headers["content-type"].startswith("text/html")


def test_nothing_inline_and_nothing_from_elsewhere() -> None:
    for file in PAGE.iterdir():
        text = file.read_text(encoding="utf-8")
        foreign = text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in foreign
        assert "https://" not in foreign
        assert "innerHTML" not in text
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    assert " style=" not in page
    assert " on" + "click=" not in page
    assert page.count("<script") == page.count("<script src=")


@pytest.mark.parametrize("path", ["/page/../application.py", "/page/%2e%2e/application.py", "/katex/../worker.py",
                                  "/katex/%2e%2e/%2e%2e/pyproject.toml", "/page/", "/katex//etc/passwd"])
def test_only_the_files_of_the_page_are_served(server: Server, path: str) -> None:
    assert server.send("GET", path).status == 404


def test_files_are_kept_and_asked_for_again(server: Server) -> None:
    first = server.send("GET", "/katex/katex.min.js")
    again = server.send("GET", "/katex/katex.min.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status, again.status, again.text) == (200, 304, "")


def test_another_hosts_name_is_refused(server: Server) -> None:
    for host in ("evil.example", f"evil.example:{server.port}", f"127.0.0.1:{server.port + 1}", "127.0.0.1", ""):
        answer = server.send("POST", "/api/answer", json.dumps(GRADIENT), {**JSON, "Host": host})
        assert answer.status == 421, host
    assert server.send("GET", "/", headers={"Host": f"localhost:{server.port}"}).status == 200


def test_a_form_of_another_site_is_refused(server: Server) -> None:
    for content in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"):
        assert server.send("POST", "/api/answer", json.dumps(GRADIENT), {"Content-Type": content}).status == 415
    assert server.send("OPTIONS", "/api/answer", headers={"Origin": "http://evil.example"}).headers.get(
        "access-control-allow-origin") is None
