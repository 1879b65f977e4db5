"""Averages over chains: means, correlations, how far off they may be, and whether the chains agree.

Error bars come from groups that know nothing of each other: up to 32 groups of chains, or, where chains are few,
stretches of their time.  The spread of the groups' averages, over the root of their number, is the error; slow mixing
inside a group is counted, because it makes the groups differ.

Agreement is judged by ArviZ on the averages of each chain over short spans of sweeps: split R-hat (Vehtari and others,
2021, Bayesian Analysis 16, 667) and effective sample size.
"""

from typing import NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np

from ...estimate import as_corr, coupled_pairs
from ...model import BoltzmannMachine

GROUPS = 32  # independent groups whose spread is the error
SPANS = 16, 1024  # spans of sweeps kept of each chain, at least and at most
RECORD = 2**19  # numbers kept of all chains together, between these limits
RHAT = 1.01  # trust chains below this


class Averages(NamedTuple):
    """Hold what the chains say of a machine, laid out as in Estimate, with R-hat and ESS of the worst unit."""

    mean: np.ndarray
    corr: np.ndarray
    mean_stderr: np.ndarray
    corr_stderr: np.ndarray
    rhat: float
    ess: float


def average(model: BoltzmannMachine, blocks, n_chains: int, n_sweeps: int) -> Averages:
    """Average states that come in blocks (sweeps, n, chains), `n_sweeps` in all; memory does not grow with these."""
    groups = np.array_split(np.arange(n_chains), min(n_chains, GROUPS))
    n_spans = min(n_sweeps, int(np.clip(RECORD // (n_chains * model.n + 1), *SPANS)))
    n_parts = min(n_spans, -(-GROUPS // len(groups)))
    part = np.arange(n_spans) * n_parts // n_spans  # that each span belongs to
    record, pairs = _sums(model, blocks, groups, part, n_sweeps)
    lengths = np.diff(-(-np.arange(n_spans + 1) * n_sweeps // n_spans))
    sizes = np.outer(np.bincount(part, lengths), [len(group) for group in groups])
    of_parts = np.add.reduceat(record, np.searchsorted(part, np.arange(n_parts)), dtype=float)
    sums = np.array([[x[:, group].sum(1) for group in groups] for x in of_parts])
    mean, mean_stderr = mean_and_stderr(_per_draw(sums, sizes), sizes.ravel())
    corr, corr_stderr = mean_and_stderr(_per_draw(pairs, sizes), sizes.ravel())
    record /= lengths[:, None, None]
    rhat, ess = agreement(np.moveaxis(record, 0, 2), 1 - mean**2)
    return Averages(mean, as_corr(model, corr), mean_stderr, as_corr(model, corr_stderr, diagonal=0.0), rhat, ess)


def _sums(model, blocks, groups, part, n_sweeps):
    """Sum s_i over each span of sweeps, (spans, n, chains), and s_i s_j over each part and group."""
    n_spans, n_chains = len(part), groups[-1][-1] + 1
    record, pairs, done = np.zeros((n_spans, model.n, n_chains), np.float32), [0.0] * (part[-1] + 1), 0
    for block in blocks:
        span = np.arange(done, done + len(block)) * n_spans // n_sweeps
        spans, firsts = np.unique(span, return_index=True)
        record[spans] += np.add.reduceat(block, firsts, axis=0, dtype=np.float32)
        for p in np.unique(part[spans]):
            pairs[p] = pairs[p] + _pairs(model, block[part[span] == p], groups)
        done += len(block)
    return record, np.array(pairs)


def _pairs(model, draws, groups):
    """Sum s_i s_j over the draws (sweeps, n, chains) of each group; in single precision, where such sums are exact."""
    if model.is_sparse:
        row, col = coupled_pairs(model)
        products = (draws[:, row] * draws[:, col]).sum(0, dtype=np.int32)
        return np.add.reduceat(products, [group[0] for group in groups], axis=1).T.astype(float)
    if not model.n:
        return np.zeros((len(groups), 0, 0))
    states = [draws[:, :, group].swapaxes(1, 2).reshape(len(draws) * len(group), -1) for group in groups]
    return np.array([s.T @ s for s in (x.astype(np.float32) for x in states)], dtype=float)


def _per_draw(sums, sizes):
    """Divide sums (parts, groups, ...) by their number of draws; return them in one line of groups."""
    sums /= sizes.reshape(sizes.shape + (1,) * (sums.ndim - 2))
    return sums.reshape(sizes.size, *sums.shape[2:])


def mean_and_stderr(groups, weight):
    """Average independent groups (g, ...) by weight (g,); return (mean, stderr), nan for the error of one group."""
    share = weight / weight.sum()
    mean, count = np.tensordot(share, groups, 1), len(groups)
    spread = np.tensordot(share**2, (groups - mean) ** 2, 1)
    return mean, np.sqrt(spread * count / (count - 1)) if count > 1 else np.full_like(mean, np.nan)


def agreement(spans, variance=None):
    """Return (largest R-hat, smallest ESS) of series (quantities, chains, spans); nan where they are too short.

    `variance` (quantities,) of single draws turns the ESS of the spans' averages into a number of draws.
    """
    try:
        from arviz_stats.base import array_stats
    except ModuleNotFoundError:
        return np.nan, np.nan
    if spans.shape[1] == 1:  # one chain: its halves are two
        spans = spans[:, :, : spans.shape[2] // 2 * 2].reshape(len(spans), 2, -1)
    if spans.shape[2] < 4 or not len(spans):
        return np.nan, np.nan
    moved = np.ptp(spans, axis=(1, 2)) > 0
    if not moved.any():
        return 1.0, float(spans.shape[1] * spans.shape[2])
    x = spans[moved].astype(float)
    with catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        simplefilter("ignore", RuntimeWarning)  # a unit that stands still in every chain, not everywhere alike
        rhat = array_stats.rhat(x, chain_axis=1, draw_axis=2, method="split")
        error = array_stats.mcse(x, chain_axis=1, draw_axis=2)
        ess = (x.var((1, 2)) if variance is None else variance[moved]) / error**2
    return float(np.nan_to_num(rhat, nan=np.inf, posinf=np.inf).max()), float(np.nan_to_num(ess).min())
