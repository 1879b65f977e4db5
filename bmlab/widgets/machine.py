"""A small machine as a live network: flipping units, clamping, counts against probabilities (MachineView)."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .. import plot
from ..checking.arrays import smallest_first, states
from ..checking.calls import show_call
from ..checking.validation import check_count
from ..infer.exact.exact_sampling import probabilities
from ..model import BoltzmannMachine, check_model
from ..plot.style import MAX_LABELLED_UNITS, signed
from .pictures import Slider, drawn, page, turns
from .view import View, script

# Pixels, as in machine.js: the bars, the most probable state above.
LIST_WIDTH, LIST_HEIGHT, MOST_ROWS, LISTED_TURNS = 400, 224, 16, 1000


class ModelView(View):
    """Common parts of the views of one small machine; a subclass has _esm, alt, max_units and draw()."""

    needs_no_kernel = True
    max_units = 10  # the page lists 2^n states anew whenever a slider moves
    weights = traitlets.List().tag(sync=True)
    biases = traitlets.List().tag(sync=True)
    temperature = traitlets.Float().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    names = traitlets.List().tag(sync=True)

    @show_call()
    def __init__(self, model: BoltzmannMachine, *, seed: int = 0):
        name = type(self).__name__
        check_model(model)
        seed = check_count("seed", seed, 0)
        if not 1 <= model.n <= self.max_units:
            raise ValueError(f"{name} shows from 1 up to {self.max_units} units, found {model.n}; try bmlab.toy()")
        self._shown = f"{name}({model!r})"
        figure, sent = self.draw(model, seed)
        super().__init__(
            figure,
            weights=model.dense_weights.tolist(),
            biases=model.biases.tolist(),
            temperature=model.temperature,
            seed=seed,
            **{"names": [str(name) for name in model.names]} | sent,
        )

    @show_call()
    def draw(self, model: BoltzmannMachine, seed: int) -> tuple[Figure, dict[str, Any]]:
        """Return the picture to store, and the rest of the page's state."""
        raise NotImplementedError

    def __repr__(self):
        return self._shown


class MachineView(ModelView):
    """Show a machine of up to ten units as a graph, its units flipping, and counted against exact probabilities.

    Units stand in a circle, those of a chain in a line, of a tree in levels, of a restricted machine in two rows.
    Orange couplings pull together, dashed purple ones push apart.  Press a unit to hold it at +1, at -1, or to free it.
    Raises ValueError for more units.

    >>> from bmlab.widgets import MachineView
    >>> MachineView(bmlab.toy())
    MachineView(BoltzmannMachine(n=3, couplings=3, T=1))
    """

    _esm = script("sampler.js", "graph.js", "cube.js", "machine.js")
    headline = traitlets.Unicode("Turn by turn the counts come near the probabilities").tag(sync=True)
    alt = traitlets.Unicode("A machine as a graph, and how often each state came beside its exact probability.").tag(
        sync=True
    )
    drawn = traitlets.Dict().tag(sync=True)

    @show_call()
    def draw(self, model, seed):
        """Draw the machine, one state of it, and the counts of some turns."""
        controls = [
            "Pause",  # it plays at once
            "One update",
            "Count anew",
            Slider("temperature T", (model.temperature - 0.1) / 4.9, f"{model.temperature:.2f}"),
        ]
        figure, (machine, bars) = page(self.headline, controls, (320, 300), (LIST_WIDTH, 262))
        s = np.where(np.arange(model.n) == 0, 1.0, -1.0)
        graph = drawn(model, machine, states=s)
        p, counts = probabilities(model), turns(model, s, LISTED_TURNS, seed)
        _bars(bars, p, counts / LISTED_TURNS, model.n)
        return figure, {"drawn": graph}


def _bars(ax: Axes, p: np.ndarray, shares: np.ndarray, n: int) -> None:
    """Draw the exact probability of each state and its share of the turns, and below them a key."""
    order = smallest_first(-p)[:MOST_ROWS]
    row, left = LIST_HEIGHT / len(order), max(52, 9 * n + 12)
    thick, scale = min(0.28 * row, 8), (LIST_WIDTH - left - 8) / max(p.max(), shares.max())
    for k, state in enumerate(order):
        y = row * (k + 0.5) + 10
        bars = (-1, 0.4, p[state], plot.INK), (-0.5, 1.5, shares[state], plot.PLUS)
        for top, high, length, colour in bars:
            ax.add_patch(Rectangle((left, y + top * thick), scale * length, high * thick, fc=colour, ec="none"))
        if n <= MAX_LABELLED_UNITS:
            plot.glyph(ax, states(n)[state], (left - 24, y), size=15)
        else:
            signs = "".join(signed(x, "+d")[0] for x in states(n)[state].astype(int))
            ax.text(left - 6, y, signs, family="monospace", fontsize=10, ha="right", va="center_baseline")
    for x, words, colour in ((52, "exact", plot.INK), (132, f"counted in {LISTED_TURNS:,} turns", plot.PLUS)):
        ax.add_patch(Rectangle((x, 246), 12, 12, fc=colour, ec="none"))
        ax.text(x + 18, 252, words, fontsize=10, va="center_baseline")
