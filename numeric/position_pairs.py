"""Positions as pairs of columns at any frequencies: encodings, their shift, rotary embedding, as complex numbers.

``positional_encoding`` and ``rotary`` choose the frequencies and lay the pairs out in a row of width d = 2h; here the
frequencies are given and a vector is h pairs [h, 2]. A pair (a, b) is the number a + bi and a turn by θ is a product
with e^{iθ}, so no matrix of cosines and sines is written down.
"""

from __future__ import annotations

import numpy as np

from .arguments import Array, ArrayLike, real_array


def encoding_pairs(position: ArrayLike, frequencies: ArrayLike, *, cosine_first: bool = False) -> Array:
    """(sin pos ω_i, cos pos ω_i) for every frequency, or the cosine first.

    Shapes: position scalar, frequencies [h] -> [h, 2]. Domain: finite. Source: Vaswani et al. (2017), section 3.5.

    >>> encoding_pairs(0.0, [1.0, 0.1])
    array([[0., 1.],
           [0., 1.]])
    """
    place = real_array("encoding_pairs", "position", position, finite=True)
    omega = real_array("encoding_pairs", "frequencies", frequencies, finite=True)
    turn = np.exp(1j * place * omega)
    pairs = np.stack([turn.imag, turn.real], axis=-1)
    return pairs[:, ::-1] if cosine_first else pairs


def encoding_halves(position: ArrayLike, frequencies: ArrayLike) -> Array:
    """The sines, then the cosines. Shapes: position scalar, frequencies [h] -> [2, h].

    >>> encoding_halves(0.0, [1.0, 0.1])
    array([[0., 0.],
           [1., 1.]])
    """
    return np.swapaxes(encoding_pairs(position, frequencies), -1, -2)


def encoding_product(first: ArrayLike, second: ArrayLike, frequencies: ArrayLike) -> Array:
    """The inner product of the encodings of two positions. Shapes: scalars, frequencies [h] -> scalar.

    >>> round(float(encoding_product(3.0, 3.0, [1.0, 0.1])), 12)
    2.0
    """
    return np.sum(encoding_pairs(first, frequencies) * encoding_pairs(second, frequencies))


def odd_encoding_product(first: ArrayLike, second: ArrayLike, frequencies: ArrayLike, last: ArrayLike) -> Array:
    """As :func:`encoding_product`, with one more sine of the frequency ``last``, which has no cosine beside it.

    >>> float(odd_encoding_product(0.0, 0.0, [1.0], 1.0))
    1.0
    """
    lone = np.sin(np.multiply(last, first)) * np.sin(np.multiply(last, second))
    return encoding_product(first, second, frequencies) + lone


def turned_pairs(x: ArrayLike, position: ArrayLike, frequencies: ArrayLike) -> Array:
    """Each pair (a, b) turned by the angle position · ω_i: the real and imaginary part of (a + bi) e^{i m ω_i}.

    Shapes: x [..., h, 2], position scalar or [...], frequencies [h] -> the shape of x.
    Source: Su et al. (2021), "RoFormer", eq. (12) and (34).

    >>> turned_pairs([[1.0, 0.0]], np.pi / 2, [1.0]).round(12) + 0.0
    array([[0., 1.]])
    """
    pairs = real_array("turned_pairs", "x", x, finite=True)
    place = real_array("turned_pairs", "position", position, finite=True)
    omega = real_array("turned_pairs", "frequencies", frequencies, finite=True)
    turn = np.exp(1j * place[..., np.newaxis] * omega)
    result = (pairs[..., 0] + 1j * pairs[..., 1]) * turn
    return np.stack([result.real, result.imag], axis=-1)


def turns(position: ArrayLike, frequencies: ArrayLike) -> Array:
    """The matrices R_i that turn pair i: column b is the turned unit vector e_b. Shapes: scalar, [h] -> [h, 2, 2].

    >>> turns(np.pi / 2, [1.0]).round(12).tolist() == [[[0, -1], [1, 0]]]
    True
    """
    units = np.eye(2)[:, np.newaxis, :] * np.ones((1, np.size(frequencies), 1))
    columns = [turned_pairs(unit, position, frequencies) for unit in units]
    return np.stack(columns, axis=-1)


def shift_of_pairs(offset: ArrayLike, frequencies: ArrayLike) -> Array:
    """M_k with PE(pos + k) = M_k PE(pos), pairs (sin, cos): the turn by −k ω_i in block i, 0 between pairs.

    Shapes: scalar, [h] -> [h, 2, h, 2]. Source: Vaswani et al. (2017), section 3.5 (the claim).

    >>> shift_of_pairs(0.0, [1.0, 0.1]).reshape(4, 4).tolist() == np.eye(4).tolist()
    True
    """
    blocks = turns(-real_array("shift_of_pairs", "offset", offset, finite=True), frequencies)
    same = np.eye(np.size(frequencies))
    return same[:, np.newaxis, :, np.newaxis] * blocks[:, :, np.newaxis, :]


def turn(angle: ArrayLike) -> Array:
    """The matrix that turns a pair counterclockwise. Shapes: scalar -> [2, 2].

    >>> turn(0.0).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return turns(angle, [1.0])[0]


def rotary_product(
    q: ArrayLike, k: ArrayLike, query_position: ArrayLike, key_position: ArrayLike, frequencies: ArrayLike, *,
    half_split: bool = False,
) -> Array:
    """⟨R_m q, R_n k⟩ as Re Σ_i q_i e^{i m ω_i} · conj(k_i e^{i n ω_i}).

    Shapes: q, k [2h], positions scalar, frequencies [h] -> scalar; pairs are columns (2i, 2i + 1), or (i, h + i) for
    ``half_split``. Source: Su et al. (2021), eq. (12).

    >>> round(float(rotary_product([1.0, 0.0], [1.0, 0.0], 5.0, 5.0, [0.3])), 12)
    1.0
    """
    query = turned_pairs(pairs_of_columns(q, half_split=half_split), query_position, frequencies)
    key = turned_pairs(pairs_of_columns(k, half_split=half_split), key_position, frequencies)
    return np.sum(query * key)


def pairs_of_columns(x: ArrayLike, *, half_split: bool = False) -> Array:
    """[2h] -> [h, 2]: columns (2i, 2i + 1), or (i, h + i) for ``half_split``.

    >>> pairs_of_columns([1.0, 2.0, 3.0, 4.0], half_split=True)
    array([[1., 3.],
           [2., 4.]])
    """
    array = real_array("pairs_of_columns", "x", x, finite=True)
    return array.reshape(2, -1).T if half_split else array.reshape(-1, 2)


def turned_columns(x: ArrayLike, position: ArrayLike, frequencies: ArrayLike) -> Array:
    """The pairs of columns (2i, 2i + 1), turned. Shapes: x [2h], scalar, frequencies [h] -> [h, 2].

    >>> turned_columns([1.0, 0.0], 0.0, [1.0])
    array([[1., 0.]])
    """
    return turned_pairs(pairs_of_columns(x), position, frequencies)
