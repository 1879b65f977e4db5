"""Learning, live: clamped against free moments, weights and the learning curve, step by step (LearningView)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import traitlets

from ..checking.calls import show_call
from ..checking.validation import check_count, is_sparse
from ..learn.record import Step
from ..methods import key_of
from .pictures import course
from .view import View, script

MAX_DRAWN_UNITS = 40  # the page draws a mark for each pair of them
HEADLINE = "Do the dreams look like the data?"
FALLING = "This learning goes wrong: the likelihood falls"
MAX_FRAMES = 2000  # steps of a climb: the page keeps all of them
STILL_CHANGE = 1e-4  # of a weight in a step: smaller ones cannot be seen


class LearningView(View):
    """Watch a climb: clamped against free moments, the weights, and the log-likelihood (or the mismatch) by step.

    climb    what learning_steps() returns; its steps are taken when the page asks for them, and kept
    steps    taken at once, for the picture that is stored
    It ends with the climb, when no weight changes by 0.0001 a step any more, or after 2,000 steps.
    Raises ValueError for a climb without a step, or of more than 40 units.

    >>> from bmlab.widgets import LearningView
    >>> LearningView(bmlab.learning_steps(bmlab.toy(), bmlab.states(3), rate=0.1))
    LearningView(3 units, exact)
    """

    enlarged = 1
    _esm = script("learning.js")
    alt = traitlets.Unicode(
        "Squares of correlations, of the data and of the machine that learns them, its weights, and the climb so far."
    ).tag(sync=True)
    headline = traitlets.Unicode().tag(sync=True)
    names = traitlets.List().tag(sync=True)
    method = traitlets.Unicode().tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)  # who reckons the likelihood, if not exact

    @show_call()
    def __init__(self, climb: Iterator[Step], *, steps: int = 60):
        self._climb = iter(climb)
        taken = list(islice(self._climb, check_count("steps", steps)))
        if not taken or taken[0].model.n > MAX_DRAWN_UNITS:
            found = taken[0].model.n if taken else "no step"
            raise ValueError(
                f"LearningView shows up to {MAX_DRAWN_UNITS} units, found {found}; "
                "try learning_steps(toy(), data, rate=0.1)"
            )
        model = taken[0].model
        fell = taken[-1].log_likelihood.value < taken[0].log_likelihood.value
        headline = FALLING if fell else HEADLINE
        self._frames, self._end = [], ""
        self._take(taken)
        super().__init__(
            course(taken, FALLING if fell else _so_far(taken)),
            headline=headline,
            names=[str(x) for x in model.names or range(model.n)],
            method=key_of(taken[0].free.method),
            told=_told(taken[0]),
        )
        self.on_msg(lambda _, content, __: self.send(self._answer(content["from"], content["to"])))

    def __repr__(self):
        return f"LearningView({len(self.names)} units, {self.method})"

    def _take(self, steps):
        """Keep the frames of steps, and say why there are no more of them."""
        for step in steps:
            self._frames.append(_frame(step))
            if step.change < STILL_CHANGE:
                change = f"{STILL_CHANGE:f}".rstrip("0")
                self._end = f"The climb has converged: no weight changes by {change} a step any more."
            elif len(self._frames) >= MAX_FRAMES:
                self._end = f"The view ends after {MAX_FRAMES:,} steps."
            if self._end:
                return

    def _answer(self, first, last):
        """Return the frames from `first` to `last`, taking steps if they are not there yet."""
        while len(self._frames) < last and not self._end:
            step = next(self._climb, None)
            self._end = "" if step else "The climb has no more steps."
            self._take([step] if step else [])
        frames = [{name: _sent(value) for name, value in frame.items()} for frame in self._frames[first:last]]
        return {"from": first, "frames": frames, "end": self._end if last >= len(self._frames) else ""}


def _so_far(steps):
    """Say in the stored picture, which stands still, how far these steps came, and who says so if that is not exact."""
    off, told = np.ceil(100 * steps[-1].mismatch) / 100, _told(steps[-1])
    said = f"Step {len(steps) - 1}: dreams within {off:.2f} of the data" + f",{told}" * bool(told)
    return said if np.isfinite(off) else HEADLINE


def _told(step):
    """Name the method that reckons a step, " by mean field"; nothing if it is exact."""
    return "" if key_of(step.free.method) == "exact" else f" by {step.free.method}"


def _frame(step):
    """Return the numbers of a step that the page draws; nan if a method gives none."""
    return {
        "weights": _pairs(step.model.dense_weights),
        "clamped_pairs": _pairs(step.clamped.corr),
        "free_pairs": _pairs(step.free.corr),
        "clamped_means": np.float32(step.clamped.mean),
        "free_means": np.float32(step.free.mean),
        "log_likelihood": step.log_likelihood.value,
        "mismatch": step.mismatch,
        "converged": bool(step.free.converged),
    }


def _pairs(matrix):
    if is_sparse(matrix):
        entries, matrix = matrix.tocoo(), np.full(matrix.shape, np.nan)
        matrix[entries.row, entries.col] = entries.data
    return np.float32(matrix[np.triu_indices(len(matrix), 1)])


def _sent(value):
    """Return a value for JSON: four digits of each number of a row, None for nan."""
    if isinstance(value, np.ndarray):
        return [None if np.isnan(x) else round(float(x), 4) for x in value]
    return value if isinstance(value, bool) or np.isfinite(value) else None
