"""The fields h (chains, n) of a full machine, kept from call to call, in double precision or in single.

In single precision they are sums of whole numbers (whole_numbers.py), which is off by no more than it says.  Draws that
this leaves open are decided in double precision (dense_kernel.py): the chains are the same to the bit.
"""

from typing import Any

import numpy as np

from .dense_kernel import dense_many
from .kernels import dense
from .whole_numbers import FLOAT, WIDEST, aligned, pays, rounded

FRESH = 128  # sweeps after which fields in double precision are summed anew, before rounding adds up
LEAST = 8  # chains for which single precision is worth it
COLDEST = 1e30  # 2 / T up to which x is a number


class KeptFields:
    """Keep the fields while nobody else changes states or biases; sum them anew where somebody does."""

    def __init__(self, chains: Any):
        self.chains, self.rows = chains, aligned(chains.model.weights.shape)
        self.rows[:, : chains.model.n] = chains.model.weights
        self.h, self.rounded = aligned(chains.s.T.shape), None
        self.biases, self.seen, self.age, self.updates = None, None, 0, 0

    def kernel(self, updates: int) -> tuple:
        """Return the compiled loop for so many updates, and the arrays that it takes first."""
        chains, weights, biases = self.chains, self.chains.model.weights, self.chains.biases
        self.updates += updates
        if chains.s.shape[1] >= LEAST and pays(self.updates, weights):
            self.rounded = rounded(weights, biases, self.rounded)
        whole = self.rounded
        margin = 2 * chains.beta.max() * whole.error + FLOAT if whole else np.inf
        if whole is None or not margin < WIDEST:
            self._follow(None)
            return dense, (self.rows, self.h)
        self._follow(whole)
        scale = np.minimum(2 * chains.beta * whole.q, COLDEST).astype(np.float32)
        return dense_many, (whole.twice, scale, np.float32(margin), weights, biases, self.h)

    def _follow(self, whole):
        """Sum the fields anew where they are not those of the states and biases, or have changed often."""
        chains, dtype = self.chains, np.float32 if whole else np.float64
        if self.h.dtype != dtype:
            self.h, self.seen = aligned(chains.s.T.shape, dtype), None
        known = self.seen is not None and np.array_equal(self.seen, chains.s) and self.biases is chains.biases
        if known and (whole or self.age < FRESH):
            return
        weights, biases = (whole.twice / 2, whole.biases) if whole else (self.rows, chains.biases)
        self.h[:, : len(biases)] = chains.s.T.astype(float) @ weights[:, : len(biases)] + biases
        self.biases, self.age = chains.biases, 0

    def walked(self, sweeps: int) -> None:
        """Say that the loop has made so many sweeps."""
        self.seen, self.age = self.chains.s.copy(), self.age + sweeps
