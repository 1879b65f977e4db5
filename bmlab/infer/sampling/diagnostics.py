"""Convergence diagnostics: split R-hat, effective sample size, standard errors of independent groups.

Agreement is judged on the averages of each chain over short spans of sweeps, by split R-hat and the effective sample
size.  Ranks are not needed, since a unit has two values.  Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021),
Bayesian Analysis 16, 667.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from ...checking.arrays import no_such_attribute
from ...checking.validation import summary
from ...running.compiling import import_once, numba_is_loaded

RHAT_LIMIT = 1.01  # chains agree if R-hat is below: the limit of Vehtari et al., for every sampler with chains
EFFECTIVE_DRAWS = 400  # per unit; with fewer, R-hat and ESS are themselves too noisy (Vehtari et al.)
STDERR_GROUPS = 32  # independent groups whose spread is the error
MIN_DRAWS = 4  # per chain: half-chains of fewer draws have no variance
SPAN_STRIP = 2**18  # numbers that are averaged together


class SplitStatistics(NamedTuple):
    """The statistics behind R-hat: `count` half-chains of `draws` draws; the other fields are (n,), one per unit.

    mean       over all half-chains
    between    variance of the half-chains' means
    within     mean of the half-chains' variances
    """

    count: int
    draws: int
    mean: np.ndarray
    between: np.ndarray
    within: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute

    @property
    def rhat(self) -> float:
        """The largest split R-hat of a unit; 1 if no unit has moved, nan if half-chains are too short."""
        if self.draws < MIN_DRAWS // 2:
            return np.nan
        moved = (self.between > 0) | (self.within > 0)
        with np.errstate(divide="ignore"):  # chains that never move, in different states
            ratio = self.between[moved] / self.within[moved]
        return float(np.sqrt(ratio + (self.draws - 1) / self.draws).max(initial=0)) if moved.any() else 1.0


def split_statistics(spans: np.ndarray) -> SplitStatistics:
    """Return the SplitStatistics of series (n, chains, spans)."""
    count, draws = 2 * spans.shape[1], spans.shape[2] // 2
    if draws < 2:
        return SplitStatistics(count, draws, *[np.full(len(spans), np.nan)] * 3)
    found = half_moments(spans)
    return SplitStatistics(count, draws, found.mean.mean(-1), found.mean.var(-1, ddof=1), found.variance.mean(-1))


def pooled_statistics(runs: list[SplitStatistics]) -> SplitStatistics:
    """Return the SplitStatistics of several runs together."""
    count, counts = sum(run.count for run in runs), np.array([run.count for run in runs], float)
    means = np.array([run.mean for run in runs])
    mean = counts @ means / count
    inside = sum((run.count - 1) * run.between for run in runs)
    between = (inside + counts @ (means - mean) ** 2) / (count - 1)
    within = sum(run.count * run.within for run in runs) / count
    return SplitStatistics(count, min(run.draws for run in runs), mean, np.asarray(between), np.asarray(within))


def widened(count: int) -> float:
    """Return the factor by which to widen the error of few groups, so that two errors cover as much as with 32 groups.

    For `count` groups error / spread follows Student's t with count - 1 degrees of freedom: within 2 it has 94.6 % for
    32 groups, 70 % for two.  So the factor is the ratio of quantiles: 5.9 for 2 groups, 1.1 for 10, 1 from 32 on, nan
    for one.
    """
    return (
        max(1.0, float(scipy.special.stdtrit(count - 1, scipy.special.stdtr(STDERR_GROUPS - 1, 2.0))) / 2)
        if count > 1
        else np.nan
    )


def wilson_stderr(x: Any, count: Any) -> Any:
    """Return half of the distance from averages x of `count` values -1/+1 to the farther end of Wilson's interval.

    With z = 2, (z^2 |x| + z root(count (1 - x^2) + z^2)) / (count + z^2) is that distance.  Errors from the spread
    alone cover only 81 times in 100 if few of the values differ.  Wilson (1927), J. Am. Stat. Assoc. 22, 209.
    """
    return (2 * np.abs(x) + np.sqrt(count * np.maximum(1 - np.square(x), 0) + 4)) / (count + 4)


def mean_and_stderr(
    groups: np.ndarray, weight: np.ndarray, least: Any = 0.0, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Average independent groups (g, ...) by weight (g,); return (mean, stderr), nan for the error of one group.

    The error of fewer than 32 groups is widened().  Groups that agree exactly do not prove their value: the error is
    then `least`, and the mean is that value itself, as the rounding of a sum may take it beyond 1.
    known   the mean; None: a sum, one group after the other, for processors multiply matrices in other orders
    """
    normalised, count = weight / weight.sum(), len(groups)
    mean = np.zeros(np.shape(groups)[1:]) if known is None else known
    for p, group in zip(normalised, groups, strict=True) if known is None else ():
        mean = mean + p * group
    if count == 1:
        return mean, np.full_like(mean, np.nan)
    spread, agree = np.zeros_like(mean), np.ones(np.shape(mean), bool)
    for p, group in zip(normalised, groups, strict=True):  # one at a time: they may be large
        spread += (p * (group - mean)) ** 2
        agree &= group == groups[0]
    stderr = widened(count) * np.sqrt(spread * count / (count - 1))
    return np.where(agree, groups[0], mean), np.where(agree, least, stderr)


def agreement(spans: np.ndarray, variance: np.ndarray | None = None) -> tuple[float, float]:
    """Return (largest split R-hat, smallest ESS) of series (quantities, chains, spans); nan if they are too short.

    Without quantities the result is 1 and inf.
    `variance` (quantities,) of single draws turns the ESS of the spans' averages into a number of draws.
    """
    is_single, draws = spans.shape[1] == 1, spans.shape[2]
    if not len(spans):
        return 1.0, np.inf
    if draws < MIN_DRAWS * (1 + is_single):
        return np.nan, np.nan
    if is_single:  # its two halves are compared
        spans = spans[:, :, : draws // 2 * 2].reshape(len(spans), 2, -1)
    found = half_moments(spans, timed=True)
    moved = found.spread > 0
    if not moved.any():  # many chains agree; a single chain may be stuck
        return (np.nan, np.nan) if is_single else (1.0, float(spans.shape[1] * draws))
    rhat = _split_rhat(found.mean, found.variance, spans.shape[2] // 2)[moved]
    single = spans.var((1, 2), dtype=float) if variance is None else variance
    ess = (effective_size(found, spans.shape[2] // 2)[moved] * single[moved]) / found.whole[moved]
    return float(np.nan_to_num(rhat, nan=np.inf, posinf=np.inf).max()), float(np.nan_to_num(ess).min())


class HalfMoments(NamedTuple):
    """Moments of series (n, chains, spans) and of their halves, as half_moments() finds them.

    mean, variance   (n, 2 chains), of each half
    whole, spread    (n,) variance, and largest less smallest number, of a series as a whole
    time             (n,) correlation_time() of the halves, nan if it was not asked for
    """

    mean: np.ndarray
    variance: np.ndarray
    whole: np.ndarray
    spread: np.ndarray
    time: np.ndarray


def half_moments(spans: np.ndarray, *, timed: bool = False) -> HalfMoments:
    """Return the HalfMoments of series (n, chains, spans)."""
    if numba_is_loaded():
        return HalfMoments(*import_once(".compiled_averages", __package__).half_moments(spans, timed))
    strips = np.array_split(spans, max(1, min(len(spans), spans.size // SPAN_STRIP)))  # they may be large
    parts = [_half_moments(x.astype(float), timed) for x in strips]
    return HalfMoments(*map(np.concatenate, zip(*parts, strict=True)))


def _half_moments(x, timed):
    split = halves(x)
    mean = split.mean(-1)
    time = np.full(len(x), np.nan)
    if timed:
        time = correlation_time(split - mean[..., None], mean.var(-1, ddof=1))
    return mean, split.var(-1, ddof=1), x.var((1, 2), ddof=1), np.ptp(x, axis=(1, 2)), time


def halves(x: np.ndarray) -> np.ndarray:
    """Return the first and last halves of chains x (..., chains, draws), as twice as many chains."""
    half = x.shape[-1] // 2
    return np.concatenate([x[..., :half], x[..., -half:]], axis=-2)


def split_rhat(x: np.ndarray) -> np.ndarray:
    """Return the root of (variance over all chains) / (variance inside chains), for halves x (..., chains, draws)."""
    return _split_rhat(x.mean(-1), x.var(-1, ddof=1), x.shape[-1])


def _split_rhat(mean, variance, draws):
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that never move
        return np.sqrt(mean.var(-1, ddof=1) / variance.mean(-1) + (draws - 1) / draws)


def effective_size(found: HalfMoments, draws: int) -> np.ndarray:
    """Return the number of independent draws (n,) whose mean errs like that of all halves, of `draws` each."""
    size = found.mean.shape[1] * draws
    still = found.spread < np.finfo(float).resolution
    return np.where(still, size, size / np.maximum(found.time, 1 / np.log10(size)))


def correlation_time(away: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Return the number of draws that are worth an independent one, 1 + 2 sum_t rho_t over the autocorrelations.

    The sum over all lags ends at the first pair rho_2k + rho_2k+1 below 0, and no pair may be larger than the one
    before: Geyer (1992), Statistical Science 7, 473.
    away     series less their means, (..., chains, draws)
    between  variance of these means (...)
    """
    draws = away.shape[-1]
    waves = np.fft.rfft(away, 1 << (2 * draws - 1).bit_length())
    covariance = np.fft.irfft((waves.real**2 + waves.imag**2).mean(-2))[..., :draws] / draws
    within = covariance[..., :1] * draws / (draws - 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # constant series
        rho = 1 - (within - covariance) / (covariance[..., :1] + between[..., None])
    rho[..., 0] = 1
    pairs = rho[..., : 2 * max(1, (draws - 1) // 2)].reshape(*rho.shape[:-1], -1, 2).sum(-1)
    end = np.where((pairs <= 0).any(-1), (pairs <= 0).argmax(-1), pairs.shape[-1] - 1)[..., None]
    last = np.take_along_axis(rho, 2 * end, -1)
    last = np.where(np.take_along_axis(pairs, end, -1) >= 0, last, np.maximum(last, 0))[..., 0]
    falling = np.minimum.accumulate(pairs, axis=-1) * (np.arange(pairs.shape[-1]) < end)
    return 2 * falling.sum(-1) + last - 1
