"""Parallel tempering (replica exchange): copies of the machine at several temperatures, which swap them.

Replica k follows p_k(s) = exp(-beta_k E(s)) / Z_k, beta_k = 1/T_k.  After each sweep neighbours swap with the chance

    a = min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1}))),

which leaves the product of all p_k as it is.  So a state leaves its valley at high temperatures, which have none (at
beta = 0 units are coins), and comes back to another one: Swendsen and Wang (1986), Phys. Rev. Lett. 57, 2607.  Even and
odd pairs take turns, and the rungs stand where neighbours swap about half of the time, near which round trips cost
least: Syed and others (2022), J. R. Stat. Soc. B 84, 321.

From Z = 2^n at beta = 0, by thermodynamic integration in steps of Bennett's acceptance ratio (BAR), follows log Z:

    log Z_0 = n log 2 + sum_k d_k,      d_k = log(Z_k / Z_{k+1}) = -D_k M_k + log <f(D_k (M_k - E))>_{k+1}
                                                                           - log <f(D_k (E - M_k))>_k

with D_k = beta_k - beta_{k+1} and f(x) = 1/(1 + exp(-x)), whatever M_k is (Bennett 1976, J. Comput. Phys. 22, 245,
eq. 7).  There is no discretisation error, and the noise is seen by comparing ladders.  It is least where the two
averages are equal, D_k M_k = -d_k; elsewhere one of them may rest on states that are never drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy

from ...calls import show_call
from ...estimate import UNKNOWN, Bounded, Estimate, warn_unless_converged
from ...model import BoltzmannMachine, check_model, energy_of
from ...progress_bars import with_progress
from ...validation import ArrayLike, check_array, check_count, describe, generator, summary
from .averages import average
from .chains import Chains
from .diagnostics import RHAT_LIMIT, mean_and_stderr
from .gibbs import check_chains

DEFAULT_LADDERS = 32  # where neither start nor n_ladders says how many
ASSUMED_RUNGS = 10  # of a ladder, for the estimate of its memory before its temperatures are chosen
MIN_ROUND_TRIPS = 10  # a ladder, for converged
SPINS_AT_ONCE = 2**20  # in a block of the coldest states, kept until they are summed
TARGET_REJECTION = 0.5  # of the swaps of two neighbours: Syed and others (2022)
COOLING_SWEEPS = 20  # at each temperature of the first cooling
PILOT_SWEEPS = 100  # in which rejected swaps are counted
EQUALISING_ROUNDS = 3  # of pilot sweeps, after each of which the rungs are placed anew
MIDPOINT_SWEEPS = 100  # the last of the burn-in, from whose energies the M_k of Bennett's averages follow
MIDPOINT_ITERATIONS = 20  # of M_k towards equal averages


@show_call("bmlab.temper(model, rng=0)")
def temper(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: Ladder | None = None,
    temperatures: ArrayLike | None = None,
    n_chains: int | None = None,
    burn_in: int = 500,
    n_sweeps: int = 4000,
) -> Estimate:
    """Answer by parallel tempering (replica exchange): average over `n_sweeps` of `n_chains` ladders, after `burn_in`.

    start         the `state` of a former answer, to go on from; it brings its temperatures along
    temperatures  increasing, from model.temperature (the answer is for this one); np.inf is allowed.  None: a pilot
                  run finds some up to np.inf whose neighbours swap about half of the time, fixed from there on.
    n_chains      None: as many as `start` has, else 32
    log_z         nan unless the last temperature is np.inf, and where the energies of two neighbours never meet.
    stderr        spread of the independent ladders, wider by Student's t where they are fewer than 32; nan for log_z of
                  a single one.  Of means and correlations as in gibbs().
    converged     R-hat of every unit below 1.01, as in gibbs(), and ten round trips a ladder: from hot to cold and
                  back.  A valley that no ladder has found is not seen by any such test.
    info          temperatures; acceptance (rungs - 1,) of swaps; round_trips a ladder; rhat
    Raises ValueError where temperatures do not begin with the machine's or do not increase.

    >>> log_z = bmlab.temper(bmlab.toy(), rng=0, n_sweeps=500).log_z
    >>> abs(log_z - bmlab.exact(bmlab.toy()).log_z) < 4 * log_z.stderr
    True
    """
    check_model(model)
    rng, n_sweeps, burn_in = generator(rng), check_count("n_sweeps", n_sweeps), check_count("burn_in", burn_in, 0)
    n_chains = n_chains if n_chains is None else check_count("n_chains", n_chains)
    ladder = _first_ladder(model, rng, start, temperatures, n_chains, burn_in + n_sweeps)
    replicas = Replicas(model, ladder, rng, burn_in + n_sweeps)
    ladders = len(replicas.at)
    recent = deque([replicas.energies()], maxlen=MIDPOINT_SWEEPS)
    recent.extend(replicas.sweeps(burn_in))
    tally = ExchangeStatistics(replicas, balanced(replicas.beta, np.concatenate(recent)))
    found = average(model, tally.cold_states(n_sweeps), ladders, n_sweeps)
    trips = tally.round_trips / ladders
    log_z = tally.log_z()
    reasons = {
        "the ladders disagree, or are too short to tell": not found.rhat < RHAT_LIMIT,
        "too few round trips": trips < MIN_ROUND_TRIPS,
        "neighbours whose energies never met leave log Z unknown": replicas.beta[-1] == 0 and not np.isfinite(log_z),
    }
    doubts = [reason for reason, holds in reasons.items() if holds]
    advice = f": {', and '.join(doubts)}. Raise n_sweeps and burn_in" if doubts else ""
    return warn_unless_converged(
        Estimate(
            found.mean,
            found.corr,
            log_z,
            found.mean_stderr,
            found.corr_stderr,
            method="temper",
            converged=not doubts,
            message=f"temper() has R-hat {found.rhat:.4g} (below {RHAT_LIMIT} is asked for) and {trips:.3g} round "
            f"trips a ladder (at least {MIN_ROUND_TRIPS}){advice}.",
            state=replicas.ladder(),
            info={
                "temperatures": replicas.temperatures,
                "acceptance": tally.swaps.mean(0) / n_sweeps,
                "round_trips": trips,
                "rhat": found.rhat,
                "ess": found.ess,
                "n_draws": found.n_draws,
                "halves": found.halves,
            },
            model=model,
        )
    )


def _first_ladder(model, rng, start, temperatures, n_chains, n_sweeps):
    if start is not None:
        _check_start(start, temperatures, n_chains, model.n)
        temperatures = start.temperatures
    if temperatures is None:
        check_chains(model, (n_chains or DEFAULT_LADDERS) * ASSUMED_RUNGS)
        return choose_ladder(model, rng, n_chains or DEFAULT_LADDERS, n_sweeps)
    t = check_array("temperatures", temperatures, "leave them out")
    if t.ndim != 1 or not t.size or not np.isclose(t[0], model.temperature, 1e-12) or not (np.diff(t) > 0).all():
        raise ValueError(
            f"temperatures must increase from the machine's {model.temperature:g}, found {describe(temperatures)}; "
            f"leave them out, or try [{model.temperature:g}, {2 * model.temperature:g}, np.inf]"
        )
    check_chains(model, (n_chains or DEFAULT_LADDERS) * len(t))
    return start or Ladder(t, random_states(rng, n_chains or DEFAULT_LADDERS, len(t), model.n))


def _check_start(start, temperatures, n_chains, n):
    if temperatures is not None:
        raise ValueError("start brings its temperatures along; pass start or temperatures, not both")
    states = check_array("start", start.s) if isinstance(start, Ladder) else np.empty(0)
    if states.ndim != 3 or states.shape[1:] != (len(start.temperatures), n) or not (np.abs(states) == 1).all():
        raise ValueError(
            f"start must be the `state` of a temper() answer for {n} units, found {describe(start)}; leave it out"
        )
    if n_chains not in (None, len(start.s)):
        raise ValueError(f"start has {len(start.s)} chains, n_chains is {n_chains}; leave n_chains out")


class Ladder(NamedTuple):
    """Temperatures (rungs,) from cold to hot, and states s (n_chains, rungs, n): one replica a rung and ladder.

    >>> bmlab.temper(bmlab.toy(), rng=0).state.s.shape  # 32 ladders of two replicas
    (32, 2, 3)
    """

    temperatures: np.ndarray
    s: np.ndarray

    __repr__ = summary


class Replicas:
    """Move independent ladders of replicas, all of them chains side by side.

    at (n_chains, rungs) is the chain at each rung: swaps change it, and the states stay where they are.
    """

    def __init__(self, model: BoltzmannMachine, ladder: Ladder, rng: np.random.Generator, n_sweeps: int = PILOT_SWEEPS):
        self.model, self.rng, self.temperatures = model, rng, ladder.temperatures
        self.beta = 1 / ladder.temperatures
        self.at = np.arange(np.prod(ladder.s.shape[:2])).reshape(ladder.s.shape[:2])
        self.chains = Chains(model, ladder.s.reshape(self.at.size, model.n).T, rng, n_sweeps=n_sweeps)

    def ladder(self) -> Ladder:
        """Return where the replicas are now."""
        return Ladder(self.temperatures, self.chains.s.T[self.at])

    def energies(self) -> np.ndarray:
        """Return the energies at each rung, (n_chains, rungs)."""
        return self.chains.energies()[self.at]

    def sweeps(self, count: int) -> Iterator[np.ndarray]:
        """Sweep and exchange `count` times; yield the energies in between, (n_chains, rungs)."""
        for _ in with_progress(range(count), "sweep"):
            beta = np.empty(self.at.size)
            beta[self.at] = self.beta
            self.chains.sweep(beta=beta)
            energies = self.energies()
            yield energies
            self.exchange(energies, self.chains.count % 2)

    def exchange(self, energies: np.ndarray, first: int) -> None:
        """Offer a swap to the rungs k and k + 1, for k = first, first + 2, ..."""
        cold, hot = self.at[:, first:-1:2], self.at[:, first + 1 :: 2]
        swapped = self.rng.random(cold.shape) < swap_chance(self.beta, energies)[:, first::2]
        cold[:], hot[:] = np.where(swapped, (hot, cold), (cold, hot))


def swap_chance(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return the chance (..., rungs - 1) that neighbours swap: min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1})))."""
    return np.exp(np.minimum(0, np.diff(beta) * np.diff(energies)))


def choose_ladder(
    model: BoltzmannMachine, rng: np.random.Generator, n_chains: int, n_sweeps: int = PILOT_SWEEPS
) -> Ladder:
    """Return temperatures up to np.inf whose neighbours swap about half of the time, and states at each."""
    ladder = _cooled(model, rng, n_chains, n_sweeps)
    for _ in range(EQUALISING_ROUNDS):
        ladder = _equalised_rejection(model, rng, ladder, n_sweeps)
    return ladder


def _cooled(model, rng, n_chains, n_sweeps):
    """Cool tossed states by steps of 1 / (spread of E): were E normal, neighbours would swap half of the time."""
    chains, beta, states = Chains(model, random_states(rng, model.n, n_chains), rng, n_sweeps=n_sweeps), [0.0], []
    while True:
        blocks = chains.draws(COOLING_SWEEPS, beta=beta[-1])
        energies = np.concatenate([energy_of(model, s.swapaxes(1, 2)) for s in blocks])
        states.append(chains.s.T.copy())
        if beta[-1] == 1 / model.temperature:
            return Ladder(_temperatures(beta[::-1]), np.stack(states[::-1], axis=1))
        spread = np.sqrt(np.var(energies, axis=0).mean())
        beta.append(min(1 / model.temperature, beta[-1] + 1 / max(spread, 1e-300)))


def _equalised_rejection(model, rng, ladder, n_sweeps):
    """Move the rungs to where all neighbours would reject the same share, going by the swaps on this ladder."""
    replicas = Replicas(model, ladder, rng, n_sweeps)
    rejected = 1 - np.mean([swap_chance(replicas.beta, e).mean(0) for e in replicas.sweeps(PILOT_SWEEPS)], axis=0)
    barrier = np.append(0, np.cumsum(rejected + 1e-9))
    rungs = 1 + int(np.ceil(barrier[-1] / TARGET_REJECTION))
    beta = np.interp(np.linspace(0, barrier[-1], rungs), barrier, replicas.beta)
    nearest = np.abs(replicas.beta[:, None] - beta).argmin(0)
    return Ladder(_temperatures(beta), replicas.ladder().s[:, nearest])


def _temperatures(beta):
    return np.divide(1, beta, out=np.full(len(beta), np.inf), where=np.array(beta) > 0)


def random_states(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return random states -1/+1 (int8)."""
    return rng.choice(np.array([-1, 1], np.int8), shape)


def bennett(step: np.ndarray, middle: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return log f (2, ..., rungs - 1) of the colder and of the hotter neighbour, for energies (..., rungs)."""
    return scipy.special.log_expit(step * np.array([energies[..., :-1] - middle, middle - energies[..., 1:]]))


def balanced(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return M (rungs - 1,) such that both averages of f are about equal, from energies (draws, rungs)."""
    step, level = -np.diff(beta), energies.mean(0)
    middle = (level[:-1] + level[1:]) / 2
    for _ in range(MIDPOINT_ITERATIONS):
        cold, hot = np.logaddexp.reduce(bennett(step, middle, energies), axis=1)
        middle = middle + (cold - hot) / step
    return middle


class ExchangeStatistics:
    """Sum up what log Z, swaps and round trips need, while the coldest states pass by.

    middle (rungs - 1,) are the M of Bennett's sums.
    swaps (n_chains, rungs - 1) is the sum of the chances of a swap; logs (2, n_chains, rungs - 1) are the logs of the
    sums of Bennett's f of the colder and of the hotter neighbour, which in deep cold are no doubles themselves.
    """

    def __init__(self, replicas: Replicas, middle: np.ndarray):
        self.replicas, self.middle, self.step = replicas, middle, -np.diff(replicas.beta)
        self.swaps = np.zeros((len(replicas.at), len(self.step)))
        self.logs = np.full((2, *self.swaps.shape), -np.inf)
        self.was_hot, self.round_trips = np.zeros(replicas.at.size, bool), 0  # since it was last the coldest

    def cold_states(self, n_sweeps: int) -> Iterator[np.ndarray]:
        """Sweep; yield the states at the first temperature, in blocks (sweeps, n, n_chains)."""
        chains = self.replicas.chains
        size = max(1, SPINS_AT_ONCE // (chains.s.size + 1))
        for done in with_progress(range(0, n_sweeps, size), "stretch"):
            states = []
            for energies in self.replicas.sweeps(min(size, n_sweeps - done)):
                self._add(energies)
                states.append(chains.s[:, self.replicas.at[:, 0]])
            yield np.array(states)

    def _add(self, energies):
        at = self.replicas.at
        self.swaps += swap_chance(self.replicas.beta, energies)
        self.logs = np.logaddexp(self.logs, bennett(self.step, self.middle, energies))
        self.round_trips += self.was_hot[at[:, 0]].sum()
        self.was_hot[at[:, 0]] = False
        self.was_hot[at[:, -1]] = True

    def log_z(self) -> Bounded:
        """Return n log 2 + sum_k d_k (see above); nan where the ladder does not reach beta = 0, or has a gap."""
        sums = np.logaddexp.reduce(self.logs, axis=1)
        if self.replicas.beta[-1] > 0 or (sums.mean(0) < 0).any():  # not one draw in which two neighbours met
            return UNKNOWN
        cold, hot = means = sums - np.log(len(self.swaps))
        total = hot - cold - self.step * self.middle
        ratios = np.exp(self.logs - means[:, None])
        noise = ratios[1] - ratios[0]  # of one ladder, to first order
        _, stderr = mean_and_stderr(noise.sum(1), np.ones(len(noise)))
        return Bounded(float(self.replicas.model.n * np.log(2) + total.sum()), float(stderr))
