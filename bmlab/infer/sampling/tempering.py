"""Parallel tempering (replica exchange): copies of the machine at several temperatures, which they swap.

Replica k follows p_k(s) = exp(-beta_k E(s)) / Z_k, beta_k = 1/T_k.  After each sweep neighbours swap with probability

    a = min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1}))),

which leaves the product of all p_k unchanged.  So a state leaves its valley at high temperatures, which have no valleys
(at beta = 0 units are fair coins), and can return to another valley: Swendsen and Wang (1986), Phys. Rev. Lett. 57,
2607.  Even and odd pairs take turns, and the temperatures (rungs) are such that neighbours swap about half of the time,
near which round trips cost least: Syed and others (2022), J. R. Stat. Soc. B 84, 321.

From Z = 2^n at beta = 0, by thermodynamic integration in steps of Bennett's acceptance ratio (BAR), follows log Z:

    log Z_0 = n log 2 + sum_k d_k,      d_k = log(Z_k / Z_{k+1}) = -D_k M_k + log <f(D_k (M_k - E))>_{k+1}
                                                                           - log <f(D_k (E - M_k))>_k

with D_k = beta_k - beta_{k+1} and f(x) = 1/(1 + exp(-x)), for any M_k (Bennett 1976, J. Comput. Phys. 22, 245, eq. 7).
There is no discretisation error, and the noise is estimated by comparing ladders.  It is least if the two averages are
equal, D_k M_k = -d_k; otherwise one of them may depend on states that are never drawn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy

from ...checking.arrays import first_smallest, no_such_attribute
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, as_generator, check_array, check_count, describe, summary
from ...estimate import UNKNOWN, Bounded, Estimate, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, energy_of
from ...running.files import stored
from ...running.progress_bars import with_progress
from .averages import average
from .chains import Chains, stream_of
from .diagnostics import RHAT_LIMIT, mean_and_stderr
from .gibbs import check_chains, keep_draws

DEFAULT_LADDERS = 32  # without start and n_ladders
ASSUMED_RUNGS = 10  # per ladder, to estimate its memory before its temperatures are chosen
MIN_ROUND_TRIPS = 10  # per ladder, for converged
BLOCK_SPINS = 2**20  # in a block of states at the lowest temperature, kept until they are summed
TARGET_REJECTION = 0.5  # of the swaps of two neighbours: Syed and others (2022)
COOLING_SWEEPS = 20  # at each temperature of the first cooling
STILL_SPREAD = 1e-12  # relative spread of an energy below which it is rounding
PILOT_SWEEPS = 100  # sweeps in which rejected swaps are counted
EQUALISING_ROUNDS = 3  # of pilot sweeps, after each of which the rungs are placed anew
MIDPOINT_SWEEPS = 100  # last sweeps of the burn-in, whose energies give the M_k of Bennett's averages
MIDPOINT_ITERATIONS = 20  # of M_k towards equal averages


@method(
    "temper",
    answers=("means", "pairs", "log Z"),
    order=math.inf,
    line="parallel tempering, replica exchange",
    start="ladder",
    draws=True,
    combines=True,
    colour="#56B4E9",
    marker="P",
    laws={"temperatures": (1, 1.7, 3, 6, math.inf), "burn_in": 20, "n_sweeps": 100},
    shortest=({"n_sweeps": 1, "burn_in": 0}, {"n_sweeps": 1, "burn_in": 0, "n_ladders": 1}),
    fuzz={"n_ladders": 4, "burn_in": 5, "n_sweeps": 20},
)
@show_call("bmlab.temper(model, rng=0)")
def temper(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: TemperingState | None = None,
    temperatures: ArrayLike | None = None,
    n_ladders: int | None = None,
    burn_in: int = 500,
    n_sweeps: int = 4000,
    n_draws: int = 0,
) -> Estimate:
    """Answer by parallel tempering (replica exchange): average over `n_sweeps` of `n_ladders` ladders, after `burn_in`.

    A ladder is one replica of the machine at each temperature; ladders are independent of each other.
    start         the `state` of a former answer, to continue it, with its temperatures
    temperatures  increasing, starting with model.temperature, for which the answer is; np.inf is allowed.  Default: a
                  pilot run chooses temperatures up to np.inf whose neighbours swap about half of the time.
    n_ladders     default: the number in `start`, else 32; each ladder has a chain at every temperature
    n_draws       number of states to keep at the machine's temperature, evenly spread, as `draws` (draws, n_ladders, n)
    log_z         nan unless the last temperature is np.inf; nan if the energies of two neighbours never overlap.
    stderr        spread of the independent ladders, wider by Student's t if they are fewer than 32; nan for log_z of a
                  single ladder.  For means and correlations as in gibbs().
    converged     whether R-hat of every unit is below 1.01, as in gibbs(), with ten round trips per ladder, from hot to
                  cold and back.  No such test sees a valley that no ladder has found.
    info          temperatures; acceptance (rungs - 1,) of swaps; round_trips per ladder; rhat
    Raises ValueError if temperatures do not start with the machine's or do not increase.

    >>> log_z = bmlab.temper(bmlab.toy(), rng=0, n_sweeps=500).log_z
    >>> abs(log_z - bmlab.exact(bmlab.toy()).log_z) < 4 * log_z.stderr
    True
    """
    check_model(model)
    rng = as_generator(rng)
    stream = stream_of(rng)
    n_sweeps = check_count("n_sweeps", n_sweeps)
    burn_in = check_count("burn_in", burn_in, 0)
    n_draws = check_count("n_draws", n_draws, 0, n_sweeps)
    n_ladders = n_ladders if n_ladders is None else check_count("n_ladders", n_ladders)
    state = _initial_state(model, rng, start, temperatures, n_ladders)
    spins = n_draws * state.s[:, 0].size
    check_memory(f"{n_draws:,} draws of {len(state.s):,} ladders would be kept", 20.0 * spins, "keep fewer draws")
    replicas = ReplicaExchange(model, state, rng, burn_in + n_sweeps)
    recent_energies = deque([replicas.energies()], maxlen=MIDPOINT_SWEEPS)
    recent_energies.extend(replicas.sweeps(burn_in))
    statistics = ExchangeStatistics(replicas, balanced_midpoints(replicas.beta, np.concatenate(recent_energies)))
    n_ladders, kept = len(state.s), []
    coldest = keep_draws(sample_coldest(replicas, statistics, n_sweeps), n_draws, n_sweeps, kept)
    averages = average(model, coldest, n_ladders, n_sweeps)
    round_trips = statistics.round_trips / n_ladders
    log_z = statistics.log_z()
    reasons = {
        "the ladders disagree, or are too short to tell": not averages.rhat < RHAT_LIMIT,
        "too few round trips": model.n > 0 and round_trips < MIN_ROUND_TRIPS,
        "neighbours whose energies never met leave log Z unknown": replicas.beta[-1] == 0 and not np.isfinite(log_z),
    }
    failures = [reason for reason, fails in reasons.items() if fails]
    advice = f": {', and '.join(failures)}. Raise n_sweeps and burn_in" if failures else ""
    return warn_unless_converged(
        Estimate(
            averages.mean,
            averages.corr,
            log_z,
            averages.mean_stderr,
            averages.corr_stderr,
            method="temper",
            converged=not failures,
            message=f"temper() has R-hat {averages.rhat:.4g} (below {RHAT_LIMIT} is asked for) and {round_trips:.3g} "
            f"round trips a ladder (at least {MIN_ROUND_TRIPS}){advice}.",
            draws=np.array(kept) if n_draws else None,
            state=replicas.state(),
            info={
                "temperatures": replicas.temperatures,
                "acceptance": statistics.swaps.mean(0) / n_sweeps,
                "round_trips": round_trips,
                "rhat": averages.rhat,
                "ess": averages.ess,
                "n_draws": averages.n_draws,
                "split": averages.split,
                "streams": (stream,),
            },
            model=model,
        )
    )


def _initial_state(model, rng, start, temperatures, n_ladders):
    if start is not None:
        _check_start(start, temperatures, n_ladders, model.n)
        temperatures = start.temperatures
    if temperatures is None:
        check_chains(model, (n_ladders or DEFAULT_LADDERS) * ASSUMED_RUNGS)
        return choose_temperatures(model, rng, n_ladders or DEFAULT_LADDERS)
    t = check_array("temperatures", temperatures, "leave them out")
    if t.ndim != 1 or not t.size or not np.isclose(t[0], model.temperature, 1e-12) or not (np.diff(t) > 0).all():
        raise ValueError(
            f"temperatures must increase from the machine's {model.temperature:g}, found {describe(temperatures)}; "
            f"leave them out, or try [{model.temperature:g}, {2 * model.temperature:g}, np.inf]"
        )
    check_chains(model, (n_ladders or DEFAULT_LADDERS) * len(t))
    return start or TemperingState(t, random_states(rng, n_ladders or DEFAULT_LADDERS, len(t), model.n))


def _check_start(start, temperatures, n_ladders, n):
    if temperatures is not None:
        raise ValueError("start brings its temperatures along; pass start or temperatures, not both")
    states = check_array("start", start.s) if isinstance(start, TemperingState) else np.empty(0)
    if states.ndim != 3 or states.shape[1:] != (len(start.temperatures), n) or not (np.abs(states) == 1).all():
        raise ValueError(
            f"start must be the `state` of a temper() answer for {n} units, found {describe(start)}; leave it out"
        )
    if n_ladders not in (None, len(start.s)):
        raise ValueError(f"start has {len(start.s)} ladders, n_ladders is {n_ladders}; leave n_ladders out")


@stored()
class TemperingState(NamedTuple):
    """Temperatures (rungs,) in increasing order, and the states s (n_ladders, rungs, n) of the replicas at each.

    >>> bmlab.temper(bmlab.toy(), rng=0).state.s.shape  # 32 ladders of two replicas
    (32, 2, 3)
    """

    temperatures: np.ndarray
    s: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute


class ReplicaExchange:
    """Sweeps and swaps of independent ladders of replicas, each replica one chain.

    chain_at (n_ladders, rungs) is the chain at each rung: swaps change it and do not move the states.
    planned_sweeps is the approximate number of sweeps, by which Chains chooses its engine.
    """

    def __init__(self, model: BoltzmannMachine, state: TemperingState, rng: np.random.Generator, planned_sweeps: int):
        self.model, self.rng, self.temperatures = model, rng, state.temperatures
        self.beta = 1 / state.temperatures
        self.chain_at = np.arange(np.prod(state.s.shape[:2])).reshape(state.s.shape[:2])
        self.chains = Chains(model, state.s.reshape(self.chain_at.size, model.n).T, rng, n_sweeps=planned_sweeps)

    def state(self) -> TemperingState:
        """Return the present states at each rung."""
        return TemperingState(self.temperatures, self.chains.s.T[self.chain_at])

    def energies(self) -> np.ndarray:
        """Return the energies at each rung, (n_ladders, rungs)."""
        return self.chains.energies()[self.chain_at]

    def sweeps(self, count: int) -> Iterator[np.ndarray]:
        """Sweep and swap `count` times; yield the energies in between, (n_ladders, rungs)."""
        for _ in with_progress(range(count), "sweep"):
            beta = np.empty(self.chain_at.size)
            beta[self.chain_at] = self.beta
            self.chains.sweep(beta=beta)
            energies = self.energies()
            yield energies
            self.swap(energies, self.chains.count % 2)

    def swap(self, energies: np.ndarray, first: int) -> None:
        """Swap the replicas at rungs k and k + 1 with their probability, for k = first, first + 2, ..."""
        cold, hot = self.chain_at[:, first:-1:2], self.chain_at[:, first + 1 :: 2]
        accepted = self.rng.random(cold.shape) < swap_chance(self.beta, energies)[:, first::2]
        cold[:], hot[:] = np.where(accepted, (hot, cold), (cold, hot))


def swap_chance(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return p(swap) (..., rungs - 1) of neighbours: min(1, exp((beta_k - beta_{k+1}) (E_k - E_{k+1})))."""
    return np.exp(np.minimum(0, np.diff(beta) * np.diff(energies)))


def choose_temperatures(model: BoltzmannMachine, rng: np.random.Generator, n_ladders: int) -> TemperingState:
    """Return temperatures up to np.inf whose neighbours swap about half of the time, and states at each."""
    state = _cool(model, rng, n_ladders)
    for _ in range(EQUALISING_ROUNDS):
        state = _equalise_rejection(model, rng, state)
    return state


def _cool(model, rng, n_ladders):
    """Cool random states by steps of 1 / (spread of E): if E were normal, neighbours would swap half of the time."""
    chains = Chains(model, random_states(rng, model.n, n_ladders), rng, n_sweeps=PILOT_SWEEPS)
    beta, states = [0.0], []
    while True:
        blocks = chains.draws(COOLING_SWEEPS, beta=beta[-1])
        energies = np.concatenate([energy_of(model, s.swapaxes(1, 2)) for s in blocks])
        states.append(chains.s.T.copy())
        if beta[-1] == 1 / model.temperature:
            return TemperingState(_temperatures(beta[::-1]), np.stack(states[::-1], axis=1))
        spread = np.sqrt(np.var(energies, axis=0).mean())
        is_still = spread <= STILL_SPREAD * np.abs(energies - model.offset).max()  # only rounding
        beta.append(1 / model.temperature if is_still else min(1 / model.temperature, beta[-1] + 1 / spread))


def _equalise_rejection(model, rng, state):
    """Place the rungs so that all neighbours would reject equally often, judged by the swaps of pilot sweeps."""
    replicas = ReplicaExchange(model, state, rng, PILOT_SWEEPS)
    rejection = 1 - np.mean([swap_chance(replicas.beta, e).mean(0) for e in replicas.sweeps(PILOT_SWEEPS)], axis=0)
    cumulative = np.append(0, np.cumsum(rejection + 1e-9))  # the communication barrier up to each rung
    rungs = 1 + int(np.ceil(cumulative[-1] / TARGET_REJECTION))
    beta = np.interp(np.linspace(0, cumulative[-1], rungs), cumulative, replicas.beta)
    nearest = first_smallest(np.abs(replicas.beta[:, None] - beta), axis=0)
    return TemperingState(_temperatures(beta), replicas.state().s[:, nearest])


def _temperatures(beta):
    return np.divide(1, beta, out=np.full(len(beta), np.inf), where=np.array(beta) > 0)


def random_states(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return random states -1/+1 (int8)."""
    return rng.choice(np.array([-1, 1], np.int8), shape)


def bennett_log_terms(beta_steps: np.ndarray, midpoints: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return log f (2, ..., rungs - 1) of the colder and of the hotter neighbour, for energies (..., rungs).

    beta_steps (rungs - 1,) are the D_k, and midpoints (rungs - 1,) the M_k above.
    """
    return scipy.special.log_expit(
        beta_steps * np.array([energies[..., :-1] - midpoints, midpoints - energies[..., 1:]])
    )


def balanced_midpoints(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return M (rungs - 1,) at which both averages of f are about equal, from energies (draws, rungs)."""
    beta_steps, mean = -np.diff(beta), energies.mean(0)
    midpoints = (mean[:-1] + mean[1:]) / 2
    for _ in range(MIDPOINT_ITERATIONS):
        cold, hot = np.logaddexp.reduce(bennett_log_terms(beta_steps, midpoints, energies), axis=1)
        midpoints = midpoints + (cold - hot) / beta_steps
    return midpoints


def sample_coldest(replicas: ReplicaExchange, statistics: ExchangeStatistics, n_sweeps: int) -> Iterator[np.ndarray]:
    """Sweep and add to the statistics; yield the states at the first temperature, in blocks (sweeps, n, n_ladders)."""
    chains = replicas.chains
    size = max(1, BLOCK_SPINS // (chains.s.size + 1))
    for done in with_progress(range(0, n_sweeps, size), "block"):
        states = []
        for energies in replicas.sweeps(min(size, n_sweeps - done)):
            statistics.add(energies)
            states.append(chains.s[:, replicas.chain_at[:, 0]])
        yield np.array(states)


class ExchangeStatistics:
    """Sums over sweeps that give log Z, the acceptance of swaps and the round trips.

    midpoints (rungs - 1,) are the M of Bennett's averages.
    swaps (n_ladders, rungs - 1) is the sum of the swap probabilities; log_sums (2, n_ladders, rungs - 1) are the logs
    of the sums of Bennett's f of the colder and of the hotter neighbour; the sums may underflow at low temperatures.
    """

    def __init__(self, replicas: ReplicaExchange, midpoints: np.ndarray):
        self.replicas, self.midpoints, self.beta_steps = replicas, midpoints, -np.diff(replicas.beta)
        self.swaps = np.zeros((len(replicas.chain_at), len(self.beta_steps)))
        self.log_sums = np.full((2, *self.swaps.shape), -np.inf)
        self.round_trips = 0
        self.was_hot = np.zeros(replicas.chain_at.size, bool)  # since the chain was last at the lowest rung

    def add(self, energies: np.ndarray) -> None:
        """Add the energies (n_ladders, rungs) of one sweep, before the swap that follows it."""
        chain_at = self.replicas.chain_at
        self.swaps += swap_chance(self.replicas.beta, energies)
        self.log_sums = np.logaddexp(self.log_sums, bennett_log_terms(self.beta_steps, self.midpoints, energies))
        self.round_trips += self.was_hot[chain_at[:, 0]].sum()
        self.was_hot[chain_at[:, 0]] = False
        self.was_hot[chain_at[:, -1]] = True

    def log_z(self) -> Bounded:
        """Return n log 2 + sum_k d_k (see above); nan if the ladder does not reach beta = 0, or has a gap."""
        sums = np.logaddexp.reduce(self.log_sums, axis=1)
        if self.replicas.beta[-1] > 0 or (sums.mean(0) < 0).any():  # two neighbours never overlapped
            return UNKNOWN
        cold, hot = means = sums - np.log(len(self.swaps))
        total = hot - cold - self.beta_steps * self.midpoints
        ratios = np.exp(self.log_sums - means[:, None])
        noise = ratios[1] - ratios[0]  # of one ladder, to first order
        _, stderr = mean_and_stderr(noise.sum(1), np.ones(len(noise)))
        return Bounded(float(self.replicas.model.n * np.log(2) + total.sum()), float(stderr))
