"""Drawing patterns: a live view of a machine that learns, in the page, the patterns drawn there (DrawView)."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
import traitlets

from ..checking.calls import show_call
from ..checking.validation import ArrayLike
from ..infer.sampling.gibbs import gibbs
from ..learn.ascent import learning_steps
from ..model import BoltzmannMachine
from ..plot.sheets import sides
from .pictures import dreamt
from .view import View, script

LETTERS = (
    ("#.....", "#.....", "#.....", "#.....", "#.....", "######"),
    ("######", "..##..", "..##..", "..##..", "..##..", "..##.."),
    ("#....#", ".#..#.", "..##..", "..##..", ".#..#.", "#....#"),
)
LEARNT_STEPS = 300  # of the stored picture
MAX_PIXELS = 100  # of a pattern: the page learns a weight for each pair of them


class DrawView(View):
    """Show a machine patterns: it learns them in the page by clamped minus free, and dreams; hold a unit, draw another.

    patterns   (N, pixels) of -1/+1 to begin with; None: the letters L, T and X on 6 x 6 pixels
    shape      (height, width) of a pattern; None: a square
    Raises ValueError for more than 100 pixels, and for patterns that are not of this shape.

    >>> from bmlab.widgets import DrawView
    >>> DrawView([[1, 1, -1, -1], [-1, -1, 1, 1]])
    DrawView(2 patterns, 2 x 2)
    """

    needs_no_kernel = True
    enlarged = 1.3
    _esm = script("sampler.js", "learner.js", "pad.js", "dreams.js", "draw.js")
    alt = traitlets.Unicode(
        "Patterns, what a machine has learnt of them as the weights of one cell, and thirty of its dreams."
    ).tag(sync=True)
    headline = traitlets.Unicode("A machine is shown patterns, and dreams").tag(sync=True)
    shape = traitlets.List().tag(sync=True)
    patterns = traitlets.List().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)

    @show_call()
    def __init__(self, patterns: ArrayLike | None = None, *, shape: tuple[int, int] | None = None, seed: int = 0):
        if patterns is None:
            patterns, shape = [[1 if x == "#" else -1 for x in "".join(rows)] for rows in LETTERS], shape or (6, 6)
        data = np.asarray(patterns)
        n = data.shape[-1]
        height, width = sides(shape, n)
        if data.ndim != 2 or height * width != n or n > MAX_PIXELS:
            raise ValueError(
                f"DrawView shows patterns of up to {MAX_PIXELS} pixels, (N, height * width), found {data.shape} "
                f"for the shape {height, width}; pass shape=(height, width)"
            )
        super().__init__(
            dreamt(self.headline, data, *_learnt(data, seed), (height, width)),
            shape=[height, width],
            patterns=data.astype(int).tolist(),
            seed=seed,
        )

    def __repr__(self):
        return f"DrawView({len(self.patterns)} patterns, {self.shape[0]} x {self.shape[1]})"


def _learnt(data, seed):
    """Return the weights after LEARNT_STEPS as the page makes them, and the states of its thirty chains."""
    n = data.shape[1]
    dream = partial(gibbs, rng=np.random.default_rng(seed), n_chains=30, burn_in=0, n_sweeps=1)
    start = BoltzmannMachine(np.zeros((n, n)), np.zeros(n))
    *_, last = islice(learning_steps(start, data, dream, rate=0.02, penalty=0.01), LEARNT_STEPS)
    return last.model.dense_weights, last.free.state
