"""The transition matrix of a sampler of a few units, read off its running code, for exercises of notebook 03."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..checking.arrays import states
from ..model import BoltzmannMachine

HALVINGS = 20  # to a millionth


def fast_matrix(sweep: Callable, model: BoltzmannMachine) -> np.ndarray:
    """Return the chance that a sweep leads from one state (row) to another (column), to a millionth.

    As the notebook's transition_matrix, but few of its chances are searched: one found for a unit is tried at all other
    moves of the unit, and those that it fits are done.  It asks for a list at a time: where a class is graded the sweep
    is a function in another process, whose for_each() asks as map() does, in one message.

    sweep   a function of the model, a state and a uniform number for each unit, which turns +1 if its own is small
    """
    s = states(model.n)
    start, end, unit = np.indices((len(s), len(s), model.n))[:, :, s > 0].reshape(3, -1)
    ask = getattr(sweep, "for_each", partial(map, sweep))

    def turns_up(moves, at):
        u = (1 - s[end[moves]]) / 2  # 0 makes a unit +1, 1 makes it -1
        u[np.arange(len(moves)), unit[moves]] = at
        answers = np.array([*ask([model] * len(moves), s[start[moves]], u)])
        return answers[np.arange(len(moves)), unit[moves]] > 0

    chance, left = np.zeros(len(start)), np.arange(len(start))
    while len(left):
        _, first, which = np.unique(unit[left], return_index=True, return_inverse=True)
        low, high = np.zeros(len(first)), np.ones(len(first))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            up = turns_up(left[first], middle)
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        below, above = np.split(turns_up(np.tile(left, 2), np.concatenate([low[which], high[which]])), 2)
        fits = (below | (low == 0)[which]) & (~above | (high == 1)[which])
        fits[first] = True
        chance[left[fits]] = low[which[fits]]
        left = left[~fits]
    P = np.ones((len(s), len(s)))
    np.multiply.at(P, (start, end), chance)
    np.multiply.at(P, (start, end - 2 ** (model.n - 1 - unit)), 1 - chance)  # to `end` with this unit at -1
    return P
