"""Machines as networks: units as discs, weights as lines, placed by layers, in a line, a tree, a circle, or near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..checking.calls import show_call
from ..checking.validation import check_array, check_choice, check_row, describe
from ..model import BoltzmannMachine, check_model
from .style import (
    APART,
    DASHED,
    HATCH,
    HATCHED,
    INK,
    MAX_LABELLED_UNITS,
    MINUS,
    ON_LIGHT,
    OPEN,
    PLUS,
    TOGETHER,
    circle,
    escape_dollars,
    signed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@show_call()
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
    errors: ArrayLike | None = None,
) -> Axes:
    """Draw units as discs and weights as lines: orange pulls together, dashed purple pushes apart, thicker is stronger.

    layers    units of each row, from the bottom; rows of one length are a lattice, and lines round its back are stubs
    places    (n, 2), or "circle" (unit 0 at the top, clockwise, as in widgets.MachineView), or "near": who pull each
              other stand together.  Without it a chain is a line, a tree has levels, and of others up to four units
              stand in a circle, more near
    states    (n,) of -1/+1, and 0 for a unit that is left open: +1 is blue, -1 white, open hatched; without it all grey
    clamped   units that are clamped, drawn as squares
    sizes     (n,) from 0 to 1, how large each disc is
    messages  {(i, j): the message from i to j}, arrows beside the lines
    errors    (n, n) standard errors of the weights: a weight within two of them of 0 is a thin dotted line in grey
    The names of the machine stand beside its units, and numbers in units without.  Up to four units each weight stands
    on its line and each bias at its unit, to two digits.  Lines are broken below words, which touch nothing.

    >>> plot.network(bmlab.toy(), plt.subplot())
    <Axes: >
    """
    from .labels import Labels

    check_model(model)
    if not model.n:
        raise ValueError("a network must have a unit, found none; try plot.network(bmlab.toy(), ax)")
    layers = () if layers is None else layers
    spots, torus = _places(model, layers, places)
    hatched = states is not None
    states = np.zeros(model.n) if states is None else check_row("states", states, model.n)
    if not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(f"states must be -1, +1, or 0 for open, found {describe(states.tolist())}; try states=None")
    sizes = np.ones(model.n) if sizes is None else check_row("sizes", sizes, model.n).clip(0, 1)
    messages = {} if messages is None else messages
    errors = np.zeros((model.n, model.n)) if errors is None else check_array("errors", errors)
    if errors.shape != (model.n, model.n):
        raise ValueError(
            f"errors must be ({model.n}, {model.n}), found {describe(errors)}; try standard_errors().weights"
        )
    few = model.n <= MAX_LABELLED_UNITS
    names, inside = (
        [_two_lines(name) for name in escape_dollars(model.names)],
        not model.names and model.n <= 20 and not torus,
    )
    pen = np.clip(150 / model.n, 15 if inside else 9, 28)
    scale = _scale(ax, spots, bool(len(layers)) and not torus, 86 if "\n" in "".join(names) else 60)
    screen = spots * scale  # in points
    gap = min((np.hypot(*(screen[:i] - screen[i]).T).min() for i in range(1, model.n)), default=99)
    size = min(pen, (0.5 if few else 0.75) * gap) * (0.5 + 0.5 * np.sqrt(sizes))  # discs do not touch
    labels = Labels(ax)
    _draw_weights(ax, labels, model, spots, torus, min(1, pen / 20), errors, messages)
    for i in range(model.n):
        _draw_unit(ax, spots[i], states[i], "s" if i in clamped else "o", size[i], hatched)
    for i in range(model.n if names or inside else 0):
        if inside:
            about: Any = {"ha": "center", "va": "center_baseline", "fontsize": min(10, 0.55 * size[i]), "zorder": 4}
            ax.text(spots[i][0], spots[i][1], str(i), color="white" if states[i] > 0 else ON_LIGHT, **about)
        words = names[i : i + 1]
        words += [f"b = {_two_digits(model.biases[i])}"] if few and model.biases[i] else []
        if words:
            about = {"fontweight": "bold" if names else "normal", "outward": screen[i] - screen.mean(axis=0)}
            labels.around("\n".join(words), spots[i], size[i] / 2, **about)
    ax.set_aspect("auto" if len(layers) and not torus else "equal")
    ax.set_axis_off()
    return ax


def _draw_weights(ax, labels, model, spots, torus, thickness, errors, messages):
    """Draw a line for each weight, stubs if it goes round the back of a lattice, with its number and messages."""
    upper = sparse.triu(sparse.coo_array(model.weights), 1).tocoo()
    largest = np.abs(upper.data).max(initial=0) or 1
    for i, j, w in zip(*upper.coords, upper.data, strict=True):
        if not w:
            continue
        width = (0.5 + 5 * abs(w) / largest) * thickness
        style = _line_style(w, width, uncertain=abs(w) < 2 * errors[i, j])
        step = spots[j] - spots[i]
        if torus and sorted(np.abs(step)) in ([0, reach] for reach in np.ptp(spots, axis=0)):  # round the back
            for end, to in ((spots[i], -np.sign(step)), (spots[j], np.sign(step))):
                ax.plot(*np.array([end, end + 0.55 * to]).T, **style)
            continue
        (line,) = ax.plot(*spots[[i, j]].T, **style)
        labels.breaks(line)
        if model.n <= MAX_LABELLED_UNITS:
            labels.along(_two_digits(w), line)
        for a, b in messages.keys() & {(i, j), (j, i)}:
            _message(ax, labels, messages[a, b], spots[[a, b]], 5 + style["linewidth"] / 2)


def _line_style(w, width, uncertain) -> dict[str, Any]:
    """The looks of a weight's line: by its sign, or dotted in grey if it may be 0."""
    if uncertain:
        looks = {"color": HATCHED, "linestyle": (0, (1, 2)), "linewidth": 1}
    elif w > 0:
        looks = {"color": TOGETHER, "linewidth": width}
    else:
        looks = {"color": APART, "linestyle": DASHED, "linewidth": width}
    return looks | {"zorder": 1, "solid_capstyle": "butt"}


def _draw_unit(ax, spot, state, shape, size, hatched):
    """Draw a disc, or a square; hatched if its state is open."""
    style: Any = {"color": {1: PLUS, -1: MINUS, 0: OPEN}[int(state)], "markeredgecolor": INK, "zorder": 2}
    ax.plot(*spot, shape, markersize=size, markeredgewidth=1.2, **style)
    if hatched and not state:
        looks: Any = {"facecolor": "none", "edgecolor": HATCHED, "linewidth": 0, "hatch": HATCH, "zorder": 3}
        ax.scatter(spot[0], spot[1], size**2, marker=shape, **looks)


def _two_lines(name):
    """A long name of several words, broken in its middle, as in the live view."""
    words = name.split(" ")
    half = -(-len(words) // 2)
    return "\n".join(filter(None, (" ".join(words[:half]), " ".join(words[half:])))) if len(name) > 12 else name


def _two_digits(number):
    """A weight or bias to two decimals, or to two digits if these are 0."""
    return signed(round(number, 2) or float(f"{number:.2g}"), "+g")


def _message(ax, labels, words, ends, lift):
    """An arrow that runs `lift` points to the left of the line between two units, and its words."""
    from matplotlib.transforms import ScaledTranslation

    step = ax.transData.transform(ends[1]) - ax.transData.transform(ends[0])
    left = lift / 72 * np.array([-step[1], step[0]]) / np.hypot(*step)
    way = ax.transData + ScaledTranslation(left[0], left[1], ax.figure.dpi_scale_trans)
    about: Any = {"arrowstyle": "->", "color": PLUS, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
    start, end = ends[0] + np.outer([0.3, 0.7], ends[1] - ends[0])
    ax.annotate("", end, start, xycoords=way, textcoords=way, arrowprops=about)
    labels.beside(f"{words}", ends, lift, color=PLUS)


def _places(model, layers, places):
    """The place of each unit, (n, 2), and whether that is a lattice."""
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
    tree = _levels(model) if places is None else None
    usual = "circle" if n <= MAX_LABELLED_UNITS or n > 200 else "near"
    kind = check_choice("places", places or usual, ("circle", "near"))
    return (tree if tree is not None else _near(model) if kind == "near" and n > 1 else circle(n)), False


def _levels(model):
    """Places of a tree, its middle at the top and its leaves side by side, or of a chain in a line; None if neither."""
    n, links = model.n, sparse.csr_array(model.weights != 0)
    if n < 3 or links.nnz != 2 * (n - 1) or csgraph.connected_components(links)[0] > 1:
        return None
    steps, degree = csgraph.shortest_path(links, unweighted=True), links.sum(axis=1)
    if degree.max() == 2:
        return np.column_stack([steps[np.argmin(degree)], np.zeros(n)])
    root = np.argmin(steps.max(axis=1))
    order, parent = csgraph.depth_first_order(links, root)
    across, leaves = np.zeros(n), 0
    for unit in order:
        if degree[unit] == 1:
            across[unit], leaves = leaves, leaves + 1
    for unit in order[::-1]:  # each above the middle of its children
        children = np.flatnonzero(parent == unit)
        if len(children):
            across[unit] = across[children].mean()
    depth = steps[root]
    return np.column_stack([across * max(1, depth.max()) / (leaves - 1) * 1.6, -depth])


def _near(model):
    """Places with units near that pull each other: the least stress (Kamada and Kawai 1989), by majorisation."""
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


def _scale(ax, spots, free, high):
    """Points in a unit of x and of y; the limits leave room for discs and names, `high` of it above and below."""
    room = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi
    spread = np.ptp(spots, axis=0)
    scale = np.where(spread > 0, (room - [76, high]).clip(40) / np.where(spread > 0, spread, 1), np.inf)
    if not free or not np.isfinite(scale).all():
        scale[:] = scale.min() if np.isfinite(scale.min()) else 40
    middle, half = (spots.max(axis=0) + spots.min(axis=0)) / 2, room / 2 / scale
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    return scale
