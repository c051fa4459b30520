"""A domain declared of a definition is a claim: a false one proves nothing."""

import pytest

from lemmata.symbolic.derivations import gradients
from lemmata.symbolic.derivations.replay import replay
from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array, define
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json

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


def gradient_through(body, domain):
    named = define("b", body, domain=domain)
    return gradients.gradient(v.sum(ABS(named)), A if body.ndim == 2 else a)


@pytest.mark.parametrize(("body", "domain"), TRUE, ids=str)
def test_what_is_true_is_used(body, domain):
    assert replay(gradient_through(body, domain)).verdict in ("proved", "supported")


@pytest.mark.parametrize(("body", "domain"), FALSE, ids=str)
def test_what_is_false_or_cannot_be_checked_proves_nothing(body, domain):
    verdict = replay(gradient_through(body, domain))
    assert verdict.verdict in ("unsupported", "refuted")
    assert "b" in verdict.reason


def test_a_domain_changed_in_a_file_is_found():
    """|b| is b for a positive b; the file says so of a b that is not."""
    d = gradients.gradient(v.sum(ABS(define("b", a))), a)
    text = derivation_to_json(d)
    assert replay(derivation_from_json(text)).verdict == "proved"
    forged = text.replace('"name": "b",', '"name": "b", "forged": true,')
    rows = forged.split('"forged": true,')
    forged = rows[0] + rows[1].replace('"domain": "real"', '"domain": "positive"', 1)
    assert replay(derivation_from_json(forged)).verdict in ("unsupported", "refuted")
