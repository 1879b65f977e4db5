"""The engine of Numba: compiled loops; imported only where Numba is installed.

Full machines keep all fields h (chains, n) and change them where a unit flips: a sweep costs as many rows of the
weights as there are flips.  Machines of few couplings sum the fields of their few neighbours anew.  On a lattice, where
at most four neighbours pull alike, a field is one of five numbers, and a unit turns up where k < edge:

    h_i = J (s_a + s_b + s_c + s_d) + b_i,        edge = 65536 / (1 + exp(-2 h_i / T)) rounded down.

The first bits of a draw decide nearly always.  What they leave open is marked, and decided after by all digits: a loop
with something rare inside is not vectorised.  Unsigned indices spare the test for negative ones; rows that begin on a
cache line (64 bytes) are read twice as fast.
"""

from __future__ import annotations

from itertools import pairwise
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numba import njit

from ...parallel import on_cores, worker_count
from ...threads import one_thread, uninterrupted
from .chains import FEW, MOST
from .random_stream import fine_digits, stream

if TYPE_CHECKING:
    from .chains import Chains

FRESH = 128  # sweeps after which kept fields are summed anew, before rounding adds up
SHARE = 2**18  # updates that are worth a thread
BLOCK = 32  # chains of a block: their fields stay in the first-level cache
LEAST = 32  # chains that its loop is worth it for
EDGES = np.r_[-np.inf, scipy.special.logit(np.arange(1, 256) / 256), np.inf]  # logit(u) where bins of u begin and end


class NumbaEngine:
    """Sweep chains by compiled loops; keep the fields of a full machine while nobody else changes states or biases."""

    def __init__(self, chains: Chains):
        model = chains.model
        self.fields: Any = None  # of a full machine
        self.edges: Any = None  # of a lattice, with the beta and the biases that they are for
        self.biases, self.seen, self.age = None, None, 0
        self.few = model.is_sparse or model.weight_count < FEW * model.weights.size
        if self.few:
            self.weights: Any = scipy.sparse.csr_array(model.weights)
            self.near = lattice_neighbours(self.weights) if chains.s.shape[1] >= LEAST else None
        else:
            self.weights = _aligned(model.weights.shape)
            self.weights[:, : model.n] = model.weights

    def fill(self, words: np.ndarray, key: np.uint64, first: int) -> None:
        """Write the numbers of a stream from `first` on."""
        _called(_fill, words, key, np.uint64(first))

    def __call__(self, chains: Chains, k: np.ndarray, lines: np.ndarray, out: np.ndarray) -> None:
        """Sweep along lines of units (sweeps, n), or (1, n) for all, by the first bits k (sweeps, n, chains) of u."""
        if not self.few:
            self._follow(chains)
            _in_threads(_dense, (self.weights, self.fields), chains, k, lines, out)
            self.seen, self.age = chains.s.copy(), self.age + len(k)
            return
        arrays = self.weights.indptr, self.weights.indices, self.weights.data, chains.biases
        if self.near and (chains.beta == chains.beta[0]).all():
            _in_threads(_lattice, (*arrays, *self.near, self._edges(chains)), chains, k, lines, out)
        else:
            _in_threads(_sparse if chains.s.shape[1] >= 8 else _sparse_few, arrays, chains, k, lines, out)

    def _follow(self, chains):
        """Sum the fields anew where they are not those of the states and biases, or have changed often."""
        known = self.seen is not None and np.array_equal(self.seen, chains.s) and self.biases is chains.biases
        if known and self.age < FRESH:
            return
        if self.fields is None:
            self.fields = _aligned(chains.s.T.shape)
        n = chains.model.n
        with one_thread():
            np.matmul(chains.s.T.astype(float), chains.model.weights, out=self.fields[:, :n])
        self.fields[:, :n] += chains.biases
        self.biases, self.age = chains.biases, 0

    def _edges(self, chains):
        """Return the edges of a lattice, made anew where beta or biases are new."""
        beta, biases = chains.beta[0], chains.biases
        if self.edges is None or self.edges[0] != beta or self.edges[1] is not biases:
            self.edges = beta, biases, lattice_edges(self.weights, biases, beta)
        return self.edges[2]


def _aligned(shape):
    """Return zeros (rows, columns) whose rows begin on cache lines of 64 bytes, and are made longer for that."""
    shape = shape[0], -(-shape[1] // 8) * 8
    raw = np.zeros(prod(shape) + 8)
    skip = -raw.__array_interface__["data"][0] % 64 // 8
    return raw[skip : skip + prod(shape)].reshape(shape)


def _in_threads(kernel, arrays, chains, k, lines, out):
    """Call a kernel on ranges of the chains, one a thread."""
    count, place = chains.s.shape[1], np.uint64(chains.count * len(chains.s))

    def part(ends):
        _called(kernel, *arrays, chains.s, k, lines, 2 * chains.beta, chains.seeds, place, out, *ends)

    threads = max(1, min(k.size // SHARE, count // BLOCK))
    threads = min(threads, worker_count()) if threads > 1 else 1
    ends = list(pairwise(np.linspace(0, count, threads + 1).astype(int).tolist()))
    for _ in map(part, ends) if threads == 1 else on_cores(part, ends):
        pass


def _called(kernel, *args):
    """Call a kernel; where this compiles it, whole or not at all."""
    return kernel(*args) if kernel.overloads else uninterrupted(kernel, *args)


_compiled = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
_stream, _digits = _compiled(stream), _compiled(fine_digits)
_U = np.uint64


@_compiled
def _fill(words, key, first):
    for i in range(_U(len(words))):
        words[i] = _stream(key, first + i)


@_compiled
def _decided_late(x, k, seed, place):
    """Whether x = 2 h / T is above logit(u), by all digits of u."""
    u = (k + _digits(_stream(seed, place))) / 65536
    return x > log(u / (1 - u))


@_compiled
def _decided(x, k, seed, place):
    """Whether a unit turns up, by its first bits k and, in doubt, by the digits that follow."""
    bin_ = _U(k >> 8)
    up = x > EDGES[bin_ + _U(1)]
    return _decided_late(x, k, seed, place) if (x > EDGES[bin_]) != up else up


@_compiled
def _copied(s, out, begin, end):
    """Copy the states of chains begin to end."""
    for i in range(_U(len(s))):
        for c in range(_U(begin), _U(end)):
            out[i, c] = s[i, c]


@_compiled
def _dense(weights, h, s, k, lines, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a full machine, whose fields h (chains, n) change with each flip."""
    n, width = _U(len(s)), _U(weights.shape[1])
    flips = np.empty(BLOCK, np.uint64)
    for first in range(_U(begin), _U(end), _U(BLOCK)):
        last = min(_U(end), first + _U(BLOCK))
        for t in range(_U(len(k))):
            line = lines[t % _U(len(lines))]
            for r in range(n):
                i, flipped = _U(line[r]), _U(0)
                state, bits = s[i], k[t, r]
                for c in range(first, last):
                    up = _decided(beta2[c] * h[c, i], bits[c], seeds[c], place + t * n + r)
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
                _copied(s, out[t], first, last)


@_compiled
def _sparse(indptr, indices, weights, biases, s, k, lines, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a sparse machine (CSR), all chains of a unit side by side."""
    n, chains = len(s), end - begin
    h, doubt = np.empty(chains), np.zeros((chains + 7) // 8 * 8, np.uint8)
    words = doubt.view(np.uint64)
    beta2, seeds = beta2[begin:end], seeds[begin:end]
    for t in range(len(k)):
        line = lines[t % len(lines)]
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
            _copied(s, out[t], begin, end)


@_compiled
def _sparse_few(indptr, indices, weights, biases, s, k, lines, beta2, seeds, place, out, begin, end):
    """Sweep as _sparse, one chain after the other: for a few chains."""
    n = len(s)
    for t in range(len(k)):
        line = lines[t % len(lines)]
        for r in range(n):
            i = _U(line[r])
            for c in range(_U(begin), _U(end)):
                h = biases[i]
                for e in range(indptr[i], indptr[i + _U(1)]):
                    h += weights[e] * s[_U(indices[e]), c]
                up = _decided(beta2[c] * h, k[t, r, c], seeds[c], place + _U(t * n + r))
                s[i, c] = 2 * np.int8(up) - 1
        if len(out):
            _copied(s, out[t], begin, end)


def lattice_neighbours(weights: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the units (n, 4) coupled to each, and masks: -1, and 0 where there is none. None for no lattice."""
    count = np.diff(weights.indptr)
    if not weights.nnz or count.max() > MOST or np.ptp(weights.data) or not weights.data[0]:
        return None
    units, masks = np.zeros((len(count), MOST), np.uint64), np.zeros((len(count), MOST), np.int8)
    row, place = np.repeat(np.arange(len(count)), count), np.arange(weights.nnz) - np.repeat(weights.indptr[:-1], count)
    units[row, place], masks[row, place] = weights.indices, -1
    return units, masks


def lattice_edges(weights: Any, biases: np.ndarray, beta: float) -> np.ndarray:
    """Return the first bits (n, 5) below which a unit turns +1, by the sum of its neighbours: -4 or -3, to 3 or 4."""
    sums = 2 * np.arange(MOST + 1) - MOST + np.diff(weights.indptr)[:, None] % 2
    with np.errstate(over="ignore"):  # exp(-x) = inf: never +1
        p = 1 / (1 + np.exp(-2 * beta * (weights.data[0] * sums + biases[:, None])))
    return np.minimum(65536 * p, 65535).astype(np.uint16)


@_compiled
def _lattice(indptr, indices, weights, biases, near, masks, edges, s, k, lines, beta2, seeds, place, out, begin, end):
    """Sweep chains begin to end of a lattice (CSR), all chains of a unit side by side; as _sparse."""
    n, first, chains = _U(lines.shape[1]), _U(begin), _U(end - begin)
    total, doubt = np.empty(chains, np.int8), np.zeros((chains + _U(7)) // _U(8) * _U(8), np.uint8)
    words = doubt.view(np.uint64)
    for t in range(_U(len(k))):
        line = lines[t % _U(len(lines))]
        for r in range(n):
            i = _U(line[r])
            a, b, c, d = near[i, 0], near[i, 1], near[i, 2], near[i, 3]
            on_a, on_b, on_c, on_d = masks[i, 0], masks[i, 1], masks[i, 2], masks[i, 3]
            for j in range(first, first + chains):
                total[j - first] = (s[a, j] & on_a) + (s[b, j] & on_b) + (s[c, j] & on_c) + (s[d, j] & on_d)
            e0, e1, e2, e3, e4 = edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3], edges[i, 4]
            for j in range(chains):
                around, bits, edge = total[j], k[t, r, first + j], e0
                edge = e1 if around > np.int8(-3) else edge
                edge = e2 if around > np.int8(-1) else edge
                edge = e3 if around > np.int8(1) else edge
                edge = e4 if around > np.int8(3) else edge
                s[i, first + j] = 1 if bits < edge else -1
                doubt[j] = np.uint16(np.uint16(bits - edge) + np.uint16(1)) < np.uint16(3)
            for w in range(_U(len(words))):
                if words[w]:
                    for j in range(_U(8) * w, _U(8) * w + _U(8)):
                        if doubt[j]:
                            h, chain = biases[i], first + j
                            for e in range(_U(indptr[i]), _U(indptr[i + _U(1)])):
                                h += weights[e] * s[_U(indices[e]), chain]
                            up = _decided(beta2[chain] * h, k[t, r, chain], seeds[chain], place + t * n + r)
                            s[i, chain] = 1 if up else -1
        if len(out):
            _copied(s, out[t], begin, end)
