"""A machine drawn as what it is: units, and the connections between them; and the flows between its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .model import BoltzmannMachine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOGETHER, APART = "#B35806", "#542788"  # the colours of plot.weights(), dark enough for a line
FEW = 4  # units: up to here each weight is written on its line
MARGIN = 0.25  # around the places of the units
BOX: Any = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # of words that stand on a line


def network(
    model: BoltzmannMachine,
    ax: Axes,
    *,
    layers: Sequence[Sequence[int]] = (),
    states: Any = None,
    held: Sequence[int] = (),
) -> Axes:
    """Draw units as discs and weights as lines: orange pulls together, dashed purple pushes apart, thicker is stronger.

    layers  units of each row, from the bottom; without them they stand in a circle, unit 0 at the top, clockwise, as in
            widgets.MachineView
    states  (n,) of -1/+1, and 0 for a unit that is left open: +1 is dark, -1 light
    held    units that are clamped, drawn as squares
    The names of the machine stand beside its units.  Up to four units each weight and bias is written too.

    >>> plot.network(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    x, y = _places(model.n, layers).T
    upper = sparse.triu(sparse.coo_array(model.weights), 1).tocoo()
    largest = np.abs(upper.data).max(initial=0) or 1
    few, room = model.n <= FEW, _room(layers, ax)
    size = min(np.clip(180 / model.n, 5, 30), 0.8 * room)  # room: discs in a row do not touch
    for i, j, w in zip(*upper.coords, upper.data, strict=True):
        if w:
            style: Any = {"color": TOGETHER, "linestyle": "-"} if w > 0 else {"color": APART, "linestyle": (0, (3, 2))}
            ax.plot(x[[i, j]], y[[i, j]], linewidth=(0.5 + 5 * abs(w) / largest) * size / 30, zorder=1, **style)
            if few:
                ax.text(x[[i, j]].mean(), y[[i, j]].mean(), f"{w:+.3g}", ha="center", va="center", bbox=BOX)
    shades = {-1: "white", 0: "0.85", 1: "0.25"}
    states = np.zeros(model.n) if states is None else np.asarray(states)
    names = model.names or (range(model.n) if model.n <= 20 else [""] * model.n)
    for i, (name, bias) in enumerate(zip(names, model.biases, strict=True)):
        marker = "s" if i in held else "o"
        ax.plot(x[i], y[i], marker, markersize=size, color=shades[int(states[i])], markeredgecolor="0.25", zorder=2)
        side = -1 if y[i] < y.mean() else 1
        words = f"{name}, b = {bias:+.3g}" if few and bias else f"{name}"
        style = {"va": "bottom" if side > 0 else "top", "ha": "center", "bbox": BOX, "zorder": 1.5}  # under discs
        ax.annotate(words, (x[i], y[i]), (0, side * (size / 2 + 3)), textcoords="offset points", **style)
    ax.margins(MARGIN)
    if model.n <= 2 and not layers:  # a circle of two has no width
        ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    ax.set_aspect("equal" if not layers else "auto")
    ax.set_axis_off()
    return ax


def flows(matrix: Any, ax: Axes, labels: Sequence | None = None) -> Axes:
    """Draw what flows from states (rows) to states (columns), (n, n), on a logarithmic scale.

    Darker is more, and where numbers are negative orange is positive and purple negative.  What is zero, or below a
    millionth of the largest, is white and crossed out, so that it is not taken for something tiny.  labels are those
    of the states.

    >>> plot.flows([[0.9, 0.1], [0.2, 0.8]], plt.subplot(), labels=["up", "down"])
    <Axes: >
    """
    from matplotlib.colors import LogNorm, SymLogNorm  # only here: importing bmlab loads no matplotlib

    matrix = np.asarray(matrix, dtype=float)
    limit = np.abs(matrix).max(initial=0) or 1.0
    zero = np.abs(matrix) < limit / 1e6
    one_sign = bool((matrix > -limit / 1e6).all())
    tiny = limit / (1e4 if one_sign else 1e3)
    scale = LogNorm(tiny, limit) if one_sign else SymLogNorm(tiny, vmin=-limit, vmax=limit, base=10)
    shown = np.ma.masked_array(matrix if not one_sign else matrix.clip(tiny), zero)
    image = ax.imshow(shown, cmap="Oranges" if one_sign else "PuOr_r", norm=scale)
    ax.plot(*np.nonzero(zero)[::-1], "x", color="0.6", markersize=5)
    bar = ax.figure.colorbar(image, ax=ax, label="flow", shrink=0.8)
    if not one_sign:  # near zero the scale is linear, and numbers of that range stand on top of each other
        bar.set_ticks([tick for tick in bar.get_ticks() if tick == 0 or tiny <= abs(tick) <= limit])
    if labels is not None:
        ax.set_xticks(range(len(labels)), labels, fontsize="small")
        ax.set_yticks(range(len(labels)), labels, fontsize="small")
    return ax


def _places(n: int, layers: Sequence[Sequence[int]]) -> np.ndarray:
    """Where each unit stands, (n, 2)."""
    if not layers:
        turn = 2 * np.pi * np.arange(n) / n
        return np.column_stack([np.sin(turn), np.cos(turn)])
    if sorted(unit for layer in layers for unit in layer) != list(range(n)):
        raise ValueError(f"layers must name each of the units 0 to {n - 1} once, found {[list(row) for row in layers]}")
    places = np.empty((n, 2))
    for height, layer in enumerate(layers):
        places[list(layer)] = np.column_stack([(np.arange(len(layer)) + 0.5) / len(layer), [height] * len(layer)])
    return places


def _room(layers: Sequence[Sequence[int]], ax: Axes) -> float:
    """From one unit to the next in the longest row, in points."""
    gaps = max((len(layer) for layer in layers), default=1) - 1
    width = ax.get_window_extent().width * 72 / ax.figure.dpi
    return width / (gaps * (1 + 2 * MARGIN)) if gaps else width
