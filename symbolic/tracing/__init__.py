"""NumPy code read on symbolic arrays: the user's own functions become index expressions that can be differentiated
and proved.
"""

from .reading import trace, trace_expression, trace_source
from .values import Traced

__all__ = ["Traced", "trace", "trace_expression", "trace_source"]
