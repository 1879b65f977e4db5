"""The engine of NumPy: the fields of a block of units from one product, in all chains.

    h_B = W_B s + b_B;   where units of the block are coupled, one after the other: h_i += w_ij (s_j' - s_j), j before i

Large classes of units that are not coupled inside, such as the layers of a restricted machine, are a block each.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ...couplings import one_by_one
from ...threads import one_thread
from .random_stream import fine_digits, stream

BLOCK = 32  # coupled units whose fields are taken from one product
MOST = 0.9  # share of weights that are not 0, above which a product takes all columns


def chance_of_plus(x: np.ndarray, s: np.ndarray, rule: str = "gibbs") -> np.ndarray:
    """Return p(+1) of units that stand at s = -1/+1 and feel x = 2 h / T, by Gibbs' rule or Metropolis'."""
    if rule == "gibbs":
        return 1 / (1 + np.exp(-x))
    turn = np.exp(np.minimum(-s * x, 0))
    return np.where(s > 0, 1 - turn, turn)


class NumpyEngine:
    """Move chains block by block of units; call it as kernels.Engine."""

    kind: type = float  # of the states in a product

    def __init__(self, chains: Any):
        self.chains, self.begun = chains, False
        self.blocks: Any = None

    def __call__(self, k, units, out):
        chains, s = self.chains, self.chains.s.astype(self.kind)
        self.beta2 = 2 * chains.beta
        with one_thread(), np.errstate(over="ignore"):  # exp(-x) = inf: never +1
            for t in range(len(k)):
                done = 0
                for block in self._in_turn(units[t % len(units)]):
                    self._update(block, s, k[t, done : done + len(block[0])], (chains.count + t) * len(s) + done)
                    done += len(block[0])
                if len(out):
                    out[t] = s
        chains.s[...] = s

    def _in_turn(self, line):
        """Return the blocks of a line of units; they are kept from the second sweep on: there is one, or many."""
        model, order = self.chains.model, self.chains.order
        if order == "random":
            return _blocks(model, (line[a : a + BLOCK] for a in range(0, len(line), BLOCK)))
        classes = self.chains.classes if order == "colours" else one_by_one(model.n)
        if self.blocks is None and self.begun:
            self.blocks = list(_blocks(model, _lines(classes)))
        self.begun = True
        return self.blocks or _blocks(model, _lines(classes))

    def _update(self, block, s, k, place):
        units, _, _, inner = block
        h = self._fields(block, s)
        if inner is None:
            s[units] = self._choose(h, s[units], k, place)
            return
        flips = np.empty((len(units), s.shape[1]))
        for r, i in enumerate(units):
            h[r] += inner[r, :r] @ flips[:r]
            new = self._choose(h[r], s[i], k[r], place + r)
            flips[r] = new - s[i]
            s[i] = new

    def _fields(self, block, s):
        units, columns, across, _ = block
        felt, self.chains.felt = self.chains.felt, None
        known = felt is not None and len(felt) == len(units)
        return (felt if known else across @ s[columns]) + self.chains.biases[units, None]

    def _choose(self, h, s, k, place, these=slice(None)):
        """Return -1/+1 for fields h (units, chains) and first bits k in these chains; `place` in the stream."""
        p = 65536 * chance_of_plus(self.beta2[these] * h, s, self.chains.rule)
        whole = p.astype(np.int32)
        up = k < whole
        doubt = np.flatnonzero(k == whole)
        if len(doubt):
            row, chain = np.divmod(doubt, k.shape[-1])
            digits = fine_digits(stream(self.chains.seeds[these][chain], (place + row).astype(np.uint64)))
            up.flat[doubt] = whole.flat[doubt] + digits < p.flat[doubt]
        return 2.0 * up - 1


def _lines(classes):
    """Return the units in lines to be taken together: large classes as they are, small ones up to BLOCK units."""
    units, ends, cuts = classes.line, classes.ends, [0]
    while cuts[-1] < len(units):
        fit, one = np.searchsorted(ends, [cuts[-1] + BLOCK, cuts[-1]], side="right") - [1, 0]
        cuts.append(int(ends[max(fit, one)]))
    return [units[begin:end] for begin, end in pairwise(cuts)]


def _blocks(model, lines):
    """Return for each line (units, the columns they are coupled to, weights across, weights inside or None)."""
    weights = model.weights
    full = not model.is_sparse and model.weight_count > MOST * weights.size
    for units in lines:
        rows, columns = weights[as_slice(units)], slice(None)
        if not full:
            columns = np.unique(rows.indices) if model.is_sparse else np.flatnonzero(rows.any(0))
        inner = rows[:, units]
        inner = inner.toarray() if model.is_sparse else inner
        yield units, columns, rows[:, columns], inner if inner.any() else None


def as_slice(units: Any) -> Any:
    """Return units that follow each other as a slice: a view of their rows, no copy."""
    if isinstance(units, slice) or not len(units):
        return units
    first, count = int(units[0]), len(units)
    return slice(first, first + count) if (units == np.arange(first, first + count)).all() else units
