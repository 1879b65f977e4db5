"""Visited states: a lower bound on Z, the sum of exp(-E/T) over the distinct states that the chains visited.

    log sum over visited s of exp(-E(s)/T)  <=  log Z

Every term of Z is positive, so any subset of the terms gives a lower bound; each state counts once, however often it
was visited.  The relative gap is the probability of the states that were not visited.  After M independent draws from
p(s) its expected value is

    sum_s p(s) (1 - p(s))^M,

and it can be measured without knowing p: by the share of further draws that are in none of the visited states.  So the
second half of the sweeps estimates the gap of the first half.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...checking.arrays import no_such_attribute
from ...checking.calls import show_call
from ...checking.validation import ArrayLike, as_generator, check_count, summary
from ...estimate import Bounded, Estimate, as_corr, pair_sums, warn_unless_converged
from ...methods import method
from ...model import BoltzmannMachine, check_model, energy_of
from ...running.sparsity import one_by_one
from .chains import Chains
from .gibbs import first_states

KEPT_STATES = 2**20  # distinct states kept of each half, those of lowest energy
UNPACKED_ROWS = 2**14  # states unpacked at a time
MAX_NEW_SHARE = 0.01  # largest share of new states in the second half's draws
MIN_VISITS = 300  # if none of 300 draws is new, at most 1 % is missed, with 95 % confidence: the rule of three
VISITS_ADVICE = f", of which fewer than {MIN_VISITS} tell nothing; the bound holds. Raise n_sweeps."
MISSED_ADVICE = ", so about this share of Z is missing; the bound holds. Raise n_sweeps, or use ais()."


class Visited(NamedTuple):
    """Distinct states, packed to bits, with their energies and numbers of visits; all (states,)."""

    key: np.ndarray
    energy: np.ndarray
    visits: np.ndarray

    __repr__ = summary
    __getattr__ = no_such_attribute


@method(
    "visited",
    answers=("means", "pairs", "log Z", "lower bound"),
    order=math.inf,
    line="sum over the distinct states that chains visit",
    start="states",
    draws=True,
    colour="#999933",
    marker=">",
    laws={"n_sweeps": 200},
    shortest=({"n_sweeps": 2, "n_chains": 1},),
    fuzz={"n_sweeps": 30},
)
@show_call("bmlab.visited(model, rng=0)")
def visited(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: ArrayLike | None = None,
    n_chains: int | None = None,
    n_sweeps: int = 1000,
) -> Estimate:
    """Answer by the distinct states that `n_chains` chains visited, one per chain after each of `n_sweeps` sweeps.

    start, n_chains   as in gibbs(): states (chains, n), or (chains, v) for the first v units, which count as visited;
              None: 100 random states.  The last states are the Estimate's `state`.
    log_z     a proven lower bound: the log of the sum over the visited states.  If a half of the sweeps visits more
              than 2^20, those of lowest energy are kept: the bound still holds, and info["dropped"] counts the visits
              to states that were dropped.
    mean, corr   of p(s) restricted to the visited states, each weighted by exp(-E/T), not by its visits.  They are off
              by up to twice the probability of all other states; there is no other error, so stderr is 0.
    converged whether at most 1 % of at least 300 visits in the second half were to states that the first half had not
              kept (info["missed"]).  This test does not see a valley that no chain has found.
    Raises ValueError for less than 2 sweeps or 1 chain, and if start does not fit.

    >>> bmlab.visited(bmlab.toy(), rng=0).log_z, bmlab.exact(bmlab.toy()).log_z  # all eight states are seen
    (Bounded(2.6961 (proven: at least 2.6961)), Bounded(2.6961 (exact)))
    """
    check_model(model)
    rng = as_generator(rng)
    n_sweeps = check_count("n_sweeps", n_sweeps, 2)
    s, half = first_states(model, rng, start, n_chains), n_sweeps // 2
    chains = Chains(model, s.T, rng, classes=one_by_one(model.n), n_sweeps=n_sweeps)
    early = _sweep_on(model, unique_states(model, s), chains, half)
    late = _sweep_on(model, unique_states(model, s[:0]), chains, n_sweeps - half)
    visits = (n_sweeps - half) * len(s)
    missed = float(1 - late.visits[np.isin(late.key, early.key)].sum() / visits)
    advice = VISITS_ADVICE if visits < MIN_VISITS else ", at most 1 % as asked for."
    advice = MISSED_ADVICE if missed > MAX_NEW_SHARE else advice
    seen = union(early, late)
    log_z = log_sum(model, seen)
    mean, corr = _moments(model, seen, log_z)
    return warn_unless_converged(
        Estimate(
            mean,
            corr,
            Bounded(log_z, lower=log_z),
            method="visited",
            converged=missed <= MAX_NEW_SHARE and visits >= MIN_VISITS,
            message=f"visited() still met new states in {missed:.1%} of its last visits{advice}",
            state=chains.s.T.astype(float),
            info={"missed": missed, "states": len(seen.key), "dropped": (1 + n_sweeps) * len(s) - seen.visits.sum()},
            model=model,
        )
    )


def unique_states(model: BoltzmannMachine, s: np.ndarray) -> Visited:
    """Return the distinct states among s (N, n)."""
    bits = np.pad(np.asarray(s) > 0, ((0, 0), (0, 1)))  # one more bit, for a machine without units
    packed = np.ascontiguousarray(np.packbits(bits, axis=1))  # compared as text, as in learn.observations
    key = packed.view(f"S{packed.shape[1]}")[:, 0]
    return union(Visited(key, energy_of(model, s), np.ones(len(key), int)))


def union(*parts: Visited) -> Visited:
    """Return the states of all parts, each once, with the sum of its visits."""
    key, energy, visits = map(np.concatenate, zip(*parts, strict=True))
    key, first, which = np.unique(key, return_index=True, return_inverse=True)
    return Visited(key, energy[first], np.bincount(which, visits, len(key)).astype(int))


def log_sum(model: BoltzmannMachine, seen: Visited) -> float:
    """Return the log of the sum of exp(-E/T) over distinct states."""
    x = -seen.energy / model.temperature
    return float(x.max() + np.log(np.exp(x - x.max()).sum()))


def _sweep_on(model, seen, chains, n_sweeps):
    """Make the sweeps and return all states seen, including those in `seen`."""
    for block in chains.draws(n_sweeps):
        s = block.swapaxes(1, 2).reshape(len(block) * block.shape[2], model.n)
        seen = union(seen, unique_states(model, s))
        if len(seen.key) > KEPT_STATES:
            lowest = np.argpartition(seen.energy, KEPT_STATES)[:KEPT_STATES]
            seen = Visited(*(values[lowest] for values in seen))
    return seen


def _moments(model, seen, log_z):
    """Return means and correlations of p restricted to the states seen, which are unpacked in parts."""
    p = np.exp(-seen.energy / model.temperature - log_z)
    mean, pairs = np.zeros(model.n), 0.0
    for rows in range(0, len(p), UNPACKED_ROWS):
        part = slice(rows, rows + UNPACKED_ROWS)
        bits = np.unpackbits(seen.key[part].view(np.uint8).reshape(len(p[part]), -1), axis=1, count=model.n)
        s = 2.0 * bits - 1
        mean += p[part] @ s
        pairs = pairs + pair_sums(model, s * np.sqrt(p[part])[:, None])
    return mean.clip(-1, 1), as_corr(model, np.asarray(pairs))
