"""The rules: named equalities, used left to right, with a sentence for the reader and an instance that is proved in the
tests.

One row a rule. The rules of elementwise functions (`deriv_exp`, `deriv_log`, ...) are not listed here: they come from
the table of operations, one each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from ..language.errors import UnsupportedError
from ..language.indices import index
from ..language.linear_algebra import MatrixTensor
from ..language.nodes import (
    ArgMaxIndicator,
    Delta,
    IndexMax,
    IndexProduct,
    IndexSum,
    PartialDerivative,
    Tensor,
    element,
)
from ..language.operations import OPERATIONS, Operation
from ..language.sizes import Size

Equation = tuple[sp.Expr, sp.Expr]


@dataclass(frozen=True)
class Rule:
    """A named equality. `statement` is plain text for lists; `instance` gives both sides of one instance of it."""

    name: str
    statement: str
    why: str
    instance: Callable[[], Equation]
    condition: str = ""
    source: str = "elementary calculus"


_K, _N = Size("K"), Size("N")
_z, _y = Tensor("z", (_K,)), Tensor("y", (_K,))
_q = Tensor("q", (_K,), "positive")
_x, _u, _c, _a = Tensor("x"), Tensor("u"), Tensor("c"), Tensor("a", (), "positive")
_i, _j, _k = index("i", _K), index("j", _K), index("k", _K)

_ANGLES = "Abramowitz, Stegun, Handbook of Mathematical Functions (1964), section 4.3"


def _el(t: Tensor, *i: sp.Expr) -> sp.Expr:
    return element(t, *i)


def _d(e: sp.Expr, v: sp.Expr) -> sp.Expr:
    return PartialDerivative(e, v)


def _matrix_rule(kind: str) -> Equation:
    a = Tensor("A", (_K, _K), "invertible")
    row, column = index("i", _K), index("j", _K)
    p, q, k, m = (index(letter, _K) for letter in "pqkm")
    inverse = MatrixTensor("inv", (row, column), element(a, row, column))
    at = element(a, k, m)
    change = _d(element(a, p, q), at)
    if kind == "det":
        det = MatrixTensor("det", (row, column), element(a, row, column))
        return _d(det, at), det * IndexSum(IndexSum(element(inverse, q, p) * change, p), q)
    return (_d(element(inverse, _i, _j), at),
            -IndexSum(IndexSum(element(inverse, _i, p) * change * element(inverse, q, _j), p), q))


_ROWS = (
    Rule("deriv_const", "∂c/∂x = 0", "what does not depend on the variable has derivative 0",
         lambda: (_d(_el(_y, _i), _el(_z, _k)), sp.S.Zero)),
    Rule("deriv_element", "∂z_i/∂z_k = δ_ik", "an element depends on itself alone",
         lambda: (_d(_el(_z, _i), _el(_z, _k)), Delta(_i, _k))),
    Rule("deriv_add", "∂(f + g) = ∂f + ∂g", "the derivative is linear",
         lambda: (_d(_x**2 + sp.exp(_x), _x), _d(_x**2, _x) + _d(sp.exp(_x), _x))),
    Rule("deriv_const_mul", "∂(c f) = c ∂f", "constant factors leave the derivative",
         lambda: (_d(_c * _x**2, _x), _c * _d(_x**2, _x))),
    Rule("deriv_sum", "∂ Σ_i f_i = Σ_i ∂f_i", "the derivative of a sum is the sum of the derivatives",
         lambda: (_d(IndexSum(sp.exp(_el(_z, _i)), _i), _el(_z, _k)),
                  IndexSum(_d(sp.exp(_el(_z, _i)), _el(_z, _k)), _i))),
    Rule("deriv_mul", "∂(f g) = ∂f g + f ∂g", "product rule",
         lambda: (_d(_x * sp.exp(_x), _x), _d(_x, _x) * sp.exp(_x) + _x * _d(sp.exp(_x), _x))),
    Rule("deriv_pow", "∂ f^n = n f^(n-1) ∂f", "power rule",
         lambda: (_d((1 + _x**2) ** 3, _x), 3 * (1 + _x**2) ** 2 * _d(1 + _x**2, _x))),
    Rule("deriv_inv", "∂(1/f) = -∂f / f²", "reciprocal rule",
         lambda: (_d(1 / (1 + _x**2), _x), -_d(1 + _x**2, _x) / (1 + _x**2) ** 2), "f ≠ 0"),
    Rule("deriv_exp_pow", "∂ f^g = f^g (∂g log f + g ∂f / f)", "power with a variable exponent",
         lambda: (_d(_a**_x, _x), _a**_x * (_d(_x, _x) * sp.log(_a) + _x * _d(_a, _x) / _a)), "f > 0"),
    Rule("deriv_prod", "∂ Π_i f_i = Π_i f_i Σ_i ∂f_i / f_i", "logarithmic derivative of a product",
         lambda: (_d(IndexProduct(_el(_q, _i), _i), _el(_q, _k)),
                  IndexProduct(_el(_q, _i), _i) * IndexSum(_d(_el(_q, _i), _el(_q, _k)) / _el(_q, _i), _i)),
                  "no f_i is 0"),
    Rule("deriv_max", "∂ max_i f_i = Σ_i [i is the place of the maximum] ∂f_i",
         "a maximum moves with its largest entry; at a tie this is one of the subgradients",
         lambda: (_d(IndexMax(_el(_z, _i), _i), _el(_z, _k)),
                  IndexSum(ArgMaxIndicator(_el(_z, _j), _j, _i) * _d(_el(_z, _i), _el(_z, _k)), _i)), "no tie"),
    Rule("deriv_indicator", "∂[c] = 0", "an indicator is constant away from its jump", lambda: (sp.S.Zero, sp.S.Zero),
         "not at the jump"),
    Rule("deriv_definition", "∂p = ∂(its definition)", "differentiate through the definition",
         lambda: (_d(_el(_z, _i) ** 2, _el(_z, _k)), _d(_el(_z, _i) * _el(_z, _i), _el(_z, _k)))),
    Rule("deriv_inv_matrix", "∂A⁻¹ = -A⁻¹ ∂A A⁻¹", "derivative of an inverse matrix",
         lambda: _matrix_rule("inv"), "A invertible",
         source="Petersen, Pedersen, The Matrix Cookbook (2012), eq. (59)"),
    Rule("deriv_det", "∂ det A = det A tr(A⁻¹ ∂A)", "Jacobi's formula", lambda: _matrix_rule("det"), "A invertible",
         source="Petersen, Pedersen, The Matrix Cookbook (2012), eq. (46)"),
    Rule("sum_mul_delta", "Σ_i δ_ik f_i = f_k", "the delta picks one term of the sum",
         lambda: (IndexSum(Delta(_i, _k) * _el(_z, _i), _i), _el(_z, _k))),
    Rule("sum_add", "Σ_i (f_i + g_i) = Σ_i f_i + Σ_i g_i", "a sum of sums",
         lambda: (IndexSum(_el(_z, _i) + _el(_y, _i), _i), IndexSum(_el(_z, _i), _i) + IndexSum(_el(_y, _i), _i))),
    Rule("sum_mul_const", "Σ_i c f_i = c Σ_i f_i", "what does not depend on the index leaves the sum",
         lambda: (IndexSum(_c * _el(_z, _i), _i), _c * IndexSum(_el(_z, _i), _i))),
    Rule("sum_const", "Σ_i c = K c", "a constant summed over K places", lambda: (IndexSum(_c, _i), _K * _c)),
    Rule("log_mul_of_pos", "log(a b) = log a + log b", "the logarithm of a product of positive numbers",
         lambda: (sp.log(_a * sp.exp(_x)), sp.log(_a) + _x), "a, b > 0"),
    Rule("log_div_of_pos", "log(a / b) = log a - log b", "the logarithm of a quotient of positive numbers",
         lambda: (sp.log(sp.exp(_x) / (1 + _a)), _x - sp.log(1 + _a)), "a, b > 0"),
    Rule("log_pow_of_pos", "log(a^n) = n log a", "the logarithm of a power of a positive number",
         lambda: (sp.log(_a**3), 3 * sp.log(_a)), "a > 0"),
    Rule("log_exp", "log e^x = x", "the logarithm undoes the exponential", lambda: (sp.log(sp.exp(_x)), _x)),
    Rule("sin_add", "sin(a + b) = sin a cos b + cos a sin b", "the sine of a sum",
         lambda: (sp.sin(_x + _c), sp.sin(_x) * sp.cos(_c) + sp.cos(_x) * sp.sin(_c)), source=_ANGLES),
    Rule("cos_add", "cos(a + b) = cos a cos b - sin a sin b", "the cosine of a sum",
         lambda: (sp.cos(_x + _c), sp.cos(_x) * sp.cos(_c) - sp.sin(_x) * sp.sin(_c)), source=_ANGLES),
    Rule("sin_sq_add_cos_sq", "sin² a + cos² a = 1", "sine and cosine lie on the unit circle",
         lambda: (sp.sin(_x) ** 2 + sp.cos(_x) ** 2, sp.S.One), source=_ANGLES),
    Rule("unfold", "p = its definition", "put the definition in place of the name", lambda: (_x, _x)),
    Rule("fold", "definition = p", "give the name back to what it defines", lambda: (_x, _x)),
    Rule("use_hypothesis", "left = right, as assumed", "use the hypothesis", lambda: (_x, _x)),
    Rule("collect", "rearranged", "multiply out and collect", lambda: ((_x + 1) * _x - _x, _x**2)),
)

RULES: dict[str, Rule] = {row.name: row for row in _ROWS}


# An expression in x that stays inside a domain.
_INNER: dict[str, sp.Expr] = {
    "real": _x * _c, "positive": 1 + _x**2, "nonzero": 1 + _x**2, "(-1,1)": _x / (2 + _x**2), "(1,inf)": 2 + _x**2,
    "(0,1)": 1 / (2 + _x**2), "(-inf,1)": -(1 + _x**2),
}


# An expression in x (and c) that stays in the domain, for the instances.
_INSIDE: dict[str, sp.Expr] = {
    "real": _x * _c,
    "positive": 1 + _x**2,
    "nonzero": 1 + _x**2,
    "(-1,1)": _x / (2 + _x**2),
    "(0,1)": 1 / (2 + _x**2),
    "(1,inf)": 2 + _x**2,
    "(-inf,1)": 1 / (2 + _x**2),
}


def _function_rule(row: Operation) -> Rule:
    """The chain rule of one operation: a term for every argument that has a derivative; the others are orders, held
    fixed.
    """
    slots = list(zip(row.domains, row.derivatives, strict=True))
    orders, variables = iter("abnm"), iter("uvwt")
    letters = [Tensor(next(orders if derivative is None else variables), (), domain) for domain, derivative in slots]

    def instance() -> Equation:
        examples = [parameter.example for parameter in row.parameters]
        args = [example if derivative is None else _INSIDE[domain]
                for (domain, derivative), example in zip(slots, [*examples, sp.S.Zero], strict=True)]
        terms = [derivative(*args) * _d(arg, _x)
                 for (_, derivative), arg in zip(slots, args, strict=True) if derivative]
        return _d(row.function(*args), _x), sp.Add(*terms)

    change = " + ".join(f"{_factor(derivative(*letters))} ∂{letter}"
                        for (_, derivative), letter in zip(slots, letters, strict=True) if derivative)
    return Rule(row.rule_name, f"∂{row.name}({', '.join(map(str, letters))}) = {change}",
                f"chain rule with the derivative of {row.name}", instance,
                condition=_domain_condition(row, letters), source=row.source)


def _factor(expression: sp.Expr) -> str:
    """The expression as a factor: a sum in parentheses."""
    return f"({expression})" if expression.is_Add else str(expression)


def _domain_condition(row: Operation, letters: list[Tensor]) -> str:
    if row.arity == 1:
        return "" if row.domain == "real" else f"argument in {row.domain}"
    named = zip(letters, row.domains, strict=True)
    return ", ".join(f"{letter} in {domain}" for letter, domain in named if domain != "real")


def _definition_rule(row: Operation) -> Rule:
    """The rule that writes an operation out."""
    definition = row.definition
    assert definition is not None

    def instance() -> Equation:
        example = row.example(_x)
        return example, definition(*example.args)

    return Rule(f"expand_{row.name}", f"{row.name} by its definition", f"write {row.name} out", instance,
                source=row.source)


for _row in OPERATIONS.values():
    if _row.derivative is not None:
        RULES[_row.rule_name] = _function_rule(_row)
    if _row.definition is not None:
        RULES[f"expand_{_row.name}"] = _definition_rule(_row)


def rule(name: str) -> Rule:
    """A rule by name; unknown names are an error that lists near ones."""
    found = RULES.get(name)
    if found is None:
        import difflib

        near = ", ".join(difflib.get_close_matches(name, RULES, n=3)) or "none near"
        raise UnsupportedError(f"there is no rule {name!r} ({near})")
    return found
