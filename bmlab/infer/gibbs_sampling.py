"""Gibbs sampling: the sequential dynamics.  Take one unit after the other and set it by its own distribution.

    p(s_i = +1 | the others) = 1 / (1 + exp(-2 h_i / T)),     h_i = sum_j w_ij s_j + b_i

With a uniform number u the unit turns +1 where u is below that probability, that is where

    h_i > t_i = T/2 log(u / (1 - u)).

So the thresholds t of a whole sweep are drawn at once, and no exponential is needed at a unit.  Each step leaves
p(s) unchanged (detailed balance), hence so does a sweep.  Geman and Geman (1984), IEEE PAMI 6, 721; for these
machines Ackley, Hinton and Sejnowski (1985), eq. 3.
"""

from warnings import warn

import numpy as np
from scipy.special import logit

from ..arrays import check_generator, check_spins
from ..estimate import Estimate, LogZ, NotConverged, as_corr, pair_sums
from ..model import BoltzmannMachine
from ..threads import one_thread

GROUPS = 32             # chains are averaged in at most so many groups; the spread of the groups is the error
BLOCK = 2**20           # numbers in a block of states kept until their products are summed (8 MiB)
RHAT = 1.01             # Vehtari et al. (2021), Bayesian Analysis 16, 667: trust chains below this


def sweep(model: BoltzmannMachine, s, u) -> np.ndarray:
    """Update every unit once, in order, in all chains: s (..., n) and uniforms u (..., n) give new states.

    Deterministic: the same s and u give the same states, whatever the machine has cached or done before.
    """
    s = np.array(s, dtype=float, order="C")
    h = model.field(s).reshape(-1, model.n)
    chains = s.reshape(h.shape)             # a view: filled in place
    _update(model, chains.T, h.T.copy(), _thresholds(model, np.reshape(u, h.shape).T), range(model.n))
    return s


def _update(model, s, h, thresholds, units):
    """Set the given units one after the other, in place; s, h and thresholds are (n, chains)."""
    for i in units:
        flip = np.where(h[i] > thresholds[i], 1.0, -1.0) - s[i]
        s[i] += flip
        index, w = model.neighbours(i)
        h[index] += w[:, None] * flip


def gibbs(model: BoltzmannMachine, *, rng: np.random.Generator, start=None, n_chains: int = 100,
          burn_in: int = 100, n_sweeps: int = 1000) -> Estimate:
    """Answer by averaging over `n_sweeps` of `n_chains` chains side by side, after `burn_in` sweeps.

    start     states (chains, n) to go on from, or (chains, v) for the first v units only: the others then get one
              sweep given these.  None: random states.  The last states are the Estimate's `state`.
    log_z     is nan: chains know ratios of probabilities only.
    stderr    spread of the means of independent chains, so slow mixing inside a chain is counted.
    converged R-hat of every unit below 1.01.  A mode that no chain has found is not seen by any such test.
    """
    check_generator(rng)
    if n_sweeps < 1 or n_chains < 1:
        raise ValueError(f"n_sweeps and n_chains must be at least 1, found {n_sweeps} and {n_chains}")
    s = _first_states(model, rng, start, n_chains).T.copy()
    h = np.ascontiguousarray(model.field(s.T).T)
    groups = np.array_split(np.arange(s.shape[1]), min(s.shape[1], GROUPS))
    halves, pairs = np.zeros((2, *s.shape)), [0.0] * len(groups)
    with one_thread():
        for _ in _sweeps(model, rng, s, h, burn_in):
            pass
        for half, count in enumerate((n_sweeps // 2, n_sweeps - n_sweeps // 2)):
            for draws in _blocks(_sweeps(model, rng, s, h, count), BLOCK // (s.size + 1) + 1):
                halves[half] += draws.sum(0)
                for k, group in enumerate(groups):
                    states = draws[:, :, group].swapaxes(1, 2).reshape(len(draws) * len(group), model.n)
                    pairs[k] = pairs[k] + pair_sums(model, states)
    return _estimate(model, s, halves, groups, pairs, n_sweeps)


def _sweeps(model, rng, s, h, count):
    """Sweep `count` times in place, yielding the states (n, chains) after each."""
    for _ in range(count):
        _update(model, s, h, _thresholds(model, rng.random(s.shape)), range(model.n))
        yield s


def _blocks(sweeps, size):
    """Gather states into blocks (up to `size` sweeps, n, chains), so that pairs are summed by one product a block."""
    block = []
    for s in sweeps:
        block.append(s.copy())
        if len(block) == size:
            yield np.array(block)
            block = []
    if block:
        yield np.array(block)


def _estimate(model, s, halves, groups, pairs, n_sweeps):
    chains = s.shape[1]
    share = np.array([len(group) for group in groups]) / chains
    pair_means = np.array([p / len(g) for p, g in zip(pairs, groups, strict=True)]) / n_sweeps
    mean, mean_stderr = _mean_and_stderr(halves.sum(0).T / n_sweeps, np.full(chains, 1 / chains))
    corr, corr_stderr = _mean_and_stderr(pair_means, share)
    rhat = _rhat(halves, n_sweeps // 2)
    if not rhat < RHAT:
        warn(f"gibbs() has R-hat {rhat:.3g} after {n_sweeps} sweeps, where below {RHAT} is asked for: the chains "
             "disagree, or are too short to tell. Raise n_sweeps and burn_in.", NotConverged, stacklevel=3)
    return Estimate(mean, as_corr(model, corr), LogZ(np.nan), mean_stderr, as_corr(model, corr_stderr, diagonal=0.0),
                    method="gibbs", converged=bool(rhat < RHAT), state=s.T.copy(),
                    info={"rhat": rhat, "n_chains": chains, "n_sweeps": n_sweeps})


def _mean_and_stderr(groups, share):
    """Average independent groups (g, ...) by their share of the chains; nan for the error of a single group."""
    mean = np.tensordot(share, groups, 1)
    count = len(groups)
    spread = np.tensordot(share**2, (groups - mean) ** 2, 1)
    return mean, np.sqrt(spread * count / (count - 1)) if count > 1 else np.full_like(mean, np.nan)


def _rhat(halves, length):
    """Split R-hat, largest over the units (Gelman and others, Bayesian Data Analysis, 2013, eq. 11.4).

    Each chain counts as two halves.  As s_i^2 = 1, the variance inside a half follows from its mean.
    """
    if length < 2:
        return np.nan
    means = np.concatenate([halves[0] / length, halves[1] / length], axis=1).clip(-1, 1)
    within = (1 - means**2).mean(1) * length / (length - 1)
    between = means.var(1, ddof=1)
    ratio = np.divide(between, within, out=np.where(between > 0, np.inf, 1 / length), where=within > 0)
    return float(np.sqrt((length - 1) / length + ratio.max(initial=1 / length)))


def _thresholds(model, u):
    return model.temperature / 2 * logit(u)


def _first_states(model, rng, start, n_chains):
    """Return states (chains, n): random, as given, or completed by one sweep of the units that are missing."""
    given = np.empty((n_chains, 0)) if start is None else np.atleast_2d(check_spins(start, "start"))
    chains, known = given.shape
    if known > model.n:
        raise ValueError(f"start has {known} units, the machine {model.n}; pass (chains, {model.n}) states")
    s = np.hstack([given, rng.choice([-1.0, 1.0], size=(chains, model.n - known))])
    if 0 < known < model.n:
        _update(model, s.T, model.field(s).T.copy(), _thresholds(model, rng.random(s.T.shape)), range(known, model.n))
    return s
