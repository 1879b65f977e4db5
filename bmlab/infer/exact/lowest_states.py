"""Exact sums at low temperatures by branch and bound: only states that are not negligible beside the lowest.

It is for machines whose faces (faces.py) leave the range of a double.

Take three groups of units and the faces of faces.py.  Given the states a, b of two groups no state is heavier than

    -E/T  <=  A[a, b] + max_c B[b, c] + max_c C[c, a].

So the pairs (a, b) are listed by this bound, the largest first, each with all c, until the bound is LOST + log 2^n
below the heaviest state found: all further states together are less than e^-LOST of it, less than rounding.
The colder the machine, the fewer pairs are listed; never more than all.
"""

import numpy as np
import scipy

from ...model import BoltzmannMachine
from ...running.progress_bars import with_progress
from ...running.threads import one_thread
from .faces import Sums, groups_of, log_faces

LOST = 40.0  # e^-40 is 4e-18
LEAST_TOTAL = np.log(1e-290)  # of products of scaled faces over 2^n: underflow is negligible beside it
LEAST_LOG = -650.0  # of a weight over the heaviest: smaller ones are subnormal doubles, a hundred times as slow
SEARCHES = 32  # for the heaviest state, each from the best pair of a strip
LISTED_TILE = 2**18  # states listed at a time


class Lowest:
    """The pairs (a, b) to be listed, largest bound first, and the log weights of all their states.

    heaviest   -E/T of the heaviest state found by a search, group by group
    count      number of pairs with a bound above heaviest - LOST - log 2^n
    """

    def __init__(self, model: BoltzmannMachine):
        self.n, self.faces = model.n, log_faces(model)
        ab, bc, ca = self.faces
        self.bound = ab + bc.max(1) + ca.max(0)[:, None]
        strips = self.bound.reshape(min(SEARCHES, len(ab)), -1)
        starts = strips.argmax(1) + np.arange(len(strips)) * strips.shape[1]
        self.heaviest = max(self._climb(*divmod(int(start), ab.shape[1])) for start in starts)
        self.reach = LOST + self.n * np.log(2)
        self.count = int(np.count_nonzero(self.bound >= self.heaviest - self.reach))

    def _climb(self, a, b):
        """Return the log weight after improving one group at a time, from states a, b, until no group can improve."""
        ab, bc, ca = self.faces
        best, now = -np.inf, -np.finfo(float).max
        while now > best:
            best = now
            c = (bc[b] + ca[:, a]).argmax()
            a = (ab[:, b] + ca[c]).argmax()
            rest = ab[a] + bc[:, c]
            b = rest.argmax()
            now = float(rest[b] + ca[c, a])
        return now

    def fits_a_double(self) -> bool:
        """Whether products of the faces, each over its largest entry, keep all digits, judged by the heaviest state."""
        return self.heaviest - sum(face.max() for face in self.faces) > LEAST_TOTAL + self.n * np.log(2)

    def tiles(self, columns: int):
        """Yield (a, b, log weights (pairs, columns)) until all further states are negligible."""
        ab, bc, ca = self.faces
        flat = np.flatnonzero(self.bound.ravel() >= self.heaviest - self.reach)
        flat = flat[np.argsort(-self.bound.ravel()[flat], kind="stable")]
        top, step, by_a = self.heaviest, max(1, LISTED_TILE // columns), np.ascontiguousarray(ca.T)
        for k in with_progress(range(0, len(flat), step), "tile"):
            a, b = np.divmod(flat[k : k + step], ab.shape[1])
            if self.bound[a[0], b[0]] < top - self.reach:
                break
            logs = bc[b]
            logs += by_a[a]
            logs += ab[a, b][:, None]
            top = max(top, float(logs.max()))
            yield a, b, logs


def sum_by_lowest(model: BoltzmannMachine, moments: bool = True) -> Sums:
    """Return the Sums at any temperature; without `moments`, log Z alone."""
    groups, lists, products = groups_of(model.n)
    sums: tuple = ()
    top = -np.inf
    with one_thread():
        for a, b, logs in Lowest(model).tiles(len(lists[2])):
            new = max(top, float(logs.max()))
            logs -= new
            weight = np.exp(np.maximum(logs, LEAST_LOG, out=logs), out=logs)
            if moments:
                s = np.hstack([lists[0][a], lists[1][b, 1:]])  # [1, s_a, s_b]
                given = weight @ lists[2]  # [1, s_c], summed over c
                part = given[:, 0].sum(), (s * given[:, :1]).T @ s, s.T @ given[:, 1:], weight.sum(0)
            else:
                part = (weight.sum(),)
            sums = part if top == -np.inf else tuple(np.exp(top - new) * x + y for x, y in zip(sums, part, strict=True))
            top = new
    log_z = top + float(np.log(sums[0]))
    if not moments:
        return Sums(log_z)
    total, first, across, by_c = sums
    last = products[2].x.T @ by_c  # [1, s_c, s_c s_c']
    own, rest = groups[2].stop - groups[2].start, groups[2].start
    corr = np.eye(model.n) * total
    corr[:rest, :rest], corr[:rest, rest:], corr[rest:, :rest] = first[1:, 1:], across[1:], across[1:].T
    i, j = products[2].pairs
    corr[rest + i, rest + j] = corr[rest + j, rest + i] = last[1 + own :]
    return Sums(log_z, np.append(first[0, 1:], last[1 : 1 + own]) / total, corr / total)


def draw_by_lowest(model: BoltzmannMachine, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return independent states (size, n): pairs (a, b) by the sum over all c, then c given these."""
    _, lists, _ = groups_of(model.n)
    with one_thread():
        lowest = Lowest(model)
        found = [(a, b, scipy.special.logsumexp(logs, axis=1)) for a, b, logs in lowest.tiles(len(lists[2]))]
        a, b, logs = (np.concatenate(column) for column in zip(*found, strict=True))
        pair = _pick(logs, size, rng)
        a, b, c, (_, bc, ca) = a[pair], b[pair], np.empty(size, int), lowest.faces
        for k in range(size):
            c[k] = _pick(bc[b[k]] + ca[:, a[k]], 1, rng)[0]
    return np.hstack([lists[0][a, 1:], lists[1][b, 1:], lists[2][c, 1:]])


def _pick(logs, size, rng):
    """Draw `size` indices with probabilities proportional to exp(logs)."""
    cumulative = np.cumsum(np.exp(logs - logs.max()))
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
