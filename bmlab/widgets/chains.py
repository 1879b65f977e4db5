"""Chains of one machine from two opposite starts: do their averages meet, and is R-hat near 1? (ChainsView)"""

from __future__ import annotations

import numpy as np
import traitlets

from .. import plot
from ..checking.calls import show_call
from ..infer.sampling.diagnostics import halves, split_rhat
from ..infer.sampling.gibbs import sweep
from .machine import ModelView
from .pictures import Slider, page
from .view import script

# Pixels, as in chains.js: sweeps across, the average upwards.
CHART_LEFT, CHART_WIDTH, CHART_TOP, CHART_HEIGHT = 40, 400, 12, 240
CHAINS, SWEEPS = 12, 300  # half of the chains from all +1, the others from all -1


class ChainsView(ModelView):
    """Run twelve chains of a machine of up to 25 units, half of them from all +1, the others from all -1.

    Each line is the report of one chain so far: the average of its magnetisation over its sweeps.  Beside them stands
    the split R-hat of the magnetisation; a slider sets the temperature.  Raises ValueError for more units.

    >>> from bmlab.widgets import ChainsView
    >>> ChainsView(bmlab.ising((4, 4)))
    ChainsView(BoltzmannMachine(n=16, couplings=32, sparse, T=1))
    """

    max_units = 25
    enlarged = 1.1
    _esm = script("sampler.js", "chains.js")
    headline = traitlets.Unicode("Twelve chains of one machine: would you believe one?").tag(sync=True)
    alt = traitlets.Unicode("Averages of twelve chains, sweep by sweep: six from all +1, six from all -1.").tag(
        sync=True
    )

    @show_call()
    def draw(self, model, seed):
        """Draw the reports of the chains after each sweep, at the machine's own temperature."""
        figure, (chart, beside) = page(
            self.headline,
            ["Run", "Start anew", Slider("temperature T", (model.temperature - 1) / 4, f"{model.temperature:g}")],
            (450, 290),
            (300, 290),
        )
        m = _magnetisation(model, np.random.default_rng(seed))
        _chart(chart, m.cumsum(axis=1) / np.arange(1, SWEEPS + 1))
        _legend(beside, float(split_rhat(halves(m))))
        return figure, {}


def _magnetisation(model, rng):
    """Return that of each chain after each sweep, (CHAINS, SWEEPS)."""
    s, m = np.repeat([1.0, -1.0], CHAINS // 2)[:, None] * np.ones(model.n), np.empty((CHAINS, SWEEPS))
    for k in range(SWEEPS):
        s = sweep(model, s, rng.random(s.shape))
        m[:, k] = s.mean(axis=1)
    return m


def _chart(ax, so_far):
    """Draw the averages (CHAINS, SWEEPS) so far, over the sweeps."""
    right, floor, middle = CHART_LEFT + CHART_WIDTH, CHART_TOP + CHART_HEIGHT, CHART_TOP + CHART_HEIGHT / 2
    x, unit = CHART_LEFT + CHART_WIDTH * np.arange(1, SWEEPS + 1) / SWEEPS, CHART_HEIGHT / 2.2
    ax.plot([CHART_LEFT, CHART_LEFT, right], [CHART_TOP, floor, floor], color=plot.OPEN, linewidth=1)
    for k, line in enumerate(so_far):
        style, colour = ("-", plot.PLUS) if k < CHAINS // 2 else ("--", plot.INK)
        ax.plot(x, middle - line * unit, style, color=colour, lw=1.2)
    for value, text in ((1, "+1"), (0, "0"), (-1, "\N{MINUS SIGN}1")):
        ax.text(CHART_LEFT - 6, middle - value * unit, text, fontsize=10, ha="right", va="center")
    ax.text(right, floor + 14, f"{SWEEPS} sweeps", fontsize=10, ha="right", va="center")


def _legend(ax, rhat):
    """Write R-hat, and the start of each kind of line."""
    words = f"{rhat:.2f}".replace("inf", "\N{INFINITY}").replace("nan", "not known")
    ax.text(0, 30, f"R-hat {words}", fontsize=14, fontweight="bold", va="center")
    ax.text(0, 76, "average of each\nchain's units so far", fontsize=10, va="center")
    for y, style, colour, text in (
        (116, "-", plot.PLUS, "from all +1"),
        (142, "--", plot.INK, "from all \N{MINUS SIGN}1"),
    ):
        ax.plot([0, 30], [y, y], style, color=colour, lw=1.6)
        ax.text(38, y, text, fontsize=10, va="center")
