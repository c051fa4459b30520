"""A domain declared of a definition is a claim: a false one proves nothing."""

import pytest
import sympy as sp

from lemmata.symbolic.derivations import gradients
from lemmata.symbolic.derivations.declarations import doubt
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.derivations.system import System, derive_system
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define
from lemmata.symbolic.language.errors import ShapeError
from lemmata.symbolic.rendering import verdict_text
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json
from lemmata.symbolic.theorems import theorems

a, A = array("a", "K"), array("A", "K,K")
ABS = v.function_table()["abs"]

TRUE = [
    (v.exp(a), "positive"), (v.sigmoid(a), "(0,1)"), (a * a, "nonnegative"), (v.tanh(a), "(-1,1)"),
    (v.softmax(a), "simplex"), (A + A.T, "symmetric"), (v.softmax(a), "(0,1]"), (1 + v.exp(a), "nonzero"),
]
FALSE = [
    (a, "positive"), (a, "nonnegative"), (v.tanh(a), "(0,1)"), (2 * v.sigmoid(a), "(0,1)"), (a, "nonzero"),
    (v.sigmoid(a), "simplex"), (A, "symmetric"), (a, "binary"), (a, "{-1,1}"), (v.softmax(a), "(0,0.5)"),
    (A, "invertible"), (a, "distinct"), (v.softmax(a), "onehot"), (-v.exp(a), "positive"),
]
NEARLY = [
    ((a - sp.Rational(123, 1000)) ** 2 - sp.Rational(1, 10**12), "positive"),
    (1 - sp.Rational(1, 10**12) / ((a - sp.Rational(123, 1000)) ** 2 + sp.Rational(1, 10**13)), "nonnegative"),
]


def gradient_through(body, domain):
    named = define("b", body, domain=domain)
    return gradients.gradient(v.sum(ABS(named)), A if body.ndim == 2 else a)


@pytest.mark.parametrize(("body", "domain"), TRUE, ids=str)
def test_what_is_true_is_proved_and_used(body, domain):
    d = gradient_through(body, domain)
    assert doubt([d.left, d.right], ()) is None
    assert replay(d).verdict in ("proved", "supported")


@pytest.mark.parametrize(("body", "domain"), NEARLY, ids=str)
def test_what_no_drawn_point_refutes_is_not_proved_by_it(body, domain):
    """(a - 0.123)² - 10⁻¹² is negative beside 0.123, where no point is drawn: |b| = b is false there."""
    d = gradient_through(body, domain)
    verdict = replay(d)
    assert verdict.verdict == "supported"
    assert "the definition b is declared" in verdict.reason
    assert "not proved" in verdict_text(verdict)


@pytest.mark.parametrize(("domain", "verdict"), [("real", "proved"), ("positive", "unsupported")])
def test_in_named_adjoints_too(domain, verdict):
    """There each part takes b for an array of its own, with its domain."""
    b = define("b", a - 1, domain=domain)
    c = define("c", ABS(b) * b if domain == "positive" else b * b)
    d = derive_system(System(v.sum(c), wrt=[a]))
    assert len(d.parts) == 3
    assert replay(d).verdict == verdict


def test_every_domain_declared_in_a_theorem_is_proved():
    for name, theorem in theorems().items():
        d = theorem.derivation()
        lines = [d.left, d.right, *d.definitions, *(x for p in d.parts for x in p.definitions)]
        assert doubt(lines, d.hypotheses) is None, name


@pytest.mark.parametrize(("body", "domain"), FALSE, ids=str)
def test_what_is_false_or_cannot_be_checked_proves_nothing(body, domain):
    verdict = replay(gradient_through(body, domain))
    assert verdict.verdict in ("unsupported", "refuted")
    assert "b" in verdict.reason


def test_a_domain_of_rows_needs_a_row():
    with pytest.raises(ShapeError, match="the domain simplex needs an axis; b has shape"):
        define("b", v.sum(a), domain="simplex")


def test_a_domain_changed_in_a_file_is_found():
    """|b| is b for a positive b; the file says so of a b that is not."""
    d = gradients.gradient(v.sum(ABS(define("b", a))), a)
    text = derivation_to_json(d)
    assert replay(derivation_from_json(text)).verdict == "proved"
    forged = text.replace('"name": "b",', '"name": "b", "forged": true,')
    rows = forged.split('"forged": true,')
    forged = rows[0] + rows[1].replace('"domain": "real"', '"domain": "positive"', 1)
    assert replay(derivation_from_json(forged)).verdict in ("unsupported", "refuted")
