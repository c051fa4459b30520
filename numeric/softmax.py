"""Softmax, log-softmax and log-sum-exp along one axis, with their derivatives written by hand.

The elementwise relatives (sigmoid, softplus, log-sigmoid) are in ``activations.py``; the losses on top of softmax are
in ``cross_entropy.py`` and its neighbours. Logits lie in [−inf, inf): an entry of −inf has probability exactly 0.

A row that is −inf throughout has no softmax (0/0). What to do is said by ``masked_rows``: ``"error"`` (default),
``"zero"`` (every entry 0, the rule attention code uses for a fully masked query) or ``"nan"``. Its log-sum-exp is well
defined: the log of an empty sum, −inf.

All functions let complex input through, for the complex step.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, class_axis, number, option, real_array, same_shape, zero_times

MASKED_ROWS = ("error", "zero", "nan")


def logsumexp(z: ArrayLike, axis: int = -1, *, keepdims: bool = False) -> Array:
    """log Σ_j exp(z_j) along ``axis``; −inf where every entry is −inf.

    The largest entry m is taken out, and the rest enters through log1p, so that neither ±1000 overflows nor a small
    remainder is rounded away: m + log1p(Σ_{j ≠ argmax} exp(z_j − m)).

    Shapes: z [..., K, ...] -> [...] (``keepdims``: the axis stays with size 1). Domain: −inf <= z < inf, K >= 1.
    Raises: ValueError for NaN, +inf, a missing or empty axis.
    Source: Blanchard, Higham, Higham (2021), "Accurately computing the log-sum-exp and softmax functions".

    >>> bool(logsumexp([1000.0, 1000.0]) == 1000 + np.log(2))
    True
    >>> logsumexp(np.zeros((2, 3)), axis=0, keepdims=True).shape
    (1, 3)
    """
    array = real_array("logsumexp", "z", z, analytic=True, upper=False)
    axis = class_axis("logsumexp", "z", array, axis)
    largest, _, rest = _shifted(array, axis)
    result = largest + np.log1p(rest)
    return result if keepdims else np.squeeze(result, axis=axis)


def _shifted(z: Array, axis: int) -> tuple[Array, Array, Array]:
    """The largest entry m, z − m, and Σ exp(z − m) without that entry; all with the axis kept."""
    top = np.expand_dims(np.argmax(z.real, axis=axis), axis)
    largest = np.take_along_axis(z, top, axis=axis)
    shift = np.where(np.isneginf(largest.real), 0.0, largest)
    exponent = z - shift
    powers = np.exp(exponent)
    np.put_along_axis(powers, top, 0.0, axis=axis)
    return largest, exponent, np.sum(powers, axis=axis, keepdims=True)


def log_softmax(z: ArrayLike, axis: int = -1, *, temperature: float = 1.0, masked_rows: str = "error") -> Array:
    """z_i/τ − log Σ_j exp(z_j/τ) along ``axis``; −inf where z is −inf.

    Shapes: z [..., K, ...] -> the same. Domain: −inf <= z < inf, τ > 0, K >= 1. ``masked_rows="zero"`` gives −inf, the
    log of the zero that ``softmax`` gives.
    Raises: ValueError for NaN, +inf, an empty axis, τ <= 0, a row of −inf only (unless ``masked_rows`` says otherwise).
    Source: Goodfellow, Bengio, Courville (2016), "Deep Learning", eq. (6.30).

    >>> log_softmax([0.0, -1000.0])
    array([    0., -1000.])
    """
    array, axis = _logits("log_softmax", z, axis, temperature)
    masked = _masked("log_softmax", array, axis, masked_rows)
    _, exponent, rest = _shifted(array, axis)
    result = exponent - np.log1p(rest)
    return np.where(masked, np.nan, result) if masked_rows == "nan" else result


def softmax(z: ArrayLike, axis: int = -1, *, temperature: float = 1.0, masked_rows: str = "error") -> Array:
    """exp(z_i/τ) / Σ_j exp(z_j/τ) along ``axis``, with the largest entry subtracted first.

    Shapes: z [..., K, ...] -> the same. Domain: −inf <= z < inf, τ > 0, K >= 1.
    Raises: ValueError for NaN, +inf, an empty axis, τ <= 0, a row of −inf only (unless ``masked_rows`` says otherwise).
    Source: Bridle (1990); Goodfellow, Bengio, Courville (2016), "Deep Learning", eq. (6.29).

    >>> softmax([0.0, 0.0, -np.inf])
    array([0.5, 0.5, 0. ])
    >>> softmax([1000.0, 1000.0], temperature=2.0)
    array([0.5, 0.5])
    """
    array, axis = _logits("softmax", z, axis, temperature)
    masked = _masked("softmax", array, axis, masked_rows)
    _, exponent, rest = _shifted(array, axis)
    result = np.exp(exponent) / (1.0 + rest)
    return np.where(masked, np.nan, result) if masked_rows == "nan" else result


def _logits(function: str, z: ArrayLike, axis: int, temperature: float) -> tuple[Array, int]:
    array = real_array(function, "z", z, analytic=True, upper=False)
    axis = class_axis(function, "z", array, axis)
    tau = number(function, "temperature", temperature, low=0.0, open_low=True)
    if array.dtype.kind == "c":
        # Part by part: dividing −inf + 0i as a complex number makes its imaginary part a NaN.
        array.real /= tau
        array.imag /= tau
        return array, axis
    return array / tau, axis


def _masked(function: str, z: Array, axis: int, masked_rows: str) -> Array:
    option(function, "masked_rows", masked_rows, MASKED_ROWS)
    masked = np.all(np.isneginf(z.real), axis=axis, keepdims=True)
    if masked_rows == "error" and np.any(masked):
        row = tuple(int(i) for i in np.argwhere(np.squeeze(masked, axis=axis))[0])
        raise ValueError(
            f"{function}: row {row} of z (shape {z.shape}, axis {axis}) is -inf throughout, so its softmax is 0/0; "
            "pass masked_rows='zero' or 'nan' to choose a value"
        )
    return masked


def softmax_jacobian(z: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """∂p_i/∂z_j = (δ_ij p_i − p_i p_j)/τ for every row, the output index i first.

    The diagonal is formed as p_i Σ_{j≠i} p_j rather than p_i − p_i², which keeps its relative precision as p_i -> 1 and
    makes rows sum to 0.

    Shapes: z [..., K, ...] -> [..., K, K], the class axis moved to the end. Domain and errors as ``softmax``.
    Source: Bridle (1990), "Training stochastic model recognition algorithms ..."; matrix form diag(p) − p pᵀ.

    >>> softmax_jacobian([0.0, 0.0])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    p = np.moveaxis(softmax(z, axis, temperature=temperature), axis, -1)
    return _covariance(p) / temperature


def _covariance(p: Array) -> Array:
    """diag(p) − p pᵀ over the last axis, for Σp = 1."""
    size = p.shape[-1]
    matrix = -p[..., :, np.newaxis] * p[..., np.newaxis, :]
    diagonal = np.arange(size)
    matrix[..., diagonal, diagonal] = 0.0
    matrix[..., diagonal, diagonal] = -np.sum(matrix, axis=-1)
    return matrix


def softmax_rows_jacobian(z: ArrayLike) -> Array:
    """∂p_ni/∂z_mk of softmax along the rows of a matrix: the Jacobian of each row, and 0 between rows.

    Shapes: z [N, K] -> [N, K, N, K]. Domain and errors as ``softmax``.

    >>> bool(np.all(softmax_rows_jacobian([[0.0, 0.0], [0.0, 0.0]])[0, :, 1] == 0))
    True
    """
    rows = softmax_jacobian(z)
    return np.eye(len(rows))[:, np.newaxis, :, np.newaxis] * rows[:, :, np.newaxis, :]


def softmax_vjp(z: ArrayLike, cotangent: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """Σ_i g_i ∂p_i/∂z_j = p_j (g_j − Σ_i p_i g_i)/τ, without forming the Jacobian.

    Shapes: z, cotangent [..., K, ...] -> the same. Domain and errors as ``softmax``; shapes must be equal.
    Source: Dao et al. (2022), "FlashAttention", appendix B (row form).

    >>> softmax_vjp([0.0, 0.0], [1.0, 0.0])
    array([ 0.25, -0.25])
    """
    p = softmax(z, axis, temperature=temperature)
    g = _beside("softmax_vjp", "cotangent", cotangent, p)
    return p * (g - np.sum(p * g, axis=axis, keepdims=True)) / temperature


def softmax_jvp(z: ArrayLike, tangent: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """Σ_j ∂p_i/∂z_j t_j = p_i (t_i − Σ_j p_j t_j)/τ: the Jacobian is symmetric, so this has the form of the VJP.

    Shapes: z, tangent [..., K, ...] -> the same. Domain and errors as ``softmax``.

    >>> softmax_jvp([0.0, 0.0], [0.0, 4.0])
    array([-1.,  1.])
    """
    p = softmax(z, axis, temperature=temperature)
    t = _beside("softmax_jvp", "tangent", tangent, p)
    return p * (t - np.sum(p * t, axis=axis, keepdims=True)) / temperature


def softmax_temperature_derivative(z: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """∂p_i/∂τ = −p_i (z_i − Σ_j p_j z_j)/τ²; 0 where z is −inf.

    Shapes: z [..., K, ...] -> the same. Domain and errors as ``softmax``.
    Source: chain rule on the definition in Hinton, Vinyals, Dean (2015), eq. (1).

    >>> softmax_temperature_derivative([0.0, 0.0])
    array([0., 0.])
    """
    p = softmax(z, axis, temperature=temperature)
    finite = np.where(p == 0, 0.0, np.asarray(z))
    return -p * (finite - np.sum(p * finite, axis=axis, keepdims=True)) / temperature**2 + 0.0


def log_softmax_jacobian(z: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """∂ log p_i/∂z_j = (δ_ij − p_j)/τ for every row, the output index first.

    Shapes: z [..., K, ...] -> [..., K, K], the class axis moved to the end. Domain and errors as ``log_softmax``.

    >>> log_softmax_jacobian([0.0, 0.0])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    p = np.moveaxis(softmax(z, axis, temperature=temperature), axis, -1)
    return (np.eye(p.shape[-1]) - p[..., np.newaxis, :]) / temperature


def log_softmax_vjp(z: ArrayLike, cotangent: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """Σ_i g_i ∂ log p_i/∂z_j = (g_j − p_j Σ_i g_i)/τ.

    Shapes: z, cotangent [..., K, ...] -> the same. Domain and errors as ``log_softmax``.

    >>> log_softmax_vjp([0.0, 0.0], [1.0, 0.0])
    array([ 0.5, -0.5])
    """
    p = softmax(z, axis, temperature=temperature)
    g = _beside("log_softmax_vjp", "cotangent", cotangent, p)
    return (g - p * np.sum(g, axis=axis, keepdims=True)) / temperature


def log_softmax_jvp(z: ArrayLike, tangent: ArrayLike, axis: int = -1, *, temperature: float = 1.0) -> Array:
    """Σ_j ∂ log p_i/∂z_j t_j = (t_i − Σ_j p_j t_j)/τ.

    Shapes: z, tangent [..., K, ...] -> the same. Domain and errors as ``log_softmax``.

    >>> log_softmax_jvp([0.0, 0.0], [0.0, 4.0])
    array([-2.,  2.])
    """
    p = softmax(z, axis, temperature=temperature)
    t = _beside("log_softmax_jvp", "tangent", tangent, p)
    return (t - np.sum(p * t, axis=axis, keepdims=True)) / temperature


def logsumexp_gradient(z: ArrayLike, axis: int = -1) -> Array:
    """∂ logsumexp(z)/∂z_j = softmax(z)_j for every row.

    Shapes: z [..., K, ...] -> the same. Domain and errors as ``softmax``: no gradient at a row of −inf only.
    Source: Boyd, Vandenberghe (2004), "Convex Optimization", section 3.1.5.

    >>> logsumexp_gradient([0.0, 0.0])
    array([0.5, 0.5])
    """
    return softmax(z, axis)


def logsumexp_rows_gradient(z: ArrayLike) -> Array:
    """∂ logsumexp(z)_n/∂z_mk along the rows of a matrix. Shapes: z [N, K] -> [N, N, K]. Domain as ``softmax``.

    >>> logsumexp_rows_gradient([[0.0, 0.0], [0.0, 0.0]])[0]
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    rows = logsumexp_gradient(z)
    return np.eye(len(rows))[:, :, np.newaxis] * rows[:, np.newaxis, :]


def logsumexp_vjp(z: ArrayLike, cotangent: ArrayLike, axis: int = -1) -> Array:
    """g · softmax(z)_j: each row's gradient times its cotangent.

    Shapes: z [..., K, ...], cotangent [...] (the axis removed) -> the shape of z. Domain and errors as ``softmax``.

    >>> logsumexp_vjp([[0.0, 0.0], [0.0, -np.inf]], [1.0, 2.0])
    array([[0.5, 0.5],
           [2. , 0. ]])
    """
    p = softmax(z, axis)
    g = _beside("logsumexp_vjp", "cotangent", cotangent, np.take(p, 0, axis=axis))
    return np.expand_dims(g, axis % p.ndim) * p


def logsumexp_hessian(z: ArrayLike, axis: int = -1) -> Array:
    """∂² logsumexp(z)/∂z_i∂z_j = δ_ij p_i − p_i p_j with p = softmax(z), for every row.

    Shapes: z [..., K, ...] -> [..., K, K], the class axis moved to the end. Domain and errors as ``softmax``.
    Source: Boyd, Vandenberghe (2004), section 3.1.5.

    >>> logsumexp_hessian([0.0, 0.0])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    return _covariance(np.moveaxis(softmax(z, axis), axis, -1))


def covariance_quadratic_form(p: ArrayLike, v: ArrayLike, axis: int = -1) -> Array:
    """vᵀ (diag(p) − p pᵀ) v as the variance Σ_i p_i (v_i − Σ_j p_j v_j)², which shows that it is never negative.

    Shapes: p, v [..., K, ...] -> [...]. Domain: p >= 0 with sum 1 along the axis, v finite.
    Raises: ValueError for unequal shapes, negative p, or a sum that is not 1.

    >>> float(covariance_quadratic_form([0.5, 0.5], [1.0, 3.0]))
    1.0
    """
    weights = real_array("covariance_quadratic_form", "p", p)
    axis = class_axis("covariance_quadratic_form", "p", weights, axis)
    vector = _beside("covariance_quadratic_form", "v", v, weights)
    total = np.sum(weights, axis=axis)
    if np.any(weights < 0) or np.any(np.abs(total - 1) > 1e-9):
        raise ValueError(f"covariance_quadratic_form: need p >= 0 with sum 1 along axis {axis}, sums are {total}")
    centred = vector - np.sum(zero_times(weights, vector), axis=axis, keepdims=True)
    return np.sum(weights * centred**2, axis=axis)


def _beside(function: str, name: str, value: ArrayLike, like: Array) -> Array:
    array = real_array(function, name, value, analytic=True, finite=True)
    same_shape(function, "the output", like, name, array)
    return array
