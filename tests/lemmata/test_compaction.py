"""KaTeX with short names: the same elements, and each class that a rule reads has its rule under the new name."""

import re

from lemmata.sphinx.compaction import declared, short_names, short_stylesheet, shortened
from lemmata.typesetting import FOLDER, STYLESHEET, typeset

FORMULA = (
    r"\begin{aligned} \frac{\partial p_i}{\partial z_k} &= \sum_{j} \sqrt{x_j^2} \left(\delta_{ik} - \hat{p}_k\right)"
    r" \\ &= \mathbf{1}^{\top} \operatorname{diag}\Bigl(p\Bigr) \end{aligned}"
)


def test_elements_and_mathematics_are_the_same() -> None:
    plain = typeset(FORMULA)
    short, rules = declared(shortened(plain))
    assert re.findall(r"</?\w+", short) == re.findall(r"</?\w+", plain)
    assert re.findall(r"<math.*</math>", short, re.DOTALL) == re.findall(r"<math.*</math>", plain, re.DOTALL)
    assert len(short) + len(rules) < 0.8 * len(plain)


def test_classes_and_styles_can_be_read_back() -> None:
    plain = typeset(FORMULA)
    short, rules = declared(shortened(plain))
    long = {name: name for name in ("katex", "katex-display", "katex-html", "katex-mathml")}
    long |= {new: old for old, new in short_names().items()}
    styles = dict(re.findall(r"\.katex \.([A-Z]+)\{([^}]*)\}", rules))
    read = []
    for classes, bare, style in re.findall(r'<span(?: class=(?:"([^"]*)"|(\w+)))?(?: style="([^"]*)")?', short):
        names = (classes or bare).split()
        found = [styles[n] for n in names if n in styles]
        read.append((sorted(long[n] for n in names if n not in styles), found[0] if found else style.rstrip(";")))
    expected = [
        (sorted(c for c in classes.split() if c in long.values()), style.rstrip(";"))
        for classes, style in re.findall(r'<span(?: class="([^"]*)")?(?: style="([^"]*)")?', plain)
    ]
    assert read == expected


def test_stylesheet_has_each_rule_under_its_new_name() -> None:
    plain = re.sub(r"@font-face\{[^}]*\}", "", (FOLDER / STYLESHEET).read_text(encoding="utf-8"))
    short = re.sub(r"@font-face\{[^}]*\}", "", short_stylesheet())
    names = short_names()
    assert len(set(names.values())) == len(names)
    again = re.compile(r"\.([A-Za-z][\w-]*)(?=[^{}]*\{)")
    assert again.sub(lambda m: "." + names.get(m[1], m[1]), plain) == short
    assert short.count("{") == plain.count("{")
    assert ".ttf" not in short_stylesheet()
