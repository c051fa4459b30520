"""The second path of a proof: both sides at small sizes, exactly and in balls; shares nothing with `canonical`."""

from .equality import check_equal
from .records import Checked, Counterexample, Evidence
from .special import special_points

__all__ = ["check_equal", "special_points", "Checked", "Counterexample", "Evidence"]
