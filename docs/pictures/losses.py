"""Softmax with temperature, losses by the logit, and gradient descent on the simplex."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.numeric.activations import sigmoid, sigmoid_derivative
from lemmata.numeric.binary_cross_entropy import bce_with_logits, bce_with_logits_gradient
from lemmata.numeric.cross_entropy import cross_entropy, cross_entropy_gradient
from lemmata.numeric.focal_loss import sigmoid_focal_loss, sigmoid_focal_loss_gradient
from lemmata.numeric.regression_losses import mse, mse_gradient
from lemmata.numeric.softmax import softmax, softmax_jvp

from .style import DASHES, Theme

LOGITS = np.array([2.0, 1.0, 0.0, -1.0])


def temperature(figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    tau = np.geomspace(0.05, 50, 160)
    p = np.stack([softmax(LOGITS, temperature=t) for t in tau])
    for i, z in enumerate(LOGITS):
        axes.plot(tau, p[:, i], color=theme.lines[i], linestyle=DASHES[i], label=f"$z_{i} = {z:g}$")
    axes.axhline(1 / len(LOGITS), color=theme.text, linewidth=0.8)
    axes.annotate("$1/K$", (tau[0], 1 / len(LOGITS)), (0, 4), textcoords="offset points")
    axes.axvline(1, color=theme.faint, linewidth=1.2)
    axes.set(xscale="log", xlabel="$\\tau$", ylabel="$p_i = \\mathrm{softmax}(z/\\tau)_i$", ylim=(-0.02, 1.02))
    axes.legend()


def by_logit(figure: Figure, theme: Theme) -> None:
    """For the label 1: losses and their derivatives by the logit."""
    z = np.linspace(-6, 6, 121)
    one = np.ones_like(z)
    # (σ − 1)² as a loss on top of the sigmoid: the chain rule gives the factor σ' that vanishes
    square = np.array([mse([s], [1.0]) for s in sigmoid(z)])
    square_slope = np.array([mse_gradient([s], [1.0])[0] for s in sigmoid(z)]) * sigmoid_derivative(z)
    curves = (
        (
            "$-\\log\\,\\sigma(z)$",
            bce_with_logits(z, one, reduction="none"),
            bce_with_logits_gradient(z, one, reduction="sum"),
        ),
        (
            "$-(1-\\sigma)^2\\log\\,\\sigma$",
            sigmoid_focal_loss(z, one, 2.0, reduction="none"),
            sigmoid_focal_loss_gradient(z, one, 2.0, reduction="sum"),
        ),
        ("$(\\sigma(z)-1)^2$", square, square_slope),
    )
    losses, slopes = figure.subplots(1, 2)
    for n, (label, loss, slope) in enumerate(curves):
        losses.plot(z, loss, color=theme.lines[n], linestyle=DASHES[n], label=label)
        slopes.plot(z, slope, color=theme.lines[n], linestyle=DASHES[n])
    losses.set(xlabel="$z$", ylabel="$L$")
    slopes.set(xlabel="$z$", ylabel="$\\partial L/\\partial z$")
    losses.legend()


def simplex(figure: Figure, theme: Theme) -> None:
    """Where −∇L by the logits moves the probabilities: dp = J (y − p), for a one-hot and for a soft label."""
    for axes, y in zip(figure.subplots(1, 2), ([1.0, 0.0, 0.0], [0.6, 0.3, 0.1]), strict=True):
        _field(axes, theme, np.array(y))


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def _field(axes: Axes, theme: Theme, y: np.ndarray) -> None:
    n = 13
    weights = np.array([(a, b, n - a - b) for a in range(1, n) for b in range(1, n - a)]) / n
    z = np.log(weights)
    targets = np.broadcast_to(y, z.shape)
    movement = softmax_jvp(z, -cross_entropy_gradient(z, targets, reduction="sum"))
    places, arrows = weights @ CORNERS, movement @ CORNERS
    loss = cross_entropy(z, targets, reduction="none")
    axes.fill(*CORNERS.T, facecolor="none", edgecolor=theme.text, linewidth=1.2)
    axes.tricontour(*places.T, loss, levels=9, colors=theme.faint, linewidths=0.8)
    axes.quiver(*places.T, *arrows.T, color=theme.lines[0], angles="xy", scale_units="xy", scale=2.2, width=0.006)
    axes.plot(*(y @ CORNERS), marker="*", markersize=15, color=theme.lines[1], linestyle="none", zorder=3)
    for i, (corner, offset) in enumerate(zip(CORNERS, ((-12, -14), (12, -14), (0, 8)), strict=True)):
        axes.annotate(f"$e_{i}$", corner, offset, textcoords="offset points", ha="center")
    axes.annotate("$y$", y @ CORNERS, (10, 6), textcoords="offset points", color=theme.lines[1])
    axes.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.12, 1.0))
    axes.axis("off")
