"""Gibbs sampling turn by turn: a number u falls on the line from 0 to 1, which is cut at p(+1) (UpdateView)."""

from __future__ import annotations

import numpy as np
import traitlets
from matplotlib.patches import Circle, Rectangle

from .. import plot
from ..checking.arrays import states
from ..checking.calls import show_call
from ..infer.exact.exact_sampling import probabilities
from ..model import field_of
from ..plot.style import ON_LIGHT, escape_dollars, signed
from .machine import ModelView
from .pictures import Slider, drawn, page, turns
from .view import script

# Pixels, as in update.js: the line, and the bars below it.
LINE_LEFT, LINE_LENGTH, LINE_TOP, BARS_FLOOR, BARS_HEIGHT = 20, 360, 40, 244, 120
# Of the stored picture: the value of u, and the number of turns counted.
FALLEN, COUNTED_TURNS = 0.6, 300


class UpdateView(ModelView):
    """Show one turn of Gibbs sampling after the other, for a machine of up to four units.

    The unit whose turn it is has its field written out; a line from 0 to 1 is cut at its p(+1), and a uniform number u
    falls on it.  Press the line to choose u, a unit to turn it over.  Below, each state that comes is counted against
    its exact probability.  Raises ValueError for more units.

    >>> from bmlab.widgets import UpdateView
    >>> UpdateView(bmlab.toy())
    UpdateView(BoltzmannMachine(n=3, couplings=3, T=1))
    """

    max_units = 4
    enlarged = 1.2
    _esm = script("sampler.js", "graph.js", "update.js")
    headline = traitlets.Unicode("A unit turns +1 when u falls below its p(+1)").tag(sync=True)
    alt = traitlets.Unicode(
        "The line from 0 to 1 is cut at p(+1) of a unit, u has fallen on it; below, how often each state came."
    ).tag(sync=True)

    drawn = traitlets.Dict().tag(sync=True)

    @show_call()
    def draw(self, model, seed):
        """Draw the turn of the second unit, the first at +1 and the others at -1, and the counts of some turns."""
        figure, (machine, turn) = page(
            self.headline, ["Run", "Drop u", Slider("turns a second", 0, "0.5")], (320, 300), (400, 340)
        )
        i, s = min(1, model.n - 1), np.where(np.arange(model.n) == 0, 1.0, -1.0)
        h = field_of(model, s)[i]
        p = 1 / (1 + np.exp(-2 * h / model.temperature))
        s[i] = 1 if p > FALLEN else -1
        graph = drawn(model, machine, states=s)
        name = escape_dollars(model.names)[i] if model.names else f"unit {i}"
        ring = machine.lines[-model.n + i]
        machine.plot(*ring.get_data(), "o", markersize=ring.get_markersize() + 8, mfc="none", mec=plot.INK, zorder=1)
        side, to = ("below", "+1") if p > FALLEN else ("above", "\N{MINUS SIGN}1")
        turn.set_ylim(290, -50)
        words = f"It is the turn of {name}: field {signed(h, '+.2f')}.\nu is {side} the cut: {name} turns {to}."
        turn.text(0, -24, words, fontsize=10, va="center")
        _line(turn, p)
        _bars(turn, model, seed)
        return figure, {"drawn": graph}


def _line(ax, p):
    """Draw the line from 0 to 1, its cut, and u."""
    cut = LINE_LEFT + LINE_LENGTH * p
    ax.add_patch(Rectangle((LINE_LEFT, LINE_TOP), LINE_LENGTH, 20, fc=plot.MINUS, ec=plot.INK))
    ax.add_patch(Rectangle((LINE_LEFT, LINE_TOP), LINE_LENGTH * p, 20, fc=plot.PLUS, ec=plot.INK))
    for x, text, colour in (
        (LINE_LEFT + LINE_LENGTH * p / 2, "+1", "white"),
        ((cut + LINE_LEFT + LINE_LENGTH) / 2, "\N{MINUS SIGN}1", ON_LIGHT),
    ):
        ax.text(x, LINE_TOP + 10.5, text, color=colour, fontsize=10, ha="center", va="center")
    for x, text in ((LINE_LEFT, "0"), (LINE_LEFT + LINE_LENGTH, "1"), (np.clip(cut, 98, 302), f"p(+1) = {p:.3f}")):
        ax.text(x, LINE_TOP + 35, text, fontsize=10, ha="center", va="center")
    ax.add_patch(Circle((LINE_LEFT + LINE_LENGTH * FALLEN, LINE_TOP - 7), 6, fc=plot.INK, ec="none"))
    ax.text(
        LINE_LEFT + LINE_LENGTH * FALLEN - 12, LINE_TOP - 13, f"u = {FALLEN:.3f}", fontsize=10, ha="right", va="center"
    )


def _bars(ax, model, seed):
    """Draw how often each state came in some turns, in the outline of its probability."""
    p, counts = probabilities(model), turns(model, np.ones(model.n), COUNTED_TURNS, seed)
    step, scale = LINE_LENGTH / len(p), BARS_HEIGHT / p.max() / 1.25
    for k, state in enumerate(states(model.n)):
        x = LINE_LEFT + step * (k + 0.5)
        for height, fill, edge in ((counts[k] / COUNTED_TURNS, plot.PLUS, "none"), (p[k], "none", plot.INK)):
            ax.add_patch(Rectangle((x - 0.3 * step, BARS_FLOOR), 0.6 * step, -scale * height, fc=fill, ec=edge, lw=1.2))
        plot.glyph(ax, state, (x, BARS_FLOOR + 24), size=min(22, 0.42 * step))
    ax.text(
        LINE_LEFT,
        BARS_FLOOR - BARS_HEIGHT - 6,
        f"{COUNTED_TURNS} turns counted; outlines: exact",
        fontsize=10,
        va="center",
    )
