"""A sum that grows to Z: each state that a walk visits for the first time adds exp(-E/T) (VisitedView)."""

from __future__ import annotations

import numpy as np
import traitlets
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from .. import plot
from ..checking.arrays import states
from ..checking.calls import show_call
from ..infer.sampling.gibbs import sweep
from .machine import ModelView
from .pictures import Slider, drawn, page
from .view import script

# Pixels, as in visited.js: the turns across, the sum upwards.
SUM_LEFT, SUM_WIDTH, SUM_FLOOR, SUM_HEIGHT = 34, 300, 270, 220
LEAST_HEIGHT = 22  # of a block that shows its state
MAX_LOG_Z = np.log(np.finfo(float).max)  # in size: beyond it Z is no double
WALK_TURNS = 40  # of the stored picture, and of the page's before it makes room


class VisitedView(ModelView):
    """Add exp(-E/T) of each state that Gibbs sampling visits for the first time, for a machine of up to four units.

    Each block is a state, as high as its exp(-E/T), and begins at the turn of its first visit; a state that comes again
    adds nothing.  A dashed line is the exact Z.  Raises ValueError for more units, or if Z is no double.

    >>> from bmlab.widgets import VisitedView
    >>> VisitedView(bmlab.toy())
    VisitedView(BoltzmannMachine(n=3, couplings=3, T=1))
    """

    max_units = 4
    _esm = script("sampler.js", "graph.js", "visited.js")
    headline = traitlets.Unicode("A new state adds to the sum; one seen before does not").tag(sync=True)
    alt = traitlets.Unicode("A sum grows in steps, one for each new state of a walk, towards the exact Z.").tag(
        sync=True
    )
    offset = traitlets.Float().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)

    @show_call()
    def draw(self, model, seed):
        """Draw the blocks of the states that come in some turns."""
        logs = -model.energy(states(model.n)) / model.temperature
        log_z = float(np.logaddexp.reduce(logs))
        if abs(log_z) > MAX_LOG_Z:
            raise ValueError(
                f"VisitedView draws Z itself, which leaves its range at log Z = {log_z:.3g}; try toy().at(1)"
            )
        figure, (machine, chart) = page(
            self.headline, ["Run", "One turn", "Start anew", Slider("turns a second", 0, "2")], (320, 300), (400, 300)
        )
        rng, s, seen, last, weights = np.random.default_rng(seed), -np.ones(model.n), {}, 0, np.exp(logs)
        for turn in range(WALK_TURNS):
            s = sweep(model, s, rng.random(1), units=[turn % model.n])
            last = int((s > 0) @ 2 ** np.arange(model.n)[::-1])
            seen.setdefault(last, turn)
        graph = drawn(model, machine, states=s)
        scale, total = SUM_HEIGHT / weights.sum(), 0.0
        colour = plot.COLOURS["visited"]
        for state, turn in seen.items():
            x, y, high = SUM_LEFT + SUM_WIDTH * turn / WALK_TURNS, SUM_FLOOR - scale * total, scale * weights[state]
            width = SUM_LEFT + SUM_WIDTH - x
            chart.add_patch(Rectangle((x, y), width, -high, fc=to_rgba(colour, 0.6), ec=colour, linewidth=1))
            if high > LEAST_HEIGHT:
                plot.glyph(chart, states(model.n)[state], (SUM_LEFT + SUM_WIDTH + 22, y - high / 2), size=13)
            total += weights[state]
        chart.plot([SUM_LEFT, SUM_LEFT + SUM_WIDTH], [SUM_FLOOR - SUM_HEIGHT] * 2, "--", color=plot.INK, linewidth=1.2)
        chart.plot(
            [SUM_LEFT, SUM_LEFT, SUM_LEFT + SUM_WIDTH],
            [SUM_FLOOR - SUM_HEIGHT - 20, SUM_FLOOR, SUM_FLOOR],
            color=plot.OPEN,
            linewidth=1,
        )
        for x, y, text, place in (
            (SUM_LEFT + 4, SUM_FLOOR - SUM_HEIGHT - 14, f"exact: Z = {weights.sum():.2f}", "left"),
            (SUM_LEFT + SUM_WIDTH, SUM_FLOOR + 14, f"{WALK_TURNS} turns", "right"),
            (0, 8, f"{len(seen)} of {len(weights)} states add up to {total:.2f}", "left"),
        ):
            chart.text(x, y, text, fontsize=10, ha=place, va="center")
        return figure, {"offset": model.offset, "drawn": graph}
