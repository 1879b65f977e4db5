"""Exact answers for two-sided machines: list the states of one side, sum the other side out by hand.

Take away a set of units so that the rest is not coupled among itself (one layer of a restricted machine).  Given
the state S of that set, each unit of the rest is alone with its field f_j(S) = b_j + sum_i w_ij S_i:

    Z = sum_S exp(-E(S)/T) prod_j 2 cosh(f_j(S)/T),      <s_j | S> = tanh(f_j(S)/T)

so 2^(units of the set) terms are enough, whatever the number of the others.  Where every pair is coupled the rest
is a single unit and this is the plain sum over states.  The sum is kept relative to its largest term so far, so no
temperature is too low.  Smolensky (1986), Parallel Distributed Processing 1, ch. 6, for the restricted machine.
"""

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from ...arrays import states
from ...progress_bars import watched
from ...threads import one_thread

TILE = 2**16  # numbers at a time: they stay in the processor's cache
FACTORS = 1000  # so many factors between 1 and 2 have a product within the range of a double


def cover(weights, most: float = np.inf) -> np.ndarray | None:
    """Return units that touch every coupling, few but not provably the fewest: take the most coupled unit, repeat.

    None as soon as they would be more than `most`.
    """
    graph = sparse.csr_array(weights, copy=True)
    graph.eliminate_zeros()
    open_ends = np.diff(graph.indptr)
    taken = np.zeros(graph.shape[0], dtype=bool)
    while open_ends.max(initial=0) > 0:
        if taken.sum() >= most:
            return None
        unit = open_ends.argmax()
        taken[unit] = True
        open_ends[graph.indices[graph.indptr[unit] : graph.indptr[unit + 1]]] -= 1
        open_ends[taken] = 0
    return np.flatnonzero(taken)


def sum_listed(model, listed, all_pairs=True):
    """Return (log Z without the offset, mean, corr); corr of two units of the rest is nan unless `all_pairs`."""
    order = np.concatenate([listed, np.setdiff1d(np.arange(model.n), listed)])
    rows = slice(None) if all_pairs else slice(0, len(listed))
    top, total, mean, corr = -np.inf, 0.0, np.zeros(model.n), np.full((model.n, model.n), np.nan)
    corr[rows] = 0.0
    with one_thread():
        for s, logs in _given_listed(model, order, len(listed)):
            new_top = max(top, logs.max())
            weight, fade = np.exp(logs - new_top), np.exp(top - new_top)
            total = total * fade + weight.sum()
            mean = mean * fade + s @ weight
            corr[rows] = corr[rows] * fade + (s[rows] * weight) @ s.T
            top = new_top
    if not all_pairs:
        corr[:, rows] = corr[rows].T
    back = np.argsort(order)
    return top + np.log(total), mean[back] / total, corr[back][:, back] / total


def _given_listed(model, order, listed, only=slice(None)):
    """Yield (s, logs): for a tile of states of the listed units, all means given these (n, tile), and log weights.

    `only` selects tiles by number; within a tile the last listed units take all their states.
    """
    w, b = _dense(model.weights[order][:, order]) / model.temperature, model.biases[order] / model.temperature
    few = int(np.log2(TILE / max(1, model.n - listed)).clip(0, listed))  # how many listed units vary in a tile
    outer, inner, rest = np.split(np.arange(model.n), [listed - few, listed])
    y = states(few).T
    field = w[np.ix_(rest, inner)] @ y + b[rest, None]
    log_y = (y * (w[np.ix_(inner, inner)] @ y / 2 + b[inner, None])).sum(0)
    for x in watched(states(len(outer))[only], "tile"):
        log_x = x @ (w[np.ix_(outer, outer)] @ x / 2 + b[outer])
        mean, log_rest = _alone(field + (w[np.ix_(rest, outer)] @ x)[:, None])
        s = np.vstack([np.repeat(x[:, None], y.shape[1], axis=1), y, mean])
        yield s, log_x + log_y + (x @ w[np.ix_(outer, inner)]) @ y + log_rest


def _alone(f):
    """Return tanh(f) and, summed over the rows, log 2 cosh(f); one exponential serves both."""
    size = np.abs(f)
    e = np.exp(-2 * size)
    log_sum = size.sum(0)
    for k in range(0, len(f), FACTORS):
        log_sum += np.log(np.prod(1 + e[k : k + FACTORS], axis=0))
    return np.copysign((1 - e) / (1 + e), f), log_sum


def _dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def draw_listed(model, listed, size, rng):
    """Return independent states (size, n): a tile of listed states, one of its states, then the rest given these."""
    rest = np.setdiff1d(np.arange(model.n), listed)
    order = np.concatenate([listed, rest])
    s = np.empty((size, model.n))
    with one_thread():
        of_tile = np.array([logsumexp(logs) for _, logs in _given_listed(model, order, len(listed))])
        tile = _pick(of_tile, size, rng)
        wanted, which = np.unique(tile, return_inverse=True)
        for k, (mean, logs) in enumerate(_given_listed(model, order, len(listed), wanted)):
            here = np.flatnonzero(which == k)
            up = (1 + mean[:, _pick(logs, len(here), rng)].T) / 2  # 0 or 1 for the listed units
            s[here[:, None], order] = np.where(rng.random(up.shape) < up, 1.0, -1.0)
    return s


def _pick(logs, size, rng):
    """Draw `size` indices with probabilities proportional to exp(logs)."""
    ladder = np.cumsum(np.exp(logs - logs.max()))
    return np.searchsorted(ladder, rng.random(size) * ladder[-1], side="right")
