"""Gibbs sampling, the sequential dynamics: one unit after the other is drawn from its conditional distribution.

    p(s_i = +1 | the others) = 1 / (1 + exp(-2 h_i / T)),     h_i = sum_j w_ij s_j + b_i

A unit turns +1 where a uniform number u is below that.  Each update leaves p(s) unchanged (detailed balance), hence
so does a sweep over all units in any order that does not look at the states.  Units that are not coupled to each
other may turn together: a class of one colour (a checkerboard, a layer).  Geman and Geman (1984), IEEE PAMI 6, 721;
for these machines Ackley, Hinton and Sejnowski (1985), eq. 3.

Metropolis' rule proposes to turn the unit over, and accepts with probability min(1, exp(-(E' - E)/T)): Metropolis and
others (1953), J. Chem. Phys. 21, 1087.  It flips more often than Gibbs' rule; for p(s) both are right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ...checking.arrays import align_columns
from ...checking.budgets import check_memory
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, as_generator, check_choice, check_count, check_spins
from ...estimate import Estimate, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, names_at, neighbours
from .averages import average
from .chains import Chains, stream_of
from .diagnostics import EFFECTIVE_DRAWS, RHAT_LIMIT

DEFAULT_CHAINS = 100  # where neither start nor n_chains says how many
BYTES_A_UNIT = 120.0  # of a chain: its states, their sums over sixteen spans, and random numbers
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

    Deterministic: the same s and u give the same states.  The readable reference of what gibbs() does fast.
    u       a unit turns +1 where u is below its chance: below 0 for certain, from 1 on never
    units   which unit the k-th column of u is for; None: 0, 1, ..., n - 1
    rule    "gibbs", or "metropolis"

    >>> bmlab.sweep(bmlab.toy(), [-1, 1, 1], [0.5, 0.5, 0.9])  # at u = 1/2 a unit goes where its field points
    array([ 1.,  1., -1.])
    """
    s, u, line = _checked_sweep(model, s, u, units, rule)
    with np.errstate(over="ignore"):  # where exp() leaves a double, p is 0
        for k, i in enumerate(line):
            index, w = neighbours(model, i)
            h = s[..., index] @ w + model.biases[i]
            p = chance_of_plus(2 * h / model.temperature, s[..., i], rule)
            s[..., i] = np.where(u[..., k] < p, 1, -1)
    return s


def chance_of_plus(x: np.ndarray, s: np.ndarray, rule: str = "gibbs") -> np.ndarray:
    """Return p(+1) of units that stand at s = -1/+1 and feel x = 2 h / T, by Gibbs' rule or Metropolis'."""
    if rule == "gibbs":
        return 1 / (1 + np.exp(-x))
    turn = np.exp(np.minimum(-s * x, 0))
    return np.where(s > 0, 1 - turn, turn)


def _checked_sweep(model, s, u, units, rule):
    """Return a copy of the states, the uniforms, and the units in line."""
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
    """Answer by Gibbs sampling: average over `n_sweeps` of `n_chains` chains side by side, after `burn_in` sweeps.

    start     states (chains, n) to go on from, or (chains, v) for the first v units only: the others then get one
              sweep given these.  None: random states.  The last states are the Estimate's `state`.
    n_chains  None: as many as `start` has, else 100
    every     measure after each so many sweeps, n_sweeps // every times; 1 has the least error for its time, but for
              means near a critical point
    backend   "numpy", "numba", or "auto"; the chains are the same to the bit
    n_draws   keep so many of the states that are measured, evenly spread, as the Estimate's `draws` (draws, chains, n)
    log_z     is nan: chains give ratios of probabilities only.
    stderr    spread of independent groups of chains (where chains are fewer than 32, of parts of their time that hold
              three independent draws each; wider by Student's t where these are fewer than 32; nan where there is one).
    converged R-hat of every unit below 1.01, and 400 effective draws of each, see diagnostics.py; no such test sees a
              mode that no chain has averages.  info has R-hat and the effective sample size of the worst unit.
    Classes of units that are not coupled turn together, one class after the other.
    Raises ValueError for no chain or sweep, an unknown option, and a start that does not fit.

    >>> pair = bmlab.BoltzmannMachine([[0, 1], [1, 0]], [0, 0])
    >>> answer = bmlab.gibbs(pair, rng=0)
    >>> bool(abs(answer.corr - bmlab.exact(pair).corr)[0, 1] < 4 * answer.corr_stderr[0, 1])
    True
    """
    check_model(model)
    rng = as_generator(rng)
    stream = stream_of(rng)
    n_sweeps = check_count("n_sweeps", n_sweeps)
    burn_in = check_count("burn_in", burn_in, 0)
    every = check_count("every", every, 1, n_sweeps)
    measured = n_sweeps // every
    n_draws = check_count("n_draws", n_draws, 0, measured)
    s = first_states(model, rng, start, n_chains)
    check_memory(f"{n_draws:,} draws of {len(s):,} chains would be kept", 20.0 * n_draws * s.size, "keep fewer draws")
    chains = Chains(model, s.T, rng, backend=backend, n_sweeps=burn_in + n_sweeps)
    chains.sweep(burn_in)
    kept: list[np.ndarray] = []
    averages = average(model, keep_draws(chains.draws(measured, every), n_draws, measured, kept), len(s), measured)
    agree = bool(averages.rhat < RHAT_LIMIT and averages.ess >= EFFECTIVE_DRAWS)
    return warn_unless_converged(
        Estimate(
            averages.mean,
            averages.corr,
            mean_stderr=averages.mean_stderr,
            corr_stderr=averages.corr_stderr,
            method="gibbs",
            converged=agree,
            message=f"gibbs() has R-hat {averages.rhat:.4g} after {n_sweeps} sweeps, where below {RHAT_LIMIT} is asked "
            f"for{'.' if agree else DISAGREEMENT_ADVICE}",
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
    )


def keep_draws(blocks: Iterable[np.ndarray], draws: int, measured: int, kept: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Pass blocks of states (sweeps, n, chains) on; keep `draws` states (chains, n), evenly spread over all of them."""
    places, done = np.arange(1, draws + 1) * measured // max(draws, 1) - 1, 0
    for block in blocks:
        inside = places[(done <= places) & (places < done + len(block))] - done
        kept.extend(block[inside].swapaxes(1, 2))
        done += len(block)
        yield block


def check_chains(model: BoltzmannMachine, n_chains: float) -> None:
    """Raise ValueError where so many chains, and what is kept of each, are more than the memory to spend."""
    check_memory(
        f"{n_chains:,} chains of {model.n:,} units would be kept", BYTES_A_UNIT * model.n * n_chains, "use fewer chains"
    )


def first_states(
    model: BoltzmannMachine, rng: np.random.Generator, start: ArrayLike | None, n_chains: int | None
) -> np.ndarray:
    """Return states (chains, n): random, as given, or completed by one sweep of the units that are missing.

    Raises ValueError where start is not (chains, n) or (chains, v), or has not n_chains rows.
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
