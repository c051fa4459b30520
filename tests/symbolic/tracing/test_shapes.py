"""Shapes, reductions, contractions and indexing are read as NumPy computes them."""

import numpy as np
import pytest

from lemmata.symbolic.language.arrays import array
from lemmata.symbolic.tracing import trace

from .comparing import agree

CASES = []


def case(shapes, **options):
    """Enter a function with the shapes of its arguments."""

    def entered(function):
        CASES.append(pytest.param(function, shapes, options, id=function.__name__))
        return function

    return entered


@case({"x": "N,K"})
def reductions(x):
    return (
        x.mean(axis=0)
        + x.sum(0) * np.max(x, axis=0)
        - x.min(axis=-2)
        + np.prod(x, axis=0)
        + x.std(0)
        + np.var(x, axis=0)
    )


@case({"x": "N,K,M"})
def reductions_over_several_axes(x):
    return np.sum(x, axis=(0, -1), keepdims=True) + x.mean() + np.mean(x, axis=(1, 2), keepdims=True)


@case({"x": "N,K"}, sizes=((3, 2), (4, 5)))
def corrected(x):
    return x.var(axis=0, ddof=1) + np.std(x, axis=0, ddof=1) + np.linalg.norm(x, axis=0) + np.linalg.norm(x, 1, axis=0)


@case({"x": "N,K"})
def norms(x):
    return (
        np.linalg.norm(x)
        + np.linalg.norm(x, np.inf)
        + np.linalg.norm(x, 1)
        + np.linalg.norm(x[0], 3)
        + np.linalg.norm(x[0], np.inf)
    )


@case({"x": "N,K"})
def scans(x):
    return np.cumsum(x, axis=1) + np.flip(np.cumprod(x, axis=1), 1) + np.cumsum(x, axis=0)[::-1]


@case({"x": "N,K"})
def flattened_scan(x):
    return np.cumsum(x)


@case({"x": "N,G*D"}, integers=("G",))
def split_and_merge(x, G):
    n, c = x.shape
    y = x.reshape(n, G, -1)
    z = (y - y.mean(axis=2, keepdims=True)).transpose(1, 0, 2)
    return z.transpose(1, 0, 2).reshape(n, c) * np.arange(c)


@case({"x": "N,G,D"})
def merged_and_reduced(x):
    return x.reshape(x.shape[0], -1).max(axis=1) + x.reshape(-1, x.shape[2]).sum(axis=0).mean()


@case({"x": "N,K,M"})
def ravelled(x):
    return x.ravel() * x.flatten() + x.swapaxes(0, 2).reshape(-1)


@case({"x": "N,K", "y": "N,M"})
def joined(x, y):
    return np.concatenate([x, 2 * y, x[:, :1]], axis=1) + np.hstack([x, y, y[:, :1]])[:, ::-1]


@case({"x": "N,K", "y": "N,K"})
def stacked(x, y):
    return np.stack([x, y, x * y], axis=1) - np.array([1.0, 2.0, 3.0])[:, None] + np.vstack([x, y]).sum()


@case({"x": "N,2*H"})
def halves(x):
    h = x.shape[1] // 2
    a, b = x[:, :h], x[:, h:]
    c, d = np.split(x, 2, axis=1)
    return a / (1 + np.exp(-b)) + c * d - x[:, 0::2] * x[:, 1::2]


@case({"x": "K"}, sizes=((4,), (2,), (6,)))
def neighbours(x):
    return np.concatenate([x[1:] - x[:-1], x[-1:], np.diff(x), [x[-1] - x[0]]])


@case({"x": "N,K"})
def moved(x):
    return np.roll(x, 2, axis=1) + np.roll(x, -1, axis=0) + np.flip(x) + np.roll(x, 3) + x[::-1, ::-1]


@case({"x": "N,K"})
def repeated(x):
    return np.repeat(x, 3, axis=1) + np.tile(x, (1, 3)) + np.repeat(x.reshape(-1), 3).reshape(x.shape[0], -1)


@case({"x": "N,K"})
def padded(x):
    return np.pad(x, ((1, 0), (0, 2))) + np.pad(x, ((0, 1), (1, 1)), constant_values=3.0)


@case({"x": "N,N", "y": "N,N+2"})
def triangles_and_diagonals(x, y):
    return (
        np.tril(x)
        + np.triu(x, 1).T
        + np.diag(np.diag(x))
        + np.eye(len(x)) * np.trace(x)
        + np.tril(x, -1)
        + np.diag(y).sum()
        + np.trace(y, 1)
    )


@case({"a": "N,K", "b": "K,M", "c": "M"})
def products(a, b, c):
    return (
        a @ b @ c
        + np.dot(a, b).dot(c)
        + np.einsum("nk,km,m->n", a, b, c)
        + np.tensordot(a, b, 1) @ c
        + np.inner(a @ b, c)
    )


@case({"a": "B,N,K", "b": "B,K,M"})
def batched(a, b):
    return np.einsum("...nk,...km->...mn", a, b) + np.swapaxes(a @ b, 1, 2) + np.matmul(a, b).transpose(0, 2, 1)


@case({"a": "N,K", "b": "M,L"})
def kronecker(a, b):
    return np.kron(a, b) + np.outer(a, b).sum() + np.multiply.outer(a[0], b[0]).sum()


@case({"z": "N,K", "t": "N"}, t="index<K")
def hard_labels(z, t):
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    p[np.arange(len(t)), t] -= 1
    q = np.zeros_like(z)
    q[np.arange(z.shape[0]), t] = 0.25
    return p / len(t) + q + z[np.arange(len(t)), t][:, None]


@case({"W": "V,C", "i": "B,T", "g": "B,T,C"}, i="index<V")
def embedding(W, i, g):
    out = np.zeros_like(W)
    np.add.at(out, i, g * W[i])
    return out


@case({"x": "N,K", "i": "N,L", "g": "N,L"}, i="index<K")
def gathered(x, i, g):
    out = np.zeros_like(x)
    np.add.at(out, (np.arange(x.shape[0])[:, None], i), g * np.take_along_axis(x, i, axis=1))
    return out + np.take(x, i[:, 0], axis=1).sum()


@case({"x": "V", "s": "L", "i": "L"}, i="index<V", sizes=((2, 5), (3, 4)))
def the_last_write_wins(x, s, i):
    out = x.copy()
    out[i] = s
    more = x.copy()
    more[i] += s
    return out + 10 * more


@case({"x": "N,K", "y": "N,K"})
def masked_writes(x, y):
    z = x * 1.0
    z[y > 0] = 0
    z[z < -0.2] *= 2
    z[~(x > 1)] += 1
    return z + x[y > 0].sum() + x[x > -9].mean()


@case({"x": "N,K"})
def writes_through_views(x):
    z = np.zeros((x.shape[0], x.shape[1]))
    row = z[0]
    row += 5
    z.T[1] = 7
    z[:, 0::2] += x[:, 0::2]
    flat = z.reshape(-1)
    flat[1] = -3
    w = z[1:]
    z[-1, -1] = 4
    return z + w.sum()


@case({"x": "K"})
def place_of_the_largest(x):
    out = np.zeros(len(x))
    out[np.argmax(x)] = 2.0
    return out + x[np.argmax(x)] + x[x.argmin()]


@case({"x": "N,K"})
def new_axes(x):
    d = x[:, None, :] - x[None, ...]
    return (
        np.sqrt(np.sum(d**2, axis=2) + 1)
        + np.expand_dims(x[:, 0], 1)
        + np.squeeze(x[:, :1].T)[None]
        + np.broadcast_to(x[0, 0], (1, 1))
    )


@case({"x": "N,K"})
def created(x):
    n, k = x.shape
    grid = np.arange(n)[:, None] + np.linspace(0.0, 1.0, 3).sum() * np.ones((n, k)) + np.full((n, k), 1 / k)
    return (
        grid
        + np.arange(1, k + 1)
        + (np.arange(k)[None, :] == np.arange(n)[:, None])
        + np.tri(n, k)
        + np.empty_like(x) * 0
    )


@case({"x": "N,2*D"})
def rotary(x):
    t, d2 = x.shape
    d = d2 // 2
    angle = np.arange(t)[:, None] * 10000.0 ** (-np.arange(d) / d)[None, :]
    out = np.zeros_like(x)
    out[:, 0::2] = x[:, 0::2] * np.cos(angle) - x[:, 1::2] * np.sin(angle)
    out[:, 1::2] = x[:, 1::2] * np.cos(angle) + x[:, 0::2] * np.sin(angle)
    return out


@case({"A": "N,N", "b": "N,M"})
def linear_algebra(A, b):
    s = A @ A.T + np.eye(len(A))
    sign, logdet = np.linalg.slogdet(s)
    return (
        np.linalg.solve(s, b)
        + (np.linalg.inv(s.T) @ b) * np.linalg.det(A)
        + sign * logdet
        + np.linalg.matrix_power(A, 2) @ b
    )


@case({"x": "B,T,3*H*D"}, integers=("H",), sizes=((2, 3, 2, 2), (1, 4, 2, 3)))
def attention_heads(x, H):
    B, T, C3 = x.shape
    C = C3 // 3
    q, k, v = [x[:, :, i * C : (i + 1) * C].reshape(B, T, H, -1).transpose(0, 2, 1, 3) for i in range(3)]
    s = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(C // H)
    w = np.exp(s) * np.tril(np.ones((T, T)))
    w = w / np.sum(w, axis=-1, keepdims=True)
    return (w @ v).transpose(0, 2, 1, 3).reshape(B, T, C)


@case({"x": "N,C,L", "w": "F,C,K"}, sizes=((2, 3, 5, 4, 2), (1, 2, 6, 3, 4)))
def convolution(x, w):
    K = w.shape[2]
    P = x.shape[2] - K + 1
    windows = np.stack([x[:, :, p : p + K] for p in range(P)], axis=2)
    return np.einsum("ncpk,fck->nfp", windows, w)


@pytest.mark.parametrize(("function", "shapes", "options"), CASES)
def test_shapes_are_read_as_numpy_computes(function, shapes, options):
    agree(function, shapes, **options)


TAMPERED = [
    pytest.param(lambda x: np.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=0), id="axis"),
    pytest.param(lambda x: x[:, ::-1], lambda x: x[::-1], id="flip"),
    pytest.param(lambda x: np.roll(x, 2, axis=1), lambda x: np.roll(x, -2, axis=1), id="roll"),
    pytest.param(lambda x: np.tril(x), lambda x: np.tril(x, -1), id="triangle"),
    pytest.param(lambda x: x.mean(0), lambda x: x.mean(0) * (1 + 9e-4), id="factor"),
]


@pytest.mark.parametrize(("read", "run"), TAMPERED)
def test_the_comparison_sees_a_difference(read, run):
    """What is read as one function and run as another is told apart."""

    def swapped(**arguments):
        return run(**arguments)

    from . import comparing

    original = comparing.trace
    try:
        comparing.trace = lambda function, given: original(read, given)
        with pytest.raises(AssertionError):
            agree(swapped, {"x": "N,K"})
    finally:
        comparing.trace = original


def test_what_reading_takes_for_granted_is_told():
    assumed = []
    trace(lambda x: x[1:] - x[:-1], {"x": array("x", "K")}, assumed)
    assert [str(a) for a in assumed] == ["K - 2"]
