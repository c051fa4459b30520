"""One canonical form: two expressions are equal for all sizes when the difference of their forms is zero."""

from .equality import Equality, equal

__all__ = ["Equality", "equal"]
