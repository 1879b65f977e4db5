"""Averages over chains: means, correlations, how far off they may be, and whether the chains agree.

Error bars come from groups that know nothing of each other: up to 32 groups of chains, or, where chains are few,
stretches of their time.  The spread of the groups' averages, over the root of their number, is the error; slow mixing
inside a group is counted, because it makes the groups differ.

Agreement is judged on the averages of each chain over short spans of sweeps, by split R-hat and the effective sample
size.  A unit has two values, so that ranks would add nothing; convergence() takes them for series such as energies.
Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Bayesian Analysis 16, 667.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from ...budgets import check_memory
from ...estimate import as_corr, coupled_pairs, pair_sums
from ...model import BoltzmannMachine
from ...threads import one_thread

GROUPS = 32  # independent groups whose spread is the error
SPANS = 16, 1024  # spans of sweeps kept of each chain, at least and at most
RECORD = 2**19  # numbers kept of all chains together, between these limits
RHAT = 1.01  # trust chains below this
STRIP = 2**14  # numbers of a matrix that are looked at together
SHORTEST = 4  # draws of a chain that say anything


class Averages(NamedTuple):
    """Hold what the chains say of a machine, laid out as in Estimate, with R-hat and ESS of the worst unit."""

    mean: np.ndarray
    corr: np.ndarray | scipy.sparse.csr_array
    mean_stderr: np.ndarray
    corr_stderr: np.ndarray | scipy.sparse.csr_array
    rhat: float
    ess: float


def average(model: BoltzmannMachine, blocks: Iterable[np.ndarray], n_chains: int, n_sweeps: int) -> Averages:
    """Average states that come in blocks (sweeps, n, chains), `n_sweeps` in all; memory does not grow with these."""
    if n_sweeps == 1 and n_chains >= GROUPS:
        return _of_one_sweep(model, next(iter(blocks)))
    groups = first_chains(n_chains)
    n_spans = min(n_sweeps, int(np.clip(RECORD // (n_chains * model.n + 1), *SPANS)))
    n_parts = min(n_spans, -(-GROUPS // (len(groups) - 1)))
    part = np.arange(n_spans) * n_parts // n_spans  # that each span belongs to
    held = 16.0 * n_parts * len(groups) * (model.weights.nnz if model.is_sparse else model.n**2)
    check_memory(
        f"averages of {model.n} units would be kept of {n_parts * len(groups)} groups", held, "use fewer chains"
    )
    record, pairs = _sums(model, blocks, groups, part, n_sweeps)
    lengths = np.diff(-(-np.arange(n_spans + 1) * n_sweeps // n_spans))
    sizes = np.outer(np.bincount(part, lengths), np.diff(groups))
    of_parts = np.add.reduceat(record, np.searchsorted(part, np.arange(n_parts)), dtype=float)
    sums = np.add.reduceat(of_parts, groups[:-1], axis=2).swapaxes(1, 2)
    mean, mean_stderr = mean_and_stderr(_per_draw(sums, sizes), sizes.ravel())
    corr, corr_stderr = mean_and_stderr(_per_draw(pairs, sizes), sizes.ravel())
    record /= lengths[:, None, None]
    rhat, ess = agreement(np.moveaxis(record, 0, 2), 1 - mean**2)
    return Averages(mean, as_corr(model, corr), mean_stderr, as_corr(model, corr_stderr, diagonal=0.0), rhat, ess)


def first_chains(n_chains: int) -> np.ndarray:
    """Return where each group of chains begins, and where the last one ends."""
    count = min(n_chains, GROUPS)
    return np.append(0, np.cumsum(n_chains // count + (np.arange(count) < n_chains % count)))


def _of_one_sweep(model, states):
    """Every state is of another chain, so that a mean x of k products +1 or -1 errs by sqrt((1 - x^2) / (k - 1))."""
    s = states[0].T.astype(np.float32)
    count, mean = len(s), s.mean(0, dtype=float)
    pairs = np.divide(pair_sums(model, s), count, dtype=float)
    stderr, pairs_stderr = _binomial(mean, count), _binomial(pairs, count)
    corr, corr_stderr = as_corr(model, pairs), as_corr(model, pairs_stderr, diagonal=0.0)
    return Averages(mean, corr, stderr, corr_stderr, np.nan, np.nan)


def _binomial(mean, count):
    """Return the standard error of a mean of `count` independent -1/+1; in strips, which stay in the cache."""
    found = np.empty_like(mean)
    for a in range(0, mean.size, STRIP):
        x, error = mean.reshape(-1)[a : a + STRIP], found.reshape(-1)[a : a + STRIP]
        np.multiply(x, x, out=error)
        np.subtract(1, error, out=error)
        error /= count - 1
        np.sqrt(error, out=error)
    return found


def _sums(model, blocks, groups, part, n_sweeps):
    """Sum s_i over each span of sweeps, (spans, n, chains), and s_i s_j over each part and group."""
    n_spans, n_chains = len(part), groups[-1]
    record, pairs, done = np.zeros((n_spans, model.n, n_chains), np.float32), [0.0] * (part[-1] + 1), 0
    for block in blocks:
        span = np.arange(done, done + len(block)) * n_spans // n_sweeps
        for k, draws in _runs(span, block):
            record[k] += draws.sum(0, dtype=np.float32)
        for p, draws in _runs(part[span], block):
            pairs[p] += _pairs(model, draws, groups)
        done += len(block)
    return record, np.array(pairs)


def _runs(label, block):
    """Yield each label, which only grows along a block, with the sweeps that carry it."""
    labels, firsts = np.unique(label, return_index=True)
    yield from zip(labels, np.split(block, firsts[1:]), strict=True)


def _pairs(model, draws, groups):
    """Sum s_i s_j over the draws (sweeps, n, chains) of each group; in single precision, where such sums are exact."""
    if model.is_sparse:
        row, col = coupled_pairs(model)
        products = (draws[:, row] * draws[:, col]).sum(0, dtype=np.int32)
        return np.add.reduceat(products, groups[:-1], axis=1).T.astype(float)
    if not model.n:
        return np.zeros((len(groups) - 1, 0, 0))
    s = draws.swapaxes(0, 1).astype(np.float32)  # (n, sweeps, chains)
    states = (s[:, :, begin:end].reshape(model.n, -1) for begin, end in pairwise(groups))
    with one_thread():
        return np.array([x @ x.T for x in states], dtype=float)


def _per_draw(sums, sizes):
    """Divide sums (parts, groups, ...) by their number of draws; return them in one line of groups."""
    sums /= sizes.reshape(sizes.shape + (1,) * (sums.ndim - 2))
    return sums.reshape(sizes.size, *sums.shape[2:])


def mean_and_stderr(groups: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average independent groups (g, ...) by weight (g,); return (mean, stderr), nan for the error of one group."""
    share = weight / weight.sum()
    mean, count = np.tensordot(share, groups, 1), len(groups)
    spread = np.tensordot(share**2, (groups - mean) ** 2, 1)
    return mean, np.sqrt(spread * count / (count - 1)) if count > 1 else np.full_like(mean, np.nan)


def agreement(spans: np.ndarray, variance: np.ndarray | None = None) -> tuple[float, float]:
    """Return (largest split R-hat, smallest ESS) of series (quantities, chains, spans); nan where they are too short.

    `variance` (quantities,) of single draws turns the ESS of the spans' averages into a number of draws.
    """
    if spans.shape[1] == 1:  # one chain: its halves are two
        spans = spans[:, :, : spans.shape[2] // 2 * 2].reshape(len(spans), 2, -1)
    if spans.shape[2] < SHORTEST or not len(spans):
        return np.nan, np.nan
    moved = np.ptp(spans, axis=(1, 2)) > 0
    if not moved.any():
        return 1.0, float(spans.shape[1] * spans.shape[2])
    x = spans[moved].astype(float)
    rhat, ess = np.array([(split_rhat(series), effective_size(series)) for series in map(halves, x)]).T
    ess *= (x.var((1, 2)) if variance is None else variance[moved]) / x.var((1, 2), ddof=1)
    return float(np.nan_to_num(rhat, nan=np.inf, posinf=np.inf).max()), float(np.nan_to_num(ess).min())


class Convergence(NamedTuple):
    """Hold what a series says of its chains; R-hat below 1.01 and some hundred effective draws are asked for.

    rhat                  rank-normalised split R-hat: the larger one of the values and of their distances to the median
    ess_bulk, ess_tail    effective draws of the ranks, and of the worse one of the 5 % and 95 % quantiles
    mcse                  standard error of the mean
    """

    rhat: float
    ess_bulk: float
    ess_tail: float
    mcse: float


def convergence(x: np.ndarray) -> Convergence:
    """Judge a series x (chains, draws) of any quantity; nan for less than 4 draws, and for the R-hat of a constant."""
    if x.shape[1] < SHORTEST:
        return Convergence(*[np.nan] * 4)
    split = halves(x)
    bulk, folded = normal_scores(split), normal_scores(np.abs(split - np.median(split)))
    tails = [effective_size(halves(x <= np.quantile(x, p)).astype(float)) for p in (0.05, 0.95)]
    mcse = x.std(ddof=1) / np.sqrt(effective_size(split))
    return Convergence(max(split_rhat(bulk), split_rhat(folded)), effective_size(bulk), min(tails), float(mcse))


def halves(x: np.ndarray) -> np.ndarray:
    """Return the first and last halves of chains x (chains, draws), as twice as many chains."""
    half = x.shape[1] // 2
    return np.vstack([x[:, :half], x[:, -half:]])


def normal_scores(x: np.ndarray) -> np.ndarray:
    """Return normal quantiles in place of the values, by their ranks among all; equal values share a rank."""
    _, which, count = np.unique(x, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    return scipy.special.ndtri((rank[which] - 3 / 8) / (x.size + 1 / 4)).reshape(x.shape)


def split_rhat(x: np.ndarray) -> float:
    """Return the root of (variance over all chains) / (variance inside chains), for halves x (chains, draws)."""
    draws, within = x.shape[1], x.var(1, ddof=1).mean()
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that stand still
        return float(np.sqrt(x.mean(1).var(ddof=1) / within + (draws - 1) / draws))


def effective_size(x: np.ndarray) -> float:
    """Return the number of independent draws whose mean errs like that of x (chains, draws).

    The sum over all lags of the autocorrelation rho_t ends where a pair rho_2k + rho_2k+1 falls below 0, and no pair
    may be larger than the one before: Geyer (1992), Statistical Science 7, 473.
    """
    draws = x.shape[1]
    if np.ptp(x) < np.finfo(float).resolution:
        return float(x.size)
    padded = 1 << (2 * draws - 1).bit_length()
    power = np.abs(np.fft.rfft(x - x.mean(1, keepdims=True), padded)) ** 2
    covariance = np.fft.irfft(power.mean(0))[:draws] / draws
    within = covariance[0] * draws / (draws - 1)
    rho = 1 - (within - covariance) / (covariance[0] + x.mean(1).var(ddof=1))
    rho[0] = 1
    pairs = rho[: 2 * max(1, (draws - 1) // 2)].reshape(-1, 2).sum(1)
    end = int((pairs <= 0).argmax()) if (pairs <= 0).any() else len(pairs) - 1
    last = rho[2 * end] if pairs[end] >= 0 else max(rho[2 * end], 0)
    times = 2 * np.minimum.accumulate(pairs[:end]).sum() + last - 1
    return float(x.size / max(times, 1 / np.log10(x.size)))
