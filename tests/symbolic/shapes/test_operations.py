"""Operations on named arrays: axes, values as index expressions, costs, and what each refuses. All sizes differ."""

import pytest
import sympy as sp

from lemmata.symbolic.canonical.equality import equal
from lemmata.symbolic.language import rearrangement as plain
from lemmata.symbolic.language import vocabulary as np
from lemmata.symbolic.language.arrays import Array, array
from lemmata.symbolic.language.errors import FormulaError, ShapeError
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.shapes import (
    Atom,
    Axis,
    NamedArray,
    Recorder,
    axis,
    broadcast_to,
    concatenate,
    contract,
    dependence,
    einsum,
    gather,
    linear,
    matmul,
    merge,
    named,
    pad,
    read_axes,
    recording,
    repeat,
    split,
    stack,
    take,
    tile,
    transpose,
    view,
)


def same(value: Array, other: Array) -> bool:
    """Whether two arrays are equal at every index, for every size."""
    assert value.shape == other.shape
    return equal(value.body, other.element(*value.indices)).equal


def last_line(action: object) -> object:
    recorder = Recorder()
    with recording(recorder):
        action()  # type: ignore[operator]
    return recorder.lines[-1]


# ---------------------------------------------------------------------- axes
def test_order_inside_an_axis_matters() -> None:
    x, y = named("x", "(b h) n"), named("y", "(h b) n")
    assert x.shape == y.shape
    assert x.axes != y.axes
    with pytest.raises(ShapeError, match=r"both have b h elements, but in another order: \(b h\) against \(h b\)"):
        x + y


def test_equal_by_luck_is_told_apart() -> None:
    n, m = (Axis((Atom(name, sp.Integer(5)),)) for name in ("n", "m"))
    with pytest.raises(ShapeError, match="both have size 5, but the one is n and the other m: equal only by luck"):
        named("x", [n]) + named("y", [m])
    assert (named("x", [n]) + named("z", [n])).pattern == "n"


@pytest.mark.parametrize("text", ["B n (h d_k", "B n) h", "B 2x", "B n-1"])
def test_unreadable_axes(text: str) -> None:
    with pytest.raises(FormulaError, match="cannot read the ax"):
        read_axes(text)


# ---------------------------------------------------------------------- contractions
def test_linear_map() -> None:
    recorder = Recorder()
    with recording(recorder):
        y = linear(named("x", "B n d"), "W", axis("f"), "y", bias="b", named_value=False)
    line = recorder.lines[-1]
    assert (y.pattern, line.einsum) == ("B n f", "bid,df->bif")
    assert line.parameters == size("d*f + f")
    assert line.multiply_adds == size("B*n*d*f")
    assert same(y.value, array("x", "B,n,d") @ array("W", "d,f") + array("b", "f"))


def test_batched_matmul_primes_a_second_use() -> None:
    q, k = named("q", "B h n d"), named("k", "B h n d")
    s = matmul(q, k.swapaxes(-1, -2))
    assert s.pattern == "B h n n'"
    assert same(s.value, np.einsum("bhid,bhjd->bhij", array("q", "B,h,n,d"), array("k", "B,h,n,d")))
    assert last_line(lambda: q @ k.swapaxes(-1, -2)).multiply_adds == size("B*h*n**2*d")  # type: ignore[attr-defined]


def test_matmul_names_both_axes_and_the_remedy() -> None:
    with pytest.raises(
        ShapeError, match=r"q \[B, h, n, d\] @ k \[B, h, m, d\] sums d against m: size d against m.*transpose its last"
    ):
        matmul(named("q", "B h n d"), named("k", "B h m d"))


def test_unnamed_axes_of_one_size_stay_apart() -> None:
    a, b = named("a", [5, 5, 3]), named("b", [5, 5, 3, 7])
    assert same(matmul(a.reshape(5, 5, 1, 3), b).value, array("a", (5, 5, 3))[:, :, None, :] @ array("b", (5, 5, 3, 7)))


def test_contract_and_einsum_agree() -> None:
    p, v = named("p", "B h n m"), named("v", "B h m d")
    one = contract(p, v, ["m"], ["B", "h", "n", "d"], "", named_value=False)
    two = einsum("bhnm,bhmd->bhnd", p, v)
    assert one.pattern == two.pattern == "B h n d"
    assert same(one.value, two.value)
    with pytest.raises(ShapeError, match="the axis m is neither kept nor summed over"):
        contract(p, v, [], ["B", "h", "n", "d"], "")
    with pytest.raises(ShapeError, match=r"the letter m is m of p .* and d of v"):
        einsum("bhnm,bhxm->bhnx", p, v)


def test_sum_over_a_merged_axis_is_a_sum_over_its_atoms() -> None:
    x = merge(named("x", "B h n d").transpose("B", "n", "h", "d"), ["h", "d"])
    y = linear(x, "W", axis("f"), "y", named_value=False)
    assert not y.body.has(sp.floor, sp.Mod)


# ---------------------------------------------------------------------- rearranging
def test_split_merge_and_transpose_have_the_values_of_numpy() -> None:
    x = named("x", "B n (h d)")
    heads = transpose(split(x, 2, ["h", "d"]), ["B", "h", "n", "d"])
    assert heads.pattern == "B h n d"
    expected = plain.reshape(array("x", "B,n,h*d"), [size(s) for s in ("B", "n", "h", "d")]).transpose(0, 2, 1, 3)
    assert same(heads.value, expected)
    back = merge(heads.transpose("B", "n", "h", "d"), ["h", "d"])
    assert back.pattern == "B n (h d)"
    a, e = (i for i in heads.indices if i.size in (size("h"), size("d")))
    b, n = back.indices[:2]
    from lemmata.symbolic.shapes.contracting import settled

    assert settled(back.element(b, n, a * size("d") + e)) == array("x", "B,n,h*d").element(b, n, a * size("d") + e)


def test_split_states_the_condition() -> None:
    with pytest.raises(ShapeError, match=r"split: the axis d of x \[B, n, d\] has size d, .*needed: d = h·d_k"):
        split(named("x", "B n d"), "d", ["h", "d_k"])
    with pytest.raises(ShapeError, match=r"cannot be split into \(d_k h\)"):
        split(named("x", "B (h d_k)"), 1, ["d_k", "h"])


def test_repeat_is_not_tile() -> None:
    x = named("x", "g d")
    r = Atom("r", size("r"))
    inside, outside = repeat(x, "g", r), tile(x, "g", r)
    assert (inside.pattern, outside.pattern) == ("(g r) d", "(r g) d")
    assert inside.shape == outside.shape
    assert same(inside.value, plain.repeat(array("x", "g,d"), size("r"), 0))
    assert same(outside.value, plain.tile(array("x", "g,d"), [size("r"), 1]))
    with pytest.raises(ShapeError, match="in another order"):
        inside + outside


def test_concatenate_stack_slice_pad() -> None:
    old, new = named("old", "B p d"), named("new", "B n d")
    both = concatenate([old, new], "p")
    assert both.shape == (size("B"), size("n+p"), size("d"))
    assert same(both.value, plain.concatenate([array("old", "B,p,d"), array("new", "B,n,d")], 1))
    with pytest.raises(ShapeError, match=r"concatenate along p: .* size d against f"):
        concatenate([old, named("other", "B n f")], "p")
    side = stack([named("q", "n d"), named("k", "n d"), named("v", "n d")], 1, "qkv")
    assert (side.pattern, side.shape[1]) == ("n qkv d", 3)
    with pytest.raises(ShapeError, match=r"stack: q \[n, d\] and k \[m, d\]"):
        stack([named("q", "n d"), named("k", "m d")])
    assert take(both, 1, 0, "p").shape == old.shape
    assert pad(old, "p", 2, "k").shape[1] == size("p+k+2")


def test_gather_has_the_axes_of_the_ids() -> None:
    ids = named("t", "B n", "index<V")
    rows = gather(named("E", "V d"), [ids])
    assert rows.pattern == "B n d"
    assert last_line(lambda: gather(named("E", "V d"), [ids])).multiply_adds == 0  # type: ignore[attr-defined]
    with pytest.raises(ShapeError, match="one integer array for the first axis"):
        gather(named("E", "V d"), [slice(None), ids])


def test_reduce_keeps_or_drops_axes() -> None:
    x = named("x", "B n d")
    assert x.mean(axis="d", keepdims=True).pattern == "B n 1"
    assert x.sum(axis=("B", "d")).pattern == "n"
    assert (x - x.mean(-1, keepdims=True)).pattern == "B n d"
    with pytest.raises(ShapeError, match="none is named 'q'"):
        x.sum(axis="q")


def test_mask_without_its_view_names_the_view() -> None:
    scores, mask = named("scores", "B h n S"), named("mask", "B S")
    with pytest.raises(ShapeError) as caught:
        scores + mask
    text = str(caught.value)
    assert "add: scores [B, h, n, S] and mask [B, S] do not broadcast" in text
    assert "mask[:, None, None, :], which has the axes [B, 1, 1, S]" in text
    assert (scores + view(mask, "B 1 1 S")).pattern == "B h n S"


def test_mask_that_fits_by_luck_is_refused() -> None:
    """Batch and queries of the same size: NumPy would stretch (B, S) over heads and batch without a word."""
    five = {name: Axis((Atom(name, sp.Integer(k)),)) for name, k in {"B": 5, "h": 3, "n": 5, "S": 7}.items()}
    scores = NamedArray(array("scores", (5, 3, 5, 7)), [five[a] for a in "BhnS"], "scores")
    with pytest.raises(ShapeError, match="n stands against B: both have size 5"):
        scores + NamedArray(array("mask", (5, 7)), [five[a] for a in "BS"], "mask")


def test_exchanged_uses_of_one_axis_are_noted() -> None:
    s = matmul(named("q", "n d"), named("k", "n d").T)
    line = last_line(lambda: s + s.T)
    assert any("n and n' are exchanged" in w for w in line.warnings)  # type: ignore[attr-defined]
    assert not last_line(lambda: s + s).warnings  # type: ignore[attr-defined]


def test_broadcast_to() -> None:
    assert broadcast_to(named("b", "d"), "B n d").pattern == "B n d"
    with pytest.raises(ShapeError, match=r"broadcast: b .* does not stretch"):
        broadcast_to(named("b", "d"), "B n f")


def test_dependence_is_read_off_the_indices() -> None:
    x = named("x", "B n d")
    attention = x @ x.swapaxes(-1, -2)
    read = dependence(attention, x)
    assert [str(a) for a in read.kept] == ["B"]
    wrong = einsum("bnd,cnd->bcn", x, x)  # attention over the batch
    assert "B" in [str(a) for a in dependence(wrong, x).mixed]
