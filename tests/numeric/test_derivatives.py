"""Every claimed derivative agrees with differences of its primal, and every tampered version of it is seen."""

import pytest

from .claims import CLAIMS, SEED
from .judging import judge, tampered


@pytest.mark.parametrize("name", CLAIMS)
def test_derivative(name: str) -> None:
    for result in judge(CLAIMS[name]()):
        assert result, f"{name} (seed {SEED}): {result}"


@pytest.mark.parametrize("name", CLAIMS)
def test_tampered_derivative_fails(name: str) -> None:
    claim = CLAIMS[name]()
    versions = dict(tampered(claim.derivative))
    assert len(versions) >= 3
    for what, wrong in versions.items():
        assert not any(judge(claim._replace(derivative=wrong))), f"{name}: {what} was not seen"


def test_the_claims_that_have_a_wrong_transpose_try_it() -> None:
    assert "transpose dropped" in dict(tampered(CLAIMS["log_softmax_jacobian"]().derivative))
