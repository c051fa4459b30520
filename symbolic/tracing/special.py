"""`scipy.special` on traced values: what has a formula in exp, log, erf and gamma is read as that formula, the rest
by name.

The names are SymPy's own functions (besselj, airyai, lowergamma, ...) or those of `language.operations`; where SciPy
fixes a value that the formula leaves open (xlogy at 0), the formula says so with an indicator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from ..language import operations as op
from ..language.errors import UnsupportedError
from ..language.special_operations import betainc, owens_t, polylog
from . import elementwise as el
from . import reducing, table
from .dispatch import TABLES
from .values import Traced

_ROOT2 = sp.sqrt(2)


def _ndtr(x: sp.Expr) -> sp.Expr:
    return (1 + sp.erf(x / _ROOT2)) / 2


def _gammainc(a: sp.Expr, x: sp.Expr) -> sp.Expr:
    return sp.lowergamma(a, x) / sp.gamma(a)


def _gammaincc(a: sp.Expr, x: sp.Expr) -> sp.Expr:
    return sp.uppergamma(a, x) / sp.gamma(a)


def _betaln(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)


def _scaled(function: Callable[..., sp.Expr]) -> Callable[..., sp.Expr]:
    return lambda n, x: sp.exp(-sp.Abs(x)) * function(n, x)


def _polygamma(n: sp.Expr, x: sp.Expr) -> sp.Expr:
    return op.digamma(x) if n == 0 else op.trigamma(x) if n == 1 else sp.polygamma(n, x)


def _entr(x: sp.Expr) -> sp.Expr:
    return el.guarded(el.decided("!=", x, sp.S.Zero, False), lambda: -x * sp.log(x))


def _rel_entr(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return el.guarded(el.decided("!=", x, sp.S.Zero, False), lambda: x * sp.log(x / y))


def _xlog1py(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return el.guarded(el.decided("!=", x, sp.S.Zero, False), lambda: x * sp.log(1 + y))


def _spence(x: sp.Expr) -> sp.Expr:
    return polylog(sp.Integer(2), 1 - x)


FORMULAS: dict[str, Callable[..., sp.Expr]] = {
    "expit": op.sigmoid,
    "log_expit": op.log_sigmoid,
    "logit": lambda p: sp.log(p / (1 - p)),
    "erf": sp.erf,
    "erfc": lambda x: 1 - sp.erf(x),
    "erfcx": lambda x: sp.exp(x**2) * (1 - sp.erf(x)),
    "erfi": sp.erfi,
    "erfinv": sp.erfinv,
    "erfcinv": lambda x: sp.erfinv(1 - x),
    "ndtr": _ndtr,
    "log_ndtr": lambda x: sp.log(_ndtr(x)),
    "ndtri": lambda p: _ROOT2 * sp.erfinv(2 * p - 1),
    "dawsn": lambda x: sp.sqrt(sp.pi) / 2 * sp.exp(-(x**2)) * sp.erfi(x),
    "xlogy": el.xlogy,
    "xlog1py": _xlog1py,
    "entr": _entr,
    "rel_entr": _rel_entr,
    "kl_div": lambda x, y: _rel_entr(x, y) - x + y,
    "exprel": lambda x: (sp.exp(x) - 1) / x,
    "expm1": lambda x: sp.exp(x) - 1,
    "log1p": lambda x: sp.log(1 + x),
    "exp2": lambda x: 2**x,
    "exp10": lambda x: 10**x,
    "cbrt": el.FLOAT_FUNCTIONS["cbrt"],
    "sinc": el.sinc,
    "huber": lambda d, r: _huber(d, r),
    "pseudo_huber": lambda d, r: d**2 * (sp.sqrt(1 + (r / d) ** 2) - 1),
    "gamma": sp.gamma,
    "gammaln": sp.loggamma,
    "loggamma": sp.loggamma,
    "rgamma": lambda x: 1 / sp.gamma(x),
    "digamma": op.digamma,
    "psi": op.digamma,
    "polygamma": _polygamma,
    "beta": lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b),
    "betaln": _betaln,
    "poch": lambda z, m: sp.gamma(z + m) / sp.gamma(z),
    "gammainc": _gammainc,
    "gammaincc": _gammaincc,
    "binom": lambda n, k: sp.gamma(n + 1) / (sp.gamma(k + 1) * sp.gamma(n - k + 1)),
    "factorial": lambda n: sp.gamma(n + 1),
    "betainc": betainc,
    "jv": sp.besselj,
    "yv": sp.bessely,
    "iv": sp.besseli,
    "kv": sp.besselk,
    "jn": sp.besselj,
    "yn": sp.bessely,
    "kn": sp.besselk,
    "j0": lambda x: sp.besselj(0, x),
    "j1": lambda x: sp.besselj(1, x),
    "y0": lambda x: sp.bessely(0, x),
    "y1": lambda x: sp.bessely(1, x),
    "i0": lambda x: sp.besseli(0, x),
    "i1": lambda x: sp.besseli(1, x),
    "k0": lambda x: sp.besselk(0, x),
    "k1": lambda x: sp.besselk(1, x),
    "ive": _scaled(sp.besseli),
    "i0e": lambda x: _scaled(sp.besseli)(0, x),
    "i1e": lambda x: _scaled(sp.besseli)(1, x),
    "kve": lambda n, x: sp.exp(x) * sp.besselk(n, x),
    "k0e": lambda x: sp.exp(x) * sp.besselk(0, x),
    "k1e": lambda x: sp.exp(x) * sp.besselk(1, x),
    "ellipk": sp.elliptic_k,
    "ellipe": sp.elliptic_e,
    "zeta": lambda s, q=sp.S.One: sp.zeta(s, q),
    "expi": sp.Ei,
    "exp1": lambda x: sp.expint(1, x),
    "expn": sp.expint,
    "lambertw": sp.LambertW,
    "spence": _spence,
    "owens_t": owens_t,
}


def _huber(d: sp.Expr, r: sp.Expr) -> sp.Expr:
    inside = el.decided("<=", sp.Abs(r), d, False)
    return inside * r**2 / 2 + (1 - inside) * d * (sp.Abs(r) - d / 2)


def _several(*parts: Callable[[sp.Expr], sp.Expr]) -> Callable[[Any], tuple[Traced, ...]]:
    """A SciPy function that gives several results."""
    return lambda x: tuple(el.apply(p, x, name="special function") for p in parts)


def _airy_scaled(part: Callable[[sp.Expr], sp.Expr], sign: int) -> Callable[[sp.Expr], sp.Expr]:
    return lambda x: sp.exp(sign * sp.Rational(2, 3) * x * sp.sqrt(x)) * part(x)


SPECIAL: dict[str, Callable[..., Any]] = {
    name: (lambda *values, f=f, n=name: el.apply(f, *values, name=n)) for name, f in FORMULAS.items()
}
SPECIAL["airy"] = _several(sp.airyai, sp.airyaiprime, sp.airybi, sp.airybiprime)
SPECIAL["airye"] = _several(
    _airy_scaled(sp.airyai, 1),
    _airy_scaled(sp.airyaiprime, 1),
    _airy_scaled(sp.airybi, -1),
    _airy_scaled(sp.airybiprime, -1),
)
SPECIAL["sici"] = _several(sp.Si, sp.Ci)
SPECIAL["shichi"] = _several(sp.Shi, sp.Chi)
SPECIAL["fresnel"] = _several(sp.fresnels, sp.fresnelc)


def logsumexp(value: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Traced:
    """log Σ b e^x over axes."""
    if return_sign:
        raise UnsupportedError("logsumexp with return_sign; write log and sum")
    powers = el.exp(value)
    return TABLES["log"](reducing.sum_(powers if b is None else el.multiply(b, powers), axis, keepdims=keepdims))


def softmax(value: Any, axis: Any = None) -> Traced:
    """e^x over its sum along axes; of -inf it is 0."""
    powers = el.exp(value)
    return el.divide(powers, reducing.sum_(powers, axis, keepdims=True))


def log_softmax(value: Any, axis: Any = None) -> Traced:
    """x - log Σ e^x along axes."""
    return el.subtract(table.plain(value), logsumexp(value, axis, keepdims=True))


SPECIAL.update({"logsumexp": logsumexp, "softmax": softmax, "log_softmax": log_softmax})
for _name, _f in SPECIAL.items():  # reached by real SciPy through __array_ufunc__ as well
    TABLES.setdefault(_name, _f)
