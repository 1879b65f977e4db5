"""auto: exact where it fits the time, else Bethe where the evidence is good, else samples; each with its error.

Mean field, TAP and Bethe are three theories of one machine, and where they fall apart none is to be trusted.  How far
apart they are, and how far Bethe is from itself (linear response against its own beliefs), foretells Bethe's error:

    log error  =  c_0 + sum_k c_k log x_k  +  noise,

x_1 and x_2 being the inconsistency of Bethe and of TAP, x_3 and x_4 the rms of mean field - Bethe and of TAP - Bethe,
over means and correlations.  FITS has the c of machines of four kinds; `python benchmarks/choosing.py --fit` prints
them, and without --fit it grades the choice on other machines, of nine kinds, against exact.  All three theories can
miss the same valley, so a trial of samples has a veto; and samples go on where they would err less in the time left.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import NamedTuple
from warnings import catch_warnings, simplefilter, warn

import numpy as np

from ..arrays import check_generator
from ..estimate import Estimate, NotConverged, coupled_pairs
from ..model import BoltzmannMachine
from .annealing import ais
from .belief_propagation import bethe, messages_from
from .bracketing import without_exact as bracket_without_exact
from .descent import SAME
from .enumeration import exact
from .gibbs_sampling import gibbs
from .naive_mean_field import mean_field
from .planning import memory_to_spend, plan, time_in_words
from .replica_exchange import temper
from .tap_equations import tap

STARTS = 5              # of each theory; Bethe must always end in one fixed point
PRICE = 4e-6            # seconds times n^2 that the three theories take
SHARE, TRIAL = 0.1, 0.15        # of the time: for a bracket, and for a trial of one sampler
ALIKE, MIXES = 1.1, 0.02        # R-hat below, and independent draws in a draw above, which Gibbs needs no rival
EASY = 500              # temperatures below which ais needs none
SURE = 2.0              # stated errors of samples, in standard errors
NOTHING = 1e-9          # logarithms of disagreements begin here
SWEEPS = 100            # of Bethe's messages; where they need more, loops are too strong
CHAINS = 100            # of Gibbs, and the least of ais


class Fit(NamedTuple):
    """Hold c for (1, log x_1, ..., log x_4), and the log of the factor that 95 % of errors stay below."""

    c: tuple
    margin: float


FITS = {"moments": Fit((-2.59, 0.26, 0.95, 0.79, -0.58), 1.85),
        "log_z": Fit((-4.92, 0.62, 0.78, 0.23, -0.49), 1.99)}       # log_z: of the error divided by n


class Evidence(NamedTuple):
    """Hold Bethe's answer, the disagreements x (4,), and the doubt that makes them worthless ("": there is none)."""

    answer: Estimate | None
    x: np.ndarray
    doubt: str

    def error(self, want: str) -> float:
        """Return the error to expect, in the middle of the cases; infinite where there is a doubt."""
        if self.doubt:
            return np.inf
        size = len(self.answer.mean) if want == "log_z" else 1
        return size * float(np.exp(FITS[want].c[0] + FITS[want].c[1:] @ np.log(np.maximum(self.x, NOTHING))))

    def most(self, want: str) -> float:
        """Return what 95 % of errors stay below."""
        return float(self.error(want) * np.exp(FITS[want].margin))


def auto(model: BoltzmannMachine, *, rng: np.random.Generator, seconds: float = 5.0, want: str = "moments") -> Estimate:
    """Answer by the method that should err least within about `seconds`, and say why.

    want      "moments": means and correlations; "log_z": log Z, with the bounds that bracket() proves
    info      "because": the reason in a sentence.  "error": what the rms error of the moments, or the error of log Z,
              stays below in about 95 of 100 machines; for samples it is two standard errors, for Bethe it is foretold
              from evidence (see above), which proves nothing.
    Raises ValueError where want or seconds is none of these.
    """
    check_generator(rng)
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
    with catch_warnings():
        simplefilter("ignore", NotConverged)
        affordable = PRICE * model.n**2 < seconds / 4
        evidence = weigh(model) if affordable else _doubtful("linear response would take too long")
        proven = bracket_without_exact(model, rng, SHARE * seconds).log_z if want == "log_z" else None
        answer = _chosen(model, rng, until, want, _checked(evidence, proven), seconds)
    if not answer.converged:
        warn(f"auto() chose {answer.method}, which has not converged: {answer.info['because']}. Raise seconds.",
             NotConverged, stacklevel=3)
    return _within(answer, proven) if proven else answer


def _chosen(model, rng, until, want, evidence, seconds):
    """Try the samplers until one is known to do; return Bethe where it should err less than that one would."""
    name, rounds, answer, took = _best_sampler(model, rng, until, want, seconds)
    error = _stderr(model, answer, want)
    reach = error * np.sqrt(took / max(until - perf_counter(), took))
    evidence = _tested(model, evidence, answer, error, want)
    expected = evidence.error(want)
    if expected < reach:
        return _explained(evidence.answer, evidence.most(want), f"mean field, TAP and Bethe are alike, so Bethe should "
                          f"err by {expected:.1g}, where {name} would err by {reach:.1g}")
    for answer, _ in rounds:
        pass
    error = _stderr(model, answer, want)
    against = evidence.doubt or f"Bethe might err by {evidence.most(want):.1g}"
    return _explained(answer, SURE * error, f"{against}; {name} errs by about {error:.1g}")


# --- evidence ------------------------------------------------------------------------------------------------------

def weigh(model: BoltzmannMachine) -> Evidence:
    """Return what mean field, TAP and Bethe say of each other; it ends with the first doubt."""
    field, second = mean_field(model, starts=STARTS), tap(model, starts=STARTS)
    _, _, orders_2, orders_3 = second.info["orders"]
    if len(second.info["fixed points"]) > 1 or not _settled(second):
        return _doubtful(f"TAP has {len(second.info['fixed points'])} fixed points")
    if abs(orders_3) > abs(orders_2) / 2:
        return _doubtful("Plefka's third term is not small")
    belief = bethe(model, max_sweeps=SWEEPS)
    if not _settled(belief):
        return _doubtful("Bethe finds no stable answer")
    by_field, by_second, by_belief = (_moments(model, x.mean, x.corr) for x in (field, second, belief))
    if np.abs(by_belief).max(initial=0) > 1:
        return _doubtful("Bethe's correlations pass 1")
    if _several(model, field.info["fixed points"][1:], belief.mean):
        return _doubtful("Bethe has several fixed points")
    x = [belief.info["inconsistency"], second.info["inconsistency"], _rms(by_field - by_belief),
         _rms(by_second - by_belief)]
    return Evidence(belief, np.array(x), "")


def _several(model, others, mean):
    """Whether Bethe, sent out from other fixed points of mean field, does not come back to these means."""
    found = (bethe(model, start=messages_from(model, m), max_sweeps=SWEEPS).mean for m in others)
    return any(not np.abs(other - mean).max() < SAME for other in found)


def _settled(answer):
    return answer.converged and answer.info["stable"]


def _doubtful(reason):
    return Evidence(None, np.full(4, np.nan), reason)


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
        gap = _rms(_moments(model, samples.mean, samples.corr) - _moments(model, evidence.answer.mean,
                                                                        evidence.answer.corr))
    if gap <= SURE * np.hypot(evidence.most(want), stderr):
        return evidence
    return evidence._replace(doubt=f"{samples.method} is {gap:.1g} from Bethe")


def _moments(model, mean, corr):
    """Return means and correlations in one row: of all pairs, or of the coupled ones where weights are sparse."""
    row, col = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return np.concatenate([mean, np.asarray(corr[row, col]).ravel()])


def _rms(x):
    return float(np.sqrt(np.mean(x**2))) if len(x) else 0.0


# --- samples -------------------------------------------------------------------------------------------------------

def _best_sampler(model, rng, until, want, seconds):
    """Return (name, its rounds to go on with, its answer so far, the seconds of its last round)."""
    plain, tried = ("gibbs" if want == "moments" else "ais"), []
    for name in (plain, "temper"):
        rounds, stop = grow(partial(SAMPLERS[name], model, rng), FIRST[name], until), perf_counter() + TRIAL * seconds
        for answer, took in rounds:
            if perf_counter() > stop:
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
FIRST = {"gibbs": 100, "ais": 2 * CHAINS**2, "temper": 50}      # sweeps, or steps of all chains


def _stderr(model, answer, want):
    """Return the standard error of log Z, or the rms of those of the moments."""
    if want == "log_z":
        return answer.log_z.stderr
    return _rms(_moments(model, answer.mean_stderr, answer.corr_stderr))


# --- the answer ----------------------------------------------------------------------------------------------------

def _explained(answer, error, because):
    return replace(answer, info=answer.info | {"because": because, "error": float(error)})


def _within(answer, proven):
    """Put the proven bounds beside log Z."""
    return replace(answer, log_z=answer.log_z._replace(lower=proven.lower, upper=proven.upper))
