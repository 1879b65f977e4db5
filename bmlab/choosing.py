"""auto: choose a method for a machine, by a rule without fitted numbers.

    exact     if its plan fits into the time that is allowed
    bethe     if mean field, TAP and Bethe each converge to one valley, the error estimated from two of them is smaller
              than that of samples, and the samples do not contradict it
    gibbs     otherwise; ais if log Z is wanted
    temper    if the chains disagree

Two orders of one expansion give an estimate of the error of the better one, as in embedded Runge-Kutta pairs:

    |mean field - Bethe| / (1 - rho),      rho the largest eigenvalue of r_i (w_ij / T) r_j,  r_i^2 = 1 - m_i^2,

at Bethe's means m.  Mean field neglects the second order in the couplings, Bethe the third; and 1/(1 - rho) is how much
a small change of the fields is amplified (1 - rho is the least curvature of mean field's free energy).  This is an
estimate, not a proof: docs/choosing.md says how often it holds.  So samples are always drawn as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from .checking.arrays import first_smallest
from .checking.budgets import memory_to_spend, time_in_words
from .checking.calls import show_call
from .checking.validation import as_generator, check_choice, check_count, check_positive
from .estimate import Bounded, Estimate, coupled_pairs, no_convergence_warnings, warn_unless_converged
from .infer.bounds.bracketing import bracket_without_exact
from .infer.exact.dispatch import exact
from .infer.exact.planning import WANT_CHOICES, exact_plan
from .infer.sampling.annealed_importance import ais
from .infer.sampling.gibbs import gibbs
from .infer.sampling.tempering import temper
from .infer.variational.belief_propagation import bethe, messages_from
from .infer.variational.coordinate_descent import DENSE_EIGEN_UNITS
from .infer.variational.naive_mean_field import mean_field
from .infer.variational.tap_equations import tap
from .methods import method
from .model import BoltzmannMachine, check_model
from .running.sparsity import values_at

VALLEY_STARTS = 5  # starts of mean field and of TAP, to find a second valley
ERROR_STDERRS = 2  # the stated error of samples, in standard errors: 19 of 20 errors are smaller
SAMPLERS = {
    "gibbs": lambda model, rng, n: gibbs(model, rng=rng, burn_in=n // 4, n_sweeps=n),
    "ais": lambda model, rng, n: ais(model, rng=rng, n_temperatures=2 + n // 10),  # it has ten times as many chains
    "temper": lambda model, rng, n: temper(model, rng=rng, burn_in=n // 4, n_sweeps=n),
}


class Trial(NamedTuple):
    """A method's answer, the error to state, and why that error is in doubt ("" if it is reliable)."""

    method: str
    answer: Estimate
    error: float
    doubt: str = ""

    def __str__(self):
        verdict = f"is in doubt, as {self.doubt}" if self.doubt else f"states an error of {self.error:.1g}"
        return f"{self.method} {verdict}"


@method(
    "auto",
    answers=("means", "pairs"),
    order=None,
    line="the method that states the smallest error",
    draws=True,
    laws={"max_seconds": 1e-9, "n_sweeps": 100},
    fuzz={"max_seconds": 0.3, "n_sweeps": 20},
)
@show_call("bmlab.auto(model, rng=0)")
def auto(
    model: BoltzmannMachine,
    *,
    rng: np.random.Generator | int,
    start: Any = None,
    want: str = "moments",
    max_seconds: float = 5.0,
    n_sweeps: int = 2000,
) -> Estimate:
    """Answer by the method with the smallest estimated error; `message` says why it was chosen.

    start     ignored; every method accepts it
    want      "moments": means and correlations; "log_z": log Z, with the bounds that bracket() proves
    max_seconds   limit for exact(), compared with core_seconds of exact_plan(model); no clock is read
    n_sweeps  sweeps of gibbs() or temper(); ais() gets as much work.  Four times as many halve the error of samples.
    info      "error": estimate of the rms error of the moments, or of the error of log Z: two standard errors of
              samples; for Bethe the difference of two orders, which is no proof; nan if no error is reliable.
              "tried": method -> its result
    Cost: if exact() is too slow, approximations and samples; temper() of a thousand cold units may take minutes.
    Raises ValueError if want, max_seconds or n_sweeps is out of range.

    >>> answer = bmlab.auto(bmlab.medium(), rng=0)
    >>> answer.method, answer.info["error"]
    ('exact', 0.0)
    """
    check_model(model)
    rng = as_generator(rng)
    n_sweeps = check_count("n_sweeps", n_sweeps)
    max_seconds = check_positive("max_seconds", max_seconds, 5, infinite=True)
    check_choice("want", want, WANT_CHOICES)
    price = exact_plan(model)
    seconds = time_in_words(price.core_seconds)
    if price.core_seconds <= max_seconds and price.bytes <= memory_to_spend():
        trial = Trial("exact", exact(model, max_seconds=np.inf), 0.0)
        return explained(trial, {"exact": f"exact takes about {seconds}"})
    return warn_unless_converged(without_exact(model, rng, want, n_sweeps, f"exact would take {seconds}"))


def without_exact(
    model: BoltzmannMachine, rng: np.random.Generator, want: str = "moments", n_sweeps: int = 2000, price: str = ""
) -> Estimate:
    """Return auto()'s answer for a machine that is too large for exact(), without a warning."""
    with no_convergence_warnings():
        approximation = try_bethe(model, want)
        trials = [try_samples("gibbs" if want == "moments" else "ais", model, rng, want, n_sweeps)]
        if trials[0].doubt:
            trials.append(try_samples("temper", model, rng, want, n_sweeps))
        proven = bracket_without_exact(model, rng).log_z if want == "log_z" else None
    trials.insert(0, contradicted(model, approximation, trials[-1], want))
    reliable = [trial for trial in trials if not trial.doubt]
    best = reliable[first_smallest([trial.error for trial in reliable])] if reliable else trials[-1]
    tried = {"exact": price} | {trial.method: str(trial) for trial in trials}
    answer = explained(best, {method: verdict for method, verdict in tried.items() if verdict})
    return answer if proven is None else within(answer, proven)


def explained(trial: Trial, tried: dict[str, str]) -> Estimate:
    """Return the answer of a trial with its error, and what was tried."""
    message = "; ".join(tried.values()) + (". Raise n_sweeps." if trial.doubt else ".")
    info = {"error": np.nan if trial.doubt else trial.error, "tried": tried}
    return replace(trial.answer, message=message, info=trial.answer.info | info)


def try_bethe(model: BoltzmannMachine, want: str) -> Trial:
    """Return Bethe's answer with the error estimated from mean field and Bethe."""
    first = mean_field(model, starts=VALLEY_STARTS)
    if doubt := doubt_of(first) or doubt_of(tap(model, starts=VALLEY_STARTS)):
        return Trial("bethe", first, np.nan, doubt)
    second = bethe(model, start=messages_from(model, first.mean))
    rho = amplification(model, second.mean)
    doubt = doubt_of(second) or (f"small changes grow without bound: rho is {rho:.3g}" if rho >= 1 else "")
    error = np.nan if doubt else difference(model, first, second, want) / (1 - rho)
    return Trial("bethe", second, error, doubt)


def doubt_of(answer: Estimate) -> str:
    """Return why a fixed point may not be the only one; "" if it seems to be."""
    valleys = len(answer.info.get("fixed points", [answer.mean]))
    if answer.converged and valleys == 1:
        return ""
    return f"{answer.method} finds {valleys} valleys" if answer.converged else f"{answer.method} has not converged"


def amplification(model: BoltzmannMachine, m: np.ndarray) -> float:
    """Return rho (see above) at means m (n,)."""
    root = scipy.sparse.diags_array(np.sqrt(1 - m**2))
    matrix = root @ (model.weights / model.temperature) @ root
    if not model.is_sparse or model.n <= DENSE_EIGEN_UNITS:
        return float(np.linalg.eigvalsh(matrix.toarray() if model.is_sparse else matrix)[-1])
    return float(scipy.sparse.linalg.eigsh(matrix, 1, which="LA", v0=np.cos(np.arange(model.n)), tol=1e-3)[0][0])


def try_samples(name: str, model: BoltzmannMachine, rng: np.random.Generator, want: str, n_sweeps: int) -> Trial:
    """Return a sampler's answer with two standard errors; these are reliable if its chains agree."""
    answer = SAMPLERS[name](model, rng, n_sweeps)
    return Trial(
        name, answer, ERROR_STDERRS * stderr(model, answer, want), "" if answer.converged else "it has not converged"
    )


def stderr(model: BoltzmannMachine, answer: Estimate, want: str) -> float:
    """Return the standard error of log Z, or the rms standard error of the moments."""
    return answer.log_z.stderr if want == "log_z" else rms(moments_of(model, answer.mean_stderr, answer.corr_stderr))


def contradicted(model: BoltzmannMachine, approximation: Trial, samples: Trial, want: str) -> Trial:
    """Return Bethe's trial, in doubt if the samples differ from it by more than both errors allow."""
    gap = difference(model, approximation.answer, samples.answer, want)
    if approximation.doubt or samples.doubt or gap <= approximation.error + samples.error:
        return approximation
    return approximation._replace(doubt=f"{samples.method} is {gap:.1g} away")


def within(answer: Estimate, proven: Bounded) -> Estimate:
    """Return the answer with the proven bounds on log Z, and its log Z moved between them."""
    value = np.clip(answer.log_z, proven.lower, proven.upper)
    return replace(answer, log_z=Bounded(value, answer.log_z.stderr, proven.lower, proven.upper))


def difference(model: BoltzmannMachine, one: Estimate, other: Estimate, want: str) -> float:
    """Return the difference of two answers: of log Z, or the rms over means and correlations."""
    if want == "log_z":
        return abs(one.log_z - other.log_z)
    return rms(moments_of(model, one.mean, one.corr) - moments_of(model, other.mean, other.corr))


def moments_of(model: BoltzmannMachine, mean: Any, corr: Any) -> np.ndarray:
    """Return means and correlations in one row: of all pairs, or of the coupled ones if the weights are sparse."""
    pairs = coupled_pairs(model) if model.is_sparse else np.triu_indices(model.n, 1)
    return np.concatenate([mean, values_at(corr, pairs)])


def rms(x: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(x**2)))
