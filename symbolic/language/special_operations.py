"""The special functions: rows of the same table as `operations`, with the derivative by each argument that has a rule.

What is named here has no closed form in exponentials, logarithms and powers. A derivative by an order (∂J_ν/∂ν,
∂Γ(a,x)/∂a) is
None: it is refused wherever it is asked for. SymPy's own classes are used where there are any.
"""

from __future__ import annotations

import sympy as sp

from .operations import BY_FUNCTION, OPERATIONS, Operation, Parameter, declare, digamma, named_function

owens_t = named_function("owens_t", 2, __name__)
betainc = named_function("betainc", 3, __name__)
# SymPy's own puts numbers into its argument, which elements of arrays do not survive
polylog = named_function("polylog", 2, __name__)

_DLMF = "NIST Digital Library of Mathematical Functions"
_HALF = sp.Rational(1, 2)


def _order(example: sp.Expr, domain: str = "real") -> tuple[Parameter, ...]:
    """An order: an argument without a derivative."""
    return (Parameter(sp.sympify(example), None, domain),)


def _beta_density(a: sp.Expr, b: sp.Expr, x: sp.Expr) -> sp.Expr:
    """x^(a-1) (1-x)^(b-1) / B(a, b)."""
    return x ** (a - 1) * (1 - x) ** (b - 1) * sp.gamma(a + b) / (sp.gamma(a) * sp.gamma(b))


def _polylog_below(s: sp.Expr, z: sp.Expr) -> sp.Expr:
    """Li_(s-1)(z), which is -log(1-z) for s = 2."""
    return -sp.log(1 - z) if s == 2 else polylog(s - 1, z)


for _row in (
    # error functions
    Operation("erfc", sp.erfc, r"\operatorname{erfc}", "erfc", None, f"{_DLMF}, 7.2",
              definition=lambda x: 1 - sp.erf(x)),
    Operation("erfi", sp.erfi, r"\operatorname{erfi}", "scipy.special.erfi",
              lambda x: 2 * sp.exp(x**2) / sp.sqrt(sp.pi), f"{_DLMF}, 7.2"),
    Operation("erfinv", sp.erfinv, r"\operatorname{erf}^{-1}", "scipy.special.erfinv",
              lambda x: sp.sqrt(sp.pi) / 2 * sp.exp(sp.erfinv(x) ** 2), f"{_DLMF}, 7.17", domain="(-1,1)"),
    Operation("fresnels", sp.fresnels, r"\operatorname{S}", "fresnel_s", lambda x: sp.sin(sp.pi * x**2 / 2),
              f"{_DLMF}, 7.2"),
    Operation("fresnelc", sp.fresnelc, r"\operatorname{C}", "fresnel_c", lambda x: sp.cos(sp.pi * x**2 / 2),
              f"{_DLMF}, 7.2"),
    Operation("owens_t", owens_t, r"\operatorname{T}", "scipy.special.owens_t",
              lambda h, a: sp.exp(-(h**2) * (1 + a**2) / 2) / (2 * sp.pi * (1 + a**2)),
              "Owen, Tables for computing bivariate normal probabilities (1956)",
              parameters=(Parameter(_HALF, lambda h,
                                    a: -sp.exp(-(h**2) / 2) * sp.erf(a * h / sp.sqrt(2)) / (2 * sp.sqrt(2 * sp.pi))),)),
    # the gamma function and its relatives
    Operation("gamma", sp.gamma, r"\Gamma", "scipy.special.gamma", lambda x: sp.gamma(x) * digamma(x), f"{_DLMF}, 5.2",
              domain="positive"),
    Operation("polygamma", sp.polygamma, r"\psi", "scipy.special.polygamma", lambda n, x: sp.polygamma(n + 1, x),
              f"{_DLMF}, 5.15",
              domain="positive", parameters=_order(3)),
    Operation("lowergamma", sp.lowergamma, r"\gamma", "gamma_lower", lambda a, x: x ** (a - 1) * sp.exp(-x),
              f"{_DLMF}, 8.8",
              domain="positive", parameters=_order(sp.Rational(7, 3), "positive")),
    Operation("uppergamma", sp.uppergamma, r"\Gamma", "gamma_upper", lambda a, x: -(x ** (a - 1)) * sp.exp(-x),
              f"{_DLMF}, 8.8",
              domain="positive", parameters=_order(sp.Rational(7, 3), "positive")),
    Operation("betainc", betainc, r"\operatorname{I}", "scipy.special.betainc", _beta_density,
              f"{_DLMF}, 8.17, regularized", domain="(0,1)",
              parameters=(*_order(sp.Rational(3, 2), "positive"), *_order(sp.Rational(7, 3), "positive"))),
    Operation("zeta", sp.zeta, r"\zeta", "scipy.special.zeta", lambda s, q: -s * sp.zeta(s + 1, q), f"{_DLMF}, 25.11",
              domain="positive", parameters=_order(sp.Rational(5, 2), "(1,inf)")),
    # exponential integrals, polylogarithms, Lambert's W, elliptic integrals
    Operation("expi", sp.Ei, r"\operatorname{Ei}", "scipy.special.expi", lambda x: sp.exp(x) / x, f"{_DLMF}, 6.2",
              domain="nonzero"),
    Operation("expint", sp.expint, r"\operatorname{E}", "expint", lambda n, x: -sp.expint(n - 1, x), f"{_DLMF}, 8.19",
              domain="positive", parameters=_order(2)),
    Operation("sinint", sp.Si, r"\operatorname{Si}", "sine_integral", lambda x: sp.sin(x) / x, f"{_DLMF}, 6.2"),
    Operation("cosint", sp.Ci, r"\operatorname{Ci}", "cosine_integral", lambda x: sp.cos(x) / x, f"{_DLMF}, 6.2",
              domain="positive"),
    Operation("sinhint", sp.Shi, r"\operatorname{Shi}", "hyperbolic_sine_integral", lambda x: sp.sinh(x) / x,
              f"{_DLMF}, 6.2"),
    Operation("coshint", sp.Chi, r"\operatorname{Chi}", "hyperbolic_cosine_integral", lambda x: sp.cosh(x) / x,
              f"{_DLMF}, 6.2",
              domain="positive"),
    Operation("polylog", polylog, r"\operatorname{Li}", "polylog", lambda s, z: _polylog_below(s, z) / z,
              f"{_DLMF}, 25.12",
              domain="(-inf,1)", parameters=_order(2)),
    Operation("lambertw", sp.LambertW, r"\operatorname{W}", "lambert_w",
              lambda x: sp.exp(-sp.LambertW(x)) / (1 + sp.LambertW(x)),
              f"{_DLMF}, 4.13"),
    Operation("ellipk", sp.elliptic_k, r"\operatorname{K}", "scipy.special.ellipk",
              lambda m: (sp.elliptic_e(m) / (1 - m) - sp.elliptic_k(m)) / (2 * m), f"{_DLMF}, 19.4, with m = k²",
              domain="(-inf,1)"),
    Operation("ellipe", sp.elliptic_e, r"\operatorname{E}", "scipy.special.ellipe",
              lambda m: (sp.elliptic_e(m) - sp.elliptic_k(m)) / (2 * m), f"{_DLMF}, 19.4, with m = k²",
              domain="(-inf,1)"),
    # Bessel and Airy functions
    Operation("besselj", sp.besselj, r"\operatorname{J}", "scipy.special.jv",
              lambda n, x: (sp.besselj(n - 1, x) - sp.besselj(n + 1, x)) / 2,
              f"{_DLMF}, 10.6.1", parameters=_order(2)),
    Operation("bessely", sp.bessely, r"\operatorname{Y}", "scipy.special.yv",
              lambda n, x: (sp.bessely(n - 1, x) - sp.bessely(n + 1, x)) / 2,
              f"{_DLMF}, 10.6.1", domain="positive", parameters=_order(2)),
    Operation("besseli", sp.besseli, r"\operatorname{I}", "scipy.special.iv",
              lambda n, x: (sp.besseli(n - 1, x) + sp.besseli(n + 1, x)) / 2,
              f"{_DLMF}, 10.29.1", parameters=_order(2)),
    Operation("besselk", sp.besselk, r"\operatorname{K}", "scipy.special.kv",
              lambda n, x: -(sp.besselk(n - 1, x) + sp.besselk(n + 1, x)) / 2,
              f"{_DLMF}, 10.29.1", domain="positive", parameters=_order(2)),
    Operation("airyai", sp.airyai, r"\operatorname{Ai}", "airy_ai", lambda x: sp.airyaiprime(x), f"{_DLMF}, 9.2"),
    Operation("airyaiprime", sp.airyaiprime, r"\operatorname{Ai}'", "airy_ai_prime", lambda x: x * sp.airyai(x),
              f"{_DLMF}, 9.2"),
    Operation("airybi", sp.airybi, r"\operatorname{Bi}", "airy_bi", lambda x: sp.airybiprime(x), f"{_DLMF}, 9.2"),
    Operation("airybiprime", sp.airybiprime, r"\operatorname{Bi}'", "airy_bi_prime", lambda x: x * sp.airybi(x),
              f"{_DLMF}, 9.2"),
    # angle of a point, rounding
    Operation("arctan2", sp.atan2, r"\operatorname{atan2}", "np.arctan2", lambda y, x: -y / (x**2 + y**2),
              f"{_DLMF}, 4.23.26-28",
              parameters=(Parameter(sp.Rational(3, 10), lambda y, x: x / (x**2 + y**2)),)),
    Operation("floor", sp.floor, r"\operatorname{floor}", "np.floor", lambda x: sp.S.Zero, "elementary",
              kinks=lambda x: (x - sp.floor(x),), kink_policy="derivative 0 away from the jumps at whole numbers"),
    Operation("ceil", sp.ceiling, r"\operatorname{ceil}", "np.ceil", lambda x: sp.S.Zero, "elementary",
              kinks=lambda x: (x - sp.floor(x),), kink_policy="derivative 0 away from the jumps at whole numbers"),
):
    declare(_row)

BY_FUNCTION[sp.polylog] = OPERATIONS["polylog"]

__all__ = ["betainc", "owens_t", "polylog"]
