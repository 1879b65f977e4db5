"""Gibbs sampling: the sequential dynamics.  Take one unit after the other and set it by its own distribution.

    p(s_i = +1 | the others) = 1 / (1 + exp(-2 h_i / T)),     h_i = sum_j w_ij s_j + b_i

A unit turns +1 where a uniform number u is below that.  Each update leaves p(s) unchanged (detailed balance), hence
so does a sweep over all units in any order that does not look at the states.  Units that are not coupled to each
other may turn together: a class of one colour (a checkerboard, a layer).  Geman and Geman (1984), IEEE PAMI 6, 721;
for these machines Ackley, Hinton and Sejnowski (1985), eq. 3.

Metropolis' rule proposes to turn the unit over, and accepts with probability min(1, exp(-(E' - E)/T)): Metropolis and
others (1953), J. Chem. Phys. 21, 1087.  It flips more often than Gibbs' rule; for p(s) both are right.
"""

from importlib.util import find_spec
from warnings import warn

import numpy as np

from ...arrays import check_spins, generator
from ...estimate import Estimate, LogZ, NotConverged
from ...model import BoltzmannMachine
from ...progress_bars import progress_bar
from .chains import Chains, chance_of_plus
from .diagnostics import RHAT, average


def sweep(model: BoltzmannMachine, s, u, *, units=None, rule: str = "gibbs") -> np.ndarray:
    """Update one unit after the other in all chains: s (..., n) and uniforms u (..., n) give new states (..., n).

    Deterministic: the same s and u give the same states.  The readable reference of what gibbs() does fast.
    units   which unit the k-th column of u is for; None: 0, 1, ..., n - 1
    rule    "gibbs", or "metropolis"
    """
    s, u = np.array(s, dtype=float), np.asarray(u)
    with np.errstate(over="ignore"):  # where exp() leaves a double, p is 0
        for k, i in enumerate(range(model.n) if units is None else units):
            index, w = model.neighbours(i)
            h = s[..., index] @ w + model.biases[i]
            p = chance_of_plus(2 * h / model.temperature, s[..., i], rule)
            s[..., i] = np.where(u[..., k] < p, 1, -1)
    return s


def gibbs(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator,
    start=None,
    n_chains: int = 100,
    burn_in: int = 100,
    n_sweeps: int = 1000,
    order: str = "colours",
    rule: str = "gibbs",
    backend: str = "auto",
    draws: int = 0,
    progress: bool = False,
) -> Estimate:
    """Answer by averaging over `n_sweeps` of `n_chains` chains side by side, after `burn_in` sweeps.

    start     states (chains, n) to go on from, or (chains, v) for the first v units only: the others then get one
              sweep given these.  None: random states.  The last states are the Estimate's `state`.
    order     "colours": class after class of units that are not coupled (one by one in a full machine); "sequential":
              0, 1, ..., n - 1; "random": n units drawn at random
    rule      "gibbs", or "metropolis" to compare
    backend   "numpy", "numba", or "auto"; the chains are the same to the bit
    draws     keep the states of so many sweeps, evenly spread, as info["draws"] (draws, chains, n)
    log_z     is nan: chains know ratios of probabilities only.
    stderr    spread of independent groups of chains (of stretches of time where chains are fewer than 32).
    converged R-hat of every unit below 1.01, see diagnostics.py.  A mode that no chain has found is not seen by any such
              test.  info has R-hat and the effective sample size of the worst unit.
    """
    rng = generator(rng)
    if n_sweeps < 1 or n_chains < 1:
        raise ValueError(f"n_sweeps and n_chains must be at least 1, found {n_sweeps} and {n_chains}")
    if not 0 <= draws <= n_sweeps:
        raise ValueError(f"draws must be 0 to n_sweeps = {n_sweeps}, found {draws}; raise n_sweeps")
    chains = Chains(model, first_states(model, rng, start, n_chains).T, rng, order=order, rule=rule, backend=backend)
    kept = []
    with progress_bar(progress, burn_in + n_sweeps, "sweep") as bar:
        for made, _ in chains.steps(burn_in):
            bar.update(made)
        blocks = _watched(chains.draws(n_sweeps), bar, kept, np.arange(1, draws + 1) * n_sweeps // max(draws, 1) - 1)
        found = average(model, blocks, chains.s.shape[1], n_sweeps)
    info = {"rhat": found.rhat, "ess": found.ess, "n_chains": chains.s.shape[1], "n_sweeps": n_sweeps}
    if draws:
        info["draws"] = np.array(kept)
    _advise(found.rhat, n_sweeps)
    return Estimate(
        found.mean,
        found.corr,
        LogZ(np.nan),
        found.mean_stderr,
        found.corr_stderr,
        method="gibbs",
        converged=bool(found.rhat < RHAT),
        state=chains.s.T.astype(float),
        info=info,
    )


def _watched(blocks, bar, kept, wanted):
    """Pass blocks of states on; show the progress, and keep the states (chains, n) of the wanted sweeps."""
    done = 0
    for block in blocks:
        here = wanted[(done <= wanted) & (wanted < done + len(block))] - done
        kept.extend(block[here].swapaxes(1, 2))
        done += len(block)
        bar.update(len(block))
        yield block


def _advise(rhat, n_sweeps):
    if rhat < RHAT:
        return
    if find_spec("arviz_stats") is None:
        warn(
            "gibbs() cannot tell whether its chains agree: ArviZ is not installed. pip install arviz-stats",
            NotConverged,
            stacklevel=3,
        )
    else:
        warn(
            f"gibbs() has R-hat {rhat:.4g} after {n_sweeps} sweeps, where below {RHAT} is asked for: the chains "
            "disagree, or are too short to tell. Raise n_sweeps and burn_in, or use temper().",
            NotConverged,
            stacklevel=3,
        )


def first_states(model, rng, start, n_chains):
    """Return states (chains, n): random, as given, or completed by one sweep of the units that are missing."""
    given = np.empty((n_chains, 0)) if start is None else np.atleast_2d(check_spins(start, "start"))
    chains, known = given.shape
    if known > model.n:
        raise ValueError(f"start has {known} units, the machine {model.n}; pass (chains, {model.n}) states")
    s = np.hstack([given, rng.choice([-1.0, 1.0], size=(chains, model.n - known))])
    if 0 < known < model.n:
        s = sweep(model, s, rng.random((chains, model.n - known)), units=range(known, model.n))
    return s
