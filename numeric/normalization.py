"""LayerNorm, RMSNorm, BatchNorm (training) and GroupNorm: forward and backward in their compact forms.

All but RMSNorm are one thing: over a set of axes, x̂ = (x − mean x) r with r = 1/√(var x + ε), var the biased
variance, then γ x̂ + β; with ĝ = g ⊙ γ the backward is dx = r ⊙ (ĝ − mean ĝ − x̂ ⊙ mean(ĝ ⊙ x̂)). They differ in the
axes: the last one; all but the channel axis; a group of channels and everything behind them. RMSNorm does not centre.

ε >= 0 lies under the root, added to the variance. Where variance + ε is 0 there is no answer, and that is an error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import Array, ArrayLike, number, real_array, same_shape


class NormGradient(NamedTuple):
    """Cotangents of x, γ and β."""

    x: Array
    gamma: Array
    beta: Array


class RMSNormGradient(NamedTuple):
    """Cotangents of x and γ."""

    x: Array
    gamma: Array


def layer_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, *, eps: float = 1e-5) -> Array:
    """γ (x − mean)/√(var + ε) + β over the last axis.

    Shapes: x [..., d], gamma, beta [d] -> the shape of x. Domain: ε >= 0, d >= 1.
    Raises: ValueError for shapes that do not agree, NaN, ε < 0, a row without variance when ε = 0.
    Source: Ba, Kiros, Hinton (2016), "Layer Normalization", eq. (3) and (4).

    >>> layer_norm([1.0, 3.0], [1.0, 1.0], [0.0, 10.0], eps=0.0)
    array([-1., 11.])
    """
    array, scale, shift = _arguments("layer_norm", x, gamma, beta, -1)
    return scale * _centred("layer_norm", array, (-1,), eps)[0] + shift


def layer_norm_vjp(x: ArrayLike, gamma: ArrayLike, cotangent: ArrayLike, *, eps: float = 1e-5) -> NormGradient:
    """dx = r ⊙ (ĝ − mean ĝ − x̂ ⊙ mean(ĝ ⊙ x̂)), dγ = Σ g ⊙ x̂, dβ = Σ g, the sums over all leading axes.

    Shapes: x, cotangent [..., d], gamma [d]. Domain and errors as :func:`layer_norm`.

    >>> layer_norm_vjp([1.0, 3.0], [1.0, 1.0], [1.0, 2.0], eps=0.0).gamma
    array([-1.,  2.])
    """
    array, scale, _ = _arguments("layer_norm_vjp", x, gamma, gamma, -1)
    g = _cotangent("layer_norm_vjp", cotangent, array)
    normal, r = _centred("layer_norm_vjp", array, (-1,), eps)
    leading = tuple(range(array.ndim - 1))
    return NormGradient(
        x=_centred_vjp(normal, r, g * scale, (-1,)),
        gamma=np.sum(g * normal, axis=leading),
        beta=np.sum(g, axis=leading),
    )


def rms_norm(x: ArrayLike, gamma: ArrayLike, *, eps: float = 1e-6) -> Array:
    """γ x/√(mean(x²) + ε) over the last axis.

    Shapes: x [..., d], gamma [d] -> the shape of x. Domain and errors as :func:`layer_norm`; a row of zeros needs ε >
    0.
    Source: Zhang, Sennrich (2019), "Root Mean Square Layer Normalization", eq. (4).

    >>> rms_norm([3.0, -3.0], [1.0, 2.0], eps=0.0)
    array([ 1., -2.])
    """
    array, scale, _ = _arguments("rms_norm", x, gamma, gamma, -1)
    return scale * _scaled("rms_norm", array, eps)[0]


def rms_norm_vjp(x: ArrayLike, gamma: ArrayLike, cotangent: ArrayLike, *, eps: float = 1e-6) -> RMSNormGradient:
    """dx = r ⊙ (ĝ − x̂ ⊙ mean(ĝ ⊙ x̂)) with r = 1/√(mean(x²) + ε); dγ = Σ g ⊙ x̂ over all leading axes.

    Shapes: x, cotangent [..., d], gamma [d]. Domain and errors as :func:`rms_norm`.

    >>> rms_norm_vjp([3.0, -3.0], [1.0, 1.0], [1.0, 2.0], eps=0.0).x
    array([0.5, 0.5])
    """
    array, scale, _ = _arguments("rms_norm_vjp", x, gamma, gamma, -1)
    g = _cotangent("rms_norm_vjp", cotangent, array)
    normal, r = _scaled("rms_norm_vjp", array, eps)
    weighted = g * scale
    along = np.mean(weighted * normal, axis=-1, keepdims=True)
    return RMSNormGradient(
        x=r * (weighted - normal * along), gamma=np.sum(g * normal, axis=tuple(range(array.ndim - 1)))
    )


def batch_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, *, eps: float = 1e-5, axis: int = 1) -> Array:
    """γ_c (x − mean_c)/√(var_c + ε) + β_c with the statistics of this batch, over every axis but the channel's.

    Shapes: x [N, C, ...] (channels on ``axis``), gamma, beta [C] -> the shape of x. Domain and errors as
    :func:`layer_norm`. Source: Ioffe, Szegedy (2015), "Batch Normalization", algorithm 1.

    >>> batch_norm([[1.0], [3.0]], [2.0], [0.0], eps=0.0)
    array([[-2.],
           [ 2.]])
    """
    array, scale, shift = _arguments("batch_norm", x, gamma, beta, axis)
    others = _other_axes(array, axis)
    return _along(scale, array, axis) * _centred("batch_norm", array, others, eps)[0] + _along(shift, array, axis)


def batch_norm_vjp(
    x: ArrayLike, gamma: ArrayLike, cotangent: ArrayLike, *, eps: float = 1e-5, axis: int = 1
) -> NormGradient:
    """As :func:`layer_norm_vjp`, means over every axis but the channel's: the statistics depend on x too.

    Shapes: x, cotangent [N, C, ...], gamma [C]. Domain and errors as :func:`batch_norm`.
    Source: Ioffe, Szegedy (2015), section 3.

    >>> batch_norm_vjp([[1.0], [3.0]], [2.0], [[1.0], [5.0]], eps=0.0).beta
    array([6.])
    """
    array, scale, _ = _arguments("batch_norm_vjp", x, gamma, gamma, axis)
    g = _cotangent("batch_norm_vjp", cotangent, array)
    others = _other_axes(array, axis)
    normal, r = _centred("batch_norm_vjp", array, others, eps)
    return NormGradient(
        x=_centred_vjp(normal, r, g * _along(scale, array, axis), others),
        gamma=np.sum(g * normal, axis=others),
        beta=np.sum(g, axis=others),
    )


def group_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, groups: int, *, eps: float = 1e-5) -> Array:
    """γ_c x̂ + β_c, x̂ normalised over each sample's group of C/groups neighbouring channels and all places.

    Shapes: x [N, C, ...], gamma, beta [C] -> the shape of x. Domain: groups divides C.
    Raises: as :func:`layer_norm`, and ValueError naming C and ``groups`` when it does not divide.
    Source: Wu, He (2018), "Group Normalization", eq. (1), (2), (6) and (7).

    >>> group_norm([[1.0, 3.0, 5.0, 9.0]], np.ones(4), np.zeros(4), 2, eps=0.0)
    array([[-1.,  1., -1.,  1.]])
    """
    array, scale, shift = _arguments("group_norm", x, gamma, beta, 1)
    grouped, axes = _groups("group_norm", array, groups)
    normal = _centred("group_norm", grouped, axes, eps)[0].reshape(array.shape)
    return _along(scale, array, 1) * normal + _along(shift, array, 1)


def group_norm_vjp(
    x: ArrayLike, gamma: ArrayLike, cotangent: ArrayLike, groups: int, *, eps: float = 1e-5
) -> NormGradient:
    """As :func:`layer_norm_vjp`, means over the group; dγ and dβ sum over samples and places.

    Shapes: x, cotangent [N, C, ...], gamma [C]. Domain and errors as :func:`group_norm`.

    >>> group_norm_vjp([[1.0, 3.0, 5.0, 9.0]], np.ones(4), [[1.0, 2.0, 3.0, 4.0]], 2, eps=0.0).gamma
    array([-1.,  2., -3.,  4.])
    """
    array, scale, _ = _arguments("group_norm_vjp", x, gamma, gamma, 1)
    g = _cotangent("group_norm_vjp", cotangent, array)
    grouped, axes = _groups("group_norm_vjp", array, groups)
    normal, r = _centred("group_norm_vjp", grouped, axes, eps)
    weighted = (g * _along(scale, array, 1)).reshape(grouped.shape)
    others = _other_axes(array, 1)
    return NormGradient(
        x=_centred_vjp(normal, r, weighted, axes).reshape(array.shape),
        gamma=np.sum(g * normal.reshape(array.shape), axis=others),
        beta=np.sum(g, axis=others),
    )


def _centred(function: str, x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """x̂ and r over ``axes``, r with those axes kept."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    r = _inverse_root(function, np.mean(centred**2, axis=axes, keepdims=True), eps)
    return centred * r, r


def _centred_vjp(normal: Array, r: Array, g: Array, axes: tuple[int, ...]) -> Array:
    along = np.mean(g * normal, axis=axes, keepdims=True)
    return r * (g - np.mean(g, axis=axes, keepdims=True) - normal * along)


def _scaled(function: str, x: Array, eps: float) -> tuple[Array, Array]:
    r = _inverse_root(function, np.mean(x**2, axis=-1, keepdims=True), eps)
    return x * r, r


def _inverse_root(function: str, spread: Array, eps: float) -> Array:
    under = spread + number(function, "eps", eps, low=0.0)
    if np.any(under == 0):
        raise ValueError(f"{function}: a row has no spread and eps = 0, so it is divided by 0; give eps > 0")
    return 1.0 / np.sqrt(under)


def _arguments(function: str, x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, axis: int) -> tuple[Array, Array, Array]:
    array = real_array(function, "x", x, analytic=True, finite=True)
    scale = real_array(function, "gamma", gamma, analytic=True, finite=True)
    shift = real_array(function, "beta", beta, analytic=True, finite=True)
    if not -array.ndim <= axis < array.ndim or array.size == 0:
        raise ValueError(f"{function}: x has shape {array.shape}; need axis {axis} and at least one entry")
    size = array.shape[axis]
    for name, value in (("gamma", scale), ("beta", shift)):
        if value.shape != (size,):
            raise ValueError(
                f"{function}: {name} has shape {value.shape}, but x of shape {array.shape} needs ({size},)"
            )
    return array, scale, shift


def _cotangent(function: str, cotangent: ArrayLike, x: Array) -> Array:
    g = real_array(function, "cotangent", cotangent, analytic=True, finite=True)
    same_shape(function, "x", x, "cotangent", g)
    return g


def _other_axes(x: Array, axis: int) -> tuple[int, ...]:
    return tuple(a for a in range(x.ndim) if a != axis % x.ndim)


def _along(vector: Array, x: Array, axis: int) -> Array:
    shape = [1] * x.ndim
    shape[axis] = len(vector)
    return vector.reshape(shape)


def _groups(function: str, x: Array, groups: int) -> tuple[Array, tuple[int, ...]]:
    channels = x.shape[1]
    if groups < 1 or channels % groups:
        raise ValueError(f"{function}: {groups} groups do not divide C = {channels} channels (x has shape {x.shape})")
    grouped = x.reshape(x.shape[0], groups, channels // groups, *x.shape[2:])
    return grouped, tuple(range(2, grouped.ndim))
