"""Loops over symbolic sizes, branches and comprehensions."""

import numpy as np
import pytest

from .comparing import agree

CASES = []


def case(shapes, **options):
    """Enter a function with the shapes of its arguments."""

    def entered(function):
        CASES.append(pytest.param(function, shapes, options, id=function.__name__))
        return function

    return entered


@case({"x": "K", "g": "K"})
def double_loop(x, g):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            out[j] += x[i] * ((1.0 if i == j else 0.0) - x[j]) * g[i]
    return out


@case({"x": "N,K"})
def running_number(x):
    total = 0.0
    product = 1
    for i in range(x.shape[0]):
        total += x[i, 0] ** 2
        product = product * (2 + x[i, 1])
    return total / x.shape[0] + product


@case({"x": "N,K", "w": "K"})
def rows_written(x, w):
    out = np.empty(x.shape)
    for n in range(x.shape[0]):
        row = x[n] - x[n].mean()
        out[n] = row * w
        out[n, 0] = n
    return out


@case({"x": "N,K"})
def triangle_loop(x):
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i + 1):
            out[i, j] = x[i] @ x[j]
    return out


@case({"x": "N,K"})
def later_turns_win(x):
    out = np.zeros(x.shape[1])
    last = 0.0
    for i in range(len(x)):
        out[:] = x[i]
        last = x[i, 0]
    return out + last


@case({"x": "V", "s": "L", "i": "L"}, i="index<V", sizes=((2, 5), (3, 4)))
def repeated_places(x, s, i):
    out = x * 1.0
    for k in range(len(i)):
        out[i[k]] = s[k]
    return out


@case({"g": "N,P", "w": "K"}, sizes=((2, 3, 4), (4, 2, 3)))
def windows_added(g, w):
    K = len(w)
    out = np.zeros((g.shape[0], g.shape[1] + K - 1))
    for p in range(g.shape[1]):
        out[:, p : p + K] += g[:, p][:, None] * w
    return out


@case({"x": "N,K"})
def comprehensions(x):
    rows = np.array([r.sum() for r in x])
    return rows + sum(x[i, 0] for i in range(len(x))) + np.stack([x[:, j] ** 2 for j in range(x.shape[1])]).sum(axis=0)


@case({"x": "N,K"})
def appended(x):
    rows = []
    for i, row in enumerate(x):
        rows.append(row * i)
    return np.array(rows)


@case({"x": "N,K", "y": "N,K"})
def zipped(x, y):
    total = np.zeros(x.shape[1])
    for a, b in zip(x, y):  # noqa: B905
        total += a * b
    return total


@case({"x": "N,K"})
def branch_in_a_loop(x):
    out = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        if x[i, 0] > x[i, 1]:
            out[i] = 1.0
            s += x[i, 0]
        else:
            s -= 1
    return out + s


@case({"x": "N,N"})
def upper_part(x):
    out = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n):
            if (i < j and not i == 0) or j == 1:  # noqa: SIM201  (the operator is what is tested)
                out[i, j] = 0.0
    return out


@case({"x": "N,K"})
def backwards(x):
    out = np.zeros_like(x)
    for i in reversed(range(len(x))):
        out[i] += x[len(x) - 1 - i]
    for j in range(x.shape[1] - 1, -1, -1):
        out[:, j] += j
    return out


@case({"x": "N,3"})
def a_number_of_turns(x):
    total = x[:, 0]
    for k in range(1, 3):
        total = total * x[:, k] + k
    for column in (0, 1):
        if column == 1:
            break
        total = total + x[:, column]
    return total


@pytest.mark.parametrize(("function", "shapes", "options"), CASES)
def test_loops_are_read_as_numpy_computes(function, shapes, options):
    agree(function, shapes, **options)
