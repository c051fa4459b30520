"""The special functions of the second path: how Arb's balls evaluate them, where they have a value, and their
derivatives.

Written by hand beside the table from which derivations are made, and not read from it. A derivative by an order is
None: asking for it is an error. Values are real; a ball that may lie outside of the domain is undecided, one that
certainly does is undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from flint import acb, arb, fmpq

from ..language.errors import UnsupportedError
from ..language.special_operations import betainc, owens_t, polylog
from .failures import Undecided, Undefined

# SymPy's classes by the names used here; the arguments are SymPy's, in its order.
PRIMITIVE: dict[Any, str] = {
    sp.erfi: "erfi",
    sp.erfinv: "erfinv",
    sp.fresnels: "fresnels",
    sp.fresnelc: "fresnelc",
    owens_t: "owens_t",
    sp.gamma: "gamma",
    sp.polygamma: "polygamma",
    sp.lowergamma: "lowergamma",
    sp.uppergamma: "uppergamma",
    betainc: "betainc",
    sp.zeta: "zeta",
    sp.Ei: "expi",
    sp.expint: "expint",
    sp.Si: "sinint",
    sp.Ci: "cosint",
    sp.Shi: "sinhint",
    sp.Chi: "coshint",
    polylog: "polylog",
    sp.polylog: "polylog",
    sp.LambertW: "lambertw",
    sp.elliptic_k: "ellipk",
    sp.elliptic_e: "ellipe",
    sp.besselj: "besselj",
    sp.bessely: "bessely",
    sp.besseli: "besseli",
    sp.besselk: "besselk",
    sp.airyai: "airyai",
    sp.airyaiprime: "airyaiprime",
    sp.airybi: "airybi",
    sp.airybiprime: "airybiprime",
    sp.atan2: "arctan2",
    sp.floor: "floor",
    sp.ceiling: "ceil",
}
ARGUMENTS = {
    "owens_t": 2,
    "polygamma": 2,
    "lowergamma": 2,
    "uppergamma": 2,
    "betainc": 3,
    "zeta": 2,
    "expint": 2,
    "polylog": 2,
    "besselj": 2,
    "bessely": 2,
    "besseli": 2,
    "besselk": 2,
    "arctan2": 2,
}


# ---------------------------------------------------------------------- values
def _real(value: acb) -> arb:
    """The real part of a value that has to be real."""
    if not value.imag.contains(0):
        raise Undefined("a complex value")
    return value.real


def _whole(order: arb) -> int | None:
    whole = order.unique_fmpz() if order.is_exact() and order.is_integer() else None
    return None if whole is None else int(whole)


def _above(x: arb, low: int, what: str, closed: bool = False) -> None:
    """x > low, or x ≥ low."""
    if x > low or (closed and x >= low):
        return
    if x < low or x == low:
        raise Undefined(f"{what} at {x.str(8, radius=False)}")
    raise Undecided(f"{what} at {x.str(8, radius=False)}")


def _bessel(name: str) -> Callable[[arb, arb], arb]:
    def value(order: arb, x: arb) -> arb:
        n = _whole(order)
        if n is None or name in ("bessel_y", "bessel_k"):
            _above(x, 0, name, closed=name in ("bessel_j", "bessel_i") and order >= 0)
        return getattr(x, name)(order) if n is None else getattr(x, name)(arb(n))

    return value


def _airy(kind: str, derivative: int) -> Callable[[arb], arb]:
    return lambda x: getattr(x, f"airy_{kind}")(derivative=derivative)


def _gamma(x: arb) -> arb:
    if x.contains_integer() and not x > 0:
        raise Undefined("the gamma function at a pole") if x.is_exact() else Undecided("the gamma function near a pole")
    return x.gamma()


def _polygamma(order: arb, x: arb) -> arb:
    n = _whole(order)
    if n is None or n < 0:
        raise Undefined("polygamma of an order that is not a whole number")
    if n == 0:
        return x.digamma()
    return _real(acb(x).polygamma(acb(n)))


def _incomplete_gamma(name: str) -> Callable[[arb, arb], arb]:
    def value(a: arb, x: arb) -> arb:
        _above(x, 0, name, closed=True)
        if name == "gamma_lower":
            _above(a, 0, name)
        return getattr(x, name)(a)

    return value


def _betainc(a: arb, b: arb, x: arb) -> arb:
    for p in (a, b):
        _above(p, 0, "incomplete beta")
    if x == 0:
        return arb(0)
    _above(x, 0, "incomplete beta")
    _above(1 - x, 0, "incomplete beta", closed=True)
    return x.beta_lower(a, b, regularized=1)


def _zeta(s: arb, q: arb | None = None) -> arb:
    q = arb(1) if q is None else q
    _above(q, 0, "zeta")
    if s.overlaps(arb(1)):
        raise Undefined("zeta at 1") if s == 1 else Undecided("zeta near 1")
    return s.zeta(q)


def _expi(x: arb) -> arb:
    if x.contains(0):
        raise Undefined("Ei at 0") if x == 0 else Undecided("Ei near 0")
    return x.ei()


def _expint(n: arb, x: arb) -> arb:
    _above(x, 0, "E_n")
    return x.expint(n)


def _positive(name: str) -> Callable[[arb], arb]:
    def value(x: arb) -> arb:
        _above(x, 0, name)
        return getattr(x, name)()

    return value


def _polylog(s: arb, z: arb) -> arb:
    _above(1 - z, 0, "polylog", closed=True)
    return z.polylog(s)


def _lambertw(x: arb) -> arb:
    edge = x + (arb(-1)).exp()
    _above(edge, 0, "W", closed=True)
    return x.lambertw()


def _elliptic(name: str) -> Callable[[arb], arb]:
    def value(m: arb) -> arb:
        _above(1 - m, 0, name, closed=name == "elliptic_e")
        return _real(getattr(acb(m), name)())

    return value


def _owens_t(h: arb, a: arb) -> arb:
    square = h * h
    integral = acb.integral(lambda t, _: (-(1 + t * t) * square / 2).exp() / (1 + t * t), acb(0), acb(a))
    return _real(integral) / (2 * arb.pi())


def _erfinv(x: arb) -> arb:
    _above(1 - x, 0, "erfinv")
    _above(1 + x, 0, "erfinv")
    return x.erfinv()


def _arctan2(y: arb, x: arb) -> arb:
    if not x > 0 and not y == 0 and y.contains(0):
        raise Undecided("atan2 at its branch cut")
    return arb.atan2(y, x)


def rounded(name: str, x: arb) -> arb:
    """⌊x⌋ or ⌈x⌉, exactly."""
    value = x.floor() if name == "floor" else x.ceil()
    if not value.is_exact():
        raise Undecided(f"{name} at {x.str(8, radius=False)}")
    return value


BALL: dict[str, Callable[..., arb]] = {
    "erfi": arb.erfi,
    "erfinv": _erfinv,
    "fresnels": arb.fresnel_s,
    "fresnelc": arb.fresnel_c,
    "owens_t": _owens_t,
    "gamma": _gamma,
    "polygamma": _polygamma,
    "digamma": lambda x: _polygamma(arb(0), x),
    "trigamma": lambda x: _polygamma(arb(1), x),
    "lowergamma": _incomplete_gamma("gamma_lower"),
    "uppergamma": _incomplete_gamma("gamma_upper"),
    "betainc": _betainc,
    "zeta": _zeta,
    "expi": _expi,
    "expint": _expint,
    "sinint": arb.si,
    "cosint": _positive("ci"),
    "sinhint": arb.shi,
    "coshint": _positive("chi"),
    "polylog": _polylog,
    "lambertw": _lambertw,
    "ellipk": _elliptic("elliptic_k"),
    "ellipe": _elliptic("elliptic_e"),
    "besselj": _bessel("bessel_j"),
    "bessely": _bessel("bessel_y"),
    "besseli": _bessel("bessel_i"),
    "besselk": _bessel("bessel_k"),
    "airyai": _airy("ai", 0),
    "airyaiprime": _airy("ai", 1),
    "airybi": _airy("bi", 0),
    "airybiprime": _airy("bi", 1),
    "arctan2": _arctan2,
    "floor": lambda x: rounded("floor", x),
    "ceil": lambda x: rounded("ceil", x),
}


# ---------------------------------------------------------------------- derivatives
def _n(f: Any, p: int, q: int = 1) -> Any:
    return f.constant(fmpq(p, q))


def _gauss(f: Any, x: Any, sign: int) -> Any:
    """2/√π e^(±x²)."""
    return _n(f, 2) * f.root(f.named("pi"), fmpq(-1, 2)) * f.function("exp", _n(f, sign) * x * x)


def _power(f: Any, x: Any, e: Any) -> Any:
    return f.function("exp", e * f.function("log", x))


def _gamma_density(f: Any, a: Any, x: Any) -> Any:
    return f.function("exp", (a - f.one) * f.function("log", x) - x)


def _beta_density(f: Any, a: Any, b: Any, x: Any) -> Any:
    weight = f.function("gamma", a + b) * f.invert(f.function("gamma", a) * f.function("gamma", b))
    return weight * _power(f, x, a - f.one) * _power(f, f.one - x, b - f.one)


def _neighbours(name: str, below: int, above: int) -> Callable[[Any, tuple[Any, ...], Any], Any]:
    """F_ν' = (± F_(ν-1) ± F_(ν+1))/2."""

    def slope(f: Any, x: tuple[Any, ...], value: Any) -> Any:
        order, at = x
        return _n(f, below, 2) * f.function(name, order - f.one, at) + _n(f, above, 2) * f.function(
            name, order + f.one, at
        )

    return slope


def _elliptic_slope(f: Any, m: Any, complete: Any) -> Any:
    return (f.function("ellipe", m) * complete - f.function("ellipk", m)) * f.invert(_n(f, 2) * m)


def _owens_by_h(f: Any, x: tuple[Any, ...], value: Any) -> Any:
    h, a = x
    inner = a * h * f.root(_n(f, 2), fmpq(-1, 2))
    return (
        _n(f, -1, 2)
        * f.root(_n(f, 2) * f.named("pi"), fmpq(-1, 2))
        * f.function("exp", _n(f, -1, 2) * h * h)
        * f.function("erf", inner)
    )


def _owens_by_a(f: Any, x: tuple[Any, ...], value: Any) -> Any:
    h, a = x
    one = f.one + a * a
    return f.function("exp", _n(f, -1, 2) * h * h * one) * f.invert(_n(f, 2) * f.named("pi") * one)


Slope = Callable[[Any, tuple[Any, ...], Any], Any]
# The derivative by each argument from the field, the arguments and the value; None where there is no rule.
DERIVATIVES: dict[str, tuple[Slope | None, ...]] = {
    "erfi": (lambda f, x, v: _gauss(f, x[0], 1),),
    "erfinv": (lambda f, x, v: f.invert(_gauss(f, v, -1)),),
    "fresnels": (lambda f, x, v: f.function("sin", f.named("pi") * x[0] * x[0] * _n(f, 1, 2)),),
    "fresnelc": (lambda f, x, v: f.function("cos", f.named("pi") * x[0] * x[0] * _n(f, 1, 2)),),
    "owens_t": (_owens_by_h, _owens_by_a),
    "gamma": (lambda f, x, v: v * f.function("digamma", x[0]),),
    "trigamma": (lambda f, x, v: f.function("polygamma", _n(f, 2), x[0]),),
    "polygamma": (None, lambda f, x, v: f.function("polygamma", x[0] + f.one, x[1])),
    "lowergamma": (None, lambda f, x, v: _gamma_density(f, *x)),
    "uppergamma": (None, lambda f, x, v: -_gamma_density(f, *x)),
    "betainc": (None, None, lambda f, x, v: _beta_density(f, *x)),
    "zeta": (None, lambda f, x, v: -(x[0] * f.function("zeta", x[0] + f.one, x[1]))),
    "expi": (lambda f, x, v: f.function("exp", x[0]) * f.invert(x[0]),),
    "expint": (None, lambda f, x, v: -f.function("expint", x[0] - f.one, x[1])),
    "sinint": (lambda f, x, v: f.function("sin", x[0]) * f.invert(x[0]),),
    "cosint": (lambda f, x, v: f.function("cos", x[0]) * f.invert(x[0]),),
    "sinhint": (lambda f, x, v: f.function("sinh", x[0]) * f.invert(x[0]),),
    "coshint": (lambda f, x, v: f.function("cosh", x[0]) * f.invert(x[0]),),
    "polylog": (None, lambda f, x, v: f.function("polylog", x[0] - f.one, x[1]) * f.invert(x[1])),
    "lambertw": (lambda f, x, v: f.invert(f.function("exp", v) * (f.one + v)),),
    "ellipk": (lambda f, x, v: _elliptic_slope(f, x[0], f.invert(f.one - x[0])),),
    "ellipe": (lambda f, x, v: _elliptic_slope(f, x[0], f.one),),
    "besselj": (None, _neighbours("besselj", 1, -1)),
    "bessely": (None, _neighbours("bessely", 1, -1)),
    "besseli": (None, _neighbours("besseli", 1, 1)),
    "besselk": (None, _neighbours("besselk", -1, -1)),
    "airyai": (lambda f, x, v: f.function("airyaiprime", x[0]),),
    "airyaiprime": (lambda f, x, v: x[0] * f.function("airyai", x[0]),),
    "airybi": (lambda f, x, v: f.function("airybiprime", x[0]),),
    "airybiprime": (lambda f, x, v: x[0] * f.function("airybi", x[0]),),
    "arctan2": (
        lambda f, x, v: x[1] * f.invert(x[0] * x[0] + x[1] * x[1]),
        lambda f, x, v: -(x[0] * f.invert(x[0] * x[0] + x[1] * x[1])),
    ),
    "floor": (lambda f, x, v: f.zero,),
    "ceil": (lambda f, x, v: f.zero,),
}


def slope_of(name: str, position: int) -> Slope:
    """The derivative of a function by one of its arguments; an error where there is no rule."""
    rules = DERIVATIVES.get(name)
    rule = None if rules is None or position >= len(rules) else rules[position]
    if rule is None:
        which = "" if rules is None or len(rules) == 1 else f" by its argument {position + 1} (an order or parameter)"
        raise UnsupportedError(f"the second path has no derivative of {name}{which}")
    return rule
