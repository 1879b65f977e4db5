"""The engine of NumPy: block after block of units, in all chains at once.

    a unit turns +1 where  u < 1 / (1 + exp(-2 h / T)),  that is where  h > t = T/2 log(u / (1 - u))

The thresholds t of a block are made at once, and the fields of its units by one product.  Where units of a block are
coupled they turn one after the other, and each adds what the block's units before it now are:

    h_i = sum_{j outside, or after i} w_ij s_j + b_i + sum_{j before i} w_ij s_j'
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...couplings import one_by_one
from ...model import BoltzmannMachine
from ...threads import one_thread
from .random_stream import fine_digits, stream

if TYPE_CHECKING:
    from .chains import Chains

BLOCK = 32  # coupled units whose fields are taken from one product
STRIP = 2**13  # random numbers that are made at a time, and stay in the cache
MOST = 0.9  # share of weights that are not 0, above which a product takes all columns


class Block(NamedTuple):
    """Hold units that are updated together: the weights (units, columns) of what is old, (units, units) of the new."""

    units: Any  # indices, or a slice
    columns: Any
    old: Any
    new: np.ndarray | None  # of the units before in the block, with ones on the diagonal; None where none are coupled

    @property
    def count(self) -> int:
        return self.old.shape[0]


class NumpyEngine:
    """Sweep chains by NumPy."""

    def __init__(self, chains: Chains):
        self.model, self.order = chains.model, chains.order
        classes = chains.classes or one_by_one(chains.model.n)
        self.blocks = None if self.order == "random" else list(_blocks(self.model, _lines(classes)))

    def fill(self, words: np.ndarray, key: np.uint64, first: int) -> None:
        """Write the numbers of a stream from `first` on."""
        for a in range(0, len(words), STRIP):
            part = words[a : a + STRIP]
            part[:] = stream(key, np.arange(first + a, first + a + len(part), dtype=np.uint64))

    def __call__(self, chains: Chains, k: np.ndarray, lines: np.ndarray, out: np.ndarray) -> None:
        """Sweep along lines of units (sweeps, n), or (1, n) for all, by the first bits k (sweeps, n, chains) of u."""
        s = chains.s.astype(float)
        with one_thread(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for t in range(len(k)):
                done = 0
                for block in self.blocks or _blocks(self.model, lines[t % len(lines)][:, None]):
                    place, last = (chains.count + t) * len(s) + done, done + block.count
                    _update(chains, block, s, _uniforms(chains.seeds, k[t, done:last], place))
                    done = last
                if len(out):
                    out[t] = s
        chains.s[...] = s


def _uniforms(seeds, k, place):
    """Return 65536 u, all digits, of updates number `place` and on, whose first bits are k (units, chains)."""
    places = np.arange(place, place + len(k)).astype(np.uint64)
    u = fine_digits(stream(seeds, places[:, None]))
    u += k
    return u


def _update(chains, block, s, u):
    """Set the units of a block in states s (n, chains), by numbers u (units, chains) between 0 and 65536."""
    units, columns, old, new = block
    felt, chains.felt = chains.felt, None
    h = old @ s[columns] if felt is None or new is not None or len(felt) != len(u) else felt.copy()
    h += chains.biases[units, None]
    if chains.rule == "metropolis":
        for r, i in enumerate(np.arange(len(s))[units]):
            x = 2 * chains.beta * (h[r] if new is None else h[r] + new[r, :r] @ s[units][:r])
            s[i] = np.where(u[r] < 65536 * chance_of_plus(x, s[i], chains.rule), 1, -1)
        return
    least = 65536 - u
    np.divide(u, least, out=least)
    np.log(least, out=least)
    least /= 2 * chains.beta
    least -= h  # a unit turns +1 where what the units before in the block add is above this
    if new is None:
        s[units] = 1 - 2.0 * (least >= 0)
        return
    short = h[0]  # its numbers are no longer needed
    for r in range(len(least)):  # the rows become minus the new states
        np.dot(new[r, : r + 1], least[: r + 1], out=short)  # new[r, r] = 1
        np.copysign(1.0, short, out=least[r])
    s[units] = -least


def chance_of_plus(x: np.ndarray, s: np.ndarray, rule: str = "gibbs") -> np.ndarray:
    """Return p(+1) of units that stand at s = -1/+1 and feel x = 2 h / T, by Gibbs' rule or Metropolis'."""
    if rule == "gibbs":
        return 1 / (1 + np.exp(-x))
    turn = np.exp(np.minimum(-s * x, 0))
    return np.where(s > 0, 1 - turn, turn)


def _lines(classes):
    """Return the units in lines to be taken together: large classes as they are, small ones up to BLOCK units."""
    units, ends, cuts = classes.line, classes.ends, [0]
    while cuts[-1] < len(units):
        fit, one = np.searchsorted(ends, [cuts[-1] + BLOCK, cuts[-1]], side="right") - [1, 0]
        cuts.append(int(ends[max(fit, one)]))
    return [units[begin:end] for begin, end in pairwise(cuts)]


def _blocks(model: BoltzmannMachine, lines) -> Iterator[Block]:
    """Yield the Block of each line of units, none of which comes twice."""
    full = not model.is_sparse and model.weight_count > MOST * model.weights.size
    for line in lines:
        units = _as_slice(line)
        rows: Any = model.weights[units]
        columns: Any = slice(None)
        inner = rows[:, line]
        new = np.tril(inner.toarray() if model.is_sparse else inner, -1)
        if not new.any():
            new = None
        if not full:
            columns = np.unique(rows.indices) if model.is_sparse else np.flatnonzero(rows.any(0))
            rows = rows[:, columns]
        if new is not None:
            rows = rows.toarray() if model.is_sparse else rows.copy()
            rows[:, np.searchsorted(np.arange(model.n)[columns], line)] -= new
        yield Block(units, columns, rows, None if new is None else new + np.eye(len(line)))


def _as_slice(units):
    """Return units that follow each other as a slice: a view of their rows, no copy."""
    first, count = int(units[0]) if len(units) else 0, len(units)
    return slice(first, first + count) if (units == np.arange(first, first + count)).all() else units
