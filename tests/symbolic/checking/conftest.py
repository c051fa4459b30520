"""Short names for the arrays that the tests of the second path speak of."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import lemmata.symbolic.language.vocabulary as v
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Delta, PartialDerivative


@pytest.fixture
def softmax() -> SimpleNamespace:
    """z, y of size K, p = softmax(z), cross-entropy, and the Jacobian's entry on both sides."""
    z, y = array("z", "K"), array("y", "K")
    p = v.softmax(z)
    i, k = index("i", "K"), index("k", "K")
    ce = -v.sum(y * v.log(p))
    return SimpleNamespace(
        z=z, y=y, p=p, i=i, k=k, ce=ce,
        jacobian=PartialDerivative(p.element(i), z.element(k)),
        right=p.element(i) * (Delta(i, k) - p.element(k)),
        gradient=PartialDerivative(ce.body, z.element(k)),
    )  # fmt: skip
