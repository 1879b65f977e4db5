"""The fields h (chains, n) of a full machine, kept from call to call, in double precision or in single.

    h'_i = sum_j w'_ij s_j + b'_i,     w' and b' rounded to multiples of q,     2^24 q >= sum_j |w'_ij| + |b'_i|

Single precision takes twice as many numbers at a time.  All sums of h' are whole multiples of q, at most 2^24 of them,
which it holds without rounding.  So however long a walk is, h' differs from h by what the numbers were rounded by, at
most e = max_i (sum_j |w'_ij - w_ij| + |b'_i - b_i|), and x = 2 h / T by 2 e / T.  Draws that this leaves open are
decided in double precision (dense_kernel.py): the chains are the same to the bit.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from .dense_kernel import dense_many
from .kernels import dense

FRESH = 128  # sweeps after which fields in double precision are summed anew, before rounding adds up
LEAST = 8  # chains for which single precision is worth it,
LONG = 4  # after so many updates a weight: rounding the weights takes time, too
WIDEST = 2.0**-8  # margin of x up to which few draws are left open
FLOAT = 2.0**-18  # what single precision loses of x, its edges and the margin, where |x| < 16
COLDEST = 1e30  # 2 / T up to which x is a number


class Rounded(NamedTuple):
    """Hold a full machine in whole numbers: weights and biases divided by q."""

    q: float
    twice: np.ndarray  # the weights (n, n), which a flip adds to all fields or takes away
    lost: np.ndarray  # (n,), of the weights of each unit
    given: np.ndarray  # the biases as they were
    biases: np.ndarray
    error: float  # of a field, at most


def rounded(weights: np.ndarray, biases: np.ndarray, before: Rounded | None = None) -> Rounded:
    """Return the machine in whole numbers; what is known of its weights from `before` where q need not be larger."""
    if before and before.given is biases:
        return before
    most = (np.abs(weights).sum(1) + np.abs(biases)).max(initial=0)
    q = 2.0 ** (np.frexp(1.01 * most)[1] - 24)  # a hundredth for what rounding adds
    if before is None or before.q < q:
        whole = np.rint(weights / q)
        twice = aligned(whole.shape, np.float32)
        twice[:, : len(whole)] = 2 * whole
        before = Rounded(q, twice, np.abs(q * whole - weights).sum(1), biases, biases, np.inf)
    whole = np.rint(biases / before.q)
    error = (before.lost + np.abs(before.q * whole - biases)).max(initial=0)
    return before._replace(given=biases, biases=whole, error=float(error))


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
        if chains.s.shape[1] >= LEAST and self.updates >= LONG * weights.size:
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


def aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Return zeros whose rows begin on cache lines of 64 bytes, and are made longer for that."""
    item = np.dtype(dtype).itemsize
    shape = *shape[:-1], -(-shape[-1] * item // 64) * 64 // item
    raw = np.zeros(prod(shape) * item + 64, np.uint8)
    skip = -raw.__array_interface__["data"][0] % 64
    return raw[skip : skip + prod(shape) * item].view(dtype).reshape(shape)
