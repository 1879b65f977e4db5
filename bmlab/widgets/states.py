"""All states of a small machine as cells, of which each unit that is held takes half away (StatesView)."""

from __future__ import annotations

import numpy as np
import traitlets
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from .. import plot
from ..checking.arrays import first_largest, states
from ..checking.calls import show_call
from ..plot.style import escape_dollars
from .machine import ModelView
from .pictures import disc, page
from .view import script

BOARD_SIDE, BOARD_LEFT, BOARD_TOP = 320, 72, 46  # pixels: a side of the board, and its corner; as in states.js
RIM = 3  # pixels between the cells and their frame


class StatesView(ModelView):
    """Show all states of a machine of up to ten units as cells, which stand out if they are more probable.

    The first half of the units chooses the row of a cell, the other half its column.  Press a unit to hold it at +1,
    at -1, or to free it: half of the cells go, and the page says log Z of those that are left.
    Raises ValueError for more units.

    >>> from bmlab.widgets import StatesView
    >>> StatesView(bmlab.medium())
    StatesView(BoltzmannMachine(n=10, couplings=45, T=1))
    """

    enlarged = 1.12
    _esm = script("sampler.js", "graph.js", "states.js")
    headline = traitlets.Unicode("Hold units: how many states are left?").tag(sync=True)
    alt = traitlets.Unicode(
        "All states as cells, which stand out where more probable; units that are held leave an eighth."
    ).tag(sync=True)
    offset = traitlets.Float().tag(sync=True)

    @show_call()
    def draw(self, model, seed):
        """Draw the board, three units held as in the most probable state, and how many states are left of it."""
        figure, (board, ladder) = page(self.headline, ["Run", "Free all units"], (400, 372), (340, 372))
        n, s, held = model.n, states(model.n), np.zeros(model.n)
        logs, units = -model.energy(s) / model.temperature, sorted({0, min(1, n - 1), n - 1})
        held[units] = s[first_largest(logs), units]
        left = (s[:, units] == held[units]).all(axis=1)
        _cells(board, logs - logs.max(), left)
        for i, (x, y, name) in enumerate(_units(model)):
            disc(board, x, y, 15, held[i])
            if i < (n + 1) // 2:
                board.text(x, y + 28, name, fontsize=10, ha="center", va="center")
            else:
                board.text(x + 20, y, name, fontsize=10, va="center")
        log_z = [np.logaddexp.reduce(part) for part in (logs, logs[left])]
        _ladder(ladder, n, len(units), log_z)
        return figure, {"offset": model.offset}


def _units(model):
    """The place of each unit, and its name: half of them left of the board, the others above it."""
    down, names = (model.n + 1) // 2, escape_dollars(model.names) or range(model.n)
    for i, name in enumerate(names):
        along = BOARD_SIDE * (i + 0.5) / down if i < down else BOARD_SIDE * (i - down + 0.5) / (model.n - down)
        yield (*((36, BOARD_TOP - 6 + along) if i < down else (BOARD_LEFT + along - 8, 22)), f"{name}")


def _cells(ax, logs, left):
    """Draw the cells that are left, the darkest the most probable of all."""
    n = int(np.log2(len(logs)))
    rows, columns = 2 ** ((n + 1) // 2), 2 ** (n // 2)
    row, column = np.divmod(np.flatnonzero(left), columns)
    corners = np.array([[0, 0], [0.94, 0], [0.94, 0.94], [0, 0.94]])
    places = (np.column_stack([column, row])[:, None] + corners) * BOARD_SIDE / [columns, rows] + [
        BOARD_LEFT,
        BOARD_TOP,
    ]
    shades = PolyCollection(list(places), facecolor=plot.INK, linewidth=0)
    shades.set_alpha(list(0.2 + 0.8 * np.exp(logs[left] / 3)))
    ax.add_collection(shades, autolim=False)
    corner, side = (BOARD_LEFT - RIM, BOARD_TOP - RIM), BOARD_SIDE + 2 * RIM
    ax.add_patch(Rectangle(corner, side, side, fc="none", ec=plot.OPEN))


def _ladder(ax, n, held, log_z):
    """Draw how many states were left for each number of units held so far, and log Z of those that are left now."""
    words = f"{2 ** (n - held):,} of {2**n:,}\nstates are left"
    ax.text(0, 26, words, fontsize=12, fontweight="bold", va="center")
    ax.text(0, 68, f"log Z of these: {log_z[1]:.2f}", fontsize=10, va="center")
    ax.text(0, 94, f"log Z of all: {log_z[0]:.2f}", fontsize=10, va="center")
    for k in range(held + 1):
        y, now, many, weight = 128 + 24 * k, k == held, 2 ** (n - k), "bold" if k == held else "normal"
        ax.add_patch(Rectangle((68, y - 8), max(1, 210 * 2.0**-k), 16, fc=plot.PLUS if now else plot.OPEN))
        ax.text(62, y, f"{k} held", fontsize=10, ha="right", va="center", fontweight=weight)
        ax.text(74 + 210 * 2.0**-k, y, f"{many:,}", fontsize=10, va="center", fontweight=weight)
