"""auto and bracket: exact where it fits the time, else the best of the other methods, with its error or its proof.

What exact() would cost is known beforehand (planning.py), and Bethe's error is foretold (bethe_error.py).  All theories
can miss the same valley, so a trial of samples has a veto, and so have proven bounds; and samples go on where their
error would be smaller in the time that is left.  `python benchmarks/choosing.py` grades auto() against exact.
"""

from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from .budgets import OutOfTime, deadline, memory_to_spend, time_in_words, within
from .checks import check_choice, check_positive, generator
from .estimate import Estimate, LogZ, quietly, warned
from .infer.bethe_error import FITS, SURE, checked, doubtful, moments_of, rms, tested, weigh
from .infer.bounds.bracketing import LARGEST, Bracket, between, lower_bounds, upper_bounds
from .infer.exact.enumeration import exact
from .infer.exact.planning import Plan, plan
from .infer.rounds import CHAINS, LEAST, first_amount, grow
from .infer.sampling.annealed_importance import ais
from .infer.sampling.gibbs import gibbs
from .infer.sampling.tempering import Ladder, temper
from .infer.sampling.visited import visited
from .model import BoltzmannMachine, check_model

PRICE = 4e-6  # seconds times n^2 that the three theories take
SEARCH = 3e-7  # seconds a coupling that it takes to write a machine down as a graph, before any search
SHARE, TRIAL = 0.1, 0.15  # of the time: for a bracket, and for a trial of one sampler
SLACK = 0.1  # of the time: how much later than it was to the last run of a sampler may end
ALIKE, MIXES = 5, 0.02  # independent draws a chain (R-hat 1.1), and in a draw, above which Gibbs needs no rival
EASY = 500  # temperatures below which ais needs none


def auto(
    model: BoltzmannMachine, *, rng: Any, start: Any = None, seconds: float = 5.0, want: str = "moments"
) -> Estimate:
    """Answer by the method that should err least within about `seconds`; `message` says why this one.

    start     `state` of an earlier answer: handed on to the sampler that it is of (chains to gibbs, a ladder to
              temper) if that one is tried and the start fits the machine, else ignored
    want      "moments": means and correlations; "log_z": log Z, with the bounds that bracket() proves
    seconds   one short run of gibbs is made whatever it takes (at 2,000 coupled units some seconds), and the first call
              of a process loads SciPy first; below 4 Numba is not loaded for it
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
    until, way = perf_counter() + seconds, _planned(model, seconds)
    if way is not None and _fits(way, seconds):
        return _explained(exact(model), 0.0, f"exact takes about {time_in_words(way.seconds)}")
    answer = without_exact(model, rng, until - perf_counter(), want, start)
    price = "too long to foretell" if way is None else time_in_words(way.seconds)
    return warned(replace(answer, message=f"exact would take {price}; {answer.message}"))


def bracket(model: BoltzmannMachine, *, rng: Any, seconds: float = 5.0) -> Bracket:
    """Return the tightest proven interval around log Z that was found within about `seconds`; exact where that fits.

    Every bound is proven for real numbers; in doubles it is right to about 1e-12 of its size.
    Raises ValueError where seconds is not positive.

    >>> found = bmlab.bracket(bmlab.medium(), rng=0)
    >>> found.lower_by, found.width
    ('exact', 0.0)
    """
    check_model(model)
    rng, seconds = generator(rng), check_positive("seconds", seconds, 5)
    until, way = perf_counter() + seconds, _planned(model, seconds, "couplings")
    if way is None or not _fits(way, seconds):
        with within(seconds):
            return bracket_without_exact(model, rng, until - perf_counter())
    log_z = exact(model, pairs="couplings").log_z
    return Bracket(log_z, "exact", "exact", {"exact": log_z.value})


def _planned(model, seconds, pairs=None):
    """Return the plan; None where the search for the cheapest road takes half of the time."""
    if model.coupling_count() * SEARCH > seconds / 2:
        return None
    with deadline(perf_counter() + seconds / 2), suppress(OutOfTime):
        return plan(model, pairs=pairs)
    return None


def _fits(way: Plan, seconds):
    return way.seconds <= seconds and way.bytes <= memory_to_spend()


def without_exact(
    model: BoltzmannMachine, rng: np.random.Generator, seconds: float, want: str, start: Any = None
) -> Estimate:
    """Return auto()'s answer for a machine that is too large for exact(), without a warning."""
    until = perf_counter() + seconds
    with quietly(), within(seconds):
        affordable = PRICE * model.n**2 < seconds / 4
        evidence = doubtful("linear response would take too long")
        with deadline(until - seconds / 2), suppress(OutOfTime):
            evidence = weigh(model) if affordable else evidence
        if want == "moments":
            return _chosen(model, rng, until, want, evidence, seconds, start)
        proven = bracket_without_exact(model, rng, SHARE * seconds).log_z
        return _within(_chosen(model, rng, until, want, checked(evidence, proven), seconds, start), proven)


def bracket_without_exact(model: BoltzmannMachine, rng: np.random.Generator, seconds: float) -> Bracket:
    """Return the bracket of all other methods."""
    begin = perf_counter()
    until = begin + seconds / 3
    below = lower_bounds(model, until)

    def visit(n_sweeps, last):
        return visited(model, rng=rng, start=last and last.answer.state, n_sweeps=n_sweeps), n_sweeps

    first = first_amount(model, "visited", until - perf_counter())
    if model.n <= LARGEST and first >= LEAST:
        with quietly(), deadline(until + SLACK * seconds), suppress(OutOfTime):
            for ran in grow(visit, first, until):
                below["visited"] = max(ran.answer.log_z.lower, below.get("visited", -np.inf))
    return between(below, upper_bounds(model, begin + seconds))


def _chosen(model, rng, until, want, evidence, seconds, start):
    """Try the samplers until one is known to do; return Bethe where it should err less than that one would."""
    name, rounds, ran = _best_sampler(model, rng, until, want, seconds, start)
    error = _stderr(model, ran.answer, want)
    reach = error * np.sqrt(ran.seconds / max(until - perf_counter(), ran.seconds))
    evidence = tested(model, evidence, ran.answer, error, want)
    expected = evidence.error(want)
    if expected < reach:
        alike = "mean field, TAP and Bethe are alike, so Bethe should err by"
        because = f"{alike} {expected:.1g}, where {name} would err by {reach:.1g}"
        return _explained(evidence.answer, evidence.most(want), because)
    last = deque([ran], maxlen=1)
    with deadline(until + SLACK * seconds), suppress(OutOfTime):
        last.extend(rounds)
    (ran,) = last
    error = _stderr(model, ran.answer, want)
    against = evidence.doubt or f"Bethe might err by {evidence.most(want):.1g}"
    return _explained(ran.answer, SURE * error, f"{against}; {name} errs by about {error:.1g}")


def _best_sampler(model, rng, until, want, seconds, start):
    """Return (name, its rounds to go on with, its last Ran)."""
    plain, tried = ("gibbs" if want == "moments" else "ais"), []
    for name in (plain, "temper"):
        first = max(LEAST, first_amount(model, name, until - perf_counter()))
        rounds = grow(partial(SAMPLERS[name], model, rng, start), first, until)
        stop = perf_counter() + TRIAL * seconds
        ran = next(rounds) if name == plain else None  # one run must be made, whatever it takes; the rival's need not
        with deadline(until), suppress(OutOfTime, StopIteration):
            while ran is None or perf_counter() + (0 if name == plain else 4 * ran.seconds) <= stop:
                ran = next(rounds)
        if ran is None:  # its pilot alone has used up the time
            return tried[0]
        tried.append((name, rounds, ran))
        if name == plain and _is_easy(ran):
            return tried[0]
    if not _usable(tried[0][2].answer):
        return tried[1]
    return min(tried, key=lambda one: _stderr(model, one[2].answer, want) ** 2 * one[2].seconds)


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


def _chains(sampler, model, rng, start, n_sweeps, last):
    state = last.answer.state if last else start if _is_state_of(sampler, model, start) else None
    n_chains = CHAINS if state is None else None
    return sampler(model, rng=rng, start=state, n_chains=n_chains, burn_in=n_sweeps // 5, n_sweeps=n_sweeps), n_sweeps


def _is_state_of(sampler, model, start):
    if isinstance(start, Ladder):
        return sampler is temper and start.s.shape[2] == model.n and start.temperatures[0] == model.temperature
    is_chains = isinstance(start, np.ndarray) and start.shape[1:] == (model.n,) and (np.abs(start) == 1).all()
    return sampler is gibbs and is_chains


def _ais(model, rng, _, steps, last):
    """As many temperatures as bring the variance of the log weights to about 0.5, as many chains as steps are left."""
    n_temperatures = int(np.clip(steps // CHAINS, LEAST, CHAINS))
    if last:
        n_temperatures = int(np.clip(2 * last.answer.state.log_weights.var() * last.steps, 50, 5000))
    n_chains = max(CHAINS, steps // n_temperatures)
    return ais(model, rng=rng, n_chains=n_chains, n_temperatures=n_temperatures), n_temperatures


SAMPLERS = {"gibbs": partial(_chains, gibbs), "ais": _ais, "temper": partial(_chains, temper)}


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
    return replace(answer, log_z=LogZ(value, answer.log_z.stderr, lower=proven.lower, upper=proven.upper))
