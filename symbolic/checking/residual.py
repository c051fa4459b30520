"""What a wrong claim lacks, where it can be said: a factor, a sign, a transpose, a term.

Everything here is found by numbers at several points and at least two bindings of the sizes, and said only when it
holds at every entry there. It is a hint for the reader; the refutation itself never rests on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb, fmpq

from ..language.indices import Index
from ..language.nodes import HOOKS, Element, IndexSum, Tensor, element, tensors
from ..language.sizes import same_size
from .evaluator import compiled
from .fields import Place, working_precision
from .samples import Sample

_CLOSE = arb(10) ** -20
_EXPONENTS = (Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2), Fraction(2), Fraction(-2))
_MOST_CANDIDATES = 60
Rows = list[tuple[Sample, Place, arb, arb]]


def residual(left: sp.Expr, right: sp.Expr, indices: Sequence[Index], samples: Sequence[Sample]) -> str:
    """A sentence on how the claim (`right`) differs from `left`; empty where nothing simple holds."""
    rows: Rows = [
        (s, place, a, b) for s in samples for place, (a, b) in s.pairs.items() if a is not None and b is not None
    ]
    if not rows:
        return ""
    bits = max(s.bits for s in samples)
    with working_precision(bits):
        for find in (_factor, _transpose):
            text = find(rows, indices)
            if text:
                return text
        try:
            return _terms(left, right, indices, rows) or _where(rows, indices)
        except ArithmeticError:
            return _where(rows, indices)


# ---------------------------------------------------------------------- a constant factor
def _factor(rows: Rows, indices: Sequence[Index]) -> str:
    ratios: dict[int, arb] = {}
    for s, _, a, b in rows:
        if a.contains(0) or b.contains(0):
            if a.contains(0) and b.contains(0):
                continue
            if all(b.contains(0) for _, _, _, b in rows):
                return "the claim is 0, and the left side is not"
            return ""
        ratio = b / a
        known = ratios.setdefault(id(s), ratio)
        if not _near(known, ratio):
            return ""
    if not ratios:
        return ""
    by_sample = {id(s): s for s, *_ in rows}
    found = [(by_sample[key].sizes, ratio) for key, ratio in ratios.items()]
    first = found[0][1]
    if all(_near(first, ratio) for _, ratio in found):
        number = simple_number(first)
        if number == -1:
            return "the claim has the opposite sign"
        if number is not None:
            return f"the claim is the left side times {number}"
    return _size_factor(found)


def _size_factor(found: list[tuple[dict[Any, int], arb]]) -> str:
    symbols = sorted({s for sizes, _ in found for s in sizes}, key=lambda s: s.name)
    if len({tuple(sizes[s] for s in symbols) for sizes, _ in found}) < 2:
        return ""
    powers: list[tuple[tuple[Any, Fraction], ...]] = [((s, e),) for e in _EXPONENTS for s in symbols]
    powers += [((s, e), (t, f)) for s, t in itertools.combinations(symbols, 2) for e in _EXPONENTS for f in _EXPONENTS]
    for power in powers:
        for number in (1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2)):
            if all(
                _near(
                    ratio,
                    _size_product(power, sizes) * arb(fmpq(Fraction(number).numerator, Fraction(number).denominator)),
                )
                for sizes, ratio in found
            ):
                factor = sp.Mul(*(s ** sp.Rational(e.numerator, e.denominator) for s, e in power))
                factor *= sp.Rational(Fraction(number).numerator, Fraction(number).denominator)
                sign = " and has the opposite sign" if number < 0 else ""
                factor = abs(factor)
                lacking = 1 / factor
                if sp.fraction(factor)[1] == 1:
                    return f"the claim lacks the factor {lacking}{sign}"
                return f"the claim has the factor {factor} too much{sign}"
    return ""


def _size_product(power: tuple[tuple[Any, Fraction], ...], sizes: dict[Any, int]) -> arb:
    result = arb(1)
    for symbol, exponent in power:
        result *= arb(sizes[symbol]) ** arb(fmpq(exponent.numerator, exponent.denominator))
    return result


def simple_number(value: arb) -> Fraction | None:
    """A rational with a small denominator that lies in the ball, if there is one."""
    if not value.is_finite():
        return None
    guess = Fraction(value.mid().str(30, radius=False)).limit_denominator(20_000)
    return guess if _near(value, arb(fmpq(guess.numerator, guess.denominator))) else None


def _near(a: arb, b: arb) -> bool:
    return bool((a - b).contains(0) and (a - b).rad() < _CLOSE * (1 + abs(a).mid()))


# ---------------------------------------------------------------------- exchanged indices
def _transpose(rows: Rows, indices: Sequence[Index]) -> str:
    values = {(id(s), place): (a, b) for s, place, a, b in rows}
    for m, n in itertools.combinations(range(len(indices)), 2):
        if not same_size(indices[m].size, indices[n].size):
            continue

        def exchanged(place: Place, m: int = m, n: int = n) -> Place:
            turned = list(place)
            turned[m], turned[n] = place[n], place[m]
            return tuple(turned)

        others = [(b, values.get((id(s), exchanged(place)))) for s, place, _, b in rows]
        if all(other is not None and _near(b, other[0]) for b, other in others):
            return f"the claim is the transpose: {indices[m].name} and {indices[n].name} are exchanged"
    return ""


# ---------------------------------------------------------------------- terms
def _terms(left: sp.Expr, right: sp.Expr, indices: Sequence[Index], rows: Rows) -> str:
    own = [(term, _text(term)) for term in sp.Add.make_args(right)] if right.is_Add else []
    for term, text in own:
        multiple = _multiple(rows, _value(term), indices)
        if multiple == -1:
            return f"the claim has the term {text} too much"
        if multiple == -2:
            return f"the claim has the opposite sign in the term {text}"
        if multiple is not None:
            return f"the term {text} of the claim needs the factor {multiple + 1}"
    candidates = list(itertools.islice(_candidates(left, right, indices), _MOST_CANDIDATES))
    for candidate, text in candidates:
        multiple = _multiple(rows, _value(candidate), indices)
        if multiple is not None and multiple != 0:
            scale = {1: "", -1: "-"}.get(multiple, f"{multiple}*") if isinstance(multiple, int) else f"{multiple}*"
            return f"the claim lacks the term {scale}{text}"
    factors = [(c, t) for c, t in candidates if isinstance(c, (IndexSum, Tensor))]
    for candidate, text in factors:
        for term, term_text in [*own, (right, "")]:
            if _multiple(rows, _value(candidate * term - term), indices) == 1:
                return f"the claim lacks the factor {text}" + (f" in the term {term_text}" if term_text else "")
    return ""


def _value(expression: sp.Expr) -> Callable[[Sample, dict[Any, int]], arb]:
    run = compiled(expression).run
    return lambda s, env: run(s.field, env)


def _text(term: sp.Expr) -> str:
    """A term as text, with elements as ``p_k`` also where no printer is installed."""
    if "text" in HOOKS:
        return str(term)
    named = {e: sp.Symbol(f"{e.tensor.name}_{''.join(map(str, e.indices))}") for e in term.atoms(Element)}
    return str(term.xreplace(named))


def _multiple(
    rows: Rows, of: Callable[[Sample, dict[Any, int]], arb], indices: Sequence[Index]
) -> int | Fraction | None:
    """The number c with left - right = c * value at every row, if there is one."""
    found: Fraction | None = None
    for s, place, a, b in rows:
        value, gap = of(s, dict(zip(indices, place, strict=True))), a - b
        if value.contains(0):
            if gap.contains(0):
                continue
            return None
        if found is None:
            found = simple_number(gap / value)
            if found is None:
                return None
        elif not _near(gap / value, arb(fmpq(found.numerator, found.denominator))):
            return None
    if found is None:
        return None
    return int(found) if found.denominator == 1 else found


def _candidates(left: sp.Expr, right: sp.Expr, indices: Sequence[Index]) -> Iterator[tuple[sp.Expr, str]]:
    """Simple expressions that a claim may lack: 1, elements at the free indices, their products, sums of tensors."""
    yield sp.S.One, "1"
    elements: list[tuple[sp.Expr, str]] = []
    for tensor in tensors([left, right]):
        axes = [[i for i in indices if same_size(i.size, n)] for n in tensor.shape]
        for chosen in itertools.islice(itertools.product(*axes), 6):
            if len(set(chosen)) == len(chosen):
                elements.append(
                    (element(tensor, *chosen), tensor.name + ("_" + "".join(i.name for i in chosen) if chosen else ""))
                )
    yield from elements
    for (a, text_a), (b, text_b) in itertools.combinations_with_replacement(elements, 2):
        yield a * b, f"{text_a}*{text_b}" if text_a != text_b else f"{text_a}^2"
    for tensor in tensors([left, right]):
        if len(tensor.shape) != 1:
            continue
        bound = Index("j", tensor.shape[0], 10**9)
        yield IndexSum(Element(tensor, bound), bound), f"sum({tensor.name})"


# ---------------------------------------------------------------------- where they differ
def _where(rows: Rows, indices: Sequence[Index]) -> str:
    apart = [(place, not (a - b).contains(0)) for _, place, a, b in rows]
    for m, n in itertools.combinations(range(len(indices)), 2):
        if not same_size(indices[m].size, indices[n].size):
            continue
        i, k = indices[m].name, indices[n].name
        if all(differs != (place[m] == place[n]) for place, differs in apart):
            return f"the sides differ where {i} != {k}, and agree where {i} = {k}"
        if all(differs == (place[m] == place[n]) for place, differs in apart):
            return f"the sides differ where {i} = {k}, and agree where {i} != {k}"
    return ""
