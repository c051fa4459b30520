"""The witness: plain NumPy float64 references, written by hand from the sources, that the derivations are checked
against.

No computer algebra and nothing shared with the symbolic side. A topic is a module with the name of the theorem topic,
and the functions stay in it: ``from lemmata.numeric.softmax import softmax, softmax_vjp``. They are not lifted up
here, so that ``lemmata.numeric.softmax`` is always the module and never the function of that name.

Forward functions are stable at logits of ±1000 and accept −inf where the limit exists. Backward functions are judged by
differences of the forward functions (``differences``, ``complex_step``), never by one another. ``comparison`` says
whether two arrays agree, ``sampling`` draws inputs, ``written_out`` has the definitions entry by entry for display.
"""

from . import (
    activations,
    arguments,
    attention,
    binary_cross_entropy,
    comparison,
    complex_step,
    cross_entropy,
    differences,
    distillation,
    flat_attention,
    flat_layers,
    flat_transformer,
    focal_loss,
    gated_activations,
    gradient_check,
    kl_divergence,
    layers,
    multi_head,
    normalization,
    position_pairs,
    positional_encoding,
    regression_losses,
    rotary,
    sampling,
    softmax,
    targets,
    transformer,
    written_out,
)

__all__ = [
    "activations",
    "arguments",
    "attention",
    "binary_cross_entropy",
    "comparison",
    "complex_step",
    "cross_entropy",
    "differences",
    "distillation",
    "flat_attention",
    "flat_layers",
    "flat_transformer",
    "focal_loss",
    "gated_activations",
    "gradient_check",
    "kl_divergence",
    "layers",
    "multi_head",
    "normalization",
    "position_pairs",
    "positional_encoding",
    "regression_losses",
    "rotary",
    "sampling",
    "softmax",
    "targets",
    "transformer",
    "written_out",
]
