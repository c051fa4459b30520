"""A block -> Markdown and verdict: every kind, every form, and every error with the words that help."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lemmata.markdown_blocks import Fence, fences
from lemmata.symbolic.language.errors import LemmataError
from lemmata.symbolic.rendering.wording import catalogue
from lemmata.weaving import KINDS, Block, BlockError, BlockNotProved, latex_display, myst_display, woven

CODE = '''
import numpy as np

def loss(z, y):
    return np.sum(np.log(np.sum(np.exp(z), axis=1))) / len(z) - np.sum(y * z) / len(z)

def loss_grad(z, y):
    e = np.exp(z)
    return (e / e.sum(axis=1, keepdims=True) - y) / len(z)

def linear(x, w):
    return x @ w

def linear_backward(g, x, w):
    return g @ w.T, x.T @ g
'''
QUESTION = {"wrt": "z", "shapes": "z=K, y=K"}
CROSS_ENTROPY = "-sum(y*log(softmax(z)))"
GRADIENT = {"wrt": "z", "shapes": "z=N,K y=N,K"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model_of_blocks.py").write_text(CODE, encoding="utf-8")
    return tmp_path


def fail(kind: str, argument: str = "", options: dict[str, str] | None = None, body: str = "") -> str:
    with pytest.raises(BlockError) as caught:
        woven(Block(kind, argument, options or {}, body, "notes.md", 7))
    assert str(caught.value).startswith("notes.md:7: {")
    return str(caught.value)


def test_a_theorem_step_by_step() -> None:
    filled = woven(Block("derivation", "deriv_softmax", {"label": "eq-softmax"}), display=myst_display)
    assert filled.verdict is not None
    assert filled.verdict.verdict == "proved"
    assert filled.theorem == "deriv_softmax"
    last = "4. This is p again. (`fold`)\n\n$$\n= p_{i} \\delta_{ik} - p_{i} p_{k}\n$$ (eq-softmax)\n"
    assert last in filled.markdown
    assert filled.markdown.count("(eq-softmax)") == 1
    assert "\n#" not in filled.markdown  # a heading would cut the document's section in two


POSITIVE = r"$x \in \mathbf{R}^{K}$ (positive)"


def test_an_equation_that_needs_its_domains_is_shown_with_them() -> None:
    equation = "log(x*y) == log(x) + log(y)"
    declared = {"shapes": "x=K, y=K", "domain": "x=positive, y=positive"}
    markdown = woven(Block("prove", "", declared, equation)).markdown
    assert f"for {POSITIVE}, {POSITIVE.replace('x', 'y')}\n\nProved for every K." in markdown
    with pytest.raises(BlockNotProved):  # it is false without them
        woven(Block("prove", "", {"shapes": "x=K, y=K"}, equation))
    real = woven(Block("prove", "", {"shapes": "z=K"}, "sum(softmax(z)) == 1")).markdown
    assert "for $" not in real


@pytest.mark.parametrize("form", ["steps", "display", "result", "vector"])
def test_a_derivation_is_shown_with_its_domains_once_in_every_form(form: str) -> None:
    asked = {"wrt": "x", "shapes": "x=K", "domain": "x=positive", "form": form}
    markdown = woven(Block("derivation", "", asked, "sum(sqrt(x**2))")).markdown
    assert markdown.count(POSITIVE) == 1
    assert "(positive)" in woven(Block("derivation", "vjp_layer_norm", {"form": form})).markdown


@pytest.mark.parametrize("name", ["vjp_layer_norm", "deriv_softmax_focal_loss"])
def test_a_theorem_is_shown_with_its_domains_once(name: str) -> None:
    assert woven(Block("theorem", name)).markdown.count("(positive)") == 1


@pytest.mark.parametrize("form", ["steps", "display", "result", "vector"])
@pytest.mark.parametrize("name", ["deriv_softmax", "vjp_attention"])
def test_the_label_stands_once_in_every_form(name: str, form: str) -> None:
    block = Block("derivation", name, {"form": form, "label": "eq:x"})
    assert woven(block, display=myst_display).markdown.count("\n$$ (eq:x)\n") == 1
    assert woven(block, display=latex_display).markdown.count("\\begin{equation}\\label{eq:x}\n") == 1
    plain = woven(block).markdown
    assert "eq:x" not in plain
    assert "\n#" not in f"\n{plain}"


def test_a_result_is_shown_with_its_definitions_and_hypotheses() -> None:
    options = QUESTION | {"form": "result", "given": "sum(y) = 1"}
    markdown = woven(Block("derivation", "", options, CROSS_ENTROPY)).markdown
    assert "= p_{k} - y_{k}" in markdown
    assert "where $p_{i} := " in markdown
    assert r"assuming $\sum_{j} y_{j} = 1$" in markdown
    without = woven(Block("derivation", "", QUESTION | {"form": "result"}, CROSS_ENTROPY)).markdown
    assert r"p_{k} \sum_{j} y_{j} - y_{k}" in without


def test_several_hypotheses_are_separated_by_semicolons() -> None:
    options = {"wrt": "z", "shapes": "z=K y=K c=", "given": "sum(y) = 1; c > 0", "form": "result"}
    assert "c > 0" in woven(Block("derivation", "", options, "-c*sum(y*log(softmax(z)))")).markdown


@pytest.mark.parametrize(("kind", "more"), [("jacobian", {}), ("vjp", {"cotangent": "u"}), ("jvp", {"tangent": "t"})])
def test_other_derivatives(kind: str, more: dict[str, str]) -> None:
    options = {"kind": kind, "wrt": "z", "shapes": "z=K", "form": "vector", **more}
    markdown = woven(Block("derivation", "", options, "softmax(z)")).markdown
    for name in more.values():
        assert f" {name}" in markdown


def test_a_statement_with_verdict_and_source() -> None:
    markdown = woven(Block("theorem", "deriv_cross_entropy_softmax")).markdown
    assert markdown.startswith("**Gradient of softmax cross-entropy** (`deriv_cross_entropy_softmax`)\n")
    assert "\n- Proved for every K\n" in markdown
    assert "Source: Bishop" in markdown


def test_an_equation_with_its_verdict() -> None:
    filled = woven(Block("prove", "", {"shapes": "z=K, c="}, "softmax(z + c) == softmax(z)"))
    assert filled.markdown.endswith("\nProved for every K.\n")


def test_the_condition_of_a_proof_is_said() -> None:
    filled = woven(Block("prove", "", {"shapes": "x= y="}, "x*y/y == x"))
    assert filled.verdict is not None
    assert filled.verdict.conditions == ("y ≠ 0",)
    assert "where y ≠ 0." in filled.markdown


@pytest.mark.parametrize("form", ["table", "svg", "latex"])
def test_shapes(form: str) -> None:
    options = {"x": "1,10,768", "heads": "12", "mask": "causal", "form": form}
    filled = woven(Block("shapes", "mha", options))
    assert filled.verdict is None
    assert "768" in filled.markdown
    if form == "svg":
        assert "\n\n" not in filled.markdown  # a blank line ends raw HTML


def test_cross_attention() -> None:
    options = {"q": "2,4,512", "kv": "2,7,512", "heads": "8", "kv-heads": "2"}
    assert "`[2,7,512]`" in woven(Block("shapes", "cross-attention", options)).markdown


def test_a_function_of_the_users(folder: Path) -> None:
    options = GRADIENT | {"backward": "model_of_blocks.py:loss_grad", "form": "vector"}
    filled = woven(Block("gradient", "model_of_blocks.py:loss", options), folder)
    assert "`loss_grad` computes this: proved for every K, N." in filled.markdown
    assert r"\nabla_{z} L = " in filled.markdown
    assert filled.depends_on == ((folder / "model_of_blocks.py").resolve(),)
    derived = woven(Block("gradient", "model_of_blocks.py:loss", GRADIENT), folder)
    assert "computes" not in derived.markdown


def test_several_gradients_of_a_layer(folder: Path) -> None:
    options = {"wrt": "x,w", "shapes": "x=N,D w=D,M", "cotangent": "g=N,M", "form": "vector", "label": "eq-l",
               "backward": "model_of_blocks.py:linear_backward"}
    markdown = woven(Block("gradient", "model_of_blocks.py:linear", options), folder, myst_display).markdown
    assert "**By** $x$" in markdown
    assert "**By** $w$" in markdown
    assert markdown.count("(eq-l)") == 1
    assert "`linear_backward` computes these: proved for every D, M, N." in markdown


def test_a_gradient_that_was_tampered_with(folder: Path) -> None:
    """The same process, the same name: the verdict is about the file as it stands, not as it was imported."""
    options = GRADIENT | {"backward": "model_of_blocks.py:loss_grad"}
    block = Block("gradient", "model_of_blocks.py:loss", options, "", "notes.md", 3)
    woven(block, folder)
    file = folder / "model_of_blocks.py"
    file.write_text(CODE.replace("- y) / len(z)\n\ndef linear(", "- y)\n\ndef linear("), encoding="utf-8")
    with pytest.raises(BlockNotProved) as caught:
        woven(block, folder)
    assert caught.value.verdict.verdict == "refuted"
    assert caught.value.counterexample is not None
    assert "the claim lacks the factor 1/N" in str(caught.value)
    file.write_text(CODE, encoding="utf-8")
    woven(block, folder)


def test_a_false_claim() -> None:
    with pytest.raises(BlockNotProved) as caught:
        woven(Block("prove", "", {"shapes": "z=K, c="}, "softmax(z + c) == softmax(z)*1.0009", "notes.md", 7))
    assert caught.value.verdict.verdict == "refuted"
    assert str(caught.value).startswith("notes.md:7: {prove}: refuted")
    assert caught.value.counterexample is not None
    with pytest.raises(BlockNotProved):  # what is refuted is not allowed by anything
        woven(Block("prove", "", {"shapes": "z=K, c=", "allow": "supported"}, "softmax(z + c) == softmax(z)*1.0009"))


def test_supported_is_allowed_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from lemmata import result
    from lemmata.symbolic.derivations.model import Verdict

    monkeypatch.setattr(result.Result, "verdict", Verdict("supported", reason="no canonical form"))
    options = {"shapes": "z=K"}
    with pytest.raises(BlockNotProved, match="no canonical form"):
        woven(Block("prove", "", options, "sum(softmax(z)) == 1"))
    allowed = woven(Block("prove", "", options | {"allow": "supported"}, "sum(softmax(z)) == 1"))
    assert "Supported: not proved, but no difference was found." in allowed.markdown
    derived = woven(Block("derivation", "deriv_softmax", {"allow": "supported", "form": "result"}))
    assert "- Supported: not proved, but no difference was found" in derived.markdown


@pytest.mark.parametrize(("block", "said"), [
    (("derivatoin", "deriv_softmax"), "there is no block {derivatoin}; blocks: derivation, theorem, shapes"),
    (("derivation", "deriv_softma"), "did you mean deriv_softmax"),
    (("derivation", "deriv_softmax", {"detial": "full"}), "no option :detial:; options: detail, form, wrt"),
    (("derivation", "deriv_softmax", {"detail": "ful"}), ":detail: is one of brief, normal, full, got 'ful'"),
    (("derivation", "deriv_softmax", {"wrt": "z"}), "a theorem's name and :wrt:"),
    (("derivation", "deriv_softmax", {"label": "a b"}), ":label: has letters, digits"),
    (("derivation", "", {"wrt": "z"}), "the body holds the formula, and it is empty"),
    (("derivation", "", {"shapes": "z=K"}, "sum(z)"), ":wrt: z"),
    (("derivation", "", {"wrt": "x", "shapes": "z=K"}, "sum(z)"), "'x', has no shape"),
    (("derivation", "", {"wrt": "z", "shapes": "z=K", "tangent": "v"}, "sum(z)"), ":tangent: is of the jvp"),
    (("derivation", "", {"wrt": "z", "shapes": "z=K"}, "sum(z"), "^"),
    (("derivation", "", {"wrt": "z", "shapes": "z=K"}, "__import__('os')"), "{derivation}: "),
    (("theorem", "deriv_softmax", {"detail": "full"}), "no option :detail:; options: label, allow"),
    (("theorem", ""), "a theorem's name"),
    (("prove", "deriv_softmax", {}, "1 == 1"), "it takes no argument, got 'deriv_softmax'"),
    (("prove", "", {"shapes": "z=K"}, "sum(z)"), "=="),
    (("shapes", "mha", {"x": "1,10,768"}), "it needs :heads:"),
    (("shapes", "mha", {"x": "1,10,769", "heads": "12"}), "769 is not a multiple of h = 12"),
    (("shapes", "mha", {"x": "1,10,768", "heads": "12", "kv": "1,2,3"}), "mha has no :kv:"),
    (("shapes", "mha", {"x": "1,10,768", "heads": "12", "no-bias": "yes"}), ":no-bias: is a flag"),
    (("shapes", "gru"), "mha or cross-attention, got 'gru'"),
    (("gradient", "loss", GRADIENT), "file.py:function, got 'loss'"),
    (("gradient", "no_such.py:loss", GRADIENT), "there is no file no_such.py"),
    (("gradient", "statistics:mean"), "it needs :wrt:"),
])
def test_errors(block: tuple[str, str], said: str) -> None:
    assert said in fail(*block)


def test_every_kind_has_its_function_and_every_option_its_error() -> None:
    from lemmata import weaving_kinds

    for name, kind in KINDS.items():
        assert callable(getattr(weaving_kinds, name))
        for option, parse in kind.options.items():
            if option in ("length-first", "no-bias"):
                continue
            with pytest.raises((ValueError, LemmataError)):
                parse("")


def test_two_pictures_on_a_page_have_names_of_their_own() -> None:
    names: list[str] = []
    for heads in ("2", "4"):
        options = {"x": "1,10,8", "heads": heads, "form": "svg"}
        markdown = woven(Block("shapes", "mha", options)).markdown
        own = re.findall(r'\bid="([^"]+)"', markdown)
        used = re.findall(r'url\(#([^)]+)\)|aria-labelledby="([^"]+)"', markdown)
        assert {a or b for a, b in used} <= set(own)
        names += own
    assert len(set(names)) == len(names)


# ---------------------------------------------------------------------- languages
CHINESE = Path(__file__).parents[2] / "docs/zh/index.md"
ENGLISH_WORDS = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,}){2}")


def test_the_chinese_page_is_chinese_throughout() -> None:
    """No phrase of its blocks is missing in the catalogue, and no sentence of them is left in English."""
    catalogue("zh").missing.clear()
    woven_blocks = 0
    text = CHINESE.read_text(encoding="utf-8")
    for fence in fences(text, text.splitlines(keepends=True)):
        if isinstance(fence, Fence):
            assert "language" in fence.block.options, fence.block
            markdown = woven(fence.block).markdown
            # mathematics, names of rules, pictures, and sources, which are as they were published
            words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<svg.*?</svg>|^[^\n]*出处[^\n]*$", "", markdown,
                          flags=re.DOTALL | re.MULTILINE)
            assert ENGLISH_WORDS.findall(words) == [], markdown
            woven_blocks += 1
    assert woven_blocks > 20
    assert list(catalogue("zh").missing) == []


@pytest.mark.parametrize(("kind", "argument", "options", "body", "parts"), [
    ("prove", "", {"shapes": "z=K"}, "sum(softmax(z)) == 1", ["其中 $p_{i}", "对任意 K 已证明。"]),
    ("theorem", "deriv_softmax", {}, "", ["已知 $z", "写成向量形式：", "- 对任意 K 已证明", "- 出处：Bridle"]),
    ("derivation", "", {"kind": "gradient", "wrt": "p", "shapes": "p=K", "domain": "p=(0,1)"}, "sum(log(p)*p)",
     ["已知 $p", "乘积法则；链式法则（log 的导数）"]),
    ("derivation", "vjp_layer_norm", {"detail": "full"}, "", ["**前向**", "**反向**", "**梯度**", r"\text{对每个 }"]),
    ("shapes", "mha", {"x": "B,n,d", "heads": "4"}, "", ["| 运算 |", "逐行解释：", "参数总量："]),
])
def test_a_block_speaks_chinese(kind: str, argument: str, options: dict[str, str], body: str, parts: list[str]) -> None:
    shown = woven(Block(kind, argument, {**options, "language": "zh"}, body)).markdown
    for part in parts:
        assert part in shown
    assert "已" not in woven(Block(kind, argument, options, body)).markdown


def test_a_language_that_is_not_there() -> None:
    assert "language" in fail("theorem", "deriv_softmax", {"language": "xx"})
    assert "en, zh" in fail("theorem", "deriv_softmax", {"language": "xx"})
