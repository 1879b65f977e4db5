"""Markov chains side by side: the states of many copies of one machine, and the sweeps that update them.

A unit turns +1 where u < 1 / (1 + exp(-2 h / T)), that is where x = 2 h / T > logit(u), for a uniform number u.  Its
first 16 bits k say that u is in [k, k + 1) / 65536; the digits that follow are number `place` of a stream of the chain
(numpy_engine.py), and so can be made where they are needed: seldom, since the first bits nearly always decide.

Two engines walk: NumPy's (numpy_engine.py) and Numba's (numba_engine.py), whose loops are compiled.  Given the same
generator both pass through the same states, and these are those of `bmlab.sweep`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...budgets import memory_to_spend
from ...model import BoltzmannMachine
from ...progress_bars import with_progress
from ...sparsity import one_by_one
from ...validation import check_choice
from .numpy_engine import NumpyEngine

BATCH = 2**20  # updates whose random bits are drawn at a time, and the most numbers in a block of draws
LONG, WIDE = 2**19, 2**13  # updates of a call, or units of all chains, from which on Numba is worth its import
FEW = 0.1  # share of weights that are not 0, below which a machine walks by lists of neighbours
MOST = 4  # neighbours of a lattice, which has a loop of its own
LAYER = 128  # units of each class from which on NumPy's products are faster than kept fields
ROOM = 2**30  # bytes that must be to spend for Numba and what it compiles
BACKENDS = ("auto", "numpy", "numba")


class Chains:
    """States s (n, chains) of -1/+1 and move them by sweeps; one stream of random numbers, whatever the engine.

    n_sweeps says how many are planned: it helps to choose the engine.  beta (chains,) and biases (n,) are the
    machine's own, and may be replaced between sweeps: tempering and annealing do.  `classes` of units that are not
    coupled turn together, one class after the other; None: units 0, 1, ..., n - 1 one by one.
    """

    def __init__(
        self,
        model: BoltzmannMachine,
        s: ArrayLike,
        rng: np.random.Generator,
        *,
        sequential: bool = False,
        backend: str = "auto",
        n_sweeps: int = 1,
    ):
        check_choice("backend", backend, BACKENDS)
        self.model, self.s = densified(model), np.array(s, dtype=np.int8, order="C")
        self.beta = np.full(self.s.shape[1], 1 / model.temperature)
        self.biases = model.biases
        self.first_class_field: np.ndarray | None = (
            None  # W s of the first class at the next sweep, where the caller knows it
        )
        self.classes = one_by_one(model.n) if sequential else model.colours
        drawn = rng.integers(0, 2**64 - 1, 1 + self.s.shape[1], dtype=np.uint64, endpoint=True)
        self.key, self.seeds = drawn[0], drawn[1:]
        self.count = 0  # sweeps made
        self.backend = choose_engine(self, n_sweeps) if backend == "auto" else backend
        self._engine: Any = None

    @property
    def engine(self) -> Any:
        """Return the engine, made at its first use: `classes` may be set before."""
        if self._engine is None:
            self._engine = NumpyEngine(self) if self.backend == "numpy" else _numba().NumbaEngine(self)
        return self._engine

    def sweep(self, count: int = 1) -> None:
        """Make `count` sweeps and keep the last states only."""
        for _ in self._blocks(count, 0):
            pass

    def draws(self, count: int, every: int = 1) -> Iterator[np.ndarray]:
        """Make count * every sweeps; yield the states after each `every` of them, in blocks (draws, n, chains)."""
        return self._blocks(count * every, every)

    def _blocks(self, sweeps, every):
        """Sweep in blocks of whole draws; the states after each `every` sweeps come out, none where it is 0."""
        step = max(1, every)
        size = max(1, BATCH // (self.s.size + 1) // step) * step
        for done in with_progress(range(0, sweeps, size), "block"):
            k = self.first_bits(min(size, sweeps - done))
            out = np.empty((len(k) // every if every else 0, *self.s.shape), np.int8)
            self.engine(self, k, out, step)
            self.count += len(k)
            yield out

    def energies(self) -> np.ndarray:
        """Return the energy of each chain (chains,), to rounding: what an engine keeps spares the product."""
        return self.engine.energies(self)

    def first_bits(self, sweeps: int) -> np.ndarray:
        """Return the first 16 bits of the uniforms of the sweeps that come next, (sweeps, n, chains)."""
        size = sweeps * self.s.size
        first, begin = divmod(self.count * self.s.size, 4)  # four to each 64-bit number of the stream
        words = np.empty(-(-(begin + size) // 4), np.uint64)
        self.engine.fill(words, self.key, first)
        return words.view(np.uint16)[begin : begin + size].reshape(sweeps, *self.s.shape)


def densified(model: BoltzmannMachine) -> BoltzmannMachine:
    """Return the machine as it walks fastest: its weights as an array, if sparse, where FEW or more are not 0."""
    if (
        not model.is_sparse
        or model.weight_count < FEW * model.n**2
        or np.diff(model.weights.indptr).max(initial=0) <= MOST
    ):
        return model
    return model._with(model.weights.toarray(), model.biases)


def choose_engine(chains, n_sweeps):
    """Return the engine for a call: by its size and the kind of machine, never by what was done before."""
    size, classes = chains.s.size, chains.classes
    small = size < WIDE and size * n_sweeps < LONG
    layers = 0 < len(classes) <= len(chains.s) // LAYER and min(map(len, classes)) > LAYER
    return "numpy" if small or (layers and not chains.model.is_sparse) or not _has_numba() else "numba"


@cache
def _has_numba():
    """Whether Numba can be loaded here: installed, and with room for its compiler."""
    try:
        return memory_to_spend() >= ROOM / 2 and bool(_numba())
    except ValueError:
        return False


def _numba() -> Any:
    """Import Numba only here: it costs a fifth of a second, and its absence a sentence."""
    try:
        return import_module(f"{__name__.rpartition('.')[0]}.numba_engine")
    except (ImportError, OSError, MemoryError) as error:
        raise ValueError(
            f"backend='numba' cannot load Numba here ({error}); pip install numba, or use backend='numpy'"
        ) from error
