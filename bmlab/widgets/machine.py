"""A small machine as a live network: flipping units, clamping, counts against probabilities (MachineView)."""

from __future__ import annotations

from typing import Any

import traitlets
from matplotlib.figure import Figure

from ..model import BoltzmannMachine, check_model
from ..validation import check_count
from .pictures import converging, two_layers
from .view import View, script


class ModelView(View):
    """What the views of one small machine have in common; a subclass has _esm, alt, max_units and draw()."""

    alone = True
    max_units = 10  # the page lists 2^n states anew whenever a slider moves
    weights = traitlets.List().tag(sync=True)
    biases = traitlets.List().tag(sync=True)
    temperature = traitlets.Float().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    names = traitlets.List().tag(sync=True)

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

    def draw(self, model: BoltzmannMachine, seed: int) -> tuple[Figure, dict[str, Any]]:
        """Return the picture to store, and what else the page is sent."""
        raise NotImplementedError

    def __repr__(self):
        return self._shown


class MachineView(ModelView):
    """Show a machine of up to ten units as a graph, its units flipping, and counted against exact probabilities.

    Units stand in a circle, the two layers of a restricted machine in two rows.
    Orange couplings pull together, dashed purple ones push apart.  Press a unit to hold it at +1, at -1, or to free it.
    Raises ValueError for more units.

    >>> from bmlab.widgets import MachineView
    >>> MachineView(bmlab.toy())
    MachineView(BoltzmannMachine(n=3, couplings=3, T=1))
    """

    _esm = script("sampler.js", "graph.js", "cube.js", "machine.js")
    alt = traitlets.Unicode(
        "A machine as a graph, and how often each state came beside its exact probability, after 10 and 10,000 states."
    ).tag(sync=True)
    low = traitlets.Int().tag(sync=True)

    def draw(self, model, seed):
        return converging(model, seed), {"low": len((two_layers(model) or [[]])[0])}
