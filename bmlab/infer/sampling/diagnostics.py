"""Whether chains agree, and how far off an average over them may be.

Agreement is judged on the averages of each chain over short spans of sweeps, by split R-hat and the effective sample
size.  A unit has two values, so that ranks would add nothing; convergence() takes them for series such as energies.
Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Bayesian Analysis 16, 667.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

RHAT = 1.01  # trust chains below this
SHORTEST = 4  # draws of a chain that say anything


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
