"""Gibbs sweeps in NumPy: block after block of units, in all chains at once.

    a unit becomes +1 if  u < 1 / (1 + exp(-2 h / T)),  that is if  h > t = T/2 log(u / (1 - u))

The thresholds t of a block are made at once, and the fields of its units by one product.  If units of a block are
coupled, they are updated one after the other, each with the new states of the units before it in the block:

    h_i = sum_{j outside, or after i} w_ij s_j + b_i + sum_{j before i} w_ij s_j'

Random numbers come from counter-based streams: number k of a stream is computed without the numbers before it,

    z_k = mix(seed + k * 0x9E3779B97F4A7C15)        (SplitMix64: Steele, Lea and Flood 2014, OOPSLA)

Numba's loops compile the same functions stream() and fine_digits(), and so pass through exactly the same states.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...model import BoltzmannMachine, energy_of
from ...running.sparsity import ColourClasses
from ...running.threads import one_thread

UNIT_BLOCK = 32  # coupled units whose fields come from one product
STREAM_STRIP = 2**13  # random numbers that are made at a time, and stay in the cache
DENSE_SHARE = 0.9  # share of weights that are not 0, above which a product takes all columns


def stream(seed, place):
    """Return number `place` of the stream SplitMix64 that starts at a seed; all are uint64."""
    z = seed + place * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fine_digits(word):
    """Return the digits of u below its first 16 bits, in (0, 1), from a uint64."""
    return ((word >> np.uint64(11)) + 0.5) * 2.0**-53


class Sweeps(NamedTuple):
    """The sweeps that an engine has to make: the first bits of all uniforms, and the place of their further digits.

    k            first 16 bits of each uniform (sweeps, n, chains)
    place, seeds   their further digits start at number `place` of the stream of each chain (chains,)
    beta, biases   (chains,) and (n,); None: the machine's own biases
    first_field  W s of the first class before the first sweep, (units, chains); None: not known
    out, every   gets the states after each `every` sweeps, (draws, n, chains)
    """

    k: np.ndarray
    place: int
    seeds: np.ndarray
    beta: np.ndarray
    biases: np.ndarray | None
    first_field: np.ndarray | None
    out: np.ndarray
    every: int


class Block(NamedTuple):
    """Units that are updated together: their weights to old states (units, columns) and to new ones (units, units)."""

    units: Any  # indices, or a slice
    columns: Any
    old: Any
    new: np.ndarray | None  # to units before in the block, with ones on the diagonal; None if none are coupled


class NumpyEngine:
    """Sweep chains by NumPy."""

    def __init__(self, model: BoltzmannMachine, classes: ColourClasses, n_chains: int, n_sweeps: int = 1):
        self.model, self.blocks = model, list(_blocks(model, lines(classes)))

    def fill(self, words: np.ndarray, key: np.uint64, first: int) -> None:
        """Write the numbers of a stream from `first` on."""
        for a in range(0, len(words), STREAM_STRIP):
            part = words[a : a + STREAM_STRIP]
            part[:] = stream(key, np.arange(first + a, first + a + len(part), dtype=np.uint64))

    def __call__(self, states: np.ndarray, sweeps: Sweeps) -> None:
        """Sweep the states (n, chains), in place."""
        s, place, beta2, field = states.astype(float), sweeps.place, 2 * sweeps.beta, sweeps.first_field
        biases = self.model.biases if sweeps.biases is None else sweeps.biases
        with one_thread(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for t, bits in enumerate(sweeps.k):
                done = 0
                for block in self.blocks:
                    last = done + block.old.shape[0]
                    _update(block, s, _uniforms(sweeps.seeds, bits[done:last], place + done), beta2, biases, field)
                    done, field = last, None
                place += len(s)
                if len(sweeps.out) and (t + 1) % sweeps.every == 0:
                    sweeps.out[t // sweeps.every] = s
        states[...] = s

    def energies(self, states: np.ndarray) -> np.ndarray:
        """Return the energy of each chain (chains,)."""
        return energy_of(self.model, states.T)


def _uniforms(seeds, k, place):
    """Return 65536 u with all digits, for updates from number `place` on, with first bits k (units, chains)."""
    places = np.arange(place, place + len(k)).astype(np.uint64)
    u = fine_digits(stream(seeds, places[:, None]))
    u += k
    return u


def _update(block, s, u, beta2, biases, field):
    """Set the units of a block in states s (n, chains), by numbers u (units, chains) between 0 and 65536.

    `field` is the field from the weights, if it is known and the block is a whole class.
    """
    units, columns, old, new = block
    h = old @ s[columns] if field is None or new is not None or len(field) != len(u) else field.copy()
    h += biases[units, None]
    least = 65536 - u
    np.divide(u, least, out=least)
    np.log(least, out=least)
    least /= beta2
    least -= h  # a unit becomes +1 if the units before it in the block add more than this
    if new is None:
        s[units] = 1 - 2.0 * (least >= 0)
        return
    short = h[0]  # its numbers are no longer needed
    for r in range(len(least)):  # the rows become minus the new states
        np.dot(new[r, : r + 1], least[: r + 1], out=short)  # new[r, r] = 1
        np.copysign(1.0, short, out=least[r])
    s[units] = -least


def lines(classes):
    """Return the units of each block: a large class as it is, small classes joined up to UNIT_BLOCK units."""
    units, ends, cuts = classes.order, classes.offsets.tolist(), [0]
    while cuts[-1] < len(units):
        fit, one = bisect_right(ends, cuts[-1] + UNIT_BLOCK) - 1, bisect_right(ends, cuts[-1])
        cuts.append(ends[max(fit, one)])
    return [units[begin:end] for begin, end in pairwise(cuts)]


def _blocks(model: BoltzmannMachine, in_lines) -> Iterator[Block]:
    """Yield the Block of each line of units; no unit is in two lines."""
    full = not model.is_sparse and model.weight_count > DENSE_SHARE * model.weights.size
    for line in in_lines:
        first, count = int(line[0]), len(line)
        units = slice(first, first + count) if (line == np.arange(first, first + count)).all() else line  # a view
        rows: Any = model.weights[units]
        columns: Any = slice(None)
        inner = rows[:, line]
        new = np.tril(inner.toarray() if model.is_sparse else inner, -1)
        if not new.any():
            new = None
        if not full:
            columns = np.unique(rows.indices) if model.is_sparse else np.flatnonzero(rows.any(0))
            if new is not None:
                columns = np.union1d(columns, line)  # some may have no partner in the block
            rows = rows[:, columns]
        if new is not None:
            rows = rows.toarray() if model.is_sparse else rows.copy()
            rows[:, np.searchsorted(np.arange(model.n)[columns], line)] -= new
        yield Block(units, columns, rows, None if new is None else new + np.eye(len(line)))
