"""SymPy's own symbolic sizes: `Indexed` with `Sum`, and `MatrixSymbol`. Each answer is judged first of all.

A derivative is judged at K = 3 with numbers in place of the entries, against the value that the claim has there; then
`simplify` may try to show the claim for the symbol K. So a row says three things: whether the derivative is right,
whether the claim was proved, and how long both took.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from .timing import OutOfTime, at_most, forget

_K = sp.Symbol("K", integer=True, positive=True)
_i, _j, _k, _m = sp.symbols("i j k m", integer=True, positive=True)
_z, _y = sp.IndexedBase("z", real=True), sp.IndexedBase("y", real=True)
_DELTA = sp.KroneckerDelta
_SIZE = 3
_VALUES = {"z": (0.3, -1.1, 0.8), "y": (0.2, 0.5, 0.3)}


def _exp(index: sp.Expr) -> sp.Expr:
    return sp.exp(_z[index])


def _total() -> sp.Expr:
    return sp.Sum(_exp(_m), (_m, 1, _K))


def _softmax(index: sp.Expr) -> sp.Expr:
    return _exp(index) / _total()


def _cross_entropy() -> sp.Expr:
    return -sp.Sum(_y[_j] * (_z[_j] - sp.log(_total())), (_j, 1, _K))


@dataclass(frozen=True)
class Question:
    """A derivative and the claim for it, both with the free indices `free`; `p` holds the true values at K = 3."""

    title: str
    derivative: Callable[[], sp.Expr]
    claim: Callable[[], sp.Expr]
    truth: Callable[..., float]
    free: tuple[sp.Symbol, ...]


def _p(i: int) -> float:
    z = _VALUES["z"]
    return math.exp(z[i - 1]) / sum(math.exp(v) for v in z)


def _covariance(i: int, k: int) -> float:
    return _p(i) * ((i == k) - _p(k))


QUESTIONS = (
    Question(
        "softmax Jacobian, Indexed, fresh letters",
        lambda: sp.diff(_softmax(_i), _z[_k]),
        lambda: _softmax(_i) * (_DELTA(_i, _k) - _softmax(_k)),
        _covariance,
        (_i, _k),
    ),
    Question(
        "softmax Jacobian, Indexed, by the letter that the sum binds",
        lambda: sp.diff(_softmax(_i), _z[_m]),
        lambda: _softmax(_i) * (_DELTA(_i, _m) - _softmax(_m)),
        _covariance,
        (_i, _m),
    ),
    Question(
        "cross-entropy gradient, Indexed, fresh letters",
        lambda: sp.diff(_cross_entropy(), _z[_k]),
        lambda: _softmax(_k) * sp.Sum(_y[_j], (_j, 1, _K)) - _y[_k],
        lambda k: _p(k) - _VALUES["y"][k - 1],
        (_k,),
    ),
    Question(
        "cross-entropy gradient, Indexed, by the letter that the sum binds",
        lambda: sp.diff(_cross_entropy(), _z[_j]),
        lambda: _softmax(_j) * sp.Sum(_y[_k], (_k, 1, _K)) - _y[_j],
        lambda j: _p(j) - _VALUES["y"][j - 1],
        (_j,),
    ),
    Question(
        "log-sum-exp Hessian, Indexed, fresh letters",
        lambda: sp.diff(sp.log(_total()), _z[_i], _z[_k]),
        lambda: _softmax(_i) * (_DELTA(_i, _k) - _softmax(_k)),
        _covariance,
        (_i, _k),
    ),
)


def _right(q: Question, expression: sp.Expr) -> bool:
    """Whether the expression has the true values at K = 3, at every value of the free indices."""
    for at in itertools.product(range(1, _SIZE + 1), repeat=len(q.free)):
        value = expression.subs(_K, _SIZE).subs(dict(zip(q.free, at, strict=True))).doit()
        value = value.subs({base[n]: _VALUES[str(base)][n - 1] for base in (_z, _y) for n in range(1, _SIZE + 1)})
        if not value.is_number or abs(complex(value) - q.truth(*at)) > 1e-9:
            return False
    return True


def ask(q: Question, seconds: float = 30.0) -> dict[str, Any]:
    """Right or wrong, proved or not, and the milliseconds of the derivative and of the attempt at a proof."""
    if not _right(q, q.claim()):
        raise AssertionError(f"{q.title}: the claim itself is not what it should be")
    forget()
    start = time.process_time()
    derivative = q.derivative()
    taken = time.process_time() - start
    proved: bool | None = False
    try:
        with at_most(seconds):
            proved = sp.simplify((derivative - q.claim()).doit()) == 0
    except OutOfTime:
        proved = None
    whole = time.process_time() - start
    return {
        "question": q.title,
        "right": _right(q, derivative),
        "proved": proved,
        "derivative": 1e3 * taken,
        "with proof": 1e3 * whole,
    }


def matrix_symbol() -> dict[str, Any]:
    """Softmax of a `MatrixSymbol`: right only if the derivative depends on the normaliser's derivative as well."""
    n = sp.Symbol("n", integer=True, positive=True)
    z = sp.MatrixSymbol("z", n, 1)
    forget()
    start = time.process_time()
    powers = z.applyfunc(sp.exp)
    derivative = (powers / (sp.OneMatrix(1, n) * powers)[0, 0]).diff(z)
    taken = time.process_time() - start
    at = (
        derivative.subs(n, 2)
        .doit()
        .as_explicit()
        .subs({sp.MatrixSymbol("z", 2, 1)[r, 0]: v for r, v in enumerate((0.3, -1.1))})
    )
    total = math.exp(0.3) + math.exp(-1.1)
    off_diagonal = -math.exp(0.3) * math.exp(-1.1) / total**2
    return {
        "question": "softmax Jacobian, MatrixSymbol",
        "right": bool(abs(complex(at[0, 1]) - off_diagonal) < 1e-9),
        "proved": False,
        "derivative": 1e3 * taken,
        "with proof": None,
    }
