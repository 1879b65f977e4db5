"""Replica exchange: answers for the coldest rung of ladders whose replicas swap (temperature_ladders.py).

The replicas know log Z, by thermodynamic integration of d log Z / d beta = -<E> from Z = 2^n at beta = 0:

    log Z_0 = n log 2 + sum_k d_k,      d_k = log(Z_k / Z_{k+1}) = -D_k M_k + log <f(D_k (M_k - E))>_{k+1}
                                                                           - log <f(D_k (E - M_k))>_k

with D_k = beta_k - beta_{k+1} and f(x) = 1/(1 + exp(-x)).  For M_k half-way between the mean energies of k and k+1 the
first term is the trapezoid rule; the two others are all that it leaves out, whatever M_k is (Bennett 1976, J. Comput.
Phys. 22, 245, eq. 7).  So the sum has no discretisation error, and its noise is seen by comparing ladders.
"""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ...arrays import generator
from ...estimate import UNKNOWN, Estimate, LogZ, warned
from ...model import BoltzmannMachine
from ...progress_bars import watched
from .diagnostics import average, mean_and_stderr
from .temperature_ladders import Ladder, Replicas, choose_ladder, swap_chance, tossed

LADDERS = 32  # where neither start nor n_chains tells
TRIPS = 10  # round trips a ladder that are asked for, and the R-hat of so many independent draws
RHAT = 1.1
BLOCK = 2**20  # numbers in a block of states kept until they are summed


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
    """Answer by averaging over `n_sweeps` of `n_chains` independent ladders of replicas, after `burn_in` sweeps.

    start         the `state` of a former answer, to go on from; it brings its temperatures along
    temperatures  increasing, from model.temperature (the answer is for this one); np.inf is allowed.  None: a pilot
                  run finds some up to np.inf whose neighbours swap about half of the time, fixed from there on.
    n_chains      None: as many as `start` has, else 32
    log_z         nan unless the last temperature is np.inf, and where the energies of two neighbours never meet.
    stderr        spread of the independent ladders; nan for log_z of a single one.
    converged     R-hat of every unit below 1.1, and ten round trips a ladder: from hot to cold and back.  A valley that
                  no ladder has found is not seen by any such test.
    info          temperatures; acceptance (rungs - 1,) of swaps; round_trips a ladder; rhat
    Raises ValueError where temperatures do not begin with the machine's or do not increase.
    """
    rng = generator(rng)
    if n_sweeps < 1 or (n_chains is not None and n_chains < 1):
        raise ValueError(f"n_sweeps and n_chains must be at least 1, found {n_sweeps} and {n_chains}")
    replicas = Replicas(model, _first_ladder(model, rng, start, temperatures, n_chains), rng)
    ladders = len(replicas.at)
    level = sum((e.mean(0) for e in replicas.sweeps(burn_in)), replicas.energies().mean(0)) / (burn_in + 1)
    tally = Tally(replicas, np.asarray(level))
    found = average(model, tally.cold_states(n_sweeps), ladders, n_sweeps)
    trips = tally.round_trips / ladders
    converged = bool(found.rhat < RHAT and trips >= TRIPS)
    doubt = ": the ladders disagree, or are too short to tell. Raise n_sweeps and burn_in"
    return warned(
        Estimate(
            found.mean,
            found.corr,
            tally.log_z(),
            found.mean_stderr,
            found.corr_stderr,
            method="temper",
            converged=converged,
            message=f"temper() has R-hat {found.rhat:.4g} (below {RHAT} is asked for) and {trips:.3g} round trips a "
            f"ladder (at least {TRIPS}){'' if converged else doubt}.",
            state=replicas.ladder(),
            info={
                "temperatures": replicas.temperatures,
                "acceptance": tally.sums[0].mean(0) / n_sweeps,
                "round_trips": trips,
                "rhat": found.rhat,
            },
        )
    )


def _first_ladder(model, rng, start, temperatures, n_chains):
    if start is not None:
        _check_start(start, temperatures, n_chains, model.n)
        temperatures = start.temperatures
    if temperatures is None:
        return choose_ladder(model, rng, n_chains or LADDERS)
    t = np.array(temperatures, dtype=float)
    if t.ndim != 1 or not t.size or not np.isclose(t[0], model.temperature, 1e-12) or not (np.diff(t) > 0).all():
        raise ValueError(
            f"temperatures must increase from the machine's {model.temperature:g}, found {t}; leave them "
            f"out, or try [{model.temperature:g}, {2 * model.temperature:g}, np.inf]"
        )
    return start or Ladder(t, tossed(rng, n_chains or LADDERS, len(t), model.n))


def _check_start(start, temperatures, n_chains, n):
    if temperatures is not None:
        raise ValueError("start brings its temperatures along; pass start or temperatures, not both")
    if not isinstance(start, Ladder) or start.s.shape[2] != n:
        raise ValueError(
            f"start must be the `state` of a temper() answer for {n} units, found {type(start).__name__} "
            f"of shape {np.shape(getattr(start, 's', start))}; leave it out"
        )
    if n_chains not in (None, len(start.s)):
        raise ValueError(f"start has {len(start.s)} chains, n_chains is {n_chains}; leave n_chains out")


class Tally:
    """Sum up what log Z, swaps and round trips need, while the coldest states pass by.

    level (rungs,) are energies that <E> is near to.
    sums (3, n_chains, rungs - 1): chance of a swap, and Bennett's f of the colder and of the hotter neighbour.
    """

    def __init__(self, replicas: Replicas, level: np.ndarray):
        self.replicas = replicas
        self.step, self.middle = -np.diff(replicas.beta), (level[:-1] + level[1:]) / 2
        self.sums = np.zeros((3, len(replicas.at), len(self.step)))
        self.was_hot, self.round_trips = np.zeros(replicas.at.size, bool), 0  # since it was last the coldest

    def cold_states(self, n_sweeps: int) -> Iterator[np.ndarray]:
        """Sweep; yield the states at the first temperature, in blocks (sweeps, n, n_chains)."""
        chains = self.replicas.chains
        size = max(1, BLOCK // (chains.s.size + 1))
        for done in watched(range(0, n_sweeps, size), "stretch"):
            states = []
            for energies in self.replicas.sweeps(min(size, n_sweeps - done)):
                self._add(energies)
                states.append(chains.s[:, self.replicas.at[:, 0]])
            yield np.array(states)

    def _add(self, energies):
        at = self.replicas.at
        self.sums += (
            swap_chance(self.replicas.beta, energies),
            scipy.special.expit(self.step * (energies[:, :-1] - self.middle)),
            scipy.special.expit(self.step * (self.middle - energies[:, 1:])),
        )
        self.round_trips += self.was_hot[at[:, 0]].sum()
        self.was_hot[at[:, 0]] = False
        self.was_hot[at[:, -1]] = True

    def log_z(self) -> LogZ:
        """Return n log 2 + sum_k d_k (see above); nan where the ladder does not reach beta = 0, or has a gap."""
        _, cold, hot = self.sums
        if self.replicas.beta[-1] > 0 or not (cold.mean(0) * hot.mean(0) > 0).all():
            return UNKNOWN
        total = np.log(hot.mean(0) / cold.mean(0)) - self.step * self.middle
        noise = hot / hot.mean(0) - cold / cold.mean(0)  # of one ladder, to first order
        _, stderr = mean_and_stderr(noise.sum(1), np.ones(len(noise)))
        return LogZ(float(self.replicas.model.n * np.log(2) + total.sum()), float(stderr))
