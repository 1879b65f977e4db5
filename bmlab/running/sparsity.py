"""Sparsity pattern and greedy graph colouring of the weights: classes of units that are not coupled to each other.

While a machine learns, its numbers change and its couplings stay, so results that depend on the pattern alone are kept
for the last few patterns.  A unit takes the first class in which it has no neighbour: a lattice gives its checkerboard
(three or four classes if a ring has an odd length), a restricted machine its two layers, a full machine n classes of
one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from ..checking.validation import is_sparse

LISTED_SHARE = 0.1  # share of weights that are not 0, below which chains walk by lists of neighbours
LATTICE_NEIGHBOURS = 4  # of a unit of a lattice, which has a loop of its own


class Pattern:
    """A CSR array of ones (`graph`) at non-zero dense weights, or at stored sparse ones; equal if these are."""

    graph: scipy.sparse.csr_array

    def __init__(self, weights: Any):
        stored = scipy.sparse.csr_array(weights)
        self.graph = scipy.sparse.csr_array((np.ones(stored.nnz), stored.indices, stored.indptr), shape=stored.shape)
        self._bytes = _bytes(stored)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)


def values_at(matrix: Any, places: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the numbers of a matrix, sparse or not, at (rows, columns); SciPy answers none with a matrix."""
    return np.asarray(matrix[places], dtype=float).ravel() if len(places[0]) else np.zeros(0)


class ColourClasses(Sequence):
    """Classes of units (indices): all units in `order`, class after class, and the `offsets` at which classes end."""

    def __init__(self, order: np.ndarray, offsets: np.ndarray):
        self.order, self.offsets = order, offsets
        order.flags.writeable = False  # kept for other machines, too

    def __len__(self):
        return len(self.offsets)

    def __getitem__(self, k):
        k = range(len(self))[k]
        return self.order[self.offsets[k - 1] if k else 0 : self.offsets[k]]

    def largest_first(self) -> ColourClasses:
        """Return them in another order."""
        found = sorted(self, key=len, reverse=True)
        return ColourClasses(np.concatenate([self.order[:0], *found]), np.cumsum([len(units) for units in found]))


def colour_classes(weights: Any, nnz: int) -> ColourClasses:
    """Return the classes of units of weights (n, n), an array or CSR, of which nnz are stored; 0 couples nothing."""
    n = weights.shape[0]
    if is_sparse(weights):
        nonzero = np.packbits(weights.data != 0).tobytes()
        return _greedy(n, nonzero, *_bytes(weights))
    if nnz == n * (n - 1):
        return one_by_one(n)
    return _greedy_by_bits(n, np.packbits(weights != 0, axis=1, bitorder="little").tobytes())


@lru_cache(maxsize=8)
def one_by_one(n: int) -> ColourClasses:
    """Return n classes of one unit."""
    return ColourClasses(np.arange(n), np.arange(1, n + 1))


def _bytes(csr):
    """Return the places of a CSR array as bytes, always of 64-bit numbers: three of 32 bits can read as one."""
    return csr.indptr.astype(np.int64).tobytes(), csr.indices.astype(np.int64).tobytes()


@lru_cache(maxsize=8)
def _greedy(n, nonzero, ends, columns):
    colour, count = np.full(n, -1), 0
    for i, near in enumerate(_neighbours(nonzero, ends, columns)):
        taken = np.zeros(count + 2, bool)  # the last place is of the units, -1, that have no class yet
        taken[colour[near]] = True
        free = taken.argmin()
        colour[i], count = free, max(count, free + 1)
    order, ends = np.argsort(colour, kind="stable"), np.cumsum(np.bincount(colour, minlength=count))
    return ColourClasses(order, ends)


def _neighbours(nonzero, ends, columns):
    """Return each unit's neighbours, from the bytes of the pattern."""
    units = np.frombuffer(columns, np.int64)
    coupled = np.unpackbits(np.frombuffer(nonzero, np.uint8), count=len(units)).view(bool)
    return [units[a:b][coupled[a:b]] for a, b in pairwise(np.frombuffer(ends, np.int64))]


@lru_cache(maxsize=8)
def _greedy_by_bits(n, nonzero):
    """Return the same classes, one after the other, of dense weights; unit i is bit i of whole numbers."""
    width = -(-n // 8)
    coupled = [int.from_bytes(nonzero[width * i : width * (i + 1)], "little") for i in range(n)]
    left, order, ends = (1 << n) - 1, [], []
    while left:
        free = left
        while free:
            first = free & -free
            i = first.bit_length() - 1
            order.append(i)
            left ^= first
            free &= ~(coupled[i] | first)
        ends.append(len(order))
    return ColourClasses(np.array(order, int), np.array(ends, int))
