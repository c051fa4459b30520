"""Random expressions against the judge, through both doors: the generated function and SymPy's lambdify.

The seed of a failing expression is in the test's message; sizes are pairwise different, letters repeat, sums nest.
"""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from lemmata.symbolic.codegen import compile_numpy
from lemmata.symbolic.language.arrays import array, tensor_of
from lemmata.symbolic.language.indices import index, placed
from lemmata.symbolic.language.nodes import (
    Delta,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    element,
    free_indices,
    replace,
)
from lemmata.symbolic.language.operations import sigmoid

_spec = importlib.util.spec_from_file_location("brute", Path(__file__).with_name("brute.py"))
brute = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brute)

SIZES = {"N": 4, "K": 3, "H": 2}
SHAPES = {"A": "N,K", "B": "K,H", "C": "N,H", "D": "N,K,H", "x": "N", "y": "K", "w": "H", "M": "K,K"}
TENSORS = [tensor_of(array(name, shape)) for name, shape in SHAPES.items()]
LABELS = tensor_of(array("t", "N", "index<K"))
ARGUMENTS = [*TENSORS, LABELS]


class Generator:
    """One random expression; `scope` has the indices that may stand in it, by size."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def result(self):
        names = [self.random.choice(list(SIZES)) for _ in range(self.random.randint(0, 3))]
        indices = [index(n.lower(), n) for n in names]
        scope = {}
        for i in indices:
            scope.setdefault(str(i.size), []).append(i)
        return sp.sympify(self.expression(scope, self.random.randint(2, 4))), indices

    def expression(self, scope, depth):
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(scope)
        kind = self.random.choices(
            ["add", "mul", "bind", "sigmoid", "square", "quotient", "mask"], [25, 35, 25, 5, 3, 3, 4]
        )[0]
        if kind == "bind":
            return self.binder(scope, depth)
        a = self.expression(scope, depth - 1)
        if kind in ("add", "mul", "quotient", "mask"):
            b = self.expression(scope, depth - 1)
            # a relation between whole expressions would have SymPy look for its truth by differentiating
            return {
                "add": lambda: a + b,
                "mul": lambda: a * b,
                "quotient": lambda: a / (1 + b**2),
                "mask": lambda: Indicator(sp.Gt(self.leaf(scope), 0)) * sp.exp(b / 4),
            }[kind]()
        return sigmoid(a) if kind == "sigmoid" else a**2

    def binder(self, scope, depth):
        name = self.random.choice(list(SIZES))
        bound = index("k", name)
        body = self.expression({**scope, name: [*scope.get(name, []), bound]}, depth - 1)
        kind = self.random.random()
        if kind < 0.1:
            return IndexMax(body, bound)
        if kind < 0.15:
            return IndexProduct(1 + body / 4, bound)
        if kind < 0.3:
            return sp.log(IndexSum(sp.exp(body / 2), bound))
        if kind < 0.45 and scope.get(name):
            power = sp.exp(body / 2)
            return replace(power, {bound: self.random.choice(scope[name])}) / IndexSum(power, bound)
        return IndexSum(body, bound)

    def leaf(self, scope):
        kind = self.random.random()
        if kind < 0.75:
            for _ in range(20):
                tensor = self.random.choice(TENSORS)
                places = [self.place(str(n), scope) for n in tensor.shape]
                if None not in places:
                    return element(tensor, *places)
        pairs = [n for n in scope if len(scope[n]) > 1]
        if kind < 0.87 and pairs:
            a, b = self.random.sample(scope[self.random.choice(pairs)], 2)
            return Delta(a, b) if self.random.random() < 0.6 else Indicator(sp.Le(a, b))
        if kind < 0.92 and scope.get("K") and scope.get("N"):
            return Delta(element(LABELS, self.random.choice(scope["N"])), self.random.choice(scope["K"]))
        return sp.Rational(self.random.randint(-3, 3), self.random.choice([1, 1, 2, 3, 25]))

    def place(self, name, scope):
        if self.random.random() < 0.1:
            return sp.Integer(self.random.randrange(SIZES[name]))
        if name == "K" and scope.get("N") and self.random.random() < 0.1:
            return element(LABELS, self.random.choice(scope["N"]))
        return self.random.choice(scope[name]) if scope.get(name) else None


def inputs(seed):
    numbers = np.random.default_rng(seed)
    values = {t.name: numbers.standard_normal([SIZES[str(n)] for n in t.shape]) for t in TENSORS}
    return {**values, "t": numbers.integers(0, SIZES["K"], SIZES["N"])}


@pytest.mark.parametrize("block", range(4))
def test_random_expressions(block):
    tried = 0
    for seed in range(1000 * block, 1000 * block + 150):
        expression, indices = Generator(seed).result()
        if expression.has(sp.zoo, sp.nan) or sp.count_ops(expression) > 40:
            continue
        tried += 1
        values = inputs(seed)
        want = brute.evaluate(expression, indices, values, SIZES)
        with np.errstate(all="ignore"):
            function = compile_numpy("f", expression, indices, ARGUMENTS)
            got = function(*(values[t.name] for t in ARGUMENTS))
            about = f"seed {seed}: {expression}\n{function.__source__}"
            assert np.shape(got) == want.shape, about
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=about)
            if set(free_indices(expression)) == set(indices):  # lambdify keeps no axis that is not used
                places = placed(indices, ARGUMENTS)
                again = replace(expression, dict(zip(indices, places, strict=True)))
                sizes = sorted((s for s in expression.free_symbols if s.name in SIZES), key=str)
                printed = sp.lambdify([*ARGUMENTS, *sizes], again, modules="numpy")
                got = printed(*(values[t.name] for t in ARGUMENTS), *(SIZES[s.name] for s in sizes))
                shaped = np.broadcast_to(got, want.shape)
                np.testing.assert_allclose(shaped, want, rtol=1e-9, atol=1e-9, err_msg=f"lambdify, {about}")
    assert tried > 100
