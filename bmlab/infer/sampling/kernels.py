"""The compiled loops of chains.py; imported only where Numba is installed.

Full machines keep all fields h (chains, n) and change them where a unit flips: a sweep costs as many rows of the
weights as there are flips.  Sparse machines have few neighbours: fields are summed anew.  Chains go in blocks that
stay in the cache, and the blocks on as many threads as Numba may use (NUMBA_NUM_THREADS).

Three things that a profiler teaches: unsigned indices spare the test for negative ones; rows that begin on a cache
line (64 bytes) are read twice as fast; and a loop with something rare inside is not vectorised, so what is rare, a
doubtful draw, is marked and done after.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import log, prod
from os import getpid
from typing import Any

import numpy as np
import scipy
from numba import config, njit

from .random_stream import fine_digits, stream

EDGES = np.full(257, np.inf)  # logit(u) of 256 bins of u
EDGES[1:-1] = np.log(np.arange(1, 256) / np.arange(255, 0, -1))
EDGES[0] = -np.inf
BLOCK = 32  # chains of a block: their fields stay in the first-level cache
FEW = 0.1  # share of weights that are not 0, below which a full matrix is taken for a sparse one
SHARE = 2**18  # updates that are worth a thread
FRESH = 128  # sweeps after which kept fields are summed anew, before rounding adds up
compiled = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
_stream, _digits = compiled(stream), compiled(fine_digits)
_U = np.uint64


class Engine:
    """Move chains; keep the fields of a full machine from call to call, while nobody else changes states or biases."""

    weights: Any  # a csr_array, or rows that begin on cache lines

    def __init__(self, chains: Any):
        self.chains, self.fill, weights = chains, fill, chains.model.weights
        self.few = chains.model.is_sparse or np.count_nonzero(weights) < FEW * weights.size
        if self.few:
            self.weights = scipy.sparse.csr_array(weights)
            return
        n, width = chains.model.n, -(-chains.model.n // 8) * 8
        self.age, self.seen, self.fields = FRESH, np.empty(0), aligned((chains.s.shape[1], width))
        self.weights = aligned((n, width))
        self.weights[:, :n] = weights

    def __call__(self, k, units, out):
        """Sweep by first bits k (sweeps, n, chains) along units (sweeps, n), or (1, n) for all."""
        chains = self.chains
        if self.few:
            kernel, w = _sparse if chains.s.shape[1] >= 8 else _sparse_few, self.weights
            return _in_threads(kernel, chains, (w.indptr, w.indices, w.data, chains.biases), k, units, out)
        self._refresh()
        _in_threads(_dense, chains, (self.weights, self.fields), k, units, out)
        self.age, self.seen = self.age + len(k), chains.s.copy()

    def _refresh(self):
        chains = self.chains
        if self.age >= FRESH or self.biases is not chains.biases or not np.array_equal(self.seen, chains.s):
            self.fields[:, : chains.model.n] = chains.s.T.astype(float) @ chains.model.weights + chains.biases
            self.age, self.biases = 0, chains.biases


def aligned(shape: tuple[int, int]) -> np.ndarray:
    """Return zeros (float64) that begin on a cache line."""
    size = 8 * prod(shape)
    raw = np.zeros(size + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + size].view(float).reshape(shape)


def _in_threads(kernel, chains, arrays, k, units, out):
    """Call a kernel on ranges of the chains, one a thread."""
    count = chains.s.shape[1]
    threads = max(1, min(config.NUMBA_NUM_THREADS, k.size // SHARE, count // BLOCK))  # pyright: ignore[reportAttributeAccessIssue]
    place = _U(chains.count * len(chains.s))

    def part(begin, end):
        kernel(*arrays, chains.s, k, units, 2 * chains.beta, chains.seeds, place, out, begin, end)

    if threads == 1:
        part(0, count)
    else:
        edges = np.linspace(0, count, threads + 1).astype(int)
        list(_pool(threads, getpid()).map(part, edges[:-1], edges[1:]))


@cache
def _pool(threads, process):
    """Return a pool that is kept; one for each process, because threads do not survive a fork."""
    return ThreadPoolExecutor(threads)


@compiled
def fill(words, key, first):
    """Write the numbers of a stream from `first` on."""
    for i in range(_U(len(words))):
        words[i] = _stream(key, first + i)


@compiled
def _decided_late(x, k, seed, place):
    u = (k + _digits(_stream(seed, place))) / 65536
    return x > log(u / (1 - u))


@compiled
def _copy(s, out, begin, end):
    for i in range(_U(len(s))):
        for c in range(_U(begin), _U(end)):
            out[i, c] = s[i, c]


@compiled
def _dense(weights, h, s, k, units, beta2, seeds, place, out, begin, end):
    n, width = weights.shape
    flips = np.empty(BLOCK, np.uint64)
    for first in range(begin, end, BLOCK):
        last = min(end, first + BLOCK)
        for t in range(len(k)):
            line = units[t % len(units)]
            for r in range(n):
                i, flipped = _U(line[r]), _U(0)
                state, bits = s[i], k[t, r]
                for c in range(_U(first), _U(last)):
                    x, bin_ = beta2[c] * h[c, i], _U(bits[c] >> 8)
                    up = x > EDGES[bin_ + _U(1)]
                    if (x > EDGES[bin_]) != up:
                        up = _decided_late(x, bits[c], seeds[c], place + _U(t * n + r))
                    new = np.int8(2 * up - 1)
                    flips[flipped] = c
                    flipped += _U(new != state[c])
                    state[c] = new
                w = weights[i]
                for f in range(flipped):
                    field, step = h[flips[f]], 2.0 * state[flips[f]]
                    for j in range(width):
                        field[j] += step * w[j]
            if len(out):
                _copy(s, out[t], first, last)


@compiled
def _sparse(indptr, indices, weights, biases, s, k, units, beta2, seeds, place, out, begin, end):
    n, chains = len(s), end - begin
    h, doubt = np.empty(chains), np.zeros((chains + 7) // 8 * 8, np.uint8)
    words = doubt.view(np.uint64)
    beta2, seeds = beta2[begin:end], seeds[begin:end]
    for t in range(len(k)):
        line = units[t % len(units)]
        for r in range(n):
            i = _U(line[r])
            state, bits = s[i, begin:end], k[t, r, begin:end]
            h[:] = biases[i]
            for e in range(indptr[i], indptr[i + _U(1)]):
                w, other = weights[e], s[indices[e], begin:end]
                for c in range(chains):
                    h[c] += w * other[c]
            for c in range(_U(chains)):
                x, bin_ = beta2[c] * h[c], _U(bits[c] >> 8)
                up = x > EDGES[bin_ + _U(1)]
                doubt[c] = (x > EDGES[bin_]) != up
                state[c] = 2 * np.int8(up) - 1
            for a in range(_U(len(words))):
                if words[a]:
                    for c in range(_U(8) * a, _U(8) * a + _U(8)):
                        if doubt[c]:
                            up = _decided_late(beta2[c] * h[c], bits[c], seeds[c], place + _U(t * n + r))
                            state[c] = 2 * np.int8(up) - 1
        if len(out):
            _copy(s, out[t], begin, end)


@compiled
def _sparse_few(indptr, indices, weights, biases, s, k, units, beta2, seeds, place, out, begin, end):
    n = len(s)
    for t in range(len(k)):
        line = units[t % len(units)]
        for r in range(n):
            i = _U(line[r])
            for c in range(_U(begin), _U(end)):
                h = biases[i]
                for e in range(indptr[i], indptr[i + _U(1)]):
                    h += weights[e] * s[_U(indices[e]), c]
                x, bits = beta2[c] * h, k[t, r, c]
                up = x > EDGES[_U(bits >> 8) + _U(1)]
                if (x > EDGES[_U(bits >> 8)]) != up:
                    up = _decided_late(x, bits, seeds[c], place + _U(t * n + r))
                s[i, c] = 2 * np.int8(up) - 1
        if len(out):
            _copy(s, out[t], begin, end)
