"""A machine that learns, watched."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import traitlets

from ..arrays import is_sparse
from ..learn.record import Step
from .pictures import course
from .view import View, script

MOST = 40  # units: a page draws a mark for each pair


class LearningView(View):
    """Watch a climb: clamped against free moments, the weights, and the log-likelihood (or the mismatch) by step.

    climb    what ascend() returns; its steps are taken when the page asks for them, and kept
    steps    taken at once, for the picture that is stored
    Raises ValueError for a climb without a step, or of more than 40 units.
    """

    _esm = script("learning.js")
    alt = "Moments of the machine against those of the data at the first step and the last, and the climb between them."
    units = traitlets.Int().tag(sync=True)
    method = traitlets.Unicode().tag(sync=True)

    def __init__(self, climb: Iterator[Step], *, steps: int = 60):
        self._climb, taken = iter(climb), list(islice(climb, steps))
        if not taken or taken[0].model.n > MOST:
            found = taken[0].model.n if taken else "no step"
            raise ValueError(f"LearningView shows up to {MOST} units, found {found}; try ascend(toy(), data, rate=0.1)")
        self._frames, self._done = [_frame(step) for step in taken], False
        super().__init__(course(taken), units=taken[0].model.n, method=taken[0].free.method)
        self.on_msg(lambda _, content, __: self.send(self._answer(content["from"], content["to"])))

    def __repr__(self):
        return f"LearningView({self.units} units, {self.method})"

    def _answer(self, first, last):
        """Return the frames from `first` to `last`, taking steps where they are not there yet."""
        new = list(islice(self._climb, max(0, last - len(self._frames))))
        self._frames += [_frame(step) for step in new]
        self._done = self._done or len(self._frames) < last
        return {"from": first, "frames": self._frames[first:last], "done": self._done}


def _frame(step):
    """Return what the page draws of a step: numbers of four digits, None where a method knows none."""
    value = step.log_likelihood.value
    return {
        "weights": _pairs(step.model.dense_weights),
        "clamped_pairs": _pairs(step.data.corr),
        "free_pairs": _pairs(step.free.corr),
        "clamped_means": _row(step.data.mean),
        "free_means": _row(step.free.mean),
        "log_likelihood": float(value) if np.isfinite(value) else None,
        "mismatch": step.mismatch,
        "converged": bool(step.free.converged),
    }


def _pairs(matrix):
    if is_sparse(matrix):
        held, matrix = matrix.tocoo(), np.full(matrix.shape, np.nan)
        matrix[held.row, held.col] = held.data
    return _row(matrix[np.triu_indices(len(matrix), 1)])


def _row(values):
    return [None if np.isnan(x) else round(float(x), 4) for x in values]
