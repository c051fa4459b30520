"""NumPy's reductions and scans on traced values: sums, means, variances, extrema, places of extrema, running sums."""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..language import rearrangement as re
from ..language import vocabulary as voc
from ..language.arrays import Array, elementwise, normal_axis
from ..language.indices import index
from ..language.nodes import ArgMaxIndicator, IndexSum
from ..language.selection import Chosen
from . import elementwise as el
from .dispatch import TABLES
from .table import axes_of, function, into, plain, refuse
from .values import Traced, lift


def _marked(value: Any) -> Traced:
    """A value to sum: picked elements are put back among zeros."""
    given = lift(value)
    given._finite()
    if given.selected is not None:
        return el.where(Traced(given.selected, "bool"), Traced(given.array, given.kind), 0)
    return given


@function("sum", "nansum", "add.reduce")
def sum_(
    value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
) -> Traced:
    """Sum over axes."""
    refuse(options)
    given = _marked(value)
    return into(
        out, Traced(voc.sum(given.array, axes_of(axis), keepdims), "int" if given.kind == "bool" else given.kind)
    )


@function("mean", "nanmean")
def mean(
    value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
) -> Traced:
    """Mean over axes."""
    refuse(options)
    given = lift(value)
    if given.selected is not None:
        return el.divide(sum_(given), sum_(Traced(given.selected, "bool")))
    return into(out, Traced(voc.mean(plain(given).array, axes_of(axis), keepdims)))


@function("var", "nanvar")
def var(
    value: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    correction: Any = None,
) -> Traced:
    """Variance over axes."""
    return Traced(
        voc.var(plain(value).array, axes_of(axis), keepdims, lift(ddof if correction is None else correction).body)
    )


@function("std", "nanstd")
def std(
    value: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    correction: Any = None,
) -> Traced:
    """Standard deviation over axes."""
    return TABLES["sqrt"](var(value, axis, ddof=ddof, keepdims=keepdims, correction=correction))


@function("average")
def average(
    value: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Traced:
    """Weighted mean."""
    if weights is None:
        return mean(value, axis, keepdims=keepdims)
    a, w = plain(value), plain(weights)
    if w.ndim != a.ndim:
        w = w[
            (None,) * 0
            + tuple(slice(None) if n == normal_axis(axis, a.ndim, a.array.shape) else None for n in range(a.ndim))
        ]
    whole = a * 0 + w
    return el.divide(sum_(a * w, axis, keepdims=keepdims), sum_(whole, axis, keepdims=keepdims))


@function("max", "amax", "nanmax")
def max_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Largest element over axes; of what is masked with -inf, the largest that is not."""
    refuse(options)
    given = lift(value)
    given._whole()
    if given.finite is not None:
        lowest = voc.min(given.array, axes_of(axis), True)
        raised = elementwise(lambda m, v, low: m * v + (1 - m) * low, given.finite, given.array, lowest, name="max")
        return Traced(voc.max(raised, axes_of(axis), keepdims))
    if given.kind == "bool":
        return any_(given, axis, keepdims=keepdims)
    return Traced(voc.max(given.array, axes_of(axis), keepdims), given.kind)


@function("min", "amin", "nanmin")
def min_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Traced:
    """Smallest element over axes."""
    refuse(options)
    given = plain(value)
    return Traced(voc.min(given.array, axes_of(axis), keepdims), given.kind)


@function("ptp")
def ptp(value: Any, axis: Any = None, keepdims: bool = False) -> Traced:
    """Largest minus smallest."""
    return max_(value, axis, keepdims=keepdims) - min_(value, axis, keepdims=keepdims)


@function("prod", "nanprod")
def prod(
    value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
) -> Traced:
    """Product over axes."""
    refuse(options)
    given = plain(value)
    return Traced(voc.prod(given.array, axes_of(axis), keepdims), "int" if given.kind == "bool" else given.kind)


@function("all")
def all_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """Whether all hold."""
    return Traced(voc.prod(el.truth_values(plain(value)).array, axes_of(axis), keepdims), "bool")


@function("any")
def any_(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """Whether one holds."""
    return el.invert(all_(el.invert(el.truth_values(plain(value))), axis, keepdims=keepdims))


@function("count_nonzero")
def count_nonzero(value: Any, axis: Any = None, keepdims: bool = False) -> Traced:
    """How many are not 0."""
    return sum_(el.truth_values(plain(value)), axis, keepdims=keepdims)


@function("argmax")
def argmax(value: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Traced:
    """The place of the largest element, as an indicator of the place."""
    given = plain(value)
    source = re.reshape(given.array, [-1]) if axis is None else given.array
    place = source.indices[normal_axis(axis or 0, source.ndim, source.shape)]
    rest = [i for i in source.indices if i != place]
    if rest or keepdims:
        k = place.fresh("k")
        body = IndexSum(k * ArgMaxIndicator(source.body, place, k), k)
        return Traced(
            Array(rest if not keepdims else [index("i", 1) if i == place else i for i in source.indices], body), "int"
        )

    def indicator(at: sp.Expr) -> sp.Expr:
        return ArgMaxIndicator(source.body, place, at)

    k = place.fresh("k")
    return Traced(Array((), IndexSum(k * indicator(k), k)), "int", chosen=Chosen(indicator))


@function("argmin")
def argmin(value: Any, axis: Any = None, **options: Any) -> Traced:
    """The place of the smallest element."""
    return argmax(-plain(value), axis, **options)


@function("cumsum", "nancumsum")
def cumsum(value: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Traced:
    """Running sums."""
    given = plain(value)
    return Traced(re.cumsum(given.array, axis), "int" if given.kind == "bool" else given.kind)


@function("cumprod")
def cumprod(value: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Traced:
    """Running products."""
    given = plain(value)
    return Traced(re.cumprod(given.array, axis), given.kind)


@function("diff")
def diff(value: Any, n: int = 1, axis: int = -1) -> Traced:
    """Differences of neighbours."""
    given = plain(value)
    lead = (slice(None),) * normal_axis(axis, given.ndim, given.array.shape)
    for _ in range(n):
        given = given[(*lead, slice(1, None))] - given[(*lead, slice(None, -1))]
    return given
