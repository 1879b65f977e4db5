"""Chains side by side: the states of many copies of one machine, and what a sweep does to them.

A unit turns +1 where u < 1 / (1 + exp(-2 h / T)), that is where x = 2 h / T > logit(u), for a uniform number u.  We
draw u digit by digit, and only as far as needed.  Its first 16 bits k say that u is in [k, k + 1) / 65536, and nearly
always p is outside: then they decide.  Once in 65536 updates they do not, and the digits that follow are made for this
one update.  So two random bytes are enough for an update; the walk is the same, to the bit, as with all digits drawn
in advance and `bmlab.sweep`.

Two engines walk: NumPy (numpy_engine.py), which takes the fields of a block of units from one matrix product,
in long walks of full machines in single precision (narrow_engine.py), and Numba (numba_engine.py), whose compiled
loops keep all fields up to date where that costs less.  Given the same generator both pass through the same states.
"""

import sys
from collections.abc import Iterator
from copy import copy, deepcopy
from importlib.util import find_spec
from time import perf_counter
from typing import Any
from weakref import proxy

import numpy as np
from numpy.typing import ArrayLike

from ...budgets import seconds_to_spend
from ...checks import check_choice
from ...couplings import one_by_one
from ...model import BoltzmannMachine
from ...progress_bars import watched
from ...threads import one_thread, whole
from .narrow_engine import NarrowEngine
from .random_stream import stream

BATCH = 2**20  # updates whose random bits are drawn at a time, and the most numbers in a block of draws
WORTH = 0.3  # seconds of a session spent in NumPy's engine after which Numba pays: what its import takes
HURRY = 4.0  # seconds of a call that has no time for that import, and for the first call of what is compiled
CALL, PLAIN = 3.5e-5, 5  # seconds of a class of units in NumPy's engine; and times what an update takes in Numba's
PACKAGE = __name__.rpartition(".")[0]
ORDERS = ("colours", "sequential", "random")
RULES = ("gibbs", "metropolis")
BACKENDS = ("auto", "numpy", "numba")


class Chains:
    """Hold states s (n, chains) of -1/+1 and move them by sweeps; one stream of random numbers, whatever the engine.

    beta (chains,) and biases (n,) are the machine's own, and may be replaced between sweeps: tempering and
    annealing do.
    """

    seconds = 0.0  # spent in NumPy's engine in this session, by all chains

    def __init__(
        self,
        model: BoltzmannMachine,
        s: ArrayLike,
        rng: np.random.Generator,
        *,
        order: str = "colours",
        rule: str = "gibbs",
        backend: str = "auto",
    ):
        for name, value, known in (("order", order, ORDERS), ("rule", rule, RULES), ("backend", backend, BACKENDS)):
            check_choice(name, value, known)
        if rule != "gibbs" and backend == "numba":
            raise ValueError(f"the Numba backend has no rule {rule!r}; use backend='numpy'")
        self.model, self.s, self.rng = model, np.array(s, dtype=np.int8, order="C"), rng
        self.order, self.rule, self.backend = order, rule, backend
        self.beta = np.full(self.s.shape[1], 1 / model.temperature)
        self.biases = model.biases
        self.felt: np.ndarray | None = None  # W s of the first class at the next sweep, where the caller knows it
        self.classes = model.colours if order == "colours" else None
        drawn = rng.integers(0, 2**64 - 1, 1 + self.s.shape[1], dtype=np.uint64, endpoint=True)
        self.key, self.seeds = drawn[0], drawn[1:]
        self.sites = np.random.default_rng(rng.integers(2**63)) if order == "random" else None
        self.count = 0  # sweeps made
        self.first, self.width = 0, self.s.shape[1]  # the chains here are first, first + 1, ... of so many
        self._compiled: Any = None
        self._plain: NarrowEngine | None = None

    def __getstate__(self):
        return vars(self) | {"rng": None, "_compiled": None, "_plain": None}  # an engine is made where it works

    def stretch(self, begin: int, end: int) -> "Chains":
        """Return a copy of the chains from `begin` to `end`: they walk, to the bit, as they would among the others."""
        own = copy(self)
        own.s, own.seeds, own.beta = self.s[:, begin:end].copy(), self.seeds[begin:end], self.beta[begin:end].copy()
        own.sites, own.first = deepcopy(self.sites), self.first + begin
        return own

    def sweep(self, count: int = 1) -> None:
        """Make `count` sweeps and keep the last states only."""
        for _ in self.steps(count):
            pass

    def draws(self, count: int) -> Iterator[np.ndarray]:
        """Make `count` sweeps and yield the states after each, in blocks (sweeps, n, chains)."""
        yield from (out for _, out in self.steps(count, keep=True))

    def steps(self, count: int, keep: bool = False) -> Iterator[tuple[int, np.ndarray]]:
        """Make `count` sweeps, a few at a time; yield how many, and their states (none unless `keep`)."""
        size = max(1, BATCH // (self.s.size + 1))
        for done in watched(range(0, count, size), "block"):
            k = self.first_bits(min(size, count - done))
            out = np.empty(k.shape if keep else (0, 0, 0), np.int8)
            self.advance(k, self.lines(len(k)), out)
            self.count += len(k)
            yield len(k), out

    def advance(self, k: np.ndarray, lines: np.ndarray, out: np.ndarray) -> None:
        """Sweep along lines of units (sweeps, n) by first bits k (sweeps, n, chains); `out` gets states, if any."""
        engine = self._engine()
        if engine is not self._plain:
            return engine(k, lines, out)
        with one_thread():  # the first to ask for that loads SciPy's linear algebra, which is no part of the walk
            begin = perf_counter()
            engine(k, lines, out)
            Chains.seconds += perf_counter() - begin

    def _engine(self):
        """Return the engine; "auto" goes over to Numba, in the midst of a walk if need be, once that is worth it."""
        if self._compiled is None and _use_numba(self):
            self._compiled = _numba_engine(self)
        if self._compiled is not None:
            return self._compiled
        self._plain = self._plain or NarrowEngine(proxy(self))  # a circle would keep machines until Python looks for it
        return self._plain

    def first_bits(self, sweeps: int) -> np.ndarray:
        """Return the first 16 bits of the uniforms of the sweeps that come next, (sweeps, n, chains)."""
        if self.s.shape[1] < self.width:
            return self._bits_of_stretch(sweeps)
        size = sweeps * self.s.size
        first, begin = divmod(self.count * self.s.size, 4)  # four to each 64-bit number of the stream
        words = np.empty(-(-(begin + size) // 4), np.uint64)
        if self._engine() is self._plain:
            words[:] = stream(self.key, np.arange(first, first + len(words), dtype=np.uint64))
        else:
            self._compiled.fill(words, self.key, np.uint64(first))
        return words.view(np.uint16)[begin : begin + size].reshape(sweeps, *self.s.shape)

    def _bits_of_stretch(self, sweeps):
        """Return the bits of some of the chains: a stretch of each row of (sweeps * n, width)."""
        n, chains = self.s.shape
        begins = (self.count * n + np.arange(sweeps * n)) * self.width + self.first
        first, skip = (begins // 4).astype(np.uint64), begins % 4
        words = np.empty((len(begins), chains // 4 + 2), np.uint64)
        if self._engine() is self._plain:
            words[:] = stream(self.key, first[:, None] + np.arange(words.shape[1], dtype=np.uint64))
        else:
            self._compiled.fill_rows(words, self.key, first)
        drawn, bits = words.view(np.uint16), np.empty((len(begins), chains), np.uint16)
        for k in range(4):
            bits[skip == k] = drawn[skip == k, k : k + chains]
        return bits.reshape(sweeps, n, chains)

    def lines(self, sweeps: int) -> np.ndarray:
        """Return which unit is updated when, (sweeps, n), or (1, n) where all sweeps are alike."""
        n = len(self.s)
        if self.sites is not None:
            return self.sites.integers(0, n, (sweeps, n))
        return (one_by_one(n) if self.classes is None else self.classes).line[None]


def is_compiled() -> bool:
    """Whether chains of backend "auto" walk by Numba from now on: installed, worth its import, and time for that."""
    fits = _loaded() is not None or seconds_to_spend() >= HURRY
    return Chains.seconds > WORTH and fits and find_spec("numba") is not None


def _use_numba(chains):
    if chains.backend != "auto" or chains.rule != "gibbs":
        return chains.backend == "numba"
    return is_compiled()


def _loaded() -> Any:
    """Return the engine's module if it was imported before, else None."""
    return getattr(sys.modules[PACKAGE], "numba_engine", None)  # an attribute once all of it is there


def _numba_engine(chains):
    """Import Numba only here: it costs a fifth of a second, and its absence a sentence."""
    try:
        numba_engine = _loaded() or whole(f"{PACKAGE}.numba_engine")
    except ModuleNotFoundError:
        raise ValueError(
            "backend='numba' needs Numba, which is not installed; pip install numba, or backend='numpy'"
        ) from None
    return numba_engine.Engine(proxy(chains))
