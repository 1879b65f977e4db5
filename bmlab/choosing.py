"""auto and bracket: exact where it fits the budget, else the best of the other methods, with its error or its proof.

The budget is work, and no clock is read: `seconds` are those of one fixed machine, the reference, on one of whose cores
a walk by Numba multiplies PRODUCTS pairs a second.  So the same generator has the same answer on every machine and
under any load; a slower one only takes longer.

What exact() would cost is known beforehand (planning.py), and Bethe's error is foretold (bethe_error.py).  All theories
can miss the same valley, so a trial of samples has a veto, and so have proven bounds; and samples go on where their
error would be smaller with the work that is left.  `python benchmarks/choosing.py` grades auto() against exact.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .budgets import time_in_words
from .checks import check_choice, check_positive, generator
from .estimate import Bounded, Estimate, quietly, warned
from .infer.bethe_error import FITS, SURE, checked, moments_of, rms, tested, weigh
from .infer.bounds.bracketing import LARGEST, Bracket, between, lower_bounds, upper_bounds
from .infer.exact.enumeration import exact
from .infer.exact.planning import Plan, plan
from .infer.sampling.annealed_importance import ais
from .infer.sampling.gibbs import gibbs
from .infer.sampling.tempering import temper
from .infer.sampling.visited import visited
from .model import BoltzmannMachine, check_model

PRODUCTS, OWN = 1e10, 50  # products a second, and what a unit costs in a sweep beside its couplings, in products
STEP = 1e-4  # seconds that a sweep of temper() or ais() takes beside the walk
NEW, KEPT, KEPT_SPARSE = 1e-6, 2e-8, 2e-7  # and one state in visited(), with each of its units, dense and sparse
SEARCH, WRITE = 1e-4, 3e-7  # seconds a coupling that the search for an exact road takes, and where there is none
THIN = 27  # partners of some unit beyond which there is none
MEMORY = 2.0**31  # bytes of the reference machine that exact() may take
SHARE, TRIAL = 0.1, 0.15  # of the budget: for a bracket, and for a trial of one sampler
CHAINS, LADDERS = 100, 32  # of gibbs, and the least of ais; of temper
LEAST = 10  # sweeps of the shortest run
PILOT = 350  # sweeps that temper() takes to choose a ladder
ALIKE, MIXES = 5, 0.02  # independent draws a chain (R-hat 1.1), and in a draw, above which Gibbs needs no rival
EASY = 500  # temperatures below which ais needs none


def auto(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: Any = None,
    seconds: float = 5.0,
    want: str = "moments",
) -> Estimate:
    """Answer by the method that should err least for `seconds` of work; `message` says why this one.

    start     ignored: each answer is found anew
    want      "moments": means and correlations; "log_z": log Z, with the bounds that bracket() proves
    seconds   of one core of the reference machine, see above: a budget of work, not a deadline.  The same generator has
              the same answer on every machine.  One short run of a sampler is made whatever it takes.
    info      "error": what the rms error of the moments, or the error of log Z, stays below in about 95 of 100
              machines; for samples it is two standard errors, for Bethe it is foretold, which proves nothing.
    Raises ValueError where want or seconds is none of these.

    >>> answer = bmlab.auto(bmlab.medium(), rng=0)
    >>> answer.method, answer.info["error"]
    ('exact', 0.0)
    """
    check_model(model)
    rng, seconds = generator(rng), check_positive("seconds", seconds, 5)
    check_choice("want", want, tuple(FITS))
    way = _planned(model, seconds)
    if _fits(way, seconds):
        return _explained(exact(model, max_seconds=1e3 * (1 + seconds)), 0.0, f"exact takes about {_price(way)}")
    answer = without_exact(model, rng, seconds, want)
    return warned(replace(answer, message=f"exact would take {_price(way)}; {answer.message}"))


def bracket(model: BoltzmannMachine, *, rng: np.random.Generator | int, seconds: float = 5.0) -> Bracket:
    """Return the tightest proven interval around log Z that `seconds` of work find; exact where that fits.

    The seconds are a budget of work, as in auto().  Every bound is proven for real numbers; in doubles it is right to
    about 1e-12 of its size.
    Raises ValueError where seconds is not positive.

    >>> found = bmlab.bracket(bmlab.medium(), rng=0)
    >>> found.lower_by, found.width
    ('exact', 0.0)
    """
    check_model(model)
    rng, seconds = generator(rng), check_positive("seconds", seconds, 5)
    if not _fits(_planned(model, seconds, "couplings"), seconds):
        return bracket_without_exact(model, rng, seconds)
    log_z = exact(model, pairs="couplings", max_seconds=1e3 * (1 + seconds)).log_z
    return Bracket(log_z, "exact", "exact", {"exact": log_z.value})


def _planned(model, seconds, pairs=None) -> Plan | None:
    """Return the plan; None where the search for the cheapest road would take half of the budget."""
    count = model.coupling_count()
    partners = np.diff(model.weights.indptr) if model.is_sparse else np.count_nonzero(model.weights, axis=0)
    is_searched = count >= model.n > 0 and partners.min() < THIN
    return plan(model, pairs=pairs) if count * (SEARCH if is_searched else WRITE) <= seconds / 2 else None


def _fits(way, seconds):
    return way is not None and way.core_seconds <= seconds and way.bytes <= MEMORY


def _price(way):
    return "too long to foretell" if way is None else time_in_words(way.core_seconds)


def without_exact(model: BoltzmannMachine, rng: np.random.Generator, seconds: float, want: str) -> Estimate:
    """Return auto()'s answer for a machine that is too large for exact(), without a warning."""
    with quietly():
        evidence = weigh(model, seconds / 4)
        if want == "moments":
            return _chosen(model, rng, seconds, want, evidence)
        proven = bracket_without_exact(model, rng, SHARE * seconds).log_z
        return _within(_chosen(model, rng, seconds, want, checked(evidence, proven)), proven)


def bracket_without_exact(model: BoltzmannMachine, rng: np.random.Generator, seconds: float) -> Bracket:
    """Return the bracket of all other methods; each side gets its share of the work."""
    below = lower_bounds(model, seconds / 3)
    state = NEW + (KEPT_SPARSE if model.is_sparse else KEPT) * model.n
    n_sweeps = int(seconds / 3 / CHAINS / (sweep_seconds(model) + state))
    if model.n <= LARGEST and n_sweeps >= LEAST:
        with quietly():
            below["visited"] = visited(model, rng=rng, n_chains=CHAINS, n_sweeps=n_sweeps).log_z.lower
    return between(below, upper_bounds(model, seconds / 3))


def sweep_seconds(model: BoltzmannMachine) -> float:
    """Return what a sweep of one chain takes on the reference machine."""
    return (2 * model.coupling_count() + OWN * model.n) / PRODUCTS


class Ran(NamedTuple):
    """Hold the answer of one run of a sampler, the steps of each of its chains, and the seconds of its work."""

    answer: Estimate
    steps: int
    seconds: float


def run_gibbs(model: BoltzmannMachine, rng: np.random.Generator, seconds: float, last: Ran | None) -> Ran:
    """Sweep for about so many seconds, on from the last run."""
    state = last.answer.state if last else None
    chains = CHAINS if state is None else len(state)
    price = chains * sweep_seconds(model)
    n_sweeps = max(LEAST, int(seconds / price / 1.2))
    answer = gibbs(model, rng=rng, start=state, n_chains=chains, burn_in=n_sweeps // 5, n_sweeps=n_sweeps)
    return Ran(answer, n_sweeps, 1.2 * n_sweeps * price)


def run_temper(model: BoltzmannMachine, rng: np.random.Generator, seconds: float, last: Ran | None) -> Ran:
    """Sweep and swap for about so many seconds; without a ladder to go on from it is chosen first."""
    state = last.answer.state if last else None
    rungs = len(state.temperatures) if state else rungs_of(model)
    ladders = len(state.s) if state else LADDERS
    price = ladders * rungs * sweep_seconds(model) + STEP
    n_sweeps = max(5 * LEAST, int((seconds - (0 if state else PILOT * price)) / price / 1.2))
    answer = temper(
        model, rng=rng, start=state, n_chains=None if state else ladders, burn_in=n_sweeps // 5, n_sweeps=n_sweeps
    )
    price = ladders * len(answer.state.temperatures) * sweep_seconds(model) + STEP
    return Ran(answer, n_sweeps, (1.2 * n_sweeps + (0 if state else PILOT)) * price)


def rungs_of(model: BoltzmannMachine) -> float:
    """Return about how many rungs a ladder gets: steps of 1 / (spread of E at beta = 0)."""
    squares = model.weights.multiply(model.weights).sum() if model.is_sparse else (model.weights**2).sum()
    return 2 + float(np.sqrt(squares / 2 + (model.biases**2).sum())) / model.temperature


def run_ais(model: BoltzmannMachine, rng: np.random.Generator, seconds: float, last: Ran | None) -> Ran:
    """Anneal for about so many seconds: so slowly that the log weights vary by about 0.5, by what the last run saw."""
    price = 2 * sweep_seconds(model)
    n_temperatures = int(np.clip(seconds / (CHAINS * price + STEP), LEAST, CHAINS))
    if last:
        n_temperatures = int(np.clip(2 * last.answer.state.log_weights.var() * last.steps, 50, 5000))
    n_chains = max(CHAINS, int((seconds / n_temperatures - STEP) / price))
    answer = ais(model, rng=rng, n_chains=n_chains, n_temperatures=n_temperatures)
    return Ran(answer, n_temperatures, n_temperatures * (n_chains * price + STEP))


SAMPLERS: dict[str, Callable[..., Ran]] = {"gibbs": run_gibbs, "ais": run_ais, "temper": run_temper}


def _chosen(model, rng, seconds, want, evidence):
    """Try samplers; return Bethe where it should err less than the better one would with the work that is left."""
    name, ran, left = _best_sampler(model, rng, want, seconds)
    error = _stderr(model, ran.answer, want)
    evidence = tested(model, evidence, ran.answer, error, want)
    reach, expected = error * np.sqrt(min(1.0, ran.seconds / max(left, 1e-300))), evidence.error(want)
    if expected < reach:
        alike = "mean field, TAP and Bethe are alike, so Bethe should err by"
        because = f"{alike} {expected:.1g}, where {name} would err by {reach:.1g}"
        return _explained(evidence.answer, evidence.most(want), because)
    if left > ran.seconds:
        ran = SAMPLERS[name](model, rng, left, ran)
        error = _stderr(model, ran.answer, want)
    against = evidence.doubt or f"Bethe might err by {evidence.most(want):.1g}"
    return _explained(ran.answer, SURE * error, f"{against}; {name} errs by about {error:.1g}")


def _best_sampler(model, rng, want, seconds):
    """Return the better sampler's name, its trial, and the seconds that are left."""
    plain = "gibbs" if want == "moments" else "ais"
    ran = SAMPLERS[plain](model, rng, TRIAL * seconds, None)
    left = seconds - ran.seconds
    shortest = (PILOT + 5 * LEAST) * (LADDERS * rungs_of(model) * sweep_seconds(model) + STEP)
    if _is_easy(ran) or shortest > left / 2:
        return plain, ran, left
    rival = run_temper(model, rng, TRIAL * seconds, None)
    left -= rival.seconds
    prices = [_stderr(model, one.answer, want) ** 2 * one.seconds for one in (ran, rival)]
    is_better = not _usable(ran.answer) or prices[1] < prices[0]
    return ("temper", rival, left) if is_better else (plain, ran, left)


def _usable(answer):
    """Whether a trial's spread can be believed."""
    return independent_draws(answer) > ALIKE * len(answer.state) if answer.method == "gibbs" else answer.converged


def _is_easy(ran):
    """Whether the plain sampler needs no rival."""
    if ran.answer.method == "ais":
        return ran.answer.converged and ran.steps < EASY
    return _usable(ran.answer) and independent_draws(ran.answer) > MIXES * len(ran.answer.state) * ran.steps


def independent_draws(answer: Estimate) -> float:
    """Return how many free draws would err as the worst mean does, by its standard error."""
    stderr = np.asarray(answer.mean_stderr)
    moving = stderr > 0
    return ((1 - answer.mean[moving] ** 2) / stderr[moving] ** 2).min(initial=np.inf)


def _stderr(model, answer, want):
    """Return the standard error of log Z, or the rms of those of the moments."""
    if want == "log_z":
        return answer.log_z.stderr
    return rms(moments_of(model, answer.mean_stderr, answer.corr_stderr))


def _explained(answer, error, because):
    message = because if answer.converged else f"{because}, but has not converged. Raise seconds."
    return replace(answer, message=message, info=answer.info | {"error": float(error)})


def _within(answer, proven):
    """Put the proven bounds beside log Z, and log Z between them: it is there."""
    value = float(np.clip(answer.log_z.value, proven.lower, proven.upper))
    return replace(answer, log_z=Bounded(value, answer.log_z.stderr, lower=proven.lower, upper=proven.upper))
