"""The engine of NumPy where a full machine walks long in many chains: numpy_engine.py in single precision.

    b_i = 1  where  sum_{j before i in the block} 2 w_ij b_j > theta_i = edge T / 2 - sum_{other j} 2 w_ij b_j - a_i

for units b = (1 + s) / 2 of 0 and 1 and a_i = b_i - sum_j w_ij; `edge` is the logit of an end of the bin of u that the
first bits of the draw say.  So an update is one product and a comparison with each end.

How far x = 2 h / T is off: by 2 e / T since weights and biases are whole multiples of q, whose sums are not rounded
(whole_numbers.py); by 2 q / T since theta is, whose sums may be 2^25 q; and by FLOAT since edges are.  The ends of a
bin are moved apart by the sum of these, the margin.  A draw between them is decided in double precision, as in
numpy_engine.py: the chains are the same to the bit.
"""

from typing import Any

import numpy as np

from ...threads import one_thread
from .numpy_engine import BLOCK, NumpyEngine
from .whole_numbers import FLOAT, WIDEST, pays, rounded

LEAST = 64  # chains for which single precision is worth it
HOTTEST = 1e-30  # q / T from which on theta is a number
_K = np.arange(1.0, 2**16)
EDGES = np.concatenate([[-np.inf], np.log(_K / _K[::-1]), [np.inf]]).astype(np.float32)  # logit(k / 65536)


class NarrowEngine(NumpyEngine):
    """Move chains by single precision where it decides nearly all draws, else as NumpyEngine does."""

    rounded: Any = None  # a Rounded
    updates = 0
    narrow: list[Any]  # of each block: its units, and twice the weights of units not before, and of units before

    def __call__(self, k, units, out):
        self.updates += k.size
        if self.blocks is None or not self._fits() or not (margin := self._margin()) < WIDEST:
            return super().__call__(k, units, out)
        chains, s = self.chains, (self.chains.s > 0).astype(np.float32)
        chains.felt, self.beta2 = None, 2 * chains.beta
        self.scale = (1 / (self.beta2 * self.rounded.q)).astype(np.float32)
        self.low, self.high = EDGES[:-1] - np.float32(margin), EDGES[1:] + np.float32(margin)
        with one_thread(), np.errstate(over="ignore"):
            for t in range(len(k)):
                done = 0
                for line, others, before in self.narrow:
                    last = done + len(line)
                    self._walk(line, others, before, s, k[t, done:last], (chains.count + t) * len(s) + done)
                    done = last
                if len(out):
                    out[t] = 2 * s - 1
        chains.s[...] = 2 * s - 1

    def _fits(self):
        """Whether many chains of a full machine walk long; layers the plain engine draws at once."""
        chains = self.chains
        full = not chains.model.is_sparse and chains.rule == "gibbs" and chains.order != "random"
        full = full and all(len(units) <= BLOCK for units, *_ in self.blocks)
        return full and chains.s.shape[1] >= LEAST and pays(self.updates, chains.model.weights)

    def _margin(self):
        """Return by how much x may be off, infinite where theta is no number; round what is new of the machine."""
        chains, before = self.chains, self.rounded
        self.rounded = whole = rounded(chains.model.weights, chains.biases, before)
        if before is None or before.twice is not whole.twice:
            self.sums = whole.twice.sum(1, dtype=float) / 2
            self.narrow = [_parted(units, whole.twice[:, : chains.model.n]) for units, *_ in self.blocks]
        self.a = (whole.biases - self.sums).astype(np.float32)
        if not chains.beta.min() * whole.q > HOTTEST:
            return np.inf
        return 2 * chains.beta.max() * (whole.error + whole.q) + FLOAT

    def _walk(self, units, others, before, s, k, place):
        """Set one unit of a block after the other, in all chains; `low` and `high` are theta at the ends of a bin."""
        felt = others @ s + self.a[units, None]
        low, high = self.low.take(k), self.high.take(k)
        for edge in low, high:
            edge *= self.scale
            edge -= felt
        new, felt = np.empty_like(low), felt[0]
        up, maybe = np.empty((2, len(felt)), bool)
        for r, i in enumerate(units):
            np.dot(before[r, :r], new[:r], out=felt)
            np.greater(felt, high[r], out=up)
            np.greater(felt, low[r], out=maybe)
            if np.count_nonzero(up) != np.count_nonzero(maybe):
                these = np.flatnonzero(up != maybe)
                up[these] = self._in_double(i, units[:r], new[:r, these], s[:, these], k[r, these], place + r, these)
            new[r] = up
        s[units] = new

    def _in_double(self, i, before, new, s, k, place, these):
        """Return whether unit i turns up in these chains, given the new states of the units before."""
        s = s.astype(float)
        s[before] = new
        h = self.chains.model.weights[i] @ (2 * s - 1) + self.chains.biases[i]
        return self._choose(h, 2 * s[i] - 1, k, place, these) > 0


def _parted(units, twice):
    """Return units, and their rows of `twice` the weights in two: units that come before in the block in the second."""
    others, before = twice[units], np.tril(twice[np.ix_(units, units)], -1)
    others[:, units] -= before
    return units, others, before
