"""Cross-entropy −Σ_k y_k log p_k: its derivatives by the probabilities and by the logits, and its equal forms.

Which variable is meant is part of every name: `..._of_probabilities` treats the p_k as free entries, `..._softmax` puts
p = softmax(z) and differentiates by the logits z. Soft labels y are any real vector unless Σ y = 1 is a hypothesis; a hard
label is an integer c (or t_n, one a row) and never a vector. Divergences between two distributions are in `kl_divergence`,
the focal weighting in `focal_loss`.
"""

from __future__ import annotations

from ..derivations.tactics import automatic, partial
from ..derivations.theorem import Claim, NumericCheck, theorem
from ..language import vocabulary as lm
from ..language.arrays import Array, array
from ..language.hypotheses import equal


@theorem(topic="cross-entropy", title="t", source="s")
def deriv_cross_entropy_of_probabilities() -> Claim:
    p, y = array("p", "K", domain="positive"), array("y", "K")
    return Claim(partial(-lm.sum(y * lm.log(p)), p), -y / p)


@theorem(topic="cross-entropy", title="t", source="s")
def deriv_cross_entropy_softmax_unnormalized() -> Claim:
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(partial(-lm.sum(y * lm.log(p)), z), p * lm.sum(y) - y)


@theorem(topic="cross-entropy", title="t", source="s")
def cross_entropy_one_hot() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    p = lm.softmax(z)
    return Claim(-lm.sum(lm.one_hot(c, "K") * lm.log(p)), -lm.log(p[c.body]))


@theorem(topic="cross-entropy", title="t", source="s")
def cross_entropy_eq_logsumexp_sub() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    p = lm.softmax(z)
    return Claim(-lm.log(p[c.body]), lm.logsumexp(z)-z[c.body])


@theorem(topic="cross-entropy", title="t", source="s")
def deriv_cross_entropy_hard_label() -> Claim:
    z, c = array("z", "K"), array("c", "", domain="index<K")
    p = lm.softmax(z)
    return Claim(partial(-lm.log(p[c.body]), z), p-lm.one_hot(c,"K"))


@theorem(topic="cross-entropy", title="t", source="s")
def deriv_cross_entropy_softmax_mean() -> Claim:
    z, y = array("Z", "N,K"), array("Y", "N,K")
    p = lm.softmax(z, name="P")
    return Claim(partial(lm.mean(-lm.sum(y * lm.log(p), axis=1)), z), (p - y)/z.shape[0], given=[equal(lm.sum(y,axis=1),1)])

@theorem(topic="cross-entropy", title="t", source="s")
def deriv_cross_entropy_hard_labels_mean() -> Claim:
    z, t = array("Z", "N,K"), array("t", "N", domain="index<K")
    p = lm.softmax(z, name="P")
    n = t.indices[0]
    return Claim(partial(lm.mean(-lm.log(Array((n,), p.element(n, t.element(n))))), z), (p - lm.one_hot(t,"K"))/z.shape[0])

@theorem(topic="cross-entropy", title="t", source="s")
def deriv_smooth() -> Claim:
    z, y, eps = array("z", "K"), array("y", "K"), array("eps","",domain="(0,1)")
    p = lm.softmax(z)
    q = (1-eps)*y + eps/z.shape[0]
    return Claim(partial(-lm.sum(q * lm.log(p)), z), p - q, given=[equal(lm.sum(y),1)])

@theorem(topic="cross-entropy", title="t", source="s")
def deriv_smooth_o() -> Claim:
    z, y, eps = array("z", "K"), array("y", "K"), array("eps","",domain="(0,1)")
    p = lm.softmax(z)
    q = (1-eps)*y + eps/(z.shape[0]-1)*(1-y)
    return Claim(partial(-lm.sum(q * lm.log(p)), z), p - q, given=[equal(lm.sum(y),1)])

@theorem(topic="cross-entropy", title="t", source="s")
def smooth_eq() -> Claim:
    y, eps = array("y", "K"), array("eps","",domain="(0,1)")
    K=y.shape[0]
    e2=eps*K/(K-1)
    return Claim((1-eps)*y + eps/(K-1)*(1-y), (1-e2)*y+e2/K)

@theorem(topic="cross-entropy", title="t", source="s")
def hess() -> Claim:
    z, y = array("z", "K"), array("y", "K")
    p = lm.softmax(z)
    return Claim(partial(partial(-lm.sum(y * lm.log(p)), z),z), lm.diag(p)-lm.outer(p,p), given=[equal(lm.sum(y),1)])

@theorem(topic="cross-entropy", title="t", source="s")
def quad() -> Claim:
    z, v = array("z", "K"), array("v", "K")
    p = lm.softmax(z)
    return Claim(v@(lm.diag(p)-lm.outer(p,p))@v, lm.sum(p*(v-p@v)**2))

@theorem(topic="cross-entropy", title="t", source="s")
def weights_hard() -> Claim:
    z, c,w = array("z", "K"), array("c", "", domain="index<K"), array("w","K",domain="positive")
    p = lm.softmax(z)
    return Claim(partial(-w[c.body]*lm.log(p[c.body]), z), w[c.body]*(p-lm.one_hot(c,"K")))

@theorem(topic="cross-entropy", title="t", source="s")
def weights_soft() -> Claim:
    z, y,w = array("z", "K"), array("y", "K"), array("w","K",domain="positive")
    p = lm.softmax(z)
    return Claim(partial(-lm.sum(w*y*lm.log(p)), z), p*lm.sum(w*y)-w*y)

@theorem(topic="cross-entropy", title="t", source="s")
def weights_hard_mean() -> Claim:
    z, t,w = array("Z", "N,K"), array("t", "N", domain="index<K"), array("w","K",domain="positive")
    p = lm.softmax(z,name="P")
    n = t.indices[0]
    pt=Array((n,), p.element(n, t.element(n)))
    wt=Array((n,), w.element(t.element(n)))
    return Claim(partial(-lm.sum(wt*lm.log(pt))/lm.sum(wt), z), wt[:,None]*(p-lm.one_hot(t,"K"))/lm.sum(wt))

@theorem(topic="cross-entropy", title="t", source="s")
def entropy_kl() -> Claim:
    p,q = array("p", "K",domain="positive"), array("q", "K", domain="positive")
    return Claim(-lm.sum(p*lm.log(q)), -lm.sum(p*lm.log(p))+lm.sum(p*lm.log(p/q)))
