"""Machines as networks: units as discs, weights as lines, placed by layers, on a circle, or by their couplings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..model import BoltzmannMachine, check_model
from ..validation import check_array, check_choice, check_row, describe
from .style import APART, DASHED, INK, MAX_LABELLED_UNITS, MINUS, OPEN, PLUS, TOGETHER, circle, literal, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def network(
    model: BoltzmannMachine,
    ax: Axes,
    *,
    layers: Sequence[Sequence[int]] = (),
    places: ArrayLike | str | None = None,
    states: ArrayLike | None = None,
    clamped: Sequence[int] = (),
    sizes: ArrayLike | None = None,
    messages: Mapping[tuple, Any] | None = None,
) -> Axes:
    """Draw units as discs and weights as lines: orange pulls together, dashed purple pushes apart, thicker is stronger.

    layers    units of each row, from the bottom; rows of one length are a lattice, and lines round its back are stubs
    places    (n, 2), or "circle" (unit 0 at the top, clockwise, as in widgets.MachineView), or "near": who pull each
              other stand together.  Without it up to four units stand in a circle, others near
    states    (n,) of -1/+1, and 0 for a unit that is left open: +1 is blue, -1 white, open grey
    clamped   units that are clamped, drawn as squares
    sizes     (n,) from 0 to 1, how large each disc is
    messages  {(i, j): the message from i to j}, arrows beside the lines
    The names of the machine stand beside its units.  Up to four units each weight and bias is written too.

    >>> plot.network(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    check_model(model)
    layers = () if layers is None else layers
    spots, torus = _places(model, layers, places)
    states = np.zeros(model.n) if states is None else check_row("states", states, model.n)
    if not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(f"states must be -1, +1, or 0 for open, found {describe(states.tolist())}; try states=None")
    sizes = np.ones(model.n) if sizes is None else check_row("sizes", sizes, model.n).clip(0, 1)
    messages = {} if messages is None else messages
    few, pen = model.n <= MAX_LABELLED_UNITS, np.clip(150 / model.n, 9, 28)
    scale = _scale(ax, spots, bool(len(layers)) and not torus)
    screen = spots * scale  # in points
    gap = min((np.hypot(*(screen[:i] - screen[i]).T).min() for i in range(1, model.n)), default=99)
    size = min(pen, 0.75 * gap) * (0.5 + 0.5 * np.sqrt(sizes))  # discs do not touch
    upper = sparse.triu(sparse.coo_array(model.weights), 1).tocoo()
    largest, lines = np.abs(upper.data).max(initial=0) or 1, []
    for i, j, w in zip(*upper.coords, upper.data, strict=True):
        if not w:
            continue
        style: Any = {"color": TOGETHER} if w > 0 else {"color": APART, "linestyle": DASHED}
        style |= {"linewidth": (0.5 + 5 * abs(w) / largest) * min(1, pen / 20), "zorder": 1, "solid_capstyle": "butt"}
        step = spots[j] - spots[i]
        if torus and sorted(np.abs(step)) in ([0, reach] for reach in np.ptp(spots, axis=0)):  # round the back
            for end, to in ((spots[i], -np.sign(step)), (spots[j], np.sign(step))):
                ax.plot(*np.array([end, end + 0.55 * to]).T, **style)
            continue
        ax.plot(*spots[[i, j]].T, **style)
        lines.append(screen[[i, j]])
        middle = spots[[i, j]].mean(axis=0)
        across = _across(screen[j] - screen[i], spots[[i, j]].mean(axis=0) - spots.mean(axis=0))
        if few:
            _beside(ax, signed(w), middle, across, 5 + style["linewidth"] / 2)
        for a, b in messages.keys() & {(i, j), (j, i)}:
            ends = spots[a] + np.outer([0.3, 0.7], spots[b] - spots[a])
            about: Any = {"arrowstyle": "->", "color": PLUS, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
            side = across if (a, b) == (i, j) else -across
            lift = side * (5 + style["linewidth"] / 2) / scale
            ax.annotate("", ends[1] + lift, ends[0] + lift, arrowprops=about)
            _beside(ax, f"{messages[a, b]}", middle, side, 9 + style["linewidth"] / 2, PLUS)
    for i in range(model.n):
        style = {"color": {1: PLUS, -1: MINUS, 0: OPEN}[int(states[i])], "markeredgecolor": INK, "zorder": 2}
        ax.plot(*spots[i], "s" if i in clamped else "o", markersize=size[i], markeredgewidth=1.2, **style)
    names = literal(model.names) or ([*map(str, range(model.n))] if model.n <= 20 and not torus else [])
    labels = [
        name + (f"\nb = {signed(bias)}" if few and bias else "")
        for name, bias in zip(names, model.biases, strict=False)
    ]
    for spot, text, (side, radius) in zip(spots, labels, _label_sides(screen, size, lines, labels), strict=False):
        _beside(ax, text, spot, side, radius + 2, fontweight="bold" if model.names else "normal")
    ax.set_aspect("auto" if len(layers) and not torus else "equal")
    ax.set_axis_off()
    return ax


def _beside(ax, text, spot, side, gap, colour="black", **style):
    """Write at `gap` points from a spot, towards `side`."""
    ha = "center" if abs(side[0]) < 0.4 else "left" if side[0] > 0 else "right"
    va = "center" if abs(side[1]) < 0.4 else "bottom" if side[1] > 0 else "top"
    ax.annotate(text, spot, gap * np.asarray(side), textcoords="offset points", ha=ha, va=va, color=colour, **style)


def _places(model, layers, places):
    """Where each unit stands, (n, 2), and whether that is a lattice."""
    n = model.n
    if not isinstance(layers, Sequence) or layers:
        rows = isinstance(layers, Sequence) and all(np.iterable(row) and not isinstance(row, str) for row in layers)
        if not rows or sorted((unit for layer in layers for unit in layer), key=str) != sorted(range(n), key=str):
            raise ValueError(
                f"layers must have each of the units 0 to {n - 1} once, found {describe(layers)}; try [[0, 1], [2]]"
            )
        lattice, spots = len(layers) > 2 and {len(row) for row in layers} == {n // len(layers)} != {1}, np.empty((n, 2))
        for height, layer in enumerate(layers):
            across = np.arange(len(layer)) if lattice else (np.arange(len(layer)) + 0.5) / len(layer)
            spots[list(layer)] = np.column_stack([across, [height] * len(layer)])
        return spots, lattice
    if places is not None and not isinstance(places, str):
        spots = check_array("places", places)
        if spots.shape != (n, 2):
            raise ValueError(f"places must be ({n}, 2), found {describe(places)}; leave them out for a circle")
        return spots, False
    usual = "circle" if n <= MAX_LABELLED_UNITS or n > 200 else "near"
    kind = check_choice("places", places or usual, ("circle", "near"))
    return (_near(model) if kind == "near" else circle(n)), False


def _near(model):
    """Places where units that pull each other are near: the least stress (Kamada and Kawai 1989), by majorisation."""
    w = model.dense_weights / (np.abs(model.dense_weights).max() or 1)
    far = csgraph.shortest_path(np.where(w > 0, 1 / (0.5 + w.clip(0)), 0), directed=False)
    far = np.minimum(far, 2.5) + (w < 0) / 2
    place = circle(len(w)) * far.max() / 2
    stiff = 1 / (far + np.eye(len(w))) ** 2 * (1 - np.eye(len(w)))
    inverse = np.linalg.pinv(np.diag(stiff.sum(axis=0)) - stiff)
    for _ in range(300):
        apart = np.hypot(*(place[:, None] - place).T) + np.eye(len(w))
        pull = stiff * far / apart
        place = inverse @ ((np.diag(pull.sum(axis=0)) - pull) @ place)
    place -= place.mean(axis=0)
    return place @ np.linalg.svd(place, full_matrices=False)[2].T  # the longer way lies


def _scale(ax, spots, free):
    """Points in a unit of x and of y; the limits leave room for discs and names."""
    room = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi
    spread = np.ptp(spots, axis=0)
    scale = np.where(spread > 0, (room - [80, 70]).clip(40) / np.where(spread > 0, spread, 1), np.inf)
    if not free or not np.isfinite(scale).all():
        scale[:] = scale.min() if np.isfinite(scale.min()) else 40
    middle, half = (spots.max(axis=0) + spots.min(axis=0)) / 2, room / 2 / scale
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    return scale


def _across(step, away):
    """The direction across `step` that leads `away`, or up."""
    side = np.array([-step[1], step[0]]) / (np.hypot(*step) or 1)
    lead = side @ away
    return side if lead > 1e-9 or (abs(lead) <= 1e-9 and side[1] > 0) else -side


def _label_sides(screen, size, lines, labels):
    """On which side of each unit its name meets the fewest lines, discs and names: outwards where all are free."""
    turns, taken, chosen = np.pi / 4 * np.arange(8), [], []
    grid = np.array([(u, v) for u in (-0.5, -0.25, 0, 0.25, 0.5) for v in (-0.5, 0, 0.5)])
    start, end = np.array(lines).reshape(-1, 2, 2).swapaxes(0, 1)
    along = end - start
    for unit, label in enumerate(labels):
        extent = np.array([6.2 * max(map(len, label.split("\n"))), 13 * (label.count("\n") + 1)])
        outward, best = screen[unit] - screen.mean(axis=0), (np.inf, np.zeros(2), extent)
        for side in np.column_stack([np.cos(turns), np.sin(turns)]):
            middle = screen[unit] + side * (size[unit] / 2 + 2) + extent / 2 * np.sign(side) * (np.abs(side) > 0.4)
            dots = (middle + grid * extent)[:, None]
            part = (((dots - start) * along).sum(2) / (along**2).sum(1).clip(1e-9)).clip(0, 1)
            crossed = (np.hypot(*np.moveaxis(dots - start - part[..., None] * along, 2, 0)) < 4).any(axis=0).sum()
            hidden = (np.hypot(*np.moveaxis(dots - screen, 2, 0)) < size / 2 + 1).any(axis=0).sum()
            met = sum((np.abs(middle - other) < (extent + wide) / 2).all() for other, wide in taken)
            cost = crossed + 2 * hidden + 3 * met - 0.4 * side @ outward / (np.hypot(*outward) or 1)
            best = min(best, (cost, side, middle), key=lambda choice: choice[0])
        taken.append((best[2], extent))
        chosen.append((best[1], size[unit] / 2))
    return chosen
