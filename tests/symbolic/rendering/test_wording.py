"""Phrases in another language: what the library says by itself is in every catalogue, and what is not stays English."""

from __future__ import annotations

import threading
import tomllib
from pathlib import Path

import pytest

from lemmata.symbolic.calculus.rules import RULES
from lemmata.symbolic.language.domains import domain, domain_names
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.rendering import wording
from lemmata.symbolic.rendering.document import PHASE_WORDS
from lemmata.symbolic.rendering.prose import plain_markdown, sentences, space
from lemmata.symbolic.rendering.wording import Catalogue, catalogue, language, languages, listed, said

FOLDER = Path(wording.__file__).parent / "languages"


def standing() -> list[str]:
    """What every page may say: the rules' sentences, the names of phases, the words for domains."""
    words = [space(domain(name).name)[2] for name in domain_names() if name != "real"]
    return [*(c for r in RULES.values() for c in r.why.split("; ")), *PHASE_WORDS.values(), *filter(None, words)]


@pytest.mark.parametrize("name", languages()[1:])
def test_a_catalogue_has_what_every_page_may_say(name: str) -> None:
    words = Catalogue(phrases(name))
    for phrase in standing():
        words(phrase)
    assert list(words.missing) == []


def test_a_rule_without_words_would_be_named() -> None:
    less = {k: v for k, v in phrases("zh").items() if k != "product rule"}
    words = Catalogue(less)
    for phrase in standing():
        words(phrase)
    assert list(words.missing) == ["product rule"]


@pytest.mark.parametrize("name", languages()[1:])
def test_what_is_kept_has_a_place(name: str) -> None:
    assert [k for k, v in phrases(name).items() if k.count("{}") != v.count("{}")] == []


def phrases(name: str) -> dict[str, str]:
    return dict(tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))["phrases"])


def test_forms() -> None:
    words = Catalogue({"by {}": "durch {}", "by {} and {}": "durch {} und {}", "by hand": "von Hand"})
    assert [words(t) for t in ("by hand", "by x", "by x and y\nz", "by ", "hereby x")] == [
        "von Hand",
        "durch x",
        "durch x und y\nz",
        "by ",
        "hereby x",
    ]
    assert list(words.missing) == ["by ", "hereby x"]


def test_braces_of_latex_are_kept() -> None:
    assert Catalogue({"where {}": "其中 {}"})(r"where $\frac{a}{b}$, {0}") == r"其中 $\frac{a}{b}$, {0}"


def test_a_language_ends_with_its_block() -> None:
    """And another thread knows nothing of it."""
    heard: list[str] = []
    with language("zh"):
        thread = threading.Thread(target=lambda: heard.append(said("product rule")))
        thread.start()
        thread.join()
        assert sentences(["product rule; power rule"]) == "乘积法则；幂法则。"
        with language("en"):
            assert sentences(["product rule; power rule"]) == "Product rule; power rule."
        assert listed(["product rule", "power rule"]) == "乘积法则；幂法则"
    assert heard == ["product rule"]
    assert listed(["product rule", "power rule"]) == "product rule; power rule"


def _fails() -> None:
    with language("zh"):
        raise ZeroDivisionError


def test_a_language_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        _fails()
    assert said("product rule") == "product rule"


@pytest.mark.parametrize("name", ["de", "../zh", "", "ZH"])
def test_a_language_without_words(name: str) -> None:
    with pytest.raises(LemmataError, match=r"no words in the language .*languages: en, zh"), language(name):
        pass


def test_a_catalogue_is_read_once() -> None:
    assert catalogue("zh") is catalogue("zh")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cos(k*w_0), sin(k*w_0)", r"cos(k\*w_0), sin(k\*w_0)"),
        ("_x_ and x_i", r"\_x\_ and x_i"),
        ("`a*b` < a*b `_c_`", r"`a*b` \< a\*b `_c_`"),
        ("", ""),
        ("an odd ` mark *", r"an odd ` mark \*"),
    ],
)
def test_prose_in_markdown_has_no_marks_of_its_own(text: str, shown: str) -> None:
    assert plain_markdown(text) == shown
