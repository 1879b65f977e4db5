"""Gibbs sampling, the sequential dynamics: one unit after the other is drawn from its conditional distribution.

    p(s_i = +1 | the others) = 1 / (1 + exp(-2 h_i / T)),     h_i = sum_j w_ij s_j + b_i

A unit becomes +1 if a uniform number u is below that.  Each update leaves p(s) unchanged (detailed balance), hence so
does a sweep over all units in any order that does not depend on the states.  Units that are not coupled to each other
can be updated together: a class of one colour (a checkerboard, a layer).  Geman and Geman (1984), IEEE PAMI 6, 721;
for these machines Ackley, Hinton and Sejnowski (1985), eq. 3.

Metropolis' rule proposes to flip the unit, and accepts with probability min(1, exp(-(E' - E)/T)): Metropolis and
others (1953), J. Chem. Phys. 21, 1087.  It flips more often than Gibbs' rule; both sample p(s).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from inspect import signature

import numpy as np

from ...checking.arrays import align_columns
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, as_generator, check_choice, check_count, check_spins
from ...estimate import Estimate, Method, warn_unless_converged
from ...methods import METHODS, method
from ...model import BoltzmannMachine, check_model, names_at, neighbours
from .averages import average
from .chains import Chains, stream_of
from .diagnostics import EFFECTIVE_DRAWS, RHAT_LIMIT

DEFAULT_CHAINS = 100  # without start and n_chains
BYTES_A_UNIT = 120.0  # per chain: states, their sums over sixteen spans, and random numbers
DISAGREEMENT_ADVICE = ": the chains disagree, or are too short to tell. Raise n_sweeps and burn_in, or use temper()."


@show_call()
def sweep(
    model: BoltzmannMachine,
    s: ArrayLike,
    u: ArrayLike,
    *,
    units: Iterable[int | str] | None = None,
    rule: str = "gibbs",
) -> np.ndarray:
    """Update one unit after the other in all chains: s (..., n) and uniforms u (..., n) give new states (..., n).

    Deterministic: the same s and u give the same states.  It is the readable reference for gibbs(), which is faster.
    u       a unit becomes +1 if u is below its probability: always if u < 0, never if u >= 1
    units   the unit of each column of u; None: 0, 1, ..., n - 1
    rule    "gibbs", or "metropolis"

    >>> bmlab.sweep(bmlab.toy(), [-1, 1, 1], [0.5, 0.5, 0.9])  # at u = 1/2 a unit goes where its field points
    array([ 1.,  1., -1.])
    """
    s, u, line = _checked_sweep(model, s, u, units, rule)
    with np.errstate(over="ignore"):  # if exp() overflows, p is 0
        for k, i in enumerate(line):
            index, w = neighbours(model, i)
            h = s[..., index] @ w + model.biases[i]
            p = chance_of_plus(2 * h / model.temperature, s[..., i], rule)
            s[..., i] = np.where(u[..., k] < p, 1, -1)
    return s


def chance_of_plus(x: np.ndarray, s: np.ndarray, rule: str = "gibbs") -> np.ndarray:
    """Return p(+1) of units in states s = -1/+1 with x = 2 h / T, by Gibbs' rule or Metropolis'."""
    if rule == "gibbs":
        return 1 / (1 + np.exp(-x))
    turn = np.exp(np.minimum(-s * x, 0))
    return np.where(s > 0, 1 - turn, turn)


def _checked_sweep(model, s, u, units, rule):
    """Return a copy of the states, the uniforms, and the units in order."""
    check_model(model)
    check_choice("rule", rule, ("gibbs", "metropolis"))
    line = range(model.n) if units is None else model.indices(units).tolist()
    s = check_spins("states", align_columns("states", s, model.names, whole=True)).copy()
    u = align_columns("uniforms", u, names_at(model, line), whole=True)
    if s.shape[-1:] != (model.n,) or u.shape != (*s.shape[:-1], len(line)) or np.isnan(u).any():
        raise ValueError(
            f"states must be (..., {model.n}) and uniforms, one a unit, (..., {len(line)}), found {s.shape} and "
            f"{u.shape}, or nan; try u = rng.random(s.shape)"
        )
    return s, u, line


@method(
    "gibbs",
    answers=("means", "pairs"),
    order=math.inf,
    line="Gibbs sampling",
    start="states",
    draws=True,
    combines=True,
    colour="#0072B2",
    marker="s",
    laws={"n_chains": 64, "burn_in": 50, "n_sweeps": 200},
    shortest=({"n_sweeps": 1}, {"n_sweeps": 1, "n_chains": 1}),
    fuzz={"burn_in": 5, "n_sweeps": 40},
)
@show_call("bmlab.gibbs(model, rng=0)")
def gibbs(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: ArrayLike | None = None,
    n_chains: int | None = None,
    burn_in: int = 100,
    n_sweeps: int = 1000,
    every: int = 1,
    backend: str = "auto",
    n_draws: int = 0,
) -> Estimate:
    """Answer by Gibbs sampling: average over `n_sweeps` sweeps of `n_chains` parallel chains, after `burn_in` sweeps.

    start     first states (chains, n), or (chains, v) of the first v units only: the others then get one sweep given
              these.  Default: random states.  The last states are the Estimate's `state`.
    n_chains  default: the number of chains in `start`, else 100
    every     sweeps between measurements; 1 gives the smallest error for the time, except for means near a critical
              point
    backend   "numpy", "numba", or "auto"; the chains are exactly the same
    n_draws   number of measured states to keep, evenly spread, as the Estimate's `draws` (draws, chains, n)
    log_z     nan: chains give ratios of probabilities only.
    stderr    spread of independent groups: of chains, or if chains are fewer than 32, of parts of their time with three
              independent draws each; wider by Student's t if there are fewer than 32 groups, nan for one.
    converged whether R-hat of every unit is below 1.01, with 400 effective draws of each, see diagnostics.py; no such
              test sees a mode that no chain has visited.  info has R-hat and the effective sample size, of the worst
              unit.
    Each class of units that are not coupled is updated at once, one class after the other.
    Raises ValueError if there is no chain or sweep, for an unknown option, and for a start that does not fit.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> answer = bmlab.gibbs(pair, rng=0)
    >>> bool(abs(answer.corr - bmlab.exact(pair).corr)[0, 1] < 4 * answer.corr_stderr[0, 1])
    True
    """
    check_model(model)
    options = {"n_chains": n_chains, "burn_in": burn_in, "n_sweeps": n_sweeps, "every": every, "backend": backend}
    return RepeatedGibbs(rng=rng, **options, n_draws=n_draws)(model, start=start)


class RepeatedGibbs:
    """gibbs() with its options checked once, for machine after machine: chains that go on are not looked at again."""

    def __init__(
        self,
        *,
        rng: np.random.Generator | int,
        n_chains: int | None = None,
        burn_in: int = 100,
        n_sweeps: int = 1000,
        every: int = 1,
        backend: str = "auto",
        n_draws: int = 0,
    ):
        self.rng, self.n_chains, self.backend = as_generator(rng), n_chains, backend
        self.n_sweeps = check_count("n_sweeps", n_sweeps)
        self.burn_in = check_count("burn_in", burn_in, 0)
        self.every = check_count("every", every, 1, self.n_sweeps)
        self.measured = self.n_sweeps // self.every
        self.n_draws = check_count("n_draws", n_draws, 0, self.measured)
        self._chains: Chains | None = None
        self._state: np.ndarray | None = None  # of the last answer: where its chains are

    def __call__(self, model: BoltzmannMachine, *, start: ArrayLike | None = None) -> Estimate:
        """Return what gibbs() answers."""
        stream, measured, n_draws = stream_of(self.rng), self.measured, self.n_draws
        chains = self._walk(model, start)
        n_chains = chains.s.shape[1]
        if self.burn_in:
            chains.sweep(self.burn_in)
        draws, kept = chains.draws(measured, self.every), []
        averages = average(model, keep_draws(draws, n_draws, measured, kept) if n_draws else draws, n_chains, measured)
        agree = bool(averages.rhat < RHAT_LIMIT and averages.ess >= EFFECTIVE_DRAWS)
        answer = Estimate(
            averages.mean,
            averages.corr,
            mean_stderr=averages.mean_stderr,
            corr_stderr=averages.corr_stderr,
            method="gibbs",
            converged=agree,
            message=f"gibbs() has R-hat {averages.rhat:.4g} after {self.n_sweeps} sweeps; it should be below "
            f"{RHAT_LIMIT}{'.' if agree else DISAGREEMENT_ADVICE}",
            draws=np.array(kept) if n_draws else None,
            state=chains.s.T.astype(float),
            info={
                "rhat": averages.rhat,
                "ess": averages.ess,
                "n_draws": averages.n_draws,
                "split": averages.split,
                "streams": (stream,),
            },
            model=model,
        )
        self._state = answer.state
        return warn_unless_converged(answer)

    def _walk(self, model, start):
        """Return chains at their start; those of the last answer if they start where it ended."""
        ended, self._state = self._state, None  # until this walk has ended
        if self._chains is not None and ended is not None and start is ended and ended.shape[1] == model.n:
            self._chains.go_on(model, self.rng)
            return self._chains
        s = first_states(model, self.rng, start, self.n_chains)
        size, what = 20.0 * self.n_draws * s.size, f"{self.n_draws:,} draws of {len(s):,} chains would be kept"
        check_memory(what, size, "keep fewer draws")
        self._chains = Chains(model, s.T, self.rng, backend=self.backend, n_sweeps=self.burn_in + self.n_sweeps)
        return self._chains


REPEATED_OPTIONS = {*signature(RepeatedGibbs).parameters}


def repeated(method: Method) -> Method:
    """Return gibbs() with options bound to it as a RepeatedGibbs, which answers the same; any other method as it is."""
    if not isinstance(method, partial) or method.func is not METHODS["gibbs"].function or method.args:
        return method
    is_known = {"rng"} <= method.keywords.keys() <= REPEATED_OPTIONS
    return RepeatedGibbs(**method.keywords) if is_known else method


def keep_draws(blocks: Iterable[np.ndarray], draws: int, measured: int, kept: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield blocks of states (sweeps, n, chains) unchanged; add `draws` evenly spread states (chains, n) to `kept`."""
    places, done = np.arange(1, draws + 1) * measured // max(draws, 1) - 1, 0
    for block in blocks:
        inside = places[(done <= places) & (places < done + len(block))] - done
        kept.extend(block[inside].swapaxes(1, 2))
        done += len(block)
        yield block


def check_chains(model: BoltzmannMachine, n_chains: float) -> None:
    """Raise ValueError if the chains, with their sums, would take more than the memory to spend."""
    check_memory(
        f"{n_chains:,} chains of {model.n:,} units would be kept", BYTES_A_UNIT * model.n * n_chains, "use fewer chains"
    )


def first_states(
    model: BoltzmannMachine, rng: np.random.Generator, start: ArrayLike | None, n_chains: int | None
) -> np.ndarray:
    """Return states (chains, n): random, as given, or completed by one sweep of the missing units.

    Raises ValueError if start is not (chains, n) or (chains, v), or does not have n_chains rows.
    """
    n_chains = n_chains if n_chains is None else check_count("n_chains", n_chains)
    check_chains(model, n_chains or DEFAULT_CHAINS)
    if start is None:
        return rng.choice([-1.0, 1.0], size=(n_chains or DEFAULT_CHAINS, model.n))
    given = np.atleast_2d(check_spins("start", align_columns("start", start, model.names)))
    if given.ndim > 2 or not len(given) or given.shape[1] < min(1, model.n):
        raise ValueError(f"start must be states (chains, {model.n}), found shape {given.shape}; pass one state a row")
    chains, n_given = given.shape
    if n_given > model.n:
        raise ValueError(f"start has {n_given} units, the machine {model.n}; pass (chains, {model.n}) states")
    if n_chains not in (None, chains):
        raise ValueError(f"start has {chains} chains, n_chains is {n_chains}; leave n_chains out")
    if n_given == model.n:
        return given
    s = np.hstack([given, rng.choice([-1.0, 1.0], size=(chains, model.n - n_given))])
    if n_given:
        s = sweep(model, s, rng.random((chains, model.n - n_given)), units=range(n_given, model.n))
    return s
