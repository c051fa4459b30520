"""Gradients in named adjoints in every form: goldens, KaTeX and pdflatex, the chain rule by name, JSON."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lemmata.symbolic.derivations.model import Derivation
from lemmata.symbolic.derivations.replay import BrokenChain, check_chain, check_parts, replay
from lemmata.symbolic.language.errors import FormulaError
from lemmata.symbolic.rendering.derivation import (
    derivation_latex,
    derivation_markdown,
    derivation_tex,
    derivation_text,
    repr_latex,
)
from lemmata.symbolic.rendering.names import differential, written
from lemmata.symbolic.rendering.serialise import derivation_from_json, derivation_to_json
from lemmata.symbolic.rendering.system_document import system_document
from lemmata.symbolic.rendering.text import write as write_text

from . import katex
from .pdflatex import compile_tex
from .systems import SYSTEMS, attention, batched_attention, feed_forward, layer_norm

DETAILS = ("brief", "normal", "full")

ATTENTION_BRIEF = """\
Attention, backward (vjp_attention)

  given      Q ∈ ℝ^(n × d), K ∈ ℝ^(m × d), V ∈ ℝ^(m × e), G ∈ ℝ^(n × e)
  forward    S_ij := (1/√d) Σ_k K_jk Q_ik       S = Q Kᵀ/√d
             P_ij := exp(S_ij)/Σ_k exp(S_ik)    P = softmax(S)
             O_ij := Σ_k P_ik V_kj              O = P V
  loss       L = Σ_jk G_jk O_jk    L = ⟨G, O⟩
  backward   dO = G
             dP = dO Vᵀ
             dS = P ⊙ (dP − rowsum(P ⊙ dP))
  gradients  dQ = dS K/√d
             dK = dSᵀ Q/√d
             dV = Pᵀ dO

  note: Beside a matrix, rowsum is repeated along the missing axis, as NumPy broadcasts.
"""

LAYER_NORM_BRIEF = """\
LayerNorm, backward (vjp_layer_norm)

  given      X ∈ ℝ^(B × T × C), γ ∈ ℝ^C, β ∈ ℝ^C, ε ∈ ℝ [positive], G ∈ ℝ^(B × T × C)
  forward    μ_bt := (1/C) Σ_j X_btj                       μ = rowmean(X)   (for each b)
             r_bt := 1/√((1/C) Σ_j (X_btj − μ_bt)² + ε)    r = 1 ⊘ √(rowmean((X − μ)^⊙2) + ε 1)   (for each b)
             x̂_bti := r_bt (X_bti − μ_bt)                  x̂ = r ⊙ (X − μ)   (for each b)
             Y_bti := β_i + x̂_bti γ_i                      Y = x̂ ⊙ γ + β   (for each b)
  loss       L = Σ_btj G_btj Y_btj    L = ⟨G, Y⟩
  backward   dY = G
             dx̂ = dY ⊙ γ   (for each b)
  gradients  dX = r ⊙ (dx̂ − rowmean(dx̂) − x̂ ⊙ rowmean(dx̂ ⊙ x̂))   (for each b)
             dγ = Σ_bt (dY_bt ⊙ x̂_bt)
             dβ = Σ_bt dY_bt

  note: Beside a matrix, a vector and rowmean are repeated along the missing axis, as NumPy
    broadcasts.
"""

ATTENTION_LATEX = r"""\begin{aligned}
S_{ij} &:= \frac{1}{\sqrt{d}} \sum_{k} K_{jk} Q_{ik} & \qquad S &= \frac{Q K^{\top}}{\sqrt{d}} \\
P_{ij} &:= \frac{\exp\left(S_{ij}\right)}{\sum_{k} \exp\left(S_{ik}\right)} & \qquad P &= SOFTMAX \\
O_{ij} &:= \sum_{k} P_{ik} V_{kj} & \qquad O &= P V \\
L &= \sum_{j,k} G_{jk} O_{jk} & \qquad L &= \left\langle G, O \right\rangle \\[1ex]
\mathrm{d}O &= G \\
\mathrm{d}P &= \mathrm{d}O \, V^{\top} \\
\mathrm{d}S &= P \odot \left(\mathrm{d}P - \operatorname{rowsum}\left(P \odot \mathrm{d}P\right)\right) \\[1ex]
\mathrm{d}Q &= \frac{\mathrm{d}S \, K}{\sqrt{d}} \\
\mathrm{d}K &= \frac{\mathrm{d}S^{\top} Q}{\sqrt{d}} \\
\mathrm{d}V &= P^{\top} \, \mathrm{d}O
\end{aligned}""".replace("SOFTMAX", r"\operatorname{softmax}\left(S\right)")


def test_golden_attention() -> None:
    assert derivation_text(attention(), "brief") == ATTENTION_BRIEF
    assert derivation_latex(attention(), "brief") == ATTENTION_LATEX


def test_golden_layer_norm() -> None:
    assert derivation_text(layer_norm(), "brief") == LAYER_NORM_BRIEF


def test_normal_has_the_chain_rule_and_the_result() -> None:
    shown = derivation_text(attention())
    assert "  dS_ij = Σ_kl dP_kl ∂P_kl/∂S_ij\n        = P_ij (dP_ij − Σ_k P_ik dP_ik)\n" in shown
    assert "exp(S_kl)" not in shown
    assert "fold, collect]" in shown
    assert shown.index("dS = P ⊙") < shown.index("gradients  dQ = dS K/√d")


@pytest.mark.parametrize("name", ["attention", "batched attention", "feed forward"])
def test_full_has_every_step(name: str) -> None:
    d = SYSTEMS[name]()
    shown = derivation_text(d, "full")
    assert [r for p in d.parts for s in p.steps for r in (s.rules or (s.rule,)) if r not in shown] == []
    assert shown.count("Chain rule.") == len(d.parts)
    wide = [s for s in system_document(d, "full").sections if not s.lines]
    assert wide == []


def test_the_forms_say_for_each_and_sum_over_batches() -> None:
    shown = derivation_text(batched_attention(), "brief")
    assert "S = Q Kᵀ/√d   (for each b, i)" in shown
    assert "dS = P ⊙ (dP − rowsum(P ⊙ dP))   (for each b, i)" in shown
    assert r"\quad \text{for each } b, i" in derivation_latex(batched_attention(), "brief")
    forward = derivation_text(feed_forward(), "brief")
    assert "A = max(Z, 0)" in forward
    assert "dZ = dA ⊙ [Z ≥ 0]" in forward
    assert "dW₁ = Σ_b X_bᵀ dZ_b" in forward
    assert "dX = dZ W₁ᵀ" in forward


def test_the_gradients_asked_for_stand_at_the_end_and_first_among_the_given() -> None:
    shown = system_document(attention(), "brief")
    assert [write_text(s.name) for s in shown.sections if s.wanted] == ["dQ", "dK", "dV"]
    assert [write_text(name) for name, _, _ in shown.declared] == ["Q", "K", "V", "G"]


@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_typesets(name: str, detail: str) -> None:
    d = SYSTEMS[name]()
    katex.check(derivation_latex(d, detail))
    assert repr_latex(d, detail).count("$$") == 2
    page = derivation_markdown(d, detail)
    blocks = page.split("$$")[1::2]
    assert len(blocks) >= 2
    for block in blocks:
        katex.check(block.strip())
    for formula in [m for part in page.split("$$")[::2] for m in re.findall(r"\$([^$]+)\$", part)]:
        katex.check(formula, display=False)
    assert max(map(len, derivation_text(d, detail).splitlines())) <= 132


@pytest.mark.parametrize("detail", DETAILS)
def test_a_standalone_file_compiles_and_nothing_sticks_out(detail: str, tmp_path: Path) -> None:
    compiled = compile_tex(derivation_tex([make() for make in SYSTEMS.values()], detail), tmp_path)
    assert compiled.overfull == []


def test_a_local_sum_that_is_not_the_chain_rule_is_shown_as_it_is() -> None:
    d = attention()
    part = next(p for p in d.parts if p.name == "dS")
    wrong = replace(part, left=2 * part.left, steps=())
    shown = derivation_text(replace(d, parts=tuple(wrong if p is part else p for p in d.parts)))
    assert "∂P_kl/∂S_ij" not in shown
    assert "dS_ij = 2 Σ_kl dP_kl ∂/∂S_ij (exp(S_kl)/Σ_a exp(S_ka))" in shown


def test_names_of_adjoints() -> None:
    assert differential("W_Q").latex == r"\mathrm{d}W_{Q}"
    assert differential("gamma").latex == r"\mathrm{d}\gamma"
    assert written("dxhat").latex == written("dx_hat").latex == r"\mathrm{d}\hat{x}"
    assert written("d_model").latex == r"d_{\text{model}}"
    assert written("dxhat").text == "dx̂"


# ---------------------------------------------------------------------- JSON
def changed_part(d: Derivation, name: str, **what: object) -> Derivation:
    return replace(d, parts=tuple(replace(p, **what) if p.name == name else p for p in d.parts))


@pytest.mark.parametrize("name", SYSTEMS)
def test_json_round_trip(name: str) -> None:
    d = SYSTEMS[name]()
    data = derivation_to_json(d)
    again = derivation_from_json(data)
    assert derivation_to_json(again) == data == derivation_to_json(SYSTEMS[name]())
    assert derivation_text(again, "full") == derivation_text(d, "full")
    assert [p.adjoint.origin for p in again.parts if p.adjoint] == [p.adjoint.origin for p in d.parts if p.adjoint]
    for p in again.parts:
        check_chain(p)


def test_parts_from_a_file_are_replayed() -> None:
    again = derivation_from_json(derivation_to_json(attention()))
    check_parts(again)
    assert replay(again, steps=False).verdict == "proved"


def test_a_tampered_part_in_a_file_is_refuted() -> None:
    data = json.loads(derivation_to_json(attention()))
    part = next(p for p in data["parts"] if p["name"] == "dS")
    part["right"] = ["mul", -1, part["right"]]
    assert replay(derivation_from_json(data), steps=False).verdict == "refuted"
    data = json.loads(derivation_to_json(attention()))
    data["parts"] = [p for p in data["parts"] if p["name"] != "dS"]
    with pytest.raises(BrokenChain, match=r"dS|adjoint of S"):
        check_parts(derivation_from_json(data))


def test_an_adjoint_without_a_definition_is_refused() -> None:
    data = json.loads(derivation_to_json(attention()))
    plain = next(n for n, t in enumerate(data["tensors"]) if "body" not in t)
    data["parts"][0]["adjoint"] = plain
    with pytest.raises(FormulaError, match="has no definition in the file"):
        derivation_from_json(data)


def test_a_change_of_a_part_changes_the_file() -> None:
    d = attention()
    part = next(p for p in d.parts if p.name == "dV")
    assert derivation_to_json(changed_part(d, "dV", right=-part.right)) != derivation_to_json(d)
