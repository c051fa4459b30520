"""`extensions = ["lemmata.sphinx"]` in a project: mathematics, blocks, failing claims, and what is read again."""

import re
from pathlib import Path

from .site import PROJECT, Built, sphinx, write

MARKDOWN = r"""# Mathematics $x^2$

Inline $\frac{1}{2}$ and a numbered one:

$$ a = b $$ (eq-md)

$$
\begin{aligned} a &= b \\ &= c \end{aligned}
$$

```{prove}
:shapes: z=K, c=
:label: eq-proved
softmax(z + c) == softmax(z)
```

See {eq}`eq-md`, {eq}`eq-rst` and {eq}`eq-proved`.

```{toctree}
other
```
"""
RST = r"""Other
=====

.. math::
   :label: eq-rst

   (a+b)^2 &= a^2 + 2ab \\
           &\quad + b^2

:math:`y` is not in :eq:`eq-md`.

.. derivation:: sum_softmax
   :form: result

.. shapes:: mha
   :x: 1,10,768
   :heads: 12
"""
FALSE = {
    "md": "# Wrong\n\nText.\n\n```{prove}\n:shapes: z=K, c=\nsoftmax(z + c) == 2*softmax(z)\n```\n",
    "rst": "Wrong\n=====\n\nText.\n\n.. prove::\n   :shapes: z=K, c=\n\n   softmax(z + c) == 2*softmax(z)\n",
}


def test_mathematics_and_blocks_in_both_languages(tmp_path: Path) -> None:
    built = sphinx(write(tmp_path / "docs", conf_py=PROJECT, index_md=MARKDOWN, other_rst=RST), "-W", "-n")
    assert built.code == 0, built.words
    index, other = built.page("index.html"), built.page("other.html")
    for page in (index, other):
        assert "<script" not in "".join(re.findall(r"<article.*?</article>", page, re.DOTALL))
        assert "mathjax@" not in page
        assert "cdn" not in page
        assert page.count("<math") == page.count('class="katex-html"') > 2
    assert re.findall(r'class="eqno">\((\d)\)', index) == ["1", "2"]
    assert index.count('<a class="reference internal" href="#equation-') == 2
    assert 'href="other.html#equation-eq-rst"' in index
    assert "Proved for every K" in index
    styles = built.site / "_static" / "lemmata"
    fonts = re.findall(r"url\(([^)]+)\)", (styles / "katex.css").read_text(encoding="utf-8"))
    assert len(fonts) == 20
    assert all((styles / font).is_file() for font in fonts)


def test_a_false_claim_fails_the_build_with_file_and_line_until_it_is_mended(tmp_path: Path) -> None:
    for suffix, text in FALSE.items():
        (tmp_path / suffix).mkdir()
        source = write(tmp_path / suffix / "docs", conf_py=PROJECT, **{f"index_{suffix}": text})
        for _ in range(2):
            built = sphinx(source)
            assert built.code == 1
            place = re.search(rf"index\.{suffix}:(\d+): ERROR: {{prove}}: refuted", built.words)
            assert place is not None, built.words
            assert text.splitlines()[int(place[1]) - 1].strip("`.: {}") == "prove"
            assert "counterexample" in built.words
        write(source, **{f"index_{suffix}": text.replace("2*", "")})
        assert sphinx(source).code == 0


def test_a_block_that_cannot_be_read_fails_the_build(tmp_path: Path) -> None:
    text = "# A\n\n```{derivation} no_such_theorem\n```\n\n```{prove}\nsoftmax(\n```\n"
    built = sphinx(write(tmp_path / "docs", conf_py=PROJECT, index_md=text), "-j", "2")
    assert built.code == 1
    assert "index.md:3: ERROR: {derivation} no_such_theorem: there is no theorem" in built.words
    assert "index.md:6: ERROR: {prove}" in built.words


def test_a_formula_that_does_not_typeset_is_named(tmp_path: Path) -> None:
    built = sphinx(write(tmp_path / "docs", conf_py=PROJECT, index_md="# A\n\n$\\foo$\n"), "-W")
    assert built.code != 0
    assert re.search(r"index\.md:3: .*Undefined control sequence: \\foo", built.words)


def test_a_document_is_read_again_when_the_function_changes_and_not_otherwise(tmp_path: Path) -> None:
    model = "import numpy as np\n\n\ndef loss(z):\n    return np.sum(z**2)\n\n\n"
    model += "def loss_backward(z):\n    return 2 * z\n"
    block = "# A\n\n```{gradient} model.py:loss\n:wrt: z\n:shapes: z=N\n:backward: model.py:loss_backward\n```\n"
    source = write(tmp_path / "docs", conf_py=PROJECT, index_md=block, model_py=model)
    assert sphinx(source).code == 0
    assert _read(sphinx(source)) == 0
    write(source, model_py=model.replace("2 * z", "3 * z"))
    built = sphinx(source)
    assert _read(built) == 1
    assert built.code == 1
    assert "refuted" in built.words
    write(source, model_py=model + "\n")
    assert sphinx(source).code == 0


def _read(built: Built) -> int:
    updated = re.search(r"(\d+) added, (\d+) changed", built.words)
    assert updated is not None, built.words
    return int(updated[1]) + int(updated[2])
