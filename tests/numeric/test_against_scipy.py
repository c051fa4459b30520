"""Values beside SciPy's own, a witness for the witness: the same functions written by other people."""

import numpy as np
from scipy import special

from lemmata.numeric import activations, cross_entropy, kl_divergence, regression_losses, sampling, softmax
from lemmata.numeric import gated_activations as ga
from lemmata.numeric.comparison import assert_close

RNG = sampling.generator(97)
Z = sampling.draw("logits", (3, 5), RNG)
P, Q = sampling.draw("simplex", (3, 5), RNG), sampling.draw("simplex", (3, 5), RNG)


def test_along_an_axis() -> None:
    for z in (Z, *sampling.extreme_values("logits", (3, 5)).values()):
        for axis in (0, 1):
            if np.any(np.all(np.isneginf(z), axis=axis)):
                continue
            assert_close(softmax.softmax(z, axis), special.softmax(z, axis))
            assert_close(softmax.log_softmax(z, axis), special.log_softmax(z, axis))
            assert_close(softmax.logsumexp(z, axis), special.logsumexp(z, axis))


def test_elementwise() -> None:
    for z in (Z, np.array([-1000.0, -40.0, 40.0, 1000.0])):
        assert_close(activations.sigmoid(z), special.expit(z), atol=0, rtol=1e-14)
        assert_close(activations.log_sigmoid(z), special.log_expit(z), atol=0, rtol=1e-13)
        assert_close(activations.softplus(z), np.logaddexp(0, z), atol=0, rtol=1e-13)
        assert_close(ga.normal_cdf(z), special.ndtr(z), atol=0, rtol=1e-12)


def test_entropy_divergence_huber() -> None:
    assert_close(cross_entropy.entropy(P), special.entr(P).sum(-1))
    assert_close(kl_divergence.kl_divergence(P, Q), special.rel_entr(P, Q).sum(-1))
    assert_close(regression_losses.huber(Z, 0 * Z, delta=0.8, reduction="none"), special.huber(0.8, Z))
