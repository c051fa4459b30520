"""From an index expression to NumPy: source that a person would accept, a callable, and `sympy.lambdify`."""

from .printer import install
from .source import compile_numpy, numpy_source

__all__ = ["compile_numpy", "numpy_source"]

install()
