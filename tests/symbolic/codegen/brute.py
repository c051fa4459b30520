"""The judge of the generated code: index expressions evaluated by their meaning, one element at a time, with loops.

Shares nothing with the package's code generation: numbers are mpmath's with any number of digits (so e^1000 is one),
every index runs through its values in a Python loop.
"""

import itertools

import mpmath
import numpy as np
import sympy as sp

from lemmata.symbolic.language import nodes
from lemmata.symbolic.language.operations import BY_FUNCTION


def evaluate(expression, indices, arrays, sizes, digits=40):
    """The array of an expression: one axis an index, in order."""
    shape = [number(i.size, {}, arrays, sizes) for i in indices]
    result = np.zeros([int(n) for n in shape])
    with mpmath.workdps(digits):
        for place in itertools.product(*(range(int(n)) for n in shape)):
            result[place] = float(number(expression, dict(zip(indices, place, strict=True)), arrays, sizes))
    return result


def number(e, env, arrays, sizes):
    def at(x, more=()):
        return number(x, {**env, **dict(more)}, arrays, sizes)

    def over(x):
        return range(int(at(x.bound.size)))

    if e in env:
        return env[e]
    if isinstance(e, nodes.DefinedTensor):
        return at(e.body)
    if isinstance(e, nodes.Element):
        places = [int(at(i)) for i in e.indices]
        if isinstance(e.tensor, nodes.DefinedTensor):
            return at(e.tensor.body, zip(e.tensor.parameters, places, strict=True))
        lengths = arrays[e.tensor.name].shape
        if any(not 0 <= p < n for p, n in zip(places, lengths, strict=True)):
            return mpmath.mpf(0)  # outside the array: only ever under a 0
        return mpmath.mpf(float(arrays[e.tensor.name][tuple(places)]))
    if isinstance(e, sp.Symbol):
        return sizes[e.name] if e.name in sizes else mpmath.mpf(float(arrays[e.name]))
    if isinstance(e, nodes.IndexSum):
        return mpmath.fsum(at(e.body, [(e.bound, n)]) for n in over(e))
    if isinstance(e, nodes.IndexMax):
        return max(at(e.body, [(e.bound, n)]) for n in over(e))
    if isinstance(e, nodes.IndexProduct):
        return mpmath.fprod(at(e.body, [(e.bound, n)]) for n in over(e))
    if isinstance(e, nodes.ArgMaxIndicator):
        values = [at(e.body, [(e.bound, n)]) for n in over(e)]
        return int(values.index(max(values)) == int(at(e.value)))
    if isinstance(e, nodes.Delta):
        return int(at(e.args[0]) == at(e.args[1]))
    if isinstance(e, nodes.Indicator):
        return int(truth(e.condition, at))
    if isinstance(e, sp.Add):
        return mpmath.fsum(at(a) for a in e.args)
    if isinstance(e, sp.Mul):
        parts = [at(a) for a in e.args]
        return mpmath.mpf(0) if 0 in parts else mpmath.fprod(parts)
    if isinstance(e, sp.Pow):
        return mpmath.mpf(at(e.base)) ** at(e.exp)
    if isinstance(e, sp.Rational):
        return mpmath.mpf(int(e.p)) / int(e.q)
    if isinstance(e, sp.NumberSymbol):
        return mpmath.mpf(sp.N(e, 60))
    row = BY_FUNCTION.get(e.func)
    if row is not None and row.definition is not None:
        x = nodes.Tensor("the argument")
        return number(row.definition(x), {**env, x: at(e.args[0])}, arrays, sizes)
    if row is not None and row.name in SPECIAL:
        return mpmath.re(SPECIAL[row.name](*map(at, e.args)))
    return getattr(mpmath, {"Abs": "fabs"}.get(e.func.__name__, e.func.__name__))(*map(at, e.args))


SPECIAL = {
    "trigamma": lambda x: mpmath.psi(1, x),
    "polygamma": lambda n, x: mpmath.psi(int(n), x),
    "lowergamma": lambda a, x: mpmath.gammainc(a, 0, x),
    "uppergamma": lambda a, x: mpmath.gammainc(a, x),
    "betainc": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
    "owens_t": lambda h, a: mpmath.quad(lambda t: mpmath.exp(-(h**2) * (1 + t**2) / 2) / (1 + t**2), [0, a])
    / (2 * mpmath.pi),
    "expi": mpmath.ei,
    "lambertw": mpmath.lambertw,
    "ellipk": mpmath.ellipk,
    "ellipe": mpmath.ellipe,
    "airyaiprime": lambda x: mpmath.airyai(x, derivative=1),
    "airybiprime": lambda x: mpmath.airybi(x, derivative=1),
    "sinint": mpmath.si,
    "cosint": mpmath.ci,
    "sinhint": mpmath.shi,
    "coshint": mpmath.chi,
    "ceil": mpmath.ceil,
}


def truth(c, at):
    if isinstance(c, sp.And):
        return all(truth(a, at) for a in c.args)
    if isinstance(c, sp.Or):
        return any(truth(a, at) for a in c.args)
    if isinstance(c, sp.Not):
        return not truth(c.args[0], at)
    left, right = at(c.lhs), at(c.rhs)
    return {
        sp.Ge: left >= right,
        sp.Gt: left > right,
        sp.Le: left <= right,
        sp.Lt: left < right,
        sp.Eq: left == right,
        sp.Ne: left != right,
    }[type(c)]
