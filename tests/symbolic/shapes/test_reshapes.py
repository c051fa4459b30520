"""Reshape by index arithmetic: the right shape with the wrong value is found, said and shown (cases C01 and C02)."""

from itertools import permutations, product

import pytest

from lemmata.symbolic.language.errors import ShapeError
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.shapes import (
    Atom,
    Axis,
    WrongValueError,
    check_claim,
    compare_orders,
    merge,
    named,
    read_axes,
    reshape,
)
from lemmata.symbolic.shapes.reshapes import align, meant_order

from .letters import alphabet, transposed


def test_merge_without_transpose_c01() -> None:
    mismatch = check_claim(read_axes("B h n d_k"), read_axes("B n (h d_k)"))
    assert mismatch is not None
    assert mismatch.equal_when == "h = 1 or n = 1"
    assert mismatch.transposition == (0, 2, 1, 3)
    example = mismatch.example()
    assert example.sizes == (1, 2, 2, 2)
    assert example.block(right=True) == ("a", "b", "e", "f")
    assert example.block(right=False) == ("a", "b", "c", "d")


def test_split_by_one_reshape_c02() -> None:
    mismatch = check_claim(read_axes("B n (h d_k)"), read_axes("(B h) n d_k"))
    assert mismatch is not None
    assert mismatch.equal_when == "h = 1 or n = 1"
    example = mismatch.example({size("B"): size(1), size("n"): size(4), size("h"): size(3), size("d_k"): size(2)})
    # letters a to x are (4, 6): head 0 is columns 0 and 1 of every token, not the first eight letters
    rows = [alphabet(24)[6 * i : 6 * i + 6] for i in range(4)]
    assert example.block(right=True) == tuple("".join(r[:2] for r in rows))
    assert example.block(right=False) == tuple("abcdefgh")


def test_right_reshapes_are_proved() -> None:
    for before, after in (
        ("B n (h d_k)", "B n h d_k"),
        ("B n h d_k", "B n (h d_k)"),
        ("B n (h d_k)", "(B n) h d_k"),
        ("B n d", "(B n d)"),
        ("B n", "B 1 n"),
    ):
        assert check_claim(read_axes(before), read_axes(after)) is None


def test_condition_agrees_with_letters_at_every_small_size() -> None:
    """For every order of four atoms: the condition holds exactly where the letters come out the same."""
    names = ("b", "h", "n", "d")
    atoms = [a.atoms[0] for a in read_axes(" ".join(names))]
    checked = 0
    for order in permutations(range(4)):
        mismatch = compare_orders(atoms, [atoms[k] for k in order], read_axes(" ".join(names[k] for k in order)))
        for sizes in product((1, 2, 3), repeat=4):
            count = sizes[0] * sizes[1] * sizes[2] * sizes[3]
            numbers = "".join(chr(200 + k) for k in range(count))
            same = transposed(numbers, sizes, order) == numbers
            clauses = [] if mismatch is None else mismatch.clauses
            values = dict(zip(names, sizes, strict=True))
            holds = all(any(_true(c, values) for c in clause) for clause in clauses)
            assert holds == same, (order, sizes, clauses)
            checked += 1
    assert checked == 24 * 81


def _true(equation: str, values: dict[str, int]) -> bool:
    left, right = equation.replace("·", "*").split(" = ")
    return eval(left, {}, values) == eval(right, {}, values)


@pytest.mark.parametrize("sizes", [(2, 3, 5, 7), (1, 2, 3, 4)])
def test_examples_are_what_a_transpose_gives(sizes: tuple[int, ...]) -> None:
    atoms = [a.atoms[0] for a in read_axes("B h n d_k")]
    mismatch = compare_orders(atoms, [atoms[k] for k in (0, 2, 1, 3)], read_axes("B n (h d_k)"))
    assert mismatch is not None
    example = mismatch.example(dict(zip((a.size for a in atoms), map(size, sizes), strict=True)))
    letters = alphabet(26)
    shown = "".join(example.block(right=True))
    assert transposed(letters + "?" * 1000, example.sizes, (0, 2, 1, 3)).startswith(shown)
    assert letters.startswith("".join(example.block(right=False)))


def test_reshape_to_a_pattern_proves_or_refutes_it() -> None:
    x = named("x", "B h n d_k")
    y = reshape(x.transpose("B", "n", "h", "d_k"), "B n (h d_k)")
    assert y.pattern == "B n (h d_k)"
    with pytest.raises(WrongValueError) as caught:
        reshape(x, "B n (h d_k)")
    text = str(caught.value)
    for part in ("right shape, wrong value", "only when h = 1 or n = 1", "(0, 2, 1, 3)", "a,b,e,f", "a,b,c,d"):
        assert part in text


def test_merge_names_the_transpose_it_needs() -> None:
    with pytest.raises(
        WrongValueError, match=r"\(h d_k\) are not neighbours.*transpose by \(0, 2, 1, 3\) first.*a,b,e,f"
    ):
        merge(named("x", "B h n d_k"), ["h", "d_k"])
    with pytest.raises(WrongValueError, match=r"\(d_k h\) are not neighbours"):
        merge(named("x", "B n h d_k"), ["d_k", "h"])


def test_claim_about_other_atoms_is_an_error() -> None:
    with pytest.raises(ShapeError, match="m is not there; n is left out"):
        check_claim(read_axes("B n d"), read_axes("B (m d)"))
    with pytest.raises(ShapeError, match="named twice"):
        check_claim(read_axes("B n"), read_axes("B n n"))


def test_axes_found_from_sizes() -> None:
    def found(before: str, *sizes: object) -> str | None:
        axes = align([x for a in read_axes(before) for x in a.atoms], [size(s) for s in sizes])  # type: ignore[arg-type]
        return None if axes is None else " ".join(map(str, axes))

    assert found("B n h d_k", "B", "n", "h*d_k") == "B n (h d_k)"
    assert found("B h n d_k", "B", "n", "h*d_k") is None
    assert found("B n h d_k", "B*n", "h", "d_k") == "(B n) h d_k"
    assert found("B n", "B", 1, "n") == "B 1 n"


def test_pieces_of_an_axis_are_that_axis_again() -> None:
    d_model = Axis((Atom("d_model", size("h*d_k")),))
    x = named("x", [*read_axes("B n"), d_model])
    heads = reshape(x, [size("B"), size("n"), size("h"), size("d_k")])
    assert heads.pattern == "B n h d_k"
    assert reshape(heads, [size("B"), size("n"), size("h*d_k")]).pattern == "B n d_model"
    turned = heads.transpose("B", "n", "d_k", "h")
    assert reshape(turned, [size("B"), size("n"), size("h*d_k")]).pattern == "B n (d_k h)"


def test_forgotten_transpose_is_guessed_from_the_sizes() -> None:
    atoms = [x for a in read_axes("B h n d_k") for x in a.atoms]
    mismatch = meant_order(atoms, [size("B"), size("n"), size("h*d_k")])
    assert mismatch is not None
    assert mismatch.transposition == (0, 2, 1, 3)
    assert meant_order(atoms, [size("B"), size("n*h"), size("d_k")]) is not None
    assert meant_order([atoms[0]], [size("B")]) is None
