"""auto: exact where it fits the time, else Bethe where the evidence is good, else samples; each with its error.

What exact() would cost is known beforehand (planning.py), and Bethe's error is foretold (bethe_error.py).  All theories
can miss the same valley, so a trial of samples has a veto, and so have proven bounds; and samples go on where their
error would be smaller in the time that is left.  `python benchmarks/choosing.py` grades all this against exact, on
machines of nine kinds.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from warnings import warn

import numpy as np

from ..arrays import generator
from ..estimate import Estimate, LogZ, NotConverged, quietly
from ..model import BoltzmannMachine
from .bethe_error import FITS, doubtful, moments_of, rms, weigh
from .bounds.bracketing import without_exact as bracket_without_exact
from .exact.enumeration import exact
from .exact.planning import memory_to_spend, plan, time_in_words
from .sampling.annealed_importance import ais
from .sampling.gibbs_sampling import gibbs
from .sampling.replica_exchange import temper

PRICE = 4e-6  # seconds times n^2 that the three theories take
SHARE, TRIAL = 0.1, 0.15  # of the time: for a bracket, and for a trial of one sampler
ALIKE, MIXES = 1.1, 0.02  # R-hat below, and independent draws in a draw above, which Gibbs needs no rival
EASY = 500  # temperatures below which ais needs none
SURE = 2.0  # stated errors of samples, in standard errors
CHAINS = 100  # of Gibbs, and the least of ais


def auto(model: BoltzmannMachine, *, rng: np.random.Generator, seconds: float = 5.0, want: str = "moments") -> Estimate:
    """Answer by the method that should err least within about `seconds`, and say why.

    want      "moments": means and correlations; "log_z": log Z, with the bounds that bracket() proves
    info      "because": the reason in a sentence.  "error": what the rms error of the moments, or the error of log Z,
              stays below in about 95 of 100 machines; for samples it is two standard errors, for Bethe it is foretold
              from evidence (see above), which proves nothing.
    Raises ValueError where want or seconds is none of these.
    """
    rng = generator(rng)
    if want not in FITS or not seconds > 0:
        raise ValueError(f"want must be 'moments' or 'log_z' and seconds positive, found {want!r} and {seconds}")
    way = plan(model)
    if way.seconds <= seconds and way.bytes <= memory_to_spend():
        return _explained(exact(model), 0.0, f"exact takes about {time_in_words(way.seconds)}")
    answer = without_exact(model, rng, seconds, want)
    because = f"exact would take {time_in_words(way.seconds)}; {answer.info['because']}"
    return _explained(answer, answer.info["error"], because)


def without_exact(model: BoltzmannMachine, rng: np.random.Generator, seconds: float, want: str) -> Estimate:
    """Return auto()'s answer for a machine that is too large for exact()."""
    until = perf_counter() + seconds
    with quietly():
        affordable = PRICE * model.n**2 < seconds / 4
        evidence = weigh(model) if affordable else doubtful("linear response would take too long")
        proven = bracket_without_exact(model, rng, SHARE * seconds).log_z if want == "log_z" else None
        answer = _chosen(model, rng, until, want, _checked(evidence, proven), seconds)
    if not answer.converged:
        warn(
            f"auto() chose {answer.method}, which has not converged: {answer.info['because']}. Raise seconds.",
            NotConverged,
            stacklevel=3,
        )
    return _within(answer, proven) if proven else answer


def _chosen(model, rng, until, want, evidence, seconds):
    """Try the samplers until one is known to do; return Bethe where it should err less than that one would."""
    name, rounds, answer, took = _best_sampler(model, rng, until, want, seconds)
    error = _stderr(model, answer, want)
    reach = error * np.sqrt(took / max(until - perf_counter(), took))
    evidence = _tested(model, evidence, answer, error, want)
    expected = evidence.error(want)
    if expected < reach:
        return _explained(
            evidence.answer,
            evidence.most(want),
            f"mean field, TAP and Bethe are alike, so Bethe should "
            f"err by {expected:.1g}, where {name} would err by {reach:.1g}",
        )
    for answer, _ in rounds:
        pass
    error = _stderr(model, answer, want)
    against = evidence.doubt or f"Bethe might err by {evidence.most(want):.1g}"
    return _explained(answer, SURE * error, f"{against}; {name} errs by about {error:.1g}")


# --- vetoes ----------------------------------------------------------------------------------------------------------


def _checked(evidence, proven):
    """Add the doubt that Bethe's log Z lies where log Z is proven not to lie."""
    if evidence.doubt or proven is None or proven.lower <= evidence.answer.log_z.value <= proven.upper:
        return evidence
    return evidence._replace(doubt="Bethe's log Z is outside its proven bounds")


def _tested(model, evidence, samples, stderr, want):
    """Add the doubt that samples are further off than both errors allow."""
    if evidence.doubt or not samples.converged:
        return evidence
    if want == "log_z":
        gap = abs(evidence.answer.log_z.value - samples.log_z.value)
    else:
        gap = rms(
            moments_of(model, samples.mean, samples.corr)
            - moments_of(model, evidence.answer.mean, evidence.answer.corr)
        )
    if gap <= SURE * np.hypot(evidence.most(want), stderr):
        return evidence
    return evidence._replace(doubt=f"{samples.method} is {gap:.1g} from Bethe")


# --- samples -------------------------------------------------------------------------------------------------------


def _best_sampler(model, rng, until, want, seconds):
    """Return (name, its rounds to go on with, its answer so far, the seconds of its last round)."""
    plain, tried = ("gibbs" if want == "moments" else "ais"), []
    for name in (plain, "temper"):
        rounds, stop = grow(partial(SAMPLERS[name], model, rng), FIRST[name], until), perf_counter() + TRIAL * seconds
        for answer, took in rounds:
            if perf_counter() + (0 if name == plain else 4 * took) > stop:  # the rival's next round must end in time
                break
        tried.append((name, rounds, answer, took))
        if name == plain and _is_easy(answer):
            return tried[0]
    if not _usable(tried[0][2]):
        return tried[1]
    return min(tried, key=lambda one: _stderr(model, one[2], want) ** 2 * one[3])


def _usable(answer):
    """Whether a trial's spread can be believed."""
    return answer.info["rhat"] < ALIKE if answer.method == "gibbs" else answer.converged


def _is_easy(answer):
    """Whether the plain sampler needs no rival."""
    if answer.method == "ais":
        return answer.converged and len(answer.info["betas"]) < EASY
    return _usable(answer) and answer.info["ess"] > MIXES * answer.info["n_chains"] * answer.info["n_sweeps"]


def grow(run, amount: int, until: float) -> Iterator[tuple[Estimate, float]]:
    """Yield the answers of ever longer runs, and the seconds each took; the last as long as the time left allows."""
    answer = None
    while True:
        begin = perf_counter()
        answer = run(amount, answer)
        took = perf_counter() - begin
        yield answer, took
        more = 0.8 * (until - perf_counter()) / took
        if more < 1:
            return
        amount = int(amount * (4 if more > 16 else more))


def _gibbs(model, rng, n_sweeps, last):
    return gibbs(model, rng=rng, start=last and last.state, n_chains=CHAINS, burn_in=n_sweeps // 5, n_sweeps=n_sweeps)


def _temper(model, rng, n_sweeps, last):
    return temper(model, rng=rng, start=last and last.state, n_chains=CHAINS, burn_in=n_sweeps // 5, n_sweeps=n_sweeps)


def _ais(model, rng, steps, last):
    """As many temperatures as bring the spread of the log weights to about 0.7, as many chains as steps are left."""
    n_temperatures = CHAINS
    if last:
        spread = last.info["log_weights"].var() * len(last.info["betas"])
        n_temperatures = int(np.clip(2 * spread, 50, 5000))
    return ais(model, rng=rng, n_chains=max(CHAINS, steps // n_temperatures), n_temperatures=n_temperatures)


SAMPLERS = {"gibbs": _gibbs, "ais": _ais, "temper": _temper}
FIRST = {"gibbs": 100, "ais": 2 * CHAINS**2, "temper": 50}  # sweeps, or steps of all chains


def _stderr(model, answer, want):
    """Return the standard error of log Z, or the rms of those of the moments."""
    if want == "log_z":
        return answer.log_z.stderr
    return rms(moments_of(model, answer.mean_stderr, answer.corr_stderr))


# --- the answer ----------------------------------------------------------------------------------------------------


def _explained(answer, error, because):
    return replace(answer, info=answer.info | {"because": because, "error": float(error)})


def _within(answer, proven):
    """Put the proven bounds beside log Z, and log Z between them: it is there."""
    value = float(np.clip(answer.log_z.value, proven.lower, proven.upper))
    return replace(answer, log_z=LogZ(value, answer.log_z.stderr, proven.lower, proven.upper))
