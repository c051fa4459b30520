"""Multi-head attention traced: every step of the paper, its variants, its value, and its errors. All sizes differ."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp

from lemmata.symbolic.canonical.equality import equal
from lemmata.symbolic.language import vocabulary as np
from lemmata.symbolic.language.arrays import Array, array
from lemmata.symbolic.language.errors import ShapeError
from lemmata.symbolic.language.indices import index
from lemmata.symbolic.language.nodes import unfold
from lemmata.symbolic.language.sizes import size
from lemmata.symbolic.shapes import Trace, cross_attention, dependence, multi_head_attention, named

GOLDEN = Path(__file__).parent / "golden"


def shapes(trace: Trace) -> list[tuple[str, list[int]]]:
    return [(line.operation, list(map(int, trace.sizes(line.result.axes)))) for line in trace.lines]


def result(trace: Trace, label: str) -> tuple[sp.Expr, ...]:
    return next(trace.sizes(line.result.axes) for line in trace.lines if line.result.label == label)


# ---------------------------------------------------------------------- the trace of the paper
def test_every_step_of_1_10_768_with_12_heads() -> None:
    trace = multi_head_attention((1, 10, 768), 12)
    heads = [("linear map", [1, 10, 768]), ("split", [1, 10, 12, 64]), ("transpose", [1, 12, 10, 64])]
    assert shapes(trace) == [
        ("input", [1, 10, 768]),
        *heads * 3,
        ("batched matmul", [1, 12, 10, 10]),
        ("scale", [1, 12, 10, 10]),
        ("softmax", [1, 12, 10, 10]),
        ("batched matmul", [1, 12, 10, 64]),
        ("transpose", [1, 10, 12, 64]),
        ("merge", [1, 10, 768]),
        ("linear map", [1, 10, 768]),
    ]
    assert all(line.why for line in trace.lines)
    d = size("d_model")
    assert trace.cost(trace.parameters) == sp.expand(4 * d**2 + 4 * d)
    assert trace.size(trace.parameters) == 4 * 768**2 + 4 * 768
    assert trace.cost(trace.multiply_adds) == size("4*B*n*d_model**2 + 2*B*n**2*d_model")
    assert trace.size(trace.multiply_adds) == 4 * 10 * 768**2 + 2 * 10**2 * 768
    assert not trace.warnings


def test_einsum_of_each_product() -> None:
    trace = multi_head_attention((1, 10, 768), 12)
    assert [line.einsum for line in trace.lines if line.multiply_adds != 0] == [
        *["bic,ce->bie"] * 3,
        "bhid,bhjd->bhij",
        "bhij,bhjd->bhid",
        "bie,ec->bic",
    ]


@pytest.mark.parametrize(
    ("name", "trace"),
    [
        ("mha_1_10_768.txt", lambda: multi_head_attention((1, 10, 768), 12)),
        ("mha_symbolic.txt", lambda: multi_head_attention(("B", "n", "d_model"), "h")),
        ("cross_2_4_7_512.txt", lambda: cross_attention((2, 4, 512), (2, 7, 512), 8, kv_heads=2, mask="padding")),
    ],
)
def test_golden_text(name: str, trace) -> None:
    made = trace()
    assert made.text() == (GOLDEN / name).read_text(encoding="utf-8")
    assert made.text() == trace().text()


def test_symbolic_trace_states_its_condition() -> None:
    trace = multi_head_attention(("B", "n", "d_model"), "h")
    (condition,) = trace.conditions
    assert (condition.left, condition.right) == (size("d_model"), size("h*d_k"))
    assert trace.definitions == {size("d_k"): size("d_model") / size("h")}
    assert not trace.bindings
    assert "[B,n,h·d_k] → [B,n,h,d_k]" in trace.text()
    assert "condition: d_model = h·d_k" in trace.text()
    # the other way to say it needs no condition
    assert not multi_head_attention(("B", "n", "h*d_k"), "h").conditions


def test_own_names_and_partly_known_sizes() -> None:
    trace = multi_head_attention(("batch", 5, "C"), 3)
    assert trace.sizes(trace.result.axes) == (size("batch"), 5, size("C"))
    assert [str(c.left) for c in trace.conditions] == ["C"]


# ---------------------------------------------------------------------- the value
def _weights(name: str, heads: str) -> Array:
    """A projection as (d_model, heads, d_k): head a owns the columns a·d_k + e."""
    w = array(name, f"d_model,{heads}*d_k")
    c, a, e = index("c", "d_model"), index("a", heads), index("e", "d_k")
    return Array([c, a, e], w.element(c, a * size("d_k") + e))


def _per_head(order: str = "row-major") -> Array:
    """Σ_a head_a W_O^a by the formula of the paper, head by head."""
    x, d = array("x", "B,n,d_model"), size("d_k")
    q, k, v = (np.einsum("bic,cae->baie", x, _weights(f"W_{s}", "h")) for s in "QKV")
    scores = np.exp(np.einsum("baie,baje->baij", q, k) / sp.sqrt(d))
    o = np.einsum("baij,baje->baie", scores / np.sum(scores, -1, keepdims=True), v)
    w = array("W_O", "h*d_k,d_model")
    a, e, c = index("a", "h"), index("e", "d_k"), index("c", "d_model")
    row = a * d + e if order == "row-major" else e * size("h") + a
    return np.einsum("baie,aec->bic", o, Array([a, e, c], w.element(row, c)))


def test_value_is_the_sum_over_heads() -> None:
    trace = multi_head_attention(("B", "n", "d_model"), "h", bias=False, intermediates=False)
    assert equal(trace.result.body, _per_head().element(*trace.result.indices)).equal
    # the check has teeth: heads and features in the other order are not the same function
    assert not equal(trace.result.body, _per_head("other").element(*trace.result.indices)).equal


def test_named_intermediates_are_the_same_value() -> None:
    named_ones = multi_head_attention(("B", "n", "d_model"), "h", bias=False)
    plain = multi_head_attention(("B", "n", "d_model"), "h", bias=False, intermediates=False)
    assert equal(unfold(named_ones.result.body), plain.result.element(*named_ones.result.indices)).equal


def _grouped(pairing: str) -> Array:
    x, d, r, g = array("x", "B,n,d_model"), size("d_k"), size("r"), size("g")
    w = array("W_Q", "d_model,g*r*d_k")
    c, u, t, e = index("c", "d_model"), index("u", "g"), index("t", "r"), index("e", "d_k")
    head = u * r + t if pairing == "repeat" else t * g + u
    q = np.einsum("bic,cute->butie", x, Array([c, u, t, e], w.element(c, head * d + e)))
    k, v = (np.einsum("bic,cae->baie", x, _weights(f"W_{s}", "g")) for s in "KV")
    scores = np.exp(np.einsum("butie,buje->butij", q, k) / sp.sqrt(d))
    o = np.einsum("butij,buje->butie", scores / np.sum(scores, -1, keepdims=True), v)
    out = Array([u, t, e, c], array("W_O", "g*r*d_k,d_model").element(head * d + e, c))
    return np.einsum("butie,utec->bic", o, out)


def test_grouped_heads_use_kv_head_a_div_r() -> None:
    trace = multi_head_attention(("B", "n", "d_model"), "h", kv_heads="g", bias=False, intermediates=False)
    assert equal(trace.result.body, _grouped("repeat").element(*trace.result.indices)).equal
    assert not equal(trace.result.body, _grouped("tile").element(*trace.result.indices)).equal


# ---------------------------------------------------------------------- variants
def test_cross_attention_has_two_lengths_c07() -> None:
    trace = cross_attention((2, 4, 12), (2, 7, 12), 3)
    assert result(trace, "S") == (2, 3, 4, 7)
    assert trace.sizes(trace.result.axes) == (2, 4, 12)
    single = cross_attention((2, 4, 12), (2, 8, 12), 1)
    assert result(single, "S") == (2, 1, 4, 8)


def test_other_width_of_the_keys() -> None:
    trace = cross_attention((2, 4, 12), (2, 7, 20), 3)
    assert trace.size(trace.parameters) == 2 * (12 * 12 + 12) + 2 * (20 * 12 + 12)


def test_lengths_that_are_equal_keep_their_names() -> None:
    trace = cross_attention((2, 9, 12), (2, 9, 12), 3)
    scores = next(line.result for line in trace.lines if line.result.label == "S")
    assert [str(a) for a in scores.axes] == ["B", "h", "L_q", "L_kv"]


def test_masks_broadcast_by_name() -> None:
    causal = multi_head_attention((2, 5, 12), 3, mask="causal")
    assert result(causal, "M") == (5, 5)
    padding = cross_attention((2, 4, 12), (2, 7, 12), 3, mask="padding")
    assert result(padding, "M") == (2, 7)
    assert result(padding, "M_v") == (2, 1, 1, 7)


def test_cache_is_put_in_front() -> None:
    trace = multi_head_attention((3, 1, 768), 12, kv_heads=4, cache=37, mask="causal")
    assert result(trace, "K_all") == (3, 4, 38, 64)
    assert result(trace, "S") == (3, 12, 1, 38)
    assert result(trace, "M") == (1, 38)
    assert any("M_ij = [j ≤ i + p]" in line.formula for line in trace.lines)
    assert any("cache holds" in n and f"{2 * 3 * 4 * 38 * 64:,}" in n for n in trace.notes)


def test_multi_query() -> None:
    trace = multi_head_attention((2, 5, 24), 4, kv_heads=1)
    assert result(trace, "K") == (2, 5, 6)
    assert result(trace, "K_r") == (2, 4, 5, 6)
    assert trace.size(trace.parameters) == 2 * (24 * 24 + 24) + 2 * (24 * 6 + 6)


def test_length_first_keeps_samples_apart_c06() -> None:
    first = multi_head_attention((5, 2, 8), 4, length_first=True)
    assert result(first, "S") == (2, 4, 5, 5)
    assert first.sizes(first.result.axes) == (5, 2, 8)
    wrong = multi_head_attention((5, 2, 8), 4)  # the same array read batch first: attention over the batch
    assert result(wrong, "S") == (5, 4, 2, 2)
    assert first.sizes(first.result.axes) == wrong.sizes(wrong.result.axes)
    for trace, kept in ((first, "B"), (wrong, "B")):
        x = named("x", trace.lines[0].result.axes)
        assert [str(a) for a in dependence(trace.result, x).kept] == [kept]
    with pytest.raises(ShapeError, match="axis 0 is named B, a batch, but a length-first layer reads"):
        multi_head_attention(("B", "n", "d_model"), "h", length_first=True)
    with pytest.raises(ShapeError, match="axis 1 is named B, a batch, but a batch-first layer reads"):
        multi_head_attention(("n", "B", "d_model"), "h")


def test_scale_is_the_root_of_the_head_size_c09() -> None:
    text = multi_head_attention((1, 10, 768), 12).text()
    assert "√d_k = √64 = 8" in text
    assert "√d_k = √48 ≈ 6.9282" in multi_head_attention((1, 10, 576), 12).text()


# ---------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("width", "heads", "parts"),
    [
        (
            770,
            12,
            [
                "split heads",
                "d_model = 770",
                "h = 12",
                "770 = 12·64 + 2",
                "d_model = h·d_k fails",
                "n = 10",
                "768 or 780",
            ],
        ),
        (512, 6, ["d_model = 512", "h = 6", "512 = 6·85 + 2", "h = 2, 4, 8"]),
        (1600, 48, ["d_model = 1600", "h = 48", "h = 32, 40, 50"]),
    ],
)
def test_heads_that_do_not_divide_c03(width: int, heads: int, parts: list[str]) -> None:
    with pytest.raises(ShapeError) as caught:
        multi_head_attention((1, 10, width), heads)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: multi_head_attention((2, 9, 512), 8, kv_heads=3),
            r"group heads: h = 8 is not a multiple of g = 3 .*h = g·r fails",
        ),
        (lambda: cross_attention((2, 4, 12), (3, 7, 12), 3), r"the batch of q and of kv: B = 2 against 3"),
        (lambda: cross_attention((2, 4, 12), (2, 7, 12), 3, mask="causal"), "one sequence"),
        (lambda: multi_head_attention((1, 10), 12), r"got 2 sizes \(1, 10\)"),
        (lambda: multi_head_attention(("n", "n", "d"), "h"), "two axes are named n"),
        (lambda: multi_head_attention((1, 10, 768), 0), "positive integer"),
        (lambda: multi_head_attention((1, 10, 768), 12, mask="banded"), "'banded' is none of"),  # type: ignore[arg-type]
    ],
)
def test_other_errors(ask, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        ask()


# ---------------------------------------------------------------------- forms
def test_json_holds_every_fact() -> None:
    trace = multi_head_attention((1, 10, 768), 12)
    data = json.loads(trace.json())
    assert data["sizes"] == {"B": 1, "n": 10, "d_model": 768, "h": 12, "d_k": 64}
    assert len(data["lines"]) == 17
    scores = next(line for line in data["lines"] if line["result"]["name"] == "S")
    assert scores["einsum"] == "bhid,bhjd->bhij"
    assert [a["sizes"] for a in scores["inputs"]] == [[1, 12, 10, 64]] * 2
    assert data["parameters"]["value"] == 4 * 768**2 + 4 * 768
    assert trace.json() == multi_head_attention((1, 10, 768), 12).json()


def test_svg_is_well_formed_and_the_same_every_time() -> None:
    trace = cross_attention((2, 4, 512), (2, 7, 512), 8, kv_heads=2, mask="padding")
    picture = trace.svg()
    assert picture == cross_attention((2, 4, 512), (2, 7, 512), 8, kv_heads=2, mask="padding").svg()
    root = ElementTree.fromstring(picture)
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for line in trace.lines:
        assert line.formula in texts
    boxes = list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]
    assert len(boxes) == len(trace.lines)
    spans = [tuple(float(r.get(k, "0")) for k in ("x", "y", "width", "height")) for r in boxes]
    for k, (x, y, w, h) in enumerate(spans):
        for u, v, s, t in spans[k + 1 :]:
            assert x + w <= u or u + s <= x or y + h <= v or v + t <= y, "two boxes overlap"


def test_markdown_has_a_row_for_each_line() -> None:
    trace = multi_head_attention((1, 10, 768), 12)
    rows = [r for r in trace.markdown().splitlines() if r.startswith("|")]
    assert len(rows) == 2 + len(trace.lines)
    assert len({r.count("|") for r in rows}) == 1
    assert "| 11 | batched matmul | `S = Q_h K_hᵀ` | `bhid,bhjd->bhij` |" in trace.markdown()


def test_counts_in_notes_are_written_like_totals() -> None:
    trace = multi_head_attention((3, 1, 768), 12, kv_heads=4, cache=37)
    assert any("numbers = 58,368 after this step" in n for n in trace.notes)
    trace = multi_head_attention((1, 100, 768), 12)
    assert any("entries = 120,000: memory grows" in n for n in trace.notes)
