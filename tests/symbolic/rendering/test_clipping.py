"""max(a, b) and min(a, b) are read back where the indicator pattern is exact, and nowhere else."""

import pytest
import sympy as sp

from lemmata.symbolic.language import vocabulary as v
from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import Indicator
from lemmata.symbolic.rendering import latex, text

I = index("i", "K")
Z, Y = array("z", "K"), array("y", "K")
z, y = Z.element(I), Y.element(I)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (v.maximum(Z, Y).element(I), "max(z_i, y_i)"),
        (v.minimum(Z, Y).element(I), "min(z_i, y_i)"),
        (v.maximum(Z, 0).element(I), "max(z_i, 0)"),
        (v.minimum(Z, 0).element(I), "min(z_i, 0)"),
        (v.maximum(Z, 2).element(I), "max(z_i, 2)"),
        (v.minimum(Z, sp.Rational(1, 3)).element(I), "min(z_i, 1/3)"),
        (v.maximum(Z - 1, Y).element(I), "max(z_i − 1, y_i)"),
        (v.maximum(Z - 1, 0).element(I) * y, "y_i max(z_i − 1, 0)"),
        (v.maximum(Z, Y).element(I) + 3, "3 + max(z_i, y_i)"),
        (z * Indicator(z > 0), "max(z_i, 0)"),
        (v.sum(v.maximum(Z, 0)).body, "Σ_j max(z_j, 0)"),
    ],
)
def test_read_back(expression: sp.Expr, shown: str) -> None:
    assert text(expression) == shown
    assert r"\max\left(" in latex(expression) or r"\min\left(" in latex(expression)


@pytest.mark.parametrize(
    "expression",
    [
        z * Indicator(y > 0),
        y * Indicator(z >= 0),
        z * Indicator(z >= y),
        z * Indicator(z >= y) - y * (1 - Indicator(z >= y)),
        y * Indicator(z >= y) + z * (1 - Indicator(z >= y)),
        z * Indicator(z >= y) + y * (1 - Indicator(z > y)),
        z * Indicator(z >= 2) - 2 * Indicator(z >= 2) + 3 * z - 2,
        z**2 * Indicator(z >= 0),
        1 - Indicator(z >= y),
    ],
)
def test_what_is_not_exact_stays(expression: sp.Expr) -> None:
    assert "max" not in text(expression)
    assert "min" not in text(expression)
    assert "[" in text(expression)
