"""Gibbs sweeps compiled by Numba: dense, sparse and lattice kernels; imported only if Numba is installed.

The kernels keep all fields h (chains, n) and update them if a unit flips: a sweep costs one row of the weights per
flip, n numbers in a dense machine, the neighbours in a sparse one.  On a lattice with at most four equal couplings per
unit a field is one of five numbers, and a unit becomes +1 if k < edge:

    h_i = J (s_a + s_b + s_c + s_d) + b_i,        edge = 65536 / (1 + exp(-2 h_i / T)) rounded down.

If no later sweep needs the fields, those of a block of units are one product, and the units of the block are updated
from the changes of each other alone (`_once`).

The first bits of a draw nearly always decide.  On a lattice the undecided draws are marked, and decided afterwards by
all digits: a loop with a rare branch inside is not vectorised.  Unsigned indices avoid the test for negative ones; rows
that start on a cache line (64 bytes) are read twice as fast.
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from math import log, prod
from typing import Any

import numpy as np
import scipy

from ...model import UNTHREADED_PRODUCTS, BoltzmannMachine, energy_of
from ...running.compiling import compiled
from ...running.parallel import map_threads, worker_count
from ...running.sparsity import LATTICE_NEIGHBOURS, LISTED_SHARE, ColourClasses
from ...running.threads import one_thread
from .numpy_engine import Sweeps, fine_digits, stream

REFRESH_EVERY = 128  # sweeps after which kept fields are summed anew, before rounding adds up
UPDATES_A_THREAD = 2**18  # updates that are worth a thread
UNIT_BLOCK = 32  # units whose fields come from one product, if fields are not kept
CHAIN_BLOCK = 32  # chains whose fields stay in the first-level cache; from this number on a lattice has its own loop
LOGIT_EDGES = np.r_[-np.inf, scipy.special.logit(np.arange(1, 256) / 256), np.inf]  # logit(u) at the ends of bins of u


class NumbaEngine:
    """Sweep chains by compiled loops; keep the fields from one call to the next, unless biases were replaced."""

    def __init__(self, model: BoltzmannMachine, classes: ColourClasses, n_chains: int, n_sweeps: int = 1):
        self.model, self.line = model, classes.order
        self.is_single = n_sweeps == 1  # so that no field is worth keeping
        self.near: Any = None  # the neighbours of a lattice
        self.edges: Any = None  # of a lattice, with their beta
        self.fields: Any = None
        self.age: int | None = None  # sweeps since the fields were summed; None if they are out of date
        if model.is_sparse or model.weight_count < LISTED_SHARE * model.weights.size:
            self.weights: Any = scipy.sparse.csr_array(model.weights)
            self.near = lattice_neighbours(self.weights) if n_chains >= CHAIN_BLOCK else None
            places = self.weights.indptr.astype(np.int64), self.weights.indices.astype(np.int64)
            self.kernel, self.arrays = _sparse, (*places, self.weights.data.copy())  # in one type, to compile once
        else:
            self.kernel, self.arrays = _dense, ()

    def fill(self, words: np.ndarray, key: np.uint64, first: int) -> None:
        """Write the numbers of a stream from `first` on."""
        _fill(words, key, np.uint64(first))

    def __call__(self, states: np.ndarray, sweeps: Sweeps) -> None:
        """Sweep the states (n, chains), in place."""
        biases = self.model.biases if sweeps.biases is None else sweeps.biases
        if self.near and (sweeps.beta == sweeps.beta[0]).all():
            self.age = None
            edges = self._edges(sweeps.beta[0], biases, sweeps.biases is None)
            _in_threads(_lattice, (*self.arrays, biases, *self.near, edges), states, sweeps, self.line)
            return
        if self.kernel is _dense and len(sweeps.k) == 1 and (self.is_single or sweeps.biases is not None):
            self.age = None
            self._sweep_once(states, sweeps, biases)
            return
        if self.kernel is _dense and not self.arrays:
            self.weights = aligned(self.model.weights.shape)
            self.weights[:, : self.model.n] = self.model.weights
            self.arrays = (self.weights,)
        if self.age is None or sweeps.biases is not None or self.age >= REFRESH_EVERY:
            self._sum_fields(states, biases)
            self.age = 0
        _in_threads(self.kernel, (*self.arrays, self.fields), states, sweeps, self.line)
        self.age = self.age + len(sweeps.k) if sweeps.biases is None else None

    def _sweep_once(self, states, sweeps, biases):
        s = states.astype(float)
        with one_thread() if UNIT_BLOCK * s.size > UNTHREADED_PRODUCTS else nullcontext():
            _once(
                self.model.weights,
                biases,
                s,
                sweeps.k[0],
                self.line,
                2 * sweeps.beta,
                sweeps.seeds,
                np.uint64(sweeps.place),
            )
        states[...] = s
        if len(sweeps.out):
            sweeps.out[0] = s

    def energies(self, states: np.ndarray) -> np.ndarray:
        """Return the energy of each chain (chains,): -(h + b) s / 2 from fields h, if they are up to date."""
        if self.age is None:
            return energy_of(self.model, states.T)
        return self.model.offset - _products(self.fields, self.model.biases, states) / 2

    def _sum_fields(self, states, biases):
        if self.fields is None:
            self.fields = aligned(states.T.shape)
        with one_thread() if states.size * self.model.n > UNTHREADED_PRODUCTS else nullcontext():
            self.fields[:, : self.model.n] = states.T.astype(float) @ self.model.weights + biases

    def _edges(self, beta, biases, own):
        """Return the edges of a lattice; with the machine's own biases they are kept until beta changes."""
        if not own:
            return lattice_edges(self.weights, biases, beta)
        if self.edges is None or self.edges[0] != beta:
            self.edges = beta, lattice_edges(self.weights, biases, beta)
        return self.edges[1]


def aligned(shape):
    """Return zeros (rows, columns), padded so that each row starts on a cache line of 64 bytes."""
    shape = shape[0], -(-shape[1] // 8) * 8
    raw = np.zeros(prod(shape) + 8)
    skip = -raw.__array_interface__["data"][0] % 64 // 8
    return raw[skip : skip + prod(shape)].reshape(shape)


def _in_threads(kernel, arrays, states, sweeps, line):
    """Call a kernel on ranges of the chains, one per thread."""
    count, place, beta2 = states.shape[1], np.uint64(sweeps.place), 2 * sweeps.beta

    def part(ends):
        kernel(*arrays, states, sweeps.k, line, beta2, sweeps.seeds, place, sweeps.out, sweeps.every, *ends)

    threads = max(1, min(sweeps.k.size // UPDATES_A_THREAD, count // CHAIN_BLOCK))
    threads = min(threads, worker_count()) if threads > 1 else 1
    if threads == 1:
        part((0, count))
        return
    for _ in map_threads(part, list(pairwise(np.linspace(0, count, threads + 1).astype(int).tolist()))):
        pass


_compiled, _inlined = compiled(fastmath={"contract"}), compiled(fastmath={"contract"}, inline="always")
_stream, _digits = _compiled(stream), _compiled(fine_digits)
_U = np.uint64


@_compiled
def _fill(words, key, first):
    for i in range(_U(len(words))):
        words[i] = _stream(key, first + i)


@_compiled
def _products(h, biases, s):
    """Return sum_i (h_i + b_i) s_i of each chain."""
    total = np.zeros(s.shape[1])
    for c in range(_U(s.shape[1])):
        for i in range(_U(len(s))):
            total[c] += (h[c, i] + biases[i]) * s[i, c]
    return total


@_compiled
def _accepts(x, k, seed, place):
    """Whether x = 2 h / T is above logit(u), by the first bits k of u and, if these do not decide, by all digits."""
    bin_ = _U(k >> 8)
    up = x > LOGIT_EDGES[bin_ + _U(1)]
    if (x > LOGIT_EDGES[bin_]) == up:
        return up
    u = (k + _digits(_stream(seed, place))) / 65536
    return x > log(u / (1 - u))


@_inlined
def _update_unit(i, s, h, k, beta2, seeds, place, first, last, flips):
    """Set unit i in chains first to last, list the chains in which it flips, and return their number."""
    state, flipped = s[i], _U(0)
    for c in range(first, last):
        new = np.int8(2 * _accepts(beta2[c] * h[c, i], k[c], seeds[c], place) - 1)
        flips[flipped] = c
        flipped += _U(new != state[c])
        state[c] = new
    return flipped


@_compiled
def _copied(s, out, t, every, first, last):
    """Copy the states of chains first to last, if they are wanted after sweep t."""
    if len(out) and (t + 1) % every == 0:
        for i in range(_U(len(s))):
            for c in range(_U(first), _U(last)):
                out[t // every, i, c] = s[i, c]


@_compiled
def _dense(weights, h, s, k, line, beta2, seeds, place, out, every, begin, end):
    """Sweep chains begin to end of a dense machine; each flip changes all fields h (chains, n) of its chain."""
    n, width, flips = _U(len(s)), _U(weights.shape[1]), np.empty(CHAIN_BLOCK, np.uint64)
    for first in range(_U(begin), _U(end), _U(CHAIN_BLOCK)):
        last = min(_U(end), first + _U(CHAIN_BLOCK))
        for t in range(len(k)):
            for r in range(n):
                i = _U(line[r])
                w = weights[i]
                for f in range(_update_unit(i, s, h, k[t, r], beta2, seeds, place + _U(t) * n + r, first, last, flips)):
                    field, step = h[flips[f]], 2.0 * s[i, flips[f]]
                    for j in range(width):
                        field[j] += step * w[j]
            _copied(s, out, t, every, first, last)


@_compiled
def _once(weights, biases, s, k, line, beta2, seeds, place):
    """Sweep states s (n, chains) of a dense machine once, block after block of units, without fields that are kept."""
    rows, step = np.empty((UNIT_BLOCK, len(s))), np.empty(s.shape[1])
    for begin in range(0, len(s), UNIT_BLOCK):
        units = line[begin : begin + UNIT_BLOCK]
        for r in range(len(units)):
            rows[r] = weights[units[r]]
        fields = np.dot(rows[: len(units)], s)
        for r in range(len(units)):
            i, state, field = units[r], s[units[r]], fields[r]
            number = place + _U(begin + r)
            for c in range(_U(s.shape[1])):
                new = 2.0 * _accepts(beta2[c] * (field[c] + biases[i]), k[begin + r, c], seeds[c], number) - 1.0
                step[c], state[c] = new - state[c], new
            for q in range(r + 1, len(units)):
                w, later = rows[r, units[q]], fields[q]
                for c in range(_U(s.shape[1])):
                    later[c] += w * step[c]


@_compiled
def _sparse(indptr, indices, weights, h, s, k, line, beta2, seeds, place, out, every, begin, end):
    """Sweep as _dense(); in a sparse machine (CSR) a flip changes the fields of the neighbours only."""
    n, flips = _U(len(s)), np.empty(CHAIN_BLOCK, np.uint64)
    for first in range(_U(begin), _U(end), _U(CHAIN_BLOCK)):
        last = min(_U(end), first + _U(CHAIN_BLOCK))
        for t in range(len(k)):
            for r in range(n):
                i = _U(line[r])
                a, b = _U(indptr[i]), _U(indptr[i + _U(1)])
                for f in range(_update_unit(i, s, h, k[t, r], beta2, seeds, place + _U(t) * n + r, first, last, flips)):
                    field, step = h[flips[f]], 2.0 * s[i, flips[f]]
                    for e in range(a, b):
                        field[_U(indices[e])] += step * weights[e]
            _copied(s, out, t, every, first, last)


def lattice_neighbours(weights: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the neighbours (n, 4) of each unit, and masks: -1, or 0 if there is none; None if it is no lattice."""
    count = np.diff(weights.indptr)
    if not weights.nnz or count.max() > LATTICE_NEIGHBOURS or np.ptp(weights.data) or not weights.data[0]:
        return None
    shape = len(count), LATTICE_NEIGHBOURS
    units, masks = np.zeros(shape, np.uint64), np.zeros(shape, np.int8)
    row, place = np.repeat(np.arange(len(count)), count), np.arange(weights.nnz) - np.repeat(weights.indptr[:-1], count)
    units[row, place], masks[row, place] = weights.indices, -1
    return units, masks


def lattice_edges(weights: Any, biases: np.ndarray, beta: float) -> np.ndarray:
    """Return the first bits (n, 5) below which a unit becomes +1, by the sum of its neighbours: -4 or -3, to 3 or 4."""
    sums = 2 * np.arange(LATTICE_NEIGHBOURS + 1) - LATTICE_NEIGHBOURS + np.diff(weights.indptr)[:, None] % 2
    with np.errstate(over="ignore"):  # exp(-x) = inf: never +1
        p = 1 / (1 + np.exp(-2 * beta * (weights.data[0] * sums + biases[:, None])))
    return np.minimum(65536 * p, 65535).astype(np.uint16)


@_compiled
def _lattice(
    indptr, indices, weights, biases, near, masks, edges, s, k, line, beta2, seeds, place, out, every, begin, end
):
    """Sweep chains begin to end of a lattice (CSR), all chains of a unit at once."""
    n, first, chains = _U(len(line)), _U(begin), _U(end - begin)
    total, doubt = np.empty(chains, np.int8), np.zeros((chains + _U(7)) // _U(8) * _U(8), np.uint8)
    words = doubt.view(np.uint64)
    for t in range(len(k)):
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
                            up = _accepts(beta2[chain] * h, k[t, r, chain], seeds[chain], place + _U(t) * n + r)
                            s[i, chain] = 1 if up else -1
        _copied(s, out, t, every, begin, end)
