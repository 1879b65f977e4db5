"""The compiled loops of numba_engine.py; imported only where Numba is installed.

Three things that a profiler teaches: unsigned indices spare the test for negative ones; rows that begin on a cache
line (64 bytes) are read twice as fast; and a loop with something rare inside is not vectorised, so what is rare, a
doubtful draw, is marked and done after.
"""

from math import log

import numpy as np
from numba import njit

from .random_stream import fine_digits, stream


def logits(bins):
    """Return logit(u) where bins of u begin and end."""
    inside = np.arange(1, bins)
    return np.concatenate([[-np.inf], np.log(inside / inside[::-1]), [np.inf]])


EDGES = logits(256)
BLOCK = 32  # chains of a block: their fields stay in the first-level cache
compiled = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
_stream, _digits = compiled(stream), compiled(fine_digits)
_U = np.uint64


@compiled
def fill(words, key, first):
    """Write the numbers of a stream from `first` on."""
    for i in range(_U(len(words))):
        words[i] = _stream(key, first + i)


@compiled
def fill_rows(words, key, first):
    """Write in each row the numbers of a stream from the row's `first` on."""
    for r in range(len(words)):
        for i in range(_U(words.shape[1])):
            words[r, i] = _stream(key, first[r] + i)


@compiled
def _decided_late(x, k, seed, place):
    u = (k + _digits(_stream(seed, place))) / 65536
    return x > log(u / (1 - u))


@compiled
def decided(x, k, seed, place):
    """Whether a unit turns up, by its first bits k and, in doubt, by the digits that follow."""
    bin_ = _U(k >> 8)
    up = x > EDGES[bin_ + _U(1)]
    return _decided_late(x, k, seed, place) if (x > EDGES[bin_]) != up else up


@compiled
def copied(s, out, begin, end):
    """Copy the states of chains begin to end."""
    for i in range(_U(len(s))):
        for c in range(_U(begin), _U(end)):
            out[i, c] = s[i, c]


@compiled
def dense(weights, h, s, k, units, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a full machine, whose fields h (chains, n) change with each flip."""
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
                    up = decided(beta2[c] * h[c, i], bits[c], seeds[c], place + _U(t * n + r))
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
                copied(s, out[t], first, last)


@compiled
def decide(h, inner, s, k, beta2, seeds, place):
    """Take the units of a block in turn, by their fields h (units, chains) of all others as these were before."""
    units, chains = h.shape
    step, doubt = np.empty(chains), np.zeros((chains + 7) // 8 * 8, np.uint8)
    words = doubt.view(np.uint64)
    for r in range(_U(units)):
        state, bits, field = s[r], k[r], h[r]
        for c in range(_U(chains)):
            x, bin_ = beta2[c] * field[c], _U(bits[c] >> 8)
            up = x > EDGES[bin_ + _U(1)]
            doubt[c] = (x > EDGES[bin_]) != up
            new = 2.0 * up - 1.0
            step[c] = new - state[c]
            state[c] = new
        for a in range(_U(len(words))):
            if words[a]:
                for c in range(_U(8) * a, _U(8) * a + _U(8)):
                    if doubt[c]:
                        up = _decided_late(beta2[c] * field[c], bits[c], seeds[c], place + r)
                        step[c] += (2.0 * up - 1.0) - state[c]
                        state[c] = 2.0 * up - 1.0
        if len(inner):
            for j in range(r + _U(1), _U(units)):
                w, later = inner[j, r], h[j]
                for c in range(_U(chains)):
                    later[c] += w * step[c]


@compiled
def decide_layer(h, slack, weights, near, biases, s, k, beta2, seeds, place):
    """Take the units of a layer by what they feel of others, h (units, chains), each off by at most slack (units,).

    What that leaves open is summed anew in double precision, from the states `near` (others, chains).
    """
    units, chains = h.shape
    doubt = np.zeros((chains + 7) // 8 * 8, np.uint8)
    words = doubt.view(np.uint64)
    for r in range(_U(units)):
        state, bits, felt, bias, off = s[r], k[r], h[r], biases[r], slack[r]
        for c in range(_U(chains)):
            x, bin_ = beta2[c] * (felt[c] + bias), _U(bits[c] >> 8)
            up = x - beta2[c] * off > EDGES[bin_ + _U(1)]
            doubt[c] = (x + beta2[c] * off > EDGES[bin_]) != up
            state[c] = 2.0 * up - 1.0
        for a in range(_U(len(words))):
            if words[a]:
                for c in range(_U(8) * a, _U(8) * a + _U(8)):
                    if doubt[c]:
                        u = (bits[c] + _digits(_stream(seeds[c], place + r))) / 65536
                        x, least = beta2[c] * (felt[c] + bias), log(u / (1 - u))
                        if abs(x - least) <= beta2[c] * off:
                            total = 0.0
                            for j in range(_U(len(near))):
                                total += weights[r, j] * near[j, c]
                            x = beta2[c] * (total + bias)
                        state[c] = 2.0 * (x > least) - 1.0


@compiled
def sparse(indptr, indices, weights, biases, s, k, units, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a sparse machine (CSR), all chains of a unit side by side."""
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
            copied(s, out[t], begin, end)


@compiled
def sparse_few(indptr, indices, weights, biases, s, k, units, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a sparse machine (CSR), one chain after the other: for a few chains."""
    n = len(s)
    for t in range(len(k)):
        line = units[t % len(units)]
        for r in range(n):
            i = _U(line[r])
            for c in range(_U(begin), _U(end)):
                h = biases[i]
                for e in range(indptr[i], indptr[i + _U(1)]):
                    h += weights[e] * s[_U(indices[e]), c]
                up = decided(beta2[c] * h, k[t, r, c], seeds[c], place + _U(t * n + r))
                s[i, c] = 2 * np.int8(up) - 1
        if len(out):
            copied(s, out[t], begin, end)
