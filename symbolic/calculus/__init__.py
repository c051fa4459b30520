"""Derivatives: a table of named rules, and the engine that applies them step by step."""

from ..language.nodes import HOOKS
from .differentiation import differentiate

HOOKS["differentiate"] = differentiate

__all__ = ["differentiate"]
