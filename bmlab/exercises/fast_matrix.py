"""The transition matrix of a sampler of a few units, read off its running code, for exercises of notebook 03."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..checking.arrays import states
from ..model import BoltzmannMachine


def fast_matrix(sweep: Callable, model: BoltzmannMachine) -> np.ndarray:
    """Return the chance that a sweep leads from one state (row) to another (column), to a millionth.

    As the notebook's transition_matrix, but its searches ask together, a list a step: where a class is graded the sweep
    is a function in another process, whose for_each() asks as map() does, in one message.

    sweep   a function of the model, a state and a uniform number for each unit, which turns +1 if its own is small
    """
    s = states(model.n)
    start, end, unit = np.indices((len(s), len(s), model.n))[:, :, s > 0].reshape(3, -1)
    each, low, high = np.arange(len(start)), np.zeros(len(start)), np.ones(len(start))
    u = (1 - s[end]) / 2  # 0 makes a unit +1, 1 makes it -1
    ask = getattr(sweep, "for_each", partial(map, sweep))
    for _ in range(20):
        middle = u[each, unit] = (low + high) / 2
        up = np.array([*ask([model] * len(start), s[start], u)])[each, unit] > 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    P = np.ones((len(s), len(s)))
    np.multiply.at(P, (start, end), low)
    np.multiply.at(P, (start, end - 2 ** (model.n - 1 - unit)), 1 - low)  # to `end` with this unit at -1
    return P
