"""The fields of a full machine in whole numbers, which single precision holds.

    h'_i = sum_j w'_ij s_j + b'_i,     w' and b' rounded to multiples of q,     2^24 q >= sum_j |w'_ij| + |b'_i|

Single precision takes twice as many numbers at a time.  All sums of h' are whole multiples of q, at most 2^24 of them,
which it holds without rounding.  So however long a walk is, h' differs from h by what the numbers were rounded by, at
most e = max_i (sum_j |w'_ij - w_ij| + |b'_i - b_i|), and x = 2 h / T by 2 e / T.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

LONG = 4  # updates a weight after which single precision is worth it: rounding the weights takes time, too
CALLS = 2**15  # updates that the calls for it take the time of
WIDEST = 2.0**-8  # margin of x up to which few draws are left open
FLOAT = 2.0**-18  # what single precision loses of x, its edges and the margin, where |x| < 16


class Rounded(NamedTuple):
    """Hold a full machine in whole numbers: weights and biases divided by q."""

    q: float
    twice: np.ndarray  # the weights (n, n), which a flip adds to all fields or takes away
    lost: np.ndarray  # (n,), of the weights of each unit
    given: np.ndarray  # the biases as they were
    biases: np.ndarray
    error: float  # of a field, at most


def pays(updates: int, weights: np.ndarray) -> bool:
    """Whether so many updates gain by single precision what it takes to begin with it."""
    return updates >= LONG * weights.size + CALLS


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


def aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Return zeros whose rows begin on cache lines of 64 bytes, and are made longer for that."""
    item = np.dtype(dtype).itemsize
    shape = *shape[:-1], -(-shape[-1] * item // 64) * 64 // item
    raw = np.zeros(prod(shape) * item + 64, np.uint8)
    skip = -raw.__array_interface__["data"][0] % 64
    return raw[skip : skip + prod(shape) * item].view(dtype).reshape(shape)
