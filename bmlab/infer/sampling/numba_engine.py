"""The engine of Numba: compiled loops (kernels.py) over chains, in the way that costs least.

Full machines keep all fields (kept_fields.py) and change them where a unit flips: a sweep costs as many rows of the
weights as there are flips.  Sparse machines have few neighbours: fields are summed anew, or looked up on a lattice
(lattice_kernel.py).  Chains go in blocks that stay in the cache, and the blocks on as many threads as Numba may use
(NUMBA_NUM_THREADS).  Layers, and the one sweep of a machine that is new at each step, take products as in
numpy_engine.py, layers in single precision, with decisions that are compiled.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numba import config

from ...parallel import on_cores
from ...threads import may_start_threads, uninterrupted
from .kept_fields import KeptFields
from .kernels import BLOCK, decide, decide_layer, fill, fill_rows, sparse, sparse_few
from .lattice_kernel import LEAST, edges, lattice, neighbours
from .numpy_engine import BLOCK as ALONE
from .numpy_engine import NumpyEngine, as_slice

FEW = 0.1  # share of weights that are not 0, below which a full matrix is taken for a sparse one
LAYER = 256  # units of a class from which on a product beats kept fields
ONCE = 128  # units from which on a product beats kept fields for a single sweep
SHARE = 2**18  # updates that are worth a thread
OPEN = 0.02  # largest error of x = 2 h / T with which single precision is used: one decision in 100 is open at most
TINY = 1e-30  # error of a field from weights that single precision does not hold


class Engine:
    """Move chains; keep the fields of a full machine from call to call, while nobody else changes states or biases."""

    weights: Any  # a csr_array, or rows that begin on cache lines

    def __init__(self, chains: Any):
        self.chains, weights = chains, chains.model.weights
        self.fill, self.fill_rows = partial(_called, fill), partial(_called, fill_rows)
        self.few = chains.model.is_sparse or chains.model.weight_count < FEW * weights.size
        classes = chains.classes or [[]]
        self.layers = not self.few and chains.model.n >= LAYER * len(classes) and min(map(len, classes)) > ALONE
        self.biases, self.products, self.fields = None, None, None
        if self.few:
            self.weights = scipy.sparse.csr_array(weights)
            self.near = neighbours(self.weights) if chains.s.shape[1] >= LEAST else None
            self.warmth: Any = None  # the beta and the biases that the edges are for

    def __call__(self, k, units, out):
        """Sweep by first bits k (sweeps, n, chains) along units (sweeps, n), or (1, n) for all."""
        chains = self.chains
        if self.few:
            kernel, w = sparse if chains.s.shape[1] >= 8 else sparse_few, self.weights
            arrays = w.indptr, w.indices, w.data, chains.biases
            if self.near and (chains.beta == chains.beta[0]).all():
                kernel, arrays = lattice, (*arrays, *self.near, self._edges())
            return _in_threads(kernel, chains, arrays, k, units, out)
        new = self.biases is not chains.biases and chains.model.n >= ONCE and chains.order != "random"
        self.biases = chains.biases
        if self.layers or (new and len(k) == 1):
            self.products = self.products or (_Layers if self.layers else _Products)(chains)
            return self.products(k, units, out)
        self.fields = self.fields or KeptFields(chains)
        kernel, arrays = self.fields.kernel(k.size)
        _in_threads(kernel, chains, arrays, k, units, out)
        self.fields.walked(len(k))

    def _edges(self):
        """Return the edges of a lattice, made anew where beta or biases are new."""
        beta, biases = self.chains.beta[0], self.chains.biases
        if self.warmth is None or self.warmth[0] != beta or self.warmth[1] is not biases:
            self.warmth = beta, biases, edges(self.weights, biases, beta)
        return self.warmth[2]


class _Products(NumpyEngine):
    """Move chains block by block of units, in each of which no unit comes twice; what is decided there is compiled."""

    def _update(self, block, s, k, place):
        units, h, inner = block[0], self._fields(block, s), block[3]
        new, inner = s[units], np.empty((0, 0)) if inner is None else inner
        _called(decide, h, inner, new, np.ascontiguousarray(k), self.beta2, self.chains.seeds, np.uint64(place))
        s[units] = new


class _Layers(NumpyEngine):
    """Move chains layer by layer: products in single precision, and in double what these cannot decide.

    Of n products w_ij s_j, summed in any order by numbers of 24 bits, |error| <= n 2^-24 / (1 - n 2^-24) sum_j |w_ij|:
    Higham (2002), Accuracy and Stability of Numerical Algorithms, section 3.1.
    """

    kind = np.float32

    def __init__(self, chains):
        super().__init__(chains)
        self.blocks = [_narrowed(*block) for block in self._in_turn(None)]

    def _update(self, block, s, k, place):
        units, columns, across, narrow, slack = block
        felt, self.chains.felt = self.chains.felt, None
        if felt is None or len(felt) != len(slack):
            exact = not slack.max() * self.beta2.max() < OPEN
            felt = across @ s[columns].astype(float) if exact else narrow @ s[columns]
        off = slack if felt.dtype == self.kind else np.zeros(len(slack))
        new, biases = s[as_slice(units)], self.chains.biases[units]
        k, place = np.ascontiguousarray(k), np.uint64(place)
        _called(decide_layer, felt, off, across, s[columns], biases, new, k, self.beta2, self.chains.seeds, place)
        s[units] = new


def _narrowed(units, columns, across, _):
    """Return units, columns, weights in double and in single precision, and the most that fields are off by."""
    across, size = np.ascontiguousarray(across), across.shape[1] * 2.0**-24
    slack = size / (1 - size) * abs(across).sum(1) + TINY
    return units, as_slice(columns), across, across.astype(np.float32), slack


def _in_threads(kernel, chains, arrays, k, units, out):
    """Call a kernel on ranges of the chains, one a thread."""
    count = chains.s.shape[1]
    threads = max(1, min(k.size // SHARE, count // BLOCK))
    if threads > 1:
        most = config.NUMBA_NUM_THREADS if may_start_threads() else 1  # pyright: ignore[reportAttributeAccessIssue]
        threads = min(threads, most)
    place = np.uint64(chains.count * len(chains.s))

    def part(ends):
        _called(kernel, *arrays, chains.s, k, units, 2 * chains.beta, chains.seeds, place, out, *ends)

    if threads == 1:
        return part((0, count))
    for _ in on_cores(part, list(pairwise(np.linspace(0, count, threads + 1).astype(int).tolist()))):
        pass


def _called(kernel, *args):
    """Call a kernel; where this compiles it, whole or not at all."""
    return kernel(*args) if kernel.overloads else uninterrupted(kernel, *args)
