"""The second path of a proof: both sides evaluated at small sizes, exactly and in rigorous balls, sharing nothing with `canonical`."""

from .equality import check_equal
from .records import Checked, Counterexample, Evidence

__all__ = ["check_equal", "Checked", "Counterexample", "Evidence"]
