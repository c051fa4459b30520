"""The names that people import, used as the README uses them: from a formula to pages, code and a verdict."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

import lemmata as lm
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.rendering.serialise import derivation_from_json

RANDOM = np.random.default_rng(11)
LOGITS, TARGETS = RANDOM.standard_normal(5), RANDOM.dirichlet(np.ones(5))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


@pytest.fixture(scope="module")
def d():
    z, y = lm.array("z", "K"), lm.array("y", "K")
    return lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(lm.sum(y), 1)])


def call(function, result, **values):
    """A generated function with its arguments by name."""
    return function(*(values[t.name] for t in result.arguments))


# ---------- the first example
def test_result_is_a_sympy_expression(d):
    assert isinstance(d.result, sp.Expr)
    (k,) = d.derivation.indices
    assert d.result == lm.softmax(lm.array("z", "K")).element(k) - lm.array("y", "K").element(k)
    assert k.size == sp.Symbol("K", integer=True, positive=True) or str(k.size) == "K"


def test_vector_form(d):
    assert d.vector_form == "p − y"


def test_verdict_is_proved_with_every_kind_of_evidence(d):
    verdict = d.verdict
    assert verdict.verdict == "proved"
    kinds = [e.kind for e in verdict.evidence]
    assert set(kinds) >= {"canonical", "exact", "balls", "dependence", "numpy", "differences"}
    assert all(e.passed for e in verdict.evidence)
    assert verdict.conditions == ()
    assert verdict.counterexample is None
    assert verdict is d.verdict  # computed once
    assert any("seed" in e.detail for e in verdict.evidence)


def test_pages(d):
    latex, markdown, tex, text = d.latex(), d.markdown(), d.tex(), d.text()
    assert r"\frac{\partial L}{\partial z_{k}}" in latex
    assert latex.rstrip().endswith(r"\end{aligned}")
    assert "$$" in markdown
    assert r"\documentclass" in tex
    assert r"\end{document}" in tex
    assert "p − y" in text
    assert "[use_hypothesis]" in text
    assert repr(d) == text
    assert d._repr_markdown_() == markdown
    assert d._repr_latex_().startswith("$$")


def test_detail_has_three_levels(d):
    lengths = [len(d.text(level)) for level in ("brief", "normal", "full")]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[2]


def test_json_can_be_checked_again(d):
    again = derivation_from_json(d.to_json())
    assert json.loads(d.to_json())["format"].startswith("lemmata.derivation/")
    assert replay(again).verdict == "proved"


def test_numpy_callable_and_its_source(d):
    np.testing.assert_allclose(call(d.numpy(), d, z=LOGITS, y=TARGETS), softmax(LOGITS) - TARGETS, rtol=1e-13)
    extreme = 1000 * LOGITS
    np.testing.assert_allclose(call(d.numpy(), d, z=extreme, y=TARGETS), softmax(extreme) - TARGETS, rtol=1e-13)
    source = d.numpy_source("ce_gradient")
    assert source.startswith("import numpy as np\n")
    assert "def ce_gradient(" in source
    assert "return p - y" in source
    assert "for " not in source
    space: dict = {}
    exec(source, space)
    np.testing.assert_allclose(
        call(space["ce_gradient"], d, z=LOGITS, y=TARGETS), softmax(LOGITS) - TARGETS, rtol=1e-13
    )


def test_sympys_lambdify_works_on_the_result(d):
    f = sp.lambdify(list(d.arguments), d.result)
    np.testing.assert_allclose(call(f, d, z=LOGITS, y=TARGETS), softmax(LOGITS) - TARGETS, rtol=1e-13)


def test_the_numbers_have_teeth(d):
    assert not np.allclose(call(d.numpy(), d, z=LOGITS, y=TARGETS), softmax(LOGITS) + TARGETS)
    assert not np.allclose(call(d.numpy(), d, z=LOGITS, y=TARGETS), softmax(LOGITS) * (1 + 9e-4) - TARGETS, rtol=1e-5)


# ---------- what is missing or wrong is said
def test_without_the_hypothesis_the_answer_says_so():
    z, y = lm.array("z", "K"), lm.array("y", "K")
    free = lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z)
    assert free.verdict.verdict == "proved"
    assert free.vector_form == "(1ᵀ y) p − y"
    multi_hot = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(
        call(free.numpy(), free, z=LOGITS, y=multi_hot), 2 * softmax(LOGITS) - multi_hot, rtol=1e-12
    )
    np.testing.assert_array_equal(call(free.numpy(), free, z=LOGITS, y=np.zeros(5)), np.zeros(5))


@pytest.mark.parametrize(("left", "right", "verdict"), [
    (lambda z, c: lm.softmax(z + c, name="q"), lambda z, c: lm.softmax(z), "proved"),
    (lambda z, c: lm.sum(lm.softmax(z)), lambda z, c: 1, "proved"),
    (lambda z, c: lm.logsumexp(z + c), lambda z, c: lm.logsumexp(z) + c, "proved"),
    (lambda z, c: lm.softmax(c * z, name="q"), lambda z, c: lm.softmax(z), "refuted"),
    (lambda z, c: lm.logsumexp(c * z), lambda z, c: c * lm.logsumexp(z), "refuted"),
    (lambda z, c: lm.partial(lm.softmax(z), z), lambda z, c: lm.diag(lm.softmax(z) * (1 - lm.softmax(z))), "refuted"),
], ids=["shift", "sum", "logsumexp", "scale", "logsumexp scaled", "elementwise derivative"])  # fmt: skip
def test_prove(left, right, verdict):
    z, c = lm.array("z", "K"), lm.array("c", "")
    found = lm.prove(left(z, c), right(z, c)).verdict
    assert found.verdict == verdict
    assert (found.counterexample is not None) == (verdict == "refuted")


def test_errors_are_ours():
    z = lm.array("z", "K")
    with pytest.raises(lm.ShapeError, match=r"this has shape \(K,\)"):
        lm.gradient(z, wrt=z)
    with pytest.raises(lm.UnsupportedError, match="w does not occur"):
        lm.gradient(lm.sum(z), wrt=lm.array("w", "K"))
    with pytest.raises(lm.LemmataError, match="did you mean deriv_softmax"):
        lm.lookup_theorem("deriv_softmx")
    assert issubclass(lm.ShapeError, ValueError)
    assert issubclass(lm.UnsupportedError, lm.LemmataError)


# ---------- other kinds of derivatives
def test_jacobian_hessian_vjp_jvp():
    z = lm.array("z", "K")
    p, v, g = softmax(LOGITS), RANDOM.standard_normal(5), RANDOM.standard_normal(5)
    covariance = np.diag(p) - np.outer(p, p)
    jacobian, hessian = lm.jacobian(lm.softmax(z), wrt=z), lm.hessian(lm.logsumexp(z), wrt=z)
    assert jacobian.vector_form == "diag(p) − p pᵀ"
    np.testing.assert_allclose(call(jacobian.numpy(), jacobian, z=LOGITS), covariance, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(call(hessian.numpy(), hessian, z=LOGITS), covariance, rtol=1e-12, atol=1e-16)
    forward, backward = lm.jvp(lm.softmax(z), wrt=z), lm.vjp(lm.softmax(z), wrt=z)
    np.testing.assert_allclose(call(forward.numpy(), forward, z=LOGITS, v=v), covariance @ v, rtol=1e-12)
    np.testing.assert_allclose(call(backward.numpy(), backward, z=LOGITS, g=g), g @ covariance, rtol=1e-12)
    for result in (jacobian, hessian, forward, backward):
        assert result.verdict.verdict == "proved"
        assert "differences" in {e.kind for e in result.verdict.evidence}


def test_a_batch():
    Z, Y = lm.array("Z", "N,K"), lm.array("Y", "N,K")
    loss = -lm.mean(lm.sum(Y * lm.log(lm.softmax(Z)), axis=1))
    result = lm.gradient(loss, wrt=Z, given=[lm.equal(lm.sum(Y, axis=1), 1)])
    logits, targets = RANDOM.standard_normal((4, 3)), RANDOM.dirichlet(np.ones(3), size=4)
    expected = (np.array([softmax(row) for row in logits]) - targets) / 4
    np.testing.assert_allclose(call(result.numpy(), result, Z=logits, Y=targets), expected, rtol=1e-12)


# ---------- theorems by name
def test_theorems_are_listed_and_found():
    known = lm.theorems()
    assert {"deriv_softmax", "sum_softmax", "deriv_cross_entropy_softmax", "hessian_logsumexp"} <= set(known)
    result = lm.lookup_theorem("deriv_softmax")
    assert result.name == "deriv_softmax"
    assert result.vector_form == "diag(p) − p pᵀ"
    verdict = result.verdict
    assert verdict.verdict == "proved"
    assert {"canonical", "exact", "balls", "dependence", "numpy", "extreme", "differences"} <= {
        e.kind for e in verdict.evidence
    }


def test_verify_some():
    (one, two) = lm.verify(["sum_softmax", "deriv_logsumexp"])
    assert [one.name, two.name] == ["sum_softmax", "deriv_logsumexp"]
    assert one.verdict.verdict == two.verdict.verdict == "proved"


def test_a_theorem_tampered_with_is_not_proved():
    from dataclasses import replace

    found = lm.find_theorem("deriv_softmax")
    good = found.derivation()
    for wrong in (-good.right, good.right * sp.Rational(10009, 10000)):
        steps = (*good.steps[:-1], replace(good.steps[-1], after=wrong))
        verdict = lm.verify_derivation(replace(good, right=wrong, steps=steps), found.claim().numpy)
        assert verdict.verdict == "refuted"
        assert verdict.counterexample is not None


# ---------- names
def test_public_names():
    for name in dir(lm):
        assert getattr(lm, name) is not None
    assert {"array", "gradient", "softmax", "prove", "equal", "sum", "log"} <= set(dir(lm))
    with pytest.raises(AttributeError, match="no attribute 'gradeint'"):
        lm.gradeint  # noqa: B018


def test_import_does_not_load_sympy():
    code = "import sys, lemmata; lemmata.__version__; print(sorted(m for m in ('sympy', 'numpy') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_verdicts_and_derivations_cross_processes(d):
    again = pickle.loads(pickle.dumps((d.derivation, d.verdict)))
    assert again == (d.derivation, d.verdict)
    assert replay(again[0]).verdict == "proved"


def test_no_empty_heading(d):
    assert not d.markdown().startswith("## \n")


def test_from_and_to_sympy_are_public():
    z = lm.array("z", "K")
    assert lm.from_sympy(lm.to_sympy(lm.sum(z).body)) == lm.sum(z).body
    assert lm.at_sizes(lm.sum(z).body, K=3) == sum(sp.symbols("z_:3", real=True))
