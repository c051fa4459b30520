"""An index expression at concrete inputs, in floats, by plain recursion: the judge of what is read.

It shares no code with the package but the node classes. What stands beside a factor that is 0 is not evaluated.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.special as special
import sympy as sp

from lemmata.symbolic.language.arrays import Array
from lemmata.symbolic.language.indices import Index
from lemmata.symbolic.language.linear_algebra import MatrixTensor
from lemmata.symbolic.language.nodes import (
    ArgMaxIndicator,
    DefinedTensor,
    Delta,
    Element,
    IndexMax,
    IndexProduct,
    IndexSum,
    Indicator,
    Tensor,
)
from lemmata.symbolic.language.operations import BY_FUNCTION
from lemmata.symbolic.language.sizes import Size

FUNCTIONS = {
    sp.exp: np.exp,
    sp.log: np.log,
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.sinh: np.sinh,
    sp.cosh: np.cosh,
    sp.tanh: np.tanh,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
    sp.atan: np.arctan,
    sp.asinh: np.arcsinh,
    sp.acosh: np.arccosh,
    sp.atanh: np.arctanh,
    sp.atan2: np.arctan2,
    sp.Abs: abs,
    sp.sign: np.sign,
    sp.floor: np.floor,
    sp.ceiling: np.ceil,
    sp.erf: special.erf,
    sp.erfi: special.erfi,
    sp.erfinv: special.erfinv,
    sp.gamma: special.gamma,
    sp.loggamma: special.gammaln,
    sp.besselj: special.jv,
    sp.bessely: special.yv,
    sp.besseli: special.iv,
    sp.besselk: special.kv,
    sp.airyai: lambda x: special.airy(x)[0],
    sp.airyaiprime: lambda x: special.airy(x)[1],
    sp.airybi: lambda x: special.airy(x)[2],
    sp.airybiprime: lambda x: special.airy(x)[3],
    sp.elliptic_k: special.ellipk,
    sp.elliptic_e: special.ellipe,
    sp.zeta: special.zeta,
    sp.Ei: special.expi,
    sp.expint: special.expn,
    sp.fresnelc: lambda x: special.fresnel(x)[1],
    sp.fresnels: lambda x: special.fresnel(x)[0],
    sp.LambertW: lambda x: special.lambertw(x).real,
    sp.polylog: lambda n, x: special.spence(1 - x),
    sp.lowergamma: lambda a, x: special.gammainc(a, x) * special.gamma(a),
    sp.uppergamma: lambda a, x: special.gammaincc(a, x) * special.gamma(a),
    sp.betainc_regularized: lambda a, b, low, x: special.betainc(a, b, x),
    sp.polygamma: lambda n, x: special.polygamma(int(n), x),
    sp.Mod: lambda a, b: a % b,
    sp.Min: min,
    sp.Max: max,
}
NAMED = {"digamma": special.digamma, "trigamma": lambda x: special.polygamma(1, x)}
RELATIONS = {sp.Ge: "__ge__", sp.Gt: "__gt__", sp.Le: "__le__", sp.Lt: "__lt__", sp.Eq: "__eq__", sp.Ne: "__ne__"}


def value(array: Array, inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> np.ndarray:
    """The array at the inputs and sizes."""
    judge = Judge(inputs, sizes)
    shape = [int(judge.at(n, {})) for n in array.shape]
    out = np.zeros(shape)
    for place in itertools.product(*map(range, shape)):
        out[place] = judge.at(array.body, dict(zip(array.indices, place, strict=True)))
    return out


class Judge:
    """Evaluates expressions; remembers values by the indices that are free in them."""

    def __init__(self, inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.inputs = {name: np.asarray(v, dtype=float) for name, v in inputs.items()}
        self.sizes = sizes
        self.memo: dict[Any, float] = {}
        self.matrices: dict[Any, np.ndarray] = {}

    def at(self, node: Any, env: dict[Any, int]) -> float:
        """The value of a node where the indices have the values of `env`."""
        if isinstance(node, Index):
            return env[node]
        if not node.args or isinstance(node, Tensor):
            return self.leaf(node, env)
        names = tuple(sorted((n for n in node.free_symbols if n in env), key=str))
        key = (node, tuple((n, env[n]) for n in names))
        if key not in self.memo:
            self.memo[key] = self.compute(node, env)
        return self.memo[key]

    def leaf(self, node: Any, env: dict[Any, int]) -> float:
        if isinstance(node, Size):
            return self.sizes[node.name]
        if isinstance(node, MatrixTensor):
            return float(self.matrix(node))
        if isinstance(node, DefinedTensor):
            return self.at(node.body, env)
        if isinstance(node, Tensor):
            return float(self.inputs[node.name])
        return int(node) if node.is_Integer else float(node)

    def compute(self, node: Any, env: dict[Any, int]) -> float:
        kind = type(node)
        if kind is Element:
            return self.element(node, env)
        if isinstance(node, ArgMaxIndicator):
            found = [self.at(node.body, {**env, node.bound: n}) for n in range(int(self.at(node.bound.size, env)))]
            return float(int(np.argmax(found)) == self.at(node.value, env))
        if kind in (IndexSum, IndexProduct, IndexMax):
            found = [self.at(node.body, {**env, node.bound: n}) for n in range(int(self.at(node.bound.size, env)))]
            return {IndexSum: sum, IndexProduct: np.prod, IndexMax: max}[kind](found)
        if kind is Delta:
            return float(self.at(node.args[0], env) == self.at(node.args[1], env))
        if kind is Indicator:
            return float(self.holds(node.condition, env))
        if isinstance(node, sp.Add):
            return sum(self.at(a, env) for a in node.args)
        if isinstance(node, sp.Mul):
            first = sorted(node.args, key=lambda a: not is_flag(a))
            total = 1.0
            for a in first:
                total = total * self.at(a, env)
                if total == 0 and is_flag(a):
                    return 0.0
            return total
        if isinstance(node, sp.Pow):
            base, exponent = self.at(node.base, env), self.at(node.exp, env)
            if base == 0 and exponent < 0:
                return np.inf
            return float(base) ** exponent
        if kind in FUNCTIONS:
            return FUNCTIONS[kind](*(self.at(a, env) for a in node.args))
        if kind.__name__ in NAMED:
            return NAMED[kind.__name__](*(self.at(a, env) for a in node.args))
        return self.at(BY_FUNCTION[kind].definition(node.args[0]), env)

    def holds(self, condition: Any, env: dict[Any, int]) -> bool:
        if condition in (sp.true, sp.false):
            return bool(condition)
        left, right = (self.at(a, env) for a in condition.args)
        return bool(getattr(float(left), RELATIONS[type(condition)])(float(right)))

    def element(self, node: Any, env: dict[Any, int]) -> float:
        place = tuple(int(self.at(i, env)) for i in node.indices)
        tensor = node.tensor
        if isinstance(tensor, MatrixTensor):
            return float(self.matrix(tensor)[place])
        array = self.inputs[tensor.name]
        if not all(0 <= p < n for p, n in zip(place, array.shape, strict=True)):
            raise IndexError(f"{tensor.name}{place} outside of {array.shape}")
        return float(array[place])

    def matrix(self, tensor: MatrixTensor) -> np.ndarray:
        if tensor not in self.matrices:
            shape = [int(self.at(i.size, {})) for i in tensor.parameters]
            whole = np.zeros(shape)
            for place in itertools.product(*map(range, shape)):
                whole[place] = self.at(tensor.body, dict(zip(tensor.parameters, place, strict=True)))
            self.matrices[tensor] = np.linalg.inv(whole) if tensor.kind == "inv" else np.linalg.det(whole)
        return self.matrices[tensor]


def is_flag(node: Any) -> bool:
    """Whether a factor is 0 or 1 by its make."""
    if isinstance(node, Delta | Indicator):
        return True
    if isinstance(node, sp.Pow):
        return is_flag(node.base)
    if isinstance(node, sp.Add):
        return any(a == 1 for a in node.args) and node.atoms(Delta, Indicator) != set() and not node.has(Element)
    return False
