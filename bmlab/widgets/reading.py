"""Classification and completion by one machine a class, all machines side by side in mean field.

    p(class | known) ~ exp(log Z_class(clamped to known) - log Z_class),     log Z(clamped) by mean field

All are answered side by side: m <- tanh((W m + b)/T), half a step at a time, known units clamped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checking.validation import ArrayLike
from ..model import BoltzmannMachine
from ..running.threads import one_thread


class Readers:
    """Machines, one a class; all classes are computed at once."""

    def __init__(self, machines: Sequence[BoltzmannMachine], log_z: ArrayLike):
        temperature = np.array([m.temperature for m in machines])
        self.weights = np.array([m.dense_weights for m in machines]) / temperature[:, None, None]
        self.biases = np.array([m.biases for m in machines]) / temperature[:, None]
        self.log_z = np.asarray(log_z, dtype=float)

    def read(self, known: ArrayLike, sweeps: int = 200, tolerance: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
        """Return (p, means): the probability of each class, and its expected means, (classes, n), given -1/+1 or 0."""
        known, free = np.asarray(known), np.zeros(self.biases.shape[1], bool)
        free[: len(known)], free[len(known) :] = known == 0, True
        start = np.zeros(len(free))
        start[: len(known)] = known
        means = np.tile(start, (len(self.biases), 1))
        with one_thread():
            for _ in range(sweeps if free.any() else 0):
                change = np.where(free, np.tanh(self._field(means)) - means, 0) / 2
                means += change
                if abs(change).max() < tolerance:
                    break
            log_p = self._log_z(means, free) - self.log_z
        return np.exp(log_p - np.logaddexp.reduce(log_p)), means

    def _field(self, means):
        return (self.weights @ means[..., None])[..., 0] + self.biases

    def _log_z(self, means, free):
        """The mean field bound on log Z of each machine, its clamped units included: entropy less energy / T."""
        up, down = (1 + means[:, free]) / 2, (1 - means[:, free]) / 2
        entropy = -(up * np.log(up.clip(1e-300)) + down * np.log(down.clip(1e-300))).sum(1)
        return entropy + (means * (self._field(means) + self.biases)).sum(1) / 2
