"""Every claimed derivative agrees with differences of its primal, and every tampered version of it is seen."""

import pytest

from .claims import CLAIMS, SEED
from .judging import Judge, tampered
from .transformer_claims import TRANSFORMER_CLAIMS

ALL = {**CLAIMS, **TRANSFORMER_CLAIMS}


@pytest.mark.parametrize("name", ALL)
def test_derivative_and_its_tampered_versions(name: str) -> None:
    claim = ALL[name]()
    judge = Judge(claim)
    for result in judge(claim.derivative):
        assert result, f"{name} (seed {SEED}): {result}"
    versions = dict(tampered(claim.derivative))
    assert len(versions) >= 3
    for what, wrong in versions.items():
        assert not any(judge(wrong)), f"{name}: {what} was not seen"


def test_no_name_is_used_twice() -> None:
    assert len(ALL) == len(CLAIMS) + len(TRANSFORMER_CLAIMS)


def test_the_claims_that_have_a_wrong_transpose_try_it() -> None:
    for name in ("log_softmax_jacobian", "multi-head, w_v"):
        assert "transpose dropped" in dict(tampered(ALL[name]().derivative))
