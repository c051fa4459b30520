"""From an index expression to NumPy: source that a person would accept, a callable, and `sympy.lambdify`."""

from .printer import install
from .source import compile_numpy, compile_source, numpy_source, numpy_source_of

__all__ = ["compile_numpy", "compile_source", "numpy_source", "numpy_source_of"]

install()
