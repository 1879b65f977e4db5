"""Cutset conditioning: list the states of some units, the cutset, and sum the others out in closed form.

Take units that touch every coupling (one layer of a restricted machine), so that no two of the others are coupled.
Given the state S of the cutset, the other units are independent, each with its field f_j(S) = b_j + sum_i w_ij S_i:

    Z = sum_S exp(-E(S)/T) prod_j 2 cosh(f_j(S)/T),      <s_j | S> = tanh(f_j(S)/T)

so 2^(units of the cutset) terms are enough, whatever the number of the others.  If every pair is coupled, there is one
other unit, and this is the plain sum over states.  The sum is kept relative to its largest term so far, so no
temperature is too low.  Pearl (1988), Probabilistic Reasoning in Intelligent Systems, section 4.4.2.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

from ...checking.arrays import states
from ...model import BoltzmannMachine
from ...running.progress_bars import with_progress
from ...running.threads import one_thread

CUTSET_TILE = 2**16  # numbers (512 KiB) at a time: they stay in the processor's cache
MIN_TILE_STATES = 256  # if all pairs are wanted; with fewer, the matrix products would be narrow
PRODUCT_FACTORS = 1000  # factors between 1 and 2 whose product is within the range of a double


def cutset_of(weights, most: float = np.inf) -> np.ndarray | None:
    """Return units that touch every coupling, found greedily (most coupled unit first), not provably the fewest.

    Return None if they would be more than `most`.
    """
    graph = scipy.sparse.csr_array(weights, copy=True)
    graph.eliminate_zeros()
    open_ends = np.diff(graph.indptr)
    taken = np.zeros(len(open_ends), dtype=bool)
    while open_ends.max(initial=0) > 0:
        if taken.sum() >= most:
            return None
        unit = open_ends.argmax()
        taken[unit] = True
        open_ends[graph.indices[graph.indptr[unit] : graph.indptr[unit + 1]]] -= 1
        open_ends[taken] = 0
    return np.flatnonzero(taken)


def sum_by_cutset(
    model: BoltzmannMachine, cutset: np.ndarray, all_pairs: bool = True
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (log Z without the offset, mean, corr); without `all_pairs`, corr outside the cutset is nan."""
    order, k = _cutset_first(model, cutset), len(cutset)
    top, total, mean = -np.inf, 0.0, np.zeros(model.n)
    corr = np.zeros((model.n if all_pairs else k, model.n))
    with one_thread():
        for s, logs in _given_cutset(model, order, k, columns=MIN_TILE_STATES if all_pairs else 1):
            new_top = max(top, logs.max())
            weight, fade = np.exp(logs - new_top), np.exp(top - new_top)
            total = total * fade + weight.sum()
            mean = mean * fade + s @ weight
            s *= np.sqrt(weight)
            corr *= fade
            corr += s[: len(corr)] @ s.T  # all pairs: BLAS computes one triangle only
            top = new_top
    corr = np.vstack([corr, np.full((model.n - len(corr), model.n), np.nan)])
    if not all_pairs:
        corr[k:, :k] = corr[:k, k:].T
    back = np.argsort(order)
    return top + np.log(total), mean[back] / total, corr[back][:, back] / total


def _cutset_first(model, cutset):
    return np.concatenate([cutset, np.setdiff1d(np.arange(model.n), cutset)])


def _given_cutset(model, order, k, only: Any = slice(None), columns=1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (s, logs): for each tile of states of the cutset, all means given these (n, tile), and their log weights.

    The cutset is the first k units in `order`.  `only` selects tiles by number; within a tile of at least `columns`
    states, the last units of the cutset take all their states.
    """
    w = model.dense_weights[order][:, order] / model.temperature
    b = model.biases[order] / model.temperature
    few = int(np.log2(max(CUTSET_TILE / max(1, model.n - k), columns)).clip(0, k))  # units that vary in a tile
    outer, inner, rest = np.split(np.arange(model.n), [k - few, k])
    y = states(few).T
    field = w[np.ix_(rest, inner)] @ y + b[rest, None]
    log_y = (y * (w[np.ix_(inner, inner)] @ y / 2 + b[inner, None])).sum(0)
    for x in with_progress(states(len(outer))[only], "tile"):
        log_x = x @ (w[np.ix_(outer, outer)] @ x / 2 + b[outer])
        mean, log_rest = _sum_out_rest(field + (w[np.ix_(rest, outer)] @ x)[:, None])
        s = np.vstack([np.repeat(x[:, None], y.shape[1], axis=1), y, mean])
        yield s, log_x + log_y + (x @ w[np.ix_(outer, inner)]) @ y + log_rest


def _sum_out_rest(f):
    """Return tanh(f) and, summed over the rows, log 2 cosh(f); one exponential serves both."""
    size = np.abs(f)
    e = np.exp(-2 * size)
    log_sum = size.sum(0)
    for k in range(0, len(f), PRODUCT_FACTORS):
        log_sum += np.log(np.prod(1 + e[k : k + PRODUCT_FACTORS], axis=0))
    return np.copysign((1 - e) / (1 + e), f), log_sum


def draw_by_cutset(model: BoltzmannMachine, cutset: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return independent states (size, n): draw a tile, a state of the cutset in it, then the other units given it."""
    order, s = _cutset_first(model, cutset), np.empty((size, model.n))
    with one_thread():
        of_tile = np.array([scipy.special.logsumexp(logs) for _, logs in _given_cutset(model, order, len(cutset))])
        tile = _pick(of_tile, size, rng)
        drawn, which = np.unique(tile, return_inverse=True)
        for k, (mean, logs) in enumerate(_given_cutset(model, order, len(cutset), drawn)):
            rows = np.flatnonzero(which == k)
            up = (1 + mean[:, _pick(logs, len(rows), rng)].T) / 2  # 0 or 1 for the units of the cutset
            s[rows[:, None], order] = np.where(rng.random(up.shape) < up, 1.0, -1.0)
    return s


def _pick(logs, size, rng):
    """Draw `size` indices with probabilities proportional to exp(logs)."""
    cumulative = np.cumsum(np.exp(logs - logs.max()))
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
