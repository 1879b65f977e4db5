"""The compiled loops of chains.py; imported only where Numba is installed.

Dense machines keep all fields h (chains, n) and change them where a unit flips: a sweep costs as many rows of the
weights as there are flips.  Sparse machines have few neighbours: fields are summed anew.  Chains go in blocks that
stay in the cache, and the blocks on as many threads as Numba may use (NUMBA_NUM_THREADS).
"""

from concurrent.futures import ThreadPoolExecutor
from math import log

import numpy as np
from numba import config, njit
from scipy.special import logit

from .chains import fine_digits

EDGES = logit(np.arange(257) / 256)     # of 256 bins of u; -inf and inf at the ends
TOGETHER = 32           # chains of a block: their fields stay in the first-level cache
SHARE = 2**18           # updates that are worth a thread
compiled = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
_digits = compiled(fine_digits)


def engine(chains):
    """Return a function that moves the chains by sweeps, given first bits k (sweeps, n, chains) and units (sweeps, n)."""
    model = chains.model
    if model.is_sparse:
        w = model.weights
        return lambda k, units, out: _in_threads(_sparse, chains, (w.indptr, w.indices, w.data), chains.biases, k, units, out)

    def advance(k, units, out):
        fields = chains.s.T.astype(float) @ model.weights + chains.biases
        _in_threads(_dense, chains, (model.weights,), fields, k, units, out)
    return advance


def _in_threads(kernel, chains, weights, fields, k, units, out):
    """Call a kernel on slices of the chains, one a thread."""
    count = chains.s.shape[1]
    threads = max(1, min(config.NUMBA_NUM_THREADS, k.size // SHARE, count // TOGETHER))
    edges = np.linspace(0, count, threads + 1).astype(int)
    place = np.uint64(chains.count * len(chains.s))

    def part(a, b):
        kernel(*weights, fields, chains.s, k, units, 2 * chains.beta, chains.seeds, place, out, a, b)
    if threads == 1:
        part(0, count)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, edges[:-1], edges[1:]))


@compiled
def _doubtful(x, k, seed, place):
    u = (k + _digits(seed, place)) / 65536
    return x > log(u / (1 - u))


@compiled
def _dense(weights, h, s, k, units, beta2, seeds, place, out, begin, end):
    n = len(weights)
    flips = np.empty(TOGETHER, np.int64)
    for first in range(begin, end, TOGETHER):
        last = min(end, first + TOGETHER)
        for t in range(len(k)):
            for r in range(n):
                i, flipped = units[t, r], 0
                state, bits = s[i], k[t, r]
                for c in range(first, last):
                    x, byte = beta2[c] * h[c, i], bits[c] >> 8
                    up = x > EDGES[byte + 1]
                    if (x > EDGES[byte]) != up:
                        up = _doubtful(x, bits[c], seeds[c], place + np.uint64(t * n + r))
                    new = np.int8(2 * up - 1)
                    flips[flipped] = c
                    flipped += new != state[c]
                    state[c] = new
                w = weights[i]
                for f in range(flipped):
                    c = flips[f]
                    field, step = h[c], 2.0 * state[c]
                    for j in range(n):
                        field[j] += step * w[j]
            if len(out):
                out[t, :, first:last] = s[:, first:last]


@compiled
def _sparse(indptr, indices, weights, biases, s, k, units, beta2, seeds, place, out, begin, end):
    n, chains = len(s), end - begin
    h = np.empty(chains)
    beta2, seeds = beta2[begin:end], seeds[begin:end]
    for t in range(len(k)):
        for r in range(n):
            i = units[t, r]
            state, bits = s[i, begin:end], k[t, r, begin:end]
            if chains < 8:
                for c in range(chains):
                    h[c] = biases[i]
                    for e in range(indptr[i], indptr[i + 1]):
                        h[c] += weights[e] * s[indices[e], begin + c]
            else:
                h[:] = biases[i]
                for e in range(indptr[i], indptr[i + 1]):
                    w, other = weights[e], s[indices[e], begin:end]
                    for c in range(chains):
                        h[c] += w * other[c]
            for c in range(chains):
                x, byte = beta2[c] * h[c], bits[c] >> 8
                up = x > EDGES[byte + 1]
                if (x > EDGES[byte]) != up:
                    up = _doubtful(x, bits[c], seeds[c], place + np.uint64(t * n + r))
                state[c] = 2 * np.int8(up) - 1
        if len(out):
            out[t, :, begin:end] = s[:, begin:end]
