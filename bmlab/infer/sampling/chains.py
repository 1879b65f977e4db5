"""Markov chains in parallel: the states of many copies of one machine, and the sweeps that update them.

A unit becomes +1 if u < 1 / (1 + exp(-2 h / T)), that is if x = 2 h / T > logit(u), for a uniform number u.  Its first
16 bits k say that u is in [k, k + 1) / 65536; the further digits are number `place` of a stream of the chain
(numpy_engine.py), computed only if they are needed, which is seldom: the first bits nearly always decide.

There are two engines: NumPy's (numpy_engine.py) and Numba's (numba_engine.py), whose loops are compiled.  Given the
same generator, both pass through the same states, which are those of `bmlab.sweep`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np

from ...checking.arrays import read_only
from ...checking.validation import ArrayLike, check_choice
from ...model import BoltzmannMachine, field_of
from ...running.compiling import NUMBA_IMPORT, has_numba
from ...running.progress_bars import with_progress
from ...running.sparsity import LATTICE_NEIGHBOURS, LISTED_SHARE, ColourClasses
from .numpy_engine import NumpyEngine, Sweeps, lines

RANDOM_BATCH = 2**20  # updates whose random bits are drawn at a time, and the most numbers in a block of draws
# The cost of a sweep, in seconds of one core, as `python benchmarks/engines.py` measures it.  NumPy: per block of
# units, per unit of a block with couplings, per number.  Numba: per number, per weight in the row of a unit that flips;
# with new biases also per field that is summed anew, and per weight read for that.
NUMPY_BLOCK, NUMPY_UNIT, NUMPY_NUMBER = 3e-5, 5e-6, 2.2e-8
NUMBA_NUMBER, NUMBA_WEIGHT, NUMBA_FIELD, NUMBA_READ = 1.2e-8, 1.5e-10, 3e-9, 5e-10
FLIP_CHAINS = 16  # chains whose fields give the share of flips
MOST_FLIPS = 0.5  # the largest share of units that flip in a sweep
MULTIPLY_ADDS = 1.5e10  # per second in a matrix product, of both engines
BACKENDS = ("auto", "numpy", "numba")


_as_text = json.JSONEncoder(default=lambda part: part.tolist()).encode  # made once: that takes as long as its use


def stream_of(rng: np.random.Generator) -> str:
    """Return a digest of a generator's state: two runs with the same digest draw the same random numbers."""
    return digest_of(rng.bit_generator.state)


def digest_of(state: Any) -> str:
    """Return a digest of the state of a bit generator, as NumPy gives it."""
    return sha256(_as_text(state).encode()).hexdigest()[:32]


class Chains:
    """States s (n, chains) of -1/+1, updated by sweeps; the random numbers do not depend on the engine.

    classes   classes of units that are not coupled; a class is updated at once; None: model.colours
    n_sweeps  number of planned sweeps, and new_biases, whether each has its own biases: both help to choose the engine
    """

    def __init__(
        self,
        model: BoltzmannMachine,
        s: ArrayLike,
        rng: np.random.Generator,
        *,
        classes: ColourClasses | None = None,
        backend: str = "auto",
        n_sweeps: int = 1,
        new_biases: bool = False,
    ):
        check_choice("backend", backend, BACKENDS)
        self._s, self._asked = np.array(s, dtype=np.int8, order="C"), backend
        self._planned = n_sweeps, new_biases
        self._begin(model, rng, classes)

    def go_on(self, model: BoltzmannMachine, rng: np.random.Generator) -> None:
        """Do as new Chains would that begin at these states, for another machine of as many units."""
        self._begin(model, rng, None)

    def _begin(self, model, rng, classes):
        self.model = densified(model)
        self.classes = model.colours if classes is None else classes
        drawn = rng.integers(0, 2**64 - 1, 1 + self._s.shape[1], dtype=np.uint64, endpoint=True)
        self.key, self.seeds = drawn[0], drawn[1:]
        self.count = 0  # sweeps made
        self._may_switch_engine = self._asked == "auto"  # to the faster one
        self._set_engine(self._cheaper() if self._may_switch_engine else self._asked)

    def _cheaper(self, again=False):
        n_sweeps, new_biases = self._planned
        return choose_engine(self.model, self.classes, self._s, max(1, n_sweeps - self.count), new_biases, again)

    def _set_engine(self, backend):
        self.backend = backend
        engine = NumpyEngine if backend == "numpy" else _numba().NumbaEngine
        self._engine: Any = engine(self.model, self.classes, self._s.shape[1], self._planned[0])

    @property
    def s(self) -> np.ndarray:
        """The states, read-only: the engine keeps fields computed from them."""
        return read_only(self._s.view())

    def sweep(
        self,
        count: int = 1,
        *,
        beta: ArrayLike | None = None,
        biases: np.ndarray | None = None,
        first_field: np.ndarray | None = None,
    ) -> None:
        """Make `count` sweeps and keep the last states only.

        beta         1/T, for all chains or for each (chains,); None: the machine's own
        biases       (n,) instead of the machine's own
        first_field  W s of the first class (units, chains), if the caller knows it
        """
        for _ in self._blocks(count, 0, beta, biases, first_field):
            pass

    def draws(self, count: int, every: int = 1, *, beta: ArrayLike | None = None) -> Iterator[np.ndarray]:
        """Make count * every sweeps; yield the states after each `every` of them, in blocks (draws, n, chains)."""
        return self._blocks(count * every, every, beta)

    def _blocks(self, sweeps, every, beta=None, biases=None, first_field=None):
        """Sweep in blocks of whole draws; yield the states after each `every` sweeps, none if it is 0."""
        if self._may_switch_engine and self.count:  # once states have left their start, another engine may be cheaper
            self._may_switch_engine, backend = False, self._cheaper(again=True)
            if backend != self.backend:
                self._set_engine(backend)
        step = max(1, every)
        size = max(1, RANDOM_BATCH // (self._s.size + 1) // step) * step
        beta = np.full(self._s.shape[1], 1 / self.model.temperature if beta is None else beta)
        for done in with_progress(range(0, sweeps, size), "block"):
            k = self.first_bits(min(size, sweeps - done))
            out = np.empty((len(k) // every if every else 0, *self._s.shape), np.int8)
            place = self.count * len(self._s)
            self._engine(self._s, Sweeps(k, place, self.seeds, beta, biases, first_field, out, step))
            self.count, first_field = self.count + len(k), None
            yield out

    def energies(self) -> np.ndarray:
        """Return the energy of each chain (chains,), to rounding; from kept fields if the engine has them."""
        return self._engine.energies(self._s)

    def first_bits(self, sweeps: int) -> np.ndarray:
        """Return the first 16 bits of the uniforms for the next sweeps, (sweeps, n, chains)."""
        size = sweeps * self._s.size
        first, begin = divmod(self.count * self._s.size, 4)  # four in each 64-bit number of the stream
        words = np.empty(-(-(begin + size) // 4), np.uint64)
        self._engine.fill(words, self.key, first)
        return words.view(np.uint16)[begin : begin + size].reshape(sweeps, *self._s.shape)


def densified(model: BoltzmannMachine) -> BoltzmannMachine:
    """Return the machine in its fastest form: with dense weights if LISTED_SHARE or more of them are not 0."""
    if (
        not model.is_sparse
        or model.weight_count < LISTED_SHARE * model.n**2
        or np.diff(model.weights.indptr).max(initial=0) <= LATTICE_NEIGHBOURS
    ):
        return model
    return model._with(model.weights.toarray(), model.biases)


_saved = 0.0  # seconds that Numba would have saved so far, in calls for which it is faster


def choose_engine(
    model: BoltzmannMachine,
    classes: ColourClasses,
    s: np.ndarray,
    n_sweeps: int,
    new_biases: bool = False,
    again: bool = False,
) -> str:
    """Return the faster engine for sweeps of states s (n, chains); results do not depend on it, only the time.

    Numba is imported as soon as all calls so far would have saved the time of its import (the ski rental rule). A
    walk that asks `again` is counted once.
    """
    global _saved
    is_loaded, by_numpy = _saved >= NUMBA_IMPORT, numpy_seconds(model, classes, s.shape[1])
    if is_loaded and numba_seconds(model, s.shape[1], MOST_FLIPS, new_biases) < by_numpy and has_numba():
        return "numba"
    numba = numba_seconds(model, s.shape[1], flip_share(model, s), new_biases)
    saved = n_sweeps * (by_numpy - numba)
    if saved <= 0:
        return "numpy"
    _saved = max(_saved, saved) if again else _saved + saved
    return "numba" if _saved >= NUMBA_IMPORT and has_numba() else "numpy"


def numpy_seconds(model: BoltzmannMachine, classes: ColourClasses, n_chains: int) -> float:
    """Return the seconds of a sweep: calls of Python for each block of units, then numbers and products."""
    return _call_seconds(classes) + n_chains * (NUMPY_NUMBER * model.n + model.weight_count / MULTIPLY_ADDS)


@lru_cache(maxsize=8)
def _call_seconds(classes):
    blocks = lines(classes)
    coupled = sum(map(len, blocks)) if len(blocks) < len(classes) else 0
    return NUMPY_BLOCK * len(blocks) + NUMPY_UNIT * coupled


def numba_seconds(model: BoltzmannMachine, n_chains: int, flips: float, new_biases: bool = False) -> float:
    """Return the seconds of a sweep: numbers, rows of the units that flip, and all fields if biases are new."""
    is_listed = model.is_sparse or model.weight_count < LISTED_SHARE * model.n**2
    row = model.weight_count / max(1, model.n) if is_listed else model.n
    update = NUMBA_NUMBER + NUMBA_WEIGHT * row * flips
    sums = n_chains * (NUMBA_FIELD + row / MULTIPLY_ADDS) + NUMBA_READ * row if new_biases else 0.0
    return model.n * (n_chains * update + sums)


def flip_share(model: BoltzmannMachine, s: np.ndarray) -> float:
    """Return the share of units that flip in a sweep of states s (n, chains), by the fields of the first chains.

    A unit in the field h becomes +1 with p = 1 / (1 + exp(-2 h / T)); if its sign was drawn so before, it flips with

        2 p (1 - p) = 1 / (2 cosh(h / T)^2)
    """
    field = field_of(model, s[:, :FLIP_CHAINS].T.astype(float))
    with np.errstate(over="ignore"):
        flips = 0.5 / np.cosh(field / model.temperature) ** 2
    return float(flips.mean()) if flips.size else 0.0


def _numba() -> Any:
    """Import Numba, only here since that takes a fifth of a second; raise an error that says how to install it."""
    try:
        return import_module(f"{__name__.rpartition('.')[0]}.numba_engine")
    except (ImportError, OSError, MemoryError) as error:
        raise ValueError(
            f"backend='numba' cannot load Numba here ({error}); pip install numba, or use backend='numpy'"
        ) from error
