"""Three gradients, of which one is right: an exercise of notebook 01, which must not be read off its cells."""

from collections.abc import Callable
from itertools import permutations

import numpy as np

from ..checking.arrays import states
from ..model import BoltzmannMachine

LETTERS = [*permutations("ABC")]  # of the right one, of the one without 1/T, of the one that averages first


def three_gradients(which: int) -> dict[str, Callable]:
    """Return functions of (machine, data) by the letters A, B and C, each the slopes along weights and along biases.

    One is right, one forgets 1/T, and one asks the hidden units once, about the average pattern.

    which   0 to 5: who it is
    """
    made = _gradient(), _gradient(without_T=True), _gradient(averages_first=True)
    return dict(sorted(zip(LETTERS[which], made, strict=True)))


def _gradient(without_T=False, averages_first=False):
    """Clamped minus free over T, by sums over all states, with one fault or none."""

    def gradient(machine, data):
        data = np.asarray(data, dtype=float)  # (N, v)
        seen = data.shape[1]
        answers = states(machine.n - seen)  # of the hidden units
        patterns = data.mean(axis=0, keepdims=True) if averages_first else data
        held = [np.c_[np.tile(pattern, (len(answers), 1)), answers] for pattern in patterns]
        corr, mean = (np.mean(part, axis=0) for part in zip(*(_moments(machine, s) for s in held), strict=True))
        corr[:seen, :seen] = data.T @ data / len(data)  # pairs of the data are right in all three
        free_corr, free_mean = _moments(machine, states(machine.n))
        T = 1 if without_T else machine.temperature
        return (corr - free_corr) / T, (mean - free_mean) / T

    return gradient


def _moments(machine: BoltzmannMachine, s):
    """Correlations and means over the states `s`, by the weights e^(-E/T) of these alone."""
    x = ((s @ machine.weights * s).sum(axis=1) / 2 + s @ machine.biases) / machine.temperature
    p = np.exp(x - x.max())
    p /= p.sum()
    return s.T @ (p[:, None] * s), p @ s
