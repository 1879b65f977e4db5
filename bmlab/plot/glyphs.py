"""States of a few units as small pictures: bars over states, a state at a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking.calls import show_call
from ..checking.validation import check_array, check_positive, check_row, describe
from ..model import BoltzmannMachine, check_model
from .style import COLOURS, FAINT, HATCH, INK, MAX_LABELLED_UNITS, MINUS, OPEN, PLUS, UNMET, circle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@show_call()
def states(
    rows: ArrayLike, ax: Axes, bars: Mapping[str, ArrayLike] | None = None, *, model: BoltzmannMachine | None = None
) -> Axes:
    """Draw states (N, n) of up to four units in a row below the axes, and over each a bar for each of `bars`.

    bars   {name: (N,) numbers}; one alone has its numbers written on it, names of methods have their colours
    model  a machine: then red marks the pairs and biases that a state frustrates

    >>> rows, p = bmlab.states(3), bmlab.probabilities(bmlab.toy())
    >>> plot.states(rows, plt.subplot(), {"p": p}, model=bmlab.toy())
    <Axes: >
    """
    rows = few_units(np.atleast_2d(check_array("rows", rows)), "rows")
    bars = {} if bars is None else bars
    width = 0.66 / max(len(bars), 1)
    for k, (name, numbers) in enumerate(bars.items()):
        colour = COLOURS.get(name, PLUS)
        heights = check_row(f"bars[{name!r}]", numbers, len(rows))
        drawn = ax.bar(np.arange(len(rows)) + (k - (len(bars) - 1) / 2) * width, heights, 0.94 * width, color=colour)
        if len(bars) == 1:
            ax.bar_label(drawn, fmt="%.3f", fontsize=9.5, padding=2)
            ax.margins(y=0.1)
    for k, row in enumerate(rows):
        glyph(ax, row, (k, 0), model=model, size=30, offset=(0, -21), coords=ax.get_xaxis_transform())
    ax.set(xlim=(-0.6, len(rows) - 0.4), xticks=[], yticks=[])
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_color(FAINT)
    ax.xaxis.labelpad = 36  # below the states
    if len(bars) > 1:
        for k, name in enumerate(bars):
            about: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "top"}
            ax.annotate("\N{BLACK SQUARE}", (1, 1), (0, -14 * k), color=COLOURS.get(name, PLUS), **about)
            ax.annotate(name, (1, 1), (-14, -14 * k), **about)
    return ax


@show_call()
def glyph(
    ax: Axes,
    state: ArrayLike,
    xy: tuple,
    *,
    model: BoltzmannMachine | None = None,
    size: float = 30,
    offset: tuple = (0, 0),
    coords: Any = "data",
) -> Axes:
    """Draw a state (n,) of up to four units as a small picture at `xy`: +1 blue, -1 white, 0 hatched (open).

    model           a machine: its pairs are lines; a pair or bias that does not get its way is red
    size, offset    points; coords are those of `xy`, as for ax.annotate()

    >>> plot.glyph(plt.subplot(), [1, 1, -1], (0.5, 0.5), model=bmlab.toy())
    <Axes: >
    """
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnnotationBbox, DrawingArea
    from matplotlib.patches import Circle

    state = few_units(check_row("state", state), "state")
    n, size = len(state), check_positive("size", size)
    box, radius = DrawingArea(size, size), size * (0.17 if n < 3 else 0.14)
    x, y = (size / 2 + (size / 2 - radius - 1) * circle(n)).T
    if model is not None:
        check_model(model)
        for i, j in zip(*np.triu(model.dense_weights, 1).nonzero(), strict=True):
            met = model.dense_weights[i, j] * state[i] * state[j] >= 0
            style: Any = {"color": INK} if met else {"color": UNMET, "linestyle": (0, (1.2, 1))}
            box.add_artist(Line2D(x[[i, j]], y[[i, j]], linewidth=1.4 if met else 1.8, **style))
    for i, s in enumerate(state):
        met = model is None or model.biases[i] * s >= 0
        fill = {1: PLUS, -1: MINUS, 0: OPEN}[int(s)]
        looks: Any = {"ec": INK if met else UNMET, "lw": 1 if met else 1.8, "hatch": None if s else HATCH}
        box.add_artist(Circle((x[i], y[i]), radius, fc=fill, **looks))
    about: Any = {"xybox": offset, "boxcoords": "offset points", "xycoords": coords, "frameon": False, "pad": 0}
    ax.add_artist(AnnotationBbox(box, xy, annotation_clip=False, **about))
    return ax


def few_units(states, name):
    """Return states of one to four units, -1, +1 or 0 for open."""
    if states.ndim > 2 or not 0 < states.shape[-1] <= MAX_LABELLED_UNITS or not np.isin(states, [-1, 0, 1]).all():
        raise ValueError(
            f"{name} must be of -1 and +1 for 1 to {MAX_LABELLED_UNITS} units, found {describe(states)}; try states(3)"
        )
    return states
